"""Eq. 37 for partial orders and directed graphs (appendix A.2): matchings under which u ≤ u' if and only if v
≤ v'.

≤ is reachability: in a tree an ancestor precedes its descendants, in a graph a node precedes what its edges
lead to, and the nodes of a cycle precede each other. Two pairs *clash* if keeping both would break the "iff":

    P   a → b        R   x → y        (a, x) and (b, y) agree;  (a, y) and (b, x) clash

The heaviest set of pairs without a clash is an integer programme. Its rows as printed, m + m' <= 1 for each
clash, are weak; here a pair's clashes with the pairs of one u' are summed into a single row wherever u' can
have only one partner anyway (the same for v'). The assignment that ignores the order is an upper bound, and
often keeps the order: then nothing else is needed. Otherwise a linear programme takes in the rows that its
solution breaks, round by round, until none is broken; its prices rule out most pairs, and the integer
programme has only the rest to decide.

For sequences, trees and DAGs ≤ is antisymmetric, and then u = u' forces v = v': all four constraints coincide
with 1:1. They differ only inside cycles.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask, distinct
from tallystick.engine.latent import CONSTRAINTS, EPSILON, Constraint
from tallystick.engine.latent_pairs import common_unit
from tallystick.engine.program import Programs, Rows, seconds_left
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen


def reachability(nodes: int, source: Any, target: Any) -> Mask:
    """≤ of a directed graph: `[u, v]` is true if a path leads from u to v, the empty path included."""
    after: list[list[int]] = [[] for _ in range(nodes)]
    for start, end in zip(np.asarray(source, np.intp).tolist(), np.asarray(target, np.intp).tolist(), strict=True):
        after[start].append(end)
    reached = [0] * nodes  # a bit for each node, the same for all nodes of a cycle
    for together in _cycles(after):
        bits = 0
        for node in together:
            bits |= 1 << node
            for other in after[node]:
                bits |= reached[other]
        for node in together:
            reached[node] = bits
    width = (nodes + 7) // 8
    packed = np.frombuffer(b"".join(bits.to_bytes(width, "little") for bits in reached), np.uint8)
    table = np.unpackbits(packed.reshape(nodes, width), axis=1, count=nodes, bitorder="little") if nodes else packed
    return table.reshape(nodes, nodes).astype(np.bool_)


def _cycles(after: list[list[int]]) -> Iterator[list[int]]:
    """The nodes that reach each other, together; what they lead to comes before (Tarjan 1972, without recursion)."""
    found, low, waiting = [-1] * len(after), [0] * len(after), list[int]()
    count = 0
    for root in range(len(after)):
        path = [] if found[root] >= 0 else [(root, iter(after[root]))]
        while path:
            node, rest = path[-1]
            if found[node] < 0:
                found[node] = low[node] = count
                count += 1
                waiting.append(node)
            other = next(rest, None)
            if other is not None:
                if found[other] < 0:
                    path.append((other, iter(after[other])))
                else:
                    low[node] = min(low[node], low[other])
                continue
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[node])
            if low[node] == found[node]:
                together = list[int]()
                while not together or together[-1] != node:
                    together.append(waiting.pop())
                    low[together[-1]] = len(after)  # is settled: it lowers nobody
                yield together


def match_orders(
    before_left: Mask,
    before_right: Mask,
    u: I64,
    v: I64,
    weight: F64,
    constraint: Constraint = "1:1",
    *,
    limit: float | None = None,
    start: Matched | None = None,
) -> Matched:
    """The heaviest order-preserving matching of the pairs (u, v), each listed once; `before_*` is ≤ as a
    table.

    `start` is a valid matching known already, for instance one that keeps more than this one has to.
    """
    if constraint not in CONSTRAINTS:
        raise MetricError(f'unknown constraint "{constraint}".{did_you_mean(constraint, CONSTRAINTS)}')
    deadline = None if limit is None else time.monotonic() + limit
    positive = weight > 0
    u, v, weight = u[positive], v[positive], weight[positive]
    if not len(u):
        return Matched.proven(0.0, [], [])
    if limit is not None and len(u) ** 2 > _CLASHES_A_SECOND * limit:
        outline = _outlined(before_left, before_right, u, v, weight, constraint, deadline)
        if start is not None and start.lower > outline.lower:
            most = max(outline.upper, start.lower)
            return Matched(start.lower, most, most <= start.lower, start.left, start.right)
        return outline
    clash = _clashes(before_left, before_right, u, v, constraint)
    unit = common_unit(weight)

    upper, chosen = _ignoring_order(u, v, weight, clash)
    candidates = [
        _repaired(chosen, weight, clash),
        _repaired(_NOBODY, weight / (weight + clash @ weight), clash),
    ]
    if start is not None:
        known = set(zip(start.left.tolist(), start.right.tolist(), strict=True))
        given = [t for t, pair in enumerate(zip(u.tolist(), v.tolist(), strict=True)) if pair in known]
        candidates.append(_repaired(np.array(given, np.intp), weight, clash))
    chosen = max(candidates, key=lambda set_: float(weight[set_].sum()))
    lower = float(weight[chosen].sum())
    if _open(upper, lower, unit):
        solver = Programs()
        lp_upper, values, bound = _relaxation(solver, weight, clash, u, v, deadline)
        upper = min(upper, lp_upper)
        rounded = _repaired(np.flatnonzero(values > 1e-6), values + weight * 1e-6, clash)
        if weight[rounded].sum() > lower:
            chosen, lower = rounded, float(weight[rounded].sum())
        left = seconds_left(deadline)
        if _open(upper, lower, unit) and (left is None or left > 0):
            rest = np.flatnonzero([_open(b, lower, unit) for b in bound.tolist()])
            found, found_upper = _search(solver, rest, weight, clash, u, v, unit, left)
            upper = min(upper, max(found_upper, lower))
            if weight[found].sum() > lower and not clash[np.ix_(found, found)].any():
                chosen, lower = found, float(weight[found].sum())
    return _matched(lower, upper, unit, chosen, u, v)


_CLASHES_A_SECOND = 10_000_000  # of the limit, beyond which the table of clashes alone would take too long


def _outlined(
    before_left: Mask, before_right: Mask, u: I64, v: I64, weight: F64, constraint: Constraint, deadline: float | None
) -> Matched:
    """Bounds without a table of clashes: each node's best pair, and pairs taken greedily."""
    best = []
    for node, single in ((u, ("1:1", "N:1")), (v, ("1:1", "1:N"))):
        best.append(_heaviest_of_rows(node, weight) if constraint in single else float(weight.sum()))
    taken = np.empty(0, np.intp)
    for t in np.argsort(-weight, kind="stable").tolist():
        if deadline is not None and time.monotonic() > deadline:
            break
        a, b = u[taken], v[taken]
        agrees = (before_left[u[t], a] == before_right[v[t], b]) & (before_left[a, u[t]] == before_right[b, v[t]])
        if constraint in ("1:1", "N:1"):
            agrees &= a != u[t]
        if constraint in ("1:1", "1:N"):
            agrees &= b != v[t]
        if agrees.all():
            taken = np.append(taken, t)
    return _matched(float(weight[taken].sum()), min(best), common_unit(weight), np.sort(taken), u, v)


_NOBODY = np.empty(0, np.intp)
_ROWS_A_ROUND = 400


def _relaxation(
    solver: Programs, weight: F64, clash: Mask, u: I64, v: I64, deadline: float | None
) -> tuple[float, F64, F64]:
    """The linear programme with rows as they are needed: a bound, the values, and a bound for each pair's
    being chosen."""
    n = len(u)
    sides = [_exclusive(node, clash) for node in (u, v)]
    owner = [np.where(np.isin(number, np.flatnonzero(exclusive)), number, -1) for number, exclusive in sides]
    rows: dict[tuple[int, ...], None] = {}
    for number, exclusive in sides:
        for node in np.flatnonzero(exclusive).tolist():
            rows[tuple(np.flatnonzero(number == node).tolist())] = None
    upper, values, bound = float("inf"), np.zeros(n), np.full(n, np.inf)
    clashing = clash.astype(np.float32)
    while True:
        left = seconds_left(deadline)
        if left is not None and left <= 0:
            break
        matrix = _matrix(list(rows))
        found = solver.relaxed(weight, matrix, seconds=left)
        if found is None:
            break
        positive = np.maximum(found.reduced, 0.0)
        upper = min(upper, float(found.prices @ matrix.limit + positive.sum()))
        values, bound = found.values, np.minimum(bound, upper - (positive - found.reduced))
        broken = _broken(values, clashing, clash, owner, n)
        broken = [row for row in broken if row not in rows]
        if not broken:
            break
        rows.update(dict.fromkeys(broken))
    return upper, values, bound


def _exclusive(node: I64, clash: Mask) -> tuple[I64, Mask]:
    """Nodes numbered, and at which of them all pairs exclude each other."""
    _, number, count = np.unique(node, return_inverse=True, return_counts=True)
    same = number[:, None] == number[None, :]
    friends = (same & ~clash).sum(1) - 1  # other pairs at the node that do not clash
    peaceful = np.zeros(len(count), np.bool_)
    peaceful[number[friends > 0]] = True
    return number, ~peaceful


def _broken(
    values: F64,
    clashing: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    clash: Mask,
    owner: list[I64],
    n: int,
) -> list[tuple[int, ...]]:
    """The rows that the values break most: a pair with its clashes at one exclusive node, or with one other
    pair."""
    used = np.flatnonzero(values > 1e-6)
    found: list[tuple[float, tuple[int, ...]]] = []
    for number in owner:
        inside = used[number[used] >= 0]
        if not len(inside):
            continue
        at = np.zeros((n, int(number.max()) + 1), np.float32)
        at[inside, number[inside]] = values[inside]
        load = clashing @ at + values[:, None].astype(np.float32)
        load[values <= 1e-6] = 0.0
        load[np.arange(n)[number >= 0], number[number >= 0]] = 0.0
        pair, node = np.nonzero(load > 1 + 1e-4)
        for t, k in zip(pair.tolist(), node.tolist(), strict=True):
            members = np.flatnonzero(clash[t] & (number == k)).tolist()
            found.append((float(load[t, k]), tuple(sorted([t, *members]))))
    loose = used[(owner[0][used] < 0) | (owner[1][used] < 0)]
    for t in loose.tolist():
        found += [
            (float(values[t] + values[s]), (min(s, t), max(s, t)))
            for s in np.flatnonzero(clash[t]).tolist()
            if values[s] + values[t] > 1 + 1e-4
        ]
    found.sort(key=lambda entry: (-entry[0], entry[1]))
    return list(dict.fromkeys(row for _, row in found))[:_ROWS_A_ROUND]


def _matrix(rows: list[tuple[int, ...]]) -> Rows:
    lengths = [len(row) for row in rows]
    number = np.repeat(np.arange(len(rows)), lengths)
    column = np.array([t for row in rows for t in row], np.intp)
    return Rows.of(number, column, np.ones(len(column)), np.ones(len(rows)))


def _search(
    solver: Programs,
    rest: I64,
    weight: F64,
    clash: Mask,
    u: I64,
    v: I64,
    unit: float | None,
    left: float | None,
) -> tuple[I64, float]:
    """The integer programme over the pairs in `rest`."""
    if not len(rest):
        return _NOBODY, 0.0
    rows = _rows(clash[np.ix_(rest, rest)], u[rest], v[rest])
    gap = EPSILON / 2 if unit is None else unit * (1 - 1e-3)
    found = solver.whole(weight[rest], rows, gap=gap, seconds=left)
    chosen = _NOBODY if found.values is None else rest[np.flatnonzero(found.values > 0.5)]
    return chosen, found.upper


def _clashes(before_left: Mask, before_right: Mask, u: I64, v: I64, constraint: Constraint) -> Mask:
    """Which two pairs break u ≤ u' iff v ≤ v' in either direction, or share a node that the constraint gives to one pair only."""
    differs = before_left[np.ix_(u, u)] != before_right[np.ix_(v, v)]
    clash: Mask = np.asarray(differs | differs.T)
    if constraint in ("1:1", "N:1"):
        clash |= (u[:, None] == u[None, :]) & (v[:, None] != v[None, :])
    if constraint in ("1:1", "1:N"):
        clash |= (v[:, None] == v[None, :]) & (u[:, None] != u[None, :])
    return clash


def _ignoring_order(u: I64, v: I64, weight: F64, clash: Mask) -> tuple[float, I64]:
    """A bound: the best assignment if partners exclude each other, else everything."""
    same = ((u[:, None] == u[None, :]) | (v[:, None] == v[None, :])) & ~np.eye(len(u), dtype=np.bool_)
    if not clash[same].all():
        return float(weight.sum()), np.arange(len(u))
    from lap import lapjv

    rows, row = np.unique(u, return_inverse=True)
    columns, column = np.unique(v, return_inverse=True)
    size = max(len(rows), len(columns))
    cost, which = np.zeros((size, size)), np.full((size, size), -1, np.intp)
    cost[row, column] = -weight
    which[row, column] = np.arange(len(u))
    total, partner, _ = lapjv(cost)
    chosen = which[np.arange(size), partner]
    return -float(total), chosen[chosen >= 0]


def _repaired(chosen: I64, worth: F64, clash: Mask) -> I64:
    """A set without clashes: first from the chosen pairs, then from all others, always the one worth most."""
    free = np.ones(len(worth), np.bool_)
    kept: list[int] = []
    rest = np.setdiff1d(np.arange(len(worth)), chosen)
    for part in (chosen, rest):
        for t in part[np.argsort(-worth[part], kind="stable")].tolist():
            if free[t]:
                kept.append(t)
                free &= ~clash[t]
                free[t] = False
    return np.array(sorted(kept), np.intp)


def _rows(clash: Mask, u: I64, v: I64) -> Rows:
    """Rows that forbid every clash: for pair t and node u' (and v'), t and its clashing pairs there, if those
    exclude each other."""
    n = len(u)
    row_parts: list[I64] = []
    column_parts: list[I64] = []
    count = 0
    covered = np.zeros_like(clash)
    for node in (u, v):
        order = np.argsort(node, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], node[order][1:] != node[order][:-1]]))
        for members in np.split(order, begins[1:]):
            inside = clash[np.ix_(members, members)]
            if (inside | np.eye(len(members), dtype=np.bool_)).all():
                touching = clash[:, members]
                # All members at one node exclude each other; so does a pair with those of them that it
                # clashes with.
                t, m = np.nonzero(touching)
                owners, number = np.unique(t, return_inverse=True)
                row_parts += [number + count, np.arange(len(owners)) + count]
                column_parts += [members[m], owners]
                covered[t, members[m]] = True
                count += len(owners)
    a, b = np.nonzero(np.triu(clash & ~(covered | covered.T)))
    row_parts += [np.arange(len(a)) + count, np.arange(len(a)) + count]
    column_parts += [a, b]
    count += len(a)
    row, column = np.concatenate(row_parts), np.concatenate(column_parts)
    # A member of a node clashes with the other members, so it would be listed twice in its own node's row.
    once = distinct(row * n + column)
    return Rows.of(once // n, once % n, np.ones(len(once)), np.ones(count))


def _open(upper: float, lower: float, unit: float | None) -> bool:
    if unit is None:
        return upper > lower + EPSILON * max(1.0, lower)
    return float(np.floor(upper / unit + 1e-6)) * unit > lower + unit / 2


def _matched(lower: float, upper: float, unit: float | None, chosen: I64, u: I64, v: I64) -> Matched:
    optimal = not _open(upper, lower, unit)
    if unit is not None:
        upper = float(np.floor(upper / unit + 1e-6)) * unit
    upper = lower if optimal and unit is not None else max(upper, lower)
    order = np.lexsort((v[chosen], u[chosen]))
    return Matched(lower, upper, optimal, u[chosen][order], v[chosen][order])


# Eq. 37 for sequences: the heaviest matching that keeps the order, a weighted longest common subsequence.
#
#     P   1  2  3  4  5
#         |    /   /            three pairs, none of them crossing: Σ = 3
#     R   1  3  5  7  9
#
# Since ≤ is reflexive and the condition an "iff", an element can never have two partners: all four constraints
# are 1:1 here. A *weak* matching is another thing, with a name of its own: order may stand still on one side
# ("N:1": several elements of P in a row share one of R; "1:N": the reverse).
#
# Three ways, all exact: equal codes by a bit-parallel LCS; sparse pairs by the heaviest chain in O(k log n); a
# dense table by dynamic programming, a row at a time.

Weak = Literal["N:1", "1:N"]


@frozen
class Matched:
    """Matched pairs (`left[n]`, `right[n]`) in order, which earn `lower`; nothing earns more than `upper`."""

    lower: float
    upper: float
    optimal: bool
    left: I64
    right: I64

    @staticmethod
    def proven(value: float, left: Sequence[int] | I64, right: Sequence[int] | I64) -> Matched:
        """By an algorithm that is exact."""
        return Matched(float(value), float(value), True, np.asarray(left, np.intp), np.asarray(right, np.intp))


_CELLS_A_SECOND = 1_000_000_000
_MOST_CELLS = 16_000_000_000
"""So many cells of two sequences are compared in a second of a limit; and at once, with a bit for each: some 2 GB."""


def match_equal(left: Sequence[Hashable], right: Sequence[Hashable], *, limit: float | None = None) -> Matched:
    """Elements match if they are equal, for 1 each.

    If they are too many for a limit in seconds, or for the memory, both are cut into as many pieces, the k-th of which meet. Then no more
    can match than both have of each element.
    """
    from rapidfuzz.distance import LCSseq

    began, cells = time.monotonic(), len(left) * len(right)
    most = _MOST_CELLS if limit is None else min(_MOST_CELLS, _CELLS_A_SECOND * limit)
    pieces = max(1, min(math.ceil(cells / most), len(left), len(right)))
    pairs_left: list[I64] = []
    pairs_right: list[I64] = []
    for k in range(pieces):
        if k and limit is not None and time.monotonic() - began > limit:
            break
        a, b, c, d = (len(side) * at // pieces for side in (left, right) for at in (k, k + 1))
        for step in LCSseq.opcodes(left[a:b], right[c:d]):
            if step.tag == "equal":
                pairs_left.append(np.arange(a + step.src_start, a + step.src_end))
                pairs_right.append(np.arange(c + step.dest_start, c + step.dest_end))
    nobody = np.empty(0, np.intp)
    one, other = np.concatenate([nobody, *pairs_left]), np.concatenate([nobody, *pairs_right])
    if pieces == 1:
        return Matched.proven(len(one), one, other)
    upper = (Counter(left) & Counter(right)).total()
    return Matched(len(one), upper, upper <= len(one), one, other)


def match_sparse(i: I64, j: I64, weight: F64, *, weak: Weak | None = None, limit: float | None = None) -> Matched:
    """The heaviest chain of pairs (i, j), each pair listed once: both strictly rising (or one standing still,
    if weak).

    If a limit in seconds strikes, the chain ends where it is; each row that is left earns its heaviest pair at most.

    Pairs are taken by rising i. The frontier keeps, for each j that matters, the best chain that ends at or
    before it; its values rise with j, since a chain that ends later and earns less is useless. A pair extends
    the frontier's last chain before j.
    """
    if weak == "1:N":
        turned = match_sparse(j, i, weight, weak="N:1", limit=limit)
        return Matched(turned.lower, turned.upper, turned.optimal, turned.right, turned.left)
    order = np.lexsort((j, i))
    order = order[weight[order] > 0]
    rows, columns, weights = i[order].tolist(), j[order].tolist(), weight[order].tolist()
    before: list[int] = [-1] * len(order)
    ends: list[int] = []  # the j of each frontier chain, rising
    values: list[float] = []  # what it earns, rising
    last: list[int] = []  # its last pair
    reach = 1 if weak == "N:1" else 0  # how far a chain's last j may be: below j, or at j itself
    n, begin = len(order), 0
    deadline = None if limit is None else time.monotonic() + limit
    while begin < n and (deadline is None or time.monotonic() < deadline):
        row, end = rows[begin], begin
        while end < n and rows[end] == row:
            end += 1
        new = []
        for t in range(begin, end):
            at = bisect_left(ends, columns[t] + reach) - 1
            if at >= 0:
                before[t] = last[at]
                new.append(values[at] + weights[t])
            else:
                new.append(weights[t])
        # From the right, so that what one pair of the row adds is never extended by another.
        for t in range(end - 1, begin - 1, -1):
            column, value = columns[t], new[t - begin]
            at = bisect_left(ends, column + 1)
            if at and values[at - 1] >= value:
                continue
            stop = at
            while stop < len(ends) and values[stop] <= value:
                stop += 1
            start = at - 1 if at and ends[at - 1] == column else at
            ends[start:stop], values[start:stop], last[start:stop] = [column], [value], [t]
        begin = end
    chosen = order[_followed_back(last[-1] if last else -1, before)]
    lower, rest = float(values[-1]) if values else 0.0, order[begin:]
    upper = lower + _heaviest_of_rows(i[rest], weight[rest])
    return Matched(lower, upper, begin >= n, i[chosen].astype(np.intp), j[chosen].astype(np.intp))


def _followed_back(last: int, before: list[int]) -> I64:
    """The pairs of a chain from the first to the last, each of which knows the one before it."""
    chain = []
    while last >= 0:
        chain.append(last)
        last = before[last]
    return np.array(chain[::-1], np.intp)


def _heaviest_of_rows(row: I64, weight: F64) -> float:
    """The sum of the heaviest pair of each row."""
    most = np.zeros(int(row.max(initial=-1)) + 1)
    np.maximum.at(most, row, weight)
    return float(most.sum())


def match_dense(table: F64, *, weak: Weak | None = None) -> Matched:
    """The same for a full table of similarities (rows: left, columns: right).

    best[i, j] is the most that the first i and the first j elements earn. Of its three candidates, only
    best[i, j - 1] lies in the same row, and it enters as a running maximum: so a row is one vectorised step.
    """
    if weak == "1:N":
        turned = match_dense(table.T, weak="N:1")
        return Matched.proven(turned.lower, turned.right, turned.left)
    n, m = table.shape
    best = np.zeros((n + 1, m + 1))
    back = 1 if weak is None else 0  # the pair (i, j) leaves j - 1 columns to those before it, or j if weak
    for row in range(n):
        above = best[row]
        extended = above[: m + 1 - back][-m:] + table[row] if m else above[:0]
        np.maximum.accumulate(np.maximum(above[1:], extended), out=best[row + 1, 1:])
    one, other = [], []
    i, j = n, m
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            one.append(i - 1)
            other.append(j - 1)
            i, j = i - 1, j - back
    return Matched.proven(float(best[n, m]), one[::-1], other[::-1])
