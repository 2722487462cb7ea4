"""A comparison: systems by metrics, each cell a figure with its interval or spread, whom it beats, and its rank."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Literal, overload

from tallystick.engine.tally import Labelled, lower_is_better
from tallystick.errors import MetricError, counted, did_you_mean, some
from tallystick.frozen import frozen
from tallystick.results.resampling import Difference, Interval, is_exact
from tallystick.results.result import Result
from tallystick.results.selection import OverDocuments, kendall, ranks, spearman
from tallystick.show.tables import Written
from tallystick.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Unpack

    from tallystick.engine.tally import Kind
    from tallystick.results.explanation import Explanation
    from tallystick.results.parts import PartComparisons
    from tallystick.results.results import Results
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import How, Table, Tables


Correlation = dict[str, Any]


@frozen
class Cell:
    """One system under one metric. `spread` is the standard deviation of `runs` runs, `beats` the letters of the
    systems that it is significantly better than, `moved` how many ranks it is higher than under the base metric. What is
    undefined has no rank."""

    value: float | None
    interval: Interval | None = None
    spread: float | None = None
    runs: int = 1
    rank: float | None = None
    moved: float | None = None
    beats: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the interval, if there is one."""
        return None if self.interval is None else self.interval.ends

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        interval = None if self.interval is None else [self.interval.low, self.interval.high]
        return {**vars(self), "interval": interval}


@frozen
class Measure:
    """What the figures of a metric are: f1, kappa, ..., and by which average."""

    figure: str
    average: str = "micro"
    lower_is_better: bool = False

    @classmethod
    def of(cls, kind: Kind) -> Measure:
        """What a kind of tally is compared by."""
        return cls(kind.headline, getattr(kind, "average", "micro"), lower_is_better(kind))

    def as_dict(self) -> dict[str, Any]:
        """As plain data; the direction is given where it is not the usual one."""
        direction = {"lower_is_better": True} if self.lower_is_better else {}
        return {"figure": self.figure, "average": self.average, **direction}


@frozen
class Comparison(Written):
    """Systems by metrics; `letters` names each system by one letter.

    >>> result = ts.evaluate(ts.f1(ts.match(ts.exact)), [["a"], ["b"]], [["a"], ["x"]])
    >>> comparison = ts.compare({"system": result})
    >>> comparison.figures
    {'system': {'f1': 0.5}}
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    differences: Mapping[tuple[str, str, str], Difference]
    settings: str = ""
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    """Those of the notes that say what the tests cannot show; they belong beside the figures."""
    signatures: tuple[str, ...] = ()
    title: str = ""
    digits: int = 4
    fractions: bool = True
    """Whether figures are fractions, which LaTeX shows in percent."""
    base: str = ""
    """The metric that arrows count from."""
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """What each metric's figures are, where that is known."""
    splits: Mapping[str, Mapping[tuple[str, str], float | None]] = field(default_factory=dict)
    """Where systems are compared by their means over several data sets: the figures of each, by system and metric."""
    split_intervals: Mapping[str, Mapping[tuple[str, str], Interval]] = field(default_factory=dict)
    """The intervals of these."""
    decimals: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The digits of single cells, by system and metric, where they are not `digits`."""
    runs: Mapping[str, Sequence[Mapping[str, Result]]] = field(default_factory=dict, repr=False, compare=False)
    """What was compared: by system the results of each run. Nothing, where only figures were given."""
    how: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """How `compare` was called."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """The systems that could not be scored, and why."""

    @property
    def task(self) -> str:
        """The task that the systems were scored by, where that is known."""
        first = next((runs[0] for runs in self.runs.values() if runs), None)
        background = getattr(first, "background", None)
        return background.task if background is not None else ""

    @property
    def figures(self) -> dict[str, dict[str, float | None]]:
        """By system the figure of each metric."""
        return {s: {metric: self.cells[s, metric].value for metric in self.metrics} for s in self.systems}

    def intervals(self) -> dict[str, dict[str, Interval | None]]:
        """By system the confidence interval of each metric's figure."""
        return {s: {metric: self.cells[s, metric].interval for metric in self.metrics} for s in self.systems}

    def __add__(self, other: Comparison) -> Comparison:
        """The same systems compared over the documents of both."""
        from tallystick.results.compare import compare

        if not isinstance(other, Comparison):
            return NotImplemented
        one, two = self._scored(), other._scored()
        sizes = [{system: len(runs) for system, runs in found.items()} for found in (one, two)]
        if sizes[0] != sizes[1]:
            raise MetricError("comparisons of different systems or numbers of runs cannot be added")
        both = {s: [a + b for a, b in zip(runs, two[s], strict=True)] for s, runs in one.items()}
        return compare(both, **self.how)

    def _scored(self) -> dict[str, list[Results]]:
        """By system its runs."""
        from tallystick.results.results import Results

        if not self.runs:
            raise MetricError("only figures were compared here; there are no documents to look at")
        return {
            system: [run if isinstance(run, Results) else Results(run) for run in runs]
            for system, runs in self.runs.items()
        }

    def of(self, system: str) -> Results:
        """The results of a system, its first run if there are several."""
        found = self._scored()
        if system not in found:
            raise MetricError(f"no system {system!r}; there are {', '.join(found)}.{did_you_mean(system, found)}")
        return found[system][0]

    def table(self) -> Table:
        """A row for each system, with intervals, ranks and letters."""
        from tallystick.results.comparison_show import comparison_table

        return comparison_table(self)

    @overload
    def by(
        self, what: Literal["field", "label", "slice"], label: str | None = None, rows: int | None = None, *, train: Any = None
    ) -> PartComparisons: ...  # fmt: skip

    @overload
    def by(self, what: str, label: str | None = None, rows: int | None = None, *, train: Any = None) -> Tables: ...

    def by(self, what: str, label: str | None = None, rows: int | None = None, *, train: Any = None) -> Tables:
        """By "field", "label" or an attribute of the task's items ("length", ...) a table for each metric: its figure and interval under each
        system, what is significant (p corrected over all parts), documents won, lost and tied, and below it the documents that got worse
        (`rows` of them) with the parts that did it; by "slice" the same for the documents that share a value (of the field `label`, or of
        FILE.csv:COLUMN). `train` is the training data of "seen" and "frequency". By "document" the figures alone, a column for each system
        (its first run)."""
        from tallystick.results.parts import compare_by

        what, label = self.of(self.systems[0]).background.meant(what, label, "slice")
        if what != "document":
            return compare_by(self, what, label, rows, train)
        from tallystick.results.comparison_show import side_by_side

        return side_by_side({s: self.of(s) for s in self.systems}, rows)

    def errors(self, rows: int | None = None) -> Tables:
        """What each system (its first run) got wrong, as its task tells it."""
        from tallystick.show.tables import Tables

        found = {system: self.of(system).errors(rows) for system in self.systems}
        return Tables(
            replace(table, title=": ".join(filter(None, (system, table.title))))
            for system, tables in found.items()
            for table in tables
        )

    def explain(self, document: Any = None, metric: str | None = None, *, system: str | None = None) -> Explanation:
        """What was matched with what in a document of a system; which, has to be said if there are several."""
        if system is None and len(self.systems) > 1:
            raise MetricError(f"say which system: explain(document, system={self.systems[0]!r})")
        return self.of(system or self.systems[0]).explain(document, metric)

    def to_json(self, *, indent: int | None = 2) -> str:
        """What the command prints with --format json."""
        from tallystick.files.writing import to_json

        return to_json({"tallystick": __version__, **self.as_dict()}, indent=indent)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each system and metric: figure, interval, spread, rank."""
        from tallystick.results.comparison_show import figures_only

        return figures_only([self]).to_frame()

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """The comparison in one of the formats of the command line; `columns` are the metrics to show, perhaps under other names."""
        from tallystick.results.comparison_show import write_table_of

        return write_table_of(self, format, how)

    def best_first(self) -> Comparison:
        """The systems in the order of their ranks under the base metric; those that it does not rank come last. Only of figures: the
        letters of systems that were tested follow their order."""
        if self.differences:
            raise MetricError("systems that were tested keep their order, which their letters follow")
        base = self.base or self.metrics[0]

        def place(system: str) -> float:
            rank = self.cells[system, base].rank
            return math.inf if rank is None else rank

        return replace(self, systems=tuple(sorted(self.systems, key=place)))

    @property
    def letters(self) -> dict[str, str]:
        return {system: letter(k) for k, system in enumerate(self.systems)}

    def digits_of(self, system: str, metric: str) -> int:
        """With how many decimals a figure is shown."""
        return self.decimals.get((system, metric), self.digits)

    def ranks(self, metric: str) -> list[float]:
        """The ranks of all systems, 1 for the best."""
        return [rank for system in self.systems if (rank := self.cells[system, metric].rank) is not None]

    def groups(self, metric: str) -> list[tuple[str, ...]]:
        """The groups that are not significantly apart: as many systems as possible that follow each other in the ranking, no two of which
        differ significantly. Groups may overlap, since of three systems the outer two may differ and neither from the one between them."""
        tested = {(a, b): d for (of, a, b), d in self.differences.items() if of == metric}
        if all(d.p is None for d in tested.values()):
            return []
        ranks = {s: rank for s in self.systems if (rank := self.cells[s, metric].rank) is not None}
        order = sorted(ranks, key=ranks.__getitem__)
        apart = {frozenset(pair) for pair, d in tested.items() if d.is_significant}
        ends = []
        for first in range(len(order)):
            last = first
            while last + 1 < len(order) and not any(
                frozenset((order[k], order[last + 1])) in apart for k in range(first, last + 1)
            ):
                last += 1
            ends.append(last)
        return [
            tuple(order[first : last + 1]) for first, last in enumerate(ends) if first == 0 or last > ends[first - 1]
        ]

    def correlations(self) -> list[Correlation]:
        """How much each pair of metrics agrees about the order of the systems that have a figure under both."""
        out = []
        for first, second in combinations(self.metrics, 2):
            both = [s for s in self.systems if None not in (self.cells[s, first].value, self.cells[s, second].value)]
            a, b = ([-(self.cells[system, metric].rank or 0.0) for system in both] for metric in (first, second))
            row: Correlation = {"first": first, "second": second, "spearman": _defined(spearman(a, b))}
            row.update({f"kendall_{v}": _defined(kendall(a, b, v)) for v in "abc"})
            out.append(row)
        return out

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            **({"title": self.title} if self.title else {}),
            **({"task": self.task} if self.task else {}),
            "signature": "; ".join(self.signatures),
            "settings": self.settings,
            "metrics": {
                metric: self.measures[metric].as_dict() if metric in self.measures else {} for metric in self.metrics
            },
            "systems": {
                system: {metric: self.cells[system, metric].as_dict() for metric in self.metrics}
                for system in self.systems
            },
            "letters": self.letters,
            "differences": [
                {
                    "metric": metric, "first": a, "second": b, "difference": d.value,
                    "interval": [d.interval.low, d.interval.high], "p": d.p, "p_holm": d.corrected, "test": d.test,
                }
                for (metric, a, b), d in self.differences.items()
            ],
            **({"splits": self._splits_as_dict(), "split_intervals": self._split_intervals_as_dict()} if self.splits else {}),
            **({"groups": {metric: list(map(list, self.groups(metric))) for metric in self.metrics}} if self.differences else {}),
            "base": self.base,
            "correlations": self.correlations(),
            **({"failed": dict(self.failed)} if self.failed else {}),
            "notes": list(self.notes),
        }  # fmt: skip

    def _splits_as_dict(self) -> dict[str, Any]:
        return {
            name: {system: {metric: found[system, metric] for metric in self.metrics} for system in self.systems}
            for name, found in self.splits.items()
        }

    def _split_intervals_as_dict(self) -> dict[str, Any]:
        return {
            name: {s: {m: [found[s, m].low, found[s, m].high] for m in self.metrics} for s in self.systems}
            for name, found in self.split_intervals.items()
        }

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def plot(self, kind: str | None = None) -> Picture:
        """A picture of the figures with their intervals and of the ranks; `kind` is figures or ranks for one of them."""
        from tallystick.results.comparison_show import comparison_picture

        return comparison_picture(self, kind)

    def report(
        self, path: str | Path, title: str = "Comparison", *, by: Literal["field", "label"] | None = None
    ) -> None:
        """A page to look at: one file that works offline. `by` adds the figures by field or label."""
        from tallystick.results.comparison_show import write_comparison

        write_comparison([self], path, title, own=[self.by(by)] if by else ())

    write_report = report

    def _repr_html_(self) -> str:
        from tallystick.results.comparison_show import comparison_html

        return comparison_html(self)


def mean_correlations(comparisons: Sequence[Comparison]) -> list[Correlation]:
    """The mean over several tasks of each correlation between two metrics that all of them have, in whatever order."""
    out = []
    for (first, second), rows in _by_pair(comparisons).items():
        if len(rows) == len(comparisons):
            means: Correlation = {"first": first, "second": second}
            for name in ("spearman", "kendall_a", "kendall_b", "kendall_c"):
                values = [row[name] for row in rows]
                means[name] = None if None in values else math.fsum(values) / len(values)
            out.append(means)
    return out


def pairs_left_out(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    """The pairs of metrics that some of the tasks have and others do not, so that there is no mean."""
    return [pair for pair, rows in _by_pair(comparisons).items() if len(rows) < len(comparisons)]


def _by_pair(comparisons: Sequence[Comparison]) -> dict[tuple[str, str], list[Correlation]]:
    """The correlations of all tasks by their two metrics, in the order in which these stand first."""
    found: dict[tuple[str, str], list[Correlation]] = {}
    for comparison in comparisons:
        for row in comparison.correlations():
            pair, turned = (row["first"], row["second"]), (row["second"], row["first"])
            found.setdefault(turned if turned in found else pair, []).append(row)
    return found


def ranked(
    names: Sequence[str],
    metrics: Sequence[str],
    cells: Mapping[tuple[str, str], Cell],
    *,
    ties: str = "mean",
    ascending: Collection[str] = (),
    base: str | None = None,
) -> dict[tuple[str, str], Cell]:
    """The cells with ranks (the highest figure is first; for the `ascending` metrics the lowest), and how far those of the base
    metric, the first if none is named, have moved. What is undefined has no rank."""
    found: dict[tuple[str, str], float] = {}
    for metric in metrics:
        known = {name: value for name in names if (value := cells[name, metric].value) is not None}
        signed = [-value if metric in ascending else value for value in known.values()]
        found |= {(name, metric): rank for name, rank in zip(known, ranks(signed, ties).tolist(), strict=True)}
    out: dict[tuple[str, str], Cell] = {}
    for key in ((name, metric) for metric in metrics for name in names):
        start, rank = found.get((key[0], base or metrics[0])), found.get(key)
        moved = None if start is None or rank is None else start - rank
        out[key] = replace(cells[key], rank=rank, moved=moved)
    return out


def letter(k: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    out = ""
    k += 1
    while k:
        k, rest = divmod(k - 1, 26)
        out = ascii_lowercase[rest] + out
    return out


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


# What a comparison cannot show, or what its readers would not expect: said beside the figures, never silently.

FEW = 100
"""Documents below which the p of a bootstrap test is too small."""
RARE = 12
"""Documents with a label below which a mean over labels has no good interval: many a resample lacks the label."""
MOST_NAMED = 5
"""So many rare labels are named."""
TAIL = 5
"""Resamples that should lie outside each end of an interval."""

Runs = Mapping[str, Sequence[Mapping[str, Result]]]


def about_documents(
    documents: int, strata: Sequence[int], systems: int, test: str, unit: str = "document"
) -> list[str]:
    """What cannot be said, or not be trusted, about few documents."""
    if max(strata, default=0) < 2:
        where = " in each split" if len(strata) > 1 else ""
        return [f"With fewer than two {unit}s{where} there are no intervals, and nothing is tested."]
    out = []
    if 1 in strata:
        alone = counted(strata.count(1), "split")
        out.append(f"{alone} of one {unit}, which is in every resample: intervals are too narrow.")
    if documents < FEW and systems > 1 and test == "bootstrap":
        out.append(
            f"{documents} {unit}s are few for a bootstrap test, whose p is too small then; that of a randomisation test is not."
        )
    return out


def about_resamples(resamples: int, level: float) -> list[str]:
    """That the ends of the intervals are made by next to no resamples."""
    outside = resamples * (1 - level) / 2
    if outside >= TAIL - 1e-9:
        return []
    enough = math.ceil(2 * TAIL / (1 - level) - 1e-6)
    return [
        f"Of {counted(resamples, 'resample')} {outside:.2g} lie outside each end of a {100 * level:.10g} % interval, which "
        f"makes it rough; {enough:,} resamples are enough."
    ]


def about_reach(
    pairs: int, documents: int, resamples: int, test: str, alpha: float, unit: str = "document", tests: str = "pairs of systems"
) -> list[str]:  # fmt: skip
    """That no difference, however large, could be significant: the smallest p that there can be is too large. `tests` says what the tests
    are that p is corrected over."""
    exact = test == "randomisation" and is_exact(documents, resamples)
    drawn = 0.0 if exact else 1 / (1 + resamples)
    there_is = 2 * 0.5**documents if test == "randomisation" else 0.0
    smallest = max(drawn, there_is)
    if not pairs or pairs * smallest <= alpha + 1e-12:
        return []
    family = (
        "" if pairs == 1 else f", and Holm's correction multiplies the smallest p of {pairs:,} {tests} by {pairs:,}"
    )
    by_documents = pairs * there_is > alpha + 1e-12
    reason = f"{documents} {unit}s" if by_documents else f"{resamples:,} resamples"
    enough = "" if by_documents else f"; {math.ceil(pairs / alpha - 1e-9):,} resamples are enough"
    return [f"Nothing could be significant: with {reason} p is at least {smallest:.2g}{family}{enough}."]


def about_draws(
    metric: str, tested: Mapping[tuple[str, str], Difference], resamples: int, documents: int, alpha: float
) -> list[str]:
    """Which pairs are so near to the level of significance that other draws could decide otherwise: within two standard
    errors of a share of resamples."""
    near = []
    for (first, second), d in tested.items():
        if d.p is None or d.corrected is None or (d.test == "randomisation" and is_exact(documents, resamples)):
            continue
        error = math.sqrt(d.p * (1 - d.p) / (1 + resamples))
        if abs(d.corrected - alpha) <= 2 * error * d.corrected / d.p:
            near.append(
                f"{first} and {second} (p {d.corrected:.3f})" if metric else f"{first}: {second} (p {d.corrected:.3f})"
            )
    if not near:
        return []
    shown = ", ".join(near[:5]) + (f" and {len(near) - 5} more" if len(near) > 5 else "")
    of = f"{metric}: near" if metric else "Near"
    return [f"{of} the level of {alpha:.2g}, so another seed may decide differently: {shown}. Use more resamples."]


def about_groups(runs: Runs, metrics: Sequence[str]) -> list[str]:
    """That groups of one name in several splits are drawn apart."""
    found = [run[metrics[0]] for run in next(iter(runs.values()))]
    if found[0].unit != "group":
        return []
    times = Counter(key for one in found for key in one.ids)
    shared = [key for key, count in times.items() if count > 1]
    if not shared:
        return []
    which = f"{counted(len(shared), 'group')} in more than one split: {some(shared)}"
    return [
        f"{which}. Groups are drawn within each split, as if one name meant different groups; if it means the same one, intervals may be too narrow."
    ]


def about_runs(runs: Runs) -> list[str]:
    """That means of runs are tested for these very runs."""
    if all(len(found) == 1 for found in runs.values()):
        return []
    return [
        "±: the standard deviation of the runs. Intervals and letters are for other documents, answered by these very runs: how "
        "much other runs would differ is not in them."
    ]


def about_labels(runs: Runs, metric: str) -> tuple[list[str], list[str]]:
    """Notes and cautions about means over labels: which systems have means over other labels, and which labels are rare."""
    results = {name: found[0][metric] for name, found in runs.items()}
    first = next(iter(results.values()))
    if not isinstance(first.kind, Labelled) or first.kind.average == "micro":
        return [], []
    over = {name: first.kind.in_means(result.sums) for name, result in results.items()}
    shared = set.intersection(*map(set, over.values()))
    notes = [
        f"{name}, {metric}: a mean over {counted(len(labels), 'label')}, of which not all systems have "
        f"{some(sorted(set(labels) - shared))}"
        for name, labels in over.items()
        if set(labels) - shared
    ]
    documents = (first.kind.support(first.rows) > 0).sum(axis=0).tolist()
    there = set().union(*over.values())
    rare = {label: n for label, n in zip(first.kind.labels, documents, strict=True) if label in there and 0 < n < RARE}
    if not rare or first.kind.average == "weighted":
        return notes, []
    named = ", ".join(f'"{label}" in {counted(n, "document")}' for label, n in list(rare.items())[:MOST_NAMED])
    named += f" and {len(rare) - MOST_NAMED:,} more" if len(rare) > MOST_NAMED else ""
    return notes, [
        f"{metric} is a mean over labels, some of which are rare: {named}. Resamples without one are means over the others, "
        "and the intervals are too narrow."
    ]


def about_means(runs: Runs, metric: str) -> list[str]:
    """How many documents a mean over documents leaves out."""
    out = []
    for name, found in runs.items():
        for result in (run[metric] for run in found):
            if not isinstance(result.kind, OverDocuments):
                continue
            counts = result.tally[f"{result.kind.headline}_documents"]
            if counts < len(result.ids):
                gone = len(result.ids) - int(counts)
                out.append(f"{name}, {metric}: 0/0 in {counted(gone, 'document')}, which its mean leaves out")
    return out


def said(runs: Runs, metrics: Sequence[str]) -> list[str]:
    """What the results themselves have to say, each once for each system, with the metrics that say it if not all do."""
    out = []
    for name, found in runs.items():
        by_warning: dict[str, dict[str, None]] = {}
        for run in found:
            for metric in metrics:
                for warning in run[metric].warnings:
                    by_warning.setdefault(warning, {})[metric] = None
        for warning, those in by_warning.items():
            of = "" if len(those) == len(metrics) else f", {', '.join(those)}"
            out.append(f"Warning: {name}{of}: {warning}")
    return out
