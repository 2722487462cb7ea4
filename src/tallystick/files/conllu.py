"""CoNLL-U: the lines of a file as a table of columns, and the checks that every task makes of its words.

No line is looked at by Python on its own. NumPy finds the line ends, the tabs and the first byte of each
line, drops comments and blank lines, and cuts a row into five pieces of columns that go together:

    ID | FORM LEMMA | UPOS XPOS FEATS    | HEAD DEPREL DEPS | MISC
    2  | dogs dog   | NOUN NNS Number=Plur | 3 nsubj 3:nsubj  | SpaceAfter=No

The pieces stay ranges of bytes until they are numbered (`numbering`), and those that nobody asks for are not.
Only distinct pieces, a few per cent, are then split into fields. Everything that has to be *parsed* (ids,
heads, features, enhanced dependencies) is parsed once for each distinct value and looked up from then on.

`read_words` checks what every file has to be, whoever reads it: comments stand before a sentence and a blank
line behind it, words are numbered from 1, a range stands before its words, no FORM is empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.native import compiled
from tallystick.errors import InputError
from tallystick.files.source import LARGE, Source, read_utf8
from tallystick.files.table import number_ranges, take_ranges
from tallystick.frozen import frozen

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
ROW, COMMENT, BLANK = range(3)
"""The kinds of line."""

STRETCH = 1 << 18
"""How many bytes are searched for tabs at a time, so that their positions take little memory."""

PIECES = ((ID,), (FORM, LEMMA), (UPOS, XPOS, FEATS), (HEAD, DEPREL, DEPS), (MISC,))
_ENDS = np.array([piece[-1] - MISC for piece in PIECES])
"""Where pieces end, counted in tabs before the end of the line, which ends MISC."""
_PIECE_OF = np.repeat(np.arange(len(PIECES)), [len(piece) for piece in PIECES])
"""The piece of each column."""
_NAMED = np.zeros(256, np.bool_)
_NAMED[list(b"nsg")] = True  # newdoc, sent_id, global.Entity
_SPACE = np.zeros(256, np.bool_)
_SPACE[list(b" \t")] = True

SPACES = {ord(c): None for c in " \u00a0\u1680\u202f\u205f\u3000"} | dict.fromkeys(range(0x2000, 0x200B))
"""Unicode's category Zs. Some treebanks have spaces inside words ("10 000"); the text has none."""
_SPACE_STARTS = (b"\t", *{chr(space).encode() for space in SPACES})
"""What a form without a word begins with: the end of the field, or a space."""
_LIKE_SPACE = np.zeros(256, np.bool_)
_LIKE_SPACE[[start[0] for start in _SPACE_STARTS]] = True

Ints = NDArray[np.int32]


@frozen(eq=False)
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
    numbers: defaultdict[str, int] = defaultdict(count().__next__)

    def renumbered(column: Coded) -> Ints:
        if len(column.codes) < len(column.values):
            column = column.compacted()
        values: Iterable[str] = map(canonical, column.values) if canonical else column.values
        table = np.fromiter(map(numbers.__getitem__, values), np.int32, len(column.values))
        return table[column.codes] if len(table) else column.codes

    return renumbered(a), renumbered(b)


@frozen(eq=False)
class Content:
    """A source's bytes, of which the last line is ended."""

    source: Source
    data: bytes

    def error(self, message: str, line: int, field: int | None = None, column: int | None = None) -> InputError:
        """An error at a line (counted from 1), with a caret under a field or a column if there is one to point at."""
        lines = self.data.split(b"\n", line)
        text = lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else None
        if text is not None and field is not None:
            column = sum(len(part) + 1 for part in text.split("\t")[:field]) + 1
        return self.source.error(message, line, column, text)


def read_content(source: Source) -> Content:
    """Take in a file as it is: with a byte order mark or not, with the line ends of Windows or not."""
    data = read_utf8(source)
    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    return Content(source, data if data.endswith(b"\n") or not data else data + b"\n")


@frozen(eq=False)
class Table:
    """A CoNLL-U file by lines. Line numbers count from 1."""

    content: Content
    kinds: NDArray[np.uint8]
    row_lines: NDArray[np.int32]
    columns: dict[int, Coded]
    """Those that were asked for, and those of the same pieces."""
    bounds: NDArray[np.signedinteger]
    """Where each piece of each row ends."""
    starts: NDArray[np.signedinteger]
    """Where each row begins."""
    comment_lines: NDArray[np.intp]
    comments: list[bytes]
    """The comments that may be a `# newdoc`, a `# sent_id` or a `# global.Entity`."""

    def fail(self, row: int, message: str, field: int) -> NoReturn:
        """Raise the error that belongs to a row and a field."""
        raise self.content.error(message, int(self.row_lines[row]), field)

    @property
    def has_misc(self) -> NDArray[np.bool_]:
        """Which rows have something in MISC."""
        data = np.frombuffer(self.content.data, np.uint8)
        length = self.bounds[:, -1] - self.bounds[:, -2]
        return np.asarray((length != 2) | (data[self.bounds[:, -2] + 1] != ord("_")))

    def line(self, row: int) -> bytes:
        """A whole row."""
        return self.content.data[int(self.starts[row]) : int(self.bounds[row, -1])]

    def misc(self, rows: NDArray[np.intp]) -> list[bytes]:
        """The last field of some rows."""
        return _slices(self.content.data, self.bounds[rows, -2] + 1, self.bounds[rows, -1])


def read_table(content: Content, wanted: Collection[int]) -> Table:
    """Split a file into columns; the only errors here are wrong numbers of columns."""
    data, size = content.data, len(content.data)
    offset_type = np.int32 if size < 2**31 else np.int64
    kinds, starts = [np.zeros(0, np.uint8)], [np.zeros(0, offset_type)]
    bounds = [np.zeros((0, len(PIECES)), offset_type)]
    native = compiled() if size >= LARGE else None
    begin, lines_before = 0, 0
    while begin < size:
        end = data.find(b"\n", min(begin + (STRETCH if native is None else 1 << 30), size) - 1) + 1
        stretch = np.frombuffer(data, np.uint8, end - begin, begin)
        found = native.cut_rows(stretch, _PIECE_OF) if native is not None else None
        kind, start, bound, fields = _cut_rows(stretch) if found is None else found
        lines_before += len(kind)
        if fields != len(_PIECE_OF):
            raise _not_ten(content, lines_before, fields)
        kinds.append(kind)
        starts.append(start + offset_type(begin) if begin else start.astype(offset_type, copy=False))
        bounds.append(bound + offset_type(begin) if begin else bound.astype(offset_type, copy=False))
        begin = end

    every_kind, every_start, every_bound = _joined(kinds), _joined(starts), _joined(bounds)
    is_row = every_kind == ROW
    row_start, lines = every_start[is_row], (np.flatnonzero(is_row) + 1).astype(np.int32)
    columns: dict[int, Coded] = {}
    for at, piece in enumerate(PIECES):
        if wanted and any(column in wanted for column in piece):
            piece_start = row_start if at == 0 else every_bound[:, at - 1] + offset_type(1)
            piece_end = every_bound[:, at]
            codes, occurs = number_ranges(data, piece_start, piece_end - piece_start)
            distinct = _texts(data, piece_start[occurs].astype(np.intp), piece_end[occurs].astype(np.intp))
            columns.update(zip(piece, _split_piece(codes, distinct, len(piece)), strict=True))
    named, comments = _find_comments(data, every_kind, every_start)
    return Table(content, every_kind, lines, columns, every_bound, row_start, named + 1, comments)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Arrays behind an empty one, in one array; of a single one nothing is copied."""
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def _cut_rows(stretch: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp], int]:
    """The kind and the start of each line, where each piece of each row ends, and the number of fields of a row; a row that has another
    number is the last."""
    marks = np.flatnonzero((stretch - np.uint8(ord("\t"))) < 2)  # tabs and line ends, which are the next byte
    line_marks = np.flatnonzero(stretch[marks] == ord("\n"))
    starts = np.concatenate(([0], marks[line_marks[:-1]] + 1))
    first = stretch[starts]
    kinds = np.full(len(starts), ROW, np.uint8)
    kinds[first == ord("\n")] = BLANK
    kinds[first == ord("#")] = COMMENT
    fields = np.diff(line_marks, prepend=-1)
    wrong = np.flatnonzero((kinds == ROW) & (fields != len(_PIECE_OF)))
    if wrong.size:
        lines = int(wrong[0]) + 1
        return kinds[:lines], starts[:lines], np.zeros((0, len(PIECES)), np.intp), int(fields[lines - 1])
    return kinds, starts, marks[line_marks[kinds == ROW][:, None] + _ENDS], len(_PIECE_OF)


def _find_comments(data: bytes, kinds: NDArray[np.uint8], starts: NDArray[Any]) -> tuple[NDArray[np.intp], list[bytes]]:
    """The lines, counted from 0, that may be a comment which names something, and their text."""
    lines = np.flatnonzero(kinds == COMMENT)
    every = np.frombuffer(data, np.uint8)
    # `# text` is the long one among the comments, so look at the letter after the space first.
    first, second = (every[np.minimum(starts[lines].astype(np.intp) + k, len(every) - 1)] for k in (1, 2))
    named = lines[_NAMED[first] | (_SPACE[first] & (_NAMED[second] | _SPACE[second]))]
    ends = np.append(starts, len(data))[named + 1] - 1
    return named, _slices(data, starts[named], ends)


def _slices(data: bytes, starts: NDArray[Any], ends: NDArray[Any]) -> list[bytes]:
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _texts(data: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> bytes:
    """Ranges of fields, each of which is followed by a tab or the end of its line; a tab stands behind each here."""
    sizes = ends - starts + 1
    taken = take_ranges(data, starts, sizes)
    taken[np.cumsum(sizes) - 1] = ord("\t")
    return taken.tobytes()


def _split_piece(codes: Ints, distinct: bytes, width: int) -> list[Coded]:
    """The columns of a piece, from its codes and its distinct values: a piece occurs once, its fields may occur in several."""
    if width == 1:
        return [Coded(codes, distinct.decode("utf-8").split("\t")[:-1])]
    every_end = np.flatnonzero(np.frombuffer(distinct, np.uint8) == ord("\t"))
    every_start = np.concatenate(([0], every_end + 1))
    columns = []
    for column in range(width):
        start, end = every_start[column:-1:width], every_end[column::width]
        numbers, occurs = number_ranges(distinct, start, end - start)
        values = _texts(distinct, start[occurs], end[occurs]).decode("utf-8").split("\t")[:-1]
        columns.append(Coded(numbers[codes], values))
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


@frozen(eq=False)
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
        fail(int(ranges[at]), f"{name} is beyond the sentence, which has {length[at]} words", ID)


@frozen(eq=False)
class Comments:
    """The comments that name something, each with the sentence that it stands before."""

    sentence: NDArray[np.intp]
    lines: list[bytes]

    def values(self, name: str, *keys: str) -> dict[int, str]:
        """By sentence, what stands after `# key =` (all keys begin with `name`); empty if nothing does."""
        word, found = name.encode(), {}
        for at in [at for at, line in enumerate(self.lines) if word in line]:
            key, _, value = self.lines[at][1:].decode("utf-8", "replace").partition("=")
            if " ".join(key.split()) in keys:
                found[int(self.sentence[at])] = value.strip()
        return found


@frozen(eq=False)
class Words:
    """The sentences and words of a table, checked. Rows are numbers of the table's rows."""

    table: Table
    ids: Ids
    sentence_rows: NDArray[np.intp]
    """The first row of each sentence."""
    sentence_of_row: Ints
    rows: NDArray[np.intp]
    """Those of the words."""
    sentence_words: Ints
    """Offsets of the sentences' words, one more than there are sentences."""
    ranges: NDArray[np.intp]
    """The rows of multi-word tokens."""
    ranges_begin: NDArray[np.intp]
    """The first word of each of them, among all words."""

    @property
    def length(self) -> Ints:
        """How many words each sentence has."""
        return np.diff(self.sentence_words)

    @property
    def lines(self) -> NDArray[np.int64]:
        """The line of the file in which each word stands."""
        return self.table.content.source.lines_of_file(self.table.row_lines[self.rows].astype(np.int64))

    def comments(self) -> Comments:
        """The comments that stand before a sentence."""
        table = self.table
        before = np.searchsorted(table.row_lines[self.sentence_rows], table.comment_lines)
        named = np.count_nonzero(before < len(self.sentence_rows))  # the others stand behind the last sentence
        return Comments(before[:named], table.comments[:named])


def read_words(source: Source, wanted: Collection[int]) -> Words:
    """The words of a file, with the columns that are wanted; see `check_words`."""
    return check_words(read_table(read_content(source), {ID, *wanted}))


def check_words(table: Table) -> Words:
    """The words of a table. What is no CoNLL-U is an error with its place, the same for every task."""
    sentence_rows = _find_sentences(table)
    ids = read_ids(table.columns[ID], table.fail)
    is_word = ids.kind == WORD
    words = np.flatnonzero(is_word)
    seen = np.cumsum(is_word) - is_word  # the number of words before each row
    sentence_words = np.append(seen[sentence_rows], len(words)).astype(np.int32)
    length = np.diff(sentence_words)
    wordless = np.flatnonzero(length == 0)
    if wordless.size:
        table.fail(int(sentence_rows[wordless[0]]), "a sentence without words", ID)
    sentence_of_row = np.repeat(
        np.arange(len(sentence_rows), dtype=np.int32), np.diff(np.append(sentence_rows, len(table.row_lines)))
    )
    next_id = seen - sentence_words[sentence_of_row] + 1
    gap = np.flatnonzero(is_word & (ids.first != next_id))
    if gap.size:
        row = int(gap[0])
        table.fail(row, f"ID {ids.first[row]} where {next_id[row]} was expected", ID)
    ranges = np.flatnonzero(ids.kind == RANGE)
    in_sentence = sentence_of_row[ranges]
    check_ranges(ids, ranges, next_id[ranges], in_sentence, length[in_sentence], table.fail)
    _check_forms(table, ids)
    return Words(table, ids, sentence_rows, sentence_of_row, words, sentence_words, ranges, seen[ranges])


def _find_sentences(table: Table) -> NDArray[np.intp]:
    """The first row of each sentence; comments stand before a sentence, a blank line stands after it."""
    kinds, error = table.kinds, table.content.error
    before = np.concatenate(([np.uint8(BLANK)], kinds[:-1])) if len(kinds) else kinds
    wrong = np.flatnonzero((kinds != ROW) & (before != ROW) & (kinds == BLANK))
    if wrong.size:
        raise error("a blank line with no sentence before it; remove the line", int(wrong[0]) + 1)
    wrong = np.flatnonzero((kinds == COMMENT) & (before == ROW))
    if wrong.size:
        raise error(
            "a comment inside a sentence; comments belong before the first word (is a blank line missing?)",
            int(wrong[0]) + 1,
        )
    if len(kinds) and kinds[-1] == ROW:
        raise error("the last sentence is not closed by a blank line; is the file cut short?", len(kinds))
    return np.flatnonzero(before[table.row_lines - 1] != ROW)


def _check_forms(table: Table, ids: Ids) -> None:
    """No FORM is empty, or nothing but spaces, except that of an empty node. Only forms that begin like a space are read."""
    data = table.content.data
    begins = table.bounds[:, 0]
    suspect = np.flatnonzero(_LIKE_SPACE[np.frombuffer(data, np.uint8)[begins + 1]])
    for row in suspect[ids.kind[suspect] != EMPTY].tolist():
        begin = int(begins[row]) + 1
        if data.startswith(_SPACE_STARTS, begin):
            form = data[begin : data.index(b"\t", begin)]
            if not form.decode().translate(SPACES):
                table.fail(row, "an empty FORM", FORM)


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
