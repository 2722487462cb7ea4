"""Choices that the errors call for, each with what it would change: `tallystick suggest records`, `ts.suggest`.

    found = ts.suggest("gold.jsonl", "system.jsonl")
    print(found)                              the lines of a choices.yaml, each below what it would change
    ts.score(..., choices=found.choices)      what was promised, to the last bit

The errors are grouped by kind (`results/errors.py`), and each kind has the choice that forgives it. A field has one line: what forgives
all kinds that mean the same value, spelled otherwise. Choices that let *another* value pass (rounded, cut off, of the other sign, by
another name) are shown below it as comments, to be taken instead of it by somebody who wants that. Every gain is found by scoring with the
choice; nothing is estimated, and nothing is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.algebra.choose import PARTS, WORDS, Choice, choice_of
from tallystick.algebra.node import Similarity
from tallystick.errors import MetricError, TallystickError, counted
from tallystick.frozen import frozen
from tallystick.results.errors import Errors, Example, Group
from tallystick.results.kinds import merged, spelled
from tallystick.results.tables import shorten_both
from tallystick.show.tables import Column, Table
from tallystick.tasks.contract import Reading, Task, find_task, task_names

if TYPE_CHECKING:
    from tallystick.results.result import Result

NONE = "# Nothing to suggest: no choice would make another value right.\n"


@frozen
class Suggestion:
    """One line of choices, and what it alone would change."""

    path: str
    choice: Any
    kinds: tuple[str, ...]
    f1: float
    gain: float
    values: int
    """How many more values of the field are right."""
    examples: tuple[Example, ...]
    means_same: bool

    @property
    def line(self) -> str:
        """As it stands in choices.yaml."""
        return (
            spelled({self.path or "$": self.choice})[1:-1] if _is_plain(self.choice) else f"{self.path}: {self.choice}"
        )

    def as_dict(self) -> dict[str, Any]:
        found = {name: value for name, value in vars(self).items() if name not in ("examples", "choice")}
        choice = self.choice if _is_plain(self.choice) else str(self.choice)
        return {**found, "kinds": list(self.kinds), "choice": choice, "examples": [vars(one) for one in self.examples]}


@frozen
class Suggestions:
    """The lines that make other spellings of the right values right; `instead` has those that let other values pass."""

    metric: str
    f1: float | None
    lines: tuple[Suggestion, ...]
    instead: tuple[Suggestion, ...]
    given: Mapping[str, Any]
    """The choices that were made before."""
    f1_with_all: float | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What was said about the predictions when they were scored without any of the lines."""

    @property
    def choices(self) -> dict[str, Any]:
        """The choices that were made before, and all of the lines."""
        out = dict(self.given)
        for one in self.lines:
            out[one.path] = one.choice
        return out

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "f1": self.f1,
            "f1_with_all": self.f1_with_all,
            "choices": {path or "$": one if _is_plain(one) else str(one) for path, one in self.choices.items()},
            "lines": [one.as_dict() for one in self.lines],
            "instead": [one.as_dict() for one in self.instead],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def to_yaml(self) -> str:
        """A choices.yaml, with what each line would change above it."""
        return "\n".join([*self._head(), *self._body()]).rstrip("\n") + "\n"

    def _head(self) -> Iterator[str]:
        if self.lines:
            many = f"all {len(self.lines)} lines" if len(self.lines) > 1 else "this line"
            yield f"# F1 is {_figure(self.f1)}, and {_figure(self.f1_with_all)} with {many}. Nothing is applied unless you say --choices."
        elif self.instead:
            yield f"# F1 is {_figure(self.f1)}. No wrong value is only spelled otherwise."
        else:
            yield NONE.rstrip("\n")
        if self.instead:
            yield "# Lines that are commented out would let other values pass; put one in the place of its field's line if you want that."
        yield from (f"# {note}" for note in self.notes)

    def _body(self) -> Iterator[str]:
        kept = {path: one for path, one in self.given.items() if path not in {line.path for line in self.lines}}
        for path, one in kept.items():
            yield _line(path, one)
        for path in dict.fromkeys(one.path for one in (*self.lines, *self.instead)):
            for one in self.lines:
                if one.path == path:
                    yield from ("", *_comment(one, self.f1), one.line)
            for one in self.instead:
                if one.path == path:
                    yield from ("", *_comment(one, self.f1), f"# {one.line}")
        if not kept and not self.lines:
            yield from ("", "{}")

    def table(self) -> Table:
        """A row for each line."""
        rows = [
            [
                one.line,
                ", ".join(one.kinds),
                one.values,
                one.f1,
                one.gain,
                "" if one.means_same else "other values pass",
            ]
            for one in (*self.lines, *self.instead)
        ]
        notes = [
            f"F1 is {_figure(self.f1)}, and {_figure(self.f1_with_all)} with all lines under which no other value passes.",
            *self.notes,
        ]
        return Table(["choice", "kinds", "values", "f1", Column("gain", "gain"), ""], rows, notes=notes)

    def __str__(self) -> str:
        return self.to_yaml()

    __repr__ = __str__


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _comment(one: Suggestion, before: float | None) -> Iterator[str]:
    made = f"{counted(one.values, 'more value')} right" if one.values > 0 else "no more values right in full"
    yield f"# {', '.join(one.kinds)}: {made}, F1 {_figure(before)} → {_figure(one.f1)} ({one.gain:+.4f})"
    for example in one.examples:
        left, right = shorten_both(example.reference, example.predicted, 50)
        yield f"#   {example.document} {example.path}: {left} → {right}"


def _line(path: str, choice: Any) -> str:
    if not _is_plain(choice):
        return f"# {path or '$'} was chosen in Python, and has no line here: {choice!r:.200}"
    return spelled({path or "$": choice})[1:-1]


def _is_plain(choice: Any) -> bool:
    if isinstance(choice, Mapping):
        return all(map(_is_plain, choice.values()))
    return isinstance(choice, (str, int, float, bool, list, tuple, type(None)))


# Trying


def suggest(reference: Any, predicted: Any, *, task: str = "records", **options: Any) -> Suggestions:
    """The choices that the errors of a prediction call for, each with what it would change; nothing is applied.

    Data and options are those of the task's function, `ts.records`: files or data in memory, `schema`, `choices`, `from_`, ...

    >>> gold = [{"name": name} for name in ("Ann Lee", "Bo Berg", "Cy Dahl", "Di Moe")]
    >>> ts.suggest(gold, [{"name": record["name"].upper()} for record in gold]).choices
    {'name': {'text': ['equal', 'casefold', 'whitespace']}}
    """
    from tallystick.tasks.function import in_python, renamed, settings_from

    found = find_task(task)
    if not found.can_suggest:
        able = [name for name in task_names() if find_task(name).can_suggest]
        raise MetricError(f"{task} has no choices to suggest; {' and '.join(able)} have")
    reference, predicted = (list(side) if isinstance(side, Iterator) else side for side in (reference, predicted))
    with in_python(found):
        settings = settings_from(found, options)
        found.check((), settings)
        tried = try_choices(found, *found.take(reference, predicted, settings))
    return replace(tried, warnings=tuple(renamed(found, warning) for warning in tried.warnings))


def try_choices(task: Task, reference: Any, predicted: Any, settings: Any) -> Suggestions:
    """Score with each choice that the errors call for, and with all of them."""
    if "-" in (reference, predicted):
        raise MetricError("the files are scored several times, so neither can be standard input (-); give files")
    if getattr(settings, "metric", None) is not None:
        raise MetricError("--metric says how everything is compared, and leaves nothing to choose; leave it out")
    given = _given(settings.choices)

    def score(choices: Mapping[str, Any]) -> tuple[str, Result]:
        results = task.score(reference, predicted, (), replace(settings, choices=dict(choices)), Reading()).results
        return next((name, one) for name, one in results.items() if one.is_expression and "f1" in one.figures)

    name, before = score(given)
    trial = Trial(given, lambda choices: score(choices)[1], before)
    lines, instead = trial.run(before.grouped_errors())
    together = dict(given)
    for one in lines:
        together[one.path] = one.choice
    after = trial.score(together) if lines else before
    return Suggestions(name, before.f1, lines, instead, given, after.f1, tuple(trial.notes), before.notes)


def _given(choices: Any) -> dict[str, Any]:
    """The choices that there are, by path; files that they name are looked for beside theirs."""
    from tallystick.tasks.records.score import read_choices

    source, found = read_choices(choices)
    for path, spec in found.items():
        named = spec.get("aliases") if isinstance(spec, Mapping) else None
        if isinstance(named, str) and (Path(source).parent / named).exists():
            found[path] = {**spec, "aliases": str(Path(source).parent / named)}
        if isinstance(spec, Similarity):
            found[path] = {"expression": str(spec)}
    return found


class Trial:
    """Lines that are tried, one at a time, over the choices that there are."""

    def __init__(self, given: Mapping[str, Any], score: Callable[[Mapping[str, Any]], Result], before: Result) -> None:
        self.given, self.score, self.before = given, score, before
        self.notes: list[str] = []
        self._right = _right_values(before)

    def run(self, errors: Errors) -> tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]:
        """The best line of each field under which no other value passes, and those that gain more by letting some pass."""
        lines: list[Suggestion] = []
        instead: list[Suggestion] = []
        for one in errors.fields.values():
            curable = [group for group in one.groups if group.remedy is not None]
            same = self._best(_combined([group for group in curable if group.means_same]), True)
            lines += same
            for group in curable:
                if not group.means_same:
                    instead += self._more([group], same)
        order = sorted(lines, key=lambda one: -one.gain), sorted(instead, key=lambda one: -one.gain)
        return tuple(order[0]), tuple(order[1])

    def _more(self, groups: list[Group], same: list[Suggestion]) -> list[Suggestion]:
        """A line that lets other values pass, on top of the one that does not, if it gains more."""
        group, before = groups[0], same[0] if same else None
        both = None if before is None else merged(before.choice, group.remedy)
        tried = self._try(group.field, group.remedy if both is None else both, groups, False)
        if tried is not None and before is not None and both is not None:
            tried = replace(tried, kinds=(*before.kinds, *tried.kinds))
        return [tried] if tried is not None and tried.gain > (before.gain if before else 0.0) else []

    def _best(self, candidates: list[tuple[Any, list[Group]]], means_same: bool) -> list[Suggestion]:
        tried = (self._try(groups[0].field, choice, groups, means_same) for choice, groups in candidates)
        found = [one for one in tried if one is not None and one.gain > 0]
        return [max(found, key=lambda one: one.gain)] if found else []

    def _try(self, path: str, choice: Any, groups: list[Group], means_same: bool) -> Suggestion | None:
        path = "" if path == "(value)" else path
        choice = _over(choice, self.given.get(path), path)
        try:
            after = self.score({**self.given, path: choice})
        except TallystickError as error:
            self.notes.append(f"{path or '$'}: {choice} could not be tried: {error}")
            return None
        assert after.f1 is not None
        values = _right_values(after).get(path or "(value)", 0) - self._right.get(path or "(value)", 0)
        examples = [one for group in groups for one in group.examples]
        kinds = tuple(group.kind for group in groups)
        return Suggestion(
            path, choice, kinds, after.f1, after.f1 - (self.before.f1 or 0.0), values, tuple(examples[:3]), means_same
        )


def _combined(groups: list[Group]) -> list[tuple[Any, list[Group]]]:
    """Choices that each do what some of the groups ask for, as few as possible."""
    found: list[tuple[Any, list[Group]]] = []
    for group in groups:
        for k, (choice, known) in enumerate(found):
            both = merged(choice, group.remedy)
            if both is not None:
                found[k] = both, [*known, group]
                break
        else:
            found.append((group.remedy, [group]))
    return found


def _right_values(result: Result) -> dict[str, int]:
    return {row.path: row.aligned - row.wrong for row in result.by_field()}


def _over(choice: Any, known: Any, path: str) -> Any:
    """A choice over the one that there is: what it does not say stays."""
    if known is None:
        return choice
    if not isinstance(known, (str, Mapping)):
        old, new = choice_of(known, path, "choices"), choice_of(choice, path, "choices")
        return new if old is None or new is None else new.over(old)
    if isinstance(known, str):
        known = {"list": known} if WORDS.get(known, Choice()).collecting else {known: True}
    if isinstance(choice, str):
        choice = {choice: True}
    parts = {name: part for name, part in known.items() if name in PARTS}
    own = {name: part for name, part in known.items() if name not in PARTS}
    if not any(name not in PARTS for name in choice):  # it says nothing of how values are compared
        return {**known, **choice}
    both = merged(_listed_text(own), choice)
    return {**parts, **(choice if both is None else both)}


def _listed_text(choice: Mapping[str, Any]) -> dict[str, Any]:
    """A choice whose ratio and steps of texts are a list."""
    spec = choice.get("text")
    if isinstance(spec, Mapping):
        spec = [spec.get("ratio", "equal"), *spec.get("steps", ())]
    return dict(choice) if spec is None else {**choice, "text": [spec] if isinstance(spec, str) else list(spec)}
