"""Which documents come first where the worst do: the same in a report and among the documents that are kept for it."""

from __future__ import annotations

import numpy as np

from tallystick.columns.arrays import F64


def worst_first(values: F64, rows: F64) -> tuple[F64, F64, F64]:
    """Three keys of every document, the lowest of which come first: whether its figure is 0/0, the figure, and less its size,
    since of two that are as bad the larger has more to lose."""
    undefined = np.isnan(values)
    return undefined.astype(np.float64), np.where(undefined, 0.0, values), -np.asarray(rows.sum(axis=1), np.float64)
