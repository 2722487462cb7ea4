"""What templates and their fillers are compared by: eq. 32 in the algebra, with any similarity of fillers."""

from __future__ import annotations

from tallystick.matching.collections import best, subset
from tallystick.matching.normalise import f1
from tallystick.matching.sets import match
from tallystick.similarity.exact import exact
from tallystick.similarity.functions import via
from tallystick.similarity.node import Node, Similarity
from tallystick.similarity.records import each, record
from tallystick.similarity.text import text
from tallystick.structures import Entity, TemplateSet
from tallystick.structures.templates import alternatives

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
