"""Calibration and ranking against the equations, written out plainly, and against scikit-learn."""

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.engine import ranked as ranking

CLAIMS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.77, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12
)


def _arrays(claims):
    return np.array([c for c, _ in claims], float), np.array([r for _, r in claims], bool)


@given(CLAIMS)
def test_scores_as_their_equations_have_them(claims):
    c, r = _arrays(claims)
    assert ranking.brier(c, r) == pytest.approx(sum((x - y) ** 2 for x, y in claims) / len(claims))
    bins = [[x for x in claims if (k / 10 < x[0] <= (k + 1) / 10) or (k == 0 and x[0] == 0)] for k in range(10)]
    ece = sum(abs(sum(x for x, _ in b) - sum(y for _, y in b)) for b in bins) / len(claims)
    assert ranking.calibration_error(c, r) == pytest.approx(ece)
    pairs = [(a, b) for (a, fine), (b, other) in product(claims, claims) if fine and not other]
    area = sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs) if pairs else None
    assert ranking.auroc(c, r) == (None if area is None else pytest.approx(area))


@given(CLAIMS, st.integers(0, 3))
def test_average_precision_by_going_down_the_thresholds(claims, missed):
    c, r = _arrays(claims)
    there = int(r.sum()) + missed
    area, before = 0.0, 0.0
    for t in sorted({x for x, _ in claims}, reverse=True):
        accepted = [fine for x, fine in claims if x >= t]
        recall = sum(accepted) / there if there else 0.0
        area, before = area + (recall - before) * sum(accepted) / len(accepted), recall
    assert ranking.average_precision(c, r, there) == (pytest.approx(area) if there else None)


@given(CLAIMS, st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_the_lowest_threshold_that_reaches_a_target_by_brute_force(claims, target):
    c, r = _arrays(claims)
    found = ranking.steps(c, r)
    fits = [t for t in {x for x, _ in claims} if np.mean(r[c >= t]) >= target - 1e-9]
    step = int(ranking.lowest_step(found.accepted, found.right, target))
    assert (None if step < 0 else found.thresholds[step]) == min(fits, default=None)
    for t, n, right in zip(*found, strict=True):
        assert (n, right) == ((c >= t).sum(), r[c >= t].sum())


@pytest.mark.parametrize("seed", range(20))
def test_figures_equal_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    calibration = pytest.importorskip("sklearn.calibration")
    rng = np.random.default_rng(seed)
    c = rng.choice([rng.random(80), rng.integers(0, 11, 80) / 10])  # ties, and the edges of bins
    r = rng.random(80) < c
    assert ranking.brier(c, r) == pytest.approx(metrics.brier_score_loss(r, c), abs=1e-12)
    assert ranking.auroc(c, r) == pytest.approx(metrics.roc_auc_score(r, c), abs=1e-12)
    assert ranking.average_precision(c, r) == pytest.approx(metrics.average_precision_score(r, c), abs=1e-12)
    counts, means, shares = ranking.reliability(c, r)
    true, predicted = calibration.calibration_curve(r, c, n_bins=10)
    assert shares[counts > 0] == pytest.approx(true, abs=1e-12)
    assert means[counts > 0] == pytest.approx(predicted, abs=1e-12)
    ece = float(np.sum(counts[counts > 0] / 80 * np.abs(true - predicted)))
    assert ranking.calibration_error(c, r) == pytest.approx(ece, abs=1e-12)
    thresholds, precision, recall = ranking.precision_recall(c, r)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.precision_recall_curve(r, c)
    assert thresholds[::-1] == pytest.approx(theirs[2])
    assert precision[::-1] == pytest.approx(theirs[0][:-1])
    assert recall[::-1] == pytest.approx(theirs[1][:-1])


def test_nothing_at_all_has_no_figures():
    c, r = np.zeros(0), np.zeros(0, bool)
    assert (ranking.brier(c, r), ranking.calibration_error(c, r), ranking.auroc(c, r)) == (None, None, None)
    assert ranking.average_precision(c, r) is None
    assert ranking.share_interval(r, np.zeros(0, int)) is None
    assert int(ranking.lowest_step(*ranking.steps(c, r)[1:], 0.5)) == -1


def test_wilsons_interval_and_what_groups_do_to_it():
    right = np.array([True] * 18 + [False] * 2)
    z, n, p = 1.959963984540054, 20, 0.9
    middle, spread = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    expected = [(middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1)]
    assert ranking.share_interval(right, np.arange(20)) == pytest.approx(expected)
    # ten documents of two claims that are always alike say as much as ten claims
    alike = ranking.share_interval(right, np.arange(20) // 2)
    alone = ranking.share_interval(right[::2], np.arange(10))
    assert alike is not None
    assert alone is not None
    assert alike[0] == pytest.approx(alone[0], abs=0.02)
    assert alike[0] < expected[0]
    assert ranking.share_interval(np.array([True] * 3), np.arange(3)) == pytest.approx((0.4385, 1.0), abs=1e-4)


def test_wilsons_interval_covers_what_it_should():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(2000):
        chance = np.repeat(rng.beta(8, 2, 60), 4)  # documents differ, and their four claims are alike
        right = rng.random(240) < chance
        low, high = ranking.share_interval(right, np.repeat(np.arange(60), 4)) or (0, 0)
        covered.append(low <= 0.8 <= high)
    assert 0.93 <= np.mean(covered) <= 0.97
