"""What each kind of error costs: one kind alone brings the score to 1, no error changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.tasks.coreference import metrics as coreference
from tallystick.tasks.coreference.chains import chains_from_clusters, pair
from tallystick.tasks.coreference.conll import read_conll
from tallystick.tasks.coreference.metrics import KINDS, score_if_fixed
from tallystick.tasks.spans.files import corpus_from_python
from tallystick.tasks.spans.metrics import score as score_spans
from tallystick.tasks.spans.show import Outcome, align


def fixed(key, response):
    return score_if_fixed(pair(chains_from_clusters(key), chains_from_clusters(response)))


KEY = [[{1, 2, 3}, {4, 5}, {6}]]


@pytest.mark.parametrize(
    ("kind", "response"),
    [
        ("missing mention", [{1, 2}, {4, 5}, {6}]),
        ("extra mention", [{1, 2, 3, 9}, {4, 5}, {6}]),
        ("missing entity", [{1, 2, 3}, {6}]),
        ("extra entity", [{1, 2, 3}, {4, 5}, {6}, {7, 8}]),
        ("divided entity", [{1, 2}, {3}, {4, 5}, {6}]),
        ("conflated entity", [{1, 2, 3, 4, 5}, {6}]),
    ],
)
def test_one_kind_alone(kind, response):
    now, after = fixed(KEY, [response])
    assert now < 1
    assert now == pytest.approx(coreference.evaluate(KEY, [response])["conll"].f1)
    assert after[kind] == pytest.approx(1)
    for other in set(KINDS) - {kind}:
        assert after[other] == pytest.approx(now)


def test_a_span(tmp_path):
    def written(name, cells):
        path = tmp_path / name
        rows = "".join(f"d 0 {k} w{k} {cell}\n" for k, cell in enumerate(cells))
        path.write_text(f"#begin document (d); part 000\n{rows}\n#end document\n")
        return read_conll(path)

    pairs = pair(written("key", ["(0", "0)", "(0)"]), written("response", ["(0)", "-", "(0)"]))
    now, after = score_if_fixed(pairs)
    assert now < 1
    assert after["span error"] == pytest.approx(1)
    assert after["missing mention"] == pytest.approx(now)


partitions = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(
    lambda owners: [{k for k, owner in enumerate(owners) if owner == e} for e in range(4) if e in owners]
)


@given(st.lists(st.tuples(partitions, partitions), min_size=1, max_size=3))
def test_repairs_without_errors_change_nothing(documents):
    from tallystick.tasks.coreference.metrics import find_errors

    pairs = pair(*(chains_from_clusters(list(side)) for side in zip(*documents, strict=True)))
    now, after = score_if_fixed(pairs)
    for kind in find_errors(pairs):
        assert 0 <= after[kind.error] <= 1 + 1e-9
        if kind.count == 0:
            assert after[kind.error] == pytest.approx(now)


def test_segments():
    gold = [[(0, 2, "PER"), (3, 4, "LOC"), (5, 6, "ORG"), (7, 8, "PER")]]
    guess = [[(0, 1, "PER"), (3, 4, "ORG"), (5, 6, "ORG"), (9, 10, "LOC")]]
    corpus = corpus_from_python(gold, guess, lengths=[12])
    now, after = align(corpus.texts).f1_if_fixed()
    assert now == score_spans(corpus, ("segment",))["segment"].f1 == 0.25
    assert after[Outcome.BOUNDARY] == after[Outcome.TYPE] == 0.5
    assert after[Outcome.MISSED] == pytest.approx(2 * 2 / 9)
    assert after[Outcome.SPURIOUS] == pytest.approx(2 / 7)
