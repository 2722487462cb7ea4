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

import time
from typing import Any

import numpy as np

from tallystick.engine.latent import EPSILON
from tallystick.engine.latent_objects import CONSTRAINTS, Constraint
from tallystick.engine.latent_pairs import Bools, Floats, Ints, common_unit
from tallystick.engine.program import Programs, Rows, seconds_left
from tallystick.engine.sequences import Matched
from tallystick.errors import MetricError, did_you_mean


def reachability(nodes: int, source: Any, target: Any) -> Bools:
    """≤ of a directed graph: `[u, v]` is true if a path leads from u to v, the empty path included."""
    reached = np.eye(nodes, dtype=np.bool_)
    reached[np.asarray(source, np.intp), np.asarray(target, np.intp)] = True
    length = 1
    while length < nodes:
        step = reached.astype(np.float32)
        longer = (step @ step) > 0
        if np.array_equal(longer, reached):
            break
        reached, length = longer, length * 2
    return reached


def match_orders(
    before_left: Bools,
    before_right: Bools,
    u: Ints,
    v: Ints,
    weight: Floats,
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
        return _outlined(before_left, before_right, u, v, weight, constraint)
    clash = _clashes(before_left, before_right, u, v)
    if constraint in ("1:1", "N:1"):
        clash |= (u[:, None] == u[None, :]) & (v[:, None] != v[None, :])
    if constraint in ("1:1", "1:N"):
        clash |= (v[:, None] == v[None, :]) & (u[:, None] != u[None, :])
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


_CLASHES_A_SECOND = 30_000_000  # of the limit, beyond which the table of clashes alone would take too long


def _outlined(
    before_left: Bools, before_right: Bools, u: Ints, v: Ints, weight: Floats, constraint: Constraint
) -> Matched:
    """Bounds without a table of clashes: each node's best pair, and pairs taken greedily."""
    best = []
    for node, single in ((u, ("1:1", "N:1")), (v, ("1:1", "1:N"))):
        most = np.zeros(int(node.max()) + 1)
        np.maximum.at(most, node, weight)
        best.append(float(most.sum()) if constraint in single else float(weight.sum()))
    taken = np.empty(0, np.intp)
    for t in np.argsort(-weight, kind="stable").tolist():
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
    solver: Programs, weight: Floats, clash: Bools, u: Ints, v: Ints, deadline: float | None
) -> tuple[float, Floats, Floats]:
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


def _exclusive(node: Ints, clash: Bools) -> tuple[Ints, Bools]:
    """Nodes numbered, and at which of them all pairs exclude each other."""
    _, number, count = np.unique(node, return_inverse=True, return_counts=True)
    same = number[:, None] == number[None, :]
    friends = (same & ~clash).sum(1) - 1  # other pairs at the node that do not clash
    peaceful = np.zeros(len(count), np.bool_)
    peaceful[number[friends > 0]] = True
    return number, ~peaceful


def _broken(
    values: Floats,
    clashing: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    clash: Bools,
    owner: list[Ints],
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
    rest: Ints,
    weight: Floats,
    clash: Bools,
    u: Ints,
    v: Ints,
    unit: float | None,
    left: float | None,
) -> tuple[Ints, float]:
    """The integer programme over the pairs in `rest`."""
    if not len(rest):
        return _NOBODY, 0.0
    rows = _rows(clash[np.ix_(rest, rest)], u[rest], v[rest])
    gap = EPSILON / 2 if unit is None else unit * (1 - 1e-3)
    found = solver.whole(weight[rest], rows, gap=gap, seconds=left)
    chosen = _NOBODY if found.values is None else rest[np.flatnonzero(found.values > 0.5)]
    return chosen, found.upper


def _clashes(before_left: Bools, before_right: Bools, u: Ints, v: Ints) -> Bools:
    """Which two pairs break u ≤ u' iff v ≤ v' in either direction."""
    differs = before_left[np.ix_(u, u)] != before_right[np.ix_(v, v)]
    return np.asarray(differs | differs.T)


def _ignoring_order(u: Ints, v: Ints, weight: Floats, clash: Bools) -> tuple[float, Ints]:
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


def _repaired(chosen: Ints, worth: Floats, clash: Bools) -> Ints:
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


def _rows(clash: Bools, u: Ints, v: Ints) -> Rows:
    """Rows that forbid every clash: for pair t and node u' (and v'), t and its clashing pairs there, if those
    exclude each other."""
    n = len(u)
    row_parts: list[Ints] = []
    column_parts: list[Ints] = []
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
    distinct = np.unique(row * n + column)
    return Rows.of(distinct // n, distinct % n, np.ones(len(distinct)), np.ones(count))


def _open(upper: float, lower: float, unit: float | None) -> bool:
    if unit is None:
        return upper > lower + EPSILON * max(1.0, lower)
    return float(np.floor(upper / unit + 1e-6)) * unit > lower + unit / 2


def _matched(lower: float, upper: float, unit: float | None, chosen: Ints, u: Ints, v: Ints) -> Matched:
    optimal = not _open(upper, lower, unit)
    if unit is not None:
        upper = float(np.floor(upper / unit + 1e-6)) * unit
    upper = lower if optimal and unit is not None else max(upper, lower)
    order = np.lexsort((v[chosen], u[chosen]))
    return Matched(lower, upper, optimal, u[chosen][order], v[chosen][order])
