"""The figures of Esuli and Sebastiani (2010) that check out, and their Table 3, which does not."""

import numpy as np
import pytest
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
    macro,
    micro,
    summed,
    weighted,
)

from tallystick.errors import MetricError
from tallystick.results.selection import spearman
from tallystick.tasks.spans.counts import Span, annotate
from tallystick.tasks.spans.metrics import accuracy, f_beta, kappa, precision, recall, specificity
from tallystick.tasks.spans.metrics import f_beta as f1
from tallystick.tasks.spans.tags import decode, tags_from_lists

# The quick brown fox jumps over the lazy dog; the annotation rows of the printed table are shifted by one
TABLE_1 = annotate([[(1, 3, "c"), (7, 9, "c")]], [[(1, 4, "c"), (7, 8, "c"), (8, 9, "c")]], [9])


def one(values):
    return pytest.approx(values, abs=5e-5)


def test_table_1_token_and_separator():
    counts = count_tokens_and_separators(TABLE_1)
    assert [int(part[0, 0]) for part in (counts.tp, counts.fp, counts.fn, counts.tn)] == [5, 2, 1, 9]
    assert counts.total.tolist() == [17]
    assert counts.tp.dtype == np.int64
    assert f1(counts)[0, 0] == one(0.7692)
    assert accuracy(counts)[0, 0] == one(0.8235)
    assert kappa(counts)[0, 0] == one(0.6277)
    assert specificity(counts)[0, 0] == one(9 / 11)


def test_table_1_separators_weighted_half():
    counts = count_tokens_and_separators(TABLE_1, separators=0.5)
    assert f1(counts)[0, 0] == one(0.8182)
    assert accuracy(counts)[0, 0] == one(0.8462)
    assert kappa(counts)[0, 0] == one(0.6867)


def test_table_1_tokens_only():
    counts = count_tokens(TABLE_1)
    assert f1(counts)[0, 0] == one(0.8889)
    assert kappa(counts)[0, 0] == one(0.7805)
    assert f1(count_tokens_and_separators(TABLE_1, separators=0))[0, 0] == f1(counts)[0, 0]


def test_table_1_segments():
    assert f1(count_exact(TABLE_1))[0, 0] == 0
    assert f1(count_overlap(TABLE_1))[0, 0] == 1
    assert f1(count_overlap(TABLE_1, partner="one-to-one"))[0, 0] == one(0.8)
    assert f1(count_segment_matching(TABLE_1))[0, 0] == one(0.6154)


def test_table_1_through_tags_is_the_same():
    gold = ["O", "B-c", "I-c", "O", "O", "O", "O", "B-c", "I-c"]
    guess = ["O", "B-c", "I-c", "I-c", "O", "O", "O", "B-c", "B-c"]
    texts = decode(tags_from_lists([gold], [guess])).texts
    assert f1(count_tokens_and_separators(texts))[0, 0] == one(0.7692)


def test_a_tag_switch_costs_three_false_negatives_and_three_false_positives():
    texts = annotate([[(0, 2, "LOC")]], [[(0, 2, "PER")]], [2])
    counts = count_tokens_and_separators(texts)
    assert counts.fn.sum() == 3
    assert counts.fp.sum() == 3
    assert f1(count_tokens_and_separators(texts.relabelled("ENTITY")))[0, 0] == 1


def test_a_trivial_acceptor_scores_2p_over_1_plus_p_and_not_p():
    texts = annotate([[(0, 3, "c")]], [[(0, 10, "c")]], [10])
    p = 5 / 19
    assert f1(count_tokens_and_separators(texts))[0, 0] == pytest.approx(2 * p / (1 + p))


def test_one_third_and_99_of_199_are_recalls():
    for n, expected in ((2, 1 / 3), (100, 99 / 199)):
        counts = count_tokens_and_separators(annotate([[(0, n, "c")]], [[(0, n // 2, "c")]], [n]))
        assert recall(counts)[0, 0] == expected
        assert precision(counts)[0, 0] == 1
        half = annotate([[(0, n, "c")]], [[(0, n // 2, "c")]], [n])
        assert recall(count_tokens(half))[0, 0] == 0.5


def test_adjacent_segments_differ_from_a_long_one():
    texts = annotate([[(0, 2, "c"), (2, 4, "c")]], [[(0, 4, "c")]], [4])
    assert f1(count_tokens_and_separators(texts))[0, 0] == one(0.9231)


def test_a_segment_over_the_whole_text_is_perfect_under_overlap():
    texts = annotate([[(1, 2, "c"), (4, 6, "c")]], [[(0, 9, "c")]], [9])
    counts = count_overlap(texts)
    assert f1(counts)[0, 0] == 1
    with pytest.raises(MetricError, match="any partner"):
        _ = counts.tp


def test_constrained_overlap_does_not_reward_exact_boundaries():
    # the Ronald Reagan Presidential Library
    for guess in ((0, 4, "ORG"), (1, 5, "ORG")):
        texts = annotate([[(1, 5, "ORG")]], [[guess]], [5])
        assert f1(count_constrained_overlap(texts, 1, 1))[0, 0] == 1
    shifted = annotate([[(1, 5, "ORG")]], [[(0, 4, "ORG")]], [5])
    assert f1(count_constrained_overlap(shifted, 0, 1))[0, 0] == 0
    assert f1(count_constrained_overlap(shifted, 1, 0))[0, 0] == 0


def test_contain_is_constrained_overlap_with_k2_0_and_no_limit_on_k1():
    texts = annotate([[(1, 3, "c"), (5, 8, "c")]], [[(0, 4, "c"), (5, 7, "c")]], [9])
    contain = count_contain(texts)
    assert recall(contain)[0, 0] == 0.5
    assert np.array_equal(contain.num_p, count_constrained_overlap(texts, None, 0).num_p)


def test_iou_at_a_threshold_is_not_lost_in_rounding():
    texts = annotate([[(0, 30, "c")]], [[(0, 3, "c")]], [30])
    assert f1(count_iou(texts, 0.1))[0, 0] == 1
    assert f1(count_iou(texts, 0.11))[0, 0] == 0
    with pytest.raises(MetricError):
        count_iou(texts, 0)


def test_bags_cannot_tell_what_segment_matching_can():
    texts = annotate([[(0, 4, "c"), (2, 6, "c")]], [[(0, 6, "c"), (2, 4, "c")]], [6])
    counts = count_tokens_and_separators(texts)
    assert counts.multiple
    assert f1(counts)[0, 0] == 1
    assert f1(count_segment_matching(texts))[0, 0] == one(0.7143)
    for measure in (kappa, accuracy, specificity):
        with pytest.raises(MetricError, match="twice"):
            measure(counts)


def test_segments_have_no_true_negatives():
    with pytest.raises(MetricError, match="no true negatives"):
        accuracy(count_exact(TABLE_1))


def test_duplicates_equal_themselves():
    texts = annotate([[(0, 2, "a"), (0, 2, "a")]], [[(0, 2, "a"), (0, 2, "a")]], [2])
    assert count_exact(texts).tp.tolist() == [[2]]
    assert count_exact(texts, distinct=True).tp.tolist() == [[1]]
    assert f1(count_tokens_and_separators(texts))[0, 0] == 1


def test_empty_sentences_count_for_nothing():
    texts = annotate([[(0, 1, "a")], [], []], [[], [], []], [1, 3, 0])
    counts = count_exact(texts)
    assert np.isnan(f1(counts)[1:, 0]).all()
    assert micro(f1, counts) == 0
    assert count_tokens_and_separators(texts).total.tolist() == [1, 5, 0]


def test_averages():
    texts = annotate(
        [[(0, 1, "a"), (1, 2, "a"), (2, 3, "a"), (4, 5, "b")]], [[(0, 1, "a"), (4, 5, "b"), (5, 6, "c")]], [6]
    )
    counts = count_exact(texts)
    assert macro(recall, counts).value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert weighted(recall, counts).value == pytest.approx((3 * (1 / 3) + 1) / 4)
    assert micro(recall, counts) == pytest.approx(2 / 4)
    assert macro(f1, counts, ("a", "b")).value == pytest.approx((0.5 + 1) / 2)
    declared = macro(f1, counts, ("a", "b", "d"))
    assert declared.value == pytest.approx((0.5 + 1) / 2)
    assert declared.left_out == ("d",)
    assert np.isnan(macro(f1, count_exact(annotate([[]], [[]], [3]))).value)
    assert f_beta(counts, 2)[0, 0] == pytest.approx(5 * 1 / (4 * 3 + 1))


def test_rows_can_be_drawn_again_for_a_bootstrap():
    texts = annotate([[(0, 1, "a")], [(0, 1, "a")]], [[(0, 1, "a")], []], [1, 1])
    counts = count_tokens_and_separators(texts)
    drawn = summed(combined(lambda array: array[[0, 0, 1]], counts))
    assert (drawn.tp.tolist(), drawn.den_r.tolist(), drawn.total.tolist()) == ([[2]], [[3]], [3])


def test_token_weights():
    texts = annotate([[(0, 2, "PER")]], [[(1, 2, "PER")]], [3])
    counts = count_tokens(texts, weights=np.array([1.0, 3.0, 1.0]))
    assert recall(counts)[0, 0] == 0.75
    assert counts.total.tolist() == [5]
    with pytest.raises(MetricError, match="3 tokens, found 1"):
        count_tokens(texts, weights=np.array([1.0]))


def test_a_discontinuous_segment_tags_no_separator_in_its_gap():
    gap = Span(0, 4, "S", ((0, 1), (3, 4)))
    texts = annotate([[gap, (2, 4, "S")]], [[(0, 4, "S"), gap]], [4])
    assert count_exact(texts).tp.tolist() == [[1]]
    apart = annotate([[gap]], [[(0, 4, "S")]], [4])
    counts = count_tokens_and_separators(apart)
    assert [int(part[0, 0]) for part in (counts.tp, counts.fp, counts.fn, counts.tn)] == [2, 5, 0, 0]


# Table 2: the original rank of the system at each place
SEG_EN = list(range(1, 17))
TS_EN = [1, 2, 3, 4, 11, 8, 6, 5, 10, 7, 9, 14, 15, 13, 12, 16]
T_EN = [1, 2, 3, 4, 11, 6, 8, 5, 7, 10, 9, 14, 15, 12, 13, 16]
SEG_DE, TS_DE = SEG_EN, [1, 9, 3, 2, 4, 7, 6, 5, 8, 11, 10, 13, 12, 14, 15, 16]
SEG_ES, TS_ES = list(range(1, 13)), [1, 2, 4, 5, 6, 7, 10, 9, 8, 3, 12, 11]


def rank_correlation(first, second):
    systems = sorted(first)
    return spearman([-first.index(s) for s in systems], [-second.index(s) for s in systems])


def test_table_3_does_not_follow_from_table_2():
    """Printed: Seg/TS .832, Seg/T .832, TS/T .990. Recomputed from the rankings that the paper prints:"""
    seg_ts = [rank_correlation(a, b) for a, b in ((SEG_EN, TS_EN), (SEG_DE, TS_DE), (SEG_ES, TS_ES))]
    assert seg_ts == [one(0.8794), one(0.8971), one(0.7692)]
    assert np.mean(seg_ts) == one(0.8486)
    seg_t = [rank_correlation(a, b) for a, b in ((SEG_EN, T_EN), (SEG_DE, TS_DE), (SEG_ES, TS_ES))]
    assert np.mean(seg_t) == one(0.8544)
    ts_t = [rank_correlation(TS_EN, T_EN), 1.0, 1.0]
    assert np.mean(ts_t) == one(0.9971)
    for recomputed, printed in ((seg_ts, 0.832), (seg_t, 0.832), (ts_t, 0.990)):
        assert abs(np.mean(recomputed) - printed) > 0.005


def test_spearman_with_ties_takes_average_ranks():
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == one(0.9487)
    assert np.isnan(spearman([1, 1], [1, 2]))
