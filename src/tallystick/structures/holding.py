"""How a structure holds a collection: as a tuple, whatever it was given as."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.errors import ValueMismatch


def hold(record: object, name: str) -> None:
    """Turn the collection in a field of a frozen record into a tuple; called when the record is made."""
    value = getattr(record, name)
    if type(value) is tuple:
        return
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueMismatch(
            f"at {type(record).__name__}.{name}: expected a collection, found {type(value).__name__} {value!r:.60}"
        )
    object.__setattr__(record, name, tuple(value))
