from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine.native import compiled
from tallystick.files import lines
from tallystick.files.table import PADDING, Numbering, _number_ranges


def number(numbering, strings):
    block = b"".join(strings) + PADDING
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) for string in strings], dtype=np.int64)
    return numbering.number(block, starts, ends).tolist()


def check(numbering, strings, codes):
    """Distinct strings have distinct numbers, without gaps."""
    assert [numbering.strings[code] for code in codes] == strings
    assert len(set(numbering.strings)) == len(numbering.strings) == len(set(strings))


field = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b"x")) | st.sampled_from(
    [b"", b"O", b"B", b"B-creati", b"B-creative-work", b"I-creative-work", b"B-creative-workB-creative-work"]
)


@given(st.lists(field), st.lists(field))
def test_each_string_has_its_number(first, second):
    numbering = Numbering()
    codes = number(numbering, first) + number(numbering, second)
    check(numbering, first + second, codes)


def test_many_distinct_strings():
    strings = [f"word-{i % 7000}-{'x' * (i % 30)}".encode() for i in range(30_000)]
    numbering = Numbering()
    check(numbering, strings, number(numbering, strings))


@given(st.lists(field | st.binary(min_size=30, max_size=80), max_size=60))
def test_the_compiled_numbers_are_those_of_python(strings):
    native = compiled()
    if native is None:
        pytest.skip("no compiled part")
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) for string in strings], dtype=np.int64)
    data = b"".join(strings) + PADDING
    ours, theirs = native.number_ranges(data, starts, ends - starts), _number_ranges(data, starts, ends - starts)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_the_compiled_numbers_of_many_are_those_of_python():
    """So many different ones that the table grows several times."""
    native = compiled()
    if native is None:
        pytest.skip("no compiled part")
    strings = [f"{k * 7919 % 30_011}{'x' * (k % 40)}".encode() for k in range(60_000)]
    lengths = np.array([len(string) for string in strings], np.int64)
    starts, data = np.cumsum(lengths) - lengths, b"".join(strings) + PADDING
    for one, other in zip(
        native.number_ranges(data, starts, lengths), _number_ranges(data, starts, lengths), strict=True
    ):
        np.testing.assert_array_equal(one, other, strict=True)


@given(st.lists(st.sampled_from(["a", "é", "\n", "𝄞", "x" * 50])), st.binary(max_size=3), st.integers(0, 60))
def test_utf8_is_found_a_piece_at_a_time(parts, broken, place):
    data = "".join(parts).encode()
    data = data[:place] + broken + data[place:]
    try:
        data.decode()
        expected = True
    except UnicodeDecodeError:
        expected = False
    for size in (1, 7, 1000):
        with mock.patch.object(lines, "CHECKED", size):
            assert lines.is_utf8(data) == expected
