"""Spans from any source: finds out which format two files have, and reads them.

| format  | is known by                                                                      |
|---------|----------------------------------------------------------------------------------|
| brat    | a folder, or the name ends in `.ann`                                             |
| spacy   | the name ends in `.spacy`                                                        |
| doccano, prodigy, label-studio, dygie, spert, gliner, ... | the keys of the first document (`files.exports`) |
| huggingface | the first row has `tokens` and as many `ner_tags`                            |
| jsonl   | the name ends in `.jsonl`, or the first line is a JSON object; `.parquet`, `.arrow`, ... |
| conllu  | the name ends in `.conllu`, or the first line that is no comment is one of CoNLL-U |
| hipe    | the first line is the header of HIPE's TSV                                       |
| columns | everything else                                                                  |

The readers are strict: a file that was taken for the wrong format is an error in its first lines, not a low
score. Tags are decoded here, and what had to be repaired is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tallystick.errors import InputError, MetricError, Place, SidesMismatch, ValueMismatch
from tallystick.files.boundaries import Uncut, column_boundaries, conllu_boundaries
from tallystick.files.exports import formats_of, is_spacy_file
from tallystick.files.pairing import Missing, all_named, by_order, pair_sides, refuse_by_order
from tallystick.files.pairing import Side as PairingSide
from tallystick.files.source import AnySource, Format, Opening, Source, begins_list, is_arrow_file, is_empty_list
from tallystick.files.source import find_format as recognise
from tallystick.files.standoff import is_brat
from tallystick.files.table import ColumnFile, Numbering, read_columns
from tallystick.frozen import frozen
from tallystick.tasks.plain import NAMES, Given, expect, expect_order, is_doc, is_span, is_whole, named, take_sides
from tallystick.tasks.spans.counts import AnnotatedTexts, IntArray, Segments, Span, annotate
from tallystick.tasks.spans.jsonl import FIELD, LAYOUTS, Offsets, has_tags, read_brat, read_rows, read_spans
from tallystick.tasks.spans.tags import (
    HIPE_HEADER,
    OTHER_NAMES,
    Columns,
    Decoded,
    Origin,
    Reading,
    Repairs,
    Scheme,
    TaggedTexts,
    WordLines,
    compare_columns,
    decode,
    decode_vocabulary,
    read_conllu_tags,
    read_hipe_tags,
    read_tags,
    tags_from_lists,
)

_CONLLU_ROW = re.compile(rb"^\d+(?:-\d+|\.\d+)?(?:\t[^\t\n]*){9}\r?$")


@frozen
class Decoding:
    """What tags mean."""

    scheme: Scheme = "IOB2"
    reading: Reading = "lenient"
    delimiter: str = "-"
    suffix: bool = False

    def __str__(self) -> str:
        shape = "".join((f", delimiter={self.delimiter}" * (self.delimiter != "-"), ", suffix" * self.suffix))
        return f"scheme={OTHER_NAMES.get(self.scheme, self.scheme)}, reading={self.reading}{shape}"


@frozen(eq=False)
class SpanCorpus:
    """Both annotations of a corpus, and what is needed to say where something stands.

    `documents` is the document of each text where the files tell; `weights` a weight for each token.
    """

    texts: AnnotatedTexts
    settings: str = ""
    tagged: TaggedTexts | None = None
    repairs: tuple[Repairs, ...] = ()
    documents: IntArray | None = None
    weights: Any = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    layers: int = 1
    """How many layers of tags the segments come from."""

    @property
    def unit(self) -> str:
        """What a row is: texts with tags are sentences, unless the files tell documents; others are documents."""
        return "sentence" if self.documents is None and self.tagged is not None else "document"

    def by_unit(self, unit: str) -> SpanCorpus:
        """The same with a row for each document or sentence."""
        if unit == "sentence" and self.tagged is None:
            raise MetricError(
                "--unit sentence: spans with offsets say nothing about sentences; leave it out, or give --groups"
            )
        if unit == "document" and self.unit == "sentence":
            raise MetricError(
                "--unit document: the files tell no documents (-DOCSTART-, # newdoc); leave it out, or give --groups"
            )
        return replace(self, documents=None) if unit == "sentence" else self

    @cached_property
    def ids(self) -> tuple[Any, ...]:
        """The documents: named, or numbered from 1."""
        if self.documents is not None:
            numbers = tuple(range(1, int(self.documents.max(initial=-1)) + 2))
            names = self.tagged.names if self.tagged is not None else ()
            return names if len(names) == len(numbers) else numbers
        return self.texts.names or tuple(range(1, self.texts.texts + 1))

    def place(self, text: int, token: int) -> Place | None:
        """File and line of a token in the prediction, where its file has a line for each."""
        if self.tagged is None:
            return None
        place = self.tagged.origins[1].place(text, token)
        return None if place.line is None else place

    def tokens(self, text: int) -> tuple[str, ...]:
        """The tokens of a text where they were kept."""
        if self.texts.words is not None:
            return self.texts.words[text]
        if self.tagged is None or self.tagged.tokens is None:
            return ()
        begin, end = (int(at) for at in self.tagged.offsets[text : text + 2])
        return self.tagged.tokens[begin:end]

    def document_words(self) -> list[list[str]]:
        """The tokens of each document where they were kept, numbered through as its segments are."""
        out: list[list[str]] = [[] for _ in self.ids]
        rows = range(self.texts.texts) if self.documents is None else self.documents.tolist()
        for text, row in enumerate(rows):
            out[row] += self.tokens(text)
        return out

    def words(self, text: int, span: Span) -> str:
        """The words of a span where the tokens were kept."""
        return " ".join(self.tokens(text)[span.start : span.end])


def read_span_files(
    reference: AnySource,
    predicted: AnySource | None,
    *,
    formats: tuple[str, str] | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    decoding: Decoding = Decoding(),  # noqa: B008
    offsets: Offsets = Offsets(),  # noqa: B008
    key: str = "ner",
    layers: int = 1,
    tag_names: str | None = None,
    keep_tokens: bool = False,
    absent: Missing | None = None,
) -> SpanCorpus:
    """Read both sides; without a predicted file, the reference's has a column for each."""
    if not decoding.delimiter:
        raise MetricError("the delimiter between prefix and type cannot be empty")
    reference = Source.of(reference)  # which keeps what can be read only once, for the weights
    formats = formats or agreed_formats(reference, predicted)
    chosen = formats[0]
    if chosen in _OF_TOKENS:
        refuse_by_order(absent)
    if chosen == "columns" and layers > 1:
        tagged = read_layers(reference, predicted, columns, layers, keep_tokens=keep_tokens)
        corpus = _decoded(tagged, decoding, _read_weights(reference, columns))
        joined = join_layers(Decoded(corpus.texts, corpus.repairs), layers)  # type: ignore[arg-type]
        return replace(corpus, texts=joined, settings=f"{decoding}, layers={layers}", layers=layers)
    if chosen == "columns":
        tagged = read_tags(reference, predicted, columns, keep_tokens=keep_tokens)
        return _decoded(tagged, decoding, _read_weights(reference, columns))
    assert predicted is not None  # only column files hold both sides
    if chosen == "conllu":
        tagged = read_conllu_tags(
            reference, predicted, key=key, column=columns.reference, same_tokens=columns.same_tokens
        )
        return _decoded(tagged, decoding, None)
    if chosen == "hipe":
        return _decoded(read_hipe_tags(reference, predicted, columns), decoding, None)
    if chosen == "huggingface":
        sides = [_rows(Source.of(side), offsets.field, tag_names) for side in (reference, predicted)]
        return corpus_of_tags(sides[0], sides[1], decoding, absent)
    if chosen == "brat":
        return SpanCorpus(
            read_brat(reference, predicted, offsets, keep_tokens=keep_tokens, absent=absent), str(offsets)
        )
    texts = read_spans(reference, predicted, offsets, formats=formats, keep_tokens=keep_tokens, absent=absent)
    unit: Any = texts.unit or offsets.unit
    return SpanCorpus(texts, str(replace(offsets, unit=unit)), notes=texts.notes)


def agreed_formats(reference: AnySource, predicted: AnySource | None, format: str | None = None) -> tuple[str, str]:
    """The formats of both sides, if they are not said: what the files look like, if they look alike or both have offsets."""
    # What can be read only once cannot be looked at first; then the other side shows what both are.
    hidden = predicted is not None and Source.of(reference).reads_once
    chosen = format or find_format(predicted if hidden and predicted is not None else reference)
    if predicted is None:
        if chosen != "columns":
            raise MetricError(f"only column files hold both sides in one file; this one is {chosen}")
        return chosen, chosen
    if format is not None or Source.of(predicted).reads_once:
        return chosen, chosen
    other = find_format(predicted)
    if chosen == "huggingface" and is_empty_list(Source.of(predicted).head()):
        other = chosen  # without documents it is a file of either
    if other != chosen and not {chosen, other} <= WITH_OFFSETS:
        for name, beside, format in ((reference, predicted, other), (predicted, reference, chosen)):
            if is_empty_list(Source.of(name).head()):
                nothing = "; where nothing was predicted, each token has the tag O" if format in _OF_TOKENS else ""
                raise SidesMismatch(
                    f"{name} is an empty list, [], which has no texts, and {beside} is a file of {format}; give both as {format}{nothing}"
                )
        raise SidesMismatch(f"{reference} looks like {chosen}, {predicted} like {other}; say which with --input")
    return chosen, other


_OF_TOKENS = ("columns", "conllu", "hipe")
"""Formats whose texts are compared token by token."""
WITH_OFFSETS = frozenset(("jsonl", "spacy", *(one.name for one in LAYOUTS)))
"""Formats that may stand on one side each."""


def find_format(name: AnySource) -> str:
    """The format of a file by its name, or else by its first lines. Standard input is columns unless told."""
    found = recognise(FORMATS, Opening(name))
    assert found is not None  # the last one takes everything
    return found.name


def _is_jsonl(opening: Opening) -> bool:
    if is_arrow_file(opening.source) or opening.name.endswith((".jsonl", ".ndjson", ".json")):
        return True
    content = _content(opening) == "jsonl" or begins_list(opening.head) or opening.is_other_json
    return content and not opening.name.endswith(".conllu")


def _is_conllu(opening: Opening) -> bool:
    return opening.name.endswith(".conllu") or _content(opening) == "conllu"


def _is_hipe(opening: Opening) -> bool:
    return not opening.source.reads_once and opening.head.startswith(HIPE_HEADER)


def _content(opening: Opening) -> str:
    """What the first line that is no comment looks like."""
    for line in [] if opening.source.reads_once else _first_lines(opening.source):
        if line.startswith(b"{") and line.rstrip().endswith(b"}") and b":" in line:
            return "jsonl"
        if line.strip() and not line.startswith(b"#"):
            return "conllu" if _CONLLU_ROW.match(line) else "columns"
    return "columns"


def _has_spans(opening: Opening) -> bool:
    value = opening.first
    return isinstance(value, dict) and isinstance(value.get(FIELD), list)


FORMATS = (
    Format("brat", lambda opening: is_brat(opening.source)),
    Format(
        "spacy",
        lambda opening: is_spacy_file(opening.source),
        boundaries=Uncut("a DocBin is read as a whole"),
        title="a DocBin of spaCy",
        known_by="its name",
    ),
    *formats_of(LAYOUTS, "spans"),
    Format(
        "huggingface",
        has_tags,
        title="Hugging Face rows (tokens and tags)",
        known_by='"tokens" with as many "ner_tags"',
    ),
    Format("jsonl", _is_jsonl, known_by='a list "spans"', rival=_has_spans),
    Format("conllu", _is_conllu, boundaries=conllu_boundaries),
    Format("hipe", _is_hipe, boundaries=Uncut("a HIPE file has one header for all documents")),
    Format("columns", boundaries=column_boundaries),
)
"""The formats of spans, the first that fits."""


def _first_lines(name: AnySource, most: int = 1 << 16) -> Sequence[bytes]:
    try:
        data = Source.of(name).head(most)
    except InputError:
        return ()  # the reader says what is wrong with the file
    if b"\n" not in data and data.startswith(b"{") and len(data) == most:
        return [b"{:}"]  # a JSON object that is longer than what was read
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _decoded(tagged: TaggedTexts, decoding: Decoding, weights: Any) -> SpanCorpus:
    decoded = decode(tagged, decoding.scheme, decoding.reading, delimiter=decoding.delimiter, suffix=decoding.suffix)
    return SpanCorpus(decoded.texts, str(decoding), tagged, decoded.repairs, tagged.documents, weights)


def _read_weights(name: AnySource, columns: Columns) -> Any:
    """A weight for each token from a column of the reference, or None."""
    if columns.weight is None:
        return None
    numbering = Numbering()
    file = read_columns(name, (columns.weight,), numbering, None, columns.separator, columns.comment)
    values = np.zeros(len(numbering.strings))
    for code, text in enumerate(numbering.strings):
        try:
            values[code] = float(text)
        except ValueError:
            values[code] = np.nan
        if not values[code] >= 0:
            place = file.place(int(np.argmax(file.codes[0] == code)))
            shown = text.decode("utf-8", "replace")
            raise InputError(f'expected a weight, a number not below 0, found "{shown}"', place)
    return values[file.codes[0]]


# Spans and tags from Python: a list of tags for a text, or of (start, end, label), or a dict with either.


@frozen(eq=False)
class TagLists:
    """One side's tags from Python: a list for each text, the texts' names, and their tokens where they are known."""

    file: str
    names: tuple[str, ...]
    tags: tuple[list[str], ...]
    tokens: tuple[list[str] | None, ...]
    lines: tuple[int, ...] | None = None
    """Where the texts stand, of a file."""
    notes: tuple[str, ...] = ()
    """What is to be said about data from Python."""

    def place(self, k: int) -> str:
        """Where a text stands, for a message."""
        return f"{self.file}[{k}]" if self.lines is None else f"{self.file}:{self.lines[k]}"


_TAGS = ("tags", "ner_tags")
_LOOKS_LIKE_A_TAG = re.compile(r"O|[BIESLUM]-\S+")


def span_document(value: Any, where: str, field: str = "spans") -> dict[str, Any]:
    """One text of plain data: its tags, or its spans with exclusive ends."""
    expected = "a list of tags or of (start, end, label), or a dict with one of them"
    if isinstance(value, dict):
        key = next((key for key in (*_TAGS, field) if key in value), None)
        expect(key is not None, where, f'a text, a dict with "tags" or "{field}"', value)
        about = {name: value[name] for name in ("text", "tokens") if value.get(name) is not None}
        words = about.get("tokens", [])
        fits = isinstance(words, list) and all(isinstance(word, str) for word in words)
        expect(fits, f"{where}.tokens", "a list of texts", words)
        expect_order(words, f"{where}.tokens", "texts")
        inside = span_document(value[key], f"{where}.{key}", field) if isinstance(value[key], list) else None
        expect(inside is not None, f"{where}.{key}", expected, value[key])
        return named(value, **about, **(inside or {"tags" if key in _TAGS else field: []}))
    expect(isinstance(value, list), where, expected, value)
    if not value:
        return {}
    if set(map(type, value)) == {str}:  # a corpus of sentences comes through here
        expect_order(value, where, "tags")
        _check_tags(value, where)
        return {"tags": value}
    if all(map(is_whole, value)):
        raise ValueMismatch(
            f"{where}: expected tags such as B-PER, found numbers {value!r:.40}; give their names, [names[k] for k in tags]"
        )
    _check_spans(value, where)
    return {field: value}


def _check_spans(value: list[Any], where: str) -> None:
    """That a list holds spans, or else which of its items is no tag among tags."""
    if isinstance(value[0], str) and not all(map(is_whole, value[1:])):  # which would be a span, its label first
        k, other = next((k, one) for k, one in enumerate(value) if not isinstance(one, str))
        raise ValueMismatch(f"{where}[{k}]: expected a tag, as {value[0]!r:.40} at {where}[0], found {other!r:.40}")
    for k, one in enumerate(value):
        fits = is_span(one) or (isinstance(one, dict) and "pieces" in one)
        expect(fits, f"{where}[{k}]", "a tag or (start, end, label)", one)


def _check_tags(tags: list[str], where: str) -> None:
    """A text of several tags would be read as one tag with a strange type."""
    for tag in set(tags):
        parts = tag.split()
        if len(parts) > 1 and all(map(_LOOKS_LIKE_A_TAG.fullmatch, parts)):
            raise ValueMismatch(
                f"{where}: {tag!r:.60} holds {len(parts)} tags; give a list of tags, {tag!r:.20}.split()"
            )


def take_spans(reference: Any, predicted: Any, field: str) -> tuple[Any, Any, bool]:
    """Both sides from Python, and whether they are spans without a text, whose offsets are tokens."""
    reference, predicted = ([side] if is_doc(side) else side for side in (reference, predicted))
    keys = ("text", "tokens", *_TAGS, field, *NAMES)
    sides = take_sides(lambda value, where: span_document(value, where, field), reference, predicted, keys, "text")
    data = [side for side in sides if isinstance(side, Given)]
    documents = [one for side in data for one in side.documents]
    tagged = any("tags" in one for one in documents)
    if tagged and any(field in one for one in documents):
        raise ValueMismatch("some texts have tags and some have spans; give all in one form")
    if tagged:
        return _tag_lists(sides[0]), _tag_lists(sides[1]), False
    left, right = (side if isinstance(side, Source) else _with_field(side, field).lines for side in sides)
    return left, right, bool(data) and not any("text" in one for one in documents)


def _with_field(side: Given, field: str) -> Given:
    return replace(side, documents=tuple({field: [], **one} for one in side.documents))


def _tag_lists(side: Source | Given) -> TagLists:
    if isinstance(side, Source):
        raise SidesMismatch(f"{side} is a file and the other side is tags from Python; give both in one form")
    tokens = tuple(one.get("tokens") for one in side.documents)
    tags = tuple(one.get("tags", []) for one in side.documents)
    for k, (words, of) in enumerate(zip(tokens, tags, strict=True)):
        if words is not None and len(words) != len(of):
            raise SidesMismatch(f"{side.name}[{k}] has {len(words):,} tokens and {len(of):,} tags")
    return TagLists(side.name, side.ids or (), tags, tokens, notes=side.notes)


def _rows(source: Source, field: str | None, names: str | None) -> TagLists:
    """The rows of a file as lists of tags; without names they are paired by order."""
    rows = read_rows(source, field, names)
    all_named([one.name for one in rows], [Place(str(source), one.line or None) for one in rows])
    ids = tuple(one.name for one in rows if one.name is not None)
    return TagLists(
        str(source),
        ids if len(ids) == len(rows) else (),
        tuple(one.tags for one in rows),
        tuple(one.tokens for one in rows),
        tuple(one.line for one in rows),
    )


def _origin(side: TagLists, chosen: Sequence[int]) -> WordLines:
    """Where the tags of some texts stand."""
    assert side.lines is not None
    return WordLines(side.file, None, [[side.lines[k]] * len(side.tags[k]) if k >= 0 else [] for k in chosen])


def _same_tokens(reference: TagLists, predicted: TagLists, k: int, j: int) -> list[str] | None:
    left, right = reference.tokens[k], predicted.tokens[j] if j >= 0 else None
    of_files = (
        reference.lines is not None
    )  # of lists from Python the numbers of tags are compared, by `tags_from_lists`
    if left is not None and right is not None and left != right and (of_files or len(left) == len(right)):
        places = reference.place(k), predicted.place(j)
        for at, (a, b) in enumerate(zip(left, right, strict=False)):
            if a != b:
                raise SidesMismatch(f'the tokens diverge: {places[0]} has "{a}" as token {at}, {places[1]} has "{b}"')
        counts = f"{places[0]} has {len(left):,} of them and {places[1]} has {len(right):,}"
        raise SidesMismatch(f"the tokens diverge: {counts}")
    return left if left is not None else right


def corpus_of_tags(reference: Any, predicted: Any, decoding: Decoding, absent: Missing | None = None) -> SpanCorpus:
    """Two sides of tags, paired by the names of their texts."""
    numbers = [tuple(map(str, range(len(side.tags)))) for side in (reference, predicted)]
    both = bool(reference.names and (predicted.names or not predicted.tags))
    names = reference.names if both else reference.names or numbers[0]
    sides = [
        PairingSide(side.file, side.names if both else numbers[k], named=both)
        for k, side in enumerate((reference, predicted))
    ]
    pairs = pair_sides(sides[0], sides[1], absent)
    guess = [predicted.tags[j] if j >= 0 else ["O"] * len(reference.tags[k]) for k, j in pairs]
    words = [_same_tokens(reference, predicted, k, j) for k, j in pairs]
    tagged = tags_from_lists(reference.tags, guess)
    if reference.lines is not None and predicted.lines is not None:
        origins = _origin(reference, [k for k, _ in pairs]), _origin(predicted, [j for _, j in pairs])
        tagged = replace(tagged, origins=origins)
    if None not in words:
        tagged = replace(tagged, tokens=tuple(token for of in words for token in of or ()))
    corpus = _decoded(tagged, decoding, None)
    said = by_order(*(PairingSide(side.file, (), named=bool(side.names)) for side in (reference, predicted)))
    return replace(corpus, texts=replace(corpus.texts, names=names), notes=(*corpus.notes, *said))


def corpus_from_python(
    reference: Sequence[Sequence[Any]],
    predicted: Sequence[Sequence[Any]],
    *,
    lengths: Sequence[int] | None = None,
    decoding: Decoding = Decoding(),  # noqa: B008 - frozen
    names: Sequence[str] | None = None,
) -> SpanCorpus:
    """Tag lists, or spans (start, end, tag): a list for each text on both sides."""
    first = next((next(iter(text)) for side in (reference, predicted) for text in side if len(text)), None)
    if isinstance(first, str):
        if lengths is not None:
            raise ValueMismatch("tags know how long their texts are; lengths are for spans")
        corpus = _decoded(tags_from_lists(reference, predicted), decoding, None)
        if names is None:
            return corpus
        return replace(corpus, texts=replace(corpus.texts, names=tuple(names)))
    return SpanCorpus(annotate(reference, predicted, lengths, names=names), "spans")


# Layers of tags, as nested entities are written in columns: each token has a tag in every layer.
#
#     Die          O           O                 GermEval 2014: outer and inner entities
#     Universität  B-ORG       O
#     Wien         I-ORG       B-LOC             ORG [1,3) and LOC [2,3)
#
# Every layer is decoded by itself, and the segments of all are one set. The layers are laid end to end for that, as if they were texts of
# their own; a text's number modulo the number of texts is the text that it is a layer of.


def read_layers(
    reference: AnySource, predicted: AnySource | None, columns: Columns, layers: int, *, keep_tokens: bool = False
) -> TaggedTexts:
    """The tags in the last columns of two files, a layer behind the other."""
    if predicted is None:
        raise MetricError("--layers reads the last columns of two files; --together has both sides in one")
    if columns.reference is not None or columns.predicted != -1:
        raise MetricError("--layers reads the last columns; leave --reference-column and --predicted-column out")
    numbering, chosen = Numbering(), tuple(range(-layers, 0))
    gold, guess = (columns.read(side, chosen, numbering, True) for side in (reference, predicted))
    compare_columns(gold, guess, columns.same_tokens)
    sizes = np.tile(np.diff(gold.offsets), layers)
    kept = gold.tokens if keep_tokens else None
    return TaggedTexts(
        np.concatenate(gold.codes),
        np.concatenate(guess.codes),
        decode_vocabulary(numbering, (gold, guess)),
        np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        (_origin_of_layers(gold, layers), _origin_of_layers(guess, layers)),
        gold.documents,
        tuple(kept.all()) if kept else None,
    )


def _origin_of_layers(file: ColumnFile, layers: int) -> Origin:
    return Origin(file.name, np.tile(file.first_line, layers))


def join_layers(decoded: Decoded, layers: int) -> AnnotatedTexts:
    """The segments of all layers as one set."""
    found = decoded.texts
    texts = found.texts // layers
    lengths = None if found.lengths is None else found.lengths[:texts]
    sides = (_of_texts(side, texts) for side in (found.reference, found.predicted))
    left, right = sides
    return replace(found, reference=left, predicted=right, lengths=lengths, texts=texts)


def _of_texts(side: Segments, texts: int) -> Segments:
    moved = replace(side, text=side.text % texts)
    return moved.take(np.argsort(moved.text, kind="stable"))
