"""Files of role fillers and of N-ary relations: what is read, and what is said of a bad one."""

import json

import pytest

import tallystick as ts
from tallystick.errors import InputError, SidesMismatch
from tallystick.structures import TextMention
from tallystick.tasks.nary.files import read_nary
from tallystick.tasks.roles.files import gtt_name, read_roles


def write(path, *rows):
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return str(path)


PLAIN = {"id": "10001", "roles": {"PerpInd": [["rebels", {"text": "they", "kind": "pronoun"}]], "Target": []}}


@pytest.mark.parametrize(
    "content",
    [
        {"id": "10001", "roles": {"PerpInd": [["rebels"]], "Target": []}},
        {"docid": "TST1-MUC3-0001", "extracts": {"PerpInd": [[["rebels", 17]]]}},
        {"10001": {"doctext": "...", "pred_extracts": {"PerpInd": [["rebels"]]}, "gold_extracts": {}}},
        {"TST1-MUC4-0001": {"PerpInd": [["rebels"]]}},
    ],
)
def test_every_format_says_the_same(tmp_path, content):
    (arg,) = read_roles(write(tmp_path / "a.json", content)).values["10001"].args
    assert (arg.role, arg.entity.mentions) == ("PerpInd", (TextMention("rebels"),))


def test_kinds_and_names(tmp_path):
    (arg,) = read_roles(write(tmp_path / "a.json", PLAIN)).values["10001"].args
    assert arg.entity.mentions[1] == TextMention("they", "pronoun")
    assert [gtt_name(name) for name in ("TST2-MUC4-0012", "DEV-MUC3-0001", "x")] == ["20012", "DEV-MUC3-0001", "x"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "d", "roles": {"r": ["rebels"]}}], r"a.json:1: roles.r\[0\]: expected a list, found \"rebels\""),
        ([{"id": "d", "roles": {"r": [[3]]}}], r"roles.r\[0\]\[0\]: expected text"),
        ([{"id": "d", "roles": []}], "roles: expected an object"),
        ([{"id": "d", "roles": {}}, {"id": "d", "roles": {}}], "a.json:2: the document 'd' is already used in line 1"),
        ([{"id": "d", "roles": {}}, {"roles": {}}], "a.json:2: has no 'id'"),
        (['{"10001": '], "is not JSON"),
        ([{"10001": {"r": "x"}}], "10001.r: expected a list"),
        ([{}], "has no documents"),
    ],
)
def test_bad_roles_are_named_with_their_place(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_roles(write(tmp_path / "a.json", *rows))


GOLD = {
    "doc_id": "d", "ner": [[0, 2, "Method"], [3, 4, "Task"], [6, 7, "Method"]],
    "coref": {"A": [[0, 2]], "B": [[3, 4]], "a part": [[6, 7]], "other": [[8, 9]]},
    "n_ary_relations": [{"Material": "B", "Metric": "B", "Task": "B", "Method": "A", "score": "1"}],
    "method_subrelations": {"A": [[0, "A"], [1, "a part"]]},
}  # fmt: skip


def test_scirex_gold_is_merged_as_scirex_does(tmp_path):
    found = read_nary(write(tmp_path / "a.jsonl", GOLD)).values["d"]
    assert found.clusters == {"B": ((3, 4),), "A": ((0, 2), (6, 7))}
    assert found.relations == ({"Material": "B", "Metric": "B", "Task": "B", "Method": "A"},)


def test_a_systems_output_in_one_file_or_in_three(tmp_path):
    ner, clusters = {"doc_id": "d", "ner": [[0, 1, "Task"]]}, {"doc_id": "d", "clusters": {"p": [[0, 1]]}}
    relations = {"doc_id": "d", "predicted_relations": [[["p", "q", "p", "p"], 0.9, 1], [["p", "p", "p", "p"], 0.1, 0]]}
    one = read_nary(write(tmp_path / "one.jsonl", {**ner, **clusters, **relations})).values
    three = read_nary(
        *(write(tmp_path / f"{k}.jsonl", part) for k, part in enumerate((relations, ner, clusters)))
    ).values
    assert one == three
    assert one["d"].relations == ({"Material": "p", "Metric": "q", "Task": "p", "Method": "p"},)
    with pytest.raises(SidesMismatch, match=r"which .* does not have"):
        read_nary(write(tmp_path / "r.jsonl", relations), write(tmp_path / "n.jsonl", {"doc_id": "e", "ner": []}))


def test_plain_relations(tmp_path):
    record = {"id": "d", "relations": [{"type": "t", "args": {"x": [[0, 1], [4, 6]], "y": [[2, 3]]}}]}
    found = read_nary(write(tmp_path / "a.jsonl", record)).values["d"]
    assert found.types == ("t",)
    assert sorted(found.clusters.values()) == [((0, 1), (4, 6)), ((2, 3),)]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"doc_id": "d"}, "a.jsonl:1: expected 'coref' or 'clusters'"),
        ({**GOLD, "coref": {"A": [[2, 2]]}}, r"coref.A\[0\]: expected a span"),
        ({**GOLD, "coref": {"A": [[0, 2]]}}, r"n_ary_relations\[0\].Material: there is no entity 'B'"),
        ({**GOLD, "ner": [[0, 2]]}, r"ner\[0\]: expected \[start, end, type\]"),
        ({**GOLD, "n_ary_relations": [{"x": "A"}]}, "expected some of the roles"),
        ({**GOLD, "method_subrelations": {"A": [[0, "Z"]]}}, "there is no entity 'Z'"),
        ({"doc_id": "d", "clusters": {}, "predicted_relations": [[["p"], 1, 1]]}, "expected 4 names"),
        ({"doc_id": "d", "clusters": {}, "predicted_relations": [[["p"], 1]]}, r"\[0\]: expected \[\[name"),
        (
            {"id": "d", "relations": [{"args": {"x": [[1, "2"]]}}]},
            r"relations\[0\].args.x\[0\]\[1\]: expected a whole number",
        ),
        ({"id": "d", "relations": [{}]}, r"relations\[0\]: has no 'args'"),
    ],
)
def test_bad_relations_are_named_with_their_place(tmp_path, record, message):
    with pytest.raises(InputError, match=message):
        read_nary(write(tmp_path / "a.jsonl", record))


def test_duplicate_relations_are_said():
    relation = {"type": "r", "args": {"Task": [[0, 1], [5, 6]], "Method": [[2, 3]]}}
    again = {"type": "r", "args": {"Method": [[2, 3]], "Task": [[5, 6], [0, 1]]}}
    found = ts.nary([[relation]], [[relation, again]])
    assert "<predicted>: 1 duplicate relation counted once, the first in 0" in found.warnings
    assert (
        ts.nary([[relation]], [[relation, {**again, "args": {"Task": [[0, 1]]}}]]).warnings
        == ts.nary([[relation]], [[relation]]).warnings
    )
