"""The JSON of every command is what `output.schema.json` says, for every task; and the schema refuses what is not."""

import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from running import run
from tallystick.tasks.contract import find_task, task_names

jsonschema = pytest.importorskip("jsonschema")
sys.path.append(str(Path(__file__).parents[1] / "cli"))
from test_compare_tasks import EXAMPLES, example  # noqa: E402

SCHEMA = json.loads(files("tallystick.results").joinpath("output.schema.json").read_text(encoding="utf-8"))
OF_ONE_TASK = {
    "arguments": {"gains", "judge"},
    "calls": {"functions", "invalid", "invalids"},
    "records": {
        "exact",
        "repaired",
        "misfits",
        "unknown",
        "invalids",
        "unread",
        "invalid",
        "inferred_schema",
        "repeated_keys",
    },
    "spans": {"repairs"},
}
"""What a task writes beside what all do; docs/output.md lists it."""


def validator(command):
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{command}"})


def written(command, *arguments, **how):
    found = json.loads(run(*arguments, "--format", "json", **how).stdout)
    validator(command).validate(found)
    return found


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("task", task_names())
def test_score(task, tmp_path):
    gold, system = example(task, tmp_path)
    known = set(SCHEMA["$defs"]["score"]["properties"]) | OF_ONE_TASK.get(task, set())
    breakdowns = [("--by", by) for by in ("document", *find_task(task).breakdowns)]
    if task == "records":
        breakdowns = [("--by", "field"), ("--by", "label", "--label", "lines[*].sku")]
    errors = [] if task == "dependencies" else ["--errors"]
    for options in ([*errors, "--macro"], *breakdowns):
        intervals = ["--intervals"] if options is breakdowns[-1] and options[1] != "document" else []
        new = set(written("score", "score", task, gold, system, *options, *intervals)) - known
        assert not new, "describe it in output.schema.json; or, if one task has it, in OF_ONE_TASK and docs/output.md"
    page = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
    assert not [name for name in OF_ONE_TASK.get(task, ()) if f"`{name}`" not in page]


@pytest.mark.parametrize("task", [name for name in task_names() if find_task(name).can_explain])
def test_explain(task, tmp_path):
    written("explain", "explain", task, *example(task, tmp_path))


@pytest.mark.parametrize("task", task_names())
def test_compare(task, tmp_path):
    gold, system = example(task, tmp_path)
    written("compare", "compare", task, gold, f"A={system}", f"B={gold}", "--resamples", 100)


def test_the_others(tmp_path):
    gold, system = EXAMPLES / "receipts.gold.jsonl", EXAMPLES / "receipts.small.jsonl"
    saved = tmp_path / "before.json"
    run("score", "records", gold, EXAMPLES / "receipts.large.jsonl", "--save", saved)
    found = written("score", "score", "records", gold, system, "--baseline", saved, code=None)
    assert found["baseline"]["changes"]
    written("history", "history", saved)
    written("suggest", "suggest", "records", gold, system)
    written("compare", "compare", "records", gold, f"A={system}", f"B={gold}", "--by", "field", "--resamples", 100)
    written(
        "compare", "compare", "figures", EXAMPLES / "figures.conll-scores.csv", EXAMPLES / "figures.event-stages.csv"
    )
    written("check", "check", "coreference.muc")


@pytest.mark.parametrize(
    "change",
    [
        {"documents": "two"},
        {"metrics": {"m": {"f1": "high"}}},
        {"labels": {"m": [{"label": 3}]}},
        {"warnings": None},
        {"intervals": {"m": {"f1": [0.1]}}},
    ],
)
def test_what_is_not_the_output_is_refused(change):
    entry = {"f1": 1.0, "tally": {}, "micro": {}, "macro": {"left_out": {}}, "signature": ""}
    good = {"tallystick": "1", "signature": "", "documents": 1, "metrics": {"m": entry}, "warnings": []}
    validator("score").validate(good)
    with pytest.raises(jsonschema.ValidationError):
        validator("score").validate({**good, **change})
