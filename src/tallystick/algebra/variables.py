"""Latent variables: values whose names mean nothing, only that equal names are one thing (eq. 34).

    instance(x, boy)  ARG0(w, x)        instance(a, boy)  ARG0(b, a)         x is a, w is b

Whether two variables are the same is settled by the enclosing `latent` or `scoped`, which looks for the best 1:1
map of all variables of both sides. Until then `var` matches anything: it is an upper bound, and refines nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.algebra.exact import Exact
from tallystick.algebra.node import Similarity
from tallystick.engine.blocks import Blocks, Pairs
from tallystick.engine.codes import comparable, leaf_values
from tallystick.engine.data import Data, Scope
from tallystick.engine.encoded import Codes
from tallystick.errors import MetricError

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


@dataclass(frozen=True, repr=False)
class Variable(Similarity):
    """1 if the map of variables says so; as long as there is none, 1."""

    name = "var"

    def __repr__(self) -> str:
        return "var"

    @property
    def exact_only(self) -> bool:
        return True

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


@dataclass(frozen=True, repr=False)
class Unmatched(Variable):
    """A variable that the map leaves alone: it matches nothing."""

    @property
    def exact_only(self) -> bool:
        return False

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        return Pairs.none()


@dataclass(frozen=True, repr=False)
class Settled(Exact):
    """A variable whose map is known: both sides' codes say which is which."""

    name = "var"

    def __repr__(self) -> str:
        return "var"


var = Variable()
