"""MUC_p, BLANC_p and STM_p of "Evaluation for Partial Event Coreference", and what the paper leaves to future work.

Two conceptual events are the same if they share a mention, ≈, and the metrics over a `ConceptualHierarchy` are

    MUC_p       F↔_links[≈_parent × ≈_child]
    siblings    F[Σ↔_links[≈_parent × ≈_child] + Σ~_siblings[φ_link[≈]]]
    STM         ≈_event × (1 + Σ↔_subtrees[STM])
    CEAF_p      F↔_trees[F↔_links[≈_parent × ≈_child]], a root being a link without a parent
    CEAF_STM    F↔_trees[F[STM]]

Sibling credit counts the implicit relation among the children of one parent as MUC counts a chain: n children that
both sides put together are n - 1 links, whichever parent they have, so that the credit grows with a family and not
with its square. Links are scored by the algebra over columns; trees are gone through level by level (see `forests`), and
tests hold that equal to the expressions. BLANC_p and NSTM_p = STM_p / max(|F1|, |F2|) have tallies of their own.

With `transitive`, MUC_p and BLANC_p are taken over links to all descendants, and STM_p may go down by any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tallystick.algebra.cases import let, ref
from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import best, f1, links
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64, I64, number, offsets_of, sort_order
from tallystick.engine.data import Bag, Data, Index, LazyValues, Memory, Objects, Record, Scope, code_jointly
from tallystick.engine.tally import Counts, Kind, ratio
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.results.evaluation import tally_rows
from tallystick.results.result import Result
from tallystick.structures.graphs import SUBEVENT, EventHierarchy, EventLink, conceptual, merge
from tallystick.tasks.coreference.metrics import MENTIONS, BlancLinks, Overlaps, Side, mentions
from tallystick.tasks.hierarchies import forests
from tallystick.tasks.hierarchies.files import Hierarchies, hierarchies_from, pair_hierarchies
from tallystick.tasks.hierarchies.forests import Graph, Rows
from tallystick.tasks.metric import choose

# The equations.

SAME = best(exact)
"""Two conceptual events share a mention; two that have none (the parent of a root) are the same too."""

LINK = record(parent=SAME, child=SAME)
MUC_P = f1(each(links=match(LINK)))
SIBLINGS = f1(each(links=match(LINK), siblings=match(links(SAME), "N:N")))
STM = let("Tree", record(event=SAME, counted=each(one=exact, subtrees=match(ref("Tree")))))
STM_P = f1(each(trees=match(STM)))
CEAF_P = f1(each(trees=match(record(links=f1(match(LINK))))))
CEAF_STM = f1(each(trees=match(f1(STM))))


@frozen
class DirectedLinks(BlancLinks):
    """BLANC_p: the mean over links and ordered pairs without one; and the F1 of each class."""

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{kind}_{of}" for kind in ("links", "others") for of in ("common", "key", "response"))

    def figures(self, sums: F64) -> dict[str, F64]:
        f_links, f_others = (ratio(2 * sums[..., k], sums[..., k + 1] + sums[..., k + 2]) for k in (0, 3))
        return {**super().figures(sums), "f1_links": f_links, "f1_others": f_others}


@frozen
class TreeMatches(Counts):
    """STM_p of the nodes of both sides, and NSTM_p, of the larger side of each document."""

    headline: str = "nstm"

    @property
    def sums(self) -> tuple[str, ...]:
        return (*super().sums, "larger")

    def figures(self, sums: F64) -> dict[str, F64]:
        return {**super().figures(sums), "nstm": ratio(sums[..., 0], sums[..., 4])}


@frozen
class HierarchyMetric:
    """A metric over two graphs: its rows, the kind of its tally, what it is, its expression, and whether it needs forests."""

    rows: Rows
    kind: Kind
    summary: str
    expression: Node | None = None
    needs_trees: bool = False


def _mentions(t: Overlaps, key: Graph, response: Graph) -> F64:
    return mentions(t)


# Metrics over links run through the engine, on columns; nodes that cannot share a mention are kept apart by their component.


@frozen(eq=False)
class _Nodes:
    """The nodes of one side: a number that nodes which may be the same have in common, and the mentions of each."""

    component: I64
    mentions: Bag
    single: bool

    def at(self, rows: I64, prefix: str = "") -> dict[str, Data]:
        """Columns of some nodes; -1 is no node."""
        out: dict[str, Data] = {f"{prefix}component": np.where(rows < 0, -1, self.component[rows])}
        if not self.single:
            out[f"{prefix}mentions"] = Index(np.where(rows < 0, len(self.component), rows), self.mentions)
        return out

    def same(self, *prefixes: str) -> Similarity:
        """Equality of the nodes under these names, as far as their components leave it open."""
        names = {f"{prefix}component": exact for prefix in prefixes}
        if self.single:
            return record(**names)
        return record(**names, **{f"{prefix}mentions": SAME for prefix in prefixes})


def _both_nodes(t: Overlaps) -> tuple[_Nodes, _Nodes]:
    *components, single = forests.meeting(t)
    out = []
    for side, component in zip((t.key, t.response), components, strict=True):
        order = sort_order(side.entity, max(1, side.entities))
        counts = np.bincount(side.entity, minlength=side.entities + 1)  # one more: the node without mentions
        out.append(_Nodes(component, Bag(offsets_of(counts), side.mention[order]), single))
    return out[0], out[1]


def _bag(owner: I64, owners: int) -> tuple[I64, I64]:
    """The order that sorts items by owner, and the owners' offsets."""
    return sort_order(owner, max(1, owners)), offsets_of(np.bincount(owner, minlength=owners))


def _grouped(group: I64, groups: int, homes: I64, documents: int, items: Callable[[I64], Data]) -> Bag:
    """Documents of groups of items; `homes` is the document of each group, and `items` a column of items in an order."""
    by_document, offsets = _bag(homes, documents)
    place = np.empty(groups, np.int64)
    place[by_document] = np.arange(groups)
    order, inside = _bag(place[group], groups)
    return Bag(offsets, Bag(inside, items(order)))


def _muc(t: Overlaps, key: Graph, response: Graph) -> F64:
    nodes = _both_nodes(t)
    sides = []
    for graph, one in zip((key, response), nodes, strict=True):
        order, offsets = _bag(graph.homes[graph.parent], t.documents)
        sides.append(Bag(offsets, _link_column(one, graph.parent, graph.child, order)))
    return tally_rows(match(nodes[0].same("parent_", "child_")), sides[0], sides[1], Memory())


def _siblings(t: Overlaps, key: Graph, response: Graph) -> F64:
    nodes = _both_nodes(t)
    sides = []
    for graph, one in zip((key, response), nodes, strict=True):
        group, groups = number(graph.parent, max(1, graph.nodes))
        homes = np.zeros(groups, np.int64)
        homes[group] = graph.homes[graph.parent]
        column = partial(_children, one, graph.child)
        sides.append(_grouped(group, groups, homes, t.documents, column))
    siblings = tally_rows(match(links(nodes[0].same("")), "N:N"), sides[0], sides[1], Memory())
    return _muc(t, key, response) + siblings


def _children(nodes: _Nodes, child: I64, order: I64) -> Data:
    return Record(nodes.at(child[order]))


def _ceaf(t: Overlaps, key: Graph, response: Graph) -> F64:
    nodes = _both_nodes(t)
    sides = []
    for graph, one in zip((key, response), nodes, strict=True):
        tops = np.flatnonzero(np.bincount(graph.child, minlength=graph.nodes) == 0)
        parent = np.concatenate((np.full(len(tops), -1), graph.parent))
        child = np.concatenate((tops, graph.child))
        tree, trees = number(graph.trees[child], max(1, graph.nodes))
        homes = np.zeros(trees, np.int64)
        homes[tree] = graph.homes[child]
        column = partial(_link_column, one, parent, child)
        sides.append(_grouped(tree, trees, homes, t.documents, column))
    return tally_rows(f1(match(f1(match(nodes[0].same("parent_", "child_"))))), sides[0], sides[1], Memory())


def _link_column(nodes: _Nodes, parent: I64, child: I64, order: I64) -> Data:
    return Record({**nodes.at(parent[order], "parent_"), **nodes.at(child[order], "child_")})


METRICS: dict[str, HierarchyMetric] = {
    "mentions": HierarchyMetric(_mentions, Counts(), "event mentions", MENTIONS),
    "muc_p": HierarchyMetric(_muc, Counts(), "MUC_p: links, with their direction", MUC_P),
    "blanc_p": HierarchyMetric(forests.blanc, DirectedLinks(), "BLANC_p: links and pairs without one, twinless events too"),
    "nstm_p": HierarchyMetric(forests.stm, TreeMatches(), "STM_p and NSTM_p: nodes matched from the roots down", STM_P, True),
    "siblings_p": HierarchyMetric(_siblings, Counts(), "links, and credit for sibling relations", SIBLINGS),
    "ceaf_p": HierarchyMetric(_ceaf, Counts(), "CEAF over trees, by the links that two trees share", CEAF_P),
    "ceaf_stm": HierarchyMetric(forests.ceaf_stm, Counts(), "CEAF over trees, by the STM of two trees", CEAF_STM, True),
}  # fmt: skip
"""What `tallystick score hierarchies` prints, for each type of links."""


# Scoring.


@frozen
class HierarchyOptions:
    """What may be different; every choice goes into the signature."""

    kinds: tuple[str, ...] = ()
    """Which types of links; all that occur, if none is named."""
    transitive: bool = False


PLAIN = HierarchyOptions()


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = tuple(METRICS), *, options: HierarchyOptions = PLAIN
) -> dict[str, Result]:
    """Score `EventHierarchy`s: two sequences of them, two mappings by document id, or what `read_hierarchies` read."""
    left, right = (side if isinstance(side, Hierarchies) else hierarchies_from(side) for side in (reference, predicted))
    return score(left, right, metrics, options)


def score(
    reference: Hierarchies,
    predicted: Hierarchies,
    metrics: Sequence[str] = tuple(METRICS),
    options: HierarchyOptions = PLAIN,
) -> dict[str, Result]:
    """Every metric for every type of links: `mentions`, then `subevent.muc_p`, ...; one type alone has plain names."""
    metrics = tuple(choose(METRICS, metrics, "hierarchies"))
    reference, predicted = pair_hierarchies(reference, predicted)
    kinds = _kinds(reference, predicted, options)
    left, right, _ = code_jointly(Objects(reference.identities), Objects(predicted.identities), Scope("events"))
    sides = [Side(h.document, h.node, m, h.nodes) for h, m in ((reference, left), (predicted, right))]
    t = Overlaps(sides[0], sides[1], len(reference.documents))
    results: dict[str, Result] = {}

    def result(name: str, kind: str, key: Graph, response: Graph, notes: tuple[str, ...]) -> Result:
        metric = METRICS[name]
        of = f"kind={kind}, " if kind else ""
        expression, label = metric.expression, f"hierarchies.{name}"
        documents = [
            Objects(LazyValues(partial(_value, h, kind), range(len(h.documents)))) for h in (reference, predicted)
        ]
        return Result(
            metric=expression or label,
            name=label if expression else "",
            kind=metric.kind,
            rows=metric.rows(t, key, response),
            ids=tuple(reference.documents),
            notes=notes,
            sources=((documents[0], documents[1]),) if expression and not options.transitive else None,
            settings=f"{of}transitive={'yes' if options.transitive else 'no'}",
        )

    said = (*reference.notes, *predicted.notes)
    for number_, kind in enumerate(kinds):
        needs_trees = any(METRICS[name].needs_trees for name in metrics)
        graphs, notes = [], list(said)
        for h, side in zip((reference, predicted), sides, strict=True):
            graph, found = _graph(h, side, kind, needs_trees=needs_trees)
            graphs.append(graph)
            notes += found
        plain = graphs[0], graphs[1]
        key, response = forests.closed(plain) if options.transitive else plain
        for name in metrics:
            if name == "mentions":
                if not number_:
                    results[name] = result(name, "", key, response, said)
                continue
            whole = name in ("siblings_p", "ceaf_p", "ceaf_stm")  # families and trees are what they are
            shown = name if len(kinds) == 1 else f"{kind}.{name}"
            results[shown] = result(name, kind, *(plain if whole else (key, response)), tuple(notes))
    return results


def _kinds(reference: Hierarchies, predicted: Hierarchies, options: HierarchyOptions) -> tuple[str, ...]:
    known = tuple(dict.fromkeys((*reference.kinds, *predicted.kinds)))
    check_kinds(options.kinds, known)
    return options.kinds or known or (SUBEVENT,)


def check_kinds(kinds: Sequence[str], known: Sequence[str]) -> None:
    """A type of links that there is none of is misspelt."""
    for kind in kinds:
        if known and kind not in known:
            raise MetricError(f"no links of type {kind!r}; there are {', '.join(known)}.{did_you_mean(kind, known)}")


def _graph(h: Hierarchies, side: Side, kind: str, *, needs_trees: bool) -> tuple[Graph, list[str]]:
    """The conceptual graph of one type of links; what lifting did to it is reported, and trees are made sure of."""
    rows = np.flatnonzero(h.kind == h.kinds.index(kind)) if kind in h.kinds else np.empty(0, np.int64)
    graph, fell = forests.lifted(side, h.node, h.parent[rows], h.child[rows])
    where = dict.fromkeys(h.files)
    of = next(iter(where), "") or "input"
    notes = []
    if fell:
        notes.append(f"{of}: {kind} links that join mentions of one event, left out: {fell:,}")
    if len(graph.several_parents):
        if needs_trees:
            _refuse_two_parents(h, rows, kind)
        node = int(graph.several_parents[0])
        notes.append(
            f"{of}: events that have several parents by {kind} links: {len(graph.several_parents):,}, "
            f"for one {{{_shown(h, node)}}} of document {h.documents[int(graph.homes[node])]}"
        )
    if needs_trees:
        link = graph.cycle()
        if link is not None:
            above, below = int(graph.parent[link]), int(graph.child[link])
            row = int(rows[(h.node[h.parent[rows]] == above) & (h.node[h.child[rows]] == below)][0])
            raise h.error(
                f"a cycle: this {kind} link makes {{{_shown(h, above)}}} its own ancestor; trees have none "
                f"(--metric muc_p and blanc_p take any links)",
                row,
            )
    return graph, notes


def _refuse_two_parents(h: Hierarchies, rows: I64, kind: str) -> None:
    """A mention that is linked to two events which are not one; merged mentions with a parent each are only reported."""
    child, above = h.child[rows], h.node[h.parent[rows]]
    order = np.lexsort((np.arange(len(rows)), child))
    first: dict[int, int] = {}
    for k in order.tolist():
        before = first.setdefault(int(child[k]), k)
        if above[before] != above[k]:
            names = [h.names[int(h.parent[rows[one]])] for one in (before, k)]
            raise h.error(
                f"{h.names[int(child[k])]} has two parents by {kind} links, {names[0]} and {names[1]}; trees have one "
                f"(--metric muc_p and blanc_p take any links)",
                int(rows[k]),
            )


def _shown(h: Hierarchies, node: int) -> str:
    return ", ".join(h.names[k] for k in np.flatnonzero(h.node == node).tolist())


def _value(side: Hierarchies, kind: str, document: int) -> Any:
    """A document as a Python value: its links of one type, or, without a type, the mentions of its events."""
    found = document_of(side, document)
    return conceptual(found, kind) if kind else list(dict.fromkeys(merge(found).values()))


def document_of(h: Hierarchies, document: int) -> EventHierarchy:
    """One document as a Python value; events are called by what identifies them."""
    names = {row: str(h.identities[row]) for row in h.mentions_of[document].tolist()}
    clusters: dict[int, list[str]] = {}
    for row, name in names.items():
        clusters.setdefault(int(h.node[row]), []).append(name)
    return EventHierarchy(
        list(names.values()),
        [cluster for cluster in clusters.values() if len(cluster) > 1],
        [
            EventLink(names[int(h.parent[k])], names[int(h.child[k])], h.kinds[h.kind[k]])
            for k in h.links_of[document].tolist()
        ],
    )
