"""Each fast count against a plain one, over corpora with nesting, duplicates, gaps and empty texts."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_spans import (
    TAGS,
    bag_counts,
    best_matching,
    corpora,
    laid_out,
    separators,
    tokens,
    unit_bag,
)
from span_counting import (
    combined,
    count_constrained_overlap,
    count_contain,
    count_exact,
    count_iou,
    count_overlap,
    count_segment_matching,
    count_tokens,
    count_tokens_and_separators,
    summed,
)

from tallystick.tasks.spans import counts as counting
from tallystick.tasks.spans.counts import Pairs, count_scheme, count_separators, one_to_one, overlapping_pairs
from tallystick.tasks.spans.metrics import f_beta as f1
from tallystick.tasks.spans.metrics import kappa
from tallystick.tasks.spans.show import Outcome, align

MODELS = {
    "exact": count_exact,
    "overlap": count_overlap,
    "overlap 1:1": lambda texts, rows="text": count_overlap(texts, rows, partner="one-to-one"),
    "contain": count_contain,
    "constrained": lambda texts, rows="text": count_constrained_overlap(texts, 1, 2, rows),
    "iou": lambda texts, rows="text": count_iou(texts, 0.5, rows),
    "iou any": lambda texts, rows="text": count_iou(texts, 0.5, rows, partner="any"),
    "matching": count_segment_matching,
    "tokens": count_tokens,
    "separators": count_separators,
    "units": count_tokens_and_separators,
}


def same(first, second):
    for name in ("num_p", "den_p", "num_r", "den_r", "total"):
        left, right = getattr(first, name), getattr(second, name)
        assert (left is None) == (right is None)
        if left is not None:
            assert np.array_equal(left, right), name
    return True


@given(corpora())
def test_exact_is_a_bag(corpus):
    counts = count_exact(laid_out(corpus))
    for text, (gold, guess, _) in enumerate(zip(*corpus, strict=True)):
        for column, tag in enumerate(TAGS):
            bags = [Counter(segment for segment in side if segment[1] == tag) for side in (gold, guess)]
            expected = bag_counts(*bags)
            assert (
                counts.num_p[text, column],
                counts.den_p[text, column],
                counts.den_r[text, column],
            ) == expected


@given(corpora())
def test_units_are_bags(corpus):
    texts = laid_out(corpus)
    for units, counts, shorter in (
        (tokens, count_tokens(texts), 0),
        (separators, count_separators(texts), 1),
    ):
        twice = set()
        for text, (gold, guess, length) in enumerate(zip(*corpus, strict=True)):
            assert counts.total[text] == max(length - shorter, 0)
            for column, tag in enumerate(TAGS):
                bags = unit_bag(gold, tag, units), unit_bag(guess, tag, units)
                twice |= {tag} if max([0, *bags[0].values(), *bags[1].values()]) > 1 else set()
                found = (counts.num_p[text, column], counts.den_p[text, column], counts.den_r[text, column])
                assert found == bag_counts(*bags)
        assert set(counts.multiple) == twice


@given(corpora(), st.data())
def test_weighted_tokens(corpus, data):
    size = sum(corpus[2])
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), dtype=np.float64)
    counts = count_tokens(laid_out(corpus), weights=weights)
    base = 0
    for text, (gold, guess, length) in enumerate(zip(*corpus, strict=True)):
        for column, tag in enumerate(TAGS):
            bags = unit_bag(gold, tag, tokens), unit_bag(guess, tag, tokens)
            expected = sum(weights[base + unit] * number for unit, number in (bags[0] & bags[1]).items())
            assert counts.num_p[text, column] == expected
        assert counts.total[text] == weights[base : base + length].sum()
        base += length


PARTNERS = {
    "overlap": lambda g, p: bool(g & p),
    "contain": lambda g, p: bool(g & p) and g <= p,
    "constrained": lambda g, p: bool(g & p) and len(p - g) <= 1 and len(g - p) <= 2,
    "iou any": lambda g, p: len(g & p) / len(g | p) >= 0.5,
}


@pytest.mark.parametrize("name", PARTNERS)
@given(corpora())
def test_any_partner(name, corpus):
    counts = MODELS[name](laid_out(corpus))
    fits = PARTNERS[name]
    for text, (gold, guess, _) in enumerate(zip(*corpus, strict=True)):
        for column, tag in enumerate(TAGS):
            g, p = ([tokens(segment) for segment in side if segment[1] == tag] for side in (gold, guess))
            assert counts.num_p[text, column] == sum(any(fits(x, y) for x in g) for y in p)
            assert counts.num_r[text, column] == sum(any(fits(x, y) for y in p) for x in g)
            assert (counts.den_p[text, column], counts.den_r[text, column]) == (len(p), len(g))


@given(corpora(max_texts=2))
def test_one_to_one_is_optimal(corpus):
    texts = laid_out(corpus)
    overlap, iou, matching = (MODELS[name](texts) for name in ("overlap 1:1", "iou", "matching"))
    for text, (gold, guess, _) in enumerate(zip(*corpus, strict=True)):
        for column, tag in enumerate(TAGS):
            g, p = ([segment for segment in side if segment[1] == tag] for side in (gold, guess))
            assert overlap.tp[text, column] == best_matching(g, p, lambda x, y: bool(tokens(x) & tokens(y)))
            wanted = best_matching(g, p, lambda x, y: len(tokens(x) & tokens(y)) / len(tokens(x) | tokens(y)) >= 0.5)
            assert iou.tp[text, column] == wanted
            shared = best_matching(g, p, lambda x, y: len(tokens(x) & tokens(y)) + len(separators(x) & separators(y)))
            assert matching.tp[text, column] == shared


@pytest.mark.parametrize("name", MODELS)
@given(corpora(), st.randoms())
def test_the_order_of_segments_does_not_matter(name, corpus, rng):
    shuffled = (
        [rng.sample(text, len(text)) for text in corpus[0]],
        [rng.sample(t, len(t)) for t in corpus[1]],
    )
    assert same(MODELS[name](laid_out(corpus)), MODELS[name](laid_out((*shuffled, corpus[2]))))


@pytest.mark.parametrize("name", MODELS)
@given(corpora())
def test_rows_add(name, corpus):
    texts = laid_out(corpus)
    by_text = MODELS[name](texts)
    assert same(summed(by_text), MODELS[name](texts, "corpus"))
    rows = np.arange(texts.texts) // 2
    assert same(summed(by_text), summed(MODELS[name](texts, rows)))
    parts = [MODELS[name](laid_out(tuple(side[i : i + 1] for side in corpus)), "corpus") for i in range(len(corpus[2]))]
    assert same(combined(lambda *arrays: sum(arrays), *parts), summed(by_text))


@pytest.mark.parametrize("name", MODELS)
@given(corpora())
def test_an_annotation_equals_itself(name, corpus):
    counts = MODELS[name](laid_out((corpus[0], corpus[0], corpus[2])))
    values = f1(counts)
    assert (values[~np.isnan(values)] == 1).all()


def disjoint(spans):
    kept = []
    for segment in spans:
        if not any(tokens(segment) & tokens(other) for other in kept):
            kept.append(segment)
    return sorted(kept)


@given(corpora(discontinuous=False))
def test_flat_data_counted_from_pairs_is_the_same(corpus):
    flat = [[disjoint(text) for text in side] for side in corpus[:2]]
    texts = laid_out((*flat, corpus[2]))
    pairs = overlapping_pairs(texts)
    for count in (counting.count_tokens, counting.count_separators):
        assert same(count(texts), count(texts, pairs=pairs))
    assert same(count_exact(texts), count_constrained_overlap(texts, 0, 0))
    assert np.nanmax(kappa(counting.count_tokens(texts, pairs=pairs)), initial=-1) <= 1


@given(corpora())
def test_pairs_given_for_overlapping_data_change_nothing(corpus):
    texts = laid_out(corpus)
    pairs = overlapping_pairs(texts)
    for count in (counting.count_tokens, counting.count_separators):
        assert same(count(texts), count(texts, pairs=pairs))


@given(corpora())
def test_unknown_lengths_change_no_score(corpus):
    known, unknown = laid_out(corpus), laid_out((*corpus[:2], None))
    for count in (count_exact, count_tokens_and_separators, count_overlap):
        first, second = count(known), count(unknown)
        assert np.array_equal(first.num_p, second.num_p)
        assert second.total is None


def plain_scheme(gold, guess, scheme):
    """Most correct pairs, then most pairs, by trying all; (correct, other pairs)."""

    def weight(g, p):
        if len(tokens(g) & tokens(p)) / len(tokens(g)) < 0.01:
            return 0
        right = (scheme == "type" or tokens(g) == tokens(p)) and (scheme not in ("strict", "type") or g[1] == p[1])
        return 1000 if right else 1

    return divmod(best_matching(gold, guess, weight), 1000)


@pytest.mark.parametrize("scheme", ["strict", "exact", "partial", "type"])
@given(corpora(max_texts=2))
def test_schemes_are_optimal(scheme, corpus):
    counts = count_scheme(laid_out(corpus), scheme)
    by_tag = count_scheme(laid_out(corpus), scheme, by_tag=True)
    for text, (gold, guess, _) in enumerate(zip(*corpus, strict=True)):
        correct, other = plain_scheme(gold, guess, scheme)
        assert (counts.correct[text, 0], (counts.incorrect + counts.partial)[text, 0]) == (correct, other)
        assert counts.missed[text, 0] == len(gold) - correct - other
        assert counts.spurious[text, 0] == len(guess) - correct - other
        for column, tag in enumerate(TAGS):
            own = [[segment for segment in side if segment[1] == tag] for side in (gold, guess)]
            assert by_tag.correct[text, column] == plain_scheme(*own, scheme)[0]


@given(corpora(), st.randoms())
def test_errors_do_not_depend_on_order(corpus, rng):
    shuffled = (
        [rng.sample(text, len(text)) for text in corpus[0]],
        [rng.sample(t, len(t)) for t in corpus[1]],
    )
    first, second = align(laid_out(corpus)), align(laid_out((*shuffled, corpus[2])))
    assert np.array_equal(first.confusion(), second.confusion())
    assert Counter(zip(first.text(), first.outcome, strict=True)) == Counter(
        zip(second.text(), second.outcome, strict=True)
    )
    assert sorted(map(str, first.errors())) == sorted(map(str, second.errors()))


@given(corpora())
def test_every_segment_has_one_outcome(corpus):
    texts = laid_out(corpus)
    alignment = align(texts)
    assert sorted(alignment.reference[alignment.reference >= 0].tolist()) == list(range(len(texts.reference)))
    assert sorted(alignment.predicted[alignment.predicted >= 0].tolist()) == list(range(len(texts.predicted)))
    assert (alignment.outcome == Outcome.CORRECT).sum() == count_exact(texts).tp.sum()
    assert (alignment.outcome != Outcome.CORRECT).sum() == len(alignment.errors())
    table = alignment.confusion()
    assert np.array_equal(table[:-1].sum(axis=1), np.bincount(texts.reference.tag, minlength=len(TAGS)))
    assert np.array_equal(table[:, :-1].sum(axis=0), np.bincount(texts.predicted.tag, minlength=len(TAGS)))
    for error in alignment.errors():
        if error.reference and error.predicted:
            sets = [
                {i for a, b in (s.pieces or ((s.start, s.end),)) for i in range(a, b)}
                for s in (error.reference, error.predicted)
            ]
            assert error.tokens_off == len(sets[0] ^ sets[1])
            assert (str(error.outcome) in ("boundary",)) == (error.reference.tag == error.predicted.tag)


def test_long_random_corpora_with_large_tangles():
    rng = random.Random(5)
    for _ in range(20):
        sides = [
            [
                [(((s := rng.randrange(30)), s + rng.randrange(1, 8)),) for _ in range(rng.randrange(25))]
                for _ in range(3)
            ]
            for _ in range(2)
        ]
        corpus = (
            [[(p, "A") for p in t] for t in sides[0]],
            [[(p, "A") for p in t] for t in sides[1]],
            [40] * 3,
        )
        texts = laid_out(corpus)
        exact, overlap = count_exact(texts), count_overlap(texts, partner="one-to-one")
        assert (overlap.tp >= exact.tp).all()
        assert (count_tokens(texts).tp <= np.minimum(count_tokens(texts).den_p, count_tokens(texts).den_r)).all()


def test_the_engines_solver_finds_what_scipy_finds():
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(7)
    for size in (2, 4, 9, 30):
        for _ in range(20):
            weight = np.where(rng.random((size, size + 1)) < 0.4, rng.integers(1, 60, (size, size + 1)), 0)
            rows, columns = np.nonzero(weight)
            pairs = Pairs(rows, columns, rows, rows)
            chosen = one_to_one(pairs, weight[rows, columns].astype(np.float64))
            assert len(set(rows[chosen])) == len(set(columns[chosen])) == len(chosen)
            assert weight[rows[chosen], columns[chosen]].sum() == weight[linear_sum_assignment(-weight)].sum()
