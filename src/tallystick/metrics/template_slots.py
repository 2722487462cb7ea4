"""Figures of templates by slot, from the alignment that the score is the sum of.

A filler counts for its own slot: on the predicted side for precision, on the reference side for recall. The rows of
all slots add up to the row of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64, I64
from tallystick.columns.blocks import Blocks
from tallystick.columns.data import Objects, Scope
from tallystick.columns.encoded import Items, unshared
from tallystick.errors import MetricError
from tallystick.matching.sets import match
from tallystick.metrics.templates import FILLERS, METRICS, VARIANTS, gtt_alignment, muc4_templates, seen
from tallystick.reading.templates import PairedTemplates
from tallystick.scoring.alignment import descend, root
from tallystick.scoring.tallying import summed
from tallystick.similarity.exact import exact
from tallystick.similarity.node import Similarity
from tallystick.similarity.records import record

TYPE = "type"


def by_slot(pairs: PairedTemplates, name: str, phi: Similarity | None = None) -> dict[str, F64]:
    """num_p, den_p, num_r, den_r of each slot under a metric, in the order in which the slots occur."""
    metric = {**METRICS, **VARIANTS}[name]
    if name == "gtt":
        return _gtt(pairs)
    if metric.node is None:
        raise MetricError(f"{name} has no figures by slot; eq32 and gtt have")
    node = muc4_templates(phi) if phi is not None and name.startswith("eq32") else metric.node
    reference, predicted = seen(metric, pairs)
    table = _Table([*reference, *predicted])
    inner = summed(node)
    r, p = inner.encode(Objects(reference), Objects(predicted), Scope())
    for level in descend(root(inner, r, p, leftovers=False)):
        if level.path == "templates[*].fillers[*]":
            left, right = _slots(reference), _slots(predicted)
            weights = level.weights
            table.add(0, [right[j] for j in level.j.tolist()], weights)
            table.add(1, right, level.node.selves(level.predicted))
            table.add(2, [left[i] for i in level.i.tolist()], weights)
            table.add(3, left, level.node.selves(level.reference))
    return table.rows


def _slots(side: Sequence[Any]) -> list[str]:
    return [filler.slot for one in side for template in one.templates for filler in template.fillers]


class _Table:
    """Rows of four sums by slot."""

    def __init__(self, documents: Sequence[Any]) -> None:
        self.rows: dict[str, F64] = {slot: np.zeros(4) for slot in dict.fromkeys(_slots(documents))}

    def add(self, column: int, slots: Sequence[str], weights: Any) -> None:
        for slot, weight in zip(slots, np.asarray(weights).tolist(), strict=True):
            self.rows.setdefault(slot, np.zeros(4))[column] += weight


def _gtt(pairs: PairedTemplates) -> dict[str, F64]:
    meeting, chosen, _ = gtt_alignment(pairs)
    table = _Table([])
    table.rows[TYPE] = np.array(
        [len(chosen), len(meeting.predicted), len(chosen), len(meeting.reference)], np.float64
    )  # the type of templates that meet is right on both sides
    for column, side in ((1, meeting.predicted), (3, meeting.reference)):
        slots = [filler.slot for template in side for filler in template.fillers]
        table.add(column, slots, np.ones(len(slots)))
    left = [meeting.reference[i] for i in meeting.i[chosen].tolist()]
    right = [meeting.predicted[j] for j in meeting.j[chosen].tolist()]
    for column, slots in zip((0, 2), covered(left, right, FILLERS["subset"]), strict=True):
        table.add(column, slots, np.ones(len(slots)))
    return table.rows


def covered(left: Sequence[Any], right: Sequence[Any], phi: Similarity) -> tuple[list[str], list[str]]:
    """The slots of the predicted fillers that found a partner, and of the reference fillers that were found."""
    fillers = match(record(slot=exact, value=phi), "N:1")
    r, p = fillers.encode(Objects([t.fillers for t in left]), Objects([t.fillers for t in right]), Scope())
    r, p = unshared(r), unshared(p)
    if not len(r):
        return [], []
    assert isinstance(r, Items)
    assert isinstance(p, Items)
    found = fillers.item_pairs(r, p, Blocks.diagonal(len(left)))
    return _picked(right, found.j), _picked(left, found.i)


def _picked(side: Sequence[Any], rows: I64) -> list[str]:
    slots = [filler.slot for template in side for filler in template.fillers]
    return [slots[k] for k in np.unique(rows).tolist()]
