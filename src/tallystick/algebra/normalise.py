"""Normalisers N ∈ {P, R, F, J}: from Σ(P,R), Σ(P,P), Σ(R,R) to a similarity in [0, 1] (eq. 4 to 7).

Around the whole metric a normaliser says which figure is meant. Nested, it is a similarity of its own, with
N(∅, ∅) = 1 and N(∅, x) = 0, so that every value equals itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.kernel import F_LEMMA, J_LEMMA, UNKNOWN, Kernel
from tallystick.algebra.node import Around, Node, Similarity, has_structure, require
from tallystick.engine.arrays import F64, Blocks, Pairs
from tallystick.engine.data import Data, Scope
from tallystick.engine.encoded import Column
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


@frozen
class Normaliser(Around):
    """N[φ]: what P, R, F and J share."""

    inner: Similarity
    letter = "N"

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
        return self.inner.regular_covered

    @property
    def headline(self) -> tuple[str, float]:
        return self.name, 1.0

    @property
    def summed(self) -> Similarity:
        return self.inner

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return replace(here.inside(self.inner), diagnostic=True).below()

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.inner.encode(reference, predicted, scope)

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        sums = self.inner.numerators(r, p, blocks)
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
    """F_β (eq. 6): with one numerator S it is (1 + β²) S / (β² Σ(R,R) + Σ(P,P)), else from P and R."""

    beta: float = 1.0
    name = "f"
    says = "the harmonic mean of precision and recall"
    also = ("f1",)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.beta > 0, f"f() needs beta > 0, found {self.beta!r}")

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

    @property
    def binds_here(self) -> bool:
        return self.inner.binds_here

    def bound(self) -> Similarity:
        return self._bound_inside()

    def figure(self, num_r: F64, num_p: F64, den_r: F64, den_p: F64) -> F64:
        return f_score(num_r, num_p, den_r, den_p, self.beta)

    def mirrored(self) -> Similarity:
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
    name = "sides"
    says = "precision and recall are two expressions"
    letter = "N"

    @property
    def by_side(self) -> tuple[Similarity, Similarity]:
        return self.precision, self.recall

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.precision.sample(rng, depth)

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
