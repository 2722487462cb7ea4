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
import numpy.typing as npt
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


# Numbering the distinct strings of a column without making a Python object of each.
#
# A column of five million tags holds a few dozen distinct ones. The bytes of a field are looked at eight at a
# time, as unsigned words, and the words of a string are a path in a trie:
#
#     "B-creative-work"  =  ("B-creati", "ve-work")  =  root -> node 3 -> node 7  =  string number 2
#
# An edge (node, word) -> node lives in an open-addressed hash table, so that a whole block of fields takes one
# step of the trie in a few NumPy operations. Only an edge that was never seen before costs Python, once. The
# comparison is of whole words: it is exact, there is no risk of a collision.

WORD = 8
_MASK = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Knuth's multiplicative hash
_NODE_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)
_EMPTY = -1

Nodes = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int32]


class Numbering:
    """The numbers 0, 1, 2, ... of the distinct byte strings seen so far."""

    def __init__(self) -> None:
        self.strings: list[bytes] = []
        self._root = _Edges(from_root=True)
        self._inner = _Edges(from_root=False)
        self._nodes = 1
        self._string_of_node = np.full(64, _EMPTY, dtype=np.int32)
        self._string_of_byte = np.full(256, _EMPTY, dtype=np.int32)

    def number(self, block: bytes, start: Indices, end: Indices) -> Codes:
        """The number of each field block[start:end]; the block ends in at least eight bytes of padding."""
        size = end - start
        # most tags are O: a string of one byte is looked up by that byte
        numbers = self._string_of_byte[np.frombuffer(block, dtype=np.uint8)[start]]
        longer = np.flatnonzero(size != 1)
        if len(longer):
            numbers[longer] = self._number_longer(block, start[longer], size[longer])
        unknown = np.flatnonzero(numbers == _EMPTY)
        for byte in sorted({block[field] for field in start[unknown].tolist()}):
            self._string_of_byte[byte] = len(self.strings)
            self.strings.append(bytes([byte]))
        numbers[unknown] = self._string_of_byte[np.frombuffer(block, dtype=np.uint8)[start[unknown]]]
        return numbers

    def _number_longer(self, block: bytes, start: Indices, size: Indices) -> Codes:
        # eight bytes from any place: as opaque items NumPy gathers them twice as fast as unaligned integers
        window = np.ndarray((len(block) - WORD + 1,), dtype=f"V{WORD}", buffer=block, strides=(1,))
        word = window[start].view("<u8") & _MASK[np.minimum(size, WORD)]
        node = self._step(self._root, None, word)
        rest = np.flatnonzero(size > WORD)
        done = WORD
        while len(rest):
            left = size[rest] - done
            word = window[start[rest] + done].view("<u8") & _MASK[np.minimum(left, WORD)]
            node[rest] = self._step(self._inner, node[rest], word)
            rest = rest[left > WORD]
            done += WORD
        if self._nodes > len(self._string_of_node):
            grown = np.full(2 * self._nodes, _EMPTY, dtype=np.int32)
            grown[: len(self._string_of_node)] = self._string_of_node
            self._string_of_node = grown
        numbers = self._string_of_node[node]
        unknown = np.flatnonzero(numbers == _EMPTY)
        if len(unknown):
            for first in np.sort(unknown[np.unique(node[unknown], return_index=True)[1]]).tolist():
                self._string_of_node[node[first]] = len(self.strings)
                self.strings.append(block[int(start[first]) : int(start[first] + size[first])])
            numbers[unknown] = self._string_of_node[node[unknown]]
        return numbers

    def _step(self, edges: _Edges, node: Nodes | None, word: Words) -> Nodes:
        """Follow the edges (node, word); edges that do not exist yet are made."""
        reached, missing = edges.follow(node, word)
        while len(missing):
            # a few thousand at a time: they nearly always hold all that is new in the block
            some = missing[:4096]
            sources = np.zeros(len(some), dtype=np.int32) if node is None else node[some]
            for source, label in dict.fromkeys(zip(sources.tolist(), word[some].tolist(), strict=True)):
                edges.insert(source, label, self._nodes)
                self._nodes += 1
            again, still = edges.follow(None if node is None else node[missing], word[missing])
            reached[missing] = again
            missing = missing[still]
        return reached


class _Edges:
    """A hash table (node, word) -> node; from the root, which all strings pass, only words are compared."""

    def __init__(self, from_root: bool) -> None:
        self._from_root = from_root
        self._all: list[tuple[int, int, int]] = []
        self._allocate(10)

    def follow(self, node: Nodes | None, word: Words) -> tuple[Nodes, Indices]:
        """The node that each edge leads to, and the indices of the edges that do not exist."""
        slot = self._slots(node, word)
        reached = self._target[slot]
        searching = np.flatnonzero(self._differ(slot, node, word) | (reached == _EMPTY))
        missing = [np.zeros(0, dtype=np.int64)]
        while len(searching):  # linear probing, all fields at once
            empty = reached[searching] == _EMPTY
            missing.append(searching[empty])
            searching = searching[~empty]
            slot[searching] = (slot[searching] + 1) & (len(self._target) - 1)
            at = slot[searching]
            reached[searching] = self._target[at]
            wrong = self._differ(at, None if node is None else node[searching], word[searching])
            searching = searching[wrong | (self._target[at] == _EMPTY)]
        return reached, np.sort(np.concatenate(missing))

    def insert(self, node: int, word: int, target: int) -> None:
        """Add an edge that is not there."""
        self._all.append((node, word, target))
        if 4 * len(self._all) > len(self._target):
            self._allocate(self._bits + 2)
            for edge in self._all:
                self._place(*edge)
        else:
            self._place(node, word, target)

    def _differ(self, slot: Indices, node: Nodes | None, word: Words) -> npt.NDArray[np.bool_]:
        wrong = self._word[slot] != word
        if node is not None:
            wrong |= self._source[slot] != node
        return np.asarray(wrong)

    def _slots(self, node: Nodes | None, word: Words) -> Indices:
        mixed = word * _MULTIPLIER if node is None else (word + node.astype(np.uint64) * _NODE_MULTIPLIER) * _MULTIPLIER
        mixed >>= np.uint64(64 - self._bits)
        return np.asarray(mixed.view(np.int64))

    def _place(self, node: int, word: int, target: int) -> None:
        source = None if self._from_root else np.array([node], dtype=np.int32)
        slot = int(self._slots(source, np.array([word], dtype=np.uint64))[0])
        while self._target[slot] != _EMPTY:
            slot = (slot + 1) & (len(self._target) - 1)
        self._source[slot], self._word[slot], self._target[slot] = node, word, target

    def _allocate(self, bits: int) -> None:
        self._bits = bits
        self._source = np.full(1 << bits, _EMPTY, dtype=np.int32)
        self._word = np.zeros(1 << bits, dtype=np.uint64)
        self._target = np.full(1 << bits, _EMPTY, dtype=np.int32)
