"""An evaluation in parts is the whole to the last bit: for every task, however the documents are cut, whoever scores the parts, and in
whatever order they are put together."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tallystick as ts
from tallystick.errors import MetricError, SidesMismatch
from tallystick.tasks.contract import task_names

LABELS = st.sampled_from("ABC")
WORDS = st.sampled_from(["the mayor", "Ann Lee", "two men", "Lima"])


@st.composite
def spans(draw: st.DrawFn) -> tuple[Any, Any]:
    """The tags of one text, twice."""
    size = draw(st.integers(1, 6))
    tags = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=size, max_size=size)
    return draw(tags), draw(tags)


@st.composite
def clusters(draw: st.DrawFn) -> Any:
    """Mentions, each in one of a few entities."""
    owners = draw(st.dictionaries(st.integers(0, 6), st.integers(0, 2), min_size=1, max_size=6))
    found: dict[int, list[Any]] = {}
    for start, owner in owners.items():
        found.setdefault(owner, []).append((start, start + 1 + owner % 2))
    return list(found.values())


@st.composite
def sentences(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two trees over as many words: every word hangs on one before it, and the first is the root."""
    size = draw(st.integers(1, 5))

    def tree() -> list[Any]:
        heads = [0, *(draw(st.integers(1, k)) for k in range(1, size))]
        return [(head, "root" if head == 0 else draw(st.sampled_from(["nsubj", "obj"]))) for head in heads]

    return tree(), tree()


def _trigger(event: Any) -> Any:
    return event["type"], *event["trigger"].values()


SPAN = st.integers(0, 3).flatmap(lambda start: st.tuples(st.just(start), st.integers(start + 1, 5)))
TYPED = st.builds(lambda span, type_: {"start": span[0], "end": span[1], "type": type_}, SPAN, LABELS)
PLACE = st.builds(lambda span: {"start": span[0], "end": span[1]}, SPAN)
ARGUMENT = st.builds(lambda role, place: {"role": role, **place}, LABELS, PLACE)
EVENT = st.builds(
    lambda type_, trigger, arguments: {"type": type_, "trigger": trigger, "arguments": arguments},
    LABELS, PLACE, st.lists(ARGUMENT, max_size=2),
)  # fmt: skip
EVENTS = st.builds(
    lambda events: {"tokens": list("abcdef"), "events": events}, st.lists(EVENT, max_size=3, unique_by=_trigger)
)
RELATION = st.builds(lambda type_, subj, obj: {"type": type_, "subj": subj, "obj": obj}, LABELS, TYPED, TYPED)
RELATIONS = st.builds(lambda relations: {"relations": relations}, st.lists(RELATION, max_size=3))
ROLES = st.builds(
    lambda roles: {"roles": roles},
    st.dictionaries(LABELS, st.lists(st.lists(WORDS, min_size=1, max_size=2, unique=True), min_size=1, max_size=2)),
)
NARY = st.builds(
    lambda relations: {"relations": relations},
    st.lists(
        st.builds(
            lambda type_, args: {"type": type_, "args": args},
            LABELS, st.dictionaries(LABELS, st.lists(SPAN.map(list), min_size=1, max_size=2, unique_by=tuple), min_size=1),
        ),
        max_size=2,
    ),
)  # fmt: skip
TEMPLATES = st.builds(
    lambda templates: {"templates": templates},
    st.lists(
        st.builds(
            lambda type_, slots: {"type": type_, "slots": slots},
            st.sampled_from(["attack", "arson"]), st.dictionaries(LABELS, st.lists(WORDS, min_size=1, max_size=2)),
        ),
        max_size=2,
    ),
)  # fmt: skip
GRAPHS = st.builds(
    lambda concepts, edges: [
        *((f"v{k}", ":instance", concept) for k, concept in enumerate(concepts)),
        *{(f"v{a % len(concepts)}", role, f"v{b % len(concepts)}") for a, role, b in edges if a % len(concepts) != b % len(concepts)},
    ],
    st.lists(st.sampled_from(["boy", "girl", "want-01"]), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([":ARG0", ":ARG1"]), st.integers(0, 2)), max_size=3),
)  # fmt: skip


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[Any, Any]:
    """Links of the same events, each to one parent before it."""
    names = [f"E{k}" for k in range(draw(st.integers(2, 4)))]

    def links() -> list[Any]:
        parents = [draw(st.integers(0 if k == len(names) - 1 else -1, k - 1)) for k in range(len(names))]
        return [[names[parent], name] for name, parent in zip(names, parents, strict=True) if parent >= 0]

    def one() -> dict[str, Any]:
        return {"events": names, "links": {"subevent": links(), "membership": links()}}

    return one(), one()


SCHEMA = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "total": {"type": "number"},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
}
RECORDS = st.fixed_dictionaries(
    {"vendor": st.sampled_from(["A", "B"]), "total": st.integers(0, 3)},
    optional={"lines": st.lists(st.sampled_from("xyz"), max_size=3)},
)


def both(side: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, Any]]:
    return st.tuples(side, side)


DOCUMENTS: dict[str, tuple[st.SearchStrategy[tuple[Any, Any]], dict[str, Any]]] = {
    "spans": (spans(), {"metrics": ("segment", "ts", "token", "overlap", "iou", "nervaluate")}),
    "coreference": (both(clusters()), {}),
    "dependencies": (sentences(), {}),
    "relations": (both(RELATIONS), {}),
    "events": (both(EVENTS), {}),
    "arguments": (both(EVENTS), {}),
    "roles": (both(ROLES), {}),
    "nary": (both(NARY), {"roles": ("A", "B", "C")}),
    "templates": (both(TEMPLATES), {}),
    "amr": (both(GRAPHS), {"subscores": True}),
    "hierarchies": (hierarchies(), {"kinds": ("subevent", "membership")}),
    "records": (both(RECORDS), {"schema": SCHEMA}),
}


def test_no_task_is_left_out() -> None:
    """The shape of the arguments of calls is that of all logs, which is said."""
    assert set(DOCUMENTS) == set(task_names()) - {"calls"}
    with pytest.raises(MetricError, match="all documents have to be given to ts"):
        ts.Evaluation(task="calls")


def named(ids: list[str], documents: list[Any]) -> Any:
    """Documents by id; those that are dicts have it inside."""
    if isinstance(documents[0], dict):
        return [{"id": key, **document} for key, document in zip(ids, documents, strict=True)]
    return dict(zip(ids, documents, strict=True))


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


@pytest.mark.parametrize("task", sorted(DOCUMENTS))
def test_the_sum_of_the_parts_is_the_whole(task: str) -> None:
    pairs, options = DOCUMENTS[task]
    function: Callable[..., ts.Results] = getattr(ts, task)

    @settings(max_examples=6, deadline=None, phases=[Phase.reuse, Phase.generate])
    @given(st.lists(pairs, min_size=2, max_size=6), st.data())
    def parts_add_up(documents: list[tuple[Any, Any]], data: st.DataObject) -> None:
        ids = [f"d{k}" for k in range(len(documents))]
        cuts = sorted(data.draw(st.sets(st.integers(1, len(documents) - 1), min_size=1)))
        slices = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(documents)], strict=True)]

        def sides(part: slice) -> tuple[Any, Any]:
            return tuple(named(ids[part], [pair[k] for pair in documents[part]]) for k in (0, 1))

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
    with pytest.raises(MetricError, match="no documents were given yet"):
        run.compute()
    run.update({"a": ["B-A"]}, {"a": ["B-A"]})
    before = run.compute()
    with pytest.raises(SidesMismatch, match='given twice: "a"'):
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
