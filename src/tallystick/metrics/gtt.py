"""The scorer of gtt (Du et al. 2021): the matching of templates with the largest F, in each document."""

from __future__ import annotations

import numpy as np

from tallystick.columns.arrays import F64, I64, Mask
from tallystick.matching.assignment import assign
from tallystick.matching.harmonic import best_f, gradient
from tallystick.metrics.template_fillers import FILLERS
from tallystick.metrics.template_meetings import Meeting, meet, rows_of
from tallystick.reading.templates import PairedTemplates


def inside(reference: str, predicted: str) -> float:
    """gtt's test of types: the predicted one is a part of the reference's text."""
    return float(predicted in reference)


def gtt_alignment(pairs: PairedTemplates) -> tuple[Meeting, I64, F64]:
    """The templates that meet, which of the pairs gtt's scorer matches, and the gap of each document (0: optimal)."""
    table = meet(pairs, inside, FILLERS["subset"])
    den_p, den_r = table.sizes(lambda t: 1 + len(t.fillers))
    found = best_f(
        table.i, table.j, 1 + table.of_predicted, 1 + table.of_reference, table.document, den_p, den_r,
        len(table.reference), len(table.predicted),
    )  # fmt: skip
    chosen = found.chosen.copy()
    for document in np.flatnonzero(found.gap == 0).tolist():
        _take_first(table, document, chosen, float(den_p[document]), float(den_r[document]))
    return table, np.flatnonzero(chosen), found.gap


TIES = 200_000
"""Up to so many maps of a document are put in gtt's order; with more, a tie is the solver's."""


def _take_first(table: Meeting, document: int, chosen: Mask, den_p: float, den_r: float) -> None:
    """Of the optimal matchings of a document, the one that gtt's enumeration meets first.

    They share both sums (see `matching.harmonic`) and differ in slots at most. gtt tries for the first predicted
    template the reference templates in order and then none, and so on for the others; a template of another type takes
    up its place too. A number in base (n + 1), one digit for each predicted template, is the rank of a map in that
    order; added to the weights, small enough to break ties only, it makes the first one the heaviest.
    """
    gold, system = (np.flatnonzero(side == document) for side in (table.document_r, table.document_p))
    m, n = len(system), len(gold)
    if m == 0 or n == 0 or max(m, n) == 1 or (n + 1) ** m > TIES:
        return
    pairs = np.flatnonzero(table.document == document)
    a, b = 1 + table.of_predicted[pairs], 1 + table.of_reference[pairs]
    kept = chosen[pairs]
    if not kept.any():
        return
    x, y = a[kept].sum(keepdims=True), b[kept].sum(keepdims=True)
    weight_p, weight_r = gradient(x, y, np.array([den_p]), np.array([den_r]))
    digits = (n - np.arange(n))[None, :] * (float(n + 1) ** np.arange(m)[::-1])[:, None]
    weights = digits * (1e-9 / (n + 1) ** m)
    rows, columns = table.j[pairs] - system[0], table.i[pairs] - gold[0]
    weights[rows, columns] += weight_p * a + weight_r * b
    k, q = np.divmod(np.arange(m * n), n)
    taken = assign(k, q, weights.reshape(-1), m, n).reshape(m, n)[rows, columns]
    if a[taken].sum() == x and b[taken].sum() == y:
        chosen[pairs] = taken


def gtt(pairs: PairedTemplates) -> tuple[F64, list[str]]:
    """Rows of gtt's scorer."""
    table, chosen, gap = gtt_alignment(pairs)
    den_p, den_r = table.sizes(lambda t: 1 + len(t.fillers))
    rows = rows_of(
        table.by_document(chosen, 1 + table.of_predicted),
        den_p,
        table.by_document(chosen, 1 + table.of_reference),
        den_r,
    )
    open_ = np.flatnonzero(gap)
    notes = [
        f"gtt: the search stopped in document {pairs.ids[k]}; its F may be {gap[k]:.4f} higher than what was counted"
        for k in open_.tolist()
    ]
    return rows, notes
