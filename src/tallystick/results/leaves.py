"""Every leaf of some documents with its values, both sides: down the same levels that the table by field is made of.

An explanation shows one document as a tree; this has all documents at once, path by path, with the rows that met, those that stand alone, and
the way back from each row to its document and record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any
from weakref import ref

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents, are_all
from tallystick.algebra.node import Node, Similarity
from tallystick.engine.arrays import F64, I64, Pairs, expand
from tallystick.engine.data import Data, Memory, Scope, as_objects
from tallystick.engine.values import Invalid, Surplus
from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.results.evaluation import readable
from tallystick.results.explanation import (
    Explained,
    Explanation,
    Level,
    explain_together,
    lay_out,
    places_in,
    values_below,
)


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
class _Known(Aligned):
    """An alignment that is looked at several times, and all below it."""

    @cached_property
    def weights(self) -> F64:
        return super().weights

    @cached_property
    def weighed(self) -> Pairs:
        return super().weighed


@frozen(eq=False)
class Layer:
    """All rows at one path: the values of both sides, which met, which of these are wrong, and what lies below. Whatever is asked for
    is found once: the table by field, the errors and the alignments of a report go down the same way."""

    level: Aligned
    """Its homes are the rows above."""
    step: str = ""
    upper: ref[Layer] | None = None
    """The one above, which holds this one: without a cycle all are let go with the top."""
    documents: tuple[Data, Data] | None = None
    """What the top is made of."""

    @classmethod
    def of(cls, reference: Data, predicted: Data, top: Aligned) -> Layer:
        """The top of some documents, given their alignment."""
        return cls(_Known(**vars(top)), documents=(reference, predicted))

    @property
    def path(self) -> str:
        return self.level.path or "(value)"

    @property
    def above(self) -> Layer | None:
        """The layer above; its top has to be at hand as long as somebody asks."""
        above = None if self.upper is None else self.upper()
        assert (above is None) == (self.upper is None)
        return above

    @cached_property
    def values(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The Python values of both sides."""
        above = self.above
        if above is None:
            assert self.documents is not None
            return as_objects(self.documents[0]), as_objects(readable(self.documents[1])[1])
        assert self.level.homes is not None
        inner, *inside = above._inside
        left, right = (
            values_below(self.step, side, homes, places, inner)
            for side, homes, places in zip(inside, self.level.homes, self.level.places, strict=True)
        )
        return left, right

    @cached_property
    def _inside(self) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        return self.level.node.inside(*self.values)

    @cached_property
    def trails(self) -> tuple[Trail, Trail]:
        """Where the rows of both sides come from."""
        homes, above = self.level.homes, self.above
        assert homes is not None
        if above is None:
            return Trail("", homes[0]), Trail("", homes[1])
        sides = zip(homes, self.places, above.trails, above.met, strict=True)
        left, right = (Trail(self.step, home, place, trail, met) for home, place, trail, met in sides)
        return left, right

    @cached_property
    def places(self) -> tuple[I64 | None, I64 | None]:
        """Of items where each is in its list."""
        if self.step != "[*]":
            return None, None
        assert self.level.homes is not None
        left, right = (
            places_in(homes) if some is None else some
            for homes, some in zip(self.level.homes, self.level.places, strict=True)
        )
        return left, right

    @cached_property
    def met(self) -> tuple[I64, I64]:
        """Which row of the other side each row met, -1 if none."""
        level = self.level
        met = np.full(len(level.reference), -1, np.int64), np.full(len(level.predicted), -1, np.int64)
        met[0][level.i], met[1][level.j] = level.j, level.i
        return met

    @cached_property
    def below(self) -> tuple[Layer, ...]:
        """What lies directly below."""
        level = self.level
        if level.node.is_leaf:
            return ()
        every = np.arange(len(level.reference), dtype=np.int64), np.arange(len(level.predicted), dtype=np.int64)
        lower = replace(level, homes=every).below()
        return tuple(Layer(one, one.path[len(level.path) :], ref(self)) for one in lower)

    def leaves(self) -> Iterator[Layer]:
        """The leaves at and below, in the order of the metric."""
        if self.level.node.is_leaf:
            yield self
        for lower in self.below:
            yield from lower.leaves()

    def wholes(self) -> Iterator[Layer]:
        """The same, where several right values are one whole."""
        if self.level.node.is_leaf or has_alternatives(self.level.node):
            yield self
            return
        for lower in self.below:
            yield from lower.wholes()

    @cached_property
    def selves(self) -> tuple[F64, F64]:
        """What the rows of both sides are worth by themselves."""
        level = self.level
        return level.node.selves(level.reference), level.node.selves(level.predicted)

    @cached_property
    def right(self) -> Any:
        """Which of the aligned pairs are right, as the table by field has it."""
        level = self.level
        own_r, own_p = self.selves
        return level.weights >= np.maximum(own_r[level.i], own_p[level.j]) - 1e-12

    # What an explanation shows of some of the documents

    def settle(self) -> Layer:
        """Weigh what only a solution knows, and let it go: it has a table for each document."""
        for layer in (self, *self.below):
            if layer._has_all:
                _ = layer.level.weights
            layer.level.reference.__dict__.pop("_solved", None)
        return self

    @cached_property
    def _has_all(self) -> bool:
        """Whether its pairs are all of its rows, in order."""
        return are_all(self.level.i, self.level.reference) and are_all(self.level.j, self.level.predicted)

    @cached_property
    def explains(self) -> bool:
        """Whether its pairs are those of an explanation, here and below: each row is in one pair, no rows are paired for a diagnostic
        only, and rows are in the order of the rows above."""
        level = self.level
        homes = () if level.homes is None else level.homes
        return (
            all(int((met >= 0).sum()) == len(level.i) for met in self.met)
            and all(bool((home[1:] >= home[:-1]).all()) for home in homes)
            and all(one.softened is None for one in level.node.walk() if isinstance(one, Similarity))
            and all(lower.explains for lower in self.below)
        )

    @cached_property
    def empty(self) -> set[int]:
        """The documents in which something is empty on one side, and nothing at all on the other."""
        sides = self.level.node.one_sided(self.level)
        return {row for _, *rows in sides for some in rows for row in some.tolist()}

    @cached_property
    def _pair_of(self) -> I64:
        """The pair of each row of the reference, -1 if it met nothing."""
        found = np.full(len(self.level.reference), -1, np.int64)
        found[self.level.i] = np.arange(len(self.level.i))
        return found

    def explained(self, documents: Sequence[int]) -> Level:
        """The alignments of some documents, none of which is invalid."""
        pairs = self._pair_of[np.array(documents, np.int64)]
        none = np.zeros(0, np.int64)
        return self._chosen("document", pairs, (none, none), (np.arange(len(pairs)), none, none))

    def _chosen(self, name: str, pairs: I64, alone: tuple[I64, I64], homes: tuple[I64, I64, I64]) -> Level:
        """Some pairs and some rows without a partner, with everything below."""
        level, places = self.level, None
        i, j = level.i[pairs], level.j[pairs]
        if level.node.is_leaf or self._has_all:
            weights = level.weights[pairs]
        else:
            weights = level.node.one_to_one_weights(level.reference.take(i), level.predicted.take(j))
        if self.places[0] is not None and self.places[1] is not None:
            places = self.places[0], self.places[1]
        found = lay_out(name, level.node, self.values, (i, j), alone, weights, self.selves, homes, places)
        return replace(found, below=tuple(lower._chosen_below(i, j) for lower in self.below)) if len(pairs) else found

    def _chosen_below(self, i: I64, j: I64) -> Level:
        """What is below some pairs of rows above."""
        assert self.level.homes is not None
        (rows, of_row), (columns, of_column) = (
            _rows_at(homes, above) for homes, above in zip(self.level.homes, (i, j), strict=True)
        )
        pairs = self._pair_of[rows]
        met, free = pairs >= 0, self.met[1][columns] < 0
        homes = of_row[met], of_row[~met], of_column[free]
        name = "" if self.step == "[*]" else self.step.removeprefix(".")
        return self._chosen(name, pairs[met], (rows[~met], columns[free]), homes)

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


def align(metric: Node, reference: Data, predicted: Data, memory: Memory) -> Layer:
    """The alignment of some documents."""
    inner = metric.aligned_by
    if inner is None:
        raise MetricError("a metric of two sides has no errors of its own; group those of one of its expressions")
    valid, plain = readable(predicted)
    r, p = inner.encode(reference, plain, Scope(memory=memory))
    return Layer.of(reference, predicted, align_documents(inner, r, p, valid=valid, homes=True))


def _rows_at(homes: I64, above: I64) -> tuple[I64, I64]:
    """The rows below some rows, one after the other, and which of these each is below."""
    first, last = (np.searchsorted(homes, above, side) for side in ("left", "right"))
    counts = last - first
    return expand(first, counts), np.repeat(np.arange(len(above)), counts)


def explain_aligned(
    metric: Node, references: Sequence[Any], predictions: Sequence[Any], places: Sequence[tuple[Layer, int] | None]
) -> Explained:
    """As `explain_together`: what was aligned is read off its layers. `places` says where each document is among these."""
    chosen: dict[Layer, list[tuple[int, int]]] = {}
    rest = []
    for k, (at, predicted) in enumerate(zip(places, predictions, strict=True)):
        if at is None or isinstance(predicted, (Invalid, Surplus)) or not at[0].explains or at[1] in at[0].empty:
            rest.append(k)
        else:
            chosen.setdefault(at[0], []).append((k, at[1]))
    levels = [layer.explained([row for _, row in some]) for layer, some in chosen.items()]
    if len(rest) > len(references) / 2 or len({one.shape() for one in levels}) != 1:
        return explain_together(metric, references, predictions)
    others: dict[int, Explanation] = {}
    if rest:
        found = explain_together(metric, [references[k] for k in rest], [predictions[k] for k in rest])
        others = dict(zip(rest, found.trees(), strict=True))
    rows = {k: row for row, (k, _) in enumerate(chain.from_iterable(chosen.values()))}
    return Explained(Level.joined(levels, [0] * len(levels)), rows, others)


def has_alternatives(node: Similarity) -> bool:
    """Whether the reference may hold several right values there."""
    while node.name != "any_of":
        inner = getattr(node, "inner", None)
        if not isinstance(inner, Similarity) or inner is node or not node.core.is_leaf:
            return False
        node = inner
    return True
