"""BART-Gen on WikiEvents stage by stage, over data that is fetched; without it these tests are skipped."""

import json

import pytest

from public_data import PUBLIC, needs
from tallystick.tasks.arguments.files import read_pair
from tallystick.tasks.arguments.metrics import ArgumentOptions, score
from tallystick.tasks.arguments.stages import Accepted
from tallystick.tasks.parses import with_parses

DATA = PUBLIC / "events"
pytestmark = needs("events/cases.json", "events/wikievents/test.jsonl")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wikievents")
    case = json.loads((DATA / "cases.json").read_text())["textee_wikievents_eae"]
    for side in ("gold", "pred"):
        (folder / f"{side}.json").write_text(json.dumps(case[side]))
    return folder


@pytest.fixture(scope="module")
def pairs(files):
    return read_pair(files / "gold.json", files / "pred.json", tokens=DATA / "wikievents" / "test.jsonl")


def figures(scored):
    return {stage: round(100 * result.f1, 2) for stage, result in scored.results.items()}


def test_stages(pairs):
    found = score(pairs)
    assert figures(found) == {"exact": 61.17, "same_text": 61.35, "harmless_tokens": 61.70, "break_aggregate": 63.64}
    assert found.results["exact"].sums.tolist() == [341, 552, 341, 563]
    assert found.results["break_aggregate"].sums.tolist() == [357, 559, 357, 563]
    assert not pairs.warnings


def test_the_number_of_candidates_kept(pairs):
    assert figures(score(pairs, ArgumentOptions(counting="keep")))["break_aggregate"] == 63.45


def test_what_each_stage_accepts(pairs):
    found = score(pairs)
    accepted = [
        (step.how, block.references[step.references[0]].text, step.candidates[0].text)
        for blocks in found.blocks
        for block in blocks
        for step in block.steps
        if isinstance(step, Accepted) and step.stage != "exact"
    ]
    assert accepted[:3] == [
        ("break", "Afghans", "Afghans"),
        ("break", "expatriates", "expatriates"),
        ("harmless_tokens", "Both brothers", "brothers"),
    ]
    assert ("same_text", "Charikar", "Charikar") in accepted
    assert ("harmless_tokens", "president", "The president") in accepted
    assert sum(how == "break" for how, *_ in accepted) == 13


def test_modifiers(pairs, tmp_path):
    """spaCy's small English model hangs `British` on `government` as an amod; all else here hangs on nothing."""
    path = tmp_path / "parses.conllu"
    with path.open("w", encoding="utf-8") as file:
        for name, document in zip(pairs.ids, pairs.reference, strict=True):
            file.write(f"# newdoc id = {name}\n")
            for k, token in enumerate(document.tokens, 1):
                amod = name == "wiki_ied_bombings_10" and k == 72
                file.write(
                    "\t".join((str(k), token, *"____", "73" if amod else "0", "amod" if amod else "root", "_", "_"))
                    + "\n"
                )
            file.write("\n")
    parsed = with_parses({"": pairs}, path)[""]
    assert figures(score(parsed))["modifiers"] == 63.81
    assert figures(score(parsed, ArgumentOptions(counting="keep")))["modifiers"] == 63.63
