"""WNUT-17, seven real systems. The data are not part of the project; runs where it is (tests/public_data.py)."""

import json

import pytest

from public_data import PUBLIC, needs
from running import run
from tallystick.errors import SidesMismatch
from tallystick.results.selection import spearman
from tallystick.tasks.spans.files import SpanCorpus
from tallystick.tasks.spans.metrics import SpanOptions, score
from tallystick.tasks.spans.tags import Columns, decode, read_tags

FOLDER = PUBLIC / "spans" / "wnut17"
TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
SYSTEMS = [
    "arcada",
    "drexel_cci",
    "flytxt",
    "mic-cis.txt",
    "sjtu_adapt.txt",
    "spinningbytes.txt",
    "uh_ritual",
]

pytestmark = needs("spans/wnut17")
recorded = needs("spans/wnut17/expected.json")


def texts_of(system):
    # mic-cis writes "get" for "gt"; its sentences have the right lengths
    same_tokens = system != "mic-cis.txt"
    path = FOLDER / "submissions" / system
    return decode(read_tags(FOLDER / "emerging.test.annotated", path, Columns(same_tokens=same_tokens)), "IOB2").texts


def figures_of(system, **options):
    """The averages of segment, token and ts, means over the declared types."""
    found = score(SpanCorpus(texts_of(system)), ("segment", "token", "ts"), SpanOptions(tags=TYPES, **options))
    return [result.averages for result in found.values()]


@recorded
@pytest.mark.parametrize("system", ["arcada", "drexel_cci", "sjtu_adapt.txt", "uh_ritual"])
def test_expected_figures(system):
    expected = json.loads((FOLDER / "expected.json").read_text())["systems"][system]
    exact, tokens, both = figures_of(system)
    half = figures_of(system, separators=0.5)[2]
    found = {
        "segment exact, micro F1": exact["micro"]["f1"],
        "segment exact, macro F1 over the six types": exact["macro"]["f1"],
        "token, micro F1": tokens["micro"]["f1"],
        "token, macro F1": tokens["macro"]["f1"],
        "token and separator, micro F1": both["micro"]["f1"],
        "token and separator, macro F1": both["macro"]["f1"],
        "token and separator, separators weighted 0.5, macro F1": half["macro"]["f1"],
        "token and separator, Cohen's kappa per type, averaged": both["macro"]["kappa"],
        "token and separator, accuracy per type, averaged": both["macro"]["accuracy"],
    }
    assert found == pytest.approx(expected, abs=1e-9)


def test_seven_systems_ranked_by_segment_and_by_token_and_separator():
    segment, token, both = [], [], []
    for system in SYSTEMS:
        exact, tokens, units = figures_of(system)
        segment.append(exact["micro"]["f1"])
        token.append(tokens["macro"]["f1"])
        both.append(units["macro"]["f1"])
    assert spearman(both, segment) == pytest.approx(0.893, abs=5e-4)
    assert spearman(both, token) == pytest.approx(0.964, abs=5e-4)


def test_a_submission_with_other_tokens_is_refused_with_the_line():
    with pytest.raises(SidesMismatch, match=r'annotated:2 has "gt", .*mic-cis.txt:2 has "get"'):
        read_tags(FOLDER / "emerging.test.annotated", FOLDER / "submissions" / "mic-cis.txt")


@recorded
def test_one_command_compares_all_seven():
    done = run(
        "compare", "spans", "emerging.test.annotated", *(f"submissions/{system}" for system in SYSTEMS), "--ignore-tokens",
        *(part for name in ("segment", "token", "ts") for part in ("--metric", name)), "--format", "json", cwd=FOLDER,
    )  # fmt: skip
    found = json.loads(done.stdout)
    expected = json.loads((FOLDER / "expected.json").read_text())["systems"]
    names = {"segment": "segment exact, micro F1", "token": "token, macro F1", "ts": "token and separator, macro F1"}
    for system, figures in expected.items():
        for metric, name in names.items():
            cell = found["systems"][system][metric]
            assert cell["value"] == pytest.approx(figures[name], abs=1e-12)
            assert cell["interval"][0] < cell["value"] < cell["interval"][1]
    assert len(found["differences"]) == 3 * 21
    assert found["systems"]["uh_ritual"]["segment"]["beats"] == "bd"
    assert all("b" in found["systems"][system]["segment"]["beats"] for system in SYSTEMS if system != "drexel_cci")
    agreement = {(row["first"], row["second"]): row["spearman"] for row in found["correlations"]}
    assert agreement["segment", "ts"] == pytest.approx(0.893, abs=5e-4)
    assert agreement["token", "ts"] == pytest.approx(0.964, abs=5e-4)
