"""An option that would change nothing is an error, or is said."""

import json
from pathlib import Path

import pytest
from running import run, write

EXAMPLES = Path(__file__).parents[2] / "src" / "tallystick" / "examples"
ONTOLOGY = {"attack": {"template": "<arg1> attacked <arg2>", "roles": ["attacker", "target"]}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ontology.json").write_text(json.dumps(ONTOLOGY))
    tokens = ["rebels", "attacked", "Homs"]
    event = {"id": "e", "type": "attack", "trigger": {"start": 1, "end": 2},
             "arguments": [{"role": "target", "start": 2, "end": 3}]}  # fmt: skip
    write("gold.jsonl", [{"id": "d", "tokens": tokens, "events": [event]}])
    return tmp_path


def test_a_symmetric_relation_that_does_not_occur(folder):
    files = [str(EXAMPLES / f"relations.{side}.jsonl") for side in ("gold", "system")]
    for command in ("score", "explain"):
        said = run(command, "relations", *files, "--symmetric", "spouse", "--symmetric", "spous", code=2).stderr
        assert "--symmetric spous: no relation of either file has this type; there are" in said
        assert 'Did you mean "spouse"?' in said


@pytest.mark.parametrize("task", ["events", "arguments"])
def test_an_ontology_without_generated_text(folder, task):
    said = run("score", task, "gold.jsonl", "gold.jsonl", "--ontology", "ontology.json", code=2).stderr
    assert "--ontology is for generated text (gen-arg's), which is not in gold.jsonl" in said


def test_digits_without_seqeval(folder):
    Path("gold.iob").write_text("a B-X\nb O\n")
    said = run("score", "spans", "gold.iob", "gold.iob", "--digits", "3", code=2).stderr
    assert "--digits is the number of decimals of --seqeval" in said
    assert "1.000" in run("score", "spans", "gold.iob", "gold.iob", "--digits", "3", "--seqeval").stdout
    assert "1.00 " in run("score", "spans", "gold.iob", "gold.iob", "--seqeval").stdout
