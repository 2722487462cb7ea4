"""`score relations`, run as a user runs it."""

import json
from pathlib import Path

import pytest

from running import run, write

GOLD = [
    {"id": "a", "relations": [{"type": "born", "subj": [0, 2, "PER"], "obj": [4, 6, "LOC"]}, {"type": "spouse", "subj": [0, 2, "PER"], "obj": [8, 9, "PER"]}]},
    {"id": "b", "relations": []},
]  # fmt: skip
SYSTEM = [
    {"id": "b", "relations": []},
    {"id": "a", "relations": [{"type": "born", "subj": [0, 2, "PER"], "obj": [4, 5, "LOC"]}, {"type": "spouse", "subj": [8, 9, "PER"], "obj": [0, 2, "PER"]}]},
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", GOLD)
    write("system.jsonl", SYSTEM)


def test_variants_side_by_side():
    done = run("score", "relations", "gold.jsonl", "system.jsonl", "--symmetric", "spouse", "--heads", "first")
    rows = {line.split("\t")[0]: line.split("\t")[3] for line in done.stdout.splitlines()[1:]}
    assert rows == {"strict": "0.5", "boundaries": "0.5", "relaxed": "1.0", "head": "1.0", "pair": "0.0", "type": "1.0"}
    assert "symmetric=spouse" in done.stderr


def test_breakdowns_and_explanation():
    assert "spouse\tstrict\t0.0" in run("score", "relations", "gold.jsonl", "system.jsonl", "--by", "label").stdout
    assert "relations[*].obj.right" in run("score", "relations", "gold.jsonl", "system.jsonl", "--by", "field").stdout
    assert "missed" in run("explain", "relations", "gold.jsonl", "system.jsonl", "--document", "a").stdout


def test_hierarchies_from_a_file():
    Path("parents.tsv").write_text("born\tevent\n")
    write("general.jsonl", [{**SYSTEM[0]}, {"id": "a", "relations": [{**GOLD[0]["relations"][0], "type": "event"}]}])
    done = run(
        "score",
        "relations",
        "gold.jsonl",
        "general.jsonl",
        "--parents",
        "parents.tsv",
        "--metric",
        "strict",
        "--format",
        "json",
    )
    assert json.loads(done.stdout)["metrics"]["strict"]["tally"]["num_p"] == 0.5


def test_docred_from_files():
    vertices = [[{"name": "Ada"}], [{"name": "Paris"}], [{"name": "Rome"}]]
    labels = [{"h": 0, "t": 1, "r": "P1", "evidence": [0]}, {"h": 0, "t": 2, "r": "P1", "evidence": [1]}]
    write("train.json", [{"title": "t", "vertexSet": vertices, "labels": labels[:1]}])
    Path("dev.json").write_text(json.dumps([{"title": t, "vertexSet": vertices, "labels": labels} for t in "xy"]))
    Path("result.json").write_text(
        json.dumps([{"title": "x", "h_idx": 0, "t_idx": k, "r": "P1", "evidence": [0]} for k in (1, 2)])
    )
    done = run("score", "relations", "dev.json", "result.json", "--train", "train.json", "--format", "json")
    found = json.loads(done.stdout)["metrics"]
    assert list(found) == ["facts", "ign", "evidence"]
    assert found["facts"]["tally"] == {"num_p": 2, "den_p": 2, "num_r": 2, "den_r": 4}
    assert found["ign"]["tally"] == {"num_p": 1, "den_p": 1, "num_r": 2, "den_r": 4}
    assert found["evidence"]["tally"] == {"num_p": 1, "den_p": 2, "num_r": 1, "den_r": 4}


def test_files_that_do_not_fit_together():
    write("other.jsonl", [{"id": "z", "relations": []}])
    assert "the document ids differ" in run("score", "relations", "gold.jsonl", "other.jsonl", code=3).stderr
    assert (
        "no metric 'stric' here"
        in run("score", "relations", "gold.jsonl", "system.jsonl", "--metric", "stric", code=2).stderr
    )
