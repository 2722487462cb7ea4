"""Trees and graphs as JSON has them, by choices, by a schema, by --metric; and what is said where they could be meant."""

import json
from pathlib import Path

import pytest

import tallystick as ts
from running import run
from tallystick.errors import TallystickError
from tallystick.structures import Graph, Tree

GOLD = {
    "id": "1",
    "outline": {"label": "a", "children": [{"label": "b"}, {"label": "c", "children": [{"label": "d"}]}]},
    "flow": {"nodes": ["x", "y", "z"], "edges": [[0, 1], [1, 2]]},
}
SYSTEM = {
    "id": "1",
    "outline": {"label": "a", "children": [{"label": "c", "children": [{"label": "d"}, {"label": "e"}]}]},
    "flow": {"nodes": ["x", "z", "y"], "edges": [[0, 1], [1, 2]]},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    Path("system.jsonl").write_text(json.dumps(SYSTEM) + "\n")
    Path("choices.yaml").write_text("outline: tree\nflow: graph\n")


def tally(*options):
    done = run("score", "records", "gold.jsonl", "system.jsonl", *options, "--format", "json")
    return next(iter(json.loads(done.stdout)["metrics"].values()))["tally"]


def test_choices_metric_and_python_agree():
    # a, c, d of four nodes on both sides; x before y, or x before z, of three
    expected = {"num_p": 5.0, "den_p": 7.0, "num_r": 5.0, "den_r": 7.0}
    metric = "f1(each(outline=tree(exact), flow=graph(exact)))"
    assert tally("--choices", "choices.yaml") == expected
    assert tally("--metric", metric) == expected
    typed = [{**one, "outline": Tree.of(one["outline"]), "flow": Graph.of(one["flow"])} for one in (GOLD, SYSTEM)]
    assert ts.evaluate(metric, [typed[0]], [typed[1]]).tally == expected
    assert ts.evaluate(metric, [GOLD], [SYSTEM]).tally == expected


def test_by_schema():
    node = {
        "type": "object",
        "properties": {"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    schema = {"type": "object", "properties": {"outline": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    Path("schema.json").write_text(json.dumps(schema))
    Path("one.yaml").write_text("outline: {tree: {text: levenshtein}}\n")
    assert tally("--schema", "schema.json", "--choices", "one.yaml")["den_r"] == 4


def test_it_is_said_where_a_tree_could_be_meant():
    shown = run("score", "records", "gold.jsonl", "system.jsonl")
    assert "outline looks like a tree and is compared field by field; as a tree: outline: tree" in shown.stderr
    assert "flow looks like a graph" in shown.stderr
    assert "looks like" not in run("score", "records", "gold.jsonl", "system.jsonl", "--choices", "choices.yaml").stderr
    described = run("score", "records", "gold.jsonl", "system.jsonl", "--choices", "choices.yaml", "--describe").stdout
    assert "tree of nodes" in described
    assert "graph of nodes" in described


def test_a_tree_is_explained_node_by_node():
    shown = run("explain", "records", "gold.jsonl", "system.jsonl", "--choices", "choices.yaml").stdout
    assert "- 'b'  missed" in shown
    assert "+ 'e'  spurious" in shown


@pytest.mark.parametrize(
    ("make", "value", "message"),
    [
        (Tree.of, {"labl": "a"}, "expected a tree as"),
        (Tree.of, {"label": "a", "children": "b"}, "expected a tree as"),
        (Tree.of, {"label": "a", "kids": []}, "expected a tree as"),
        (Graph.of, ["x"], "expected a graph as"),
        (Graph.of, {"nodes": "x"}, "expected a graph as"),
        (Graph.of, {"nodes": ["x"], "edges": [[0, 1]]}, "between the 1 nodes"),
        (Graph.of, {"nodes": [{"id": 1, "label": "x"}, {"id": 1, "label": "y"}]}, "a duplicate"),
        (Graph.of, {"nodes": ["x"], "edges": [{"source": 0}]}, "between the 1 nodes"),
    ],
)
def test_what_is_no_structure_is_refused(make, value, message):
    with pytest.raises(TallystickError, match=message):
        make(value)


def test_nodes_by_id():
    named = {"nodes": [{"id": "u", "label": "x"}, {"id": "v", "label": "y"}], "edges": [{"source": "u", "target": "v"}]}
    assert Graph.of(named) == Graph(("x", "y"), ((0, 1),))
    assert Tree.of({"label": "a", "children": ["b"]}) == Tree("a", (Tree("b"),))


def leaf(label):
    return {"label": label, "children": []}


def scored(gold, system, choices):
    """The tally from files with an inferred shape, which has to be the one in Python, and the warnings."""
    for name, value in (("gold", gold), ("system", system)):
        Path(f"{name}.jsonl").write_text(json.dumps({"id": 1, "it": value}) + "\n")
    Path("choices.yaml").write_text(f"it: {choices}\n")
    done = run("score", "records", "gold.jsonl", "system.jsonl", "--choices", "choices.yaml", "--format", "json")
    found = json.loads(done.stdout)
    counts = next(iter(found["metrics"].values()))["tally"]
    metric = f"f1(each(it={choices}(equal)))"
    assert ts.evaluate(metric, [{"it": gold}], [{"it": system}]).tally == counts
    return [counts[name] for name in ("num_p", "den_p", "den_r")], " ".join(found["warnings"])


@pytest.mark.parametrize("kind", ["tree", "unordered"])
def test_a_predicted_tree_may_be_deeper_than_any_reference(kind):
    system = {"label": "a", "children": [{"label": "x", "children": [leaf("b")]}]}
    assert scored({"label": "a", "children": [leaf("b")]}, system, kind) == ([2, 3, 2], "")
    assert scored(leaf("a"), system, kind) == ([1, 3, 1], "")


@pytest.mark.parametrize(
    ("system", "counts", "said"),
    [
        ({"children": [leaf("b")]}, [1, 2, 2], "it"),  # a node without a label is one that is wrong
        ({}, [0, 1, 2], "it"),
        ({"label": "a", "children": "b"}, [1, 2, 2], "it.children"),
        ({"label": "a", "children": [{"label": "b", "children": [{"label": "c", "page": 3}]}]}, [2, 4, 2], "page"),
        ({"label": {"x": 1}, "children": [leaf("b")]}, [1, 2, 2], ""),
        ("a", [0, 1, 2], "it"),
        ([leaf("a"), leaf("b")], [0, 2, 2], "it"),
    ],
)
def test_what_is_no_tree_in_a_prediction_is_wrong_and_no_error(system, counts, said):
    found, warnings = scored({"label": "a", "children": [leaf("b")]}, system, "tree")
    assert found == counts
    assert said in warnings


@pytest.mark.parametrize(
    ("system", "counts", "said"),
    [
        ({"nodes": ["x", "y"], "edges": [[0, 5], [0, 1]]}, [2, 4, 2], "it.edges"),
        ({"nodes": ["x", "y"], "edges": [[[0], 1], [0, 1]]}, [2, 4, 2], "it.edges"),
        ({"nodes": [{"id": "u", "label": "x"}, {"id": "u", "label": "y"}]}, [0, 4, 2], "it"),
        ({"nodes": [{"id": [1], "label": "x"}]}, [0, 2, 2], "it"),
        ({"nodes": "x"}, [0, 1, 2], "it"),
        ({"edges": [[0, 1]]}, [0, 2, 2], "it"),
    ],
)
def test_what_is_no_graph_in_a_prediction_is_wrong_and_no_error(system, counts, said):
    found, warnings = scored({"nodes": ["x", "y"], "edges": [[0, 1]]}, system, "graph")
    assert found == counts
    assert said in warnings


def test_a_predicted_graph_may_be_written_in_the_other_form():
    named = {"nodes": [{"id": "u", "label": "x"}, {"id": "v", "label": "y"}], "edges": [{"source": "u", "target": "v"}]}
    plain = {"nodes": ["x", "y"], "edges": [[0, 1]]}
    assert scored(plain, named, "graph")[0] == [2, 2, 2]
    assert scored(named, plain, "graph")[0] == [2, 2, 2]


@pytest.mark.parametrize("wrong", [{"labl": "a"}, "x", 7, [1], None, {}])
@pytest.mark.parametrize("credit", ["each", "all"])
def test_a_prediction_that_is_no_tree_is_wrong_and_no_error(wrong, credit):
    Path("system.jsonl").write_text(json.dumps({**GOLD, "outline": wrong}) + "\n")
    found = tally("--choices", "choices.yaml", "--credit", credit)
    assert found["num_p"] == (3 if credit == "each" else 0)  # the flow
    assert found["num_p"] < found["den_p"] or wrong is None
