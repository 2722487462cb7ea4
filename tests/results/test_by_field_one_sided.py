"""The figures by field under one-sided constraints: a row that is in several pairs counts once."""

import pytest

import tallystick as ts

GOLD, SYSTEM = ["a", "a", "b"], ["a", "c"]


@pytest.mark.parametrize("similarity", [ts.exact, ts.text("levenshtein")])
@pytest.mark.parametrize(
    ("constraint", "gold", "system"), [("1:N", GOLD, SYSTEM), ("N:1", SYSTEM, GOLD), ("N:1", ["a"], ["a", "a"])]
)
def test_they_are_those_of_the_whole(similarity, constraint, gold, system):
    result = ts.evaluate(ts.f1(ts.each(tags=ts.match(similarity, constraint))), [{"tags": gold}], [{"tags": system}])
    (row,) = result.by_field()
    assert row.tally == result.tally
    covered = ("num_p", "num_r")[constraint == "1:N"]
    assert (row.wrong, row.similarity) == (0, 1)
    assert row.aligned == result.tally[covered]
    assert row.missing == len([one for one in gold if one not in system])
    assert row.extra == len([one for one in system if one not in gold])


@pytest.mark.parametrize("weight", [0.5, 2, 3.7])
@pytest.mark.parametrize(("similarity", "alike"), [(ts.exact, 1 / 2), (ts.text("levenshtein"), 1.8 / 2)])
def test_the_similarity_is_that_of_the_pairs_whatever_the_weight(similarity, alike, weight):
    gold, system = [{"a": "lamp"}] * 3, [{"a": "lamp"}, {"a": "lamps"}, {}]
    metric = ts.f1(ts.each(a=ts.weighted(ts.optional(similarity), weight)))
    (row,) = ts.evaluate(metric, gold, system).by_field()
    assert (row.similarity, row.aligned, row.missing) == (pytest.approx(alike), 2, 1)
    assert row.tally["num_p"] == pytest.approx(2 * alike * weight)
