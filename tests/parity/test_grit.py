"""grit's own counts, for each document, each role and in total; skipped without the data."""

import json

import pytest

from public_data import PUBLIC, needs
from tallystick.tasks.roles import metrics as roles

DATA = PUBLIC / "events"
pytestmark = needs("events/cases.json")


@pytest.fixture(scope="module")
def cases():
    return json.loads((DATA / "cases.json").read_text())


METRICS = (("grit_strict", "strict"), ("ceaf_ree", "strict"), ("grit_prop", "prop"))
SUMS = ("p_num", "p_den", "r_num", "r_den")


def test_hand_cases(cases):
    assert len(cases["grit_test_cases"]) == 7
    for case in cases["grit_test_cases"]:
        found = roles.evaluate(case["gold"], case["pred"])
        for name, theirs in METRICS:
            expected = case["expected"][theirs]
            assert list(found[name].tally.values()) == [expected[key] for key in SUMS]
            assert found[name].f1 == pytest.approx(expected["f1"])


@pytest.mark.parametrize(("system", "f1"), [("preds_s_t", 54.50), ("preds_s_t_no_offset_constraint", 52.70)])
def test_both_systems_by_document_by_role_and_in_total(cases, system, f1):
    found = roles.evaluate(cases["gold"]["muc4_test_grit_role_entities"], cases["pred"]["grit"][system])
    for name, theirs in METRICS:
        result, expected = found[name], cases["corpus"]["grit"][system][theirs]
        documents = cases["per_doc"][f"grit/{system}"]
        assert [row.tolist() for row in result.rows] == [documents[key][theirs] for key in result.ids]
        assert list(result.tally.values()) == [expected["micro_avg"][key] for key in SUMS]
        for row in result.by_label("args[*].role"):
            assert list(row.tally.values()) == [expected[row.label][key] for key in SUMS]
    assert round(100 * found["ceaf_ree"].f1, 2) == f1
