"""Matching of trees and of tables. A tree is an array of parents, -1 for a root; a forest has several roots.

    match_ordered    keeps ancestors and left-to-right order: the mappings of tree edit distance, polynomial
    match_top_down   a pair may be matched only if its parents are matched to each other (STM-like), polynomial
    match_unordered  keeps ancestors only, eq. 37 itself: NP-hard, hence an integer programme with bounds and a limit

The children of a node are ordered by their numbers. Ordered trees are solved by the compiled part where there is one
(`native.c`), and otherwise here, with equal results to the bit.

And of tables: two tables, one alignment of their rows and one of their columns (Smock, Pesala, Abraham 2022: GriTS).

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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64, runs
from tallystick.engine.native import Climb, compiled
from tallystick.engine.orders import Matched, match_dense, match_orders, reachability
from tallystick.frozen import frozen


@frozen
class _Tree:
    """Children of each node (the last entry: the roots), nodes in postorder, and for each place the leftmost
    leaf's place."""

    children: list[list[int]]
    postorder: list[int]
    leftmost: list[int]

    @staticmethod
    def of(parents: Sequence[int] | I64, *, mirrored: bool = False) -> _Tree:
        n = len(parents)
        children: list[list[int]] = [[] for _ in range(n + 1)]
        for node, parent in enumerate(parents):
            children[parent if parent >= 0 else n].append(node)
        if mirrored:
            children = [nodes[::-1] for nodes in children]
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

    def lefts(self) -> I64:
        """The leftmost leaf's place for each place, the virtual root's included, which stands behind all."""
        return np.array([*self.leftmost, 0], np.int64)

    def key_places(self) -> I64:
        """The places at which no later place has the same leftmost leaf; the virtual root over a forest
        counts as one."""
        last = {leaf: place for place, leaf in enumerate([*self.leftmost, 0])}
        return np.array(sorted(last.values()), np.int64)

    def depths(self) -> I64:
        """How far each node is below its root."""
        depths = np.zeros(len(self.postorder), np.int64)
        for node in reversed(self.postorder):
            depths[self.children[node]] = depths[node] + 1
        return depths

    def preorder(self) -> I64:
        """The place of each node in preorder, the virtual root's first: behind it are the nodes above and those that are left of it."""
        above: I64 = np.append(self.depths()[self.postorder] + 1, 0)
        return self.lefts() + above

    def orders(self) -> tuple[I64, ...]:
        """The nodes by place, their sizes, and the forests that they are in, counted by their first node in preorder; and the same by descending
        preorder, with forests counted by their last place, from behind."""
        before, places = self.preorder(), np.arange(len(self.postorder) + 1)
        sizes, turned = places - self.lefts() + 1, np.argsort(-before)
        return places, sizes, before + 1, turned, sizes[turned], len(places) - turned

    def rows(self) -> int:
        """How many rows all the key places' subtrees have together."""
        keys = self.key_places()
        return int((keys - self.lefts()[keys] + 1).sum())


def match_ordered(
    left: Sequence[int] | I64, right: Sequence[int] | I64, similarity: F64, *, limit: float | None = None
) -> Matched:
    """The heaviest matching that keeps ancestors and left-to-right order (Zhang and Shasha 1989, maximised).

    For a node on each side, best[i, j] is the most that the forests up to the i-th and j-th place of their
    subtrees earn:

        best[i, j] = max( best[i-1, j], best[i, j-1],
                          both prefixes are whole trees:  best[i-1, j-1] + similarity
                          otherwise:                      best[before tree i, before tree j] + tree[i, j] )

    It is filled for every two *key* places: roots, and nodes with a brother to their left, so that a tree which branches to
    the right has many large ones. Such trees are mirrored, if the sums are whole numbers, which no order of adding changes; and deep ones are
    climbed (`_Climbing`).
    A virtual root over each forest matches nothing. If a limit in seconds strikes, key places that are left out earn nothing.
    """
    # Following the pairs back takes no longer than filling, so that both are over in time.
    deadline = None if limit is None else time.monotonic() + _FILLED * limit
    one, other = _Tree.of(left), _Tree.of(right)
    many = one.rows() * other.rows() > _MIRROR_AT * (len(left) + 1) * (len(right) + 1)
    whole = many and np.array_equal(similarity, np.rint(similarity))
    if whole:
        mirrored = _Tree.of(left, mirrored=True), _Tree.of(right, mirrored=True)
        if 2 * mirrored[0].rows() * mirrored[1].rows() < one.rows() * other.rows():
            one, other = mirrored
    n, m = len(one.postorder), len(other.postorder)
    weights = np.zeros((n + 1, m + 1))
    if n and m:
        weights[:n, :m] = similarity[np.ix_(one.postorder, other.postorder)]
    native = compiled()
    if native is None:
        value, pairs, finished = _solve(one, other, weights, deadline)
    else:
        places = one.lefts(), other.lefts(), other.key_places()
        steps: Sequence[I64 | Climb] = [one.key_places()]
        exact = whole and similarity.max(initial=0.0) * min(n, m) < _EXACT
        if exact and native.climbs_trees and one.rows() * other.rows() > _CLIMB_AT:
            steps = _Climbing(one, other).steps()
        orders = other.orders() if any(isinstance(step, Climb) for step in steps) else ()
        value, pairs, finished = native.match_trees(*places, steps, orders, weights, deadline)
    found = sorted((one.postorder[row], other.postorder[column]) for row, column in pairs)
    return _bounded(value, similarity, [pair[0] for pair in found], [pair[1] for pair in found], finished)


class _Climbing:
    """How the left tree meets the right one, where the sums are whole numbers: by key places, or up a heavy path (Klein 1998).

    A path goes from a node to its largest child, and so on to a leaf. Upwards, the subtree at h becomes that at the node v above it: first
    the nodes to the right of h are added, by place, then those to its left, by descending preorder, then v. Forests of the right tree lose
    their last root while nodes are added to the right, their first root while they are added to the left:

        v                     earns(forest, R) = max( earns(forest without its outer root, R), earns(forest, R without its outer root),
      / | \\                                          earns(forest without the outer tree a, R without the outer tree b) + tree[a, b] )
     a  h  a'

    Nodes of the subtree at the top of the path meet all forests of the right tree, of which there are fewer than its squared size; by key places
    they meet as many rows as the key places of the right tree have, as often as there are key places above them. So a path pays where the
    tree is deep; subtrees beside it go their own way, before it. For n nodes on both sides it takes n³ log n at most instead of n⁴. For
    any weights nothing takes strongly less than n³ unless the shortest paths of a graph do (Bringmann et al. 2020)."""

    def __init__(self, one: _Tree, other: _Tree) -> None:
        self.lefts = one.lefts()
        places, rights = np.arange(len(self.lefts)), other.lefts()
        self.before, self.keys = one.preorder(), one.key_places()
        self.at = np.argsort(self.before)
        sizes = (places - self.lefts + 1).tolist()
        self.room = _ROOM // (len(rights) + 1)
        rows, forests = other.rows(), _LANE * int((len(rights) - rights).sum())
        self.heavy = [-1] * len(sizes)
        self.climbed = [False] * len(sizes)
        self.children: list[list[int]] = []
        met, cost, beside, tallest = ([0] * len(sizes) for _ in range(4))  # of every subtree; `beside` its path
        for place, size in enumerate(sizes):
            below, child = [], place - 1
            while child >= int(self.lefts[place]):
                below.append(child)
                child = int(self.lefts[child]) - 1
            self.children.append(below)
            met[place] = size + sum(met[c] for c in below) - (sizes[below[-1]] if below else 0)
            if below:
                self.heavy[place] = path = max(below, key=sizes.__getitem__)
                beside[place] = beside[path] + sum(cost[c] for c in below if c != path)
                tallest[place] = max(tallest[path], place - 1 - path, int(self.lefts[path] - self.lefts[place]))
            climbing = size * forests + beside[place]
            self.climbed[place] = climbing < met[place] * rows and tallest[place] < self.room
            cost[place] = climbing if self.climbed[place] else met[place] * rows

    def steps(self) -> list[I64 | Climb]:
        """What is done one after the other."""
        out: list[list[I64 | Climb]] = []
        todo = [len(self.heavy) - 1]
        while todo:
            top = todo.pop()
            if not self.climbed[top]:
                first = self.lefts[top]
                inside = self.keys[(self.keys >= first) & (self.keys < top)]
                out.append([np.append(inside[self.lefts[inside] != first], top)])
                continue
            path = [top]
            while self.heavy[path[-1]] >= 0:
                todo += [c for c in self.children[path[-1]] if c != self.heavy[path[-1]]]
                path.append(self.heavy[path[-1]])
            out.append([self._climb(place) for place in reversed(path)])
        return [step for steps in reversed(out) for step in steps]

    def _climb(self, place: int) -> Climb:
        path = self.heavy[place]
        if path < 0:
            return Climb(place, True, self.at[:0], self.at[:0])
        left = self.at[self.before[place] + 1 : self.before[path]][::-1]
        return Climb(place, False, np.ascontiguousarray(left), np.arange(path + 1, place))


def _bounded(value: float, similarity: F64, left: list[int], right: list[int], finished: bool) -> Matched:
    """What was found; if there was no time for more, with what each node's best partner would give."""
    if finished or not similarity.size:
        return Matched.proven(value, left, right)
    value = float(similarity[left, right].sum())
    upper = max(value, min(float(similarity.max(side).sum()) for side in (0, 1)))
    return Matched(value, upper, upper <= value, np.asarray(left, np.intp), np.asarray(right, np.intp))


_FILLED = 0.6
"""The part of a limit in which ordered trees are compared; the rest is for the matched pairs."""

_EARNED = 0.8
"""The same, where parents have to match."""

_MIRROR_AT = 8
"""How many times every node must meet every node before it is asked whether the mirrored trees, or paths, need less."""
_CLIMB_AT = 10_000_000
"""How many cells of best there must be before it is asked whether paths need less."""
_EXACT = 2**24
"""Below this, floats of 32 bits hold whole numbers."""
_LANE = 0.5
"""What a forest costs on a path, in cells of best; they are filled some at a time."""
_ROOM = 1_000_000
"""So many forests times nodes beside a path are kept at once, LANES numbers for each."""
_CELLS = 1_000_000
"""So many cells of best are filled at once."""


def _solve(
    one: _Tree, other: _Tree, weights: F64, deadline: float | None = None
) -> tuple[float, list[tuple[int, int]], bool]:
    """What the trees earn, the matched places, and whether all was done by the deadline."""
    lefts, rights = one.lefts(), other.lefts()
    tree, finished = np.zeros_like(weights), True
    for ours, theirs in _batches(lefts, rights, one.key_places(), other.key_places()):
        if deadline is not None and time.monotonic() > deadline:
            finished = False
            break
        if len(ours) > 1:
            _forests_at_once(ours, theirs, lefts, rights, weights, tree)
        else:
            _forests(int(ours[0]), int(theirs[0]), lefts, rights, weights, tree)
    pairs: list[tuple[int, int]] = []
    todo = [(len(lefts) - 1, len(rights) - 1)]
    while todo:
        i, j = todo.pop()
        first, start = int(lefts[i]), int(rights[j])
        best = _forests(i, j, lefts, rights, weights, tree)
        row, column = i, j
        while row >= first and column >= start:
            here = best[row - first + 1, column - start + 1]
            if here == best[row - first, column - start + 1]:
                row -= 1
            elif here == best[row - first + 1, column - start]:
                column -= 1
            elif lefts[row] == first and rights[column] == start:
                pairs.append((row, column))
                row, column = row - 1, column - 1
            else:
                todo.append((row, column))
                row, column = int(lefts[row]) - 1, int(rights[column]) - 1
    return float(tree[-1, -1]), pairs, finished


def _forests(i: int, j: int, lefts: I64, rights: I64, weights: F64, tree: F64) -> F64:
    """best for the subtrees at the places i and j; fills `tree` for the whole trees in it.

    Only best[i, j-1] lies in row i, so a row is one running maximum.
    """
    first, start = int(lefts[i]), int(rights[j])
    best = np.zeros((i - first + 2, j - start + 2))
    columns = slice(start, j + 1)
    skip = rights[columns] - start
    whole = np.flatnonzero(skip == 0)
    for row, before in enumerate((lefts[first : i + 1] - first).tolist()):
        above, here = best[row], best[row + 1]
        joined = best[before][skip] + tree[first + row, columns]
        if before == 0:
            joined[whole] = above[whole] + weights[first + row, start + whole]
        np.maximum.accumulate(np.maximum(above[1:], joined), out=here[1:])
        if before == 0:
            tree[first + row, start + whole] = here[1 + whole]
    return best


def _batches(lefts: I64, rights: I64, keys_left: I64, keys_right: I64) -> Iterator[tuple[I64, I64]]:
    """All pairs of key places, in batches of about one size, each after those whose subtrees lie inside its own.

    A key place is one level above the highest key place inside its subtree. What a pair needs has a smaller sum of levels.
    """
    levels = [_levels(places, keys) for places, keys in ((lefts, keys_left), (rights, keys_right))]
    sizes = [keys - places[keys] + 1 for places, keys in ((lefts, keys_left), (rights, keys_right))]
    a, b = (side.ravel() for side in np.indices((len(keys_left), len(keys_right))))
    height, width = sizes[0][a], sizes[1][b]
    classes = [np.frexp(side - 0.5)[1] for side in (height, width)]  # 1, 2, 3 to 4, 5 to 8, ...
    kind = ((levels[0][a] + levels[1][b]) * 64 + classes[0]) * 64 + classes[1]
    order = np.argsort(kind, kind="stable")
    for batch in runs(order, kind):
        most = max(1, _CELLS // int((height[batch].max() + 1) * (width[batch].max() + 1)))
        for begin in range(0, len(batch), most):
            some = batch[begin : begin + most]
            yield keys_left[a[some]], keys_right[b[some]]


def _levels(places: I64, keys: I64) -> I64:
    levels: list[int] = []
    inside: list[tuple[int, int]] = []  # leftmost leaves and levels of the key places that no other one holds yet
    for leaf, _ in zip(places[keys].tolist(), keys, strict=True):
        level = 0
        while inside and inside[-1][0] >= leaf:
            level = max(level, inside.pop()[1] + 1)
        inside.append((leaf, level))
        levels.append(level)
    return np.array(levels, np.int64)


def _forests_at_once(i: I64, j: I64, lefts: I64, rights: I64, weights: F64, tree: F64) -> None:
    """`tree` for many pairs of places at once; rows and columns beyond a pair's own are filled and not looked at."""
    first, start = lefts[i], rights[j]
    high, wide = i - first, j - start
    every = np.arange(len(i))
    columns = np.minimum(start[:, None] + np.arange(int(wide.max()) + 1), j[:, None])
    skip = rights[columns] - start[:, None]
    mine, whole = np.nonzero((skip == 0) & (np.arange(columns.shape[1]) <= wide[:, None]))
    best = np.zeros((int(high.max()) + 2, len(i), columns.shape[1] + 1))
    for row in range(int(high.max()) + 1):
        at = np.minimum(first + row, i)
        before = lefts[at] - first
        above, here = best[row], best[row + 1]
        joined = best[before[:, None], every[:, None], skip] + tree[at[:, None], columns]
        spine = ((before == 0) & (row <= high))[mine]
        one, column = mine[spine], whole[spine]
        joined[one, column] = above[one, column] + weights[at[one], columns[one, column]]
        np.maximum.accumulate(np.maximum(above[:, 1:], joined), axis=1, out=here[:, 1:])
        tree[at[one], columns[one, column]] = here[one, column + 1]


def match_top_down(
    left: Sequence[int] | I64,
    right: Sequence[int] | I64,
    similarity: F64,
    *,
    ordered: bool = False,
    limit: float | None = None,
) -> Matched:
    """The heaviest matching in which the parents of matched nodes are matched to each other (roots to roots).

    earns[u, v] = similarity[u, v] + the best matching of u's children with v's, 0 if the two are not similar
    at all. Children are matched 1:1, and in order if `ordered`. If a limit in seconds strikes, children are matched by what they
    themselves are worth, from the root down.
    """
    # What is laid out before, and what is left to do if it strikes, has the rest of the time.
    deadline = None if limit is None else time.monotonic() + _EARNED * limit
    one, other = _Tree.of(left), _Tree.of(right)
    n, m = len(one.postorder), len(other.postorder)
    earns = np.zeros((n + 1, m + 1))
    matches: dict[tuple[int, int], Matched] = {}
    depths, their_depths = one.depths(), other.depths()

    def children(u: int, v: int, worth: F64) -> float:
        below, beside = one.children[u], other.children[v]
        if not below or not beside:
            return 0.0
        table = worth[np.ix_(below, beside)]
        if not table.any():
            return 0.0
        found = match_dense(table) if ordered else _assignment(table)
        matches[u, v] = found
        return found.lower

    finished = True
    for u in one.postorder:
        # Only nodes of equal depth ever meet.
        for v in np.flatnonzero((similarity[u] > 0) & (their_depths == depths[u])).tolist() if m else []:
            earns[u, v] = similarity[u, v] + children(u, v, earns)
            finished = finished and (deadline is None or time.monotonic() < deadline)
        if not finished:
            matches.clear()
            break
    total = children(n, m, earns if finished else similarity)
    pairs: list[tuple[int, int]] = []
    todo = [(n, m)]
    while todo:
        u, v = todo.pop()
        if not finished and (u, v) != (n, m):
            children(u, v, similarity)
        found = matches.get((u, v))
        if found is not None:
            below = [(one.children[u][a], other.children[v][b]) for a, b in zip(found.left, found.right, strict=True)]
            pairs += below
            todo += below
    pairs.sort()
    return _bounded(total, similarity, [p[0] for p in pairs], [p[1] for p in pairs], finished)


def match_unordered(
    left: Sequence[int] | I64, right: Sequence[int] | I64, similarity: F64, *, limit: float | None = None
) -> Matched:
    """The heaviest matching that keeps ancestors in both directions; may be unproven if a limit in seconds
    strikes."""
    began = time.monotonic()
    before = [_ancestors(np.asarray(parents, np.intp)) for parents in (left, right)]
    u, v = np.nonzero(similarity > 0)
    start = match_ordered(left, right, similarity, limit=None if limit is None else limit / 4)
    rest = None if limit is None else max(limit / 10, limit - (time.monotonic() - began))
    return match_orders(before[0], before[1], u, v, similarity[u, v], limit=rest, start=start)


def _ancestors(parents: I64) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    child = np.flatnonzero(parents >= 0)
    return reachability(len(parents), parents[child], child)


def _assignment(table: F64) -> Matched:
    from lap import lapjv

    n, m = table.shape
    size = max(n, m)
    cost = np.zeros((size, size))
    cost[:n, :m] = -table
    total, column, _ = lapjv(cost)
    rows = np.flatnonzero(column[:n] < m)
    rows = rows[table[rows, column[rows]] > 0]
    return Matched.proven(-float(total), rows, column[rows])


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
