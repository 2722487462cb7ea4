"""Measures over contingency tables, apart from the events that they were counted over.

    precision = TP / (TP + FP)    F_b = (1 + b^2) TP / (b^2 (TP + FN) + TP + FP)    accuracy = (TP + TN) / N
    recall    = TP / (TP + FN)    kappa = (p_o - p_e) / (1 - p_e)                 specificity = TN / (TN + FP)

with p_o = accuracy and p_e = ((TP + FP)(TP + FN) + (FN + TN)(FP + TN)) / N^2. A measure takes counts and
gives an array of the same shape, NaN where it is 0/0; what 0/0 means is decided here, at the last division,
never in a sum.

Averages over tags: micro is the measure of the pooled table, macro the mean of the tags' values, weighted the
mean with the numbers of true events as weights. A tag that neither side has is left out and named; one that
only one side has and whose value is 0/0 scores `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import MetricError
from tallystick.tasks.spans.counts import Array, Grid, Rows, SpanCounts
from tallystick.tasks.spans.segments import AnnotatedTexts, IntArray, Pairs, Segments, is_flat, same_tag

FloatArray: TypeAlias = npt.NDArray[np.float64]
Measure: TypeAlias = Callable[[SpanCounts], FloatArray]


def _divide(numerator: Array, denominator: Array) -> FloatArray:
    result = np.full(np.shape(denominator), np.nan)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result


def precision(counts: SpanCounts) -> FloatArray:
    """The part of what was predicted that is right."""
    return _divide(counts.num_p, counts.den_p)


def recall(counts: SpanCounts) -> FloatArray:
    """The part of what is true that was found."""
    return _divide(counts.num_r, counts.den_r)


def f_beta(counts: SpanCounts, beta: float = 1.0) -> FloatArray:
    """The weighted harmonic mean of precision and recall; beta above 1 favours recall.

    With one numerator it is undefined only where neither side has anything. With two (segments that have any
    partner) it is computed from precision and recall, where an undefined one counts as 0.
    """
    square = beta * beta
    if counts.num_p is counts.num_r or np.array_equal(counts.num_p, counts.num_r):
        return _divide((1 + square) * counts.num_p, square * counts.den_r + counts.den_p)
    p, r = np.nan_to_num(precision(counts)), np.nan_to_num(recall(counts))
    value = np.nan_to_num(_divide((1 + square) * p * r, square * p + r))
    value[(counts.den_p == 0) & (counts.den_r == 0)] = np.nan
    return value


def f1(counts: SpanCounts) -> FloatArray:
    """F with beta 1."""
    return f_beta(counts, 1.0)


def accuracy(counts: SpanCounts) -> FloatArray:
    """The part of all events that is right; needs true negatives."""
    tn = counts.tn
    return _divide(counts.tp + tn, counts.tp + counts.fp + counts.fn + tn)


def specificity(counts: SpanCounts) -> FloatArray:
    """The part of the untagged events that was left untagged; needs true negatives."""
    tn = counts.tn
    return _divide(tn, tn + counts.fp)


def kappa(counts: SpanCounts) -> FloatArray:
    """Cohen's kappa: agreement beyond chance; needs true negatives. Undefined where chance agrees always."""
    tp, fp, fn, tn = (np.asarray(part, dtype=np.float64) for part in (counts.tp, counts.fp, counts.fn, counts.tn))
    square = (tp + fp + fn + tn) ** 2
    by_chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    return _divide((tp + tn) * (tp + fp + fn + tn) - by_chance, square - by_chance)


@dataclass(frozen=True)
class Average:
    """The mean over tags, and the tags that it leaves out because neither side has them."""

    value: float
    left_out: tuple[str, ...] = ()


def micro(measure: Measure, counts: SpanCounts) -> float:
    """The measure of all tags' tables added up; NaN where it is 0/0."""
    return float(measure(counts.summed().pooled())[0, 0])


def macro(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None = None, *, undefined: float = 0.0
) -> Average:
    """The mean of the tags' values, over the given tags or else over all that either side has."""
    return _mean(measure, counts, tags, undefined, weighted=False)


def weighted(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None = None, *, undefined: float = 0.0
) -> Average:
    """The mean of the tags' values, each weighted by how much of it is true."""
    return _mean(measure, counts, tags, undefined, weighted=True)


def _mean(
    measure: Measure, counts: SpanCounts, tags: Sequence[str] | None, undefined: float, *, weighted: bool
) -> Average:
    counts = counts.summed() if tags is None else counts.summed().of_tags(tags)
    present = (counts.den_p[0] > 0) | (counts.den_r[0] > 0)
    left_out = tuple(tag for tag, there in zip(counts.tags, present.tolist(), strict=True) if not there)
    values = measure(counts)[0][present]
    values = np.where(np.isnan(values), undefined, values)
    shares = counts.den_r[0][present] if weighted else np.ones(len(values))
    return Average(float(_divide((values * shares).sum(), shares.sum())), left_out)


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


def count_tokens_and_separators(
    texts: AnnotatedTexts,
    rows: Rows = "text",
    *,
    separators: float = 1,
    weights: Array | None = None,
    pairs: Pairs | None = None,
) -> SpanCounts:
    """The token and separator model; `separators` is the weight of a separator, where a token's is 1."""
    tokens = count_tokens(texts, rows, weights=weights, pairs=pairs)
    return add_separators(tokens, count_separators(texts, rows, pairs=pairs), separators)


def add_separators(tokens: SpanCounts, separators: SpanCounts, weight: float = 1) -> SpanCounts:
    """The token and separator table from its two parts."""
    if weight < 0:
        raise MetricError(f"the weight of a separator is not below 0, found {weight}")
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
        tokens.multiple or separators.multiple,
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
        num, multiple = grid.add(texts.reference.text[of], texts.reference.tag[of], units[kept]), False
    else:
        start, end, tag, amount, multiple = _shared_steps(gold, guess, int(offsets[-1]) + 1)
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
) -> tuple[IntArray, IntArray, IntArray, IntArray, bool]:
    """Where both sides cover the line with one tag: start, end, tag, min(g, p); and if any is above 1."""
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
    multiple = max(int(side.max(initial=0)) for side in covered) > 1
    shared = np.flatnonzero(amount)
    place, behind = events[shared] >> 2, events[shared + 1] >> 2
    wide = np.flatnonzero(behind > place)
    tag, start = np.divmod(place[wide], line)
    return start, start + (behind - place)[wide], tag, amount[shared[wide]].astype(np.int64), multiple
