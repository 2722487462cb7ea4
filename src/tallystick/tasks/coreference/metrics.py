"""Coreference: mention detection, MUC, B³, CEAF, BLANC, LEA and the CoNLL average.

The equations (17 to 24) in the algebra, over sets of entities, or of memberships for B³:

    MUC = sides(P~[φ_link], R~[φ_link])      B³ = sides(P↔[δ × P↔[δ]], R↔[δ × R↔[δ]])
    CEAF_m = F↔[Σ↔[δ]]                       CEAF_e = F↔[F↔[δ]]

`score` computes all of them from one table of overlaps (see `overlaps`); tests hold the two equal. 0/0 is 0, as in
the reference scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64, number
from tallystick.engine.tally import Counts, Kind, MeanOf, ratio
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.result import Result
from tallystick.tasks.coreference import overlaps as table
from tallystick.tasks.coreference.chains import Chains, chains_from_clusters
from tallystick.tasks.coreference.overlaps import Overlaps, Side
from tallystick.tasks.coreference.pairing import PairedChains, pair

if TYPE_CHECKING:
    from tallystick.algebra.node import Node
    from tallystick.results.explanation import Explanation

EQUATIONS = {
    "MUC": "sides(precision=precision(match(links(exact), N:N)), recall=recall(match(links(exact), N:N)))",
    "B3": (
        "sides(precision=precision(match(record(mention=exact, entity=precision(match(exact, 1:1))), 1:1)), "
        "recall=recall(match(record(mention=exact, entity=recall(match(exact, 1:1))), 1:1)))"
    ),
    "CEAF_M": "f1(match(match(exact, 1:1), 1:1))",
    "CEAF_E": "f1(match(f1(match(exact, 1:1)), 1:1))",
}
"""As they print. `MUC`, `B3`, `CEAF_M` and `CEAF_E` of this module are the metrics; the table does not need them, and
a command that starts quickly does not load the algebra."""


def __getattr__(name: str) -> Node:
    if name not in EQUATIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tallystick.algebra.parse import parse

    return parse(EQUATIONS[name])


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Metric:
    """A coreference metric: its rows from the table, the kind of its tally, and what its name stands for."""

    rows: Callable[[Overlaps], F64]
    kind: Kind
    summary: str
    expression: str = ""


_CONLL = ("muc", "b3", "ceaf_e")

METRICS: dict[str, Metric] = {
    "mentions": Metric(table.mentions, Counts(), "mention detection"),
    "muc": Metric(table.muc, Counts(), "MUC: links of chains", EQUATIONS["MUC"]),
    "b3": Metric(table.b3, Counts(one=False), "B³: each mention's share of its entity", EQUATIONS["B3"]),
    "ceaf_m": Metric(table.ceaf_m, Counts(), "CEAF, mentions of matched entities (φ3)", EQUATIONS["CEAF_M"]),
    "ceaf_e": Metric(table.ceaf_e, Counts(), "CEAF, matched entities (φ4)", EQUATIONS["CEAF_E"]),
    "blanc": Metric(table.blanc, BlancLinks(), "BLANC: coreferent and other links, for predicted mentions too"),
    "lea": Metric(table.lea, Counts(one=False), "LEA: links, entities weighted by size"),
    "conll": Metric(
        lambda t: np.concatenate([METRICS[name].rows(t) for name in _CONLL], axis=1),
        MeanOf(tuple((name, kind) for name, kind in zip(_CONLL, (Counts(), Counts(one=False), Counts()), strict=True))),
        "the mean F1 of MUC, B³ and CEAF-e; it has no precision or recall",
    ),
}
"""What `tallystick score coreference` prints."""


# Older variants, which change the mentions before they score (seed 002, section 2).


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
    numbers = np.cumsum(keep) - 1
    rows = keep[t.response.entity]
    side = t.response
    response = Side(side.document[rows], numbers[side.entity[rows]], side.mention[rows], int(keep.sum()))
    return replace(t, response=response, r=numbers[t.r])


def _cai_strube(t: Overlaps) -> tuple[Overlaps, Overlaps]:
    """Cai & Strube 2010, for precision and for recall.

    Twinless singletons of the response are removed. For recall, twinless key mentions are added to the response as
    singletons, and twinless response mentions are removed. For precision, twinless response mentions are added to the
    key as singletons, and twinless key mentions to the response.
    """
    t = _without_twinless_singletons(t)
    codes = _codes(t.key, t.response)
    of_key, of_response = (side.document * codes + side.mention for side in (t.key, t.response))
    missed, spurious = ~np.isin(of_key, of_response), ~np.isin(of_response, of_key)
    response = _with_singletons(t.response, t.key, missed)
    for_precision = _rejoined(_with_singletons(t.key, t.response, spurious), response, t.documents)
    for_recall = _rejoined(t.key, _with_singletons(_only(t.response, ~spurious), t.key, missed), t.documents)
    return for_precision, for_recall


def _codes(*sides: Side) -> int:
    return 1 + max(int(side.mention.max(initial=0)) for side in sides)


def _with_singletons(side: Side, other: Side, rows: Any) -> Side:
    extra = int(rows.sum())
    return Side(
        np.concatenate((side.document, other.document[rows])),
        np.concatenate((side.entity, side.entities + np.arange(extra))),
        np.concatenate((side.mention, other.mention[rows])),
        side.entities + extra,
    )


def _only(side: Side, rows: Any) -> Side:
    entity, entities = number(side.entity[rows], max(1, side.entities))
    return Side(side.document[rows], entity, side.mention[rows], entities)


def _rejoined(key: Side, response: Side, documents: int) -> Overlaps:
    return table.overlaps(key, response, documents, _codes(key, response))


def _cai_strube_rows(rows: Callable[[Overlaps], F64]) -> Callable[[Overlaps], F64]:
    def both(t: Overlaps) -> F64:
        for_precision, for_recall = _cai_strube(t)
        return np.concatenate((rows(for_precision)[:, :2], rows(for_recall)[:, 2:]), axis=1)

    return both


_TWO = Counts(one=False)

VARIANTS: dict[str, Metric] = {
    "b3_all": Metric(_b3_all, _TWO, "B³-all (Stoyanov et al. 2009): twinless mentions kept"),
    "b3_0": Metric(_b3_0, _TWO, "B³-0 (Stoyanov et al. 2009): twinless response mentions dropped"),
    "b3_rahman_ng": Metric(lambda t: table.b3(_without_twinless_singletons(t)), _TWO, "B³ after Rahman & Ng 2009"),
    "ceaf_m_rahman_ng": Metric(
        lambda t: table.ceaf_m(_without_twinless_singletons(t)), Counts(), "CEAF-m after Rahman & Ng 2009"
    ),
    "ceaf_e_rahman_ng": Metric(
        lambda t: table.ceaf_e(_without_twinless_singletons(t)), Counts(), "CEAF-e after Rahman & Ng 2009"
    ),
    "b3_cai_strube": Metric(_cai_strube_rows(table.b3), _TWO, "B³ after Cai & Strube 2010"),
    "ceaf_m_cai_strube": Metric(_cai_strube_rows(table.ceaf_m), _TWO, "CEAF-m after Cai & Strube 2010"),
}
"""For comparing with older work; each changes the mentions first, which seed 002 argues against."""


# Scoring.


@dataclass(frozen=True)
class Options:
    """What may be different; every choice goes into the signature."""

    singletons: bool = True
    scope: str = "document"
    topic: str = r"[^_/]+"
    match: str = "exact"
    compat: str | None = None


PLAIN = Options()


def evaluate(
    key: Any,
    response: Any,
    metrics: Sequence[str] = tuple(METRICS),
    *,
    options: Options = PLAIN,
) -> dict[str, Result]:
    """Score clusters: two sequences (or mappings by id) of documents, a document a list of sets of hashable mentions."""
    left, right = (s if isinstance(s, Chains) else chains_from_clusters(s) for s in (key, response))
    return score(pair(left, right, lenient=options.compat == "reference"), metrics, options)


def score(pairs: PairedChains, metrics: Sequence[str] = tuple(METRICS), options: Options = PLAIN) -> dict[str, Result]:
    """Every metric from one table of overlaps."""
    from tallystick.tasks.coreference.mentions import prepare, reference_rows

    known = {**METRICS, **VARIANTS}
    for name in metrics:
        if name not in known:
            raise MetricError(f"no metric {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
    prepared = prepare(pairs, options)
    shown = ", ".join(f"{k}={v}" for k, v in prepared.signature.items())
    results = {}
    # The CoNLL score is made of three that may be asked for themselves.
    needed = dict.fromkeys(part for name in metrics for part in (_CONLL if name == "conll" else (name,)))
    rows = {name: known[name].rows(prepared.overlaps) for name in needed}
    for document, chains in prepared.repeated.items():
        for name, row in reference_rows(*chains).items():
            if name in rows:
                rows[name][document] = row
    if "conll" in metrics:
        rows["conll"] = np.concatenate([rows[part] for part in _CONLL], axis=1)
    for name in metrics:
        metric = known[name]
        results[name] = Result(
            metric=f"coreference.{name}" + (f" = {metric.expression}" if metric.expression else ""),
            kind=metric.kind,
            rows=rows[name],
            ids=tuple(prepared.documents),
            undefined=0.0,
            notes=tuple(prepared.notes),
            settings=shown,
        )
    return results


def explain(pairs: PairedChains, options: Options = PLAIN, document: str | None = None) -> tuple[str, Explanation]:
    """The entities of one document as CEAF-e matches them; without a name, those of the document with the lowest."""
    if document is None:
        figures = score(pairs, ["ceaf_e"], options)["ceaf_e"].documents
        document = min(figures, key=lambda name: figures[name]["f1"] or 0.0)
    return document, explainer(pairs, options)(document)


def explainer(pairs: PairedChains, options: Options = PLAIN) -> Callable[[str], Explanation]:
    """A function that explains any document; the mentions are prepared once."""
    from tallystick.results.explanation import explain_document
    from tallystick.tasks.coreference.mentions import entities_of, prepare

    prepared = prepare(pairs, options)
    names = prepared.documents

    def one(document: str) -> Explanation:
        if document not in names:
            raise MetricError(f"no document {document!r}; there are {len(names):,}.{did_you_mean(document, names)}")
        key, response = entities_of(pairs, prepared, names.index(document))
        return explain_document(__getattr__("CEAF_E"), key, response)

    return one


__all__ = [
    "EQUATIONS", "METRICS", "VARIANTS", "BlancLinks", "Metric", "Options", "evaluate", "explain", "score",
]  # fmt: skip
