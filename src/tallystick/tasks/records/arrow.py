"""Columns that a prediction has and its shape does not, counted without a Python object for each value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.algebra.shape import record_fields
from tallystick.engine.arrays import I64
from tallystick.engine.arrow import from_arrow
from tallystick.engine.data import Data, Nullable, Rows, as_data
from tallystick.engine.rows import Extended, Invalid, Surplus, nullable, split_surplus
from tallystick.errors import InputError, ValueMismatch
from tallystick.files.arrow import ArrowLines, json_lines
from tallystick.files.lines import Portion
from tallystick.files.pairing import Repeats
from tallystick.tasks.records.arrow_shapes import has_gaps, unfitting
from tallystick.tasks.records.files import Side
from tallystick.tasks.records.fitting import Place, Unknown, settle
from tallystick.tasks.records.pairing import NO_PREDICTION, Batch, Pairing, Reader


def unknown_counts(batch: Any, unknown: Unknown) -> dict[str, I64]:
    """By the path of an unknown column, how many leaves each row has there; only what is there at all."""
    out: dict[str, I64] = {}
    n = batch.num_rows
    columns = [(name, batch.column(k)) for k, name in enumerate(batch.schema.names)]
    _look(columns, unknown.top, "", np.arange(n, dtype=np.int64), n, out)
    return {path: counts for path, counts in out.items() if counts.any()}


def _look(columns: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    for name, column in columns:
        where = f"{path}.{name}" if path else name
        if name in place.below:
            _descend(column, place.below[name], where, owners, n, out)
        elif name not in place.known and not place.open:
            found = np.bincount(owners, leaf_counts(column), minlength=n).astype(np.int64)
            out[where] = out[where] + found if where in out else found


def _descend(array: Any, place: Place, path: str, owners: I64, n: int, out: dict[str, I64]) -> None:
    array = _plain(array)
    if array.null_count:
        owners, array = owners[_valid(array)], array.drop_null()
    kind = array.type
    if pa.types.is_struct(kind) and place.record:
        columns = [(kind.field(k).name, array.field(k)) for k in range(kind.num_fields)]
        _look(columns, place, path, owners, n, out)
    elif pa.types.is_map(kind) and place.values is not None:
        _descend(_items(array), place.values, f"{path}[*].value", _repeated(owners, array), n, out)
    elif pa.types.is_nested(kind) and not pa.types.is_struct(kind) and place.items is not None:
        _descend(array.flatten(), place.items, f"{path}[*]", _repeated(owners, array), n, out)


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
        inner = np.zeros(len(present), np.int64)
        for k in range(kind.num_fields):
            inner += leaf_counts(present.field(k))
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
    return array.is_valid().to_numpy(zero_copy_only=False)


def _items(array: Any) -> Any:
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.items.slice(first, last - first)


def _repeated(owners: I64, array: Any) -> I64:
    """The owner of each item of the lists or maps in an array without nulls."""
    if pa.types.is_map(array.type):
        lengths = np.diff(np.asarray(array.offsets))
    else:
        lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
    return np.repeat(owners, lengths.astype(np.int64))


class Shown(Sequence[Any]):
    """The rows of a batch as Python values with what is unknown in them, made when somebody looks."""

    def __init__(self, batch: Any, unknown: Unknown, rows: Sequence[int]) -> None:
        self.batch, self.unknown, self.rows = batch, unknown, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Shown(self.batch, self.unknown, self.rows[place])
        row = self.rows[place]
        if row < 0:
            return Invalid("has no prediction")
        value = self.batch.slice(row, 1).to_pylist(maps_as_pydicts="lossy")[0]
        found = self.unknown.find(value)
        return Surplus(value, tuple(found)) if found else value


def settle_columns(
    keys: Sequence[Any], references: Sequence[Any], predictions: Sequence[Any], findings: Any, count: bool
) -> tuple[Sequence[Any], Sequence[Any]]:
    """`unknown.settle`, where one side or both are columns."""
    known, outside = split_surplus(as_data(references))
    if outside:
        references = Rows(known)
    if not isinstance(predictions, Rows):
        plain: list[Any] = [None] * len(predictions)
        for path, counts in outside.items():
            for row in np.flatnonzero(counts).tolist():
                leaf = (path, None)
                plain[row] = Surplus(None, (*(plain[row].leaves if plain[row] else ()), leaf))
        return references, settle(keys, plain, predictions, findings, count)[1]
    data = predictions.data
    if not isinstance(data, Extended):
        return references, predictions
    n = len(predictions)
    left = {
        path: np.where(outside.get(path, np.zeros(n, np.int64)) > 0, 0, counts) for path, counts in data.counts.items()
    }
    left = {path: counts for path, counts in left.items() if counts.any()}
    for path, counts in left.items():
        first = int(np.flatnonzero(counts)[0])
        example = next((leaf for where, leaf in data.shown[first].leaves if where == path), None)
        findings.note_unknown(keys[first], path, example, int(counts.sum()))
    if not left or not count:
        return references, Rows(data.values)
    return references, Rows(Extended(data.values, left, data.shown))


# Two files of which one or both are Arrow's, laid against each other in batches of columns.
#
# Rows stay columns as long as a file's columns are what the shape asks for. Where they are not (text where a number should
# be, a null where none may be), the batch goes the way of JSON, row by row, so that whatever is wrong with it is told and
# counted as it is there. A file of JSON beside one of Arrow's is read as ever: the engine takes both.


class ArrowPairing(Pairing):
    """Two files laid together, with columns where there are columns."""

    def open(self, side: Side) -> Reader:
        if not isinstance(side.lines, ArrowLines) or side.text_field is not None:
            return Reader(side)
        alone = not all(isinstance(one.lines, ArrowLines) for one in (self.reference, self.predicted))
        reader = ColumnReader(side, plain=alone and side.type is None)
        if reader.reason and reader.reason not in self.remarks:
            self.remarks.append(reader.reason)
        return reader

    def _first_id(self, side: Side) -> Any:
        if not isinstance(side.lines, ArrowLines) or side.text_field is not None:
            return super()._first_id(side)
        if side.id_field not in side.lines.schema.names and side.lines.has_rows:
            return None
        for batch in side.lines.batches([side.id_field], 1):
            if batch.num_rows:
                return _ids(batch, side.id_field)[0]
        raise InputError("has no rows", side.lines.file)

    def _note_invalid(self, keys: list[Any], predictions: Sequence[Any]) -> None:
        if not isinstance(predictions, Rows):
            super()._note_invalid(keys, predictions)
        elif not self.told_apart and isinstance(data := split_surplus(predictions.data)[0], Nullable):
            for place in np.flatnonzero(data.position < 0).tolist():
                self.predicted.findings.add_invalid(keys[place], NO_PREDICTION.reason)

    def _ids_of(self, side: Side, wanted: Collection[Any], number: bool = False) -> Iterator[tuple[int, Any]]:
        if not isinstance(side.lines, ArrowLines) or side.text_field is not None:
            yield from super()._ids_of(side, wanted, number)
            return
        line = 0
        for batch in side.lines.batches([side.id_field]) if wanted else ():
            for key in _ids(batch, side.id_field):
                line += 1
                if (hash(key) % (1 << 64) if number else key) in wanted:
                    yield line, key

    def _indexed(self, left: Reader, right: Reader, first: Repeats, ours: Any, theirs: Any) -> Iterator[Batch]:
        """The orders differ from here on: the predictions that are left are held in memory, as columns."""
        if not isinstance(right, ColumnReader):
            yield from super()._indexed(left, right, first, ours, theirs)
            return
        rest = right.everything()
        seen: dict[Any, int] = {}
        others = _ids(rest, self.predicted.id_field)
        self._check(self.predicted, list(range(right.first + 1, right.first + len(others) + 1)), others, seen)
        places = {key: place for place, key in enumerate(others)}
        missing: list[Any] = []
        keys, references = ours
        while keys:
            rows = [places.pop(key, -1) for key in keys]
            lost = [key for key, row in zip(keys, rows, strict=True) if row < 0]
            missing += lost
            if self.filled or not missing:
                found = right.values_at(rest, rows)
                self._note_invalid(keys, found)
                yield Batch(keys, references, found)
            numbers, keys, references = left.take()
            self._check(self.reference, numbers, keys)
            first.add(keys)
        self._refuse_repeats(first)
        self._settle_absent(missing, list(places), seen)


class ColumnReader(Reader):
    """One side's columns, as many rows at a time as the other side asks for."""

    def __init__(self, side: Side, plain: bool) -> None:
        assert isinstance(side.lines, ArrowLines)
        self.side, self.lines = side, side.lines
        self.reason = ""
        schema = side.lines.schema
        if plain:
            self.reason = f"{side.lines.file} is read row by row as JSON, as the other file is JSON"
        elif side.type is not None:
            where = unfitting(side.type, pa.struct(list(schema)))
            if where is not None:
                self.reason = (
                    f"{side.lines.file} is read row by row as JSON: {where} is not of the kind that is expected"
                )
        self.missing = side.tolerant and side.credit == "each"
        self.columns = self._wanted(schema.names)
        self.source = side.lines.batches(self.columns)
        self.waiting: list[Any] = []
        self.done = 0
        self.first = 0
        """How many rows stand before those that `everything` gave."""

    def _wanted(self, names: list[str]) -> list[str] | None:
        """The columns that the type knows, and the id; None: all."""
        fields = None if self.side.type is None else record_fields(self.side.type)
        self.known = names if fields is None else [name for name in names if name in fields]
        if self.side.unknown is not None:
            return None
        if fields is None:
            return None
        found = [name for name in names if name in fields or name == self.side.id_field]
        return found or None

    def take(self, count: int | None = None) -> tuple[list[int], list[Any], Sequence[Any]]:
        before, batch = self.done, self._rows(count)
        if batch is None:
            return [], [], []
        self.done += batch.num_rows
        self.first, self._last = before, batch
        numbers = list(range(before + 1, self.done + 1))
        return numbers, _ids(batch, self.side.id_field), self.values(batch, numbers)

    def _rows(self, count: int | None) -> Any:
        parts: list[Any] = []
        room = count
        while room is None or room > 0:
            batch = self.waiting.pop() if self.waiting else next((one for one in self.source if one.num_rows), None)
            if batch is None:
                break
            if room is not None and batch.num_rows > room:
                self.waiting.append(batch.slice(room))
                batch = batch.slice(0, room)
            parts.append(batch)
            if room is None:
                break
            room -= batch.num_rows
        return pa.concat_batches(parts) if len(parts) > 1 else parts[0] if parts else None

    def count(self) -> int:
        left = sum(int(batch.num_rows) for batch in (*self.waiting, *self.source))
        self.waiting = []
        return left

    def everything(self) -> Any:
        """The rows that were taken last and all that come after them, as one batch."""
        parts = [self._last] if self.done > self.first else []
        parts += [*self.waiting, *self.source]
        self.waiting, self.source = [], iter(())
        return pa.concat_batches(parts) if len(parts) > 1 else parts[0]

    def values_at(self, rest: Any, rows: list[int]) -> Sequence[Any]:
        """Some of the rows of `everything`, in another order; where a row is -1 there is no prediction."""
        places = np.array(rows, np.int64)
        here = places >= 0
        numbers = (self.first + 1 + places[here]).tolist()
        found = self.values(rest.take(pa.array(places[here])), numbers)
        if here.all():
            return found
        if isinstance(found, Rows):
            return Rows(_spread(found.data, here))
        known = iter(found)
        return [next(known) if there else NO_PREDICTION for there in here.tolist()]

    def values(self, batch: Any, numbers: list[int]) -> Sequence[Any]:
        """The rows as columns if they are what is expected, else one by one as JSON."""
        side = self.side
        if not self.reason:
            try:
                data = from_arrow(batch.select(self.known) if len(self.known) < len(batch.schema) else batch)
            except ValueMismatch as error:
                raise InputError(str(error), side.lines.file) from None
            if side.type is None or not has_gaps(side.type, data, self.missing):
                counts = unknown_counts(batch, side.unknown) if side.unknown is not None else {}
                if not counts:
                    return Rows(data)
                assert side.unknown is not None
                return Rows(Extended(data, counts, Shown(batch, side.unknown, range(batch.num_rows))))
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
    assert isinstance(shown, Shown)
    rows = np.where(here, np.cumsum(here) - 1, -1).tolist()
    return Extended(nullable(here, data.values), counts, Shown(shown.batch, shown.unknown, rows))


def _ids(batch: Any, name: str) -> list[Any]:
    """The ids of some rows: text or whole numbers, None where there is none. Dates and times are the text that they are in JSON,
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
        keys = msgspec.json.decode(msgspec.json.Encoder(decimal_format="number").encode(column.to_pylist()))
    else:
        keys = column.to_pylist()
    return [key if type(key) in (str, int) else None for key in keys]
