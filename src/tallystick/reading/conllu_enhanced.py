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

from tallystick.reading.conllu_table import Coded
from tallystick.reading.conllu_trees import is_number


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
