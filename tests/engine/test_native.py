"""The compiled part equals the code in Python to the bit (a sparse matching: in its weight), and nothing needs it."""

import functools
import importlib.util
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.engine import assignment, native, trees
from tallystick.engine.assignment import heaviest
from tallystick.engine.drawing import seeded

ROOT = Path(__file__).resolve().parents[2]


def hatch_build():
    if not (ROOT / "hatch_build.py").exists():
        pytest.skip("no checkout: the build script is not here")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / native.NAME
    problem = hatch_build().build(path)
    if problem:
        pytest.skip(f"no C compiler: {problem}")
    return path


@pytest.fixture(scope="module")
def built(library):
    return native.Native(library)


@st.composite
def pairs_of_trees(draw):
    """Two trees, or forests, of any shape, and weights of which many are equal."""
    sides = []
    for _ in range(2):
        back = draw(st.lists(st.integers(0, 40), max_size=24))
        near = draw(st.booleans())
        sides.append([max(-1, k - 1 - b) if near else b % (k + 1) - 1 for k, b in enumerate(back)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.sampled_from([[0, 1], [0, 1, 2, 3], [0, 0.1, 0.2, 0.3, 0.7], [0, 0, 0, 0, 1]]))
    return (*sides, rng.choice(np.array(values, float), (len(sides[0]), len(sides[1]))))


@settings(max_examples=300, deadline=None)
@given(problem=pairs_of_trees())
def test_trees_both_ways(built, problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "compiled", lambda: built)
        one = trees.match_ordered(*problem)
        patch.setattr(trees, "compiled", lambda: None)
        other = trees.match_ordered(*problem)
        patch.setattr(trees, "_CELLS", 1)  # one pair of places at a time
        plain = trees.match_ordered(*problem)
    for found in (other, plain):
        assert found.lower == one.lower
        assert found.left.tolist() == one.left.tolist()
        assert found.right.tolist() == one.right.tolist()


@settings(max_examples=300, deadline=None)
@given(problem=pairs_of_trees(), share=st.sampled_from([0.0, 0.2]))
def test_paths_give_what_key_places_give(built, problem, share):
    """Trees are climbed wherever that can be done (or now and then), and every subtree earns what the plain way finds."""
    left, right, weights = problem[0], problem[1], np.rint(10 * problem[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "compiled", lambda: None)
        plain = trees.match_ordered(left, right, weights)
        patch.setattr(trees, "compiled", lambda: built)
        for name, value in (("_MIRROR_AT", 0), ("_CLIMB_AT", 0), ("_LANE", share)):
            patch.setattr(trees, name, value)
        climbed = trees.match_ordered(left, right, weights)
    assert climbed.lower == plain.lower
    assert weights[climbed.left, climbed.right].sum() == plain.lower
    assert climbed.optimal


def test_a_deep_tree_is_climbed_and_gives_the_same_pairs(built, monkeypatch):
    rng = np.random.default_rng(5)
    left, right = ([-1, *(int(rng.integers(max(0, k - 3), k)) for k in range(1, n))] for n in (260, 300))
    weights = (rng.random((260, 300)) < 0.1).astype(np.float64)
    plans = []
    steps = trees._Climbing.steps
    monkeypatch.setattr(trees._Climbing, "steps", lambda self: plans.append(steps(self)) or plans[-1])
    monkeypatch.setattr(trees, "compiled", lambda: built)
    found = [trees.match_ordered(left, right, weights)]
    assert any(isinstance(step, native.Climb) for step in plans[0])
    monkeypatch.setattr(trees, "compiled", lambda: None)
    found.append(trees.match_ordered(left, right, weights))
    assert found[0].lower == found[1].lower
    assert found[0].left.tolist() == found[1].left.tolist()
    assert found[0].right.tolist() == found[1].right.tolist()


def test_a_path_that_is_cut_short_is_not_proven(built, monkeypatch):
    rng = np.random.default_rng(5)
    tree = [-1, *(int(rng.integers(max(0, k - 3), k)) for k in range(1, 400))]
    weights = (rng.random((400, 400)) < 0.5).astype(np.float64)
    monkeypatch.setattr(trees, "compiled", lambda: built)
    found = trees.match_ordered(tree, tree, weights, limit=1e-9)
    assert not found.optimal
    assert weights[found.left, found.right].sum() == found.lower <= trees.match_ordered(tree, tree, weights).lower


def test_a_tree_that_branches_to_the_right_is_mirrored(monkeypatch):
    """Of equal nodes the smaller tree fits into the larger one whole, whichever way both are read."""
    comb = [-1]
    while len(comb) < 61:
        above = len(comb) - 1
        comb += [above, above]
    weights = np.ones((len(comb), len(comb) - 2))
    rows = []
    monkeypatch.setattr(trees, "_solve", lambda one, *_: rows.append(one.rows()) or (0.0, [], True))
    monkeypatch.setattr(trees, "compiled", lambda: None)
    trees.match_ordered(comb, comb[:-2], weights)
    trees.match_ordered(comb, comb[:-2], weights / 3)  # another order would change the last bits
    monkeypatch.undo()
    assert rows[0] < 2 * len(comb) < 8 * len(comb) < rows[1]
    assert trees.match_ordered(comb, comb[:-2], weights).lower == len(comb) - 2


def test_without_a_compiler(monkeypatch, tmp_path):
    for compiler in ("/bin/false", "/nowhere/cc"):
        monkeypatch.setenv("CC", compiler)
        assert compiler in hatch_build().build(tmp_path / native.NAME)
    assert not os.listdir(tmp_path)


def test_a_library_that_is_none_is_not_used(monkeypatch, tmp_path):
    (tmp_path / native.NAME).write_text("not a library")
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    assert native.compiled.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setenv("TALLYSTICK_NATIVE", "off")
    assert native.compiled.__wrapped__() is None


def test_a_library_of_another_version_is_not_used_and_a_warning_says_so(monkeypatch, library):
    monkeypatch.setattr(native, "__file__", str(library.with_name("native.py")))
    assert native.compiled.__wrapped__() is not None
    monkeypatch.setattr(native, "INTERFACE", 0)
    with pytest.warns(RuntimeWarning, match="another version of the source.*python hatch_build.py"):
        assert native.compiled.__wrapped__() is None


@st.composite
def sparse_tables(draw):
    """Tables of any shape, of which many cells are empty and many weights equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    values = draw(st.sampled_from([[0.2, 0.4, 0.6, 1.0], [1.0], [1e-9, 1.0, 1e9]]))
    weights = rng.random(shape) + 1e-6 if draw(st.booleans()) else rng.choice(np.array(values), shape)
    return np.where(rng.random(shape) < draw(st.floats(0.01, 1)), weights, 0.0)


@settings(max_examples=300, deadline=None)
@given(table=sparse_tables())
def test_the_heaviest_sparse_matching(built, table):
    rows, columns = (side.astype(np.int64) for side in np.nonzero(table))
    order = np.random.default_rng(0).permutation(len(rows))
    rows, columns = rows[order], columns[order]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "compiled", lambda: built)
        match = assignment._assign_sparse(rows, columns, table[rows, columns], *table.shape)
    some = np.flatnonzero(match >= 0)
    assert len(set(match[some].tolist())) == len(some)
    assert (table[some, match[some]] > 0).all()
    assert table[some, match[some]].sum() == pytest.approx(heaviest(table), rel=1e-12)


def test_a_large_component_weighs_the_same_by_scipy(built):
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(np.repeat(np.arange(300), 7)), rng.permutation(np.repeat(np.arange(350), 6))
    key = np.unique(rows * 350 + columns)
    rows, columns = key // 350, key % 350
    weights = rng.integers(1, 20, len(key)) / 19
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for solver in (built, None):
            patch.setattr(assignment, "compiled", lambda solver=solver: solver)
            match = assignment._assign_sparse(rows, columns, weights, 300, 350)
            found.append(weights[match[rows] == columns].sum())
    assert found[0] == pytest.approx(found[1], rel=1e-13)


def state_of(generator):
    """The state of one of NumPy's generators as the library has it."""
    known, low = generator.bit_generator.state, 2**64 - 1
    assert known["bit_generator"] == "PCG64"
    words = [known["state"]["state"], known["state"]["inc"]]
    return [*(half for word in words for half in (word >> 64, word & low)), known["has_uint32"], known["uinteger"]]


@given(seed=st.integers(0, 100) | st.integers(0, 2**200))
def test_a_seed_is_what_numpy_makes_of_it(seed):
    assert seeded(seed).tolist() == state_of(np.random.default_rng(seed))


@given(
    n=st.integers(2, 40) | st.integers(41, 3000),
    seed=st.integers(0, 100),
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
@settings(max_examples=60)
def test_documents_are_drawn_as_numpy_draws_them(built, n, seed, sizes):
    """In any number of calls, and so that NumPy could go on where the library stopped."""
    ours, theirs = seeded(seed), np.random.default_rng(seed)
    for resamples in sizes:
        counts = np.full((resamples, n), 9, np.float32)
        assert built.draw_documents(ours, counts)
        for row in counts:
            drawn = theirs.integers(0, n, size=n, dtype=np.uint32)
            assert row.tolist() == np.bincount(drawn, minlength=n).tolist()
        assert ours.tolist() == state_of(theirs)


def test_one_document_is_left_to_numpy(built):
    assert not built.draw_documents(seeded(3), np.empty((2, 1), np.float32))


@settings(max_examples=150, deadline=None)
@given(
    problem=pairs_of_trees(),
    looks=st.integers(0, 30),
    kind=st.sampled_from(["compiled", "plain", "top down", "in order"]),
)
def test_a_limit_that_strikes_anywhere_leaves_a_valid_matching_and_bounds_that_hold_the_optimum(
    built, problem, looks, kind
):
    left, right, table = problem
    if kind in ("compiled", "plain"):
        match, whole = trees.match_ordered, trees.match_ordered(*problem)
    else:
        match = functools.partial(trees.match_top_down, ordered=kind == "in order")
        whole = match(*problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "compiled", lambda: built if kind == "compiled" else None)
        patch.setattr(trees, "_CELLS", 1)
        patch.setattr(native, "_CELLS", 1)
        clock = itertools.count()
        patch.setattr(trees.time, "monotonic", lambda: next(clock))
        found = match(*problem, limit=looks)
    assert found.lower == pytest.approx(table[found.left, found.right].sum(), abs=1e-12)
    assert found.lower <= whole.lower + 1e-12
    assert found.upper >= whole.lower - 1e-12
    assert not found.optimal or found.lower == pytest.approx(whole.lower, abs=1e-12)
    pairs = dict(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert len(set(pairs.values())) == len(pairs)
    for u, v in pairs.items():
        if kind in ("compiled", "plain"):
            ours, theirs = _above(left, u), _above(right, v)
            assert all((a in ours) == (b in theirs) for a, b in pairs.items())
        else:
            assert pairs.get(left[u], -1) == right[v]


def _above(parents, node):
    found = set()
    while node >= 0:
        found.add(node)
        node = parents[node]
    return found


def test_steps_on_a_linear_programme_are_those_of_python_to_the_bit(built):
    from tallystick.engine.program import _RELAXED, Rows, _Matrix, _steps

    rng = np.random.default_rng(4)
    for height, width in ((1, 1), (7, 5), (300, 500)):
        count = 4 * height
        row, column = np.sort(rng.integers(0, height, count)), rng.integers(0, width, count)
        rows = Rows.of(row, column, rng.choice([1.0, -1.0], count), rng.integers(0, 2, height).astype(float))
        matrix = _Matrix(rows, width)
        fixed = rng.random(width), rows.limit, rng.random(width), rng.random(height)
        prices = rng.random(height) * (rng.random(height) < 0.5)
        state = rng.random(width), prices, matrix.transposed_times(prices)
        ours, theirs = built.hybrid_steps(10, matrix.by_rows, fixed, _RELAXED, state), _steps(matrix, fixed, state)
        assert ours is not None
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
