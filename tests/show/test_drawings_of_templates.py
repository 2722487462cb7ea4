"""Fillers of templates highlighted in the text, and where they stand in it."""

import json

import pytest

from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates.files import PairedTemplates, read_templates
from tallystick.tasks.templates.show import templates_drawer

TEXT = "Rebels of the FMLN shot men.\nThe rebels fled from men."


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def gtt(**slots):
    return {"docid": "d", "doctext": TEXT, "templates": [{"incident_type": "attack", **slots}]}


def filled(type_="attack", **slots):
    fillers = tuple(SlotFiller(slot, Entity(tuple(one))) for slot, listed in slots.items() for one in listed)
    return TemplateSet((Template(type_, fillers),))


@pytest.fixture
def text(tmp_path):
    line = gtt(Victim=[[["men", 50]]], PerpInd=[[["rebels", 0], ["rebels", 33]]])
    return read_templates(write(tmp_path / "x.jsonl", line), keep_text=True).texts["d"]


def test_a_mention_stands_where_its_offset_says_or_where_its_text_is_first_found(text):
    assert text.words.sentences == (
        ("Rebels", "of", "the", "FMLN", "shot", "men."),
        ("The", "rebels", "fled", "from", "men."),
    )
    assert text.places("men") == text.places("MEN") == [(10, 11)]
    assert text.places("rebels") == [(0, 1), (7, 8)]
    assert text.places("The FMLN") == [(2, 4)]
    assert text.places("ml") == text.places("nobody") == text.places("") == []


def test_an_offset_that_is_not_the_texts_is_not_believed(tmp_path):
    line = gtt(Victim=[[["men", 3], ["fmln", 9999]]])
    found = read_templates(write(tmp_path / "x.jsonl", line), keep_text=True).texts["d"]
    assert found.places("men") == [(5, 6)]
    assert found.places("fmln") == [(3, 4)]


def test_what_has_no_text(tmp_path):
    lines = [{"docid": "a", "templates": []}, {"id": "b", "text": 7, "templates": []}]
    assert read_templates(write(tmp_path / "x.jsonl", *lines), keep_text=True).texts == {}
    assert read_templates(write(tmp_path / "x.jsonl", gtt())).texts == {}  # nobody asked for it
    (tmp_path / "y.json").write_text(json.dumps({"a": {"pred_templates": []}}, indent=1))
    assert read_templates(str(tmp_path / "y.json"), keep_text=True).texts == {}
    pairs = PairedTemplates(["a"], [filled()], [filled()])
    assert templates_drawer(pairs, {})("a") == []


def test_fillers_have_their_slot_and_status(text):
    gold = filled(PerpInd=[["rebels", "nobody"]], Victim=[["men"]], Weapon=[["shot"]])
    system = filled(PerpInd=[["Rebels"]], Target=[["men"]], PerpOrg=[["fmln"]])
    (drawing,) = templates_drawer(PairedTemplates(["d"], [gold], [system]), {"d": text})("d")
    assert [(mark.start, mark.label, mark.status) for mark in drawing.reference] == [
        (0, "PerpInd", RIGHT), (7, "PerpInd", RIGHT), (10, "Victim", PART), (4, "Weapon", MISSED),
    ]  # fmt: skip
    assert [(mark.start, mark.label, mark.status) for mark in drawing.predicted] == [
        (0, "PerpInd", RIGHT), (7, "PerpInd", RIGHT), (10, "Target", PART), (3, "PerpOrg", SPURIOUS),
    ]  # fmt: skip
    assert {mark.group for mark in drawing.reference} == {0}
    assert {mark.group for mark in drawing.predicted} == {1}


def test_another_type_of_template_is_not_right(text):
    pairs = PairedTemplates(["d"], [filled(Victim=[["men"]])], [filled("bombing", Victim=[["men"]])])
    (drawing,) = templates_drawer(pairs, {"d": text})("d")
    assert [mark.status for mark in (*drawing.reference, *drawing.predicted)] == [PART, PART]
