"""The tables of `score` and `compare` in every format: what they say, and that they stay whole."""

import json

import pytest
from running import run, write


@pytest.fixture
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", [["a", "b"], ["c"]])
    write("system.jsonl", [["a"], ["c", "d"]])
    return tmp_path


def test_a_score_in_latex_carries_its_signature(lists):
    done = run("score", "records", "gold.jsonl", "system.jsonl", "--format", "latex")
    first = done.stdout.splitlines()[0]
    assert first.startswith("% f1(match(exact, 1:1)) | average=micro")
    assert f"signature: {first.removeprefix('% ')}\n" in done.stderr
    assert "\\midrule\n{}[*] &" in done.stdout
