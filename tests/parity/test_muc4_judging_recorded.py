"""The people of 1992 as judges: what they recorded, asked as questions, moves the string fills as their record does.

The two differ where a person judged a fill that the rules match already, or decided about its tag: neither is asked here.
"""

from public_data import PUBLIC, needs
from tallystick.judging import Verdict
from tallystick.tasks.templates.files import read_judgements, read_muc4
from tallystick.tasks.templates.muc4 import VERDICTS, SlotScorer, decide_fills, fill_form, key_forms, open_fills, score

FOLDER = PUBLIC / "events" / "muc4_official"
pytestmark = needs("events/muc4_official")
LABELS = {verdict: label for label, verdict in VERDICTS.items()}


class Recorded1992:
    """Answers each open fill by the record of its message, template and slot."""

    signature = "1992"

    def __init__(self, judgements, fills):
        self.scorer, self.fills = SlotScorer(judgements), fills

    def judge(self, questions):
        assert questions == [one.question for one in self.fills]
        return [self.verdict(one) for one in self.fills]

    def verdict(self, one):
        found = self.scorer._judged(one.template, one.slot, one.response)
        if found is None:
            return None
        about = [] if found.verdict == "fail" else key_forms(found.key)[0]
        return Verdict(
            LABELS[found.verdict], tuple(k for k, key in enumerate(one.keys) if fill_form(one.slot, key) in about)
        )


def test_the_record_as_answers_gives_the_record_s_counts(muc4_responses):
    apart, moved, alike = [], 0, 0
    for test in ("tst3", "tst4"):
        keys = read_muc4(f"{FOLDER / 'keys.json'}#{test}")
        record = read_judgements(FOLDER / f"judgements.{test}.lisp.gz")
        for response in (one for name, one in muc4_responses.items() if name.startswith(test)):
            fills = open_fills(keys, response, recorded=True)
            asked = decide_fills(fills, Recorded1992(record, fills)).judgements
            before, mine, theirs = (
                score(keys, response, judgements=given, recorded=True).rows()["STRING FILLS ONLY"]
                for given in (None, asked, record)
            )
            counts = ("COR", "PAR", "INC", "SPU", "MIS")
            apart.append(max(abs(mine[c] - theirs[c]) for c in counts))
            moved += sum(abs(before[c] - theirs[c]) for c in counts)
            alike += mine == theirs
    assert (len(apart), alike, max(apart)) == (34, 17, 3)
    assert moved > 1000
