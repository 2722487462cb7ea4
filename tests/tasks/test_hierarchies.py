"""Partial event coreference: the paper's examples, the array path against the algebra, and what the paper leaves open."""

import itertools
import json
import random
from importlib.resources import files

import numpy as np
import pytest

import tallystick as ts
from public_data import PUBLIC, needs
from tallystick.errors import MetricError, SidesMismatch, TallystickError, ValueMismatch
from tallystick.structures import EventHierarchy, EventLink, conceptual
from tallystick.tasks.hierarchies import metrics as h
from tallystick.tasks.hierarchies.files import hierarchies_from, read_hierarchies
from tallystick.tasks.hierarchies.metrics import HierarchyOptions, evaluate, score

EXPRESSIONS = {
    "muc_p": h.MUC_P,
    "siblings_p": h.SIBLINGS,
    "nstm_p": h.STM_P,
    "ceaf_p": h.CEAF_P,
    "ceaf_stm": h.CEAF_STM,
}
EXPECTED = {  # spec/hierarchies.md
    "system1": (22 / 23, 1.0, 0.9778, 0.9888, 0.9778, 0.9998, 0.98),
    "system2": (1.0, 1 / 22, 0.0870, 0.5413, 0.0870, 0.9957, 0.58),
    "system3": (None, 0.0, 0.0, 0.4977, 0.0, 0.9955, 0.56),
}
SHARED = PUBLIC / "hierarchies/partial_event_expected.json"


def made(links, events=None, coreference=(), type="subevent"):
    names = dict.fromkeys(name for link in links for name in link)
    return EventHierarchy(events or names, coreference, [EventLink(*link, type) for link in links])


def table1(name):
    return read_hierarchies(str(files("tallystick.examples") / f"table1.{name}.newick"))


@pytest.mark.parametrize("system", EXPECTED)
def test_table_1_to_four_decimals(system):
    found = score(table1("gold"), table1(system))
    precision, recall, f, blanc, links, others, nstm = EXPECTED[system]
    assert found["muc_p"].precision == precision
    assert found["muc_p"].recall == recall
    assert round(found["muc_p"].f1, 4) == f
    assert [round(found["blanc_p"].figures[k], 4) for k in ("f1", "f1_links", "f1_others")] == [blanc, links, others]
    assert round(found["nstm_p"].nstm, 4) == nstm
    assert found["mentions"].f1 == 1


@needs("hierarchies")
@pytest.mark.parametrize("system", EXPECTED)
def test_the_shared_data_has_the_links_of_the_fixture(system):
    data = json.loads(SHARED.read_text())["repair_preferred"]
    gold, ours = table1("gold"), table1(system)
    for side, links in ((gold, data["gold_links"]), (ours, data["systems"][system]["links"])):
        named = {(int(side.names[a]), int(side.names[b])) for a, b in zip(side.parent, side.child, strict=True)}
        assert named == {tuple(link) for link in links}
    found, wanted = score(gold, ours), data["systems"][system]
    assert found["blanc_p"].f1 == pytest.approx(wanted["blanc_p"]["F"], abs=1e-12)
    assert found["muc_p"].f1 == pytest.approx(wanted["muc_p"]["F"], abs=1e-12)
    assert found["nstm_p"].nstm == pytest.approx(wanted["nstm_p"]["root_neither"], abs=1e-12)


# Figure 1 and 2. The text gives E6 ⇔ E7, E7 → E8, E8 → E9, {E6, E7} → E11, E11 → E12 and E6 → E4.
FIGURE_1 = ["E4", "E6", "E7", "E8", "E9", "E11", "E12"]
GOLD = made([("E7", "E8"), ("E8", "E9"), ("E7", "E11"), ("E11", "E12"), ("E6", "E4")], FIGURE_1, [["E6", "E7"]])


def test_systems_a_b_and_c_of_section_3_2_score_the_same():
    links = {"A": [("E6", "E8")], "B": [("E7", "E8")], "C": [("E6", "E8"), ("E7", "E8")]}
    found = {
        name: {key: r.figures for key, r in evaluate([GOLD], [made(one, FIGURE_1, [["E6", "E7"]])]).items()}
        for name, one in links.items()
    }
    assert found["A"] == found["B"] == found["C"]
    assert found["C"]["muc_p"] == {"precision": 1.0, "recall": 1 / 5, "f1": pytest.approx(1 / 3)}


def test_a_is_above_b_of_section_3_3_with_sibling_credit_and_equal_without():
    a = made([("E6", "E8"), ("E6", "E11")], FIGURE_1, [["E6", "E7"]])
    b = made([("E8", "E9"), ("E11", "E12")], FIGURE_1, [["E6", "E7"]])
    first, second = (evaluate([GOLD], [system]) for system in (a, b))
    assert first["muc_p"].f1 == second["muc_p"].f1
    assert first["siblings_p"].f1 > second["siblings_p"].f1
    # 5 links and E4, E8, E11 as siblings (2): A finds 2 links and one sibling relation.
    assert first["siblings_p"].tally == {"num_p": 3, "den_p": 3, "num_r": 3, "den_r": 7}


def random_hierarchy(rng, names=8):
    events = rng.sample([f"e{k}" for k in range(names)], rng.randint(1, names - 1))
    rest, clusters = list(events), []
    while rest:
        size = rng.choice([1, 1, 2, 3])
        clusters.append(rest[:size])
        rest = rest[size:]
    links = []
    for k, cluster in enumerate(clusters):
        if k and rng.random() < 0.75:
            above = rng.choice(clusters[:k])
            links += [EventLink(rng.choice(above), rng.choice(cluster)) for _ in range(rng.choice([1, 1, 2]))]
    return EventHierarchy(events, clusters, links)


def test_the_arrays_give_what_the_algebra_gives():
    rng = random.Random(1)
    sides = [[random_hierarchy(rng) for _ in range(150)] for _ in range(2)]
    found = evaluate(*sides)
    merged = [[conceptual(one) for one in side] for side in sides]
    for name, expression in EXPRESSIONS.items():
        assert np.array_equal(ts.evaluate(expression, *merged).rows, found[name].rows[:, :4]), name


def test_a_result_explains_itself_by_its_expression():
    rng = random.Random(2)
    sides = [[random_hierarchy(rng) for _ in range(20)] for _ in range(2)]
    found = evaluate(*sides)
    for name in ("mentions", *EXPRESSIONS):
        for place in range(20):
            try:
                tree = found[name].explain(str(place))
            except ValueMismatch:  # merging gave an event two parents: no tree to show
                continue
            assert tree.weight == pytest.approx(found[name].rows[place, 0]), name
            assert tree.reference_self == pytest.approx(found[name].rows[place, 3]), name


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expressions_can_be_parsed_back(expression):
    assert ts.parse(str(expression)) == expression


def blanc_by_hand(key, response):
    """BLANC_p over events that are their own nodes, from its definition."""
    a, b = ({(x.parent, x.child) for x in one.links} for one in (key, response))
    pairs = [{(x, y) for x in one.events for y in one.events if x != y} for one in (key, response)]
    c, d = pairs[0] - a, pairs[1] - b
    return [len(a & b), len(a), len(b), len(c & d), len(c), len(d)]


def test_blanc_with_twinless_events_is_that_of_its_definition():
    rng = random.Random(2)

    def one():
        whole = random_hierarchy(rng)
        return EventHierarchy(whole.events, (), whole.links)

    keys, responses = [one() for _ in range(200)], [one() for _ in range(200)]
    rows = evaluate(keys, responses, ["blanc_p"])["blanc_p"].rows
    assert rows.tolist() == [blanc_by_hand(k, r) for k, r in zip(keys, responses, strict=True)]


def test_empty_against_empty_muc_is_undefined_and_blanc_falls_back_to_the_other_class():
    alone = EventHierarchy(["a", "b"])
    found = evaluate([alone], [alone])
    assert found["muc_p"].f1 is None
    assert found["blanc_p"].f1 == 1
    assert found["nstm_p"].nstm == 1
    nothing = evaluate([EventHierarchy()], [EventHierarchy()])
    assert nothing["nstm_p"].nstm is None
    assert nothing["blanc_p"].f1 is None


def test_subevent_and_membership_are_scored_apart():
    both = EventHierarchy([*"abc"], (), [EventLink("a", "b"), EventLink("a", "c", "membership")])
    other = EventHierarchy([*"abc"], (), [EventLink("a", "b"), EventLink("b", "c", "membership")])
    found = evaluate([both], [other])
    assert (found["subevent.muc_p"].f1, found["membership.muc_p"].f1) == (1, 0)
    assert next(iter(found)) == "mentions"
    assert set(evaluate([both], [other], ["muc_p"], options=HierarchyOptions(("membership",)))) == {"muc_p"}
    with pytest.raises(MetricError, match='Did you mean "membership"'):
        evaluate([both], [other], options=HierarchyOptions(("membershp",)))


def test_transitive_links_hold_for_descendants():
    key, response = made([("a", "b"), ("b", "c")]), made([("a", "b"), ("a", "c")])
    assert evaluate([key], [response])["muc_p"].tally["num_p"] == 1
    found = evaluate([key], [response], options=HierarchyOptions(transitive=True))
    assert found["muc_p"].tally == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 3}
    assert "transitive=yes" in found["muc_p"].signature
    assert found["nstm_p"].nstm == 1  # c is reached from a on both sides


def test_a_tree_that_is_scored_against_itself_is_perfect_whatever_the_options():
    rng = random.Random(3)
    sides = [random_hierarchy(rng) for _ in range(50)]
    for options in (HierarchyOptions(), HierarchyOptions(transitive=True)):
        for name, result in evaluate(sides, sides, options=options).items():
            assert result.score == 1, name


def test_two_parents_and_cycles_are_errors_only_where_trees_are_needed():
    two, cycle = made([("a", "c"), ("b", "c")]), made([("a", "b"), ("b", "c"), ("c", "a")])
    for one, message in ((two, "c has two parents by subevent links, a and b"), (cycle, "its own ancestor")):
        with pytest.raises(TallystickError, match=message):
            evaluate([one], [one])
        assert evaluate([one], [one], ["muc_p", "blanc_p"])["muc_p"].f1 == 1


def test_what_merging_does_to_links_is_reported():
    merged = EventHierarchy([*"abcd"], [["c", "d"]], [EventLink("a", "c"), EventLink("b", "d")])
    found = evaluate([merged], [merged])
    assert "events that have several parents" in found["nstm_p"].warnings[0]
    assert found["nstm_p"].nstm == found["ceaf_stm"].f1 == found["ceaf_p"].f1 == 1
    inside = EventHierarchy([*"ab"], [["a", "b"]], [EventLink("a", "b")])
    assert (
        "subevent links that join mentions of one event, left out: 1"
        in evaluate([inside], [inside])["muc_p"].warnings[0]
    )


def test_nodes_are_the_same_if_they_share_a_mention_and_a_link_is_matched_once():
    key = EventHierarchy([*"abcd"], [["a", "b"]], [EventLink("a", "c")])
    response = EventHierarchy([*"abcd"], (), [EventLink("a", "c"), EventLink("b", "d")])
    split = EventHierarchy([*"abcd"], [["c", "d"]], [EventLink("a", "c")])
    assert evaluate([key], [response], ["muc_p"])["muc_p"].tally["num_p"] == 1
    assert evaluate([split], [response], ["muc_p"])["muc_p"].tally["num_p"] == 1


def test_documents_are_paired_by_name_and_tallies_add():
    rng = random.Random(4)
    keys = {f"d{k}": random_hierarchy(rng) for k in range(10)}
    responses = {name: random_hierarchy(rng) for name in reversed(keys)}
    whole = evaluate(keys, responses)
    for name, result in whole.items():
        parts = [evaluate({k: keys[k]}, {k: responses[k]})[name].rows for k in keys]
        assert np.array_equal(np.concatenate(parts), result.rows), name
    with pytest.raises(SidesMismatch, match="d0"):
        evaluate(keys, {k: v for k, v in responses.items() if k != "d0"})


def test_values_that_are_no_hierarchies_are_refused():
    with pytest.raises(MetricError, match="expected an EventHierarchy"):
        hierarchies_from([{"events": []}])
    with pytest.raises(TallystickError, match="unknown event b"):
        hierarchies_from([EventHierarchy(["a"], (), [EventLink("a", "b")])])
    with pytest.raises(ValueMismatch, match="two parents"):
        _ = conceptual(made([("a", "c"), ("b", "c")])).trees
    with pytest.raises(ValueMismatch, match="own ancestor"):
        _ = conceptual(made([("a", "b"), ("b", "a")])).trees


def test_a_long_chain_is_no_recursion():
    names = [f"e{k}" for k in range(3000)]
    chain = made(list(itertools.pairwise(names)))
    assert evaluate([chain], [chain])["nstm_p"].nstm == 1
