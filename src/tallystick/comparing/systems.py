"""Several systems under several metrics: figures with intervals, who beats whom, ranks and where they move.

    system   muc                         b3
    a A      0.793 [.781, .805] bc  #1   0.700 [.688, .711] c   #2 ↓1
    b B      ...

A letter behind a figure names a system that is significantly worse (Holm's correction over all pairs of a metric).
The first metric's ranks are the ones that arrows count from. All systems are resampled together, over the same drawn
documents.

Where a system comes in several runs (seeds), its figure is the mean of theirs, with their standard deviation as the
spread; the interval is that of the mean, every run over the same drawn documents. Runs over different documents
(splits) have mean, spread and rank alone: there is nothing that could be drawn together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

from tallystick.comparing.table import Cell, Comparison, Measure, letter, ranked
from tallystick.errors import MetricError, SidesMismatch, some
from tallystick.scoring.resampling import (
    LeftOut,
    Resampled,
    check_settings,
    figure_left_out,
    interval_of,
    mean_of_runs,
    resampled_figures,
)
from tallystick.scoring.result import Result
from tallystick.scoring.significance import (
    TESTS,
    Difference,
    check_comparable,
    difference,
    holm,
    randomisation_values,
)  # fmt: skip

Runs = Sequence[Result | Mapping[str, Result]]


def compare(
    systems: Mapping[str, Result | Mapping[str, Result] | Runs],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    test: str = "bootstrap",
    ties: str = "mean",
) -> Comparison:
    """Lay systems side by side: for each its result, or its results by metric, over the same documents; or a list of
    these, one for each run."""
    check_settings(resamples, level, method)
    if test not in TESTS:
        raise MetricError(f"test must be {' or '.join(TESTS)}, found {test!r}")
    runs = {name: _runs(found) for name, found in systems.items()}
    metrics = _common_metrics(runs)
    measures = {metric: Measure.of(result.kind) for metric, result in next(iter(runs.values()))[0].items()}
    if any(_are_splits(runs, metric) for metric in metrics):
        figures = {name: [{m: r.score for m, r in run.items()} for run in found] for name, found in runs.items()}
        return replace(compare_runs(figures, notes=_SPLITS, ties=ties), measures=measures)
    if test == "randomisation" and any(len(found) > 1 for found in runs.values()):
        raise MetricError("the randomisation test needs one run of each system; test=bootstrap takes means of runs")
    drawn = _drawn(runs, metrics, resamples, seed)
    tossed = _tossed(runs, metrics, resamples, seed) if test == "randomisation" else {}
    cells: dict[tuple[str, str], Cell] = {}
    differences: dict[tuple[str, str, str], Difference] = {}
    notes: list[str] = []
    cautions: list[str] = []
    for metric in metrics:
        for name, found in runs.items():
            results = [run[metric] for run in found]
            interval = interval_of(results, results[0].kind.headline, drawn[name, metric], level, method)
            cells[name, metric] = replace(_mean_cell([one.score for one in results]), interval=interval)
            if interval.undefined:
                notes.append(f"{name}, {metric}: 0/0 in {interval.undefined:,} resamples, which are left out")
        documents = len(next(iter(runs.values()))[0][metric].ids)
        cautions += _few(documents, len(runs), test)
        left_out = _left_out(runs, metric) if method == "bca" else {}
        found_here = _differences(metric, documents, cells, drawn, tossed, level, left_out)
        tested = sum(d.p is not None for d in found_here.values())
        cautions += _unreachable(tested, documents, resamples, test, 1 - level)
        differences |= found_here
    cells = _marked(tuple(runs), cells, differences, 1 - level)
    settings = f"resamples={resamples}, seed={seed}, level={level:g}, interval={method}, test={test}, correction=holm"
    return Comparison(
        tuple(runs), metrics, ranked(tuple(runs), metrics, cells, ties=ties), differences, settings,
        (*dict.fromkeys((*notes, *cautions)), *_said(runs, metrics)), tuple(dict.fromkeys(cautions)),
        measures=measures,
    )  # fmt: skip


def compare_runs(
    systems: Mapping[str, Sequence[Mapping[str, float | None]]],
    notes: Sequence[str] = (),
    *,
    ties: str = "mean",
    ascending: bool = False,
) -> Comparison:
    """Systems of which each comes in one or several runs, given by their figures alone."""
    names = tuple(systems)
    metrics = tuple(dict.fromkeys(metric for runs in systems.values() for run in runs for metric in run))
    cells = {
        (name, metric): _mean_cell([run[metric] for run in systems[name] if run.get(metric) is not None])
        for name, metric in product(names, metrics)
    }
    return Comparison(
        names, metrics, ranked(names, metrics, cells, ties=ties, ascending=ascending), {}, notes=tuple(notes)
    )  # fmt: skip


FEW = 20
"""Documents below which a bootstrap test is not to be trusted."""
_SPLITS = ("The runs are over different documents: mean, spread and rank, and nothing is tested.",)


def _runs(found: Result | Mapping[str, Result] | Runs) -> list[Mapping[str, Result]]:
    several = [found] if isinstance(found, (Result, Mapping)) else list(found)
    return [{one.kind.headline: one} if isinstance(one, Result) else one for one in several]


def _mean_cell(values: Sequence[float | None]) -> Cell:
    """The mean of the runs and their standard deviation (n - 1); undefined if one of them is."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return Cell(None, runs=len(values))
    mean = math.fsum(known) / len(known)
    if len(known) == 1:
        return Cell(mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1))
    return Cell(mean, spread=spread, runs=len(known))


def _common_metrics(runs: Mapping[str, Sequence[Mapping[str, Result]]]) -> tuple[str, ...]:
    if not runs or not all(runs.values()):
        raise MetricError("nothing to compare: every system needs at least one run")
    first = list(next(iter(runs.values()))[0])
    for system, found in runs.items():
        for run in found:
            if list(run) != first:
                raise SidesMismatch(f"{system} has other metrics than the first system: {some(set(run) ^ set(first))}")
    return tuple(first)


def _are_splits(runs: Mapping[str, Sequence[Mapping[str, Result]]], metric: str) -> bool:
    """Whether the k-th runs of all systems share documents that other runs do not have."""
    found = [[run[metric].ids for run in one] for one in runs.values()]
    return any(ids != found[0][0] for ids in found[0]) and all(one == found[0] for one in found)


def _together(runs: Mapping[str, Sequence[Mapping[str, Result]]], metrics: Sequence[str]) -> list[list[str]]:
    """The metrics whose rows are the same documents: these are drawn in one go."""
    first = next(iter(runs.values()))[0]
    groups: dict[tuple[Any, ...], list[str]] = {}
    for metric in metrics:
        for found in runs.values():
            for run in found:
                check_comparable(first[metric], run[metric])
        groups.setdefault(first[metric].ids, []).append(metric)
    return list(groups.values())


def _drawn(
    runs: Mapping[str, Sequence[Mapping[str, Result]]], metrics: Sequence[str], resamples: int, seed: int
) -> dict[tuple[str, str], list[Resampled]]:
    """The headline figure of every run over the same resamples, by system and metric."""
    out: dict[tuple[str, str], list[Resampled]] = {}
    for group in _together(runs, metrics):
        places = [(name, metric, run[metric]) for name, found in runs.items() for run in found for metric in group]
        drawn = resampled_figures([result for _, _, result in places], resamples, seed, headline=True)
        for (name, metric, result), one in zip(places, drawn, strict=True):
            out.setdefault((name, metric), []).append(one[result.kind.headline])
    return out


def _tossed(
    runs: Mapping[str, Sequence[Mapping[str, Result]]], metrics: Sequence[str], resamples: int, seed: int
) -> dict[tuple[str, str, str], float]:
    """p of every pair of systems by randomisation, all with the same coins."""
    out: dict[tuple[str, str, str], float] = {}
    for group in _together(runs, metrics):
        place = {key: k for k, key in enumerate(product(group, runs))}
        keys = [(metric, a, b) for metric in group for a, b in combinations(runs, 2)]
        pairs = [(place[metric, a], place[metric, b]) for metric, a, b in keys]
        values = randomisation_values([runs[name][0][metric] for metric, name in place], pairs, resamples, seed)
        out.update(zip(keys, values, strict=True))
    return out


def _left_out(runs: Mapping[str, Sequence[Mapping[str, Result]]], metric: str) -> dict[str, LeftOut]:
    """What every system's figure is without each of the documents."""
    out = {}
    for name, found in runs.items():
        results = [run[metric] for run in found]
        out[name] = figure_left_out(results, results[0].kind.headline)
    return out


def _differences(
    metric: str, documents: int, cells: Mapping[tuple[str, str], Cell], drawn: Mapping[tuple[str, str], Sequence[Resampled]],
    tossed: Mapping[tuple[str, str, str], float], level: float, left_out: Mapping[str, LeftOut],
) -> dict[tuple[str, str, str], Difference]:  # fmt: skip
    """Every pair of systems under one metric, with p after Holm's correction over these pairs."""
    values = {name: mean_of_runs(found)[0] for (name, of), found in drawn.items() if of == metric}
    found = {
        (metric, a, b): difference(
            [cells[a, metric].value, cells[b, metric].value], [values[a], values[b]], documents, level,
            tossed.get((metric, a, b)), left_out[b] - left_out[a] if left_out else None,
        )
        for a, b in combinations(values, 2)
    }  # fmt: skip
    known = {key: d.p for key, d in found.items() if d.p is not None}
    corrected = dict(zip(known, holm(list(known.values())), strict=True))
    return {key: replace(d, corrected=corrected.get(key)) for key, d in found.items()}


def _marked(
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


def _few(documents: int, systems: int, test: str) -> list[str]:
    """What cannot be said, or not be trusted, about few documents."""
    if documents < 2:
        return ["With fewer than two documents there are no intervals, and nothing is tested."]
    if documents < FEW and systems > 1 and test == "bootstrap":
        return [
            f"{documents} documents are few for a bootstrap, whose p is too small then; --test randomisation is not."
        ]
    return []


def _unreachable(pairs: int, documents: int, resamples: int, test: str, alpha: float) -> list[str]:
    """That no difference, however large, could be significant: the smallest p that there can be is too large."""
    exact = test == "randomisation" and documents < 63 and 2**documents <= resamples
    smallest = 2 / 2**documents if exact else 1 / (1 + resamples)
    if not pairs or pairs * smallest <= alpha + 1e-12:
        return []
    family = "one pair of systems" if pairs == 1 else f"{pairs:,} pairs of systems"
    reason = f"{documents} documents" if exact else f"{resamples:,} resamples"
    enough = "" if exact else f"; --resamples {math.ceil(pairs / alpha - 1e-9)} is enough"
    return [
        f"Nothing could be significant: with {reason} p is at least {smallest:.2g}, and Holm's correction multiplies the "
        f"smallest p of {family} by {pairs:,}{enough}."
    ]


def _said(runs: Mapping[str, Sequence[Mapping[str, Result]]], metrics: Sequence[str]) -> list[str]:
    """What the results themselves have to say, each once for each system."""
    out: dict[str, None] = {}
    for name, found in runs.items():
        for run in found:
            for metric in metrics:
                out |= {f"Warning: {name}: {warning}": None for warning in run[metric].warnings}
    return list(out)
