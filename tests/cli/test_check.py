"""`tallystick check` from the command line."""

import json
import sys
from importlib.resources import files

import pytest

from running import invoke
from tallystick.cli.main import tallystick
from tallystick.laboratory.named import TASKS
from tallystick.tasks.contract import find_task, task_names

GOLD = str(files("tallystick.examples") / "table1.gold.newick")

TYPES = """
Names = list[str]

def score(reference, predicted):
    return len(set(reference) & set(predicted)) / max(len(reference), len(predicted), 1)
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TYPES)
    return str(path)


def run(*arguments):
    return invoke(tallystick, ["check", *arguments])


def test_one_metric_has_a_row_for_each_property():
    done = run("coreference.muc", "--samples", "5")
    assert done.returncode == 0, done.output
    assert "\nP1 identity\tfails\t" in done.stdout


def test_several_metrics_have_one_table_and_their_curves():
    done = run("hierarchies.muc_p", "hierarchies.nstm_p", "--data", GOLD, "--samples", "2", "--format", "markdown")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("| metric | Definition 1 |")
    assert any(
        "hierarchies.nstm_p | (a) correct links added | 0.5600 | 1.0000 | 22 | 0.0000 | 0.0800" in x for x in lines
    )


def test_a_derived_metric_an_expression_and_a_function(module):
    derived = run("--type", f"{module}:Names", "--samples", "5", "--require", "P1")
    assert derived.returncode == 0, derived.output
    written = run("precision(match(exact))", "--type", f"{module}:Names", "--samples", "5", "--format", "json")
    assert json.loads(written.stdout)[0]["figure"] == "precision"
    function = run(
        "--function",
        f"{module}:score",
        "--type",
        f"{module}:Names",
        "--samples",
        "10",
        "--require",
        "P1",
        "--require",
        "dupl",
    )
    assert function.returncode == 1
    assert "FAILED" in function.stderr
    assert "duplicates" in function.stderr


def test_wrong_usage_says_what_to_do(module):
    for arguments, message in (
        ([], "say what to check"),
        (["--function", f"{module}:score"], "needs --type"),
        (["coreference.muc", "--samples", "1", "--require", "P9"], "no property 'P9'"),
        (["coreference.muk"], 'Did you mean "muc"'),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert message in done.output


def test_pictures_need_matplotlib_and_say_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("coreference.muc", "--samples", "1", "--picture", str(tmp_path / "x.svg"))
    assert done.returncode == 2
    assert 'pip install "tallystick[plots]"' in done.output


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_pictures(tmp_path, suffix):
    pytest.importorskip("matplotlib")
    target = tmp_path / f"curves.{suffix}"
    done = run("hierarchies.muc_p", "hierarchies.nstm_p", "--data", GOLD, "--samples", "1", "--picture", str(target))
    assert done.returncode == 0, done.output
    assert b"hierarchies.nstm_p" in target.read_bytes() if suffix != "png" else target.stat().st_size > 10_000


@pytest.mark.parametrize("name", sorted({*task_names()} - {*TASKS}))
def test_a_task_whose_metrics_are_not_known_here(name):
    done = run(f"{name}.f1")
    assert done.returncode == 2
    known = f"it knows the named metrics of {', '.join(TASKS)}. "
    assert f"check does not make up documents of {name}; {known}" in done.stderr
    assert "With --type MODULE:TYPE it checks an expression" in done.stderr


def test_every_task_with_named_metrics_is_known():
    """Records have none: their metric is that of a type, which --type names."""
    assert {*TASKS} - {"equations"} == {name for name in task_names() if find_task(name).named_metrics}
    assert {*task_names()} - {*TASKS} == {"records"}


def test_the_help_lists_the_tasks_that_are_known():
    said = " ".join(run("--help").stdout.split())
    assert all(task in said.partition("Tasks with named metrics are")[2].partition(". ")[0] for task in TASKS)
