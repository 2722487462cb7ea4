"""Every leaf of some documents with its values, both sides: down the same levels that the table by field is made of.

An explanation shows one document as a tree; this has all documents at once, path by path, with the rows that met, those that stand alone, and
the way back from each row to its document and record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents
from tallystick.algebra.node import Node, Similarity
from tallystick.engine.arrays import I64
from tallystick.engine.data import Data, Memory, Scope, as_objects
from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.results.evaluation import readable
from tallystick.results.explanation import places_in, values_below


@frozen
class Trail:
    """Where the rows of one side of a level come from: the row above each, and its place, if it is an item of a list."""

    step: str
    homes: I64
    places: I64 | None = None
    above: Trail | None = None
    met: I64 | None = None
    """Which row of the other side each row above met, -1 if none; None of documents."""

    @cached_property
    def documents(self) -> I64:
        """The document of each row."""
        return self.homes if self.above is None else self.above.documents[self.homes]

    @property
    def top(self) -> I64:
        """The documents that this side has."""
        return self.homes if self.above is None else self.above.top

    def lists_of(self, rows: I64) -> tuple[I64, I64, I64]:
        """Which of these rows are items of a list, or are in items that met no other, their list, and which list of the other side it
        met, -1 if none."""
        here, trail, met = rows, self, None
        while trail.above is not None and trail.step != "[*]":
            here, met, trail = trail.homes[here], trail.met, trail.above
        if trail.above is None or trail.met is None:
            return rows[:0], rows[:0], rows[:0]
        free = np.ones(len(rows), np.bool_) if met is None else met[here] < 0
        homes = trail.homes[here[free]]
        return rows[free], homes, trail.met[homes]

    @cached_property
    def records(self) -> I64:
        """The record whose field each row is in: its row there."""
        if self.above is None or not self.step.startswith("<"):
            return self.homes
        return self.above.records[self.homes]


@frozen(eq=False)
class Leaf:
    """All values at one path: of both sides, which met, and which of these are wrong."""

    level: Aligned
    values: tuple[Sequence[Any], Sequence[Any]]
    trails: tuple[Trail, Trail]

    @property
    def path(self) -> str:
        return self.level.path or "(value)"

    @cached_property
    def right(self) -> Any:
        """Which of the aligned pairs are right, as the table by field has it."""
        level = self.level
        own_r, own_p = (level.node.selves(side) for side in (level.reference, level.predicted))
        return level.weights >= np.maximum(own_r[level.i], own_p[level.j]) - 1e-12

    def alone(self, side: int) -> list[int]:
        """The rows of one side that met nothing."""
        free = np.ones(len(self.values[side]), np.bool_)
        free[(self.level.i, self.level.j)[side]] = False
        return np.flatnonzero(free).tolist()  # type: ignore[no-any-return]

    def lists(self, alone: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], list[int]]]:
        """The rows of both sides that met nothing, list by list: plain values, or those in items that met nothing."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for side in (0, 1):
            rows, own, other = self.trails[side].lists_of(np.array(alone[side], np.int64))
            lists = own if side else other
            for row, one in zip(rows.tolist(), lists.tolist(), strict=True):
                if one >= 0:
                    found.setdefault(one, ([], []))[side].append(row)
        yield from (both for both in found.values() if all(both))

    def where(self, i: Sequence[int] | None, j: Sequence[int] | None) -> list[str]:
        """The paths of some pairs, or of rows of one side, with the places of items on both sides."""
        ways = [
            (trail, np.array(rows, np.int64))
            for trail, rows in zip(self.trails, (i, j), strict=True)
            if rows is not None
        ]
        parts: list[Iterable[str]] = []
        count = len(ways[0][1])
        while (above := ways[0][0].above) is not None:
            places = [trail.places[rows].tolist() for trail, rows in ways if trail.places is not None]
            if places:
                parts.append(f"[{a}]" if a == b else f"[{a}→{b}]" for a, b in zip(places[0], places[-1], strict=True))
            else:
                step = ways[0][0].step
                parts.append(repeat(step.removeprefix(".") if above.above is None else step, count))
            ways = [(trail.above, trail.homes[rows]) for trail, rows in ways if trail.above is not None]
        return list(map("".join, zip(*reversed(parts), strict=True))) if parts else ["(value)"] * count


def align(metric: Node, reference: Data, predicted: Data, memory: Memory) -> Aligned:
    """The alignment of some documents."""
    inner = metric.aligned_by
    if inner is None:
        raise MetricError("a metric of two sides has no errors of its own; group those of one of its expressions")
    valid, plain = readable(predicted)
    r, p = inner.encode(reference, plain, Scope(memory=memory))
    return align_documents(inner, r, p, valid=valid, homes=True)


def find_leaves(reference: Data, predicted: Data, top: Aligned) -> list[Leaf]:
    """The leaves of some documents, given their alignment."""
    valid, plain = readable(predicted)
    rows = np.arange(len(reference), dtype=np.int64)
    trails = Trail("", rows), Trail("", rows if valid is None else valid)
    return list(_below(top, (as_objects(reference), as_objects(plain)), trails))


def _below(level: Aligned, values: tuple[Sequence[Any], Sequence[Any]], trails: tuple[Trail, Trail]) -> Iterator[Leaf]:
    if level.node.is_leaf or has_alternatives(level.node):
        yield Leaf(level, values, trails)
        return
    inner, *inside = level.node.inside(*values)
    every = np.arange(len(level.reference), dtype=np.int64), np.arange(len(level.predicted), dtype=np.int64)
    met = np.full(len(level.reference), -1, np.int64), np.full(len(level.predicted), -1, np.int64)
    met[0][level.i], met[1][level.j] = level.j, level.i
    for lower in replace(level, homes=every).below():
        assert lower.homes is not None
        step = lower.path[len(level.path) :]
        below = tuple(
            values_below(step, side, homes, places, inner)
            for side, homes, places in zip(inside, lower.homes, lower.places, strict=True)
        )
        places = [
            None if step != "[*]" else places_in(homes) if some is None else some
            for homes, some in zip(lower.homes, lower.places, strict=True)
        ]
        down = tuple(
            Trail(step, homes, place, trail, pairs)
            for homes, place, trail, pairs in zip(lower.homes, places, trails, met, strict=True)
        )
        yield from _below(lower, below, down)  # type: ignore[arg-type]


def has_alternatives(node: Similarity) -> bool:
    """Whether the reference may hold several right values there."""
    while node.name != "any_of":
        inner = getattr(node, "inner", None)
        if not isinstance(inner, Similarity) or inner is node or not node.core.is_leaf:
            return False
        node = inner
    return True
