"""Some rows of a column, and a column written out as Python values, whatever its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick.engine.arrays import I64, expand, offsets_of
from tallystick.engine.data import Bag, Data, Entries, Index, Leaf, Nullable, Objects, Record
from tallystick.frozen import frozen


def take(data: Data, rows: I64) -> Data:
    """These rows, in this order."""
    if isinstance(data, Objects):
        return Objects([data.values[k] for k in rows.tolist()])
    if isinstance(data, np.ndarray):
        return data[rows]
    if isinstance(data, Leaf):
        return data.take(rows)
    if isinstance(data, Index):
        return Index(data.index[rows], data.values)
    if isinstance(data, Record):
        return type(data)({name: take(column, rows) for name, column in data.fields.items()}, len(rows))
    if isinstance(data, Bag):
        counts = data.offsets[rows + 1] - data.offsets[rows]
        return Bag(offsets_of(counts), take(data.items, expand(data.offsets[rows], counts)))
    assert isinstance(data, Nullable)
    position = data.position[rows]
    here = position >= 0
    return nullable(here, take(data.present, position[here]))


def sliced(data: Data, start: int, stop: int) -> Data:
    """The rows from `start` to `stop`."""
    stop = min(stop, len(data))
    if isinstance(data, Extended):
        return data.part(start, stop, sliced(data.values, start, stop))
    if isinstance(data, Objects):
        return Objects(data.values[start:stop])
    if isinstance(data, np.ndarray):
        return data[start:stop]
    if isinstance(data, Leaf):
        return data.part(start, stop)
    if isinstance(data, Index):
        return Index(data.index[start:stop], data.values)
    if isinstance(data, Record):
        columns = {name: sliced(column, start, stop) for name, column in data.fields.items()}
        return type(data)(columns, stop - start)
    if isinstance(data, Bag):
        offsets = data.offsets[start : stop + 1]
        return Bag(offsets - offsets[0], sliced(data.items, int(offsets[0]), int(offsets[-1])))
    here = data.position >= 0
    first, last = (int(here[:end].sum()) for end in (start, stop))
    return nullable(here[start:stop], sliced(data.present, first, last))


def nullable(here: Any, present: Data) -> Data:
    """A column of which only some rows are there; the column itself if all are."""
    if here.all():
        return present
    return Nullable(np.where(here, np.cumsum(here) - 1, -1), present)


def separable(data: Data) -> bool:
    """Whether a column can be scored in parts at no loss: nothing in it is shared by many rows."""
    if isinstance(data, Record):
        return all(map(separable, data.fields.values()))
    if isinstance(data, Bag):
        return separable(data.items)
    if isinstance(data, Nullable):
        return separable(data.present)
    if isinstance(data, Extended):
        return separable(data.values)
    return isinstance(data, (Objects, Leaf))


def longest_lists(data: Data) -> float:
    """The mean length of the longest lists in the rows of a column: it says how large their rectangles are."""
    if isinstance(data, Record):
        return max(map(longest_lists, data.fields.values()), default=0.0)
    if isinstance(data, Extended):
        return longest_lists(data.values)
    if isinstance(data, Bag):
        return len(data.items) / max(1, int(np.count_nonzero(np.diff(data.offsets))))
    return longest_lists(data.present) if isinstance(data, Nullable) else 0.0


def as_objects(data: Data) -> Sequence[Any]:
    """The values as Python has them: records as dicts, collections as lists, entries as the dict that they are of."""
    if isinstance(data, Objects):
        return data.values
    if isinstance(data, np.ndarray):
        return data.tolist()  # type: ignore[no-any-return]
    if isinstance(data, (Leaf, Extended)):
        return data.to_list()
    if isinstance(data, Index):
        inner = as_objects(data.values)
        return [inner[k] for k in data.index.tolist()]
    if isinstance(data, Record):
        columns = [as_objects(column) for column in data.fields.values()]
        names = list(data.fields)
        if not columns:
            return [{} for _ in range(len(data))]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(data, Bag):
        ends = data.offsets.tolist()
        if isinstance(data.items, Entries):
            keys, values = (as_objects(data.items.fields[name]) for name in ("key", "value"))
            return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]
        inside = as_objects(data.items)
        return [list(inside[a:b]) for a, b in pairwise(ends)]
    present = as_objects(data.present)
    return [None if k < 0 else present[k] for k in data.position.tolist()]


# Documents with values that no field of the metric could ever meet, and how many: what precision has to pay for.
#
# Such a value is `Surplus` around a Python value, or `Extended` around a column of documents.


@frozen(eq=False)
class Extended:
    """A column of documents, and by path how many leaves beyond it each row has; `shown` are the rows for a person."""

    values: Data
    counts: Mapping[str, I64]
    shown: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int, values: Data) -> Extended:
        return Extended(values, {path: one[start:stop] for path, one in self.counts.items()}, self.shown[start:stop])

    def to_list(self) -> list[Any]:
        """The documents as Python has them, with what counts."""
        out = []
        for row, value in enumerate(self.shown):
            if isinstance(value, Surplus):
                kept = tuple(leaf for leaf in value.leaves if leaf[0] in self.counts and self.counts[leaf[0]][row])
                value = Surplus(value.value, kept) if kept else value.value
            out.append(value)
        return out


def split_surplus(data: Data) -> tuple[Data, dict[str, I64]]:
    """The documents without what is surplus, and by path how many leaves of it each of them has."""
    if isinstance(data, Extended):
        return data.values, dict(data.counts)
    if not isinstance(data, Objects) or Surplus not in set(map(type, data.values)):
        return data, {}
    counts: dict[str, I64] = {}
    plain = list(data.values)
    for row, value in enumerate(data.values):
        if type(value) is Surplus:
            plain[row] = value.value
            for path, _ in value.leaves:
                counts.setdefault(path, np.zeros(len(plain), np.int64))[row] += 1
    return Objects(plain), counts


# What stands where a prediction has a value of the wrong kind, if the reader was asked to go on.
#
# It equals nothing, so that it counts as a wrong value: neither as a missing one nor as the end of the evaluation.


@frozen
class Unfit:
    """A predicted value that is not of the kind that its place asks for."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))

    def __float__(self) -> float:
        return float("inf")  # near to no number that JSON can hold


@frozen
class Invalid:
    """A whole prediction that cannot be read: it scores nothing, and is listed."""

    reason: str
    text: str = ""


@frozen
class Surplus:
    """A prediction that has values under keys that its shape does not know: each leaf with the path of its key."""

    value: Any
    leaves: tuple[tuple[str, Any], ...]


class _Absent:
    """A key that is not there, where that is not the same as null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
