"""Values at the edge of what a similarity is for. The engine once got each of these wrong."""

import datetime
import math

import numpy as np
import pytest

import tallystick as ts
from tallystick.engine import Bag, Index, Record
from tallystick.errors import MetricError, ValueMismatch


def weight(node, x, y):
    return ts.evaluate(node, [x], [y]).tally["num_p"]


def test_an_infinity_is_near_itself_only():
    for node in (ts.number(), ts.number(1e300), ts.number(relative=0.5)):
        assert weight(node, math.inf, math.inf) == 1
        assert weight(node, math.inf, -math.inf) == weight(node, math.inf, 1e308) == weight(node, 0, -math.inf) == 0


def test_a_difference_that_rounds_to_the_tolerance_is_within_it():
    assert abs(-6e-17 - 1) <= 1
    assert weight(ts.number(1), -6e-17, 1) == 1


def test_a_number_too_large_for_a_float_is_an_error_with_a_path():
    with pytest.raises(ValueMismatch, match=r"at \[\*\]: a number is too large"):
        weight(ts.match(ts.number(1)), [10**400], [1])


def test_a_microsecond_is_a_difference():
    noon = datetime.datetime(2024, 5, 31, 12)
    later = noon + datetime.timedelta(days=2, microseconds=1)
    assert weight(ts.date(), noon, noon + datetime.timedelta(microseconds=1)) == 0
    assert weight(ts.date(2), noon, later) == 0
    assert weight(ts.date(2), noon, later - datetime.timedelta(microseconds=1)) == 1


def test_moments_in_different_time_zones():
    assert weight(ts.date(), "2024-05-31T12:00:00+02:00", "2024-05-31T10:00:00+00:00") == 1


@pytest.mark.parametrize("text", ["", " ", "..."])
def test_a_text_without_words_equals_itself(text):
    assert weight(ts.text("token_set"), text, text) == 1


def test_a_type_without_levels_equals_itself_and_no_other():
    assert weight(ts.levels(), (), ()) == 1
    assert weight(ts.levels(), (), ("A",)) == 0


def test_arrays_of_different_kinds_are_compared_as_python_does():
    def bag(*values):
        return Bag([0, len(values)], np.array(values))

    metric = ts.match(ts.exact)
    for other, expected in (([True, False], 0), (["1", "0"], 0), ([1.0, 0.5], 1), ([0, 1], 2)):
        assert ts.evaluate(metric, bag(1, 0), bag(*other)).tally["num_p"] == expected


def test_a_text_field_that_is_an_index_column_in_a_sum():
    column = Record({"id": np.array([1, 2]), "name": Index([1, 0], np.array(["ab", "ax"]))})
    metric = ts.match(ts.each(id=ts.exact, name=ts.text("levenshtein")))
    assert ts.evaluate(metric, Bag([0, 2], column), Bag([0, 2], column)).tally["num_p"] == 4


def test_a_product_of_exact_and_dense_fields_counts_every_block():
    items = [{"id": k, "name": "ab"} for k in range(3)]
    assert weight(ts.match(ts.record(id=ts.exact, name=ts.text("levenshtein"))), items, items) == 3


def test_weights_for_values_without_a_hash():
    assert weight(ts.weigh(ts.exact, {("a", 1): 3.0}), ["a", 1], ["a", 1]) == 3


def test_a_dict_may_be_distinct():
    assert weight(ts.match(ts.record(key=ts.exact, value=ts.exact), distinct=True), {"a": 1}, {"a": 1, "b": 1}) == 1


def test_a_judgement_about_values_that_hold_a_boolean():
    assert weight(ts.judgements({((1, True), (1, 1)): 0.5}), (1, True), (1, 1)) == 0.5
    assert weight(ts.judgements({(True, False): 0.25}), True, False) == 0.25


class Judge:
    def __call__(self, x, y):
        return 2.0


def test_an_object_that_can_be_called_is_a_function_with_a_name():
    metric = ts.match(ts.function(Judge()))
    assert str(metric).endswith(":Judge), 1:1)")
    with pytest.raises(MetricError, match=r"Judge\('a', 'b'\) gave 2"):
        weight(metric, ["a"], ["b"])


@pytest.mark.parametrize("batch", [0, -1])
def test_a_batch_below_one_is_an_error(batch):
    with pytest.raises(MetricError, match="batch must be 1 or more"):
        ts.evaluate(ts.match(ts.exact), [["a"]], [["a"]], batch=batch)


def test_no_documents_are_no_error():
    result = ts.evaluate(ts.f1(ts.match(ts.exact)), [], [])
    assert result.f1 is None
    assert result.documents == {}


def test_merged_parts_keep_their_documents_apart():
    one, two = ts.Evaluation(ts.match(ts.exact)), ts.Evaluation(ts.match(ts.exact))
    one.update([["a"]], [["a"]])
    two.update({"x": ["b"]}, {"x": []})
    two.update([["c"]], [["d"]])
    one.merge(two)
    result = one.compute()
    assert result.ids == (0, "x", 2)
    assert result.explain(2).reference == ["c"]


# Records that can be hashed are compared by what they hold, too.


def test_a_frozen_record_with_nan_equals_itself_and_true_is_not_one():
    import dataclasses

    import msgspec

    @dataclasses.dataclass(frozen=True)
    class Point:
        x: object

    class Struct(msgspec.Struct, frozen=True):
        x: object

    metric = ts.f1(ts.match(ts.exact))
    for kind in (Point, Struct):
        nan = [kind(float("nan"))], [kind(float("nan"))]
        assert ts.evaluate(metric, [nan[0]], [nan[1]]).f1 == 1
        assert ts.evaluate(metric, [[kind(True)]], [[kind(1)]]).f1 == 0
        assert ts.evaluate(metric, [[kind((1, True))]], [[kind((1, 1))]]).f1 == 0


def test_a_record_with_an_equality_of_its_own_keeps_it():
    import dataclasses

    @dataclasses.dataclass(frozen=True, eq=False)
    class Name:
        text: str

        def __eq__(self, other):
            return self.text.lower() == other.text.lower()

        def __hash__(self):
            return hash(self.text.lower())

    assert ts.evaluate(ts.f1(ts.match(ts.exact)), [[Name("A")]], [[Name("a")]]).f1 == 1


def test_a_decimal_that_is_no_number_and_a_batch_that_is_no_number():
    from decimal import Decimal

    assert ts.equal(Decimal("NaN"), 1.5) == 0
    assert ts.equal(np.float32(1.5), np.float32(1.5)) == 1
    with pytest.raises(MetricError, match="batch must be 1 or more"):
        ts.evaluate(ts.f1(ts.match(ts.exact)), [["a"]], [["a"]], batch="x")
