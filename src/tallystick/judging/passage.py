"""Where trigger, references and candidate stand in a document: the passage as a person sees it.

    Though [Lazar]candidate had agreed ...        pieces   "Though ", "Lazar" {candidate}, " had agreed ..."

Marks may nest and overlap ("a concert venue in Orlando" around "Orlando"), so the text is cut wherever a mark starts or
ends, and each piece carries all the marks that cover it. Where a span is not known the text itself is looked for, and a
note says that it was, or that it is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tallystick.judging.questions import Question, Span

MARKS = ("trigger", "reference", "candidate")


@dataclass(frozen=True)
class Piece:
    """Text under the same marks, in the order of `MARKS`."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Passage:
    """A document in pieces, and what there is to be said about its marks."""

    pieces: tuple[Piece, ...]
    notes: tuple[str, ...] = ()

    def window(self, around: int) -> Passage:
        """What stands around the marks, so many characters to each side, to whole words; … for the rest. Without marks, the beginning."""
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
    """The beginning of a text, and that it goes on."""
    if len(text) <= most:
        return text
    kept = text[:most]
    return f"{kept[: kept.rfind(' ') + 1] or kept}…"


def _beginning(text: str, most: int) -> str:
    """The end of a text, and that there is more before it."""
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
            notes.append(f"Where the {mark} “{text}” stands is not recorded: all {len(spans)} places are marked.")
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
    """Every place of a text, as whole words, whatever the white space; in the same case if it is there so."""
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
