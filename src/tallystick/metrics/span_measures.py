"""Measures over contingency tables, apart from the events that they were counted over.

    precision = TP / (TP + FP)    F_b = (1 + b^2) TP / (b^2 (TP + FN) + TP + FP)    accuracy = (TP + TN) / N
    recall    = TP / (TP + FN)    kappa = (p_o - p_e) / (1 - p_e)                 specificity = TN / (TN + FP)

with p_o = accuracy and p_e = ((TP + FP)(TP + FN) + (FN + TN)(FP + TN)) / N^2. A measure takes counts and
gives an array of the same shape, NaN where it is 0/0; what 0/0 means is decided here, at the last division,
never in a sum.

Averages over tags: micro is the measure of the pooled table, macro the mean of the tags' values, weighted the
mean with the numbers of true events as weights. A tag that neither side has is left out and named; one that
only one side has and whose value is 0/0 scores `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.metrics.span_counts import Array, SpanCounts

FloatArray: TypeAlias = npt.NDArray[np.float64]
Measure: TypeAlias = Callable[[SpanCounts], FloatArray]


def _divide(numerator: Array, denominator: Array) -> FloatArray:
    result = np.full(np.shape(denominator), np.nan)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result


def precision(counts: SpanCounts) -> FloatArray:
    """The part of what was predicted that is right."""
    return _divide(counts.num_p, counts.den_p)


def recall(counts: SpanCounts) -> FloatArray:
    """The part of what is true that was found."""
    return _divide(counts.num_r, counts.den_r)


def f_beta(counts: SpanCounts, beta: float = 1.0) -> FloatArray:
    """The weighted harmonic mean of precision and recall; beta above 1 favours recall.

    With one numerator it is undefined only where neither side has anything. With two (segments that have any
    partner) it is computed from precision and recall, where an undefined one counts as 0.
    """
    square = beta * beta
    if counts.num_p is counts.num_r or np.array_equal(counts.num_p, counts.num_r):
        return _divide((1 + square) * counts.num_p, square * counts.den_r + counts.den_p)
    p, r = np.nan_to_num(precision(counts)), np.nan_to_num(recall(counts))
    value = np.nan_to_num(_divide((1 + square) * p * r, square * p + r))
    value[(counts.den_p == 0) & (counts.den_r == 0)] = np.nan
    return value


def f1(counts: SpanCounts) -> FloatArray:
    """F with beta 1."""
    return f_beta(counts, 1.0)


def accuracy(counts: SpanCounts) -> FloatArray:
    """The part of all events that is right; needs true negatives."""
    tn = counts.tn
    return _divide(counts.tp + tn, counts.tp + counts.fp + counts.fn + tn)


def specificity(counts: SpanCounts) -> FloatArray:
    """The part of the untagged events that was left untagged; needs true negatives."""
    tn = counts.tn
    return _divide(tn, tn + counts.fp)


def kappa(counts: SpanCounts) -> FloatArray:
    """Cohen's kappa: agreement beyond chance; needs true negatives. Undefined where chance agrees always."""
    tp, fp, fn, tn = (np.asarray(part, dtype=np.float64) for part in (counts.tp, counts.fp, counts.fn, counts.tn))
    square = (tp + fp + fn + tn) ** 2
    by_chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    return _divide((tp + tn) * (tp + fp + fn + tn) - by_chance, square - by_chance)


@dataclass(frozen=True)
class Average:
    """The mean over tags, and the tags that it leaves out because neither side has them."""

    value: float
    left_out: tuple[str, ...] = ()


def micro(measure: Measure, counts: SpanCounts) -> float:
    """The measure of all tags' tables added up; NaN where it is 0/0."""
    return float(measure(counts.summed().pooled())[0, 0])


def macro(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None = None, *, undefined: float = 0.0
) -> Average:
    """The mean of the tags' values, over the given tags or else over all that either side has."""
    return _mean(measure, counts, tags, undefined, weighted=False)


def weighted(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None = None, *, undefined: float = 0.0
) -> Average:
    """The mean of the tags' values, each weighted by how much of it is true."""
    return _mean(measure, counts, tags, undefined, weighted=True)


def _mean(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None, undefined: float, *, weighted: bool
) -> Average:
    counts = counts.summed() if tags is None else counts.summed().of_tags(tags)
    present = (counts.den_p[0] > 0) | (counts.den_r[0] > 0)
    left_out = tuple(tag for tag, there in zip(counts.tags, present.tolist(), strict=True) if not there)
    values = measure(counts)[0][present]
    values = np.where(np.isnan(values), undefined, values)
    shares = counts.den_r[0][present] if weighted else np.ones(len(values))
    return Average(float(_divide((values * shares).sum(), shares.sum())), left_out)
