"""Binary relations (section 2.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tallystick.structures.holding import hold
from tallystick.structures.mentions import Mention


@dataclass(frozen=True)
class Relation:
    """A typed relation of two mentions: is-capital-of(London, United Kingdom)."""

    type: str
    subj: Mention
    obj: Mention


@dataclass(frozen=True)
class RelationSet:
    """The relations of a text: the output of the task."""

    relations: Collection[Relation] = ()

    def __post_init__(self) -> None:
        hold(self, "relations")
