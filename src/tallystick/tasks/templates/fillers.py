"""What templates and their fillers are compared by: eq. 32 in the algebra, with any similarity of fillers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.algebra.collections import best, subset
from tallystick.algebra.exact import exact
from tallystick.algebra.functions import function, via
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.text import text
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks, Pairs, look_up
from tallystick.engine.data import Objects, Scope
from tallystick.structures import Entity, Template, TemplateSet
from tallystick.structures.texts import alternatives
from tallystick.tasks.templates.files import PairedTemplates

Document = TemplateSet[Entity[str]]

# Similarities of fillers, which are entities: mentions as texts without case, punctuation and articles.

phi_mention = text("equal", "casefold", "punctuation", "articles", "whitespace")
"""Equality of mentions after gtt's normalisation."""

FILLERS: dict[str, Similarity] = {
    "subset": record(mentions=subset(phi_mention)),
    "any": record(mentions=best(phi_mention)),
    "phi3": record(mentions=match(phi_mention)),
    "phi4": record(mentions=f1(match(phi_mention))),
    "words": record(mentions=best(text("token_set", "casefold", "punctuation", "articles", "whitespace"))),
}
"""φ of two fillers by name: eq. 25, any mention in common, eq. 17, eq. 18, and the words in common."""

phi_type = via(alternatives, subset(exact))
"""The predicted type is one of the reference's."""


def muc4_templates(phi: Similarity, constraint: str = "1:1", types: Similarity = phi_type) -> Node:
    """eq. 32: F↔_templates[φ_type × Σ_fillers[δ_slot × φ]]"""
    fillers = match(record(slot=exact, value=phi), constraint)
    return f1(each(templates=match(record(type=types, fillers=fillers))))


granular_types = f1(each(templates=match(record(type=phi_type))))
"""eq. 47, first factor"""


# What a scorer of templates sees: all templates of a corpus, the pairs that may meet, and what each pair earns.


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
    r, p = fillers.encode(Objects([t.fillers for t in reference]), Objects([t.fillers for t in predicted]), Scope())
    return fillers.numerators(r, p, blocks)


def _flat(side: Sequence[Document]) -> tuple[list[Template[Entity[str]]], I64]:
    templates = [template for one in side for template in one.templates]
    return templates, np.repeat(np.arange(len(side), dtype=np.int64), [len(one.templates) for one in side])


def rows_of(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    """The four sums of each document side by side."""
    return np.stack((num_p, den_p, num_r, den_r), axis=1)
