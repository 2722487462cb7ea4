"""Normalisers N ∈ {P, R, F, J}: from Σ(P,R), Σ(P,P), Σ(R,R) to a similarity in [0, 1] (eq. 4 to 7).

Around the whole metric a normaliser says which figure is meant. Nested, it is a similarity of its own, with
N(∅, ∅) = 1 and N(∅, x) = 0, so that every value equals itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick.algebra.cases import Cases, Let
from tallystick.algebra.functions import Through
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import Node, Similarity, require
from tallystick.algebra.records import Each
from tallystick.algebra.sets import Match, Sums, joined
from tallystick.algebra.weights import Weighted
from tallystick.engine.arrays import F64
from tallystick.engine.blocks import Blocks, Pairs, union
from tallystick.engine.data import Data, Scope
from tallystick.engine.encoded import Column, unshared


@dataclass(frozen=True, repr=False)
class Normaliser(Similarity):
    """N[φ]: what P, R, F and J share."""

    inner: Similarity

    def __post_init__(self) -> None:
        require(
            isinstance(self.inner, Similarity),
            f"{self.name}() needs a similarity inside, such as match(exact); found {self.inner!r}",
        )

    def figure(self, num_r: Any, num_p: Any, den_r: Any, den_p: Any) -> Any:
        """N of the four sums, where both denominators are above 0."""
        raise NotImplementedError

    @property
    def regular(self) -> bool:
        # "Covered" sums never pass the self-score, whatever Σ itself does.
        covered = isinstance(self.inner, Match) and self.inner.constraint in ("N:1", "1:N") and not self.inner.literal
        return self.inner.inner.regular if covered else self.inner.regular  # type: ignore[attr-defined]

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.inner.encode(reference, predicted, scope)

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        sums = numerators(self.inner, r, p, blocks)
        own, other = self.inner.selves(r), self.inner.selves(p)
        both = (own[sums.i] > 0) & (other[sums.j] > 0)
        i, j = sums.i[both], sums.j[both]
        num_p = sums.predicted[both]
        num_r = num_p if sums.reference is sums.predicted else sums.reference[both]
        weights = self.figure(num_r, num_p, own[i], other[j])
        empty_r, empty_p = np.flatnonzero(own == 0), np.flatnonzero(other == 0)
        a, b = blocks.at(empty_r, empty_p).pairs()
        if len(a) == 0:
            return Pairs(i, j, weights)
        return Pairs(
            np.concatenate((i, empty_r[a])),
            np.concatenate((j, empty_p[b])),
            np.concatenate((weights, np.ones(len(a)))),
        )


def numerators(inner: Similarity, r: Column, p: Column, blocks: Blocks) -> Sums:
    """Σ of each pair, as both sides see it."""
    if two_numerators(inner) and len(r) and len(p):
        return _by_side(inner, unshared(r), unshared(p), blocks)
    return Sums.of(inner.pairs(r, p, blocks))


def two_numerators(inner: Similarity) -> bool:
    """Whether Σ counts differently on the two sides: a one-sided matching, also as a field of a sum or as one of several cases."""
    match inner:
        case Match():
            return inner.constraint in ("N:1", "1:N") and not inner.literal
        case Each():
            return any(two_numerators(part) for _, part in inner.fields)
        case Cases():
            return any(two_numerators(part) for _, part in inner.options)
        case Let():
            return two_numerators(inner.body)
        case Optional():
            return two_numerators(inner.present)
        case Weighted() | Through():
            return two_numerators(inner.inner)
    return False


def _by_side(inner: Similarity, r: Any, p: Any, blocks: Blocks) -> Sums:
    match inner:
        case Match():
            return inner.sums(r, p, blocks)
        case Weighted():
            one, w = numerators(inner.inner, r, p, blocks), inner.weight
            return Sums(one.i, one.j, one.total * w, one.reference * w, one.predicted * w)
        case Through():
            return numerators(inner.inner, r, p, blocks)
        case Let():
            return numerators(inner.unrolled, r, p, blocks)
        case Optional():
            found = numerators(inner.present, r.present, p.present, blocks.at(r.rows, p.rows)).moved(r.rows, p.rows)
            return joined([found, Sums.of(inner.both_missing(r, p, blocks))])
        case Cases():
            return joined(
                [
                    numerators(part, r.columns[k], p.columns[k], blocks.at(r.rows(k), p.rows(k))).moved(
                        r.rows(k), p.rows(k)
                    )
                    for k, (_, part) in enumerate(inner.options)
                ]
            )
    assert isinstance(inner, Each)
    # Each side's numerators of a sum are the sums of its fields' numerators, over the same pairs.
    sides: tuple[list[Pairs], list[Pairs], list[Pairs]] = ([], [], [])
    for (_, part, a, rows), (_, _, b, columns) in zip(inner.by_field(r), inner.by_field(p), strict=True):
        everywhere = rows is None and columns is None
        rows = np.arange(len(r)) if rows is None else rows
        columns = np.arange(len(p)) if columns is None else columns
        one = numerators(part, a, b, blocks if everywhere else blocks.at(rows, columns))
        for side, weights in zip(sides, (one.total, one.reference, one.predicted), strict=True):
            side.append(Pairs(one.i, one.j, weights).moved(rows, columns))
    total, reference, predicted = (union(side, len(p), len(r)) for side in sides)
    return Sums(total.i, total.j, total.weight, reference.weight, predicted.weight)


@dataclass(frozen=True, repr=False)
class Precision(Normaliser):
    """P = Σ(P,R) / Σ(P,P) (eq. 4)."""

    name = "precision"

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_p / den_p

    def mirrored(self) -> Similarity:
        return Recall(self.inner.mirrored())


@dataclass(frozen=True, repr=False)
class Recall(Normaliser):
    """R = Σ(P,R) / Σ(R,R) (eq. 5)."""

    name = "recall"

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_r / den_r

    def mirrored(self) -> Similarity:
        return Precision(self.inner.mirrored())


@dataclass(frozen=True, repr=False)
class F(Normaliser):
    """F_β (eq. 6): with one numerator S it is (1 + β²) S / (β² Σ(R,R) + Σ(P,P)), else from P and R."""

    beta: float = 1.0
    name = "f"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.beta > 0, f"f() needs beta > 0, found {self.beta!r}")

    def __repr__(self) -> str:
        return f"f1({self.inner!r})" if self.beta == 1 else super().__repr__()

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return f_score(num_r, num_p, den_r, den_p, self.beta)

    def mirrored(self) -> Similarity:
        return replace(self, inner=self.inner.mirrored(), beta=1 / self.beta)


@dataclass(frozen=True, repr=False)
class Jaccard(Normaliser):
    """J = Σ(P,R) / (Σ(P,P) + Σ(R,R) - Σ(P,R)) (eq. 7). It needs one numerator."""

    name = "jaccard"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not two_numerators(self.inner),
            "jaccard() needs one numerator; a one-sided match has two. Use match(..., literal=True)",
        )

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return num_p / (den_r + den_p - num_p)


@dataclass(frozen=True, repr=False)
class Sides(Node):
    """A metric that is two expressions: precision from one, recall from the other (eq. 23 and 24)."""

    precision: Similarity
    recall: Similarity
    name = "sides"

    def _arguments(self) -> Iterator[str]:
        yield f"precision={self.precision!r}"
        yield f"recall={self.recall!r}"

    def mirrored(self) -> Node:
        return Sides(self.recall.mirrored(), self.precision.mirrored())


def f_score(num_r: F64, num_p: F64, den_r: F64, den_p: F64, beta: float) -> F64:
    """F_β of arrays whose denominators are above 0."""
    square = beta * beta
    if num_r is num_p:
        return (1 + square) * num_p / (square * den_r + den_p)
    recall, precision = num_r / den_r, num_p / den_p
    weight = square * precision + recall
    return np.divide((1 + square) * precision * recall, weight, out=np.zeros_like(weight), where=weight > 0)


def precision(inner: Similarity) -> Precision:
    """P-normalised (eq. 4)."""
    return Precision(inner)


def recall(inner: Similarity) -> Recall:
    """R-normalised (eq. 5)."""
    return Recall(inner)


def f1(inner: Similarity) -> F:
    """F-normalised (eq. 6)."""
    return F(inner)


def f(inner: Similarity, beta: float = 1.0) -> F:
    """F_β-normalised: β > 1 favours recall."""
    return F(inner, beta)


def jaccard(inner: Similarity) -> Jaccard:
    """Jaccard-normalised (eq. 7)."""
    return Jaccard(inner)


def sides(precision: Similarity, recall: Similarity) -> Sides:
    """Precision from one expression and recall from another."""
    return Sides(precision, recall)
