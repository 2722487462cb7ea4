"""Pairs of a true and a predicted segment that share tokens, and the best one-to-one choice among them.

Texts are laid end to end, so that a stretch is an interval of the line. Two intervals meet iff the start of
one lies in the other: either g.start in [p.start, p.end), or p.start in (g.start, g.end). Each case is a
range in the sorted starts of one side, found by bisection: all pairs of a corpus without comparing any that
do not meet.

Whether a pair counts is then a matter of three numbers, |G|, |P| and |G n P|: the constrained overlap model,
for one, wants |P| - |G n P| <= k1 spurious and |G| - |G n P| <= k2 missing tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.matching.assignment import assign
from tallystick.structures.segments import AnnotatedTexts, IntArray, Segments, ranges


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs that share at least one token: the segments' numbers on both sides and how much is shared.

    `separators` are the shared ones: inside one stretch of both segments.
    """

    reference: IntArray
    predicted: IntArray
    tokens: IntArray
    separators: IntArray

    def __len__(self) -> int:
        return len(self.reference)

    def take(self, chosen: npt.NDArray[np.bool_] | IntArray) -> Pairs:
        """Some of the pairs, by a mask or by their numbers."""
        return Pairs(self.reference[chosen], self.predicted[chosen], self.tokens[chosen], self.separators[chosen])


def overlapping_pairs(texts: AnnotatedTexts) -> Pairs:
    """All pairs of segments that share a token, whatever their tags; sorted by reference, then predicted."""
    offsets = texts.offsets()
    gold, guess = texts.reference.stretches(), texts.predicted.stretches()
    gold_base = offsets[texts.reference.text[gold.segment]]
    guess_base = offsets[texts.predicted.text[guess.segment]]
    gold_start, gold_end = gold.start + gold_base, gold.end + gold_base
    guess_start, guess_end = guess.start + guess_base, guess.end + guess_base
    inner_p, inner_g = _starts_within(guess_start, guess_end, gold_start, "left")
    outer_g, outer_p = _starts_within(gold_start, gold_end, guess_start, "right")
    g, p = np.concatenate((inner_g, outer_g)), np.concatenate((inner_p, outer_p))
    shared = np.minimum(gold_end[g], guess_end[p]) - np.maximum(gold_start[g], guess_start[p])
    key = gold.segment[g] * max(len(texts.predicted), 1) + guess.segment[p]
    order = np.argsort(key, kind="stable")
    key, shared = key[order], shared[order]
    separators = shared - 1
    if texts.reference.pieces is not None or texts.predicted.pieces is not None:
        first = np.flatnonzero(np.diff(key, prepend=-1))
        key = key[first]
        if len(first):
            shared, separators = np.add.reduceat(shared, first), np.add.reduceat(separators, first)
    reference, predicted = np.divmod(key, max(len(texts.predicted), 1))
    return Pairs(reference, predicted, shared, separators)


def _starts_within(start: IntArray, end: IntArray, points: IntArray, side: str) -> tuple[IntArray, IntArray]:
    """Pairs (interval, point) with the point in [start, end), or in (start, end) with side "right"."""
    order = np.argsort(points, kind="stable")
    line = points[order]
    low = np.searchsorted(line, start, side="left" if side == "left" else "right")
    count = np.searchsorted(line, end, side="left") - low
    return np.repeat(np.arange(len(start)), count), order[ranges(low, count)]


def is_flat(texts: AnnotatedTexts) -> bool:
    """Whether the segments of each side are continuous, in order and disjoint, as decoded tags always are.

    Then no unit is tagged twice and no segment occurs twice, and every count follows from the pairs.
    """
    for side in (texts.reference, texts.predicted):
        later = side.text[1:] > side.text[:-1]
        behind = (side.text[1:] == side.text[:-1]) & (side.start[1:] >= side.end[:-1])
        if side.pieces is not None or not np.all(later | behind):
            return False
    return True


def same_tag(texts: AnnotatedTexts, pairs: Pairs) -> npt.NDArray[np.bool_]:
    """Which pairs have one tag."""
    return np.asarray(texts.reference.tag[pairs.reference] == texts.predicted.tag[pairs.predicted])


def same_boundaries(texts: AnnotatedTexts, pairs: Pairs) -> npt.NDArray[np.bool_]:
    """Which pairs are the same stretches of tokens: nothing is missing and nothing is spurious."""
    gold, guess = texts.reference.lengths(), texts.predicted.lengths()
    return np.asarray((pairs.tokens == gold[pairs.reference]) & (pairs.tokens == guess[pairs.predicted]))


def one_to_one(pairs: Pairs, weight: npt.NDArray[np.float64]) -> IntArray:
    """The numbers of the pairs of a one-to-one choice with the greatest total weight (all weights above 0).

    Give the pairs in a canonical order: which of several best choices is taken depends on it.
    """
    sizes = (1 + int(side.max(initial=-1)) for side in (pairs.reference, pairs.predicted))
    return np.flatnonzero(assign(pairs.reference, pairs.predicted, weight, *sizes))


def canonical_order(segments: Segments) -> IntArray:
    """The numbers of the segments by text, start, end, stretches, tag."""
    shape = np.zeros(len(segments), dtype=np.int64)
    if segments.pieces is not None:
        shape = stretch_codes([segments])[0]
    return np.lexsort((segments.tag, shape, segments.end, segments.start, segments.text))


def stretch_codes(sides: list[Segments]) -> list[IntArray]:
    """A number for the stretches of each segment, the same for the same ones; 0 where it is continuous."""
    shapes: list[list[tuple[int, ...]]] = []
    for side in sides:
        flat: list[list[int]] = [[] for _ in range(len(side))]
        if side.pieces is not None:
            count = np.bincount(side.pieces.segment, minlength=len(side))
            broken = count[side.pieces.segment] > 1
            columns = (column[broken].tolist() for column in side.pieces)
            for segment, start, end in zip(*columns, strict=True):
                flat[segment] += (start, end)
        shapes.append([tuple(shape) for shape in flat])
    known = {shape: code for code, shape in enumerate(sorted({shape for side in shapes for shape in side} | {()}))}
    return [np.array([known[shape] for shape in side], dtype=np.int64) for side in shapes]
