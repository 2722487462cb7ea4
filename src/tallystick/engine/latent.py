"""Eq. 36: matching with latent variables, solved to the proven optimum.

    Σ(P, R)  =  max over 1:1 maps of the variables  of  the total weight of what the map makes equal

(see `latent_pairs` for the problem in terms of variable pairs). Four stages, each of them only for the
problems which the stages before have left open, and each on what is left of them:

    1  bounds       an assignment on shared-out weights: an upper bound and a mapping      latent_bounds
    2  moves        the mapping, improved: a lower bound                                   latent_moves
       ... repeated a few times with pairs dropped and shares shifted: about 9 of 10 problems of a corpus end
       here
    3  programme    one LP with aggregated links, its prices checked by arithmetic         latent_program
    4  search       an integer programme on the pairs that the LP's prices leave possible

A problem is proven when no value lies between its bounds. If all weights are multiples of a unit (1 for
counted triples), that is exact: the upper bound is rounded down to the unit. Otherwise proven means that the
bounds are within `EPSILON` of each other, relative to the larger of 1 and the optimum. A time limit that
strikes leaves valid bounds and `optimal=False`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.engine.latent_bounds import (
    Ends,
    assign,
    halves,
    lacking,
    of_links,
    programme,
    relax,
    shift,
    start_values,
)
from tallystick.engine.latent_pairs import Bools, Floats, Ints, Pairs, Problems, common_unit, condense
from tallystick.engine.program import Programs, seconds_left

EPSILON = 1e-7
"""How close the bounds must be where the weights have no common unit."""

_NOISE = 1e-6  # more than rounding can do to a sum of doubles, much less than a unit
_ROUNDS = 4
_BATCH = 400  # pairs in one LP
_LP_SPEED = 50_000  # variables for each second of the limit, above which an LP is hopeless
_SEARCH_SPEED = 5_000  # the same for a search without an LP's bounds: HiGHS looks at the clock too rarely at its start


@dataclass(frozen=True)
class Solution:
    """`mapping[i]` is the partner of variable i or -1; it earns `lower`; nothing earns more than `upper`."""

    lower: float
    upper: float
    optimal: bool
    mapping: Ints


@dataclass(frozen=True)
class Solutions:
    """The same for many problems: arrays with an entry for each problem, and `mapping` over all variables.

    `seconds` is the time that each problem took; stages that all share count in equal parts.
    """

    lower: Floats
    upper: Floats
    optimal: Bools
    mapping: Ints
    seconds: Floats


def solve(
    n_left: int,
    n_right: int,
    single: tuple[Any, Any, Any],
    double: tuple[Any, Any, Any, Any, Any],
    *,
    kind: Any = None,
    limit: float | None = None,
) -> Solution:
    """One problem: `single` is (i, j, w), `double` is (i, j, k, l, w), earned if i→j and k→l both.

    `limit` in seconds: the answer comes within twice of it, proven or not.
    """
    found = solve_all(Problems.of([0, n_left], [0, n_right], single, double, kind), limit=limit)
    return Solution(float(found.lower[0]), float(found.upper[0]), bool(found.optimal[0]), found.mapping)


def solve_all(problems: Problems, *, limit: float | None = None) -> Solutions:
    """All problems; `limit` is in seconds for each of them."""
    return _Search(problems, limit).run()


class _Search:
    """The bounds and best mappings known so far, and the stages that close them."""

    def __init__(self, problems: Problems, limit: float | None) -> None:
        self.limit = limit
        self.all = condense(problems)
        self.unit = common_unit(self.all.single, self.all.weight)
        n = self.all.problems
        self.lower = np.zeros(n)
        self.upper = np.full(n, np.inf)
        self.mapping = np.full(int(problems.left[-1]), -1, np.intp)
        self.seconds = np.zeros(n)
        self.relaxed = np.zeros(n, np.bool_)  # whose LP was solved

    def run(self) -> Solutions:
        """All stages."""
        begin = time.monotonic()
        self.upper[np.bincount(self.all.doc, minlength=self.all.problems) == 0] = 0.0
        # The shared stages may take every problem's limit together; a search gets what its own problem has left
        # of its limit.
        shared = None if self.limit is None else begin + self.limit * max(1, self.all.problems)
        rest = self._bound(shared)
        self.seconds += (time.monotonic() - begin) / max(1, self.all.problems)
        if self._open(self.upper, self.lower).any():
            self.solver = Programs()
            rest = self._relax(rest, shared)
        for d in np.flatnonzero(self._open(self.upper, self.lower)).tolist():
            started = time.monotonic()
            own = None if self.limit is None else started + self.limit - float(self.seconds[d])
            deadline = shared if self.all.problems == 1 else own
            self._search(rest, d, deadline)
            self.seconds[d] += time.monotonic() - started
        self.upper = np.maximum(self._rounded(self.upper), self.lower)
        return Solutions(self.lower, self.upper, ~self._open(self.upper, self.lower), self.mapping, self.seconds)

    # What counts as closed.

    def _rounded(self, bound: Floats) -> Floats:
        """An upper bound rounded down to the next value that a mapping can have."""
        if self.unit is None:
            return bound
        return np.floor((bound + _NOISE * self.unit) / self.unit + 1e-9) * self.unit

    def _open(self, upper: Floats, lower: Floats) -> Bools:
        """Where a better mapping is still possible."""
        if self.unit is None:
            return np.asarray(upper > lower + EPSILON * np.maximum(1.0, lower))
        return np.asarray(self._rounded(upper) > lower + self.unit / 2)

    def _adopt(self, mapping: Ints, docs: Ints) -> None:
        """Takes over the mapping in those problems of `docs` where it is better than the best known."""
        value = self.all.values(mapping)[docs]
        better = docs[value > self.lower[docs] + 1e-12]
        if len(better):
            self.lower[better] = value[value > self.lower[docs] + 1e-12]
            counts = np.diff(self.all.left)
            chosen = np.zeros(self.all.problems, np.bool_)
            chosen[better] = True
            variables = np.repeat(chosen, counts)
            self.mapping[variables] = mapping[variables]

    # Stages 1 and 2.

    def _bound(self, deadline: float | None) -> Pairs:
        """Rounds of bounds, moves, dropping and shifting; what is left of the problems that are still
        open."""
        pairs = self.all
        docs = np.flatnonzero(np.isinf(self.upper))
        shares = halves(pairs)
        longest, now = 0.0, time.monotonic()
        for _ in range(_ROUNDS):
            # Another round only if it can be over by the deadline, as far as the rounds before tell.
            if not len(docs) or (deadline is not None and now + longest > deadline):
                break
            ends = Ends.of(pairs)
            earned, spare, slots = ends.earnings(pairs, shares)
            worth = pairs.single + earned
            found = assign(pairs, worth, docs)
            # Moves are never finished for sure: they get a third of the time that is left.
            pause = None if deadline is None else time.monotonic() + max(0.0, deadline - time.monotonic()) / 3
            self._adopt(improve(self.all, found.mapping, docs, deadline=pause), docs)
            self.upper[docs] = np.minimum(self.upper[docs], found.value[docs])
            docs = docs[self._open(self.upper[docs], self.lower[docs])]
            lack, total = lacking(pairs, worth, found, docs)
            open_ = np.zeros(pairs.problems, np.bool_)
            open_[docs] = True
            possible = open_[pairs.doc] & self._open(total[pairs.doc] - lack, self.lower[pairs.doc])
            shares = shift(shares, spare, slots, lack, ends)
            pairs, links = pairs.keep(possible)
            shares = of_links(links, shares)
            # A better mapping uses only the pairs that are left: a problem without any has none.
            left = np.bincount(pairs.doc, minlength=pairs.problems)
            self.upper[docs[left[docs] == 0]] = self.lower[docs[left[docs] == 0]]
            docs = docs[left[docs] > 0]
            longest, now = max(longest, time.monotonic() - now), time.monotonic()
        return pairs

    # Stages 3 and 4.

    def _relax(self, rest: Pairs, deadline: float | None) -> Pairs:
        """LPs, several small problems in one, since a solver's start costs more than they do; what they leave
        possible."""
        docs = np.flatnonzero(self._open(self.upper, self.lower))
        size = np.bincount(rest.doc, minlength=rest.problems)[docs]
        batch = np.cumsum(size) // _BATCH if len(docs) > 1 else np.zeros(len(docs), np.intp)
        possible = np.ones(len(rest.i), np.bool_)
        values = np.zeros(len(rest.i))
        bound = np.full(len(rest.i), np.inf)
        for number in np.unique(batch).tolist():
            inside = np.zeros(rest.problems, np.bool_)
            inside[docs[batch == number]] = True
            here = inside[rest.doc]
            pairs, _ = rest.keep(here)
            started = time.monotonic()
            left = seconds_left(deadline)
            if left is not None and self.limit is not None:  # not the others' time
                left = min(left, self.limit * int(inside.sum()))
            if left is not None and len(pairs.i) + len(pairs.a) > _LP_SPEED * left:
                continue
            answer = relax(self.solver, pairs, seconds=left)
            self.seconds[inside] += (time.monotonic() - started) / max(1, int(inside.sum()))
            if answer is None:
                continue
            self.relaxed[inside] = True
            values[here], upper, lack = answer
            bound[here] = upper[pairs.doc] - lack
            # Mappings that beat the best known use only these pairs, so the bound holds against the best
            # known.
            self.upper[inside] = np.minimum(self.upper[inside], np.maximum(upper[inside], self.lower[inside]))
        docs = docs[self._open(self.upper[docs], self.lower[docs])]
        answered = np.zeros(rest.problems, np.bool_)
        answered[rest.doc[np.isfinite(bound)]] = True
        docs = docs[answered[docs]]
        if len(docs):
            rounded = assign(rest, values, docs).mapping
            self._adopt(improve(self.all, rounded, docs, deadline=deadline), docs)
            possible = self._open(bound, self.lower[rest.doc])
        return rest.keep(possible)[0]

    def _search(self, rest: Pairs, d: int, deadline: float | None) -> None:
        """The integer programme of one problem."""
        pairs, _ = rest.keep(rest.doc == d)
        left = seconds_left(deadline)
        speed = _LP_SPEED if self.relaxed[d] else _SEARCH_SPEED
        if not len(pairs.i):
            self.upper[d] = self.lower[d]
        elif left is None or len(pairs.i) + len(pairs.a) <= speed * left:
            gain, rows = programme(pairs)
            gap = EPSILON / 2 if self.unit is None else self.unit * (1 - 1e-3)
            seconds = None if left is None else 0.75 * left  # HiGHS overruns its time by half a second and more
            found = self.solver.whole(gain, rows, gap=gap, start=start_values(pairs, self.mapping), seconds=seconds)
            if found.values is not None:
                chosen = np.flatnonzero(found.values[: len(pairs.i)] > 0.5)
                mapping = np.full(len(self.mapping), -1, np.intp)
                mapping[pairs.i[chosen]] = pairs.j[chosen]
                self._adopt(mapping, np.array([d]))
            self.upper[d] = min(self.upper[d], max(found.upper, self.lower[d]))


# Local improvement of a mapping, in all problems at once.
#
# A move takes in a pair p = (i, j). Whatever i and j were matched to, p1 = (i, j') and p2 = (i', j), has to go,
# and the two variables left over may be matched to each other if r = (i', j') is a pair that earns anything (a
# swap):
#
#     i -- j'          i    j'
#               ==>      \ /          gain = g[p] + g[r] + w(p, r) - g[p1] - g[p2] + w(p1, p2)
#     i'-- j             / \
#                      i'   j
#
# where g[p] is what p earns beside the chosen pairs. Each round makes the best move of each problem; rounds end
# when no move gains. One round is a dozen array operations for the whole corpus.


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
