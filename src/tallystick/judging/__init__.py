"""Judges: they decide whether a candidate means the same as a reference, where no rule can.

A judge is asked a `Question` and gives a `Verdict`. A person (web page, terminal, Label Studio), a language model and an
embedding are judges. Their answers are kept in a `Store`, one SQLite file, keyed by what was asked, so that nothing is asked
twice and an answer serves every system and every run.
"""

from tallystick.judging.agreement import Agreement, agreement, kappa
from tallystick.judging.questions import Answers, Judge, Judgement, Label, Question, Verdict
from tallystick.judging.recorded import Recorded, judge_named
from tallystick.judging.store import Store

__all__ = [
    "Agreement", "Answers", "Judge", "Judgement", "Label", "Question", "Recorded", "Store", "Verdict", "agreement",
    "judge_named", "kappa",
]  # fmt: skip
