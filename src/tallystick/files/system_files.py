"""What systems read and write: DyGIE++ (and PURE, PL-Marker), SpERT, GLiNER.

    DyGIE++   {"doc_key": "d1", "sentences": [["Ada", "met", "Alan"], ...], "ner": [[[0, 0, "PER"], [2, 2, "PER"]], ...],
               "relations": [[[0, 0, 2, 2, "met"]], ...], "events": [[[[1, "Meet"], [0, 0, "who"]]], ...]}
    SpERT     {"tokens": ["Ada", "met", "Alan"], "entities": [{"type": "PER", "start": 0, "end": 1}, ...],
               "relations": [{"type": "met", "head": 0, "tail": 1}]}      as relations it is JSON of ours
    GLiNER    [{"start": 0, "end": 3, "text": "Ada", "label": "PER", "score": 0.98}], a line for each text
              {"tokenized_text": ["Ada", "met", "Alan"], "ner": [[0, 0, "PER"]]}

DyGIE++ counts the tokens of the document, not of the sentence, and its ends are inclusive; so are those of GLiNER's training data. What
a system predicts stands under `predicted_ner`, `predicted_relations` and `predicted_events`, beside what it was given, and is followed
by scores, which are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from tallystick.files.annotated import (
    Annotated,
    Ask,
    Extent,
    Labelled,
    Layout,
    Link,
    are_lists,
    are_objects,
    is_object,
    layer_of,
    name_of,
    words,
)
from tallystick.files.json_values import Json
from tallystick.files.unpredicted import DYGIE_GOLD
from tallystick.structures.texts import Argument, Event, Trigger

# DyGIE++


def _is_dygie(value: Any) -> bool:
    if not is_object(value, "sentences") or not are_lists(value["sentences"]):
        return False
    known = (value[key] for name in DYGIE_GOLD.values() for key in (name, f"predicted_{name}") if key in value)
    return any(are_lists(one) and len(one) == len(value["sentences"]) for one in known)


def _read_dygie(document: Json, ask: Ask) -> Annotated:
    sentences = tuple(words(one) for one in document.at("sentences").each())
    read = {"spans": _dygie_spans, "relations": _dygie_relations, "events": _dygie_events}[ask.layer]
    name = name_of(document, "doc_key", "doc_id", "id")
    found = read(document, ask, sentences)
    return Annotated(document.place, "tokens", name, sentences=sentences, **found)


def _by_sentence(
    document: Json, keys: tuple[str, ...], sentences: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[Json, Extent]]:
    """The items of a layer, with the tokens of their sentence."""
    layer = layer_of(document, *keys)
    listed = layer.each()
    if len(listed) != len(sentences):
        raise layer.fail(f"expected a list for each of the {len(sentences):,} sentences, found {len(listed):,}")
    ends = list(accumulate(map(len, sentences)))
    for k, of in enumerate(listed):
        extent = Extent("tokens", ends[k], True, ends[k] - len(sentences[k]), f"sentence {k}")
        for item in of.each():
            yield item, extent


def _dygie_spans(document: Json, ask: Ask, sentences: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    out = []
    for item, extent in _by_sentence(document, ask.keys("ner"), sentences):
        start, end, label = item.several(3, "[start, end, label]")[:3]
        out.append(extent.span(item, start, end, label.label()))
    return {"spans": tuple(out)}


def _dygie_relations(document: Json, ask: Ask, sentences: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """Relations; their arguments have the types that the spans have on the same side, if it has any."""
    known = document.get(*ask.keys("ner")) is not None
    entities = _dygie_spans(document, ask, sentences)["spans"] if known else ()
    types = {(one.start, one.end): one.label for one in entities}
    out = []
    for item, extent in _by_sentence(document, ask.keys("relations"), sentences):
        parts = item.several(5, "[start, end, start, end, label]")
        pairs = [extent.span(item, parts[k], parts[k + 1], None) for k in (0, 2)]
        subj, obj = (Labelled(one.start, one.end, types.get((one.start, one.end))) for one in pairs)
        out.append(Link(parts[4].label(), subj, obj, item.value))
    return {"links": tuple(out)}


def _dygie_events(document: Json, ask: Ask, sentences: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    out = []
    for item, extent in _by_sentence(document, ask.keys("events"), sentences):
        trigger, *arguments = item.several(1, "[[token, type], [start, end, role], ...]")
        parts = trigger.several(2, "[token, type] or [start, end, type]")
        last = 1 if isinstance(parts[1].value, int) else 0  # a trigger is a token, or a span
        place = extent.span(trigger, parts[0], parts[last], None)
        args = []
        for one in arguments:
            start, end, role = one.several(3, "[start, end, role]")[:3]
            args.append(Argument(extent.span(one, start, end, None).mention, role.label()))
        type_ = trigger.several(last + 2, "[start, end, type]")[last + 1].label()
        out.append(Event(Trigger(place.mention, type_), tuple(args)))
    return {"events": tuple(out)}


# SpERT


def _is_spert(value: Any) -> bool:
    return is_object(value, "tokens", "entities") and are_objects(value["entities"], "type", "start", "end")


def _read_spert(document: Json, ask: Ask) -> Annotated:
    tokens = words(document.at("tokens"))
    extent = Extent("tokens", len(tokens))
    entities = [
        extent.span(found, found.at("start"), found.at("end"), found.at("type").label())
        for found in layer_of(document, *ask.keys("entities")).each()
    ]
    name = name_of(document, "id", "doc_id", "doc_key", "orig_id")
    return Annotated(document.place, "tokens", name, sentences=(tokens,), spans=tuple(entities))


# GLiNER


def _is_gliner(value: Any) -> bool:
    if isinstance(value, list):
        return are_objects(value, "start", "end", "label")
    if is_object(value, "start", "end", "label") and "text" in value and "score" in value:
        return True  # an entity by itself, which the reader refuses
    return is_object(value, "text", "entities") and are_objects(value["entities"], "start", "end", "label")


def _read_gliner(document: Json, ask: Ask) -> Annotated:
    """What `predict_entities` gives: a list for each text, alone or beside the text."""
    if document.has("start", "end", "label"):
        raise document.fail("is an entity by itself; expected a list of entities for each text, [[{...}, {...}], ...]")
    alone = isinstance(document.value, list)
    text = None if alone else document.at("text").text()
    extent = Extent("characters", None if text is None else len(text))
    listed = document if alone else layer_of(document, ask.field or "entities")
    spans = [
        extent.span(found, found.at("start"), found.at("end"), found.at("label").label()) for found in listed.each()
    ]
    return Annotated(document.place, "characters", name_of(document, "id"), text, spans=tuple(spans))


def _is_gliner_data(value: Any) -> bool:
    return is_object(value, "tokenized_text", "ner")


def _read_gliner_data(document: Json, ask: Ask) -> Annotated:
    tokens = words(document.at("tokenized_text"))
    extent = Extent("tokens", len(tokens), True)
    spans = []
    for found in layer_of(document, *ask.keys("ner")).each():
        start, end, label = found.several(3, "[start, end, label]")[:3]
        spans.append(extent.span(found, start, end, label.label()))
    return Annotated(document.place, "tokens", name_of(document, "id"), sentences=(tokens,), spans=tuple(spans))


SYSTEMS = (
    Layout(
        "dygie", "DyGIE++ JSON Lines", _is_dygie, _read_dygie, "tokens", True, ("spans", "relations", "events"), over=("JSON",), gold=DYGIE_GOLD,
        known_by='"sentences" with a list for each of them under "ner", "relations" or "events"',
    ),
    Layout(
        "spert", "SpERT JSON", _is_spert, _read_spert, "tokens",
        known_by='"tokens" with "entities" that have "type", "start" and "end"',
    ),
    Layout(
        "gliner", "GLiNER output", _is_gliner, _read_gliner,
        known_by='a list of entities with "start", "end" and "label" for each text, or "text" with such "entities"',
    ),
    Layout(
        "gliner-data", "GLiNER training data", _is_gliner_data, _read_gliner_data, "tokens", True,
        known_by='"tokenized_text" with "ner"',
    ),
)  # fmt: skip
