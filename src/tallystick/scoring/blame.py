"""Which document has the value that cannot be scored: in columns, where values lie, nobody knows any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tallystick.columns.data import Data
from tallystick.columns.rows import separable, sliced
from tallystick.errors import ValueMismatch


def blame(
    error: ValueMismatch, score: Callable[[Data, Data], Any], reference: Data, predicted: Data, ids: Sequence[Any]
) -> ValueMismatch:
    """The same error with the first document that has it, found by halving; as it is if no document has it alone, or if the
    documents have no ids."""
    if len(ids) == 1:
        return ValueMismatch(f"document {ids[0]}: {error}")
    if not ids or not (separable(reference) and separable(predicted)):
        return error

    def problem(start: int, stop: int) -> ValueMismatch | None:
        try:
            score(*(sliced(side, start, stop) for side in (reference, predicted)))
        except ValueMismatch as found:
            return found
        return None

    first, last = 0, len(reference)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if problem(first, middle) is not None else (middle, last)
    found = problem(first, last)  # values of kinds that do not go together need several documents
    return error if found is None else ValueMismatch(f"document {ids[first]}: {found}")
