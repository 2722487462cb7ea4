"""The scorers of IterX (Chen et al. 2023): the matching with the largest Σ for precision, and what SciPy's ties make of it."""

from __future__ import annotations

import numpy as np

from tallystick.columns.arrays import F64, I64, number
from tallystick.columns.blocks import Blocks, Pairs, look_up
from tallystick.columns.data import Objects, Scope
from tallystick.columns.encoded import Items, unshared
from tallystick.matching.assignment import assign
from tallystick.matching.sets import match
from tallystick.metrics.template_fillers import FILLERS, muc4_templates
from tallystick.metrics.template_meetings import Meeting, meet, rows_of
from tallystick.reading.templates import PairedTemplates
from tallystick.scoring.evaluation import evaluate as evaluate_metric
from tallystick.similarity.exact import exact
from tallystick.similarity.records import record
from tallystick.structures.templates import alternatives


def one_of(reference: str, predicted: str) -> float:
    """IterX's test of types: the predicted one is one of the reference's."""
    return float(predicted in alternatives(reference))


def iterx_subset(pairs: PairedTemplates) -> tuple[F64, list[str]]:
    """Rows of IterX's CEAF-RME-⊆; of matchings with one Σ for precision, the one with the larger recall."""
    table = iterx_meeting(pairs)
    positive = np.flatnonzero(table.of_predicted > 0)
    # A recall below the whole corpus' fillers never outweighs one filler of precision.
    least = 1 / (1 + sum(len(t.fillers) for t in table.reference))
    weights = table.of_predicted + least * table.of_reference
    chosen = positive[
        assign(table.i[positive], table.j[positive], weights[positive], len(table.reference), len(table.predicted))
    ]
    return _counted(table, chosen), []


def iterx_subset_quirks(pairs: PairedTemplates) -> tuple[F64, list[str]]:
    """The same where ties are left to SciPy, as IterX leaves them: a document's recall hangs on the order of templates."""
    from scipy.optimize import linear_sum_assignment

    table = iterx_meeting(pairs)
    chosen: list[int] = []
    place = {(i, j): k for k, (i, j) in enumerate(zip(table.i.tolist(), table.j.tolist(), strict=True))}
    for document in range(table.documents):
        gold = np.flatnonzero(table.document_r == document).tolist()
        system = np.flatnonzero(table.document_p == document).tolist()
        rows = [(i, label) for i in gold for label in alternatives(table.reference[i].type)]
        scores = np.zeros((len(rows), len(system)))
        for k, (i, label) in enumerate(rows):
            for m, j in enumerate(system):
                if table.predicted[j].type == label and (i, j) in place:
                    scores[k, m] = table.of_predicted[place[i, j]]
        for i in gold:  # of a template with several types only the one with the largest sum stays
            split = [k for k, (owner, _) in enumerate(rows) if owner == i]
            kept = split[int(scores[split].sum(axis=1).argmax())]
            scores[[k for k in split if k != kept]] = 0
        taken = (side.tolist() for side in linear_sum_assignment(-scores))
        chosen += [place[rows[k][0], system[m]] for k, m in zip(*taken, strict=True) if scores[k, m] > 0]
    return _counted(table, np.array(sorted(chosen), np.int64)), []


def _counted(table: Meeting, chosen: I64) -> F64:
    den_p, den_r = table.sizes(lambda t: len(t.fillers))
    return rows_of(
        table.by_document(chosen, table.of_predicted), den_p, table.by_document(chosen, table.of_reference), den_r
    )


def iterx_meeting(pairs: PairedTemplates) -> Meeting:
    """Fillers with any mention in common; a predicted filler hits the first reference filler that has one.

    So `of_reference` counts the reference fillers that are the first for some predicted one, not all that are covered.
    """
    from dataclasses import replace

    table = meet(pairs, one_of, FILLERS["any"])
    fillers = match(record(slot=exact, value=FILLERS["any"]), "N:1")
    blocks = Blocks(table.document_r, table.document_p, max(1, table.documents))
    left, right = (Objects([t.fillers for t in side]) for side in (table.reference, table.predicted))
    r, p = (unshared(column) for column in fillers.encode(left, right, Scope()))
    assert isinstance(r, Items)
    assert isinstance(p, Items)
    if not len(r) or not len(p):
        return table
    found = fillers.item_pairs(r, p, blocks)
    order = np.lexsort((found.i, found.j, r.owners[found.i]))
    i, j = found.i[order], found.j[order]
    fresh = np.ones(len(i), np.bool_)
    fresh[1:] = (j[1:] != j[:-1]) | (r.owners[i[1:]] != r.owners[i[:-1]])
    hits = np.unique(np.stack((i[fresh], p.owners[j[fresh]])), axis=1)
    keys, n = number(r.owners[hits[0]] * len(p) + hits[1], len(r) * len(p))
    counts = np.bincount(keys, minlength=n).astype(np.float64)
    first = np.zeros(n, np.int64)
    first[keys] = np.arange(len(keys))
    distinct = Pairs(r.owners[hits[0]][first], hits[1][first], counts)
    return replace(table, of_reference=look_up(distinct, table.i, table.j, len(p), len(r)))


def iterx_phi3_quirks(pairs: PairedTemplates) -> tuple[F64, list[str]]:
    """IterX's CEAF-RME-φ3 with its denominator: a reference template of n types counts n times.

    It does so only where something was predicted, so that the reference's size depends on the prediction.
    """
    rows = evaluate_metric(muc4_templates(FILLERS["phi3"]), pairs.reference, pairs.predicted).rows.copy()
    for k, (reference, predicted) in enumerate(zip(pairs.reference, pairs.predicted, strict=True)):
        if predicted.templates:
            rows[k, 3] = sum(
                len(alternatives(t.type)) * sum(len(f.value.mentions) for f in t.fillers) for t in reference.templates
            )
    return rows, []
