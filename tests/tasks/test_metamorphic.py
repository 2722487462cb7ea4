"""Relations between evaluations, for every metric of every task; `python -m benchmarks.metamorphic` is the long run."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.corpora import MADE
from benchmarks.metamorphic import (
    EXEMPT,
    OF_DATA,
    OF_FILES,
    SLOW,
    Tally,
    as_files,
    exemption,
    in_other_formats,
    in_parts,
    in_shards,
    report,
    try_relations,
)  # fmt: skip
from tallystick.errors import MetricError
from tallystick.tasks.contract import task_names

APART = {
    "coreference": {"zeros", "bridging_anaphors", "split_antecedents"},
    "events": {"rams", "srl", "arg_i_coref", "arg_c_coref", "gen_arg_i_coref", "gen_arg_c_coref", "gen_arg_i_head_coref", "gen_arg_c_head_coref"},
    "spans": {"semeval", "nervaluate"},
}  # fmt: skip
"""Metrics of one format or one more file (CorefUD, RAMS, props of CoNLL, --coreference), and names that stand for several metrics."""


def tried(kind: str, relations, examples: int) -> Tally:
    tally = Tally(Counter(), set(), 0, {}, Counter())
    try_relations(kind, relations, examples, seed=1, tally=tally)
    return tally


@pytest.mark.parametrize("kind", MADE)
def test_relations_hold(kind: str) -> None:
    """Parts and wholes have a test of their own."""
    tally = tried(kind, [one for one in OF_DATA if one is not in_parts], 2)
    assert {key: found for key, found in tally.broken.items() if not exemption(*key)} == {}
    assert len(tally.cases) == len(OF_DATA) - 1


@pytest.mark.parametrize("kind", MADE)
def test_files_and_shards_have_the_same_figures(kind: str) -> None:
    tally = tried(
        kind, [as_files, in_other_formats, in_shards], 2 if kind in ("relations", "coreference", "amr", "calls") else 1
    )
    assert {key: found for key, found in tally.broken.items() if not exemption(*key)} == {}


@pytest.mark.parametrize("task", sorted(set(task_names()) - {"records"}))
def test_no_metric_is_left_out(task: str) -> None:
    """Every name that a task knows is asked for by a kind of documents, or it is named above."""
    known: set[str] = set()

    def ask(case):
        given = {name: value for name, value in case.options.items() if name != "k1"}
        with pytest.raises(MetricError, match="there are ") as refused:
            case.score(options={**given, "metrics": ("?",)})
        known.update(re.search(r"there are ([^.]*)\.", str(refused.value))[1].split(", "))
        yield from ()

    kinds = [kind for kind, made in MADE.items() if made.task == task]
    asked = {metric for kind in kinds for _, metric in tried(kind, [ask], 1).metrics}
    assert len(known) > 1
    assert known - asked == APART.get(task, set())


def test_a_broken_relation_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    def nothing_is_right(case):
        yield from ((name, "broken") for name in case.whole)

    tally = tried("roles", [nothing_is_right], 1)
    assert report(tally) == len(tally.metrics) > 5
    assert "BROKEN: roles ceaf_ree nothing_is_right, 1 cases" in capsys.readouterr().out


def test_exemptions_name_what_is_there() -> None:
    relations = {one.__name__ for one in (*OF_DATA, *OF_FILES, *SLOW)}
    assert {relation for _, _, relation in EXEMPT} <= relations
    assert {kind for kind, _, _ in EXEMPT} <= set(MADE)
    assert set(task_names()) == {made.task for made in MADE.values()}
