"""Normalisers N ∈ {P, R, F, J}: from Σ(P,R), Σ(P,P), Σ(R,R) to a similarity in [0, 1] (eq. 4 to 7).

Around the whole metric a normaliser says which figure is meant. Nested, it is a similarity of its own, with
N(∅, ∅) = 1 and N(∅, x) = 0, so that every value equals itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.exact import exact
from tallystick.algebra.hierarchy import ancestors, parents_table
from tallystick.algebra.node import (
    DELTA,
    F_LEMMA,
    J_LEMMA,
    STRONG_SUM,
    UNKNOWN,
    Around,
    Kernel,
    Node,
    Similarity,
    Table,
    has_structure,
    require,
)
from tallystick.algebra.plain import Plain, always_one, leaf, see_value, table_of
from tallystick.algebra.sets import Match, best_of_each, sample_items
from tallystick.engine.arrays import F64, Blocks, Codes, Column, Items, Pairs, offsets_of
from tallystick.engine.data import Data, Objects, Scope, code_jointly, leaf_values
from tallystick.engine.tally import Kind, Rate
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

    from tallystick.algebra.surplus import Place


@frozen
class Normaliser(Around):
    """N[φ]: what P, R, F and J share."""

    inner: Similarity
    letter = "N"

    @property
    def counts_empty(self) -> bool:
        return True

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Similarity):
            raise MetricError(f"{self.name}() needs a similarity inside, such as match(exact); found {self.inner!r}")

    def figure(self, num_r: Any, num_p: Any, den_r: Any, den_p: Any) -> Any:
        """N of the four sums, where both denominators are above 0."""
        raise NotImplementedError

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        if not den_r or not den_p:
            return float(den_r == den_p)
        return float(self.figure(num_r, num_p, den_r, den_p))

    @property
    def regular(self) -> bool:
        return self.inner.regular_covered

    @property
    def headline(self) -> tuple[str, float]:
        return self.name, 1.0

    @property
    def summed(self) -> Similarity:
        return self.inner

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return replace(here.inside(self.inner), diagnostic=True).below()

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        sums = self.inner.numerators(r, p, blocks)
        own, other = self.inner.selves(r), self.inner.selves(p)
        both = (own[sums.i] > 0) & (other[sums.j] > 0)
        i, j = sums.i[both], sums.j[both]
        num_p = sums.predicted[both]
        num_r = num_p if sums.reference is sums.predicted else sums.reference[both]
        weights = self.figure(num_r, num_p, own[i], other[j])
        found = Pairs(i, j, weights)
        empty = blocks.equal_pairs(np.flatnonzero(own == 0), np.flatnonzero(other == 0))
        return Pairs.joined([found, empty]) if len(empty) else found

    def plain(self) -> Plain | None:
        inner, figure = self.inner.plain(), self.figure
        if inner is None:
            return None
        weigh, both = inner.weigh, inner.both

        def seeing(side: int) -> Any:
            see, own = inner.see[side], inner.own[side]

            def seen(value: Any) -> tuple[Any, float]:
                found = see(value)
                return found, own(found)

            return seen

        def normalised(a: Any, b: Any) -> float:
            (x, den_r), (y, den_p) = a, b
            if not den_r or not den_p:
                return float(den_r == den_p)
            if both is None:
                num_r = num_p = weigh(x, y)
            else:
                num_r, num_p = both(x, y)
            return float(figure(num_r, num_p, den_r, den_p))

        return Plain((seeing(0), seeing(1)), normalised, (always_one, always_one))


@frozen
class Precision(Normaliser):
    """P = Σ(P,R) / Σ(P,P) (eq. 4)."""

    name = "precision"
    says = "over what was predicted"

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_p / den_p

    def mirrored(self) -> Similarity:
        return Recall(self.inner.mirrored())


@frozen
class Recall(Normaliser):
    """R = Σ(P,R) / Σ(R,R) (eq. 5)."""

    name = "recall"
    says = "over what is in the reference"

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_r / den_r

    def mirrored(self) -> Similarity:
        return Precision(self.inner.mirrored())


@frozen
class F(Normaliser):
    """F_β (eq. 6): with one numerator S it is (1 + β²) S / (β² Σ(R,R) + Σ(P,P)), else from P and R. F_0 is P."""

    beta: float = 1.0
    known: Place | None = field(default=None, repr=False, compare=False)
    """The keys of the type that the metric was derived from, of which all others are made up."""
    name = "f"
    says = "the harmonic mean of precision and recall"
    also = ("f1",)
    binds_inside = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.beta < float("inf"), f"f() needs a finite beta of 0 or more, found {self.beta!r}")

    def __repr__(self) -> str:
        return f"f1({self.inner!r})" if self.beta == 1 else super().__repr__()

    @property
    def headline(self) -> tuple[str, float]:
        return f"f{self.beta:g}", self.beta

    def in_words(self) -> tuple[str, ...]:
        return self.inner.in_words() if has_structure(self) else (str(self),)

    def kernel(self, one_depth: bool = False) -> Kernel:
        inner = self.inner.kernel(one_depth)
        return inner.because(F_LEMMA, kernel=inner.kernel) if self.beta == 1 else UNKNOWN

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return f_score(num_r, num_p, den_r, den_p, self.beta)

    def mirrored(self) -> Similarity:
        if not self.beta:  # F_0 is precision
            return Recall(self.inner.mirrored())
        return replace(self, inner=self.inner.mirrored(), beta=1 / self.beta)


@frozen
class Jaccard(Normaliser):
    """J = Σ(P,R) / (Σ(P,P) + Σ(R,R) - Σ(P,R)) (eq. 7). It needs one numerator."""

    name = "jaccard"
    says = "what is common, over all that is on either side"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not self.inner.two_numerators,
            "jaccard() needs one numerator; a one-sided match has two. Use match(..., literal=True)",
        )

    def kernel(self, one_depth: bool = False) -> Kernel:
        inner = self.inner.kernel(one_depth)
        return inner.because(J_LEMMA, kernel=inner.kernel)

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_p / (den_r + den_p - num_p)


@frozen
class Sides(Node):
    """A metric that is two expressions: precision from one, recall from the other (eq. 23 and 24)."""

    precision: Similarity
    recall: Similarity
    beta: float = 1.0
    name = "sides"
    says = "precision and recall are two expressions"
    letter = "N"

    def __post_init__(self) -> None:
        require(0 <= self.beta < float("inf"), f"sides() needs a finite beta of 0 or more, found {self.beta!r}")

    @property
    def by_side(self) -> tuple[Similarity, Similarity]:
        return self.precision, self.recall

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        if not den_r or not den_p:
            return float(den_r == den_p)
        # Two expressions have two numerators, even where these happen to be equal.
        return float(f_score(np.float64(num_r), np.float64(num_p), den_r, den_p, self.beta))  # type: ignore[arg-type]

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.precision.sample(rng, depth)

    def _arguments(self) -> Iterator[str]:
        yield f"precision={self.precision!r}"
        yield f"recall={self.recall!r}"
        if self.beta != 1:
            yield f"beta={self.beta:g}"

    @property
    def headline(self) -> tuple[str, float]:
        return f"f{self.beta:g}", self.beta

    def mirrored(self) -> Node:
        if not self.beta:  # F_0 is precision
            turned = self.precision.mirrored()
            return turned if isinstance(turned, Normaliser) else Recall(turned)
        return Sides(self.recall.mirrored(), self.precision.mirrored(), 1 / self.beta)


def f_score(num_r: F64, num_p: F64, den_r: F64, den_p: F64, beta: float) -> F64:
    """F_β of arrays whose denominators are above 0."""
    square = beta * beta
    if num_r is num_p:
        return (1 + square) * num_p / (square * den_r + den_p)
    recall, precision = num_r / den_r, num_p / den_p
    weight = square * precision + recall
    return np.divide((1 + square) * precision * recall, weight, out=np.zeros_like(weight), where=weight > 0)


def precision(inner: Similarity) -> Precision:
    """P-normalised (eq. 4).

    >>> ts.precision(ts.match(ts.exact))(["a", "b"], ["a"])
    1.0
    """
    return Precision(inner)


def recall(inner: Similarity) -> Recall:
    """R-normalised (eq. 5).

    >>> ts.recall(ts.match(ts.exact))(["a", "b"], ["a"])
    0.5
    """
    return Recall(inner)


def f1(inner: Similarity) -> F:
    """F-normalised (eq. 6).

    >>> ts.f1(ts.match(ts.exact))(["a", "b"], ["a", "c"])
    0.5
    """
    return F(inner)


def f(inner: Similarity, beta: float = 1.0) -> F:
    """F_β-normalised: β > 1 favours recall.

    >>> ts.f(ts.match(ts.exact), beta=2)(["a", "b"], ["a"])
    0.5555555555555556
    """
    return F(inner, beta)


def jaccard(inner: Similarity) -> Jaccard:
    """Jaccard-normalised (eq. 7).

    >>> ts.jaccard(ts.match(ts.exact))(["a", "b", "c"], ["b", "c", "d"])
    0.5
    """
    return Jaccard(inner)


def sides(precision: Similarity, recall: Similarity, beta: float = 1.0) -> Sides:
    """Precision from one expression and recall from another.

    >>> metric = ts.sides(precision=ts.match(ts.exact, "N:1"), recall=ts.match(ts.exact, "1:N"))
    >>> result = ts.evaluate(metric, [["a", "b"]], [["a", "a"]])
    >>> result.precision, result.recall
    (1.0, 0.5)
    """
    return Sides(precision, recall, beta)


# Similarities of two collections that are not normalised sums: subset, shared links, the best pair, supertypes.
#
# Each is worked out from the same Σ as everything else.

TOLERANCE = 1e-9
SIDES = ("reference", "predicted")


@frozen
class OverItems(Similarity):
    """A similarity of collections, given the similarity of their items."""

    inner: Similarity

    @property
    def matching(self) -> Match:
        return Match(self.inner)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.matching.encode(reference, predicted, scope)

    @property
    def is_leaf(self) -> bool:
        return False

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return replace(here.inside(self.matching), diagnostic=True).below()

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return sample_items(self.inner, rng, depth)


def with_empties(found: Pairs, r: Items, p: Items, blocks: Blocks, one: str = "") -> Pairs:
    """Two empty collections in one block are equal: a pair of weight 1. With `one`, that side's will do."""
    empty_r = np.flatnonzero((np.diff(r.offsets) == 0) | (one == "predicted"))
    empty_p = np.flatnonzero((np.diff(p.offsets) == 0) | (one == "reference"))
    return Pairs.joined([found, blocks.equal_pairs(empty_r, empty_p)])


@frozen
class Subset(OverItems):
    """1 if the predicted collection is not empty and lies inside the reference (eq. 25).

    With `empty`, an empty one lies inside every other, as eq. 25 is printed and as grit has it. Collections are bags; with
    `distinct` they are sets: of items that agree one counts.
    """

    side: str = "predicted"
    empty: bool = False
    distinct: bool = False
    name = "subset"
    says = "predicted, non-empty, inside the reference"

    def __post_init__(self) -> None:
        require(
            self.side in SIDES,
            f"subset(): side must be {' or '.join(SIDES)}, found {self.side!r}.{did_you_mean(self.side, SIDES)}",
        )

    @property
    def matching(self) -> Match:
        return Match(self.inner, distinct=self.distinct)

    def plain(self) -> Plain | None:
        inner, side = self.matching.plain(), SIDES.index(self.side)
        if inner is None:
            return None
        weigh, own, empty = inner.weigh, inner.own[side], self.empty

        def lies_inside(a: Any, b: Any) -> float:
            mine, other = (b, a) if side else (a, b)
            if not mine:
                return float(empty or not other)
            total = weigh(a, b)
            return float(total > 0 and total >= own(mine) - TOLERANCE)

        return Plain(inner.see, lies_inside, (always_one, always_one))

    def mirrored(self) -> Subset:
        other = "reference" if self.side == "predicted" else "predicted"
        return replace(self, inner=self.inner.mirrored(), side=other)

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        sums = self.matching.sums(r, p, blocks)
        mine = self.matching.selves(p)[sums.j] if self.side == "predicted" else self.matching.selves(r)[sums.i]
        inside = sums.total >= mine - TOLERANCE
        found = Pairs(sums.i[inside], sums.j[inside], np.ones(int(inside.sum())))
        return with_empties(found, r, p, blocks, self.side if self.empty else "")


@frozen
class Links(OverItems):
    """max(0, |X ∩ Y| - 1): how many links of a chain two entities share (eq. 21)."""

    name = "links"
    says = "the links of a chain"

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        sums = self.matching.sums(r, p, blocks)
        return Pairs(sums.i, sums.j, np.maximum(sums.total - 1, 0)).positive()

    def _selves(self, column: Items) -> F64:
        return np.maximum(self.matching.selves(column) - 1, 0)

    def plain(self) -> Plain | None:
        inner = self.matching.plain()
        if inner is None:
            return None
        weigh, (left, right) = inner.weigh, inner.own
        owns = (lambda a: max(left(a) - 1, 0.0), lambda b: max(right(b) - 1, 0.0))
        return Plain(inner.see, lambda a, b: max(weigh(a, b) - 1, 0.0), owns)


@frozen
class Best(OverItems):
    """The largest similarity of any pair of items: with any of the strings of an entity, say."""

    name = "best"

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        found = self.matching.item_pairs(r, p, blocks)
        i, j = r.owners[found.i], p.owners[found.j]
        groups = i * len(p) + j
        top = best_of_each(groups, len(r) * len(p), np.zeros(len(i), np.int64), 1, found.weight)
        return with_empties(Pairs(i[top], j[top], found.weight[top]), r, p, blocks)

    def plain(self) -> Plain | None:
        inner, items = self.inner.plain(), self.matching.plain_items()
        if inner is None or items is None:
            return None
        weigh, (left, right) = inner.weigh, inner.own

        def best_pair(a: Any, b: Any) -> float:
            if not a and not b:
                return 1.0
            return max((max(row) for row in table_of(a, b, weigh) if row), default=0.0)

        owns = (lambda a: max(map(left, a), default=1.0), lambda b: max(map(right, b), default=1.0))
        return Plain(items.see, best_pair, owns)

    def _selves(self, column: Items) -> F64:
        own = self.inner.selves(column.items)
        out = np.zeros(len(column))
        np.maximum.at(out, column.owners, own)
        out[np.diff(column.offsets) == 0] = 1.0
        return out


@frozen
class Supertypes(Similarity):
    """F1 of the sets of supertypes, each type among its own (eq. 39). A value may be a set of types."""

    parents: Table
    name = "supertypes"

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA.because(STRONG_SUM).because(F_LEMMA)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.choice([child for child, _ in self.parents])

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        above = ancestors(self.parents)
        bags = [[_closure(value, above) for value in leaf_values(side, scope)] for side in (reference, predicted)]
        left, right = ([one for bag in side for one in bag] for side in bags)
        a, b, bound = code_jointly(Objects(left), Objects(right), scope)
        return (
            Items(offsets_of([len(bag) for bag in bags[0]]), Codes(a, bound)),
            Items(offsets_of([len(bag) for bag in bags[1]]), Codes(b, bound)),
        )

    def plain(self) -> Plain:
        above = ancestors(self.parents)

        def see(value: Any) -> Any:
            return set(map(see_value, _closure(value, above)))

        def weigh(a: Any, b: Any) -> float:
            return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0

        return leaf(see, weigh)

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        return F(Match(exact)).pairs(r, p, blocks)


def _closure(value: Any, above: Mapping[Any, set[Any]]) -> dict[Any, None]:
    types: Iterable[Any] = value if isinstance(value, (set, frozenset, list)) else (value,)
    out = dict.fromkeys(types)
    for one in list(out):
        out.update(dict.fromkeys(above.get(one, ())))
    return out


def subset(inner: Similarity, *, side: str = "predicted", empty: bool = False, distinct: bool = False) -> Subset:
    """1 if the predicted collection is not empty (unless `empty`) and lies inside the reference (eq. 25).

    >>> ts.subset(ts.exact)(["mayor", "he"], ["he"]), ts.subset(ts.exact)(["mayor", "he"], ["he", "she"])
    (1.0, 0.0)
    """
    return Subset(inner, side, empty, distinct)


def links(inner: Similarity) -> Links:
    """The number of shared links, max(0, |X ∩ Y| - 1) (eq. 21).

    >>> ts.links(ts.exact)(["mayor", "he", "him"], ["mayor", "he", "him", "her"])
    2.0
    """
    return Links(inner)


def best(inner: Similarity) -> Best:
    """The largest similarity of any pair of items.

    >>> ts.best(ts.text("levenshtein"))(["Ann Lee", "her"], ["Ann", "Ann Lee"])
    1.0
    """
    return Best(inner)


def supertypes(parents: Mapping[Any, Any]) -> Supertypes:
    """F1 of the sets of supertypes (eq. 39).

    >>> round(ts.supertypes({"bombing": "attack", "attack": "event"})("bombing", "attack"), 4)
    0.8
    """
    return Supertypes(parents_table(parents))


# Error rates: what was missed, what is false and what was confused, over what the reference has.
#
#     error_rate(correct=match(record(label=exact, time=φ)), detected=match(record(time=φ)))
#
# Two sums say everything: how much was detected at all, whatever it was called (D), and how much of that is correct (C).
#
#     missed   = Σ(R,R) - D
#     false    = Σ(P,P) - D          error rate = (missed + false + confused) / Σ(R,R)
#     confused = D - C
#
# Diarisation (DER), sound events (ER) and slot errors are of this form. Lower is better, and a rate may pass 1.


@frozen
class ErrorRate(Node):
    """Missed, false and confused, over what one side has."""

    correct: Similarity
    detected: Similarity
    over: str = "reference"
    name = "error_rate"
    says = "missed, false and confused"
    letter = "N"
    side_names = ("detected", "correct")

    def __post_init__(self) -> None:
        require(self.over in SIDES, f"error_rate(): over must be {' or '.join(SIDES)}, found {self.over!r}")

    @property
    def by_side(self) -> tuple[Similarity, Similarity]:
        return self.detected, self.correct

    @property
    def aligned_by(self) -> Similarity:
        return self.correct.summed

    @property
    def headline(self) -> tuple[str, float]:
        return "error_rate", 1.0

    def kind_of_tally(self) -> Kind:
        return Rate(self.over)

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        whole = den_r if self.over == "reference" else den_p
        wrong = den_r + den_p - num_p - num_r
        return wrong / whole if whole else float(wrong > 0)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.correct.sample(rng, depth)

    def _arguments(self) -> Iterator[str]:
        yield f"correct={self.correct!r}"
        yield f"detected={self.detected!r}"
        if self.over != "reference":
            yield f'over="{self.over}"'

    def mirrored(self) -> Node:
        over = SIDES[1 - SIDES.index(self.over)]
        return replace(self, correct=self.correct.mirrored(), detected=self.detected.mirrored(), over=over)


def error_rate(correct: Similarity, detected: Similarity, *, over: str = "reference") -> ErrorRate:
    """Missed, false and confused, over what the reference has; `detected` is `correct` without the names.

    >>> words = ts.match(ts.exact)
    >>> ts.error_rate(correct=words, detected=words)(["a", "b"], ["a"])
    0.5
    """
    return ErrorRate(correct, detected, over)
