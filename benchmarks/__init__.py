"""What tallystick costs, next to scorers written by hand and to other people's libraries.

`python -m benchmarks [name ...]` runs the benchmarks named (all of them without a name):
`coreference`, `coreference_columns`, `invoices`, `relations`.
"""
