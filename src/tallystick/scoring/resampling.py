"""Statistics from tallies: intervals and tests by matrix products over the documents' rows, never by rescoring.

A bootstrap resample draws n documents with replacement; its sums are w·X with w the multinomial counts and X the
rows (n x sums) of all metrics side by side. Many resamples are one matrix product. In a randomisation test every
document's two rows change places by a coin: the sums move by s·(B - A), s the coins. Both work on any kind of tally,
since a kind turns arrays of sums into arrays of figures.

    interval          percentile, or BCa: bias-corrected and accelerated (Efron 1987)
    paired bootstrap  p = share of resamples whose difference, shifted to mean 0, is as large as the one observed
    randomisation     p = share of coin tosses whose difference is as large as the one observed

Shares count the observed one: (1 + hits) / (1 + resamples), so that p is never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.errors import MetricError, SidesMismatch

if TYPE_CHECKING:
    from tallystick.scoring.result import Result

CELLS = 4_000_000
"""How many counts are drawn at a time: the memory that resampling takes."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval of one figure."""

    low: float | None
    high: float | None
    level: float = 0.95
    method: str = "percentile"

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return "–"
        return f"[{self.low:.4f}, {self.high:.4f}]"


def intervals(
    results: Sequence[Result], *, resamples: int = 1000, seed: int = 0, level: float = 0.95, method: str = "percentile"
) -> list[dict[str, Interval]]:
    """For each result an interval of each of its figures; all results are drawn together."""
    if method not in ("percentile", "bca"):
        raise MetricError(f"method must be percentile or bca, found {method!r}")
    if not 0 < level < 1 or resamples < 1:
        raise MetricError("an interval needs 0 < level < 1 and at least one resample")
    if not results:
        return []
    drawn = bootstrap_sums([result.rows for result in results], resamples, seed)
    out = []
    for result, sums in zip(results, drawn, strict=True):
        figures = result.kind.figures(sums)
        out.append({name: _interval(result, name, values, level, method) for name, values in figures.items()})
    return out


def _interval(result: Result, name: str, values: F64, level: float, method: str) -> Interval:
    if result.undefined is not None:
        values = np.nan_to_num(values, nan=result.undefined)
    values = values[~np.isnan(values)]
    if len(values) == 0 or len(result.rows) < 2:
        return Interval(None, None, level, method)
    low, high = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        low, high = _corrected(result, name, values, low, high)
    ends = np.quantile(values, [low, high])
    return Interval(float(ends[0]), float(ends[1]), level, method)


def _corrected(result: Result, name: str, values: F64, low: float, high: float) -> tuple[float, float]:
    """BCa's quantiles: z0 from the share of resamples below the estimate, a from leaving one document out."""
    from statistics import NormalDist

    normal = NormalDist()
    estimate = float(np.nan_to_num(result.kind.figures(result.sums)[name]))
    below = (np.sum(values < estimate) + 0.5 * np.sum(values == estimate)) / len(values)
    below = min(max(float(below), 0.5 / len(values)), 1 - 0.5 / len(values))
    bias = normal.inv_cdf(below)
    without = np.nan_to_num(result.kind.figures(result.sums - result.rows)[name])
    spread = without.mean() - without
    cubed, squared = float(np.sum(spread**3)), float(np.sum(spread**2))
    acceleration = cubed / (6 * squared**1.5) if squared > 0 else 0.0

    def moved(quantile: float) -> float:
        z = bias + normal.inv_cdf(quantile)
        return normal.cdf(bias + z / (1 - acceleration * z))

    return moved(low), moved(high)


def bootstrap_sums(rows: Sequence[F64], resamples: int, seed: int) -> list[F64]:
    """The sums of each resample, for several tallies over the same documents: arrays (resamples, sums)."""
    n = len(rows[0])
    if any(len(one) != n for one in rows):
        raise SidesMismatch("results over different numbers of documents cannot be resampled together")
    stacked = np.concatenate(rows, axis=1)
    out = np.empty((resamples, stacked.shape[1]))
    for first, counts in _multinomial(n, resamples, seed):
        out[first : first + len(counts)] = counts @ stacked
    ends = np.cumsum([one.shape[1] for one in rows])
    return np.split(out, ends[:-1], axis=1)


def _multinomial(n: int, resamples: int, seed: int) -> Iterator[tuple[int, F64]]:
    """How often each document is drawn, some resamples at a time. Blocks have seeds of their own, so that neither
    their size nor the number of tallies changes what is drawn."""
    step = 64
    while step * 2 * n <= CELLS and step < resamples:
        step *= 2
    for first in range(0, resamples, 64):
        if first % step == 0:
            blocks: list[F64] = []
            start = first
        rng = np.random.default_rng([seed, first // 64])
        size = min(64, resamples - first)
        drawn = rng.integers(0, n, size=(64, n), dtype=np.uint32)[:size] if n else np.empty((size, 0), np.uint32)
        places = drawn + (np.arange(size, dtype=np.int64) * n)[:, None]
        blocks.append(np.bincount(places.ravel(), minlength=size * n).reshape(size, n).astype(np.float64))
        if (first + 64) % step == 0 or first + 64 >= resamples:
            yield start, np.concatenate(blocks)


@dataclass(frozen=True)
class Difference:
    """Two systems under one metric's headline figure."""

    value: float | None
    p: float | None
    interval: Interval
    test: str


def paired_bootstrap(first: Result, second: Result, *, resamples: int = 1000, seed: int = 0) -> Difference:
    """Is `second` different from `first`? Documents are drawn together."""
    _comparable(first, second)
    sums = bootstrap_sums([first.rows, second.rows], resamples, seed)
    observed = _headline(second, second.sums) - _headline(first, first.sums)
    drawn = _headline(second, sums[1]) - _headline(first, sums[0])
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(observed) or len(drawn) == 0:
        return Difference(None, None, Interval(None, None), "paired bootstrap")
    hits = np.sum(np.abs(drawn - observed) >= abs(float(observed)) - 1e-12)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Difference(
        float(observed), float((1 + hits) / (1 + len(drawn))), Interval(float(low), float(high)), "paired bootstrap"
    )


def randomisation(first: Result, second: Result, *, resamples: int = 1000, seed: int = 0) -> Difference:
    """Is `second` different from `first`? Approximate randomisation: the two outputs of a document change places."""
    _comparable(first, second)
    observed = float(_headline(second, second.sums) - _headline(first, first.sums))
    change = second.rows - first.rows
    hits = total = 0
    n = len(change)
    for block in range(0, resamples, 64):
        rng = np.random.default_rng([seed, block // 64])
        coins = rng.integers(0, 2, size=(64, n), dtype=np.uint8)[: min(64, resamples - block)].astype(np.float64)
        moved = coins @ change
        swapped = _headline(second, second.sums - moved) - _headline(first, first.sums + moved)
        swapped = swapped[~np.isnan(swapped)]
        hits += int(np.sum(np.abs(swapped) >= abs(observed) - 1e-12))
        total += len(swapped)
    if np.isnan(observed) or total == 0:
        return Difference(None, None, Interval(None, None), "randomisation")
    return Difference(observed, (1 + hits) / (1 + total), Interval(None, None), "randomisation")


def _headline(result: Result, sums: F64) -> F64:
    values = result.kind.figures(sums)[result.kind.headline]
    return values if result.undefined is None else np.nan_to_num(values, nan=result.undefined)


def _comparable(first: Result, second: Result) -> None:
    if first.ids != second.ids:
        raise SidesMismatch(
            "the two results are over different documents; paired tests need the same ones in one order"
        )
    if first.kind != second.kind:
        raise MetricError("the two results are of different metrics")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: p-values that may be compared with the level of the whole family."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    out = [0.0] * len(p_values)
    highest = 0.0
    for rank, k in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[k]))
        out[k] = highest
    return out
