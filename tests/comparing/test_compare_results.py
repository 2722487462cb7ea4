"""Systems laid side by side in Python: intervals, letters, runs, splits, documents left out."""

import numpy as np
import pytest

import tallystick as ts
from tallystick.comparing.selection import mean_over_documents, without
from tallystick.comparing.systems import compare
from tallystick.errors import MetricError, SidesMismatch
from tallystick.reports.comparison import comparison_latex
from tallystick.reports.comparison_page import render_comparison
from tallystick.scoring.resampling import intervals
from tallystick.scoring.result import Result
from tallystick.scoring.significance import holm, paired_bootstrap, randomisation
from tallystick.scoring.tally import Counts


def made_up(quality, n=80, seed=1, ids=None):
    rng = np.random.default_rng(seed)
    gold = np.random.default_rng(0).poisson(5, n)
    right = rng.binomial(gold, quality)
    rows = np.stack((right, gold, right, gold), axis=1).astype(float)
    return Result("made up", Counts(), rows, ids or tuple(range(n)))


@pytest.fixture
def systems():
    return {
        name: {"f1": made_up(quality, seed=k), "same": made_up(quality, seed=k)}
        for k, (name, quality) in enumerate((("good", 0.8), ("alike", 0.8), ("bad", 0.4)))
    }


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_it_is_the_single_functions_together(systems, method):
    settings = {"resamples": 300, "seed": 5, "method": method}
    found = compare(systems, **settings)
    for name, results in systems.items():
        assert found.cells[name, "f1"].interval == intervals([results["f1"]], **settings)[0]["f1"]
    pairs = [("good", "alike"), ("good", "bad"), ("alike", "bad")]
    for test, one in (("bootstrap", paired_bootstrap), ("randomisation", randomisation)):
        found = compare(systems, test=test, **settings)
        single = [one(systems[a]["f1"], systems[b]["f1"], **settings) for a, b in pairs]
        assert [found.differences["f1", a, b].p for a, b in pairs] == [d.p for d in single]
        assert [found.differences["f1", a, b].interval for a, b in pairs] == [d.interval for d in single]
        assert [found.differences["f1", a, b].corrected for a, b in pairs] == holm([d.p for d in single])


def test_letters_name_who_is_significantly_worse(systems):
    found = compare(systems, resamples=300)
    assert [found.cells[name, "f1"].beats for name in systems] == ["c", "c", ""]
    assert "good" in str(found)
    assert "<table>" in found._repr_html_()
    assert "seed=0" in found.settings


def test_metrics_over_other_rows_are_drawn_apart(systems):
    for results in systems.values():
        results["few"] = made_up(0.5, n=30, seed=7)
    found = compare(systems, resamples=100)
    alone = compare({name: {"few": results["few"]} for name, results in systems.items()}, resamples=100)
    assert found.cells["bad", "few"].interval == alone.cells["bad", "few"].interval


def test_runs_of_a_system_are_their_mean(systems):
    seeds = [made_up(0.8, seed=k) for k in (0, 5, 6)]
    found = compare({"A": [{"f1": one} for one in seeds], "B": systems["bad"] and {"f1": systems["bad"]["f1"]}})
    cell = found.cells["A", "f1"]
    assert cell.value == pytest.approx(np.mean([one.f1 for one in seeds]))
    assert cell.spread == pytest.approx(np.std([one.f1 for one in seeds], ddof=1))
    assert cell.interval.low < cell.value < cell.interval.high
    assert (cell.runs, cell.beats) == (3, "b")
    twice = compare({"A": [{"f1": seeds[0]}, {"f1": seeds[0]}]}, method="bca").cells["A", "f1"]
    assert twice.interval == intervals([seeds[0]], method="bca")[0]["f1"]
    with pytest.raises(MetricError, match="one run of each"):
        compare({"A": [{"f1": one} for one in seeds], "B": {"f1": seeds[0]}}, test="randomisation")


def test_splits_have_mean_and_spread_alone():
    splits = [tuple("abcdefghij"), tuple("klmnopqrst")]
    runs = {
        name: [{"f1": made_up(quality, 10, k, ids)} for k, ids in enumerate(splits)]
        for name, quality in (("A", 0.9), ("B", 0.3))
    }
    found = compare(runs)
    assert found.cells["A", "f1"].runs == 2
    assert found.cells["A", "f1"].interval is None
    assert not found.differences
    assert "different documents" in found.notes[0]


def test_systems_over_different_documents():
    with pytest.raises(SidesMismatch, match="different documents"):
        compare({"A": {"f1": made_up(0.5, 10)}, "B": {"f1": made_up(0.5, 11)}})
    with pytest.raises(SidesMismatch, match="other metrics"):
        compare({"A": {"f1": made_up(0.5)}, "B": {"f2": made_up(0.5)}})
    with pytest.raises(MetricError, match="nothing to compare"):
        compare({})
    with pytest.raises(MetricError, match="nothing to compare"):
        compare({"A": []})


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_systems_that_are_identical_or_have_one_document_or_none(test, method):
    for n in (0, 1, 2, 30):
        one = {"f1": made_up(0.5, n)}
        found = compare({"A": one, "B": one}, test=test, method=method, resamples=50)
        assert [found.cells[name, "f1"].rank for name in "AB"] == [1.5, 1.5]
        assert [found.cells[name, "f1"].beats for name in "AB"] == ["", ""]
        p = found.differences["f1", "A", "B"].p
        assert p == (1 if n > 1 else None)
        assert any("fewer than two documents" in note for note in found.notes) == (n < 2)


def test_leaving_documents_out_is_not_having_them():
    references = {"a": [1, 2], "b": [3], "c": [4, 5, 6]}
    predicted = {"a": [1], "b": [], "c": [4, 7]}
    whole = ts.evaluate(ts.derive(list[int]), references, predicted)
    fewer = ts.evaluate(ts.derive(list[int]), *({k: side[k] for k in "ac"} for side in (references, predicted)))
    left = without(whole, {"b"})
    assert left.ids == ("a", "c")
    assert left.figures == fewer.figures
    assert str(left.explain("c")) == str(fewer.explain("c"))
    with pytest.raises(MetricError, match="cannot leave out"):
        without(whole, {"x"})


def test_means_over_documents_leave_out_what_neither_side_has():
    from tallystick.metrics import spans

    gold = [[(0, 1, "a")], [], [(0, 1, "a"), (1, 2, "a")]]
    result = spans.evaluate(gold, [[(0, 1, "a")], [], [(0, 1, "a")]], ("segment",), lengths=[2, 2, 2])["segment"]
    means = mean_over_documents(result)
    assert means.figures["f1"] == pytest.approx((1 + 2 / 3) / 2)
    assert means.figures == result.over_documents
    assert "average=documents of micro" in means.signature


def perfect_and_wrong(systems, n=40):
    """One system that is always right, and others that never are."""
    gold = np.full(n, 3.0)
    return {
        f"s{k}": {"f1": Result("made up", Counts(), np.stack([right := gold * (k == 0), gold, right, gold], 1), tuple(range(n)))}
        for k in range(systems)
    }  # fmt: skip


def test_it_is_said_that_nothing_can_be_significant():
    """With 1,000 resamples p is at least 1/1001, and Holm's correction over 55 pairs makes that more than 0.05."""
    few = compare(perfect_and_wrong(10), resamples=1000)
    assert few.cells["s0", "f1"].beats == "bcdefghij"
    assert not any("could be significant" in note for note in few.notes)
    many = compare(perfect_and_wrong(11), resamples=1000)
    assert many.cells["s0", "f1"].beats == ""
    (note,) = [note for note in many.notes if "could be significant" in note]
    assert "55 pairs" in note
    assert "--resamples 1100 is enough" in note
    page = render_comparison([many])
    assert page.count("Nothing could be significant") == 2  # once to be read, once in the data
    assert page.index("Nothing could be significant") < page.index('<table class="sortable">')
    assert compare(perfect_and_wrong(11), resamples=1100).cells["s0", "f1"].beats == "bcdefghijk"


@pytest.mark.parametrize(("n", "said"), [(5, True), (6, False)])
def test_the_exact_test_of_few_documents_can_show_nothing(n, said):
    """All documents swapped is as large as none swapped, so that p is at least 2/2^n."""
    found = compare(perfect_and_wrong(2, n), test="randomisation")
    assert found.differences["f1", "s0", "s1"].p == 2 / 2**n
    assert any("could be significant: with 5 documents" in note for note in found.notes) == said
    assert found.cells["s0", "f1"].beats == ("" if said else "b")


def test_different_documents_are_named_once_and_quickly():
    first, second = made_up(0.5, 20_000), made_up(0.5, 20_000, ids=(*range(19_999), "other"))
    with pytest.raises(SidesMismatch, match=r'only one has "19999", "other"$'):
        paired_bootstrap(first, second)


def test_one_system_has_no_ranks_in_latex(systems):
    alone = comparison_latex(compare({"good": systems["good"]}, resamples=50))
    assert "\\begin{tabular}{lll}\n" in alone
    assert "System & f1 & same \\\\\n" in alone
    assert alone.splitlines()[-3].count("&") == 2
    both = comparison_latex(compare({name: systems[name] for name in ("good", "bad")}, resamples=50))
    assert "\\begin{tabular}{lllll}\n" in both
    assert both.splitlines()[-3].count("&") == 4


def test_the_legend_says_what_the_brackets_are(systems):
    assert "[ ]: 90 % interval. Letters" in str(compare(systems, resamples=50, level=0.9))
    assert "interval" not in str(compare({"A": made_up(0.5, 1), "B": made_up(0.6, 1)}, resamples=50))
