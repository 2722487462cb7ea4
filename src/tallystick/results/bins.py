"""Values in bins: of numbers 0, 1, 2, 3-4, 5-8, 9-16, ..., which double; a fraction is in the bin of the next whole number. Texts are parts
of their own. Declarations import this module, so that it loads nothing heavy."""

from __future__ import annotations

import re
from math import ceil
from typing import Any

NONE = "(none)"
"""The part of what has no value."""


def bin_of(value: Any) -> str:
    """The part that a value belongs to: a number's bin, a text itself."""
    if value is None or value == "" or value != value:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    number = max(0, ceil(value - 1e-9))
    high = 1 << max(0, number - 1).bit_length() if number else 0
    low = high // 2 + 1 if number > 1 else number
    return str(low) if low == high else f"{low}-{high}"


def bin_order(part: str) -> tuple[int, int, str]:
    """What parts are sorted by: bins of numbers by where they begin, then texts, and what has no value last."""
    number = re.fullmatch(r"(\d+)(-\d+)?", part)
    return (0, int(number[1]), "") if number else (2 if part == NONE else 1, 0, part)
