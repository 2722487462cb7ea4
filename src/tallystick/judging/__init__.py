"""Judges: who decides whether a candidate means what a reference means, where no rule can.

A judge is asked a `Question` and gives a `Verdict`. A person (web page, terminal, Label Studio), a language model and an
embedding are judges; their answers are kept in a `Store`, one SQLite file, keyed by what was asked, so that nothing is asked
twice and an answer serves every system and every run.
"""

from tallystick.judging.agreement import Agreement, agreement, kappa
from tallystick.judging.questions import Question
from tallystick.judging.store import Store
from tallystick.judging.verdicts import Answers, Judge, Judgement, Label, Verdict

__all__ = [
    "Agreement", "Answers", "Judge", "Judgement", "Label", "Question", "Store", "Verdict", "agreement", "kappa",
]  # fmt: skip
