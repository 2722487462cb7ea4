"""An option that changes figures is in the signature: every option of every task, tried one by one."""

import json
from dataclasses import replace
from pathlib import Path

import click
import pytest

from bundled import EXAMPLES
from bundled import FILES as BUNDLED
from tallystick.cli.options import task_options
from tallystick.errors import TallystickError
from tallystick.results.result import shared_signatures
from tallystick.tasks.contract import Reading, find_task, task_names

SPANS = ("segment", "ts", "token", "overlap", "contain", "iou", "segment_units", "semeval", "nervaluate")
WHICH_FILE = {
    "input", "reference_column", "predicted_column", "token_column", "separator", "comment", "delimiter", "misc",
    "spans_field", "id", "from_", "confidence", "type", "schema", "choices", "metric", "train", "ontology", "tokens",
    "judgements", "judge", "ner", "clusters", "metrics", "time_limit", "allow_code", "topic", "reference_id", "reference_from", "tag_names",
}  # fmt: skip
"""What says where the data stands and how it is written, or which metric is asked for; and what others are tested for."""
VALUES = {
    "average": ["macro"], "tags": [("PER",), ("LOC",), ("X",)], "supertags": [("S",)], "separators": [0.0], "beta": [2.0],
    "k1": [0], "k2": [0], "iou": [0.99], "weight_column": [1], "parents": [str(EXAMPLES / "events.parents.tsv"), "parents.tsv"],
    "informativity": ["name=1,nominal=0.5,pronoun=0.25"], "heads": ["last", "first"], "symmetric": [("spouse",), ("R",)],
    "coreference": [str(EXAMPLES / "events.coreference.jsonl")], "fillers": ["any", "phi3", "words"], "kinds": [("membership",)],
    "roles": [("Material", "Method", "Metric", "Task", "Score")],
    "parses": [str(EXAMPLES / "arguments.parses.conllu")], "pronouns": ["it"], "harmless": [""], "conjunctions": ["or"],
    "modifiers": ["amod"], "tools": [str(EXAMPLES / "calls.tools.json")], "nothing": ["missing", "missing,null,empty"],
    "layers": [2], "enhancements": ["123456"],
}  # fmt: skip


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write = {
        "parents.tsv": "attack\tevent\n",
        "gold.amr": "# ::id a\n(w / want-01 :ARG0 (b / boy) :mod (r / red))\n",
        "system.amr": "# ::id a\n(w / want-01 :ARG0 (b / girl) :domain (r / red) :domain (r2 / red))\n",
        "gold.conll": _chains("(1)", "(1)", "(2)", "(2)", "-", "(3)"),
        "system.conll": _chains("(1)", "(1)", "(1)", "-", "(4)", "(3)"),
        "gold.jsonl": json.dumps(
            {"id": 1, "templates": [{"type": "attack", "slots": {"V": [["a man", "him"]]}}], "a": ""}
        ),
        "system.jsonl": json.dumps(
            {"id": 1, "templates": [{"type": "attack", "slots": {"V": [["a man", "them"]]}}], "b": 3}
        ),
        "gold.iob": "a 2 B-X\nb 1 I-X\nc 9 I-PER\n\na 1 B-X\nb 1 B-X\nd 3 B-PER\n",
        "layers.gold": "a B-X B-Y\nb I-X O\n",
        "layers.system": "a B-X O\nb I-X B-Y\n",
        "system.iob": "a 2 B-X\nb 1 I-X\nc 9 B-PER\n\na 1 B-X\nb 1 I-X\nd 3 I-X\n",
    }
    for name, text in write.items():
        Path(name).write_text(text)


def _chains(*cells):
    lines = "".join(f"d\t0\t{k}\tw\t{cell}\n" for k, cell in enumerate(cells))
    return f"#begin document (d); part 000\n{lines}\n#end document\n"


FILES = {
    **{name: [tuple(str(EXAMPLES / file) for file in files)] for name, files in BUNDLED.items()},
    "amr": [("gold.amr", "system.amr")],
    "coreference": [("gold.conll", "system.conll")],
    "templates": [("gold.jsonl", "system.jsonl")],
    "records": [("gold.jsonl", "system.jsonl")],
    "hierarchies": [tuple(str(EXAMPLES / f"table1.{side}.newick") for side in ("gold", "system2"))],
    "spans": [
        ("gold.iob", "system.iob"),
        tuple(str(EXAMPLES / f"spans.{side}.iob") for side in ("gold", "system")),
        ("layers.gold", "layers.system"),
    ],
}


@pytest.mark.parametrize("task", task_names())
def test_what_changes_figures_is_in_the_signature(written, task, capsys):
    known = find_task(task)
    options, usual = task_options(known, "figures"), known.Settings()
    metrics = SPANS if task == "spans" else ()

    def results(files, settings):
        return known.score(*files, metrics, settings, Reading()).results

    changed = 0
    for files in FILES[task]:
        before = results(files, usual)
        for option in options:
            if option.name in WHICH_FILE:
                continue
            for value in _others(option, getattr(usual, option.name)):
                try:
                    after = results(files, replace(usual, **{option.name: value}))
                except TallystickError:
                    continue  # it does not go with these files
                for name in set(before) & set(after):
                    if after[name].figures != before[name].figures:
                        changed += 1
                        assert after[name].signature != before[name].signature, (option.name, value, name)
                both = [{name: of[name] for name in before if name in after} for of in (before, after)]
                if any(one.figures != other.figures for one, other in zip(*map(dict.values, both), strict=True)):
                    said = "of several metrics it says nothing: it belongs into settings_line"
                    assert len(set(map(tuple, map(shared_signatures, both)))) == 2, (option.name, value, said)
    assert changed or task in ("dependencies", "nary"), "no option changes anything here, so nothing was tested"


def _others(option, usual):
    """Other values of an option than the usual one."""
    if option.name in VALUES:
        return VALUES[option.name]
    if isinstance(option.type, click.Choice):
        return [value for value in option.type.choices if value != usual]
    assert option.is_flag, f"{option.name}: add values to try, or say that it changes no figures"
    return [not usual]
