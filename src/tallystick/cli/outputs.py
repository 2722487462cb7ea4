"""Files that a command writes, checked before its work: that they can be written, and that nothing is lost by it.

An option that names such a file has the type `Output`, which is how it is told from all that a command reads. A file that the
command reads, under whatever option, is not overwritten, and two outputs are two files.
"""

from __future__ import annotations

import importlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from tallystick.errors import MetricError

BESIDE = (".ann", ".txt")
"""What is read of a folder in brat's format; a .ann file is read together with the .txt file beside it."""


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
