r"""Coreference from any source: finds out which format a file has, and reads it.

| format   | is known by                                                        |
|----------|--------------------------------------------------------------------|
| conll    | a line `#begin document ...`                                       |
| corefud  | the comments of CoNLL-U, or a line with its ten columns            |
| jsonl    | `{` as the first character                                         |

The readers are strict: a file that was taken for the wrong format is an error in its first lines, not a
low score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tallystick.engine.arrays import number as number_densely
from tallystick.engine.arrays import offsets_of, sort_order
from tallystick.engine.native import compiled
from tallystick.errors import MetricError, counted, did_you_mean, some
from tallystick.files.boundaries import Boundaries, find_marked, newdoc_boundaries
from tallystick.files.source import LARGE, AnySource, Format, Opening, Pieces, Source, begins_list, find_format
from tallystick.files.table import find_line_ends, hash_ranges, take_ranges
from tallystick.tasks.coreference.chains import Chains, IntArray, KeptTexts, document_key, number_by_first

_CONLL_U_COMMENT = re.compile(rb"^#[ \t]*(?:newdoc|newpar|global\.\w+|sent_id|text)\b", re.MULTILINE)
_CONLL_U_ROW = re.compile(rb"^\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}$", re.MULTILINE)


def read_chains(
    name: AnySource | Chains, *, format: str | None = None, fields: Sequence[str] = (), keep_text: bool = False
) -> Chains:
    """Read one side of a corpus: a path, a `.gz` path, or `-` for standard input.

    The format is found out from the content unless it is given. `fields` says where the clusters of a
    JSONL file are if it has gold and predicted ones, in order of preference: `("predicted_clusters",
    "clusters")`. `keep_text` keeps the words, which no metric reads, for a report.
    """
    if isinstance(name, Chains):  # from Python
        return name
    pieces = Pieces(name)
    formats = {one.name: one for one in FORMATS}
    if format and format not in formats:
        raise MetricError(f'no coreference format "{format}"; expected {some(formats)}.{did_you_mean(format, formats)}')
    chosen = formats[format] if format else _find_format(pieces)
    assert chosen.read is not None
    found: Chains = chosen.read(pieces, fields=fields, keep_text=keep_text)
    return found


def _find_format(pieces: Pieces) -> Format:
    head = pieces.first
    content = head.lstrip()
    if not content:
        # Blank lines may go on for longer than a piece, but no serious file begins like that.
        raise pieces.error("has only blank lines; expected documents")
    opening = Opening(pieces.source)
    opening.head = head
    chosen = find_format(FORMATS, opening)
    if chosen is not None:
        return chosen
    line = head.count(b"\n", 0, len(head) - len(content)) + 1
    raise pieces.error(
        "begins like no known coreference format; expected #begin document (CoNLL), CoNLL-U with Entity= "
        "(CorefUD), or a JSON object a line with clusters",
        line,
        1,
    )


# CoNLL-2011/2012 and SemEval column files: one token a line, coreference in the last column.
#
#     #begin document (nw/wsj_0001); part 000
#     nw/wsj_0001  0  0  Mary   (0)
#     nw/wsj_0001  0  1  saw    -
#     nw/wsj_0001  0  2  her    (1|(0)
#     nw/wsj_0001  0  3  dog    1)
#
#     #end document
#
# Six tokens of seven have nothing in that column, so the work is to find the others without touching every
# field. A piece of the file is an array of bytes: the newlines give the lines, the byte before a newline
# tells `-` and `_` (nothing) from everything else, and only what is left is cut out and read. No Python
# code runs for a line without brackets; its only trace is that it is counted.
#
# Bracket notation, thousands of cells at a time.
#
# A coreference cell is a sequence of elements, with or without `|` between them:
#
#     (12      a mention of entity 12 begins here
#     12)      the mention of entity 12 that began last ends here
#     (12)     a mention of one token
#
# `find_elements` cuts the bytes of many cells, each closed by a newline, into elements. Between two
# neighbouring punctuation bytes there is either an id or nothing, so that the two bytes and that one bit
# decide everything:
#
#     \n ( 1 2 ( 3 ) | 4 ) \n         left  id  right
#     ^  ^     ^   ^ ^   ^ ^           \n   -    (      nothing to see
#     |  +-12--+-3-+ +-4-+ |           (    12   (      12 begins
#                                      (    3    )      3 begins and ends
#                                      )    -    |      nothing to see
#                                      |    4    )      4 ends
#                                      )    -    \n     nothing to see
#
# `match_brackets` finds for each beginning its end. Only elements of the same entity can match, so they are
# sorted by entity; inside an entity the depth (beginnings minus ends so far) makes each pair two neighbours
# of one level.

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

ID, OPEN, CLOSE, BAR, NEWLINE = range(5)

_KIND = np.zeros(256, np.uint8)
for _byte, _kind in ((b"(", OPEN), (b")", CLOSE), (b"|", BAR), (b"\n", NEWLINE)):
    _KIND[_byte[0]] = _kind

# Which neighbours make no sense: [left kind, right kind, whether an id stands between].
_WRONG = np.zeros((5, 5, 2), np.bool_)
_WRONG[:, :, 1] = True
_WRONG[OPEN, :, 1] = _WRONG[:, CLOSE, 1] = False
_WRONG[OPEN, :, 0] = _WRONG[:, CLOSE, 0] = True
_WRONG[BAR, BAR, 0] = _WRONG[NEWLINE, BAR, 0] = _WRONG[BAR, NEWLINE, 0] = True

# An id of up to seven bytes is its own code; a longer one is numbered from here.
_SHORT = 7
_LONG_CODES = 1 << 56
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(_SHORT + 1)], np.uint64)


def _overlapping(text: Bytes) -> npt.NDArray[np.uint64]:
    """The eight bytes that begin at each byte, as one number."""
    view: npt.NDArray[np.uint64] = np.ndarray(len(text) - 7, np.dtype("<u8"), text.data, strides=(1,))
    return view


class Ids:
    """Entity ids as integers: bytes of short ids packed into one word, long ids numbered."""

    def __init__(self) -> None:
        self._long: dict[bytes, int] = {}
        self._names: list[bytes] = []

    def encode(self, text: Bytes, start: IntArray, length: IntArray) -> IntArray:
        """The codes of ids that stand at `start` in `text`, which goes on for eight bytes after the last
        one.
        """
        codes = (_overlapping(text)[start] & _MASKS[np.minimum(length, _SHORT)]).astype(np.int64)
        for i in np.flatnonzero(length > _SHORT).tolist():
            name = text[start[i] : start[i] + length[i]].tobytes()
            number = self._long.setdefault(name, len(self._names))
            if number == len(self._names):
                self._names.append(name)
            codes[i] = _LONG_CODES + number
        return codes

    def decode(self, code: int) -> str:
        """The id of a code."""
        if code >= _LONG_CODES:
            return self._names[code - _LONG_CODES].decode()
        return code.to_bytes(8, "little").rstrip(b"\0").decode()


@dataclass
class Elements:
    """The elements of many cells, in the order of the text."""

    cell: IntArray
    """The cell, counted from 0."""
    code: IntArray
    """The id, as a code."""
    begins: Flags
    ends: Flags


class WrongCell(Exception):
    """A cell that is not bracket notation."""

    def __init__(self, cell: int, offset: int) -> None:
        super().__init__(cell, offset)
        self.cell = cell
        self.offset = offset
        """Where in the cell, in bytes."""


def find_elements(text: Bytes, ids: Ids) -> Elements:
    """The elements of cells. `text`: the cells, each followed by a newline, then eight bytes of anything.

    Raises `WrongCell` for the first cell that makes no sense.
    """
    content = text[:-8]
    kinds = _KIND[content]
    marks = np.flatnonzero(kinds)
    right = kinds[marks]
    left = np.empty_like(right)
    left[0] = NEWLINE
    left[1:] = right[:-1]
    id_start = np.empty_like(marks)
    id_start[0] = 0
    id_start[1:] = marks[:-1] + 1
    length = marks - id_start
    wrong = _WRONG[left, right, (length > 0).view(np.uint8)]
    cell_ends = np.flatnonzero(right == NEWLINE)
    if wrong.any():
        first = int(np.argmax(wrong))
        cell = int(np.searchsorted(cell_ends, first))
        cell_start = int(marks[cell_ends[cell - 1]]) + 1 if cell else 0
        # With an id: it has no bracket at all. Without: the mark has nothing to belong to; `(` with
        # nothing behind it is wrong at the bracket itself.
        at = int(id_start[first]) if length[first] or left[first] != OPEN else int(id_start[first]) - 1
        raise WrongCell(cell, at - cell_start)
    has_id = np.flatnonzero(length)
    left, right = left[has_id], right[has_id]
    return Elements(
        cell=np.searchsorted(cell_ends, has_id),
        code=ids.encode(text, id_start[has_id], length[has_id]),
        begins=left == OPEN,
        ends=right == CLOSE,
    )


class Unbalanced(Exception):
    """Brackets without a partner: rows of `never_opened` are ends, rows of `never_closed` beginnings."""

    def __init__(self, never_opened: IntArray, never_closed: IntArray) -> None:
        super().__init__()
        self.never_opened = never_opened
        self.never_closed = never_closed


def match_brackets(group: IntArray, token: IntArray, begins: Flags, ends: Flags) -> tuple[IntArray, IntArray]:
    """For elements in the order of the text: the rows that begin a mention, in that order, and the rows
    that end it.

    Elements match inside a `group` (an entity of a document); `token` is where they stand. An end belongs
    to the beginning of its group that is still open and came last. One token may end one mention of an
    entity and begin another one; ends come first there if a mention is open, however the cell was
    written: `(0|0)` inside an open entity 0 is an end and a beginning, since a mention of the one token
    would have been written `(0)`.
    """
    alone = begins & ends
    loose = np.flatnonzero(~alone)
    singles = np.flatnonzero(alone)
    if not len(loose):
        return singles, singles
    order = loose[sort_order(group[loose], int(group.max()) + 1)]
    group_of = group[order]
    step = np.where(begins[order], 1, -1)
    starts = np.flatnonzero(np.concatenate(([True], group_of[1:] != group_of[:-1])))
    order, step = _ends_first(order, step, group_of, token[order], starts)
    depth = np.cumsum(step)
    sizes = np.diff(np.append(starts, len(order)))
    # The depth before a group is what the groups before it left over: nothing, if all is well.
    depth -= np.repeat(depth[starts] - step[starts], sizes)
    if (depth < 0).any():
        # Later ends of the group are blamed on the first, which alone is certain.
        raise Unbalanced(np.sort(order[depth < 0]), np.empty(0, np.int64))
    level = np.where(step > 0, depth, depth + 1)
    deepest = int(level.max())
    if deepest > 1:
        number = np.repeat(np.arange(len(starts)), sizes)
        by_level = sort_order(number * (deepest + 1) + level, len(starts) * (deepest + 1))
        order, step = order[by_level], step[by_level]
    if len(order) % 2 or (step[::2] < 0).any() or (step[1::2] > 0).any():
        # In the order of level a beginning is closed exactly if an end follows it.
        closed = np.append(step[1:] < 0, False)
        raise Unbalanced(np.empty(0, np.int64), np.sort(order[(step > 0) & ~closed]))
    first = np.concatenate((singles, order[::2]))
    last = np.concatenate((singles, order[1::2]))
    in_text = sort_order(first, len(group))
    return first[in_text], last[in_text]


def _ends_first(
    order: IntArray, step: IntArray, group: IntArray, token: IntArray, starts: IntArray
) -> tuple[IntArray, IntArray]:
    """Put ends before beginnings where a token has both for one entity and a mention of it is open."""
    same = (group[1:] == group[:-1]) & (token[1:] == token[:-1])
    suspects = np.flatnonzero(same & (step[:-1] > 0) & (step[1:] < 0))
    if not len(suspects):
        return order, step
    order, step = order.copy(), step.copy()
    done = -1
    for suspect in suspects.tolist():
        if suspect < done:
            continue
        low = high = suspect
        while low and same[low - 1]:
            low -= 1
        while high < len(same) and same[high]:
            high += 1
        done = high + 1
        rows, steps = order[low:done].copy(), step[low:done].copy()
        group_start = int(starts[np.searchsorted(starts, low, side="right") - 1])
        opened = max(int(step[group_start:low].sum()), 0)
        ends = np.flatnonzero(steps < 0)
        rest = np.sort(np.concatenate((np.flatnonzero(steps > 0), ends[opened:])))
        new = np.concatenate((ends[:opened], rest))
        order[low:done], step[low:done] = rows[new], steps[new]
    return order, step


BEGIN = re.compile(rb"^#[ \t]*begin[ \t]+document(?![^\s(])[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
END = re.compile(rb"#[ \t]*end[ \t]+document\b")
_SPLIT = re.compile(r"[^+]+(?:\+[^+]+)+$")
_KEY_VALUE = re.compile(rb"#[ \t]*[\w.:-]+[ \t]*=")

_OTHER, _NOTHING, _BLANK, _EMPTY = range(4)
_LAST = np.full(256, _OTHER, np.uint8)
_LAST[list(b"-_")] = _NOTHING
_LAST[list(b" \t\r")] = _BLANK
_LAST[ord("\n")] = _EMPTY
_SEPARATES = np.zeros(256, np.bool_)
_SEPARATES[list(b" \t\r\n")] = True

_DIGIT = np.zeros(256, np.bool_)
_DIGIT[list(b"0123456789")] = True

# Walking over all lines at once, byte by byte, pays as long as many of them walk; few go further than this.
_STEPS = 64

_EXPECTED = 'expected "-", "_" or brackets such as (3, 3), (3) and (3|(4) in the last column'


def read_conll(source: AnySource | Pieces, *, keep_text: bool = False) -> Chains:
    """Read a CoNLL-2011/2012 or SemEval file. Whatever cannot be understood is an `InputError`."""
    pieces = source if isinstance(source, Pieces) else Pieces(source)
    reading = _Reading(pieces, keep_text)
    for piece in pieces:
        reading.take(piece)
    return reading.finish()


@dataclass
class _Reading:
    """What is known after some pieces of the file."""

    pieces: Pieces
    keep_text: bool = False
    lines: int = 0
    tokens: int = 0
    """Token lines so far, in the whole file."""
    inside: bool = False
    """Whether a document is open."""
    names: list[str] = field(default_factory=list)
    begin_lines: list[int] = field(default_factory=list)
    first_tokens: list[int] = field(default_factory=list)
    """`tokens` as it was when the document began."""
    sizes: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)
    ids: Ids = field(default_factory=Ids)
    found: list[tuple[IntArray, IntArray, IntArray, IntArray, Flags, Flags]] = field(default_factory=list)
    """For the elements of each piece: document, token, line, id, begins, ends."""
    texts: list[list[Bytes]] = field(default_factory=list)
    """Of each document the words of each piece, with a byte behind each: a newline where a sentence ends, else a blank."""
    wordless: set[int] = field(default_factory=set)
    """Documents with a token that has no word."""
    signs: list[int] = field(default_factory=list)
    """For each document a number that stands for its words."""

    def take(self, piece: bytes) -> None:
        """Read a piece of whole lines."""
        data = np.frombuffer(piece, np.uint8)
        newline = find_line_ends(piece)
        end, kind = _last_bytes(data, newline)
        line_start = np.empty_like(newline)
        line_start[0] = 0
        line_start[1:] = newline[:-1] + 1
        is_token = kind != _EMPTY
        hashes = np.flatnonzero(data[line_start] == ord("#"))
        # The documents need the count of tokens before a line, the tokens need to know which lines are
        # comments: first one, then the other.
        marks = [
            (line, mark)
            for line in hashes.tolist()
            if (mark := self._mark(piece[line_start[line] : newline[line]], line)) is not None
        ]
        for line, _ in marks:
            is_token[line] = False
        count = np.cumsum(is_token)
        document = self._documents(marks, count)
        tokens = np.flatnonzero(is_token)
        words = _find_words(piece, line_start[tokens], newline[tokens])
        self._sign(hash_ranges(piece, *words), tokens, document, count)
        if self.keep_text:
            self._keep_words(piece, *words, data[line_start], is_token, document[1:, 0])

        cells = np.flatnonzero((kind == _OTHER) & is_token)
        start = _cell_starts(data, end[cells])
        if len(cells):
            elements = self._elements(data, cells, start, end[cells])
            line = cells[elements.cell]
            number = document[np.searchsorted(document[:, 0], line, side="right") - 1, 1]
            token = self.tokens + count[line] - 1 - np.array(self.first_tokens, np.int64)[number]
            self.found.append((number, token, self.lines + line + 1, elements.code, elements.begins, elements.ends))
        self.lines += len(newline)
        self.tokens += int(count[-1])

    def _keep_words(
        self, piece: bytes, start: IntArray, length: IntArray, first_bytes: Bytes, is_token: Flags, begins: IntArray
    ) -> None:
        """The words of the tokens of a piece; a blank line ends a sentence, and documents begin in some lines."""
        text = take_ranges(piece, start, length + 1)
        offset = offsets_of(length + 1)
        others = np.flatnonzero(~is_token)
        before = others - np.arange(len(others))  # how many words
        ends = before[first_bytes[others] != ord("#")]
        text[offset[1:] - 1] = ord(" ")
        text[offset[ends[ends > 0]] - 1] = ord("\n")
        if len(ends) and ends[0] == 0 and self.texts and self.texts[-1]:
            self.texts[-1][-1][-1] = ord("\n")
        cuts = [0, *before[np.searchsorted(others, begins)].tolist(), len(start)]
        empty = np.flatnonzero(length == 0).tolist()
        for k, (done, upto) in enumerate(pairwise(cuts)):
            if k:
                self.texts.append([])
            if upto > done:
                self.texts[-1].append(text[offset[done] : offset[upto]])
            if empty and any(done <= word < upto for word in empty):
                self.wordless.add(len(self.texts) - 1)

    def _sign(self, hashes: npt.NDArray[np.uint64], tokens: IntArray, documents: IntArray, count: IntArray) -> None:
        """Add the hashes of the words of a piece to the signs of its documents. `count` is the number of tokens up to each line, `tokens` are
        the lines with one. If signs differ, it is the words that are compared (`Chains.words`)."""
        if not self.names:
            return
        documents = documents[np.append(np.diff(documents[:, 0]) > 0, True)]  # none that begins where the piece does
        begins, number = documents[:, 0], np.maximum(documents[:, 1], 0)
        sign = np.zeros(len(count), np.uint64)
        sign[tokens] = hashes ^ (hashes >> np.uint64(32))
        sums = np.add.reduceat(sign, begins)
        # times the number of the token in its document, so that the order counts
        sign *= count.view(np.uint64)
        first = np.array([self.first_tokens[one] for one in number.tolist()], np.int64) - self.tokens
        sums = np.add.reduceat(sign, begins) - sums * first.view(np.uint64)
        for one, value in zip(number.tolist(), sums.tolist(), strict=True):
            self.signs[one] = (self.signs[one] + value) % (1 << 64)

    def _elements(self, data: Bytes, cells: IntArray, start: IntArray, end: IntArray) -> Elements:
        try:
            return find_elements(np.append(_in_lines(data, start, end), np.zeros(8, np.uint8)), self.ids)
        except WrongCell as wrong:
            line = int(cells[wrong.cell])
            before = data[: start[wrong.cell]].tobytes()
            before = before[before.rfind(b"\n") + 1 :]
            cell = data[start[wrong.cell] : end[wrong.cell]].tobytes()
            column = len((before + cell[: wrong.offset]).decode("utf-8", "replace")) + 1
            message = f'found "{_shorten(cell.decode())}"; {_EXPECTED}'
            raise self.pieces.error(message, self.lines + line + 1, column) from None

    def _mark(self, text: bytes, line: int) -> bytes | None:
        """A line that begins with `#`: the text itself if it is a header or a comment, None if it is a token.

        A token may be "#" where there are no columns before it. It is one if a coreference cell ends the
        line.
        """
        if BEGIN.match(text) or END.match(text):
            return text
        fields = text.split()
        if len(fields) > 1 and not _KEY_VALUE.match(text) and _is_cell(fields[-1]):
            return None
        self.comments.append(self.lines + line + 1)
        return text

    def _documents(self, marks: Iterable[tuple[int, bytes]], count: IntArray) -> IntArray:
        """Open and close documents. Returns for each stretch of lines of this piece: its first line, its
        document.
        """
        stretches = [(0, len(self.names) - 1)]
        outside = 0
        for line, text in marks:
            tokens = int(count[line])
            if header := BEGIN.match(text):
                if self.inside:
                    raise self.pieces.error(
                        f"a document begins here, but {self._current()} has no #end document yet",
                        self.lines + line + 1,
                        1,
                    )
                self._nothing_outside(count, outside, tokens)
                name = " ".join(header[1].decode().split())
                if not name:
                    raise self.pieces.error(
                        "expected the document's name, as in #begin document (name); part 000",
                        self.lines + line + 1,
                    )
                self.inside = True
                self.names.append(name)
                self.begin_lines.append(self.lines + line + 1)
                self.first_tokens.append(self.tokens + tokens)
                self.signs.append(0)
                stretches.append((line, len(self.names) - 1))
            elif END.match(text):
                if not self.inside:
                    self._nothing_outside(count, outside, tokens)
                    raise self.pieces.error("#end document, but no document is open", self.lines + line + 1, 1)
                self.inside = False
                self.sizes.append(self.tokens + tokens - self.first_tokens[-1])
                outside = tokens
        if not self.inside:
            self._nothing_outside(count, outside, int(count[-1]))
        return np.array(stretches, np.int64)

    def _nothing_outside(self, count: IntArray, before: int, after: int) -> None:
        """Complain about tokens between two documents: those numbered from `before` up to `after`."""
        if after > before:
            line = int(np.searchsorted(count, before + 1))
            raise self.pieces.error(
                "a token outside of any document; expected #begin document (name); part 000 before it",
                self.lines + line + 1,
                1,
            )

    def _current(self) -> str:
        return f'document "{self.names[-1]}" of line {self.pieces.source.line(self.begin_lines[-1])}'

    def finish(self) -> Chains:
        """Match the brackets and number the entities."""
        source = self.pieces.source
        if self.inside:
            raise self.pieces.error(
                f"the file ends, but {self._current()} has no #end document; is the file complete?",
                self.lines,
            )
        if not self.names:
            raise self.pieces.error("has no documents; expected #begin document (name); part 000")
        nothing = np.empty(0, np.int64)
        flags = np.empty(0, np.bool_)
        columns = zip(*self.found, strict=True) if self.found else ((nothing,),) * 4 + ((flags,),) * 2
        document, token, line, code, begins, ends = (np.concatenate(column) for column in columns)
        self.found.clear()
        of_code, different = number_densely(code, int(code.max(initial=-1)) + 1)
        codes = np.empty(different, np.int64)
        codes[of_code] = code
        group = document * len(codes) + of_code
        try:
            first, last = match_brackets(group, token, begins, ends)
        except Unbalanced as unbalanced:
            self._complain(unbalanced, line, code, document)
        names = [self.ids.decode(code) for code in codes.tolist()]
        warnings = self._comment_warnings()

        split = np.array([_SPLIT.match(name) is not None for name in names], np.bool_)
        if split.any():
            is_split = split[of_code[first]]
            rows = first[is_split]
            where, many = int(rows[0]), counted(len(rows), "mention")
            warnings.append(
                f"{source.place(int(line[where]))}: {many} with a split antecedent, such as "
                f"({names[of_code[where]]}): not part of any chain, not scored"
            )
            first, last = first[~is_split], last[~is_split]

        entity, groups = number_by_first(group[first])
        return Chains(
            documents=self.names,
            document=document[first],
            start=token[first],
            end=token[last],
            entity=entity,
            tokens=np.array(self.sizes, np.int64),
            entity_names=[names[i] for i in (groups % max(len(codes), 1)).tolist()],
            lines=source.lines_of_file(line[first]),
            document_lines=source.lines_of_file(np.array(self.begin_lines, np.int64)),
            file=str(source),
            whole=not source.is_part,
            format="conll",
            texts=self._texts(),
            signs=list(self.signs),
            words=partial(_words, source),
            warnings=warnings,
        )

    def _texts(self) -> KeptTexts:
        """The words of the documents that were kept, without those of documents that have none."""
        found = enumerate(zip(self.names, self.texts, strict=False))
        return KeptTexts({
            name: b"".join(part.tobytes() for part in text) for k, (name, text) in found if k not in self.wordless
        })  # fmt: skip

    def _comment_warnings(self) -> list[str]:
        if not self.comments:
            return []
        many = counted(len(self.comments), "comment line")
        return [f"{self.pieces.source.place(self.comments[0])}: {many} passed over"]

    def _complain(self, wrong: Unbalanced, line: IntArray, code: IntArray, document: IntArray) -> NoReturn:
        opened = bool(len(wrong.never_closed))
        rows = wrong.never_closed if opened else wrong.never_opened
        row = int(rows[0])
        name = self.ids.decode(int(code[row]))
        where = int(line[row])
        # The same bracket may stand several times in the cell: the one that is wrong is so many from the
        # left.
        alike = np.flatnonzero((line == where) & (code == code[row]))
        number = int(np.searchsorted(alike, row))
        column = None
        if (text := self.pieces.line(where)) is not None:
            cell = text.rstrip(" \t\r")
            cell_start = max(cell.rfind(blank) for blank in " \t\r") + 1
            ids = [found for found in re.finditer(r"[^()|]+", cell[cell_start:]) if found[0] == name]
            if number < len(ids):
                column = cell_start + ids[number].start() + (0 if opened else 1)
        more = f" (and {len(rows) - 1:,} more)" if opened and len(rows) > 1 else ""
        inside = f'document "{self.names[int(document[row])]}"'
        if opened:
            message = f'"({name}" is opened here and never closed in {inside}{more}; expected a "{name})" after it'
        else:
            message = f'"{name})" closes a mention never opened in {inside}; expected a "({name}" before it'
        raise self.pieces.error(message, where, column)


def _words(source: Source) -> dict[str, list[str]]:
    """The words of each document that has them, read anew."""
    texts = read_conll(source, keep_text=True).texts
    return {name: [word for sentence in text for word in sentence] for name, text in texts.items()}


def _find_words(piece: bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Where the word of each line is, and how long it is: in the fourth column (CoNLL: document, part, number, word); or in the second if the first is the
    number (SemEval); or in the fifth of seven if the third and fourth are numbers (ECB+: topic, document, sentence, number, word). The last column is no
    word; a line that has no other has none."""
    if len(piece) >= LARGE and (native := compiled()) is not None:
        found = native.find_words(piece, starts, ends)
        if found is not None:
            return found
    return _find_words_by_columns(piece, starts, ends)


def _find_words_by_columns(piece: bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """The same with NumPy."""
    data = np.frombuffer(piece, np.uint8)
    blank = (data == ord(" ")) | ((data >= ord("\t")) & (data <= ord("\r")))
    edges = np.flatnonzero(np.concatenate((~blank[:1], blank[1:] != blank[:-1])))
    begin, end = edges[::2], edges[1::2]  # each line ends with a blank
    first = np.searchsorted(begin, starts)
    cells = np.searchsorted(begin, ends) - first
    column = np.minimum(cells - 2, 3)
    number = partial(_are_numbers, data, begin, end)
    some = np.flatnonzero(cells > 2)
    some = some[number(first[some])]
    column[some[(cells[some] == 3) | ~number(first[some] + 1)]] = 1
    some = np.flatnonzero(cells == 7)
    column[some[~number(first[some] + 1) & number(first[some] + 2) & number(first[some] + 3)]] = 4
    start, length = starts.copy(), np.zeros(len(starts), np.int64)
    there = np.flatnonzero(column >= 0)
    cell = (first + column)[there]
    start[there], length[there] = begin[cell], end[cell] - begin[cell]
    return start, length


def _are_numbers(data: Bytes, begin: IntArray, end: IntArray, cell: IntArray) -> Flags:
    """Which cells consist of digits."""
    found: Flags = _DIGIT[data[begin[cell]]] & _DIGIT[data[end[cell] - 1]]
    longer = np.flatnonzero(found & (end[cell] - begin[cell] > 2))
    if len(longer):
        others = np.cumsum(~_DIGIT[data], dtype=np.int64)
        found[longer] = others[begin[cell[longer]]] == others[end[cell[longer]] - 1]
    return found


def _in_lines(data: Bytes, start: IntArray, end: IntArray) -> Bytes:
    """Some cells, each in a line of its own: with the byte behind it, which becomes its newline."""
    length = end - start + 1
    offset = np.cumsum(length)
    text: Bytes = data[np.repeat(start - (offset - length), length) + np.arange(offset[-1])]
    text[offset - 1] = ord("\n")
    return text


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."


def _is_cell(field: bytes) -> bool:
    if field in (b"-", b"_"):
        return True
    try:
        find_elements(np.frombuffer(field + b"\n" + bytes(8), np.uint8), Ids())
    except WrongCell:
        return False
    return True


def _last_bytes(data: Bytes, newline: IntArray) -> tuple[IntArray, Bytes]:
    """For each line where its content ends, blanks taken off, and what its last column holds.

    The byte before the first newline may be that at index -1: the last of the piece, a newline, so an empty
    line.
    """
    end = newline
    kind = _LAST[data[end - 1]]
    blank = np.flatnonzero(kind == _BLANK)
    if len(blank):
        end = newline.copy()
        for _ in range(_STEPS):
            end[blank] -= 1
            kind[blank] = _LAST[data[end[blank] - 1]]
            blank = blank[kind[blank] == _BLANK]
            if not len(blank):
                break
        else:
            text = data.tobytes()
            for line in blank.tolist():
                start = text.rfind(b"\n", 0, end[line]) + 1
                end[line] = start + len(text[start : end[line]].rstrip(b" \t\r"))
            kind[blank] = _LAST[data[end[blank] - 1]]
    # "-" is nothing, "x-" is not.
    dashes = np.flatnonzero(kind == _NOTHING)
    kind[dashes[~_SEPARATES[data[end[dashes] - 2]]]] = _OTHER
    return end, kind


def _cell_starts(data: Bytes, end: IntArray) -> IntArray:
    """Where the last column begins, given where it ends: walk to the left, all cells one byte at a time."""
    start = end - 1
    walking = np.flatnonzero(~_SEPARATES[data[start - 1]])
    for _ in range(_STEPS):
        if not len(walking):
            return start
        start[walking] -= 1
        walking = walking[~_SEPARATES[data[start[walking] - 1]]]
    text = data.tobytes()
    for cell in walking.tolist():
        line = text.rfind(b"\n", 0, start[cell]) + 1
        start[cell] = max(line, *(text.rfind(blank, line, start[cell]) + 1 for blank in (b" ", b"\t", b"\r")))
    return start


def begins_documents(head: bytes) -> bool:
    """Whether a file has lines `#begin document`."""
    return BEGIN.search(head) is not None


def _name_in_header(document: bytes) -> str:
    """What `#begin document` calls the document."""
    begin = BEGIN.match(document)
    return document_key(begin[1].decode("utf-8", "replace").strip()) if begin else ""


CONLL = Boundaries("CoNLL", find_marked(BEGIN, b"#"), _name_in_header, shard=64 << 20)


def _read_jsonl(pieces: Pieces, **how: Any) -> Chains:
    from tallystick.tasks.coreference.jsonl import read_clusters_jsonl

    return read_clusters_jsonl(pieces, **how)


def _read_corefud(pieces: Pieces, *, keep_text: bool, **_: Any) -> Chains:
    from tallystick.tasks.coreference.corefud import read_corefud

    return read_corefud(pieces.source, keep_text=keep_text)


FORMATS = (
    Format(
        "jsonl",
        lambda opening: opening.head.lstrip()[:1] == b"{" or begins_list(opening.head),
        _read_jsonl,
    ),
    Format(
        "conll",
        lambda opening: begins_documents(opening.head),
        lambda pieces, *, keep_text, **_: read_conll(pieces, keep_text=keep_text),
        CONLL,
    ),
    Format(
        "corefud",
        lambda opening: bool(_CONLL_U_COMMENT.search(opening.head) or _CONLL_U_ROW.search(opening.head)),
        _read_corefud,
        newdoc_boundaries,
    ),
)
"""The formats of coreference, the first that fits. A reader is given the file in pieces, where the clusters of JSON stand, and
whether to keep the words."""
