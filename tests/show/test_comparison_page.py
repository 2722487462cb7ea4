"""The page of a comparison says what the terminal says, in the order of the systems, and leads to everything on it."""

import json
import re
from pathlib import Path

import pytest

from running import invoke
from tallystick.cli.main import tallystick as command

EXAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "examples"


def tallystick(*arguments):
    done = invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert done.returncode == 0, done.output
    return done.stdout


def figures(folder, rows, *options):
    """The page of a table of figures, and what was printed."""
    (folder / "t.csv").write_text("\n".join(rows))
    shown = tallystick("compare", "figures", folder / "t.csv", "--report", folder / "p.html", *options)
    return (folder / "p.html").read_text(), shown


def links_lead_somewhere(page):
    anchors = re.findall(r'<a href="#([^"]+)">', page.partition("<nav")[2].partition("</nav>")[0])
    for anchor in anchors:
        assert page.count(f'id="{anchor}"') == 1, anchor
    return anchors


@pytest.mark.parametrize("format_", ["markdown", "latex", "table", "html"])
def test_the_tables_of_a_task_stand_in_every_format_and_on_the_page(tmp_path, format_):
    files = [EXAMPLES / f"arguments.{name}.jsonl" for name in ("gold", "system", "second")]
    page = tmp_path / "p.html"
    shown = tallystick("compare", "arguments", *files, "--format", format_, "--report", page)
    assert "F1 and gain over the stage before" in shown
    text = page.read_text()
    assert "<h3>F1 and gain over the stage before, in percent</h3>" in text
    assert "own0" in links_lead_somewhere(text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    (table,) = data["comparisons"][0]["tables"]
    assert table["columns"] == ["stage", "arguments.system.jsonl", "arguments.second.jsonl"]


def test_figures_are_cut_on_the_page_as_on_the_terminal(tmp_path):
    rows = ["system,metric,value,run", "A,f1,51.59,1", "A,f1,51.59,2", "B,f1,50.19,1", "B,f1,50.59,2"]
    options = ("--digits", "1", "--format", "table")
    for more, value, spread in ((["--truncate"], "51.5", "0.2"), ([], "51.6", "0.3")):
        page, shown = figures(tmp_path, rows, *options, *more)
        assert f"{value} ±0.0" in shown
        assert f'<span class="v">{value}</span>' in page
        assert f"± {spread}, 2 runs" in page


def test_every_task_can_be_gone_to(tmp_path):
    rows = ["task,system,metric,value"]
    rows += [
        f"{t},{s},{m},{len(t) * k + j}"
        for t in ("one", "three")
        for k, s in enumerate("ABC")
        for j, m in enumerate("xy")
    ]
    page, _ = figures(tmp_path, rows)
    assert links_lead_somewhere(page) == ["figures0", "figures1", "means"]
    assert re.findall(r'<a href="#figures\d">(\w+)</a>', page) == ["one", "three"]


def test_names_that_are_numbers_keep_their_order(tmp_path, opened):
    systems, metrics = ["10", "9", "b"], ["2", "1"]
    rows = ["system,metric,value", *(f"{s},{m},{k + j}" for k, s in enumerate(systems) for j, m in enumerate(metrics))]
    figures(tmp_path, rows)
    page = opened(tmp_path / "p.html")
    assert page.locator(".agree thead th").all_inner_texts() == ["", *metrics]
    assert page.locator(".ranks svg > text").all_text_contents() == metrics
    titles = page.locator(".ranks .series title").all_text_contents()
    assert [title.partition(":")[0] for title in titles] == systems


def test_what_is_said_about_the_answers_of_each_system_stands_at_the_figures(tmp_path):
    """One line each, as on the page of a score, and not once more at the end."""
    files = [EXAMPLES / f"receipts.{name}.jsonl" for name in ("gold", "small", "large")]
    page = tmp_path / "p.html"
    tallystick("compare", "records", *files, "--from", "output", "--lenient", "--resamples", 100, "--report", page)
    text = page.read_text().partition('<script type="application/json"')[0]
    said = re.findall(r'<details class="warn"><summary>([^<]*)</summary></details>', text)
    assert [line.partition(" (")[0] for line in said] == [
        "receipts.small.jsonl: repaired: 75 predictions",
        "receipts.small.jsonl: of the wrong kind, counted as wrong: 29 values",
        "receipts.small.jsonl: invalid, scoring nothing: 3 predictions",
        "receipts.large.jsonl: repaired: 79 predictions",
    ]
    assert text.index("invalid, scoring nothing") < text.index("by field")
    assert text.count("invalid, scoring nothing") == 1
