"""Matching of trees. A tree is an array of parents, -1 for a root; a forest has several roots.

    match_ordered    keeps ancestors and left-to-right order: the mappings of tree edit distance, polynomial
    match_top_down   a pair may be matched only if its parents are matched to each other (STM-like),
    polynomial match_unordered  keeps ancestors only, eq. 37 itself: NP-hard, hence an integer programme with
    bounds and a limit

The children of a node are ordered by their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.engine.latent_pairs import Floats, Ints
from tallystick.engine.orders import match_orders, reachability
from tallystick.engine.sequences import Matched, match_dense


@dataclass(frozen=True)
class _Tree:
    """Children of each node (the last entry: the roots), nodes in postorder, and for each place the leftmost
    leaf's place."""

    children: list[list[int]]
    postorder: list[int]
    leftmost: list[int]

    @staticmethod
    def of(parents: Sequence[int] | Ints) -> _Tree:
        n = len(parents)
        children: list[list[int]] = [[] for _ in range(n + 1)]
        for node, parent in enumerate(parents):
            children[parent if parent >= 0 else n].append(node)
        postorder: list[int] = []
        leftmost: list[int] = []
        place = [0] * n
        stack = [(root, False) for root in reversed(children[n])]
        while stack:
            node, done = stack.pop()
            if done:
                place[node] = len(postorder)
                first = children[node][0] if children[node] else None
                leftmost.append(len(postorder) if first is None else leftmost[place[first]])
                postorder.append(node)
            else:
                stack.append((node, True))
                stack += [(child, False) for child in reversed(children[node])]
        if len(postorder) != n:
            raise ValueError("the parents contain a cycle")
        return _Tree(children, postorder, leftmost)

    def key_places(self) -> list[int]:
        """The places at which no later place has the same leftmost leaf; the virtual root over a forest
        counts as one."""
        last = {leaf: place for place, leaf in enumerate([*self.leftmost, 0])}
        return sorted(last.values())


def match_ordered(left: Sequence[int] | Ints, right: Sequence[int] | Ints, similarity: Floats) -> Matched:
    """The heaviest matching that keeps ancestors and left-to-right order (Zhang and Shasha 1989, maximised).

    For a node on each side, best[i, j] is the most that the forests up to the i-th and j-th place of their
    subtrees earn:

        best[i, j] = max( best[i-1, j], best[i, j-1],
                          both prefixes are whole trees:  best[i-1, j-1] + similarity
                          otherwise:                      best[before tree i, before tree j] + tree[i, j] )

    Only best[i, j-1] lies in row i, so a row is one running maximum. A virtual root over each forest matches
    nothing.
    """
    one, other = _Tree.of(left), _Tree.of(right)
    n, m = len(one.postorder), len(other.postorder)
    weights = np.zeros((n + 1, m + 1))
    if n and m:
        weights[:n, :m] = similarity[np.ix_(one.postorder, other.postorder)]
    lefts, rights = np.array([*one.leftmost, 0], np.intp), np.array([*other.leftmost, 0], np.intp)
    tree = np.zeros((n + 1, m + 1))

    def forests(i: int, j: int) -> Floats:
        """best for the subtrees at the places i and j; fills `tree` for the whole trees in it."""
        first, start = int(lefts[i]), int(rights[j])
        best = np.zeros((i - first + 2, j - start + 2))
        columns = np.arange(start, j + 1)
        whole = rights[columns] == start
        skip = rights[columns] - start
        for row in range(first, i + 1):
            above = best[row - first]
            base = best[int(lefts[row]) - first]
            joined = base[skip] + tree[row, columns]
            if lefts[row] == first:
                joined = np.where(whole, above[:-1] + weights[row, columns], joined)
            here = best[row - first + 1]
            np.maximum.accumulate(np.maximum(above[1:], joined), out=here[1:])
            if lefts[row] == first:
                tree[row, columns[whole]] = here[1:][whole]
        return best

    for i in one.key_places():
        for j in other.key_places():
            forests(i, j)

    pairs: list[tuple[int, int]] = []
    todo = [(n, m)]
    while todo:
        i, j = todo.pop()
        first, start = int(lefts[i]), int(rights[j])
        best = forests(i, j)
        row, column = i, j
        while row >= first and column >= start:
            here = best[row - first + 1, column - start + 1]
            if here == best[row - first, column - start + 1]:
                row -= 1
            elif here == best[row - first + 1, column - start]:
                column -= 1
            elif lefts[row] == first and rights[column] == start:
                pairs.append((one.postorder[row], other.postorder[column]))
                row, column = row - 1, column - 1
            else:
                todo.append((row, column))
                row, column = int(lefts[row]) - 1, int(rights[column]) - 1
    pairs.sort()
    return Matched.proven(tree[n, m], [p[0] for p in pairs], [p[1] for p in pairs])


def match_top_down(
    left: Sequence[int] | Ints, right: Sequence[int] | Ints, similarity: Floats, *, ordered: bool = False
) -> Matched:
    """The heaviest matching in which the parents of matched nodes are matched to each other (roots to roots).

    earns[u, v] = similarity[u, v] + the best matching of u's children with v's, 0 if the two are not similar
    at all. Children are matched 1:1, and in order if `ordered`.
    """
    one, other = _Tree.of(left), _Tree.of(right)
    n, m = len(one.postorder), len(other.postorder)
    earns = np.zeros((n + 1, m + 1))
    matches: dict[tuple[int, int], Matched] = {}

    def children(u: int, v: int) -> float:
        below, beside = one.children[u], other.children[v]
        if not below or not beside:
            return 0.0
        table = earns[np.ix_(below, beside)]
        if not table.any():
            return 0.0
        found = match_dense(table) if ordered else _assignment(table)
        matches[u, v] = found
        return found.lower

    for u in one.postorder:
        for v in np.flatnonzero(similarity[u] > 0).tolist() if m else []:
            earns[u, v] = similarity[u, v] + children(u, v)
    total = children(n, m)
    pairs: list[tuple[int, int]] = []
    todo = [(n, m)]
    while todo:
        u, v = todo.pop()
        found = matches.get((u, v))
        if found is not None:
            below = [(one.children[u][a], other.children[v][b]) for a, b in zip(found.left, found.right, strict=True)]
            pairs += below
            todo += below
    pairs.sort()
    return Matched.proven(total, [p[0] for p in pairs], [p[1] for p in pairs])


def match_unordered(
    left: Sequence[int] | Ints, right: Sequence[int] | Ints, similarity: Floats, *, limit: float | None = None
) -> Matched:
    """The heaviest matching that keeps ancestors in both directions; may be unproven if a limit in seconds
    strikes."""
    before = [_ancestors(np.asarray(parents, np.intp)) for parents in (left, right)]
    u, v = np.nonzero(similarity > 0)
    start = match_ordered(left, right, similarity)
    return match_orders(before[0], before[1], u, v, similarity[u, v], limit=limit, start=start)


def _ancestors(parents: Ints) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    child = np.flatnonzero(parents >= 0)
    return reachability(len(parents), parents[child], child)


def _assignment(table: Floats) -> Matched:
    from lap import lapjv

    n, m = table.shape
    size = max(n, m)
    cost = np.zeros((size, size))
    cost[:n, :m] = -table
    total, column, _ = lapjv(cost)
    rows = np.flatnonzero(column[:n] < m)
    rows = rows[table[rows, column[rows]] > 0]
    return Matched.proven(-float(total), rows, column[rows])
