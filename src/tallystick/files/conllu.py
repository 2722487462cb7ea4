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
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.files.numbering import WIDTH, number_ranges
from tallystick.files.source import Source, check_line_ends, not_utf8

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
class Content:
    """A source's bytes; the last line is ended, and zeros follow that `number_ranges` may read."""

    source: Source
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
        return self.source.error(message, line, column, text)


def read_content(source: Source) -> Content:
    """Take in a file as it is: with a byte order mark or not, with the line ends of Windows or not."""
    data = source.read().removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        check_line_ends(data, source)
        data = data.replace(b"\r\n", b"\n")
    ended = b"" if data.endswith(b"\n") or not data else b"\n"
    return Content(source, b"".join((data, ended, bytes(WIDTH))), len(data) + len(ended))


@dataclass(frozen=True, eq=False)
class Table:
    """A CoNLL-U file by lines. Line numbers count from 1."""

    content: Content
    kinds: NDArray[np.uint8]
    row_lines: NDArray[np.int32]
    columns: list[Coded]
    comment_lines: NDArray[np.intp]
    comments: list[bytes]
    """The comments that may be a `# newdoc` or a `# sent_id`."""


def read_table(content: Content) -> Table:
    """Split a file into columns; the only errors here are bad bytes and wrong numbers of columns."""
    data, size = content.data, content.size
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
            raise _not_ten(content, lines_before + int(wrong[0]) + 1, int(tabs_in_line[wrong[0]]) + 1)
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
        columns += _split_piece(codes, distinct, len(piece), content)
        piece_start = piece_end + 1
    every_kind = np.concatenate(kinds)
    lines = (np.flatnonzero(every_kind == ROW) + 1).astype(np.int32)
    return Table(content, every_kind, lines, columns, np.concatenate(comment_lines), comments)


def _slices(data: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> list[bytes]:
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _split_piece(codes: Ints, distinct: list[bytes], width: int, content: Content) -> list[Coded]:
    """The columns of a piece, from its codes and its distinct values."""
    try:
        fields = b"\t".join(distinct).decode("utf-8").split("\t") if distinct else []
    except UnicodeDecodeError:
        raise not_utf8(content.data, content.source) from None
    columns = []
    for column in range(width):
        numbers: dict[str, int] = {}
        numbered = [numbers.setdefault(field, len(numbers)) for field in fields[column::width]]
        columns.append(Coded(np.array(numbered, np.int32)[codes], list(numbers)))
    return columns


def _not_ten(content: Content, line: int, found: int) -> InputError:
    hint = "; are they separated by spaces?" if found == 1 else ""
    return content.error(f"expected 10 columns separated by tabs, found {found}{hint}", line)


# What makes the rows of a CoNLL-U sentence a tree over its words, checked for all sentences at once.
#
# Each check finds the rows that break it with array operations and hands the first one to `fail`. A tree has
# one root and no cycle. To find cycles without recursion, every word follows its head, then the head's head,
# then four, eight, ... steps at a time: after log2(n) doublings a word that has not left through a root is
# in a cycle or hangs on one.

WORD, RANGE, EMPTY, BAD = range(4)
"""The kinds of ID."""


class Fail(Protocol):
    """Raises the error that belongs to a row and a field."""

    def __call__(self, row: int, message: str, field: int) -> NoReturn: ...


@dataclass(frozen=True, eq=False)
class Ids:
    """What the ID column says, for each row."""

    kind: Ints
    first: Ints
    last: Ints


def is_number(text: str) -> bool:
    """Plain digits only (`int` would take "+1", "1_0" and " 1"), and few enough to fit."""
    return text.isascii() and text.isdigit() and len(text) < 10


def read_ids(column: Coded, fail: Fail) -> Ids:
    """`3` is a word, `3-4` a multi-word token, `3.1` an empty node."""
    parsed = np.zeros((max(1, len(column.values)), 3), np.int32)
    for code, value in enumerate(column.values):
        first, dash, last = value.partition("-")
        whole, dot, part = value.partition(".")
        if is_number(value):
            parsed[code] = WORD, int(value), int(value)
        elif dash and is_number(first) and is_number(last):
            parsed[code] = RANGE, int(first), int(last)
        elif dot and is_number(whole) and is_number(part):
            parsed[code, 0] = EMPTY
        else:
            parsed[code, 0] = BAD
    kind, first_id, last_id = parsed[column.codes].T
    bad = np.flatnonzero(kind == BAD)
    if bad.size:
        row = int(bad[0])
        fail(
            row,
            f'ID "{column[row]}" is neither a word (1) nor a multi-word token (1-2) nor an empty node (1.1)',
            ID,
        )
    return Ids(kind, first_id, last_id)


def check_ranges(ids: Ids, ranges: NDArray[np.intp], next_id: Ints, sentence: Ints, length: Ints, fail: Fail) -> None:
    """A multi-word token stands right before its first word, ends inside the sentence, overlaps no other."""
    first, last = ids.first[ranges], ids.last[ranges]
    shared = np.flatnonzero((sentence[1:] == sentence[:-1]) & (first[1:] <= last[:-1])) + 1
    if shared.size:
        at = int(shared[0])
        fail(
            int(ranges[at]),
            f"multi-word token {first[at]}-{last[at]} overlaps {first[at - 1]}-{last[at - 1]}",
            ID,
        )
    wrong = np.flatnonzero((first != next_id) | (last < first) | (last > length))
    if wrong.size:
        at = int(wrong[0])
        name = f"multi-word token {first[at]}-{last[at]}"
        if first[at] != next_id[at]:
            fail(int(ranges[at]), f"{name} stands before word {next_id[at]}", ID)
        if last[at] < first[at]:
            fail(int(ranges[at]), f"{name} ends before it starts", ID)
        fail(int(ranges[at]), f"{name} reaches beyond the sentence, which has {length[at]} words", ID)


def read_heads(column: Coded, first_word: Ints, length: Ints, rows: NDArray[np.intp], fail: Fail) -> Ints:
    """The head of each word as an index among all words, -1 for a root."""
    table = np.array([int(value) if is_number(value) else -1 for value in column.values] or [0], np.int32)
    head = table[column.codes]
    wrong = np.flatnonzero((head < 0) | (head > length))
    if wrong.size:
        at = int(wrong[0])
        if head[at] < 0:
            fail(int(rows[at]), f'HEAD "{column[at]}" is not a number of a word, nor 0 for the root', HEAD)
        fail(int(rows[at]), f"HEAD {head[at]} is out of range: the sentence has {length[at]} words", HEAD)
    return np.where(head == 0, np.int32(-1), first_word + head - 1).astype(np.int32)


def check_trees(
    head: Ints, sentence_words: Ints, sentence: Ints, rows: NDArray[np.intp], several_roots: bool, fail: Fail
) -> None:
    """One root for each sentence (or at least one, if `several_roots`) and no cycle."""
    roots = np.flatnonzero(head < 0)
    count = np.bincount(sentence[roots], minlength=len(sentence_words) - 1)
    rootless = np.flatnonzero(count == 0)
    if rootless.size:
        fail(int(rows[sentence_words[rootless[0]]]), "no root: no word of the sentence has HEAD 0", HEAD)
    if not several_roots and roots.size != len(count):
        second = int(np.flatnonzero(sentence[roots[1:]] == sentence[roots[:-1]])[0]) + 1
        ids = [int(roots[at] - sentence_words[sentence[roots[at]]]) + 1 for at in (second - 1, second)]
        fail(int(rows[roots[second]]), f"several roots: words {ids[0]} and {ids[1]} both have HEAD 0", HEAD)

    outside = len(head)  # where roots lead to, and where one then stays
    above = np.append(np.where(head < 0, outside, head), outside).astype(np.int32)
    climbing = np.flatnonzero(above[:-1] != outside)
    steps, longest = 1, int(np.diff(sentence_words).max(initial=0))
    while climbing.size and steps <= longest:
        above[climbing] = above[above[climbing]]
        climbing = climbing[above[climbing] != outside]
        steps *= 2
    if climbing.size:
        cycle = _find_cycle(head, int(climbing[0]))
        first = int(sentence_words[sentence[cycle[0]]])
        shown = " -> ".join(str(word - first + 1) for word in [*cycle, cycle[0]][:12])
        fail(int(rows[cycle[0]]), f"a cycle of heads: {shown}{' ...' if len(cycle) > 11 else ''}", HEAD)


def _find_cycle(head: Ints, word: int) -> list[int]:
    """The words of the cycle that `word` leads into, from its first word on."""
    met: dict[int, int] = {}
    while word not in met:
        met[word] = len(met)
        word = int(head[word])
    cycle = list(met)[met[word] :]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
