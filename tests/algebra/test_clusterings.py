"""Clusterings: pairs that are together, information, and what chance would give, each against its definition, written out plainly."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.algebra.clusters import information_by_chance
from tallystick.errors import MetricError, ValueMismatch
from tallystick.laboratory.named import EntitySpace
from tallystick.laboratory.properties import check
from tallystick.laboratory.subjects import expression

CLUSTER = ts.match(ts.exact)
TOGETHER, INFORMATION = ts.together(CLUSTER), ts.information(CLUSTER)
BOTH = pytest.mark.parametrize("inner", [TOGETHER, INFORMATION], ids=str)

labels = st.integers(1, 7).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2))


def clusters(names, items=None):
    """The clusters of items with these labels."""
    items = items or range(len(names))
    return [[item for item, name in zip(items, names, strict=True) if name == one] for one in sorted(set(names))]


def pairs_of(clustering):
    return {frozenset(pair) for cluster in clustering for pair in itertools.combinations(cluster, 2)}


def entropy(names):
    """n H, from the definition."""
    n = len(names)
    return -sum(names.count(one) * math.log(names.count(one) / n) for one in set(names))


def shared_information(left, right):
    """n I = n H(C) + n H(K) - n H(C, K)."""
    return entropy(left) + entropy(right) - entropy(list(zip(left, right, strict=True)))


@given(labels)
def test_pairs_and_information_are_those_of_the_definitions(both):
    left, right = both
    one, other = clusters(left), clusters(right)
    assert TOGETHER(one, other) == len(pairs_of(one) & pairs_of(other))
    assert INFORMATION(one, other) == pytest.approx(shared_information(left, right), abs=1e-9)
    assert INFORMATION(one, one) == pytest.approx(entropy(left), abs=1e-9)
    tally = ts.evaluate(ts.f1(INFORMATION), [one], [other]).tally
    assert tally == pytest.approx(
        {"num_p": INFORMATION(one, other), "den_p": entropy(right), "num_r": INFORMATION(one, other), "den_r": entropy(left)}, abs=1e-9
    )  # fmt: skip


@pytest.mark.parametrize(
    "sizes", [([0, 0, 1], [0, 1, 1]), ([0, 0, 0, 1, 1], [0, 1, 1, 2, 2]), ([0, 0, 1, 1, 2], [0, 0, 0, 1, 1])]
)
def test_chance_is_the_mean_over_all_ways_to_deal_the_items_out(sizes):
    left, right = sizes
    dealt = [list(some) for some in itertools.permutations(right)]
    pairs = np.mean([len(pairs_of(clusters(left)) & pairs_of(clusters(some))) for some in dealt])
    assert ts.chance(TOGETHER)(clusters(left), clusters(right)) == pytest.approx(pairs, abs=1e-12)
    nats = np.mean([shared_information(left, some) for some in dealt])
    assert ts.chance(INFORMATION)(clusters(left), clusters(right)) == pytest.approx(nats, abs=1e-12)


@BOTH
def test_adjusted_is_1_for_the_same_clustering_and_0_on_average(inner):
    left, right = [0, 0, 1, 1, 2], [0, 0, 0, 1, 1]
    metric = ts.adjusted(inner)
    assert metric(clusters(left), clusters(left)) == 1
    assert metric(clusters([0, 0, 0]), clusters([0, 0, 0])) == 1  # 0/0
    dealt = [clusters(list(some)) for some in itertools.permutations(right)]
    assert np.mean([metric(clusters(left), some) for some in dealt]) == pytest.approx(0, abs=1e-12)


@BOTH
@given(both=labels, seed=st.integers(0, 99))
def test_nothing_depends_on_the_names_and_the_order(inner, both, seed):
    rng, (left, right) = random.Random(seed), both
    one, other = clusters(left), clusters(right)
    mixed = [rng.sample(cluster, len(cluster)) for cluster in rng.sample(other, len(other))]
    for metric in (ts.f1(inner), ts.adjusted(inner)):
        assert metric(one, mixed) == pytest.approx(metric(one, other), abs=1e-12)
        assert metric(other, one) == pytest.approx(metric(one, other), abs=1e-12)


@BOTH
def test_an_item_belongs_to_one_cluster(inner):
    """In a reference anything else is an error; of a prediction the later cluster counts as wrong."""
    gold, twice = [["a", "b"], ["c"]], [["a", "b"], ["c"], ["b", "c"]]
    with pytest.raises(ValueMismatch, match="clusters 1 and 3 share something; an item belongs to one cluster"):
        ts.evaluate(ts.f1(ts.each(c=inner)), [{"c": twice}], [{"c": gold}])
    for metric in (ts.f1(ts.each(c=inner)), ts.adjusted(ts.each(c=inner))):
        right = ts.evaluate(metric, [{"c": gold}], [{"c": gold}])
        wrong = ts.evaluate(metric, [{"c": gold}], [{"c": twice}])
        name = right.kind.headline
        assert right.figures[name] == pytest.approx(1)
        assert wrong.figures[name] < 1
        assert wrong.rows[0][1] == right.rows[0][1] + 2  # the two items that nobody can compare


@BOTH
def test_items_of_one_side_only_are_not_free(inner):
    gold = [["a", "b"], ["c", "d"]]
    less = ts.evaluate(ts.f1(inner), [gold], [[["a", "b"], ["c"]]])
    assert less.recall < 1
    more = ts.evaluate(ts.f1(inner), [gold], [[*gold, ["e", "f"]]])
    assert more.recall == pytest.approx(1)
    assert more.precision < 1
    assert ts.adjusted(inner)(gold, [*gold, ["e", "f"]]) < 1


@BOTH
def test_tallies_add_over_documents_and_shards(inner):
    rng = random.Random(2)
    sides = [[{"c": clusters([rng.randrange(3) for _ in range(6)])} for _ in range(9)] for _ in range(2)]
    for metric in (ts.f1(ts.each(c=inner)), ts.adjusted(ts.each(c=inner))):
        whole = ts.evaluate(metric, *sides)
        assert ts.evaluate(metric, *sides, batch=2).figures == whole.figures
        interval = whole.intervals(resamples=100)[whole.kind.headline]
        assert interval.low <= whole.figures[whole.kind.headline] <= interval.high
        assert "c" in str(whole.explain(0))
    expected = sum(ts.chance(inner)(a["c"], b["c"]) for a, b in zip(*sides, strict=True))
    shared = sum(inner(a["c"], b["c"]) for a, b in zip(*sides, strict=True))
    most = sum((inner(a["c"], a["c"]) + inner(b["c"], b["c"])) / 2 for a, b in zip(*sides, strict=True))
    assert whole.figures["adjusted"] == pytest.approx((shared - expected) / (most - expected))


def test_speakers_by_seconds():
    v = ts.f1(ts.information(ts.timeline()))
    assert v([[[0, 2]], [[2, 4]]], [[[0, 2]], [[2, 4]]]) == pytest.approx(1)
    assert v([[[0, 2]], [[2, 4]]], [[[0, 1], [2, 3]], [[1, 2], [3, 4]]]) == pytest.approx(0, abs=1e-12)


@BOTH
def test_what_check_says(inner):
    found = check(expression(ts.f1(inner), EntitySpace(lambda value: [list(one) for one in value])), samples=10)
    refuted = {finding.name for finding in found.failures}
    assert refuted <= {
        "P3 zero",
        "P4 monotone (a)",
        "P4 monotone (b)",
        "P5 linear (a)",
        "P5 linear (b)",
        "P and R",
        "only equals",
        "empties",
    }


def test_what_has_no_chance_is_an_error():
    for wrong in (CLUSTER, ts.each(c=CLUSTER), ts.match(TOGETHER), ts.exact):
        with pytest.raises(MetricError, match=r"adjusted\(\) needs together"):
            ts.adjusted(wrong)
    with pytest.raises(MetricError, match=r"chance\(\) needs a similarity of clusterings"):
        ts.chance(CLUSTER)
    with pytest.raises(MetricError, match="whole items"):
        ts.adjusted(ts.information(ts.timeline()))([[[0, 1.5]], [[2, 3]]], [[[0, 0.7]], [[2, 3]]])


@pytest.mark.parametrize(
    "metric", [ts.adjusted(TOGETHER), ts.f1(ts.each(c=INFORMATION)), ts.f1(ts.chance(TOGETHER))], ids=str
)
def test_expressions_are_read_back(metric):
    assert ts.parse(str(metric)) == metric
    assert metric.mirrored() == metric


def test_information_by_chance_keeps_its_digits_in_large_clusterings():
    """Against the same sum, with the logarithms of factorials as whole numbers, which lose nothing when they are added."""
    rows, columns = {300: 200, 500: 280}, {200: 500, 400: 250}  # sizes of clusters, and how many have them
    n, unit = 200_000, 2.0**80
    factorial = list(itertools.accumulate(int(math.log(max(k, 1)) * unit) for k in range(n + 1)))
    cells = []
    for a, b in itertools.product(rows, columns):
        for k in range(1, min(a, b) + 1):
            rest = (n, k, a - k, b - k, n - a - b + k)
            ways = sum(factorial[m] for m in (a, b, n - a, n - b)) - sum(factorial[m] for m in rest)
            cells.append(rows[a] * columns[b] * k * math.log(n * k / (a * b)) * math.exp(ways / unit))
    sides = (np.repeat(list(side), list(side.values())).astype(float) for side in (rows, columns))
    found = information_by_chance(*sides)
    assert found == pytest.approx(math.fsum(cells), rel=1e-11)


@pytest.mark.parametrize("reference", [[], [[1], [2, 3]]])
def test_documents_that_share_no_item(reference):
    metric = ts.adjusted(ts.each(c=ts.information(ts.match(ts.exact))))
    found = ts.evaluate(metric, [{"c": reference}], [{"c": [[7]]}], undefined=1).figures["adjusted"]
    assert found == (0 if reference else 1)


@pytest.mark.parametrize("name", ["together", "information"])
@pytest.mark.parametrize("outer", ["match", "sequence"])
def test_clusterings_among_items_that_occur_often(name, outer):
    value, other = [[[0, 1], [2]], [[0], [1]]], [[[0, 1, 2]], [[0], [1]]]
    metric = f"f1({outer}({name}(match(exact))))"
    alone = ts.evaluate(metric, [value], [other]).rows
    assert (ts.evaluate(metric, [value] * 40, [other] * 40).rows == alone).all()
