"""Binary relations (section 2.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tallystick.structures.holding import hold
from tallystick.structures.mentions import Mention


@dataclass(frozen=True)
class Relation:
    """A typed relation of two mentions: is-capital-of(London, United Kingdom)."""

    type: str
    subj: Mention
    obj: Mention


@dataclass(frozen=True)
class SymmetricRelation:
    """A relation whose two arguments have no order: is-married-to."""

    type: str
    args: Collection[Mention]

    def __post_init__(self) -> None:
        hold(self, "args")


@dataclass(frozen=True)
class RelationSet:
    """The relations of a text: the output of the task."""

    relations: Collection[Relation] = ()

    def __post_init__(self) -> None:
        hold(self, "relations")


@dataclass(frozen=True)
class Fact:
    """A relation of two entities of a document, by their numbers, and the sentences that say so (DocRED)."""

    type: str
    subj: int
    obj: int
    evidence: Collection[int] = ()
    seen: Collection[str] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        hold(self, "evidence")
        hold(self, "seen")


@dataclass(frozen=True)
class FactSet:
    """The facts of a document."""

    facts: Collection[Fact] = ()

    def __post_init__(self) -> None:
        hold(self, "facts")
