"""Edit distances are matchings.

Turning x into y costs 1 for every item that is deleted or inserted, and 1 - φ for every item that is replaced by another. The items
that are kept or replaced are pairs of a matching in order, so with n and m items

    d(x, y) = n + m - 2 Σ,      Σ = the best Σ (1 + φ) / 2 over matchings in order

    replaceable(φ)    (1 + φ) / 2: any item may stand for any other, at half its price
    edit(φ)           sequence(replaceable(φ)): Levenshtein's distance
    tree_edit(φ)      tree(replaceable(φ)): the tree edit distance of Zhang and Shasha
    edit_ratio(Σ)     1 - d / max(n, m), as TEDS and normalised edit similarities have it

Alignments, bounds and fields are those of every other matching.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.algebra.node import Around, Similarity
from tallystick.algebra.normalise import Normaliser
from tallystick.algebra.ordered import OrderedTree, Sequence
from tallystick.algebra.plain import Plain
from tallystick.engine.arrays import F64, Blocks, Frame, Pairs
from tallystick.frozen import frozen


@frozen
class Replaceable(Around):
    """(s + φ) / 2, where s is the smaller self-score: what may be replaced by anything, at half its price."""

    inner: Similarity
    name = "replaceable"
    says = "anything may stand for it, at half its price"
    also = ("edit", "tree_edit")

    @property
    def dense(self) -> bool:
        return True

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return blocks.frame.pairs(self.fill(r, p, blocks.frame))

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        whole: F64 = np.minimum(frame.by_row(self.inner.selves(r)), frame.by_column(self.inner.selves(p)))
        if self.inner.dense:
            whole += self.inner.fill(r, p, frame)
            whole /= 2
            return whole
        columns = np.empty(len(p), np.int64)
        columns[frame.column_order] = np.repeat(np.arange(len(frame.column_counts)), frame.column_counts)
        found = self.inner.pairs(r, p, Blocks(frame.block_of_row, columns, max(1, len(frame.row_counts))))
        whole[frame.cells(found.i, found.j)] += found.weight
        whole /= 2
        return whole

    def _selves(self, column: Any) -> F64:
        return self.inner.selves(column)

    def plain(self) -> Plain | None:
        inner = self.inner.plain()
        if inner is None:
            return None
        weigh, (left, right) = inner.weigh, inner.own
        return Plain(inner.see, lambda a, b: (min(left(a), right(b)) + weigh(a, b)) / 2, inner.own)


@frozen
class EditRatio(Normaliser):
    """1 - (Σ(R,R) + Σ(P,P) - 2 Σ(P,R)) / max(Σ(R,R), Σ(P,P)): the share of the longer side that need not be edited."""

    name = "edit_ratio"
    says = "what need not be edited, of the longer side"

    @property
    def headline(self) -> tuple[str, float]:
        return "f1", 1.0

    @property
    def summed(self) -> Similarity:
        return self

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        return num_r / den_r  # the tally is of ratios, whose self-scores are 1

    def figure(self, num_r: Any, num_p: Any, den_r: Any, den_p: Any) -> Any:
        return np.maximum(0, 1 - (den_r + den_p - num_r - num_p) / np.maximum(den_r, den_p))


def edit(inner: Similarity, *, limit: float | None = None) -> Sequence:
    """Sequences compared by their edit distance, in which an item may be replaced at the price of 1 - φ; `limit` as in `sequence`.

    >>> ts.edit_ratio(ts.edit(ts.exact))(["a", "b"], ["a", "c"])
    0.5
    """
    return Sequence(Replaceable(inner), limit)


def tree_edit(inner: Similarity, *, limit: float | None = None) -> OrderedTree:
    """Ordered trees compared by their edit distance, in which a node may be replaced at the price of 1 - φ.

    >>> tree = {"label": "a", "children": [{"label": "b", "children": []}]}
    >>> ts.edit_ratio(ts.tree_edit(ts.exact))(tree, {"label": "a", "children": []})
    0.5
    """
    return OrderedTree(Replaceable(inner), limit)


def edit_ratio(inner: Similarity) -> EditRatio:
    """The share of the longer side that need not be edited.

    >>> ts.edit_ratio(ts.edit(ts.exact))(["a", "b"], ["a", "c"])
    0.5
    """
    return EditRatio(inner)


def replaceable(inner: Similarity) -> Replaceable:
    """What may be replaced by anything, at half its price: the items of an edit distance.

    >>> ts.sequence(ts.replaceable(ts.exact))(["a", "b"], ["a", "c"])
    1.5
    """
    return Replaceable(inner)
