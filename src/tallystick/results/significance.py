"""Is the difference of two systems more than chance? Paired tests from tallies, and Holm's correction for many.

    bootstrap       documents are drawn for both systems together; p is the share of resamples whose difference is as
                    far from the one observed as that is from 0
    randomisation   each document's two outputs change places by a coin; p is the share of tosses whose difference is
                    as large as the one observed. Where there are few outcomes (2^n, up to four times the resamples),
                    all of them are taken, once each, and p is exact

Both are two-sided. Shares of drawn resamples count the observed difference as one of them, (1 + hits) / (1 + drawn),
so that p is never 0; and differences count as equal if less than 1e-10 apart, since sums of fractions are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.drawing import all_coins, coins_tossed, swapped_sums, width_of
from tallystick.errors import MetricError, SidesMismatch, some
from tallystick.results.resampling import (
    Interval,
    LeftOut,
    check_settings,
    figure_left_out,
    figures_of,
    interval_ends,
    resampled_figures,
)

if TYPE_CHECKING:
    from tallystick.results.result import Result

TESTS = ("bootstrap", "randomisation")
EQUAL = 1e-10


@dataclass(frozen=True)
class Difference:
    """How much the second of two systems is above the first, under one metric's headline figure."""

    value: float | None
    p: float | None
    interval: Interval
    test: str
    corrected: float | None = None
    """p after Holm's correction, where several were tested."""


def paired_bootstrap(
    first: Result,
    second: Result,
    *,
    resamples: int = 1000,
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
    resamples: int = 1000,
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
    systems: Sequence[Sequence[Result]], pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> list[float]:
    """p of each pair of systems by randomisation, NaN where undefined; the same coins are tossed for all pairs.

    A system is its runs, of which there is often one; those of a pair change places together. One product for each run
    serves all pairs.
    """
    runs = [run for system in systems for run in system]
    rows, n = [run.rows for run in runs], len(runs[0].ids)
    ends = np.cumsum([len(system) for system in systems]).tolist()
    exact = is_exact(n, resamples)
    width = width_of(rows)
    coins = all_coins(n, width) if exact else coins_tossed(n, resamples, seed, width)
    means = [float(np.mean([_score(run, run.sums) for run in system])) for system in systems]
    observed = [means[b] - means[a] for a, b in pairs]
    hits, total = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    for gone, kept in swapped_sums(coins, rows):
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
