"""Confidence intervals from tallies, by the bootstrap over documents; never by rescoring.

Every resample's sums (see `drawing`) become figures through the tally's own kind, so that whatever is a tally has
intervals: four counts, BLANC's two classes, contingency tables, means over labels or documents.

    percentile   the (1 - level) / 2 and (1 + level) / 2 quantiles of the resamples' figures
    bca          bias-corrected and accelerated: other quantiles of the same resamples (see `bca`)

Where a score is only known between bounds (a time limit struck), the interval reaches from the lower end for the
lower bounds to the upper end for the upper ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.drawing import (
    acceleration_of,
    bias_of,
    documents_drawn,
    documents_of,
    moved,
    weighted_sums,
    width_of,
)
from tallystick.engine.tally import Kind
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.results.result import Result


@dataclass(frozen=True)
class Interval:
    """A confidence interval of one figure; `undefined` resamples had 0/0 and are left out."""

    low: float | None
    high: float | None
    level: float = 0.95
    method: str = "percentile"
    undefined: int = 0

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends, or None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __str__(self) -> str:
        return "–" if self.ends is None else "[{:.4f}, {:.4f}]".format(*self.ends)


def intervals(
    results: Sequence[Result], *, resamples: int = 1000, seed: int = 0, level: float = 0.95, method: str = "percentile"
) -> list[dict[str, Interval]]:
    """For each result an interval of each of its figures; the same documents are drawn for all results."""
    check_settings(resamples, level, method, seed)
    drawn = resampled_figures(results, resamples, seed)
    return [
        {name: interval_of([result], name, [drawn_], level, method) for name, drawn_ in found.items()}
        for result, found in zip(results, drawn, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Resampled:
    """The figure of every resample, NaN where it is 0/0; `above` differs where only bounds are known."""

    values: F64
    above: F64


def resampled_figures(
    results: Sequence[Result], resamples: int, seed: int, *, headline: bool = False
) -> list[dict[str, Resampled]]:
    """For each result its figures (or only the one that it is named after) over the same resamples."""
    tallies = [(result.kind, result.rows, result.undefined) for result in results]
    uppers: dict[int, int] = {}
    for k, result in enumerate(results):
        if result.above is not None and not result.optimal:
            uppers[k] = len(tallies)
            tallies.append((result.kind, result.above, result.undefined))
    rows = [tally[1] for tally in tallies]
    if documents_of(rows) == 0:
        return [{name: _nothing() for name in _names(result.kind, headline)} for result in results]
    values: list[dict[str, list[F64]]] = [{} for _ in tallies]
    for block in weighted_sums(documents_drawn(len(rows[0]), resamples, seed, width_of(rows)), rows):
        for (kind, _, undefined), sums, kept in zip(tallies, block, values, strict=True):
            for name, found in figures_of(kind, sums, undefined, headline).items():
                kept.setdefault(name, []).append(found)
    joined = [{name: np.concatenate(parts) for name, parts in kept.items()} for kept in values]
    return [
        {name: Resampled(found, joined[uppers[k]][name] if k in uppers else found) for name, found in joined[k].items()}
        for k in range(len(results))
    ]


def figures_of(kind: Kind, sums: F64, undefined: float | None, headline: bool) -> dict[str, F64]:
    """A kind's figures with the policy for 0/0 applied; NaN where there is none."""
    found = kind.figures(sums)
    chosen = {kind.headline: found[kind.headline]} if headline else found
    return {n: v if undefined is None else np.nan_to_num(v, nan=undefined) for n, v in chosen.items()}


def interval_of(
    results: Sequence[Result], name: str, drawn: Sequence[Resampled], level: float, method: str
) -> Interval:
    """The interval of one figure from its resamples, or of its mean over several runs; one document has none."""
    values, above = mean_of_runs(drawn)
    undefined = int(np.isnan(values).sum())
    if len(results[0].ids) < 2 or undefined == len(values):
        return Interval(None, None, level, method, undefined)
    low, high = _ends(results, name, values, level, method, upper=False)
    if above is not values:
        _, high = _ends(results, name, above, level, method, upper=True)
    return Interval(low, high, level, method, undefined)


def mean_of_runs(drawn: Sequence[Resampled]) -> tuple[F64, F64]:
    """The values and upper bounds of one run, or the means over several; the same array twice where all is proven."""
    if len(drawn) == 1:
        return drawn[0].values, drawn[0].above
    values: F64 = np.mean([run.values for run in drawn], axis=0)
    proven = all(run.above is run.values for run in drawn)
    return values, values if proven else np.mean([run.above for run in drawn], axis=0)


def check_settings(resamples: int, level: float, method: str, seed: int = 0) -> None:
    """Settings that make sense, or an error that says which do."""
    for name, value in (("resamples", resamples), ("seed", seed)):
        if not isinstance(value, (int, np.integer)):
            raise MetricError(f"{name} must be a whole number, found {value!r}")
    if method not in METHODS:
        raise MetricError(f"method must be {' or '.join(METHODS)}, found {method!r}")
    if not 0 < level < 1 or resamples < 1:
        raise MetricError(f"expected 0 < level < 1 and at least one resample, found level={level}, {resamples=}")


def _ends(
    results: Sequence[Result], name: str, values: F64, level: float, method: str, *, upper: bool
) -> tuple[float, float]:
    return interval_ends(values, level, method, lambda: figure_left_out(results, name, upper=upper))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A figure, and what it is without each of the documents; NaN where it is 0/0."""

    estimate: float
    without: F64

    def __sub__(self, other: LeftOut) -> LeftOut:
        return LeftOut(self.estimate - other.estimate, self.without - other.without)


def figure_left_out(results: Sequence[Result], name: str, *, upper: bool = False) -> LeftOut:
    """One figure (the mean over runs) as BCa needs it."""
    estimates, without = [], []
    for result in results:
        rows = result.above if upper and result.above is not None else result.rows
        estimates.append(float(figures_of(result.kind, rows.sum(axis=0), result.undefined, False)[name]))
        without.append(figures_of(result.kind, sums_without_each(rows), result.undefined, False)[name])
    return LeftOut(float(np.mean(estimates)), np.mean(without, axis=0))


def sums_without_each(rows: F64) -> F64:
    """The sums over all rows but one, for each: what is before it and what is behind it, so that a sum to which it alone
    contributes is 0, and not what is left of a subtraction."""
    out = np.zeros_like(rows)
    np.cumsum(rows[:-1], axis=0, out=out[1:])
    behind: F64 = np.cumsum(rows[:0:-1], axis=0)[::-1]
    out[:-1] += behind
    return out


def interval_ends(values: F64, level: float, method: str, left_out: Callable[[], LeftOut]) -> tuple[float, float]:
    """Both ends of an interval from what the resamples gave; a method may ask what the figure is without each document."""
    chosen = ((1 - level) / 2, (1 + level) / 2)
    return METHODS[method](values[~np.isnan(values)], chosen, left_out)


def percentile_ends(values: F64, quantiles: Quantiles, left_out: Callable[[], LeftOut]) -> tuple[float, float]:
    """The quantiles of the resamples' figures."""
    del left_out
    low, high = np.quantile(values, quantiles).tolist()
    return low, high


def bca_ends(values: F64, quantiles: Quantiles, left_out: Callable[[], LeftOut]) -> tuple[float, float]:
    """The quantiles that bias and acceleration have moved; plain ones where the figure itself is 0/0."""
    found = left_out()
    if not np.isnan(found.estimate):
        quantiles = moved(quantiles, bias_of(values, found.estimate), acceleration_of(found.without))
    return percentile_ends(values, quantiles, left_out)


Quantiles = tuple[float, float]
METHODS: Mapping[str, Callable[[F64, Quantiles, Callable[[], LeftOut]], tuple[float, float]]] = {
    "percentile": percentile_ends,
    "bca": bca_ends,
}


def _names(kind: Kind, headline: bool) -> tuple[str, ...]:
    return (kind.headline,) if headline else tuple(kind.figures(np.zeros(len(kind.sums))))


def _nothing() -> Resampled:
    empty: F64 = np.empty(0)
    return Resampled(empty, empty)
