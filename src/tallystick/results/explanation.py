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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field as dataclass_field
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.surplus import is_unknown
from tallystick.engine.arrays import I64
from tallystick.engine.data import Invalid, Memory, Objects, Scope, Surplus, field, fields_in
from tallystick.engine.encoded import leaf_values
from tallystick.frozen import frozen

MATCHED, MISSED, SPURIOUS = "matched", "missed", "spurious"


class Plain(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@frozen
class Explanation:
    """One aligned pair (or one side without a partner), its weight, and what lies below it.

    >>> result = ts.evaluate(ts.f1(ts.match(ts.exact)), [["a", "b"]], [["b", "c"]])
    >>> print(result.explain(0))
    document: match = 1 of 2
      = 'b'
      - 'a'  missed
      + 'c'  spurious
    """

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
    node: Similarity | None = dataclass_field(default=None, repr=False, compare=False)
    """What compares the value, of one that stands on one side only."""

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
        from tallystick.results.tables import explanation_lines

        return "\n".join(explanation_lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from tallystick.results.tables import explanation_html

        return explanation_html(self)


def explain_document(metric: Node, reference: Any, predicted: Any, memory: Memory | None = None) -> Explanation:
    """The alignment of one document."""
    if isinstance(predicted, Surplus):
        return _with_surplus(explain_document(metric, reference, predicted.value, memory), predicted)
    if isinstance(predicted, Invalid):
        inner = (metric if metric.by_side is None else metric.by_side[1]).summed
        r, _ = inner.encode(Objects([reference]), Objects([]), Scope())
        own = float(inner.selves(r)[0])
        return Explanation("document", MISSED, reference, predicted, 0.0, own, 0.0, str(inner), node=inner)
    if metric.by_side is not None:
        parts = tuple(
            _explained(name, side.summed, reference, predicted, memory)
            for name, side in zip(metric.side_names, metric.by_side, strict=True)
        )
        first, second = parts
        return Explanation(
            "document", MATCHED, reference, predicted, first.weight,
            second.reference_self, first.predicted_self, metric.name, False, parts,
        )  # fmt: skip
    return _explained("document", metric.summed, reference, predicted, memory)


def _with_surplus(tree: Explanation, predicted: Any) -> Explanation:
    """The tree of a document, with what nothing in the reference can meet below it."""
    if not isinstance(predicted, Surplus):
        return tree
    more = tuple(
        Explanation(
            leaf[0], SPURIOUS, None, leaf[1], 0.0, 0.0, 1.0, "unknown key" if is_unknown(leaf) else "wrong kind"
        )
        for leaf in predicted.leaves
    )
    own = tree.predicted_self + len(more)
    return replace(tree, predicted=predicted.value, predicted_self=own, children=(*tree.children, *more))


def _explained(name: str, node: Similarity, reference: Any, predicted: Any, memory: Memory | None) -> Explanation:
    return _explain_all(name, node, [reference], [predicted], memory)[0]


def explain_documents(
    metric: Node, references: Sequence[Any], predictions: Sequence[Any], memory: Memory | None = None
) -> list[Explanation]:
    """The alignments of many documents, for which each level of the metric is aligned once."""
    if metric.by_side is not None:
        return [explain_document(metric, *pair, memory) for pair in zip(references, predictions, strict=True)]
    inner = [one.value if isinstance(one, Surplus) else one for one in predictions]
    valid = [k for k, one in enumerate(inner) if not isinstance(one, Invalid)]
    trees = _explain_all("document", metric.summed, [references[k] for k in valid], [inner[k] for k in valid], memory)
    found = dict(zip(valid, trees, strict=True))
    return [
        _with_surplus(found[k], one) if k in found else explain_document(metric, references[k], one, memory)
        for k, one in enumerate(predictions)
    ]


AHEAD = 32
"""So many documents are aligned together."""


class InOrder:
    """The alignments of documents by id. Who says in which order they will be asked for (`expect`) is given some that were aligned
    together, which takes half of the time."""

    def __init__(self, together: Callable[[Sequence[Any]], Sequence[Explanation]]) -> None:
        self.together = together
        self._order: Sequence[Any] = ()
        self._places: dict[Any, int] = {}
        self._found: dict[Any, Explanation] = {}
        self._ahead, self._following = 1, 0

    def expect(self, order: Sequence[Any]) -> None:
        """The documents that will be asked for, one after the other."""
        self._order, self._places = order, {document: place for place, document in enumerate(order)}
        self._ahead, self._following = 1, 0

    def __call__(self, document: Any) -> Explanation:
        if document not in self._found:
            place = self._places.get(document, -1)
            self._ahead = min(2 * self._ahead, AHEAD) if place == self._following else 1
            some = self._order[place : place + self._ahead] if place >= 0 else [document]
            self._found = dict(zip(some, self.together(some), strict=True))
            self._following = place + len(some)
        return self._found[document]


def _explain_all(
    name: str, node: Similarity, references: Sequence[Any], predictions: Sequence[Any], memory: Memory | None
) -> list[Explanation]:
    r, p = node.encode(Objects(references), Objects(predictions), Scope(memory=memory or Memory()))
    trees = _pairs(name, align_documents(node, r, p, leftovers=False), references, predictions)
    for path, ours, theirs in node.one_sided(align_documents(node, r, p, homes=True)):
        for k in ours.tolist():
            alone = Explanation(path, MISSED, _value_at(references[k], path), None, 0.0, 1.0, 0.0, "empty")
            trees[k] = _with_empty(trees[k], path.split("."), alone)
        for k in theirs.tolist():
            alone = Explanation(path, SPURIOUS, None, _value_at(predictions[k], path), 0.0, 0.0, 1.0, "empty")
            trees[k] = _with_empty(trees[k], path.split("."), alone)
    return trees


def _with_empty(tree: Explanation, steps: Sequence[str], alone: Explanation) -> Explanation:
    """A tree with something empty that counts as a value: in the place of the child that stands for it and counts nothing, where there
    is one, so that it is there once."""
    children = [*tree.children, alone]
    for k, child in enumerate(tree.children):
        if child.name != steps[0]:
            continue
        if len(steps) == 1 and child.status == alone.status and not child.reference_self and not child.predicted_self:
            children = [*tree.children[:k], replace(alone, name=child.name), *tree.children[k + 1 :]]
        elif len(steps) > 1 and child.children:
            inner = _with_empty(child, steps[1:], replace(alone, name=".".join(steps[1:])))
            children = [*tree.children[:k], inner, *tree.children[k + 1 :]]
    own = tree.reference_self + alone.reference_self, tree.predicted_self + alone.predicted_self
    return replace(tree, reference_self=own[0], predicted_self=own[1], children=tuple(children))


def _value_at(value: Any, path: str) -> Any:
    """What a record has at a path of fields, for a person to look at."""
    for name in path.split("."):
        value = (fields_in(value, [name]) or {}).get(name)
    return value


def _pairs(
    name: str, level: Aligned, left: Sequence[Any], right: Sequence[Any], places: tuple[I64, I64] | None = None
) -> list[Explanation]:
    """The aligned rows of a level, each with everything below it. A level is weighed, and the levels below it are aligned,
    once for all of its rows: what an explanation costs grows with the depth of a document, not with its items."""
    node, how = level.node, str(level.node)
    weights, (own_r, own_p) = level.weights.tolist(), _selves(level)
    where = [places[0][level.i].tolist(), places[1][level.j].tolist()] if places else None
    out = []
    rows = zip(level.i.tolist(), level.j.tolist(), weights, _children(level, left, right), strict=True)
    for k, (i, j, weight, children) in enumerate(rows):
        out.append(
            Explanation(
                name, MATCHED, left[i], right[j], weight, own_r[i], own_p[j], node.name if children else how, node.adds_up,
                tuple(children), places=(where[0][k], where[1][k]) if where else (),
            )
        )  # fmt: skip
    return out


def _selves(level: Aligned) -> tuple[list[float], list[float]]:
    return level.node.selves(level.reference).tolist(), level.node.selves(level.predicted).tolist()


def _children(level: Aligned, left: Sequence[Any], right: Sequence[Any]) -> list[list[Explanation]]:
    """What lies below each aligned pair of a level. Each pair becomes a row of its own on both sides; the homes of the
    rows below say which pair they belong to."""
    node = level.node
    out: list[list[Explanation]] = [[] for _ in level.i]
    if node.is_leaf or not out:
        return out
    every = np.arange(len(level.i), dtype=np.int64)
    pairs = replace(
        level.at(node, level.reference.take(level.i), level.predicted.take(level.j)),
        i=every, j=every, homes=(every, every),
    )  # fmt: skip
    inner, *values = node.inside([left[i] for i in level.i.tolist()], [right[j] for j in level.j.tolist()])
    for lower in pairs.below():
        for home, child in _level(lower, lower.path[len(pairs.path) :], inner, values):
            out[home].append(child)
    return out


def _level(
    level: Aligned, step: str, node: Similarity, values: Sequence[Sequence[Any]]
) -> Iterator[tuple[int, Explanation]]:
    """The rows of one level below some pairs, each with the pair that it belongs to: the aligned ones in the order of the
    reference, then what was missed, then what was spurious."""
    homes = level.homes
    assert homes is not None
    order = np.lexsort((level.j, level.i))
    level = replace(level, i=level.i[order], j=level.j[order])
    left, right = (
        values_below(step, side, of, places, node) for side, of, places in zip(values, homes, level.places, strict=True)
    )
    places = None
    if step == "[*]":
        where = [places_in(home) if some is None else some for home, some in zip(homes, level.places, strict=True)]
        places = (where[0], where[1])
    name = "" if places else step.removeprefix(".")
    matched = _pairs(name, level, left, right, places)
    yield from zip(homes[0][level.i].tolist(), matched, strict=True)
    missed, spurious = _others(level.i, len(level.reference)), _others(level.j, len(level.predicted))
    if not missed and not spurious:
        return
    (own_r, own_p), how = _selves(level), str(level.node)
    for k in missed:
        here = (int(places[0][k]), None) if places else ()
        alone = Explanation(name, MISSED, left[k], None, 0.0, own_r[k], 0.0, how, places=here, node=level.node)
        yield int(homes[0][k]), alone
    for k in spurious:
        there = (None, int(places[1][k])) if places else ()
        alone = Explanation(name, SPURIOUS, None, right[k], 0.0, 0.0, own_p[k], how, places=there, node=level.node)
        yield int(homes[1][k]), alone


def _others(rows: I64, count: int) -> list[int]:
    """The rows that are none of these."""
    alone = np.ones(count, np.bool_)
    alone[rows] = False
    return np.flatnonzero(alone).tolist()  # type: ignore[no-any-return]


def places_in(homes: I64) -> I64:
    """The place of each row among those of its home; the rows of one home stand together."""
    first = np.flatnonzero(np.diff(homes, prepend=-1))
    return np.arange(len(homes), dtype=np.int64) - np.repeat(first, np.diff(first, append=len(homes)))


def values_below(step: str, values: Sequence[Any], homes: I64, places: I64 | None, node: Similarity) -> list[Any]:
    """The Python values behind the rows of a level below some values, in the engine's order."""
    if step == "[*]":
        bags = [[] if value is None else _listed(value) for value in values]
        where = zip(homes.tolist(), (places_in(homes) if places is None else places).tolist(), strict=True)
        return [bags[home][place] for home, place in where]
    if step.startswith("<"):
        return [values[home] for home in homes.tolist()]
    name = step.removeprefix(".")
    part = (node.looks_at() or {}).get(name)
    absent = None if part is None else part.absent
    there = [values[home] for home in homes.tolist()]  # what is missing has no row
    return list(leaf_values(field(Objects(there), name, Scope(), True, absent), Scope()))


def _listed(value: Any) -> list[Any]:
    """The items of a collection; those of a mapping are its entries."""
    if isinstance(value, Mapping):
        return [{"key": key, "value": inside} for key, inside in value.items()]
    return list(value)
