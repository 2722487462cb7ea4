"""The compiled part: inner loops in C (`native.c`), where a compiler was at hand when the package was installed.

It is optional. Without it (or with TALLYSTICK_NATIVE=off) the same is computed in Python, with equal results to the bit; a very large sparse
matching is left to SciPy, which of several of the same weight may find another.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tallystick.engine.arrays import F64, I64

INTERFACE = 2
"""The version of what is called here: that of `interface` in the C code."""
NAME = "_native.so"
"""The library, beside this module, whatever the platform calls its own."""


_CELLS = 10_000_000
"""So many cells are filled between two looks at the clock: some hundredths of a second."""


_STRETCH = 1 << 18
"""So many bytes are counted at a time, which stay in the processor's cache."""


_LINE_BITS = 12
"""Half of 2 to this power is how many different lines are numbered: with so many the table stays in the processor's cache."""


LANES = 8
"""As many as the C code has."""


class Climb(NamedTuple):
    """A node on a path up a tree: its place, whether the path begins here, and the places of the nodes below it to the left (by descending
    preorder) and to the right (by place) of what is on the path already."""

    place: int
    lowest: bool
    left: I64
    right: I64


class Native:
    """The functions of the library, over arrays."""

    def __init__(self, path: Path) -> None:
        import ctypes

        number = ctypes.c_int64
        whole, real = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.int64, np.float64))
        library = ctypes.CDLL(str(path))
        if library.interface() != INTERFACE:  # a library without one is an AttributeError
            raise AttributeError("interface")
        words, halves = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.uint64, np.float32))
        self._draw_documents: Any = library.draw_documents
        self._draw_documents.restype = number
        self._draw_documents.argtypes = [words, number, number, halves]
        self._fill_trees: Any = library.fill_trees
        self._fill_trees.restype = number
        self._fill_trees.argtypes = [
            number,
            whole,
            whole,
            number,
            whole,
            number,
            whole,
            real,
            real,
            real,
            number,
            number,
        ]
        self._climb_tree: Any = getattr(library, "climb_tree", None)  # a library of before is only slower
        if self._climb_tree is not None:
            self._climb_tree.restype = None
            self._climb_tree.argtypes = [
                number,
                *[number, whole, whole] * 2,
                number,
                *[whole] * 6,
                real,
                real,
                halves,
                halves,
            ]
        self._trace_trees: Any = library.trace_trees
        self._trace_trees.restype = number
        self._trace_trees.argtypes = [number, number, whole, whole, real, real, real, whole, whole]
        self._match_sparse: Any = library.match_sparse
        self._match_sparse.restype = None
        self._match_sparse.argtypes = [number, number, whole, whole, real, whole, whole, real]

        # Nor has every library of this interface this.
        byte, short = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.uint8, np.int32))
        self._number_ranges: Any = {}
        for name, kind, offset in (("number_spans", np.int64, whole), ("number_short_spans", np.int32, short)):
            function = getattr(library, name, None)
            if function is not None:
                self._number_ranges[np.dtype(kind)] = function
                function.restype = number
                function.argtypes = [ctypes.c_char_p, *[number] * 2, *[offset] * 2, number, short, short, whole]
        self._is_utf8: Any = getattr(library, "is_utf8", None)
        if self._is_utf8 is not None:
            self._is_utf8.restype = number
            self._is_utf8.argtypes = [ctypes.c_char_p, number]
        self._number_lines: Any = getattr(library, "number_lines", None)
        if self._number_lines is not None:
            self._number_lines.restype = number
            self._number_lines.argtypes = [ctypes.c_char_p, *[number] * 3, short, short, whole, whole]
        self._take_ranges: Any = getattr(library, "take_ranges", None)
        if self._take_ranges is not None:
            self._take_ranges.restype = None
            self._take_ranges.argtypes = [ctypes.c_char_p, number, whole, whole, byte]
        self._find_words: Any = getattr(library, "find_words", None)
        if self._find_words is not None:
            self._find_words.restype = None
            self._find_words.argtypes = [ctypes.c_char_p, *[number] * 2, *[whole] * 4]
        self._hash_spans: Any = getattr(library, "hash_spans", None)
        if self._hash_spans is not None:
            self._hash_spans.restype = None
            self._hash_spans.argtypes = [ctypes.c_char_p, *[number] * 2, *[whole] * 2, words]
        self._find_line_ends: Any = getattr(library, "find_line_ends", None)
        if self._find_line_ends is not None:
            self._find_line_ends.restype = None
            self._find_line_ends.argtypes = [ctypes.c_char_p, number, whole]
        self._cut_rows: Any = getattr(library, "cut_rows", None)
        if self._cut_rows is not None:
            self._cut_rows.restype = number
            self._cut_rows.argtypes = [byte, number, number, whole, number, byte, short, short, whole]

        self._count_lines: Any = getattr(library, "count_lines", None)
        if self._count_lines is not None:
            self._count_lines.restype = number
            self._count_lines.argtypes = [ctypes.c_char_p, number]
        self._find_blocks: Any = getattr(library, "find_blocks", None)
        if self._find_blocks is not None:
            self._find_blocks.restype = number
            self._find_blocks.argtypes = [ctypes.c_char_p, number, ctypes.c_char_p, number, number, whole, byte]
        self._hybrid_steps: Any = getattr(library, "hybrid_steps", None)
        if self._hybrid_steps is not None:
            self._hybrid_steps.restype = None
            self._hybrid_steps.argtypes = [number] * 3 + [short] * 2 + [real] * 5 + [ctypes.c_double] + [real] * 9

        self._number_texts = _calling_python(path, whole, short)

    def number_texts(self, texts: list[list[str]], sizes: I64) -> tuple[NDArray[np.int32], I64] | None:
        """The number of each string in lists of so many, and where each number first occurs; None without that, if there are too many that
        are different, or something in them that needs a closer look."""
        if self._number_texts is None:
            return None
        half = 1 << _LINE_BITS - 1
        codes, table = np.empty(int(sizes.sum()), np.int32), np.empty(2 * half, np.int32)
        strings, lengths, first = np.empty((3, half), np.int64)
        try:
            found = self._number_texts(texts, len(texts), sizes, _LINE_BITS, table, strings, lengths, codes, first)
        except (SystemError, TypeError, UnicodeError):  # no lists, no strings, half of a pair
            return None
        return (codes, first[:found]) if found >= 0 else None

    def hybrid_steps(
        self, steps: int, rows: tuple[NDArray[np.int32], NDArray[np.int32], F64], fixed: tuple[F64, F64, F64, F64],
        relaxed: float, state: tuple[F64, F64, F64],
    ) -> tuple[F64, ...] | None:  # fmt: skip
        """Steps of `program.PrimalDual`: what the last one came to, by how much it moved, and the state behind it; None without that."""
        if self._hybrid_steps is None:
            return None
        values, prices, drawn = (one.copy() for one in state)
        width, height = len(values), len(prices)
        reached, now, by, ahead = (np.empty(width) for _ in range(4))
        paid, price_by = np.empty(height), np.empty(height)
        self._hybrid_steps(
            steps, height, width, *rows, *fixed, relaxed, values, prices, drawn, reached, paid, now, by, price_by, ahead
        )
        return reached, paid, now, by, price_by, values, prices

    def number_ranges(
        self, data: bytes, start: NDArray[np.signedinteger], length: NDArray[np.signedinteger]
    ) -> tuple[NDArray[np.int32], I64] | None:
        """The number of each range of bytes, and where each number first occurs (`files.table.number_ranges`); None without that."""
        function = self._number_ranges.get(start.dtype)
        if function is None or len(start) >= 2**30:
            return None
        bits = len(start).bit_length() + 1
        codes, first = np.empty(len(start), np.int32), np.empty(len(start), np.int64)
        table = np.empty(1 << bits, np.int32)
        offsets = (np.ascontiguousarray(one, start.dtype) for one in (start, length))
        found = function(data, len(data), len(start), *offsets, bits, table, codes, first)
        return codes, first[:found].copy()

    def is_utf8(self, data: bytes) -> bool | None:
        """Whether this is UTF-8 (`files.source.is_utf8`); None without that."""
        return None if self._is_utf8 is None else bool(self._is_utf8(data, len(data)))

    def number_lines(self, data: bytes, lines: int) -> tuple[NDArray[np.int32], I64] | None:
        """The number of each of so many lines, and where the first of each number starts; None without that, if there are more lines, or too
        many that are different."""
        if self._number_lines is None:
            return None
        codes, table = np.empty(lines, np.int32), np.empty(1 << _LINE_BITS, np.int32)
        first, found = np.empty(1 << _LINE_BITS - 1, np.int64), np.zeros(1, np.int64)
        if self._number_lines(data, len(data), lines, _LINE_BITS, table, codes, first, found) != lines:
            return None
        return codes, first[: found[0]]

    def take_ranges(self, data: bytes, start: I64, length: I64) -> NDArray[np.uint8] | None:
        """The bytes of ranges, one after the other (`files.table.take_ranges`); None without that."""
        if self._take_ranges is None:
            return None
        out = np.empty(int(length.sum()), np.uint8)
        self._take_ranges(data, len(start), *map(np.ascontiguousarray, (start, length)), out)
        return out

    def find_words(self, data: bytes, starts: I64, ends: I64) -> tuple[I64, I64] | None:
        """Where the word of each line is and how long it is (`tasks.coreference.files._find_words`); None without that."""
        if self._find_words is None:
            return None
        start, length = np.empty((2, len(starts)), np.int64)
        self._find_words(data, len(data), len(starts), *map(np.ascontiguousarray, (starts, ends)), start, length)
        return start, length

    def hash_ranges(self, data: bytes, start: I64, length: I64) -> NDArray[np.uint64] | None:
        """A number for the bytes of each range (`files.table.hash_ranges`); None without that."""
        if self._hash_spans is None:
            return None
        hashes = np.empty(len(start), np.uint64)
        self._hash_spans(data, len(data), len(start), *map(np.ascontiguousarray, (start, length)), hashes)
        return hashes

    def find_line_ends(self, data: bytes) -> I64 | None:
        """Where the lines of some bytes end (`files.table.find_line_ends`); None without that."""
        if self._find_line_ends is None or self._count_lines is None:
            return None
        ends = np.empty(self._count_lines(data, len(data)), np.int64)
        self._find_line_ends(data, len(data), ends)
        return ends

    def cut_rows(
        self, data: NDArray[np.uint8], pieces: I64
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], int] | None:
        """Whole lines cut into the pieces of their rows (`files.conllu._cut_rows`); None without that."""
        if self._cut_rows is None or len(data) >= 2**31:
            return None
        most = sum(
            int(np.count_nonzero(data[begin : begin + _STRETCH] == ord("\n")))
            for begin in range(0, len(data), _STRETCH)
        )
        width = int(pieces[-1]) + 1
        kinds, starts, found = np.empty(most, np.uint8), np.empty(most, np.int32), np.empty(2, np.int64)
        bounds = np.empty((most + 1, width), np.int32)
        lines = self._cut_rows(data, len(data), len(pieces), pieces, width, kinds, starts, bounds, found)
        return kinds[:lines], starts[:lines], bounds[: found[0]], int(found[1])

    def count_lines(self, data: bytes) -> int | None:
        """How many lines end in some bytes; None without that."""
        return None if self._count_lines is None else int(self._count_lines(data, len(data)))

    def find_blocks(self, data: bytes, size: int, word: bytes, every: bool) -> tuple[I64, NDArray[np.bool_]] | None:
        """Where blocks of lines begin, and which have a comment with a word (`files.boundaries._blocks`); None without that."""
        if self._find_blocks is None:
            return None
        starts, marked = np.empty(size // 2 + 1, np.int64), np.empty(size // 2 + 1, np.uint8)
        found = self._find_blocks(data, size, word, len(word), every, starts, marked)
        return starts[:found].copy(), marked[:found].astype(np.bool_)

    def match_sparse(self, starts: I64, columns: I64, weights: F64, width: int) -> I64:
        """The column of each row (-1: none) in the heaviest 1:1 matching; row r has the edges starts[r] ... starts[r + 1]."""
        height = len(starts) - 1
        match, numbers = np.empty(height, np.int64), np.empty(2 * height + 5 * width, np.int64)
        self._match_sparse(height, width, starts, columns, weights, match, numbers, np.empty(2 * (height + width)))
        return match

    @property
    def climbs_trees(self) -> bool:
        """Whether steps may be those of a path."""
        return self._climb_tree is not None

    def match_trees(
        self, lefts: I64, rights: I64, keys: I64, steps: Sequence[I64 | Climb], orders: Sequence[I64], weights: F64,
        deadline: float | None = None,
    ) -> tuple[float, list[tuple[int, int]], bool]:  # fmt: skip
        """What two ordered trees earn, the matched places, and whether all was done by the deadline (`trees.match_ordered`).

        A step are key places of the left tree, whose subtrees meet those at the right one's `keys`; or a node of a path up the left
        tree, which meets all forests of the right one, whose `orders` are given then."""
        n, m = len(lefts) - 1, len(rights) - 1
        tree, best = np.zeros((n + 1, m + 1)), np.empty((n + 2, m + 2))
        todo, pairs = (np.empty((min(n, m) + 1, 2), np.int64) for _ in range(2))
        climbs = [one for one in steps if isinstance(one, Climb)]
        tallest = max((len(part) for one in climbs for part in (one.left, one.right)), default=0)
        state = np.empty((m + 2, m + 2) if climbs else 0, np.float32)
        lanes = np.empty((tallest + 1) * (m + 2) * LANES if climbs else 0, np.float32)
        begun, finished = False, True
        for step in steps:
            at, every = 0, 1 if isinstance(step, Climb) else len(step) * len(keys)
            while at < every and (deadline is None or not begun or time.monotonic() < deadline):
                begun = True
                if isinstance(step, Climb):
                    if step.lowest:
                        state[:] = 0.0
                    sides = ((len(part), part, part - lefts[part] + 1) for part in (step.left, step.right))
                    self._climb_tree(
                        step.place, *chain.from_iterable(sides), m + 1, *orders, weights, tree, state, lanes
                    )
                    at = 1
                    continue
                cells = _CELLS if deadline is not None else 2**62
                counted = len(step), step, len(keys), keys
                at = self._fill_trees(m, lefts, rights, *counted, weights, tree, best, at, cells)
            finished = finished and at == every
        found = self._trace_trees(n, m, lefts, rights, weights, tree, best, todo, pairs)
        return float(tree[n, m]), [(row, column) for row, column in pairs[:found].tolist()], finished

    def draw_documents(self, state: NDArray[np.uint64], counts: NDArray[np.float32]) -> bool:
        """How often each document is drawn, a row for each resample (`drawing.documents_drawn`), by a generator whose state moves on;
        False where it cannot be done."""
        resamples, n = counts.shape
        # so far floats of 32 bits count
        return 2 <= n < 2**24 and bool(self._draw_documents(state, n, resamples, counts))


def _calling_python(path: Path, whole: Any, short: Any) -> Any:
    """`number_texts`, which asks CPython about its objects and so keeps other threads out; None without that."""
    import ctypes

    function = getattr(ctypes.PyDLL(str(path)), "number_texts", None)
    if function is None or sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    number = ctypes.c_int64
    asked = (ctypes.pythonapi.PyList_Size, ctypes.pythonapi.PyList_GetItem, ctypes.pythonapi.PyUnicode_AsUTF8AndSize)
    function.restype = number
    function.argtypes = [
        *[ctypes.c_void_p] * 3,
        ctypes.py_object,
        number,
        whole,
        number,
        short,
        whole,
        whole,
        short,
        whole,
    ]
    return partial(function, *(ctypes.cast(one, ctypes.c_void_p) for one in asked))


@cache
def compiled() -> Native | None:
    """The compiled part, if there is one."""
    path = Path(__file__).with_name(NAME)
    if os.environ.get("TALLYSTICK_NATIVE") == "off" or not path.exists():
        return None
    try:
        return Native(path)
    except OSError:  # built for another platform
        return None
    except AttributeError:
        warnings.warn(
            f"the compiled part, {path}, is of another version of the source and is not used; build it with `python hatch_build.py` in a "
            "checkout, or install tallystick again",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
