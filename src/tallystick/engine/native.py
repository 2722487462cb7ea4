"""The compiled part: inner loops in C (`native.c`), where a compiler was at hand when the package was installed.

It is optional. Without it (or with TALLYSTICK_NATIVE=off) the same is computed in Python, with equal results to the bit.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tallystick.engine.arrays import F64, I64

NAME = "_native.so"
"""The library, beside this module, whatever the platform calls its own."""


class Native:
    """The functions of the library, over arrays."""

    def __init__(self, path: Path) -> None:
        import ctypes

        number = ctypes.c_int64
        whole, real = (np.ctypeslib.ndpointer(kind, flags="C_CONTIGUOUS") for kind in (np.int64, np.float64))
        self._match_trees: Any = ctypes.CDLL(str(path)).match_trees
        self._match_trees.restype = number
        self._match_trees.argtypes = [
            number,
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
            whole,
            whole,
        ]

    def match_trees(
        self, lefts: I64, rights: I64, keys_left: I64, keys_right: I64, weights: F64
    ) -> tuple[float, list[tuple[int, int]]]:
        """What two ordered trees earn, and the matched places (`trees.match_ordered`)."""
        n, m = len(lefts) - 1, len(rights) - 1
        tree, best = np.zeros((n + 1, m + 1)), np.empty((n + 2, m + 2))
        todo, pairs = (np.empty((min(n, m) + 1, 2), np.int64) for _ in range(2))
        found = self._match_trees(
            n,
            m,
            lefts,
            rights,
            len(keys_left),
            keys_left,
            len(keys_right),
            keys_right,
            weights,
            tree,
            best,
            todo,
            pairs,
        )
        return float(tree[n, m]), [(row, column) for row, column in pairs[:found].tolist()]


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
