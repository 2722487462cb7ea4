"""Rankings, arrows and correlations, with the papers' own tables."""

import math

import pytest

from tallystick.errors import MetricError
from tallystick.results.compare import compare_runs
from tallystick.results.comparison import letter
from tallystick.results.selection import kendall, ranks, spearman

# Table 8 of the paper on event arguments beyond exact match: F1 by exact span match, human and automatic judges.
RAMS = {
    "PAIE": (52.7, 62.9, 61.5), "T-CR": (51.3, 60.0, 59.1), "T-C": (48.3, 58.4, 57.0), "X-Gear": (47.0, 57.6, 56.4),
    "AMPERE": (46.5, 58.7, 57.4), "DEGREE": (46.5, 59.4, 57.6), "BART-Gen": (46.0, 61.0, 58.5),
    "CRF-T": (43.8, 53.5, 52.3), "EEQA": (43.4, 49.5, 48.4),
}  # fmt: skip
GENEVA = {
    "T-CR": (80.3, 85.7, 83.6), "T-C": (78.3, 84.5, 81.8), "X-Gear": (73.9, 80.7, 78.1), "CRF-T": (70.7, 77.8, 74.5),
    "PAIE": (70.5, 76.0, 73.1), "DEGREE": (66.2, 78.1, 76.4), "EEQA": (66.0, 72.2, 69.8), "AMPERE": (65.7, 77.0, 75.6),
    "BART-Gen": (64.5, 76.5, 74.3),
}  # fmt: skip


def columns(table):
    return list(zip(*table.values(), strict=True))


def test_kendall_of_the_printed_ranks():
    exact, human, automatic = columns(RAMS)
    printed = [1, 2, 3, 4, 5, 6, 7, 8, 9]  # the paper ranks the two systems with 46.5 one after the other
    assert kendall([-r for r in printed], human, "a") == pytest.approx(0.4444, abs=5e-5)
    assert kendall(human, automatic, "a") == pytest.approx(0.9444, abs=5e-5)
    assert kendall(exact, human, "b") == pytest.approx(0.479, abs=5e-4)  # with the tie that the figures have
    exact, human, automatic = columns(GENEVA)
    assert kendall(exact, human, "a") == pytest.approx(0.6667, abs=5e-5)
    assert kendall(human, automatic, "a") == pytest.approx(0.9444, abs=5e-5)


def test_kendall_and_spearman_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    import numpy as np

    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b = rng.integers(0, 6, 9).tolist(), rng.integers(0, 6, 9).tolist()
        for variant in "bc":
            assert kendall(a, b, variant) == pytest.approx(
                stats.kendalltau(a, b, variant=variant).statistic, nan_ok=True
            )
        assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, nan_ok=True)


def test_ties_share_the_mean_of_their_ranks():
    assert ranks([5, 7, 5, 1]).tolist() == [2.5, 1, 2.5, 4]


def test_what_is_equal_but_for_rounding_shares_a_rank():
    means = [(57.4 + 57.3 + 57.5) / 3, 57.4, (50.1 + 50.2 + 71.9) / 3]
    assert len(set(means)) > 1
    assert ranks(means).tolist() == [2, 2, 2]
    assert ranks(means, "order").tolist() == [1, 2, 3]
    assert math.isnan(spearman(means, [1, 2, 3]))
    assert math.isnan(kendall(means, [1, 2, 3], "b"))
    assert kendall(means, [1, 2, 3], "a") == 0
    assert ranks([1e-9, 2e-9, 3e12, 3e12 + 1]).tolist() == [4, 3, 1.5, 1.5]


def test_lists_of_different_systems_are_an_error():
    for correlation in (kendall, spearman):
        with pytest.raises(MetricError, match="found 3 and 2 scores"):
            correlation([1, 2, 3], [1, 2])


def test_what_is_undefined_has_no_rank_and_moves_nothing():
    found = compare_runs({"A": [{"x": 0.5, "y": 0.2}], "B": [{"x": None, "y": 0.9}], "C": [{"x": 0.7, "y": None}]})
    ranked = {key: (cell.rank, cell.moved) for key, cell in found.cells.items()}
    assert ranked == {
        ("A", "x"): (2, 0), ("B", "x"): (None, None), ("C", "x"): (1, 0),
        ("A", "y"): (2, 0), ("B", "y"): (1, None), ("C", "y"): (None, None),
    }  # fmt: skip


def test_a_run_without_a_figure_has_no_mean():
    found = compare_runs({"A": [{"x": 0.5}, {"x": None}, {"x": 0.7}], "B": [{"x": 0.1}, {"y": 0.1}]})
    assert found.cells["A", "x"].value is None
    assert found.notes == ("A, x: no mean, since run 2 has no figure",)
    assert (found.cells["B", "x"].value, found.cells["B", "x"].runs) == (0.1, 1)


def test_arrows_show_where_a_metric_moves_a_system():
    found = compare_runs({name: [dict(zip(("exact", "human"), values, strict=False))] for name, values in RAMS.items()})
    cell = found.cells["BART-Gen", "human"]
    assert (cell.rank, cell.moved) == (2, 5)
    assert found.cells["T-C", "human"].moved == -3


def test_several_runs_give_mean_and_spread():
    found = compare_runs({"A": [{"f1": 0.5}, {"f1": 0.7}], "B": [{"f1": 0.55}, {"f1": 0.56}]})
    cell = found.cells["A", "f1"]
    assert (cell.value, cell.runs, cell.rank) == (pytest.approx(0.6), 2, 1)
    assert cell.spread == pytest.approx(0.1414, abs=1e-4)


def test_letters():
    assert [letter(k) for k in (0, 25, 26, 27)] == ["a", "z", "aa", "ab"]


def test_metrics_agree_over_the_systems_that_have_both():
    """A figure that is not there says nothing about the order."""
    whole = compare_runs({"a": [{"m": 3, "n": 3}], "b": [{"m": 2, "n": 2}], "c": [{"m": 1, "n": 1}]})
    partly = compare_runs(
        {
            "a": [{"m": 3, "n": 3}],
            "gone": [{"m": 4}],
            "b": [{"m": 2, "n": 2}],
            "c": [{"m": 1, "n": 1}],
            "late": [{"n": 9}],
        }
    )
    assert whole.correlations() == partly.correlations()
    assert partly.correlations()[0]["spearman"] == 1
