"""The sparse 1:1 solver against SciPy's dense one, over many shapes of problem at once."""

import time

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tallystick.engine import assignment
from tallystick.engine.arrays import assign
from tallystick.engine.assignment import components, heaviest, rank_within


def best_total(rows, columns, weights, n_rows, n_columns):
    matrix = np.zeros((n_rows, n_columns))
    matrix[rows, columns] = weights
    return matrix[linear_sum_assignment(matrix, maximize=True)].sum()


def assert_optimal(rows, columns, weights, n_rows, n_columns):
    rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    weights = np.asarray(weights, np.float64)
    chosen = assign(rows, columns, weights, n_rows, n_columns)
    assert chosen.dtype == np.bool_
    assert len(set(rows[chosen].tolist())) == chosen.sum(), "a row was taken twice"
    assert len(set(columns[chosen].tolist())) == chosen.sum(), "a column was taken twice"
    expected = best_total(rows, columns, weights, n_rows, n_columns)
    assert weights[chosen].sum() == pytest.approx(expected, rel=1e-12)


def random_edges(random, n_rows, n_columns, share, integral):
    cells = np.flatnonzero(random.random(n_rows * n_columns) < share)
    weights = random.integers(1, 4, len(cells)) if integral else random.random(len(cells)) + 1e-3
    order = random.permutation(len(cells))
    return cells[order] // n_columns, cells[order] % n_columns, weights[order]


@pytest.mark.parametrize("integral", [True, False], ids=["ties", "floats"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 9), (9, 3), (4, 30), (30, 4), (5, 5), (12, 12), (40, 25)])
def test_random_problems_are_solved_to_the_optimum(shape, share, integral):
    random = np.random.default_rng([*shape, int(share * 100), integral])
    for _ in range(8):
        assert_optimal(*random_edges(random, *shape, share, integral), *shape)


@pytest.mark.parametrize("integral", [True, False], ids=["ties", "floats"])
def test_very_many_problems_at_once(integral):
    """Edges, stars and small blocks of every shape side by side: the batches by shape must not mix them up."""
    random = np.random.default_rng(7)
    parts, top, left = [], 0, 0
    for _ in range(150):
        height, width = random.integers(1, 7, 2).tolist()
        rows, columns, weights = random_edges(random, height, width, random.choice([0.3, 0.6, 1]), integral)
        parts.append((rows + top, columns + left, weights))
        top, left = top + height, left + width
    rows, columns, weights = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = random.permutation(len(rows))
    assert_optimal(rows[order], columns[order], weights[order], top, left)


def test_no_edges_at_all():
    nothing = np.empty(0, np.int64)
    assert len(assign(nothing, nothing, np.empty(0), 3, 4)) == 0


def test_a_single_edge_is_taken():
    assert assign(np.array([2]), np.array([5]), np.array([0.1]), 3, 6).tolist() == [True]


@pytest.mark.parametrize("turned", [False, True])
def test_a_star_takes_its_heaviest_ray_and_only_one(turned):
    centre, rays, weights = np.zeros(4, np.int64), np.arange(4), np.array([1.0, 3.0, 3.0, 2.0])
    edges = (rays, centre) if turned else (centre, rays)
    chosen = assign(*edges, weights, 4 if turned else 1, 1 if turned else 4)
    assert chosen.sum() == 1
    assert weights[chosen] == [3.0]


def test_two_stars_that_share_a_ray_are_no_stars():
    # r0 ── p0, r0 ── p1 ── r1: the heavy middle would cost both ends.
    assert_optimal([0, 0, 1], [0, 1, 1], [2.0, 3.0, 2.0], 2, 2)


def test_one_heavy_edge_is_left_for_two_light_ones():
    chosen = assign(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0]), 2, 2)
    assert chosen.tolist() == [False, True, True]


def test_weights_of_very_different_size():
    random = np.random.default_rng(3)
    for _ in range(20):
        rows, columns, _ = random_edges(random, 7, 7, 0.7, True)
        assert_optimal(rows, columns, 10.0 ** random.integers(-6, 6, len(rows)), 7, 7)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_sparse_solver_finds_what_the_dense_one_finds(monkeypatch, share):
    monkeypatch.setattr(assignment, "DENSE_CELLS", 0)
    monkeypatch.setattr(assignment, "DENSE_SHARE", 1.1)
    calls = []
    solve = assignment._assign_sparse
    monkeypatch.setattr(assignment, "_assign_sparse", lambda *problem: calls.append(1) or solve(*problem))
    random = np.random.default_rng(11)
    for shape in [(20, 20), (12, 30), (30, 12)]:
        for integral in (True, False):
            assert_optimal(*random_edges(random, *shape, share, integral), *shape)
    assert calls


@pytest.mark.parametrize("side", [1, 2, 3, 4])
def test_every_short_side_of_the_dynamic_programme(side):
    random = np.random.default_rng(side)
    tensor = random.integers(0, 4, (60, side, side + 3)).astype(float)
    match = assignment._assign_batch(tensor)
    for matrix, columns in zip(tensor, match, strict=True):
        taken = np.flatnonzero(columns >= 0)
        assert len(set(columns[taken].tolist())) == len(taken)
        expected = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
        assert matrix[taken, columns[taken]].sum() == expected


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (5, 8), (8, 5), (20, 20)])
def test_the_heaviest_matching_of_a_rectangle(shape):
    random = np.random.default_rng(shape)
    for matrix in (random.random(shape), random.integers(0, 3, shape).astype(float), np.zeros(shape)):
        expected = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
        assert heaviest(matrix) == pytest.approx(expected, rel=1e-12)


# Components


def plain_components(rows, columns):
    """The smallest row of each edge's component, by walking."""
    beside = {}
    for row, column in zip(rows, columns, strict=True):
        beside.setdefault(("r", row), []).append(("c", column))
        beside.setdefault(("c", column), []).append(("r", row))
    label = {}
    for start in sorted(node for node in beside if node[0] == "r"):
        queue = [start]
        while queue:
            node = queue.pop()
            if node not in label:
                label[node] = start[1]
                queue.extend(beside[node])
    return [label["r", row] for row in rows]


def test_components_of_random_graphs():
    random = np.random.default_rng(5)
    for _ in range(50):
        n, m = random.integers(1, 30, 2)
        rows, columns, _ = random_edges(random, n, m, random.choice([0.02, 0.05, 0.1]), True)
        assert components(rows, columns, n, m).tolist() == plain_components(rows.tolist(), columns.tolist())


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_path_is_one_component_in_few_rounds(shuffled):
    n = 50_000
    names = np.random.default_rng(1).permutation(n) if shuffled else np.arange(n)
    rows = names[np.repeat(np.arange(n), 2)[1:]]  # r0 - c0 - r1 - c1 - ...
    columns = np.repeat(np.arange(n), 2)[:-1]
    start = time.process_time()
    found = components(rows, columns, n, n)
    assert time.process_time() - start < 5
    assert (found == 0).all()


def test_a_long_path_is_assigned():
    n = 300
    rows, columns = np.repeat(np.arange(n), 2)[1:], np.repeat(np.arange(n), 2)[:-1]
    assert_optimal(rows, columns, np.random.default_rng(2).random(len(rows)), n, n)


def test_ranks_of_repeated_keys():
    assert rank_within(np.array([3, 1, 3, 3, 1]), 4).tolist() == [0, 0, 1, 2, 1]


@pytest.mark.parametrize(("height", "width"), [(2, 9), (3, 60), (5, 11), (6, 500), (40, 100), (9, 3), (200, 3)])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_long_rectangles(height, width, share):
    """A long side is cut down before it is solved; nothing is lost by that, with ties neither."""
    rng = np.random.default_rng(height * width)
    for values in (rng.random, lambda shape: rng.integers(1, 4, shape).astype(float)):
        matrix = values((height, width)) * (rng.random((height, width)) < share)
        best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
        rows, columns = np.nonzero(matrix)
        weights = matrix[rows, columns]
        chosen = assign(rows, columns, weights, height, width)
        assert np.isclose(weights[chosen].sum(), best)
        assert len(set(rows[chosen])) == len(set(columns[chosen])) == np.count_nonzero(chosen)
        assert np.isclose(heaviest(matrix), best)


@pytest.mark.parametrize("seed", range(20))
def test_of_several_best_matchings_the_one_that_is_found_depends_on_no_other_problem(seed):
    """A long problem is cut down, which must not touch a square one beside it."""
    rng = np.random.default_rng(seed)
    alone, sides, height, width = [], [], 0, 0
    for n, m in [tuple(map(int, rng.integers(1, 8, 2))) for _ in range(12)]:
        table = rng.integers(1, 3, (n, m)).astype(np.float64)
        i, j = np.nonzero(table)
        alone.append(assign(i, j, table[i, j], n, m))
        sides.append((i + height, j + width, table[i, j]))
        height, width = height + n, width + m
    rows, columns, weights = (np.concatenate(side) for side in zip(*sides, strict=True))
    assert np.array_equal(assign(rows, columns, weights, height, width), np.concatenate(alone))
