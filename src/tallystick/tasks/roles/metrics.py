"""Role-filler entities: CEAF-REE and its kin (eq. 25 to 28), and grit's implementation.

    ceaf_ree      F↔_args[δ_role × φ_⊆]     a predicted entity counts if it is not empty and lies inside the reference's
    ree_phi3      F↔_args[δ_role × φ_3]     mentions in common
    ree_phi4      F↔_args[δ_role × φ_4]     their F1: credit in part, which section 6 asks for
    rme_subset    F→_args[δ_role × φ_⊆]     predicted mentions one by one, many for one entity
    rme_phi3      F→_args[δ_role × φ_3]

For N:1, recall counts an entity once however often it is hit ("covered"); `_literal` has one Σ for both sides, as eq. 27 is
printed. In eq. 28 an entity is worth as much as it has mentions, and each predicted mention finds one: there one Σ is right,
and the covered one is the variant.

grit (Du et al. 2021a) scores strings without case, punctuation and articles; so do all of these, unless asked otherwise. Two
things in its code are not in its paper, and a third is a trap:

- φ of an empty predicted entity is 1 (`for m in pred: if m not in gold: return 0`), so that an empty prediction is right.
  `grit_strict` has that, `ceaf_ree` has not.
- only roles and documents of the gold file are looked at: a predicted role that the gold does not have costs nothing. Here it
  costs precision, since a side's denominator is its own.
- `docids=[]` as a default argument remembers the documents of the first call for the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import f1, precision, subset
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.algebra.text import normalise_text
from tallystick.files.pairing import Paired, pair_values
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.structures.texts import Entity, NAryRelation, RoleFillerEntity, TextMention
from tallystick.tasks.metric import Entry, NamedMetric, choose, declare, score_expression, settings_line
from tallystick.tasks.named import Types, steps_named, weigh_by_kind


@frozen
class RoleOptions:
    """What may be different; every choice goes into the signature."""

    strings: str = "grit"
    types: Types = field(default_factory=Types)
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        steps_named(self.strings)


PLAIN = RoleOptions()

SINGLY = "mentions"
"""The view of metrics that take predicted entities apart into their mentions."""


@frozen
class RoleMention:
    """A mention in a role: the task at the level of mentions (footnote 15)."""

    role: str
    mention: TextMention


@frozen
class RolesView:
    """A document as the expressions look at it: entities, and mentions by themselves."""

    args: tuple[RoleFillerEntity[TextMention], ...]
    mentions: tuple[RoleMention, ...]


def expressions(options: RoleOptions = PLAIN) -> dict[str, NamedMetric]:
    """Every metric of the task."""
    role = options.types.similarity
    mention = weigh_by_kind(record(text=exact), options.weights)

    def over(entity: Similarity, constraint: str = "1:1", literal: bool = False) -> Node:
        fillers = record(role=role, entity=record(mentions=entity))
        return f1(each(args=match(fillers, constraint, literal=literal)))

    out: dict[str, Entry] = {
        "ceaf_ree": (over(subset(mention)), "CEAF-REE (eq. 26): predicted entities that lie inside a reference entity"),
        "ree_phi3": (over(match(mention)), "CEAF-REE with φ3: mentions in common"),
        "ree_phi4": (over(f1(match(mention))), "CEAF-REE with φ4: F1 of mentions"),
        "rme_subset": (over(subset(mention), "N:1"), "CEAF-RME-⊆ (eq. 27): predicted mentions, reference entities covered", SINGLY),
        "rme_subset_literal": (over(subset(mention), "N:1", True), "CEAF-RME-⊆ as printed: one Σ, recall can pass 1", SINGLY),
        "rme_phi3": (over(match(mention), "N:1", True), "CEAF-RME-φ3 (eq. 28): predicted mentions, reference mentions found", SINGLY),
        "rme_phi3_covered": (over(match(mention), "N:1"), "CEAF-RME-φ3 where recall counts the best mention of an entity", SINGLY),
        "mentions": (
            f1(each(mentions=match(record(role=role, mention=mention), distinct=True))),
            "mentions in roles (footnote 15)",
        ),
        "grit_strict": (over(subset(mention, empty=True)), "grit: CEAF-REE, where an empty prediction is right"),
        "grit_prop": (over(precision(match(mention))), "grit: the share of a predicted entity's mentions"),
    }  # fmt: skip
    return declare(out)


METRICS = expressions()


def evaluate(
    reference: Any, predicted: Any, metrics: Sequence[str] = (), *, options: RoleOptions = PLAIN
) -> dict[str, Result]:
    """Score documents: two sequences, or mappings by id, of {role: [[mention, ...], ...]} or NAryRelation."""
    return score(pair_values(reference, predicted, Mapping, NAryRelation), metrics, options)


def score(pairs: Paired[Any], metrics: Sequence[str] = (), options: RoleOptions = PLAIN) -> dict[str, Result]:
    """All metrics, or those that are asked for."""
    read = steps_named(options.strings)
    reference = tuple(_view(document, read, singly=False) for document in pairs.reference)
    empty = sum(not arg.entity.mentions for view in reference for arg in view.args)
    notes = pairs.warnings
    if empty:
        notes += (f"{empty:,} reference entities without a mention were left out: nothing can be inside them",)
        reference = tuple(
            RolesView(tuple(arg for arg in view.args if arg.entity.mentions), view.mentions) for view in reference
        )
    whole, single = (
        Paired(pairs.ids, reference, tuple(_view(one, read, singly=singly) for one in pairs.predicted), notes)
        for singly in (False, True)
    )
    settings = settings_line(
        strings=options.strings, types=options.types.hierarchy, informativity=dict(options.weights) or ""
    )
    return {
        name: score_expression(
            f"roles.{name}",
            metric.node,
            single if metric.view == SINGLY else whole,
            settings=settings + (", predicted=mentions" if metric.view == SINGLY else ""),
        )
        for name, metric in choose(expressions(options), metrics, "roles").items()
    }


def _view(document: Any, read: tuple[str, ...], *, singly: bool) -> RolesView:
    """Strings as they are compared; an entity is a set of them."""
    args = []
    for arg in _relation(document).args:
        mentions = tuple(
            {
                key.text: key for key in (_mention(mention, read) for mention in reversed(tuple(arg.entity.mentions)))
            }.values()
        )
        mentions = mentions[::-1]
        if singly:
            args += [RoleFillerEntity(arg.role, Entity((mention,))) for mention in mentions]
        else:
            args.append(RoleFillerEntity(arg.role, Entity(mentions)))
    single = tuple(RoleMention(arg.role, mention) for arg in args for mention in arg.entity.mentions)
    return RolesView(tuple(args), single)


def _relation(document: Any) -> NAryRelation[Any]:
    if document is None:
        return NAryRelation("")
    if isinstance(document, NAryRelation):
        return document
    return NAryRelation(
        "",
        tuple(
            RoleFillerEntity(role, Entity(tuple(entity))) for role, entities in document.items() for entity in entities
        ),
    )


def _mention(mention: Any, steps: tuple[str, ...]) -> TextMention:
    if isinstance(mention, TextMention):
        return TextMention(normalise_text(mention.text, steps), mention.kind)
    return TextMention(normalise_text(mention, steps) if isinstance(mention, str) else str(mention))
