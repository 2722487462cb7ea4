"""Figures of the UD evaluation by what its words are: relation, part of speech, distance of the head, depth, length of the sentence.

A word is a reference word, a predicted one, or an aligned pair of both. Recall is by the value that the reference word has, precision by that
of the predicted word, so that LAS of `nsubj` is: of the words that are subjects, how many were found, and of those called subjects, how
many are. CLAS, MLAS and BLEX count words with a content relation alone, here too. Distances, depths and sentences are those of
each side itself. Tokens, sentences and enhanced edges are no words, and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import MetricError
from tallystick.results.breakdown import PartRows
from tallystick.results.parts import Portions, bin_of
from tallystick.tasks.breakdowns import in_bins
from tallystick.tasks.dependencies.alignment import align_words
from tallystick.tasks.dependencies.metrics import CONTENT, Flags, _relation_in, judge_pairs, without_subtype

if TYPE_CHECKING:
    from tallystick.engine.arrays import I64
    from tallystick.files.conllu import Coded
    from tallystick.results.result import Result
    from tallystick.tasks.dependencies.alignment import Units
    from tallystick.tasks.dependencies.files import Treebank

Coding = tuple["I64", list[str]]
"""The part of each word, as a number into the names of the parts."""


def portions_of_words(
    corpus: tuple[Treebank, Treebank, Units],
    results: Mapping[str, Result],
    name: str,
    values: Callable[[Treebank], Coding],
) -> dict[str, Portions]:
    """By metric the rows of the units by a value of their words."""
    reference, predicted, units = corpus
    alignment = align_words(reference, predicted)
    right = judge_pairs(reference, predicted, alignment)
    sides = [_Words(side, units, values(side)) for side in (predicted, reference)]
    content = [_relation_in(side.deprel, CONTENT) for side in (predicted, reference)]
    pairs = alignment.predicted, alignment.reference
    out = {}
    for metric in results:
        if metric not in right:
            continue
        found = PartRows()
        for k, side in enumerate(sides):
            hits = np.zeros(side.count, np.bool_)
            hits[pairs[k][right[metric]]] = True
            side.add(found, 2 * k, hits)
            side.add(
                found, 2 * k + 1, content[k] if metric in ("clas", "mlas", "blex") else np.ones(side.count, np.bool_)
            )
        found.first = len(units)
        out[metric] = in_bins(found, name, results[metric])
    if not out:
        raise MetricError(f"figures by {name} are those of words; {', '.join(results)} count something else")
    return out


def words_of_units(side: Treebank, units: Units) -> list[list[str]]:
    """The forms of each unit's words."""
    ends, forms = units.words(side).tolist(), side.form
    return [[forms.values[code] for code in forms.codes[a:b].tolist()] for a, b in pairwise(ends)]


class _Words:
    """The words of one side: the unit and the part of each."""

    def __init__(self, side: Treebank, units: Units, coding: Coding) -> None:
        self.codes, self.parts = coding
        self.count, self.units = len(side), len(units)
        self.unit = np.repeat(np.arange(self.units), np.diff(units.words(side)))

    def add(self, found: PartRows, column: int, chosen: Flags) -> None:
        """Add the chosen words to one of the four sums."""
        places = self.codes[chosen] * self.units + self.unit[chosen]
        counts = np.bincount(places, minlength=len(self.parts) * self.units).reshape(len(self.parts), self.units)
        for part, row in zip(self.parts, counts, strict=True):
            if row.any():
                found.add_column(part, column, row)
                found.support[part] += int(row.sum()) if column == 3 else 0


# What words are


def coded(column: Coded, change: Callable[[str], str] = str) -> Coding:
    """The values of a column, as another text perhaps."""
    names = [change(value) or "_" for value in column.values]
    parts = list(dict.fromkeys(names))
    place = {name: k for k, name in enumerate(parts)}
    table = np.array([place[name] for name in names] or [0], np.int64)
    return table[column.codes], parts


def binned(values: Sequence[int] | I64, names: Mapping[int, str] | None = None) -> Coding:
    """Numbers in bins; some have a name instead."""
    known, codes = np.unique(np.asarray(values, np.int64), return_inverse=True)
    parts = [(names or {}).get(one) or bin_of(one) for one in known.tolist()]
    kept = list(dict.fromkeys(parts))
    return np.array([kept.index(part) for part in parts] or [0], np.int64)[codes], kept


def relations(side: Treebank) -> Coding:
    """The relation to the head, without its subtype."""
    return coded(side.deprel, without_subtype)


def parts_of_speech(side: Treebank) -> Coding:
    """UPOS."""
    return coded(side.upos)


def distances(side: Treebank) -> Coding:
    """How many words a head is away; a root has none."""
    away = np.abs(side.head.astype(np.int64) - np.arange(len(side)))
    return binned(np.where(side.head < 0, -1, away), {-1: "root"})


def directions(side: Treebank) -> Coding:
    """On which side the head stands."""
    where = np.sign(side.head.astype(np.int64) - np.arange(len(side)))
    return binned(np.where(side.head < 0, 2, where), {-1: "head before", 1: "head after", 2: "root", 0: "itself"})


def depths(side: Treebank) -> Coding:
    """How many words are above a word; 0 for a root. Words in a circle are as deep as there are words."""
    head = side.head.astype(np.int64)
    above, depth, steps = head.copy(), np.zeros(len(head), np.int64), 0
    while (above >= 0).any() and steps <= len(head):
        depth += above >= 0
        above = np.where(above >= 0, head[above], -1)
        steps += 1
    return binned(depth)


def sentence_lengths(side: Treebank) -> Coding:
    """How many words the sentence of a word has."""
    lengths = np.diff(side.sentence_words)
    return binned(np.repeat(lengths, lengths))


def frequencies(train: Sequence[Treebank], name: str) -> Callable[[Treebank], Coding]:
    """How often the training data has the form of a word, or whether it has it, without regard to case."""
    counts = Counter(word for side in train for word in _forms(side))

    def value(form: str) -> str:
        times = counts[form.lower()]
        return bin_of(times) if name == "frequency" else "seen" if times else "unseen"

    return lambda side: coded(side.form, value)


def _forms(side: Treebank) -> Any:
    lowered = [value.lower() for value in side.form.values]
    return (lowered[code] for code in side.form.codes.tolist())


VALUES: Mapping[str, Callable[[Treebank], Coding]] = {
    "deprel": relations,
    "upos": parts_of_speech,
    "distance": distances,
    "direction": directions,
    "depth": depths,
    "sentence": sentence_lengths,
}
