"""Ways around listing every pair: the same figures as by listing them all."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.algebra import numbers

VALUE = st.one_of(
    st.integers(-6, 6).map(float),
    st.integers(-30, 30).map(lambda n: n / 10),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-320, 1.7e308, 0.1 + 0.2, 0.3]),
)
LISTS = st.lists(st.tuples(st.lists(VALUE, max_size=9), st.lists(VALUE, max_size=9)), min_size=1, max_size=3)
TOLERANCES = st.sampled_from([0, 1e-12, 0.1, 0.25, 0.5, 1, 2]), st.sampled_from([0, 1e-12, 0.01, 0.1, 0.3, 0.5, 0.9])


@settings(max_examples=200, deadline=None)
@given(sides=LISTS, absolute=TOLERANCES[0], relative=TOLERANCES[1])
def test_numbers_matched_in_order_are_as_many_as_by_listing_all_pairs(sides, absolute, relative):
    number = ts.number(absolute=absolute, relative=relative)
    left, right = [a for a, _ in sides], [b for _, b in sides]
    items = [[[{"v": v, "k": k % 2} for k, v in enumerate(one)] for one in side] for side in (left, right)]
    record = ts.match(ts.record(k=ts.exact, v=number))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "LEAST_ROWS", 1 << 40)
        listed = ts.evaluate(ts.f1(ts.match(number)), left, right), ts.evaluate(ts.f1(record), *items)
        patch.setattr(numbers, "LEAST_ROWS", 0)
        patch.setattr(numbers, "FEW_PAIRS", 0)
        in_order = ts.evaluate(ts.f1(ts.match(number)), left, right), ts.evaluate(ts.f1(record), *items)
        for one, other in zip(listed, in_order, strict=True):
            assert one.rows.tobytes() == other.rows.tobytes()
        for document, (ours, theirs) in enumerate(sides):
            pairs = [one for one in in_order[0].explain(document).children if one.weight > 0]
            assert len(pairs) == in_order[0].rows[document][0]
            for one in pairs:
                a, b = ours[one.places[0]], theirs[one.places[1]]
                assert (
                    a == b
                    or (math.isnan(a) and math.isnan(b))
                    or abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))
                )


def test_many_numbers_are_matched_without_a_list_of_pairs(monkeypatch):
    """3,000 numbers, all of them close to each other, are 9 million pairs."""
    monkeypatch.setattr(numbers.Number, "near_pairs", None)
    left, right = ([1000 + k / 3000 + by for k in range(3000)] for by in (0, 0.0001))
    assert ts.evaluate(ts.f1(ts.match(ts.number(relative=0.01))), [left], [right[:-1]]).rows.tolist() == [
        [2999, 2999, 2999, 3000]
    ]
