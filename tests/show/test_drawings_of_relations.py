"""Relations highlighted in the text, and where the text comes from."""

import json

import pytest

import tallystick as ts
from tallystick.files.pairing import Paired, pair_documents
from tallystick.results.explanation import explain_document
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS
from tallystick.structures.texts import AnnotatedMention, Fact, FactSet, Relation, RelationSet
from tallystick.tasks.relations.files import DocumentText, of_characters, read_relations
from tallystick.tasks.relations.show import relations_drawer, with_words

TEXT = DocumentText((("Ann", "met", "Bob", "Ray"), ("in", "Rome")))


def related(type_, subj, obj, kind="PER"):
    return Relation(type_, AnnotatedMention(*subj, type=kind), AnnotatedMention(*obj, type="X"))


def drawn(gold, system, text=TEXT):
    (drawing,) = relations_drawer(Paired(("x",), (RelationSet(gold),), (RelationSet(system),)), {"x": text})("x")
    return drawing


def test_arguments_have_their_relation_and_its_status():
    gold = (related("knows", (0, 0), (2, 3)), related("in", (0, 0), (5, 5)), related("likes", (2, 3), (5, 5)))
    system = (related("knows", (0, 0), (2, 3)), related("in", (5, 5), (0, 0)), related("likes", (2, 2), (5, 5)))
    drawing = drawn(gold, system)
    assert drawing.sentences == TEXT.sentences
    assert [(mark.start, mark.end, mark.label, mark.status) for mark in drawing.reference] == [
        (0, 1, "knows subj", RIGHT), (2, 4, "knows obj", RIGHT), (0, 1, "in subj", PART), (5, 6, "in obj", PART),
        (2, 4, "likes subj", MISSED), (5, 6, "likes obj", MISSED),
    ]  # fmt: skip
    assert [mark.status for mark in drawing.predicted] == [RIGHT, RIGHT, PART, PART, SPURIOUS, SPURIOUS]
    groups = [[mark.group for mark in side] for side in (drawing.reference, drawing.predicted)]
    assert groups == [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 3, 3]]  # the two of a pair, on both sides


def test_another_type_of_argument_is_not_right():
    drawing = drawn((related("knows", (0, 0), (2, 2)),), (related("knows", (0, 0), (2, 2), "ORG"),))
    assert {mark.status for mark in drawing.reference} == {PART}


def test_what_is_not_of_the_text_is_not_drawn():
    assert [mark.label for mark in drawn((related("knows", (0, 0), (6, 9)),), ()).reference] == ["knows subj"]
    facts = Paired(("x",), (FactSet((Fact("P1", 0, 1),)),), (FactSet(()),))
    assert relations_drawer(facts, {"x": TEXT})("x") == []
    assert relations_drawer(Paired(("x",), (RelationSet(),), (RelationSet(),)), {})("x") == []


@pytest.mark.parametrize("words", [{"tokens": ["a", "b", "c"]}, {"sentences": [["a", "b"], ["c"]]}])
def test_words_of_json(tmp_path, words):
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "d", "relations": [], **words}) + "\n")
    found = read_relations(str(tmp_path / "x.jsonl"), keep_text=True).texts["d"]
    assert found.words == ("a", "b", "c")
    assert found.span(1, 2) == (1, 3)
    assert found.span(1, 3) is None


def test_what_has_no_words(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "d", "relations": []}) + "\n")
    assert read_relations(str(tmp_path / "x.jsonl"), keep_text=True).texts == {}


@pytest.mark.parametrize("words", [{"tokens": "a b"}, {"tokens": [1, 2]}, {"sentences": [[[1]]]}])
def test_what_is_no_list_of_words(tmp_path, words):
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "d", "relations": [], **words}) + "\n")
    with pytest.raises(ts.TallystickError, match=r"x.jsonl:1: (tokens|sentences).*: expected .*, found"):
        read_relations(str(tmp_path / "x.jsonl"), keep_text=True)


def test_characters_of_brat(tmp_path):
    text = "Ann Lee  met\n\n Bob."
    (tmp_path / "x.ann").write_text("T1\tPER 0 7\tAnn Lee\nT2\tPER 15 18\tBob\nR1\tknows Arg1:T1 Arg2:T2\n")
    name = str(tmp_path / "x.ann")
    assert read_relations(name, keep_text=True).texts == {}
    (tmp_path / "x.txt").write_text(text)
    for place in (name, str(tmp_path)):
        (found,) = read_relations(place, keep_text=True).texts.values()
        assert found.sentences == (("Ann", "Lee", "met"), ("Bob.",))
    sides = [read_relations(name, keep_text=True) for _ in range(2)]
    pairs = pair_documents(sides[0], sides[1], RelationSet)
    (drawing,) = relations_drawer(pairs, pairs.texts)("x")
    assert [(mark.start, mark.end) for mark in drawing.reference] == [(0, 2), (3, 4)]


def test_every_character_of_a_word_is_of_that_word():
    text = "a bc\n\n  def g"
    found = of_characters(text)
    for start, word in zip(found.starts, found.words, strict=True):
        assert text[start : start + len(word)] == word
        for left in range(start, start + len(word)):
            place = found.starts.index(start)
            assert found.span(left, start + len(word) - 1) == (place, place + 1)
    assert found.span(0, len(text)) is None
    assert of_characters("").span(0, 0) is None


def test_mentions_are_told_by_their_words():
    span = ts.record(left=ts.exact, right=ts.exact)
    metric = ts.f1(ts.each(relations=ts.match(ts.record(type=ts.exact, subj=span, obj=span))))
    gold = RelationSet((related("knows", (0, 0), (2, 3)),))
    tree = with_words(lambda _: explain_document(metric, gold, RelationSet(())), {"x": TEXT})("x")
    assert "Bob Ray" in repr(tree.children[0].children[0].reference)
