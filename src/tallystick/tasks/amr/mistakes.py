"""What is wrong with graphs of meaning, and what mends it: triple by triple, under the map of the variables that Smatch counts.

A missed triple and a spurious one belong together if they differ in one part: the concept of a variable, the role between two nodes, the
value of an attribute, or the node that something hangs on. What hangs on a node that is missed or spurious is told apart from the rest.

A predicted graph is mended as {"concepts": {node: concept}, "edges": {number: (source, role, target)}, "top": node}. A node is a number of a
predicted variable, or ("reference", number) for one that a mend brings; an edge that is left without one of its nodes goes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tallystick.errors import Place
from tallystick.results.mistakes import REMOVED, Edit, Mistake, mend, put, removed
from tallystick.tasks.amr.files import Graph, Graphs, pair_graphs
from tallystick.tasks.amr.metrics import names_of
from tallystick.tasks.amr.triples import Counting, FactReader, TripleCounts, normal_role, score_graphs

Node = Any
Triple = tuple[Node, str, Node]


def find_mistakes(
    left: Graphs, right: Graphs, counting: Counting, counts: TripleCounts | None, limit: float | None
) -> Iterator[Mistake]:
    """The errors of every pair of graphs."""
    pairs = pair_graphs(left, right)
    found = counts if counts is not None else score_graphs(pairs, counting, limit=limit)
    read = FactReader(counting)
    for name, (gold, system), mapping in zip(names_of(pairs), pairs, found.mappings, strict=True):
        place = Place(right.file, system.line or None)
        for one in _Pair(name, gold, system, mapping.tolist(), counting, read).mistakes():
            yield replace(one, place=place)


def mended_graphs(left: Graphs, right: Graphs, mistakes: Sequence[Mistake]) -> Graphs:
    """The predicted graphs with the edits of these mistakes."""
    edits: dict[Any, list[Edit]] = {}
    for one in mistakes:
        edits.setdefault(one.document, []).extend(one.edits)
    pairs = pair_graphs(left, right)
    mended = {
        id(system): _mended(gold, system, edits[name])
        for name, (gold, system) in zip(names_of(pairs), pairs, strict=True)
        if name in edits
    }
    return replace(right, graphs=[mended.get(id(graph), graph) for graph in right.graphs])


def _mended(gold: Graph, system: Graph, edits: Sequence[Edit]) -> Graph:
    """The graph after some edits, written with numbers of variables again."""
    found = mend(
        {
            "concepts": dict(enumerate(system.concepts)),
            "edges": {k: (_end(source), role, _end(target)) for k, (source, role, target) in enumerate(system.edges)},
            "top": system.top,
        },
        edits,
    )
    nodes = {node: k for k, node in enumerate(found["concepts"])}
    taken = set(system.variables)
    names = []
    for node in nodes:
        name = gold.variables[node[1]] if isinstance(node, tuple) else system.variables[node]
        while isinstance(node, tuple) and name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    edges = [
        (_number(source, nodes), role, _number(target, nodes))
        for source, role, target in found["edges"].values()
        if _is_there(source, nodes) and _is_there(target, nodes)
    ]
    top = nodes.get(found.get("top"))
    return replace(system, variables=names, concepts=list(found["concepts"].values()), edges=edges, top=top)


def _end(end: int | str) -> Node:
    """An end of an edge: a node, or a constant in a wrapping of its own, since a text is no node."""
    return end if isinstance(end, int) else Constant(end)


class Constant(str):
    """A constant among the ends of edges."""


def _is_there(end: Node, nodes: dict[Node, int]) -> bool:
    return isinstance(end, Constant) or end in nodes


def _number(end: Node, nodes: dict[Node, int]) -> int | str:
    return str(end) if isinstance(end, Constant) else nodes[end]


class _Pair:
    """Two graphs under a map of their variables."""

    def __init__(
        self, name: Any, gold: Graph, system: Graph, mapping: Sequence[int], counting: Counting, read: FactReader
    ) -> None:
        self.name, self.gold, self.system, self.counting, self.read = name, gold, system, counting, read
        self.node: list[Node] = [j if j >= 0 else ("reference", i) for i, j in enumerate(mapping)]
        """The node of each variable of the reference."""
        self.met = {j for j in mapping if j >= 0}
        self.snt = gold.metadata.get("snt") or system.metadata.get("snt") or ""

    def mistakes(self) -> Iterator[Mistake]:
        """Nodes with their concepts, the top, then edges."""
        yield from self._nodes()
        ours = None if self.gold.top is None else self.node[self.gold.top]
        if self.counting.root != "none" and ours != self.system.top:
            edits = self._brought(ours)
            said = [None if node is None else self._say(node) for node in (ours, self.system.top)]
            yield self._mistake("wrong top", said[0], said[1], "top", *edits, (("top",), put(ours)))
        yield from self._edges()

    def _nodes(self) -> Iterator[Mistake]:
        for i, concept in enumerate(self.gold.concepts):
            node = self.node[i]
            if isinstance(node, tuple):
                yield self._mistake(
                    "missed node", self._say(node), None, "instance", (("concepts", node), put(concept))
                )
            elif self._concept(concept) != self._concept(self.system.concepts[node]):
                said = self._say(node, concept), self._say(node)
                yield self._mistake("wrong concept", *said, "instance", (("concepts", node), put(concept)))
        for j in range(len(self.system.variables)):
            if j not in self.met:
                yield self._mistake("spurious node", None, self._say(j), "instance", (("concepts", j), removed))

    def _concept(self, concept: str | None) -> str | None:
        return None if concept is None else self.read._concept(concept)

    # Edges

    def _edges(self) -> Iterator[Mistake]:
        gold, system = self._listed(self.gold, self.node), self._listed(self.system, range(len(self.system.variables)))
        waiting: dict[Triple, list[int]] = {}
        for k, (triple, _) in system.items():
            waiting.setdefault(triple, []).append(k)
        missed = {}
        for e, (triple, raw) in gold.items():
            if waiting.get(triple):
                waiting[triple].pop(0)
            else:
                missed[e] = (triple, raw)
        spurious = {k: system[k] for some in waiting.values() for k in some}
        for kind, fits in _PARTNERS:
            for k, (triple, _) in list(spurious.items()):
                found = next((e for e, (other, _) in missed.items() if fits(other, triple)), None)
                if found is not None:
                    del spurious[k]
                    yield self._edge(kind, missed.pop(found), triple, k)
        parents = [Counter(triple[2] for triple, _ in side.values()) for side in (gold, system)]
        for k, (triple, _) in spurious.items():
            yield self._edge(self._kind_alone("spurious", triple, parents[1]), None, triple, k)
        for e, one in missed.items():
            yield self._edge(self._kind_alone("missed", one[0], parents[0]), one, None, ("reference", e))

    def _listed(self, graph: Graph, nodes: Sequence[Node]) -> dict[int, tuple[Triple, Triple]]:
        """The edges of a graph by number: as they are compared, and as they are written, between nodes."""
        out = {}
        for k, (source, raw, target) in enumerate(graph.edges):
            role, turned = normal_role(raw, self.counting.inverse, self.counting.mod)
            ends = [nodes[end] if isinstance(end, int) else Constant(end) for end in (source, target)]
            compared = [self.read._value(end) if isinstance(end, Constant) else end for end in ends]
            compared = [Constant(end) if isinstance(end, str) else end for end in compared]
            first, second = reversed(compared) if turned else compared
            if not isinstance(first, Constant) or self.counting.constant_sources:
                out[k] = (first, role, second), (ends[0], raw, ends[1])
        return out

    def _kind_alone(self, what: str, triple: Triple, parents: Counter[Node]) -> str:
        source, _, target = triple
        ends = [end for end in (source, target) if not isinstance(end, Constant)]
        if any(isinstance(end, tuple) for end in ends):
            return "relation of a missed node"
        if any(end not in self.met for end in ends):
            return "relation of a spurious node"
        if isinstance(target, Constant) or isinstance(source, Constant):
            return f"{what} attribute"
        return f"{what} reentrancy" if parents[target] > 1 else f"{what} relation"

    def _edge(self, kind: str, gold: tuple[Triple, Triple] | None, system: Triple | None, at: Any) -> Mistake:
        role = (gold[0] if gold is not None else system or ("", "", ""))[1]
        ours, theirs = (None if one is None else self._triple(one) for one in (gold and gold[0], system))
        if gold is None:
            return self._mistake(kind, None, theirs, role, (("edges", at), removed))
        edits = [edit for end in (gold[1][0], gold[1][2]) for edit in self._brought(end)]
        return self._mistake(kind, ours, theirs, role, *edits, (("edges", at), put(gold[1])))

    def _brought(self, node: Node) -> list[Edit]:
        """The node, where it is missed."""
        return [(("concepts", node), put(self.gold.concepts[node[1]]))] if isinstance(node, tuple) else []

    # In words

    def _say(self, node: Node, concept: Any = REMOVED) -> str:
        if isinstance(node, Constant):
            return str(node)
        graph, number = (self.gold, node[1]) if isinstance(node, tuple) else (self.system, node)
        shown = graph.concepts[number] if concept is REMOVED else concept
        return f"{graph.variables[number]} / {shown}" if shown is not None else graph.variables[number]

    def _triple(self, triple: Triple) -> str:
        return f"{triple[1].removeprefix(':')}({self._say(triple[0])}, {self._say(triple[2])})"

    def _mistake(self, kind: str, gold: str | None, system: str | None, label: str, *edits: Edit) -> Mistake:
        return Mistake(kind, self.name, gold, system, "", self.snt, label=label.removeprefix(":"), edits=edits)


_PARTNERS: tuple[tuple[str, Any], ...] = (
    ("wrong role", lambda one, other: (one[0], one[2]) == (other[0], other[2])),
    ("reversed relation", lambda one, other: one == (other[2], other[1], other[0])),
    (
        "wrong attribute",
        lambda one, other: one[:2] == other[:2] and all(isinstance(x[2], Constant) for x in (one, other)),
    ),
    ("wrong attachment", lambda one, other: one[1:] == other[1:]),
    ("wrong attachment", lambda one, other: one[:2] == other[:2]),
)
"""How a missed triple and a spurious one may be one, the nearest first."""
