"""Two tables, one alignment of their rows and one of their columns (Smock, Pesala, Abraham 2022: GriTS).

Rows are matched in order, columns are matched in order, and a cell meets the cell at the same crossing:

        a b c            a c
    1   · · ·        1   · ·          rows 1-1, 3-2; columns a-a, c-c
    2   · · ·   ↔    2   · ·          Σ = what the four crossings are worth
    3   · · ·

With `weights[i, a, k, c]` for cell (i, a) against cell (k, c), either alignment alone is a chain (`match_dense`): given the rows, the
columns are best by a dynamic programme over Σ of the matched rows, and the other way round. Both together are not. Here:

- **factored**, the published heuristic: rows as if every pair of rows had columns of its own, columns likewise, then their crossings;
- **exact**: that, improved by turns, as the first solution, and a search over the rows' alignments that leaves out what cannot win. What
  pairs of rows could earn with columns of their own is the bound.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.orders import Matched, match_dense

Order = tuple[list[int], list[int]]
"""Places that are matched, one after the other, on both sides."""


def chain_scores(tables: F64) -> F64:
    """What the heaviest chain of every table is worth; the tables are the last two dimensions."""
    n, m = tables.shape[-2:]
    best = np.zeros((*tables.shape[:-2], m + 1))
    for row in range(n):
        best[..., 1:] = np.maximum(best[..., 1:], best[..., :-1] + tables[..., row, :])
        np.maximum.accumulate(best, axis=-1, out=best)
    return best[..., m]


def match_grids(weights: F64, *, factored: bool = False, limit: float = 60.0) -> tuple[Matched, Order, Order]:
    """The best Σ of the crossings, as pairs of cells numbered row by row, and the alignments of rows and of columns."""
    began = time.monotonic()
    by_row = chain_scores(weights.transpose(0, 2, 1, 3))
    by_column = chain_scores(weights.transpose(1, 3, 0, 2))
    rows, columns = _chain(by_row), _chain(by_column)
    value = _crossings(weights, rows, columns)
    if factored:
        return _matched(weights, rows, columns, value, value), rows, columns
    search = _Search(weights, by_row, began + limit)
    for start in (columns, _chain(_over(weights, rows, 0))):
        search.improve(start)
    search.descend()
    upper = max(search.value, min(search.open, float(chain_scores(by_row)), float(chain_scores(by_column))))
    found = search.value if search.done else upper
    return _matched(weights, search.rows, search.columns, search.value, found), search.rows, search.columns


def _chain(table: F64) -> Order:
    found = match_dense(table)
    return found.left.tolist(), found.right.tolist()


def _over(weights: F64, order: Order, axis: int) -> F64:
    """Σ over one alignment of rows (axis 0) or of columns (1): the table that the other alignment is found by."""
    if axis:
        weights = weights.transpose(1, 0, 3, 2)
    table: F64 = weights[order[0], :, order[1], :].sum(axis=0)
    return table


def _crossings(weights: F64, rows: Order, columns: Order) -> float:
    table = _over(weights, rows, 0)
    return float(table[columns[0], columns[1]].sum())


def _matched(weights: F64, rows: Order, columns: Order, lower: float, upper: float) -> Matched:
    """The pairs of cells at the crossings that are worth something."""
    wide, narrow = weights.shape[1], weights.shape[3]
    left = [i * wide + a for i in rows[0] for a in columns[0]]
    right = [k * narrow + c for k in rows[1] for c in columns[1]]
    some = [
        n
        for n, (x, y) in enumerate(zip(left, right, strict=True))
        if weights[x // wide, x % wide, y // narrow, y % narrow] > 0
    ]
    return Matched(lower, upper, upper <= lower, np.array(left, np.int64)[some], np.array(right, np.int64)[some])


class _Search:
    """Depth first over the alignments of rows, the best one so far at hand."""

    def __init__(self, weights: F64, by_row: F64, until: float) -> None:
        self.weights, self.by_row, self.until = weights, by_row, until
        self.value = 0.0
        self.rows: Order = ([], [])
        self.columns: Order = ([], [])
        self.open, self.done = 0.0, True
        # What the rows from (i, k) on could earn if every pair of them had columns of its own.
        n, m = by_row.shape
        self.rest = np.zeros((n + 1, m + 1))
        for i in range(n - 1, -1, -1):
            for k in range(m - 1, -1, -1):
                self.rest[i, k] = max(self.rest[i + 1, k], self.rest[i, k + 1], self.rest[i + 1, k + 1] + by_row[i, k])

    def improve(self, columns: Order) -> None:
        """Rows for these columns, columns for those rows, and so on while it gets better."""
        while True:
            rows = _chain(_over(self.weights, columns, 1))
            columns = _chain(_over(self.weights, rows, 0))
            value = _crossings(self.weights, rows, columns)
            if value <= self.value + 1e-12:
                return
            self.value, self.rows, self.columns = value, rows, columns

    def descend(self) -> None:
        """All alignments that may still win; what time does not allow is left open."""
        n, m = self.by_row.shape
        width = self.weights.shape[1], self.weights.shape[3]
        stack: list[Any] = [(0, 0, np.zeros(width), 0.0, ((), ()))]
        while stack:
            i, k, table, earned, order = stack.pop()
            if earned + self.rest[i, k] <= self.value + 1e-9:
                continue
            now = float(chain_scores(table))  # with columns in common, the rows so far earn no more than this
            if now + self.rest[i, k] <= self.value + 1e-9:
                continue
            if time.monotonic() > self.until:
                self.done, self.open = False, max(self.open, min(earned, now) + float(self.rest[i, k]))
                continue
            if now > self.value:
                self.value, self.rows, self.columns = now, (list(order[0]), list(order[1])), _chain(table)
            if i < n and k < m:
                for one, other in self._next(i, k, n, m):
                    pair = table + self.weights[one, :, other, :]
                    more = (*order[0], one), (*order[1], other)
                    stack.append((one + 1, other + 1, pair, now + float(self.by_row[one, other]), more))

    def _next(self, i: int, k: int, n: int, m: int) -> list[tuple[int, int]]:
        """The next pair of rows, the most promising last: of two that lie in each other's way at least one leaves no row out."""
        found = [(a, b) for a in range(i, n) for b in range(k, m) if self.by_row[a, b] > 0]
        return sorted(found, key=lambda pair: self.by_row[pair] + self.rest[pair[0] + 1, pair[1] + 1])
