"""The best map of the variables for each pair of owners, and what the columns look like once the map is known.

All pairs of owners of a corpus are solved side by side (see `latent_objects`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64, Mask, number
from tallystick.columns.encoded import Codes
from tallystick.matching.candidates import Candidates, changed, replaced
from tallystick.matching.latent_objects import ObjectPairs, ObjectSolutions, solve_objects
from tallystick.matching.proofs import Proofs, bound
from tallystick.matching.sets import Sums, turned
from tallystick.similarity.node import Similarity
from tallystick.similarity.variables import Settled


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates of one collection, and the owners of its two sides' rows."""

    pairs: Candidates
    r_owners: I64
    p_owners: I64
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Solved:
    """Bounds for each pair of owners (i, j); the map of its variables; and which candidates are matched.

    Row n of the map says that in the pair of owners number `owner[n]` code a[n] is code b[n].
    """

    i: I64
    j: I64
    lower: F64
    upper: F64
    optimal: Mask
    owner: I64
    a: I64
    b: I64
    matched: I64

    @staticmethod
    def none() -> Solved:
        nothing, zero = np.empty(0, np.int64), np.empty(0)
        return Solved(nothing, nothing, zero, zero, np.empty(0, np.bool_), nothing, nothing, nothing, nothing)

    def sums(self, node: Any, r: Any, p: Any) -> Sums:
        """Σ as the node wants it: what was found, or its upper bound."""
        most = np.full(len(self.i), np.inf)
        if node.upper and node.regular:
            most = np.minimum(node.selves(r)[self.i], node.selves(p)[self.j])
        total = bound(self.lower, self.upper, self.optimal, most, node.upper)
        keep = np.flatnonzero(total > 0)
        total = total[keep]
        return Sums(self.i[keep], self.j[keep], total, total, total)


def solve_groups(
    groups: Sequence[Group], n_columns: int, constraint: str, limit: float | None, proofs: Proofs
) -> Solved:
    """The best map of the variables, and the best matching under it, for each pair of owners."""
    owners = np.concatenate([g.r_owners[g.pairs.i] * n_columns + g.p_owners[g.pairs.j] for g in groups])
    if not len(owners):
        return Solved.none()
    keys, doc = np.unique(owners, return_inverse=True)
    doc = doc.reshape(-1).astype(np.int64)
    n = len(keys)
    starts = np.cumsum([0, *(len(g.pairs.i) for g in groups)])
    weight = np.concatenate([g.pairs.weight * g.factor for g in groups])
    need = np.concatenate([g.pairs.need + start for g, start in zip(groups, starts, strict=False)])
    a, b = (np.concatenate([getattr(g.pairs, name) for g in groups]) for name in ("a", "b"))

    # Objects are numbered by problem, group and row; where alternatives exclude only each other, by pair.
    kind = np.repeat(np.arange(len(groups)), np.diff(starts))
    i, j = (np.concatenate([getattr(g.pairs, name) for g in groups]) for name in ("i", "j"))
    height, width = int(i.max()) + 1, int(j.max()) + 1
    home = doc * len(groups) + kind
    by_pair = constraint == "N:N" and any(g.pairs.alternatives for g in groups)
    if by_pair:
        u, _ = number(number(home * height + i, n * len(groups) * height)[0] * width + j, len(i) * width)
        v, constraint = u, "N:1"
    else:
        u, _ = number(home * height + i, n * len(groups) * height)
        v, _ = number(home * width + j, n * len(groups) * width)

    left, left_codes, x = _numbered(doc[need], a, n)
    right, right_codes, y = _numbered(doc[need], b, n)
    pairs = ObjectPairs(doc, u, v, weight, need, x, y)
    way = turned(constraint)  # in `latent_objects` the reference is the first side

    def solve() -> ObjectSolutions:
        found = solve_objects(left, right, pairs, way, limit=limit)
        proofs.open += int((~found.optimal).sum())
        return found

    if limit is None:
        found = solve()
    else:
        arrays = (doc, u, v, weight, need, x, y)
        found = proofs.once(("latent", way, limit), arrays, solve)
    mapped = np.flatnonzero(found.mapping >= 0)
    partner = found.mapping[mapped]
    problem = np.searchsorted(left, mapped, "right") - 1
    return Solved(
        keys // n_columns,
        keys % n_columns,
        found.lower,
        found.upper,
        found.optimal,
        problem.astype(np.int64),
        left_codes[mapped],
        right_codes[partner],
        found.matched.astype(np.int64),
    )


def _numbered(doc: I64, codes: I64, n: int) -> tuple[I64, I64, I64]:
    """The variables of all problems: offsets by problem, the code of each, and the number of each mention."""
    width = int(codes.max()) + 1 if len(codes) else 1
    keys, numbers = np.unique(doc * width + codes, return_inverse=True)
    offsets = np.searchsorted(keys, np.arange(n + 1) * width)
    return offsets.astype(np.int64), keys % width, numbers.reshape(-1).astype(np.int64)


def settle(node: Similarity, r: Any, p: Any, r_owners: I64, p_owners: I64, solved: Solved) -> tuple[Any, Any, Any]:
    """The similarity and both columns with the variables' codes made equal where the map says so.

    Row k of `solved` is a pair of aligned owners. An owner that is aligned several times keeps its last map.
    """
    top = 1 + max((int(part.codes.max(initial=0)) for column in (r, p) for part in _codes(node, column)), default=0)
    ours = solved.i[solved.owner] * top + solved.a
    theirs = solved.j[solved.owner] * top + solved.b
    order = np.argsort(theirs, kind="stable")
    known, partner = theirs[order], ours[order]
    limit = 2 * top * (1 + int(max(r_owners.max(initial=0), p_owners.max(initial=0))))

    def of_reference(codes: Codes, owners: I64) -> Codes:
        return Codes(2 * (owners * top + codes.codes), limit)

    def of_predicted(codes: Codes, owners: I64) -> Codes:
        key = owners * top + codes.codes
        fresh = 2 * key + 1
        if len(known):
            place = np.maximum(np.searchsorted(known, key, "right") - 1, 0)
            fresh = np.where(known[place] == key, 2 * partner[place], fresh)
        return Codes(fresh, limit)

    return (
        replaced(node, lambda _: Settled()),
        changed(node, r, r_owners, of_reference),
        changed(node, p, p_owners, of_predicted),
    )


def _codes(node: Similarity, column: Any) -> list[Codes]:
    found: list[Codes] = []

    def note(codes: Codes, _: I64) -> Codes:
        found.append(codes)
        return codes

    changed(node, column, np.zeros(len(column), np.int64), note)
    return found
