"""The rows of a result: there, counted when somebody asks for them, or let go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.columns.arrays import F64
from tallystick.errors import MetricError
from tallystick.scoring.accounts import Account


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
