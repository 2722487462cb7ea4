"""How much two metrics agree about the order of systems: Spearman's rank correlation.

Without ties R = 1 - 6 sum d^2 / (p (p^2 - 1)), d being the difference of a system's two ranks among p. With
ties each gets the mean of the ranks that they share, and R is the linear correlation of the ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def ranks(scores: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The rank of each score, 1 for the highest; ties share the mean of their ranks."""
    _, inverse, count = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[inverse]


def spearman(
    first: Sequence[float] | npt.NDArray[np.float64], second: Sequence[float] | npt.NDArray[np.float64]
) -> float:
    """Spearman's correlation of two lists of scores of the same systems; NaN where one has only ties."""
    a, b = ranks(first), ranks(second)
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else float("nan")
