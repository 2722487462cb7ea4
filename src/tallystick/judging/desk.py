"""How a person meets a question: the passage with its marks, the wording and the keys of Figure 2, and the person's desk at a store.

    Though [Lazar]candidate had agreed ...        pieces   "Though ", "Lazar" {candidate}, " had agreed ..."

Marks may nest and overlap ("a concert venue in Orlando" around "Orlando"), so the text is cut wherever a mark starts or ends, and each
piece carries all the marks that cover it. Where a span is not known, the text itself is searched for, and a note says so.

    1 yes  2 no        7 (and 9, 0, letters) the references  8 none of them        3 to 6 the relation

The page and the terminal share the keys. A `Sheet` is an unfinished answer: it knows what a key changes and when it is complete.

Two people judge independently: each sees the other's answer only after giving one. If a person changes an answer after that, the first
label stays in the judgement's details, and the agreement reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import get_args

from tallystick.errors import InputError
from tallystick.frozen import frozen
from tallystick.judging.agreement import Agreement, agreement
from tallystick.judging.questions import (
    LONGEST_NAME,
    RELATIONS,
    Answers,
    Judgement,
    Label,
    Question,
    Relation,
    Span,
    Verdict,
)
from tallystick.judging.store import Store

MARKS = ("trigger", "reference", "candidate")


@frozen
class Piece:
    """Text under the same marks, in the order of `MARKS`."""

    text: str
    marks: tuple[str, ...] = ()


@frozen
class Passage:
    """A document in pieces, and notes about its marks."""

    pieces: tuple[Piece, ...]
    notes: tuple[str, ...] = ()

    def window(self, around: int) -> Passage:
        """The text around the marks, so many characters to each side, in whole words; … for the rest. Without marks, the beginning."""
        marked = [k for k, piece in enumerate(self.pieces) if piece.marks]
        if not marked:
            return Passage(tuple(Piece(_ending(piece.text, around)) for piece in self.pieces[:1]), self.notes)
        out = []
        for k, piece in enumerate(self.pieces):
            if piece.marks:
                out.append(piece)
            elif k < marked[0]:
                out.append(Piece(_beginning(piece.text, around)))
            elif k > marked[-1]:
                out.append(Piece(_ending(piece.text, around)))
            elif len(piece.text) > 2 * around:
                out.append(Piece(f"{_ending(piece.text, around)} {_beginning(piece.text, around)}".replace("… …", "…")))
            else:
                out.append(piece)
        return Passage(tuple(out), self.notes)


def _ending(text: str, most: int) -> str:
    """The beginning of a text, with … if there is more."""
    if len(text) <= most:
        return text
    kept = text[:most]
    return f"{kept[: kept.rfind(' ') + 1] or kept}…"


def _beginning(text: str, most: int) -> str:
    """The end of a text, with … if there is more before it."""
    if len(text) <= most:
        return text
    kept = text[-most:]
    return f"…{kept[kept.find(' ') :] if ' ' in kept else kept}"


def passage_of(question: Question) -> Passage:
    """The document of a question with its marks."""
    document = question.document
    if not document:
        return Passage(())
    found: list[tuple[Span, str]] = []
    notes = []
    for mark, text, span in _wanted(question):
        spans = [span] if span is not None else occurrences(text, document)
        found += [(one, mark) for one in spans]
        if span is None and not spans:
            notes.append(f"The {mark} “{text}” is not in the document word for word.")
        elif span is None and len(spans) > 1:
            notes.append(
                f"The position of the {mark} “{text}” is not recorded: all {len(spans)} occurrences are marked."
            )
    cuts = sorted({0, len(document), *(end for span, _ in found for end in span)})
    pieces = [
        Piece(document[a:b], tuple(m for m in MARKS if any(s <= a and b <= e for (s, e), mark in found if mark == m)))
        for a, b in pairwise(cuts)
    ]
    return Passage(tuple(pieces), tuple(dict.fromkeys(notes)))


def _wanted(question: Question) -> Iterator[tuple[str, str, Span | None]]:
    if question.trigger or question.trigger_span:
        yield "trigger", question.trigger, question.trigger_span
    for text, span in zip(question.references, question.reference_spans, strict=True):
        yield "reference", text, span
    yield "candidate", question.candidate, question.candidate_span


def occurrences(text: str, document: str) -> list[Span]:
    """Every occurrence of a text as whole words, whatever the white space; in the same case if there is one."""
    parts = re.findall(r"\w+|[^\w\s]", text)
    if not parts:
        return []
    pattern = re.escape(parts[0])
    for before, part in pairwise(parts):
        between = r"\s+" if before[-1].isalnum() and part[0].isalnum() else r"\s*"
        pattern += between + re.escape(part)
    pattern = rf"(?<!\w){pattern}" if parts[0][0].isalnum() else pattern
    pattern = rf"{pattern}(?!\w)" if parts[-1][-1].isalnum() else pattern
    same = [match.span() for match in re.finditer(pattern, document)]
    return same or [match.span() for match in re.finditer(pattern, document, re.IGNORECASE)]


# -- the three questions ----------------------------------------------------------------------------------------------


YES, NO, NONE = "1", "2", "8"
RELATION_KEYS: dict[str, Relation] = dict(zip("3456", get_args(Relation), strict=True))
REFERENCE_KEYS = "790" + "acdefghijklmoptuvwxyz"
"""The first reference has the key of Figure 2, the others the free keys: b, n, q, r and s are commands."""


def reference_keys(n: int) -> list[str]:
    """A key for each reference; an empty string if there are more references than keys."""
    return [REFERENCE_KEYS[k] if k < len(REFERENCE_KEYS) else "" for k in range(n)]


def question_texts(question: Question) -> tuple[str, str, str]:
    """The wording of Q1, Q2 and Q3 for this question."""
    candidate = f"“{question.candidate}”"
    if question.role and question.trigger:
        first = f"Is {candidate} a valid answer to: who or what is the {question.role} of “{question.trigger}”?"
    elif question.role:
        first = f"Is {candidate} a valid answer to: who or what is the {question.role}?"
    elif len(question.references) == 1:
        first = f"Is {candidate} an acceptable answer where the reference is “{question.references[0]}”?"
    else:
        first = f"Is {candidate} an acceptable answer?"
    return (
        first,
        f"Does {candidate} mean the same as any of these?",
        "How does the candidate relate to the reference?"
        if question.references
        else "How does the candidate relate to what is asked for?",
    )


@frozen
class Sheet:
    """An unfinished answer. `same_as` is None until Q2 is answered; an empty set is "none of them"."""

    references: int
    valid: bool | None = None
    same_as: frozenset[int] | None = None
    relation: Relation | None = None

    @classmethod
    def of(cls, question: Question, answers: Answers | None = None) -> Sheet:
        """An empty sheet, or the one that gave these answers."""
        blank = cls(len(question.references), same_as=None if question.references else frozenset())
        if answers is None:
            return blank
        given = frozenset(answers.same_as) if answers.valid else blank.same_as
        return replace(blank, valid=answers.valid, same_as=given, relation=answers.relation)

    def press(self, key: str) -> Sheet | None:
        """The sheet after a key; None if the key means nothing here."""
        if key == YES:
            return replace(self, valid=True)
        if key == NO:
            return replace(self, valid=False)
        if self.valid is not True:  # Q2 and Q3 come after Yes
            return None
        if key in RELATION_KEYS:
            return replace(self, relation=RELATION_KEYS[key])
        if key == NONE:
            return replace(self, same_as=frozenset())
        keys = reference_keys(self.references)
        if key and key in keys:
            chosen = (self.same_as or frozenset()) ^ {keys.index(key)}
            return replace(
                self, same_as=chosen or None
            )  # the last one unchosen: open again, which is not "none of them"
        return None

    def turn(self, numbers: str) -> Sheet | None:
        """The sheet after references were chosen, or unchosen, by their numbers from 1; None if a number is wrong."""
        given = numbers.replace(",", " ").split()
        if not given or not all(one.isdecimal() and len(one) < 9 and 1 <= int(one) <= self.references for one in given):
            return None
        chosen = self.same_as or frozenset()
        for one in given:
            chosen ^= {int(one) - 1}
        return replace(self, same_as=chosen or None)

    def refusal(self, key: str) -> str:
        """The message for a key that `press` does not accept."""
        known = key in RELATION_KEYS or key == NONE or (key != "" and key in reference_keys(self.references))
        if known and self.valid is not True:
            return f"Question 1 comes first: {YES} yes, {NO} no."
        shown = repr(key) if key.isprintable() else "That key"
        return f"{shown} does nothing here; the keys are shown beside the answers."

    @property
    def missing(self) -> str:
        """Which questions are still open; empty if none are."""
        if self.valid is None:
            return "question 1"
        if not self.valid:
            return ""
        return " and ".join(
            name for name, value in (("question 2", self.same_as), ("question 3", self.relation)) if value is None
        )

    def answers(self) -> Answers:
        """The answers of a complete sheet."""
        if not self.valid:
            return Answers(False)
        return Answers(True, tuple(sorted(self.same_as or ())), self.relation)


def summary(answers: Answers | None, question: Question) -> str:
    """The answers in one line."""
    if answers is None:
        return ""
    if answers.relation is None:
        return "not valid"
    same = " and ".join(f"“{question.references[k]}”" for k in answers.same_as if k < len(question.references))
    return f"valid; the same as {same or 'none'}; {RELATIONS[answers.relation][0].lower()}"


# -- one person's desk ------------------------------------------------------------------------------------------------


def person_name(store: Store, name: str) -> str:
    """The name of a person, trimmed; an error if it is invalid, or belongs to a model."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"a name of 1 to {LONGEST_NAME} characters is needed, found {name[:LONGEST_NAME]!r}")
    kind = store.judges().get(name, ("person", 0))[0]
    if kind != "person":
        raise InputError(f"{name!r} is the name of a judge of another kind here ({kind}); use another")
    return name


@frozen
class Difference:
    """A question that two people answered differently."""

    place: int
    first: Judgement
    second: Judgement


class Desk:
    """`Desk(store, "anna")`: her questions, her answers."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = person_name(store, name)

    def queue(self) -> list[str]:
        """The keys of the questions, in order."""
        return self.store.queue()

    def labels(self) -> dict[str, Label]:
        """This person's labels."""
        return self.store.labels(self.name)

    def next_open(self, place: int) -> int | None:
        """The place of the next open question, from a place onwards and then from the start."""
        keys, done = self.queue(), self.labels()
        order = [*range(place, len(keys)), *range(min(place, len(keys)))]
        return next((k for k in order if keys[k] not in done), None)

    def question(self, place: int) -> Question:
        """The question at a place."""
        keys = self.queue()
        if not 0 <= place < len(keys):
            raise InputError(f"there is no question {place + 1}; there are {len(keys):,}")
        question = self.store.question(keys[place])
        assert question is not None
        return question

    def own(self, key: str) -> Judgement | None:
        """This person's answer to a question."""
        return self.store.judgement(key, self.name)

    def answer(self, question: Question, answers: Answers, remark: str = "") -> Verdict:
        """Save an answer; it is on the disk when this returns."""
        if not all(0 <= k < len(question.references) for k in answers.same_as):
            raise InputError(
                f"question 2 names reference {max(answers.same_as) + 1}; there are {len(question.references)}"
            )
        before, details = self.own(question.key), {}
        if before is not None and self.others(question.key):
            details = {"independent": before.details.get("independent", before.verdict.label)}
        verdict = replace(answers.verdict(), explanation=remark.strip())
        self.store.add(Judgement(question, self.name, verdict, answers=answers, details=details))
        return verdict

    def colleagues(self) -> list[str]:
        """The other people who have judged here."""
        people = (voice.judge for voice in self.store.voices() if voice.kind == "person")
        return [name for name in dict.fromkeys(people) if name != self.name]

    def others(self, key: str) -> list[Judgement]:
        """The others' judgements on a question, once this person has answered it."""
        if self.own(key) is None:
            return []
        found = (self.store.judgement(key, name) for name in self.colleagues())
        return [one for one in found if one is not None]

    def agreements(self) -> list[Agreement]:
        """The agreement so far with each of the others."""
        mine = self.labels()
        return [agreement(mine, self.store.labels(other), (self.name, other)) for other in self.colleagues()]

    def differences(self, other: str) -> list[Difference]:
        """The questions that both answered, with different labels or different references."""
        theirs = {one.question.key: one for one in self.store.judgements(other)}
        mine = {one.question.key: one for one in self.store.judgements(self.name)}
        return [
            Difference(place, mine[key], theirs[key])
            for place, key in enumerate(self.queue())
            if key in mine and key in theirs and mine[key].verdict.decision != theirs[key].verdict.decision
        ]
