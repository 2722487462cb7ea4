"""The tables of `score` and `compare` in every format: what they say, and that they stay whole."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

import tallystick
from running import run, write

EXAMPLES = Path(tallystick.__file__).parent / "examples"
SPANS = ("compare", "spans", str(EXAMPLES / "spans.gold.iob"), f"a|b={EXAMPLES / 'spans.system.iob'}", f"g={EXAMPLES / 'spans.gold.iob'}")  # fmt: skip
MIXED = ("--metric", "segment", "--metric", "token", "--resamples", "50")


@pytest.fixture
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", [["a", "b"], ["c"]])
    write("system.jsonl", [["a"], ["c", "d"]])
    return tmp_path


def figures(rows, *options, folder):
    (folder / "f.csv").write_text(rows)
    return run("compare", "figures", str(folder / "f.csv"), *options)


def cells(table):
    """By system and metric the cells of a table on a terminal."""
    lines = [re.split(r" {2,}", line.strip()) for line in table.splitlines() if line.strip()]
    at = next(k for k, line in enumerate(lines) if line[0] == "system")
    rows = [line for line in lines[at + 2 :] if len(line) == len(lines[at])]
    return {(row[0], metric): cell for row in rows for metric, cell in zip(lines[at][1:], row[1:], strict=True)}


def test_a_score_in_latex_carries_its_signature(lists):
    done = run("score", "records", "gold.jsonl", "system.jsonl", "--format", "latex")
    caption = next(line for line in done.stdout.splitlines() if line.startswith("\\caption"))
    assert "Signature: f1(match(equal, 1:1)) \\textbar{} average=micro" in caption.replace("\\allowbreak{}", "")
    assert "% References as BibTeX: tallystick cite records.records" in done.stdout
    assert "\\midrule\n{}[*] &" in done.stdout


def test_the_help_of_score_says_where_intervals_are():
    assert "--intervals adds confidence intervals" in run("score", "--help").stdout
    report = run("score", "spans", "--help").stdout.partition("--report ")[2].partition("--report-documents")[0]
    assert "with confidence intervals" in " ".join(report.split())


# What the figures are


@pytest.mark.parametrize("format_", ["table", "markdown", "latex", "html"])
def test_it_says_what_the_figures_are(format_):
    shown = run(*SPANS, *MIXED, "--format", format_).stdout
    assert "Figures: F1, micro (segment); F1, macro (token)" in shown
    assert "Figures: F1" in run(*SPANS, "--metric", "segment", "--resamples", "50", "--format", format_).stdout


def test_programs_are_told_what_the_figures_are():
    head, first, second, *_ = (line.split("\t") for line in run(*SPANS, *MIXED, "--format", "tsv").stdout.splitlines())
    assert head[-2:] == ["figure", "average"]
    assert [first[-2:], second[-2:]] == [["f1", "micro"], ["f1", "macro"]]
    found = json.loads(run(*SPANS, *MIXED, "--format", "json").stdout)["metrics"]
    assert found == {"segment": {"figure": "f1", "average": "micro"}, "token": {"figure": "f1", "average": "macro"}}


def test_one_system_has_a_legend_too(lists):
    shown = run("compare", "records", "gold.jsonl", "system.jsonl", "--macro", "--format", "table").stdout
    assert shown.splitlines()[-1].strip() == "Figures: F1, mean over documents. [ ]: 95 % interval."


# Markdown


def test_markdown_has_its_key_and_signature_below():
    shown = run(*SPANS, *MIXED, "--format", "markdown").stdout
    assert shown.startswith("| system | segment | token |\n|---|---|---|\n| a a\\|b |")
    assert "№1" in shown
    assert "#" not in shown
    below = shown.split("\n\n")
    assert below[1].splitlines()[0].endswith("[ ]: 95 % interval. №: rank; ↑↓: places moved from segment.")
    assert below[2] == "No difference is significant (p ≤ 0.05 after Holm's correction)."
    assert below[3].startswith("Signature: `spans.segment | average=micro")
    assert any(re.fullmatch(r"\d+ sentences?", line) for line in shown.splitlines())


# LaTeX


def latex(*arguments):
    return run(*arguments, "--format", "latex").stdout


def test_differences_are_in_percent_as_the_figures_are():
    shown = latex(*SPANS, "--metric", "segment", "--resamples", "50", "--differences")
    figures_, differences = shown.split("\n\n")  # a blank line between two tabulars
    assert "\\begin{tabular}{lllrrrrr}" in differences
    assert "second $-$ first" in differences
    row = next(line for line in differences.splitlines() if line.startswith("segment"))
    _, first, second, difference, low, _, p, _ = row.removesuffix(" \\\\").split(" & ")
    value = {line.partition("\\textsuperscript")[0]: float(re.search(r"\d+\.\d+", line.split(" & ")[1])[0]) for line in figures_.splitlines() if "scriptsize" in line}  # fmt: skip
    assert float(difference) == pytest.approx(value[second] - value[first], abs=0.011)
    assert float(low) > 1
    assert float(p) < 1
    turned = latex(*SPANS[:3], SPANS[4], SPANS[3], "--metric", "segment", "--resamples", "50", "--differences")
    assert f"& $-${difference} &" in turned


def test_the_caption_explains_what_is_printed():
    shown = latex(*SPANS, *MIXED)
    caption = next(line for line in shown.splitlines() if line.startswith("\\caption"))
    assert "in percent. [~]: 95 \\% interval. Behind each figure: its rank, and by how many" in caption
    assert "Signature: spans.segment \\textbar{} average=micro" in caption
    assert "Bold: the best." in caption
    assert "#" not in caption


def test_tasks_are_named_and_stand_apart_in_latex():
    shown = latex("compare", "figures", str(EXAMPLES / "figures.event-arguments.csv"))
    tabulars = shown.split("\n\n")
    assert len(tabulars) == 5
    assert all(one.count("\\begin{tabular}") == 1 for one in tabulars)
    assert "\\caption{RAMS. Behind each figure" in tabulars[0]
    assert "\\begin{tabular}{llrrrr}" in tabulars[2]  # two metrics by name


def test_many_metrics_have_a_row_each_in_latex_too(tmp_path):
    rows = "".join(f"{system},m{k},{k}{system == 'B':d}\n" for system in "AB" for k in range(10))
    shown = figures("system,metric,value\n" + rows, "--format", "latex", "--no-correlations", folder=tmp_path).stdout
    assert "Metric & \\multicolumn{2}{l}{A} & \\multicolumn{2}{l}{B} \\\\" in shown
    assert "m9 & 90 & 2 & \\textbf{91} & 1 \\\\" in shown


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex: make latex")
def test_the_latex_of_comparisons_compiles(lists):
    import subprocess

    parts = [
        latex(*SPANS, f"B~^\\x={EXAMPLES / 'spans.system.iob'}", *MIXED, "--differences", "--correlations"),
        latex("compare", "figures", str(EXAMPLES / "figures.conll-averages.csv"), "--mean", "conll=muc,b3,ceaf_e"),
        latex("score", "records", "gold.jsonl", "system.jsonl"),
    ]
    text = "\n\n".join(("\\documentclass{article}\\usepackage{booktabs}\\begin{document}", *parts, "\\end{document}"))
    Path("t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]


def test_what_is_undefined_has_no_rank_in_any_table():
    from tallystick.results.comparison import Cell, Comparison
    from tallystick.results.comparison_show import comparison_table, figures_only
    from tallystick.show.tables import to_text, to_tsv

    cells_ = {("A", "m"): Cell(0.5, rank=1.0), ("B", "m"): Cell(None, rank=None, moved=None)}
    one = Comparison(("A", "B"), ("m",), cells_, {})
    assert [line.split() for line in to_text(comparison_table(one)).splitlines()[2:4]] == [
        ["A", "0.5000", "#1"],
        ["B", "–"],
    ]
    assert "B & -- &  \\\\\n" in one.to_latex()
    assert to_tsv(figures_only([one])).splitlines()[-1] == "B\tm\t\t\t\t\t1\t\t\t\t"


# Figures that somebody has


def test_figures_have_the_digits_that_they_are_written_with(tmp_path):
    rows = "system,metric,value,run\nA,f,90,1\nB,f,40.25,1\nB,f,41,2\nA,g,1.50,1\nB,g,2,1\nB,g,4,2\n"
    found = cells(figures(rows, "--format", "table", folder=tmp_path).stdout)
    assert found["A", "f"] == "90 #1"
    assert found["A", "g"] == "1.50 #2 ↓1"
    assert found["B", "f"].startswith("40.625 ±0.530 (2 runs)")
    assert found["B", "g"].startswith("3.0 ±1.4 (2 runs)")
    asked = cells(figures(rows, "--format", "table", "--digits", "1", folder=tmp_path).stdout)
    assert asked["A", "f"] == "90.0 #1"
    mean = cells(figures(rows, "--mean", "h=f,g", "--format", "table", folder=tmp_path).stdout)
    assert mean["A", "h"].startswith("45.750 ")
    assert mean["A", "f"] == "90 #1"


def test_numbers_with_exponents_keep_their_digits(tmp_path):
    rows = "system,metric,value\nA,f,1.2e-3\nB,f,2.9E-3\nC,f,1e-4\nD,f,2e3\nE,f,1e-40\nF,f,1e90\nG,f,0e-99999999999999999999\n"
    found = cells(figures(rows, "--format", "table", folder=tmp_path).stdout)
    values = [found[name, "f"].split()[0] for name in "ABCDEFG"]
    assert values == ["0.0012", "0.0029", "0.0001", "2000", "1e-40", "1e+90", "0"]


@pytest.mark.parametrize("format_", ["table", "markdown", "latex"])
def test_digits_are_cut_towards_zero_everywhere(tmp_path, format_):
    rows = "system,metric,value,run\nA,f,-1.25,1\nB,f,1.29,1\nC,f,0.56,1\nC,f,0.95,2\n"
    options = ("--truncate", "--digits", "1", "--format", format_)
    shown = figures(rows, *options, folder=tmp_path).stdout.replace("$-$", "-").replace(" $\\pm$ ", " ±")
    shown = re.sub(r"\\textbf|\\underline|\\phantom{0}|[{}]|\*\*|</?ins>", "", shown)
    assert "-1.2 " in shown
    assert "1.2 " in shown
    assert "0.7 ±0.2" in shown  # 0.755 and 0.276


def test_a_table_of_figures_is_not_said_to_be_one(tmp_path):
    (tmp_path / "b.csv").write_text("system,metric,value\nA,f,0.5\nA,f,0.6\n")
    message = run("compare", "figures", str(tmp_path / "b.csv"), code=2).stderr
    assert "A has f twice" in message
    assert "looks like" not in message
    other = run("compare", "spans", str(tmp_path / "b.csv"), str(tmp_path / "b.csv"), code=2).stderr
    assert "looks like a file for `tallystick compare figures`" in other


TWO_ORDERS = """task,system,metric,value
t1,A,x,1
t1,A,y,2
t1,B,x,2
t1,B,y,1
t1,C,x,3
t1,C,y,3
t2,A,y,2
t2,A,x,1
t2,B,y,1
t2,B,x,2
t2,C,y,3
t2,C,x,3
"""


def test_tasks_share_one_order_of_metrics(tmp_path):
    found = json.loads(figures(TWO_ORDERS, "--format", "json", folder=tmp_path).stdout)
    assert [(row["first"], row["second"]) for row in found["mean_correlations"]] == [("x", "y")]
    assert found["mean_correlations"][0]["kendall_a"] == pytest.approx(1 / 3)
    assert found["left_out_of_mean"] == []
    for task in ("t1", "t2"):
        assert [found["tasks"][task]["systems"]["A"][metric]["moved"] for metric in "xy"] == [0, 1]


def test_a_metric_that_a_system_or_run_lacks_changes_no_order(tmp_path):
    rows = "task,system,run,metric,value\nt1,A,1,x,1\nt1,A,1,y,2\nt2,A,1,y,2\nt2,B,1,y,1\nt2,B,1,x,3\nt2,B,2,y,2\n"
    found = json.loads(figures(rows, "--format", "json", folder=tmp_path).stdout)["tasks"]["t2"]
    assert list(found["metrics"]) == ["x", "y"]
    assert (found["systems"]["B"]["x"]["value"], found["systems"]["B"]["y"]["value"]) == (3, 1.5)
    assert found["systems"]["A"]["x"]["value"] is None


@pytest.mark.parametrize("format_", ["table", "tsv", "markdown", "latex"])
def test_pairs_without_a_mean_are_named(tmp_path, format_):
    rows = TWO_ORDERS + "t2,A,z,1\nt2,B,z,2\nt2,C,z,3\n"
    done = figures(rows, "--format", format_, folder=tmp_path)
    message = 'leaves out "x and z", "y and z": not all of the 2 tasks have both.'
    assert message in done.stderr
    assert (message in done.stdout) == (format_ in ("markdown", "latex"))
    only = "task,system,metric,value\nt1,A,x,1\nt1,A,y,1\nt2,A,x,1\nt2,A,z,1\n"
    alone = figures(only, "--format", format_, folder=tmp_path)
    assert "mean of 2 tasks" not in alone.stdout
    assert 'leaves out "x and y", "x and z"' in alone.stderr


@pytest.mark.parametrize("format_", ["csv", "tsv"])
@pytest.mark.parametrize("intervals", [(), ("--intervals", "--resamples", "20")])
@pytest.mark.parametrize(
    ("task", "files", "word"),
    [
        ("arguments", "arguments.{}.jsonl", "role"),
        ("relations", "relations.{}.jsonl", "type"),
        ("events", "events.{}.jsonl", "role"),
        ("roles", "roles.{}.jsonl", "role"),
        ("nary", "nary.{}.jsonl", "type"),
        ("templates", "templates.{}.jsonl", "slot"),
    ],
)
def test_for_programs_every_task_has_one_table_of_its_labels(task, files, word, intervals, format_):
    gold, system = (str(EXAMPLES / files.format(side)) for side in ("gold", "system"))
    text = run("score", task, gold, system, "--by", word, "--format", format_, *intervals).stdout
    delimiter = "," if format_ == "csv" else "\t"
    blocks = [list(csv.DictReader(one.splitlines(), delimiter=delimiter)) for one in text.strip().split("\n\n")]
    (labels,) = [rows for rows in blocks if next(iter(rows[0])) != "metric"]
    assert len({row["metric"] for row in labels}) > 1
    assert ("f1 low" in labels[0]) == bool(intervals)


@pytest.mark.parametrize("how", ["score", "compare", "python"])
def test_for_programs_the_labels_of_several_metrics_are_one_table(how):
    gold, system = str(EXAMPLES / "spans.gold.iob"), str(EXAMPLES / "spans.system.iob")
    metrics = ["segment", "ts"]
    if how == "python":
        text = tallystick.spans(gold, system, metrics).by("label").to_csv()
    else:
        systems = [system] if how == "score" else [f"a={system}", f"b={gold}", f"c={system}"]
        asked = [f"--metric={name}" for name in metrics]
        text = run(how, "spans", gold, *systems, *asked, "--by", "label", "--format", "csv").stdout
    blocks = [list(csv.DictReader(block.splitlines())) for block in text.strip().split("\n\n")]
    (labels,) = [rows for rows in blocks if list(rows[0])[:1] == ["label"] and "first" not in rows[0]]
    assert [(row["label"], row["metric"]) for row in labels] == [(x, m) for m in metrics for x in ("LOC", "ORG", "PER")]
    assert [row["support"] for row in labels] == ["1", "2", "2", "3", "6", "6"]
    if how == "compare":
        (pairs,) = [rows for rows in blocks if "first" in rows[0] and "label" in rows[0]]
        assert {row["metric"] for row in pairs} == set(metrics)
    else:
        assert [row["accuracy"] for row in labels][:4] == ["", "", "", "0.9"]
