"""Templates against the figures that gtt's and IterX's own scorers gave on the MUC-4 test set."""

import json
import time

import numpy as np
import pytest

from public_data import PUBLIC, needs
from tallystick.tasks.templates.files import pair_templates, read_templates
from tallystick.tasks.templates.metrics import METRICS, VARIANTS, by_slot, score

CASES = PUBLIC / "events" / "cases.json"
pytestmark = needs("events/cases.json")

SYSTEMS = ["gtt", "dygie", "nyu", "sri", "iterx-bart-base", "iterx-bart-large", "iterx-t5-large-enc"]
ROLES = ("PerpInd", "PerpOrg", "Target", "Victim", "Weapon")


@pytest.fixture(scope="module")
def cases():
    return json.loads(CASES.read_text())


@pytest.fixture(scope="module")
def paired(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    gold = folder / "gold.json"
    gold.write_text(json.dumps(cases["gold"]["muc4_test_gtt"]))
    reference = read_templates(gold)

    def read(system):
        file = folder / f"{system}.json"
        file.write_text(json.dumps({k: {"pred_templates": v} for k, v in cases["pred"]["muc4"][system].items()}))
        return pair_templates(reference, read_templates(file))

    return {system: read(system) for system in cases["pred"]["muc4"]}


def expected(cases, system, start):
    (found,) = [entry for name, entry in cases["corpus"]["muc4"][system].items() if name.startswith(start)]
    return found


def per_document(cases, system, ids, key):
    rows = [cases["per_doc"][system][name][key] for name in ids]
    return np.array([row["micro_avg"] if key == "gtt" else row for row in rows], float)


@pytest.mark.parametrize("system", SYSTEMS)
def test_literal_eq_32(cases, paired, system):
    result = score(paired[system], ["eq32"])["eq32"]
    want = expected(cases, system, "literal eq 32")
    assert [result.tally["num_p"], result.tally["den_p"], result.tally["den_r"]] == want["counts"]
    assert [100 * result.figures[name] for name in ("precision", "recall", "f1")] == pytest.approx(
        want["prf"], abs=1e-4
    )


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    ("name", "key", "corpus"),
    [
        ("gtt", "gtt", "gtt_eval.py"),
        ("iterx_subset_quirks", "ceaf_rme_subset", "iterx CEAF-RME_subset"),
        ("iterx_phi3_quirks", "ceaf_rme_phi3", "iterx CEAF-RME_phi3"),
    ],
)
def test_a_scorer_of_the_literature_in_every_document(cases, paired, system, name, key, corpus):
    result = score(paired[system], [name])[name]
    assert not result.warnings
    assert result.rows.tolist() == per_document(cases, system, result.ids, key).tolist()
    want = expected(cases, system, corpus)
    assert list(result.sums) == want["counts"]
    assert [100 * result.figures[figure] for figure in ("precision", "recall", "f1")] == pytest.approx(
        want["prf"], abs=1e-4
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_gtt_by_slot(cases, paired, system):
    rows = by_slot(paired[system], "gtt")
    for role, slot in (("incident_type", "type"), *zip(ROLES, ROLES, strict=True)):
        want = np.sum([document["gtt"][role] for document in cases["per_doc"][system].values()], axis=0)
        assert rows[slot].tolist() == want.tolist()


def test_without_the_quirks_the_gold_has_one_size_and_ties_are_decided(cases, paired):
    sizes = {system: score(paired[system], ["iterx_phi3"])["iterx_phi3"].tally["den_r"] for system in SYSTEMS}
    assert set(sizes.values()) == {980.0}
    different = {
        (system, name)
        for system in SYSTEMS
        for result in [score(paired[system], ["iterx_subset"])["iterx_subset"]]
        for name, mine, theirs in zip(
            result.ids, result.rows, per_document(cases, system, result.ids, "ceaf_rme_subset"), strict=True
        )
        if mine.tolist() != theirs.tolist()
    }
    assert different == {("gtt", "30037"), ("iterx-bart-base", "30024")}


def test_every_system_and_metric_takes_a_second_or_so(paired):
    score(paired["gtt"], [*METRICS, *VARIANTS])  # what is imported only once
    for pairs in paired.values():
        started = time.process_time()
        score(pairs, [*METRICS, *VARIANTS])
        assert time.process_time() - started < 1
