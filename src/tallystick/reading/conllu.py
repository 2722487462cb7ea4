"""CoNLL-U: dependency trees over words, words inside the tokens of a text.

A file spells a text. Its tokens follow one another in that text (white space aside); a token is one word,
or a multi-word token, whose line `1-2` stands before the lines of its words:

    text          zumHaus                tokens      [0,3)       [3,7)
    1-2  zum                             words       zu   dem    Haus
    1    zu    ... 3  case               word_token  0    0      1
    2    dem   ... 3  det                head        2    2      -1
    3    Haus  ... 0  root

`read_conllu` gives a whole file as such columns, every sentence after the other, and says no (with file,
line and caret) to what is not a tree. All checks are array operations over the file; the one for cycles
doubles the length of its steps (head, head of head, ...), so depth costs nothing and nothing recurses.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.reading.conllu_enhanced import Edges, read_edges
from tallystick.reading.conllu_table import (
    BLANK,
    COMMENT,
    DEPREL,
    DEPS,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    ROW,
    UPOS,
    XPOS,
    Coded,
    Source,
    Table,
    make_source,
    read_table,
)
from tallystick.reading.conllu_trees import (
    EMPTY,
    RANGE,
    WORD,
    check_ranges,
    check_trees,
    read_heads,
    read_ids,
)
from tallystick.reading.opening import read_bytes, shown_name

Ints = NDArray[np.int32]

SPACES = {ord(c): None for c in " \u00a0\u1680\u202f\u205f\u3000"} | dict.fromkeys(range(0x2000, 0x200B))
"""Unicode's category Zs. Some treebanks have spaces inside words ("10 000"); the text has none."""


@dataclass(frozen=True, eq=False)
class Comments:
    """The comments that name something, each with the sentence that it stands before."""

    sentence: NDArray[np.intp]
    lines: list[bytes]

    def values(self, name: str, *keys: str) -> dict[int, str]:
        """By sentence, what stands after `# key =` (all keys begin with `name`); empty if nothing does."""
        word, found = name.encode(), {}
        for at in [at for at, line in enumerate(self.lines) if word in line]:
            key, _, value = self.lines[at][1:].decode("utf-8", "replace").partition("=")
            if " ".join(key.split()) in keys:
                found[int(self.sentence[at])] = value.strip()
        return found


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


def read_conllu(name: str | Path, *, several_roots: bool = False) -> Treebank:
    """Read a file (`.gz` and `-` too). `several_roots` lets a sentence have more than one root."""
    data = read_bytes(name)
    if not data.strip():
        raise InputError("is empty; expected CoNLL-U", shown_name(name))
    return _parse(make_source(shown_name(name), data), several_roots)


def parse_conllu(content: bytes | str, name: str = "<text>", *, several_roots: bool = False) -> Treebank:
    """Read CoNLL-U from memory; `name` is what errors call it."""
    return _parse(make_source(name, content.encode() if isinstance(content, str) else content), several_roots)


def _parse(source: Source, several_roots: bool) -> Treebank:
    table = read_table(source)
    return _build(table, _find_sentences(table), several_roots)


def _find_sentences(table: Table) -> NDArray[np.intp]:
    """The first row of each sentence; comments stand before a sentence, a blank line stands after it."""
    kinds, error = table.kinds, table.source.error
    before = np.concatenate(([np.uint8(BLANK)], kinds[:-1])) if len(kinds) else kinds
    wrong = np.flatnonzero((kinds != ROW) & (before != ROW) & (kinds == BLANK))
    if wrong.size:
        raise error("a blank line with no sentence before it; remove the line", int(wrong[0]) + 1)
    wrong = np.flatnonzero((kinds == COMMENT) & (before == ROW))
    if wrong.size:
        raise error(
            "a comment inside a sentence; comments stand before its first word (is a blank line missing?)",
            int(wrong[0]) + 1,
        )
    if len(kinds) and kinds[-1] == ROW:
        raise error("the last sentence is not closed by a blank line; is the file cut short?", len(kinds))
    return np.flatnonzero(before[table.row_lines - 1] != ROW)


def _without_spaces(form: Coded) -> Coded:
    everything = "\n".join(form.values)
    if not any(chr(space) in everything for space in SPACES):  # as it nearly always is
        return form
    return Coded(form.codes, [value.translate(SPACES) for value in form.values])


def _build(table: Table, sentence_rows: NDArray[np.intp], several_roots: bool) -> Treebank:
    columns, lines = table.columns, table.row_lines

    def fail(row: int, message: str, field: int) -> NoReturn:
        raise table.source.error(message, int(lines[row]), field)

    ids = read_ids(columns[ID], fail)

    # Words and their sentences. `seen[r]` is the number of words before row r.
    is_word = ids.kind == WORD
    words = np.flatnonzero(is_word)
    seen = np.cumsum(is_word) - is_word
    sentence_words = np.append(seen[sentence_rows], len(words)).astype(np.int32)
    length = np.diff(sentence_words)
    wordless = np.flatnonzero(length == 0)
    if wordless.size:
        fail(int(sentence_rows[wordless[0]]), "a sentence without words", ID)
    sentence_of_row = np.repeat(
        np.arange(len(sentence_rows), dtype=np.int32), np.diff(np.append(sentence_rows, len(lines)))
    )
    next_id = seen - sentence_words[sentence_of_row] + 1
    gap = np.flatnonzero(is_word & (ids.first != next_id))
    if gap.size:
        row = int(gap[0])
        fail(row, f"ID {ids.first[row]} where {next_id[row]} was expected", ID)

    # Tokens: a word on its own, or the words under a range.
    ranges = np.flatnonzero(ids.kind == RANGE)
    in_sentence = sentence_of_row[ranges]
    check_ranges(ids, ranges, next_id[ranges], in_sentence, length[in_sentence], fail)
    opens = seen[ranges]  # the first word of each range
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
    empty = np.flatnonzero((lengths[form.codes] == 0) & (ids.kind != EMPTY))
    if empty.size:
        fail(int(empty[0]), "an empty FORM", FORM)
    token_end = np.cumsum(lengths[form.codes[token_row]], dtype=np.int32)
    token_start = token_end - lengths[form.codes[token_row]]
    word_token = (np.cumsum(begins) - 1).astype(np.int32)

    sentence = sentence_of_row[words]
    first_word, word_length = sentence_words[sentence], length[sentence]
    head = read_heads(columns[HEAD].take(words), first_word, word_length, words, fail)
    check_trees(head, sentence_words, sentence, words, several_roots, fail)

    def fail_at_word(word: int, message: str) -> NoReturn:
        fail(int(words[word]), message, DEPS)

    before = np.searchsorted(lines[sentence_rows], table.comment_lines)
    named = np.count_nonzero(before < len(sentence_rows))  # the others stand behind the last sentence
    return Treebank(
        name=table.source.name,
        text="".join(map(form.values.__getitem__, form.codes[token_row].tolist())),
        sentence_words=sentence_words,
        sentence_start=token_start[word_token[sentence_words[:-1]]],
        sentence_line=lines[sentence_rows],
        comments=Comments(before[:named], table.comments[:named]),
        token_start=token_start,
        token_end=token_end,
        token_line=lines[token_row],
        token_is_multiword=ids.kind[token_row] == RANGE,
        word_token=word_token,
        word_line=lines[words],
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
