import random

import numpy as np
import pytest

from tallystick.errors import MetricError
from tallystick.tasks.spans.counts import annotate, count_scheme
from tallystick.tasks.spans.metrics import f_beta as f1
from tallystick.tasks.spans.metrics import precision, recall

FIVE = ("correct", "incorrect", "partial", "missed", "spurious")


def five(counts):
    return tuple(int(getattr(counts, name).sum()) for name in FIVE)


@pytest.mark.parametrize(
    ("gold", "guess", "strict", "exact", "partial", "type_"),
    [
        ([(0, 2, "A")], [(0, 2, "A")], (1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 0, 0)),
        ([(0, 2, "A")], [(0, 2, "B")], (0, 1, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (0, 1, 0, 0, 0)),
        ([(0, 2, "A")], [(1, 2, "A")], (0, 1, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (1, 0, 0, 0, 0)),
        ([(0, 2, "A")], [(1, 2, "B")], (0, 1, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0)),
        ([(0, 2, "A")], [(3, 4, "A")], (0, 0, 0, 1, 1), (0, 0, 0, 1, 1), (0, 0, 0, 1, 1), (0, 0, 0, 1, 1)),
    ],
)
def test_the_table_of_schemes(gold, guess, strict, exact, partial, type_):
    texts = annotate([gold], [guess], [5])
    found = [five(count_scheme(texts, scheme)) for scheme in ("strict", "exact", "partial", "type")]
    assert found == [strict, exact, partial, type_]


def test_partial_counts_half():
    counts = count_scheme(annotate([[(0, 2, "A"), (3, 4, "A")]], [[(1, 2, "A")]], [5]), "partial").as_counts()
    assert precision(counts)[0, 0] == 0.5
    assert recall(counts)[0, 0] == 0.25


def test_strict_does_not_depend_on_the_order_of_overlapping_predictions():
    """nervaluate gives .667 or 0."""
    for guess in ([(0, 2, "A"), (1, 3, "A")], [(1, 3, "A"), (0, 2, "A")]):
        counts = count_scheme(annotate([[(0, 2, "A")]], [guess], [3]), "strict").as_counts()
        assert f1(counts)[0, 0] == pytest.approx(2 / 3)


def test_unknown_scheme():
    with pytest.raises(MetricError, match='Did you mean "partial"'):
        count_scheme(annotate([[]], [[]]), "partal")  # type: ignore[arg-type]


def flat_spans(rng, length=12):
    spans, i = [], 0
    while i < length:
        size = rng.randrange(1, 4)
        if rng.random() < 0.4 and i + size <= length:
            spans.append((i, i + size, rng.choice("AB")))
            i += size
        else:
            i += 1
    return spans


def test_flat_data_agrees_with_nervaluate():
    nervaluate = pytest.importorskip("nervaluate")
    rng = random.Random(2)
    gold, guess = ([flat_spans(rng) for _ in range(2000)] for _ in range(2))
    texts = annotate(gold, guess, [12] * 2000)

    def listed(side):
        return [[{"label": tag, "start": start, "end": end - 1} for start, end, tag in text] for text in side]

    results = nervaluate.Evaluator(listed(gold), listed(guess), tags=["A", "B"], loader="dict").evaluate()
    for scheme in ("strict", "exact", "partial"):
        theirs = results["overall"][scheme]
        assert five(count_scheme(texts, scheme)) == tuple(getattr(theirs, name) for name in FIVE)
        by_tag = count_scheme(texts, scheme, "corpus", by_tag=True)
        for column, tag in enumerate(by_tag.tags):
            theirs = results["entities"][tag][scheme]
            assert [getattr(by_tag, name)[0, column] for name in FIVE] == [getattr(theirs, name) for name in FIVE]
        assert f1(count_scheme(texts, scheme, "corpus").as_counts())[0, 0] == pytest.approx(
            results["overall"][scheme].f1
        )
    # its greedy choice finds fewer correct types than there are
    ours = count_scheme(texts, "type", "corpus")
    assert np.sum(ours.correct) >= results["overall"]["ent_type"].correct
