"""Nothing in a prediction is free, and nothing that counts is silent."""

import json

import pytest

import tallystick as ts
from running import run, write
from tallystick.errors import ValueMismatch


@pytest.mark.parametrize("constraint", ["1:1", "N:1", "1:N", "N:N"])
@pytest.mark.parametrize(
    "inner", ["exact", "equal", 'text("levenshtein")', 'text("token_set", "casefold")', 'text("jaro_winkler")']
)
def test_a_null_among_items_costs_precision(inner, constraint):
    metric = ts.parse(f"f1(match({inner}, {constraint}))")
    assert ts.evaluate(metric, [["a"]], [["a"]]).precision == 1
    found = ts.evaluate(metric, [["a"]], [["a", None]])
    assert found.precision == 0.5
    assert found.exact_documents == 0
    assert metric(["a"], ["a", None]) == found.f1 < 1


def test_a_null_under_an_argument_that_no_function_has_is_wrong():
    gold = [[{"name": "f", "arguments": {"a": 1}}]]
    found = ts.calls(gold, [[{"name": "f", "arguments": {"a": 1, "made_up": None}}]])
    assert found["calls"].f1 == 0
    assert found["arguments"].precision == 2 / 3
    assert ts.calls(gold, gold)["calls"].f1 == 1


@pytest.mark.parametrize(
    ("expression", "reference", "predicted"),
    [
        ("f1(each(x=number(relative=0.1)))", {"x": 1.0}, {"x": "abc"}),
        ("f1(each(x=number(relative=0.1), y=exact))", {"x": 1.0, "y": 2}, {"x": {"z": 1, "w": 2}, "y": 2}),
        ("f1(match(record(a=number(relative=0.1))))", [{"a": 1.0}], [{"a": 1.0}, "junk"]),
    ],
)
def test_one_pair_counts_wrong_kinds_as_an_evaluation_does(expression, reference, predicted):
    metric = ts.parse(expression)
    assert metric(reference, predicted) == ts.evaluate(metric, [reference], [predicted]).f1 < 1
    with pytest.raises(ValueMismatch):
        metric(predicted, reference)


ANSWERS = [
    '{"id": "a", "x": 1, "x": 2, "y": 3}',
    '{"id": "b", "x": 2, "y": {"u": 1, "u" : 3}}',
    '{"id": "c", "x": 2, "y": "\\":\\" x\\":"}',
]


@pytest.mark.parametrize("shards", [[], ["--shard", "1B"]])
def test_a_key_that_stands_twice_is_reported(tmp_path, shards):
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    write(gold, [{"id": "a", "x": 2, "y": 3}, {"id": "b", "x": 2, "y": 3}, {"id": "c", "x": 2, "y": 3}])
    system.write_text("\n".join(ANSWERS) + "\n")
    said = run("score", "records", gold, system, *shards).stderr
    assert "duplicate keys in one object, of which the last counts: 2 predictions, the first: 'x' at " in said
    assert "system.jsonl:1" in said
    write(system, [json.loads(line) for line in ANSWERS])
    assert "twice in one object" not in run("score", "records", gold, system, *shards).stderr


def test_a_key_that_stands_twice_in_a_flat_table_or_a_models_text(tmp_path):
    gold, system = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    rows = [{"id": f"d{k}", "x": k} for k in range(400)]
    write(gold, rows)
    system.write_text(
        "".join(f'{{"id": "d{k}", "x": {k}{f", {chr(34)}x{chr(34)}: {k}" if k == 7 else ""}}}\n' for k in range(400))
    )
    done = run("score", "records", gold, system)
    assert "of which the last counts: 1 prediction, the first: 'x' at " in done.stderr
    assert "system.jsonl:8" in done.stderr
    texts = [{"id": row["id"], "out": f'Sure: ```json\n{{"x": 0, "x": {row["x"]}}}\n```'} for row in rows[:3]]
    write(system, texts)
    write(gold, rows[:3])
    done = run("score", "records", gold, system, "--from", "out", "--lenient")
    assert "of which the last counts: 3 predictions" in done.stderr


def test_a_gate_that_could_never_fail_is_refused(tmp_path):
    write(tmp_path / "g.jsonl", [{"id": "a", "relations": []}])
    files = [tmp_path / "g.jsonl"] * 2
    assert (
        "this gate could never fail" in run("score", "relations", *files, "--fail-under", "invalid=0.1", code=2).stderr
    )
