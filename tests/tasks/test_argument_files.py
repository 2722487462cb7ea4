"""Arguments from files: every format of events, plain JSON with and without places, and what is wrong with them."""

import json

import pytest

import tallystick as ts
from tallystick.errors import InputError
from tallystick.structures.texts import EventArgument
from tallystick.tasks.arguments.files import read_arguments, read_pair

TOKENS = ["The", "rebels", "attacked", "Homs", "with", "the", "old", "mortars"]


def write(folder, name, *records):
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def nested(**more):
    event = {
        "id": "e1",
        "type": "attack",
        "trigger": {"start": 2, "end": 3},
        "arguments": [{"role": "place", "start": 3, "end": 4}],
    }
    return {"id": "d", "tokens": TOKENS, "events": [{**event, **more}]}


def only(found):
    (document,) = found.documents.values.values()
    return document


def test_nested(tmp_path):
    document = only(read_arguments(write(tmp_path, "gold.jsonl", nested())))
    assert document.arguments == (EventArgument("e1", "place", "Homs", (3, 3)),)
    assert (document.events[0].trigger, document.events[0].span) == ("attacked", (2, 2))


def test_flat_predictions_with_and_without_places(tmp_path):
    gold = read_arguments(write(tmp_path, "gold.jsonl", nested()))
    items = [{"event": "e1", "role": "place", "text": "Homs"}, {"event": "e1", "role": "place", "start": 3, "end": 4}]
    system = read_arguments(write(tmp_path, "system.jsonl", {"id": "d", "arguments": items}), reference=gold)
    assert only(system).arguments == (
        EventArgument("e1", "place", "Homs"),
        EventArgument("e1", "place", "Homs", (3, 3)),
    )


def test_a_trigger_may_be_a_text(tmp_path):
    found = only(read_arguments(write(tmp_path, "gold.jsonl", nested(trigger="attacked"))))
    assert (found.events[0].trigger, found.events[0].span) == ("attacked", None)


def test_events_without_ids_are_known_by_their_triggers(tmp_path):
    gold = write(tmp_path, "gold.jsonl", nested())
    record = nested()
    del record["events"][0]["id"], record["tokens"]
    pairs = read_pair(gold, write(tmp_path, "system.jsonl", record))
    assert pairs.predicted[0].arguments == pairs.reference[0].arguments


def test_textee_against_wikievents(tmp_path):
    wiki = {
        "doc_id": "d", "tokens": TOKENS, "sentences": [[[[token, 0, 1] for token in TOKENS], "..."]],
        "entity_mentions": [{"id": "t1", "start": 0, "end": 2, "text": "The rebels"}],
        "event_mentions": [{"event_type": "attack", "trigger": {"start": 2, "end": 3}, "arguments": [{"entity_id": "t1", "role": "a"}]}],
    }  # fmt: skip
    textee = {
        "doc_id": "d",
        "wnd_id": "d",
        "trigger": [2, 3, "attack", "attacked"],
        "arguments": [[1, 2, "a", "rebels"]],
    }
    gold, system = write(tmp_path, "gold.jsonl", wiki), write(tmp_path, "system.json", textee)
    pairs = read_pair(gold, system)
    assert [one.text for one in pairs.reference[0].arguments] == ["The rebels"]
    assert [one.text for one in pairs.predicted[0].arguments] == ["rebels"]
    assert pairs.reference[0].arguments[0].event == pairs.predicted[0].arguments[0].event
    assert pairs.reference[0].sentences == (0,) * 8
    stripped = read_pair(gold, system, strip_articles=True)
    assert stripped.reference[0].arguments[0] == stripped.predicted[0].arguments[0]
    other = read_pair(system, system, tokens=gold)
    assert other.reference[0].tokens == tuple(TOKENS)
    assert other.reference[0].sentences == (0,) * 8


def test_rams(tmp_path):
    gold = {
        "doc_key": "d", "sentences": [TOKENS[:4], TOKENS[4:]], "evt_triggers": [[2, 2, [["attack", 1.0]]]],
        "gold_evt_links": [[[2, 2], [3, 3], "evt001arg01place"]],
    }  # fmt: skip
    system = {"doc_key": "d", "predictions": [[[2, 2], [6, 7, "evt001arg02instrument", 1.0]]]}
    pairs = read_pair(write(tmp_path, "gold.jsonl", gold), write(tmp_path, "system.jsonl", system))
    assert pairs.reference[0].tokens == tuple(TOKENS)
    (one,), (two,) = pairs.reference[0].arguments, pairs.predicted[0].arguments
    assert (one.text, two.text, one.event == two.event) == ("Homs", "old mortars", True)


def test_an_empty_generated_argument_has_no_place(tmp_path):
    textee = {"doc_id": "d", "wnd_id": "d", "trigger": [2, 3, "attack", "attacked"], "arguments": [[3, 3, "a", ""]]}
    plain = {
        "id": "d",
        "events": [
            {"type": "attack", "trigger": {"start": 2, "end": 3}, "arguments": [{"role": "a", "start": 3, "end": 3}]}
        ],
    }
    for reference in (textee, plain):
        gold = json.loads(
            json.dumps(reference).replace("3, 3,", "3, 4,").replace('"end": 3}]', '"end": 4, "text": "x"}]')
        )
        known = read_arguments(write(tmp_path, "gold.json", gold))
        for system in (textee, plain):
            found = read_arguments(write(tmp_path, "system.json", system), reference=known)
            assert only(found).arguments == (EventArgument("attack@2-2", "a", ""),)
            with pytest.raises(InputError, match=r"arguments\[0\]: expected a span with .* found 3 to 3"):
                read_arguments(write(tmp_path, "gold.json", system))


def test_texts_that_are_not_those_of_their_tokens_are_counted(tmp_path):
    item = {"role": "place", "start": 3, "end": 4, "text": "Aleppo"}
    found = read_arguments(write(tmp_path, "gold.jsonl", nested(arguments=[item])))
    assert only(found).arguments[0].text == "Homs"
    assert "1 argument does not say what its tokens say" in found.documents.warnings[0]
    assert "'Aleppo' at tokens 3 to 3, which say 'Homs'" in found.documents.warnings[0]
    fine = {"role": "place", "start": 6, "end": 8, "text": "OLD  mortars"}
    assert not read_arguments(write(tmp_path, "gold.jsonl", nested(arguments=[fine]))).documents.warnings


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (
            nested(arguments=[{"role": "place", "start": 7, "end": 9}]),
            r"gold.jsonl:1: events\[0\].arguments\[0\]: .*role place: tokens 7 to 8 lie outside the document, which has 8 tokens",
        ),
        (nested(trigger={"start": 8, "end": 9}), r"events\[0\].trigger: tokens 8 to 8 lie outside the document"),
        (nested(arguments=[{"role": "place", "start": 3, "end": 3}]), "at least one token, found 3 to 3"),
        (nested(arguments=[{"role": "place"}]), r"arguments\[0\]: an argument needs its 'text', or 'start' and 'end'"),
        (nested(arguments=[{"text": "Homs"}]), "has no 'role'"),
        ({**nested(), "tokens": None}, "has no text, and the document has no tokens in which it could be read"),
        ({"id": "d", "events": [{"type": "attack"}]}, "an event needs an 'id', or a 'trigger' with 'start' and 'end'"),
        ({"id": "d", "events": [{"id": 1}, {"id": 1}]}, "duplicate event '1'"),
        ({**nested(), "arguments": [{"role": "place", "text": "Homs"}]}, "the role 'place' belongs to no event"),
        (
            {**nested(), "arguments": [{"role": "place", "event": "e2", "text": "Homs"}]},
            r'gold.jsonl:1: arguments\[0\].event: there is no event \'e2\' in the document \'d\'; there are "e1"',
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path, record, says):
    with pytest.raises(InputError, match=says):
        read_arguments(write(tmp_path, "gold.jsonl", record))


def test_offsets_outside_of_the_document_in_other_formats(tmp_path):
    gold = write(tmp_path, "gold.jsonl", nested())
    textee = {
        "doc_id": "d",
        "wnd_id": "d",
        "trigger": [2, 3, "attack", "attacked"],
        "arguments": [[7, 12, "place", "x"]],
    }
    with pytest.raises(
        InputError, match=r"system.json:1: document 'd', event e1, role place: tokens 7 to 11 lie outside"
    ):
        read_pair(gold, write(tmp_path, "system.json", textee))


GOLD = {
    "id": "d",
    "tokens": ["The", "rebels", "attacked", "a", "village"],
    "events": [
        {"id": "e1", "type": "attack", "trigger": (2, 3), "arguments": {"attacker": (0, 2), "target": [(3, 5)]}}
    ],
}
FORMS = {
    "by role": {"attacker": (0, 2), "target": (3, 5)},
    "lists": [(0, 2, "attacker"), (3, 5, "target")],
    "objects": [{"role": "attacker", "start": 0, "end": 2}, {"role": "target", "start": 3, "end": 5}],
}
TRIGGERS = {"pair": (2, 3), "object": {"start": 2, "end": 3}}


@pytest.mark.parametrize("task", [ts.arguments, ts.events])
@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("form", FORMS)
def test_what_python_takes_a_file_has_too(task, trigger, form, tmp_path):
    event = {"id": "e1", "type": "attack", "trigger": TRIGGERS[trigger], "arguments": FORMS[form]}
    document = {"id": "d", "tokens": GOLD["tokens"], "events": [event]}
    usual = {**document, "events": [{**event, "trigger": TRIGGERS["object"], "arguments": FORMS["objects"][:1]}]}
    sides = []
    for name, one in (("gold", usual), ("system", document)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(one) + "\n")
        sides.append(tmp_path / f"{name}.jsonl")
    in_memory, in_files = task([usual], [document]), task(*sides)
    assert {name: one.tally for name, one in in_memory.items()} == {name: one.tally for name, one in in_files.items()}
    assert next(iter(in_files.values())).recall == 1


def test_the_example_of_the_page_in_a_file(tmp_path):
    (tmp_path / "gold.jsonl").write_text(json.dumps(GOLD))
    found = ts.arguments(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl")
    assert found["exact"].tally == ts.arguments([GOLD], [GOLD])["exact"].tally
    assert found["exact"].f1 == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trigger": [2]}, r"gold\.jsonl:1: events\[0\]\.trigger: expected \(start, end\) or \(start, end, type\), found list \[2\]"),
        ({"trigger": [2, "x"]}, r"events\[0\]\.trigger: expected \(start, end\)"),
        ({"arguments": {"attacker": 5}}, r"events\[0\]\.arguments\.attacker: expected a text or \(start, end\), found int 5"),
        ({"arguments": [["a", "b"]]}, r"events\[0\]\.arguments\[0\]: which of \['a', 'b'\] is the role\?"),
        ({"arguments": "attacker"}, r"events\[0\]\.arguments: expected a list"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("task", [ts.arguments, ts.events])
def test_what_is_wrong_in_them_is_blamed(task, change, said, tmp_path):
    gold = {**GOLD, "events": [{**GOLD["events"][0], **change}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold))
    with pytest.raises(ts.TallystickError, match=said):
        task(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl")
