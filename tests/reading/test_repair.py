"""JSON as language models write it."""

import pytest

from tallystick.reading.repair import Unreadable, read_noisy

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
