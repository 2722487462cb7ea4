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
        assert "--symmetric spous: no relation of these files has this type; there are" in said
        assert 'Did you mean "spouse"?' in said


def test_nor_in_a_comparison_or_in_shards(folder):
    gold, system = (str(EXAMPLES / f"relations.{side}.jsonl") for side in ("gold", "system"))
    for command in (["compare", "relations", gold, f"A={system}"], ["score", "relations", gold, system, "--jobs", "1"]):
        assert 'Did you mean "spouse"?' in run(*command, "--symmetric", "spous", code=2).output
        run(*command, "--symmetric", "spouse")


def test_a_symmetric_type_of_one_system_alone(folder):
    relation = {"type": "R", "subj": {"start": 0, "end": 1, "type": "A"}, "obj": {"start": 2, "end": 3, "type": "A"}}
    write("r.gold.jsonl", [{"id": "d", "relations": [relation]}])
    write("r.other.jsonl", [{"id": "d", "relations": [{**relation, "type": "S"}]}])
    run("compare", "relations", "r.gold.jsonl", "A=r.gold.jsonl", "B=r.other.jsonl", "--symmetric", "S")


@pytest.mark.parametrize("task", ["events", "arguments"])
def test_an_ontology_without_generated_text(folder, task):
    said = run("score", task, "gold.jsonl", "gold.jsonl", "--ontology", "ontology.json", code=2).stderr
    assert "--ontology is for generated text (gen-arg's), which is not in gold.jsonl" in said


@pytest.mark.parametrize(
    ("option", "format_"),
    [("--digits=3", "json"), ("--columns=f1", "json"), ("--uncertainty=pm", "json"), ("--caption=x", "tsv"), ("--caption=x", "table")],
)  # fmt: skip
def test_a_layout_that_a_format_does_not_have(folder, option, format_):
    Path("gold.iob").write_text("a B-X\nb O\n")
    said = run("score", "spans", "gold.iob", "gold.iob", option, "--format", format_, code=2).stderr
    assert f"{option.partition('=')[0]} changes nothing in the format {format_}" in said


def test_digits_of_seqeval(folder):
    Path("gold.iob").write_text("a B-X\nb O\n")
    assert "1.000" in run("score", "spans", "gold.iob", "gold.iob", "--digits", "3", "--seqeval").stdout
    assert "1.00 " in run("score", "spans", "gold.iob", "gold.iob", "--seqeval").stdout


SPANS = ("gold.iob", "gold.iob"), ("spans.jsonl", "spans.jsonl")


@pytest.fixture
def spans(folder):
    Path("gold.iob").write_text("a B-X\nb O\n\nc B-X\n")
    write("spans.jsonl", [{"id": 1, "text": "Anna met", "spans": [[0, 4, "PER"]]}])


@pytest.mark.parametrize(
    ("option", "value", "on"),
    [
        ("k1", "3", "constrained_overlap"), ("k2", "3", "constrained_overlap"), ("iou", "0.7", "iou"),
        ("partner", "any", "overlap, contain, constrained_overlap and iou"),
    ],
)  # fmt: skip
def test_options_of_other_metrics(spans, option, value, on):
    message = f"--{option} changes nothing: it is for {on}, and the metrics here are segment, ts"
    for command in ("score", "compare"):
        assert message in run(command, "spans", "gold.iob", "gold.iob", f"--{option}", value, code=2).output
        metric = on.split(",")[0]
        run(command, "spans", "gold.iob", "gold.iob", f"--{option}", value, "--metric", metric)


@pytest.mark.parametrize(
    "option",
    ["--scheme BILOU", "--weight-column 1", "--misc x", "--suffix", "--separator ,", "--comment #", "--strict", "--delimiter _"],
)  # fmt: skip
def test_options_of_other_formats(spans, option):
    for command in ("score", "compare"):
        said = run(command, "spans", "spans.jsonl", "spans.jsonl", *option.split(), code=2).output
        assert f"{option.split()[0]} changes nothing: it is for " in said
        assert "these files are read as jsonl" in said


@pytest.mark.parametrize("option", ["--offsets tokens", "--tokenizer blanks", "--boundaries expand", "--spans-field x"])
def test_options_of_files_with_offsets(spans, option):
    assert "these files are read as columns" in run("score", "spans", *SPANS[0], *option.split(), code=2).output


@pytest.mark.parametrize("option", ["--undefined 1", "--by document", "--macro", "--format json", "--beta 2"])
def test_seqevals_layout_has_no_place_for_them(spans, option):
    said = run("score", "spans", *SPANS[0], "--seqeval", *option.split(), code=2).output
    assert f"leave {option if option.startswith('--by') else option.split()[0]} out" in said


def test_what_a_comparison_cannot_show_is_said(spans):
    asked = ("compare", "spans", "gold.iob", "gold.iob", "--metric", "segment", "--correlations", "--differences")
    said = run(*asked).output
    assert "--correlations needs at least two metrics" in said
    assert "--differences needs at least two systems" in said
