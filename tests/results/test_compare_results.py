"""Systems laid side by side in Python: intervals, letters, runs, splits, documents left out."""

import itertools
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError, SidesMismatch
from tallystick.results.compare import compare
from tallystick.results.comparison_show import render_comparison
from tallystick.results.resampling import holm, intervals, paired_bootstrap, randomisation
from tallystick.results.result import Result
from tallystick.results.selection import mean_over_documents, without


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
    twice = compare({"A": [{"f1": seeds[0]}, {"f1": seeds[0]}]}, method="bca", resamples=500).cells["A", "f1"]
    assert twice.interval == intervals([seeds[0]], method="bca", resamples=500)[0]["f1"]
    assert any("these very runs" in caution for caution in found.cautions)
    with pytest.raises(MetricError, match="as many runs of each"):
        compare({"A": [{"f1": one} for one in seeds], "B": {"f1": seeds[0]}}, test="randomisation")


def splits_of(quality, sizes=(10, 30)):
    """A system's results over several data sets."""
    return [{"f1": made_up(quality, n, k, tuple(f"{k}.{i}" for i in range(n)))} for k, n in enumerate(sizes)]


def test_splits_have_the_mean_of_their_figures_and_are_tested_within_each():
    runs = {"A": splits_of(0.9), "B": splits_of(0.3)}
    found = compare(runs, resamples=1000)
    cell, scores = found.cells["A", "f1"], [run["f1"].f1 for run in runs["A"]]
    assert (cell.value, cell.runs, cell.beats) == (np.mean(scores), 2, "b")
    assert cell.spread == pytest.approx(np.std(scores, ddof=1))
    assert cell.interval.low < cell.value < cell.interval.high
    assert found.differences["f1", "A", "B"].p < 0.01
    assert found.notes[0] == "40 documents in 2 splits"
    assert "within each split" in found.notes[1]
    assert found.signatures[0].startswith("made up")
    assert "strata=splits" in found.settings


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_stratified_interval_is_that_of_means_drawn_in_each_split(method):
    """Both splits resampled on their own, and the means of their figures."""
    runs = splits_of(0.7, (12, 40))
    rng, draws = np.random.default_rng(1), []
    for run in runs:
        rows, kind = run["f1"].rows, run["f1"].kind
        chosen = rng.integers(0, len(rows), (20_000, len(rows)))
        draws.append(kind.figures(rows[chosen].sum(axis=1))["f1"])
    low, high = np.quantile(np.mean(draws, axis=0), (0.025, 0.975))
    found = compare({"A": runs}, resamples=20_000, method=method).cells["A", "f1"].interval
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.004 if method == "percentile" else 0.03)


def test_the_randomisation_of_splits_is_exact_for_few_documents():
    """All 2^5 outcomes, worked out plainly."""
    first, second = splits_of(0.9, (2, 3)), splits_of(0.4, (2, 3))

    def mean(chosen):
        rows = [chosen[:2], chosen[2:]]
        return np.mean([Counts().figures(np.sum(part, axis=0))["f1"] for part in rows])

    a, b = (np.concatenate([run["f1"].rows for run in runs]) for runs in (first, second))
    apart = []
    for coins in product((0, 1), repeat=5):
        swap = np.array(coins, bool)[:, None]
        apart.append(mean(np.where(swap, a, b)) - mean(np.where(swap, b, a)))
    observed = mean(b) - mean(a)
    p = np.mean(np.abs(apart) >= abs(observed) - 1e-10)
    assert compare({"A": first, "B": second}, resamples=100, test="randomisation").differences[
        "f1", "A", "B"
    ].p == pytest.approx(p)


def test_a_large_split_counts_no_more_than_a_small_one():
    good, bad = made_up(1.0, 200, ids=tuple(range(200))), made_up(0.0, 5, ids=tuple("vwxyz"))
    assert compare({"A": [{"f1": good}, {"f1": bad}]}, resamples=50).cells["A", "f1"].value == (good.f1 + bad.f1) / 2


def test_splits_of_one_document_have_no_intervals():
    found = compare({name: splits_of(q, (1, 1)) for name, q in (("A", 0.9), ("B", 0.3))}, resamples=100)
    assert found.cells["A", "f1"].ends is None
    assert found.differences["f1", "A", "B"].p is None
    assert any("fewer than two documents in each split" in note for note in found.cautions)
    found = compare({"A": splits_of(0.9, (1, 5))}, resamples=100)
    assert any("1 split of one document" in note for note in found.cautions)


def test_splits_whose_documents_have_only_numbers_are_splits_if_it_is_said():
    """Equally many documents in each, numbered from 0: ids cannot tell."""
    runs = {name: [made_up(quality, 30, k) for k in (1, 2)] for name, quality in (("A", 0.9), ("B", 0.3))}
    assert "strata" not in compare(runs, resamples=50).settings
    found = compare(runs, splits=True, resamples=50)
    assert "strata=splits" in found.settings
    assert found.notes[0] == "60 documents in 2 splits"


def test_every_system_has_every_split():
    with pytest.raises(MetricError, match="B has 1 splits and the first system 2"):
        compare({"A": splits_of(0.9), "B": splits_of(0.9, (10,))}, splits=True)


def test_a_split_without_a_figure_has_no_mean_and_its_warnings_are_said():
    empty = Result("made up", Counts(), np.zeros((2, 4)), ("x", "y"), notes=("something happened",))
    full = made_up(0.8, 2, ids=("v", "w"))
    found = compare({"A": [full, empty], "B": [full, replace(empty, rows=np.ones((2, 4)))]})
    assert found.cells["A", "f1"].value is None
    assert found.cells["A", "f1"].rank is None
    assert found.cells["B", "f1"].rank == 1
    assert "A, f1: no mean, since run 2 has no figure" in found.notes
    assert any("something happened" in note for note in found.notes)


def test_splits_scored_by_different_metrics_are_an_error():
    other = replace(made_up(0.5, 2, ids=("x", "y")), metric="another")
    with pytest.raises(MetricError, match="scored by another metric"):
        compare({"A": [made_up(0.5, 2, ids=("v", "w")), other]})


def test_different_metrics_are_not_compared():
    one = made_up(0.5)
    for other, what in ((replace(one, metric="another"), "metrics"), (replace(one, undefined=1.0), "policies for 0/0")):
        with pytest.raises(MetricError, match=f"different {what}"):
            compare({"A": one, "B": other})
        with pytest.raises(MetricError, match=f"different {what}"):
            paired_bootstrap(one, other)


def test_metrics_may_come_in_any_order():
    one, other = made_up(0.5), made_up(0.6)
    found = compare({"A": {"x": one, "y": other}, "B": {"y": other, "x": one}}, resamples=50)
    assert found.metrics == ("x", "y")
    assert found.cells["A", "x"].value == found.cells["B", "x"].value


def test_few_documents_are_tested_by_randomisation():
    systems = {"A": made_up(1.0, 5), "B": made_up(0.2, 5, seed=3)}
    found = compare(systems)
    assert "test=randomisation" in found.settings
    assert found.differences["f1", "A", "B"].p == 2 / 2**5
    assert found.cells["A", "f1"].beats == ""
    asked = compare(systems, test="bootstrap")
    assert any("5 documents are few for a bootstrap" in caution for caution in asked.cautions)
    assert "test=bootstrap" in compare({"A": made_up(0.5, 100), "B": made_up(0.6, 100)}, resamples=50).settings
    assert "test=bootstrap" in compare({"A": [made_up(0.5, 9)] * 2, "B": made_up(0.6, 9)}, resamples=50).settings


def test_runs_change_places_together():
    """With every run twice the means and their swaps are those of single runs, and so is p."""
    first, second = made_up(0.5, 30, 1), made_up(0.6, 30, 2)
    settings = {"test": "randomisation", "resamples": 200}
    single = compare({"A": first, "B": second}, **settings).differences["f1", "A", "B"]
    twice = compare({"A": [first, first], "B": [second, second]}, **settings).differences["f1", "A", "B"]
    assert (twice.p, twice.value) == (single.p, single.value)


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_a_difference_that_bounds_leave_open_is_not_significant(test):
    worse, better = made_up(0.3, 40, 1), made_up(0.6, 40, 2)
    plain = compare({"A": worse, "B": better}, test=test, resamples=300)
    assert plain.cells["B", "f1"].beats == "a"
    wide = replace(worse, above=np.stack((worse.rows[:, 3],) * 4, axis=1))  # it may be perfect
    open_ = compare({"A": wide, "B": better}, test=test, resamples=300)
    found = open_.differences["f1", "A", "B"]
    assert (found.p, open_.cells["B", "f1"].beats) == (1, "")
    assert found.interval.low < 0 < found.interval.high
    assert found.interval.high == plain.differences["f1", "A", "B"].interval.high
    barely = worse.rows.copy()
    barely[0, [0, 2]] += 1
    still = compare({"A": replace(worse, above=barely), "B": better}, test=test, resamples=300)
    assert still.cells["B", "f1"].beats == "a"
    assert still.differences["f1", "A", "B"].p >= plain.differences["f1", "A", "B"].p
    assert still.differences["f1", "A", "B"].interval.low < plain.differences["f1", "A", "B"].interval.low


def test_a_mean_over_documents_says_which_it_leaves_out():
    result = made_up(0.5, 6)
    rows = result.rows.copy()
    rows[:2] = 0
    one = mean_over_documents(replace(result, rows=rows))
    assert "A, f1: 0/0 in 2 documents, which its mean leaves out" in compare({"A": one}, resamples=50).notes


def test_means_over_labels_say_which_systems_have_others_and_which_labels_are_rare():
    from tallystick.tasks.spans import metrics as spans

    gold = [[(0, 1, "PER")] for _ in range(30)]
    gold[3] = [(0, 1, "PER"), (1, 2, "RARE")]
    extra = [*gold[:-1], [(0, 1, "XXX")]]
    options = spans.SpanOptions(average="macro")
    scored = {
        name: spans.evaluate(gold, answers, ("segment",), options=options, lengths=[3] * 30)
        for name, answers in (("same", gold), ("extra", extra))
    }
    found = compare(scored, resamples=50)
    assert 'extra, segment: a mean over 3 labels, of which not all systems have "XXX"' in found.notes
    assert any('"RARE" in 1 document' in caution and "too narrow" in caution for caution in found.cautions)
    for name, results in scored.items():
        assert found.cells[name, "segment"].value == results["segment"].score


def test_draws_that_hardly_decide_are_said():
    first, second = made_up(0.5, 120, 1), made_up(0.53, 120, 5)
    p = paired_bootstrap(first, second, resamples=400).p
    found = compare({"A": first, "B": second}, resamples=400, level=1 - p)
    assert any(caution.startswith("f1: near the level") for caution in found.cautions)
    assert not compare({"A": first, "B": first}, resamples=400).cautions


def test_few_resamples_make_rough_intervals():
    assert "200 resamples are enough" in compare({"A": made_up(0.5)}, resamples=199).cautions[0]
    assert compare({"A": made_up(0.5)}, resamples=200).cautions == ()


def test_settings_that_change_figures_or_ranks_are_in_the_signature():
    one = made_up(0.5)
    found = compare({"A": one, "B": one}, resamples=50, seed=3, level=0.99999, ties="order")
    assert "resamples=50, seed=3, level=0.99999, interval=percentile, test=randomisation" in found.signatures[0]
    assert "ties=order" in found.signatures[0]


@pytest.mark.parametrize("wrong", [{"seed": 1.5}, {"seed": None}, {"resamples": 1e3}])
def test_settings_of_another_type(wrong):
    with pytest.raises(MetricError, match="must be a whole number"):
        compare({"A": made_up(0.5)}, **wrong)


def test_arrows_count_from_the_base():
    good, bad = made_up(0.9), made_up(0.2)
    systems = {"A": {"trivial": good, "main": bad, "other": good}, "B": {"trivial": good, "main": good, "other": bad}}
    found = compare(systems, resamples=50, base="main")
    assert [found.cells["A", metric].moved for metric in found.metrics] == [0.5, 0, 1]
    assert found.base == "main"


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
        assert [found.cells[name, "f1"].rank for name in "AB"] == ([1.5, 1.5] if n else [None, None])
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
    from tallystick.tasks.spans import metrics as spans

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
    assert "1,100 resamples are enough" in note
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
    alone = compare({"good": systems["good"]}, resamples=50).to_latex()
    assert "\\begin{tabular}{lll}\n" in alone
    assert "System & f1 & same \\\\\n" in alone
    assert alone.splitlines()[-5].count("&") == 2
    both = compare({name: systems[name] for name in ("good", "bad")}, resamples=50).to_latex()
    assert "\\begin{tabular}{ll@{ }ll@{ }l}\n" in both
    assert both.splitlines()[-5].count("&") == 4


def test_the_legend_says_what_the_brackets_are(systems):
    assert "Figures: F1. [ ]: 90 % interval. #: rank; ↑↓: places moved from f1.\nLetters: " in str(
        compare(systems, resamples=50, level=0.9)
    )
    assert "interval" not in str(compare({"A": made_up(0.5, 1), "B": made_up(0.6, 1)}, resamples=50))


def test_what_results_warn_of_is_said_with_the_name_of_the_system():
    one = replace(made_up(0.5), notes=("something was repaired",))
    found = compare({"A": one, "B": made_up(0.6)}, resamples=50)
    said = [note for note in found.notes if "something was repaired" in note]
    assert said == ["Warning: A: something was repaired"]


def test_resamples_without_a_figure_are_counted():
    rows = np.zeros((4, 4))
    rows[0] = 1
    found = compare({"A": Result("made up", Counts(), rows, tuple(range(4)))}, resamples=1000)
    (note,) = [note for note in found.notes if "0/0 in" in note]
    assert note.startswith("A, f1: 0/0 in ")
    assert found.cells["A", "f1"].interval.undefined == pytest.approx(1000 * 0.75**4, rel=0.2)


def test_equal_differences_count_although_they_are_rounded():
    """Differences of 0.1, 0.2, -0.3 and 0.6 have the same sum if the first three change places, but for the last bit."""

    def scored(*right):
        return Result("made up", Counts(), np.stack((right, np.ones(4)) * 2, axis=1), tuple(range(4)))

    signs = itertools.product((1, -1), repeat=4)
    as_large = [abs(a + 2 * b - 3 * c + 6 * d) >= 6 for a, b, c, d in signs]
    assert randomisation(scored(0, 0, 0.3, 0), scored(0.1, 0.2, 0, 0.6)).p == np.mean(as_large)


def test_upper_bounds_of_several_runs_are_their_mean():
    one, other = made_up(0.3, seed=1), made_up(0.4, seed=2)
    perfect = np.stack((one.rows[:, 3],) * 4, axis=1)
    runs = [replace(run, above=perfect) for run in (one, other)]
    cell = compare({"A": runs}, resamples=200).cells["A", "f1"]
    plain = compare({"A": [one, other]}, resamples=200).cells["A", "f1"]
    assert cell.interval.high == 1
    assert cell.interval.low == plain.interval.low


def test_leaving_documents_out_keeps_what_is_known_about_the_others():
    result = replace(made_up(0.5, 4, ids=tuple("abcd")), invalid=(1, 3))
    left = without(result, {"a"})
    assert [left.ids[k] for k in left.invalid] == ["b", "d"]


def test_a_mean_over_documents_keeps_bounds():
    one = made_up(0.3, 6)
    result = mean_over_documents(replace(one, above=np.stack((one.rows[:, 3],) * 4, axis=1)))
    assert result.kind.figures(result.above.sum(axis=0))["f1"] == 1


def test_the_key_says_whether_letters_are_there_at_all():
    assert "No difference is significant" in str(compare({"A": made_up(0.5, 5), "B": made_up(0.6, 5)}))
    assert "Letters" in str(compare({"A": made_up(0.2, 90), "B": made_up(0.9, 90)}, resamples=200))
    assert "ignifican" not in str(compare({"A": made_up(0.5, 1), "B": made_up(0.6, 1)}))


def test_a_warning_names_the_metrics_that_have_it():
    empty = replace(made_up(0.5, 3), rows=np.zeros((3, 4)))
    found = compare({"A": {"some": made_up(0.5, 3), "none": empty}}, resamples=50)
    assert [note for note in found.notes if "0/0" in note] == [
        "Warning: A, none: precision, recall, f1: 0/0, undefined"
    ]
