"""Files that a command writes, checked before its work: that they can be written, and that nothing is lost by it.

An option that names such a file has the type `Output`, which is how it is told from all that a command reads. A file that the
command reads, under whatever option, is not overwritten, and two outputs are two files.
"""

from __future__ import annotations

import importlib
import os
import stat
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import Field, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from tallystick.cli.main import formats, say
from tallystick.errors import InputError, MetricError
from tallystick.frozen import frozen
from tallystick.show.tables import UNCERTAINTIES
from tallystick.tasks.contract import Option, Task, Use, default_of, flag, option_of, refuse_empty

if TYPE_CHECKING:
    from tallystick.show.tables import Style

BESIDE = (".ann", ".txt")
"""What is read of a folder in brat's format; a .ann file is read together with the .txt file beside it."""


class TaskCommand(click.Command):
    """A command that says which of its options were given several times, where only the last one counts, and takes other words for
    what figures are by."""

    also_by: Mapping[str, tuple[str, str | None]] = {}

    def _commands_with(self, option: str, ctx: click.Context) -> Iterator[str]:
        """The commands of the same task that have an option."""
        program = ctx.find_root().command
        if not isinstance(program, click.Group):
            return
        for name in ("score", "explain", "compare", "suggest"):
            group = program.get_command(ctx, name)
            if isinstance(group, click.Group) and self.name in group.list_commands(ctx):
                found = group.get_command(ctx, self.name or "")
                if found is not None and any(option in one.opts for one in found.params):
                    yield f"`tallystick {name} {self.name}`"

    @classmethod
    def of(cls, task: Task, **given: Any) -> TaskCommand:
        """The command of a task."""
        command = cls(task.name, **given)
        command.also_by = task.also_by
        return command

    def _refuse_empty(self, ctx: click.Context) -> None:
        for one in self.params:
            if isinstance(one, click.Argument):
                refuse_empty(one.human_readable_name, ctx.params.get(one.name or ""), "FILE", "- is standard input")
            elif isinstance(one, click.Option) and one.default != "":
                refuse_empty(one.opts[0], ctx.params.get(one.name or ""), one.metavar or "", one.help or "")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            left = super().parse_args(ctx, list(args))
        except click.NoSuchOption as error:
            others = list(self._commands_with(error.option_name, ctx))
            have = f"{' and '.join(others)} {'has' if len(others) == 1 else 'have'} it"
            raise click.UsageError(f"No such option {error.option_name!r}; {have}.", ctx) if others else error from None
        if len(args) > 3:
            given = self.make_parser(ctx).parse_args(list(args))[2]
            single = [
                one for one in given if isinstance(one, click.Option) and not (one.multiple or one.is_flag or one.count)
            ]
            for one in dict.fromkeys(one for one in single if single.count(one) > 1):
                say(f"Warning: {one.opts[0]} was given {single.count(one)} times; only the last one counts")
        self._refuse_empty(ctx)
        if ctx.params.get("by") in self.also_by:
            ctx.params["by"], label = self.also_by[ctx.params["by"]]
            ctx.params["label"] = ctx.params.get("label") or label
        return left


class Output(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """The name of a file that is written; `check` (MODULE:FUNCTION) says whether such a file can be made."""

    name = "file"

    def __init__(self, check: str = "") -> None:
        self.check = check

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("expected the name of a file, found nothing", param, ctx)
        if value == "-":
            self.fail(
                "- is standard input, which cannot be written; /dev/stdout is standard output, ./- a file", param, ctx
            )
        return value

    def check_name(self, value: str) -> None:
        """Whether a file of this name can be made, before the work that it is to hold."""
        if self.check:
            module, function = self.check.split(":")
            getattr(importlib.import_module(module), function)(value)


PICTURE = Output("tallystick.show.pictures:check_picture_name")
TALLIES = Output("tallystick.results.tables:check_tallies_name")
FILE = Output()

Written = tuple[str, str]
"""An option and the file that it names."""


def check_outputs() -> None:
    """Every file that the command at hand is to write."""
    from tallystick.files.writing import check_place

    context = click.get_current_context()
    written: list[Written] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if isinstance(parameter.type, Output) and value is not None:
            parameter.type.check_name(value)
            check_place(value)
            written.append((_called(parameter), value))
    refuse_overwriting(written)


def refuse_overwriting(written: Sequence[Written]) -> None:
    """What is read is not overwritten, and two outputs are two files."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    places: dict[str, Written] = {}
    for option, name in written:
        if _is_stream(name):
            continue
        place = os.path.realpath(name)
        if place in places:
            raise MetricError(f"{places[place][0]} and {option} would be one file, {name}; give them different names")
        places[place] = option, name
    for parameter in context.command.params:
        if not isinstance(parameter.type, Output):
            for place in _places_read(context.params.get(parameter.name or "")) if places else ():
                for target, (option, name) in places.items():
                    if target == place or _is_read_of(place, target):
                        raise MetricError(
                            f"{option} would overwrite {name}, which is read as {_called(parameter)}; give it another name"
                        )


def _called(parameter: click.Parameter) -> str:
    """What the user calls it: --report, REFERENCE."""
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else str(parameter.name).upper()


def _is_stream(name: str) -> bool:
    """A device or a pipe is written to, and nothing in it is lost."""
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def _places_read(value: Any) -> Iterator[str]:
    """The files that exist of those that a value may name: NAME=FILE,FILE, @FILE, embedding:FILE, file.py:Type."""
    for text in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(text, str):
            continue
        whole = [text, text.partition("=")[2], text.partition(":")[2], text.rpartition(":")[0], text.removeprefix("@")]
        names = {name for one in whole for name in (one, *one.split(","))}
        for name in names - {""}:
            name = "/dev/stdin" if name == "-" else name
            if "\0" not in name and os.path.exists(name):
                yield os.path.realpath(name)


def _is_read_of(place: str, target: str) -> bool:
    """Whether what is read there includes a file: of a folder its annotations and texts, beside an annotation its text."""
    if os.path.isdir(place):
        return target.endswith(BESIDE) and Path(place) in Path(target).parents
    return place.endswith(".ann") and target == f"{place.removesuffix('.ann')}.txt"


# The options of commands: those that a task declares, and those that every task has.
#
# A task's settings are a dataclass; each of its fields becomes an option of click's, by its type, default and metadata
# (`tasks/contract.py`). The options of every `score` command are gathered in two values, `Common` and `Engine`.

UNITS = {"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "G": 1 << 30, "GB": 1 << 30}


class Number(click.FloatRange):
    """A number; NaN, which is in no range and outside of none, is not one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """A number of bytes, such as 64MB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        number = value.rstrip("BKMGbkmg")
        unit = UNITS.get(value[len(number) :].upper())
        try:
            size = int(float(number) * unit) if unit is not None else 0
        except (ValueError, OverflowError):
            size = 0
        if size < 1:
            self.fail(f"expected a size such as 500KB or 64MB, found {value!r}", param, ctx)
        return size


# The options that a task declares


def task_options(task: Task, use: Use) -> list[click.Option]:
    """The options of one use, in the order of their fields."""
    kinds = typing.get_type_hints(task.Settings)
    return [_option(one, kinds[one.name]) for one in task.options(use)]


def _option(one: Field[Any], kind: Any) -> click.Option:
    about, default = option_of(one), default_of(one)
    declared = [*(about.names or (flag(one),)), one.name]
    if kind is bool:
        switch = "/" in declared[0]
        return click.Option(
            declared, is_flag=True, default=default, help=about.help, show_default=False if switch else None
        )
    several = typing.get_origin(kind) is tuple
    more: dict[str, Any] = {"multiple": True} if several else {"default": default}
    if about.metavar:
        more["metavar"] = about.metavar
    shown = about.show_default and not several and default not in (None, "")
    return click.Option(declared, type=_type(about, kind), help=about.help, show_default=shown, **more)


def _type(about: Option, kind: Any) -> Any:
    inside = typing.get_args(kind)
    listed = about.choices or next(
        (typing.get_args(one) for one in (kind, *inside) if typing.get_origin(one) is Literal), ()
    )
    if listed:
        return click.Choice(list(listed), case_sensitive=not listed[0].isupper())
    if about.writes:
        return FILE
    plain = {part for part in (*inside, kind) if part in (int, float, str)}
    least = about.least if about.above is None else about.above
    if int in plain:
        low, high = (None if one is None else int(one) for one in (least, about.most))
        return int if low is None and high is None else click.IntRange(low, high)
    if float in plain:
        return Number(least, about.most, min_open=about.above is not None)
    return str


def settings_of(task: Task, given: dict[str, Any]) -> Any:
    """The task's settings out of all that was given to a command; what is not there has its usual value."""
    found = {one.name: given.pop(one.name) for one in fields(task.Settings) if one.name in given}
    return task.Settings(**{name: tuple(value) if isinstance(value, list) else value for name, value in found.items()})


# The options that every `score` command has


@frozen
class Common:
    """What is shown, and where."""

    format_: str | None = None
    by: str | None = None
    label: str | None = None
    macro: bool = False
    undefined: str | None = None
    fail_under: tuple[str, ...] = ()
    limit: int | None = None
    report: str | None = None
    report_documents: int = 200
    tallies: str | None = None
    document: str | None = None
    save: str | None = None
    baseline: str | None = None
    junit: str | None = None
    intervals: bool = False
    slice: str | None = None
    drawn: str | None = None
    """--unit, of tasks that have no units of their own."""
    groups: str | None = None
    resamples: int = 10_000
    training: tuple[str, ...] = ()
    """--train, of figures by `seen` and `frequency`."""
    differences: bool = False
    """--errors, unless a task has an option of that name."""
    picture: str | None = None
    layout: Layout = field(default_factory=lambda: Layout())

    @property
    def gated(self) -> bool:
        """Whether a figure may fail the command."""
        return bool(self.fail_under or self.baseline)

    @property
    def wants_rows(self) -> bool:
        """Whether the documents' own tallies are looked at, so that they have to be kept."""
        asked = (self.report, self.tallies, self.document, self.picture)
        return self.by == "document" or self.wants_parts or any(one is not None for one in asked)

    @property
    def wants_parts(self) -> bool:
        """Whether fields or labels are looked at document by document, so that the documents have to be kept."""
        return (
            self.intervals
            or self.groups is not None
            or any(one is not None for one in (self.save, self.baseline, self.slice))
        )

    def policy(self, default: float | None = None) -> float | None:
        """What a figure is where it is 0/0."""
        return default if self.undefined is None else None if self.undefined == "none" else float(self.undefined)


@frozen
class Layout:
    """How tables are written."""

    columns: Mapping[str, str] | None = None
    digits: int | None = None
    percent: bool | None = None
    uncertainty: Any = None
    caption: str = ""
    ranks: bool = True

    def check(self, format_: str) -> None:
        """Refuse what would have no effect in a format."""
        given = {
            "--columns": self.columns is not None, "--digits": self.digits is not None, "--percent": self.percent is not None,
            "--uncertainty": self.uncertainty is not None, "--no-ranks": not self.ranks, "--caption": bool(self.caption),
        }  # fmt: skip
        idle = {
            "json": set(given),
            "table": {"--caption"},
            "tsv": {"--caption", "--no-ranks"},
            "csv": {"--caption", "--no-ranks"},
        }
        for name in (name for name, is_given in given.items() if is_given and name in idle.get(format_, ())):
            raise MetricError(
                f"{name} changes nothing in the format {format_}; leave it out, or choose another --format"
            )

    @property
    def style(self) -> Style:
        """The style that is asked for."""
        from tallystick.show.tables import Style

        return Style(self.digits, self.percent, self.uncertainty, None, self.ranks, self.caption)


def layout_options(taken: Collection[str] = (), *, columns: str = "figures", ranks: bool = False) -> list[click.Option]:
    """How tables are written, in every format for people."""
    shown = [
        click.Option(
            ["--ranks/--no-ranks"],
            default=True,
            help="Whether ranks stand behind the figures.  [default: ranks]",
            show_default=False,
        )
    ]
    digits = [click.Option(["--digits"], type=click.IntRange(0, 15), help="Decimals.  [default: 4, in percent 2]")]
    return [
        click.Option(["--columns"], callback=_columns, metavar="NAME,...", help=f"Which {columns} the tables show, in this order; NAME=TEXT says what to call one."),
        *(digits if "--digits" not in taken else []),
        click.Option(["--percent/--fractions"], default=None, help="How figures are written.  [default: percent in latex and typst]"),
        click.Option(["--uncertainty"], type=click.Choice(UNCERTAINTIES), help="What stands around a figure: nothing, ± (of several runs their standard deviation, else half the width of the interval), or the interval."),
        *(shown if ranks else []),
        click.Option(["--caption"], default="", metavar="TEXT", help="What the caption of the first table begins with."),
    ]  # fmt: skip


def _columns(context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, str] | None:
    """`precision,f1=F1`: the columns by what to call them."""
    if value is None:
        return None
    named = (part.partition("=") for part in value.split(","))
    return {name.strip(): shown.strip() if equals else name.strip() for name, equals, shown in named}


@frozen
class Engine:
    """How the work is shared out; nothing said, the files are scored as a whole."""

    jobs: int | None = None
    scheduler: str | None = None
    state: str | None = None
    shard: int | None = None

    @property
    def asked(self) -> bool:
        return any(value is not None for value in (self.jobs, self.scheduler, self.state, self.shard))

    def check(self, *files: str | None) -> None:
        """Shards are read from files, each part by itself; standard input is held."""
        from tallystick.files.source import Source

        for file in files:
            if file is not None and file != "-" and Source.of(file).reads_once:
                raise InputError("is a pipe or a device, which cannot be read in shards; give a file, or -", file)


_WRONG = ("where the worst documents differ.", "which label was taken for which, and where the worst documents differ.")


def _has_errors(task: Task) -> bool:
    """Whether --errors is one of the options that every task has, and not one of its own."""
    own = "errors" in {one.name for one in fields(task.Settings)}
    return not own and (task.can_explain or bool(task.kinds))


def _wrong(task: Task) -> str:
    if task.kinds:
        return "the kinds of error, what each figure would be if one kind were repaired, and where the errors are."
    return _WRONG[bool(task.labels)]


def common_options(task: Task) -> list[click.Option]:
    """What every `score` command can be told; of breakdowns only those that the task has."""
    taken = {name for one in fields(task.Settings) for name in (flag(one), *option_of(one).names)}
    rows = [name for name in ("--rows", "--limit") if name not in taken]  # a task may have a time limit of its own
    return [
        click.Option(["--format", "format_"], type=click.Choice(formats()), help="Default: table on a terminal, else tsv."),
        *layout_options(taken),
        click.Option(["--by"], type=click.Choice([*task.breakdowns, "document", *task.all_attributes, *task.also_by]), help=f"Break the figures down{attributes_help(task)}."),
        *label_option(task),
        *train_option(task),
        click.Option(["--document"], metavar="ID", help=f"Only the figures of one {task.unit}: its id, or its number if there are no ids."),
        click.Option(["--macro"], is_flag=True, help="Also print the mean over documents."),
        click.Option(["--undefined"], type=click.Choice(["none", "0", "1"]), help="The value of a figure that is 0/0."),
        click.Option(["--fail-under"], multiple=True, metavar="FIGURE=VALUE", help="Exit with 1 if a figure is worse, e.g. f1=0.9; for a field or label lines[*].price.f1=0.9; for the share of invalid answers invalid=0.02."),
        click.Option(["--intervals"], is_flag=True, help="Also print a 95 % confidence interval of each figure, overall and by label, field or attribute."),
        *drawing_options(task),
        click.Option(["--slice"], metavar="FIELD|FILE:COLUMN", help="Also print the figures for groups of documents, by a field of the reference or by a column of a file with document ids (.csv, .tsv, .jsonl, .parquet), and which groups differ from the rest."),
        click.Option(["--baseline"], metavar="FILE.json", help="Exit with 1 if a figure, overall or for a field or label, is significantly worse than in a result that --save has written."),
        click.Option(["--save"], type=FILE, metavar="FILE.json", help="Also write the result with the sums of its documents, for --baseline and history."),
        click.Option(["--junit"], type=FILE, metavar="FILE.xml", help="Also write the outcome of --fail-under and --baseline as JUnit test cases."),
        *([click.Option(["--errors", "differences"], is_flag=True, help=f"Also show what went wrong: {_wrong(task)}")] if _has_errors(task) else []),
        click.Option([*rows, "limit"], type=click.IntRange(1), help="How many rows of --by document and --errors to show."),
        click.Option(["--report"], type=FILE, metavar="FILE.html",
                     help="Also write an HTML report with confidence intervals: one file that works offline."),
        click.Option(["--report-documents"], type=click.IntRange(0), default=200, show_default=True, metavar="N",
                     help="How many documents of the report have their alignment, the worst first."),
        click.Option(["--picture"], type=PICTURE, metavar="FILE", help="Also draw the figures with their intervals: .svg, .png or .pdf (needs matplotlib)."),
        click.Option(["--tallies"], type=TALLIES, metavar="FILE", help="Also write a row of sums and figures for each document: .parquet, .csv, ..."),
        click.Option(["--jobs"], type=click.IntRange(1), metavar="N", help="Score in shards, with N processes; the work of a killed process is repeated."),
        click.Option(["--scheduler"], metavar="ADDRESS", help="Score in shards, on the workers of a Dask scheduler."),
        click.Option(["--state"], metavar="DIR", help="Score in shards and keep the finished ones, so that a killed run can resume."),
        click.Option(["--shard"], type=Size(), metavar="SIZE", help="Score in shards of about this size of REFERENCE, in bounded memory.  [default with the three options above: up to 4MB, for CoNLL 32MB]"),
    ]  # fmt: skip


def label_option(task: Task) -> list[click.Option]:
    """Which label is meant, where there are several."""
    if task.label_help:
        return [click.Option(["--label"], metavar="PATH", help=task.label_help)]
    if len(task.labels) < 2:
        return []
    usual = f"  [default: {task.label}]" if task.label else ""
    return [
        click.Option(["--label"], type=click.Choice(list(task.labels)), help=f"With --by label: which label.{usual}")
    ]


def drawing_options(task: Task) -> list[click.Option]:
    """What is drawn for intervals and tests, and how often."""
    own = any(flag(one) == "--unit" for one in fields(task.Settings))
    unit = click.Option(
        ["--unit", "drawn"],
        type=click.Choice(["document", "group"]),
        help=f"What is drawn for intervals and tests: {task.unit}s, or --groups of them.",
    )
    return [
        *([] if own else [unit]),
        click.Option(["--groups"], metavar="FIELD|FILE:COLUMN", help=f"Which {task.unit}s are drawn together for intervals and tests, such as those of one patient: by a field of the reference, or a column of a file by document id."),
        click.Option(["--resamples"], type=click.IntRange(1), default=10_000, show_default=True, help="How often they are drawn again."),
    ]  # fmt: skip


def groups_given(groups: str | None, drawn: str | None, settings: Any) -> str | None:
    """What documents are drawn by together; --unit has to say the same."""
    unit = getattr(settings, "unit", None) or drawn or "auto"
    if unit == "group" and groups is None:
        raise MetricError(
            "--unit group: say which documents belong together, with --groups FIELD or --groups FILE.csv:COLUMN"
        )
    if groups is not None and unit not in ("group", "auto"):
        raise MetricError(f"--unit {unit} and --groups both say what is drawn; leave one of them out")
    return groups


def attributes_help(task: Task) -> str:
    """What the attributes of items are, for the help of --by."""
    return "".join(f"; {name}: {what}" for name, what in task.all_attributes.items())


def train_option(task: Task) -> list[click.Option]:
    """The training data of figures by `seen` and `frequency`, unless the task has training data of its own."""
    if not task.keys or any(flag(one) == "--train" for one in fields(task.Settings)):
        return []
    says = "With --by seen or frequency: training data, in the format of REFERENCE; may be repeated."
    return [click.Option(["--train", "training"], multiple=True, metavar="FILE", help=says)]


def training_of(training: Sequence[str], settings: Any, by: str | None) -> tuple[str, ...] | None:
    """The training files that figures by `seen` and `frequency` are about; None where figures are by something else."""
    from tallystick.files.source import require_file
    from tallystick.tasks.attributes import TRAINED, needs_training

    if by not in TRAINED:
        if training:
            raise MetricError(f"--train is for --by {' and --by '.join(TRAINED)}; give one of them")
        return None
    found = (*training, *(getattr(settings, "train", None) or ()))
    if not found:
        raise needs_training(by)
    for one in found:
        require_file(one)
    return found


def metric_option(task: Task) -> list[click.Option]:
    """Which of a task's named metrics are printed."""
    if not task.named_metrics:
        return []
    return [
        click.Option(["--metric", "metrics"], multiple=True, metavar="NAME", help="Only this metric; may be repeated.")
    ]


def file_arguments(task: Task, *, systems: bool = False) -> list[click.Parameter]:
    """The files, reference first."""
    reference = click.Argument(["reference"])
    if systems:
        return [reference, click.Argument(["systems"], nargs=-1, required=True, callback=once)]
    predicted = click.Argument(["predicted"], required=not task.together, callback=once)
    both = [click.Option(["--together"], is_flag=True, help=task.together)] if task.together else []
    return [reference, predicted, *both]


def once(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Standard input can be read only once, so it can stand for one file only."""
    if _times_stdin(context.params.get("reference")) + _times_stdin(value) > 1:
        raise click.UsageError("only one file can be standard input (-); give the other as a file", context)
    return value


def take(kind: type, given: dict[str, Any]) -> Any:
    """A value of `Common` or `Engine` out of all that was given to a command."""
    return kind(**{one.name: given.pop(one.name) for one in fields(kind) if one.name in given})


# What is found out before the work


def refuse_without_effect(task: Task, common: Common, settings: Any) -> None:
    """Options that would have no effect beside the others."""
    if common.label is not None and common.by != "label":
        raise MetricError("--label says which label --by label is about; give both")
    lists = {"--errors": common.differences} if _has_errors(task) else {}
    lists |= {flag(one): getattr(settings, one.name) for one in fields(settings) if option_of(one).in_rows}
    also = f" (or of {' and '.join(lists)})" if lists else ""
    if common.limit is not None and common.by != "document" and not any(lists.values()):
        raise MetricError(f"--rows says how many rows of --by document{also} are shown; give both")
    if common.document is not None:
        _refuse_beside_document(task, common, settings)
    resampled = {
        "--intervals": common.intervals,
        "--slice": common.slice,
        "--baseline": common.baseline,
        "--report": common.report,
    }
    for name in ("groups", "resamples"):
        if was_given(name) and not any(resampled.values()):
            raise MetricError(
                f"--{name} changes nothing without {', '.join(resampled)}, which draw {task.unit}s; give one of them"
            )
    if common.junit and not common.gated:
        raise MetricError("--junit writes what --fail-under and --baseline find; give one of these, too")
    if common.report is None and was_given("report_documents"):
        raise MetricError("--report-documents says how many documents of --report carry their alignment; give both")


def _refuse_beside_document(task: Task, common: Common, settings: Any) -> None:
    given = {
        f"--by {common.by}": common.by not in (None, "document"),
        "--report": common.report is not None,
        "--errors": common.differences,
    }
    given |= {f"--{name}": getattr(common, name) for name in ("save", "baseline", "intervals", "slice")}
    given |= {flag(one): getattr(settings, one.name) != default_of(one) for one in task.options("score")}
    for name in (name for name, is_given in given.items() if is_given):
        raise MetricError(
            f"--document has the figures of one {task.unit}, and {name} is about all of them; leave one of the two out, or "
            f"look at the {task.unit} with explain --document"
        )


def was_given(name: str) -> bool:
    """Whether an option was said on the command line."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source(name) if context is not None else None
    return source is not None and source.name != "DEFAULT"


def check_before(read: Any = None) -> None:
    """What costs nothing to find out before the work: that files can be written where they are asked for, and that the second
    file is there before the first is read."""

    from tallystick.files.source import require_file

    check_outputs()
    _read_stdin_once()
    if isinstance(read, str):
        require_file(read)


def _read_stdin_once() -> None:
    """That standard input stands for one file only, among the options too."""
    context = click.get_current_context()
    read = [one for one in context.command.params if isinstance(one, click.Argument) or "FILE" in str(one.metavar)]
    if sum(_times_stdin(context.params.get(one.name or "")) for one in read) > 1:
        raise MetricError("only one file can be standard input (-); give the others as files")


def _times_stdin(value: Any) -> int:
    """How often standard input stands in FILE, NAME=FILE,FILE or several of these."""
    texts = value if isinstance(value, tuple) else (value,)
    return sum(file == "-" for text in texts for file in str(text).rpartition("=")[2].split(","))


Command = TypeVar("Command", bound=Callable[..., Any])


def together(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    """The command with these options, in the order in which its help lists them: of decorators the last one is the first."""
    for option in reversed(options):
        command = option(command)
    return command
