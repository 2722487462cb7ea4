r"""Bracket notation, thousands of cells at a time.

A coreference cell is a sequence of elements, with or without `|` between them:

    (12      a mention of entity 12 begins here
    12)      the mention of entity 12 that began last ends here
    (12)     a mention of one token

`find_elements` cuts the bytes of many cells, each closed by a newline, into elements. Between two
neighbouring punctuation bytes there is either an id or nothing, so that the two bytes and that one bit
decide everything:

    \n ( 1 2 ( 3 ) | 4 ) \n         left  id  right
    ^  ^     ^   ^ ^   ^ ^           \n   -    (      nothing to see
    |  +-12--+-3-+ +-4-+ |           (    12   (      12 begins
                                     (    3    )      3 begins and ends
                                     )    -    |      nothing to see
                                     |    4    )      4 ends
                                     )    -    \n     nothing to see

`match_brackets` finds for each beginning its end. Only elements of the same entity can match, so they are
sorted by entity; inside an entity the depth (beginnings minus ends so far) makes each pair two neighbours
of one level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.tasks.coreference.chains import IntArray

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


class Ids:
    """Entity ids as integers: bytes of short ids packed into one word, long ids numbered."""

    def __init__(self) -> None:
        self._long: dict[bytes, int] = {}
        self._names: list[bytes] = []

    def encode(self, text: Bytes, start: IntArray, length: IntArray) -> IntArray:
        """The codes of ids that stand at `start` in `text`, which goes on for eight bytes after the last
        one.
        """
        # One word begins at every byte: an overlapping view reads eight bytes of each id at once.
        words: npt.NDArray[np.uint64] = np.ndarray(len(text) - 7, np.dtype("<u8"), text.data, strides=(1,))
        codes = (words[start] & _MASKS[np.minimum(length, _SHORT)]).astype(np.int64)
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
    # Counting sort would do; a stable sort of nearly sorted integers is as fast.
    order = loose[np.argsort(group[loose], kind="stable")]
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
        by_level = np.argsort(number * (deepest + 1) + level, kind="stable")
        order, step = order[by_level], step[by_level]
    if len(order) % 2 or (step[::2] < 0).any() or (step[1::2] > 0).any():
        # In the order of level a beginning is closed exactly if an end follows it.
        closed = np.append(step[1:] < 0, False)
        raise Unbalanced(np.empty(0, np.int64), np.sort(order[(step > 0) & ~closed]))
    first = np.concatenate((singles, order[::2]))
    last = np.concatenate((singles, order[1::2]))
    in_text = np.argsort(first)
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
