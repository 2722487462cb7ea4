"""The agreement of judges as tables: a row for each pair, the cross table of one, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallystick.judging.agreement import Agreement
from tallystick.judging.desk import summary
from tallystick.judging.questions import LABELS, Judgement
from tallystick.show.tables import Column, Table

KAPPAS = [Column(name, "number", printed=2) for name in ("kappa_3", "kappa_2")]
Differences = Sequence[tuple[Judgement, Judgement]]


def agreements_table(rows: Sequence[Agreement]) -> Table:
    """A row for each pair. Kappa is no percentage."""
    return Table(
        ["judge", "against", "questions", "same label", *KAPPAS],
        [[one.first, one.second, one.n, one.observed, one.kappa_3, one.kappa_2] for one in rows],
    )


def cross_table(one: Agreement) -> Table:
    """How often each label of the first met each of the second."""
    rows = [[f"{one.first}: {label}", *counts] for label, counts in zip(LABELS, one.table, strict=True)]
    return Table(["", *(f"{one.second}: {label}" for label in LABELS)], rows)


def differences_table(one: Agreement, found: Differences) -> Table:
    """A row for each question that the two labelled differently."""
    rows = [
        [
            first.question.candidate, " | ".join(first.question.references), first.question.role, first.question.trigger,
            _shown(first), _shown(second),
        ]
        for first, second in found
    ]  # fmt: skip
    return Table(["candidate", "references", "role", "trigger", one.first, one.second], rows)


def _shown(one: Judgement) -> str:
    why = one.verdict.explanation or summary(one.answers, one.question)
    return f"{one.verdict.label}: {why}" if why else one.verdict.label


def agreements_json(
    rows: Sequence[Agreement], found: Differences, notes: Sequence[str], differences: bool
) -> dict[str, Any]:
    """The same as plain values."""
    out: dict[str, Any] = {
        "labels": list(LABELS),
        "agreements": [
            {
                "judge": one.first, "against": one.second, "questions": one.n, "same_label": one.observed,
                "kappa_3": one.kappa_3, "kappa_2": one.kappa_2, "table": [list(row) for row in one.table],
            }
            for one in rows
        ],
        "notes": list(notes),
    }  # fmt: skip
    if differences:
        out["differences"] = [
            {
                "key": first.question.key, "candidate": first.question.candidate,
                "references": list(first.question.references), "role": first.question.role,
                "trigger": first.question.trigger, "labels": [first.verdict.label, second.verdict.label],
                "explanations": [first.verdict.explanation, second.verdict.explanation],
            }
            for first, second in found
        ]  # fmt: skip
    return out
