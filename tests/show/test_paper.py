"""Tables for papers: what is best is marked, what stands around a figure is as chosen, and TeX and Typst take every table."""

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tallystick as ts
from running import run
from tallystick.errors import MetricError
from tallystick.show.tables import (
    BEST,
    PLAIN,
    SECOND,
    WRITERS,
    Column,
    Estimate,
    Name,
    Style,
    Table,
    places,
    to_csv,
    to_markdown,
)
from tallystick.show.typeset import to_latex, to_typst

EXAMPLES = Path(ts.__file__).parent / "examples"
AWKWARD = [
    "a_b & c",
    "50 % #1 {x}",
    "\\alpha$^2~",
    'say "hi" <b>',
    "* _it_ [x](y) @ref // =",
    "Ünïcode ß Σ ≤",
    "x" * 40,
]


def table(values, *, lower=False, compared="down", **more):
    rows = [
        [Name(f"s{k}", "abcdefgh"[k]), None if v is None else Estimate(v, lower_is_better=lower, **more)]
        for k, v in enumerate(values)
    ]
    return Table(["system", Column("m")], rows, compared=compared)


@pytest.mark.parametrize(
    ("values", "lower", "expected"),
    [
        ([0.1, 0.3, 0.2], False, {1: BEST, 2: SECOND}),
        ([0.1, 0.3, 0.2], True, {0: BEST, 2: SECOND}),
        ([0.1, 0.3], False, {1: BEST}),  # the lower of two is no second
        ([0.2, 0.2, 0.2], False, {}),  # equal systems
        ([0.30001, 0.3, 0.2], False, {0: BEST, 1: BEST, 2: SECOND}),  # printed alike
        ([None, 0.3, 0.2, 0.1], False, {1: BEST, 2: SECOND}),
        ([0.3], False, {}),
        ([None, None], False, {}),
        ([-0.3, -0.1, 0.0], False, {2: BEST, 1: SECOND}),
    ],
)
def test_the_best_and_the_second(values, lower, expected):
    assert places(table(values, lower=lower), PLAIN) == {(r, 1): place for r, place in expected.items()}


def test_across_a_row_where_systems_are_columns():
    rows = [
        ["m", Estimate(0.1), Estimate(0.2), Estimate(0.3)],
        ["error", *(Estimate(x, lower_is_better=True) for x in (0.1, 0.2, 0.3))],
    ]
    found = places(Table(["metric", "A", "B", "C"], rows, compared="across"), PLAIN)
    assert found == {(0, 3): BEST, (0, 2): SECOND, (1, 1): BEST, (1, 2): SECOND}


def test_a_table_that_compares_nothing_has_no_marks_unless_asked_for():
    plain = Table(["metric", "f1"], [["a", 0.5], ["b", 0.6]])
    assert "textbf" not in to_latex(plain)
    assert plain.to_latex(best=True).count("\\textbf{60.00}") == 1
    assert "**0.6000**" in plain.to_markdown(best=True)


@pytest.mark.parametrize(
    ("uncertainty", "latex", "text"),
    [
        ("none", "50.00 \\\\", "0.5000"),
        ("pm", "50.00 $\\pm$ 10.00 \\\\", "0.5000 ±0.1000"),
        ("interval", "50.00 {\\scriptsize [45.00, 65.00]} \\\\", "0.5000 [0.4500, 0.6500]"),
    ],
)
def test_what_stands_around_a_figure(uncertainty, latex, text):
    one = table([0.5], ends=(0.45, 0.65))
    assert f"& {latex}" in one.to_latex(uncertainty=uncertainty)
    assert Style(uncertainty=uncertainty).text(one.rows[0][1], "m") == text
    noted = Table(one.columns, one.rows, notes=["[ ]: 95 % interval."]).to_markdown(uncertainty=uncertainty)
    said = {"none": "", "pm": "±: half the width of the 95 % interval.", "interval": "[ ]: 95 % interval."}[uncertainty]
    assert noted.rpartition("\n")[2].strip() == said or (not said and "interval" not in noted)


def test_plus_minus_is_the_spread_of_runs_where_there_is_one():
    assert Style(uncertainty="pm").text(Estimate(0.5, (0.1, 0.9), spread=0.01), "m") == "0.5000 ±0.0100"


def test_digits_and_percent():
    assert "& 41.9 " in table([0.4186]).to_latex(digits=1)
    assert "41.9 " in table([0.4186]).to_markdown(digits=1, percent=True)
    assert "0.42 " in table([0.4186]).to_markdown(digits=2)
    assert "& 0.4186 " in table([0.4186]).to_latex(percent=False)
    assert table([0.41861]).to_csv() == "system,m,m low,m high\ns0,0.41861,,"
    assert table([0.41861]).to_csv(digits=2) == "system,m,m low,m high\ns0,0.42,,"
    p = Table(["x", Column("p", "number", 3)], [["a", 0.01234]])
    assert "0.012" in p.to_latex(digits=1)  # decimals are for figures


def test_csv_is_csv():
    rows = list(csv.reader(io.StringIO(to_csv(Table(["a,b", 'c"d'], [["x, y", 1], ['"z"', None]])))))
    assert rows == [["a,b", 'c"d'], ["x, y", "1"], ['"z"', ""]]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"uncertainty": "sd"}, "uncertainty must be none, pm, interval"), ({"digits": 99}, "digits must be"), ({"percent": 3}, "percent must be"),
        ({"columns": ["n"]}, "no column 'n'"), ({"columns": []}, "at least one"), ({"digit": 1}, 'Did you mean "digits"'),
    ],
)  # fmt: skip
def test_wrong_words(how, message):
    with pytest.raises(MetricError, match=message):
        table([0.5]).to_latex(**how)


def test_an_unknown_format_is_named():
    with pytest.raises(MetricError, match=r'no format \'latx\'.*Did you mean "latex"'):
        table([0.5]).to_format("latx")


def test_results_and_comparisons_have_the_same_words():
    gold = [["B-X", "O"], ["O", "B-Y"], ["B-X", "B-Y"]]
    system = [["B-X", "O"], ["O", "O"], ["B-X", "B-X"]]
    results = ts.spans(gold, system, ["segment", "ts"])
    comparison = ts.compare({"A": results, "B": ts.spans(gold, gold, ["segment", "ts"])}, resamples=100)
    for one, column in ((results, "f1"), (comparison, "ts"), (results.table(), "f1"), (results.by("label"), "f1")):
        for format_ in WRITERS:
            text = one.to_format(format_, columns={column: "Shown"}, digits=1, uncertainty="pm")
            assert "Shown" in text or format_ in ("csv", "tsv"), format_
    assert "Shown" in comparison.to_csv(columns={"ts": "Shown"})
    assert "segment" not in comparison.to_csv(columns=["ts"])
    assert "1 " not in comparison.to_latex(ranks=False).partition("\\midrule")[2].partition("\\bottomrule")[0].replace(
        "1 \\", ""
    )
    assert results.to_latex(uncertainty="interval").count("{\\tiny [") > 2


def test_columns_of_a_command():
    spans = (EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob")
    shown = run("score", "spans", *spans, "--columns", "f1=F,recall", "--format", "csv").stdout.splitlines()
    assert shown[0] == "metric,F,recall"
    assert "no column 'f2'" in run("score", "spans", *spans, "--columns", "f2", code=2).stderr
    text = run(
        "compare", "spans", *spans, "--columns", "ts=TS", "--format", "markdown", "--digits", "1", "--percent"
    ).stdout
    assert text.startswith("| system | TS |\n|---|---|\n| spans.system.iob | 60.3 [")
    assert "no metric 'tz'" in run("compare", "spans", *spans, "--columns", "tz", code=2).stderr


def test_a_picture_of_a_score(tmp_path):
    spans = (EXAMPLES / "spans.gold.iob", EXAMPLES / "spans.system.iob")
    done = run("score", "spans", *spans, "--picture", tmp_path / "p.svg")
    assert f"picture: {tmp_path / 'p.svg'}" in done.stderr
    assert "<svg" in (tmp_path / "p.svg").read_text()


def awkward():
    """Tables with every sign that a language could take for its own."""
    rows = [
        [Name(name, "a"), Estimate(0.1 * k, (0.0, 1.0), "b–e", rank=k, moved=-1.5), name, 3]
        for k, name in enumerate(AWKWARD, 1)
    ]
    wide = Table(AWKWARD[:2] + [Column(name) for name in AWKWARD[2:4]], rows, AWKWARD[0], AWKWARD, compared="down")
    return wide, Table(["system", "m"], [[name, None] for name in AWKWARD]), Table(["a"], [])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex: make latex")
def test_pdflatex_takes_it(tmp_path):
    files = (
        EXAMPLES / "spans.gold.iob",
        f"A_1 & Sons={EXAMPLES / 'spans.system.iob'}",
        f"B={EXAMPLES / 'spans.gold.iob'}",
    )
    board = run(
        "leaderboard", "spans", *files, "--resamples", 50, "--format", "latex", "--caption", "50 % & more"
    ).stdout
    score = run(
        "score", "spans", files[0], EXAMPLES / "spans.system.iob", "--format", "latex", "--uncertainty", "pm"
    ).stdout
    texts = [*(to_latex(one, signatures=AWKWARD[:3]) for one in awkward()), board, score]
    body = "\n\n".join(texts).replace("Ünïcode ß", "Unicode")
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + body + "\n\\end{document}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing" not in done.stdout


def test_typst_takes_it(tmp_path):
    typst = pytest.importorskip("typst", reason="needs typst: pip install typst")
    gold, system = (EXAMPLES / f"spans.{side}.iob" for side in ("gold", "system"))
    files = (gold, f'A_1 "x" #\\={system}', f"B={gold}")
    board = run(
        "leaderboard", "spans", *files, "--resamples", 50, "--format", "typst", "--caption", "50 % #more"
    ).stdout
    (tmp_path / "t.typ").write_text(
        "\n\n".join([*(to_typst(one, signatures=AWKWARD) for one in awkward()), board]), encoding="utf-8"
    )
    assert typst.compile(str(tmp_path / "t.typ"), format="svg")[:100]


def test_markdown_marks_the_figure_and_not_what_stands_behind_it():
    text = to_markdown(table([0.1, 0.3, 0.2], ends=(0.0, 0.5)))
    assert "| **0.3000** [0.0000, 0.5000] |" in text
    assert "| <ins>0.2000</ins> [0.0000, 0.5000] |" in text
    assert re.search(r"\| 0\.1000 \[", text)
