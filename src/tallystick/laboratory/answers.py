"""What the properties share: how a score, a pair of structures and a broken metric are shown."""

from __future__ import annotations

from typing import Any

from tallystick.laboratory.curves import TOLERANCE
from tallystick.laboratory.experiments import Failure, Laboratory, State
from tallystick.laboratory.subjects import Scored

SMALL = (1, 2, 3, 4)
WALKED = (2, 3, 4, 5, 6, 8)
FIGURES = ("precision", "recall", "f1", "score", "overall", "overall_score", "jaccard", "accuracy")
"""Figures that are 1 where everything is right, whatever else a function gives."""


def shown(value: float | None) -> str:
    """A score in words."""
    return "undefined" if value is None else f"{value:.4g}"


def pair(lab: Laboratory, state: State, **more: Any) -> tuple[tuple[str, Any], ...]:
    """The structures that a failure is shown with, by name."""
    names = ("reference", "predicted")
    built = [(name, lab.subject.space.build(one)) for name, one in zip(names, state, strict=False)]
    return (*built, *((name.replace("_", " "), lab.subject.space.build(one)) for name, one in more.items()))


def raised(lab: Laboratory, state: State, *scored: Scored) -> Failure | None:
    """A failure if scoring raised something."""
    error = next((one.error for one in scored if one.error), "")
    return Failure(f"raises {error}", pair(lab, state)) if error else None


def equal(a: float | None, b: float | None) -> bool:
    """Whether two scores are the same; undefined equals undefined only."""
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= TOLERANCE
