"""Matching with latent variables in the algebra (eq. 35, 36).

    latent(record(rel=exact, subj=var, obj=var))        Σ over objects, with the best 1:1 map of their variables
    scoped(each(nodes=match(record(id=var, label=exact)),
                edges=match(record(source=var, target=var, label=exact))))     several collections, one map

`candidates` says which pairs of objects may match and what they need; `solve_groups` finds the best map of the variables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.exact import Exact
from tallystick.algebra.node import Change, Node, Similarity, require
from tallystick.algebra.proofs import Limited, Proofs, Watched, WatchedItems, bounded_sums
from tallystick.algebra.sets import Constrained, Match, Matching, turned
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Codes,
    Column,
    Items,
    Mask,
    Pairs,
    Sums,
    look_up,
    number,
    unshared,
)
from tallystick.engine.data import Bag, Data, Scope, leaf_values
from tallystick.engine.latent import ObjectPairs, ObjectSolutions, solve_objects
from tallystick.engine.latent_pairs import Claims, hopeless, outlined
from tallystick.engine.values import Refusals, comparable
from tallystick.errors import MetricError
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


@frozen
class Latent(Limited, Constrained):
    """Σ over objects with variables, under the best 1:1 map of the variables (eq. 36)."""

    name = "latent"
    says = "the best 1:1 map of the variables"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inner.check_variables(self.name, "object")

    @property
    def has_variables(self) -> bool:
        return False  # those inside are mapped here

    def in_words(self) -> tuple[str, ...]:
        return (f"bag, matched {self.constraint} under the best map of the variables",)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        raise NotImplementedError(str(self))

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        with binding(scope):
            r, p = super()._encode_bags(left, right, scope)
        proofs = Proofs.of(scope)
        return WatchedItems(r.offsets, r.items, proofs=proofs), WatchedItems(p.offsets, p.items, proofs=proofs)

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ for every pair of owners that has one above 0."""
        return self._solved(r, p, blocks)[0].sums(self, r, p)

    def matched(self, r: Items, p: Items) -> Pairs:
        """The object pairs that make up Σ, owner k against owner k."""
        solved, pairs = self._solved(r, p, Blocks.diagonal(len(r)))
        at = solved.matched
        return Pairs(pairs.i[at], pairs.j[at], pairs.weight[at])

    def _solved(self, r: Items, p: Items, blocks: Blocks) -> tuple[Solved, Candidates]:
        began, within = time.monotonic(), blocks.at(r.owners, p.owners)
        part = (self.inner, r.items, p.items, r.owners, p.owners, within, 1.0)
        groups = list_groups([part], self.constraint, self.seconds, began)
        return solve_groups(groups, len(p), self.constraint, self.seconds, _proofs(r), began), groups[0].pairs

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        # An ordinary matching has the same value for the aligned owners once the variables' map is known.
        r, p, i, j = here.reference, here.predicted, here.i, here.j
        assert isinstance(r, Items)
        assert isinstance(p, Items)
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i)))[0], i, j)
        inner, left, right = settle(self.inner, r.items, p.items, r.owners, p.owners, solved)
        literal = self.constraint != turned(self.constraint)
        ordinary = Match(inner, self.constraint, literal=literal)
        return here.at(ordinary, replace(r, items=left), replace(p, items=right)).below()

    def _selves(self, column: Items) -> F64:
        if self.constraint == "N:N" or not self.inner.regular:
            return _counted_apart(_proofs(column), lambda: replace(self, upper=False)._solved_selves(column))
        return super()._selves(column)


@frozen
class _Scope(Similarity):
    """The field that stands before the limit."""

    inner: Similarity


@frozen
class Scoped(Limited, _Scope):
    """φ under the best 1:1 map of the variables in it, where φ is a sum over collections and single values."""

    name = "scoped"
    says = "each value with variables of its own"
    letter = "M"

    def __post_init__(self) -> None:
        require(
            isinstance(self.inner, Similarity),
            f"scoped() needs a similarity inside, such as each(nodes=match(...)); found {self.inner!r}",
        )
        super().__post_init__()
        constraints = set(self.inner.scope_constraints())
        require(
            len(constraints) < 2,
            f"scoped() needs one constraint for all collections with variables, found {', '.join(sorted(constraints))}",
        )

    def same_values(self) -> Sequence[Similarity]:
        return (self.inner,)

    @property
    def has_variables(self) -> bool:
        return False  # those inside are mapped here

    @property
    def is_leaf(self) -> bool:
        return False

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return self.inner.accept(value, path, refusals)

    @property
    def void(self) -> Any:
        return self.inner.void

    @property
    def constraint(self) -> str:
        """The one constraint of the collections inside."""
        return next(self.inner.scope_constraints(), "1:1")

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
        began = time.monotonic()
        parts = list(self.inner.scope_groups(r.column, p.column, rows, columns, blocks, 1.0))
        groups = list_groups(parts, self.constraint, self.seconds, began)
        return solve_groups(groups, len(p), self.constraint, self.seconds, r.proofs, began)

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        # φ itself, with the variables' map known for the aligned rows (i, j).
        r, p, i, j = here.reference, here.predicted, here.i, here.j
        assert isinstance(r, Watched)
        assert isinstance(p, Watched)
        solved = _aligned(self._solved(r.take(i), p.take(j), Blocks.diagonal(len(i))), i, j)
        rows, columns = np.arange(len(r), dtype=np.int64), np.arange(len(p), dtype=np.int64)
        return here.at(*settle(self.inner, unshared(r.column), unshared(p.column), rows, columns, solved)).below()

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
        return all(node.inner.regular for node in self.inner.walk() if isinstance(node, Match) and node.has_variables)


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
    """Σ over objects whose `var`s are mapped 1:1 in the best way (eq. 36); `limit` in seconds for each problem.

    >>> facts = ts.f1(ts.latent(ts.record(relation=ts.exact, subject=ts.var, object=ts.var)))
    >>> gold = [{"relation": "ARG0", "subject": "w", "object": "b"}, {"relation": "ARG1", "subject": "w", "object": "g"}]
    >>> facts(gold, [{"relation": "ARG0", "subject": "x", "object": "y"}])
    0.6666666666666666
    """
    return Latent(inner, constraint, limit)


def scoped(inner: Similarity, *, limit: float | None = None) -> Scoped:
    """A sum over several collections that share their variables, under the best 1:1 map of them.

    >>> graph = ts.scoped(ts.each(nodes=ts.match(ts.record(id=ts.var, label=ts.exact)), roots=ts.match(ts.var)))
    >>> ts.f1(graph)({"nodes": [{"id": 1, "label": "boy"}], "roots": [1]}, {"nodes": [{"id": "b", "label": "boy"}], "roots": ["b"]})
    1.0
    """
    return Scoped(inner, limit)


# The best map of the variables for each pair of owners, and what the columns look like once the map is known.
#
# All pairs of owners of a corpus are solved side by side (see `engine.latent`).


@frozen(eq=False)
class Group:
    """Candidates of one collection, and the owners of its two sides' rows."""

    pairs: Candidates
    r_owners: I64
    p_owners: I64
    factor: float = 1.0
    most: tuple[I64, I64, F64] | None = None
    """The owners whose candidates are not all listed, and what all their groups can earn at most."""


@frozen(eq=False)
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
        return bounded_sums(node, r, p, self.i, self.j, self.lower, self.upper, self.optimal)


def solve_groups(
    groups: Sequence[Group], n_columns: int, constraint: str, limit: float, proofs: Proofs, began: float
) -> Solved:
    """The best map of the variables, and the best matching under it, for each pair of owners."""
    owners = np.concatenate([g.r_owners[g.pairs.i] * n_columns + g.p_owners[g.pairs.j] for g in groups])
    vast = groups[0].most
    outlines = owners[:0] if vast is None else vast[0] * n_columns + vast[1]
    if not len(owners) + len(outlines):
        return Solved.none()
    keys = np.unique(np.concatenate((owners, outlines)))
    doc = np.searchsorted(keys, owners)
    n = len(keys)
    starts = np.cumsum([0, *(len(g.pairs.i) for g in groups)])
    weight = np.concatenate([g.pairs.weight * g.factor for g in groups])
    need = np.concatenate([g.pairs.need + start for g, start in zip(groups, starts, strict=False)])
    a, b = (np.concatenate([getattr(g.pairs, name) for g in groups]) for name in ("a", "b"))

    # Objects are numbered by problem, group and row; where alternatives exclude only each other, by pair.
    kind = np.repeat(np.arange(len(groups)), np.diff(starts))
    i, j = (np.concatenate([getattr(g.pairs, name) for g in groups]) for name in ("i", "j"))
    height, width = int(i.max(initial=0)) + 1, int(j.max(initial=0)) + 1
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
    way = turned(constraint)  # in `engine.latent` the reference is the first side

    def solve() -> ObjectSolutions:
        spent = (time.monotonic() - began) / max(1, n)
        found = solve_objects(left, right, pairs, way, limit=max(limit / 10, limit - spent))
        if vast is not None:
            at, upper, optimal = np.searchsorted(keys, outlines), found.upper.copy(), found.optimal.copy()
            upper[at] = np.maximum(found.lower[at], vast[2])
            optimal[at] = upper[at] <= found.lower[at]
            found = replace(found, upper=upper, optimal=optimal)
        proofs.open += int((~found.optimal).sum())
        return found

    found = proofs.once(("latent", way, limit), (doc, u, v, weight, need, x, y), solve)
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
        node.change_variables(r, r_owners, of_reference),
        node.change_variables(p, p_owners, of_predicted),
    )


def _codes(node: Similarity, column: Any) -> list[Codes]:
    found: list[Codes] = []

    def note(codes: Codes, _: I64) -> Codes:
        found.append(codes)
        return codes

    node.change_variables(column, np.zeros(len(column), np.int64), note)
    return found


_A_PAIR = 2.5  # times what an engine's link takes, until a pair of objects has become one


def list_groups(parts: Sequence[Any], constraint: str, limit: float, began: float) -> list[Group]:
    """The candidates of some collections that share their variables. Where they are too many to be listed within the limit, only those
    that one map of the variables makes equal."""

    def listed(most: tuple[I64, I64, F64] | None = None) -> list[Group]:
        return [Group(candidates(node, a, b, within), i, j, f, most) for node, a, b, i, j, within, f in parts]

    rows = sum(len(part[3]) for part in parts) * sum(len(part[4]) for part in parts)
    if constraint != "1:1" or not hopeless(np.array([_A_PAIR * rows]), limit).any():
        return listed()
    if not all(node.exact_only and not _holds_variables(node) for node, *_ in parts):
        return listed()
    owners = 1 + max(int(part[3].max(initial=0)) for part in parts)
    cells, most, partner = np.zeros(owners), np.zeros(owners), np.zeros(owners, np.int64)
    refined: list[tuple[Blocks, I64]] = []
    for node, a, b, i, j, within, factor in parts:
        blocks = node.refine(a, b, within).dense()
        home, their = np.full(blocks.bound, -1, np.int64), np.full(blocks.bound, -1, np.int64)
        home[blocks.reference], their[blocks.predicted] = i, j
        if (home[blocks.reference] != i).any() or (their[blocks.predicted] != j).any():
            return listed()  # owners that meet several others
        ours, theirs = (np.bincount(side, minlength=blocks.bound) for side in (blocks.reference, blocks.predicted))
        met = np.flatnonzero((home >= 0) & (their >= 0))
        partner[home[met]] = their[met]
        cells += np.bincount(home[met], (ours * theirs)[met], owners)
        most += np.bincount(home[met], factor * np.minimum(ours, theirs)[met], owners)
        refined.append((blocks, home))
    vast = hopeless(_A_PAIR * cells, limit)
    if not vast.any():
        return listed()
    parts = _under_one_map(parts, refined, vast, began + limit * owners / 2)
    at = np.flatnonzero(vast)
    return listed((at, partner[at], most[at]))


def _under_one_map(
    parts: Sequence[Any], refined: Sequence[tuple[Blocks, I64]], vast: Mask, deadline: float
) -> list[Any]:
    """The parts with finer blocks: in the owners that are too large, objects meet only if their variables are mapped to each other."""
    keys: tuple[list[I64], list[I64]] = ([], [])
    tables: tuple[list[I64], list[I64]] = ([], [])
    problems: tuple[list[I64], list[I64]] = ([], [])
    base, width = 0, max(len(_variables(node, a)) for node, a, *_ in parts)
    for (node, a, b, *_), (blocks, home) in zip(parts, refined, strict=True):
        for side, (column, codes) in enumerate(((a, blocks.reference), (b, blocks.predicted))):
            table = np.full((len(codes), width), -1, np.int64)
            for place, values in enumerate(_variables(node, column)):
                table[:, place] = values
            keys[side].append(codes + base)
            tables[side].append(table)
            problems[side].append(home[codes])
        base += blocks.bound
    sides = []
    for side in (0, 1):
        key, table, problem = (np.concatenate(one[side]) for one in (keys, tables, problems))
        top = int(table.max(initial=0)) + 1
        used = (table >= 0) & (problem >= 0)[:, None]
        names, number_ = np.unique((problem[:, None] * top + table)[used], return_inverse=True)
        at = np.full(table.shape, -1, np.int64)
        at[used] = number_.reshape(-1)
        inside = (problem >= 0) & vast[problem]
        sides.append((key, at, inside, names // top))
    (key, at, inside, of), (their_key, their_at, there, their_of) = sides
    maps = outlined(
        Claims(key[inside], at[inside]), Claims(their_key[there], their_at[there]), (of, their_of), deadline
    )
    image = np.where(at >= 0, np.append(maps, -1)[at], -1)
    lost = inside & ((at >= 0) & (image < 0)).any(1)
    image[~inside], their_image = -1, np.where(there[:, None], their_at, -1)
    every = np.column_stack(
        (np.concatenate([np.where(lost, -1, key), their_key]), np.concatenate([image, their_image]))
    )
    _, codes = np.unique(every, axis=0, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    found, first, second = [], 0, len(key)
    for node, a, b, i, j, _, factor in parts:
        finer = Blocks(codes[first : first + len(i)], codes[second : second + len(j)], len(every))
        found.append((node, a, b, i, j, finer, factor))
        first, second = first + len(i), second + len(j)
    return found


def _holds_variables(node: Similarity) -> bool:
    """Whether collections inside have variables."""
    return any(isinstance(part, Matching) and part.has_variables for part in node.walk())


# Latent variables: values whose names mean nothing, only that equal names are one thing (eq. 34).
#
#     instance(x, boy)  ARG0(w, x)        instance(a, boy)  ARG0(b, a)         x is a, w is b
#
# Whether two variables are the same is settled by the enclosing `latent` or `scoped`, which looks for the best 1:1
# map of all variables of both sides. Until then `var` matches anything: it is an upper bound, and refines nothing.
#
# So which pairs of objects can match at all, and for how much, is asked of the inner similarity, with `var` as a wild card;
# each pair *needs* that its variables be mapped to each other (eq. 41). A product is all or nothing: without all of its needs
# a pair is worth nothing. A sum of fields is not. A pair of such objects becomes several *alternatives*, one for each set of
# variables that are mapped, of which one is taken:
#
#     each(rel=exact, subj=var)       1 for equal relations, needs nothing;     2, needs x→y
#
# So does an object with a collection of variables inside, `needs: list[Var]`: one alternative for each map between the variables of the
# two objects, worth what the similarity is under that map.

_NUMBERS, _OPEN = "numbers of variables", "inside of latent"


@contextmanager
def binding(scope: Scope) -> Iterator[None]:
    """Inside, variables have a meaning: somebody will look for their map."""
    before = scope.memo.get(_OPEN, False)
    scope.memo[_OPEN] = True
    try:
        yield
    finally:
        scope.memo[_OPEN] = before


@frozen
class Variable(Similarity):
    """1 if the map of variables says so; as long as there is none, 1.

    >>> ts.f1(ts.latent(ts.record(id=ts.var, label=ts.exact)))([{"id": "x", "label": "boy"}], [{"id": "y", "label": "boy"}])
    1.0
    """

    name = "var"
    says = "mapped to each other"
    carries_variables = True

    @property
    def has_variables(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "var"

    @classmethod
    def chosen_by_name(cls) -> bool:
        return False  # a Var says so in the type

    @property
    def exact_only(self) -> bool:
        return True

    @property
    def all_or_nothing(self) -> bool:
        return True

    def _change_variables(self, column: Codes, owners: I64, change: Change) -> Codes:
        return change(column, owners)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        if not scope.memo.get(_OPEN):
            raise MetricError(
                f"at {scope}: var is outside latent(...), so nothing decides which variables are the same"
            )
        # One table for all fields: x as a subject is x as an object.
        numbers: dict[Any, int] = scope.memo.setdefault(_NUMBERS, {})
        sides = []
        for side in (reference, predicted):
            names = list(leaf_values(side, scope))
            kinds = set(map(type, names))
            keys = names if kinds <= {str} else comparable(names, kinds, scope)
            codes = [numbers.setdefault(key, len(numbers)) for key in keys]
            sides.append(np.array(codes, np.int64))
        bound = max(1, len(numbers))
        return Codes(sides[0], bound), Codes(sides[1], bound)

    def _takes(self, value: Any) -> bool:
        return True

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        return blocks

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        i, j = blocks.pairs()
        return Pairs(i, j, np.ones(len(i)))


@frozen
class Unmatched(Variable):
    """A variable that the map leaves alone: it matches nothing."""

    @property
    def exact_only(self) -> bool:
        return False

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        return Pairs.none()


@frozen
class Settled(Exact):
    """A variable whose map is known: both sides' codes say which is which."""

    name = "var"

    def __repr__(self) -> str:
        return "var"


var = Variable()


# Objects with variables: which pairs of them may match, for how much, and what that needs of the variables.

MOST_ALTERNATIVES = 8


def replaced(node: Similarity, change: Callable[[int], Similarity]) -> Similarity:
    """The expression with its n-th variable replaced by `change(n)`, in the order in which columns have them."""
    count = 0

    def visit(part: Node) -> Node:
        nonlocal count
        if isinstance(part, Variable):
            count += 1
            return change(count - 1)
        return part.rebuilt(visit) if part.has_variables else part

    found = visit(node)
    assert isinstance(found, Similarity)
    return found


def _variables(node: Similarity, column: Column) -> list[I64]:
    """For each variable of the expression the code that each row has there, -1 where it has none."""
    tables: list[I64] = []

    def note(codes: Codes, rows: I64) -> Codes:
        table = np.full(len(column), -1, np.int64)
        table[rows] = codes.codes
        tables.append(table)
        return codes

    node.change_variables(column, np.arange(len(column), dtype=np.int64), note)
    return tables


# Candidates: which pairs of objects may match, for how much, and what they need


@frozen(eq=False)
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
    if not node.has_variables:
        return _with_needs(node.pairs(r, p, blocks), [], [])
    if _holds_variables(node):
        return _mapped_candidates(node, r, p, blocks)
    left, right = _variables(node, r), _variables(node, p)
    if node.all_or_nothing:
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


# Objects with collections of variables inside

MOST_MAPS = 20_000
"""Of the variables of two objects; six against six have 13,327."""
Code = tuple[int, int]


def _mapped_candidates(node: Similarity, r: Column, p: Column, blocks: Blocks) -> Candidates:
    """A candidate for each map between the variables of two objects, with what the pair is worth under it."""
    found = node.pairs(r, p, blocks)  # with every variable a wild card: the most that a pair can be worth
    left, right = _places(node, r), _places(node, p)
    must = _forced(node, r, p, blocks, found, left, right)
    pair, maps = [], []
    for k, (i, j) in enumerate(zip(found.i.tolist(), found.j.tolist(), strict=True)):
        for one in _maps(left.get(i, {}), right.get(j, {}), must.get(k, ())):
            pair.append(k)
            maps.append(one)
    which = np.array(pair, np.int64)
    weight = _worth(node, r, p, found.i[which], found.j[which], maps)
    known = {(k, one): w for k, one, w in zip(pair, map(frozenset, maps), weight.tolist(), strict=True)}
    keep = [
        n
        for n, ((k, one), w) in enumerate(known.items())
        if w > 0 and all(w > known.get((k, one - {less}), 0.0) * (1 + 1e-12) for less in one)
    ]
    needs = [(t, a, b) for t, n in enumerate(keep) for a, b in maps[n]]
    need, a, b = (np.array([row[column] for row in needs], np.int64) for column in range(3))
    return Candidates(found.i[which[keep]], found.j[which[keep]], weight[keep], need, a, b, alternatives=True)


def _places(node: Similarity, column: Column) -> dict[int, dict[int, set[int]]]:
    """For each row its variables, and for each of these which variables of the expression it stands for."""
    out: dict[int, dict[int, set[int]]] = {}
    count = 0

    def note(codes: Codes, rows: I64) -> Codes:
        nonlocal count
        for row, code in zip(rows.tolist(), codes.codes.tolist(), strict=True):
            out.setdefault(row, {}).setdefault(code, set()).add(count)
        count += 1
        return codes

    node.change_variables(column, np.arange(len(column), dtype=np.int64), note)
    return out


def _forced(
    node: Similarity, r: Column, p: Column, blocks: Blocks, found: Pairs, left: dict[int, Any], right: dict[int, Any]
) -> dict[int, tuple[Code, ...]]:
    """Variables without which a pair is worth nothing, where each object has just one at that place."""
    out: dict[int, tuple[Code, ...]] = {}
    for n in range(len(_codes(node, unshared(r)))):
        without = replaced(node, lambda at, n=n: Unmatched() if at == n else Variable())  # type: ignore[misc]
        worth = look_up(without.pairs(r, p, blocks), found.i, found.j, len(p), len(r))
        for k in np.flatnonzero(worth == 0).tolist():
            ours, theirs = (
                [code for code, places in side.get(int(row), {}).items() if n in places]
                for side, row in ((left, found.i[k]), (right, found.j[k]))
            )
            if len(ours) == len(theirs) == 1:
                out[k] = (*out.get(k, ()), (ours[0], theirs[0]))
    return out


def _maps(left: dict[int, set[int]], right: dict[int, set[int]], must: Sequence[Code]) -> list[tuple[Code, ...]]:
    """Every partial 1:1 map between the variables of two objects that stand at the same places, with those that it must have."""
    fixed = tuple(dict.fromkeys(must))
    if len({a for a, _ in fixed}) < len(fixed) or len({b for _, b in fixed}) < len(fixed):
        return []
    maps: list[tuple[Code, ...]] = [fixed]
    for a, places in left.items():
        if any(a == known for known, _ in fixed):
            continue
        maps += [
            (*one, (a, b))
            for one in maps
            for b, others in right.items()
            if places & others and b not in {y for _, y in one}
        ]
        if len(maps) > MOST_MAPS:
            raise MetricError(
                f"two objects with {len(left)} and {len(right)} variables have more than {MOST_MAPS:,} maps between them; give the "
                "items of their collections as objects of their own"
            )
    return maps


def _worth(node: Similarity, r: Column, p: Column, i: I64, j: I64, maps: Sequence[Sequence[Code]]) -> F64:
    """What each pair of rows is worth under its map."""
    rows = np.arange(len(i), dtype=np.int64)
    owner = np.repeat(rows, [len(one) for one in maps])
    a, b = (np.array([code[side] for one in maps for code in one], np.int64) for side in (0, 1))
    solved = replace(Solved.none(), i=rows, j=rows, owner=owner, a=a, b=b)
    settled, left, right = settle(node, unshared(r).take(i), unshared(p).take(j), rows, rows, solved)
    found = settled.pairs(left, right, Blocks.diagonal(len(i)))
    return look_up(found, rows, rows, max(1, len(i)), max(1, len(i)))
