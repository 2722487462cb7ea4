"""An answer that cannot be read, or that is not there, is worth what the answer `{}` is worth, whichever way it comes in."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallystick as ts
from running import run

WORDS = st.lists(st.sampled_from("abc"), max_size=2)
INNER = st.fixed_dictionaries({"city": st.sampled_from("xy"), "lists": WORDS, "more": WORDS})
GOLD = st.lists(
    st.fixed_dictionaries(
        {
            "title": st.sampled_from(["Nurse", "Cook", None]),
            "skills": WORDS,
            "place": st.none() | INNER,
            "lines": st.lists(st.fixed_dictionaries({"sku": st.sampled_from("pq"), "tags": WORDS}), max_size=2),
        }
    ),
    min_size=1,
    max_size=4,
)
FULL = {"title": "Cook", "skills": ["a"], "place": {"city": "x", "lists": ["a"], "more": ["b"]}, "lines": [{"sku": "p", "tags": ["a"]}]}  # fmt: skip
UNREADABLE = "I do not know"
FIELDS = ("support", "missing", "extra", "wrong", "tally")


def tallies(result):
    return result.tally, {row.path: [getattr(row, name) for name in FIELDS] for row in result.by_field() if row.support}


@settings(max_examples=60, deadline=None)
@given(GOLD, st.data())
def test_in_memory(some, data):
    gold = {f"d{k}": one for k, one in enumerate([FULL, *some])}
    silent = data.draw(st.sets(st.sampled_from(sorted(gold)), min_size=1))
    answers = {key: "{}" if key in silent else json.dumps(one) for key, one in gold.items()}
    empty = ts.score(gold, answers)["records"]
    invalid = ts.score(gold, {**answers, **dict.fromkeys(silent, UNREADABLE)})["records"]
    assert tallies(invalid) == tallies(empty)
    if len(answers) - len(silent) > 1:
        absent = {key: one for key, one in answers.items() if key not in silent}
        assert tallies(ts.score(gold, absent, missing="empty")["records"]) == tallies(empty)
    counted = {path: group.count for path, group in empty.grouped_errors().fields.items()}
    assert {path: group.count for path, group in invalid.grouped_errors().fields.items()} == counted
    for key in gold:
        trees = [result.explain(key) for result in (empty, invalid)]
        assert len({tree.reference_self for tree in trees}) == 1
    lists = [list(side.values()) for side in (gold, answers)]
    silent_list = [UNREADABLE if key in silent else one for key, one in answers.items()]
    assert ts.rewards(lists[0], silent_list) == ts.rewards(*lists)
    judge = ts.scorer()
    for one in gold.values():
        pair = ts.score([one], [UNREADABLE])["records"]
        assert pair.tally == ts.score([one], ["{}"])["records"].tally
        assert judge(one, UNREADABLE) == judge(one, "{}")


@settings(max_examples=60, deadline=None)
@given(GOLD)
def test_an_object_that_is_absent_is_an_empty_object(gold):
    """What is empty inside of an object counts whether the answer has `{}` there or nothing, unless the object itself is all empty."""
    gold = [FULL, *gold]
    with_place = [{**one, "place": {"city": "y", "lists": [], "more": []}} for one in gold]
    absent, empty = ([{**one, "place": value} for one in with_place] for value in (None, {}))
    assert ts.score(with_place, absent)["records"].tally == ts.score(with_place, empty)["records"].tally


@pytest.mark.parametrize("jobs", [[], ["--jobs", "2"]])
def test_in_files(tmp_path, jobs):
    gold = [{"id": 1, **FULL}, {"id": 2, "title": "Nurse", "skills": [], "place": {"city": "x", "lists": [], "more": []}, "lines": []}]  # fmt: skip
    gold += [{**gold[1], "id": 3 + k} for k in range(40)]
    reference = tmp_path / "gold.jsonl"
    reference.write_text("".join(json.dumps(one) + "\n" for one in gold))
    found = []
    for name, say in {"empty": {"output": "{}"}, "invalid": {"output": UNREADABLE}, "absent": None}.items():
        lines = [{"id": 1, "output": json.dumps(gold[0])}, *({"id": one["id"], **say} for one in gold[1:] if say)]
        predicted = tmp_path / f"{name}.jsonl"
        predicted.write_text("".join(json.dumps(one) + "\n" for one in lines))
        options = ["--missing", "empty", "--lenient", "--from", "output", "--format", "json", "--by", "field", *jobs]
        done = run("score", "records", str(reference), str(predicted), *options)
        assert done.returncode == 0, done.stderr
        whole = json.loads(done.stdout)
        found.append((whole["metrics"], whole["fields"]))
    assert found[0] == found[1] == found[2]
    assert found[0][0]["records"]["tally"]["den_r"] == 7 + 41 * 6
