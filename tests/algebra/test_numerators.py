"""The sums that a normaliser divides: one S where there is one, two where a constraint is one-sided."""

from __future__ import annotations

import pytest

from tallystick import (
    TallystickError,
    each,
    evaluate,
    exact,
    f1,
    function,
    jaccard,
    match,
    optional,
    parse,
    via,
    weighted,
)

THREE_ON_ONE = ["a"], ["a", "a", "a"]


def test_a_nested_f_is_divided_once() -> None:
    # 2S / (n + m), to the last bit; by way of P and R it would be rounded three times, and a threshold miss.
    sizes = [(n, m, s) for n in range(1, 12) for m in range(1, 12) for s in range(1, min(n, m) + 1)]
    references = [[list(range(n))] for n, _, _ in sizes]
    predictions = [[[*range(s), *range(-1, s - m - 1, -1)]] for _, m, s in sizes]
    result = evaluate(f1(match(f1(match(exact)))), references, predictions)
    assert result.rows[:, 0].tolist() == [2 * s / (n + m) for n, m, s in sizes]


def test_one_sided_below_a_sum_of_fields_is_covered() -> None:
    reference, predicted = THREE_ON_ONE
    metric = f1(each(x=match(exact, "N:1"), y=match(exact)))
    result = evaluate(metric, [{"x": reference, "y": ["b", "c"]}], [{"x": predicted, "y": ["b"]}])
    # x: 3 of 3 predicted, 1 of 1 reference; y: 1 of 1 and 1 of 2.
    assert result.tally == {"num_p": 4, "den_p": 4, "num_r": 2, "den_r": 3}


def test_one_sided_in_a_field_that_may_be_missing() -> None:
    reference, predicted = THREE_ON_ONE
    metric = f1(each(x=optional(match(exact, "N:1")), y=exact))
    references = [{"x": None, "y": 1}, {"x": reference, "y": 1}]
    predictions = [{"x": predicted, "y": 1}, {"x": predicted, "y": 2}]
    result = evaluate(metric, references, predictions)
    assert result.rows.tolist() == [[1, 4, 1, 1], [3, 4, 1, 2]]


def test_one_sided_under_a_weight_or_a_map() -> None:
    reference, predicted = THREE_ON_ONE
    assert evaluate(f1(weighted(match(exact, "N:1"), 2)), [reference], [predicted]).recall == 1
    assert evaluate(f1(via(sorted, match(exact, "N:1"))), [reference], [predicted]).recall == 1


def test_one_sided_when_documents_are_one_object() -> None:
    # The engine scores a repeated object once; what is counted must not depend on it.
    reference, predicted = THREE_ON_ONE
    result = evaluate(f1(match(exact, "N:1")), [reference] * 100, [predicted] * 100)
    assert result.figures == {"precision": 1, "recall": 1, "f1": 1}


def test_jaccard_needs_one_numerator_below_a_sum_too() -> None:
    with pytest.raises(TallystickError, match="one numerator"):
        jaccard(each(x=match(exact, "N:1")))
    assert parse("jaccard(each(x=match(exact, N:1, literal=True)))")


@pytest.mark.parametrize(("constraint", "turned"), [("N:1", False), ("1:N", True)])
def test_a_prediction_covers_one_reference_only(constraint: str, turned: bool) -> None:
    # Two references, one prediction that equals both: under N:1 it may take only one of them.
    sides = [["a", "a"]], [["a"]]
    result = evaluate(f1(match(exact, constraint)), *(reversed(sides) if turned else sides))
    assert result.tally == (
        {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 1} if turned else {"num_p": 1, "den_p": 1, "num_r": 1, "den_r": 2}
    )


def within(reference: str, predicted: str) -> float:
    return float(reference in predicted)


def test_what_is_covered_does_not_depend_on_ties() -> None:
    # p1 is like r1 and r2, p2 like r1 only. Whichever p1 takes first, both references can be covered.
    metric = f1(match(function(within), "N:1"))
    for predicted in (["rs", "r"], ["r", "rs"]):
        for reference in (["r", "s"], ["s", "r"]):
            assert evaluate(metric, [reference], [predicted]).tally["num_r"] == 2
