"""The tutorials, and other pages that show commands, print what they say they print (`pages.py`)."""

import re
from pathlib import Path

import pytest

from pages import replay

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "src" / "tallystick" / "examples"
TUTORIALS = sorted((ROOT / "docs").glob("tutorial*.md"))
PAGES = [*TUTORIALS, *(ROOT / "docs" / f"{name}.md" for name in ("choosing", "faq"))]
NEEDED = {"tutorial_judging.md": ("wordllama", "sklearn")}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_comes_out(page, tmp_path, monkeypatch):
    for module in NEEDED.get(page.name, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert replay(text) == text


def test_there_is_a_tutorial_for_each_group_of_users():
    assert len(TUTORIALS) == 8


def test_the_verdicts_about_metrics_are_those_of_the_laboratory():
    """The short table of docs/choosing.md has the columns of the long one of docs/checking.md."""
    short, long = (
        _table((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")) for name in ("choosing", "checking")
    )
    assert len(short) > 10
    for metric, verdicts in short.items():
        assert verdicts == [long[metric][k] for k in (2, 3, 4, 5, 6, 10, 13)], metric


def _table(text):
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `\w+\.\w+` \|.*", text, re.M)]
    return {name: verdicts for name, *verdicts in rows}


def test_a_page_that_is_wrong_is_found(tmp_path, monkeypatch):
    """The mechanism itself: a wrong output, a wrong line of standard error, a wrong value."""
    monkeypatch.chdir(tmp_path)
    wrong = '`x.jsonl`:\n\n```json\n{"id": 1, "a": 2}\n```\n'
    for block in (
        "```console\n$ tallystick score records x.jsonl x.jsonl --format tsv\nnothing\n```\n",
        "```console\n$ tallystick score records x.jsonl x.jsonl --format tsv\n...\n```\n\n```stderr\nnothing\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```console\n$ tallystick score records x.jsonl none.jsonl\n```\n",
    ):
        assert replay(wrong + block) != wrong + block
        assert replay(replay(wrong + block)) == replay(wrong + block)


def test_the_receipts_are_those_of_their_generator(tmp_path):
    from benchmarks import receipts

    receipts.write(tmp_path)
    for file in tmp_path.iterdir():
        assert (EXAMPLES / file.name).read_bytes() == file.read_bytes()


def test_the_page_has_the_kinds_of_errors_in_their_order():
    from tallystick.results.kinds import KINDS

    page = (
        (ROOT / "docs" / "records.md")
        .read_text(encoding="utf-8")
        .partition("## What kind of errors")[2]
        .partition("## ")[0]
    )
    named = re.findall(r"^\| ([a-z]+(?:, [a-z]+)*) \|", page, re.M)
    assert ", ".join(named).split(", ")[1:] == list(KINDS)
