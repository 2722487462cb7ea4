"""`distinct`: two items are one if the similarity cannot tell them apart, whatever stands around it."""

from __future__ import annotations

import json

import pytest

import oracle
import tallystick as ts

SAME = [{"n": 1, "other": "x"}, {"n": 1, "other": "y"}]
"""Two records that differ only in what nobody compares."""
N = ts.record(n=ts.exact)


def equal(x, y):
    return float(x == y)


def sizes(inner, items, **more):
    """How many items are left of a collection, on both sides and by the oracle."""
    metric = ts.match(inner, distinct=True, **more)
    result = ts.evaluate(ts.f1(metric), [items], [items])
    found = result.tally["den_r"], result.tally["den_p"]
    assert result.f1 == 1
    return found


@pytest.mark.parametrize(
    "inner",
    [
        N,
        ts.each(n=ts.exact),
        ts.keyed(N, "n"),
        ts.optional(N),
        ts.f1(N),
        ts.jaccard(N),
        ts.any_of(N),
        ts.weigh(N, {1: 1.0}, by="n"),
        ts.cases(dict=N),
        ts.above(N, 0.5),
        ts.via(dict, N),
        ts.let("R", N),
        ts.record(n=ts.optional(ts.exact)),
        ts.record(n=ts.aliases({1: "one"})),
        ts.record(n=ts.any_of(ts.exact)),
        ts.record(n=ts.function(equal)),
        ts.record(n=ts.number(absolute=1)),
    ],
    ids=str,
)
def test_behind_every_wrapper_a_record_is_what_is_compared_of_it(inner):
    assert sizes(inner, SAME) == (1, 1)
    assert sizes(inner, [*SAME, {"n": 2, "other": "x"}]) == (2, 2)


def test_a_key_tells_records_apart():
    assert sizes(ts.keyed(N, "other"), SAME) == (2, 2)


def test_aliases_and_mapped_values_are_one():
    assert sizes(ts.aliases({"US$": "USD"}), ["US$", "USD", "EUR"]) == (2, 2)
    assert sizes(ts.via(str.lower, ts.exact), ["a", "A", "b"]) == (2, 2)
    assert sizes(ts.text("levenshtein", "casefold"), ["a", "A", "b"]) == (2, 2)


def test_alternatives_in_another_order_are_one():
    items = [[1, 2], [2, 1], [2, 2, 1], [3]]
    result = ts.evaluate(ts.f1(ts.match(ts.any_of(ts.exact), distinct=True)), [items], [[1, 3, 3]])
    assert result.tally == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 2}


def test_collections_are_one_in_any_order_unless_the_order_counts():
    items = [["a", "b"], ["b", "a"], ["a"]]
    assert sizes(ts.f1(ts.match(ts.exact)), items) == (2, 2)
    assert sizes(ts.f1(ts.sequence(ts.exact)), items) == (3, 3)


def test_bags_differ_by_how_often_an_item_stands_in_them():
    assert sizes(ts.f1(ts.match(ts.exact)), [["a"], ["a", "a"]]) == (2, 2)
    assert sizes(ts.f1(ts.match(ts.exact, distinct=True)), [["a"], ["a", "a"]]) == (1, 1)


def test_trees_and_graphs():
    from tallystick.structures import Graph, Tree

    leaf = Tree("b")
    assert sizes(ts.f1(ts.tree(ts.exact)), [Tree("a", (leaf,)), Tree("a", (leaf,)), Tree("a", (leaf, leaf))]) == (2, 2)
    graphs = [Graph(("a", "b"), ((0, 1),)), Graph(("a", "b"), ((0, 1),)), Graph(("a", "b"), ((1, 0),))]
    assert sizes(ts.f1(ts.graph(ts.exact)), graphs) == (2, 2)


def test_the_oracle_has_the_same_rule():
    metric = ts.f1(ts.match(ts.optional(ts.weigh(N, {1: 2.0}, by="n")), distinct=True))
    reference, predicted = [*SAME, None, None], [{"n": 1, "other": "z"}, *SAME]
    result = ts.evaluate(metric, [reference], [predicted])
    assert tuple(result.tally.values()) == oracle.tally(metric, reference, predicted)


def test_explanations_and_labels_go_by_the_items_that_are_left():
    metric = ts.f1(ts.each(items=ts.match(ts.keyed(N, "n"), distinct=True)))
    gold = {"items": [*SAME, {"n": 2, "other": "z"}]}
    system = {"items": [{"n": 2, "other": "a"}, {"n": 2, "other": "b"}, {"n": 1, "other": "c"}]}
    result = ts.evaluate(metric, [gold], [system])
    assert result.f1 == 1
    pairs = [(one.reference, one.predicted) for one in result.explain(0).walk() if one.places]
    assert [(a["other"], b["other"]) for a, b in pairs] == [("x", "c"), ("z", "a")]
    assert {one.label: one.support for one in result.by_label("items[*].n")} == {1: 1, 2: 1}


def test_a_symmetric_relation_with_another_entity_type_is_one_by_its_boundaries(tmp_path):
    from running import invoke
    from tallystick.cli.main import tallystick

    def relation(kind):
        return {"type": "spouse", "subj": [0, 1, "PER"], "obj": [2, 3, kind]}

    def written(name, kinds):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps({"id": "d", "relations": [relation(kind) for kind in kinds]}) + "\n")
        return str(file)

    gold, system = written("gold", ["PER"]), written("system", ["PER", "ORG"])
    for more in ([], ["--symmetric", "spouse"]):
        command = ["score", "relations", gold, system, "--metric", "boundaries", "--format", "json", *more]
        done = invoke(tallystick, command)
        assert done.returncode == 0, done.output
        found = json.loads(done.stdout)["metrics"]["boundaries"]
        assert (found["precision"], found["recall"]) == (1, 1), more
