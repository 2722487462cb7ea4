"""`score events`, run as a user runs it."""

import json
from pathlib import Path

import pytest

from running import run, run_process, write

GOLD = [
    {
        "doc_id": "d",
        "wnd_id": "1",
        "events": [{"trigger": [5, 6, "Attack", "x"], "arguments": [[1, 3, "Agent", "a"], [7, 8, "Target", "b"]]}],
    }
]
SYSTEM = [
    {
        "doc_id": "d",
        "wnd_id": "1",
        "events": [{"trigger": [5, 6, "Attack", "x"], "arguments": [[1, 3, "Agent", "a"], [8, 9, "Target", "c"]]}],
    }
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.json", GOLD)
    write("system.json", SYSTEM)


def test_textee_figures_and_equations():
    done = run("score", "events", "gold.json", "system.json")
    rows = {line.split("\t")[0]: line.split("\t")[3] for line in done.stdout.splitlines()[1:]}
    assert rows["tri_c"] == "1.0"
    assert rows["arg_c"] == rows["arg_c+"] == rows["arg_f1"] == "0.5"


def test_by_role_by_type_and_explained():
    out = run("score", "events", "gold.json", "system.json", "--by", "label", "--metric", "arg_c").stdout
    assert "Agent\t1.0\t1.0\t1.0\t1" in out
    assert (
        "Attack\ttri_c\t1.0"
        in run("score", "events", "gold.json", "system.json", "--by", "label", "--label", "type").stdout
    )
    assert "missed" in run("explain", "events", "gold.json", "system.json").stdout
    message = run("score", "events", "gold.json", "system.json", "--by", "label", "--metric", "tri_c", code=2).stderr
    assert "labels are role, type" in message
    assert "use --label type." in message


def test_coreference_and_heads():
    Path("coref.jsonl").write_text(json.dumps({"doc_key": "d/1", "clusters": [[[7, 7], [8, 8]]]}))
    done = run(
        "score",
        "events",
        "gold.json",
        "system.json",
        "--coreference",
        "coref.jsonl",
        "--heads",
        "last",
        "--format",
        "json",
    )
    content = json.loads(done.stdout)
    assert content["metrics"]["arg_c_coref"]["f1"] == 1
    assert content["metrics"]["gen_arg_c_head"]["f1"] == 0.5
    assert "heads=last, coreference=reference" in content["signature"]


def test_the_order_of_hashes_changes_nothing():
    runs = {
        run_process("score", "events", "gold.json", "system.json", PYTHONHASHSEED=seed).stdout for seed in ("0", "5")
    }
    assert len(runs) == 1
