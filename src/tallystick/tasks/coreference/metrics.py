"""Coreference: mention detection, MUC, B³, CEAF, BLANC, LEA and the CoNLL average.

The first five are expressions of the algebra over documents of entities, after "A Unified View of Evaluation Metrics for
Structured Prediction" (eq. 17 to 24); each stands beside its equation. BLANC and LEA have tallies of their own.
0/0 is 0, as in the reference scorer.

The entities of both sides as columns, and what two entities have in common: n(k, r), a sparse table, φ3 = Σ↔[δ] of eq. 17. It is
counted once for all metrics, whose tallies are sums over its non-zeros, by document:

    mentions Σ n                                              of Σ |k|,  Σ |r|
    MUC      Σ (n - 1)                                        of Σ (|k| - 1),  Σ (|r| - 1)
    CEAF     Σ n, or Σ 2 n / (|k| + |r|), over the best 1:1 matching
    B³       Σ n² / |k|  and  Σ n² / |r|                      of Σ |k|,  Σ |r|
    LEA      Σ |k| · links in common / links of k             a singleton has one link, to itself
    BLANC    coreferent links Σ C(n, 2); non-coreferent C(m, 2) - Σ C(m_k, 2) - Σ C(m_r, 2) + Σ C(n, 2)

with m the mentions in common of a document, m_k those of key entity k.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node
from tallystick.algebra.normalise import Normaliser, f1, links, precision, recall, sides
from tallystick.algebra.records import record
from tallystick.algebra.sets import Matching, match
from tallystick.engine.arrays import (
    F64,
    I64,
    LIMIT,
    Items,
    Mask,
    assign,
    distinct,
    join,
    number,
    offsets_of,
    sum_by_key,
    weighted_counts,
)
from tallystick.engine.data import Bag, LazyValues, Objects, Scope
from tallystick.engine.tally import Counts, Kind, MeanOf, ratio
from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.tasks.coreference.chains import (
    Chains,
    PairedChains,
    chains_from_clusters,
    document_key,
    number_by_first,
    pair,
    renumbered,
)
from tallystick.tasks.metric import choose

PHI_3 = match(exact)
"""φ3 = Σ↔[δ] (eq. 17): the mentions that two entities have in common"""


@frozen(eq=False)
class Side:
    """The mentions of one side: document, entity (numbered over the corpus) and mention code of each."""

    document: I64
    entity: I64
    mention: I64
    entities: int

    @cached_property
    def sizes(self) -> F64:
        return np.bincount(self.entity, minlength=self.entities).astype(np.float64)

    @property
    def links(self) -> F64:
        """How many links each entity has; a number may be left without an entity."""
        return np.maximum(self.sizes - 1, 0)

    @cached_property
    def homes(self) -> I64:
        """The document of each entity."""
        out = np.zeros(self.entities, np.int64)
        out[self.entity] = self.document
        return out

    def by_document(self) -> Side:
        """The same side with entities numbered in the order of their documents."""
        if bool(np.all(self.homes[1:] >= self.homes[:-1])):
            return self
        rank = np.empty(self.entities, np.int64)
        rank[np.argsort(self.homes, kind="stable")] = np.arange(self.entities)
        return Side(self.document, rank[self.entity], self.mention, self.entities)

    def only(self, rows: I64 | Mask) -> Side:
        """Some of the mentions; entities that are left without any leave no gap."""
        return Side(self.document[rows], self.entity[rows], self.mention[rows], self.entities).without_gaps()

    def without_gaps(self) -> Side:
        """The same side with entities numbered anew, those without mentions left out."""
        entity, entities = number(self.entity, max(1, self.entities))
        return Side(self.document, entity, self.mention, entities)

    def with_mentions(self, document: I64, entity: I64, mention: I64, entities: int) -> Side:
        """The same side and more mentions, of old and new entities, `entities` in all."""
        return Side(
            np.concatenate((self.document, document)),
            np.concatenate((self.entity, entity)),
            np.concatenate((self.mention, mention)),
            entities,
        )


Phi = Literal["n", "phi_4"]
"""What two entities have in common: φ3 or φ4."""


@frozen(eq=False)
class Overlaps:
    """Both sides, and n(k, r) for every pair of entities that share a mention; entities, and documents, are numbers.

    No mention may stand twice on one side of a document.
    """

    key: Side
    response: Side
    documents: int
    known: tuple[I64, I64] | None = None
    """The `twins`, where somebody has found them already."""
    matches: dict[Phi, I64] = field(default_factory=dict)
    """What is `matched`, once it is known."""

    @cached_property
    def twins(self) -> tuple[I64, I64]:
        """The mentions that both sides have: (row of the key, row of the response)."""
        if self.known is not None:
            return self.known
        key, response = self.key, self.response
        codes = 1 + max(int(side.mention.max(initial=0)) for side in (key, response))
        return join(
            key.document * codes + key.mention, response.document * codes + response.mention, max(1, self.documents) * codes
        )  # fmt: skip

    @cached_property
    def _cells(self) -> tuple[I64, I64, F64]:
        i, j = self.twins
        width = max(1, self.response.entities)
        cells, n = sum_by_key(self.key.entity[i] * width + self.response.entity[j], self.key.entities * width, None)
        return cells // width, cells % width, n

    @property
    def k(self) -> I64:
        return self._cells[0]

    @property
    def r(self) -> I64:
        return self._cells[1]

    @property
    def n(self) -> F64:
        return self._cells[2]

    @cached_property
    def phi_4(self) -> F64:
        """φ4 = F↔[δ] of the pairs of entities (eq. 18)."""
        return 2 * self.n / (self.key.sizes[self.k] + self.response.sizes[self.r])

    def matched(self, phi: Phi) -> I64:
        """The pairs of entities, among the non-zeros, in the best 1:1 matching of each document."""
        if phi not in self.matches:
            match_together([self], phi)
        return self.matches[phi]

    @cached_property
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


def match_together(tables: Sequence[Overlaps], phi: Phi) -> None:
    """Find what is `matched` in several tables at once, which takes little more time than in one: no pair of one concerns another."""
    k, r = (
        np.concatenate([of + start for of, start in zip(pairs, offsets_of(counts).tolist(), strict=False)])
        for pairs, counts in (
            ([t.k for t in tables], [t.key.entities for t in tables]),
            ([t.r for t in tables], [t.response.entities for t in tables]),
        )
    )
    weights = np.concatenate([t.n if phi == "n" else t.phi_4 for t in tables])
    chosen = assign(k, r, weights, sum(t.key.entities for t in tables), sum(t.response.entities for t in tables))
    for t, part in zip(tables, np.split(chosen, offsets_of([len(t.k) for t in tables])[1:-1]), strict=True):
        t.matches[phi] = np.flatnonzero(part)


def _rows(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    return np.stack((num_p, den_p, num_r, den_r), axis=1)


def links_among(n: F64) -> F64:
    """C(n, 2)"""
    return n * (n - 1) / 2


def tally_columns(metric: Normaliser, left: Bag, right: Bag, scope: Scope) -> F64:
    """The rows of a metric over documents of items: the pairs that it matches, added up for each document in the order of the key.

    `results.evaluation` adds in pairs, which is one bit more or less in some CEAF-e; figures that were published stay.
    """
    inner = metric.inner
    assert isinstance(inner, Matching)
    key, response = inner.encode(left, right, scope)
    assert isinstance(key, Items)
    assert isinstance(response, Items)
    found = inner.matched(key, response)
    common = weighted_counts(key.owners[found.i], found.weight, len(left))
    return _rows(common, inner.selves(response), common, inner.selves(key))


def mentions(t: Overlaps) -> F64:
    """Mentions: in common, of the response, of the key. As `MENTIONS`, over the non-zeros."""
    common = t.by_document(t.n)
    return _rows(common, t.over_response(t.response.sizes), common, t.over_key(t.key.sizes))


def muc(t: Overlaps) -> F64:
    """Links of chains. As `MUC`, over the non-zeros."""
    common = t.by_document(t.n - 1)
    return _rows(common, t.over_response(t.response.links), common, t.over_key(t.key.links))


def ceaf_m(t: Overlaps) -> F64:
    """Mentions of matched entities. As `CEAF_M`, over the non-zeros."""
    rows, found = mentions(t), t.matched("n")
    rows[:, 0] = rows[:, 2] = weighted_counts(t.home[found], t.n[found], t.documents)
    return rows


def ceaf_e(t: Overlaps) -> F64:
    """Matched entities. As `CEAF_E`, over the non-zeros."""
    found = t.matched("phi_4")
    common = weighted_counts(t.home[found], t.phi_4[found], t.documents)
    key, response = ((side.sizes > 0).astype(np.float64) for side in (t.key, t.response))
    return _rows(common, t.over_response(response), common, t.over_key(key))


def b3(t: Overlaps) -> F64:
    """For each mention the share of its entity that is right (eq. 23, 24), over pairs of entities instead of memberships.

    n mentions that each earn n / |k| are n² / |k|, rounded once and not n times. The expression `metrics.B3` gives the
    same but for the last bits, in 12 ms of CPU time on LitBank against 0.2 (24 against 0.7 on 500,000 tokens).
    """
    square = t.n**2
    return _rows(
        t.by_document(square / t.response.sizes[t.r]),
        t.over_response(t.response.sizes),
        t.by_document(square / t.key.sizes[t.k]),
        t.over_key(t.key.sizes),
    )


def lea(t: Overlaps) -> F64:
    """Entities weighted by their size, each by the share of its links that the other side has."""
    both_single = ((t.key.sizes[t.k] == 1) & (t.response.sizes[t.r] == 1)).astype(np.float64)
    sides = []
    for entity, side in ((t.r, t.response), (t.k, t.key)):
        size = side.sizes[entity]
        resolved = np.where(size == 1, both_single, links_among(t.n) / np.maximum(links_among(size), 1))
        sides.append(t.by_document(size * resolved))
    return _rows(sides[0], t.over_response(t.response.sizes), sides[1], t.over_key(t.key.sizes))


def blanc(t: Overlaps) -> F64:
    """Coreferent and non-coreferent links: in common, of the key, of the response."""
    coreferent = t.by_document(links_among(t.n))
    of_key, of_response = t.over_key(links_among(t.key.sizes)), t.over_response(links_among(t.response.sizes))
    found = (
        links_among(t.by_document(t.n))
        - t.over_key(links_among(t.found_of_key))
        - t.over_response(links_among(t.found_of_response))
    )
    all_key, all_response = links_among(t.over_key(t.key.sizes)), links_among(t.over_response(t.response.sizes))
    return np.stack(
        (coreferent, of_key, of_response, found + coreferent, all_key - of_key, all_response - of_response), axis=1
    )


# Before the entities are compared: which mentions count, which of the two sides' mentions are the same, and what is
# one document.
#
# Repeated mentions: the first entity keeps the mention, and a note counts those that were dropped. The reference scorer keeps
# those of the key, and those of the response that are not in the key (`compat="reference"`).

SCOPES = ("document", "topic", "corpus")
MATCHES = ("exact", "head", "partial")
ZEROS = ("dependent", "linear")


@frozen
class CoreferenceOptions:
    """What may be different; every choice goes into the signature."""

    singletons: bool = True
    scope: str = "document"
    topic: str = r"[^_/]+"
    match: str = "exact"
    zeros: str = "dependent"
    compat: str | None = None


@dataclass
class Prepared:
    """Both sides as columns, and what was decided on the way to them."""

    pairs: PairedChains
    overlaps: Overlaps
    documents: list[str]
    codes: int
    """All mention codes of the two sides are smaller than this."""
    key_rows: I64
    response_rows: I64
    signature: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    repeated: dict[int, tuple[list[list[int]], list[list[int]]]] = field(default_factory=dict)
    """With `compat="reference"`: documents whose repeated mentions it counts, as chains of mention codes."""

    def sides(self) -> Iterator[tuple[Chains, I64, Side]]:
        """Of each side the mentions as they were read, which of them count, and these as columns."""
        yield self.pairs.key, self.key_rows, self.overlaps.key
        yield self.pairs.response, self.response_rows, self.overlaps.response

    @cached_property
    def _places(self) -> list[tuple[I64, I64]]:
        """Of each side the rows by document, and where each document begins among them."""
        out = []
        for _, _, side in self.sides():
            order = np.argsort(side.document, kind="stable")
            out.append((order, np.searchsorted(side.document[order], np.arange(len(self.documents) + 1))))
        return out

    @cached_property
    def _last(self) -> dict[int, tuple[list[list[Hashable]], list[list[Hashable]]]]:
        """The document that was asked for last: both sides of it are."""
        return {}

    def entities_of(self, document: int) -> tuple[list[list[Hashable]], list[list[Hashable]]]:
        """One document's entities of both sides, as lists of the mentions as the files have them."""
        if document in self._last:
            return self._last[document]
        shown: dict[int, Hashable] = {}  # a response mention of another extent is shown, and compared, as the key's
        sides = []
        for (chains, rows, side), (order, starts) in zip(self.sides(), self._places, strict=True):
            entities: dict[int, list[Hashable]] = {}
            here = order[starts[document] : starts[document + 1]]
            labels = chains.labels_of(rows[here])
            for entity, mention, label in zip(
                side.entity[here].tolist(), side.mention[here].tolist(), labels, strict=True
            ):
                entities.setdefault(entity, []).append(shown.setdefault(mention, label))
            sides.append(list(entities.values()))
        self._last.clear()
        self._last[document] = sides[0], sides[1]
        return self._last[document]

    def sources(self, *, memberships: bool = False) -> tuple[Objects, Objects]:
        """The documents of both sides as Python values, as collections of entities or of memberships."""
        places = range(len(self.documents))
        key, response = (Objects(LazyValues(partial(self._value, side, memberships), places)) for side in (0, 1))
        return key, response

    def _value(self, side: int, memberships: bool, document: int) -> list[Any]:
        entities = self.entities_of(document)[side]
        if not memberships:
            return entities
        return [{"mention": mention, "entity": entity} for entity in entities for mention in entity]


def prepare(pairs: PairedChains, options: CoreferenceOptions) -> Prepared:
    """The mentions that count, as the table of overlaps."""
    _check(options)
    if options.compat == "reference":
        pairs = replace(pairs, key=_as_met(pairs.key), response=_as_met(pairs.response))
    key_mention, response_mention, codes = _mention_codes(pairs, options)
    mentions = (key_mention, response_mention)
    chains = (pairs.key, pairs.response)
    first = [first_ones(c.document, mention, c.entity, codes) for c, mention in zip(chains, mentions, strict=True)]
    notes = [*pairs.warnings, *(note for c, keep in zip(chains, first, strict=True) for note in _repetitions(c, keep))]
    repeated: dict[int, tuple[list[list[int]], list[list[int]]]] = {}
    if options.compat == "reference" and options.scope == "document":
        repeated, dropped = _repeated_mentions(chains, mentions, codes, first, options)
        if dropped > 10:
            notes.append(f"the reference scorer refuses to score {dropped:,} repeated mentions; its limit is ten")
    rows = [np.flatnonzero(_larger(c, keep, options)) for c, keep in zip(chains, first, strict=True)]
    if options.match != "exact" or (pairs.key.empty is not None and pairs.response.empty is not None):
        from tallystick.tasks.coreference.mentions import same_mentions

        zeros = "linear" if options.compat else options.zeros
        mentions, codes, said = same_mentions(pairs, mentions, (rows[0], rows[1]), codes, options.match, zeros)
        notes += said
    sides = []
    for c, mention, chosen in zip(chains, mentions, rows, strict=True):
        sides.append(Side(c.document[chosen], c.entity[chosen], mention[chosen], c.entities).without_gaps())
    documents = pairs.documents
    if options.scope != "document":
        sides, documents, codes = widened(pairs, sides, rows, codes, options)
    signature = _signature(pairs, options)
    table = Overlaps(sides[0].by_document(), sides[1].by_document(), len(documents))
    return Prepared(pairs, table, list(documents), codes, rows[0], rows[1], signature, notes, repeated)


def _signature(pairs: PairedChains, options: CoreferenceOptions) -> dict[str, str]:
    out = {"scope": options.scope, "singletons": "kept" if options.singletons else "dropped", "mentions": options.match}
    if pairs.key.empty is not None and pairs.response.empty is not None and options.compat is None:
        out["zeros"] = options.zeros
    if options.compat:
        out["compat"] = options.compat
    return out


def _repeated_mentions(
    chains: tuple[Chains, Chains], mentions: tuple[I64, I64], codes: int, first: list[Mask], options: CoreferenceOptions
) -> tuple[dict[int, tuple[list[list[int]], list[list[int]]]], int]:
    """The entities of both sides, by document, where a mention occurs twice, as the reference scorer sees them; and how many
    repeated mentions of the response it leaves out."""
    known = np.isin(chains[1].document * codes + mentions[1], chains[0].document * codes + mentions[0])
    scored = [np.ones(len(mentions[0]), np.bool_), first[1] | ~known]
    again = [c.document[keep & ~once] for c, keep, once in zip(chains, scored, first, strict=True)]
    kept = [_larger(c, keep, options) for c, keep in zip(chains, scored, strict=True)]
    out = {}
    for document in distinct(np.concatenate(again)).tolist():
        key, response = (
            _chains_of(c, mention, keep & (c.document == document))
            for c, mention, keep in zip(chains, mentions, kept, strict=True)
        )
        out[document] = (key, response)
    return out, int((~scored[1]).sum())


def _mention_codes(pairs: PairedChains, options: CoreferenceOptions) -> tuple[I64, I64, int]:
    """The codes of both sides, small enough that two documents and a code fit into one integer. Under head match two
    mentions of the same words with different heads are two mentions."""
    if options.match == "head":
        from tallystick.tasks.coreference.mentions import heads_of

        key, response = heads_of(pairs.key, "head"), heads_of(pairs.response, "head")
        spans = np.concatenate((pairs.key_mention, pairs.response_mention))
        both = np.column_stack((spans, np.concatenate((key, response))))
        numbers = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        key, response = np.split(numbers, [len(key)])
        return key, response, max(1, len(numbers))
    if len(pairs.documents) ** 2 * pairs.codes < LIMIT:
        return pairs.key_mention, pairs.response_mention, pairs.codes
    numbers = np.unique(np.concatenate((pairs.key_mention, pairs.response_mention)), return_inverse=True)[1]
    key, response = np.split(numbers.astype(np.int64), [len(pairs.key_mention)])
    return key, response, len(numbers)


def _larger(chains: Chains, keep: Mask, options: CoreferenceOptions) -> Mask:
    """Without the mentions of singletons, if those do not count."""
    if options.singletons:
        return keep
    sizes = np.bincount(chains.entity[keep], minlength=chains.entities)
    return keep & (sizes[chains.entity] > 1)


def _chains_of(chains: Chains, mention: I64, rows: Mask) -> list[list[int]]:
    out: dict[int, list[int]] = {}
    for entity, code in zip(chains.entity[rows].tolist(), mention[rows].tolist(), strict=True):
        out.setdefault(entity, []).append(code)
    return [out[entity] for entity in sorted(out)]


def _as_met(chains: Chains) -> Chains:
    """Entities numbered as the reference scorer meets them. It looks for mentions of one token in a cell first, then for those
    that begin there, so that `(1|(0)` is entity 0 and then entity 1."""
    longer = chains.start != chains.end
    order = np.lexsort((np.arange(len(chains)), longer, chains.start, chains.document))
    entity, kept = number_by_first(chains.entity[order])
    met = np.empty_like(entity)
    met[order] = entity
    names = [chains.entity_names[number] for number in kept.tolist()]
    return replace(chains, entity=met, entity_names=names, split=renumbered(chains.split, kept))


def _check(options: CoreferenceOptions) -> None:
    for name, value, known in (
        ("scope", options.scope, SCOPES), ("match", options.match, MATCHES), ("zeros", options.zeros, ZEROS)
    ):  # fmt: skip
        if value not in known:
            raise MetricError(f"{name} must be one of {', '.join(known)}, found {value!r}")
    if options.compat not in (None, "reference"):
        raise MetricError(f"compat must be reference, found {options.compat!r}")
    if options.compat and options.match != "exact":
        raise MetricError(
            f"the reference scorer knows exact mentions only; leave out mentions={options.match} or compat"
        )


def _repetitions(chains: Chains, keep: Mask) -> list[str]:
    dropped = int((~keep).sum())
    if not dropped:
        return []
    times = "once" if dropped == 1 else f"{dropped:,} times"
    return [f"{chains.file}: a mention is repeated {times}; its first entity keeps it (--strict names each)"]


def first_ones(document: I64, mention: I64, entity: I64, codes: int) -> Mask:
    """Which rows are the first of their mention in their document: those of the first entity that has it."""
    keep = np.ones(len(mention), np.bool_)
    keys = document * codes + mention
    ordered = np.sort(keys)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((entity, keys))
        ordered = keys[order]
        keep[order[1:][ordered[1:] == ordered[:-1]]] = False
    return keep


def widened(
    pairs: PairedChains, sides: list[Side], rows: list[I64], codes: int, options: CoreferenceOptions
) -> tuple[list[Side], list[str], int]:
    """Documents put together by topic, or all of them: an entity is then the same wherever its id is."""
    try:
        pattern = re.compile(options.topic)
    except re.error as error:
        raise MetricError(f"--topic {options.topic!r} is not a regular expression ({error})") from None
    groups: dict[str, int] = {}
    group = []
    for name in pairs.documents:
        found = pattern.search(document_key(name)) if options.scope == "topic" else None
        if options.scope == "topic" and found is None:
            raise MetricError(f"no topic in the name of document {name!r}; --topic REGEX says what it is")
        group.append(groups.setdefault(found.group() if found else "corpus", len(groups)))
    of_document = np.array(group, np.int64)
    out = []
    for side, chosen, chains in zip(sides, rows, (pairs.key, pairs.response), strict=True):
        home = of_document[side.document]
        names: dict[tuple[int, str], int] = {}
        ids = (chains.entity_names[e] for e in chains.entity[chosen].tolist())
        entity = [names.setdefault(key, len(names)) for key in zip(home.tolist(), ids, strict=True)]
        mention = side.document * codes + side.mention
        out.append(Side(home, np.array(entity, np.int64), mention, len(names)))
    return out, list(groups), len(pairs.documents) * codes


# The equations, of documents that are collections of entities, and entities collections of mentions.

MENTIONS = f1(match(PHI_3, "N:N"))
"""F~[φ3], mention detection: what any two entities have in common, each mention being in one entity"""

MUC = f1(match(links(exact), "N:N"))
"""F~[φ_link], φ_link(X, Y) = max{0, |X ∩ Y| - 1} (eq. 20 to 22); precision and recall have one numerator"""

CEAF_M = f1(match(PHI_3))
"""F↔[φ3], φ3 = Σ↔[δ] (eq. 17)"""

CEAF_E = f1(match(f1(PHI_3)))
"""F↔[φ4], φ4 = F↔[δ] (eq. 18 and 19)"""

B3 = sides(
    precision=precision(match(record(mention=exact, entity=precision(PHI_3)))),
    recall=recall(match(record(mention=exact, entity=recall(PHI_3)))),
)
"""P↔[δ × P↔[δ]] and R↔[δ × R↔[δ]] over memberships (eq. 23 and 24); `b3` gives its rows"""


@frozen
class BlancLinks:
    """BLANC's two classes of links. P, R and F are means of the two; a class that the key does not have is left out."""

    headline: str = "f1"

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{kind}_{of}" for kind in ("coreferent", "other") for of in ("common", "key", "response"))

    def figures(self, sums: F64) -> dict[str, F64]:
        classes = []
        for first in (0, 3):
            common, key, response = (sums[..., first + k] for k in range(3))
            classes.append((ratio(common, response), ratio(common, key), ratio(2 * common, key + response)))
        no_links, no_others = sums[..., 1] == 0, sums[..., 4] == 0
        out = {}
        for name, coreferent, other in zip(("precision", "recall", "f1"), *classes, strict=True):
            mean = (np.nan_to_num(coreferent) + np.nan_to_num(other)) / 2
            out[name] = np.where(no_links, other, np.where(no_others, coreferent, mean))
        return out


@frozen
class CoreferenceMetric:
    """A coreference metric: its rows, the kind of its tally, what its name stands for, and its expression if it has one."""

    rows: Callable[[Overlaps], F64] | None
    kind: Kind
    summary: str
    expression: Node | None = None
    of_mentions: Callable[[Prepared], F64] | None = None
    """The rows of a metric that looks at the mentions themselves, where they begin and what words they have."""

    def tally(self, prepared: Prepared) -> F64:
        """The rows of all documents."""
        if self.of_mentions is not None:
            return self.of_mentions(prepared)
        assert self.rows is not None
        return self.rows(prepared.overlaps)


def _rows_of(metric: CoreferenceMetric, t: Overlaps) -> F64:
    assert metric.rows is not None
    return metric.rows(t)


_CONLL = ("muc", "b3", "ceaf_e")
_TWO = Counts(one=False)

METRICS: dict[str, CoreferenceMetric] = {
    "mentions": CoreferenceMetric(mentions, Counts(), "mention detection", MENTIONS),
    "muc": CoreferenceMetric(muc, Counts(), "MUC: links of chains", MUC),
    "b3": CoreferenceMetric(b3, _TWO, "B³: each mention's share of its entity", B3),
    "ceaf_m": CoreferenceMetric(ceaf_m, Counts(), "CEAF, mentions of matched entities (φ3)", CEAF_M),
    "ceaf_e": CoreferenceMetric(ceaf_e, Counts(), "CEAF, matched entities (φ4)", CEAF_E),
    "blanc": CoreferenceMetric(blanc, BlancLinks(), "BLANC: coreferent and other links, for predicted mentions too"),
    "lea": CoreferenceMetric(lea, _TWO, "LEA: links, entities weighted by size"),
    "conll": CoreferenceMetric(
        lambda t: np.concatenate([_rows_of(METRICS[name], t) for name in _CONLL], axis=1),
        MeanOf(tuple(zip(_CONLL, (Counts(), _TWO, Counts()), strict=True))),
        "the mean F1 of MUC, B³ and CEAF-e; it has no precision or recall",
    ),
}
"""What `tallystick score coreference` prints."""


MATCHING: dict[str, Phi] = {"ceaf_m": "n", "ceaf_e": "phi_4", "conll": "phi_4"}
"""The metrics that match entities, and by what."""


# Older variants, which change the mentions before they score; see section 2 of "Scoring Coreference Partitions of
# Predicted Mentions: A Reference Implementation".


def _b3_all(t: Overlaps) -> F64:
    """A twinless mention earns 1 / |its entity| on its own side."""
    rows = b3(t)
    rows[:, 0] += t.over_response((t.response.sizes - t.found_of_response) / np.maximum(t.response.sizes, 1))
    rows[:, 2] += t.over_key((t.key.sizes - t.found_of_key) / np.maximum(t.key.sizes, 1))
    return rows


def _b3_0(t: Overlaps) -> F64:
    """Twinless response mentions are dropped; twinless key mentions have recall 0."""
    found = t.found_of_response
    rows = b3(t)
    rows[:, 0] = t.by_document(t.n**2 / found[t.r])
    rows[:, 1] = t.over_response(found)
    return rows


def _without_twinless_singletons(t: Overlaps) -> Overlaps:
    """Rahman & Ng 2009: response singletons that are not in the key are removed."""
    keep = ~((t.response.sizes == 1) & (t.found_of_response == 0))
    return Overlaps(t.key, t.response.only(keep[t.response.entity]), t.documents)


def _cai_strube(t: Overlaps) -> tuple[Overlaps, Overlaps]:
    """Cai & Strube 2010, for precision and for recall.

    Twinless singletons of the response are removed. For recall, twinless key mentions are added to the response as
    singletons, and twinless response mentions are removed. For precision, twinless response mentions are added to the
    key as singletons, and twinless key mentions to the response.
    """
    t = _without_twinless_singletons(t)
    codes = 1 + max(int(side.mention.max(initial=0)) for side in (t.key, t.response))
    of_key, of_response = (side.document * codes + side.mention for side in (t.key, t.response))
    missed, spurious = ~np.isin(of_key, of_response), ~np.isin(of_response, of_key)
    response = _with_singletons(t.response, t.key, missed)
    for_precision = Overlaps(_with_singletons(t.key, t.response, spurious), response, t.documents)
    for_recall = Overlaps(t.key, _with_singletons(t.response.only(~spurious), t.key, missed), t.documents)
    return for_precision, for_recall


def _with_singletons(side: Side, other: Side, rows: Mask) -> Side:
    """One side and some mentions of the other, each an entity of its own."""
    extra = int(rows.sum())
    entity = side.entities + np.arange(extra)
    return side.with_mentions(other.document[rows], entity, other.mention[rows], side.entities + extra)


def _cai_strube_rows(rows: Callable[[Overlaps], F64]) -> Callable[[Overlaps], F64]:
    def both(t: Overlaps) -> F64:
        for_precision, for_recall = _cai_strube(t)
        return np.concatenate((rows(for_precision)[:, :2], rows(for_recall)[:, 2:]), axis=1)

    return both


VARIANTS: dict[str, CoreferenceMetric] = {
    "b3_all": CoreferenceMetric(_b3_all, _TWO, "B³-all (Stoyanov et al. 2009): twinless mentions kept"),
    "b3_0": CoreferenceMetric(_b3_0, _TWO, "B³-0 (Stoyanov et al. 2009): twinless response mentions dropped"),
    "b3_rahman_ng": CoreferenceMetric(lambda t: b3(_without_twinless_singletons(t)), _TWO, "B³ after Rahman & Ng 2009"),
    "ceaf_m_rahman_ng": CoreferenceMetric(
        lambda t: ceaf_m(_without_twinless_singletons(t)), Counts(), "CEAF-m after Rahman & Ng 2009"
    ),
    "ceaf_e_rahman_ng": CoreferenceMetric(
        lambda t: ceaf_e(_without_twinless_singletons(t)), Counts(), "CEAF-e after Rahman & Ng 2009"
    ),
    "b3_cai_strube": CoreferenceMetric(_cai_strube_rows(b3), _TWO, "B³ after Cai & Strube 2010"),
    "ceaf_m_cai_strube": CoreferenceMetric(_cai_strube_rows(ceaf_m), _TWO, "CEAF-m after Cai & Strube 2010"),
}
"""For comparing with older work; each changes the mentions first, which "Scoring Coreference Partitions of Predicted
Mentions" argues against."""


MOR = f1(match(match(exact)))
"""F↔[Σ↔[δ]] over mentions as sets of words: the words in common of mentions matched so that these are as many as possible"""


def overlap_rows(prepared: Prepared) -> F64:
    """The mention overlap ratio: words in common, of all words of mentions. It does not depend on how mentions are matched."""
    from tallystick.tasks.coreference.mentions import words_of

    sides = []
    for chains, rows, side in prepared.sides():
        if chains.labels is not None:
            raise MetricError("mor needs the words of mentions; these mentions are opaque values")
        order = np.argsort(side.document, kind="stable")
        words = words_of(chains, rows[order])
        # a scope may join documents, whose words stay different ones
        stride = 1 + max(int(one.end.max(initial=0)) for one in (prepared.pairs.key, prepared.pairs.response))
        home = np.repeat(chains.document[rows[order]], np.diff(words.offsets))
        inside = Bag(words.offsets, home * stride + np.asarray(words.items))
        sides.append(Bag(offsets_of(np.bincount(side.document, minlength=len(prepared.documents))), inside))
    return tally_columns(MOR, sides[0], sides[1], Scope())


def _zero_rows(prepared: Prepared) -> F64:
    from tallystick.tasks.coreference.mentions import zero_rows

    return zero_rows(prepared)


def _bridging_rows(prepared: Prepared) -> F64:
    from tallystick.tasks.coreference.mentions import bridging_rows

    return bridging_rows(prepared)


def _split_rows(prepared: Prepared) -> F64:
    from tallystick.tasks.coreference.mentions import split_rows

    return split_rows(prepared)


OF_MENTIONS: dict[str, CoreferenceMetric] = {
    "mor": CoreferenceMetric(None, Counts(), "mention overlap ratio (CorefUD)", of_mentions=overlap_rows),
    "zeros": CoreferenceMetric(
        None, Counts(), "zero anaphors with a right antecedent (CorefUD)", of_mentions=_zero_rows
    ),
    "bridging_anaphors": CoreferenceMetric(
        None, Counts(), "mentions recognised as bridging anaphors (Universal Anaphora)", of_mentions=_bridging_rows
    ),
    "split_antecedents": CoreferenceMetric(
        None,
        MeanOf(tuple((name, _TWO) for name in _CONLL)),
        "the CoNLL score of split antecedents alone (Universal Anaphora)",
        of_mentions=_split_rows,
    ),
}
"""Figures beside the metrics, which look at the mentions themselves or at links between entities."""


# Scoring.


PLAIN = CoreferenceOptions()


def evaluate(
    key: Any,
    response: Any,
    metrics: Sequence[str] = tuple(METRICS),
    *,
    options: CoreferenceOptions = PLAIN,
) -> dict[str, Result]:
    """Score clusters: two sequences (or mappings by id) of documents, a document a list of sets of hashable mentions."""
    left, right = (s if isinstance(s, Chains) else chains_from_clusters(s) for s in (key, response))
    return score(pair(left, right, lenient=options.compat == "reference"), metrics, options)


def score(
    pairs: PairedChains, metrics: Sequence[str] = tuple(METRICS), options: CoreferenceOptions = PLAIN
) -> dict[str, Result]:
    """Every metric over one pair of columns."""
    return score_prepared(pairs.once(prepare, options), metrics)


def score_prepared(prepared: Prepared, metrics: Sequence[str]) -> dict[str, Result]:
    """Every metric over columns that are prepared already."""
    metrics = chosen_metrics(metrics)
    return results_of(prepared, tallies_of(prepared, metrics), metrics)


def chosen_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """These metrics, if there are such."""
    return tuple(choose(_known(), metrics, "coreference"))


def _known() -> dict[str, CoreferenceMetric]:
    return {**METRICS, **VARIANTS, **OF_MENTIONS}


def tallies_of(prepared: Prepared, metrics: Sequence[str]) -> dict[str, F64]:
    """The rows of the documents under each metric."""
    known = _known()
    # The CoNLL score is made of three that may be asked for themselves.
    needed = dict.fromkeys(part for name in metrics for part in (_CONLL if name == "conll" else (name,)))
    rows = {name: known[name].tally(prepared) for name in needed}
    if prepared.repeated:
        from tallystick.tasks.coreference.mentions import reference_rows
    for document, chains in prepared.repeated.items():
        for name, row in reference_rows(*chains).items():
            if name in rows:
                rows[name][document] = row
    if "conll" in metrics:
        rows["conll"] = np.concatenate([rows[part] for part in _CONLL], axis=1)
    return rows


def results_of(prepared: Prepared, rows: Mapping[str, F64], metrics: Sequence[str]) -> dict[str, Result]:
    """The results of some metrics from their rows."""
    known, ids = _known(), tuple(prepared.documents)
    settings = ", ".join(f"{name}={value}" for name, value in prepared.signature.items())
    results = {}
    for name in metrics:
        metric = known[name]
        expression, label = metric.expression, f"coreference.{name}"
        results[name] = Result(
            metric=expression or label,
            name=label if expression else "",
            kind=metric.kind,
            rows=rows[name],
            ids=ids,
            undefined=0.0,
            notes=tuple(prepared.notes),
            settings=settings,
            sources=(prepared.sources(memberships=name == "b3"),) if expression else None,
        )
    return results
