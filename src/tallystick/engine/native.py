"""The compiled part: inner loops in C (`native.c`), where a compiler was at hand when the package was installed.

It is optional. Without it (or with TALLYSTICK_NATIVE=off) the same is computed in Python, with equal results to the bit.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tallystick.engine.arrays import F64, I64

NAME = "_native.so"
"""The library, beside this module, whatever the platform calls its own."""


_CELLS = 10_000_000
"""So many cells are filled between two looks at the clock: some hundredths of a second."""


class Native:
    """The functions of the library, over arrays."""

    def __init__(self, path: Path) -> None:
        import ctypes

        number = ctypes.c_int64
        whole, real = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.int64, np.float64))
        library = ctypes.CDLL(str(path))
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
        self._trace_trees: Any = library.trace_trees
        self._trace_trees.restype = number
        self._trace_trees.argtypes = [number, number, whole, whole, real, real, real, whole, whole]

    def match_trees(
        self, lefts: I64, rights: I64, keys_left: I64, keys_right: I64, weights: F64, deadline: float | None = None
    ) -> tuple[float, list[tuple[int, int]], bool]:
        """What two ordered trees earn, the matched places, and whether all was done by the deadline (`trees.match_ordered`)."""
        n, m = len(lefts) - 1, len(rights) - 1
        tree, best = np.zeros((n + 1, m + 1)), np.empty((n + 2, m + 2))
        todo, pairs = (np.empty((min(n, m) + 1, 2), np.int64) for _ in range(2))
        at, every = 0, len(keys_left) * len(keys_right)
        keys = len(keys_left), keys_left, len(keys_right), keys_right
        while at < every and (deadline is None or not at or time.monotonic() < deadline):
            cells = _CELLS if deadline is not None else 2**62
            at = self._fill_trees(m, lefts, rights, *keys, weights, tree, best, at, cells)
        found = self._trace_trees(n, m, lefts, rights, weights, tree, best, todo, pairs)
        return float(tree[n, m]), [(row, column) for row, column in pairs[:found].tolist()], at == every

    def draw_documents(self, generator: np.random.BitGenerator, counts: NDArray[np.float32]) -> bool:
        """How often each document is drawn, a row for each resample (`drawing.documents_drawn`); False where it cannot be done."""
        resamples, n = counts.shape
        known: Any = generator.state
        if known["bit_generator"] != "PCG64" or not 2 <= n < 2**24:  # so far floats of 32 bits count
            return False
        inner, low = known["state"], 2**64 - 1
        numbers = [inner["state"] >> 64, inner["state"] & low, inner["inc"] >> 64, inner["inc"] & low]
        state = np.array([*numbers, known["has_uint32"], known["uinteger"]], np.uint64)
        if not self._draw_documents(state, n, resamples, counts):
            return False
        high, last, _, _, left, half = state.tolist()
        # NumPy keeps the half that it has used, too.
        generator.state = {
            **known,
            "state": {**inner, "state": high << 64 | last},
            "has_uint32": left,
            "uinteger": half,
        }
        return True


@cache
def compiled() -> Native | None:
    """The compiled part, if there is one."""
    path = Path(__file__).with_name(NAME)
    if os.environ.get("TALLYSTICK_NATIVE") == "off" or not path.exists():
        return None
    try:
        return Native(path)
    except (OSError, AttributeError):  # built for another platform, or from another version of the source
        return None
