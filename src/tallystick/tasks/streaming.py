"""An evaluation in parts, of a metric or of a whole task: batch by batch in a training loop, rank by rank on several machines.

    run = ts.Evaluation(task="coreference")
    for batch in batches:
        run.update(batch.reference, batch.predicted)        what ts.coreference takes
    run.merge(other)                                        what another process has counted
    print(run.compute())                                    what ts.coreference would have said about all documents

Tallies add without rounding, so that the sum of the parts is the whole to the last bit, in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from tallystick.engine.arrays import F64
from tallystick.errors import MetricError
from tallystick.results import evaluation
from tallystick.results.accounts import Sum, Wants, agreed_sums
from tallystick.results.result import Result
from tallystick.results.results import Background, Results
from tallystick.tasks.contract import find_task, task_names

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tallystick.algebra.node import Node

R = TypeVar("R", Result, Results)


class Evaluation(Generic[R]):
    """An evaluation in parts: `update` as often as you like, `merge` what was done elsewhere, then `compute`. It can be pickled.

    Of a metric, `ts.Evaluation(metric)`, whose result is a `Result`; or of a task, `ts.Evaluation(task="coreference", metrics=..., **options)`
    with the metrics and options of its function, whose result is `Results`.

    `keep` keeps the documents, for explanations and breakdowns; `rows` the tally of each document, for figures by
    document and intervals. With neither, memory does not grow with the number of documents. `fields` and `labels` (a
    path; of a task the name of a label) add up on the way what a breakdown needs. `undefined` is what a figure is where it is 0/0. An
    update or a merge that fails leaves nothing behind.

    >>> evaluation = ts.Evaluation(ts.f1(ts.match(ts.exact)))
    >>> evaluation.update([["a", "b"]], [["a"]])
    array([[1., 1., 1., 2.]])
    >>> evaluation.update([["c"]], [["c"]])
    array([[1., 1., 1., 1.]])
    >>> evaluation.compute().f1
    0.8
    """

    @overload
    def __init__(
        self: Evaluation[Result], metric: Node | str, *, undefined: float | None = None, keep: bool = True,
        rows: bool = True, fields: bool = False, labels: str | None = None, time_limit: float | None = None,
    ) -> None: ...  # fmt: skip

    @overload
    def __init__(
        self: Evaluation[Results], metric: None = None, *, task: str, keep: bool = True, rows: bool = True,
        fields: bool = False, labels: str | None = None, **options: Any,
    ) -> None: ...  # fmt: skip

    def __init__(
        self, metric: Any = None, *, task: str | None = None, keep: bool = True, rows: bool = True, fields: bool = False,
        labels: str | None = None, **options: Any,
    ) -> None:  # fmt: skip
        kept: dict[str, Any] = {"keep": keep, "rows": rows, "fields": fields, "labels": labels}
        self._of: Any
        if task is not None:
            if metric is not None:
                raise MetricError("give a metric, or a task and the names of its metrics (metrics=), not both")
            self._of = TaskParts(task, options, **kept)
        elif set(options) - {"undefined", "time_limit"}:
            known = ", ".join(("task", "undefined", "time_limit", *kept))
            raise MetricError(f"Evaluation of a metric has no option {sorted(options)[0]!r}; there are {known}")
        elif isinstance(metric, str) and metric in task_names():
            raise MetricError(f'{metric} is a task, and no metric: Evaluation(task="{metric}")')
        else:
            self._of = evaluation.Evaluation(metric, **kept, **options)

    @overload
    def update(
        self: Evaluation[Result], reference: Any, predicted: Any, *, ids: Sequence[Any] | None = None,
        batch: int | None = None, progress: Callable[[int, int], None] | None = None, executor: Executor | None = None,
    ) -> F64: ...  # fmt: skip

    @overload
    def update(self: Evaluation[Results], reference: Any, predicted: Any) -> Results: ...

    def update(self, reference: Any, predicted: Any, **how: Any) -> Any:
        """Score more documents. Returned are, of a metric, their rows; of a task, their results."""
        return self._of.update(reference, predicted, **how)

    def merge(self, other: Evaluation[R]) -> None:
        """Add what another evaluation of the same metric or task has counted."""
        if not isinstance(other, Evaluation) or type(self._of) is not type(other._of):
            raise MetricError(f"expected another evaluation of the same metric or task, found {other!r:.60}")
        self._of.merge(other._of)

    def compute(self) -> R:
        """The result so far."""
        found: R = self._of.compute()
        return found

    def __repr__(self) -> str:
        return f"Evaluation({self._of!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._of, name)


class TaskParts:
    """The sums of a task's metrics, and the backgrounds of the documents that are kept."""

    def __init__(
        self, task: str, options: dict[str, Any], *, keep: bool, rows: bool, fields: bool, labels: str | None
    ) -> None:
        from tallystick.tasks.function import Call, in_python

        self.task, self.keep = task, keep and rows
        self._call = Call.of(find_task(task), options.pop("metrics", ()), options)
        reason = self._call.task.whole(self._call.settings)
        if reason:
            with in_python(self._call.task):
                raise MetricError(f"{reason}, so that all documents have to be given to ts.{task} in one call")
        paths = self._call.task.label_paths(labels) if labels is not None else ()
        self._wants = Wants(rows=rows, fields=fields, labels=paths)
        self._sums: dict[str, Sum] = {}
        self._background: Background | None = None

    def __repr__(self) -> str:
        return f"task={self.task!r}" + (f", metrics={self._call.metrics}" if self._call.metrics else "")

    def update(self, reference: Any, predicted: Any) -> Results:
        """Score more documents, and return their results."""
        from tallystick.tasks.function import in_python

        found = self._call(reference, predicted, part=True)
        with in_python(self._call.task):
            self._add({name: self._empty().of(result) for name, result in found.items()}, found.background)
        return found

    def merge(self, other: TaskParts) -> None:
        """Add what was counted elsewhere."""
        if (self.task, self._call.metrics, self._call.settings) != (
            other.task, other._call.metrics, other._call.settings,
        ):  # fmt: skip
            raise MetricError("evaluations of different tasks, metrics or options cannot be merged")
        if self._wants != other._wants:
            raise MetricError("one evaluation keeps what the other does not (rows, fields, labels)")
        if other._background is not None:
            self._add(other._sums, other._background)

    def compute(self) -> Results:
        """The results so far."""
        if self._background is None:
            raise MetricError(f"there is nothing to compute: no documents yet (ts.Evaluation(task={self.task!r}))")
        return Results({name: total.result() for name, total in self._sums.items()}, self._background)

    def _empty(self) -> Sum:
        return Sum(self._wants, self.keep)

    def _add(self, parts: dict[str, Sum], background: Background) -> None:
        if not self.keep:
            background = background.without_documents()
        if self._background is not None:
            background = self._background.joined(background)
            self._sums, parts = agreed_sums(self._sums, parts)
            if parts.keys() != self._sums.keys():
                apart = ", ".join(sorted(parts.keys() ^ self._sums.keys()))
                raise MetricError(
                    f"the figures depend on the content of all documents: {apart} can be had of some batches only (one without any items tells "
                    "neither types nor heads). Give all documents in one call, or name the metrics with metrics="
                )
            for name, part in parts.items():
                self._sums[name].check(part)
        for name, part in parts.items():
            self._sums.setdefault(name, self._empty()).add(part)
        self._background = background
