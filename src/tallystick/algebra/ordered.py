"""Matching of sequences in the algebra (eq. 37): the heaviest chain of item pairs that rises on both sides.

≤ is reflexive and the condition is an "iff", so all four constraints coincide with 1:1 here. Equal items go to a fast
LCS over codes, similarities that fill a rectangle to a dynamic programme over it, all others to a sparse chain (see
`sequences`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tallystick.algebra.node import Similarity
from tallystick.algebra.sets import Matching
from tallystick.engine.arrays import F64, I64, join, sort_order, starts_of_runs, sum_by_key
from tallystick.engine.blocks import Blocks, Grid, Pairs, Sums
from tallystick.engine.data import Bag, Scope
from tallystick.engine.encoded import Items, OrderedItems
from tallystick.engine.sequences import match_dense, match_equal, match_sparse
from tallystick.frozen import frozen

DENSE_SHARE = 0.2
"""From how many pairs of a rectangle on the rectangle is filled instead of followed pair by pair."""


@frozen
class Sequence(Matching):
    """Σ over an order-preserving matching of items."""

    name = "sequence"

    @property
    def says(self) -> str:
        return "pairs in order only"

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        r, p = super()._encode_bags(left, right, scope)
        return OrderedItems(r.offsets, r.items), OrderedItems(p.offsets, p.items)

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        if self.inner.exact_only:
            i, j, total = _count_equal(*self._codes(r, p, blocks), r, p, blocks)
            return Sums(i, j, total, total, total)
        chosen = self._chains(r, p, blocks)
        width, bound = len(p), max(1, len(r) * len(p))
        keys, total = sum_by_key(r.owners[chosen.i] * width + p.owners[chosen.j], bound, chosen.weight)
        return Sums(keys // width, keys % width, total, total, total)

    def matched(self, r: Items, p: Items) -> Pairs:
        blocks = Blocks.diagonal(len(r))
        if self.inner.exact_only:
            left, right = self._codes(r, p, blocks)
            rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
            for k in range(len(r)):
                a, b = (int(end) for end in r.offsets[k : k + 2])
                c, d = (int(end) for end in p.offsets[k : k + 2])
                if a < b and c < d:
                    one = match_equal(left[a:b].tolist(), right[c:d].tolist())
                    rows.append(one.left + a)
                    columns.append(one.right + c)
            i, j = np.concatenate(rows), np.concatenate(columns)
            return Pairs(i, j, np.ones(len(i)))
        return self._chains(r, p, blocks)

    def _codes(self, r: Items, p: Items, blocks: Blocks) -> tuple[I64, I64]:
        """Equal codes for equal items that may meet."""
        refined = self.inner.refine(r.items, p.items, blocks.at(r.owners, p.owners)).dense()
        return refined.reference, refined.predicted

    def _chains(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        """The items' pairs that are in the heaviest chain of their two owners."""
        found = self.item_pairs(r, p, blocks)
        if isinstance(found, Grid) and blocks.aligned:
            chosen = list(_rectangles(found, r.owners))
        else:
            groups = r.owners[found.i] * len(p) + p.owners[found.j]
            order = sort_order(groups, max(1, len(r) * len(p)))
            starts = starts_of_runs(groups[order])
            chosen = [_taken(found, one) for one in np.split(order, starts[1:])] if len(order) else []
        i, j = (np.concatenate((np.empty(0, np.int64), *(getattr(one, name) for one in chosen))) for name in "ij")
        return Pairs(i, j, np.concatenate((np.empty(0), *(one.weight for one in chosen))))


def _taken(found: Pairs, one: I64) -> Pairs:
    """Of the pairs `one` of two owners those in the heaviest chain."""
    keep = one[_chain(found, one)]
    return Pairs(found.i[keep], found.j[keep], found.weight[keep])


def _chain(found: Pairs, one: I64) -> I64:
    """The positions, among the pairs `one` of two owners, of the heaviest chain."""
    i, j, weight = found.i[one], found.j[one], found.weight[one]
    rows, columns = int(i.max() - i.min()) + 1, int(j.max() - j.min()) + 1
    if len(one) == 1:
        return np.zeros(1, np.int64)
    if len(one) < DENSE_SHARE * rows * columns:
        best = match_sparse(i, j, weight)
        left, right = best.left, best.right
    else:
        table = np.zeros((rows, columns))
        table[i - i.min(), j - j.min()] = weight
        best = match_dense(table)
        left, right = best.left + i.min(), best.right + j.min()
    width = int(j.max()) + 1
    keys = i * width + j
    order = np.argsort(keys, kind="stable")
    return np.asarray(order[np.searchsorted(keys[order], left * width + right)], np.int64)


def _rectangles(found: Grid, owners: I64) -> Iterator[Pairs]:
    """The heaviest chains of dense items of aligned owners, straight from their rectangles.

    An owner may have several rectangles, where exact fields of a record split its items; then its pairs have to be
    taken together.
    """
    every = found.frame.rectangles()
    owner = np.array([owners[rows[0]] for rows, _, _ in every], np.int64)
    alone = np.bincount(owner, minlength=1)[owner] == 1
    for (rows, columns, cells), single in zip(every, alone.tolist(), strict=True):
        if single:
            table = found.flat[cells].reshape(len(rows), len(columns))
            best = match_dense(table)
            weight = table[best.left, best.right]
            keep = weight > 0
            yield Pairs(rows[best.left[keep]], columns[best.right[keep]], weight[keep])
    if not alone.all():
        rest = np.flatnonzero(np.isin(owners[found.i], owner[~alone]))
        order = rest[np.argsort(owners[found.i[rest]], kind="stable")]
        for one in np.split(order, starts_of_runs(owners[found.i[order]])[1:]):
            yield _taken(found, one)


def _count_equal(left: I64, right: I64, r: Items, p: Items, blocks: Blocks) -> tuple[I64, I64, F64]:
    """The length of the longest common subsequence of every two owners that have an item in common."""
    from rapidfuzz.distance import LCSseq

    if blocks.aligned:
        i = j = np.flatnonzero((np.diff(r.offsets) > 0) & (np.diff(p.offsets) > 0))
    else:
        i, j = _meeting(left, right, r, p)
    one, other = left.tolist(), right.tolist()
    a, b = r.offsets.tolist(), p.offsets.tolist()
    total = np.array(
        [
            LCSseq.similarity(one[a[k] : a[k + 1]], other[b[m] : b[m + 1]])
            for k, m in zip(i.tolist(), j.tolist(), strict=True)
        ],
        np.float64,
    )
    keep = np.flatnonzero(total)
    return i[keep], j[keep], total[keep]


def _meeting(left: I64, right: I64, r: Items, p: Items) -> tuple[I64, I64]:
    """The pairs of owners that have an item in common."""
    bound = 1 + int(max(left.max(initial=0), right.max(initial=0)))
    ours, theirs = (np.unique(codes * len(column) + column.owners) for codes, column in ((left, r), (right, p)))
    a, b = join(ours // max(len(r), 1), theirs // max(len(p), 1), bound)
    keys = np.unique(ours[a] % max(len(r), 1) * len(p) + theirs[b] % max(len(p), 1))
    return keys // max(len(p), 1), keys % max(len(p), 1)


def sequence(inner: Similarity) -> Sequence:
    """Σ over items matched in order (eq. 37)."""
    return Sequence(inner)
