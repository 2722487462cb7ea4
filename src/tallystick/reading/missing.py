"""Documents that a system did not answer.

A document that stands on one side only is an error where nothing else was asked for. A comparison may ask for
something else: what a system did not answer counts as an empty answer, or is left out for all systems. Either way a
pairing goes on as if the answer were empty and notes which documents those were; a predicted document that the
reference does not have cannot be scored, so it is ignored, and noted too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import some


@dataclass
class Missing:
    """What was asked for, and, after a pairing, which documents were missing and which are ignored."""

    policy: str = "error"
    unanswered: list[Any] = field(default_factory=list)
    ignored: list[Any] = field(default_factory=list)
    remedy: str = ""
    """What could be asked for, after documents on one side only were an error."""

    @property
    def asked(self) -> bool:
        """Whether documents on one side only are allowed, and told by `notes`."""
        return self.policy != "error"

    def allows(self, unanswered: Iterable[object], extra: Iterable[object]) -> bool:
        """Notes documents that stand on one side only; False if that is an error."""
        if not self.asked:
            if list(unanswered):
                self.remedy = (
                    "--missing empty counts what a system did not answer as empty answers, --missing intersect leaves it out "
                    "for all systems"
                )
            elif list(extra):
                self.remedy = "--missing empty or --missing intersect ignores what the reference does not have"
            return False
        self.unanswered += unanswered
        self.ignored += extra
        return True

    def notes(self, system: str) -> list[str]:
        """What is to be said about one system."""
        fate = "left out for all systems" if self.policy == "intersect" else "counted as empty answers"
        return [
            f"{system}: {len(names):,} document{'' if len(names) == 1 else 's'} {what}: {some(names)}"
            for names, what in (
                (self.unanswered, f"not answered, {fate}"),
                (self.ignored, "ignored, which the reference does not have"),
            )
            if names
        ]


def allowed(missing: Missing | None, unanswered: Iterable[object], extra: Iterable[object]) -> bool:
    """Whether documents on one side only are allowed; by default they are not."""
    return missing is not None and missing.allows(unanswered, extra)
