"""Counting segments: exact, overlap, contain, constrained overlap, and intersection over union.

A model of segments says when a predicted and a true segment of one tag are partners. For each text and tag

    num_p = predicted segments with a partner      den_p = predicted segments
    num_r = true segments with a partner           den_r = true segments

Under `exact` annotations are bags, and both numerators are the sum over distinct segments of the smaller of
the two multiplicities. The other models count segments with any partner, as the literature does (a segment
over the whole text is perfect under overlap), or, one-to-one, the largest number of disjoint pairs. There are
no true negatives: nobody counts the segments that are neither predicted nor true.

Rows are texts, or documents, or the corpus; they add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import MetricError
from tallystick.tasks.spans.segments import (
    AnnotatedTexts,
    IntArray,
    Pairs,
    Segments,
    is_flat,
    one_to_one,
    overlapping_pairs,
    same_boundaries,
    same_tag,
    stretch_codes,
)

Array: TypeAlias = npt.NDArray[Any]  # integers, or floats where units have weights
Rows: TypeAlias = Literal["text", "corpus"] | IntArray
Partner = Literal["any", "one-to-one"]


@dataclass(frozen=True, eq=False)
class SpanCounts:
    """Sums for each row (text, document or corpus) and tag; arrays of shape (rows, tags).

    `total` is the number (or weight) of events of a row, where the event space has true negatives; each tag
    has a table of its own over the same events. `multiple` says that some event was tagged twice with one
    tag.
    """

    tags: tuple[str, ...]
    num_p: Array
    den_p: Array
    num_r: Array
    den_r: Array
    total: Array | None = None
    multiple: bool = False

    def summed(self) -> SpanCounts:
        """One row for the corpus."""
        return self._with(
            lambda array: array.sum(axis=0, keepdims=True), lambda total: total.sum(axis=0, keepdims=True)
        )

    def rows(self, chosen: IntArray) -> SpanCounts:
        """Some rows, in any order and as often as wished: what a bootstrap needs."""
        return self._with(lambda array: array[chosen], lambda total: total[chosen])

    def of_tags(self, tags: Sequence[str]) -> SpanCounts:
        """Some tags; one that is unknown here has only zeros."""
        if tuple(tags) == self.tags:
            return self
        index = [self.tags.index(tag) if tag in self.tags else len(self.tags) for tag in tags]
        chosen = self._with(lambda array: np.pad(array, ((0, 0), (0, 1)))[:, index], lambda total: total)
        return replace(chosen, tags=tuple(tags))

    def pooled(self) -> SpanCounts:
        """The tables of all tags added up into one, for micro averages."""
        tags = len(self.tags)
        pooled = self._with(lambda array: array.sum(axis=1, keepdims=True), lambda total: total * tags)
        return replace(pooled, tags=("all tags",))

    def _with(self, change: Callable[[Array], Array], change_total: Callable[[Array], Array]) -> SpanCounts:
        num_p, den_p, num_r, den_r = map(change, (self.num_p, self.den_p, self.num_r, self.den_r))
        total = None if self.total is None else change_total(self.total)
        return replace(self, num_p=num_p, den_p=den_p, num_r=num_r, den_r=den_r, total=total)

    def __add__(self, other: SpanCounts) -> SpanCounts:
        if self.tags != other.tags or (self.total is None) != (other.total is None):
            raise MetricError(f"counts of different kinds do not add: tags {self.tags} and {other.tags}")
        total = None if self.total is None or other.total is None else self.total + other.total
        return SpanCounts(
            self.tags,
            self.num_p + other.num_p,
            self.den_p + other.den_p,
            self.num_r + other.num_r,
            self.den_r + other.den_r,
            total,
            self.multiple or other.multiple,
        )

    @property
    def tp(self) -> Array:
        """True positives, where both sides count the same."""
        if not np.array_equal(self.num_p, self.num_r):
            raise MetricError("segments with any partner have no one number of true positives; use one-to-one")
        return self.num_p

    @property
    def fp(self) -> Array:
        """False positives."""
        return self.den_p - self.num_p

    @property
    def fn(self) -> Array:
        """False negatives."""
        return self.den_r - self.num_r

    @property
    def tn(self) -> Array:
        """True negatives, where the event space has them."""
        if self.total is None:
            raise MetricError(
                "segments have no true negatives (and so no accuracy, kappa or specificity); count tokens "
                "and separators, and give the lengths of the texts"
            )
        if self.multiple:
            raise MetricError("a token is tagged twice with one tag: bags of units have no true negatives")
        return self.total[:, None] - self.num_p - self.fp - self.fn


@dataclass(frozen=True, eq=False)
class Grid:
    """Where a count goes: the row of each text, and how many rows and tags there are."""

    row: IntArray
    rows: int
    tags: int

    @classmethod
    def of(cls, texts: AnnotatedTexts, rows: Rows) -> Grid:
        """Rows as asked for: one for each text, one for the corpus, or the given row of each text."""
        if isinstance(rows, str):
            if rows == "text":
                return cls(np.arange(texts.texts), texts.texts, len(texts.tags))
            return cls(np.zeros(texts.texts, dtype=np.int64), 1, len(texts.tags))
        if len(rows) != texts.texts:
            raise MetricError(f"{len(rows):,} rows given for {texts.texts:,} texts; give one for each text")
        return cls(rows, int(rows.max(initial=-1)) + 1, len(texts.tags))

    def count(self, segments: Segments, chosen: npt.NDArray[np.bool_] | IntArray | None = None) -> IntArray:
        """How many of the (chosen) segments there are for each row and tag."""
        text, tag = segments.text, segments.tag
        if chosen is not None:
            text, tag = text[chosen], tag[chosen]
        cell = self.row[text] * self.tags + tag
        return np.bincount(cell, minlength=self.rows * self.tags).reshape(self.rows, self.tags)

    def add(self, text: IntArray, tag: IntArray, amount: Array) -> Array:
        """The sum of amounts for each row and tag; integers stay integers."""
        cell = self.row[text] * self.tags + tag
        total = np.bincount(cell, amount, minlength=self.rows * self.tags).reshape(self.rows, self.tags)
        return total.astype(np.int64) if amount.dtype.kind in "iu" else total


def count_exact(
    texts: AnnotatedTexts, rows: Rows = "text", *, distinct: bool = False, pairs: Pairs | None = None
) -> SpanCounts:
    """The exact match model: same stretches, same tag. Bags, or sets where `distinct`."""
    grid = Grid.of(texts, rows)
    if pairs is not None and is_flat(texts):
        exact = pairs.reference[same_tag(texts, pairs) & same_boundaries(texts, pairs)]
        num: Array = grid.count(texts.reference, exact)
        return SpanCounts(texts.tags, num, grid.count(texts.predicted), num, grid.count(texts.reference))
    gold, guess = texts.reference, texts.predicted
    gold_key, guess_key = _keys(texts)
    gold_key, gold_first, gold_count = np.unique(gold_key, return_index=True, return_counts=True)
    guess_key, guess_first, guess_count = np.unique(guess_key, return_index=True, return_counts=True)
    at = np.searchsorted(guess_key, gold_key)
    at[at == len(guess_key)] = 0
    both = np.flatnonzero(guess_key[at] == gold_key) if len(guess_key) else np.zeros(0, dtype=np.int64)
    if distinct:
        gold_count, guess_count = np.ones_like(gold_count), np.ones_like(guess_count)
    matched = np.minimum(gold_count[both], guess_count[at[both]])
    where = gold_first[both]
    num = grid.add(gold.text[where], gold.tag[where], matched)
    den_p = grid.add(guess.text[guess_first], guess.tag[guess_first], guess_count)
    den_r = grid.add(gold.text[gold_first], gold.tag[gold_first], gold_count)
    return SpanCounts(texts.tags, num, den_p, num, den_r)


def count_overlap(
    texts: AnnotatedTexts, rows: Rows = "text", *, partner: Partner = "any", pairs: Pairs | None = None
) -> SpanCounts:
    """The overlap model: at least one shared token."""
    return count_constrained_overlap(texts, None, None, rows, partner=partner, pairs=pairs)


def count_contain(
    texts: AnnotatedTexts, rows: Rows = "text", *, partner: Partner = "any", pairs: Pairs | None = None
) -> SpanCounts:
    """The contain model: the predicted segment has every token of the true one, and perhaps more."""
    return count_constrained_overlap(texts, None, 0, rows, partner=partner, pairs=pairs)


def count_constrained_overlap(
    texts: AnnotatedTexts,
    k1: int | None,
    k2: int | None,
    rows: Rows = "text",
    *,
    partner: Partner = "any",
    pairs: Pairs | None = None,
) -> SpanCounts:
    """The constrained overlap model: at most k1 spurious and k2 missing tokens (None is no limit)."""
    pairs = overlapping_pairs(texts) if pairs is None else pairs
    admitted = np.ones(len(pairs), dtype=np.bool_)
    if k1 is not None:
        admitted &= texts.predicted.lengths()[pairs.predicted] - pairs.tokens <= k1
    if k2 is not None:
        admitted &= texts.reference.lengths()[pairs.reference] - pairs.tokens <= k2
    return count_partners(texts, pairs.take(admitted), rows, partner)


def count_iou(
    texts: AnnotatedTexts,
    threshold: float = 0.5,
    rows: Rows = "text",
    *,
    partner: Partner = "one-to-one",
    pairs: Pairs | None = None,
) -> SpanCounts:
    """Partners share at least a part of the tokens that either has: |G n P| / |G u P| >= threshold."""
    if not 0 < threshold <= 1:
        raise MetricError(f"an IoU threshold lies above 0 and not above 1, found {threshold}")
    pairs = overlapping_pairs(texts) if pairs is None else pairs
    union = texts.reference.lengths()[pairs.reference] + texts.predicted.lengths()[pairs.predicted] - pairs.tokens
    # a quotient is rounded as the literal 0.1 is, a product is not: 3 of 30 tokens are at least 0.1
    return count_partners(texts, pairs.take(pairs.tokens / union >= threshold), rows, partner)


def count_partners(texts: AnnotatedTexts, pairs: Pairs, rows: Rows, partner: Partner) -> SpanCounts:
    """Count the segments that have a partner of the same tag among the given pairs."""
    if partner not in ("any", "one-to-one"):
        raise MetricError(f'"{partner}" is not a way to choose partners; there are any and one-to-one')
    grid = Grid.of(texts, rows)
    pairs = pairs.take(same_tag(texts, pairs))
    if partner == "one-to-one":
        pairs = pairs.take(one_to_one(pairs, np.ones(len(pairs))))
    found, right = (
        np.zeros(len(texts.reference), dtype=np.bool_),
        np.zeros(len(texts.predicted), dtype=np.bool_),
    )
    found[pairs.reference] = True
    right[pairs.predicted] = True
    return SpanCounts(
        texts.tags,
        grid.count(texts.predicted, right),
        grid.count(texts.predicted),
        grid.count(texts.reference, found),
        grid.count(texts.reference),
    )


def count_segment_matching(
    texts: AnnotatedTexts, rows: Rows = "text", *, separators: float = 1, pairs: Pairs | None = None
) -> SpanCounts:
    """Segments matched one-to-one by shared units: a metric of its own, not the token and separator model.

    TP is the greatest total, over one-to-one pairs of segments of one tag, of the tokens and separators that
    the two segments of a pair share. It tells {[0,4), [2,6)} from {[0,6), [2,4)}, which bags of units cannot.
    """
    grid = Grid.of(texts, rows)
    pairs = overlapping_pairs(texts) if pairs is None else pairs
    pairs = pairs.take(same_tag(texts, pairs))
    shared = pairs.tokens + separators * pairs.separators
    chosen = one_to_one(pairs, shared.astype(np.float64))
    gold = pairs.reference[chosen]
    num = grid.add(texts.reference.text[gold], texts.reference.tag[gold], shared[chosen])
    den_p, den_r = (
        grid.add(side.text, side.tag, _units(side, separators)) for side in (texts.predicted, texts.reference)
    )
    return SpanCounts(texts.tags, num, den_p, num, den_r)


def _units(segments: Segments, separators: float) -> Array:
    tokens = segments.lengths()
    stretches = np.bincount(segments.stretches().segment, minlength=len(segments))
    return tokens + separators * (tokens - stretches)


def _keys(texts: AnnotatedTexts) -> tuple[IntArray, IntArray]:
    """One number for each segment: the same iff text, stretches and tag are the same."""
    gold, guess = texts.reference, texts.predicted
    offsets = texts.offsets()
    longest = 1 + max(int((side.end - side.start).max(initial=0)) for side in (gold, guess))
    if gold.pieces is not None or guess.pieces is not None:
        shapes = stretch_codes([gold, guess])
    else:
        shapes = [np.zeros(1, dtype=np.int64)] * 2
    kinds = 1 + max(int(shape.max(initial=0)) for shape in shapes)
    limit = int(offsets[-1]) * longest * kinds * max(len(texts.tags), 1)
    if limit >= 2**63:
        raise MetricError("the corpus is too large for the numbers of its segments; score it in parts")
    keys = [
        (((offsets[side.text] + side.start) * longest + side.end - side.start) * kinds + shape) * len(texts.tags)
        + side.tag
        for side, shape in zip((gold, guess), shapes, strict=True)
    ]
    return keys[0], keys[1]
