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

from tallystick.matching.latent_pairs import Bools, Floats, Ints, Pairs


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
