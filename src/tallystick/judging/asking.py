"""The three questions as a person meets them: the wording, and the keys of Figure 2.

    1 yes  2 no        7 (and 9, 0, letters) the references  8 none of them        3 to 6 the relation

The page and the terminal share them. A `Sheet` is an answer in the making: it says what a key changes and when it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from tallystick.judging.questions import Question
from tallystick.judging.verdicts import RELATIONS, Answers, Relation

YES, NO, NONE = "1", "2", "8"
RELATION_KEYS: dict[str, Relation] = dict(zip("3456", get_args(Relation), strict=True))
REFERENCE_KEYS = "790" + "acdefghijklmoptuvwxyz"
"""The first reference has Figure 2's key, the next ones what is free: b, n, q, r and s are commands."""


def reference_keys(n: int) -> list[str]:
    """A key for each reference; the empty string where there are more references than keys."""
    return [REFERENCE_KEYS[k] if k < len(REFERENCE_KEYS) else "" for k in range(n)]


def asked(question: Question) -> tuple[str, str, str]:
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


@dataclass(frozen=True)
class Sheet:
    """An answer in the making. `same_as` is None until Q2 is answered; an empty set is "none of them"."""

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
        """The sheet after a key; None where the key means nothing here."""
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
            )  # the last one taken back: open again, which is not "none of them"
        return None

    def turn(self, numbers: str) -> Sheet | None:
        """The sheet after references were chosen, or taken back, by their numbers from 1; None where one is none."""
        given = numbers.replace(",", " ").split()
        if not given or not all(one.isdecimal() and len(one) < 9 and 1 <= int(one) <= self.references for one in given):
            return None
        chosen = self.same_as or frozenset()
        for one in given:
            chosen ^= {int(one) - 1}
        return replace(self, same_as=chosen or None)

    def refusal(self, key: str) -> str:
        """What to say of a key that `press` knows nothing to do with."""
        known = key in RELATION_KEYS or key == NONE or (key != "" and key in reference_keys(self.references))
        if known and self.valid is not True:
            return f"Question 1 comes first: {YES} yes, {NO} no."
        shown = repr(key) if key.isprintable() else "That key"
        return f"{shown} means nothing here; the keys stand beside the answers."

    @property
    def missing(self) -> str:
        """What is still to be answered, or nothing."""
        if self.valid is None:
            return "question 1"
        if not self.valid:
            return ""
        return " and ".join(
            name for name, value in (("question 2", self.same_as), ("question 3", self.relation)) if value is None
        )

    def answers(self) -> Answers:
        """The answers of a whole sheet."""
        if not self.valid:
            return Answers(False)
        return Answers(True, tuple(sorted(self.same_as or ())), self.relation)


def summary(answers: Answers | None, question: Question) -> str:
    """What was answered, in a line."""
    if answers is None:
        return ""
    if answers.relation is None:
        return "not valid"
    same = " and ".join(f"“{question.references[k]}”" for k in answers.same_as if k < len(question.references))
    return f"valid; the same as {same or 'none'}; {RELATIONS[answers.relation][0].lower()}"
