"""What can be drawn of an explanation, whatever the metric is: boxes, times in lanes, tables and trees.

A similarity says how it is drawn (`drawn`). Where the items of a collection are compared by one, or have a field that is, the explanation
below has all that a drawing needs: both sides of every pair, what is missed and what is spurious.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tallystick.algebra.node import Node, Similarity
from tallystick.errors import TallystickError
from tallystick.results.explanation import MISSED as IS_MISSED
from tallystick.results.explanation import SPURIOUS as IS_SPURIOUS
from tallystick.results.explanation import Explanation
from tallystick.show.drawings import (
    MISSED,
    PART,
    RIGHT,
    SPURIOUS,
    Bar,
    Box,
    BoxDrawing,
    Drawing,
    GraphDrawing,
    Knot,
    LaneDrawing,
    Link,
    TableDrawing,
)

MOST = 6
"""So many drawings a document has at the most."""


def has_shapes(metric: Node) -> bool:
    """Whether a metric compares something that is drawn."""
    return any(isinstance(part, Similarity) and part.drawn for part in metric.walk())


def draw_shapes(metric: Node, tree: Explanation) -> list[Drawing]:
    """The drawings of a document."""
    if not has_shapes(metric):
        return []
    sides = metric.by_side
    if sides is None:
        found = _find(metric.summed, tree, "Document")
    else:
        found = (
            one for side, part in zip(sides, tree.children, strict=False) for one in _find(side.summed, part, part.name)
        )
    return [one for one, _ in zip(found, range(MOST), strict=False)]


def _find(node: Similarity, tree: Explanation, title: str) -> Iterator[Drawing]:
    kind = node.core.drawn
    if kind in ("table", "tree") and tree.children:
        yield _table(title, tree) if kind == "table" else _tree(title, tree)
        return
    item = node.item
    if item is not None:
        name, shape = _drawn_field(item)
        if shape is not None and tree.children:
            yield _boxes(title, tree, name, shape) if shape.drawn == "boxes" else _lanes(title, tree, name)
        elif shape is None:
            for place, child in enumerate(tree.children):
                yield from _find(item, child, f"{title} {place + 1}")
        return
    fields = node.looks_at() or {}
    for child in tree.children:
        part = fields.get(child.name)
        if part is not None:
            yield from _find(part, child, child.name.capitalize())


def _drawn_field(item: Similarity) -> tuple[str, Similarity | None]:
    """The field of an item that is drawn (none: the item itself), and what compares it."""
    if item.core.drawn in ("boxes", "lanes"):
        return "", item.core
    for name, part in (item.looks_at() or {}).items():
        if part is not None and part.core.drawn in ("boxes", "lanes"):
            return name, part.core
    return "", None


def _items(tree: Explanation) -> Iterator[tuple[int, Any, str]]:
    """The items of both sides with their status, each once."""
    seen: set[tuple[int, Any]] = set()
    for child in tree.children:
        right = child.weight >= max(child.reference_self, child.predicted_self) - 1e-9
        status = {IS_MISSED: MISSED, IS_SPURIOUS: SPURIOUS}.get(child.status, RIGHT if right else PART)
        for side, value in enumerate((child.reference, child.predicted)):
            place = child.places[side] if len(child.places) > side else None
            there = status not in (SPURIOUS, MISSED)[side : side + 1] and value is not None
            if there and (side, place if place is not None else id(value)) not in seen:
                seen.add((side, place if place is not None else id(value)))
                yield side, value, status


def _part(value: Any, name: str) -> Any:
    if not name:
        return value
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _called(value: Any, name: str) -> str:
    """What an item is called: its other fields that are short."""
    if not name or not isinstance(value, Mapping):
        return ""
    shown = (one for key, one in value.items() if key not in (name, "score") and isinstance(one, (str, int)))
    return " ".join(map(str, shown))[:24]


def _boxes(title: str, tree: Explanation, name: str, shape: Any) -> Drawing:
    boxes = []
    for side, value, status in _items(tree):
        box = _part(value, name)
        if isinstance(box, (list, tuple)) and len(box) == 4:
            left, top, right, bottom = shape.see(box)
            boxes.append(Box(side, left, top, right, bottom, _called(value, name), status))
    return BoxDrawing(title, boxes)


def _lanes(title: str, tree: Explanation, name: str) -> Drawing:
    """The predicted speaker, or whatever a lane is called, stands in the lane of its partner."""
    lanes = {
        _called(child.predicted, name): _called(child.reference, name)
        for child in tree.children
        if child.status not in (IS_MISSED, IS_SPURIOUS)
    }
    bars = []
    for side, value, status in _items(tree):
        time = _part(value, name)
        time = (time.get("start"), time.get("end")) if isinstance(time, Mapping) else time
        if isinstance(time, (list, tuple)) and len(time) == 2:
            called = _called(value, name)
            lane = (
                f"{lanes[called]} ↔ {called}"
                if side and lanes.get(called, called) != called
                else lanes.get(called, called)
            )
            bars.append(Bar(side, lane if side else called, float(time[0]), float(time[1]), status))
    back = {bar.lane.partition(" ↔ ")[0]: bar.lane for bar in bars if bar.side and " ↔ " in bar.lane}
    return LaneDrawing(title, [bar._replace(lane=back.get(bar.lane, bar.lane)) for bar in bars])


def _statuses(tree: Explanation) -> tuple[dict[int, str], dict[int, str]]:
    """By place the status of each item of both sides."""
    found: tuple[dict[int, str], dict[int, str]] = ({}, {})
    for child in tree.children:
        right = child.weight >= max(child.reference_self, child.predicted_self) - 1e-9
        status = {IS_MISSED: MISSED, IS_SPURIOUS: SPURIOUS}.get(child.status, RIGHT if right else PART)
        for side, place in enumerate(child.places):
            if place is not None:
                found[side][place] = status
    return found


def _table(title: str, tree: Explanation) -> Drawing:
    sides = []
    for table, status, alone in zip((tree.reference, tree.predicted), _statuses(tree), (MISSED, SPURIOUS), strict=True):
        place, rows = 0, []
        for row in table if isinstance(table, (list, tuple)) else ():
            rows.append([(str(cell), status.get(place + k, alone)) for k, cell in enumerate(row)])
            place += len(row)
        sides.append(rows)
    return TableDrawing(title, *sides)


def _tree(title: str, tree: Explanation) -> Drawing:
    """Both trees laid over each other: matched nodes are one, the others hang below the parents that they have on their own side."""
    from tallystick.structures.graphs import Tree

    knots: list[Knot] = []
    where: tuple[dict[int, int], dict[int, int]] = ({}, {})
    status_of = _statuses(tree)
    for child in tree.children:
        statuses = [status_of[side][place] for side, place in enumerate(child.places) if place is not None]
        shown = _label(child.reference if child.status != IS_SPURIOUS else child.predicted)
        shown = f"{shown} ≠ {_label(child.predicted)}" if PART in statuses else shown
        knots.append(Knot(shown, statuses[0] if statuses else RIGHT))
        for side, place in enumerate(child.places):
            if place is not None:
                where[side][place] = len(knots) - 1
    links: dict[tuple[int, int], Link] = {}
    for side, value in enumerate((tree.reference, tree.predicted)):
        try:
            parents: Sequence[Any] = [parent for _, parent in Tree.of(value).nodes()]
        except TallystickError:  # what is no tree has no links
            continue
        for place, parent in enumerate(parents):
            if parent >= 0 and place in where[side] and parent in where[side]:
                ends = where[side][parent], where[side][place]
                status = RIGHT if ends in links else (SPURIOUS if side else MISSED)
                links[ends] = Link(*ends, "", status)
    return GraphDrawing(title, knots, list(links.values()))


def _label(value: Any) -> str:
    parts = value.values() if isinstance(value, Mapping) else [value]
    return " ".join(str(one) for one in parts if one not in ("", None))[:40] or "·"
