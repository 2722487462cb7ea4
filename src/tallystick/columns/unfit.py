"""What stands where a prediction has a value of the wrong kind, if the reader was asked to go on.

It equals nothing, so that it counts as a wrong value: neither as a missing one nor as the end of the evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unfit:
    """A predicted value that is not of the kind that its place asks for."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))

    def __float__(self) -> float:
        return float("inf")  # near to no number that JSON can hold


@dataclass(frozen=True)
class Invalid:
    """A whole prediction that cannot be read: it scores nothing, and is listed."""

    reason: str
    text: str = ""


@dataclass(frozen=True)
class Surplus:
    """A prediction that has values under keys that its shape does not know: each leaf with the path of its key."""

    value: Any
    leaves: tuple[tuple[str, Any], ...]


class _Absent:
    """A key that is not there, where that is not the same as null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
