"""Coreference: entities as collections of mentions (section 3.2).

B³ looks at each mention with the entity it belongs to, and needs the same data in another shape (the paper's
`CorefOutputForB3`, here `MembershipSet`):

    EntitySet   {a, b}  {c}        memberships()        (a, {a, b})  (b, {a, b})  (c, {c})
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from tallystick.structures.holding import hold
from tallystick.structures.mentions import Mention

M = TypeVar("M", default=Mention)


@dataclass(frozen=True)
class Entity(Generic[M]):
    """Mentions that refer to one thing."""

    mentions: Collection[M] = ()

    def __post_init__(self) -> None:
        hold(self, "mentions")


@dataclass(frozen=True)
class Membership(Generic[M]):
    """A mention with the entity it belongs to."""

    mention: M
    entity: Entity[M]


@dataclass(frozen=True)
class MembershipSet(Generic[M]):
    """The memberships of all mentions: the output of the task as B³ looks at it."""

    rels: Collection[Membership[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "rels")


@dataclass(frozen=True)
class EntitySet(Generic[M]):
    """The entities of a text: the output of the task."""

    entities: Collection[Entity[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "entities")

    def memberships(self) -> MembershipSet[M]:
        """Each mention with its entity. An entity is shared by its memberships, so that it is scored once."""
        return MembershipSet(tuple(Membership(mention, one) for one in self.entities for mention in one.mentions))
