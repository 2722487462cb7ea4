"""A file as a stream of pieces of whole lines, so that a large one never has to be in memory at once.

A reader takes the pieces one after the other and keeps only what it needs. When something is wrong, the
message shows the line: a file is simply opened a second time for that, standard input cannot be, so its
pieces are kept.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from tallystick.errors import InputError, Place
from tallystick.reading.holding import is_held
from tallystick.reading.limits import (
    check_file,
    check_line_ends,
    check_text,
    complain_of_nul,
    reads_once,
)
from tallystick.reading.opening import read_bytes, shown_name
from tallystick.reading.packed import is_packed, open_packed, packed_errors, packing
from tallystick.reading.parts import part_at_hand

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

    def __init__(self, name: str | Path, size: int = PIECE) -> None:
        self.name = str(name)
        self.shown = shown_name(name)
        self._size = size
        self._kept: list[bytes] | None = [] if reads_once(name) else None
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
        for piece in self._kept if self._kept is not None else self._read():
            count = piece.count(b"\n")
            if number <= count:
                return piece.split(b"\n", number)[number - 1].decode("utf-8", "replace").rstrip("\r")
            number -= count
        return None

    def error(self, message: str, line: int | None = None, column: int | None = None) -> InputError:
        """What to raise about a place of this file; shows the text of its line."""
        return InputError(message, Place(self.shown, line, column, None if line is None else self.line(line)))

    def _checked(self) -> Iterator[bytes]:
        for number, piece in enumerate(self._read()):
            if self._kept is not None:
                self._kept.append(piece)
            if number == 0:
                check_text(piece[:2], self.shown)
                if not piece.lstrip().startswith(b"{"):
                    check_line_ends(piece[:-1], self.shown)
            if b"\0" in piece or not is_utf8(piece):
                self._complain(piece, number)
            yield piece

    def _complain(self, piece: bytes, number: int) -> NoReturn:
        # Lines are only counted now that somebody wants to know.
        before = islice(self._kept if self._kept is not None else self._read(), number)
        lines = sum(earlier.count(b"\n") for earlier in before)
        if b"\0" in piece:
            complain_of_nul(piece, self.shown, lines)
        at = 0
        try:
            piece.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
        message = f"byte 0x{piece[at]:02x} is not UTF-8; convert the file to UTF-8 first"
        start = piece.rfind(b"\n", 0, at) + 1
        text = piece[start : piece.find(b"\n", at)].decode("utf-8", "replace")
        column = len(piece[start:at].decode("utf-8", "replace")) + 1
        raise InputError(message, Place(self.shown, lines + piece.count(b"\n", 0, at) + 1, column, text))

    def _read(self) -> Iterator[bytes]:
        start = True
        for piece in self._raw():
            if start and piece.startswith(BYTE_ORDER_MARK):
                piece = piece[len(BYTE_ORDER_MARK) :]
            start = False
            if piece:
                yield piece if piece.endswith(b"\n") else piece + b"\n"

    def _raw(self) -> Iterator[bytes]:
        part = part_at_hand(self.name)
        if part is not None:
            yield from self._whole_lines(io.BytesIO(part.read()))
            return
        if is_held(self.name):
            yield from self._whole_lines(io.BytesIO(read_bytes(self.name)))
            return
        if self.name == "-":
            yield from self._whole_lines(sys.stdin.buffer)
            return
        path = Path(self.name)
        try:
            check_file(self.name)
            if not is_packed(path):
                with path.open("rb") as stream:
                    yield from self._whole_lines(stream)
                return
            try:
                with open_packed(path) as unpacked:
                    yield from self._whole_lines(unpacked)
            except packed_errors() as error:
                raise InputError(f"is not a complete {packing(path)} file ({error})", self.shown) from None
        except FileNotFoundError:
            raise InputError("no such file", self.shown) from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", self.shown) from None
        except ValueError as error:  # a NUL in the name
            raise InputError(f"is no name of a file ({error})", repr(self.shown)) from None

    def _whole_lines(self, stream: IO[bytes]) -> Iterator[bytes]:
        while piece := stream.read(self._size):
            yield piece + stream.readline()
