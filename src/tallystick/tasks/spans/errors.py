"""What went wrong, segment by segment: an alignment, the kinds of errors, a confusion table.

Segments are aligned one-to-one. Those that are right in everything first; among what is left, the pairs that
share a token with the greatest total of IoU(g, p) + [same tag]. A pair that is not right is an error of

    boundary    same tag, other boundaries           both     other tag, other boundaries
    type        same boundaries, other tag           missed, spurious: the segments without a pair

A boundary error is measured in tokens off, |G u P| - |G n P|; one token off is "close".

The alignment explains the scores and is part of none. It does not depend on the order of the segments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from tallystick.tasks.spans.counts import Grid, Rows
from tallystick.tasks.spans.segments import (
    AnnotatedTexts,
    IntArray,
    Pairs,
    Segments,
    Span,
    canonical_order,
    one_to_one,
    overlapping_pairs,
    same_boundaries,
    same_tag,
)


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


@dataclass(frozen=True)
class SpanError:
    """One error: the text, the true and the predicted segment (or None), by how many tokens it is off."""

    outcome: Outcome
    text: int
    reference: Span | None
    predicted: Span | None
    tokens_off: int


@dataclass(frozen=True, eq=False)
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

    def counts(self, rows: Rows = "corpus") -> IntArray:
        """How many there are of each outcome, for each row; shape (rows, outcomes)."""
        grid = Grid.of(self.texts, rows)
        cell = grid.row[self.text()] * len(Outcome) + self.outcome
        return np.bincount(cell, minlength=grid.rows * len(Outcome)).reshape(grid.rows, len(Outcome))

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

    def f1_if_fixed(self) -> tuple[float | None, dict[Outcome, float | None]]:
        """F1 of exact segments, and what it would be without each kind of error: a wrong pair becomes right, a missed
        segment comes, a spurious one goes."""
        n = self.counts().ravel().tolist()
        right, sizes = n[Outcome.CORRECT], len(self.texts.reference) + len(self.texts.predicted)

        def f1(more: int = 0, larger: int = 0) -> float | None:
            return 2 * (right + more) / (sizes + larger) if sizes + larger else None

        fixed = {outcome: f1(n[outcome]) for outcome in (Outcome.BOUNDARY, Outcome.TYPE, Outcome.BOTH)}
        fixed[Outcome.MISSED] = f1(n[Outcome.MISSED], n[Outcome.MISSED])
        fixed[Outcome.SPURIOUS] = f1(0, -n[Outcome.SPURIOUS])
        return f1(), fixed

    def errors(self, limit: int | None = None) -> list[SpanError]:
        """The errors by text and position (or the first of them)."""
        wrong = np.flatnonzero(self.outcome != Outcome.CORRECT)
        text = self.text()[wrong]
        gold_start = np.append(self.texts.reference.start, np.iinfo(np.int64).max)[self.reference[wrong]]
        guess_start = np.append(self.texts.predicted.start, np.iinfo(np.int64).max)[self.predicted[wrong]]
        order = np.lexsort((self.outcome[wrong], np.minimum(gold_start, guess_start), text))[:limit]
        return [
            SpanError(
                Outcome(int(self.outcome[entry])),
                place,
                span_of(self.texts, self.texts.reference, int(self.reference[entry])),
                span_of(self.texts, self.texts.predicted, int(self.predicted[entry])),
                int(self.tokens_off[entry]),
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
    tags = same_tag(ordered, others)
    others = others.take(one_to_one(others, others.tokens / _union(ordered, others) + tags))
    gold_free[others.reference], guess_free[others.predicted] = False, False
    tags, bounds = same_tag(ordered, others), same_boundaries(ordered, others)
    kind = np.where(tags, Outcome.BOUNDARY, np.where(bounds, Outcome.TYPE, Outcome.BOTH))
    off = _union(ordered, others) - others.tokens
    missed, spurious = np.flatnonzero(gold_free), np.flatnonzero(guess_free)
    return Alignment(
        texts,
        np.concatenate((gold_order[np.concatenate((right.reference, others.reference, missed))], _none(spurious))),
        np.concatenate(
            (
                guess_order[np.concatenate((right.predicted, others.predicted))],
                _none(missed),
                guess_order[spurious],
            )
        ),
        np.repeat(
            np.concatenate(([Outcome.CORRECT], kind, [Outcome.MISSED, Outcome.SPURIOUS])).astype(np.int64),
            np.concatenate(([len(right)], np.ones(len(kind), dtype=np.int64), [len(missed), len(spurious)])),
        ),
        np.concatenate((_none(right.reference) + 1, off, _none(missed) + 1, _none(spurious) + 1)),
    )


def _union(texts: AnnotatedTexts, pairs: Pairs) -> IntArray:
    gold, guess = texts.reference.lengths(), texts.predicted.lengths()
    return gold[pairs.reference] + guess[pairs.predicted] - pairs.tokens


def _none(like: IntArray) -> IntArray:
    return np.full(len(like), -1, dtype=np.int64)


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
