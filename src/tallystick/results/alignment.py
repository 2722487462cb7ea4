"""Following the score downwards: which rows are aligned at every level, and what each path earned or lost.

The engine works bottom up; this goes top down, over all documents at once. Two columns come with pairs of rows
(i, j) that are aligned. A sum of fields passes the pairs on to its fields; a matching turns each aligned pair of
owners into the pairs of items that it matched, the same ones that the score is the sum of.

Below a product the figures are a diagnostic, marked as such: items that found no partner are paired with each
other by the sum of their fields, so that one can see which field kept them apart. Below a nested normaliser, a
threshold, or a matching in which items count several times they are one too: they do not add up to the score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick.algebra.alternatives import AnyOf
from tallystick.algebra.cases import Cases, Let
from tallystick.algebra.collections import OverItems
from tallystick.algebra.exact import Keyed
from tallystick.algebra.functions import Through, Via
from tallystick.algebra.latent import Latent, Scoped
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import Normaliser
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Match, Matching
from tallystick.algebra.weights import Threshold, Weigh, Weighted
from tallystick.engine.arrays import F64, I64
from tallystick.engine.encoded import Alternatives, Column, Fields, Items, Maybe, Shared, unshared


@dataclass(frozen=True, eq=False)
class Aligned:
    """The rows of both sides at one path, and which of them are aligned with which."""

    path: str
    node: Similarity
    reference: Column
    predicted: Column
    i: I64
    j: I64
    diagnostic: bool = False
    leftovers: bool = True
    scale: float = 1.0
    homes: tuple[I64, I64] | None = None
    """The document of each row of both sides, if somebody asked for it."""

    def changed(self, node: Similarity, reference: Column, predicted: Column) -> Aligned:
        """The same rows under a node whose weights do not simply add up to what stands above."""
        return replace(self.at(node, reference, predicted), diagnostic=True)

    def at(self, node: Similarity, reference: Column, predicted: Column) -> Aligned:
        """The same rows and path under another node."""
        return replace(self, node=node, reference=reference, predicted=predicted)

    @property
    def weights(self) -> F64:
        """φ of each aligned pair."""
        return self.node.one_to_one_weights(self.reference.take(self.i), self.predicted.take(self.j))


def descend(here: Aligned) -> Iterator[Aligned]:
    """This level and all below it, in the order of the metric."""
    yield here
    for level in below(here):
        yield from descend(level)


def rows(here: Aligned) -> Iterator[Aligned]:
    """The leaves at and below a level: what a table by field has a row for."""
    if is_leaf(here.node):
        yield here
    else:
        for level in below(here):
            yield from rows(level)


def below(here: Aligned) -> Iterator[Aligned]:
    """The levels directly below: a record's fields, a collection's items, the cases of a union."""
    node, r, p = here.node, here.reference, here.predicted
    if isinstance(r, Shared) or isinstance(p, Shared):
        r, p = unshared(r), unshared(p)
        yield from below(here.at(node, r, p))
    elif isinstance(node, Through):
        yield from below(here.at(node.inner, r, p))
    elif isinstance(node, Weighted):
        yield from below(replace(here.at(node.inner, r, p), scale=here.scale * node.weight))
    elif isinstance(node, Threshold) and node.keep:
        passed = np.flatnonzero(here.weights > 0)  # what did not pass has nothing below either
        yield from below(replace(here.at(node.inner, r, p), i=here.i[passed], j=here.j[passed]))
    elif isinstance(node, (Normaliser, Threshold)):
        yield from below(here.changed(node.inner, r, p))
    elif isinstance(node, Let):
        if len(r) or len(p):
            yield from below(here.at(node.unrolled, r, p))
    elif isinstance(node, Weigh):
        assert isinstance(r, Fields)
        assert isinstance(p, Fields)
        yield from below(here.changed(node.inner, r.columns[0], p.columns[0]))
    elif isinstance(node, Keyed):
        assert isinstance(r, Fields)
        assert isinstance(p, Fields)
        yield from below(here.at(node.inner, r.columns[0], p.columns[0]))
    elif isinstance(node, AnyOf):
        yield from below(here.changed(node.inner, *node.met(r, p, here.i, here.j)))
    elif isinstance(node, OverItems):
        yield from below(here.changed(node.matching, r, p))
    elif isinstance(node, Optional):  # two that are None count 1, which no field below has
        yield from below(_present(here.changed(node.present, r, p)))
    elif isinstance(node, (Each, Record)):
        yield from _fields(here, node, r, p)
    elif isinstance(node, (Latent, Scoped)):  # once the variables' map is known, the rest is as everywhere
        yield from below(here.at(*node.settled(r, p, here.i, here.j)))  # type: ignore[arg-type]
    elif isinstance(node, Matching):
        assert isinstance(r, Items)
        assert isinstance(p, Items)
        yield _items(here, node, r, p)
    elif isinstance(node, Cases):
        assert isinstance(r, Alternatives)
        assert isinstance(p, Alternatives)
        for k, (name, part) in enumerate(node.options):
            both = (r.case[here.i] == k) & (p.case[here.j] == k)
            i, j = r.position[here.i[both]], p.position[here.j[both]]
            level = here.at(part, r.columns[k], p.columns[k])
            homes = here.homes and (here.homes[0][r.rows(k)], here.homes[1][p.rows(k)])
            yield replace(level, path=f"{here.path}<{name}>", i=i, j=j, homes=homes)


def _fields(here: Aligned, node: Each | Record, r: Any, p: Any) -> Iterator[Aligned]:
    for k, (name, part) in enumerate(node.fields):
        level = replace(
            here.at(part, r.columns[k], p.columns[k]),
            path=f"{here.path}.{name}" if here.path else name,
            diagnostic=here.diagnostic or isinstance(node, Record),
        )
        if isinstance(part, Optional):
            level = replace(level, node=part.present)
        yield _present(level) if isinstance(node, Each) or isinstance(part, Optional) else level


def _present(level: Aligned) -> Aligned:
    """Where something may be missing, only what is there on both sides is aligned."""
    r, p = level.reference, level.predicted
    if not isinstance(r, Maybe) and not isinstance(p, Maybe):
        return level
    left = r.position if isinstance(r, Maybe) else np.arange(len(r))
    right = p.position if isinstance(p, Maybe) else np.arange(len(p))
    both = (left[level.i] >= 0) & (right[level.j] >= 0)
    return replace(
        level,
        reference=r.present if isinstance(r, Maybe) else r,
        predicted=p.present if isinstance(p, Maybe) else p,
        i=left[level.i[both]],
        j=right[level.j[both]],
        homes=level.homes
        and (
            level.homes[0][r.rows] if isinstance(r, Maybe) else level.homes[0],
            level.homes[1][p.rows] if isinstance(p, Maybe) else level.homes[1],
        ),
    )


def _items(here: Aligned, node: Matching, r: Items, p: Items) -> Aligned:
    rows, _ = r.item_rows(here.i)
    columns, _ = p.item_rows(here.j)
    found = node.matched(r.take(here.i), p.take(here.j))
    i, j = rows[found.i], columns[found.j]
    if here.leftovers and isinstance(node.inner, Record) and isinstance(node, Match) and node.constraint == "1:1":
        more_i, more_j = _leftovers(node.inner, r, p, here.i, here.j, i, j)
        i, j = np.concatenate((i, more_i)), np.concatenate((j, more_j))
    several = isinstance(node, Match) and node.constraint != "1:1"  # one item counts more than once
    level = here.at(node.inner, r.items, p.items)
    homes = here.homes and (here.homes[0][r.owners], here.homes[1][p.owners])
    return replace(level, path=f"{here.path}[*]", i=i, j=j, diagnostic=here.diagnostic or several, homes=homes)


def _leftovers(record: Record, r: Items, p: Items, owner_i: I64, owner_j: I64, i: I64, j: I64) -> tuple[I64, I64]:
    """Items without a partner, paired by the sum of their fields: the diagnostic below a product."""
    free_r, free_p = np.ones(len(r.items), np.bool_), np.ones(len(p.items), np.bool_)
    free_r[i], free_p[j] = False, False
    sides = []
    for column, owners, free in ((r, owner_i, free_r), (p, owner_j, free_p)):
        rows, counts = column.item_rows(owners)
        group = np.repeat(np.arange(len(owners)), counts)
        keep = free[rows]
        sides.append((rows[keep], np.bincount(group[keep], minlength=len(owners))))
    (rows, left), (columns, right) = sides
    softened = Match(_softened(record))
    offsets = [np.concatenate(([0], np.cumsum(counts))) for counts in (left, right)]
    found = softened.matched(Items(offsets[0], r.items.take(rows)), Items(offsets[1], p.items.take(columns)))
    return rows[found.i], columns[found.j]


def _softened(node: Similarity) -> Similarity:
    """The same record with credit for each field, records inside it too."""
    if isinstance(node, Record):
        from tallystick.algebra.node import Named

        return SumOfProduct(Named((name, _softened(part)) for name, part in node.fields))
    return node


@dataclass(frozen=True, repr=False)
class SumOfProduct(Each):
    """The sum of a product's fields, over the product's own columns (where None is a value like others)."""

    def by_field(self, column: Fields) -> list[tuple[str, Similarity, Column, I64 | None]]:
        return [(name, part, inner, None) for (name, part), inner in zip(self.fields, column.columns, strict=True)]


def root(
    node: Similarity, r: Column, p: Column, leftovers: bool = True, valid: I64 | None = None, homes: bool = False
) -> Aligned:
    """The documents: row k against row k, or, if some predictions are invalid, row valid[k] against row k."""
    rows = np.arange(len(p), dtype=np.int64)
    i = rows if valid is None else valid
    where = (np.arange(len(r), dtype=np.int64), i) if homes else None
    return Aligned("", node, r, p, i, rows, leftovers=leftovers, homes=where)


_OPENED = (
    Through, Weighted, Weigh, Threshold, Normaliser, Let, Keyed, AnyOf, OverItems, Optional, Each, Record, Latent, Scoped,
    Matching, Cases,
)  # fmt: skip
"""What `below` can open. A similarity of somebody's own is a leaf, whatever it is made of."""


def is_leaf(node: Node) -> bool:
    """Whether nothing of the value lies below: an atomic similarity, whatever weight, threshold or mapping is around it.

    A value that is mapped and then normalised is one, too: the words of a text are no parts of a document.
    """
    if not isinstance(node, _OPENED) or (isinstance(node, Via) and isinstance(node.inner, Normaliser)):
        return True
    if isinstance(node, (Weighted, Weigh, Threshold, Through, Optional, AnyOf, Keyed, Normaliser)):
        return is_leaf(node.inner)
    return not any(isinstance(part, Similarity) for _, part in node.parts())
