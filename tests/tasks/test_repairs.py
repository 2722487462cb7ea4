"""What each kind of error costs: one kind alone brings the score to 1, no error changes nothing."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.results.mistakes import Analysis, Many, count_kinds
from tallystick.tasks.contract import Reading, Scored, find_task
from tallystick.tasks.coreference import metrics as coreference
from tallystick.tasks.coreference import show
from tallystick.tasks.coreference.chains import chains_from_clusters, pair
from tallystick.tasks.coreference.files import read_conll
from tallystick.tasks.coreference.metrics import PLAIN
from tallystick.tasks.coreference.show import KINDS, score_mended
from tallystick.tasks.mending import find_errors
from tallystick.tasks.spans.files import corpus_from_python
from tallystick.tasks.spans.metrics import score as score_spans


def fixed(task, corpus, metric):
    """F1 as it is, and if each kind of error were repaired: what `--errors` prints."""
    task = find_task(task)
    found = find_errors(task, Scored(corpus, task.evaluate(corpus, (metric,), task.Settings())), task.Settings())
    return found.figures[metric]["f1"], {kind.kind: kind.mended[metric]["f1"] for kind in found.kinds}


def repaired(pairs):
    """The CoNLL score with each kind repaired, also of kinds that do not occur."""
    return {kind: score_mended(pairs, (kind,), ("conll",), PLAIN)["conll"].f1 for kind in KINDS}


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
    pairs = pair(chains_from_clusters(KEY), chains_from_clusters([response]))
    now, after = fixed("coreference", pairs, "conll")
    assert after == repaired(pairs)
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
    now, after = fixed("coreference", pairs, "conll")
    assert after == repaired(pairs)
    assert now < 1
    assert after["span error"] == pytest.approx(1)
    assert after["missing mention"] == pytest.approx(now)


partitions = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(
    lambda owners: [{k for k, owner in enumerate(owners) if owner == e} for e in range(4) if e in owners]
)


@given(st.lists(st.tuples(partitions, partitions), min_size=1, max_size=3))
def test_repairs_without_errors_change_nothing(documents):
    pairs = pair(*(chains_from_clusters(list(side)) for side in zip(*documents, strict=True)))
    now, after = fixed("coreference", pairs, "conll")
    again = repaired(pairs)
    assert again == pytest.approx(after)  # a kind that does not occur has the score as it is
    for kind, found in show.find_errors(pairs).items():
        assert 0 <= again[kind] <= 1 + 1e-9
        if not found:
            assert again[kind] == pytest.approx(now)


def test_segments():
    gold = [[(0, 2, "PER"), (3, 4, "LOC"), (5, 6, "ORG"), (7, 8, "PER")]]
    guess = [[(0, 1, "PER"), (3, 4, "ORG"), (5, 6, "ORG"), (9, 10, "LOC")]]
    corpus = corpus_from_python(gold, guess, lengths=[12])
    now, after = fixed("spans", corpus, "segment")
    assert now == score_spans(corpus, ("segment",))["segment"].f1 == 0.25
    assert after["boundary"] == after["type"] == 0.5
    assert after["missed"] == pytest.approx(2 * 2 / 9)
    assert after["spurious"] == pytest.approx(2 / 7)


MORE = (*coreference.METRICS, *coreference.VARIANTS)


def random_clusters(rng, documents):
    """Both sides of some documents; mentions are spans, so that some of them only overlap."""
    sides = [[], []]
    for _ in range(documents):
        spans = [(a, a + rng.choice((1, 1, 2, 3))) for a in range(rng.randint(0, 25))]
        for side in sides:
            clusters = [[] for _ in range(rng.randint(1, 6))]
            for span in rng.sample(spans, rng.randint(0, len(spans))):
                rng.choice(clusters).append(span)
            side.append([one for one in clusters if one])
    return sides


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", [PLAIN, coreference.CoreferenceOptions(singletons=False)], ids=["all", "larger"])
def test_all_mended_corpora_are_scored_as_each_by_itself(seed, options):
    task = find_task("coreference")
    key, response = random_clusters(random.Random(seed), 30)
    sides = task.take(key, response, task.Settings())[:2]
    pairs = task.read(*sides, task.Settings(), Reading())
    assert len(show.find_error_rows(pairs, options)[1]["span error"]) > 3
    for kinds in (*((kind,) for kind in KINDS), KINDS):
        together = score_mended(pairs, kinds, MORE, options)
        prepared = show.mended(pairs, kinds, options)
        table = prepared.overlaps  # once more without the twins that are known, and without gaps between entities
        sides = (side.without_gaps().by_document() for side in (table.key, table.response))
        alone = coreference.score_prepared(
            replace(prepared, overlaps=coreference.Overlaps(*sides, table.documents)), MORE
        )
        for name, result in alone.items():
            assert np.array_equal(result.rows, together[name].rows), (kinds, name)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_those_of_the_expressions(seed):
    key, response = random_clusters(random.Random(seed), 40)
    results = coreference.evaluate(*([[set(one) for one in document] for document in side] for side in (key, response)))
    for name in ("mentions", "muc", "ceaf_m", "ceaf_e"):
        found = ts.evaluate(results[name].metric, *([list(map(list, one)) for one in side] for side in (key, response)))
        assert np.allclose(found.rows, results[name].rows, rtol=0, atol=1e-12), name
        assert found.rows.sum() > 0


@pytest.mark.parametrize("limit", [None, 3, 1000])
def test_mistakes_made_when_somebody_looks_are_as_those_made_at_once(limit):
    task = find_task("coreference")
    key, response = random_clusters(random.Random(7), 30)
    pairs = task.read(*task.take(key, response, task.Settings())[:2], task.Settings(), Reading())
    later = find_errors(task, Scored(pairs, task.evaluate(pairs, ("conll",), task.Settings())), task.Settings())
    assert isinstance(later.mistakes, Many)
    every = tuple(later.mistakes)
    assert (len(every), every[-1], every[2:4]) == (len(later.mistakes), later.mistakes[-1], tuple(later.mistakes[2:4]))
    with pytest.raises(IndexError):
        later.mistakes[len(every)]
    says = {kind.kind: kind.says for kind in later.kinds}
    mended = {kind.kind: kind.mended for kind in later.kinds}
    at_once = count_kinds(
        replace(later, mistakes=every),
        says,
        lambda some: mended[some[0].kind] if len(some) < len(every) else later.mended,
    )
    assert at_once.kinds == later.kinds
    assert Analysis(at_once, limit).as_dict() == Analysis(later, limit).as_dict()
    assert list(map(str, Analysis(at_once, limit))) == list(map(str, Analysis(later, limit)))
