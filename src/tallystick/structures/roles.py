"""Role-filler entities and N-ary relations (section 3.3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic

from tallystick.structures.coreference import Entity, M
from tallystick.structures.holding import hold


@dataclass(frozen=True)
class RoleFillerEntity(Generic[M]):
    """An entity in a role."""

    role: str
    entity: Entity[M]


@dataclass(frozen=True)
class NAryRelation(Generic[M]):
    """A relation of any number of entities, each in its role. Role-filler entity extraction puts out a single one."""

    type: str
    args: Collection[RoleFillerEntity[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "args")

    def by_mention(self) -> NAryRelation[M]:
        """Each mention as an entity of its own, in its entity's role: how eq. 27 and 28 look at a prediction."""
        single = (RoleFillerEntity(a.role, Entity((mention,))) for a in self.args for mention in a.entity.mentions)
        return NAryRelation(self.type, tuple(single))


@dataclass(frozen=True)
class NAryRelationSet(Generic[M]):
    """The relations of a text: the output of the task."""

    relations: Collection[NAryRelation[M]] = ()

    def __post_init__(self) -> None:
        hold(self, "relations")
