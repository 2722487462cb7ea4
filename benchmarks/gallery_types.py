"""What a document of each field of the gallery looks like, for `tallystick check`: small values, so that counterexamples are.

tallystick check 'f1(each(clusters=information(match(exact))))' --type benchmarks/gallery_types.py:CLUSTERS
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from tallystick.laboratory.named import EntitySpace


class Area(NamedTuple):
    """A box."""

    x: Literal[0, 1, 2, 6]
    y: Literal[0, 1]
    width: Literal[2, 3, 4]
    height: Literal[2, 3]


class Span(NamedTuple):
    """From a moment to another one."""

    start: Literal[0, 1, 2, 3]
    end: Literal[4, 5, 6, 9]


@dataclass(frozen=True)
class Thing:
    """An object in a picture; a reference needs no score."""

    category: Literal["cat", "dog"]
    box: Area
    score: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9]
    crowd: Literal[0]


@dataclass(frozen=True)
class Picture:
    """For detection."""

    objects: list[Thing]


@dataclass(frozen=True)
class Seen:
    """Where a track is in a frame."""

    frame: Literal[0, 1, 2, 3, 4, 5]
    box: Area


@dataclass(frozen=True)
class Video:
    """For tracking."""

    tracks: list[frozenset[Seen]]


@dataclass(frozen=True)
class Turn:
    """Somebody speaks."""

    speaker: Literal["A", "B", "C"]
    time: Span


@dataclass(frozen=True)
class Talk:
    """For diarisation."""

    turns: list[Turn]


@dataclass(frozen=True)
class Speakers:
    """For the Jaccard error rate."""

    speakers: list[list[Span]]


@dataclass(frozen=True)
class Sound:
    """An event."""

    label: Literal["car", "dog", "rain"]
    time: Span


@dataclass(frozen=True)
class Recording:
    """For sound events."""

    events: list[Sound]


@dataclass(frozen=True)
class Note:
    """A note, by its pitch in Hz."""

    time: Span
    pitch: Literal[220, 440, 450, 466]


@dataclass(frozen=True)
class Music:
    """For transcriptions."""

    notes: list[Note]


@dataclass(frozen=True)
class Bracket:
    """A constituent."""

    label: Literal["NP", "VP", "S"]
    start: Literal[0, 1, 2]
    end: Literal[3, 4, 5]


@dataclass(frozen=True)
class Sentence:
    """For constituents."""

    brackets: list[Bracket]


@dataclass(frozen=True)
class Role:
    """An argument."""

    predicate: Literal[0, 1, 2]
    role: Literal["A0", "A1", "AM"]
    span: Span


@dataclass(frozen=True)
class Arguments:
    """For semantic roles."""

    arguments: list[Role]


@dataclass(frozen=True)
class Dialogue:
    """For dialogue states."""

    turns: list[dict[str, str]]


@dataclass(frozen=True)
class Paper:
    """For key phrases."""

    phrases: list[str]


@dataclass(frozen=True)
class Fact:
    """A triple."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Text:
    """For triples."""

    triples: list[Fact]


@dataclass(frozen=True)
class Grid:
    """A table of two columns."""

    rows: list[tuple[str, str]]


CLUSTERS = EntitySpace(lambda value: {"clusters": [list(cluster) for cluster in value]})
"""For clusters, in which no item is twice."""
