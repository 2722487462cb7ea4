"""Standard output for what rich draws: as wide as the terminal, or with room in a file; NO_COLOR is honoured."""

from __future__ import annotations

from rich.console import Console


class Output(Console):
    """A console that leaves it to the command line to end when the reader has gone."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def standard_output(width: int = 160) -> Console:
    """Standard output; `width` is for what is no terminal."""
    console = Output(highlight=False)
    return console if console.is_terminal else Output(highlight=False, width=width)
