"""What the metrics of all tasks share: their declaration, scoring an expression under its name, figures by label and field, and the tree
of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from tallystick.algebra.node import Node
from tallystick.engine.tally import Labelled
from tallystick.errors import MetricError, did_you_mean
from tallystick.tasks.contract import Explained, Scored, Shown

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.contract import Task, Wish

    Results = Mapping[str, Result]


V = TypeVar("V")

Entry: TypeAlias = tuple[Node, str] | tuple[Node, str, str]
"""The expression of a metric, its summary, and perhaps its view."""


@dataclass(frozen=True)
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


def choose(known: Mapping[str, V], names: Sequence[str], task: str) -> dict[str, V]:
    """The metrics of these names, or all."""
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
    from tallystick.results.evaluation import evaluate

    sides = (dict(zip(pairs.ids, side, strict=True)) for side in (pairs.reference, pairs.predicted))
    result = evaluate(expression, *sides, undefined=undefined)
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


def break_down(task: Task, results: Results, by: str, label: str | None) -> Shown:
    """Figures by label or by field: of every metric whose tally has labels of its own, else of the first that has these."""
    from tallystick.results import tables as reports

    if by == "field":
        name, result = _expressions(results)[0]
        return Shown(
            [replace(reports.fields_table(result), title=name)], {"fields": [vars(row) for row in result.by_field()]}
        )
    own = {name: result for name, result in results.items() if isinstance(result.kind, Labelled)}
    if own:
        return Shown([reports.labels_table(result, title=name) for name, result in own.items()])
    name, result, path = find_labels(task.labels, results, label or task.label)
    return Shown(
        [replace(reports.labels_table(result, path), title=name)],
        {"labels": [vars(row) for row in result.by_label(path)]},
    )


def find_labels(labels: Mapping[str, str], results: Results, label: str | None) -> tuple[str, Result, str]:
    """The first metric whose collection has the label (or any), and where in the value the label is."""
    from tallystick.results.breakdown import has_labels_at

    for name, result in _expressions(results):
        known = {key: path for key, path in labels.items() if has_labels_at(result.expression, path)}
        if known and label is None:
            return name, result, next(iter(known.values()))
        if label in known:
            return name, result, known[label]
    hint = did_you_mean(label or "", labels)
    raise MetricError(f"--label {label}: none of {', '.join(results)} has it; labels are {', '.join(labels)}.{hint}")


def _expressions(results: Results) -> list[tuple[str, Result]]:
    """The metrics that can be broken down: those that are expressions of the algebra."""
    found = [(name, result) for name, result in results.items() if result.is_expression]
    if not found:
        raise MetricError(f"{', '.join(results)}: not an expression of the algebra, so it cannot be broken down")
    return found


def default_parts(task: Task, results: Results) -> Parts:
    """The figures by every kind of label, and the alignment under the main metric."""
    from tallystick.results.report import Parts

    able = {name: result for name, result in results.items() if result.is_expression}
    main = task.main_metric(dict(results))
    name = main if main in able else next(iter(able), "")
    return Parts(
        _all_labels(task, results),
        explain=able[name].explain if name else None,
        main=main,
        alignment=f"Alignment under {name}" if name else "Alignment",
    )


def _all_labels(task: Task, results: Results) -> list[Table]:
    from tallystick.results import tables as reports

    tables = []
    for label in task.labels:
        try:
            name, result, path = find_labels(task.labels, results, label)
            table = reports.labels_table(result, path)
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
    return Explained(documents, result.count, name)


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
        hint = did_you_mean(wanted, known)
        raise MetricError(f"no {task.unit} {wanted!r}; there are {result.count:,}.{hint}")
    return known[wanted]
