"""Several names for one thing: values are replaced by what they stand for, then compared.

aliases({"US$": "USD", "dollar": "USD"})        "US$" equals "USD" and "dollar"
aliases({...}, text("levenshtein"))             what is no alias is compared as text
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallystick.columns.codes import different_values
from tallystick.columns.data import Coded, Data, Objects, Scope
from tallystick.columns.encoded import Column
from tallystick.similarity.exact import exact
from tallystick.similarity.node import Similarity, Table, require
from tallystick.similarity.through import Through


@dataclass(frozen=True, repr=False)
class Aliases(Through):
    """φ of what the values stand for; `names` maps an alias to its meaning."""

    names: Table
    inner: Similarity = exact
    name = "aliases"

    def __post_init__(self) -> None:
        meanings = dict(self.names)
        for alias, meaning in self.names:
            further = meanings.get(meaning, meaning)
            require(
                further == meaning,
                f"aliases(): {alias!r} stands for {meaning!r}, which itself stands for {further!r}; name the last one",
            )

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        return self.inner.encode(self._meanings(reference, scope), self._meanings(predicted, scope), scope)

    def _meanings(self, data: Data, scope: Scope) -> Data:
        # Only texts and numbers have aliases; what cannot be looked up stands for itself.
        names = {(type(alias), alias): meaning for alias, meaning in self.names}
        plain = (str, int, float, bool)
        rows, values = different_values(data, scope)
        meant = [names.get((type(v), v), v) if isinstance(v, plain) else v for v in values]
        return Objects(meant) if rows is None else Coded(rows, meant)


def aliases(names: Mapping[Any, Any], inner: Similarity = exact) -> Aliases:
    """Several names for one thing: {alias: meaning}."""
    return Aliases(Table.of(names, "aliases()"), inner)
