"""brat's standoff files (.ann), one or a folder of them with all its subfolders: the one reader, whatever the task.

    T1  Person 0 5  Marie            a span: type, start, end (exclusive, characters), text
    T2  Place 9 13;20 24  New Mexico a span in pieces
    R1  Born Arg1:T1 Arg2:T2         a relation
    E1  Die:T3 Victim:T1 Cause:E2    an event: type and trigger, then roles; another event stands for its trigger
    *   Equiv T1 T2                  spans of one entity

Attributes (A, M), normalisations (N) and notes (#, AnnotatorNotes) are passed over. Every other line must be understood: two
annotations with one id, an id that is not in the file, and, where the text stands in a .txt beside the file, a span that does
not fit its text are errors, also for a task that only looks at the other annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tallystick.errors import InputError, Place
from tallystick.files.json_values import FARTHEST
from tallystick.files.source import AnySource, Source, unpacked_name
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention

_PASSED_OVER = ("A", "M", "N", "#")


@frozen
class Pointer:
    """An id inside an annotation, the role before it (or nothing) and where it stands."""

    role: str
    id: str
    place: Place


@frozen
class TextBound:
    """A T line: pieces of text with exclusive ends, in order."""

    type: str
    pieces: tuple[tuple[int, int], ...]
    text: str | None
    place: Place

    @property
    def offsets(self) -> str:
        """The pieces as brat writes them."""
        return ";".join(f"{start} {end}" for start, end in self.pieces)


@frozen
class BratRelation:
    """An R line: two arguments, in the order of the line."""

    type: str
    arguments: tuple[Pointer, Pointer]
    place: Place


@frozen
class BratEvent:
    """An E line."""

    type: str
    trigger: Pointer
    arguments: tuple[Pointer, ...]
    place: Place


@frozen
class BratSet:
    """A `*` line: at least two annotations that belong together."""

    type: str
    members: tuple[Pointer, ...]
    place: Place


@dataclass
class Standoff:
    """One .ann file. `name` is its path below the folder that was asked for, without the suffix."""

    name: str
    source: Source
    spans: dict[str, TextBound] = field(default_factory=dict)
    relations: dict[str, BratRelation] = field(default_factory=dict)
    events: dict[str, BratEvent] = field(default_factory=dict)
    sets: list[BratSet] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return self.source.place()

    @property
    def text_file(self) -> Path:
        """Where the text of this file stands, if it does."""
        return Path(unpacked_name(self.source).removesuffix(".ann") + ".txt")

    def text(self) -> str | None:
        """The text beside the file."""
        return Source.of(self.text_file).text() if self.text_file.exists() else None

    def check_text(self, text: str) -> None:
        """Every span must lie inside the text and have the words that stand there."""
        for span in self.spans.values():
            if span.pieces[-1][1] > len(text):
                raise InputError(
                    f"span [{span.pieces[0][0]}, {span.pieces[-1][1]}) {span.type} is not inside its text of "
                    f"{len(text):,} characters",
                    span.place,
                )
            covered = " ".join(text[start:end] for start, end in span.pieces)
            if span.text is not None and _with_plain_blanks(covered) != _with_plain_blanks(span.text):
                raise InputError(
                    f'the text at {span.offsets} is "{covered}", the annotation has "{span.text}"', span.place
                )

    def mention(self, pointer: Pointer) -> AnnotatedMention:
        """The span that a pointer leads to; an event's is its trigger's."""
        key = self.events[pointer.id].trigger.id if pointer.id in self.events else pointer.id
        return self.mentions[key]

    @cached_property
    def mentions(self) -> dict[str, AnnotatedMention]:
        """Every span; those of one Equiv line are mentions of one entity, called after the first of them."""
        entity = {pointer.id: one.members[0].id for one in self.sets if one.type == "Equiv" for pointer in one.members}
        return {
            key: AnnotatedMention(
                span.pieces[0][0],
                span.pieces[-1][1] - 1,
                type=span.type,
                entity=entity.get(key),
                gaps=tuple((a, b - 1) for (_, a), (b, _) in pairwise(span.pieces) if b > a),
                text=span.text,
            )
            for key, span in self.spans.items()
        }


def is_brat(name: AnySource) -> bool:
    """Whether a name is that of an .ann file or of a folder."""
    path = Path(name)
    return path.is_dir() or unpacked_name(path).endswith(".ann")


def read_standoff(name: AnySource) -> Iterator[Standoff]:
    """The .ann files that a name stands for, by name, each checked against the text beside it where there is one."""
    root = Path(name)
    paths = sorted(root.rglob("*.ann")) if root.is_dir() else [root]
    if not paths:
        raise InputError("is a folder without a single .ann file", str(name))
    for path in paths:
        shown = path.relative_to(root) if root.is_dir() else Path(path.name)
        source = Source.of(name) if path == root else Source.of(path)
        out = _read(source, unpacked_name(shown).removesuffix(".ann"))
        text = out.text()
        if text is not None:
            out.check_text(text)
        yield out


def _read(source: Source, name: str) -> Standoff:
    out = Standoff(name, source)
    for number, line in enumerate(source.text().split("\n"), 1):
        if line.strip() and line[0] not in _PASSED_OVER:
            _Line(out, line.rstrip("\r"), number).read()
    for pointer in _pointers(out):
        if pointer.id not in out.spans and pointer.id not in out.events:
            raise InputError(
                f"there is no {pointer.id!r} in this file; expected the id of a T or E line", pointer.place
            )
    for event in out.events.values():
        if event.trigger.id not in out.spans:
            raise InputError(
                f"{event.trigger.id!r} cannot be a trigger; expected the id of a T line", event.trigger.place
            )
    return out


def _pointers(out: Standoff) -> Iterator[Pointer]:
    for relation in out.relations.values():
        yield from relation.arguments
    for event in out.events.values():
        yield event.trigger
        yield from event.arguments
    for one in out.sets:
        yield from one.members


class _Line:
    """An annotation that is being read."""

    def __init__(self, out: Standoff, line: str, number: int) -> None:
        self.out, self.line, self.number = out, line, number
        self.key, _, self.rest = line.partition("\t")
        self.head = self.rest.partition("\t")[0]
        self.words = [(m.group(), len(self.key) + 2 + m.start()) for m in re.finditer(r"\S+", self.head)]

    def place(self, column: int | None = None) -> Place:
        return self.out.source.place(self.number, column, self.line)

    def expected(self, what: str) -> InputError:
        return InputError(f"expected {what}, found {self.head!r:.60}", self.place())

    def read(self) -> None:
        """Add the annotation to the file's."""
        kind = self.key[:1]
        if kind not in ("T", "R", "E", "*") or not self.words:
            raise InputError(
                "expected an annotation of brat's standoff format (a line that starts with T, R, E, *, A, M, N or #, and a "
                f"tab behind its id), found {self.line!r:.60}",
                self.place(1),
            )
        if kind == "*":
            self.out.sets.append(self.set())
            return
        before = next(
            (k[self.key] for k in (self.out.spans, self.out.relations, self.out.events) if self.key in k), None
        )
        if before is not None:
            raise InputError(
                f"the id {self.key!r} is already used in line {before.place.line}; ids must be unique", self.place()
            )
        if kind == "T":
            self.out.spans[self.key] = self.span()
        elif kind == "R":
            self.out.relations[self.key] = self.relation()
        else:
            self.out.events[self.key] = self.event()

    def span(self) -> TextBound:
        type_, _, offsets = self.head.partition(" ")
        if not type_:
            raise self.expected("`Type start end[;start end...]`")
        try:
            pieces = tuple((int(start), int(end)) for start, end in (piece.split() for piece in offsets.split(";")))
        except ValueError:
            raise self.expected("`Type start end[;start end...]`") from None
        if any(end <= start for start, end in pieces) or any(b[0] < a[1] for a, b in pairwise(pieces)):
            raise InputError(
                f"expected pieces in order, each with at least one character, found {offsets!r:.60}", self.place()
            )
        if pieces[0][0] < 0 or pieces[-1][1] > FARTHEST:
            raise InputError(f"expected offsets from 0 on and below {FARTHEST:,}, found {offsets!r:.60}", self.place())
        _, tab, text = self.rest.partition("\t")
        return TextBound(type_, pieces, (text.partition("\t")[0] or None) if tab else None, self.place())

    def pointers(self, expected: str) -> list[Pointer]:
        """The words `Role:Id`, all of them."""
        out = []
        for word, column in self.words:
            role, colon, key = word.partition(":")
            if not (role and colon and key):
                raise self.expected(expected)
            out.append(Pointer(role, key, self.place(column + len(role) + 1)))
        return out

    def relation(self) -> BratRelation:
        expected = "`Type Arg1:T1 Arg2:T2`"
        if len(self.words) != 3:
            raise self.expected(expected)
        (type_, _), *self.words = self.words
        first, second = self.pointers(expected)
        return BratRelation(type_, (first, second), self.place())

    def event(self) -> BratEvent:
        trigger, *arguments = self.pointers("`Type:T1 Role:T2 ...`")
        return BratEvent(trigger.role, trigger, tuple(arguments), self.place())

    def set(self) -> BratSet:
        if len(self.words) < 3:
            raise self.expected("`*<TAB>Equiv T1 T2 ...`")
        (type_, _), *members = self.words
        return BratSet(type_, tuple(Pointer("", word, self.place(column)) for word, column in members), self.place())


def _with_plain_blanks(text: str) -> str:
    """brat writes line ends inside a segment as blanks."""
    return text.replace("\r", " ").replace("\n", " ").strip()
