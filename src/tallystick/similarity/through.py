"""Similarities that only look at other values: once these are encoded, all else is the inner similarity's."""

from __future__ import annotations

from typing import Any

from tallystick.columns.arrays import F64
from tallystick.columns.blocks import Blocks, Frame, Pairs
from tallystick.similarity.node import Similarity


class Through(Similarity):
    """φ of values that were changed by `_encode`, which is all that is left to write."""

    inner: Similarity

    @property
    def exact_only(self) -> bool:
        return self.inner.exact_only

    @property
    def dense(self) -> bool:
        return self.inner.dense

    def refine(self, r: Any, p: Any, blocks: Blocks) -> Blocks:
        return self.inner.refine(r, p, blocks)

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return self.inner.pairs(r, p, blocks)

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        return self.inner.fill(r, p, frame)

    def _selves(self, column: Any) -> F64:
        return self.inner.selves(column)
