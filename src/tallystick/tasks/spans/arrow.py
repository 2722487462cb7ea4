"""Spans of tokens from two Parquet or Arrow files, as columns from end to end.

    id: string    tokens: list<string>    spans: list<struct<start: int64, end: int64, label: string>>

Only what is in order goes this way: both files in one order of ids, every span inside its text and in one piece.
Anything else is left to the reader of rows, which takes more and says what is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.engine.arrow import from_arrow
from tallystick.engine.data import Bag, Leaf, Record
from tallystick.errors import ValueMismatch
from tallystick.files.lines import ArrowLines
from tallystick.files.source import AnySource
from tallystick.tasks.spans.segments import AnnotatedTexts, IntArray, Segments


def spans_of_columns(reference: AnySource, predicted: AnySource, field: str) -> AnnotatedTexts | None:
    """Both sides' spans, or None if some of them are not as plain as that."""
    sides = []
    for name in (reference, predicted):
        file = ArrowLines(name)
        chosen = [column for column in file.schema.names if column in ("id", "tokens", field)]
        sides.append(
            pa.Table.from_batches(list(file.batches(chosen)), pa.schema([file.schema.field(c) for c in chosen]))
        )
    left, right = sides
    if any(field not in side.column_names for side in sides) or left.num_rows != right.num_rows:
        return None
    names = _same_ids(left, right)
    known = _tokens(left, right)
    if names is None or known is None:
        return None
    lengths = known[0]
    bags = [_spans(side.column(field)) for side in sides]
    if bags[0] is None or bags[1] is None:
        return None
    labels = [bag.label for bag in bags if bag is not None]
    joint = labels[0].jointly(labels[1])
    if joint is None:
        return None
    texts = sorted({value for leaf in labels for value in leaf.different()[1]})
    number = {text: code for code, text in enumerate(texts)}
    segments = []
    for bag, leaf in zip(bags, labels, strict=True):
        assert bag is not None
        codes, values = leaf.different()
        tags = np.array([number[value] for value in values], np.int64)[codes]
        limit = np.iinfo(np.int64).max if lengths is None else lengths[bag.text]
        if np.any((bag.start < 0) | (bag.end <= bag.start) | (bag.end > limit)):
            return None
        segments.append(Segments(bag.text, bag.start, bag.end, tags))
    return AnnotatedTexts(segments[0], segments[1], lengths, tuple(texts), left.num_rows, names)


class _Bag:
    """The spans of one side in parallel columns."""

    def __init__(self, text: IntArray, start: IntArray, end: IntArray, label: Leaf) -> None:
        self.text, self.start, self.end, self.label = text, start, end, label


def _spans(column: Any) -> _Bag | None:
    try:
        bag = from_arrow(column)
    except ValueMismatch:
        return None
    if not isinstance(bag, Bag) or not isinstance(bag.items, Record):
        return None
    fields = dict(bag.items.fields)
    label = next((fields[name] for name in ("label", "type", "tag") if name in fields), None)
    ends = [_whole(fields.get(name)) for name in ("start", "end")]
    if not isinstance(label, Leaf) or ends[0] is None or ends[1] is None or "pieces" in fields:
        return None
    text = np.repeat(np.arange(len(bag), dtype=np.int64), np.diff(bag.offsets))
    return _Bag(text, ends[0], ends[1], label)


def _whole(data: Any) -> IntArray | None:
    values = getattr(data, "values", None)
    if not isinstance(data, Leaf) or values is None or not pa.types.is_integer(values.type):
        return None
    found = data.numbers()
    return None if found is None else found.astype(np.int64)


def _same_ids(left: Any, right: Any) -> tuple[str, ...] | None:
    """The names of the texts, if both files have them in one order."""
    if any("id" not in side.column_names or side.column("id").null_count for side in (left, right)):
        return (
            tuple(str(k) for k in range(left.num_rows))
            if "id" not in (*left.column_names, *right.column_names)
            else None
        )
    ids, others = (_decoded(side.column("id")) for side in (left, right))
    if ids.type != others.type or not pc.all(pc.equal(ids, others), min_count=0).as_py():
        return None
    names = tuple(map(str, ids.to_pylist()))
    return names if len(set(names)) == len(names) else None


def _decoded(column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _tokens(left: Any, right: Any) -> tuple[IntArray | None] | None:
    """How many tokens each text has (in a tuple; None where nobody says), or None if the two files do not agree."""
    found = [side.column("tokens").combine_chunks() for side in (left, right) if "tokens" in side.column_names]
    if not found:
        return (None,)
    if any(one.null_count for one in found):
        return None
    lengths = [pc.list_value_length(one).to_numpy(zero_copy_only=False).astype(np.int64) for one in found]
    if len(found) == 2:
        flat = [one.flatten() for one in found]
        if not np.array_equal(*lengths) or not flat[0].equals(flat[1]):
            return None
    return (lengths[0],)
