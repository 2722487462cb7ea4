"""The documents that a page carries: each with its drawings and its alignment, packed, the worst first, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.algebra.node import Node, keyword, shown
from tallystick.engine.rows import Invalid
from tallystick.errors import TallystickError
from tallystick.files.writing import to_json
from tallystick.results.differences import compared_parts, item_node
from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation
from tallystick.show.plainly import both_plainly, named_parts, plainly
from tallystick.structures.texts import Mention

if TYPE_CHECKING:
    from tallystick.algebra.node import Similarity
    from tallystick.results.result import Result
    from tallystick.show.page import Parts


DEEPEST = 4000
"""How many nodes one document's alignment may have in the page."""
LABELS = ("slot", "role", "key", "type")
"""What an item is called by: the first of these that it has."""
WRITTEN = 500
"""So many characters are shown of an output that could not be read."""
DIFFERS = "differs"
"""The status of a pair that belongs together, is not the same, and counts nothing by itself."""
SIGNS = {MATCHED: "=", MISSED: "-", SPURIOUS: "+", DIFFERS: "~"}


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
        budget -= len(to_json(one, indent=None).encode())
        if budget < 0 and out:
            return Carried(out, True)
        out.append(one)
    return Carried(out, False)


def packed(node: Explanation, nodes: list[int]) -> list[Any]:
    """[name, status, weight, reference's own, predicted's own, reference, predicted, children]

    A predicted value that reads as the reference does is 0, and there are no children if there are none. What says
    the same twice is said once: a part with nothing but one part inside is that part, under both names, and an item is
    called by its slot, role, type or key where both sides agree about it.
    """
    nodes[0] -= 1
    children = []
    whole = isinstance(node.reference, Mention) and isinstance(node.predicted, Mention)  # not offset by offset
    for child in () if whole else node.children:
        if nodes[0] <= 0:
            break
        children.append(packed(child, nodes))
    status, name = SIGNS[node.status], node.name or _item(node)
    weights = [_short(x) for x in (node.weight, node.reference_self, node.predicted_self)]
    if not node.children and node.status in (MISSED, SPURIOUS):
        value = node.reference if node.status == MISSED else node.predicted
        row = _alone(name, status, value, weights, bool(node.places), nodes, node.node)
        if isinstance(node.predicted, Invalid):  # why there is nothing: an output that could not be read
            row[6] = unreadable(node.predicted)
        return row
    if node.places:
        name, children = _called(name, children)
    if len(children) == 1 and children[0][2:5] == weights:
        inner = children[0]
        return [_both_names(node, name, inner[0]), *inner[1:]]
    if children:
        return [name, status, *weights, None, None, children]
    wrong = node.status == DIFFERS or node.weight < max(node.reference_self, node.predicted_self)
    left, right = (both_plainly if wrong else _each_plainly)(node.reference, node.predicted)
    return [name, status, *weights, left, 0 if left == right else right]


def _each_plainly(reference: Any, predicted: Any) -> tuple[str, str]:
    """Two values that count as the same, each by itself."""
    return plainly(reference), plainly(predicted)


def unreadable(prediction: Invalid) -> str:
    """Why an output could not be read, and below that the output itself, as much of it as the page has room for."""
    why = f"the prediction is invalid: {prediction.reason}"
    text = prediction.text.strip()
    if not text:
        return why
    cut = f" … (the first {WRITTEN:,} of {len(text):,} characters)" if len(text) > WRITTEN else ""
    return f"{why}\n{text[:WRITTEN]}{cut}"


def _both_names(node: Explanation, name: str, inner: str) -> str:
    """A part with nothing but one part inside. An item of a list is known by its label or its place alone."""
    if name == "document":
        return inner
    only = node.children[0] if len(node.children) == 1 else None
    placed = only is None or (only.places and inner == _item(only))
    return name if node.places or placed or not inner else f"{name} · {inner}" if name else inner


def _called(name: str, children: list[list[Any]]) -> tuple[str, list[list[Any]]]:
    """An item by what it is: the slot, role, type or key that both sides agree about, which is then no row of its own."""
    agreed = [
        k
        for k, child in enumerate(children)
        if child[0] in LABELS and len(child) == 7 and child[1] == "=" and child[6] == 0 and child[2] >= max(child[3:5])
    ]
    if not agreed or len(children) == 1:
        return name, children
    chosen = min(agreed, key=lambda k: LABELS.index(children[k][0]))
    return children[chosen][5], children[:chosen] + children[chosen + 1 :]


def _alone(
    name: str, status: str, value: Any, weights: Sequence[float], item: bool, nodes: list[int],
    node: Similarity | None = None,
) -> list[Any]:  # fmt: skip
    """What stands on one side only: a record is shown field by field, as far as the metric compares it, a list of records
    item by item."""
    parts = compared_parts(value, node)
    if item and len(parts) > 1:
        found = [k for k, (key, part, _) in enumerate(parts) if key in LABELS and isinstance(part, str) and part]
        if found:
            name = parts.pop(min(found, key=lambda k: LABELS.index(parts[k][0])))[1]
            if len(parts) == 1:
                return _alone(name, status, parts[0][1], weights, False, nodes, parts[0][2])
    if len(parts) == 1 and not item:
        return _alone(name, status, parts[0][1], weights, False, nodes, parts[0][2])
    children: list[list[Any]] = []
    own = [0, 1, 0] if status == "-" else [0, 0, 1]
    listed = value if isinstance(value, (list, tuple)) and not parts else ()
    if any(len(named_parts(part)) > 1 for part in listed):
        of = item_node(node)
        children = [
            _alone(str(k + 1), status, part, own, True, nodes, of) for k, part in enumerate(listed) if nodes[0] > 0
        ]
    elif len(parts) > 1 or (parts and item):
        children = [_alone(key, status, part, own, False, nodes, of) for key, part, of in parts if nodes[0] > 0]
    nodes[0] -= len(children)
    if children:
        return [name, status, *weights, None, None, children]
    text = plainly(value)
    return [name, status, *weights, text if status == "-" else None, text if status == "+" else None]


def _short(x: float) -> float:
    return int(x) if x == int(x) else round(x, 4)


def _item(node: Explanation) -> str:
    """An item of a list has no name; its places on the two sides say which it is."""
    if not node.places:
        return ""
    left, right = ("–" if place is None else str(place + 1) for place in node.places)
    return f"{left} ↔ {right}" if None not in node.places else f"{left if right == '–' else right}"


# The metric's derivation tree: normaliser over matching over similarities, each part with what it does.


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
    from tallystick.algebra.parse import parse

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
    return Part(
        node.letter,
        name,
        f"{called}({', '.join(own)})" if own else called,
        node.says,
        tuple(_part(part, "" if part_name in ("inner", "body") else part_name) for part_name, part in parts),
    )
