"""What every `score` command shares: options, formats and progress.

Results go to standard output: a table on a terminal, TSV in a pipe, or as --format says. Warnings, signatures
and progress go to standard error.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tallystick.cli.gates import check_gates, gates
from tallystick.cli.options import together
from tallystick.cli.outputs import FILE, TALLIES, check_outputs
from tallystick.cli.sharded import Engine, engine_options, score_in_shards
from tallystick.cli.tasks import task
from tallystick.cli.written import write_files
from tallystick.errors import InputError, MetricError
from tallystick.show.tables import WRITERS

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("table", "json", *WRITERS)


def files(command: Command) -> Command:
    """The two files, reference first."""
    command = click.argument("predicted", callback=once)(command)
    return click.argument("reference")(command)


def once(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Standard input can be read only once, so it can stand for one file only."""
    if _times_stdin(context.params.get("reference")) + _times_stdin(value) > 1:
        raise click.UsageError("only one file can be standard input (-); give the other as a file", context)
    return value


@dataclass(frozen=True)
class Common:
    """The options that every `score` command has."""

    format_: str | None
    by: str | None
    macro: bool
    undefined: str | None
    fail_under: tuple[str, ...]
    limit: int | None
    report: str | None
    report_documents: int
    tallies: str | None

    @property
    def wants_rows(self) -> bool:
        """Whether the documents' own tallies are looked at, so that they have to be kept."""
        return self.by == "document" or self.report is not None or self.tallies is not None

    def policy(self, default: float | None = None) -> float | None:
        """What a figure is where it is 0/0."""
        return default if self.undefined is None else None if self.undefined == "none" else float(self.undefined)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options that every task has, as one argument `common`."""
    names = [field.name for field in fields(Common)]
    taken = {option for parameter in getattr(command, "__click_params__", ()) for option in parameter.opts}
    rows = [name for name in ("--rows", "--limit") if name not in taken]  # a task may have a time limit of its own

    own_engine = "engine" in inspect.signature(command).parameters

    @wraps(command)
    def packed(**options: Any) -> Any:
        common = Common(**{name: options.pop(name) for name in names})
        gates(common.fail_under)  # a misspelt gate is said before the work, not after it
        mine = task(command.__module__.removesuffix(".task").rpartition(".")[2])
        mine.check_breakdown(common.by)  # some tasks have no labels or fields
        if options.get("label") is not None and common.by != "label":
            raise MetricError("--label says which label --by label is about; give both")
        refuse_idle(common, options)
        check_before(read=options.get("predicted"))
        engine = Engine(**{one.name: options.pop(one.name) for one in fields(Engine)})
        if engine.asked:
            engine.check(options.get("reference"), options.get("predicted"))
        if own_engine:
            options["engine"] = engine
        elif engine.asked:
            return score_in_shards(mine, common, engine, options)
        return command(common=common, **options)

    options = [
        click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv."),
        click.option("--by", type=click.Choice(["label", "document", "field"]), help="Break the figures down."),
        click.option("--macro", is_flag=True, help="Also print the mean over documents."),
        click.option("--undefined", type=click.Choice(["none", "0", "1"]), help="What a figure is where it is 0/0."),
        click.option(
            "--fail-under", multiple=True, metavar="FIGURE=VALUE", help="Exit with 1 if a figure is worse, e.g. f1=0.9."
        ),
        click.option(*rows, "limit", type=click.IntRange(1), help="How many rows of --by document are shown."),
        click.option(
            "--report",
            type=FILE,
            metavar="FILE.html",
            help="Also write a report to look at, with confidence intervals (which `compare` prints): one file that works offline.",
        ),
        click.option(
            "--report-documents",
            type=click.IntRange(0),
            default=200,
            show_default=True,
            metavar="N",
            help="How many documents of the report carry their alignment, the worst first.",
        ),
        click.option(
            "--tallies",
            type=TALLIES,
            metavar="FILE",
            help="Also write a row of sums and figures for each document: .parquet, .csv, ...",
        ),
        *engine_options(),
    ]
    return together(packed, options)


def refuse_idle(common: Common, options: Mapping[str, Any]) -> None:
    """Options that would have no effect beside the others."""
    lists = " (or of --errors and --repairs)" if "repairs" in options else ""
    listed = bool(lists) and (options["errors"] or options["repairs"])
    if common.limit is not None and common.by != "document" and not listed:
        raise MetricError(f"--rows says how many rows of --by document{lists} are shown; give both")
    if common.report is None and _given("report_documents"):
        raise MetricError("--report-documents says how many documents of --report carry their alignment; give both")


def _given(name: str) -> bool:
    """Whether an option was said on the command line."""
    context = click.get_current_context(silent=True)
    source = context.get_parameter_source(name) if context is not None else None
    return source is not None and source.name != "DEFAULT"


def check_before(read: Any = None) -> None:
    """What costs nothing to find out before the work: that files can be written where they are asked for, and that the second
    file is there before the first is read."""
    check_outputs()
    _read_stdin_once()
    if isinstance(read, str) and read != "-" and "\0" not in read and not os.path.lexists(read):
        raise InputError("no such file", read)


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


def metric_option(command: Command) -> Command:
    """Which of a task's named metrics are printed."""
    return click.option(
        "--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated."
    )(command)


def chosen_format(format_: str | None) -> str:
    """Table for a person, TSV for a pipe."""
    return format_ or ("table" if sys.stdout.isatty() else "tsv")


def show_tables(tables: Sequence[Table], format_: str | None, signatures: Sequence[str] = ()) -> None:
    """Tables on standard output; with the signatures as comments, where a format has them, since they are pasted elsewhere."""
    from tallystick.show.tables import to_rich

    kind = chosen_format(format_)
    writer = WRITERS.get(kind)
    if writer is not None and writer.comment is not None:
        for signature in signatures:
            click.echo(writer.comment(signature))
    for k, table in enumerate(tables):
        if k:
            click.echo()
        if writer is None:
            show_on_terminal(to_rich(table, terminal_width()), table.notes)
        else:
            click.echo(writer.write(table))


def terminal_width() -> int:
    """How many columns there are; what is written to a file has room."""
    import shutil

    return shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else 160


def show_on_terminal(renderable: Any, notes: Sequence[str] = ()) -> None:
    """Something of rich's on standard output."""
    from tallystick.cli.console import standard_output

    console = standard_output()
    console.print(renderable)
    for note in notes:
        console.print(note, markup=False, style="dim")


def finish(
    results: Mapping[str, Result],
    common: Common,
    *,
    tables: Sequence[Table] = (),
    extra: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    truncated: bool = False,
    title: str = "Evaluation",
    report: Callable[[], Parts] | None = None,
    extend: Callable[[Table], Table] | None = None,
) -> None:
    """The end of every `score` command: the figures (which a task may `extend` by columns of its own) and the task's own tables
    in the chosen format, what is to be said about them on standard error, the gates, and the report with what the task adds to
    it (asked for only if there is one)."""
    from tallystick.engine.tally import Labelled
    from tallystick.errors import counted
    from tallystick.results import tables as reports
    from tallystick.results.result import shared_signatures
    from tallystick.results.tables import results_to_json

    if common.undefined is not None:
        results = {name: result.changed(undefined=common.policy()) for name, result in results.items()}
    figures = reports.figures_table(results, macro=common.macro, truncated=truncated)
    shown = [extend(figures) if extend is not None else figures]
    extra = dict(extra or {})
    if common.by == "document":
        shown.append(reports.documents_table(results, common.limit))
        extra["documents_by_id"] = {name: by_text(result.documents) for name, result in results.items()}
    if common.macro and any(
        isinstance(result.kind, Labelled) for result in results.values()
    ):  # whose macro is over labels
        extra["over_documents"] = {name: result.over_documents for name, result in results.items()}
    written = write_files(results, common, tables=tables, title=title, report=report)
    if chosen_format(common.format_) == "json":
        click.echo(results_to_json(results, extra=extra))
    else:
        signatures = [f"{names} | {rest}" for names, rest in shared_signatures(results).items()]
        show_tables([*shown, *tables], common.format_, signatures)
        first = next(iter(results.values()))
        say(", ".join([counted(first.count, "document"), *notes]))
        for signature in signatures:
            say(f"signature: {signature}")
        for warning in dict.fromkeys(w for result in results.values() for w in result.warnings):
            say(f"Warning: {warning}")
    for line in written:
        say(line)
    check_gates(results, common.fail_under)


def by_text(documents: Mapping[Any, Any]) -> dict[str, Any]:
    """Documents under their ids as text, which is all that a key of JSON can be. Ids that would be one text, such as 1 and "1",
    are written as JSON, so that "1" keeps its quotation marks."""
    import json
    from collections import Counter

    texts = Counter(map(str, documents))
    return {
        str(key) if texts[str(key)] == 1 else json.dumps(key, ensure_ascii=False, default=str): found
        for key, found in documents.items()
    }


def versus(predicted: str, reference: str) -> str:
    """The title of a report: the files by their names."""
    from pathlib import Path

    from tallystick.cli.lazy import printable

    return printable(f"{Path(predicted).name} against {Path(reference).name}")


def say(message: str) -> None:
    """A line on standard error."""
    click.echo(message, err=True)


@contextmanager
def progress(label: str, unit: str = "") -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error, if that is a terminal; it only shows on work that takes longer than a second. With the unit
    "bytes" it counts in megabytes."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    started = time.monotonic()
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and time.monotonic() - started > 1:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )  # fmt: skip

            counted = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
            bar = Progress(
                TextColumn(label), BarColumn(), counted, TimeRemainingColumn(),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            bar.start()
            bar.add_task(label, total=total)
        if bar is not None:
            bar.update(bar.tasks[0].id, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
