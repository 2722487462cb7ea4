"""What a report draws of one document: a text with highlights, a graph, arcs over words.

A drawing is plain data. Python decides what is drawn and in what order it stands; the page makes elements of it, text as
text, when the document is opened. Each part has a status:

    =  right        ~  found, but in part or in the wrong place        -  missed        +  spurious
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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


@dataclass(frozen=True)
class TextDrawing:
    """A text twice, side by side, with the highlights of either side. `coloured`: groups have colours (chains)."""

    title: str
    sentences: Sequence[Sequence[str]]
    reference: Sequence[Mark]
    predicted: Sequence[Mark]
    coloured: bool = False
    note: str = ""

    def packed(self) -> dict[str, Any]:
        return {
            "kind": "text",
            "title": self.title,
            "sentences": [list(sentence) for sentence in self.sentences],
            "reference": [list(mark) for mark in self.reference],
            "predicted": [list(mark) for mark in self.predicted],
            "coloured": self.coloured,
            "note": self.note,
        }


class Knot(NamedTuple):
    """A node of a graph: what it says, its status, and what is said when the pointer rests on it."""

    text: str
    status: str
    detail: str = ""


class Link(NamedTuple):
    """An edge between two nodes, by their places."""

    source: int
    target: int
    label: str
    status: str


@dataclass(frozen=True)
class GraphDrawing:
    """Both sides of a graph or forest laid over each other: what both have is drawn once. `text` is what it is about."""

    title: str
    knots: Sequence[Knot]
    links: Sequence[Link]
    roots: Sequence[int] = ()
    text: str = ""

    def packed(self) -> dict[str, Any]:
        from tallystick.reports.layout import place

        placed = place(len(self.knots), self.links, self.roots)
        nodes = [[*placed.where[k], knot.text, knot.status, knot.detail] for k, knot in enumerate(self.knots)]
        edges = []
        for number, link in enumerate(self.links):
            turned = number in placed.turned
            ends = (link.target, link.source) if turned else (link.source, link.target)
            label = _turned(link.label) if turned and link.label else link.label
            edges.append([*ends, label, link.status, int(number in placed.tree)])
        return {
            "kind": "graph",
            "title": self.title,
            "nodes": nodes,
            "edges": edges,
            "said": self.said,
            "text": self.text,
        }

    @property
    def said(self) -> str:
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


@dataclass(frozen=True)
class ArcDrawing:
    """A sentence with the reference's arcs above it and the wrong predicted ones below."""

    title: str
    words: Sequence[str]
    reference: Sequence[Arc]
    predicted: Sequence[Arc]

    def packed(self) -> dict[str, Any]:
        wrong = sum(arc.status != RIGHT for arc in self.reference)
        return {
            "kind": "arcs",
            "title": self.title,
            "words": list(self.words),
            "reference": [list(arc) for arc in self.reference],
            "predicted": [list(arc) for arc in self.predicted],
            "said": f"{len(self.words)} words, {wrong} of {len(self.reference)} arcs not found",
        }
