"""What is highlighted in texts: chains, segments, events, dependency arcs; and where the words come from."""

import gzip
import io
import json
from types import SimpleNamespace

import pytest

import tallystick as ts
from tallystick.files.pairing import Paired
from tallystick.results.explanation import explain_document
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS
from tallystick.structures.texts import AnnotatedMention, Argument, Event, Trigger
from tallystick.tasks.coreference import metrics as coreference
from tallystick.tasks.coreference.chains import pair
from tallystick.tasks.coreference.files import read_chains
from tallystick.tasks.coreference.show import chains_drawing, chains_parts
from tallystick.tasks.dependencies.alignment import align_words, find_units
from tallystick.tasks.dependencies.files import parse_conllu
from tallystick.tasks.dependencies.show import arcs_parts
from tallystick.tasks.events.files import EventDocument
from tallystick.tasks.events.show import events_drawer
from tallystick.tasks.spans.files import read_span_files
from tallystick.tasks.spans.show import spans_parts

CONLL = """#begin document (d1); part 000
d1 0 0 Ann (0)
d1 0 1 saw -

d1 0 0 her (0)
d1 0 1 # -
#end document
#begin document (d2); part 000
d2 0 0 Nobody -
#end document
"""
SEMEVAL = "#begin document d1\n1\tAnn\t_\t(0)\n2\tsaw\t_\t_\n\n1\tit\t_\t(1)\n\n#end document\n"
COREFUD = """# global.Entity = eid-etype-head-other
# newdoc id = d1
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\t_\t_\t_\t_\t_\t_\t_\t_
2\tdem\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1--1-)
2.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1--1-)

"""


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (CONLL, "(d1); part 000", [["Ann", "saw"], ["her", "#"]]),
        (SEMEVAL, "d1", [["Ann", "saw"], ["it"]]),
        (COREFUD, "d1", [["zu", "dem", "∅"]]),
        (json.dumps({"doc_key": "d1", "sentences": [["a", "b"], ["c"]], "clusters": []}) + "\n", "d1", [["a", "b"], ["c"]]),
        (json.dumps({"doc_key": "d1", "clusters": [[[0, 1]]]}) + "\n", "d1", None),
    ],
    ids=["conll", "semeval", "corefud", "jsonl", "no words"],
)  # fmt: skip
def test_the_words_of_coreference(tmp_path, text, name, words):
    for suffix in ("", ".gz"):
        file = tmp_path / f"key{suffix}"
        file.write_bytes(gzip.compress(text.encode()) if suffix else text.encode())
        assert read_chains(file, keep_text=True).texts.get(name) == words
        assert read_chains(file).texts == {}


def test_standard_input_has_words_too(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CONLL.encode())))
    assert read_chains("-", keep_text=True).texts["(d2); part 000"] == [["Nobody"]]


def test_a_column_of_brackets_has_no_words(tmp_path):
    file = tmp_path / "key"
    file.write_text("#begin document (a)\n(0)\n-\n#end document\n#begin document (b)\nw (0)\n#end document\n")
    assert read_chains(file, keep_text=True).texts == {"(b)": [["w"]]}


def test_chains_in_colours():
    key = [[(0, 0), (4, 4)], [(2, 3)], [(6, 6)]]
    response = [[(0, 0), (2, 3)], [(5, 5)]]
    drawing = chains_drawing(explain_document(coreference.CEAF_E, key, response), [list("abcdefg")])
    ours = {mark[:2]: (mark.status, mark.group) for mark in drawing.reference}
    theirs = {mark[:2]: (mark.status, mark.group) for mark in drawing.predicted}
    assert ours[2, 4][0] == RIGHT or ours[0, 1][0] == RIGHT
    right = next(span for span, (status, _) in ours.items() if status == RIGHT)
    assert ours[right] == theirs[right]  # one colour on both sides
    wrong = next(span for span in ((0, 1), (2, 4)) if span != right)
    assert ours[wrong][0] == theirs[wrong][0] == PART  # there, but in another entity
    assert ours[4, 5][0] == ours[6, 7][0] == MISSED
    assert theirs[5, 6][0] == SPURIOUS
    assert not {ours[6, 7][1]} & {group for _, group in theirs.values()}


def test_entities_by_their_words(tmp_path):
    file = tmp_path / "key"
    file.write_text(CONLL)
    parts = chains_parts(pair(read_chains(file, keep_text=True), read_chains(file)), coreference.PLAIN)
    tree = parts.explain("(d1); part 000")
    assert [leaf.reference for leaf in tree.children[0].children] == ["Ann [0]", "her [2]"]
    (drawing,) = parts.draw("(d1); part 000")
    assert drawing.sentences == [["Ann", "saw"], ["her", "#"]]
    assert ts.coreference(file, file).errors()[0].title == "Errors: none"


def test_segments(tmp_path):
    gold, guess = tmp_path / "gold.jsonl", tmp_path / "system.jsonl"
    text = "Ann met Bob in New York"
    write = lambda path, spans: path.write_text(json.dumps({"id": "a", "text": text, "spans": spans}) + "\n")  # noqa: E731
    write(gold, [[0, 3, "PER"], [8, 11, "PER"], [15, 23, "LOC"]])
    write(guess, [[0, 3, "PER"], [4, 7, "ORG"], [19, 23, "LOC"]])
    from tallystick.tasks.spans.metrics import score

    corpus = read_span_files(gold, guess, keep_tokens=True)
    parts = spans_parts(corpus, score(corpus, ("segment",)))
    (drawing,) = parts.draw("a")
    assert drawing.sentences == [("Ann", "met", "Bob", "in", "New", "York")]
    assert [mark[:4] for mark in drawing.reference] == [
        (0, 1, "PER", RIGHT), (2, 3, "PER", MISSED), (4, 6, "LOC", PART),
    ]  # fmt: skip
    assert [mark[:4] for mark in drawing.predicted] == [
        (0, 1, "PER", RIGHT), (1, 2, "ORG", SPURIOUS), (5, 6, "LOC", PART),
    ]  # fmt: skip
    tree = parts.explain("a")
    assert (tree.weight, tree.reference_self, tree.predicted_self) == (1, 3, 3)
    assert tree.children[-1].reference == "LOC New York [4–5]"
    errors = ts.spans(gold, guess, metrics="segment").errors()
    assert [(kind.kind, kind.count) for kind in errors.kinds if kind.count] == [
        ("boundary", 1),
        ("missed", 1),
        ("spurious", 1),
    ]
    assert parts.tables[0].title == "By tag, under segment"


def test_events():
    def event(type_, *arguments):
        return Event(
            Trigger(AnnotatedMention(1, 1), type_), tuple(Argument(AnnotatedMention(*m), r) for m, r in arguments)
        )

    gold = EventDocument((event("Attack", ((0, 0), "Agent"), ((3, 4), "Place")),), tuple("abcdef"), (0, 0, 0, 1, 1, 1))
    system = EventDocument((event("Attack", ((0, 0), "Target"), ((3, 4), "Place"), ((-1, -1), "Time")),))
    (drawing,) = events_drawer(Paired(("x",), (gold,), (system,)))("x")
    assert drawing.sentences == [["a", "b", "c"], ["d", "e", "f"]]
    assert {mark[2]: mark.status for mark in drawing.reference} == {"Attack": RIGHT, "Agent": PART, "Place": RIGHT}
    assert {mark[2]: mark.status for mark in drawing.predicted} == {"Attack": RIGHT, "Target": PART, "Place": RIGHT}
    assert events_drawer(Paired(("x",), (EventDocument(),), (EventDocument(),)))("x") == []


GOLD = (
    "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\t_\t_\t3\tnsubj:pass\t_\t_\n3\truns\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
)


def test_arcs():
    system = GOLD.replace("2\tdet", "3\tdet").replace("nsubj:pass", "obj")
    banks = [parse_conllu(text) for text in (GOLD, system)]
    units = find_units(*banks)
    assert len(align_words(*banks)) == 3
    (drawing,) = arcs_parts(*banks, units).draw(units.names[0])
    assert drawing.words == ["the", "dog", "runs"]
    assert [tuple(arc) for arc in drawing.reference] == [
        (1, 0, "det", MISSED), (2, 1, "nsubj → obj", PART), (-1, 2, "root", RIGHT),
    ]  # fmt: skip
    assert [tuple(arc) for arc in drawing.predicted] == [(2, 0, "det", SPURIOUS)]
    (same,) = arcs_parts(banks[0], banks[0], units).draw(units.names[0])
    assert {arc.status for arc in same.reference} == {RIGHT}
