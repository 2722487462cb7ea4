"""Templates from any source: finds out which format a file has, and reads it.

| format | is known by |
|---|---|
| gtt    | JSON: `{"30001": {"pred_templates": [...]}}` or `{"30001": [...]}`, a whole corpus in one object |
| jsonl  | a JSON object a line: gtt's gold (`docid`, `templates`), IterX's (`{"30001": [...]}`), or the plain form |
| muc4   | `0.  MESSAGE: ID`, the key and response files of 1992 |

The plain form is a document a line, with the fillers of a slot as texts, or as lists of the mentions of an entity:

    {"id": "d1", "templates": [{"type": "attack", "slots": {"Victim": ["two men", ["the mayor", "J. Smith"]]}}]}

gtt's form has the slots beside the `incident_type` (SciREX in gtt's form has none: then all templates are of one type, which counts
nothing), and a mention may be a text with its offset. An entity without
mentions is dropped, and a second template of a *gold* line that equals an earlier one too, as gtt's own reader does;
both are counted in the notes.

The files of the MUC-4 evaluation of 1992: keys, responses, and the recorded judgements.

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

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.errors import InputError, Place, SidesMismatch, ValueMismatch, counted, did_you_mean, some
from tallystick.files.boundaries import Uncut
from tallystick.files.json_values import Json, NotJson, decode, decode_line, shown
from tallystick.files.pairing import (
    Documents,
    Missing,
    Paired,
    all_named,
    by_order,
    pair_sides,
    places_of,
    repeated_name,
)
from tallystick.files.source import AnySource, Format, Source, read_text, shown_name
from tallystick.frozen import frozen
from tallystick.structures import Entity, SlotFiller, Template, TemplateSet
from tallystick.tasks.plain import Given, expect, named
from tallystick.tasks.relations.files import DocumentText, of_characters
from tallystick.tasks.roles.files import gtt_name

TYPES = ("type", "incident_type")
IDS = ("id", "docid", "doc_id", "doc_key")
_LIST = ("templates", "pred_templates", "predicted_templates")
_SLOTS = ("fillers", "slots")
_APART = ("template-spans",)
_MUC4 = re.compile(r"^\s*0\.\s+MESSAGE: ID\b", re.MULTILINE)
_MUC4_HEAD = re.compile(rb"^0\.\s+MESSAGE: ID", re.MULTILINE)


Templates = TemplateSet[Entity[str]]
TemplateDocuments = Documents[Templates]
"""One file's documents: a set of templates for each id, and where each stood."""
PairedTemplates = Paired[Templates]
"""Reference and prediction over the same documents, in the order of the reference."""


def read_templates(name: AnySource, *, keep_text: bool = False) -> TemplateDocuments:
    """Read one side of a corpus: a path, a `.gz` path, or `-` for standard input; with the texts, where they are to be kept."""
    source = Source.of(name)
    if isinstance(name, str) and "#" in name and not os.path.lexists(name) and os.path.lexists(name.partition("#")[0]):
        raise InputError("no such file; FILE#NAME picks a list of a file for --preset muc4-official", name)
    file, content = str(source), source.text()
    start = content.lstrip()
    if not start:
        raise InputError("has only blank lines; expected templates", file)
    if _MUC4.search(content):
        return string_templates(file, content)
    if start[0] not in "{[":
        first = content.count("\n", 0, len(content) - len(start)) + 1
        raise InputError(
            "begins like no known file of templates; expected a JSON object (gtt), a JSON object a line, or "
            "0.  MESSAGE: ID (MUC-4)",
            source.place(first, 1, start.split("\n", 1)[0]),
        )
    reading = _Reading(file, keep_text)
    if start[0] == "[":
        documents = decode_line(content, file)
        if not documents:
            return TemplateDocuments(file, "JSON")
        for k, one in enumerate(documents):
            reading.take_item(one, k)
        return reading.finish()
    lines = [(source.line(number), line) for number, line in enumerate(content.split("\n"), 1) if line.strip()]
    if _is_json(lines[0][1]) and (len(lines) > 1 or _is_document(decode(lines[0][1]))):
        for number, line in lines:
            reading.take_line(_parsed(line, file, number), number)
    else:
        whole = _parsed(content, file, 0)
        if _is_document(whole):  # one over several lines
            reading.take_line(whole, lines[0][0])
        for name_, value in {} if _is_document(whole) else whole.items():
            reading.take_entry(name_, value, None)
    return reading.finish()


def template_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data: a list of templates, each a dict with its type and slots."""
    templates, key = value, ""
    if isinstance(value, dict):
        found = [key for key in _LIST if key in value]
        if len(found) > 1:
            raise ValueMismatch(f"{where}: has {some(found)}; give the templates under one of them")
        key = found[0] if found else ""
        expect(key, where, 'a document, a list of templates or a dict with "templates"', value)
        templates, where = value[key], f"{where}.{key}"
    expect(isinstance(templates, list), where, "a list of templates", templates)
    for k, one in enumerate(templates):
        expect(_is_template(one), f"{where}[{k}]", 'a template, a dict with "type" and "slots"', one)
    text = {name: value[name] for name in TEXTS if key and value.get(name) is not None}
    gold = (
        {"docid": value["docid"]} if key == "templates" and "docid" in value else {}
    )  # gtt's, which drops repeated templates
    return {**named(value, templates=templates, **text), **gold}


def templates_of(side: Given) -> Source:
    """The documents of one side; those of gtt's gold are called by their docid."""
    if not all("docid" in one for one in side.documents):
        return side.lines
    documents = tuple({key: one[key] for key in one if key != "id"} for one in side.documents)
    return replace(side, documents=documents, ids=None).lines


def pair_templates(
    reference: TemplateDocuments, predicted: TemplateDocuments, absent: Missing | None = None
) -> PairedTemplates:
    """Lay both sides together by the names of their documents; `TST3-MUC4-0001` is gtt's `30001`."""
    typed = [
        {bool(one.type) for value in side.values.values() for one in value.templates} for side in (reference, predicted)
    ]
    if typed in ([{True}, {False}], [{False}, {True}]):
        without, other = (predicted, reference) if typed[0] == {True} else (reference, predicted)
        raise SidesMismatch(f"the templates of {without.file} have no type, those of {other.file} have one")
    sides = reference.side, predicted.side
    if set(sides[0].names) != set(sides[1].names):
        sides = tuple(replace(side, keys=[gtt_name(name) for name in side.names]) for side in sides)  # type: ignore[assignment]
    pairs = pair_sides(*sides, absent)
    by_name = reference.named and predicted.named
    values = list(predicted.values.values())
    notes = (
        *reference.warnings,
        *(note for note in predicted.warnings if note not in reference.warnings),
        *by_order(*sides),
    )
    return Paired(
        tuple(reference.values),
        tuple(reference.values.values()),
        tuple(values[j] if j >= 0 else TemplateSet() for _, j in pairs),
        notes,
        {**(predicted.texts if by_name else {}), **reference.texts},
        places_of(reference, predicted, pairs),
    )


def _is_json(line: str) -> bool:
    """Whether a line is JSON by itself: then the file is JSON Lines."""
    try:
        decode(line)
    except NotJson:
        return False
    return True


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _LIST)


def _is_template(value: Any) -> bool:
    """With a type, or with slots alone."""
    if not isinstance(value, dict) or any(key in value for key in _LIST):
        return False
    return any(key in value for key in (*TYPES, *_SLOTS)) or all(isinstance(one, list) for one in value.values())


def _parsed(text: str, file: str, number: int) -> dict[str, Any]:
    """A JSON object; `number` is the line it stands in, 0 for a whole file."""
    value = decode_line(text, file, number or None)
    if not isinstance(value, dict):
        raise InputError(f"is {shown(value)}; expected a JSON object", Place(file, number or None))
    return value


class _Reading:
    """What is known after some documents of a JSON file."""

    def __init__(self, file: str, keep_text: bool = False) -> None:
        self.file, self.keep_text = file, keep_text
        self.texts: dict[str, TemplateText] = {}
        self.documents: dict[str, list[Template[Entity[str]]]] = {}
        self.lines: dict[str, int | None] = {}
        self.names: list[tuple[str | None, Place]] = []
        """What each document is called, None for nothing, and where it stands."""
        self.under = ""
        """The key of the first name."""
        self.emptied = 0
        self.repeated = 0
        self.untyped: list[tuple[str, int | None]] = []
        self.typed = 0
        self.item = ""
        """Which item of a list is read, for messages."""
        self.beside: dict[str, None] = {}
        """The keys of templates beside those that hold the fillers."""

    def take_line(self, value: dict[str, Any], line: int | None) -> None:
        """A line of JSON Lines, or an item of a list."""
        found = [key for key in IDS if value.get(key) is not None]
        if not found and len(value) == 1 and not any(key in value for key in _LIST):
            (key, templates), *_ = value.items()
            return self.take_entry(key, templates, line)
        own = Json(value[found[0]], Place(self.file, line), None, found[0]).name() if found else None
        self.under = self.under or "".join(found[:1])
        self.names.append((own, Place(self.file, line)))
        name = str(len(self.names)) if own is None else own
        lists = [key for key in _LIST if key in value]
        if len(lists) != 1:
            what = f"has {some(lists)}: say which to read" if lists else f"found {some(value) or 'no keys'}"
            raise self._error(f"{what}; expected the templates under one of {some(_LIST)}", line)
        if own in self.documents:
            raise repeated_name(name, Place(self.file, self.lines[name]), Place(self.file, line))
        templates = self._templates(value[lists[0]], lists[0], line)
        if lists[0] == "templates" and found[:1] == ["docid"]:
            unique = list(dict.fromkeys(templates))
            self.repeated += len(templates) - len(unique)
            templates = unique
        self.documents[name] = templates
        self.lines[name] = line
        text = text_of(value) if self.keep_text else None
        if text is not None:
            self.texts[name] = text
        return None

    def take_item(self, value: Any, k: int) -> None:
        """An item of a file that is one list."""
        self.item = f"[{k}]: "
        if not isinstance(value, dict):
            raise self._error(f"is {shown(value)}; expected a document, a JSON object", None)
        self.take_line(value, None)

    def take_entry(self, name: str, value: Any, line: int | None) -> None:
        """An entry of gtt's object, or a line of IterX's, which has one for each type of template."""
        path = name
        if isinstance(value, dict):
            if "pred_templates" not in value:
                raise self._error(f'"{name}" has {some(value)}; expected "pred_templates"', line)
            value, path = value["pred_templates"], f"{name}.pred_templates"
        templates = self._templates(value, path, line)
        self.names.append((name, Place(self.file, line)))
        self.documents.setdefault(name, []).extend(templates)
        self.lines.setdefault(name, line)

    def _templates(self, value: Any, path: str, line: int | None) -> list[Template[Entity[str]]]:
        if not isinstance(value, list):
            raise self._error(f"{path} is {shown(value)}; expected a list of templates", line)
        return [self._template(one, f"{path}[{k}]", line) for k, one in enumerate(value)]

    def _template(self, value: Any, path: str, line: int | None) -> Template[Entity[str]]:
        if not isinstance(value, dict):
            raise self._error(f"{path} is {shown(value)}; expected a template, an object with its type and slots", line)
        type_ = self._type(value, path, line)
        read = next((key for key in _SLOTS if key in value), None)
        if read is not None:
            self.beside |= dict.fromkeys(key for key in value if key not in (*TYPES, read, *_APART))
        fillers = (self._listed_fillers if read == "fillers" else self._fillers_by_slot)(value, path, line)
        return Template(type_, tuple(fillers))

    def _type(self, value: dict[str, Any], path: str, line: int | None) -> str:
        """The type of a template, "" for one without; both are counted."""
        named = [key for key in TYPES if key in value]
        if len(named) > 1:
            raise self._error(f"{path} has {some(named)}; expected the type under one of them", line)
        type_ = value[named[0]] if named else ""
        if not isinstance(type_, str):
            raise self._error(f"{path}.{named[0]} is {shown(type_)}; expected a text", line)
        if named:
            self.typed += 1
        else:
            self.untyped.append((f"{self.item}{path} has {some(value) or 'nothing'}", line))
        return type_

    def _listed_fillers(self, value: dict[str, Any], path: str, line: int | None) -> list[SlotFiller[Entity[str]]]:
        """ "fillers": a list of {"slot": ..., "value": ...}."""
        fillers: list[SlotFiller[Entity[str]]] = []
        listed = value["fillers"]
        if not isinstance(listed, list):
            raise self._error(f"{path}.fillers is {shown(listed)}; expected a list of slots with their values", line)
        for k, one in enumerate(listed):
            where = f"{path}.fillers[{k}]"
            if not isinstance(one, dict) or not isinstance(one.get("slot"), str) or "value" not in one:
                raise self._error(f'{where} is {shown(one)}; expected {{"slot": ..., "value": ...}}', line)
            self._add(fillers, one["slot"], one["value"], f"{where}.value", line)
        return fillers

    def _fillers_by_slot(self, value: dict[str, Any], path: str, line: int | None) -> list[SlotFiller[Entity[str]]]:
        """ "slots", or the template itself: a list of fillers for each slot."""
        fillers: list[SlotFiller[Entity[str]]] = []
        slots, inside = value.get("slots"), f"{path}.slots"
        if slots is None:
            slots, inside = {key: v for key, v in value.items() if key not in (*TYPES, *_APART)}, path
        if not isinstance(slots, dict):
            raise self._error(
                f"{inside} is {shown(slots)}; expected an object with a list of fillers for each slot", line
            )
        for slot, listed in slots.items():
            if not isinstance(listed, list):
                raise self._error(f"{inside}.{slot} is {shown(listed)}; expected a list of fillers", line)
            for k, one in enumerate(listed):
                self._add(fillers, slot, one, f"{inside}.{slot}[{k}]", line)
        return fillers

    def _add(self, fillers: list[SlotFiller[Entity[str]]], slot: str, value: Any, path: str, line: int | None) -> None:
        mentions = tuple(self._mentions(value, path, line))
        if not mentions:
            self.emptied += 1
            return
        fillers.append(SlotFiller(slot, Entity(mentions)))

    def _mentions(self, value: Any, path: str, line: int | None) -> Iterable[str]:
        if isinstance(value, dict) and "mentions" in value:
            value, path = value["mentions"], f"{path}.mentions"
        if isinstance(value, (bool, int, float)):
            value = json.dumps(value)
        if isinstance(value, str):
            return [value]
        if not isinstance(value, list):
            raise self._error(
                f"{path} is {shown(value)}; expected a text, or a list of the mentions of an entity", line
            )
        out = []
        for k, mention in enumerate(value):
            if isinstance(mention, list) and mention and all(isinstance(x, int) for x in mention[1:]):
                mention = mention[0]  # gtt's [text, offset]
            if not isinstance(mention, str):
                raise self._error(f"{path}[{k}] is {shown(mention)}; expected a text, or [text, offset]", line)
            out.append(mention)
        return out

    def _error(self, message: str, line: int | None) -> InputError:
        return InputError(f"{self.item}{message}", Place(self.file, line))

    def finish(self) -> TemplateDocuments:
        if not self.documents:
            raise InputError("has no documents; expected templates by document", self.file)
        named = all_named([name for name, _ in self.names], [place for _, place in self.names], self.under)
        notes = []
        if self.untyped and self.typed:
            self.item, (found, line) = "", self.untyped[0]
            raise self._error(
                f"{found}; expected the type under one of {some(TYPES)}, as {counted(self.typed, 'other template')} {'has' if self.typed == 1 else 'have'} it",
                line,
            )
        if self.untyped:
            notes.append(f"{self.file}: templates have no type, so types are not compared")
        if self.emptied:
            notes.append(f"{self.file}: entities without mentions, left out: {self.emptied:,}")
        if self.repeated:
            notes.append(f"{self.file}: gold templates that repeat another, left out as gtt does: {self.repeated:,}")
        if self.beside:
            notes.append(
                f'{self.file}: templates that have "slots" or "fillers" also have {some(self.beside)}, not read'
            )
        return TemplateDocuments(
            self.file,
            "JSON",
            {name: TemplateSet(tuple(found)) for name, found in self.documents.items()},
            {name: Place(self.file, line) for name, line in self.lines.items()},
            named=named,
            warnings=notes,
            texts=self.texts,
        )


# The texts that templates were filled from, for those who want to see them: scoring never looks at them.
#
# gtt's gold has a document's text under `doctext`, and mentions as `[text, offset]`, in characters; the plain form may have a
# `text`. A mention without an offset stands where its text is first found, as a whole word and whatever its case.

TEXTS = ("doctext", "text")


@frozen
class TemplateText:
    """A document's text, its words, and the offsets that mentions came with, by their texts without case."""

    content: str
    words: DocumentText
    offsets: dict[str, tuple[int, ...]]

    def places(self, mention: str) -> list[tuple[int, int]]:
        """The words [first, end) of every place that a mention is known to stand at, or of the first that has its text."""
        found = [start for start in self.offsets.get(mention.casefold(), ()) if self._has(mention, start)]
        if not found:
            first = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", self.content, re.IGNORECASE)
            found = [first.start()] if first and mention.strip() else []
        spans = (self.words.span(start, start + len(mention) - 1) for start in found)
        return list(dict.fromkeys(span for span in spans if span is not None))

    def _has(self, mention: str, start: int) -> bool:
        return self.content[start : start + len(mention)].casefold() == mention.casefold()


def text_of(value: Mapping[str, Any]) -> TemplateText | None:
    """The text of a line of JSON, if it has one."""
    text = next((value[key] for key in TEXTS if isinstance(value.get(key), str)), None)
    if text is None:
        return None
    offsets: dict[str, tuple[int, ...]] = {}
    for mention, start in _offsets({part: found for part, found in value.items() if part not in TEXTS}):
        offsets[mention.casefold()] = (*offsets.get(mention.casefold(), ()), start)
    return TemplateText(text, of_characters(text), offsets)


def _offsets(value: Any) -> Iterator[tuple[str, int]]:
    """Every `[text, offset]` inside a value."""
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int and value[1] >= 0:
            yield value[0], value[1]
        else:
            for part in value:
                yield from _offsets(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _offsets(part)


FORMATS = (
    Format(
        "muc4",
        lambda opening: _MUC4_HEAD.search(opening.head) is not None,
        boundaries=Uncut("a MUC-4 key is read as a whole"),
    ),
)


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
    reading = _Muc4Reading(file)
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
        raise InputError(f"is {shown(data)}; expected a list of templates", file)
    reading = _Muc4Reading(file)
    for k, slots in enumerate(data):
        if not isinstance(slots, dict) or not all(isinstance(v, list) for v in slots.values()):
            raise InputError(f"[{k}] is {shown(slots)}; expected an object with a list of fills for each slot", file)
        for slot, fills in slots.items():
            if slot not in LABELS.values() or not all(isinstance(fill, str) for fill in fills):
                hint = did_you_mean(slot, LABELS.values())
                raise InputError(f"[{k}].{slot} is {shown(fills)}; expected texts in a slot of MUC-4.{hint}", file)
        reading.take(slots, None)
    found = reading.finish()
    found.mapping = mapping
    return found


class _Muc4Reading:
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
