"""One level of a type at a time: what every walk over a type starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NewType, Optional, TypeVar, Union

import pytest
from typing_extensions import NotRequired, TypedDict

from tallystick.algebra.derive import shape_of
from tallystick.structures import Graph, Tree, Var

T = TypeVar("T")
Name = NewType("Name", str)


class Colour(Enum):
    RED = 1


@dataclass
class Node(Generic[T]):
    label: T
    below: list[Node[T]]


class Row(TypedDict):
    a: int
    b: NotRequired[str]


@pytest.mark.parametrize(
    ("type_", "kind", "parts"),
    [
        (str, "leaf", {}),
        (Name, "leaf", {}),
        (Colour, "leaf", {}),
        (Literal["a", 1], "leaf", {}),
        (list[int], "items", {"[*]": int}),
        (Sequence[int], "items", {"[*]": int}),
        (tuple[int, ...], "items", {"[*]": int}),
        (list, "items", {}),
        (tuple, "items", {}),
        (tuple[int, str], "record", {"0": int, "1": str}),
        (dict[str, int], "map", {"key": str, "value": int}),
        (Mapping, "map", {}),
        (Optional[int], "union", {"0": int}),
        (Union[int, str], "union", {"0": int, "1": str}),
        (int | None | str, "union", {"0": int, "1": str}),
        (Tree[str], "structure", {"[*]": str}),
        (Graph, "structure", {"[*]": Any}),
        (Var, "variable", {}),
        (Node[str], "record", {"label": str, "below": list[Node[str]]}),
        (Row, "record", {"a": int, "b": NotRequired[str]}),
        (Any, "unknown", {}),
        (object, "unknown", {}),
    ],
)
def test_kinds_and_parts(type_, kind, parts):
    shape = shape_of(type_)
    assert (shape.kind, dict(shape.parts)) == (kind, parts)


def test_what_is_said_about_a_level():
    assert shape_of(Optional[int]).optional
    assert not shape_of(Union[int, str]).optional
    assert [shape_of(one).in_order for one in (list[int], Sequence[int], tuple[int, ...])] == [False, True, True]
    assert [shape_of(one).repeats for one in (list[int], set[int], frozenset[int], AnySet[int])] == [True, *[False] * 3]
    assert shape_of(shape_of(Row).parts["b"]).may_miss
    assert not shape_of(shape_of(Row).parts["a"]).may_miss


def test_notes_are_kept_apart_from_the_type():
    noted = Annotated[NewType("Inner", Annotated[list[int], "in"]), "out"]
    shape = shape_of(noted)
    assert (shape.kind, shape.type, shape.notes) == ("items", list[int], ("in", "out"))


def test_leaves_and_collections():
    leaves, collections = [str, int | None, Any], [list[int], dict[str, int], int | list[int], Tree[str]]
    assert all(shape_of(one).is_leaf for one in leaves)
    assert not any(shape_of(one).is_collection for one in (*leaves, Row))
    assert all(shape_of(one).is_collection for one in collections)
    assert not any(shape_of(one).is_leaf for one in (*collections, Row))
