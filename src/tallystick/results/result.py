"""One object for a result: figures, tallies, documents, labels, fields, explanation, signature, warnings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.data import Memory
from tallystick.engine.tally import (
    NAMED,
    Kind,
    Labelled,
    Noted,
    Totals,
    add_up,
    lower_is_better,
    tells_exact,
    total,
    unproven_documents,
)  # fmt: skip
from tallystick.errors import MetricError, TallystickError, some, unknown_document
from tallystick.frozen import frozen
from tallystick.results.lookalikes import Labels
from tallystick.show.tables import Written
from tallystick.version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tallystick.algebra.node import Node
    from tallystick.results.accounts import FieldSums, LabelSums
    from tallystick.results.confidence import Calibration, Claims, Review
    from tallystick.results.errors import Errors
    from tallystick.results.explanation import Explanation, InOrder
    from tallystick.results.resampling import Interval
    from tallystick.results.results import Results
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import How, Tables

Figures = dict[str, "float | None"]
RESAMPLES = 10_000
"""So many that the ends of intervals, and letters, seldom hang on the seed."""
GroupSpec = str | Mapping[Any, Any] | Sequence[Any]


@frozen
class FieldFigures:
    """What one path of the value earned and lost."""

    path: str
    figures: Figures
    tally: dict[str, float]
    support: int
    aligned: int
    wrong: int
    missing: int
    extra: int
    similarity: float | None
    diagnostic: bool


@frozen
class LabelFigures:
    """The figures of one label: precision by the predicted label, recall by the reference label."""

    label: Any
    figures: Figures
    tally: dict[str, float]
    support: float


@frozen(eq=False)
class Groups:
    """Which documents are drawn together: by id the name of the group."""

    called: str
    of: Mapping[Any, str]


# The rows of a result: there, counted when somebody asks for them, or let go.


@frozen(eq=False)
class Later:
    """Rows that are counted when somebody asks for them; the sums of the corpus are known already."""

    count: Callable[[], F64]
    sums: F64


class Rows:
    """The field `rows`: an array, a `Later` that becomes one when it is looked at, or the totals if nothing is left of
    the documents but these."""

    def __get__(self, result: Any, owner: type) -> F64:
        if result is None:
            raise AttributeError("rows")  # so that the field has no default
        rows: F64 | Later | Totals = result.__dict__["_rows"]
        if isinstance(rows, Totals):
            raise MetricError("this result kept no documents, only their sums; keep the rows of the documents for this")
        if isinstance(rows, Later):
            result.__dict__.setdefault("sums", rows.sums)
            rows = result.__dict__["_rows"] = rows.count()
        return rows

    def __set__(self, result: Any, rows: F64 | Later | Totals) -> None:
        result.__dict__["_rows"] = rows


# Which documents come first where the worst do: the same in a report and among the documents that are kept for it.


def worst_first(kind: Kind, rows: F64) -> tuple[F64, F64, F64]:
    """Three keys of every document, the lowest of which come first: whether its figure is 0/0, the figure (less the figure, if
    lower is better), and less its size, since of two that are as bad the larger has more to lose."""
    values = kind.figures(rows)[kind.headline] * (-1 if lower_is_better(kind) else 1)
    undefined = np.isnan(values) | ~rows.any(axis=1)  # an average may make 0 of a document in which there is nothing
    return undefined.astype(np.float64), np.where(undefined, 0.0, values), -np.asarray(rows.sum(axis=1), np.float64)


@frozen(eq=False)
class Result(Written):
    """What an evaluation found. Figures are attributes: `result.f1`, `result.precision`, ...

    >>> result = ts.evaluate(ts.f1(ts.match(ts.exact)), [["a", "b"], ["c"]], [["a"], ["c", "d"]])
    >>> result.figures
    {'precision': 0.6666666666666666, 'recall': 0.6666666666666666, 'f1': 0.6666666666666666}
    >>> result.tally
    {'num_p': 2.0, 'den_p': 3.0, 'num_r': 2.0, 'den_r': 3.0}
    """

    metric: Node | str
    kind: Kind
    rows: Rows = Rows()
    ids: tuple[Any, ...] = field(repr=False)  # type: ignore[misc]  # mypy takes the descriptor for a default
    undefined: float | None = None
    notes: tuple[str, ...] = ()
    sources: Sequence[tuple[Any, Any]] | None = field(default=None, repr=False)
    settings: str = ""
    memory: Memory = field(default_factory=Memory, repr=False)
    name: str = ""
    above: F64 | None = field(default=None, repr=False)
    field_sums: FieldSums | None = field(default=None, repr=False)
    label_sums: LabelSums | None = field(default=None, repr=False)
    looked_at: Labels = field(default_factory=Labels, repr=False)
    """The labels that its metric looks at, in all documents."""
    invalid: tuple[int, ...] = field(default=(), repr=False)
    """The places of documents whose prediction could not be read."""
    judges: tuple[str, ...] = ()
    """Who was asked about pairs of texts."""
    key: str = ""
    """What its metric is called among those of its task."""
    tree: Callable[[Any], Explanation] | None = field(default=None, repr=False)
    """What explains a document, where it is not the expression."""
    claims: Claims | None = field(default=None, repr=False)
    """What the predictions say about how sure they are, and whether that is right."""
    unit: str = "document"
    """What a row is: a document, or a sentence where the files know no documents."""
    groups: Groups | None = field(default=None, repr=False)
    """Which documents are drawn together for intervals and tests."""

    # Figures

    @property
    def called(self) -> str:
        """What its metric is called in tables and as JSON: its own name, or, without one, the figure that it is named after."""
        return self.key or self.name or self.kind.headline

    @cached_property
    def sums(self) -> F64:
        """The sums of the whole corpus."""
        rows = self.__dict__["_rows"]
        return rows.sums if isinstance(rows, (Later, Totals)) else total(rows)

    @cached_property
    def totals(self) -> Totals:
        """The sums over the documents that all figures follow from. Where these are all that a kind with labels needs, rows are
        not counted for them."""
        rows = self.__dict__["_rows"]
        if isinstance(rows, Totals):
            return rows
        if isinstance(rows, Later) and isinstance(self.kind, Labelled) and not tells_exact(self.kind):
            return Totals(self.kind, self.count, add_up(rows.sums[None, :]))
        return Totals.of(self.kind, self.rows, above=self.above, invalid=self.invalid, ids=self.ids)

    def changed(self, **changes: Any) -> Result:
        """The same result with other notes, policy or settings; nothing is counted for it."""
        given = {one.name: self.__dict__[one.name] for one in fields(self) if one.name != "rows"}
        return Result(**{"rows": self.__dict__["_rows"], **given, **changes})

    @property
    def count(self) -> int:
        """How many documents there are."""
        rows = self.__dict__["_rows"]
        return rows.documents if isinstance(rows, Totals) else len(self.ids)

    @property
    def kept(self) -> bool:
        """Whether the rows of the documents are there."""
        return not isinstance(self.__dict__["_rows"], Totals)

    @property
    def tally(self) -> dict[str, float]:
        """The sums of the whole corpus, by name."""
        return dict(zip(self.kind.sums, self.sums.tolist(), strict=True))

    @cached_property
    def figures(self) -> Figures:
        """The figures of the whole corpus: sums first, then one division (micro), or the kind's own average."""
        return self._decided(self.kind.figures(self.sums))

    @cached_property
    def averages(self) -> dict[str, Figures]:
        """The figures under each average: over labels where the kind has them, else over documents."""
        if isinstance(self.kind, Labelled):
            return {name: self._decided(found) for name, found in self.kind.averages(self.sums).items()}
        return {"micro": self.figures, "macro": self.over_documents}

    @cached_property
    def over_documents(self) -> Figures:
        """The mean of each figure over the documents; see `left_out`. A kind that has labels leaves documents out in which a
        figure is 0/0, as it does with labels; others do what the policy says."""
        if not isinstance(self.kind, Labelled):
            return self.totals.mean(self.undefined)
        found = {name: values[~np.isnan(values)] for name, values in self.kind.figures(self.rows).items()}
        return {name: math.fsum(v.tolist()) / len(v) if len(v) else None for name, v in found.items()}

    @property
    def micro(self) -> Figures:
        return self.averages["micro"]

    @property
    def macro(self) -> Figures:
        """The mean over labels where the kind has them, else over documents; see `left_out`."""
        return self.averages["macro"]

    @cached_property
    def left_out(self) -> dict[str, int]:
        """How many documents the mean of each figure leaves out, since it is 0/0 there: none, if that counts as something."""
        if isinstance(self.kind, Labelled):
            return {name: int(np.isnan(values).sum()) for name, values in self.kind.figures(self.rows).items()}
        return {name: absent if self.undefined is None else 0 for name, (_, absent) in self.totals.means.items()}

    def _decided(self, figures: Mapping[str, F64]) -> Figures:
        return {name: float(value) if value == value else self.undefined for name, value in figures.items()}

    def __getattr__(self, name: str) -> float | None:
        if name.startswith("_") or name in ("kind", "rows", "figures", "undefined", "sums", "above", "totals"):
            raise AttributeError(name)
        if name in self.figures:
            return self.figures[name]
        raise AttributeError(f"this result has no {name!r}; it has {', '.join(self.figures)}")

    # Bounds: where a solver has a time limit, `above` is the tally with what each document could have at most.

    @cached_property
    def unproven(self) -> int:
        """In how many documents a better score is possible: a time limit struck before the optimum was proven."""
        return 0 if self.kept and self.above is None else self.totals.unproven

    @property
    def optimal(self) -> bool:
        """Whether every figure is proven to be the optimum; if not, `bounds` has what is known."""
        return self.unproven == 0

    def _unproven_documents(self) -> str:
        """Some documents whose optimum is not proven, with what is known of each."""
        listed = self.totals.open
        if self.kept and self.above is not None:
            listed = tuple(unproven_documents(self.kind, self.rows, self.above, self.ids)[:NAMED])
        return f" ({', '.join(listed)}{', ...' if self.unproven > len(listed) else ''})" if listed else ""

    @cached_property
    def bounds(self) -> dict[str, tuple[float | None, float | None]]:
        """The least and the most that each figure can be; the same twice where it is proven."""
        sums = None if self.kept and self.above is None else self.totals.most
        most = self.figures if sums is None else self._decided(self.kind.figures(sums))
        return {name: (value, most[name]) for name, value in self.figures.items()}

    @cached_property
    def exact_documents(self) -> int | None:
        """How many documents are right in everything; None if the tally cannot tell."""
        return self.totals.exact if tells_exact(self.kind) else None

    @property
    def exact(self) -> float | None:
        """The share of documents that are right in everything."""
        return None if self.exact_documents is None or not self.count else self.exact_documents / self.count

    @property
    def score(self) -> float | None:
        """The figure that the metric is named after."""
        return self.figures[self.kind.headline]

    @property
    def documents(self) -> dict[Any, Figures]:
        """The figures of each document, by id."""
        figures = self.kind.figures(self.rows)
        columns = {
            name: [
                self.undefined if nan else value for value, nan in zip(v.tolist(), np.isnan(v).tolist(), strict=True)
            ]
            for name, v in figures.items()
        }
        return {key: {name: column[k] for name, column in columns.items()} for k, key in enumerate(self.ids)}

    @property
    def signature(self) -> str:
        """One line that says what was computed."""
        return f"{self.named_metric} | {self.conditions}"

    @property
    def named_metric(self) -> str:
        """The metric, behind its name if it has one."""
        return f"{self.name} = {self.metric}" if self.name else str(self.metric)

    @cached_property
    def conditions(self) -> str:
        """The signature without the metric: how its figures were computed."""
        policy = "none" if self.undefined is None else f"{self.undefined:g}"
        settings = "".join(f" | {one}" for one in (self.settings, *(f"judge={who}" for who in self.judges)) if one)
        average = getattr(self.kind, "average", "micro")
        return f"average={average} | undefined={policy}{settings} | tallystick {__version__}"

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        out = list(self.notes)
        if isinstance(self.kind, Noted):
            out += self.kind.notes(self.sums)
        if not self.optimal:
            name = self.kind.headline
            low, high = (f"{value:.4f}" if value is not None else "–" for value in self.bounds[name])
            out.append(
                f"{self.unproven:,} of {self.count:,} documents are not proven optimal within the time limit: "
                f"{name} lies between {low} and {high}{self._unproven_documents()}"
            )
        for name, value in self.figures.items():
            if value is not None and value > 1 + 1e-9 and not lower_is_better(self.kind, name):
                out.append(f"{name} is {value:.4f}, above 1: the matching lets one item be counted several times")
        main = ("precision", "recall", self.kind.headline)
        empty = [name for name, value in self.kind.figures(self.sums).items() if np.isnan(value) and name in main]
        if empty:
            shown = "undefined" if self.undefined is None else f"set to {self.undefined:g}"
            out.append(f"{', '.join(empty)}: 0/0, {shown}")
        return tuple(out)

    def intervals(
        self, *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95, method: str = "percentile",
        groups: GroupSpec | None = None,
    ) -> dict[str, Interval]:  # fmt: skip
        """A confidence interval of each figure, by the bootstrap over documents, or over groups of them."""
        found = self._alone().intervals(resamples=resamples, seed=seed, level=level, method=method, groups=groups)
        return next(iter(found.values()))

    # How sure

    def calibration(self, bins: int = 10) -> Calibration:
        """How well the confidences of the predictions fit what is right: ECE, Brier, AUROC, average precision and the reliability curve,
        by field and in all."""
        from tallystick.results.confidence import calibrate

        return calibrate(self._claimed(), bins)

    def review(self, target: float = 0.95, *, resamples: int = RESAMPLES, seed: int = 0) -> Review:
        """From which confidence on documents, and values, reach a target accuracy: the threshold, the share that is accepted, and
        its accuracy with an interval."""
        from tallystick.results.confidence import review

        return review(self._claimed(), target, resamples=resamples, seed=seed)

    def _claimed(self) -> Claims:
        if self.claims is None:
            raise MetricError('no confidences were read; say where they are, such as confidence="confidence"')
        return self.claims

    # Why

    def explain(self, document: Any = None) -> Explanation:
        """The alignment of one document as a tree; the sum over it is the score."""
        from tallystick.results.explanation import explain_document

        if document is None:
            if len(self.ids) != 1:
                raise MetricError(f"say which document to explain: one of {some(self.ids)}")
            document = self.ids[0]
        if self.tree is not None:
            return self.tree(document)
        metric = self.expression
        left, right = self._document(document)
        return explain_document(metric, left, right, self.memory)

    def explain_in_order(self) -> InOrder:
        """The same for many documents, some of them together."""
        from tallystick.results.explanation import Explained, InOrder, explain_together

        def explain(documents: Sequence[Any]) -> Explained:
            if self.tree is not None:
                return Explained(None, {}, dict(enumerate(map(self.tree, documents))))
            metric = self.expression
            references, predictions = zip(*map(self._document, documents), strict=True)
            return explain_together(metric, references, predictions, self.memory)

        return InOrder(explain)

    def _document(self, document: Any) -> tuple[Any, Any]:
        from tallystick.engine.data import as_objects, sliced

        self._kept()
        try:
            place = self.ids.index(document)
        except ValueError:
            raise unknown_document(document, self.ids) from None
        for reference, predicted in self._kept():
            if place < len(reference):
                left, right = (as_objects(sliced(side, place, place + 1))[0] for side in (reference, predicted))
                return left, right
            place -= len(reference)
        raise unknown_document(document, self.ids)

    @property
    def is_expression(self) -> bool:
        """Whether the metric is an expression of the algebra, and not a procedure that only has a name."""
        return not isinstance(self.metric, str)

    @property
    def expression(self) -> Node:
        """The metric as an expression of the algebra, which is what can be explained and broken down."""
        if isinstance(self.metric, str):
            raise MetricError(f"{self.metric} is not an expression of the algebra and cannot be broken down")
        return self.metric

    def _kept(self) -> Sequence[tuple[Any, Any]]:
        _ = self.expression  # that there is none says more than that nothing was kept
        if self.sources is None:
            raise MetricError("this result kept no documents (keep=False, or merged from elsewhere)")
        return self.sources

    @property
    def documents_kept(self) -> Sequence[tuple[Any, Any]]:
        """The documents themselves, reference and prediction, as columns."""
        return self._kept()

    def by(self, what: str, label: str | None = None, rows: int | None = None, *, intervals: bool = False) -> Tables:
        """Figures by "field", "document" or "label" (with its path, such as "[*].type") as a table; see `Results.by`."""
        return self._alone().by(what, label, rows, intervals=intervals)

    def by_field(self) -> list[FieldFigures]:
        """What every path of the value earned and lost, in the order of the metric, as data; `by("field")` is the table."""
        return list(self._figures_by_field)

    @cached_property
    def _figures_by_field(self) -> list[FieldFigures]:
        from tallystick.results.breakdown import field_figures, figures_by_field

        sums = self.field_sums
        if sums is not None:
            return field_figures(sums, self._decided)
        return figures_by_field(self.expression, self._kept(), self._decided, self.memory)

    def grouped_errors(self, examples: int | None = 3) -> Errors:
        """What is wrong, by field and kind, with counts, examples and remedies; `examples` of each, None: all."""
        from tallystick.results.errors import group_errors

        return group_errors(self.expression, self._kept(), self.ids, examples)

    def by_label(self, path: str | None = None) -> list[LabelFigures]:
        """The figures of each value of an exact field as data, such as `by_label("[*].type")` or `by_label("type")`; `by("label", "[*].type")`
        is the table.

        A kind that has labels of its own needs no path.
        """
        from tallystick.results.breakdown import figures_by_label, label_figures

        if isinstance(self.kind, Labelled) and path is None:
            return self._own_labels(self.kind)
        if path is None:
            raise MetricError('say which field holds the label, such as by_label("type")')

        sums = self.label_sums
        if sums is not None and sums.path == path:
            return label_figures(self.kind, sums, self._decided)
        if sums is not None and self.sources is None:
            raise MetricError(f"the figures by {sums.path!r} were kept, and no documents: there are none by {path!r}")
        return figures_by_label(self.expression, path, self._kept(), self._decided, self.memory)

    def _own_labels(self, kind: Labelled) -> list[LabelFigures]:
        figures, tallies = kind.label_figures(self.sums), kind.label_tallies(self.sums)
        support = kind.support(self.sums).tolist()
        lacking: Mapping[str, tuple[str, ...]] = getattr(kind, "lacking", {})
        return [
            LabelFigures(
                label,
                {
                    **self._decided({name: values[place] for name, values in figures.items()}),
                    **dict.fromkeys(lacking.get(label, ())),
                },
                tallies[label],
                support[place],
            )
            for place, label in enumerate(kind.labels)
        ]

    # Showing

    def as_dict(self) -> dict[str, Any]:
        """This metric's entry of the JSON output."""
        if isinstance(self.kind, Labelled):
            averages: dict[str, Any] = {name: dict(found) for name, found in self.averages.items()}
            averages["macro"]["left_out"] = list(self.kind.left_out(self.sums))
            labels = {r.label: {**r.figures, "tally": r.tally, "support": r.support} for r in self.by_label()}
            return {**self.figures, "tally": self.kind.pooled_tally(self.sums), **averages, "labels": labels}
        macro = {**self.macro, "left_out": self.left_out}
        entry = {**self.figures, "tally": self.tally, "micro": self.micro, "macro": macro}
        bounded = self.above is not None or (not self.kept and self.totals.above is not None)
        if bounded or getattr(self.metric, "limited", False):
            entry["optimal"] = self.optimal
        if not self.optimal:
            lower, upper = ({name: ends[k] for name, ends in self.bounds.items()} for k in (0, 1))
            entry |= {"unproven": self.unproven, "lower": lower, "upper": upper}
        return entry

    def _alone(self) -> Results:
        from tallystick.results.results import Results

        return Results({self.called: self})

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result as JSON: version, signature, figures, tally, warnings."""
        return self._alone().to_json(indent=indent)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each document."""
        try:
            import pandas
        except ImportError:
            raise TallystickError("to_frame() needs pandas: pip install pandas") from None
        frame = pandas.DataFrame(self.rows, columns=list(self.kind.sums), index=pandas.Index(self.ids, name="document"))
        for name, values in self.kind.figures(self.rows).items():
            frame[name] = values
        return frame

    def to_arrow(self) -> Any:
        """A pyarrow table with a row of sums and figures for each document; the signature is in its metadata."""
        return self._alone().to_arrow()

    def to_parquet(self, path: Any) -> None:
        """The same as a file: .parquet, .arrow or .feather; .csv or .tsv too."""
        self._alone().to_parquet(path)

    def to_format(self, format: str, **how: Unpack[How]) -> str:
        """The figures in one of the formats of the command line; see `Results.to_format`."""
        return self._alone().to_format(format, **how)

    def plot(self, kind: str = "figures") -> Picture:
        """A picture: `figures` with their intervals, or `documents` from the worst to the best."""
        from tallystick.results.report import result_picture

        return result_picture(self, kind)

    def write_report(self, path: str, title: str = "Evaluation", documents: int = 200) -> None:
        """A page to look at: one file that works offline, with the alignments of the worst documents."""
        self._alone().report(path, title, documents)

    @property
    def is_two_sided(self) -> bool:
        """A metric of two expressions has no breakdown by field."""
        return not isinstance(self.metric, str) and self.metric.by_side is not None

    def __str__(self) -> str:
        return str(self._alone())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._alone()._repr_html_()

    def __add__(self, other: Result) -> Result:
        """The result of the documents of both, as if they had been scored together."""
        from tallystick.results.accounts import Sum, Wants

        if not isinstance(other, Result):
            return NotImplemented
        empty = Sum(Wants(rows=self.kept and other.kept))
        total = empty.of(self) + empty.of(other)
        claims = None if self.claims is None or other.claims is None else self.claims + other.claims
        return total.result() if claims is None else total.result().changed(claims=claims)

    def __getstate__(self) -> dict[str, Any]:
        """Rows that were to be counted later are counted now: what counts them cannot be sent anywhere."""
        if isinstance(self.__dict__["_rows"], Later):
            _ = self.rows
        return self.__dict__


def shared_signatures(results: Mapping[str, Result]) -> list[str]:
    """The signatures of several metrics in few lines: those that differ only in the metric share one."""
    if len(results) == 1:
        return [result.signature for result in results.values()]
    shared: dict[str, list[str]] = {}
    for result in results.values():
        shared.setdefault(result.conditions, []).append(result.name or str(result.metric))
    return [f"{', '.join(names)} | {conditions}" for conditions, names in shared.items()]


# The unit of resampling: what is drawn for an interval, and what changes places in a test.
#
# It has to be what is independent of each other. A row of a result is a document, or a sentence where the files know no documents, and is
# what is drawn. Documents that belong together (of one patient, author, or day) are drawn together, as groups: their rows are added, and
# each group is drawn as a whole (the cluster bootstrap). The figures stay the same; the intervals get as wide as the groups make them.
#
#     results.grouped("patient").intervals()            by a field of the reference, a column of a file, a mapping, or a list
#     results.intervals(groups={"d1": "p1", "d2": "p1", "d3": "p2"})


def in_units(result: Result) -> Result:
    """The same figures with a row for each unit that is drawn."""
    groups = result.groups
    if groups is None:
        return result
    codes: dict[str, int] = {}
    places = np.array([codes.setdefault(groups.of[key], len(codes)) for key in result.ids], np.int64)

    def summed(rows: Any) -> Any:
        out = np.zeros((len(codes), rows.shape[1]))
        np.add.at(out, places, rows)
        return out

    return result.changed(
        rows=summed(result.rows), above=None if result.above is None else summed(result.above), ids=tuple(codes),
        unit="group", groups=None, invalid=(), sources=None, field_sums=None, label_sums=None, tree=None, claims=None,
    )  # fmt: skip


def unit_line(results: Sequence[Result]) -> str:
    """What is drawn and how many of them there are, for a signature. Results of different data sets are drawn from each."""
    first = results[0]
    called = f" ({first.groups.called})" if first.groups is not None else ""
    units = [in_units(one) for one in results]
    sizes = "+".join(str(len(one.ids)) for one in units)
    return f"unit={units[0].unit}{called}, units={sizes}"


def interval_line(results: Sequence[Result], *, resamples: int = RESAMPLES) -> str:
    """How intervals were made, for a signature."""
    return f"resamples={resamples}, seed=0, level=0.95, interval=percentile, {unit_line(results[:1])}"
