"""What a variable map says: which triples of two graphs match, which are missed, which are spurious."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask, check_pairs
from tallystick.engine.latent import solve_all
from tallystick.engine.latent_pairs import Problems
from tallystick.tasks.amr.files import Graph
from tallystick.tasks.amr.triples import Counting, Duplicates, FactReader, Facts


@dataclass(frozen=True)
class Alignment:
    """Which variable is which, and the triples (source, role, target) that match, are missed, are spurious.

    `matched` pairs the reference's triple with the predicted one.
    """

    variables: list[tuple[str, str]]
    unmatched_reference: list[str]
    unmatched_predicted: list[str]
    matched: list[tuple[tuple[str, str, str], tuple[str, str, str]]]
    missed: list[tuple[str, str, str]]
    spurious: list[tuple[str, str, str]]


def align(reference: Facts, predicted: Facts, mapping: I64) -> Alignment:
    """The alignment that a mapping (reference variable → predicted variable or -1) gives."""
    pairs = [(i, int(j)) for i, j in enumerate(mapping.tolist()) if j >= 0]
    back = {j: i for i, j in pairs}
    waiting: dict[object, list[tuple[str, str, str]]] = {}
    for key, shown in _keyed(predicted, lambda v: back.get(v, ("predicted", v))):
        waiting.setdefault(key, []).append(shown)
    matched, missed = [], []
    for key, shown in _keyed(reference, lambda v: v):
        if waiting.get(key):
            matched.append((shown, waiting[key].pop(0)))
        else:
            missed.append(shown)
    chosen = {i for i, _ in pairs}
    return Alignment(
        [(reference.variables[i], predicted.variables[j]) for i, j in pairs],
        [name for i, name in enumerate(reference.variables) if i not in chosen],
        [name for j, name in enumerate(predicted.variables) if j not in back],
        matched,
        missed,
        [shown for rest in waiting.values() for shown in rest],
    )


def _keyed(facts: Facts, name: Callable[[int], object]) -> Iterable[tuple[object, tuple[str, str, str]]]:
    names = facts.variables
    for v, role, value, turned in facts.unary:
        shown = (value, role, names[v]) if turned else (names[v], role, value)
        yield (name(v), role, value, turned), shown
    for s, role, t in facts.binary:
        yield (name(s), role, name(t)), (names[s], role, names[t])
    for free in facts.free:
        yield free, free


# Smatch (eq. 35) over many pairs of graphs: counts with their proof.
#
# A pair of graphs becomes a problem of `tallystick.engine.latent`: a fact on one variable is a single weight
# for each pair of variables that share it, a relation is a link. Facts are numbered jointly over both sides and
# joined for a whole block of graphs at once; the solver proves most of the block with array operations alone.

_BLOCK_PAIRS, _BLOCK_LINKS = 1000, 2_000_000
MOST_LINKS = 5_000_000
"""Pairs of edges of one role in two graphs; so many need some 2.5 GB. Two graphs of 2,000 such edges have 4,000,000."""
_WATCHED_PAIRS = 100  # somebody is watching the progress


@dataclass(frozen=True)
class Counts:
    """For each pair: matched triples (`matched` is achieved, nothing exceeds `upper`), and the triples of
    both sides."""

    matched: F64
    upper: F64
    optimal: Mask
    reference: I64
    predicted: I64
    mappings: list[I64]
    seconds: F64

    @property
    def tally(self) -> tuple[float, int, int]:
        """The sums over all pairs: matched, predicted, reference."""
        return float(self.matched.sum()), int(self.predicted.sum()), int(self.reference.sum())

    @property
    def precision(self) -> float | None:
        """Micro precision; None where nothing was predicted."""
        matched, predicted, _ = self.tally
        return matched / predicted if predicted else None

    @property
    def recall(self) -> float | None:
        """Micro recall; None where there is no reference."""
        matched, _, reference = self.tally
        return matched / reference if reference else None

    @property
    def f1(self) -> float | None:
        """Micro F1; None where both sides are empty."""
        matched, predicted, reference = self.tally
        return 2 * matched / (predicted + reference) if predicted + reference else None


def score_graphs(
    pairs: Sequence[tuple[Graph, Graph]],
    counting: Counting | None = None,
    *,
    limit: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Counts:
    """Smatch of (reference, predicted) pairs. `limit` in seconds for each pair; `progress` hears how many are
    done."""
    counting = counting or Counting()
    read = FactReader(counting)
    reference, predicted = [read(pair[0]) for pair in pairs], [read(pair[1]) for pair in pairs]
    return score_facts(reference, predicted, counting.duplicates, limit=limit, progress=progress)


def score_facts(
    reference: Sequence[Facts],
    predicted: Sequence[Facts],
    duplicates: Duplicates = "multiset",
    *,
    limit: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Counts:
    """The same for facts; graphs go to the solver in blocks, so that memory stays bounded."""
    parts: list[Counts] = []
    begin, links = 0, 0
    most = _BLOCK_PAIRS if progress is None else _WATCHED_PAIRS
    for n, (one, other) in enumerate(zip(reference, predicted, strict=True)):
        links += len(one.binary) * len(other.binary)
        if n + 1 == len(reference) or n + 1 - begin >= most or links >= _BLOCK_LINKS:
            parts.append(_score_block(reference[begin : n + 1], predicted[begin : n + 1], duplicates, limit))
            begin, links = n + 1, 0
            if progress is not None:
                progress(begin)
    return Counts(
        np.concatenate([np.zeros(0), *(part.matched for part in parts)]),
        np.concatenate([np.zeros(0), *(part.upper for part in parts)]),
        np.concatenate([np.zeros(0, np.bool_), *(part.optimal for part in parts)]),
        np.concatenate([np.zeros(0, np.intp), *(part.reference for part in parts)]),
        np.concatenate([np.zeros(0, np.intp), *(part.predicted for part in parts)]),
        [mapping for part in parts for mapping in part.mappings],
        np.concatenate([np.zeros(0), *(part.seconds for part in parts)]),
    )


class _Side:
    """The facts of a block of graphs as columns: distinct facts with their multiplicity."""

    def __init__(self, graphs: Sequence[Facts], codes: dict[object, int], roles: dict[str, int]) -> None:
        counts = np.array([len(g.variables) for g in graphs], np.intp)
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.triples = np.array([len(g) for g in graphs], np.intp)
        variable: list[int] = []
        code: list[int] = []
        links: list[tuple[int, int, int]] = []
        free: list[tuple[int, int]] = []
        for d, (graph, base) in enumerate(zip(graphs, self.offsets.tolist(), strict=False)):
            for v, role, value, turned in graph.unary:
                variable.append(base + v)
                code.append(codes.setdefault((role, value, turned), len(codes)))
            for source, role, target in graph.binary:
                links.append((base + source, base + target, roles.setdefault(role, len(roles))))
            for fact in graph.free:
                free.append((d, codes.setdefault(fact, len(codes))))
        self.variable, self.code = np.array(variable, np.intp), np.array(code, np.intp)
        table = np.array(links, np.intp).reshape(-1, 3)
        self.source, self.target, self.role = table[:, 0], table[:, 1], table[:, 2]
        loose = np.array(free, np.intp).reshape(-1, 2)
        self.free_doc, self.free_code = loose[:, 0], loose[:, 1]
        self.doc = np.repeat(np.arange(len(graphs)), counts)


def _distinct(*columns: I64) -> tuple[tuple[I64, ...], I64]:
    """The distinct rows of some columns and how often each occurs."""
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max()) + 1 if len(column) else 1) + column
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    return tuple(column[first] for column in columns), count


def _joined(left: I64, right: I64) -> tuple[I64, I64]:
    """All (position in left, position in right) with equal keys."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    begin, end = np.searchsorted(ordered, left, "left"), np.searchsorted(ordered, left, "right")
    count = end - begin
    check_pairs(
        int(count.sum()),
        "in graphs with thousands of edges of one role each may be any of the others; score smaller graphs",
        MOST_LINKS,
    )
    at = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(begin, count) + within]


def _weights(one: I64, other: I64, duplicates: Duplicates) -> F64:
    if duplicates == "product":
        return (one * other).astype(np.float64)
    return np.minimum(one, other).astype(np.float64)


def _score_block(
    reference: Sequence[Facts], predicted: Sequence[Facts], duplicates: Duplicates, limit: float | None
) -> Counts:
    codes: dict[object, int] = {}
    roles: dict[str, int] = {}
    one, other = _Side(reference, codes, roles), _Side(predicted, codes, roles)
    n = len(reference)

    (v1, c1), n1 = _distinct(one.variable, one.code)
    (v2, c2), n2 = _distinct(other.variable, other.code)
    a, b = _joined(one.doc[v1] * len(codes) + c1, other.doc[v2] * len(codes) + c2)
    single = (v1[a], v2[b], _weights(n1[a], n2[b], duplicates))

    (s1, t1, r1), m1 = _distinct(one.source, one.target, one.role)
    (s2, t2, r2), m2 = _distinct(other.source, other.target, other.role)
    a, b = _joined(one.doc[s1] * len(roles) + r1, other.doc[s2] * len(roles) + r2)
    double = (s1[a], s2[b], t1[a], t2[b], _weights(m1[a], m2[b], duplicates))

    found = solve_all(Problems.of(one.offsets, other.offsets, single, double, r1[a]), limit=limit)
    (d1, f1), k1 = _distinct(one.free_doc, one.free_code)
    (d2, f2), k2 = _distinct(other.free_doc, other.free_code)
    x, y = _joined(d1 * max(len(codes), 1) + f1, d2 * max(len(codes), 1) + f2)
    certain = np.bincount(d1[x], _weights(k1[x], k2[y], duplicates), n)

    partner = np.where(found.mapping >= 0, found.mapping - np.repeat(other.offsets[:-1], np.diff(one.offsets)), -1)
    return Counts(
        found.lower + certain,
        found.upper + certain,
        found.optimal,
        one.triples,
        other.triples,
        np.split(partner, one.offsets[1:-1]),
        found.seconds,
    )
