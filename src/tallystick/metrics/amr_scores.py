"""Smatch (eq. 35) over many pairs of graphs: counts with their proof, alignments, and the usual subscores.

A pair of graphs becomes a problem of `tallystick.matching.latent`: a fact on one variable is a single weight for each pair
of variables that share it, a relation is a link. Facts are numbered jointly over both sides and joined for a whole block of graphs
at once; the solver proves most of the block with array operations alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.matching.latent import solve_all
from tallystick.matching.latent_pairs import Bools, Floats, Ints, Problems
from tallystick.metrics.amr_triples import Binary, Counting, Duplicates, FactReader, Facts, Unary
from tallystick.reading.graphs import Graph

_BLOCK_PAIRS, _BLOCK_LINKS = 1000, 2_000_000


@dataclass(frozen=True)
class Counts:
    """For each pair: matched triples (`matched` is achieved, nothing exceeds `upper`), and the triples of both sides."""

    matched: Floats
    upper: Floats
    optimal: Bools
    reference: Ints
    predicted: Ints
    mappings: list[Ints]
    seconds: Floats

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
    """Smatch of (reference, predicted) pairs. `limit` in seconds for each pair; `progress` hears how many are done."""
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
    for n, (one, other) in enumerate(zip(reference, predicted, strict=True)):
        links += len(one.binary) * len(other.binary)
        if n + 1 == len(reference) or n + 1 - begin >= _BLOCK_PAIRS or links >= _BLOCK_LINKS:
            parts.append(_score_block(reference[begin : n + 1], predicted[begin : n + 1], duplicates, limit))
            begin, links = n + 1, 0
            if progress is not None:
                progress(begin)
    none = np.zeros(0)
    return Counts(
        *(np.concatenate([none.astype(t), *(getattr(p, name) for p in parts)]) for name, t in _COLUMNS),
        mappings=[mapping for part in parts for mapping in part.mappings],
        seconds=np.concatenate([none, *(p.seconds for p in parts)]),
    )


_COLUMNS = (("matched", np.float64), ("upper", np.float64), ("optimal", np.bool_), ("reference", np.intp), ("predicted", np.intp))


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


def _distinct(*columns: Ints) -> tuple[tuple[Ints, ...], Ints]:
    """The distinct rows of some columns and how often each occurs."""
    key = columns[0]
    for column in columns[1:]:
        key = key * (int(column.max()) + 1 if len(column) else 1) + column
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    return tuple(column[first] for column in columns), count


def _joined(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All (position in left, position in right) with equal keys."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    begin, end = np.searchsorted(ordered, left, "left"), np.searchsorted(ordered, left, "right")
    count = end - begin
    at = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(begin, count) + within]


def _weights(one: Ints, other: Ints, duplicates: Duplicates) -> Floats:
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


def align(reference: Facts, predicted: Facts, mapping: Ints) -> Alignment:
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


# Subscores (Damonte et al. 2017): Smatch over a part of the triples, or the overlap of two bags.

Change = Callable[[Facts], Facts]
Bag = Callable[[Facts], list[str]]


def _unlabelled(facts: Facts) -> Facts:
    unary: list[Unary] = [(v, r if ":" not in r else ":", value, t) for v, r, value, t in facts.unary]
    return Facts(facts.variables, unary, [(s, ":", t) for s, _, t in facts.binary], facts.free)


def _without_senses(facts: Facts) -> Facts:
    unary: list[Unary] = [
        (v, r, _stem(value) if r in ("instance", "root") else value, t) for v, r, value, t in facts.unary
    ]
    return Facts(facts.variables, unary, facts.binary, facts.free)


def _stem(concept: str) -> str:
    stem, dash, sense = concept.rpartition("-")
    return stem if dash and sense.isdecimal() else concept


def _part(facts: Facts, binary: list[Binary]) -> Facts:
    """Some relations with the concepts of their variables."""
    inside = {v for s, _, t in binary for v in (s, t)}
    concepts = [fact for fact in facts.unary if fact[1] == "instance" and fact[0] in inside]
    return Facts(facts.variables, concepts, binary)


def _reentrancies(facts: Facts) -> Facts:
    parents = Counter(target for _, _, target in facts.binary)
    return _part(facts, [fact for fact in facts.binary if parents[fact[2]] > 1])


def _roles(facts: Facts) -> Facts:
    return _part(facts, [fact for fact in facts.binary if fact[1].startswith(":arg")])


def _concepts(facts: Facts) -> list[str]:
    return [value for _, role, value, _ in facts.unary if role == "instance"]


def _concepts_with(facts: Facts, role: str) -> list[str]:
    """The concepts of the variables that have an edge of this role."""
    concept = {v: value for v, r, value, _ in facts.unary if r == "instance"}
    sources = [v for v, r, _, turned in facts.unary if r == role and not turned]
    sources += [source for source, r, _ in facts.binary if r == role]
    return [concept.get(v, "") for v in sources]


SMATCH_PARTS: dict[str, Change] = {
    "unlabelled": _unlabelled,
    "no word senses": _without_senses,
    "reentrancies": _reentrancies,
    "semantic roles": _roles,
}
BAG_PARTS: dict[str, Bag] = {
    "concepts": _concepts,
    "named entities": lambda facts: _concepts_with(facts, ":name"),
    "negation": lambda facts: _concepts_with(facts, ":polarity"),
    "wikification": lambda facts: [value for _, role, value, _ in facts.unary if role == ":wiki"],
}
SUBSCORES = ("unlabelled", "no word senses", "concepts", "named entities", "negation", "wikification",
             "reentrancies", "semantic roles")  # fmt: skip


def subscores(
    pairs: Sequence[tuple[Graph, Graph]], counting: Counting | None = None, *, limit: float | None = None
) -> dict[str, Counts]:
    """The fine-grained scores of (reference, predicted) pairs, each with an alignment of its own where it needs one."""
    counting = counting or Counting()
    read = FactReader(counting)
    reference, predicted = [read(pair[0]) for pair in pairs], [read(pair[1]) for pair in pairs]
    scores = {}
    for name in SUBSCORES:
        if name in BAG_PARTS:
            bag = BAG_PARTS[name]
            scores[name] = _bags([bag(facts) for facts in reference], [bag(facts) for facts in predicted])
        else:
            change = SMATCH_PARTS[name]
            one, other = [change(facts) for facts in reference], [change(facts) for facts in predicted]
            scores[name] = score_facts(one, other, counting.duplicates, limit=limit)
    return scores


def _bags(reference: Sequence[list[str]], predicted: Sequence[list[str]]) -> Counts:
    shared = [sum((Counter(a) & Counter(b)).values()) for a, b in zip(reference, predicted, strict=True)]
    matched = np.array(shared, np.float64)
    n = len(matched)
    sizes = (np.array([len(bag) for bag in side], np.intp) for side in (reference, predicted))
    return Counts(matched, matched, np.ones(n, np.bool_), *sizes, mappings=[], seconds=np.zeros(n))
