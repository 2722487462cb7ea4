"""Matching with latent variables in the algebra (eq. 35, 36).

    latent(record(rel=exact, subj=var, obj=var))        Σ over objects, with the best 1:1 map of their variables
    scoped(each(nodes=match(record(id=var, label=exact)),
                edges=match(record(source=var, target=var, label=exact))))     several collections, one map

Which pairs of objects can match at all, and for how much, is asked of the inner similarity, with `var` as a wild
card; each pair *needs* that its variables be mapped to each other (eq. 41). All pairs of owners of a corpus are then
solved side by side (see `latent_objects`).

A product is all or nothing: without all of its needs a pair is worth nothing. A sum of fields is not. A pair of such
objects becomes several *alternatives*, one for each set of variables that are mapped, of which one is taken:

    each(rel=exact, subj=var)       1 for equal relations, needs nothing;     2, needs x→y
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64, Mask, number
from tallystick.columns.blocks import Blocks, Pairs, look_up
from tallystick.columns.data import Bag, Data, Scope
from tallystick.columns.encoded import Alternatives, Codes, Column, Fields, Items, Maybe, Shared, unshared
from tallystick.errors import MetricError
from tallystick.matching.latent_objects import ObjectPairs, ObjectSolutions, solve_objects
from tallystick.matching.normalise import Normaliser
from tallystick.matching.proofs import Proofs, Watched, WatchedItems, bound, require_limit
from tallystick.matching.sets import CONSTRAINTS, Match, Matching, Sums
from tallystick.similarity.cases import Cases
from tallystick.similarity.functions import Via
from tallystick.similarity.missing import Optional
from tallystick.similarity.node import Node, Similarity, require, shown
from tallystick.similarity.records import Each, Record
from tallystick.similarity.variables import Settled, Unmatched, Variable, binding
from tallystick.similarity.weights import Threshold, Weigh, Weighted

MOST_ALTERNATIVES = 8
_THROUGH = (Weighted, Weigh, Threshold, Via, Normaliser, Optional)


# What the expression says


def has_variables(node: Node) -> bool:
    """Whether a variable in it is still to be mapped; those inside of another `latent` are that one's."""
    if isinstance(node, Variable):
        return True
    return not isinstance(node, (Latent, Scoped)) and any(has_variables(part) for _, part in node.parts())


def _check_items(node: Node, whole: str) -> None:
    """Variables may stand in records, sums and cases, at any depth, but not in a collection inside of an item."""
    if not has_variables(node) or isinstance(node, Variable):
        return
    if not isinstance(node, (Record, Each, Cases, *_THROUGH)):
        raise MetricError(
            f"{whole}: a var inside of {node.name}(...) would need a map for each item; "
            f"give the items of the inner collection as objects of their own, or a latent(...) of their own"
        )
    for _, part in node.parts():
        _check_items(part, whole)


def _all_or_nothing(node: Node) -> bool:
    """Whether a value that lacks one of its variables is worth nothing."""
    if not has_variables(node):
        return True
    return not isinstance(node, Each) and all(_all_or_nothing(part) for _, part in node.parts())


def _replaced(node: Similarity, change: Callable[[int], Similarity]) -> Similarity:
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


def _changed(node: Similarity, column: Any, owners: I64, change: Change) -> Any:
    """The column with the codes of all its variables changed, in the order of the expression."""
    if not has_variables(node):
        return column
    if isinstance(column, Shared):
        return _changed(node, unshared(column), owners, change)
    if isinstance(node, Variable):
        return change(column, owners)
    if isinstance(node, Matching):
        inner = _changed(node.inner, column.items, owners[column.owners], change)
        return replace(column, items=inner)
    if isinstance(node, Each):
        parts = (part.inner if isinstance(part, Optional) else part for _, part in node.fields)
        return Fields(
            tuple(
                _changed_present(part, inner, owners, change) for part, inner in zip(parts, column.columns, strict=True)
            )
        )
    if isinstance(node, Record):
        both = zip(node.fields, column.columns, strict=True)
        return Fields(tuple(_changed(part, inner, owners, change) for (_, part), inner in both))
    if isinstance(node, Cases):
        columns = (
            _changed(part, column.columns[k], owners[column.rows(k)], change)
            for k, (_, part) in enumerate(node.options)
        )
        return Alternatives(column.case, column.position, tuple(columns))
    if isinstance(node, Optional):
        return _changed_present(node.inner, column, owners, change)
    if isinstance(node, Weigh):
        return Fields((_changed(node.inner, column.columns[0], owners, change), column.columns[1]))
    assert isinstance(node, (Weighted, Threshold, Via, Normaliser))
    return _changed(node.inner, column, owners, change)


def _changed_present(node: Similarity, column: Any, owners: I64, change: Change) -> Any:
    if not isinstance(column, Maybe):
        return _changed(node, column, owners, change)
    return Maybe(column.position, _changed(node, column.present, owners[column.rows], change))


def _variables(node: Similarity, column: Column) -> list[I64]:
    """For each variable of the expression the code that each row has there, -1 where it has none."""
    tables: list[I64] = []

    def note(codes: Codes, rows: I64) -> Codes:
        table = np.full(len(column), -1, np.int64)
        table[rows] = codes.codes
        tables.append(table)
        return codes

    _changed(node, column, np.arange(len(column), dtype=np.int64), note)
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
            pairs = found[mapped] = _replaced(node, leaves.__getitem__).pairs(r, p, blocks)
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


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates of one collection, and the owners of its two sides' rows."""

    pairs: Candidates
    r_owners: I64
    p_owners: I64
    factor: float = 1.0


# Solving


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

    def sums(self, node: Latent | Scoped, r: Any, p: Any) -> Sums:
        """Σ as the node wants it: what was found, or its upper bound."""
        most = np.full(len(self.i), np.inf)
        if node.upper and node.regular:
            most = np.minimum(node.selves(r)[self.i], node.selves(p)[self.j])
        total = bound(self.lower, self.upper, self.optimal, most, node.upper)
        keep = np.flatnonzero(total > 0)
        total = total[keep]
        return Sums(self.i[keep], self.j[keep], total, total, total)


# In `latent_objects` the first side is the reference here, and constraints read prediction : reference.
_TURNED = {"N:1": "1:N", "1:N": "N:1"}


def solve_groups(
    groups: Sequence[Group], n_rows: int, n_columns: int, constraint: str, limit: float | None, proofs: Proofs
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
    turned: Any = _TURNED.get(constraint, constraint)

    def solve() -> ObjectSolutions:
        found = solve_objects(left, right, pairs, turned, limit=limit)
        proofs.open += int((~found.optimal).sum())
        return found

    if limit is None:
        found = solve()
    else:
        arrays = (doc, u, v, weight, need, x, y)
        found = proofs.once(("latent", turned, limit), arrays, solve)
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


def _settled(node: Similarity, r: Any, p: Any, r_owners: I64, p_owners: I64, solved: Solved) -> tuple[Any, Any, Any]:
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
        _replaced(node, lambda _: Settled()),
        _changed(node, r, r_owners, of_reference),
        _changed(node, p, p_owners, of_predicted),
    )


def _codes(node: Similarity, column: Any) -> list[Codes]:
    found: list[Codes] = []

    def note(codes: Codes, _: I64) -> Codes:
        found.append(codes)
        return codes

    _changed(node, column, np.zeros(len(column), np.int64), note)
    return found


# The nodes


@dataclass(frozen=True, repr=False)
class Latent(Matching):
    """Σ over objects with variables, under the best 1:1 map of the variables (eq. 36)."""

    constraint: str = "1:1"
    limit: float | None = None
    upper: bool = False
    name = "latent"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.constraint in CONSTRAINTS,
            f"unknown constraint {self.constraint!r}; expected one of {', '.join(CONSTRAINTS)} "
            f"(prediction : reference)",
        )
        require_limit(self)
        _check_items(self.inner, self.name)

    def _arguments(self) -> Iterator[str]:
        yield repr(self.inner)
        yield self.constraint
        if self.limit is not None:
            yield f"limit={shown(self.limit)}"

    @property
    def regular(self) -> bool:
        return self.constraint == "1:1" and self.inner.regular

    def mirrored(self) -> Similarity:
        inner = self.inner.mirrored()
        assert isinstance(inner, Similarity)
        return replace(self, inner=inner, constraint=_TURNED.get(self.constraint, self.constraint))

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        with binding(scope):
            r, p = super()._encode_bags(left, right, scope)
        proofs = Proofs.of(scope)
        return WatchedItems(r.offsets, r.items, proofs), WatchedItems(p.offsets, p.items, proofs)

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ for every pair of owners that has one above 0."""
        return self._solved(r, p, blocks)[0].sums(self, r, p)

    def matched(self, r: Items, p: Items) -> Pairs:
        """The object pairs that make up Σ, owner k against owner k."""
        solved, pairs = self._solved(r, p, Blocks.diagonal(len(r)))
        at = solved.matched
        return Pairs(pairs.i[at], pairs.j[at], pairs.weight[at])

    def _solved(self, r: Items, p: Items, blocks: Blocks) -> tuple[Solved, Candidates]:
        found = candidates(self.inner, r.items, p.items, blocks.at(r.owners, p.owners))
        group = Group(found, r.owners, p.owners)
        return solve_groups([group], len(r), len(p), self.constraint, self.limit, _proofs(r)), found

    def settled(self, r: Items, p: Items, i: I64, j: I64) -> tuple[Similarity, Items, Items]:
        """An ordinary matching that has the same value for the aligned owners (i, j), as the map is known."""
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i)))[0], i, j)
        inner, left, right = _settled(self.inner, r.items, p.items, r.owners, p.owners, solved)
        literal = self.constraint in _TURNED
        return Match(inner, self.constraint, literal=literal), replace(r, items=left), replace(p, items=right)

    def _selves(self, column: Items) -> F64:
        if self.constraint == "N:N" or not self.inner.regular:
            return _counted_apart(_proofs(column), lambda: replace(self, upper=False)._solved_selves(column))
        return super()._selves(column)


@dataclass(frozen=True, repr=False)
class Scoped(Similarity):
    """φ under the best 1:1 map of the variables in it, where φ is a sum over collections and single values."""

    inner: Similarity
    limit: float | None = None
    upper: bool = False
    name = "scoped"

    def __post_init__(self) -> None:
        require(
            isinstance(self.inner, Similarity),
            f"scoped() needs a similarity inside, such as each(nodes=match(...)); found {self.inner!r}",
        )
        require_limit(self)
        constraints = set(_check_scoped(self.inner))
        require(
            len(constraints) < 2,
            f"scoped() needs one constraint for all collections with variables, found {', '.join(sorted(constraints))}",
        )

    def _arguments(self) -> Iterator[str]:
        yield repr(self.inner)
        if self.limit is not None:
            yield f"limit={shown(self.limit)}"

    @property
    def constraint(self) -> str:
        """The one constraint of the collections inside."""
        return next(_check_scoped(self.inner), "1:1")

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Watched, Watched]:
        with binding(scope):
            r, p = self.inner.encode(reference, predicted, scope)
        proofs = Proofs.of(scope)
        return Watched(r, proofs), Watched(p, proofs)

    def _pairs(self, r: Watched, p: Watched, blocks: Blocks) -> Pairs:
        sums = self._solved(r, p, blocks).sums(self, r, p)
        return Pairs(sums.i, sums.j, sums.total)

    def _solved(self, r: Watched, p: Watched, blocks: Blocks) -> Solved:
        rows, columns = np.arange(len(r), dtype=np.int64), np.arange(len(p), dtype=np.int64)
        groups = list(_groups(self.inner, r.column, p.column, rows, columns, blocks, 1.0))
        return solve_groups(groups, len(r), len(p), self.constraint, self.limit, r.proofs)

    def settled(self, r: Watched, p: Watched, i: I64, j: I64) -> tuple[Similarity, Column, Column]:
        """φ itself, with the variables' map known for the aligned rows (i, j)."""
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i))), i, j)
        rows, columns = np.arange(len(r), dtype=np.int64), np.arange(len(p), dtype=np.int64)
        return _settled(self.inner, unshared(r.column), unshared(p.column), rows, columns, solved)

    def _selves(self, column: Watched) -> F64:
        if self.constraint == "N:N" or not self._regular_items:
            return _counted_apart(column.proofs, lambda: self._solved_selves(column))
        return self.inner.selves(column.column)

    def _solved_selves(self, column: Watched) -> F64:
        found = replace(self, upper=False).pairs(column, column, Blocks.diagonal(len(column)))
        out = np.zeros(len(column))
        out[found.i] = found.weight
        return out

    @property
    def _regular_items(self) -> bool:
        """Whether every object's best partner is itself."""
        items = (node.inner for node in self.inner.walk() if isinstance(node, Match) and has_variables(node))
        return all(item.regular for item in items)


def _check_scoped(node: Node) -> Iterator[str]:
    """The constraints of the collections that have variables; an error where variables stand elsewhere."""
    if isinstance(node, Match) and has_variables(node):
        _check_items(node.inner, "scoped")
        yield node.constraint
    elif isinstance(node, Weighted):
        yield from _check_scoped(node.inner)
    elif isinstance(node, Each):
        for _, part in node.parts():
            yield from _check_scoped(part.inner if isinstance(part, Optional) else part)
    else:
        _check_items(node, "scoped")


def _groups(
    node: Similarity, r: Any, p: Any, rows: I64, columns: I64, blocks: Blocks, factor: float
) -> Iterator[Group]:
    """The collections and single values of a sum; `rows` and `columns` say which scope a row belongs to."""
    if isinstance(r, Shared) or isinstance(p, Shared):
        r, p = unshared(r), unshared(p)
    if isinstance(node, Each) and has_variables(node):
        for (_, part, a, i), (_, _, b, j) in zip(node.by_field(r), node.by_field(p), strict=True):
            yield from _groups(
                part, a, b, rows if i is None else rows[i], columns if j is None else columns[j], blocks, factor
            )
    elif isinstance(node, Weighted):
        yield from _groups(node.inner, r, p, rows, columns, blocks, factor * node.weight)
    elif isinstance(node, Match) and has_variables(node):
        r_owners, p_owners = rows[r.owners], columns[p.owners]
        found = candidates(node.inner, r.items, p.items, blocks.at(r_owners, p_owners))
        yield Group(found, r_owners, p_owners, factor)
    else:
        yield Group(candidates(node, r, p, blocks.at(rows, columns)), rows, columns, factor)


def _aligned(solved: Solved, i: I64, j: I64) -> Solved:
    """The solution for rows that were taken out, in terms of the rows they are."""
    return replace(solved, i=i[solved.i], j=j[solved.j])


def _proofs(column: Items) -> Proofs:
    return column.proofs if isinstance(column, WatchedItems) else Proofs()


def _counted_apart(proofs: Proofs, solve: Callable[[], F64]) -> F64:
    """Self-scores that are solved: what they leave open is another matter than the score's own bounds."""
    before = proofs.open
    found = solve()
    proofs.open_selves += proofs.open - before
    proofs.open = before
    return found


def latent(inner: Similarity, constraint: str = "1:1", *, limit: float | None = None) -> Latent:
    """Σ over objects whose `var`s are mapped 1:1 in the best way (eq. 36); `limit` in seconds for each problem."""
    return Latent(inner, constraint, None if limit is None else float(limit))


def scoped(inner: Similarity, *, limit: float | None = None) -> Scoped:
    """A sum over several collections that share their variables, under the best 1:1 map of them."""
    return Scoped(inner, None if limit is None else float(limit))
