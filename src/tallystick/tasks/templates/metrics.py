"""The metrics of templates: similarities of templates and fillers, the scorers of gtt and IterX, which are no expressions, and figures
by slot.

    eq32 = F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ]]

The scorers are made of the same Σ: the engine gives, for all pairs of templates that may meet, how many predicted fillers
found a partner and how many reference fillers were found; the scorer only chooses which templates meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import comb, perm
from typing import Any

import numpy as np

from tallystick.algebra.alignment import align_documents
from tallystick.algebra.exact import exact
from tallystick.algebra.functions import function, via
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import best, f1, subset
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.text import normalise_text, text
from tallystick.engine.arrays import F64, I64, Blocks, Items, Mask, Pairs, assign, distinct, look_up, number, unshared
from tallystick.engine.assignment import best_f
from tallystick.engine.data import Objects, Scope
from tallystick.engine.tally import Counts, Kind
from tallystick.errors import MetricError, did_you_mean
from tallystick.files.pairing import check_kinds
from tallystick.frozen import frozen
from tallystick.results.evaluation import evaluate as evaluate_metric
from tallystick.results.result import Result
from tallystick.structures import Entity, Template, TemplateSet
from tallystick.structures.texts import alternatives
from tallystick.tasks.metric import NamedMetric, choose, score_expression
from tallystick.tasks.named import steps_named
from tallystick.tasks.templates.files import PairedTemplates

Document = TemplateSet[Entity[str]]

# Similarities of fillers, which are entities: sets of what is left of their mentions.


def fillers_by_name(strings: str = "gtt") -> dict[str, Similarity]:
    """φ of two fillers by name: eq. 25, any mention in common, eq. 17, eq. 18, and the words in common."""
    steps = steps_named(strings)
    mention = text("equal", *steps)
    return {
        "subset": record(mentions=subset(mention, distinct=True)),
        "any": record(mentions=best(mention)),
        "phi3": record(mentions=match(mention, distinct=True)),
        "phi4": record(mentions=f1(match(mention, distinct=True))),
        "words": record(mentions=best(text("token_set", *steps))),
    }


FILLERS = fillers_by_name()

phi_type = via(alternatives, subset(exact))
"""The predicted type is one of the reference's."""


def muc4_templates(phi: Similarity, constraint: str = "1:1") -> Node:
    """eq. 32: F↔_templates[φ_type × Σ_fillers[δ_slot × φ]]"""
    fillers = match(record(slot=exact, value=phi), constraint)
    return f1(each(templates=match(record(type=phi_type, fillers=fillers))))


granular_types = f1(each(templates=match(record(type=phi_type))))
"""eq. 47, first factor"""


# What a scorer of templates sees: all templates of a corpus, the pairs that may meet, and what each pair earns.


@frozen(eq=False)
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

    @cached_property
    def document(self) -> I64:
        """The document of each pair."""
        return self.document_r[self.i]

    @cached_property
    def typed(self) -> int:
        """What the type of a template is worth to gtt: 1, or nothing where templates have no types."""
        return int(any(template.type for side in (self.reference, self.predicted) for template in side))

    @cached_property
    def begins(self) -> tuple[list[int], list[int]]:
        """Where the templates of each document begin, on both sides, and behind the last where they end."""
        every = np.arange(self.documents + 1)
        begins_r, begins_p = (np.searchsorted(side, every).tolist() for side in (self.document_r, self.document_p))
        return begins_r, begins_p

    def sizes(self, own: int) -> tuple[F64, F64]:
        """den_p and den_r of each document, where a template is worth so much by itself, and its fillers."""
        sides = ((self.predicted, self.document_p), (self.reference, self.document_r))
        den_p, den_r = (
            np.bincount(document, [own + len(t.fillers) for t in templates], self.documents).astype(np.float64)
            for templates, document in sides
        )
        return den_p, den_r

    def rows(self, chosen: I64, own: int) -> F64:
        """num_p, den_p, num_r and den_r of each document, if these pairs meet."""
        den_p, den_r = self.sizes(own)
        num_p, num_r = (
            np.bincount(self.document[chosen], own + earned[chosen], self.documents).astype(np.float64)
            for earned in (self.of_predicted, self.of_reference)
        )
        return np.stack((num_p, den_p, num_r, den_r), axis=1)


def meet(pairs: PairedTemplates, compatible: Callable[[str, str], float], phi: Similarity) -> Meeting:
    """Every pair of templates of one document whose types are compatible, with both sides' covered fillers."""
    reference, document_r = _flat(pairs.reference)
    predicted, document_p = _flat(pairs.predicted)
    blocks = Blocks(document_r, document_p, max(1, len(pairs.ids)))
    type_ = function(compatible)
    r, p = type_.encode(Objects([t.type for t in reference]), Objects([t.type for t in predicted]), Scope())
    met = type_.pairs(r, p, blocks)
    earned = []
    for constraint in ("N:1", "1:N"):
        fillers = match(record(slot=exact, value=phi), constraint, literal=True)
        found = fillers.pairs(*_encoded(fillers, reference, predicted), blocks)
        earned.append(look_up(found, met.i, met.j, len(predicted), len(reference)))
    n = len(pairs.ids)
    return Meeting(reference, predicted, document_r, document_p, n, met.i, met.j, earned[0], earned[1])


def _encoded(fillers: Match, reference: Sequence[Any], predicted: Sequence[Any]) -> tuple[Any, Any]:
    """The fillers of both sides' templates, as the engine compares them."""
    return fillers.encode(Objects([t.fillers for t in reference]), Objects([t.fillers for t in predicted]), Scope())


def fillers_alike(
    reference: Sequence[Any], predicted: Sequence[Any], phi: Similarity, blocks: Blocks
) -> tuple[Items, Items, I64, I64] | None:
    """The fillers of both sides, and which of them are alike, in templates of one block; None if a side has no templates."""
    fillers = match(record(slot=exact, value=phi), "N:1")
    r, p = (unshared(column) for column in _encoded(fillers, reference, predicted))
    if not len(r) or not len(p):
        return None
    assert isinstance(r, Items)
    assert isinstance(p, Items)
    found = fillers.item_pairs(r, p, blocks)
    return r, p, found.i, found.j


def _flat(side: Sequence[Document]) -> tuple[list[Template[Entity[str]]], I64]:
    templates = [template for one in side for template in one.templates]
    return templates, np.repeat(np.arange(len(side), dtype=np.int64), [len(one.templates) for one in side])


# The scorer of gtt (Du et al. 2021): the matching of templates with the largest F, in each document.


def inside(reference: str, predicted: str) -> float:
    """gtt's test of types: the predicted one is a part of the reference's text."""
    return float(predicted in reference)


def gtt_alignment(pairs: PairedTemplates, strings: str = "gtt") -> tuple[Meeting, I64, F64]:
    """The templates that meet, which of the pairs gtt's scorer matches, and the gap of each document (0: optimal)."""
    table = meet(pairs, inside, fillers_by_name(strings)["subset"])
    own = table.typed
    den_p, den_r = table.sizes(own)
    found = best_f(
        table.i, table.j, own + table.of_predicted, own + table.of_reference, table.document, den_p, den_r,
        len(table.reference), len(table.predicted),
    )  # fmt: skip
    chosen, gap = found.chosen.copy(), found.gap.copy()
    order = np.argsort(table.document, kind="stable")
    for pairs_of_one in np.split(order, np.flatnonzero(np.diff(table.document[order])) + 1) if len(order) else ():
        document = int(table.document[pairs_of_one[0]])
        if _take_gtts_map(table, pairs_of_one, document, chosen, float(den_p[document]), float(den_r[document])):
            gap[document] = 0
    return table, np.flatnonzero(chosen), gap


MAPS = 500_000
"""Up to so many maps of a document are tried one by one, as gtt does; of more, the solver finds one with the largest F."""


def _take_gtts_map(table: Meeting, pairs: I64, document: int, chosen: Mask, den_p: float, den_r: float) -> bool:
    """Choose the map of a document's templates that gtt's enumeration chooses, if there are not too many.

    gtt tries for the first predicted template the reference templates in order and then none, and so on for the others; a
    template of another type takes up its place too. It keeps the first map with the largest F, as floating point has it: maps with
    one F in theory may differ in their sums, in slots, and in the last bit.
    """
    (gold, n), (system, m) = ((side[document], side[document + 1] - side[document]) for side in table.begins)
    if sum(comb(m, k) * perm(n, k) for k in range(min(m, n) + 1)) > MAPS:
        return False
    earned = np.zeros((2, m, n + 1))
    rows, columns = table.j[pairs] - system, table.i[pairs] - gold
    earned[:, rows, columns] = table.typed + np.stack((table.of_predicted[pairs], table.of_reference[pairs]))
    maps, sums, free = np.empty((1, 0), np.int64), np.zeros((2, 1)), np.ones((1, n + 1), np.bool_)
    for k in range(m):
        of, place = np.nonzero(free)
        maps, sums, free = np.column_stack((maps[of], place)), sums[:, of] + earned[:, k, place], free[of]
        free[np.arange(len(place)), place] = place == n
    p, r = sums[0] / max(den_p, 1), sums[1] / max(den_r, 1)  # a side without anything to find has found nothing
    f = np.divide(2 * p * r, p + r, out=np.zeros(len(p)), where=p + r > 0)
    chosen[pairs] = maps[f.argmax()][rows] == columns
    return True


def gtt(pairs: PairedTemplates, strings: str = "gtt") -> tuple[F64, list[str]]:
    """Rows of gtt's scorer."""
    table, chosen, gap = gtt_alignment(pairs, strings)
    notes = [
        f"gtt: the search stopped in document {pairs.ids[k]}; its F may be {gap[k]:.4f} higher than what was counted"
        for k in np.flatnonzero(gap).tolist()
    ]
    return table.rows(chosen, table.typed), notes


# The scorers of IterX (Chen et al. 2023): the matching with the largest Σ for precision, and what SciPy's ties make of it.


def one_of(reference: str, predicted: str) -> float:
    """IterX's test of types: the predicted one is one of the reference's."""
    return float(predicted in alternatives(reference))


def iterx_subset(pairs: PairedTemplates, strings: str = "gtt") -> tuple[F64, list[str]]:
    """Rows of IterX's CEAF-RME-⊆; of matchings with one Σ for precision, the one with the larger recall."""
    table = iterx_meeting(pairs, strings)
    positive = np.flatnonzero(table.of_predicted > 0)
    # A recall below the whole corpus' fillers never outweighs one filler of precision.
    least = 1 / (1 + sum(len(t.fillers) for t in table.reference))
    weights = table.of_predicted + least * table.of_reference
    chosen = positive[
        assign(table.i[positive], table.j[positive], weights[positive], len(table.reference), len(table.predicted))
    ]
    return table.rows(chosen, 0), []


def iterx_subset_quirks(pairs: PairedTemplates, strings: str = "gtt") -> tuple[F64, list[str]]:
    """The same where ties are left to SciPy, as IterX leaves them: a document's recall hangs on the order of templates."""
    table = iterx_meeting(pairs, strings)
    return table.rows(_left_to_scipy(table), 0), []


def _left_to_scipy(table: Meeting) -> I64:
    """The pairs with the largest Σ for precision that IterX matches: templates of several types are split, of which the one
    with the largest sum stays; predicted templates without fillers are left out."""
    from scipy.optimize import linear_sum_assignment

    chosen: list[int] = []
    place = {(i, j): k for k, (i, j) in enumerate(zip(table.i.tolist(), table.j.tolist(), strict=True))}
    begins_r, begins_p = table.begins
    for document in distinct(table.document).tolist():
        gold = range(begins_r[document], begins_r[document + 1])
        system = [j for j in range(begins_p[document], begins_p[document + 1]) if table.predicted[j].fillers]
        rows, scores = _split_by_type(table, gold, system, place)
        taken = (side.tolist() for side in linear_sum_assignment(-scores))
        chosen += [place[rows[k], system[m]] for k, m in zip(*taken, strict=True) if scores[k, m] > 0]
    return np.array(sorted(chosen), np.int64)


def _split_by_type(
    table: Meeting, gold: Sequence[int], system: Sequence[int], place: dict[tuple[int, int], int]
) -> tuple[list[int], F64]:
    """The reference templates of a document, each as often as it has types, and their scores: 0 except for its best type."""
    types = {i: alternatives(table.reference[i].type) if table.reference[i].fillers else ("",) for i in gold}
    rows = [(i, label) for i in gold for label in types[i]]
    scores = np.zeros((len(rows), len(system)))
    for k, (i, label) in enumerate(rows):
        for m, j in enumerate(system):
            if table.predicted[j].type == label and (i, j) in place:
                scores[k, m] = table.of_predicted[place[i, j]]
    for i in gold:
        split = [k for k, (owner, _) in enumerate(rows) if owner == i]
        kept = split[int(scores[split].sum(axis=1).argmax())]
        scores[[k for k in split if k != kept]] = 0
    return [i for i, _ in rows], scores


def iterx_meeting(pairs: PairedTemplates, strings: str = "gtt") -> Meeting:
    """Fillers with any mention in common; the first mention of a predicted filler that a reference filler has hits the first
    that has it.

    So `of_reference` counts the reference fillers that are hit by some predicted one, not all that are covered.
    """
    phi = fillers_by_name(strings)["any"]
    table = meet(pairs, one_of, phi)
    blocks = Blocks(table.document_r, table.document_p, max(1, table.documents))
    found = fillers_alike(table.reference, table.predicted, phi, blocks)
    if found is None:
        return table
    r, p, i, j = found
    order = np.lexsort((i, _first_shared(table, i, j, strings), j, r.owners[i]))
    i, j = i[order], j[order]
    fresh = np.ones(len(i), np.bool_)
    fresh[1:] = (j[1:] != j[:-1]) | (r.owners[i[1:]] != r.owners[i[:-1]])
    filler, template = np.divmod(distinct(i[fresh] * len(p) + p.owners[j[fresh]]), len(p))
    keys, n = number(r.owners[filler] * len(p) + template, len(r) * len(p))
    counts = np.bincount(keys, minlength=n).astype(np.float64)
    first = np.zeros(n, np.int64)
    first[keys] = np.arange(len(keys))
    shared = Pairs(r.owners[filler][first], template[first], counts)
    return replace(table, of_reference=look_up(shared, table.i, table.j, len(p), len(r)))


def _first_shared(table: Meeting, i: I64, j: I64, strings: str) -> I64:
    """Which mention of predicted filler j is the first that reference filler i has."""
    steps = steps_named(strings)
    gold, system = (
        [[normalise_text(mention, steps) for mention in f.value.mentions] for t in side for f in t.fillers]
        for side in (table.reference, table.predicted)
    )
    sides = zip(i.tolist(), j.tolist(), strict=True)
    return np.array([next(k for k, one in enumerate(system[b]) if one in gold[a]) for a, b in sides], np.int64)


def iterx_phi3_quirks(pairs: PairedTemplates, strings: str = "gtt") -> tuple[F64, list[str]]:
    """IterX's CEAF-RME-φ3 with its denominator: a reference template of n types counts n times.

    It does so only where something was predicted, so that the reference's size depends on the prediction. And entities are lists:
    each predicted mention counts that is in the reference's, however often it is repeated.
    """
    each_mention = record(mentions=match(text("equal", *steps_named(strings)), "N:1", literal=True))
    table = meet(pairs, one_of, each_mention)
    fillers = match(record(slot=exact, value=each_mention))
    blocks = Blocks(table.document_r, table.document_p, max(1, table.documents))
    found = fillers.pairs(*_encoded(fillers, table.reference, table.predicted), blocks)
    earned = look_up(found, table.i, table.j, len(table.predicted), len(table.reference))
    table = replace(table, of_predicted=earned, of_reference=earned)
    rows = table.rows(_left_to_scipy(table), 0)
    for k, (reference, predicted) in enumerate(zip(pairs.reference, pairs.predicted, strict=True)):
        rows[k, 1] = sum(len(f.value.mentions) for t in predicted.templates for f in t.fillers)
        rows[k, 3] = sum(
            (len(alternatives(t.type)) if predicted.templates else 1) * sum(len(f.value.mentions) for f in t.fillers)
            for t in reference.templates
        )
    return rows, []


# Templates: eq. 32 with any similarity of fillers, and the scorers of recent work.
#
#     eq32 = F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ]]
#
# `muc4_templates(φ)` writes that in the algebra, over TemplateSet[Entity[str]]. Where the type counts as a slot, as in
# all recent work, each template has it among its fillers (`TemplateSet.with_types`). A type such as `attack / bombing`
# is either of the two.
#
# The scorers that papers report are no expressions, but they are made of the same Σ: the engine gives, for all pairs of
# templates that may meet, how many predicted fillers found a partner (a) and how many reference fillers were found (b);
# the scorer only chooses which templates meet.
#
#     gtt            the matching with the largest F of Σ a and Σ b (`engine.assignment`), in each document
#     iterx_subset   the matching with the largest Σ a, in each document


@frozen
class Granular:
    """eq. 47: the product of two F1, whose sums stand side by side."""

    headline: str = "score"

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{part}_{name}" for part in ("types", "fillers") for name in Counts().sums)

    def figures(self, sums: F64) -> dict[str, F64]:
        types, fillers = (Counts().figures(sums[..., k : k + 4])["f1"] for k in (0, 4))
        return {"types_f1": types, "fillers_f1": fillers, "score": types * fillers}


def granular(pairs: PairedTemplates, phi: Similarity) -> F64:
    """Rows of both factors of eq. 47; the best alignment for the fillers can be completed to a best one for the types."""
    first = evaluate_metric(granular_types, pairs.reference, pairs.predicted).rows
    second = evaluate_metric(muc4_templates(phi), pairs.reference, pairs.predicted).rows
    return np.concatenate((first, second), axis=1)


# The metrics by name


TWO = Counts(one=False)
WITH_TYPES, BY_MENTION = "types=slot", "predicted=by_mention"
"""Views: each template with its type among its fillers; predicted fillers taken apart into their mentions."""


@frozen
class TemplateMetric(NamedMetric):
    """A metric of templates: an expression over a view of the documents, or a scorer that gives rows and notes."""

    kind: Kind = TWO
    any_fillers: bool = False
    """Whether another similarity of fillers may stand in its expression."""

    def with_fillers(self, phi: Similarity | None) -> Node:
        """Its expression, with another similarity of fillers where one is given."""
        return muc4_templates(phi) if phi is not None and self.any_fillers else self.node


def metrics_for(strings: str = "gtt") -> dict[str, TemplateMetric]:
    """Every metric of the task, where mentions are compared so."""
    phi = fillers_by_name(strings)
    eq32 = muc4_templates(phi["subset"])
    declared = (
        TemplateMetric("eq32", "eq. 32 with φ⊆ and the type as a slot (Du et al.)", eq32, view=WITH_TYPES, any_fillers=True),
        TemplateMetric("gtt", "gtt's scorer: the largest F of each document", tally=gtt),
        TemplateMetric("iterx_subset", "IterX's CEAF-RME-⊆", tally=iterx_subset),
        TemplateMetric("iterx_phi3", "IterX's CEAF-RME-φ3", muc4_templates(phi["phi3"])),
        TemplateMetric("eq32_fillers", "eq. 32 as printed: the type is a condition and earns nothing", eq32, any_fillers=True),
        TemplateMetric("chen_subset", "eq. 32 with eq. 27 inside (Chen et al.)", muc4_templates(phi["subset"], "N:1"), view=BY_MENTION),
        TemplateMetric("chen_phi3", "eq. 32 with eq. 28 inside (Chen et al.)", muc4_templates(phi["phi3"], "N:1"), view=BY_MENTION),
        TemplateMetric("iterx_subset_quirks", "IterX's CEAF-RME-⊆ with its ties", tally=iterx_subset_quirks),
        TemplateMetric("iterx_phi3_quirks", "IterX's CEAF-RME-φ3 with its denominator", tally=iterx_phi3_quirks, kind=Counts()),
        TemplateMetric("granular", "BETTER granular, eq. 47: F of types × F of fillers", kind=Granular()),
    )  # fmt: skip
    return {metric.name: metric for metric in declared}


ALL = metrics_for()
METRICS = {name: ALL[name] for name in ("eq32", "gtt", "iterx_subset", "iterx_phi3")}
"""What `tallystick score templates` prints."""

VARIANTS = {name: metric for name, metric in ALL.items() if name not in METRICS}
"""On request."""


def evaluate(
    reference: Any,
    predicted: Any,
    metrics: Sequence[str] = tuple(METRICS),
    *,
    fillers: str | Similarity | None = None,
    strings: str = "gtt",
) -> dict[str, Result]:
    """Score two sequences of TemplateSet[Entity[str]], or two mappings by document id."""
    from tallystick.results.evaluation import paired

    check_kinds(reference, predicted, TemplateSet)
    ids, left, right = paired(reference, predicted)
    assert isinstance(left, Objects)
    assert isinstance(right, Objects)
    pairs = PairedTemplates(tuple(ids), tuple(left.values), tuple(right.values))
    return score(pairs, metrics, fillers=fillers, strings=strings)


def score(
    pairs: PairedTemplates,
    metrics: Sequence[str] = tuple(METRICS),
    *,
    fillers: str | Similarity | None = None,
    strings: str = "gtt",
) -> dict[str, Result]:
    """Every metric over the same documents. `fillers` is another φ for eq32, eq32_fillers and granular."""
    phi = filler_similarity(fillers, strings)
    chosen = choose(metrics_for(strings), metrics, "templates")
    return {name: _result(metric, pairs, phi, strings) for name, metric in chosen.items()}


def filler_similarity(fillers: str | Similarity | None, strings: str = "gtt") -> Similarity | None:
    """A similarity of fillers by name, by expression, or as it is."""
    if fillers is None or isinstance(fillers, Similarity):
        return fillers
    if fillers in FILLERS:
        return fillers_by_name(strings)[fillers]
    from tallystick.algebra.parse import parse

    if "(" not in fillers:
        raise MetricError(
            f"no similarity of fillers {fillers!r}; there are {', '.join(FILLERS)}, or an expression over entities such as "
            f"'record(mentions=best(exact))'.{did_you_mean(fillers, FILLERS)}"
        )
    found = parse(fillers)
    if not isinstance(found, Similarity):
        raise MetricError(f"{found} is no similarity of two fillers")
    return found


def _result(metric: TemplateMetric, pairs: PairedTemplates, phi: Similarity | None, strings: str) -> Result:
    if metric.expression is not None:
        reference, predicted = map(tuple, seen(metric, pairs, strings))
        views = replace(pairs, reference=reference, predicted=predicted)
        return score_expression("", metric.with_fillers(phi), views, undefined=None, settings=metric.view)
    name, text, notes = "", f"templates.{metric.name}", list(pairs.warnings)
    if metric.tally is not None:
        rows, more = metric.tally(pairs, strings)
        notes += more
    else:
        inner = phi or fillers_by_name(strings)["subset"]
        rows, name, text = granular(pairs, inner), text, f"{granular_types} × {muc4_templates(inner)}"
    settings = f"strings={strings}" if metric.tally is not None else ""
    return Result(text, metric.kind, rows, tuple(pairs.ids), None, tuple(notes), name=name, settings=settings)


def seen(metric: TemplateMetric, pairs: PairedTemplates, strings: str) -> tuple[list[Document], list[Document]]:
    """The documents as an expression looks at them."""
    reference, predicted = list(pairs.reference), list(pairs.predicted)
    if metric.view == BY_MENTION:
        steps = steps_named(strings)
        predicted = [one.by_mention(lambda mention: normalise_text(mention, steps)) for one in predicted]
    if metric.view == WITH_TYPES:
        reference, predicted = [one.with_types() for one in reference], [one.with_types() for one in predicted]
    return reference, predicted


# Figures of templates by slot, from the alignment that the score is the sum of.
#
# A filler counts for its own slot: on the predicted side for precision, on the reference side for recall. The rows of
# all slots add up to the row of the whole.

TYPE = "type"


def by_slot(pairs: PairedTemplates, name: str, phi: Similarity | None = None, strings: str = "gtt") -> dict[str, F64]:
    """num_p, den_p, num_r, den_r of each slot under a metric, in the order in which the slots occur."""
    return slot_table(pairs, name, phi, strings).rows


def slot_table(pairs: PairedTemplates, name: str, phi: Similarity | None = None, strings: str = "gtt") -> SlotTable:
    """The same sums, and those of every document."""
    metric = metrics_for(strings)[name]
    if name == "gtt":
        return _gtt(pairs, strings)
    if metric.expression is None:
        raise MetricError(f"{name} has no figures by slot; eq32 and gtt have")
    node = metric.with_fillers(phi)
    reference, predicted = seen(metric, pairs, strings)
    table = SlotTable(len(pairs.ids), [*reference, *predicted])
    inner = node.summed
    r, p = inner.encode(Objects(reference), Objects(predicted), Scope())
    for level in align_documents(inner, r, p, leftovers=False, homes=True).descend():
        if level.path == "templates[*].fillers[*]":
            assert level.homes is not None
            left, right = _slots(reference), _slots(predicted)
            weights, (home_r, home_p) = level.weights, level.homes
            table.add(0, [right[j] for j in level.j.tolist()], weights, home_p[level.j])
            table.add(1, right, level.node.selves(level.predicted), home_p)
            table.add(2, [left[i] for i in level.i.tolist()], weights, home_r[level.i])
            table.add(3, left, level.node.selves(level.reference), home_r)
    return table


def _slots(side: Sequence[Any]) -> list[str]:
    return [filler.slot for one in side for template in one.templates for filler in template.fillers]


class SlotTable:
    """By slot four sums, and the same of every document."""

    def __init__(self, count: int, documents: Sequence[Any] = ()) -> None:
        self.count = count
        self.rows: dict[str, F64] = {slot: np.zeros(4) for slot in dict.fromkeys(_slots(documents))}
        self.documents: dict[str, F64] = {slot: np.zeros((count, 4)) for slot in self.rows}

    def add(self, column: int, slots: Sequence[str], weights: Any, homes: I64) -> None:
        for slot, weight, home in zip(slots, np.asarray(weights).tolist(), homes.tolist(), strict=True):
            self.rows.setdefault(slot, np.zeros(4))[column] += weight
            if slot not in self.documents:
                self.documents[slot] = np.zeros((self.count, 4))
            self.documents[slot][home, column] += weight


def _gtt(pairs: PairedTemplates, strings: str) -> SlotTable:
    meeting, chosen, _ = gtt_alignment(pairs, strings)
    table = SlotTable(meeting.documents)
    met = meeting.document[chosen]
    if meeting.typed:  # the type of templates that meet is right on both sides
        for column, homes in enumerate((met, meeting.document_p, met, meeting.document_r)):
            table.add(column, [TYPE] * len(homes), np.ones(len(homes)), homes)
    for column, side, homes in (
        (1, meeting.predicted, meeting.document_p),
        (3, meeting.reference, meeting.document_r),
    ):
        slots, places = _fillers(side)
        table.add(column, slots, np.ones(len(slots)), homes[places])
    left = [meeting.reference[i] for i in meeting.i[chosen].tolist()]
    right = [meeting.predicted[j] for j in meeting.j[chosen].tolist()]
    found = fillers_alike(left, right, fillers_by_name(strings)["subset"], Blocks.diagonal(len(left)))
    if found is not None:
        for column, side, fillers in ((0, right, found[3]), (2, left, found[2])):
            slots, places = _fillers(side)
            there = distinct(fillers)
            table.add(column, [slots[k] for k in there.tolist()], np.ones(len(there)), met[places[there]])
    return table


def _fillers(side: Sequence[Any]) -> tuple[list[str], I64]:
    """The slots of all fillers of some templates, and the place of the template of each."""
    slots = [filler.slot for template in side for filler in template.fillers]
    return slots, np.repeat(np.arange(len(side), dtype=np.int64), [len(template.fillers) for template in side])
