"""The decisions of "The mathematics, made safe", one by one, each named after the surprise it guards against."""

import math
from dataclasses import dataclass

import pytest

import tallystick as ts
from strategies import affinity, nearness
from tallystick.errors import MetricError


def tally(metric, reference, predicted):
    """num_p, den_p, num_r, den_r of one document."""
    return tuple(ts.evaluate(metric, [reference], [predicted]).tally.values())


def weight(node, x, y):
    """φ(x, y), alone."""
    return ts.evaluate(node, [x], [y]).tally["num_p"]


# Arrows


def test_n_to_1_lets_many_predictions_take_one_reference_item():
    metric = ts.match(ts.exact, "N:1", literal=True)
    assert weight(metric, ["a"], ["a", "a", "a"]) == 3
    assert weight(metric, ["a", "a", "a"], ["a"]) == 1


def test_1_to_n_lets_one_prediction_be_taken_by_many_reference_items():
    metric = ts.match(ts.exact, "1:N", literal=True)
    assert weight(metric, ["a"], ["a", "a", "a"]) == 1
    assert weight(metric, ["a", "a", "a"], ["a"]) == 3


def test_arrows_read_prediction_to_reference_also_with_keyword_arguments_turned_round():
    metric = ts.match(ts.exact, "N:1", literal=True)
    result = ts.evaluate(metric, predicted=[["a", "a"]], reference=[["a"]])
    assert result.tally["num_p"] == 2


# A collection inside a product and inside a sum


@dataclass
class Tagged:
    name: str
    tags: list[str]


def test_a_record_with_an_empty_list_equals_itself():
    metric = ts.derive(list[Tagged])
    assert str(metric) == "f1(match(record(name=exact, tags=f1(match(exact, 1:1))), 1:1))"
    assert tally(metric, [Tagged("x", [])], [Tagged("x", [])]) == (1, 1, 1, 1)
    assert tally(metric, [Tagged("x", [])], [Tagged("x", ["a"])]) == (0, 1, 0, 1)


def test_a_collection_inside_a_product_is_normalised():
    metric = ts.derive(list[Tagged])
    found = tally(metric, [Tagged("x", ["a", "b", "c"])], [Tagged("x", ["a"])])
    assert found == pytest.approx((0.5, 1, 0.5, 1))


def test_a_collection_inside_a_sum_counts_each_item():
    metric = ts.derive(list[Tagged], credit="each")
    assert str(metric) == "f1(match(each(name=exact, tags=match(exact, 1:1)), 1:1))"
    assert tally(metric, [Tagged("x", ["a", "b", "c"])], [Tagged("x", ["a"])]) == (2, 2, 2, 4)


@dataclass
class Document:
    entities: list[str]
    relations: list[tuple[str, str]]


def test_the_collections_of_a_document_are_added_never_multiplied():
    """A document without relations would lose all its entities in a product."""
    metric = ts.derive(Document)
    assert str(metric) == "f1(each(entities=match(exact, 1:1), relations=match(record(0=exact, 1=exact), 1:1)))"
    assert tally(metric, Document(["a", "b"], []), Document(["a"], [("a", "b")])) == (1, 2, 1, 2)


# Two empties


@pytest.mark.parametrize("normaliser", [ts.f1, ts.precision, ts.recall, ts.jaccard])
def test_two_empty_collections_are_equal_under_a_nested_normaliser(normaliser):
    metric = ts.match(normaliser(ts.match(ts.exact)))
    assert tally(metric, [[]], [[]]) == (1, 1, 1, 1)
    assert tally(metric, [[]], [["a"]]) == (0, 1, 0, 1)
    assert tally(metric, [["a"]], [[]]) == (0, 1, 0, 1)


def test_each_empty_collection_finds_an_empty_partner_of_its_own():
    metric = ts.match(ts.f1(ts.match(ts.exact)))
    assert tally(metric, [[], [], ["a"]], [["a"], [], []]) == (3, 3, 3, 3)
    assert tally(metric, [[], [], []], [[], []]) == (2, 2, 2, 3)


def test_none_equals_none_in_a_product_and_nothing_else():
    metric = ts.match(ts.record(name=ts.exact, date=ts.optional(ts.date())))
    one, none = {"name": "x", "date": "2024-01-01"}, {"name": "x", "date": None}
    assert weight(metric, [none], [none]) == 1
    assert weight(metric, [one], [none]) == weight(metric, [none], [one]) == 0


def test_two_empty_documents_are_no_hit_and_undefined():
    result = ts.evaluate(ts.f1(ts.match(ts.exact)), [[]], [[]])
    assert tuple(result.tally.values()) == (0, 0, 0, 0)
    assert result.precision is result.recall is result.f1 is None
    assert any("0/0" in warning for warning in result.warnings)


@pytest.mark.parametrize("policy", [0.0, 1.0])
def test_an_undefined_figure_is_decided_at_the_last_division_and_never_enters_a_sum(policy):
    metric = ts.f1(ts.match(ts.exact))
    assert ts.evaluate(metric, [[]], [[]], undefined=policy).f1 == policy
    result = ts.evaluate(metric, [[], ["a", "b"]], [[], ["a"]], undefined=policy)
    assert tuple(result.tally.values()) == (1, 1, 1, 2)
    assert result.f1 == pytest.approx(2 / 3)
    assert result.documents[0]["f1"] == policy


def test_the_undefined_policy_is_none_zero_or_one():
    with pytest.raises(MetricError, match=r"undefined must be None, 0\.0 or 1\.0"):
        ts.evaluate(ts.f1(ts.match(ts.exact)), [[]], [[]], undefined=0.5)


# Self-scores


def test_all_pairs_of_one_side_count_under_n_to_n():
    assert tally(ts.match(ts.exact, "N:N"), ["a", "a", "b"], ["a"]) == (2, 1, 2, 5)


def test_a_function_that_is_not_reflexive_has_its_same_side_problem_solved():
    # "a" fits "b" with 2, itself with .5, and "b" itself with 1: the best of [a, b] with itself is one pair, 2.
    metric = ts.match(ts.function(affinity, reflexive=False))
    assert tally(metric, ["a"], ["a"]) == (0.5, 0.5, 0.5, 0.5)
    assert tally(metric, ["a", "b"], ["a", "b"]) == (2, 2, 2, 2)


def test_a_nested_normaliser_around_such_a_function_is_solved_too():
    metric = ts.match(ts.f1(ts.match(ts.function(affinity, reflexive=False))))
    found = tally(metric, [["a"], ["b"]], [["a"], ["b"]])
    assert found[0] == found[1] == pytest.approx(2 * 2 / 1.5)


def test_a_bare_one_sided_sum_inside_a_matching_is_solved():
    """φ([a], [a, a, a]) = 3 passes φ([a], [a]) = 1, so the diagonal is not the best under 1:N."""
    metric = ts.match(ts.match(ts.exact, "N:1"), "1:N", literal=True)
    documents = [["a"], ["a", "a", "a"]]
    assert tally(metric, documents, documents) == (6, 6, 6, 6)


def above_one(x, y):
    return 1.0 if x == y else 1.5


def test_a_function_above_its_declared_self_score_is_an_error_that_names_the_pair():
    with pytest.raises(MetricError, match=r"above_one\('a', 'b'\) gave 1\.5, above φ\(x, x\) = 1"):
        ts.evaluate(ts.match(ts.function(above_one)), [["a"]], [["b"]])


def not_a_number(x, y):
    return math.nan


def test_a_function_that_gives_nan_is_an_error_that_names_the_pair():
    with pytest.raises(MetricError, match=r"not_a_number\('a', 'b'\) gave NaN"):
        ts.evaluate(ts.match(ts.function(not_a_number)), [["a"]], [["b"]])


def test_a_judged_pair_may_not_pass_one():
    with pytest.raises(MetricError, match=r"weight in \[0, 1\]"):
        ts.judgements({("a", "b"): 1.5})


# One-sided constraints


@pytest.mark.parametrize(("constraint", "num_p"), [("N:1", 3), ("1:N", 1)])
def test_covered_figures_never_pass_one(constraint, num_p):
    result = ts.evaluate(ts.f1(ts.match(ts.exact, constraint)), [["a"]], [["a", "a", "a"]])
    assert tuple(result.tally.values()) == (num_p, 3, 1, 1)
    assert (result.precision, result.recall) == (num_p / 3, 1)
    assert not result.warnings


def test_covered_is_independent_of_ties():
    """Both predictions fit both references; one Σ with an unlucky choice would cover one reference only."""
    metric = ts.f1(ts.match(ts.text("levenshtein"), "N:1"))
    assert tally(metric, ["ab", "cb"], ["ab", "cb"]) == (2, 2, 2, 2)
    assert tally(metric, ["aX", "aY"], ["aZ", "aW"]) == (1, 2, 1, 2)


def test_literal_is_one_sum_for_both_sides_and_warns_above_one():
    result = ts.evaluate(ts.f1(ts.match(ts.exact, "N:1", literal=True)), [["a"]], [["a", "a", "a"]])
    assert tuple(result.tally.values()) == (3, 3, 3, 1)
    assert result.recall == 3
    assert any("recall is 3.0000, above 1" in warning for warning in result.warnings)


def test_n_to_n_is_literal_and_warns():
    result = ts.evaluate(ts.f1(ts.match(ts.exact, "N:N")), [["a", "a"]], [["a"]])
    assert tuple(result.tally.values()) == (2, 1, 2, 4)
    assert any("precision is 2.0000, above 1" in warning for warning in result.warnings)


def test_a_nested_one_sided_matching_is_covered_as_well():
    metric = ts.match(ts.f1(ts.match(ts.exact, "N:1")))
    assert weight(metric, [["a"]], [["a", "a", "a"]]) == 1
    # P = 3/4, R = 1/2
    assert weight(metric, [["a", "b"]], [["a", "a", "a", "x"]]) == pytest.approx(0.6)


# F


@pytest.mark.parametrize(
    ("reference", "predicted", "expected"),
    [([], ["a"], (0.0, None, 0.0)), (["a"], [], (None, 0.0, 0.0)), (["a"], ["b"], (0.0, 0.0, 0.0))],
)
@pytest.mark.parametrize("constraint", ["1:1", "N:1"])
def test_f_is_undefined_only_if_both_denominators_are_zero(constraint, reference, predicted, expected):
    result = ts.evaluate(ts.f1(ts.match(ts.exact, constraint)), [reference], [predicted])
    assert (result.precision, result.recall, result.f1) == expected


def test_f_0_is_precision():
    metric = ts.f(ts.match(ts.exact), 0)
    assert ts.parse(str(metric)) == metric
    found = ts.evaluate(metric, [["a", "b", "c"]], [["a", "x"]])
    assert found.f0 == found.precision == 0.5
    turned = ts.evaluate(metric.mirrored(), [["a", "x"]], [["a", "b", "c"]])
    assert turned.score == found.score
    inside = ts.f1(ts.match(ts.f(ts.match(ts.exact), 0)))
    assert ts.evaluate(inside, [[["a", "b"]]], [[["a"]]]).f1 == 1
    with pytest.raises(ts.TallystickError, match="finite beta of 0 or more"):
        ts.f(ts.match(ts.exact), -1)


def test_f_beta_weighs_recall():
    result = ts.evaluate(ts.f(ts.match(ts.exact), 2), [["a", "b", "c", "d"]], [["a"]])
    assert result.f2 == result.score == pytest.approx(5 * 1 / (4 * 4 + 1))


def test_f_of_two_numerators_comes_from_precision_and_recall():
    result = ts.evaluate(ts.f1(ts.match(ts.exact, "N:1")), [["a", "b"]], [["a", "a", "a", "x"]])
    assert (result.precision, result.recall) == (0.75, 0.5)
    assert result.f1 == pytest.approx(0.6)


def test_jaccard_needs_one_numerator():
    result = ts.evaluate(ts.jaccard(ts.match(ts.exact)), [["a", "b"]], [["b", "c"]])
    assert result.jaccard == result.score == pytest.approx(1 / 3)
    with pytest.raises(MetricError, match="one numerator"):
        ts.jaccard(ts.match(ts.exact, "N:1"))
    assert ts.evaluate(ts.jaccard(ts.match(ts.exact, "N:1", literal=True)), [["a"]], [["a", "a"]]).jaccard == 2


# Sides


def test_precision_and_recall_may_be_two_expressions():
    """Eq. 23 and 24: B³ as memberships whose entity is P-normalised for precision, R-normalised for recall."""
    entities = [[1, 2, 3], [4, 5]], [[1, 2], [3, 4, 5]]
    reference, predicted = (
        [{"mention": mention, "entity": entity} for entity in side for mention in entity] for side in entities
    )
    overlap = ts.match(ts.exact)
    b_cubed = ts.sides(
        precision=ts.match(ts.record(mention=ts.exact, entity=ts.precision(overlap))),
        recall=ts.match(ts.record(mention=ts.exact, entity=ts.recall(overlap))),
    )
    result = ts.evaluate(b_cubed, [reference], [predicted])
    assert result.precision == pytest.approx((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3) / 5)
    assert result.recall == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
    assert result.f1 == pytest.approx(2 / (1 / result.precision + 1 / result.recall))


def test_sides_of_different_types_have_self_scores_of_their_own():
    """Gold is a list of accepted answers, the prediction one answer: an item counts 1 on both sides."""
    metric = ts.match(ts.best(ts.exact))
    answers = [["yes", "yeah"], ["no"]]
    mapped = ts.match(ts.via(list, ts.best(ts.exact), predicted=lambda answer: [answer]))
    assert tally(mapped, [tuple(a) for a in answers], ["yeah", "maybe"]) == (1, 2, 1, 2)
    assert tally(metric, answers, [["yeah"], ["maybe"]]) == (1, 2, 1, 2)


# Asymmetric similarities


def test_subset_is_about_the_prediction():
    assert weight(ts.subset(ts.exact), ["a", "b"], ["a"]) == 1
    assert weight(ts.subset(ts.exact), ["a"], ["a", "b"]) == 0
    assert weight(ts.subset(ts.exact), ["a", "b"], []) == 0
    assert weight(ts.subset(ts.exact), ["a"], ["a", "a"]) == 0, "a bag inside a bag"
    assert weight(ts.subset(ts.exact).mirrored(), ["a"], ["a", "b"]) == 1


def test_hierarchy_credit_is_for_a_predicted_ancestor_unless_asked_otherwise():
    parents = {"bombing": "attack", "attack": "event"}
    muc, printed = ts.subtypes(parents), ts.subtypes(parents, direction="predicted_descendant")
    assert weight(muc, "bombing", "attack") == 0.5
    assert weight(muc, "bombing", "event") == 0.5
    assert weight(muc, "attack", "bombing") == 0
    assert weight(printed, "attack", "bombing") == 0.5
    assert weight(printed, "bombing", "attack") == 0


def test_a_function_is_called_with_the_reference_first():
    assert weight(ts.function(nearness), 1, 2) == 0.5
    assert weight(ts.function(nearness), 2, 1) == 0.25
    assert weight(ts.function(nearness).mirrored(), 2, 1) == 0.5


# Averages


def test_macro_f_is_the_mean_of_f_values_and_leaves_undefined_documents_out():
    metric = ts.f1(ts.match(ts.exact))
    reference = [["a"], ["a", "b", "c"], [], []]
    predicted = [["a"], ["a"], [], ["x"]]
    result = ts.evaluate(metric, reference, predicted)
    assert result.macro["f1"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert result.macro["precision"] == pytest.approx((1 + 1 + 0) / 3)
    assert result.macro["recall"] == pytest.approx((1 + 1 / 3) / 2)
    assert result.left_out == {"precision": 1, "recall": 2, "f1": 1}
    mean = (result.macro["precision"], result.macro["recall"])
    assert result.macro["f1"] != pytest.approx(2 * mean[0] * mean[1] / sum(mean)), "the F of means"


@pytest.mark.parametrize("policy", [0.0, 1.0])
def test_macro_counts_undefined_documents_as_zero_or_one_if_asked(policy):
    result = ts.evaluate(ts.f1(ts.match(ts.exact)), [["a"], []], [["a"], []], undefined=policy)
    assert result.macro["f1"] == (1 + policy) / 2


def test_by_label_precision_goes_by_the_predicted_label_and_recall_by_the_reference_label():
    metric = ts.f1(ts.match(ts.each(type=ts.exact, name=ts.exact)))
    reference = [[{"type": "A", "name": "x"}, {"type": "B", "name": "y"}]]
    predicted = [[{"type": "B", "name": "x"}, {"type": "B", "name": "y"}]]
    labels = {label.label: label for label in ts.evaluate(metric, reference, predicted).by_label("type")}
    assert labels["A"].tally == {"num_p": 0, "den_p": 0, "num_r": 1, "den_r": 2}
    assert labels["B"].tally == {"num_p": 3, "den_p": 4, "num_r": 2, "den_r": 2}
    assert labels["A"].figures["precision"] is None
    assert labels["B"].figures == pytest.approx({"precision": 0.75, "recall": 1, "f1": 2 * 0.75 / 1.75})


def test_by_field_below_a_product_is_a_diagnostic_and_never_part_of_the_score():
    metric = ts.f1(ts.match(ts.record(type=ts.exact, name=ts.exact)))
    reference, predicted = [[{"type": "A", "name": "x"}]], [[{"type": "B", "name": "x"}]]
    result = ts.evaluate(metric, reference, predicted)
    kind, name = result.by_field()
    assert kind.diagnostic
    assert name.diagnostic
    assert (kind.wrong, name.wrong) == (1, 0)
    assert result.f1 == 0


def test_by_field_below_a_nested_normaliser_is_a_diagnostic():
    result = ts.evaluate(ts.f1(ts.match(ts.f1(ts.match(ts.exact)))), [[["a", "b"]]], [[["a"]]])
    (items,) = result.by_field()
    assert items.diagnostic
    assert items.tally == {"num_p": 1, "den_p": 1, "num_r": 1, "den_r": 2}


# Bags, sets, NaN, negative similarities


def test_collections_are_bags_and_distinct_makes_them_sets():
    assert tally(ts.match(ts.exact), ["a", "a", "b"], ["a", "a", "a"]) == (2, 3, 2, 3)
    assert tally(ts.match(ts.exact, distinct=True), ["a", "a", "b"], ["a", "a", "a"]) == (1, 1, 1, 2)


def test_distinct_goes_by_what_the_similarity_can_tell_apart():
    folded = ts.match(ts.text("equal", "casefold"), distinct=True)
    assert tally(folded, ["a", "A", "a"], ["a"]) == (1, 1, 1, 1)
    # Two numbers that are close enough to each other are not close to the same others.
    near = ts.match(ts.number(1), distinct=True)
    assert tally(near, [1, 1.5, 1.0], [2.2]) == (1, 1, 1, 2)


def test_nan_equals_nan():
    nan = float("nan")
    assert tally(ts.match(ts.exact), [nan, 1.0], [float("nan"), 2.0]) == (1, 2, 1, 2)
    assert tally(ts.match(ts.number(0.5)), [nan], [float("nan")]) == (1, 1, 1, 1)
    assert tally(ts.match(ts.exact), [(1, nan)], [[1, float("nan")]]) == (1, 1, 1, 1)


def test_true_is_not_one():
    assert tally(ts.match(ts.exact), [True, 0], [1, False]) == (0, 2, 0, 2)
    assert tally(ts.match(ts.exact), [True, False], [True, True]) == (1, 2, 1, 2)


def minus(x, y):
    return 1.0 if x == y else -0.5


def test_a_negative_similarity_is_clipped_and_counted():
    metric = ts.f1(ts.match(ts.function(minus), "N:N"))
    result = ts.evaluate(metric, [["a", "b"], ["a"]], [["a"], ["b", "b"]])
    assert tuple(result.tally.values()) == (1, 5, 1, 3)
    assert result.warnings[0] == "2 similarities were below 0 and counted as 0"


# Null in a sum of fields


def test_null_in_a_sum_is_nothing_on_both_sides_and_one_missing_or_extra_on_one():
    metric = ts.match(ts.each(name=ts.exact, date=ts.optional(ts.exact)))
    one, none = {"name": "x", "date": "2024"}, {"name": "x", "date": None}
    assert tally(metric, [none], [none]) == (1, 1, 1, 1)
    assert tally(metric, [one], [none]) == (1, 1, 1, 2)
    assert tally(metric, [none], [one]) == (1, 2, 1, 1)
    assert tally(metric, [one], [one]) == (2, 2, 2, 2)


def test_an_absent_key_is_null_whichever_documents_come_together():
    metric = ts.match(ts.each(name=ts.exact, date=ts.optional(ts.exact)))
    reference, predicted = [[{"name": "x"}], [{"name": "y", "date": 1}]], [[{"name": "x"}], [{"name": "y"}]]
    whole = ts.evaluate(metric, reference, predicted)
    assert tuple(whole.tally.values()) == (2, 2, 2, 3)
    assert (ts.evaluate(metric, reference, predicted, batch=1).rows == whole.rows).all()


def test_a_none_that_is_compared_is_explained_and_one_that_does_not_count_is_not():
    one = {"name": "x", "date": None}
    for combine, expected in ((ts.record, {"name": "x", "date": None}), (ts.each, {"name": "x"})):
        metric = ts.match(combine(name=ts.exact, date=ts.exact))
        (pair,) = ts.evaluate(metric, [[one]], [[one]]).explain().children
        assert {child.name: child.reference for child in pair.children} == expected


def test_a_document_that_counts_as_0_is_not_called_left_out():
    gold, system = [["a"], []], [["a"], []]
    found = {value: ts.evaluate(ts.f1(ts.match(ts.exact)), gold, system, undefined=value) for value in (None, 0)}
    assert [(one.over_documents["f1"], one.left_out["f1"]) for one in found.values()] == [(1.0, 1), (0.5, 0)]
