"""What a scorer of templates sees: all templates of a corpus, the pairs that may meet, and what each pair earns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64
from tallystick.columns.blocks import Blocks, Pairs, look_up
from tallystick.columns.data import Objects, Scope
from tallystick.matching.sets import Match, match
from tallystick.metrics.template_fillers import Document
from tallystick.reading.templates import PairedTemplates
from tallystick.similarity.exact import exact
from tallystick.similarity.functions import function
from tallystick.similarity.node import Similarity
from tallystick.similarity.records import record
from tallystick.structures import Entity, Template


@dataclass(frozen=True, eq=False)
class Meeting:
    """Templates i of the reference and j of the prediction that may meet, and what the fillers earn if they do."""

    reference: list[Template[Entity[str]]]
    predicted: list[Template[Entity[str]]]
    document_r: I64
    document_p: I64
    documents: int
    i: I64
    j: I64
    of_predicted: F64
    of_reference: F64

    @property
    def document(self) -> I64:
        return self.document_r[self.i]

    def by_document(self, chosen: I64, weights: F64) -> F64:
        return np.bincount(self.document[chosen], weights=weights[chosen], minlength=self.documents).astype(np.float64)

    def sizes(self, size: Callable[[Template[Entity[str]]], float]) -> tuple[F64, F64]:
        """den_p and den_r of each document, where a template is worth size(template)."""
        sides = ((self.predicted, self.document_p), (self.reference, self.document_r))
        den_p, den_r = (
            np.bincount(document, weights=[size(t) for t in templates], minlength=self.documents).astype(np.float64)
            for templates, document in sides
        )
        return den_p, den_r


def meet(pairs: PairedTemplates, compatible: Callable[[str, str], float], phi: Similarity) -> Meeting:
    """Every pair of templates of one document whose types are compatible, with both sides' covered fillers."""
    reference, document_r = _flat(pairs.reference)
    predicted, document_p = _flat(pairs.predicted)
    blocks = Blocks(document_r, document_p, max(1, len(pairs.ids)))
    type_ = function(compatible)
    r, p = type_.encode(Objects([t.type for t in reference]), Objects([t.type for t in predicted]), Scope())
    met = type_.pairs(r, p, blocks)
    found = sums_of(match(record(slot=exact, value=phi), "N:1"), reference, predicted, blocks)
    earned = [
        look_up(Pairs(found.i, found.j, side), met.i, met.j, len(predicted), len(reference))
        for side in (found.predicted, found.reference)
    ]
    n = len(pairs.ids)
    return Meeting(reference, predicted, document_r, document_p, n, met.i, met.j, earned[0], earned[1])


def sums_of(fillers: Match, reference: Sequence[Any], predicted: Sequence[Any], blocks: Blocks) -> Any:
    """Σ of the fillers of every pair of templates in one block, on both sides."""
    from tallystick.matching.normalise import numerators

    r, p = fillers.encode(Objects([t.fillers for t in reference]), Objects([t.fillers for t in predicted]), Scope())
    return numerators(fillers, r, p, blocks)


def _flat(side: Sequence[Document]) -> tuple[list[Template[Entity[str]]], I64]:
    templates = [template for one in side for template in one.templates]
    return templates, np.repeat(np.arange(len(side), dtype=np.int64), [len(one.templates) for one in side])


def rows_of(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    """The four sums of each document side by side."""
    return np.stack((num_p, den_p, num_r, den_r), axis=1)
