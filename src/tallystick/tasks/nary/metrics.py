"""N-ary relations of entities: SciREX as eq. 29 to 31 have it, and as its own scripts compute it.

    φ_Mention = ⟦J[δ] > ½⟧            two spans share more than half of their tokens                       (eq. 29)
    φ_RFE = ⟦P↔[δ_role × φ_Mention] > ½⟧   more than half of a predicted entity's mentions are the other's  (eq. 30)
    φ_Relation = ⟦F↔_args[φ_RFE] = 1⟧       all arguments meet                                             (eq. 31)

`clusters` is F↔[φ_RFE] over entities, `n2` and `n4` F↔[φ_Relation] over relations of two roles (each combination of two), and of
all four. Everything is matched one to one, and micro-averaged. SciREX's scripts do none of this: `scirex_clusters`, `scirex_n2`, `scirex_n4`
follow them (below).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1, precision
from tallystick.algebra.numbers import overlap
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.algebra.weights import above, at_least
from tallystick.engine.arrays import F64, I64
from tallystick.engine.tally import ratio
from tallystick.files.pairing import Paired, pair_values
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.structures.texts import Entity, IndexedMention, NAryRelation, RoleFillerEntity
from tallystick.tasks.metric import NamedMetric, choose, declare, score_expression, settings_line
from tallystick.tasks.named import Types
from tallystick.tasks.nary.files import ROLES, Relations, Span

MENTION = above(record(indices=overlap()), 0.5)
"""eq. 29; the Jaccard similarity of two ranges"""

ENTITY = record(mentions=precision(match(MENTION)))


NOTHING: Entity[IndexedMention] = Entity()
"""An entity that is not in the text"""


@frozen
class NaryOptions:
    """What may be different; every choice goes into the signature."""

    types: Types = field(default_factory=Types)
    roles: tuple[str, ...] = ()
    """The roles that relations have; all that occur, if none is named."""


PLAIN = NaryOptions()


@frozen
class RelationsView:
    """A document as the expressions look at it: entities in roles, and relations of n roles."""

    entities: tuple[RoleFillerEntity[IndexedMention], ...]
    relations: tuple[NAryRelation[IndexedMention], ...]


def expressions(sizes: Collection[int] = (2, 4), options: NaryOptions = PLAIN) -> dict[str, NamedMetric]:
    """F over entities (eq. 30), and over relations of so many roles (eq. 31). The relation's own type is compared too,
    where there is one."""
    type_, entity = options.types.similarity, above(ENTITY, 0.5)
    relation = record(type=type_, args=at_least(f1(match(record(role=exact, entity=entity))), 1))
    out = {
        "clusters": (
            f1(each(entities=match(record(role=type_, entity=entity)))),
            "entities, matched 1:1 (eq. 29, 30)",
        )
    }
    for n in sizes:
        out[f"n{n}"] = f1(each(relations=match(relation))), f"relations of {n} roles, matched 1:1 (eq. 29 to 31)"
    return declare(out)


def procedures(sizes: Collection[int] = (2, 4), roles: Sequence[str] = ROLES) -> dict[str, NamedMetric]:
    """SciREX's own figures, means over documents and over combinations of roles in a document."""
    found = [NamedMetric("scirex_clusters", "mean over documents", tally=cluster_rows)]
    for n in sizes:
        rows = partial(relation_rows, roles=roles, n=n)
        found.append(NamedMetric(f"scirex_n{n}", "mean over (combination of roles, document)", tally=rows))
    return {metric.name: metric for metric in found}


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), *, options: NaryOptions = PLAIN
) -> dict[str, Result]:
    """Score documents: two sequences, or mappings by id, of `tasks.nary.files.Relations`."""
    return score(pair_values(reference, predicted, Relations), metrics, options)


def score(pairs: Paired[Relations], metrics: Sequence[str] = (), options: NaryOptions = PLAIN) -> dict[str, Result]:
    """The equations' figures and SciREX's own, side by side."""
    roles = options.roles or roles_of((*pairs.reference, *pairs.predicted))
    sizes = sorted({2, len(roles)} & set(range(1, len(roles) + 1)))
    known = {**expressions(sizes, options), **procedures(sizes, roles)}
    width = {f"n{n}": n for n in sizes}

    def scored(metric: NamedMetric) -> Result:
        if metric.tally is not None:
            return Result(
                metric=metric.summary,
                kind=Means(),
                rows=metric.tally(pairs.reference, pairs.predicted),
                ids=pairs.ids,
                undefined=0.0,
                notes=pairs.warnings,
                settings="procedure=SciREX",
                name=f"nary.{metric.name}",
            )
        n = width.get(metric.name, len(roles))
        views = Paired(
            pairs.ids,
            tuple(view(document, roles, n, mentioned=True) for document in pairs.reference),
            tuple(view(document, roles, n) for document in pairs.predicted),
            pairs.warnings,
        )
        settings = settings_line(types=options.types.hierarchy)
        return score_expression(f"nary.{metric.name}", metric.node, views, settings=settings)

    return {name: scored(metric) for name, metric in choose(known, metrics, "nary").items()}


def roles_of(documents: Sequence[Relations]) -> tuple[str, ...]:
    """The roles that occur: SciREX's in its own order, others by name."""
    return in_order({role for document in documents for relation in document.relations for role in relation})


def in_order(found: Collection[str]) -> tuple[str, ...]:
    """Roles as they are named: SciREX's in its own order, others by name."""
    return (*(role for role in ROLES if role in found), *sorted(set(found) - set(ROLES)))


def view(document: Relations, roles: Sequence[str], n: int, *, mentioned: bool = False) -> RelationsView:
    """Entities as sets of ranges, shared by all relations they stand in, and the relations of n roles.

    With `mentioned` only relations whose entities are all mentioned in the text: no system could find another.
    """
    entities: dict[str, Entity[IndexedMention]] = {
        name: Entity(tuple(IndexedMention(range(*span)) for span in spans)) for name, spans in document.clusters.items()
    }
    slots: dict[str, str] = {}
    for relation in document.relations:
        for role, name in relation.items():
            slots.setdefault(name, role)
    fillers = []
    for name, entity in entities.items():
        spans = document.clusters[name]
        role = slots.get(name) or (document.spans.get(spans[0], "") if spans else "")
        fillers.append(RoleFillerEntity(role, entity))
    found = []
    for picked in combinations(roles, n):
        for type_ in dict.fromkeys(document.types):
            of_type = [r for r, t in zip(document.relations, document.types, strict=True) if t == type_]
            different = project(of_type, picked)
            for names in mentioned_in_text(different, document.clusters) if mentioned else different:
                args = tuple(
                    RoleFillerEntity(role, entities.get(name, NOTHING))
                    for role, name in zip(picked, names, strict=True)
                )
                found.append(NAryRelation(type_, args))
    return RelationsView(tuple(fillers), tuple(found))


# SciREX's own procedure (Jain et al. 2020), step by step, as its scripts do it:
#
# 1. Every predicted span becomes the *first* reference span, in the order of the file, with |∩| / |hull| > 0.5; else it stays.
# 2. Every predicted entity becomes the reference entity that has the largest share of its spans, if that is above a half. Many may
#    become one, and types do not matter.
# 3. Relations are compared as sets, for each combination of n roles by itself, after renaming.
# 4. P, R and F1 of a document (and combination) are means over documents (and combinations) that have a reference relation.
#
# It is no matching: which span is first decides, and nothing keeps two entities from becoming one. What comes out is a mean of figures,
# so a document's row holds sums of figures and their number, and rows add up as every tally does.
#
# Where its code fails or errs: an entity without a span (it divides by 0) becomes nothing; of two reference entities with equal shares
# the first of the document is taken (there, that of a hash); an unmatched entity that happens to be called as one of the
# reference's is not taken for it.

EPSILON = 1e-7
"""What SciREX adds to denominators, instead of deciding what 0/0 is."""


@frozen
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


def rename_entities(reference: Relations, predicted: Relations) -> dict[str, str]:
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
        names = rename_entities(gold, system)
        rows.append(unit(len(names), len(set(names.values())), len(system.clusters), len(gold.clusters)))
    return np.stack(rows) if rows else np.zeros((0, 7))


def relation_rows(reference: Sequence[Relations], predicted: Sequence[Relations], roles: Sequence[str], n: int) -> F64:
    """Relations of n roles: a document's units are the combinations for which the reference has something."""
    rows = []
    for gold, system in zip(reference, predicted, strict=True):
        names = rename_entities(gold, system)
        mapped = [
            {
                role: ("reference", names[name]) if name in names else ("predicted", name)
                for role, name in relation.items()
            }
            for relation in system.relations
        ]
        row = np.zeros(7)
        for chosen in combinations(roles, n):
            ours = mentioned_in_text(project(gold.relations, chosen), gold.clusters)
            theirs = {
                tuple(relation[role] for role in chosen) for relation in mapped if all(r in relation for r in chosen)
            }
            if ours:
                hits = len(theirs & {tuple(("reference", name) for name in relation) for relation in ours})
                row += unit(hits, hits, len(theirs), len(ours))
        rows.append(row)
    return np.stack(rows) if rows else np.zeros((0, 7))


def project(relations: Iterable[Mapping[str, str]], roles: Sequence[str]) -> list[tuple[str, ...]]:
    """The different relations, looked at in these roles only."""
    found = (
        tuple(relation[role] for role in roles) for relation in relations if all(role in relation for role in roles)
    )
    return list(dict.fromkeys(found))


def mentioned_in_text(
    relations: Iterable[tuple[str, ...]], clusters: Mapping[str, Sequence[Span]]
) -> list[tuple[str, ...]]:
    """Those whose entities are all mentioned in the text; SciREX asks a system for no other."""
    return [names for names in relations if all(clusters.get(name) for name in names)]


METRICS = {**expressions(), **procedures()}
"""What SciREX's four roles have; other relations have `n2` and as many roles as occur."""
