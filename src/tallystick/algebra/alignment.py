"""Following the score downwards: which rows are aligned at every level, and what each path earned or lost.

The engine works bottom up; this goes top down, over all documents at once. Two columns come with pairs of rows
(i, j) that are aligned. A sum of fields passes the pairs on to its fields; a matching turns each aligned pair of
owners into the pairs of items that it matched, the same ones that the score is the sum of. Each node knows its own
next step (`Similarity._below`).

Below a product the figures are a diagnostic, marked as such: items that found no partner are paired with each
other by the sum of their fields, so that one can see which field kept them apart. Below a nested normaliser, a
threshold, or a matching in which items count several times they are one too: they do not add up to the score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tallystick.engine.arrays import F64, I64, Blocks, Column, Maybe, Pairs, Shared, unshared
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.algebra.node import Similarity


@frozen(eq=False)
class Aligned:
    """The rows of both sides at one path, and which of them are aligned with which."""

    path: str
    node: Similarity
    reference: Column
    predicted: Column
    i: I64
    j: I64
    diagnostic: bool = False
    leftovers: bool = True
    scale: float = 1.0
    homes: tuple[I64, I64] | None = None
    """The document of each row of both sides, if somebody asked for it."""
    places: tuple[I64 | None, I64 | None] = (None, None)
    """Of items: where each stood in its owner's collection, on a side where some were left out."""

    def as_diagnostic(self, node: Similarity, reference: Column, predicted: Column) -> Aligned:
        """The same rows under a node whose weights do not simply add up to what stands above."""
        return replace(self.at(node, reference, predicted), diagnostic=True)

    def at(self, node: Similarity, reference: Column, predicted: Column) -> Aligned:
        """The same rows and path under another node."""
        return replace(self, node=node, reference=reference, predicted=predicted)

    def inside(self, node: Similarity) -> Aligned:
        """The same rows, columns and path under another node."""
        return replace(self, node=node)

    def present(self) -> Aligned:
        """Where something may be missing, only what is there on both sides is aligned."""
        r, p = self.reference, self.predicted
        if not isinstance(r, Maybe) and not isinstance(p, Maybe):
            return self
        left = r.position if isinstance(r, Maybe) else np.arange(len(r))
        right = p.position if isinstance(p, Maybe) else np.arange(len(p))
        both = (left[self.i] >= 0) & (right[self.j] >= 0)
        return replace(
            self,
            reference=r.present if isinstance(r, Maybe) else r,
            predicted=p.present if isinstance(p, Maybe) else p,
            i=left[self.i[both]],
            j=right[self.j[both]],
            homes=self.homes
            and (
                self.homes[0][r.rows] if isinstance(r, Maybe) else self.homes[0],
                self.homes[1][p.rows] if isinstance(p, Maybe) else self.homes[1],
            ),
        )

    @property
    def is_whole(self) -> bool:
        """Whether every row of both sides has a value, and a partner."""
        sides, rows = (self.reference, self.predicted), (self.i, self.j)
        return all(
            len(some) == len(side) and not isinstance(side, Maybe) for side, some in zip(sides, rows, strict=True)
        )

    @property
    def weights(self) -> F64:
        """φ of each aligned pair."""
        found = self.weighed
        out = np.zeros(len(self.i))
        out[found.i] = found.weight
        return out

    @property
    def weighed(self) -> Pairs:
        """The aligned pairs with φ above 0: pair k is row k of both sides."""
        return self.node.pairs(*self.pairs, Blocks.diagonal(len(self.i)))

    @property
    def pairs(self) -> tuple[Column, Column]:
        """The aligned rows of both sides. Where these are all rows, the columns themselves: they know what was solved."""
        return rows_of(self.reference, self.i), rows_of(self.predicted, self.j)

    def below(self) -> Iterator[Aligned]:
        """The levels directly below: a record's fields, a collection's items, the cases of a union."""
        here = self
        if isinstance(self.reference, Shared) or isinstance(self.predicted, Shared):
            here = self.at(self.node, unshared(self.reference), unshared(self.predicted))
        return here.node._below(here)

    def descend(self) -> Iterator[Aligned]:
        """This level and all below it, in the order of the metric."""
        yield self
        for level in self.below():
            yield from level.descend()

    def leaves(self) -> Iterator[Aligned]:
        """The leaves at and below a level: what a table by field has a row for."""
        if self.node.is_leaf:
            yield self
        else:
            for level in self.below():
                yield from level.leaves()


def rows_of(column: Column, rows: I64) -> Column:
    """Some rows of a column; the column itself if these are all of them, in order."""
    return column if are_all(rows, column) else column.take(rows)


def are_all(rows: I64, column: Column) -> bool:
    """Whether these are the rows of a column, in their order."""
    return len(rows) == len(column) and bool(np.all(rows == np.arange(len(rows))))


def align_documents(
    node: Similarity, r: Column, p: Column, leftovers: bool = True, valid: I64 | None = None, homes: bool = False
) -> Aligned:
    """The documents: row k against row k, or, if some predictions are invalid, row valid[k] against row k."""
    rows = np.arange(len(p), dtype=np.int64)
    i = rows if valid is None else valid
    where = (np.arange(len(r), dtype=np.int64), i) if homes else None
    return Aligned("", node, r, p, i, rows, leftovers=leftovers, homes=where)
