"""Events: a trigger and its arguments (section 3.1). Semantic roles have the same shape: predicate and arguments."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tallystick.structures.holding import hold
from tallystick.structures.mentions import Mention


@dataclass(frozen=True)
class Trigger:
    """What evokes an event, and the event's type."""

    mention: Mention
    type: str


@dataclass(frozen=True)
class Argument:
    """A participant of an event, and its role."""

    mention: Mention
    role: str


@dataclass(frozen=True)
class Event:
    """A trigger with its arguments."""

    trig: Trigger
    args: Collection[Argument] = ()

    def __post_init__(self) -> None:
        hold(self, "args")


@dataclass(frozen=True)
class EventSet:
    """The events of a text: the output of the task."""

    events: Collection[Event] = ()

    def __post_init__(self) -> None:
        hold(self, "events")
