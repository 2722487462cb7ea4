"""How much two metrics agree about the order of systems: ranks, Spearman's and Kendall's correlations.

Spearman without ties is 1 - 6 Σ d² / (p (p² - 1)), d the difference of a system's two ranks among p; with ties each
gets the mean of the ranks that they share, and it is the linear correlation of the ranks.

Kendall counts pairs of systems: C in the same order under both, D in opposite order, T tied under the first only, U
under the second only, n all pairs.

    τ_a = (C - D) / n      τ_b = (C - D) / √((C + D + T)(C + D + U))      τ_c = 2 m (C - D) / (p² (m - 1))

with m the smaller number of different values. They are one where nothing is tied.

Scores are equal if they differ by less than 1e-10 of their size, or by that: what is the same in theory should not be
ranked by how it was rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tallystick.errors import MetricError

Scores = Sequence[float] | npt.NDArray[np.float64]
TIES = ("mean", "order")
EQUAL = 1e-10


def ranks(scores: Scores, ties: str = "mean") -> npt.NDArray[np.float64]:
    """The rank of each score, 1 for the highest. Ties share the mean of their ranks or, with `ties="order"`, are
    ranked one after the other as they stand, as papers print them."""
    if ties not in TIES:
        raise MetricError(f"ties must be {' or '.join(TIES)}, found {ties!r}")
    places = -levels(scores)
    if ties == "order":
        out = np.empty(len(places))
        out[np.argsort(places, kind="stable")] = np.arange(1, len(places) + 1)
        return out
    _, inverse, count = np.unique(places, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[inverse]


def levels(scores: Scores) -> npt.NDArray[np.int64]:
    """Which of the different scores each is, from the lowest; equal ones have the same level."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sizes = np.maximum(1, np.minimum(np.abs(ordered[1:]), np.abs(ordered[:-1])))
    with np.errstate(invalid="ignore"):  # two that are infinite are equal
        apart = np.diff(ordered) > EQUAL * sizes
    out = np.empty(len(values), np.int64)
    out[order] = np.concatenate(([0], np.cumsum(apart)))[: len(values)]
    return out


def spearman(first: Scores, second: Scores) -> float:
    """Spearman's correlation of two lists of scores of the same systems; NaN where one has only ties."""
    _check_lengths(first, second)
    a, b = ranks(first), ranks(second)
    if not len(a):
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else float("nan")


def kendall(first: Scores, second: Scores, variant: str = "b") -> float:
    """Kendall's τ of two lists of scores of the same systems: variant a, b or c; NaN where it is 0/0."""
    _check_lengths(first, second)
    x, y = levels(first), levels(second)
    i, j = np.triu_indices(len(x), 1)
    left, right = (np.sign(side[i] - side[j]).astype(np.float64) for side in (x, y))
    score = float(np.sum(left * right))
    if variant == "a":
        below = float(len(i))
    elif variant == "b":
        below = math.sqrt(float(np.sum(left != 0)) * float(np.sum(right != 0)))
    elif variant == "c":
        m = min(len(np.unique(x)), len(np.unique(y)))
        below = len(x) ** 2 * (m - 1) / (2 * m) if m else 0.0
    else:
        raise MetricError(f"variant must be a, b or c, found {variant!r}")
    return score / below if below else float("nan")


def _check_lengths(first: Scores, second: Scores) -> None:
    if len(first) != len(second):
        raise MetricError(f"expected two scores of each system, found {len(first)} and {len(second)} scores")
