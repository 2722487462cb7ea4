"""What can be read only once, for work that reads it several times.

A comparison reads its reference for each system. A file is simply opened again; standard input and pipes are gone once they
are read, so while they are `held` their bytes are kept by the first who reads them and given to everybody who comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tallystick.reading.limits import reads_once

_HELD: ContextVar[dict[str, bytes] | None] = ContextVar("what was read once", default=None)


@contextmanager
def held() -> Iterator[None]:
    """What can be read only once is kept, and can be read again."""
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def is_held(name: str | Path) -> bool:
    """Whether this can be read only once, and is kept."""
    return _HELD.get() is not None and reads_once(name)


def read_held(name: str | Path, read: Callable[[], bytes]) -> bytes:
    """The bytes that `read` gives; kept, if that cannot be done twice."""
    kept = _HELD.get()
    if kept is None or not reads_once(name):
        return read()
    if str(name) not in kept:
        kept[str(name)] = read()
    return kept[str(name)]
