"""`tallystick leaderboard`: for every task, the best first, groups, folders, and systems that cannot be scored."""

import json
import random
import re
from itertools import combinations
from pathlib import Path

import pytest
from test_compare_tasks import EXAMPLE, example

import tallystick as ts
from running import run, write
from tallystick.results.compare import RESAMPLES
from tallystick.tasks.contract import task_names

WNUT = Path(__file__).parents[2].parent / "shared" / "data" / "spans" / "wnut17"


def board(*arguments, code=0):
    done = run("leaderboard", *map(str, arguments), "--format", "json", code=code)
    return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.mark.parametrize("task", task_names())
def test_every_task_has_a_leaderboard(task, tmp_path):
    gold, system = example(task, tmp_path)
    chosen = [part for name in EXAMPLE[task][2:] for part in ("--metric", name)] if task != "records" else []
    wrong = tmp_path / "wrong"
    wrong.write_text("\x00 no such format {")
    files = (f"middle={system}", f"wrong={wrong}", f"perfect={gold}", f"again={system}")
    page = tmp_path / "board.html"
    found = board(task, gold, *files, *chosen, "--resamples", 50, "--report", page)
    assert next(iter(found["systems"])) == "perfect"  # the best first, however they are given
    assert set(found["systems"]) == {"perfect", "middle", "again"}
    assert list(found["failed"]) == ["wrong"]
    assert 'class="failed"' in page.read_text()
    shown = run("leaderboard", task, gold, *files, *chosen, "--resamples", 50, "--format", "latex").stdout
    assert "wrong & not scored" in shown
    assert "wrong was not scored: " in shown


@pytest.fixture
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    gold = [{"id": k, "value": [f"a{k}", f"b{k}"]} for k in range(60)]
    write("gold.jsonl", gold)
    Path("systems").mkdir()
    for name, right in (("low", 0.3), ("high", 0.9), ("higher", 0.93), ("middle", 0.6)):
        rows = [{**row, "value": [x if draw.random() < right else "-" for x in row["value"]]} for row in gold]
        write(f"systems/{name}.jsonl", rows)
    return tmp_path


def test_groups_are_runs_of_the_ranking_without_a_significant_pair(lists):
    found = board("records", "gold.jsonl", "systems")
    ranks = {name: cells["records"]["rank"] for name, cells in found["systems"].items()}
    order = sorted(ranks, key=ranks.__getitem__)
    assert order == list(found["systems"])
    apart = {frozenset((d["first"], d["second"])) for d in found["differences"] if d["p_holm"] <= 0.05}
    runs = [order[a : b + 1] for a in range(len(order)) for b in range(a, len(order))]
    alone = [one for one in runs if not any(frozenset(pair) in apart for pair in combinations(one, 2))]
    largest = [one for one in alone if not any(set(one) < set(other) for other in alone)]
    assert found["groups"]["records"] == largest
    assert ["higher", "high"] in largest or ["high", "higher"] in largest
    shown = run("leaderboard", "records", "gold.jsonl", "systems", "--format", "table").stdout
    assert "Groups that are not significantly apart" in shown


def test_groups_are_empty_where_nothing_is_tested():
    one = ts.compare({"a": ts.spans([["B-X"]], [["B-X"]]), "b": ts.spans([["B-X"]], [["O"]])}, resamples=10)
    assert one.groups("segment") == []


def test_a_system_that_cannot_be_scored_does_not_change_the_others(lists):
    before = board("records", "gold.jsonl", "systems", "--resamples", 1000)
    write("systems/short.jsonl", [{"id": k, "value": ["x"]} for k in range(50)])
    Path("systems/torn.jsonl").write_text('{"id": 0, "value": [')
    after = board("records", "gold.jsonl", "systems", "gone=nowhere.jsonl", "--resamples", 1000)
    assert after["systems"] == before["systems"]
    assert set(after["failed"]) == {"short", "torn", "gone"}
    assert '"50"' in after["failed"]["short"]
    assert "torn.jsonl:1" in after["failed"]["torn"]
    empty = board("records", "gold.jsonl", "systems", "--missing", "empty", "--resamples", 100)
    assert set(empty["failed"]) == {"torn"}


def test_if_no_system_can_be_scored_it_is_an_error(lists):
    Path("systems/low.jsonl").write_text("{")
    assert "low.jsonl:1" in board("records", "gold.jsonl", "systems/low.jsonl", code=2)
    assert "nogold.jsonl" in board("records", "nogold.jsonl", "systems", code=2)


def test_folders_of_data_sets(lists):
    for folder in ("gold", "teams/A", "teams/B", "teams/C"):
        Path(folder).mkdir(parents=True)
    for part, low, high in (("en", 0, 30), ("de", 30, 60)):
        for source, target in (("gold.jsonl", "gold"), ("systems/high.jsonl", "teams/A"), ("systems/low.jsonl", "teams/B")):  # fmt: skip
            rows = Path(source).read_text().splitlines()[low:high]
            Path(target, f"{part}.jsonl").write_text("\n".join(rows) + "\n")
    Path("teams/C/en.jsonl").write_text(Path("teams/A/en.jsonl").read_text())
    found = board("records", "gold", "teams", "--resamples", 1000)
    assert list(found["systems"]) == ["A", "B"]
    assert list(found["splits"]) == ["de.jsonl", "en.jsonl"]
    assert found["failed"] == {"C": f"{Path('teams/C')} has no file for de.jsonl"}
    assert board("records", "gold", "teams/A", "teams/B", "--resamples", 1000)["systems"] == found["systems"]
    assert "expected a folder with these files" in board("records", "gold", "systems", code=2)
    assert "is not a folder" in board("records", "gold", "gold.jsonl", code=2)


def test_folders_of_brat_are_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, span in (("gold", "0 4\tAnna"), ("systems/A", "0 4\tAnna"), ("systems/B", "5 8\tmet")):
        Path(folder).mkdir(parents=True)
        for name in "ab":
            Path(folder, f"{name}.ann").write_text(f"T1\tPER {span}\n")
            Path(folder, f"{name}.txt").write_text("Anna met\n")
    found = board("spans", "gold", "systems", "--metric", "segment")
    assert {name: cells["segment"]["value"] for name, cells in found["systems"].items()} == {"A": 1, "B": 0}
    assert board("spans", "gold", "systems/B", "systems/A", "--metric", "segment")["systems"] == found["systems"]


def test_an_empty_folder_is_an_error(lists):
    Path("nothing").mkdir()
    assert "nothing: is an empty folder" in board("records", "gold.jsonl", "nothing", code=2)
    assert "nothing: is an empty folder" in board("records", "nothing", "systems", code=2)


def test_enough_resamples_that_something_can_be_significant():
    from tallystick.cli.compare import enough_resamples

    assert enough_resamples(2, 0.95) == enough_resamples(1, 0.95) == RESAMPLES
    for systems in (20, 50, 60):
        pairs, resamples = systems * (systems - 1) // 2, enough_resamples(systems, 0.95)
        assert pairs * 3 / resamples <= 0.05
        assert resamples % 10_000 == 0


def test_many_systems_stay_readable(lists):
    draw = random.Random(1)
    rows = Path("gold.jsonl").read_text().splitlines()
    Path("many").mkdir()
    for k in range(27):
        kept = [row if draw.random() > k / 30 else re.sub(r'"a\d+"', '"-"', row) for row in rows]
        Path(f"many/s{k:02d}.jsonl").write_text("\n".join(kept) + "\n")
    options = ("--resamples", 8000, "--test", "bootstrap", "--format", "table", "--report", "b.html")
    shown = run("leaderboard", "records", "gold.jsonl", "many", *options).stdout
    assert max(map(len, shown.splitlines())) <= 160
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


@pytest.mark.parametrize("format", ["tsv", "csv", "table"])
def test_a_system_that_is_not_scored_is_named_in_every_format(tmp_path, format):
    rows = [{"id": name, "x": 1} for name in "abc"]
    for name, kept in (("gold", 3), ("full", 3), ("short", 2)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:kept]))
    files = [tmp_path / f"{name}.jsonl" for name in ("gold", "full", "short")]
    done = run("leaderboard", "records", *files, "--resamples", 20, "--format", format)
    assert done.output.count("short was not scored: ") == 1
    assert '1 only in the reference: "c"' in " ".join(done.output.split())
