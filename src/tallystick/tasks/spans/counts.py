"""Counting spans: segments by an expression of the algebra, by their partners, by units, and by the schemes of SemEval 2013.

For each text and tag

    num_p = predicted segments (or units) that are right      den_p = predicted ones
    num_r = true segments (or units) that were found          den_r = true ones

A metric that is an expression is tallied as every expression is: the segments of a row and a tag are one bag, so that the
rows of all tags come out of one evaluation. Segments have no true negatives: nobody counts the segments that are neither
predicted nor true.

Rows are texts, or documents, or the corpus; they add.

Texts with two annotations, a true one and a predicted one, as arrays.

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
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallystick.algebra.node import Node
from tallystick.engine.arrays import assign, distinct, ranges, sort_order
from tallystick.engine.data import Bag, Coded, Data, Memory, Record
from tallystick.errors import MetricError, SidesMismatch, ValueMismatch, did_you_mean
from tallystick.frozen import frozen
from tallystick.results.evaluation import tally_rows

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
        order = sort_order(owner, owners)
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
