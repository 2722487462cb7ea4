"""`tallystick`: the groups of commands, loaded only when a command runs; errors without tracebacks; and what all commands print. Results go to
standard output (a table on a terminal, TSV in a pipe, or as --format says), warnings, signatures and progress to standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tallystick.errors import InputError, TallystickError, did_you_mean
from tallystick.version import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from tallystick.results.explanation import Explanation
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import Style, Table

INTERRUPTED = 130
"""The exit code after Ctrl-C, as of a shell: 128 and the number of the signal."""
CLOSED_PIPE = 141
STYLES = {"-": "red", "+": "yellow", "≠": "magenta", "=": "green"}


class LazyGroup(click.Group):
    """A group that knows its commands by name, module and one line of help."""

    def __init__(
        self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, tasks: Callable[[str], click.Command] | None = None,
        needs: str = "", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}
        self.tasks, self.needs = tasks, needs
        """What makes the command of a task, in groups that have one for each; and what a task has to have for it: `can_explain`."""

    def _tasks(self) -> list[str]:
        if self.tasks is None:
            return []
        from tallystick.tasks.contract import find_task, task_names

        return [name for name in task_names() if not self.needs or getattr(find_task(name), self.needs)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.lazy, *self._tasks()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if self.tasks is not None and cmd_name in self._tasks():
            return self.tasks(cmd_name)
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute, None)
        if command is None:
            raise click.UsageError(f"{cmd_name} has no `{attribute}`", ctx)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, _summary(name)) for name in self._tasks()]
        rows += [(name, entry[1]) for name, entry in self.lazy.items()]
        rows += [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if self.needs and args[0] not in self._tasks():
                from tallystick.tasks.contract import find_task, task_names

                if args[0] in task_names():
                    able = f"{args[0]} has no choices to suggest; {' and '.join(self._tasks())} have"
                    instead = find_task(args[0]).instead_of_explain if self.needs == "can_explain" else able
                    raise click.UsageError(instead, ctx) from None
            hint = did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message.rstrip('.')}.{hint}", ctx) from None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run, and leave with an exit code: whatever goes wrong is one line, never a traceback."""
        sys.exit(self.run(list(sys.argv[1:] if args is None else args), prog_name or "tallystick"))

    def _hint(self, error: TallystickError, arguments: list[str]) -> str:
        """A file that cannot be read may be one for another task."""
        if not isinstance(error, InputError) or error.place is None:
            return ""
        from tallystick.cli.about import hint

        return hint(error.place.file, arguments)

    def run(self, arguments: list[str], name: str) -> int:
        """Run a command; the exit code."""
        try:
            self._main_shell_completion({}, name)
            with self.make_context(name, arguments) as context:
                self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as error:
            return error.exit_code
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except TallystickError as error:
            click.echo(f"Error: {printable(str(error) + self._hint(error, arguments))}", err=True)
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            abandon_output()
            click.echo("Interrupted", err=True)
            return INTERRUPTED
        except BrokenPipeError:  # the reader has gone; there is nobody to complain to
            abandon_output()
            return CLOSED_PIPE
        except Exception as error:
            if os.environ.get("TALLYSTICK_DEBUG"):
                raise
            abandon_output()
            message, code = unexpected(error)
            click.echo(printable(message), err=True)
            return code
        return 0


def _summary(task: str) -> str:
    from tallystick.tasks.contract import find_task

    return find_task(task).summary


def unexpected(error: Exception) -> tuple[str, int]:
    """What to say of an exception that is not the project's own, and the exit code."""
    if isinstance(error.__cause__, KeyboardInterrupt):  # before 3.12 Python wraps it while a class is being made
        return "Interrupted", INTERRUPTED
    if isinstance(error, MemoryError):
        return (
            f"Error: there is not enough memory for this ({error or 'MemoryError'}); score fewer or smaller documents",
            2,
        )
    if isinstance(error, RecursionError):
        return "Error: something in the input is nested too deeply; a few hundred levels can be read", 2
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename is not None else "output: "
        return f"Error: {where}cannot be read or written ({error.strerror})", 2
    name = f"{type(error).__name__}: {error}"
    return f"Internal error: {name}\nSet TALLYSTICK_DEBUG=1 for the traceback; please report it.", 70


def printable(message: str) -> str:
    """A message as the terminal can take it; a name may hold what no encoding has."""
    return message.encode("utf-8", "backslashreplace").decode()


def abandon_output() -> None:
    """What is still in the buffer of standard output goes nowhere, or Python complains at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# Standard output and standard error


def formats() -> tuple[str, ...]:
    """What --format may say."""
    from tallystick.show.tables import WRITERS

    return ("table", "json", *WRITERS)


def chosen_format(format_: str | None) -> str:
    """Table for a person, TSV for a pipe."""
    return format_ or ("table" if sys.stdout.isatty() else "tsv")


def show_tables(
    tables: Sequence[Table], format_: str | None, signatures: Sequence[str] = (), comments: Sequence[str] = (),
    style: Style | None = None,
) -> None:  # fmt: skip
    """Tables on standard output; in a paper the first has the signatures in its caption, and comments before it."""
    from tallystick.show.tables import PLAIN, WRITERS, to_rich

    style = style or PLAIN
    writer = WRITERS.get(chosen_format(format_))
    for k, table in enumerate(tables if writer is None else writer.arranged(tables)):
        if k:
            click.echo()
        if writer is None:
            show_on_terminal(to_rich(table, terminal_width(), style), style.notes(table.notes))
        else:
            first = k == 0
            usual = style if first else replace(style, caption="")
            click.echo(writer.write(table, usual, signatures if first else (), comments if first else ()))


def terminal_width() -> int:
    """How many columns there are; what is written to a file has room."""
    import shutil

    return shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else 160


def show_on_terminal(renderable: Any, notes: Sequence[str] = ()) -> None:
    """Something of rich's on standard output."""
    console = standard_output()
    console.print(renderable, crop=False)
    for note in notes:
        console.print(note, markup=False, style="dim")


def standard_output(width: int = 160) -> Console:
    """Standard output for what rich draws: as wide as the terminal, or `width` in a file; NO_COLOR is honoured."""
    from rich.console import Console

    class Output(Console):
        """A console that leaves it to the command line to end when the reader has gone."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Output(highlight=False)
    return console if console.is_terminal else Output(highlight=False, width=width)


def save_picture(picture: Picture, name: str) -> list[str]:
    """Write a picture; what is to be said about it."""
    import warnings

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        picture.save(name)
    return [*(f"Warning: {name}: {one.message}" for one in heard), f"picture: {name}"]


def say(message: str) -> None:
    """A line on standard error."""
    click.echo(message, err=True)


@contextlib.contextmanager
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


def show_explanation(explanation: Explanation, title: str, format_: str | None) -> None:
    """The end of every `explain`: JSON, or a tree."""
    if format_ == "json":
        from tallystick.files.writing import to_json

        click.echo(to_json(explanation.as_dict()))
    else:
        show_tree(explanation, title)


def show_tree(explanation: Explanation, title: str) -> None:
    """Green is right, red is missed, yellow is spurious, magenta is in part right or wrong."""
    from rich.text import Text
    from rich.tree import Tree

    from tallystick.results.tables import explanation_line, explanation_parts

    def grow(node: Explanation, into: Tree) -> None:
        for child in explanation_parts(node):
            line = explanation_line(child)
            grow(child, into.add(Text(line, style=STYLES.get(line[0], ""))))

    tree = Tree(Text(f"{title}: {explanation_line(explanation).partition(': ')[2]}", style="bold"))
    grow(explanation, tree)
    show_on_terminal(tree)


# `tallystick`: the command line.


def _score(task: str) -> click.Command:
    from tallystick.cli.score import score_command

    return score_command(task)


def _explain(task: str) -> click.Command:
    from tallystick.cli.score import explain_command

    return explain_command(task)


def _suggest(task: str) -> click.Command:
    from tallystick.cli.score import suggest_command

    return suggest_command(task)


COMMANDS = {
    "compare": ("tallystick.cli.compare:compare", "Compare several systems, with intervals and significance."),
    "leaderboard": (
        "tallystick.cli.leaderboard:leaderboard",
        "All systems of a shared task under all metrics, on one page.",
    ),
    "cite": ("tallystick.cli.about:cite", "BibTeX for the metrics of a task or a result."),
    "history": ("tallystick.cli.gates:history", "Show figures of saved results over time."),
    "check": ("tallystick.cli.check:check", "Check what a metric does: identity, symmetry, monotonicity, order, ..."),
}


JUDGING = {
    "export": (
        "tallystick.cli.judge:export",
        "Put what no rule decides into a store; tasks for Label Studio, JSON Lines.",
    ),
    "serve": ("tallystick.cli.judge:serve", "Judge in a page of your browser."),
    "terminal": ("tallystick.cli.judge:terminal", "Judge in the terminal."),
    "import": ("tallystick.cli.judge:import_", "Take judgements from Label Studio or JSON Lines."),
    "ask": ("tallystick.cli.judge:ask", "Ask a language model."),
    "train": ("tallystick.cli.judge:train", "Train a classifier over embeddings on a store's labels."),
    "agreement": ("tallystick.cli.judge:agreement", "Kappa between judges, and where they differ."),
    "judges": ("tallystick.cli.judge:judges", "Who has judged; mark the more experienced."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tallystick")
def tallystick() -> None:
    """Evaluate structured predictions: entities, relations, events, templates, coreference, records.

    \b
    tallystick demo                                     a first look
    tallystick score coreference KEY.conll RESPONSE.conll
    tallystick score spans GOLD.iob SYSTEM.iob
    tallystick score amr GOLD.amr SYSTEM.amr --subscores
    tallystick score records GOLD.jsonl SYSTEM.jsonl
    tallystick score records GOLD.jsonl ANSWERS.jsonl --from output --lenient --errors
    tallystick compare records GOLD.jsonl A=A.jsonl B=B.jsonl --by field
    tallystick explain records GOLD.jsonl SYSTEM.jsonl --document 17
    tallystick check coreference.muc                    what a metric gets wrong

    Reference first, prediction second. Files may be .gz or .zst, those of records and spans .parquet or .arrow,
    and - is standard input. Exit codes: 0 fine, 1 a gate failed
    (--fail-under, --baseline), 2 wrong usage or unreadable input, 3 the two files do not fit together.
    """


@tallystick.group(cls=LazyGroup, tasks=_score)
def score() -> None:
    """Score a prediction against a reference.

    --intervals adds confidence intervals, --errors what went wrong, --report FILE.html a page with all of it.
    """


@tallystick.group(cls=LazyGroup, tasks=_explain, needs="can_explain")
def explain() -> None:
    """Show what was matched with what in one document, and why."""


@tallystick.group(cls=LazyGroup, tasks=_suggest, needs="can_suggest")
def suggest() -> None:
    """Suggest choices that would forgive errors, each with what it would change.

    \b
    tallystick suggest records GOLD.jsonl SYSTEM.jsonl --output choices.yaml
    """


@tallystick.group(cls=LazyGroup, lazy=JUDGING)
def judge() -> None:
    """Let people or models decide what no rule can: does a candidate mean the same as a reference?

    \b
    tallystick judge export GOLD SYSTEM... --store judgements.sqlite --top 500
    tallystick judge serve judgements.sqlite
    tallystick judge agreement judgements.sqlite
    tallystick score arguments GOLD SYSTEM --judge judgements.sqlite
    """


@tallystick.command("list")
@click.argument("what", type=click.Choice(["all", "tasks", "similarities", "formats"]), default="all")
def list_(what: str) -> None:
    """List the tasks, the parts of metrics, and the output formats."""
    from tallystick.cli.about import print_listing

    print_listing(what)


@tallystick.command()
@click.option("--copy", "folder", metavar="FOLDER", help="Copy the example files into a new FOLDER instead.")
def demo(folder: str | None) -> None:
    """Score a small bundled example and show where its score comes from."""
    from tallystick.cli.about import copy_examples, run_demo

    if folder is None:
        run_demo()
    else:
        copy_examples(folder)
