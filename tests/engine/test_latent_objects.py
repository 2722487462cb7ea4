"""Eq. 36 under the four constraints against eq. 40 to 44, written out literally with scipy's milp."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from tallystick.engine.latent import CONSTRAINTS, ObjectPairs, solve_objects
from tallystick.errors import MetricError


def literal(nl, nr, objects, others, pairs, constraint):
    size = objects * others + nl * nr

    def m(u, v):
        return u * others + v

    def x(i, j):
        return objects * others + i * nr + j

    gain, rows, limits = np.zeros(size), [], []

    def row(plus, minus, limit):
        new = np.zeros(size)
        new[plus] += 1
        new[minus] -= 1
        rows.append(new)
        limits.append(limit)

    for u, v, w in zip(pairs.u, pairs.v, pairs.weight, strict=True):
        gain[m(u, v)] = w  # eq. 40
    for t, i, j in zip(pairs.need, pairs.need_i, pairs.need_j, strict=True):
        row([m(pairs.u[t], pairs.v[t])], [x(i, j)], 0)  # eq. 41
    for i in range(nl):
        row([x(i, j) for j in range(nr)], [], 1)  # eq. 42
    for j in range(nr):
        row([x(i, j) for i in range(nl)], [], 1)
    if constraint in ("1:1", "N:1"):
        for u in range(objects):
            row([m(u, v) for v in range(others)], [], 1)  # eq. 43
    if constraint in ("1:1", "1:N"):
        for v in range(others):
            row([m(u, v) for u in range(objects)], [], 1)  # eq. 44
    known = LinearConstraint(np.array(rows), -np.inf, limits)
    return -milp(-gain, constraints=known, integrality=np.ones(size), bounds=Bounds(0, 1)).fun


def random_pairs(rng, mode):
    nl, nr = (int(k) for k in rng.integers(1, 5, 2))
    objects, others = (int(k) for k in rng.integers(1, 7, 2))
    arity = 3 if mode == "three variables" else 2
    of_u = [rng.integers(0, nl, rng.integers(0, arity + 1)) for _ in range(objects)]
    of_v = [rng.integers(0, nr, rng.integers(0, arity + 1)) for _ in range(others)]
    u, v, w, needs = [], [], [], []
    for a in range(objects):
        for b in range(others):
            if rng.random() < 0.7 and (mode == "free needs" or len(of_u[a]) == len(of_v[b])):
                t = len(u)
                u.append(a)
                v.append(b)
                w.append(rng.integers(1, 4) if rng.random() < 0.5 else rng.random())
                if mode == "free needs":
                    count = rng.integers(0, 3)
                    needs += [(t, int(rng.integers(0, nl)), int(rng.integers(0, nr))) for _ in range(count)]
                else:
                    needs += [(t, i, j) for i, j in zip(of_u[a], of_v[b], strict=True)]
    table = np.array(needs, int).reshape(-1, 3)
    return nl, nr, objects, others, ObjectPairs.of(u, v, w, (table[:, 0], table[:, 1], table[:, 2]))


@pytest.mark.parametrize("mode", ["triples", "free needs", "three variables"])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_equals_the_appendix(mode, constraint):
    rng = np.random.default_rng(len(mode))
    for _ in range(60):
        nl, nr, objects, others, pairs = random_pairs(rng, mode)
        found = solve_objects([0, nl], [0, nr], pairs, constraint)
        assert found.optimal.all()
        assert found.lower[0] == pytest.approx(literal(nl, nr, objects, others, pairs, constraint), abs=1e-5)
        assert pairs.weight[found.matched].sum() == pytest.approx(found.lower[0], abs=1e-6)
        for t in found.matched.tolist():
            for n in np.flatnonzero(pairs.need == t):
                assert found.mapping[pairs.need_i[n]] == pairs.need_j[n]
        if constraint in ("1:1", "N:1"):
            assert len(set(pairs.u[found.matched].tolist())) == len(found.matched)
        if constraint in ("1:1", "1:N"):
            assert len(set(pairs.v[found.matched].tolist())) == len(found.matched)


def test_equal_objects_count_as_often_as_the_rarer_side_has_them():
    # three copies of a triple against two
    pairs = ObjectPairs.of(
        np.repeat([0, 1, 2], 2), np.tile([0, 1], 3), np.ones(6), (np.arange(6), np.zeros(6), np.zeros(6))
    )
    values = {c: solve_objects([0, 1], [0, 1], pairs, c).lower[0] for c in CONSTRAINTS}
    assert values == {"1:1": 2, "N:1": 3, "1:N": 2, "N:N": 6}


def test_problems_side_by_side():
    pairs = ObjectPairs.of([0, 1], [0, 1], [1.0, 2.0], ([0, 1], [0, 1], [0, 1]), doc=[0, 1])
    found = solve_objects([0, 1, 2], [0, 1, 2], pairs)
    assert found.lower.tolist() == [1.0, 2.0]
    assert found.matched.tolist() == [0, 1]


def test_misspelt_constraint():
    pairs = ObjectPairs.of([], [], [], ([], [], []))
    with pytest.raises(MetricError, match="1:1"):
        solve_objects([0, 0], [0, 0], pairs, "1:11")
