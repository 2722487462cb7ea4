import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.reading.fields import PADDING
from tallystick.reading.numbering import Numbering


def number(numbering, strings):
    block = b"".join(strings) + PADDING
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) for string in strings], dtype=np.int64)
    return numbering.number(block, starts, ends).tolist()


def plain(strings):
    table = {}
    return [table.setdefault(string, len(table)) for string in strings], list(table)


field = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b"x")) | st.sampled_from(
    [b"", b"B-creati", b"B-creative-work", b"I-creative-work", b"B-creative-workB-creative-work"]
)


@given(st.lists(field), st.lists(field))
def test_equals_a_dict(first, second):
    numbering = Numbering()
    codes = number(numbering, first) + number(numbering, second)
    assert (codes, numbering.strings) == plain(first + second)


def test_many_distinct_strings():
    strings = [f"word-{i % 7000}-{'x' * (i % 30)}".encode() for i in range(30_000)]
    numbering = Numbering()
    assert (number(numbering, strings), numbering.strings) == plain(strings)
