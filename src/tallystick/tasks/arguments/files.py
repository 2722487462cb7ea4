"""Event arguments as texts, from every format of events, and from plain JSON with or without places.

    nested  {"id", "tokens", "events": [{"id", "type", "trigger": {"start", "end"}, "arguments": [{"role", "text", "start", "end"}]}]}
    flat    {"id", "tokens", "events": [{"id", "type", "trigger"}], "arguments": [{"event", "role", "text", "start", "end"}]}

A trigger may also be [start, end], a text, or an object with its text, and arguments may be by role, {"attacker": [0, 2]}. An argument needs
its text, or start and end (exclusive) in a document with tokens. A prediction need not repeat tokens and events. An event is known by its id or by its trigger's span and type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.errors import InputError, Place, counted, did_you_mean, some
from tallystick.files.json_values import Json, collector_paused
from tallystick.files.pairing import Documents, Missing, Paired, names_of, pair_documents
from tallystick.files.source import AnySource, Opening, find_format, shown_name
from tallystick.structures.texts import ArgumentDocument, DescribedEvent, EventArgument, Mention, Span
from tallystick.tasks.arguments.stages import letters_of
from tallystick.tasks.events.files import (
    FORMATS,
    GENERATED,
    EventDocument,
    idle_ontology,
    is_textee,
    plain_event,
    read_events,
    read_sentences,
    without_article,
)
from tallystick.tasks.named import listed_arguments


@dataclass
class _Texts:
    """What a document's arguments say: its tokens where a place is known. Disagreements are counted."""

    where: str
    place: Place | None
    tokens: tuple[str, ...]
    strip: bool = False
    unlike: list[str] = field(default_factory=list)
    extra: bool = False
    """Whether only the prediction has the document, so that it is an error or ignored, whatever its arguments say."""

    def argument(self, event: str, role: str, text: str | None, span: Span | None) -> EventArgument:
        """An argument with its text and, if it has one, its place."""
        if span is not None and span[1] < span[0]:  # a generated argument may be empty; it is wrong wherever it stands
            return EventArgument(event, role, "")
        if span is not None and self.tokens:
            if span[1] >= len(self.tokens):
                raise InputError(
                    f"{self.where}, event {event}, role {role}: tokens {span[0]} to {span[1]} lie outside the document, "
                    f"which has {len(self.tokens):,} tokens",
                    self.place,
                )
            if self.strip and (shorter := without_article(*span, self.tokens)) != span:
                span, text = shorter, None
            said = " ".join(self.tokens[span[0] : span[1] + 1])
            if text is not None and text != said and letters_of(text) != letters_of(said):
                self.unlike.append(f"{self.where}: {text!r} at tokens {span[0]} to {span[1]}, which say {said!r}")
            return EventArgument(event, role, said, span)
        if text is None and not self.extra:
            raise InputError(
                f"{self.where}, event {event}, role {role}: has no text, and the document has no tokens in which it could be read",
                self.place,
            )
        return EventArgument(event, role, text or "", span)


def event_id(type_: str, span: Span) -> str:
    """The id of an event that has none of its own."""
    return f"{type_}@{span[0]}-{span[1]}"


@dataclass
class ArgumentFiles:
    """The arguments of a file, with the events that they were read from where a format of events has them."""

    documents: Documents[ArgumentDocument]
    events: Documents[EventDocument] | None = None


@collector_paused()
def read_arguments(
    name: AnySource,
    *,
    reference: ArgumentFiles | None = None,
    ontology: Mapping[str, Any] | None = None,
    tokens: Documents[EventDocument] | None = None,
    strip_articles: bool = False,
) -> ArgumentFiles:
    """The arguments of each document. A prediction is read against its reference, which knows the tokens and the events."""
    opening = Opening(name)
    if opening.source.reads_once:
        opening.source.read()  # from here on it is held
    chosen = find_format(FORMATS, opening)
    if chosen is None or chosen.read is None:
        records = opening.documents
        if not records or _is_plain(records[0]):
            return ArgumentFiles(_read_plain(shown_name(opening.source), records, reference, tokens, strip_articles))
    known_events = reference.events if reference is not None else None
    events = read_events(opening, reference=known_events, predicted=reference is not None, ontology=ontology)
    out: Documents[ArgumentDocument] = Documents(
        events.file, events.format, named=events.named, partial=events.partial, warnings=events.warnings
    )
    unlike: list[str] = []
    there = _documents_there(list(events.values), out, reference, tokens)
    for (key, document), (its, known_tokens) in zip(events.values.items(), there, strict=True):
        place = events.places.get(key)
        text = document.tokens or known_tokens
        texts = _Texts(f"document {key!r}", place, text, strip_articles, unlike, _is_extra(its, reference))
        known = _known_events(its)
        described, arguments = {}, []
        for event in document.events:
            span = event.trig.mention.left, event.trig.mention.right
            own = known.get((span, event.trig.type), event_id(event.trig.type, span))
            described[own] = DescribedEvent(own, event.trig.type, _said(event.trig.mention, text), span)
            for one in event.args:
                spoken = (one.mention.left, one.mention.right) if one.mention.left >= 0 else None
                arguments.append(texts.argument(own, one.role, getattr(one.mention, "text", None), spoken))
        out.values[key] = ArgumentDocument(tuple(arguments), tuple(described.values()), text, document.sentences)
        if place is not None:
            out.places[key] = place
    _warn(out, unlike)
    return ArgumentFiles(out, events)


def _said(mention: Mention, tokens: tuple[str, ...]) -> str:
    if tokens and mention.right < len(tokens):
        return " ".join(tokens[mention.left : mention.right + 1])
    return getattr(mention, "text", None) or ""


def _documents_there(
    names: Sequence[str], file: Documents[Any], reference: ArgumentFiles | None, tokens: Documents[EventDocument] | None
) -> list[tuple[ArgumentDocument | None, tuple[str, ...]]]:
    """For each document of a file the reference's, and the tokens that this or the file of tokens knows."""
    known: list[ArgumentDocument | None] = [None] * len(names)
    words: list[tuple[str, ...]] = [()] * len(names)
    if tokens is not None:
        here = tokens.names_here(names, file.named, file.file)
        words = [() if name is None else tokens.values[name].tokens for name in here]
    if reference is not None:
        documents = reference.documents
        known = [
            None if name is None else documents.values[name]
            for name in documents.names_here(names, file.named, file.file)
        ]
        words = [word if one is None else one.tokens for one, word in zip(known, words, strict=True)]
    return list(zip(known, words, strict=True))


def _is_extra(document: ArgumentDocument | None, reference: ArgumentFiles | None) -> bool:
    return document is None and reference is not None and not reference.documents.partial


def _known_events(reference: ArgumentDocument | None) -> dict[tuple[Span, str], str]:
    """The reference's ids by trigger and type, and by the trigger alone where a format does not repeat the type."""
    out: dict[tuple[Span, str], str] = {}
    if reference is not None:
        for event in reference.events:
            if event.span is not None:
                out.setdefault((event.span, event.type), event.id)
                out.setdefault((event.span, ""), event.id)
    return out


def _warn(out: Documents[ArgumentDocument], unlike: list[str]) -> None:
    if unlike:
        out.warnings.append(
            f"{out.file}: {counted(len(unlike), 'argument')} {'does not say what its' if len(unlike) == 1 else 'do not say what their'} "
            f"tokens say; the tokens count. The first is in {unlike[0]}"
        )


# Plain JSON


def _is_plain(record: Json) -> bool:
    """Whether a record has arguments as objects, nested in events or flat."""
    if not isinstance(record.value, dict) or record.has("trigger") or record.has("event_mentions"):
        return False
    if record.has("arguments"):
        return True
    events = record.value.get("events")
    if not isinstance(events, list) or record.has("wnd_id"):
        return False
    first = next((one for one in events if isinstance(one, dict)), None)
    return first is None or not ("triggers" in first or is_textee(first))


def _read_plain(
    file: str,
    records: list[Json],
    reference: ArgumentFiles | None,
    tokens: Documents[EventDocument] | None,
    strip_articles: bool,
) -> Documents[ArgumentDocument]:
    out: Documents[ArgumentDocument] = Documents(file, "JSON")
    predicted = reference is not None
    unlike: list[str] = []
    names, out.named = names_of(records, "id", "doc_id", "doc_key")
    there = _documents_there(names, out, reference, tokens)
    for key, record, (its, known_tokens) in zip(names, records, there, strict=True):
        listed = record.get("tokens")
        own = listed.texts() if listed is not None else known_tokens
        texts = _Texts(f"document {key!r}", record.place, own, strip_articles, unlike, _is_extra(its, reference))
        known = _known_events(its)
        events: dict[str, DescribedEvent] = {}
        arguments: list[EventArgument] = []
        for one in map(plain_event, record.listed("events")):
            event = _event(one, own, known)
            if event.id in events:
                raise one.fail(f"duplicate event {event.id!r}; ids must be unique")
            events[event.id] = event
            arguments += [_argument(item, event.id, texts, predicted) for item in listed_arguments(one)]
        ids = set(events)
        if its is not None:
            ids |= {event.id for event in its.events}
        for item in record.listed("arguments"):
            if not item.has("event"):
                raise item.fail(
                    f"the role {item.at('role').text()!r} belongs to no event; expected its id under 'event'"
                )
            named = item.at("event")
            if named.name() not in ids:
                raise named.fail(
                    f"there is no event {named.name()!r} in the document {key!r}; there are {some(sorted(ids)) or 'none'}."
                    f"{did_you_mean(named.name(), ids)}"
                )
            arguments.append(_argument(item, named.name(), texts, predicted))
        document = ArgumentDocument(tuple(arguments), tuple(events.values()), own, read_sentences(record))
        out.add(key, document, record.place, tokens=own if listed is not None else ())
    _warn(out, unlike)
    return out


def _event(found: Json, tokens: tuple[str, ...], known: Mapping[tuple[Span, str], str]) -> DescribedEvent:
    found.refuse_several("type", "event_type", same=True)
    type_ = found.get("type", "event_type")
    trigger = found.get("trigger")
    span, text = None, ""
    if trigger is not None and isinstance(trigger.value, dict):
        span = _span(trigger)
        said = trigger.get("text")
        text = said.text() if said is not None else ""
    elif trigger is not None:
        text = trigger.text()
    if span is not None and tokens:
        if span[1] >= len(tokens) and trigger is not None:
            raise trigger.fail(
                f"tokens {span[0]} to {span[1]} lie outside the document, which has {len(tokens):,} tokens"
            )
        text = " ".join(tokens[span[0] : span[1] + 1])
    kind = type_.text() if type_ is not None else ""
    own = found.get("id")
    if own is not None:
        return DescribedEvent(own.name(), kind, text, span)
    if span is None:
        raise found.fail("an event needs an 'id', or a 'trigger' with 'start' and 'end'")
    return DescribedEvent(known.get((span, kind), event_id(kind, span)), kind, text, span)


def _span(found: Json, empty: bool = False) -> Span | None:
    if found.get("start") is None and found.get("end") is None:
        return None
    return found.checked_span(found.at("start").whole(), found.at("end").whole(), empty=empty)


def _argument(found: Json, event: str, texts: _Texts, predicted: bool) -> EventArgument:
    text, span = found.get("text"), _span(found, empty=predicted)
    if text is None and span is None:
        raise found.fail("an argument needs its 'text', or 'start' and 'end'")
    role, said = found.at("role").text(), text.text() if text is not None else None
    try:
        return texts.argument(event, role, said, span)
    except InputError as error:
        raise found.fail(error.reason) from None


# Both sides


def read_pair(
    reference: AnySource,
    predicted: AnySource,
    *,
    ontology: Mapping[str, Any] | None = None,
    tokens: AnySource | None = None,
    strip_articles: bool = False,
    absent: Missing | None = None,
) -> Paired[ArgumentDocument]:
    """A reference and a prediction, laid together. `tokens` is a file of events that has the documents' tokens; `absent` says
    what becomes of documents that stand on one side only."""
    known = read_events(tokens) if tokens is not None else None
    left = read_arguments(reference, tokens=known, strip_articles=strip_articles)
    if known is not None:
        _take_sentences(left.documents, known)
    right = read_arguments(predicted, reference=left, ontology=ontology, strip_articles=strip_articles)
    if ontology is not None and right.documents.format != GENERATED:
        right.documents.warnings.append(idle_ontology([right.documents.file]))
    for side in (left.documents, right.documents):
        side.note_duplicates(lambda one: [(a.event, a.role, a.span, a.text) for a in one.arguments], "argument")
    pairs = pair_documents(left.documents, right.documents, ArgumentDocument, absent)
    return replace(pairs, warnings=(*pairs.warnings, *_other_types(pairs, right.documents.file)))


def _other_types(pairs: Paired[ArgumentDocument], file: str) -> Iterator[str]:
    """What to say of predicted events that are called by an id of the reference and say another type: the id counts."""
    found = []
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        types = {event.id: event.type for event in reference.events}
        found += [(name, one) for one in predicted.events if one.type and types.get(one.id, one.type) != one.type]
    if found:
        (name, one), many = found[0], counted(len(found), "event")
        yield f"{file}: {many} of another type than the reference has under the same id, which counts; the first in {name}: {one.id!r}, {one.type!r}"


def _take_sentences(reference: Documents[ArgumentDocument], known: Documents[EventDocument]) -> None:
    """Give the reference's documents the sentences of the file that has the tokens, where they have none of their own."""
    names = list(reference.values)
    for name, there in zip(names, known.names_here(names, reference.named, reference.file), strict=True):
        one = reference.values[name]
        if not one.sentences and there is not None:
            reference.values[name] = replace(one, sentences=known.values[there].sentences)
