"""Spans with offsets, from JSON lines, brat, Parquet and Arrow; and from characters to tokens, with one tokenizer for both sides.

    D r .   S m i t h ' s   d o g          tokens [0,2) [2,3) [4,9) [9,10) [10,11) [12,15)
    [             )                        characters [0,9) are tokens [0,3)
                [     )                    characters [6,10) start inside a token: an error, or
                                           expanded to "Smith" "'", or contracted to "'"

Blanks belong to no token, so a boundary among them cuts nothing.

Rows of tokens with their tags, as Hugging Face's datasets have them: JSON Lines, Parquet or Arrow.

    {"tokens": ["Ada", "met", "Alan"], "ner_tags": [1, 0, 1]}            or with names, ["B-PER", "O", "B-PER"]

Tags that are numbers need their names. They are looked for in this order:

| where                                              | who writes it                                            |
|----------------------------------------------------|----------------------------------------------------------|
| `--tag-names` O,B-PER,I-PER or a file              | the user: a list of names, dataset_info.json, config.json |
| the schema of the Parquet or Arrow file            | `to_parquet`, `save_to_disk`                              |
| dataset_info.json (or dataset_infos.json) beside it | `save_to_disk`, the Hub                                  |
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.engine.data import Bag, Leaf, Record
from tallystick.errors import InputError, MetricError, Place, SidesMismatch, ValueMismatch, did_you_mean, some
from tallystick.files.confidences import ItemConfidences
from tallystick.files.exports import (
    EXPORTS,
    MEND_SAID,
    SYSTEMS,
    Annotated,
    AnnotatedFile,
    Ask,
    documents_in,
    fit_together,
    name_of,
    read_annotated,
    says,
    words,
)
from tallystick.files.json_values import Json, as_json_lines, decode_line, id_in, shown
from tallystick.files.lines import ArrowLines
from tallystick.files.pairing import Documents, Missing, Side, all_named, by_order, pair_documents, pair_sides
from tallystick.files.source import AnySource, Opening, Source, is_arrow_file, shown_name
from tallystick.files.standoff import Standoff, read_standoff
from tallystick.frozen import frozen
from tallystick.tasks.spans.counts import AnnotatedTexts, IntArray, Segments, Span, annotate

Tokenizer: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
Boundaries = Literal["error", "expand", "contract"]


@frozen
class Offsets:
    """What the offsets of JSON lines and brat count, and with what tokenizer: words, blanks, characters or a function, one for
    both sides."""

    unit: Literal["characters", "tokens"] = "characters"
    tokenizer: str | Tokenizer = "words"
    boundaries: Boundaries = "error"
    field: str | None = None
    """Where the spans stand, if not where the format has them: a field, a span group (spaCy), a control (Label Studio)."""
    confidence: str | None = None
    """The key under which a predicted span has its confidence."""

    def __post_init__(self) -> None:
        if self.unit not in ("characters", "tokens"):
            raise MetricError(f'offsets are in "characters" or "tokens", not in "{self.unit}"')
        if self.boundaries not in ("error", "expand", "contract"):
            raise MetricError(f'boundaries inside tokens are "error", "expand" or "contract", not "{self.boundaries}"')

    def __str__(self) -> str:
        if self.unit == "tokens":
            return "offsets=tokens"
        return f"offsets=characters, tokenizer={self.tokenizer}, boundaries={self.boundaries}"


_PATTERNS = {
    "words": re.compile(r"\w+|[^\w\s]"),
    "blanks": re.compile(r"\S+"),
    "characters": re.compile(r"\S"),
}


def tokenizer_named(name: str | Tokenizer) -> Tokenizer:
    """A tokenizer by name (words, blanks, characters), or a function from text to (start, end) pairs."""
    if not isinstance(name, str):
        return name
    if name not in _PATTERNS:
        raise MetricError(
            f'"{name}" is not a tokenizer; there are {", ".join(_PATTERNS)}.{did_you_mean(name, _PATTERNS)}'
        )
    pattern = _PATTERNS[name]
    return lambda text: [match.span() for match in pattern.finditer(text)]


@frozen
class CharSpan:
    """A segment in characters: its stretches, its tag, where it was read, and what text it says is there, if it says it and that was not compared yet."""

    pieces: tuple[tuple[int, int], ...]
    tag: str
    place: Place
    said: str | None = None


@frozen
class TokenizedText:
    """A text and the sorted boundaries of its tokens."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer, place: Place) -> TokenizedText:
        """Tokenize a text; tokens must be in order, inside the text, not empty and not overlapping."""
        spans = list(tokenizer(text))
        reached = 0
        for start, end in spans:
            if not reached <= start < end <= len(text):
                raise InputError(f"the tokenizer gave [{start}, {end}) after {reached}; tokens come in order", place)
            reached = end
        return cls(text, tuple(start for start, _ in spans), tuple(end for _, end in spans))

    def __len__(self) -> int:
        return len(self.starts)

    def words(self) -> tuple[str, ...]:
        """The tokens themselves."""
        return tuple(self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True))

    def to_tokens(self, span: CharSpan, boundaries: Boundaries) -> Span:
        """The same segment in tokens."""
        if span.said and all(
            0 <= start < end <= len(self.text) for start, end in span.pieces
        ):  # others are wrong as such
            _check_said(span, " ".join(self.text[start:end] for start, end in sorted(span.pieces)), "characters")
        pieces = [self._piece(start, end, span, boundaries) for start, end in span.pieces]
        first, last = min(start for start, _ in pieces), max(end for _, end in pieces)
        return Span(first, last, span.tag, tuple(pieces) if len(pieces) > 1 else ())

    def _piece(self, start: int, end: int, span: CharSpan, boundaries: Boundaries) -> tuple[int, int]:
        if not 0 <= start < end <= len(self.text):
            raise InputError(
                f"span [{start}, {end}) {span.tag} is not inside its text of {len(self.text)} characters",
                span.place,
            )
        touched = bisect_right(self.ends, start), bisect_left(self.starts, end)
        whole = bisect_left(self.starts, start), bisect_right(self.ends, end)
        if touched[0] >= touched[1]:
            raise InputError(f"span [{start}, {end}) {span.tag} holds no token", span.place)
        if touched == whole or boundaries == "expand":
            return touched
        if boundaries == "contract":
            if whole[0] >= whole[1]:
                raise InputError(f"span [{start}, {end}) {span.tag} holds no whole token: nothing is left", span.place)
            return whole
        cut = touched[0] if whole[0] != touched[0] else touched[1] - 1
        token = self.text[self.starts[cut] : self.ends[cut]]
        raise InputError(
            f'span [{start}, {end}) {span.tag}, "{self.text[start:end]}", has a boundary inside the token '
            f'"{token}" [{self.starts[cut]}, {self.ends[cut]}); choose another tokenizer, or '
            "--boundaries expand or --boundaries contract",
            span.place,
        )


def _check_said(span: CharSpan, found: str, unit: str) -> None:
    """That what a segment says it is stands at its offsets."""
    if span.said and not says(found, span.said):
        stretches = ", ".join(f"[{start}, {end})" for start, end in span.pieces)
        raise InputError(
            f"span {stretches} {span.tag} says {span.said!r:.60}, but these {unit} of the text are {found!r:.60}; {MEND_SAID}",
            span.place,
        )


def first_difference(left: str, right: str) -> int:
    """Where two texts part."""
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


# Spans in JSON lines: one text a line, spans nested, overlapping or discontinuous as they like.
#
#     {"id": "7", "text": "left and right knee", "spans": [
#         {"start": 9, "end": 19, "label": "SITE"},                          # [9, 19, "SITE"] is the same
#         {"pieces": [[0, 4], [15, 19]], "label": "SITE"}]}                  # "left ... knee"
#
# Ends are exclusive. Offsets are characters of the text (the prediction may leave the text out, then it is the
# reference's), or tokens, of the list "tokens" where there is one. Texts of the two files belong together by
# their ids, or by their order where there are none. The rows of a Parquet or Arrow file are such objects too; spans in
# tokens stay columns (`spans_of_columns`).

FIELD = "spans"
_LABELS = ("label", "type", "tag")
LAYOUTS = (*SYSTEMS, *EXPORTS)
"""Other people's formats that have spans."""


@frozen
class _Record:
    name: str | None
    text: str | None
    tokens: tuple[str, ...] | None
    spans: tuple[CharSpan, ...]
    place: Place
    scores: tuple[float | None, ...] = ()


def read_spans(
    reference: AnySource,
    predicted: AnySource,
    offsets: Offsets = Offsets(),  # noqa: B008 - frozen
    *,
    formats: tuple[str, str] = ("jsonl", "jsonl"),
    keep_tokens: bool = False,
    absent: Missing | None = None,
) -> AnnotatedTexts:
    """Read two files of spans, each in its format: ours, or one that `files.exports` describes."""
    if (
        formats == ("jsonl", "jsonl")
        and offsets.confidence is None
        and offsets.unit == "tokens"
        and is_arrow_file(reference)
        and is_arrow_file(predicted)
    ):
        found = spans_of_columns(reference, predicted, offsets.field or FIELD)
        if found is not None:
            return found
    left, right = _read_sides((reference, predicted), formats, offsets)
    pairs, notes = _pair(left.records, right.records, shown_name(reference), shown_name(predicted), absent)
    scores = None if offsets.confidence is None else tuple(right.scores for _, right in pairs)
    found = _annotated(pairs, replace(offsets, unit=left.unit), keep_tokens)
    return replace(found, scores=scores, unit=left.unit, notes=(*left.notes, *right.notes, *notes))


@frozen(eq=False)
class _Side:
    records: list[_Record]
    unit: Literal["characters", "tokens"]
    notes: tuple[str, ...] = ()


def _read_sides(files: tuple[AnySource, AnySource], formats: tuple[str, str], offsets: Offsets) -> list[_Side]:
    """Both sides with offsets of one unit."""
    confidences = None, offsets.confidence
    out: list[_Side | AnnotatedFile] = []
    for k, (file, format) in enumerate(zip(files, formats, strict=True)):
        if format == "jsonl":
            out.append(_Side(_read(file, offsets.field or FIELD, confidences[k]), offsets.unit))
        else:
            out.append(read_foreign(file, format, Ask("spans", bool(k), offsets.field)))
    foreign = [one for one in out if isinstance(one, AnnotatedFile)]
    if len(foreign) == 2:
        foreign = list(fit_together(foreign[0], foreign[1]))
    elif foreign and offsets.unit == "characters":
        foreign = [replace(foreign[0], documents=[one.in_characters() for one in foreign[0].documents])]
    left = iter(foreign)
    sides = [one if isinstance(one, _Side) else _of_annotated(next(left), confidences[k]) for k, one in enumerate(out)]
    if not sides[1].records:
        sides[1] = replace(sides[1], unit=sides[0].unit)
    if sides[0].unit != sides[1].unit:
        told = " and ".join(
            f"{shown_name(file)} ({format}) counts {side.unit}"
            for file, format, side in zip(files, formats, sides, strict=True)
        )
        advice = "; --offsets says what JSON Lines of ours count" if "jsonl" in formats else ""
        raise SidesMismatch(f"{told}: their spans cannot be compared{advice}")
    return sides


def read_foreign(name: AnySource, format: str, ask: Ask) -> AnnotatedFile:
    """A file of somebody else's format."""
    if format == "spacy":
        from tallystick.files.exports import read_spacy

        return read_spacy(name, ask)
    return read_annotated(name, next(one for one in LAYOUTS if one.name == format), ask)


def _of_annotated(found: AnnotatedFile, confidence: str | None) -> _Side:
    sure = None if confidence is None else ItemConfidences(confidence)
    records = []
    for number, one in enumerate(found.documents):
        spans = tuple(
            CharSpan(((span.start, span.end),), span.label or "", one.place, _said(span.given, one))
            for span in one.spans
        )
        given = [span.given for span in one.spans]
        scores = () if sure is None else tuple(sure.take(str(number), given, "spans", one.place))
        records.append(_Record(one.name, one.text, one.tokens, spans, one.place, scores))
    if sure is not None:
        sure.refuse_nothing("spans")
    return _Side(records, found.documents[0].unit, found.warnings)


def _said(given: Any, document: Annotated) -> str | None:
    """What a span says is at its offsets, if that could not be compared yet because its file has no text."""
    return given.get("text") if document.text is None and isinstance(given, dict) else None


def _annotated(pairs: Sequence[tuple[_Record, _Record]], offsets: Offsets, keep_tokens: bool) -> AnnotatedTexts:
    if offsets.unit == "tokens":
        return _annotate_tokens(pairs, keep_tokens)
    tokenize = tokenizer_named(offsets.tokenizer)
    texts = [TokenizedText.of(_common_text(left, right), tokenize, left.place) for left, right in pairs]
    sides = [
        [
            [text.to_tokens(span, offsets.boundaries) for span in pair[side].spans]
            for text, pair in zip(texts, pairs, strict=True)
        ]
        for side in (0, 1)
    ]
    return _annotate(sides[0], sides[1], texts, _names(pairs), keep_tokens)


def _annotate_tokens(pairs: Sequence[tuple[_Record, _Record]], keep_tokens: bool) -> AnnotatedTexts:
    """Spans whose offsets are tokens already; their numbers are known if all texts have them."""
    lengths = [_token_count(left, right) for left, right in pairs]
    for (left, right), length in zip(pairs, lengths, strict=True):
        _check_inside((*left.spans, *right.spans), length)
        if length is not None:
            said = [span for span in (*left.spans, *right.spans) if span.said]
            _check_tokens(said, left.tokens or right.tokens or ())
    known = [length for length in lengths if length is not None]
    whole = len(known) == len(lengths)
    sides = [[[_as_tokens(span) for span in pair[side].spans] for pair in pairs] for side in (0, 1)]
    found = annotate(sides[0], sides[1], known if whole else None, names=_names(pairs))
    words = tuple(left.tokens or right.tokens or () for left, right in pairs)
    return replace(found, words=words) if keep_tokens and whole else found


def _annotate(
    reference: Sequence[Sequence[Span]],
    predicted: Sequence[Sequence[Span]],
    texts: Sequence[TokenizedText],
    names: Sequence[str],
    keep_tokens: bool,
) -> AnnotatedTexts:
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    found = annotate(reference, predicted, lengths, names=names)
    return replace(found, words=tuple(text.words() for text in texts)) if keep_tokens else found


def _names(pairs: Sequence[tuple[_Record, _Record]]) -> list[str]:
    return [left.name or str(number) for number, (left, _) in enumerate(pairs)]


def _read(name: AnySource, field: str, confidence: str | None = None) -> list[_Record]:
    file = shown_name(name)
    sure = None if confidence is None else ItemConfidences(confidence)
    records = []
    for number, line in _lines(name):
        if not line.strip():
            continue
        place = Place(file, number)
        value = decode_line(line, file, number)
        _require_list(value, field, place)
        text, tokens, key = value.get("text"), value.get("tokens"), id_in(value, place)
        if text is not None and not isinstance(text, str):
            raise InputError(f"text: expected text, found {shown(text)}", place)
        if tokens is not None and not (isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)):
            raise InputError(f"tokens: expected a list of texts, found {shown(tokens)}", place)
        spans = tuple(_span(span, index, field, place) for index, span in enumerate(value[field]))
        words = None if tokens is None else tuple(tokens)
        scores = () if sure is None else tuple(sure.take(str(number), value[field], field, place))
        records.append(_Record(key, text, words, spans, place, scores))
    if sure is not None and records:
        sure.refuse_nothing("spans")
    return records


def _lines(name: AnySource) -> Iterator[tuple[int, str | bytes]]:
    """The documents as lines with their numbers in the file; none of an empty list."""
    if is_arrow_file(name):
        for portion in ArrowLines(name).portions():
            yield from zip(portion.numbers, portion.lines, strict=True)
    else:
        source = Source.of(name)
        text = source.text()
        if not text or text.isspace():
            raise InputError("holds no texts; expected one JSON object a line", str(source))
        lines = as_json_lines(source)
        for number, line in enumerate((text if lines is source else lines.text()).split("\n"), 1):
            yield lines.line(number), line


def _span(value: object, index: int, field: str, place: Place) -> CharSpan:
    label: object = None
    pieces: object = None
    said: object = None
    if isinstance(value, dict):
        said = value.get("text")
        label = next((value[key] for key in _LABELS if value.get(key) is not None), None)
        pieces = value.get("pieces")  # in a column, a span without pieces has null there
        pieces = [[value.get("start"), value.get("end")]] if pieces is None else pieces
    elif isinstance(value, list) and len(value) == 3:
        label, pieces = value[2], [value[:2]]
    if isinstance(label, str) and isinstance(pieces, list) and pieces and all(map(_is_piece, pieces)):
        return CharSpan(
            tuple((piece[0], piece[1]) for piece in pieces), label, place, said if isinstance(said, str) else None
        )
    raise InputError(
        f'{field}[{index}]: expected {{"start": 0, "end": 4, "label": "PER"}} or [0, 4, "PER"], found {shown(value)}',
        place,
    )


def _require_list(value: Any, field: str, place: Place) -> None:
    """That a document is an object with a list of spans."""
    if not isinstance(value, dict) or field not in value:
        keys = some(value) if isinstance(value, dict) else type(value).__name__
        raise InputError(f'expected an object with a list "{field}", found {keys}', place)
    if not isinstance(value[field], list):
        raise InputError(f"{field}: expected a list, found {shown(value[field])}", place)


def _is_piece(piece: object) -> bool:
    return isinstance(piece, list) and len(piece) == 2 and all(type(bound) is int for bound in piece)


def _pair(
    gold: list[_Record], guess: list[_Record], first: str, second: str, absent: Missing | None
) -> tuple[list[tuple[_Record, _Record]], list[str]]:
    """The records that belong together, and what is to be said about that."""
    sides = []
    for file, side in ((first, gold), (second, guess)):
        names, places = [one.name for one in side], [one.place for one in side]
        sides.append(Side(file, names, places, all_named(names, places, "id")))
    pairs = pair_sides(sides[0], sides[1], absent)
    return [(gold[k], guess[j] if j >= 0 else replace(gold[k], spans=())) for k, j in pairs], by_order(*sides)


def _common_text(left: _Record, right: _Record) -> str:
    if left.text is None:
        raise InputError(
            'has no "text", which offsets of characters need; if they count tokens, say --offsets tokens', left.place
        )
    if right.text is not None and right.text != left.text:
        at = first_difference(left.text, right.text)
        raise SidesMismatch(
            f"the texts diverge at character {at}: {left.place} has {left.text[at : at + 20]!r}, "
            f"{right.place} has {right.text[at : at + 20]!r}"
        )
    return left.text


def _token_count(left: _Record, right: _Record) -> int | None:
    if left.tokens is not None and right.tokens is not None and left.tokens != right.tokens:
        shared = zip(left.tokens, right.tokens, strict=False)
        at = next((index for index, (a, b) in enumerate(shared) if a != b), None)
        if at is None:
            counts = f"{len(left.tokens)} tokens, {right.place} has {len(right.tokens)}"
            raise SidesMismatch(f"the tokens diverge: {left.place} has {counts}")
        raise SidesMismatch(
            f'the tokens diverge: {left.place} has "{left.tokens[at]}" as token {at}, '
            f'{right.place} has "{right.tokens[at]}"'
        )
    tokens = left.tokens if left.tokens is not None else right.tokens
    return None if tokens is None else len(tokens)


def _check_inside(spans: Sequence[CharSpan], length: int | None) -> None:
    for span in spans:
        for start, end in span.pieces:
            if not 0 <= start < end or (length is not None and end > length):
                size = "" if length is None else f" of {length} tokens"
                wrong = "is empty; the end is exclusive" if end <= start else f"lies outside its text{size}"
                raise InputError(f"span [{start}, {end}) {span.tag} {wrong}", span.place)


def _check_tokens(spans: Sequence[CharSpan], tokens: Sequence[str]) -> None:
    """That segments say what their tokens are."""
    for span in spans:
        words = [word for start, end in sorted(span.pieces) for word in tokens[start:end]]
        _check_said(span, " ".join(words), "tokens")


def _as_tokens(span: CharSpan) -> Span:
    first, last = min(start for start, _ in span.pieces), max(end for _, end in span.pieces)
    return Span(first, last, span.tag, span.pieces if len(span.pieces) > 1 else ())


# Spans in brat's stand-off files: the T lines. The text is the `.txt` beside the reference, or else beside the prediction.


def read_brat(
    reference: AnySource,
    predicted: AnySource,
    offsets: Offsets = Offsets(),  # noqa: B008 - frozen
    *,
    keep_tokens: bool = False,
    absent: Missing | None = None,
) -> AnnotatedTexts:
    """Read two `.ann` files or two folders of them."""
    tokenize = tokenizer_named(offsets.tokenizer)
    if Path(reference).is_dir() != Path(predicted).is_dir():
        raise SidesMismatch(f"{reference} and {predicted}: give two .ann files or two folders of them")
    sides = []
    for side in (reference, predicted):
        documents: Documents[Standoff | None] = Documents(str(side), "brat", named=Path(side).is_dir())
        for file in read_standoff(side):
            documents.add(file.name, file, file.place)
        sides.append(documents)
    pairs = pair_documents(sides[0], sides[1], lambda: None, absent)
    spans: tuple[list[list[Span]], list[list[Span]]] = ([], [])
    texts = []
    for left, right in zip(pairs.reference, pairs.predicted, strict=True):
        assert left is not None  # no side is partial
        text = TokenizedText.of(_text_beside(left, right), tokenize, left.place)
        spans[0].append(_spans_of(left, text, offsets.boundaries))
        spans[1].append([] if right is None else _spans_of(right, text, offsets.boundaries))
        texts.append(text)
    return _annotate(spans[0], spans[1], texts, list(pairs.ids), keep_tokens)


def _spans_of(file: Standoff, text: TokenizedText, boundaries: Boundaries) -> list[Span]:
    file.check_text(text.text)
    return [text.to_tokens(CharSpan(one.pieces, one.type, one.place), boundaries) for one in file.spans.values()]


def _text_beside(left: Standoff, right: Standoff | None) -> str:
    found = [(file.text_file, text) for file in (left, right) if file is not None and (text := file.text()) is not None]
    if not found:
        raise InputError(f"no text beside it: expected {left.text_file.name}", left.place)
    (first, content), *others = found
    for second, other in others:
        if other != content:
            at = first_difference(content, other)
            raise SidesMismatch(
                f"the texts diverge at character {at}: {first} has {content[at : at + 20]!r}, "
                f"{second} has {other[at : at + 20]!r}"
            )
    return content


# Spans of tokens from two Parquet or Arrow files, as columns from end to end.
#
#     id: string    tokens: list<string>    spans: list<struct<start: int64, end: int64, label: string>>
#
# Only what is in order goes this way: both files in one order of ids, every span inside its text and in one piece.
# Anything else is left to the reader of rows, which takes more and says what is wrong.


class _NotPlain(Exception):
    """Some spans are not as plain as the columns have to be."""


def spans_of_columns(reference: AnySource, predicted: AnySource, field: str) -> AnnotatedTexts | None:
    """Both sides' spans, or None if some of them are not as plain as that."""
    left, right = (_table(name, ("id", "tokens", field)) for name in (reference, predicted))
    if any(field not in side.column_names for side in (left, right)) or left.num_rows != right.num_rows:
        return None
    try:
        names, lengths = _same_ids(left, right), _same_lengths(left, right)
        columns = [_span_columns(side.column(field)) for side in (left, right)]
        labels = [label for *_, label in columns]
        if labels[0].jointly(labels[1]) is None:
            return None
        tags = sorted({value for leaf in labels for value in leaf.different()[1]})
        reference_spans, predicted_spans = (_segments(*side, tags, lengths) for side in columns)
    except (_NotPlain, ValueMismatch):
        return None
    return AnnotatedTexts(reference_spans, predicted_spans, lengths, tuple(tags), left.num_rows, names)


def _table(name: AnySource, wanted: Sequence[str]) -> Any:
    """Some columns of a file, as far as it has them."""
    import pyarrow as pa

    file = ArrowLines(name)
    chosen = [column for column in file.schema.names if column in wanted]
    return pa.Table.from_batches(list(file.batches(chosen)), pa.schema([file.schema.field(c) for c in chosen]))


def _span_columns(column: Any) -> tuple[IntArray, IntArray, IntArray, Leaf]:
    """Text, start, end and label of each span of one side."""
    from tallystick.engine.arrow import from_arrow

    bag = from_arrow(column)
    if not isinstance(bag, Bag) or not isinstance(bag.items, Record):
        raise _NotPlain
    fields = dict(bag.items.fields)
    label = next((fields[name] for name in _LABELS if name in fields), None)
    start, end = (_integers(fields.get(name)) for name in ("start", "end"))
    if not isinstance(label, Leaf) or "pieces" in fields or "text" in fields:  # a text is held against the tokens
        raise _NotPlain
    return np.repeat(np.arange(len(bag), dtype=np.int64), np.diff(bag.offsets)), start, end, label


def _integers(data: Any) -> IntArray:
    import pyarrow as pa

    values = getattr(data, "values", None)
    found = (
        data.numbers() if isinstance(data, Leaf) and values is not None and pa.types.is_integer(values.type) else None
    )
    if found is None:
        raise _NotPlain
    return found.astype(np.int64)


def _segments(
    text: IntArray, start: IntArray, end: IntArray, label: Leaf, tags: Sequence[str], lengths: IntArray | None
) -> Segments:
    """The spans of one side, all of which lie inside their texts."""
    limit = np.iinfo(np.int64).max if lengths is None else lengths[text]
    if np.any((start < 0) | (end <= start) | (end > limit)):
        raise _NotPlain
    number = {tag: code for code, tag in enumerate(tags)}
    codes, values = label.different()
    return Segments(text, start, end, np.array([number[value] for value in values], np.int64)[codes])


def _same_ids(left: Any, right: Any) -> tuple[str, ...]:
    """The names of the texts, which both files have in one order."""
    import pyarrow.compute as pc

    from tallystick.engine.arrow import is_plain_id

    if "id" not in (*left.column_names, *right.column_names):
        return tuple(str(k) for k in range(left.num_rows))
    if any("id" not in side.column_names or side.column("id").null_count for side in (left, right)):
        raise _NotPlain
    ids, others = (_decoded(side.column("id")) for side in (left, right))
    if ids.type != others.type or not is_plain_id(ids.type) or not pc.all(pc.equal(ids, others), min_count=0).as_py():
        raise _NotPlain
    names = tuple(map(str, ids.to_pylist()))
    if len(set(names)) < len(names):
        raise _NotPlain
    return names


def _decoded(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _same_lengths(left: Any, right: Any) -> IntArray | None:
    """How many tokens each text has, the same on both sides; None where neither file has tokens."""
    import pyarrow.compute as pc

    from tallystick.engine.arrow import to_array

    found = [side.column("tokens").combine_chunks() for side in (left, right) if "tokens" in side.column_names]
    if any(one.null_count for one in found):
        raise _NotPlain
    lengths = [to_array(pc.list_value_length(one)).astype(np.int64) for one in found]
    if len(found) == 2 and not (np.array_equal(*lengths) and found[0].flatten().equals(found[1].flatten())):
        raise _NotPlain
    return lengths[0] if lengths else None


FIELDS = ("ner_tags", "tags", "labels")
"""Where the tags stand unless a field is named."""


def has_tags(opening: Opening) -> bool:
    """Whether the first row has tokens and as many tags."""
    value = opening.first
    if not isinstance(value, dict) or not isinstance(value.get("tokens"), list):
        return False
    found = next((value[key] for key in FIELDS if isinstance(value.get(key), list)), None)
    return found is not None and all(type(one) in (int, str) for one in found)


@frozen(eq=False)
class Row:
    """A text: its name if it has one, its line, its tokens and its tags."""

    name: str | None
    line: int
    tokens: list[str]
    tags: list[str]


def read_rows(source: Source, field: str | None, names: str | None) -> list[Row]:
    """The texts of a file."""
    out: list[Row] = []
    known: Sequence[str] | None = None
    for document in documents_in(source):
        tokens = list(words(document.at("tokens")))
        found = document.at(*((field,) if field else FIELDS))
        tags = found.each()
        if len(tags) != len(tokens):
            raise found.fail(f"expected a tag for each of the {len(tokens):,} tokens, found {len(tags):,}")
        if known is None and any(isinstance(one.value, int) for one in tags):
            known = tag_names(source, str(found.key), names, found)
        out.append(
            Row(name_of(document, "id"), document.place.line or 0, tokens, [_tag(one, known) for one in tags])
        )  # fmt: skip
    return out


def _tag(found: Json, names: Sequence[str] | None) -> str:
    if isinstance(found.value, str):
        return found.value
    number = found.whole()
    if names is None or not 0 <= number < len(names):
        there = f"0 to {len(names) - 1} ({some(names)})" if names else "none"
        raise found.fail(f"expected the number of one of the tags {there}, found {number}")
    return names[number]


def tag_names(source: Source, field: str, given: str | None, found: Json) -> Sequence[str]:
    """The names of tags that are numbers."""
    if given is not None:
        return given_names(given, field)
    for features in _features(source):
        names = _names_in(features, field)
        if names is not None:
            return names
    raise found.fail(
        "its tags are numbers, and their names are nowhere: give them, --tag-names O,B-PER,I-PER,... or --tag-names FILE (a JSON list, "
        "dataset_info.json, a model's config.json), or put dataset_info.json beside the file"
    )


def given_names(given: str, field: str) -> Sequence[str]:
    """The names that the user gave: themselves, or a file that has them."""
    if not os.path.exists(given):
        if "," not in given:
            raise MetricError(f"--tag-names: no such file, and no names with commas between them: {given!r}")
        return [name.strip() for name in given.split(",")]
    text = Source.of(given).text()
    if text.lstrip()[:1] not in ("{", "["):
        return [line.strip() for line in text.splitlines() if line.strip()]
    value = decode_line(text, given)
    names = value if isinstance(value, list) else _names_in(value, field)
    if names is None or not all(isinstance(one, str) for one in names):
        raise InputError(f'expected a list of names, features with {field!r}, or "id2label"', given)
    return names


def _features(source: Source) -> Iterator[Any]:
    """What is said about the columns in the file and beside it."""
    if is_arrow_file(source):
        metadata = ArrowLines(source).schema.metadata or {}
        if b"huggingface" in metadata:
            yield decode_line(metadata[b"huggingface"], f"{source} (its metadata)")
    folder = os.path.dirname(source.name)
    for name in ("dataset_info.json", "dataset_infos.json"):
        beside = os.path.join(folder, name)
        if source.name != "-" and os.path.isfile(beside):
            yield decode_line(Source.of(beside).text(), beside)


def _names_in(value: Any, field: str) -> list[str] | None:
    """The names of a column's tags in features, or those of a model's labels; None if there are none."""
    if not isinstance(value, Mapping):
        return None
    labels = _in_order(value.get("id2label"))
    if labels is not None:
        return labels
    features = value.get("features")
    if isinstance(features, Mapping) and field in features:
        return _class_names(features[field])
    inside = [_names_in(one, field) for one in value.values() if isinstance(one, Mapping) and "features" in one]
    return next((one for one in inside if one is not None), None)


def _class_names(feature: Any) -> list[str] | None:
    """The names of a ClassLabel, inside of whatever sequence holds it."""
    if isinstance(feature, list):
        return _class_names(feature[0]) if feature else None
    if not isinstance(feature, Mapping):
        return None
    names = _in_order(feature.get("names"))  # the Hub's README has them by number
    if names is not None:
        return names
    return _class_names(feature.get("feature", feature.get("class_label", feature.get("sequence"))))


def _in_order(names: Any) -> list[str] | None:
    """Names in a list or by number; None if they are something else."""
    if isinstance(names, Mapping):
        names = [names.get(str(k)) for k in range(len(names))]
    return names if isinstance(names, list) and names and all(isinstance(one, str) for one in names) else None
