"""Arguments that a model wrote into a template (gen-arg): from the text back to roles and spans.

    template    <arg1> attacked <arg2> using <arg3> at <arg4> place
    generated   rebels attacked <arg> using mortars and rifles at <arg> place

What stands between the template's words fills the slot; `<arg>` fills nothing. The words are looked for in the document, nearest
to the trigger; if they stand nowhere, the pieces around `and` are. A slot in which nothing at all stands is an empty argument right
behind the trigger, which is wrong. Predictions come in the order of the reference's events.

gen-arg drops what it does not find; here it stays, as a mention that equals no other, since a system that makes things up is
not more precise for it (`events.gen_arg_*` leave it out, as gen-arg does).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tallystick.errors import InputError, SidesMismatch
from tallystick.reading.documents import Documents
from tallystick.reading.event_documents import EventDocument, nowhere
from tallystick.reading.json_values import Json
from tallystick.structures.events import Argument, Event
from tallystick.structures.mentions import AnnotatedMention

_SLOT = re.compile(r"<(arg\d+)>")


def is_generated(record: Json) -> bool:
    """Whether a record is a template that a model filled."""
    return record.has("predicted", "doc_key")


GENERATED = "gen-arg"
"""The format's name."""
IDLE = "--ontology is for generated text (gen-arg's), which is not in"


def idle_ontology(files: Iterable[str]) -> str:
    """What to say of templates that nothing is read with."""
    return f"{IDLE} {', '.join(files)}"


def read_generated(
    records: list[Json], file: str, reference: Documents[EventDocument] | None, ontology: Mapping[str, Any] | None
) -> Documents[EventDocument]:
    """The events of the reference with the arguments that were generated for them."""
    if reference is None or ontology is None:
        raise InputError(
            "is generated text; it needs the templates of the event types (--ontology FILE) and a reference with tokens",
            file,
        )
    by_document: dict[str, list[Json]] = {}
    for record in records:
        by_document.setdefault(record.at("doc_key").name(), []).append(record)
    out: Documents[EventDocument] = Documents(file, GENERATED, partial=True)
    unknown: dict[str, None] = {}
    for name, found in by_document.items():
        if name not in reference.values:
            raise SidesMismatch(f"{file} has the document {name!r}, which {reference.file} does not have")
        document = reference.values[name]
        if len(found) != len(document.events):
            raise SidesMismatch(
                f"{file} has {len(found):,} lines for {name!r}, which has {len(document.events):,} events in {reference.file}; "
                "they are paired by order"
            )
        if not document.tokens:
            raise InputError(
                f"the document {name!r} has no tokens, in which generated words could be found", reference.file
            )
        events = []
        for record, event in zip(found, document.events, strict=True):
            if event.trig.type in ontology:
                events.append(_event(record, event, document.tokens, ontology))
            else:
                unknown[event.trig.type] = None
        out.add(name, EventDocument(tuple(events)), found[0].place)
    if unknown:
        out.warnings.append(
            f"{file}: event types without a template, whose events count as not predicted: {', '.join(unknown)}"
        )
    return out


def _event(record: Json, event: Event, tokens: Sequence[str], ontology: Mapping[str, Any]) -> Event:
    known = ontology[event.trig.type]
    if not isinstance(known, Mapping) or "template" not in known or "roles" not in known:
        raise InputError(f"the ontology's entry for {event.trig.type!r} needs 'template' and 'roles'")
    roles = {f"arg{k}": role for k, role in enumerate(known["roles"], 1)}
    arguments: list[Argument] = []
    lost = 0
    for slot, words in filled_slots(str(known["template"]).split(), record.at("predicted").text().split()):
        if slot not in roles:
            raise InputError(f"the template of {event.trig.type!r} has <{slot}>, but there are {len(roles)} roles")
        for piece in pieces(words, tokens):
            span = nearest(piece, tokens, event.trig.mention.left, event.trig.mention.right + 1)
            text = " ".join(piece)
            mention = AnnotatedMention(*span, text=text) if span else nowhere(lost, text)
            lost += span is None
            arguments.append(Argument(mention, roles[slot]))
    return Event(event.trig, tuple(arguments))


def filled_slots(template: Sequence[str], words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """What stands in each slot of the template; a slot may be filled with nothing."""
    out = []
    at = 0
    for k, expected in enumerate(template):
        if at >= len(words):
            break
        slot = _SLOT.match(expected)
        if slot is None or words[at] == "<arg>":
            at += 1
            continue
        following = template[k + 1] if k + 1 < len(template) else None
        start = at
        while at < len(words) and words[at] != following:
            at += 1
        out.append((slot[1], list(words[start:at])))
    return out


def pieces(words: list[str], tokens: Sequence[str]) -> list[list[str]]:
    """The words as they are if they stand in the text, else what is left and right of each `and`."""
    if occurrences(words, tokens):
        return [words]
    out: list[list[str]] = [[]]
    for word in words:
        if word == "and" and out[-1]:
            out.append([])
        else:
            out[-1].append(word)
    return [piece for piece in out if piece]


def occurrences(words: Sequence[str], tokens: Sequence[str]) -> list[int]:
    """Where in the text the words begin."""
    wanted = list(words)
    if not wanted:
        return list(range(len(tokens)))
    return [k for k, token in enumerate(tokens) if token == wanted[0] and list(tokens[k : k + len(wanted)]) == wanted]


def nearest(words: Sequence[str], tokens: Sequence[str], start: int, end: int) -> tuple[int, int] | None:
    """The occurrence that is nearest to the trigger at [start, end), the first of equally near ones; both ends inclusive."""
    found = occurrences(words, tokens)
    if not found:
        return None
    best = min(found, key=lambda k: abs(start - k - len(words)) if k < start else abs(k - end))
    return best, best + len(words) - 1
