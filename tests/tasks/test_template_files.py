"""Files of templates: every form gives the same structures, and what cannot be understood is named."""

import gzip
import json

import pytest

from tallystick.errors import InputError, SidesMismatch
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates.files import pair_templates, read_templates

WANTED = TemplateSet(
    [
        Template(
            "attack", [SlotFiller("Victim", Entity(("the mayor", "smith"))), SlotFiller("Weapon", Entity(("bomb",)))]
        )
    ]
)


def written(tmp_path, content, name="file.json"):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content))
    return file


FORMS = {
    "gtt gold": [
        {"docid": "d1", "doctext": "...", "templates": [
            {"incident_type": "attack", "Victim": [[["the mayor", 3], ["smith", 17]]], "Weapon": [[["bomb", 40]]]}]}],
    "gtt predictions": [{"d1": {"doctext": "...", "gold_templates": [], "pred_templates": [
        {"incident_type": "attack", "Victim": [["the mayor", "smith"]], "Weapon": [["bomb"]]}]}}],
    "by document": [{"d1": [{"incident_type": "attack", "Victim": [["the mayor", "smith"]], "Weapon": [["bomb"]]}]}],
    "slots": [{"id": "d1", "templates": [
        {"type": "attack", "slots": {"Victim": [["the mayor", "smith"]], "Weapon": ["bomb"]}}]}],
    "fillers": [{"id": "d1", "templates": [{"type": "attack", "fillers": [
        {"slot": "Victim", "value": {"mentions": ["the mayor", "smith"]}}, {"slot": "Weapon", "value": "bomb"}]}]}],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(tmp_path, form):
    found = read_templates(written(tmp_path, FORMS[form]))
    assert list(found.values) == ["d1"]
    assert list(found.values.values()) == [WANTED]


def test_an_indented_object_and_a_gz_file(tmp_path):
    content = json.dumps(FORMS["gtt predictions"][0], indent=2)
    assert read_templates(written(tmp_path, content)).values == {"d1": WANTED}
    packed = tmp_path / "file.json.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert read_templates(packed).values == {"d1": WANTED}


def test_iterx_has_a_line_for_each_document_and_type(tmp_path):
    lines = [{"d1": [{"incident_type": "attack"}]}, {"d1": [{"incident_type": "arson"}]}, {"d2": []}]
    found = read_templates(written(tmp_path, lines))
    assert [[t.type for t in value.templates] for value in found.values.values()] == [["attack", "arson"], []]


def test_what_gtt_leaves_out_is_counted(tmp_path):
    one = {"incident_type": "attack", "Victim": [[], [["a", 1]]]}
    found = read_templates(written(tmp_path, [{"docid": "d1", "templates": [one, one]}]))
    assert len(next(iter(found.values.values())).templates) == 1
    assert "entities without mentions, left out: 2" in found.warnings[0]
    assert "gold templates that repeat another, left out as gtt does: 1" in found.warnings[1]


def test_what_stands_beside_the_slots_is_not_dropped_in_silence(tmp_path):
    one = {"type": "attack", "slots": {"Victim": ["a"]}, "Weapon": ["gun"], "template-spans": []}
    found = read_templates(written(tmp_path, [{"id": "d1", "templates": [one]}]))
    assert found.warnings[0].endswith(
        'file.json: templates that have "slots" or "fillers" also have "Weapon", not read'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has only blank lines"),
        ("template 1\n", "file.json:1:1: begins like no known file of templates"),
        ('{"id": "a", "templates": []}\n{"id": "b", "templates": [}\n', r"file.json:2:27: is not JSON"),
        ('{\n "a": [],\n "b": [}\n}', r"file.json:3:8: is not JSON"),
        ('{"a": [], "a": []}', r"has the key 'a' twice in one object; expected each key once"),
        (
            [{"id": "a", "templates": []}, {"id": "a", "templates": []}],
            "file.json:2: the document 'a' is already used in line 1",
        ),
        ([{"id": "a", "templates": {}}], r"file.json:1: templates is \{\}; expected a list of templates"),
        ([{"id": "a", "frames": []}, {"id": "b"}], "expected the templates under one of"),
        ([{"name": "a", "templates": []}, {}], "file.json:2: found no keys; expected the templates under one of"),
        ([{"docid": "a", "templates": []}, {"templates": []}], "file.json:2: has no 'docid', and line 1 has one"),
        ([{"templates": []}, {"id": 1.5, "templates": []}], "id: expected text or a whole number, found 1.5"),
        ([{"id": 1.5, "templates": []}], "id: expected text or a whole number, found 1.5"),
        ([{"id": "a", "templates": [3]}], r"templates\[0\] is 3; expected a template"),
        (
            [{"id": "a", "templates": [{"Victim": []}, {"type": "x"}]}],
            r"templates\[0\] has \"Victim\"; expected the type",
        ),
        ([{"id": "a", "templates": [{"type": 4}]}], r"templates\[0\].type is 4; expected a text"),
        (
            [{"id": "a", "templates": [{"type": "x", "V": "y"}]}],
            r"templates\[0\].V is \"y\"; expected a list of fillers",
        ),
        ([{"id": "a", "templates": [{"type": "x", "V": [None]}]}], r"templates\[0\].V\[0\] is null"),
        ([{"id": "a", "templates": [{"type": "x", "V": [[{}]]}]}], r"templates\[0\].V\[0\]\[0\] is \{\}"),
        ([{"id": "a", "templates": [{"type": "x", "slots": []}]}], r"templates\[0\].slots is \[\]"),
        ([{"id": "a", "templates": [{"type": "x", "fillers": [{}]}]}], r"templates\[0\].fillers\[0\] is \{\}"),
        ([{"a": {"templates": []}, "b": []}], r'"a" has "templates"; expected "pred_templates"'),
        ([{"a": {"pred_templates": 1}, "b": []}], "a.pred_templates is 1; expected a list"),
        ("[3]", r"file.json: \[0\]: is 3; expected a document, a JSON object"),
        ('[{"id": "a", "templates": []}, {"id": "b", "templates": {}}]', r"\[1\]: templates is \{\}; expected a list"),
        ('[{"id": "a", "templates": []}, {"id": "a", "templates": []}]', "the document 'a' is already used"),
        ('[{"id": "a", "templates": []}, {"templates": []}]', "has no 'id', and document 1 has one"),
    ],
)
def test_bad_input_names_file_line_and_path(tmp_path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        read_templates(written(tmp_path, content))
    assert "file.json" in str(caught.value)


def test_one_list_is_as_its_items_line_by_line(tmp_path):
    rows = [{"id": name, "templates": [{"type": "x", "slots": {"V": [name]}}]} for name in "ab"]
    by_line = read_templates(written(tmp_path, rows, "lines.jsonl"))
    for indent in (None, 1):
        assert read_templates(written(tmp_path, json.dumps(rows, indent=indent), "list.json")).values == by_line.values


def test_bytes_that_are_not_utf_8(tmp_path):
    (tmp_path / "file.json").write_bytes(b'{"a":\n "\xff"}')
    with pytest.raises(InputError, match=r"file.json:2: byte 0xff is not UTF-8"):
        read_templates(tmp_path / "file.json")


def test_documents_are_paired_by_name_and_muc_names_are_known(tmp_path):
    gold = read_templates(written(tmp_path, [{"docid": "TST3-MUC4-0002", "templates": []}], "gold.json"))
    system = read_templates(written(tmp_path, '{"30002": [{"type": "x"}]}', "system.json"))
    pairs = pair_templates(gold, system)
    assert pairs.ids == ("TST3-MUC4-0002",)
    assert [t.type for t in pairs.predicted[0].templates] == ["x"]
    other = read_templates(written(tmp_path, '{"30003": []}', "other.json"))
    with pytest.raises(
        SidesMismatch, match='1 only in the reference: "TST3-MUC4-0002"; 1 only in the prediction: "30003"'
    ):
        pair_templates(gold, other)
