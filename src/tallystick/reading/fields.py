"""Column files as arrays: where each field of each line starts and ends.

A file is cut into blocks of whole lines that fit a processor's cache; each block becomes a few arrays:

    "EU B-ORG\\nsaid O\\n"      start  0  3  9 14       first    0  2      (first field of each line)
                               end    2  8 13 15       columns  2  2

Fields are separated by white space (any run of bytes up to 0x20; never by a no-break space, which occurs
inside tokens), or by exactly one separator, between which a field may be empty or hold blanks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, Place
from tallystick.reading.limits import check_line_ends, check_text
from tallystick.structures.segments import IntArray

BLOCK = 1 << 18
PADDING = b"\n" * 8  # so that eight bytes can be read from any field's start
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class LineBlock:
    """Some whole lines of a file: its fields, the first field and the number of fields of each line.

    A line without fields is blank. `line` is the number of the first line, counted from 1.
    """

    data: bytes
    line: int
    start: IntArray
    end: IntArray
    first: IntArray
    columns: IntArray

    def field(self, line: int, column: int) -> bytes:
        """One field, by the line's index in the block and a column (from the end where negative)."""
        index = int(self.first[line]) + column + (int(self.columns[line]) if column < 0 else 0)
        return self.data[int(self.start[index]) : int(self.end[index])]

    def text(self, line: int) -> str:
        """A line's fields with what stands between them, for messages."""
        if not self.columns[line]:
            return ""
        first = int(self.first[line])
        last = first + int(self.columns[line]) - 1
        return self.data[int(self.start[first]) : int(self.end[last])].decode("utf-8", "replace")


def split_lines(data: bytes, file: str, separator: str | None = None) -> Iterator[LineBlock]:
    """The blocks of a file's content."""
    check_text(data, file)
    check_line_ends(data, file)
    mark = None if separator is None else separator.encode()
    if mark is not None and (len(mark) != 1 or mark in b"\r\n"):
        raise InputError(f"separator {separator!r} is not one ASCII character; None means any white space", file)
    position = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    line = 1
    while position < len(data):
        stop = len(data)
        if position + BLOCK < stop:
            stop = data.rfind(b"\n", position, position + BLOCK) + 1 or data.find(b"\n", position) + 1 or stop
        piece = data[position:stop]
        if not piece.endswith(b"\n"):
            piece += b"\n"
        block = _split_blanks(piece, line) if mark is None else _split_marks(piece, line, mark)
        yield block
        line += len(block.first)
        position = stop


def _split_blanks(piece: bytes, line: int) -> LineBlock:
    buffer = np.frombuffer(piece, dtype=np.uint8)
    inside = buffer > 0x20
    # a field starts where inside turns true and ends where it turns false; the last byte is a line end
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if inside[0]:
        edges = np.concatenate((np.zeros(1, dtype=np.int64), edges))
    start, end = edges[0::2], edges[1::2]
    upto = np.searchsorted(start, np.flatnonzero(buffer == 0x0A))
    first = np.concatenate((np.zeros(1, dtype=np.int64), upto[:-1]))
    return LineBlock(piece + PADDING, line, start, end, first, upto - first)


def _split_marks(piece: bytes, line: int, mark: bytes) -> LineBlock:
    buffer = np.frombuffer(piece, dtype=np.uint8)
    end = np.flatnonzero((buffer == mark[0]) | (buffer == 0x0A))
    start = np.concatenate((np.zeros(1, dtype=np.int64), end[:-1] + 1))
    last = np.flatnonzero(buffer[end] == 0x0A)
    first = np.concatenate((np.zeros(1, dtype=np.int64), last[:-1] + 1))
    columns = last - first + 1
    # "\r\n" ends a line as "\n" does
    returned = last[(end[last] > start[last]) & (buffer[end[last] - 1] == 0x0D)]
    end[returned] -= 1
    # a line of white space only is blank, although it is one field
    single = np.flatnonzero(columns == 1)
    empty = start[first[single]] == end[first[single]]
    columns[single[empty]] = 0
    for index in single[~empty].tolist():
        if not piece[start[first[index]] : end[first[index]]].strip(b" \t\r"):
            columns[index] = 0
    return LineBlock(piece + PADDING, line, start, end, first, columns)


def column_index(block: LineBlock, lines: npt.NDArray[np.int64], column: int) -> IntArray:
    """The index of a column's field in each of the lines, all of which have it."""
    if column >= 0:
        return block.first[lines] + column
    return block.first[lines] + block.columns[lines] + column


def place_of(block: LineBlock, file: str, line: int, column: int | None = None) -> Place:
    """The place of a field for a message, with a caret under it."""
    text = block.text(line)
    if column is None or not block.columns[line]:
        return Place(file, block.line + line, None, text)
    first = int(block.first[line])
    index = first + column + (int(block.columns[line]) if column < 0 else 0)
    before = block.data[int(block.start[first]) : int(block.start[index])].decode("utf-8", "replace")
    return Place(file, block.line + line, len(before) + 1, text)
