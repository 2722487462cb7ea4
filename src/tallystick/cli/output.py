"""Standard output and standard error: results go to the one (a table on a terminal, TSV in a pipe, or as --format says), warnings,
signatures and progress to the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tallystick.show.tables import PLAIN, WRITERS, to_rich

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from tallystick.results.explanation import Explanation
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import Style, Table

FORMATS = ("table", "json", *WRITERS)
STYLES = {"-": "red", "+": "yellow", "≠": "magenta", "=": "green"}


def chosen_format(format_: str | None) -> str:
    """Table for a person, TSV for a pipe."""
    return format_ or ("table" if sys.stdout.isatty() else "tsv")


def show_tables(
    tables: Sequence[Table], format_: str | None, signatures: Sequence[str] = (), comments: Sequence[str] = (),
    style: Style = PLAIN,
) -> None:  # fmt: skip
    """Tables on standard output; in a paper the first has the signatures in its caption, and comments before it."""
    writer = WRITERS.get(chosen_format(format_))
    for k, table in enumerate(tables):
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
