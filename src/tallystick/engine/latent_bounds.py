"""Upper bounds for latent matching by sharing out the links, and the removal of pairs that they rule out.

Share each link's weight between its two pairs, w[q] = s[q, a] + s[q, b], half and half at first. Then

    total  =  sum_p x_p (U[p] + the shares of the links that p earns)  <=  the best assignment on c,
    c[p]   =  U[p] + the most that p can earn from its shares

and that most is again a small matching: of all links at p that lead to variable k only one can be earned,
likewise of those that lead to l. Either way of counting (best link for each k, or for each l, summed) is a
bound; the smaller one is taken for each kind. For unit weights it is the minimum of two degrees:

    p = (i, j)      i --ARG1--> k1, k2        2 on the first side, 3 on the second:
                    j --ARG1--> l1, l2, l3    p earns at most 2 links of kind ARG1

Three things are read off the assignment. Its mapping is a lower bound once it is evaluated. Its dual prices
u, v give the slack u[i] + v[j] - c[p] that a pair lacks: a pair with bound - slack below the next value worth
finding cannot be in a better solution and is dropped, with its links; fewer links give a smaller c. And where
a pair or link has slack to spare, its shares may grow without cost, so the other ends' may shrink: a few
rounds of that close almost all problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.engine.latent_pairs import Bools, Floats, Ints, Pairs
from tallystick.engine.program import Programs, Rows


def _numbered(keys: Ints) -> tuple[Ints, int]:
    _, number = np.unique(keys, return_inverse=True)
    return number, int(number.max()) + 1 if len(number) else 0


@dataclass(frozen=True)
class Ends:
    """The links seen from their ends. End e < m is link e at its pair a, end m + e is link e at its pair b.

    `pair[g]` owns group g (one kind, one direction); `k_of[e]` and `l_of[e]` number the (group, other
    variable) slots of an end, on the first and on the second side; `k_group` and `l_group` say of which group
    a slot is.
    """

    at: Ints
    pair: Ints
    group: Ints
    k_of: Ints
    k_group: Ints
    l_of: Ints
    l_group: Ints

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

    def earnings(self, pairs: Pairs, shares: Floats) -> tuple[Floats, Floats, Floats]:
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


@dataclass(frozen=True)
class Assignments:
    """The best assignment of each problem asked for: its value (a bound), its mapping, and what the pairs
    lack."""

    value: Floats
    mapping: Ints
    tables: dict[int, tuple[Floats, Ints]]


def assign(pairs: Pairs, worth: Floats, docs: Ints) -> Assignments:
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
    tables: dict[int, tuple[Floats, Ints]] = {}
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


def lacking(pairs: Pairs, worth: Floats, found: Assignments, docs: Ints) -> tuple[Floats, Floats]:
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


def shift(shares: Floats, spare: Floats, slots: Floats, lack: Floats, ends: Ends) -> Floats:
    """Moves each link's weight towards the end that has more slack, which costs nothing there and saves at
    the other."""
    m = len(shares) // 2
    slack = spare + np.maximum(lack[ends.at], 0.0) / np.maximum(slots[ends.at], 1)
    step = (slack[:m] - slack[m:]) / 2
    return np.concatenate([shares[:m] + step, shares[m:] - step])


def halves(pairs: Pairs) -> Floats:
    """The first sharing: half of each link to either end."""
    return np.concatenate([pairs.weight, pairs.weight]) / 2


def of_links(links: Bools, shares: Floats) -> Floats:
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


def merged_links(pairs: Pairs) -> tuple[Ints, Ints, Floats]:
    """Each pair of pairs once, with the sum of its links' weights."""
    n = max(len(pairs.i), 1)
    key = np.minimum(pairs.a, pairs.b) * n + np.maximum(pairs.a, pairs.b)
    keys, number = np.unique(key, return_inverse=True)
    return keys // n, keys % n, np.bincount(number, pairs.weight, len(keys)).astype(np.float64)


def programme(pairs: Pairs) -> tuple[Floats, Rows]:
    """Gains and rows of one or several problems: first the pairs' variables x, then the merged links' y."""
    a, b, weight = merged_links(pairs)
    n, m = len(pairs.i), len(a)
    row_parts: list[Ints] = []
    column_parts: list[Ints] = []
    value_parts: list[Floats] = []
    limits: list[Floats] = []
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


def _counted(at: Ints, variable: Ints) -> tuple[Ints, Ints]:
    width = int(variable.max()) + 1 if len(variable) else 1
    _, number, count = np.unique(at * width + variable, return_inverse=True, return_counts=True)
    return number, count


def start_values(pairs: Pairs, mapping: Ints) -> Floats:
    """A known mapping as values of the programme's variables."""
    a, b, _ = merged_links(pairs)
    chosen = mapping[pairs.i] == pairs.j
    return np.concatenate([chosen, chosen[a] & chosen[b]]).astype(np.float64)


def relax(solver: Programs, pairs: Pairs, *, seconds: float | None) -> tuple[Floats, Floats, Floats] | None:
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
