"""Latent variables, and graphs of meaning as sets of propositions (section 4).

    AMR([Prop("instance", Var("w"), "want-01"), Prop("instance", Var("b"), "boy"), Prop("ARG0", Var("w"), Var("b"))])

The name of a variable means nothing outside of its *scope*: the nearest enclosing type that is a `Scope`, else the
whole document. In a derived metric the variables of a scope are matched one to one in the best possible way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from typing_extensions import TypeVar

from tallystick.errors import ValueMismatch
from tallystick.structures.texts import hold


@dataclass(frozen=True)
class Var:
    """A latent variable: two of one name are the same thing within their scope."""

    name: str

    def __str__(self) -> str:
        return self.name


class Scope:
    """A base class for types whose variables are their own. Any class with `__variable_scope__ = True` is one too."""

    __variable_scope__: ClassVar[bool] = True


@dataclass(frozen=True)
class Prop:
    """A logical proposition, such as ARG0(w, b) or instance(b, boy): its object is a variable or a constant."""

    rel: str
    subj: Var
    obj: Var | str


@dataclass(frozen=True)
class AMR(Scope):
    """The propositions of a graph of meaning: the output of the task."""

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


@dataclass(frozen=True)
class Tree(Generic[T]):
    """A labelled node and its subtrees."""

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


@dataclass(frozen=True)
class Graph(Generic[T]):
    """A directed graph: the labels of its nodes, and its edges by their positions."""

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

    def __iter__(self) -> Iterator[T]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self.labels
