"""Scored one by one, without columns, documents are worth what the columns say: to the bit where that is whole numbers."""

import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import tallystick as ts
from strategies import LEAVES, Shape, _leaf, corpora, effort, metrics
from tallystick.algebra.plain import plan_of
from tallystick.errors import ValueMismatch

SPELLINGS = [
    "a",
    "a ",
    " a",
    "a  b",
    "a b",
    "A",
    "e\u0301",
    "\u00e9",
    "",
    1,
    1.0,
    2,
    0.1,
    0.1 + 1e-12,
    0.3,
    0.1 + 0.2,
    True,
    None,
]
OTHERS = [
    _leaf(ts.equal, SPELLINGS),
    _leaf(ts.equal("NFKC", noise=0), SPELLINGS),
    _leaf(ts.equal(spaces=False), SPELLINGS),
    _leaf(ts.aliases({"b": "a", "c": "a"}), "abcd"),
    _leaf(ts.any_of(ts.exact), st.sampled_from("abc") | st.lists(st.sampled_from("abc"), min_size=1, max_size=2)),
    _leaf(ts.keyed(ts.each(a=ts.exact, b=ts.equal), "a"), st.fixed_dictionaries({"a": st.sampled_from("ab"), "b": st.sampled_from("xyz")})),
    _leaf(ts.optional(ts.exact, empty=True, blank=True), ["a", "", " ", None]),
    _leaf(ts.optional(ts.exact, null=True), ["a", "b", None]),
]  # fmt: skip


def both_ways(metric, reference, predicted, whole=False):
    """The rows of documents that are scored one by one, held against those of the columns; how many documents those were."""
    plan = plan_of(metric)
    found = None if plan is None else plan.tallies(reference, predicted)
    expected = ts.evaluate(metric, reference, predicted, batch=1000).rows
    if found is None or not len(expected):
        return 0
    if whole:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return len(found)


@given(st.data())
@effort(3)
def test_one_by_one_is_what_the_columns_say(data):
    shape = data.draw(metrics())
    both_ways(shape.node, *data.draw(corpora(shape)), whole=shape.integral and "f1" not in str(shape.node)[2:])


@pytest.mark.parametrize("leaf", [*LEAVES, *OTHERS], ids=lambda leaf: str(leaf.node)[:40])
@given(data=st.data())
@effort(0.15)
def test_every_leaf_is_what_the_columns_say_of_it(leaf, data):
    sides_differ = leaf.node.name == "any_of"  # no side can be laid against itself
    constraint = data.draw(st.sampled_from(["1:1", "1:1", "N:1", "1:N", *["N:N"] * (not sides_differ)]))
    metric = data.draw(st.sampled_from([ts.f1(ts.match(leaf.node, constraint)), ts.sequence(leaf.node), leaf.node]))
    values = leaf.values if metric is leaf.node else st.lists(leaf.values, max_size=5)
    both_ways(metric, *data.draw(corpora(Shape(metric, values))), whole=leaf.integral)


COVERED = [
    "f1(match(record(type=exact, subj=equal, obj=exact)))",
    "f1(each(number=exact, total=number(0.5), lines=match(each(sku=exact, text=text(\"levenshtein\"), price=equal))))",
    "f1(match(f1(match(exact))))",
    "sides(precision=match(subset(exact), N:1), recall=match(best(exact), 1:N))",
    "jaccard(match(record(a=exact, b=f1(match(overlap(\"dice\")))), distinct=False))",
    "match(each(a=optional(exact), b=weighted(text(\"jaro\"), 2)), N:1)",
    "f1(sequence(exact))",
    "let(Tree, record(label=exact, children=f1(match(Tree))))",
    "f1(match(at_least(f1(match(exact)), 0.5)))",
    "f1(match(keyed(each(a=exact, b=exact), \"a\")))",
]  # fmt: skip


@pytest.mark.parametrize("text", COVERED)
def test_random_values_of_usual_metrics_are_scored_one_by_one(text):
    metric, rng, done = ts.parse(text), random.Random(7), 0
    values = [_sample(metric, rng) for _ in range(120)]
    for x, y in zip(values[::2], values[1::2], strict=True):
        y = x if rng.random() < 0.2 else y
        done += both_ways(metric, [x], [y])
        result = ts.evaluate(metric, [x], [y])
        assert math.isclose(metric(x, y), oracle_value(metric, x, y), rel_tol=1e-9, abs_tol=1e-9)
        assert result.tally == ts.evaluate(metric, [x], [y]).tally
    assert done == 60


def _sample(metric, rng):
    if metric.name == "let":
        return {"label": rng.choice("ab"), "children": [_sample(metric, rng) for _ in range(rng.choice([0, 0, 1, 2]))]}
    return metric.sample(rng)


def oracle_value(metric, x, y):
    if metric.by_side is None and "keyed" not in str(metric) and "equal" not in str(metric):
        return oracle.similarity(metric, x, y)
    row = ts.evaluate(metric, [x], [y], batch=1).rows[0].tolist()
    return metric.figure_of(row[2], row[0], row[3], row[1])


# What is not covered is the columns' business, and what they say is said.


def same_result(metric, reference, predicted):
    quick, columns = (ts.evaluate(metric, reference, predicted, **more) for more in ({}, {"batch": 1}))
    assert quick.tally == columns.tally
    assert quick.figures == columns.figures
    assert str(quick) == str(columns)
    assert quick.as_dict() == columns.as_dict()
    return quick


def test_a_result_is_the_same_in_everything():
    metric = ts.f1(ts.match(ts.record(a=ts.exact, b=ts.exact)))
    rows = [{"a": "x", "b": 1}, {"a": "y", "b": 2}, {"a": "x", "b": True}]
    result = same_result(metric, [rows, [], rows[:1]], [rows[1:], [], rows])
    assert str(result.explain(0)) == str(ts.evaluate(metric, [rows], [rows[1:]], batch=1).explain(0))
    assert pickle.loads(pickle.dumps(result.metric)) == metric


@pytest.mark.parametrize(
    ("metric", "reference", "predicted"),
    [
        ("f1(match(record(a=exact, b=exact)))", [{"a": 1, "b": 2}], [{"a": 1}]),  # a key that is not there
        ("f1(match(record(a=exact)))", [{"a": 1}], ["a"]),
        ("f1(match(exact))", ["a"], "a"),
        ("f1(match(exact))", ["a"], None),
        ("f1(each(a=exact, b=exact))", {"a": 1}, {"a": 1}),  # a field that nobody has
        ("f1(match(text(\"levenshtein\")))", ["a"], [1]),
        ("f1(match(number()))", [1.0], ["1"]),
        ("f1(match(overlap()))", [(0, 1)], [(3, 0)]),
        ("f1(match(exact))", [object()], [object()]),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_columns(metric, reference, predicted):
    metric = ts.parse(metric)
    quick, columns = (_said(metric, reference, predicted, **more) for more in ({}, {"batch": 1}))
    assert quick == columns


def _said(metric, reference, predicted, **options):
    try:
        return ts.evaluate(metric, [reference], [predicted], **options).as_dict()
    except ValueMismatch as error:
        with pytest.raises(ValueMismatch):
            metric(reference, predicted)
        return str(error)


def test_what_a_type_does_not_know_is_never_free():
    from typing import TypedDict

    Invoice = TypedDict("Invoice", {"number": str, "total": float})  # noqa: UP013
    metric = ts.derive(Invoice)
    gold = {"number": "1", "total": 2.5}
    assert metric(gold, gold) == 1.0
    junk = {**gold, "note": "paid", "more": [1, 2]}
    result = same_result(metric, [gold], [junk])
    assert result.precision == 0.25
    assert metric(gold, junk) == result.f1 < 1


def test_an_empty_list_against_nothing_counts():
    metric = ts.f1(ts.each(a=ts.exact, items=ts.optional(ts.match(ts.exact))))
    assert same_result(metric, [{"a": 1, "items": []}], [{"a": 1, "items": None}]).recall == 0.5


def test_a_new_similarity_needs_no_plain_definition():
    metric = ts.f1(ts.match(ts.function(lambda x, y: float(x == y))))
    assert plan_of(metric) is None
    assert metric(["a", "b"], ["a"]) == pytest.approx(2 / 3)
    assert ts.exact("a", "a") == 1.0
    assert ts.equal("a ", "a") == 1.0
    assert ts.equal(noise=0) == ts.equal("NFC", noise=0)
    assert ts.match(ts.exact)(["a", "b"], ["a"]) == 1.0


class Shouted(type(ts.text("equal"))):
    """A user's own, derived from one that has a plain definition, which is not that of this one."""

    def _encode(self, reference, predicted, scope):
        from tallystick.engine.data import Objects

        return super()._encode(
            *(Objects([one.upper() for one in side.values]) for side in (reference, predicted)), scope
        )


def test_a_class_that_scores_in_another_way_does_not_inherit_the_definition():
    metric = ts.f1(ts.match(Shouted()))
    assert plan_of(metric) is None
    assert ts.evaluate(metric, [["a"]], [["A"]]).f1 == metric(["a"], ["A"]) == 1.0


# Tags of a few short texts are counted as they are read.

TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-A-B", "I-A-B", "B", "PER"]), max_size=6)


@given(st.lists(st.tuples(TAGS, TAGS), max_size=3), st.sampled_from(["lenient", "strict"]))
def test_tags_of_short_texts_are_counted_as_in_columns(texts, reading):
    from tallystick.tasks.spans.metrics import evaluate

    reference, predicted = [x for x, _ in texts], [[*y, *["O"] * len(x)][: len(x)] for x, y in texts]
    quick, columns = (_said_of_tags(evaluate, form(reference), form(predicted), reading) for form in (list, tuple))
    assert quick == columns


def _said_of_tags(evaluate, reference, predicted, reading):
    try:
        result = evaluate(reference, predicted, ["segment"], reading=reading)["segment"]
    except ts.TallystickError as error:
        return str(error)
    first = result.explain(1).as_dict() if result.ids else None
    return result.as_dict(), result.tally, result.rows.tolist(), str(result), result.documents, first, result.by_label()


def test_a_field_that_was_only_seen_without_columns_is_no_misspelt_one():
    metric = ts.f1(ts.each(a=ts.exact, b=ts.exact))
    whole, lacking = {"a": 1, "b": 2}, {"a": 1}
    run = ts.Evaluation(metric)
    run.update([whole], [whole])
    run.update([lacking], [lacking])
    assert run.compute().tally["den_r"] == 3
    one, other = ts.Evaluation(metric), ts.Evaluation(metric)
    one.update([lacking], [lacking])
    with pytest.raises(ValueMismatch, match="'b'"):
        one.compute()
    other.update([whole], [whole])
    one.merge(other)
    assert one.compute().tally["den_r"] == 3


def test_the_page_on_the_algebra_calls_a_metric():
    import doctest
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "algebra.md").read_text(encoding="utf-8")
    code = "".join(block for block in page.split("```python\n")[1:] if block.startswith(">>>")).partition("```")[0]
    test = doctest.DocTestParser().get_doctest(code, {"ts": ts}, "algebra.md", "algebra.md", 0)
    assert doctest.DocTestRunner().run(test).failed == 0
    assert test.examples
