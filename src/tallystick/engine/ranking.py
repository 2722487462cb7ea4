"""Claims that come with a score: how well the score tells right from wrong, and how much of it can be believed.

A claim has a confidence c and is right (1) or wrong (0). Sorted from the surest to the least sure, with ties as one step:

    Brier      the mean of (c - right)²
    ECE        Σ_b n_b / n · |accuracy_b - mean confidence_b| over bins ]0, .1], ]0.1, .2], ... (0 is in the first)
    AUROC      the chance that a right claim is surer than a wrong one, a tie counting half
    AP         Σ_k (R_k - R_k-1) P_k, the precision at each step times the recall that the step adds
    review     at each step: how many claims are as sure as that, and how many of them are right

AP divides recall by what there was to find, which may be more than the claims that are right. Scores of rankings need not lie
between 0 and 1; only Brier and ECE take them for probabilities.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import F64, I64

Mask = NDArray[np.bool_]
BINS = 10


class Steps(NamedTuple):
    """The distinct scores from the highest to the lowest; with each, how many claims are at least as sure, and how many of them are right."""

    thresholds: F64
    accepted: F64
    right: F64


def steps(scores: F64, right: Mask) -> Steps:
    """The claims ranked by their scores, ties as one step."""
    order = np.argsort(-scores, kind="stable")
    ends = step_ends(scores[order])
    return Steps(scores[order][ends], (ends + 1).astype(np.float64), np.cumsum(right[order], dtype=np.float64)[ends])


def step_ends(ranked: F64) -> I64:
    """Where each run of equal scores ends."""
    return np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else np.zeros(0, np.int64)


def brier(confidence: F64, right: Mask) -> float | None:
    """The mean squared error of the confidence; lower is better."""
    return float(np.mean((confidence - right) ** 2)) if len(right) else None


def reliability(confidence: F64, right: Mask, bins: int = BINS) -> tuple[I64, F64, F64]:
    """By bin of equal width: how many claims, their mean confidence, and the share that is right (NaN where there are none)."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    which = np.searchsorted(edges[1:-1], confidence)
    counts = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        means, shares = (np.bincount(which, weights=one, minlength=bins) / counts for one in (confidence, right))
    return counts, means, shares


def calibration_error(confidence: F64, right: Mask, bins: int = BINS) -> float | None:
    """The expected calibration error; lower is better."""
    counts, means, shares = reliability(confidence, right, bins)
    some = counts > 0
    return float(np.sum(counts[some] / len(right) * np.abs(shares[some] - means[some]))) if len(right) else None


def auroc(scores: F64, right: Mask) -> float | None:
    """The area under the ROC curve; None unless some claims are right and some wrong."""
    found = steps(scores, right)
    wrong = found.accepted - found.right
    positives, negatives = int(right.sum()), int(len(right) - right.sum())
    if not positives or not negatives:
        return None
    area = np.diff(wrong, prepend=0.0) * (found.right + np.concatenate(([0.0], found.right[:-1]))) / 2
    return float(area.sum() / (positives * negatives))


def precision_recall(scores: F64, right: Mask, there: int | None = None) -> tuple[F64, F64, F64]:
    """Threshold, precision and recall at each step; `there` is how many right claims there could have been, else those there are."""
    found = steps(scores, right)
    return found.thresholds, found.right / found.accepted, found.right / (int(right.sum()) if there is None else there)


def average_precision(scores: F64, right: Mask, there: int | None = None) -> float | None:
    """The area under precision over recall, as steps without interpolation; None if there was nothing to find."""
    if not (int(right.sum()) if there is None else there):
        return None
    _, precision, recall = precision_recall(scores, right, there)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def lowest_step(accepted: NDArray[Any], right: NDArray[Any], target: float) -> I64:
    """Along the last axis, the last step at which the share that is right reaches the target; -1 where none does."""
    reached = (accepted > 0) & (right >= target * accepted - 1e-9)
    n = reached.shape[-1]
    last = n - 1 - np.argmax(reached[..., ::-1], axis=-1) if n else np.full(reached.shape[:-1], -1)
    return np.where(reached.any(axis=-1), last, -1)


def share_interval(right: Mask, groups: I64, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's interval of the share that is right. Claims of one group (a document) are not independent: as many count as would say
    as much if they were (the design effect of the ratio Σ right / Σ claims over groups), but never more than there are."""
    n = float(len(right))
    if not n:
        return None
    share = float(right.mean())
    _, which = np.unique(groups, return_inverse=True)
    count = int(which.max()) + 1
    if 0 < share < 1 and 1 < count < n:
        off = np.bincount(which, weights=right - share)
        effect = float(np.sum(off**2)) * count / (count - 1) / (n * share * (1 - share))
        n = n / max(1.0, effect)
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1))
    return (low if share > 0 else 0.0, high if share < 1 else 1.0)
