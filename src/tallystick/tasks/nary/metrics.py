"""N-ary relations of entities: SciREX as eq. 29 to 31 have it, and as its own scripts compute it.

    φ_Mention = ⟦J[δ] > ½⟧            two spans share more than half of their tokens                       (eq. 29)
    φ_RFE = ⟦P↔[δ_role × φ_Mention] > ½⟧   more than half of a predicted entity's mentions are the other's  (eq. 30)
    φ_Relation = ⟦F↔_args[φ_RFE] = 1⟧       all arguments meet                                             (eq. 31)

`clusters` is F↔[φ_RFE] over entities, `n2` and `n4` F↔[φ_Relation] over relations of two roles (each combination of two), and of
all four. Everything is matched one to one, and micro-averaged. SciREX's scripts do none of this (see `scirex`): `scirex_clusters`,
`scirex_n2`, `scirex_n4`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1, precision
from tallystick.algebra.numbers import overlap
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.algebra.weights import above, at_least
from tallystick.engine.arrays import F64
from tallystick.files.pairing import Paired, pair_values
from tallystick.results.result import Result
from tallystick.structures.texts import Entity, IndexedMention, NAryRelation, RoleFillerEntity
from tallystick.tasks.named import Named, Types, chosen, run, settings_line
from tallystick.tasks.nary import scirex
from tallystick.tasks.nary.files import ROLES, Relations
from tallystick.tasks.nary.scirex import Means

MENTION = above(record(indices=overlap()), 0.5)
"""eq. 29; the Jaccard similarity of two ranges"""

ENTITY = record(mentions=precision(match(MENTION)))


NOTHING: Entity[IndexedMention] = Entity()
"""An entity that is nowhere in the text"""


@dataclass(frozen=True)
class Options:
    """What may be different; every choice goes into the signature."""

    types: Types = field(default_factory=Types)
    roles: tuple[str, ...] = ()
    """The roles that relations have; all that occur, if none is named."""


PLAIN = Options()


@dataclass(frozen=True)
class RelationsView:
    """A document as the expressions look at it: entities in roles, and relations of n roles."""

    entities: tuple[RoleFillerEntity[IndexedMention], ...]
    relations: tuple[NAryRelation[IndexedMention], ...]


def clusters(options: Options = PLAIN) -> Named:
    """F over entities (eq. 30)."""
    filler = record(role=options.types.similarity, entity=above(ENTITY, 0.5))
    return Named(f1(each(entities=match(filler))), "entities, matched 1:1 (eq. 29, 30)")


def relations(n: int, options: Options = PLAIN) -> Named:
    """F over relations of n roles (eq. 31). The relation's own type is compared too, where there is one."""
    filler = record(role=exact, entity=above(ENTITY, 0.5))
    phi = record(type=options.types.similarity, args=at_least(f1(match(filler)), 1))
    return Named(f1(each(relations=match(phi))), f"relations of {n} roles, matched 1:1 (eq. 29 to 31)")


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), *, options: Options = PLAIN
) -> dict[str, Result]:
    """Score documents: two sequences, or mappings by id, of `reading.nary.Relations`."""
    return score(pair_values(reference, predicted), metrics, options)


def score(pairs: Paired[Relations], metrics: Sequence[str] = (), options: Options = PLAIN) -> dict[str, Result]:
    """The equations' figures and SciREX's own, side by side."""
    roles = options.roles or roles_of((*pairs.reference, *pairs.predicted))
    sizes = sorted({2, len(roles)} & set(range(1, len(roles) + 1)))
    settings = settings_line(types=options.types.hierarchy)

    def by_equation(name: str, metric: Named, n: int) -> Result:
        reference = [view(document, roles, n, said=True) for document in pairs.reference]
        predicted = [view(document, roles, n) for document in pairs.predicted]
        return run(
            "nary", name, metric.expression, pairs.ids, reference, predicted, notes=pairs.warnings, settings=settings
        )

    def by_procedure(name: str, rows: Callable[..., F64]) -> Result:
        return Result(
            metric="mean over " + ("documents" if name.endswith("clusters") else "(combination of roles, document)"),
            kind=Means(),
            rows=rows(pairs.reference, pairs.predicted),
            ids=pairs.ids,
            undefined=0.0,
            notes=pairs.warnings,
            settings="procedure=SciREX",
            name=f"nary.{name}",
        )

    known: dict[str, Callable[[], Result]] = {
        "clusters": partial(by_equation, "clusters", clusters(options), len(roles))
    }
    for n in sizes:
        known[f"n{n}"] = partial(by_equation, f"n{n}", relations(n, options), n)
    known["scirex_clusters"] = partial(by_procedure, "scirex_clusters", scirex.cluster_rows)
    for n in sizes:
        known[f"scirex_n{n}"] = partial(by_procedure, f"scirex_n{n}", partial(scirex.relation_rows, roles=roles, n=n))
    return {name: compute() for name, compute in chosen(known, metrics, "nary").items()}


def roles_of(documents: Sequence[Relations]) -> tuple[str, ...]:
    """The roles that occur: SciREX's in its own order, others by name."""
    return in_order({role for document in documents for relation in document.relations for role in relation})


def in_order(found: Collection[str]) -> tuple[str, ...]:
    """Roles as they are named: SciREX's in its own order, others by name."""
    return (*(role for role in ROLES if role in found), *sorted(set(found) - set(ROLES)))


def view(document: Relations, roles: Sequence[str], n: int, *, said: bool = False) -> RelationsView:
    """Entities as sets of ranges, shared by all relations they stand in, and the relations of n roles.

    With `said` only relations whose entities are all mentioned in the text: no system could find another.
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
            different = scirex.projected(of_type, picked)
            for names in scirex.said(different, document.clusters) if said else different:
                args = tuple(
                    RoleFillerEntity(role, entities.get(name, NOTHING))
                    for role, name in zip(picked, names, strict=True)
                )
                found.append(NAryRelation(type_, args))
    return RelationsView(tuple(fillers), tuple(found))
