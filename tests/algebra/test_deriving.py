"""What a type becomes, and that nothing is ever guessed."""

from __future__ import annotations

import datetime
import enum
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import attrs
import msgspec
import pydantic
import pytest

import tallystick as ts
from tallystick.errors import DerivationError

T = TypeVar("T")
Name = NewType("Name", str)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Mention:
    left: int
    right: int


@dataclass(frozen=True)
class NamedMention(Mention):
    name: str


@dataclass
class Slot(Generic[T]):
    slot: str
    value: T


@dataclass
class MentionSlot(Slot[Mention]):
    extra: int


@dataclass
class Tree:
    label: str
    children: list[Tree]


@attrs.define
class AttrsPoint:
    x: int
    y: int


class TuplePoint(NamedTuple):
    x: int
    y: int


class DictPoint(TypedDict):
    x: int
    y: int


class PydanticPoint(pydantic.BaseModel):
    x: int
    y: int


class StructPoint(msgspec.Struct):
    x: int
    y: int


@dataclass
class DataPoint:
    x: int
    y: int


M = "record(left=exact, right=exact)"


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (list[str], "match(exact, 1:1)"),
        (set[int], "match(exact, 1:1)"),
        (frozenset[bool], "match(exact, 1:1)"),
        (Collection[float], "match(exact, 1:1)"),
        (Sequence[str], "sequence(exact)"),
        (tuple[str, ...], "sequence(exact)"),
        (tuple[int, str], "record(0=exact, 1=exact)"),
        (list[Mention], f"match({M}, 1:1)"),
        (list[NamedMention], "match(record(left=exact, right=exact, name=exact), 1:1)"),
        (dict[str, int], "match(record(key=exact, value=exact), 1:1)"),
        (Mapping[str, list[int]], "match(record(key=exact, value=f1(match(exact, 1:1))), 1:1)"),
        (list[Optional[str]], "match(optional(exact), 1:1)"),
        (list[str | None], "match(optional(exact), 1:1)"),
        (list[int | str], "match(exact, 1:1)"),
        (list[Union[str, Mention]], f"match(cases(str=exact, Mention={M}), 1:1)"),
        (list[Literal["a", "b"]], "match(exact, 1:1)"),
        (list[Colour], "match(exact, 1:1)"),
        (list[Name], "match(exact, 1:1)"),
        (list[datetime.date], "match(exact, 1:1)"),
        (list[Slot[Mention]], f"match(record(slot=exact, value={M}), 1:1)"),
        (list[Slot[list[int]]], "match(record(slot=exact, value=f1(match(exact, 1:1))), 1:1)"),
        (list[MentionSlot], f"match(record(slot=exact, value={M}, extra=exact), 1:1)"),
        (list[set[Mention]], f"match(f1(match({M}, 1:1)), 1:1)"),
        (list[Annotated[str, ts.text("levenshtein")]], 'match(text("levenshtein"), 1:1)'),
        (Annotated[list[str], ts.ordered], "sequence(exact)"),
        (Annotated[list[str], ts.distinct], "match(exact, 1:1, distinct=True)"),
        (Annotated[list[str], ts.matched("N:1")], "match(exact, N:1)"),
        (list[Tree], "match(let(Tree, record(label=exact, children=f1(match(Tree, 1:1)))), 1:1)"),
        *(
            (list[point], "match(record(x=exact, y=exact), 1:1)")
            for point in (AttrsPoint, TuplePoint, DictPoint, PydanticPoint, StructPoint, DataPoint)
        ),
    ],
)
def test_what_a_type_becomes(type_, expected):
    metric = ts.derive(type_)
    assert str(metric) == f"f1({expected})"
    assert ts.parse(str(metric)) == metric


@dataclass
class Document:
    title: str
    mentions: list[Mention]
    links: list[tuple[int, int]]


def test_collections_at_the_top_are_added_never_multiplied():
    assert str(ts.derive(Document)) == (
        f"f1(each(title=exact, mentions=match({M}, 1:1), links=match(record(0=exact, 1=exact), 1:1)))"
    )


def test_credit_for_each_field_makes_sums_all_the_way_down():
    assert (
        str(ts.derive(list[Slot[list[int]]], credit="each"))
        == "f1(match(each(slot=exact, value=match(exact, 1:1)), 1:1))"
    )


def test_choices_by_path():
    metric = ts.derive(Document, {"title": ts.ignore, "mentions[*].left": ts.number(1), "links": ts.matched("N:N")})
    assert str(metric) == (
        "f1(each(mentions=match(record(left=number(absolute=1.0), right=exact), 1:1), "
        "links=match(record(0=exact, 1=exact), N:N)))"
    )


def test_a_choice_for_a_path_that_is_not_there_is_an_error():
    with pytest.raises(DerivationError, match=r"'mentions\[\*\].lft'.*Did you mean \"mentions\[\*\].left\""):
        ts.derive(Document, {"mentions[*].lft": ts.exact})


class Plain:
    pass


@dataclass
class Holder:
    inner: list[Plain]


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (list[Any], r"at \[\*\]: no metric can be derived from Any"),
        (list, "at the top: .* list; say what is in it"),
        (Holder, r"at inner\[\*\]: .* Plain; make it a dataclass"),
        (Slot, "at value: .*fill in ~T"),
        (dict, "dict"),
        (object, "object"),
        ({"type": "object"}, "at the top: .* {'type': 'object'}; a dict is no type; .*a JSON Schema.*schema="),
        ([int], r"at the top: .*; a list is no type; write list\[int\]"),
        (types.GenericAlias(list, ({"type": "object"},)), r"at \[\*\]: .*; a dict is no type"),
    ],
)
def test_whatever_cannot_be_derived_is_an_error_with_its_path(type_, message):
    with pytest.raises(DerivationError, match=message):
        ts.derive(type_)


def test_every_kind_of_record_scores_the_same():
    figures = set()
    for point in (AttrsPoint, TuplePoint, PydanticPoint, StructPoint, DataPoint, DictPoint):
        gold = [[point(x=1, y=2), point(x=3, y=4), point(x=3, y=4)]]
        predicted = [[point(x=3, y=4), point(x=1, y=5)]]
        figures.add(tuple(ts.evaluate(ts.derive(list[point]), gold, predicted).tally.values()))
    assert figures == {(1.0, 2.0, 1.0, 3.0)}


def test_a_tree_of_itself_is_compared_level_by_level():
    gold = Tree("s", [Tree("np", [Tree("dog", [])]), Tree("vp", [])])
    predicted = Tree("s", [Tree("vp", []), Tree("np", [Tree("cat", [])])])
    # dog against cat: 0, so np: δ(np) · F(∅ matched of 1 and 1) = 0; vp: F(∅, ∅) = 1; s: F = 2 · 1 / (2 + 2).
    result = ts.evaluate(ts.derive(list[Tree]), [[gold]], [[predicted]])
    assert result.f1 == pytest.approx(0.5)
    assert ts.evaluate(ts.derive(list[Tree]), [[gold]], [[gold]]).f1 == 1


def test_unions_are_compared_case_by_case():
    metric = ts.derive(list[Union[str, Mention]])
    result = ts.evaluate(metric, [["a", Mention(1, 2), "b"]], [[Mention(1, 2), "b", Mention(3, 4)]])
    assert result.tally == {"num_p": 2.0, "den_p": 3.0, "num_r": 2.0, "den_r": 3.0}


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (Annotated[str, ts.text], "text was not called"),
        (Annotated[str, ts.ordered], "in order applies only to collections"),
        (Annotated[list[str], ts.ordered, ts.text("levenshtein")], "note the similarity at the items"),
        (Annotated[list[str], ts.ordered, ts.matched("N:1")], "in order takes neither"),
        (Optional[Annotated[str, ts.ignore]], "a case cannot be ignored"),
    ],
)
def test_a_note_without_effect_is_an_error(type_, message):
    with pytest.raises(ts.TallystickError, match=message):
        ts.derive(list[type_])


def test_notes_add_up():
    assert (
        str(ts.derive(Annotated[list[str], ts.distinct, ts.matched("N:1")])) == "f1(match(exact, N:1, distinct=True))"
    )


def test_a_function_in_the_place_of_a_choice_says_how_it_becomes_one():
    @dataclass
    class Talk:
        minutes: int

    with pytest.raises(
        DerivationError, match=r"at minutes: expected a similarity.*; a function is one as ts\.function\(f\)$"
    ):
        ts.derive(Talk, {"minutes": lambda a, b: float(abs(a - b) < 5)})
    assert "function(" in str(ts.derive(Talk, {"minutes": ts.function(lambda a, b: float(abs(a - b) < 5))}))
