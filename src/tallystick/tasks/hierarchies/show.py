"""What a report shows of event hierarchies: both forests laid over each other, and the links that MUC_p matches.

What is wrong with event hierarchies, and what mends it.

Events are the same if their names or spans are. A link is looked at between conceptual events, those of the reference: whichever mention a
link hangs on, it is right if it joins the right events under the right type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.results.mistakes import Change, Edit, Mistake, added, mend, put, removed
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, RIGHT, SPURIOUS, Drawing, GraphDrawing, Knot, Link
from tallystick.structures.graphs import EventHierarchy, EventLink
from tallystick.tasks.hierarchies.files import Hierarchies, hierarchies_from, pair_hierarchies
from tallystick.tasks.hierarchies.metrics import document_of

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


Lifted = tuple[Any, Any, str]
"""A link between conceptual events: parent, child, type."""


def find_mistakes(reference: Hierarchies, predicted: Hierarchies, kinds: Collection[str]) -> Iterator[Mistake]:
    """The errors of every document; of links only those of these types, if some are named."""
    left, right = pair_hierarchies(reference, predicted)
    for k, name in enumerate(left.documents):
        yield from _Document(name, document_of(left, k), document_of(right, k), kinds).mistakes()


def mended_corpus(
    reference: Hierarchies, predicted: Hierarchies, mistakes: Sequence[Mistake]
) -> tuple[Hierarchies, Hierarchies]:
    """Both sides, with the edits of these mistakes in the prediction. They keep the types of links that they had."""
    left, right = pair_hierarchies(reference, predicted)
    edits: dict[Any, list[Edit]] = {}
    for one in mistakes:
        edits.setdefault(one.document, []).extend(one.edits)
    gold = {name: document_of(left, k) for k, name in enumerate(left.documents)}
    system = {name: mend(document_of(right, k), edits.get(name, ())) for k, name in enumerate(left.documents)}
    known = list(dict.fromkeys((*left.kinds, *right.kinds)))
    first, second = (_with_kinds(hierarchies_from(side), known) for side in (gold, system))
    return first, second


def _with_kinds(side: Hierarchies, known: list[str]) -> Hierarchies:
    import numpy as np

    number = np.array([known.index(kind) for kind in side.kinds] or [0], np.int64)
    return replace(side, kinds=known, kind=number[side.kind])


class _Document:
    """One document."""

    def __init__(self, name: Any, gold: EventHierarchy, system: EventHierarchy, kinds: Collection[str]) -> None:
        self.name, self.gold, self.system, self.kinds = name, gold, system, kinds
        self.event = {mention: tuple(cluster) for cluster in gold.coreference for mention in cluster}
        """The conceptual event of each mention that has others."""

    def mistakes(self) -> Iterator[Mistake]:
        """Mentions, coreference, links."""
        yield from self._mentions()
        yield from self._coreference()
        yield from self._links()

    def _mentions(self) -> Iterator[Mistake]:
        ours, theirs = set(self.gold.events), set(self.system.events)
        for one in self.system.events:
            if one not in ours:
                edits = [(("events",), _without(one)), (("coreference",), _apart(one)), (("links",), _unlinked(one))]
                yield self._mistake("spurious event", None, one, *edits)
        for one in self.gold.events:
            if one not in theirs:
                yield self._mistake("missed event", one, None, (("events",), _with(one)))

    def _coreference(self) -> Iterator[Mistake]:
        for k, cluster in enumerate(self.system.coreference):
            parts: dict[Any, list[str]] = {}
            for mention in cluster:
                parts.setdefault(self._of(mention), []).append(mention)
            if len(parts) > 1:
                kept = [tuple(part) for part in parts.values() if len(part) > 1]
                edits: list[Edit] = [(("coreference", k), removed), (("coreference",), added(*kept))]
                said = " | ".join(", ".join(part) for part in parts.values())
                yield self._mistake("merged events", said, ", ".join(cluster), *edits)
        together = [set(cluster) for cluster in self.system.coreference]
        for cluster in self.gold.coreference:
            if not any(set(cluster) <= one for one in together):
                found = (", ".join(m for m in cluster if m in one) for one in together if one & set(cluster))
                brought = [(("events",), _with(mention)) for mention in cluster]
                edits = [*brought, (("coreference",), added(tuple(cluster)))]
                yield self._mistake("divided event", ", ".join(cluster), " | ".join(found) or "apart", *edits)

    def _of(self, mention: str) -> Any:
        return self.event.get(mention, mention)

    def _lifted(self, link: EventLink) -> Lifted:
        return self._of(link.parent), self._of(link.child), link.type

    def _links(self) -> Iterator[Mistake]:
        chosen = [
            [one for one in side.links if not self.kinds or one.type in self.kinds] for side in (self.gold, self.system)
        ]
        there = {self._lifted(one) for one in self.gold.links}
        right = {self._lifted(one) for one in self.system.links}
        missed = {self._lifted(one): one for one in chosen[0] if self._lifted(one) not in right}
        missed = {key: one for key, one in missed.items() if key[0] != key[1]}
        for k, link in enumerate(self.system.links):
            if link in chosen[1] and self._lifted(link) not in there:
                kind, key = self._nearest(link, missed)
                yield self._wrong_link(kind, k, link, missed.pop(key) if key is not None else None)
        for link in missed.values():
            edits = [*self._brought(link), (("links",), added(link))]
            yield self._mistake("missed link", _said(link), None, *edits, label=link.type)

    def _nearest(self, link: EventLink, missed: dict[Lifted, EventLink]) -> tuple[str, Lifted | None]:
        """What a wrong link is instead, and the missed link that it stands for."""
        parent, child, type_ = self._lifted(link)
        for kind, fits in (
            ("reversed link", lambda one: one == (child, parent, type_)),
            ("wrong type", lambda one: one[:2] == (parent, child)),
            ("wrong parent", lambda one: one[1:] == (child, type_)),
            ("wrong child", lambda one: (one[0], one[2]) == (parent, type_)),
        ):
            found = next((one for one in missed if fits(one)), None)
            if found is not None:
                return kind, found
        return "spurious link", None

    def _wrong_link(self, kind: str, k: int, link: EventLink, right: EventLink | None) -> Mistake:
        if right is None:
            return self._mistake(kind, None, _said(link), (("links", k), removed), label=link.type)
        edits = [*self._brought(right), (("links", k), put(right))]
        return self._mistake(kind, _said(right), _said(link), *edits, label=link.type)

    def _brought(self, link: EventLink) -> list[Edit]:
        """The events of a link, where they are missed."""
        return [(("events",), _with(mention)) for mention in (link.parent, link.child)]

    def _mistake(self, kind: str, gold: str | None, system: str | None, *edits: Edit, label: str = "") -> Mistake:
        return Mistake(kind, self.name, gold, system, label=label, edits=edits)


def _with(event: str) -> Change:
    return lambda known: known if event in known else (*known, event)


def _without(event: str) -> Change:
    return lambda known: tuple(one for one in known if one != event)


def _apart(event: str) -> Change:
    """Clusters without an event; those of one mention are none."""

    def change(known: Any) -> Any:
        kept = (tuple(one for one in cluster if one != event) for cluster in known)
        return tuple(cluster for cluster in kept if len(cluster) > 1)

    return change


def _unlinked(event: str) -> Change:
    return lambda known: tuple(one for one in known if event not in (one.parent, one.child))


def _said(link: EventLink) -> str:
    return f"{link.parent} → {link.child} ({link.type})"
