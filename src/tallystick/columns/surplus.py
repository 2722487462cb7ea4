"""Documents with values that no field of the metric could ever meet, and how many: what precision has to pay for.

Such a value is `Surplus` around a Python value, or `Extended` around a column of documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.columns.arrays import I64
from tallystick.columns.data import Data, Objects
from tallystick.columns.unfit import Surplus


@dataclass(frozen=True, eq=False)
class Extended:
    """A column of documents, and by path how many leaves beyond it each row has; `shown` are the rows for a person."""

    values: Data
    counts: Mapping[str, I64]
    shown: Sequence[Any]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int, values: Data) -> Extended:
        return Extended(values, {path: one[start:stop] for path, one in self.counts.items()}, self.shown[start:stop])

    def to_list(self) -> list[Any]:
        """The documents as Python has them, with what counts."""
        out = []
        for row, value in enumerate(self.shown):
            if isinstance(value, Surplus):
                kept = tuple(leaf for leaf in value.leaves if leaf[0] in self.counts and self.counts[leaf[0]][row])
                value = Surplus(value.value, kept) if kept else value.value
            out.append(value)
        return out


def split_surplus(data: Data) -> tuple[Data, dict[str, I64]]:
    """The documents without what is surplus, and by path how many leaves of it each of them has."""
    if isinstance(data, Extended):
        return data.values, dict(data.counts)
    if not isinstance(data, Objects) or Surplus not in set(map(type, data.values)):
        return data, {}
    counts: dict[str, I64] = {}
    plain = list(data.values)
    for row, value in enumerate(data.values):
        if type(value) is Surplus:
            plain[row] = value.value
            for path, _ in value.leaves:
                counts.setdefault(path, np.zeros(len(plain), np.int64))[row] += 1
    return Objects(plain), counts
