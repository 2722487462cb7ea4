"""Where the nodes of a graph stand: a column for each depth, a row for each leaf.

A spanning tree is grown from the roots, level by level, so that no node is deeper than it needs to be. What the
reference has comes first, so that a wrong edge never decides where a right one goes. Edges are followed in both
directions; one that was followed against its own is *turned*. A node stands in the row of its first child, so that
there are as many rows as leaves:

    want ── ARG0 ── boy
       └─── ARG1 ── go ── ARG4 ── city
                     └─── time ── now

Edges outside of the tree (re-entrancies) are drawn across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from tallystick.frozen import frozen


@frozen
class Placed:
    """For each node its column and row; by their numbers the edges of the tree, and those drawn the other way round."""

    where: list[tuple[int, int]]
    tree: frozenset[int]
    turned: frozenset[int]


def place(nodes: int, links: Sequence[Link], roots: Sequence[int] = ()) -> Placed:
    """Columns and rows for all nodes, also for those that no root reaches."""

    near: list[list[tuple[int, int, bool]]] = [[] for _ in range(nodes)]
    for number, link in enumerate(links):
        near[link.source].append((number, link.target, False))
        if link.source != link.target:
            near[link.target].append((number, link.source, True))
    depth = [-1] * nodes
    children: list[list[int]] = [[] for _ in range(nodes)]
    tree: set[int] = set()
    turned: set[int] = set()

    def grow(start: Sequence[int], wrong_too: bool) -> None:
        reached = list(start)
        for node in reached:
            for number, other, against in near[node]:
                if depth[other] < 0 and (wrong_too or links[number].status != SPURIOUS):
                    depth[other] = depth[node] + 1
                    children[node].append(other)
                    tree.add(number)
                    if against:
                        turned.add(number)
                    reached.append(other)

    tops: list[int] = []
    for root in (*roots, *_unentered(nodes, links), *range(nodes)):
        if depth[root] < 0:
            tops.append(root)
            depth[root] = 0
            grow([root], False)
            grow([node for node in range(nodes) if depth[node] >= 0], True)
    where = [(0, 0)] * nodes
    row = -1
    waiting = [(top, True) for top in reversed(tops)]
    while waiting:
        node, below = waiting.pop()
        row += below
        where[node] = (depth[node], row)
        waiting += [(child, k > 0) for k, child in reversed(list(enumerate(children[node])))]
    return Placed(where, frozenset(tree), frozenset(turned))


def _unentered(nodes: int, links: Sequence[Link]) -> list[int]:
    entered = {link.target for link in links}
    return [node for node in range(nodes) if node not in entered]


# What a report draws of one document: a text with highlights, a graph, arcs over words, boxes, times, tables.
#
# A drawing is plain data. Python decides what is drawn and in what order it stands; the page makes elements of it, text as
# text, when the document is opened. Each part has a status:
#
#     =  right        ~  found, but in part or in the wrong place        -  missed        +  spurious

RIGHT, PART, MISSED, SPURIOUS = "=", "~", "-", "+"


class Drawing(Protocol):
    """Anything that the page can draw."""

    def packed(self) -> dict[str, Any]:
        """As data for the page; `kind` says which drawing it is."""
        ...


class Mark(NamedTuple):
    """A highlight: tokens [start, end) of the text; highlights of one group light up together."""

    start: int
    end: int
    label: str
    status: str
    group: int | None = None


@frozen
class TextDrawing:
    """A text twice, side by side, with the highlights of either side. `coloured`: groups have colours (chains)."""

    title: str
    sentences: Sequence[Sequence[str]]
    reference: Sequence[Mark]
    predicted: Sequence[Mark]
    coloured: bool = False
    note: str = ""

    def packed(self) -> dict[str, Any]:
        return {"kind": "text", **vars(self)}


class Found(NamedTuple):
    """What one side found in a text: tokens [start, end), a label and a group. It is right if the other side has one of the same
    `keys`, and right in part if it has one of the same `near`."""

    spans: Sequence[tuple[int, int]]
    label: str
    keys: frozenset[Any]
    near: frozenset[Any]
    group: int | None = None


def mark_both(reference: Sequence[Found], predicted: Sequence[Found]) -> tuple[list[Mark], list[Mark]]:
    """The highlights of both sides. What is found twice in one place, under one label and with one status, is drawn once."""

    def marks(ours: Sequence[Found], theirs: Sequence[Found], alone: str) -> list[Mark]:
        keys = {key for one in theirs for key in one.keys}
        near = {key for one in theirs for key in one.near}
        out: dict[tuple[Any, ...], Mark] = {}
        for one in ours:
            status = RIGHT if keys & one.keys else PART if near & one.near else alone
            for start, end in one.spans:
                mark = Mark(start, end, one.label, status, one.group)
                out.setdefault(mark[:4], mark)
        return list(out.values())

    return marks(reference, predicted, MISSED), marks(predicted, reference, SPURIOUS)


class Knot(NamedTuple):
    """A node of a graph: its text, its status, and what appears when the pointer rests on it."""

    text: str
    status: str
    detail: str = ""


class Link(NamedTuple):
    """An edge between two nodes, by their places."""

    source: int
    target: int
    label: str
    status: str


@frozen
class GraphDrawing:
    """Both sides of a graph or forest laid over each other: what both have is drawn once. `text` is what it is about."""

    title: str
    knots: Sequence[Knot]
    links: Sequence[Link]
    roots: Sequence[int] = ()
    text: str = ""

    def packed(self) -> dict[str, Any]:
        placed = place(len(self.knots), self.links, self.roots)
        nodes = [[*placed.where[k], knot.text, knot.status, knot.detail] for k, knot in enumerate(self.knots)]
        edges = []
        for number, link in enumerate(self.links):
            turned = number in placed.turned
            ends = (link.target, link.source) if turned else (link.source, link.target)
            label = _turned(link.label) if turned and link.label else link.label
            edges.append([*ends, label, link.status, int(number in placed.tree)])
        return {
            "kind": "graph", "title": self.title, "nodes": nodes, "edges": edges, "summary": self.summary, "text": self.text,
        }  # fmt: skip

    @property
    def summary(self) -> str:
        """The drawing in a sentence, also for those who do not see it."""

        def counted(statuses: Sequence[str], noun: str) -> str:
            n = len(statuses)
            words = ((RIGHT, "right"), (PART, "in part"), (MISSED, "missed"), (SPURIOUS, "spurious"))
            found = [f"{statuses.count(status)} {word}" for status, word in words if status in statuses]
            return f"{n} {noun}{'' if n == 1 else 's'}" + (f" ({', '.join(found)})" if found else "")

        nodes = counted([knot.status for knot in self.knots], "node")
        return f"{nodes}, {counted([link.status for link in self.links], 'edge')}."


def _turned(role: str) -> str:
    """An edge that is drawn against its direction is named as PENMAN names it."""
    return role.removesuffix("-of") if role.endswith("-of") else f"{role}-of"


class Arc(NamedTuple):
    """A dependency: the word's head (-1 for the root), the word, the relation."""

    head: int
    word: int
    label: str
    status: str


@frozen
class ArcDrawing:
    """A sentence with the reference's arcs above it and the wrong predicted ones below."""

    title: str
    words: Sequence[str]
    reference: Sequence[Arc]
    predicted: Sequence[Arc]

    def packed(self) -> dict[str, Any]:
        wrong = sum(arc.status != RIGHT for arc in self.reference)
        return {
            "kind": "arcs", **vars(self), "summary": f"{len(self.words)} words, {wrong} of {len(self.reference)} arcs not found",
        }  # fmt: skip


class Box(NamedTuple):
    """A box of one side (0 the reference), its corners, what it is called, and its status."""

    side: int
    left: float
    top: float
    right: float
    bottom: float
    label: str
    status: str


@frozen
class BoxDrawing:
    """The boxes of both sides in one picture."""

    title: str
    boxes: Sequence[Box]

    def packed(self) -> dict[str, Any]:
        return {"kind": "boxes", **vars(self)}


class Bar(NamedTuple):
    """A stretch of time of one side (0 the reference) in a lane."""

    side: int
    lane: str
    start: float
    end: float
    status: str


@frozen
class LaneDrawing:
    """Times in lanes, one for each label, the reference above the prediction."""

    title: str
    bars: Sequence[Bar]

    def packed(self) -> dict[str, Any]:
        return {"kind": "lanes", **vars(self)}


@frozen
class TableDrawing:
    """Two tables side by side; a cell is its text and its status."""

    title: str
    reference: Sequence[Sequence[tuple[str, str]]]
    predicted: Sequence[Sequence[tuple[str, str]]]

    def packed(self) -> dict[str, Any]:
        return {"kind": "table", **vars(self)}
