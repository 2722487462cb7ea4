"""The documents of a file as raw JSON: lines of JSON Lines, or the elements of a .json file.

A file is read from the front in portions. A plain file can also be asked for the line at an offset; what cannot be read
twice (standard input) is held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from tallystick.errors import InputError
from tallystick.files.json_values import NotJson, explained, placed
from tallystick.files.source import (
    AnySource,
    Source,
    check_line_ends,
    check_text,
    complain_of_nul,
    is_packed,
    unpacked_name,
)

PORTION_BYTES = 4_000_000
MOST_LINES = 4096
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Portion:
    """Some lines of a source, one after the other: their numbers in the file (from 1), their bytes and where each begins."""

    numbers: list[int]
    lines: list[bytes]
    offsets: list[int]

    def slice(self, start: int, length: int | None = None) -> Portion:
        """Some of the lines, as Arrow's batches are sliced."""
        some = slice(start, None if length is None else start + length)
        return Portion(self.numbers[some], self.lines[some], self.offsets[some])

    def __len__(self) -> int:
        return len(self.lines)


class Lines:
    """A file of documents; `portions` may be asked for as often as one likes."""

    def __init__(self, name: AnySource) -> None:
        self.source = Source.of(name)
        self.name, self.file = self.source.name, str(self.source)
        self._held: list[bytes] | None = None
        self._stream: IO[bytes] | None = None
        if self.source.reads_once or (self.source.held is not None and not self.source.is_part):
            self._held = self.source.read().removeprefix(_MARK).split(b"\n")
        elif unpacked_name(name).endswith(".json") and not self.source.is_part:
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

        data = self.source.read().removeprefix(_MARK)
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
        return self._held is None and not is_packed(self.name) and not self.source.is_part

    def portions(self, most: int = MOST_LINES) -> Iterator[Portion]:
        """The lines that are not blank, some at a time."""
        number = offset = 0
        stream: Any = iter(self._held) if self._held is not None else self.source.open()
        size = 64
        try:
            while True:
                with self.source.reading():
                    lines = list(islice(stream, size))
                if not lines:
                    return
                if number == 0:
                    lines[0] = lines[0].removeprefix(_MARK)
                    offset = 3 if self.seekable and self._has_mark() else 0
                numbers = self._numbers(number, len(lines))
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
        finally:
            if self._held is None:
                stream.close()

    def _numbers(self, before: int, count: int) -> list[int]:
        """The lines of the file for the next lines."""
        numbers = range(before + 1, before + count + 1)
        if not self.source.is_part:
            return list(numbers)
        return list(map(int, self.source.lines_of_file(np.array(numbers, np.int64))))

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


# A file as a stream of pieces of whole lines, so that a large one never has to be in memory at once.
#
# A reader takes the pieces one after the other and keeps only what it needs. When something is wrong, the
# message shows the line: the source is opened a second time for that.

PIECE = 1 << 20
"""Bytes a piece; one megabyte stays in the processor's cache while it is looked at several times."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def is_utf8(piece: bytes) -> bool:
    """Whether this is UTF-8, at a tenth of the price of decoding it."""
    if piece.isascii():
        return True
    data = np.frombuffer(piece, np.uint8)
    # What has to be valid are the runs of bytes beyond ASCII. Each is taken with the byte that follows
    # it, which keeps two broken runs from making up a valid one.
    chosen = data > 127
    chosen[1:] |= chosen[:-1].copy()
    try:
        data[chosen].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class Pieces:
    """The content of a file (or `.gz`, or `-`), in pieces that end with a newline and hold nothing but
    UTF-8 text.

    The last line gets a newline if it has none, and a byte order mark is taken off. Iterate once.
    """

    def __init__(self, name: AnySource, size: int = PIECE) -> None:
        self.source = Source.of(name)
        self.shown = str(self.source)
        self._size = size
        checked = self._checked()
        first = next(checked, None)
        if first is None:
            raise InputError("is empty", self.shown)
        self.first = first
        """The first piece, to find out what kind of file this is."""
        self._rest = checked

    def __iter__(self) -> Iterator[bytes]:
        return chain((self.first,), self._rest)

    def line(self, number: int) -> str | None:
        """The text of a line, counted from 1, for a message."""
        for piece in self._read():
            count = piece.count(b"\n")
            if number <= count:
                return piece.split(b"\n", number)[number - 1].decode("utf-8", "replace").rstrip("\r")
            number -= count
        return None

    def error(self, message: str, line: int | None = None, column: int | None = None) -> InputError:
        """What to raise about a line of this source; shows its text."""
        return self.source.error(message, line, column, None if line is None else self.line(line))

    def _checked(self) -> Iterator[bytes]:
        for number, piece in enumerate(self._read()):
            if number == 0:
                check_text(piece[:2], self.shown)
                if not piece.lstrip().startswith(b"{"):
                    check_line_ends(piece[:-1], self.shown)
            if b"\0" in piece or not is_utf8(piece):
                self._complain(piece, number)
            yield piece

    def _complain(self, piece: bytes, number: int) -> NoReturn:
        # Lines are only counted now that somebody wants to know.
        before = islice(self._read(), number)
        lines = sum(earlier.count(b"\n") for earlier in before)
        if b"\0" in piece:
            complain_of_nul(piece, self.source, lines)
        at = 0
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
        message = f"byte 0x{piece[at]:02x} is not UTF-8; convert the file to UTF-8 first"
        start = piece.rfind(b"\n", 0, at) + 1
        text = piece[start : piece.find(b"\n", at)].decode("utf-8", "replace")
        column = len(piece[start:at].decode("utf-8", "replace")) + 1
        raise self.source.error(message, lines + piece.count(b"\n", 0, at) + 1, column, text)

    def _read(self) -> Iterator[bytes]:
        start = True
        for piece in self._raw():
            if start and piece.startswith(BYTE_ORDER_MARK):
                piece = piece[len(BYTE_ORDER_MARK) :]
            start = False
            if piece:
                yield piece if piece.endswith(b"\n") else piece + b"\n"

    def _raw(self) -> Iterator[bytes]:
        if self.source.reads_once:
            self.source.read()  # which keeps it
        with self.source.open() as stream, self.source.reading():
            while piece := stream.read(self._size):
                yield piece + stream.readline()
