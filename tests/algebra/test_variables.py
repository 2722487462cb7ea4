"""Latent variables in the algebra: every map of the variables is tried, one after the other."""

import itertools
import json
import pickle
import random
import time

import numpy as np
import pytest

import oracle
import tallystick as ts
from tallystick.algebra.node import Node
from tallystick.algebra.sets import CONSTRAINTS
from tallystick.errors import MetricError
from tallystick.structures import AMR, Prop, Var
from tallystick.tasks.amr.files import parse_penman
from tallystick.tasks.amr.triples import FactReader, score_graphs

# The oracle


def maps(left, right):
    """Every 1:1 map that leaves as few variables alone as it can (more matched variables never hurt)."""
    if len(left) > len(right):
        for one in maps(right, left):
            yield {y: x for x, y in one.items()}
    else:
        for chosen in itertools.permutations(right, len(left)):
            yield dict(zip(left, chosen, strict=True))


def names(value):
    """The variables of a value, in order."""
    if isinstance(value, Var):
        return [value.name]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return list(dict.fromkeys(name for one in inside for name in names(one)))


def renamed(value, names_):
    if isinstance(value, Var):
        return Var(names_.get(value.name, f"only {value.name}"))
    if isinstance(value, dict):
        return {key: renamed(one, names_) for key, one in value.items()}
    return [renamed(one, names_) for one in value] if isinstance(value, list) else value


def settled(node):
    """The expression when the map is known: names are compared, and one Σ serves both sides."""
    if repr(node) == "var":
        return ts.exact
    fresh = node.rebuilt(settled)
    if node.name == "latent":
        return ts.match(fresh.inner, node.constraint, literal=True)
    return fresh.inner if node.name == "scoped" else fresh


def best(node, x, y):
    """The largest value over all maps, x the reference."""
    known = settled(node)
    return max(oracle.similarity(known, renamed(x, one), y) for one in maps(names(x), names(y)))


# Random values

RECORD = ts.record(rel=ts.exact, subj=ts.var, obj=ts.cases(Var=ts.var, str=ts.exact))
INNER = {
    "product": RECORD,
    "sum": ts.each(rel=ts.exact, subj=ts.var, obj=ts.cases(Var=ts.var, str=ts.exact)),
    "weights": ts.each(rel=ts.weighted(ts.exact, 0.25), subj=ts.weighted(ts.var, 2), obj=ts.cases(Var=ts.var, str=ts.exact)),
    "text": ts.record(rel=ts.text("levenshtein"), subj=ts.var, obj=ts.cases(Var=ts.var, str=ts.exact)),
    "threshold": ts.at_least(
        ts.each(rel=ts.exact, subj=ts.var, obj=ts.cases(Var=ts.var, str=ts.exact)), 1.5, keep=True
    ),
    "normalised": ts.f1(ts.each(rel=ts.exact, subj=ts.var, obj=ts.cases(Var=ts.var, str=ts.exact))),
    "no variables": ts.record(rel=ts.text("levenshtein")),
    "missing": ts.record(rel=ts.exact, subj=ts.var, other=ts.optional(ts.var)),
    "missing in a sum": ts.each(rel=ts.exact, subj=ts.var, other=ts.optional(ts.var)),
}  # fmt: skip


def graph(rng, prefix, most=4):
    variables = [Var(f"{prefix}{k}") for k in range(rng.randint(1, 3))]
    return [
        {
            "rel": rng.choice(["in", "is", "ins"]),
            "subj": rng.choice(variables),
            "obj": rng.choice([*variables, "boy", "girl"]),
            "other": rng.choice([None, *variables]),
        }
        for _ in range(rng.randint(0, most))
    ]


@pytest.mark.parametrize("kind", INNER)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_equals_every_map_tried(kind, constraint):
    rng = random.Random(kind + constraint)
    used = {name for name, _ in getattr(INNER[kind], "inner", INNER[kind]).fields}
    strip = lambda side: [{key: one[key] for key in one if key in used} for one in side]  # noqa: E731
    reference, predicted = ([strip(graph(rng, side)) for _ in range(60)] for side in "xa")
    node = ts.latent(INNER[kind], constraint)
    result = ts.evaluate(ts.f1(node), reference, predicted)
    for x, y, row in zip(reference, predicted, result.rows.tolist(), strict=True):
        assert row[0] == row[2] == pytest.approx(best(node, x, y), abs=1e-6)
    if constraint != "N:N":
        own = oracle.self_score
        for x, row in zip(reference, result.rows.tolist(), strict=True):
            assert row[3] == pytest.approx(own(settled(node), x, "reference"))


@pytest.mark.parametrize("credit", ["all", "each"])
@pytest.mark.parametrize("constraint", ["1:1", "N:1", "N:N"])
def test_collections_that_share_variables(credit, constraint):
    rng = random.Random(credit + constraint)
    kind = ts.record if credit == "all" else ts.each
    node = ts.scoped(
        ts.each(
            top=ts.var,
            nodes=ts.weighted(ts.match(kind(id=ts.var, label=ts.exact), constraint), 2),
            edges=ts.match(kind(source=ts.var, target=ts.var), constraint),
            text=ts.text("levenshtein"),
            tags=ts.match(ts.exact),
        )
    )

    def value(prefix):
        variables = [Var(f"{prefix}{k}") for k in range(rng.randint(1, 3))]
        nodes = [{"id": v, "label": rng.choice("ab")} for v in variables]
        edges = [{"source": rng.choice(variables), "target": rng.choice(variables)} for _ in range(rng.randint(0, 2))]
        return {
            "top": rng.choice(variables),
            "nodes": nodes,
            "edges": edges,
            "text": rng.choice(["abc", "abd"]),
            "tags": [rng.choice("xy") for _ in range(2)],
        }

    reference, predicted = ([value(side) for _ in range(40)] for side in "xa")
    rows = ts.evaluate(ts.f1(node), reference, predicted).rows
    for x, y, row in zip(reference, predicted, rows.tolist(), strict=True):
        assert row[0] == row[2] == pytest.approx(best(node, x, y), abs=1e-6)


def test_nested_in_records_and_sets():
    rng = random.Random(3)
    graphs = ts.f1(ts.latent(RECORD))
    metric = ts.f1(ts.match(ts.record(id=ts.exact, graph=graphs)))

    def document(prefix):
        return [{"id": rng.choice("ab"), "graph": graph(rng, prefix, 3)} for _ in range(rng.randint(0, 3))]

    reference, predicted = ([document(side) for _ in range(60)] for side in "xa")
    rows = ts.evaluate(metric, reference, predicted).rows
    for x, y, row in zip(reference, predicted, rows.tolist(), strict=True):
        table = [
            [
                float(a["id"] == b["id"])
                * (
                    2 * best(graphs.inner, a["graph"], b["graph"]) / (len(a["graph"]) + len(b["graph"]))
                    if a["graph"] or b["graph"]
                    else 1.0
                )
                for b in y
            ]
            for a in x
        ]
        assert row == pytest.approx([oracle.best_total(metric.inner, table), len(y)] * 1 + [row[2], len(x)])
        assert row[2] == row[0]


def test_a_graph_that_occurs_many_times_is_scored_under_each_owner():
    shared = [{"rel": "is", "subj": Var("x"), "obj": "boy"}]
    other = [{"rel": "is", "subj": Var("a"), "obj": "boy"}]
    metric = ts.f1(ts.match(ts.record(id=ts.exact, graph=ts.f1(ts.latent(RECORD)))))
    documents = [[{"id": k, "graph": shared} for k in range(80)]]
    predicted = [[{"id": k, "graph": other} for k in range(80)]]
    assert ts.evaluate(metric, documents, predicted).f1 == 1.0


# What a map has to be


def test_renaming_and_order_change_nothing_and_sides_are_alike():
    rng = random.Random(5)
    metric = ts.f1(ts.latent(RECORD))
    for _ in range(40):
        x, y = graph(rng, "x", 6), graph(rng, "a", 6)
        there = ts.evaluate(metric, [x], [y])
        other = renamed(rng.sample(x, len(x)), dict(zip(names(x), ["q", "r", "s"], strict=False)))
        assert ts.evaluate(metric, [other], [y]).rows.tolist() == there.rows.tolist()
        back = ts.evaluate(metric.mirrored(), [y], [x])
        assert back.rows[0, [2, 3, 0, 1]].tolist() == there.rows[0].tolist()
        assert there.f1 is None or there.f1 <= 1
        assert ts.evaluate(metric, [x], [other]).f1 in (1.0, None)


def test_variables_of_two_documents_are_different():
    x = [[{"rel": "is", "subj": Var("x"), "obj": "boy"}], [{"rel": "is", "subj": Var("x"), "obj": "girl"}]]
    y = [[{"rel": "is", "subj": Var("a"), "obj": "boy"}], [{"rel": "is", "subj": Var("b"), "obj": "girl"}]]
    assert ts.evaluate(ts.f1(ts.latent(RECORD)), x, y).f1 == 1.0


def test_plain_values_are_variables_too():
    metric = ts.f1(ts.latent(ts.record(**{"0": ts.exact, "1": ts.var, "2": ts.var})))
    assert ts.evaluate(metric, [[("r", 1, 2), ("s", 2, 2)]], [[("s", "a", "a"), ("r", "b", "a")]]).f1 == 1.0


@pytest.mark.parametrize(
    "node",
    [
        ts.latent(RECORD),
        ts.latent(RECORD, "N:1", limit=2),
        ts.f1(ts.scoped(ts.each(a=ts.match(RECORD), b=ts.var), limit=0.5)),
        ts.f1(ts.match(ts.record(id=ts.exact, graph=ts.f1(ts.latent(RECORD))))),
    ],
)
def test_nodes_print_parse_pickle_and_turn_round(node):
    assert ts.parse(str(node)) == node
    assert pickle.loads(pickle.dumps(node)) == node
    assert hash(ts.parse(str(node))) == hash(node)
    assert isinstance(node.mirrored(), Node)
    assert node.mirrored().mirrored() == node
    assert ("N:1" in str(node)) == ("1:N" in str(node.mirrored()))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ts.latent(ts.f1(ts.match(ts.record(a=ts.var)))), "var inside of match"),
        (lambda: ts.latent(RECORD, "1:2"), "unknown constraint"),
        (lambda: ts.latent(RECORD, limit=0), "limit in seconds above 0"),
        (lambda: ts.scoped(ts.record(a=ts.match(ts.var), b=ts.var)), "var inside of match"),
        (lambda: ts.scoped(ts.each(a=ts.match(ts.var), b=ts.match(ts.var, "N:N"))), "one constraint"),
        (lambda: ts.evaluate("f1(match(var))", [["x"]], [["y"]]), "outside latent"),
        (lambda: ts.evaluate("f1(each(a=latent(var), b=match(var)))", [{"a": [], "b": ["x"]}], [{"a": [], "b": []}]),
         "outside latent"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(make, message):
    with pytest.raises(MetricError, match=message):
        make()


# Smatch

GRAPHS = [
    "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))",
    "(x / want-01 :ARG0 (y / girl) :ARG1 (z / go-02 :ARG0 y :polarity -))",
    "(b / boy :mod (b2 / boy :mod (b3 / boy)))",
    "(a / and :op1 (b / boy) :op2 (c / boy :ARG0-of (r / run-02 :ARG1 b)) :quant 2)",
    '(g / go-02 :ARG0 (b / boy :name (n / name :op1 "Al" :op2 "Al")) :time (t / today))',
]


def propositions(facts):
    names_ = facts.variables
    unary = [Prop(role, Var(names_[v]), value) for v, role, value, _ in facts.unary]
    return AMR([*unary, *(Prop(role, Var(names_[s]), Var(names_[t])) for s, role, t in facts.binary)])


def test_the_derived_metric_of_prop_is_smatch():
    metric = ts.derive(AMR)
    assert str(metric) == "f1(each(props=latent(record(rel=exact, subj=var, obj=cases(Var=var, str=exact)), 1:1)))"
    read = FactReader(ts_counting())
    pairs = [(one, other) for one in GRAPHS for other in GRAPHS]
    graphs = [tuple(parse_penman(text).graphs[0] for text in pair) for pair in pairs]
    counts = score_graphs(graphs)
    sides = [[propositions(read(pair[k])) for pair in graphs] for k in (0, 1)]
    result = ts.evaluate(metric, *sides)
    assert result.rows[:, 0].tolist() == counts.matched.tolist()
    assert result.rows[:, 1].tolist() == counts.predicted.tolist()
    assert result.rows[:, 3].tolist() == counts.reference.tolist()


def ts_counting():
    from tallystick.tasks.amr.triples import Counting

    return Counting()


# Explanations


@pytest.mark.parametrize("kind", ["product", "sum"])
@pytest.mark.parametrize("constraint", ["1:1", "N:1"])
def test_an_explanation_adds_up_to_the_score_and_shows_the_map(kind, constraint):
    rng = random.Random(8)
    for _ in range(20):
        x, y = graph(rng, "x"), graph(rng, "a")
        result = ts.evaluate(ts.f1(ts.latent(INNER[kind], constraint)), [x], [y])
        tree = result.explain(0)
        assert tree.weight == pytest.approx(result.rows[0, 0])
        assert sum(child.weight for child in tree.children) == pytest.approx(tree.weight)
        left, right = zip(*tree.variables, strict=True) if tree.variables else ((), ())
        assert len(set(left)) == len(left)
        assert len(set(right)) == len(right)
        for node in tree.walk():
            if node.how == "var" and node.weight:
                assert (node.reference, node.predicted) in tree.variables


def test_an_explanation_in_words():
    x = [{"rel": "is", "subj": Var("x"), "obj": "boy"}, {"rel": "in", "subj": Var("x"), "obj": Var("y")}]
    y = [{"rel": "is", "subj": Var("a"), "obj": "boy"}]
    tree = ts.evaluate(ts.f1(ts.latent(RECORD)), [x], [y]).explain(0)
    lines = str(tree).splitlines()
    assert lines[0] == "document: latent = 1 of 2 in the reference, 1 predicted, with x ↔ a"
    assert "    = subj: x ↔ a" in lines
    assert lines[-1].endswith("missed")
    assert tree.as_dict()["variables"] == [["x", "a"]]
    json.dumps(tree.as_dict(), default=str)


def test_figures_by_field_and_label():
    x = [{"rel": "is", "subj": Var("x"), "obj": "boy"}, {"rel": "in", "subj": Var("x"), "obj": Var("y")}]
    y = [{"rel": "is", "subj": Var("a"), "obj": "boy"}, {"rel": "on", "subj": Var("a"), "obj": Var("b")}]
    result = ts.evaluate(ts.f1(ts.latent(RECORD)), [x, x], [y, y])
    fields = {row.path: row for row in result.by_field()}
    assert fields["[*].rel"].wrong == 2
    assert fields["[*].subj"].figures["f1"] == 1.0
    labels = {row.label: row.figures["f1"] for row in result.by_label("[*].rel")}
    assert labels == {"is": 1.0, "in": 0.0, "on": 0.0}


# Limits


def hard(rng, n, degree):
    """A random graph whose nodes cannot be told apart."""
    return [
        {"rel": "r", "subj": Var(f"v{a}"), "obj": Var(f"v{b}")}
        for a, b in {tuple(rng.sample(range(n), 2)) for _ in range(n * degree)}
    ]


def test_a_limit_gives_valid_bounds_in_time():
    rng = random.Random(0)
    easy = [{"rel": "is", "subj": Var("x"), "obj": "boy"}]
    reference, predicted = [easy, hard(rng, 40, 4)], [easy, hard(rng, 40, 4)]
    metric = ts.f1(ts.latent(RECORD, limit=1))
    assert "limit=1.0" in str(metric)
    began = time.process_time()  # the clock of the wall is the neighbours' too
    result = ts.evaluate(metric, reference, predicted)
    assert time.process_time() - began < 2
    assert not result.optimal
    assert result.unproven == 1
    low, high = result.bounds["f1"]
    assert 0 < low == result.f1 < high <= 1
    entry = json.loads(result.to_json())["metrics"]["f1"]
    assert entry["optimal"] is False
    assert entry["lower"]["f1"] == low
    assert entry["upper"]["f1"] == high
    assert "not proven optimal" in result.warnings[0]
    assert f"(1 {result.documents[1]['f1']:.4f} to " in result.warnings[0]  # the document's name and its bounds
    assert "at most" in str(result)


def test_the_default_limit_is_a_minute_and_reported_when_it_strikes(monkeypatch):
    metric = ts.f1(ts.latent(RECORD))
    assert "limit" not in str(metric)
    assert ts.latent(RECORD).seconds == 60
    monkeypatch.setattr("tallystick.algebra.proofs.DEFAULT_LIMIT", 0.2)
    rng = random.Random(0)
    result = ts.evaluate(metric, {"a-9": hard(rng, 40, 4)}, {"a-9": hard(rng, 40, 4)})
    assert result.unproven == 1
    low, high = result.bounds["f1"]
    assert f"a-9 {low:.4f} to {high:.4f}" in result.warnings[0]


@pytest.mark.parametrize("kind", ["sum", "normalised"])
def test_objects_that_count_in_part_have_useful_bounds(kind):
    rng = random.Random(6)
    result = ts.evaluate(ts.f1(ts.latent(INNER[kind], limit=0.2)), [hard(rng, 12, 2)], [hard(rng, 12, 2)])
    low, high = result.bounds["f1"]
    assert 0.5 < low <= high <= 1


def test_bounds_go_through_normalisers_and_outer_matchings():
    rng = random.Random(1)
    inner = ts.f1(ts.latent(RECORD, limit=0.2))
    reference, predicted = (
        [[{"id": 1, "graph": hard(rng, 30, 3)}, {"id": 2, "graph": hard(rng, 2, 1)}]] for _ in range(2)
    )
    result = ts.evaluate(ts.f1(ts.match(ts.record(id=ts.exact, graph=inner))), reference, predicted)
    low, high = result.bounds["f1"]
    assert not result.optimal
    assert low < high <= 1
    merged = ts.Evaluation(result.metric)
    merged.update(reference, predicted)
    other = ts.Evaluation(result.metric)
    other.update(reference, reference)
    merged.merge(other)
    assert len(merged.compute().above) == 2


def test_a_limit_that_does_not_strike_changes_nothing():
    rng = random.Random(2)
    reference, predicted = ([graph(rng, side) for _ in range(20)] for side in "xa")
    result = ts.evaluate(ts.f1(ts.latent(RECORD, limit=5)), reference, predicted)
    assert result.optimal
    assert result.bounds["f1"] == (result.f1, result.f1)
    assert np.array_equal(result.rows, ts.evaluate(ts.f1(ts.latent(RECORD)), reference, predicted).rows)
    assert json.loads(result.to_json())["metrics"]["f1"]["optimal"] is True
