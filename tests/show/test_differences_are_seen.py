"""Two values that are not the same never look the same: not in a report, not in `explain`."""

import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from running import invoke
from tallystick.cli.main import tallystick as command
from tallystick.results.tables import shorten_both
from tallystick.show.words import both_texts, cut_apart, tell_apart

LONG = "The quick brown fox. " * 20


@pytest.mark.parametrize(
    ("reference", "predicted", "shown"),
    [
        ("New York", "New  York", ("'New York'", "'New␣␣York'")),
        ("New York", "New York ", ("'New York'", "'New York␣'")),
        ("Rome", "Rome\u00a0", ("'Rome'", "'Rome\\xa0'")),
        ("a b", "a\tb", ("'a b'", "'a\\tb'")),
        (5, "5", ("5", "'5'")),
        (True, "true", ("True", "'true'")),
        (None, "–", ("None", "'–'")),
        ("Rome", "Ro\u200bme", ("'Rome'", "'Ro\\u200bme'")),
        ("caf\u00e9", "cafe\u0301", ("'caf\\xe9'", "'cafe\\u0301'")),
        ("Rome", "Roma", ("Rome", "Roma")),
    ],
)
def test_values_that_read_alike_are_told_apart(reference, predicted, shown):
    assert both_texts(reference, predicted) == shown


def test_long_values_are_cut_around_the_first_difference():
    left, right = both_texts(LONG + "yes, at last", LONG + "no")
    assert (left[-13:], right[-3:]) == (" yes, at last", " no")
    assert left[:200] == right[:200]  # both from the same place on
    assert max(len(left), len(right)) == 300
    assert left[0] == right[0] == "…"
    assert [
        one.endswith(end) for one, end in zip(shorten_both(LONG + "yes", LONG + "no"), (" yes'", " no'"), strict=True)
    ] == [True, True]


@given(st.text("ab \t\u00a0", max_size=60), st.text("ab \t\u00a0", max_size=60), st.integers(8, 20))
@example("a" * 30, "a" * 31, 8)
def test_two_texts_look_alike_only_if_they_are(left, right, longest):
    for words in (str, repr):
        shown = tell_apart(left, right, longest, words)
        assert (shown[0] == shown[1]) == (left == right)
        assert all(len(one) <= longest for one in shown)


@given(st.text("ab", max_size=40), st.text("ab", max_size=40), st.integers(4, 12))
def test_lines_are_cut_where_both_stand(left, right, longest):
    first, second = cut_apart(left, right, longest)
    assert first.strip("…") in left
    assert second.strip("…") in right
    assert (first == second) == (left == right)


def test_in_the_report_and_in_explain(tmp_path):
    accents = unicodedata.normalize("NFD", "é")
    sides = {
        "gold": {"id": 1, "city": "New York", "n": 5, "note": LONG + "yes", "accent": "é", "same": "x"},
        "guess": {"id": 1, "city": "New  York", "n": "5", "note": LONG + "no", "accent": accents, "same": "x"},
    }
    schema = {"type": "object", "properties": {name: {"type": ["string", "integer"]} for name in sides["gold"]}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    for name, value in sides.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(value))
    files = [str(tmp_path / name) for name in ("gold.jsonl", "guess.jsonl", "schema.json")]
    common = ["records", files[0], files[1], "--schema", files[2], "--equality", "exact"]
    page = tmp_path / "page.html"
    done = invoke(command, ["score", *common, "--report", str(page)])
    assert done.returncode == 0, done.output
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    rows = {row[0]: row[5:7] for row in data["aligned"]["0"]["tree"][7]}
    assert rows["same"] == ["x", 0]
    assert rows["city"] == ["'New York'", "'New␣␣York'"]
    assert rows["n"] == ["5", "'5'"]
    assert rows["accent"] == ["'\\xe9'", "'e\\u0301'"]
    assert [text[-5:] for text in rows["note"]] == [". yes", "x. no"]
    for arguments in ([], ["--format", "table"], ["--format", "tsv", "--worst", "1"]):
        said = invoke(command, ["explain", *common, *arguments]).output
        for seen in ("'New␣␣York'", "'5'", " yes'", " no'", "'e\\u0301'"):
            assert seen in said, (arguments, seen)
