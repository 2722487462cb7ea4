"""What a report shows of event hierarchies: both forests laid over each other, and the links that MUC_p matches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, RIGHT, SPURIOUS, Drawing, GraphDrawing, Knot, Link

if TYPE_CHECKING:
    from tallystick.structures.graphs import EventHierarchy
    from tallystick.tasks.hierarchies.files import Hierarchies

Event = tuple[str, ...]


def forests_parts(reference: Hierarchies, predicted: Hierarchies, kinds: Sequence[str]) -> Parts:
    """For each document a drawing of each type of links, and the alignment of the first."""
    from tallystick.tasks.hierarchies.files import pair_hierarchies
    from tallystick.tasks.hierarchies.metrics import HierarchyOptions, document_of, score

    left, right = pair_hierarchies(reference, predicted)
    chosen = list(kinds) or list(dict.fromkeys((*left.kinds, *right.kinds)))

    def draw(name: str) -> Sequence[Drawing]:
        place = left.documents.index(name)
        sides = [document_of(side, place) for side in (left, right)]
        return [forest_drawing(sides[0], sides[1], kind) for kind in chosen]

    matched = score(left, right, ["muc_p"], HierarchyOptions(tuple(chosen[:1])))["muc_p"]
    return Parts(explain=matched.explain, draw=draw, main="muc_p", alignment="Links, as MUC_p matches them")


def forest_drawing(reference: EventHierarchy, predicted: EventHierarchy, kind: str) -> GraphDrawing:
    """Events of the same mentions are one node; what only one side has is missed or spurious."""
    from tallystick.structures.graphs import merge

    nodes: dict[Event, set[int]] = {}
    links: dict[tuple[Event, Event], set[int]] = {}
    for side, hierarchy in enumerate((reference, predicted)):
        merged = {name: _event(event) for name, event in merge(hierarchy).items()}
        for event in merged.values():
            nodes.setdefault(event, set()).add(side)
        for link in hierarchy.links:
            ends = merged[link.parent], merged[link.child]
            if link.type == kind and ends[0] != ends[1]:
                links.setdefault(ends, set()).add(side)
    place = {event: k for k, event in enumerate(nodes)}
    knots = [Knot(", ".join(event), _status(sides)) for event, sides in nodes.items()]
    drawn = [Link(place[a], place[b], "", _status(sides)) for (a, b), sides in links.items()]
    drawn.sort(key=lambda link: link.status == SPURIOUS)
    return GraphDrawing(f"{kind} links, both sides laid over each other", knots, drawn)


def _event(mentions: Collection[str]) -> Event:
    return tuple(sorted(mentions))


def _status(sides: set[int]) -> str:
    return RIGHT if len(sides) == 2 else MISSED if 0 in sides else SPURIOUS
