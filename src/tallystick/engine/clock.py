"""The time that documents may take, where somebody has said so (`--time-limit`).

A solver with bounds looks at a clock of its own and ends with what it has. What comes before it has no bounds: similarities of texts, each with each,
or answers of a function. It calls `look` from time to time, an error once the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tallystick.errors import OutOfTime

_GRACE = 1.2
"""By how much the work without bounds may exceed a limit, since a solver behind it may have been given up to a tenth of it."""
_AT_ONCE = 0.02
"""Seconds between two looks at the clock."""

_until: ContextVar[tuple[float, float] | None] = ContextVar("_until", default=None)


@contextmanager
def within(seconds: float | None, documents: int = 1) -> Iterator[None]:
    """So many documents have `seconds` each; None: as long as it takes."""
    if seconds is None:
        yield
        return
    before = _until.set((time.monotonic() + _GRACE * seconds * documents, seconds))
    try:
        yield
    finally:
        _until.reset(before)


def look() -> None:
    """An error if the time is up."""
    found = _until.get()
    if found is not None and time.monotonic() > found[0]:
        raise OutOfTime(
            f"the similarities took longer than the time limit of {found[1]:g} s for each document, and without them there are no bounds; "
            "raise the limit, match by a key, or compare exactly"
        )


def paced(count: int) -> Iterator[slice]:
    """All of `count` rows: at once if nobody has set a limit, and otherwise as many as take some hundredths of a second, with a look at the clock."""
    begin, step = 0, count if _until.get() is None else 1
    while begin < count:
        look()
        began = time.monotonic()
        yield slice(begin, min(count, begin + step))
        begin += step
        step = 2 * step if time.monotonic() - began < _AT_ONCE else max(1, step // 2)
