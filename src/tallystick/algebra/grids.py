"""Tables as grids of cells, with one alignment of their rows and one of their columns.

    grid(φ)                    Σ of the cells at the crossings of matched rows and columns, both in order; the optimum, or bounds
    grid(φ, factored=True)     the published heuristic of GriTS: rows and columns are aligned apart from each other

GriTS of a kind of cell is `f1(grid(φ))`: of contents φ is a similarity of texts, of positions `box_iou`. A table is a list of rows; rows may
have different lengths, and what a short row lacks is no cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.node import Similarity
from tallystick.algebra.proofs import Limited, Proofs, WatchedItems, bounded_sums
from tallystick.algebra.sets import Matching
from tallystick.engine.arrays import (
    I64,
    Blocks,
    Items,
    Numbered,
    Pairs,
    Sums,
    number_jointly,
    runs,
    sort_order,
)
from tallystick.engine.data import Bag, Data, Objects, Scope, items
from tallystick.engine.orders import Matched
from tallystick.engine.trees import match_grids
from tallystick.engine.values import REFUSED, Refusals, Unfit
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

_NOTHING = np.empty(0, np.int64)


@frozen(eq=False)
class Tables(WatchedItems):
    """Collections of cells that know their row and column."""

    row: I64 = field(default_factory=lambda: _NOTHING)
    column: I64 = field(default_factory=lambda: _NOTHING)
    in_order = True

    def take(self, rows: I64) -> Tables:
        cells, _ = self.item_rows(rows)
        taken = super().take(rows)
        assert isinstance(taken, Tables)
        return replace(taken, row=self.row[cells], column=self.column[cells])

    def number_rows(self) -> Numbered:
        places = [(part, int(part.max(initial=0)) + 1) for part in (self.row, self.column)]
        cells = number_jointly([self.items.number_rows(), *places], len(self.row))
        return Items.number_rows(replace(self, items=_Numbered(cells)))  # type: ignore[arg-type]

    def cells_of(self, owner: int) -> tuple[slice, I64, I64]:
        """Where one owner's cells are, with their rows and columns."""
        here = slice(int(self.offsets[owner]), int(self.offsets[owner + 1]))
        return here, self.row[here], self.column[here]


@frozen(eq=False)
class _Numbered:
    """Items that are numbers already."""

    numbers: Numbered

    def number_rows(self) -> Numbered:
        return self.numbers


@frozen
class _Aligning(Matching):
    """The field that stands before the limit."""

    factored: bool = False


@frozen
class Grid(Limited, _Aligning):
    """Σ over the cells of two tables, at the crossings of matched rows and columns."""

    name = "grid"
    drawn = "table"
    says = "cells at the crossings of matched rows and columns"

    def in_words(self) -> tuple[str, ...]:
        return ("table, rows and columns in order",)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        width = rng.randint(1, 3)
        return [[self.inner.sample(rng, depth + 1) for _ in range(width)] for _ in range(rng.randint(1, 3))]

    @property
    def item(self) -> Any:
        return None  # its items are rows, which nothing compares by themselves

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        """Tables as lists of their cells, row by row."""
        ours, theirs = (
            [one if one is None else list(chain.from_iterable(one)) for one in side] for side in (left, right)
        )
        return self, ours, theirs

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        raw = value.value if isinstance(value, Unfit) else value
        if not isinstance(raw, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in raw):
            return refusals.refuse(value, path)
        return [[self._cell(cell, f"{path}[*][*]", refusals) for cell in row] for row in raw]

    def _cell(self, cell: Any, path: str, refusals: Refusals) -> Any:
        """A cell that cannot be compared equals nothing, and keeps its place."""
        found = Refusals()
        kept = self.inner.accept(cell, path, found)
        if kept is REFUSED:
            kept, found.leaves = self.inner.void, found.leaves[1:]
        refusals.add(found)
        return kept

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        proofs, opened = Proofs.of(scope), [_open(side, scope) for side in (reference, predicted)]
        r, p = self._encode_bags(opened[0][0], opened[1][0], scope.items().items())
        left, right = (
            Tables(side.offsets, side.items, None, proofs, row, column)
            for side, (_, row, column) in zip((r, p), opened, strict=True)
        )
        return left, right

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        found = list(self._solved(r, p, blocks))
        i, j = (np.array([one[k] for one in found], np.int64) for k in (0, 1))
        lower, upper = (np.array([getattr(one[2], name) for one in found], np.float64) for name in ("lower", "upper"))
        optimal = np.array([one[2].optimal for one in found], np.bool_)
        return bounded_sums(self, r, p, i, j, lower, upper, optimal)

    def matched(self, r: Items, p: Items) -> Pairs:
        parts = [Pairs.none()]
        for i, j, one, table in self._solved(r, p, Blocks.diagonal(len(r))):
            parts.append(Pairs(one.left + r.offsets[i], one.right + p.offsets[j], table[one.left, one.right]))
        return Pairs.joined(parts)

    def _solved(self, r: Any, p: Any, blocks: Blocks) -> Iterator[tuple[int, int, Matched, Any]]:
        """Both owners, the matching of their cells, and what every two cells are worth."""
        found = self.item_pairs(r, p, blocks)
        groups = r.owners[found.i] * len(p) + p.owners[found.j]
        order = sort_order(groups, max(1, len(r) * len(p)))
        for one in runs(order, groups):
            i, j = int(r.owners[found.i[one[0]]]), int(p.owners[found.j[one[0]]])
            (here, *left), (there, *right) = r.cells_of(i), p.cells_of(j)
            table = np.zeros((here.stop - here.start, there.stop - there.start))
            table[found.i[one] - here.start, found.j[one] - there.start] = found.weight[one]
            yield i, j, self._answer(r, table, left, right), table

    def _answer(self, r: Tables, table: Any, left: list[I64], right: list[I64]) -> Matched:
        def solve() -> Matched:
            sizes = [int(part.max(initial=-1)) + 1 for part in (*left, *right)]
            weights = np.zeros(sizes)
            weights[left[0][:, None], left[1][:, None], right[0], right[1]] = table
            one = match_grids(weights, factored=self.factored, limit=self.seconds)[0]
            r.proofs.open += not one.optimal
            places = np.full((sizes[0], sizes[1]), -1), np.full((sizes[2], sizes[3]), -1)
            places[0][left[0], left[1]], places[1][right[0], right[1]] = (
                np.arange(len(left[0])),
                np.arange(len(right[0])),
            )
            return replace(one, left=places[0].ravel()[one.left], right=places[1].ravel()[one.right])

        found = r.proofs.once((self.name, self.factored, self.seconds), (table, *left, *right), solve)
        assert isinstance(found, Matched)
        return found


def _open(data: Data, scope: Scope) -> tuple[Bag, I64, I64]:
    """The cells of all tables one after the other, with the row and the column of each."""
    rows = items(data, scope)
    assert isinstance(rows, Bag)
    cells = items(rows.items, scope.items())
    assert isinstance(cells, Bag)
    if isinstance(rows.items, Objects) and any(isinstance(one, dict) for one in rows.items.values):
        raise ValueMismatch(f"at {scope}: expected a table as a list of rows, found rows that are objects")
    counts = np.diff(cells.offsets)
    row = np.repeat(np.arange(len(counts)) - np.repeat(rows.offsets[:-1], np.diff(rows.offsets)), counts)
    column = np.arange(int(counts.sum())) - np.repeat(cells.offsets[:-1], counts)
    return Bag(cells.offsets[rows.offsets], cells.items), row, column


def grid(inner: Similarity, *, factored: bool = False, limit: float | None = None) -> Grid:
    """Tables, whose rows and columns are both matched in order; `factored` as GriTS does it; `limit` in seconds for each pair.

    >>> ts.f1(ts.grid(ts.exact))([["a", "b"], ["c", "d"]], [["a", "b"]])
    0.6666666666666666
    """
    return Grid(inner, factored, limit)
