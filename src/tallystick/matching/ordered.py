"""Matching that keeps order (eq. 37): the heaviest chain of item pairs that rises on both sides.

≤ is reflexive and the condition is an "iff", so all four constraints coincide with 1:1 here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.columns.arrays import F64, I64, sort_order, starts_of_runs, sum_by_key
from tallystick.columns.blocks import Blocks, Pairs
from tallystick.columns.encoded import Items
from tallystick.matching.sets import Matching, Sums
from tallystick.similarity.node import Similarity


@dataclass(frozen=True, repr=False)
class Sequence(Matching):
    """Σ over an order-preserving matching of items."""

    name = "sequence"

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        found = self.item_pairs(r, p, blocks)
        width, bound = len(p), max(1, len(r) * len(p))
        groups = r.owners[found.i] * width + p.owners[found.j]
        keep = _chains(found, groups, bound)
        keys, total = sum_by_key(groups[keep], bound, found.weight[keep])
        return Sums(keys // width, keys % width, total, total, total)

    def matched(self, r: Items, p: Items) -> Pairs:
        found = self.item_pairs(r, p, Blocks.diagonal(len(r)))
        keep = _chains(found, r.owners[found.i], len(r))
        return Pairs(found.i[keep], found.j[keep], found.weight[keep])


def _chains(found: Pairs, groups: I64, bound: int) -> I64:
    """The positions of the pairs in the heaviest chain of each group."""
    order = sort_order(groups, bound)
    starts = starts_of_runs(groups[order])
    chosen: list[I64] = []
    for one in np.split(order, starts[1:]) if len(order) else []:
        chosen.append(one[heaviest_chain(found.i[one], found.j[one], found.weight[one])])
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.int64)


def heaviest_chain(i: I64, j: I64, weight: F64) -> I64:
    """Which pairs (i, j) form the heaviest chain with both i and j strictly rising.

    Pairs come row by row, from right to left inside a row, so that no two of one row can follow each other; a
    tree of prefix maxima over the columns holds the best chain that ends before each column: O(k log k).
    """
    if len(i) == 1:
        return np.zeros(1, np.int64)
    order = np.lexsort((-j, i))
    columns = np.unique(j, return_inverse=True)[1]
    size = int(columns.max()) + 1
    best = [0.0] * (size + 1)
    last = [-1] * (size + 1)
    before = [-1] * len(i)
    for k in order.tolist():
        column = int(columns[k])
        total, previous, node = 0.0, -1, column  # the best among the columns before this one
        while node > 0:
            if best[node] > total:
                total, previous = best[node], last[node]
            node -= node & -node
        before[k] = previous
        total += float(weight[k])
        node = column + 1
        while node <= size:
            if total > best[node]:
                best[node], last[node] = total, k
            node += node & -node
    end, node, top = -1, size, 0.0
    while node > 0:
        if best[node] > top:
            top, end = best[node], last[node]
        node -= node & -node
    chain = []
    while end >= 0:
        chain.append(end)
        end = before[end]
    return np.array(chain[::-1], np.int64)


def sequence(inner: Similarity) -> Sequence:
    """Σ over items matched in order (eq. 37)."""
    return Sequence(inner)
