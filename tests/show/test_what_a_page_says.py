"""What a report says of itself is so: its navigation, its limits, its scales, and why something is not there."""

import json
import re

import numpy as np
import pytest

import tallystick as ts
from browsing import unfold
from running import invoke
from tallystick.cli.main import tallystick as command
from tallystick.engine.tally import Counts
from tallystick.results import documents
from tallystick.results import report as pages
from tallystick.results.report import Page, Parts, Section, render
from tallystick.results.result import Result
from tallystick.show.tables import Column, Table
from tallystick.show.words import value_text


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def links(page):
    """Where the navigation leads; everything that it names is there once."""
    found = re.findall(r'<a href="#([^"]+)">', page.partition("<nav")[2].partition("</nav>")[0])
    assert [page.count(f'id="{anchor}"') for anchor in found] == [1] * len(found)
    return found


def evaluated(n=6, wrong=2):
    gold = {f"d{k}": ["a", f"b{k}"] for k in range(n)}
    guess = {f"d{k}": ["a", "x" if k < wrong else f"b{k}"] for k in range(n)}
    return ts.evaluate(ts.derive(list[str]), gold, guess)


# Sections


def test_a_section_of_a_task_is_one_thing_to_add():
    result = evaluated()
    table = Table(["x", "f1"], [["y", 0.5]], "A table")
    parts = Parts(
        [table],
        sections=[Section("own", "Ours", "What is ours", [table], "Said above."), Section("no", "No", "No", [])],
    )
    page = render(Page("t", {"m": result}, parts))
    assert links(page) == ["figures", "breakdown", "own", "metrics", "documents", "signature"]
    assert '<h2>What is ours</h2>\n<p class="lead">Said above.</p>' in page
    assert [table["title"] for table in data_of(page)["tables"]] == ["A table", "A table"]


def test_empty_tables_have_no_section():
    page = render(Page("t", {"m": evaluated()}, Parts([Table(["x"], [])], [Table(["x"], [])])))
    assert links(page) == ["figures", "metrics", "documents", "signature"]
    assert data_of(page)["tables"] == []
    assert links(render(Page("t", {"m": evaluated(1)}, Parts()))) == ["figures", "documents", "signature"]


def test_a_corpus_without_spans(tmp_path):
    (tmp_path / "o.iob").write_text("a O\nb O\n\nc O\n")
    page = tmp_path / "p.html"
    done = invoke(command, ["score", "spans", *[str(tmp_path / "o.iob")] * 2, "--report", str(page)])
    assert done.returncode == 0, done.output
    assert "breakdown" not in links(page.read_text())


# Intervals


def test_why_there_is_no_interval():
    nothing = ts.evaluate(ts.derive(list[str]), {k: [] for k in range(30)}, {k: [] for k in range(30)}, undefined=None)
    assert "no interval: f1 is 0/0, whichever documents are drawn" in render(Page("t", {"m": nothing}))
    assert "too few documents for an interval" in render(Page("t", {"m": evaluated(1)}))
    assert re.search(r"95 % interval 0\.\d{4} to [01]\.\d{4}", render(Page("t", {"m": evaluated()})))


def test_intervals_are_drawn_on_the_scale_that_is_written_above_them():
    results = {"m": evaluated(8, 1), "n": evaluated(8, 2)}
    page = render(Page("t", results))
    low, high = map(float, re.search(r'class="ends"><span>([\d.]+)</span><span>([\d.]+)<', page).groups())
    assert (low, high) != (0, 1)
    drawn = re.findall(r'class="iv range" aria-hidden="true" style="--v:([\d.]+)%;--lo:([\d.]+)%;--hi:([\d.]+)%', page)
    for (name, result), ends in zip(results.items(), drawn, strict=True):
        interval = data_of(page)["metrics"][name]["intervals"]["f1"]
        expected = [100 * (x - low) / (high - low) for x in (result.f1, *interval)]
        assert list(map(float, ends)) == pytest.approx(expected, abs=0.01)


def test_gains_are_drawn_as_shares_of_the_largest():
    table = Table(["error", Column("gain", "gain")], [["a", 0.02], ["b", 0.005]])
    page = render(Page("t", {"m": evaluated()}, Parts(errors=[table])))
    assert re.findall(r'style="--v:([\d.]+)%">0\.0', page) == ["100.00", "25.00"]


# Limits


def test_more_documents_than_are_listed(monkeypatch):
    monkeypatch.setattr(pages, "LISTED", 4)
    page = render(Page("t", {"m": evaluated(6)}))
    assert len(data_of(page)["documents"]["ids"]) == 4
    assert "The 4 worst of 6 by m are listed." in page
    assert "The 4 worst of 6 by m are drawn and ranked here." in page
    monkeypatch.setattr(pages, "LISTED", 6)
    assert "drawn and ranked here" not in render(Page("t", {"m": evaluated(6)}))


def test_an_alignment_that_is_cut_says_so(monkeypatch):
    result = evaluated(1)
    for limit, cut in ((documents.DEEPEST, False), (2, True)):
        monkeypatch.setattr(documents, "DEEPEST", limit)
        one = data_of(render(Page("t", {"m": result}, Parts(explain=result.explain))))["aligned"]["0"]
        assert one["cut"] is cut


def test_documents_are_ordered_by_the_main_metric():
    rows = np.array([[1.0, 2, 1, 2], [2, 2, 2, 2]])
    first, second = (Result("m", Counts(), rows[order], ["x", "y"]) for order in ([0, 1], [1, 0]))
    page = render(Page("t", {"one": first, "two": second}, Parts(main="two")))
    order = re.search(r'<select id="order">(.*?)</select>', page)[1]
    assert re.search(r'<option value="\d+" selected>([^<]+)<', order)[1] == "two f1"
    assert data_of(page)["documents"]["ids"] == ["y", "x"]


def test_a_report_of_shards_says_what_it_lacks(tmp_path):
    (tmp_path / "g.iob").write_text("".join(f"a{k} B-X\n\n" for k in range(4)))
    page = tmp_path / "p.html"
    files = [str(tmp_path / "g.iob")] * 2
    done = invoke(command, ["score", "spans", *files, "--jobs", "1", "--report", str(page)])
    assert done.returncode == 0, done.output
    assert "no alignments and no tables of its own" in done.stderr
    assert "no alignments, no kinds of error, and of the breakdowns the one of --by only" in page.read_text()


def test_indices_are_places():
    assert value_text(range(3, 4)) == "[3]"
    assert value_text([range(3, 6), range(8, 9)]) == "[3–5]; [8]"


def test_a_long_text_is_few_nodes(tmp_path, opened):
    """A node for each word takes a browser many seconds in a text of a million characters."""
    text = " ".join(f"w{k}" for k in range(3000))
    for name, spans in (("g", [[0, 2, "T"], [6, 8, "T"]]), ("a", [[0, 2, "T"], [3, 8, "T"]])):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": 1, "text": text, "spans": spans}))
    files = [str(tmp_path / f"{name}.jsonl") for name in "ga"]
    done = invoke(command, ["score", "spans", *files, "--report", str(tmp_path / "p.html")])
    assert done.returncode == 0, done.output
    page = opened(tmp_path / "p.html")
    unfold(page)
    shown = page.locator(".text").first
    assert (
        shown.evaluate(
            "e => { let n = 0; for (const w = document.createTreeWalker(e, 4); w.nextNode();) n++; return n; }"
        )
        < 20
    )
    plain = shown.evaluate(
        "e => { const c = e.cloneNode(true); for (const s of c.querySelectorAll('sub')) s.remove(); return c.textContent; }"
    )
    assert plain == text
