"""Confidence intervals and paired tests from tallies, by resampling documents; never by rescoring.

Every resample's sums (see `drawing`) become figures through the tally's own kind, so that whatever is a tally has
intervals: four counts, BLANC's two classes, contingency tables, means over labels or documents.

    percentile   the (1 - level) / 2 and (1 + level) / 2 quantiles of the resamples' figures
    bca          bias-corrected and accelerated: other quantiles of the same resamples (see `bca`)

Where a score is only known between bounds (a time limit struck), the interval reaches from the lower end for the
lower bounds to the upper end for the upper ones.

Is the difference of two systems more than chance? Paired tests from tallies, and Holm's correction for many.

    bootstrap       documents are drawn for both systems together; p is the share of resamples whose difference is as
                    far from the one observed as that is from 0
    randomisation   each document's two outputs change places by a coin; p is the share of tosses whose difference is
                    as large as the one observed. Where there are few outcomes (2^n, up to four times the resamples),
                    all of them are taken, once each, and p is exact

Both are two-sided. Shares of drawn resamples count the observed difference as one of them, (1 + hits) / (1 + drawn),
so that p is never 0; and differences count as equal if less than 1e-10 apart, since sums of fractions are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.engine.drawing import (
    Sorts,
    acceleration_of,
    all_coins,
    bias_of,
    coins_tossed,
    documents_drawn,
    documents_of,
    moved,
    sorts_drawn,
    sorts_tossed,
    swapped_sums,
    weighted_sums,
    weights_for,
    width_of,
)
from tallystick.engine.tally import Counts, Kind, strata_of
from tallystick.errors import MetricError, SidesMismatch, some
from tallystick.frozen import frozen
from tallystick.results.result import RESAMPLES, in_units

if TYPE_CHECKING:
    from tallystick.results.result import Result


@frozen
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
    results: Sequence[Result],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> list[dict[str, Interval]]:
    """For each result an interval of each of its figures; the same documents are drawn for all results."""
    check_settings(resamples, level, method, seed)
    results = [in_units(one) for one in results]
    drawn = resampled_figures(results, resamples, seed)
    return [
        {name: interval_of([result], name, [drawn_], level, method) for name, drawn_ in found.items()}
        for result, found in zip(results, drawn, strict=True)
    ]


@frozen(eq=False)
class Resampled:
    """The figure of every resample, NaN where it is 0/0; `above` differs where only bounds are known."""

    values: F64
    above: F64


def resampled_figures(
    results: Sequence[Result], resamples: int, seed: int, *, headline: bool = False, sorts: Sorts | None = None
) -> list[dict[str, Resampled]]:
    """For each result its figures (or only the one that it is named after) over the same resamples. Documents are drawn one by one, or,
    where their `sorts` are known, those of a sort together: other draws of the same distribution."""
    tallies = [(result.kind, result.rows, result.undefined) for result in results]
    uppers: dict[int, int] = {}
    for k, result in enumerate(results):
        if result.above is not None and not result.optimal:
            uppers[k] = len(tallies)
            tallies.append((result.kind, result.above, result.undefined))
    rows = [tally[1] for tally in tallies]
    if documents_of(rows) == 0:
        return [{name: _nothing() for name in _names(result.kind, headline)} for result in results]
    strata = strata_of(results[0].kind, len(rows[0]))
    values: list[dict[str, list[F64]]] = [{} for _ in tallies]
    if sorts is None:
        drawn = documents_drawn(strata, resamples, seed, width_of(rows), weights_for(rows))
    else:
        rows = [one[sorts[0]] for one in rows]
        drawn = sorts_drawn(sorts[1], resamples, seed, width_of(rows))
    for block in weighted_sums(drawn, rows):
        for (kind, _, undefined), sums, kept in zip(tallies, block, values, strict=True):
            for name, found in figures_of(kind, sums, undefined, headline).items():
                kept.setdefault(name, []).append(found)
    joined = [{name: np.concatenate(parts) for name, parts in kept.items()} for kept in values]
    return [
        {name: Resampled(found, joined[uppers[k]][name] if k in uppers else found) for name, found in joined[k].items()}
        for k in range(len(results))
    ]


@frozen
class WherePresent:
    """A part as resamples see it: one that has nothing of the part on either side has no figure, and the policy for 0/0 holds in the
    others. An interval is then about how well the part is found, and not about how often it was drawn."""

    kind: Kind
    undefined: float

    @property
    def headline(self) -> str:
        return self.kind.headline

    @property
    def sums(self) -> tuple[str, ...]:
        return self.kind.sums

    def figures(self, sums: F64) -> dict[str, F64]:
        there = sums.any(axis=-1)
        found = self.kind.figures(sums)
        return {n: np.where(there, np.nan_to_num(one, nan=self.undefined), np.nan) for n, one in found.items()}


def where_present(part: Result) -> Result:
    """A part whose resamples are those that have something of it."""
    if part.undefined is None or not isinstance(part.kind, Counts):
        return part
    return part.changed(kind=WherePresent(part.kind, part.undefined), undefined=None)


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
    if most_drawn(results[0]) < 2 or undefined == len(values):
        return Interval(None, None, level, method, undefined)
    low, high = _ends(results, name, values, level, method, upper=False)
    if above is not values:
        _, high = _ends(results, name, above, level, method, upper=True)
    return Interval(low, high, level, method, undefined)


def most_drawn(result: Result) -> int:
    """How many documents are drawn together at most: one alone always draws itself, which says nothing."""
    return max(strata_of(result.kind, len(result.ids)), default=0)


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


@frozen(eq=False)
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
    return LeftOut(
        float(np.mean(estimates)),
        _within_strata(np.mean(without, axis=0), strata_of(results[0].kind, len(results[0].ids))),
    )


def _within_strata(without: F64, strata: Sequence[int]) -> F64:
    """What a figure is without each document, as far as that differs from the mean of its stratum; a stratum of n documents changes by
    (n - 1) / n of that (as in scipy's BCa of several samples). Of one stratum nothing changes but the scale, which does not matter."""
    if len(strata) < 2:
        return without
    out: F64 = without.copy()
    middle, first = float(np.nanmean(without)), 0
    for n in strata:
        part = without[first : first + n]
        out[first : first + n] = middle + (part - np.nanmean(part)) * (n - 1) / n
        first += n
    return out


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


def quantiles_of(values: F64, shares: Sequence[float]) -> list[float]:
    """`np.quantile`, which would load `numpy.ma` first: between two values in order, counted from the nearer one."""
    last = len(values) - 1
    places = [(last * share, min(math.floor(last * share), max(0, last - 1))) for share in shares]
    found = np.partition(values, sorted({k for _, first in places for k in (first, min(first + 1, last))}))
    out = []
    for place, first in places:
        a, b, part = float(found[first]), float(found[min(first + 1, last)]), place - first
        out.append(a + (b - a) * part if part < 0.5 else b - (b - a) * (1 - part))
    return out


def percentile_ends(values: F64, quantiles: Quantiles, left_out: Callable[[], LeftOut]) -> tuple[float, float]:
    """The quantiles of the resamples' figures."""
    del left_out
    low, high = quantiles_of(values, quantiles)
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


# Paired tests

TESTS = ("bootstrap", "randomisation")
EQUAL = 1e-10


@frozen
class Difference:
    """How much the second of two systems is above the first, under one metric's headline figure."""

    value: float | None
    p: float | None
    interval: Interval
    test: str
    corrected: float | None = None
    """p after Holm's correction, where several were tested."""

    @property
    def is_significant(self) -> bool:
        """Whether it is more than chance after the correction."""
        return self.corrected is not None and self.corrected <= 1 - self.interval.level + 1e-12 and bool(self.value)


def paired_bootstrap(
    first: Result,
    second: Result,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> Difference:
    """Is `second` different from `first`? Documents are drawn for both together."""
    return _test_pair(first, second, "bootstrap", resamples, seed, level, method)


def randomisation(
    first: Result,
    second: Result,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> Difference:
    """Is `second` different from `first`? The two outputs of each document change places by a coin."""
    return _test_pair(first, second, "randomisation", resamples, seed, level, method)


def _test_pair(
    first: Result, second: Result, test: str, resamples: int, seed: int, level: float, method: str
) -> Difference:
    check_settings(resamples, level, method, seed)
    first, second = in_units(first), in_units(second)
    check_comparable(first, second)
    name = first.kind.headline
    drawn = resampled_figures([first, second], resamples, seed, headline=True)
    values = [found[name].values for found in drawn]
    tossed = (
        randomisation_values([[first], [second]], [(0, 1)], resamples, seed)[0] if test == "randomisation" else None
    )
    return difference(
        [first.score, second.score], values, len(first.ids), level, tossed, method,
        lambda: figure_left_out([second], name) - figure_left_out([first], name),
    )  # fmt: skip


def difference(
    scores: Sequence[float | None], drawn: Sequence[F64], documents: int, level: float, randomised: float | None,
    method: str, left_out: Callable[[], LeftOut],
) -> Difference:  # fmt: skip
    """Two systems' difference with its bootstrap interval, whose method may ask what the difference is without each
    document; p by the paired bootstrap, unless one is given."""
    test = "bootstrap" if randomised is None else "randomisation"
    if scores[0] is None or scores[1] is None:
        return Difference(None, None, Interval(None, None, level, method), test)
    observed = scores[1] - scores[0]
    change = drawn[1] - drawn[0]
    undefined = int(np.isnan(change).sum())
    change = change[~np.isnan(change)]
    if documents < 2 or len(change) == 0:  # one document always draws itself, which says nothing
        return Difference(observed, None, Interval(None, None, level, method, undefined), test)
    interval = Interval(*interval_ends(change, level, method, left_out), level, method, undefined)
    if randomised is None:
        hits = int(np.sum(np.abs(change - observed) >= abs(observed) - EQUAL))
        randomised = (1 + hits) / (1 + len(change))
    return Difference(observed, None if np.isnan(randomised) else randomised, interval, test)


def randomisation_values(
    systems: Sequence[Sequence[Result]],
    pairs: Sequence[tuple[int, int]],
    resamples: int,
    seed: int,
    *,
    sorts: Sorts | None = None,
) -> list[float]:
    """p of each pair of systems by randomisation, NaN where undefined; the same coins are tossed for all pairs. Documents
    of one sort, where these are known, are tossed together.

    A system is its runs, of which there is often one; those of a pair change places together. One product for each run
    serves all pairs.
    """
    runs = [run for system in systems for run in system]
    rows, n = [run.rows for run in runs], len(runs[0].ids)
    ends = np.cumsum([len(system) for system in systems]).tolist()
    exact = is_exact(n, resamples)
    width = width_of(rows)
    times: I64 | int = 1
    if sorts is not None:
        rows, times = [one[sorts[0]] for one in rows], sorts[1]
        coins = sorts_tossed(times, resamples, seed, width)
    else:
        weights = weights_for(rows)
        coins = all_coins(n, width, weights) if exact else coins_tossed(n, resamples, seed, width, weights)
    means = [float(np.mean([_score(run, run.sums) for run in system])) for system in systems]
    observed = [means[b] - means[a] for a, b in pairs]
    hits, total = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    for gone, kept in swapped_sums(coins, rows, times):
        for k, (a, b) in enumerate(pairs):
            first, second = (range(ends[system] - len(systems[system]), ends[system]) for system in (a, b))
            there = np.mean([_score(runs[j], gone[i] + kept[j]) for i, j in zip(first, second, strict=True)], axis=0)
            back = np.mean([_score(runs[i], gone[j] + kept[i]) for i, j in zip(first, second, strict=True)], axis=0)
            apart = there - back
            apart = apart[~np.isnan(apart)]
            hits[k] += int(np.sum(np.abs(apart) >= abs(observed[k]) - EQUAL))
            total[k] += len(apart)
    return [
        float("nan") if np.isnan(seen) or not t else (h / t if exact else (1 + h) / (1 + t))
        for seen, h, t in zip(observed, hits.tolist(), total.tolist(), strict=True)
    ]


def is_exact(documents: int, resamples: int) -> bool:
    """Whether all 2^n outcomes of a randomisation are taken: if they are no more than four times the resamples, so that
    no p is drawn that is smaller than the smallest there is."""
    return documents < 63 and 2**documents <= 4 * resamples


def check_comparable(first: Result, second: Result) -> None:
    """Paired tests need one metric over the same documents in one order."""
    if first.ids != second.ids:
        apart = set(first.ids) ^ set(second.ids)
        raise SidesMismatch(
            "the two results are over different documents; paired tests need the same ones in one order"
            + (f"; only one has {some(name for name in (*first.ids, *second.ids) if name in apart)}" if apart else "")
        )
    for what, one, other in (
        ("metrics", first.metric, second.metric),
        ("kinds of tally", first.kind, second.kind),
        ("policies for 0/0", first.undefined, second.undefined),
    ):
        if str(one) != str(other):
            raise MetricError(f"the two results are of different {what}: {one} and {other}")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: p-values that may be compared with the level of the whole family."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    out = [0.0] * len(p_values)
    highest = 0.0
    for rank, k in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[k]))
        out[k] = highest
    return out


def _score(result: Result, sums: F64) -> F64:
    return figures_of(result.kind, sums, result.undefined, True)[result.kind.headline]
