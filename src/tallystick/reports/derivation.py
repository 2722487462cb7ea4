"""The metric's derivation tree: normaliser over matching over similarities, each part with what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tallystick.errors import TallystickError
from tallystick.matching.normalise import Normaliser, Sides
from tallystick.matching.sets import Matching
from tallystick.matching.variables import Latent, Scoped
from tallystick.similarity.node import Node, keyword, shown

if TYPE_CHECKING:
    from tallystick.scoring.result import Result

SAYS = {
    "f1": "the harmonic mean of precision and recall",
    "precision": "over what was predicted",
    "recall": "over what is in the reference",
    "jaccard": "what is common, over all that is on either side",
    "sides": "precision and recall are two expressions",
    "match": "the best total over matched pairs",
    "sequence": "pairs in order only",
    "latent": "the best 1:1 map of the variables",
    "scoped": "each value with variables of its own",
    "record": "a product: all or nothing",
    "each": "a sum: credit for each field",
    "cases": "case by case",
    "exact": "equal or not",
    "text": "how alike two texts are",
    "var": "mapped to each other",
    "links": "the links of a chain",
    "subset": "predicted, non-empty, inside the reference",
}


@dataclass(frozen=True)
class Part:
    """A part of a metric: N, M (Σ) or S (φ), the name it has where it stands, what it is and what it does."""

    kind: str
    name: str
    what: str
    says: str
    parts: tuple[Part, ...]


def derivation(result: Result) -> Part | None:
    """The tree of a result's metric; None where it is no expression of the algebra."""
    if isinstance(result.metric, Node):
        return _part(result.metric, "")
    from tallystick.parsing import parse

    _, equals, expression = result.metric.partition(" = ")
    try:
        return _part(parse(expression), "") if equals else None
    except TallystickError:
        return None


def _part(node: Node, name: str) -> Part:
    parts = list(node.parts())
    inside = {f"{keyword(part_name)}={shown(part)}" for part_name, part in parts} | {shown(part) for _, part in parts}
    called = str(node).partition("(")[0]
    own = [argument for argument in node._arguments() if argument not in inside]
    kind = "N" if isinstance(node, (Normaliser, Sides)) else "S"
    if isinstance(node, (Matching, Latent, Scoped)):
        kind = "M"
    return Part(
        kind,
        name,
        f"{called}({', '.join(own)})" if own else called,
        SAYS.get(called, ""),
        tuple(_part(part, "" if part_name in ("inner", "body") else part_name) for part_name, part in parts),
    )
