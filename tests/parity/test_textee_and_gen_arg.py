"""TextEE's and gen-arg's own figures, over data that is fetched; without it these tests are skipped."""

import json

import pytest

from public_data import PUBLIC, needs
from tallystick.files.pairing import pair_documents
from tallystick.tasks.events import metrics as events
from tallystick.tasks.events.files import EventDocument, read_coreference, read_events

DATA = PUBLIC / "events"
pytestmark = needs("events/cases.json", "events/wikievents/test.jsonl")

NAMES = {
    "trigger_id": "tri_i", "trigger_cls": "tri_c", "argument_id": "arg_i", "argument_cls": "arg_c",
    "argument_attached_id": "arg_i+", "argument_attached_cls": "arg_c+",
}  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    return json.loads((DATA / "cases.json").read_text())


def score(case, folder, options=events.PLAIN):
    sides = []
    for side in ("gold", "pred"):
        path = folder / f"{side}.json"
        path.write_text(json.dumps(case[side]))
        sides.append(read_events(path, predicted=side == "pred"))
    return events.score(pair_documents(*sides, EventDocument), (), options)


def check(case, folder):
    found = score(case, folder)
    for name, expected in case["expected"].items():
        result = found[NAMES[name]]
        counts = [result.tally[key] for key in ("den_p", "den_r", "num_p")]
        assert counts == [expected[key] for key in ("pred_num", "gold_num", "match_num")], (name, case.get("name"))
        figures = [100 * result.figures[key] for key in ("precision", "recall", "f1")]
        assert figures == pytest.approx([expected[key] for key in ("precision", "recall", "f1")])


def test_textee_micro_cases(cases, tmp_path):
    assert len(cases["textee_micro"]) == 8
    for case in cases["textee_micro"]:
        check(case, tmp_path)


def test_textee_on_wikievents(cases, tmp_path):
    check(cases["textee_wikievents_eae"], tmp_path)
    found = score(cases["textee_wikievents_eae"], tmp_path)
    assert [round(100 * found[name].f1, 2) for name in ("arg_i", "arg_c", "arg_i+", "arg_c+")] == [
        68.43,
        61.94,
        67.68,
        61.17,
    ]
    check(cases["textee_wikievents_e2e_perturbed"], tmp_path)


def test_gen_arg_exact_and_with_coreference(cases, tmp_path):
    gold = read_events(DATA / "wikievents" / "test.jsonl")
    coreference = read_coreference(DATA / "wikievents" / "coref_test.jsonlines", gold)
    found = score(cases["textee_wikievents_eae"], tmp_path, events.EventOptions(coreference=coreference))
    expected = cases["gen_arg_scorer_wikievents"]["exact"]
    for name, theirs in (
        ("gen_arg_i", "Arg-I"),
        ("gen_arg_c", "Arg-C"),
        ("gen_arg_i_coref", "coref Arg-I"),
        ("gen_arg_c_coref", "coref Arg-C"),
    ):
        figures = found[name].figures
        assert [round(100 * figures[key], 2) for key in ("precision", "recall", "f1")] == expected[theirs], name


def test_wikievents_own_file_gives_textees_gold(cases, tmp_path):
    gold = read_events(DATA / "wikievents" / "test.jsonl")
    path = tmp_path / "gold.json"
    path.write_text(json.dumps(cases["textee_wikievents_eae"]["gold"]))
    theirs = read_events(path)
    gold.values = {name: gold.values[name] for name in theirs.values}
    found = events.score(
        pair_documents(gold, theirs, EventDocument), ("arg_c+",), events.EventOptions(strip_articles=True)
    )["arg_c+"]
    # All of theirs, and the three arguments of the one event whose type gen-arg has no template for.
    assert (found.precision, found.tally["num_r"], found.tally["den_r"]) == (1, 563, 566)
