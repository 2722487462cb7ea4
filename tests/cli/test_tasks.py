"""A task is declared once, and every command is made from it: those there are, and a new one in a folder of its own.

What the tests want to have of a task inside the package, and fail without:

    examples/TASK.gold.* and TASK.system.*         the bundled example (tests/bundled.py finds it); then `python tests/show/notebook.py`
    `example` in its declaration                   lines of Python that the reference shows
    EXAMPLE of tests/cli/test_compare_tasks.py     a reference, a system and metrics, for comparisons, leaderboards and JSON
    SCRIPT of tests/test_typing.py                 a call that type checkers see
    MADE of benchmarks/corpora.py                  random documents, on which benchmarks/metamorphic.py tries every metric
    benchmarks/parity/made.py                      figures of another scorer, or where else such are (ELSEWHERE of tests/parity/test_made.py)
    docs/python.md                                 an example from data and one from files
    docs/TASK.md, README.md                        its page, and its row in "What it covers"
    docs/matrix.md                                 `python -m docsite.matrix > docs/matrix.md`; why it lacks a column is in `without`
"""

import json
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

import tallystick as ts
import tallystick.tasks
from running import invoke, run_python
from tallystick.cli.compare import compare_command
from tallystick.cli.main import tallystick as command
from tallystick.cli.score import explain_command, score_command
from tallystick.files.boundaries import Boundaries, Uncut
from tallystick.files.pairing import Paired
from tallystick.tasks.contract import Task, find_task, option_of, task_names
from tallystick.tasks.function import function_of
from tallystick.tasks.metric import score_expression
from tallystick.tasks.spans.metrics import METRICS
from test_directions import against_the_order

NEW = Path(__file__).parents[1] / "tasks" / "new_task"


@pytest.mark.parametrize("name", task_names())
def test_a_task_says_what_it_has(name):
    task = find_task(name)
    assert isinstance(task, Task)
    assert (task.name, bool(task.summary), bool(task.help)) == (name, True, True)
    assert set(task.breakdowns) <= {"label", "field"}
    assert set(task.whole_breakdowns) <= set(task.breakdowns)
    assert not task.labels or "label" in task.breakdowns
    assert task.label is None or task.label in task.labels
    assert task.can_explain or task.instead_of_explain
    for one in fields(task.Settings):
        about = option_of(one)
        assert about.help or one.name in ("order", "predicted_column", "token_column"), one.name
    task.Settings()


@pytest.mark.parametrize("name", task_names())
def test_commands_have_the_options_that_are_for_them(name):
    task = find_task(name)
    found = {
        use: {one.name for one in made(name).params if isinstance(one, click.Option)}
        for use, made in (("score", score_command), ("explain", explain_command), ("compare", compare_command))
    }
    figures = {one.name for one in task.options("figures")}
    assert figures <= found["score"] & found["explain"] & found["compare"]
    shown = {one.name for one in task.options("score")}
    assert shown <= found["score"]
    assert not (shown - {"digits"}) & found["compare"]  # decimals are for every table
    by = next(one for one in score_command(name).params if one.name == "by")
    assert list(by.type.choices) == [*task.breakdowns, "document", *task.all_attributes, *task.also_by]


@pytest.fixture
def call(tmp_path, monkeypatch):
    """A task in a folder of its own: nothing else has to know it."""
    monkeypatch.setattr(tallystick.tasks, "__path__", [*tallystick.tasks.__path__, str(NEW)])
    gold = [
        {"id": f"call{k}", "turns": [[0, 10 + k, "anna"], [10 + k, 20, "ben"], [20, 25, "anna"]], "room": "xy"[k % 2]}
        for k in range(4)
    ]
    system = [{"id": f"call{k}", "turns": [[0, 10, "anna"], [10, 20 + k, "ben"]]} for k in range(4)]
    for file, documents in (("gold.jsonl", gold), ("system.jsonl", system)):
        (tmp_path / file).write_text("".join(json.dumps(one) + "\n" for one in documents))
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        done = invoke(command, arguments)
        assert done.returncode == code, (done.output, done.exception)
        return done

    return call


FILES = ("gold.jsonl", "system.jsonl")


def test_a_new_task_is_one_folder_of_at_most_100_lines(call):
    files = list((NEW / "turns").glob("*.py"))
    lines = [line for file in files for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) <= 100
    assert "turns" in task_names()
    assert "turns         who speaks when" in call("list", "tasks").stdout


def test_a_new_task_scores_explains_and_compares(call):
    found = json.loads(call("score", "turns", *FILES, "--by", "label", "--format", "json").stdout)
    rate = found["metrics"]["error_rate"]
    # by hand: 0, 1, 2 and 3 seconds of anna's are given to ben; of her last five 5, 4, 3 and 2 are missed, the others ben's
    assert rate["tally"] == {"missed": 14.0, "false": 0.0, "confused": 12.0, "seconds": 100.0}
    assert rate["error_rate"] == 0.26
    assert [row["label"] for row in next(iter(found["labels"].values()))] == ["anna", "ben"]
    assert "collar=0" in call("score", "turns", *FILES).stderr
    assert "ben" in call("explain", "turns", *FILES, "--document", "call2").stdout
    ranked = json.loads(call("compare", "turns", FILES[0], "A=system.jsonl", "B=gold.jsonl", "--format", "json").stdout)
    assert [ranked["systems"][name]["error_rate"]["rank"] for name in "AB"] == [2, 1]  # the lower, the better
    worst = json.loads(call("score", "turns", *FILES, "--by", "document", "--format", "json").stdout)
    assert worst["documents_by_id"]["error_rate"]["call3"]["error_rate"] == 0.32


def test_a_new_task_has_shards_and_a_report(call):
    whole = json.loads(call("score", "turns", *FILES, "--format", "json").stdout)
    for more in (["--shard", "80B"], ["--shard", "80B", "--state", "state"]):
        assert json.loads(call("score", "turns", *FILES, *more, "--format", "json").stdout) == whole
    assert isinstance(find_task("turns").boundaries("gold.jsonl", None), Boundaries)
    call("score", "turns", *FILES, "--report", "page.html", "--fail-under", "error_rate.error_rate=0.2", code=1)
    page = Path("page.html").read_text()
    assert "Alignment under turns" in page
    assert "By speaker, under turns" in page


def test_a_new_task_has_differences_by_part_slices_gates_and_a_history(call):
    """What is made of any task's rows and documents, without a word in its declaration."""
    sides, systems = ("score", "turns", *FILES), ("compare", "turns", FILES[0], "A=gold.jsonl", "B=system.jsonl")
    for by, names in (("label", ["anna", "ben"]), ("field", ["turns[*].speaker", "turns[*].time"])):
        found = json.loads(call(*systems, "--by", by, "--format", "json").stdout)["by"][by]["turns"]["parts"]
        assert sorted(found) == names
        assert "f1 low" in call(*sides, "--by", by, "--intervals").stdout
    for room in ("room", "gold.jsonl:room"):
        slices = json.loads(call(*sides, "--slice", room, "--format", "json").stdout)["slices"]["metrics"]
        assert [(one["slice"], one["figures"]["error_rate"]) for one in slices["error_rate"]] == [
            ("x", 0.24),
            ("y", 0.28),
        ]
        assert (
            "x"
            in json.loads(call(*systems, "--slice", room, "--format", "json").stdout)["by"]["slice"]["turns"]["parts"]
        )
    assert "there are turns, room" in call(*sides, "--slice", "rom", code=2).output
    call(*sides, "--save", "base.json", "--fail-under", "f1=0.1", "--fail-under", "error_rate=0.5")
    assert "error_rate error_rate is 0.2600, above 0.2" in call(*sides, "--fail-under", "error_rate=0.2", code=1).stderr
    assert "no significant loss" in call(*sides, "--baseline", "base.json").stderr
    assert "error_rate" in call("history", "base.json", "base.json").stdout
    assert "missing" in call(*sides, "--errors").stdout


def test_a_new_task_is_a_function_that_takes_plain_data_and_an_evaluation(call):
    gold, system = ([json.loads(line) for line in Path(file).read_text().splitlines()] for file in FILES)
    try:
        assert "turns" in dir(ts)
        whole = ts.turns(*FILES, collar=0.5)
        assert ts.turns(gold, system, collar=0.5)["error_rate"].figures == whole["error_rate"].figures
        by_id = [{one["id"]: {"turns": one["turns"]} for one in side} for side in (gold, system)]
        assert ts.turns(*by_id, "turns")["turns"].figures == ts.turns(*FILES)["turns"].figures
        evaluation = ts.Evaluation(task="turns", collar=0.5)
        for pair in zip(gold, system, strict=True):
            evaluation.update(*pair)
        assert evaluation.compute()["error_rate"].figures == whole["error_rate"].figures
    finally:
        vars(ts).pop("turns", None)
        function_of.cache_clear()


def test_a_new_task_loses_nothing_and_says_what_is_wrong(call):
    text = Path("gold.jsonl").read_text()
    Path("twice.jsonl").write_text(text + text.splitlines()[0] + "\n")
    assert "twice.jsonl:5" in call("score", "turns", "twice.jsonl", "system.jsonl", code=2).output
    Path("other.jsonl").write_text('{"id": "call0"}\n')
    assert "has no 'turns'; it has 'id'" in call("score", "turns", "other.jsonl", "system.jsonl", code=2).output
    for found in ('"x"', "true", "null", "1" + "0" * 400):
        Path("wrong.jsonl").write_text(text.replace("[0, 10,", f"[{found}, 10,", 1))
        said = call("score", "turns", "wrong.jsonl", "system.jsonl", code=2).output
        assert "wrong.jsonl:1" in said
        assert "turns[0][0]: expected a number" in said
    assert 'Did you mean "turns"' in call("score", "turns", *FILES, "--metric", "turn", code=2).output


def test_a_new_task_is_light_and_imports_from_the_left(call):
    """As in the package: its declaration loads nothing heavy, and its modules know only rooms to their left."""
    code = f"import sys, tallystick.tasks as t; t.__path__.append({str(NEW)!r}); import tallystick.tasks.turns.task; print(*sys.modules)"
    assert "numpy" not in run_python(code).split()
    assert not against_the_order({f"tallystick.tasks.turns.{file.stem}": file for file in (NEW / "turns").glob("*.py")})


NO_CHOICE = {"relations": {"nothing", "DocRED submission"}, "events": {"gen-arg"}}
"""Formats that go with another one, and have no name of their own for --input."""


@pytest.mark.parametrize("name", task_names())
def test_every_format_can_be_named(name):
    """A format is declared in `FORMATS` of `files.py`; --input names it, which `--help` lists without loading the readers."""
    task = find_task(name)
    said = next((one for one in score_command(name).params if one.name == "input"), None)
    if said is not None:
        formats = {one.name for one in task.formats()} - NO_CHOICE.get(name, set())
        assert {str(one) for one in said.type.choices} - {"auto"} == formats, (
            "name it in `input` of the task's settings"
        )


def test_help_that_lists_metrics_lists_them_all():
    said = re.findall(r"\w+", find_task("spans").help.partition("Metrics:")[2])
    assert [name for name in METRICS if name not in said] == [], "name it in `help` of tasks/spans/task.py"


def test_a_mismatch_names_the_document_and_says_nothing_of_how_it_was_handed_on():
    pairs = Paired(("d1",), ({"turns": [{"start": 0}]},), ({"turns": [{"start": 0}]},))
    with pytest.raises(ts.TallystickError) as caught:
        score_expression("turns.turns", ts.parse("f1(each(turns=match(record(time=exact))))"), pairs)
    assert "document d1: at turns[*]: expected a field 'time', found fields start" in str(caught.value)
    assert "dicts" not in str(caught.value)


def test_what_a_task_does_not_have_is_not_in_its_help(call):
    assert "'field' is not one of 'label', 'document'" in call("score", "amr", "a", "b", "--by", "field", code=2).output
    assert "no tree to show" in call("explain", "dependencies", "a", "b", code=2).output


def test_a_task_without_missing_documents_says_why(tmp_path):
    without = {name: find_task(name).without_missing for name in task_names() if find_task(name).without_missing}
    assert list(without) == ["dependencies"]
    file = tmp_path / "gold.conllu"
    file.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n")
    done = invoke(command, ["compare", "dependencies", str(file), str(file), "--missing", "empty"])
    assert done.returncode == 2
    assert f"--missing empty: {without['dependencies']}; leave --missing out" in done.output


def test_a_task_that_declares_no_formats_is_not_cut_where_nobody_knows_its_documents(tmp_path):
    """Documents of several lines would be torn apart by a guess."""
    phrases = tmp_path / "phrases.txt"
    phrases.write_text("a\nb\n\nc\n\n")
    found = Task().boundaries(str(phrases), None)
    assert isinstance(found, Uncut)
    assert found.reason == "the beginnings of its documents are unknown"
