"""MUC-4's interactive scoring from a store: string fills that no rule matches, judged by a person."""

import json
from pathlib import Path

import pytest

from running import run
from tallystick.judging import Answers, Store
from tallystick.judging.desk import Desk
from tallystick.judging.recorded import Recorded
from tallystick.tasks.templates.files import read_muc4
from tallystick.tasks.templates.muc4 import decide_fills, open_fills, score

TEMPLATE = """\
0.  MESSAGE: ID                    DEV-0001
1.  MESSAGE: TEMPLATE              1
4.  INCIDENT: TYPE                 BOMBING
9.  PERP: INDIVIDUAL ID            {perpetrators}
12. PHYS TGT: ID                   {targets}
"""
KEY = TEMPLATE.format(
    perpetrators='"TWO ARMED MEN" / "GUNMEN"\n                                   "A WOMAN"',
    targets='"THE EMBASSY OF SPAIN"',
)
RESPONSE = TEMPLATE.format(
    perpetrators='"ATTACKERS"\n                                   "THE WOMAN"\n                                   "A DRIVER"',
    targets='"SPANISH MISSION"',
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key.txt").write_text(KEY)
    Path("response.txt").write_text(RESPONSE)
    return read_muc4("key.txt"), read_muc4("response.txt")


def row(report, slot):
    found = report.row((slot,))
    return tuple(found[name] for name in ("COR", "PAR", "INC", "SPU", "MIS"))


def test_only_what_no_rule_matches_is_asked(files):
    found = open_fills(*files)
    assert [(one.slot, one.question.candidate, one.question.references) for one in found] == [
        ("perp-ind-id", "ATTACKERS", ("TWO ARMED MEN / GUNMEN", "A WOMAN")),
        ("perp-ind-id", "A DRIVER", ("TWO ARMED MEN / GUNMEN", "A WOMAN")),
        ("phys-tgt-id", "SPANISH MISSION", ("THE EMBASSY OF SPAIN",)),
    ]  # "THE WOMAN" equals "A WOMAN" without its article
    question = found[0].question
    assert (question.event_type, question.role) == ("BOMBING", "perp-ind-id")
    assert [question.document[slice(*span)] for span in question.reference_spans] == list(question.references)
    assert question.document.startswith("DEV-0001, template 1\n\ninc-type: BOMBING")


def test_the_answers_are_its_judgements(files, tmp_path):
    fills = open_fills(*files)
    with Store(tmp_path / "j.sqlite") as store:
        anna = Desk(store, "anna")
        anna.answer(fills[0].question, Answers(True, (0,), "conveys"))
        anna.answer(fills[1].question, Answers(False))
        anna.answer(fills[2].question, Answers(True, (0,), "removes"))
        found = decide_fills(fills, Recorded(store))
    assert found.note == "the judge decided 3 of 3 open string fills"
    before, after = score(*files), score(*files, judgements=found.judgements)
    assert row(before, "perp-ind-id") == (1, 0, 1, 1, 0)
    assert row(after, "perp-ind-id") == (2, 0, 0, 1, 0)
    assert row(before, "phys-tgt-id") == (0, 0, 1, 0, 0)
    assert row(after, "phys-tgt-id") == (0, 1, 0, 0, 0)


def test_correct_for_none_of_the_keys_earns_nothing_and_is_said(files, tmp_path):
    fills = open_fills(*files)
    with Store(tmp_path / "j.sqlite") as store:
        Desk(store, "anna").answer(fills[1].question, Answers(True, (), "different"))
        found = decide_fills(fills, Recorded(store))
    assert found.judgements == {}
    assert found.note == (
        "the judge decided 1 of 3 open string fills: the figures are lower bounds; 1 are correct for none of the key's fills, "
        "which earns nothing here"
    )


def test_from_export_over_the_terminal_to_the_score(files):
    done = run("judge", "export", "key.txt", "response.txt", "--task", "muc4", "--store", "j.sqlite")
    assert "3 questions, 3 of them new" in done.stderr
    run("judge", "terminal", "j.sqlite", "--annotator", "anna", stdin="173\n2\nq")
    command = ("score", "templates", "key.txt", "response.txt", "--preset", "muc4-official", "--format", "json")
    before, after = (json.loads(run(*command, *more).stdout) for more in ((), ("--judge", "j.sqlite")))
    assert (before["slots"]["perp-ind-id"]["COR"], after["slots"]["perp-ind-id"]["COR"]) == (1, 2)
    assert after["warnings"] == ["the judge decided 2 of 3 open string fills: the figures are lower bounds"]
    assert "judge=recorded(j.sqlite, person anna, 2 judgements, " in after["signature"]
    compared = run(
        "compare", "templates", "key.txt", "response.txt", "--preset", "muc4-official", "--judge", "j.sqlite"
    )
    assert "response" in compared.stdout
