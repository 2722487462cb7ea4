"""What other tools write: annotation tools (doccano, Prodigy, Label Studio) and systems (DyGIE++, PURE and PL-Marker; SpERT; GLiNER; spaCy).

Annotation tools count characters (code points), with exclusive ends:

doccano        {"id": 1, "text": "Ada met Alan.", "label": [[0, 3, "PER"]]}
               {"id": 1, "text": ..., "entities": [{"id": 7, "label": "PER", "start_offset": 0, "end_offset": 3}],
                "relations": [{"id": 1, "from_id": 7, "to_id": 8, "type": "met"}]}
Prodigy        {"text": ..., "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept", "_input_hash": 5,
                "relations": [{"head_span": {...}, "child_span": {...}, "label": "met"}]}
Label Studio   [{"id": 1, "data": {"text": ...}, "annotations": [{"result": [
                {"id": "a", "type": "labels", "from_name": "label", "value": {"start": 0, "end": 3, "labels": ["PER"]}},
                {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["met"]}]}]}]
JSON-MIN       [{"id": 1, "text": ..., "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}]}]

Systems count tokens or characters:

DyGIE++   {"doc_key": "d1", "sentences": [["Ada", "met", "Alan"], ...], "ner": [[[0, 0, "PER"], [2, 2, "PER"]], ...],
           "relations": [[[0, 0, 2, 2, "met"]], ...], "events": [[[[1, "Meet"], [0, 0, "who"]]], ...]}
SpERT     {"tokens": ["Ada", "met", "Alan"], "entities": [{"type": "PER", "start": 0, "end": 1}, ...],
           "relations": [{"type": "met", "head": 0, "tail": 1}]}      as relations it is JSON of ours
GLiNER    [{"start": 0, "end": 3, "text": "Ada", "label": "PER", "score": 0.98}], a line for each text
          {"tokenized_text": ["Ada", "met", "Alan"], "ner": [[0, 0, "PER"]]}

DyGIE++ counts the tokens of the document, not of the sentence, and its ends are inclusive; so are those of GLiNER's training data. What
a system predicts stands under `predicted_ner`, `predicted_relations` and `predicted_events`, beside what it was given, and is followed
by scores, which are left alone.

Spans, relations and events with labels over a text, as annotation tools and systems write them: one description for all.

A `Layout` reads a document of somebody's format (a line, an item of a list, a row of a table) as an `Annotated`, and the tasks take
their structures from that. A layout declares what its offsets count and whether its ends are inclusive; in an `Annotated` all ends are
exclusive:

    doccano     [0, 4, "PER"]                          characters, exclusive      [0, 4)
    DyGIE++     [0, 0, "PER"]                          tokens, inclusive          [0, 1)

Where a document gives its text or its tokens, a span outside of them is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Literal

from tallystick.errors import InputError, MetricError, Place, TallystickError, counted, some
from tallystick.files.json_values import Json, decode_line, read_json
from tallystick.files.lines import ArrowLines
from tallystick.files.pairing import DYGIE_GOLD, Unpredicted, all_named, names_by_content, paired_by_text
from tallystick.files.source import AnySource, Format, Opening, Source, is_arrow_file, unpacked_name
from tallystick.files.words import plain_word
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Argument, Event, Trigger

Unit = Literal["characters", "tokens"]
Layer = Literal["spans", "relations", "events"]


@frozen
class Labelled:
    """A stretch of the text, end exclusive, with its label; `given` is what stands in the file."""

    start: int
    end: int
    label: str | None = None
    given: Any = field(default=None, compare=False, repr=False)

    @property
    def mention(self) -> AnnotatedMention:
        """The same with an inclusive end."""
        return AnnotatedMention(self.start, self.end - 1, type=self.label)


@frozen
class Link:
    """A relation of two stretches."""

    type: str
    subj: Labelled
    obj: Labelled
    given: Any = field(default=None, compare=False, repr=False)


@frozen(eq=False)
class Annotated:
    """A document: its text or its tokens by sentence, where the file has them, and what was asked for."""

    place: Place
    unit: Unit
    name: str | None = None
    text: str | None = None
    sentences: tuple[tuple[str, ...], ...] | None = None
    bounds: tuple[tuple[int, int], ...] | None = None
    """The characters of each token, where the file has text and tokens."""
    spans: tuple[Labelled, ...] = ()
    links: tuple[Link, ...] = ()
    events: tuple[Event, ...] = ()

    @cached_property
    def tokens(self) -> tuple[str, ...] | None:
        return None if self.sentences is None else tuple(word for one in self.sentences for word in one)

    def in_characters(self) -> Annotated:
        """The same with spans of characters, where the file says which characters a token has."""
        if self.unit == "characters" or self.text is None or self.bounds is None:
            return self
        bounds = self.bounds
        moved = tuple(replace(one, start=bounds[one.start][0], end=bounds[one.end - 1][1]) for one in self.spans)
        return replace(self, unit="characters", spans=moved)


@frozen
class Ask:
    """What a task wants from a file: which layer, from which side, and under which name if the user gave one."""

    layer: Layer = "spans"
    predicted: bool = False
    field: str | None = None

    def keys(self, *names: str) -> tuple[str, ...]:
        """Where the layer stands: systems write `predicted_ner` beside the `ner` that they were given."""
        names = (self.field,) if self.field is not None and self.layer == "spans" else names
        return (*(f"predicted_{name}" for name in names), *names) if self.predicted else names


@frozen
class Layout:
    """A format, declared once: its name, how a document of it is recognised and read, what its offsets count, where spans end.

    `read` gives one document as an `Annotated`. Spans, relations and events have the format then, as far as `layers` says."""

    name: str
    title: str
    fits: Callable[[Any], bool]
    read: Callable[[Json, Ask], Annotated | str]
    """A document; or why it is left out."""
    unit: Unit = "characters"
    inclusive: bool = False
    layers: tuple[Layer, ...] = ("spans",)
    known_by: str = ""
    """What it is recognised by, for the documentation and for messages."""
    over: tuple[str, ...] = ()
    """Formats that recognise its files too, in a more general way."""
    gold: Mapping[Layer, str] = field(default_factory=dict)
    """Where the reference of a layer stands, if systems write theirs beside it, under `predicted_` and the same name."""


@frozen(eq=False)
class AnnotatedFile:
    """The documents of a file; those that an annotator rejected are not among them, and `left_out` has their names."""

    file: str
    documents: list[Annotated]
    left_out: frozenset[str | None] = frozenset()
    warnings: tuple[str, ...] = ()
    alone: InputError | None = None
    """What is wrong if the reference is this file too: nothing in it was predicted."""

    @property
    def named(self) -> bool:
        return all_named([one.name for one in self.documents], [one.place for one in self.documents])

    @property
    def contents(self) -> dict[str, str]:
        """The texts of the documents by name, where all have both."""
        found = {one.name: one.text for one in self.documents if one.name is not None and one.text is not None}
        return found if len(found) == len(self.documents) else {}

    def without(self, names: frozenset[str | None]) -> AnnotatedFile:
        """The same without documents of these names."""
        if not names:
            return self
        return replace(self, documents=[one for one in self.documents if one.name is None or one.name not in names])


def read_annotated(name: AnySource, layout: Layout, ask: Ask) -> AnnotatedFile:
    """The documents of a file in this layout."""
    if ask.layer not in layout.layers:
        raise MetricError(f"{layout.title} has no {ask.layer}; it has {' and '.join(layout.layers)}")
    source = Source.of(name)
    found, reasons = [], {}
    beside = ask.predicted and layout.gold and not source.for_itself
    unpredicted = Unpredicted(ask.field or layout.gold[ask.layer]) if beside else None
    for number, document in enumerate(_documents_of(source, layout)):
        one = layout.read(document, ask)
        if unpredicted is not None:
            unpredicted.take(document.value, document.place)
        if isinstance(one, str):
            reasons[number] = one, name_of(document, "id", "_input_hash")
        else:
            found.append(one)
    if not found:
        raise InputError(f"holds no documents to score; expected {layout.title}", str(source))
    if reasons and any(one.name is None for one in found):
        why = next(iter(reasons.values()))[0]
        raise InputError(
            f"leaves {counted(len(reasons), 'document')} out ({why}), and its documents have no ids, so that the other side could not "
            "be paired; give ids, or remove them from both files",
            str(source),
        )
    alone = None if unpredicted is None else unpredicted.error
    notes = () if unpredicted is None or alone is None else (unpredicted.note(str(source)),)
    left_out = frozenset(name for _, name in reasons.values())
    return AnnotatedFile(str(source), found, left_out, (*_left_out(source, reasons), *notes), alone)


def _left_out(source: Source, reasons: dict[int, tuple[str, str | None]]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for why, _ in reasons.values():
        counts[why] = counts.get(why, 0) + 1
    return tuple(f"{source}: {counted(count, 'document')} left out: {why}" for why, count in counts.items())


def documents_in(source: Source) -> Iterator[Json]:
    """The values of a file: JSON Lines, a list, or rows of Parquet or Arrow."""
    if not is_arrow_file(source):
        yield from read_json(source)
        return
    file = str(source)
    for portion in ArrowLines(source).portions():
        for number, line in zip(portion.numbers, portion.lines, strict=True):
            yield Json(decode_line(line, file, number), Place(file, number))


def _documents_of(source: Source, layout: Layout) -> Iterable[Json]:
    """The documents of a file. Where a document is a list, the only line of JSON Lines is one, and not a list of documents."""
    found = list(documents_in(source))
    whole = found[0].parent if found else None
    lines = unpacked_name(source).endswith((".jsonl", ".ndjson"))
    return [whole] if lines and whole is not None and layout.fits(whole.value) else found


# What layouts read documents with


def name_of(document: Json, *keys: str) -> str | None:
    """The document's name under the first of these keys that it has."""
    found = document.get(*keys) if isinstance(document.value, dict) else None
    return None if found is None else found.name()


def words(found: Json) -> tuple[str, ...]:
    """A list of words."""
    return found.texts()


def layer_of(document: Json, *keys: str) -> Json:
    """The value under the first of these keys that is there and not null."""
    found = document.get(*keys)
    return found if found is not None else document.at(*keys)


@frozen
class Extent:
    """How long the text of a document is, and how its spans end; None where the file does not say."""

    unit: Unit
    length: int | None
    inclusive: bool = False
    first: int = 0
    """The first place, where only a part of the text is meant: a sentence."""
    what: str = "text"

    def span(self, found: Json, start: Json, end: Json, label: str | None) -> Labelled:
        """A stretch of the text."""
        left, right = found.checked_span(start.whole(), end.whole(), self.inclusive)
        if left < self.first or (self.length is not None and right >= self.length):
            kind = "inclusive" if self.inclusive else "exclusive"
            there = (
                f"{self.what}, {self.unit} {self.first} to {(self.length or 0) - self.inclusive}"
                if self.what != "text"
                else f"text of {counted(self.length or 0, self.unit[:-1])}"
            )
            raise found.fail(f"expected a span inside of its {there}, found {start.value} to {end.value} ({kind} end)")
        return Labelled(left, right + 1, label, found.value)


# Formats that the tasks declare, from layouts


def formats_of(layouts: Iterable[Layout], layer: Layer, read: Callable[..., Any] | None = None) -> tuple[Format, ...]:
    """The layouts that have a layer, as formats of a task; `read` takes the layout first."""
    return tuple(
        Format(
            one.name,
            lambda opening, fits=one.fits: _fits(fits, opening),  # type: ignore[misc]
            None if read is None else partial(read, one),
            title=one.title,
            known_by=one.known_by,
            over=one.over,
        )
        for one in layouts
        if layer in one.layers
    )


def _fits(fits: Callable[[Any], bool], opening: Opening) -> bool:
    value = opening.first
    return value is not None and fits(value)


def is_object(value: Any, *keys: str) -> bool:
    """Whether a value is an object with these keys."""
    return isinstance(value, dict) and all(key in value for key in keys)


def are_lists(value: Any) -> bool:
    """Whether a value is a list of lists."""
    return isinstance(value, list) and all(isinstance(one, list) for one in value)


def are_objects(value: Any, *keys: str) -> bool:
    """Whether a value is a list of objects, the first of which has these keys; an empty list is."""
    return isinstance(value, list) and (not value or is_object(value[0], *keys))


def fit_together(reference: AnnotatedFile, predicted: AnnotatedFile) -> tuple[AnnotatedFile, AnnotatedFile]:
    """Both sides without what an annotator rejected, under the same names, and with offsets of one unit."""
    if predicted.alone is not None and predicted.file == reference.file:
        raise predicted.alone
    predicted = predicted.without(reference.left_out)
    if not predicted.documents:
        raise InputError(
            f"holds only documents that {reference.file} leaves out; nothing is left to score", predicted.file
        )
    renamed = names_by_content(reference.contents, predicted.contents)
    if renamed:
        documents = [replace(one, name=renamed[one.name or ""]) for one in predicted.documents]
        note = paired_by_text(reference.file, predicted.file)
        predicted = replace(predicted, documents=documents, warnings=(*predicted.warnings, note))
    left, right = _one_unit((reference, predicted))
    return left, right


def _one_unit(sides: Sequence[AnnotatedFile]) -> tuple[AnnotatedFile, ...]:
    """Both sides with offsets of one unit: tokens become characters where the other side has characters and the file allows it."""
    units = {one.unit for side in sides for one in side.documents}
    if len(units) < 2:
        return tuple(sides)
    return tuple(replace(side, documents=[one.in_characters() for one in side.documents]) for side in sides)


# doccano

_DOCCANO = ("label", "labels", "entities")


def _is_doccano(value: Any) -> bool:
    if not (is_object(value, "text") or is_object(value, "data")):
        return False
    tuples = any(_are_triples(value.get(key)) for key in ("label", "labels", "entities"))
    return tuples or (
        "entities" in value and bool(value["entities"]) and are_objects(value["entities"], "start_offset")
    )


def _are_triples(value: Any) -> bool:
    """Whether a value is a list of [start, end, label], or of nothing."""
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 3 and type(one[0]) is int and isinstance(one[2], str) for one in value
    )


def _read_doccano(document: Json, ask: Ask) -> Annotated:
    text = document.at("text", "data").text()
    if ask.field is None:
        document.refuse_several(*_DOCCANO)
    extent = Extent("characters", len(text))
    by_id: dict[str, Labelled] = {}
    spans = []
    for found in layer_of(document, *((ask.field,) if ask.field else _DOCCANO)).each():
        if isinstance(found.value, list):
            start, end, label = found.several(3, "[start, end, label]")[:3]
        else:
            start, end, label = (found.at(key) for key in ("start_offset", "end_offset", "label"))
        spans.append(extent.span(found, start, end, label.label()))
        if found.has("id"):
            by_id[found.at("id").name()] = spans[-1]
    links = []
    for found in layer_of(document, "relations").each() if ask.layer == "relations" else ():
        subj, obj = (_by_id(found.at(key), by_id) for key in ("from_id", "to_id"))
        links.append(Link(found.at("type").label(), subj, obj, found.value))
    return Annotated(
        document.place, "characters", name_of(document, "id"), text, spans=tuple(spans), links=tuple(links)
    )


def _by_id(found: Json, known: Mapping[str, Labelled]) -> Labelled:
    if found.name() not in known:
        raise found.fail(f"there is no span {found.name()!r} in this document; it has {some(known) or 'none'}")
    return known[found.name()]


# Prodigy


def _is_prodigy(value: Any) -> bool:
    return is_object(value, "text") and any(key in value for key in ("_input_hash", "_task_hash", "answer"))


def _read_prodigy(document: Json, ask: Ask) -> Annotated | str:
    answer = document.get("answer")
    if answer is not None and answer.text() != "accept":
        if answer.value not in ("reject", "ignore"):
            raise answer.fail(f'expected "accept", "reject" or "ignore", found {answer.value!r}')
        return f'the answer is "{answer.value}"'
    text = document.at("text").text()
    extent = Extent("characters", len(text))
    spans = [
        extent.span(found, *_ends_of(found, text), found.at("label").label())
        for found in (document.listed("spans") if ask.field is None else layer_of(document, ask.field).each())
    ]
    links = []
    for found in layer_of(document, "relations").each() if ask.layer == "relations" else ():
        subj, obj = (_prodigy_argument(found.at(key), extent) for key in ("head_span", "child_span"))
        links.append(Link(found.at("label").label(), subj, obj, found.value))
    name = name_of(document, "id", "_input_hash")
    return Annotated(document.place, "characters", name, text, spans=tuple(spans), links=tuple(links))


def _prodigy_argument(found: Json, extent: Extent) -> Labelled:
    label = found.get("label")
    return extent.span(found, found.at("start"), found.at("end"), None if label is None else label.label())


# Label Studio


def _is_label_studio(value: Any) -> bool:
    return is_object(value, "data") and ("annotations" in value or "predictions" in value or "completions" in value)


def _read_label_studio(task: Json, ask: Ask) -> Annotated | str:
    answers = _answers(task, ask)
    if isinstance(answers, str):
        return answers
    text = _text_of(task.at("data"), answers)
    extent = Extent("characters", len(text))
    by_id: dict[str, Labelled] = {}
    spans: list[Labelled] = []
    for found in answers:
        kind = found.at("type").text()
        value = found.get("value")
        other = ask.field is not None and found.value.get("from_name") != ask.field
        if value is None or other or not kind.endswith("labels"):
            continue
        spans += _regions(value, value.at(kind), text, extent)
        if found.has("id"):
            by_id[found.at("id").name()] = spans[-1]
    links = []
    if ask.layer == "relations":
        links = [link for found in answers if found.value.get("type") == "relation" for link in _links(found, by_id)]
    return Annotated(task.place, "characters", name_of(task, "id"), text, spans=tuple(spans), links=tuple(links))


def _answers(task: Json, ask: Ask) -> list[Json] | str:
    """The results of the one annotation of a task, or of its one prediction."""
    predictions = task.listed("predictions") if ask.predicted else []
    listed = predictions or task.listed("annotations", "completions")
    kept = [one for one in listed if not one.mapping().get("was_cancelled")]
    if len(kept) > 1:
        ids = some(one.value.get("id", k) for k, one in enumerate(kept))
        raise task.fail(
            f"has {len(kept)} {kept[0].parent.key if kept[0].parent else 'annotations'} ({ids}); expected one a task: keep one of them"
        )
    if not kept and not ask.predicted:
        return "nobody annotated the task" if not listed else "the annotation was cancelled"
    return kept[0].at("result").each() if kept else []


def _text_of(data: Json, answers: list[Json]) -> str:
    """The text of a task: the field that is called like the object, or text, or the only one that is a text."""
    texts = {key: value for key, value in data.mapping().items() if isinstance(value, str)}
    for key in (*(one.at("to_name").text() for one in answers if one.has("to_name")), "text"):
        if key in texts:
            return texts[key]
    if len(texts) == 1:
        return next(iter(texts.values()))
    raise data.fail(f"expected one text, found {some(texts) or 'none'}; call the one that was annotated 'text'")


def _regions(value: Json, labels: Json, text: str, extent: Extent) -> Iterator[Labelled]:
    """The stretches of a region: one for each of its labels."""
    start, end = _ends_of(value, text)
    if not labels.each():
        raise labels.fail("expected at least one label, found []")
    for label in labels.each():
        yield extent.span(value, start, end, label.label())


def _ends_of(value: Json, text: str | None) -> tuple[Json, Json]:
    """The offsets of a stretch, at which the text that it says stands."""
    place = value.get("globalOffsets") or value
    start, end = place.at("start"), place.at("end")
    said = value.get("text")
    words = "" if said is None else said.text()
    if not words or text is None:
        return start, end
    found = text[start.whole() : end.whole()]
    if _same_letters(found, words):
        return start, end
    units = text.encode("utf-16-le")  # of which browsers count the offsets, if the region's own text shows that
    before, inside = (
        part.decode("utf-16-le", "replace")
        for part in (units[: 2 * start.whole()], units[2 * start.whole() : 2 * end.whole()])
    )
    if not _same_letters(inside, words) and says(found, words):
        return start, end
    if says(inside, words):
        ends = len(before), len(before) + len(inside)
        return Json(ends[0], start.place, start.parent, start.key), Json(ends[1], end.place, end.parent, end.key)
    raise value.fail(
        f"says {words!r:.60}, but characters {start.value} to {end.value} of the text are {found!r:.60}; {MEND_SAID}"
    )


MEND_SAID = "correct the offsets, or leave its text out"
"""How to go on where a stretch of the text is not what a span says."""


def says(found: str, said: str) -> bool:
    """Whether a stretch of the text is what a region says: cases, forms, quotes and white space may be others, and an empty text says nothing."""
    return _same_letters(found, said) or not said.strip() or _plain(found) == _plain(said)


def _same_letters(found: str, said: str) -> bool:
    return found == said or re.sub(r"\s|\\n", "", found) == re.sub(r"\s|\\n", "", said)


def _plain(text: str) -> str:
    return "".join(map(plain_word, text.replace("\\n", " ").split()))


def _links(found: Json, by_id: Mapping[str, Labelled]) -> Iterator[Link]:
    subj, obj = (_by_id(found.at(key), by_id) for key in ("from_id", "to_id"))
    direction = found.value.get("direction") or "right"
    for type_ in [one.label() for one in found.listed("labels")] or ["relation"]:
        if direction in ("right", "bi"):
            yield Link(type_, subj, obj, found.value)
        if direction in ("left", "bi"):
            yield Link(type_, obj, subj, found.value)


def _is_min(value: Any) -> bool:
    return is_object(value, "id") and (bool(_controls(value)) or is_object(value, "text", "annotation_id", "annotator"))


def _controls(value: Mapping[str, Any]) -> list[str]:
    """The fields that hold regions."""
    return [
        key
        for key, one in value.items()
        if isinstance(one, list) and one and all(is_object(x, "start", "end") and _labels_of(x) for x in one)
    ]


def _labels_of(region: Mapping[str, Any]) -> str:
    return next((key for key, one in region.items() if key.endswith("labels") and isinstance(one, list)), "")


def _read_min(document: Json, ask: Ask) -> Annotated:
    fields = (ask.field,) if ask.field else _controls(document.mapping())
    if len(fields) > 1:
        raise document.fail(f"has regions under {some(fields)}; say which are meant: --spans-field {fields[0]}")
    text = document.at("text").text()
    extent = Extent("characters", len(text))
    spans = [
        one
        for found in (document.listed(*fields) if fields else ())
        for one in _regions(found, found.at(_labels_of(found.mapping()) or "labels"), text, extent)
    ]
    return Annotated(document.place, "characters", name_of(document, "id"), text, spans=tuple(spans))


EXPORTS = (
    Layout(
        "doccano", "doccano JSON Lines", _is_doccano, _read_doccano, layers=("spans", "relations"), over=("JSON",),
        known_by='"text" with [start, end, label] under "label", "labels" or "entities", or entities with "start_offset"',
    ),
    Layout(
        "prodigy", "Prodigy JSON Lines", _is_prodigy, _read_prodigy, layers=("spans", "relations"), over=("jsonl", "JSON"),
        known_by='"text" with "answer", "_input_hash" or "_task_hash"',
    ),
    Layout(
        "label-studio", "Label Studio JSON", _is_label_studio, _read_label_studio, layers=("spans", "relations"),
        known_by='"data" with "annotations" or "predictions"',
    ),
    Layout(
        "label-studio-min", "Label Studio JSON-MIN", _is_min, _read_min,
        known_by='a list of regions, each with "start", "end" and "labels"',
    ),
)  # fmt: skip


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
    if is_object(value, "start", "end", "label") and ("text" in value or "score" in value):
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
    spans = [extent.span(found, *_ends_of(found, text), found.at("label").label()) for found in listed.each()]
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


# spaCy's documents: a `.spacy` file (DocBin), or `Doc` objects in Python. Spans count tokens, with exclusive ends.
#
# The spans are the entities (`doc.ents`), or those of a span group (`doc.spans["sc"]`) that the user names. The strings of a DocBin are
# numbers of spaCy's own, so that reading one needs spaCy.


ENDING = ".spacy"


def is_spacy_file(name: AnySource) -> bool:
    """Whether a file's name says that it is a DocBin."""
    return unpacked_name(name).endswith(ENDING)


def read_spacy(name: AnySource, ask: Ask) -> AnnotatedFile:
    """The documents of a DocBin. They have no names, so that two files are paired by order."""
    source = Source.of(name)
    documents = [_annotated(doc, Place(f"{source}[{number}]"), ask.field) for number, doc in enumerate(_docs(source))]
    if not documents:
        raise InputError("holds no documents", str(source))
    return AnnotatedFile(str(source), documents)


def _docs(source: Source) -> Iterator[Any]:
    spacy = _load_spacy(source)
    try:
        with source.open() as stream, source.reading():
            content = stream.read()
        yield from spacy.tokens.DocBin().from_bytes(content).get_docs(spacy.blank("xx").vocab)
    except TallystickError:
        raise
    except Exception as error:  # zlib, msgpack, numpy: whatever a broken file leads to
        raise InputError(f"is not a complete DocBin ({type(error).__name__}: {error!s:.80})", str(source)) from None


def _load_spacy(source: Source) -> Any:
    try:
        import spacy
        import spacy.tokens
    except ImportError:
        raise TallystickError(f"{source}: reading a .spacy file needs spaCy: pip install 'tallystick[spacy]'") from None
    return spacy


def _annotated(doc: Any, place: Place, group: str | None) -> Annotated:
    if group is not None and group not in doc.spans:
        raise InputError(f"has no span group {group!r}; it has {some(doc.spans) or 'none'}", place)
    return Annotated(
        place,
        "tokens",
        text=doc.text,
        sentences=(tuple(token.text for token in doc),),
        bounds=tuple((token.idx, token.idx + len(token)) for token in doc),
        spans=tuple(Labelled(*one) for one in _spans(doc, group)),
    )


def _spans(doc: Any, group: str | None) -> list[tuple[int, int, str]]:
    found = doc.ents if group is None else doc.spans[group]
    return [(span.start, span.end, span.label_) for span in found]


def doc_fields(doc: Any) -> dict[str, Any]:
    """A `Doc` as plain data, for the tasks' functions in Python: its entities as "spans", and each span group under its name."""
    groups = {name: [list(one) for one in _spans(doc, name)] for name in doc.spans}
    return {**groups, "tokens": [token.text for token in doc], "spans": [list(one) for one in _spans(doc, None)]}
