"""What a report shows of dependencies: the sentences of a unit that are not all right, with arcs over their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Arc, ArcDrawing, Drawing

if TYPE_CHECKING:
    from tallystick.tasks.dependencies.alignment import Units
    from tallystick.tasks.dependencies.files import Treebank

SENTENCES = 12
"""So many sentences of a unit are drawn."""


def arcs_parts(reference: Treebank, predicted: Treebank, units: Units) -> Parts:
    """For each unit the drawings of its sentences."""
    from tallystick.tasks.dependencies.alignment import align_words

    pairs = align_words(reference, predicted)
    partner = np.full(len(reference), -1, np.int64)
    partner[pairs.reference] = pairs.predicted
    back = np.full(len(predicted), -1, np.int64)
    back[pairs.predicted] = pairs.reference
    offsets = units.words(reference)
    places = {name: k for k, name in enumerate(units.names)}

    def draw(name: str) -> Sequence[Drawing]:
        k = places[name]
        first = int(np.searchsorted(reference.sentence_words, offsets[k]))
        last = int(np.searchsorted(reference.sentence_words, offsets[k + 1]))
        drawn = [sentence_drawing(reference, predicted, partner, back, s) for s in range(first, last)]
        wrong = [one for one in drawn if any(arc.status != RIGHT for arc in (*one.reference, *one.predicted))]
        return (wrong or drawn)[:SENTENCES]

    return Parts(draw=draw, main="las")


def sentence_drawing(
    reference: Treebank, predicted: Treebank, partner: np.ndarray, back: np.ndarray, sentence: int
) -> ArcDrawing:
    """A sentence of the reference. An arc is right if head and relation are, in part if the head is."""
    begin, end = (int(x) for x in reference.sentence_words[sentence : sentence + 2])
    ours: list[Arc] = []
    theirs: list[Arc] = []
    for word in range(begin, end):
        head, label = int(reference.head[word]), _relation(reference, word)
        place = head - begin if head >= 0 else -1
        other = int(partner[word])
        if other < 0:
            ours.append(Arc(place, word - begin, label, MISSED))
            continue
        found = int(predicted.head[other])
        guess = int(back[found]) if found >= 0 else -1
        same = guess == head if found >= 0 else head < 0
        name = _relation(predicted, other)
        status = RIGHT if same and name == label else PART if same else MISSED
        ours.append(Arc(place, word - begin, label if status != PART else f"{label} → {name}", status))
        if status == MISSED and (found < 0 or begin <= guess < end):
            theirs.append(Arc(guess - begin if found >= 0 else -1, word - begin, name, SPURIOUS))
    words = [reference.form.values[reference.form.codes[word]] for word in range(begin, end)]
    name = reference.sentence_names().get(sentence) or f"line {reference.sentence_line[sentence]}"
    return ArcDrawing(f"Sentence {name}", words, ours, theirs)


def _relation(side: Treebank, word: int) -> str:
    """LAS compares the universal part of a relation."""
    return str(side.deprel.values[side.deprel.codes[word]]).partition(":")[0]
