"""Key and response files of MUC-4, and the recorded judgements."""

import json

import pytest

from tallystick.errors import InputError
from tallystick.tasks.templates.files import Fill, parse_fill, read_judgements, read_muc4, read_templates

KEY = """\
0.  MESSAGE: ID                    TST3-MUC4-0001
1.  MESSAGE: TEMPLATE              2 (OPTIONAL)
2.  INCIDENT: DATE                 (- 12 NOV 89) / (30 OCT 89)
3.  INCIDENT: LOCATION             EL SALVADOR: SAN SALVADOR (CITY)
4.  INCIDENT: TYPE                 ATTACK / BOMBING
8.  PERP: INCIDENT CATEGORY        ? TERRORIST ACT
9.  PERP: INDIVIDUAL ID            "CRIMINALS" / "MEMBERS OF \\"X: Y / Z\\""
                                   "GERARDO OLIVOS"
18. HUM TGT: NAME                  -
19. HUM TGT: DESCRIPTION           ? "MINISTER": "ENRIQUE LOPEZ"
                                   "A GUARD"
20. HUM TGT: TYPE                  CIVILIAN: "-"

0.  MESSAGE: ID                    TST3-MUC4-0002
1.  MESSAGE: TEMPLATE              *
2.  INCIDENT: DATE                 *
"""


def written(tmp_path, content, name="key.txt"):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_a_key_file(tmp_path):
    found = read_muc4(written(tmp_path, KEY))
    assert list(found.documents) == ["TST3-MUC4-0001", "TST3-MUC4-0002"]
    assert found.documents["TST3-MUC4-0002"] == []
    (template,) = found.documents["TST3-MUC4-0001"]
    assert (template.name, template.optional, template.line) == ("2", True, 1)
    assert template.slots["inc-date"] == (Fill(("- 12 NOV 89", "30 OCT 89")),)
    assert template.slots["inc-type"] == (Fill(("ATTACK", "BOMBING")),)
    assert template.slots["perp-inc-cat"] == (Fill(("TERRORIST ACT",), optional=True),)
    assert template.slots["perp-ind-id"][0].values == ('"CRIMINALS"', '"MEMBERS OF \\"X: Y / Z\\""')
    assert template.slots["hum-tgt-desc"][0] == Fill(('"MINISTER"',), ('"ENRIQUE LOPEZ"',), True)
    assert template.slots["hum-tgt-type"] == (Fill(("CIVILIAN",), ('"-"',)),)
    assert "hum-tgt-name" not in template.slots


def test_json_with_several_lists_and_a_mapping(tmp_path):
    fills = {
        "message-id": ["A"],
        "template-id": ["1"],
        "inc-type": ["ATTACK"],
        "perp-inc-cat": ["CATEGORY   TERRORIST ACT"],
    }
    content = {
        "one": {"responses": [fills], "official_pairs": [{"doc": "A", "key": "1", "response": "1"}]},
        "two": [fills],
    }
    file = written(tmp_path, content, "systems.json")
    found = read_muc4(f"{file}#one")
    assert found.mapping == {("A", "1", "1")}
    assert found.documents["A"][0].slots["perp-inc-cat"] == (Fill(("TERRORIST ACT",)),)
    assert read_muc4(f"{file}#two").mapping is None


def test_the_metrics_of_recent_work_read_the_string_fills(tmp_path):
    found = read_templates(written(tmp_path, KEY))
    (template,) = next(iter(found.values.values())).templates
    assert template.type == "attack / bombing"
    assert [(f.slot, f.value.mentions[0]) for f in template.fillers] == [
        ("PerpInd", "criminals"), ("PerpInd", "gerardo olivos"), ("Victim", "a guard"),
    ]  # fmt: skip
    assert "string fills" in found.warnings[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0.  MESSAGE: ID  A\n1.  MESSAGE: TEMPLATE 1\n4.  INCIDENT: TIPE  ATTACK\n", 'key.txt:3:1: "INCIDENT: TIPE" is no slot.*INCIDENT: TYPE'),
        ("4.  INCIDENT: TYPE  ATTACK\n", "key.txt:1:1: expected `0.  MESSAGE: ID`"),
        ("0.  MESSAGE: ID  A\nATTACK\n", "key.txt:2:1: expected a slot"),
        ("0.  MESSAGE: ID  A\n4.  INCIDENT: TYPE  ATTACK\n4.  INCIDENT: TYPE  ATTACK\n", "key.txt:3:1: inc-type occurs twice"),
        ("0.  MESSAGE: ID  A\n4.  INCIDENT: TYPE  ATTACK\n", "key.txt:1: expected one MESSAGE: ID"),
        ("0.  MESSAGE: ID  A\n1.  MESSAGE: TEMPLATE 1\n\n0.  MESSAGE: ID  A\n1.  MESSAGE: TEMPLATE 1\n", "key.txt:4: template 1 of A occurs twice"),
        ("; nothing\n", "has no templates"),
        ({"tst3": []}, "has the lists"),
        ([{"message-id": ["A"], "template-id": ["1"], "inc-tipe": []}], r"\[0\].inc-tipe is"),
        ([{"message-id": "A"}], r"\[0\] is"),
        ("[1,", "is not JSON"),
    ],
)  # fmt: skip
def test_bad_files_name_line_or_path(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_muc4(written(tmp_path, content))


def test_judgements(tmp_path):
    text = """(("M1" ("1" (inc-date ((range nil "1 FEB 88") fail) ("4 MAY 88" partial (range nil "4 MAY 88")))
      ; a comment
      (perp-org-id ("\\"ELN\\"" match (or "\\"ELN\\"" "\\"ARMY\\""))))))"""
    found = read_judgements(written(tmp_path, text, "history.lisp"))
    dates = found["M1", "1", "inc-date"]
    assert dates[("range", None, "1 FEB 88")].verdict == "fail"
    assert dates["4 MAY 88"].key == ("range", None, "4 MAY 88")
    assert found["M1", "1", "perp-org-id"]['"ELN"'].key == ("or", '"ELN"', '"ARMY"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('(("M1"\n ("1" (inc-date', "history.lisp:2: a `\\(` is never closed"),
        ("())\n)", "history.lisp:1: has a `\\)` too many"),
        ('(("M1" ("1" (inc-date ("x" maybe)))))', "'maybe' at M1 1 inc-date"),
        ('("M1")', "expected \\(\\(message"),
        ("() ()", "has 2 lists"),
    ],
)
def test_bad_judgements(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_judgements(written(tmp_path, text, "history.lisp"))


def test_fills():
    assert parse_fill("-", "inc-type") is None
    assert parse_fill("*", "inc-type") is None
    assert parse_fill('?POSSIBLE: "A"', "perp-org-conf") == Fill(("POSSIBLE",), ('"A"',), True)
