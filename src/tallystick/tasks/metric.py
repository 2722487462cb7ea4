"""What the metrics of all tasks share: their declaration, scoring an expression under its name, figures by label and field, and the tree
of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from tallystick.algebra.node import Node
from tallystick.errors import MetricError, did_you_mean, unknown_document
from tallystick.frozen import frozen
from tallystick.results.results import Background, Results, broken_down, find_labels
from tallystick.tasks.contract import Asked, Explained, Scored, Shown, Task

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Analysis, Found
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.contract import Wish


V = TypeVar("V")

ANALYSED = 20_000
"""A report has the errors of corpora of so many documents, since each kind is mended and scored again; of larger ones it has them
if they were asked for."""
REPORTED = 50
"""So many errors a report lists, unless more are asked for."""

Entry: TypeAlias = tuple[Node, str] | tuple[Node, str, str]
"""The expression of a metric, its summary, and perhaps its view."""


@frozen
class NamedMetric:
    """A metric of a task, declared once: what its name stands for, and its expression or else what tallies it."""

    name: str
    summary: str
    expression: Node | None = None
    tally: Callable[..., Any] | None = None
    """What counts it: always where there is no expression, and beside one where that is measurably faster."""
    view: str = ""
    """Which view of the task's documents it looks at, where there are several: relations as they stand, mentions by themselves."""

    @property
    def node(self) -> Node:
        """The expression of a metric that has one."""
        if self.expression is None:
            raise MetricError(f"{self.name} is not an expression of the algebra")
        return self.expression


def declare(metrics: Mapping[str, Entry]) -> dict[str, NamedMetric]:
    """Metrics that are expressions, by name."""
    return {
        name: NamedMetric(name, summary, expression, view=view[0] if view else "")
        for name, (expression, summary, *view) in metrics.items()
    }


def choose(known: Mapping[str, V], names: str | Sequence[str], task: str) -> dict[str, V]:
    """The metrics of these names, or of this one, or all."""
    names = (names,) if isinstance(names, str) else names
    for name in names:
        if name not in known:
            raise MetricError(
                f"{task} has no metric {name!r} here; there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return {name: known[name] for name in names} if names else dict(known)


def score_expression(
    name: str, expression: Node, pairs: Paired[Any], *, undefined: float | None = 0.0, settings: str = ""
) -> Result:
    """One expression over the documents of a corpus, under a name such as `events.tri_c`."""
    from tallystick.results.evaluation import Evaluation

    run = Evaluation(expression, undefined=undefined)
    run.update(list(pairs.reference), list(pairs.predicted), ids=pairs.ids)
    result = run.compute()
    return result.changed(name=name, notes=(*result.notes, *pairs.warnings), settings=settings)


def best_pairs(weights: Mapping[tuple[int, int], float], rows: int, columns: int) -> list[tuple[int, int]]:
    """The pairs of a one-to-one matching with the largest total of weights above 0."""
    from tallystick.engine.arrays import assign

    edges = [(i, j, weight) for (i, j), weight in weights.items() if weight > 0]
    if not edges:
        return []
    left, right = (np.array([edge[side] for edge in edges], np.int64) for side in (0, 1))
    chosen = assign(left, right, np.array([edge[2] for edge in edges], np.float64), rows, columns)
    return [edges[k][:2] for k in np.flatnonzero(chosen).tolist()]


def settings_line(**settings: Any) -> str:
    """The choices that change figures, for a signature."""
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value not in ("", None))


# What every task whose metrics are expressions has without doing anything: figures by label and field, the parts of its report,
# and the alignment of a document as a tree.


def break_down(task: Task, results: Mapping[str, Result], by: str, label: str | None) -> Shown:
    """Figures by label or by field: of every metric whose tally has labels of its own, else of the first that has these."""
    return Shown(*broken_down(results, by, label, task.labels, task.label))


def default_parts(task: Task, results: Mapping[str, Result]) -> Parts:
    """The figures by every kind of label, and the alignment under the main metric."""
    from tallystick.results.report import Parts

    able = {name: result for name, result in results.items() if result.is_expression}
    main = task.main_metric(dict(results))
    name = main if main in able else next(iter(able), "")
    return Parts(
        _all_labels(task, results),
        explain=able[name].explain_in_order() if name else None,
        main=main,
        alignment=f"Alignment under {name}" if name else "Alignment",
    )


def _all_labels(task: Task, results: Mapping[str, Result]) -> list[Table]:
    from tallystick.results import tables as reports

    tables = []
    for label in task.labels:
        try:
            name, path = next(iter(find_labels(task.labels, results, label).items()))
            table = reports.labels_table(results[name], path, called=label)
        except MetricError:
            continue  # none of these metrics has it
        if table.rows:
            tables.append(replace(table, title=f"By {label}, under {name}"))
    return tables


def explain_documents(task: Task, scored: Scored, settings: Any, wish: Wish) -> Explained:
    """One document by its name, or the worst ones."""
    from tallystick.results.tables import worst_documents

    name = task.explained_metric(scored.results)
    result = scored.results[name]
    if wish.document is not None:
        chosen = [_document(task, result, wish.document)]
    elif wish.field is not None:
        chosen = _worst_at(result, wish.field, wish.worst or 3)
    else:
        chosen = worst_documents([result], wish.worst or 1)
    documents = [(key, result.documents.get(key, {}), task.tree(scored, settings, name, key)) for key in chosen]
    return Explained(documents, result.count, name, warnings=said_of_missing(scored.unanswered))


def _worst_at(result: Result, path: str, most: int) -> list[Any]:
    """The documents that lose most at one field."""
    from tallystick.results.breakdown import losses_by_document

    found = (losses_by_document(result.expression, path, *sides) for sides in result.documents_kept)
    losses = [loss for some in found for loss in some.tolist()]
    order = sorted(range(len(losses)), key=lambda k: -losses[k])
    return [result.ids[k] for k in order[:most] if losses[k] > 1e-9]


def _document(task: Task, result: Result, wanted: str) -> Any:
    known = {str(key): key for key in result.ids}
    if wanted not in known:
        raise unknown_document(wanted, known, task.unit)
    return known[wanted]


# What a task says about its results, in Python and in its commands.


@dataclass(frozen=True, kw_only=True)
class OfTask(Background):
    """The background of a task's results. `scored` has the corpora that they are of: one, several where results were added, none
    where only sums are left of the documents."""

    of: Task
    scored: tuple[Scored, ...] = ()
    settings: Any = None
    shown: Shown = field(default_factory=Shown)
    absent: str = ""
    """Why a report has no alignments, where it cannot have them."""
    rows: int = REPORTED
    """So many errors a report lists."""
    basis: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What the figures depend on beside each document: results with another cannot be added."""
    unmet: frozenset[str] = frozenset()
    """What the options name and none of the documents has: of parts, others may have it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        named = ", ".join(sorted(self.unmet))
        return (f"no document so far has {named}, which the options name",) if named else ()

    def beside(self, results: Results) -> tuple[dict[str, Any], Callable[[Table], Table] | None]:
        json, extend = self.of.beside(dict(results))
        return {**self.shown.json, **json}, extend

    def words(self, results: Results) -> Sequence[Any] | None:
        if len(self.scored) != 1:
            return None
        found, first = self.of.words(self.scored[0]), next(iter(results.values()))
        own = next(iter(self.scored[0].results.values())).ids
        if found is None or own == first.ids:
            return found
        place = {key: k for k, key in enumerate(own)}
        return [found[place[key]] for key in first.ids]

    @property
    def breakdowns(self) -> tuple[str, ...]:
        return (*self.of.breakdowns, *self.of.all_attributes, "document")

    @property
    def also_by(self) -> Mapping[str, tuple[str, str | None]]:
        return self.of.also_by

    def portions(self, results: Results, by: str, label: str | None, train: Any = None) -> Mapping[str, Portions]:
        from tallystick.results.parts import portions_of

        if by in self.of.all_attributes:
            return self._of_results(self._portions_by(results, by, train), results)
        if type(self.of).portions is Task.portions:  # the results are all that it looks at
            return portions_of(results, by, label, self.labels, self.label)
        scored = self._only(results, f"figures by {by}")
        return self._of_results(self.of.portions(scored, by, label), results)

    def _portions_by(self, results: Results, by: str, train: Any) -> dict[str, Portions]:
        return self.of.portions_by(self._only(results, f"figures by {by}"), self.settings, by, self._training(train))

    def _training(self, train: Any) -> Any:
        """The training data: as given, or that of the task's own option."""
        return getattr(self.settings, "train", None) or None if train is None else train

    def _of_results(self, found: Mapping[str, Portions], results: Results) -> dict[str, Portions]:
        return {
            name: _of_documents(one, self.scored[0].results[name].ids, results[name].ids) for name, one in found.items()
        }

    def breakdown(
        self, results: Results, by: str, label: str | None, train: Any = None
    ) -> tuple[Sequence[Table], Mapping[str, Any]]:
        if by in self.of.all_attributes:
            from tallystick.tasks.breakdowns import show_portions

            shown = show_portions(self._portions_by(results, by, train), results, by)
            return shown.tables, shown.json
        if len(self.scored) != 1 and type(self.of).breakdown is Task.breakdown:  # the results are all that it looks at
            return broken_down(results, by, label, self.labels, self.label)
        found = self.of.breakdown(self._only(results, f"figures by {by}"), by, label)
        return found.tables, found.json

    @cached_property
    def _found(self) -> dict[tuple[Any, ...], Found]:
        """Errors that were looked for before."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_found"}  # mends are functions

    def analysis(self, results: Results, rows: int | None) -> Analysis:
        """The errors of a task that has kinds of them."""
        from tallystick.results.mistakes import Analysis
        from tallystick.tasks.mending import find_errors

        if reason := self.of.without_errors(self.settings):
            raise MetricError(f"{self.task} has no list of errors here: {reason}")
        scored = self._only(results, "errors")
        key = tuple((name, result.undefined) for name, result in results.items())
        if key not in self._found:
            self._found[key] = find_errors(self.of, scored, self.settings)
        return Analysis(self._found[key], rows)

    def errors(self, results: Results, rows: int | None) -> Sequence[Table]:
        if self.of.kinds:
            return self.analysis(results, rows)
        scored = self._only(results, "errors")
        if hasattr(self.settings, "errors"):  # a task that groups its errors in its own way
            return self.of.show(scored, replace(self.settings, errors=True), Asked(rows=rows)).tables
        parts = self.of.parts(scored, self.settings, Shown())
        found = [table for table in parts.errors if table.rows]
        if not (found or self.of.can_explain or parts.explain):
            raise MetricError(f'{self.task} has no list of errors; by("document") finds the worst {self.unit}s')
        return found or super().errors(results, rows)

    def errors_as_dict(self, results: Results, rows: int | None) -> dict[str, Any]:
        if self.of.kinds:
            return self.analysis(results, rows).as_dict()
        return super().errors_as_dict(results, rows)

    def explained(self, results: Results) -> str:
        return self.of.explained or self.of.explained_metric(dict(results))

    def explain(self, results: Results, document: Any, metric: str | None) -> Explanation:
        name = metric or self.explained(results)
        if name not in results:  # the metric that the task explains by is not among those that were asked for
            more = [self.of.evaluate(scored.corpus, (name,), self.settings)[name] for scored in self.scored]
            results = type(results)({name: reduce(add, more)}, self)
        return super().explain(results, document, metric)

    def tree(self, results: Results, metric: str, document: Any) -> Explanation:
        place, scored = results[metric].ids.index(document), None
        for scored in self.scored:
            ids = next(iter(scored.results.values())).ids
            if place < len(ids):
                break
            place -= len(ids)
        if scored is None:
            raise MetricError("only sums are left of these documents; keep them to have one explained")
        own = scored.results.get(metric) or self.of.evaluate(scored.corpus, (metric,), self.settings)[metric]
        if not self.of.can_explain:
            explain = self.of.parts(scored, self.settings, Shown()).explain
            if explain is None:
                raise MetricError(f'{self.task}: documents have no tree to show; by("document") finds the worst')
            return explain(own.ids[place])
        found = replace(scored, results={**scored.results, metric: own})
        return self.of.tree(found, self.settings, metric, own.ids[place])

    def parts(self, results: Results) -> Parts:
        from tallystick.results.report import Parts

        further = f"tallystick explain {self.task}" if self.of.can_explain else ""
        if len(self.scored) == 1 and not self.absent:
            parts = self.of.parts(self._only(results, "a report"), self.settings, self.shown)
            if (
                self.of.kinds
                and not self.of.without_errors(self.settings)
                and (results.count <= ANALYSED or self._found)
            ):
                parts = replace(parts, errors=[*self.analysis(results, self.rows), *parts.errors])
        else:
            parts = Parts(main=self.of.main_metric(dict(results)), absent=self.absent or MERGED)
        sure = next((one for one in results.values() if one.claims is not None), None)
        known = None if sure is None else (sure.calibration(), sure.review(self.settings.target_accuracy))
        return replace(parts, further=further, confidence=known)

    def of_one(self, notes: tuple[str, ...]) -> Background:
        return replace(self, notes=notes, shown=Shown())

    def without_documents(self) -> Background:
        return replace(self, scored=(), shown=Shown())

    def whole(self) -> str:
        return self.of.whole(self.settings)

    def joined(self, other: Background) -> Background:
        if not isinstance(other, OfTask) or (self.of.name, self.settings) != (other.of.name, other.settings):
            raise MetricError("results of different tasks or options cannot be added")
        for name, found in self.basis.items():
            if found != other.basis[name]:
                one, two = (", ".join(map(str, basis)) or "none" for basis in (found, other.basis[name]))
                raise MetricError(
                    f"{self.task}: figures depend on the {name} of all documents; here they are {one:.200}, and there {two:.200}. "
                    f"Say what they are with {name}= to add results"
                )
        scored = (*self.scored, *other.scored) if self.scored and other.scored else ()
        unmet = self.unmet & other.unmet
        return replace(
            self, title="Evaluation", reference="", given=None, notes=(), scored=scored, shown=Shown(), unmet=unmet
        )

    def _only(self, results: Results, what: str) -> Scored:
        if len(self.scored) != 1:
            raise MetricError(
                f"{self.task}: {what} need the documents of one call; ask the results before they were added"
            )
        return replace(self.scored[0], results=dict(results))


def _of_documents(portions: Portions, ids: Sequence[Any], chosen: Sequence[Any]) -> Portions:
    """The rows of those documents that were not left out."""
    if ids == chosen:
        return portions
    place = {key: k for k, key in enumerate(ids)}
    kept = [place[key] for key in chosen]
    return replace(portions, rows={name: rows[kept] for name, rows in portions.rows.items()})


MERGED = (
    "These results are the sum of several calls, so this page carries no alignments and no tables of its own. Scored in one call, "
    "the documents have what the task has of them."
)


def said_of_missing(unanswered: Sequence[Any]) -> tuple[str, ...]:
    """What is to be said of documents that were not answered."""
    from tallystick.files.pairing import Missing

    return tuple(Missing("empty", unanswered=dict.fromkeys(unanswered)).notes())


def with_missing(scored: Scored, policy: str) -> Mapping[str, Result]:
    """The results with what was done about documents that were not answered: the signatures name it, and a note says which they are."""
    if policy == "error":
        return scored.results
    said = said_of_missing(scored.unanswered)
    return {
        name: one.changed(
            settings=", ".join(filter(None, (one.settings, f"missing={policy}"))), notes=(*one.notes, *said)
        )
        for name, one in scored.results.items()
    }


def results_of(
    task: Task,
    scored: Scored,
    settings: Any,
    *,
    title: str = "Evaluation",
    reference: Any = "",
    shown: Shown | None = None,
    absent: str = "",
    rows: int | None = None,
) -> Results:
    """What a task has scored, with all that it can say about it."""
    background = OfTask(
        of=task, scored=(scored,), settings=settings, shown=shown or Shown(), absent=absent, title=title, rows=max(REPORTED, rows or 0),
        reference=str(reference) if isinstance(reference, (str, Path)) else "",
        given=reference, named_by=getattr(settings, "reference_id", None) or getattr(settings, "id", None) or "id",
        task=task.name, unit=task.unit, notes=scored.notes, truncated=getattr(settings, "compat", None) == "reference",
        labels=task.labels, label=task.label, basis=task.basis(scored, settings), unmet=task.unmet(scored, settings) if scored.corpus is not None else frozenset(),
    )  # fmt: skip
    found = with_missing(scored, getattr(settings, "missing", "error"))
    if task.unit != "document":  # what a row is called by this task
        found = {name: one.changed(unit=task.unit) if one.unit == "document" else one for name, one in found.items()}
    return Results(found, background)
