"""What makes the rows of a CoNLL-U sentence a tree over its words, checked for all sentences at once.

Each check finds the rows that break it with array operations and hands the first one to `fail`. A tree has
one root and no cycle. To find cycles without recursion, every word follows its head, then the head's head,
then four, eight, ... steps at a time: after log2(n) doublings a word that has not left through a root is
in a cycle or hangs on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.reading.conllu_table import HEAD, ID, Coded

Ints = NDArray[np.int32]
WORD, RANGE, EMPTY, BAD = range(4)
"""The kinds of ID."""


class Fail(Protocol):
    """Raises the error that belongs to a row and a field."""

    def __call__(self, row: int, message: str, field: int) -> NoReturn: ...


@dataclass(frozen=True, eq=False)
class Ids:
    """What the ID column says, for each row."""

    kind: Ints
    first: Ints
    last: Ints


def is_number(text: str) -> bool:
    """Plain digits only (`int` would take "+1", "1_0" and " 1"), and few enough to fit."""
    return text.isascii() and text.isdigit() and len(text) < 10


def read_ids(column: Coded, fail: Fail) -> Ids:
    """`3` is a word, `3-4` a multi-word token, `3.1` an empty node."""
    parsed = np.zeros((max(1, len(column.values)), 3), np.int32)
    for code, value in enumerate(column.values):
        first, dash, last = value.partition("-")
        whole, dot, part = value.partition(".")
        if is_number(value):
            parsed[code] = WORD, int(value), int(value)
        elif dash and is_number(first) and is_number(last):
            parsed[code] = RANGE, int(first), int(last)
        elif dot and is_number(whole) and is_number(part):
            parsed[code, 0] = EMPTY
        else:
            parsed[code, 0] = BAD
    kind, first_id, last_id = parsed[column.codes].T
    bad = np.flatnonzero(kind == BAD)
    if bad.size:
        row = int(bad[0])
        fail(
            row,
            f'ID "{column[row]}" is neither a word (1) nor a multi-word token (1-2) nor an empty node (1.1)',
            ID,
        )
    return Ids(kind, first_id, last_id)


def check_ranges(ids: Ids, ranges: NDArray[np.intp], next_id: Ints, sentence: Ints, length: Ints, fail: Fail) -> None:
    """A multi-word token stands right before its first word, ends inside the sentence, overlaps no other."""
    first, last = ids.first[ranges], ids.last[ranges]
    shared = np.flatnonzero((sentence[1:] == sentence[:-1]) & (first[1:] <= last[:-1])) + 1
    if shared.size:
        at = int(shared[0])
        fail(
            int(ranges[at]),
            f"multi-word token {first[at]}-{last[at]} overlaps {first[at - 1]}-{last[at - 1]}",
            ID,
        )
    wrong = np.flatnonzero((first != next_id) | (last < first) | (last > length))
    if wrong.size:
        at = int(wrong[0])
        name = f"multi-word token {first[at]}-{last[at]}"
        if first[at] != next_id[at]:
            fail(int(ranges[at]), f"{name} stands before word {next_id[at]}", ID)
        if last[at] < first[at]:
            fail(int(ranges[at]), f"{name} ends before it starts", ID)
        fail(int(ranges[at]), f"{name} reaches beyond the sentence, which has {length[at]} words", ID)


def read_heads(column: Coded, first_word: Ints, length: Ints, rows: NDArray[np.intp], fail: Fail) -> Ints:
    """The head of each word as an index among all words, -1 for a root."""
    table = np.array([int(value) if is_number(value) else -1 for value in column.values] or [0], np.int32)
    head = table[column.codes]
    wrong = np.flatnonzero((head < 0) | (head > length))
    if wrong.size:
        at = int(wrong[0])
        if head[at] < 0:
            fail(int(rows[at]), f'HEAD "{column[at]}" is not a number of a word, nor 0 for the root', HEAD)
        fail(int(rows[at]), f"HEAD {head[at]} is out of range: the sentence has {length[at]} words", HEAD)
    return np.where(head == 0, np.int32(-1), first_word + head - 1).astype(np.int32)


def check_trees(
    head: Ints, sentence_words: Ints, sentence: Ints, rows: NDArray[np.intp], several_roots: bool, fail: Fail
) -> None:
    """One root for each sentence (or at least one, if `several_roots`) and no cycle."""
    roots = np.flatnonzero(head < 0)
    count = np.bincount(sentence[roots], minlength=len(sentence_words) - 1)
    rootless = np.flatnonzero(count == 0)
    if rootless.size:
        fail(int(rows[sentence_words[rootless[0]]]), "no root: no word of the sentence has HEAD 0", HEAD)
    if not several_roots and roots.size != len(count):
        second = int(np.flatnonzero(sentence[roots[1:]] == sentence[roots[:-1]])[0]) + 1
        ids = [int(roots[at] - sentence_words[sentence[roots[at]]]) + 1 for at in (second - 1, second)]
        fail(int(rows[roots[second]]), f"several roots: words {ids[0]} and {ids[1]} both have HEAD 0", HEAD)

    outside = len(head)  # where roots lead to, and where one then stays
    above = np.append(np.where(head < 0, outside, head), outside).astype(np.int32)
    climbing = np.flatnonzero(above[:-1] != outside)
    steps, longest = 1, int(np.diff(sentence_words).max(initial=0))
    while climbing.size and steps <= longest:
        above[climbing] = above[above[climbing]]
        climbing = climbing[above[climbing] != outside]
        steps *= 2
    if climbing.size:
        cycle = _find_cycle(head, int(climbing[0]))
        first = int(sentence_words[sentence[cycle[0]]])
        shown = " -> ".join(str(word - first + 1) for word in [*cycle, cycle[0]][:12])
        fail(int(rows[cycle[0]]), f"a cycle of heads: {shown}{' ...' if len(cycle) > 11 else ''}", HEAD)


def _find_cycle(head: Ints, word: int) -> list[int]:
    """The words of the cycle that `word` leads into, from its first word on."""
    met: dict[int, int] = {}
    while word not in met:
        met[word] = len(met)
        word = int(head[word])
    cycle = list(met)[met[word] :]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
