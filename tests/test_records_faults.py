"""What stickler-eval, anls_star, autoevals and openevals get wrong (spec/landscape.md), as tests that pass here."""

import itertools
import random
from dataclasses import dataclass
from typing import Annotated

import pytest

import tallystick as ts
from tallystick.results.documents import differences


@dataclass
class Item:
    name: str
    price: float


@dataclass
class Order:
    number: str
    items: list[Item]


METRIC = ts.derive(Order, credit="each")


def order(*items, number="1"):
    return Order(number, [Item(*item) for item in items])


def score(reference, predicted, metric=METRIC):
    return ts.evaluate(metric, [reference], [predicted])


# autoevals zips lists by position: a reversed list scores 0. openevals: .667 or .833, depending on the order.


def test_the_order_of_items_changes_nothing():
    items = [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 9.0)]
    reference = order(("a", 1.0), ("b", 2.0), ("c", 4.0), ("x", 9.0))
    rows = {score(reference, order(*shuffled)).rows.tobytes() for shuffled in itertools.permutations(items)}
    assert len(rows) == 1
    assert score(order(*items), order(*items[::-1])).f1 == 1


# stickler: recall 1.0 when one of two gold items is found.


def test_recall_is_a_half_when_one_of_two_is_found():
    metric = ts.derive(list[Item], credit="each")
    result = score([Item("a", 1.0), Item("b", 2.0)], [Item("a", 1.0)], metric)
    assert (result.precision, result.recall) == (1, 0.5)
    row = result.by_field()[0]
    assert (row.support, row.missing, row.figures["recall"]) == (2, 1, 0.5)


# stickler: both empty, overall 1.0 but F1 0.


@pytest.mark.parametrize(("undefined", "expected"), [(None, None), (0.0, 0.0), (1.0, 1.0)])
def test_empty_against_empty_is_what_the_policy_says_everywhere(undefined, expected):
    metric = ts.derive(list[Item], credit="each")
    result = ts.evaluate(metric, [[]], [[]], undefined=undefined)
    assert result.figures == dict.fromkeys(("precision", "recall", "f1"), expected)
    assert {row.figures["f1"] for row in result.by_field()} == {expected}
    assert result.documents[0]["f1"] == expected
    assert result.exact == 1


# stickler: a threshold after the assignment, F1 .5 where a matching with F1 1 exists.


def test_thresholds_come_before_matching():
    @dataclass
    class Tags:
        tags: list[Annotated[str, ts.at_least(ts.text("levenshtein"), 0.6)]]

    # By similarity alone (ab, abc) .67 and (xyz, ...) pull the wrong way; only one assignment passes twice.
    metric = ts.derive(Tags, credit="each")
    rng = random.Random(1)
    for _ in range(200):
        left = ["".join(rng.choices("ab", k=rng.randint(1, 5))) for _ in range(3)]
        right = ["".join(rng.choices("ab", k=rng.randint(1, 5))) for _ in range(3)]
        from rapidfuzz.distance import Levenshtein

        best = max(
            sum(Levenshtein.normalized_similarity(a, b) >= 0.6 for a, b in zip(left, one, strict=True))
            for one in itertools.permutations(right)
        )
        assert score(Tags(left), Tags(right), metric).tally["num_p"] == best


def test_what_is_below_the_threshold_does_not_take_the_place_of_what_passes():
    similarity = ts.at_least(ts.text("levenshtein"), 0.7)
    reference, predicted = ["abcd", "abcdefgh"], ["abcdef", "abc"]
    # abcd-abcdef .67, abcd-abc .75, abcdefgh-abcdef .75, abcdefgh-abc .375
    result = ts.evaluate(ts.f1(ts.match(similarity)), [reference], [predicted])
    assert result.f1 == 1


# stickler: reports match again instead of showing what was scored. Here one matching feeds all.


def test_score_fields_explanation_and_differences_come_from_one_matching():
    rng = random.Random(3)
    for _ in range(50):
        sides = [
            order(*((rng.choice("abcd"), float(rng.randint(1, 3))) for _ in range(rng.randint(0, 5)))) for _ in range(2)
        ]
        result = score(*sides)
        tree = result.explain(0)
        fields = result.by_field()
        assert tree.weight == result.tally["num_p"] == sum(row.tally["num_p"] for row in fields)
        assert sum(row.tally["den_r"] for row in fields) == result.tally["den_r"]
        found = differences(tree)
        assert sum(one.what == "wrong" for one in found) == sum(row.wrong for row in fields)
        assert sum(2 * (one.what == "missing") for one in found) == sum(row.missing for row in fields)


# anls_star: below its own optimum in 42 of 300 random cases.


def test_the_matching_is_the_optimum():
    metric = ts.f1(ts.match(ts.each(name=ts.text("levenshtein"), price=ts.exact)))
    rng = random.Random(4)

    def items():
        return [{"name": "".join(rng.choices("abc", k=3)), "price": rng.randint(1, 2)} for _ in range(4)]

    def alike(x, y):
        return ts.evaluate(metric, [[x]], [[y]]).tally["num_p"]

    for _ in range(20):
        left, right = items(), items()
        table = [[alike(x, y) for y in right] for x in left]
        best = max(sum(table[k][j] for k, j in enumerate(p)) for p in itertools.permutations(range(4)))
        assert ts.evaluate(metric, [left], [right]).tally["num_p"] == pytest.approx(best)


# One bad record must not end the run, and must not vanish.


def test_an_invalid_prediction_scores_nothing_and_stays():
    from tallystick.engine.values import Invalid

    whole = order(("a", 1.0), ("b", 2.0))
    result = ts.evaluate(METRIC, [whole, whole, order(number="2")], [whole, Invalid("cut off"), Invalid("no answer")])
    assert result.rows.tolist() == [[5, 5, 5, 5], [0, 0, 0, 5], [0, 0, 0, 2]]  # an empty list counts, as against {}
    assert result.exact_documents == 1
    assert {row.path: row.missing for row in result.by_field()} == {
        "number": 2,
        "items[*].name": 2,
        "items[*].price": 2,
        "items": 1,
    }
    assert "the prediction is invalid: cut off" in str(result.explain(1))
    assert differences(result.explain(1))[0].what == "invalid"


def test_an_invalid_prediction_is_not_exact_even_if_nothing_was_wanted():
    from tallystick.engine.values import Invalid

    assert ts.evaluate(ts.derive(list[int]), [[]], [Invalid("no answer")]).exact == 0
