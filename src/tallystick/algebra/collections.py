"""Similarities of two collections that are not normalised sums: subset, shared links, the best pair, supertypes.

Each is worked out from the same Σ as everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.exact import exact
from tallystick.algebra.hierarchy import ancestors, parents_table
from tallystick.algebra.kernel import DELTA, F_LEMMA, STRONG_SUM, Kernel
from tallystick.algebra.node import Similarity, Table, require
from tallystick.algebra.normalise import F
from tallystick.algebra.sets import Match, best_of_each, sample_items
from tallystick.engine.arrays import F64, Blocks, Pairs, offsets_of
from tallystick.engine.data import Data, Objects, Scope
from tallystick.engine.encoded import Codes, Column, Items, code_jointly, leaf_values
from tallystick.errors import did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

TOLERANCE = 1e-9
SIDES = ("reference", "predicted")


@frozen
class OverItems(Similarity):
    """A similarity of collections, given the similarity of their items."""

    inner: Similarity

    @property
    def matching(self) -> Match:
        return Match(self.inner)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.matching.encode(reference, predicted, scope)

    @property
    def is_leaf(self) -> bool:
        return False

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return replace(here.inside(self.matching), diagnostic=True).below()

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return sample_items(self.inner, rng, depth)


def with_empties(found: Pairs, r: Items, p: Items, blocks: Blocks, one: str = "") -> Pairs:
    """Two empty collections in one block are equal: a pair of weight 1. With `one`, that side's will do."""
    empty_r = np.flatnonzero((np.diff(r.offsets) == 0) | (one == "predicted"))
    empty_p = np.flatnonzero((np.diff(p.offsets) == 0) | (one == "reference"))
    i, j = blocks.at(empty_r, empty_p).pairs()
    return Pairs(
        np.concatenate((found.i, empty_r[i])),
        np.concatenate((found.j, empty_p[j])),
        np.concatenate((found.weight, np.ones(len(i)))),
    )


@frozen
class Subset(OverItems):
    """1 if the predicted collection is not empty and lies inside the reference (eq. 25).

    With `empty`, an empty one lies inside every other, as eq. 25 is printed and as grit has it.
    """

    side: str = "predicted"
    empty: bool = False
    name = "subset"
    says = "predicted, non-empty, inside the reference"

    def __post_init__(self) -> None:
        require(
            self.side in SIDES,
            f"subset(): side must be {' or '.join(SIDES)}, found {self.side!r}.{did_you_mean(self.side, SIDES)}",
        )

    def mirrored(self) -> Subset:
        other = "reference" if self.side == "predicted" else "predicted"
        return replace(self, inner=self.inner.mirrored(), side=other)

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        sums = self.matching.sums(r, p, blocks)
        mine = self.matching.selves(p)[sums.j] if self.side == "predicted" else self.matching.selves(r)[sums.i]
        inside = sums.total >= mine - TOLERANCE
        found = Pairs(sums.i[inside], sums.j[inside], np.ones(int(inside.sum())))
        return with_empties(found, r, p, blocks, self.side if self.empty else "")


@frozen
class Links(OverItems):
    """max(0, |X ∩ Y| - 1): how many links of a chain two entities share (eq. 21)."""

    name = "links"
    says = "the links of a chain"

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        sums = self.matching.sums(r, p, blocks)
        return Pairs(sums.i, sums.j, np.maximum(sums.total - 1, 0)).positive()

    def _selves(self, column: Items) -> F64:
        return np.maximum(self.matching.selves(column) - 1, 0)


@frozen
class Best(OverItems):
    """The largest similarity of any pair of items: with any of the strings of an entity, say."""

    name = "best"

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        found = self.matching.item_pairs(r, p, blocks)
        i, j = r.owners[found.i], p.owners[found.j]
        groups = i * len(p) + j
        top = best_of_each(groups, len(r) * len(p), np.zeros(len(i), np.int64), 1, found.weight)
        return with_empties(Pairs(i[top], j[top], found.weight[top]), r, p, blocks)

    def _selves(self, column: Items) -> F64:
        own = self.inner.selves(column.items)
        out = np.zeros(len(column))
        np.maximum.at(out, column.owners, own)
        out[np.diff(column.offsets) == 0] = 1.0
        return out


@frozen
class Supertypes(Similarity):
    """F1 of the sets of supertypes, each type among its own (eq. 39). A value may be a set of types."""

    parents: Table
    name = "supertypes"

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA.because(STRONG_SUM).because(F_LEMMA)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.choice([child for child, _ in self.parents])

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        above = ancestors(self.parents)
        bags = [[_closure(value, above) for value in leaf_values(side, scope)] for side in (reference, predicted)]
        left, right = ([one for bag in side for one in bag] for side in bags)
        a, b, bound = code_jointly(Objects(left), Objects(right), scope)
        return (
            Items(offsets_of([len(bag) for bag in bags[0]]), Codes(a, bound)),
            Items(offsets_of([len(bag) for bag in bags[1]]), Codes(b, bound)),
        )

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        return F(Match(exact)).pairs(r, p, blocks)


def _closure(value: Any, above: Mapping[Any, set[Any]]) -> dict[Any, None]:
    types: Iterable[Any] = value if isinstance(value, (set, frozenset, list)) else (value,)
    out = dict.fromkeys(types)
    for one in list(out):
        out.update(dict.fromkeys(above.get(one, ())))
    return out


def subset(inner: Similarity, *, side: str = "predicted", empty: bool = False) -> Subset:
    """1 if the predicted collection is not empty (unless `empty`) and lies inside the reference (eq. 25)."""
    return Subset(inner, side, empty)


def links(inner: Similarity) -> Links:
    """The number of shared links, max(0, |X ∩ Y| - 1) (eq. 21)."""
    return Links(inner)


def best(inner: Similarity) -> Best:
    """The largest similarity of any pair of items."""
    return Best(inner)


def supertypes(parents: Mapping[Any, Any]) -> Supertypes:
    """F1 of the sets of supertypes (eq. 39)."""
    return Supertypes(parents_table(parents))
