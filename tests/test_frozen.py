"""Frozen values behave as dataclasses do."""

import copy
import inspect
import pickle
import pydoc
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from tallystick.frozen import frozen


@frozen
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)


@frozen
class Place(Point):
    called: str = "here"

    def __post_init__(self) -> None:
        if not self.called:
            raise ValueError("no name")


@frozen(eq=False)
class Column:
    values: list[int]
    known: int = 1


@dataclass(frozen=True)
class Own(Point):
    z: int = 3


@frozen
class Nothing:
    pass


@frozen
class Secret:
    name: str
    key: str = field(default="k", repr=False)
    parts: dict[str, int] = field(default_factory=dict, hash=False)


def test_fields_and_defaults_are_those_of_a_dataclass():
    assert is_dataclass(Point(1))
    assert [one.name for one in fields(Place(1))] == ["x", "y", "tags", "called"]
    assert (Point(1).y, Point(1, y=5).y, Point(x=3).x, Point(1).tags) == (2, 5, 3, ())
    assert replace(Place(1), called="there") == Place(1, 2, (), "there")
    assert repr(Point(1)) == "Point(x=1, y=2, tags=())"
    assert Own(1, z=4) == Own(1, 2, (), 4) != Own(1)


def test_equal_and_hashed_by_value_or_by_identity():
    assert Point(1) == Point(1) != Point(2)
    assert hash(Point(1)) == hash(Point(1))
    assert Point(1) != Place(1)
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1
    assert Column([1]) != Column([1])
    assert {Point(1): "a"}[pickle.loads(pickle.dumps(Point(1)))] == "a"
    assert copy.deepcopy(Place(1)) == Place(1)


def test_fields_may_stay_out_of_what_is_shown_and_of_the_hash():
    assert repr(Secret("a")) == "Secret(name='a', parts={})"
    assert hash(Secret("a", parts={"b": 1})) == hash(Secret("a")) != hash(Secret("a", "c"))
    assert Secret("a", parts={"b": 1}) != Secret("a")


def test_frozen():
    for value in (Point(1), Place(1), Own(1), Column([1])):
        with pytest.raises(FrozenInstanceError):
            value.x = 5
        with pytest.raises(FrozenInstanceError):
            del value.x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Point(), "missing 1 required positional argument: 'x'"),
        (lambda: Point(1, 2, (), 4), "takes from 2 to 4 positional arguments but 5 were given"),
        (lambda: Point(1, x=1), "multiple values for argument 'x'"),
        (lambda: Point(1, q=1), "unexpected keyword argument 'q'"),
    ],
)
def test_arguments_that_do_not_fit(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_value_checks_itself():
    with pytest.raises(ValueError, match="no name"):
        Place(1, called="")


def test_what_a_class_can_be_called_with_is_known_before_and_after_its_method_is_written():
    for _ in range(20):
        shown = str(inspect.signature(Place))
        assert shown == "(x: int, y: int = 2, tags: tuple[str, ...] = (), called: str = 'here')"
        Place(1)
    assert list(inspect.signature(Own).parameters) == ["x", "y", "tags", "z"]
    assert not inspect.signature(Nothing).parameters

    class Child(Point):
        def __init__(self, z: int) -> None:
            super().__init__(z, z)

    @frozen
    class Called:
        x: int

        def __call__(self, word: str) -> str:
            return word * self.x

    assert list(inspect.signature(Child).parameters) == ["z"]
    assert list(inspect.signature(Called(2)).parameters) == ["word"]


def test_help_shows_a_class_and_not_how_it_is_made():
    shown = pydoc.plain(pydoc.render_doc(Point))
    assert "class Point(builtins.object)\n |  Point(x: int, y: int = 2, tags: tuple[str, ...] = ())" in shown
    assert not {"_init", "_delete", "_hash", "named:", "written"} & set(shown.replace("(", " ").split())
