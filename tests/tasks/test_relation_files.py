"""Files of relations: what is read from each format, and what is said of a bad one."""

import io
import json

import pytest

from tallystick.errors import InputError, Place
from tallystick.files.pairing import Documents
from tallystick.files.source import Format
from tallystick.structures import AnnotatedMention as M
from tallystick.structures import Fact, Relation, RelationSet
from tallystick.tasks.named import read_parents
from tallystick.tasks.parses import head_word, read_heads
from tallystick.tasks.relations import files
from tallystick.tasks.relations.files import read_relations, read_training


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_plain_json_lines(tmp_path):
    line = '{"id": "d", "relations": [{"type": "r", "subj": {"start": 0, "end": 2, "type": "PER", "head": [1, 2]}, "obj": [4, 5, "LOC"]}]}'
    found = read_relations(write(tmp_path / "a.jsonl", line))
    assert found.values["d"].relations == (Relation("r", M(0, 1, "PER", head=(1, 1)), M(4, 4, "LOC")),)


def test_spert_points_into_its_entities(tmp_path):
    document = {
        "tokens": ["a", "b", "c"],
        "entities": [{"type": "A", "start": 0, "end": 1}, {"type": "B", "start": 1, "end": 3}],
        "relations": [{"type": "r", "head": 1, "tail": 0}],
    }
    found = read_relations(write(tmp_path / "a.json", [document]))
    assert found.values["1"].relations == (Relation("r", M(1, 2, "B"), M(0, 0, "A")),)


def test_brat_spans_pieces_events_and_equivalents(tmp_path):
    (tmp_path / "x").mkdir()
    ann = "T1\tPER 0 5\tMarie\nT2\tLOC 9 12;20 26\tNew Mexico\nR1\tborn Arg2:T2 Arg1:T1\n#1\tAnnotatorNotes R1\tsure\nA1\tNeg R1\n*\tEquiv T1 T2\n"
    (tmp_path / "x" / "d.ann").write_text(ann)
    (relation,) = read_relations(str(tmp_path)).values["x/d"].relations
    assert relation.subj == M(0, 4, "PER", entity="T1")
    assert relation.obj == M(9, 25, "LOC", entity="T1", gaps=((12, 19),))


VERTICES = [[{"name": "Ada"}, {"name": "A."}], [{"name": "Paris"}]]


def test_docred_knows_what_was_seen_in_training(tmp_path):
    train = [{"title": "t", "vertexSet": VERTICES, "labels": [{"h": 0, "t": 1, "r": "P1", "evidence": [0]}]}]
    known = read_training(write(tmp_path / "train.json", train))
    assert known == {("Ada", "Paris", "P1"), ("A.", "Paris", "P1")}
    gold = [
        {
            "title": "d",
            "vertexSet": [[{"name": "A."}], [{"name": "Paris"}]],
            "labels": [{"h": 0, "t": 1, "r": "P1", "evidence": [2]}],
        }
    ]
    (fact,) = read_relations(write(tmp_path / "gold.json", gold), {"train": known}).values["d"].facts
    assert (fact, tuple(fact.seen)) == (Fact("P1", 0, 1, (2,)), ("train",))
    twice = [{"title": "d", "h_idx": 0, "t_idx": 1, "r": "P1", "evidence": [k]} for k in (2, 3)]
    system = read_relations(write(tmp_path / "system.json", twice))
    assert system.values["d"].facts == (Fact("P1", 0, 1, (2,)),)
    assert system.partial
    assert "counted once" in system.warnings[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "", "is empty"),
        ("a.jsonl", '{"id": "a", "relations": []}\n{"id": ', "a.jsonl:2:7: is not JSON"),
        ("a.jsonl", '{"id": "a", "relation": []}', "a.jsonl:1: expected an object with 'relations'"),
        ("a.jsonl", '{"id": "a", "relations": [{"type": "r", "subj": [0, 1]}]}', r"a.jsonl:1: relations\[0\]: has no 'obj' or 'tail'"),
        ("a.jsonl", '{"id": "a", "relations": [{"type": "r", "subj": [1, 1], "obj": [2, 3]}]}', r"relations\[0\].subj: expected a span"),
        ("a.jsonl", '{"id": "a", "relations": [{"type": 3, "subj": [0, 1], "obj": [2, 3]}]}', r"relations\[0\].type: expected text, found 3"),
        ("a.jsonl", '{"id": "a", "relations": [{"type": "r", "subj": 4, "obj": [2, 3]}]}', "one of the 0 entities"),
        ("a.jsonl", '{"id": "a", "relations": []}\n{"id": "a", "relations": []}', "a.jsonl:2: the document 'a' is already used in line 1"),
        ("a.json", '[{"title": "t", "vertexSet": [], "labels": [{"h": 0, "t": 1, "r": "P"}]}]', r"\[0\].labels\[0\].h: expected the number"),
        ("a.json", '[{"title": "t", "h_idx": "0", "t_idx": 1, "r": "P"}]', r"\[0\].h_idx: expected a whole number"),
        ("a.ann", "T1\tPER 0\tx\n", "a.ann:1: expected `Type start end"),
        ("a.ann", "T1\tPER 0 5\tx\nR1\tr Arg1:T1 Arg2:T2\n", "a.ann:2:19: there is no 'T2'"),
        ("a.ann", "T1\tPER 0 5\tx\nT1\tPER 0 5\tx\n", "a.ann:2: the id 'T1' is already used in line 1"),
        ("a.ann", "X1\tPER\n", "a.ann:1:1: expected an annotation of brat's"),
        ("a.ann", "\tPER\n", "a.ann:1:1: expected an annotation of brat's"),
        ("a.ann", "R1\tr Arg1:T1\n", "a.ann:1: expected `Type Arg1:T1 Arg2:T2`"),
    ],
)  # fmt: skip
def test_bad_input_is_named_with_its_place(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=message):
        read_relations(path)


def test_a_folder_without_standoff_and_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"without a single \.ann file"):
        read_relations(str(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        read_relations(str(tmp_path / "none.jsonl"))


def test_heads_are_found_by_going_up_inside_the_span(tmp_path):
    assert head_word([1, 3, 1, 3], 0, 2) == 1
    assert head_word([1, 0], 0, 1) in (0, 1)  # a cycle ends
    heads = read_heads(write(tmp_path / "h.jsonl", '{"id": "d", "heads": [1, -1, 1], "parser": "p 1"}'))
    assert heads.of("d", 0, 2) == (1, 1)
    assert heads.source == "p 1"
    with pytest.raises(InputError, match="no heads for the document"):
        heads.of("e", 0, 0)
    with pytest.raises(InputError, match="where a span ends at token 3"):
        heads.of("d", 0, 3)
    with pytest.raises(InputError, match="outside the 1 tokens"):
        read_heads(write(tmp_path / "h.jsonl", '{"id": "d", "heads": [4]}'))


def test_parents_as_json_or_as_lines(tmp_path):
    expected = {"a": ("b",), "c": ("b", "d")}
    assert read_parents(write(tmp_path / "p.json", {"a": "b", "c": ["b", "d"]})) == expected
    assert read_parents(write(tmp_path / "p.tsv", "a\tb\nc\tb\nc\td\n")) == expected
    with pytest.raises(InputError, match=r"p\.tsv:1: expected `child<TAB>parent`"):
        read_parents(write(tmp_path / "p.tsv", "a b\n"))


def test_a_format_is_recognised_by_how_it_begins_on_standard_input_too(monkeypatch):
    def read(opening, **_):
        relation = Relation(opening.text.split()[1], M(0, 0), M(1, 1))
        out = Documents(str(opening.source), "mine")
        out.add("d", RelationSet((relation,)), Place(out.file))
        return out

    mine = Format("mine", lambda opening: opening.head.startswith(b"#mine"), read)
    monkeypatch.setattr(files, "FORMATS", (mine, *files.FORMATS))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"#mine spouse\n")))
    assert [one.type for one in read_relations("-").values["d"].relations] == ["spouse"]


@pytest.mark.parametrize(("tokens", "found"), [(False, "false"), ("Oslo is", '"Oslo is"'), (3, "3")])
def test_tokens_that_are_none(tmp_path, tokens, found):
    """SpERT's files are read as plain ones, and so are their tokens."""
    entities = [{"type": "PER", "start": 0, "end": 1}, {"type": "LOC", "start": 1, "end": 2}]
    document = {"tokens": tokens, "entities": entities, "relations": [{"type": "r", "head": 0, "tail": 1}]}
    (tmp_path / "gold.json").write_text(json.dumps([document]))
    with pytest.raises(InputError, match=rf"gold\.json: \[0\]\.tokens: expected a list, found {found}"):
        read_relations(tmp_path / "gold.json")


def test_duplicates_are_said(tmp_path):
    relation = {"type": "r", "subj": [0, 1, "A"], "obj": [1, 2, "B"]}
    lines = [
        {"id": "a", "relations": [relation]},
        {"id": "b", "relations": [relation, {**relation, "obj": [1, 2, "C"]}, relation, relation]},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert read_relations(tmp_path / "gold.jsonl").warnings == [
        f"{tmp_path / 'gold.jsonl'}: 2 duplicate relations counted once, the first in b"
    ]
