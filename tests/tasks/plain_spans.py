"""Slow, plain versions of the span counts: sets and bags of Python objects, and brute force for matchings.

A text is a list of spans (pieces, tag), pieces being a tuple of (start, end)."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from hypothesis import strategies as st

from tallystick.tasks.spans.counts import Span, annotate

TAGS = ("A", "B", "C")


@st.composite
def span(draw, length, discontinuous=True):
    start = draw(st.integers(0, length - 1))
    end = draw(st.integers(start + 1, length))
    pieces = ((start, end),)
    if discontinuous and end + 1 < length and draw(st.integers(0, 3)) == 0:
        second = draw(st.integers(end + 1, length - 1))
        pieces = (*pieces, (second, draw(st.integers(second + 1, length))))
    return pieces, draw(st.sampled_from(TAGS[:2]))


@st.composite
def corpora(draw, max_texts=3, max_spans=4, discontinuous=True):
    """(reference, predicted, lengths); nested, overlapping, doubled; empty texts; tag C on one side only."""
    lengths = draw(st.lists(st.integers(0, 8), min_size=1, max_size=max_texts))
    sides = []
    for side in range(2):
        texts = []
        for length in lengths:
            spans = draw(st.lists(span(length, discontinuous), max_size=max_spans)) if length else []
            if spans and side == 1 and draw(st.booleans()):
                spans[0] = (spans[0][0], "C")
            texts.append(spans)
        sides.append(texts)
    return sides[0], sides[1], lengths


def laid_out(corpus, **options):
    reference, predicted, lengths = corpus
    sides = [
        [
            [Span(pieces[0][0], pieces[-1][1], tag, pieces if len(pieces) > 1 else ()) for pieces, tag in text]
            for text in side
        ]
        for side in (reference, predicted)
    ]
    return annotate(sides[0], sides[1], lengths, tags=TAGS, **options)


def tokens(segment) -> set[int]:
    return {i for start, end in segment[0] for i in range(start, end)}


def separators(segment) -> set[int]:
    return {i for start, end in segment[0] for i in range(start, end - 1)}


def unit_bag(spans, tag, units) -> Counter:
    return Counter(unit for segment in spans if segment[1] == tag for unit in units(segment))


def bag_counts(gold, guess) -> tuple[int, int, int]:
    return sum((gold & guess).values()), sum(guess.values()), sum(gold.values())


def best_matching(gold, guess, weight):
    """The greatest total weight of a one-to-one matching, by trying them all."""
    small, large = (gold, guess) if len(gold) <= len(guess) else (guess, gold)
    flip = small is not gold
    best = 0
    for chosen in permutations(range(len(large)), len(small)):
        pairs = [(large[j], small[i]) if flip else (small[i], large[j]) for i, j in enumerate(chosen)]
        best = max(best, sum((weight(g, p) for g, p in pairs), start=0))
    return best
