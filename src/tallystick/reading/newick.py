r"""Forests in parentheses, as Table 1 of "Evaluation for Partial Event Coreference" prints them (it says Newick).

    (1(2(6)(3(7)))(4(5))) (8(9(11)(12))(10)) (30) (31)

A node is `(label subtree ...)`. A conceptual event of several mentions is written as in the paper's figures,
`({E6,E7}(E8)(E11))`. One document a line. A name, and a type of links, may stand before it, each followed by a tab:

    story1 <tab> (1(2)(3)) (4)
    story1 <tab> membership <tab> (1) (2) (3) (4(3))

Lines of one document with different types are one document, and must name the same events. Without a type, links
are subevents. Lines that begin with # are comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tallystick.errors import InputError
from tallystick.reading.hierarchies import Building, Hierarchies, Where
from tallystick.structures.hierarchies import SUBEVENT

_TOKEN = re.compile(r"(?P<space>\s+)|(?P<open>\()|(?P<close>\))|(?P<set>\{[^{}()]*\})|(?P<label>[^\s(){},;]+)")


@dataclass
class _Line:
    """The trees of a line: nodes (their mentions with places), and for each the number of its parent or -1."""

    nodes: list[list[tuple[str, Where]]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)


def read_newick(text: str, file: str) -> Hierarchies:
    """The documents of a text in Newick form."""
    building = Building(file, text)
    named = False
    documents: dict[str, list[tuple[str, _Line, int]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        *head, trees = line.rstrip("\r").split("\t")
        if len(head) > 2:
            raise building.error("expected at most a name and a type before the trees, each with a tab", (number, 1))
        named = named or bool(head)
        name = head[0] if head else str(len(documents))
        kind = head[1] if len(head) > 1 else SUBEVENT
        parsed = _parse(building, trees, number, len(line.rstrip("\r")) - len(trees))
        documents.setdefault(name, []).append((kind, parsed, number))
    if not documents:
        raise InputError("has no trees; expected a line such as (1(2)(3)) (4)", file)
    for name, lines in documents.items():
        building.open(name)
        first = {mention for node in lines[0][1].nodes for mention, _ in node}
        for k, (kind, parsed, number) in enumerate(lines):
            _add(building, kind, parsed, number, first if k else None)
    return building.finish(named=named)


def _add(building: Building, kind: str, line: _Line, number: int, known: set[str] | None) -> None:
    if known is None:
        for node in line.nodes:
            for mention, where in node:
                building.event(mention, where)
    else:
        here = {mention for node in line.nodes for mention, _ in node}
        if here != known:
            name = sorted(here ^ known)[0]
            raise building.error(
                f"event {name} is not in all lines of this document; name the same events", (number, 1)
            )
    for node in line.nodes:
        if len(node) > 1:
            building.corefer(node)
    for node, parent in zip(line.nodes, line.parents, strict=True):
        if parent >= 0:
            building.link(line.nodes[parent][0][0], node[0][0], kind, node[0][1])


def _parse(building: Building, trees: str, number: int, start: int) -> _Line:
    out = _Line()
    open_: list[int] = []  # the nodes around this place; -1 for one without a label yet
    opened: list[int] = []
    place = 0
    while place < len(trees):
        token = _TOKEN.match(trees, place)
        where = (number, start + place + 1)
        if token is None:
            sign = trees[place]
            hint = "; this is Newick with children first, expected (parent(child)(child))" if sign in ",;" else ""
            raise building.error(f"unexpected {sign!r}{hint}", where)
        kind, found = token.lastgroup, token.group()
        place = token.end()
        if kind == "open":
            if open_ and open_[-1] < 0:
                raise building.error("expected a label before the subtrees of a node", where)
            open_.append(-1)
            opened.append(where[1])
        elif kind == "close":
            if not open_:
                raise building.error("a ) without its (", where)
            if open_.pop() < 0:
                raise building.error("a node without a label", where)
            opened.pop()
        elif kind in ("label", "set"):
            if not open_ or open_[-1] >= 0:
                what = "a label outside of parentheses" if not open_ else "a second label in a node"
                raise building.error(f"{what}: {found}; expected (label subtree ...)", where)
            mentions = re.split(r"[\s,]+", found[1:-1].strip()) if kind == "set" else [found]
            if not all(mentions):
                raise building.error("a node without a label", where)
            open_[-1] = len(out.nodes)
            out.parents.append(open_[-2] if len(open_) > 1 else -1)
            out.nodes.append([(mention, where) for mention in mentions])
    if open_:
        raise building.error("a ( that is never closed", (number, opened[-1]))
    return out
