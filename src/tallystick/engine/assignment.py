"""1:1 matching of the largest total weight, for very many sparse problems at once.

The pairs fall apart into connected components. A single edge or a star needs no solver:

    r ── p        r ─┬─ p      take the heaviest edge
                     ├─ p'
                     └─ p''

What is left goes to a solver by shape: up to four on the short side in batches, by an exact dynamic programme
over the subsets of that side; larger ones one by one to a dense assignment; very large sparse ones to a sparse
solver. Arrays in, arrays out.
"""

from __future__ import annotations

import numpy as np

from tallystick.engine.arrays import (
    F64,
    I64,
    Mask,
    first_best,
    number,
    offsets_of,
    sort_order,
    starts_of_runs,
)

SMALL_SIDE = 4
DENSE_CELLS = 4_000_000
DENSE_SHARE = 0.05


def assign(rows: I64, columns: I64, weights: F64, n_rows: int, n_columns: int) -> Mask:
    """Which of the pairs (row, column, weight > 0) belong to a matching of the largest total weight."""
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
        chosen[rest[_assign_components(rows[rest], columns[rest], weights[rest], n_rows, n_columns)]] = True
    return chosen


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


def _assign_components(rows: I64, columns: I64, weights: F64, n_rows: int, n_columns: int) -> I64:
    """The chosen edges among components that are neither edge nor star."""
    rows, n_rows = number(rows, n_rows)
    columns, n_columns = number(columns, n_columns)
    component, n = number(components(rows, columns, n_rows, n_columns), n_rows)
    order = sort_order(component, n)
    rows, columns, weights, component = rows[order], columns[order], weights[order], component[order]
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
        solve = _assign_dense
        if height * width > DENSE_CELLS and len(edges) < DENSE_SHARE * height * width:
            solve = _assign_sparse
        match = solve(row_place[edges], column_place[edges], weights[edges], height, width)
        chosen.append(edges[match[row_place[edges]] == column_place[edges]])
    return order[np.concatenate(chosen)]


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
    """
    count, height, width = tensor.shape
    subsets = 1 << height
    best = np.full((count, subsets), -np.inf)
    best[:, 0] = 0.0
    taken = np.full((width, count, subsets), -1, np.int8)
    for c in range(width):
        fresh = best.copy()
        for s in range(1, subsets):
            for r in range(height):
                if s >> r & 1:
                    option = best[:, s & ~(1 << r)] + tensor[:, r, c]
                    better = option > fresh[:, s]
                    fresh[better, s] = option[better]
                    taken[c, better, s] = r
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
    import lap

    height, width = matrix.shape
    match, _ = lap.lapjv(-matrix, extend_cost=height != width, return_cost=False)
    return np.asarray(match, np.int64)


def heaviest(matrix: F64) -> float:
    """The largest total weight of a 1:1 matching of a dense matrix."""
    if 1 in matrix.shape:
        return float(matrix.max())
    match = _assign_matrix(matrix)
    rows = np.flatnonzero(match >= 0)
    return float(matrix[rows, match[rows]].sum())


def _assign_sparse(rows: I64, columns: I64, weights: F64, height: int, width: int) -> I64:
    """Every row also has an edge of weight 0 to a column of its own, "stay single", so that a full matching exists."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    ceiling = float(weights.max()) + 1.0
    alone = np.arange(height)
    costs = np.concatenate((ceiling - weights, np.full(height, ceiling)))
    where = (np.concatenate((rows, alone)), np.concatenate((columns, width + alone)))
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
