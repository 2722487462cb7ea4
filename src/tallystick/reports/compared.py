"""Which parts of a value a metric looks at: of what stands on one side only, these are shown, and no others.

A record may hold more than is compared: an id that pairs the documents, distances and other names that only some metrics
of a task ask for. What was matched shows the compared fields alone, so what was missed does too.
"""

from __future__ import annotations

from typing import Any

from tallystick.matching.sets import Matching
from tallystick.reports.plainly import named_parts
from tallystick.scoring.explanation import WRAPPERS
from tallystick.similarity.cases import Let
from tallystick.similarity.functions import Via
from tallystick.similarity.keyed import Keyed
from tallystick.similarity.node import Similarity
from tallystick.similarity.records import Each, Record

BESIDE = ("trigger",)
"""What says where an item belongs, shown even where it is not compared."""

Part = tuple[str, Any, "Similarity | None"]
"""A part of a record: its name, its value, and what compares it."""


def compared_parts(value: Any, node: Similarity | None) -> list[Part]:
    """The named parts of a value that a metric looks at, in the value's own order; all of them where nobody knows."""
    every: list[Part] = [(key, part, None) for key, part in named_parts(value) if part is not None and part != ()]
    inner, keys, changed = _inside(node)
    if changed or not isinstance(inner, (Each, Record)):
        return every
    known = dict(inner.fields)
    chosen = [(key, part, known.get(key)) for key, part, _ in every if key in known or key in keys or key in BESIDE]
    return chosen if any(key in known for key, _, _ in chosen) else every


def item_node(node: Similarity | None) -> Similarity | None:
    """What compares the items of a list."""
    inner, _, changed = _inside(node)
    return inner.inner if isinstance(inner, Matching) and not changed else None


def _inside(node: Similarity | None) -> tuple[Similarity | None, frozenset[str], bool]:
    """The node below all wrappers, the fields that must be equal for it to be asked, and whether a function changes the
    value on the way, so that its fields are not the value's."""
    keys: frozenset[str] = frozenset()
    while isinstance(node, WRAPPERS):
        if isinstance(node, Via):
            return node, keys, True
        if isinstance(node, Keyed):
            keys |= frozenset(node.by)
        node = node.unrolled if isinstance(node, Let) else node.inner
    return node, keys, False
