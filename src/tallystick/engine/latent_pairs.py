"""Latent matching in terms of variable pairs: the form in which every solver of it works.

A problem of eq. 36 asks for a partial 1:1 map between the variables of two sides. Everything is said over
*variable pairs* p = (i, j), "variable i of the first side is variable j of the second":

    maximise   sum_p U[p] x_p  +  sum_q w[q] x_{a[q]} x_{b[q]}
    such that  sum_j x_ij <= 1 for each i,   sum_i x_ij <= 1 for each j,   x in {0, 1}

U[p] is what p earns alone (equal concepts, equal attributes, a self-loop), and a *link* q is earned if both
of its pairs are chosen (two relations of the same role, each with its two ends):

      i ---ARG0--> k              a = (i, j)
                                  b = (k, l)
      j ---ARG0--> l              w = 1

Many problems lie side by side: variables are numbered over all of them, so that one NumPy call serves a whole
corpus. Pairs that earn nothing and are in no link are never listed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask
from tallystick.engine.program import Programs, Rows
from tallystick.frozen import frozen


@frozen
class Problems:
    """Many latent matchings side by side, as flat arrays.

    The variables of problem d are `left[d] ... left[d + 1] - 1` on the first side and `right[d] ... right[d +
    1] - 1` on the second. `i, j, weight` are the single weights, `qi, qj, qk, ql, q_weight` the weights that
    need i→j and k→l both; either list may name a pair several times (the weights add up). `q_kind` groups
    links that can only compete with links of the same kind (equal roles); it sharpens the first bound and
    never changes the optimum. Weights are at least 0.
    """

    left: I64
    right: I64
    i: I64
    j: I64
    weight: F64
    qi: I64
    qj: I64
    qk: I64
    ql: I64
    q_weight: F64
    q_kind: I64

    @staticmethod
    def of(
        left: Any,
        right: Any,
        single: tuple[Any, Any, Any],
        double: tuple[Any, Any, Any, Any, Any],
        q_kind: Any = None,
    ) -> Problems:
        """From anything that NumPy can turn into arrays; `single` is (i, j, w), `double` is (i, j, k, l,
        w)."""
        i, j = (np.asarray(x, np.intp) for x in single[:2])
        qi, qj, qk, ql = (np.asarray(x, np.intp) for x in double[:4])
        weight, q_weight = np.asarray(single[2], np.float64), np.asarray(double[4], np.float64)
        kind = np.zeros(len(qi), np.intp) if q_kind is None else np.asarray(q_kind, np.intp)
        return Problems(
            np.asarray(left, np.intp),
            np.asarray(right, np.intp),
            i,
            j,
            weight,
            qi,
            qj,
            qk,
            ql,
            q_weight,
            kind,
        )

    def __len__(self) -> int:
        return len(self.left) - 1


@frozen
class Pairs:
    """Problems over variable pairs, sorted by (i, j): pair p is `i[p], j[p]`, earns `single[p]`, is of
    problem `doc[p]`."""

    left: I64
    right: I64
    doc: I64
    i: I64
    j: I64
    single: F64
    a: I64
    b: I64
    weight: F64
    kind: I64

    @property
    def problems(self) -> int:
        """How many problems there are, with or without pairs."""
        return len(self.left) - 1

    def keep(self, pairs: Mask) -> tuple[Pairs, Mask]:
        """Without the other pairs and their links; and which links are left."""
        number = np.cumsum(pairs) - 1
        links = pairs[self.a] & pairs[self.b]
        kept = Pairs(
            self.left,
            self.right,
            self.doc[pairs],
            self.i[pairs],
            self.j[pairs],
            self.single[pairs],
            number[self.a[links]],
            number[self.b[links]],
            self.weight[links],
            self.kind[links],
        )
        return kept, links

    def values(self, mapping: I64) -> F64:
        """What a mapping (first variable → second variable or -1) earns in each problem."""
        chosen = mapping[self.i] == self.j
        alone = np.bincount(self.doc, self.single * chosen, self.problems)
        both = chosen[self.a] & chosen[self.b]
        return np.asarray(alone + np.bincount(self.doc[self.a], self.weight * both, self.problems), np.float64)


def condense(problems: Problems) -> Pairs:
    """Lists each variable pair once, adds up its weights, and drops what can never be earned.

    A link whose two pairs are the same pair is a single weight; one that would map a variable to two
    others (i = k but j ≠ l, or the reverse) is impossible.
    """
    width = max(int(problems.right[-1]), 1)
    possible = ((problems.qi == problems.qk) == (problems.qj == problems.ql)) & (problems.q_weight > 0)
    first = (problems.qi * width + problems.qj)[possible]
    second = (problems.qk * width + problems.ql)[possible]
    q_weight, kind = problems.q_weight[possible], problems.q_kind[possible]
    loop = first == second
    positive = problems.weight > 0
    alone = np.concatenate([(problems.i * width + problems.j)[positive], first[loop]])
    earned = np.concatenate([problems.weight[positive], q_weight[loop]])
    first, second, q_weight, kind = first[~loop], second[~loop], q_weight[~loop], kind[~loop]
    keys, number = np.unique(np.concatenate([alone, first, second]), return_inverse=True)
    n, m = len(alone), len(first)
    # Links that agree in both pairs and in kind are earned together, so they are one link with the sum of the
    # weights.
    kinds = int(kind.max()) + 1 if m else 1
    links, link = np.unique((number[n : n + m] * len(keys) + number[n + m :]) * kinds + kind, return_inverse=True)
    ends, kind = links // kinds, links % kinds
    i = keys // width
    single = np.bincount(number[:n], earned, len(keys)).astype(np.float64)
    doc = np.searchsorted(problems.left, i, "right") - 1
    return Pairs(
        problems.left,
        problems.right,
        doc,
        i,
        keys % width,
        single,
        ends // max(len(keys), 1),
        ends % max(len(keys), 1),
        np.bincount(link, q_weight, len(links)).astype(np.float64),
        kind,
    )


def common_unit(*weights: F64) -> float | None:
    """The largest of 1, 1/2, 1/3, ... of which all weights are multiples, or None: then no exact steps are
    known.

    With a unit, every achievable total is a multiple of it, so an upper bound may be rounded down to one:
    that is what turns a bound of 16.7 into the proof of 16.
    """
    every = np.concatenate(weights)
    for parts in (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 100):
        scaled = every * parts
        if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-12 * np.maximum(1.0, scaled)):
            return 1.0 / parts
    return None


# Upper bounds for latent matching by sharing out the links, and the removal of pairs that they rule out.
#
# Share each link's weight between its two pairs, w[q] = s[q, a] + s[q, b], half and half at first. Then
#
#     total  =  sum_p x_p (U[p] + the shares of the links that p earns)  <=  the best assignment on c,
#     c[p]   =  U[p] + the most that p can earn from its shares
#
# and that most is again a small matching: of all links at p that lead to variable k only one can be earned,
# likewise of those that lead to l. Either way of counting (best link for each k, or for each l, summed) is a
# bound; the smaller one is taken for each kind. For unit weights it is the minimum of two degrees:
#
#     p = (i, j)      i --ARG1--> k1, k2        2 on the first side, 3 on the second:
#                     j --ARG1--> l1, l2, l3    p earns at most 2 links of kind ARG1
#
# Three things are read off the assignment. Its mapping is a lower bound once it is evaluated. Its dual prices
# u, v give the slack u[i] + v[j] - c[p] that a pair lacks: a pair with bound - slack below the next value worth
# finding cannot be in a better solution and is dropped, with its links; fewer links give a smaller c. And where
# a pair or link has slack to spare, its shares may grow without cost, so the other ends' may shrink: a few
# rounds of that close almost all problems.


def _numbered(keys: I64) -> tuple[I64, int]:
    _, number = np.unique(keys, return_inverse=True)
    return number, int(number.max()) + 1 if len(number) else 0


@frozen
class Ends:
    """The links seen from their ends. End e < m is link e at its pair a, end m + e is link e at its pair b.

    `pair[g]` owns group g (one kind, one direction); `k_of[e]` and `l_of[e]` number the (group, other
    variable) slots of an end, on the first and on the second side; `k_group` and `l_group` say of which group
    a slot is.
    """

    at: I64
    pair: I64
    group: I64
    k_of: I64
    k_group: I64
    l_of: I64
    l_group: I64

    @staticmethod
    def of(pairs: Pairs) -> Ends:
        """Numbers the groups and slots once; shares may then change as often as one likes."""
        m = len(pairs.a)
        at = np.concatenate([pairs.a, pairs.b])
        other = np.concatenate([pairs.b, pairs.a])
        kinds = int(pairs.kind.max()) + 1 if m else 1
        side = np.zeros(2 * m, np.intp)
        side[m:] = 1
        group, groups = _numbered((at * 2 + side) * kinds + np.concatenate([pairs.kind, pairs.kind]))
        pair = np.zeros(groups, np.intp)
        pair[group] = at
        k_of, k_slots = _numbered(group * int(pairs.left[-1]) + pairs.i[other])
        l_of, l_slots = _numbered(group * int(pairs.right[-1]) + pairs.j[other])
        k_group, l_group = np.zeros(k_slots, np.intp), np.zeros(l_slots, np.intp)
        k_group[k_of] = group
        l_group[l_of] = group
        return Ends(at, pair, group, k_of, k_group, l_of, l_group)

    def earnings(self, pairs: Pairs, shares: F64) -> tuple[F64, F64, F64]:
        """The most that each pair can earn from links; each end's slack in it; the number of slots of each
        pair."""
        k_best = np.zeros(len(self.k_group))
        np.maximum.at(k_best, self.k_of, shares)
        l_best = np.zeros(len(self.l_group))
        np.maximum.at(l_best, self.l_of, shares)
        groups, n = len(self.pair), len(pairs.i)
        k_total = np.bincount(self.k_group, k_best, groups)
        l_total = np.bincount(self.l_group, l_best, groups)
        by_k = k_total <= l_total
        earned = np.bincount(self.pair, np.where(by_k, k_total, l_total), n)
        spare = np.where(by_k[self.group], k_best[self.k_of], l_best[self.l_of]) - shares
        slots = np.where(by_k, np.bincount(self.k_group, minlength=groups), np.bincount(self.l_group, minlength=groups))
        return earned.astype(np.float64), spare, np.bincount(self.pair, slots, n).astype(np.float64)


@frozen
class Assignments:
    """The best assignment of each problem asked for: its value (a bound), its mapping, and what the pairs
    lack."""

    value: F64
    mapping: I64
    tables: dict[int, tuple[F64, I64]]


def assign(pairs: Pairs, worth: F64, docs: I64) -> Assignments:
    """The best 1:1 assignment on `worth` (one figure a pair, pairs not listed are worth 0) in each problem of
    `docs`."""
    from lap import lapjv

    rows, columns = np.diff(pairs.left), np.diff(pairs.right)
    asked = np.zeros(pairs.problems, np.bool_)
    asked[docs] = True
    # Square tables: what the solver takes as it is. The padding is worth nothing, like being left unmatched.
    size = np.where(asked, np.maximum(rows, columns), 0)
    start = np.concatenate([[0], np.cumsum(size * size)])
    cost = np.zeros(int(start[-1]))
    inside = asked[pairs.doc]
    of = pairs.doc[inside]
    cell = start[of] + (pairs.i[inside] - pairs.left[of]) * size[of] + pairs.j[inside] - pairs.right[of]
    cost[cell] = -worth[inside]
    value = np.zeros(pairs.problems)
    mapping = np.full(int(pairs.left[-1]), -1, np.intp)
    tables: dict[int, tuple[F64, I64]] = {}
    for d, n, m, s, at in zip(
        docs.tolist(),
        rows[docs].tolist(),
        columns[docs].tolist(),
        size[docs].tolist(),
        start[docs].tolist(),
        strict=True,
    ):
        if not n or not m:
            continue
        table = cost[at : at + s * s].reshape(s, s)
        total, column, _ = lapjv(table)
        value[d] = -total
        tables[d] = (table, column)
        column = column[:n]
        begin = int(pairs.left[d])
        mapping[begin : begin + n] = np.where(column < m, column + pairs.right[d], -1)
    return Assignments(value, mapping, tables)


def lacking(pairs: Pairs, worth: F64, found: Assignments, docs: I64) -> tuple[F64, F64]:
    """What each pair lacks to be in an optimal assignment: u[i] + v[j] - worth, from dual prices; and each
    problem's sum of prices.

    Given an optimal assignment i → x(i), prices with u[i] = worth[i, x(i)] - v[x(i)] are dual if
    v[j] >= v[x(i)] + worth[i, j] - worth[i, x(i)] for all i, j: a longest-path problem without positive
    cycles, solved by raising v from 0 until nothing changes.
    """
    u = np.zeros(int(pairs.left[-1]))
    v = np.zeros(int(pairs.right[-1]))
    total = np.zeros(pairs.problems)
    for d in docs.tolist():
        if d not in found.tables:
            continue
        cost, column = found.tables[d]
        size = len(column)
        at = np.arange(size)
        gain = cost[at, column][:, None] - cost
        price = np.zeros(size)
        for _ in range(size + 1):
            higher = np.maximum(price, (gain + price[column][:, None]).max(0))
            if not (higher > price + 1e-12).any():
                break
            price = higher
        left, right = int(pairs.left[d]), int(pairs.right[d])
        n, m = int(pairs.left[d + 1]) - left, int(pairs.right[d + 1]) - right
        # The smallest u that these prices allow: valid whatever rounding did to them.
        of_row = (-cost - price[None, :]).max(1)
        total[d] = of_row.sum() + price.sum()
        u[left : left + n] = of_row[:n]
        v[right : right + m] = price[:m]
    return u[pairs.i] + v[pairs.j] - worth, total


def shift(shares: F64, spare: F64, slots: F64, lack: F64, ends: Ends) -> F64:
    """Moves each link's weight towards the end that has more slack, which costs nothing there and saves at
    the other."""
    m = len(shares) // 2
    slack = spare + np.maximum(lack[ends.at], 0.0) / np.maximum(slots[ends.at], 1)
    step = (slack[:m] - slack[m:]) / 2
    return np.concatenate([shares[:m] + step, shares[m:] - step])


def halves(pairs: Pairs) -> F64:
    """The first sharing: half of each link to either end."""
    return np.concatenate([pairs.weight, pairs.weight]) / 2


def of_links(links: Mask, shares: F64) -> F64:
    """The shares of the links that were kept."""
    return np.asarray(shares[np.concatenate([links, links])], np.float64)


# Latent matching as a linear programme with aggregated links, and as an integer programme when that is not
# enough.
#
# Each link q gets a variable y_q that stands for x_a x_b. The obvious rows, y_q <= x_a and y_q <= x_b (eq. 41),
# make a weak relaxation: x = 1/2 everywhere earns half of everything. Aggregated rows are much stronger. If p
# is chosen, then of all links from p to pairs of one variable k only one is earned, since k has one partner;
# likewise for each l:
#
#     sum of y_q over links q = (p, (k, .))  <=  x_p        for each p and k
#     sum of y_q over links q = (p, (., l))  <=  x_p        for each p and l
#
# A row with a single link on one side is implied by the other side's row that holds the same link, and is left
# out.


def merged_links(pairs: Pairs) -> tuple[I64, I64, F64]:
    """Each pair of pairs once, with the sum of its links' weights."""
    n = max(len(pairs.i), 1)
    key = np.minimum(pairs.a, pairs.b) * n + np.maximum(pairs.a, pairs.b)
    keys, number = np.unique(key, return_inverse=True)
    return keys // n, keys % n, np.bincount(number, pairs.weight, len(keys)).astype(np.float64)


def programme(pairs: Pairs) -> tuple[F64, Rows]:
    """Gains and rows of one or several problems: first the pairs' variables x, then the merged links' y."""
    a, b, weight = merged_links(pairs)
    n, m = len(pairs.i), len(a)
    row_parts: list[I64] = []
    column_parts: list[I64] = []
    value_parts: list[F64] = []
    limits: list[F64] = []
    rows = 0
    for ends in (pairs.i, pairs.j):  # eq. 42: each variable has one partner at most
        _, number, count = np.unique(ends, return_inverse=True, return_counts=True)
        shared = count > 1
        inside = shared[number]
        row_parts.append((np.cumsum(shared) - 1)[number[inside]] + rows)
        column_parts.append(np.flatnonzero(inside))
        value_parts.append(np.ones(int(inside.sum())))
        limits.append(np.ones(int(shared.sum())))
        rows += int(shared.sum())
    at, other = np.concatenate([a, b]), np.concatenate([b, a])
    link = np.concatenate([np.arange(m), np.arange(m)]) + n
    k_row, k_count = _counted(at, pairs.i[other])
    l_row, l_count = _counted(at, pairs.j[other])
    for row, count, needed in (
        (k_row, k_count, (k_count[k_row] > 1) | (l_count[l_row] == 1)),
        (l_row, l_count, l_count[l_row] > 1),
    ):
        used = np.zeros(len(count), np.bool_)
        used[row[needed]] = True
        number = np.cumsum(used) - 1
        total = int(used.sum())
        owner = np.zeros(len(count), np.intp)
        owner[row] = at
        members = np.flatnonzero(used[row])
        row_parts += [number[row[members]] + rows, np.arange(total) + rows]
        column_parts += [link[members], owner[used]]
        value_parts += [np.ones(len(members)), -np.ones(total)]
        limits.append(np.zeros(total))
        rows += total
    matrix = Rows.of(
        np.concatenate(row_parts),
        np.concatenate(column_parts),
        np.concatenate(value_parts),
        np.concatenate(limits),
    )
    return np.concatenate([pairs.single, weight]), matrix


def _counted(at: I64, variable: I64) -> tuple[I64, I64]:
    width = int(variable.max()) + 1 if len(variable) else 1
    _, number, count = np.unique(at * width + variable, return_inverse=True, return_counts=True)
    return number, count


def start_values(pairs: Pairs, mapping: I64) -> F64:
    """A known mapping as values of the programme's variables."""
    a, b, _ = merged_links(pairs)
    chosen = mapping[pairs.i] == pairs.j
    return np.concatenate([chosen, chosen[a] & chosen[b]]).astype(np.float64)


def relax(solver: Programs, pairs: Pairs, *, seconds: float | None) -> tuple[F64, F64, F64] | None:
    """The LP's values of the pairs, its upper bound for each problem, and what each pair lacks; None if time
    ran out.

    Several problems in one LP do not touch each other, so the bound of `program` falls apart into theirs.
    """
    gain, rows = programme(pairs)
    found = solver.relaxed(gain, rows, seconds=seconds)
    if found is None:
        return None
    a, _, _ = merged_links(pairs)
    of_column = np.concatenate([pairs.doc, pairs.doc[a]])
    of_row = of_column[rows.index[rows.start[:-1]]]
    positive = np.maximum(found.reduced, 0.0)
    of_rows = np.bincount(of_row, found.prices * rows.limit, pairs.problems)
    upper = (of_rows + np.bincount(of_column, positive, pairs.problems)).astype(np.float64)
    n = len(pairs.i)
    return found.values[:n], upper, (positive - found.reduced)[:n]


# Problems whose links are too many to be listed in time: thousands of facts that may each be any other one.
#
# For them one map is made straight from the facts, and only what it makes equal is listed. Variables are coloured by their facts,
# then by their neighbours' colours, and so on; those with a rare colour in common are mapped first, and from there on along the
# facts. Nothing earns more than the facts of each key that both sides have.

LISTED_A_SECOND = 500_000
"""So many single weights and links can be listed, put in order and bounded once for each second of a limit."""
_ALWAYS_LISTED = 10_000
_COLOURINGS = 4


def hopeless(count: F64 | I64, limit: float | None, most: float = np.inf) -> Mask:
    """In which problems so many weights and links (`count`) cannot be listed within the limit, or at all."""
    if limit is None:
        return np.asarray(count > most)
    return np.asarray(count > min(most, max(_ALWAYS_LISTED, LISTED_A_SECOND * limit)))


@frozen
class Claims:
    """The facts of one side: fact f has `key[f]` (which says its problem too) and the variables `at[f]`, -1 where it has none."""

    key: I64
    at: I64

    def colours(self, variables: int) -> list[Any]:
        """Of each variable, coarse to fine: variables whose facts are alike have one colour, on either side."""
        found = [np.zeros(variables, np.uint64)]
        places = range(self.at.shape[1])
        for _ in range(_COLOURINGS):
            before, now = found[-1], _mixed(found[-1])
            for place in places:
                inside = self.at[:, place] >= 0
                seen = _mixed(self.key.astype(np.uint64) * np.uint64(8) + np.uint64(place))
                for other in places:
                    beside = self.at[:, other]
                    colour = np.where(beside >= 0, before[beside], np.uint64(7)) + np.uint64(other)
                    seen = _mixed(seen ^ _mixed(colour)) if other != place else seen
                np.add.at(now, self.at[inside, place], seen[inside])
            found.append(now)
        return found

    def neighbours(self) -> dict[int, dict[tuple[int, int, int], list[int]]]:
        """For each variable, by key and places, the other variables of its facts."""
        found: dict[int, dict[tuple[int, int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
        for key, row in zip(self.key.tolist(), self.at.tolist(), strict=True):
            for a, one in enumerate(row):
                for b, other in enumerate(row):
                    if a != b and one >= 0 and other >= 0:
                        found[one][key, a, b].append(other)
        return found


def _mixed(numbers: Any) -> Any:
    """Numbers that look drawn at random, equal ones for equal ones."""
    with np.errstate(over="ignore"):
        numbers = (numbers + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(32))


def outlined(left: Claims, right: Claims, variables: tuple[I64, I64], deadline: float | None) -> I64:
    """A partner for each of the first side's variables or -1, made from the facts without listing pairs of them; `variables` are the
    problems of each side's variables."""
    shades = [side.colours(len(of)) for side, of in zip((left, right), variables, strict=True)]
    mapping, taken = np.full(len(variables[0]), -1, np.intp), np.zeros(len(variables[1]), np.bool_)
    ours, theirs = left.neighbours(), right.neighbours()
    fine = [side[-1].tolist() for side in shades]
    for level in range(_COLOURINGS, -1, -1):
        free, open_ = np.flatnonzero(mapping < 0), np.flatnonzero(~taken)
        for pair in _of_one_colour(free, open_, shades[0][level][free], shades[1][level][open_], variables):
            todo = [pair]
            while todo:
                i, j = todo.pop()
                if mapping[i] >= 0 or taken[j]:
                    continue
                mapping[i], taken[j] = j, True
                if deadline is not None and time.monotonic() > deadline:
                    return mapping
                for place in ours[i].keys() & theirs[j].keys():
                    one = sorted((fine[0][k], k) for k in ours[i][place] if mapping[k] < 0)
                    other = sorted((fine[1][k], k) for k in theirs[j][place] if not taken[k])
                    todo += _paired(one, other)
    return mapping


def _paired(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Variables of equal colours first, for what is last is taken up first; the others as they come."""
    waiting = defaultdict(list)
    for colour, k in reversed(other):
        waiting[colour].append(k)
    alike = [(i, waiting[colour].pop()) for colour, i in one if waiting.get(colour)]
    used_left, used_right = {i for i, _ in alike}, {j for _, j in alike}
    rest = [i for _, i in one if i not in used_left], [j for _, j in other if j not in used_right]
    return [*zip(*rest, strict=False), *alike]


def _of_one_colour(left: I64, right: I64, shade: Any, other: Any, variables: tuple[I64, I64]) -> list[tuple[int, int]]:
    """Variables of one problem and colour, in order, those of rare colours first."""
    colours, number = np.unique(np.concatenate([shade, other]), return_inverse=True)
    number = np.concatenate([variables[0][left], variables[1][right]]) * len(colours) + number.reshape(-1)
    _, number, count = np.unique(number, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    ranked = []
    for part in (number[: len(left)], number[len(left) :]):
        order = np.argsort(part, kind="stable")
        rank = np.empty(len(part), np.intp)
        rank[order] = np.arange(len(part)) - np.searchsorted(part[order], part[order])
        ranked.append(part * (len(number) + 1) + rank)
    _, a, b = np.intersect1d(ranked[0], ranked[1], assume_unique=True, return_indices=True)
    order = np.argsort(count[number[: len(left)][a]], kind="stable")
    return [(int(i), int(j)) for i, j in zip(left[a[order]], right[b[order]], strict=True)]


def in_common(left: I64, right: I64, many: tuple[F64, F64], bound: int) -> F64:
    """For each key below `bound` the most that the facts of both sides can earn together; `many` says how much each may earn."""
    ours, theirs = (np.bincount(key, count, bound) for key, count in zip((left, right), many, strict=True))
    return np.minimum(ours, theirs).astype(np.float64)
