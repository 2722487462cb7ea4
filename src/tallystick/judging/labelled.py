"""Labelled questions from a file: what a classifier learns from, one JSON object a line.

    {"candidate": "the harbour police", "references": ["harbour police"], "label": "Correct", "document": ..., "role": ...}

Only the candidate, the reference (or references) and the label are needed; whatever else a question has may stand there too. Lines that
say who judged are what a store writes, and read as such (`exchange`).
"""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.files.json_values import Json, NotJson, decode, read_json
from tallystick.files.source import Source, read_text, shown_name
from tallystick.judging.questions import Question
from tallystick.judging.verdicts import LABELS, Label

PARTS = ("document", "event_type", "trigger", "role")


def read_labelled(path: str | Path) -> list[tuple[Question, Label]]:
    """The questions of a file, with their labels."""
    return parse_labelled(read_text(path), shown_name(path))


def parse_labelled(content: str, file: str) -> list[tuple[Question, Label]]:
    """The same for what was read already."""
    return [(question_of(row), _label(row.at("label"))) for row in read_json(Source.of_text(content, file))]


def names_judges(content: str) -> bool:
    """Whether these are judgements with their judges, as a store writes them, rather than labels alone."""
    for line in content.split("\n"):
        if line.strip():
            try:
                row = decode(line)
            except NotJson:
                return False
            return isinstance(row, dict) and bool({"key", "judge"} & row.keys())
    return False


def question_of(row: Json) -> Question:
    """The question of one object."""
    known = ("candidate", "reference", "references", "label", *PARTS)
    for name in row.mapping():
        if name not in known:
            raise row.fail(f"unknown part {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    given = row.at("references", "reference")
    references = [given] if given.key == "reference" else given.each()
    document, event_type, trigger, role = (found.text() if (found := row.get(name)) else "" for name in PARTS)
    texts = tuple(one.text() for one in references)
    return Question(row.at("candidate").text(), texts, document, event_type, trigger, role)


def _label(value: Json) -> Label:
    for label in LABELS:
        if value.value == label:
            return label
    raise value.expected(f"one of {', '.join(LABELS)}")


def read_split(path: str | Path) -> dict[str, str]:
    """A split: lines of a question's key, a tab, and train or test."""
    out: dict[str, str] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        key, _, part = line.partition("\t")
        if part.strip() not in ("train", "test"):
            raise InputError(
                f"expected a question's key, a tab, and train or test, found {line!r:.60}", Place(str(path), number)
            )
        if out.setdefault(key.strip(), part.strip()) != part.strip():
            raise InputError(f"the question {key.strip()} stands in both parts", Place(str(path), number))
    return out
