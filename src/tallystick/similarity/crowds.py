"""Fields of few values in a sum: a boolean is equal in half of all pairs, and nobody wants to list those.

A sum of fields lists the pairs of each field and adds them up. Where a field's equal pairs are a good part of all pairs
there are, its cells are filled in instead: compared in one go, nothing listed and nothing sorted. Which fields those are
is estimated from a sample of their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.columns.arrays import F64, I64, MOST_PAIRS
from tallystick.columns.blocks import Blocks, Frame
from tallystick.columns.encoded import Column, Nothing, Shared
from tallystick.similarity.node import Similarity
from tallystick.similarity.weights import Weighted

Field: TypeAlias = "tuple[str, Similarity, Column, I64 | None]"
"""A field of a sum: name, similarity, the values that are there, and their rows (None: all)."""

SHARE = 1 / 8
"""If the equal pairs of all fields come to this share of the cells, filling the cells is cheaper than listing them."""
LEAST = 1024
"""With fewer cells than this it does not matter."""
SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class Crowd:
    """A key for each row of both sides (one that the other side never has, where there is no value), and what it is
    worth if they are equal."""

    reference: NDArray[Any]
    predicted: NDArray[Any]
    weight: float

    def add_to(self, flat: F64, frame: Frame) -> None:
        """Add the weight to all cells of a frame in which the keys are equal."""
        equal = frame.by_row(self.reference) == frame.by_column(self.predicted)
        np.add(flat, self.weight, out=flat, where=equal)


def crowded(both: list[tuple[Field, Field]], dense: list[bool], blocks: Blocks) -> list[Crowd | None]:
    """For each field what is to be filled in, or None if its pairs are listed (or dense anyway)."""
    nobody: list[Crowd | None] = [None] * len(both)
    if not LEAST <= blocks.cells <= MOST_PAIRS:
        return nobody
    keys = [None if filled else _keys(a, b) for (a, b), filled in zip(both, dense, strict=True)]
    shares = [0.0 if one is None else _share_equal(one[0]) for one in keys]
    if not any(dense) and sum(shares) < SHARE:
        return nobody
    out = nobody
    for k, (one, share) in enumerate(zip(keys, shares, strict=True)):
        if one is not None and share >= SHARE / 4:
            (_, _, _, rows), (_, _, _, columns) = both[k]
            small = np.int16 if one[0].bound < 1 << 15 else np.int64  # small numbers are fetched faster
            left = np.full(len(blocks.reference), -1, small)
            right = np.full(len(blocks.predicted), -2, small)
            left[slice(None) if rows is None else rows] = one[0].reference
            right[slice(None) if columns is None else columns] = one[0].predicted
            out[k] = Crowd(left, right, one[1])
    return out


def _keys(ours: Field, theirs: Field) -> tuple[Blocks, float] | None:
    """The keys of an exact field, and its weight; None if it is no exact field, or empty."""
    (_, node, a, _), (_, _, b, _) = ours, theirs
    weight = 1.0
    while isinstance(node, Weighted):
        weight *= node.weight
        node = node.inner
    if not node.exact_only or isinstance(a, (Shared, Nothing)) or isinstance(b, (Shared, Nothing)):
        return None
    if not len(a) or not len(b):
        return None
    return node.refine(a, b, Blocks(np.zeros(len(a), np.int64), np.zeros(len(b), np.int64), 1)), weight


def _share_equal(keys: Blocks) -> float:
    """How probable it is that two values are equal, from a sample of both sides."""
    left, right = (side[:: max(1, len(side) // SAMPLE)] for side in (keys.reference, keys.predicted))
    _, codes = np.unique(np.concatenate((left, right)), return_inverse=True)
    ours, theirs = (np.bincount(side, minlength=len(codes)) for side in (codes[: len(left)], codes[len(left) :]))
    return float(ours @ theirs) / (len(left) * len(right))
