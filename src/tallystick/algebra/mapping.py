"""Objects with variables: which pairs of them may match, for how much, and what that needs of the variables.

Which pairs of objects can match at all, and for how much, is asked of the inner similarity, with `var` as a wild
card; each pair *needs* that its variables be mapped to each other (eq. 41).

A product is all or nothing: without all of its needs a pair is worth nothing. A sum of fields is not. A pair of such
objects becomes several *alternatives*, one for each set of variables that are mapped, of which one is taken:

    each(rel=exact, subj=var)       1 for equal relations, needs nothing;     2, needs x→y
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tallystick.algebra.cases import Cases
from tallystick.algebra.functions import Via
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import Normaliser
from tallystick.algebra.proofs import Proofs, bound
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Matching, Sums, turned
from tallystick.algebra.variables import Settled, Unmatched, Variable
from tallystick.algebra.weights import Threshold, Weigh, Weighted
from tallystick.engine.arrays import F64, I64, Mask, number
from tallystick.engine.blocks import Blocks, Pairs, look_up
from tallystick.engine.encoded import Alternatives, Codes, Column, Fields, Maybe, Shared, unshared
from tallystick.engine.latent_objects import ObjectPairs, ObjectSolutions, solve_objects
from tallystick.errors import MetricError

MOST_ALTERNATIVES = 8
_THROUGH = (Weighted, Weigh, Threshold, Via, Normaliser, Optional)


# What the expression says


def has_variables(node: Node) -> bool:
    """Whether a variable in it is still to be mapped; those inside of another `latent` are that one's."""
    if isinstance(node, Variable):
        return True
    return not getattr(node, "binds", False) and any(has_variables(part) for _, part in node.parts())


def check_items(node: Node, whole: str) -> None:
    """Variables may stand in records, sums and cases, at any depth, but not in a collection inside of an item."""
    if not has_variables(node) or isinstance(node, Variable):
        return
    if not isinstance(node, (Record, Each, Cases, *_THROUGH)):
        raise MetricError(
            f"{whole}: a var inside of {node.name}(...) would need a map for each item; "
            f"give the items of the inner collection as objects of their own, or a latent(...) of their own"
        )
    for _, part in node.parts():
        check_items(part, whole)


def _all_or_nothing(node: Node) -> bool:
    """Whether a value that lacks one of its variables is worth nothing."""
    if not has_variables(node):
        return True
    return not isinstance(node, Each) and all(_all_or_nothing(part) for _, part in node.parts())


def replaced(node: Similarity, change: Callable[[int], Similarity]) -> Similarity:
    """The expression with its n-th variable replaced by `change(n)`, in the order in which columns have them."""
    count = 0

    def visit(part: Node) -> Node:
        nonlocal count
        if isinstance(part, Variable):
            count += 1
            return change(count - 1)
        return part.rebuilt(visit) if has_variables(part) else part

    found = visit(node)
    assert isinstance(found, Similarity)
    return found


# What the columns hold

Change = Callable[[Codes, I64], Codes]
"""From the codes of a variable in some rows, and the owner of each row, to other codes."""


def changed(node: Similarity, column: Any, owners: I64, change: Change) -> Any:
    """The column with the codes of all its variables changed, in the order of the expression."""
    if not has_variables(node):
        return column
    if isinstance(column, Shared):
        return changed(node, unshared(column), owners, change)
    if isinstance(node, Variable):
        return change(column, owners)
    if isinstance(node, Matching):
        inner = changed(node.inner, column.items, owners[column.owners], change)
        return replace(column, items=inner)
    if isinstance(node, Each):
        parts = (part.inner if isinstance(part, Optional) else part for _, part in node.fields)
        return Fields(
            tuple(
                _present_changed(part, inner, owners, change) for part, inner in zip(parts, column.columns, strict=True)
            )
        )
    if isinstance(node, Record):
        both = zip(node.fields, column.columns, strict=True)
        return Fields(tuple(changed(part, inner, owners, change) for (_, part), inner in both))
    if isinstance(node, Cases):
        columns = (
            changed(part, column.columns[k], owners[column.rows(k)], change) for k, (_, part) in enumerate(node.options)
        )
        return Alternatives(column.case, column.position, tuple(columns))
    if isinstance(node, Optional):
        return _present_changed(node.inner, column, owners, change)
    if isinstance(node, Weigh):
        return Fields((changed(node.inner, column.columns[0], owners, change), column.columns[1]))
    assert isinstance(node, (Weighted, Threshold, Via, Normaliser))
    return changed(node.inner, column, owners, change)


def _present_changed(node: Similarity, column: Any, owners: I64, change: Change) -> Any:
    if not isinstance(column, Maybe):
        return changed(node, column, owners, change)
    return Maybe(column.position, changed(node, column.present, owners[column.rows], change))


def _variables(node: Similarity, column: Column) -> list[I64]:
    """For each variable of the expression the code that each row has there, -1 where it has none."""
    tables: list[I64] = []

    def note(codes: Codes, rows: I64) -> Codes:
        table = np.full(len(column), -1, np.int64)
        table[rows] = codes.codes
        tables.append(table)
        return codes

    changed(node, column, np.arange(len(column), dtype=np.int64), note)
    return tables


# Candidates: which pairs of objects may match, for how much, and what they need


@dataclass(frozen=True, eq=False)
class Candidates:
    """Object pair t is (i[t], j[t]) for weight[t]; need n says that pair need[n] needs code a[n] → code b[n]."""

    i: I64
    j: I64
    weight: F64
    need: I64
    a: I64
    b: I64
    alternatives: bool = False


def _with_needs(found: Pairs, left: Sequence[I64], right: Sequence[I64]) -> Candidates:
    need, a, b = [], [], []
    for ours, theirs in zip(left, right, strict=True):
        one, other = ours[found.i], theirs[found.j]
        both = np.flatnonzero((one >= 0) & (other >= 0))
        need.append(both)
        a.append(one[both])
        b.append(other[both])
    return Candidates(found.i, found.j, found.weight, _joined(need), _joined(a), _joined(b))


def _joined(parts: Sequence[I64]) -> I64:
    return np.concatenate((np.empty(0, np.int64), *parts))


def candidates(node: Similarity, r: Column, p: Column, blocks: Blocks) -> Candidates:
    """The pairs of rows that can match, with their needs; a pair stands several times if it has alternatives."""
    if not has_variables(node):
        return _with_needs(node.pairs(r, p, blocks), [], [])
    left, right = _variables(node, r), _variables(node, p)
    if _all_or_nothing(node):
        return _with_needs(node.pairs(r, p, blocks), left, right)
    if len(left) > MOST_ALTERNATIVES:
        raise MetricError(
            f"a sum over {len(left)} variables has too many alternatives; at most {MOST_ALTERNATIVES} are tried"
        )
    found: dict[tuple[int, ...], Pairs] = {}
    parts: list[Candidates] = []
    for size in range(len(left) + 1):
        for mapped in combinations(range(len(left)), size):
            leaves = [Variable() if n in mapped else Unmatched() for n in range(len(left))]
            pairs = found[mapped] = replaced(node, leaves.__getitem__).pairs(r, p, blocks)
            # Without one of these variables it must be worth less, or that one is not needed.
            less = np.zeros(len(pairs))
            for n in range(size):
                fewer = found[mapped[:n] + mapped[n + 1 :]]
                np.maximum(less, look_up(fewer, pairs.i, pairs.j, len(p), len(r)), out=less)
            keep = pairs.weight > less * (1 + 1e-12)
            kept = Pairs(pairs.i[keep], pairs.j[keep], pairs.weight[keep])
            parts.append(_with_needs(kept, [left[n] for n in mapped], [right[n] for n in mapped]))
    starts = np.cumsum([0, *(len(part.i) for part in parts)])
    return Candidates(
        _joined([part.i for part in parts]),
        _joined([part.j for part in parts]),
        np.concatenate([part.weight for part in parts]),
        _joined([part.need + start for part, start in zip(parts, starts, strict=False)]),
        _joined([part.a for part in parts]),
        _joined([part.b for part in parts]),
        alternatives=True,
    )


# The best map of the variables for each pair of owners, and what the columns look like once the map is known.
#
# All pairs of owners of a corpus are solved side by side (see `latent_objects`).


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
