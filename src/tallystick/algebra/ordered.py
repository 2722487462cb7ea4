"""Matching in order (eq. 37). Of sequences: the heaviest chain of item pairs that rises on both sides.

≤ is reflexive and the condition is an "iff", so all four constraints coincide with 1:1 here. Equal items go to a fast
LCS over codes, similarities that fill a rectangle to a dynamic programme over it, all others to a sparse chain (see
`engine.orders`). Trees and graphs follow below.

Edit distances are matchings, too.

Turning x into y costs 1 for every item that is deleted or inserted, and 1 - φ for every item that is replaced by another. The items
that are kept or replaced are pairs of a matching in order, so with n and m items

    d(x, y) = n + m - 2 Σ,      Σ = the best Σ (1 + φ) / 2 over matchings in order

    replaceable(φ)    (1 + φ) / 2: any item may stand for any other, at half its price
    edit(φ)           sequence(replaceable(φ)): Levenshtein's distance
    tree_edit(φ)      tree(replaceable(φ)): the tree edit distance of Zhang and Shasha
    edit_ratio(Σ)     1 - d / max(n, m), as TEDS and normalised edit similarities have it

Alignments, bounds and fields are those of every other matching.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Seq
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tallystick.algebra.node import Around, Similarity
from tallystick.algebra.normalise import Normaliser
from tallystick.algebra.plain import Plain, in_order
from tallystick.algebra.proofs import Limited, Proofs, WatchedItems, bounded_sums
from tallystick.algebra.sets import Constrained, Matching, turned
from tallystick.engine.arrays import (
    F64,
    I64,
    MOST_CELLS,
    Blocks,
    Frame,
    Grid,
    Items,
    Numbered,
    Pairs,
    Sums,
    distinct,
    expand,
    join,
    number_jointly,
    number_lists,
    offsets_of,
    runs,
    sort_order,
    sum_by_key,
)
from tallystick.engine.data import Bag, Data, Objects, Scope, leaf_values
from tallystick.engine.orders import (
    Matched,
    match_dense,
    match_equal,
    match_orders,
    match_sparse,
    reachability,
)
from tallystick.engine.trees import match_ordered, match_top_down, match_unordered
from tallystick.engine.values import REFUSED, Refusals, Unfit
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen
from tallystick.structures.graphs import Graph, Tree

if TYPE_CHECKING:
    from random import Random

DENSE_SHARE = 0.2
"""From how many pairs of a rectangle on the rectangle is filled instead of followed pair by pair."""
LONG_PAIRS = 100_000
LONG_CELLS = 100_000_000
"""From so many pairs on, and cells of two sequences of equal items, a matching may take long enough to need a limit."""


@frozen(eq=False)
class WatchedSequences(WatchedItems):
    """Collections whose order means something, and whose matching may be left open."""

    in_order = True


@frozen
class Sequence(Limited, Matching):
    """Σ over an order-preserving matching of items."""

    name = "sequence"
    says = "pairs in order only"

    def _encode_bags(self, left: Bag, right: Bag, scope: Scope) -> tuple[Items, Items]:
        sides, proofs = super()._encode_bags(left, right, scope), Proofs.of(scope)
        r, p = (WatchedSequences(side.offsets, side.items, None, proofs) for side in sides)
        return r, p

    def plain(self) -> Plain | None:
        inner = self.plain_items()
        return None if inner is None else inner._replace(weigh=partial(in_order, inner.weigh), equality=False)

    def sums(self, r: Items, p: Items, blocks: Blocks) -> Sums:
        if self.inner.exact_only:
            i, j, total, most = self._count_equal(*self._codes(r, p, blocks), r, p, blocks)
        else:
            chosen, unproven = self._chains(r, p, blocks)
            width, bound = len(p), max(1, len(r) * len(p))
            keys, total = sum_by_key(r.owners[chosen.i] * width + p.owners[chosen.j], bound, chosen.weight)
            i, j, most = keys // width, keys % width, total
            if unproven:
                most = np.maximum(total, [unproven.get(key, 0.0) for key in keys.tolist()])
        if most is total:
            return Sums(i, j, total, total, total)
        return bounded_sums(self, r, p, i, j, total, most, most <= total)

    def matched(self, r: Items, p: Items) -> Pairs:
        blocks = Blocks.diagonal(len(r))
        if self.inner.exact_only:
            left, right = self._codes(r, p, blocks)
            rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
            for k in range(len(r)):
                a, b = (int(end) for end in r.offsets[k : k + 2])
                c, d = (int(end) for end in p.offsets[k : k + 2])
                if a < b and c < d:
                    one = self._match_equal(r, left[a:b], right[c:d])
                    rows.append(one.left + a)
                    columns.append(one.right + c)
            i, j = np.concatenate(rows), np.concatenate(columns)
            return Pairs(i, j, np.ones(len(i)))
        return self._chains(r, p, blocks)[0]

    def _match_equal(self, r: Any, left: I64, right: I64) -> Matched:
        """The longest common subsequence of two sequences of codes; of long ones it is found once."""
        if len(left) * len(right) < LONG_CELLS:
            return match_equal(left.tolist(), right.tolist())

        def solve() -> Matched:
            found = match_equal(left.tolist(), right.tolist(), limit=self.seconds)
            r.proofs.open += not found.optimal
            return found

        found = r.proofs.once((self.name, self.seconds), (left, right), solve)
        assert isinstance(found, Matched)
        return found

    def _codes(self, r: Items, p: Items, blocks: Blocks) -> tuple[I64, I64]:
        """Equal codes for equal items that may meet."""
        refined = self.inner.refine(r.items, p.items, blocks.at(r.owners, p.owners)).dense()
        return refined.reference, refined.predicted

    def _chains(self, r: Any, p: Any, blocks: Blocks) -> tuple[Pairs, dict[int, float]]:
        """The items' pairs that are in the heaviest chain of their two owners; and, by the number of these, what a chain that is not
        proven may earn at most."""

        def chains() -> tuple[Pairs, dict[int, float]]:
            began, unproven = time.monotonic(), dict[int, float]()
            found = self.item_pairs(r, p, blocks)
            if isinstance(found, Grid) and blocks.aligned:
                return Pairs.joined([Pairs.none(), *_rectangles(found, r.owners)]), {}
            groups = r.owners[found.i] * len(p) + p.owners[found.j]
            order = sort_order(groups, max(1, len(r) * len(p)))
            problems, chosen = runs(order, groups), [Pairs.none()]
            for one in problems:
                spent = (time.monotonic() - began) / max(1, len(problems))
                limit = max(self.seconds / 10, self.seconds - spent) if len(one) > LONG_PAIRS else None
                taken, upper = _taken(found, one, limit)
                chosen.append(taken)
                if upper is not None:
                    unproven[int(groups[one[0]])] = upper
            r.proofs.open += len(unproven)
            return Pairs.joined(chosen), unproven

        if not blocks.aligned:
            return chains()
        answer: tuple[Pairs, dict[int, float]] = r.proofs.kept_if_long(self, r, p, chains)
        return answer

    def _count_equal(self, left: I64, right: I64, r: Items, p: Items, blocks: Blocks) -> tuple[I64, I64, F64, F64]:
        """The length of the longest common subsequence of every two owners that have an item in common, and what it may be at most."""
        from rapidfuzz.distance import LCSseq

        if blocks.aligned:
            i = j = np.flatnonzero((np.diff(r.offsets) > 0) & (np.diff(p.offsets) > 0))
        else:
            i, j = _meeting(left, right, r, p)
        one, other = left.tolist(), right.tolist()
        a, b = r.offsets.tolist(), p.offsets.tolist()
        total, unproven = np.zeros(len(i)), dict[int, float]()
        for place, (k, m) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
            ours, theirs = slice(a[k], a[k + 1]), slice(b[m], b[m + 1])
            if (a[k + 1] - a[k]) * (b[m + 1] - b[m]) < LONG_CELLS:
                total[place] = LCSseq.similarity(one[ours], other[theirs])
                continue
            found = self._match_equal(r, left[ours], right[theirs])
            total[place] = found.lower
            if not found.optimal:
                unproven[place] = found.upper
        most = total
        if unproven:
            most = total.copy()
            most[list(unproven)] = list(unproven.values())
        keep = np.flatnonzero(most)
        if len(keep) == len(total):
            return i, j, total, most
        return i[keep], j[keep], total[keep], total[keep] if most is total else most[keep]


def _taken(found: Pairs, one: I64, limit: float | None = None) -> tuple[Pairs, float | None]:
    """Of the pairs `one` of two owners those in the heaviest chain; and what another may earn at most, if a limit in seconds struck."""
    best = _chain(found.i[one], found.j[one], found.weight[one], limit)
    keep = one[best[0]]
    return Pairs(found.i[keep], found.j[keep], found.weight[keep]), best[1]


def _chain(i: I64, j: I64, weight: F64, limit: float | None) -> tuple[I64, float | None]:
    """The positions of the heaviest chain among pairs, and the bound of one that is not proven."""
    rows, columns = int(i.max() - i.min()) + 1, int(j.max() - j.min()) + 1
    if len(i) == 1:
        return np.zeros(1, np.int64), None
    if len(i) < DENSE_SHARE * rows * columns or rows * columns > MOST_CELLS:
        best = match_sparse(i, j, weight, limit=limit)
        left, right = best.left, best.right
    else:
        table = np.zeros((rows, columns))
        table[i - i.min(), j - j.min()] = weight
        best = match_dense(table)
        left, right = best.left + i.min(), best.right + j.min()
    width = int(j.max()) + 1
    keys = i * width + j
    order = np.argsort(keys, kind="stable")
    places = np.asarray(order[np.searchsorted(keys[order], left * width + right)], np.int64)
    return places, None if best.optimal else best.upper


def _rectangles(found: Grid, owners: I64) -> Iterator[Pairs]:
    """The heaviest chains of dense items of aligned owners, straight from their rectangles.

    An owner may have several rectangles, where exact fields of a record split its items; then its pairs have to be
    taken together.
    """
    every = found.frame.rectangles()
    owner = np.array([owners[rows[0]] for rows, _, _ in every], np.int64)
    alone = np.bincount(owner, minlength=1)[owner] == 1
    for (rows, columns, cells), single in zip(every, alone.tolist(), strict=True):
        if single:
            table = found.flat[cells].reshape(len(rows), len(columns))
            best = match_dense(table)
            weight = table[best.left, best.right]
            keep = weight > 0
            yield Pairs(rows[best.left[keep]], columns[best.right[keep]], weight[keep])
    if not alone.all():
        rest = np.flatnonzero(np.isin(owners[found.i], owner[~alone]))
        order = rest[np.argsort(owners[found.i[rest]], kind="stable")]
        for one in runs(order, owners[found.i]):
            yield _taken(found, one)[0]


def _meeting(left: I64, right: I64, r: Items, p: Items) -> tuple[I64, I64]:
    """The pairs of owners that have an item in common."""
    bound = 1 + int(max(left.max(initial=0), right.max(initial=0)))
    ours, theirs = (distinct(codes * len(column) + column.owners) for codes, column in ((left, r), (right, p)))
    a, b = join(ours // max(len(r), 1), theirs // max(len(p), 1), bound)
    keys = distinct(ours[a] % max(len(r), 1) * len(p) + theirs[b] % max(len(p), 1))
    return keys // max(len(p), 1), keys % max(len(p), 1)


def sequence(inner: Similarity, *, limit: float | None = None) -> Sequence:
    """Σ over items matched in order (eq. 37); `limit` in seconds for each pair of sequences.

    >>> ts.f1(ts.sequence(ts.exact))(["a", "b", "c"], ["b", "a", "c"])
    0.6666666666666666
    """
    return Sequence(inner, limit)


# Matching of trees and directed graphs in the algebra (eq. 37, appendix A.2).
#
#     tree(φ)         ordered trees: keeps ancestors and left-to-right order (the mappings of tree edit distance)
#     top_down(φ)     trees: a pair may be matched only if its parents are matched to each other
#     unordered(φ)    trees: keeps ancestors only, eq. 37 itself
#     graph(φ)        directed graphs: u ≤ u' if and only if v ≤ v', where ≤ is reachability
#
# φ compares the labels of nodes. The first two are polynomial. The others are integer programmes with a certificate. All have
# bounds where their limit strikes; `limit` is in seconds for each pair of values. All four constraints are one for trees and acyclic graphs;
# only inside of cycles `graph(φ, "N:1")` differs from `graph(φ)`.

_NOTHING = np.empty(0, np.int64)
NO_NODES: Graph[Any] = Graph()
"""What stands for a tree or graph that a prediction lacks."""

FEW_CELLS_A_SECOND = 1_000_000
CELLS_A_SECOND, PAIRS_A_SECOND = 30_000_000, 4_000_000
"""Of the nodes of two trees, each with each, so many can be looked at in a second of a limit, and so many that are similar be listed and laid out; fewer are never asked about."""


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

    def beginning(self, counts: I64) -> Linked:
        """The first nodes of each owner, so many, and the links among them."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.links))
        inside = (self.source < counts[owners]) & (self.target < counts[owners])
        links = offsets_of(np.bincount(owners[inside], minlength=len(self)))
        return replace(
            self,
            offsets=offsets_of(counts),
            items=self.items.take(expand(self.offsets[:-1], counts)),
            links=links,
            source=self.source[inside],
            target=self.target[inside],
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

    expects: ClassVar[type[Tree[Any]] | type[Graph[Any]]] = Tree
    drawn = "tree"
    keeps: ClassVar[str]
    """What a matching of nodes has to keep, in words."""

    @property
    def void(self) -> Any:
        return NO_NODES

    def in_words(self) -> tuple[str, ...]:
        return (f"{self.expects.__name__.lower()} of nodes, {self.keeps}",)

    def inside(self, left: Seq[Any], right: Seq[Any]) -> tuple[Similarity, Seq[Any], Seq[Any]]:
        ours, theirs = ([None if one is None else self.expects.of(one) for one in side] for side in (left, right))
        return self, ours, theirs

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float) -> Matched:
        """The best matching of owner i with owner j, whose nodes (by place) are similar as (u, v, weight) says, in so many seconds."""
        raise NotImplementedError

    @property
    def time_limit(self) -> float:
        """The time limit; every kind of matching has one."""
        return float(self.seconds)  # type: ignore[attr-defined]

    def sample(self, rng: Random, depth: int = 0) -> Any:
        raise NotImplementedError(str(self))

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        raw, found = value.value if isinstance(value, Unfit) else value, Refusals()
        if isinstance(raw, Mapping):
            raw = _plain_tree(raw, path, found) if self.expects is Tree else _plain_graph(raw, path, found)
        made = _made(raw, self.expects)
        if made is None:
            known = Refusals()  # what is known to be wrong in it already
            raw = _without_unfit(value, path, known)
            return refusals.refuse(Unfit(raw) if known.asked else raw, path)
        refusals.add(found)
        return made.relabelled(lambda label: self._accept_label(label, f"{path}[*]", refusals))

    def _accept_label(self, label: Any, path: str, refusals: Refusals) -> Any:
        """A label that cannot be compared equals nothing; its node is there all the same, and counts one of its leaves."""
        found = Refusals()
        kept = self.inner.accept(label, path, found)
        if kept is REFUSED:
            kept, found.leaves = self.inner.void, found.leaves[1:]
        refusals.add(found)
        return kept

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
        found = [(i, j, one) for i, j, one, *_ in self._solved(r, p, blocks)]
        i, j = (np.array([one[k] for one in found], np.int64) for k in (0, 1))
        lower, upper = (np.array([getattr(one[2], name) for one in found], np.float64) for name in ("lower", "upper"))
        optimal = np.array([one[2].optimal for one in found], np.bool_)
        return bounded_sums(self, r, p, i, j, lower, upper, optimal)

    def matched(self, r: Items, p: Items) -> Pairs:
        """The node pairs that make up Σ, owner k against owner k."""
        i, j, weight = [_NOTHING], [_NOTHING], [np.empty(0)]
        for a, b, one, u, v, similar in self._solved(r, p, Blocks.diagonal(len(r))):
            i.append(one.left + r.offsets[a])
            j.append(one.right + p.offsets[b])
            weight.append(_weights_of(one, u, v, similar))
        return Pairs(np.concatenate(i), np.concatenate(j), np.concatenate(weight))

    def _solved(self, r: Any, p: Any, blocks: Blocks) -> Iterable[tuple[int, int, Matched, I64, I64, F64]]:
        if not blocks.aligned:
            return self._solve_all(r, p, blocks)
        solved: list[Any] = r.proofs.kept_if_long(self, r, p, lambda: list(self._solve_all(r, p, blocks)))
        return solved

    def _solve_all(self, r: Any, p: Any, blocks: Blocks) -> Iterator[tuple[int, int, Matched, I64, I64, F64]]:
        began = time.monotonic()
        r, p, cut = self._in_time(r, p, blocks)
        found = self.item_pairs(r, p, blocks)
        a, b = r.owners[found.i], p.owners[found.j]
        groups = a * len(p) + b
        order = sort_order(groups, max(1, len(r) * len(p)))
        problems = runs(order, groups)
        spent = (time.monotonic() - began) / max(1, len(problems))
        limit = max(self.time_limit / 10, self.time_limit - spent)
        for one in problems:
            i, j = int(a[one[0]]), int(b[one[0]])
            u, v = found.i[one] - r.offsets[i], found.j[one] - p.offsets[j]
            weight = np.asarray(found.weight[one], np.float64)
            yield i, j, self._answer(r, p, i, j, u, v, weight, limit, i in cut), u, v, weight

    def _in_time(self, r: Linked, p: Linked, blocks: Blocks) -> tuple[Linked, Linked, set[int]]:
        """Trees of which not even the pairs of nodes can be listed in time are cut down to their first nodes, which hold all
        ancestors of each other: what these earn the whole trees can earn too. Which ones were cut."""
        sizes = [np.diff(side.offsets) for side in (r, p)]
        if self.expects is not Tree or not blocks.aligned or not self.regular or len(r) != len(p):
            return r, p, set()
        cells = sizes[0].astype(np.float64) * sizes[1]
        if cells.max(initial=0.0) < FEW_CELLS_A_SECOND * self.time_limit:
            return r, p, set()
        share = 1.0
        if self.inner.exact_only:
            alike = self.inner.refine(r.items, p.items, blocks.at(r.owners, p.owners)).cells
            share = alike / cells.sum()
        takes = cells * (1 / CELLS_A_SECOND + share / PAIRS_A_SECOND) / self.time_limit
        part = np.sqrt(np.minimum(1.0, 1 / np.maximum(takes, 1e-9)))
        kept = [np.maximum(np.minimum(size, 1), (size * part).astype(np.int64)) for size in sizes]
        return r.beginning(kept[0]), p.beginning(kept[1]), set(np.flatnonzero(takes > 1).tolist())

    def _answer(
        self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float, cut: bool
    ) -> Matched:
        def solve() -> Matched:
            found = self.solve(r, p, i, j, u, v, weight, limit)
            if cut:  # nothing is known but the self-scores
                found = replace(found, upper=float("inf"), optimal=False)
            r.proofs.open += not found.optimal
            return found

        settings = (self.name, self.time_limit, cut, getattr(self, "constraint", getattr(self, "ordered", None)))
        arrays = (*r.links_of(i), *p.links_of(j), u, v, weight)
        found = r.proofs.once(settings, arrays, solve)
        assert isinstance(found, Matched)
        return found


def _opened(
    data: Data, expected: type[Tree[Any]] | type[Graph[Any]], scope: Scope
) -> tuple[I64, list[Any], I64, I64, I64]:
    """Offsets and labels of all nodes, and offsets and ends of all links."""
    sizes, labels, counts, ends = [], [], [], []
    for value in leaf_values(data, scope):
        if value is NO_NODES:
            sizes.append(0)
            counts.append(0)
            continue
        if not isinstance(value, (expected, Mapping)):
            raise ValueMismatch(
                f"at {scope}: expected a {expected.__name__}, found {type(value).__name__} {value!r:.60}"
            )
        try:
            value = expected.of(value)
        except ValueMismatch as error:
            raise ValueMismatch(f"at {scope}: {error}") from None
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


# Predicted trees and graphs, whatever shape was expected below them: its depth is no matter, nor is the form of nodes. What is wrong
# in one is refused by itself, and the rest is compared.


def _made(value: Any, expected: type[Tree[Any]] | type[Graph[Any]]) -> Tree[Any] | Graph[Any] | None:
    try:
        return expected.of(value) if isinstance(value, (expected, Mapping)) else None
    except ValueMismatch:
        return None


def _plain_tree(value: Any, path: str, found: Refusals) -> Any:
    """Plain data that `Tree.of` takes."""
    if isinstance(value, Unfit):
        found.asked.add(path)
        value = value.value
    if not isinstance(value, Mapping):
        return value
    children = value.get("children")
    listed = children.value if isinstance(children, Unfit) else children
    if isinstance(listed, (list, tuple)):
        found.asked |= {f"{path}.children"} if listed is not children else set()
        listed = [_plain_tree(child, f"{path}.children[*]", found) for child in listed]
    elif listed is not None:
        found.refuse(children, f"{path}.children")
        listed = None
    _refuse_others(value, ("label", "children"), path, found)
    if "label" not in value:
        found.wrong.append((path, value))
    return {"label": value.get("label", Unfit(None)), "children": listed}


def _plain_graph(value: Mapping[str, Any], path: str, found: Refusals) -> Any:
    """Plain data that `Graph.of` takes, or something that it does not if the nodes are no nodes."""
    plain = {
        name: _without_unfit(one, f"{path}.{name}", found) for name, one in value.items() if name in ("nodes", "edges")
    }
    edges = plain.pop("edges", None)
    kept: list[Any] = []
    if edges is not None and not isinstance(edges, (list, tuple)):
        found.refuse(edges, f"{path}.edges")
        edges = None
    for edge in edges or ():
        if _made({**plain, "edges": [edge]}, Graph) is not None:
            kept.append(edge)
        else:
            found.refuse(edge, f"{path}.edges[*]")
    _refuse_others(value, ("nodes", "edges"), path, found)
    return {**plain, "edges": kept}


def _without_unfit(value: Any, path: str, found: Refusals) -> Any:
    if isinstance(value, Unfit):
        found.asked.add(path)
        return value.value
    if isinstance(value, Mapping):
        return {key: _without_unfit(one, f"{path}.{key}", found) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_unfit(one, f"{path}[*]", found) for one in value]
    return value


def _refuse_others(value: Mapping[str, Any], known: tuple[str, ...], path: str, found: Refusals) -> None:
    for key, one in value.items():
        if key not in known and one is not None:
            found.refuse(one, f"{path}.{key}")


def _weights_of(matched: Matched, u: I64, v: I64, weight: F64) -> F64:
    """What each matched pair is worth, of the pairs (u, v) that are similar."""
    width = 1 + int(max(v.max(initial=0), matched.right.max(initial=0)))
    wanted = matched.left * width + matched.right
    keys = u * width + v
    some = np.flatnonzero(np.isin(u, matched.left))
    order = some[np.argsort(keys[some], kind="stable")]
    place = np.minimum(np.searchsorted(keys[order], wanted), max(0, len(order) - 1))
    if not len(order):
        return np.zeros(len(wanted))
    return np.where(keys[order][place] == wanted, weight[order][place], 0.0)


def _table(r: Items, p: Items, i: int, j: int, u: I64, v: I64, weight: F64) -> F64:
    table = np.zeros((int(r.offsets[i + 1] - r.offsets[i]), int(p.offsets[j + 1] - p.offsets[j])))
    table[u, v] = weight
    return table


@frozen
class OrderedTree(Limited, Structured):
    """Σ over nodes of two trees; ancestors and left-to-right order are kept."""

    name = "tree"
    keeps = "which keeps ancestors and the order of children"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float) -> Matched:
        table = _table(r, p, i, j, u, v, weight)
        return match_ordered(r.parents_of(i), p.parents_of(j), table, limit=limit)


@frozen
class _Descent(Structured):
    """The field that stands before the limit."""

    ordered: bool = False


@frozen
class TopDown(Limited, _Descent):
    """Σ over nodes of two trees; matched nodes have matched parents. With `ordered`, children in their order."""

    name = "top_down"
    keeps = "from the root down"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float) -> Matched:
        table = _table(r, p, i, j, u, v, weight)
        return match_top_down(r.parents_of(i), p.parents_of(j), table, ordered=self.ordered, limit=limit)


@frozen
class UnorderedTree(Limited, Structured):
    """Σ over nodes of two trees; ancestors are kept, the order of children is not."""

    name = "unordered"
    keeps = "which keeps ancestors"

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float) -> Matched:
        table = _table(r, p, i, j, u, v, weight)
        return match_unordered(r.parents_of(i), p.parents_of(j), table, limit=limit)


@frozen
class OrderedGraph(Limited, Constrained, Structured):
    """Σ over nodes of two directed graphs; what can be reached from what is kept."""

    name = "graph"
    keeps = "which keeps what can be reached from what"
    expects = Graph

    def solve(self, r: Linked, p: Linked, i: int, j: int, u: I64, v: I64, weight: F64, limit: float) -> Matched:
        before = [
            reachability(int(side.offsets[k + 1] - side.offsets[k]), *side.links_of(k)) for side, k in ((r, i), (p, j))
        ]
        # The reference is the first side here.
        return match_orders(before[0], before[1], u, v, weight, turned(self.constraint), limit=limit)

    def _selves(self, column: Items) -> F64:
        if self.constraint == "N:N":
            return replace(self, upper=False)._solved_selves(column)
        return super()._selves(column)


def tree(inner: Similarity, *, limit: float | None = None) -> OrderedTree:
    """Σ over the nodes of ordered trees: ancestors and left-to-right order are kept (eq. 37); `limit` as in `unordered`.

    >>> ts.f1(ts.tree(ts.exact))(Tree("a", [Tree("b"), Tree("c")]), Tree("a", [Tree("c"), Tree("b")]))
    0.6666666666666666
    """
    return OrderedTree(inner, limit)


def top_down(inner: Similarity, *, ordered: bool = False, limit: float | None = None) -> TopDown:
    """Σ over the nodes of trees, of which matched ones have matched parents; roots meet roots; `limit` as in `unordered`.

    >>> gold, system = Tree("a", [Tree("b", [Tree("c")])]), Tree("a", [Tree("c")])
    >>> ts.f1(ts.top_down(ts.exact))(gold, system), ts.f1(ts.tree(ts.exact))(gold, system)
    (0.4, 0.8)
    """
    return TopDown(inner, ordered, limit)


def unordered(inner: Similarity, *, limit: float | None = None) -> UnorderedTree:
    """Σ over the nodes of trees: only ancestors are kept; `limit` in seconds for each pair of trees.

    >>> ts.f1(ts.unordered(ts.exact))(Tree("a", [Tree("b"), Tree("c")]), Tree("a", [Tree("c"), Tree("b")]))
    1.0
    """
    return UnorderedTree(inner, limit)


def graph(inner: Similarity, constraint: str = "1:1", *, limit: float | None = None) -> OrderedGraph:
    """Σ over the nodes of directed graphs: reachability is kept (appendix A.2); `limit` in seconds for each pair.

    >>> a, b = Graph(["x", "y"], [(0, 1)]), Graph(["y", "x"], [(1, 0)])
    >>> ts.f1(ts.graph(ts.exact))(a, b)
    1.0
    """
    return OrderedGraph(inner, constraint, limit)


@frozen
class Replaceable(Around):
    """(s + φ) / 2, where s is the smaller self-score: what may be replaced by anything, at half its price."""

    inner: Similarity
    name = "replaceable"
    says = "anything may stand for it, at half its price"
    also = ("edit", "tree_edit")

    @property
    def dense(self) -> bool:
        return True

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return blocks.frame.pairs(self.fill(r, p, blocks.frame))

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        whole: F64 = np.minimum(frame.by_row(self.inner.selves(r)), frame.by_column(self.inner.selves(p)))
        if self.inner.dense:
            whole += self.inner.fill(r, p, frame)
            whole /= 2
            return whole
        columns = np.empty(len(p), np.int64)
        columns[frame.column_order] = np.repeat(np.arange(len(frame.column_counts)), frame.column_counts)
        found = self.inner.pairs(r, p, Blocks(frame.block_of_row, columns, max(1, len(frame.row_counts))))
        whole[frame.cells(found.i, found.j)] += found.weight
        whole /= 2
        return whole

    def _selves(self, column: Any) -> F64:
        return self.inner.selves(column)

    def plain(self) -> Plain | None:
        inner = self.inner.plain()
        if inner is None:
            return None
        weigh, (left, right) = inner.weigh, inner.own
        return Plain(inner.see, lambda a, b: (min(left(a), right(b)) + weigh(a, b)) / 2, inner.own)


@frozen
class EditRatio(Normaliser):
    """1 - (Σ(R,R) + Σ(P,P) - 2 Σ(P,R)) / max(Σ(R,R), Σ(P,P)): the share of the longer side that need not be edited."""

    name = "edit_ratio"
    says = "what need not be edited, of the longer side"

    @property
    def headline(self) -> tuple[str, float]:
        return "f1", 1.0

    @property
    def summed(self) -> Similarity:
        return self

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        return num_r / den_r  # the tally is of ratios, whose self-scores are 1

    def figure(self, num_r: Any, num_p: Any, den_r: Any, den_p: Any) -> Any:
        return np.maximum(0, 1 - (den_r + den_p - num_r - num_p) / np.maximum(den_r, den_p))


def edit(inner: Similarity, *, limit: float | None = None) -> Sequence:
    """Sequences compared by their edit distance, in which an item may be replaced at the price of 1 - φ; `limit` as in `sequence`.

    >>> ts.edit_ratio(ts.edit(ts.exact))(["a", "b"], ["a", "c"])
    0.5
    """
    return Sequence(Replaceable(inner), limit)


def tree_edit(inner: Similarity, *, limit: float | None = None) -> OrderedTree:
    """Ordered trees compared by their edit distance, in which a node may be replaced at the price of 1 - φ.

    >>> tree = {"label": "a", "children": [{"label": "b", "children": []}]}
    >>> ts.edit_ratio(ts.tree_edit(ts.exact))(tree, {"label": "a", "children": []})
    0.5
    """
    return OrderedTree(Replaceable(inner), limit)


def edit_ratio(inner: Similarity) -> EditRatio:
    """The share of the longer side that need not be edited.

    >>> ts.edit_ratio(ts.edit(ts.exact))(["a", "b"], ["a", "c"])
    0.5
    """
    return EditRatio(inner)


def replaceable(inner: Similarity) -> Replaceable:
    """What may be replaced by anything, at half its price: the items of an edit distance.

    >>> ts.sequence(ts.replaceable(ts.exact))(["a", "b"], ["a", "c"])
    1.5
    """
    return Replaceable(inner)
