"""Statistics from tallies: the same as resampling the documents themselves, and honest under the null."""

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import MetricError, SidesMismatch
from tallystick.scoring import drawing
from tallystick.scoring.drawing import bootstrap_sums
from tallystick.scoring.resampling import intervals
from tallystick.scoring.result import Result
from tallystick.scoring.significance import holm, paired_bootstrap, randomisation
from tallystick.scoring.tally import Counts


def made_up(n, quality, seed):
    rng = np.random.default_rng(seed)
    gold, predicted = rng.poisson(6, n), rng.poisson(6, n)
    right = rng.binomial(np.minimum(gold, predicted), quality)
    return Result("made up", Counts(), np.stack((right, predicted, right, gold), axis=1).astype(float), tuple(range(n)))


def test_a_resample_is_what_rescoring_the_drawn_documents_gives():
    references = [["a", "b"], ["c"], ["d", "e", "f"], []]
    predicted = [["a"], ["c", "x"], ["d", "y"], ["z"]]
    metric = ts.derive(list[str])
    result = ts.evaluate(metric, references, predicted)
    sums = bootstrap_sums([result.rows], 130, seed=3)[0]
    for k, drawn in enumerate(np.random.default_rng(3).integers(0, 4, size=(130, 4), dtype=np.uint32).tolist()):
        again = ts.evaluate(metric, [references[d] for d in drawn], [predicted[d] for d in drawn])
        assert sums[k].tolist() == again.sums.tolist()


def test_what_is_drawn_depends_on_the_seed_alone(monkeypatch):
    rows = made_up(50, 0.7, 1).rows
    first = bootstrap_sums([rows], 500, seed=1)[0]
    monkeypatch.setattr(drawing, "CELLS", 1)
    np.testing.assert_array_equal(bootstrap_sums([rows, rows], 500, seed=1)[1], first)
    assert not np.array_equal(bootstrap_sums([rows], 500, seed=2)[0], first)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_an_interval_holds_the_figure_and_shrinks_with_more_documents(method):
    widths = []
    for n in (30, 300):
        result = made_up(n, 0.7, 2)
        (found,) = intervals([result], resamples=500, method=method)
        low, high = found["f1"].low, found["f1"].high
        assert low < result.f1 < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_bca_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    result = made_up(60, 0.6, 5)

    def recall(right, gold, axis=-1):
        return right.sum(axis) / gold.sum(axis)

    theirs = stats.bootstrap(
        (result.rows[:, 2], result.rows[:, 3]),
        recall,
        paired=True,
        vectorized=True,
        method="BCa",
        n_resamples=4000,
        rng=0,
    ).confidence_interval
    ours = intervals([result], resamples=4000, method="bca")[0]["recall"]
    assert ours.low == pytest.approx(theirs.low, abs=0.006)
    assert ours.high == pytest.approx(theirs.high, abs=0.006)


def test_one_document_has_no_interval():
    result = ts.evaluate(ts.derive(list[int]), [[1]], [[1]])
    assert intervals([result])[0]["f1"].low is None


@pytest.mark.parametrize("test", [paired_bootstrap, randomisation])
def test_a_system_is_not_different_from_itself_but_from_a_much_better_one(test):
    first, second = made_up(200, 0.5, 1), made_up(200, 0.9, 2)
    assert test(first, first).p == 1
    assert test(first, second).p < 0.01
    assert test(first, second).value == pytest.approx(-test(second, first).value)


@pytest.mark.parametrize("test", [paired_bootstrap, randomisation])
def test_p_values_are_spread_evenly_under_the_null(test):
    found = [test(made_up(80, 0.7, 2 * k), made_up(80, 0.7, 2 * k + 1), resamples=200).p for k in range(150)]
    for level in (0.1, 0.3, 0.5, 0.8):
        assert abs(np.mean(np.array(found) <= level) - level) < 0.12


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_paired_tests_need_the_same_documents():
    with pytest.raises(SidesMismatch):
        paired_bootstrap(made_up(10, 0.5, 1), made_up(11, 0.5, 1))
    with pytest.raises(MetricError):
        intervals([made_up(10, 0.5, 1)], method="guess")
