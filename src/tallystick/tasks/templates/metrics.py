"""Templates: eq. 32 with any similarity of fillers, and the scorers of recent work.

    eq32 = F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ]]

`muc4_templates(φ)` writes that in the algebra, over TemplateSet[Entity[str]]. Where the type counts as a slot, as in
all recent work, each template has it among its fillers (`TemplateSet.with_types`). A type such as `attack / bombing`
is either of the two.

The scorers that papers report are no expressions, but they are made of the same Σ: the engine gives, for all pairs of
templates that may meet, how many predicted fillers found a partner (a) and how many reference fillers were found (b);
the scorer only chooses which templates meet.

    gtt            the matching with the largest F of Σ a and Σ b (`engine.harmonic`), in each document
    iterx_subset   the matching with the largest Σ a, in each document
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick.algebra.alignment import align_documents
from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64, I64, Blocks
from tallystick.engine.data import Objects, Scope
from tallystick.engine.encoded import Items, unshared
from tallystick.engine.tally import Counts, Kind
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.evaluation import evaluate as evaluate_metric
from tallystick.results.result import Result
from tallystick.tasks.metric import NamedMetric, choose, score_expression
from tallystick.tasks.templates.files import PairedTemplates
from tallystick.tasks.templates.scorers import (
    FILLERS,
    Document,
    granular_types,
    gtt,
    gtt_alignment,
    iterx_phi3_quirks,
    iterx_subset,
    iterx_subset_quirks,
    muc4_templates,
)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class TemplateMetric(NamedMetric):
    """A metric of templates: an expression over a view of the documents, or a scorer that gives rows and notes."""

    kind: Kind = TWO
    any_fillers: bool = False
    """Whether another similarity of fillers may stand in its expression."""

    def with_fillers(self, phi: Similarity | None) -> Node:
        """Its expression, with another similarity of fillers where one is given."""
        return muc4_templates(phi) if phi is not None and self.any_fillers else self.node


SUBSET = muc4_templates(FILLERS["subset"])


def _by_name(*metrics: TemplateMetric) -> dict[str, TemplateMetric]:
    return {metric.name: metric for metric in metrics}


METRICS = _by_name(
    TemplateMetric(
        "eq32", "eq. 32 with φ⊆ and the type as a slot (Du et al.)", SUBSET, view=WITH_TYPES, any_fillers=True
    ),
    TemplateMetric("gtt", "gtt's scorer: the largest F of each document", tally=gtt),
    TemplateMetric("iterx_subset", "IterX's CEAF-RME-⊆", tally=iterx_subset),
    TemplateMetric("iterx_phi3", "IterX's CEAF-RME-φ3", muc4_templates(FILLERS["phi3"])),
)
"""What `tallystick score templates` prints."""

VARIANTS = _by_name(
    TemplateMetric(
        "eq32_fillers", "eq. 32 as printed: the type is a condition and earns nothing", SUBSET, any_fillers=True
    ),
    TemplateMetric(
        "chen_subset",
        "eq. 32 with eq. 27 inside (Chen et al.)",
        muc4_templates(FILLERS["subset"], "N:1"),
        view=BY_MENTION,
    ),
    TemplateMetric(
        "chen_phi3", "eq. 32 with eq. 28 inside (Chen et al.)", muc4_templates(FILLERS["phi3"], "N:1"), view=BY_MENTION
    ),
    TemplateMetric("iterx_subset_quirks", "IterX's CEAF-RME-⊆ with its ties", tally=iterx_subset_quirks),
    TemplateMetric(
        "iterx_phi3_quirks", "IterX's CEAF-RME-φ3 with its denominator", tally=iterx_phi3_quirks, kind=Counts()
    ),
    TemplateMetric("granular", "BETTER granular, eq. 47: F of types × F of fillers", kind=Granular()),
)
"""On request."""

ALL = {**METRICS, **VARIANTS}


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = tuple(METRICS), *, fillers: str | Similarity | None = None
) -> dict[str, Result]:
    """Score two sequences of TemplateSet[Entity[str]], or two mappings by document id."""
    from tallystick.results.evaluation import paired

    ids, left, right = paired(reference, predicted)
    assert isinstance(left, Objects)
    assert isinstance(right, Objects)
    return score(PairedTemplates(tuple(ids), tuple(left.values), tuple(right.values)), metrics, fillers=fillers)


def score(
    pairs: PairedTemplates, metrics: Sequence[str] = tuple(METRICS), *, fillers: str | Similarity | None = None
) -> dict[str, Result]:
    """Every metric over the same documents. `fillers` is another φ for eq32, eq32_fillers and granular."""
    phi = filler_similarity(fillers)
    return {name: _result(metric, pairs, phi) for name, metric in choose(ALL, metrics, "templates").items()}


def filler_similarity(fillers: str | Similarity | None) -> Similarity | None:
    """A similarity of fillers by name, by expression, or as it is."""
    if fillers is None or isinstance(fillers, Similarity):
        return fillers
    if fillers in FILLERS:
        return FILLERS[fillers]
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


def _result(metric: TemplateMetric, pairs: PairedTemplates, phi: Similarity | None) -> Result:
    if metric.expression is not None:
        reference, predicted = map(tuple, seen(metric, pairs))
        views = replace(pairs, reference=reference, predicted=predicted)
        return score_expression("", metric.with_fillers(phi), views, undefined=None, settings=metric.view)
    name, notes = f"templates.{metric.name}", list(pairs.warnings)
    if metric.tally is not None:
        rows, more = metric.tally(pairs)
        notes += more
    else:
        inner = phi or FILLERS["subset"]
        rows, name = granular(pairs, inner), f"{name} = {granular_types} × {muc4_templates(inner)}"
    return Result(name, metric.kind, rows, tuple(pairs.ids), None, tuple(notes))


def seen(metric: TemplateMetric, pairs: PairedTemplates) -> tuple[list[Document], list[Document]]:
    """The documents as an expression looks at them."""
    reference, predicted = list(pairs.reference), list(pairs.predicted)
    if metric.view == BY_MENTION:
        predicted = [one.by_mention() for one in predicted]
    if metric.view == WITH_TYPES:
        reference, predicted = [one.with_types() for one in reference], [one.with_types() for one in predicted]
    return reference, predicted


# Figures of templates by slot, from the alignment that the score is the sum of.
#
# A filler counts for its own slot: on the predicted side for precision, on the reference side for recall. The rows of
# all slots add up to the row of the whole.

TYPE = "type"


def by_slot(pairs: PairedTemplates, name: str, phi: Similarity | None = None) -> dict[str, F64]:
    """num_p, den_p, num_r, den_r of each slot under a metric, in the order in which the slots occur."""
    metric = ALL[name]
    if name == "gtt":
        return _gtt(pairs)
    if metric.expression is None:
        raise MetricError(f"{name} has no figures by slot; eq32 and gtt have")
    node = metric.with_fillers(phi)
    reference, predicted = seen(metric, pairs)
    table = _Table([*reference, *predicted])
    inner = node.summed
    r, p = inner.encode(Objects(reference), Objects(predicted), Scope())
    for level in align_documents(inner, r, p, leftovers=False).descend():
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
