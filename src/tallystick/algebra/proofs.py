"""What solvers with a time limit could not prove, over one evaluation.

A matching that has a limit may end with bounds: it has found `lower`, and nothing can exceed `upper`. Everything
around it (a sum, a normaliser, an outer matching) rises with it, so the metric with `lower` in its place is a lower
bound of the whole, and with `upper` an upper bound. The metric is therefore evaluated a second time, over the same
columns, when something was left open. The answers are kept in between: a solver's limit is spent once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from tallystick.algebra.node import Similarity, require
from tallystick.engine.arrays import F64, I64, Column, Items, Mask, Numbered, Sums
from tallystick.engine.data import Scope
from tallystick.engine.program import DEFAULT_LIMIT
from tallystick.frozen import frozen

Limits = TypeVar("Limits", bound="Limited")
_LONG = 0.02
"""Seconds from which on it pays to keep what was found."""


@dataclass(eq=False)
class Proofs:
    """How many problems and self-scores are not proven, and what the solvers said."""

    open: int = 0
    open_selves: int = 0
    answers: dict[Any, Any] = field(default_factory=dict)
    kept: dict[Any, tuple[Any, Any, Any]] = field(default_factory=dict)

    @staticmethod
    def of(scope: Scope) -> Proofs:
        """The one of this evaluation; there is none where nothing has asked for it."""
        found = scope.memo.setdefault(Proofs, Proofs())
        assert isinstance(found, Proofs)
        return found

    def kept_if_long(self, node: Any, r: Any, p: Any, make: Callable[[], Any]) -> Any:
        """What is made of two columns whose k-th rows meet. What takes long is kept, for their alignment and the upper bounds."""
        key = (replace(node, upper=False), id(r), id(p))
        if key in self.kept:
            return self.kept[key][2]
        began = time.monotonic()
        found = make()
        if time.monotonic() - began > _LONG:
            self.kept[key] = r, p, found
        return found

    def once(self, settings: tuple[Any, ...], arrays: tuple[Any, ...], solve: Callable[[], Any]) -> Any:
        """The answer to a problem, worked out the first time that it comes up."""
        from hashlib import blake2b

        digest = blake2b(digest_size=16)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(b"|")
        key = (*settings, digest.digest())
        if key not in self.answers:
            self.answers[key] = solve()
        return self.answers[key]


@frozen(eq=False)
class Watched:
    """A column whose problems may be left open, and who counts them."""

    column: Column
    proofs: Proofs

    def __len__(self) -> int:
        return len(self.column)

    def take(self, rows: I64) -> Watched:
        return Watched(self.column.take(rows), self.proofs)

    def number_rows(self) -> Numbered:
        return self.column.number_rows()


@frozen(eq=False)
class WatchedItems(Items):
    """Collections whose matching may be left open."""

    proofs: Proofs = field(default_factory=Proofs)


@frozen
class Limited(Similarity):
    """What has a time limit, in seconds for each problem; with `upper` it stands for its upper bound."""

    limit: float | None = None
    upper: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        plain = isinstance(self.limit, (int, float)) and not isinstance(self.limit, bool) and self.limit == self.limit
        require(self.limit is None or plain, f"{self.name}(): limit must be seconds, found {self.limit!r:.60}")
        require(
            self.limit is None or self.limit > 0,
            f"{self.name}() needs a limit in seconds above 0, or none at all; found {self.limit!r}",
        )
        object.__setattr__(self, "limit", None if self.limit is None else float(self.limit))

    @property
    def limited(self) -> bool:
        return True

    @property
    def seconds(self) -> float:
        """The limit, or the one that holds where none is given."""
        return DEFAULT_LIMIT if self.limit is None else self.limit

    def limited_to(self: Limits, seconds: float | None) -> Limits:
        inside = super().limited_to(seconds)
        return inside if seconds is None or self.limit is not None else replace(inside, limit=seconds)

    def at_most(self: Limits) -> Limits:
        return replace(super().at_most(), upper=True)


def bounded_sums(node: Any, r: Any, p: Any, i: I64, j: I64, lower: F64, upper: F64, optimal: Mask) -> Sums:
    """Σ of the pairs (i, j) as the node wants it: what was found, or what it may be at most, never more than the self-scores."""
    total = lower
    if getattr(node, "upper", False):
        most = np.minimum(node.selves(r)[i], node.selves(p)[j]) if node.regular else np.inf
        total = np.where(optimal, lower, np.maximum(lower, np.minimum(upper, most)))
    keep = np.flatnonzero(total > 0)
    return Sums(i[keep], j[keep], total[keep], total[keep], total[keep])
