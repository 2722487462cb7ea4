"""Several systems under several metrics: figures with intervals, who beats whom, ranks and where they move.

    system   muc                         b3
    a A      0.793 [.781, .805] bc  #1   0.700 [.688, .711] c   #2 ↓1
    b B      ...

A letter behind a figure names a system that is significantly worse (Holm's correction over all pairs of a metric, see
`pairs`). The first metric's ranks are the ones that arrows count from, unless another is named. All systems are
resampled together, over the same drawn documents.

Where a system comes in several runs (seeds), its figure is the mean of theirs, with their standard deviation as the
spread; the interval is that of the mean, every run over the same drawn documents. Runs over different documents
(splits, data sets) have the mean of their figures, drawn and tested within each of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

from tallystick.engine.arrays import F64
from tallystick.engine.drawing import Sorts, sorts_of
from tallystick.engine.tally import strata_of
from tallystick.errors import MetricError, SidesMismatch, counted, some
from tallystick.frozen import frozen
from tallystick.results import comparison as cautions
from tallystick.results.comparison import FEW, Cell, Comparison, Measure, letter, ranked
from tallystick.results.resampling import (
    TESTS,
    Difference,
    Interval,
    LeftOut,
    Resampled,
    check_comparable,
    check_settings,
    difference,
    figure_left_out,
    holm,
    interval_of,
    intervals,
    mean_of_runs,
    most_drawn,
    randomisation_values,
    resampled_figures,
    where_present,
)
from tallystick.results.result import RESAMPLES, GroupSpec, Result, in_units, shared_signatures, unit_line
from tallystick.results.selection import of_one_kind, stacked

Runs = Sequence[Result | Mapping[str, Result]] | Mapping[str, Mapping[str, Result]]
_Runs = Mapping[str, Sequence[Mapping[str, Result]]]


def compare(
    systems: Mapping[str, Result | Mapping[str, Result] | Runs],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
    test: str | None = None,
    ties: str = "mean",
    base: str | None = None,
    splits: bool | Sequence[str] | None = None,
    groups: GroupSpec | None = None,
) -> Comparison:
    """Lay systems side by side: for each its result, or its results by metric, over the same documents; or a list of
    these, one for each run; or, of several data sets, a mapping from their names: {"A": {"news": ..., "web": ...}}.

    Without a `test` it is randomisation where there are fewer than 100 documents, else the bootstrap. Arrows count from
    the ranks under the metric `base`, the first if none is named. Runs are `splits` (data sets) if their documents differ;
    where documents have no names of their own (only numbers), you have to say so, by True or by the names of the splits.
    Documents are drawn in `groups`, if some are given (see `Results.grouped`).

    >>> gold = [["a"], ["b"], ["c"], ["d"]]
    >>> metric = ts.f1(ts.match(ts.exact))
    >>> good, poor = (ts.evaluate(metric, gold, system) for system in (gold, [["a"], ["x"], ["c"], []]))
    >>> comparison = ts.compare({"good": good, "poor": poor})
    >>> [(system, round(comparison.figures[system]["f1"], 4)) for system in comparison.systems]
    [('good', 1.0), ('poor', 0.5714)]
    """
    check_settings(resamples, level, method, seed)
    if test is not None and test not in TESTS:
        raise MetricError(f"test must be {' or '.join(TESTS)}, found {test!r}")
    if not isinstance(systems, Mapping):
        raise MetricError(
            f"expected results by the names of the systems, {{'A': ..., 'B': ...}}, found {type(systems).__name__} {systems!r:.60}"
        )
    named = _named_sets(systems)
    if named is not None:
        splits = named if splits is None else splits
        systems = {name: [found[one] for one in named] for name, found in systems.items()}  # type: ignore[index,call-overload]
    given = {str(name): _runs(found, str(name)) for name, found in systems.items()}
    if groups is not None:
        given = {name: [_grouped(run, groups) for run in runs] for name, runs in given.items()}
    how = {
        "resamples": resamples, "seed": seed, "level": level, "method": method, "test": test, "ties": ties, "base": base, "splits": splits,
    }  # fmt: skip
    return _laid_out(given, how)


def _named_sets(systems: Mapping[str, Any]) -> list[str] | None:
    """The names of the data sets, where each system has its results by these."""
    by_name = {
        name: list(found)
        for name, found in systems.items()
        if isinstance(found, Mapping) and found and all(isinstance(one, Mapping) for one in found.values())
    }
    if not by_name:
        return None
    first = next(iter(by_name.values()))
    for name in systems:
        if set(by_name.get(name, ())) != set(first):
            has = some(by_name[name]) if name in by_name else "no data sets by name"
            raise MetricError(
                f"systems are compared on the same data sets: {next(iter(by_name))} has {some(first)}, and {name} has {has}"
            )
    return first


def _grouped(run: Mapping[str, Result], groups: GroupSpec) -> Mapping[str, Result]:
    from tallystick.results.results import Results

    return (run if isinstance(run, Results) else Results(run)).grouped(groups)


def compare_parts(given: _Runs, how: Mapping[str, Any]) -> Comparison:
    """The same of the parts of one metric (fields, labels, slices), which stand where metrics do: p is corrected over all parts and
    pairs of systems together. Parts may be rare, so that without a test it is randomisation, which holds its level for any number
    of documents, if the systems have as many runs. A resample without a part says nothing about it, unless only some systems have
    predicted it and the reference lacks it."""
    one_size = len({len(found) for found in given.values()}) == 1
    there = {name: [{part for part in run if run[part].rows.any()} for run in runs] for name, runs in given.items()}
    some_only = {
        part for one in zip(*there.values(), strict=False) for part in set.union(*one) - set.intersection(*one)
    }
    given = {
        name: [{part: one if part in some_only else where_present(one) for part, one in run.items()} for run in runs]
        for name, runs in given.items()
    }
    return _laid_out(given, {**how, "test": how["test"] or ("randomisation" if one_size else "bootstrap")}, parts=True)


def _laid_out(given: _Runs, how: Mapping[str, Any], parts: bool = False) -> Comparison:
    """Systems under metrics, or under the parts of one metric."""
    resamples, seed, level, method = (how[name] for name in ("resamples", "seed", "level", "method"))
    test, ties, base, splits = (how[name] for name in ("test", "ties", "base", "splits"))
    metrics = _common_metrics(given)
    runs, apart, having, units = _runs_to_draw(given, metrics, splits, parts)
    groups, sorts = _drawn_together(runs, metrics, parts)
    test = test or _fitting_test(runs, metrics)
    if test == "randomisation" and len({len(found) for found in runs.values()}) > 1:
        raise MetricError("the randomisation test needs as many runs of each system; test=bootstrap takes any number")
    drawn = _drawn(runs, groups, resamples, seed, sorts)
    differences = corrected(_tested(runs, groups, drawn, {**how, "test": test}, sorts), together=parts)
    cells = {
        (name, metric): cell
        for metric in metrics
        for name, cell in _cells(runs, metric, drawn, level, method, _chosen(apart, having.get(metric))).items()
    }
    find = _doubts_about_parts if parts else _remarks_by_metric
    notes, doubtful = find(runs, metrics, cells, differences, test, resamples, 1 - level)
    doubts = [*cautions.about_resamples(resamples, level), *cautions.about_runs(runs)]
    doubts += [*(cautions.about_groups(apart, metrics) if apart else []), *doubtful]
    measures = _measures(apart or runs)
    lower = _lower(measures)
    cells = marked(tuple(runs), cells, differences, 1 - level, lower)
    settings = _settings({**how, "test": test}, units, parts, strata=bool(apart))
    notes = [*_about_splits(apart, metrics, cells), *notes]
    said = [] if parts else cautions.said(apart or runs, metrics)
    return Comparison(
        tuple(runs), metrics, ranked(tuple(runs), metrics, cells, ties=ties, ascending=lower, base=base), differences, settings,
        (_documents(apart or runs, metrics, splits=bool(apart)), *dict.fromkeys((*notes, *doubts)), *said),
        tuple(dict.fromkeys(doubts)), _signatures(apart or runs, settings), base=base or metrics[0], measures=measures,
        splits=_by_split(apart, metrics, splits), split_intervals={} if parts else _split_intervals(apart, metrics, how), runs=given, how=how,
    )  # fmt: skip


def _settings(how: Mapping[str, Any], units: str, parts: bool, strata: bool) -> str:
    """How intervals and tests were made, for the signature."""
    out = f"resamples={how['resamples']}, seed={how['seed']}, level={how['level']!r}, interval={how['method']}, test={how['test']}"
    out += f", correction=holm{' over parts' if parts else ''}, {units}"
    out += ", strata=splits" if strata else ""
    return out + ("" if how["ties"] == "mean" else f", ties={how['ties']}")


class _ToDraw(NamedTuple):
    """Runs as they are drawn from, and how they came about."""

    runs: _Runs
    apart: _Runs
    """Runs over different documents: each is a stratum, and they are compared by their mean."""
    having: dict[str, list[int]]
    """Of parts: the splits that have each."""
    units: str
    """What is drawn, in words."""


def _runs_to_draw(given: _Runs, metrics: Sequence[str], splits: bool | Sequence[str] | None, parts: bool) -> _ToDraw:
    runs = _of_one_kind(given, metrics)
    are_splits = any(_are_splits(runs, metric) for metric in metrics) if splits is None else splits
    drawn_from = next(iter(runs.values()))
    units = unit_line([run[metrics[0]] for run in (drawn_from if are_splits else drawn_from[:1])])
    runs = {name: [{m: in_units(run[m]) for m in metrics} for run in found] for name, found in runs.items()}
    if not are_splits:
        return _ToDraw(runs, {}, {}, units)
    having = {metric: splits_with(runs, metric) for metric in metrics} if parts else {}
    return _ToDraw(_stacked(runs, metrics, having), runs, having, units)


def _drawn_together(runs: _Runs, metrics: Sequence[str], parts: bool) -> tuple[list[list[str]], Mapping[str, Sorts]]:
    """Which metrics share their draws. A part whose documents are sorted for the drawing is drawn by itself."""
    groups = _together(runs, metrics)
    sorts = _sorts(runs, groups) if parts else {}
    if sorts:
        groups = [*filter(None, ([m for m in group if m not in sorts] for group in groups)), *([m] for m in sorts)]
    return groups, sorts


def _tested(
    runs: _Runs, groups: Sequence[Sequence[str]], drawn: Any, how: Mapping[str, Any], sorts: Mapping[str, Sorts]
) -> dict[tuple[str, str, str], Difference]:
    """The differences of all pairs of systems under all metrics."""
    differences: dict[tuple[str, str, str], Difference] = {}
    asked = {name: how[name] for name in ("test", "resamples", "seed", "level", "method")}
    for group in groups:
        ends = {
            metric: {name: ends_of([run[metric] for run in of_it], drawn[name, metric]) for name, of_it in runs.items()}
            for metric in group
        }
        differences |= tested_pairs(ends, **asked, sorts=sorts.get(group[0]))
    return differences


def _remarks_by_metric(
    runs: _Runs, metrics: Sequence[str], cells: Mapping[tuple[str, str], Cell],
    differences: Mapping[tuple[str, str, str], Difference], test: str, resamples: int, alpha: float,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Notes and doubts about the intervals and tests of each metric."""
    notes, doubts = [], []
    for metric in metrics:
        found = {name: cells[name, metric] for name in runs}
        tested = {(a, b): d for (of, a, b), d in differences.items() if of == metric}
        more, doubtful = _remarks(runs, metric, found, tested, test, resamples, alpha)
        notes += more
        doubts += doubtful
    return notes, doubts


def _doubts_about_parts(
    runs: _Runs, parts: Sequence[str], cells: Mapping[tuple[str, str], Cell],
    differences: Mapping[tuple[str, str, str], Difference], test: str, resamples: int, alpha: float,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """What the intervals and tests of parts cannot show, in a line for all of them."""
    first = max((next(iter(runs.values()))[0][part] for part in parts), key=lambda one: len(one.ids))
    documents = len(first.ids)
    rare = [part for part in parts if any(_left_out(cells[name, part]) for name in runs)]
    known = sum(d.p is not None for d in differences.values())
    tests = "tests" if len(runs) == 2 else "tests of parts and pairs of systems"
    near = cautions.about_draws(
        "", {(part, f"{a} and {b}"): d for (part, a, b), d in differences.items()}, resamples, documents, alpha
    )
    left_out = f"0/0 in some resamples, which are left out: {some(rare)}" if rare else ""
    return [], [
        *cautions.about_documents(documents, strata_of(first.kind, documents), len(runs), test, first.unit),
        *cautions.about_reach(known, documents, resamples, test, alpha, first.unit, tests), *near, *filter(None, [left_out]),
    ]  # fmt: skip


def _left_out(cell: Cell) -> bool:
    return cell.value is not None and cell.interval is not None and cell.interval.undefined > 0


def _by_split(
    runs: _Runs, metrics: Sequence[str], names: bool | Sequence[str] | None
) -> dict[str, dict[tuple[str, str], float | None]]:
    """The figures of each split, under its name or its number."""
    return {
        split: {(name, metric): found[k][metric].score for name, found in runs.items() for metric in metrics}
        for k, split in enumerate(_called(runs, names))
    }


def _called(runs: _Runs, names: bool | Sequence[str] | None) -> list[str]:
    """What the splits are called."""
    count = len(next(iter(runs.values()))) if runs else 0
    if names is None or isinstance(names, bool):
        return [str(k + 1) for k in range(count)]
    if len(names) != count:
        raise MetricError(f"there are {count} splits, and {counted(len(names), 'name')} for them: {some(names)}")
    return list(map(str, names))


def _split_intervals(
    runs: _Runs, metrics: Sequence[str], how: Mapping[str, Any]
) -> dict[str, dict[tuple[str, str], Interval]]:
    """The interval of each figure within its split."""
    settings = {name: how[name] for name in ("resamples", "seed", "level", "method")}
    out: dict[str, dict[tuple[str, str], Interval]] = {}
    for k, split in enumerate(_called(runs, how["splits"])):
        places = [(name, metric) for name in runs for metric in metrics]
        results = [runs[name][k][metric] for name, metric in places]
        same = len({one.ids for one in results}) == 1
        found = intervals(results, **settings) if same else [intervals([one], **settings)[0] for one in results]
        kinds = (one.kind.headline for one in results)
        out[split] = {place: of[headline] for place, of, headline in zip(places, found, kinds, strict=True)}
    return out


def _cells(
    runs: _Runs,
    metric: str,
    drawn: Mapping[tuple[str, str], Sequence[Resampled]],
    level: float,
    method: str,
    apart: _Runs,
) -> dict[str, Cell]:
    """Every system's mean under a metric, with its interval."""
    out = {}
    for name, found in runs.items():
        results = [run[metric] for run in found]
        interval = interval_of(results, results[0].kind.headline, drawn[name, metric], level, method)
        scores = [run[metric].score for run in apart.get(name, found)]
        out[name] = replace(_mean_cell(scores), interval=interval)
    return out


def _remarks(
    runs: _Runs, metric: str, cells: Mapping[str, Cell], tested: Mapping[tuple[str, str], Difference], test: str,
    resamples: int, alpha: float,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """What is to be said about a metric's figures, and what its tests cannot show."""
    gone: dict[int, list[str]] = {}
    for name, cell in cells.items():
        if cell.interval is not None and cell.interval.undefined and cell.value is not None:
            gone.setdefault(cell.interval.undefined, []).append(name)
    notes = [
        f"{', '.join(names)}, {metric}: 0/0 in {counted(n, 'resample')}; the interval is over the others"
        for n, names in gone.items()
    ]
    first = next(iter(runs.values()))[0][metric]
    documents = len(first.ids)
    known = sum(d.p is not None for d in tested.values())
    about_labels, rare = cautions.about_labels(runs, metric)
    doubts = [
        *cautions.about_documents(documents, strata_of(first.kind, documents), len(runs), test, first.unit),
        *cautions.about_reach(known, documents, resamples, test, alpha, first.unit),
        *cautions.about_draws(metric, tested, resamples, documents, alpha),
        *rare,
    ]
    return [*notes, *about_labels, *cautions.about_means(runs, metric)], doubts


def compare_runs(
    systems: Mapping[str, Sequence[Mapping[str, float | None]]],
    *,
    ties: str = "mean",
    ascending: bool | Collection[str] = False,
    base: str | None = None,
    metrics: Sequence[str] | None = None,
) -> Comparison:
    """Systems of which each comes in one or several runs, given by their figures alone; a mean of which one figure is
    not defined is not defined either, and a note says so. `metrics` is their order, by default that in which they come;
    `ascending` says for which of them, or for all, lower is better."""
    names = tuple(systems)
    metrics = tuple(metrics or dict.fromkeys(metric for runs in systems.values() for run in runs for metric in run))
    cells: dict[tuple[str, str], Cell] = {}
    undefined = []
    for name, metric in product(names, metrics):
        values = [run[metric] for run in systems[name] if metric in run]
        cells[name, metric] = _mean_cell(values)
        empty = [k for k, value in enumerate(values, 1) if value is None]
        if empty and len(values) > 1:
            undefined.append(f"{name}, {metric}: no mean, since run {', '.join(map(str, empty))} has no figure")
    lower = (metrics if ascending else ()) if isinstance(ascending, bool) else ascending
    found = ranked(names, metrics, cells, ties=ties, ascending=lower, base=base)
    return Comparison(names, metrics, found, {}, notes=tuple(undefined), base=base or "".join(metrics[:1]))


def _stacked(
    runs: _Runs, metrics: Sequence[str], having: Mapping[str, Sequence[int]]
) -> dict[str, list[Mapping[str, Result]]]:
    """Every system with one run, in which its runs over different documents are strata: all of them, or those that have the part."""
    first = next(iter(runs.values()))
    for name, found in runs.items():
        if len(found) != len(first):
            raise MetricError(
                f"{name} has {len(found)} splits and the first system {len(first)}; they are compared split by split"
            )
        for run in found:
            for metric in metrics:
                if str(run[metric].metric) != str(first[0][metric].metric):
                    raise MetricError(
                        f"{name} has a split that was scored by another metric than the first split: {run[metric].metric} "
                        f"and {first[0][metric].metric}; say what the metric is (records: --schema, --type or --metric)"
                    )
    chosen = {m: _chosen(runs, having.get(m)) for m in metrics}
    return {name: [{m: stacked([run[m] for run in chosen[m][name]]) for m in metrics}] for name in runs}


def splits_with(runs: _Runs, part: str) -> list[int]:
    """The places of the splits in which the figure of a part is defined for some system; all of them if it is in none. The mean is over
    these: a split that lacks a label says nothing about it."""
    places = range(len(next(iter(runs.values()))))
    return [k for k in places if any(_is_defined(found[k][part]) for found in runs.values())] or list(places)


def _is_defined(result: Result) -> bool:
    return not math.isnan(result.kind.figures(result.sums)[result.kind.headline])


def _chosen(runs: _Runs, places: Sequence[int] | None) -> _Runs:
    """The runs at some places, or all."""
    return runs if places is None else {name: [found[k] for k in places] for name, found in runs.items()}


def _about_splits(runs: _Runs, metrics: Sequence[str], cells: Mapping[tuple[str, str], Cell]) -> list[str]:
    """How splits were compared, and which of them have no figure."""
    if not runs:
        return []
    out = [
        f"Figures are means over the splits, ± their standard deviation. {_unit(runs).capitalize()}s are drawn, and outputs change places, "
        "within each split."
    ]
    for (name, found), metric in product(runs.items(), metrics):
        empty = [k for k, run in enumerate(found, 1) if run[metric].score is None]
        if cells[name, metric].value is None and empty:
            out.append(f"{name}, {metric}: no mean, since run {', '.join(map(str, empty))} has no figure")
    return out


def _measures(runs: _Runs) -> dict[str, Measure]:
    """What the figures of each metric are."""
    return {metric: Measure.of(result.kind) for metric, result in next(iter(runs.values()))[0].items()}


def _lower(measures: Mapping[str, Measure]) -> tuple[str, ...]:
    """The metrics for which lower is better."""
    return tuple(metric for metric, measure in measures.items() if measure.lower_is_better)


def _documents(runs: _Runs, metrics: Sequence[str], splits: bool = False) -> str:
    """How many documents there are, by the first metric."""
    sizes, unit = [len(run[metrics[0]].ids) for run in next(iter(runs.values()))], _unit(runs)
    return f"{counted(sum(sizes), unit)} in {counted(len(sizes), 'split')}" if splits else counted(sizes[0], unit)


def _unit(runs: _Runs) -> str:
    """What is drawn."""
    return next(iter(next(iter(runs.values()))[0].values())).unit


def _signatures(runs: _Runs, settings: str) -> tuple[str, ...]:
    """The signatures of the metrics, in few lines, with the settings of the comparison."""
    first = next(iter(runs.values()))[0]
    more = f" | {settings}" if settings else ""
    return tuple(f"{signature}{more}" for signature in shared_signatures(first))


def _fitting_test(runs: _Runs, metrics: Sequence[str]) -> str:
    """Randomisation is right for any number of documents, the bootstrap is faster and takes any number of runs."""
    first = next(iter(runs.values()))[0]
    few = min((len(first[metric].ids) for metric in metrics), default=0) < FEW
    return "randomisation" if few and len({len(found) for found in runs.values()}) == 1 else "bootstrap"


def _runs(found: Any, name: str) -> list[Mapping[str, Result]]:
    several = list(found) if isinstance(found, Iterable) and not isinstance(found, (Result, Mapping)) else [found]
    runs = [{one.called: one} if isinstance(one, Result) else one for one in several]
    for run in runs:
        if not isinstance(run, Mapping) or not all(isinstance(one, Result) for one in run.values()):
            raise MetricError(
                f"{name}: expected a result, results by metric, or a list of these for several runs, found {type(run).__name__} {run!r:.60}"
            )
    return runs


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


def _common_metrics(runs: _Runs) -> tuple[str, ...]:
    if not runs or not all(runs.values()):
        raise MetricError("nothing to compare: every system needs at least one run")
    first = list(next(iter(runs.values()))[0])
    if not first:
        raise MetricError("nothing to compare: there is no metric")
    for system, found in runs.items():
        for run in found:
            if set(run) != set(first):
                raise SidesMismatch(f"{system} has other metrics than the first system: {some(set(run) ^ set(first))}")
    return tuple(first)


def _of_one_kind(runs: _Runs, metrics: Sequence[str]) -> dict[str, list[Mapping[str, Result]]]:
    """The same runs, every metric with one kind of tally."""
    out: dict[str, list[dict[str, Result]]] = {name: [{} for _ in found] for name, found in runs.items()}
    for metric in metrics:
        places = [(name, k) for name, found in runs.items() for k in range(len(found))]
        for (name, k), result in zip(places, of_one_kind([runs[n][k][metric] for n, k in places]), strict=True):
            out[name][k][metric] = result
    return {name: [*found] for name, found in out.items()}


def _are_splits(runs: _Runs, metric: str) -> bool:
    """Whether the k-th runs of all systems share documents that other runs do not have."""
    found = [[run[metric].ids for run in one] for one in runs.values()]
    return any(ids != found[0][0] for ids in found[0]) and all(one == found[0] for one in found)


def _together(runs: _Runs, metrics: Sequence[str]) -> list[list[str]]:
    """The metrics whose rows are the same documents: these are drawn in one go."""
    first = next(iter(runs.values()))[0]
    groups: dict[tuple[Any, ...], list[str]] = {}
    for metric in metrics:
        for found in runs.values():
            for run in found:
                check_comparable(first[metric], run[metric])
        groups.setdefault(first[metric].ids, []).append(metric)
    return list(groups.values())


def _sorts(runs: _Runs, groups: Sequence[Sequence[str]]) -> dict[str, Sorts]:
    """The sorts of documents of every part in which many are alike, if they are drawn from one corpus."""
    out = {}
    for part in (part for group in groups for part in group):
        results = [run[part] for found in runs.values() for run in found]
        if len(strata_of(results[0].kind, len(results[0].ids))) == 1:
            found = sorts_of([one.rows for one in results])
            if found is not None:
                out[part] = found
    return out


def _drawn(
    runs: _Runs, groups: Sequence[Sequence[str]], resamples: int, seed: int, sorts: Mapping[str, Sorts]
) -> dict[tuple[str, str], list[Resampled]]:
    """The headline figure of every run over the same resamples, by system and metric."""
    out: dict[tuple[str, str], list[Resampled]] = {}
    for group in groups:
        places = [(name, metric, run[metric]) for name, found in runs.items() for run in found for metric in group]
        chosen = [result for _, _, result in places]
        drawn = resampled_figures(chosen, resamples, seed, headline=True, sorts=sorts.get(group[0]))
        for (name, metric, result), one in zip(places, drawn, strict=True):
            out.setdefault((name, metric), []).append(one[result.kind.headline])
    return out


# Every pair of systems under one metric: how far apart they are, and whether that is more than chance.
#
# Where scores are known between bounds only (a time limit struck), so is their difference. It reaches from the second
# system's lower bounds against the first one's upper bounds to the opposite, and so does its interval; p is the larger of
# the two, and 1 where they disagree about who is better. Otherwise both are the same.


@frozen(eq=False)
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


@frozen(eq=False)
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
    metrics: Mapping[str, Mapping[str, Ends]],
    *,
    test: str,
    resamples: int,
    seed: int,
    level: float,
    method: str,
    sorts: Sorts | None,
) -> dict[tuple[str, str, str], Difference]:
    """Every pair of systems under every metric, all by the same coins."""
    met = {
        (metric, a, b): _meetings(systems[a], systems[b])
        for metric, systems in metrics.items()
        for a, b in combinations(systems, 2)
    }
    tossed: dict[tuple[End, End], float] = {}
    if test == "randomisation" and met:
        ends = {end: k for k, end in enumerate({end: None for found in met.values() for both in found for end in both})}
        wanted = list(dict.fromkeys(meeting for found in met.values() for meeting in found))
        places = [(ends[a], ends[b]) for a, b in wanted]
        found = randomisation_values([e.runs for e in ends], places, resamples, seed, sorts=sorts)
        tossed = dict(zip(wanted, found, strict=True))
    out = {}
    for (metric, a, b), meetings in met.items():
        both = [_difference(*meeting, tossed.get(meeting), level, method) for meeting in meetings]
        value = _apart(metrics[metric][a].low, metrics[metric][b].low)
        out[metric, a, b] = both[0] if len(both) == 1 else _between(value, *both)
    return out


def corrected(
    differences: Mapping[tuple[str, str, str], Difference], *, together: bool
) -> dict[tuple[str, str, str], Difference]:
    """With p after Holm's correction over the pairs of systems: of each metric, or of all of them together."""
    families: dict[str, dict[tuple[str, str, str], float]] = {}
    for key, d in differences.items():
        if d.p is not None:
            families.setdefault("" if together else key[0], {})[key] = d.p
    found = {key: p for one in families.values() for key, p in zip(one, holm(list(one.values())), strict=True)}
    return {key: replace(d, corrected=found.get(key)) for key, d in differences.items()}


def marked(
    names: Sequence[str], cells: Mapping[tuple[str, str], Cell],
    differences: Mapping[tuple[str, str, str], Difference], alpha: float, lower: Collection[str] = (),
) -> dict[tuple[str, str], Cell]:  # fmt: skip
    """The cells with the letters of the systems that each is significantly better than."""
    letters = {name: letter(k) for k, name in enumerate(names)}
    beaten: dict[tuple[str, str], list[str]] = {}
    for (metric, a, b), d in differences.items():
        if d.corrected is not None and d.corrected <= alpha + 1e-12 and d.value:
            winner, loser = (b, a) if (d.value > 0) != (metric in lower) else (a, b)
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
    scores, documents = [first.score, second.score], most_drawn(first.runs[0])
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
