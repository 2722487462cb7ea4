"""Eq. 36 in full: objects with latent variables, matched under any of the four constraints.

An object pair (u, v) has a weight, its similarity if all goes well, and *needs*: the variable pairs that have
to be matched for it (eq. 41). Prop(ARG0, x, y) against Prop(ARG0, x', y') needs x→x' and y→y'. Variables are
always 1:1; objects are 1:1, N:1 (each u takes one v at most), 1:N or N:N.

In nearly all real problems the constraint on objects asks nothing that the variables do not settle already.
Call pairs with the same set of needs a *class*. If all pairs of u need the same variables of the first side,
then two classes of u give some variable two partners, so that at most one of them is ever active. The same
for v. Hence a class is active as a whole or not at all, and what it earns is a constant known beforehand:

    1:1   the best matching inside the class (for equal objects: the smaller of the two multiplicities)
    N:1   the best v for each u, summed          1:N   the best u for each v          N:N   everything

Classes without needs are earned for certain; with one need they are single weights, with two they are links,
and the problem is the one of `latent`. Only objects with three or more variables, or whose pairs need
different variables, go to the integer programme of eq. 40 to 44.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallystick.engine.arrays import number as renumber
from tallystick.engine.latent import EPSILON, Solutions, solve_all
from tallystick.engine.latent_pairs import Bools, Floats, Ints, Problems, common_unit
from tallystick.engine.program import Programs, Rows, seconds_left
from tallystick.errors import MetricError, did_you_mean

Constraint = Literal["1:1", "N:1", "1:N", "N:N"]
CONSTRAINTS = ("1:1", "N:1", "1:N", "N:N")


@dataclass(frozen=True)
class ObjectPairs:
    """Pair t is (u[t], v[t]) of problem doc[t] with weight[t]; need n says that pair need[n] needs need_i[n]
    → need_j[n].

    Objects and variables are numbered over all problems. Pairs are distinct; weights are at least 0.
    """

    doc: Ints
    u: Ints
    v: Ints
    weight: Floats
    need: Ints
    need_i: Ints
    need_j: Ints

    @staticmethod
    def of(u: Any, v: Any, weight: Any, needs: tuple[Any, Any, Any], doc: Any = None) -> ObjectPairs:
        """From anything that NumPy can turn into arrays; `needs` is (pair, i, j); one problem unless `doc` is
        given."""
        u, v, need, i, j = (np.asarray(x, np.intp) for x in (u, v, *needs))
        of = np.zeros(len(u), np.intp) if doc is None else np.asarray(doc, np.intp)
        return ObjectPairs(of, u, v, np.asarray(weight, np.float64), need, i, j)


@dataclass(frozen=True)
class ObjectSolutions:
    """Bounds for each problem, the mapping over all variables, and `matched`: which object pairs are
    matched."""

    lower: Floats
    upper: Floats
    optimal: Bools
    mapping: Ints
    matched: Ints


def solve_objects(
    left: Any, right: Any, pairs: ObjectPairs, constraint: Constraint = "1:1", *, limit: float | None = None
) -> ObjectSolutions:
    """The best variable map and object matching of each problem; `left` and `right` as in `Problems`."""
    if constraint not in CONSTRAINTS:
        raise MetricError(f'unknown constraint "{constraint}".{did_you_mean(constraint, CONSTRAINTS)}')
    began = time.monotonic()
    left, right = np.asarray(left, np.intp), np.asarray(right, np.intp)
    table = _Needs(pairs)
    n = len(left) - 1
    hard = np.zeros(n, np.bool_)
    hard[pairs.doc[table.possible & (table.arity > 2)]] = True
    if constraint in ("1:1", "N:1"):
        hard[pairs.doc[table.unsettled(pairs.u, table.i)]] = True
    if constraint in ("1:1", "1:N"):
        hard[pairs.doc[table.unsettled(pairs.v, np.sort(table.j, axis=1))]] = True

    quick = table.possible & ~hard[pairs.doc]
    classes = _Classes(pairs, table, quick, constraint)
    if limit is not None:  # getting ready counts too
        limit = max(limit / 10, limit - (time.monotonic() - began) / max(1, n))
    found = _solve_classes(left, right, classes, limit)
    lower, upper, optimal, mapping = (
        found.lower.copy(),
        found.upper.copy(),
        found.optimal.copy(),
        found.mapping.copy(),
    )
    lower += classes.certain(n)
    upper += classes.certain(n)
    chosen = np.zeros(len(pairs.u), np.bool_)
    for d in np.flatnonzero(hard).tolist():
        inside = np.flatnonzero(table.possible & (pairs.doc == d))
        lower[d], upper[d], optimal[d], part = _programme(pairs, table, inside, constraint, limit)
        mapping[part[0]] = part[1]
        chosen[part[2]] = True
    active = np.flatnonzero(quick & table.active(mapping))
    chosen[active[_best(pairs.u[active], pairs.v[active], pairs.weight[active], pairs.doc[active], constraint)]] = True
    return ObjectSolutions(lower, upper, optimal, mapping, np.flatnonzero(chosen))


class _Needs:
    """The needs of each object pair as rows of two tables, sorted, repeated needs once, padded with -1."""

    def __init__(self, pairs: ObjectPairs) -> None:
        n = len(pairs.u)
        order = np.lexsort((pairs.need_j, pairs.need_i, pairs.need))
        t, i, j = pairs.need[order], pairs.need_i[order], pairs.need_j[order]
        fresh = np.ones(len(t), np.bool_)
        fresh[1:] = (t[1:] != t[:-1]) | (i[1:] != i[:-1]) | (j[1:] != j[:-1])
        t, i, j = t[fresh], i[fresh], j[fresh]
        self.arity = np.bincount(t, minlength=n)
        width = int(self.arity.max()) if n else 0
        place = np.arange(len(t)) - np.repeat(np.cumsum(self.arity) - self.arity, self.arity)
        self.i = np.full((n, width), -1, np.intp)
        self.j = np.full((n, width), -1, np.intp)
        self.i[t, place] = i
        self.j[t, place] = j
        # One variable with two partners can never be.
        twice_i = (self.i[:, 1:] == self.i[:, :-1]) & (self.i[:, 1:] >= 0)
        sorted_j = np.sort(self.j, axis=1)
        twice_j = (sorted_j[:, 1:] == sorted_j[:, :-1]) & (sorted_j[:, 1:] >= 0)
        self.possible = ~(twice_i.any(1) | twice_j.any(1)) & (pairs.weight > 0)

    def unsettled(self, objects: Ints, variables: Ints) -> Bools:
        """The pairs of objects whose pairs do not all need the same variables of the object's side."""
        unsettled = np.zeros(len(objects), np.bool_)
        at = np.flatnonzero(self.possible)
        if len(at):
            kind = _numbered(len(at), *variables[at].T)
            size = int(objects[at].max()) + 1
            low, high = np.full(size, len(at)), np.full(size, -1)
            np.minimum.at(low, objects[at], kind)
            np.maximum.at(high, objects[at], kind)
            unsettled[at] = (low < high)[objects[at]]
        return unsettled

    def active(self, mapping: Ints) -> Bools:
        """The pairs whose needs the mapping meets."""
        if not self.i.shape[1]:
            return np.ones(len(self.i), np.bool_)
        reached = np.append(mapping, -1)[self.i]  # row -1 of the padding reaches -1 and so meets its need
        return np.asarray((reached == self.j).all(1))


class _Classes:
    """Object pairs with the same needs, and what each class earns as a whole."""

    def __init__(self, pairs: ObjectPairs, needs: _Needs, which: Bools, constraint: Constraint) -> None:
        at = np.flatnonzero(which)
        number = _numbered(len(at), pairs.doc[at], *needs.i[at].T, *needs.j[at].T)
        first = np.empty(int(number.max()) + 1 if len(at) else 0, np.intp)
        first[number[::-1]] = np.arange(len(at))[::-1]
        best = _best(pairs.u[at], pairs.v[at], pairs.weight[at], number, constraint)
        self.weight = np.bincount(number[best], pairs.weight[at][best], len(first)).astype(np.float64)
        first = at[first]
        self.doc, self.arity = pairs.doc[first], needs.arity[first]
        self.i, self.j = needs.i[first], needs.j[first]

    def certain(self, problems: int) -> Floats:
        """What is earned without any variables."""
        none = self.arity == 0
        return np.bincount(self.doc[none], self.weight[none], problems).astype(np.float64)


def _numbered(rows: int, *columns: Ints) -> Ints:
    """The different rows of some columns (of values from -1 on), numbered in their order."""
    keys, bound = np.zeros(rows, np.int64), 1
    for column in columns:
        height = int(column.max(initial=-1)) + 2
        keys, bound = renumber(keys * height + column + 1, bound * height)
    return keys


def _solve_classes(left: Ints, right: Ints, classes: _Classes, limit: float | None) -> Solutions:
    one, two = classes.arity == 1, classes.arity == 2
    single = (classes.i[one, 0], classes.j[one, 0], classes.weight[one]) if one.any() else ([], [], [])
    double: tuple[Any, ...] = ([], [], [], [], [])
    if two.any():
        i, j = classes.i[two], classes.j[two]
        double = (i[:, 0], j[:, 0], i[:, 1], j[:, 1], classes.weight[two])
    return solve_all(Problems.of(left, right, single, double), limit=limit)


def _best(u: Ints, v: Ints, weight: Floats, block: Ints, constraint: Constraint) -> Ints:
    """Which pairs to take under the constraint so that their weights add up to the most; blocks do not touch
    each other."""
    if constraint == "N:N" or not len(u):
        return np.arange(len(u))
    if constraint != "1:1":
        side = u if constraint == "N:1" else v
        order = np.lexsort((-weight, side, block))
        first = np.ones(len(order), np.bool_)
        first[1:] = (side[order][1:] != side[order][:-1]) | (block[order][1:] != block[order][:-1])
        return order[first]
    from lap import lapjv

    order = np.argsort(block, kind="stable")
    begins = np.flatnonzero(np.concatenate([[True], block[order][1:] != block[order][:-1]]))
    ends = np.append(begins[1:], len(order))
    taken = [order[begins[ends - begins == 1]]]
    for begin, end in zip(begins[ends - begins > 1].tolist(), ends[ends - begins > 1].tolist(), strict=True):
        inside = order[begin:end]
        rows, row = np.unique(u[inside], return_inverse=True)
        columns, column = np.unique(v[inside], return_inverse=True)
        size = max(len(rows), len(columns))
        cost, which = np.zeros((size, size)), np.full((size, size), -1, np.intp)
        cost[row, column] = -weight[inside]
        which[row, column] = inside
        chosen = which[np.arange(size), lapjv(cost, return_cost=False)[0]]
        taken.append(chosen[chosen >= 0])
    return np.concatenate(taken)


def _programme(
    pairs: ObjectPairs, needs: _Needs, inside: Ints, constraint: Constraint, limit: float | None
) -> tuple[float, float, bool, tuple[Ints, Ints, Ints]]:
    """Eq. 40 to 44 for one problem, with eq. 41 summed over the partners of an object where only one can be
    had."""
    deadline = None if limit is None else time.monotonic() + limit
    n = len(inside)
    nobody = np.empty(0, np.intp)
    if not n:
        return 0.0, 0.0, True, (nobody, nobody, nobody)
    which, at = np.nonzero(needs.i[inside] >= 0)
    i, j = needs.i[inside][which, at], needs.j[inside][which, at]
    width = int(j.max()) + 1 if len(j) else 1
    keys, variable = np.unique(i * width + j, return_inverse=True)
    u, v, weight = pairs.u[inside], pairs.v[inside], pairs.weight[inside]
    rows = _RowList(n + len(keys))
    rows.at_most_one(keys // width, n + np.arange(len(keys)))  # eq. 42
    rows.at_most_one(keys % width, n + np.arange(len(keys)))
    if constraint in ("1:1", "N:1"):
        rows.at_most_one(u, np.arange(n))  # eq. 43
    if constraint in ("1:1", "1:N"):
        rows.at_most_one(v, np.arange(n))  # eq. 44
    one_each = np.arange(n) if constraint == "N:N" else v if constraint == "1:N" else u
    rows.implied(one_each[which] * len(keys) + variable, which, n + variable)  # eq. 41
    gain = np.concatenate([weight, np.zeros(len(keys))])
    unit = common_unit(weight)
    gap = EPSILON / 2 if unit is None else unit * (1 - 1e-3)
    known, mapped = _alternated(u, v, weight, which, variable, keys // width, keys % width, constraint)
    start = np.zeros(len(gain))
    start[known], start[n + mapped] = 1.0, 1.0
    found = Programs().whole(gain, rows.matrix(), gap=gap, start=start, seconds=seconds_left(deadline))
    upper = min(found.upper, float(weight.sum()))
    chosen = np.flatnonzero(found.values[:n] > 0.5) if found.values is not None else known
    chosen = max(chosen, known, key=lambda pairs: float(weight[pairs].sum()))
    lower = float(weight[chosen].sum())
    if unit is not None:
        upper = np.floor(upper / unit + 1e-6) * unit
    met = np.isin(which, chosen)
    optimal = upper <= lower + EPSILON * max(1.0, lower)
    return lower, max(lower, float(upper)), bool(optimal), (i[met], j[met], inside[chosen])


def _alternated(
    u: Ints, v: Ints, weight: Floats, which: Ints, variable: Ints, i: Ints, j: Ints, constraint: Constraint
) -> tuple[Ints, Ints]:
    """A good solution to start from: object pairs, and the variable pairs (i, j) that are mapped.

    A map is an assignment of the variables by what hangs on each pair of them; under it the objects are matched; what
    they did not earn counts less for the next map, so that others are tried.
    """
    n, count = len(u), max(1, len(i))
    needs = np.maximum(1, np.bincount(which, minlength=n))
    best: tuple[Ints, Ints] = (np.empty(0, np.intp), np.empty(0, np.intp))
    share = weight / needs
    block = np.zeros(count, np.intp)
    for _ in range(_STARTS):
        worth = np.bincount(variable, share[which], count).astype(np.float64)
        mapped = _best(i, j, worth[: len(i)], block[: len(i)], "1:1")
        used = np.zeros(count, np.bool_)
        used[mapped] = True
        unmet = np.bincount(which, ~used[variable], n)
        active = np.flatnonzero(unmet == 0)
        found = active[_best(u[active], v[active], weight[active], np.zeros(len(active), np.intp), constraint)]
        if weight[found].sum() > weight[best[0]].sum():
            best = found, mapped
        earned = np.zeros(n)
        earned[found] = weight[found]
        share = 0.5 * share + (earned + weight / (2.0 + unmet) ** 2) / needs
    return best


_STARTS = 8


class _RowList:
    """Rows of a programme, gathered."""

    def __init__(self, columns: int) -> None:
        self.columns, self.rows = columns, 0
        self.row: list[Ints] = []
        self.column: list[Ints] = []
        self.value: list[Floats] = []
        self.limit: list[Floats] = []

    def at_most_one(self, owner: Ints, column: Ints) -> None:
        """Of the columns of one owner, one at most."""
        owners, number = np.unique(owner, return_inverse=True)
        self._add(number, column, np.ones(len(column)), np.ones(len(owners)))

    def implied(self, group: Ints, column: Ints, by: Ints) -> None:
        """The sum of a group's columns is at most the one column `by` of the group."""
        groups, first, number = np.unique(group, return_index=True, return_inverse=True)
        total = np.arange(len(groups))
        self._add(
            np.concatenate([number, total]),
            np.concatenate([column, by[first]]),
            np.concatenate([np.ones(len(column)), -np.ones(len(groups))]),
            np.zeros(len(groups)),
        )

    def _add(self, row: Ints, column: Ints, value: Floats, limit: Floats) -> None:
        self.row.append(row + self.rows)
        self.column.append(column)
        self.value.append(value)
        self.limit.append(limit)
        self.rows += len(limit)

    def matrix(self) -> Rows:
        """All rows."""
        value, limit = np.concatenate(self.value), np.concatenate(self.limit)
        return Rows.of(np.concatenate(self.row), np.concatenate(self.column), value, limit)
