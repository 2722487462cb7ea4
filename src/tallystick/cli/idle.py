"""Options that would change nothing are errors: whoever gives one believes that it does something.

A table says of each option what it is usually, and on what it has an effect (metrics, formats of files). An option that is not
as usual, while nothing is there that it has an effect on, is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tallystick.errors import MetricError

Effects = Mapping[str, tuple[Any, tuple[str, ...]]]
"""By option its usual value, and what it has an effect on."""


def refuse_without_effect(given: Mapping[str, Any], effects: Effects, there: Collection[str], what: str) -> None:
    """`there` are the metrics or formats at hand, and `what` says so: "these files are jsonl"."""
    for option, (usual, on) in effects.items():
        if given[option] != usual and not set(on) & set(there):
            name = option.replace("_", "-")
            raise MetricError(f"--{name} changes nothing: it is for {_listed(on)}, and {what}")


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
