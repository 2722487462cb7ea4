"""Texts with two annotations, a true one and a predicted one, as arrays.

A text U of n tokens is t1 < s1 < t2 < ... < s(n-1) < tn: tokens with separators between them. A segment is a
stretch of tokens [start, end) of one text with a tag; an annotation is a bag of segments. Here a whole corpus
of them lies in four parallel arrays, one entry a segment:

    text   0   0   3          segment 0: tokens 1 and 2 of text 0, tag 1
    start  1   7   0
    end    3   9   1
    tag    1   1   0          tags are numbers into one list that both sides share

A segment may be discontinuous ("left ... knee"): then `pieces` holds its stretches and start and end are its
hull. Segments may nest, overlap, and occur twice; nothing here assumes an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.engine.arrays import assign, ranges
from tallystick.errors import SidesMismatch, ValueMismatch
from tallystick.frozen import frozen

IntArray: TypeAlias = npt.NDArray[np.int64]


class Span(NamedTuple):
    """One segment as Python has it: tokens [start, end) with a tag, or several stretches of them."""

    start: int
    end: int
    tag: str
    pieces: tuple[tuple[int, int], ...] = ()


class Pieces(NamedTuple):
    """Stretches of tokens and the segment that each belongs to; sorted by segment, then by start."""

    segment: IntArray
    start: IntArray
    end: IntArray


@frozen(eq=False)
class Segments:
    """The segments of one side of a corpus, in parallel arrays; `pieces` is None where all are continuous."""

    text: IntArray
    start: IntArray
    end: IntArray
    tag: IntArray
    pieces: Pieces | None = None

    def __len__(self) -> int:
        return len(self.text)

    def stretches(self) -> Pieces:
        """The continuous stretches: the pieces of the discontinuous segments, the others as they are."""
        if self.pieces is not None:
            return self.pieces
        return Pieces(np.arange(len(self.text)), self.start, self.end)

    def lengths(self) -> IntArray:
        """How many tokens each segment holds."""
        if self.pieces is None:
            return self.end - self.start
        tokens = self.pieces.end - self.pieces.start
        return np.bincount(self.pieces.segment, tokens, minlength=len(self)).astype(np.int64)

    def take(self, chosen: npt.NDArray[np.bool_] | IntArray) -> Segments:
        """The chosen segments, by a mask or by their numbers."""
        index = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.asarray(chosen, dtype=np.int64)
        pieces = None
        if self.pieces is not None:
            first = np.searchsorted(self.pieces.segment, index)
            count = np.searchsorted(self.pieces.segment, index, side="right") - first
            where = ranges(first, count)
            segment = np.repeat(np.arange(len(index)), count)
            pieces = Pieces(segment, self.pieces.start[where], self.pieces.end[where])
        return Segments(self.text[index], self.start[index], self.end[index], self.tag[index], pieces)


@frozen(eq=False)
class AnnotatedTexts:
    """A corpus of texts, each with a true annotation (`reference`) and a predicted one.

    `lengths` is the number of tokens of each text, or None where nobody knows it: then there are no true
    negatives. `tags` names the tag numbers; `names` names the texts; `words` are their tokens, where somebody kept them.
    """

    reference: Segments
    predicted: Segments
    lengths: IntArray | None
    tags: tuple[str, ...]
    texts: int
    names: tuple[str, ...] | None = None
    words: tuple[tuple[str, ...], ...] | None = None
    scores: tuple[tuple[float | None, ...], ...] | None = None
    """How sure the prediction says it is of each of its segments, text by text."""
    unit: str | None = None
    """What the offsets of the files counted, where they had any."""
    notes: tuple[str, ...] = ()
    """What is to be said about the files."""

    def relabelled(self, tag: str | Mapping[str, str] | Callable[[str], str]) -> AnnotatedTexts:
        """The same segments under other tags: one supertag for all, or a mapping from tag to supertag.

        A tag that a mapping does not name keeps its name. Ignoring types is relabelling everything with one
        tag.
        """
        if isinstance(tag, str):
            renamed = [tag] * len(self.tags)
        elif isinstance(tag, Mapping):
            renamed = [tag.get(name, name) for name in self.tags]
        else:
            renamed = [tag(name) for name in self.tags]
        tags = tuple(dict.fromkeys(renamed))
        table = np.array([tags.index(name) for name in renamed], dtype=np.int64)
        reference = replace(self.reference, tag=table[self.reference.tag])
        predicted = replace(self.predicted, tag=table[self.predicted.tag])
        return replace(self, reference=reference, predicted=predicted, tags=tags)

    def offsets(self) -> IntArray:
        """Where each text starts when all are laid end to end (one entry more than there are texts)."""
        lengths: IntArray = np.zeros(self.texts, dtype=np.int64) if self.lengths is None else self.lengths
        if self.lengths is None:
            for side in (self.reference, self.predicted):
                np.maximum.at(lengths, side.text, side.end)
        ends: IntArray = np.cumsum(lengths)
        return np.concatenate((np.zeros(1, dtype=np.int64), ends))


def annotate(
    reference: Sequence[Iterable[Span | tuple[int, int, str]]],
    predicted: Sequence[Iterable[Span | tuple[int, int, str]]],
    lengths: Sequence[int] | IntArray | None = None,
    *,
    tags: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> AnnotatedTexts:
    """Lay out Python spans, a collection of them for each text and side; tags come sorted after `tags`."""
    if len(reference) != len(predicted):
        raise SidesMismatch(
            f"the reference has {len(reference):,} texts, the prediction {len(predicted):,}; "
            "give both a (possibly empty) list of spans for each text"
        )
    if lengths is not None and len(lengths) != len(reference):
        raise SidesMismatch(f"{len(lengths):,} lengths for {len(reference):,} texts; give one for each text")
    sides = [[[Span(*span) for span in text] for text in side] for side in (reference, predicted)]
    found = {span.tag for side in sides for text in side for span in text}
    known = tuple(dict.fromkeys(tags)) + tuple(sorted(found.difference(tags)))
    number = {tag: code for code, tag in enumerate(known)}
    bounds = None if lengths is None else np.asarray(lengths, dtype=np.int64)
    laid = [
        _lay_out(side, number, bounds, f"{word}[{{}}]")
        for side, word in zip(sides, ("reference", "predicted"), strict=True)
    ]
    return AnnotatedTexts(laid[0], laid[1], bounds, known, len(reference), tuple(names) if names is not None else None)


def _lay_out(side: list[list[Span]], number: dict[str, int], lengths: IntArray | None, where: str) -> Segments:
    rows: list[tuple[int, int, int, int]] = []
    pieces: list[tuple[int, int, int]] = []
    broken = False
    for text, spans in enumerate(side):
        limit = None if lengths is None else int(lengths[text])
        for span in spans:
            stretches = _joined(span, where.format(text))
            start, end = stretches[0][0], stretches[-1][1]
            if start < 0 or (limit is not None and end > limit):
                size = "" if limit is None else f" of {limit} tokens"
                raise ValueMismatch(
                    f"{where.format(text)}: span [{start}, {end}) {span.tag} lies outside its text{size}"
                )
            pieces += [(len(rows), first, last) for first, last in stretches]
            broken = broken or len(stretches) > 1
            rows.append((text, start, end, number[span.tag]))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    kept = Pieces(*np.array(pieces, dtype=np.int64).reshape(-1, 3).T.copy()) if broken else None
    return Segments(table[0], table[1], table[2], table[3], kept)


def _joined(span: Span, where: str) -> list[tuple[int, int]]:
    """The stretches of a span in order; touching or overlapping ones are one."""
    stretches: list[tuple[int, int]] = []
    for start, end in sorted(span.pieces or ((span.start, span.end),)):
        if end <= start:
            raise ValueMismatch(f"{where}: span [{start}, {end}) {span.tag} is empty; the end is exclusive")
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


# Pairs of a true and a predicted segment that share tokens, and the best one-to-one choice among them.
#
# Texts are laid end to end, so that a stretch is an interval of the line. Two intervals meet iff the start of
# one lies in the other: either g.start in [p.start, p.end), or p.start in (g.start, g.end). Each case is a
# range in the sorted starts of one side, found by bisection: all pairs of a corpus without comparing any that
# do not meet.
#
# Whether a pair counts is then a matter of three numbers, |G|, |P| and |G n P|: the constrained overlap model,
# for one, wants |P| - |G n P| <= k1 spurious and |G| - |G n P| <= k2 missing tokens.


@frozen(eq=False)
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


def in_turn(pairs: Pairs, order: IntArray) -> IntArray:
    """The numbers of the pairs that are taken if they come up in this order and a pair is taken while both its segments are free."""
    sides = pairs.reference[order], pairs.predicted[order]
    alone = np.logical_and(*(np.bincount(side, minlength=1)[side] == 1 for side in sides))
    contested = np.flatnonzero(~alone)
    taken_r: set[int] = set()
    taken_p: set[int] = set()
    kept = alone.copy()
    for k, r, p in zip(*(part.tolist() for part in (contested, sides[0][contested], sides[1][contested])), strict=True):
        if r not in taken_r and p not in taken_p:
            taken_r.add(r)
            taken_p.add(p)
            kept[k] = True
    return np.sort(order[kept])


def canonical_order(segments: Segments) -> IntArray:
    """The numbers of the segments by text, start, end, stretches, tag."""
    (shape,), _ = stretch_codes([segments])
    return np.lexsort((segments.tag, shape, segments.end, segments.start, segments.text))


def stretch_codes(sides: Sequence[Segments]) -> tuple[list[IntArray], list[tuple[int, ...]]]:
    """A number for the stretches of each segment, the same for the same ones, and what the numbers stand for: start, end,
    start, end, ...; 0 stands for a continuous segment."""
    if all(side.pieces is None for side in sides):
        return [np.zeros(len(side), dtype=np.int64) for side in sides], [()]
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
    table = sorted({shape for side in shapes for shape in side} | {()})
    known = {shape: code for code, shape in enumerate(table)}
    return [np.array([known[shape] for shape in side], dtype=np.int64) for side in shapes], table
