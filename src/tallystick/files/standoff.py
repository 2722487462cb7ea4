"""brat's standoff files (.ann), one or a folder of them: spans, relations and events.

    T1  Person 0 5  Marie            a span: type, start, end (exclusive, characters), text
    T2  Place 9 13;20 24  New Mexico a span in pieces
    R1  Born Arg1:T1 Arg2:T2         a relation
    E1  Die:T3 Victim:T1 Cause:E2    an event: type and trigger, then roles; another event stands for its trigger
    *   Equiv T1 T2                  spans of one entity

Attributes (A, M), normalisations (N) and notes (#, AnnotatorNotes) say nothing about relations or events and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from tallystick.errors import InputError, Place, SidesMismatch, some
from tallystick.files.json_values import FARTHEST
from tallystick.files.pairing import Missing, allowed, sources
from tallystick.files.source import AnySource, read_text, shown_name, unpacked_name
from tallystick.structures.texts import AnnotatedMention
from tallystick.tasks.spans.jsonl import (
    Boundaries,
    CharSpan,
    TokenizedText,
    Tokenizer,
    first_difference,
    tokenizer_named,
)
from tallystick.tasks.spans.segments import AnnotatedTexts, Span, annotate


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


def is_brat(name: AnySource) -> bool:
    """Whether a name is that of an .ann file or of a folder."""
    path = Path(name)
    return path.is_dir() or unpacked_name(path).endswith(".ann")


def read_standoff(name: AnySource) -> Iterator[Standoff]:
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


# brat stand-off annotation: `.ann` files beside the `.txt` that they annotate.
#
#     T1<TAB>SITE 0 4;15 19<TAB>left knee      a segment: tag, stretches in characters, the text they cover
#
# Only text-bound annotations (T) are segments; relations, events, attributes, normalisations and notes (R, E,
# A, M, N, *, #) point at them and are none. A reference and a prediction are two files, or two folders with
# files of the same names. The text is the `.txt` beside the reference, or else beside the prediction.

_NOT_SEGMENTS = "REAMN*#"


def read_brat(
    reference: AnySource,
    predicted: AnySource,
    *,
    tokenizer: str | Tokenizer = "words",
    boundaries: Boundaries = "error",
    keep_tokens: bool = False,
    absent: Missing | None = None,
) -> AnnotatedTexts:
    """Read two `.ann` files or two folders of them."""
    tokenize = tokenizer_named(tokenizer)
    names, gold, guess, lengths, words = [], [], [], [], []
    for name, left, right in _pair(Path(reference), Path(predicted), absent):
        content = _text_of(left, right)
        text = TokenizedText.of(content, tokenize, Place(str(left)))
        gold.append(_read_of_brat(left, text, boundaries))
        guess.append([] if right is None else _read_of_brat(right, text, boundaries))
        names.append(name)
        lengths.append(len(text))
        words.append(text.words() if keep_tokens else ())
    found = annotate(gold, guess, np.array(lengths, dtype=np.int64), names=names)
    return replace(found, words=tuple(words)) if keep_tokens else found


def _pair(reference: Path, predicted: Path, absent: Missing | None) -> list[tuple[str, Path, Path | None]]:
    if reference.is_dir() != predicted.is_dir():
        raise SidesMismatch(f"{reference} and {predicted}: give two .ann files or two folders of them")
    if not reference.is_dir():
        return [(reference.stem, reference, predicted)]
    sides = [
        {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.ann"))}
        for folder in (reference, predicted)
    ]
    if not sides[0]:
        raise InputError("holds no .ann files", str(reference))
    missing = [name for name in sides[0] if name not in sides[1]]
    extra = [name for name in sides[1] if name not in sides[0]]
    if (missing or extra) and not allowed(absent, *(_stems(names) for names in (missing, extra))):
        where, names = (predicted, missing) if missing else (reference, extra)
        raise SidesMismatch(f"{where} has no file {some(names)}")
    return [(name.removesuffix(".ann"), path, sides[1].get(name)) for name, path in sides[0].items()]


def _stems(names: Sequence[str]) -> list[str]:
    return [name.removesuffix(".ann") for name in names]


def _text_of(left: Path, right: Path | None) -> str:
    there = [path.with_suffix(".txt") for path in (left, right) if path is not None]
    texts = [path for path in there if path.exists()]
    if not texts:
        raise InputError(f"no text beside it: expected {left.with_suffix('.txt').name}", str(left))
    content = read_text(texts[0])
    if len(texts) == 2:
        other = read_text(texts[1])
        if other != content:
            at = first_difference(content, other)
            raise SidesMismatch(
                f"the texts diverge at character {at}: {texts[0]} has {content[at : at + 20]!r}, "
                f"{texts[1]} has {other[at : at + 20]!r}"
            )
    return content


def _read_of_brat(path: Path, text: TokenizedText, boundaries: Boundaries) -> list[Span]:
    spans = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line[0] in _NOT_SEGMENTS:
            continue
        place = Place(str(path), number, None, line)
        fields = line.split("\t")
        if line[0] != "T" or len(fields) < 2:
            raise InputError('expected an annotation such as "T1<TAB>PER 0 5<TAB>Alice"', place)
        tag, _, stretches = fields[1].partition(" ")
        try:
            pieces = tuple((int(start), int(end)) for start, end in (piece.split() for piece in stretches.split(";")))
        except ValueError:
            raise InputError(f'expected offsets such as "0 4;15 19", found "{stretches}"', place) from None
        span = text.to_tokens(CharSpan(pieces, tag, place), boundaries)
        covered = " ".join(text.text[start:end] for start, end in pieces)
        if len(fields) > 2 and _blanks_alike(covered) != _blanks_alike(fields[2]):
            raise InputError(f'the text at {stretches} is "{covered}", the annotation has "{fields[2]}"', place)
        spans.append(span)
    return spans


def _blanks_alike(text: str) -> str:
    """brat writes line ends inside a segment as blanks."""
    return text.replace("\r", " ").replace("\n", " ").strip()
