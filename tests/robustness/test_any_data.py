"""Whatever data is given to a task's function, it is a result or an error of our own; and what has the shape of a document is scored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallystick as ts
from tallystick.tasks.contract import task_names

WORDS = [
    "id", "doc_id", "tags", "spans", "text", "tokens", "clusters", "relations", "events", "type", "trigger", "arguments", "args", "roles",
    "templates", "slots", "links", "coreference", "triples", "top", "heads", "deprels", "words", "subj", "obj", "role", "start", "end",
    "mentions", "edges", "facts", "vertexSet", "labels", "name", "conllu", "event", "n_ary_relations", "coref", "props", "trig", "pieces",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.floats(allow_nan=True, width=16), st.binary(max_size=2),
    st.sampled_from(["B-PER", "O", "PER", "a", "", "(a / b)", "(a(b))", "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n", "{}", *WORDS]),
)  # fmt: skip


def collections(inner):
    return st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["PER", "x"])),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    )


DATA = st.recursive(SCALARS, collections, max_leaves=12)


DOCUMENTS = {
    "spans": [(0, 1, "PER"), (3, 5, "LOC")],
    "coreference": [[(0, 2), (4, 5)], [(7, 8)]],
    "dependencies": [(2, "nsubj"), (0, "root")],
    "relations": [("born-in", (0, 2, "PER"), (5, 6, "LOC"))],
    "events": [{"type": "attack", "trigger": (3, 4), "arguments": [(0, 2, "attacker")]}],
    "arguments": {
        "tokens": ["a", "b"],
        "events": [{"id": "e", "trigger": (0, 1), "arguments": {"x": "b", "y": (1, 2)}}],
    },
    "roles": {"PerpInd": [["guerrillas", "the rebels"], ["a sniper"]], "Target": []},
    "nary": [{"type": "x", "args": {"Task": [(0, 2), (9, 10)], "Method": [(4, 5)]}}],
    "templates": [{"type": "attack", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]]}}],
    "amr": {"triples": [("w", ":instance", "want-01"), ("b", ":instance", "boy"), ("w", ":ARG0", "b")], "top": "w"},
    "hierarchies": {"events": ["a", "b", "c"], "coreference": [["a", "b"]], "links": [("a", "c")]},
}


def changed(value, data):
    """The value with one part of it replaced by anything."""
    items = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, (list, tuple))
        else []
    )
    if not items or data.draw(st.integers(0, 3)) == 0:
        return data.draw(DATA)
    key, inside = data.draw(st.sampled_from(items))
    new = changed(inside, data)
    if isinstance(value, dict):
        return {**value, key: new}
    return [new if place == key else one for place, one in items]


def is_ours(name, reference, predicted):
    """Whether a call gives results, or an error of our own."""
    try:
        return len(getattr(ts, name)(reference, predicted)) > 0
    except ts.TallystickError as error:
        return bool(str(error))


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
def test_any_data_is_a_result_or_an_error_of_our_own(name, data):
    document, other = DOCUMENTS[name], changed(DOCUMENTS[name], data)
    assert name in task_names()
    assert is_ours(name, data.draw(DATA), data.draw(DATA))
    assert is_ours(name, other, other)
    assert is_ours(name, document, other)
    assert is_ours(name, [document, other], [other, document])
    assert is_ours(name, {"a": other}, {"a": document})


SPAN = st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda one: (one[0], one[0] + one[1]))
ENTITIES = st.lists(st.lists(SPAN, min_size=1, max_size=3, unique=True), max_size=3)


@given(st.lists(st.tuples(ENTITIES, ENTITIES), min_size=1, max_size=3))
def test_clusters_by_order_by_id_by_name_and_as_lines_are_one(documents):
    sides = [[document[side] for document in documents] for side in (0, 1)]
    lines = [
        "".join(
            f'{{"id": "{k}", "clusters": {[[[start, end - 1] for start, end in cluster] for cluster in clusters]}}}\n'
            for k, clusters in enumerate(side)
        )
        for side in sides
    ]
    by_id = [dict(enumerate(side)) for side in sides]
    named = [
        [[[f"{a}-{b}" for a, b in cluster] for cluster in clusters] for clusters in side]
        for side in by_id_values(by_id)
    ]
    expected = {name: result.figures for name, result in ts.coreference(*lines).items()}
    for reference, predicted in (by_id, [dict(enumerate(side)) for side in named]):
        assert {name: result.figures for name, result in ts.coreference(reference, predicted).items()} == expected


def by_id_values(by_id):
    return [list(side.values()) for side in by_id]
