"""Questions and judgements as files: JSON Lines for any other tool, and Label Studio's projects and exports.

    {"key": "5f…", "candidate": "Lazar", "references": ["he"], "document": "…", "event_type": "…", "trigger": "…", "role": "…"}

is a question. The same line with `judge` and either a `label` or the answers (`valid`, `same_as`, `relation`) is a judgement; for a
question that the store has, the `key` is enough. `same_as` counts references from 0. A pair of texts is short:
`{"reference": "THE MAIDS", "candidate": "MAIDS"}`.

The annotators of the BEMEAE paper worked in Label Studio (Figure 2). The labelling configuration asks the same three questions with the
same keys; Q2 and Q3 appear after Yes. A task carries the document as HTML with its marks, all text escaped, the wording, and the choices of
Q2, which differ from task to task. An export comes back as JSON or JSON-MIN; other formats lose the choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.files.json_values import decode_line
from tallystick.files.source import read_text, shown_name
from tallystick.frozen import frozen
from tallystick.judging.desk import NO, NONE, RELATION_KEYS, YES, passage_of, question_texts, reference_keys
from tallystick.judging.questions import (
    RELATIONS,
    Answers,
    Judgement,
    Question,
    Verdict,
    check_experience,
    check_name,
)
from tallystick.judging.store import KINDS, Store

ASKED = tuple(one.name for one in fields(Question))
TEXTS = ("document", "event_type", "trigger", "role", "source")
ANSWERED = (
    "judge", "kind", "experience", "version", "label", "valid", "same_as", "relation", "explanation", "when", "details",
)  # fmt: skip
KNOWN = ("key", "reference", *ASKED, *ANSWERED)
SORTS: dict[type, str] = {list: "a list of numbers", str: "a text", dict: "an object"}


@dataclass
class ImportedData:
    """The questions and judgements of an imported file."""

    questions: list[Question] = field(default_factory=list)
    judgements: list[tuple[Judgement, str]] = field(default_factory=list)
    """Each with the kind of its judge."""
    experience: dict[str, int] = field(default_factory=dict)
    """The experience of each judge, as the lines give it."""
    left_out: list[str] = field(default_factory=list)
    """What could not be imported and why, a line each."""
    seen: set[str] = field(default_factory=set)
    """The annotators in a Label Studio export, imported or not."""


def question_line(question: Question) -> str:
    """A question as a line, without empty fields."""
    value = {"key": question.key, **question.to_json()}
    return json.dumps({name: part for name, part in value.items() if part not in ("", None, ())}, ensure_ascii=False)


def judgement_line(one: Judgement, kind: str, experience: int = 0) -> str:
    """A judgement as a line, with its question; experience only if it is not 0."""
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


def read_lines(name: str | Path, store: Store | None = None, judge: str | None = None) -> ImportedData:
    """Questions and judgements of a file; `judge` is the judge of lines that name none."""
    return parse_lines(read_text(name), shown_name(name), store, judge)


def parse_lines(content: str, file: str, store: Store | None = None, judge: str | None = None) -> ImportedData:
    """The same for a text that was already read."""
    data = ImportedData()
    for number, text in enumerate(content.split("\n"), 1):  # not at the other line ends of Unicode
        if not text.strip():
            continue
        place = Place(file, number)
        value = decode_line(text, file, number)
        if not isinstance(value, dict):
            raise InputError(f"expected an object with a question or a judgement, found {text[:60]}", place)
        try:
            _take(value, data, store, judge)
        except InputError as error:
            raise InputError(error.reason, place) from None
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise InputError(f"not a question or a judgement ({type(error).__name__}: {error})", place) from None
    return data


def _take(value: dict[str, Any], data: ImportedData, store: Store | None, judge: str | None) -> None:
    for name in value:
        if name not in KNOWN:
            raise InputError(f"no field {name!r}; there are {', '.join(KNOWN)}.{did_you_mean(name, KNOWN)}")
    question = question_of(value, store)
    if not any(name in value for name in ("label", "valid")):
        for name in ("same_as", "relation"):
            if name in value:
                raise InputError(f"has `{name}`, but neither `label` nor `valid`, the answer to question 1")
        data.questions.append(question)
        return
    who = value.get("judge", judge)
    if not isinstance(who, str) or not who.strip():
        raise InputError("a judgement needs `judge`, the name of the judge (or --annotator NAME for all of them)")
    kind = value.get("kind", "person")
    if kind not in KINDS:
        raise InputError(f"kind: a judge is one of {', '.join(KINDS)}, found {kind!r}")
    check_name(who, kind)
    if "experience" in value:
        mark = check_experience(value["experience"])
        if data.experience.setdefault(who, mark) != mark:
            raise InputError(f"experience: {mark} for {who!r}, and {data.experience[who]} in a line before")
    data.judgements.append((judgement_of(value, question, who), kind))


def question_of(value: dict[str, Any], store: Store | None) -> Question:
    """The question of a line, by its content or by its key."""
    key = value.get("key")
    if "candidate" not in value:
        found = store.question(str(key)) if store is not None and key else None
        if found is None:
            raise InputError(
                f"the store has no question {key!r}; give the question itself, or the store that has it" if key
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
        raise InputError(
            "the `key` does not belong to this question, so the question was changed; remove the key to ask a new question"
        )
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


@frozen
class ImportCounts:
    """What an import changed in a store."""

    questions: int
    judgements: int
    replaced: int
    same: int
    marked: tuple[str, ...] = ()
    """The judges whose experience changed."""


def import_data(store: Store, data: ImportedData) -> ImportCounts:
    """Put an import into a store. It replaces a judge's earlier, different answers, and the experience of judges."""
    known = store.judges()
    kinds = {name: kind for name, (kind, _) in known.items()}
    for one, kind in data.judgements:  # before anything is written
        if kinds.setdefault(check_name(one.judge, kind), kind) != kind:
            raise InputError(
                f"{one.judge!r} is a {kinds[one.judge]} in {store.path}, or in a line before, and a {kind} in the file"
            )
    with store.writing():  # all of it or nothing
        asked = store.add_questions(data.questions)
        counts = {"new": 0, "replaced": 0, "same": 0}
        given: dict[tuple[str, str, str], Judgement] = {}
        for one, _ in data.judgements:
            asks = one.question.key, one.judge, one.version
            before = given.get(asks) or store.judgement(*asks)
            same = before is not None and (before.verdict, before.answers) == (one.verdict, one.answers)
            counts["same" if same else "new" if before is None else "replaced"] += 1
            if not same:
                given[asks] = one
        for name, mark in data.experience.items():
            store.add_judge(name, kinds[name], mark)
        for kind in KINDS:
            store.add_all([one for one in given.values() if kinds[one.judge] == kind], kind)
    marked = tuple(name for name, mark in data.experience.items() if mark != known.get(name, ("", 0))[1])
    return ImportCounts(asked, counts["new"], counts["replaced"], counts["same"], marked)


def rename_judges(data: ImportedData, names: dict[str, str]) -> ImportedData:
    """The same data with other names for the judges."""
    judged = [(replace(one, judge=names.get(one.judge, one.judge)), kind) for one, kind in data.judgements]
    marks = {names.get(name, name): mark for name, mark in data.experience.items()}
    return replace(data, judgements=judged, experience=marks)


def lines(parts: Iterable[str]) -> Iterator[str]:
    """Lines with their ends."""
    return (f"{part}\n" for part in parts)


# -- Label Studio -----------------------------------------------------------------------------------------------------


NONE_OF_THEM = "No"
STYLES = {
    "trigger": "border:1.5px solid #7a4a9c;border-radius:4px;padding:0 2px",
    "reference": "border-bottom:3px solid #2f7d5b;background:#dff1e7",
    "candidate": "background:#ffe2a8;font-weight:600",
}


def configuration() -> str:
    """The labelling configuration, one for all tasks."""
    relations = "\n".join(
        f"      <Choice value={quoteattr(RELATIONS[name][0])} hotkey={quoteattr(key)}/>"
        for key, name in RELATION_KEYS.items()
    )
    shown = 'visibleWhen="choice-selected" whenTagName="valid" whenChoiceValue="Yes"'
    return f"""<View>
  <Header value="$about" size="5"/>
  <HyperText name="document" value="$document" inline="true"/>
  <Header value="$question_1"/>
  <Choices name="valid" toName="document" choice="single-radio" showInline="true" required="true" requiredMessage="Question 1 is open">
    <Choice value="Yes" hotkey="{YES}"/>
    <Choice value="No" hotkey="{NO}"/>
  </Choices>
  <View {shown}>
    <Header value="$question_2"/>
    <Choices name="same_as" toName="document" choice="multiple" value="$references" required="true" requiredMessage="Question 2 is open"/>
    <Header value="$question_3"/>
    <Choices name="relation" toName="document" choice="single-radio" required="true" requiredMessage="Question 3 is open">
{relations}
    </Choices>
  </View>
  <TextArea name="remark" toName="document" placeholder="Remark, if you like" maxSubmissions="1" editable="true" rows="1"/>
</View>
"""


def task(question: Question) -> dict[str, Any]:
    """A question as a Label Studio task."""
    first, second, third = question_texts(question)
    about = [question.source, question.event_type, question.trigger and f"“{question.trigger}”", question.role]
    return {
        "data": {
            "key": question.key,
            "about": " · ".join(part for part in about if part) or "Two texts",
            "document": document_html(question),
            "candidate": question.candidate,
            "question_1": first,
            "question_2": second,
            "question_3": third,
            "references": [
                {"value": value, "hotkey": key} if key else {"value": value}
                for value, key in zip(choices(question), [*reference_keys(len(question.references)), NONE], strict=True)
            ],
        }
    }


def choices(question: Question) -> list[str]:
    """The choices of Q2: the references, each with a distinct text, and none of them."""
    out: list[str] = []
    for text in question.references:
        text = text.replace("$", "$\u2060")  # Label Studio replaces $5 by data, unless a character separates the two
        value, n = f"Yes, {text}", 1
        while value in out:
            n += 1
            value = f"Yes, {text} ({n})"
        out.append(value)
    return [*out, NONE_OF_THEM]


def document_html(question: Question) -> str:
    """The document with its marks; all text is escaped."""
    passage = passage_of(question)
    parts = []
    for k, piece in enumerate(passage.pieces):
        text = escape(piece.text).replace("\n", "<br>")
        if piece.marks:
            text = f'<span style="{";".join(STYLES[mark] for mark in piece.marks)}">{text}</span>'
        after = passage.pieces[k + 1].marks if k + 1 < len(passage.pieces) else ()
        parts.append(text + "".join(f"<sup>{mark}</sup>" for mark in piece.marks if mark not in after))
    if not parts:
        parts = [escape(" / ".join(question.references)), " · <b>", escape(question.candidate), "</b>"]
    notes = "".join(f"<p><i>{escape(note)}</i></p>" for note in passage.notes)
    return f'<div style="line-height:1.8">{"".join(parts)}</div>{notes}'


def write_project(folder: str | Path, questions: Iterable[Question]) -> int:
    """Write `config.xml` and `tasks.json` into a folder; returns the number of tasks."""
    from tallystick.files.writing import write_atomically

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be created as a folder ({error.strerror})", str(folder)) from None
    tasks = [task(question) for question in questions]
    write_atomically(target / "config.xml", configuration())
    write_atomically(target / "tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    return len(tasks)


# -- back again -------------------------------------------------------------------------------------------------------


def is_export(content: str) -> bool:
    """Whether the content of a file is an export (a list) rather than lines of JSON."""
    return content.lstrip()[:1] == "["


def read_export(name: str | Path, store: Store) -> ImportedData:
    """The judgements of an export, JSON or JSON-MIN."""
    return parse_export(read_text(name), shown_name(name), store)


def parse_export(content: str, file: str, store: Store) -> ImportedData:
    """The same for a text that was already read."""
    tasks = decode_line(content, file)
    if not isinstance(tasks, list) or not all(isinstance(one, dict) for one in tasks):
        raise InputError("expected a list of tasks, as Label Studio exports them (JSON or JSON-MIN)", file)
    data = ImportedData()
    for number, one in enumerate(tasks, 1):
        where = f"task {one.get('id', number)}"
        given = one.get("data", one)
        key = given.get("key") if isinstance(given, dict) else None
        question = store.question(str(key)) if key else None
        if question is None:
            raise InputError(
                f"{where}: its question ({key!r}) is not in {store.path}; import an export into the store that it came from",
                file,
            )
        try:
            if "annotations" in one or "data" in one:
                annotations = one.get("annotations") or ()
                data.seen.update(_annotator_name(annotation.get("completed_by")) for annotation in annotations)
                found = [_read_annotation(annotation, question) for annotation in annotations]
            else:
                data.seen.add(_annotator_name(one.get("annotator")))
                found = [_read_min_task(one, question)]
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise InputError(f"{where}: not a Label Studio annotation ({error})", file) from None
        for judgement, reason in found:
            if judgement is not None:
                data.judgements.append((judgement, "person"))
            else:
                data.left_out.append(f"{where}: {reason}")
    return data


Found = tuple[Judgement | None, str]


def _read_annotation(value: dict[str, Any], question: Question) -> Found:
    """An annotation of the JSON export."""
    who = _annotator_name(value.get("completed_by"))
    if value.get("was_cancelled"):
        return None, f"{who} skipped it"
    given: dict[str, list[str]] = {}
    for one in value.get("result") or ():
        inner = one.get("value", {})
        given.setdefault(one.get("from_name", ""), []).extend(inner.get("choices") or inner.get("text") or ())
    when = str(value.get("updated_at") or value.get("created_at") or "")
    return _read_answers(given, question, who, when)


def _read_min_task(value: dict[str, Any], question: Question) -> Found:
    """A task of the JSON-MIN export: one for each annotation, a single choice as a text, several as {"choices": [...]}"""
    given = {name: _as_list(value.get(name)) for name in ("valid", "same_as", "relation", "remark")}
    when = str(value.get("updated_at") or value.get("created_at") or "")
    return _read_answers(given, question, _annotator_name(value.get("annotator")), when)


def _as_list(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = value.get("choices") or value.get("text") or []
    return [] if value is None else [value] if isinstance(value, str) else [str(one) for one in value]


def _read_answers(given: dict[str, list[str]], question: Question, who: str, when: str) -> Found:
    valid, same, relation = (given.get(name, []) for name in ("valid", "same_as", "relation"))
    remark = " ".join(given.get("remark", ()))
    if valid == ["No"]:
        return _judgement(Answers(False), question, who, when, remark), ""
    if valid != ["Yes"]:
        return None, f"{who} left question 1 open"
    known = choices(question)
    strange = [one for one in same if one not in known]
    if strange:
        return None, f"{who} chose {strange[0]!r} at question 2, which is not one of its choices"
    if not same and question.references:
        return None, f"{who} left question 2 open"
    if NONE_OF_THEM in same and len(same) > 1:
        return None, f"{who} chose a reference and none of them at question 2"
    names = [name for name, (text, _) in RELATIONS.items() if [text] == relation]
    if not names:
        return None, f"{who} left question 3 open"
    places = sorted(known.index(one) for one in same if one != NONE_OF_THEM)
    return _judgement(Answers(True, tuple(places), names[0]), question, who, when, remark), ""


def _judgement(answers: Answers, question: Question, who: str, when: str, remark: str) -> Judgement:
    from dataclasses import replace

    verdict = replace(answers.verdict(), explanation=remark)
    return Judgement(question, who, verdict, answers=answers, when=when, details={"tool": "Label Studio"})


def _annotator_name(value: Any) -> str:
    """The name of an annotator: the address, or the number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return value if isinstance(value, str) and value else f"label-studio {value if value is not None else '?'}"


def read_annotators(pairs: Sequence[str]) -> dict[str, str]:
    """`1=anna` or `anna@example.org=anna` as a mapping to names; a number is Label Studio's number."""
    out = {}
    for text in pairs:
        known, equals, name = text.rpartition("=")
        if not equals or not known or not name:
            raise InputError(f"--annotator expects ID=NAME such as 1=anna, found {text!r}")
        out[f"label-studio {known}" if known.isdigit() else known] = name
    return out
