"""The parts that records need: keyed lists, alternatives in the gold, aliases, and what counts as missing."""

import itertools

import pytest

import tallystick as ts
from tallystick.algebra.node import Node
from tallystick.engine.values import Unfit
from tallystick.errors import MetricError, ValueMismatch


def tally(metric, reference, predicted):
    return tuple(ts.evaluate(metric, [reference], [predicted]).tally.values())


NODES = [
    ts.f1(ts.match(ts.keyed(ts.each(sku=ts.exact, price=ts.number(0.1)), "sku"))),
    ts.f1(ts.match(ts.keyed(ts.record(a=ts.exact, b=ts.text("equal", "casefold")), "a", "b"))),
    ts.f1(ts.each(title=ts.any_of(ts.text("levenshtein")), n=ts.exact)),
    ts.f1(ts.each(c=ts.aliases({"US$": "USD", 1: 2}), d=ts.aliases({"a": "b"}, ts.text("jaro")))),
    ts.f1(ts.each(a=ts.optional(ts.exact, empty=True), b=ts.optional(ts.exact, null=True))),
    ts.f1(ts.each(a=ts.any_of(ts.exact, side="predicted"))),
]


@pytest.mark.parametrize("metric", NODES, ids=str)
def test_they_print_parse_and_mirror(metric):
    assert ts.parse(str(metric)) == metric
    assert isinstance(metric.mirrored(), Node)
    assert metric.mirrored().mirrored() == metric
    assert hash(metric) == hash(ts.parse(str(metric)))


# Keyed lists


LINE = ts.each(sku=ts.exact, n=ts.exact)


def lines(*pairs):
    return [{"sku": sku, "n": n} for sku, n in pairs]


def test_items_with_different_keys_never_meet():
    free, keyed = ts.f1(ts.match(LINE)), ts.f1(ts.match(ts.keyed(LINE, "sku")))
    reference, predicted = lines(("a", 1), ("b", 2)), lines(("a", 2), ("c", 1))
    assert tally(free, reference, predicted) == (2, 4, 2, 4)  # a-1 with c-1, or a with a
    assert tally(keyed, reference, predicted) == (1, 4, 1, 4)


def test_two_items_with_one_key_are_matched_the_best_way():
    keyed = ts.f1(ts.match(ts.keyed(LINE, "sku")))
    assert tally(keyed, lines(("a", 1), ("a", 2)), lines(("a", 2), ("a", 1)))[0] == 4


def test_a_keyed_list_has_fields_and_an_explanation():
    result = ts.evaluate(
        ts.f1(ts.match(ts.keyed(LINE, "sku"))), [lines(("a", 1), ("b", 2))], [lines(("b", 3), ("a", 1))]
    )
    fields = {row.path: row for row in result.by_field()}
    assert fields["[*].n"].wrong == 1
    assert not fields["[*].n"].diagnostic
    tree = result.explain(0)
    assert tree.weight == sum(child.weight for child in tree.children) == result.tally["num_p"]
    assert {child.places for child in tree.children} == {(0, 1), (1, 0)}


# Alternatives


def test_any_alternative_is_right():
    metric = ts.f1(ts.each(title=ts.any_of(ts.exact)))
    for predicted, num in (("NYC", 1), ("New York", 1), ("York", 0)):
        assert tally(metric, {"title": ["New York", "NYC"]}, {"title": predicted}) == (num, 1, num, 1)
    assert tally(metric, {"title": "NYC"}, {"title": "NYC"}) == (1, 1, 1, 1), "a single value is one alternative"
    assert tally(metric, {"title": ["NYC"]}, {}) == (0, 0, 0, 1)


def test_alternatives_inside_items_are_matched_over_all_of_them():
    metric = ts.f1(ts.match(ts.any_of(ts.text("levenshtein"))))
    reference, predicted = [["ab", "xy"], ["ab", "cd"]], ["cd", "ab"]
    best = max(
        sum(max(ts.evaluate(ts.match(ts.text("levenshtein")), [[r]], [[p]]).tally["num_p"] for r in options)
            for options, p in zip(reference, order, strict=True))
        for order in itertools.permutations(predicted)
    )  # fmt: skip
    assert tally(metric, reference, predicted)[0] == best == 2


@pytest.mark.parametrize("side", ["reference", "predicted"])
def test_all_pairs_of_items_with_alternatives(side):
    """N:N counts the pairs of each side with itself: two lists of alternatives are as alike as their best pair."""
    several, single = [["ab", "x"], ["x", "cd"], "y"], ["x", "ab"]
    sides = (several, single) if side == "reference" else (single, several)
    own = {"several": 5, "single": 2}  # the pairs (k, k), and those of the two that share an x
    expected = {"reference": (3, own["single"], 3, own["several"]), "predicted": (3, own["several"], 3, own["single"])}
    assert tally(ts.f1(ts.match(ts.any_of(ts.exact, side=side), "N:N")), *sides) == expected[side]


def test_alternatives_of_records_are_explained_by_the_one_that_was_met():
    inner = ts.each(name=ts.exact, city=ts.exact)
    result = ts.evaluate(
        ts.f1(ts.each(who=ts.any_of(inner))),
        [{"who": [{"name": "A", "city": "X"}, {"name": "B", "city": "Y"}]}],
        [{"who": {"name": "B", "city": "Z"}}],
    )
    assert result.tally == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 2}
    who = result.explain(0).children[0]
    assert [(c.name, c.reference, c.predicted) for c in who.children] == [("name", "B", "B"), ("city", "Y", "Z")]
    assert {row.path: row.wrong for row in result.by_field()} == {"who.name": 0, "who.city": 1}


def test_no_alternative_at_all_is_an_error():
    for value in ([], ()):
        with pytest.raises(ValueMismatch, match="at title: any_of needs one alternative or more"):
            tally(ts.f1(ts.each(title=ts.any_of(ts.exact))), {"title": value}, {"title": "a"})


# Aliases


def test_an_alias_equals_what_it_stands_for():
    metric = ts.f1(ts.match(ts.aliases({"US$": "USD", "dollar": "USD"})))
    assert tally(metric, ["USD", "EUR"], ["dollar", "GBP"]) == (1, 2, 1, 2)


def test_aliases_are_no_chains():
    with pytest.raises(MetricError, match="'a' stands for 'b', which itself stands for 'c'"):
        ts.aliases({"a": "b", "b": "c"})


# Missing, null and empty


@pytest.mark.parametrize(
    ("options", "reference", "predicted", "expected"),
    [
        ({}, {"a": None}, {}, (0, 0, 0, 0)),
        ({}, {"a": ""}, {}, (0, 0, 0, 1)),
        ({}, {"a": ""}, {"a": ""}, (1, 1, 1, 1)),
        ({"empty": True}, {"a": ""}, {"a": None}, (0, 0, 0, 0)),
        ({"empty": True}, {"a": ""}, {"a": "x"}, (0, 1, 0, 0)),
        ({"null": True}, {"a": None}, {"a": None}, (1, 1, 1, 1)),
        ({"null": True}, {"a": None}, {}, (0, 0, 0, 1)),
        ({"null": True}, {"a": None}, {"a": "x"}, (0, 1, 0, 1)),
        ({"null": True}, {}, {}, (0, 0, 0, 0)),
        ({"null": True, "empty": True}, {"a": ""}, {"a": None}, (1, 1, 1, 1)),
    ],
)
def test_what_is_missing_in_a_sum(options, reference, predicted, expected):
    metric = ts.f1(ts.each(a=ts.optional(ts.exact, **options), z=ts.optional(ts.exact)))
    result = ts.evaluate(metric, [reference], [predicted])
    assert tuple(result.tally.values()) == expected
    assert result.explain(0).weight == expected[0]
    row = result.by_field()[0]
    assert (row.tally["num_p"], row.tally["den_p"], row.tally["den_r"]) == (expected[0], expected[1], expected[3])


def test_what_is_missing_in_a_product():
    def same(reference, predicted, **options):
        metric = ts.f1(ts.match(ts.record(a=ts.optional(ts.exact, **options), z=ts.exact)))
        return tally(metric, [{"z": 1, **reference}], [{"z": 1, **predicted}])[0] == 1

    assert same({"a": None}, {})
    assert not same({"a": ""}, {})
    assert same({"a": ""}, {}, empty=True)
    assert not same({"a": None}, {}, null=True)
    assert same({}, {}, null=True)


# What does not fit is wrong, never the end


@pytest.mark.parametrize(
    ("inner", "reference"),
    [
        (ts.exact, "x"), (ts.text("levenshtein"), "x"), (ts.text("equal", "casefold"), "x"), (ts.number(1), 5.0),
        (ts.date(3), "2024-01-01"), (ts.levels("."), "a.b"), (ts.subtypes({"a": "b"}), "a"),
        (ts.function(lambda a, b: float(a == b)), "x"), (ts.aliases({"a": "b"}), "a"), (ts.any_of(ts.exact), ["a", "b"]),
        (ts.overlap(), [1, 2]), (ts.at_least(ts.text("jaro"), 0.1), "x"), (ts.via(ts.words, ts.f1(ts.match(ts.exact))), "x y"),
        (ts.cases(str=ts.exact, list=ts.match(ts.exact)), "x"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("found", ["n/a", ["a", {"b": 1}]])
def test_a_value_of_the_wrong_kind_counts_as_wrong(inner, reference, found):
    metric = ts.f1(ts.each(a=inner, b=ts.exact))
    result = ts.evaluate(
        metric,
        [{"a": reference, "b": 1}] * 2,
        [
            {"a": Unfit(found), "b": 1},
            {"a": reference if not isinstance(inner, type(ts.any_of(ts.exact))) else "a", "b": 1},
        ],
    )
    assert result.rows.tolist() == [[1, 2, 1, 2], [2, 2, 2, 2]]


def test_a_predicted_text_that_is_no_date_is_a_wrong_value_and_in_the_reference_an_error():
    metric = ts.f1(ts.each(day=ts.date()))
    assert tally(metric, {"day": "2024-01-01"}, {"day": "soon"}) == (0, 1, 0, 1)
    with pytest.raises(ValueMismatch, match="expected a date"):
        tally(metric, {"day": "soon"}, {"day": "soon"})


# Null among the alternatives.


def test_null_can_be_one_of_the_alternatives_where_it_is_a_value():
    metric = ts.f1(ts.each(a=ts.optional(ts.any_of(ts.optional(ts.exact)), null=True)))
    for reference, predicted, expected in (
        ([None, "x"], None, [1, 1, 1, 1]),
        ([None, "x"], "x", [1, 1, 1, 1]),
        ([None, "x"], "y", [0, 1, 0, 1]),
        (["x"], None, [0, 1, 0, 1]),
        (None, None, [1, 1, 1, 1]),
        (None, "x", [0, 1, 0, 1]),
    ):
        result = ts.evaluate(metric, [{"a": reference}], [{"a": predicted}])
        assert result.rows.tolist() == [expected], (reference, predicted)
        assert str(result.explain(0))
    missing = ts.evaluate(metric, [{"a": [None, "x"]}], [{}])
    assert missing.rows.tolist() == [[0, 0, 0, 1]]
    assert ts.parse(str(metric)) == metric


def test_null_among_the_alternatives_is_right_in_a_product():
    metric = ts.f1(ts.record(a=ts.any_of(ts.optional(ts.exact)), b=ts.exact))
    assert ts.evaluate(metric, [{"a": [None, "x"], "b": 1}], [{"a": None, "b": 1}]).f1 == 1


def test_where_null_is_nothing_the_error_says_what_to_do():
    with pytest.raises(
        ValueMismatch, match=r"at a: null means nothing, so it cannot be one of the alternatives .*nothing: \[missing\]"
    ):
        ts.evaluate(ts.f1(ts.each(a=ts.any_of(ts.exact))), [{"a": [None, "x"]}], [{"a": "x"}])
