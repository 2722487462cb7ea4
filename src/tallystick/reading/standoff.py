"""brat's standoff files (.ann), one or a folder of them: spans, relations and events.

    T1  Person 0 5  Marie            a span: type, start, end (exclusive, characters), text
    T2  Place 9 13;20 24  New Mexico a span in pieces
    R1  Born Arg1:T1 Arg2:T2         a relation
    E1  Die:T3 Victim:T1 Cause:E2    an event: type and trigger, then roles; another event stands for its trigger
    *   Equiv T1 T2                  spans of one entity

Attributes (A, M), normalisations (N) and notes (#, AnnotatorNotes) say nothing about relations or events and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tallystick.errors import InputError, Place
from tallystick.reading.documents import sources
from tallystick.reading.json_values import FARTHEST
from tallystick.reading.opening import read_text, shown_name
from tallystick.reading.packed import unpacked_name
from tallystick.structures.mentions import AnnotatedMention


@dataclass
class Standoff:
    """One .ann file: its spans, relations and events; every line that may be pointed to with its place."""

    name: str
    place: Place
    mentions: dict[str, AnnotatedMention] = field(default_factory=dict)
    relations: list[tuple[str, str, str, Place]] = field(default_factory=list)
    events: dict[str, tuple[str, str, list[tuple[str, str]], Place]] = field(default_factory=dict)
    equal: list[list[str]] = field(default_factory=list)

    def mention(self, key: str, place: Place) -> AnnotatedMention:
        """The span of that id; an event's is its trigger's."""
        key = self.events[key][1] if key in self.events else key
        if key not in self.mentions:
            raise InputError(f"there is no {key!r} in this file; expected the id of a T or E line", place)
        return self.mentions[key]


def is_brat(name: str | Path) -> bool:
    """Whether a name is that of an .ann file or of a folder."""
    path = Path(name)
    return path.is_dir() or unpacked_name(path).endswith(".ann")


def read_standoff(name: str | Path) -> Iterator[Standoff]:
    """The .ann files that a name stands for; a document is called as its file, without the suffix."""
    root = Path(name)
    for path in sources(name, ".ann"):
        shown = path.relative_to(root) if root.is_dir() else Path(path.name)
        yield _read(path, unpacked_name(shown).removesuffix(".ann"))


def _read(path: Path, name: str) -> Standoff:
    file = shown_name(path)
    out = Standoff(name, Place(file))
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        line, place = line.rstrip("\r"), Place(file, number)
        key, _, rest = line.partition("\t")
        kind = key[:1]
        if kind == "T":
            out.mentions[_fresh(out, key, place)] = _span(rest, place)
        elif kind == "R":
            out.relations.append((*_relation(rest, place), place))
        elif kind == "E":
            out.events[_fresh(out, key, place)] = (*_event(rest, place), place)
        elif kind == "*":
            words = rest.split()
            if len(words) < 3:
                raise InputError(f"expected `*<TAB>Equiv T1 T2 ...`, found {line!r:.60}", place)
            if words[0] == "Equiv":
                out.equal.append(words[1:])
        elif kind not in ("A", "M", "N", "#"):
            raise InputError(f"expected a line that starts with T, R, E, *, A, M, N or #, found {line!r:.60}", place)
    for words in out.equal:
        for word in words:
            out.mention(word, out.place)
    return _with_entities(out)


def _fresh(out: Standoff, key: str, place: Place) -> str:
    if key in out.mentions or key in out.events:
        raise InputError(f"the id {key!r} stood in this file already; ids must differ", place)
    return key


def _span(rest: str, place: Place) -> AnnotatedMention:
    head, _, text = rest.partition("\t")
    type_, _, offsets = head.partition(" ")
    pieces = []
    try:
        for piece in offsets.split(";"):
            start, end = map(int, piece.split())
            pieces.append((start, end - 1))
    except ValueError:
        raise InputError(f"expected `Type start end[;start end...]`, found {head!r:.60}", place) from None
    if any(end < start for start, end in pieces) or any(b[0] <= a[1] for a, b in pairwise(pieces)):
        raise InputError(f"expected pieces in order, each with at least one character, found {offsets!r:.60}", place)
    if pieces[0][0] < 0 or pieces[-1][1] >= FARTHEST:
        raise InputError(f"expected offsets from 0 on and below {FARTHEST:,}, found {offsets!r:.60}", place)
    gaps = tuple((a[1] + 1, b[0] - 1) for a, b in pairwise(pieces) if b[0] > a[1] + 1)
    return AnnotatedMention(pieces[0][0], pieces[-1][1], type=type_, gaps=gaps, text=text or None)


def _relation(rest: str, place: Place) -> tuple[str, str, str]:
    words = rest.split()
    arguments = [word.partition(":") for word in words[1:]]
    if len(words) != 3 or any(not colon for _, colon, _ in arguments):
        raise InputError(f"expected `Type Arg1:T1 Arg2:T2`, found {rest!r:.60}", place)
    first, second = sorted(arguments, key=lambda part: part[0]) if arguments[0][0] != arguments[1][0] else arguments
    return words[0], first[2], second[2]


def _event(rest: str, place: Place) -> tuple[str, str, list[tuple[str, str]]]:
    parts = [word.partition(":") for word in rest.split()]
    if not parts or any(not colon or not value for _, colon, value in parts):
        raise InputError(f"expected `Type:T1 Role:T2 ...`, found {rest!r:.60}", place)
    return parts[0][0], parts[0][2], [(role, key) for role, _, key in parts[1:]]


def _with_entities(out: Standoff) -> Standoff:
    """Spans that stand in one Equiv line are mentions of one entity, called after the first of them."""
    from dataclasses import replace

    for words in out.equal:
        for word in words:
            if word in out.mentions:
                out.mentions[word] = replace(out.mentions[word], entity=words[0])
    return out
