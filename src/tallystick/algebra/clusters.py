"""Clusterings: collections of clusters, whose names mean nothing, compared by the table of what their clusters share.

φ says how much two clusters share, n_ij = φ(C_i, K_j): `match(exact)` counts items, `timeline()` seconds. With the sums a_i and b_j of
its rows and columns, and n of all:

    together(φ)       Σ = Σ_ij (n_ij choose 2): the pairs of items that are together on both sides
    information(φ)    Σ = n I(C; K) = Σ_ij n_ij log(n n_ij / (a_i b_j)), and with itself n H(C)

Both are sums over documents, and never more than either side has by itself, so every normaliser takes them: F of the first is pairwise F1, F of the
second is V, with homogeneity as recall and completeness as precision (V_β of Rosenberg and Hirschberg is F with 1 / √β).

    chance(Σ)         what Σ is on average if the items that both sides have are dealt out at random, with clusters of the same sizes
    adjusted(Σ)       (Σ(P,R) - E) / ((Σ(R,R) + Σ(P,P)) / 2 - E): of `together` the adjusted Rand index, of `information` the adjusted
                      mutual information

    clusters   {a b} {c}    against   {a} {b c}      n_ij   1  1    a = 2, 1;  b = 1, 2;  no pair is together on both sides,
                                                            0  1    E = 1 · 1 / 3, so it is (0 - 1/3) / (1 - 1/3) = -1/2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.algebra.node import Around, Node, Similarity, require
from tallystick.algebra.normalise import OverItems
from tallystick.algebra.sets import sample_items
from tallystick.engine.arrays import F64, I64, Blocks, Column, Items, Pairs, Shared, sum_by_key, sum_by_owner
from tallystick.engine.data import Data, Scope
from tallystick.engine.tally import Adjusted as AdjustedKind
from tallystick.engine.tally import Kind
from tallystick.engine.values import REFUSED, Refusals
from tallystick.errors import MetricError, ValueMismatch
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


class Crossed(NamedTuple):
    """The tables of some pairs of clusterings: cells, and sums of rows and of columns, each with the number of its table."""

    i: I64
    j: I64
    cells: tuple[I64, F64]
    rows: tuple[I64, F64]
    columns: tuple[I64, F64]

    def over(self, part: tuple[I64, F64]) -> F64:
        """The sum of some values of each table."""
        return np.asarray(np.bincount(part[0], part[1], len(self.i)), np.float64)

    @property
    def whole(self) -> F64:
        return self.over(self.cells)


@frozen
class Clustering(OverItems):
    """A similarity of two clusterings, given how much two clusters share. Two clusters of one clustering share nothing: in a reference that is an
    error, and of a prediction the later one is left out and counts as wrong."""

    @property
    def regular(self) -> bool:
        return True

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        sides = super()._encode(reference, predicted, scope)
        for one in sides:
            side = one.values if isinstance(one, Shared) else one
            assert isinstance(side, Items)
            found = self.matching.item_pairs(side, side, Blocks.diagonal(len(side)))
            for place in np.flatnonzero(found.i < found.j)[:1].tolist():
                i, j = (int(row - side.offsets[side.owners[row]]) + 1 for row in (found.i[place], found.j[place]))
                raise ValueMismatch(f"at {scope}: clusters {i} and {j} share something; an item belongs to one cluster")
        return sides

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        kept = self.matching.accept(value, path, refusals)
        if kept is REFUSED:
            return kept
        out: list[Any] = []
        for cluster in kept:
            if self._takes([*out, cluster]):
                out.append(cluster)
            else:
                refusals.refuse(cluster, f"{path}[*]")
        return out

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.accept(sample_items(self.inner, rng, depth), "", Refusals())

    def crossed(self, r: Items, p: Items, blocks: Blocks) -> Crossed:
        found = self.matching.item_pairs(r, p, blocks)
        pairs, table = np.unique(r.owners[found.i] * len(p) + p.owners[found.j], return_inverse=True)
        table = table.reshape(-1)
        margins = []
        for side, count in ((found.i, len(r.items)), (found.j, len(p.items))):
            keys, sums = sum_by_key(table * count + side, max(1, len(pairs) * count), found.weight)
            margins.append((keys // max(1, count), sums))
        return Crossed(pairs // max(1, len(p)), pairs % max(1, len(p)), (table, found.weight), margins[0], margins[1])

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        tables = self.crossed(r, p, blocks)
        most = np.minimum(self.selves(r)[tables.i], self.selves(p)[tables.j])
        return Pairs(tables.i, tables.j, np.clip(self.shared(tables), 0, most)).positive()

    def shared(self, tables: Crossed) -> F64:
        """Σ of each table."""
        raise NotImplementedError

    def expected(self, tables: Crossed) -> F64:
        """Σ of each table on average, if only its margins are given."""
        raise NotImplementedError


@frozen
class Together(Clustering):
    """The pairs of items that are together."""

    name = "together"
    says = "the pairs of items that are together"

    def shared(self, tables: Crossed) -> F64:
        return tables.over((tables.cells[0], choose_two(tables.cells[1])))

    def _selves(self, column: Items) -> F64:
        return sum_by_owner(column.offsets, choose_two(self.inner.selves(column.items)))

    def expected(self, tables: Crossed) -> F64:
        rows, columns = (tables.over((home, choose_two(n))) for home, n in (tables.rows, tables.columns))
        whole = choose_two(tables.whole)
        return np.divide(rows * columns, whole, out=np.zeros_like(whole), where=whole > 0)


@frozen
class Information(Clustering):
    """How many nats the clusters say about each other, over all items."""

    name = "information"
    says = "what the clusters say about each other"

    def shared(self, tables: Crossed) -> F64:
        cells, rows, columns = (
            tables.over((home, n_log_n(n))) for home, n in (tables.cells, tables.rows, tables.columns)
        )
        return cells - rows - columns + n_log_n(tables.whole)

    def _selves(self, column: Items) -> F64:
        own = self.inner.selves(column.items)
        return np.maximum(n_log_n(sum_by_owner(column.offsets, own)) - sum_by_owner(column.offsets, n_log_n(own)), 0)

    def expected(self, tables: Crossed) -> F64:
        ends = np.arange(1, len(tables.i))  # margins are in the order of their tables
        margins = [np.split(n, np.searchsorted(home, ends)) for home, n in (tables.rows, tables.columns)]
        every = list(zip(*margins, strict=True))[: len(tables.i)]
        return np.array([information_by_chance(a, b) for a, b in every], np.float64)


def choose_two(n: F64) -> F64:
    """n (n - 1) / 2."""
    return np.maximum(n * (n - 1) / 2, 0)


def n_log_n(n: F64) -> F64:
    """n log n; 0 for 0."""
    return n * np.log(np.where(n > 0, n, 1.0))


def information_by_chance(a: F64, b: F64) -> float:
    """The mean of n I over all ways to deal n items to rows of the sizes a and columns of the sizes b: a cell is hypergeometric."""
    n = int(a.sum())
    if (a != np.floor(a)).any() or (b != np.floor(b)).any():
        raise MetricError("chance() of information(...) needs clusters that share whole items, such as match(exact)")
    total = 0.0
    for (x, many), (y, others) in ((one, two) for one in _sizes(a) for two in _sizes(b)):
        k = np.arange(max(0, x + y - n), min(x, y) + 1)
        steps = np.log((x - k[:-1]) * (y - k[:-1]) / (k[1:] * (n - x - y + k[1:])))  # from each k to the next
        ways = np.append(0.0, np.cumsum(steps))
        share = np.exp(ways - ways.max())
        total += many * others * float(np.sum(k * np.log(n * k.clip(1) / (x * y)) * share) / share.sum())
    return total


def _sizes(margin: F64) -> list[tuple[int, int]]:
    return list(zip(*(one.astype(int).tolist() for one in np.unique(margin, return_counts=True)), strict=True))


@frozen
class Chance(Around):
    """What a similarity of clusterings is on average, if the items are dealt out at random and clusters keep their sizes."""

    inner: Similarity
    name = "chance"
    says = "on average, if items are dealt out at random"

    def __post_init__(self) -> None:
        require(
            isinstance(self.inner, Clustering),
            f"chance() needs a similarity of clusterings, together(...) or information(...); found {self.inner!r:.60}",
        )

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        assert isinstance(self.inner, Clustering)
        tables = self.inner.crossed(r, p, blocks)
        return Pairs(tables.i, tables.j, self.inner.expected(tables)).positive()

    def _selves(self, column: Items) -> F64:
        return self.inner.selves(column)


@frozen
class Adjusted(Node):
    """Σ less what chance would give, over the mean of the two self-scores less the same: 1 if all is right, 0 by chance."""

    inner: Similarity
    name = "adjusted"
    says = "less what chance would give"
    letter = "N"
    side_names = ("shared", "by chance")

    def __post_init__(self) -> None:
        _by_chance(self.inner)

    @property
    def by_side(self) -> tuple[Similarity, Similarity]:
        return self.inner, _by_chance(self.inner)

    @property
    def aligned_by(self) -> Similarity:
        return self.inner.summed

    @property
    def headline(self) -> tuple[str, float]:
        return "adjusted", 1.0

    def kind_of_tally(self) -> Kind:
        return AdjustedKind()

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        rest = (den_r + den_p) / 2 - num_r
        return (num_p - num_r) / rest if rest else 1.0

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.inner.sample(rng, depth)


def _by_chance(node: Any) -> Any:
    """The same expression with what chance would give in the place of every clustering."""
    if isinstance(node, Clustering):
        return Chance(node)
    fields = isinstance(node, Similarity) and node.structure != "items" and any(node.parts())
    require(fields, f"adjusted() needs together(...) or information(...), or fields with these; found {node!r:.60}")
    return node.rebuilt(_by_chance)


def together(inner: Similarity) -> Together:
    """Clusterings compared by the pairs of items that are together.

    >>> clusters = ts.together(ts.match(ts.exact))
    >>> ts.f1(clusters)([["a", "b", "c"], ["d"]], [["a", "b"], ["c", "d"]])
    0.4
    """
    return Together(inner)


def information(inner: Similarity) -> Information:
    """Clusterings compared by what their clusters say about each other; F1 of it is the V-measure.

    >>> v = ts.f1(ts.information(ts.match(ts.exact)))
    >>> round(v([["a", "b"], ["c", "d"]], [["a", "b"], ["c"], ["d"]]), 4)
    0.8
    """
    return Information(inner)


def chance(inner: Similarity) -> Chance:
    """What a similarity of clusterings is on average if items are dealt out at random.

    >>> ts.chance(ts.together(ts.match(ts.exact)))([["a", "b"], ["c"]], [["a"], ["b", "c"]])
    0.3333333333333333
    """
    return Chance(inner)


def adjusted(inner: Similarity) -> Adjusted:
    """A similarity of clusterings less what chance would give; of pairs it is the adjusted Rand index.

    >>> rand = ts.adjusted(ts.together(ts.match(ts.exact)))
    >>> round(rand([["a", "b"], ["c"]], [["a"], ["b", "c"]]), 4)
    -0.5
    """
    return Adjusted(inner)
