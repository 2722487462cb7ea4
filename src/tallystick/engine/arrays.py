"""What everything else is made of: the few array routines (sorting, numbering, joining and summing by key), pairs, blocks and columns.

A key is a non-negative int64 below a known bound. NumPy sorts plain integers five times faster than it
argsorts them, so wherever key and row number fit into 63 bits together they are packed into one integer,
sorted, and taken apart again. That also makes every order here stable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import TooLarge
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.engine.data import Leaf

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
    if bound <= 1 << 16:  # which NumPy sorts by their digits
        return np.argsort(keys.astype(np.uint16), kind="stable")
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


def runs(order: I64, keys: I64) -> list[I64]:
    """An order that sorts keys, cut into its runs of equal keys; of no keys there is none."""
    return np.split(order, starts_of_runs(keys[order])[1:]) if len(order) else []


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


class Members:
    """The rows of each of n groups, in their order: sorted once, where to look through all rows for each group takes as long as
    there are groups."""

    def __init__(self, group: I64, n: int) -> None:
        self._order = np.argsort(group, kind="stable")
        self._starts = offsets_of(np.bincount(group, minlength=n)).tolist()

    def __getitem__(self, k: int) -> I64:
        rows: I64 = self._order[self._starts[k] : self._starts[k + 1]]
        return rows


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


# What a metric node makes of one side's values: the columns that pairs are computed from.
#
# Each kind can `take` rows, so that aligned rows can be followed downwards for explanations, and number its rows by content
# (`number_rows`): rows with one number hold the same, as far as the node that made the column looks.


class Column(Protocol):
    """One side's rows for one node of a metric."""

    def __len__(self) -> int: ...

    def take(self, rows: I64) -> Column: ...

    def number_rows(self) -> Numbered: ...


Numbered = tuple[I64, int]
"""A number for each row, the same for rows of the same content, and a bound of the numbers (at least 1)."""


def number_jointly(parts: Iterable[Numbered], count: int) -> Numbered:
    """Rows that are the same in all of several parts."""
    codes, bound = np.zeros(count, np.int64), 1
    for more, width in parts:
        codes, bound = number(codes * width + more, bound * width)
    return codes, max(bound, 1)


@frozen(eq=False)
class Codes:
    """A leaf: an integer for each row, below `bound`; `values` is the table of what the codes stand for."""

    codes: I64
    bound: int
    values: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: I64) -> Codes:
        return Codes(self.codes[rows], self.bound, self.values)

    def number_rows(self) -> Numbered:
        codes, bound = number(self.codes, self.bound)
        return codes, max(bound, 1)


class Unnumbered(Codes):
    """A leaf that is only numbered when somebody asks for its codes: row against row, values are compared as they are."""

    def __init__(self, numbering: Numbering, side: int, rows: I64 | None = None) -> None:
        self.__dict__.update(numbering=numbering, side=side, rows=rows, values=())

    numbering: Numbering
    side: int
    rows: I64 | None

    def __len__(self) -> int:
        return len(self.numbering.sides[self.side]) if self.rows is None else len(self.rows)

    @cached_property
    def numbered(self) -> Codes:
        """The same rows, with codes."""
        every = self.numbering.columns[self.side]
        return every if self.rows is None else every.take(self.rows)

    @property
    def codes(self) -> I64:
        return self.numbered.codes

    @property
    def bound(self) -> int:
        return self.numbered.bound

    def take(self, rows: I64) -> Codes:
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        if self.numbering.known:
            return self.numbered.take(rows)
        return Unnumbered(self.numbering, self.side, rows if self.rows is None else self.rows[rows])

    def same(self, other: Unnumbered) -> Mask | None:
        """Row by row, whether the values are equal; None if the codes have to tell."""
        if self.numbering.known:
            return None
        if self.rows is None and other.rows is None:
            return np.ones(len(self), np.bool_) if self.side == other.side else self.numbering.same
        return self.numbering.compare(_rows_of(self), _rows_of(other))


def _rows_of(column: Unnumbered) -> Leaf | list[Any]:
    values = column.numbering.sides[column.side]
    if column.rows is None:
        return values
    return [values[k] for k in column.rows.tolist()] if isinstance(values, list) else values.take(column.rows)


def numbered(column: Any) -> Any:
    """The same rows, with codes if they are a leaf that has none so far."""
    return column.numbered if isinstance(column, Unnumbered) else column


class Numbering:
    """Two leaves, how they are compared row by row, and their columns with codes, once those are asked for."""

    def __init__(
        self,
        sides: tuple[Leaf, Leaf] | tuple[list[Any], list[Any]],
        compare: Callable[[Any, Any], Mask | None],
        count: Callable[[], tuple[Codes, Codes]],
    ) -> None:
        self.sides, self.compare, self.count = sides, compare, count

    @cached_property
    def columns(self) -> tuple[Codes, Codes]:
        return self.count()

    @property
    def known(self) -> bool:
        """Whether the codes are there already."""
        return "columns" in self.__dict__

    @cached_property
    def same(self) -> Mask | None:
        """Row by row, whether the values are equal; None if there is no short way."""
        return self.compare(*self.sides)

    def both(self) -> tuple[Unnumbered, Unnumbered]:
        """The two columns."""
        return Unnumbered(self, 0), Unnumbered(self, 1)


@frozen(eq=False)
class Numbers:
    """A leaf of floats: one array for each part (a number has one, an interval two)."""

    parts: tuple[F64, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: I64) -> Numbers:
        return Numbers(tuple(part[rows] for part in self.parts))

    def number_rows(self) -> Numbered:
        every = (np.unique(part, return_inverse=True)[1].reshape(-1).astype(np.int64) for part in self.parts)
        return number_jointly(((codes, int(codes.max(initial=0)) + 1) for codes in every), len(self))


@frozen(eq=False)
class Fields:
    """A record: the columns of its fields."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: I64) -> Fields:
        return Fields(tuple(column.take(rows) for column in self.columns))

    def number_rows(self) -> Numbered:
        return number_jointly((column.number_rows() for column in self.columns), len(self))


@frozen(eq=False)
class Items:
    """Collections: row k owns `items[offsets[k]:offsets[k + 1]]`."""

    offsets: I64
    items: Column
    places: I64 | None = None
    """Where each item stood in its owner's collection, if some were left out; None if all are there."""

    in_order: ClassVar[bool] = False
    """Whether the order of the items means something."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def owners(self) -> I64:
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def item_rows(self, rows: I64) -> tuple[I64, I64]:
        """The item rows of some owners, one after the other, and their counts."""
        counts = self.offsets[rows + 1] - self.offsets[rows]
        return expand(self.offsets[rows], counts), counts

    def take(self, rows: I64) -> Items:
        item_rows, counts = self.item_rows(rows)
        places = None if self.places is None else self.places[item_rows]
        return replace(self, offsets=offsets_of(counts), items=self.items.take(item_rows), places=places)

    def distinct(self) -> Items:
        """Each collection as a set: of items that hold the same, the first."""
        codes, bound = self.items.number_rows()
        owners = self.owners
        keys = owners * bound + codes
        order = sort_order(keys, max(1, len(self) * bound))
        kept = np.sort(order[starts_of_runs(keys[order])])
        if len(kept) == len(owners):
            return self
        offsets = offsets_of(np.bincount(owners[kept], minlength=len(self)))
        return replace(self, offsets=offsets, items=self.items.take(kept), places=kept - self.offsets[owners[kept]])

    def number_rows(self) -> Numbered:
        codes, _ = self.items.number_rows()
        return number_lists(self.offsets, codes if self.in_order else self._sorted(codes))

    def _sorted(self, codes: I64) -> I64:
        return codes[np.lexsort((codes, self.owners))]


def number_lists(offsets: I64, codes: I64) -> Numbered:
    """Lists of numbers, one after the other, as numbers: equal for equal lists."""
    counts = np.diff(offsets)
    width = int(codes.max(initial=0)) + 1
    whole = np.zeros(len(counts), np.int64)
    for place in range(int(counts.max(initial=0))):
        longer = np.flatnonzero(counts > place)  # those that end before are told apart by their length
        bound = int(whole[longer].max(initial=0)) + 1
        whole[longer] = number(whole[longer] * width + codes[offsets[longer] + place], bound * width)[0]
    bound = int(whole.max(initial=0)) + 1
    found, n = number(counts * bound + whole, (int(counts.max(initial=0)) + 1) * bound)
    return found, max(n, 1)


@frozen(eq=False)
class Shared:
    """Composite values that occur many times: row k is `values[index[k]]`."""

    index: I64
    values: Column

    def __len__(self) -> int:
        return len(self.index)

    def take(self, rows: I64) -> Shared:
        return Shared(self.index[rows], self.values)

    def number_rows(self) -> Numbered:
        codes, bound = self.values.number_rows()
        return codes[self.index], bound


def unshared(column: Column) -> Column:
    """The same rows, each with a value of its own."""
    return column.values.take(column.index) if isinstance(column, Shared) else column


@frozen(eq=False)
class Maybe:
    """Values of which some are missing: row k is `present[position[k]]`, or nothing where that is -1."""

    position: I64
    present: Column

    def __len__(self) -> int:
        return len(self.position)

    @property
    def rows(self) -> I64:
        """The rows that have a value, in the order of `present`."""
        rows = np.flatnonzero(self.position >= 0)
        out = np.empty(len(self.present), np.int64)
        out[self.position[rows]] = rows
        return out

    def take(self, rows: I64) -> Maybe:
        position = self.position[rows]
        here = position >= 0
        fresh = np.full(len(rows), -1, np.int64)
        fresh[here] = np.arange(int(here.sum()))
        return Maybe(fresh, self.present.take(position[here]))

    def number_rows(self) -> Numbered:
        codes, bound = self.present.number_rows()
        every = np.zeros(len(self), np.int64)
        every[self.rows] = codes + 1
        return every, bound + 1


@frozen(eq=False)
class Alternatives:
    """Values of several cases: row k is `columns[case[k]][position[k]]`."""

    case: I64
    position: I64
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.case)

    def rows(self, case: int) -> I64:
        """The rows of one case, in the order of its column."""
        rows = np.flatnonzero(self.case == case)
        out = np.empty(len(rows), np.int64)
        out[self.position[rows]] = rows
        return out

    def take(self, rows: I64) -> Alternatives:
        case, position = self.case[rows], self.position[rows]
        fresh, columns = np.empty(len(rows), np.int64), []
        for k, column in enumerate(self.columns):
            here = np.flatnonzero(case == k)
            fresh[here] = np.arange(len(here))
            columns.append(column.take(position[here]))
        return Alternatives(case, fresh, tuple(columns))

    def number_rows(self) -> Numbered:
        every, bound = np.zeros(len(self), np.int64), 0
        for k, column in enumerate(self.columns):
            codes, more = column.number_rows()
            every[self.rows(k)] = codes + bound
            bound += more
        return every, max(bound, 1)


@frozen(eq=False)
class Nothing:
    """No rows at all: where a recursive type ends."""

    def __len__(self) -> int:
        return 0

    def take(self, rows: I64) -> Nothing:
        return self

    def number_rows(self) -> Numbered:
        return np.empty(0, np.int64), 1
