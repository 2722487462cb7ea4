"""UAS and LAS as expressions of the algebra (eq. 11, 12) are those of the UD evaluation where the words are the same."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.structures.texts import Dependency
from tallystick.tasks.dependencies import metrics as dependencies
from tallystick.tasks.dependencies.files import parse_conllu, read_conllu

RELATIONS = ("nsubj", "obj", "det", "punct")


def make_sentence(rng, size):
    order = rng.sample(range(size), size)
    heads = [0] * size
    for at in range(1, size):
        heads[order[at]] = order[rng.randrange(at)] + 1
    return [Dependency(head, dep, rng.choice(RELATIONS) if head else "root") for dep, head in enumerate(heads, 1)]


def write(sentences):
    lines = ["".join(f"{e.dep}\tx\t_\tX\t_\t_\t{e.gov}\t{e.rel}\t_\t_\n" for e in edges) for edges in sentences]
    return "".join(f"{text}\n" for text in lines)


@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 8), min_size=1, max_size=5))
def test_the_expressions_equal_the_ud_evaluation_on_the_same_words(rng, sizes):
    rng = Random(rng.random())
    gold, guess = ([make_sentence(rng, size) for size in sizes] for _ in range(2))
    counted = dependencies.score(*(parse_conllu(write(side)) for side in (gold, guess)), ["uas", "las"])
    for name, expression in (("uas", dependencies.UAS), ("las", dependencies.LAS)):
        derived = ts.evaluate(expression, gold, guess)
        tally = counted[name].tally
        assert (derived.tally["num_p"], derived.tally["den_p"], derived.tally["den_r"]) == (
            tally["num_p"], tally["den_p"], tally["den_r"]
        )  # fmt: skip
        assert derived.f1 == pytest.approx(counted[name].f1)


@pytest.mark.parametrize("name", ["german", "spanish", "generated-11", "generated-12"])
def test_counts_of_aligned_pairs_are_those_of_the_expressions(name):
    folder = Path(__file__).parents[1] / "parity" / "ud"
    found = dependencies.score(*(read_conllu(folder / f"{name}.{side}.conllu") for side in ("reference", "predicted")))
    expressions = {name: metric for name, metric in dependencies.METRICS.items() if metric.expression is not None}
    assert {"words", "upos", "xpos", "ufeats", "alltags", "uas", "las"} == set(expressions)
    for name, metric in expressions.items():
        result = found[name]
        assert result.expression == metric.expression
        derived = ts.evaluate(metric.expression, *result.documents_kept[0])
        np.testing.assert_array_equal(result.rows[:, :4], derived.rows)
        assert result.explain(result.ids[0]).children
