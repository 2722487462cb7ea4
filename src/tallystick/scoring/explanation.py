"""Why a document scored what it scored: the alignment as a tree, with the weight at every level.

    entities                     1.30 of 2 / 3
      [0] ↔ [0]                  0.80
        "a" ↔ "a"                1
        "b" ↔ "b"                1
        "c" missed
      ...

The weights of a matching's children add up to its own; asking for an explanation never changes the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np

from tallystick.columns.codes import leaf_values
from tallystick.columns.data import Bag, Memory, Objects, Scope, field
from tallystick.matching.normalise import Normaliser, Sides
from tallystick.matching.sets import Match, Matching, distinct_rows
from tallystick.scoring.alignment import Aligned, below, is_leaf, root
from tallystick.scoring.evaluation import summed
from tallystick.similarity.cases import Let
from tallystick.similarity.functions import Via
from tallystick.similarity.missing import Optional
from tallystick.similarity.node import Node, Similarity
from tallystick.similarity.records import Each
from tallystick.similarity.weights import Threshold, Weigh, Weighted

MATCHED, MISSED, SPURIOUS = "matched", "missed", "spurious"


@dataclass(frozen=True)
class Explanation:
    """One aligned pair (or one side without a partner), its weight, and what lies below it."""

    name: str
    status: str
    reference: Any
    predicted: Any
    weight: float
    reference_self: float
    predicted_self: float
    how: str
    adds_up: bool = False
    children: tuple[Explanation, ...] = dataclass_field(default=(), repr=False)

    def walk(self) -> Iterator[Explanation]:
        """This and everything below, top down."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def variables(self) -> tuple[tuple[Any, Any], ...]:
        """Which latent variable is which, below a `latent` or `scoped`."""
        if self.how not in ("latent", "scoped"):
            return ()
        found = {(str(n.reference), str(n.predicted)): n for n in self.walk() if n.how == "var" and n.weight > 0}
        return tuple((node.reference, node.predicted) for node in found.values())

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain data."""
        variables = {"variables": [list(map(str, pair)) for pair in self.variables]} if self.variables else {}
        return {
            "name": self.name,
            "status": self.status,
            "how": self.how,
            "weight": self.weight,
            "reference_self": self.reference_self,
            "predicted_self": self.predicted_self,
            **variables,
            "reference": self.reference if not self.children else None,
            "predicted": self.predicted if not self.children else None,
            "children": [child.as_dict() for child in self.children],
        }

    def __str__(self) -> str:
        from tallystick.reports.results import explanation_lines

        return "\n".join(explanation_lines(self))


def explain_document(metric: Node, reference: Any, predicted: Any, memory: Memory | None = None) -> Explanation:
    """The alignment of one document."""
    if isinstance(metric, Sides):
        parts = tuple(
            _explained(name, summed(side), reference, predicted, memory)
            for name, side in (("precision", metric.precision), ("recall", metric.recall))
        )
        first, second = parts
        return Explanation(
            "document", MATCHED, reference, predicted, first.weight,
            second.reference_self, first.predicted_self, "sides", False, parts,
        )  # fmt: skip
    return _explained("document", summed(metric), reference, predicted, memory)


def _explained(name: str, node: Similarity, reference: Any, predicted: Any, memory: Memory | None) -> Explanation:
    r, p = node.encode(Objects([reference]), Objects([predicted]), Scope(memory=memory or Memory()))
    top = root(node, r, p, leftovers=False)
    return next(_pairs(name, top, [reference], [predicted]))


def _pairs(name: str, level: Aligned, left: Sequence[Any], right: Sequence[Any]) -> Iterator[Explanation]:
    """The aligned rows of a level, each with everything below it. The level is weighed once for all of them."""
    node, how = level.node, str(level.node)
    weights, (own_r, own_p) = level.weights.tolist(), _selves(level)
    for i, j, weight in zip(level.i.tolist(), level.j.tolist(), weights, strict=True):
        children: tuple[Explanation, ...] = ()
        if not is_leaf(node):
            one = replace(
                level.at(node, level.reference.take(np.array([i])), level.predicted.take(np.array([j]))),
                i=_FIRST,
                j=_FIRST,
            )
            children = tuple(child for inner in below(one) for child in _level(one, inner, left[i], right[j]))
        yield Explanation(
            name, MATCHED, left[i], right[j], weight, own_r[i], own_p[j],
            node.name if children else how, isinstance(node, (Matching, Each)), children,
        )  # fmt: skip


_FIRST = np.zeros(1, np.int64)


def _selves(level: Aligned) -> tuple[list[float], list[float]]:
    return level.node.selves(level.reference).tolist(), level.node.selves(level.predicted).tolist()


def _level(pair: Aligned, level: Aligned, x: Any, y: Any) -> Iterator[Explanation]:
    """The rows of one level below a pair: the aligned ones, then what was missed, then what was spurious."""
    step = level.path[len(pair.path) :]
    left = _values(x, step, pair.node, predicted=False)[: len(level.reference)]  # a None that does not count: no row
    right = _values(y, step, pair.node, predicted=True)[: len(level.predicted)]
    name = "" if step == "[*]" else step.removeprefix(".")
    yield from _pairs(name, level, left, right)
    missed = sorted(set(range(len(level.reference))) - set(level.i.tolist()))
    spurious = sorted(set(range(len(level.predicted))) - set(level.j.tolist()))
    if missed or spurious:
        (own_r, own_p), how = _selves(level), str(level.node)
        for k in missed:
            yield Explanation(name, MISSED, left[k], None, 0.0, own_r[k], 0.0, how)
        for k in spurious:
            yield Explanation(name, SPURIOUS, None, right[k], 0.0, 0.0, own_p[k], how)


def _values(value: Any, step: str, node: Similarity, predicted: bool) -> list[Any]:
    """The Python values behind the rows of a level below `value`, in the engine's order."""
    while isinstance(node, (Normaliser, Threshold, Weighted, Weigh, Optional, Via, Let)) and value is not None:
        if isinstance(node, Via):
            value = (node.predicted or node.call)(value) if predicted else node.call(value)
        node = node.unrolled if isinstance(node, Let) else node.inner
    if value is None:
        return []
    if step.startswith("<"):
        return [value]
    if step == "[*]":
        if isinstance(value, Mapping):
            return [{"key": key, "value": inside} for key, inside in value.items()]
        found = list(value)
        if isinstance(node, Match) and node.distinct:
            rows = distinct_rows(node.inner, Bag(np.array([0, len(found)]), Objects(found)), Scope())
            found = [found[k] for k in rows.tolist()]
        return found
    return list(leaf_values(field(Objects([value]), step.removeprefix("."), Scope(), True), Scope()))
