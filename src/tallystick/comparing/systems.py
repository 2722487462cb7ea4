"""Several systems under several metrics: figures with intervals, who beats whom, ranks and where they move.

    system   muc                       b3
    A        0.793 [.781, .805] bc  1  0.700 [.688, .711] c   2 ↓1
    B        ...

A letter behind a figure names a system that is significantly worse (Holm's correction over all pairs of a metric).
The first metric's ranks are the ones that arrows count from. Where a system comes in several runs (splits, seeds), its
figure is their mean with their spread, and nothing is tested: runs over different documents cannot be paired.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from tallystick.comparing.ranking import kendall, ranks, spearman
from tallystick.errors import MetricError, SidesMismatch, some
from tallystick.scoring.resampling import Difference, Interval, holm, intervals, paired_bootstrap, randomisation

if TYPE_CHECKING:
    from tallystick.scoring.result import Result

TESTS = {"bootstrap": paired_bootstrap, "randomisation": randomisation}


@dataclass(frozen=True)
class Cell:
    """One system under one metric."""

    value: float | None
    interval: Interval | None = None
    spread: float | None = None
    runs: int = 1
    rank: float | None = None
    moved: float = 0.0
    beats: str = ""


@dataclass(frozen=True)
class Comparison:
    """Systems by metrics; `letters` names each system by one letter."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    differences: Mapping[tuple[str, str, str], Difference]
    settings: str = ""
    notes: tuple[str, ...] = ()

    @property
    def letters(self) -> dict[str, str]:
        return {system: letter(k) for k, system in enumerate(self.systems)}

    def values(self, metric: str) -> list[float]:
        """The figures of all systems; an undefined one is below all others."""
        found = (self.cells[system, metric].value for system in self.systems)
        return [-math.inf if value is None else value for value in found]

    def correlations(self) -> list[dict[str, Any]]:
        """How much each pair of metrics agrees about the order of the systems."""
        out = []
        for first, second in combinations(self.metrics, 2):
            a, b = self.values(first), self.values(second)
            row: dict[str, Any] = {"first": first, "second": second, "spearman": _defined(spearman(a, b))}
            row.update({f"kendall_{v}": _defined(kendall(a, b, v)) for v in "abc"})
            out.append(row)
        return out

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "settings": self.settings,
            "systems": {
                system: {metric: vars_of(self.cells[system, metric]) for metric in self.metrics}
                for system in self.systems
            },
            "letters": self.letters,
            "differences": [
                {"metric": metric, "first": a, "second": b, "difference": d.value, "p": d.p, "test": d.test}
                for (metric, a, b), d in self.differences.items()
            ],
            "correlations": self.correlations(),
            "notes": list(self.notes),
        }


def letter(k: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    out = ""
    k += 1
    while k:
        k, rest = divmod(k - 1, 26)
        out = ascii_lowercase[rest] + out
    return out


def vars_of(cell: Cell) -> dict[str, Any]:
    """A cell as plain data."""
    interval = None if cell.interval is None else [cell.interval.low, cell.interval.high]
    return {**vars(cell), "interval": interval}


def compare(
    systems: Mapping[str, Mapping[str, Result]],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    test: str = "bootstrap",
) -> Comparison:
    """Lay systems side by side, each with the results of the same metrics over the same documents."""
    if test not in TESTS:
        raise MetricError(f"test must be one of {', '.join(TESTS)}, found {test!r}")
    names, metrics = tuple(systems), _common_metrics(systems)
    cells: dict[tuple[str, str], Cell] = {}
    for system in names:
        results = [systems[system][metric] for metric in metrics]
        found = intervals(results, resamples=resamples, seed=seed, level=level, method=method)
        for metric, result, interval in zip(metrics, results, found, strict=True):
            cells[system, metric] = Cell(result.score, interval[result.kind.headline])
    differences = _differences(systems, metrics, TESTS[test], resamples, seed)
    beats = _beaten(names, metrics, differences, 1 - level)
    settings = f"resamples={resamples}, seed={seed}, level={level:g}, interval={method}, test={test}, correction=holm"
    return Comparison(names, metrics, _ranked(names, metrics, cells, beats), differences, settings)


def compare_runs(systems: Mapping[str, Sequence[Mapping[str, float | None]]], notes: Sequence[str] = ()) -> Comparison:
    """Systems of which each comes in one or several runs, given by their figures alone."""
    metrics = tuple(dict.fromkeys(metric for runs in systems.values() for run in runs for metric in run))
    cells: dict[tuple[str, str], Cell] = {}
    for system, runs in systems.items():
        for metric in metrics:
            found = [run[metric] for run in runs if run.get(metric) is not None]
            values = [value for value in found if value is not None]
            mean = math.fsum(values) / len(values) if values else None
            spread = None
            if mean is not None and len(values) > 1:
                spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
            cells[system, metric] = Cell(mean, None, spread, len(values))
    return Comparison(tuple(systems), metrics, _ranked(tuple(systems), metrics, cells, {}), {}, notes=tuple(notes))


def _common_metrics(systems: Mapping[str, Mapping[str, Result]]) -> tuple[str, ...]:
    if len(systems) < 1:
        raise MetricError("nothing to compare")
    first = next(iter(systems.values()))
    for system, results in systems.items():
        if list(results) != list(first):
            raise SidesMismatch(f"{system} has other metrics than the first system: {some(set(results) ^ set(first))}")
    return tuple(first)


def _differences(
    systems: Mapping[str, Mapping[str, Result]], metrics: Sequence[str], test: Any, resamples: int, seed: int
) -> dict[tuple[str, str, str], Difference]:
    return {
        (metric, a, b): test(systems[a][metric], systems[b][metric], resamples=resamples, seed=seed)
        for metric in metrics
        for a, b in combinations(systems, 2)
    }


def _beaten(
    names: Sequence[str], metrics: Sequence[str], differences: Mapping[tuple[str, str, str], Difference], alpha: float
) -> dict[tuple[str, str], str]:
    """For each system and metric the letters of the systems that it is significantly above."""
    out: dict[tuple[str, str], str] = {}
    for metric in metrics:
        pairs = [(key, d) for key, d in differences.items() if key[0] == metric and d.p is not None]
        corrected = holm([d.p for _, d in pairs if d.p is not None])
        for ((_, a, b), d), p in zip(pairs, corrected, strict=True):
            if p <= alpha and d.value:
                winner, loser = (b, a) if d.value > 0 else (a, b)
                out[winner, metric] = out.get((winner, metric), "") + letter(list(names).index(loser))
    return out


def _ranked(
    names: Sequence[str],
    metrics: Sequence[str],
    cells: Mapping[tuple[str, str], Cell],
    beats: Mapping[tuple[str, str], str],
) -> dict[tuple[str, str], Cell]:
    from dataclasses import replace

    out: dict[tuple[str, str], Cell] = {}
    first: dict[str, float] = {}
    for metric in metrics:
        values = [cells[name, metric].value for name in names]
        order = ranks([-math.inf if value is None else value for value in values]).tolist()
        for name, rank in zip(names, order, strict=True):
            moved = first.setdefault(name, rank) - rank
            letters = "".join(sorted(beats.get((name, metric), "")))
            out[name, metric] = replace(cells[name, metric], rank=rank, moved=moved, beats=letters)
    return out


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
