"""Eq. 36: matching with latent variables, solved to the proven optimum.

    Σ(P, R)  =  max over 1:1 maps of the variables  of  the total weight of what the map makes equal

(see `latent_pairs` for the problem in terms of variable pairs). Four stages, each of them only for the
problems which the stages before have left open, and each on what is left of them:

    1  bounds       an assignment on shared-out weights: an upper bound and a mapping      latent_pairs
    2  moves        the mapping, improved: a lower bound                                   `improve`
       ... repeated a few times with pairs dropped and shares shifted: about 9 of 10 problems of a corpus end
       here
    3  programme    one LP with aggregated links, its prices checked by arithmetic         latent_pairs
    4  search       an integer programme on the pairs that the LP's prices leave possible

A problem is proven when no value lies between its bounds. If all weights are multiples of a unit (1 for
counted triples), that is exact: the upper bound is rounded down to the unit. Otherwise proven means that the
bounds are within `EPSILON` of each other, relative to the larger of 1 and the optimum. A time limit that
strikes leaves valid bounds and `optimal=False`.
"""

from __future__ import annotations

import time
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask, Members, distinct
from tallystick.engine.arrays import number as renumber
from tallystick.engine.latent_pairs import (
    Ends,
    Pairs,
    Problems,
    assign,
    common_unit,
    condense,
    halves,
    lacking,
    of_links,
    programme,
    relax,
    shift,
    start_values,
)
from tallystick.engine.program import PrimalDual, Programs, Rows, seconds_left
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen

EPSILON = 1e-7
"""How close the bounds must be where the weights have no common unit."""

_NOISE = 1e-6  # more than rounding can do to a sum of doubles, much less than a unit
_ROUNDS = 4
_BATCH = 400  # pairs in one LP
_GROWN = 500  # pairs of a problem for which a mapping is grown first
_LARGE = 3_000  # pairs and links of a problem whose LP is solved by first-order steps
_SEARCHES = 16  # made by branching, up to which a best mapping is searched for among the pairs that an LP uses
_BLOCKS, _PROGRESS, _WORTH_DROPPING, _USED = 5, 0.03, 0.8, 0.02
_SEARCHED = 5_000  # pairs and links that are left to search
_LP_SPEED = 50_000  # variables for each second of the limit, above which an LP is hopeless
_SEARCH_SPEED = 5_000  # the same for a search without an LP's bounds: HiGHS looks at the clock too rarely at its start


@frozen
class Solution:
    """`mapping[i]` is the partner of variable i or -1; it earns `lower`; nothing earns more than `upper`."""

    lower: float
    upper: float
    optimal: bool
    mapping: I64


@frozen
class Solutions:
    """The same for many problems: arrays with an entry for each problem, and `mapping` over all variables.

    `seconds` is the time that each problem took; stages that all share count in equal parts.
    """

    lower: F64
    upper: F64
    optimal: Mask
    mapping: I64
    seconds: F64


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
        self.began, self.limit = time.monotonic(), limit
        self.all = condense(problems)
        self.unit = common_unit(self.all.single, self.all.weight)
        n = self.all.problems
        self.lower = np.zeros(n)
        self.upper = np.full(n, np.inf)
        self.mapping = np.full(int(problems.left[-1]), -1, np.intp)
        self.seconds = np.zeros(n)
        self.relaxed = np.zeros(n, np.bool_)  # whose LP was solved
        self._solver: Programs | None = None

    def run(self) -> Solutions:
        """All stages."""
        begin = self.began
        self.upper[np.bincount(self.all.doc, minlength=self.all.problems) == 0] = 0.0
        # The shared stages may take every problem's limit together; a search gets what its own problem has left
        # of its limit.
        shared = None if self.limit is None else begin + self.limit * max(1, self.all.problems)
        rest = self._bound(shared)
        self.seconds += (time.monotonic() - begin) / max(1, self.all.problems)
        if self._open(self.upper, self.lower).any():
            rest = self._relax(rest, shared)
        for d in np.flatnonzero(self._open(self.upper, self.lower)).tolist():
            started = time.monotonic()
            own = None if self.limit is None else started + self.limit - float(self.seconds[d])
            deadline = shared if self.all.problems == 1 else own
            self.upper[d] = min(self.upper[d], self._search(rest, d, deadline))
            self.seconds[d] += time.monotonic() - started
        self.upper = np.maximum(
            self._rounded(np.where(np.isinf(self.upper), self._everything(), self.upper)), self.lower
        )
        return Solutions(self.lower, self.upper, ~self._open(self.upper, self.lower), self.mapping, self.seconds)

    def _everything(self) -> F64:
        """All that a problem holds: no mapping is worth more. It is the bound where the time was over before there was another."""
        held, n = self.all, self.all.problems
        links = np.bincount(held.doc[held.a], np.maximum(held.weight, 0), n)
        return np.asarray(np.bincount(held.doc, np.maximum(held.single, 0), n) + links, np.float64)

    # What counts as closed.

    def _rounded(self, bound: F64) -> F64:
        """An upper bound rounded down to the next value that a mapping can have."""
        if self.unit is None:
            return bound
        return np.floor((bound + _NOISE * self.unit) / self.unit + 1e-9) * self.unit

    def _open(self, upper: F64, lower: F64) -> Mask:
        """Where a better mapping is still possible."""
        if self.unit is None:
            return np.asarray(upper > lower + EPSILON * np.maximum(1.0, lower))
        return np.asarray(self._rounded(upper) > lower + self.unit / 2)

    def _adopt(self, mapping: I64, docs: I64) -> None:
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
        for number in range(_ROUNDS):
            # Another round only if it can be over by the deadline, as far as the rounds before tell.
            if not len(docs) or (deadline is not None and now + longest > deadline):
                break
            ends = Ends.of(pairs)
            earned, spare, slots = ends.earnings(pairs, shares)
            worth = pairs.single + earned
            found = assign(pairs, worth, docs)
            self.upper[docs] = np.minimum(self.upper[docs], found.value[docs])
            if number == 0:
                docs = self._grow(pairs, worth, docs, deadline)
            # Moves are never finished for sure: they get a third of the time that is left.
            pause = None if deadline is None else time.monotonic() + max(0.0, deadline - time.monotonic()) / 3
            self._adopt(improve(self.all, found.mapping, docs, deadline=pause), docs)
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

    def _grow(self, pairs: Pairs, worth: F64, docs: I64, deadline: float | None) -> I64:
        """Mappings that are grown along the links, for large problems; those of `docs` that are open after it.

        Where many variables look alike, this often ends the matter, and moves would take long.
        """
        large = np.bincount(pairs.doc, minlength=pairs.problems)[docs] > _GROWN
        if large.any():
            self._adopt(grow(pairs, worth, docs[large], deadline=deadline), docs[large])
        return docs[self._open(self.upper[docs], self.lower[docs])]

    # Stages 3 and 4.

    def _relax(self, rest: Pairs, deadline: float | None) -> Pairs:
        """LPs; what they leave possible. Small ones several in one, since a solver's start costs more than they do."""
        docs = np.flatnonzero(self._open(self.upper, self.lower))
        size = np.bincount(rest.doc, minlength=rest.problems) + np.bincount(rest.doc[rest.a], minlength=rest.problems)
        large = size[docs] > _LARGE
        possible = np.ones(len(rest.i), np.bool_)
        for d in docs[large].tolist():
            started = time.monotonic()
            self._descend(rest.keep(rest.doc == d)[0], d, self._own_deadline(d, deadline))
            self.seconds[d] += time.monotonic() - started
        small = docs[~large]
        if len(small):
            self._relax_batches(rest, small, possible, deadline)
        return rest.keep(possible)[0]

    def _own_deadline(self, d: int, shared: float | None) -> float | None:
        """Until when one problem may go on: its own limit, less what it had of the shared stages."""
        if self.limit is None or self.all.problems == 1:
            return shared
        return time.monotonic() + self.limit - float(self.seconds[d])

    def _descend(self, pairs: Pairs, d: int, deadline: float | None) -> None:
        """One large problem: its LP step by step, with mappings made from its values, and without the pairs and links that its
        bounds rule out. Where the LP ends above the best mapping, a pair is either taken or dropped (branch and bound).
        """
        waiting: list[tuple[float, int, PrimalDual]] = [(-float(self.upper[d]), 0, PrimalDual(*programme(pairs)))]
        made, n, top = 0, len(pairs.i), 0.0
        while waiting and (deadline is None or time.monotonic() < deadline):
            bound, _, program = heappop(waiting)
            self.upper[d] = min(self.upper[d], max(-bound, top, self.lower[d]))  # the best of what waits
            if not self._opens(-bound, d):
                return
            if self._settle(program, pairs, d, -bound, deadline):
                continue
            values, left = _of_pairs(program, n)
            if made < _SEARCHES:
                # Nearly always a best mapping is among the pairs that the LP uses at all: few, so that searching them is quick.
                used = (values > _USED) | (self.mapping[pairs.i] == pairs.j)
                self._search(pairs.keep(used)[0], d, deadline)
            if len(program.columns) <= _SEARCHED:
                top = max(top, self._search(pairs.keep(left)[0], d, deadline))
                continue
            for child in _branches(program, values, pairs):
                made += 1
                heappush(waiting, (-min(program.upper, -bound), made, child))
        left_over = -waiting[0][0] if waiting else 0.0
        self.upper[d] = min(self.upper[d], max(left_over, top, self.lower[d]))

    def _settle(self, program: PrimalDual, pairs: Pairs, d: int, above: float, deadline: float | None) -> bool:
        """Steps on an LP until nothing better than the best mapping is in it (true), or until they gain little."""
        n, only, known, stalled, rounded = len(pairs.i), np.array([d]), np.inf, 0, 0
        while deadline is None or time.monotonic() < deadline:
            program.run(_BLOCKS, deadline)
            if not self._opens(program.upper, d):
                return True
            if stalled or (not self.relaxed[d] and program.steps >= rounded):
                rounded = 2 * program.steps
                values, _ = _of_pairs(program, n)
                self._adopt(improve(self.all, assign(pairs, values, only).mapping, only, deadline=deadline), only)
            bound = program.upper - np.maximum(-program.reduced, 0.0)
            possible = self._open(bound, np.full(len(bound), self.lower[d]))
            if not possible.any():
                return True
            # More steps as long as they take a share of the gap away.
            worth = known - program.upper > _PROGRESS * (program.upper - self.lower[d])
            stalled, known = 0 if worth else stalled + 1, min(known, program.upper)
            if stalled > 1:
                break
            if possible.mean() < _WORTH_DROPPING:
                program.keep(possible)
                known = np.inf
        self.relaxed[d] = True
        return False

    def _opens(self, bound: float, d: int) -> bool:
        """Whether what is bounded so may beat the best mapping of the problem."""
        return bool(self._open(np.array([bound]), self.lower[d : d + 1])[0])

    def _relax_batches(self, rest: Pairs, docs: I64, possible: Mask, deadline: float | None) -> None:
        """The LPs of small problems; `possible` loses the pairs that they rule out."""
        size = np.bincount(rest.doc, minlength=rest.problems)[docs]
        batch = np.cumsum(size) // _BATCH if len(docs) > 1 else np.zeros(len(docs), np.intp)
        values = np.zeros(len(rest.i))
        bound = np.full(len(rest.i), np.inf)
        for number in distinct(batch).tolist():
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
            possible &= self._open(bound, self.lower[rest.doc])

    def _search(self, rest: Pairs, d: int, deadline: float | None) -> float:
        """The integer programme of some pairs of one problem; what they can earn at most, as far as is known."""
        pairs, _ = rest.keep(rest.doc == d)
        if not len(pairs.i):
            return float(self.lower[d])
        left = seconds_left(deadline)
        speed = _LP_SPEED if self.relaxed[d] else _SEARCH_SPEED
        if left is not None and len(pairs.i) + len(pairs.a) > speed * left:
            return float(self.upper[d])
        gain, rows = programme(pairs)
        gap = EPSILON / 2 if self.unit is None else self.unit * (1 - 1e-3)
        seconds = None if left is None else 0.75 * left  # HiGHS overruns its time by half a second and more
        found = self.solver.whole(gain, rows, gap=gap, start=start_values(pairs, self.mapping), seconds=seconds)
        if found.values is not None:
            chosen = np.flatnonzero(found.values[: len(pairs.i)] > 0.5)
            mapping = np.full(len(self.mapping), -1, np.intp)
            mapping[pairs.i[chosen]] = pairs.j[chosen]
            self._adopt(mapping, np.array([d]))
        return max(found.upper, float(self.lower[d]))

    @property
    def solver(self) -> Programs:
        """HiGHS, from when it is first needed."""
        if self._solver is None:
            self._solver = Programs()
        return self._solver


def _of_pairs(program: PrimalDual, n: int) -> tuple[F64, Mask]:
    """The values of the first n columns, and which of them are left."""
    values, left = np.zeros(n), np.zeros(n, np.bool_)
    at = program.columns[program.columns < n]
    values[at] = np.clip(program.values[: len(at)], 0.0, 1.0)
    left[at] = True
    return values, left


def _branches(program: PrimalDual, values: F64, pairs: Pairs) -> tuple[PrimalDual, PrimalDual]:
    """The LP without the rivals of a pair that is neither in nor out, and without the pair itself."""
    n = len(values)
    links = np.bincount(pairs.a, pairs.weight, n) + np.bincount(pairs.b, pairs.weight, n)
    undecided = values * (1.0 - values)
    # The more its two variables waver, the more a pair decides.
    wavering = np.bincount(pairs.i, undecided)[pairs.i] + np.bincount(pairs.j, undecided)[pairs.j]
    p = int(np.argmax(undecided * wavering * (1.0 + np.minimum(links, 4.0))))
    rivals = (pairs.i == pairs.i[p]) ^ (pairs.j == pairs.j[p])
    dropped = np.zeros(n, np.bool_)
    dropped[p] = True
    return program.without(rivals), program.without(dropped)


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
# where g[p] is what p earns beside the chosen pairs. Each round makes all moves that gain more than the others at
# their variables; where these get in each other's way, so that a problem has lost by them, it makes its best move
# alone. Rounds end when no move gains. One round is a dozen array operations for the whole corpus.


def improve(pairs: Pairs, mapping: I64, docs: I64, *, deadline: float | None = None) -> I64:
    """The mapping after the best moves in the problems of `docs`; never worse."""
    if not len(pairs.i):
        return mapping
    moves = _Moves(pairs, mapping)
    wanted = np.zeros(pairs.problems, np.bool_)
    wanted[docs] = True
    active = np.flatnonzero(wanted[pairs.doc])
    while len(active) and (deadline is None or time.monotonic() < deadline):
        moved = moves.make(active)
        active = active[moved[pairs.doc[active]]]
    improved = np.full(len(mapping), -1, np.intp)
    at = np.flatnonzero(moves.chosen)
    improved[pairs.i[at]] = pairs.j[at]
    return improved


class _Moves:
    """The chosen pairs of all problems, and rounds of moves that make them earn more."""

    def __init__(self, pairs: Pairs, mapping: I64) -> None:
        self.pairs, self.between = pairs, _Links(pairs)
        self.width = max(int(pairs.right[-1]), 1)
        self.keys = pairs.i * self.width + pairs.j
        self.heaviest = 2.0 * float(self.between.weight.max(initial=0.0))
        self._choose(mapping[pairs.i] == pairs.j)
        self.value = self._values(self.chosen)

    def _choose(self, chosen: Mask) -> None:
        pairs, at = self.pairs, np.flatnonzero(chosen)
        self.chosen = chosen
        self.of_i = np.full(int(pairs.left[-1]), -1, np.intp)
        self.of_j = np.full(self.width, -1, np.intp)
        self.of_i[pairs.i[at]] = at
        self.of_j[pairs.j[at]] = at

    def _values(self, chosen: Mask) -> F64:
        pairs, at = self.pairs, np.flatnonzero(chosen)
        both = np.flatnonzero(chosen[pairs.a] & chosen[pairs.b])
        alone = np.bincount(pairs.doc[at], pairs.single[at], pairs.problems)
        return np.asarray(alone + np.bincount(pairs.doc[pairs.a[both]], pairs.weight[both], pairs.problems), np.float64)

    def make(self, active: I64) -> Mask:
        """One round among some pairs; in which problems anything was moved."""
        pairs, moved = self.pairs, np.zeros(self.pairs.problems, np.bool_)
        at, out1, out2, back, gain = self._gains(active)
        if not len(at):
            return moved
        # The moves in order of their gain, in each problem; a move needs to be the first at each of its variables.
        order = np.lexsort((at, -gain))
        at, out1, out2, back = at[order], out1[order], out2[order], back[order]
        rank = np.arange(len(at))
        doc = pairs.doc[at]
        _, best = np.unique(doc, return_index=True)
        claims = [(pairs.i, at, int(pairs.left[-1])), (pairs.j, at, self.width)]
        claims += [(pairs.i, out2, int(pairs.left[-1])), (pairs.j, out1, self.width)]
        first = {id(side): np.full(size, len(at)) for side, _, size in claims}
        for side, which, _ in claims:
            there = which >= 0
            np.minimum.at(first[id(side)], side[which[there]], rank[there])
        free = np.ones(len(at), np.bool_)
        for side, which, _ in claims:
            free &= (which < 0) | (first[id(side)][side[which]] == rank)
        chosen = self._after(out1[free], out2[free], at[free], back[free])
        value = self._values(chosen)
        worse = value <= self.value + 1e-9
        if worse[doc[best]].any():
            single = np.zeros(len(at), np.bool_)
            single[best] = True
            free = np.where(worse[doc], single, free)
            chosen = self._after(out1[free], out2[free], at[free], back[free])
            value = self._values(chosen)
        moved[doc] = value[doc] > self.value[doc] + 1e-9
        self._choose(np.where(moved[pairs.doc], chosen, self.chosen))
        self.value = np.where(moved, value, self.value)
        return moved

    def _after(self, out1: I64, out2: I64, at: I64, back: I64) -> Mask:
        chosen: Mask = self.chosen.copy()
        for gone in (out1, out2):
            chosen[gone[gone >= 0]] = False
        chosen[at] = True
        chosen[back[back >= 0]] = True
        return chosen

    def _gains(self, active: I64) -> tuple[I64, I64, I64, I64, F64]:
        """The moves that gain: the pair taken in, what it replaces, what comes back, and the gain."""
        pairs, chosen, n = self.pairs, self.chosen, len(self.pairs.i)
        one, other = np.flatnonzero(chosen[pairs.a]), np.flatnonzero(chosen[pairs.b])
        earns = np.append(
            pairs.single
            + np.bincount(pairs.b[one], pairs.weight[one], n)
            + np.bincount(pairs.a[other], pairs.weight[other], n),
            0.0,  # what the absent pair -1 earns
        )
        at = active[~chosen[active]]
        out1, out2 = self.of_i[pairs.i[at]], self.of_j[pairs.j[at]]
        # A swap may be named by either of the pairs that it takes in: let it be the one that earns more.
        hopeful = earns[at] * np.where((out1 >= 0) & (out2 >= 0), 2.0, 1.0) + self.heaviest > earns[out1] + earns[out2]
        at, out1, out2 = at[hopeful], out1[hopeful], out2[hopeful]
        swap = np.flatnonzero((out1 >= 0) & (out2 >= 0))
        back = np.full(len(at), -1, np.intp)
        key = pairs.i[out2[swap]] * self.width + pairs.j[out1[swap]]
        place = np.minimum(np.searchsorted(self.keys, key), n - 1)
        back[swap] = np.where(self.keys[place] == key, place, -1)
        gain = earns[at] + earns[back] - earns[out1] - earns[out2]
        gain[swap] += self.between(out1[swap], out2[swap]) + self.between(at[swap], back[swap])
        good = gain > 1e-9
        return at[good], out1[good], out2[good], back[good], gain[good]


# A mapping grown from where there is least choice.
#
# Where many variables look alike, an assignment cannot tell them apart, however it shares out the links: in a chain of equal
# nodes each node may be any other. Growth does what a reader does: it begins where only one pair fits, and goes on along the
# links, always to the pair that earns most beside those that are chosen.


def grow(pairs: Pairs, worth: F64, docs: I64, *, deadline: float | None = None) -> I64:
    """A mapping for each problem of `docs`; `worth` is what each pair may earn."""
    wanted = np.zeros(pairs.problems, np.bool_)
    wanted[docs] = True
    inside = np.flatnonzero(wanted[pairs.doc])
    # A pair is apt if neither of its variables could do better; the fewer others are, the earlier it comes.
    n_left, n_right = int(pairs.left[-1]), int(pairs.right[-1])
    rivals = np.zeros(len(inside))
    apt = np.ones(len(inside), np.bool_)
    for side, size in ((pairs.i[inside], n_left), (pairs.j[inside], n_right)):
        most = np.zeros(size)
        np.maximum.at(most, side, worth[inside])
        apt &= worth[inside] >= most[side] - 1e-9
    for side, size in ((pairs.i[inside], n_left), (pairs.j[inside], n_right)):
        rivals += np.bincount(side[apt], minlength=size)[side]
    most_worth = float(worth.max(initial=1.0))
    scale = 0.25 * float(pairs.weight.min(initial=1.0)) / max(1.0, most_worth)
    earns = pairs.single.copy()
    earns[inside] += scale * (worth[inside] + np.where(apt, most_worth * 2.0 / np.maximum(rivals, 2.0), 0.0))
    at, other = np.concatenate([pairs.a, pairs.b]), np.concatenate([pairs.b, pairs.a])
    order = np.argsort(at, kind="stable")
    at, other, weight = at[order], other[order], np.concatenate([pairs.weight, pairs.weight])[order]
    waiting = inside[np.argsort(-earns[inside], kind="stable")]  # those without links to what is chosen, in their order
    promising: list[tuple[float, int]] = []  # and those that have some
    mapping = np.full(n_left, -1, np.intp)
    free_i, free_j = np.ones(n_left, np.bool_), np.ones(n_right, np.bool_)
    to_come = int(np.minimum(np.diff(pairs.left), np.diff(pairs.right))[docs].sum())
    next_ = 0
    while to_come and (deadline is None or time.monotonic() < deadline):
        next_ += _first_free(waiting[next_:], pairs, free_i, free_j)
        if promising and (next_ == len(waiting) or -promising[0][0] >= earns[waiting[next_]]):
            promised, p = heappop(promising)
            if -promised < earns[p]:
                continue
        elif next_ < len(waiting):
            p = int(waiting[next_])
        else:
            break
        if not (free_i[pairs.i[p]] and free_j[pairs.j[p]]):
            continue
        free_i[pairs.i[p]] = free_j[pairs.j[p]] = False
        mapping[pairs.i[p]] = pairs.j[p]
        to_come -= 1
        links = slice(*np.searchsorted(at, (p, p + 1)))
        linked = other[links]
        reachable = free_i[pairs.i[linked]] & free_j[pairs.j[linked]]
        linked = linked[reachable]
        np.add.at(earns, linked, weight[links][reachable])
        for q, earned in zip(linked.tolist(), earns[linked].tolist(), strict=True):
            heappush(promising, (-earned, q))
    return mapping


def _first_free(waiting: I64, pairs: Pairs, free_i: Mask, free_j: Mask) -> int:
    """How many pairs to pass over until one has both variables free."""
    begin, stretch = 0, 1
    while begin < len(waiting):
        part = waiting[begin : begin + stretch]
        free = np.flatnonzero(free_i[pairs.i[part]] & free_j[pairs.j[part]])
        if len(free):
            return begin + int(free[0])
        begin, stretch = begin + stretch, _STRETCH
    return len(waiting)


_STRETCH = 4096


class _Links:
    """The weight between two pairs, 0 where there is none (or where one of them is the absent pair -1)."""

    def __init__(self, pairs: Pairs) -> None:
        self.n = max(len(pairs.i), 1)
        key = np.minimum(pairs.a, pairs.b) * self.n + np.maximum(pairs.a, pairs.b)
        self.keys, number = np.unique(key, return_inverse=True)
        self.weight = np.bincount(number, pairs.weight, len(self.keys))

    def __call__(self, p: I64, q: I64) -> F64:
        if not len(self.keys):
            return np.zeros(len(p))
        key = np.where((p >= 0) & (q >= 0), np.minimum(p, q) * self.n + np.maximum(p, q), -1)
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[place] == key, self.weight[place], 0.0)


# Eq. 36 in full: objects with latent variables, matched under any of the four constraints.
#
# An object pair (u, v) has a weight, its similarity if all goes well, and *needs*: the variable pairs that have
# to be matched for it (eq. 41). Prop(ARG0, x, y) against Prop(ARG0, x', y') needs x→x' and y→y'. Variables are
# always 1:1; objects are 1:1, N:1 (each u takes one v at most), 1:N or N:N.
#
# In nearly all real problems the constraint on objects asks nothing that the variables do not settle already.
# Call pairs with the same set of needs a *class*. If all pairs of u need the same variables of the first side,
# then two classes of u give some variable two partners, so that at most one of them is ever active. The same
# for v. Hence a class is active as a whole or not at all, and what it earns is a constant known beforehand:
#
#     1:1   the best matching inside the class (for equal objects: the smaller of the two multiplicities)
#     N:1   the best v for each u, summed          1:N   the best u for each v          N:N   everything
#
# Classes without needs are earned for certain; with one need they are single weights, with two they are links,
# and the problem is the one of `latent`. Only objects with three or more variables, or whose pairs need
# different variables, go to the integer programme of eq. 40 to 44.

Constraint = Literal["1:1", "N:1", "1:N", "N:N"]
CONSTRAINTS = ("1:1", "N:1", "1:N", "N:N")


@frozen
class ObjectPairs:
    """Pair t is (u[t], v[t]) of problem doc[t] with weight[t]; need n says that pair need[n] needs need_i[n]
    → need_j[n].

    Objects and variables are numbered over all problems. Pairs are distinct; weights are at least 0.
    """

    doc: I64
    u: I64
    v: I64
    weight: F64
    need: I64
    need_i: I64
    need_j: I64

    @staticmethod
    def of(u: Any, v: Any, weight: Any, needs: tuple[Any, Any, Any], doc: Any = None) -> ObjectPairs:
        """From anything that NumPy can turn into arrays; `needs` is (pair, i, j); one problem unless `doc` is
        given."""
        u, v, need, i, j = (np.asarray(x, np.intp) for x in (u, v, *needs))
        of = np.zeros(len(u), np.intp) if doc is None else np.asarray(doc, np.intp)
        return ObjectPairs(of, u, v, np.asarray(weight, np.float64), need, i, j)


@frozen
class ObjectSolutions:
    """Bounds for each problem, the mapping over all variables, and `matched`: which object pairs are
    matched."""

    lower: F64
    upper: F64
    optimal: Mask
    mapping: I64
    matched: I64


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
    members = Members(pairs.doc, n)
    for d in np.flatnonzero(hard).tolist():
        inside = members[d][table.possible[members[d]]]
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

    def unsettled(self, objects: I64, variables: I64) -> Mask:
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

    def active(self, mapping: I64) -> Mask:
        """The pairs whose needs the mapping meets."""
        if not self.i.shape[1]:
            return np.ones(len(self.i), np.bool_)
        reached = np.append(mapping, -1)[self.i]  # row -1 of the padding reaches -1 and so meets its need
        return np.asarray((reached == self.j).all(1))


class _Classes:
    """Object pairs with the same needs, and what each class earns as a whole."""

    def __init__(self, pairs: ObjectPairs, needs: _Needs, which: Mask, constraint: Constraint) -> None:
        at = np.flatnonzero(which)
        number = _numbered(len(at), pairs.doc[at], *needs.i[at].T, *needs.j[at].T)
        first = np.empty(int(number.max()) + 1 if len(at) else 0, np.intp)
        first[number[::-1]] = np.arange(len(at))[::-1]
        best = _best(pairs.u[at], pairs.v[at], pairs.weight[at], number, constraint)
        self.weight = np.bincount(number[best], pairs.weight[at][best], len(first)).astype(np.float64)
        first = at[first]
        self.doc, self.arity = pairs.doc[first], needs.arity[first]
        self.i, self.j = needs.i[first], needs.j[first]

    def certain(self, problems: int) -> F64:
        """What is earned without any variables."""
        none = self.arity == 0
        return np.bincount(self.doc[none], self.weight[none], problems).astype(np.float64)


def _numbered(rows: int, *columns: I64) -> I64:
    """The different rows of some columns (of values from -1 on), numbered in their order."""
    keys, bound = np.zeros(rows, np.int64), 1
    for column in columns:
        height = int(column.max(initial=-1)) + 2
        keys, bound = renumber(keys * height + column + 1, bound * height)
    return keys


def _solve_classes(left: I64, right: I64, classes: _Classes, limit: float | None) -> Solutions:
    one, two = classes.arity == 1, classes.arity == 2
    single = (classes.i[one, 0], classes.j[one, 0], classes.weight[one]) if one.any() else ([], [], [])
    double: tuple[Any, ...] = ([], [], [], [], [])
    if two.any():
        i, j = classes.i[two], classes.j[two]
        double = (i[:, 0], j[:, 0], i[:, 1], j[:, 1], classes.weight[two])
    return solve_all(Problems.of(left, right, single, double), limit=limit)


def _best(u: I64, v: I64, weight: F64, block: I64, constraint: Constraint) -> I64:
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
    pairs: ObjectPairs, needs: _Needs, inside: I64, constraint: Constraint, limit: float | None
) -> tuple[float, float, bool, tuple[I64, I64, I64]]:
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
    u: I64, v: I64, weight: F64, which: I64, variable: I64, i: I64, j: I64, constraint: Constraint
) -> tuple[I64, I64]:
    """A good solution to start from: object pairs, and the variable pairs (i, j) that are mapped.

    A map is an assignment of the variables by what hangs on each pair of them; under it the objects are matched; what
    they did not earn counts less for the next map, so that others are tried.
    """
    n, count = len(u), max(1, len(i))
    needs = np.maximum(1, np.bincount(which, minlength=n))
    best: tuple[I64, I64] = (np.empty(0, np.intp), np.empty(0, np.intp))
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
        self.row: list[I64] = []
        self.column: list[I64] = []
        self.value: list[F64] = []
        self.limit: list[F64] = []

    def at_most_one(self, owner: I64, column: I64) -> None:
        """Of the columns of one owner, one at most."""
        owners, number = np.unique(owner, return_inverse=True)
        self._add(number, column, np.ones(len(column)), np.ones(len(owners)))

    def implied(self, group: I64, column: I64, by: I64) -> None:
        """The sum of a group's columns is at most the one column `by` of the group."""
        groups, first, number = np.unique(group, return_index=True, return_inverse=True)
        total = np.arange(len(groups))
        self._add(
            np.concatenate([number, total]),
            np.concatenate([column, by[first]]),
            np.concatenate([np.ones(len(column)), -np.ones(len(groups))]),
            np.zeros(len(groups)),
        )

    def _add(self, row: I64, column: I64, value: F64, limit: F64) -> None:
        self.row.append(row + self.rows)
        self.column.append(column)
        self.value.append(value)
        self.limit.append(limit)
        self.rows += len(limit)

    def matrix(self) -> Rows:
        """All rows."""
        value, limit = np.concatenate(self.value), np.concatenate(self.limit)
        return Rows.of(np.concatenate(self.row), np.concatenate(self.column), value, limit)
