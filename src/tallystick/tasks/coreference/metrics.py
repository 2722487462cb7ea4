"""Coreference: mention detection, MUC, B³, CEAF, BLANC, LEA and the CoNLL average.

The first five are expressions of the algebra over documents of entities, after "A Unified View of Evaluation Metrics for
Structured Prediction" (eq. 17 to 24); each stands beside its equation. Entities are columns, so that the mentions that two of
them have in common, φ3, are counted once for all metrics (see `overlaps`). BLANC and LEA have tallies of their own.
0/0 is 0, as in the reference scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node
from tallystick.algebra.normalise import Normaliser, f1, links, precision, recall, sides
from tallystick.algebra.records import record
from tallystick.algebra.sets import Matching, match
from tallystick.engine.arrays import F64, Mask, weighted_counts
from tallystick.engine.encoded import Items
from tallystick.engine.tally import Counts, Kind, MeanOf, ratio
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.tasks.coreference import overlaps as table
from tallystick.tasks.coreference.chains import Chains, PairedChains, chains_from_clusters, pair
from tallystick.tasks.coreference.mentions import CoreferenceOptions, prepare, reference_rows
from tallystick.tasks.coreference.overlaps import PHI_3, Overlaps, Side

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation

# The equations, of documents that are collections of entities, and entities collections of mentions.

MENTIONS = f1(match(PHI_3, "N:N"))
"""F~[φ3], mention detection: what any two entities have in common, each mention being in one entity"""

MUC = f1(match(links(exact), "N:N"))
"""F~[φ_link], φ_link(X, Y) = max{0, |X ∩ Y| - 1} (eq. 20 to 22); precision and recall have one numerator"""

CEAF_M = f1(match(PHI_3))
"""F↔[φ3], φ3 = Σ↔[δ] (eq. 17)"""

CEAF_E = f1(match(f1(PHI_3)))
"""F↔[φ4], φ4 = F↔[δ] (eq. 18 and 19)"""

B3 = sides(
    precision=precision(match(record(mention=exact, entity=precision(PHI_3)))),
    recall=recall(match(record(mention=exact, entity=recall(PHI_3)))),
)
"""P↔[δ × P↔[δ]] and R↔[δ × R↔[δ]] over memberships (eq. 23 and 24); `overlaps.b3` gives its rows"""


def tally_entities(metric: Normaliser, t: Overlaps) -> F64:
    """The rows of a metric over entities: the pairs that it matches, added up for each document in the order of the key.

    `results.evaluation` adds in pairs, which is one bit more or less in some CEAF-e; figures that were published stay.
    """
    inner = metric.inner
    assert isinstance(inner, Matching)
    key, response = inner.encode(*t.columns, t.scope)
    assert isinstance(key, Items)
    assert isinstance(response, Items)
    found = inner.matched(key, response)
    common = weighted_counts(key.owners[found.i], found.weight, t.documents)
    return np.stack((common, inner.selves(response), common, inner.selves(key)), axis=1)


@frozen
class BlancLinks:
    """BLANC's two classes of links. P, R and F are means of the two; a class that the key does not have is left out."""

    headline: str = "f1"

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{kind}_{of}" for kind in ("coreferent", "other") for of in ("common", "key", "response"))

    def figures(self, sums: F64) -> dict[str, F64]:
        classes = []
        for first in (0, 3):
            common, key, response = (sums[..., first + k] for k in range(3))
            classes.append((ratio(common, response), ratio(common, key), ratio(2 * common, key + response)))
        no_links, no_others = sums[..., 1] == 0, sums[..., 4] == 0
        out = {}
        for name, coreferent, other in zip(("precision", "recall", "f1"), *classes, strict=True):
            mean = (np.nan_to_num(coreferent) + np.nan_to_num(other)) / 2
            out[name] = np.where(no_links, other, np.where(no_others, coreferent, mean))
        return out


@frozen
class CoreferenceMetric:
    """A coreference metric: its rows, the kind of its tally, what its name stands for, and its expression if it has one."""

    rows: Callable[[Overlaps], F64]
    kind: Kind
    summary: str
    expression: Node | None = None


def _over_entities(metric: Normaliser, summary: str) -> CoreferenceMetric:
    return CoreferenceMetric(partial(tally_entities, metric), Counts(), summary, metric)


_CONLL = ("muc", "b3", "ceaf_e")
_TWO = Counts(one=False)

METRICS: dict[str, CoreferenceMetric] = {
    "mentions": _over_entities(MENTIONS, "mention detection"),
    "muc": _over_entities(MUC, "MUC: links of chains"),
    "b3": CoreferenceMetric(table.b3, _TWO, "B³: each mention's share of its entity", B3),
    "ceaf_m": _over_entities(CEAF_M, "CEAF, mentions of matched entities (φ3)"),
    "ceaf_e": _over_entities(CEAF_E, "CEAF, matched entities (φ4)"),
    "blanc": CoreferenceMetric(
        table.blanc, BlancLinks(), "BLANC: coreferent and other links, for predicted mentions too"
    ),
    "lea": CoreferenceMetric(table.lea, _TWO, "LEA: links, entities weighted by size"),
    "conll": CoreferenceMetric(
        lambda t: np.concatenate([METRICS[name].rows(t) for name in _CONLL], axis=1),
        MeanOf(tuple(zip(_CONLL, (Counts(), _TWO, Counts()), strict=True))),
        "the mean F1 of MUC, B³ and CEAF-e; it has no precision or recall",
    ),
}
"""What `tallystick score coreference` prints."""


# Older variants, which change the mentions before they score; see section 2 of "Scoring Coreference Partitions of
# Predicted Mentions: A Reference Implementation".


def _b3_all(t: Overlaps) -> F64:
    """A twinless mention earns 1 / |its entity| on its own side."""
    rows = table.b3(t)
    rows[:, 0] += t.over_response((t.response.sizes - t.found_of_response) / np.maximum(t.response.sizes, 1))
    rows[:, 2] += t.over_key((t.key.sizes - t.found_of_key) / np.maximum(t.key.sizes, 1))
    return rows


def _b3_0(t: Overlaps) -> F64:
    """Twinless response mentions are dropped; twinless key mentions have recall 0."""
    found = t.found_of_response
    rows = table.b3(t)
    rows[:, 0] = t.by_document(t.n**2 / found[t.r])
    rows[:, 1] = t.over_response(found)
    return rows


def _without_twinless_singletons(t: Overlaps) -> Overlaps:
    """Rahman & Ng 2009: response singletons that are not in the key are removed."""
    keep = ~((t.response.sizes == 1) & (t.found_of_response == 0))
    return Overlaps(t.key, t.response.only(keep[t.response.entity]), t.documents)


def _cai_strube(t: Overlaps) -> tuple[Overlaps, Overlaps]:
    """Cai & Strube 2010, for precision and for recall.

    Twinless singletons of the response are removed. For recall, twinless key mentions are added to the response as
    singletons, and twinless response mentions are removed. For precision, twinless response mentions are added to the
    key as singletons, and twinless key mentions to the response.
    """
    t = _without_twinless_singletons(t)
    codes = 1 + max(int(side.mention.max(initial=0)) for side in (t.key, t.response))
    of_key, of_response = (side.document * codes + side.mention for side in (t.key, t.response))
    missed, spurious = ~np.isin(of_key, of_response), ~np.isin(of_response, of_key)
    response = _with_singletons(t.response, t.key, missed)
    for_precision = Overlaps(_with_singletons(t.key, t.response, spurious), response, t.documents)
    for_recall = Overlaps(t.key, _with_singletons(t.response.only(~spurious), t.key, missed), t.documents)
    return for_precision, for_recall


def _with_singletons(side: Side, other: Side, rows: Mask) -> Side:
    """One side and some mentions of the other, each an entity of its own."""
    extra = int(rows.sum())
    entity = side.entities + np.arange(extra)
    return side.with_mentions(other.document[rows], entity, other.mention[rows], side.entities + extra).by_document()


def _cai_strube_rows(rows: Callable[[Overlaps], F64]) -> Callable[[Overlaps], F64]:
    def both(t: Overlaps) -> F64:
        for_precision, for_recall = _cai_strube(t)
        return np.concatenate((rows(for_precision)[:, :2], rows(for_recall)[:, 2:]), axis=1)

    return both


VARIANTS: dict[str, CoreferenceMetric] = {
    "b3_all": CoreferenceMetric(_b3_all, _TWO, "B³-all (Stoyanov et al. 2009): twinless mentions kept"),
    "b3_0": CoreferenceMetric(_b3_0, _TWO, "B³-0 (Stoyanov et al. 2009): twinless response mentions dropped"),
    "b3_rahman_ng": CoreferenceMetric(
        lambda t: table.b3(_without_twinless_singletons(t)), _TWO, "B³ after Rahman & Ng 2009"
    ),
    "ceaf_m_rahman_ng": CoreferenceMetric(
        lambda t: tally_entities(CEAF_M, _without_twinless_singletons(t)), Counts(), "CEAF-m after Rahman & Ng 2009"
    ),
    "ceaf_e_rahman_ng": CoreferenceMetric(
        lambda t: tally_entities(CEAF_E, _without_twinless_singletons(t)), Counts(), "CEAF-e after Rahman & Ng 2009"
    ),
    "b3_cai_strube": CoreferenceMetric(_cai_strube_rows(table.b3), _TWO, "B³ after Cai & Strube 2010"),
    "ceaf_m_cai_strube": CoreferenceMetric(
        _cai_strube_rows(partial(tally_entities, CEAF_M)), _TWO, "CEAF-m after Cai & Strube 2010"
    ),
}
"""For comparing with older work; each changes the mentions first, which "Scoring Coreference Partitions of Predicted
Mentions" argues against."""


# Scoring.


PLAIN = CoreferenceOptions()


def evaluate(
    key: Any,
    response: Any,
    metrics: Sequence[str] = tuple(METRICS),
    *,
    options: CoreferenceOptions = PLAIN,
) -> dict[str, Result]:
    """Score clusters: two sequences (or mappings by id) of documents, a document a list of sets of hashable mentions."""
    left, right = (s if isinstance(s, Chains) else chains_from_clusters(s) for s in (key, response))
    return score(pair(left, right, lenient=options.compat == "reference"), metrics, options)


def score(
    pairs: PairedChains, metrics: Sequence[str] = tuple(METRICS), options: CoreferenceOptions = PLAIN
) -> dict[str, Result]:
    """Every metric over one pair of columns."""
    known = {**METRICS, **VARIANTS}
    for name in metrics:
        if name not in known:
            raise MetricError(f"no metric {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    prepared = prepare(pairs, options)
    settings = ", ".join(f"{name}={value}" for name, value in prepared.signature.items())
    # The CoNLL score is made of three that may be asked for themselves.
    needed = dict.fromkeys(part for name in metrics for part in (_CONLL if name == "conll" else (name,)))
    rows = {name: known[name].rows(prepared.overlaps) for name in needed}
    for document, chains in prepared.repeated.items():
        for name, row in reference_rows(*chains).items():
            if name in rows:
                rows[name][document] = row
    if "conll" in metrics:
        rows["conll"] = np.concatenate([rows[part] for part in _CONLL], axis=1)
    results = {}
    for name in metrics:
        metric = known[name]
        expression, label = metric.expression, f"coreference.{name}"
        results[name] = Result(
            metric=expression or label,
            name=label if expression else "",
            kind=metric.kind,
            rows=rows[name],
            ids=tuple(prepared.documents),
            undefined=0.0,
            notes=tuple(prepared.notes),
            settings=settings,
            sources=(prepared.sources(memberships=name == "b3"),) if expression else None,
        )
    return results


def explain(
    pairs: PairedChains, options: CoreferenceOptions = PLAIN, document: str | None = None
) -> tuple[str, Explanation]:
    """The entities of one document as CEAF-e matches them; without a name, those of the document with the lowest."""
    result = score(pairs, ["ceaf_e"], options)["ceaf_e"]
    if document is None:
        document = min(result.documents, key=lambda name: result.documents[name]["f1"] or 0.0)
    return document, result.explain(document)


def explainer(pairs: PairedChains, options: CoreferenceOptions = PLAIN) -> Callable[[str], Explanation]:
    """A function that explains any document by CEAF-e; the mentions are prepared once."""
    return score(pairs, ["ceaf_e"], options)["ceaf_e"].explain


__all__ = [
    "B3", "CEAF_E", "CEAF_M", "MENTIONS", "METRICS", "MUC", "VARIANTS", "BlancLinks", "CoreferenceMetric", "CoreferenceOptions",
    "evaluate", "explain", "score", "tally_entities",
]  # fmt: skip
