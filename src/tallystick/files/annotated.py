"""Spans, relations and events with labels over a text, as annotation tools and systems write them: one description for all.

A `Layout` reads a document of somebody's format (a line, an item of a list, a row of a table) as an `Annotated`, and the tasks take
their structures from that. A layout declares what its offsets count and whether its ends are inclusive; in an `Annotated` all ends are
exclusive:

    doccano     [0, 4, "PER"]                          characters, exclusive      [0, 4)
    DyGIE++     [0, 0, "PER"]                          tokens, inclusive          [0, 1)

Where a document gives its text or its tokens, a span outside of them is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, Literal

from tallystick.errors import InputError, MetricError, Place, counted
from tallystick.files.boundaries import Format, Opening
from tallystick.files.json_values import Json, decode_line, read_json
from tallystick.files.lines import ArrowLines, is_arrow_file
from tallystick.files.pairing import Unpredicted, names_by_content, paired_by_text
from tallystick.files.source import AnySource, Source
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Event

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
        return all(one.name is not None for one in self.documents)

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
    for number, document in enumerate(documents_in(source)):
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


# What layouts read documents with


def name_of(document: Json, *keys: str) -> str | None:
    """The document's name under the first of these keys that it has."""
    found = document.get(*keys) if isinstance(document.value, dict) else None
    return None if found is None else found.name()


def words(found: Json) -> tuple[str, ...]:
    """A list of words."""
    return tuple(one.text() for one in found.each())


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
