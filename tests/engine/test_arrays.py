"""The routines that everything is made of, against the plain ones of NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine.arrays import Members, among, distinct

numbers = st.lists(st.integers(-5, 5) | st.integers(-(2**62), 2**62)).map(lambda found: np.array(found, np.int64))


@given(numbers)
def test_different_values_are_those_of_numpy(values):
    assert distinct(values).tolist() == np.unique(values).tolist()


@given(numbers, numbers)
def test_what_is_among_others_is_what_numpy_says(values, known):
    assert among(values, np.sort(known)).tolist() == np.isin(values, known).tolist()


@given(st.lists(st.integers(0, 6), max_size=30))
def test_the_rows_of_each_group(groups):
    members = Members(np.array(groups, np.int64), 7)
    assert [members[k].tolist() for k in range(7)] == [
        [row for row, group in enumerate(groups) if group == k] for k in range(7)
    ]
