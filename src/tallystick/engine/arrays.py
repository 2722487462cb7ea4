"""The few array routines that everything else is made of: sorting, numbering, joining and summing by key.

A key is a non-negative int64 below a known bound. NumPy sorts plain integers five times faster than it
argsorts them, so wherever key and row number fit into 63 bits together they are packed into one integer,
sorted, and taken apart again. That also makes every order here stable.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import TooLarge
from tallystick.frozen import frozen

I64: TypeAlias = NDArray[np.int64]
F64: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

LIMIT = 1 << 62

MOST_PAIRS = 200_000_000
"""So many pairs need some 5 GB; what has more ends in an error, not in a machine without memory."""


MOST_CELLS = 20_000_000
"""So many similarities of a rectangle, each with each, need some 3.5 GB until they are matched."""


ROOMY = 256
"""How many cells a rectangle must have on average so that it pays to look at each by itself."""


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


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The different values of an array, in their order. `np.unique` is slower for integers, and loads `numpy.ma` first, 10 ms."""
    ordered = np.sort(values, axis=None)
    return ordered[starts_of_runs(ordered)]


def among(values: I64, known: I64) -> Mask:
    """Which of the values are among known ones, which are in order."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.equal(known[place], values)


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


# Blocks: which rows of the two sides may meet at all.
#
# Two values can only have a positive similarity inside one block. The document is the first block; an exact
# similarity does nothing but refine: block' = (block, code). Keys are multiplied up and only sorted once, when
# the pairs are wanted.


@frozen(eq=False)
class Pairs:
    """A sparse list of (reference row, predicted row, weight); no pair twice, every weight positive."""

    i: I64
    j: I64
    weight: F64

    def __len__(self) -> int:
        return len(self.i)

    @staticmethod
    def none() -> Pairs:
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))

    @staticmethod
    def joined(parts: Sequence[Pairs]) -> Pairs:
        """Different pairs, one after the other."""
        return Pairs(*(np.concatenate([getattr(one, name) for one in parts]) for name in ("i", "j", "weight")))

    def positive(self) -> Pairs:
        keep = self.weight > 0
        return self if keep.all() else Pairs(self.i[keep], self.j[keep], self.weight[keep])

    def renumber(self, rows_i: I64, rows_j: I64) -> Pairs:
        """The same pairs, with the rows looked up in another numbering."""
        return Pairs(rows_i[self.i], rows_j[self.j], self.weight)

    def scaled(self, factor: F64 | float) -> Pairs:
        return Pairs(self.i, self.j, self.weight * factor)


@frozen(eq=False)
class Sums:
    """Σ of pairs of rows, i against j, and the two numerators that a normaliser uses."""

    i: I64
    j: I64
    total: F64
    reference: F64
    predicted: F64

    @staticmethod
    def of(pairs: Pairs) -> Sums:
        """The same for both sides."""
        return Sums(pairs.i, pairs.j, pairs.weight, pairs.weight, pairs.weight)

    @staticmethod
    def joined(parts: Sequence[Sums]) -> Sums:
        """Sums over different pairs, one after the other."""
        return Sums(*(np.concatenate([getattr(one, f.name) for one in parts]) for f in fields(Sums)))

    def renumber(self, rows_i: I64, rows_j: I64) -> Sums:
        """The same pairs, with the rows looked up in another numbering."""
        return replace(self, i=rows_i[self.i], j=rows_j[self.j])

    def scaled(self, factor: float) -> Sums:
        return Sums(self.i, self.j, self.total * factor, self.reference * factor, self.predicted * factor)


def union(parts: list[Pairs], width: int, height: int) -> Pairs:
    """The pairs of all parts; a pair that stands in several has their weights added."""
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return parts[0] if parts else Pairs.none()
    keys = np.concatenate([part.i * width + part.j for part in parts])
    order = sort_order(keys, height * width)
    ordered = keys[order]
    starts = starts_of_runs(ordered)
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(ordered)))
    # Added up in the order of the parts, which `reduceat` does not promise.
    weights = np.bincount(group, np.concatenate([part.weight for part in parts])[order]).astype(np.float64)
    return Pairs(ordered[starts] // width, ordered[starts] % width, weights)


def look_up(table: Pairs, i: I64, j: I64, width: int, height: int) -> F64:
    """The weight that `table` has for each (i, j); 0 where it has none."""
    keys = table.i * width + table.j
    order = sort_order(keys, max(1, height * width))
    ordered = keys[order]
    wanted = i * width + j
    if len(ordered) == 0:
        return np.zeros(len(wanted))
    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[place] == wanted, table.weight[order[place]], 0.0)


@frozen(eq=False)
class Blocks:
    """The block key of each row of both sides; `aligned` if row k only ever meets row k."""

    reference: I64
    predicted: I64
    bound: int
    aligned: bool = False

    @staticmethod
    def diagonal(n: int) -> Blocks:
        """n rows a side, the k-th against the k-th."""
        rows = np.arange(n, dtype=np.int64)
        return Blocks(rows, rows, max(n, 1), aligned=True)

    def refine(self, reference: I64, predicted: I64, bound: int) -> Blocks:
        """Split by (block, code)."""
        mine = self
        if mine.bound * bound >= LIMIT:
            mine = mine.dense()
        if mine.bound * bound >= LIMIT:
            codes, bound = number(np.concatenate((reference, predicted)), bound)
            reference, predicted = codes[: len(reference)], codes[len(reference) :]
        return Blocks(mine.reference * bound + reference, mine.predicted * bound + predicted, mine.bound * bound)

    def dense(self) -> Blocks:
        codes, bound = number(np.concatenate((self.reference, self.predicted)), self.bound)
        n = len(self.reference)
        return Blocks(codes[:n], codes[n:], max(bound, 1), self.aligned)

    def at(self, reference: I64, predicted: I64) -> Blocks:
        """The blocks of other rows that are derived from these: items of an owner, a subset, an index."""
        return Blocks(self.reference[reference], self.predicted[predicted], self.bound)

    def pairs(self) -> tuple[I64, I64]:
        """All (i, j) that share a block."""
        return join(self.reference, self.predicted, self.bound)

    def equal_pairs(self, rows: I64, columns: I64) -> Pairs:
        """All pairs of these rows and columns that share a block, each of which counts 1."""
        i, j = self.at(rows, columns).pairs()
        return Pairs(rows[i], columns[j], np.ones(len(i)))

    @cached_property
    def cells(self) -> int:
        """How many pairs of rows share a block."""
        dense = self.dense()
        counts = [np.bincount(side, minlength=dense.bound) for side in (dense.reference, dense.predicted)]
        return int(counts[0] @ counts[1])

    @cached_property
    def frame(self) -> Frame:
        return Frame(self)


class Frame:
    """The rectangles of all blocks, laid end to end in one flat array.

    Cell (i, j) of block b stands at base[b] + place(i) * columns(b) + place(j). Dense similarities fill it
    rectangle by rectangle; sparse ones are added at their cells.
    """

    def __init__(self, blocks: Blocks, *, filled: bool = True) -> None:
        dense = blocks.dense()
        rows, columns = dense.reference, dense.predicted
        n = dense.bound
        self.block_of_row = rows
        self.row_counts = np.bincount(rows, minlength=n)
        self.column_counts = np.bincount(columns, minlength=n)
        self.row_order, self.column_order = sort_order(rows, n), sort_order(columns, n)
        self.row_starts, self.column_starts = offsets_of(self.row_counts), offsets_of(self.column_counts)
        self.base = offsets_of(self.row_counts * self.column_counts)
        self.size = int(self.base[-1])
        if filled:
            self._check()
        self.row_place = np.empty(len(rows), np.int64)
        self.row_place[self.row_order] = np.arange(len(rows)) - np.repeat(self.row_starts[:-1], self.row_counts)
        self.column_place = np.empty(len(columns), np.int64)
        self.column_place[self.column_order] = np.arange(len(columns)) - np.repeat(
            self.column_starts[:-1], self.column_counts
        )

    def _check(self) -> None:
        check_pairs(
            self.size,
            "texts, numbers of a tolerance and functions are compared each with each: match by a key, compare exactly, or "
            "score smaller documents or batches",
            MOST_CELLS,
        )

    def cells(self, i: I64, j: I64) -> I64:
        """Where the pairs (i, j), each inside one block, stand."""
        block = self.block_of_row[i]
        return self.base[block] + self.row_place[i] * self.column_counts[block] + self.column_place[j]

    def at(self, cells: I64, block: I64) -> tuple[I64, I64]:
        """The rows and columns of some cells, each of its block."""
        row, column = np.divmod(cells - self.base[block], self.column_counts[block])
        return self.row_order[self.row_starts[block] + row], self.column_order[self.column_starts[block] + column]

    @cached_property
    def all_pairs(self) -> tuple[I64, I64]:
        """The rows and columns of all cells, in order."""
        return self.by_row(np.arange(len(self.row_order))), self.by_column(np.arange(len(self.column_order)))

    @cached_property
    def _layout(self) -> tuple[I64, I64]:
        """How many cells each row has, in the order of the rows, and which column of that order each cell has."""
        blocks = self.block_of_row[self.row_order]
        widths = self.column_counts[blocks]
        return widths, expand(self.column_starts[blocks], widths)

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """For every cell the value of its row."""
        return np.repeat(values[self.row_order], self._layout[0])

    def by_column(self, values: NDArray[Any]) -> NDArray[Any]:
        """For every cell the value of its column."""
        return values[self.column_order][self._layout[1]]

    def rectangles(self, blocks: I64 | None = None) -> list[tuple[I64, I64, slice]]:
        """Rows, columns and place of every block that has both, or of these."""
        out = []
        for b in (np.flatnonzero(self.row_counts * self.column_counts) if blocks is None else blocks).tolist():
            rows = self.row_order[self.row_starts[b] : self.row_starts[b + 1]]
            columns = self.column_order[self.column_starts[b] : self.column_starts[b + 1]]
            out.append((rows, columns, slice(int(self.base[b]), int(self.base[b + 1]))))
        return out

    def pairs(self, flat: F64) -> Grid:
        """The positive cells as pairs."""
        return Grid(self, flat)


class Grid(Pairs):
    """The positive cells of a frame. As a list of pairs they are only written out if somebody asks."""

    def __init__(self, frame: Frame, flat: F64) -> None:
        self.__dict__.update(frame=frame, flat=flat)

    frame: Frame
    flat: F64

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def roomy(self) -> bool:
        """Whether rectangles are large enough to be looked at one by one."""
        return self.frame.size >= ROOMY * int(np.count_nonzero(self.frame.row_counts * self.frame.column_counts))

    @cached_property
    def hits(self) -> I64:
        return np.flatnonzero(self.flat > 0)

    @cached_property
    def i(self) -> I64:
        return self.frame.all_pairs[0][self.hits]

    @cached_property
    def j(self) -> I64:
        return self.frame.all_pairs[1][self.hits]

    @cached_property
    def weight(self) -> F64:
        return self.flat[self.hits]

    @cached_property
    def solved(self) -> SolvedGrid:
        """The best 1:1 matching of every rectangle: the small ones are solved all at once."""
        from tallystick.engine.assignment import SMALL_SIDE, solve

        frame = self.frame
        short = np.minimum(frame.row_counts, frame.column_counts)
        blocks, large = np.flatnonzero(short), np.flatnonzero(short > SMALL_SIDE)
        small = np.flatnonzero((short > 0) & (short <= SMALL_SIDE))
        counts = np.diff(frame.base)[small]
        cells = expand(frame.base[small], counts)
        filled = np.flatnonzero(self.flat[cells] > 0)
        cells, block = cells[filled], np.repeat(small, counts)[filled]
        (i, j), weight = frame.at(cells, block), self.flat[cells]
        chosen = np.flatnonzero(assign(i, j, weight, len(frame.row_order), len(frame.column_order)))
        pairs = Pairs(i[chosen], j[chosen], weight[chosen])
        totals = weighted_counts(block[chosen], pairs.weight, len(short))
        tables = []
        for block, (rows, columns, place) in zip(large.tolist(), frame.rectangles(large), strict=True):
            table = self.flat[place].reshape(len(rows), len(columns))
            match, totals[block] = solve(table)
            tables.append((rows, columns, table, match))
        return SolvedGrid(frame.row_order[frame.row_starts[blocks]], totals[blocks], pairs, tables)


@frozen(eq=False)
class SolvedGrid:
    """The best 1:1 matchings of the rectangles of a grid: the first row and the total of each, the matched pairs of the small ones, and
    rows, columns, cells and the column of each row of the others (`assignment.solve`)."""

    first: I64
    totals: F64
    pairs: Pairs
    tables: list[tuple[I64, I64, F64, I64 | None]]


def assign(rows: I64, columns: I64, weights: F64, n_rows: int, n_columns: int, *, early: bool = False) -> Mask:
    """Which of the pairs (row, column, weight > 0) belong to a matching of the largest total weight.

    Of several such matchings any may be found; with `early`, and pairs in the order of rows and columns, the one with the
    fewest pairs, and of low rows and columns.

    The pairs fall apart into connected components. A single edge or a star needs no solver:

        r ── p        r ─┬─ p      take the heaviest edge
                         ├─ p'
                         └─ p''
    """
    chosen = np.zeros(len(rows), np.bool_)
    if len(rows) == 0:
        return chosen
    row_degree = np.bincount(rows, minlength=n_rows)
    column_degree = np.bincount(columns, minlength=n_columns)
    leaf_row, leaf_column = row_degree[rows] == 1, column_degree[columns] == 1
    chosen |= leaf_row & leaf_column  # single edges
    if chosen.all():
        return chosen
    # A star around a column: all its rows have no other edge.
    leaves = np.bincount(columns, weights=leaf_row, minlength=n_columns)
    in_column_star = leaf_row & (leaves == column_degree)[columns]
    leaves = np.bincount(rows, weights=leaf_column, minlength=n_rows)
    in_row_star = leaf_column & (leaves == row_degree)[rows] & ~in_column_star
    for star, centre, bound in ((in_column_star, columns, n_columns), (in_row_star, rows, n_rows)):
        edges = np.flatnonzero(star & ~chosen)
        if len(edges):
            chosen[edges[first_best(centre[edges], bound, weights[edges])]] = True
    rest = np.flatnonzero(~(in_column_star | in_row_star))
    if len(rest):
        from tallystick.engine.assignment import assign_components

        chosen[rest[assign_components(rows[rest], columns[rest], weights[rest], n_rows, n_columns, early=early)]] = True
    return chosen
