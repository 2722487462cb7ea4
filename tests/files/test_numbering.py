import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.files.table import PADDING, Numbering


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
