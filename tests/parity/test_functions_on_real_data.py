"""The functions of the tasks on real data: files, and the same as plain data, have the command's figures to the bit. Runs where
the data is (tests/public_data.py); tests/test_python_page.py does the same on the examples, for every task."""

from __future__ import annotations

import gzip
import json

import pytest

import tallystick as ts
from public_data import PUBLIC, needs
from running import run
from tallystick.tasks.coreference.files import read_chains

DATA = PUBLIC
pytestmark = needs("events/cases.json", "coreference/litbank.key.gz", "meaning", "spans/wnut17")


def cases():
    return json.loads((DATA / "events" / "cases.json").read_text())


def spans(folder):
    def tags(path):
        blocks = [block.split("\n") for block in path.read_text(encoding="utf-8").split("\n\n")]
        return [[line.split()[-1] for line in block if line.strip()] for block in blocks if any(map(str.strip, block))]

    files = (
        DATA / "spans" / "wnut17" / "emerging.test.annotated",
        DATA / "spans" / "wnut17" / "submissions" / "uh_ritual",
    )
    return files, [tags(path) for path in files], ()


def coreference(folder):
    files = [DATA / "coreference" / f"litbank.{side}.gz" for side in ("key", "response")]

    def clusters(path):
        chains = read_chains(path)
        out = {name: {} for name in chains.documents}
        for row in range(len(chains)):
            found = out[chains.documents[chains.document[row]]].setdefault(int(chains.entity[row]), [])
            found.append((int(chains.start[row]), int(chains.end[row]) + 1))
        return {name: list(entities.values()) for name, entities in out.items()}

    return files, [clusters(path) for path in files], ()


def amr(folder):
    files = [DATA / "meaning" / f"little_prince.{side}.amr.gz" for side in ("gold", "jamr")]

    def graphs(path):
        blocks = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n\n")
        return [block.strip() for block in blocks if "\n(" in f"\n{block}"]

    return files, [graphs(path) for path in files], ()


def written(folder, *sides):
    files = [folder / "gold.json", folder / "system.json"]
    for file, side in zip(files, sides, strict=True):
        file.write_text(json.dumps(side))
    return files


def events(folder):
    case = cases()["textee_wikievents_eae"]
    return written(folder, case["gold"], case["pred"]), (case["gold"], case["pred"]), ()


def arguments(folder):
    files, sides, _ = events(folder)
    return files, sides, ("--tokens", DATA / "events" / "wikievents" / "test.jsonl")


def nary(folder):
    with gzip.open(DATA / "events" / "scirex_dev_perturbed.json.gz") as stream:
        found = json.load(stream)
    return written(folder, found["gold"], found["pred"]), (found["gold"], found["pred"]), ()


def roles(folder):
    found = cases()
    sides = found["gold"]["muc4_test_grit_role_entities"], found["pred"]["grit"]["preds_s_t"]
    return written(folder, *sides), sides, ()


def templates(folder):
    found = cases()
    predicted = found["pred"]["muc4"]["gtt"]
    files = written(
        folder, found["gold"]["muc4_test_gtt"], {name: {"pred_templates": one} for name, one in predicted.items()}
    )
    return files, (found["gold"]["muc4_test_gtt"], predicted), ()


@pytest.mark.parametrize(
    "task", [spans, coreference, amr, events, arguments, nary, roles, templates], ids=lambda task: task.__name__
)
def test_files_and_plain_data_have_the_commands_figures_to_the_bit(task, tmp_path):
    files, plain, options = task(tmp_path)
    name = task.__name__
    command = json.loads(run("score", name, *files, "--format", "json", *options).stdout)
    chosen = dict(zip((option.removeprefix("--") for option in options[::2]), options[1::2], strict=True))
    for sides in (files, plain):
        results = getattr(ts, name)(*sides, **chosen)
        assert list(results) == list(command["metrics"])
        for metric, result in results.items():
            assert result.count == command["documents"]
            assert {figure: command["metrics"][metric][figure] for figure in result.figures} == result.figures
            if task is not spans:  # whose tallies are by tag
                assert result.tally == command["metrics"][metric]["tally"]
