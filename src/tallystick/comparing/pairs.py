"""Every pair of systems under one metric: how far apart they are, and whether that is more than chance.

Where scores are known between bounds only (a time limit struck), so is their difference. It reaches from the second
system's lower bounds against the first one's upper bounds to the opposite, and so does its interval; p is the larger of
the two, and 1 where they disagree about who is better. Otherwise both are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from tallystick.columns.arrays import F64
from tallystick.comparing.table import Cell, letter
from tallystick.scoring.resampling import LeftOut, Resampled, figure_left_out, mean_of_runs
from tallystick.scoring.result import Result
from tallystick.scoring.significance import Difference, difference, holm, randomisation_values


@dataclass(frozen=True, eq=False)
class End:
    """One system by its scores, or by their upper bounds: its runs, and their mean in every resample."""

    runs: tuple[Result, ...]
    values: F64
    headline: str

    @property
    def score(self) -> float | None:
        """The mean over the runs, if all have a score."""
        found = [run.figures[self.headline] for run in self.runs]
        known = [score for score in found if score is not None]
        return math.fsum(known) / len(known) if len(known) == len(found) else None

    @cached_property
    def left_out(self) -> LeftOut:
        """What the mean is without each document."""
        return figure_left_out(self.runs, self.headline)


@dataclass(frozen=True, eq=False)
class Ends:
    """One system under one metric: its scores, and their upper bounds, which are the same where all is proven."""

    low: End
    high: End


def ends_of(runs: Sequence[Result], drawn: Sequence[Resampled]) -> Ends:
    """A system's runs with what they gave in the resamples."""
    values, above = mean_of_runs(drawn)
    headline = runs[0].kind.headline
    low = End(tuple(runs), values, headline)
    if above is values:
        return Ends(low, low)
    upper = tuple(run if run.above is None else replace(run, rows=run.above, above=None) for run in runs)
    return Ends(low, End(upper, above, headline))


def tested_pairs(
    systems: Mapping[str, Ends], *, test: str, resamples: int, seed: int, level: float, method: str
) -> dict[tuple[str, str], Difference]:
    """Every pair of systems, with p after Holm's correction over all of them."""
    pairs = list(combinations(systems, 2))
    met = {pair: _meetings(systems[pair[0]], systems[pair[1]]) for pair in pairs}
    tossed: dict[tuple[End, End], float] = {}
    if test == "randomisation" and pairs:
        ends = {end: k for k, end in enumerate({e: None for one in systems.values() for e in (one.low, one.high)})}
        wanted = list(dict.fromkeys(meeting for found in met.values() for meeting in found))
        places = [(ends[a], ends[b]) for a, b in wanted]
        tossed = dict(zip(wanted, randomisation_values([e.runs for e in ends], places, resamples, seed), strict=True))
    found = {}
    for pair, meetings in met.items():
        both = [_difference(*meeting, tossed.get(meeting), level, method) for meeting in meetings]
        value = _apart(systems[pair[0]].low, systems[pair[1]].low)
        found[pair] = both[0] if len(both) == 1 else _between(value, *both)
    known = {pair: d.p for pair, d in found.items() if d.p is not None}
    corrected = dict(zip(known, holm(list(known.values())), strict=True))
    return {pair: replace(d, corrected=corrected.get(pair)) for pair, d in found.items()}


def marked(
    names: Sequence[str], cells: Mapping[tuple[str, str], Cell],
    differences: Mapping[tuple[str, str, str], Difference], alpha: float,
) -> dict[tuple[str, str], Cell]:  # fmt: skip
    """The cells with the letters of the systems that each is significantly above."""
    letters = {name: letter(k) for k, name in enumerate(names)}
    beaten: dict[tuple[str, str], list[str]] = {}
    for (metric, a, b), d in differences.items():
        if d.corrected is not None and d.corrected <= alpha + 1e-12 and d.value:
            winner, loser = (b, a) if d.value > 0 else (a, b)
            beaten.setdefault((winner, metric), []).append(letters[loser])
    order = list(letters.values()).index
    joiner = "" if len(names) <= 26 else ","
    return {
        key: replace(cell, beats=joiner.join(sorted(beaten.get(key, ()), key=order))) for key, cell in cells.items()
    }


def _meetings(first: Ends, second: Ends) -> list[tuple[End, End]]:
    """The ends that a difference lies between: the smallest, then the largest; one where they are the same."""
    return list(dict.fromkeys(((first.high, second.low), (first.low, second.high))))


def _difference(first: End, second: End, randomised: float | None, level: float, method: str) -> Difference:
    scores, documents = [first.score, second.score], len(first.runs[0].ids)
    return difference(
        scores, [first.values, second.values], documents, level, randomised, method,
        lambda: second.left_out - first.left_out,
    )  # fmt: skip


def _between(value: float | None, smallest: Difference, largest: Difference) -> Difference:
    """What is known about a difference that lies between two."""
    interval = replace(smallest.interval, high=largest.interval.high)
    p = None if smallest.p is None or largest.p is None else max(smallest.p, largest.p)
    if (
        p is not None
        and smallest.value is not None
        and largest.value is not None
        and smallest.value * largest.value <= 0
    ):
        p = 1.0
    return replace(smallest, value=value, p=p, interval=interval)


def _apart(first: End, second: End) -> float | None:
    one, other = first.score, second.score
    return None if one is None or other is None else other - one
