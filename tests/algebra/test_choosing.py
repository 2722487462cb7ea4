"""Choices: the same in a type, as a specification and by path; and invalid predictions under every kind of metric."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

import tallystick as ts
from tallystick.algebra.derive import explain_derivation
from tallystick.algebra.parse import allowing_code
from tallystick.engine.values import Invalid
from tallystick.errors import DerivationError


@dataclass
class Line:
    sku: str
    price: float


@dataclass
class Plain:
    kind: str
    lines: list[Line]


def derived(lines=None, kind=None, credit="each"):
    choices = {path: choice for path, choice in (("lines", lines), ("kind", kind)) if choice is not None}
    return str(ts.derive(Plain, choices, credit=credit)).removeprefix("f1(").removesuffix(")")


@pytest.mark.parametrize(
    ("note", "specification"),
    [
        (ts.by_key("sku"), {"key": "sku"}),
        (ts.ordered, "ordered"),
        (ts.distinct, {"list": "distinct"}),
        (ts.matched("N:1"), {"match": "N:1"}),
        (ts.ignore, "ignore"),
        (ts.choose(weight=2, collect=ts.by_key("sku")), {"weight": 2, "key": "sku"}),
        (ts.choose(credit="all"), {"credit": "all"}),
        (ts.choose(nothing=["missing", "null", "empty"]), {"nothing": ["missing", "null", "empty"]}),
        (ts.choose(at_least=0.5), {"at_least": 0.5}),
    ],
)
def test_a_note_and_a_specification_say_the_same(note, specification):
    @dataclass
    class Noted:
        kind: str
        lines: Annotated[list[Line], note]

    in_the_type = ts.derive(Noted, credit="each")
    assert in_the_type == ts.derive(Plain, {"lines": note}, credit="each")
    assert in_the_type == ts.derive(Plain, {"lines": specification}, credit="each")
    assert ts.parse(str(in_the_type)) == in_the_type


def test_several_notes_are_one_choice():
    @dataclass
    class Noted:
        kind: Annotated[str, ts.text("jaro"), ts.choose(weight=3, at_least=0.9)]
        lines: Annotated[list[Line], ts.by_key("sku"), ts.choose(weight=2)]

    line = 'match(keyed(each(sku=exact, price=exact), "sku"), 1:1)'
    assert str(ts.derive(Noted, credit="each")) == (
        f'f1(each(kind=weighted(at_least(text("jaro"), 0.9), 3.0), lines=weighted({line}, 2.0)))'
    )


def test_aliases_and_text_and_expressions():
    assert derived(kind={"aliases": {"a": ["b"]}, "text": "jaro"}).startswith(
        'each(kind=aliases({"b": "a"}, inner=text("jaro")'
    )
    assert "f1(match(exact, 1:1))" in derived(kind={"expression": "via(tallystick:words, f1(match(exact)))"})
    with allowing_code(True):
        assert derived(kind={"function": "operator:eq"}).startswith("each(kind=function(_operator:eq)")
    with pytest.raises(DerivationError, match=r"'operator:eq' names code.*--allow-code"):
        derived(kind={"function": "operator:eq"})
    assert derived(kind={"hierarchy": {"parents": {"a": "b"}, "credit": 0.25}}).startswith(
        'each(kind=subtypes({"a": "b"}, credit=0.25)'
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"list": "sorted"}, "choices: lines: list: expected bag, ordered or distinct"),
        ({"match": "2:1"}, "choices: lines: match: expected one of"),
        ({"nothing": ["nul"]}, 'Did you mean "null"'),
        ({"credit": "some"}, 'credit must be "all" or "each"'),
        ({"at_least": 80}, "at_least must lie between 0 and 1"),
        ({"aliases": {"a": "b", "c": "b"}}, "'b' stands for both 'a' and 'c'"),
        ({}, "expected a choice"),
        (3, "expected a similarity"),
    ],
)
def test_wrong_choices_say_where_and_what(choice, message):
    with pytest.raises(DerivationError, match=message):
        derived(lines=choice)


def test_decisions_name_every_path_and_who_said_so():
    _, decisions = explain_derivation(
        Plain, {"lines[*].price": {"number": {"absolute": 1}}}, credit="each", source="c.yaml"
    )
    told = {d.path: (d.how, d.why) for d in decisions}
    assert told == {
        "": ("each field counts", "default"),
        "kind": ("exact", "default"),
        "lines": ("bag, matched 1:1", "default"),
        "lines[*]": ("each field counts", "default"),
        "lines[*].sku": ("exact", "default"),
        "lines[*].price": ("number(absolute=1.0)", "c.yaml"),
    }


@pytest.mark.parametrize(
    "lines", ["bag", "ordered", {"match": "N:1"}, {"match": "1:N"}, {"match": "N:N"}, {"key": "sku"}, {"at_least": 0.4}]
)
@pytest.mark.parametrize("credit", ["each", "all"])
@pytest.mark.filterwarnings("default")
def test_invalid_predictions_change_no_other_row(lines, credit):
    sku = {"text": ["equal", "casefold"]} if lines == {"key": "sku"} else ts.text("levenshtein")  # a key is an equality
    metric = ts.derive(Plain, {"lines": lines, "lines[*].sku": sku}, credit=credit)
    gold = [Plain(k, [Line(k * 2, 1.0), Line("b", 2.0)]) for k in "abcd"]
    system = [
        Plain("a", [Line("b", 2.0), Line("ab", 1.0)]),
        Plain("x", []),
        Plain("c", [Line("cc", 1.0)]),
        Plain("d", [Line("bb", 2.0)]),
    ]
    whole = ts.evaluate(metric, gold, system)
    holed = ts.evaluate(metric, gold, [system[0], Invalid("?"), system[2], Invalid("?")])
    np.testing.assert_array_equal(holed.rows[[0, 2]], whole.rows[[0, 2]])
    np.testing.assert_array_equal(holed.rows[[1, 3], :3], 0)
    np.testing.assert_array_equal(holed.rows[:, 3], whole.rows[:, 3])
    support = {row.path: row.support for row in whole.by_field()}
    assert {row.path: row.support for row in holed.by_field()} == support


def test_fields_tallied_on_the_way_are_those_of_the_documents():
    metric = ts.derive(Plain, credit="each")
    gold = [Plain(k, [Line(k, 1.0), Line("b", 2.0)]) for k in "abcdefgh"]
    system = [Plain(k, [Line("b", 2.0), Line(k, 3.0)]) for k in "abxdefgh"]
    kept = ts.evaluate(metric, gold, system)
    parts = [ts.Evaluation(metric, keep=False, fields=True) for _ in range(2)]
    parts[0].update(gold[:3], system[:3])
    parts[1].update(gold[3:], system[3:], batch=2)
    parts[0].merge(parts[1])
    assert parts[0].compute().by_field() == kept.by_field()
