"""Similarities of templates and their fillers, and the scorers of gtt and IterX, which are no expressions.

    eq32 = F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ]]

The scorers are made of the same Σ: the engine gives, for all pairs of templates that may meet, how many predicted fillers
found a partner and how many reference fillers were found; the scorer only chooses which templates meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick.algebra.collections import best, subset
from tallystick.algebra.exact import exact
from tallystick.algebra.functions import function, via
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.text import text
from tallystick.engine.arrays import F64, I64, Blocks, Mask, Pairs, assign, look_up, number
from tallystick.engine.assignment import best_f, gradient
from tallystick.engine.data import Objects, Scope
from tallystick.engine.encoded import Items, unshared
from tallystick.results.evaluation import evaluate as evaluate_metric
from tallystick.structures import Entity, Template, TemplateSet
from tallystick.structures.texts import alternatives
from tallystick.tasks.templates.files import PairedTemplates

Document = TemplateSet[Entity[str]]

# Similarities of fillers, which are entities: mentions as texts without case, punctuation and articles.

phi_mention = text("equal", "casefold", "punctuation", "articles", "whitespace")
"""Equality of mentions after gtt's normalisation."""

FILLERS: dict[str, Similarity] = {
    "subset": record(mentions=subset(phi_mention)),
    "any": record(mentions=best(phi_mention)),
    "phi3": record(mentions=match(phi_mention)),
    "phi4": record(mentions=f1(match(phi_mention))),
    "words": record(mentions=best(text("token_set", "casefold", "punctuation", "articles", "whitespace"))),
}
"""φ of two fillers by name: eq. 25, any mention in common, eq. 17, eq. 18, and the words in common."""

phi_type = via(alternatives, subset(exact))
"""The predicted type is one of the reference's."""


def muc4_templates(phi: Similarity, constraint: str = "1:1", types: Similarity = phi_type) -> Node:
    """eq. 32: F↔_templates[φ_type × Σ_fillers[δ_slot × φ]]"""
    fillers = match(record(slot=exact, value=phi), constraint)
    return f1(each(templates=match(record(type=types, fillers=fillers))))


granular_types = f1(each(templates=match(record(type=phi_type))))
"""eq. 47, first factor"""


# What a scorer of templates sees: all templates of a corpus, the pairs that may meet, and what each pair earns.


@dataclass(frozen=True, eq=False)
class Meeting:
    """Templates i of the reference and j of the prediction that may meet, and what the fillers earn if they do."""

    reference: list[Template[Entity[str]]]
    predicted: list[Template[Entity[str]]]
    document_r: I64
    document_p: I64
    documents: int
    i: I64
    j: I64
    of_predicted: F64
    of_reference: F64

    @property
    def document(self) -> I64:
        return self.document_r[self.i]

    def by_document(self, chosen: I64, weights: F64) -> F64:
        return np.bincount(self.document[chosen], weights=weights[chosen], minlength=self.documents).astype(np.float64)

    def sizes(self, size: Callable[[Template[Entity[str]]], float]) -> tuple[F64, F64]:
        """den_p and den_r of each document, where a template is worth size(template)."""
        sides = ((self.predicted, self.document_p), (self.reference, self.document_r))
        den_p, den_r = (
            np.bincount(document, weights=[size(t) for t in templates], minlength=self.documents).astype(np.float64)
            for templates, document in sides
        )
        return den_p, den_r


def meet(pairs: PairedTemplates, compatible: Callable[[str, str], float], phi: Similarity) -> Meeting:
    """Every pair of templates of one document whose types are compatible, with both sides' covered fillers."""
    reference, document_r = _flat(pairs.reference)
    predicted, document_p = _flat(pairs.predicted)
    blocks = Blocks(document_r, document_p, max(1, len(pairs.ids)))
    type_ = function(compatible)
    r, p = type_.encode(Objects([t.type for t in reference]), Objects([t.type for t in predicted]), Scope())
    met = type_.pairs(r, p, blocks)
    found = sums_of(match(record(slot=exact, value=phi), "N:1"), reference, predicted, blocks)
    earned = [
        look_up(Pairs(found.i, found.j, side), met.i, met.j, len(predicted), len(reference))
        for side in (found.predicted, found.reference)
    ]
    n = len(pairs.ids)
    return Meeting(reference, predicted, document_r, document_p, n, met.i, met.j, earned[0], earned[1])


def sums_of(fillers: Match, reference: Sequence[Any], predicted: Sequence[Any], blocks: Blocks) -> Any:
    """Σ of the fillers of every pair of templates in one block, on both sides."""
    r, p = fillers.encode(Objects([t.fillers for t in reference]), Objects([t.fillers for t in predicted]), Scope())
    return fillers.numerators(r, p, blocks)


def _flat(side: Sequence[Document]) -> tuple[list[Template[Entity[str]]], I64]:
    templates = [template for one in side for template in one.templates]
    return templates, np.repeat(np.arange(len(side), dtype=np.int64), [len(one.templates) for one in side])


def rows_of(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    """The four sums of each document side by side."""
    return np.stack((num_p, den_p, num_r, den_r), axis=1)


# The scorer of gtt (Du et al. 2021): the matching of templates with the largest F, in each document.


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

    They share both sums (see `engine.harmonic`) and differ in slots at most. gtt tries for the first predicted
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


# The scorers of IterX (Chen et al. 2023): the matching with the largest Σ for precision, and what SciPy's ties make of it.


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
