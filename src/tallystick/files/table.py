"""Column files as arrays: where each field of each line starts and ends.

A file is cut into blocks of whole lines that fit a processor's cache; each block becomes a few arrays:

    "EU B-ORG\nsaid O\n"      start  0  3  9 14       first    0  2      (first field of each line)
                               end    2  8 13 15       columns  2  2

Fields are separated by white space (any run of bytes up to 0x20; never by a no-break space, which occurs
inside tokens), or by exactly one separator, between which a field may be empty or hold blanks.

Its fields get numbers (`number_ranges`, `Numbering`), without Python objects being made of them.

A column of a large file has millions of strings and a few thousand distinct ones. A dictionary needs an
object and a look-up for each; here only the distinct ones ever become objects. Strings are ranges of bytes.
A range is read as 64-bit words, 32 bytes at a time (a gather of 32 bytes costs no more than one of 8), the
words are folded into a hash, and equal strings find each other in a table:

    1. every string writes its row into the slot of its hash; the first row stays ("the head");
    2. every string looks at its slot: if head and string are equal, byte by byte, the head is its number;
    3. those that differ from their head, by a clash of slots, go on to a next round with other slots.

Equal strings have equal hashes, so they stay together until a head among them is found. The bytes are always
compared, so a clash of hashes costs time but never gives a wrong number.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.engine.arrays import I64, ranges
from tallystick.engine.native import compiled
from tallystick.errors import InputError, Place, counted
from tallystick.files.source import LARGE, AnySource, Source, read_utf8
from tallystick.frozen import frozen

Indices = NDArray[np.intp]
Words = NDArray[np.uint64]

WIDTH = 32
MANY = 50_000
"""From so many ranges on the compiled part, which has to be loaded first, pays: a quarter of the time."""
SLAB = 1 << 13
"""Rows that are worked on at a time, so that their words stay in the processor's cache."""

_BYTE_MASKS = np.array([[0xFF] * length + [0] * (WIDTH - length) for length in range(WIDTH + 1)], np.uint8)
_MASKS: Words = _BYTE_MASKS.view("<u8")
_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))


def take_ranges(data: bytes, start: I64, length: I64) -> NDArray[np.uint8]:
    """The bytes of some ranges, one after the other."""
    if len(start) >= MANY and (native := compiled()) is not None:
        found = native.take_ranges(data, start, length)
        if found is not None:
            return found
    return np.frombuffer(data, np.uint8)[ranges(start, length)]


def find_line_ends(data: bytes) -> I64:
    """Where the lines of some bytes end."""
    if len(data) >= LARGE and (native := compiled()) is not None:
        found = native.find_line_ends(data)
        if found is not None:
            return found
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))


def hash_ranges(data: bytes, start: I64, length: I64) -> Words:
    """A number for the bytes of each range, all of them."""
    if len(data) >= LARGE and (native := compiled()) is not None:
        found = native.hash_ranges(data, start, length)
        if found is not None:
            return found
    return _hash_ranges(data, start, length)


def _hash_ranges(data: bytes, start: I64, length: I64) -> Words:
    """The same with NumPy: eight bytes at a time, the last ones without what follows them."""
    behind = data + bytes(8)
    windows: Words = np.ndarray(len(data) + 1, np.uint64, behind, strides=(1,))
    hashes: Words = length.astype(np.uint64) * _MULTIPLIERS[0]
    rows, offset = np.flatnonzero(length), 0
    while rows.size:
        words, more = windows[start[rows] + offset], (64 - 8 * np.minimum(length[rows] - offset, 8)).astype(np.uint64)
        words = words << more if sys.byteorder == "little" else words >> more
        hashes[rows] = _fold(hashes[rows], words[:, None])
        offset += 8
        rows = rows[length[rows] > offset]
    hashes *= _MULTIPLIERS[0]
    return hashes


def number_ranges(data: bytes, start: Indices, length: Indices) -> tuple[NDArray[np.int32], Indices]:
    """The number of each range, counted from 0 in order of first occurrence, and where each first occurs."""
    if len(start) >= MANY and (native := compiled()) is not None:
        found = native.number_ranges(data, start, length)
        if found is not None:
            return found
    end = int((start + length).max(initial=0)) + WIDTH
    return _number_ranges(data if end <= len(data) else data + bytes(WIDTH), start, length)


def _number_ranges(data: bytes, start: Indices, length: Indices) -> tuple[NDArray[np.int32], Indices]:
    """The same with NumPy, for data that go on for 32 bytes behind the last range."""
    ranges = _Ranges(data, start, length)
    hashes = ranges.hashes
    head = np.empty(len(start), np.intp)
    rows: Indices = np.arange(len(start))
    bits = max(4, len(start).bit_length())
    table = np.empty(1 << bits, np.intp)
    turn = 0
    while rows.size:
        mine = hashes[rows]
        slot = (((mine ^ np.uint64(turn)) * _MULTIPLIERS[1]) >> np.uint64(64 - bits)).astype(np.intp)
        table[slot[::-1]] = rows[::-1]  # of several values for one place the last is kept
        found = table[slot]
        equal = ranges.compare(rows, found)
        head[rows[equal]] = found[equal]
        rows = rows[~equal]
        turn = (turn + int(_MULTIPLIERS[0])) % (1 << 64)
    is_head = head == np.arange(len(start))
    numbers = (np.cumsum(is_head) - 1).astype(np.int32)
    return numbers[head], np.flatnonzero(is_head)


class _Ranges:
    """Ranges of bytes with their hashes and their first 32 bytes (zeros after the end)."""

    def __init__(self, data: bytes, start: Indices, length: Indices) -> None:
        self.windows = np.ndarray((len(data) - WIDTH + 1,), f"V{WIDTH}", data, 0, (1,))
        self.start, self.length = start, length
        self.hashes = np.empty(len(start), np.uint64)
        self.opening = np.empty((len(start), WIDTH // 8), np.uint64)
        for begin in range(0, len(start), SLAB):
            slab = slice(begin, begin + SLAB)
            self.opening[slab] = self._load(start[slab], length[slab])
            self.hashes[slab] = _fold(length[slab].astype(np.uint64), self.opening[slab])
        rows, offset = np.flatnonzero(length > WIDTH), WIDTH
        while rows.size:
            words = self._load(start[rows] + offset, length[rows] - offset)
            self.hashes[rows] = _fold(self.hashes[rows], words)
            offset += WIDTH
            rows = rows[length[rows] > offset]

    def _load(self, start: Indices, length: Indices) -> Words:
        """The 32 bytes from `start` on as four words, with zeros from `length` on."""
        words: Words = self.windows[start].view("<u8").reshape(len(start), WIDTH // 8)
        words &= _MASKS.take(np.minimum(length, WIDTH), axis=0)
        return words

    def compare(self, rows: Indices, others: Indices) -> NDArray[np.bool_]:
        """Which ranges have the same bytes."""
        equal: NDArray[np.bool_] = self.length[rows] == self.length[others]
        for begin in range(0, len(rows), SLAB):
            slab = slice(begin, begin + SLAB)
            mine, other = (self.opening.take(of[slab], axis=0) for of in (rows, others))
            equal[slab] &= _compare_words(mine, other)
        at, offset = np.flatnonzero(equal & (self.length[rows] > WIDTH) & (rows != others)), WIDTH
        while at.size:
            left = self.length[rows[at]] - offset
            mine, other = (self._load(self.start[of[at]] + offset, left) for of in (rows, others))
            equal[at] = _compare_words(mine, other)
            offset += WIDTH
            at = at[equal[at] & (left > WIDTH)]
        return equal


def _compare_words(mine: Words, other: Words) -> NDArray[np.bool_]:
    """`(mine == other).all(axis=1)`: the four bools of a row are read as one number, which is faster."""
    equal: NDArray[np.bool_] = (mine == other).view("<u4").ravel() == 0x01010101
    return equal


def _fold(hashes: Words, words: Words) -> Words:
    for column in words.T:
        hashes = (hashes ^ column) * _MULTIPLIERS[0]
        hashes ^= hashes >> np.uint64(29)
    return hashes


# The same over many blocks: a column of five million tags holds a few dozen distinct ones, so that what a block has of them is
# looked up in a dictionary.

Codes = NDArray[np.int32]
_UNKNOWN = -1


class Numbering:
    """The numbers 0, 1, 2, ... of the distinct byte strings seen so far."""

    def __init__(self) -> None:
        self.strings: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._of_byte = np.full(256, _UNKNOWN, np.int32)

    def number_lines(self, data: bytes, lines: int) -> NDArray[np.integer] | None:
        """The number of each of so many lines, each of which ends in a line end; None if there are more or fewer."""
        native = compiled() if lines >= MANY else None
        found = native.number_lines(data, lines) if native is not None else None
        if found is not None:
            codes, first = found
            return self._renumber(codes, [data[begin : data.index(b"\n", begin)] for begin in first.tolist()])
        end = find_line_ends(data)
        if len(end) != lines:
            return None
        return self.number(data + PADDING, np.concatenate(([0], end[:-1] + 1)), end)

    def number_texts(self, texts: list[list[str]], sizes: I64) -> NDArray[np.integer] | None:
        """The number of each string in many lists of so many, without joining them; None if that has to be done."""
        found = native.number_texts(texts, sizes) if (native := compiled()) is not None else None
        if found is None:
            return None
        codes, first = found
        text = np.searchsorted(np.cumsum(sizes), first, side="right")
        token = first - np.cumsum(sizes)[text] + sizes[text]
        strings = (texts[i][k].encode() for i, k in zip(text.tolist(), token.tolist(), strict=True))
        return self._renumber(codes, list(strings))

    def _renumber(self, codes: Codes, strings: list[bytes]) -> NDArray[np.integer]:
        """The numbers of strings that have numbers of their own: new ones come in the order of `number`."""
        for string in [*(one for one in strings if len(one) != 1), *sorted(one for one in strings if len(one) == 1)]:
            self._number(string)
        numbers = [self._numbers[string] for string in strings]
        # a block takes little memory
        return np.array(numbers, np.uint8 if len(self.strings) <= 256 else np.int32)[codes]

    def number(self, block: bytes, start: Indices, end: Indices) -> Codes:
        """The number of each field block[start:end]; the block ends in at least 32 bytes of padding."""
        size = end - start
        # most tags are O: a string of one byte is looked up by that byte
        first = np.frombuffer(block, np.uint8)[start]
        numbers = self._of_byte[first]
        longer = np.flatnonzero(size != 1)
        if len(longer):
            begin = start[longer]
            codes, occurs = number_ranges(block, begin, size[longer])
            strings = (block[a:b] for a, b in zip(begin[occurs].tolist(), end[longer[occurs]].tolist(), strict=True))
            table = np.fromiter(map(self._number, strings), np.int32, len(occurs))
            numbers[longer] = table[codes]
        unknown = np.flatnonzero((numbers == _UNKNOWN) & (size == 1))
        if len(unknown):
            for byte in sorted(set(first[unknown].tolist())):
                self._of_byte[byte] = self._number(bytes([byte]))
            numbers[unknown] = self._of_byte[first[unknown]]
        return numbers

    def _number(self, string: bytes) -> int:
        number = self._numbers.setdefault(string, len(self.strings))
        if number == len(self.strings):
            self.strings.append(string)
        return number


BLOCK = 1 << 18
PADDING = b"\n" * WIDTH  # so that the numberer can read so many bytes from any field's start


@frozen(eq=False)
class LineBlock:
    """Some whole lines of a file: its fields, the first field and the number of fields of each line.

    A line without fields is blank. `line` is the number of the first line, counted from 1.
    """

    data: bytes
    line: int
    start: I64
    end: I64
    first: I64
    columns: I64

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


def split_lines(source: Source, separator: str | None = None) -> Iterator[LineBlock]:
    """The blocks of a source's content."""
    data = read_utf8(source)
    mark = None if separator is None else separator.encode()
    if mark is not None and (len(mark) != 1 or mark in b"\r\n"):
        raise InputError(f"separator {separator!r} is not one ASCII character; None means any white space", str(source))
    position, line = 0, 1
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


def column_index(block: LineBlock, lines: npt.NDArray[np.int64], column: int) -> I64:
    """The index of a column's field in each of the lines, all of which have it."""
    if column >= 0:
        return block.first[lines] + column
    return block.first[lines] + block.columns[lines] + column


def place_of(block: LineBlock, source: Source, line: int) -> Place:
    """The place of a line for a message."""
    return source.place(block.line + line, None, block.text(line))


# Column files with one token a line: which lines are tokens, where sentences and documents begin.
#
# A blank line ends a sentence, a -DOCSTART- line begins a document, a line that opens with the comment mark
# belongs to nobody. Everything else is a token and has as many columns as the first token of the file.

_DOCSTART = b"-DOCSTART-"
LONGEST_FIELD = 1 << 20
"""A token or tag that is longer is none."""


@frozen(eq=False)
class Tokens:
    """The tokens of a file as one run of bytes with their sizes."""

    data: npt.NDArray[np.uint8]
    sizes: npt.NDArray[np.int32]

    def __getitem__(self, index: int) -> str:
        start = int(self.sizes[:index].sum())
        return self.data[start : start + int(self.sizes[index])].tobytes().decode("utf-8", "replace")

    def all(self) -> list[str]:
        """Every token as a string."""
        data = self.data.tobytes()
        ends = np.cumsum(self.sizes)
        pairs = zip((ends - self.sizes).tolist(), ends.tolist(), strict=True)
        return [data[start:end].decode("utf-8", "replace") for start, end in pairs]

    def first_difference(self, other: Tokens) -> int | None:
        """The index of the first token that differs, among those that both have."""
        shared = min(len(self.sizes), len(other.sizes))
        differ = self.sizes[:shared] != other.sizes[:shared]
        same_size = int(np.argmax(differ)) if differ.any() else shared
        length = int(self.sizes[:same_size].sum())
        unequal = self.data[:length] != other.data[:length]
        if unequal.any():
            byte = int(np.argmax(unequal))
            return int(np.searchsorted(np.cumsum(self.sizes[:same_size]), byte, side="right"))
        return same_size if same_size < shared else None


@frozen(eq=False)
class ColumnFile:
    """The chosen columns of a file as numbers; sentence i is tokens offsets[i] to offsets[i + 1].

    `documents` is the document of each sentence, where the file has -DOCSTART- lines.
    """

    name: str
    codes: tuple[npt.NDArray[np.int32], ...]
    offsets: I64
    first_line: I64
    documents: I64 | None
    tokens: Tokens | None

    def place(self, index: int) -> Place:
        """The file and line of the index-th token."""
        sentence = int(np.searchsorted(self.offsets, index, side="right")) - 1
        return Place(self.name, int(self.first_line[sentence]) + index - int(self.offsets[sentence]))


def read_columns(
    name: AnySource,
    columns: tuple[int, ...],
    numbering: Numbering,
    token_column: int | None = 0,
    separator: str | None = None,
    comment: str | None = None,
    keep_tokens: bool = False,
) -> ColumnFile:
    """Read and number the given columns of a file (`-` is standard input, `.gz` is unpacked)."""
    source = Source.of(name)
    codes: list[list[npt.NDArray[np.int32]]] = [[np.zeros(0, dtype=np.int32)] for _ in columns]
    firsts: list[I64] = []
    lines: list[I64] = []
    documents: list[I64] = []
    token_data = [np.zeros(0, dtype=np.uint8)]
    token_sizes = [np.zeros(0, dtype=np.int32)]
    count = starts = 0
    width = _width_of_file(source, separator, comment) if source.is_part else 0
    within = False  # whether the line before is a token
    asked = columns if token_column is None else (*columns, token_column)
    for block in split_lines(source, separator):
        is_token, opening = _find_tokens(block, source, comment, within)
        tokens = np.flatnonzero(is_token)
        if len(tokens):
            width = _check_width(block, source, tokens, asked, width)
            for column, parts in zip(columns, codes, strict=True):
                index = column_index(block, tokens, column)
                parts.append(numbering.number(block.data, block.start[index], block.end[index]))
            if keep_tokens and token_column is not None:
                index = column_index(block, tokens, token_column)
                sizes = block.end[index] - block.start[index]
                token_data.append(take_ranges(block.data, block.start[index], sizes))
                token_sizes.append(sizes.astype(np.int32))
        begins = np.flatnonzero(~np.concatenate(([within], is_token[:-1]))[tokens])
        firsts.append(begins + count)
        lines.append(tokens[begins] + block.line)
        documents.append(np.searchsorted(np.asarray(opening, dtype=np.int64), tokens[begins]) + starts)
        count += len(tokens)
        starts += len(opening)
        within = bool(is_token[-1])
    if not count:
        raise InputError("holds no tokens", str(source))
    document = np.concatenate(documents)
    return ColumnFile(
        str(source),
        tuple(np.concatenate(parts) for parts in codes),
        np.concatenate((*firsts, [count])),
        source.lines_of_file(np.concatenate(lines)),
        np.maximum(document - 1, 0) if starts else None,
        Tokens(np.concatenate(token_data), np.concatenate(token_sizes)) if len(token_sizes) > 1 else None,
    )


def _find_tokens(
    block: LineBlock, source: Source, comment: str | None, within: bool
) -> tuple[NDArray[np.bool_], list[int]]:
    """Which lines of a block are tokens, and which begin a document; `within` says whether the line before it is a token."""
    if len(block.end) and int((block.end - block.start).max()) > LONGEST_FIELD:
        raise InputError(f"a field is longer than {LONGEST_FIELD:,} bytes; is this a column file?", str(source))
    is_token = block.columns > 0
    opening = _lines_that_start_with(block, _DOCSTART) if _DOCSTART in block.data else []
    is_token[opening] = False
    remarks = _lines_that_start_with(block, comment.encode()) if comment else []
    is_token[remarks] = False
    for remark in remarks:
        if is_token[remark - 1] if remark else within:
            raise InputError("a comment inside a sentence", place_of(block, source, remark))
    return is_token, opening


def _width_of_file(source: Source, separator: str | None, comment: str | None) -> int:
    """The number of columns of the file that a part was cut out of, so that parts are held to it as the whole is; 0 if its head does not show it."""
    head = Source.of(source.name).head()
    for block in split_lines(Source.of_text(head[: head.rfind(b"\n") + 1], source.name), separator):
        tokens = np.flatnonzero(_find_tokens(block, source, comment, False)[0])
        if len(tokens):
            return int(block.columns[tokens[0]])
    return 0


def _check_width(block: LineBlock, source: Source, tokens: Indices, asked: tuple[int, ...], width: int) -> int:
    """The number of columns, which is that of the first token of the file (`width`, once it is known) in every line."""
    if not width:
        width = int(block.columns[tokens[0]])
        for column in asked:
            if not -width <= column < width:
                place = place_of(block, source, int(tokens[0]))
                raise InputError(f"column {column} was asked for, but the line has {width} columns", place)
    wrong = np.flatnonzero(block.columns[tokens] != width)
    if len(wrong):
        line = int(tokens[wrong[0]])
        raise InputError(
            f"expected {width} columns as in the lines before, found {block.columns[line]}",
            place_of(block, source, line),
        )
    return width


def _lines_that_start_with(block: LineBlock, mark: bytes) -> list[int]:
    """The indices of the lines whose first field opens with a mark."""
    found = []
    lines = np.flatnonzero(block.columns)
    begins = block.start[block.first[lines]]
    position = block.data.find(mark)
    while position >= 0:
        index = int(np.searchsorted(begins, position))
        if index < len(begins) and begins[index] == position:
            found.append(int(lines[index]))
        position = block.data.find(mark, position + len(mark))
    return found


# Tables of text, CSV and TSV: the one reader of rows of cells, whoever needs them.


LARGEST = 1 << 30
"""Characters of a cell: it may hold a document."""


def separator(name: str, text: str = "") -> str:
    """What stands between cells: a tab in .tsv; else a comma, or a semicolon where the first line has more of these."""
    first = text.split("\n", 1)[0]
    return "\t" if name.lower().endswith(".tsv") else ";" if first.count(";") > first.count(",") else ","


def read_cells(
    text: str, file: str, mark: str, *, quoted: bool = True, even: bool = True, first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """The rows with the numbers of their lines, of which the text's first has the number `first`; empty lines are left out. `quoted` cells may
    hold separators and line ends; if `even`, a row that has another number of cells than the first is an error."""
    import csv

    csv.field_size_limit(LARGEST)
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=mark,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    width = 0
    try:
        for row in rows:
            if not row:
                continue
            width = width or len(row)
            line = first + rows.line_num - 1
            if even and len(row) != width:
                message = f"expected {counted(width, 'cell')}, as the first line has, found {len(row)}"
                raise InputError(message, Place(file, line))
            yield line, row
    except csv.Error as error:
        raise InputError(f"is no table: {error}", Place(file, first + rows.line_num - 1)) from None
