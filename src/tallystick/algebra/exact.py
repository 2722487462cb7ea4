"""δ, equality (eq. 1). It lists no pairs; it refines blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.kernel import DELTA, Kernel
from tallystick.algebra.node import Around, Similarity, require
from tallystick.engine.arrays import F64, Blocks, Pairs
from tallystick.engine.data import Data, Leaf, Scope, field
from tallystick.engine.encoded import Codes, Fields, Numbering, Unnumbered, code_jointly
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

LETTERS = 4
"""Different values in a random sample: few enough that they meet."""


@frozen
class Exact(Similarity):
    """1 if the values are equal, else 0."""

    name = "exact"
    says = "equal or not"

    def __repr__(self) -> str:
        return "exact"

    @property
    def exact_only(self) -> bool:
        return True

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.randrange(LETTERS)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
            numbering = Numbering(reference, predicted, lambda: code_jointly(reference, predicted, scope))
            return Unnumbered(reference, numbering, 0), Unnumbered(predicted, numbering, 1)
        left, right, bound = code_jointly(reference, predicted, scope)
        return Codes(left, bound), Codes(right, bound)

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        return blocks.refine(r.codes, p.codes, r.bound)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        if blocks.aligned:  # row against row: nothing to sort
            both = isinstance(r, Unnumbered) and isinstance(p, Unnumbered)
            i = j = np.flatnonzero(r.same(p) if both else r.codes == p.codes)  # type: ignore[attr-defined]
        else:
            i, j = self.refine(r, p, blocks).pairs()
        return Pairs(i, j, np.ones(len(i)))


exact = Exact()


# Items that are paired by a key: two of them can only meet if their keys are equal.
#
#     keyed(φ, "sku")(x, y) = ⟦x.sku = y.sku⟧ · φ(x, y)
#
# Inside a matching this makes a list keyed by a field, as `match(keyed(each(...), "sku"))`: the key is nothing but a
# finer block, so that large lists cost next to nothing, and two items with one key are still matched the best way.


@frozen
class Keyed(Around):
    """φ of two records whose key fields are equal, else 0."""

    inner: Similarity
    by: tuple[str, ...]
    name = "keyed"
    carries_variables = False

    def __post_init__(self) -> None:
        require(isinstance(self.inner, Similarity), f"keyed() needs a similarity, found {self.inner!r}")
        require(len(self.by) > 0, 'keyed() needs the name of a field: keyed(each(...), "sku")')

    def _arguments(self) -> Iterator[str]:
        yield repr(self.inner)
        yield from (f'"{name}"' for name in self.by)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Fields, Fields]:
        columns = [self.inner.encode(reference, predicted, scope)]
        for name in self.by:
            ours, theirs = (field(side, name, scope, True) for side in (reference, predicted))
            columns.append(exact.encode(ours, theirs, scope.field(name)))
        r, p = (Fields(tuple(pair[k] for pair in columns)) for k in (0, 1))
        return r, p

    def _pairs(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        for a, b in zip(r.columns[1:], p.columns[1:], strict=True):
            blocks = exact.refine(a, b, blocks)  # type: ignore[arg-type]
        return self.inner.pairs(r.columns[0], p.columns[0], blocks)

    def _selves(self, column: Fields) -> F64:
        return self.inner.selves(column.columns[0])

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        return here.at(self.inner, r.columns[0], p.columns[0]).below()  # type: ignore[attr-defined]

    @property
    def key_fields(self) -> tuple[str, ...]:
        return self.by

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        known = self.inner.looks_at()
        return None if known is None else {**dict.fromkeys(self.by), **known}


def keyed(inner: Similarity, *by: Any) -> Keyed:
    """Records that can only meet if the named fields are equal: a list keyed by a field."""
    return Keyed(inner, tuple(by))
