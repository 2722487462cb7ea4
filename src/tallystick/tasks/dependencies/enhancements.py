"""Enhanced graphs without some kinds of enhancements, which a treebank may not have: udtools' `--enhancements`.

| digit | what is taken out of DEPS, on both sides                                                                    |
|-------|--------------------------------------------------------------------------------------------------------------|
| 1     | gapping: a path through an empty node (`conj>obj`) becomes the basic edge                                     |
| 2     | parents that conjuncts share: of a word with an edge `conj` only that edge stays                               |
| 3     | dependents that conjuncts share: nothing, see below                                                           |
| 4     | control: subjects of words that are `xcomp`                                                                   |
| 5     | relative clauses: `ref` becomes the basic edge, and the edge that closes a cycle with `acl` goes              |
| 6     | case: `obl:in` is `obl`, for obl, nmod, conj and advcl; `pass`, `relcl` and `xsubj` stay                      |

The rules are those of udtools 0.2.9, two of which do not do what they say there: 3 compares a word with the text of a number, so that
it never applies; and 5 looks for an `acl` that hangs on the word before. A basic edge of a root that 1 or 5 put in equals none there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import MetricError
from tallystick.files.conllu import Coded
from tallystick.frozen import frozen
from tallystick.tasks.dependencies.files import Edges, Treebank

ALL = "0"
_CASE = frozenset(("obl", "nmod", "conj", "advcl"))
_UNIVERSAL = frozenset(("pass", "relcl", "xsubj"))

Edge = tuple[int, tuple[str, ...]]
"""A head (-1 for the root), and the relations on the way."""


def check_enhancements(digits: str) -> None:
    """That they are digits from 0 to 6."""
    if not digits or set(digits) - set("0123456"):
        raise MetricError(
            f"--enhancements expects digits from 1 to 6 for what the treebank does not have, such as 12, or 0; found {digits!r}"
        )


@frozen(eq=False)
class _Word:
    """A word: its place in its sentence from 0, its basic edge, and the relation and the head of any other word."""

    place: int
    basic: Edge
    relation: Callable[[int], str]
    head_number: Callable[[int], int]


def without_enhancements(bank: Treebank, digits: str) -> Treebank:
    """A treebank whose enhanced edges are reduced."""
    if not set(digits) - {ALL}:
        return bank
    relations: list[str] = [label.partition(":")[0] for label in bank.deprel.values]
    codes = bank.deprel.codes
    first = np.repeat(bank.sentence_words[:-1], np.diff(bank.sentence_words))
    steps = [tuple(label.split(">")) for label in bank.enhanced.label.values]
    rules = [RULES[digit] for digit in sorted(set(digits)) if digit in RULES]

    def relation(word: int) -> str:
        return relations[int(codes[word])]

    def head_number(word: int) -> int:
        return int(bank.head[word] - first[word] + 1) if bank.head[word] >= 0 else 0

    edges: list[tuple[int, Edge]] = []
    old = bank.enhanced
    bounds = np.searchsorted(old.dependent, np.arange(len(bank) + 1))
    for word in range(len(bank)):
        here = [(int(old.head[k]), steps[old.label.codes[k]]) for k in range(bounds[word], bounds[word + 1])]
        about = _Word(int(word - first[word]), (int(bank.head[word]), (relation(word),)), relation, head_number)
        for rule in rules:
            here = rule(about, here)
        edges += ((word, edge) for edge in here)
    return replace(bank, enhanced=_edges(edges, old.from_empty_nodes))


def _edges(found: Sequence[tuple[int, Edge]], from_empty_nodes: int) -> Edges:
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(">".join(steps), len(numbers)) for _, (_, steps) in found]
    places: NDArray[np.int32] = np.array([(word, head) for word, (head, _) in found], np.int32).reshape(-1, 2)
    return Edges(
        places[:, 0].copy(), places[:, 1].copy(), Coded(np.array(labels, np.int32), list(numbers)), from_empty_nodes
    )


def _no_gapping(word: _Word, edges: list[Edge]) -> list[Edge]:
    out: list[Edge] = []
    for edge in edges:
        if len(edge[1]) > 1:
            out.append(word.basic)
        elif edge not in out:
            out.append(edge)
    return out


def _no_shared_parents(word: _Word, edges: list[Edge]) -> list[Edge]:
    conjuncts = [edge for edge in edges if len(edge[1]) == 1 and edge[1][0].startswith("conj")]
    return conjuncts[-1:] or edges


def _no_control(word: _Word, edges: list[Edge]) -> list[Edge]:
    return [
        (head, steps)
        for head, steps in edges
        if head < 0 or word.relation(head) != "xcomp" or not any(step.startswith("nsubj") for step in steps)
    ]


def _no_external_arguments(word: _Word, edges: list[Edge]) -> list[Edge]:
    out = []
    for head, steps in edges:
        if steps[0] == "ref":
            out.append(word.basic)
        elif head < 0 or not word.relation(head).startswith("acl") or word.head_number(head) != word.place:
            out.append((head, steps))
    return out


def _no_case(word: _Word, edges: list[Edge]) -> list[Edge]:
    return [(head, tuple(map(_without_case, steps))) for head, steps in edges]


def _without_case(step: str) -> str:
    base, *rest = step.split(":")
    return base if base in _CASE and len(rest) == 1 and rest[0] not in _UNIVERSAL else step


RULES = {
    "1": _no_gapping, "2": _no_shared_parents, "4": _no_control, "5": _no_external_arguments, "6": _no_case,
}  # fmt: skip
