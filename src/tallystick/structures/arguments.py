"""Event arguments as texts: what fills which role of which event, and what else is known of the document.

An argument may have a place (a span of tokens) or not: generated ones often have only their text. Events are known by an
id, which both sides share: given by the file, or the trigger's span with the event's type.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.structures.holding import hold
from tallystick.structures.parses import Parse

Span = tuple[int, int]
"""First and last token, both inclusive."""


@dataclass(frozen=True)
class EventArgument:
    """A text in a role of an event."""

    event: str
    role: str
    text: str
    span: Span | None = None


@dataclass(frozen=True)
class DescribedEvent:
    """An event: its id, and what a judge is told about it."""

    id: str
    type: str = ""
    trigger: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class ArgumentDocument:
    """The arguments of one text. `sentences` is the sentence of each token; `parse` serves the modifiers."""

    arguments: tuple[EventArgument, ...] = ()
    events: tuple[DescribedEvent, ...] = ()
    tokens: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()
    parse: Parse | None = None

    def __post_init__(self) -> None:
        for name in ("arguments", "events", "tokens", "sentences"):
            hold(self, name)
