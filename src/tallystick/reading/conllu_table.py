"""The lines of a CoNLL-U file as a table: ten columns of codes, and what kind of line each one is.

No line is looked at by Python on its own. NumPy finds the line ends, the tabs and the first byte of each
line, drops comments and blank lines, and what is left of a stretch of the file is split at its tabs in one
go: field `c` of row `r` is at `10 r + c`, so that a column is a slice.

    1  The   the   DET ...        fields[1::10]  ->  The  dog  barks      ->  0 1 2
    2  dog   dog   NOUN ...       fields[3::10]  ->  DET  NOUN VERB       ->  0 1 2
    3  barks bark  VERB ...       fields[6::10]  ->  2    3    0          ->  0 1 2

Each column is numbered by the dictionary of its distinct values. Everything that has to be *parsed* (ids,
heads, features, enhanced dependencies) is parsed once for each distinct value and looked up from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, Place

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS = range(9)  # MISC is not kept
ROW, COMMENT, BLANK = range(3)
"""The kinds of line."""

STRETCH = 1 << 21
"""How many bytes are split at a time; the fields of a stretch take about ten times as much memory."""

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of strings: `values[codes[i]]` is the i-th."""

    codes: Ints
    values: list[str]

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.intp]) -> Coded:
        return Coded(self.codes[rows], self.values)

    def __getitem__(self, index: int) -> str:
        return self.values[int(self.codes[index])]


def number_jointly(a: Coded, b: Coded, canonical: Callable[[str], str] | None = None) -> tuple[Ints, Ints]:
    """Codes under which two columns can be compared; `canonical` is asked once for each distinct value."""
    numbers: dict[str, int] = {}

    def renumbered(column: Coded) -> Ints:
        values: Iterable[str] = map(canonical, column.values) if canonical else column.values
        table = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int32)
        return table[column.codes] if len(table) else column.codes

    return renumbered(a), renumbered(b)


@dataclass(frozen=True, eq=False)
class Source:
    """A file's bytes and name: what an error needs to show the line."""

    name: str
    data: bytes

    def error(self, message: str, line: int, field: int | None = None) -> InputError:
        """An error at a line (counted from 1), with a caret under a field if there is one to point at."""
        lines = self.data.split(b"\n", line)
        text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else None
        column = None
        if text is not None and field is not None:
            column = sum(len(part) + 1 for part in text.split("\t")[:field]) + 1
        return InputError(message, Place(self.name, line, column, text))


@dataclass(frozen=True, eq=False)
class Table:
    """A CoNLL-U file by lines. Line numbers count from 1."""

    source: Source
    kinds: NDArray[np.uint8]
    row_lines: NDArray[np.int32]
    columns: list[Coded]
    comments: list[tuple[int, str]]
    """The `# newdoc` and `# sent_id` comments: line and what comes after the `#`."""


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, value: str) -> int:
        self[value] = number = len(self)
        return number


def read_table(source: Source) -> Table:
    """Split a file into columns; the only errors here are bad bytes and wrong numbers of columns."""
    data = source.data if source.data.endswith(b"\n") or not source.data else source.data + b"\n"
    numbers = [_Numbers() for _ in range(9)]
    codes: list[list[Ints]] = [[] for _ in range(9)]
    kinds: list[NDArray[np.uint8]] = []
    comments: list[tuple[int, str]] = []
    begin, lines_before = 0, 0
    while begin < len(data):
        end = data.find(b"\n", min(begin + STRETCH, len(data)) - 1) + 1
        stretch = np.frombuffer(data, np.uint8, end - begin, begin)
        ends = np.flatnonzero(stretch == ord("\n"))
        starts = np.concatenate(([0], ends[:-1] + 1))
        first = stretch[starts]
        kind = np.where(first == ord("\n"), BLANK, np.where(first == ord("#"), COMMENT, ROW)).astype(np.uint8)
        kinds.append(kind)
        is_row = kind == ROW

        tabs = np.diff(np.searchsorted(np.flatnonzero(stretch == ord("\t")), ends), prepend=0)
        wrong = np.flatnonzero(is_row & (tabs != 9))
        if wrong.size:
            raise _not_ten(source, int(wrong[0]), int(tabs[wrong[0]]) + 1, kind, lines_before)

        for at in np.flatnonzero(kind == COMMENT).tolist():
            comment = data[begin + int(starts[at]) + 1 : begin + int(ends[at])].lstrip()
            if comment.startswith((b"newdoc", b"sent_id")):
                comments.append((lines_before + at + 1, comment.decode("utf-8", "replace")))

        body = stretch[np.repeat(is_row, ends - starts + 1)]
        body[body == ord("\n")] = ord("\t")
        try:
            fields = body.tobytes().decode("utf-8").split("\t")
        except UnicodeDecodeError:
            raise _bad_byte(source, begin) from None
        rows = len(fields) // 10
        for column in range(9):
            numbered = map(numbers[column].__getitem__, fields[column : 10 * rows : 10])
            codes[column].append(np.fromiter(numbered, np.int32, rows))
        begin, lines_before = end, lines_before + len(kind)

    every_kind = np.concatenate(kinds) if kinds else np.zeros(0, np.uint8)
    empty = np.zeros(0, np.int32)
    return Table(
        source,
        every_kind,
        (np.flatnonzero(every_kind == ROW) + 1).astype(np.int32),
        [
            Coded(np.concatenate(parts) if parts else empty, list(values))
            for parts, values in zip(codes, numbers, strict=True)
        ],
        comments,
    )


def _not_ten(source: Source, at: int, found: int, kind: NDArray[np.uint8], lines_before: int) -> InputError:
    line = lines_before + at + 1
    hint = ", separated by spaces?" if found == 1 else ""
    return source.error(f"expected 10 columns separated by tabs, found {found}{hint}", line)


def _bad_byte(source: Source, begin: int) -> InputError:
    """The same message as that of `opening.read_text`, for the first bad byte at or after `begin`."""
    try:
        source.data[begin:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = begin + error.start
        line = source.data.count(b"\n", 0, at) + 1
        return InputError(
            f"byte 0x{source.data[at]:02x} is not UTF-8; convert the file to UTF-8 first",
            Place(source.name, line),
        )
    raise AssertionError("a stretch of valid UTF-8 was not decodable")  # pragma: no cover
