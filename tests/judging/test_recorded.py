"""A store as a judge: whose answers decide, and that they count as they did when they were given."""

import json
import zlib
from dataclasses import replace

import pytest
from endpoint import serving
from sample import QUESTIONS

from tallystick.errors import InputError
from tallystick.files.pairing import pair_values
from tallystick.judging import Judgement, Store, Verdict
from tallystick.judging.recorded import Recorded, judge_named
from tallystick.structures.texts import ArgumentDocument, DescribedEvent, EventArgument
from tallystick.tasks.arguments import metrics as arguments
from tallystick.tasks.arguments.metrics import ArgumentOptions
from tallystick.tasks.arguments.stages import _troubles

WORDS = tuple("abcdefghijklmnop")
LABELS = ("Correct", "Correct", "Partial", "Incorrect")


def document(*said):
    """One event with roles; each argument is a role and the place of its word."""
    return ArgumentDocument(
        tuple(EventArgument("e", role, WORDS[k], (k, k)) for role, k in said),
        tokens=WORDS,
        events=(DescribedEvent("e", "attack", "p", (15, 15)),),
    )


PAIRS = pair_values(
    [document(("x", 0), ("x", 1), ("y", 2), ("z", 3), ("z", 4), ("z", 5), ("v", 6))],
    [
        document(
            ("x", 0), ("x", 7), ("x", 8), ("y", 9), ("y", 10), ("z", 11), ("z", 12), ("z", 13), ("w", 14), ("v", 6), ("v", 0)
        )
    ],
)  # fmt: skip


def answer(body, number):
    said = body["messages"][-1]["content"]
    return json.dumps({"label": LABELS[zlib.crc32(said.encode()) % 4], "explanation": ""})


@pytest.mark.parametrize("reference", ["yes", "no"])
@pytest.mark.parametrize("partial", [0.0, 0.5, 1.0])
def test_a_models_answers_give_the_same_figures_from_the_store_as_from_the_model(tmp_path, reference, partial):
    pytest.importorskip("openai", reason="the client is not installed: pip install 'tallystick[llm]'")
    options = ArgumentOptions(partial=partial)
    open_ = arguments.open_questions({"": arguments.score(PAIRS)})
    with serving(answer) as endpoint:
        asked = f"llm:m?base_url={endpoint.url}&reference={reference}"
        with Store(tmp_path / "asked.sqlite") as store:
            store.add_questions(open_)
            judge_named(asked, store=store).judge(open_)  # what `judge ask` does
        live = arguments.score(PAIRS, options, judge=judge_named(asked, store=tmp_path / "live.sqlite"))
    for name in ("asked.sqlite", "live.sqlite"):
        found = arguments.score(PAIRS, options, judge=judge_named(str(tmp_path / name)))
        assert found.results["judge"].sums.tolist() == live.results["judge"].sums.tolist()
        assert (found.coverage.open, found.coverage.judged) == (live.coverage.open, live.coverage.judged)
        assert found.coverage.asks == live.coverage.asks == ("pairs" if reference == "yes" else "alone")
        assert found.blocks == live.blocks


def test_whole_questions_that_a_model_answered_elsewhere_count_as_they_say(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add(Judgement(QUESTIONS[5], "gpt", Verdict("Correct", (0, 1))), kind="model")
        found = Recorded(store)
    assert (found.asks, found.judge([QUESTIONS[5]])) == ("all", [Verdict("Correct", (0, 1))])


def test_what_models_said_does_not_join_what_people_decided(tmp_path):
    first, second, third = QUESTIONS[:3]
    with Store(tmp_path / "j.sqlite") as store:
        store.add_all(
            [Judgement(first, "anna", Verdict("Correct", (0,))), Judgement(second, "anna", Verdict("Incorrect"))]
        )
        before = Recorded(store)
        store.add_all([Judgement(one, "gpt", Verdict("Partial", (0,)), "v1") for one in QUESTIONS[:3]], "model")
        after = Recorded(store)
        assert after.judge([first, second, third]) == [Verdict("Correct", (0,)), Verdict("Incorrect"), None]
        assert before.signature == after.signature
        assert before.signature.startswith("recorded(j.sqlite, person anna, 2 judgements, ")
        assert before.notes == []
        assert after.notes == [
            "3 judgements of models are there and do not count unless asked for by name or kind (3 of gpt@v1)"
        ]
        for named in ({"kind": "model"}, {"judge": "gpt"}, {"judge": "gpt@v"}, {"judge": "gpt", "version": "v1"}):
            assert Recorded(store, **named).judge([first, third]) == [Verdict("Partial", (0,))] * 2
        assert Recorded(store, kind="model").signature.startswith("recorded(j.sqlite, model gpt@v1, 3 judgements, ")
        with pytest.raises(InputError, match="'anna' is a person here, not a model"):
            Recorded(store, "anna", kind="model")
        with pytest.raises(InputError, match="nothing was judged there by a version 'v2'; there are v1"):
            Recorded(store, "gpt", "v2")
        with pytest.raises(InputError, match=r'found \'modle\'. Did you mean "model"'):
            Recorded(store, kind="modle")


def test_where_no_person_has_judged_models_decide_and_it_is_said(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        store.add_judge("anna")  # who has not begun
        store.add(Judgement(QUESTIONS[0], "gpt", Verdict("Partial", (0,))), "model")
        found = Recorded(store)
    assert found.judge(QUESTIONS[:1]) == [Verdict("Partial", (0,))]
    assert found.notes == ["no person has judged there"]


def test_another_verdict_is_another_signature(tmp_path):
    with Store(tmp_path / "j.sqlite") as store:
        assert Recorded(store).signature == "recorded(j.sqlite, nobody yet)"
        seen = set()
        for label in ("Correct", "Partial"):
            store.add(Judgement(QUESTIONS[0], "anna", Verdict(label, (0,))))
            seen.add(Recorded(store).signature)
        store.add(Judgement(QUESTIONS[1], "ben", Verdict("Correct")))
        seen.add(Recorded(store).signature)
        assert any(one.startswith("recorded(j.sqlite, persons anna+ben, 2 judgements") for one in seen)
    assert len(seen) == 3


def test_models_that_were_asked_in_different_ways_are_not_mixed(tmp_path):
    shown = QUESTIONS[0].only(0)
    with Store(tmp_path / "j.sqlite") as store:
        for asked, version in ((shown, "expert 1"), (shown.without_references(), "expert-without-reference 2")):
            said = Verdict("Correct", (0,) if asked.references else ())
            store.add(Judgement(asked, "gpt", said, version, details={"answer": "Correct"}), "model")
        with pytest.raises(InputError, match=r"asked in different ways.*about each reference: gpt@expert 1; without"):
            Recorded(store)
        assert Recorded(store, "gpt", "expert").asks == "pairs"
        assert Recorded(store, "gpt", "expert-").asks == "alone"


def test_what_was_judged_otherwise_is_said(tmp_path):
    changed = [replace(QUESTIONS[0], document=QUESTIONS[0].document + " ."), replace(QUESTIONS[1], references=("b",))]
    with Store(tmp_path / "j.sqlite") as store:
        store.add_all([Judgement(one, "anna", Verdict("Correct")) for one in QUESTIONS[:2]])
        found = Recorded(store)
    assert found.judge([*changed, *QUESTIONS[:3]]) == [None, None, Verdict("Correct"), Verdict("Correct"), None]
    assert found.elsewhere == {one.key for one in changed}
    assert any("2 questions without a verdict, though the same candidate" in one for one in _troubles(found))


def test_a_plus_in_a_name_is_a_plus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store("a+b c.sqlite") as store:
        store.add(Judgement(QUESTIONS[0], "anna+ben", Verdict("Correct")))
    for spec in ("a+b c.sqlite?judge=anna+ben", "a+b c.sqlite?judge=anna%2Bben"):
        assert judge_named(spec).judge(QUESTIONS[:1]) == [Verdict("Correct")]
