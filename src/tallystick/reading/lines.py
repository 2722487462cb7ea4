"""The documents of a file as raw JSON: lines of JSON Lines, or the elements of a .json file.

A file is read from the front in portions. A plain file can also be asked for the line at an offset; what cannot be read
twice (standard input) is held in memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import IO, Any

from tallystick.errors import InputError
from tallystick.reading.json_text import NotJson, explained, placed
from tallystick.reading.limits import check_file, reads_once
from tallystick.reading.opening import read_bytes, shown_name
from tallystick.reading.packed import is_packed, open_packed, packed_errors, packing, unpacked_name
from tallystick.reading.parts import part_at_hand

PORTION_BYTES = 4_000_000
MOST_LINES = 4096
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Portion:
    """Some lines of a file, one after the other: their numbers (from 1), their bytes and where each begins."""

    numbers: list[int]
    lines: list[bytes]
    offsets: list[int]

    def __len__(self) -> int:
        return len(self.lines)


class Lines:
    """A file of documents; `portions` may be asked for as often as one likes."""

    def __init__(self, name: str | Path) -> None:
        self.name, self.file = str(name), shown_name(name)
        self._held: list[bytes] | None = None
        self._stream: IO[bytes] | None = None
        if reads_once(name):  # standard input or a pipe
            self._held = read_bytes(name).removeprefix(_MARK).split(b"\n")
        elif unpacked_name(name).endswith(".json") and part_at_hand(name) is None:
            self._held = self._elements()
        self.position = 0
        """How many bytes of the file (as it is on disk) were read so far."""

    @cached_property
    def size(self) -> int:
        """How many bytes the file has; 0 where that is not known."""
        try:
            return 0 if self._held is not None else Path(self.name).stat().st_size
        except OSError:
            return 0

    def _elements(self) -> list[bytes]:
        """A .json file is a list of documents, or one document; if it is neither, it may still be JSON Lines."""
        import msgspec

        data = read_bytes(self.name).removeprefix(_MARK)
        try:
            if data.lstrip()[:1] == b"[":
                return [bytes(one) for one in msgspec.json.decode(data, type=list[msgspec.Raw])]
            return [bytes(msgspec.json.decode(data, type=msgspec.Raw)).replace(b"\n", b" ")]
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            if data.count(b"\n") > 1 and data.lstrip()[:1] == b"{":
                return data.split(b"\n")
            raise placed(explained(error, data), data, self.file) from None

    @property
    def seekable(self) -> bool:
        return self._held is None and not is_packed(self.name) and part_at_hand(self.name) is None

    def portions(self, most: int = MOST_LINES) -> Iterator[Portion]:
        """The lines that are not blank, some at a time."""
        number = offset = 0
        stream: Any = iter(self._held) if self._held is not None else self._open()
        size = 64
        try:
            while True:
                lines = list(islice(stream, size))
                if not lines:
                    return
                if number == 0:
                    lines[0] = lines[0].removeprefix(_MARK)
                    offset = 3 if self.seekable and self._has_mark() else 0
                numbers = list(range(number + 1, number + len(lines) + 1))
                *offsets, offset = accumulate(map(len, lines), initial=offset)
                number += len(lines)
                self.position = offset if self.seekable else self._raw_position(stream)
                mean = 1 + sum(map(len, lines)) // len(lines)
                size = max(16, min(most, PORTION_BYTES // mean))
                if b"" in lines or any(map(bytes.isspace, lines)):
                    kept = [k for k, line in enumerate(lines) if line.strip()]
                    lines, numbers, offsets = ([side[k] for k in kept] for side in (lines, numbers, offsets))
                if lines:
                    yield Portion(numbers, lines, offsets)
        except packed_errors() as error:
            raise InputError(f"is not a complete {packing(self.name)} file ({error})", self.file) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", self.file) from None
        finally:
            if self._held is None:
                stream.close()

    def _raw_position(self, stream: Any) -> int:
        """How far a packed file was read."""
        raw = getattr(stream, "raw", None)
        try:
            return raw.packed_position() if raw is not None else 0
        except AttributeError:
            return 0

    def _has_mark(self) -> bool:
        with open(self.name, "rb") as stream:
            return stream.read(3) == _MARK

    def _open(self) -> IO[bytes]:
        part = part_at_hand(self.name)
        if part is not None:
            return io.BytesIO(part.read())
        check_file(self.name)
        try:
            return open_packed(self.name) if is_packed(self.name) else open(self.name, "rb")
        except (OSError, ValueError):
            read_bytes(self.name)  # says what is wrong
            raise

    def line_at(self, offset: int) -> bytes:
        """The line that begins at an offset (plain files only)."""
        if self._stream is None:
            self._stream = open(self.name, "rb")  # noqa: SIM115 - closed with the object
        self._stream.seek(offset)
        return self._stream.readline()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self._stream.close()  # type: ignore[union-attr]


def not_json(error: Exception, file: str, number: int, line: bytes, advice: str = "") -> InputError:
    """A malformed line, with a caret where the parser stopped, and what can be done about it."""
    found = explained(error, line)
    return placed(NotJson(f"{found}{advice}", found.line, found.column), line, file, number)
