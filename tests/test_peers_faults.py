"""What metametric 0.2.1 and others get wrong in silence (spec/landscape.md), as tests that pass here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional

import attrs
import msgspec
import pydantic
import pytest

import tallystick as ts
from tallystick.errors import DerivationError, SidesMismatch, ValueMismatch


def score(type_, reference, predicted, **options):
    return ts.evaluate(ts.derive(type_, **options), [reference], [predicted])


# [1, 2, 2] against itself is .667 elsewhere.


def test_a_list_with_duplicates_equals_itself():
    assert score(list[int], [1, 2, 2], [1, 2, 2]).f1 == 1
    assert score(list[int], [1, 2, 2], [1, 2]).f1 == pytest.approx(0.8)


# Sentences that are empty on both sides are counted as hits elsewhere (WNUT-17: .4186 becomes .5786).


def test_empty_documents_are_no_hits():
    metric = ts.derive(list[str])
    alone = ts.evaluate(metric, [["a", "b"]], [["a"]])
    among_empties = ts.evaluate(metric, [["a", "b"], *[[]] * 100], [["a"], *[[]] * 100])
    assert among_empties.tally == alone.tally
    assert among_empties.figures == alone.figures
    assert among_empties.macro == alone.macro
    assert among_empties.left_out["f1"] == 100


# The values of a dict are ignored elsewhere.


def test_the_values_of_a_dict_count():
    assert score(dict[str, int], {"a": 1, "b": 2}, {"a": 1, "b": 3}).f1 == 0.5
    assert score(dict[str, list[int]], {"a": [1, 2]}, {"a": [1]}).f1 == pytest.approx(2 / 3)


# Tuples are taken for sets elsewhere.


def test_a_fixed_tuple_is_a_record():
    assert score(list[tuple[int, int]], [(1, 2)], [(2, 1)]).f1 == 0
    assert score(list[tuple[str, list[int]]], [("a", [1, 2])], [("a", [2, 1])]).f1 == 1


def test_a_variadic_tuple_and_a_sequence_keep_their_order():
    assert score(tuple[int, ...], (1, 2, 3), (3, 2, 1)).f1 == pytest.approx(1 / 3)
    assert score(Sequence[int], [1, 2, 3], [2, 3, 1]).f1 == pytest.approx(2 / 3)
    assert score(list[int], [1, 2, 3], [3, 2, 1]).f1 == 1


# X | None, string annotations and pydantic models fall back to equality elsewhere: any slip inside scores 0.


@dataclass
class Inside:
    words: list[str]


@dataclass
class New:
    inside: Inside | None


@dataclass
class Old:
    inside: Optional[Inside]


@dataclass
class Quoted:
    inside: "Inside"  # noqa: UP037 - quotes within string annotations


class Model(pydantic.BaseModel):
    inside: Inside
    note: str | None = None


@attrs.define
class Attrs:
    inside: Inside


class Struct(msgspec.Struct):
    inside: Inside


class Tuple(NamedTuple):
    inside: Inside


@pytest.mark.parametrize(
    "make",
    [New, Old, Quoted, lambda inside: Model(inside=inside), Attrs, Struct, Tuple],
    ids=["X | None", "Optional[X]", "in quotes", "pydantic", "attrs", "msgspec", "NamedTuple"],
)
def test_what_is_inside_is_compared_inside(make):
    whole, part = make(Inside(["a", "b", "c"])), make(Inside(["a"]))
    result = score(list[type(whole)], [whole], [part])
    assert result.f1 == pytest.approx(0.5)
    assert score(list[type(whole)], [whole], [whole]).f1 == 1


def test_none_is_a_value_like_others_in_a_product():
    some, none = New(Inside(["a"])), New(None)
    assert score(list[New], [none], [none]).f1 == 1
    assert score(list[New], [some], [none]).f1 == 0


def test_a_union_is_compared_case_by_case():
    metric = ts.derive(list[str | Inside | list[str]])
    x = ["a", Inside(["a", "b", "c"]), ["a"]]
    y = ["b", Inside(["a"]), ["a"]]
    assert ts.evaluate(metric, [x], [y]).tally["num_p"] == pytest.approx(1.5)


@pytest.mark.parametrize("type_", [list, dict, object, list[object]])
def test_what_cannot_be_derived_is_an_error_and_never_equality(type_):
    with pytest.raises(DerivationError, match="no metric can be derived from"):
        ts.derive(type_)


class Plain:
    def __init__(self, x):
        self.x = x


def test_objects_that_compare_by_identity_are_an_error():
    with pytest.raises(DerivationError, match="Plain; make it a dataclass"):
        ts.derive(list[Plain])
    one = Plain(1)
    for value in (one, [one], (1, one)):
        with pytest.raises(ValueMismatch, match="compare only by identity"):
            ts.evaluate(ts.match(ts.exact), [[value]], [[value]])


def test_a_field_without_a_type_is_an_error():
    with pytest.raises(DerivationError, match=r"Loose\.y has no type"):
        ts.derive(list[attrs.make_class("Loose", {"y": attrs.field()})])


# Lists of unequal lengths are cut to the shorter elsewhere (zip).


def test_unequal_numbers_of_documents_are_an_error():
    with pytest.raises(SidesMismatch, match="reference has 2 documents and predicted has 1"):
        ts.evaluate(ts.derive(list[int]), [[1], [2]], [[1]])


def test_ids_that_do_not_meet_are_an_error_that_lists_them():
    with pytest.raises(SidesMismatch, match='1 only in the reference: "b"; 1 only in the prediction: "c"'):
        ts.evaluate(ts.derive(list[int]), {"a": [1], "b": []}, {"a": [1], "c": []})


# A matching is an iterator elsewhere: the second reading is empty.


def test_an_alignment_can_be_read_twice():
    result = score(list[int], [1, 2, 3], [2, 3, 4])
    tree = result.explain()
    first = [(node.status, node.reference, node.predicted) for node in tree.walk()]
    assert [(node.status, node.reference, node.predicted) for node in tree.walk()] == first
    assert result.explain() == tree
    assert Counter(status for status, *_ in first[1:]) == {"matched": 2, "missed": 1, "spurious": 1}
    assert result.f1 == pytest.approx(2 / 3), "asking does not change the score"


# A user's function is called over and over elsewhere.


@pytest.mark.parametrize("batch", [None, 1])
@pytest.mark.parametrize("reflexive", [True, False])
def test_a_function_is_called_once_for_each_different_pair_that_meets(batch, reflexive):
    calls = Counter()

    def alike(x, y):
        calls[x, y] += 1
        return float(x == y)

    metric = ts.f1(ts.match(ts.each(a=ts.function(alike, reflexive=reflexive), b=ts.exact)))
    rows = [{"a": value, "b": 0} for value in "xyx"], [{"a": value, "b": 1} for value in "yyz"]
    ts.evaluate(metric, [rows[0]] * 3, [rows[1]] * 3, batch=batch)
    assert set(calls.values()) == {1}
    met = {(x, y) for x in "xy" for y in "yz"}
    own = {(x, y) for side in ("xy", "yz") for x in side for y in side} if not reflexive else set()
    assert set(calls) == met | own


def test_a_function_is_not_asked_about_values_that_cannot_meet():
    calls = []
    metric = ts.f1(ts.match(ts.record(id=ts.exact, a=ts.function(lambda x, y: calls.append((x, y)) or 1.0))))
    reference = [[{"id": 1, "a": "x"}, {"id": 2, "a": "y"}], [{"id": 1, "a": "z"}]]
    predicted = [[{"id": 1, "a": "p"}, {"id": 3, "a": "q"}], [{"id": 2, "a": "r"}]]
    ts.evaluate(metric, reference, predicted)
    assert calls == [("x", "p")]


def test_one_and_true_are_asked_about_apart_in_every_batch():
    calls = []
    metric = ts.match(ts.function(lambda x, y: calls.append((x, y)) or float(x is y)))
    rows = ts.evaluate(metric, [[True], [1]], [[True], [True]], batch=1).rows
    assert rows[:, 0].tolist() == [1, 0]
    assert [(type(x), type(y)) for x, y in calls] == [(bool, bool), (int, bool)]
