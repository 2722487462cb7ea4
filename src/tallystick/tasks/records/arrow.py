"""Records as columns: what the columns of a Parquet or Arrow file look like, whether they fit a type, which of them the type does not
know, and how they are read.

The shape is the one that inference finds in the same records as JSON: what is counted here is what `shapes.Seen` counts there.
Where Parquet's own statistics say how many nulls a flat column has, its values are not read at all.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.algebra.derive import record_fields, shape_of
from tallystick.algebra.surplus import Place
from tallystick.engine.arrays import I64
from tallystick.engine.arrow import from_arrow, to_array, to_arrow
from tallystick.engine.data import Bag, Data, Extended, Nullable, Record, Rows, nullable
from tallystick.engine.values import Surplus
from tallystick.errors import InputError, ValueMismatch
from tallystick.files.documents import is_wrong_id, wrong_id
from tallystick.files.json_values import id_of
from tallystick.files.lines import ArrowLines, Portion, json_lines
from tallystick.tasks.records.files import NO_DOCUMENT, NO_PREDICTION, Reader, RecordFile
from tallystick.tasks.records.shapes import Seen

_NONE = type(None)


def see_file(file: ArrowLines) -> Seen:
    """What a file holds, counted as inference counts it."""
    seen = Seen()
    for batch in file.batches():
        seen.count += batch.num_rows
        for name in file.schema.names:
            see(seen.fields.setdefault(name, Seen()), batch.column(name), name, file.file)
    seen.objects = seen.count
    return seen


def see(seen: Seen, array: Any, path: str, file: str) -> None:
    """Count the values of an array where inference would have counted them."""
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        return see(seen, array.dictionary_decode(), path, file)
    if types.is_run_end_encoded(kind):
        return see(seen, pc.run_end_decode(array), path, file)
    nulls = array.null_count
    if not types.is_nested(kind) or types.is_union(kind) or not hasattr(array, "flatten"):
        return _count(seen, _kind(kind, path, file), len(array) - nulls, nulls)
    present = array.drop_null() if nulls else array
    _count(seen, _NONE, 0, nulls)
    seen.count += len(present)
    if types.is_struct(kind) or types.is_map(kind):
        seen.objects += len(present)
        seen.maps |= types.is_map(kind)
    else:
        seen.lists += len(present)
        seen.pairs += _count_pairs(present)
    if not len(present):
        return None
    if types.is_struct(kind):
        for name, column in _columns(present):
            see(seen.fields.setdefault(name, Seen()), column, f"{path}.{name}", file)
    elif types.is_map(kind):
        see(seen.fields.setdefault("", Seen()), _items(present), f"{path}[*].value", file)
    else:
        seen.items = seen.items or Seen()
        see(seen.items, present.flatten(), f"{path}[*]", file)
    return None


def _count_pairs(lists: Any) -> int:
    """How many lists are two integers."""
    if not pa.types.is_integer(lists.type.value_type):
        return 0
    lengths = to_array(pc.list_value_length(lists))
    whole, starts = _valid(lists.flatten()), np.cumsum(lengths) - lengths
    two = starts[lengths == 2]
    return int(np.sum(whole[two] & whole[two + 1]))


def _columns(struct: Any) -> list[tuple[str, Any]]:
    return [(struct.type.field(k).name, struct.field(k)) for k in range(struct.type.num_fields)]


def _count(seen: Seen, kind: type, values: int, nulls: int) -> None:
    if kind is _NONE:
        values, nulls = 0, values + nulls
    for one, times in ((kind, values), (_NONE, nulls)):
        if times:
            seen.kinds[one] += times
    seen.count += values + nulls


def _kind(kind: Any, path: str, file: str) -> type:
    """The Python type of a leaf's values."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.json":
        return str
    for test, found in (
        (types.is_null, _NONE), (types.is_boolean, bool), (types.is_integer, int), (types.is_floating, float),
        (types.is_decimal, decimal.Decimal), (types.is_string, str), (types.is_large_string, str),
        (types.is_string_view, str), (types.is_date, datetime.date), (types.is_timestamp, datetime.datetime),
        (types.is_time, datetime.time), (types.is_duration, datetime.timedelta), (types.is_binary, bytes),
        (types.is_large_binary, bytes), (types.is_fixed_size_binary, bytes), (types.is_binary_view, bytes),
    ):  # fmt: skip
        if test(kind):
            return found
    raise InputError(
        f"column {path!r}: {kind} is not supported; cast it to text, a number, a date, a list or a struct", file
    )


# Whether columns hold values of a type, so that nothing has to be checked value by value.


def unfitting(type_: Any, kind: Any, path: str = "") -> str | None:
    """The first path at which a column is not of the kind that a type asks for, or None; nulls are another matter."""
    shape, types, here = shape_of(type_), pa.types, path or "(document)"
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return None
    if shape.kind == "union":
        found = [unfitting(case, kind, path) for case in shape.parts.values()]
        return None if None in found else next(iter(found), here)
    if shape.kind == "items":
        listed = types.is_nested(kind) and not (types.is_struct(kind) or types.is_map(kind) or types.is_union(kind))
        as_list = listed and shape.parts and shape.origin not in (set, frozenset, tuple)
        return unfitting(shape.item, kind.value_type, f"{path}[*]") if as_list else here
    if shape.kind == "map":
        by_text = types.is_map(kind) and shape.parts.get("key") is str
        return unfitting(shape.parts["value"], kind.item_type, f"{path}[*].value") if by_text else here
    fields = shape.keys
    if fields is not None:
        return _unfitting_field(fields, kind, path) if types.is_struct(kind) else here
    return None if _is_leaf_of(shape.type, kind) else here


def _unfitting_field(fields: Mapping[str, Any], kind: Any, path: str) -> str | None:
    known = {kind.field(k).name: kind.field(k).type for k in range(kind.num_fields)}
    inner = (
        unfitting(one, known[name], f"{path}.{name}" if path else name) for name, one in fields.items() if name in known
    )
    return next((one for one in inner if one is not None), None)


def _is_leaf_of(type_: Any, kind: Any) -> bool:
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType) or not isinstance(type_, type):
        return False
    if pa.types.is_integer(kind):
        return type_ in (int, float)
    try:
        return _kind(kind, "", "") is type_
    except InputError:
        return False


def has_gaps(type_: Any, column: Any, missing: bool = False) -> bool:
    """Whether there is a null or a missing column where a type has neither; `column` is one of the engine's.

    With `missing`, a field may be null or not there at all; an item of a list may not.
    """
    shape = shape_of(type_)
    if shape.kind == "union":
        column = _there(column, shape.optional)
        return all(has_gaps(case, column, missing) for case in shape.parts.values())
    if isinstance(column, Nullable):
        return True
    if isinstance(column, Record):
        fields = record_fields(shape.type) or {}
        required = set() if missing else _required(shape.origin, fields)
        return any(
            has_gaps(one, _there(column.fields[name], missing), missing) if name in column.fields else name in required
            for name, one in fields.items()
        )
    if not isinstance(column, Bag) or not shape.parts:
        return False
    if shape.kind == "map" and isinstance(column.items, Record):
        return has_gaps(shape.parts["value"], column.items.fields["value"], missing)
    return shape.kind == "items" and has_gaps(shape.item, column.items, missing)


def _there(column: Any, missing: bool) -> Any:
    return column.present if missing and isinstance(column, Nullable) else column


def _required(origin: Any, fields: Mapping[str, Any]) -> set[str]:
    """The fields that a column has to have: a default that is not None would have to be filled in."""
    if hasattr(origin, "__required_keys__"):
        return set(origin.__required_keys__)
    if dataclasses.is_dataclass(origin):
        return {f.name for f in dataclasses.fields(origin) if f.default is not None}
    if hasattr(origin, "model_fields"):
        return {name for name, one in origin.model_fields.items() if one.is_required() or one.default is not None}
    return set(fields)


# Columns that a prediction has and its shape does not, counted without a Python object for each value.


def unknown_counts(batch: Any, unknown: Place) -> dict[str, I64]:
    """By the path of an unknown column, how many leaves each row has there; only what is there at all."""
    out: dict[str, I64] = {}
    n = batch.num_rows
    columns = [(name, batch.column(k)) for k, name in enumerate(batch.schema.names)]
    _look(columns, unknown, "", np.arange(n, dtype=np.int64), n, out)
    return {path: counts for path, counts in out.items() if counts.any()}


def _look(columns: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    for name, column in columns:
        where = f"{path}.{name}" if path else name
        if name in place.below:
            _descend(column, place.below[name], where, owners, n, out)
        elif name not in place.known and not place.open:
            counts = np.where(_valid(_plain(column)), np.maximum(leaf_counts(column), 1), 0)
            _add_counts(where, owners, counts, n, out)


def _descend(array: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    array = _plain(array)
    if array.null_count:
        owners, array = owners[_valid(array)], array.drop_null()
    kind = array.type
    if pa.types.is_struct(kind) and place.cases:
        for owner, value in zip(owners.tolist(), array.to_pylist(), strict=True):
            for where, _ in place.find(value):
                _add_counts(f"{path}.{where}", np.array([owner]), np.ones(1), n, out)
    elif pa.types.is_struct(kind) and place.record:
        _look(_columns(array), place, path, owners, n, out)
    elif pa.types.is_map(kind) and place.values is not None:
        _descend(_items(array), place.values, f"{path}[*].value", _repeated(owners, array), n, out)
    elif pa.types.is_nested(kind) and not pa.types.is_struct(kind) and place.items is not None:
        inside, owners = array.flatten(), _repeated(owners, array)
        empty = _valid(_plain(inside)) & (leaf_counts(inside) == 0) if pa.types.is_nested(inside.type) else np.zeros(0)
        if empty.any():
            _add_counts(f"{path}[*]", owners, empty.astype(np.int64), n, out)
        _descend(inside, place.items, f"{path}[*]", owners, n, out)


def _add_counts(path: str, owners: I64, counts: Any, n: int, out: dict[str, I64]) -> None:
    found = np.bincount(owners, counts, minlength=n).astype(np.int64)
    out[path] = out[path] + found if path in out else found


def leaf_counts(array: Any) -> I64:
    """How many leaves each row of an array has."""
    array = _plain(array)
    kind = array.type
    out = np.zeros(len(array), np.int64)
    here = np.flatnonzero(_valid(array))
    if pa.types.is_null(kind) or not len(here):
        return out
    if not pa.types.is_nested(kind) or pa.types.is_union(kind):
        out[here] = 1
        return out
    present = array.drop_null() if array.null_count else array
    if pa.types.is_struct(kind):
        inner = sum((leaf_counts(column) for _, column in _columns(present)), np.zeros(len(present), np.int64))
    else:
        flat = _items(present) if pa.types.is_map(kind) else present.flatten()
        owners = _repeated(np.arange(len(present), dtype=np.int64), present)
        inner = np.bincount(owners, leaf_counts(flat), minlength=len(present)).astype(np.int64)
    out[here] = inner
    return out


def _plain(array: Any) -> Any:
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    if pa.types.is_dictionary(array.type):
        return array.indices if not array.dictionary.null_count else array.dictionary_decode()
    return pc.run_end_decode(array) if pa.types.is_run_end_encoded(array.type) else array


def _valid(array: Any) -> Any:
    return to_array(array.is_valid())


def _items(array: Any) -> Any:
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.items.slice(first, last - first)


def _repeated(owners: I64, array: Any) -> I64:
    """The owner of each item of the lists or maps in an array without nulls."""
    by_key = pa.types.is_map(array.type)
    lengths = np.diff(to_array(array.offsets)) if by_key else to_array(pc.list_value_length(array))
    return np.repeat(owners, lengths.astype(np.int64))


class LazyRows(Sequence[Any]):
    """The rows of a batch as Python values with what is unknown in them, made only when they are looked at."""

    def __init__(self, batch: Any, unknown: Place, rows: Sequence[int]) -> None:
        self.batch, self.unknown, self.rows = batch, unknown, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return LazyRows(self.batch, self.unknown, self.rows[place])
        row = self.rows[place]
        if row < 0:
            return NO_PREDICTION
        value = self.batch.slice(row, 1).to_pylist(maps_as_pydicts="lossy")[0]
        found = self.unknown.find(value)
        return Surplus(value, tuple(found)) if found else value


# Rows stay columns as long as a file's columns are what the shape asks for. Where they are not (text where a number should
# be, a null where none may be), the batch goes the way of JSON, row by row, so that whatever is wrong with it is reported and
# counted as it is there. A file of JSON beside one of Arrow's is read as ever: the engine takes both.


class ColumnReader(Reader):
    """One side's columns, as many rows at a time as the other side asks for."""

    def __init__(self, side: RecordFile, row_by_row: bool) -> None:
        assert isinstance(side.lines, ArrowLines)
        self.side, self.lines = side, side.lines
        schema = side.lines.schema
        where = None if side.type is None else unfitting(side.type, pa.struct(list(schema)))
        if row_by_row:
            self.remark = f"{self.lines.file} is read row by row as JSON, as the other file is JSON"
        elif where is not None:
            self.remark = f"{self.lines.file} is read row by row as JSON: {where} is not of the kind that is expected"
        self.missing = side.tolerant and side.credit == "each"
        self.source = (one for one in self.lines.batches(self._wanted(schema.names)) if len(one))
        self.waiting: list[Any] = []
        self.nameless: list[int] = []
        self.done = 0
        self.first = 0
        """How many rows come before those that were taken last, or before `left`."""

    def first_id(self) -> Any:
        if self.side.id_field not in self.lines.schema.names and self.lines.has_rows:
            return None
        for batch in self.lines.batches([self.side.id_field], 1):
            if batch.num_rows:
                return self._ids(batch)[0]
        return NO_DOCUMENT

    def ids(self) -> Iterator[tuple[int, Any]]:
        batches = self.lines.batches([self.side.id_field])
        return enumerate((key for batch in batches for key in self._ids(batch)), 1)

    def _ids(self, batch: Any) -> list[Any]:
        """The ids of some rows: text or whole numbers, None where there is none."""
        keys = _values(batch, self.side.id_field)
        if set(map(type, keys)) <= {str, int}:
            return keys
        wrong = next(filter(is_wrong_id, keys), None)
        if wrong is not None and not self.side.lenient:
            raise wrong_id(self.side.id_field, wrong, self.lines.file)
        return list(map(id_of, keys))

    def _wanted(self, names: list[str]) -> list[str] | None:
        """The columns that the type knows, and the id; None: all."""
        fields = None if self.side.type is None else record_fields(self.side.type)
        self.known = names if fields is None else [name for name in names if name in fields]
        if self.side.unknown is not None or fields is None:
            return None
        return [name for name in names if name in fields or name == self.side.id_field] or None

    def take(self, count: int | None = None) -> tuple[list[int], list[Any], Sequence[Any]]:
        parts = self._take_chunks(count)
        if not parts:
            return [], [], []
        self.last = pa.concat_batches(parts) if len(parts) > 1 else parts[0]
        self.first, self.done = self.done, self.done + len(self.last)
        numbers = list(range(self.first + 1, self.done + 1))
        return numbers, self._ids(self.last), self.values(self.last, numbers)

    def index(self, last: Any, lines: dict[Any, int]) -> tuple[dict[Any, Any], list[int]]:
        """The rows that were taken last and all that come after them are held in memory, as one batch."""
        parts = [*([self.last] if last[0] else []), *self.waiting, *self.source]
        if not parts:
            return {}, []
        self.left = pa.concat_batches(parts) if len(parts) > 1 else parts[0]
        keys = self._ids(self.left)
        numbers, named, rows = self._named(range(self.first + 1, self.first + len(keys) + 1), keys, range(len(keys)))
        self.side.check_ids(numbers, named, lines)
        return dict(zip(named, rows, strict=True)), []

    def values_at(self, places: list[Any]) -> Sequence[Any]:
        rows = np.array([-1 if row is None else row for row in places], np.int64)
        here = rows >= 0
        if not here.any():
            return [NO_PREDICTION] * len(rows)
        numbers = (self.first + 1 + rows[here]).tolist()
        found = self.values(self.left.take(to_arrow(rows[here])), numbers)
        if here.all():
            return found
        if isinstance(found, Rows):
            return Rows(_spread(found.data, here))
        known = iter(found)
        return [next(known) if there else NO_PREDICTION for there in here.tolist()]

    def values(self, batch: Any, numbers: list[int]) -> Sequence[Any]:
        """The rows as columns if they are what is expected, else one by one as JSON."""
        side = self.side
        if not self.remark:
            try:
                data = from_arrow(batch.select(self.known) if len(self.known) < len(batch.schema) else batch)
            except ValueMismatch as error:
                raise InputError(str(error), side.lines.file) from None
            if side.type is None or not has_gaps(side.type, data, self.missing):
                counts = unknown_counts(batch, side.unknown) if side.unknown is not None else {}
                if not counts:
                    return Rows(data)
                assert side.unknown is not None
                return Rows(Extended(data, counts, LazyRows(batch, side.unknown, range(batch.num_rows))))
        lines = json_lines(batch, side.lines.file, numbers)
        return side.read(Portion(numbers, lines, [0] * len(lines)))[1]


def _spread(data: Data, here: Any) -> Data:
    """The rows of a column at the places that are there; elsewhere there is no prediction."""
    if not isinstance(data, Extended):
        return nullable(here, data)
    counts = {}
    for path, some in data.counts.items():
        counts[path] = np.zeros(len(here), np.int64)
        counts[path][here] = some
    shown = data.shown
    assert isinstance(shown, LazyRows)
    rows = np.where(here, np.cumsum(here) - 1, -1).tolist()
    return Extended(nullable(here, data.values), counts, LazyRows(shown.batch, shown.unknown, rows))


def _values(batch: Any, name: str) -> list[Any]:
    """A column of some rows, None where it has nothing. Dates and times are the text that they are in JSON,
    so that both kinds of files meet."""
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    column = batch.column(name)
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        if pa.types.is_timestamp(kind) and kind.unit == "ns":  # which no type of Python holds
            try:
                column = column.cast(pa.timestamp("us", kind.tz))
            except pa.ArrowInvalid:
                raise InputError(
                    f"column {name!r}: has nanoseconds, which no id can have; cast it to text first"
                ) from None
        keys: list[Any] = msgspec.json.decode(msgspec.json.Encoder(decimal_format="number").encode(column.to_pylist()))
    else:
        keys = column.to_pylist()
    return keys
