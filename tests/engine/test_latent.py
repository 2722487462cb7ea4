"""Latent matching against brute force, on symmetric problems, and against the clock."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.engine import latent, latent_pairs, program
from tallystick.engine.latent import Problems, solve, solve_all
from tallystick.engine.latent_pairs import common_unit, condense, programme
from tallystick.engine.program import PrimalDual, Programs
from tallystick.tasks.amr.metrics import align


def brute_force(n, m, single, double):
    best = 0.0
    for partner in itertools.permutations([*range(m), *[-1] * n], n):
        value = sum(w for i, j, w in zip(*single, strict=True) if partner[i] == j)
        value += sum(w for i, j, k, o, w in zip(*double, strict=True) if partner[i] == j and partner[k] == o)
        best = max(best, value)
    return best


def earned(mapping, single, double):
    value = sum(w for i, j, w in zip(*single, strict=True) if mapping[i] == j)
    return value + sum(w for i, j, k, o, w in zip(*double, strict=True) if mapping[i] == j and mapping[k] == o)


def random_problem(rng, weights):
    n, m = (int(x) for x in rng.integers(1, 5, 2))
    a, b = int(rng.integers(0, n * m + 1)), int(rng.integers(0, 25))
    single = (rng.integers(0, n, a), rng.integers(0, m, a), weights(a))
    ends = [rng.integers(0, size, b) for size in (n, m, n, m)]
    return n, m, single, (*ends, weights(b)), rng.integers(0, 3, b)


@pytest.mark.parametrize("kind", ["counts", "halves", "floats"])
def test_equals_brute_force(kind):
    rng = np.random.default_rng(len(kind))
    weights = {
        "counts": lambda k: rng.integers(0, 4, k).astype(float),
        "halves": lambda k: rng.integers(0, 4, k) / 2,
        "floats": rng.random,
    }[kind]
    for _ in range(400):
        n, m, single, double, kinds = random_problem(rng, weights)
        found = solve(n, m, single, double, kind=kinds)
        best = brute_force(n, m, single, double)
        assert found.optimal
        assert found.lower == pytest.approx(best, abs=1e-7)
        assert found.upper == pytest.approx(best, abs=1e-6)
        assert earned(found.mapping, single, double) == pytest.approx(found.lower, abs=1e-9)
        partners = found.mapping[found.mapping >= 0]
        assert len(set(partners.tolist())) == len(partners)


def test_many_problems_at_once_equal_each_by_itself():
    rng = np.random.default_rng(5)
    problems = [random_problem(rng, lambda k: rng.integers(0, 4, k).astype(float)) for _ in range(60)]
    left = np.cumsum([0, *(p[0] for p in problems)])
    right = np.cumsum([0, *(p[1] for p in problems)])
    single = [
        np.concatenate(x)
        for x in zip(
            *((p[2][0] + a, p[2][1] + b, p[2][2]) for p, a, b in zip(problems, left, right, strict=False)),
            strict=True,
        )
    ]
    double = [
        np.concatenate(x)
        for x in zip(
            *(
                (p[3][0] + a, p[3][1] + b, p[3][2] + a, p[3][3] + b, p[3][4])
                for p, a, b in zip(problems, left, right, strict=False)
            ),
            strict=True,
        )
    ]
    kinds = np.concatenate([p[4] for p in problems])
    together = solve_all(Problems.of(left, right, tuple(single), tuple(double), kinds))
    apart = [solve(*p[:4], kind=p[4]).lower for p in problems]
    assert together.optimal.all()
    assert together.lower.tolist() == apart


def relations(n, edges, roles, rng):
    return rng.integers(0, n, edges), rng.integers(0, n, edges), rng.integers(0, roles, edges)


def as_problem(one, other, concepts, other_concepts):
    i, j = np.nonzero(concepts[:, None] == other_concepts[None, :])
    a, b = np.nonzero(one[2][:, None] == other[2][None, :])
    double = (one[0][a], other[0][b], one[1][a], other[1][b], np.ones(len(a)))
    return (i, j, np.ones(len(i))), double, one[2][a]


@pytest.mark.parametrize("seed", range(5))
def test_a_shuffled_copy_matches_itself_completely(seed):
    rng = np.random.default_rng(seed)
    n, edges = 60, 75
    graph = relations(n, edges, 4, rng)
    distinct = np.unique(np.stack(graph), axis=1)
    graph = tuple(distinct)
    concepts = rng.integers(0, 4, n)
    to = rng.permutation(n)
    copy = (to[graph[0]], to[graph[1]], graph[2])
    copied = np.empty(n, int)
    copied[to] = concepts
    single, double, kinds = as_problem(graph, copy, concepts, copied)
    found = solve(n, n, single, double, kind=kinds)
    assert found.optimal
    assert found.lower == n + distinct.shape[1]


def test_too_hard_for_its_limit_gives_valid_bounds_in_time():
    rng = np.random.default_rng(0)
    n = 150
    one, other = relations(n, 300, 2, rng), relations(n, 300, 2, rng)
    concepts, other_concepts = rng.integers(0, 3, n), rng.integers(0, 3, n)
    single, double, kinds = as_problem(one, other, concepts, other_concepts)
    begin = time.process_time()
    found = solve(n, n, single, double, kind=kinds, limit=1.0)
    assert time.process_time() - begin < 2.0
    assert not found.optimal
    assert found.lower < found.upper <= n + 300
    assert earned(found.mapping, single, double) == found.lower


def test_the_same_answer_every_time():
    rng = np.random.default_rng(3)
    problem = random_problem(rng, lambda k: rng.integers(0, 4, k).astype(float))
    first, second = (solve(*problem[:4], kind=problem[4]) for _ in range(2))
    assert first.lower == second.lower
    assert first.mapping.tolist() == second.mapping.tolist()


def test_no_variables_and_no_weights():
    empty = ([], [], [])
    nothing = solve(0, 3, empty, ([], [], [], [], []))
    assert (nothing.lower, nothing.upper, nothing.optimal) == (0.0, 0.0, True)
    assert solve(2, 2, empty, ([], [], [], [], [])).mapping.tolist() == [-1, -1]


def test_a_link_that_needs_two_partners_for_one_variable_is_never_earned():
    found = solve(1, 2, ([], [], []), ([0], [0], [0], [1], [1.0]))
    assert (found.lower, found.optimal) == (0.0, True)


def test_units():
    assert common_unit(np.array([1.0, 2.0])) == 1.0
    assert common_unit(np.array([0.5, 2.0])) == 0.5
    assert common_unit(np.array([1 / 3, 1.0])) == pytest.approx(1 / 3)
    assert common_unit(np.array([0.1234567])) is None


# Symmetric graphs: few concepts, few roles, so that many variables look alike.


@st.composite
def symmetric_pairs(draw):
    """Two graphs of up to four variables, and the second sometimes a copy of the first in another order."""
    n = draw(st.integers(1, 4))
    node = st.integers(0, n - 1)
    edges = draw(st.sets(st.tuples(node, node, st.integers(0, 1)), max_size=8))
    concepts = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    copied = [0] * n
    for v, to in enumerate(order):
        copied[to] = concepts[v]
    copy = {(order[s], order[t], r) for s, t, r in edges}
    if draw(st.booleans()):
        copy ^= draw(st.sets(st.tuples(node, node, st.integers(0, 1)), max_size=2))
        copied[draw(node)] = 1
    return n, sorted(edges), concepts, sorted(copy), copied


def problem_of(case):
    n, edges, concepts, copy, copied = case
    i, j = np.nonzero(np.array(concepts)[:, None] == np.array(copied)[None, :])
    double = [(s, u, t, v, r) for s, t, r in edges for u, v, q in copy if r == q]
    columns = np.array(double, np.intp).reshape(-1, 5)
    return n, n, (i, j, np.ones(len(i))), (*columns[:, :4].T, np.ones(len(columns))), columns[:, 4]


@pytest.fixture(params=["as it is", "every problem is large"])
def sizes(request, monkeypatch):
    if request.param != "as it is":
        for name, value in (("_GROWN", 0), ("_LARGE", 0), ("_SEARCHED", 0), ("_ROUNDS", 1)):
            monkeypatch.setattr(latent, name, value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=symmetric_pairs())
def test_symmetric_graphs_equal_brute_force(sizes, case):
    n, m, single, double, kinds = problem_of(case)
    found = solve(n, m, single, double, kind=kinds)
    best = brute_force(n, m, single, double)
    assert found.optimal
    assert found.lower == best
    assert earned(found.mapping, single, double) == best


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=symmetric_pairs(), steps=st.integers(0, 60))
def test_bounds_contain_the_optimum_whenever_the_clock_strikes(sizes, case, steps):
    n, m, single, double, kinds = problem_of(case)
    ticks = iter(range(10**6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latent.time, "monotonic", lambda: float(next(ticks)))
        found = solve(n, m, single, double, kind=kinds, limit=steps + 0.5)
    best = brute_force(n, m, single, double)
    assert found.lower <= best <= found.upper
    assert found.optimal == (found.lower == found.upper)
    assert earned(found.mapping, single, double) == found.lower


@pytest.mark.parametrize(("n", "m"), [(100, 100), (100, 90), (200, 200)])
def test_a_chain_of_equal_nodes_is_matched_from_its_end_without_a_search(n, m, monkeypatch):
    monkeypatch.setattr(latent._Search, "_relax", None)
    i, j = np.nonzero(np.ones((n, m)))
    k, o = np.nonzero(np.ones((n - 1, m - 1)))
    rng = np.random.default_rng(0)
    left, right = rng.permutation(n), rng.permutation(m)
    single = (left[np.append(i, 0)], right[np.append(j, 0)], np.ones(n * m + 1))
    double = (left[k], right[o], left[k + 1], right[o + 1], np.ones(len(k)))
    found = solve(n, m, single, double)
    assert found.optimal
    assert found.lower == 2 * m


def test_first_order_bounds_are_valid_and_come_close_to_the_programme():
    rng = np.random.default_rng(2)
    n = 12
    one, other = relations(n, 30, 2, rng), relations(n, 30, 2, rng)
    single, double, kinds = as_problem(one, other, rng.integers(0, 2, n), rng.integers(0, 2, n))
    gain, rows = programme(condense(Problems.of([0, n], [0, n], single, double, kinds)))
    best = Programs().relaxed(gain, rows)
    optimum = float((best.prices * rows.limit).sum() + np.maximum(best.reduced, 0).sum())
    for tools in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not tools:
                patch.setattr(program, "_sparse_tools", lambda: None)
            steps = PrimalDual(gain, rows)
            for _ in range(40):
                steps.run(5)
                assert steps.upper >= optimum - 1e-7
            assert steps.upper <= optimum * 1.005


@pytest.mark.parametrize("method", ["relaxed", "whole"])
def test_a_large_programme_with_a_limit_is_solved_in_a_process_of_its_own_with_the_same_answer(method, monkeypatch):
    rng = np.random.default_rng(4)
    n = 6
    one, other = relations(n, 9, 2, rng), relations(n, 9, 2, rng)
    single, double, kinds = as_problem(one, other, rng.integers(0, 2, n), rng.integers(0, 2, n))
    gain, rows = programme(condense(Problems.of([0, n], [0, n], single, double, kinds)))
    options = {"gap": 0.5} if method == "whole" else {}
    here = getattr(Programs(), method)(gain, rows, **options)
    monkeypatch.setattr(program, "_ELSEWHERE", 0)
    there = getattr(Programs(), method)(gain, rows, seconds=60.0, **options)
    assert there.values.tolist() == here.values.tolist()
    stopped = getattr(Programs(), method)(gain, rows, seconds=1e-6, **options)
    assert stopped is None or (stopped.values is None and stopped.upper == float("inf"))


# Problems whose links are too many to be listed.


@pytest.fixture
def nothing_is_listed(monkeypatch):
    """Every problem counts as too large for its limit."""
    monkeypatch.setattr(latent_pairs, "_ALWAYS_LISTED", 0)
    monkeypatch.setattr(latent_pairs, "LISTED_A_SECOND", 0)


def graph_of(rng, n, links):
    return (
        [(int(k), "instance", f"c{rng.integers(2)}", False) for k in range(n) for _ in range(int(rng.integers(0, 3)))],
        [(int(s), f"r{role}", int(t)) for s, t, role in zip(*rng.integers(0, n, (2, links)), rng.integers(0, 2, links), strict=True)],
    )  # fmt: skip


@pytest.mark.parametrize("duplicates", ["multiset", "product"])
def test_graphs_that_are_too_large_to_be_listed_have_bounds_that_hold_the_optimum(
    duplicates, nothing_is_listed, monkeypatch
):
    from tallystick.tasks.amr.triples import Facts, score_facts

    rng = np.random.default_rng(7)
    sides = [[], []]
    for _ in range(60):
        for side in sides:
            n = int(rng.integers(1, 7))
            side.append(Facts([f"v{k}" for k in range(n)], *graph_of(rng, n, int(rng.integers(0, 12)))))
    rough = score_facts(*sides, duplicates)
    with monkeypatch.context() as patch:
        patch.setattr(latent_pairs, "_ALWAYS_LISTED", np.inf)
        exact = score_facts(*sides, duplicates)
    assert exact.optimal.all()
    assert (rough.matched <= exact.matched).all()
    assert (rough.upper >= exact.matched).all()
    assert (rough.optimal == (rough.upper == rough.matched)).all()
    assert rough.matched.sum() > 0.5 * exact.matched.sum()
    for one, other, mapping, matched in zip(*sides, rough.mappings, rough.matched, strict=True):
        assert len(set(mapping[mapping >= 0])) == (mapping >= 0).sum()
        if duplicates == "multiset":
            assert matched == len(align(one, other, mapping).matched)


def test_chains_of_equal_nodes_are_proven_without_listing(nothing_is_listed):
    from tallystick.tasks.amr.triples import Facts, score_facts

    def chain(n, order):
        concepts, edges = (
            [(order[k], "instance", "x", False) for k in range(n)],
            [(order[k], ":r", order[k + 1]) for k in range(n - 1)],
        )
        return Facts([f"v{k}" for k in range(n)], concepts, edges)

    shuffled = np.random.default_rng(1).permutation(60).tolist()
    found = score_facts([chain(60, range(60))] * 2, [chain(60, shuffled), chain(50, range(50))])
    assert found.matched.tolist() == found.upper.tolist() == [119, 99]


def test_the_clock_stops_an_outline_and_leaves_bounds(nothing_is_listed, monkeypatch):
    from tallystick.tasks.amr.triples import Facts, score_facts

    times = itertools.count()
    monkeypatch.setattr(latent_pairs.time, "monotonic", lambda: next(times))
    one = Facts(["a", "b", "c"], [(0, "instance", "x", False)], [(0, ":r", 1), (1, ":r", 2)])
    found = score_facts(
        [one], [Facts(["a", "b", "c"], [(1, "instance", "x", False)], [(0, ":r", 1), (1, ":r", 2)])], limit=1e-3
    )
    assert found.matched[0] <= 2
    assert found.upper[0] == 3
    assert not found.optimal[0]


@pytest.mark.parametrize("metric", ["latent(record(rel=exact, subj=var, obj=var), 1:1)", "scoped(each(a=match(record(id=var, c=exact)), b=match(record(rel=exact, subj=var, obj=var))))"])  # fmt: skip
def test_objects_that_are_too_many_to_be_listed_have_bounds_that_hold_the_optimum(
    metric, nothing_is_listed, monkeypatch
):
    import tallystick as ts

    rng = np.random.default_rng(11)
    sides = [[], []]
    for _ in range(40):
        for side in sides:
            unary, binary = graph_of(rng, 5, int(rng.integers(0, 9)))
            edges = [{"rel": role, "subj": f"x{s}", "obj": f"x{t}"} for s, role, t in binary]
            side.append(
                edges if "latent" in metric else {"a": [{"id": f"x{v}", "c": c} for v, _, c, _ in unary], "b": edges}
            )
    node = ts.parse(f"f1({metric})")
    rough = ts.evaluate(node, *sides)
    with monkeypatch.context() as patch:
        patch.setattr(latent_pairs, "_ALWAYS_LISTED", np.inf)
        exact = ts.evaluate(node, *sides)
    assert exact.optimal
    below, right, above = (np.asarray(result)[:, 0] for result in (rough.rows, exact.rows, rough.above))
    assert (below <= right).all()
    assert (above >= right).all()
    assert below.sum() > 0.5 * right.sum()
    assert rough.unproven == (above > below).sum()
