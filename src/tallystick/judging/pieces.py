"""What a model is shown of a question, piece by piece, and the verdict that its answers to the pieces make together.

A model that is shown a reference is asked about one at a time: a question of n references is n pieces. One that is shown none is
asked once. A piece holds nothing but what the prompt has a place for: two that look alike to the model are one, and asked once. So a
piece that was answered tells what its prompt showed, and a store of answers can be read as the model itself would answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tallystick.judging.questions import Question
from tallystick.judging.verdicts import Verdict

PARTS = ("document", "event_type", "trigger", "role")
"""What a prompt may show of a question beside candidate and reference."""


@dataclass(frozen=True)
class Sight:
    """What of a question is shown."""

    parts: frozenset[str]
    reference: bool

    @classmethod
    def of(cls, piece: Question) -> Sight:
        """As it was for a piece that was asked: a prompt is refused where what it has a place for is empty."""
        return cls(frozenset(part for part in PARTS if getattr(piece, part)), bool(piece.references))

    @property
    def asks(self) -> str:
        """How a judge with this sight is asked: about pairs, or about the candidate alone."""
        return "pairs" if self.reference else "alone"

    def shown(self, question: Question) -> Question:
        """A question of one reference at most, as far as it is shown."""
        kept = {part: getattr(question, part) for part in self.parts}
        return Question(question.candidate, question.references[:1] if self.reference else (), **kept)

    def pieces(self, question: Question) -> list[Question]:
        """What is asked about a question: each reference by itself, or the candidate alone."""
        if not self.reference:
            return [self.shown(question)]
        return [self.shown(question.only(k)) for k in range(len(question.references))]

    def together(self, question: Question, verdicts: Mapping[str, Verdict]) -> Verdict | None:
        """The verdict on a question from those on its pieces, by their keys. A pair without one leaves it open, unless another is Correct."""
        parts = [verdicts.get(piece.key) for piece in self.pieces(question)]
        if not self.reference:
            return parts[0]
        best = best_of(parts)
        return best if best is None or best.label == "Correct" or None not in parts else None


def best_of(parts: Sequence[Verdict | None]) -> Verdict | None:
    """The verdict on a candidate from those against each reference: the best label, for the references that earned it."""
    for label in ("Correct", "Partial", "Incorrect"):
        found = [k for k, part in enumerate(parts) if part is not None and part.label == label]
        if found:
            explanation = next((one.explanation for k in found if (one := parts[k]) and one.explanation), "")
            return Verdict(label, () if label == "Incorrect" else tuple(found), explanation)
    return None
