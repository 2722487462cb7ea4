import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.files import json_values
from tallystick.files.json_values import DEEPEST, NotJson, decode, read_data, refuse_deep, try_decode


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "[]" + "}" * (levels - 1)


@pytest.mark.parametrize("made", [str, str.encode])
def test_json_that_is_nested_too_deeply_is_refused_on_every_python(made):
    with pytest.raises(NotJson, match="is nested too deeply"):
        decode(made(nested(3000)))
    assert try_decode(made(nested(3000))) is None
    assert try_decode(made(nested(300))) is not None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 the decoder counts levels itself")
def test_levels_are_counted_outside_of_texts_only():
    refuse_deep(nested(DEEPEST))
    with pytest.raises(RecursionError):
        refuse_deep(nested(DEEPEST + 1))
    with pytest.raises(RecursionError):  # closed first, and far apart
        refuse_deep("[" + "[]," * 500_000 + nested(DEEPEST) + "]")
    refuse_deep("[" + ",".join(["[]"] * 500_000) + "]")
    for text in ("[" * 3000, '\\"' + "{" * 3000, "]" * 3000 + "[" * 3000):
        refuse_deep(f'["{text}", "{text}"]')


@pytest.mark.parametrize(
    ("line", "found"), [(b'{"a": 1},', ","), (b'{"a": 1}}\n', "}"), (b'{"a": 1} {"b": 2}', '{"b":')]
)
def test_what_is_behind_a_value_is_shown_where_it_begins(line, found):
    with pytest.raises(NotJson, match=re.escape(f"is not JSON: found {found!r} after the value")) as error:
        decode(line)
    assert error.value.column == line.rindex(found.encode()) + 1


@given(st.text('":\t a\n\r\\', max_size=60).map(str.encode))
def test_marks_of_keys_are_the_same_whichever_way_they_are_counted(data):
    expected = len(re.findall(rb'"[ \t\r\n]*:', data))
    assert json_values.key_marks(data) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "LONG", 0)
        assert json_values.key_marks(data) == expected


def test_yaml_says_no_to_norway_and_to_keys_that_stand_twice(tmp_path):
    file = tmp_path / "choices.yaml"
    file.write_text(
        "country: {aliases: {NO: [Norway, yes], DE: [Germany]}}\nopen: {optional: true}\nbase: &b {a: 1}\nc: {<<: *b, d: off}\n"
    )
    assert read_data(file) == {
        "country": {"aliases": {"NO": ["Norway", "yes"], "DE": ["Germany"]}},
        "open": {"optional": True}, "base": {"a": 1}, "c": {"a": 1, "d": "off"},
    }  # fmt: skip
    file.write_text("city: exact\nx: 1\ncity: equal\n")
    with pytest.raises(InputError, match=r"choices.yaml:3:1: .*has the key 'city' twice in one object"):
        read_data(file)
