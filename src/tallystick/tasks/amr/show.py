"""What a report shows of graphs of meaning: both graphs laid over each other by the variable map, and figures by role.

A variable of the reference and the one that it is mapped to are one node; a triple that both have is one edge. So the
drawing is the alignment that the score counts: what is marked right adds up to the matched triples.

What is wrong with graphs of meaning, and what mends it: triple by triple, under the map of the variables that Smatch counts.

A missed triple and a spurious one belong together if they differ in one part: the concept of a variable, the role between two nodes, the
value of an attribute, or the node that something hangs on. What hangs on a node that is missed or spurious is told apart from the rest.

A predicted graph is mended as {"concepts": {node: concept}, "edges": {number: (source, role, target)}, "top": node}. A node is a number of a
predicted variable, or ("reference", number) for one that a mend brings; an edge that is left without one of its nodes goes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.tally import Counts as Figures
from tallystick.errors import Place
from tallystick.results.documents import DIFFERS
from tallystick.results.explanation import MATCHED, Explanation
from tallystick.results.mistakes import REMOVED, Edit, Mistake, mend, put, removed
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, GraphDrawing, Knot, Link
from tallystick.show.tables import Table
from tallystick.tasks.amr.files import Graph, Graphs, pair_graphs
from tallystick.tasks.amr.metrics import names_of
from tallystick.tasks.amr.triples import (
    INSTANCE,
    ROOT,
    Counting,
    FactReader,
    Facts,
    TripleCounts,
    normal_role,
    score_graphs,
)

if TYPE_CHECKING:
    from tallystick.tasks.amr.files import Graphs
    from tallystick.tasks.amr.triples import TripleCounts

Fact = tuple[Any, ...]
"""A triple as both sides name it: (node, role, value, turned) or (node, role, node)."""


def meaning_parts(
    reference: Graphs, predicted: Graphs, counting: Counting, counts: TripleCounts | None, limit: float | None
) -> Parts:
    """Figures by role, and for each pair the drawing and the list of its variables and triples."""
    from tallystick.tasks.amr.files import pair_graphs
    from tallystick.tasks.amr.metrics import explain, names_of
    from tallystick.tasks.amr.triples import score_graphs

    pairs = pair_graphs(reference, predicted)
    found = counts if counts is not None else score_graphs(pairs, counting, limit=limit)
    places = {name: k for k, name in enumerate(names_of(pairs))}
    read = FactReader(counting)

    def draw(name: str) -> Sequence[Drawing]:
        one, other = pairs[places[name]]
        sentence = one.metadata.get("snt") or other.metadata.get("snt") or ""
        drawing = graph_drawing(read(one), read(other), found.mappings[places[name]].tolist(), sentence)
        return [drawing] if drawing.knots else []

    def explain_mapped(name: str) -> Explanation:
        return with_mapping(explain(reference, predicted, counting, document=name, limit=limit)[1])

    sides = [[read(pair[side]) for pair in pairs] for side in (0, 1)]
    table = roles_table(sides[0], sides[1], [mapping.tolist() for mapping in found.mappings])
    return Parts([table], explain=explain_mapped, draw=draw, main="smatch", alignment="Variables and triples")


def with_mapping(tree: Explanation) -> Explanation:
    """The explanation of a pair of graphs with its variables as what they are: the map under which triples are counted. It
    earns nothing by itself, and a variable mapped to one of another concept is marked."""
    variables, triples = tree.children

    def mapped(node: Explanation) -> Explanation:
        concepts = {str(side).partition(" / ")[2] for side in (node.reference, node.predicted)}
        status = DIFFERS if node.status == MATCHED and len(concepts) > 1 else node.status
        return replace(node, status=status, weight=0.0, reference_self=0.0, predicted_self=0.0)

    mapping = replace(
        mapped(variables), name="mapping", status=MATCHED, children=tuple(map(mapped, variables.children))
    )
    return replace(tree, children=(mapping, triples))


def graph_drawing(reference: Facts, predicted: Facts, mapping: Sequence[int], sentence: str = "") -> GraphDrawing:
    """Both graphs as one; `mapping` is the predicted variable of each reference variable, or -1."""
    ours, theirs = named_facts(reference, predicted, mapping)
    sides = ((ours & theirs, RIGHT), (ours - theirs, MISSED), (theirs - ours, SPURIOUS))
    marked = [(fact, status) for facts, status in sides for fact in facts.elements()]
    concepts: dict[int, dict[str, str]] = {}
    roots: dict[int, str] = {}
    for (kind, number, *rest), status in marked:
        if kind == "unary" and rest[0] == INSTANCE:
            concepts.setdefault(number, {})[status] = rest[1]
        elif kind == "unary" and rest[0] == ROOT:
            roots[number] = status
    mapped = {i for i, j in enumerate(mapping) if j >= 0}
    knots: list[Knot] = []
    place: dict[int, int] = {}
    for number, names in _variables(reference, predicted, mapping).items():
        status = RIGHT if number in mapped else MISSED if number < len(reference.variables) else SPURIOUS
        place[number] = len(knots)
        knots.append(_knot(names, status, concepts.get(number, {}), roots.get(number)))
    links: list[Link] = []
    for fact, status in marked:
        if fact[0] == "binary":
            links.append(Link(place[fact[1]], place[fact[3]], _role(fact[2]), status))
        elif fact[0] == "unary" and fact[2] not in (INSTANCE, ROOT):
            knots.append(Knot(fact[3], status))
            ends = (len(knots) - 1, place[fact[1]]) if fact[4] else (place[fact[1]], len(knots) - 1)
            links.append(Link(*ends, _role(fact[2]), status))
    first = sorted(roots, key=lambda number: (roots[number] == SPURIOUS, number))
    title = "Both graphs, laid over each other"
    return GraphDrawing(title, knots, links, [place[number] for number in first], sentence)


def _knot(names: str, status: str, concepts: Mapping[str, str], root: str | None) -> Knot:
    """A variable under its concept; mapped variables of two concepts show both."""
    text = concepts.get(RIGHT) or concepts.get(status) or names
    if status == RIGHT and concepts and RIGHT not in concepts:
        status, text = PART, " ≠ ".join(concepts.get(side, "–") for side in (MISSED, SPURIOUS))
    mark = {RIGHT: "◆ ", MISSED: "−◆ ", SPURIOUS: "+◆ "}.get(root or "", "")
    return Knot(mark + text, status, f"{names}{'' if root is None else ', the root'}")


def named_facts(reference: Facts, predicted: Facts, mapping: Sequence[int]) -> tuple[Counter[Fact], Counter[Fact]]:
    """The triples of both sides over the same nodes: a mapped variable is its reference's, others come after those."""
    back = {j: i for i, j in enumerate(mapping) if j >= 0}
    after = len(reference.variables)
    out: list[Counter[Fact]] = []
    for facts, names in (
        (reference, range(after)),
        (predicted, [back.get(j, after + j) for j in range(len(predicted.variables))]),
    ):
        listed: list[Fact] = [("unary", names[v], role, value, turned) for v, role, value, turned in facts.unary]
        listed += [("binary", names[s], role, names[t]) for s, role, t in facts.binary]
        listed += [("free", *fact) for fact in facts.free]
        out.append(Counter(listed))
    return out[0], out[1]


def roles_table(reference: Sequence[Facts], predicted: Sequence[Facts], mappings: Sequence[Sequence[int]]) -> Table:
    """A row for each role: how many of its triples were found under the maps that the score counts."""
    counts: dict[str, list[int]] = {}
    for one, other, mapping in zip(reference, predicted, mappings, strict=True):
        ours, theirs = named_facts(one, other, mapping)
        for k, side in enumerate((ours & theirs, theirs, ours)):
            for fact, n in side.items():
                counts.setdefault(_role(fact[2]), [0, 0, 0])[k] += n
    rows: list[list[Any]] = []
    for role, (both, found, there) in sorted(counts.items(), key=lambda entry: -entry[1][2]):
        figures = Figures().figures(np.array([both, found, both, there], np.float64))
        shown = [None if np.isnan(figures[n]) else float(figures[n]) for n in ("precision", "recall", "f1")]
        rows.append([role, *shown, both, there - both, found - both])
    note = "Triples by their role, as they are counted: inverse roles are turned round, instance is a concept."
    return Table(["role", "precision", "recall", "f1", "found", "missed", "spurious"], rows, "By role", [note])


def _variables(reference: Facts, predicted: Facts, mapping: Sequence[int]) -> dict[int, str]:
    """Every node with the names of its variables on both sides."""
    out = {}
    for i, name in enumerate(reference.variables):
        j = mapping[i] if i < len(mapping) else -1
        out[i] = name if j < 0 or predicted.variables[j] == name else f"{name} ↔ {predicted.variables[j]}"
    taken = {j for j in mapping if j >= 0}
    for j, name in enumerate(predicted.variables):
        if j not in taken:
            out[len(reference.variables) + j] = name
    return out


def _role(role: str) -> str:
    return role.removeprefix(":")


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
