"""A task as a Python function, made from its declaration: `ts.spans(reference, predicted, metrics="iou", iou=0.7)`.

Its options are the settings of the task that change figures, checked as the command checks them. Files go the way of the command;
plain data is laid out as the lines of a file first (`tasks/plain.py`).

`Evaluation` is the same in parts, of a metric or of a whole task: batch by batch in a training loop, rank by rank on several machines.

    run = ts.Evaluation(task="coreference")
    for batch in batches:
        run.update(batch.reference, batch.predicted)        what ts.coreference takes
    run.merge(other)                                        what another process has counted
    print(run.compute())                                    what ts.coreference would have said about all documents

Tallies add without rounding, so that the sum of the parts is the whole to the last bit, in whatever order they come.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from tallystick.engine.arrays import F64
from tallystick.errors import InputError, MetricError, SidesMismatch, TallystickError, did_you_mean
from tallystick.frozen import frozen
from tallystick.results import evaluation
from tallystick.results.accounts import Sum, Wants, agreed_sums
from tallystick.results.result import Result
from tallystick.results.results import Background, Results
from tallystick.tasks.contract import Asked, Task, default_of, find_task, flag, option_of, refuse_empty, task_names

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tallystick.algebra.node import Node
    from tallystick.results.results import Results

TOGETHER = "together"


@cache
def function_of(name: str) -> Callable[..., Any]:
    """The function of the task of this name."""
    task = find_task(name)

    def function(reference: Any, predicted: Any = None, metrics: Any = (), **options: Any) -> Any:
        return evaluate_task(task, reference, predicted, metrics, options)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "tallystick"
    function.__doc__ = describe(task)
    function.__signature__ = signature_of(task)  # type: ignore[attr-defined]
    return function


def evaluate_task(task: Task, reference: Any, predicted: Any, metrics: Any, options: Mapping[str, Any]) -> Results:
    """Both sides scored by a task, as its command would."""
    given = tuple((name, type(value), value) for name, value in options.items())
    plain = isinstance(metrics, str) or metrics == ()
    if plain and all(kind in _PLAIN_OPTIONS for _, kind, _ in given):
        return _call_of(task, metrics, given)(reference, predicted)
    return Call.of(task, metrics, options)(reference, predicted)


_PLAIN_OPTIONS = (str, int, float, bool, type(None))


@lru_cache(maxsize=128)
def _call_of(task: Task, metrics: Any, given: tuple[tuple[str, type, Any], ...]) -> Call:
    """Options are checked once, for whoever calls in a loop."""
    return Call.of(task, metrics, {name: value for name, _, value in given})


@frozen
class Call:
    """A task with metrics and options, ready for documents."""

    task: Task
    metrics: tuple[str, ...]
    settings: Any
    together: bool = False

    @classmethod
    def of(cls, task: Task, metrics: Any, options: Mapping[str, Any]) -> Call:
        """What was asked for, checked as the command does."""
        with in_python(task):
            chosen, given = metric_names(task, metrics), dict(options)
            together = given.pop(TOGETHER, False) if task.together else False
            settings = settings_from(task, given)
            task.check(chosen, settings)
        return cls(task, chosen, settings, together)

    def __call__(self, reference: Any, predicted: Any, part: bool = False) -> Results:
        """Documents scored; they are kept with their words, for those who look at errors. Of a `part` others follow."""
        from tallystick.tasks.metric import results_of

        with in_python(self.task):
            left, right, settings = _sides(self.task, reference, predicted, self.together, self.settings)
            asked = Asked(report=True, keep=True, part=part)
            scored, shown = self.task.run(left, right, self.metrics, settings, asked)
        given = [note for side in (left, right) for note in getattr(side, "notes", ())]
        given += [note for note in (_exchanged(reference, predicted),) if note]
        said = {name: (*result.notes, *given) for name, result in scored.results.items()}
        if any(said.values()):
            noted = {name: tuple(renamed(self.task, note) for note in notes) for name, notes in said.items()}
            scored = replace(
                scored, results={name: one.changed(notes=noted[name]) for name, one in scored.results.items()}
            )
        return results_of(self.task, scored, settings, reference=reference, shown=shown)


_OF_REFERENCES = re.compile(
    r"(?:^|[^a-z])(?:gold|golden|ref|refs|references?|key|truth|annotated)(?:[^a-z]|$)", re.IGNORECASE
)
_OF_PREDICTIONS = re.compile(
    r"(?:^|[^a-z])(?:sys|system|pred|preds|predicted|predictions?|response|output|hyp)(?:[^a-z]|$)", re.IGNORECASE
)


def _exchanged(reference: Any, predicted: Any) -> str:
    """What to say of sides whose names (of files, of columns) are those of the other side."""
    names = [
        os.path.basename(str(getattr(side, "name", side))) if _has_name(side) else "" for side in (reference, predicted)
    ]
    if _OF_PREDICTIONS.search(names[0]) and _OF_REFERENCES.search(names[1]):
        return f"the reference is called {names[0]} and the prediction {names[1]}: are they exchanged? The reference comes first"
    return ""


def _has_name(side: Any) -> bool:
    short = isinstance(side, str) and len(side) < 1000 and "\n" not in side
    return short or isinstance(side, os.PathLike) or isinstance(getattr(side, "name", None), str)


def _sides(task: Task, reference: Any, predicted: Any, together: bool, settings: Any) -> tuple[Any, Any, Any]:
    if together != (predicted is None) and task.together:
        raise MetricError(f"give predicted, or {TOGETHER}=True if the reference is a file that holds both columns")
    if not together:
        return task.take(reference, predicted, settings)
    from tallystick.tasks.plain import source_of

    source = source_of(reference, "reference")
    if source is None:
        raise MetricError(
            f"{TOGETHER}=True is for a file that holds both columns; give data as reference and predicted"
        )
    return source, None, settings


def metric_names(task: Task, metrics: Any) -> tuple[str, ...]:
    """One name, or several."""
    if metrics is None:
        return ()
    listed = (metrics,) if isinstance(metrics, str) else tuple(metrics) if isinstance(metrics, Iterable) else (metrics,)
    for name in listed:
        if not isinstance(name, str):
            raise MetricError(
                f"metrics: expected the name of a metric, or several, found {type(name).__name__} {name!r:.60}"
            )
    if listed and not task.named_metrics:
        raise MetricError(f"{task.name} has no named metrics; give an expression as metric=")
    return listed


# Options

ASKED = {
    "by": 'results.by("label")', "errors": "results.errors()", "intervals": "results.intervals()", "report": "results[NAME].write_report(file)",
}  # fmt: skip
"""Options of every command that have a verb of the results in Python."""


def settings_from(task: Task, given: Mapping[str, Any]) -> Any:
    """The task's settings, each checked as the command would."""
    known = {one.name: one for one in task.options("figures")}
    if "metric" in given and "metric" not in known:
        raise MetricError(f"{task.name} has no option 'metric'; expected metrics={given['metric']!r:.60}")
    hints = typing.get_type_hints(task.Settings)
    for name in given:
        if name not in known:
            shown = {one.name for use in ("score", "explain") for one in task.options(use)}
            also = f"; {name} is an option of the command, which says what is shown" if name in {*shown, *ASKED} else ""
            also += f": here ask the results, {ASKED[name]}" if name in ASKED else ""
            listed = ", ".join([*known, *([TOGETHER] if task.together else [])])
            raise MetricError(
                f"{task.name} has no option {name!r}{also}; there are {listed}.{did_you_mean(name, known)}"
            )
    return task.Settings(**{name: _checked(known[name], hints[name], value) for name, value in given.items()})


def choices_of(one: Field[Any], kind: Any) -> tuple[Any, ...]:
    """What an option can be, if that is a list."""
    inside = (kind, *typing.get_args(kind))
    return option_of(one).choices or next((typing.get_args(k) for k in inside if typing.get_origin(k) is Literal), ())


def _checked(one: Field[Any], kind: Any, value: Any) -> Any:
    about, choices, inside = option_of(one), choices_of(one, kind), {kind, *typing.get_args(kind)}
    if kind is Any or (value is None and default_of(one) is None):
        return value
    if typing.get_origin(kind) is tuple:
        listed = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
        return tuple(_text(one, part) for part in listed)
    if choices:
        if value not in choices:
            expected = " or ".join(map(repr, choices))
            raise MetricError(f"{one.name}: expected {expected}, found {value!r:.60}.{did_you_mean(value, choices)}")
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise MetricError(f"{one.name}: expected True or False, found {value!r:.60}")
        return value
    if inside & {int, float}:
        return _number(one, value, float if float in inside else int)
    return _text(one, value) if about.metavar or str in inside else value


def _text(one: Field[Any], value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        what = f" ({option_of(one).metavar})" if option_of(one).metavar else ""
        raise MetricError(f"{one.name}: expected a text{what}, found {type(value).__name__} {value!r:.60}")
    if default_of(one) != "":
        refuse_empty(one.name, value, option_of(one).metavar, option_of(one).help)
    return value


def _number(one: Field[Any], value: Any, kind: type) -> Any:
    about = option_of(one)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole or (kind is float and isinstance(value, float))):
        raise MetricError(
            f"{one.name}: expected a {'number' if kind is float else 'whole number'}, found {value!r:.60}"
        )
    low = about.least if about.above is None else about.above
    below = low is not None and not (value > low or (value == low and about.above is None))  # NaN is, too
    if below or (about.most is not None and value > about.most):
        least = (
            f"above {about.above:g}"
            if about.above is not None
            else f"of at least {about.least:g}"
            if low is not None
            else ""
        )
        most = f"at most {about.most:g}" if about.most is not None else ""
        raise MetricError(f"{one.name}: expected a number {' and '.join(filter(None, (least, most)))}, found {value!r}")
    return value


@contextmanager
def in_python(task: Task) -> Iterator[None]:
    """Errors name options as Python has them: `iou=` for `--iou`."""
    try:
        yield
    except (MetricError, SidesMismatch, InputError) as error:
        raise _in_python(error, task) from error.__cause__


def _in_python(error: TallystickError, task: Task) -> TallystickError:
    if isinstance(error, InputError):
        return InputError(renamed(task, error.reason), error.place)
    return type(error)(renamed(task, str(error)))


def renamed(task: Task, message: str) -> str:
    """A message with options as Python has them."""
    hints = typing.get_type_hints(task.Settings)
    options = {flag(one): one for one in task.options("figures")}
    names = {name: f"{one.name}={'True' if hints[one.name] is bool else ''}" for name, one in options.items()}
    names |= {"--metric": "metrics=", "--together": f"{TOGETHER}=True"}

    def said(found: re.Match[str]) -> str:
        """An option, with the value that follows it if it is one of its choices, the name of a kind of value, or a number."""
        name, value = found[1], found[2] or ""
        choices = choices_of(options[name], hints[options[name].name]) if name in options else ()
        if name not in names or not value:
            return names.get(name, name) + value
        if value[1:] in choices:
            return f'{names[name]}"{value[1:]}"'
        if value[1] == "'":
            return names[name] + value[1:]
        return names[name] + (value[1:] if re.fullmatch(r" (-?\d[\d.]*|[A-Z]+)", value) else value)

    return re.sub(r"(--[a-z0-9]+(?:-[a-z0-9]+)*)( '[^']*'| -?[\w.]*\w)?", said, message)


# What help(ts.spans) and editors show


def signature_of(task: Task) -> inspect.Signature:
    """The parameters, with the options of the task by keyword."""
    hints = typing.get_type_hints(task.Settings)
    either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("reference", either),
        inspect.Parameter("predicted", either, **({"default": None} if task.together else {})),
        inspect.Parameter("metrics", either, default=()),
        *([inspect.Parameter(TOGETHER, keyword, default=False, annotation=bool)] if task.together else []),
        *(
            inspect.Parameter(one.name, keyword, default=default_of(one), annotation=hints[one.name])
            for one in task.options("figures")
        ),
    ]
    return inspect.Signature(parameters)


def describe(task: Task) -> str:
    """The docstring of a task's function."""
    about = inspect.cleandoc(task.help.split("\b")[0] or task.summary)
    lines = [about.replace("REFERENCE", "`reference`").replace("PREDICTED", "`predicted`"), "", "Data:", ""]
    lines += textwrap.indent(inspect.cleandoc(task.data or DATA), "    ").split("\n")
    if task.example:
        lines += ["", "Example:", "", *textwrap.indent(inspect.cleandoc(task.example), "    ").split("\n")]
    lines += [
        "",
        "Returns the results by the name of their metric; `metrics` is one name or several.",
        "",
        "Options:",
        "",
    ]
    if task.together:
        lines.append(f"    {TOGETHER}: {task.together.replace('REFERENCE', '`reference`')}")
    for one in task.options("figures"):
        lines.append(f"    {one.name}: {renamed(task, option_of(one).help)}".rstrip(": "))
    return "\n".join(line.rstrip() for line in lines)


DATA = "A document is a dict, as a line of the task's JSON Lines is; give one, a list of them, or a mapping by document id."


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in task_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function_of(name)


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
