"""An evaluation in parts is the whole to the last bit: for every task, however the documents are cut, whoever scores the parts, and in
whatever order they are put together."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tallystick as ts
from benchmarks.corpora import MADE
from running import run as run_command
from running import write
from tallystick.errors import MetricError, SidesMismatch
from tallystick.tasks.contract import task_names

DOCUMENTS = {
    kind: (made, next(iter(made.variants.values())))
    for kind, made in MADE.items()
    if made.task != "calls"
}  # fmt: skip


def test_no_task_is_left_out() -> None:
    """The shape of the arguments of calls is that of all logs, which is said."""
    assert {made.task for made, _ in DOCUMENTS.values()} == set(task_names()) - {"calls"}
    with pytest.raises(MetricError, match="all documents have to be given to ts"):
        ts.Evaluation(task="calls")


def assert_same(found: ts.Results, whole: ts.Results) -> None:
    """Everything that is counted, to the last bit."""
    assert found.figures == whole.figures
    assert found.table() == whole.table()
    for name, result in whole.items():
        other = found[name]
        assert other.called == name
        assert (other.count, other.ids, other.tally) == (result.count, result.ids, result.tally)
        np.testing.assert_array_equal(other.rows, result.rows)
        assert (other.averages, other.exact_documents) == (result.averages, result.exact_documents)
        assert other.signature == result.signature


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_the_sum_of_the_parts_is_the_whole(kind: str) -> None:
    made, options = DOCUMENTS[kind]
    task = made.task
    function: Callable[..., ts.Results] = getattr(ts, task)

    @settings(max_examples=3, deadline=None, phases=[Phase.reuse, Phase.generate])
    @given(st.lists(made.pairs, min_size=2, max_size=6), st.data())
    def parts_add_up(documents: list[tuple[Any, Any]], data: st.DataObject) -> None:
        ids = [f"d{k}" for k in range(len(documents))]
        cuts = sorted(data.draw(st.sets(st.integers(1, len(documents) - 1), min_size=1)))
        slices = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(documents)], strict=True)]

        def sides(part: slice) -> tuple[Any, Any]:
            return tuple(made.lay(ids[part], [pair[k] for pair in documents[part]]) for k in (0, 1))

        whole = function(*sides(slice(None)), **options)
        run = ts.Evaluation(task=task, **options)
        for part in slices:
            assert run.update(*sides(part)).count == part.stop - part.start
        assert_same(run.compute(), whole)
        first, *others = (ts.Evaluation(task=task, **options) for _ in slices)
        for one, part in zip((first, *others), slices, strict=True):
            one.update(*sides(part))
        for other in others:
            first.merge(pickle.loads(pickle.dumps(other)))
        assert_same(first.compute(), whole)
        assert_same(reduce(add, (function(*sides(part), **options) for part in slices)), whole)
        lean = ts.Evaluation(task=task, keep=False, rows=False, **options)
        for part in data.draw(st.permutations(slices)):
            lean.update(*sides(part))
        assert lean.compute().figures == whole.figures

    parts_add_up()


def test_documents_without_names_are_numbered_on() -> None:
    first, second = (["B-A", "O"], ["B-A", "B-B"]), (["B-B"], ["B-A"])
    both = ts.spans(*([one[k] for one in (first, second)] for k in (0, 1)))
    found = ts.spans([first[0]], [first[1]]) + ts.spans([second[0]], [second[1]])
    assert_same(found, both)


def test_what_cannot_be_put_together_is_refused_and_leaves_nothing_behind() -> None:
    run = ts.Evaluation(task="spans", metrics="segment")
    with pytest.raises(MetricError, match="no documents yet"):
        run.compute()
    run.update({"a": ["B-A"]}, {"a": ["B-A"]})
    before = run.compute()
    with pytest.raises(SidesMismatch, match='duplicate documents: "a"'):
        run.update({"a": ["O"], "b": ["O"]}, {"a": ["O"], "b": ["B-A"]})
    with pytest.raises(MetricError, match="different tasks, metrics or options"):
        run.merge(ts.Evaluation(task="spans", metrics="token"))
    with pytest.raises(MetricError, match="same metric or task"):
        run.merge(ts.Evaluation("f1(match(exact))"))  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="different metrics cannot be added"):
        _ = before + ts.spans(["B-A"], ["B-A"], "token")
    with pytest.raises(MetricError, match="different tasks or options"):
        _ = before + ts.spans({"c": ["B-A"]}, {"c": ["B-A"]}, "segment", average="macro")
    assert_same(run.compute(), before)


def test_what_joins_documents_is_one_call() -> None:
    with pytest.raises(MetricError, match='scope="corpus" joins documents'):
        ts.Evaluation(task="coreference", scope="corpus")
    one = ts.coreference([[(0, 1)]], [[(0, 1)]], scope="corpus")
    with pytest.raises(MetricError, match="score all documents in one call"):
        _ = one + one


def test_a_task_that_is_not_there_and_an_option_that_is_not_there() -> None:
    with pytest.raises(MetricError, match="no task 'span'"):
        ts.Evaluation(task="span")
    with pytest.raises(MetricError, match="no option 'beta1'"):
        ts.Evaluation(task="spans", beta1=1)
    with pytest.raises(MetricError, match="not both"):
        ts.Evaluation("f1(match(exact))", task="spans")  # type: ignore[call-overload]


def test_what_was_merged_can_still_be_looked_at() -> None:
    run = ts.Evaluation(task="relations")
    for key, type_ in (("a", "A"), ("b", "B")):
        one = {"type": type_, "subj": {"start": 0, "end": 1, "type": "X"}, "obj": {"start": 2, "end": 3, "type": "Y"}}
        run.update([{"id": key, "relations": [one]}], [{"id": key, "relations": []}])
    found = run.compute()
    assert "missed" in str(found.explain("b"))
    assert [row[0] for row in found.by("label")[0].rows] == ["A", "B"]
    assert {row[0] for row in found.by("document").rows} == {"a", "b"}
    with pytest.raises(MetricError, match="need the documents of one call"):
        found.errors()
    lean = ts.Evaluation(task="relations", keep=False, rows=False, labels="type")
    lean.update([{"id": "a", "relations": []}], [{"id": "a", "relations": []}])
    assert lean.compute().count == 1


def test_a_name_that_no_part_has_is_said() -> None:
    one = {"type": "spouse", "subj": {"start": 0, "end": 1, "type": "X"}, "obj": {"start": 2, "end": 3, "type": "Y"}}
    run = ts.Evaluation(task="relations", metrics="boundaries", symmetric=["spouse", "sibling"])
    batch = run.update({"a": {"relations": []}}, {"a": {"relations": []}})
    assert batch.warnings[-1] == "no document so far has sibling, spouse, which the options name"
    run.update({"b": {"relations": [one]}}, {"b": {"relations": [one]}})
    assert run.compute().warnings == ("no document so far has sibling, which the options name",)
    with pytest.raises(MetricError, match=r"symmetric= ?sibling: no relation"):
        ts.relations({"b": {"relations": [one]}}, {"b": {"relations": [one]}}, symmetric=["spouse", "sibling"])


def test_parts_that_rest_on_something_else_are_refused() -> None:
    """Each part alone has other roles, links or a shape than all of them together would have."""
    run = ts.Evaluation(task="nary")
    run.update([{"id": "a", "relations": [{"args": {"A": [[0, 1]], "B": [[2, 3]]}}]}], [{"id": "a", "relations": []}])
    before = run.compute()
    with pytest.raises(MetricError, match="depend on the roles of all documents; here they are A, B, and there A, C"):
        run.update(
            [{"id": "b", "relations": [{"args": {"A": [[0, 1]], "C": [[2, 3]]}}]}], [{"id": "b", "relations": []}]
        )
    assert_same(run.compute(), before)
    with pytest.raises(MetricError, match="depend on the schema"):
        _ = ts.records([{"id": "a", "x": 1}], [{"id": "a", "x": 1}]) + ts.records(
            [{"id": "b", "y": "z"}], [{"id": "b", "y": "z"}]
        )
    with pytest.raises(MetricError, match="relations have the role 'C' too"):
        ts.nary(
            [{"id": "b", "relations": [{"args": {"A": [[0, 1]], "C": [[2, 3]]}}]}],
            [{"id": "b", "relations": []}],
            roles=["A"],
        )


def test_a_batch_without_items_takes_the_metrics_of_the_others(tmp_path: Path) -> None:
    """It cannot tell whether arguments have types or heads; whichever comes first."""
    one = {"type": "A", "subj": {"start": 0, "end": 1, "type": "X"}, "obj": {"start": 2, "end": 3, "type": "Y"}}
    batches = [[{"id": "a", "relations": []}], [{"id": "b", "relations": [one]}], [{"id": "c", "relations": []}]]
    documents = [document for batch in batches for document in batch]
    whole = ts.relations(documents, documents, heads="last")
    assert {"strict", "head"} < set(whole)
    for order in ([0, 1, 2], [1, 0, 2], [0, 2, 1]):
        run = ts.Evaluation(task="relations", heads="last")
        for k in order:
            run.update(batches[k], batches[k])
        assert run.compute().figures == whole.figures
        assert reduce(add, (ts.relations(batches[k], batches[k], heads="last") for k in order)).figures == whole.figures
    assert_same(reduce(add, (ts.relations(batch, batch, heads="last") for batch in batches)), whole)
    file = tmp_path / "r.jsonl"
    write(file, documents)
    done = run_command("score", "relations", file, file, "--shard", "1B", "--format", "json")
    assert "as a whole" not in done.stderr
    assert "strict" in json.loads(done.stdout)["metrics"]
