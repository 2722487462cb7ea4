"""The report without a browser: what is carried, what is said, what is escaped, how values and layouts look."""

import json
import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tallystick as ts
from running import invoke
from strategies import corpora, effort, metrics
from tallystick.cli.main import tallystick as command
from tallystick.results.documents import derivation, pack_tree
from tallystick.results.report import Page, Parts, render
from tallystick.results.tables import costs_table, fields_table
from tallystick.show.drawings import MISSED, RIGHT, SPURIOUS, GraphDrawing, Knot, Link, Mark, TextDrawing, place
from tallystick.show.page import embed
from tallystick.show.words import value_text
from tallystick.structures import Entity, SlotFiller, Template
from tallystick.structures.texts import AnnotatedMention


@dataclass
class Line:
    sku: str
    amount: int


@dataclass
class Order:
    buyer: str
    lines: list[Line]


def refused(constant):
    raise AssertionError(f"{constant} is no JSON: no browser reads it")


def data_of(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1], parse_constant=refused)


def evaluated(n=6):
    gold = {f"d{k}": Order(f"b{k}", [Line("x", k), Line("y", 1)]) for k in range(n)}
    guess = {f"d{k}": Order(f"b{k}", [Line("x", k % 3), Line("z", 1)][: 1 + k % 2]) for k in range(n)}
    return ts.evaluate(ts.derive(Order, credit="each"), gold, guess)


# The data


def test_the_page_carries_its_data():
    result = evaluated()
    data = data_of(render(Page("t", {"orders": result}, Parts(explain=result.explain), cap=2)))
    metric = data["metrics"]["orders"]
    assert metric["f1"] == result.f1
    assert metric["signature"] == result.signature
    assert metric["intervals"]["f1"][0] <= result.f1 <= metric["intervals"]["f1"][1]
    axes = {axis["figure"]: axis["values"] for axis in data["documents"]["axes"]}
    assert axes["f1"] == sorted(axes["f1"])
    by_id = dict(zip(data["documents"]["ids"], axes["f1"], strict=True))
    assert by_id == {key: round(figures["f1"], 10) for key, figures in result.documents.items()}
    assert sorted(data["aligned"]) == ["0", "1"]  # the two worst


def test_the_cap_is_said():
    result = evaluated()
    parts = Parts(explain=result.explain)
    assert "The 2 worst of 6 by orders open to show their alignment; the page carries at most 2" in render(
        Page("t", {"orders": result}, parts, cap=2)
    )
    assert "Each document opens" in render(Page("t", {"orders": result}, parts))


def test_a_page_is_never_heavier_than_its_budget():
    """5,000 documents of a hundred kilobytes each: as many as fit, under 8 MB in all, and the page says why."""
    n = 5000
    rows = np.tile([1.0, 2.0, 1.0, 3.0], (n, 1))
    from tallystick.engine.tally import Counts
    from tallystick.results.result import Result

    result = Result("m", Counts(), rows, tuple(f"document number {k}" for k in range(n)))
    words = [["word" * 4] * 5000]

    def draw(_):
        return [TextDrawing("text", words, [Mark(0, 1, "PER", RIGHT)], [])]

    text = render(Page("t", {"m": result}, Parts(draw=draw), cap=n))
    assert len(text.encode()) < 8_000_000
    carried = len(data_of(text)["aligned"])
    assert 10 < carried < n
    assert f"The {carried} worst of 5,000 by m open to show their alignment; more would weigh over 6 MB" in text


texts = st.text("</script>!-\u2028\u2029ab", max_size=12)


@given(texts | st.lists(texts, max_size=3) | st.dictionaries(texts, texts, max_size=3))
def test_embedded_data_cannot_leave_its_element(value):
    text = embed(value)
    assert "<" not in text
    assert json.loads(text) == value


def test_names_are_escaped():
    evil = "</script><script>alert(1)</script>"
    result = ts.evaluate(ts.derive(list[str]), {evil: [evil]}, {evil: ["b"]})
    text = render(Page(evil, {evil: result}, Parts(explain=result.explain)))
    assert "alert(1)</script>" not in text.replace("&lt;", "<?").replace("\\u003c", "<?")
    assert text.count("<script") == 2
    data = data_of(text)
    assert data["documents"]["ids"] == [evil]
    assert evil in json.dumps(data["aligned"])


def test_a_document_of_nothing_comes_last():
    gold, guess = {"x": [], "y": ["a"], "z": ["a"]}, {"x": [], "y": ["a"], "z": ["b"]}
    result = ts.evaluate(ts.derive(list[str]), gold, guess, undefined=0.0)
    data = data_of(render(Page("t", {"m": result})))
    assert data["documents"]["ids"] == ["z", "y", "x"]
    assert data["documents"]["axes"][-1]["values"][-1] is None


@st.composite
def evaluations(draw):
    shape = draw(metrics(depth=1))
    return shape.node, *draw(corpora(shape, max_size=3))


@effort(0.6)
@given(evaluations())
@example(("f1(each(v=match(exact, 1:1)))", [{"v": []}], [{"v": ["q"]}]))
@example(("f1(match(exact, 1:1))", [[math.nan, math.inf]], [[math.nan, 1.5]]))
def test_the_data_of_any_page_is_json_as_browsers_read_it(evaluation):
    """NaN and infinities in documents, 0/0 in figures, fields that one side never has: never a bare NaN in the page."""
    result = ts.evaluate(*evaluation)
    parts = Parts([fields_table(result)], costs_table(result), explain=result.explain)
    page = Page("t", {"m": result}, parts, resamples=10)
    data = data_of(render(page))
    numbers = [value for table in data["tables"] for row in table["rows"] for value in row[1:]]
    assert all(value is None or isinstance(value, (int, float)) for value in numbers)
    json.loads(result.to_json(), parse_constant=refused)


def test_a_field_that_the_reference_never_has_gains_nothing():
    result = ts.evaluate(ts.derive(Order, credit="each"), [Order("b", [])], [Order("b", [Line("x", 1)])])
    (table,) = costs_table(result)
    assert {row[0]: row[2:] for row in table.rows} == {
        "buyer": [0.5, 0.0],
        "lines[*].sku": [pytest.approx(2 / 3), pytest.approx(2 / 3 - 0.5)],
        "lines[*].amount": [pytest.approx(2 / 3), pytest.approx(2 / 3 - 0.5)],
    }
    alone = ts.evaluate("f1(each(v=match(exact, 1:1)))", [{"v": []}], [{"v": ["q"]}])
    (table,) = costs_table(alone)
    assert table.rows == [["v[*]", 1, None, None]]


# Side by side


def test_an_item_is_called_by_its_slot():
    def templates(*fillers):
        return [Template("attack", tuple(SlotFiller(s, Entity((v,))) for s, v in fillers))]

    metric = ts.derive(list[Template[Entity[str]]], credit="each")
    result = ts.evaluate(
        metric, [templates(("Victim", "a man"), ("Weapon", "bomb"))], [templates(("Victim", "a man"), ("Place", "x"))]
    )
    (name, _, *_, rows) = pack_tree(result.explain(), [100])
    assert name == "attack"
    flat = {row[0]: row[1:7] for row in rows[-1][7]} if len(rows) == 1 else {row[0]: row[1:7] for row in rows}
    assert flat["Victim"][0] == "="
    assert flat["Weapon"][4:] == ["bomb", None]
    assert flat["Place"][4:] == [None, "x"]


def test_packing_keeps_the_weights():
    result = evaluated()

    def leaves(node):
        return [leaf for child in node[7] for leaf in leaves(child)] if len(node) == 8 else [node]

    for key in result.ids:
        tree = pack_tree(result.explain(key), [1000])
        assert sum(leaf[2] for leaf in leaves(tree)) == pytest.approx(result.explain(key).weight)


def test_an_alignment_that_is_too_long_is_cut():
    result = ts.evaluate(ts.derive(list[str]), [[f"{k}" for k in range(50)]], [[f"{k}" for k in range(50)]])
    nodes = [20]
    assert len(pack_tree(result.explain(), nodes)[7]) < 25
    assert nodes[0] <= 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two  words", "two words"),
        (None, "–"),
        ("", "''"),
        (True, "true"),
        (SlotFiller("Victim", Entity(("two men", "men"))), "slot Victim, value two men; men"),
        (AnnotatedMention(3, 4, type="PER", text="the mayor"), "PER the mayor [3–4]"),
        ({"a": 1, "b": [1, 2]}, "a 1, b 1; 2"),
        ([], "nothing"),
    ],
)
def test_values_in_words(value, shown):
    assert value_text(value) == shown
    assert len(value_text("x" * 1000)) == 300


# What a field costs, against rescoring


def test_what_a_field_costs():
    result = evaluated()
    (table,) = costs_table(result)
    costs = {row[0]: row[2] for row in table.rows}
    # the buyer is always right, so that repairing it wins nothing
    assert costs["buyer"] == pytest.approx(result.f1)
    # sku right everywhere: each reference line has one predicted sku, and it is the right one
    total, right = result.tally["den_r"], result.tally["num_p"]
    sku = next(row for row in result.by_field() if row.path == "lines[*].sku")
    fixed = right - sku.tally["num_p"] + sku.tally["den_r"]
    assert costs["lines[*].sku"] == pytest.approx(
        2 * fixed / (total + result.tally["den_p"] - sku.tally["den_p"] + sku.tally["den_r"])
    )


def test_a_product_has_no_costs():
    result = ts.evaluate(ts.derive(list[Line]), [[Line("a", 1)]], [[Line("a", 2)]])
    assert costs_table(result) == []


# Derivation


def test_the_derivation_tree():
    tree = derivation(evaluated())
    assert (tree.kind, tree.what) == ("N", "f1")
    each = tree.parts[0]
    assert (each.kind, each.what, [part.name for part in each.parts]) == ("S", "each", ["buyer", "lines"])
    lines = each.parts[1]
    assert (lines.kind, lines.what) == ("M", "match(1:1)")
    assert [part.what for part in lines.parts[0].parts] == ["exact", "exact"]


def test_a_named_metric_has_its_expression():
    from tallystick.tasks.coreference import metrics as coreference

    results = coreference.evaluate([[{1, 2}]], [[{1, 2}]])
    assert derivation(results["ceaf_e"]).parts[0].kind == "M"
    assert [part.name for part in derivation(results["b3"]).parts] == ["precision", "recall"]
    assert derivation(results["conll"]) is None


# Layout

edges = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([RIGHT, MISSED, SPURIOUS])),
            max_size=14,
        ),
    )
)


@given(edges)
def test_a_layout_is_a_drawing(drawn):
    """No two nodes in one place; the tree's edges go one column to the right and reach every node but the tops."""
    n, found = drawn
    links = [Link(a, b, "r", status) for a, b, status in found]
    placed = place(n, links)
    assert len(set(placed.where)) == n
    entered = []
    for number in placed.tree:
        a, b = links[number].source, links[number].target
        if number in placed.turned:
            a, b = b, a
        assert placed.where[b][0] == placed.where[a][0] + 1
        assert placed.where[b][1] >= placed.where[a][1]
        entered.append(b)
    assert len(entered) == len(set(entered))
    assert {k for k in range(n) if placed.where[k][0] == 0} == set(range(n)) - set(entered)
    assert {row for _, row in placed.where} == set(range(1 + max(row for _, row in placed.where)))


def test_what_the_reference_has_decides_the_layout():
    links = [Link(0, 2, "wrong", SPURIOUS), Link(0, 1, "a", RIGHT), Link(1, 2, "b", MISSED)]
    placed = place(3, links, [0])
    assert placed.tree == {1, 2}
    assert placed.where == [(0, 0), (1, 0), (2, 0)]


def test_an_edge_against_its_direction_is_named_so():
    knots = [Knot("boy", RIGHT), Knot("want", RIGHT)]
    drawing = GraphDrawing("", knots, [Link(1, 0, "ARG0", RIGHT)], [0]).packed()
    assert drawing["edges"] == [[0, 1, "ARG0-of", RIGHT, 1]]
    assert drawing["summary"] == "2 nodes (2 right), 1 edge (1 right)."


# The command


def test_a_file_that_cannot_be_written(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n')
    arguments = ["score", "records", str(file), str(file), "--report", str(tmp_path / "no" / "report.html")]
    done = invoke(command, arguments)
    assert done.returncode == 2
    assert "cannot be written" in done.output


def test_the_number_of_documents_can_be_chosen(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n' * 5)
    report = tmp_path / "report.html"
    arguments = ["score", "records", str(file), str(file), "--report", str(report), "--report-documents", "3"]
    assert invoke(command, arguments).returncode == 0
    assert len(data_of(report.read_text())["aligned"]) == 3


def test_a_result_writes_its_own_report(tmp_path):
    evaluated().write_report(str(tmp_path / "own.html"), "Orders")
    text = (tmp_path / "own.html").read_text()
    assert "<h1>Orders</h1>" in text
    assert "What each field costs" in text
    assert len(data_of(text)["aligned"]) == 6


def test_the_example_of_the_docs(tmp_path, monkeypatch):
    from pathlib import Path

    pytest.importorskip("matplotlib")
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    assert {file.name for file in tmp_path.iterdir()} == {"report.html", "figures.svg", "documents.png"}


def test_who_is_beaten_among_more_systems_than_letters():
    """The 27th letter is aa, which is not a."""
    from tallystick.results.comparison import Cell, Comparison
    from tallystick.results.comparison_show import _cell

    names = tuple(f"s{k}" for k in range(28))
    cell = Cell(0.5, beats="b,aa")
    assert _cell(Comparison(names, ("m",), {}, {}), cell, (0, 1), False)["above"] == "s1, s26"
    assert _cell(Comparison(names[:3], ("m",), {}, {}), Cell(0.5, beats="bc"), (0, 1), False)["above"] == "s1, s2"
