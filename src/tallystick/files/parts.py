"""Parts of files, under names that every reader can open.

A shard of a corpus is some documents of a file: one or several ranges of its bytes. A reader wants the name of a file; so
a part gets a name of its own, which ends as the file's does, and for as long as it is `at_hand` that name opens the part:

    part = Part("gold.jsonl", ((0, 57, 1), (4096, 8192, 18)))     two ranges, which begin in lines 1 and 18
    with at_hand(part):
        read_bytes(part.name)

What a reader says about a part is translated back (`told`): its lines are lines of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from tallystick.errors import InputError, Place, TallystickError

Range = tuple[int, int, int]
"""First byte, byte after the last, number of the first line."""


@dataclass(frozen=True)
class Part:
    """Some bytes of a file, in one piece for the reader; `held` are the bytes themselves where they cannot be read again
    (a packed file, standard input). `by_name` says that its documents were chosen by their names, so that what the other side
    lacks is nowhere."""

    file: str
    ranges: tuple[Range, ...]
    held: bytes | None = field(default=None, repr=False)
    number: int = 0
    by_name: bool = False

    @property
    def name(self) -> str:
        """What readers open; it ends as the file's name does. No file is called so."""
        return f"part\x1f{self.number}\x1f{self.file}"

    @property
    def size(self) -> int:
        return sum(stop - start for start, stop, _ in self.ranges)

    def read(self) -> bytes:
        """The bytes."""
        if self.held is not None:
            return self.held
        pieces = []
        try:
            with open(self.file, "rb") as stream:
                for start, stop, _ in self.ranges:
                    stream.seek(start)
                    pieces.append(stream.read(stop - start))
        except FileNotFoundError:
            raise InputError("no such file; every worker has to see it", self.file) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", self.file) from None
        if sum(map(len, pieces)) != self.size:
            raise InputError("is shorter than it was a moment ago", self.file)
        return b"".join(pieces)

    def line(self, number: int) -> int:
        """The line of the file that is this line of the part."""
        if len(self.ranges) == 1:
            return self.ranges[0][2] + number - 1
        data, at, before = self.read(), 0, 0
        for start, stop, first in self.ranges:
            lines = data.count(b"\n", at, at + stop - start)
            if number <= before + lines or (start, stop, first) == self.ranges[-1]:
                return first + number - before - 1
            at, before = at + stop - start, before + lines
        return number


_AT_HAND: ContextVar[dict[str, Part] | None] = ContextVar("parts at hand", default=None)


@contextmanager
def at_hand(*parts: Part | None) -> Iterator[None]:
    """Parts that can be opened by their names."""
    token = _AT_HAND.set({part.name: part for part in parts if part is not None})
    try:
        yield
    finally:
        _AT_HAND.reset(token)


def part_at_hand(name: str | Path) -> Part | None:
    """The part of that name, if it is one."""
    known = _AT_HAND.get()
    return known.get(str(name)) if known else None


def told(text: str, *parts: Part | None) -> str:
    """A message about parts as one about their files."""
    for part in parts:
        if part is None:
            continue
        named = re.compile(re.escape(part.name) + r"(?::(\d+))?")

        def said(found: re.Match[str], part: Part = part) -> str:
            return part.file + (f":{part.line(int(found[1]))}" if found[1] else "")

        text = named.sub(said, text)
    return text


def told_error(error: TallystickError, *parts: Part | None) -> TallystickError:
    """An error about parts as one about their files."""
    if isinstance(error, InputError) and error.place is not None:
        place = error.place
        for part in parts:
            if part is not None and part.name == place.file:
                line = part.line(place.line) if place.line is not None else None
                reason = re.sub(r"\bline (\d+)", lambda m, part=part: f"line {part.line(int(m[1]))}", error.reason)  # type: ignore[misc]
                return InputError(told(reason, *parts), Place(part.file, line, place.column, place.text))
        return InputError(told(error.reason, *parts), place)
    if isinstance(error, InputError):
        return InputError(told(error.reason, *parts))
    return type(error)(told(str(error), *parts))
