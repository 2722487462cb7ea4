"""Latent variables, and graphs of meaning as sets of propositions (section 4).

    AMR([Prop("instance", Var("w"), "want-01"), Prop("instance", Var("b"), "boy"), Prop("ARG0", Var("w"), Var("b"))])

The name of a variable means nothing outside of its *scope*: the nearest enclosing type that is a `Scope`, else the
whole document. In a derived metric the variables of a scope are matched one to one in the best possible way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic

from typing_extensions import TypeVar

from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen
from tallystick.structures.texts import hold


@frozen
class Var:
    """A latent variable: two of one name are the same thing within their scope.

    >>> AMR([Prop("instance", Var("b"), "boy")])
    AMR(props=(Prop(rel='instance', subj=Var(name='b'), obj='boy'),))
    """

    name: str

    def __str__(self) -> str:
        return self.name


class Scope:
    """A base class for types whose variables are their own. Any class with `__variable_scope__ = True` is one too.

    >>> @dataclass
    ... class Graph(Scope):
    ...     props: list[Prop]
    >>> ts.derive(Graph)
    f1(each(props=latent(record(rel=exact, subj=var, obj=cases(Var=var, str=exact)), 1:1)))
    """

    __variable_scope__: ClassVar[bool] = True


@frozen
class Prop:
    """A logical proposition, such as ARG0(w, b) or instance(b, boy): its object is a variable or a constant.

    >>> Prop("ARG0", Var("w"), Var("b"))
    Prop(rel='ARG0', subj=Var(name='w'), obj=Var(name='b'))
    """

    rel: str
    subj: Var
    obj: Var | str


@frozen
class AMR(Scope):
    """The propositions of a graph of meaning: the output of the task.

    >>> gold, system = (AMR([Prop("instance", Var(name), "boy")]) for name in "bx")
    >>> ts.derive(AMR)(gold, system)
    1.0
    """

    props: Collection[Prop] = ()

    def __post_init__(self) -> None:
        hold(self, "props")


# Trees and graphs whose order is to be kept (section 5 and appendix A.2).
#
#     Tree("S", [Tree("NP"), Tree("VP", [Tree("V")])])          nodes carry labels; children are ordered
#     Graph(["a", "b", "c"], [(0, 1), (1, 2)])                  nodes, and edges between their positions
#
# Both are collections of their labels: of a tree in the order in which it is written.

T = TypeVar("T", default=Any)


@frozen
class Tree(Generic[T]):
    """A labelled node and its subtrees.

    >>> ts.f1(ts.unordered(ts.exact))(Tree("a", [Tree("b"), Tree("c")]), Tree("a", [Tree("c")]))
    0.8
    """

    label: T
    children: Collection[Tree[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "children")
        for child in self.children:
            if not isinstance(child, Tree):
                raise ValueMismatch(
                    f"at Tree.children: expected trees, found {type(child).__name__} {child!r:.60}; "
                    f"a leaf is a tree without children: Tree({child!r:.30})"
                )

    @classmethod
    def of(cls, value: Any) -> Tree[Any]:
        """A tree from plain data: `{"label": ..., "children": [...]}`; a child that is no object is a leaf."""
        found: list[tuple[Any, int]] = []
        todo = [(value, -1)]
        while todo:  # without recursion: a tree may be deeper than Python's stack
            one, parent = todo.pop()
            if isinstance(one, Mapping):
                children = one.get("children") or ()
                if (
                    "label" not in one
                    or not one.keys() <= {"label", "children"}
                    or not isinstance(children, (list, tuple))
                ):
                    raise ValueMismatch(f'expected a tree as {{"label": ..., "children": [...]}}, found {one!r:.80}')
                todo += [(child, len(found)) for child in reversed(children)]
                one = one["label"]
            elif isinstance(one, Tree):
                todo += [(child, len(found)) for child in reversed(tuple(one.children))]
                one = one.label
            found.append((one, parent))
        return cls._grown(found)

    @staticmethod
    def _grown(nodes: Sequence[tuple[Any, int]]) -> Tree[Any]:
        """The tree of labels, each with the position of its parent before it (-1 for the root)."""
        below: list[list[Tree[Any]]] = [[] for _ in nodes]
        for (label, parent), children in zip(reversed(nodes), reversed(below), strict=True):
            tree = Tree(label, tuple(reversed(children)))
            if parent < 0:
                break
            below[parent].append(tree)
        return tree

    def relabelled(self, change: Callable[[Any], Any]) -> Tree[Any]:
        """The same tree with other labels."""
        return self._grown([(change(node.label), parent) for node, parent in self.nodes()])

    def nodes(self) -> Iterator[tuple[Tree[T], int]]:
        """All nodes, each with the position of its parent (-1 for the root); parents come before their children."""
        todo: list[tuple[Tree[T], int]] = [(self, -1)]
        position = 0
        while todo:
            node, parent = todo.pop()
            yield node, parent
            todo += [(child, position) for child in reversed(tuple(node.children))]
            position += 1

    def __iter__(self) -> Iterator[T]:
        return (node.label for node, _ in self.nodes())

    def __len__(self) -> int:
        return sum(1 for _ in self.nodes())

    def __contains__(self, label: object) -> bool:
        return any(label == one for one in self)


@frozen
class Graph(Generic[T]):
    """A directed graph: the labels of its nodes, and its edges by their positions.

    >>> chain = Graph(["a", "b", "c"], [(0, 1), (1, 2)])
    >>> ts.f1(ts.graph(ts.exact))(chain, chain)
    1.0
    """

    labels: Collection[T] = ()
    edges: Collection[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        hold(self, "labels")
        hold(self, "edges")
        for edge in self.edges:
            if not (len(edge) == 2 and all(isinstance(end, int) and 0 <= end < len(self.labels) for end in edge)):
                raise ValueMismatch(
                    f"at Graph.edges: expected (source, target) between the {len(self.labels)} nodes, found {edge!r:.60}"
                )

    @classmethod
    def of(cls, value: Any) -> Graph[Any]:
        """A graph from plain data: `{"nodes": [label, ...], "edges": [[source, target], ...]}` with ends by place; or nodes as
        `{"id": ..., "label": ...}`, and then ends by id. An edge may be `{"source": ..., "target": ...}`."""
        if isinstance(value, Graph):
            return value
        wrong = ValueMismatch(
            f'expected a graph as {{"nodes": [...], "edges": [[source, target], ...]}}, found {value!r:.80}'
        )
        if not isinstance(value, Mapping) or not {"nodes"} <= value.keys() <= {"nodes", "edges"}:
            raise wrong
        nodes, edges = value["nodes"], value.get("edges") or ()
        if not all(isinstance(listed, (list, tuple)) for listed in (nodes, edges)):
            raise wrong
        labels, place = _labels_and_places(nodes)
        ends = [(edge.get("source"), edge.get("target")) if isinstance(edge, Mapping) else edge for edge in edges]
        for edge in ends:
            if (
                not isinstance(edge, (list, tuple))
                or len(edge) != 2
                or not all(isinstance(end, Hashable) and end in place for end in edge)
            ):
                raise ValueMismatch(f"expected edges between the {len(nodes)} nodes of the graph, found {edge!r:.60}")
        return cls(labels, tuple((place[a], place[b]) for a, b in ends))

    def relabelled(self, change: Callable[[Any], Any]) -> Graph[Any]:
        """The same graph with other labels."""
        return Graph(tuple(map(change, self.labels)), self.edges)

    def __iter__(self) -> Iterator[T]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self.labels


def _labels_and_places(nodes: Sequence[Any]) -> tuple[tuple[Any, ...], dict[Any, int]]:
    """The labels of nodes, and the place of each by what edges call it: its id, or its place if nodes are plain labels."""
    if not nodes or not all(isinstance(node, Mapping) and {"id", "label"} == node.keys() for node in nodes):
        return tuple(nodes), {k: k for k in range(len(nodes))}
    if not all(isinstance(node["id"], Hashable) for node in nodes):
        raise ValueMismatch(f"expected ids of nodes that are texts or numbers, found {nodes!r:.80}")
    place = {node["id"]: k for k, node in enumerate(nodes)}
    if len(place) < len(nodes):
        raise ValueMismatch(f"expected unique node ids, found a duplicate in {nodes!r:.80}")
    return tuple(node["label"] for node in nodes), place


# Event hierarchies: events that are parts or members of other events ("Evaluation for Partial Event Coreference").
#
# Event mentions are named; full coreference puts several mentions on one event; a link goes from an event to its
# subevent or member. Merged by full coreference, with links lifted to what was merged, mentions become the *conceptual*
# hierarchy (section 3.2), in which a node is a set of mentions:
#
#     E6 ⇔ E7    E7 → E8    E6 → E11            {E6, E7}
#     E8 → E9    E11 → E12              ⟹       ├── {E8}  ── {E9}
#                                               └── {E11} ── {E12}
#
# Links are a set there: E6 → E8 beside E7 → E8 adds nothing. `conceptual` is the plain version of what
# `tasks.hierarchies` does for a whole corpus in arrays; tests hold the two equal.

SUBEVENT, MEMBERSHIP = "subevent", "membership"


@frozen
class EventLink:
    """A directed link from an event mention to its subevent or member.

    >>> EventLink("attack", "bombing")
    EventLink(parent='attack', child='bombing', type='subevent')
    """

    parent: str
    child: str
    type: str = SUBEVENT


@frozen
class EventHierarchy:
    """Event mentions, which of them are one event, and the links between them: the output of the task.

    >>> EventHierarchy(["attack", "bombing"], links=[EventLink("attack", "bombing")])
    EventHierarchy(events=('attack', 'bombing'), coreference=(), links=(EventLink(parent='attack', child='bombing', type='subevent'),))
    """

    events: Collection[str] = ()
    coreference: Collection[Collection[str]] = ()
    links: Collection[EventLink] = ()

    def __post_init__(self) -> None:
        for name in ("events", "coreference", "links"):
            hold(self, name)


@frozen
class ConceptualLink:
    """A link between two conceptual events, each the set of its mentions; a root's link has no parent.

    >>> conceptual(EventHierarchy(["attack", "bombing"], links=[EventLink("attack", "bombing")])).links
    (ConceptualLink(parent=('attack',), child=('bombing',)),)
    """

    parent: Collection[str]
    child: Collection[str]


@frozen
class EventTree:
    """A conceptual event and the trees below it.

    >>> EventTree(["attack"], [EventTree(["bombing"])])
    EventTree(event=['attack'], subtrees=[EventTree(event=['bombing'], subtrees=())])
    """

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


@frozen
class ConceptualHierarchy:
    """The conceptual events of a text with links of one type, as links, as groups of siblings, and as trees.

    >>> conceptual(EventHierarchy(["attack", "it"], [["attack", "it"]])).events
    (('attack', 'it'),)
    """

    events: Collection[tuple[str, ...]]
    links: Collection[ConceptualLink]

    @cached_property
    def children(self) -> dict[Collection[str], list[tuple[str, ...]]]:
        """The children of each event that has some."""
        parents: dict[Collection[str], list[Collection[str]]] = {}
        for link in self.links:
            parents.setdefault(link.child, []).append(link.parent)
        out: dict[Collection[str], list[tuple[str, ...]]] = {}
        for event in self.events:
            for parent in parents.get(event, ()):
                out.setdefault(parent, []).append(event)
        return out

    @property
    def siblings(self) -> Collection[Collection[Collection[str]]]:
        """The children of each event, in the order of the first."""
        return tuple(tuple(group) for group in self.children.values())

    @cached_property
    def trees(self) -> Collection[EventTree]:
        """The trees, where no event has two parents or is its own ancestor."""
        parent: dict[Collection[str], Collection[str]] = {}
        for link in self.links:
            if parent.setdefault(link.child, link.parent) != link.parent:
                raise ValueMismatch(
                    f"{set(link.child)} has two parents, {set(parent[link.child])} and {set(link.parent)}"
                )
        seen: set[Collection[str]] = set()

        def grown(event: tuple[str, ...]) -> EventTree:
            seen.add(event)
            return EventTree(event, tuple(grown(child) for child in self.children.get(event, ())))

        trees = tuple(grown(event) for event in self.events if event not in parent)
        if len(seen) < len(self.events):
            raise ValueMismatch(f"{set(next(one for one in self.events if one not in seen))} is its own ancestor")
        return trees


def conceptual(hierarchy: EventHierarchy, type: str = SUBEVENT) -> ConceptualHierarchy:
    """The conceptual hierarchy of one type of links, without those between mentions of one event.

    >>> conceptual(EventHierarchy(["attack", "it", "bombing"], [["attack", "it"]], [EventLink("it", "bombing")])).events
    (('attack', 'it'), ('bombing',))
    """
    merged = merge(hierarchy)
    links = dict.fromkeys((merged[link.parent], merged[link.child]) for link in hierarchy.links if link.type == type)
    lifted = tuple(ConceptualLink(above, below) for above, below in links if above != below)
    return ConceptualHierarchy(tuple(dict.fromkeys(merged.values())), lifted)


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
