"""An event document: its events, and what of the text is known (tokens, sentences, entities)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tallystick.structures.texts import AnnotatedMention, Event


@dataclass(frozen=True)
class EventDocument:
    """The events of a text. `sentences` is the sentence of each token; `entities` the spans of mentions by id."""

    events: tuple[Event, ...] = ()
    tokens: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()
    entities: Mapping[str, AnnotatedMention] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))


NOWHERE = -1
"""A text that stands nowhere in the document has offsets of its own below 0, so that it never equals another."""


def nowhere(number: int, text: str) -> AnnotatedMention:
    """The mention of a text that was not found, the `number`-th of its document."""
    return AnnotatedMention(NOWHERE - number, NOWHERE - number, text=text)


def sentence_numbers(lengths: Sequence[int]) -> tuple[int, ...]:
    """The sentence of each token."""
    return tuple(k for k, length in enumerate(lengths) for _ in range(length))
