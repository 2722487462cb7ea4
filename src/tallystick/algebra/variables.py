"""Latent variables: values whose names mean nothing, only that equal names are one thing (eq. 34).

    instance(x, boy)  ARG0(w, x)        instance(a, boy)  ARG0(b, a)         x is a, w is b

Whether two variables are the same is settled by the enclosing `latent` or `scoped`, which looks for the best 1:1
map of all variables of both sides. Until then `var` matches anything: it is an upper bound, and refines nothing.

So which pairs of objects can match at all, and for how much, is asked of the inner similarity, with `var` as a wild card;
each pair *needs* that its variables be mapped to each other (eq. 41). A product is all or nothing: without all of its needs
a pair is worth nothing. A sum of fields is not. A pair of such objects becomes several *alternatives*, one for each set of
variables that are mapped, of which one is taken:

    each(rel=exact, subj=var)       1 for equal relations, needs nothing;     2, needs x→y
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np

from tallystick.algebra.exact import Exact
from tallystick.algebra.node import Change, Node, Similarity
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks, Pairs, look_up
from tallystick.engine.codes import comparable, leaf_values
from tallystick.engine.data import Data, Scope
from tallystick.engine.encoded import Codes, Column
from tallystick.errors import MetricError
from tallystick.frozen import frozen

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
    """1 if the map of variables says so; as long as there is none, 1."""

    name = "var"
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
    def says(self) -> str:
        return "mapped to each other"

    @property
    def exact_only(self) -> bool:
        return True

    @property
    def all_or_nothing(self) -> bool:
        return True

    def _changed(self, column: Codes, owners: I64, change: Change) -> Codes:
        return change(column, owners)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        if not scope.memo.get(_OPEN):
            raise MetricError(
                f"at {scope}: var stands outside of latent(...), so that nobody says which variables are the same"
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


def check_items(node: Similarity, whole: str) -> None:
    """Variables may stand in records, sums and cases, at any depth, but not in a collection inside of an item."""
    if not node.has_variables:
        return
    if not node.carries_variables:
        raise MetricError(
            f"{whole}: a var inside of {node.name}(...) would need a map for each item; "
            f"give the items of the inner collection as objects of their own, or a latent(...) of their own"
        )
    for _, part in node.parts():
        if isinstance(part, Similarity):
            check_items(part, whole)


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

    node.changed(column, np.arange(len(column), dtype=np.int64), note)
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
