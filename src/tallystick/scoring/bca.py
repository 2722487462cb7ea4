"""Bias-corrected and accelerated quantiles (BCa, Efron 1987), with an acceleration that one document cannot make alone.

Of an interval's two quantiles, z₀ corrects the bias: how many resamples lie below the estimate. The acceleration a is how
fast the figure's standard error changes with the figure, a sixth of the skewness of what the documents contribute:

    a = Σ d³ / (6 (Σ d²)^(3/2))      d: how far the figure without one document is below the mean of all such

A third moment is often made by one or two large documents. Then it is noise, and noise of the worst kind: where a large
document has raised the figure it moves the interval up, further away from the truth. So it is multiplied by the share of
its square that is owed to pairs of different documents,

    (Σ d³)² = Σᵢ dᵢ⁶ + Σᵢ≠ⱼ dᵢ³ dⱼ³      share = Σᵢ≠ⱼ dᵢ³ dⱼ³ / (Σ d³)², or 0 where that is negative

The second sum is the unbiased estimate of what the square of the first would be over other documents; the first is what a
third moment of 0 would give too. The share tends to 1 with the number of documents (what is missing is of order 1/n), so
that BCa keeps its accuracy of second order; it is 0 where a cannot be told from 0.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from tallystick.columns.arrays import F64

_LEAST = 2.0**-53
"""Half the distance of 1 to the next smaller number."""


def bias_of(values: F64, estimate: float) -> float:
    """z₀ = Φ⁻¹(the share of resamples below the estimate); those that are equal to it count half."""
    same = np.isclose(values, estimate, rtol=0, atol=1e-12)
    below = float((np.sum((values < estimate) & ~same) + 0.5 * np.sum(same)) / len(values))
    return NormalDist().inv_cdf(min(max(below, 0.5 / len(values)), 1 - 0.5 / len(values)))


def acceleration_of(without: F64) -> float:
    """The acceleration, from what the figure is without each document: Efron's, as far as several documents make it."""
    return efrons_acceleration(without) * owed_to_several(without)


def efrons_acceleration(without: F64) -> float:
    """a = Σ d³ / (6 (Σ d²)^(3/2)), as in other tools; a figure that no document changes has none."""
    below = _below_their_mean(without)
    cubed, squared = float(np.sum(below**3)), float(np.sum(below**2))
    return cubed / (6 * squared**1.5) if squared > 1e-20 else 0.0


def owed_to_several(without: F64) -> float:
    """The share of (Σ d³)² that pairs of different documents make; 0 where they make less than nothing."""
    cubed = _below_their_mean(without) ** 3
    largest = float(np.max(np.abs(cubed), initial=0.0))
    if largest == 0:
        return 0.0
    cubed = cubed / largest  # sixth powers of small differences would be lost
    total = float(np.sum(cubed)) ** 2
    return max(0.0, 1 - float(np.sum(cubed**2)) / total) if total > 0 else 0.0


def moved(quantiles: tuple[float, float], bias: float, acceleration: float) -> tuple[float, float]:
    """BCa's quantiles: Φ(z₀ + z / (1 - a z)), with z = z₀ + Φ⁻¹(quantile)."""
    normal = NormalDist()
    # 0 and 1, to which a level next to 1 is rounded, have no finite z
    z = [bias + normal.inv_cdf(min(max(quantile, _LEAST), 1 - _LEAST)) for quantile in quantiles]
    low, high = (normal.cdf(bias + one / max(1 - acceleration * one, 1e-9)) for one in z)
    return low, high


def _below_their_mean(without: F64) -> F64:
    without = without[~np.isnan(without)]
    below: F64 = without.mean() - without if len(without) else without
    return below
