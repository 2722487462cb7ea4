"""Sequences, partial orders, graphs and trees against brute force and the ILP of appendix A.2."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import tallystick as ts
from tallystick.engine.orders import (
    match_dense,
    match_equal,
    match_orders,
    match_sparse,
    reachability,
)
from tallystick.engine.trees import match_ordered, match_top_down, match_unordered
from tallystick.structures.graphs import Tree


def brute_force(table, fits):
    pairs = [(u, v) for u in range(table.shape[0]) for v in range(table.shape[1]) if table[u, v] > 0]
    best = 0.0

    def extend(begin, chosen, value):
        nonlocal best
        best = max(best, value)
        for t in range(begin, len(pairs)):
            if all(fits(pairs[t], other) for other in chosen):
                extend(t + 1, [*chosen, pairs[t]], value + table[pairs[t]])

    extend(0, [], 0.0)
    return best


def check(found, table, fits, best):
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert found.optimal
    assert found.lower == pytest.approx(best, abs=1e-6)
    assert sum(table[p] for p in pairs) == pytest.approx(found.lower, abs=1e-9)
    assert all(fits(a, b) for a, b in itertools.combinations(pairs, 2))


def random_table(rng, n, m, whole):
    values = rng.integers(0, 4, (n, m)) if whole else rng.random((n, m))
    return (values * (rng.random((n, m)) < 0.6)).astype(float)


def rising(a, b):
    return (a[0] < b[0] and a[1] < b[1]) or (a[0] > b[0] and a[1] > b[1])


def weakly(side):
    def fits(a, b):
        a, b = (a, b) if side == 0 else (a[::-1], b[::-1])
        return (a[0] < b[0] and a[1] <= b[1]) or (a[0] > b[0] and a[1] >= b[1])

    return fits


def test_the_example_of_the_paper():
    found = match_equal((1, 2, 3, 4, 5), (1, 3, 5, 7, 9))
    assert (found.lower, found.left.tolist(), found.right.tolist()) == (3.0, [0, 2, 4], [0, 1, 2])


@pytest.mark.parametrize(("weak", "fits"), [(None, rising), ("N:1", weakly(0)), ("1:N", weakly(1))])
def test_sequences_equal_brute_force(weak, fits):
    rng = np.random.default_rng(1)
    for n in range(500):
        table = random_table(rng, *(int(k) for k in rng.integers(0, 6, 2)), n % 2)
        best = brute_force(table, fits)
        check(match_dense(table, weak=weak), table, fits, best)
        i, j = np.nonzero(table)
        order = rng.permutation(len(i))
        check(match_sparse(i[order], j[order], table[i[order], j[order]], weak=weak), table, fits, best)


def test_equal_elements_by_all_three_ways():
    rng = np.random.default_rng(2)
    for _ in range(300):
        one, other = (rng.integers(0, 4, rng.integers(0, 9)) for _ in range(2))
        table = (one[:, None] == other[None, :]).astype(float)
        i, j = np.nonzero(table)
        found = match_equal(one.tolist(), other.tolist())
        check(found, table, rising, match_dense(table).lower)
        assert match_sparse(i, j, np.ones(len(i))).lower == found.lower


def literal(before_left, before_right, table, constraint):
    """Appendix A.2: a row for each two pairs, m + m' <= 1 + [u ≤ u' iff v ≤ v']."""
    n, m = table.shape
    pairs = [(u, v) for u in range(n) for v in range(m)]
    rows, limits = [], []
    for s, (u, v) in enumerate(pairs):
        for t, (a, b) in enumerate(pairs):
            row = np.zeros(len(pairs))
            row[s] += 1
            row[t] += 1
            if s != t:
                rows.append(row)
                limits.append(1 + (before_left[u, a] == before_right[v, b]))
    for side, wanted in ((0, ("1:1", "N:1")), (1, ("1:1", "1:N"))):
        if constraint in wanted:
            for node in range(table.shape[side]):
                rows.append(np.array([float(p[side] == node) for p in pairs]))
                limits.append(1)
    known = LinearConstraint(np.array(rows), -np.inf, limits)
    gain = -np.array([table[p] for p in pairs])
    return -milp(gain, constraints=known, integrality=np.ones(len(pairs)), bounds=Bounds(0, 1)).fun


@pytest.mark.parametrize("constraint", ["1:1", "N:1", "1:N", "N:N"])
def test_bounds_of_what_is_too_large_for_its_limit(constraint):
    rng = np.random.default_rng(5)
    for n in range(60):
        left, right = (random_order(rng, int(rng.integers(2, 6)), True) for _ in range(2))
        table = random_table(rng, len(left), len(right), n % 2)
        u, v = np.nonzero(table)
        best = match_orders(left, right, u, v, table[u, v], constraint)
        found = match_orders(left, right, u, v, table[u, v], constraint, limit=1e-9)
        assert found.lower <= best.lower + 1e-9
        assert best.lower <= found.upper + 1e-9
        assert table[found.left, found.right].sum() == pytest.approx(found.lower)


def random_order(rng, n, cyclic):
    source, target = rng.integers(0, n, (2, int(rng.integers(0, 2 * n))))
    if not cyclic:
        source, target = np.minimum(source, target), np.maximum(source, target)
    return reachability(n, source, target)


@pytest.mark.parametrize("constraint", ["1:1", "N:1", "1:N", "N:N"])
@pytest.mark.parametrize("cyclic", [False, True])
def test_orders_equal_brute_force_and_the_appendix(constraint, cyclic):
    rng = np.random.default_rng(7)
    for n in range(100):
        left, right = (random_order(rng, int(rng.integers(2, 5)), cyclic) for _ in range(2))
        table = random_table(rng, len(left), len(right), n % 2)

        def fits(a, b, left=left, right=right):
            if constraint in ("1:1", "N:1") and a[0] == b[0]:
                return False
            if constraint in ("1:1", "1:N") and a[1] == b[1]:
                return False
            return left[a[0], b[0]] == right[a[1], b[1]] and left[b[0], a[0]] == right[b[1], a[1]]

        u, v = np.nonzero(table)
        found = match_orders(left, right, u, v, table[u, v], constraint)
        best = brute_force(table, fits)
        check(found, table, fits, best)
        if n % 5 == 0:
            assert literal(left, right, table, constraint) == pytest.approx(best, abs=1e-5)


def test_without_cycles_the_four_constraints_coincide():
    rng = np.random.default_rng(9)
    for _ in range(50):
        left, right = (random_order(rng, 5, False) for _ in range(2))
        table = random_table(rng, 5, 5, True)
        u, v = np.nonzero(table)
        values = {match_orders(left, right, u, v, table[u, v], c).lower for c in ("1:1", "N:1", "1:N", "N:N")}
        assert len(values) == 1


def random_tree(rng, n):
    return np.array([-1 if not k else int(rng.integers(-1, k)) for k in range(n)], int)


def ancestors(parents):
    table = np.eye(len(parents), dtype=bool)
    for node in range(len(parents)):
        above = parents[node]
        while above >= 0:
            table[above, node] = True
            above = parents[above]
    return table


def preorder(parents):
    place = {}

    def visit(node):
        for child in np.flatnonzero(np.asarray(parents) == node).tolist():
            place[child] = len(place)
            visit(child)

    visit(-1)
    return place


@pytest.mark.parametrize("with_native", [False, True])
def test_trees_equal_brute_force(with_native, monkeypatch):
    if not with_native:
        monkeypatch.setattr("tallystick.engine.trees.compiled", lambda: None)
    rng = np.random.default_rng(11)
    for n in range(300):
        left, right = (random_tree(rng, int(rng.integers(0, 6))) for _ in range(2))
        table = random_table(rng, len(left), len(right), n % 2)
        one, other, first, second = ancestors(left), ancestors(right), preorder(left), preorder(right)

        def unordered(a, b, one=one, other=other):
            if a[0] == b[0] or a[1] == b[1]:
                return False
            return one[a[0], b[0]] == other[a[1], b[1]] and one[b[0], a[0]] == other[b[1], a[1]]

        def ordered(a, b, unordered=unordered, first=first, second=second):
            return unordered(a, b) and (first[a[0]] < first[b[0]]) == (second[a[1]] < second[b[1]])

        check(match_ordered(left, right, table), table, ordered, brute_force(table, ordered))
        check(match_unordered(left, right, table), table, unordered, brute_force(table, unordered))


@pytest.mark.parametrize("in_order", [False, True])
def test_top_down_equals_brute_force(in_order):
    rng = np.random.default_rng(13)
    for n in range(200):
        left, right = (random_tree(rng, int(rng.integers(0, 5))) for _ in range(2))
        table = random_table(rng, len(left), len(right), n % 2)
        pairs = [p for p in itertools.product(range(len(left)), range(len(right))) if table[p] > 0]
        best = 0.0
        for size in range(min(len(left), len(right)) + 1):
            for chosen in itertools.combinations(pairs, size):
                if any(len({p[side] for p in chosen}) < size for side in (0, 1)):
                    continue
                roots = [(left[a], right[b]) for a, b in chosen]
                if any(above not in chosen and above != (-1, -1) for above in roots):
                    continue
                crossing = any(
                    left[a] == left[c] and (a < c) != (b < d) for a, b in chosen for c, d in chosen if a != c
                )
                if not (in_order and crossing):
                    best = max(best, sum(table[p] for p in chosen))
        found = match_top_down(left, right, table, ordered=in_order)
        assert found.lower == pytest.approx(best)
        matched = zip(found.left.tolist(), found.right.tolist(), strict=True)
        assert sum(table[p] for p in matched) == pytest.approx(best)


def test_a_limit_leaves_valid_bounds():
    rng = np.random.default_rng(0)
    n = 70
    left, right = (np.array([-1, *(int(rng.integers(0, k)) for k in range(1, n))]) for _ in range(2))
    one, other = rng.integers(0, 5, (2, n))
    found = match_unordered(left, right, (one[:, None] == other[None, :]).astype(float), limit=1.0)
    assert 0 < found.lower <= found.upper <= n
    assert found.optimal == (found.lower == found.upper)
    assert len(found.left) == found.lower


def test_a_tree_may_be_deeper_than_pythons_stack():
    chain = {"label": 0}
    for k in range(1, 1200):
        chain = {"label": k, "children": [chain, "leaf"] if k == 7 else [chain]}
    tree = Tree.of(chain)
    assert list(tree) == [*range(1199, -1, -1), "leaf"]
    assert list(tree.relabelled(str)) == [*map(str, range(1199, -1, -1)), "leaf"]
    assert ts.evaluate("f1(tree(exact))", [chain], [chain]).f1 == 1


ITEM = 'record(x=exact, y=text("levenshtein"))'


@pytest.mark.parametrize(
    "wrap", [list, lambda items: Tree(items[0], [Tree(one) for one in items[1:]])], ids=["list", "tree"]
)
@pytest.mark.parametrize("batch", [None, 1])
def test_items_that_meet_with_no_similarity_at_all_are_worth_nothing(wrap, batch):
    """Two blocks in each document, in both of which every φ is 0: no group of pairs is left to solve."""
    sides = [wrap([{"x": x, "y": y} for x in (1, 2)]) for y in "ab"]
    if wrap is list:
        names = [f"match({ITEM})", f"match({ITEM}, N:1)", f"greedy({ITEM})", f"sequence({ITEM})", f"links({ITEM})"]
        names += [f"match({ITEM}, N:N)", f"sequence(f1(sequence({ITEM})))"]
    else:
        names = [f"{name}({ITEM})" for name in ("tree", "top_down", "unordered")]
    for name in names:
        reference, predicted = ([[side]] if "f1(" in name else [side] for side in sides)
        assert ts.evaluate(f"f1({name})", reference * 40, predicted * 40, batch=batch).f1 == 0, name
    if wrap is list:
        tables = [[[one] for one in side] for side in sides]
        assert ts.evaluate(f"f1(grid({ITEM}))", tables[:1] * 40, tables[1:] * 40, batch=batch).f1 == 0
