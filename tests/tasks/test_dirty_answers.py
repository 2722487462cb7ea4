"""Documents as language models write them: what is wrong in them is an error with its line, or is told. Nothing is dropped without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tallystick as ts
from tallystick.errors import InputError

PLACE = {"start": 0, "end": 1}
ARGUMENT = {"role": "x", "start": 1, "end": 2}
EVENT = {"type": "A", "trigger": PLACE, "arguments": [ARGUMENT]}
DESCRIBED = {"id": "e", "type": "A", "arguments": [{"role": "x", "text": "b"}]}
RELATION = {"type": "r", "args": {"Task": [[0, 1]], "Method": [[2, 3]]}}
SCIREX = {
    "doc_id": "d",
    "coref": {"t": [[0, 1]], "m": [[2, 3]]},
    "n_ary_relations": [{"Task": "t", "Method": "m", "score": "s"}],
}


def events(*listed: Any, **more: Any) -> dict[str, Any]:
    return {"id": "d", "tokens": list("abcdef"), "events": list(listed), **more}


def omni(**of_trigger: Any) -> dict[str, Any]:
    return {"type": "A", "triggers": [{"position": [0, 1], **of_trigger}]}


def wiki(*ids: str) -> dict[str, Any]:
    mentions = [{"id": one, "start": 1 + k, "end": 2 + k} for k, one in enumerate(ids)]
    return {
        "doc_id": "d",
        "entity_mentions": mentions,
        "event_mentions": [{"event_type": "A", "trigger": PLACE, "arguments": []}],
    }


def rams(*triggers: Any) -> dict[str, Any]:
    return {"doc_key": "d", "sentences": [list("abc")], "evt_triggers": list(triggers), "gold_evt_links": []}


def nary(*relations: Any, **more: Any) -> dict[str, Any]:
    return {"id": "d", "relations": list(relations), **more}


MEANT = "which of them is meant? Give one"
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "two lists of arguments": ("events", events({**EVENT, "args": []}), f"events[0]: has 'arguments' beside 'args': {MEANT}"),
    "two types": ("events", events({**EVENT, "event_type": "B"}), f"events[0]: has 'type' beside 'event_type': {MEANT}"),
    "a type beside that of the trigger": ("events", events({"trigger": [0, 1, "A"], "type": "B"}), "events[0].type: expected the type of the trigger, 'A', found 'B'"),
    "one argument for several": ("events", events({"type": "A", "trigger": PLACE, "argument": [ARGUMENT]}), "events[0]: has no 'arguments', but 'argument'; expected 'arguments'"),
    "capitals": ("events", events({"type": "A", "trigger": PLACE, "Arguments": [ARGUMENT]}), "has no 'arguments', but 'Arguments'"),
    "two places": ("events", events({**EVENT, "arguments": [{**ARGUMENT, "mention": [3, 4]}]}), f"events[0].arguments[0]: has 'mention' beside 'start': {MEANT}"),
    "a trigger beside events": ("events", events(EVENT, trigger=[0, 1, "A"]), f"has 'events' beside 'trigger': {MEANT}"),
    "triggers beside events": ("events", events(EVENT, triggers=[]), f"has 'events' beside 'triggers': {MEANT}"),
    "two formats": ("events", events(EVENT, event_mentions=[]), f"has 'event_mentions' beside 'events': {MEANT}"),
    "triggers have no arguments": ("events", {"id": "d", "triggers": [[0, 1, "A"]], "arguments": [[1, 2, "x"]]}, f"has 'triggers' beside 'arguments': {MEANT}"),
    "OmniEvent: no triggers": ("events", events(omni(), {"type": "B", "triggers": []}), "events[1].triggers: expected a list of triggers, found []"),
    "OmniEvent: no mentions": ("events", events(omni(arguments=[{"role": "x", "mentions": []}])), "mentions: expected a list of mentions, found []"),
    "OmniEvent: arguments outside": ("events", events({**omni(), "arguments": [ARGUMENT]}), f"events[0]: has 'triggers' beside 'arguments': {MEANT}"),
    "WikiEvents: an id twice": ("events", wiki("m", "m"), "entity_mentions[1].id: the entity mention 'm' is a duplicate; ids must be unique"),
    "RAMS: a trigger twice": ("events", rams([0, 0, [["A", 1]]], [0, 0, [["B", 1]]]), "evt_triggers[1]: is a second event of this trigger; expected one"),
    "RAMS: two types": ("events", rams([0, 0, [["A", 1], ["B", 1]]]), "evt_triggers[0]: is a second event of this trigger; expected one"),
    "five numbers": ("events", events({**EVENT, "arguments": [{"role": "x", "mention": [0, 1, "A", 2, 3]}]}), "mention: expected [start, end] or [start, end, type], found"),
    "relations: two arguments": ("relations", {"id": "d", "relations": [{"type": "r", "subj": [0, 1], "head": [2, 3], "obj": [4, 5]}]}, f"relations[0]: has 'subj' beside 'head': {MEANT}"),
    "relations: four numbers": ("relations", {"id": "d", "relations": [{"type": "r", "subj": [0, 1, "A", 3], "obj": [4, 5]}]}, "relations[0].subj: expected [start, end] or [start, end, type], found [0,1,\"A\",3]"),
    "roles: a list among mentions": ("roles", {"id": "d", "roles": {"Weapon": [[["gun", "knife"]]]}}, 'roles.Weapon[0][0]: expected [text, offset], found ["gun","knife"]'),
    "templates: nothing": ("templates", {"id": "d", "templates": [{"type": "a", "slots": {}}, {}]}, "templates[1] has nothing; expected the type"),
    "doccano: two lists": ("spans", {"id": 1, "text": "Ada", "label": [[0, 3, "PER"]], "labels": []}, f"has 'label' beside 'labels': {MEANT}"),
    "predictions beside events": ("events", {"doc_key": "d", "events": [EVENT], "predictions": []}, f"has 'events' beside 'predictions': {MEANT}"),
    "arguments: two types": ("arguments", events({**DESCRIBED, "event_type": "B"}), f"events[0]: has 'type' beside 'event_type': {MEANT}"),
    "arguments: the path once": ("arguments", events({**DESCRIBED, "arguments": [{"role": None, "text": "b"}]}), "gold.jsonl:1: events[0].arguments[0].role: expected text, found null"),
    "no roles": ("nary", nary(RELATION, {"type": "r", "args": {}}), "relations[1].args: expected at least one role, found {}"),
    "four numbers": ("nary", nary({"args": {"Task": [[0, 1, 2, 3]]}}), "relations[0].args.Task[0]: expected [start, end], found [0,1,2,3]"),
    "two kinds of relations": ("nary", nary(RELATION, n_ary_relations=[]), f"has 'relations' beside 'n_ary_relations': {MEANT}"),
    "two kinds of clusters": ("nary", {**SCIREX, "clusters": {}}, f"has 'clusters' beside 'coref': {MEANT}"),
    "an unknown role": ("nary", {**SCIREX, "n_ary_relations": [{"Task": "t", "method": "m"}]}, 'expected some of the roles Material, Metric, Task, Method, found "Task", "method"'),
    "an unknown decision": ("nary", {"doc_id": "d", "clusters": {}, "predicted_relations": [[["a", "b", "c", "d"], 0.5, 2]]}, "predicted_relations[0][2]: expected 0 or 1, found 2"),
}  # fmt: skip


def score(task: str, tmp_path: Path, gold: Any, system: Any) -> Any:
    files = []
    for name, one in (("gold", gold), ("system", system)):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text(json.dumps(one) + "\n")
    return getattr(ts, task)(*files)


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_an_error_with_its_line(kind: str, tmp_path: Path) -> None:
    task, document, said = WRONG[kind]
    with pytest.raises(InputError) as caught:
        score(task, tmp_path, document, document)
    assert "gold.jsonl:1: " in str(caught.value)
    assert said in str(caught.value)


def test_a_document_of_templates_over_several_lines(tmp_path: Path) -> None:
    """It is no object that has a list of templates for each document."""
    document = {"id": "d", "templates": [{"type": "a", "slots": {"V": ["x"]}}]}
    for name, indent in (("gold", None), ("system", 1)):
        (tmp_path / name).write_text(json.dumps(document, indent=indent) + "\n")
    assert ts.templates(tmp_path / "gold", tmp_path / "system")["eq32"].f1 == 1


@pytest.mark.parametrize("layout", ["list", "list over lines", "object over lines"])
@pytest.mark.parametrize("task", ["spans", "hierarchies", "amr"])
def test_json_that_is_no_json_lines_is_taken_for_nothing_else(task: str, layout: str, tmp_path: Path) -> None:
    line = {"spans": {"text": "a", "spans": []}, "hierarchies": {"events": ["a"]}, "amr": {"triples": []}}[task]
    content = json.dumps([line] if "list" in layout else line, indent=1 if "lines" in layout else None)
    (tmp_path / "gold.json").write_text(content)
    assert len(next(iter(getattr(ts, task)(tmp_path / "gold.json", tmp_path / "gold.json").values())).ids) == 1
    if "list" in layout:  # a list of something else is no file of columns, of trees or of PENMAN either
        (tmp_path / "gold.json").write_text(json.dumps([1, 2], indent=1 if "lines" in layout else None))
        with pytest.raises(InputError, match="expected"):
            getattr(ts, task)(tmp_path / "gold.json", tmp_path / "gold.json")


@pytest.mark.parametrize(
    ("task", "document"),
    [
        ("events", events({**EVENT, "event_type": "A"})),
        ("events", events({"trigger": [0, 1, "A"], "type": "A", "args": [[1, 2, "x"]]})),
        ("events", events(omni(arguments=[{"role": "x", "mentions": [{"position": [1, 2]}]}]))),
        ("events", wiki("m", "n")),
        ("arguments", events({**DESCRIBED, "event_type": "A"})),
        ("nary", SCIREX),
    ],
)
def test_what_is_right_is_read(task: str, document: Any, tmp_path: Path) -> None:
    assert not any("duplicate" in one for one in score(task, tmp_path, document, document).warnings)


@pytest.mark.parametrize(
    ("task", "gold", "system", "said"),
    [
        ("events", events(EVENT), events(EVENT, EVENT), ["1 duplicate event counted once (trig_f1: each time), the first in d", "1 duplicate argument counted once (arg_f1, rams, srl: each time), the first in d"]),
        ("events", events(EVENT), events({**EVENT, "arguments": [ARGUMENT, ARGUMENT]}), ["1 duplicate argument counted once (arg_f1, rams, srl: each time), the first in d"]),
        ("arguments", events(DESCRIBED), events({**DESCRIBED, "arguments": [*DESCRIBED["arguments"]] * 2}), ["1 duplicate argument counted once, the first in d"]),
        ("arguments", events(DESCRIBED), events({**DESCRIBED, "type": "B"}), ["1 event of another type than the reference has under the same id, which counts; the first in d: 'e', 'B'"]),
        ("arguments", events(DESCRIBED), {**events(DESCRIBED), "tokens": ["g"]}, ["1 document has other tokens than in"]),
        ("hierarchies", {"id": "d", "events": ["a", "b"], "links": {"subevent": [["a", "b"]]}}, {"id": "d", "events": ["a", "b"], "links": {"subevent": [["a", "b"]] * 2}}, ["1 duplicate link counted once"]),
    ],
)  # fmt: skip
def test_what_counts_in_another_way_than_it_is_written_is_told(
    task: str, gold: Any, system: Any, said: list[str], tmp_path: Path
) -> None:
    told = [one for one in score(task, tmp_path, gold, system).warnings if "system.jsonl: " in one]
    assert len(told) == len(said)
    for one, expected in zip(told, said, strict=True):
        assert expected in one


NAN = float("nan")
HELD = {
    "records": ([{"id": "a", "x": 1}, {"id": "b", "x": 2}], {"x": 1}),
    "calls": ([{"id": "a", "calls": []}, {"id": "b", "calls": []}], []),
}


@pytest.mark.parametrize("nothing", [NAN, None])
@pytest.mark.parametrize("task", HELD)
def test_nan_in_the_place_of_an_answer_or_an_id_is_no_text(task, nothing):
    """pandas writes it for what is missing. It was the text "nan": an answer that calls nothing, and an id."""
    gold, answer = HELD[task]
    score = getattr(ts, task)
    deep = [{"id": "a", "r": {"o": [answer]}}, {"id": "b", "r": {"o": [nothing]}}]
    flat = [{"id": "a", "o": answer}, {"id": "b", "o": nothing}]
    for held, path in ((flat, "o"), (deep, "r.o[0]"), (pd.DataFrame(flat), "o")):
        found = score(gold, held, from_=path).as_dict()
        assert (found["invalids"], found["invalid"][0]["document"]) == (1, "b")
        assert "null" in found["invalid"][0]["reason"]
    with pytest.raises(InputError, match="predicted:2: has no text or number under 'id'"):
        score(gold, [{**gold[0]}, {**gold[1], "id": nothing}])


def test_nan_in_the_place_of_a_reference_is_an_error():
    for task, (gold, answer) in HELD.items():
        with pytest.raises(InputError, match=r"reference:2: r\.o: is missing \(NaN\); expected a document"):
            getattr(ts, task)(
                [{"id": "a", "r": {"o": answer}}, {"id": "b", "r": {"o": NAN}}], gold, reference_from="r.o"
            )
