"""What solvers with a time limit could not prove, over one evaluation.

A matching that has a limit may end with bounds: it has found `lower`, and nothing can exceed `upper`. Everything
around it (a sum, a normaliser, an outer matching) rises with it, so the metric with `lower` in its place is a lower
bound of the whole, and with `upper` an upper bound. The metric is therefore evaluated a second time, over the same
columns, when something was left open. The answers are kept in between: a solver's limit is spent once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from tallystick.algebra.node import Node, Similarity, require
from tallystick.engine.arrays import F64, I64, Mask, offsets_of
from tallystick.engine.data import Scope
from tallystick.engine.encoded import Column, Items

_KEY = "proofs"


@dataclass(eq=False)
class Proofs:
    """How many problems and self-scores are not proven, and what the solvers said."""

    open: int = 0
    open_selves: int = 0
    answers: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def of(scope: Scope) -> Proofs:
        """The one of this evaluation."""
        found = scope.memo.setdefault(_KEY, Proofs())
        assert isinstance(found, Proofs)
        return found

    def keep_in(self, memo: dict[Any, Any]) -> None:
        """Be the one of the evaluation that has this memo."""
        memo[_KEY] = self

    def once(self, settings: tuple[Any, ...], arrays: tuple[Any, ...], solve: Callable[[], Any]) -> Any:
        """The answer to a problem, worked out the first time that it comes up."""
        digest = blake2b(digest_size=16)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(b"|")
        key = (*settings, digest.digest())
        if key not in self.answers:
            self.answers[key] = solve()
        return self.answers[key]


@dataclass(frozen=True, eq=False)
class Watched:
    """A column whose problems may be left open, and who counts them."""

    column: Column
    proofs: Proofs

    def __len__(self) -> int:
        return len(self.column)

    def take(self, rows: I64) -> Watched:
        return Watched(self.column.take(rows), self.proofs)


@dataclass(frozen=True, eq=False)
class WatchedItems(Items):
    """Collections whose matching may be left open."""

    proofs: Proofs = field(default_factory=Proofs)

    def take(self, rows: I64) -> WatchedItems:
        item_rows, counts = self.item_rows(rows)
        return replace(self, offsets=offsets_of(counts), items=self.items.take(item_rows))


def require_limit(node: Any) -> None:
    """A time limit is a number of seconds above 0, or None."""
    require(
        node.limit is None or node.limit > 0,
        f"{node.name}() needs a limit in seconds above 0, or none at all; found {node.limit!r}",
    )


def limited(metric: Node) -> bool:
    """Whether any part has a time limit, so that the result has bounds."""
    return any(getattr(node, "limit", None) is not None for node in metric.walk())


def at_most(node: Similarity) -> Similarity:
    """The same metric with the upper bound of everything that has a limit."""

    def raised(part: Node) -> Node:
        part = part.rebuilt(raised)
        return replace(part, upper=True) if getattr(part, "limit", None) is not None else part  # type: ignore[call-arg]

    found = raised(node)
    assert isinstance(found, Similarity)
    return found


def bound(lower: F64, upper: F64, optimal: Mask, most: F64, wanted_upper: bool) -> F64:
    """What a pair of values counts: what was found, or what it may be at most; never more than `most`."""
    if not wanted_upper:
        return lower
    return np.asarray(np.where(optimal, lower, np.maximum(lower, np.minimum(upper, most))), np.float64)
