"""The shape that is read off columns is the one that inference finds in the same records as JSON."""

import datetime
import decimal
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.errors import InputError
from tallystick.tasks.records.shapes import infer_schema, infer_shape

pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from tallystick.engine.arrow import from_arrow  # noqa: E402
from tallystick.files.lines import ArrowLines  # noqa: E402
from tallystick.tasks.records.arrow import has_gaps, unfitting  # noqa: E402

TEXT = st.one_of(st.none(), st.sampled_from(["a", "b"]))
ITEM = st.fixed_dictionaries({"n": st.one_of(st.none(), st.integers(0, 3)), "f": st.floats(0, 1), "tags": st.lists(TEXT, max_size=2)})  # fmt: skip
ROW = st.fixed_dictionaries(
    {
        "id": st.integers(0, 9),
        "text": TEXT,
        "flag": st.one_of(st.none(), st.booleans()),
        "span": st.one_of(st.none(), st.lists(st.integers(0, 9), min_size=2, max_size=2)),
        "lists": st.lists(st.lists(st.integers(0, 1), max_size=1), max_size=1),
        "item": st.one_of(st.none(), ITEM),
        "items": st.one_of(st.none(), st.lists(st.one_of(st.none(), ITEM), max_size=2)),
    }
)
KIND = pa.struct([("n", pa.int64()), ("f", pa.float64()), ("tags", pa.list_(pa.string()))])
SCHEMA = pa.schema(
    {"id": pa.int64(), "text": pa.string(), "flag": pa.bool_(), "span": pa.list_(pa.int64()), "lists": pa.list_(pa.list_(pa.int32())), "item": KIND, "items": pa.list_(KIND)}
)  # fmt: skip


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=5))
def test_the_shape_is_that_of_the_same_records_as_json(tmp_path_factory, suffix, rows):
    table = pa.Table.from_pylist(rows, SCHEMA)
    shape = infer_shape(ArrowLines(write(tmp_path_factory.mktemp("shape") / f"gold{suffix}", table)))
    schema, doubts = infer_schema(json.loads(json.dumps(table.to_pylist())))
    assert shape.schema == schema
    assert list(shape.doubts) == doubts


def write(file, table, **options):
    if file.suffix == ".parquet":
        pq.write_table(table, file, **options)
    elif file.suffix == ".feather":
        import pyarrow.feather

        pyarrow.feather.write_feather(table, str(file))
    else:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return file


def test_kinds_that_json_does_not_have(tmp_path):
    table = pa.table(
        {
            "day": pa.array([datetime.date(2020, 1, 1)]), "at": pa.array([0], pa.timestamp("us")), "time": pa.array([0], pa.time64("us")),
            "money": pa.array([decimal.Decimal("1.10")]), "took": pa.array([1], pa.duration("s")), "raw": pa.array([b"x"]),
            "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "null": pa.array([None]),
            "words": pa.array(["a"]).dictionary_encode(),
        }
    )  # fmt: skip
    shape = infer_shape(ArrowLines(write(tmp_path / "a.parquet", table)))
    found = dict(shape.schema["properties"])
    assert found == {
        "day": {"type": "string", "format": "date"}, "at": {"type": "string", "format": "date-time"}, "time": {"type": "string", "format": "time"},
        "money": {"type": "number", "format": "decimal"}, "took": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "contentEncoding": "base64"}, "map": {"type": "object", "additionalProperties": {"type": "number"}},
        "null": {"type": "null"}, "words": {"type": "string"},
    }  # fmt: skip
    assert unfitting(shape.reference, pa.struct(list(table.schema))) is None
    assert str(ts.derive(shape.reference, credit="each")).count("exact") == 10


def test_without_statistics_values_are_looked_at(tmp_path):
    table = pa.table({"a": [1, None], "b": ["x", "y"]})
    bare = write(tmp_path / "bare.parquet", table, write_statistics=False)
    told = write(tmp_path / "told.parquet", table)
    assert infer_shape(ArrowLines(bare)).schema == infer_shape(ArrowLines(told)).schema
    assert infer_shape(ArrowLines(bare)).schema["properties"]["a"] == {"type": ["number", "null"]}


def test_a_column_without_a_place_is_an_error(tmp_path):
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    file = write(tmp_path / "a.arrow", pa.table({"a": pa.array([[1]]), "u": union}))
    with pytest.raises(InputError, match=r"a\.arrow: column 'u': sparse_union<.*> is not supported"):
        infer_shape(ArrowLines(file))


@dataclass
class Item:
    n: int
    f: float | None = None


@pytest.mark.parametrize(
    ("type_", "kind", "where"),
    [
        (str, pa.string(), None), (str, pa.large_string(), None), (str, pa.dictionary(pa.int8(), pa.string()), None),
        (str, pa.int64(), "(document)"), (int, pa.uint8(), None), (int, pa.float64(), "(document)"), (float, pa.int8(), None),
        (bool, pa.int8(), "(document)"), (int, pa.bool_(), "(document)"), (int | float, pa.float32(), None), (str | None, pa.string(), None),
        (Annotated[str | None, ts.exact], pa.string(), None), (Any, pa.string(), "(document)"), (Literal["a"], pa.string(), "(document)"),
        (datetime.date, pa.date32(), None), (datetime.date, pa.timestamp("us"), "(document)"), (datetime.datetime, pa.timestamp("us"), None),
        (list[int], pa.list_(pa.int8()), None), (list[int], pa.list_(pa.string()), "[*]"), (set[int], pa.list_(pa.int8()), "(document)"),
        (tuple[int, int], pa.list_(pa.int8()), "(document)"), (str | list[str], pa.list_(pa.string()), None),
        (dict[str, int], pa.map_(pa.string(), pa.int8()), None), (dict[str, int], pa.struct([("a", pa.int8())]), "(document)"),
        (Item, pa.struct([("n", pa.int8()), ("f", pa.float64())]), None), (Item, pa.struct([("n", pa.string())]), "n"),
        (list[Item], pa.list_(pa.struct([("n", pa.int8()), ("f", pa.string())])), "[*].f"), (Item, pa.string(), "(document)"),
        (decimal.Decimal, pa.decimal128(3, 1), None), (float, pa.decimal128(3, 1), "(document)"),
    ],
)  # fmt: skip
def test_which_columns_fit_a_type(type_, kind, where):
    assert unfitting(type_, kind) == where


@pytest.mark.parametrize(
    ("rows", "gaps", "strict"),
    [
        ([{"n": 1, "f": 1.0}], False, False), ([{"n": 1, "f": None}], False, False), ([{"n": 1}], False, False),
        ([{"n": None, "f": 1.0}, {"n": 1, "f": 1.0}], False, True), ([{"f": 1.0}], False, True),
    ],
)  # fmt: skip
def test_where_a_null_is_a_gap(rows, gaps, strict):
    column = from_arrow(pa.Table.from_pylist(rows))
    assert has_gaps(Item, column, missing=True) == gaps
    assert has_gaps(Item, column) == strict


def test_a_null_in_a_list_is_always_a_gap():
    column = from_arrow(pa.array([[1, None]]))
    assert has_gaps(list[int], column, missing=True)
    assert not has_gaps(list[int | None], column)
