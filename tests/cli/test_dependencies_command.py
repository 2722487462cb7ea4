"""`score dependencies`, run as a user runs it."""

import json
from pathlib import Path

import pytest

from running import run

UD = Path(__file__).resolve().parents[1] / "parity" / "ud"


def word(number, head, form="x", deprel="dep"):
    relation = "root" if head == 0 else deprel
    return f"{number}\t{form}\tl\tX\tY\t_\t{head}\t{relation}\t_\t_\n"


FINE = word(1, 0, "a") + word(2, 1, "b") + word(3, 2, "c") + "\n"


@pytest.fixture(autouse=True)
def gold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.conllu").write_text(FINE)


@pytest.mark.parametrize("name", ["generated-11", "german", "spanish"])
def test_the_figures_are_uds_own(name):
    expected = json.loads((UD / "expected.json").read_text())[name]
    files = UD / f"{name}.reference.conllu", UD / f"{name}.predicted.conllu"
    found = json.loads(run("score", "dependencies", *files, "--format", "json").stdout)["metrics"]
    for metric, (correct, reference, predicted, _) in expected.items():
        if metric == "EULAS":  # UD's own counts pairs of edges there
            continue
        tally = found[metric.lower()]["tally"]
        assert (tally["num_r"], tally["den_r"], tally["den_p"]) == (correct, reference, predicted), metric


def test_one_metric_by_document_and_a_gate():
    Path("system.conllu").write_text(FINE.replace("\t2\tdep", "\t1\tdep"))
    done = run(
        "score", "dependencies", "gold.conllu", "system.conllu", "--metric", "uas", "--fail-under", "f1=0.9", code=1
    )
    assert "FAILED: uas f1 is 0.6667" in done.stderr
    assert done.stdout.splitlines()[1].startswith("uas\t0.666")
    assert (
        "'field' is not one of 'label', 'document'"
        in run("score", "dependencies", "gold.conllu", "gold.conllu", "--by", "field", code=2).stderr
    )


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (word(1, 0, "a") + word(2, 3, "b") + word(3, 2, "c") + "\n", 2, "a cycle of heads: 2 -> 3 -> 2"),
        (word(1, 0, "a") + word(2, 0, "b") + word(3, 2, "c") + "\n", 2, "several roots: words 1 and 2"),
        (word(1, 0, "a") + word(2, 9, "b") + word(3, 2, "c") + "\n", 2, "HEAD 9 is out of range"),
        (word(1, 0, "a") + word(3, 1, "b") + "\n", 2, "ID 3 where 2 was expected"),
        ("# c\n" + word(1, 0, "a") + "2\tb\tl\n\n", 3, "expected 10 columns separated by tabs, found 3"),
        (FINE.rstrip("\n") + "\n", 3, "not closed by a blank line"),
    ],
)
def test_a_bad_tree_names_its_line(content, line, message):
    Path("bad.conllu").write_text(content)
    for files in (("gold.conllu", "bad.conllu"), ("bad.conllu", "gold.conllu")):
        assert f"bad.conllu:{line}" in (shown := run("score", "dependencies", *files, code=2).stderr)
        assert message in shown


def test_diverging_texts_name_the_first_divergence():
    Path("other.conllu").write_text(FINE.replace("\tb\t", "\tB\t"))
    shown = run("score", "dependencies", "gold.conllu", "other.conllu", code=3).stderr
    assert "gold.conllu:2" in shown
    assert "other.conllu:2" in shown


def test_tasks_without_a_tree_are_not_offered_one():
    assert "have no tree to show" in run("explain", "dependencies", "gold.conllu", "gold.conllu", code=2).stderr


def test_a_figure_that_only_all_repairs_together_change_keeps_its_column(tmp_path):
    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    gold.write_text("1\tRuns\trun\tVERB\t_\tNumber=Sing\t0\troot\t_\t_\n\n", encoding="utf-8")
    system.write_text("1\tRuns\trun\tNOUN\t_\tNumber=Plur\t0\troot\t_\t_\n\n", encoding="utf-8")
    shown = run("score", "dependencies", gold, system, "--errors").stdout
    header = next(line for line in shown.splitlines() if line.startswith("error\t"))
    assert "alltags" in header.split("\t")
