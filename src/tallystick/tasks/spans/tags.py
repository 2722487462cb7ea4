"""Tagged texts: column files with a tag for each token, CoNLL-U, lists of tags from Python; and decoding tags into segments.

    EU      B-ORG  B-ORG          one token a line, a blank line between sentences (the texts), the columns
    rejects O      O              in any place; gold and predicted tags in two files, or in one as conlleval
    German  B-MISC O              has it. A line that starts with -DOCSTART- begins a document.

Both sides become arrays of tag numbers over one vocabulary, without a Python object for each tag. What the
tags mean is decided afterwards (`decode`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.engine.arrays import distinct
from tallystick.errors import InputError, MetricError, Place, SidesMismatch, ValueMismatch, did_you_mean, some
from tallystick.files.conllu import FORM, MISC, read_words
from tallystick.files.pairing import repeated_name
from tallystick.files.source import AnySource, Source
from tallystick.files.table import MANY, ColumnFile, Numbering, read_columns
from tallystick.frozen import frozen
from tallystick.tasks.spans.counts import AnnotatedTexts, IntArray, Segments

TagArray = npt.NDArray[np.int32] | npt.NDArray[np.uint8]
_TEXTS_AT_A_TIME = 4096


@frozen(eq=False)
class Origin:
    """Where one side comes from: a file, with the line of each text's first token, or a Python list."""

    name: str
    first_line: IntArray | None = None

    def place(self, text: int, token: int) -> Place:
        """The place of a token, for a message."""
        if self.first_line is None:
            return Place(f"{self.name}[{text}][{token}]")
        return Place(self.name, int(self.first_line[text]) + token)


@frozen(eq=False)
class TaggedTexts:
    """Texts with two tags for each token: text i is tokens offsets[i] to offsets[i + 1] of both arrays."""

    reference: TagArray
    predicted: TagArray
    vocabulary: tuple[str, ...]
    offsets: IntArray
    origins: tuple[Origin, Origin]
    documents: IntArray | None = None
    tokens: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    """What is to be said about the columns that were read."""
    names: tuple[str, ...] = ()
    """Of the documents, where they have some."""

    def place(self, side: int, index: int) -> Place:
        """The place of the index-th token of all; side 0 is the reference, side 1 the prediction."""
        text = int(np.searchsorted(self.offsets, index, side="right")) - 1
        return self.origins[side].place(text, index - int(self.offsets[text]))


@frozen
class Columns:
    """Where things stand in a column file; columns count from 0, or from the end where negative. The tags of the reference are
    in its last column unless another is named, or in the last but one where the file holds both sides."""

    reference: int | None = None
    predicted: int = -1
    token: int | None = 0
    separator: str | None = None
    comment: str | None = None
    weight: int | None = None
    same_tokens: bool = True

    def read(self, name: AnySource, chosen: tuple[int, ...], numbering: Numbering, keep_tokens: bool) -> ColumnFile:
        """Some columns of a file; lines that start with the comment mark are left out before a sentence."""
        return read_columns(name, chosen, numbering, self.token, self.separator, self.comment, keep_tokens)


def read_tags(
    reference: AnySource,
    predicted: AnySource | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    *,
    keep_tokens: bool = False,
) -> TaggedTexts:
    """Read gold and predicted tags from two files, or from two columns of one file.

    The tokens of both files must be the same, unless `same_tokens` is false: then only their number and the sentence
    boundaries must be. Without a token column nothing else can be compared.
    """
    numbering = Numbering()
    if predicted is None:
        chosen = -2 if columns.reference is None else columns.reference, columns.predicted
        both = columns.read(reference, chosen, numbering, keep_tokens)
        files, codes, kept = (both, both), both.codes, both.tokens
    else:
        if all(Source.of(side).name == "-" for side in (reference, predicted)):
            raise InputError("cannot be read twice; give one of the two sides as a file", "<stdin>")
        gold = columns.read(reference, (-1 if columns.reference is None else columns.reference,), numbering, True)
        guess = columns.read(predicted, (columns.predicted,), numbering, True)
        compare_columns(gold, guess, columns.same_tokens)
        files, codes, kept = (gold, guess), (gold.codes[0], guess.codes[0]), gold.tokens if keep_tokens else None
    tagged = TaggedTexts(
        codes[0],
        codes[1],
        decode_vocabulary(numbering, files),
        files[0].offsets,
        (Origin(files[0].name, files[0].first_line), Origin(files[1].name, files[1].first_line)),
        files[0].documents,
        tuple(kept.all()) if kept else None,
    )
    notes = () if predicted is None else _refuse_two_layers(tagged, reference, predicted, columns)
    return replace(tagged, notes=notes) if notes else tagged


def _refuse_two_layers(
    tagged: TaggedTexts, reference: AnySource, predicted: AnySource, columns: Columns
) -> tuple[str, ...]:
    """A reference whose last two columns hold tags of the same types, or whose last column is nothing but O beside one that has tags, can be
    read in two ways; which column is meant has to be said. Of a prediction that is nothing but O it is noted."""
    notes = []
    for side, name, named in ((0, reference, columns.reference is not None), (1, predicted, columns.predicted != -1)):
        if named:
            continue
        before, last = _types_in_columns(name, columns)
        used = {tagged.vocabulary[code] for code in distinct((tagged.reference, tagged.predicted)[side]).tolist()}
        nothing, option = used <= {"O"}, ("--reference-column", "--predicted-column")[side]
        if side == 0 and before & last:
            raise InputError(
                f"its last two columns both hold tags of {some(sorted(before & last))}: are these gold and predicted tags (give this file alone, with "
                f"--together), or two layers (name the one that is meant, {option} -1 or -2, or read both with --layers 2)?",
                str(Source.of(name)),
            )
        if nothing and before and side == 0:
            raise InputError(
                f"its last column holds only O, and the one before it tags of {some(sorted(before))}: name the one that is meant, {option} "
                "-1 or -2",
                str(Source.of(name)),
            )
        if nothing and before:
            notes.append(
                f"{Source.of(name)}: the last column, which is read as the prediction, holds only O, and the one before it tags of "
                f"{some(sorted(before))}; {option} -2 reads that one"
            )
    return tuple(notes)


def _types_in_columns(name: AnySource, columns: Columns, most: int = 1 << 18) -> tuple[set[str], set[str]]:
    """The types of the tags in the last column but one and in the last, as far as the beginning of the file tells; none where the former
    does not consist of tags."""
    source = Source.of(name)
    head = b"" if source.reads_once else source.head(most)
    lines = head.decode("utf-8", "replace").split("\n")[: -1 if len(head) == most else None]
    before: set[str] = set()
    last: set[str] = set()
    for line in lines:
        cells = line.split(columns.separator) if columns.separator else line.split()
        if line.startswith("-DOCSTART-") or not line.strip() or (columns.comment and line.startswith(columns.comment)):
            continue
        if len(cells) < 3:
            return set(), set()
        before.add(cells[-2])
        last.add(cells[-1])
    types = [[split_tag(tag) for tag in found] for found in (before, last)]
    if None in types[0]:
        return set(), set()
    first, second = ({tag[1] for tag in found if tag is not None and tag[1]} for found in types)
    return first, second


def tags_from_lists(reference: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> TaggedTexts:
    """Tags from Python: a list of tags for each text, on both sides, as seqeval takes them."""
    if len(reference) != len(predicted):
        raise SidesMismatch(f"reference has {len(reference):,} texts, predicted has {len(predicted):,}")
    numbering = Numbering()
    codes, sizes = zip(
        *(_number_lists(side, name, numbering) for side, name in ((reference, "reference"), (predicted, "predicted"))),
        strict=True,
    )
    different = np.flatnonzero(sizes[0] != sizes[1])
    if len(different):
        text = int(different[0])
        raise SidesMismatch(
            f"reference[{text}] has {sizes[0][text]:,} tags, predicted[{text}] has {sizes[1][text]:,}; "
            f"{len(different):,} of {len(sizes[0]):,} texts differ in length"
        )
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes[0])))
    vocabulary = tuple(tag.decode("utf-8", "surrogatepass") for tag in numbering.strings)
    return TaggedTexts(codes[0], codes[1], vocabulary, offsets, (Origin("reference"), Origin("predicted")))


def _number_lists(side: Sequence[Sequence[str]], name: str, numbering: Numbering) -> tuple[TagArray, IntArray]:
    """Number the tags of one side; also how many each text has.

    Joining the strings of some texts and numbering the bytes takes half the time of looking each string up in
    a dict, for which each would have to be hashed; the compiled part does without joining. A few thousand tags at a time,
    they are still in the cache when they are touched again.
    """
    codes: list[npt.NDArray[np.integer]] = [np.zeros(0, dtype=np.uint8)]
    sizes = [np.zeros(0, dtype=np.int64)]
    for begin in range(0, len(side), _TEXTS_AT_A_TIME):
        some = side[begin : begin + _TEXTS_AT_A_TIME]
        size = np.fromiter(map(len, some), dtype=np.int64, count=len(some))
        sizes.append(size)
        many = len(side) > _TEXTS_AT_A_TIME or int(size.sum()) >= MANY
        numbers = numbering.number_texts(some, size) if many and isinstance(some, list) else None
        codes.append(_number_joined(some, size, begin, name, numbering) if numbers is None else numbers)
    kind = np.uint8 if len(numbering.strings) <= 256 else np.int32  # a quarter of the memory
    return np.concatenate(codes, dtype=kind, casting="unsafe"), np.concatenate(sizes)


def _number_joined(
    some: Sequence[Sequence[str]], size: IntArray, begin: int, name: str, numbering: Numbering
) -> npt.NDArray[np.integer]:
    full = some if size.all() else [some[text] for text in np.flatnonzero(size).tolist()]
    if not len(full):
        return np.zeros(0, np.int32)
    try:
        joined = "\n".join(map("\n".join, full))
    except TypeError:
        raise _bad_tag(some, begin, name) from None
    numbers = numbering.number_lines(joined.encode("utf-8", "surrogatepass") + b"\n", int(size.sum()))
    if numbers is None or "\0" in joined:
        raise _bad_tag(some, begin, name)
    return numbers


def _bad_tag(texts: Sequence[Sequence[str]], begin: int, name: str) -> ValueMismatch:
    for text, tags in enumerate(texts, begin):
        for token, tag in enumerate(tags):
            if not isinstance(tag, str):
                return ValueMismatch(f"{name}[{text}][{token}]: expected a tag (str), found {tag!r}")
            if "\n" in tag or "\0" in tag:
                return ValueMismatch(f"{name}[{text}][{token}]: tag {tag!r} holds a line end or a NUL")
    return ValueMismatch(f"{name}: expected lists of tags")


def decode_vocabulary(numbering: Numbering, files: Sequence[ColumnFile]) -> tuple[str, ...]:
    """The tags as texts."""
    try:
        return tuple(tag.decode("utf-8") for tag in numbering.strings)
    except UnicodeDecodeError as error:
        code = numbering.strings.index(error.object)
        columns = ((file, codes) for file in files for codes in file.codes)
        place = next(file.place(int(np.argmax(codes == code))) for file, codes in columns if code in codes)
        message = f"tag {error.object!r:.60} is not UTF-8; convert the file to UTF-8 first"
        raise InputError(message, place) from None


def compare_columns(gold: ColumnFile, guess: ColumnFile, same_tokens: bool) -> None:
    """Raise where the two files part: tokens, sentence boundaries or the end."""
    counts = len(gold.codes[0]), len(guess.codes[0])
    shared = min(counts)
    ends = [_sentence_ends(file, shared) for file in (gold, guess)]
    parted = _first(ends[0] != ends[1])
    boundaries_differ = parted is not None or counts[0] != counts[1]
    if gold.tokens is not None and guess.tokens is not None and (same_tokens or boundaries_differ):
        token = gold.tokens.first_difference(guess.tokens)
        if token is not None and (parted is None or token <= parted):
            advice = (
                f"; {counts[0]:,} and {counts[1]:,} tokens in all"
                if boundaries_differ
                else ". All sentences have the same lengths: --ignore-tokens scores them nevertheless"
            )
            raise SidesMismatch(
                f'the tokens diverge: {gold.place(token)} has "{gold.tokens[token]}", '
                f'{guess.place(token)} has "{guess.tokens[token]}"{advice}'
            )
    if parted is not None:
        first, second = (gold, guess) if ends[0][parted] else (guess, gold)
        raise SidesMismatch(
            f"the sentences diverge: one ends at {first.place(parted)}, but goes on at {second.place(parted)}"
        )
    if counts[0] != counts[1]:
        longer, ended = (gold, guess) if counts[0] > counts[1] else (guess, gold)
        word = f' "{longer.tokens[shared]}"' if longer.tokens else ""
        raise SidesMismatch(
            f"{ended.name} ends after {shared:,} tokens, but {longer.place(shared)} goes on with token{word} "
            f"({max(counts) - shared:,} more)"
        )


def _sentence_ends(file: ColumnFile, shared: int) -> npt.NDArray[np.bool_]:
    """Whether a sentence ends behind each of the first tokens but the last of them."""
    ends = np.zeros(len(file.codes[0]) + 1, dtype=np.bool_)
    ends[file.offsets[1:]] = True
    return ends[1:shared] if shared else ends[:0]


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    """The index of the first true entry, or None."""
    if not len(mask):
        return None
    index = int(np.argmax(mask))
    return index if mask[index] else None


# Tags in CoNLL-U: a key of the MISC column, as Stanza writes it, or any other column.
#
#     1   Alice   _   PROPN   ...   ner=B-PER            a word without the key is O
#     2-3 du      _   _       ...   _                    multi-word tokens and empty nodes are no words
#     2   de      _   ADP     ...   SpaceAfter=No|ner=O
#
# A `# newdoc` begins a document. Both sides must have the same words in the same sentences.

COLUMNS = 10


@frozen(eq=False)
class WordLines(Origin):
    """A file in which the words of a sentence need not stand in lines one behind the other; a text that it lacks has no lines."""

    lines: Sequence[Sequence[int]] = ()

    def place(self, text: int, token: int) -> Place:
        return Place(self.name, self.lines[text][token] if self.lines[text] else None)


@frozen
class _File:
    name: str
    forms: list[list[str]]
    tags: list[list[str]]
    lines: list[list[int]]
    documents: list[int]
    names: dict[str, int] = field(default_factory=dict)
    """The line that names each document, if that is what begins them."""


def read_conllu_tags(
    reference: AnySource,
    predicted: AnySource,
    *,
    key: str = "ner",
    column: int | None = None,
    same_tokens: bool = True,
) -> TaggedTexts:
    """Read the tags of two files from a key of MISC (in any case), or from a column, counted from 0."""
    return _tagged(_read(reference, key, column), _read(predicted, key, column), same_tokens)


def _tagged(gold: _File, guess: _File, same_tokens: bool) -> TaggedTexts:
    _compare_sentences(gold, guess, same_tokens)
    origins = tuple(WordLines(side.name, None, side.lines) for side in (gold, guess))
    documents = np.array(gold.documents, dtype=np.int64)
    return replace(
        tags_from_lists(gold.tags, guess.tags),
        origins=(origins[0], origins[1]),
        documents=documents if len(documents) and documents[-1] else None,
        tokens=tuple(form for forms in gold.forms for form in forms),
        names=tuple(gold.names),
    )


def _read(name: AnySource, key: str, column: int | None) -> _File:
    source = Source.of(name)
    if column is not None and not -COLUMNS <= column < COLUMNS:
        raise InputError(f"column {column} was asked for, but CoNLL-U has {COLUMNS} columns", str(source))
    chosen = MISC if column is None else column % COLUMNS
    words = read_words(source, (FORM, chosen))
    if not len(words.rows):
        raise InputError("holds no words", str(source))
    found = words.table.columns[chosen].take(words.rows)
    tags: list[str | None] = list(found.values)
    if column is None:
        wanted = key.lower()
        tags = [_value(misc, wanted) for misc in found.values]
        if not any(tags[code] is not None for code in distinct(found.codes).tolist()):
            raise InputError(
                f"no word has {key}= in MISC; name the key, or the column that holds the tags", str(source)
            )
    forms = words.table.columns[FORM].take(words.rows)
    by_word = (
        [forms.values[code] for code in forms.codes.tolist()],
        ["O" if (tag := tags[code]) is None else tag for code in found.codes.tolist()],
    )
    ends = words.sentence_words.tolist()
    by_sentence = [[side[a:b] for a, b in pairwise(ends)] for side in by_word]
    lines = words.lines.tolist()
    begins = np.zeros(len(ends) - 1, np.int64)
    begins[list(words.comments().values("newdoc", "newdoc", "newdoc id"))] = 1
    begins[0] = 0  # the first document begins with the file, whether or not it says so
    return _File(
        str(source), by_sentence[0], by_sentence[1], [lines[a:b] for a, b in pairwise(ends)], np.cumsum(begins).tolist()
    )


# Tags in the TSV of the HIPE shared tasks: a header, comments anywhere (also inside a sentence), `_` for O where nothing was annotated.
#
#     TOKEN   NE-COARSE-LIT   NE-COARSE-METO   ...   MISC
#     # hipe2022:document_id = NZZ-1798-01-20-a-p0001        begins a document, as `# document_id` does
#     Aarau   B-loc           O                ...   EndOfLine
#
# A blank line ends a text.

HIPE_HEADER = b"TOKEN\tNE-"


def read_hipe_tags(reference: AnySource, predicted: AnySource, columns: Columns) -> TaggedTexts:
    """Read the tags of two files: of the column NE-COARSE-LIT, unless another is named."""
    chosen = 1 if columns.reference is None else columns.reference
    return _tagged(_read_hipe(reference, chosen), _read_hipe(predicted, chosen), columns.same_tokens)


def _read_hipe(name: AnySource, column: int) -> _File:
    source = Source.of(name)
    found, width, document, ended = _File(str(source), [], [], [], []), 0, -1, True
    for line, ended_line in enumerate(source.text().split("\n"), start=1):
        text = ended_line.removesuffix("\r")
        fields = text.split("\t")
        if not width:
            width = len(fields)
            if not -width <= column < width:
                raise InputError(
                    f"column {column} was asked for, but the header has {width} columns", source.place(line)
                )
        elif not text.strip():
            ended = True
        elif text.startswith("#") and len(fields) == 1:
            named = re.match(r"#\s*(?:hipe2022:)?document_id\s*=\s*(.*?)\s*$", text)
            if named is not None:
                if named[1] in found.names:
                    raise repeated_name(named[1], Place(found.name, found.names[named[1]]), source.place(line))
                found.names[named[1]] = line
                document, ended = document + 1, True
        elif len(fields) != width:
            raise InputError(
                f"expected {width} columns as in the header, found {len(fields)}", source.place(line, 1, text)
            )
        else:
            if ended:
                for per_text in (found.forms, found.tags, found.lines):
                    per_text.append([])
                found.documents.append(max(document, 0))
                ended = False
            found.forms[-1].append(fields[0])
            found.tags[-1].append("O" if fields[column] == "_" else fields[column])
            found.lines[-1].append(line)
    if not found.forms:
        raise InputError("holds no tokens", str(source))
    return found


def _value(misc: str, wanted: str) -> str | None:
    for entry in misc.split("|"):
        name, equals, value = entry.partition("=")
        if equals and name.lower() == wanted:
            return value
    return None


def _compare_sentences(gold: _File, guess: _File, same_tokens: bool) -> None:
    for text, (left, right) in enumerate(zip(gold.forms, guess.forms, strict=False)):
        for word, (a, b) in enumerate(zip(left, right, strict=False)):
            if same_tokens and a != b:
                raise SidesMismatch(
                    f'the tokens diverge: {gold.name}:{gold.lines[text][word]} has "{a}", '
                    f'{guess.name}:{guess.lines[text][word]} has "{b}"'
                )
        if len(left) != len(right):
            at = min(len(left), len(right)) - 1
            first, second = (gold, guess) if len(left) < len(right) else (guess, gold)
            raise SidesMismatch(
                f"the sentences diverge: one ends at {first.name}:{first.lines[text][at]}, "
                f"but goes on at {second.name}:{second.lines[text][at]}"
            )
    if len(gold.forms) != len(guess.forms):
        sizes = f"{len(gold.forms):,} and {len(guess.forms):,}"
        raise SidesMismatch(f"{gold.name} and {guess.name} have {sizes} sentences; one ends before the other")


# Decoding tags into segments, for a whole corpus at once.
#
# A tag is a prefix and a type. Whether a token starts a segment, continues one or ends the one before it
# depends only on the pair of its own prefix and the one before it and on whether their types are the same; the
# tag before a text and behind it is O. So a scheme is three tables over (previous prefix, prefix, same type),
# and decoding is
#
#     inside[i] = INSIDE[pair[i]]          groups: a token that is not inside, and the inside ones behind it
#     start[i]  = START[pair[i]]           a segment runs from the first start of a group to the group's end
#     ended     = END[pair behind it]      and counts if it ends as the scheme wants
#
# The lenient tables are one set for all schemes, those of conlleval and of seqeval's default: a token continues
# a segment iff it has the same type as the one before, its prefix is I, E or L and the one before is B or I.
# The strict tables are those of seqeval: what a scheme does not allow is no segment. In seqeval's IOE1 a
# segment of one token that ends in E right behind O or another type is not one; its lenient reading has it.

Scheme = Literal["IO", "IOB1", "IOB2", "BIO", "IOE1", "IOE2", "IOBES", "BIOES", "BILOU"]
OTHER_NAMES: dict[str, Scheme] = {"BIO": "IOB2", "BIOES": "IOBES"}
Reading = Literal["lenient", "strict"]
BoolArray = npt.NDArray[np.bool_]

LETTERS: dict[str, str] = {
    "IO": "IO", "IOB1": "IOB", "IOB2": "IOB", "IOE1": "IOE", "IOE2": "IOE", "IOBES": "IOBES", "BILOU": "BILOU",
}  # fmt: skip
_CODE = {"O": 0, "B": 1, "I": 2, "E": 3, "S": 4, "L": 3, "U": 4}  # BILOU's last and unit are E and S
NO_TYPE = "_"
_ANY, _SAME, _OTHER = "01", "1", "0"
_NO_FAULT = 255

# (previous prefixes, prefixes, same type): seqeval.scheme, with E and S for L and U
_STARTS = {
    "IO": [("O", "I", _ANY), ("I", "I", _OTHER)],
    "IOB1": [("O", "I", _ANY), ("I", "I", _OTHER), ("B", "I", _ANY), ("IB", "B", _SAME)],
    "IOB2": [("OBI", "B", _ANY)],
    "IOE1": [("O", "I", _ANY), ("I", "I", _OTHER), ("E", "I", _ANY), ("E", "E", _SAME)],
    "IOE2": [("OE", "IE", _ANY), ("I", "IE", _OTHER)],
    "IOBES": [("OBIES", "BS", _ANY)],
}
_INSIDES = {
    "IO": [("I", "I", _SAME)],
    "IOB1": [("BI", "I", _SAME)],
    "IOB2": [("BI", "I", _SAME)],
    "IOE1": [("I", "IE", _SAME)],
    "IOE2": [("I", "IE", _SAME)],
    "IOBES": [("BI", "IE", _SAME)],
}
_ENDS = {
    "IO": [("I", "I", _OTHER), ("I", "O", _ANY)],
    "IOB1": [("IB", "I", _OTHER), ("IB", "O", _ANY), ("I", "B", _ANY), ("B", "B", _SAME)],
    "IOB2": [("IB", "OB", _ANY), ("IB", "I", _OTHER)],
    "IOE1": [("I", "IE", _OTHER), ("I", "O", _ANY), ("E", "IE", _SAME)],
    "IOE2": [("E", "OIE", _ANY)],
    "IOBES": [("ES", "OBIES", _ANY)],
}


class Fault(IntEnum):
    """What is wrong with a tag: the reasons why it was repaired (lenient) or left out (strict)."""

    FOREIGN_PREFIX = 0
    UNOPENED = 1
    UNCLOSED = 2
    NEEDLESS_BOUNDARY = 3
    LEFT_OUT = 4

    def __str__(self) -> str:
        return (
            "its prefix is not one of the scheme",
            "continues a segment that never began",
            "begins or continues a segment that never ends",
            "marks a boundary where the scheme marks none",
            "belongs to no segment",
        )[self]


@frozen(eq=False)
class Repairs:
    """The tags of one side that do not follow the scheme: which token, and what is wrong with it.

    Lenient: each was read as conlleval does. Strict: the tagged tokens that are in no segment.
    """

    token: IntArray
    fault: npt.NDArray[np.uint8]
    tagged: TaggedTexts
    side: int

    def __len__(self) -> int:
        return len(self.token)

    def counts(self) -> dict[Fault, int]:
        """How many there are of each kind."""
        return {Fault(kind): number for kind, number in enumerate(np.bincount(self.fault).tolist()) if number}

    def listed(self, limit: int | None = None) -> list[tuple[Place, str, Fault]]:
        """Place, tag and fault of each (or of the first few)."""
        codes = self.tagged.predicted if self.side else self.tagged.reference
        return [
            (self.tagged.place(self.side, token), self.tagged.vocabulary[codes[token]], Fault(fault))
            for token, fault in zip(self.token[:limit].tolist(), self.fault[:limit].tolist(), strict=True)
        ]


@frozen(eq=False)
class Decoded:
    """Both sides as segments, and what had to be repaired on each."""

    texts: AnnotatedTexts
    repairs: tuple[Repairs, Repairs]


@frozen(eq=False)
class _Vocabulary:
    """For each tag number its prefix, its type and whether the scheme has its prefix."""

    prefix: npt.NDArray[np.uint8]
    type: npt.NDArray[np.int64]
    foreign: BoolArray
    types: tuple[str, ...]


def decode(
    tagged: TaggedTexts,
    scheme: Scheme = "IOB2",
    reading: Reading = "lenient",
    *,
    delimiter: str = "-",
    suffix: bool = False,
    types: Iterable[str] = (),
) -> Decoded:
    """Turn tags into segments. With `suffix` tags look like PER-B; `types` are declared and come first. In IO a tag may be a
    type alone, as Few-NERD has it: neighbours of one type are one segment.

    A tag that is neither O nor a prefix (alone, or with the delimiter and a type) is an error with its line,
    and so is in strict reading a prefix that the scheme does not have.
    """
    scheme = OTHER_NAMES.get(scheme, scheme)
    if scheme not in LETTERS:
        raise MetricError(f'"{scheme}" is not a scheme; there are {", ".join(LETTERS)}.{did_you_mean(scheme, LETTERS)}')
    if reading not in ("lenient", "strict"):
        raise MetricError(f'"{reading}" is not a way to read tags; there are lenient and strict')
    vocabulary = _parse_vocabulary(tagged, scheme, reading, delimiter, suffix, types)
    sides = [_decode_side(tagged, side, vocabulary, scheme, reading) for side in (0, 1)]
    texts = AnnotatedTexts(sides[0][0], sides[1][0], np.diff(tagged.offsets), vocabulary.types, len(tagged.offsets) - 1)
    return Decoded(texts, (sides[0][1], sides[1][1]))


def _decode_side(
    tagged: TaggedTexts, side: int, vocabulary: _Vocabulary, scheme: str, reading: str
) -> tuple[Segments, Repairs]:
    codes: TagArray = tagged.predicted if side else tagged.reference
    # most tokens are O, so everything below runs over the others; `at` is where they stand
    outside = np.flatnonzero(vocabulary.prefix == 0)
    at = np.flatnonzero(codes != int(outside[0]) if len(outside) == 1 else vocabulary.prefix[codes])
    begins = np.zeros(len(codes) + 1, dtype=np.bool_)
    begins[tagged.offsets] = True
    tagged_codes = codes[at]
    prefix, type_ = vocabulary.prefix[tagged_codes], vocabulary.type.astype(np.int32)[tagged_codes]
    joined = np.zeros(len(at) + 1, dtype=np.bool_)  # whether the tagged token stands right behind the one before
    joined[1:-1] = (at[1:] == at[:-1] + 1) & ~begins[at[1:]]
    pair: npt.NDArray[np.uint8] = np.left_shift(prefix, 1, dtype=np.uint8)
    pair[1:] += (joined[1:-1] * prefix[:-1]) << 4
    pair[1:] += joined[1:-1] & (type_[1:] == type_[:-1])
    start_table, inside_table, end_table = _tables(scheme, reading)
    inside = inside_table[pair]
    heads = np.flatnonzero(~inside)
    starts = heads
    ends: IntArray = np.append(heads[1:], len(at))
    if reading != "lenient":  # then every tag may begin a segment, and end one
        group = np.cumsum(~inside, dtype=np.int32) - 1
        starts = np.flatnonzero(start_table[pair])
        owner = group[starts]
        foremost = np.ones(len(starts), dtype=np.bool_)
        foremost[1:] = owner[1:] != owner[:-1]
        starts, owner = starts[foremost], owner[foremost]
        ends = ends[owner]
        behind = prefix[ends - 1] << 4  # the pair of a segment's last tag and the one behind it: O, or a tag
        follows = joined[ends]
        behind[follows] = pair[ends[follows]]
        proper = end_table[behind]
        starts, ends = starts[proper], ends[proper]
    first = at[starts]
    text = np.searchsorted(tagged.offsets, first, side="right") - 1
    local = first - tagged.offsets[text]
    segments = Segments(text, local, local + (ends - starts), type_[starts].astype(np.int64))
    if reading == "lenient":
        token, fault = _faults(scheme, pair, joined, prefix, vocabulary.foreign[tagged_codes])
    else:
        covered = np.zeros(len(at) + 1, dtype=np.int8)
        covered[starts] += 1
        covered[ends] -= 1
        token = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        fault = np.full(len(token), Fault.LEFT_OUT, dtype=np.uint8)
    return segments, Repairs(at[token], fault, tagged, side)


def _faults(
    scheme: str,
    pair: npt.NDArray[np.uint8],
    joined: BoolArray,
    prefix: npt.NDArray[np.uint8],
    foreign: BoolArray,
) -> tuple[IntArray, npt.NDArray[np.uint8]]:
    """The tags that break the scheme: they need something before or behind them which is not there."""
    before, behind = _fault_tables(scheme)
    fault = before[pair]
    if behind is not None:
        follower = prefix << 4  # O stands behind it, or a tag
        follower[:-1] = np.where(joined[1:-1], pair[1:], follower[:-1])
        fault = np.minimum(fault, behind[follower])
    if foreign.any():
        fault[foreign] = Fault.FOREIGN_PREFIX
    token = np.flatnonzero(fault != _NO_FAULT)
    return token, fault[token]


@lru_cache(maxsize=8)
def _fault_tables(scheme: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8] | None]:
    """What is wrong with a tag as the one before it shows, and the one behind it where the scheme cares."""
    before = np.full(128, _NO_FAULT, dtype=np.uint8)
    behind = before.copy()
    if scheme == "IOB1":  # B only where the token before has the same type
        before[_table([("OBIES", "B", _ANY)]) & ~_table([("BI", "B", _SAME)])] = Fault.NEEDLESS_BOUNDARY
    elif scheme == "IOB2":
        before[_table([("OBIES", "I", _ANY)]) & ~_table([("BI", "I", _SAME)])] = Fault.UNOPENED
    elif scheme == "IOE1":  # E only where the token behind has the same type
        behind[_table([("E", "OBIES", _ANY)]) & ~_table([("E", "IE", _SAME)])] = Fault.NEEDLESS_BOUNDARY
    elif scheme == "IOE2":
        behind[_table([("I", "OBIES", _ANY)]) & ~_table([("I", "IE", _SAME)])] = Fault.UNCLOSED
    elif scheme != "IO":
        before[_table([("OBIES", "IE", _ANY)]) & ~_table([("BI", "IE", _SAME)])] = Fault.UNOPENED
        behind[_table([("BI", "OBIES", _ANY)]) & ~_table([("BI", "IE", _SAME)])] = Fault.UNCLOSED
    return before, behind if np.any(behind != _NO_FAULT) else None


@lru_cache(maxsize=16)
def _tables(scheme: str, reading: str) -> tuple[BoolArray, BoolArray, BoolArray]:
    """START, INSIDE and END over pairs (previous prefix, prefix, same type) as one number."""
    if reading == "lenient":
        everything = [("OBIES", "OBIES", _ANY)]
        return _table(everything), _table([("BI", "IE", _SAME)]), _table(everything)
    name = "IOBES" if scheme == "BILOU" else scheme
    return _table(_STARTS[name]), _table(_INSIDES[name]), _table(_ENDS[name])


def _table(patterns: list[tuple[str, str, str]]) -> BoolArray:
    table = np.zeros(128, dtype=np.bool_)
    for previous, current, same in patterns:
        for before in previous:
            for letter in current:
                for flag in same:
                    table[(_CODE[before] << 4) | (_CODE[letter] << 1) | int(flag)] = True
    return table


def _parse_vocabulary(
    tagged: TaggedTexts, scheme: str, reading: str, delimiter: str, suffix: bool, types: Iterable[str]
) -> _Vocabulary:
    letters = LETTERS[scheme]
    prefixes, names, foreign = [], [], []
    for code, tag in enumerate(tagged.vocabulary):
        parts = split_tag(tag, delimiter, suffix)
        if parts is None and scheme == "IO" and tag:
            parts = "I", tag
        if parts is None:
            found = f'"{tag}" is not a tag of the scheme {scheme}'
            shape = f"TYPE{delimiter}B" if suffix else f"B{delimiter}TYPE"
            hint = " (types alone are scheme IO)" if len(tag) > 1 else ""
            raise InputError(f"{found}: expected O or something like {shape}{hint}", _place_of_tag(tagged, code))
        outsider = parts[0] not in letters
        if outsider and reading == "strict":
            message = f'"{tag}" has the prefix {parts[0]}; {scheme} has {", ".join(letters)}'
            raise InputError(message, _place_of_tag(tagged, code))
        prefixes.append(_CODE[parts[0]])
        names.append(parts[1])
        foreign.append(outsider)
    real = {name for name, prefix in zip(names, prefixes, strict=True) if prefix}
    given = tuple(dict.fromkeys(types))
    known = given + tuple(sorted(real.difference(given)))
    number = {name: index for index, name in enumerate(known)}
    return _Vocabulary(
        np.array(prefixes, dtype=np.uint8),
        np.array([number.get(name, -1) for name in names], dtype=np.int64),
        np.array(foreign, dtype=np.bool_),
        known,
    )


def split_tag(tag: str, delimiter: str = "-", suffix: bool = False) -> tuple[str, str] | None:
    """Prefix and type of a tag, or None: "PER" is not P with ER. A prefix alone has the type "_"."""
    if tag == "O":
        return "O", ""
    if len(tag) == 1:
        return (tag, NO_TYPE) if tag in "BIESLU" else None
    type_, found, letter = tag.rpartition(delimiter)
    if not suffix:
        letter, found, type_ = tag.partition(delimiter)
    return (letter, type_) if found and type_ and len(letter) == 1 and letter in "BIESLU" else None


def iob2_segments(tags: Sequence[str]) -> set[tuple[int, int, str]] | None:
    """Start, end and type of each segment of one text; None if a tag breaks the scheme, or is written in another way."""
    found, kind, start = set(), "", 0
    for place, tag in enumerate(tags):
        if type(tag) is not str:
            return None
        if kind and tag[2:] == kind and tag[:2] == "I-":
            continue
        if kind:
            found.add((start, place, kind))
        if tag == "O":
            kind = ""
        elif tag[:2] == "B-" and len(tag) > 2:
            kind, start = tag[2:], place
        else:
            return None
    if kind:
        found.add((start, len(tags), kind))
    return found


def _place_of_tag(tagged: TaggedTexts, code: int) -> Place:
    """The first place at which a tag occurs, in the reference or else in the prediction."""
    for side, codes in enumerate((tagged.reference, tagged.predicted)):
        found = np.flatnonzero(codes == code)
        if len(found):
            return tagged.place(side, int(found[0]))
    return Place("vocabulary")
