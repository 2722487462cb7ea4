"""The matching with the largest F, against all matchings."""

import itertools
import random

import numpy as np
import pytest

from tallystick.engine.assignment import best_f, f_of


def all_matchings(edges, n_rows):
    by_row = [[k for k, (i, _) in enumerate(edges) if i == row] for row in range(n_rows)]
    for picks in itertools.product(*([None, *row] for row in by_row)):
        taken = [k for k in picks if k is not None]
        if len({edges[k][1] for k in taken}) == len(taken):
            yield taken


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_f_of_all_matchings(seed):
    rng = random.Random(seed)
    for _ in range(25):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        edges = [(i, j) for i in range(n) for j in range(m) if rng.random() < 0.7]
        if not edges:
            continue
        a = np.array([rng.randint(0, 9) for _ in edges], float)
        b = np.array([rng.randint(0, 9) for _ in edges], float)
        den_p, den_r = np.array([rng.randint(1, 40)], float), np.array([rng.randint(1, 40)], float)
        rows, columns = (np.array(side, np.int64) for side in zip(*edges, strict=True))
        found = best_f(rows, columns, a, b, np.zeros(len(edges), np.int64), den_p, den_r, n, m)
        best = max(
            float(f_of(a[taken].sum(keepdims=True), b[taken].sum(keepdims=True), den_p, den_r)[0])
            for taken in map(list, all_matchings(edges, n))
        )
        mine = f_of(a[found.chosen].sum(keepdims=True), b[found.chosen].sum(keepdims=True), den_p, den_r)[0]
        assert mine == pytest.approx(best)
        assert found.gap[0] == 0
        assert len(set(rows[found.chosen])) == found.chosen.sum() == len(set(columns[found.chosen]))


def test_a_search_that_is_cut_short_says_how_much_better_it_could_be():
    # (9, 1) and (1, 9) lie on the hull, (4, 4) inside it has the largest F.
    rows, columns = np.array([0, 0, 0]), np.array([0, 1, 2])
    a, b = np.array([9.0, 1, 4]), np.array([1.0, 9, 4])
    asked = (rows, columns, a, b, np.zeros(3, np.int64), np.array([10.0]), np.array([10.0]), 1, 3)
    assert best_f(*asked).chosen.tolist() == [False, False, True]
    short = best_f(*asked, nodes=0)
    assert short.gap[0] > 0


def test_problems_are_solved_side_by_side():
    rows, columns = np.array([0, 1]), np.array([0, 1])
    found = best_f(rows, columns, np.ones(2), np.ones(2), np.array([0, 2]), np.ones(3), np.ones(3), 2, 2)
    assert found.chosen.all()
    assert found.gap.tolist() == [0, 0, 0]
