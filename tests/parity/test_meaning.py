"""Figures of other scorers and proven optima on real corpora; needs the data of `make parity`."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest

import tallystick as ts
from public_data import PUBLIC
from tallystick.structures import AMR, Prop, Var
from tallystick.tasks.amr.files import Graph, pair_graphs, read_penman
from tallystick.tasks.amr.triples import Counting, FactReader, preset, score_graphs

DATA = PUBLIC / "meaning"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the data of `make parity`: meaning")


def pairs(gold, system):
    return pair_graphs(read_penman(DATA / f"{gold}.amr.gz"), read_penman(DATA / f"{system}.amr.gz"))


@needs_data
@pytest.mark.parametrize(
    ("name", "column", "f1"), [("smatch", "smatch", 57.4812), ("smatchpp", "smatchpp_generic", 57.5142)]
)
def test_every_pair_of_the_little_prince(name, column, f1):
    expected = np.array(json.loads((DATA / "little_prince.jamr.expected.json").read_text())[column])
    found = score_graphs(pairs("little_prince.gold", "little_prince.jamr"), preset(name))
    assert found.optimal.all()
    assert np.array_equal(found.matched, expected[:, 0])
    assert np.array_equal(found.predicted, expected[:, 1])
    assert np.array_equal(found.reference, expected[:, 2])
    assert round(100 * found.f1, 4) == f1


@needs_data
def test_smatchpp_amr_counts():
    # smatchpp 1.8.0, graph type amr, ILP: 9925 matching, 16774 and 18304 triples
    found = score_graphs(pairs("little_prince.gold", "little_prince.jamr"), preset("smatchpp-amr"))
    assert found.tally == (9925.0, 16774, 18304)
    assert found.optimal.all()


@needs_data
def test_two_parsers():
    found = score_graphs(pairs("amr3.bart", "amr3.t5"), preset("smatch"))
    assert found.optimal.all()
    assert found.matched.sum() == 5604
    assert round(100 * found.f1, 4) == 80.0857


@needs_data
@pytest.mark.parametrize("name", ["little_prince.gold", "little_prince.jamr", "amr3.bart", "amr3.t5"])
def test_every_graph_matches_its_shuffled_self(name):
    rng = random.Random(0)
    graphs = read_penman(DATA / f"{name}.amr.gz").graphs
    copies = []
    for graph in graphs:
        order = list(range(len(graph.variables)))
        rng.shuffle(order)
        to = {old: new for new, old in enumerate(order)}
        edges = [(to.get(s, s), r, to.get(t, t)) for s, r, t in graph.edges]
        rng.shuffle(edges)
        copies.append(Graph(None, [f"v{k}" for k in order], [graph.concepts[k] for k in order], edges, to[graph.top]))
    found = score_graphs(list(zip(graphs, copies, strict=True)))
    assert found.optimal.all()
    assert np.array_equal(found.matched, found.reference)


@needs_data
def test_symmetric_on_two_parsers():
    there = score_graphs(pairs("amr3.bart", "amr3.t5"))
    back = score_graphs(pairs("amr3.t5", "amr3.bart"))
    assert np.array_equal(there.matched, back.matched)


@needs_data
@pytest.mark.parametrize("names", [("little_prince.gold", "little_prince.jamr"), ("amr3.bart", "amr3.t5")])
def test_the_derived_metric_counts_the_same_on_every_pair(names):
    counting = Counting(constant_sources=False)  # the paper's Prop has a variable as its subject
    read = FactReader(counting)

    def amr(graph):
        facts = read(graph)
        variables = [Var(name) for name in facts.variables]
        props = [Prop(role, variables[v], value) for v, role, value, _ in facts.unary]
        return AMR([*props, *(Prop(role, variables[s], variables[t]) for s, role, t in facts.binary)])

    both = pairs(*names)
    counts = score_graphs(both, counting)
    result = ts.evaluate(ts.derive(AMR), [amr(one) for one, _ in both], [amr(other) for _, other in both])
    assert np.array_equal(result.rows[:, 0], counts.matched)
    assert np.array_equal(result.rows[:, 1], counts.predicted)
    assert np.array_equal(result.rows[:, 3], counts.reference)


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, tallystick.tasks.amr.metrics, tallystick.tasks.amr.triples\n"
        "import tallystick.engine.latent, tallystick.engine.orders, tallystick.tasks.amr.files\n"
        "print([m for m in ('scipy', 'highspy', 'penman', 'lap', 'rapidfuzz') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
