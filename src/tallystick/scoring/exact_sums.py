"""Sums of floats without rounding, so that nothing depends on the order or the grouping of what is added.

Every float is a whole number of units of 2^-1074, the smallest float there is:

    0.1 = 0x1.999999999999ap-4 = 7205759403792794 · 2^(1074 - 56) units

A sum of floats is then a sum of integers, which has no order; it is rounded once, to the nearest float, when somebody
looks at it. That is what `math.fsum` gives too, but integers can be kept, sent, stored and added to later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.errors import MetricError

Units = tuple[int, ...]
"""One exact sum for each column."""

_ONE = 1074
_HALF = 26  # a mantissa of 53 bits in two halves: 2^36 of them fit into 64 bits


def add_up(rows: F64) -> Units:
    """The exact sum of each column of an array (rows, columns)."""
    if not len(rows):
        return (0,) * int(rows.shape[1])
    if np.all(rows == np.floor(rows)) and np.abs(rows).sum() < 2**53:  # integers, as most tallies are
        return tuple(int(total) << _ONE for total in rows.sum(axis=0).tolist())
    return tuple(_add_column(rows[:, k]) for k in range(rows.shape[1]))


def _add_column(column: F64) -> int:
    if not np.isfinite(column).all():
        raise MetricError(f"a tally has to be finite, found {column[~np.isfinite(column)][0]}")
    fraction, exponent = np.frexp(column)  # column = fraction · 2^exponent, fraction in [0.5, 1)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    high, low = mantissa >> _HALF, mantissa & ((1 << _HALF) - 1)
    total = 0
    for power in np.unique(exponent).tolist():
        here = exponent == power
        whole = (int(high[here].sum()) << _HALF) + int(low[here].sum())
        shift = power - 53 + _ONE
        total += whole << shift if shift >= 0 else whole >> -shift  # below the normal floats the last bits are 0
    return total


def merged(first: Units, second: Units) -> Units:
    """Two sums in one."""
    if len(first) != len(second):
        raise MetricError(f"sums of {len(first)} and of {len(second)} columns cannot be added")
    return tuple(a + b for a, b in zip(first, second, strict=True))


def rounded(units: Sequence[int]) -> F64:
    """Each sum as the float that is nearest to it."""
    try:
        # Python divides integers with one rounding
        return np.array([unit / (1 << _ONE) for unit in units], np.float64)
    except OverflowError:
        raise MetricError("a sum is larger than any float") from None
