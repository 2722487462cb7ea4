"""What is read off a reference, and what is only said."""

import pytest

import tallystick as ts
from tallystick.tasks.records.schema import type_of_schema
from tallystick.tasks.records.shapes import infer_schema, sketch


def inferred(*documents):
    schema, doubts = infer_schema(documents)
    return sketch(schema), doubts, str(ts.derive(type_of_schema(schema), credit="each"))


def test_kinds_nulls_and_missing_keys():
    shape, doubts, metric = inferred({"a": "x", "b": 1, "c": None, "d": 1}, {"a": "y", "b": 2.5, "c": True})
    assert shape == "{a: string, b: number, c: boolean?, d: number?}"
    assert doubts == []
    assert metric == "f1(each(a=exact, b=exact, c=optional(exact), d=optional(exact)))"


def test_nested_lists_and_objects():
    shape, _, metric = inferred({"l": [{"k": 1, "t": []}, {"k": 2, "t": ["a"]}]}, {"l": []})
    assert shape == "{l: [{k: number, t: [string]}]}"
    assert metric == "f1(each(l=match(each(k=exact, t=match(exact, 1:1)), 1:1)))"


def test_a_list_that_is_always_two_integers_is_probably_a_span():
    _, doubts, _ = inferred({"span": [3, 5]}, {"span": [5, 9]})
    assert "span is always a list of two integers, probably a span" in doubts[0]
    assert inferred({"span": [3, 5]}, {"span": [5, 9, 1]})[1] == []


def test_several_kinds_are_said():
    shape, doubts, _ = inferred({"a": 1}, {"a": "x"}, {"a": [1]})
    assert shape == "{a: [number] | number | string}"
    assert doubts == ["a has several kinds of value: number 1 times, string 1 times, list 1 times"]


def test_always_empty_and_always_null():
    _, doubts, metric = inferred({"a": [], "b": None})
    assert len(doubts) == 2
    result = ts.evaluate(ts.parse(metric), [{"a": [], "b": None}], [{"a": ["x"], "b": None}])
    assert result.tally["den_p"] == 1


def test_keys_that_are_data():
    documents = [{"prices": {f"k{i}-{j}": j for j in range(3)}} for i in range(40)]
    shape, doubts, metric = inferred(*documents)
    assert shape == "{prices: {any key: number}}"
    assert "120 different keys" in doubts[0]
    assert metric == "f1(each(prices=match(record(key=exact, value=exact), 1:1)))"


@pytest.mark.parametrize("documents", [[["a", "b"], []], [[{"a": 1}], [{"a": 2}]], [1, 2]])
def test_documents_that_are_no_objects(documents):
    assert inferred(*documents)[2].startswith("f1(")
