"""Nothing in a prediction is free, and nothing that counts is silent."""

import dataclasses
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


# Objects and lists where the type has something else, in `ts.evaluate` with a derived metric: as in `ts.score`, and whatever else is there.


@dataclasses.dataclass
class Kinds:
    v: str
    n: int | None = None
    s: list[str] | None = None
    d: dict[str, int] | None = None


KINDS = [
    ({"n": 0}, {"n": [1, 2]}, 2),
    ({"n": 0}, {"n": {}}, 1),
    ({}, {"n": []}, 1),
    ({"s": ["q"]}, {"s": {}}, 1),
    ({"s": ["q"]}, {"s": {"a": 1, "b": 2}}, 2),
    ({"s": ["q"]}, {"s": [["q", "r"]]}, 2),
    ({"d": {"q": 1}}, {"d": []}, 1),
    ({"d": {"q": 1}}, {"d": ["q", "r"]}, 2),
]


@pytest.mark.parametrize("credit", ["each", "all"])
@pytest.mark.parametrize(("reference", "predicted", "count"), KINDS)
def test_objects_and_lists_of_another_kind_count_their_leaves(reference, predicted, count, credit):
    metric = ts.derive(Kinds, credit=credit)
    reference, predicted = ({"v": "a", **one} for one in (reference, predicted))
    plain = {"v": "b", "n": 1, "s": ["z"], "d": {"z": 2}}
    pairs = [(plain, plain), (reference, predicted), (plain, plain)]
    R, P = zip(*pairs, strict=True)
    rows = [
        ts.evaluate(metric, R * times, P * times, batch=batch).rows[1].tolist()
        for times, batch in ((1, None), (1, 1), (20, None))
    ]
    assert rows[0] == rows[1] == rows[2] == ts.evaluate(metric, [reference], [predicted]).rows[0].tolist()
    if credit == "each":
        assert rows[0][:2] == [1, 1 + count]
        scored = ts.score([reference, plain], [predicted, plain], type=Kinds, lenient=True)
        assert scored.rows[0].tolist() == rows[0]


def test_a_list_and_a_mapping_in_one_batch_are_what_they_are():
    reference, predicted = [["a"], ["b"], {"c": 1}], [{"a": 1}, ["b"], {"c": 1}]
    for batch in (None, 1):
        rows = ts.evaluate("f1(match(exact))", reference * 20, predicted * 20, batch=batch).rows
        assert rows[:3].tolist() == [[0, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]]


def test_a_whole_document_of_another_kind_is_an_error():
    with pytest.raises(ts.TallystickError, match="document 1: expected a list, found dict"):
        ts.evaluate(ts.derive(list[str]), [["a"], ["b"]], [["a"], {}])


INNER = {"type": "object", "properties": {"y": {"type": "number"}}, "required": ["y"]}
OUTER = {"type": "object", "properties": {"p": {"type": "string"}, "z": INNER}, "required": ["p"]}


@pytest.mark.parametrize("found", [{}, {"w": 3}])
def test_a_predicted_object_that_no_reference_has_counts_the_same_in_every_shard(found):
    """It lacks a field that nobody has had yet; that is no misspelt field."""
    reference = [{"p": "a"} for _ in range(50)]
    predicted = [dict(one) for one in reference]
    predicted[7] = {"p": "a", "z": found}
    more = [{"p": "a", "z": {"y": 1}}, *reference[1:]]
    alone, beside = (ts.score(side, predicted, schema=OUTER, lenient=True) for side in (reference, more))
    assert alone.rows[7].tolist() == beside.rows[7].tolist() == [1, 2 + len(found), 1, 1]


def test_a_field_of_a_metric_that_no_reference_has_is_misspelt():
    with pytest.raises(ts.TallystickError, match="expected a field 'nmae', found fields name"):
        ts.evaluate("f1(each(nmae=exact))", [{"name": "a"}] * 3, [{"name": "a"}] * 3)


def test_a_default_of_a_mapping_is_no_value_and_the_mapping_stays_as_it_is():
    from collections import defaultdict

    metric = ts.f1(ts.each(a=ts.exact, b=ts.optional(ts.exact)))
    found = defaultdict(int, a=1)
    assert metric({"a": 1, "b": 0}, found) == ts.evaluate(metric, [{"a": 1, "b": 0}], [found], batch=1).f1 == 2 / 3
    assert dict(found) == {"a": 1}
