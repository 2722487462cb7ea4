"""Some rows of a column, and a column written out as Python values, whatever its form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick.engine.arrays import I64, expand, offsets_of
from tallystick.engine.data import Bag, Data, Entries, Extended, Index, Leaf, Nullable, Objects, Record


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
