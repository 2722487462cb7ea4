"""Arrow's columns against the same records as Python objects: the same tallies to the last bit."""

import datetime
import decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.engine.data import Objects, Scope, as_objects, code_jointly, sliced, take
from tallystick.errors import ValueMismatch

pa = pytest.importorskip("pyarrow")

from tallystick.engine.arrow import from_arrow, to_array, to_arrow  # noqa: E402 - only where there is a pyarrow

# Columns: a type of Arrow's and what may stand in it. Few values, so that sides meet.
TEXTS = st.sampled_from(["", "a", "b", "ab", "Ab", "ß", "a b c"])
LEAVES = {
    "text": (pa.string(), TEXTS),
    "whole": (pa.int64(), st.sampled_from([0, 1, 2, -5, 1 << 40])),
    "small": (pa.int8(), st.sampled_from([0, 1, -128])),
    "large": (pa.uint64(), st.sampled_from([0, 1, (1 << 64) - 1])),
    "float": (pa.float64(), st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan"), float("inf")])),
    "short": (pa.float32(), st.sampled_from([0.0, 0.5, float("nan")])),
    "flag": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 4))),
    "moment": (pa.timestamp("us"), st.sampled_from([datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 2, 3, 4, 5)])),
    "clock": (pa.time64("us"), st.sampled_from([datetime.time(0), datetime.time(1, 2)])),
    "span": (pa.duration("s"), st.sampled_from([datetime.timedelta(0), datetime.timedelta(1)])),
    "money": (pa.decimal128(10, 2), st.sampled_from([decimal.Decimal("0.10"), decimal.Decimal("1.00")])),
    "bytes": (pa.binary(), st.sampled_from([b"", b"a"])),
}  # fmt: skip


def maybe(values):
    return st.one_of(st.none(), values)


def structs(**fields):
    return pa.struct([(name, kind) for name, (kind, _) in fields.items()]), st.fixed_dictionaries(
        {name: values for name, (_, values) in fields.items()}
    )


def lists(one):
    return pa.list_(one[0]), st.lists(one[1], max_size=3)


ITEM = structs(
    name=(pa.string(), maybe(TEXTS)),
    price=(pa.float64(), maybe(LEAVES["float"][1])),
    kind=(pa.string(), TEXTS),
    tags=(pa.list_(pa.string()), maybe(st.lists(TEXTS, max_size=3))),
)
DOCUMENT = structs(
    **{name: (kind, maybe(values)) for name, (kind, values) in LEAVES.items()},
    items=(pa.list_(ITEM[0]), maybe(st.lists(ITEM[1], max_size=3))),
    inner=(ITEM[0], maybe(ITEM[1])),
    pairs=(pa.map_(pa.string(), pa.int64()), maybe(st.dictionaries(TEXTS, st.integers(0, 2), max_size=3))),
    nothing=(pa.null(), st.none()),
)
NUMBER = ts.at_least(ts.text("levenshtein"), 0.5, keep=True)
EACH = ts.each(name=NUMBER, price=ts.number(relative=0.5), kind=ts.exact, tags=ts.match(ts.text("jaro")))
ALL = ts.record(
    name=ts.optional(ts.exact), price=ts.optional(ts.exact), kind=ts.exact, tags=ts.optional(ts.f1(ts.match(ts.exact)))
)
PARTS = {
    **dict.fromkeys(LEAVES, ts.exact),
    "items": ts.match(EACH),
    "inner": EACH,
    "pairs": ts.match(ts.record(key=ts.exact, value=ts.exact)),
    "nothing": ts.exact,
}
METRICS = {
    "each": ts.f1(ts.each(**PARTS)),
    "all": ts.f1(ts.record(**{name: ts.optional(part) for name, part in PARTS.items() if name not in ("items", "inner")})),
    "items": ts.f1(ts.each(items=ts.match(ALL), inner=ALL)),
    "empty": ts.f1(ts.each(items=ts.optional(ts.match(ts.exact), empty=True), text=ts.optional(ts.exact, empty=True), bytes=ts.optional(ts.exact, empty=True))),
    "null": ts.f1(ts.each(text=ts.optional(ts.exact, null=True), items=ts.optional(ts.match(EACH), null=True))),
    "soft": ts.f1(ts.each(
        text=ts.text("levenshtein", "casefold"), day=ts.date(days=1), moment=ts.date(days=1), money=ts.number(absolute=0.95),
        whole=ts.function(lambda x, y: 1 / (1 + abs(x - y)) if abs(x - y) < 9 else 0.0),
        float=ts.aliases({2.5: 1.0}), flag=ts.via(str, ts.exact), small=ts.aliases({1: 0}),
    )),
    "sets": ts.f1(ts.each(items=ts.match(EACH, "N:1"), inner=ts.each(tags=ts.match(ts.exact, distinct=True)))),
    "distinct": ts.f1(ts.each(items=ts.match(ts.each(kind=ts.exact, tags=ts.match(ts.exact)), distinct=True))),
    "ordered": ts.f1(ts.each(items=ts.sequence(EACH))),
    "keyed": ts.f1(ts.each(items=ts.match(ts.keyed(ts.each(name=ts.exact, price=ts.number(relative=0.5)), "name")))),
    "whole": ts.f1(ts.each(items=ts.exact, inner=ts.exact, pairs=ts.exact)),
    "alternatives": ts.f1(ts.each(kinds=ts.exact, text=ts.any_of(ts.exact))),
    "cases": ts.f1(ts.each(text=ts.cases(str=ts.text("jaro"), int=ts.exact), items=ts.match(ts.cases(item=EACH)))),
}  # fmt: skip
del METRICS["alternatives"]


def plain(table):
    return table.to_pylist(maps_as_pydicts="strict")


def same(metric, reference, predicted, objects=None):
    """Both ways, compared in everything that a result has."""
    left, right = objects or (plain(reference), plain(predicted))
    expected, found = ts.evaluate(metric, left, right), ts.evaluate(metric, reference, predicted)
    assert found.rows.tobytes() == expected.rows.tobytes()
    assert found.by_field() == expected.by_field()
    if len(left):
        assert str(found.explain(0)) == str(expected.explain(0))
    return found


def tables(reference, predicted):
    kind = DOCUMENT[0]
    return [pa.Table.from_pylist(side, pa.schema(list(kind))) for side in (reference, predicted)]


SIDES = st.lists(st.tuples(DOCUMENT[1], DOCUMENT[1]), min_size=0, max_size=5)
FEW = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # documents this large take minutes to shrink
)


@pytest.mark.parametrize("name", METRICS)
@FEW
@given(data=st.data())
def test_the_same_to_the_last_bit_as_python_objects(name, data):
    pairs = data.draw(SIDES)
    left, right = tables([a for a, _ in pairs], [b for _, b in pairs])
    same(METRICS[name], left, right)


FORMS = {
    "chunks": lambda t: pa.concat_tables([t.slice(0, 1), t.slice(1, 0), t.slice(1)]),
    "slice": lambda t: pa.concat_tables([t, t]).slice(t.num_rows),
    "batches": lambda t: pa.Table.from_batches(t.to_batches(max_chunksize=2), t.schema),
    "struct": lambda t: t.to_struct_array(),
    "dictionaries": lambda t: changed(t, lambda a: a.dictionary_encode() if pa.types.is_string(a.type) else a),
    "large": lambda t: changed(t, lambda a: a.cast(pa.large_string()) if pa.types.is_string(a.type) else a),
    "views": lambda t: changed(t, lambda a: a.cast(pa.string_view()) if pa.types.is_string(a.type) else a),
    "large lists": lambda t: changed(t, lambda a: a.cast(pa.large_list(a.type.value_type)) if pa.types.is_list(a.type) else a),
    "list views": lambda t: changed(t, lambda a: pa.array(a.to_pylist(), pa.list_view(a.type.value_type)) if pa.types.is_list(a.type) else a),
}  # fmt: skip


def changed(table, change):
    columns = [pa.chunked_array([change(chunk) for chunk in column.chunks] or [change(pa.array([], column.type))]) for column in table.columns]  # fmt: skip
    return pa.table(columns, names=table.column_names)


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(pairs=SIDES.filter(len), both=st.booleans())
def test_whatever_form_a_table_has(form, pairs, both):
    left, right = tables([a for a, _ in pairs], [b for _, b in pairs])
    objects = plain(left), plain(right)
    same(METRICS["each"], FORMS[form](left), FORMS[form](right) if both else right, objects)


def test_batches_change_nothing():
    rng = np.random.default_rng(3)
    rows = [
        {"kind": str(rng.integers(3)), "items": [{"name": "x" * int(rng.integers(4)), "price": float(rng.integers(3))} for _ in range(rng.integers(4))]}
        for _ in range(50)
    ]  # fmt: skip
    left, right = pa.Table.from_pylist(rows), pa.Table.from_pylist(rows[::-1])
    metric = ts.f1(ts.each(kind=ts.exact, items=ts.match(ts.each(name=ts.text("jaro"), price=ts.exact))))
    whole = ts.evaluate(metric, left, right)
    assert ts.evaluate(metric, left, right, batch=7).rows.tobytes() == whole.rows.tobytes()
    assert whole.rows.tobytes() == ts.evaluate(metric, rows, rows[::-1]).rows.tobytes()


@FEW
@given(data=st.data())
def test_codes_are_those_of_the_python_objects(data):
    kind, values = LEAVES[data.draw(st.sampled_from(sorted(LEAVES)))]
    other_kind, other = (
        LEAVES[data.draw(st.sampled_from(sorted(LEAVES)))] if data.draw(st.booleans()) else (kind, values)
    )
    left = pa.array(data.draw(st.lists(maybe(values) if data.draw(st.booleans()) else values)), kind)
    right = pa.array(data.draw(st.lists(other)), other_kind)
    if data.draw(st.booleans()) and not pa.types.is_null(left.type):
        left = left.dictionary_encode()
    expected = code_jointly(Objects(left.to_pylist()), Objects(right.to_pylist()), Scope())
    found = code_jointly(from_arrow(left), from_arrow(right), Scope())
    for a, b in zip(expected[:2], found[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    assert expected[2] == found[2]


@FEW
@given(rows=st.lists(DOCUMENT[1], max_size=5), data=st.data())
def test_rows_of_a_column_are_the_rows_of_the_objects(rows, data):
    table = tables(rows, [])[0]
    column, values = from_arrow(table), plain(table)

    def shown(found):
        return [repr(one) for one in found]

    assert shown(as_objects(column)) == shown(values)
    chosen = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=4)) if rows else []
    assert shown(as_objects(take(column, np.array(chosen, np.int64)))) == shown(values[k] for k in chosen)
    start, stop = sorted((data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))))
    assert shown(as_objects(sliced(column, start, stop))) == shown(values[start:stop])


def test_a_column_that_one_side_lacks_is_missing_there_and_one_that_both_lack_is_an_error():
    left, right = pa.table({"a": [1, 2], "b": ["x", "y"]}), pa.table({"a": [1, 3]})
    same(ts.f1(ts.each(a=ts.exact, b=ts.exact)), left, right)
    with pytest.raises(ValueMismatch, match=r"expected a field 'c', found fields a, b"):
        ts.evaluate(ts.f1(ts.each(a=ts.exact, c=ts.exact)), left, right)


def test_alternatives_in_a_list_column():
    left = pa.table({"a": [["x", "y"], ["z"]]})
    right = pa.table({"a": ["y", "x"]})
    assert same(ts.f1(ts.each(a=ts.any_of(ts.exact))), left, right).tally["num_p"] == 1


def test_ranges_in_a_list_column():
    left, right = pa.table({"a": [[0, 3], [5, 6]]}), pa.table({"a": [[1, 3], [5, 6]]})
    assert same(ts.f1(ts.each(a=ts.overlap())), left, right).tally["num_p"] == 1.75
    with pytest.raises(ValueMismatch, match=r"at a: expected \(start, end\), found \[1, 2, 3\]"):
        ts.evaluate(ts.f1(ts.each(a=ts.overlap())), pa.table({"a": [[1, 2, 3]]}), pa.table({"a": [[1, 2]]}))


def test_one_side_in_arrow_and_the_other_in_python():
    rows = [{"a": "x", "n": 1}, {"a": "y", "n": None}]
    metric = ts.f1(ts.each(a=ts.text("levenshtein"), n=ts.exact))
    both = ts.evaluate(metric, rows, rows[::-1]).rows
    assert ts.evaluate(metric, pa.Table.from_pylist(rows), rows[::-1]).rows.tobytes() == both.tobytes()
    assert ts.evaluate(metric, rows, pa.Table.from_pylist(rows[::-1])).rows.tobytes() == both.tobytes()


def test_integers_equal_floats_also_where_floats_cannot_hold_them():
    left, right = pa.table({"a": [1, 2, 2**60 + 1]}), pa.table({"a": [1.0, 2.5, float(2**60)]})
    assert same(ts.f1(ts.each(a=ts.exact)), left, right).tally["num_p"] == 1


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), r"column 'a': sparse_union"),
        (pa.array([1], pa.timestamp("ns")), r"column 'a': timestamp\[ns\] is not supported; it has parts of a microsecond"),
        (pa.array([[{"b": 1}]], pa.list_(pa.struct([("b", pa.duration("ns"))]))), r"column 'a\[\*\]\.b': duration\[ns\]"),
        (pa.array([b"0" * 16], pa.uuid()), r"column 'a': extension<arrow\.uuid> is not supported; cast it"),
    ],
)  # fmt: skip
def test_a_type_without_a_place_is_an_error_that_names_the_column(array, message):
    table = pa.table({"a": array})
    with pytest.raises(ValueMismatch, match=message):
        ts.evaluate(ts.f1(ts.each(a=ts.exact)), table, table)


def test_two_columns_of_one_name_are_an_error():
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(ValueMismatch, match="column 'a' occurs twice"):
        ts.evaluate(ts.f1(ts.each(a=ts.exact)), table, table)


def test_nanoseconds_that_are_whole_microseconds_are_read():
    one = pa.table({"a": pa.array([1_000], pa.timestamp("ns"))})
    other = pa.table({"a": pa.array([1], pa.timestamp("us"))})
    assert ts.evaluate(ts.f1(ts.each(a=ts.exact)), one, other).f1 == 1


def test_moments_are_equal_in_whatever_zone():
    one, other = (pa.table({"a": pa.array([0], pa.timestamp("us", zone))}) for zone in ("UTC", "Europe/Berlin"))
    naive = pa.table({"a": pa.array([0], pa.timestamp("us"))})
    metric = ts.f1(ts.each(a=ts.exact))
    assert ts.evaluate(metric, one, other).f1 == 1
    assert ts.evaluate(metric, one, naive).f1 == 0


def test_arrays_of_arrow_are_numpys_without_pandas() -> None:
    """`to_numpy` and `pa.array` would import pandas, which takes longer than to read a file of some megabytes."""
    numbers = [pa.array([1, 2, 3], kind) for kind in (pa.int8(), pa.uint64(), pa.int64(), pa.float32(), pa.float64())]
    flags = pa.array([True, False, True] * 7)
    for array in (
        *numbers,
        *(one.slice(1) for one in numbers),
        flags,
        flags.slice(5, 9),
        flags.slice(0, 0),
        pa.array([1, None]),
    ):
        expected = array.to_numpy(zero_copy_only=False)
        np.testing.assert_array_equal(to_array(array), expected, strict=True)
        np.testing.assert_array_equal(to_array(pa.chunked_array([array, array])), np.concatenate((expected, expected)))
    values = np.arange(10, dtype=np.int64)[::2]
    assert to_arrow(values).equals(pa.array(values))
