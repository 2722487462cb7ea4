"""Records as language models really write them: nothing that a prediction contains is free, nothing ends the run."""

import asyncio
import contextlib
import copy
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

import tallystick as ts
from tallystick.adapters.scorer import RecordScorer
from tallystick.errors import TallystickError
from tallystick.files.json_values import Unreadable, read_noisy
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


@pytest.mark.parametrize(("way", "expected"), [({}, (2, 3, 2, 2)), ({"credit": "all"}, (3, 4, 3, 3))])
def test_an_empty_object_among_numbers_and_objects_is_an_object(way, expected):
    gold = {"a": [0, {"k": 0}, {}]}
    scorer = RecordScorer(**way)
    assert scorer.score(gold, gold).exact
    assert tuple(scorer.score(gold, {"a": [0, {"k": 0}, {}, {}]}).result.tally.values()) == expected


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


# 3. Fitting is by field, with aliases, and what fits stays.


class Camel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(alias_generator=to_camel)
    vendor_name: str
    line_items: list[PartModel]
    total_due: float


class Renamed(msgspec.Struct, rename="camel"):
    vendor_name: str
    line_items: list[Part]
    total_due: float


@pytest.mark.parametrize("type_", [Camel, Renamed])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_one_leaf_of_another_kind_leaves_aliased_fields_where_they_are(tmp_path, type_, suffix):
    gold = {"vendorName": "x", "lineItems": [{"s": 1}, {"s": 2}], "totalDue": 5.5}
    for predicted, row, extra in (
        (gold, [4, 4, 4, 4], {}),
        ({**gold, "totalDue": "5.5"}, [3, 4, 3, 4], {}),
        ({**gold, "lineItems": [{"s": 1, "zz": 4}, {"s": 2}]}, [4, 5, 4, 4], {"lineItems[*].zz": 1}),
        ({**gold, "vendor_name": "x"}, [4, 5, 4, 4], {}),
    ):
        if suffix == ".parquet":
            pa = pytest.importorskip("pyarrow")
            import pyarrow.parquet

            files = [tmp_path / f"{name}.parquet" for name in ("gold", "system")]
            for file, one in zip(files, (gold, predicted), strict=True):
                pyarrow.parquet.write_table(pa.Table.from_pylist([one]), file)
            run = score_files(*files, type=type_, lenient=True)
        else:
            run = scored(tmp_path, gold, predicted, type=type_, lenient=True)
        assert run.result.rows.tolist() == [row], predicted
        assert {one.path: one.extra for one in run.result.by_field() if one.support == 0} == extra


def test_an_aliased_key_is_known_even_if_the_reference_does_not_have_it(tmp_path):
    class Maybe(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(alias_generator=to_camel, populate_by_name=True)
        vendor_name: str
        note_text: str | None = None

    gold = {"vendorName": "x"}
    for key in ("noteText", "note_text"):
        run = scored(tmp_path, gold, {**gold, key: "n"}, type=Maybe)
        assert run.result.rows.tolist() == [[1, 2, 1, 1]]
        assert not run.warnings


# 4. What the model never wrote earns nothing: a default of the type is no prediction.


class Filled(pydantic.BaseModel):
    currency: str = "EUR"
    lines: list[PartModel] = [PartModel(s=1)]
    number: int


@dataclass
class FilledToo:
    number: int
    currency: str = "EUR"
    lines: list[Part] = field(default_factory=lambda: [Part(1)])


@dataclass
class Outer:
    inner: list[FilledToo]


@pytest.mark.parametrize("credit", ["each", "all"])
@pytest.mark.parametrize("type_", [Filled, FilledToo])
def test_defaults_of_a_type_earn_nothing(tmp_path, type_, credit):
    gold, predicted = {"number": 1, "currency": "EUR", "lines": [{"s": 1}]}, {"number": 2}
    run = scored(tmp_path, gold, predicted, type=type_, credit=credit)
    assert run.result.tally["num_p"] == 0
    assert (
        scored(tmp_path, gold, predicted, schema=Filled.model_json_schema(), credit=credit).result.tally["num_p"] == 0
    )
    for both in ({"number": 2}, gold):
        run = scored(tmp_path, both, both, type=type_, credit=credit)
        assert run.result.exact_documents == 1
        assert run.result.precision == 1


def test_defaults_inside_of_lists_earn_nothing(tmp_path):
    gold = {"inner": [{"number": 1, "currency": "EUR", "lines": [{"s": 1}]}]}
    run = scored(tmp_path, gold, {"inner": [{"number": 1}]}, type=Outer)
    assert run.result.rows.tolist() == [[1, 1, 1, 3]]
    run = scored(tmp_path, {"inner": [{"number": 1}]}, gold, type=Outer)
    assert run.result.rows.tolist() == [[1, 3, 1, 1]]


# 5. If any line has an id, ids pair.


def shuffled(n=40):
    gold = [{"id": f"d{k}", "x": k, "tags": ["t"]} for k in range(n)]
    return gold, [*gold[::2], *gold[1::2]]


@pytest.mark.parametrize("at", [0, 1, 39])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_line_without_an_id_does_not_change_how_the_others_are_paired(tmp_path, at, suffix):
    gold, predicted = shuffled()
    predicted[at] = {key: value for key, value in predicted[at].items() if key != "id"}

    def run(**options):
        if suffix == ".jsonl":
            return scored(tmp_path, gold, predicted, **options)
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        files = [tmp_path / f"{name}.parquet" for name in ("gold", "system")]
        for file, rows in zip(files, (gold, predicted), strict=True):
            table = pa.Table.from_pylist([{"id": row.get("id"), "x": row["x"], "tags": row["tags"]} for row in rows])
            pyarrow.parquet.write_table(table, file)
        return score_files(*files, **options)

    with pytest.raises(TallystickError, match=rf"system\.\w+:{at + 1}: has no text or number under 'id'"):
        run()
    found = run(lenient=True)
    assert found.paired == "by id"
    assert (found.result.exact_documents, len(found.result.invalid)) == (39, 1)
    assert any(f'prediction: "line {at + 1}, which has no id"' in w for w in found.warnings)


def test_a_reference_line_without_an_id_is_an_error_too(tmp_path):
    gold, predicted = shuffled(5)
    del gold[0]["id"]
    with pytest.raises(TallystickError, match=r"gold\.jsonl:1: has no text or number under 'id'"):
        scored(tmp_path, gold, predicted, lenient=True)


def test_where_no_prediction_has_an_id_it_is_no_scored_field(tmp_path):
    gold, _ = shuffled(5)
    run = scored(tmp_path, gold, [{"x": row["x"], "tags": ["t"]} for row in gold])
    assert (run.paired, run.result.f1, run.result.exact) == ("by order", 1, 1)
    assert [row.path for row in run.result.by_field()] == ["x", "tags[*]"]


# 6. A user's function, `via` or judge is asked whatever the JSON kind is.


def amount(reference, predicted):
    text = (
        str(predicted).replace(".", "").replace(",", ".").removesuffix(" €")
        if isinstance(predicted, str)
        else predicted
    )
    return float(abs(reference - float(text)) < 0.01)


def strict_amount(reference, predicted):
    return float(abs(reference - predicted) < 0.01)


def whole(value):
    return round(float(str(value).rstrip(" €").replace(",", ".")))


SAYS_YES = """{"reference": "5052.72", "predicted": "5.052,72 €", "label": "Correct"}\n"""
PRICED = {"type": "object", "properties": {"total": {"type": "number"}, "b": {"type": "string"}}, "required": ["total"]}


@pytest.mark.parametrize("way", [{}, {"schema": PRICED}, {"schema": PRICED, "lenient": True}])
def test_a_user_s_function_is_always_asked(tmp_path, way):
    gold, predicted = {"total": 5052.72, "b": "x"}, {"total": "5.052,72 €", "b": "x"}
    run = scored(tmp_path, gold, predicted, choices={"total": ts.function(amount)}, **way)
    assert (run.result.f1, run.warnings, run.result.notes) == (1, (), ())
    run = scored(tmp_path, {"total": 7.2}, {"total": "7,4 €"}, choices={"total": ts.via(whole, ts.exact)}, **way)
    assert run.result.f1 == 1
    run = scored(tmp_path, {"lines": [1.0], "b": "x"}, {"lines": "1", "b": "x"}, choices={"lines": ts.function(lambda a, b: float(a == [float(b)]))})  # fmt: skip
    assert run.result.f1 == 1


def test_a_judge_is_always_asked():
    class Judge:
        signature = "yes"

        def judge(self, questions):
            from tallystick.judging.questions import Verdict

            asked.extend((one.references, one.candidate) for one in questions)
            return [Verdict("Correct") for _ in questions]

    asked: list[Any] = []
    metric = ts.f1(ts.each(total=ts.judged(Judge())))
    assert ts.evaluate(metric, [{"total": 5052.72}], [{"total": "5.052,72 €"}]).f1 == 1
    assert asked == [(("5052.72",), "5.052,72 €")]


def test_what_a_function_cannot_take_of_another_kind_is_wrong_and_named(tmp_path):
    choices = {"total": ts.function(strict_amount), "b": ts.via(str.lower, ts.exact)}
    run = scored(tmp_path, [{"total": 5.0, "b": "X"}], [{"total": "five", "b": 7}], choices=choices)
    assert run.result.rows.tolist() == [[0, 2, 0, 2]]
    notes = " ".join(run.result.notes)
    assert "strict_amount cannot take, counted as wrong: 1 spelling (total 'five')" in notes
    assert "cannot take, counted as wrong: 1 spelling (b '7')" in notes
    with pytest.raises(TallystickError, match="failed: TypeError"):  # what is of the right kind is the function's fault
        scored(tmp_path, {"total": "x"}, {"total": "y"}, choices={"total": ts.function(strict_amount)})


# 11. Numbers are one case of a union.

UNIONS = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}


def test_a_number_equals_itself_where_a_list_may_stand_too(tmp_path):
    schema = {"type": "object", "properties": {"x": UNIONS}}
    gold = [{"x": 10}, {"x": [1, 2]}]
    for way in ({"schema": schema}, {}):
        run = scored(tmp_path, gold, [{"x": 10.0}, {"x": [1.0, 2]}], **way)
        assert run.result.rows.tolist() == [[1, 1, 1, 1], [2, 2, 2, 2]], way
        assert scored(tmp_path, gold, [{"x": 11.0}, {"x": [1.0, 2]}], **way).result.rows[0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("expression", [None, "f1(match(cases(int=exact, float=exact, list=f1(match(exact)))))"])
def test_a_number_equals_itself_in_every_union(expression):
    metric = ts.derive(list[int | float | list[int]]) if expression is None else ts.parse(expression)
    assert ts.evaluate(metric, [[10, [1]]], [[10.0, [1]]]).f1 == 1
    assert ts.evaluate(metric, [[True, 1.0]], [[True, 1]]).f1 == 1
    assert ts.evaluate(metric, [[True]], [[1]]).f1 == 0
    with_objects = ts.derive(list[float | Part], credit="each")
    assert ts.evaluate(with_objects, [[Decimal("10"), 2]], [[10, 2.0]]).f1 == 1


# 12. The scorer behind the adapters; what is nothing, and what is an empty value.


def test_the_scorer_takes_an_empty_reference_decimals_and_arrays():
    np = pytest.importorskip("numpy")
    scorer = RecordScorer()
    assert scorer.score({}, {}).exact
    assert scorer.score({}, {"x": [1, {"y": 2}]}).result.tally["den_p"] == 2
    assert scorer.score({"x": Decimal("1.10")}, {"x": 1.1}).exact
    assert scorer.score({"x": np.array([1, 2])}, {"x": np.array([2, 1])}).exact
    with pytest.raises(TallystickError, match="is no data"):
        scorer.score({"x": object()}, {"x": "a"})
    one = scorer.score({"x": 1}, "no JSON")
    assert "invalid, scoring nothing: 1 prediction (1: holds no JSON object or list)" in str(one)


def test_what_is_nothing_can_be_said_as_the_docs_print_it(tmp_path):
    file = tmp_path / "choices.yaml"
    file.write_text("x: {nothing: [missing, null, empty]}\n")
    run = scored(tmp_path, {"x": [1], "a": 1}, {"x": [1], "a": 1}, choices=file)
    assert "optional(match(equal, 1:1), empty=True)" in str(run.result.metric)


@pytest.mark.parametrize("other", [{"a": 1, "x": None}, {"a": 1}])
@pytest.mark.parametrize("value", [[], {}])
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_an_empty_value_is_not_null(tmp_path, other, value, suffix):
    full = {"a": 1, "x": [{"s": 1}]} if value == [] else {"a": 1, "x": {"s": 1}}
    empty = {"a": 1, "x": value}
    if suffix == ".parquet" and (value == {} or "x" not in other):
        pytest.skip("columns have no such thing")

    def run(gold, predicted, **options):
        if suffix == ".jsonl":
            return scored(tmp_path, gold, predicted, **options)
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        files = [tmp_path / f"{name}.parquet" for name in ("gold", "system")]
        for file, rows in zip(files, (gold, predicted), strict=True):
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows), file)
        return score_files(*files, **options)

    for gold, predicted, row in (
        (other, empty, [1, 2, 1, 1]),
        (empty, other, [1, 1, 1, 2]),
        (empty, empty, [1, 1, 1, 1]),
        (other, other, [1, 1, 1, 1]),
    ):
        found = run([gold, full], [predicted, full], worst=2)
        assert found.result.rows.tolist() == [row, [2, 2, 2, 2]], (gold, predicted)
        fields = found.result.by_field()
        assert sum(one.tally["den_p"] for one in fields) == row[1] + 2
        assert sum(one.tally["den_r"] for one in fields) == row[3] + 2
        if row != [1, 1, 1, 1]:
            tree = found.explain(found.documents[0])
            assert (tree.predicted_self, tree.reference_self) == (row[1], row[3])
        assert run([gold, full], [predicted, full], nothing="missing,null,empty").result.exact == 1
    in_memory = ts.evaluate(ts.derive(Doc, credit="each"), [Doc([])], [Doc([], Part(1))])
    assert in_memory.tally["den_p"] == 1


# 9. Of several JSON values in a text, the last that fits the shape best; reasoning is left out.

ANSWER = {"vendor": {"name": "x", "vat": "y"}, "total": 5, "lines": [{"s": 1}, {"s": 2}]}
SAID = json.dumps(ANSWER)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f'<think>maybe {{"total": 99}} or {SAID.replace("5", "7")}</think>{SAID}', ["reasoning"]),
        (f'<think>{{"total": 99</think>\n{SAID}', ["reasoning"]),
        (f'first I thought {{"total": 99}}</think>{SAID}', ["reasoning"]),
        (
            f"A draft:\n```json\n{SAID.replace('5', '7')}\n```\nThe answer:\n```json\n{SAID}\n```",
            ["several candidates"],
        ),
        (f"A draft: {SAID.replace('5', '7')}. The answer: {SAID}", ["several candidates"]),
        (f"```json\n{SAID}\n```\nwhere {{'total': 5}} is in euros", ["several candidates"]),
        (f"```python\n{{'not': 'it'}}\n```\n{SAID}", ["several candidates"]),
        (f"See [1] and {{this}}: {SAID} as in [2, 3].", []),
        (json.dumps({**ANSWER, "vendor": {"name": "<think>", "vat": "{"}}), None),
    ],
)
def test_of_several_values_in_a_text_the_last_that_fits_best_is_taken(tmp_path, text, kinds):
    run = scored(tmp_path, ANSWER, {"output": text}, from_="output", lenient=True)
    if kinds is None:
        assert run.result.tally["num_p"] == 3
        return
    assert run.result.exact_documents == 1, run.result.rows
    repairs = run.prepared.pairing.predicted.findings.repairs
    for kind in kinds:
        assert any(kind in one for one in repairs), repairs
    assert kinds or not any("several" in one for one in repairs)


def test_reasoning_without_an_answer_is_no_answer(tmp_path):
    for text in (f"<think>{SAID}</think>", f"<think>{SAID}", f"<think>{SAID}</think> I do not know"):
        run = scored(tmp_path, [ANSWER], [{"output": text}], from_="output", lenient=True)
        assert len(run.result.invalid) == 1, text
        assert "reasoning" in run.warnings[0]


# 10. Where a repair could change the structure, the reading that fits the shape best is taken.


@pytest.mark.parametrize(
    "text",
    [
        '{"vendor": {"name": "x", "vat": "y",\n,\n}, "total": 5, "lines": [{"s": 1}, {"s": 2}]}',
        '{"vendor": {"name": "x", "vat": "y"\n,\n"total": 5, "lines": [{"s": 1}, {"s": 2}]}',
        '{"vendor": {"name": "x", "vat": "y"},\n,\n"total": 5, "lines": [{"s": 1},, {"s": 2},]}',
        '{"vendor": {,"name": "x", "vat": "y"}, "total": 5, "lines": [{"s": 1}, {"s": 2}, "total": 5}',
        '{"vendor": {"name": "x", "vat": "y"}, "lines": [{"s": 1}, {"s": 2}\n,\n"total": 5}',
        '{"vendor": {"name": "x", "vat": "y"}}\n,\n"total": 5, "lines": [{"s": 1}, {"s": 2}]}',
        '{"vendor": {"name": "x", "vat": "y"} "total": 5 "lines": [{"s": 1} {"s": 2}]}',
    ],
)
def test_a_repair_takes_the_reading_that_fits_the_shape_best(tmp_path, text):
    run = scored(tmp_path, ANSWER, {"output": text}, from_="output", lenient=True)
    assert run.result.exact_documents == 1, (run.result.rows, run.warnings)
    assert "repaired: 1 prediction" in run.warnings[0]


def test_what_was_done_about_several_readings_is_said(tmp_path):
    text = '{"vendor": {"name": "x", "vat": "y"\n,\n"total": 5, "lines": [{"s": 1}, {"s": 2}]}'
    run = scored(tmp_path, ANSWER, {"output": text}, from_="output", lenient=True)
    assert "several readings, the best was used 1" in run.warnings[0]
    doubled = '{"vendor": {"name": "x", "vat": "y",\n,\n}, "total": 5, "lines": [{"s": 1}, {"s": 2}]}'
    assert "surplus comma 1" in scored(tmp_path, ANSWER, {"output": doubled}, from_="output", lenient=True).warnings[0]


@settings(max_examples=150, deadline=None)
@given(value=documents, cut=st.integers(0, 60), data=st.data())
def test_noisy_texts_are_read_or_unreadable_and_never_raise_anything_else(value, cut, data):
    text = json.dumps(value)
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(st.sampled_from([",", "\n,\n", "{", "]", "}", '"', "```", "<think>", "</think>", " "])) + text[place:]  # fmt: skip
    text = text[: len(text) - cut] if cut < len(text) else text
    try:
        read_noisy(text, lambda found: len(str(found)))
    except Unreadable as error:
        assert str(error)  # noqa: PT017


# 7. A choice that has no effect is an error.


def test_a_list_key_that_no_item_has_is_an_error(tmp_path):
    with pytest.raises(TallystickError, match=r'a\[\*\].*no field \'ss\'; the items have s\. Did you mean "s"'):
        ts.derive(Doc, {"a": ts.by_key("ss")}, credit="each")
    with pytest.raises(TallystickError, match="no field 'sku'; the items have no fields"):
        scored(tmp_path, GOLD, GOLD, choices={"tags": {"key": "sku"}})
    assert scored(tmp_path, GOLD, GOLD, choices={"a": {"key": "s"}}).result.f1 == 1


@pytest.mark.parametrize("choice", [ts.matched("N:1"), ts.ordered, {"weight": 2}, "ignore", {"nothing": ["missing"]}])
def test_a_choice_for_the_top_that_would_have_no_effect_is_an_error(choice):
    with pytest.raises(TallystickError, match="at the top"):
        ts.derive(Doc, {"": choice}, credit="each")
    assert str(ts.derive(Doc, {"": {"credit": "each"}})) == str(ts.derive(Doc, credit="each"))


def test_a_metric_that_is_nested_deeply_is_hashed_quickly():
    inner = ts.exact
    for _ in range(60):
        inner = ts.f1(ts.match(inner))
    assert hash(inner) == hash(ts.f1(ts.match(inner.inner.inner)))


# 13. Places in errors, gates in per cent, types beside their siblings, data sets that are read again.


def test_a_document_that_is_nested_too_deeply_is_named(tmp_path):
    deep = '{"a": ' + "[" * 3000 + "1" + "]" * 3000 + "}"
    for gold, predicted, file in (('{"a": 2}', deep, "system"), (deep, '{"a": 2}', "gold")):
        with pytest.raises(TallystickError, match=rf"{file}\.jsonl:2: is nested too deeply"):
            scored(tmp_path, ['{"a": 1}', gold], ['{"a": 1}', predicted])
    for depth in (90, 150, 500, 900):
        nested = '{"a": ' + "[" * depth + "1" + "]" * depth + "}"
        run = scored(tmp_path, ['{"a": 1}', '{"a": 2}'], ['{"a": 1}', nested])
        assert run.result.rows.tolist() == [[1, 1, 1, 1], [0, 1, 0, 1]]
        with contextlib.suppress(TallystickError):
            scored(tmp_path, ['{"a": 1}', nested], ['{"a": 1}', nested])


def test_a_gate_in_per_cent_is_refused():
    from tallystick.cli.gates import find_gates

    for text in ("f1=90", "records.precision=1.5", "exact=-1"):
        with pytest.raises(TallystickError, match="lies between 0 and 1"):
            find_gates([text])
    with pytest.raises(TallystickError, match=r"for 90 % say f1=0\.9"):
        find_gates(["f1=90"])
    assert find_gates(["f1=0.9", "mistakes=12"]) == [(None, "f1", 0.9), (None, "mistakes", 12.0)]


def test_a_type_in_a_file_finds_its_siblings_and_its_package(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "wrongs_lines.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Line:\n    s: int\n"
    )
    (tmp_path / "wrongs_doc.py").write_text(
        "from dataclasses import dataclass\nfrom wrongs_lines import Line\n@dataclass\nclass Doc:\n    a: list[Line]\n"
    )
    package = tmp_path / "wrongs_package" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package.parent / "lines.py").write_text((tmp_path / "wrongs_lines.py").read_text())
    (package / "doc.py").write_text(
        "from dataclasses import dataclass\nfrom ..lines import Line\n@dataclass\nclass Doc:\n    a: list[Line]\n"
    )
    gold = {"a": [{"s": 1}]}
    for file in (tmp_path / "wrongs_doc.py", package / "doc.py"):
        assert scored(tmp_path, gold, gold, type=f"{file}:Doc").result.f1 == 1


def test_a_data_set_of_pydantic_evals_finds_its_type_again(tmp_path):
    evals = pytest.importorskip("pydantic_evals")
    from tallystick.adapters.pydantic_evals import RecordsMatch

    cases = [evals.Case(name="one", inputs="x", expected_output={"a": [{"s": 1}]})]
    data = evals.Dataset[Any, Any, Any](name="d", cases=cases, evaluators=[RecordsMatch(DocModel)])
    file = tmp_path / "data.yaml"
    data.to_file(file)
    again = evals.Dataset[Any, Any, Any].from_file(file, custom_evaluator_types=[RecordsMatch])
    with ThreadPoolExecutor(1) as apart:  # a browser's loop may still run in this thread
        report = apart.submit(asyncio.run, again.evaluate(lambda _: {"a": [{"s": 1}]}, progress=False)).result()
    assert report.cases[0].scores["f1"].value == 1


# What models and logs do beside that.


@dataclass
class Counted:
    n: int | list[int]
    kind: Literal[1, 2] = 1


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"type": Counted},
        {"schema": {"type": "object", "properties": {"n": {"type": "integer"}, "kind": {"enum": [1, 2]}}}},
    ],
)
def test_ten_point_nought_is_an_integer(how, lenient):
    """JSON Schema: any number without a fraction is one."""
    found = ts.score([{"n": 10, "kind": 2}], [{"n": 10.0, "kind": 2.0}], lenient=lenient, **how)
    assert (found.f1, found.exact, found.warnings) == (1, 1, ())
    assert ts.score([{"n": 10, "kind": 2}], ['{"n": 10.0, "kind": "x"}'], **how).f1 == 0.5
    assert ts.score([{"n": 10, "kind": 2}], ['{"n": 10.5, "kind": 2.0}'], **how).f1 == 0.5


def test_a_number_that_is_too_large_to_be_one_is_wrong_and_no_crash():
    choices = {"n": {"number": {"parse": "auto"}}}
    for text in ("1e999999999", "1e99999999999999999999999", "9" * 6000, "5e-999999999"):
        assert ts.score({"n": 1}, {"n": text}, choices=choices).f1 == 0
        assert ts.scorer(choices=choices)({"n": 1}, json.dumps({"n": text})) == 0


def test_what_is_ignored_is_of_no_wrong_kind():
    found = ts.score({"a": 1, "b": [{"c": 1}]}, {"a": 1, "b": ["junk"]}, choices={"b": "ignore"})
    assert (found.exact, found.warnings) == (1, ())


BATCH = [
    {"custom_id": "a", "response": {"text": 'Sure: {"n": 1}'}},
    {"custom_id": "b", "response": None, "error": {"code": 500}},
]


def test_a_request_that_failed_is_a_prediction_that_is_not_there():
    gold, options = {"a": {"n": 1}, "b": {"n": 2}}, {"id": "custom_id", "reference_id": "id", "from_": "response.text"}
    gold = [{"id": key, **one} for key, one in gold.items()]
    found = ts.score(gold, BATCH, lenient=True, **options)
    assert (found.recall, found.exact) == (0.5, 0.5)
    with pytest.raises(ts.TallystickError, match=r"predicted:2: has no field 'response.text'.*; response is null"):
        ts.score(gold, BATCH, **options)
    with pytest.raises(ts.TallystickError, match=r"predicted:1: has no field 'response.txt'"):
        ts.score(gold, BATCH, lenient=True, **{**options, "from_": "response.txt"})


def test_texts_in_a_json_file_are_texts_of_a_model(tmp_path):
    gold = [{"id": "a", "n": 1, "m": 2}, {"id": "b", "n": 3, "m": 4}, {"id": "c", "n": 5, "m": 6}]
    texts = [
        'Sure: {"id": "a", "n": 1, "m": 2}',
        '```json\n{"id": "b", "n": 3, "m": 5}\n```',
        '{"id": "c", "n": 5, "m": 6}',
    ]
    expected = ts.score(gold, texts).f1
    (tmp_path / "list.json").write_text(json.dumps(texts))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(one) + "\n" for one in reversed(texts)))
    (tmp_path / "map.json").write_text(json.dumps(dict(zip("abc", texts, strict=True))))
    for name in ("list.json", "lines.jsonl", "map.json"):
        assert ts.score(gold, str(tmp_path / name), lenient=True).f1 == expected == 5 / 6, name
    (tmp_path / "map.json").write_text(json.dumps({**dict(zip("abc", texts, strict=True)), "b": "I do not know."}))
    assert ts.score(gold, str(tmp_path / "map.json"), lenient=True).recall == 4 / 6


def test_truth_values_in_tables_as_pandas_writes_them(tmp_path):
    (tmp_path / "a.csv").write_text("id,paid\na,True\nb,FALSE\n")
    assert ts.score([{"id": "a", "paid": True}, {"id": "b", "paid": False}], str(tmp_path / "a.csv")).f1 == 1


@pytest.mark.parametrize(
    ("value", "says"), [(None, "found null"), (True, "found true"), ("x", "found text 'x'"), ([], "found list []")]
)
def test_what_was_found_in_words(value, says):
    found = ts.score([{"a": [{"s": 1}], "b": 1}], [{"a": [value], "b": 1}])
    assert found.warnings[0].endswith(f"expected an object, {says}")


def test_what_was_expected_in_words():
    found = ts.score([{"n": 1}], [{"n": 1, "kind": 7}], type=Counted, lenient=True)
    assert "kind: expected one of 1, 2, found integer 7" in found.warnings[0]


def test_figures_that_differ_have_signatures_that_differ():
    """A derived metric counts keys that its type does not know; the expression that it prints as looks at its own keys only."""
    metric = ts.derive(Counted, credit="each")
    results = [
        ts.evaluate(one, [{"n": 1, "kind": 2}], [{"n": 1, "kind": 2, "up": 2}])
        for one in (metric, ts.parse(str(metric)))
    ]
    assert [one.precision for one in results] == [2 / 3, 1]
    assert ["unknown=counted" in one.signature for one in results] == [True, False]
    scored = {how: ts.score([{"n": 1}], [{"n": 1, "up": 2}], unknown=how) for how in ("count", "ignore")}
    assert "unknown=counted" in scored["count"].signature
    assert "unknown=ignored" in scored["ignore"].signature
    assert "unknown=" not in ts.score([{"n": 1}], [{"n": 1, "up": 2}], metric="f1(each(n=exact))").signature


def test_messages_name_options_as_python_has_them():
    assert '(unknown="ignore" leaves them out)' in ts.score({"n": 1}, {"n": 1, "up": 2}).warnings[0]
    with pytest.raises(ts.TallystickError, match="; lenient=True scores a missing"):
        ts.score([{"id": 1, "n": 1}, {"id": 3, "n": 1}], [{"id": 1, "n": 1}])


def test_choices_of_another_kind_are_refused():
    for wrong in ([1], 5):
        with pytest.raises(ts.TallystickError, match="expected an object or the name of a JSON or YAML file"):
            ts.score({"n": 1}, {"n": 1}, choices=wrong)


def test_an_id_that_repeats_the_name_of_its_document_earns_nothing(tmp_path):
    gold, predicted = [{"id": "a", "n": 1}, {"id": "b", "n": 2}], [{"id": "b", "n": 2}, {"id": "a", "n": 7}]
    for name, side in (("gold", gold), ("predicted", predicted)):
        (tmp_path / name).mkdir()
        for one in side:
            (tmp_path / name / f"{one['id']}.json").write_text(json.dumps(one))
    keyed = [{one["id"]: one for one in side} for side in (gold, predicted)]
    for pair in ((gold, predicted), keyed, (str(tmp_path / "gold"), str(tmp_path / "predicted"))):
        assert ts.score(*pair).f1 == 0.5
    other = [{name: {**one, "id": 5} for name, one in side.items()} for side in keyed]  # a field like any other
    assert ts.score(*other).f1 == 0.75


CARD = {"type": "object", "properties": {"kind": {"const": "card"}, "number": {"type": "string"}}}
BANK = {
    "type": "object",
    "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}, "bic": {"type": "string"}},
}


@dataclass
class Card:
    kind: Literal["card"]
    number: str


@dataclass
class Bank:
    kind: Literal["bank"]
    iban: str
    bic: str


@dataclass
class Paid:
    by: Card | Bank | None = None


@pytest.mark.parametrize("cases", [[CARD, BANK], [BANK, CARD]])
def test_a_key_of_another_case_of_a_union_is_not_free(cases, tmp_path):
    schema = {"type": "object", "properties": {"by": {"oneOf": cases}}}
    right = {"by": {"kind": "card", "number": "1"}}
    more = {"by": {"kind": "card", "number": "1", "iban": "x", "bic": None}}
    for how in ({"schema": schema}, {"schema": schema, "lenient": True}):
        found = ts.score([right], [more], **how)
        assert (found.precision, found.recall, found.exact) == (2 / 3, 1, 0)
        assert "(by.iban 1)" in found.warnings[0]
    assert ts.score([right], [right], schema=schema).exact == 1
    assert ts.score([more], [more], schema=schema).exact == 1
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist([more]), tmp_path / "more.parquet")
    assert ts.score([right], str(tmp_path / "more.parquet"), schema=schema).precision == 2 / 3
    pytest.importorskip("pydantic")
    assert ts.score([right], [more], type=Paid, lenient=True).precision == 2 / 3


@pytest.mark.parametrize("lenient", [False, True])
def test_an_item_that_lacks_a_field_of_an_all_or_nothing_record_is_wrong_and_no_error(lenient):
    gold = {"a": [{"k": "x", "v": 1}, {"k": "y", "v": 2}], "n": 1}
    options = {"choices": {"a[*]": {"credit": "all"}}, "lenient": lenient}
    found = ts.score([gold], [{**gold, "a": [{"k": "x"}, {"k": "y", "v": 2}]}], **options)
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)
    found = ts.score([gold], [{**gold, "a": [{}, {"k": "y", "v": 2}]}], **options)
    assert found.precision < 1
    assert (found.recall, found.exact) == (2 / 3, 0)


@pytest.mark.parametrize(("credit", "figures"), [("all", (1, 2)), ("each", (2, 3))])
def test_an_item_that_holds_nothing_counts_once(credit, figures):
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"s": {"type": "integer"}, "t": {"type": "integer"}}}}}}  # fmt: skip
    found = ts.score(
        {"a": [{"s": 1, "t": 2}]}, {"a": [{"s": 1, "t": 2}, {}]}, schema=schema, credit=credit, lenient=True
    )
    assert (found["records"].tally["num_p"], found["records"].tally["den_p"]) == figures


def test_an_error_names_the_value_that_does_not_fit_not_one_that_a_choice_reads():
    schema = {
        "type": "object",
        "properties": {
            "placed": {"type": "string", "format": "date", "x-tallystick": {"date": {"parse": "auto"}}},
            "country": {"enum": ["DE", "FR"]},
        },
    }
    gold, system = [{"placed": "2025-03-11", "country": "FR"}] * 2, [{"placed": "11 March 2025", "country": "FR"}] * 2
    assert ts.records(gold, system, schema=schema).f1 == 1
    with pytest.raises(TallystickError, match=r"country: expected one of 'DE', 'FR', found text 'France'"):
        ts.records(gold, [system[0], {**system[1], "country": "France"}], schema=schema)


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT], ids=repr)
def test_a_document_that_is_not_there_is_null_whatever_python_has_for_it(nothing) -> None:
    gold = [{"a": 1}, {"a": 2}]
    for side in ([{"a": 1}, nothing], pd.Series([{"a": 1}, nothing]), ['{"a": 1}', nothing]):
        (result,) = ts.records(gold, side).values()
        assert any(
            "invalid, scoring nothing: 1 prediction (2: expected an object, found null)" in one
            for one in result.warnings
        )


def test_among_numbers_nan_is_one() -> None:
    (result,) = ts.records([1.5, 2.5], [1.5, float("nan")]).values()
    assert any("found nan, which is no number in JSON" in one for one in result.warnings)


class _Markup(str):
    """Text of somebody's own class, which says something else when it is printed."""

    def __str__(self):
        return "<b>"


class _Level(int):
    pass


class _Colour(str, Enum):
    RED = "red"


@pytest.mark.parametrize(("value", "plain"), [(_Markup("a"), "a"), (_Level(3), 3), (_Colour.RED, "red")])
def test_a_value_of_a_class_that_is_text_or_a_number_is_that_text_or_number(value, plain):
    for reference, predicted in (
        ({"v": value}, {"v": plain}),
        ({"v": plain}, {"v": value}),
        ({"v": value}, {"v": value}),
    ):
        assert ts.score(reference, predicted).f1 == 1
        assert ts.score([reference], [predicted]).f1 == 1
        assert ts.scorer()(reference, predicted) == 1


def test_an_answer_of_a_class_that_is_text_is_read():
    answer = _Markup('{"v": "a"}')
    assert (
        ts.score({"v": "a"}, answer).f1 == ts.scorer()({"v": "a"}, answer) == ts.rewards([{"v": "a"}], [answer])[0] == 1
    )


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("-Infinity"), float("nan")])
def test_decimals_that_are_no_numbers_are_read_as_floats_are(value):
    assert ts.score({"v": value}, {"v": value}).f1 == 1
    assert ts.score({"v": value}, {"v": 1}).f1 == 0


def test_a_key_that_is_a_tuple_is_named():
    with pytest.raises(TallystickError, match=r"reference: has the key \(1, 2\); expected text"):
        ts.score([{"d": {(1, 2): "a"}}], [{"d": {}}])


def test_maps_of_a_table_in_memory_are_the_maps_of_its_file(tmp_path):
    kind = pa.map_(pa.string(), pa.int64())
    tables = [
        pa.table({"id": ["1"], "m": pa.array([one], type=kind)}) for one in ([("a", 1), ("b", 2)], [("b", 2), ("a", 3)])
    ]
    files = [str(tmp_path / f"{k}.parquet") for k in range(2)]
    for table, file in zip(tables, files, strict=True):
        pq.write_table(table, file)
    assert ts.score(*tables).tally == ts.score(*files).tally
    assert ts.score(*tables).f1 == 0.5
    twice = pa.table({"id": ["1"], "m": pa.array([[("a", 1), ("a", 2)]], type=kind)})
    with pytest.raises(TallystickError, match="a table: "):
        ts.score(tables[0], twice)
