"""Explanations are made level by level; what lies below a pair does not depend on the other pairs."""

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from strategies import corpora, effort, metrics
from tallystick.engine.data import Memory, as_data
from tallystick.engine.values import Invalid
from tallystick.results import explanation, leaves
from tallystick.results.documents import DEEPEST, pack_documents, pack_tree
from tallystick.results.explanation import explain_document, explain_together
from tallystick.results.leaves import align, explain_aligned
from tallystick.structures import Entity, Mention

together = explanation._below


def alone(level, _, left, right):
    """The levels below some pairs, each pair by itself."""
    for k in range(len(level.i)):
        single = replace(level, i=level.i[k : k + 1], j=level.j[k : k + 1])
        for lower in together(single, single.pairs, left[k : k + 1], right[k : k + 1]):
            yield replace(lower, homes=[k] * len(lower))


def explained_alone(metric, reference, predicted):
    with patch.object(explanation, "_below", alone):
        return explain_document(metric, reference, predicted)


@given(st.data())
@effort(1)
def test_pairs_that_are_explained_together_are_as_each_alone(data):
    shape = data.draw(metrics(depth=3))
    for reference, predicted in zip(*data.draw(corpora(shape)), strict=True):
        assert explain_document(shape.node, reference, predicted) == explained_alone(shape.node, reference, predicted)


@given(st.data())
@effort(1)
def test_what_a_page_packs_from_columns_is_what_it_packs_from_trees(data):
    shape = data.draw(metrics(depth=3))
    references, predictions = data.draw(corpora(shape))
    found = pack_documents(explain_together(shape.node, references, predictions))
    trees = [explain_document(shape.node, *pair) for pair in zip(references, predictions, strict=True)]
    assert found == [(pack_tree(tree, [DEEPEST]), False) for tree in trees]


def test_a_document_of_many_nodes_is_cut_whether_or_not_it_is_packed_from_columns():
    reference, predicted = [[{"a": k, "b": 1} for k in range(n)] for n in (DEEPEST, 3)]
    metric = ts.f1(ts.match(ts.each(a=ts.exact, b=ts.exact)))
    nodes = [DEEPEST]
    (row, cut), other = pack_documents(explain_together(metric, [reference, predicted], [predicted, predicted]))
    assert (row, cut) == (pack_tree(explain_document(metric, reference, predicted), nodes), True)
    assert (nodes[0], other[1]) == (0, False)


MENTIONS = [Entity((Mention(0, 1), Mention(4, 4))), Entity((Mention(7, 9),))]


@pytest.mark.parametrize(
    ("metric", "references", "predictions"),
    [
        (ts.f1(ts.match(ts.exact)), [["a"], ["b"]], [Invalid("no JSON"), ["b"]]),
        (ts.f1(ts.match(ts.each(type=ts.exact, n=ts.exact))), [[{"type": "T", "n": 1}]], [[{"type": "T", "n": 2}]]),
        (ts.f1(ts.each(a=ts.match(ts.exact))), [{"a": []}, {"a": ["x"]}], [{"a": None}, {"a": ["x"]}]),
        (ts.f1(ts.match(ts.derive(Entity))), [MENTIONS], [MENTIONS[:1]]),
    ],
    ids=["invalid", "labels", "empty", "mentions"],
)
def test_special_documents_are_packed_as_trees_are(metric, references, predictions):
    trees = [explain_document(metric, *pair) for pair in zip(references, predictions, strict=True)]
    found = pack_documents(explain_together(metric, references, predictions))
    assert found == [(pack_tree(tree, [DEEPEST]), False) for tree in trees]


PEOPLE = [{"name": "Ada", "tags": ["x", "y"], "born": None}, {"name": "Bob", "tags": ["z"], "born": 1900}]
GUESSES = [{"name": "Bob", "tags": ["z", "y"], "born": 1900}, {"name": "Ada", "tags": ["x"], "born": 1815}]


@pytest.mark.parametrize(
    "inner",
    [
        ts.each(name=ts.exact, tags=ts.match(ts.exact), born=ts.exact),
        ts.each(name=ts.exact, tags=ts.at_least(ts.f1(ts.match(ts.exact)), 0.5), born=ts.optional(ts.exact)),
        ts.each(name=ts.any_of(ts.exact), tags=ts.match(ts.exact, distinct=True), born=ts.exact),
        ts.keyed(ts.each(tags=ts.match(ts.via(str.upper, ts.exact)), born=ts.exact), "name"),
    ],
    ids=str,
)
def test_places_and_values_are_those_of_the_items_own_lists(inner):
    metric = ts.f1(ts.match(inner))
    tree = explain_document(metric, PEOPLE, GUESSES)
    assert tree == explained_alone(metric, PEOPLE, GUESSES)
    assert {child.places for child in tree.children} == {(0, 1), (1, 0)}
    (bob,) = (child for child in tree.children if child.places == (1, 0))
    (tags,) = (child for child in bob.children if child.name == "tags")
    assert [(one.status, one.reference, one.predicted, one.places) for one in tags.children] == [
        ("matched", "z", "z", (0, 0)),
        ("spurious", None, "y", (None, 1)),
    ]


def test_an_empty_list_against_nothing_is_there_once_and_counts():
    """In its place, below the records that hold it, on either side."""
    full, bare = {"a": 1, "p": {"n": "x", "tags": []}, "q": []}, {"a": 1, "p": {"n": "x"}}
    seen = {"a": 1, "p": {"n": "x", "tags": ["y"]}, "q": ["z"]}
    results = ts.score([full, bare, seen], [bare, full, seen])
    for document, mark, sides in ((1, "-", ("of 4", "2 predicted")), (2, "+", ("of 2", "4 predicted"))):
        lines = str(results.explain(document)).splitlines()
        assert [line for line in lines if line.strip().startswith(f"{mark} ")] == [
            f"    {mark} tags: []  {'missed' if mark == '-' else 'spurious'}",
            f"  {mark} q: []  {'missed' if mark == '-' else 'spurious'}",
        ]
        assert all(side in lines[0] for side in sides)


def read_off(metric, references, predictions, cut):
    """The alignments of some documents, in reverse, read off the layers of two slices."""
    slices = [slice(0, cut), slice(cut, None)]
    tops = [align(metric, as_data(references[some]), as_data(predictions[some]), Memory()) for some in slices]
    tops = [top.settle() for top in tops]
    places = [(tops[0], k) if k < cut else (tops[1], k - cut) for k in range(len(references))]
    return explain_aligned(metric, references[::-1], predictions[::-1], places[::-1])


@given(st.data())
@effort(1)
def test_alignments_that_are_read_off_layers_are_those_that_are_found_again(data):
    shape = data.draw(metrics(depth=3))
    references, predictions = data.draw(corpora(shape))
    references, predictions = list(references), list(predictions)
    if shape.node.by_side is not None:
        return
    found = read_off(shape.node, references, predictions, data.draw(st.integers(0, len(references))))
    again = explain_together(shape.node, references[::-1], predictions[::-1])
    assert found.trees() == again.trees()
    assert pack_documents(found) == pack_documents(again)


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_layers_alone_explain_records_in_lists(cut):
    metric = ts.f1(ts.match(ts.each(name=ts.text("levenshtein"), tags=ts.match(ts.exact), born=ts.optional(ts.exact))))
    references, predictions = [PEOPLE, PEOPLE[:1], []], [GUESSES, GUESSES, GUESSES[:1]]
    expected = explain_together(metric, references[::-1], predictions[::-1])
    with patch.object(leaves, "explain_together", side_effect=AssertionError):
        found = read_off(metric, references, predictions, cut)
    assert (found.trees(), pack_documents(found)) == (expected.trees(), pack_documents(expected))


def test_documents_that_layers_do_not_hold_are_explained_by_themselves():
    metric = ts.f1(ts.each(a=ts.match(ts.exact)))
    references = [{"a": ["x"]}, {"a": []}, {"a": ["x"]}, {"a": ["y", "z"]}, {"a": ["y"]}]
    predictions = [{"a": ["y"]}, {"a": None}, Invalid("no JSON"), {"a": ["z"]}, {"a": ["y"]}]
    expected = explain_together(metric, references[::-1], predictions[::-1])
    found = read_off(metric, references, predictions, 2)
    assert set(found.others) == {2, 3}
    assert found.trees() == expected.trees()
