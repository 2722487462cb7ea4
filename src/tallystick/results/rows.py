"""Figures by name, and those of one field or one label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.errors import MetricError
from tallystick.results.accounts import Account

Figures = dict[str, "float | None"]


@dataclass(frozen=True)
class FieldFigures:
    """What one path of the value earned and lost."""

    path: str
    figures: Figures
    tally: dict[str, float]
    support: int
    aligned: int
    wrong: int
    missing: int
    extra: int
    similarity: float | None
    diagnostic: bool


@dataclass(frozen=True)
class LabelFigures:
    """The figures of one label: precision by the predicted label, recall by the reference label."""

    label: Any
    figures: Figures
    tally: dict[str, float]
    support: float


# The rows of a result: there, counted when somebody asks for them, or let go.


@dataclass(frozen=True, eq=False)
class Later:
    """Rows that are counted when somebody asks for them; the sums of the corpus are known already."""

    count: Callable[[], F64]
    sums: F64


class Rows:
    """The field `rows`: an array, a `Later` that becomes one when it is looked at, or an account if nothing is left of
    the documents but that."""

    def __get__(self, result: Any, owner: type) -> F64:
        if result is None:
            raise AttributeError("rows")  # so that the field has no default
        rows: F64 | Later | Account = result.__dict__["_rows"]
        if isinstance(rows, Account):
            raise MetricError("this result kept no documents, only their sums; keep the rows of the documents for this")
        if isinstance(rows, Later):
            result.__dict__.setdefault("sums", rows.sums)
            rows = result.__dict__["_rows"] = rows.count()
        return rows

    def __set__(self, result: Any, rows: F64 | Later | Account) -> None:
        result.__dict__["_rows"] = rows


# Which documents come first where the worst do: the same in a report and among the documents that are kept for it.


def worst_first(values: F64, rows: F64) -> tuple[F64, F64, F64]:
    """Three keys of every document, the lowest of which come first: whether its figure is 0/0, the figure, and less its size,
    since of two that are as bad the larger has more to lose."""
    undefined = np.isnan(values)
    return undefined.astype(np.float64), np.where(undefined, 0.0, values), -np.asarray(rows.sum(axis=1), np.float64)
