"""The files of the MUC-4 evaluation of 1992: keys, responses, and the recorded judgements.

    0.  MESSAGE: ID                    TST3-MUC4-0003
    1.  MESSAGE: TEMPLATE              1
    4.  INCIDENT: TYPE                 ATTACK
    9.  PERP: INDIVIDUAL ID            "CRIMINALS" / "MEMBERS OF SHINING PATH"
                                       "GERARDO OLIVOS SILVA"
    20. HUM TGT: TYPE                  ? CIVILIAN: "ENRIQUE LOPEZ"

A slot has a fill on each line: alternatives between `/`, after `:` the tag that says whose type, number or effect it
is, before it `?` if it is optional. `-` is empty, `*` does not apply. A template that is `(OPTIONAL)` need not be found.
JSON with the same fills (a list of templates, or several lists by name: `keys.json#tst3`) is read too.

Judgements are a Lisp list by message, key template and slot: `("THE MAIDS" match "MAIDS")`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import InputError, Place, did_you_mean, some
from tallystick.files.json_values import decode_line
from tallystick.files.source import AnySource, read_text, shown_name
from tallystick.frozen import frozen
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.templates.files import TemplateDocuments

LABELS = {
    "MESSAGE: ID": "message-id", "MESSAGE: TEMPLATE": "template-id", "INCIDENT: DATE": "inc-date",
    "INCIDENT: LOCATION": "inc-loc", "INCIDENT: TYPE": "inc-type", "INCIDENT: STAGE OF EXECUTION": "inc-stage",
    "INCIDENT: INSTRUMENT ID": "inc-instr-id", "INCIDENT: INSTRUMENT TYPE": "inc-instr-type",
    "PERP: INCIDENT CATEGORY": "perp-inc-cat", "PERP: INDIVIDUAL ID": "perp-ind-id",
    "PERP: ORGANIZATION ID": "perp-org-id", "PERP: ORGANIZATION CONFIDENCE": "perp-org-conf",
    "PHYS TGT: ID": "phys-tgt-id", "PHYS TGT: TYPE": "phys-tgt-type", "PHYS TGT: NUMBER": "phys-tgt-num",
    "PHYS TGT: FOREIGN NATION": "phys-tgt-nation", "PHYS TGT: EFFECT OF INCIDENT": "phys-tgt-effect",
    "PHYS TGT: TOTAL NUMBER": "phys-tgt-total-num", "HUM TGT: NAME": "hum-tgt-name",
    "HUM TGT: DESCRIPTION": "hum-tgt-desc", "HUM TGT: TYPE": "hum-tgt-type", "HUM TGT: NUMBER": "hum-tgt-num",
    "HUM TGT: FOREIGN NATION": "hum-tgt-nation", "HUM TGT: EFFECT OF INCIDENT": "hum-tgt-effect",
    "HUM TGT: TOTAL NUMBER": "hum-tgt-total-num",
}  # fmt: skip
SLOTS = tuple(LABELS.values())[2:]
_LINE = re.compile(r"^\s*(\d+)\.\s+(.*\S)\s*$")
_LABEL = re.compile("(" + "|".join(re.escape(label) for label in sorted(LABELS, key=len, reverse=True)) + r")(?:\s+|$)")
_UNTAGGED = ("inc-date", "inc-loc")
Form = Any  # a text, or a tuple whose first element says what it is: or, xref, range, location, qualified, optional


@frozen
class Fill:
    """One fill of a slot: alternative values, alternative tags (None: no tag), and whether it need not be found."""

    values: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    optional: bool = False


@frozen
class Muc4Template:
    """A template of a key or a response; a slot without fills is left out."""

    document: str
    name: str
    slots: Mapping[str, tuple[Fill, ...]] = field(hash=False)
    optional: bool = False
    line: int | None = None


@dataclass
class Muc4Templates:
    """One file: the templates by message. A message without templates is irrelevant."""

    file: str
    documents: dict[str, list[Muc4Template]]
    mapping: set[tuple[str, str, str]] | None = None
    """(message, key template, response template) as recorded, where the file has it."""


def read_muc4(name: AnySource) -> Muc4Templates:
    """A key or response file, as text or as JSON; `#` picks one of several lists in a JSON file."""
    path, _, part = str(name).partition("#")
    file, content = shown_name(name), read_text(path)
    if content.lstrip().startswith(("{", "[")):
        return _from_json(file, content, part)
    if part:
        raise InputError("is no JSON; only a list in a JSON file can be picked with #", file)
    return _from_text(file, content)


def _from_text(file: str, content: str) -> Muc4Templates:
    reading = _Reading(file)
    slots: dict[str, list[str]] = {}
    start, slot = 0, ""
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        numbered = _LINE.match(line)
        if numbered is None:
            if not line[0].isspace() or not slot:
                raise InputError("expected a slot such as `4.  INCIDENT: TYPE`", Place(file, number, 1, line))
            slots[slot].append(line.strip())
            continue
        label = _LABEL.match(numbered[2])
        if label is None:
            found = re.split(r"\s{2,}", numbered[2])[0]
            raise InputError(
                f'"{found}" is no slot of MUC-4.{did_you_mean(found, LABELS)}', Place(file, number, 1, line)
            )
        slot = LABELS[label[1]]
        if slot == "message-id":
            if slots:
                reading.take(slots, start)
            slots, start = {}, number
        elif not slots:
            raise InputError("expected `0.  MESSAGE: ID` before other slots", Place(file, number, 1, line))
        if slot in slots:
            raise InputError(f"{slot} occurs twice in one template", Place(file, number, 1, line))
        value = numbered[2][label.end() :].strip()
        slots[slot] = [value] if value else []
    if slots:
        reading.take(slots, start)
    return reading.finish()


def _from_json(file: str, content: str, part: str) -> Muc4Templates:
    data = decode_line(content, file)
    if isinstance(data, dict):
        if part not in data:
            asked = (
                f"found none called {part!r}.{did_you_mean(part, data)}"
                if part
                else "which one? Pick one with FILE#NAME."
            )
            raise InputError(f"has the lists {some(data)}; {asked}", file)
        data = data[part]
    mapping = None
    if isinstance(data, dict):
        pairs = data.get("official_pairs")
        if pairs is not None:
            try:
                mapping = {(p["doc"], p["key"], p["response"]) for p in pairs}
            except (TypeError, KeyError):
                raise InputError("official_pairs must have doc, key and response", file) from None
        data = data.get("responses")
    if not isinstance(data, list):
        raise InputError(f"is {data!r:.40}; expected a list of templates", file)
    reading = _Reading(file)
    for k, slots in enumerate(data):
        if not isinstance(slots, dict) or not all(isinstance(v, list) for v in slots.values()):
            raise InputError(f"[{k}] is {slots!r:.60}; expected an object with a list of fills for each slot", file)
        for slot, fills in slots.items():
            if slot not in LABELS.values() or not all(isinstance(fill, str) for fill in fills):
                hint = did_you_mean(slot, LABELS.values())
                raise InputError(f"[{k}].{slot} is {fills!r:.60}; expected texts in a slot of MUC-4.{hint}", file)
        reading.take(slots, None)
    found = reading.finish()
    found.mapping = mapping
    return found


class _Reading:
    def __init__(self, file: str) -> None:
        self.file = file
        self.documents: dict[str, list[Muc4Template]] = {}

    def take(self, slots: Mapping[str, list[str]], line: int | None) -> None:
        message, number = slots.get("message-id", []), slots.get("template-id", [])
        if len(message) != 1 or len(number) != 1:
            raise InputError("expected one MESSAGE: ID and one MESSAGE: TEMPLATE", Place(self.file, line))
        listed = self.documents.setdefault(message[0], [])
        if number[0] == "*":
            return
        name, _, rest = number[0].partition(" ")
        if any(one.name == name for one in listed):
            raise InputError(f"template {name} of {message[0]} occurs twice", Place(self.file, line))
        fills = {slot: tuple(filter(None, (parse_fill(text, slot) for text in slots.get(slot, ())))) for slot in SLOTS}
        kept = {slot: some_ for slot, some_ in fills.items() if some_}
        listed.append(Muc4Template(message[0], name, kept, "OPTIONAL" in rest, line))

    def finish(self) -> Muc4Templates:
        if not self.documents:
            raise InputError("has no templates; expected `0.  MESSAGE: ID`", self.file)
        return Muc4Templates(self.file, self.documents)


def parse_fill(text: str, slot: str) -> Fill | None:
    """One line of a slot; None where it is empty or does not apply."""
    text = text.strip()
    if slot == "perp-inc-cat":  # some files repeat a part of the slot's name
        text = text.removeprefix("CATEGORY").strip()
    optional = text.startswith("?")
    text = text.lstrip("? ")
    if text in ("-", "*", ""):
        return None
    if slot in _UNTAGGED:
        return Fill(tuple(map(_unbracketed, split_outside(text, "/"))), None, optional)
    value, *rest = split_outside(text, ":")
    tags = tuple(split_outside(":".join(rest), "/")) if rest else None
    return Fill(tuple(split_outside(value, "/")), tags, optional)


def _unbracketed(text: str) -> str:
    """An alternative without the brackets around the whole of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for k, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:k].strip() if k == len(text) - 1 else text
    return text


def split_outside(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside quotes and brackets."""
    parts, depth, quoted, start, k = [], 0, False, 0, 0
    while k < len(text):
        sign = text[k]
        if sign == "\\" and quoted:
            k += 1
        elif sign == '"':
            quoted = not quoted
        elif not quoted and sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == separator and not quoted and depth <= 0:
            parts.append(text[start:k])
            start = k + 1
        k += 1
    return [" ".join(part.split()) for part in (*parts, text[start:])]


STRING_SLOTS = {
    "perp-ind-id": "PerpInd", "perp-org-id": "PerpOrg", "phys-tgt-id": "Target", "hum-tgt-name": "Victim",
    "hum-tgt-desc": "Victim", "inc-instr-id": "Weapon",
}  # fmt: skip
"""The string slots as recent work names them."""


def string_templates(file: str, content: str) -> TemplateDocuments:
    """A MUC-4 file for the metrics of recent work: the type and the string fills, without case."""
    found = _from_text(file, content)
    note = f"{file}: of MUC-4's slots the incident type and the string fills are scored; descriptions of a named target are not"
    out = TemplateDocuments(file, "MUC-4", warnings=[note])
    for name, listed in found.documents.items():
        templates = []
        for one in listed:
            types = [value.lower() for fill in one.slots.get("inc-type", ()) for value in fill.values]
            fillers = [
                SlotFiller(name, Entity(tuple(value.strip('"').lower() for value in fill.values)))
                for slot, name in STRING_SLOTS.items()
                for fill in one.slots.get(slot, ())
                if not (slot == "hum-tgt-desc" and fill.tags)
            ]
            templates.append(Template(" / ".join(types), tuple(fillers)))
        out.add(name, TemplateSet(tuple(templates)), Place(file, listed[0].line if listed else None))
    return out


# Judgements


@frozen
class Judgement:
    """What a person decided about a response's fill: match, partial or fail, and for which key."""

    verdict: str
    key: Form = None


Judgements = dict[tuple[str, str, str], dict[Form, Judgement]]
"""(message, key template, slot) → the response's fill → what was decided."""

_LISP = re.compile(r'\(|\)|"(?:\\.|[^"\\])*"|;[^\n]*|[^\s()";]+')
VERDICTS = ("match", "partial", "fail")


def read_judgements(name: AnySource) -> Judgements:
    """The history of an interactive scoring session."""
    file, content = shown_name(name), read_text(name)
    out: Judgements = {}
    try:
        for message, *templates in _lists(_lisp(file, content)):
            for template, *slots in _lists(templates):
                for slot, *entries in _lists(slots):
                    listed = out.setdefault((message, template, slot), {})
                    for response, verdict, *key in _lists(entries):
                        if verdict not in VERDICTS:
                            raise InputError(
                                f"{verdict!r} at {message} {template} {slot} is none of {some(VERDICTS)}", file
                            )
                        listed.setdefault(response, Judgement(verdict, key[0] if key else None))
    except (ValueError, TypeError):
        raise InputError("expected ((message (template (slot (response verdict key)...)...)...)...)", file) from None
    return out


def _lists(value: Any) -> Iterator[Any]:
    for one in value:
        if not isinstance(one, tuple):
            raise TypeError
        yield one


def _lisp(file: str, content: str) -> Any:
    stack: list[list[Any]] = [[]]
    opened: list[int] = []
    for token in _LISP.finditer(content):
        text = token[0]
        if text == "(":
            stack.append([])
            opened.append(token.start())
        elif text == ")":
            if not opened:
                raise InputError("has a `)` too many", Place(file, content.count("\n", 0, token.start()) + 1))
            opened.pop()
            done = tuple(stack.pop())
            stack[-1].append(done)
        elif text[0] == '"':
            stack[-1].append(" ".join(re.sub(r"\\(.)", r"\1", text[1:-1]).split()))
        elif text[0] != ";":
            stack[-1].append(None if text == "nil" else text)
    if opened:
        raise InputError("a `(` is never closed", Place(file, content.count("\n", 0, opened[-1]) + 1))
    if len(stack[0]) != 1:
        raise InputError(f"has {len(stack[0])} lists; expected one", file)
    return stack[0][0]
