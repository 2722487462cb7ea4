"""What a report shows of spans: the text with the segments of both sides, and what became of each.

The pairs are those of `metrics.span_errors`: right ones first, then what shares a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.tally import Labelled
from tallystick.results.explanation import Explanation
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.tasks.spans.errors import Alignment, Outcome, align, span_of
from tallystick.tasks.spans.show import errors_tables

if TYPE_CHECKING:
    from tallystick.results.result import Result
    from tallystick.tasks.spans.files import SpanCorpus
    from tallystick.tasks.spans.segments import Span


def spans_parts(corpus: SpanCorpus, results: Mapping[str, Result], listed: int = 50) -> Parts:
    """Figures by tag, what went wrong, and for each document its text with the segments of both sides."""
    from tallystick.results.tables import labels_table

    alignment = align(corpus.texts)
    drawn = DrawnSpans(corpus, alignment)
    labelled = {name: result for name, result in results.items() if isinstance(result.kind, Labelled)}
    return Parts(
        [labels_table(result, title=f"By tag, under {name}") for name, result in labelled.items()],
        errors_tables(corpus, alignment, listed, brief=True),
        explain=drawn.explain,
        draw=drawn.draw,
        alignment="Segments of both sides",
    )


class DrawnSpans:
    """The segments of any document, as a drawing and as a list."""

    def __init__(self, corpus: SpanCorpus, alignment: Alignment) -> None:
        self.corpus, self.alignment = corpus, alignment
        self.texts: dict[Any, list[int]] = {}
        for text in range(corpus.texts.texts):
            document = text if corpus.documents is None else int(corpus.documents[text])
            self.texts.setdefault(corpus.ids[document], []).append(text)
        of_text = alignment.text()
        self.entries = np.argsort(of_text, kind="stable")
        self.begins = np.searchsorted(of_text[self.entries], np.arange(corpus.texts.texts + 1))

    def _found(self, document: Any) -> Iterator[tuple[int, Outcome, Span | None, Span | None]]:
        """Text, outcome and both segments of each entry of the alignment, in the order of the text."""
        for text in self.texts[document]:
            rows = []
            for entry in self.entries[self.begins[text] : self.begins[text + 1]].tolist():
                sides = [
                    span_of(self.alignment.texts, side, int(numbers[entry]))
                    for side, numbers in (
                        (self.alignment.texts.reference, self.alignment.reference),
                        (self.alignment.texts.predicted, self.alignment.predicted),
                    )
                ]
                rows.append((text, Outcome(int(self.alignment.outcome[entry])), sides[0], sides[1]))
            yield from sorted(rows, key=lambda row: min(span.start for span in row[2:] if span is not None))

    def draw(self, document: Any) -> Sequence[Drawing]:
        """The text with the segments of both sides; nothing where the tokens are not known."""
        sentences = [self.corpus.tokens(text) for text in self.texts[document]]
        if not any(sentences):
            return []
        begins = dict(zip(self.texts[document], np.cumsum([0, *map(len, sentences)]).tolist(), strict=False))
        marks: tuple[list[Mark], list[Mark]] = ([], [])
        status = {Outcome.CORRECT: RIGHT, Outcome.MISSED: MISSED, Outcome.SPURIOUS: SPURIOUS}
        for number, (text, outcome, *spans) in enumerate(self._found(document)):
            for side, span in enumerate(spans):
                for start, end in () if span is None else span.pieces or ((span.start, span.end),):
                    place = begins[text] + start, begins[text] + end
                    marks[side].append(Mark(*place, span.tag if span else "", status.get(outcome, PART), number))
        return [TextDrawing("Segments in the text", sentences, *marks)]

    def explain(self, document: Any) -> Explanation:
        """The segments of both sides, pair by pair."""
        children = []
        for text, outcome, reference, predicted in self._found(document):
            status = {Outcome.MISSED: "missed", Outcome.SPURIOUS: "spurious"}.get(outcome, "matched")
            children.append(
                Explanation(
                    str(outcome), status, self._said(text, reference), self._said(text, predicted),
                    float(outcome == Outcome.CORRECT), float(reference is not None), float(predicted is not None), "segment",
                )
            )  # fmt: skip
        right, ours, theirs = (
            sum(getattr(child, name) for child in children) for name in ("weight", "reference_self", "predicted_self")
        )
        return Explanation(
            "segments", "matched", None, None, right, ours, theirs, "segment", True, tuple(children)
        )  # fmt: skip

    def _said(self, text: int, span: Span | None) -> str | None:
        if span is None:
            return None
        where = ",".join(f"{start}–{end - 1}" for start, end in span.pieces or ((span.start, span.end),))
        return f"{span.tag} {self.corpus.words(text, span)} [{where}]"
