"""Local improvement of a mapping, in all problems at once.

A move takes in a pair p = (i, j). Whatever i and j were matched to, p1 = (i, j') and p2 = (i', j), has to go,
and the two variables left over may be matched to each other if r = (i', j') is a pair that earns anything (a
swap):

    i -- j'          i    j'
              ==>      \\ /          gain = g[p] + g[r] + w(p, r) - g[p1] - g[p2] + w(p1, p2)
    i'-- j             / \\
                     i'   j

where g[p] is what p earns beside the chosen pairs. Each round makes the best move of each problem; rounds end
when no move gains. One round is a dozen array operations for the whole corpus.
"""

from __future__ import annotations

import time

import numpy as np

from tallystick.matching.latent_pairs import Floats, Ints, Pairs


def improve(pairs: Pairs, mapping: Ints, docs: Ints, *, deadline: float | None = None) -> Ints:
    """The mapping after the best moves in the problems of `docs`; never worse."""
    n, width = len(pairs.i), max(int(pairs.right[-1]), 1)
    if not n:
        return mapping
    keys = pairs.i * width + pairs.j
    between = _Links(pairs)
    chosen = mapping[pairs.i] == pairs.j
    of_i = np.full(int(pairs.left[-1]) + 1, -1, np.intp)
    of_j = np.full(width + 1, -1, np.intp)
    at = np.flatnonzero(chosen)
    of_i[pairs.i[at]] = at
    of_j[pairs.j[at]] = at
    wanted = np.zeros(pairs.problems, np.bool_)
    wanted[docs] = True
    active = np.flatnonzero(wanted[pairs.doc])
    while len(active) and (deadline is None or time.monotonic() < deadline):
        earns = np.append(
            pairs.single
            + np.bincount(pairs.a, pairs.weight * chosen[pairs.b], n)
            + np.bincount(pairs.b, pairs.weight * chosen[pairs.a], n),
            0.0,  # what the absent pair -1 earns
        )
        out1, out2 = of_i[pairs.i[active]], of_j[pairs.j[active]]
        swap = (out1 >= 0) & (out2 >= 0) & ~chosen[active]
        key = np.where(swap, pairs.i[out2] * width + pairs.j[out1], -1)
        place = np.minimum(np.searchsorted(keys, key), n - 1)
        back = np.where(keys[place] == key, place, -1)
        gain = earns[active] + earns[back] - earns[out1] - earns[out2]
        both = np.flatnonzero(swap)
        gain[both] += between(out1[both], out2[both]) + between(active[both], back[both])
        gain[chosen[active]] = 0.0
        doc = pairs.doc[active]
        begins = np.flatnonzero(np.concatenate([[True], doc[1:] != doc[:-1]]))
        best = np.repeat(np.maximum.reduceat(gain, begins), np.diff(np.append(begins, len(doc))))
        moves = np.flatnonzero((gain == best) & (gain > 1e-9))
        if not len(moves):
            break
        moves = moves[np.unique(doc[moves], return_index=True)[1]]
        for old in (out1[moves], out2[moves]):
            gone = old[old >= 0]
            chosen[gone] = False
            of_i[pairs.i[gone]] = -1
            of_j[pairs.j[gone]] = -1
        returned = back[moves]
        new = np.concatenate([active[moves], returned[returned >= 0]])
        chosen[new] = True
        of_i[pairs.i[new]] = new
        of_j[pairs.j[new]] = new
        moved = np.zeros(pairs.problems, np.bool_)
        moved[doc[moves]] = True
        active = active[moved[doc]]
    improved = np.full(len(mapping), -1, np.intp)
    at = np.flatnonzero(chosen)
    improved[pairs.i[at]] = pairs.j[at]
    return improved


class _Links:
    """The weight between two pairs, 0 where there is none (or where one of them is the absent pair -1)."""

    def __init__(self, pairs: Pairs) -> None:
        self.n = max(len(pairs.i), 1)
        key = np.minimum(pairs.a, pairs.b) * self.n + np.maximum(pairs.a, pairs.b)
        self.keys, number = np.unique(key, return_inverse=True)
        self.weight = np.bincount(number, pairs.weight, len(self.keys))

    def __call__(self, p: Ints, q: Ints) -> Floats:
        if not len(self.keys):
            return np.zeros(len(p))
        key = np.where((p >= 0) & (q >= 0), np.minimum(p, q) * self.n + np.maximum(p, q), -1)
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[place] == key, self.weight[place], 0.0)
