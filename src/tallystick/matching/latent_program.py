"""Latent matching as a linear programme with aggregated links, and as an integer programme when that is not
enough.

Each link q gets a variable y_q that stands for x_a x_b. The obvious rows, y_q <= x_a and y_q <= x_b (eq. 41),
make a weak relaxation: x = 1/2 everywhere earns half of everything. Aggregated rows are much stronger. If p
is chosen, then of all links from p to pairs of one variable k only one is earned, since k has one partner;
likewise for each l:

    sum of y_q over links q = (p, (k, .))  <=  x_p        for each p and k
    sum of y_q over links q = (p, (., l))  <=  x_p        for each p and l

A row with a single link on one side is implied by the other side's row that holds the same link, and is left
out.
"""

from __future__ import annotations

import numpy as np

from tallystick.matching.latent_pairs import Floats, Ints, Pairs
from tallystick.matching.program import Programs, Rows


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
