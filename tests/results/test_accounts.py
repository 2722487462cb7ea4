"""What goes into a tally depends on nothing but the documents: not on batches, order, parts or workers."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from strategies import corpora, effort, metrics
from tallystick.engine.tally import Counts, MeanOf
from tallystick.errors import MetricError, SidesMismatch, TallystickError
from tallystick.results.accounts import Account
from tallystick.results.evaluation import Evaluation
from tallystick.results.result import Result
from tallystick.tasks.coreference import metrics as coreference
from tallystick.tasks.spans import metrics as spans

KINDS = {
    "f1": Counts(),
    "two numerators": Counts(one=False),
    "jaccard": Counts("jaccard"),
    "f2": Counts("f2", 2.0),
    "blanc": coreference.BlancLinks(),
    "conll": coreference.METRICS["conll"].kind,
    "mean of means": MeanOf((("a", Counts()), ("b", coreference.BlancLinks()))),
    "tags": spans.TagTables(("A", "B"), "macro"),
    "scheme": spans.SchemeTables(("A", "B")),
}
VALUES = st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.1, 0.2, 0.3, 1 / 3, 7.7])


def figures_of(result):
    """Every figure of a corpus, to the last bit."""
    out = {
        "figures": result.figures, "averages": result.averages, "count": result.count, "sums": result.sums.tolist(),
        "exact": result.exact_documents, "bounds": result.bounds, "warnings": result.warnings,
    }  # fmt: skip
    return repr(out)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_parts_in_any_order_have_the_figures_of_the_whole(name, data):
    kind = KINDS[name]
    columns = len(kind.sums)
    rows = np.array(data.draw(st.lists(st.tuples(*[VALUES] * columns), min_size=1, max_size=9)), np.float64)
    places = data.draw(st.permutations(range(len(rows))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    parts = [list(places[a:b]) for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    total = Account.nothing(kind)
    for part in parts:
        total += Account.of(kind, rows[part])
    for undefined in (None, 0.0, 1.0):
        whole = Result("x", kind, rows, tuple(range(len(rows))), undefined)
        assert figures_of(Result("x", kind, total.totals, (), undefined)) == figures_of(whole)


@effort(1.0)
@given(st.data())
def test_a_documents_row_depends_on_that_document_alone(data):
    shape = data.draw(metrics())
    reference, predicted = data.draw(corpora(shape, 6))
    try:
        whole = ts.evaluate(shape.node, reference, predicted)
    except TallystickError:
        return  # a field that no document has, an infinity in a sum: said, and tested elsewhere
    order = data.draw(st.permutations(range(len(reference))))
    other = ts.evaluate(shape.node, [reference[k] for k in order], [predicted[k] for k in order], batch=1)
    assert other.rows.tobytes() == whole.rows[list(order)].tobytes()
    assert figures_of(other) == figures_of(whole)


WORDS = ["acme", "globex", "initech", "umbrella corp", "stark", "wayne ltd", "hooli", "acme inc"]


@dataclass
class Line:
    kind: str
    name: Annotated[str, ts.text("levenshtein")]
    tags: list[str]
    price: float


def documents(seed, count=24, most=40):
    r = random.Random(seed)

    def line():
        return Line(r.choice("xyz"), r.choice(WORDS), r.sample(WORDS, r.randint(0, 3)), r.random())

    return [[line() for _ in range(r.randint(0, most))] for _ in range(count)]


EXPRESSIONS = {
    "all or nothing": ts.derive(list[Line]),
    "credit for each": ts.derive(list[Line], credit="each"),
    "one-sided": ts.f1(ts.match(ts.record(kind=ts.exact, name=ts.text("indel")), "N:1")),
    "N:N": ts.precision(ts.match(ts.record(kind=ts.exact, name=ts.text("indel")), "N:N")),
    "sequence": ts.f1(ts.sequence(ts.record(kind=ts.exact, name=ts.text("jaro_winkler")))),
    "sides": ts.sides(
        precision=ts.precision(ts.match(ts.record(kind=ts.exact, name=ts.text("indel")))),
        recall=ts.recall(ts.match(ts.record(kind=ts.exact, name=ts.text("levenshtein")))),
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_large_documents_with_many_ties_and_fractions_do_not_depend_on_the_batch(name):
    metric = EXPRESSIONS[name]
    reference, predicted = documents(1), documents(2)
    whole = ts.evaluate(metric, reference, predicted, batch=1000)
    for batch in (1, 5):
        other = ts.evaluate(metric, reference, predicted, batch=batch)
        assert other.rows.tobytes() == whole.rows.tobytes()


@pytest.mark.parametrize("batch", [1, 5, 24])
def test_without_rows_only_the_sums_stay_and_every_figure_is_the_same(batch):
    metric = ts.derive(list[Line], credit="each")
    reference, predicted = documents(1), documents(2)
    whole = Evaluation(metric, fields=True)
    whole.update(reference, predicted)
    run = Evaluation(metric, rows=False, fields=True, labels="[*].kind")
    for k in range(0, len(reference), batch):
        run.update(reference[k : k + batch], predicted[k : k + batch])
    result, expected = run.compute(), whole.compute()
    assert figures_of(result) == figures_of(expected)
    assert result.by_field() == expected.by_field()
    assert result.by_label("[*].kind") == expected.by_label("[*].kind")
    assert result.left_out == expected.left_out
    assert result.as_dict() == expected.as_dict()
    assert result.signature == expected.signature
    assert not result.ids
    assert not len(run.rows)
    with pytest.raises(MetricError, match="kept no documents, only their sums"):
        _ = result.rows


def test_what_needs_the_rows_says_so():
    run = Evaluation(ts.f1(ts.match(ts.exact)), rows=False)
    run.update([["a"]], [["a"]])
    with pytest.raises(MetricError, match="keep the rows"):
        _ = run.compute().documents
    with pytest.raises(MetricError, match="kept no documents"):
        run.compute().explain(0)
    other = Evaluation(ts.f1(ts.match(ts.exact)))
    with pytest.raises(MetricError, match="rows=False"):
        run.merge(other)


def test_a_changed_result_counts_nothing():
    counted = []
    from tallystick.results.result import Later

    result = Result("x", Counts(), Later(lambda: counted.append(1), np.array([1.0, 2, 1, 2])), ("a",))
    assert result.changed(undefined=0.0).f1 == 0.5
    assert result.changed(notes=("said",)).warnings == ("said",)
    assert not counted


def test_labels_of_parts_are_joined():
    first = spans.evaluate([["B-X", "O"]], [["B-X", "B-Y"]])["segment"]
    second = spans.evaluate([["B-Z", "O"]], [["B-X", "O"]])["segment"]
    both = spans.evaluate([["B-X", "O"], ["B-Z", "O"]], [["B-X", "B-Y"], ["B-X", "O"]])["segment"]
    joined = Account.of(first.kind, first.rows) + Account.of(second.kind, second.rows)
    assert joined.kind == both.kind
    assert joined.totals.sums.tolist() == both.sums.tolist()


@given(st.integers(0, 10**6))
def test_weighted_tokens_do_not_depend_on_what_stands_before(seed):
    r = random.Random(seed)
    tags = [[r.choice(["B-X", "I-X", "O", "B-Y"]) for _ in range(r.randint(1, 6))] for _ in range(8)]
    other = [[r.choice(["B-X", "I-X", "O", "B-Y"]) for _ in text] for text in tags]
    weights = [[r.random() for _ in text] for text in tags]
    whole = spans.evaluate(tags, other, ["token", "ts"], token_weights=weights)
    for name in ("token", "ts"):
        total = None
        for k in range(0, 8, 3):
            part = spans.evaluate(tags[k : k + 3], other[k : k + 3], ["token", "ts"], token_weights=weights[k : k + 3])
            account = Account.of(part[name].kind, part[name].rows)
            total = account if total is None else total + account
        assert dict(zip(total.kind.sums, total.totals.sums, strict=True)) == whole[name].tally


# Executors


def test_any_executor_gives_the_same_result_with_documents_and_breakdowns():
    metric = ts.derive(list[Line], credit="each")
    reference = {f"d{k}": one for k, one in enumerate(documents(1))}
    predicted = {f"d{k}": one for k, one in enumerate(documents(2))}
    plain = ts.evaluate(metric, reference, predicted)
    seen = []
    with ThreadPoolExecutor(3) as pool:
        result = ts.evaluate(
            metric,
            reference,
            predicted,
            executor=pool,
            batch=3,
            progress=lambda done, total: seen.append((done, total)),
        )
    assert result.rows.tobytes() == plain.rows.tobytes()
    assert result.ids == plain.ids
    assert figures_of(result) == figures_of(plain)
    assert result.by_field() == plain.by_field()
    assert result.explain("d3").weight == plain.explain("d3").weight
    assert seen[-1] == (24, 24)


def test_an_executor_changes_no_error():
    with ThreadPoolExecutor(2) as pool, pytest.raises(SidesMismatch, match="documents"):
        ts.evaluate("f1(match(exact))", [["a"]], [], executor=pool)
