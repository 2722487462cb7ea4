"""A real figure of another scorer for every task, in any clone: inputs of our own, and what the peer itself answered (`python -m benchmarks.parity record`)."""

import json
from pathlib import Path

import pytest

from benchmarks.parity.made import draw
from benchmarks.parity.ours import differences
from tallystick.tasks.contract import task_names

HERE = Path(__file__).parent
MADE = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted((HERE / "made").glob("*.json"))}
ELSEWHERE = {
    "dependencies": "test_ud_parity.py",  # udtools 0.2.9 on files of our own
    "hierarchies": "../tasks/test_hierarchies.py",  # the figures that Araki et al. (2014) print for Table 1
}
ROUNDED = {"relations": 1e-6, "nary": 1e-6}
"""Peers that print six decimals."""


def test_every_task_has_a_figure():
    assert {*MADE, *ELSEWHERE} == set(task_names())
    assert all((HERE / file).is_file() for file in ELSEWHERE.values())


@pytest.mark.parametrize("task", MADE)
def test_the_peers_figures(task):
    cases = MADE[task]["cases"]
    assert len(cases) == 8
    assert len({json.dumps(case["expected"]) for case in cases}) > 1, "all cases say the same"
    for case in cases:
        assert not differences(task, case["reference"], case["predicted"], case["expected"], ROUNDED.get(task, 1e-12))


@pytest.mark.parametrize("task", MADE)
def test_the_inputs_are_those_that_are_drawn(task):
    """So that nobody mends a case by hand. Tuples are lists in JSON."""
    drawn = json.loads(json.dumps(draw(task)))
    assert [[case["reference"], case["predicted"]] for case in MADE[task]["cases"]] == drawn


@pytest.mark.parametrize("task", MADE)
def test_another_figure_would_be_noticed(task):
    case = MADE[task]["cases"][0]
    changed = {metric: {name: value + 0.01 for name, value in one.items()} for metric, one in case["expected"].items()}
    assert differences(task, case["reference"], case["predicted"], changed, 1e-6)
