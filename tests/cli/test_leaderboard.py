"""`tallystick leaderboard`: for every task, the best first, groups, folders, and systems that cannot be scored."""

import re
from pathlib import Path

import pytest

from running import run

WNUT = Path(__file__).parents[2].parent / "shared" / "data" / "spans" / "wnut17"


def board(*arguments, code=0):
    options = ("--resamples", 8000, "--test", "bootstrap", "--format", "table", "--report", "b.html")
    shown = run("leaderboard", "records", "gold.jsonl", "many", *options).stdout
    assert max(map(len, shown.splitlines())) < 160
    assert re.search(r"[a-z]–[a-z]", shown)  # letters that follow each other are joined
    page = Path("b.html").read_text()
    assert 'class="sortable systems many"' in page
    assert "point at a cell" in page


def test_figures_have_a_leaderboard(tmp_path):
    (tmp_path / "t.csv").write_text("system,metric,value\nA,x,1\nB,x,3\nC,x,2\nA,y,3\nB,y,1\nC,y,\n")
    found = board("figures", tmp_path / "t.csv")
    assert list(found["systems"]) == ["B", "C", "A"]
    assert list(board("figures", tmp_path / "t.csv", "--from", "y")["systems"]) == ["A", "B", "C"]


def test_csv_can_be_read_again(lists):
    text = run("leaderboard", "records", "gold.jsonl", "systems", "--format", "csv", "--no-correlations").stdout
    Path("board.csv").write_text(text)
    found = board("figures", "board.csv")
    assert list(found["systems"]) == list(board("records", "gold.jsonl", "systems")["systems"])


@pytest.mark.skipif(not WNUT.exists(), reason="needs the submissions of WNUT-17 (see docs/leaderboard.md)")
def test_wnut_17_as_in_the_docs():
    found = board(
        "spans", WNUT / "emerging.test.annotated", WNUT / "submissions", "--ignore-tokens", "--metric", "segment"
    )
    values = {name: round(100 * cells["segment"]["value"], 2) for name, cells in found["systems"].items()}
    assert values == {  # the published F1 (entity), in the order of the task
        "uh_ritual": 41.86, "spinningbytes": 40.78, "sjtu_adapt": 40.42, "arcada": 39.98, "flytxt": 38.35, "mic-cis": 37.06,
        "drexel_cci": 26.30,
    }  # fmt: skip
    assert list(values) == list(found["systems"])
    assert found["groups"]["segment"][-1] == ["drexel_cci"]
