"""Items that are paired by a key: two of them can only meet if their keys are equal.

    keyed(φ, "sku")(x, y) = ⟦x.sku = y.sku⟧ · φ(x, y)

Inside a matching this makes a list keyed by a field, as `match(keyed(each(...), "sku"))`: the key is nothing but a
finer block, so that large lists cost next to nothing, and two items with one key are still matched the best way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallystick.columns.arrays import F64
from tallystick.columns.blocks import Blocks, Pairs
from tallystick.columns.data import Data, Scope, field
from tallystick.columns.encoded import Fields
from tallystick.similarity.exact import exact
from tallystick.similarity.node import Similarity, require


@dataclass(frozen=True, repr=False)
class Keyed(Similarity):
    """φ of two records whose key fields are equal, else 0."""

    inner: Similarity
    by: tuple[str, ...]
    name = "keyed"

    def __post_init__(self) -> None:
        require(isinstance(self.inner, Similarity), f"keyed() needs a similarity, found {self.inner!r}")
        require(len(self.by) > 0, 'keyed() needs the name of a field: keyed(each(...), "sku")')

    def _arguments(self):  # type: ignore[no-untyped-def]
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


def keyed(inner: Similarity, *by: Any) -> Keyed:
    """Records that can only meet if the named fields are equal: a list keyed by a field."""
    return Keyed(inner, tuple(by))
