"""Questions about candidates that no rule accepts: how they are put, and which come first (section 6.2).

A question has all references of the event's role, left to right, whatever else is matched already. A candidate is shown in the place that
was predicted; one without a place, or in a place that says something else, where its words stand nearest to the trigger. So the same candidate of
another system is the same question. Where there is no text, or no trigger, the ids of document and event tell questions apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tallystick.judges.questions import Question
from tallystick.metrics.argument_forms import Wording
from tallystick.metrics.argument_stages import Block, Candidate
from tallystick.reading.generated import nearest
from tallystick.structures.arguments import ArgumentDocument, DescribedEvent, Span


@dataclass(frozen=True)
class Asker:
    """Puts the questions about one document, which is the reference's."""

    document: ArgumentDocument
    wording: Wording
    id: str = ""
    """Which document it is."""

    @cached_property
    def text(self) -> str:
        """The document as one text: its tokens with blanks between."""
        return " ".join(self.document.tokens)

    @cached_property
    def starts(self) -> list[int]:
        """Where each token begins in the text."""
        out, at = [], 0
        for token in self.document.tokens:
            out.append(at)
            at += len(token) + 1
        return out

    @cached_property
    def events(self) -> dict[str, DescribedEvent]:
        """The events by their ids."""
        return {event.id: event for event in self.document.events}

    def characters(self, span: Span | None) -> Span | None:
        """A span of tokens as a span of characters."""
        if span is None or span[1] >= len(self.starts) or span[1] < span[0]:
            return None
        start, end = self.starts[span[0]], self.starts[span[1]] + len(self.document.tokens[span[1]])
        return (start, end) if end > start else None

    def ask(self, block: Block, candidate: Candidate) -> Question:
        """Does the candidate fill the role, and as which reference?"""
        event = self.events.get(block.event, DescribedEvent(block.event))
        return Question(
            candidate.text,
            tuple(reference.text for reference in block.references),
            self.text,
            event.type,
            event.trigger,
            block.role,
            self.characters(self._place(candidate, event)),
            tuple(self.characters(reference.span) for reference in block.references),
            self.characters(event.span),
            self._source(event),
        )

    def _source(self, event: DescribedEvent) -> str:
        """What the question does not say by itself: which document where there is no text, which event where there is no trigger."""
        if not self.text.strip():
            return f"document {self.id}, event {event.id}"
        return "" if event.trigger else f"event {event.id}"

    def _place(self, candidate: Candidate, event: DescribedEvent) -> Span | None:
        if candidate.span is not None and (self._says(candidate) or self.wording.read(candidate.text).pronoun):
            return candidate.span
        start, end = event.span or (0, -1)
        return nearest(candidate.text.split(), self.document.tokens, start, end + 1) or candidate.span

    def _says(self, candidate: Candidate) -> bool:
        """Whether the candidate's place says what it says."""
        assert candidate.span is not None
        there = self.document.tokens[candidate.span[0] : candidate.span[1] + 1]
        return "".join(there).casefold() == "".join(candidate.text.split()).casefold()


def most_made(systems: Iterable[Sequence[Question]], top: int | None = None) -> list[Question]:
    """The questions that most systems give rise to, first; those of equally many in the order of the corpus."""
    asked: dict[str, Question] = {}
    made: dict[str, int] = {}
    for questions in systems:
        for key, question in {question.key: question for question in questions}.items():
            asked.setdefault(key, question)
            made[key] = made.get(key, 0) + 1
    ordered = sorted(asked, key=lambda key: -made[key])
    return [asked[key] for key in ordered[:top]]
