"""What the page is told, as plain values: a question with its passage, the progress, the differences of two people."""

from __future__ import annotations

from typing import Any

from tallystick.judging.agreement import Agreement
from tallystick.judging.asking import RELATION_KEYS, asked, reference_keys, summary
from tallystick.judging.desk import Desk
from tallystick.judging.passage import passage_of
from tallystick.judging.store import Store
from tallystick.judging.verdicts import RELATIONS, Judgement


def state_view(store: Store, desk: Desk | None) -> dict[str, Any]:
    """Who is there, how far each is, and the agreement so far."""
    keys = set(store.queue())
    people = [
        {"name": name, "done": len(keys & store.labels(name).keys()), "experience": experience}
        for name, (kind, experience) in store.judges().items()
        if kind == "person"
    ]
    if desk is None:
        return {"total": len(keys), "people": people}
    return {
        "total": len(keys),
        "people": people,
        "annotator": desk.name,
        "done": len(keys & desk.labels().keys()),
        "next": desk.next_open(0),
        "agreements": [agreement_view(one) for one in desk.agreements()],
    }


def agreement_view(one: Agreement) -> dict[str, Any]:
    """An agreement with its table."""
    return {
        "with": one.second, "n": one.n, "observed": one.observed, "kappa_3": one.kappa_3, "kappa_2": one.kappa_2,
        "table": one.table,
    }  # fmt: skip


def question_view(desk: Desk, place: int) -> dict[str, Any]:
    """A question as a person sees it, with the answer that was given, if one was."""
    question = desk.question(place)
    passage = passage_of(question)
    own = desk.own(question.key)
    keys = reference_keys(len(question.references))
    return {
        "place": place,
        "key": question.key,
        "event_type": question.event_type,
        "trigger": question.trigger,
        "role": question.role,
        "source": question.source,
        "candidate": question.candidate,
        "references": [{"text": text, "key": key} for text, key in zip(question.references, keys, strict=True)],
        "relations": [
            {"name": name, "text": RELATIONS[name][0], "label": RELATIONS[name][1], "key": key}
            for key, name in RELATION_KEYS.items()
        ],
        "asked": asked(question),
        "pieces": [[piece.text, *piece.marks] for piece in passage.pieces],
        "notes": passage.notes,
        "next": desk.next_open(place + 1),
        "own": None if own is None else judgement_view(own),
        "others": [judgement_view(one) for one in desk.others(question.key)],
    }


def judgement_view(one: Judgement) -> dict[str, Any]:
    """What somebody answered."""
    answers = one.answers
    return {
        "judge": one.judge,
        "label": one.verdict.label,
        "valid": None if answers is None else answers.valid,
        "same_as": list(one.verdict.references if answers is None else answers.same_as),
        "relation": None if answers is None else answers.relation,
        "summary": summary(answers, one.question),
        "remark": one.verdict.explanation,
    }


def differences_view(desk: Desk, other: str) -> dict[str, Any]:
    """Where two people answered differently, and who decides."""
    experience = {name: experience for name, (_, experience) in desk.store.judges().items()}
    mine, theirs = experience.get(desk.name, 0), experience.get(other, 0)
    decides = "" if mine == theirs else desk.name if mine > theirs else other
    return {
        "other": other,
        "decides": decides,
        "differences": [
            {
                "place": one.place, "candidate": one.first.question.candidate, "role": one.first.question.role,
                "trigger": one.first.question.trigger, "references": one.first.question.references,
                "first": judgement_view(one.first), "second": judgement_view(one.second),
            }
            for one in desk.differences(other)
        ],
    }  # fmt: skip
