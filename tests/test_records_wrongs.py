"""Records as language models really write them: nothing that a prediction contains is free, nothing ends the run."""

import copy
import json
from dataclasses import dataclass, field
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.adapters.scorer import RecordScorer
from tallystick.errors import TallystickError
from tallystick.tasks.records.score import score_files
from tallystick.tasks.records.shapes import infer_schema


@dataclass
class Part:
    s: int


@dataclass
class Doc:
    a: list[Part]
    b: Part | None = None
    tags: list[str] = field(default_factory=list)


class PartModel(pydantic.BaseModel):
    s: int


class DocModel(pydantic.BaseModel):
    a: list[PartModel]
    b: PartModel | None = None
    tags: list[str] = []


WAYS: dict[str, dict[str, Any]] = {
    "dataclass": {"type": Doc, "lenient": True},
    "pydantic": {"type": DocModel, "lenient": True},
    "schema": {"schema": DocModel.model_json_schema(), "lenient": True},
    "inference": {},
    "metric": {
        "metric": "f1(each(a=match(each(s=exact)), b=optional(each(s=exact)), tags=match(exact)))",
        "unknown": "ignore",
    },
}
GOLD = {"a": [{"s": 1}, {"s": 2}], "b": {"s": 3}, "tags": ["t"]}


def scored(folder, gold, predicted, suffix=".jsonl", **options):
    files = []
    for name, rows in (("gold", gold), ("system", predicted)):
        rows = rows if isinstance(rows, list) else [rows]
        file = folder / f"{name}{suffix}"
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        files.append(file)
    return score_files(*files, **options)


# 1. What is of the wrong kind counts as something predicted.

JUNK = [
    ({"a": [*GOLD["a"], "junk", 7, [1, 2]]}, 4, "a[*]"),
    ({"a": [*GOLD["a"], None]}, 1, "a[*]"),
    ({"a": [*GOLD["a"], {}]}, 0, ""),
    ({"a": [*GOLD["a"], []]}, 1, "a[*]"),
    ({"b": "x"}, 1, "b"),
    ({"b": [4, 5, 6]}, 3, "b"),
    ({"b": []}, 1, "b"),
    ({"a": "x"}, 1, "a"),
    ({"a": {"s": 1}}, 1, "a"),
    ({"tags": {"t": 1, "u": 2}}, 2, "tags"),
    ({"tags": ["t", ["u", "v"]]}, 2, "tags[*]"),
    ({"tags": ["t", None]}, 1, "tags[*]"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("change", "count", "path"), JUNK)
def test_a_value_of_the_wrong_kind_counts_as_something_predicted(tmp_path, way, change, count, path):
    predicted = {**GOLD, **change}
    right = sum(
        len(GOLD[key]) if isinstance(GOLD[key], list) else 1
        for key in GOLD
        if key not in change or not path.startswith(key)
    )
    if path.endswith("[*]"):
        right += len(GOLD[path[0] if path[0] == "a" else "tags"])
    run = scored(tmp_path, GOLD, predicted, worst=1, **WAYS[way])
    if way == "metric" and change == {"tags": ["t", ["u", "v"]]}:
        count = 1  # without a type a list is a value like another
    if way == "metric" and change == {"tags": {"t": 1, "u": 2}}:
        assert run.result.tally["den_p"] == right + 2
        return
    if path:
        assert run.result.tally == {"num_p": right, "den_p": right + count, "num_r": right, "den_r": 4}
        assert run.result.exact_documents == 0
        assert sum(row.tally["den_p"] for row in run.result.by_field()) == right + count
        assert {row.path: row.extra for row in run.result.by_field()}.get(path, 0) + {
            row.path: row.wrong for row in run.result.by_field()
        }.get(path, 0) >= 1
        assert any("of the wrong kind, counted as wrong" in warning for warning in run.warnings) or way == "metric"
        tree = run.explain(run.documents[0])
        assert (tree.weight, tree.predicted_self, tree.reference_self) == (right, right + count, 4)


def test_the_example_of_the_issue(tmp_path):
    gold, predicted = {"a": [{"s": 1}, {"s": 2}]}, {"a": [{"s": 1}, {"s": 2}, "junk", 7, [1, 2]]}
    run = scored(tmp_path, gold, predicted)
    assert (run.result.precision, run.result.recall, run.result.exact_documents) == (2 / 6, 1, 0)
    one = RecordScorer().score(gold, predicted)
    assert (one.result.precision, one.exact) == (2 / 6, False)
    assert scored(tmp_path, gold, predicted, credit="all").result.precision == 2 / 6


def test_columns_of_arrow_count_the_same(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    gold = {"a": [{"s": 1}, {"s": 2}], "b": {"s": 3}}
    for predicted in (
        {"a": [{"s": 1}, None]},
        {"b": [1, 2]},
        {"b": "x"},
        {"zzz": []},
        {"zzz": [[]]},
        {"zzz": {"y": []}},
    ):
        files = []
        for name, row in (("gold", gold), ("system", {**gold, **predicted})):
            files.append(tmp_path / f"{name}.parquet")
            pyarrow.parquet.write_table(pa.Table.from_pylist([row]), files[-1])
        columns = score_files(*files).result
        assert columns.rows.tolist() == scored(tmp_path, gold, {**gold, **predicted}).result.rows.tolist(), predicted
        assert columns.exact_documents == 0


def test_a_whole_document_of_the_wrong_kind_counts(tmp_path):
    run = scored(tmp_path, ["[1, 2]"], ['{"x": 1, "y": [1, 2]}'], schema={"type": "array", "items": {"type": "number"}}, lenient=True)  # fmt: skip
    assert run.result.tally == {"num_p": 0, "den_p": 3, "num_r": 0, "den_r": 2}


# Adding anything to a prediction never leaves it exact and never raises precision.

leaf = st.one_of(st.integers(0, 3), st.sampled_from(["x", "y"]), st.booleans())
documents = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["k", "l", "title", "items"]), inner, max_size=3)
    ),
    max_leaves=8,
)
top = st.dictionaries(st.sampled_from(["a", "b", "c", "count"]), documents, min_size=1, max_size=3)
junk = st.recursive(
    st.sampled_from(["junk", 99, 9.5]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["j", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value, path=()):
    """The lists and objects in a value."""
    if isinstance(value, (list, dict)):
        yield path
        for key, one in enumerate(value) if isinstance(value, list) else value.items():
            yield from places(one, (*path, key))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def damaged(value, draw):
    """The same shape with some leaves changed."""
    if isinstance(value, dict):
        return {key: damaged(one, draw) for key, one in value.items()}
    if isinstance(value, list):
        return [damaged(one, draw) for one in value]
    return draw(st.sampled_from([value, value, 4 if type(value) is int else value]))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_adding_anything_never_leaves_it_exact_and_never_raises_precision(data):
    gold = data.draw(top)
    predicted = damaged(gold, data.draw)
    more = copy.deepcopy(predicted)
    place = at(more, data.draw(st.sampled_from(sorted(places(more), key=str))))
    added = data.draw(junk)
    if isinstance(place, list):
        place.insert(data.draw(st.integers(0, len(place))), data.draw(st.sampled_from([added, None])))
    else:
        place[data.draw(st.sampled_from(["invented", "zz"]))] = added
    ways = [{}, {"credit": "all"}]
    ways.append({"schema": infer_schema([gold])[0]})
    for way in ways:
        scorer = RecordScorer(**way)
        before = scorer.score(gold, predicted)
        after = scorer.score(gold, more)
        assert not after.exact, way
        assert (after.result.precision or 0) <= (1 if before.result.precision is None else before.result.precision), way
        assert after.result.tally["den_p"] > before.result.tally["den_p"] or way.get("credit") == "all"
        assert after.result.tally["num_r"] <= before.result.tally["num_r"]


# 2. A null in a predicted list of objects does not end the run.


@pytest.mark.parametrize("way", WAYS)
def test_a_null_in_a_list_of_objects_counts_and_does_not_end_the_run(tmp_path, way):
    run = scored(tmp_path, [GOLD, GOLD], [{**GOLD, "a": [None, {"s": 1}]}, GOLD], **WAYS[way])
    assert run.result.rows.tolist() == [[3, 4, 3, 4], [4, 4, 4, 4]]
    assert run.result.exact_documents == 1


# 8. `evaluate` counts what the command counts.


def test_evaluate_counts_invented_keys_and_wrong_kinds_as_the_command_does(tmp_path):
    metric = ts.derive(Doc, credit="each")
    for change in (
        {"zzz": 1},
        {"zzz": {"x": [1, 2], "y": None}},
        {"a": [{"s": 1, "extra": 5}, {"s": 2}]},
        {"a": [{"s": 1}, "junk"]},
        {"b": "x"},
        {"b": [1, 2]},
        {"a": "x", "q": []},
    ):
        predicted = {**GOLD, **change}
        ours = ts.evaluate(metric, [GOLD, GOLD], [predicted, GOLD])
        theirs = scored(tmp_path, [GOLD, GOLD], [predicted, GOLD], type=Doc, lenient=True)
        assert ours.rows.tolist() == theirs.result.rows.tolist(), change
        assert ours.exact_documents == 1
        assert len(ours.notes) == 1 + ("q" in change)
        assert "counted as" in ours.notes[0]
        assert {r.path: r.extra for r in ours.by_field()} == {r.path: r.extra for r in theirs.result.by_field()}
        assert ours.explain(0).predicted_self == ours.rows[0, 1]
        streamed = ts.Evaluation(metric, keep=False, rows=False, fields=True)
        streamed.update([GOLD], [predicted])
        streamed.update([GOLD], [GOLD])
        assert streamed.compute().tally == ours.tally
        assert streamed.compute().notes == ours.notes
        assert streamed.compute().by_field() == ours.by_field()


def test_evaluate_excuses_keys_that_the_reference_has_too_and_says_nothing_of_a_metric_of_one_s_own():
    metric = ts.derive(Doc, credit="each")
    both = ts.evaluate(metric, [{**GOLD, "note": 1}], [{**GOLD, "note": 2}])
    assert (both.f1, both.notes) == (1, ())
    own = ts.evaluate(ts.parse(str(metric)), [GOLD], [{**GOLD, "zzz": 1}])
    assert (own.f1, own.notes) == (1, ())


def test_evaluate_counts_invented_columns_of_a_table():
    pa = pytest.importorskip("pyarrow")
    tables = [pa.Table.from_pylist([row, row]) for row in (GOLD, {**GOLD, "zzz": [1, 2]})]
    result = ts.evaluate(ts.derive(Doc, credit="each"), *tables)
    assert result.rows[:, 1].tolist() == [6, 6]


def test_evaluate_still_refuses_what_is_no_document():
    with pytest.raises(TallystickError, match="expected a"):
        ts.evaluate(ts.derive(Doc, credit="each"), [GOLD], ["text"])
    with pytest.raises(TallystickError, match="expected a"):
        ts.evaluate(ts.derive(Doc, credit="each"), [{**GOLD, "a": ["x"]}], [GOLD])
