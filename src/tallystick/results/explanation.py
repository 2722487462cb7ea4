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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field as dataclass_field
from dataclasses import replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np

from tallystick.algebra.alignment import Aligned, align_documents
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.surplus import is_unknown
from tallystick.engine.arrays import F64, I64, Column
from tallystick.engine.data import Memory, Objects, Scope, field, leaf_values
from tallystick.engine.values import Invalid, Surplus, fields_in
from tallystick.frozen import frozen

MATCHED, MISSED, SPURIOUS = "matched", "missed", "spurious"
T = TypeVar("T")


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
        r, p = inner.encode(Objects([reference]), Objects([]), Scope())
        nobody = np.zeros(0, np.int64)
        empty = inner.one_sided(align_documents(inner, r, p, valid=nobody, homes=True))
        own = float(inner.selves(r)[0]) + sum(len(ours) for _, ours, _ in empty)
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
    top, empty = _explain_all(name, node, [reference], [predicted], memory)
    tree = top.trees()[0]
    for path, alone in empty.get(0, ()):
        tree = _with_empty(tree, path.split("."), alone)
    return tree


@frozen(eq=False)
class Explained:
    """The alignments of some documents: in columns, and as trees those that have something which no level holds."""

    top: Level | None
    rows: dict[int, int]
    """By document its row at the top."""
    others: dict[int, Explanation]

    @cached_property
    def _trees(self) -> list[Explanation]:
        return [] if self.top is None else self.top.trees()

    def tree(self, place: int) -> Explanation:
        """The alignment of one of the documents."""
        return self.others[place] if place in self.others else self._trees[self.rows[place]]

    def trees(self) -> list[Explanation]:
        """The alignments of all of them."""
        return [self.tree(k) for k in range(len(self.rows.keys() | self.others.keys()))]


def explain_together(
    metric: Node, references: Sequence[Any], predictions: Sequence[Any], memory: Memory | None = None
) -> Explained:
    """The alignments of many documents, for which each level of the metric is aligned once."""
    if metric.by_side is not None:
        pairs = enumerate(zip(references, predictions, strict=True))
        return Explained(None, {}, {k: explain_document(metric, *pair, memory) for k, pair in pairs})
    inner = [one.value if isinstance(one, Surplus) else one for one in predictions]
    valid = [k for k, one in enumerate(inner) if not isinstance(one, Invalid)]
    sides = [references[k] for k in valid], [inner[k] for k in valid]
    top, empty = _explain_all("document", metric.summed, *sides, memory)
    found = Explained(top, {k: row for row, k in enumerate(valid)}, {})
    for k, one in enumerate(predictions):
        if k not in found.rows:
            found.others[k] = explain_document(metric, references[k], one, memory)
        elif (row := found.rows[k]) in empty or isinstance(one, Surplus):
            tree = found._trees[row]
            for path, alone in empty.get(row, ()):
                tree = _with_empty(tree, path.split("."), alone)
            found.others[k] = _with_surplus(tree, one)
    return found


def explain_documents(
    metric: Node, references: Sequence[Any], predictions: Sequence[Any], memory: Memory | None = None
) -> list[Explanation]:
    """The trees of many documents."""
    return explain_together(metric, references, predictions, memory).trees()


class InOrder:
    """The alignments of documents by id; `together` has those of many, which takes less time than one after the other."""

    def __init__(self, together: Callable[[Sequence[Any]], Explained]) -> None:
        self.together = together

    def __call__(self, document: Any) -> Explanation:
        return self.together([document]).tree(0)


def _explain_all(
    name: str, node: Similarity, references: Sequence[Any], predictions: Sequence[Any], memory: Memory | None
) -> tuple[Level, dict[int, list[tuple[str, Explanation]]]]:
    """The documents in columns, and by row what is empty on one side while the other has nothing at all, with its path."""
    r, p = node.encode(Objects(references), Objects(predictions), Scope(memory=memory or Memory()))
    top = _pairs(name, align_documents(node, r, p, leftovers=False), references, predictions)
    empty: dict[int, list[tuple[str, Explanation]]] = {}
    for path, ours, theirs in node.one_sided(align_documents(node, r, p, homes=True)):
        for k in ours.tolist():
            alone = Explanation(path, MISSED, _value_at(references[k], path), None, 0.0, 1.0, 0.0, "empty")
            empty.setdefault(k, []).append((path, alone))
        for k in theirs.tolist():
            alone = Explanation(path, SPURIOUS, None, _value_at(predictions[k], path), 0.0, 0.0, 1.0, "empty")
            empty.setdefault(k, []).append((path, alone))
    return top, empty


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


@frozen(eq=False)
class Level:
    """Nodes at one path of many trees, in columns: the aligned pairs in the order of the reference, then what was missed, then what
    was spurious. Each level of the metric is weighed and aligned once for all of its rows: what an explanation costs grows with
    the depth of a document, not with its items."""

    names: str | Sequence[str]
    """One for all, or of each node its own."""
    node: Similarity
    reference: list[Any]
    predicted: list[Any]
    weights: list[float]
    selves: tuple[list[float], list[float]]
    homes: list[int]
    """The pair of the level above that each belongs to."""
    places: tuple[list[int | None], list[int | None]] | None
    """Of items their places in the reference's list and in the predicted one."""
    pairs: int
    missed: int
    """So many nodes are pairs, and so many behind them were missed."""
    below: tuple[Level, ...] = ()

    def __len__(self) -> int:
        return len(self.homes)

    def named(self) -> Iterable[str]:
        """The name of each node."""
        return repeat(self.names, len(self)) if isinstance(self.names, str) else self.names

    def statuses(self) -> Iterator[str]:
        """The status of each node."""
        alone = len(self) - self.pairs - self.missed
        return chain(repeat(MATCHED, self.pairs), repeat(MISSED, self.missed), repeat(SPURIOUS, alone))

    def gathered(self, parts: Callable[[Level], Iterable[T]]) -> list[list[T]]:
        """What the levels below have, for each pair."""
        out: list[list[T]] = [[] for _ in range(self.pairs)]
        for lower in self.below:
            for home, part in zip(lower.homes, parts(lower), strict=True):
                out[home].append(part)
        return out

    def shape(self) -> Any:
        """What the levels below are called."""
        return self.names, tuple(lower.shape() for lower in self.below)

    @staticmethod
    def joined(levels: Sequence[Level], shifts: Sequence[int]) -> Level:
        """Levels of one shape as one, each behind the other; `shifts` is added to their homes."""
        first = levels[0]
        ends = [(0, one.pairs, one.pairs + one.missed, len(one)) for one in levels]
        parts = [(one, slice(at[k], at[k + 1]), shift) for k in range(3) for one, at, shift in zip(levels, ends, shifts, strict=True)]  # fmt: skip

        def gathered(of: Callable[[Level], Sequence[Any]]) -> list[Any]:
            return list(chain.from_iterable(of(one)[some] for one, some, _ in parts))

        pairs = [one.pairs for one in levels]
        starts = [sum(pairs[:k]) for k in range(len(levels))]
        return Level(
            first.names,
            first.node,
            gathered(lambda one: one.reference),
            gathered(lambda one: one.predicted),
            gathered(lambda one: one.weights),
            (gathered(lambda one: one.selves[0]), gathered(lambda one: one.selves[1])),
            [home + shift for one, some, shift in parts for home in one.homes[some]],
            first.places and (gathered(lambda one: one.places[0]), gathered(lambda one: one.places[1])),  # type: ignore[index]
            sum(pairs),
            sum(one.missed for one in levels),
            tuple(Level.joined(lower, starts) for lower in zip(*(one.below for one in levels), strict=True)),
        )

    def trees(self) -> list[Explanation]:
        """Each node with everything below it."""
        node, how = self.node, str(self.node)
        where: Iterable[tuple[int | None, ...]] = zip(*self.places, strict=True) if self.places else repeat(())
        below = chain(self.gathered(Level.trees), repeat([]))
        rows = zip(
            self.named(), self.statuses(), self.reference, self.predicted, self.weights, *self.selves, below, where, strict=False
        )  # fmt: skip
        return [
            Explanation(
                name, status, left, right, weight, own_r, own_p, node.name if children else how, status == MATCHED and node.adds_up,
                tuple(children), places, None if status == MATCHED else node,
            )
            for name, status, left, right, weight, own_r, own_p, children, places in rows
        ]  # fmt: skip


def _pairs(
    name: str, level: Aligned, left: Sequence[Any], right: Sequence[Any], places: tuple[I64, I64] | None = None
) -> Level:
    """The rows of a level, each with everything below it; where no homes are known, only the aligned ones."""
    pairs, homes = level.pairs, level.homes
    alone = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if homes is None:
        of = np.arange(len(level.i)), *alone
    else:
        alone = _others(level.i, len(level.reference)), _others(level.j, len(level.predicted))
        of = homes[0][level.i], homes[0][alone[0]], homes[1][alone[1]]
    selves = level.node.selves(level.reference), level.node.selves(level.predicted)
    found = lay_out(
        name, level.node, (left, right), (level.i, level.j), alone, level.node.one_to_one_weights(*pairs), selves, of, places
    )  # fmt: skip
    values = found.reference[: found.pairs], found.predicted[: found.pairs]
    return replace(found, below=tuple(_below(level, pairs, *values)))


def lay_out(
    name: str, node: Similarity, values: tuple[Sequence[Any], Sequence[Any]], pairs: tuple[I64, I64], alone: tuple[I64, I64],
    weights: F64, selves: tuple[F64, F64], homes: tuple[I64, I64, I64], places: tuple[I64, I64] | None,
) -> Level:  # fmt: skip
    """Some rows of a level: pairs, what was missed and what was spurious, with the homes of each, and nothing below."""
    (left, right), (i, j), (missed, spurious) = values, pairs, alone
    nothing = np.zeros(len(missed) + len(spurious))
    where: Any = None
    if places is not None:
        where = (
            [*places[0][i].tolist(), *places[0][missed].tolist(), *repeat(None, len(spurious))],
            [*places[1][j].tolist(), *repeat(None, len(missed)), *places[1][spurious].tolist()],
        )
    return Level(
        name,
        node,
        [*(left[k] for k in i.tolist()), *(left[k] for k in missed.tolist()), *repeat(None, len(spurious))],
        [*(right[k] for k in j.tolist()), *repeat(None, len(missed)), *(right[k] for k in spurious.tolist())],
        np.concatenate((weights, nothing)).tolist(),
        (
            np.concatenate((selves[0][i], selves[0][missed], nothing[: len(spurious)])).tolist(),
            np.concatenate((selves[1][j], nothing[: len(missed)], selves[1][spurious])).tolist(),
        ),
        np.concatenate(homes).tolist(),
        where,
        len(i),
        len(missed),
    )


def _below(
    level: Aligned, columns: tuple[Column, Column], left: Sequence[Any], right: Sequence[Any]
) -> Iterator[Level]:
    """The levels below the aligned pairs of a level, whose rows and values are given. Each pair becomes a row of its own on both sides; the
    homes of the rows below say which pair they belong to."""
    node = level.node
    if node.is_leaf or not left:
        return
    every = np.arange(len(level.i), dtype=np.int64)
    pairs = replace(level.at(node, *columns), i=every, j=every, homes=(every, every))
    inner, *values = node.inside(left, right)
    for lower in pairs.below():
        yield _level(lower, lower.path[len(pairs.path) :], inner, values)


def _level(level: Aligned, step: str, node: Similarity, values: Sequence[Sequence[Any]]) -> Level:
    """The rows of one level below some pairs."""
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
    return _pairs("" if places else step.removeprefix("."), level, left, right, places)


def _others(rows: I64, count: int) -> I64:
    """The rows that are none of these."""
    alone = np.ones(count, np.bool_)
    alone[rows] = False
    return np.flatnonzero(alone)


def places_in(homes: I64) -> I64:
    """The place of each row among those of its home; the rows of one home stand together."""
    first = np.flatnonzero(np.diff(homes, prepend=-1))
    return np.arange(len(homes), dtype=np.int64) - np.repeat(first, np.diff(first, append=len(homes)))


def values_below(step: str, values: Sequence[Any], homes: I64, places: I64 | None, node: Similarity) -> list[Any]:
    """The Python values behind the rows of a level below some values, in the engine's order."""
    if step == "[*]":
        bags = [value if type(value) is list else [] if value is None else listed(value) for value in values]
        if places is None:  # all items of these, in order
            return list(
                chain.from_iterable([bags[home] for home in homes[np.flatnonzero(np.diff(homes, prepend=-1))].tolist()])
            )
        return [bags[home][place] for home, place in zip(homes.tolist(), places.tolist(), strict=True)]
    every = len(homes) == len(values) and bool((homes == np.arange(len(homes))).all())
    there = values if every else [values[home] for home in homes.tolist()]  # what is missing has no row
    if step.startswith("<"):
        return list(there)
    name = step.removeprefix(".")
    part = (node.looks_at() or {}).get(name)
    absent = None if part is None else part.absent
    return list(leaf_values(field(Objects(there), name, Scope(), True, absent), Scope()))


def listed(value: Any) -> list[Any]:
    """The items of a collection; those of a mapping are its entries."""
    if isinstance(value, Mapping):
        return [{"key": key, "value": inside} for key, inside in value.items()]
    return list(value)
