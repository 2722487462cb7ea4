"""What a judge answers, and how the three questions of Figure 2 become one of three labels.

Q1  Is the candidate a valid answer for the role?                       no  -> Incorrect, and nothing more is asked
Q2  Does it mean the same as a reference? (several, or none)
Q3  How do they relate?   conveys at least the needed information           -> Correct
                          entirely different from the reference, but correct -> Correct
                          removes important details                          -> Partial
                          adds spurious content                              -> Incorrect
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from tallystick.errors import InputError, did_you_mean
from tallystick.judging.questions import Question

Label = Literal["Correct", "Partial", "Incorrect"]
LABELS: tuple[Label, ...] = get_args(Label)

Relation = Literal["conveys", "different", "removes", "adds"]
RELATIONS: dict[Relation, tuple[str, Label]] = {
    "conveys": ("Conveys at least the needed information", "Correct"),
    "different": ("Entirely different from the reference, but correct", "Correct"),
    "removes": ("Removes important details", "Partial"),
    "adds": ("Adds spurious content", "Incorrect"),
}
"""The answers to Q3 as a person reads them, and the label each leads to."""


@dataclass(frozen=True)
class Verdict:
    """A label, and which of the question's references the candidate stands for (indices; may be none)."""

    label: Label
    references: tuple[int, ...] = ()
    explanation: str = ""

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise InputError(
                f"a label is one of {', '.join(LABELS)}, found {self.label!r}.{did_you_mean(self.label, LABELS)}"
            )

    @property
    def said(self) -> tuple[Label, frozenset[int]]:
        """What counts in it: the label, and for which references; of something incorrect that does not matter."""
        return self.label, frozenset(() if self.label == "Incorrect" else self.references)


@dataclass(frozen=True)
class Answers:
    """The answers to the three questions. No at Q1 skips the others; after Yes, Q3 is required."""

    valid: bool
    same_as: tuple[int, ...] = ()
    relation: Relation | None = None

    def __post_init__(self) -> None:
        if not self.valid and (self.same_as or self.relation):
            raise InputError("question 1 was answered No: questions 2 and 3 are not asked then")
        if self.valid and self.relation not in RELATIONS:
            raise InputError(
                f"question 1 was answered Yes, so question 3 needs one of {', '.join(RELATIONS)}, found {self.relation!r}"
            )

    def verdict(self) -> Verdict:
        """The label that follows (appendix B of the paper)."""
        if self.relation is None:
            return Verdict("Incorrect")
        return Verdict(RELATIONS[self.relation][1], self.same_as)


@dataclass(frozen=True)
class Judgement:
    """One answer of one judge: a row of the store."""

    question: Question
    judge: str
    verdict: Verdict
    version: str = ""
    """Of the prompt, the model or the classifier; empty for a person."""
    answers: Answers | None = None
    when: str = ""
    """UTC, ISO 8601; the store fills it in."""
    details: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Judge(Protocol):
    """Anything that answers questions. What it cannot answer stays None: unjudged, never guessed."""

    @property
    def signature(self) -> str:
        """Which judge this is, for the result's signature."""
        ...

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """A verdict for each question, in their order."""
        ...
