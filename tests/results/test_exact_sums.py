"""Sums that do not depend on order or grouping, and what follows from them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine.tally import add_up, merged, rounded
from tallystick.errors import MetricError

FLOATS = st.one_of(
    st.floats(-1e300, 1e300, allow_nan=False), st.floats(0, 1), st.integers(-5, 5).map(float),
    st.sampled_from([5e-324, -5e-324, 2.0**-1022, 0.1, 0.2, 0.3, -0.0]),
)  # fmt: skip
ROWS = st.lists(st.tuples(FLOATS, FLOATS), max_size=30)


def array(rows):
    return np.array(rows, np.float64).reshape(-1, 2)


@given(ROWS)
def test_sums_are_those_of_fractions_rounded_once(rows):
    expected = [float(sum((Fraction(row[k]) for row in rows), Fraction(0))) for k in range(2)]
    assert rounded(add_up(array(rows))).tolist() == expected


@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 7))
def test_any_order_and_any_split_give_the_same_integers(rows, random, step):
    whole = add_up(array(rows))
    random.shuffle(rows)
    parts = [add_up(array(rows[k : k + step])) for k in range(0, len(rows), step)]
    total = (0, 0)
    for part in parts:
        total = merged(total, part)
    assert total == whole


@given(st.lists(FLOATS, max_size=50))
def test_they_are_what_fsum_gives(values):
    assert rounded(add_up(np.array(values)[:, None]))[0] == math.fsum(values)


def test_large_counts_stay_whole():
    rows = np.full((100_000, 1), 2.0**52 + 1)
    assert add_up(rows)[0] == 100_000 * (2**52 + 1) << 1074


def test_what_is_not_finite_is_an_error_and_so_is_a_sum_beyond_all_floats():
    with pytest.raises(MetricError, match="finite"):
        add_up(np.array([[math.inf]]))
    with pytest.raises(MetricError, match="larger than any float"):
        rounded(merged(add_up(np.array([[1.7e308]])), add_up(np.array([[1.7e308]]))))
