"""Matching in stages, against every 1:1 matching tried out."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tallystick as ts
from tallystick.algebra.sets import Matching
from tallystick.engine.data import Objects, Scope
from tallystick.errors import MetricError

TABLE = {("a", "b"): 0.5, ("a", "c"): 0.5, ("b", "a"): 1.0, ("c", "b"): 0.5, ("b", "d"): 0.5, ("d", "c"): 0.25}


def matchings(rows: int, columns: int):
    """Every 1:1 matching, as tuples of pairs."""
    if not rows:
        yield ()
        return
    for rest in matchings(rows - 1, columns):
        yield rest
        for j in range(columns):
            if all(j != other for _, other in rest):
                yield (*rest, (rows - 1, j))


def best(phi, left, right):
    """The largest total, then the fewest pairs, then early ones."""

    def worth(pairs):
        weights = [phi(left[i], right[j]) for i, j in pairs]
        if not all(weights):
            return (-1.0,)
        return round(sum(weights), 9), -len(pairs), sum(1 / ((1 + i) * (1 + j)) for i, j in pairs)

    return max(matchings(len(left), len(right)), key=worth)


def staged(stages, left, right):
    pairs, rows, columns = set(), list(range(len(left))), list(range(len(right)))
    for phi in stages:
        found = best(phi, [left[i] for i in rows], [right[j] for j in columns])
        taken = [(rows[i], columns[j]) for i, j in found]
        pairs |= set(taken)
        rows = [i for i in rows if i not in {a for a, _ in taken}]
        columns = [j for j in columns if j not in {b for _, b in taken}]
    return pairs


def matched(node: Matching, left, right):
    r, p = node.encode(Objects([left]), Objects([right]), Scope())
    found = node.matched(r, p)
    return set(zip(found.i.tolist(), found.j.tolist(), strict=True)), float(np.sum(found.weight))


def weigh(x, y):
    return TABLE.get((x, y), 1.0 if x == y else 0.0)


@pytest.mark.parametrize("seed", range(200))
def test_each_stage_is_the_best_of_what_is_left(seed):
    rng = random.Random(seed)
    left, right = (rng.choices("abcdef", k=rng.randint(0, 5)) for _ in range(2))
    node = ts.staged(ts.exact, ts.match(ts.judgements(TABLE)))
    wanted = staged([lambda x, y: float(x == y), weigh], left, right)
    found, total = matched(node, left, right)
    assert total == pytest.approx(sum(weigh(left[i], right[j]) for i, j in wanted))
    if len(set(left)) == len(left) and len(set(right)) == len(right):
        assert len(found) == len(wanted)


def test_a_later_stage_takes_no_pair_away():
    phi = ts.judgements({("a", "x"): 1.0, ("y", "a"): 1.0})
    assert matched(ts.match(phi), ["a", "y"], ["a", "x"]) == ({(0, 1), (1, 0)}, 2.0)
    assert matched(ts.staged(ts.exact, ts.match(phi)), ["a", "y"], ["a", "x"]) == ({(0, 0)}, 1.0)


@pytest.mark.parametrize(
    ("left", "right", "pairs"),
    [
        (["x"], ["y", "y"], {(0, 0)}),
        (["x", "x"], ["y"], {(0, 0)}),
        (["x", "x"], ["y", "y"], {(0, 0), (1, 1)}),
        (["x", "x", "x"], ["y", "y"], {(0, 0), (1, 1)}),
    ],
)
def test_of_equal_pairs_the_early_ones_are_taken(left, right, pairs):
    node = ts.staged(ts.exact, ts.match(ts.judgements({("x", "y"): 0.5})))
    assert matched(node, left, right)[0] == pairs


def test_one_whole_pair_goes_before_two_halves():
    table = {("a", "p"): 1.0, ("a", "q"): 0.5, ("b", "p"): 0.5}
    node = ts.staged(ts.exact, ts.match(ts.judgements(table)))
    assert matched(node, ["b", "a"], ["q", "p"])[0] == {(1, 1)}


def test_it_is_a_part_of_metrics_like_any_other():
    metric = ts.f1(ts.staged(ts.exact, ts.staged(ts.judgements(TABLE), ts.match(ts.text("levenshtein")))))
    assert ts.parse(str(metric)) == metric
    assert ts.evaluate(metric, [["a", "b"]], [["b", "a"]]).f1 == 1
    assert (
        ts.evaluate(
            ts.f1(ts.match(ts.f1(ts.staged(ts.exact, ts.match(ts.judgements(TABLE)))))), [[["a"]]], [[["a"], ["c"]]]
        ).recall
        == 1
    )


@pytest.mark.parametrize("then", [ts.exact, ts.match(ts.exact, "N:1"), ts.match(ts.exact, distinct=True)])
def test_every_stage_is_one_to_one(then):
    with pytest.raises(MetricError, match="needs another stage"):
        ts.staged(ts.exact, then)


@pytest.mark.parametrize("fields", [("a",), ("a", "b"), ("a", "b", "c")])
def test_self_scores_are_those_of_the_similarity_that_counts(fields):
    """Whatever the fields of the one that pairs, and however many."""
    count = ts.each(**{name: ts.weighted(ts.exact, k + 2) for k, name in enumerate(fields)})
    items = [dict.fromkeys(fields, k) for k in range(3)]
    whole = 3 * sum(range(2, len(fields) + 2))
    for metric in (ts.paired_by(count, ts.record(a=ts.exact)), ts.staged(count, ts.match(ts.record(a=ts.exact)))):
        tally = ts.evaluate(ts.f1(metric), [items], [items[:2]]).tally
        assert tally == {"num_p": whole * 2 / 3, "den_p": whole * 2 / 3, "num_r": whole * 2 / 3, "den_r": whole}


def test_greedy_takes_the_best_pair_that_is_free_again_and_again():
    rng = random.Random(8)
    worse = 0
    for _ in range(200):
        table = {(a, b): rng.choice((0, 0, 0.5, 0.5, rng.random())) for a in "abc" for b in "xyz"}
        gold, found = rng.sample("abc", rng.randint(0, 3)), rng.sample("xyz", rng.randint(0, 3))
        phi = ts.judgements(table)
        free, total = {(i, j) for i in range(len(gold)) for j in range(len(found)) if table[gold[i], found[j]]}, 0.0
        while free:
            i, j = min(free, key=lambda pair: (-table[gold[pair[0]], found[pair[1]]], pair))
            total += table[gold[i], found[j]]
            free = {pair for pair in free if pair[0] != i and pair[1] != j}
        assert ts.greedy(phi)(gold, found) == pytest.approx(total)
        best = ts.match(phi)(gold, found)
        assert total <= best + 1e-12
        worse += total < best - 1e-12
    assert worse > 5
    assert ts.parse("staged(exact, greedy(exact))") == ts.staged(ts.exact, ts.greedy(ts.exact))
