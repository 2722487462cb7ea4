"""brat's files: one reader, so that the same corner files are the same for every task that reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallystick.errors import InputError
from tallystick.files.standoff import read_standoff
from tallystick.tasks.events.files import read_events
from tallystick.tasks.hierarchies.files import read_hierarchies
from tallystick.tasks.relations.files import read_relations
from tallystick.tasks.spans.jsonl import read_brat

TEXT = "left and\nright knee"
GOOD = "T1\tSITE 0 4;15 19\tleft knee\nT2\tSITE 5 14\tand right\nE1\tHurt:T1 Where:T2\n"


def names_of_spans(path):
    return list(read_brat(path, path).names)


READERS = {
    "spans": names_of_spans,
    "relations": lambda path: list(read_relations(path).values),
    "events": lambda path: list(read_events(path).values),
    "hierarchies": lambda path: list(read_hierarchies(path).documents),
}

every_task = pytest.mark.parametrize("task", READERS)


def write(folder: Path, content: str, name: str = "a") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(TEXT)
    (folder / f"{name}.ann").write_text(content)
    return folder / f"{name}.ann"


BAD = {
    "a repeated T": ("T1\tA 0 4\tleft\n#1\tNote T1\tx\nT1\tA 5 8\tand\n", "a.ann:3: the id 'T1' is already used in line 1; ids must be unique"),
    "a repeated E": ("T1\tA 0 4\tleft\nE1\tA:T1\nE1\tA:T1\n", "a.ann:3: the id 'E1' is already used in line 2; ids must be unique"),
    "a repeated R": (GOOD + "R1\tIn Arg1:T1 Arg2:T2\nR1\tIn Arg1:T2 Arg2:T1\n", "a.ann:5: the id 'R1' is already used in line 4; ids must be unique"),
    "another text": ("T1\tA 0 4\tright\n", 'a.ann:1: the text at 0 4 is "left", the annotation has "right"'),
    "another text in pieces": ("T1\tA 0 4;15 19\tleft\n", 'a.ann:1: the text at 0 4;15 19 is "left knee", the annotation has "left"'),
    "beyond the text": ("T1\tA 0 99\tleft\n", "a.ann:1: span [0, 99) A is not inside its text of 19 characters"),
    "pieces out of order": ("T1\tA 15 19;0 4\tknee left\n", "a.ann:1: expected pieces in order, each with at least one character, found '15 19;0 4'"),
    "an empty piece": ("T1\tA 4 4\t\n", "a.ann:1: expected pieces in order, each with at least one character, found '4 4'"),
    "a negative offset": ("T1\tA -3 4\tleft\n", "a.ann:1: expected offsets from 0 on"),
    "no offsets": ("T1\tA 0\tleft\n", "a.ann:1: expected `Type start end[;start end...]`, found 'A 0'"),
    "offsets with a dash": ("T1\tA 0-4\tleft\n", "a.ann:1: expected `Type start end[;start end...]`, found 'A 0-4'"),
    "no tab": ("T1 A 0 4 left\n", "a.ann:1:1: expected an annotation of brat's standoff format"),
    "an unknown kind": ("X1\tA 0 4\tleft\n", "a.ann:1:1: expected an annotation of brat's standoff format"),
    "a relation to nothing": (GOOD + "R1\tIn Arg1:T1 Arg2:T9\n", "a.ann:4:20: there is no 'T9' in this file; expected the id of a T or E line"),
    "a relation of three": (GOOD + "R1\tIn Arg1:T1 Arg2:T2 Arg3:T1\n", "a.ann:4: expected `Type Arg1:T1 Arg2:T2`"),
    "an event without a trigger": ("T1\tA 0 4\tleft\nE1\tA\n", "a.ann:2: expected `Type:T1 Role:T2 ...`, found 'A'"),
    "a trigger that is not there": ("T1\tA 0 4\tleft\nE1\tA:T9\n", "a.ann:2:6: there is no 'T9' in this file"),
    "an event as a trigger": (GOOD + "E2\tA:E1\n", "a.ann:4:6: 'E1' cannot be a trigger; expected the id of a T line"),
    "an Equiv of one": (GOOD + "*\tEquiv T1\n", "a.ann:4: expected `*<TAB>Equiv T1 T2 ...`, found 'Equiv T1'"),
}  # fmt: skip


@every_task
@pytest.mark.parametrize("corner", BAD)
def test_what_is_wrong_is_wrong_for_every_task(tmp_path, task, corner):
    content, message = BAD[corner]
    with pytest.raises(InputError, match=re.escape(message)):
        READERS[task](write(tmp_path, content))


FINE = {
    "nothing": "",
    "pieces": GOOD,
    "line ends of Windows": GOOD.replace("\n", "\r\n"),
    "what is passed over": GOOD + "A1\tNeg E1\nM1\tNeg E1\nN1\tReference T1 x:1\tx\n#1\tAnnotatorNotes T1\tsure\n#1\tAnnotatorNotes T2\n\n",
    "a line end inside a span is a blank": "T1\tA 5 14\tand right\n",
    "no text in the annotation": "T1\tA 0 4\n",
    "an Equiv": GOOD.replace("E1\tHurt:T1 Where:T2\n", "*\tEquiv T1 T2\n"),
}  # fmt: skip


@every_task
@pytest.mark.parametrize("corner", FINE)
def test_what_is_fine_is_fine_for_every_task(tmp_path, task, corner):
    assert READERS[task](write(tmp_path, FINE[corner])) == ["a"]


@every_task
def test_subfolders_are_read_and_name_their_documents(tmp_path, task):
    write(tmp_path / "x" / "sub", GOOD)
    write(tmp_path / "x", GOOD, "b")
    assert READERS[task](tmp_path / "x") == ["b", "sub/a"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"is a folder without a single \.ann file"):
        READERS[task](tmp_path / "empty")


@pytest.mark.parametrize("task", ["relations", "events", "hierarchies"])
def test_without_the_text_beside_it_only_spans_cannot_be_read(tmp_path, task):
    path = write(tmp_path, "T1\tA 0 99\twhatever\n")
    (tmp_path / "a.txt").unlink()
    assert READERS[task](path) == ["a"]
    with pytest.raises(InputError, match=r"no text beside it: expected a\.txt"):
        names_of_spans(path)


def test_pieces_pointers_and_entities(tmp_path):
    (file,) = read_standoff(write(tmp_path, GOOD + "*\tEquiv T2 T1\n"))
    assert file.spans["T1"].pieces == ((0, 4), (15, 19))
    assert file.mention(file.events["E1"].trigger).gaps == ((4, 14),)
    assert {mention.entity for mention in file.mentions.values()} == {"T2"}
    assert file.text() == TEXT


def test_a_span_without_a_type(tmp_path):
    (tmp_path / "a.txt").write_text("Ana")
    (tmp_path / "a.ann").write_text("T1\t 0 3\tAna\n")
    with pytest.raises(InputError, match=r"a\.ann:1:?.*expected `Type start end\[;start end\.\.\.\]`, found ' 0 3'"):
        list(read_standoff(tmp_path / "a.ann"))
