"""Encodings, byte order marks, line ends and NUL bytes, for every reader alike."""

import re

import pytest

from fuzzing.targets import TARGETS
from robustness.reading import READERS, outcome

LINES = sorted(name for name, target in READERS.items() if not target.is_json)


@pytest.fixture(autouse=True)
def quiet(capsys):
    yield
    capsys.readouterr()


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_utf_8_is_said_to_be(name, tmp_path):
    target = READERS[name]
    text = target.seeds[0].decode()
    assert "UTF-16" in outcome(target, text.encode("utf-16"), tmp_path)
    assert "UTF-16" in outcome(target, text.encode("utf-16-le"), tmp_path)
    assert "UTF-16" in outcome(target, text.encode("utf-16-be"), tmp_path)
    first = next(k for k, sign in enumerate(text) if sign.isalpha() and k > 20)
    broken = f"{text[:first]}é{text[first + 1 :]}".encode("latin-1", "replace")
    assert "is not UTF-8" in outcome(target, broken, tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_a_nul_byte_is_named(name, tmp_path):
    target = READERS[name]
    seed = target.seeds[0]
    said = outcome(target, seed[: len(seed) // 2] + b"\0" + seed[len(seed) // 2 :], tmp_path)
    assert "NUL byte" in said or "is not JSON: invalid character" in said


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_and_the_line_ends_of_windows_change_nothing(name, tmp_path):
    target = READERS[name]
    seed = target.seeds[0]
    assert outcome(target, seed, tmp_path) == "read"
    assert outcome(target, b"\xef\xbb\xbf" + seed, tmp_path) == "read"
    if target.suffix != ".ann":  # where the text is beside it, offsets count its line ends
        assert outcome(target, seed.replace(b"\n", b"\r\n"), tmp_path) == "read"


@pytest.mark.parametrize("name", LINES)
def test_line_ends_of_the_old_macintosh_are_not_one_long_line(name, tmp_path):
    target = READERS[name]
    seed = target.seeds[-1] if target.seeds[-1].count(b"\n") > 1 else target.seeds[0]
    if seed.count(b"\n") > 1:
        assert "end with CR alone" in outcome(target, seed.replace(b"\n", b"\r"), tmp_path)


def test_several_records_between_crs_are_not_one(tmp_path):
    said = outcome(READERS["records"], b'{"a": 1}\r{"a": 2}\r', tmp_path)
    assert "found '{\"a\":' after the value (do lines end with CR alone? convert them to LF)" in said


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_an_error_unless_it_says_that_nothing_was_annotated(name, content, tmp_path):
    target = READERS[name]
    said = outcome(target, content, tmp_path)
    nothing_to_say = target.suffix == ".ann" or name == "judgements"  # no answers to take over are none
    assert (said == "read") == nothing_to_say


@pytest.mark.parametrize("name", [name for name, target in READERS.items() if target.is_json])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b'"\\ud800"', "surrogate"),
        (b'"\\ud800', "is not"),
        (b"1e999999999", "out of range"),
        (b"9" * 5000, "out of range"),
        (b"NaN", "is not"),
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
    ],
)
def test_values_that_no_json_has(name, value, message, tmp_path):
    said = outcome(READERS[name], b'{"id": "a", "x": ' + value + b"}\n", tmp_path)
    if name == "records-lenient" and "has no field 'output'" in said:
        return  # from Python 3.14 on C reads so many levels, and looks at no value but this
    if READERS[name].suffix != ".yaml":
        assert message in said
    else:
        assert said != "read"


@pytest.mark.parametrize(
    "line", ["Ça va".encode("latin-1"), "words".encode("utf-16"), "words".encode("utf-16-le"), b"a\0b"]
)
def test_what_a_model_wrote_is_utf_8_too(line, tmp_path):
    lines = [b'{"id": "%d", "calls": []}' % number for number in range(4)]
    said = outcome(TARGETS["calls-logged"], b"\n".join([*lines, line]), tmp_path)
    assert re.search(
        r"input\.jsonl:5: is not (UTF-8|JSON in UTF-8)|input\.jsonl:5: is UTF-16|input\.jsonl:5:\d+: is not JSON", said
    )
