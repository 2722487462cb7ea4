"""The few array routines that everything else is made of: sorting, numbering, joining and summing by key.

A key is a non-negative int64 below a known bound. NumPy sorts plain integers five times faster than it
argsorts them, so wherever key and row number fit into 63 bits together they are packed into one integer,
sorted, and taken apart again. That also makes every order here stable.
"""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import TooLarge

I64: TypeAlias = NDArray[np.int64]
F64: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

LIMIT = 1 << 62

MOST_PAIRS = 200_000_000
"""So many pairs need some 5 GB; what has more ends in an error, not in a machine without memory."""


MOST_CELLS = 20_000_000
"""So many similarities of a rectangle, each with each, need some 3.5 GB until they are matched."""


def check_pairs(total: int, advice: str, most: int = MOST_PAIRS) -> None:
    """Whether so many pairs can be held in memory; the advice says what to do if they cannot."""
    if total > most and total > _allowed():
        raise TooLarge(
            f"{total:,} pairs of items would have to be compared at once, more than {most:,}; {advice}; or, with enough "
            f"memory, set TALLYSTICK_MOST_PAIRS to a larger number"
        )


def _allowed() -> int:
    said = os.environ.get("TALLYSTICK_MOST_PAIRS", "0")
    if not said.isdecimal():
        raise TooLarge(f"expected a whole number in the environment's TALLYSTICK_MOST_PAIRS, found {said!r:.40}")
    return int(said)


def integers(values: Any) -> I64:
    """`values` as an int64 array."""
    return np.asarray(values, dtype=np.int64)


def sort_order(keys: I64, bound: int) -> I64:
    """The stable order that sorts `keys`, which lie in [0, bound)."""
    n = len(keys)
    bits = max(n - 1, 0).bit_length()
    if max(bound - 1, 0).bit_length() + bits <= 63:
        packed = (keys << bits) | np.arange(n, dtype=np.int64)
        packed.sort()
        return packed & ((1 << bits) - 1)
    return np.argsort(keys, kind="stable")


def starts_of_runs(ordered: I64) -> I64:
    """Where each run of equal values begins in a sorted array."""
    if len(ordered) == 0:
        return np.empty(0, np.int64)
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


def number(keys: I64, bound: int) -> tuple[I64, int]:
    """The keys renumbered densely in their order, and how many different ones there are."""
    if len(keys) == 0:
        return keys, 0
    if bound <= 4 * len(keys) + 1024:  # a table is cheaper than sorting
        present = np.zeros(bound, np.int64)
        present[keys] = 1
        table = np.cumsum(present) - 1
        return table[keys], int(table[-1]) + 1
    order = sort_order(keys, bound)
    ordered = keys[order]
    fresh = np.empty(len(keys), np.int64)
    fresh[0] = 0
    np.cumsum(ordered[1:] != ordered[:-1], out=fresh[1:])
    codes = np.empty(len(keys), np.int64)
    codes[order] = fresh
    return codes, int(fresh[-1]) + 1


def ranges(starts: I64, counts: I64) -> I64:
    """The concatenation of `range(start, start + count)` over all pairs of both."""
    ends = np.cumsum(counts)
    out: I64 = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return out


def expand(starts: I64, counts: I64) -> I64:
    """The same, unless there are more than memory holds."""
    check_pairs(
        int(counts.sum()),
        "in a sum of fields an exact field with few values meets almost everything: make it part of a record, match by a "
        "key, or score smaller documents",
    )
    return ranges(starts, counts)


def join(left: I64, right: I64, bound: int) -> tuple[I64, I64]:
    """All (i, j) with left[i] == right[j]."""
    order_left, order_right = sort_order(left, bound), sort_order(right, bound)
    i, j = join_sorted(left[order_left], right[order_right])
    return order_left[i], order_right[j]


def join_sorted(left: I64, right: I64) -> tuple[I64, I64]:
    """All (i, j) with left[i] == right[j], both sorted."""
    low = np.searchsorted(right, left, side="left")
    if len(right) and bool(np.all(right[1:] != right[:-1])):  # at most one each: the second search is not needed
        rows = np.flatnonzero(right[np.minimum(low, len(right) - 1)] == left)
        return rows, low[rows]
    counts = np.searchsorted(right, left, side="right") - low
    rows = np.repeat(np.arange(len(left), dtype=np.int64), counts)
    return rows, expand(low, counts)


def sum_by_key(keys: I64, bound: int, weights: F64 | None) -> tuple[I64, F64]:
    """The different keys in order, and the sum of the weights (or the count) of each."""
    if weights is None:
        if bound <= 4 * len(keys) + 1024:  # a table is cheaper than sorting
            counts = np.bincount(keys)
            present = np.flatnonzero(counts)
            return present, counts[present].astype(np.float64)
        ordered = np.sort(keys)
        starts = starts_of_runs(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered)).astype(np.float64)
    if not bool(np.all(keys[1:] >= keys[:-1])):
        order = sort_order(keys, bound)
        keys, weights = keys[order], weights[order]
    starts = starts_of_runs(keys)
    sums = np.add.reduceat(weights, starts) if len(starts) else np.empty(0, np.float64)
    return keys[starts], sums


def first_best(keys: I64, bound: int, weights: F64) -> I64:
    """For each different key the position of its largest weight (the first one, if several)."""
    order = sort_order(keys, bound)
    ordered = keys[order]
    starts = starts_of_runs(ordered)
    if len(starts) == 0:
        return starts
    top = np.maximum.reduceat(weights[order], starts)
    counts = np.diff(starts, append=len(ordered))
    hits = np.flatnonzero(weights[order] == np.repeat(top, counts))
    group = np.repeat(np.arange(len(starts)), counts)[hits]
    return order[hits[starts_of_runs(group)]]


def weighted_counts(numbers: I64, weights: F64, n: int) -> F64:
    """The sum of the weights of each number below n."""
    return np.bincount(numbers, weights=weights, minlength=n).astype(np.float64, copy=False)


def sum_by_owner(offsets: I64, values: F64) -> F64:
    """The sum of each owner's slice of `values`; an empty slice sums to 0."""
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    return weighted_counts(owners, values, len(offsets) - 1)


def offsets_of(counts: Any) -> I64:
    """[0, c0, c0 + c1, ...]"""
    counts = integers(counts)
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out
