"""δ, equality (eq. 1). It lists no pairs; it refines blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.columns.blocks import Blocks, Pairs
from tallystick.columns.codes import code_jointly
from tallystick.columns.data import Data, Leaf, Scope
from tallystick.columns.encoded import Codes, Numbering, Unnumbered
from tallystick.similarity.node import Similarity


@dataclass(frozen=True, repr=False)
class Exact(Similarity):
    """1 if the values are equal, else 0."""

    name = "exact"

    def __repr__(self) -> str:
        return "exact"

    @property
    def exact_only(self) -> bool:
        return True

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
