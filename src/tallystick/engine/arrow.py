"""Arrow's arrays as columns, without a Python object for each value.

    struct                  Record           string, number, boolean, date, ...     ArrowLeaf
    list                    Bag              dictionary                             ArrowLeaf with an index
    map                     Bag of Entries   null anywhere                          Nullable

A leaf is numbered by Arrow's own `dictionary_encode`, both sides in one go; a value becomes a Python object only where a
similarity asks for the different ones. The codes are the ones that the same values as Python objects would get (the
order of first appearance; integers by their value), so that whatever follows is the same to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.engine.arrays import F64, I64, Mask, integers, offsets_of
from tallystick.engine.data import (
    Bag,
    Data,
    Entries,
    Leaf,
    Nullable,
    Objects,
    Record,
    by_appearance,
    code_arrays,
    nullable,
)
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen

EXACT_FLOATS = 1 << 53
"""Integers up to here are floats without a loss."""
MOST_TEXT = (1 << 31) - 1
"""So many bytes fit into one array of short strings."""


# `to_numpy` and `pa.array` import pandas wherever it is installed, which takes longer than to read a file of some megabytes: so
# buffers are looked at as they are.

NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64)
_DTYPES = {pa.from_numpy_dtype(kind): np.dtype(kind) for kind in NUMBERS}


def to_array(values: Any) -> Any:
    """An Arrow array as NumPy's, which may be read only."""
    if isinstance(values, pa.ChunkedArray):
        parts = [to_array(one) for one in values.chunks]
        return np.concatenate(parts) if parts else np.empty(0, _DTYPES.get(values.type, np.bool_))
    dtype = _DTYPES.get(values.type)
    if values.null_count or (dtype is None and not pa.types.is_boolean(values.type)):
        return values.to_numpy(zero_copy_only=False)
    buffer, start, count = values.buffers()[1], values.offset, len(values)
    if not count:
        return np.empty(0, dtype or np.bool_)
    if dtype is not None:
        return np.frombuffer(buffer, dtype, count, start * dtype.itemsize)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=start + count, bitorder="little")
    return bits[start:].view(np.bool_)


def to_arrow(values: Any) -> Any:
    """An array of numbers as Arrow's."""
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def from_arrow(values: Any, path: str = "") -> Data:
    """A pyarrow Table, RecordBatch, Array or ChunkedArray as a column; `path` is how it is called in messages."""
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        return _record(values.schema, values.columns, values.num_rows, path)
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        raise ValueMismatch(f"expected a pyarrow Table or Array, found {type(values).__name__}")
    return _column(values, path)


def _chunks(column: Any) -> Any:
    """A column of chunks as one array; but plain values may stay in their chunks, which saves a copy."""
    kind = column.type
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or _is_text(kind):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], kind)


def _record(fields: Any, columns: Any, rows: int, path: str) -> Record:
    names = [field.name for field in fields]
    again = sorted({name for name in names if names.count(name) > 1})
    if again:
        raise ValueMismatch(f"column {_under(path, again[0])!r} occurs twice; column names must be unique")
    parts = {name: _column(one, _under(path, name)) for name, one in zip(names, columns, strict=True)}
    return Record(parts, rows)


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _column(array: Any, path: str) -> Data:
    if isinstance(array, pa.ChunkedArray):
        array = _chunks(array)
    kind, types = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name != "arrow.json":
            raise unsupported(path, kind, "cast it to the type that it represents")
        return _column(array.storage, path)
    if types.is_run_end_encoded(kind):
        return _column(pc.run_end_decode(array), path)
    if types.is_string_view(kind) or types.is_binary_view(kind):  # few of Arrow's functions take views
        return _column(array.cast(pa.large_string() if types.is_string_view(kind) else pa.large_binary()), path)
    if types.is_null(kind):
        return Nullable(np.full(len(array), -1, np.int64), Objects(()))
    if types.is_dictionary(kind) and not _short(array):
        return _column(array.dictionary_decode(), path)
    if array.null_count:
        return nullable(to_array(array.is_valid()), _column(array.drop_null(), path))
    if types.is_dictionary(kind):
        return ArrowLeaf(_plain(array.dictionary, path), integers(to_array(array.indices)))
    if types.is_struct(kind):
        return _record(kind, [array.field(k) for k in range(kind.num_fields)], len(array), path)
    if types.is_map(kind):
        offsets = integers(array.offsets)
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        keys, inside = (one.slice(first, count) for one in (array.keys, array.items))
        entries = {"key": _column(keys, f"{path}[*].key"), "value": _column(inside, f"{path}[*].value")}
        return Bag(offsets - first, Entries(entries, count))
    if _is_list(kind):
        lengths = to_array(pc.list_value_length(array))
        return Bag(offsets_of(lengths), _column(array.flatten(), f"{path}[*]"))
    return ArrowLeaf(_plain(array, path))


def _is_list(kind: Any) -> bool:
    types = pa.types
    known = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(is_one(kind) for is_one in known)


def _short(array: Any) -> bool:
    """Whether a dictionary holds plain values and saves something: a table much longer than its rows does not."""
    kind = array.dictionary.type
    nested = pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)
    nested = nested or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    return not nested and not array.dictionary.null_count and len(array.dictionary) <= 2 * len(array) + 16


def unsupported(path: str, kind: Any, advice: str) -> ValueMismatch:
    """A column of a type that has no place here."""
    return ValueMismatch(f"column {path or '(value)'!r}: {kind} is not supported; {advice}")


def _plain(array: Any, path: str) -> Any:
    """The values of a leaf in one of the types that are dealt with below."""
    kind, types = array.type, pa.types
    if types.is_floating(kind):
        return array if types.is_float64(kind) else array.cast(pa.float64())
    if types.is_date64(kind):
        return array.cast(pa.date32())
    if (types.is_timestamp(kind) or types.is_time64(kind) or types.is_duration(kind)) and kind.unit == "ns":
        micro = pa.timestamp("us", kind.tz) if types.is_timestamp(kind) else _micro(kind)
        try:
            return array.cast(micro)
        except pa.ArrowInvalid:
            raise unsupported(path, kind, "it has parts of a microsecond; cast it to microseconds first") from None
    known = (
        types.is_boolean(kind) or types.is_integer(kind) or types.is_decimal(kind) or _is_text(kind) or _is_bytes(kind)
        or types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind)
    )  # fmt: skip
    if not known:
        raise unsupported(path, kind, "cast it to text, a number, a date or a struct first")
    return array


def _micro(kind: Any) -> Any:
    return pa.time64("us") if pa.types.is_time64(kind) else pa.duration("us")


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_plain_id(kind: Any) -> bool:
    """Whether a column of this type can name documents: texts, or whole numbers."""
    return _is_text(kind) or bool(pa.types.is_integer(kind))


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


@frozen(eq=False)
class ArrowLeaf(Leaf):
    """Plain values in an Arrow array without nulls; with an index, row k is `values[index[k]]`."""

    values: Any
    index: I64 | None = None

    def __len__(self) -> int:
        return len(self.values) if self.index is None else len(self.index)

    def take(self, rows: I64) -> ArrowLeaf:
        if self.index is not None:
            return ArrowLeaf(self.values, self.index[rows])
        return ArrowLeaf(self.values.take(to_arrow(rows)))

    def part(self, start: int, stop: int) -> ArrowLeaf:
        if self.index is not None:
            return ArrowLeaf(self.values, self.index[start:stop])
        return ArrowLeaf(self.values.slice(start, max(stop - start, 0)))

    def different(self) -> tuple[I64, list[Any]]:
        (codes,), table = _numbered([self.values])
        if self.index is not None:
            codes, order = by_appearance(codes[self.index], len(table))
            table = table.take(to_arrow(order))
        return codes, table.to_pylist()

    def jointly(self, other: Leaf) -> tuple[I64, I64, int] | None:
        if not isinstance(other, ArrowLeaf):
            return None
        both = _alike(self.values, other.values)
        if both is None:
            return None
        if pa.types.is_integer(both[0].type):
            ours, theirs = (
                _at(integers(to_array(side)), one.index) for side, one in zip(both, (self, other), strict=True)
            )
            return code_arrays(ours, theirs)
        (ours, theirs), table = _numbered(both)
        ours, theirs = _at(ours, self.index), _at(theirs, other.index)
        if self.index is None and other.index is None:
            return ours, theirs, len(table)
        codes, order = by_appearance(np.concatenate((ours, theirs)), len(table))
        return codes[: len(ours)], codes[len(ours) :], len(order)

    def same(self, other: Leaf) -> Mask | None:
        both = _alike(self.values, other.values) if isinstance(other, ArrowLeaf) else None
        if both is None:
            return None
        assert isinstance(other, ArrowLeaf)
        if self.index is not None and other.index is not None:  # two short tables: their codes tell
            (ours, theirs), _ = _numbered(both)
            return ours[self.index] == theirs[other.index]  # type: ignore[no-any-return]
        left, right = (
            side if one.index is None else side.take(to_arrow(one.index))
            for side, one in zip(both, (self, other), strict=True)
        )
        if pa.types.is_floating(left.type):
            left, right = to_array(left), to_array(right)
            return (left == right) | (np.isnan(left) & np.isnan(right))  # type: ignore[no-any-return]
        return to_array(pc.equal(left, right))  # type: ignore[no-any-return]

    def numbers(self) -> F64 | None:
        if not (pa.types.is_integer(self.values.type) or pa.types.is_floating(self.values.type)):
            return None
        found: F64 = _at(to_array(self.values).astype(np.float64), self.index)
        return found

    @property
    def plain(self) -> bool:
        kind = self.values.type
        if _is_text(kind):
            return not pc.any(pc.match_substring_regex(self.values, r"[^ -~]|^ | $|  ")).as_py()
        types = pa.types
        return bool(types.is_integer(kind) or types.is_boolean(kind) or types.is_temporal(kind))

    def empty(self) -> Any:
        if not _is_text(self.values.type):
            return np.zeros(len(self), np.bool_)
        return _at(to_array(pc.equal(pc.binary_length(self.values), 0)), self.index)

    def to_list(self) -> list[Any]:
        found: list[Any] = self.values.to_pylist()
        return found if self.index is None else [found[k] for k in self.index.tolist()]


def _at(values: Any, index: I64 | None) -> Any:
    return values if index is None else values[index]


def _alike(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Both arrays in one type in which Arrow's equality is Python's; None if there is none."""
    types = pa.types
    if all(types.is_integer(side.type) for side in (left, right)):
        return (left, right) if all(map(_fits_int64, (left, right))) else None
    if all(types.is_integer(side.type) or types.is_floating(side.type) for side in (left, right)):
        sides = [_floats(side) for side in (left, right)]
        return None if sides[0] is None or sides[1] is None else (sides[0], sides[1])
    if left.type == right.type:
        return left, right
    if _is_text(left.type) and _is_text(right.type):
        return left.cast(pa.large_string()), right.cast(pa.large_string())
    return None


def _fits_int64(array: Any) -> bool:
    return not pa.types.is_uint64(array.type) or not len(array) or pc.max(array).as_py() < 1 << 63


def _floats(array: Any) -> Any:
    if pa.types.is_floating(array.type):
        return array
    ends = pc.min_max(array).as_py() if len(array) else {"min": 0, "max": 0}
    if ends["min"] >= -EXACT_FLOATS and ends["max"] <= EXACT_FLOATS:
        return array.cast(pa.float64())
    return None


def _numbered(arrays: Any) -> tuple[list[I64], Any]:
    """The codes of several arrays of one type in the order of first appearance, and the table of what they stand for."""
    if pa.types.is_floating(arrays[0].type):  # -0.0 equals 0.0; that NaN equals NaN Arrow knows
        arrays = [to_arrow(to_array(one) + 0.0) for one in arrays]
    if _is_text(arrays[0].type) and sum(one.nbytes for one in arrays) > MOST_TEXT:
        arrays = [one.cast(pa.large_string()) for one in arrays]
    full = [one for one in arrays if len(one)]
    if not full:
        return [np.empty(0, np.int64) for _ in arrays], arrays[0]
    parts = [part for one in full for part in (one.chunks if isinstance(one, pa.ChunkedArray) else [one])]
    chunks = pa.chunked_array(parts).dictionary_encode().chunks
    codes = np.concatenate([integers(to_array(chunk.indices)) for chunk in chunks])
    ends = np.cumsum([len(one) for one in arrays])[:-1]
    return np.split(codes, ends), chunks[0].dictionary
