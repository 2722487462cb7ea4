"""Templates, whose slots take any number of fillers of any type (section 3.4).

A metric can be derived from them once the fillers' type is said: `TemplateSet[Entity[str]]`, or a union such as
`TemplateSet[Entity[str] | bool]`, which is compared case by case.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar

from tallystick.structures.coreference import Entity
from tallystick.structures.holding import hold

T = TypeVar("T", default=Any)


@dataclass(frozen=True)
class SlotFiller(Generic[T]):
    """A value in a slot: a mention, an entity, an event, a truth value, ..."""

    slot: str
    value: T


@dataclass(frozen=True)
class Template(Generic[T]):
    """A typed frame with its fillers."""

    type: str
    fillers: Collection[SlotFiller[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "fillers")

    def with_type(self, slot: str = "type") -> Template[Any]:
        """The type as a filler like the others, an entity of its alternatives: what counts the type as a slot."""
        own: SlotFiller[Any] = SlotFiller(slot, Entity(alternatives(self.type)))
        return Template(self.type, (own, *self.fillers))

    def by_mention(self) -> Template[Any]:
        """Each mention as an entity of its own, in its entity's slot: how Chen et al. look at a prediction."""
        single = (SlotFiller(f.slot, Entity((mention,))) for f in self.fillers for mention in f.value.mentions)  # type: ignore[attr-defined]
        return Template(self.type, tuple(single))


def alternatives(type_: str) -> tuple[str, ...]:
    """`attack / bombing`, as MUC-4's keys write it, is either of the two."""
    return tuple(part.strip() for part in type_.split("/"))


@dataclass(frozen=True)
class TemplateSet(Generic[T]):
    """The templates of a text: the output of the task."""

    templates: Collection[Template[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "templates")

    def with_types(self, slot: str = "type") -> TemplateSet[Any]:
        """The type of each template as one of its fillers."""
        return TemplateSet(tuple(template.with_type(slot) for template in self.templates))

    def by_mention(self) -> TemplateSet[Any]:
        """Each mention as an entity of its own."""
        return TemplateSet(tuple(template.by_mention() for template in self.templates))
