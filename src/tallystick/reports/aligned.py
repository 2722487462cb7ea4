"""The documents that a page carries: each with its drawings and its alignment, packed, the worst first, within limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.reports.plainly import named_parts, plainly
from tallystick.scoring.explanation import MATCHED, MISSED, SPURIOUS, Explanation

if TYPE_CHECKING:
    from tallystick.reports.page import Parts

DEEPEST = 4000
"""How many nodes one document's alignment may have in the page."""
SIGNS = {MATCHED: "=", MISSED: "-", SPURIOUS: "+"}


@dataclass(frozen=True)
class Carried:
    """Packed documents in order; `full` if there was no room for more."""

    documents: list[dict[str, Any]]
    full: bool


def carry(parts: Parts, ids: Sequence[Any], budget: int) -> Carried:
    """These documents with everything that can be drawn of them, as many as the budget of bytes allows."""
    out: list[dict[str, Any]] = []
    if not parts.opens:
        return Carried(out, False)
    for key in ids:
        nodes = [DEEPEST]
        tree = None if parts.explain is None else packed(parts.explain(key), nodes)
        drawings = [] if parts.draw is None else [drawing.packed() for drawing in parts.draw(key)]
        one = {"tree": tree, "drawings": drawings, "cut": nodes[0] <= 0}
        budget -= len(json.dumps(one, ensure_ascii=False, separators=(",", ":"), default=str).encode())
        if budget < 0 and out:
            return Carried(out, True)
        out.append(one)
    return Carried(out, False)


def packed(node: Explanation, nodes: list[int]) -> list[Any]:
    """[name, status, weight, reference's own, predicted's own, reference, predicted, children]

    A predicted value that reads as the reference does is 0, and there are no children if there are none.
    """
    nodes[0] -= 1
    children = []
    for child in node.children:
        if nodes[0] <= 0:
            break
        children.append(packed(child, nodes))
    status = SIGNS[node.status]
    if not node.children and node.status != MATCHED:
        value = node.reference if node.status == MISSED else node.predicted
        for name, part in named_parts(value):  # a record that stands alone is shown field by field
            if part is not None and part != ():
                nodes[0] -= 1
                children.append(_alone(name, status, part))
        if len(children) == 1:
            children = []
    leaf = not children
    left = plainly(node.reference) if leaf and node.status != SPURIOUS else None
    right = plainly(node.predicted) if leaf and node.status != MISSED else None
    if leaf and node.status == MISSED and node.predicted is not None:
        right = plainly(node.predicted)  # why there is nothing: an output that could not be read
    same = left is not None and left == right
    weights = [_short(x) for x in (node.weight, node.reference_self, node.predicted_self)]
    return [node.name or _item(node), status, *weights, left, 0 if same else right, *([children] if children else [])]


def _short(x: float) -> float:
    return int(x) if x == int(x) else round(x, 4)


def _alone(name: str, status: str, value: Any) -> list[Any]:
    text = plainly(value)
    own = (1, 0) if status == "-" else (0, 1)
    return [name, status, 0, *own, text if status == "-" else None, text if status == "+" else None]


def _item(node: Explanation) -> str:
    """An item of a list has no name; its places on the two sides say which it is."""
    if not node.places:
        return ""
    left, right = ("–" if place is None else str(place + 1) for place in node.places)
    return f"{left} ↔ {right}" if None not in node.places else f"{left if right == '–' else right}"
