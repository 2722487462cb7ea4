"""A comparison document by document: the reference and two predictions in three columns."""

import json
import random

import pytest

import tallystick as ts
from browsing import unfold
from running import run
from tallystick.results.documents import rows_side_by_side

GOLD = {"a": "x", "n": 1, "lines": [{"s": "p", "v": 1}, {"s": "q", "v": 2}]}
ONE = {"a": "x", "n": 2, "lines": [{"s": "q", "v": 2}, {"s": "p", "v": 1}]}
TWO = {"a": "<b>y</b>", "lines": [{"s": "p", "v": 9}, {"s": "z", "v": 7}], "more": "m"}


def test_rows_along_the_reference():
    trees = [ts.score([GOLD], [one]).explain() for one in (ONE, TWO)]
    assert rows_side_by_side(trees) == [
        [0, "a", "x", ["=", 0], ["~", "<b>y</b>"]],
        [0, "n", "1", ["~", "2"], ["-", None]],
        [0, "lines", None, ["", None], ["", None]],
        [1, "[0]", None, ["", None], ["", None]],
        [2, "s", "p", ["=", 0], ["=", 0]],
        [2, "v", "1", ["=", 0], ["~", "9"]],
        [1, "[1]", None, ["", None], ["-", None]],
        [2, "s", "q", ["=", 0], ["", None]],
        [2, "v", "2", ["=", 0], ["", None]],
        [1, "[+]", None, ["", None], ["+", "s z, v 7"]],
        [0, "more", None, ["", None], ["+", "m"]],
    ]


def test_what_is_right_and_wrong_is_what_the_score_counts():
    rng = random.Random(1)
    for _ in range(30):
        gold = {name: rng.randrange(3) for name in "abcd"}
        answers = [{name: rng.randrange(3) for name in "abcd" if rng.random() < 0.8} for _ in range(2)]
        results = [ts.score([gold], [one]) for one in answers]
        rows = rows_side_by_side([one.explain() for one in results])
        for k, result in enumerate(results):
            assert sum(row[3 + k][0] == "=" for row in rows) == result.tally["num_p"]
            assert sum(row[3 + k][0] in "=~+" and row[3 + k][0] != "" for row in rows) == result.tally["den_p"]


@pytest.fixture
def page(opened, tmp_path):
    rng = random.Random(2)
    sides = {"gold": [], "a": [], "b": []}
    for k in range(70):
        one = {"id": f"d{k:02d}", "name": f"n{k}", "total": k}
        sides["gold"].append(one)
        sides["a"].append({**one, "total": k + (rng.random() < 0.2)})
        sides["b"].append({**one, "name": "<i>no</i>" if k < 9 else one["name"]})
    for name, side in sides.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in side))
    files = ("gold.jsonl", "A=a.jsonl", "B=b.jsonl")
    run("compare", "records", *files, "--resamples", "200", "--report", "r.html", cwd=tmp_path)
    return opened(tmp_path / "r.html")


def test_documents_and_fields_of_two_systems(page):
    table = page.locator("table", has_text="support").first
    assert table.locator("tbody th").all_inner_texts() == ["name", "total"]
    assert page.locator(".beside .found").inner_text() == "70 documents"
    # those that lose most from A to B come first, and open to three columns
    first = unfold(page.locator(".beside"))
    assert first.locator("thead th").all_inner_texts()[1:] == ["Reference", "A", "B"]
    row = first.locator("tbody tr").first
    name = f"n{int(first.locator('.id').inner_text()[1:])}"
    assert row.locator("td").all_inner_texts() == [name, name, "≠<i>no</i>"]
    assert first.locator("i").count() == 0
    page.check(".beside .hide")
    assert first.locator("tbody tr:visible").count() == 1
    # the other way round what was lost is gained
    page.select_option(".beside .which", "lost")
    lost = page.locator(".beside .found").inner_text()
    page.select_option(".beside .from", "B")
    page.select_option(".beside .to", "A")
    page.select_option(".beside .which", "won")
    assert page.locator(".beside .found").inner_text() == lost
    page.select_option(".beside .which", "")
    page.fill(".beside input[type=search]", "d03")
    assert page.locator(".beside .id").all_inner_texts() == ["d03"]


def test_narrow_and_dark(browser, tmp_path, page):
    page.set_viewport_size({"width": 420, "height": 900})
    unfold(page.locator(".beside"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#theme").click()
    assert page.locator(".beside details table").is_visible()
