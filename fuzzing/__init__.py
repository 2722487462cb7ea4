"""Fuzzing of every reader: inputs that are wrong in new ways until something gives way.

    python -m fuzzing                             every target for one minute
    python -m fuzzing penman newick --minutes 10  two of them for ten

A target is a format. An input is written to a file, read, and scored against itself; what may come out is a result, in which
the input is like itself, or an error of the project's own family, and either of them soon. All else is a finding. With atheris
(`pip install .[fuzz]`) the search is guided by coverage; `fuzzing.trying` needs nothing but the project and is what the test suite runs.
"""
