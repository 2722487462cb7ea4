"""What is shown of spans: what went wrong, segment by segment (an alignment, the kinds of errors, a confusion table), tables, and texts.

Segments are aligned one-to-one. Those that are right in everything first; among what is left, the pairs that
share a token with the greatest total of IoU(g, p) + [same tag]. A pair that is not right is an error of

    boundary    same tag, other boundaries           both     other tag, other boundaries
    type        same boundaries, other tag           missed, spurious: the segments without a pair

A boundary error is measured in tokens off, |G u P| - |G n P|; one token off is "close".

The alignment explains the scores and is part of none. It does not depend on the order of the segments.

What is wrong with spans, and what mends it: the outcomes of the alignment (`align`). Mended, a segment is the one of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import I64
from tallystick.engine.tally import Labelled
from tallystick.errors import MetricError
from tallystick.files.pairing import place_of
from tallystick.frozen import frozen
from tallystick.results.errors import EXTRA, MISSING, confusion_table
from tallystick.results.explanation import Explanation, Plain, explain_document
from tallystick.results.mistakes import Mistake, around, offsets, put
from tallystick.results.tables import labels_table
from tallystick.show import drawings
from tallystick.show.tables import Table
from tallystick.tasks.spans.counts import (
    AnnotatedTexts,
    IntArray,
    Pairs,
    Pieces,
    Segments,
    Span,
    canonical_order,
    one_to_one,
    overlapping_pairs,
    same_boundaries,
    same_tag,
    scheme_pairs,
)
from tallystick.tasks.spans.files import SpanCorpus

if TYPE_CHECKING:
    from tallystick.results.confidence import Claims
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.tasks.spans.metrics import Prepared


class Outcome(IntEnum):
    """What became of a segment."""

    CORRECT = 0
    BOUNDARY = 1
    TYPE = 2
    BOTH = 3
    MISSED = 4
    SPURIOUS = 5

    def __str__(self) -> str:
        return self.name.lower()


@frozen
class SpanError:
    """One error: the text, the true and the predicted segment (or None), by how many tokens it is off."""

    outcome: Outcome
    text: int
    reference: Span | None
    predicted: Span | None
    tokens_off: int
    numbers: tuple[int, int] = field(default=(-1, -1), repr=False, compare=False)
    """Which segment of each side it is; -1: none."""


@frozen(eq=False)
class Alignment:
    """All segments of both sides, each once: pairs, missed and spurious ones (-1 on the other side)."""

    texts: AnnotatedTexts
    reference: IntArray
    predicted: IntArray
    outcome: IntArray
    tokens_off: IntArray

    def text(self) -> IntArray:
        """The text of each entry."""
        gold, guess = self.texts.reference.text, self.texts.predicted.text
        if not len(gold) or not len(guess):
            return gold[self.reference] if len(gold) else guess[self.predicted]
        return np.where(self.reference >= 0, gold[self.reference], guess[self.predicted])

    def confusion(self) -> IntArray:
        """True tag by predicted tag; the last row holds spurious segments, the last column missed ones."""
        size = len(self.texts.tags) + 1
        gold = np.append(self.texts.reference.tag, size - 1)[self.reference]  # -1 takes the appended one
        guess = np.append(self.texts.predicted.tag, size - 1)[self.predicted]
        return np.bincount(gold * size + guess, minlength=size * size).reshape(size, size)

    def boundary_errors(self) -> dict[int, int]:
        """How many pairs of one tag are how many tokens off."""
        off, count = np.unique(self.tokens_off[self.outcome == Outcome.BOUNDARY], return_counts=True)
        return dict(zip(off.tolist(), count.tolist(), strict=True))

    def spans(self, entry: int) -> tuple[Span | None, Span | None]:
        """The true and the predicted segment of an entry."""
        texts = self.texts
        reference = span_of(texts, texts.reference, int(self.reference[entry]))
        return reference, span_of(texts, texts.predicted, int(self.predicted[entry]))

    def errors(self) -> list[SpanError]:
        """The errors by text and position."""
        wrong = np.flatnonzero(self.outcome != Outcome.CORRECT)
        text = self.text()[wrong]
        gold_start = np.append(self.texts.reference.start, np.iinfo(np.int64).max)[self.reference[wrong]]
        guess_start = np.append(self.texts.predicted.start, np.iinfo(np.int64).max)[self.predicted[wrong]]
        order = np.lexsort((self.outcome[wrong], np.minimum(gold_start, guess_start), text))
        return [
            SpanError(
                Outcome(int(self.outcome[entry])),
                place,
                *self.spans(entry),
                int(self.tokens_off[entry]),
                (int(self.reference[entry]), int(self.predicted[entry])),
            )
            for entry, place in zip(wrong[order].tolist(), text[order].tolist(), strict=True)
        ]


def align(texts: AnnotatedTexts) -> Alignment:
    """Align the segments of both sides; the numbers in the result are those of the given segments."""
    gold_order, guess_order = canonical_order(texts.reference), canonical_order(texts.predicted)
    ordered = replace(texts, reference=texts.reference.take(gold_order), predicted=texts.predicted.take(guess_order))
    pairs = overlapping_pairs(ordered)
    right = pairs.take(same_boundaries(ordered, pairs) & same_tag(ordered, pairs))
    right = right.take(one_to_one(right, np.ones(len(right))))
    gold_free = np.ones(len(texts.reference), dtype=np.bool_)
    guess_free = np.ones(len(texts.predicted), dtype=np.bool_)
    gold_free[right.reference], guess_free[right.predicted] = False, False
    others = pairs.take(gold_free[pairs.reference] & guess_free[pairs.predicted])
    others = others.take(one_to_one(others, others.tokens / _union(ordered, others) + same_tag(ordered, others)))
    found = aligned(ordered, right, others)
    return replace(
        found,
        texts=texts,
        reference=np.append(gold_order, -1)[found.reference],  # -1 takes the appended one
        predicted=np.append(guess_order, -1)[found.predicted],
    )


def aligned(texts: AnnotatedTexts, *chosen: Pairs) -> Alignment:
    """The alignment that some pairs make: these, then what was missed, then what is spurious."""
    pairs_r, pairs_p = (np.concatenate([getattr(some, side) for some in chosen]) for side in ("reference", "predicted"))
    free = [np.ones(len(side), dtype=np.bool_) for side in (texts.reference, texts.predicted)]
    free[0][pairs_r], free[1][pairs_p] = False, False
    missed, spurious = np.flatnonzero(free[0]), np.flatnonzero(free[1])
    kinds = []
    for some in chosen:
        tags, bounds = same_tag(texts, some), same_boundaries(texts, some)
        wrong = np.where(tags, Outcome.BOUNDARY, np.where(bounds, Outcome.TYPE, Outcome.BOTH))
        kinds.append(np.where(tags & bounds, Outcome.CORRECT, wrong))
    alone = [np.full(len(missed), Outcome.MISSED), np.full(len(spurious), Outcome.SPURIOUS)]
    off = [_union(texts, some) - some.tokens for some in chosen]
    return Alignment(
        texts,
        np.concatenate((pairs_r, missed, np.full(len(spurious), -1))),
        np.concatenate((pairs_p, np.full(len(missed), -1), spurious)),
        np.concatenate((*kinds, *alone)).astype(np.int64),
        np.concatenate((*off, np.zeros(len(missed) + len(spurious), np.int64))),
    )


def _union(texts: AnnotatedTexts, pairs: Pairs) -> IntArray:
    gold, guess = texts.reference.lengths(), texts.predicted.lengths()
    return gold[pairs.reference] + guess[pairs.predicted] - pairs.tokens


def span_of(texts: AnnotatedTexts, side: Segments, number: int) -> Span | None:
    """A segment by its number; None for -1."""
    if number < 0:
        return None
    pieces: tuple[tuple[int, int], ...] = ()
    if side.pieces is not None:
        mine = np.arange(*np.searchsorted(side.pieces.segment, (number, number + 1)))
        if len(mine) > 1:
            pieces = tuple(zip(side.pieces.start[mine].tolist(), side.pieces.end[mine].tolist(), strict=True))
    return Span(int(side.start[number]), int(side.end[number]), texts.tags[side.tag[number]], pieces)


# Tables about spans: the report that seqeval's users know, and what was repaired.


def seqeval_report(result: Result, digits: int = 2) -> str:
    """The figures of each tag and the three averages in the layout of `seqeval.metrics.classification_report`."""
    names = ("precision", "recall", "f1")
    rows = sorted(result.by_label(), key=lambda row: str(row.label))
    total = result.kind.support(result.sums)[: len(result.kind.tags)].sum()  # type: ignore[attr-defined]
    return report_text(
        [(row.label, *(row.figures[name] or 0 for name in names), row.support) for row in rows],
        [(f"{one} avg", *(found[name] or 0 for name in names), total) for one, found in result.averages.items()],
        digits,
    )


Row = tuple[Any, ...]
"""A name, precision, recall, F1 and support; a figure that is None has no number."""


def report_text(rows: Sequence[Row], means: Sequence[Row], digits: int = 2) -> str:
    """The layout of seqeval's and scikit-learn's reports: labels, then averages."""
    if type(digits) is not int or digits < 0:
        raise MetricError(f"digits: expected a whole number of decimals, found {digits!r:.60}")
    width = max(len("weighted avg"), digits, *(len(str(row[0])) for row in rows), 0)

    def line(name: str, *figures: Any) -> str:
        shown = "".join(f" {'':>9}" if one is None else f" {one:>9.{digits}f}" for one in figures[:3])
        support = figures[3]
        return f"{name!s:>{width}s} {shown} {int(support) if support == int(support) else support:>9}"

    head = f"{'':>{width}s} " + "".join(f" {name:>9}" for name in ("precision", "recall", "f1-score", "support"))
    return "\n".join([head, "", *(line(*row) for row in rows), "", *(line(*row) for row in means), ""])


def repairs_table(corpus: SpanCorpus, limit: int | None = None) -> Table:
    """Every tag that does not follow the scheme, with its place."""
    rows = [
        [_brief(corpus, str(place)), tag, str(fault)]
        for repairs in corpus.repairs
        for place, tag, fault in repairs.listed(limit)
    ]
    return Table(["where", "tag", "what is wrong"], rows, "Tags that break the scheme")


def repairs_as_dict(corpus: SpanCorpus, limit: int | None = None) -> dict[str, Any]:
    """The repairs of both sides: how many of each kind, and their list."""
    return {
        ("reference", "predicted")[repairs.side]: {
            "count": len(repairs),
            "kinds": {str(fault): number for fault, number in repairs.counts().items()},
            "listed": [
                {"where": str(place), "tag": tag, "what": str(fault)} for place, tag, fault in repairs.listed(limit)
            ],
        }
        for repairs in corpus.repairs
    }


def _brief(corpus: SpanCorpus, where: str) -> str:
    """A place with the name of its file; with the whole path where both files have one name."""
    names = [] if corpus.tagged is None else [PurePath(origin.name).name for origin in corpus.tagged.origins]
    return PurePath(where).name if names and len(set(names)) == len(names) else where


# What a report shows of spans: the text with the segments of both sides, and what became of each.


def spans_parts(corpus: SpanCorpus, results: Mapping[str, Result]) -> Parts:
    """Figures by tag, and for each document its text with the segments of both sides."""
    from tallystick.results.report import Parts

    drawn = DrawnSpans(corpus, align(corpus.texts))
    labelled = {name: result for name, result in results.items() if isinstance(result.kind, Labelled)}
    return Parts(
        [labels_table(result, title=f"By tag, under {name}") for name, result in labelled.items()],
        explain=drawn.explain,
        draw=drawn.draw,
        alignment="Segments of both sides",
    )


class DrawnSpans:
    """The segments of any document, as a drawing and as a list."""

    def __init__(self, corpus: SpanCorpus, alignment: Alignment, worth: Sequence[float] | None = None) -> None:
        """`worth`: what each entry of the alignment counts; those that are right 1, and others nothing, unless given."""
        self.corpus, self.alignment = corpus, alignment
        self.worth = (alignment.outcome == Outcome.CORRECT).astype(float).tolist() if worth is None else worth
        self.texts: dict[Any, list[int]] = {one: [] for one in corpus.ids}
        for text in range(corpus.texts.texts):
            document = text if corpus.documents is None else int(corpus.documents[text])
            self.texts[corpus.ids[document]].append(text)
        of_text = alignment.text()
        self.entries = np.argsort(of_text, kind="stable")
        self.begins = np.searchsorted(of_text[self.entries], np.arange(corpus.texts.texts + 1))

    def _found(self, document: Any) -> Iterator[tuple[int, Outcome, float, Span | None, Span | None]]:
        """Text, outcome, worth and both segments of each entry of the alignment, in the order of the text."""
        for text in self.texts[document]:
            rows = [
                (text, Outcome(int(self.alignment.outcome[entry])), self.worth[entry], *self.alignment.spans(entry))
                for entry in self.entries[self.begins[text] : self.begins[text + 1]].tolist()
            ]
            yield from sorted(rows, key=lambda row: min(span.start for span in row[3:] if span is not None))

    def draw(self, document: Any) -> Sequence[drawings.Drawing]:
        """The text with the segments of both sides; nothing where the tokens are not known."""
        sentences = [self.corpus.tokens(text) for text in self.texts[document]]
        if not any(sentences):
            return []
        begins = dict(zip(self.texts[document], np.cumsum([0, *map(len, sentences)]).tolist(), strict=False))
        marks: tuple[list[drawings.Mark], list[drawings.Mark]] = ([], [])
        status = {Outcome.CORRECT: drawings.RIGHT, Outcome.MISSED: drawings.MISSED, Outcome.SPURIOUS: drawings.SPURIOUS}
        for number, (text, outcome, _, *spans) in enumerate(self._found(document)):
            for side, span in enumerate(spans):
                for start, end in () if span is None else span.pieces or ((span.start, span.end),):
                    place = begins[text] + start, begins[text] + end
                    marks[side].append(
                        drawings.Mark(*place, span.tag if span else "", status.get(outcome, drawings.PART), number)
                    )
        return [drawings.TextDrawing("Segments in the text", sentences, *marks)]

    def explain(self, document: Any) -> Explanation:
        """The segments of both sides, pair by pair."""
        children = []
        for text, outcome, worth, reference, predicted in self._found(document):
            status = {Outcome.MISSED: "missed", Outcome.SPURIOUS: "spurious"}.get(outcome, "matched")
            children.append(
                Explanation(
                    str(outcome), status, span_text(self.corpus, text, reference), span_text(self.corpus, text, predicted),
                    worth, float(reference is not None), float(predicted is not None), "segment",
                )
            )  # fmt: skip
        right, ours, theirs = (
            sum(getattr(child, name) for child in children) for name in ("weight", "reference_self", "predicted_self")
        )
        return Explanation(
            "segments", "matched", None, None, right, ours, theirs, "segment", True, tuple(children)
        )  # fmt: skip


def span_text(corpus: SpanCorpus, text: int, span: Span | None) -> str | None:
    """A segment in words: `PER Marie Curie [0–1]`."""
    if span is None:
        return None
    pieces = span.pieces or ((span.start, span.end),)
    where = ",".join(str(start) if end - start == 1 else f"{start}–{end - 1}" for start, end in pieces)
    return Plain(f"{span.tag} {corpus.words(text, span)} [{where}]".replace("  ", " "))


def span_tree(name: str, corpus: SpanCorpus, prepared: Prepared, document: Any) -> Explanation:
    """The alignment of one document under a metric: its segments pair by pair, or its units."""
    place = place_of(document, corpus.ids)
    rows = np.arange(prepared.texts.texts) if corpus.documents is None else corpus.documents
    sides = (prepared.texts.reference, prepared.texts.predicted)
    one, other = (side.take(np.flatnonzero(rows[side.text] == place)) for side in sides)
    texts = replace(prepared.texts, reference=one, predicted=other)
    metric, corpus = prepared.metrics[name], replace(corpus, texts=texts)
    if metric.scheme is not None:
        pairs, right = scheme_pairs(texts, metric.scheme, greedy=metric.greedy)
        found = aligned(texts, pairs)
        partly = 0.5 if metric.scheme == "partial" else 0.0
        worth = [*np.where(right, 1.0, partly).tolist(), *[0.0] * (len(found.outcome) - len(right))]
        return DrawnSpans(corpus, found, worth).explain(document)
    if name == "segment" and not prepared.options.distinct:
        return DrawnSpans(corpus, align(texts)).explain(document)
    units = [_units(corpus, side, separators=name == "ts") for side in (one, other)]
    return explain_document(metric.node, units[0], units[1])


def _units(corpus: SpanCorpus, side: Segments, *, separators: bool) -> list[dict[str, str]]:
    """The tokens of some segments, and the separators inside them, as a reader sees them."""
    out = []
    for number in range(len(side)):
        span = span_of(corpus.texts, side, number)
        assert span is not None
        text, stretches = int(side.text[number]), span.pieces or ((span.start, span.end),)
        words = corpus.tokens(text)
        names = [f"{words[k]} [{k}]" if words else f"[{k}]" for start, end in stretches for k in range(start, end)]
        if separators:
            names += [f"{k}_{k + 1}" for start, end in stretches for k in range(start, end - 1)]
        several = corpus.documents is not None
        out += [{"unit": Plain(f"{text + 1}: {name}" if several else name), "tag": span.tag} for name in names]
    return out


# Spans with scores


def segment_claims(texts: AnnotatedTexts, ignore_types: bool, distinct: bool) -> Claims:
    """What a prediction says about how sure it is of its segments: right is a segment that the reference has, tag and all."""
    from tallystick.results.confidence import claims_of_items

    sides = tuple(_segments_by_text(side, texts, ignore_types) for side in (texts.reference, texts.predicted))
    return claims_of_items("segments", (sides[0], sides[1]), texts.scores or (), distinct)


def _segments_by_text(side: Segments, texts: AnnotatedTexts, ignore_types: bool) -> list[list[Any]]:
    out: list[list[Any]] = [[] for _ in range(texts.texts)]
    pieces: list[list[tuple[int, int]]] = [[] for _ in range(len(side))]
    for segment, start, end in zip(*(column.tolist() for column in side.stretches()), strict=True):
        pieces[segment].append((start, end))
    for k, (text, tag) in enumerate(zip(side.text.tolist(), side.tag.tolist(), strict=True)):
        out[text].append((tuple(pieces[k]), None if ignore_types else tag))
    return out


def find_mistakes(corpus: SpanCorpus) -> Iterator[Mistake]:
    """Every segment that is not right; an edit names the predicted segment that goes and that of the reference that comes."""
    return (_mistake(corpus, error) for error in align(corpus.texts).errors())


def _mistake(corpus: SpanCorpus, error: SpanError) -> Mistake:
    one = error.reference or error.predicted
    assert one is not None
    row = error.text if corpus.documents is None else int(corpus.documents[error.text])
    off = f"{error.tokens_off} token{'s' if error.tokens_off > 1 else ''} off" if error.tokens_off else ""
    return Mistake(
        str(error.outcome), corpus.ids[row],
        span_text(corpus, error.text, error.reference), span_text(corpus, error.text, error.predicted),
        where=", ".join(filter(None, (offsets(one.start, one.end - 1), off))),
        text=around(corpus.tokens(error.text), one.start, one.end),
        place=corpus.place(error.text, one.start), label=one.tag, edits=((error.numbers, put(None)),),
    )  # fmt: skip


def tables(corpus: SpanCorpus) -> list[Table]:
    """Which tag was taken for which, and how far boundaries are off."""
    alignment = align(corpus.texts)
    rows, columns = (*corpus.texts.tags, EXTRA), (*corpus.texts.tags, MISSING)
    counts = alignment.confusion()
    taken = [(rows[i], columns[j], int(counts[i, j])) for i, j in np.argwhere(counts).tolist()]
    off = [[tokens, count] for tokens, count in alignment.boundary_errors().items()]
    return [
        confusion_table(taken, "Which tag was taken for which"),
        Table(["tokens off", "segments"], off, "Boundary errors"),
    ]


def mended_corpus(corpus: SpanCorpus, mistakes: Sequence[Mistake]) -> SpanCorpus:
    """The corpus with other predicted segments. Its tags by token are no longer those, so that it has none."""
    texts = corpus.texts
    pairs = np.array([path for one in mistakes for path, _ in one.edits], np.int64).reshape(-1, 2)
    kept = np.ones(len(texts.predicted), np.bool_)
    kept[pairs[pairs[:, 1] >= 0, 1]] = False
    predicted = _joined(texts.predicted.take(kept), texts.reference.take(pairs[pairs[:, 0] >= 0, 0]))
    used = np.unique(np.concatenate((texts.reference.tag, predicted.tag)))
    number = np.zeros(len(texts.tags) + 1, np.int64)
    number[used] = np.arange(len(used))
    mended = replace(
        texts,
        reference=replace(texts.reference, tag=number[texts.reference.tag]),
        predicted=replace(predicted, tag=number[predicted.tag]),
        tags=tuple(texts.tags[tag] for tag in used.tolist()),
        scores=None,
    )
    return replace(corpus, texts=mended, tagged=None)


def _joined(one: Segments, other: Segments) -> Segments:
    """The segments of both, by text and place."""
    pieces = None
    if one.pieces is not None or other.pieces is not None:
        first, second = one.stretches(), other.stretches()
        pieces = Pieces(
            np.concatenate((first.segment, second.segment + len(one))),
            np.concatenate((first.start, second.start)),
            np.concatenate((first.end, second.end)),
        )
    names = ("text", "start", "end", "tag")
    text, start, end, tag = (np.concatenate((getattr(one, name), getattr(other, name))) for name in names)
    order: I64 = np.lexsort((tag, end, start, text))
    return Segments(text, start, end, tag, pieces).take(order)
