"""The figures by label and by field have one shape in the JSON of every task: by metric a list of rows."""

import json
from pathlib import Path

import pytest

import tallystick as ts
import tallystick.examples
from running import run

EXAMPLES = Path(tallystick.examples.__file__).parent
LABELLED = [
    ("spans", "spans.gold.iob", "spans.system.iob"),
    ("relations", "relations.gold.jsonl", "relations.system.jsonl"),
    ("events", "events.gold.jsonl", "events.system.jsonl"),
    ("roles", "roles.gold.jsonl", "roles.system.jsonl"),
    ("nary", "nary.gold.jsonl", "nary.system.jsonl"),
    ("arguments", "arguments.gold.jsonl", "arguments.system.jsonl"),
    ("calls", "calls.gold.jsonl", "calls.openai.jsonl"),
    ("records", "invoices.gold.jsonl", "invoices.system.jsonl", "--label", "lines[*].sku"),
]


def found(task, gold, system, *options):
    return json.loads(
        run("score", task, str(EXAMPLES / gold), str(EXAMPLES / system), *options, "--format", "json").stdout
    )


@pytest.mark.parametrize("command", LABELLED)
def test_by_label(command):
    labels = found(*command, "--by", "label")["labels"]
    for metric, rows in labels.items():
        assert rows, metric
        for row in rows:
            assert {"label", "figures", "tally", "support"} <= row.keys()
            assert "f1" in row["figures"]


@pytest.mark.parametrize("jobs", [(), ("--jobs", "1")])
def test_every_metric_that_has_the_label_is_broken_down(jobs):
    every = found("roles", *LABELLED[3][1:], "--by", "label", *jobs)
    assert list(every["labels"]) == list(every["metrics"])
    two = found("roles", *LABELLED[3][1:], "--by", "label", "--metric", "ceaf_ree", "--metric", "ree_phi4", *jobs)[
        "labels"
    ]
    assert list(two) == ["ceaf_ree", "ree_phi4"]
    assert two["ceaf_ree"] == every["labels"]["ceaf_ree"]


def test_every_stage_of_arguments_is_broken_down():
    every = found(*LABELLED[5], "--by", "label")
    assert list(every["labels"]) == list(every["metrics"])
    for stage, rows in every["labels"].items():
        assert sum(row["tally"]["num_r"] for row in rows) == every["metrics"][stage]["tally"]["num_r"]
    assert list(found(*LABELLED[5], "--by", "label", "--metric", "exact")["labels"]) == ["exact"]


def test_by_field():
    rows = found("records", "invoices.gold.jsonl", "invoices.system.jsonl", "--by", "field")["fields"]["records"]
    assert all({"path", "figures", "support"} <= row.keys() for row in rows)


@pytest.mark.parametrize(
    ("task", "word", "options"),
    [
        ("spans", "tag", ("--by", "label")),
        ("relations", "type", ("--by", "label", "--label", "type")),
        ("events", "event", ("--by", "label", "--label", "event")),
        ("roles", "role", ("--by", "label", "--label", "role")),
        ("nary", "type", ("--by", "label", "--label", "type")),
        ("arguments", "role", ("--by", "label")),
        ("calls", "function", ("--by", "label")),
        ("templates", "slot", ("--by", "field")),
    ],
)
def test_by_what_the_task_calls_its_labels(task, word, options):
    files = next((one[1:3] for one in LABELLED if one[0] == task), ("templates.gold.jsonl", "templates.system.jsonl"))
    own = found(task, *files, "--by", word)
    assert own == found(task, *files, *options)
    assert own["fields" if task == "templates" else "labels"]
    gold, system = (str(EXAMPLES / name) for name in files)
    results = getattr(ts, task)(gold, system)
    assert str(results.by(word)) == str(results.by(*options[1::2]))
    compared = run("compare", task, gold, f"A={system}", "--by", word, "--resamples", "20", "--format", "table")
    assert ("label" if task == "spans" else word) in compared.stdout


@pytest.mark.parametrize(
    "command", [("spans", "--metric=segment"), ("arguments", "--metric=exact"), ("templates", "--metric=eq32")]
)
@pytest.mark.parametrize(("policy", "value"), [(None, None), ("none", None), ("0", 0.0), ("1", 1.0)])
@pytest.mark.parametrize("jobs", [(), ("--jobs", "1")])
def test_figures_by_label_have_the_policy_for_nothing_of_nothing(command, policy, value, jobs, tmp_path):
    task, metric = command
    lines = {
        "spans": ["a\tB-X\n", "a\tB-Y\n"],
        "arguments": [
            {"id": "1", "tokens": ["a", "b"], "events": [{"id": "e", "type": "T", "trigger": {"start": 0, "end": 1},
             "arguments": [{"role": role, "start": 1, "end": 2}]}]} for role in "XY"
        ],
        "templates": [{"id": "1", "templates": [{"type": "T", role: ["a"]}]} for role in "XY"],
    }[task]  # fmt: skip
    files = []
    for name, line in zip(("gold", "system"), lines, strict=True):
        files.append(tmp_path / (name + (".iob" if task == "spans" else ".jsonl")))
        files[-1].write_text(line if isinstance(line, str) else json.dumps(line) + "\n")
    if jobs and task != "spans":
        pytest.skip("figures by role and by slot are of the whole")
    asked = () if policy is None else ("--undefined", policy)
    by = "field" if task == "templates" else "label"
    shown = json.loads(run("score", task, *files, metric, "--by", by, *asked, *jobs, "--format", "json").stdout)
    if policy is None:
        value = {"none": None, "0": 0.0}[shown["signature"].partition("undefined=")[2].split()[0]]
    (rows,) = shown[f"{by}s"].values()
    figures = {row["path" if by == "field" else "label"]: row["figures"] for row in rows}
    assert (figures["X"]["precision"], figures["X"]["recall"]) == (value, 0.0)
    assert (figures["Y"]["precision"], figures["Y"]["recall"]) == (0.0, value)
