"""A time limit is a limit: for every matching that may take long, with bounds that hold, or an error where there are none."""

import random
import re
import time

import numpy as np
import pytest
from tests.running import run

import tallystick as ts
from tallystick.algebra import ordered
from tallystick.engine.orders import match_equal, match_sparse, reachability
from tallystick.errors import MetricError, OutOfTime
from tallystick.tasks.contract import find_task, flag, task_names

LIMITED = ["sequence(exact)", "edit(exact)", "tree(exact)", "tree_edit(exact)", "top_down(exact)", "unordered(exact)",
           "graph(exact)", "grid(exact)", "latent(record(a=var, b=var))"]  # fmt: skip


@pytest.mark.parametrize("inner", LIMITED)
def test_a_limit_reaches_every_matching_that_may_take_long_and_its_signature(inner):
    metric = ts.parse(f"f1({inner})")
    assert metric.limited
    assert "limit=2.0" in str(metric.limited_to(2.0))
    own = ts.parse(f"f1({inner[:-1]}, limit=5))")
    assert "limit=5.0" in str(own.limited_to(2.0)), "what an expression says stays"
    assert metric.limited_to(None) == metric


def _sequences(rng, n, labels):
    return [[rng.randrange(labels) for _ in range(n)] for _ in range(2)]


@pytest.mark.parametrize("seed", range(20))
def test_long_sequences_of_equal_items_have_bounds_that_contain_the_truth(seed, monkeypatch):
    rng = random.Random(seed)
    one, other = _sequences(rng, rng.randrange(2, 60), rng.choice((2, 5, 20)))
    whole = match_equal(one, other)
    monkeypatch.setattr("tallystick.engine.orders._CELLS_A_SECOND", 20)
    cut = match_equal(one, other, limit=1.0)
    assert cut.lower <= whole.lower <= cut.upper
    assert cut.lower == len(cut.left) == sum(one[a] == other[b] for a, b in zip(cut.left, cut.right, strict=True))
    assert np.all(np.diff(cut.left) > 0)
    assert np.all(np.diff(cut.right) > 0)
    assert cut.optimal == (cut.lower == cut.upper)


@pytest.mark.parametrize("weak", [None, "N:1", "1:N"])
def test_a_chain_that_is_stopped_has_bounds_that_contain_the_truth(weak, monkeypatch):
    rng = np.random.default_rng(1)
    cells = np.flatnonzero(rng.random(40 * 40) < 0.2)
    i, j, weight = cells // 40, cells % 40, rng.random(len(cells))
    whole = match_sparse(i, j, weight, weak=weak)
    looks = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(looks))
    stopped = match_sparse(i, j, weight, weak=weak, limit=10)
    assert not stopped.optimal
    assert 0 < stopped.lower < whole.lower <= stopped.upper < weight.sum()


@pytest.mark.parametrize(
    "metric", ["f1(sequence(exact))", 'f1(sequence(text("levenshtein")))', "f1(sequence(number(0.5)))"]
)
def test_sequences_through_evaluate_keep_alignment_and_bounds(metric, monkeypatch):
    rng = random.Random(3)
    one, other = ([f"{label}" for label in side] for side in _sequences(rng, 50, 4))
    if "number" in metric:
        one, other = [[float(x) for x in side] for side in (one, other)]
    truth = ts.evaluate(metric, [one], [other])
    monkeypatch.setattr(ordered, "LONG_PAIRS", 10)
    monkeypatch.setattr(ordered, "LONG_CELLS", 10)
    monkeypatch.setattr("tallystick.engine.orders._CELLS_A_SECOND", 200)
    found = ts.evaluate(metric, [one], [other], time_limit=1)
    low, high = found.bounds["f1"]
    assert low <= truth.f1 <= high
    assert found.f1 == low
    if metric == "f1(sequence(exact))":
        assert not found.optimal
        assert found.metric.inner.limit == 1
    by_field = found.by_field()[-1]
    assert by_field.figures["f1"] == found.f1, "the alignment is the one that the score is the sum of"


def _tree(rng, n, labels):
    nodes = [{"label": f"l{rng.randrange(labels)}", "children": []} for _ in range(n)]
    for k in range(1, n):
        nodes[rng.randrange(max(0, k - 10), k)]["children"].append(nodes[k])
    return nodes[0]


@pytest.mark.parametrize("kind", ["tree(exact)", "tree_edit(exact)", "top_down(exact)", "unordered(exact)"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_that_are_cut_down_have_bounds_that_contain_the_truth(kind, seed, monkeypatch):
    rng = random.Random(seed)
    trees = [(_tree(rng, n, 3), _tree(rng, n, 3)) for n in (5, 30)]
    one, other = zip(*trees, strict=True)
    truth = ts.evaluate(f"f1({kind})", list(one), list(other))
    for name in ("FEW_CELLS_A_SECOND", "CELLS_A_SECOND", "PAIRS_A_SECOND"):
        monkeypatch.setattr(ordered, name, 10)
    found = ts.evaluate(f"f1({kind})", list(one), list(other), time_limit=10)
    low, high = found.bounds["f1"]
    assert not found.optimal
    assert found.unproven >= 1
    assert low <= truth.f1 <= high <= 1
    assert low < truth.f1 or kind == "top_down(exact)"


def _closure(nodes, source, target):
    """The definition: one more edge, until nothing changes."""
    reached = np.eye(nodes, dtype=bool)
    while True:
        further = reached.copy()
        for a, b in zip(source, target, strict=True):
            further[:, b] |= reached[:, a]
        if np.array_equal(further, reached):
            return reached
        reached = further


def test_reachability_is_that_of_the_definition_with_cycles_too():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        source, target = rng.integers(0, n, (2, int(rng.integers(0, 20))))
        assert np.array_equal(reachability(n, source, target), _closure(n, source, target))
    assert reachability(0, [], []).shape == (0, 0)


def test_reachability_of_a_large_graph_takes_no_cubic_time():
    began = time.process_time()
    n = 5000
    assert reachability(n, np.arange(n - 1), np.arange(1, n)).sum() == n * (n + 1) // 2
    assert time.process_time() - began < 2


def test_similarities_that_take_longer_than_the_limit_are_an_error_that_names_the_document():
    rng = random.Random(0)
    texts = [["".join(rng.choices("abcdef", k=400)) for _ in range(500)] for _ in range(2)]
    began = time.process_time()
    with pytest.raises(OutOfTime, match=r"documents short to long: .*time limit of 0.1 s.*raise the limit"):
        ts.evaluate(
            'f1(match(text("levenshtein")))',
            {"short": ["a"], "long": texts[0]},
            {"short": ["a"], "long": texts[1]},
            time_limit=0.1,
        )
    assert time.process_time() - began < 2
    with pytest.raises(OutOfTime):
        ts.evaluate(
            ts.f1(ts.match(ts.function(lambda a, b: time.sleep(0.01) or 0.5))),
            [list("abcdefgh")],
            [list("ijklmnop")],
            time_limit=0.05,
        )


def test_under_a_limit_that_does_not_strike_the_figures_are_the_same_bits():
    rng = random.Random(1)
    texts = [["".join(rng.choices("abc", k=9)) for _ in range(60)] for _ in range(4)]
    metric = 'f1(match(text("levenshtein")))'
    free, bound = (ts.evaluate(metric, texts[:2], texts[2:], time_limit=limit) for limit in (None, 60))
    assert free.rows.tobytes() == bound.rows.tobytes()
    assert str(free.metric) == str(bound.metric), "what has no bounds is not in the signature"


@pytest.mark.parametrize("wrong", [0, -1, True, "1", float("nan")])
def test_a_limit_is_a_number_of_seconds_above_0(wrong):
    with pytest.raises(MetricError, match="time_limit"):
        ts.evaluate("f1(match(exact))", [["a"]], [["a"]], time_limit=wrong)
    with pytest.raises(MetricError, match="time_limit"):
        ts.records([{"a": 1}], [{"a": 1}], time_limit=wrong)


def test_the_option_is_one_and_the_same_in_every_task_that_has_it():
    have = {}
    for name in task_names():
        for one in find_task(name).options("figures"):
            if one.name == "time_limit":
                have[name] = one
    assert set(have) == {"amr", "records", "calls"}
    assert {flag(one) for one in have.values()} == {"--time-limit"}
    assert len({one.metadata["option"].help for one in have.values()}) == 1


def test_the_command_says_which_documents_a_limit_struck(tmp_path):
    rng = random.Random(0)
    import json

    for side in ("gold", "system"):
        lines = [{"id": "small", "tree": _tree(rng, 3, 2)}, {"id": "huge", "tree": _tree(rng, 1500, 2)}]
        (tmp_path / f"{side}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    files = [str(tmp_path / f"{side}.jsonl") for side in ("gold", "system")]
    metric = "f1(each(tree=unordered(exact)))"
    done = run("score", "records", *files, "--metric", metric, "--time-limit", "0.2", "--format", "json")
    said = json.loads(done.stdout)["metrics"]["records"]
    assert said["optimal"] is False
    assert said["lower"]["f1"] == said["f1"] < said["upper"]["f1"]
    assert "limit=0.2" in said["signature"]
    (warning,) = json.loads(done.stdout)["warnings"]
    assert "1 of 2 documents are not proven optimal within the time limit" in warning
    assert re.search(r"\(huge 0\.\d{4} to [01]\.\d{4}\)$", warning)
    shown = run("score", "records", *files, "--metric", metric, "--time-limit", "0.2", "--by", "document")
    assert "within the time limit" in shown.stderr
    assert "huge" in shown.stderr
