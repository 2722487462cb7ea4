"""Files of events: what is read from each format, and what is said of a bad one."""

import json

import pytest

import tallystick as ts
from tallystick.errors import InputError, SidesMismatch
from tallystick.structures import AnnotatedMention as M
from tallystick.structures import Argument, Event, Trigger
from tallystick.tasks.events.files import filled_slots, nearest, read_coreference, read_events

ONE = Event(Trigger(M(5, 5), "Attack"), [Argument(M(1, 2), "Agent")])


def write(path, rows):
    path.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


FORMATS = {
    "TextEE": {"doc_id": "d", "wnd_id": "d", "events": [{"trigger": [5, 6, "Attack", "x"], "arguments": [[1, 3, "Agent", "a b"]]}]},
    "TextEE by trigger": {"doc_id": "d", "wnd_id": "d", "trigger": [5, 6, "Attack", "x"], "arguments": [[1, 3, "Agent", "a b"]]},
    "WikiEvents": {
        "doc_id": "d", "tokens": ["w"] * 9, "sentences": [[[["w", 0, 1]] * 9, "..."]],
        "entity_mentions": [{"id": "T1", "start": 1, "end": 3}],
        "event_mentions": [{"event_type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": [{"entity_id": "T1", "role": "Agent"}]}],
    },
    "OmniEvent": {"id": "d", "text": "...", "events": [{"type": "Attack", "triggers": [
        {"trigger_word": "x", "position": [5, 6], "arguments": [{"role": "Agent", "mentions": [{"mention": "a b", "position": [1, 3]}]}]}]}]},
    "RAMS": {"doc_key": "d", "sentences": [["w"] * 4, ["w"] * 5], "evt_triggers": [[5, 5, [["Attack", 1.0]]]],
             "gold_evt_links": [[[5, 5], [1, 2], "evt001arg01Agent"]]},
    "plain": {"id": "d", "events": [{"type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": [{"role": "Agent", "start": 1, "end": 3}]}]},
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_the_same(tmp_path, name):
    (found,) = read_events(write(tmp_path / "a.jsonl", [FORMATS[name]])).values.values()
    assert found.events == (ONE,)


def test_brat_events_point_to_spans_and_to_other_events(tmp_path):
    ann = (
        "T1\tAgent 1 3\ta b\nT2\tAttack 5 6\tx\nT3\tDie 8 9\ty\nE1\tAttack:T2 Agent:T1 Agent2:T3\nE2\tDie:T3 Cause:E1\n"
    )
    first, second = read_events(write(tmp_path / "d.ann", ann)).values["d"].events
    assert [argument.role for argument in first.args] == ["Agent", "Agent"]
    assert second.args[0].mention == M(5, 5, "Attack")


def test_records_of_one_document_are_put_together(tmp_path):
    records = [FORMATS["TextEE by trigger"], {**FORMATS["TextEE by trigger"], "trigger": [7, 8, "Die", "y"]}]
    found = read_events(write(tmp_path / "a.jsonl", records))
    assert [len(document.events) for document in found.values.values()] == [2]


def test_rams_predictions_and_sentences(tmp_path):
    gold = read_events(write(tmp_path / "g.jsonl", [FORMATS["RAMS"]]))
    assert gold.values["d"].sentences == (0,) * 4 + (1,) * 5
    record = {"doc_key": "d", "predictions": [[[5, 5], [1, 2, "Agent", 0.9]]]}
    (event,) = read_events(write(tmp_path / "p.jsonl", [record])).values["d"].events
    assert (event.trig.type, event.args) == ("", ONE.args)


ONTOLOGY = {
    "Attack": {"template": "<arg1> attacked <arg2> using <arg3>", "roles": ["Attacker", "Target", "Instrument"]}
}
GENERATED = {
    "doc_id": "d", "tokens": ["the", "rebels", "and", "the", "army", "attacked", "towns", "with", "mortars", "near", "rebels"], "entity_mentions": [],
    "event_mentions": [{"event_type": "Attack", "trigger": {"start": 5, "end": 6}, "arguments": []}],
}  # fmt: skip


def test_generated_text_becomes_spans_again(tmp_path):
    gold = read_events(write(tmp_path / "g.jsonl", [GENERATED]))
    line = {"doc_key": "d", "predicted": " rebels and army attacked  <arg>  using mortars and tanks", "gold": ""}
    found = read_events(write(tmp_path / "p.jsonl", [line]), reference=gold, ontology=ONTOLOGY)
    (event,) = found.values["d"].events
    rebels, army, mortars, tanks = event.args
    assert [(a.role, a.mention.left) for a in (rebels, army, mortars)] == [
        ("Attacker", 1),
        ("Attacker", 4),
        ("Instrument", 8),
    ]
    assert tanks.mention.left < 0
    assert tanks.mention.text == "tanks"


def test_slots_and_nearest_words():
    assert filled_slots(["<arg1>", "a", "<arg2>"], ["x", "y", "a", "<arg>"]) == [("arg1", ["x", "y"])]
    assert filled_slots(["<arg1>", "a", "<arg2>"], ["<arg>", "a", "z"]) == [("arg2", ["z"])]
    assert nearest(["r"], ["r", "t", "x", "r"], 1, 2) == (0, 0)
    assert nearest(["q"], ["r"], 0, 1) is None


def test_generated_text_needs_templates_and_as_many_lines_as_events(tmp_path):
    gold = read_events(write(tmp_path / "g.jsonl", [GENERATED]))
    path = write(tmp_path / "p.jsonl", [{"doc_key": "d", "predicted": "x"}] * 2)
    with pytest.raises(InputError, match="--ontology"):
        read_events(path)
    with pytest.raises(SidesMismatch, match="2 lines for 'd', which has 1 events"):
        read_events(path, reference=gold, ontology=ONTOLOGY)


def test_coreference_by_ids_or_by_spans(tmp_path):
    gold = read_events(write(tmp_path / "g.jsonl", [FORMATS["WikiEvents"]]))
    path = write(tmp_path / "c.jsonl", [{"doc_key": "d", "clusters": [["T1", [7, 7]]]}])
    assert read_coreference(path, gold) == {"d": {(1, 2): "d#0", (7, 7): "d#0"}}
    with pytest.raises(InputError, match=r"c.jsonl:1: clusters\[0\]\[0\]: there is no mention 'T9'"):
        read_coreference(write(tmp_path / "c.jsonl", [{"doc_key": "d", "clusters": [["T9"]]}]), gold)
    with pytest.raises(InputError, match="the document 'e' is not in"):
        read_coreference(write(tmp_path / "c.jsonl", [{"doc_key": "e", "clusters": []}]), gold)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"doc_id": "d"}, "a.jsonl:1: expected an object with 'events'"),
        ({"doc_id": "d", "events": [{"trigger": [5, 6], "arguments": []}]}, r"events\[0\].trigger: expected \[start, end, type\]"),
        ({"doc_id": "d", "events": [{"trigger": [6, 5, "A"], "arguments": []}]}, r"events\[0\].trigger: expected a span"),
        ({"doc_id": "d", "events": [{"trigger": [5, 6, "A"], "arguments": [[1, "2", "r"]]}]}, r"arguments\[0\]\[1\]: expected a whole number"),
        ({"doc_id": "d", "events": [{"trigger": {"start": 1, "end": 2}}]}, r"events\[0\]: has no 'type'"),
        ({"doc_id": "d", "events": {}}, "events: expected a list"),
        ({"doc_id": "d", "event_mentions": [{"event_type": "A", "trigger": {"start": 1, "end": 2}, "arguments": [{"entity_id": "T", "role": "r"}]}]},
         "there is no entity mention 'T'"),
        ({"doc_id": "d", "event_mentions": [{"event_type": "A", "trigger": {"start": 1}}]}, r"event_mentions\[0\].trigger: has no 'end'"),
        ({"id": "d", "events": [{"type": "A", "triggers": [{"arguments": []}]}]}, r"events\[0\].triggers\[0\]: has no 'position'"),
        ({"doc_key": "d", "evt_triggers": [[1, 1, [["A", 1]]]], "gold_evt_links": [[[2, 2], [3, 3], "r"]]}, "there is no trigger at"),
        ({"doc_key": "d", "evt_triggers": [[1, 1]], "gold_evt_links": []}, r"evt_triggers\[0\]: expected \[start, end, "),
        ({"doc_key": "d", "predictions": [[[1, 1], [2, 2]]]}, r"predictions\[0\]\[1\]: expected \[start, end, role\]"),
    ],
)  # fmt: skip
def test_bad_input_is_named_with_its_place(tmp_path, record, message):
    with pytest.raises(InputError, match=message):
        read_events(write(tmp_path / "a.jsonl", [record]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T1\tA 0 1\tx\nE1\tAttack\n", "d.ann:2: expected `Type:T1 Role:T2"),
        ("T1\tA 0 1\tx\nE1\tAttack:T1 Agent:T5\n", "d.ann:2:20: there is no 'T5'"),
        ("*\tEquiv T1\n", "d.ann:1: expected"),
    ],
)
def test_bad_standoff(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_events(write(tmp_path / "d.ann", text))


EMPTY = {
    "TextEE": lambda end: {"trigger": [0, 1, "Attack"], "arguments": [[2, end, "Agent"]]},
    "plain": lambda end: {"type": "Attack", "trigger": {"start": 0, "end": 1}, "arguments": [{"role": "Agent", "start": 2, "end": end}]},
    "by role": lambda end: {"type": "Attack", "trigger": [0, 1], "arguments": {"Agent": [2, end]}},
}  # fmt: skip


@pytest.mark.parametrize("form", EMPTY)
def test_an_empty_argument_is_wrong_in_a_prediction_and_an_error_in_a_reference(tmp_path, form):
    """Systems that generate write some. The rule is the same in files and in Python, whatever the form."""
    full, empty = ([{"id": "d", "tokens": ["a", "b", "c"], "events": [EMPTY[form](end)]}] for end in (3, 2))
    gold, system = write(tmp_path / "gold.jsonl", full), write(tmp_path / "system.jsonl", empty)
    for results in (ts.events(full, empty), ts.events(gold, system)):
        for metric in ("arg_i", "arg_c"):
            assert results[metric].tally == {"num_p": 0, "den_p": 1, "num_r": 0, "den_r": 1}
        assert "d" in str(results.explain("d"))
        assert list(results.errors())
    for heads in ("last", "first"):
        at = [{"id": "d", "events": [{**EMPTY["plain"](2), "arguments": [{"role": "Agent", "start": 1, "end": 2}]}]}]
        assert ts.events(at, empty, heads=heads)["arg_c_head"].tally["num_p"] == 0
    for sides in ((empty, full), (system, gold)):
        with pytest.raises(InputError, match=r":1: events\[0\]\.arguments\[0\]: expected a span with .* 2 to 2"):
            ts.events(*sides)


HIRED = ["Ann", "hired", "Bob", "in", "Oslo", "on", "Monday", "after", "a", "long", "talk"]


def held(trigger, *arguments, **more):
    return {"events": [{"type": "Hire", "trigger": trigger, "arguments": list(arguments), **more}]}


def test_a_prediction_without_tokens_is_held_against_those_of_the_reference():
    gold = {"tokens": HIRED, **held({"start": 1, "end": 2, "text": "Hired"}, {"role": "boss", "start": 0, "end": 1})}
    outside = "lies outside the tokens of its document, the first in 0: tokens 1 to 199 of 11"
    for system in (held({"start": 1, "end": 200}), {"tokens": HIRED, **held({"start": 1, "end": 200})}):
        assert any(outside in note for note in ts.events([gold], [system])["tri_c"].notes)
    said = r"tokens \[1, 2\) say 'fired', but these tokens of the text are 'hired'; correct the offsets"
    for system in (
        held({"start": 1, "end": 2, "text": "fired"}),
        {"tokens": HIRED, **held({"start": 1, "end": 2, "text": "fired"})},
    ):
        with pytest.raises(ts.TallystickError, match=said):
            ts.events([gold], [system])
    with pytest.raises(ts.TallystickError, match="say 'Bob'"):
        ts.events([gold], [held({"start": 1, "end": 2}, {"role": "boss", "start": 0, "end": 1, "text": "Bob"})])
    fine = ts.events([gold], [held({"start": 1, "end": 2, "text": "hired"}, {"role": "boss", "start": 0, "end": 1})])
    assert (fine["arg_c"].f1, fine["arg_c"].notes) == (1.0, ())


def test_relations_too_have_their_offsets_held_against_the_tokens_of_the_reference():
    one, other = {"start": 0, "end": 1}, {"start": 40, "end": 41}
    gold = {"tokens": HIRED, "relations": [{"type": "hires", "subj": one, "obj": {"start": 2, "end": 3}}]}
    system = {"relations": [{"type": "hires", "subj": one, "obj": other}]}
    assert any("tokens 40 to 40 of 11" in note for note in ts.relations([gold], [system])["boundaries"].notes)


@pytest.mark.parametrize("key", ["participants", "roles", "argument_mentions"])
@pytest.mark.parametrize("task", ["events", "arguments"])
def test_arguments_under_another_key_are_an_error(task, key):
    listed = [{"role": "boss", "start": 0, "end": 1}]
    event = {"id": "e1", "type": "Hire", "trigger": {"start": 1, "end": 2}}
    gold = {"tokens": HIRED, "events": [{**event, "arguments": listed}]}
    for found in (listed, {"boss": [[0, 1]]}) if key != "argument_mentions" else (listed,):
        with pytest.raises(ts.TallystickError, match=f"has no 'arguments', but '{key}'; expected 'arguments'"):
            getattr(ts, task)([gold], [{"tokens": HIRED, "events": [{**event, key: found}]}])
    more = {"notes": ["a", "b"], "entities": [{"id": "x"}], "realis": {"kind": "actual"}, "participants": []}
    getattr(ts, task)([gold], [{"tokens": HIRED, "events": [{**event, **more}]}])
