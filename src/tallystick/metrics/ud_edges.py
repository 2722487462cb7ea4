"""Enhanced edges of aligned words, matched one to one.

The edges into a word are a bag of (head, label). An edge of the prediction is carried over to the reference
by the alignment of its dependent and of its head; an edge with an end that has no partner cannot match. Of
each (dependent, head, label) as many edges are right as the side with fewer of them has. UD's own evaluation
counts pairs of equal edges instead, so that labels which become equal without their subtypes count several
times, and F1 passes 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tallystick.metrics.ud_alignment import Alignment
from tallystick.reading.conllu import Treebank
from tallystick.reading.conllu_table import number_jointly


def match_edges(
    reference: Treebank, predicted: Treebank, alignment: Alignment, canonical: Callable[[str], str] | None
) -> NDArray[np.int64]:
    """The dependents (reference words, ascending) of the matched edges, one for each edge."""
    ours, theirs = reference.enhanced, predicted.enhanced
    label, their_label = number_jointly(ours.label, theirs.label, canonical)
    if not len(label) or not len(their_label):
        return np.zeros(0, np.int64)

    partner = np.full(len(predicted) + 1, -2, np.int64)
    partner[alignment.predicted] = alignment.reference
    partner[-1] = -1
    their_dependent, their_head = partner[theirs.dependent], partner[theirs.head]
    carried = (their_dependent >= 0) & (their_head >= -1)
    # A predicted sentence may join two of the reference, so a head can be anywhere: it is numbered by its
    # distance from the dependent, which keeps the keys below small.
    distance = np.where(ours.head < 0, 0, ours.head - ours.dependent.astype(np.int64))
    their_distance = np.where(their_head < 0, 0, their_head - their_dependent)
    far = int(max(np.abs(distance).max(), np.abs(their_distance[carried]).max(initial=0))) + 1
    width = 2 * far + 2
    labels = int(max(label.max(), their_label.max())) + 1

    def keys(
        dependent: NDArray[np.int64],
        head: NDArray[np.int64],
        away: NDArray[np.int64],
        name: NDArray[np.int32],
    ) -> NDArray[np.int64]:
        place = np.where(head < 0, 2 * far + 1, away + far)  # the root is no word at any distance
        return (dependent * width + place) * labels + name

    key, count = np.unique(
        keys(ours.dependent.astype(np.int64), ours.head.astype(np.int64), distance, label), return_counts=True
    )
    their_key, their_count = np.unique(
        keys(their_dependent, their_head, their_distance, their_label)[carried], return_counts=True
    )
    both, at, their_at = np.intersect1d(key, their_key, assume_unique=True, return_indices=True)
    return np.repeat(both // (width * labels), np.minimum(count[at], their_count[their_at]))
