"""Templates: eq. 32 with any similarity of fillers, and the scorers of recent work.

    eq32 = F↔_templates[δ_type × Σ↔_fillers[δ_slot × φ]]

`muc4_templates(φ)` writes that in the algebra, over TemplateSet[Entity[str]]. Where the type counts as a slot, as in
all recent work, each template has it among its fillers (`TemplateSet.with_types`). A type such as `attack / bombing`
is either of the two.

The scorers that papers report are no expressions, but they are made of the same Σ: the engine gives, for all pairs of
templates that may meet, how many predicted fillers found a partner (a) and how many reference fillers were found (b);
the scorer only chooses which templates meet.

    gtt            the matching with the largest F of Σ a and Σ b (`matching.harmonic`), in each document
    iterx_subset   the matching with the largest Σ a, in each document
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.algebra.alignment import align_documents
from tallystick.algebra.exact import exact
from tallystick.algebra.node import Similarity
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks
from tallystick.engine.data import Objects, Scope
from tallystick.engine.encoded import Items, unshared
from tallystick.engine.tally import Counts, Kind
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.evaluation import evaluate as evaluate_metric
from tallystick.results.result import Result
from tallystick.tasks.templates.files import PairedTemplates
from tallystick.tasks.templates.fillers import FILLERS, Document, granular_types, muc4_templates, phi_mention, phi_type
from tallystick.tasks.templates.scorers import gtt, gtt_alignment, iterx_phi3_quirks, iterx_subset, iterx_subset_quirks


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


@dataclass(frozen=True)
class Metric:
    """A metric of templates: an expression over documents seen in some way, or a scorer's rows."""

    summary: str
    node: Any = None
    types: bool = False
    by_mention: bool = False
    rows: Callable[[PairedTemplates], tuple[F64, list[str]]] | None = None
    kind: Kind = TWO


METRICS: dict[str, Metric] = {
    "eq32": Metric("eq. 32 with φ⊆ and the type as a slot (Du et al.)", muc4_templates(FILLERS["subset"]), types=True),
    "gtt": Metric("gtt's scorer: the largest F of each document", rows=gtt),
    "iterx_subset": Metric("IterX's CEAF-RME-⊆", rows=iterx_subset),
    "iterx_phi3": Metric("IterX's CEAF-RME-φ3", muc4_templates(FILLERS["phi3"])),
}
"""What `tallystick score templates` prints."""

VARIANTS: dict[str, Metric] = {
    "eq32_fillers": Metric("eq. 32 as printed: the type is a condition and earns nothing", muc4_templates(FILLERS["subset"])),
    "chen_subset": Metric(
        "eq. 32 with eq. 27 inside (Chen et al.)", muc4_templates(FILLERS["subset"], "N:1"), by_mention=True
    ),
    "chen_phi3": Metric(
        "eq. 32 with eq. 28 inside (Chen et al.)", muc4_templates(FILLERS["phi3"], "N:1"), by_mention=True
    ),
    "iterx_subset_quirks": Metric("IterX's CEAF-RME-⊆ with its ties", rows=iterx_subset_quirks),
    "iterx_phi3_quirks": Metric(
        "IterX's CEAF-RME-φ3 with its denominator", rows=iterx_phi3_quirks, kind=Counts()
    ),
    "granular": Metric("BETTER granular, eq. 47: F of types × F of fillers", kind=Granular()),
}  # fmt: skip
"""On request."""


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
    known: Mapping[str, Metric] = {**METRICS, **VARIANTS}
    for name in metrics:
        if name not in known:
            raise MetricError(f"no metric {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    return {name: _result(name, known[name], pairs, filler_similarity(fillers)) for name in metrics}


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


def _result(name: str, metric: Metric, pairs: PairedTemplates, phi: Similarity | None) -> Result:
    if name == "granular":
        inner = phi or FILLERS["subset"]
        expression = f"{granular_types} × {muc4_templates(inner)}"
        return _named(name, expression, metric.kind, granular(pairs, inner), pairs, [])
    if metric.rows is not None:
        rows, notes = metric.rows(pairs)
        return _named(name, "", metric.kind, rows, pairs, notes)
    node = muc4_templates(phi) if phi is not None and name.startswith("eq32") else metric.node
    reference, predicted = seen(metric, pairs)
    found = evaluate_metric(
        node, dict(zip(pairs.ids, reference, strict=True)), dict(zip(pairs.ids, predicted, strict=True))
    )
    settings = [word for word, on in (("types=slot", metric.types), ("predicted=by_mention", metric.by_mention)) if on]
    return Result(
        found.metric, found.kind, found.rows, found.ids, None, (*pairs.warnings, *found.notes), found.sources,
        ", ".join(settings),
    )  # fmt: skip


def _named(name: str, expression: str, kind: Kind, rows: F64, pairs: PairedTemplates, notes: Sequence[str]) -> Result:
    shown = f"templates.{name}" + (f" = {expression}" if expression else "")
    return Result(shown, kind, rows, tuple(pairs.ids), None, (*pairs.warnings, *notes))


def seen(metric: Metric, pairs: PairedTemplates) -> tuple[list[Document], list[Document]]:
    """The documents as an expression looks at them."""
    reference, predicted = list(pairs.reference), list(pairs.predicted)
    if metric.by_mention:
        predicted = [one.by_mention() for one in predicted]
    if metric.types:
        reference, predicted = [one.with_types() for one in reference], [one.with_types() for one in predicted]
    return reference, predicted


__all__ = [
    "FILLERS", "METRICS", "VARIANTS", "Granular", "Metric", "evaluate", "filler_similarity", "granular_types", "gtt",
    "gtt_alignment", "muc4_templates", "phi_mention", "phi_type", "score",
]  # fmt: skip


# Figures of templates by slot, from the alignment that the score is the sum of.
#
# A filler counts for its own slot: on the predicted side for precision, on the reference side for recall. The rows of
# all slots add up to the row of the whole.

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
