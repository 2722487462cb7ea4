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
from tallystick.columns.unfit import Invalid, Surplus
from tallystick.matching.normalise import Normaliser, Sides
from tallystick.matching.sets import Match, Matching, distinct_rows
from tallystick.scoring.alignment import Aligned, below, is_leaf, root
from tallystick.scoring.evaluation import summed
from tallystick.similarity.alternatives import AnyOf
from tallystick.similarity.cases import Let
from tallystick.similarity.exact import exact
from tallystick.similarity.functions import Via
from tallystick.similarity.keyed import Keyed
from tallystick.similarity.missing import Optional
from tallystick.similarity.node import Node, Similarity
from tallystick.similarity.records import Each, Record
from tallystick.similarity.through import Through
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
    places: tuple[int | None, ...] = ()
    """Where an item stands in the reference's list and in the predicted one."""

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

    def _repr_html_(self) -> str:
        from tallystick.reports.notebook import explanation_html

        return explanation_html(self)


def explain_document(metric: Node, reference: Any, predicted: Any, memory: Memory | None = None) -> Explanation:
    """The alignment of one document."""
    if isinstance(predicted, Surplus):
        tree = explain_document(metric, reference, predicted.value, memory)
        more = tuple(
            Explanation(path, SPURIOUS, None, leaf, 0.0, 0.0, 1.0, "unknown key") for path, leaf in predicted.leaves
        )
        own = tree.predicted_self + len(more)
        return replace(tree, predicted=predicted.value, predicted_self=own, children=(*tree.children, *more))
    if isinstance(predicted, Invalid):
        inner = summed(metric.recall if isinstance(metric, Sides) else metric)
        r, _ = inner.encode(Objects([reference]), Objects([]), Scope())
        own = float(inner.selves(r)[0])
        return Explanation("document", MISSED, reference, predicted, 0.0, own, 0.0, str(inner))
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


def _pairs(
    name: str, level: Aligned, left: Sequence[Any], right: Sequence[Any], in_list: bool = False
) -> Iterator[Explanation]:
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
            places=(i, j) if in_list else (),
        )  # fmt: skip


_FIRST = np.zeros(1, np.int64)


def _selves(level: Aligned) -> tuple[list[float], list[float]]:
    return level.node.selves(level.reference).tolist(), level.node.selves(level.predicted).tolist()


def _level(pair: Aligned, level: Aligned, x: Any, y: Any) -> Iterator[Explanation]:
    """The rows of one level below a pair: the aligned ones, then what was missed, then what was spurious."""
    step = level.path[len(pair.path) :]
    left, right = (_values(step, *side) for side in _inside(pair.node, x, y))
    in_list = step == "[*]"
    name = "" if in_list else step.removeprefix(".")
    yield from _pairs(name, level, left, right, in_list)
    missed = sorted(set(range(len(level.reference))) - set(level.i.tolist()))
    spurious = sorted(set(range(len(level.predicted))) - set(level.j.tolist()))
    if missed or spurious:
        (own_r, own_p), how = _selves(level), str(level.node)
        for k in missed:
            here = (k, None) if in_list else ()
            yield Explanation(name, MISSED, left[k], None, 0.0, own_r[k], 0.0, how, places=here)
        for k in spurious:
            there = (None, k) if in_list else ()
            yield Explanation(name, SPURIOUS, None, right[k], 0.0, 0.0, own_p[k], how, places=there)


_WRAPPERS = (Normaliser, Threshold, Weighted, Weigh, Optional, Through, Let, Keyed, AnyOf)


def _inside(node: Similarity, x: Any, y: Any) -> Iterator[tuple[Any, Similarity]]:
    """Both values as the node below all wrappers sees them, and that node."""
    values = [x, y]
    while isinstance(node, _WRAPPERS):
        if isinstance(node, Via):
            calls = (node.call, node.predicted or node.call)
            values = [None if v is None else call(v) for call, v in zip(calls, values, strict=True)]
        if isinstance(node, AnyOf) and None not in values:
            r, p = node.encode(Objects([values[0]]), Objects([values[1]]), Scope())
            one = np.zeros(1, np.int64)
            side = 0 if node.side == "reference" else 1
            if isinstance(values[side], (list, tuple)):
                values[side] = values[side][int(node.chosen(r, p, one, one)[0])]
        node = node.unrolled if isinstance(node, Let) else node.inner
    yield from ((value, node) for value in values)


def _values(step: str, value: Any, node: Similarity) -> list[Any]:
    """The Python values behind the rows of a level below a value, in the engine's order."""
    if value is None:
        return []
    if step.startswith("<"):
        return [value]
    if step == "[*]":
        if isinstance(value, Mapping):
            return [{"key": key, "value": inside} for key, inside in value.items()]
        if isinstance(node, Match) and node.distinct:
            found = list(value)
            rows = distinct_rows(node.inner, Bag(np.array([0, len(found)]), Objects(found)), Scope())
            return [found[k] for k in rows.tolist()]
        return list(value)
    name = step.removeprefix(".")
    part = dict(node.fields).get(name) if isinstance(node, (Each, Record)) else None
    optional = part if isinstance(part, Optional) else Optional(exact)
    column = leaf_values(field(Objects([value]), name, Scope(), True, optional.absent), Scope())
    if isinstance(node, Record) and not isinstance(part, Optional):
        return list(column)  # in a product None is a value like others
    missing = optional.missing or (lambda inside: inside is None)
    return [inside for inside in column if not missing(inside)]
