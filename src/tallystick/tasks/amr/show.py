"""What a report shows of graphs of meaning: both graphs laid over each other by the variable map, and figures by role.

A variable of the reference and the one that it is mapped to are one node; a triple that both have is one edge. So the
drawing is the alignment that the score counts: what is marked right adds up to the matched triples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.tally import Counts as Figures
from tallystick.results.documents import DIFFERS
from tallystick.results.explanation import MATCHED, Explanation
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, GraphDrawing, Knot, Link
from tallystick.show.tables import Table
from tallystick.tasks.amr.triples import INSTANCE, ROOT, Counting, FactReader, Facts

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
