"""Files of events, and documents of events as every reader gives them.

Arguments that a model wrote into a template (gen-arg): from the text back to roles and spans.

    template    <arg1> attacked <arg2> using <arg3> at <arg4> place
    generated   rebels attacked <arg> using mortars and rifles at <arg> place

What stands between the template's words fills the slot; `<arg>` fills nothing. The words are looked for in the document, nearest
to the trigger; if they stand nowhere, the pieces around `and` are. A slot in which nothing at all stands is an empty argument right
behind the trigger, which is wrong. Predictions come in the order of the reference's events.

gen-arg drops what it does not find; here it stays, as a mention that equals no other, since a system that makes things up is
not more precise for it (`events.gen_arg_*` leave it out, as gen-arg does).

Predicates and their arguments in columns, as the CoNLL shared tasks on semantic roles have them: an event is a predicate.

    -        (A0*   (A0*          CoNLL-2005: the predicate of each token or `-`, and a column for each predicate, in their order
    -           *)     *)
    say      (V*)     *
    -        (A1*     *
    leave       *   (V*)
    -           *) (AM-TMP*)

CoNLL-2012 has documents (`#begin document`), and the words, lemmas and framesets before these columns; the last column is its
coreference. A predicate is the trigger, its lemma (CoNLL-2012: with its frameset, `say.01`) the type; V is no argument.

`C-A1` goes on with the A1 before it: the two are one argument with a gap, as srl-eval.pl has it; without an A1 before it, it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, SidesMismatch, ValueMismatch
from tallystick.files.boundaries import COLUMNS, Boundaries
from tallystick.files.exports import SYSTEMS, Ask, Layout, formats_of, read_annotated
from tallystick.files.json_values import Json, collector_paused, read_json
from tallystick.files.pairing import Documents, names_of
from tallystick.files.source import AnySource, Format, Opening, Source, find_format
from tallystick.files.standoff import is_brat, read_standoff
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Argument, Event, Mention, Trigger
from tallystick.tasks.named import check_said, listed_arguments, read_mention, warn_outside
from tallystick.tasks.plain import Structure, expect, is_span, is_whole, named

_CELL = re.compile(r"(?P<opens>(?:\([^\s()*]+)*)\*(?P<closes>(?:[^\s()*]*\))*)")
_BEGIN = re.compile(r"#\s*begin\s+document\s*(.*)")
WORD, LEMMA, FRAMESET, FIRST = 3, 6, 7, 11
"""Columns of CoNLL-2012."""


@frozen
class Row:
    """A token: the line that it stands in, and its columns."""

    line: int
    cells: list[str]


def is_conll_2012(opening: Opening) -> bool:
    """Whether a file has documents and the columns of CoNLL-2012."""
    if not any(len(one) > FIRST and _CELL.fullmatch(one[5]) for one in _first_rows(opening)[:1]):
        return False
    from tallystick.tasks.coreference.files import begins_documents

    return begins_documents(opening.head)


def _documents_of_conll(_: bytes) -> Boundaries:
    from tallystick.tasks.coreference.files import CONLL

    return CONLL


def is_props(opening: Opening) -> bool:
    """Whether every token has a predicate or `-`, and behind it brackets alone."""
    rows = _first_rows(opening)
    brackets = all(not one[0].startswith("(") and all(map(_CELL.fullmatch, one[1:])) for one in rows)
    return any(len(one) > 1 for one in rows) and brackets and all(len(one) > 1 or one == ["-"] for one in rows)


def _first_rows(opening: Opening, most: int = 500) -> list[list[str]]:
    """The columns of the first tokens."""
    lines = opening.head.decode("utf-8", "replace").split("\n")[:most]
    return [line.split() for line in lines[:-1] if line.strip() and not line.startswith("#")]


def read_conll_2012(source: Source) -> Iterator[tuple[str, int, list[tuple[str, ...]], list[Event]]]:
    """By document its name, its line, its sentences and its predicates; offsets count the tokens of the document."""
    from tallystick.tasks.coreference.chains import document_key

    name, begin, blocks = "", 0, list[list[Row]]()
    for line, block in _blocks(source):
        header = _BEGIN.match(line)
        if header is not None:
            name, begin, blocks = document_key(header[1].strip()), block[0].line if block else 0, []
        elif line.startswith("#end"):
            yield (name, begin, *_document_of_propositions(source, blocks))
            name = ""
        elif block:
            if not name:
                raise source.error("a sentence outside of a document; expected #begin document", block[0].line)
            blocks.append(block)
    if name:
        raise source.error(f"the document {name!r} is not ended; expected #end document", begin)


def _document_of_propositions(source: Source, blocks: Sequence[list[Row]]) -> tuple[list[tuple[str, ...]], list[Event]]:
    sentences: list[tuple[str, ...]] = []
    events: list[Event] = []
    for rows in blocks:
        width = len(rows[0].cells)
        if width <= FIRST:
            raise source.error(f"expected at least {FIRST + 1} columns, found {width}", rows[0].line)
        verbs = [
            "-" if one.cells[FRAMESET] == "-" else f"{one.cells[LEMMA]}.{one.cells[FRAMESET]}"
            for one in _even(source, rows)
        ]
        columns = [[one.cells[k] for one in rows] for k in range(FIRST, width - 1)]
        events += _events(source, rows, verbs, columns, sum(map(len, sentences)))
        sentences.append(tuple(one.cells[WORD] for one in rows))
    return sentences, events


def read_props(source: Source) -> Iterator[tuple[int, list[Event]]]:
    """By sentence its line and its predicates."""
    for line, rows in _blocks(source):
        if line:
            raise source.error(
                f"expected a predicate or - and a column for each predicate, found {line!r:.60}", rows[0].line
            )
        columns = [[one.cells[k] for one in _even(source, rows)] for k in range(1, len(rows[0].cells))]
        yield rows[0].line, _events(source, rows, [one.cells[0] for one in rows], columns, 0)


def _blocks(source: Source) -> Iterator[tuple[str, list[Row]]]:
    """The sentences of a file, and the lines that begin with # by themselves."""
    rows: list[Row] = []
    for number, line in enumerate((*source.text().split("\n"), ""), 1):
        marked = line.startswith("#")
        if line.strip() and not marked:
            rows.append(Row(number, line.split()))
            continue
        if rows:
            yield "", rows
            rows = []
        if marked:
            yield line, [Row(number, [])]


def _even(source: Source, rows: list[Row]) -> list[Row]:
    """Rows that have as many columns each."""
    for one in rows:
        if len(one.cells) != len(rows[0].cells):
            raise source.error(
                f"expected {len(rows[0].cells)} columns as in the lines before, found {len(one.cells)}", one.line
            )
    return rows


def _events(
    source: Source, rows: list[Row], verbs: Sequence[str], columns: Sequence[Sequence[str]], shift: int
) -> list[Event]:
    """The predicates of a sentence: the k-th has the k-th column."""
    at = [k for k, verb in enumerate(verbs) if verb != "-"]
    if len(at) != len(columns):
        raise source.error(
            f"the sentence has {len(at)} predicates and {len(columns)} columns of arguments; expected one for each",
            rows[0].line,
        )
    out = []
    for place, column in zip(at, columns, strict=True):
        pieces = _arguments(source, rows, column)
        verb = pieces.pop("V", None) or [[(place, place)]]
        trigger = Trigger(_mention(verb[0], shift), verbs[place])
        args = [Argument(_mention(one, shift), role) for role, of in pieces.items() for one in of]
        out.append(Event(trigger, tuple(args)))
    return out


Pieces = list[tuple[int, int]]


def _arguments(source: Source, rows: list[Row], column: Sequence[str]) -> dict[str, list[Pieces]]:
    """The arguments of a column by role, each with its pieces."""
    out: dict[str, list[Pieces]] = {}
    for role, start, end in sorted(_phrases(source, rows, column), key=lambda one: one[1:]):
        base = role.removeprefix("C-")
        if base != role and base in out:
            out[base][-1].append((start, end))
        else:
            out.setdefault(base, []).append([(start, end)])
    return out


def _phrases(source: Source, rows: list[Row], column: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Role, first and last token of each phrase."""
    begun: list[tuple[str, int]] = []
    for place, cell in enumerate(column):
        found = _CELL.fullmatch(cell)
        if found is None:
            raise source.error(f'expected brackets around *, such as (A0*, * or *), found "{cell}"', rows[place].line)
        begun += [(role, place) for role in found["opens"].split("(")[1:]]
        for role in found["closes"].split(")")[:-1]:
            if not begun or (role and role != begun[-1][0]):
                raise source.error(f'"{cell}" ends an argument that has not begun', rows[place].line)
            yield (*begun.pop(), place)
    if begun:
        raise source.error(f"the argument {begun[-1][0]} does not end", rows[begun[-1][1]].line)


def _mention(pieces: Pieces, shift: int) -> AnnotatedMention:
    """The phrases of an argument; what lies between them is no part of it."""
    gaps = tuple((a + 1 + shift, b - 1 + shift) for (_, a), (b, _) in pairwise(pieces) if b > a + 1)
    return AnnotatedMention(pieces[0][0] + shift, pieces[-1][1] + shift, gaps=gaps)


@frozen
class EventDocument:
    """The events of a text. `sentences` is the sentence of each token; `entities` the spans of mentions by id."""

    events: tuple[Event, ...] = ()
    tokens: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()
    entities: Mapping[str, AnnotatedMention] = field(default_factory=dict)
    given: bool = False
    """Whether its triggers were given to the system, and are no prediction."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))


NOWHERE = -1
"""A text that stands nowhere in the document has offsets of its own below 0, so that it never equals another."""


def nowhere(number: int, text: str) -> AnnotatedMention:
    """The mention of a text that was not found, the `number`-th of its document."""
    return AnnotatedMention(NOWHERE - number, NOWHERE - number, text=text)


def sentence_numbers(lengths: Sequence[int]) -> tuple[int, ...]:
    """The sentence of each token."""
    return tuple(chain.from_iterable(map(repeat, range(len(lengths)), lengths)))


ARTICLES = frozenset(("a", "an", "the"))


def without_article(left: int, right: int, tokens: Sequence[str]) -> tuple[int, int]:
    """A span without the article that it begins with."""
    if left < right and 0 <= left < len(tokens) and tokens[left].lower() in ARTICLES:
        return left + 1, right
    return left, right


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
        out.add(name, EventDocument(tuple(events), given=True), found[0].place)
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


# Events from Python: {"type", "trigger": (start, end), "arguments": [(start, end, role)]}, ends exclusive.

KNOWN = ("events", "event_mentions", "triggers")
"""A document that is a dict has one of these."""


def event_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data, for `events` and for `arguments`."""
    about: dict[str, Any] = {}
    events = value
    if isinstance(value, dict):
        if "evt_triggers" in value or "predictions" in value:
            raise ValueMismatch(
                f"{where}: RAMS's lines have inclusive ends, and ends are exclusive in plain data; give the file itself"
            )
        if "events" not in value and any(key in value for key in (*KNOWN, "wnd_id")):
            return {**value, **named(value)}
        listed = value.get("arguments")
        own = any(key in value for key in ("type", "event_type", "trigger", "trig"))  # this is an event
        flat = not own and isinstance(listed, list) and all(isinstance(one, dict) and "event" in one for one in listed)
        expect("events" in value or flat, where, 'a document, a list of events or a dict with "events"', value)
        about = {key: value[key] for key in ("tokens", "arguments") if value.get(key)}
        sentences = value.get("sentences")
        if sentences and not any(map(is_whole, sentences)):
            about["sentences"] = sentences
        if value.get("parse") is not None:
            raise ValueMismatch(f"{where}: has a parse; give the parses as a file, parses=")
        if "arguments" in about:
            about["arguments"] = _arguments_of(about["arguments"], f"{where}.arguments")
        events, where = value.get("events", []), f"{where}.events"
    expect(isinstance(events, list), where, "a list of events", events)
    return named(value, events=[_event_of(one, f"{where}[{k}]") for k, one in enumerate(events)], **about)


def _event_of(value: Any, where: str) -> dict[str, Any]:
    expected = 'an event, a dict with "type", "trigger" and "arguments"'
    expect(
        isinstance(value, dict) and not any(key in value for key in ("wnd_id", "doc_id", "events")),
        where,
        expected,
        value,
    )
    if isinstance(value, Structure) and "trig" in value:
        value = {"type": value["trig"]["type"], "trigger": value["trig"]["mention"], "arguments": value["args"]}
    if "triggers" in value:  # OmniEvent's
        return dict(value)
    expect(any(key in value for key in ("type", "event_type", "trigger", "id")), where, expected, value)
    trigger, out = value.get("trigger"), {**value}
    if isinstance(trigger, list):
        expect(is_span(trigger), f"{where}.trigger", "(start, end) or (start, end, type)", trigger)
        out["trigger"] = {"start": trigger[0], "end": trigger[1]}
        if len(trigger) > 2:
            out.setdefault("type", trigger[2])
    elif isinstance(trigger, str) and value.get("span") is not None:
        out["trigger"] = {"text": trigger, **_own_span(value, where)}
    out.pop("span", None)
    arguments = value.get("arguments", value.get("args"))
    out.pop("args", None)
    if arguments is not None:
        out["arguments"] = _arguments_of(arguments, f"{where}.arguments")
    return {key: one for key, one in out.items() if one is not None}


def _arguments_of(value: Any, where: str) -> list[dict[str, Any]]:
    if isinstance(value, dict):  # by role: one argument, or a list of them
        several = ((role, one if isinstance(one, list) and not is_span(one) else [one]) for role, one in value.items())
        value = [_in_role(role, one, f"{where}.{role}") for role, listed in several for one in listed]
    expect(isinstance(value, list), where, "a list of arguments, or a dict with those of each role", value)
    return [_argument_of(one, f"{where}[{k}]") for k, one in enumerate(value)]


def _in_role(role: str, value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, str):
        return {"role": role, "text": value}
    expect(is_span(value), where, "a text or (start, end)", value)
    return {"role": role, **(value if isinstance(value, dict) else {"start": value[0], "end": value[1]})}


def _argument_of(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(one, str) for one in value):
            raise ValueMismatch(f'{where}: which of {value!r:.60} is the role? Give {{"role": ..., "text": ...}}')
        expect(is_span(value) and len(value) > 2, where, "an argument, (start, end, role)", value)
        out = {"start": value[0], "end": value[1], "role": value[2]}
        return {**out, "text": value[3]} if len(value) > 3 else out
    expect(isinstance(value, dict), where, "an argument, (start, end, role) or a dict", value)
    out = {key: one for key, one in value.items() if one is not None and key != "span"}
    return out if value.get("span") is None else out | _own_span(value, where)


def _own_span(value: dict[str, Any], where: str) -> dict[str, int]:
    """The span that stands under its own key: those of structures (EventArgument, DescribedEvent) have inclusive ends."""
    span = value["span"]
    expect(is_span(span), f"{where}.span", "(start, end)", span)
    if isinstance(span, dict):
        return {"start": span["start"], "end": span.get("end", span["start"])}
    return {"start": span[0], "end": span[1] + isinstance(value, Structure)}


# Events: TextEE, WikiEvents (and TextEE's and OneIE's data), OmniEvent, RAMS, brat, plain JSON; the file shows which.
#
#     TextEE      {"doc_id", "wnd_id", "events": [{"trigger": [start, end, type, text], "arguments": [[start, end, role, text]]}]}
#                 or a record for each trigger, {"trigger", "arguments"}, or {"triggers"} alone
#     WikiEvents  {"doc_id", "tokens", "entity_mentions": [...], "event_mentions": [{"event_type", "trigger", "arguments"}]}
#     OmniEvent   {"id", "events": [{"type", "triggers": [{"position", "arguments": [{"role", "mentions": [{"position"}]}]}]}]}
#     RAMS        {"doc_key", "sentences", "evt_triggers", "gold_evt_links"}, predictions {"doc_key", "predictions"}
#     plain       {"id", "events": [{"type", "trigger": {"start", "end"}, "arguments": [{"role", "start", "end"}]}]}, or as data from Python
#
# Ends are exclusive, but for RAMS. Records of one document (and window) are one document.

GIVEN = ""
"""The type of a predicted event whose trigger was given, where a format does not repeat it."""


@collector_paused()
def read_events(
    name: AnySource | Opening,
    *,
    reference: Documents[EventDocument] | None = None,
    predicted: bool = False,
    ontology: Mapping[str, object] | None = None,
    input: str | None = None,
) -> Documents[EventDocument]:
    """The events of each document. A prediction is read against the events of its reference, if these are known. Generated text (gen-arg) needs them,
    and the ontology of its templates."""
    predicted = predicted or reference is not None
    opening = name if isinstance(name, Opening) else Opening(name)
    if opening.source.reads_once:
        opening.source.read()  # from here on it is held
    chosen = find_format(FORMATS, opening, input)
    if chosen is not None and chosen.read is not None:
        found: Documents[EventDocument] = chosen.read(opening.source, predicted=predicted)
        return found
    file, records = str(opening.source), opening.documents
    if not records:
        return Documents(file, "JSON")
    if is_generated(records[0]):
        return read_generated(records, file, reference, ontology)
    out: Documents[EventDocument] = Documents(file, _format(records[0]))
    names, out.named = names_of(records, "doc_id", "doc_key", "id", "sent_id", "wnd_id")
    for key, record in zip(names, records, strict=True):
        window = record.get("wnd_id", "sent_id")
        if window is not None and window.name() != key:
            key = f"{key}/{window.name()}"
        if predicted and record.has("predictions", "gold_evt_links"):
            raise record.fail("has 'gold_evt_links' beside 'predictions'; a prediction has the latter alone")
        document = _document(record, predicted)
        if out.format == "TextEE" and key in out.values:  # a record for each trigger
            before = out.values[key]
            out.values[key] = EventDocument((*before.events, *document.events), before.tokens, before.sentences)
        else:
            out.add(key, document, record.place, tokens=document.tokens)
    if out.format == "JSON":
        _hold_against_tokens(out, reference)
    return out


def _hold_against_tokens(out: Documents[EventDocument], reference: Documents[EventDocument] | None) -> None:
    """Offsets and texts beside the tokens that they are about: those of the reference, where it has the document."""
    tokens = {name: of.tokens for name, of in out.values.items()}
    if reference is not None:
        tokens |= {name: reference.values[here].tokens for name, here in out.beside(reference).items()}
    mentions = {name: _mentions(of) for name, of in out.values.items()}
    warn_outside(out, mentions, {name: len(of) for name, of in tokens.items()})
    check_said(out, mentions, tokens)


def _mentions(document: EventDocument) -> list[Mention]:
    """The triggers and arguments of all events."""
    return [one for e in document.events for one in (e.trig.mention, *(arg.mention for arg in e.args))]


def note_duplicates(documents: Documents[EventDocument]) -> None:
    """Say how many events have the trigger and type of another, and how many arguments are those of another."""
    documents.note_duplicates(lambda one: [_known_by(event) for event in one.events], "event", " (trig_f1: each time)")
    documents.note_duplicates(
        lambda one: [(_known_by(e), arg.role, _place(arg.mention)) for e in one.events for arg in e.args],
        "argument",
        " (arg_f1, rams, srl: each time)",
    )


def _known_by(event: Event) -> tuple[Any, ...]:
    return event.trig.type, _place(event.trig.mention)


def _place(mention: Mention) -> tuple[Any, ...]:
    """A mention by its offsets, or, if a system generated it, by its text."""
    return (
        mention.left,
        mention.right,
        getattr(mention, "gaps", ()),
        getattr(mention, "text", "") if mention.left < 0 else "",
    )


def _format(record: Json) -> str:
    if record.has("event_mentions"):
        return "WikiEvents"
    if record.has("evt_triggers") or record.has("gold_evt_links") or record.has("doc_key", "predictions"):
        return "RAMS"
    if record.has("trigger") or record.has("triggers"):
        return "TextEE"
    if record.has("events"):
        first = next(iter(record.at("events").each()), None)
        return (
            "OmniEvent" if first is not None and first.has("triggers") else "TextEE" if record.has("wnd_id") else "JSON"
        )
    raise record.fail(
        "expected an object with 'events' (TextEE, OmniEvent, plain), 'trigger' and 'arguments' (TextEE), 'event_mentions' "
        "(WikiEvents), 'evt_triggers' or 'predictions' (RAMS)"
    )


def _document(record: Json, predicted: bool) -> EventDocument:
    """The events of a document. A predicted argument may be empty, as generated ones are: it counts as predicted, and is wrong. In a reference
    nothing could be meant by one."""
    record.refuse_several("event_mentions", "events", "trigger", "triggers", "predictions")
    kind = _format(record)
    if kind == "WikiEvents":
        return _wikievents(record)
    if kind == "RAMS":
        return _rams(record)
    tokens = _tokens(record)
    if record.has("trigger"):
        return EventDocument((_textee(record, predicted),), tokens)
    if record.has("triggers"):
        record.refuse_several("triggers", "arguments", "args")  # which have none
        return EventDocument(tuple(Event(_trigger(one)) for one in record.at("triggers").each()), tokens)
    events: list[Event] = []
    for found in record.at("events").each():
        if found.has("triggers"):
            events.extend(_omnievent(found))
        elif is_textee(found.value):
            events.append(_textee(found, predicted))
        else:
            found = plain_event(found)
            found.refuse_several("type", "event_type", same=True)
            trigger = Trigger(read_mention(found.at("trigger")), found.at("type", "event_type").label())
            events.append(Event(trigger, tuple(_plain(one, predicted) for one in listed_arguments(found))))
    return EventDocument(tuple(events), tokens, read_sentences(record))


def is_textee(event: Any) -> bool:
    """Whether an event is TextEE's: its trigger has its type, and its arguments are lists."""
    if not isinstance(event, dict) or not isinstance(event.get("trigger"), list):
        return False
    arguments = event.get("arguments", event.get("args", []))
    listed = arguments is None or (isinstance(arguments, list) and all(isinstance(one, list) for one in arguments))
    own = any(key in event for key in ("type", "event_type", "id"))
    return listed and (len(event["trigger"]) > 2 or not own)


def plain_event(found: Json) -> Json:
    """An event whose trigger is [start, end], or whose arguments are by role or [start, end, role], as data from Python have them, in the form that
    others have."""
    known = found.mapping()
    arguments = known.get("arguments", known.get("args"))
    listed = isinstance(arguments, list) and any(isinstance(one, list) for one in arguments)
    if not isinstance(known.get("trigger"), list) and not isinstance(arguments, dict) and not listed:
        return found
    found.refuse_several("arguments", "args")
    try:
        return Json(_event_of(known, found.path), found.place, found.parent, found.key)
    except ValueMismatch as error:
        raise InputError(str(error), found.place) from None


def _tokens(record: Json) -> tuple[str, ...]:
    found = record.get("tokens")
    if found is not None:
        return found.texts()
    words = [word for one in _sentence_lists(record) for word in one]
    return tuple(words) if all(isinstance(word, str) for word in words) else ()


def read_sentences(record: Json) -> tuple[int, ...]:
    """The sentence of each token, where sentences are lists of tokens."""
    listed = _sentence_lists(record)
    return sentence_numbers([len(one[0]) if one and isinstance(one[0], list) else len(one) for one in listed])


def _sentence_lists(record: Json) -> list[list[Any]]:
    found = record.get("sentences")
    listed = found.value if found is not None else None
    return listed if isinstance(listed, list) and all(isinstance(one, list) for one in listed) else []


def _plain(found: Json, predicted: bool) -> Argument:
    found.refuse_several("mention", "start")
    return Argument(read_mention(found.get("mention") or found, empty=predicted), found.at("role").text())


# TextEE


def _trigger(found: Json) -> Trigger:
    found.require(3, "[start, end, type]")
    left, right = found.span()
    return Trigger(AnnotatedMention(left, right, text=_text(found.value)), found.item(2).label())


def _textee(found: Json, predicted: bool) -> Event:
    trigger, said = _trigger(found.at("trigger")), found.get("type", "event_type")
    arguments = []
    for one in listed_arguments(found):
        one.require(3, "[start, end, role]")
        if one.value[2] is None:  # TextEE's argument roles (EARL) mark "no role" so
            continue
        left, right = one.span(empty=predicted)
        arguments.append(Argument(AnnotatedMention(left, right, text=_text(one.value)), one.item(2).text()))
    if said is not None and said.value != trigger.type:
        raise said.fail(f"expected the type of the trigger, {trigger.type!r}, found {said.value!r}")
    return Event(trigger, tuple(arguments))


def _text(parts: list[Any]) -> str | None:
    return parts[3] if len(parts) > 3 and isinstance(parts[3], str) else None


# WikiEvents, and whatever else has entity_mentions and event_mentions


def _wikievents(record: Json) -> EventDocument:
    entities: dict[str, AnnotatedMention] = {}
    for found in record.listed("entity_mentions"):
        key = found.at("id")
        if entities.setdefault(key.text(), mention := read_mention(found)) is not mention:
            raise key.fail(f"the entity mention {key.text()!r} is a duplicate; ids must be unique")
    events = []
    for found in record.at("event_mentions").each():
        place = found.at("trigger")
        left, right = place.checked_span(place.at("start").whole(), place.at("end").whole())
        trigger = Trigger(AnnotatedMention(left, right), found.at("event_type").label())
        arguments = []
        for one in found.at("arguments").each():
            key = one.at("entity_id")
            if key.text() not in entities:
                raise key.fail(f"there is no entity mention {key.text()!r} in this document")
            arguments.append(Argument(entities[key.text()], one.at("role").text()))
        events.append(Event(trigger, tuple(arguments)))
    return EventDocument(tuple(events), _tokens(record), read_sentences(record), entities)


# OmniEvent: an event may have several triggers, and an argument several mentions


def _omnievent(found: Json) -> list[Event]:
    found.refuse_several("triggers", "trigger", "arguments", "args")  # these are in the triggers
    out = []
    for one in found.at("triggers").several(1, "a list of triggers"):
        left, right = one.at("position").span()
        arguments = []
        for argument in one.listed("arguments"):
            role = argument.at("role").text()
            for mention in argument.at("mentions").several(1, "a list of mentions"):
                arguments.append(Argument(AnnotatedMention(*mention.at("position").span()), role))
        out.append(Event(Trigger(AnnotatedMention(left, right), found.at("type").label()), tuple(arguments)))
    return out


# RAMS: both ends inclusive, one event a document; predictions do not repeat its type


def _rams(record: Json) -> EventDocument:
    if record.has("predictions") and not record.has("gold_evt_links"):
        events = []
        for found in record.at("predictions").each():
            parts = found.several(1, "[[start, end], [start, end, role, score], ...]")
            trigger = Trigger(AnnotatedMention(*parts[0].span(inclusive=True)), GIVEN)
            events.append(
                Event(trigger, tuple(_rams_argument(one, one.several(3, "[start, end, role]")[2]) for one in parts[1:]))
            )
        return EventDocument(tuple(events))
    triggers = {}
    for found in record.at("evt_triggers").each():
        parts = found.several(3, "[start, end, [[type, score]]]")
        types = parts[2].several(1, "[[type, score]]")
        if len(types) > 1 or found.span(inclusive=True) in triggers:
            raise found.fail("is a second event of this trigger; expected one")
        triggers[found.span(inclusive=True)] = types[0].several(1, "[type, score]")[0].label()
    arguments: dict[tuple[int, int], list[Argument]] = {span: [] for span in triggers}
    for link in record.at("gold_evt_links").each():
        event, argument, role = link.several(3, "[[start, end], [start, end], role]")[:3]
        span = event.span(inclusive=True)
        if span not in triggers:
            raise event.fail(f"there is no trigger at {list(span)}")
        arguments[span].append(_rams_argument(argument, role))
    events = [
        Event(Trigger(AnnotatedMention(*span), type_), tuple(arguments[span])) for span, type_ in triggers.items()
    ]
    return EventDocument(tuple(events), _tokens(record), read_sentences(record))


def _rams_argument(found: Json, role: Json) -> Argument:
    """`evt089arg02place` is the role `place`."""
    return Argument(AnnotatedMention(*found.span(inclusive=True)), re.split(r"\d+", role.text())[-1])


# brat


def _read_brat(name: AnySource, **_: Any) -> Documents[EventDocument]:
    out: Documents[EventDocument] = Documents(str(name), "brat", named=Path(name).is_dir(), unit="characters")
    for file in read_standoff(name):
        events = []
        for event in file.events.values():
            args = tuple(Argument(file.mention(one), _brat_role(one.role)) for one in event.arguments)
            events.append(Event(Trigger(file.mention(event.trigger), event.type), args))
        out.add(file.name, EventDocument(tuple(events), entities=file.mentions), file.place)
    return out


def _brat_role(role: str) -> str:
    """brat numbers a role that comes again: `Victim2` is a second `Victim`."""
    return re.sub(r"\d+$", "", role) or role


# Other people's: DyGIE++, and predicates with their arguments


def _read_annotated(layout: Layout, source: Source, predicted: bool) -> Documents[EventDocument]:
    found = read_annotated(source, layout, Ask("events", predicted))
    out: Documents[EventDocument] = Documents(
        found.file, layout.title, named=found.named, unit=layout.unit, warnings=list(found.warnings), alone=found.alone
    )
    for number, one in enumerate(found.documents, 1):
        numbers = sentence_numbers([len(words) for words in one.sentences or ()])
        name = one.name if one.name is not None else str(number)
        out.add(name, EventDocument(one.events, one.tokens or (), numbers), one.place, tokens=one.tokens or ())
    return out


SRL = "predicates with arguments"


def _read_conll_2012(source: Source, **_: Any) -> Documents[EventDocument]:
    out: Documents[EventDocument] = Documents(str(source), SRL, unit="tokens")
    for name, line, sentences, events in read_conll_2012(source):
        words = tuple(word for sentence in sentences for word in sentence)
        numbers = sentence_numbers([len(sentence) for sentence in sentences])
        out.add(name, EventDocument(tuple(events), words, numbers), source.place(line), tokens=words)
    return _not_empty(out)


def _read_props(source: Source, **_: Any) -> Documents[EventDocument]:
    """A sentence is a document of its own; those of two files are paired by order."""
    out: Documents[EventDocument] = Documents(str(source), SRL, named=False, unit="tokens")
    for number, (line, events) in enumerate(read_props(source), 1):
        out.add(str(number), EventDocument(tuple(events)), source.place(line))
    return _not_empty(out)


def _not_empty(out: Documents[EventDocument]) -> Documents[EventDocument]:
    if not out.values:
        raise InputError("holds no sentences", out.file)
    return out


FORMATS = (
    Format("brat", lambda opening: is_brat(opening.source), _read_brat),
    *formats_of(SYSTEMS, "events", _read_annotated),
    Format(
        "conll-2012", is_conll_2012, _read_conll_2012, _documents_of_conll, "CoNLL-2012 columns",
        "#begin document, and brackets in the sixth column",
    ),
    Format(
        "props", is_props, _read_props, COLUMNS, "CoNLL-2005 props",
        "a predicate or - in the first column, and brackets around * in all others",
    ),
    Format(GENERATED, lambda opening: isinstance(opening.first, dict) and {"predicted", "doc_key"} <= opening.first.keys(), partial=True),
    Format("JSON", lambda opening: opening.head.lstrip()[:1] in (b"{", b"[")),
)  # fmt: skip
"""The formats of events. What JSON holds (TextEE, WikiEvents, OmniEvent, RAMS, gen-arg, plain) its first record shows."""


# Coreference of the reference's mentions


def read_coreference(name: AnySource, reference: Documents[EventDocument]) -> dict[str, dict[tuple[int, int], str]]:
    """For each document the entity of each span, from clusters of mention ids (gen-arg) or of [first, last] spans.

    {"doc_key": "d1", "clusters": [["d1-T58", "d1-T55"], [[3, 4], [9, 9]]]}
    """
    out: dict[str, dict[tuple[int, int], str]] = {}
    records = read_json(name)
    names, named = names_of(records, "doc_key", "doc_id", "id")
    here = reference.names_here(names, named, str(Source.of(name)))
    for record, given, key in zip(records, names, here, strict=True):
        if key is None:
            raise record.fail(f"the document {given!r} is not in {reference.file}")
        entities = reference.values[key].entities
        spans = out.setdefault(key, {})
        for k, cluster in enumerate(record.at("clusters").each()):
            for found in cluster.each():
                if isinstance(found.value, str):
                    if found.value not in entities:
                        raise found.fail(
                            f"there is no mention {found.value!r} in the document {key!r} of {reference.file}"
                        )
                    mention = entities[found.value]
                    spans[mention.left, mention.right] = f"{key}#{k}"
                else:
                    spans[found.span(inclusive=True)] = f"{key}#{k}"
    return out
