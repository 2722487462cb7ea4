"""Drawings of graphs and forests are the alignment: what is marked right adds up to what the score counts."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.show.drawings import MISSED, RIGHT, SPURIOUS
from tallystick.structures.graphs import EventHierarchy, EventLink
from tallystick.tasks.amr.show import graph_drawing, named_facts, roles_table
from tallystick.tasks.amr.triples import INSTANCE, ROOT, Facts, score_facts
from tallystick.tasks.hierarchies.show import forest_drawing


@st.composite
def facts(draw):
    n = draw(st.integers(1, 4))
    unary = [(v, INSTANCE, draw(st.sampled_from("abc")), False) for v in range(n)]
    unary.append((draw(st.integers(0, n - 1)), ROOT, "", False))
    ends = st.integers(0, n - 1)
    unary += draw(st.lists(st.tuples(ends, st.sampled_from([":op1", ":wiki"]), st.sampled_from("xy"), st.booleans()), max_size=3))  # fmt: skip
    binary = draw(st.lists(st.tuples(ends, st.sampled_from([":arg0", ":arg1"]), ends), max_size=5))
    return Facts([f"v{k}" for k in range(n)], unary, binary)


@given(facts(), facts())
def test_what_is_right_is_what_is_counted(reference, predicted):
    counts = score_facts([reference], [predicted])
    mapping = counts.mappings[0].tolist()
    ours, theirs = named_facts(reference, predicted, mapping)
    assert sum((ours & theirs).values()) == counts.matched[0]
    table = roles_table([reference], [predicted], [mapping])
    assert sum(row[4] for row in table.rows) == counts.matched[0]
    assert sum(row[4] + row[5] for row in table.rows) == len(reference)
    assert sum(row[4] + row[6] for row in table.rows) == len(predicted)

    drawing = graph_drawing(reference, predicted, mapping)
    both = sum(link.status == RIGHT for link in drawing.links)
    edges = [sum(n for fact, n in side.items() if fact[2] not in (INSTANCE, ROOT)) for side in (ours & theirs, ours | theirs)]  # fmt: skip
    assert [both, len(drawing.links)] == edges
    data = drawing.packed()
    assert len({tuple(node[:2]) for node in data["nodes"]}) == len(drawing.knots)


def test_a_forest():
    gold = EventHierarchy(["a", "b", "c"], [], [EventLink("a", "b"), EventLink("a", "c")])
    system = EventHierarchy(["a", "b", "c"], [], [EventLink("a", "b"), EventLink("b", "c")])
    drawing = forest_drawing(gold, system, "subevent")
    assert [knot.text for knot in drawing.knots] == ["a", "b", "c"]
    assert {knot.status for knot in drawing.knots} == {RIGHT}
    assert sorted(link.status for link in drawing.links) == sorted([RIGHT, MISSED, SPURIOUS])
    assert [node[0] for node in drawing.packed()["nodes"]] == [0, 1, 1]  # where the reference has them


def test_merged_events_are_one_node():
    gold = EventHierarchy(["a", "b", "c"], [["a", "b"]], [EventLink("a", "c")])
    system = EventHierarchy(["a", "b", "c"], [], [EventLink("a", "c")])
    found = {knot.text: knot.status for knot in forest_drawing(gold, system, "subevent").knots}
    assert found == {"a, b": MISSED, "c": RIGHT, "a": SPURIOUS, "b": SPURIOUS}
