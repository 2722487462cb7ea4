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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np

from tallystick.columns.codes import freeze, leaf_values
from tallystick.columns.data import Objects, Scope, field
from tallystick.matching.normalise import Normaliser, Sides
from tallystick.matching.sets import Match, Matching
from tallystick.scoring.alignment import Aligned, below, root
from tallystick.scoring.evaluation import summed
from tallystick.similarity.functions import Via
from tallystick.similarity.node import Node, Similarity
from tallystick.similarity.records import Each
from tallystick.similarity.weights import Threshold, Weighted

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

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain data."""
        return {
            "name": self.name,
            "status": self.status,
            "how": self.how,
            "weight": self.weight,
            "reference_self": self.reference_self,
            "predicted_self": self.predicted_self,
            "reference": self.reference if not self.children else None,
            "predicted": self.predicted if not self.children else None,
            "children": [child.as_dict() for child in self.children],
        }

    def __str__(self) -> str:
        from tallystick.reports.results import explanation_lines

        return "\n".join(explanation_lines(self))


def explain_document(metric: Node, reference: Any, predicted: Any) -> Explanation:
    """The alignment of one document."""
    if isinstance(metric, Sides):
        parts = tuple(
            _explained(name, summed(side), reference, predicted)
            for name, side in (("precision", metric.precision), ("recall", metric.recall))
        )
        first, second = parts
        return Explanation(
            "document", MATCHED, reference, predicted, first.weight,
            second.reference_self, first.predicted_self, "sides", False, parts,
        )  # fmt: skip
    return _explained("document", summed(metric), reference, predicted)


def _explained(name: str, node: Similarity, reference: Any, predicted: Any) -> Explanation:
    r, p = node.encode(Objects([reference]), Objects([predicted]), Scope())
    return _pair(name, root(node, r, p, leftovers=False), reference, predicted)


def _pair(name: str, pair: Aligned, x: Any, y: Any) -> Explanation:
    """One row against one row, with everything below."""
    node = pair.node
    children = tuple(child for level in below(pair) for child in _level(pair, level, x, y))
    return Explanation(
        name=name,
        status=MATCHED,
        reference=x,
        predicted=y,
        weight=float(pair.weights[0]),
        reference_self=float(node.selves(pair.reference)[0]),
        predicted_self=float(node.selves(pair.predicted)[0]),
        how=node.name if children else str(node),
        adds_up=isinstance(node, (Matching, Each)),
        children=children,
    )


def _level(pair: Aligned, level: Aligned, x: Any, y: Any) -> Iterator[Explanation]:
    """The rows of one level below a pair: the aligned ones, then what was missed, then what was spurious."""
    step = level.path[len(pair.path) :]
    x, y = _mapped(pair.node, x, y)
    left, right = _values(x, step, pair.node), _values(y, step, pair.node)
    name = step.removeprefix(".")
    if step == "[*]":
        name = ""
    for i, j in zip(level.i.tolist(), level.j.tolist(), strict=True):
        one = replace(
            level.at(level.node, level.reference.take(np.array([i])), level.predicted.take(np.array([j]))),
            i=np.zeros(1, np.int64),
            j=np.zeros(1, np.int64),
        )
        yield _pair(name, one, left[i], right[j])
    for k in sorted(set(range(len(level.reference))) - set(level.i.tolist())):
        own = float(level.node.selves(level.reference)[k])
        yield Explanation(name, MISSED, left[k], None, 0.0, own, 0.0, str(level.node))
    for k in sorted(set(range(len(level.predicted))) - set(level.j.tolist())):
        own = float(level.node.selves(level.predicted)[k])
        yield Explanation(name, SPURIOUS, None, right[k], 0.0, 0.0, own, str(level.node))


def _mapped(node: Node, x: Any, y: Any) -> tuple[Any, Any]:
    """The values that the levels below are made of: `via` maps them first."""
    while isinstance(node, (Normaliser, Weighted, Threshold, Via)):
        if isinstance(node, Via):
            x = None if x is None else node.call(x)
            y = None if y is None else (node.predicted or node.call)(y)
        node = node.inner
    return x, y


def _values(value: Any, step: str, node: Similarity) -> list[Any]:
    """The Python values behind the rows of a level below `value`, in the engine's order."""
    if value is None:
        return []
    if step.startswith("<"):
        return [value]
    if step == "[*]":
        if isinstance(value, Mapping):
            return [{"key": key, "value": inside} for key, inside in value.items()]
        found = list(value)
        if any(isinstance(part, Match) and part.distinct for part in node.walk()):
            found = list({freeze(item, Scope()): item for item in reversed(found)}.values())[::-1]
        return found
    column = leaf_values(field(Objects([value]), step.removeprefix("."), Scope(), True), Scope())
    return [inside for inside in column if inside is not None]
