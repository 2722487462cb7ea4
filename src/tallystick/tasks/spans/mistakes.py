"""What is wrong with spans, and what mends it: the outcomes of the alignment (`show.align`). Mended, a segment is the one of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tallystick.engine.arrays import I64
from tallystick.results.errors import MISSING, SPURIOUS, confusion_table
from tallystick.results.mistakes import Mistake, around, offsets, put
from tallystick.show.tables import Table
from tallystick.tasks.spans.files import SpanCorpus
from tallystick.tasks.spans.segments import Pieces, Segments
from tallystick.tasks.spans.show import SpanError, align, span_text


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
    rows, columns = (*corpus.texts.tags, SPURIOUS), (*corpus.texts.tags, MISSING)
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
