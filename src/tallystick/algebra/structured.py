"""Matching of trees and directed graphs in the algebra (eq. 37, appendix A.2).

    tree(φ)         ordered trees: keeps ancestors and left-to-right order (the mappings of tree edit distance)
    top_down(φ)     trees: a pair may be matched only if its parents are matched to each other
    unordered(φ)    trees: keeps ancestors only, eq. 37 itself
    graph(φ)        directed graphs: u ≤ u' if and only if v ≤ v', where ≤ is reachability

φ compares the labels of nodes. The first two are polynomial. The others are integer programmes with bounds and a
certificate; `limit` is in seconds for each pair of values. All four constraints are one for trees and acyclic graphs;
only inside of cycles `graph(φ, "N:1")` differs from `graph(φ)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from random import Random
from typing import Any, ClassVar

import numpy as np

from tallystick.algebra.node import Similarity
from tallystick.algebra.proofs import Limited, Proofs, WatchedItems, bound
from tallystick.algebra.sets import Constrained, Matching, turned
from tallystick.engine.arrays import F64, I64, expand, offsets_of, sort_order, starts_of_runs
from tallystick.engine.blocks import Blocks, Pairs, Sums
from tallystick.engine.codes import leaf_values
from tallystick.engine.data import Bag, Data, Objects, Scope
from tallystick.engine.encoded import Items, Numbered, number_jointly, number_lists
from tallystick.engine.orders import match_orders, reachability
from tallystick.engine.sequences import Matched
from tallystick.engine.trees import match_ordered, match_top_down, match_unordered
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen
from tallystick.structures.graphs import Graph, Tree

_NOTHING = np.empty(0, np.int64)


@frozen(eq=False)
class Linked(WatchedItems):
    """Values whose items are linked: links `source[n] → target[n]`, by place, are those of the owner's slice."""

    links: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    source: I64 = field(default_factory=lambda: _NOTHING)
    target: I64 = field(default_factory=lambda: _NOTHING)
    in_order = True

    def take(self, rows: I64) -> Linked:
        item_rows, counts = self.item_rows(rows)
        how_many = self.links[rows + 1] - self.links[rows]
        chosen = expand(self.links[rows], how_many)
        return replace(
            self,
            offsets=offsets_of(counts),
            items=self.items.take(item_rows),
            links=offsets_of(how_many),
            source=self.source[chosen],
            target=self.target[chosen],
        )

    def number_rows(self) -> Numbered:
        most = int(max(self.source.max(initial=0), self.target.max(initial=0))) + 1
        owners = np.repeat(np.arange(len(self)), np.diff(self.links))
        ends = self.source * most + self.target
        links = number_lists(self.links, ends[np.lexsort((ends, owners))])
        return number_jointly((super().number_rows(), links), len(self))

    def links_of(self, owner: int) -> tuple[I64, I64]:
        """Sources and targets of one owner's links."""
        here = slice(int(self.links[owner]), int(self.links[owner + 1]))
        return self.source[here], self.target[here]

    def parents_of(self, owner: int) -> I64:
        """The parent of each of a tree's nodes, -1 for its root."""
        parents = np.full(int(self.offsets[owner + 1] - self.offsets[owner]), -1, np.int64)
        source, target = self.links_of(owner)
        parents[target] = source
        return parents


@frozen
class Structured(Matching):
    """What trees and graphs share: nodes are items, and every pair of owners is a problem of its own."""

    expects: ClassVar[type] = Tree

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        """The best matching of owner i with owner j, whose nodes (by place) are similar as (u, v, weight) says."""
        raise NotImplementedError

    @property
    def time_limit(self) -> float | None:
        """The time limit, if this kind of matching has one."""
        return getattr(self, "limit", None)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        raise NotImplementedError(str(self))

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        proofs = Proofs.of(scope)
        sides = [_opened(side, self.expects, scope) for side in (reference, predicted)]
        bags = [Bag(offsets, Objects(labels)) for offsets, labels, _, _, _ in sides]
        columns = self._encode_bags(bags[0], bags[1], scope.items())
        r, p = (
            Linked(column.offsets, column.items, None, proofs, links, source, target)
            for column, (_, _, links, source, target) in zip(columns, sides, strict=True)
        )
        return r, p

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        """Σ for every pair of owners that has one above 0."""
        found = [(i, j, one) for i, j, one, _ in self._solved(r, p, blocks)]
        i, j = (np.array([one[k] for one in found], np.int64) for k in (0, 1))
        lower, upper = (np.array([getattr(one[2], name) for one in found], np.float64) for name in ("lower", "upper"))
        optimal = np.array([one[2].optimal for one in found], np.bool_)
        most = np.full(len(found), np.inf)
        wants_upper = getattr(self, "upper", False)
        if wants_upper and self.regular:
            most = np.minimum(self.selves(r)[i], self.selves(p)[j])
        total = bound(lower, upper, optimal, most, wants_upper)
        keep = np.flatnonzero(total > 0)
        return Sums(i[keep], j[keep], total[keep], total[keep], total[keep])

    def matched(self, r: Items, p: Items) -> Pairs:
        """The node pairs that make up Σ, owner k against owner k."""
        i, j, weight = [_NOTHING], [_NOTHING], [np.empty(0)]
        for a, b, one, table in self._solved(r, p, Blocks.diagonal(len(r))):
            i.append(one.left + r.offsets[a])
            j.append(one.right + p.offsets[b])
            weight.append(table[one.left, one.right])
        return Pairs(np.concatenate(i), np.concatenate(j), np.concatenate(weight))

    def _solved(self, r: Any, p: Any, blocks: Blocks) -> Iterator[tuple[int, int, Matched, F64]]:
        found = self.item_pairs(r, p, blocks)
        a, b = r.owners[found.i], p.owners[found.j]
        groups = a * len(p) + b
        order = sort_order(groups, max(1, len(r) * len(p)))
        for one in np.split(order, starts_of_runs(groups[order])[1:]) if len(order) else []:
            i, j = int(a[one[0]]), int(b[one[0]])
            u, v = found.i[one] - r.offsets[i], found.j[one] - p.offsets[j]
            weight = np.asarray(found.weight[one], np.float64)
            table = np.zeros((int(r.offsets[i + 1] - r.offsets[i]), int(p.offsets[j + 1] - p.offsets[j])))
            table[u, v] = weight
            yield i, j, self._answer(r, p, i, j, u, v, weight), table

    def _answer(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        def solve() -> Matched:
            found = self.solve(r, p, i, j, u, v, weight)
            r.proofs.open += not found.optimal
            return found

        if self.time_limit is None:
            return solve()
        settings = (self.name, self.time_limit, getattr(self, "constraint", None))
        arrays = (*r.links_of(i), *p.links_of(j), u, v, weight)
        found = r.proofs.once(settings, arrays, solve)
        assert isinstance(found, Matched)
        return found


def _opened(data: Data, expected: type, scope: Scope) -> tuple[I64, list[Any], I64, I64, I64]:
    """Offsets and labels of all nodes, and offsets and ends of all links."""
    sizes, labels, counts, ends = [], [], [], []
    for value in leaf_values(data, scope):
        if not isinstance(value, expected):
            raise ValueMismatch(
                f"at {scope}: expected a {expected.__name__}, found {type(value).__name__} {value!r:.60}"
            )
        if isinstance(value, Tree):
            nodes = list(value.nodes())
            labels += [node.label for node, _ in nodes]
            links = [(parent, place) for place, (_, parent) in enumerate(nodes) if parent >= 0]
            sizes.append(len(nodes))
        else:
            assert isinstance(value, Graph)
            labels += list(value)
            links = list(value.edges)
            sizes.append(len(value))
        counts.append(len(links))
        ends += links
    table = np.array(ends, np.int64).reshape(-1, 2)
    return offsets_of(sizes), labels, offsets_of(counts), table[:, 0], table[:, 1]


def _table(r: Items, p: Items, i: int, j: int, u: I64, v: I64, weight: F64) -> F64:
    table = np.zeros((int(r.offsets[i + 1] - r.offsets[i]), int(p.offsets[j + 1] - p.offsets[j])))
    table[u, v] = weight
    return table


@frozen
class OrderedTree(Structured):
    """Σ over nodes of two trees; ancestors and left-to-right order are kept."""

    name = "tree"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        return match_ordered(r.parents_of(i), p.parents_of(j), _table(r, p, i, j, u, v, weight))


@frozen
class TopDown(Structured):
    """Σ over nodes of two trees; matched nodes have matched parents. With `ordered`, children in their order."""

    ordered: bool = False
    name = "top_down"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        table = _table(r, p, i, j, u, v, weight)
        return match_top_down(r.parents_of(i), p.parents_of(j), table, ordered=self.ordered)


@frozen
class UnorderedTree(Limited, Structured):
    """Σ over nodes of two trees; ancestors are kept, the order of children is not."""

    name = "unordered"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        table = _table(r, p, i, j, u, v, weight)
        return match_unordered(r.parents_of(i), p.parents_of(j), table, limit=self.limit)


@frozen
class OrderedGraph(Limited, Constrained, Structured):
    """Σ over nodes of two directed graphs; what can be reached from what is kept."""

    name = "graph"
    expects = Graph

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64) -> Matched:
        before = [
            reachability(int(side.offsets[k + 1] - side.offsets[k]), *side.links_of(k)) for side, k in ((r, i), (p, j))
        ]
        # The reference is the first side here.
        return match_orders(before[0], before[1], u, v, weight, turned(self.constraint), limit=self.limit)

    def _selves(self, column: Items) -> F64:
        if self.constraint == "N:N":
            return replace(self, upper=False)._solved_selves(column)
        return super()._selves(column)


def tree(inner: Similarity) -> OrderedTree:
    """Σ over the nodes of ordered trees: ancestors and left-to-right order are kept (eq. 37)."""
    return OrderedTree(inner)


def top_down(inner: Similarity, *, ordered: bool = False) -> TopDown:
    """Σ over the nodes of trees, of which matched ones have matched parents; roots meet roots."""
    return TopDown(inner, ordered)


def unordered(inner: Similarity, *, limit: float | None = None) -> UnorderedTree:
    """Σ over the nodes of trees: only ancestors are kept; `limit` in seconds for each pair of trees."""
    return UnorderedTree(inner, limit)


def graph(inner: Similarity, constraint: str = "1:1", *, limit: float | None = None) -> OrderedGraph:
    """Σ over the nodes of directed graphs: reachability is kept (appendix A.2); `limit` in seconds for each pair."""
    return OrderedGraph(inner, constraint, limit)
