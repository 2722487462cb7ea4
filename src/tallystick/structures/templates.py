"""Templates, whose slots take any number of fillers of any type (section 3.4).

A metric can be derived from them once the fillers' type is said: `TemplateSet[Entity[str]]`, or a union such as
`TemplateSet[Entity[str] | bool]`, which is compared case by case.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar

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


@dataclass(frozen=True)
class TemplateSet(Generic[T]):
    """The templates of a text: the output of the task."""

    templates: Collection[Template[T]] = ()

    def __post_init__(self) -> None:
        hold(self, "templates")
