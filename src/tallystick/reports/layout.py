"""Where the nodes of a graph stand: a column for each depth, a row for each leaf.

A spanning tree is grown from the roots, level by level, so that no node is deeper than it needs to be. What the
reference has comes first, so that a wrong edge never decides where a right one goes. Edges are followed in both
directions; one that was followed against its own is *turned*. A node stands in the row of its first child, so that
there are as many rows as leaves:

    want ── ARG0 ── boy
       └─── ARG1 ── go ── ARG4 ── city
                     └─── time ── now

Edges outside of the tree (re-entrancies) are drawn across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallystick.reports.drawings import Link


@dataclass(frozen=True)
class Placed:
    """For each node its column and row; by their numbers the edges of the tree, and those drawn the other way round."""

    where: list[tuple[int, int]]
    tree: frozenset[int]
    turned: frozenset[int]


def place(nodes: int, links: Sequence[Link], roots: Sequence[int] = ()) -> Placed:
    """Columns and rows for all nodes, also for those that no root reaches."""
    from tallystick.reports.drawings import SPURIOUS

    near: list[list[tuple[int, int, bool]]] = [[] for _ in range(nodes)]
    for number, link in enumerate(links):
        near[link.source].append((number, link.target, False))
        if link.source != link.target:
            near[link.target].append((number, link.source, True))
    depth = [-1] * nodes
    children: list[list[int]] = [[] for _ in range(nodes)]
    tree: set[int] = set()
    turned: set[int] = set()

    def grow(start: Sequence[int], wrong_too: bool) -> None:
        reached = list(start)
        for node in reached:
            for number, other, against in near[node]:
                if depth[other] < 0 and (wrong_too or links[number].status != SPURIOUS):
                    depth[other] = depth[node] + 1
                    children[node].append(other)
                    tree.add(number)
                    if against:
                        turned.add(number)
                    reached.append(other)

    tops: list[int] = []
    for root in (*roots, *_unentered(nodes, links), *range(nodes)):
        if depth[root] < 0:
            tops.append(root)
            depth[root] = 0
            grow([root], False)
            grow([node for node in range(nodes) if depth[node] >= 0], True)
    where = [(0, 0)] * nodes
    row = -1
    waiting = [(top, True) for top in reversed(tops)]
    while waiting:
        node, below = waiting.pop()
        row += below
        where[node] = (depth[node], row)
        waiting += [(child, k > 0) for k, child in reversed(list(enumerate(children[node])))]
    return Placed(where, frozenset(tree), frozenset(turned))


def _unentered(nodes: int, links: Sequence[Link]) -> list[int]:
    entered = {link.target for link in links}
    return [node for node in range(nodes) if node not in entered]
