"""Matchings in which one similarity decides who meets whom, and another what that is worth; and those that are not the best.

staged(φ, match(ψ))     the best pairs by φ first; among the items that are left the best by ψ
greedy(φ)               pair after pair, the best that is still free, for good: what many scorers do
paired_by(φ, ψ)         the best pairs by ψ, and Σ of φ over them: what a scorer does that maps by one thing and counts another

And predictions with scores: average precision over a ranking of everything that was predicted.

    ranked(record(category=exact, box=box_iou()), by="category", at=[0.5, 0.75])

φ compares two items. At each threshold t, a prediction is right if it gets a partner with φ ≥ t when all predictions choose in the order of
their scores (`engine.ranked`); average precision is the area under the curve of precision over recall, and its mean over labels and
thresholds is the figure.

Some items may be set aside. An item of the reference in whose field `ignored` something is true need not be found, and whoever finds it is neither right nor
wrong; it is a region, in which there is room for many, and `region` says how it is compared, if not as the others. With `within={"area": [0, 1024]}`, items of the
reference whose area is not in that range are set aside, each for one prediction, and so are predictions that have no partner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Node, Similarity, Table, is_number, require
from tallystick.algebra.records import each
from tallystick.algebra.sets import Match, Matching, match
from tallystick.algebra.weights import at_least
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Fields,
    Items,
    Mask,
    Pairs,
    Sums,
    assign,
    offsets_of,
    sort_order,
    sum_by_owner,
    weighted_counts,
)
from tallystick.engine.data import Bag, Data, Objects, Scope, field, items, leaf_values, note_absence
from tallystick.engine.ranked import (
    COUNTS,
    HOW,
    IGNORED,
    INTERPOLATIONS,
    REGION,
    SPARE,
    WRONG,
    Outcome,
    Ranking,
    outcomes,
)
from tallystick.engine.tally import Kind
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


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


COCO = tuple(round(0.5 + 0.05 * k, 2) for k in range(10))


@frozen
class Ranked(Node):
    """Average precision; `of` names the field in which a document has its items, if it is a record."""

    inner: Similarity
    score: str = "score"
    by: str = ""
    at: tuple[float, ...] = COCO
    of: str = ""
    most: int = 0
    interpolation: str = "coco"
    matching: str = "best"
    ignored: str = ""
    region: Similarity | None = None
    within: Table = Table()
    name = "ranked"
    says = "the area under precision over recall"
    letter = "N"
    ranks = True

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.interpolation, INTERPOLATIONS, "interpolation"),
            (self.matching, HOW, "matching"),
        ):
            require(
                value in known,
                f"ranked(): unknown {what} {value!r}; expected one of {', '.join(known)}.{did_you_mean(value, known)}",
            )
        fine = isinstance(self.at, tuple) and self.at and all(is_number(t) and t > 0 for t in self.at)
        require(bool(fine), f"ranked(): at needs a list of thresholds above 0, found {self.at!r:.60}")
        object.__setattr__(self, "at", tuple(map(float, self.at)))
        require(
            self.region is None or (isinstance(self.region, Similarity) and bool(self.ignored)),
            f"ranked(): region needs a similarity, and ignored= the field that marks regions; found {self.region!r:.60}",
        )
        for name, ends in self.within:
            require(isinstance(name, str), f"ranked(): within needs names of fields, found {name!r:.60}")
            fine = isinstance(ends, tuple) and len(ends) == 2 and all(map(is_number, ends)) and ends[0] <= ends[1]
            require(fine, f"ranked(): within needs a lowest and a highest value of {name}, found {ends!r:.60}")
        whole = isinstance(self.most, int) and not isinstance(self.most, bool)
        require(whole and self.most >= 0, f"ranked(): most must be 0 or more, found {self.most!r}")

    def _arguments(self) -> Iterator[str]:
        yield from (one for one in super()._arguments() if not one.startswith("at="))
        if self.at != COCO:
            yield f"at=[{', '.join(f'{t:g}' for t in self.at)}]"

    @property
    def headline(self) -> tuple[str, float]:
        return "ap", 1.0

    @property
    def summed(self) -> Similarity:
        """What an explanation shows: the best matching at the first threshold."""
        items = match(at_least(self.inner, self.at[0]))
        return each(**{self.of: items}) if self.of else items

    def __call__(self, reference: Any, predicted: Any) -> float:
        kind, rows = self.rank(Objects([reference]), None, Objects([predicted]), Scope())
        return float(kind.figures(rows[0])["ap"])

    def kind_of_tally(self) -> Kind:
        return Ranking.of([], self.at, self.interpolation)[0]

    def sample(self, rng: Random, depth: int = 0) -> Any:
        found = [self.inner.sample(rng, 1) for _ in range(rng.randint(1, 3))]
        listed = [{**one, self.score: rng.random()} if isinstance(one, dict) else one for one in found]
        return {self.of: listed} if self.of else listed

    def mirrored(self) -> Node:
        return self.rebuilt(lambda part: part.mirrored())

    def rank(self, reference: Data, valid: I64 | None, predicted: Data, scope: Scope) -> tuple[Kind, F64]:
        """The outcomes of some documents, and their rows."""
        sides = []
        for side in (reference, predicted):
            listed = items(field(side, self.of, scope, False) if self.of else side, scope)
            assert isinstance(listed, Bag)
            sides.append(listed)
        inside = (scope.field(self.of) if self.of else scope).items()
        role, outside = self._roles(sides[0].items, sides[1].items, inside)
        scores = self._numbers(sides[1].items, self.score, inside)
        labels = [self._labels(side.items, inside) for side in sides]
        homes = np.arange(len(sides[1])) if valid is None else valid
        left = np.repeat(np.arange(len(sides[0])), np.diff(sides[0].offsets))
        right = np.repeat(homes, np.diff(sides[1].offsets))
        found = self._found(sides[0].items, sides[1].items, inside, Blocks(left, right, max(1, len(sides[0]))), role)
        kept = self._surest(scores, labels[1], right)
        if kept is not None:
            among = np.flatnonzero(kept[found.j])
            found = Pairs(found.i[among], found.j[among], found.weight[among])
        hits = np.stack([outcomes(found, scores, t, self.matching, role) for t in self.at], axis=1)
        hits[(hits == WRONG) & outside[:, None]] = IGNORED
        ends = offsets_of(np.bincount(right, minlength=len(sides[0])))
        documents = []
        for k in range(len(sides[0])):
            here = np.arange(ends[k], ends[k + 1])
            here = here if kept is None else here[kept[here]]
            counts: dict[str, int] = {}
            for n in range(int(sides[0].offsets[k]), int(sides[0].offsets[k + 1])):
                if role is None or role[n] == COUNTS:
                    counts[labels[0][n]] = counts.get(labels[0][n], 0) + 1
            documents.append(Outcome(counts, [labels[1][n] for n in here.tolist()], scores[here], hits[here]))
        return Ranking.of(documents, self.at, self.interpolation)

    def _found(self, reference: Data, predicted: Data, scope: Scope, blocks: Blocks, role: I64 | None) -> Pairs:
        """All pairs; those of regions as `region` has them."""
        found = self.inner.pairs(*self.inner.encode(reference, predicted, scope), blocks)
        if self.region is None or role is None:
            return found
        pairs = self.region.pairs(*self.region.encode(reference, predicted, scope), blocks)
        both = [
            Pairs(one.i[kept], one.j[kept], one.weight[kept])
            for one, kept in ((found, role[found.i] != REGION), (pairs, role[pairs.i] == REGION))
        ]
        return Pairs.joined(both)

    def _roles(self, reference: Data, predicted: Data, scope: Scope) -> tuple[I64 | None, Mask]:
        """Whether the items of the reference count (None: all do), and which predictions are ignored without a partner."""
        outside = [np.zeros(len(side), np.bool_) for side in (reference, predicted)]
        for name, (low, high) in self.within:
            for beyond, side in zip(outside, (reference, predicted), strict=True):
                values = self._numbers(side, name, scope)
                beyond |= (values < low) | (values > high)
        role = np.where(outside[0], SPARE, COUNTS)
        if self.ignored:
            note_absence(self.ignored, (reference,), (), scope, seldom=True)
            marks = leaf_values(field(reference, self.ignored, scope, True, False), scope.field(self.ignored))
            for mark in marks:
                if mark is not None and (isinstance(mark, (str, bytes)) or mark not in (0, 1)):
                    raise ValueMismatch(f"at {scope.field(self.ignored)}: expected true or false; found {mark!r:.60}")
            role[[bool(mark) for mark in marks]] = REGION
        return role if self.ignored or self.within else None, outside[1]

    def _numbers(self, data: Data, name: str, scope: Scope) -> F64:
        values = leaf_values(field(data, name, scope, False), scope.field(name))
        for value in values:
            if not is_number(value):
                what = "a score, a number" if name == self.score else "a number"
                raise ValueMismatch(f"at {scope.field(name)}: expected {what}; found {value!r:.60}")
        return np.array(values, np.float64)

    def _labels(self, data: Data, scope: Scope) -> Sequence[str]:
        if not self.by:
            return [""] * len(data)
        return [str(value) for value in leaf_values(field(data, self.by, scope, False), scope.field(self.by))]

    def _surest(self, scores: F64, labels: Sequence[str], owners: Any) -> Any:
        """Of each document and label the `most` surest; None: all."""
        if not self.most:
            return None
        codes = np.unique(np.array(labels), return_inverse=True)[1].reshape(-1)
        order = np.lexsort((-scores, codes, owners))
        starts = np.flatnonzero(np.r_[True, (np.diff(codes[order]) != 0) | (np.diff(owners[order]) != 0)][: len(order)])
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        kept = np.zeros(len(scores), np.bool_)
        kept[order[place < self.most]] = True
        return kept


def ranked(
    inner: Similarity,
    *,
    score: str = "score",
    by: str = "",
    at: Sequence[float] = COCO,
    of: str = "",
    most: int = 0,
    interpolation: str = "coco",
    matching: str = "best",
    ignored: str = "",
    region: Similarity | None = None,
    within: Mapping[str, Sequence[float]] | Table | None = None,
) -> Ranked:
    """Average precision of predictions that have scores, over labels and thresholds of φ.

    >>> found = [{"x": 1, "score": 0.9}, {"x": 2, "score": 0.8}]
    >>> ts.ranked(ts.record(x=ts.exact), at=[1])([{"x": 1}], found)
    1.0
    """
    by_field = within is None or isinstance(within, (Mapping, Table))
    require(by_field, f"ranked(): within needs a mapping such as {{key: value}}, found {within!r:.60}")
    ranges = {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in dict(within or {}).items()}
    within = Table.of(ranges, "ranked(): within")
    at = tuple(at) if isinstance(at, Iterable) else at
    return Ranked(inner, score, by, at, of, most, interpolation, matching, ignored, region, within)
