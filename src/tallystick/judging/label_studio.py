"""Label Studio: its labelling configuration and tasks, and its export back as judgements.

The paper's annotators worked in Label Studio (Figure 2). The configuration asks the same three questions with the same keys;
Q2 and Q3 appear after Yes. A task carries the document as HTML with its marks, all text escaped, the wording, and the
choices of Q2, which differ from task to task. An export comes back as JSON or JSON-MIN; other formats lose the choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from tallystick.errors import InputError
from tallystick.files.json_values import decode_line
from tallystick.files.source import read_text, shown_name
from tallystick.judging.asking import NO, NONE, RELATION_KEYS, YES, asked, reference_keys
from tallystick.judging.exchange import Taken
from tallystick.judging.passage import passage_of
from tallystick.judging.questions import Question
from tallystick.judging.store import Store
from tallystick.judging.verdicts import RELATIONS, Answers, Judgement

NONE_OF_THEM = "No"
STYLES = {
    "trigger": "border:1.5px solid #7a4a9c;border-radius:4px;padding:0 2px",
    "reference": "border-bottom:3px solid #2f7d5b;background:#dff1e7",
    "candidate": "background:#ffe2a8;font-weight:600",
}


def configuration() -> str:
    """The labelling configuration: one for all tasks."""
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
    """One task."""
    first, second, third = asked(question)
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
    """The choices of Q2: the references, each by another text, and none of them."""
    out: list[str] = []
    for text in question.references:
        text = text.replace(
            "$", "$\u2060"
        )  # Label Studio puts data in the place of $5, unless something stands between
        value, n = f"Yes, {text}", 1
        while value in out:
            n += 1
            value = f"Yes, {text} ({n})"
        out.append(value)
    return [*out, NONE_OF_THEM]


def document_html(question: Question) -> str:
    """The document with its marks; every text is escaped."""
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
    """`config.xml` and `tasks.json` in a folder; how many tasks."""
    from tallystick.files.writing import write_atomically

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made a folder ({error.strerror})", str(folder)) from None
    tasks = [task(question) for question in questions]
    write_atomically(target / "config.xml", configuration())
    write_atomically(target / "tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    return len(tasks)


# -- back again -------------------------------------------------------------------------------------------------------


def is_export(content: str) -> bool:
    """Whether the content of a file is an export (a list) rather than lines of JSON."""
    return content.lstrip()[:1] == "["


def read_export(name: str | Path, store: Store) -> Taken:
    """The judgements of an export, JSON or JSON-MIN."""
    return parse_export(read_text(name), shown_name(name), store)


def parse_export(content: str, file: str, store: Store) -> Taken:
    """The same for what was read already."""
    tasks = decode_line(content, file)
    if not isinstance(tasks, list) or not all(isinstance(one, dict) for one in tasks):
        raise InputError("expected a list of tasks, as Label Studio exports them (JSON or JSON-MIN)", file)
    taken = Taken()
    for number, one in enumerate(tasks, 1):
        where = f"task {one.get('id', number)}"
        data = one.get("data", one)
        key = data.get("key") if isinstance(data, dict) else None
        question = store.question(str(key)) if key else None
        if question is None:
            raise InputError(
                f"{where}: its question ({key!r}) is not in {store.path}; an export goes back into the store that it came from",
                file,
            )
        try:
            if "annotations" in one or "data" in one:
                annotations = one.get("annotations") or ()
                taken.seen.update(_who(annotation.get("completed_by")) for annotation in annotations)
                found = [_annotation(annotation, question) for annotation in annotations]
            else:
                taken.seen.add(_who(one.get("annotator")))
                found = [_flat(one, question)]
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise InputError(f"{where}: not an annotation of Label Studio's ({error})", file) from None
        for judgement, reason in found:
            if judgement is not None:
                taken.judgements.append((judgement, "person"))
            else:
                taken.left_out.append(f"{where}: {reason}")
    return taken


Found = tuple[Judgement | None, str]


def _annotation(value: dict[str, Any], question: Question) -> Found:
    """An annotation of the JSON export."""
    who = _who(value.get("completed_by"))
    if value.get("was_cancelled"):
        return None, f"{who} has skipped it"
    given: dict[str, list[str]] = {}
    for one in value.get("result") or ():
        inner = one.get("value", {})
        given.setdefault(one.get("from_name", ""), []).extend(inner.get("choices") or inner.get("text") or ())
    when = str(value.get("updated_at") or value.get("created_at") or "")
    return _judged(given, question, who, when)


def _flat(value: dict[str, Any], question: Question) -> Found:
    """A task of the JSON-MIN export: one for each annotation, a single choice as a text, several as {"choices": [...]}"""
    given = {name: _listed(value.get(name)) for name in ("valid", "same_as", "relation", "remark")}
    when = str(value.get("updated_at") or value.get("created_at") or "")
    return _judged(given, question, _who(value.get("annotator")), when)


def _listed(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = value.get("choices") or value.get("text") or []
    return [] if value is None else [value] if isinstance(value, str) else [str(one) for one in value]


def _judged(given: dict[str, list[str]], question: Question, who: str, when: str) -> Found:
    valid, same, relation = (given.get(name, []) for name in ("valid", "same_as", "relation"))
    remark = " ".join(given.get("remark", ()))
    if valid == ["No"]:
        return _judgement(Answers(False), question, who, when, remark), ""
    if valid != ["Yes"]:
        return None, f"{who} left question 1 open"
    known = choices(question)
    strange = [one for one in same if one not in known]
    if strange:
        return None, f"{who} chose {strange[0]!r} at question 2, which is none of its choices"
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


def _who(value: Any) -> str:
    """An annotator as a name: the address, or the number."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return value if isinstance(value, str) and value else f"label-studio {value if value is not None else '?'}"


def annotators(pairs: Sequence[str]) -> dict[str, str]:
    """`1=anna` or `anna@example.org=anna` as names; a number stands for Label Studio's number."""
    out = {}
    for text in pairs:
        known, equals, name = text.rpartition("=")
        if not equals or not known or not name:
            raise InputError(f"--annotator expects ID=NAME such as 1=anna, found {text!r}")
        out[f"label-studio {known}" if known.isdigit() else known] = name
    return out
