"""Questions and judgements as JSON Lines, so that anything else can judge, and stores can be put together.

    {"key": "5f…", "candidate": "Lazar", "references": ["he"], "document": "…", "event_type": "…", "trigger": "…", "role": "…"}

is a question. The same line with `judge` and either a `label` or the answers (`valid`, `same_as`, `relation`) is a judgement; of
a question that the store knows the `key` is enough. `same_as` counts references from 0. A pair of texts is short:
`{"reference": "THE MAIDS", "candidate": "MAIDS"}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.files.json_values import decode_line
from tallystick.files.source import read_text, shown_name
from tallystick.judging.names import checked_experience, checked_name
from tallystick.judging.questions import Question
from tallystick.judging.store import KINDS, Store
from tallystick.judging.verdicts import Answers, Judgement, Verdict

ASKED = tuple(one.name for one in fields(Question))
TEXTS = ("document", "event_type", "trigger", "role", "source")
ANSWERED = (
    "judge", "kind", "experience", "version", "label", "valid", "same_as", "relation", "explanation", "when", "details",
)  # fmt: skip
KNOWN = ("key", "reference", *ASKED, *ANSWERED)
SORTS: dict[type, str] = {list: "a list of numbers", str: "a text", dict: "an object"}


@dataclass
class Taken:
    """What an import brought."""

    questions: list[Question] = field(default_factory=list)
    judgements: list[tuple[Judgement, str]] = field(default_factory=list)
    """With the kind of the judge."""
    experience: dict[str, int] = field(default_factory=dict)
    """What the lines say of it, by judge."""
    left_out: list[str] = field(default_factory=list)
    """What could not be taken, and why, a line each."""
    seen: set[str] = field(default_factory=set)
    """Who is named in an export of Label Studio's, taken or not."""


def question_line(question: Question) -> str:
    """A question as a line; what is empty is left out."""
    value = {"key": question.key, **question.to_json()}
    return json.dumps({name: part for name, part in value.items() if part not in ("", None, ())}, ensure_ascii=False)


def judgement_line(one: Judgement, kind: str, experience: int = 0) -> str:
    """A judgement as a line, with its question; of experience only where there is some."""
    value = json.loads(question_line(one.question))
    answers = one.answers
    value |= {"judge": one.judge, "kind": kind, "version": one.version, "label": one.verdict.label}
    if experience:
        value["experience"] = experience
    if answers is not None:
        value |= {"valid": answers.valid, "relation": answers.relation}
    value |= {"same_as": list(one.verdict.references), "explanation": one.verdict.explanation, "when": one.when}
    value["details"] = one.details
    return json.dumps({name: part for name, part in value.items() if part not in ("", None, {})}, ensure_ascii=False)


def read_lines(name: str | Path, store: Store | None = None, judge: str | None = None) -> Taken:
    """Questions and judgements of a file; `judge` is who answered where a line does not say it."""
    return parse_lines(read_text(name), shown_name(name), store, judge)


def parse_lines(content: str, file: str, store: Store | None = None, judge: str | None = None) -> Taken:
    """The same for what was read already."""
    taken = Taken()
    for number, text in enumerate(content.split("\n"), 1):  # not at what else Unicode calls the end of a line
        if not text.strip():
            continue
        place = Place(file, number)
        value = decode_line(text, file, number)
        if not isinstance(value, dict):
            raise InputError(f"expected an object with a question or a judgement, found {text[:60]}", place)
        try:
            _take(value, taken, store, judge)
        except InputError as error:
            raise InputError(error.reason, place) from None
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise InputError(f"not a question or a judgement ({type(error).__name__}: {error})", place) from None
    return taken


def _take(value: dict[str, Any], taken: Taken, store: Store | None, judge: str | None) -> None:
    for name in value:
        if name not in KNOWN:
            raise InputError(f"no field {name!r}; there are {', '.join(KNOWN)}.{did_you_mean(name, KNOWN)}")
    question = question_of(value, store)
    if not any(name in value for name in ("label", "valid")):
        for name in ("same_as", "relation"):
            if name in value:
                raise InputError(f"has `{name}`, but neither `label` nor `valid`, the answer to question 1")
        taken.questions.append(question)
        return
    who = value.get("judge", judge)
    if not isinstance(who, str) or not who.strip():
        raise InputError("a judgement needs `judge`, the name of who answered (or --annotator NAME for all of them)")
    kind = value.get("kind", "person")
    if kind not in KINDS:
        raise InputError(f"kind: a judge is one of {', '.join(KINDS)}, found {kind!r}")
    checked_name(who, kind)
    if "experience" in value:
        mark = checked_experience(value["experience"])
        if taken.experience.setdefault(who, mark) != mark:
            raise InputError(f"experience: {mark} for {who!r}, and {taken.experience[who]} in a line before")
    taken.judgements.append((judgement_of(value, question, who), kind))


def question_of(value: dict[str, Any], store: Store | None) -> Question:
    """The question of a line: by its content, or by its key."""
    key = value.get("key")
    if "candidate" not in value:
        found = store.question(str(key)) if store is not None and key else None
        if found is None:
            raise InputError(
                f"the store knows no question {key!r}; give the question itself, or the store that has it" if key
                else "expected a question (`candidate`, `references`, ...) or the `key` of one"
            )  # fmt: skip
        return found
    parts = {name: value[name] for name in ASKED if name in value}
    if "reference" in value:
        if "references" in value:
            raise InputError("has `reference` and `references`; one of them is enough")
        parts["references"] = [value["reference"]]
    texts = [parts["candidate"], *parts.get("references", ()), *(parts.get(name, "") for name in TEXTS)]
    if not isinstance(parts.get("references", []), list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"expected texts, and a list of texts as references, found {json.dumps(parts)[:120]}")
    if not parts["candidate"].strip():
        raise InputError("the candidate is empty")
    question = Question.from_json(parts)
    if key is not None and key != question.key:
        raise InputError("the `key` is not the one of this question: it was changed; leave the key out to ask another")
    return question


def judgement_of(value: dict[str, Any], question: Question, judge: str) -> Judgement:
    """A judgement from the fields of a line."""
    for name, expected in (("same_as", list), ("explanation", str), ("version", str), ("when", str), ("details", dict)):
        if not isinstance(value.get(name, expected()), expected):
            raise InputError(f"{name}: expected {SORTS[expected]}, found {json.dumps(value[name])[:60]}")
    same_as = tuple(value.get("same_as", ()))
    for k in same_as:
        if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k < len(question.references):
            raise InputError(f"same_as: no reference {k!r}; there are {len(question.references)}, counted from 0")
    answers, label = None, value.get("label")
    if "valid" in value:
        if not isinstance(value["valid"], bool):
            raise InputError(f"valid: expected true or false, found {value['valid']!r}")
        answers = Answers(value["valid"], same_as if value["valid"] else (), value.get("relation"))
        follows = answers.verdict().label
        if label is not None and label != follows:
            raise InputError(f"the answers lead to {follows}, but the label is {label!r}")
        label = follows
    elif "relation" in value:
        raise InputError("has `relation` without `valid`, the answer to question 1")
    verdict = Verdict(label, same_as, value.get("explanation", ""))  # type: ignore[arg-type]
    return Judgement(
        question, judge, verdict, value.get("version", ""), answers, value.get("when", ""), value.get("details", {})
    )


@dataclass(frozen=True)
class Kept:
    """What an import changed."""

    questions: int
    judgements: int
    replaced: int
    same: int
    marked: tuple[str, ...] = ()
    """Whose experience is another now."""


def keep(store: Store, taken: Taken) -> Kept:
    """Put an import into a store. Who had answered a question before, and otherwise, has the answer replaced; so is what is said of experience."""
    known = store.judges()
    kinds = {name: kind for name, (kind, _) in known.items()}
    for one, kind in taken.judgements:  # before anything is written
        if kinds.setdefault(checked_name(one.judge, kind), kind) != kind:
            raise InputError(
                f"{one.judge!r} is a {kinds[one.judge]} in {store.path}, or in a line before, and a {kind} in what is to be imported"
            )
    with store.writing():  # all of it or nothing
        asked = store.add_questions(taken.questions)
        counts = {"new": 0, "replaced": 0, "same": 0}
        given: dict[tuple[str, str, str], Judgement] = {}
        for one, _ in taken.judgements:
            asks = one.question.key, one.judge, one.version
            before = given.get(asks) or store.judgement(*asks)
            same = before is not None and (before.verdict, before.answers) == (one.verdict, one.answers)
            counts["same" if same else "new" if before is None else "replaced"] += 1
            if not same:
                given[asks] = one
        for name, mark in taken.experience.items():
            store.add_judge(name, kinds[name], mark)
        for kind in KINDS:
            store.add_all([one for one in given.values() if kinds[one.judge] == kind], kind)
    marked = tuple(name for name, mark in taken.experience.items() if mark != known.get(name, ("", 0))[1])
    return Kept(asked, counts["new"], counts["replaced"], counts["same"], marked)


def renamed(taken: Taken, names: dict[str, str]) -> Taken:
    """The same with other names of judges."""
    judged = [(replace(one, judge=names.get(one.judge, one.judge)), kind) for one, kind in taken.judgements]
    marks = {names.get(name, name): mark for name, mark in taken.experience.items()}
    return replace(taken, judgements=judged, experience=marks)


def lines(parts: Iterable[str]) -> Iterator[str]:
    """Lines with their ends."""
    return (f"{part}\n" for part in parts)
