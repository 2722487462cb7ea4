"""Graphs as triples, in JSON Lines and in text."""

import json

import pytest

import tallystick as ts
from tallystick.errors import InputError
from tallystick.tasks.amr.files import parse_triples

LINE = '{"id": "s1", "top": "k", "triples": [["k", "instance", "know-01"], ["i", "instance", "i"], ["k", "ARG0", "i"]]}'


def test_json_lines():
    (graph,) = parse_triples(LINE).graphs
    assert (graph.name, graph.variables, graph.concepts, graph.top) == ("s1", ["k", "i"], ["know-01", "i"], 0)
    assert graph.edges == [(0, ":ARG0", 1)]


def test_text_and_conjunction():
    plain = '# ::id s1\nk instance know-01\ni instance i\nk ARG0 i\nk name "New York"\n\nx REF y\n'
    first, second = parse_triples(plain).graphs
    assert first.edges == [(0, ":ARG0", 1), (0, ":name", '"New York"')]
    assert (second.variables, second.edges) == (["x"], [(0, ":REF", "y")])
    (same,) = parse_triples("instance(k, know-01) ^\ninstance(i, i) ^ ARG0(k, i)").graphs
    assert (same.variables, same.edges) == (["k", "i"], [(0, ":ARG0", 1)])


def test_listed_variables():
    (graph,) = parse_triples('{"variables": ["x", "y"], "triples": [["x", "REF", "y"], ["1", "of", "x"]]}').graphs
    assert graph.edges == [(0, ":REF", 1), ("1", ":of", 0)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{x", "1:2: is not JSON"),
        ('{"a": 1}', 'expected an object with "triples"'),
        ('{"triples": [["a", "b"]]}', r"triples\[0\]"),
        ('{"top": "q", "triples": []}', '"top" is "q"'),
        ("a b", "1:1: expected"),
        ("a instance b\na instance c", "two concepts"),
    ],
)
def test_errors(text, reason):
    with pytest.raises(InputError, match=reason):
        parse_triples(text)
    found = parse_triples(text, lenient=True)
    assert len(found.problems) == 1
    assert found.graphs[0].variables == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"top": ["k"]}, r'"top" is \["k"\]; expected the name of a variable'),
        ({"top": True}, r'"top" is true; expected the name of a variable'),
        ({"variables": ["k", None]}, r'"variables" is \["k",null\]; expected a list of names'),
        ({"variables": ["k", {}]}, r'"variables" is \["k",\{\}\]; expected a list of names'),
    ],
)
def test_names_that_are_none(tmp_path, wrong, said):
    graph = {"triples": [["k", "instance", "know"]], **wrong}
    (tmp_path / "gold.jsonl").write_text(json.dumps(graph) + "\n")
    with pytest.raises(InputError, match=rf"gold\.jsonl:1: {said}"):
        ts.amr(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl")
