"""Figures by name, and those of one field or one label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Figures = dict[str, "float | None"]


@dataclass(frozen=True)
class FieldFigures:
    """What one path of the value earned and lost."""

    path: str
    figures: Figures
    tally: dict[str, float]
    support: int
    aligned: int
    wrong: int
    missing: int
    extra: int
    similarity: float | None
    diagnostic: bool


@dataclass(frozen=True)
class LabelFigures:
    """The figures of one label: precision by the predicted label, recall by the reference label."""

    label: Any
    figures: Figures
    tally: dict[str, float]
    support: float
