"""Dependency parses (section 2.2)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tallystick.structures.holding import hold


@dataclass(frozen=True)
class Dependency:
    """An edge from a governor to its dependent, both by the index of the word; 0 governs the root."""

    gov: int
    dep: int
    rel: str


@dataclass(frozen=True)
class DependencyParse:
    """The edges of a sentence: the output of the task."""

    edges: Collection[Dependency] = ()

    def __post_init__(self) -> None:
        hold(self, "edges")
