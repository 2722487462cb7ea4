"""The four schemes of SemEval-2013 task 9 as nervaluate has them, without its dependence on order.

A prediction and a true segment that overlap may be paired, one-to-one. What a pair is worth:

              same boundaries    same boundaries    other boundaries    other boundaries
              same type          other type         same type           other type
    strict    correct            incorrect          incorrect           incorrect
    exact     correct            correct            incorrect           incorrect
    partial   correct            correct            partial             partial
    type      correct            incorrect          correct             incorrect

True segments without a pair are missed, predictions without one spurious. With COR, INC, PAR, MIS and SPU of
them

    precision = (COR + PAR / 2) / (COR + INC + PAR + SPU)
    recall    = (COR + PAR / 2) / (COR + INC + PAR + MIS)

nervaluate pairs greedily in the order of the lists, so that a prediction can take away the true segment which
a later one fits exactly. Here the pairs have the most correct ones, and among those choices the most pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tallystick.errors import MetricError, did_you_mean
from tallystick.tasks.spans.counts import Array, Grid, Rows, SpanCounts
from tallystick.tasks.spans.segments import (
    AnnotatedTexts,
    Pairs,
    one_to_one,
    overlapping_pairs,
    same_boundaries,
    same_tag,
)

SpanScheme = Literal["strict", "exact", "partial", "type"]


@dataclass(frozen=True, eq=False)
class SchemeCounts:
    """The five counts of a scheme, arrays of shape (rows, tags); without tags there is one column."""

    tags: tuple[str, ...]
    correct: Array
    incorrect: Array
    partial: Array
    missed: Array
    spurious: Array

    def of_tags(self, tags: Sequence[str]) -> SchemeCounts:
        """Some tags; one that is unknown here has only zeros."""
        index = [self.tags.index(tag) if tag in self.tags else len(self.tags) for tag in tags]
        five = (self.correct, self.incorrect, self.partial, self.missed, self.spurious)
        return SchemeCounts(tuple(tags), *(np.pad(part, ((0, 0), (0, 1)))[:, index] for part in five))

    def as_counts(self) -> SpanCounts:
        """The sums from which precision, recall and F follow."""
        num = self.correct + 0.5 * self.partial
        paired = self.correct + self.incorrect + self.partial
        return SpanCounts(self.tags, num, paired + self.spurious, num, paired + self.missed)


def count_scheme(
    texts: AnnotatedTexts,
    scheme: SpanScheme,
    rows: Rows = "text",
    *,
    by_tag: bool = False,
    min_overlap: float = 0.01,
    pairs: Pairs | None = None,
) -> SchemeCounts:
    """Count a scheme over all segments, or for each tag over its own segments only (as nervaluate does).

    A pair shares at least the part `min_overlap` of the true segment.
    """
    if scheme not in get_args(SpanScheme):
        names = get_args(SpanScheme)
        raise MetricError(f'"{scheme}" is not a scheme; there are {", ".join(names)}.{did_you_mean(scheme, names)}')
    pairs = overlapping_pairs(texts) if pairs is None else pairs
    pairs = pairs.take(pairs.tokens / texts.reference.lengths()[pairs.reference] >= min_overlap)
    if by_tag:
        pairs = pairs.take(same_tag(texts, pairs))
    right = np.ones(len(pairs), dtype=np.bool_)
    if scheme != "type":
        right &= same_boundaries(texts, pairs)
    if scheme in ("strict", "type"):
        right &= same_tag(texts, pairs)
    # one correct pair outweighs any number of others
    chosen = one_to_one(pairs, np.where(right, len(pairs) + 1.0, 1.0))
    pairs, right = pairs.take(chosen), right[chosen]
    grid = Grid.of(texts, rows)
    gold, guess = grid.count(texts.reference), grid.count(texts.predicted)
    correct = grid.count(texts.reference, pairs.reference[right])
    wrong = grid.count(texts.reference, pairs.reference[~right])
    guessed = grid.count(texts.predicted, pairs.predicted)
    columns = [correct, wrong, gold - correct - wrong, guess - guessed]
    if not by_tag:
        columns = [column.sum(axis=1, keepdims=True) for column in columns]
    correct, wrong, missed, spurious = columns
    none = np.zeros_like(wrong)
    incorrect, partial = (none, wrong) if scheme == "partial" else (wrong, none)
    tags = texts.tags if by_tag else ("all tags",)
    return SchemeCounts(tags, correct, incorrect, partial, missed, spurious)
