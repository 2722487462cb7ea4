"""Values that may be missing: None equals None, and nothing else.

That is so in a product. In a sum of fields a None on both sides counts nothing: `each` takes the missing
ones out by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64
from tallystick.columns.blocks import Blocks, Pairs
from tallystick.columns.data import Data, Index, Objects, Scope
from tallystick.columns.encoded import Column, Maybe
from tallystick.similarity.node import Similarity


def split_missing(
    inner: Similarity, reference: Data, predicted: Data, scope: Scope
) -> tuple[Maybe | Column, Maybe | Column]:
    """Both sides encoded without what is missing: a Maybe where something is."""
    (left, left_rows), (right, right_rows) = _present(reference), _present(predicted)
    r, p = inner.encode(left, right, scope)
    return _wrapped(r, left_rows), _wrapped(p, right_rows)


def _wrapped(column: Column, here: I64 | None) -> Maybe | Column:
    """A Maybe if something is missing, or if the inner column is one itself, so that the two are not mistaken."""
    if here is None:
        return Maybe(np.arange(len(column)), column) if isinstance(column, Maybe) else column
    return Maybe(here, column)


def _present(data: Data) -> tuple[Data, I64 | None]:
    """The values that are there, and each row's place among them (None if none is missing)."""
    if isinstance(data, Index) and isinstance(data.values, Objects):
        data = Objects([data.values.values[k] for k in data.index.tolist()])
    if not isinstance(data, Objects) or type(None) not in set(map(type, data.values)):
        return data, None
    values: Sequence[Any] = [value for value in data.values if value is not None]
    here = np.fromiter((value is not None for value in data.values), np.bool_, len(data))
    return Objects(values), np.where(here, np.cumsum(here) - 1, -1)


@dataclass(frozen=True, repr=False)
class Optional(Similarity):
    """φ where both are there, 1 where both are None, else 0."""

    inner: Similarity
    name = "optional"

    @property
    def exact_only(self) -> bool:
        return self.inner.exact_only

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Maybe, Maybe]:
        r, p = split_missing(self.inner, reference, predicted, scope)
        return _maybe(r), _maybe(p)

    def refine(self, r: Maybe, p: Maybe, blocks: Blocks) -> Blocks:
        # The inner keys of what is there, moved up by one; 0 stands for None.
        rows, columns = r.rows, p.rows
        inner = self.inner.refine(r.present, p.present, Blocks(_zeros(rows), _zeros(columns), 1))
        left, right = _zeros(r.position), _zeros(p.position)
        left[rows], right[columns] = inner.reference + 1, inner.predicted + 1
        return blocks.refine(left, right, inner.bound + 1)

    def _pairs(self, r: Maybe, p: Maybe, blocks: Blocks) -> Pairs:
        rows, columns = r.rows, p.rows
        found = self.inner.pairs(r.present, p.present, blocks.at(rows, columns)).moved(rows, columns)
        no_rows, no_columns = np.flatnonzero(r.position < 0), np.flatnonzero(p.position < 0)
        i, j = blocks.at(no_rows, no_columns).pairs()
        return Pairs(
            np.concatenate((found.i, no_rows[i])),
            np.concatenate((found.j, no_columns[j])),
            np.concatenate((found.weight, np.ones(len(i)))),
        )

    def _selves(self, column: Maybe) -> F64:
        out = np.ones(len(column))
        out[column.rows] = self.inner.selves(column.present)
        return out


def _maybe(column: Column) -> Maybe:
    return column if isinstance(column, Maybe) else Maybe(np.arange(len(column)), column)


def _zeros(like: I64) -> I64:
    return np.zeros(len(like), np.int64)


def optional(inner: Similarity) -> Optional:
    """A value that may be None: None equals None."""
    return inner if isinstance(inner, Optional) else Optional(inner)
