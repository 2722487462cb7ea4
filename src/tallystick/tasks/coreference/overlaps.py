"""The one sparse table that every coreference metric is computed from: n(k, r), the mentions that key entity k and
response entity r have in common.

Each metric is then a sum over the table's non-zeros, by document:

    MUC      Σ (n - 1)                                        of Σ (|k| - 1),  Σ (|r| - 1)
    B³       Σ n² / |k|  and  Σ n² / |r|                      of Σ |k|,  Σ |r|
    CEAF     Σ φ over the best 1:1 matching of entities       φ3 = n,  φ4 = 2n / (|k| + |r|)
    LEA      Σ |k| · links in common / links of k             a singleton has one link, to itself
    BLANC    coreferent links Σ C(n, 2); non-coreferent C(m, 2) - Σ C(m_k, 2) - Σ C(m_r, 2) + Σ C(n, 2)

with m the mentions in common of a document, m_k those of key entity k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallystick.engine.arrays import F64, I64, join, sum_by_key, weighted_counts
from tallystick.engine.assignment import assign


@dataclass(frozen=True, eq=False)
class Side:
    """The mentions of one side: document, entity (numbered over the corpus) and mention code of each."""

    document: I64
    entity: I64
    mention: I64
    entities: int

    @cached_property
    def sizes(self) -> F64:
        return np.bincount(self.entity, minlength=self.entities).astype(np.float64)

    @cached_property
    def homes(self) -> I64:
        """The document of each entity."""
        out = np.zeros(self.entities, np.int64)
        out[self.entity] = self.document
        return out


@dataclass(frozen=True, eq=False)
class Overlaps:
    """n(k, r) for every pair of entities that share a mention; entities, and documents, are numbers."""

    key: Side
    response: Side
    documents: int
    k: I64
    r: I64
    n: F64

    @property
    def home(self) -> I64:
        """The document of each non-zero."""
        return self.key.homes[self.k]

    def by_document(self, values: F64) -> F64:
        """A sum over the non-zeros for each document."""
        return weighted_counts(self.home, values, self.documents)

    def over_key(self, values: F64) -> F64:
        """A sum over the key's entities for each document."""
        return weighted_counts(self.key.homes, values, self.documents)

    def over_response(self, values: F64) -> F64:
        """A sum over the response's entities for each document."""
        return weighted_counts(self.response.homes, values, self.documents)

    @cached_property
    def found_of_key(self) -> F64:
        """How many mentions of each key entity the response has too."""
        return weighted_counts(self.k, self.n, self.key.entities)

    @cached_property
    def found_of_response(self) -> F64:
        """How many mentions of each response entity the key has too."""
        return weighted_counts(self.r, self.n, self.response.entities)


def twins(key: Side, response: Side, documents: int, codes: int) -> tuple[I64, I64]:
    """The mentions that both sides have: (row of the key, row of the response)."""
    return join(key.document * codes + key.mention, response.document * codes + response.mention, documents * codes)


def overlaps(key: Side, response: Side, documents: int, codes: int) -> Overlaps:
    """The table, from the mentions of both sides; no mention may stand twice on one side of a document."""
    i, j = twins(key, response, documents, codes)
    width = max(1, response.entities)
    pairs, n = sum_by_key(key.entity[i] * width + response.entity[j], key.entities * width, None)
    return Overlaps(key, response, documents, pairs // width, pairs % width, n)


def _rows(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    return np.stack((num_p, den_p, num_r, den_r), axis=1)


def links(n: F64) -> F64:
    """C(n, 2)"""
    return n * (n - 1) / 2


def mentions(t: Overlaps) -> F64:
    """Mention detection: mentions in common, of those of the response and of the key."""
    common = t.by_document(t.n)
    return _rows(common, t.over_response(t.response.sizes), common, t.over_key(t.key.sizes))


def muc(t: Overlaps) -> F64:
    """Links of a chain that both have (eq. 20 to 22)."""
    common = t.by_document(t.n - 1)
    return _rows(common, t.over_response(t.response.sizes - 1), common, t.over_key(t.key.sizes - 1))


def b3(t: Overlaps) -> F64:
    """For each mention the share of its entity that is right (eq. 23, 24)."""
    square = t.n**2
    return _rows(
        t.by_document(square / t.response.sizes[t.r]),
        t.over_response(t.response.sizes),
        t.by_document(square / t.key.sizes[t.k]),
        t.over_key(t.key.sizes),
    )


def aligned(t: Overlaps, phi: F64) -> I64:
    """The non-zeros of the best 1:1 matching of entities under φ."""
    return np.flatnonzero(assign(t.k, t.r, phi, t.key.entities, t.response.entities))


def phi_4(t: Overlaps) -> F64:
    """2n / (|k| + |r|)"""
    return 2 * t.n / (t.key.sizes[t.k] + t.response.sizes[t.r])


def _ceaf(t: Overlaps, phi: F64, of_response: F64, of_key: F64) -> F64:
    chosen = aligned(t, phi)
    common = weighted_counts(t.home[chosen], phi[chosen], t.documents)
    return _rows(common, t.over_response(of_response), common, t.over_key(of_key))


def ceaf_m(t: Overlaps) -> F64:
    """CEAF with φ3: mentions in common of matched entities (eq. 17)."""
    return _ceaf(t, t.n, t.response.sizes, t.key.sizes)


def ceaf_e(t: Overlaps) -> F64:
    """CEAF with φ4 (eq. 18, 19)."""
    return _ceaf(t, phi_4(t), np.ones(t.response.entities), np.ones(t.key.entities))


def lea(t: Overlaps) -> F64:
    """Entities weighted by their size, each by the share of its links that the other side has."""
    both_single = ((t.key.sizes[t.k] == 1) & (t.response.sizes[t.r] == 1)).astype(np.float64)
    sides = []
    for entity, side in ((t.r, t.response), (t.k, t.key)):
        size = side.sizes[entity]
        resolved = np.where(size == 1, both_single, links(t.n) / np.maximum(links(size), 1))
        sides.append(t.by_document(size * resolved))
    return _rows(sides[0], t.over_response(t.response.sizes), sides[1], t.over_key(t.key.sizes))


def blanc(t: Overlaps) -> F64:
    """Coreferent and non-coreferent links: in common, of the key, of the response."""
    coreferent = t.by_document(links(t.n))
    of_key, of_response = t.over_key(links(t.key.sizes)), t.over_response(links(t.response.sizes))
    found = links(t.by_document(t.n)) - t.over_key(links(t.found_of_key)) - t.over_response(links(t.found_of_response))
    all_key, all_response = links(t.over_key(t.key.sizes)), links(t.over_response(t.response.sizes))
    return np.stack(
        (coreferent, of_key, of_response, found + coreferent, all_key - of_key, all_response - of_response), axis=1
    )
