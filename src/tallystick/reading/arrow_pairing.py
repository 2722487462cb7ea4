"""Two files of which one or both are Arrow's, laid against each other in batches of columns.

Rows stay columns as long as a file's columns are what the shape asks for. Where they are not (text where a number should
be, a null where none may be), the batch goes the way of JSON, row by row, so that whatever is wrong with it is told and
counted as it is there. A file of JSON beside one of Arrow's is read as ever: the engine takes both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from tallystick.columns.arrow import from_arrow
from tallystick.columns.data import Data, Nullable, Rows
from tallystick.columns.rows import nullable
from tallystick.columns.surplus import Extended, split_surplus
from tallystick.columns.types import record_fields
from tallystick.errors import InputError, ValueMismatch
from tallystick.reading.arrow_files import ArrowLines, json_lines
from tallystick.reading.arrow_shapes import has_gaps, unfitting
from tallystick.reading.arrow_unknown import Shown, unknown_counts
from tallystick.reading.lines import Portion
from tallystick.reading.record_pairs import NO_PREDICTION, Batch, Pairing, Reader
from tallystick.reading.records import Side
from tallystick.reading.repeats import Repeats


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
