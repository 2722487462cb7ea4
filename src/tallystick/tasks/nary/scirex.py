"""SciREX's own procedure (Jain et al. 2020), step by step, as its scripts do it:

1. Every predicted span becomes the *first* reference span, in the order of the file, with |∩| / |hull| > 0.5; else it stays.
2. Every predicted entity becomes the reference entity that has the largest share of its spans, if that is above a half. Many may
   become one, and types do not matter.
3. Relations are compared as sets, for each combination of n roles by itself, after renaming.
4. P, R and F1 of a document (and combination) are means over documents (and combinations) that have a reference relation.

It is no matching: which span is first decides, and nothing keeps two entities from becoming one. What comes out is a mean of figures,
so a document's row holds sums of figures and their number, and rows add up as every tally does.

Where its code fails or errs: an entity without a span (it divides by 0) becomes nothing; of two reference entities with equal shares
the first of the document is taken (there, that of a hash); an unmatched entity that happens to be called as one of the
reference's is not taken for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tallystick.engine.arrays import F64, I64
from tallystick.engine.tally import ratio
from tallystick.tasks.nary.files import Relations, Span

EPSILON = 1e-7
"""What SciREX adds to denominators, instead of deciding what 0/0 is."""


@dataclass(frozen=True)
class Means:
    """Figures that are means over units: sums of the units' figures and their number; the counts are for information."""

    headline: str = "f1"
    average: str = "macro"

    @property
    def sums(self) -> tuple[str, ...]:
        return ("precision", "recall", "f1", "units", "matched", "predicted", "reference")

    def figures(self, sums: F64) -> dict[str, F64]:
        return {name: ratio(sums[..., k], sums[..., 3]) for k, name in enumerate(self.sums[:3])}


def unit(hits: int, covered: int, predicted: int, reference: int) -> F64:
    """One unit's row."""
    p, r = hits / (predicted + EPSILON), covered / (reference + EPSILON)
    return np.array([p, r, 2 * p * r / (p + r + EPSILON), 1, hits, predicted, reference])


def first_alike(spans: Sequence[Span], others: Sequence[Span]) -> I64:
    """For each span the first of the others that shares more than half of their common hull, or -1."""
    if not spans or not others:
        return np.full(len(spans), -1, np.int64)
    a, b = np.array(spans, np.float64), np.array(others, np.float64)
    shared = np.minimum(a[:, None, 1], b[None, :, 1]) - np.maximum(a[:, None, 0], b[None, :, 0])
    hull = np.maximum(a[:, None, 1], b[None, :, 1]) - np.minimum(a[:, None, 0], b[None, :, 0])
    alike = shared / hull > 0.5
    return np.where(alike.any(axis=1), alike.argmax(axis=1), -1)


def renamed(reference: Relations, predicted: Relations) -> dict[str, str]:
    """The reference entity that each predicted entity becomes."""
    gold = list(reference.spans)
    spans = list(dict.fromkeys(span for cluster in predicted.clusters.values() for span in cluster))
    place = first_alike(spans, gold)
    becomes = {span: gold[k] if k >= 0 else span for span, k in zip(spans, place.tolist(), strict=True)}
    out = {}
    for name, cluster in predicted.clusters.items():
        mapped = {becomes[span] for span in cluster}
        if not mapped:
            continue
        shares = {other: len(mapped.intersection(found)) / len(mapped) for other, found in reference.clusters.items()}
        best = max(shares, key=shares.__getitem__, default=None)  # the first of the best
        if best is not None and shares[best] > 0.5:
            out[name] = best
    return out


def cluster_rows(reference: Iterable[Relations], predicted: Iterable[Relations]) -> F64:
    """Entities: matched predicted ones, and reference ones that something was matched with."""
    rows = []
    for gold, system in zip(reference, predicted, strict=True):
        names = renamed(gold, system)
        rows.append(unit(len(names), len(set(names.values())), len(system.clusters), len(gold.clusters)))
    return np.stack(rows) if rows else np.zeros((0, 7))


def relation_rows(reference: Sequence[Relations], predicted: Sequence[Relations], roles: Sequence[str], n: int) -> F64:
    """Relations of n roles: a document's units are the combinations for which the reference has something."""
    rows = []
    for gold, system in zip(reference, predicted, strict=True):
        names = renamed(gold, system)
        mapped = [
            {
                role: ("reference", names[name]) if name in names else ("predicted", name)
                for role, name in relation.items()
            }
            for relation in system.relations
        ]
        row = np.zeros(7)
        for chosen in combinations(roles, n):
            ours = said(projected(gold.relations, chosen), gold.clusters)
            theirs = {
                tuple(relation[role] for role in chosen) for relation in mapped if all(r in relation for r in chosen)
            }
            if ours:
                hits = len(theirs & {tuple(("reference", name) for name in relation) for relation in ours})
                row += unit(hits, hits, len(theirs), len(ours))
        rows.append(row)
    return np.stack(rows) if rows else np.zeros((0, 7))


def projected(relations: Iterable[Mapping[str, str]], roles: Sequence[str]) -> list[tuple[str, ...]]:
    """The different relations, looked at in these roles only."""
    found = (
        tuple(relation[role] for role in roles) for relation in relations if all(role in relation for role in roles)
    )
    return list(dict.fromkeys(found))


def said(relations: Iterable[tuple[str, ...]], clusters: Mapping[str, Sequence[Span]]) -> list[tuple[str, ...]]:
    """Those whose entities are all mentioned in the text; SciREX asks a system for no other."""
    return [names for names in relations if all(clusters.get(name) for name in names)]
