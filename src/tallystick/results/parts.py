"""Results in parts: by field, by label, by slice of the documents.

A part is a result of its own over the same documents: four sums for each of them, as far as they belong to the field, label or
slice. So whatever a result has its parts have too: intervals, paired tests, documents won and lost.

    field     support   A                         B                         B - A                       p (Holm)   won   lost   tied
    total         120   0.9167 [0.8667, 0.9583]   0.8417 [0.7750, 0.9083]   -0.0750 [-0.12, -0.03] *      0.0180     1     10    109

Many parts are many tests, some of which would be significant by chance: p is corrected over all parts and pairs of systems (Holm). Parts
may be rare, and the test is randomisation, which holds its level for any number of documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Counts, Kind, Labelled, lower_is_better
from tallystick.errors import MetricError, counted
from tallystick.frozen import frozen
from tallystick.results.compare import compare_parts, splits_with
from tallystick.results.resampling import EQUAL, Interval, intervals, where_present
from tallystick.results.result import RESAMPLES, LabelFigures, Result, interval_line
from tallystick.results.results import called_by, expressions, find_labels
from tallystick.results.selection import OverDocuments, mean_over_documents
from tallystick.results.tables import figure_name
from tallystick.show.tables import Column, Estimate, Table, Tables

if TYPE_CHECKING:
    from tallystick.results.comparison import Cell, Comparison
    from tallystick.results.resampling import Difference
    from tallystick.results.results import Results

ROWS = 10
"""So many documents that got worse are shown, unless more are asked for."""
LISTED = 1000
"""So many of them are in the JSON."""
NO_INTERVALS = "No intervals: with fewer than two of what is drawn there are none."
SOME = 5
"""So many parts that some data sets lack are named."""
CAUSES = 3
"""So many parts of a document that got worse are shown."""


@frozen(eq=False)
class Portions:
    """The parts of one metric: by name the rows of the documents (num_p, den_p, num_r, den_r), and what the parts are called."""

    rows: Mapping[Any, F64]
    called: str = "field"
    beta: float = 1.0
    one: bool = True
    """Whether both sides have one numerator."""
    kind: Kind | None = None
    """What the sums are, where they are not these four."""
    counts: Mapping[Any, int] | None = None
    """How many of each part the reference has, where that is not what could be earned."""

    @property
    def support(self) -> dict[str, float]:
        """How many of each part the reference has."""
        if self.counts is not None:
            return {str(name): count for name, count in self.counts.items()}
        return {str(name): _whole(float(rows[:, 3].sum())) for name, rows in self.rows.items()}

    def results(self, whole: Result) -> dict[str, Result]:
        """Each part as a result over the documents of the whole."""
        kind = self.kind or Counts(f"f{self.beta:g}", self.beta, self.one)
        out = {
            str(name): whole.changed(kind=kind, rows=rows, above=None, sources=None, notes=(), field_sums=None, label_sums=None, tree=None)
            for name, rows in self.rows.items()
        }  # fmt: skip
        return {n: mean_over_documents(one) for n, one in out.items()} if _is_mean(whole) and self.kind is None else out

    def figures(self, whole: Result) -> list[LabelFigures]:
        """The figures of each part, as those of labels are."""
        support = self.support
        return [
            LabelFigures(name, one.figures, one.tally, _whole(support.get(name, 0)))
            for name, one in self.results(whole).items()
        ]


def _is_mean(result: Result) -> bool:
    return isinstance(result.kind, OverDocuments)


def portions_of(
    results: Mapping[str, Result], by: str, label: str | None, labels: Mapping[str, str], usual: str | None = None
) -> dict[str, Portions]:
    """The parts by label or by field of every metric that has them, as `results.broken_down` has their figures."""
    from tallystick.results.breakdown import rows_by_field, rows_by_label

    if by == "field":
        found = {n: rows_by_field(one.expression, one.documents_kept, one.memory) for n, one in expressions(results)}
        return {name: Portions(one.rows(), counts=one.support) for name, one in found.items()}
    own = {name: one for name, one in results.items() if _labelled(one) is not None}
    if own:
        return {name: _own_labels(one) for name, one in own.items()}
    paths = (
        find_labels(labels, results, label or usual) if labels or label is None else {expressions(results)[0][0]: label}
    )
    out = {}
    for name, path in paths.items():
        one = results[name]
        found_rows = rows_by_label(one.expression, path, one.documents_kept, one.memory)
        rows = found_rows.rows()
        order = sorted(rows, key=lambda key: (str(key), type(key).__name__))
        beta = getattr(one.kind, "beta", 1.0)
        called = called_by(labels).get(path, path)
        out[name] = Portions({key: rows[key] for key in order}, called, beta, one=False, counts=found_rows.support)
    return out


def _labelled(result: Result) -> Labelled | None:
    kind = result.kind.kind if isinstance(result.kind, OverDocuments) else result.kind
    return kind if isinstance(kind, Labelled) else None


def _own_labels(result: Result) -> Portions:
    kind = result.kind
    if not isinstance(kind, Labelled):
        raise MetricError("figures by label are sums over documents; leave --macro out, or --by label")
    rows = kind.label_rows(result.rows)
    one = all(np.array_equal(found[:, 0], found[:, 2]) for found in rows.values())
    return Portions(rows, "label", getattr(kind, "beta", 1.0), one)


def with_intervals(
    results: Results, tables: Sequence[Table], json: Mapping[str, Any], by: str | None, label: str | None = None, train: Any = None,
    resamples: int = RESAMPLES,
) -> tuple[list[Table], dict[str, Any]]:  # fmt: skip
    """Tables of figures, whole or by field, label or attribute, with an interval behind each figure; and the same in their JSON."""
    whole = dict(zip(results, intervals(list(results.values()), resamples=resamples), strict=True))
    found: dict[str, dict[str, dict[str, Interval]]] = {}
    if by is not None:
        for metric, portions in results.background.portions(results, by, label, train).items():
            parts = portions.results(results[metric])
            drawn_parts = [where_present(part) for part in parts.values()]
            found[metric] = dict(zip(parts, intervals(drawn_parts, resamples=resamples), strict=True))
    out, order = [], list(found)
    for table in tables:
        if table.columns[0] == "metric":
            out.append(_estimated(table, whole))
            continue
        # the tables by field or label stand in the order of their metrics, and may be called otherwise
        metric = table.title if table.title in found else order[0] if order else ""
        if metric in order:
            order.remove(metric)
        known = found.get(metric, {})
        shown = _estimated(table, known)
        out.append(replace(shown, notes=[*shown.notes, *_about_absence(known, resamples)]))
    rows = {
        metric: [_row_with_intervals(row, found.get(metric, {})) for row in of]
        for metric, of in (json.get(f"{by}s") or json.get("by", {}).get(by, {})).items()
    }
    drawn = interval_line(list(results.values()), resamples=resamples)
    extra = {"intervals": {name: _ends(one) for name, one in whole.items()}, "intervals_by": drawn}
    placed = {f"{by}s": rows} if by in ("label", "field") else {"by": {by: rows}}
    return out, {**extra, **(placed if by is not None else {})}


def _about_absence(known: Mapping[str, Mapping[str, Interval]], resamples: int) -> list[str]:
    """In how many resamples a part does not occur."""
    absent = {part: min((one.undefined for one in of.values()), default=0) for part, of in known.items()}
    rare = [f"{part} ({count:,})" for part, count in absent.items() if count]
    if not rare:
        return []
    more = f" and {len(rare) - SOME} more" if len(rare) > SOME else ""
    return [
        f"Absent from some of the {resamples:,} resamples, which its interval leaves out: {', '.join(rare[:SOME])}{more}."
    ]


def _estimated(table: Table, known: Mapping[str, Mapping[str, Interval]]) -> Table:
    """A table with the ends of intervals behind the figures that have one; `known` has them by the name of a row."""
    rows = [
        [
            Estimate(value, known[str(row[0])][column].ends) if isinstance(value, float) and column in known.get(str(row[0]), {}) else value
            for column, value in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]  # fmt: skip
    found = [value for row in rows for value in row if isinstance(value, Estimate)]
    if not found:
        return table
    note = "[ ]: 95 % interval." if any(one.ends for one in found) else NO_INTERVALS
    return replace(table, rows=rows, notes=[*table.notes, note])


def _row_with_intervals(row: Mapping[str, Any], known: Mapping[str, Mapping[str, Interval]]) -> dict[str, Any]:
    return {**row, "intervals": _ends(known.get(str(row.get("path", row.get("label"))), {}))}


def _ends(found: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: [one.low, one.high] for name, one in found.items()}


# Systems side by side


@frozen
class Scores:
    """Documents by who had the higher figure: the second system (won), the first (lost), or neither. Documents in which neither side
    has anything of a part are not counted."""

    won: int
    lost: int
    tied: int


@frozen
class Regression:
    """A document in which the second system has a lower figure than the first, and the parts in which it lost, the worst first."""

    document: Any
    before: float | None
    after: float | None
    parts: tuple[tuple[str, float | None, float | None], ...]

    def as_dict(self) -> dict[str, Any]:
        parts = [{"part": name, "before": before, "after": after} for name, before, after in self.parts]
        return {"document": self.document, "before": self.before, "after": self.after, "parts": parts}


@frozen(eq=False)
class PartComparison:
    """The systems of a comparison under the parts of one metric. `tested` has the parts where a comparison has metrics."""

    metric: str
    what: str
    called: str
    whole: Comparison
    tested: Comparison
    support: Mapping[str, float]
    """How many of each part the reference has."""

    @property
    def parts(self) -> tuple[str, ...]:
        return self.tested.metrics

    def figures(self, system: str, part: str | None = None) -> F64:
        """The figure of each document under a part, or under the metric; NaN where it is 0/0. Of several runs the mean."""
        runs = (self.whole if part is None else self.tested).runs[system]
        found = []
        for run in runs:
            result = run[self.metric if part is None else part]
            found.append(result.kind.figures(result.rows)[result.kind.headline])
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if self.tested.splits else np.asarray(np.mean(found, axis=0), np.float64)

    def _both(self, first: str, second: str, part: str | None = None) -> tuple[F64, F64, F64]:
        """The figures of both systems, as far as one has any, and how much better the second is. Where there was nothing to find and
        nothing was predicted, all is right."""
        result = next(iter((self.whole if part is None else self.tested).runs.values()))[0][
            self.metric if part is None else part
        ]
        lower = lower_is_better(result.kind)
        one, two = self.figures(first, part), self.figures(second, part)
        a, b = (np.nan_to_num(side, nan=0.0 if lower else 1.0) for side in (one, two))
        gain = np.where(np.isnan(one) & np.isnan(two), np.nan, (a - b) if lower else (b - a))
        return one, two, gain

    def score(self, part: str, first: str, second: str) -> Scores:
        """How many documents the second system won and lost under a part."""
        gain = self._both(first, second, part)[2]
        won, lost = int(np.sum(gain > EQUAL)), int(np.sum(gain < -EQUAL))
        return Scores(won, lost, int(np.sum(~np.isnan(gain))) - won - lost)

    def regressions(self, first: str, second: str, limit: int | None = None) -> tuple[list[Regression], int]:
        """The documents that got worse from the first system to the second, the worst first, and how many there are."""
        before, after, gain = self._both(first, second)
        worse = np.flatnonzero(gain < -EQUAL)
        chosen = worse[np.argsort(gain[worse], kind="stable")][:limit]
        sides = {part: self._both(first, second, part) for part in self.parts} if len(chosen) else {}
        ids = [key for run in self.whole.runs[first] for key in run[self.metric].ids] if self.tested.splits else (
            self.whole.runs[first][0][self.metric].ids
        )  # fmt: skip
        out = []
        for k in chosen.tolist():
            lost = [
                (float(gains[k]), part, one[k], two[k])
                for part, (one, two, gains) in sides.items()
                if gains[k] < -EQUAL
            ]
            causes = tuple((part, _plain(one), _plain(two)) for _, part, one, two in sorted(lost, key=lambda x: x[0]))
            out.append(Regression(ids[k], _plain(before[k]), _plain(after[k]), causes))
        return out, len(worse)

    # Showing

    @property
    def cautions(self) -> list[str]:
        """What the tests cannot show: what holds for the whole too as it is there, and the rest with the name of the table."""
        return [
            note if note in self.whole.notes else f"{self.metric} by {self.called}: {note}"
            for note in self.tested.cautions
        ]

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        systems = self.tested.systems
        return [(a, b) for k, a in enumerate(systems) for b in systems[k + 1 :]]

    def tables(self, rows: int | None = ROWS) -> list[Table]:
        """Parts by systems, the differences (in the same table, if there are two systems), and the documents that got worse."""
        head = [self.called, Column("support", "count"), *self.tested.systems]
        body = [
            [part, _whole(self.support[part]), *(_estimate(self.tested.cells[s, part]) for s in self.tested.systems)]
            for part in self.parts
        ]
        scored, title = ["won", "lost", "tied"], f"{self.metric} by {self.called}"
        if len(self.tested.systems) <= 2:
            for first, second in self._pairs:
                head += [Column(f"{second} - {first}", "gain"), Column("p (Holm)", "number"), *scored]
                for row in body:
                    row += self._row(str(row[0]), first, second)
            tables = [Table(head, body, title, [*self._notes(), *self._unharmed()], metric=self.metric)]
        else:
            pairs = [[part, a, b, *self._row(part, a, b)] for part in self.parts for a, b in self._pairs]
            gain, p = Column("second - first", "gain"), Column("p (Holm)", "number")
            tables = [
                Table(head, body, title, self._notes(), metric=self.metric),
                Table(
                    [self.called, "first", "second", gain, p, *scored], pairs, f"{title}: every pair",
                    [*self._about_tests(), *self._unharmed()], metric=self.metric,
                ),
            ]  # fmt: skip
        return [*tables, *self._regressed(rows)]

    def _row(self, part: str, first: str, second: str) -> list[Any]:
        difference = self.tested.differences[part, first, second]
        scores = self.score(part, first, second)
        return [self._gain(difference), difference.corrected, scores.won, scores.lost, scores.tied]

    def _gain(self, difference: Difference) -> Any:
        if difference.value is None:
            return None
        return Estimate(difference.value, difference.interval.ends, "*" if self.is_significant(difference) else "")

    @staticmethod
    def is_significant(difference: Difference) -> bool:
        """Whether a difference is more than chance after the correction."""
        return difference.is_significant

    def _notes(self) -> list[str]:
        """What the figures are, and the marks at them: letters, or, where the differences are in the same table, their stars."""
        run = next(iter(self.tested.runs.values()))[0]
        figure = figure_name(run[self.parts[0]].kind.headline)
        figures = f"Figures: {figure}. [ ]: {100 * self.tested.how['level']:g} % interval."
        return [figures, *self._about_tests(len(self.tested.systems) > 2), *self._over_some_splits()]

    def _about_tests(self, letters: bool = False) -> list[str]:
        """What letters or stars stand for, or that nothing is significant."""
        if not self.tested.differences:
            return []
        tests = sum(d.p is not None for d in self.tested.differences.values())
        said = f"p ≤ {1 - self.tested.how['level']:.2g} after Holm's correction over {counted(tests, 'test')}"
        if any(map(self.is_significant, self.tested.differences.values())):
            better = "Letters: systems, by the letter before their name, that a figure is significantly better than"
            return [f"{better} ({said})." if letters else f"*: {said}."]
        untested = "Nothing is tested: there are too few of what is drawn."
        return [f"No difference is significant ({said})." if tests else untested]

    def _unharmed(self) -> list[str]:
        """Which systems have no document that got worse."""
        first, *others = self.tested.systems
        without = [one for one in others if not self.regressions(first, one, 0)[1]]
        return [f"No document is worse in {one} than in {first}." for one in without]

    def _over_some_splits(self) -> list[str]:
        """Which parts only some splits have, so that their means are over these."""
        names, out = list(self.tested.splits), []
        for part in self.parts if names else ():
            having = splits_with(self.tested.runs, part)
            if len(having) < len(names):
                out.append(f"{part}: mean over the splits that have it ({', '.join(names[k] for k in having)}).")
        return [
            *out[:SOME],
            *([f"{len(out) - SOME} more are means over the splits that have them."] if len(out) > SOME else []),
        ]

    def _regressed(self, rows: int | None) -> list[Table]:
        out = []
        first = self.tested.systems[0]
        for second in self.tested.systems[1:]:
            found, count = self.regressions(first, second, rows)
            if not count or rows == 0:
                continue
            title = f"Worse in {second} than in {first}, {self.metric}: {counted(count, 'document')}"
            body = [[str(one.document), one.before, one.after, _causes(one)] for one in found]
            more = (
                [f"{count - len(found):,} more; --rows N (in Python rows=N) shows more of them"]
                if count > len(found)
                else []
            )
            out.append(
                Table(
                    [
                        "document",
                        first,
                        second,
                        "parts that lost"
                        if self.what not in ("field", "label", "slice")
                        else f"{self.what}s that lost",
                    ],
                    body,
                    title,
                    more,
                    metric=self.metric,
                )
            )
        return out

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        parts = {
            part: {
                "support": _whole(self.support[part]),
                "systems": {
                    s: {key: self.tested.cells[s, part].as_dict()[key] for key in ("value", "interval", "spread", "runs", "beats")}
                    for s in self.tested.systems
                },
            }
            for part in self.parts
        }  # fmt: skip
        differences = [
            {
                "part": part, "first": a, "second": b, "difference": d.value, "interval": [d.interval.low, d.interval.high],
                "p": d.p, "p_holm": d.corrected, "test": d.test, **vars(self.score(part, a, b)),
            }
            for (part, a, b), d in self.tested.differences.items()
        ]  # fmt: skip
        first = self.tested.systems[0]
        found = {s: self.regressions(first, s, LISTED) for s in self.tested.systems[1:]}
        regressed = {s: [one.as_dict() for one in listed] for s, (listed, _) in found.items()}
        return {
            "called": self.called, "parts": parts, "differences": differences, "regressed": regressed, "documents_regressed": {s: count for s, (_, count) in found.items()},
            "settings": self.tested.settings, "cautions": [*self.tested.cautions, *self._over_some_splits()],
        }  # fmt: skip


class PartComparisons(Tables):
    """The comparisons of the parts of each metric. They print as tables; `as_dict` and `[metric]` have more."""

    def __init__(self, what: str, of: Sequence[PartComparison], rows: int | None = ROWS) -> None:
        super().__init__(table for one in of for table in one.tables(rows))
        self.what, self.comparisons = what, {one.metric: one for one in of}

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return self.comparisons[place]
        return super().__getitem__(place)

    @property
    def cautions(self) -> list[str]:
        """What the tests cannot show."""
        return list(dict.fromkeys(note for one in self.comparisons.values() for note in one.cautions))

    def as_dict(self) -> dict[str, Any]:
        """By metric everything as plain data."""
        return {metric: one.as_dict() for metric, one in self.comparisons.items()}


def compare_by(
    comparison: Comparison, what: str, label: str | None = None, rows: int | None = None, train: Any = None
) -> PartComparisons:
    """The systems of a comparison by field, label or attribute, of every metric that has these."""
    scored = comparison._scored()
    found = {
        system: [_portions(run, what, label, train) for run in runs] for system, runs in scored.items()
    }  # fmt: skip
    metrics = [metric for metric in comparison.metrics if metric in next(iter(found.values()))[0]]
    out = []
    for metric in metrics:
        parts = {
            s: [portions[metric].results(run[metric]) for run, portions in zip(scored[s], of, strict=True)]
            for s, of in found.items()
        }
        called = next(iter(found.values()))[0][metric].called
        names = list(dict.fromkeys(name for runs in parts.values() for run in runs for name in run))
        if what not in ("field", "label", "slice"):
            names.sort(key=bin_order)
        if not names:
            raise MetricError(f"{metric} has no figures by {what}: no document has any")
        filled = {
            s: [{name: run.get(name) or _nothing(run) for name in names} for run in runs] for s, runs in parts.items()
        }
        tested = compare_parts(filled, {**comparison.how, "base": None})
        support = _support([portions[metric].support for portions in found[comparison.systems[0]]], bool(tested.splits))
        out.append(
            PartComparison(metric, what, called, comparison, tested, {name: support.get(name, 0) for name in names})
        )
    return PartComparisons(what, out, ROWS if rows is None else rows)


def _portions(run: Results, what: str, label: str | None, train: Any) -> Mapping[str, Portions]:
    if what != "slice":
        return run.background.portions(run, what, label, train)
    from tallystick.results.slices import slice_portions

    if label is None:
        raise MetricError('say what the slices are by: by("slice", "vendor"), or by("slice", "about.csv:language")')
    return slice_portions(run, label)


def _nothing(run: Mapping[str, Result]) -> Result:
    """A part that only other systems have."""
    one = next(iter(run.values()))
    return one.changed(rows=np.zeros_like(one.rows))


def _support(runs: Sequence[Mapping[str, float]], splits: bool) -> dict[str, float]:
    """How many of each part the references have: one for all runs, or one for each."""
    out: dict[str, float] = {}
    for run in runs if splits else runs[:1]:
        for part, count in run.items():
            out[part] = out.get(part, 0) + count
    return out


def _estimate(cell: Cell) -> Any:
    return None if cell.value is None else Estimate(cell.value, cell.ends, cell.beats)


def _causes(one: Regression) -> str:
    """The worst parts of a document: `total 1 → 0, lines[*].price 0.8 → 0.5`."""
    shown = [f"{name} {_short(before)} → {_short(after)}" for name, before, after in one.parts[:CAUSES]]
    more = f" and {len(one.parts) - CAUSES} more" if len(one.parts) > CAUSES else ""
    return ", ".join(shown) + more if shown else "–"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _plain(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


# Values in bins: of numbers 0, 1, 2, 3-4, 5-8, 9-16, ..., which double; a fraction is in the bin of the next whole number. Texts are parts
# of their own.


NONE = "(none)"
"""The part of what has no value."""


def bin_of(value: Any) -> str:
    """The part that a value belongs to: a number's bin, a text itself."""
    if value is None or value == "" or value != value:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    number = max(0, ceil(value - 1e-9))
    high = 1 << max(0, number - 1).bit_length() if number else 0
    low = high // 2 + 1 if number > 1 else number
    return str(low) if low == high else f"{low}-{high}"


def bin_order(part: str) -> tuple[int, int, str]:
    """What parts are sorted by: bins of numbers by where they begin, then texts, and what has no value last."""
    number = re.fullmatch(r"(\d+)(-\d+)?", part)
    return (0, int(number[1]), "") if number else (2 if part == NONE else 1, 0, part)
