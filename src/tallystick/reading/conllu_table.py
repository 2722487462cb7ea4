"""The lines of a CoNLL-U file as a table: nine columns of codes, and what kind of line each one is.

No line is looked at by Python on its own. NumPy finds the line ends, the tabs and the first byte of each
line, drops comments, blank lines and MISC, and cuts a row into four pieces of columns that go together:

    ID | FORM LEMMA | UPOS XPOS FEATS | HEAD DEPREL DEPS
    2  | dogs dog   | NOUN NNS Number=Plur | 3 nsubj 3:nsubj

The pieces stay ranges of bytes until they are numbered (`numbering`). Only distinct pieces, a few per cent,
are then split into fields. Everything that has to be *parsed* (ids, heads, features, enhanced dependencies)
is parsed once for each distinct value and looked up from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, Place
from tallystick.reading.limits import check_line_ends, not_utf8
from tallystick.reading.numbering import WIDTH, number_ranges

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS = range(9)  # MISC is not kept
ROW, COMMENT, BLANK = range(3)
"""The kinds of line."""

STRETCH = 1 << 20
"""How many bytes are searched for tabs at a time, so that their positions take little memory."""

PIECES = ((ID,), (FORM, LEMMA), (UPOS, XPOS, FEATS), (HEAD, DEPREL, DEPS))
_LAST_TABS = [piece[-1] for piece in PIECES]  # the tab number c ends the column number c

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

    def compacted(self) -> Coded:
        """The same column without the values that do not occur in it."""
        occurring, codes = np.unique(self.codes, return_inverse=True)
        return Coded(codes.astype(np.int32), [self.values[code] for code in occurring.tolist()])

    def __getitem__(self, index: int) -> str:
        return self.values[int(self.codes[index])]


def number_jointly(a: Coded, b: Coded, canonical: Callable[[str], str] | None = None) -> tuple[Ints, Ints]:
    """Codes under which two columns can be compared; `canonical` is asked once for each distinct value."""
    numbers: dict[str, int] = {}

    def renumbered(column: Coded) -> Ints:
        if len(column.codes) < len(column.values):
            column = column.compacted()
        values: Iterable[str] = map(canonical, column.values) if canonical else column.values
        table = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int32)
        return table[column.codes] if len(table) else column.codes

    return renumbered(a), renumbered(b)


@dataclass(frozen=True, eq=False)
class Source:
    """A file's name and bytes; the last line is ended, and zeros follow that `number_ranges` may read."""

    name: str
    data: bytes
    size: int
    """The number of bytes without the zeros."""

    def error(self, message: str, line: int, field: int | None = None) -> InputError:
        """An error at a line (counted from 1), with a caret under a field if there is one to point at."""
        lines = self.data.split(b"\n", line)
        text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else None
        column = None
        if text is not None and field is not None:
            column = sum(len(part) + 1 for part in text.split("\t")[:field]) + 1
        return InputError(message, Place(self.name, line, column, text))


def make_source(name: str, data: bytes) -> Source:
    """Take in a file as it is: with a byte order mark or not, with the line ends of Windows or not."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        check_line_ends(data, name)
        data = data.replace(b"\r\n", b"\n")
    ended = b"" if data.endswith(b"\n") or not data else b"\n"
    return Source(name, b"".join((data, ended, bytes(WIDTH))), len(data) + len(ended))


@dataclass(frozen=True, eq=False)
class Table:
    """A CoNLL-U file by lines. Line numbers count from 1."""

    source: Source
    kinds: NDArray[np.uint8]
    row_lines: NDArray[np.int32]
    columns: list[Coded]
    comment_lines: NDArray[np.intp]
    comments: list[bytes]
    """The comments that may be a `# newdoc` or a `# sent_id`."""


def read_table(source: Source) -> Table:
    """Split a file into columns; the only errors here are bad bytes and wrong numbers of columns."""
    data, size = source.data, source.size
    kinds = [np.zeros(0, np.uint8)]
    row_starts = [np.zeros(0, np.intp)]
    offset_type = np.int32 if size < 2**31 else np.int64
    row_tabs = [np.zeros((0, len(PIECES)), offset_type)]
    comment_lines = [np.zeros(0, np.intp)]
    comments: list[bytes] = []
    begin, lines_before = 0, 0
    while begin < size:
        end = data.find(b"\n", min(begin + STRETCH, size) - 1) + 1
        stretch = np.frombuffer(data, np.uint8, end - begin, begin)
        ends = np.flatnonzero(stretch == ord("\n"))
        starts = np.concatenate(([0], ends[:-1] + 1))
        first = stretch[starts]
        kind = np.full(len(ends), ROW, np.uint8)
        kind[first == ord("\n")] = BLANK
        kind[first == ord("#")] = COMMENT
        is_row = kind == ROW

        tabs = np.flatnonzero(stretch == ord("\t"))
        tabs_in_line = np.diff(np.searchsorted(tabs, ends), prepend=0)
        wrong = np.flatnonzero(is_row & (tabs_in_line != 9))
        if wrong.size:
            raise _not_ten(source, lines_before + int(wrong[0]) + 1, int(tabs_in_line[wrong[0]]) + 1)
        tabs = tabs[np.repeat(is_row, tabs_in_line)].reshape(-1, 9)[:, _LAST_TABS]

        # `# text` is the long one among the comments, so look at the letter after the space first.
        letter = stretch[np.minimum(starts + 2, len(stretch) - 1)]
        wanted = np.flatnonzero((kind == COMMENT) & ((letter == ord("n")) | (letter == ord("s"))))
        comments += _slices(data, starts[wanted] + begin, ends[wanted] + begin)
        comment_lines.append(lines_before + wanted + 1)
        kinds.append(kind)
        row_starts.append(starts[is_row] + begin)
        row_tabs.append((tabs + begin).astype(offset_type))
        begin, lines_before = end, lines_before + len(kind)

    columns: list[Coded] = []
    piece_start = np.concatenate(row_starts)
    for at, piece in enumerate(PIECES):
        piece_end = np.concatenate([tabs[:, at] for tabs in row_tabs]).astype(np.intp)
        codes, occurs = number_ranges(data, piece_start, piece_end - piece_start)
        distinct = _slices(data, piece_start[occurs], piece_end[occurs])
        columns += _split_piece(codes, distinct, len(piece), source)
        piece_start = piece_end + 1
    every_kind = np.concatenate(kinds)
    lines = (np.flatnonzero(every_kind == ROW) + 1).astype(np.int32)
    return Table(source, every_kind, lines, columns, np.concatenate(comment_lines), comments)


def _slices(data: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> list[bytes]:
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _split_piece(codes: Ints, distinct: list[bytes], width: int, source: Source) -> list[Coded]:
    """The columns of a piece, from its codes and its distinct values."""
    try:
        fields = b"\t".join(distinct).decode("utf-8").split("\t") if distinct else []
    except UnicodeDecodeError:
        raise _bad_byte(source) from None
    columns = []
    for column in range(width):
        numbers: dict[str, int] = {}
        numbered = [numbers.setdefault(field, len(numbers)) for field in fields[column::width]]
        columns.append(Coded(np.array(numbered, np.int32)[codes], list(numbers)))
    return columns


def _not_ten(source: Source, line: int, found: int) -> InputError:
    hint = "; are they separated by spaces?" if found == 1 else ""
    return source.error(f"expected 10 columns separated by tabs, found {found}{hint}", line)


def _bad_byte(source: Source) -> InputError:
    return not_utf8(source.data, source.name)
