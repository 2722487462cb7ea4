"""What a task is. It is declared once, in `tasks/NAME/task.py`, and everything else is made from the declaration: the commands
`score`, `explain` and `compare`, shards, Dask, state, the report, `list` and the reference page.

    class Turns(Task):
        name = "turns"
        summary = "who speaks when: the share of time that is given to the wrong speaker"
        Settings = TurnSettings             # a frozen dataclass whose fields are made by `option`

        def read(self, reference, predicted, settings, reading): ...      two files to a corpus
        def evaluate(self, corpus, metrics, settings): ...                a corpus to a result for each metric

    TASK = Turns()

Those two methods are enough. What else a task may have is an attribute or a method below; what it does not have is not in its help.
This module and the declarations load nothing heavy: whatever reads or scores is imported where it is used.

`read` usually puts three parts together. `read_json(file)` (`files/json_values.py`) gives values that know their place, so that
`line.at("turns").each()`, `.text()`, `.whole()` and `.number()` say file, line and path if they find something else. `Documents.add(name,
value, place)` collects one side, and `pair_documents` pairs both (`files/pairing.py`). A document is a frozen class; what it keeps,
--slice can be by. `evaluate` answers with `score_expression` (`tasks/metric.py`) for a metric that is an expression, and with a `Result`
of rows and a `Kind` (`engine/tally.py`) for any other. A field of the items is compared as a whole: a range is one field, (start, end).

Differences by field and label, --intervals, --slice, --errors, gates, --baseline and `history` are made of the results' rows and ask
nothing more. Figures by label come from metrics that are expressions, or whose kind is `Labelled`; a path in `labels` ends in a field of
the items. A task that counts labels in another way has `breakdown` and `portions`. `document_keys` tell one document of plain data
from a mapping by id. Predictions that say how sure they are: settings `confidence` and `target_accuracy`, and `claims` in the results.
Documents that a system did not answer: a setting `missing`, made by `missing_option`, and `reading.missing` handed to the pairing.

An option is a field of the settings. That puts it into the commands and into `ts.NAME(...)`; what it does, it does where `evaluate` hands it on.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.files.boundaries import Boundaries, Uncut
    from tallystick.files.pairing import Missing
    from tallystick.files.source import Format
    from tallystick.results.comparison import Comparison
    from tallystick.results.explanation import Explanation
    from tallystick.results.mistakes import Mistake
    from tallystick.results.parts import Portions
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.attributes import Attribute, Value
    from tallystick.tasks.plain import Given

__all__ = [
    "Asked", "Explained", "Option", "Reading", "Scored", "Settings", "Shown", "Task", "Wish", "allow_code",
    "find_task", "missing_option", "option", "refuse_idle", "target_accuracy", "task_names", "time_limit",
]  # fmt: skip

Use = Literal["figures", "score", "explain"]
Results = dict[str, Any]
"""A `Result` for each metric, by its name."""
Files = tuple[Any, Any]
AskParts = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Puts a question, a function of a module or a `functools.partial` of one, to every part of some files."""


@frozen
class Option:
    """What an option is called, takes and does; `option` puts one into a field's metadata.

    >>> from tallystick.tasks.contract import Option
    >>> Option("How texts are compared.", choices=("exact", "unicode")).use
    'figures'
    """

    help: str = ""
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """What it is called on the command line, if not like its field: ("--input",), or ("--strict/--lenient",)."""
    metavar: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    on: tuple[str, ...] = ()
    """The metrics or formats that it has an effect on (none: all); the task refuses it elsewhere by `refuse_idle`."""
    use: Use = "figures"
    """Options that change figures are those of every command; others only say what `score` or `explain` shows."""
    of_system: bool = False
    """It names a part of one system's output, so that in a comparison each system has its own."""
    writes: bool = False
    """It names a file that is written."""
    in_shards: bool = False
    """Of what `score` shows: whether it can be had in shards too."""
    in_rows: bool = False
    """Of a list that `score` shows: whether --rows says how long it is."""
    show_default: bool = True


def option(default: Any, help: str = "", **about: Any) -> Any:
    """A field of a task's settings; see `Option` for what can be said about it.

    >>> from tallystick.tasks.contract import option
    >>> @dataclass(frozen=True)
    ... class TurnSettings:
    ...     collar: float = option(0.0, "Seconds around a turn that count neither way.", least=0)
    >>> TurnSettings().collar
    0.0
    """
    return field(default=default, metadata={"option": Option(help, **about)})


def target_accuracy() -> Any:
    """The option of every task that has `confidence` among its settings and puts `claims` into its results.

    >>> from tallystick.tasks.contract import option, target_accuracy
    >>> @dataclass(frozen=True)
    ... class SureSettings:
    ...     confidence: str | None = option(None, "The field that says how sure a prediction is.")
    ...     target_accuracy: float = target_accuracy()
    >>> SureSettings().target_accuracy
    0.95
    """
    says = "With --confidence: the accuracy for which to find the lowest threshold."
    return option(0.95, says, metavar="SHARE", above=0, most=1, use="score")


def time_limit(*also: str) -> Any:
    """The option of every task whose metrics may take long: graphs, trees, tables, long sequences, texts each with each.

    >>> from tallystick.tasks.contract import option, time_limit
    >>> @dataclass(frozen=True)
    ... class SlowSettings:
    ...     time_limit: float | None = time_limit()
    >>> SlowSettings().time_limit is None
    True
    """
    says = "The most seconds for each document: a matching that takes longer has bounds, similarities that do are an error.  [default: 60 for a matching]"
    return option(None, says, names=("--time-limit", *also), metavar="SECONDS", above=0, show_default=False)


def allow_code() -> Any:
    """The option of every task that takes expressions, choices or schemas: whether these may name code.

    >>> from tallystick.tasks.contract import allow_code, option
    >>> @dataclass(frozen=True)
    ... class OwnSettings:
    ...     allow_code: bool = allow_code()
    >>> OwnSettings().allow_code
    False
    """
    return option(
        False,
        "Let expressions, choices and schemas name functions of your own (module:name), which are imported and run.",
    )


MISSING_HELP = (
    "Documents that the system did not answer: an error, or counted as empty answers. Needs document ids in both files."
)


def missing_option(says: str = MISSING_HELP) -> Any:
    """The option of every task whose documents have ids: what becomes of those that the prediction lacks.

    >>> from tallystick.tasks.contract import missing_option
    >>> @dataclass(frozen=True)
    ... class GappySettings:
    ...     missing: str = missing_option()
    >>> GappySettings().missing
    'error'
    """
    return option("error", says, choices=("error", "empty"))


def unit_option(sentences: str) -> Any:
    """The option of a task whose files may have documents and sentences: what a row is, which is what is drawn."""
    says = f"What is drawn for intervals and tests: documents, sentences{sentences}, or --groups of them.  [default: documents, where the files have any]"
    return option("auto", says, choices=("auto", "document", "sentence", "group"), show_default=False)


def option_of(one: Field[Any]) -> Option:
    """What was declared about a field."""
    found: Option = one.metadata.get("option", Option())
    return found


@frozen
class Settings:
    """The options of a task without options.

    >>> from tallystick.tasks.contract import Task
    >>> Task.Settings()
    Settings()
    """


LISTS = ("LIST", "WORD,...|@FILE", "LABEL,...|@FILE")
"""What options take of which any number may be given: none of them is an answer, too."""


def refuse_empty(name: str, value: Any, metavar: str, help: str) -> None:
    """An empty text is what a variable of a shell gives that nobody has set; it is no field, no file and no name."""
    if metavar not in LISTS and (value == "" or (isinstance(value, tuple) and "" in value)):
        raise MetricError(
            f"{name}: found an empty text; expected {metavar or 'a text'} ({help.partition('  [')[0].strip()})"
        )


def flag(one: Field[Any]) -> str:
    """What an option is called on the command line."""
    names = option_of(one).names
    return names[0].partition("/")[0] if names else f"--{one.name.rstrip('_').replace('_', '-')}"


def refuse_idle(settings: Any, there: Collection[str], among: Collection[str], what: str) -> None:
    """An option that would change nothing is an error: whoever gives one believes that it does something. `there` are the metrics or
    formats at hand, of all those in `among`, and `what` says so: "these files are read as jsonl".

    >>> from tallystick.tasks.contract import option, refuse_idle
    >>> @dataclass(frozen=True)
    ... class IouSettings:
    ...     iou: float = option(0.5, "The overlap to reach.", on=("iou",))
    >>> try:
    ...     refuse_idle(IouSettings(iou=0.7), there=["segment"], among=["segment", "iou"], what="the metric is segment")
    ... except ts.TallystickError as error:
    ...     print(error)
    --iou changes nothing: it is for iou, and the metric is segment
    """
    for one in fields(settings):
        on = [name for name in option_of(one).on if name in among]
        if on and not set(on) & set(there) and getattr(settings, one.name) != one.default:
            *first, last = on
            listed = f"{', '.join(first)} and {last}" if first else last
            raise MetricError(f"{flag(one)} changes nothing: it is for {listed}, and {what}")


@frozen
class Asked:
    """What a `score` command is to show beside the figures.

    >>> from tallystick.tasks.contract import Asked
    >>> Asked(by="label").by
    'label'
    """

    by: str | None = None
    label: str | None = None
    rows: int | None = None
    format: str = "table"
    report: bool = False
    documents: int = 0
    """How many documents a report carries with their alignment."""
    keep_rows: bool = True
    undefined: float | None = None
    decides: bool = False
    """Whether somebody asked for `undefined` in the place of the task's own policy for 0/0."""
    advance: Callable[[int, int], None] | None = None
    keep: bool = False
    """Whether the documents are kept, to be looked at later."""
    by_document: bool = False
    """Whether fields or labels are looked at document by document, so that the documents are kept for that."""
    part: bool = False
    """Whether more documents may follow, so that what these do not have need not be misspelt."""
    train: Any = None
    """The training data that figures by `seen` and `frequency` are about."""
    texts: bool = False
    """Whether what is asked for looks at the words of documents."""
    errors: bool = False
    """Whether errors are listed, with what stands around them."""

    def decided(self, results: Results) -> Results:
        """Results with the policy for 0/0 that was asked for."""
        return {name: one.changed(undefined=self.undefined) if self.decides else one for name, one in results.items()}


@frozen
class Reading:
    """What a reader is asked for beside the figures: texts for a report or a list of errors, documents that a system may not have
    answered, and whether these files are parts of larger ones.

    >>> from tallystick.tasks.contract import Reading
    >>> Reading(texts=True).texts
    True
    """

    texts: bool = False
    missing: Missing | None = None
    part: bool = False
    known: Any = None
    """What `look_first` found out about the whole files before any part was scored."""
    asked: Asked | None = None
    training: bool = False
    """Whether --train is for figures by `seen` or `frequency`, whatever else the task has it for."""


@frozen
class Scored:
    """One system against the reference: what was read, and a result for each metric.

    >>> from tallystick.tasks.contract import Scored
    >>> Scored(corpus=None, results={}, notes=("2 duplicates counted once",)).notes
    ('2 duplicates counted once',)
    """

    corpus: Any
    results: Results
    notes: tuple[str, ...] = ()
    """Printed below the figures, beside the number of documents."""
    closing: tuple[str, ...] = ()
    """Printed at the very end."""
    opening: tuple[str, ...] = ()
    """Printed before the figures."""
    extra: Any = None
    """What a part of two files has beside its tallies; it is added up over the parts."""
    ids: Sequence[Any] | None = None
    """The documents' names, where the results kept none."""
    unanswered: tuple[Any, ...] = ()
    """The names of documents that the prediction lacks, where these count as empty answers."""


@frozen
class Shown:
    """Tables, and the same as JSON.

    >>> from tallystick.tasks.contract import Shown
    >>> (Shown(json={"errors": 2}) + Shown(json={"worst": "d1"})).json
    {'errors': 2, 'worst': 'd1'}
    """

    tables: Sequence[Table] = ()
    json: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Shown) -> Shown:
        return Shown([*self.tables, *other.tables], {**self.json, **other.json})


class ShownLater(Shown):
    """The same, made when somebody looks at it: who calls a function in a loop may only want the figures."""

    def __init__(self, make: Callable[[], Shown]) -> None:
        object.__setattr__(self, "_make", make)

    @cached_property
    def _made(self) -> Shown:
        return self._make()  # type: ignore[attr-defined,no-any-return]

    @property
    def tables(self) -> Sequence[Table]:
        return self._made.tables

    @property
    def json(self) -> Mapping[str, Any]:
        return self._made.json


@frozen
class Wish:
    """Which documents `explain` is to show: one by its name, or the worst, in all or at one field.

    >>> from tallystick.tasks.contract import Wish
    >>> Wish(worst=3).worst
    3
    """

    metric: str | None = None
    document: str | None = None
    worst: int | None = None
    field: str | None = None


@frozen
class Explained:
    """Documents with their alignments; `by` says what the worst one is the worst by.

    >>> from tallystick.tasks.contract import Explained
    >>> Explained(documents=[], count=12, by="f1").count
    12
    """

    documents: Sequence[tuple[Any, Mapping[str, float | None], Explanation]]
    count: int
    by: str = ""
    opening: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Task:
    """A task. `read` and `evaluate` are what it needs; all else has a default, or is None where a task may do without it.

    >>> from tallystick.tasks.contract import find_task
    >>> task = find_task("spans")
    >>> task.name, task.unit, [one.name for one in task.options("figures")][:2]
    ('spans', 'document', ['average', 'tags'])
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for `tallystick list`."""
    help: ClassVar[str] = ""
    """What `score TASK --help` says: what the files are, and examples."""
    Settings: ClassVar[type] = Settings
    main: ClassVar[str] = ""
    """The metric that reports are ordered by; the first, if there is none."""
    base: ClassVar[str] = ""
    """The metric that the arrows of a comparison count from; the main one, if there is none."""
    explained: ClassVar[str] = ""
    """The metric that `explain` is about, unless another is named; the first, if there is none."""
    unit: ClassVar[str] = "document"
    named_metrics: ClassVar[bool] = True
    """Whether `--metric NAME` chooses among named metrics."""
    together: ClassVar[str] = ""
    """What PREDICTED may be left out for, if one file can hold both sides: the help of --together."""
    breakdowns: ClassVar[tuple[str, ...]] = ()
    """Which of `label` and `field` it has figures by, beside `document`."""
    whole_breakdowns: ClassVar[tuple[str, ...]] = ()
    """Those that cannot be put together from shards."""
    labels: ClassVar[Mapping[str, str]] = {}
    """Where its labels are in a document, by what they are called; empty, if its metrics know them."""
    label: ClassVar[str | None] = None
    """The one that --by label means, unless another is named."""
    label_help: ClassVar[str] = ""
    synonyms: ClassVar[Mapping[str, str]] = {}
    """What people call a breakdown, where that is not what its labels are called: {"slot": "field"}."""
    attributes: ClassVar[Mapping[str, Attribute]] = {}
    """What its items have beside labels that figures can be by, such as their length (`tasks/attributes.py`)."""
    keys: ClassVar[Mapping[str, Value]] = {}
    """By the path of a collection what makes an item one that a training file has: figures by `seen` and `frequency`."""
    invalid_answers: ClassVar[bool] = False
    """Whether a prediction that cannot be read may count as invalid, so that there is a share of these."""
    without: ClassVar[Mapping[str, str]] = {}
    """Why it does not have what other tasks have, by the column of docs/matrix.md (`docsite/matrix.py`)."""
    without_missing: ClassVar[str] = ""
    """Why no document can be missing, if none can."""
    cites: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The papers that define its metrics, by the names of these and as keys of `references.bib`; under "" those of every metric."""
    folder_of: ClassVar[tuple[str, ...]] = ()
    """The suffixes of the files of which a whole folder is one corpus; none, if it reads no folders."""
    fields_always: ClassVar[bool] = False
    """Whether figures by field are shown without being asked for."""
    rows_for_means: ClassVar[bool] = False
    """Whether --macro needs the rows of the documents."""

    # What every task has

    a_document: ClassVar[str] = "document"
    """What one document of plain data is called in messages."""
    document_keys: ClassVar[tuple[str, ...]] = ()
    """The keys that a document of plain data may have: a dict that has no others is a document, not a mapping by id. Without them
    the default `document` cannot tell a document from a mapping by id, whose values are dicts too."""
    data: ClassVar[str] = ""
    """What plain data its Python function takes, for the docstring."""
    example: ClassVar[str] = ""
    """Lines of Python with what they print, for the docstring; the tests run them."""

    def document(self, value: Any, where: str) -> Any:
        """One document of plain data (`tasks.plain.plain`) as a line of its JSON Lines; a `ValueMismatch` where it is none."""
        from tallystick.tasks.plain import expect, named

        keys = self.document_keys
        fits = isinstance(value, dict) and (not keys or any(key in value for key in keys))
        named_so = f" with {' or '.join(map(repr, keys))}" if keys else ""
        expect(fits, where, f"a {self.a_document}, a dict{named_so}", value)
        return named(value, **value)

    def take(self, reference: Any, predicted: Any, settings: Any) -> tuple[Any, Any, Any]:
        """Files or plain data as two sides that `read` takes, and the settings that they are read with."""
        from tallystick.tasks.plain import Given, take_sides

        sides = take_sides(self.document, reference, predicted, self.document_keys, self.a_document)
        left, right = (self.write(side) if isinstance(side, Given) else side for side in sides)
        return left, right, settings

    def write(self, given: Given) -> Any:
        """The documents of one side as `read` takes them: JSON Lines, unless the task has something better."""
        return given.lines

    def read(self, reference: Any, predicted: Any, settings: Any, reading: Reading) -> Any:
        """Two files as a corpus: both sides' documents, paired."""
        raise NotImplementedError

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: Any) -> Results:
        """A result for each of these metrics, or for those of the task if none is named; `tasks.metric.choose` refuses
        names that the task does not have."""
        raise NotImplementedError

    def score(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: Any, reading: Reading
    ) -> Scored:
        """One system."""
        missing = reading.missing or self.missing(settings)
        readings = {"": replace(reading, missing=missing)}
        scored = self.score_systems(reference, {"": predicted}, metrics, settings, readings)[""]
        return replace(self.with_lookalikes(scored, settings), unanswered=tuple(missing.unanswered))

    def label_sets(self, corpus: Any, settings: Any) -> Mapping[str, tuple[Collection[str], Collection[str]]]:
        """The labels that the reference has and those that the prediction has, by what they are called, if items match only under the same label."""
        return {}

    def label_as_seen(self, label: str, metric: str, settings: Any) -> Callable[[str], str] | None:
        """What of the labels that are called so the figures of a metric depend on; None where they do not depend on them at all."""
        return str

    def with_lookalikes(self, scored: Scored, settings: Any) -> Scored:
        """What was scored, with the labels that each metric looks at, and a warning about predicted ones that look like others of the reference."""
        from tallystick.results.lookalikes import Labels

        found = Labels.of(self.label_sets(scored.corpus, settings))
        results = {}
        for name, one in scored.results.items():
            labels = found.as_seen({what: self.label_as_seen(what, name, settings) for what in found.sides})
            results[name] = one.changed(looked_at=labels, notes=(*one.notes, *labels.lines()))
        return replace(scored, results=results) if found.sides else scored

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: Any, readings: Mapping[Any, Reading]
    ) -> dict[Any, Scored]:  # fmt: skip
        """Several systems against one reference. A task whose figures depend on all of them (the labels that occur, units that all
        share), or that reads the reference only once, does it here."""
        out = {}
        for run, file in systems.items():
            corpus = self.read(reference, file, of_run(settings, run), readings[run])
            out[run] = Scored(corpus, self.evaluate(corpus, metrics, of_run(settings, run)))
        return out

    def missing(self, settings: Any, comparison: bool = False) -> Missing:
        """What was asked for about documents that a system did not answer, to note them in."""
        from tallystick.files.pairing import Missing

        asked = Missing(getattr(settings, "missing", "error"), comparison)
        if asked.asked and self.without_missing:
            raise MetricError(f"--missing {asked.policy}: {self.without_missing}; leave --missing out")
        return asked

    def check(self, metrics: tuple[str, ...], settings: Any) -> None:
        """Refuse what cannot be meant, before any file is read."""

    def check_output(self, settings: Any, given: Mapping[str, Any]) -> None:
        """Refuse what the options of every task, by name, do not go together with."""
        if getattr(settings, "confidence", "") is None and settings.target_accuracy != 0.95:
            raise MetricError("--target-accuracy needs the confidences of the predictions: add --confidence")

    # What is shown

    def describe(self, reference: Any, predicted: Any, settings: Any) -> tuple[Shown, tuple[str, ...]] | None:
        """What is shown and said instead of scoring, if the settings ask for it."""
        return None

    def run(
        self, reference: Any, predicted: Any, metrics: tuple[str, ...], settings: Any, asked: Asked
    ) -> tuple[Scored, Shown]:
        """`score`: the figures, and what was asked for beside them."""
        texts = asked.report or asked.texts or asked.errors or asked.by in self.attributes
        reading = Reading(texts=texts, asked=asked, part=asked.part, training=asked.train is not None)
        scored, read_as = self.read_as(
            self.score(reference, predicted, metrics, settings, reading), (reference, predicted), settings
        )
        scored = replace(scored, results=asked.decided(scored.results))
        shown = self.show(scored, settings, asked) + read_as
        if asked.by in ("label", "field"):
            shown = self.breakdown(scored, asked.by, asked.label) + shown
        elif asked.by in self.all_attributes:
            shown = self.breakdown_by(scored, settings, asked.by, asked.train) + shown
        return scored, shown

    def read_as(self, scored: Scored, files: Files, settings: Any) -> tuple[Scored, Shown]:
        """What was scored, and a note for each file that was read in somebody else's format."""
        from tallystick.files.source import how_read

        found = how_read(self.formats(), files, getattr(settings, "input", None))
        notes = tuple(f"{file} read as {title}" for file, title in found.items())
        return (
            (replace(scored, notes=(*scored.notes, *notes)), Shown(json={"read_as": found}))
            if found
            else (scored, Shown())
        )

    @property
    def all_attributes(self) -> dict[str, str]:
        """The attributes of its items and what each is, with those that training data make."""
        from tallystick.tasks.attributes import TRAINED

        own = {name: one.help for name, one in self.attributes.items()}
        return {**own, **TRAINED} if self.keys else own

    def words(self, scored: Scored) -> Sequence[Any] | None:
        """The words of each document, in the order of the results, where they were kept."""
        return None

    def breakdown_by(self, scored: Scored, settings: Any, name: str, train: Any = None) -> Shown:
        """Figures by an attribute of items."""
        from tallystick.tasks.breakdowns import show_portions

        return show_portions(self.portions_by(scored, settings, name, train), scored.results, name)

    def portions_by(self, scored: Scored, settings: Any, name: str, train: Any = None) -> dict[str, Portions]:
        """By metric the rows of the documents by an attribute of items."""
        from tallystick.tasks.breakdowns import attribute_named, portions_by

        return portions_by(self, scored, name, attribute_named(self, scored, settings, name, train))

    def show(self, scored: Scored, settings: Any, asked: Asked) -> Shown:
        """What the task's own options of `score` ask for, such as --repairs; and how far confidences can be trusted."""
        return show_confidence(scored.results, settings, asked)

    def printer(self, scored: Scored, settings: Any) -> Callable[[], str] | None:
        """What is printed instead of the figures, if the settings ask for another layout."""
        return None

    def breakdown(self, scored: Scored, by: str, label: str | None) -> Shown:
        """Figures by label or by field, from the alignment that the score is the sum of."""
        from tallystick.tasks.metric import break_down

        return break_down(self, scored.results, by, label)

    def portions(self, scored: Scored, by: str, label: str | None) -> dict[str, Portions]:
        """By metric the rows of the documents by label or by field: what intervals and paired tests of these are made of."""
        from tallystick.results.parts import portions_of

        return portions_of(scored.results, by, label, self.labels, self.label)

    def parts(self, scored: Scored, settings: Any, shown: Shown) -> Parts:
        """What the report shows beside the figures."""
        from tallystick.tasks.metric import default_parts

        return default_parts(self, scored.results)

    def beside(self, results: Results) -> tuple[dict[str, Any], Callable[[Table], Table] | None]:
        """What stands beside the figures: as JSON, and as further columns of the table."""
        return {}, None

    comparison_tables: Callable[[Comparison], list[Table]] | None = None
    """Tables of its own, below a comparison."""

    # What went wrong

    kinds: ClassVar[Mapping[str, str]] = {}
    """Its kinds of error, each with what it is, in the order in which they are shown."""

    error_label: ClassVar[str] = ""
    """What the labels of its mistakes are: "role", "slot"."""

    def metric_names(self, results: Results) -> tuple[str, ...]:
        """The metrics that some results are of, as `evaluate` takes them."""
        return tuple(results)

    def without_errors(self, settings: Any) -> str:
        """Why no errors can be found under these settings; nothing if they can."""
        return ""

    def find_mistakes(self, corpus: Any, settings: Any) -> Iterable[Mistake]:
        """Every error, of one of the `kinds`, with its mend."""
        return ()

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: Any) -> Any:
        """The corpus with these mistakes mended, as `evaluate` takes it."""
        from tallystick.tasks.mending import mend_documents

        return mend_documents(corpus, mistakes)

    def error_tables(self, corpus: Any, mistakes: Sequence[Mistake], settings: Any) -> Sequence[Table]:
        """Tables of its own about the mistakes, such as errors by the distance of a head."""
        return ()

    # Why a document scored what it scored

    can_explain: ClassVar[bool] = True
    instead_of_explain: ClassVar[str] = ""
    """What to say to somebody who looks for a tree that there is not."""

    def explained_metric(self, results: Results) -> str:
        """The metric that the worst documents are the worst by."""
        return next(iter(results))

    def explain(self, reference: Any, predicted: Any, settings: Any, wish: Wish) -> Explained:
        """Some documents with their alignments."""
        from tallystick.tasks.metric import explain_documents

        scored = self.score(reference, predicted, self.explained_by(wish.metric), settings, Reading(texts=True))
        return explain_documents(self, scored, settings, wish)

    def explained_by(self, metric: str | None) -> tuple[str, ...]:
        """The metric that a document is explained by."""
        return (metric,) if metric else (self.explained,) if self.explained else ()

    def tree(self, scored: Scored, settings: Any, metric: str, document: Any) -> Explanation:
        """The alignment of one document."""
        result: Result = scored.results[metric]
        if not result.is_expression and result.tree is None:
            instead = f"; leave --metric out for {self.explained}" if self.explained else ""
            raise MetricError(
                f"{metric} is a procedure, not an expression of the algebra, and has no tree to show{instead}"
            )
        return result.explain(document)

    @property
    def can_suggest(self) -> bool:
        """Whether it has choices, so that some can be suggested."""
        return any(one.name == "choices" for one in self.options("figures"))

    # Shards

    def whole(self, settings: Any) -> str:
        """Why the corpus has to be scored as a whole under these settings; nothing if it need not."""
        return "confidences are judged over all documents" if getattr(settings, "confidence", None) is not None else ""

    def basis(self, scored: Scored, settings: Any) -> Mapping[str, tuple[Any, ...]]:
        """What the figures depend on beside each document by itself, such as the roles that occur in all of them, by the option that
        says it beforehand. Only results of the same basis can be added."""
        return {}

    def unmet(self, scored: Scored, settings: Any) -> frozenset[str]:
        """What the options name and these documents do not have. Where they are all, that is an error; of parts, others may have it."""
        return frozenset()

    def boundaries(self, file: str, settings: Any) -> Boundaries | Uncut:
        """Where documents begin in a file."""
        from tallystick.files.boundaries import find_boundaries

        return find_boundaries(self.formats(), file, input=getattr(settings, "input", None))

    def formats(self) -> Sequence[Format]:
        """The formats of its files, as its `files.py` declares them; JSON Lines, if it declares none."""
        return ()

    def look_first(self, files: Files, settings: Any, ask_parts: AskParts) -> Any:
        """What has to be known of the whole files before any part is scored, as the `known` of `Reading`. `ask_parts(question, files)`
        has the answers of all parts in order, and none if a file is read as a whole."""
        return None

    def put_together(
        self, gathered: Scored, files: Files, settings: Any, reading: Reading
    ) -> tuple[Scored, Shown] | None:
        """The parts' results and what they had beside them, as `run` would have it; None: the figures alone."""
        return None

    def id_field(self, settings: Any) -> str | None:
        """The field of a JSON object that is its name, where the user may choose it."""
        return None

    def allows_absent(self, settings: Any) -> bool:
        """Whether documents that one side lacks are no error."""
        return self.missing(settings).asked

    # What follows from the declaration

    def main_metric(self, results: Results) -> str:
        """The metric that reports are ordered by."""
        return self.main

    @property
    def also_by(self) -> dict[str, tuple[str, str | None]]:
        """Other words for breakdowns: the name of a label is `label` with that label."""
        own: dict[str, tuple[str, str | None]] = {}
        if "label" in self.breakdowns:
            own = {name: ("label", name if len(self.labels) > 1 else None) for name in self.labels}
        own |= {name: (by, None) for name, by in self.synonyms.items()}
        taken = (*self.breakdowns, *self.all_attributes, "document")
        return {name: meant for name, meant in own.items() if name not in taken}

    def check_breakdown(self, by: str | None, in_shards: bool = False) -> None:
        """That the task has these figures."""
        if in_shards and by is not None and (by in self.whole_breakdowns or by in self.all_attributes):
            raise needs_the_whole(by)

    def label_paths(self, label: str | None) -> tuple[str, ...]:
        """Where the labels that --by label means are."""
        label = label or self.label or ""
        return (self.labels[label],) if label in self.labels else tuple(self.labels.values())

    def options(self, use: Use) -> list[Field[Any]]:
        """The options of one use."""
        return [one for one in fields(self.Settings) if option_of(one).use == use]


def show_confidence(results: Results, settings: Any, asked: Asked) -> Shown:
    """How far the predictions that say how sure they are can be trusted, of every metric that judged it."""
    out = Shown()
    for name, result in results.items():
        if result.claims is not None and not asked.keep:
            from tallystick.results.confidence import confidence_tables

            tables, found = confidence_tables(result.claims, settings.target_accuracy)
            out += Shown(tables, {"confidence": {**out.json.get("confidence", {}), name: found}})
    return out


def needs_the_whole(by: str) -> MetricError:
    """The error about figures that cannot be put together from shards."""
    return MetricError(
        f"the figures by {by} need the whole corpus; leave --by out, or --jobs, --scheduler, --state and --shard"
    )


@frozen
class OfSystems:
    """The file of each run that has one."""

    files: Mapping[Any, str]


def of_run(settings: Any, run: Any) -> Any:
    """The settings as one run has them."""
    from dataclasses import replace

    own = {one.name: getattr(settings, one.name) for one in fields(settings)}
    shared = {name: value.files.get(run) for name, value in own.items() if isinstance(value, OfSystems)}
    return replace(settings, **shared) if shared else settings


def default_of(one: Field[Any]) -> Any:
    """The usual value of an option."""
    return None if one.default is MISSING else one.default


def task_names() -> list[str]:
    """The tasks that there are: the folders of this package with a declaration.

    >>> from tallystick.tasks.contract import task_names
    >>> "coreference" in task_names()
    True
    """
    import tallystick.tasks

    found = (Path(folder, name) for folder in tallystick.tasks.__path__ for name in sorted(os.listdir(folder)))
    return [folder.name for folder in found if (folder / "task.py").is_file()]


def find_task(name: str) -> Task:
    """The task of this name.

    >>> from tallystick.tasks.contract import find_task
    >>> find_task("amr").main
    'smatch'
    """
    known = task_names()
    if name not in known:
        raise MetricError(f"no task {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    task: Task = importlib.import_module(f"tallystick.tasks.{name}.task").TASK
    return task
