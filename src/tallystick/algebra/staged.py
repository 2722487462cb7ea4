"""Matchings in which one similarity decides who meets whom, and another what that is worth; and those that are not the best.

staged(φ, match(ψ))     the best pairs by φ first; among the items that are left the best by ψ
greedy(φ)               pair after pair, the best that is still free, for good: what many scorers do
paired_by(φ, ψ)         the best pairs by ψ, and Σ of φ over them: what a scorer does that maps by one thing and counts another
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Similarity, require
from tallystick.algebra.sets import Match, Matching
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Pairs,
    Sums,
    assign,
    offsets_of,
    sort_order,
    sum_by_owner,
    weighted_counts,
)
from tallystick.engine.data import Bag, Scope
from tallystick.engine.encoded import Fields, Items
from tallystick.frozen import frozen


@frozen
class ByPairs(Matching):
    """A matching that says which pairs it takes; Σ follows."""

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        i, j = blocks.pairs()
        found = self.matched(r.take(i), p.take(j))
        total = weighted_counts(r.take(i).owners[found.i], found.weight, len(i))
        some = np.flatnonzero(total > 0)
        return Sums.of(Pairs(i[some], j[some], total[some]))


@frozen
class Greedy(ByPairs):
    """Σ of a 1:1 matching that takes the best pair that is still free, again and again. Of equal pairs it takes the one that is first in the reference, and of
    these the one that is first in the prediction."""

    name = "greedy"
    says = "the best pair first, for good"

    def in_words(self) -> tuple[str, ...]:
        return ("bag, matched 1:1, the best pair first",)

    def matched(self, r: Items, p: Items) -> Pairs:
        found = Match(self.inner).item_pairs(r, p, Blocks.diagonal(len(r)))
        order = np.lexsort((found.j, found.i, -found.weight))
        left, right, kept = set[int](), set[int](), []
        for k, i, j in zip(order.tolist(), found.i[order].tolist(), found.j[order].tolist(), strict=True):
            if i not in left and j not in right:
                left.add(i)
                right.add(j)
                kept.append(k)
        return Pairs(found.i[kept], found.j[kept], found.weight[kept])


@frozen
class TwoSimilarities(ByPairs):
    """What these have in common: each item has a column for either similarity."""

    def _encode_both(self, other: Matching, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        first = super()._encode_bags(left, right, scope)
        rest = other._encode_bags(left, right, scope)
        r, p = (Items(a.offsets, Fields((a.items, b.items))) for a, b in zip(first, rest, strict=True))
        return r, p

    def _selves(self, column: Items) -> F64:
        if not self.inner.regular:
            return self._solved_selves(column)
        return sum_by_owner(column.offsets, self.inner.selves(_field(column, 0).items))

    @property
    def is_leaf(self) -> bool:
        return True

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return iter(())

    @property
    def regular(self) -> bool:
        return False  # what an item earns depends on whom it was given to


@frozen
class Staged(TwoSimilarities):
    """Σ of a 1:1 matching in stages: the best by φ, and `then` among the items that are left.

    A later stage never takes a pair away from an earlier one, whatever it is worth. Of several best matchings a stage takes
    the one with the fewest pairs, and then pairs of items that stand early in their collections.
    """

    then: Similarity
    name = "staged"
    says = "the best total, stage by stage"

    def __post_init__(self) -> None:
        super().__post_init__()
        last = isinstance(self.then, Match) and self.then.constraint == "1:1" and not self.then.distinct
        require(
            last or isinstance(self.then, (Staged, Greedy)),
            f"staged() needs another stage, match(φ), greedy(φ) or staged(φ, ...), all 1:1 and of bags; found {self.then!r}",
        )

    def in_words(self) -> tuple[str, ...]:
        return ("bag, matched 1:1 in stages",)

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        assert isinstance(self.then, Matching)
        return self._encode_both(self.then, left, right, scope)

    def matched(self, r: Items, p: Items) -> Pairs:
        assert isinstance(self.then, Matching)
        first, rest = ((_field(r, k), _field(p, k)) for k in (0, 1))
        found = _matched_early(self.inner, *first)
        left, right = _without(rest[0], found.i), _without(rest[1], found.j)
        more = self.then.matched if not isinstance(self.then, Match) else partial(_matched_early, self.then.inner)
        later = more(left[1], right[1]).renumber(left[0], right[0])
        return Pairs.joined([found, later])


@frozen
class PairedBy(TwoSimilarities):
    """Σ of φ over the pairs of the best 1:1 matching by another similarity."""

    by: Similarity
    name = "paired_by"
    says = "pairs by one similarity, counted by another"

    def in_words(self) -> tuple[str, ...]:
        return (f"bag, paired 1:1 by {self.by}",)

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        return self._encode_both(Match(self.by), left, right, scope)

    def matched(self, r: Items, p: Items) -> Pairs:
        found = _matched_early(self.by, _field(r, 1), _field(p, 1))
        ours, theirs = _field(r, 0), _field(p, 0)
        blocks = Blocks.diagonal(len(r)).at(r.owners, p.owners)
        weight = self.inner.weights_at(ours.items, theirs.items, blocks, found.i, found.j)
        return Pairs(found.i, found.j, weight).positive()


def _field(column: Items, k: int) -> Items:
    assert isinstance(column.items, Fields)
    return replace(column, items=column.items.columns[k])


def _without(column: Items, taken: I64) -> tuple[I64, Items]:
    """The items that are left, and their collections without the others."""
    free = np.ones(len(column.items), np.bool_)
    free[taken] = False
    rows = np.flatnonzero(free)
    offsets = offsets_of(np.bincount(column.owners[rows], minlength=len(column)))
    return rows, Items(offsets, column.items.take(rows))


def _matched_early(inner: Similarity, r: Items, p: Items) -> Pairs:
    """The best 1:1 matching of owner k's items with owner k's; early ones where several are best."""
    found = Match(inner).item_pairs(r, p, Blocks.diagonal(len(r)))
    order = sort_order(found.i * max(1, len(p.items)) + found.j, max(1, len(r.items) * len(p.items)))
    i, j, weight = found.i[order], found.j[order], found.weight[order]
    keep = assign(i, j, weight, len(r.items), len(p.items), early=True)
    return Pairs(i[keep], j[keep], weight[keep])


def staged(inner: Similarity, then: Similarity) -> Staged:
    """Σ of a 1:1 matching in stages: the best by φ first, then by `then`, a `match(...)` or `staged(...)`, what is left.

    >>> metric = ts.staged(ts.exact, ts.match(ts.text("levenshtein")))
    >>> metric(["Ann", "Anne"], ["Anne", "Anna"])
    1.75
    """
    return Staged(inner, then)


def greedy(inner: Similarity) -> Greedy:
    """Collections matched 1:1, the best pair first, which need not have the largest sum.

    >>> near = ts.number(1)
    >>> ts.greedy(near)([2, 3], [3, 4]), ts.match(near)([2, 3], [3, 4]), ts.greedy(near)([3, 2], [3, 4])
    (2.0, 2.0, 1.0)
    """
    return Greedy(inner)


def paired_by(inner: Similarity, by: Similarity) -> PairedBy:
    """Items paired 1:1 by one similarity, and counted by another.

    >>> ts.f1(ts.paired_by(ts.exact, ts.text("levenshtein")))(["ab", "b"], ["ab", "c"])
    0.5
    """
    return PairedBy(inner, by)
