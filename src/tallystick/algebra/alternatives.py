"""Gold with alternatives: any of several values is right.

    any_of(φ)(R, p) = max over r in R of φ(r, p)

The reference holds a list of alternatives (or a single one), the prediction one value. Each side has its own
self-score: the largest of the alternatives', and the predicted value's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Around, Similarity, has_structure, require, takes_collections
from tallystick.engine.arrays import F64, I64, first_best, offsets_of
from tallystick.engine.blocks import Blocks, Pairs
from tallystick.engine.codes import leaf_values
from tallystick.engine.data import Bag, Data, Nullable, Objects, Scope
from tallystick.engine.encoded import Column, Items, Numbered
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

SIDES = ("reference", "predicted")


class Options(Items):
    """The alternatives of each row, of which one is to be met."""

    def number_rows(self) -> Numbered:
        return Items.number_rows(self.distinct())


@frozen
class AnyOf(Around):
    """The best φ of any of the alternatives that one side (the reference) holds."""

    inner: Similarity
    side: str = "reference"
    name = "any_of"
    carries_variables = False

    def __post_init__(self) -> None:
        require(isinstance(self.inner, Similarity), f"any_of() needs a similarity, found {self.inner!r}")
        require(
            self.side in SIDES,
            f"any_of(): side must be {' or '.join(SIDES)}, found {self.side!r}.{did_you_mean(self.side, SIDES)}",
        )

    def mirrored(self) -> AnyOf:
        inner = self.inner.mirrored()
        assert isinstance(inner, Similarity)
        return replace(self, inner=inner, side=SIDES[1 - SIDES.index(self.side)])

    @property
    def takes_null(self) -> bool:
        return self.inner.may_miss

    @property
    def _of_collections(self) -> bool:
        """Whether the values themselves are collections: then a list is always one of alternatives."""
        return takes_collections(self.inner)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        if self.side == "reference":
            offsets, flat = self._alternatives(reference, scope)
            r, p = self.inner.encode(flat, predicted, scope)
            return Options(offsets, r), p
        offsets, flat = self._alternatives(predicted, scope)
        r, p = self.inner.encode(reference, flat, scope)
        return r, Options(offsets, p)

    def _alternatives(self, data: Data, scope: Scope) -> tuple[I64, Data]:
        plain = isinstance(data, Bag) and not self._of_collections and not isinstance(data.items, Nullable)
        if isinstance(data, Bag) and plain and np.all(np.diff(data.offsets)):
            return data.offsets, data.items
        rows = [
            list(value)
            if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields")
            else [value]
            for value in leaf_values(data, scope)
        ]
        for value, row in zip(leaf_values(data, scope), rows, strict=True):
            if not row:
                raise ValueMismatch(f"at {scope}: any_of needs one alternative or more, found {value!r:.60}")
            if any(one is None for one in row) and not self.inner.may_miss:
                raise ValueMismatch(
                    f"at {scope}: null is nothing, and cannot be one of the alternatives {value!r:.60}; where null is to be a "
                    f"right answer, make it a value: nothing: [missing], or any_of(optional(...))"
                )
            if self._of_collections and not isinstance(value, (list, tuple)):
                raise ValueMismatch(f"at {scope}: any_of needs a list of alternatives, found {value!r:.60}")
        return offsets_of([len(row) for row in rows]), Objects([one for row in rows for one in row])

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        if self.side == "reference":
            found = self.inner.pairs(r.items, p, blocks.at(r.owners, np.arange(len(p))))
            i, j = r.owners[found.i], found.j
        else:
            found = self.inner.pairs(r, p.items, blocks.at(np.arange(len(r)), p.owners))
            i, j = found.i, p.owners[found.j]
        bound = max(1, len(r) * len(p))
        best = first_best(i * len(p) + j, bound, found.weight)
        return Pairs(i[best], j[best], found.weight[best])

    def _selves(self, column: Any) -> F64:
        if not isinstance(column, Options):
            return self.inner.selves(column)
        own = self.inner.selves(column.items)
        return np.maximum.reduceat(own, column.offsets[:-1]) if len(column) else np.empty(0)

    def chosen(self, r: Any, p: Any, i: I64, j: I64) -> I64:
        """For each row that has alternatives the one that counts: the best for its partner in (i, j), or the first."""
        options, rows, others, lines = (r, i, p, j) if self.side == "reference" else (p, j, r, i)
        choice: I64 = options.offsets[:-1].copy()
        places, counts = options.item_rows(rows)
        if len(places):
            pair = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
            sides = options.items.take(places), others.take(lines[pair])
            weights = self.inner.one_to_one_weights(*(sides if self.side == "reference" else sides[::-1]))
            choice[rows] = places[first_best(pair, len(rows), weights)]
        return choice

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        """Both sides with one alternative for each row."""
        r: Any = here.reference
        p: Any = here.predicted
        choice = self.chosen(r, p, here.i, here.j)
        met = (r.items.take(choice), p) if self.side == "reference" else (r, p.items.take(choice))
        return here.changed(self.inner, *met).below()

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        both = [k for k, pair in enumerate(zip(left, right, strict=True)) if None not in pair]
        r: Any
        p: Any
        r, p = self.encode(Objects([left[k] for k in both]), Objects([right[k] for k in both]), Scope())
        rows = np.arange(len(both), dtype=np.int64)
        place = self.chosen(r, p, rows, rows) - (r if self.side == "reference" else p).offsets[:-1]
        met = list(left if self.side == "reference" else right)
        for k, choice in zip(both, place.tolist(), strict=True):
            if isinstance(met[k], (list, tuple)):
                met[k] = met[k][choice]
        return self.inner.inside(met, right) if self.side == "reference" else self.inner.inside(left, met)

    def in_words(self) -> tuple[str, ...]:
        if not has_structure(self):
            return (str(self),)
        first, *more = self.inner.in_words()
        return (first, "any of several", *more)


def any_of(inner: Similarity, *, side: str = "reference") -> AnyOf:
    """Alternatives in the gold: the prediction is as good as its best alternative."""
    return AnyOf(inner, side)
