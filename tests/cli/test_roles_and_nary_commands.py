"""`score roles` and `score nary`, run as a user runs them."""

import json
from pathlib import Path

import pytest

from running import run, write


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_roles_from_grits_files():
    write(
        "gold.json",
        [
            {
                "docid": "TST1-MUC3-0001",
                "extracts": {"PerpInd": [[["the rebels", 3], ["they", 9]]], "Target": [[["a car", 5]]]},
            }
        ],
    )
    Path("preds.out").write_text(json.dumps({"10001": {"pred_extracts": {"PerpInd": [["rebels"]], "Target": []}}}))
    content = json.loads(run("score", "roles", "gold.json", "preds.out", "--format", "json").stdout)
    assert content["metrics"]["ceaf_ree"]["tally"] == {"num_p": 1, "den_p": 1, "num_r": 1, "den_r": 2}
    assert content["metrics"]["ree_phi4"]["precision"] == pytest.approx(2 / 3)
    assert "strings=grit" in content["signature"]
    out = run("score", "roles", "gold.json", "preds.out", "--by", "label").stdout
    assert "PerpInd\tceaf_ree\t1.0\t1.0\t1.0\t1" in out
    assert "missed" in run("explain", "roles", "gold.json", "preds.out").stdout


def test_nary_equations_beside_scirex():
    gold = {"doc_id": "d", "ner": [[0, 1, "Task"], [2, 4, "Method"]], "coref": {"T": [[0, 1]], "M": [[2, 4]]},
            "n_ary_relations": [{"Task": "T", "Method": "M"}]}  # fmt: skip
    system = {
        "doc_id": "d",
        "clusters": {"t": [[0, 1]], "m": [[2, 4]]},
        "ner": [],
        "n_ary_relations": [{"Task": "t", "Method": "m"}],
    }
    write("gold.jsonl", [gold])
    write("system.jsonl", [system])
    rows = [line.split("\t")[:4] for line in run("score", "nary", "gold.jsonl", "system.jsonl").stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["clusters", "n2", "scirex_clusters", "scirex_n2"]
    assert [round(float(row[3]), 4) for row in rows] == [1, 1, 1, 1]
    assert "relations: match = 1 of 1" in run("explain", "nary", "gold.jsonl", "system.jsonl", "--metric", "n2").stdout
    done = run("explain", "nary", "gold.jsonl", "system.jsonl", "--metric", "scirex_n2", code=2)
    assert "not an expression of the algebra" in done.stderr


def test_bad_files_leave_with_2_and_say_where():
    Path("bad.jsonl").write_text('{"id": "d", "roles": {"r": 3}}\n')
    assert "bad.jsonl:1: roles.r: expected a list" in run("score", "roles", "bad.jsonl", "bad.jsonl", code=2).stderr
    assert "no such file" in run("score", "nary", "none.jsonl", "none.jsonl", code=2).stderr
