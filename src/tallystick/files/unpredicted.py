"""Predictions that stand beside the reference in one file: `predicted_ner` beside `ner`, as DyGIE++ writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tallystick.errors import InputError, Place

DYGIE_GOLD: dict[Literal["spans", "relations", "events"], str] = {
    "spans": "ner", "relations": "relations", "events": "events",
}  # fmt: skip
"""Where the reference of a layer stands."""


class Unpredicted:
    """Whether a file given as the prediction has what a system predicted, or the reference's annotation alone.

    Where anything was predicted, the lack of this key is an error: the reference would be scored against itself.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.error: InputError | None = None
        """What is wrong with the first document that has the reference's annotation alone, if it must not be read as a prediction."""
        self._predicted: str | None = None

    def take(self, document: Mapping[str, Any], place: Place) -> None:
        """Look at a document."""
        wanted = f"predicted_{self.key}"
        if self.key.startswith("predicted_"):
            return
        names = [name for name in document if name.startswith("predicted_")]
        self._predicted = self._predicted or next(iter(names), None)
        if document.get(wanted) is None and self.error is None:
            self.error = InputError(
                f"has no {wanted!r}; expected what the system predicted, since {self.key!r} is the reference's", place
            )
        if self.error is not None and self._predicted is not None:
            raise self.error

    def note(self, file: str) -> str:
        """What to say about a file in which nothing was predicted."""
        return f"{file}: has no 'predicted_{self.key}'; its {self.key!r} was read as the prediction"
