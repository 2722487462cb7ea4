"""Boxes, times, tables and trees of an explanation are drawn, whatever the metric is; on the page, too."""

import pytest

import tallystick as ts
from browsing import unfold
from running import run, write
from tallystick.results.shapes import draw_shapes
from tallystick.show.drawings import BoxDrawing, GraphDrawing, LaneDrawing, TableDrawing


def drawings(metric, reference, predicted):
    return draw_shapes(metric, ts.evaluate(metric, [reference], [predicted]).explain(0))


def test_boxes_have_sides_names_and_statuses():
    metric = ts.ranked(ts.record(category=ts.exact, box=ts.box_iou("xywh")), by="category", at=[0.5], of="objects")
    gold = {"objects": [{"category": "cat", "box": [0, 0, 10, 10]}, {"category": "dog", "box": [50, 50, 5, 5]}]}
    found = {
        "objects": [
            {"category": "cat", "box": [0, 0, 10, 10], "score": 0.9},
            {"category": "cow", "box": [9, 9, 2, 2], "score": 0.5},
        ]
    }
    (drawing,) = drawings(metric, gold, found)
    assert isinstance(drawing, BoxDrawing)
    assert [(box.side, box.label, box.status) for box in drawing.boxes] == [
        (0, "cat", "="), (1, "cat", "="), (0, "dog", "-"), (1, "cow", "+"),
    ]  # fmt: skip
    assert drawing.boxes[2][1:5] == (50, 50, 55, 55)


def test_lanes_name_the_speakers_that_are_mapped():
    spoken = ts.latent(ts.record(speaker=ts.var, time=ts.overlap("length", inclusive=False)), "N:N")
    metric = ts.error_rate(ts.each(turns=spoken), ts.each(turns=ts.timeline("time")))
    gold = {"turns": [{"speaker": "A", "time": [0, 4]}, {"speaker": "B", "time": [4, 6]}]}
    found = {"turns": [{"speaker": "x", "time": [0, 4]}, {"speaker": "y", "time": [4.5, 6]}]}
    (drawing,) = drawings(metric, gold, found)
    assert isinstance(drawing, LaneDrawing)
    assert [(bar.side, bar.lane, bar.status) for bar in drawing.bars] == [
        (0, "A ↔ x", "="), (1, "A ↔ x", "="), (0, "B ↔ y", "~"), (1, "B ↔ y", "~"),
    ]  # fmt: skip


def test_tables_have_every_cell_with_its_status():
    (drawing,) = drawings(
        ts.f1(ts.each(rows=ts.grid(ts.exact))), {"rows": [["a", "b"], ["c", "d"]]}, {"rows": [["a"], ["x"]]}
    )
    assert isinstance(drawing, TableDrawing)
    assert drawing.reference == [[("a", "="), ("b", "-")], [("c", "-"), ("d", "-")]]
    assert drawing.predicted == [[("a", "=")], [("x", "+")]]


def test_trees_are_laid_over_each_other():
    leaf = {"label": "b", "children": []}
    metric = ts.f1(ts.each(tree=ts.tree_edit(ts.exact)))
    (drawing,) = drawings(
        metric,
        {"tree": {"label": "a", "children": [leaf, leaf]}},
        {"tree": {"label": "a", "children": [{"label": "c", "children": []}]}},
    )
    assert isinstance(drawing, GraphDrawing)
    assert sorted(knot.status for knot in drawing.knots) == ["-", "=", "~"]
    assert sorted(knot.text for knot in drawing.knots) == ["a", "b", "b ≠ c"]
    assert sorted(link.status for link in drawing.links) == ["-", "="]


def test_what_is_best_read_is_not_drawn():
    assert drawings(ts.f1(ts.each(x=ts.match(ts.exact))), {"x": ["a"]}, {"x": ["a"]}) == []


@pytest.mark.parametrize(
    ("metric", "gold", "found", "seen"),
    [
        ('f1(each(objects=match(box_iou())))', {"objects": [[0, 0, 2, 2]]}, {"objects": [[0, 0, 2, 1]]}, ".boxes .box rect"),
        ('f1(each(times=match(overlap(inclusive=False))))', {"times": [[0, 2]]}, {"times": [[0, 1]]}, ".lanes .box rect"),
        ("f1(each(rows=grid(exact)))", {"rows": [["a"]]}, {"rows": [["b"]]}, "table.cells td"),
    ],
)  # fmt: skip
def test_the_page_draws_them(tmp_path, browser, metric, gold, found, seen):
    write(tmp_path / "gold.jsonl", [gold])
    write(tmp_path / "system.jsonl", [found])
    page = tmp_path / "page.html"
    run("score", "records", tmp_path / "gold.jsonl", tmp_path / "system.jsonl", "--metric", metric, "--report", page)
    context = browser.new_context()
    view = context.new_page()
    view.goto(page.as_uri())
    unfold(view)
    assert view.locator(seen).count() == 2
    context.close()


def test_the_highest_error_is_the_first_document_of_the_page(tmp_path, browser):
    metric = "error_rate(correct=each(x=match(exact)), detected=each(x=match(exact)))"
    write(tmp_path / "gold.jsonl", [{"id": k, "x": ["a", "b"]} for k in ("right", "worst", "half")])
    write(
        tmp_path / "system.jsonl",
        [{"id": "right", "x": ["a", "b"]}, {"id": "worst", "x": []}, {"id": "half", "x": ["a"]}],
    )
    page = tmp_path / "page.html"
    run("score", "records", tmp_path / "gold.jsonl", tmp_path / "system.jsonl", "--metric", metric, "--report", page)
    context = browser.new_context()
    view = context.new_page()
    view.goto(page.as_uri())
    assert "worst" in view.locator("details.doc summary").first.inner_text()
    context.close()
