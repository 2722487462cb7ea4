"""Eq. 37 for sequences: the heaviest matching that keeps the order, a weighted longest common subsequence.

    P   1  2  3  4  5
        |    /   /            three pairs, none of them crossing: Σ = 3
    R   1  3  5  7  9

Since ≤ is reflexive and the condition an "iff", an element can never have two partners: all four constraints
are 1:1 here. A *weak* matching is another thing, with a name of its own: order may stand still on one side
("N:1": several elements of P in a row share one of R; "1:N": the reverse).

Three ways, all exact: equal codes by a bit-parallel LCS; sparse pairs by the heaviest chain in O(k log n); a
dense table by dynamic programming, a row at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallystick.engine.latent_pairs import Floats, Ints

Weak = Literal["N:1", "1:N"]


@dataclass(frozen=True)
class Matched:
    """Matched pairs (`left[n]`, `right[n]`) in order, which earn `lower`; nothing earns more than `upper`."""

    lower: float
    upper: float
    optimal: bool
    left: Ints
    right: Ints

    @staticmethod
    def proven(value: float, left: Sequence[int] | Ints, right: Sequence[int] | Ints) -> Matched:
        """By an algorithm that is exact."""
        return Matched(float(value), float(value), True, np.asarray(left, np.intp), np.asarray(right, np.intp))


def match_equal(left: Sequence[Hashable], right: Sequence[Hashable]) -> Matched:
    """Elements match if they are equal, for 1 each."""
    from rapidfuzz.distance import LCSseq

    pairs_left: list[Ints] = []
    pairs_right: list[Ints] = []
    for step in LCSseq.opcodes(left, right):
        if step.tag == "equal":
            pairs_left.append(np.arange(step.src_start, step.src_end))
            pairs_right.append(np.arange(step.dest_start, step.dest_end))
    nobody = np.empty(0, np.intp)
    one, other = np.concatenate([nobody, *pairs_left]), np.concatenate([nobody, *pairs_right])
    return Matched.proven(len(one), one, other)


def match_sparse(i: Ints, j: Ints, weight: Floats, *, weak: Weak | None = None) -> Matched:
    """The heaviest chain of pairs (i, j), each pair listed once: both strictly rising (or one standing still,
    if weak).

    Pairs are taken by rising i. The frontier keeps, for each j that matters, the best chain that ends at or
    before it; its values rise with j, since a chain that ends later and earns less is useless. A pair extends
    the frontier's last chain before j.
    """
    if weak == "1:N":
        turned = match_sparse(j, i, weight, weak="N:1")
        return Matched.proven(turned.lower, turned.right, turned.left)
    order = np.lexsort((j, i))
    order = order[weight[order] > 0]
    rows, columns, weights = i[order].tolist(), j[order].tolist(), weight[order].tolist()
    before: list[int] = [-1] * len(order)
    ends: list[int] = []  # the j of each frontier chain, rising
    values: list[float] = []  # what it earns, rising
    last: list[int] = []  # its last pair
    reach = 1 if weak == "N:1" else 0  # how far a chain's last j may be: below j, or at j itself
    n, begin = len(order), 0
    while begin < n:
        row, end = rows[begin], begin
        while end < n and rows[end] == row:
            end += 1
        new = []
        for t in range(begin, end):
            at = bisect_left(ends, columns[t] + reach) - 1
            if at >= 0:
                before[t] = last[at]
                new.append(values[at] + weights[t])
            else:
                new.append(weights[t])
        # From the right, so that what one pair of the row adds is never extended by another.
        for t in range(end - 1, begin - 1, -1):
            column, value = columns[t], new[t - begin]
            at = bisect_left(ends, column + 1)
            if at and values[at - 1] >= value:
                continue
            stop = at
            while stop < len(ends) and values[stop] <= value:
                stop += 1
            start = at - 1 if at and ends[at - 1] == column else at
            ends[start:stop], values[start:stop], last[start:stop] = [column], [value], [t]
        begin = end
    chain = []
    t = last[-1] if last else -1
    while t >= 0:
        chain.append(order[t])
        t = before[t]
    chosen = np.array(chain[::-1], np.intp)
    return Matched.proven(values[-1] if values else 0.0, i[chosen], j[chosen])


def match_dense(table: Floats, *, weak: Weak | None = None) -> Matched:
    """The same for a full table of similarities (rows: left, columns: right).

    best[i, j] is the most that the first i and the first j elements earn. Of its three candidates, only
    best[i, j - 1] lies in the same row, and it enters as a running maximum: so a row is one vectorised step.
    """
    if weak == "1:N":
        turned = match_dense(table.T, weak="N:1")
        return Matched.proven(turned.lower, turned.right, turned.left)
    n, m = table.shape
    best = np.zeros((n + 1, m + 1))
    back = 1 if weak is None else 0  # the pair (i, j) leaves j - 1 columns to those before it, or j if weak
    for row in range(n):
        above = best[row]
        extended = above[: m + 1 - back][-m:] + table[row] if m else above[:0]
        np.maximum.accumulate(np.maximum(above[1:], extended), out=best[row + 1, 1:])
    one, other = [], []
    i, j = n, m
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            one.append(i - 1)
            other.append(j - 1)
            i, j = i - 1, j - back
    return Matched.proven(float(best[n, m]), one[::-1], other[::-1])
