"""Graphs of meaning as triples: what counts as one, when two are equal, and how many of two graphs match under the best map of
their variables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, Literal, get_args

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask
from tallystick.engine.latent import solve_all
from tallystick.engine.latent_pairs import Claims, Problems, hopeless, in_common, outlined
from tallystick.engine.program import DEFAULT_LIMIT
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.tasks.amr.files import Graph

# Reified relations, undone: `x :location y` may be written as a node, be-located-at-91, with two arguments.
#
#     (z / be-located-at-91 :ARG1 x :ARG2 y)   →   x :location y
#
# where nothing points to z and z has no other edges (the AMR guidelines' table; smatchpp's `amr`
# standardisation does the same).

REIFICATIONS: dict[str, tuple[str, str, str]] = {
    concept: (role, source, target)
    for role, concept, source, target in (
        (":accompanier", "accompany-01", ":arg1", ":arg0"),
        (":age", "age-01", ":arg1", ":arg2"),
        (":beneficiary", "benefit-01", ":arg0", ":arg1"),
        (":concession", "have-concession-91", ":arg1", ":arg2"),
        (":condition", "have-condition-91", ":arg1", ":arg2"),
        (":degree", "have-degree-91", ":arg1", ":arg2"),
        (":destination", "be-destined-for-91", ":arg1", ":arg2"),
        (":duration", "last-01", ":arg1", ":arg2"),
        (":example", "exemplify-01", ":arg1", ":arg0"),
        (":extent", "have-extent-91", ":arg1", ":arg2"),
        (":frequency", "have-frequency-91", ":arg1", ":arg2"),
        (":instrument", "have-instrument-91", ":arg1", ":arg2"),
        (":li", "have-li-91", ":arg1", ":arg2"),
        (":location", "be-located-at-91", ":arg1", ":arg2"),
        (":manner", "have-manner-91", ":arg1", ":arg2"),
        (":mod", "have-mod-91", ":arg1", ":arg2"),
        (":name", "have-name-91", ":arg1", ":arg2"),
        (":ord", "have-ord-91", ":arg1", ":arg2"),
        (":part", "have-part-91", ":arg1", ":arg2"),
        (":polarity", "have-polarity-91", ":arg1", ":arg2"),
        (":poss", "own-01", ":arg1", ":arg0"),
        (":purpose", "have-purpose-91", ":arg1", ":arg2"),
        (":quant", "have-quant-91", ":arg1", ":arg2"),
        (":source", "be-from-91", ":arg1", ":arg2"),
        (":subevent", "have-subevent-91", ":arg1", ":arg2"),
        (":time", "be-temporally-at-91", ":arg1", ":arg2"),
        (":topic", "concern-02", ":arg0", ":arg1"),
        (":value", "have-value-91", ":arg1", ":arg2"),
    )
}


# From a graph of meaning to the triples that are counted: the choices that make Smatch scores differ.
#
# Scorers agree on the equation (eq. 35) and disagree on what a triple is. Each disagreement is a field of
# `Counting`, each scorer a preset:
#
#     choice             smatch 1.0.4         smatchpp generic     smatchpp amr          tallystick
#     root               constant             constant             concept               constant
#     inverse (-of)      turned, 3 exceptions turned, all          turned, all           turned, 3 exceptions
#     mod / domain       mod → domain-of      as written           domain → mod-of       mod → domain-of
#     constant source    lost                 kept                 kept                  kept
#     duplicates         product              multiset             removed               multiset
#     strings            first word           unquoted             unquoted              whole
#     reified relations  as written           as written           undone                as written
#
# "Root: constant" says that a variable is the root, "concept" which concept the root has. A constant becomes a
# source when a role with a constant is turned round (`:ARG0-of 1`). "Product" counts n equal triples against m
# as n·m matches, so that a self-match may exceed 1; it exists to reproduce smatch. Surface alignments (`~e.5`)
# are never part of a triple.

Unary = tuple[int, str, str, bool]
"""Variable, role, constant, and whether the constant is the source."""
Binary = tuple[int, str, int]
Free = tuple[str, str, str]

INSTANCE, ROOT = "instance", "root"  # without a colon: no role of a file is called that
_EXCEPTIONS = frozenset((":prep-on-behalf-of", ":prep-out-of", ":consist-of"))

Root = Literal["none", "constant", "concept"]
Inverse = Literal["exceptions", "all", "keep"]
Mod = Literal["domain", "canonical", "mod", "keep"]
Duplicates = Literal["multiset", "removed", "product"]
Strings = Literal["whole", "first word", "unquoted"]


@frozen
class Counting:
    """What counts as a triple, and when two are equal; the defaults are tallystick's own.

    `mod`: "domain" reads `x :mod y` as `y :domain x`, as smatch does, and leaves `:mod-of` alone; "canonical"
    also reads `:mod-of` as `:domain`; "mod" reads `:domain` as `:mod-of`. `strings`: "unquoted" drops every quote and apostrophe,
    as smatchpp does: "Fans'" is "Fans" there.
    """

    root: Root = "constant"
    inverse: Inverse = "exceptions"
    mod: Mod = "domain"
    constant_sources: bool = True
    duplicates: Duplicates = "multiset"
    strings: Strings = "whole"
    dereify: bool = False

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                options = ", ".join(f'"{a}"' for a in allowed)
                raise MetricError(f'{name}="{value}" is not one of {options}.{did_you_mean(str(value), allowed)}')

    def __str__(self) -> str:
        changed = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return ", ".join(f"{name}={value}" for name, value in changed)


_ALLOWED: dict[str, tuple[str, ...]] = {
    "root": get_args(Root),
    "inverse": get_args(Inverse),
    "mod": get_args(Mod),
    "duplicates": get_args(Duplicates),
    "strings": get_args(Strings),
}

PRESETS: dict[str, Counting] = {
    "tallystick": Counting(),
    "smatch": Counting(constant_sources=False, duplicates="product", strings="first word"),
    "smatchpp": Counting(inverse="all", mod="keep", strings="unquoted"),
    "smatchpp-amr": Counting(
        root="concept", inverse="all", mod="mod", duplicates="removed", strings="unquoted", dereify=True
    ),
}


def preset(name: str, **choices: object) -> Counting:
    """A preset, with some of its choices changed: `preset("smatch", root="none")`."""
    if name not in PRESETS:
        raise MetricError(f'unknown preset "{name}"; known: {", ".join(PRESETS)}.{did_you_mean(name, PRESETS)}')
    known = [f.name for f in fields(Counting)]
    for choice in choices:
        if choice not in known:
            raise MetricError(f'unknown choice "{choice}"; known: {", ".join(known)}.{did_you_mean(choice, known)}')
    return replace(PRESETS[name], **choices)  # type: ignore[arg-type]


@dataclass(slots=True)
class Facts:
    """The counted triples of one graph: on one variable, between two, and on none at all."""

    variables: list[str] = field(default_factory=list)
    unary: list[Unary] = field(default_factory=list)
    binary: list[Binary] = field(default_factory=list)
    free: list[Free] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.unary) + len(self.binary) + len(self.free)

    def add(self, source: int | str, role: str, target: int | str) -> None:
        """One more triple; a number is a variable, a text is a constant."""
        if isinstance(source, int):
            if isinstance(target, int):
                self.binary.append((source, role, target))
            else:
                self.unary.append((source, role, target, False))
        elif isinstance(target, int):
            self.unary.append((target, role, source, True))
        else:
            self.free.append((source, role, target))

    def remove_duplicates(self) -> None:
        self.unary, self.binary = list(dict.fromkeys(self.unary)), list(dict.fromkeys(self.binary))
        self.free = list(dict.fromkeys(self.free))

    def undo_reification(self) -> None:
        """Replace every reified node that nothing else hangs on by its relation."""
        relations = {v: relation for v, edges in self._reified().items() if (relation := _relation(edges))}
        self.unary = [fact for fact in self.unary if fact[0] not in relations]
        self.binary = [fact for fact in self.binary if fact[0] not in relations]
        for relation in relations.values():
            self.add(*relation)

    def _reified(self) -> dict[int, _Edges]:
        """The nodes of reified relations that nothing points at: the concept of each, and its edges."""
        concepts = {v: value for v, role, value, _ in self.unary if role == INSTANCE and value in REIFICATIONS}
        if not concepts:
            return {}
        pointed_at = {target for _, _, target in self.binary} | {v for v, _, _, turned in self.unary if turned}
        found: dict[int, _Edges] = {v: (concept, []) for v, concept in concepts.items() if v not in pointed_at}
        for v, role, value, _ in self.unary:
            if v in found and role != INSTANCE:
                found[v][1].append((role, value))
        for source, role, target in self.binary:
            if source in found:
                found[source][1].append((role, target))
        return found


_Edges = tuple[str, list[tuple[str, "int | str"]]]
"""A concept, and the roles and targets of its node's edges."""


def _relation(node: _Edges) -> tuple[int | str, str, int | str] | None:
    """The relation that a node stands for, if it has the two arguments of the relation and nothing else."""
    concept, edges = node
    role, first, second = REIFICATIONS[concept]
    if sorted(name for name, _ in edges) != sorted((first, second)):
        return None
    ends = dict(edges)
    return ends[first], role, ends[second]


class FactReader:
    """Turns graphs into facts under one `Counting`; remembers how roles and constants are normalised."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting
        value, concept = {
            "whole": (_whole, _whole), "first word": (_first_word, _without_spaces), "unquoted": (_unquoted, _unquoted)
        }[counting.strings]  # fmt: skip
        self._role = cache(partial(normal_role, inverse=counting.inverse, mod=counting.mod))
        self._value, self._concept = cache(value), cache(concept)

    def __call__(self, graph: Graph) -> Facts:
        """The facts of one graph."""
        facts, counting = Facts(list(graph.variables)), self.counting
        concepts = [None if concept is None else self._concept(concept) for concept in graph.concepts]
        facts.unary += [(v, INSTANCE, concept, False) for v, concept in enumerate(concepts) if concept is not None]
        if graph.top is not None and counting.root != "none":
            root = "" if counting.root == "constant" else concepts[graph.top]
            if root is not None:
                facts.unary.append((graph.top, ROOT, root, False))
        for source, raw, target in graph.edges:
            role, turned = self._role(raw)
            if turned:
                source, target = target, source
            if isinstance(source, int) or counting.constant_sources:
                facts.add(self._end(source), role, self._end(target))
        if counting.dereify:
            facts.undo_reification()
        if counting.duplicates == "removed":
            facts.remove_duplicates()
        return facts

    def _end(self, end: int | str) -> int | str:
        return end if isinstance(end, int) else self._value(end)


def normal_role(raw: str, inverse: Inverse, mod: Mod) -> tuple[str, bool]:
    """The role in lower case as it is counted, and whether source and target change places."""
    role, turned = raw.lower(), False
    if mod == "mod" and role in (":domain", ":domain-of"):
        role = {":domain": ":mod-of", ":domain-of": ":mod"}[role]
    if inverse == "all":
        while role.endswith("-of"):
            role, turned = role[:-3], not turned
    elif inverse == "exceptions" and role.endswith("-of") and role not in _EXCEPTIONS:
        role, turned = role[:-3], True
        if mod == "domain":
            return role, turned
    if mod in ("domain", "canonical") and role == ":mod":
        return ":domain", not turned
    return role, turned


def _whole(raw: str) -> str:
    text = raw.lower()
    return text[1:-1].replace('\\"', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


def _first_word(raw: str) -> str:
    """smatch splits at blanks, and marks the end of a string with an underscore that it later strips."""
    return (_whole(raw).split() or [""])[0].rstrip("_")


def _unquoted(raw: str) -> str:
    return raw.lower().replace('"', "").replace("'", "")


def _without_spaces(raw: str) -> str:
    return _whole(raw).replace(" ", "").rstrip("_")


# Smatch (eq. 35) over many pairs of graphs: counts with their proof.
#
# A pair of graphs becomes a problem of `tallystick.engine.latent`: a fact on one variable is a single weight
# for each pair of variables that share it, a relation is a link. Facts are numbered jointly over both sides and
# joined for a whole block of graphs at once; the solver proves most of the block with array operations alone.

_BLOCK_PAIRS, _BLOCK_LINKS = 1000, 2_000_000
MOST_LINKS = 5_000_000
"""Pairs of edges of one role in two graphs; so many need some 2.5 GB. Two graphs of 2,000 such edges have 4,000,000. Beyond it, as
beyond what the time limit allows, only one map of the variables is looked at, and the score has bounds."""
_WATCHED_PAIRS = 100  # somebody is watching the progress


@frozen
class TripleCounts:
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
    pairs: Sequence[tuple[Graph, Graph]], counting: Counting | None = None, *, limit: float | None = None
) -> TripleCounts:
    """Smatch of (reference, predicted) pairs. `limit` in seconds for each pair, a minute if none is given."""
    counting = counting or Counting()
    read = FactReader(counting)
    reference, predicted = [read(pair[0]) for pair in pairs], [read(pair[1]) for pair in pairs]
    return score_facts(reference, predicted, counting.duplicates, limit=limit)


def score_facts(
    reference: Sequence[Facts],
    predicted: Sequence[Facts],
    duplicates: Duplicates = "multiset",
    *,
    limit: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> TripleCounts:
    """The same for facts; graphs go to the solver in blocks, so that memory stays bounded."""
    limit = DEFAULT_LIMIT if limit is None else limit
    parts: list[TripleCounts] = []
    begin, links = 0, 0
    most = _BLOCK_PAIRS if progress is None else _WATCHED_PAIRS
    for n, (one, other) in enumerate(zip(reference, predicted, strict=True)):
        links += len(one.binary) * len(other.binary)
        if n + 1 == len(reference) or n + 1 - begin >= most or links >= _BLOCK_LINKS:
            parts.append(_score_block(reference[begin : n + 1], predicted[begin : n + 1], duplicates, limit))
            begin, links = n + 1, 0
            if progress is not None:
                progress(begin)
    return TripleCounts(
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


def _partners(left: I64, right: I64) -> tuple[I64, I64, I64]:
    """The order of the right keys, and for each left key where its equals begin there and how many there are."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    begin, end = np.searchsorted(ordered, left, "left"), np.searchsorted(ordered, left, "right")
    return order, begin, end - begin


def _joined(left: I64, right: I64) -> tuple[I64, I64]:
    """All (position in left, position in right) with equal keys."""
    order, begin, count = _partners(left, right)
    at = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    return at, order[np.repeat(begin, count) + within]


def _weights(one: I64, other: I64, duplicates: Duplicates) -> F64:
    if duplicates == "product":
        return (one * other).astype(np.float64)
    return np.minimum(one, other).astype(np.float64)


def _identical(one: _Side, other: _Side, left: tuple[Any, ...], right: tuple[Any, ...]) -> Mask:
    """In which pairs both graphs are the same, variable by variable: the map that leaves everything as it is earns it all."""
    same = np.asarray((np.diff(one.offsets) == np.diff(other.offsets)) & (one.triples == other.triples))
    n = len(same)
    same &= np.bincount(one.free_doc, minlength=n) + np.bincount(other.free_doc, minlength=n) == 0
    for ours, theirs in zip(left, right, strict=True):
        doc, their_doc = one.doc[ours[0]], other.doc[theirs[0]]
        same &= np.bincount(doc, minlength=n) == np.bincount(their_doc, minlength=n)
        at, to = np.flatnonzero(same[doc]), np.flatnonzero(same[their_doc])
        variables = 1 if len(ours) == 3 else 2  # the rest are codes, and how often the fact is there
        for place, (column, their) in enumerate(zip(ours, theirs, strict=True)):
            a, b = column[at], their[to]
            if place < variables:
                a, b = a - one.offsets[doc[at]], b - other.offsets[doc[at]]
            same[doc[at][a != b]] = False
    return same


@frozen
class _Keyed:
    """The distinct facts of a side, on one variable or on two: their variables, keys and multiplicities."""

    at: I64
    key: I64
    count: I64


def _score_block(
    reference: Sequence[Facts], predicted: Sequence[Facts], duplicates: Duplicates, limit: float
) -> TripleCounts:
    began = time.monotonic()
    codes: dict[object, int] = {}
    roles: dict[str, int] = {}
    one, other = _Side(reference, codes, roles), _Side(predicted, codes, roles)
    n = len(reference)

    (v1, c1), n1 = _distinct(one.variable, one.code)
    (v2, c2), n2 = _distinct(other.variable, other.code)
    (s1, t1, r1), m1 = _distinct(one.source, one.target, one.role)
    (s2, t2, r2), m2 = _distinct(other.source, other.target, other.role)
    same = _identical(one, other, ((v1, c1, n1), (s1, t1, r1, m1)), ((v2, c2, n2), (s2, t2, r2, m2)))
    if duplicates == "product":  # n equal triples against n count n² times, and others may fit even better
        for doc, count in ((one.doc[v1], n1), (one.doc[s1], m1)):
            same[doc[count > 1]] = False
    # What is the same on both sides has nothing to be looked for: a key that the other side does not have.
    unary = (
        _Keyed(v1[:, None], np.where(same[one.doc[v1]], -1, one.doc[v1] * len(codes) + c1), n1),
        _Keyed(v2[:, None], np.where(same[other.doc[v2]], -2, other.doc[v2] * len(codes) + c2), n2),
    )
    binary = (
        _Keyed(np.column_stack((s1, t1)), np.where(same[one.doc[s1]], -1, one.doc[s1] * len(roles) + r1), m1),
        _Keyed(np.column_stack((s2, t2)), np.where(same[other.doc[s2]], -2, other.doc[s2] * len(roles) + r2), m2),
    )
    links = np.zeros(n)
    for left, right in (unary, binary):
        links += np.bincount(one.doc[left.at[:, 0]], _partners(left.key, right.key)[2], n)
    vast = hopeless(links, limit, MOST_LINKS)
    most, maps = np.full(n, np.inf), None
    if vast.any():
        most = _bound_by_keys(one, (unary, binary), duplicates, n)
        deadline = began + limit * n / 2
        maps = outlined(_claims(unary[0], binary[0], vast[one.doc]), _claims(unary[1], binary[1], vast[other.doc]),
                        (one.doc, other.doc), deadline)  # fmt: skip
    a, b = _listed(*unary, vast[one.doc], maps)
    single = (v1[a], v2[b], _weights(n1[a], n2[b], duplicates))
    a, b = _listed(*binary, vast[one.doc], maps)
    double = (s1[a], s2[b], t1[a], t2[b], _weights(m1[a], m2[b], duplicates))

    left_of_it = max(limit / 10, limit - (time.monotonic() - began) / max(1, n))
    found = solve_all(Problems.of(one.offsets, other.offsets, single, double, r1[a]), limit=left_of_it)
    upper = np.where(vast, np.maximum(found.lower, most), found.upper)
    optimal = found.optimal & (~vast | (upper <= found.lower))
    if (
        ~optimal & (upper > np.minimum(one.triples, other.triples))
    ).any():  # the time was over before there was a bound
        upper = np.maximum(np.minimum(upper, _bound_by_keys(one, (unary, binary), duplicates, n)), found.lower)
    (d1, f1), k1 = _distinct(one.free_doc, one.free_code)
    (d2, f2), k2 = _distinct(other.free_doc, other.free_code)
    x, y = _joined(d1 * max(len(codes), 1) + f1, d2 * max(len(codes), 1) + f2)
    loose = np.bincount(d1[x], _weights(k1[x], k2[y], duplicates), n)
    certain = np.where(same, one.triples, loose)

    partner = np.where(found.mapping >= 0, found.mapping - np.repeat(other.offsets[:-1], np.diff(one.offsets)), -1)
    return TripleCounts(
        found.lower + certain,
        upper + certain,
        optimal,
        one.triples,
        other.triples,
        [
            np.arange(len(part)) if same else part
            for part, same in zip(np.split(partner, one.offsets[1:-1]), same.tolist(), strict=True)
        ],
        found.seconds,
    )


def _claims(unary: _Keyed, binary: _Keyed, vast: Mask) -> Claims:
    """The facts of the graphs that are too large, for an outline: those on two variables have other keys than those on one."""
    one, two = vast[unary.at[:, 0]], vast[binary.at[:, 0]]
    at = np.concatenate([np.column_stack((unary.at[one, 0], np.full(int(one.sum()), -1))), binary.at[two]])
    return Claims(np.concatenate([2 * unary.key[one], 2 * binary.key[two] + 1]), at)


def _listed(left: _Keyed, right: _Keyed, vast: Mask, maps: I64 | None) -> tuple[I64, I64]:
    """The facts that may match; in graphs that are too large, those that one map of the variables makes equal."""
    if maps is None:
        return _joined(left.key, right.key)
    inside = vast[left.at[:, 0]]
    a, b = _joined(np.where(inside, -1, left.key), np.where(right.key < 0, -2, right.key))
    rows = np.flatnonzero(inside & (maps[left.at] >= 0).all(1) & (left.key >= 0))
    image = np.concatenate([maps[left.at[rows]], right.at])
    _, number = np.unique(
        np.column_stack((np.concatenate([left.key[rows], right.key]), image)), axis=0, return_inverse=True
    )
    number = number.reshape(-1)
    c, d = _joined(number[: len(rows)], number[len(rows) :])
    return np.concatenate([a, rows[c]]), np.concatenate([b, d])


def _bound_by_keys(one: _Side, facts: Any, duplicates: Duplicates, n: int) -> F64:
    """What the facts of each graph can earn at most, if no two keys got in each other's way."""
    most = np.zeros(n)
    for left, right in facts:
        bound = 1 + int(max(left.key.max(initial=0), right.key.max(initial=0)))
        ours, theirs = left.key >= 0, right.key >= 0
        many = left.count[ours].astype(np.float64), right.count[theirs].astype(np.float64)
        if duplicates == "product":
            many = tuple(count * other.max(initial=0.0) for count, other in zip(many, many[::-1], strict=True))
        earned = in_common(left.key[ours], right.key[theirs], many, bound)
        doc = np.zeros(bound, np.intp)
        doc[left.key[ours]] = one.doc[left.at[ours, 0]]
        most += np.bincount(doc, earned, n)
    return most
