"""Statistics from tallies: the same as resampling the documents themselves, and honest under the null."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.engine import drawing
from tallystick.engine.drawing import (
    acceleration_of,
    bias_of,
    bootstrap_sums,
    efrons_acceleration,
    moved,
    owed_to_several,
)
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError, SidesMismatch
from tallystick.results.resampling import (
    figure_left_out,
    holm,
    intervals,
    paired_bootstrap,
    quantiles_of,
    randomisation,
    resampled_figures,
    sums_without_each,
)
from tallystick.results.result import Result


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


def kinds():
    """A result of every kind of tally, from the scorers themselves."""
    from tallystick.results.selection import mean_over_documents
    from tallystick.tasks.coreference import metrics as coreference
    from tallystick.tasks.hierarchies import metrics as hierarchies
    from tallystick.tasks.spans import metrics as spans
    from tallystick.tasks.spans.files import corpus_from_python
    from tallystick.tasks.templates.muc4 import OfficialCounts

    rng = np.random.default_rng(0)
    gold, guess, keys, responses = [], [], [], []
    for _ in range(40):
        tags = [("PER", "LOC")[k] for k in rng.integers(0, 2, 3)]
        gold.append([(4 * k, 4 * k + 2, tag) for k, tag in enumerate(tags)])
        guess.append([(s, e + int(rng.random() < 0.3), t) for s, e, t in gold[-1] if rng.random() < 0.8])
        keys.append([{1, 2, 3}, {4, 5}, {6}])
        responses.append([{1, 2} if rng.random() < 0.5 else {1, 2, 3}, {4, 5, 6} if rng.random() < 0.5 else {5, 6}])
    corpus = corpus_from_python(gold, guess, lengths=[12] * 40)
    found = {f"spans {name}": r for name, r in spans.score(corpus, ("segment", "ts", "overlap", "strict")).items()}
    macro = spans.score(corpus, ("ts",), spans.SpanOptions(average="macro"))["ts"]
    chains = coreference.evaluate(keys, responses, ("muc", "blanc", "conll", "lea"))
    trees = hierarchies.DirectedLinks()
    links = Result("links", trees, rng.integers(1, 5, (40, 6)).astype(float), tuple(range(40)))
    nstm = Result("nstm", hierarchies.TreeMatches(), rng.integers(1, 5, (40, 5)).astype(float), tuple(range(40)))
    official = Result("muc4", OfficialCounts(), rng.integers(0, 9, (40, 6)).astype(float), tuple(range(40)))
    means = {"mean of documents": mean_over_documents(chains["muc"])}
    return {**found, "macro": macro, **chains, "links": links, "nstm": nstm, "muc4": official, **means}


@pytest.mark.parametrize("name", list(kinds()))
def test_every_kind_of_tally_has_intervals_and_tests(name):
    result = kinds()[name]
    for method in ("percentile", "bca"):
        found = intervals([result], resamples=200, method=method)[0]
        assert set(found) == set(result.figures)
        for figure, interval in found.items():
            assert interval.low - 1e-9 <= result.figures[figure] <= interval.high + 1e-9
    for test in (paired_bootstrap, randomisation):
        assert test(result, result, resamples=100).p == 1


def scipy_bca(values, statistic, documents):
    """The BCa interval that scipy makes of these resamples; it leaves documents out itself."""
    stats = pytest.importorskip("scipy.stats")
    drawn = SimpleNamespace(bootstrap_distribution=values)  # scipy adds 0 resamples of its own to these
    found = stats.bootstrap((np.arange(documents),), statistic, method="BCa", n_resamples=0, bootstrap_result=drawn)
    return [found.confidence_interval.low, found.confidence_interval.high]


def bca_ends(values, left_out, acceleration):
    """BCa's interval from these resamples, with some estimate of the acceleration."""
    chosen = moved((0.025, 0.975), bias_of(values, left_out.estimate), acceleration(left_out.without))
    return np.quantile(values, chosen).tolist()


def steadied_plainly(without):
    """The acceleration of `tallystick.engine.drawing`, pair by pair."""
    d3 = [(without.mean() - one) ** 3 for one in without]
    pairs = math.fsum(x * y for i, x in enumerate(d3) for j, y in enumerate(d3) if i != j)
    share = pairs / math.fsum(d3) ** 2 if math.fsum(d3) else 0
    return efrons_acceleration(without) * max(0, share)


def over(result, figure):
    """A figure of drawn documents, by summing their rows. It is rounded, since scipy takes only equal floats for ties."""
    return lambda places, axis=-1: result.kind.figures(result.rows[places].sum(axis=-2))[figure].round(11)


@pytest.mark.parametrize("name", list(kinds()))
def test_bca_is_scipys_for_every_kind_of_tally(name):
    result = kinds()[name]
    drawn = resampled_figures([result], 400, seed=7)[0]
    for figure, found in intervals([result], resamples=400, seed=7, method="bca")[0].items():
        if np.ptp(drawn[figure].values) > 1e-12:  # scipy has no interval of a constant
            theirs = scipy_bca(drawn[figure].values.round(11), over(result, figure), len(result.ids))
            left_out = figure_left_out([result], figure)
            assert bca_ends(drawn[figure].values, left_out, efrons_acceleration) == pytest.approx(theirs, abs=1e-9)
            steadied = bca_ends(drawn[figure].values, left_out, steadied_plainly)
            assert [found.low, found.high] == pytest.approx(steadied, abs=1e-9)


def test_an_acceleration_that_one_document_makes_is_not_believed():
    rng = np.random.default_rng(0)
    figures = 0.5 + 1e-4 * rng.normal(size=300)
    figures[0] -= 0.02
    assert efrons_acceleration(figures) == pytest.approx(0.16, abs=0.01)
    assert acceleration_of(figures) == pytest.approx(0, abs=1e-3)


def test_an_acceleration_that_all_documents_make_is_efrons():
    rng = np.random.default_rng(0)
    shares = [owed_to_several(-1e-6 * rng.exponential(size=n)) for n in (100, 10_000, 1_000_000)]
    assert shares == sorted(shares)
    assert shares[1] > 0.95
    assert shares[2] > 0.999
    for nobody_changes_it in (np.full(10, 0.3), np.array([])):
        assert acceleration_of(nobody_changes_it) == 0


@pytest.mark.parametrize("test", [paired_bootstrap, randomisation])
def test_bca_of_a_difference_is_scipys(test):
    first, second = made_up(40, 0.5, 1), made_up(40, 0.7, 2)
    drawn = resampled_figures([first, second], 400, seed=7, headline=True)

    def apart(places, axis=-1):
        return over(second, "f1")(places) - over(first, "f1")(places)

    values = drawn[1]["f1"].values.round(11) - drawn[0]["f1"].values.round(11)
    found = test(first, second, resamples=400, seed=7, method="bca").interval
    assert found.method == "bca"
    left_out = figure_left_out([second], "f1") - figure_left_out([first], "f1")
    assert bca_ends(values, left_out, efrons_acceleration) == pytest.approx(scipy_bca(values, apart, 40), abs=1e-9)
    assert [found.low, found.high] == pytest.approx(bca_ends(values, left_out, steadied_plainly), abs=1e-9)
    plain = test(first, second, resamples=400, seed=7).interval
    assert [found.low, found.high] != pytest.approx([plain.low, plain.high], abs=1e-4)


def test_a_mean_over_documents_is_the_results_own():
    from tallystick.results.selection import mean_over_documents

    result = made_up(30, 0.6, 1)
    result = replace(result, rows=np.concatenate((result.rows, np.zeros((2, 4)))), ids=tuple(range(32)))
    assert mean_over_documents(result).figures == pytest.approx(result.macro)
    decided = replace(result, undefined=0.0)
    assert mean_over_documents(decided).figures == pytest.approx(decided.macro)


@pytest.mark.parametrize("test", [paired_bootstrap, randomisation])
def test_one_document_has_no_interval_and_no_p(test):
    result = ts.evaluate(ts.derive(list[int]), [[1]], [[1]])
    other = ts.evaluate(ts.derive(list[int]), [[1]], [[2]])
    assert intervals([result])[0]["f1"].low is None
    found = test(result, other)
    assert (found.value, found.p, found.interval.low) == (-1, None, None)


@pytest.mark.parametrize("test", [paired_bootstrap, randomisation])
def test_no_documents_have_nothing(test):
    result = ts.evaluate(ts.derive(list[int]), [], [])
    for method in ("percentile", "bca"):
        assert str(intervals([result], method=method)[0]["f1"]) == "–"
    assert test(result, result).value is None


def test_randomisation_of_few_documents_is_exact():
    first, second = made_up(7, 0.5, 1), made_up(7, 0.9, 2)
    change = []
    for swaps in itertools.product((False, True), repeat=7):
        a, b = ([y if s else x for x, y, s in zip(*rows, swaps, strict=True)] for rows in
                ((first.rows, second.rows), (second.rows, first.rows)))  # fmt: skip
        change.append(float(replace(first, rows=np.array(b)).f1 - replace(first, rows=np.array(a)).f1))
    expected = np.mean(np.abs(change) >= abs(change[0]) - 1e-10)
    assert randomisation(first, second, resamples=32).p == pytest.approx(expected)
    assert randomisation(first, second, resamples=31).p != randomisation(first, second, resamples=31, seed=9).p


def test_randomisation_is_what_swapping_documents_gives():
    first, second = made_up(30, 0.6, 1), made_up(30, 0.8, 2)
    rng = np.random.default_rng(4)
    observed, hits = abs(second.f1 - first.f1), 0
    for _ in range(50):
        coins = np.unpackbits(np.frombuffer(rng.bytes(4), np.uint8), count=30)[:, None] == 1
        a, b = np.where(coins, second.rows, first.rows), np.where(coins, first.rows, second.rows)
        hits += abs(replace(second, rows=b).f1 - replace(first, rows=a).f1) >= observed - 1e-10
    assert randomisation(first, second, resamples=50, seed=4).p == (1 + hits) / 51


def fractions_of_labels(seed):
    """Two systems whose rows are fractions, each with a label of its own: some swaps move all of it to the other."""
    from tallystick.tasks.spans import metrics as spans
    from tallystick.tasks.spans.files import corpus_from_python

    rng = np.random.default_rng(seed)
    gold = [[(0, 2, "A")] for _ in range(7)]
    scored = []
    for label in "XY":
        answers = [[one for one in text if rng.random() < 0.6] for text in gold]
        answers = [[*text, (3, 3 + int(rng.integers(1, 5)), label)] if rng.random() < 0.7 else text for text in answers]
        corpus = corpus_from_python(gold, answers, lengths=[9] * 7)
        options = spans.SpanOptions(average="macro", separators=0.2, tags=tuple("AXY"))
        scored.append(spans.score(corpus, ("ts",), options)["ts"])
    return scored


@pytest.mark.parametrize("seed", range(8))
def test_randomisation_of_fractions_is_exact(seed):
    first, second = fractions_of_labels(seed)
    change = []
    for swaps in itertools.product((False, True), repeat=7):
        swapped = np.array(swaps)[:, None]
        there, back = np.where(swapped, first.rows, second.rows), np.where(swapped, second.rows, first.rows)
        change.append(replace(second, rows=there).score - replace(first, rows=back).score)
    expected = np.mean(np.abs(change) >= abs(change[0]) - 1e-10)
    assert randomisation(first, second).p == pytest.approx(expected)


def test_sums_without_a_document_leave_nothing_of_it():
    rows = np.array([[0.1, 0], [0.2, 0], [0.3, 0.7], [0.6, 0]])
    found = sums_without_each(rows)
    assert found == pytest.approx(rows.sum(axis=0) - rows)
    assert found[2, 1] == 0
    assert sums_without_each(rows[:1]).tolist() == [[0, 0]]
    assert sums_without_each(rows[:0]).shape == (0, 2)


def test_undefined_resamples_are_counted():
    result = replace(made_up(2, 0.5, 1), rows=np.array([[1.0, 1, 1, 1], [0, 0, 0, 0]]))
    found = intervals([result], resamples=400)[0]["f1"]
    assert (found.low, found.high) == (1, 1)
    assert 50 < found.undefined < 150
    assert intervals([replace(result, undefined=0.0)], resamples=400)[0]["f1"].low == 0


def test_bounds_widen_the_interval():
    result = made_up(50, 0.6, 3)
    above = result.rows.copy()
    above[:, [0, 2]] = np.minimum(above[:, [0, 2]] + 1, above[:, [1, 3]].min(axis=1, keepdims=True))
    both = [intervals([replace(result, rows=rows)], resamples=300)[0]["f1"] for rows in (result.rows, above)]
    for method in ("percentile", "bca"):
        found = intervals([replace(result, above=above)], resamples=300, method=method)[0]["f1"]
        assert found.low == pytest.approx(both[0].low, abs=0.01)
        assert found.high == pytest.approx(both[1].high, abs=0.01)


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
    with pytest.raises(SidesMismatch, match='only one has "3"'):
        paired_bootstrap(made_up(3, 0.5, 1), made_up(4, 0.5, 1))


@pytest.mark.parametrize("wrong", [{"method": "guess"}, {"level": 1.0}, {"resamples": 0}, {"seed": -1}])
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(MetricError):
        intervals([made_up(10, 0.5, 1)], **wrong)


def test_memory_does_not_grow_with_resamples(monkeypatch):
    import tracemalloc

    rows = made_up(2000, 0.5, 1).rows
    peaks = []
    for resamples in (1_000, 4_000):
        tracemalloc.start()
        for _ in drawing.weighted_sums(drawing.documents_drawn((2000,), resamples, 0), [rows]):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 3 * 8 * drawing.CELLS


@pytest.mark.parametrize("large", [1, 2**20], ids=["floats of 32 bits", "floats of 64 bits"])
def test_sums_of_integers_do_not_depend_on_the_floats_that_weigh_them(large):
    rows = np.random.default_rng(1).integers(0, 9, (50, 3)).astype(np.float64) * large
    assert drawing.weights_for([rows]) == (np.float32 if large == 1 else np.float64)
    plain = [
        np.bincount(one, minlength=50) @ rows
        for rng in [np.random.default_rng(4)]
        for one in [rng.integers(0, 50, size=50, dtype=np.uint32) for _ in range(200)]
    ]
    np.testing.assert_array_equal(bootstrap_sums([rows, rows[:, :1]], 200, seed=4)[0], plain)
    found = drawing.swapped_sums(drawing.coins_tossed(50, 30, 2, 1, drawing.weights_for([rows])), [rows])
    gone, kept = next(found)
    coins = next(drawing.coins_tossed(50, 30, 2))
    np.testing.assert_array_equal(gone[0], coins @ rows)
    np.testing.assert_array_equal(kept[0], (1 - coins) @ rows)


def test_fractions_are_weighed_with_floats_of_64_bits():
    assert drawing.weights_for([np.array([[0.5]])]) == np.float64


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40), st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_quantiles_are_those_of_numpy_to_the_bit(values, shares):
    array = np.array(values)
    assert quantiles_of(array, shares) == np.quantile(array, shares).tolist()
