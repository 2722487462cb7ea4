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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Problems:
    """Many latent matchings side by side, as flat arrays.

    The variables of problem d are `left[d] ... left[d + 1] - 1` on the first side and `right[d] ... right[d +
    1] - 1` on the second. `i, j, weight` are the single weights, `qi, qj, qk, ql, q_weight` the weights that
    need i→j and k→l both; either list may name a pair several times (the weights add up). `q_kind` groups
    links that can only compete with links of the same kind (equal roles); it sharpens the first bound and
    never changes the optimum. Weights are at least 0.
    """

    left: Ints
    right: Ints
    i: Ints
    j: Ints
    weight: Floats
    qi: Ints
    qj: Ints
    qk: Ints
    ql: Ints
    q_weight: Floats
    q_kind: Ints

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


@dataclass(frozen=True)
class Pairs:
    """Problems over variable pairs, sorted by (i, j): pair p is `i[p], j[p]`, earns `single[p]`, is of
    problem `doc[p]`."""

    left: Ints
    right: Ints
    doc: Ints
    i: Ints
    j: Ints
    single: Floats
    a: Ints
    b: Ints
    weight: Floats
    kind: Ints

    @property
    def problems(self) -> int:
        """How many problems there are, with or without pairs."""
        return len(self.left) - 1

    def keep(self, pairs: Bools) -> tuple[Pairs, Bools]:
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

    def values(self, mapping: Ints) -> Floats:
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


def common_unit(*weights: Floats) -> float | None:
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
