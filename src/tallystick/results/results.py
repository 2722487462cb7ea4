"""The results of several metrics over one corpus: what a task's function returns, and what its command prints.

    results = ts.coreference(key, response)
    results["muc"].f1                   the Result of one metric
    print(results)                      the command's table
    results.by("document"), results.errors(), results.explain("doc-1"), results.to_latex()

Whatever depends on the task (its labels, its kinds of error, the tree of a document, the parts of its report) is asked of the
`Background` that the task gives to its results; that of results without a task does what the metrics alone allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tallystick.engine.tally import Labelled
from tallystick.errors import InputError, MetricError, counted, did_you_mean, some, unknown_document
from tallystick.frozen import frozen
from tallystick.results import tables as reports
from tallystick.results.result import RESAMPLES, Groups, GroupSpec, Result, shared_signatures
from tallystick.show.tables import Table, Tables, Written, notebook_table, of_metric, ratios, to_text, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Unpack

    from tallystick.results.accounts import Sum
    from tallystick.results.explanation import Explanation
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.results.resampling import Interval
    from tallystick.results.result import Figures
    from tallystick.results.saved import Against
    from tallystick.results.slices import Slices
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import How

BREAKDOWNS = ("label", "document", "field")


@frozen
class Background:
    """What is known about results beside their figures, and what a task can say about them. This one is without a task."""

    task: str = ""
    unit: str = "document"
    title: str = "Evaluation"
    reference: str = ""
    """The file that predictions were scored against, where there is one."""
    given: Any = field(default=None, compare=False, repr=False)
    """The reference as it was given, where it can be read again."""
    named_by: str = "id"
    """The field, or its path, that holds the names of the reference's documents."""
    notes: tuple[str, ...] = ()
    """Said below the figures, beside the number of documents."""
    truncated: bool = False
    """Whether figures are printed as the reference scorer of coreference does."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Where labels are in a document, by what they are called; empty, if the metrics know them."""
    label: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said about the documents as a whole."""
        return ()

    def beside(self, results: Results) -> tuple[dict[str, Any], Callable[[Table], Table] | None]:
        """What stands beside the figures: as JSON, and as further columns of the table."""
        return {}, None

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """What figures can be by."""
        return BREAKDOWNS

    @property
    def also_by(self) -> Mapping[str, tuple[str, str | None]]:
        """Other words for breakdowns, each with the label that it means."""
        return {}

    def meant(self, what: str, label: str | None, *more: str) -> tuple[str, str | None]:
        """What figures are by, and which label; any other word is refused."""
        if not isinstance(what, str):
            raise MetricError(f"figures are by one word, such as {self.breakdowns[0]!r}; found {what!r:.60}")
        if what in self.also_by:
            by, usual = self.also_by[what]
            return by, label or usual
        known = (*self.breakdowns, *self.also_by, *more)
        if what not in known:
            has = f"{self.task} has" if self.task else "there are"
            it = "it has" if self.task else "there are"
            raise MetricError(
                f"{has} no figures by {what}; {it} those by {', '.join(known)}.{did_you_mean(what, known)}"
            )
        return what, label

    def words(self, results: Results) -> Sequence[Any] | None:
        """The words of each document, where they are known."""
        return None

    def breakdown(
        self, results: Results, by: str, label: str | None, train: Any = None
    ) -> tuple[Sequence[Table], Mapping[str, Any]]:
        """Figures by label, by field or by an attribute, as tables and as JSON."""
        return broken_down(results, by, label, self.labels, self.label)

    def portions(self, results: Results, by: str, label: str | None, train: Any = None) -> Mapping[str, Portions]:
        """By metric the rows of the documents by label, by field or by an attribute."""
        from tallystick.results.parts import portions_of

        return portions_of(results, by, label, self.labels, self.label)

    def errors(self, results: Results, rows: int | None) -> Sequence[Table]:
        """What went wrong: here, which label was taken for which, and where the worst documents differ."""
        from tallystick.results.documents import differences_tables
        from tallystick.results.errors import confusion_table

        taken = "Which {} was taken for which, under {}"
        labels = [confusion_table(met, taken.format(*of)) for of, met in self.confusions(results).items()]
        return [*labels, *differences_tables(self._worst(results, rows), None, True)]

    def errors_as_dict(self, results: Results, rows: int | None) -> dict[str, Any]:
        """The same as plain data."""
        from tallystick.results.documents import differences_as_json

        named = ("reference", "predicted", "count")
        return {
            "confusion": [
                {"label": label, "metric": name, "counts": [dict(zip(named, one, strict=True)) for one in met]}
                for (label, name), met in self.confusions(results).items()
            ],
            "worst": differences_as_json(self._worst(results, rows), None),
        }

    def _worst(self, results: Results, rows: int | None) -> list[tuple[Any, Mapping[str, float | None], Explanation]]:
        name = self.explained(results)
        worst = reports.documents_table({name: results[name]}, rows or 10).rows
        chosen = [self._document(results[name], str(row[0])) for row in worst]
        return [(key, results[name].documents[key], self.tree(results, name, key)) for key in chosen]

    def confusions(self, results: Results) -> dict[tuple[str, str], list[tuple[Any, Any, int]]]:
        """By label, and the first metric under which two different ones met: which was taken for which, and how often."""
        from tallystick.results.errors import confusion_at

        found: dict[tuple[str, str], list[tuple[Any, Any, int]]] = {}
        for label in self.labels:
            for name, path in _metrics_with(self.labels, results, label).items():
                result = results[name]
                met = [] if result.is_two_sided else confusion_at(result.expression, result.documents_kept, path)
                if met:
                    found[label, name] = met
                    break
        return found

    def explained(self, results: Results) -> str:
        """The metric that a document is explained by, unless another is named."""
        return next((name for name, result in results.items() if result.is_expression), next(iter(results)))

    def tree(self, results: Results, metric: str, document: Any) -> Explanation:
        """The alignment of one document."""
        return results[metric].explain(document)

    def explain(self, results: Results, document: Any, metric: str | None) -> Explanation:
        """The alignment of a document, by its name or its place in words; the worst, if none is named."""
        name = metric or self.explained(results)
        result = results[name]
        if document is None:
            document = reports.documents_table({name: result}, 1).rows[0][0] if len(result.ids) > 1 else result.ids[0]
        return self.tree(results, name, self._document(result, document))

    def _document(self, result: Result, wanted: Any) -> Any:
        if wanted in result.ids:
            return wanted
        known = {str(key): key for key in result.ids}
        if str(wanted) not in known:
            raise unknown_document(wanted, known, self.unit)
        return known[str(wanted)]

    def parts(self, results: Results) -> Parts:
        """What a report shows beside the figures."""
        from tallystick.results.report import Parts

        name = self.explained(results)
        result = results[name]
        if not result.is_expression or result.sources is None or result.is_two_sided:
            return Parts()
        tables = [replace(reports.fields_table(result), title=f"By field, under {name}" if len(results) > 1 else "")]
        return Parts(
            tables, reports.costs_table(result), explain=result.explain_in_order(), main=name, alignment="Side by side",
            further="result.explain",
        )  # fmt: skip

    def of_one(self, notes: tuple[str, ...]) -> Background:
        """The same for the figures of one of the documents."""
        return replace(self, notes=notes)

    def without_documents(self) -> Background:
        """The same, where only sums are left of the documents."""
        return self

    def whole(self) -> str:
        """Why results cannot be added to those of other documents; nothing if they can."""
        return ""

    def joined(self, other: Background) -> Background:
        """What is known about the documents of both."""
        return replace(self, title="Evaluation", reference="", notes=())


class NoSuchMetric(MetricError, KeyError):
    """A name that no metric has; as in every mapping it is a KeyError too."""

    __str__ = Exception.__str__


class Results(Written, Mapping[str, Result]):
    """A `Result` for each metric, by its name, over one corpus. It prints as the command's table and shows itself in a notebook.

    Where there is one metric only, its figures are attributes: `results.f1`.

    >>> results = ts.coreference([["mayor", "he"], ["Ann", "her"]], [["mayor", "he", "her"], ["Ann"]], ["muc", "b3"])
    >>> list(results), round(results["b3"].f1, 4)
    (['muc', 'b3'], 0.7059)
    """

    def __init__(self, results: Mapping[str, Result], background: Background | None = None) -> None:
        if not results:
            raise MetricError("there are no results: no metric was named")
        self._results = {
            name: result if result.key == name else result.changed(key=name) for name, result in results.items()
        }
        self.background = background or Background()

    def __getitem__(self, name: str) -> Result:
        if not isinstance(name, str) or name not in self._results:
            hint = did_you_mean(str(name), self._results)
            raise NoSuchMetric(f"no metric {name!r}; there are {', '.join(self._results)}.{hint}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "background":
            raise AttributeError(name)
        if len(self._results) == 1:
            return getattr(next(iter(self._results.values())), name)
        known = [metric for metric, result in self._results.items() if name in result.figures]
        if known:
            raise AttributeError(f"{name} of which metric? results[{known[0]!r}].{name}; there are {', '.join(known)}")
        raise AttributeError(f"results have no {name!r}; their metrics are {', '.join(self._results)}")

    def __dir__(self) -> list[str]:
        only = next(iter(self._results.values()))
        return sorted({*super().__dir__(), *(only.figures if len(self._results) == 1 else ())})

    # Figures

    @property
    def figures(self) -> dict[str, dict[str, float | None]]:
        """The figures of each metric."""
        return {name: dict(result.figures) for name, result in self.items()}

    @property
    def count(self) -> int:
        """How many documents there are."""
        return next(iter(self._results.values())).count

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said about the figures, each once; of some of the metrics only, behind their names."""
        found: dict[str, list[str]] = {}
        for name, result in self.items():
            for warning in result.warnings:
                found.setdefault(warning, []).append(name)
        named = {
            text: ", ".join(dict.fromkeys(names)) if len(names) < len(self) else "" for text, names in found.items()
        }
        return (*(f"{of}: {text}" if of else text for text, of in named.items()), *self.background.warnings)

    @property
    def signatures(self) -> tuple[str, ...]:
        """What was computed, in few lines."""
        return tuple(shared_signatures(self))

    @cached_property
    def said(self) -> str:
        """How many documents there are, and what the task says about them."""
        return ", ".join([counted(self.count, "document"), *self.background.notes])

    @property
    def left_out(self) -> list[str]:
        """What means over documents leave out: a line for each metric that is 0/0 in some."""
        found = {
            name: ", ".join(f"{figure} {count:,}" for figure, count in result.left_out.items() if count)
            for name, result in self.items()
        }
        return [
            f"{name} (macro): documents in which a figure is 0/0 are left out: {which}"
            for name, which in found.items()
            if which
        ]

    @property
    def remarks(self) -> list[str]:
        """What the command says below the figures: signatures and warnings."""
        signatures = [f"signature: {signature}" for signature in self.signatures]
        return [*signatures, *(f"Warning: {warning}" for warning in self.warnings)]

    def changed(self, **changes: Any) -> Results:
        """The same results with another policy, other notes or settings; nothing is counted for it."""
        return Results({name: result.changed(**changes) for name, result in self.items()}, self.background)

    def only(self, document: Any) -> Results:
        """The figures of one document, by its name or its place in words."""
        from tallystick.results.selection import only

        first = next(iter(self._results.values()))
        name = self.background._document(first, document)
        notes = (f"{name}, of {first.count:,}",)
        return Results({metric: only(result, name) for metric, result in self.items()}, self.background.of_one(notes))

    def intervals(
        self, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95, method: str = "percentile",
        groups: GroupSpec | None = None,
    ) -> dict[str, dict[str, Interval]]:  # fmt: skip
        """A confidence interval of each figure of each metric, by the bootstrap over documents, drawn together; with `groups` (see
        `grouped`) whole groups of documents are drawn."""
        from tallystick.results.resampling import intervals

        if groups is not None:
            return self.grouped(groups).intervals(resamples=resamples, seed=seed, level=level, method=method)
        found = intervals(list(self.values()), resamples=resamples, seed=seed, level=level, method=method)
        return dict(zip(self, found, strict=True))

    def grouped(self, by: GroupSpec) -> Results:
        """The same results, whose documents are drawn in groups for every interval and test: by a field of the reference ("patient"), a
        column of a file by document id ("about.csv:patient"), a mapping from ids, or a list with the group of each document."""
        from tallystick.results.slices import values_of

        first = next(iter(self._results.values()))
        if isinstance(by, (str, Mapping)):
            called, values = values_of(self, by, "groups")
            called = "groups" if isinstance(by, Mapping) else by
        else:
            called, values = "groups", list(by)
            if len(values) != len(first.ids):
                raise MetricError(
                    f"groups: {counted(len(values), 'group')} for {counted(len(first.ids), 'document')}; expected one for each"
                )
        absent = [key for key, value in zip(first.ids, values, strict=True) if value is None or value == ""]
        if absent:
            raise InputError(f"has no group for {counted(len(absent), 'document')}: {some(absent)}", called)
        of = {key: str(value) for key, value in zip(first.ids, values, strict=True)}
        return self.changed(groups=Groups(called, of))

    def __add__(self, other: Results) -> Results:
        """The results of the documents of both, as if they had been scored together."""
        if not isinstance(other, Results):
            return NotImplemented
        for background in (self.background, other.background):
            if background.whole():
                raise MetricError(f"{background.whole()}, so results cannot be added: score all documents in one call")
        joined = self.background.joined(other.background)
        from tallystick.results.accounts import Sum, Wants, agreed_sums

        wants = Wants(rows=all(result.kept for result in (*self.values(), *other.values())))
        one, two = agreed_sums(
            *({name: Sum(wants).of(result) for name, result in side.items()} for side in (self, other))
        )
        if list(one) != list(two):
            raise MetricError(f"results of different metrics cannot be added: {', '.join(self)} and {', '.join(other)}")
        return Results({name: self._added(name, part + two[name], other) for name, part in one.items()}, joined)

    def _added(self, name: str, total: Sum, other: Results) -> Result:
        """A sum as a result, with what the predictions of both say of how sure they are."""
        claims = [side[name].claims if name in side else None for side in (self, other)]
        if claims[0] is None or claims[1] is None:
            return total.result()
        return total.result().changed(claims=claims[0] + claims[1])

    def __radd__(self, other: object) -> Results:
        """So that `sum` adds the results of batches."""
        return self if type(other) is int and other == 0 else NotImplemented

    # Tables

    def table(self, *, macro: bool = False) -> Table:
        """A row for each metric; with `macro` one more for its mean over documents."""
        figures = figures_table(self, macro=macro, truncated=self.background.truncated)
        extend = self.background.beside(self)[1]
        return extend(figures) if extend is not None else figures

    def by(
        self, what: str, label: str | None = None, rows: int | None = None, *, train: Any = None, intervals: bool = False,
        resamples: int = RESAMPLES,
    ) -> Tables:  # fmt: skip
        """Figures by "label", "document" (the worst first), "field", or an attribute of the task's items, such as "length". `label` says
        which label, where there are several; `train` is the training data of "seen" and "frequency"; with `intervals` every figure of a
        part has its confidence interval."""
        what, label = self.background.meant(what, label)
        if what == "document":
            return Tables([reports.documents_table(self, rows)])
        tables, json = self.background.breakdown(self, what, label, train)
        if intervals:
            from tallystick.results.parts import with_intervals

            tables = with_intervals(self, tables, json, what, label, train, resamples)[0]
        return Tables(tables)

    def slices(
        self, by: str | Mapping[Any, Any], *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
    ) -> Slices:
        """Figures of the documents that share a value, and which of these slices differ from the rest: by a field of the reference
        ("vendor"), a column of a file by document id ("about.csv:language"), or a mapping from ids to values."""
        from tallystick.results.slices import slice_results

        return slice_results(self, by, resamples=resamples, seed=seed, level=level)

    def errors(self, rows: int | None = None) -> Tables:
        """What went wrong: the kinds of error, each with its figures if it were mended, and where the errors are; for results without a
        task where the worst documents differ. Of a task it is an `Analysis`, with `kinds` and `mistakes` as data."""
        found = self.background.errors(self, rows)
        return found if isinstance(found, Tables) else Tables(found)

    def explain(self, document: Any = None, metric: str | None = None) -> Explanation:
        """What was matched with what in a document; in the worst one, if none is named."""
        if metric is not None:
            _ = self[metric]
        return self.background.explain(self, document, metric)

    # Formats

    def as_dict(self, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Everything as plain data."""
        task = {"task": self.background.task} if self.background.task else {}
        extra = {**task, **self.background.beside(self)[0], **(extra or {}), "warnings": list(self.warnings)}
        return reports.results_as_dict(self, extra)

    def to_json(self, *, indent: int | None = 2, extra: Mapping[str, Any] | None = None) -> str:
        """What the command prints with --format json."""
        from tallystick.files.writing import to_json

        return to_json(self.as_dict(extra), indent=indent)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each metric; `by("document").to_frame()` has one for each document."""
        return self.table().to_frame()

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """The figures in one of the formats of the command line, in a paper with the signature in the caption; `columns` are those of the
        table to show. With `uncertainty` every figure has its interval."""
        return write_table(self.table_for(how.get("uncertainty")), format, how, self.signatures, self.comments)

    def table_for(self, uncertainty: str | None) -> Table:
        """The figures, with their intervals if something is to stand around them."""
        if uncertainty not in ("pm", "interval"):
            return self.table()
        from tallystick.results.parts import with_intervals

        return with_intervals(self, [self.table()], {}, None)[0][0]

    @property
    def comments(self) -> list[str]:
        """What belongs into the source of a paper beside the table: notes, and where the references are."""
        task = self.background.task
        words = " ".join(f"{task}.{metric}" for metric in self) if task else ""
        return [self.said, *([f"References as BibTeX: tallystick cite {words}"] if words else [])]

    def to_arrow(self) -> Any:
        """A pyarrow table with a row of sums and figures for each document and metric."""
        return reports.tallies_table(self)

    def to_parquet(self, path: str | Path) -> None:
        """The same as a file: .parquet, .arrow or .feather; .csv or .tsv too."""
        reports.write_tallies(self, path)

    def save(self, path: str | Path) -> None:
        """Write the result as JSON with the sums of every document, to compare with it later: `against`."""
        from tallystick.results.saved import save

        save(self, path)

    def against(
        self, baseline: str | Path, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
    ) -> Against:
        """The figures of every metric, field and label against those of a saved result, and which of them are significantly worse
        (`losses`); p is corrected over all of them."""
        from tallystick.results.saved import against

        return against(self, baseline, level=level, resamples=resamples, seed=seed)

    def report(self, path: str | Path, title: str = "", documents: int = 200, *, resamples: int = RESAMPLES) -> None:
        """A page to look at: one file that works offline, with the alignments of the worst documents."""
        self.report_parts(path, title, documents, resamples=resamples)

    def report_parts(
        self, path: str | Path, title: str = "", documents: int = 200, tables: Sequence[Table] = (), resamples: int = RESAMPLES
    ) -> Parts:  # fmt: skip
        """The report with further `tables`, unless the task has them in it anyway; returned is what it shows beside the figures."""
        from tallystick.results.report import Page, write_report

        parts = self.background.parts(self).with_tables(tables)
        write_report(Page(title or self.background.title, self, parts, documents, resamples), path)
        return parts

    def plot(self, kind: str = "figures") -> Picture:
        """A picture: `figures` with their intervals, or `documents` from the worst to the best."""
        from tallystick.results.report import result_picture

        return result_picture(self, kind)

    def __str__(self) -> str:
        return "\n".join([to_text(self.table(), 160), "", self.said, *self.remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook_table(self.table(), [self.said, *(f"Warning: {one}" for one in self.warnings)], self.signatures)


def figures_table(results: Mapping[str, Result], *, macro: bool = False, truncated: bool = False) -> Table:
    """A row for each metric: its figures, and how they came about; `truncated` as the reference scorer prints them."""
    names = list(dict.fromkeys(name for result in results.values() for name in result.figures))

    def cells(figures: Figures, result: Result) -> list[Any]:
        if not truncated:
            return [figures.get(name) for name in names]
        if "num_p" in result.kind.sums:
            figures = {**figures, "f1": _harmonic(figures["precision"] or 0.0, figures["recall"] or 0.0)}
        found = [figures.get(name) for name in names]
        return [None if value is None else _truncated(value) for value in found]

    averages = [result.kind.average for result in results.values() if isinstance(result.kind, Labelled)]
    rows = [[key, *cells(result.figures, result), *_sums(result)] for key, result in results.items()]
    if macro:
        rows += [[f"{key} (macro)", *cells(result.over_documents, result), "", ""] for key, result in results.items()]
    columns = ["metric", *names, "of predicted", "of reference"]
    if averages:  # metrics with different averages stand below each other
        columns.insert(1, "average")
        shown = [getattr(result.kind, "average", "micro") for result in results.values()]
        for row, average in zip(rows, [*shown, *(f"documents of {one}" for one in shown)], strict=False):
            row.insert(1, average)
    if not all(result.optimal for result in results.values()):  # a time limit struck: what the score may be at most
        columns.append("at most")
        most = [result.bounds[result.kind.headline][1] for result in results.values()]
        rows = [[*row, value] for row, value in zip(rows, [*most, *([""] * (len(rows) - len(most)))], strict=True)]
    return Table(columns, rows)


def _harmonic(precision: float, recall: float) -> float:
    """F1 with the reference scorer's roundings, which decide the last digit of what is cut off."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _truncated(value: float) -> str:
    """A percentage with two digits, cut off and not rounded."""
    return f"{int(value * 10_000) / 100:.2f}%"


def _sums(result: Result) -> list[str]:
    tally = result.kind.pooled_tally(result.sums) if isinstance(result.kind, Labelled) else result.tally
    if "num_p" not in tally:
        return ["", ""]
    return [*ratios(tally)]


# Figures by label and by field, of every metric that has them


def broken_down(
    results: Mapping[str, Result], by: str, label: str | None, labels: Mapping[str, str], usual: str | None = None
) -> tuple[list[Table], dict[str, Any]]:
    """Figures by label or by field, of every metric that has these. `labels` says where labels are, by what they are called, and `usual`
    which is meant unless another is named."""
    if by == "field":
        return fields_of(dict(expressions(results)))
    own: dict[str, str | None] = {name: None for name, result in results.items() if isinstance(result.kind, Labelled)}
    if own:
        return labels_of(results, own)
    if labels or label is None:
        return labels_of(results, find_labels(labels, results, label or usual), called_by(labels))
    return labels_of(results, {expressions(results)[0][0]: label})


def fields_of(results: Mapping[str, Result]) -> tuple[list[Table], dict[str, Any]]:
    """Figures by field of these metrics, as tables and as JSON: by metric a row for each field."""
    tables = [of_metric(reports.fields_table(result), name) for name, result in results.items()]
    return tables, {"fields": {name: [vars(row) for row in result.by_field()] for name, result in results.items()}}


def called_by(labels: Mapping[str, str]) -> dict[str, str]:
    """What the labels at a path are called."""
    return {path: name for name, path in labels.items()}


def labels_of(
    results: Mapping[str, Result], paths: Mapping[str, str | None], called: Mapping[str, str] | None = None
) -> tuple[list[Table], dict[str, Any]]:
    """Figures by label of some metrics, as tables and as JSON: by metric a row for each label. `paths` says where the labels of
    each are; nowhere, if its tally has labels of its own. `called` says what those at a path are called."""
    tables = [
        of_metric(reports.labels_table(results[name], path, called=(called or {}).get(path or "")), name)
        for name, path in paths.items()
    ]
    return tables, {
        "labels": {name: [vars(row) for row in results[name].by_label(path)] for name, path in paths.items()}
    }


def _metrics_with(labels: Mapping[str, str], results: Mapping[str, Result], label: str | None) -> dict[str, str]:
    asked = [path for key, path in labels.items() if label in (None, key)]
    has = {name: next((path for path in asked if _has(result, path)), None) for name, result in expressions(results)}
    return {name: path for name, path in has.items() if path is not None}


def find_labels(labels: Mapping[str, str], results: Mapping[str, Result], label: str | None) -> dict[str, str]:
    """The metrics whose collection has the label (or any), and where in the value the label is."""
    found = _metrics_with(labels, results, label)
    if found:
        return found
    if not labels:
        raise MetricError(
            f"say which field holds the label of {', '.join(results)}, with --label PATH such as relations[*].type (in Python "
            'by("label", "relations[*].type"))'
        )
    hint = did_you_mean(label or "", labels)
    able = [key for key in labels if _metrics_with(labels, results, key)]
    known = ", ".join(labels) + (f"; use --label {' or --label '.join(able)}" if able else "")
    raise MetricError(f"label {label!r}: none of {', '.join(results)} has it; labels are {known}.{hint}")


def _has(result: Result, path: str) -> bool:
    from tallystick.results.breakdown import has_labels_at

    return has_labels_at(result.expression, path)


def expressions(results: Mapping[str, Result]) -> list[tuple[str, Result]]:
    """The metrics that can be broken down: those that are expressions of the algebra."""
    found = [(name, result) for name, result in results.items() if result.is_expression]
    if not found:
        raise MetricError(f"{', '.join(results)}: not an expression of the algebra, so it cannot be broken down")
    return found
