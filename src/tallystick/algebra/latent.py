"""Matching with latent variables in the algebra (eq. 35, 36).

    latent(record(rel=exact, subj=var, obj=var))        Σ over objects, with the best 1:1 map of their variables
    scoped(each(nodes=match(record(id=var, label=exact)),
                edges=match(record(source=var, target=var, label=exact))))     several collections, one map

`candidates` says which pairs of objects may match and what they need, `mapping` finds the best map of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tallystick.algebra.mapping import (
    Candidates,
    Group,
    Solved,
    candidates,
    check_items,
    has_variables,
    settle,
    solve_groups,
)
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import Node, Similarity, require, shown
from tallystick.algebra.proofs import Proofs, Watched, WatchedItems, require_limit
from tallystick.algebra.records import Each
from tallystick.algebra.sets import Constrained, Match, Sums, turned
from tallystick.algebra.variables import binding
from tallystick.algebra.weights import Weighted
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks, Pairs
from tallystick.engine.data import Bag, Data, Scope
from tallystick.engine.encoded import Column, Items, Shared, unshared


@dataclass(frozen=True, repr=False)
class Latent(Constrained):
    """Σ over objects with variables, under the best 1:1 map of the variables (eq. 36)."""

    limit: float | None = None
    upper: bool = False
    name = "latent"
    binds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_limit(self)
        check_items(self.inner, self.name)

    def _arguments(self) -> Iterator[str]:
        yield from super()._arguments()
        if self.limit is not None:
            yield f"limit={shown(self.limit)}"

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
        return solve_groups([group], len(p), self.constraint, self.limit, _proofs(r)), found

    def settled(self, r: Items, p: Items, i: I64, j: I64) -> tuple[Similarity, Items, Items]:
        """An ordinary matching that has the same value for the aligned owners (i, j), as the map is known."""
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i)))[0], i, j)
        inner, left, right = settle(self.inner, r.items, p.items, r.owners, p.owners, solved)
        literal = self.constraint != turned(self.constraint)
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
    binds: ClassVar[bool] = True

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
        return solve_groups(groups, len(p), self.constraint, self.limit, r.proofs)

    def settled(self, r: Watched, p: Watched, i: I64, j: I64) -> tuple[Similarity, Column, Column]:
        """φ itself, with the variables' map known for the aligned rows (i, j)."""
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i))), i, j)
        rows, columns = np.arange(len(r), dtype=np.int64), np.arange(len(p), dtype=np.int64)
        return settle(self.inner, unshared(r.column), unshared(p.column), rows, columns, solved)

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
        check_items(node.inner, "scoped")
        yield node.constraint
    elif isinstance(node, Weighted):
        yield from _check_scoped(node.inner)
    elif isinstance(node, Each):
        for _, part in node.parts():
            yield from _check_scoped(part.inner if isinstance(part, Optional) else part)
    else:
        check_items(node, "scoped")


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


def as_limit(limit: float | None) -> float | None:
    """A time limit in seconds; None for none."""
    plain = isinstance(limit, (int, float)) and not isinstance(limit, bool)
    require(limit is None or (plain and limit == limit), f"limit must be seconds, found {limit!r:.60}")
    return None if limit is None else float(limit)


def latent(inner: Similarity, constraint: str = "1:1", *, limit: float | None = None) -> Latent:
    """Σ over objects whose `var`s are mapped 1:1 in the best way (eq. 36); `limit` in seconds for each problem."""
    return Latent(inner, constraint, as_limit(limit))


def scoped(inner: Similarity, *, limit: float | None = None) -> Scoped:
    """A sum over several collections that share their variables, under the best 1:1 map of them."""
    return Scoped(inner, as_limit(limit))
