import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine import native
from tallystick.engine.native import compiled
from tallystick.files import conllu, source, table
from tallystick.files.table import (
    PADDING,
    Numbering,
    _hash_ranges,
    _number_ranges,
    find_line_ends,
    hash_ranges,
    take_ranges,
)


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
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) for string in strings], dtype=np.int64)
    data = b"".join(strings) + PADDING
    theirs = _number_ranges(data, starts, ends - starts)
    for kind in (np.int64, np.int32):
        ours = part.number_ranges(data, starts.astype(kind), ends - starts)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
    order = starts[::-1]
    np.testing.assert_array_equal(
        part.take_ranges(data, order, (ends - starts)[::-1]),
        take_ranges(data, order, (ends - starts)[::-1]),
        strict=True,
    )


@given(st.lists(st.binary(max_size=40)))
def test_the_compiled_hashes_and_lines_are_those_of_python(strings):
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    length = np.array([len(string) for string in strings], np.int64)
    start, data = np.cumsum(length) - length, b"".join(strings)
    np.testing.assert_array_equal(part.hash_ranges(data, start, length), _hash_ranges(data, start, length), strict=True)
    lines = data.replace(b"a", b"\n").replace(b"\0", b"\n" * 70)
    np.testing.assert_array_equal(part.find_line_ends(lines), find_line_ends(lines), strict=True)


@given(st.lists(st.binary(max_size=40), min_size=1), st.data())
def test_every_byte_and_the_length_count_in_a_hash(strings, data):
    """The hash of a string does not depend on what is around it, and another one has another: one byte of it, one more, one less."""
    at = data.draw(st.integers(0, len(strings) - 1))
    place = data.draw(st.integers(0, len(strings[at])))
    for changed in (strings[at][:place] + b"\0" + strings[at][place:], strings[at][:place] + strings[at][place + 1 :],
                    strings[at][:place] + b"#" + strings[at][place + 1 :]):  # fmt: skip
        sides = [*strings], [*strings[:at], changed, *strings[at + 1 :]]
        lengths = [np.array([len(string) for string in side], np.int64) for side in sides]
        hashes = [
            hash_ranges(b"".join(side), np.cumsum(length) - length, length)
            for side, length in zip(sides, lengths, strict=True)
        ]
        assert [one == other for one, other in zip(*hashes, strict=True)] == [
            one == other for one, other in zip(*sides, strict=True)
        ]


@given(st.lists(field.map(lambda data: data.replace(b"\n", b"x")) | st.sampled_from([b"O", b"X", b"E"]), min_size=1))
@pytest.mark.parametrize("places", [1, 12])
def test_lines_have_the_numbers_of_their_fields(places, strings):
    """With the compiled part or without it, and if it gives up because there are too many different lines."""
    data = b"".join(string + b"\n" for string in strings)
    plain, fast = Numbering(), Numbering()
    codes = number(plain, strings)
    with mock.patch.object(table, "MANY", 0), mock.patch.object(native, "_LINE_BITS", places):
        assert fast.number_lines(data, len(strings)).tolist() == codes
        assert fast.number_lines(data, len(strings) - 1) is None
        assert fast.number_lines(data, len(strings) + 1) is None
    assert fast.strings == plain.strings


_line = st.sampled_from([b"", b"#", b"# text = a\tb", b"#" + b"\t" * 12, b"1", b"1\t" * 10]) | st.lists(
    st.sampled_from([b"", b"1", b"w\xc3\xb6rt", b"x" * 70]), min_size=10, max_size=10
).map(b"\t".join)


@given(st.lists(_line, max_size=30))
def test_the_compiled_rows_are_those_of_python(lines):
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    data = np.frombuffer(b"".join(line + b"\n" for line in (b"#", *lines)), np.uint8)
    *ours, fields = part.cut_rows(data, conllu._PIECE_OF)
    *theirs, expected = conllu._cut_rows(data)
    assert fields == expected
    for one, other in zip(ours[: 3 if fields == 10 else 2], theirs, strict=False):
        np.testing.assert_array_equal(one, other)


def test_the_compiled_numbers_of_many_are_those_of_python():
    """So many different ones that the table grows several times."""
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    strings = [f"{k * 7919 % 30_011}{'x' * (k % 40)}".encode() for k in range(60_000)]
    lengths = np.array([len(string) for string in strings], np.int64)
    starts, data = np.cumsum(lengths) - lengths, b"".join(strings) + PADDING
    for one, other in zip(
        part.number_ranges(data, starts, lengths), _number_ranges(data, starts, lengths), strict=True
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
        with mock.patch.object(source, "CHECKED", size):
            assert source.is_utf8(data) == expected
    part = compiled()
    assert part is None or part.is_utf8(data) == expected


def test_every_two_bytes_at_the_edge_of_64_are_checked_as_python_does():
    part = compiled()
    if part is None:
        pytest.skip("no compiled part")
    for before, first, behind in itertools.product((0, 62, 63), range(128, 256), range(4)):
        for second in range(256):
            data = b"x" * before + bytes([first, second]) + b"\x80" * behind
            assert part.is_utf8(data) == (data.decode("utf-8", "ignore").encode() == data), data
