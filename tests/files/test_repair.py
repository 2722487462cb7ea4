"""JSON as language models write it."""

import json

import pytest

from tallystick.files.json_values import Unreadable, read_noisy

GOOD = {"a": 1, "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        ('{"a": 1, "b": ["x", "y"]}', ()),
        ('```json\n{"a": 1, "b": ["x", "y"]}\n```', ("code fence",)),
        ('```\n{"a": 1, "b": ["x", "y"]}', ("code fence",)),
        ('Sure!\n```json\n{"a": 1, "b": ["x", "y"]}\n```\nAnything else?', ("code fence", "text around the JSON")),
        ('The answer is {"a": 1, "b": ["x", "y"]}. Done.', ("text around the JSON",)),
        ('I used {placeholders} first: {"a": 1, "b": ["x", "y"]}', ("text around the JSON",)),
    ],
)
def test_what_needs_no_mending(text, repairs):
    assert read_noisy(text) == (GOOD, repairs)


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ('{"a": 1, "b": ["x", "y",],}', GOOD, ("trailing comma",)),
        ('```json\n{"a": 1, "b": ["x", "y"],}\n```', GOOD, ("code fence", "trailing comma")),
        ('{"a": 1, "b": ["x", "y', GOOD, ("cut off",)),
        ("{'a': 1, 'b': ['x', 'y']}", GOOD, ("malformed JSON",)),
        ('Here: {"a": 1, "b": ["x"', {"a": 1, "b": ["x"]}, ("text around the JSON", "cut off")),
    ],
)
def test_what_is_mended(text, value, repairs):
    pytest.importorskip("json_repair")
    assert read_noisy(text) == (value, repairs)


@pytest.mark.parametrize("text", ["", "   ", "I could not find an invoice.", "N/A"])
def test_what_holds_no_json(text):
    with pytest.raises(Unreadable):
        read_noisy(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "tags":', {"a": 1}),
        ('{"a": 1, "tags": "', {"a": 1}),
        ('{"a": 1, "b": nul', {"a": 1}),
        ('{"a": 1, "b": [{"c": 2}, {"d', {"a": 1, "b": [{"c": 2}]}),
        ('{"a": 1, "b": "x', {"a": 1, "b": "x"}),
        ("{'a': 'x, y", {"a": "x, y"}),
    ],
)
def test_a_key_whose_value_was_cut_off_is_not_there(text, value):
    assert read_noisy(text) == (value, ("cut off",))


def test_wherever_a_text_is_cut_off_nothing_is_invented():
    whole = {
        "a": "xy",
        "b": True,
        "c": None,
        "d": [{"e": 'q"r', "f": -12}, {"e": "s:t,u"}],
        "g": {"h": ["i\\", 7, False, "é", -1.5, None]},
        "j": {},
    }
    text = json.dumps(whole)

    def within(part, of):
        if isinstance(of, dict):
            return part.keys() <= of.keys() and all(within(part[key], of[key]) for key in part)
        if isinstance(of, list):
            return len(part) <= len(of) and all(map(within, part, of))
        if isinstance(of, bool) or of is None:
            return part is of
        return isinstance(part, str) == isinstance(of, str) and str(of).startswith(str(part)) and part != ""

    for end in range(1, len(text)):
        try:
            found = read_noisy(text[:end])[0]
        except Unreadable:
            continue
        assert within(found, whole), text[:end]


@pytest.mark.parametrize(
    "text",
    [
        '{salary:{min:50000,max:6e4,currency:"EUR, a: b"},ok:true,gone:null}',
        '{ salary : {min: 50000, max:6e4,"currency":"EUR, a: b"}, ok: true,gone :null }',
    ],
)
def test_keys_without_quotation_marks_leave_their_values_as_they_are(text):
    value, repairs = read_noisy(text)
    assert value == {"salary": {"min": 50000, "max": 6e4, "currency": "EUR, a: b"}, "ok": True, "gone": None}
    assert type(value["salary"]["min"]) is int
    assert repairs
