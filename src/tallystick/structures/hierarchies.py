"""Event hierarchies: events that are parts or members of other events ("Evaluation for Partial Event Coreference").

Event mentions are named; full coreference puts several mentions on one event; a link goes from an event to its
subevent or member. Merged by full coreference, with links lifted to what was merged, mentions become the *conceptual*
hierarchy (section 3.2), in which a node is a set of mentions:

    E6 ⇔ E7    E7 → E8    E6 → E11            {E6, E7}
    E8 → E9    E11 → E12              ⟹       ├── {E8}  ── {E9}
                                              └── {E11} ── {E12}

Links are a set there: E6 → E8 beside E7 → E8 adds nothing. `conceptual` is the plain version of what
`metrics.forests` does for a whole corpus in arrays; tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tallystick.errors import ValueMismatch
from tallystick.structures.texts import hold

SUBEVENT, MEMBERSHIP = "subevent", "membership"


@dataclass(frozen=True)
class EventLink:
    """A directed link from an event mention to its subevent or member."""

    parent: str
    child: str
    type: str = SUBEVENT


@dataclass(frozen=True)
class EventHierarchy:
    """Event mentions, which of them are one event, and the links between them: the output of the task."""

    events: Collection[str] = ()
    coreference: Collection[Collection[str]] = ()
    links: Collection[EventLink] = ()

    def __post_init__(self) -> None:
        for name in ("events", "coreference", "links"):
            hold(self, name)


@dataclass(frozen=True)
class ConceptualLink:
    """A link between two conceptual events, each the set of its mentions; a root's link has no parent."""

    parent: Collection[str]
    child: Collection[str]


@dataclass(frozen=True)
class EventTree:
    """A conceptual event and the trees below it."""

    event: Collection[str]
    subtrees: Collection[EventTree] = ()

    @property
    def counted(self) -> EventTree:
        """The tree itself: in STM = ⟦same event⟧ · (1 + Σ subtrees) it stands in both factors."""
        return self

    @property
    def one(self) -> int:
        """What the node counts."""
        return 1

    @property
    def links(self) -> list[ConceptualLink]:
        """The root, as a link without a parent, and the links of the tree: as many as it has nodes."""
        out, below = [ConceptualLink((), self.event)], [self]
        while below:
            tree = below.pop()
            out += [ConceptualLink(tree.event, one.event) for one in tree.subtrees]
            below += tree.subtrees
        return out


@dataclass(frozen=True)
class ConceptualHierarchy:
    """The conceptual events of a text with links of one type, as links, as groups of siblings, and as trees."""

    links: Collection[ConceptualLink]
    siblings: Collection[Collection[Collection[str]]]
    trees: Collection[EventTree]


def conceptual(hierarchy: EventHierarchy, type: str = SUBEVENT) -> ConceptualHierarchy:
    """The conceptual hierarchy of one type of links. A node must not have two parents, nor be its own ancestor."""
    merged = merge(hierarchy)
    nodes = list(dict.fromkeys(merged.values()))
    parent: dict[tuple[str, ...], tuple[str, ...]] = {}
    for link in hierarchy.links:
        if link.type != type:
            continue
        above, below = merged[link.parent], merged[link.child]
        if above == below:
            continue
        if parent.setdefault(below, above) != above:
            raise ValueMismatch(f"{set(below)} has two parents, {set(parent[below])} and {set(above)}")
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for node in nodes:
        if node in parent:
            children.setdefault(parent[node], []).append(node)
    seen: set[tuple[str, ...]] = set()

    def grown(node: tuple[str, ...]) -> EventTree:
        seen.add(node)
        return EventTree(node, tuple(grown(child) for child in children.get(node, ())))

    trees = tuple(grown(node) for node in nodes if node not in parent)
    if len(seen) < len(nodes):
        raise ValueMismatch(f"{set(next(n for n in nodes if n not in seen))} is its own ancestor")
    links = tuple(ConceptualLink(above, below) for below, above in parent.items())
    return ConceptualHierarchy(links, tuple(tuple(group) for group in children.values()), trees)


def merge(hierarchy: EventHierarchy) -> Mapping[str, tuple[str, ...]]:
    """The conceptual event of each mention: coreference is an equivalence, so clusters that meet are one."""
    node: dict[str, list[str]] = {name: [name] for name in hierarchy.events}
    for cluster in hierarchy.coreference:
        first, *others = cluster
        for other in others:
            if node[first] is not node[other]:
                node[first].extend(node[other])
                for name in list(node[other]):
                    node[name] = node[first]
    order = {name: k for k, name in enumerate(hierarchy.events)}
    return {name: tuple(sorted(members, key=order.__getitem__)) for name, members in node.items()}
