"""1:1 matching of the largest total weight, for very many sparse problems at once: the solvers.

`arrays.assign` has done what needs none. What is left goes to a solver by shape: up to four on the short side in batches, by an exact dynamic programme
over the subsets of that side; larger ones one by one to a dense assignment; very large sparse ones to a sparse
solver. Arrays in, arrays out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.engine.arrays import (
    F64,
    I64,
    Mask,
    Members,
    assign,
    distinct,
    number,
    offsets_of,
    sort_order,
    starts_of_runs,
)
from tallystick.engine.native import compiled
from tallystick.frozen import frozen

SMALL_SIDE = 4
SMALL_SQUARE = 40
"""Larger squares go to `lap`, everything else to SciPy: `lap` fills a rectangle up to a square, and takes longer to call."""
LONG = 2
"""A side that is so many times as long as the other is cut down first."""
DENSE_CELLS = 1_000_000
DENSE_SHARE = 0.05
"""A matrix of more cells, of which at most this share is filled, is not laid out: the solver for sparse ones is quicker (and takes .24 s to
load, which is why small ones do not go there)."""
TIE = 1e-9
"""What a pair is made to cost where early pairs are preferred: far less than any two different totals differ by."""


def components(rows: I64, columns: I64, n_rows: int, n_columns: int) -> I64:
    """For each edge the smallest row of its connected component.

    Labels run to the smaller one along edges, then jump to their label's label, so that a path of length n
    needs about log n rounds.
    """
    label = np.arange(n_rows, dtype=np.int64)
    while True:
        at_column = np.full(n_columns, n_rows, np.int64)
        np.minimum.at(at_column, columns, label[rows])
        fresh = label.copy()
        np.minimum.at(fresh, rows, at_column[columns])
        np.minimum.at(fresh, label, fresh)
        fresh = fresh[fresh]
        if np.array_equal(fresh, label):
            return label[rows]
        label = fresh


def assign_components(
    rows: I64, columns: I64, weights: F64, n_rows: int, n_columns: int, *, early: bool = False
) -> I64:
    """The chosen edges among components that are neither edge nor star.

    With `early` a pair costs TIE · (2 - 1 / (a · b)), it being of the a-th row and the b-th column of its component: of equal
    totals the one with fewer pairs is the cheaper, and of (1, 1) + (2, 2) and (1, 2) + (2, 1) the first.
    """
    rows, n_rows = number(rows, n_rows)
    columns, n_columns = number(columns, n_columns)
    component, n = number(components(rows, columns, n_rows, n_columns), n_rows)
    order = sort_order(component, n)
    rows, columns, weights, component = rows[order], columns[order], weights[order], component[order]
    row_place, heights = _places(rows, component, n_rows, n)
    column_place, widths = _places(columns, component, n_columns, n)
    if early:
        weights = weights - TIE * (2 - 1 / ((1.0 + row_place) * (1.0 + column_place)))
    if np.any(long := np.maximum(heights, widths) > LONG * np.minimum(heights, widths)):
        keep = _worth_trying(rows, columns, weights, component, heights, widths, long, n_rows, n_columns)
        order, component, weights = order[keep], component[keep], weights[keep]
        (rows, n_rows), (columns, n_columns) = number(rows[keep], n_rows), number(columns[keep], n_columns)
        row_place, heights = _places(rows, component, n_rows, n)
        column_place, widths = _places(columns, component, n_columns, n)
    tall = (heights > widths)[component]  # lay the short side down as rows
    row_place, column_place = np.where(tall, column_place, row_place), np.where(tall, row_place, column_place)
    heights, widths = np.minimum(heights, widths), np.maximum(heights, widths)
    starts = offsets_of(np.bincount(component, minlength=n))

    chosen: list[I64] = []
    small = heights <= SMALL_SIDE
    for height, width in sorted(set(zip(heights[small].tolist(), widths[small].tolist(), strict=True))):
        members = np.flatnonzero((heights == height) & (widths == width))
        numbers = np.full(n, -1, np.int64)
        numbers[members] = np.arange(len(members))
        edges = np.flatnonzero(numbers[component] >= 0)
        tensor = np.zeros((len(members), height, width))
        problem = numbers[component[edges]]
        tensor[problem, row_place[edges], column_place[edges]] = weights[edges]
        match = _assign_batch(tensor)
        chosen.append(edges[match[problem, row_place[edges]] == column_place[edges]])
    for c in np.flatnonzero(~small).tolist():
        edges = np.arange(starts[c], starts[c + 1])
        height, width = int(heights[c]), int(widths[c])
        way = _assign_sparse if _better_sparse(height, width, len(edges)) else _assign_dense
        match = way(row_place[edges], column_place[edges], weights[edges], height, width)
        chosen.append(edges[match[row_place[edges]] == column_place[edges]])
    return order[np.concatenate(chosen)]


def _worth_trying(
    rows: I64, columns: I64, weights: F64, component: I64, heights: I64, widths: I64, long: Mask, n_rows: int, n_columns: int
) -> I64:  # fmt: skip
    """The edges without those of long components that no matching needs: with n nodes on the short side, each of them finds one of its n
    heaviest edges free, whatever the others took. So a long side shrinks to n² at most. Other components stay as they are, so that what
    is matched in them, of several matchings of the same weight, depends on nothing else that is assigned in the same call."""
    least = np.minimum(heights, widths)
    node = np.where((heights > widths)[component], n_rows + columns, rows)
    by_weight = np.lexsort((-weights, node))
    rank = np.empty(len(node), np.int64)
    rank[by_weight] = rank_within(node[by_weight], n_rows + n_columns)
    return np.flatnonzero((rank < least[component]) | ~long[component])


def _places(nodes: I64, component: I64, n_nodes: int, n: int) -> tuple[I64, I64]:
    """Each edge's node, numbered inside its component; and the number of nodes of each component."""
    home = np.empty(n_nodes, np.int64)
    home[nodes] = component
    counts = np.bincount(home, minlength=n)
    order = sort_order(home, n)
    place = np.empty(n_nodes, np.int64)
    place[order] = np.arange(n_nodes) - np.repeat(offsets_of(counts)[:-1], counts)
    return place[nodes], counts


def _assign_batch(tensor: F64) -> I64:
    """The best column (or -1) for each row of many problems of one shape, rows ≤ columns, few rows.

    best[S] after c columns is the largest weight with the rows in S matched to those columns:
    best'[S] = max(best[S], max over r in S of best[S - r] + w[r, c]).
    All S with r are taken together, and S - r beside each: the two halves of an axis for r.
    """
    count, height, width = tensor.shape
    subsets = 1 << height
    best = np.full((count, subsets), -np.inf)
    best[:, 0] = 0.0
    taken = np.full((width, count, subsets), -1, np.int8)
    for c in range(width):
        fresh = best.copy()
        for r in range(height):
            halves = count, subsets >> (r + 1), 2, 1 << r
            option = best.reshape(halves)[:, :, 0] + tensor[:, r, c, None, None]
            known = fresh.reshape(halves)[:, :, 1]
            better = option > known
            np.copyto(known, option, where=better)
            np.copyto(taken[c].reshape(halves)[:, :, 1], r, where=better)
        best = fresh
    state = np.argmax(best, axis=1)
    match = np.full((count, height), -1, np.int64)
    every = np.arange(count)
    for c in range(width - 1, -1, -1):
        row = taken[c, every, state]
        hit = np.flatnonzero(row >= 0)
        match[hit, row[hit]] = c
        state[hit] &= ~(1 << row[hit].astype(np.int64))
    return match


def _assign_dense(rows: I64, columns: I64, weights: F64, height: int, width: int) -> I64:
    matrix = np.zeros((height, width))
    matrix[rows, columns] = weights
    return _assign_matrix(matrix)


def _assign_matrix(matrix: F64) -> I64:
    """The best column for each row (-1: none) of a dense matrix."""
    height, width = matrix.shape
    if height == width > SMALL_SQUARE:
        import lap

        return np.asarray(lap.lapjv(-matrix, return_cost=False)[0], np.int64)
    if height > width:
        match = np.full(height, -1, np.int64)
        turned = _assign_matrix(matrix.T)
        match[turned] = np.arange(len(turned))
        return match
    if height * height < width:  # without the columns that are none of the n heaviest of a row
        columns = distinct(np.argpartition(-matrix, height - 1, axis=1)[:, :height])
        return columns[_assign_matrix(np.ascontiguousarray(matrix[:, columns]))]
    return np.asarray(_linear_sum_assignment()(matrix, maximize=True)[1], np.int64)


@cache
def _linear_sum_assignment() -> Any:
    """SciPy's solver for rectangles, without the rest of `scipy.optimize`, which takes .36 s to load."""
    from importlib.util import find_spec, module_from_spec, spec_from_file_location

    scipy = find_spec("scipy")
    for folder in (scipy and scipy.submodule_search_locations) or ():
        for path in sorted(Path(folder, "optimize").glob("_lsap.*")):
            spec = spec_from_file_location("_lsap", path) if path.suffix in (".so", ".pyd") else None
            if spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return module.linear_sum_assignment
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment


def heaviest(matrix: F64) -> float:
    """The largest total weight of a 1:1 matching of a dense matrix."""
    return solve(matrix)[1]


def solve(matrix: F64) -> tuple[I64 | None, float]:
    """The best column for each row (-1: none) of a dense matrix, and their total weight; of a single row or column the weight alone."""
    if 1 in matrix.shape:
        return None, float(matrix.max())
    match = _assign_matrix(matrix)
    rows = np.flatnonzero(match >= 0)
    return match, float(matrix[rows, match[rows]].sum())


def in_one_piece(matrix: F64) -> bool:
    """Whether `assign`, given the positive cells of this matrix, would solve no other than this very matrix: they are one component (a row
    without a gap holds it together), for which it has nothing better. A best matching of either is then the same, ties included."""
    short, long = sorted(matrix.shape)
    if short <= SMALL_SIDE or long > LONG * short:
        return False
    filled = matrix > 0
    in_rows = np.count_nonzero(filled, axis=1)
    connected = in_rows.max() == matrix.shape[1] and in_rows.min() > 0
    return bool(connected and not _better_sparse(short, long, int(in_rows.sum())))


def _better_sparse(height: int, width: int, edges: int) -> bool:
    return height * width > DENSE_CELLS and edges < DENSE_SHARE * height * width


def _assign_sparse(rows: I64, columns: I64, weights: F64, height: int, width: int) -> I64:
    """By SciPy, where nothing is compiled: every row also has an edge of weight 0 to a column of its own, "stay single", so that a full
    matching exists."""
    native = compiled()
    if native is not None:
        order = sort_order(rows * width + columns, height * width)
        return native.match_sparse(
            offsets_of(np.bincount(rows, minlength=height)), columns[order], weights[order], width
        )
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    ceiling = float(weights.max()) + 1.0
    alone = np.arange(height)
    costs = np.concatenate((ceiling - weights, np.full(height, ceiling)))
    places = (np.concatenate((rows, alone)), np.concatenate((columns, width + alone)))
    where = tuple(one.astype(np.int32) for one in places)  # SciPy before 1.15 takes no others
    _, match = min_weight_full_bipartite_matching(csr_array((costs, where), shape=(height, width + height)))
    return np.where(match < width, match, -1).astype(np.int64)


def rank_within(keys: I64, bound: int) -> I64:
    """0, 1, 2, ... for the first, second, third occurrence of each key."""
    order = sort_order(keys, bound)
    ordered = keys[order]
    starts = starts_of_runs(ordered)
    rank = np.empty(len(keys), np.int64)
    rank[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
    return rank


# The 1:1 matching with the largest F, where every pair has two weights: one counts for precision, one for recall.
#
#     F(x, y) = 2 / (den_p / x + den_r / y),   x = Σ a over matched pairs,   y = Σ b over matched pairs
#
# F is no sum over pairs, so one assignment does not find it. But F is concave and homogeneous: at any point (x0, y0)
#
#     F(x, y) ≤ F_x(x0, y0) x + F_y(x0, y0) y        with equality at (x0, y0) itself
#
# and the right side *is* a sum over pairs. An assignment with the weights F_x a + F_y b therefore gives a new matching
# and an upper bound. If the best matching so far reaches the bound, it is the optimum; otherwise its gradient gives the
# next weights. Two or three rounds over all problems at once settle nearly every one; the rest is searched by branch
# and bound with the same bounds.

TOLERANCE = 1e-9
ROUNDS = 12
NODES = 2_000
WORK = 200_000
POINTS = 20_000


@frozen(eq=False)
class Harmonic:
    """Which pairs are matched, and for each problem how much better F could be at most: 0 where it is the optimum."""

    chosen: Mask
    gap: F64


def best_f(
    rows: I64, columns: I64, a: F64, b: F64, problem: I64, den_p: F64, den_r: F64, n_rows: int, n_columns: int,
    nodes: int = NODES,
) -> Harmonic:  # fmt: skip
    """For each problem the matching of rows and columns with the largest F. Rows and columns belong to one problem.

    Of matchings with the same F the one with the larger x + y is taken, then the one that the solver finds first.
    """
    n = len(den_p)
    chosen = np.zeros(len(rows), np.bool_)
    value, bound = np.zeros(n), np.full(n, np.inf)
    weight_p, weight_r = 1 / np.maximum(den_p, 1), 1 / np.maximum(den_r, 1)
    x, y = np.zeros(n), np.zeros(n)
    for _ in range(ROUNDS):
        weights = weight_p[problem] * a + weight_r[problem] * b
        positive = np.flatnonzero(weights > 0)
        taken = positive[assign(rows[positive], columns[positive], weights[positive], n_rows, n_columns)]
        fresh_x, fresh_y = (
            np.bincount(problem[taken], weights=w[taken], minlength=n).astype(np.float64) for w in (a, b)
        )
        fresh = f_of(fresh_x, fresh_y, den_p, den_r)
        bound = np.minimum(bound, weight_p * fresh_x + weight_r * fresh_y)
        better = fresh > value + TOLERANCE
        better |= (fresh > value - TOLERANCE) & (fresh_x + fresh_y > x + y)
        in_better = better[problem]
        chosen[in_better] = False
        chosen[taken[in_better[taken]]] = True
        value, x, y = np.where(better, fresh, value), np.where(better, fresh_x, x), np.where(better, fresh_y, y)
        weight_p, weight_r = gradient(x, y, den_p, den_r)
        if not better.any():
            break
    gap = np.maximum(bound - value, 0)
    gap[gap <= TOLERANCE] = 0
    members = Members(problem, n)
    for k in np.flatnonzero(gap).tolist():
        pairs = members[k]
        search = _Search(rows[pairs], columns[pairs], a[pairs], b[pairs], float(den_p[k]), float(den_r[k]))
        chosen[pairs], gap[k] = search.run(chosen[pairs], nodes)
    return Harmonic(chosen, gap)


def f_of(x: F64, y: F64, den_p: F64, den_r: F64) -> F64:
    """F of the two numerators; 0 where one of them is."""
    below = den_r * x + den_p * y
    return np.divide(2 * x * y, below, out=np.zeros(np.shape(below)), where=below > 0)


def gradient(x: F64, y: F64, den_p: F64, den_r: F64) -> tuple[F64, F64]:
    """(F_x, F_y); before anything is matched, the direction that counts both sides by their sizes."""
    f = f_of(x, y, den_p, den_r)
    there = (x > 0) & (y > 0)
    return (
        np.divide(f * f * den_p, 2 * x * x, out=1 / np.maximum(den_p, 1), where=there),
        np.divide(f * f * den_r, 2 * y * y, out=1 / np.maximum(den_r, 1), where=there),
    )


class _Search:
    """Branch and bound over one problem: a pair is taken, or it is not.

    The points (x, y) of all matchings have a convex hull, and F is largest on one of its edges. The two matchings at
    the ends of that edge differ in alternating paths and cycles; each of them can be flipped by itself without leaving
    the edge, so that a sum over some of them comes as near to the best point as the edge allows. Weights are mostly
    whole numbers, and often no other whole point is left between that and the bound.
    """

    def __init__(self, rows: I64, columns: I64, a: F64, b: F64, den_p: float, den_r: float) -> None:
        self.rows, self.columns = (np.unique(side, return_inverse=True)[1].reshape(-1) for side in (rows, columns))
        self.a, self.b, self.den_p, self.den_r = a, b, den_p, den_r
        self.n = int(self.rows.max()) + 1, int(self.columns.max()) + 1
        self.whole = bool(np.all(a == np.rint(a)) and np.all(b == np.rint(b)))

    def point(self, mask: Mask) -> tuple[float, float]:
        return float(self.a[mask].sum()), float(self.b[mask].sum())

    def f(self, x: float, y: float) -> float:
        return 2 * x * y / (self.den_r * x + self.den_p * y) if x > 0 and y > 0 else 0.0

    def run(self, start: Mask, nodes: int) -> tuple[Mask, float]:
        """The best matching, and how much better one could be that the search did not get to."""
        best, value = start.copy(), self.f(*self.point(start))
        none = np.zeros(len(self.a), np.bool_)
        waiting = [(*self.relax(none, none), none, none)]
        left = max(1, min(nodes, WORK // len(self.a))) if nodes else 0
        while waiting:
            waiting.sort(key=lambda node: node[0])
            bound, found, split, taken, barred = waiting.pop()
            for mask in found:
                if self.f(*self.point(mask)) > value + TOLERANCE:
                    best, value = mask, self.f(*self.point(mask))
            if bound <= value + TOLERANCE:
                return best, 0.0
            if left == 0:
                return best, bound - value
            left -= 1
            if split < 0:
                continue
            with_it, without_it = taken.copy(), barred.copy()
            with_it[split], without_it[split] = True, True
            for here in ((with_it, barred), (taken, without_it)):
                waiting.append((*self.relax(*here), *here))
        return best, 0.0

    def relax(self, taken: Mask, barred: Mask) -> tuple[float, list[Mask], int]:
        """An upper bound under what is decided, matchings that come near to it, and a pair in which they differ."""
        open_ = ~(taken | barred)
        open_ &= ~np.isin(self.rows, self.rows[taken]) & ~np.isin(self.columns, self.columns[taken])
        pairs = np.flatnonzero(open_)
        lines: list[tuple[float, float, float]] = []

        def furthest(u: float, v: float) -> Mask:
            """The matching with the largest u x + v y, which no other can pass."""
            weights = u * self.a[pairs] + v * self.b[pairs]
            positive = np.flatnonzero(weights > 0)
            mask: Mask = taken.copy()
            some = pairs[positive]
            mask[some[assign(self.rows[some], self.columns[some], weights[positive], *self.n)]] = True
            x, y = self.point(mask)
            lines.append((u, v, u * x + v * y))
            return mask

        low, high = furthest(1e-6 / self.den_p, 1 / self.den_r), furthest(1 / self.den_p, 1e-6 / self.den_r)
        while True:
            (x0, y0), (x1, y1) = self.point(low), self.point(high)
            if y0 <= y1 or x1 <= x0:
                low = high = low if self.f(x0, y0) >= self.f(x1, y1) else high
                break
            fresh = furthest(y0 - y1, x1 - x0)
            x, y = self.point(fresh)
            if (y0 - y1) * x + (x1 - x0) * y <= (y0 - y1) * x0 + (x1 - x0) * y0 + TOLERANCE:
                break  # nothing beyond the line: it is an edge of the hull
            u, v = (float(g[0]) for g in gradient(*(np.array([z]) for z in (x, y, self.den_p, self.den_r))))
            if u * (x0 - x) + v * (y0 - y) > TOLERANCE:
                high = fresh
            elif u * (x1 - x) + v * (y1 - y) > TOLERANCE:
                low = fresh
            else:
                low = high = fresh
        differs = np.flatnonzero(low != high)
        found = [low] if low is high else [low, high, self.between(low, high, differs)]
        return self.bound(lines), found, int(differs[0]) if len(differs) else -1

    def bound(self, lines: list[tuple[float, float, float]]) -> float:
        """The largest F below all the lines u x + v y = level."""
        if self.whole:
            x = np.arange(1, int(min(level / u for u, _, level in lines if u > 0) + TOLERANCE) + 1, dtype=np.float64)
            y = np.min([np.floor((level - u * x) / v + TOLERANCE) for u, v, level in lines if v > 0], axis=0)
            y = np.maximum(y, 0.0)
            if not len(x):
                return 0.0
            return float(f_of(x, y, np.full(len(x), self.den_p), np.full(len(x), self.den_r)).max())
        # On u x + v y = level, F is largest where y / x = √(u den_r / (v den_p)).
        level_of = [(level, np.sqrt(u * self.den_p) + np.sqrt(v * self.den_r)) for u, v, level in lines if u > 0 < v]
        return float(min(2 * level / slope**2 for level, slope in level_of))

    def between(self, low: Mask, high: Mask, differs: I64) -> Mask:
        """The best of the matchings on the edge from low to high that flip some of the paths in which they differ."""
        label = components(self.rows[differs], self.columns[differs], *self.n)
        steps = []
        for one in distinct(label).tolist():
            path = differs[label == one]
            sign = np.where(high[path], 1.0, -1.0)
            steps.append((float((sign * self.a[path]).sum()), float((sign * self.b[path]).sum()), path))
        start = self.point(low)
        reached: dict[tuple[float, float], list[I64]] = {start: []}
        for dx, dy, path in steps:
            for (x, y), flipped in list(reached.items()):
                point = (round(x + dx, 9), round(y + dy, 9))
                if point not in reached and len(reached) < POINTS:
                    reached[point] = [*flipped, path]
        best = max(reached, key=lambda point: self.f(*point))
        mask: Mask = low.copy()
        for path in reached[best]:
            mask[path] = ~mask[path]
        return mask
