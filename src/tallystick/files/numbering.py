"""Numbers for many short strings in a file, without making Python objects of them.

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

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
Words = NDArray[np.uint64]

WIDTH = 32
SLAB = 1 << 13
"""Rows that are worked on at a time, so that their words stay in the processor's cache."""

_BYTE_MASKS = np.array([[0xFF] * length + [0] * (WIDTH - length) for length in range(WIDTH + 1)], np.uint8)
_MASKS: Words = _BYTE_MASKS.view("<u8")
_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))


def number_ranges(data: bytes, start: Indices, length: Indices) -> tuple[NDArray[np.int32], Indices]:
    """The number of each range, counted from 0 in order of first occurrence, and where each first occurs.

    `data` must go on for 32 bytes after the start of the last range.
    """
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
            for byte in np.unique(first[unknown]).tolist():
                self._of_byte[byte] = self._number(bytes([byte]))
            numbers[unknown] = self._of_byte[first[unknown]]
        return numbers

    def _number(self, string: bytes) -> int:
        number = self._numbers.setdefault(string, len(self.strings))
        if number == len(self.strings):
            self.strings.append(string)
        return number
