"""Enhanced dependencies: the DEPS column as a flat list of edges.

`4:nsubj|6:conj:and>obj` is two edges into the word that carries it, from word 4 and from word 6 of its
sentence; `>` joins the relations of a path through an empty node that was collapsed. A DEPS value recurs
often, so each distinct one is parsed once, and the edges of a word are a slice of the parsed edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.files.boundaries import Format, conllu_boundaries_in_order
from tallystick.files.conllu import (
    DEPREL,
    DEPS,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    RANGE,
    SPACES,
    UPOS,
    XPOS,
    Coded,
    Comments,
    Words,
    check_trees,
    check_words,
    is_number,
    read_content,
    read_heads,
    read_table,
    read_words,
)  # fmt: skip
from tallystick.files.source import AnySource, Source


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges in the order of their dependents. A head is the index of a word, -1 for the root."""

    dependent: NDArray[np.int32]
    head: NDArray[np.int32]
    label: Coded
    from_empty_nodes: int
    """Edges that hang on an empty node; they are left out, as in UD's own evaluation, but counted."""


def read_edges(
    deps: Coded,
    first_word: NDArray[np.int32],
    sentence_length: NDArray[np.int32],
    fail: Callable[[int, str], NoReturn],
) -> Edges:
    """The edges of all words, given for each word the first word and the length of its sentence."""
    heads: list[int] = []
    labels: list[int] = []
    numbers: dict[str, int] = {}
    head_numbers: dict[str, int | None] = {}
    parsed = [0]
    dropped = np.zeros(len(deps.values), np.int32)
    for code, value in enumerate(deps.values):
        for edge in value.split("|") if value not in ("_", "") else ():
            head, _, label = edge.partition(":")
            if head not in head_numbers:
                head_numbers[head] = _parse_head(head)
            number = head_numbers[head]
            if number is None or not label:
                bad = np.flatnonzero(deps.codes == code)
                if bad.size:  # the value may stand in a multi-word token's line only, where nobody needs it
                    fail(int(bad[0]), f'expected HEAD:RELATION in DEPS, found "{edge}"')
            elif number == _EMPTY_NODE:
                dropped[code] += 1
            else:
                heads.append(number)
                labels.append(numbers.setdefault(label, len(numbers)))
        parsed.append(len(heads))

    offsets = np.array(parsed, np.int64)
    count = np.diff(offsets)[deps.codes] if len(deps.values) else np.zeros(0, np.int64)
    dependent = np.repeat(np.arange(len(deps)), count)
    within = np.arange(len(dependent)) - np.repeat(np.cumsum(count) - count, count)
    edge_at = offsets[deps.codes[dependent]] + within
    local = np.array(heads, np.int64)[edge_at]
    outside = np.flatnonzero(local > sentence_length[dependent])
    if outside.size:
        word = int(dependent[outside[0]])
        fail(word, f"DEPS points to word {local[outside[0]]} of a sentence of {sentence_length[word]} words")
    return Edges(
        dependent.astype(np.int32),
        np.where(local == 0, -1, first_word[dependent] + local - 1).astype(np.int32),
        Coded(np.array(labels, np.int32)[edge_at], list(numbers)),
        int(dropped[deps.codes].sum()) if len(dropped) else 0,
    )


_EMPTY_NODE = -1


def _parse_head(head: str) -> int | None:
    """The number of a word, or _EMPTY_NODE, or None if it is neither."""
    if is_number(head):
        return int(head)
    whole, dot, part = head.partition(".")
    return _EMPTY_NODE if dot and is_number(whole) and is_number(part) else None


# CoNLL-U: dependency trees over words, words inside the tokens of a text.
#
# A file spells a text. Its tokens follow one another in that text (white space aside); a token is one word,
# or a multi-word token, whose line `1-2` stands before the lines of its words:
#
#     text          zumHaus                tokens      [0,3)       [3,7)
#     1-2  zum                             words       zu   dem    Haus
#     1    zu    ... 3  case               word_token  0    0      1
#     2    dem   ... 3  det                head        2    2      -1
#     3    Haus  ... 0  root
#
# `read_conllu` gives a whole file as such columns, every sentence after the other, and says no (with file,
# line and caret) to what is not a tree. All checks are array operations over the file; the one for cycles
# doubles the length of its steps (head, head of head, ...), so depth costs nothing and nothing recurses.

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Treebank:
    """A CoNLL-U file as columns. Offsets have one element more than what they delimit."""

    name: str
    text: str
    sentence_words: Ints
    """Offsets of the sentences' words."""
    sentence_start: Ints
    """The offset of each sentence in the text."""
    sentence_line: Ints
    """The line of each sentence's first row."""
    comments: Comments
    token_start: Ints
    token_end: Ints
    token_line: Ints
    token_is_multiword: NDArray[np.bool_]
    word_token: Ints
    word_line: Ints
    head: Ints
    """The index of each word's head among all words; -1 for a root."""
    form: Coded
    lemma: Coded
    upos: Coded
    xpos: Coded
    feats: Coded
    deprel: Coded
    enhanced: Edges
    empty_nodes: int

    def __len__(self) -> int:
        """The number of words."""
        return len(self.head)

    def documents(self) -> dict[int, str]:
        """The first sentence of each `# newdoc`, and its id or an empty string."""
        return self.comments.values("newdoc", "newdoc", "newdoc id")

    def sentence_names(self) -> dict[int, str]:
        """The `sent_id` of each sentence that has one."""
        return self.comments.values("sent_id", "sent_id")


def read_conllu(name: AnySource, *, several_roots: bool = False) -> Treebank:
    """Read a file (`.gz` and `-` too). `several_roots` lets a sentence have more than one root."""
    source = Source.of(name)
    content = read_content(source)
    if not content.data.strip(b" \t\r\n\0"):
        raise InputError("is empty; expected CoNLL-U", str(source))
    return _build(check_words(read_table(content, range(MISC))), several_roots)


def parse_conllu(content: bytes | str, name: str = "<text>", *, several_roots: bool = False) -> Treebank:
    """Read CoNLL-U from memory; `name` is what errors call it."""
    return _build(read_words(Source.of_text(content, name), range(MISC)), several_roots)


def _without_spaces(form: Coded) -> Coded:
    everything = "\n".join(form.values)
    if not any(chr(space) in everything for space in SPACES):  # as it nearly always is
        return form
    return Coded(form.codes, [value.translate(SPACES) for value in form.values])


def _build(found: Words, several_roots: bool) -> Treebank:
    table, ids, words = found.table, found.ids, found.rows
    columns, lines, source, fail = table.columns, table.row_lines, table.content.source, table.fail
    sentence_rows, sentence_words, length = found.sentence_rows, found.sentence_words, found.length

    # Tokens: a word on its own, or the words under a range.
    ranges, opens = found.ranges, found.ranges_begin
    under = np.zeros(len(words) + 1, np.int32)
    under[opens] += 1
    np.subtract.at(under, opens + ids.last[ranges] - ids.first[ranges] + 1, 1)
    inside = np.cumsum(under[:-1]) > 0
    begins = ~inside
    begins[opens] = True
    token_row = words.copy()
    token_row[opens] = ranges
    token_row = token_row[begins]

    form = _without_spaces(columns[FORM])
    lengths = np.array([len(value) for value in form.values] or [0], np.int32)
    token_end = np.cumsum(lengths[form.codes[token_row]], dtype=np.int32)
    token_start = token_end - lengths[form.codes[token_row]]
    word_token = (np.cumsum(begins) - 1).astype(np.int32)

    sentence = found.sentence_of_row[words]
    first_word, word_length = sentence_words[sentence], length[sentence]
    head = read_heads(columns[HEAD].take(words), first_word, word_length, words, fail)
    check_trees(head, sentence_words, sentence, words, several_roots, fail)

    def fail_at_word(word: int, message: str) -> NoReturn:
        fail(int(words[word]), message, DEPS)

    return Treebank(
        name=str(source),
        text="".join(map(form.values.__getitem__, form.codes[token_row].tolist())),
        sentence_words=sentence_words,
        sentence_start=token_start[word_token[sentence_words[:-1]]],
        sentence_line=_in_file(source, lines[sentence_rows]),
        comments=found.comments(),
        token_start=token_start,
        token_end=token_end,
        token_line=_in_file(source, lines[token_row]),
        token_is_multiword=ids.kind[token_row] == RANGE,
        word_token=word_token,
        word_line=_in_file(source, lines[words]),
        head=head,
        form=form.take(words),
        lemma=columns[LEMMA].take(words),
        upos=columns[UPOS].take(words),
        xpos=columns[XPOS].take(words),
        feats=columns[FEATS].take(words),
        deprel=columns[DEPREL].take(words),
        enhanced=read_edges(columns[DEPS].take(words), first_word, word_length, fail_at_word),
        empty_nodes=int(np.count_nonzero(ids.kind == EMPTY)),
    )


def _in_file(source: Source, lines: Ints) -> Ints:
    return source.lines_of_file(lines.astype(np.int64)).astype(np.int32)


FORMATS = (Format("conllu", read=read_conllu, boundaries=conllu_boundaries_in_order),)
