"""Counting spans: segments by an expression of the algebra, by their partners, by units, and by the schemes of SemEval 2013.

For each text and tag

    num_p = predicted segments (or units) that are right      den_p = predicted ones
    num_r = true segments (or units) that were found          den_r = true ones

A metric that is an expression is tallied as every expression is: the segments of a row and a tag are one bag, so that the
rows of all tags come out of one evaluation. Segments have no true negatives: nobody counts the segments that are neither
predicted nor true.

Rows are texts, or documents, or the corpus; they add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallystick.algebra.node import Node
from tallystick.engine.arrays import distinct
from tallystick.engine.data import Bag, Coded, Data, Memory, Record
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.results.evaluation import tally_rows
from tallystick.tasks.spans.segments import (
    AnnotatedTexts,
    IntArray,
    Pairs,
    Segments,
    in_turn,
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


@frozen(eq=False)
class SpanCounts:
    """Sums for each row (text, document or corpus) and tag; arrays of shape (rows, tags).

    `total` is the number (or weight) of events of a row, where the event space has true negatives; each tag
    has a table of its own over the same events. `multiple` are the tags with which some event was tagged twice.
    """

    tags: tuple[str, ...]
    num_p: Array
    den_p: Array
    num_r: Array
    den_r: Array
    total: Array | None = None
    multiple: tuple[str, ...] = ()

    def of_tags(self, tags: Sequence[str]) -> SpanCounts:
        """Some tags; one that is unknown here has only zeros."""
        if tuple(tags) == self.tags:
            return self
        index = [self.tags.index(tag) if tag in self.tags else len(self.tags) for tag in tags]
        chosen = self._with(lambda array: np.pad(array, ((0, 0), (0, 1)))[:, index], lambda total: total)
        return replace(chosen, tags=tuple(tags), multiple=tuple(tag for tag in self.multiple if tag in tags))

    def pooled(self) -> SpanCounts:
        """The tables of all tags added up into one, for micro averages."""
        tags = len(self.tags)
        pooled = self._with(lambda array: array.sum(axis=1, keepdims=True), lambda total: total * tags)
        return replace(pooled, tags=("all tags",))

    def _with(self, change: Callable[[Array], Array], change_total: Callable[[Array], Array]) -> SpanCounts:
        num_p, den_p, num_r, den_r = map(change, (self.num_p, self.den_p, self.num_r, self.den_r))
        total = None if self.total is None else change_total(self.total)
        return replace(self, num_p=num_p, den_p=den_p, num_r=num_r, den_r=den_r, total=total)

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
            raise MetricError(f"a token has the tag {self.multiple[0]} twice: bags of units have no true negatives")
        return self.total[:, None] - self.num_p - self.fp - self.fn


@frozen(eq=False)
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


# Segments as columns of the engine: a record of start, end, tag, and the pieces where one is discontinuous.


def segment_columns(texts: AnnotatedTexts, rows: Rows, *, by_tag: bool = False) -> tuple[Bag, Bag]:
    """Both sides' segments, a bag for each row; with `by_tag` for each row and tag.

    A row may be many texts: its tokens are numbered through from the start of its first text.
    """
    grid = Grid.of(texts, rows)
    line = texts.offsets()
    first = np.full(grid.rows, len(line) - 1, dtype=np.int64)
    np.minimum.at(first, grid.row, np.arange(texts.texts))
    base = line[:-1] - line[first[grid.row]]
    sides = texts.reference, texts.predicted
    codes, shapes = stretch_codes(sides)

    def bag(side: Segments, shape: IntArray) -> Bag:
        owner, owners = grid.row[side.text], grid.rows
        if by_tag:
            owner, owners = owner * grid.tags + side.tag, grid.rows * grid.tags
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=owners))
        start, end = ((edge + base[side.text])[order] for edge in (side.start, side.end))
        fields: dict[str, Data] = {"start": start, "end": end, "tag": Coded(side.tag[order], texts.tags)}
        if len(shapes) > 1:
            fields["pieces"] = Coded(shape[order], shapes)
        else:
            fields["span"] = Record({"start": start, "end": end})
        return Bag(np.concatenate((np.zeros(1, np.int64), ends)), Record(fields))

    return bag(sides[0], codes[0]), bag(sides[1], codes[1])


def count_expression(expression: Node, texts: AnnotatedTexts, rows: Rows = "text") -> SpanCounts:
    """The sums of an expression over segments that compares their tags."""
    sums = tally_rows(expression, *segment_columns(texts, rows, by_tag=True), Memory())
    shape = Grid.of(texts, rows).rows, len(texts.tags)
    num_p, den_p, num_r, den_r = (sums[:, k].reshape(shape) for k in range(4))
    return SpanCounts(texts.tags, num_p, den_p, num_r, den_r)


# Segments by their partners, and by the units that they share.


def count_overlap(
    texts: AnnotatedTexts,
    rows: Rows,
    partner: Partner,
    pairs: Pairs,
    *,
    k1: int | None = None,
    k2: int | None = None,
    iou: float = 0.0,
) -> SpanCounts:
    """Segments with a partner of the same tag: one that shares a token, and has at most k1 spurious and k2 missing tokens
    (None is no limit) and at least so much of the tokens that either has, |G n P| / |G u P| >= iou.

    Written by hand, since `overlap` in the algebra knows neither gaps in a segment nor k1 and k2, and since the pairs are
    joined once for all metrics: on 500,000 tokens with 97,000 segments an expression takes 20 ms and this 2 ms, after
    7 ms for the pairs that the units need too. `tests/tasks/test_spans.py` holds both equal wherever there is an expression.
    """
    gold, guess = (
        side.lengths()[of] for side, of in ((texts.reference, pairs.reference), (texts.predicted, pairs.predicted))
    )
    # a quotient is rounded as the literal 0.1 is, a product is not: 3 of 30 tokens are at least 0.1
    admitted = pairs.tokens / (gold + guess - pairs.tokens) >= iou
    if k1 is not None:
        admitted &= guess - pairs.tokens <= k1
    if k2 is not None:
        admitted &= gold - pairs.tokens <= k2
    pairs = pairs.take(admitted & same_tag(texts, pairs))
    if partner == "one-to-one":
        pairs = pairs.take(one_to_one(pairs, np.ones(len(pairs))))
    grid = Grid.of(texts, rows)
    found, right = (np.zeros(len(side), dtype=np.bool_) for side in (texts.reference, texts.predicted))
    found[pairs.reference] = True
    right[pairs.predicted] = True
    return SpanCounts(
        texts.tags,
        grid.count(texts.predicted, right),
        grid.count(texts.predicted),
        grid.count(texts.reference, found),
        grid.count(texts.reference),
    )


def count_segment_matching(texts: AnnotatedTexts, rows: Rows, pairs: Pairs, *, separators: float = 1) -> SpanCounts:
    """Segments matched one-to-one by shared units: a metric of its own, not the token and separator model.

    TP is the greatest total, over one-to-one pairs of segments of one tag, of the tokens and separators that
    the two segments of a pair share. It tells {[0,4), [2,6)} from {[0,6), [2,4)}, which bags of units cannot.
    """
    grid = Grid.of(texts, rows)
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


# The token model and the token and separator model (Esuli and Sebastiani 2010, section 4).
#
# The events are the tokens and separators of a text, 2n - 1 for n tokens, whatever is predicted; each tag has a
# contingency table of its own over them. A separator is tagged iff it lies inside one segment, so that two
# adjacent segments differ from a long one:
#
#               The quick brown fox jumps over the lazy dog          9 tokens, 8 separators: N = 17
#     true           [=========]                  [======]           tagged: quick _ brown, lazy _ dog
#     predicted      [=============]              [==] [=]           TP 5, FP 2, FN 1, TN 9: F1 = 10/13 = .769
#
# A tag that overlaps itself tags a unit several times. Then units are bags: TP is the sum over units of
# min(times true, times predicted); on flat data this is the same as before.
#
# Nothing here walks over tokens. The coverage of the line by a tag is a step function that changes only where a
# segment starts or ends; sorting those events and summing the steps gives the integral of min(g, p).


def count_tokens(
    texts: AnnotatedTexts, rows: Rows = "text", *, weights: Array | None = None, pairs: Pairs | None = None
) -> SpanCounts:
    """The token model; `weights` is a weight for each token of all texts, laid end to end.

    Pass the overlapping pairs where you have them: on flat data they hold all there is to count.
    """
    if weights is not None:
        tokens = int(texts.offsets()[-1])
        if len(weights) != tokens or (len(weights) and float(weights.min()) < 0):
            raise MetricError(f"expected a weight, not below 0, for each of {tokens:,} tokens, found {len(weights):,}")
    return _count(texts, Grid.of(texts, rows), 0, weights, pairs)


def count_separators(texts: AnnotatedTexts, rows: Rows = "text", *, pairs: Pairs | None = None) -> SpanCounts:
    """The separators alone: a text of n tokens has n - 1, and those inside one segment are tagged."""
    return _count(texts, Grid.of(texts, rows), 1, None, pairs)


def add_separators(tokens: SpanCounts, separators: SpanCounts, weight: float = 1) -> SpanCounts:
    """The token and separator table from its two parts."""
    if weight < 0:
        raise MetricError(f"the weight of a separator is not below 0, found {weight}")
    weight = int(weight) if float(weight).is_integer() else weight  # whole counts stay whole
    total = None
    if tokens.total is not None and separators.total is not None:
        total = tokens.total + weight * separators.total
    num = tokens.num_p + weight * separators.num_p
    return SpanCounts(
        tokens.tags,
        num,
        tokens.den_p + weight * separators.den_p,
        num,
        tokens.den_r + weight * separators.den_r,
        total,
        tuple(dict.fromkeys((*tokens.multiple, *separators.multiple))),
    )


def _count(texts: AnnotatedTexts, grid: Grid, shorter: int, weights: Array | None, pairs: Pairs | None) -> SpanCounts:
    """Count units: tokens [start, end), or with `shorter` 1 the separators [start, end - 1) behind them."""
    offsets = texts.offsets()
    gold = _intervals(texts.reference, offsets, shorter)
    guess = _intervals(texts.predicted, offsets, shorter)
    den_r, den_p = (grid.add(text, tag, _weigh(start, end, weights)) for text, tag, start, end in (gold, guess))
    if pairs is not None and weights is None and is_flat(texts):
        kept = np.flatnonzero(same_tag(texts, pairs))
        of = pairs.reference[kept]
        units = pairs.separators if shorter else pairs.tokens
        multiple: tuple[str, ...] = ()
        num = grid.add(texts.reference.text[of], texts.reference.tag[of], units[kept])
    else:
        start, end, tag, amount, twice = _shared_steps(gold, guess, int(offsets[-1]) + 1)
        multiple = tuple(texts.tags[code] for code in twice.tolist())
        text = np.searchsorted(offsets, start, side="right") - 1
        num = grid.add(text, tag, _weigh(start, end, weights) * amount)
    total: Array | None = None
    if texts.lengths is not None:
        lengths = np.maximum(texts.lengths - shorter, 0)
        all_units = lengths if weights is None else _weigh(offsets[:-1], offsets[1:], weights)
        total = np.bincount(grid.row, all_units, minlength=grid.rows)
        total = total.astype(np.int64) if all_units.dtype.kind in "iu" else total
    return SpanCounts(texts.tags, num, den_p, num, den_r, total, multiple)


def _intervals(segments: Segments, offsets: IntArray, shorter: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Text, tag, start and end of each stretch, on the line of all texts."""
    stretch = segments.stretches()
    text, tag = segments.text, segments.tag
    if segments.pieces is not None:
        text, tag = text[stretch.segment], tag[stretch.segment]
    base = offsets[text]
    start, end = stretch.start + base, stretch.end + base - shorter
    if not shorter:
        return text, tag, start, end
    kept = np.flatnonzero(end > start)
    return text[kept], tag[kept], start[kept], end[kept]


def _weigh(start: IntArray, end: IntArray, weights: Array | None) -> Array:
    """The units of each stretch, added up from its first to its last: differences of running totals would be cheaper,
    but their rounding depends on all that stands before."""
    if weights is None:
        return end - start
    if not len(start):
        return np.zeros(0, dtype=weights.dtype)
    padded = np.append(weights, weights.dtype.type(0))  # so that the end of the last stretch is a place
    sums = np.add.reduceat(padded, np.stack((start, end), axis=1).reshape(-1))[::2]
    return np.where(end > start, sums, weights.dtype.type(0))


def _shared_steps(
    gold: tuple[IntArray, IntArray, IntArray, IntArray],
    guess: tuple[IntArray, IntArray, IntArray, IntArray],
    line: int,
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Where both sides cover the line with one tag: start, end, tag, min(g, p); and the tags with which one side does twice."""
    # an event is (tag, position, kind) in one number; ends sort before starts at the same position, so that
    # adjacent segments never seem to overlap
    events = np.concatenate(
        [
            ((tag * line + position) << 2) | kind
            for (_, tag, start, end), side in ((gold, 0), (guess, 1))
            for position, kind in ((end, side), (start, 2 | side))
        ]
    )
    events.sort()
    kind = (events & 3).astype(np.int8)
    covered: list[npt.NDArray[np.int32]] = []
    for steps in ([-1, 0, 1, 0], [0, -1, 0, 1]):
        covered.append(np.cumsum(np.array(steps, dtype=np.int8)[kind], dtype=np.int32))
    amount = np.minimum(covered[0], covered[1])
    twice = distinct((events >> 2)[np.maximum(covered[0], covered[1]) > 1] // line)
    shared = np.flatnonzero(amount)
    place, behind = events[shared] >> 2, events[shared + 1] >> 2
    wide = np.flatnonzero(behind > place)
    tag, start = np.divmod(place[wide], line)
    return start, start + (behind - place)[wide], tag, amount[shared[wide]].astype(np.int64), twice


# The four schemes of SemEval-2013 task 9, which nervaluate made known.
#
# A prediction and a true segment that overlap may be paired, one-to-one. What a pair is worth:
#
#               same boundaries    same boundaries    other boundaries    other boundaries
#               same type          other type         same type           other type
#     strict    correct            incorrect          incorrect           incorrect
#     exact     correct            correct            incorrect           incorrect
#     partial   correct            correct            partial             partial
#     type      correct            incorrect          correct             incorrect
#
# True segments without a pair are missed, predictions without one spurious. With COR, INC, PAR, MIS and SPU of
# them
#
#     precision = (COR + PAR / 2) / (COR + INC + PAR + SPU)
#     recall    = (COR + PAR / 2) / (COR + INC + PAR + MIS)
#
# Which segments are paired is the best choice: the most correct pairs, and among those choices the most pairs.
#
# nervaluate pairs greedily (`in_turn`). The predictions choose in the order of the list, each among the true segments that are
# still free: the first that makes a correct pair (of `type`, the one whose boundaries are closest), else the first that
# it overlaps. So a prediction can take away the true segment which a later one fits exactly.

SpanScheme = Literal["strict", "exact", "partial", "type"]


@frozen(eq=False)
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
    pairs: Pairs | None = None,
    greedy: bool = False,
) -> SchemeCounts:
    """Count a scheme over all segments, or for each tag over its own segments only (as nervaluate does). `greedy` pairs as
    nervaluate does, by the order of the segments of each text."""
    pairs, right = scheme_pairs(texts, scheme, by_tag=by_tag, pairs=pairs, greedy=greedy)
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


def scheme_pairs(
    texts: AnnotatedTexts,
    scheme: SpanScheme,
    *,
    by_tag: bool = False,
    min_overlap: float = 0.01,
    pairs: Pairs | None = None,
    greedy: bool = False,
) -> tuple[Pairs, npt.NDArray[np.bool_]]:
    """The pairs that a scheme makes, and which of them are correct."""
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
    if greedy:
        chosen = _as_they_come(texts, pairs, right, by_distance=scheme == "type")
    else:  # one correct pair outweighs any number of others
        chosen = one_to_one(pairs, np.where(right, len(pairs) + 1.0, 1.0))
    return pairs.take(chosen), right[chosen]


def _as_they_come(texts: AnnotatedTexts, pairs: Pairs, right: npt.NDArray[np.bool_], *, by_distance: bool) -> IntArray:
    """The pairs that nervaluate makes."""
    gold, guess = texts.reference, texts.predicted
    if gold.pieces is not None or guess.pieces is not None:
        raise MetricError("nervaluate does not support segments with gaps; semeval (strict, exact, partial, type) does")
    r, p = pairs.reference, pairs.predicted
    distance = np.abs(gold.start[r] - guess.start[p]) + np.abs(gold.end[r] - guess.end[p])
    return in_turn(pairs, np.lexsort((r, distance * (right & by_distance), ~right, p)))
