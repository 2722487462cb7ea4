"""What happened to predictions on their way in: repaired, of the wrong kind, under unknown keys, not to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import counted

MOST_LISTED = 1000
"""So many predictions that cannot be read are listed by name; all are counted."""


@dataclass
class Findings:
    """What happened to predictions on their way in: repairs by kind, values that did not fit, what could not be read."""

    repairs: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    misfits: Counter[str] = field(default_factory=Counter)
    first_misfit: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    first_unknown: str = ""
    unknown_counts: bool = True
    invalid: list[tuple[Any, str]] = field(default_factory=list)
    invalids: int = 0
    unread: int = 0
    first_unread: str = ""

    def add_invalid(self, key: Any, reason: str) -> None:
        """Count what could not be read; the first ones are listed."""
        self.invalids += 1
        if len(self.invalid) < MOST_LISTED:
            self.invalid.append((key, reason))

    def add(self, other: Findings) -> None:
        """Put what was found in a later part of the file behind this."""
        self.repairs.update(other.repairs)
        self.repaired += other.repaired
        self.misfits.update(other.misfits)
        self.first_misfit = self.first_misfit or other.first_misfit
        self.unknown.update(other.unknown)
        self.first_unknown = self.first_unknown or other.first_unknown
        self.unknown_counts = other.unknown_counts
        self.invalid += other.invalid[: MOST_LISTED - len(self.invalid)]
        self.invalids += other.invalids
        self.unread += other.unread
        self.first_unread = self.first_unread or other.first_unread

    def note_unknown(self, key: Any, path: str, value: Any, times: int = 1) -> None:
        """Remember values under a key that the shape does not know."""
        self.unknown[path] += times
        self.first_unknown = self.first_unknown or f"document {key}: {path}: {value!r:.40}"

    def lines(self) -> Iterator[str]:
        """What a person is told."""
        if self.repaired:
            kinds = ", ".join(f"{kind} {times:,}" for kind, times in self.repairs.most_common())
            yield f"repaired: {counted(self.repaired, 'prediction')} ({kinds})"
        if self.misfits:
            total = sum(self.misfits.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.misfits.most_common(5))
            yield f"of the wrong kind, counted as wrong: {counted(total, 'value')} ({where}); the first: {self.first_misfit}"
        if self.unknown:
            total = sum(self.unknown.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.unknown.most_common(5))
            where += f" and {len(self.unknown) - 5:,} more" if len(self.unknown) > 5 else ""
            how = "counted as extra (--unknown ignore leaves them out)" if self.unknown_counts else "ignored"
            yield (
                f"under keys that the reference does not have, {how}: {counted(total, 'value')} ({where}); "
                f"the first: {self.first_unknown}"
            )
        if self.invalid:
            listed = "; ".join(f"{key}: {reason}" for key, reason in self.invalid[:5])
            more = f"; and {self.invalids - 5:,} more" if self.invalids > 5 else ""
            yield f"invalid, scoring nothing: {counted(self.invalids, 'prediction')} ({listed}{more})"
        if self.unread:
            yield f"cannot be read, and nobody's prediction: {counted(self.unread, 'line')}, the first: {self.first_unread}"

    def as_dict(self) -> dict[str, Any]:
        """The same for the JSON output."""
        return {
            "repaired": {"predictions": self.repaired, **self.repairs},
            "misfits": dict(self.misfits),
            "unknown": dict(self.unknown),
            "invalids": self.invalids,
            "unread": self.unread,
            "invalid": [{"document": key, "reason": reason} for key, reason in self.invalid],
        }
