"""The entities of both sides as columns, and what two entities have in common: n(k, r), a sparse table.

The table is Σ↔[δ] of eq. 17, φ3, as the algebra computes it for every pair of entities of one document, once for all metrics.
The tallies here are sums over its non-zeros, by document:

    mentions Σ n                                              of Σ |k|,  Σ |r|
    MUC      Σ (n - 1)                                        of Σ (|k| - 1),  Σ (|r| - 1)
    CEAF     Σ φ over the best 1:1 matching of entities       φ3 = n of Σ |k|, Σ |r|;  φ4 = 2n / (|k| + |r|) of entities
    B³       Σ n² / |k|  and  Σ n² / |r|                      of Σ |k|,  Σ |r|
    LEA      Σ |k| · links in common / links of k             a singleton has one link, to itself
    BLANC    coreferent links Σ C(n, 2); non-coreferent C(m, 2) - Σ C(m_k, 2) - Σ C(m_r, 2) + Σ C(n, 2)

with m the mentions in common of a document, m_k those of key entity k.

Which mentions of key and response are the same: CorefUD's matching (Žabokrtský et al. 2022 to 2024), in stages.

    zeros      dependent: a mention whose head is an empty node, with one of the same sentence; 10 · F1 of (parent, relation)
               + F1 of parents. An empty node without dependencies is left to the next stages, as all are with `linear`
    equal      the same words; under head match the same head too
    the rest   head: the same head, |common words| / |key words|
               partial: the response's words lie inside the key's and have its head among them; the same weight

Each stage is a best 1:1 matching of what the ones before left over (`staged`), over documents of mentions, mentions being
records of columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1, f_score, recall, subset
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.staged import Staged, staged
from tallystick.algebra.weights import weighted
from tallystick.engine.arrays import (
    F64,
    I64,
    LIMIT,
    Blocks,
    Mask,
    Sums,
    assign,
    distinct,
    expand,
    join,
    number,
    offsets_of,
    sort_order,
    weighted_counts,
)
from tallystick.engine.data import Bag, LazyValues, Objects, Record, Scope
from tallystick.engine.encoded import Items
from tallystick.errors import MetricError, counted
from tallystick.files.pairing import document_key
from tallystick.frozen import frozen
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, PairedChains, number_by_first, renumbered

MATCHES = ("exact", "head", "partial")
ZEROS = ("dependent", "linear")

_OVERLAP = recall(match(exact))
_ZERO = record(zero=exact, dependencies=each(relations=weighted(f1(match(exact)), 10), parents=f1(match(exact))))
_EQUAL = {"exact": record(span=exact), "head": record(span=exact, head=exact), "partial": record(span=exact)}
_REST = {
    "head": record(head=exact, words=_OVERLAP),
    "partial": record(core=_OVERLAP, inside=subset(exact), words=_OVERLAP),
}


def mention_matching(how: str, zeros: str) -> Staged | Match:
    """How the mentions of a document are matched."""
    found: Staged | Match = match(_EQUAL[how])
    if how in _REST:
        found = staged(_EQUAL[how], match(_REST[how]))
    return staged(_ZERO, found) if zeros == "dependent" else found


def same_mentions(
    pairs: PairedChains, codes_of: tuple[I64, I64], rows: tuple[I64, I64], codes: int, how: str, zeros: str
) -> tuple[tuple[I64, I64], int, list[str]]:
    """The mention codes of both sides, equal where two of the `rows` are matched; their bound; and what is to be said."""
    chains = (pairs.key, pairs.response)
    if how != "exact" and any(side.labels is not None for side in chains):
        raise MetricError(f"mentions={how} needs spans; these mentions are opaque values")
    nodes = [_zero_nodes(side, of) if zeros == "dependent" else None for side, of in zip(chains, rows, strict=True)]
    left, right = nodes
    if left is None or right is None or not ((left >= 0).any() and (right >= 0).any()):
        zeros = "linear"
    if how == "exact" and zeros == "linear":
        return codes_of, codes, []
    matching = mention_matching(how, zeros)
    sides = [_Mentions(side, code, of) for side, code, of in zip(chains, codes_of, rows, strict=True)]
    data = _mention_data(sides, nodes if zeros == "dependent" else None, how, len(pairs.documents))
    r, p = matching.encode(data[0], data[1], Scope())
    assert isinstance(r, Items)
    assert isinstance(p, Items)
    found = matching.matched(r, p)
    matched = codes_of[1] + codes  # those without a partner have codes of their own
    matched[sides[1].rows[found.j]] = codes_of[0][sides[0].rows[found.i]]
    return (codes_of[0], matched), 2 * codes, [note for side in chains for note in _headless(side, how)]


def heads_of(chains: Chains, how: str) -> I64:
    """The head of each mention: its first word, where none is given."""
    if chains.head is None:
        if how == "head":
            raise MetricError("mentions=head needs heads in both files, which only CorefUD has")
        return chains.start
    return np.where(chains.head == UNKNOWN, chains.start, chains.head)


def _headless(chains: Chains, how: str) -> list[str]:
    without = len(chains) if chains.head is None else int((chains.head == UNKNOWN).sum())
    if how == "exact" or not without:
        return []
    return [f"{chains.file}: {counted(without, 'mention')} without a head; the first word counts as the head"]


def _zero_nodes(chains: Chains, rows: I64) -> I64 | None:
    """For each mention the empty node with dependencies that is its head, or `UNKNOWN`; None without empty nodes."""
    empty = chains.empty
    if empty is None:
        return None
    node = empty.find(chains.document[rows], heads_of(chains, "exact")[rows])
    bare = np.array([not one for one in empty.dependencies], np.bool_)
    node[node >= 0] = np.where(bare[node[node >= 0]], UNKNOWN, node[node >= 0])
    return node


class _Mentions:
    """The mentions of one side, by documents, and in these by first word, last word and number of words."""

    def __init__(self, chains: Chains, codes: I64, rows: I64) -> None:
        self.chains, self.given = chains, rows
        length = word_counts(chains)
        self.order = np.lexsort((length[rows], chains.end[rows], chains.start[rows], chains.document[rows]))
        self.rows = rows[self.order]
        self.codes, self.length = codes[self.rows], length[self.rows]
        self.document = chains.document[self.rows]

    def words(self) -> Bag:
        """The words of each mention."""
        return words_of(self.chains, self.rows)


def word_counts(chains: Chains) -> I64:
    """How many words each mention has, without those in its gaps."""
    length = chains.end - chains.start + 1
    for row, parts in chains.parts.items():
        length[row] = sum(last - first + 1 for first, last in parts)
    return length


def words_of(chains: Chains, rows: I64) -> Bag:
    """The words of some mentions, as offsets."""
    length = word_counts(chains)[rows]
    words = expand(chains.start[rows], length)
    offsets = offsets_of(length)
    place = {row: at for at, row in enumerate(rows.tolist()) if row in chains.parts} if chains.parts else {}
    for row, at in place.items():
        inside = [token for first, last in chains.parts[row] for token in range(first, last + 1)]
        words[offsets[at] : offsets[at + 1]] = inside
    return Bag(offsets, words)


def _mention_data(
    sides: Sequence[_Mentions], nodes: Sequence[I64 | None] | None, how: str, documents: int
) -> list[Bag]:
    """The mentions of each document as records of columns, as far as the matching looks at them."""
    out = []
    for which, side in enumerate(sides):
        fields: dict[str, Any] = {"span": side.codes}
        if how != "exact":
            head, words = heads_of(side.chains, how)[side.rows], side.words()
            fields |= {"head": head, "words": words, "inside": words}
            fields["core"] = words if which else Bag(np.arange(len(head) + 1), head)
        if nodes is not None:
            fields |= _zero_fields(side, nodes[which], which, sum(len(one.rows) for one in sides))
        offsets = offsets_of(np.bincount(side.document, minlength=documents))
        out.append(Bag(offsets, Record(fields)))
    return out


def _zero_fields(side: _Mentions, node: I64 | None, which: int, mentions: int) -> dict[str, Any]:
    """The sentence of each zero, and a number of its own for every other mention; parents and relations."""
    empty = side.chains.empty
    assert empty is not None
    assert node is not None
    node = node[side.order]
    zero = np.flatnonzero(node >= 0)
    alone = -1 - np.arange(len(node)) - which * mentions
    alone[zero] = empty.sentence[node[zero]]
    said = [empty.dependencies[one] if one >= 0 else () for one in node.tolist()]
    above = [tuple(dict.fromkeys(one.partition(":")[0] for one in found)) for found in said]
    bags = (Bag(offsets_of([len(one) for one in found]), Objects(list(chain(*found)))) for found in (said, above))
    return {"zero": alone, "dependencies": Record(dict(zip(("relations", "parents"), bags, strict=True)))}


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

    @cached_property
    def homes(self) -> I64:
        """The document of each entity."""
        out = np.zeros(self.entities, np.int64)
        out[self.entity] = self.document
        return out

    @cached_property
    def members(self) -> Bag:
        """The column of entities: the mention codes of each."""
        order = sort_order(self.entity, max(1, self.entities))
        return Bag(offsets_of(np.bincount(self.entity, minlength=self.entities)), self.mention[order])

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


@frozen(eq=False)
class Overlaps:
    """Both sides, and n(k, r) for every pair of entities that share a mention; entities, and documents, are numbers.

    No mention may stand twice on one side of a document.
    """

    key: Side
    response: Side
    documents: int

    @cached_property
    def _cells(self) -> Sums:
        key, response = PHI_3.encode(self.key.members, self.response.members, Scope())
        assert isinstance(key, Items)
        assert isinstance(response, Items)
        return PHI_3.sums(key, response, Blocks(self.key.homes, self.response.homes, max(1, self.documents)))

    @property
    def k(self) -> I64:
        return self._cells.i

    @property
    def r(self) -> I64:
        return self._cells.j

    @property
    def n(self) -> F64:
        return self._cells.total

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


def twins(key: Side, response: Side, documents: int, codes: int) -> tuple[I64, I64]:
    """The mentions that both sides have: (row of the key, row of the response)."""
    return join(key.document * codes + key.mention, response.document * codes + response.mention, documents * codes)


def _rows(num_p: F64, den_p: F64, num_r: F64, den_r: F64) -> F64:
    return np.stack((num_p, den_p, num_r, den_r), axis=1)


def links(n: F64) -> F64:
    """C(n, 2)"""
    return n * (n - 1) / 2


def mentions(t: Overlaps) -> F64:
    """What any two entities have in common, each mention being in one."""
    common = t.by_document(t.n)
    return _rows(common, t.over_response(t.response.sizes), common, t.over_key(t.key.sizes))


def muc(t: Overlaps) -> F64:
    """The links of chains that two entities share (eq. 20 to 22)."""
    common = t.by_document(t.n - 1)
    return _rows(common, t.over_response(t.response.sizes - 1), common, t.over_key(t.key.sizes - 1))


def ceaf_m(t: Overlaps) -> F64:
    """φ3 of entities matched 1:1 (eq. 17)."""
    common = _matched(t, t.n)
    return _rows(common, t.over_response(t.response.sizes), common, t.over_key(t.key.sizes))


def ceaf_e(t: Overlaps) -> F64:
    """φ4 of entities matched 1:1 (eq. 18 and 19)."""
    common = _matched(t, f_score(t.n, t.n, t.key.sizes[t.k], t.response.sizes[t.r], 1.0))
    return _rows(common, t.over_response(np.ones(t.response.entities)), common, t.over_key(np.ones(t.key.entities)))


def _matched(t: Overlaps, phi: F64) -> F64:
    """The largest sum of φ over entities matched 1:1, by document, added in the order of the key."""
    chosen = assign(t.k, t.r, phi, t.key.entities, t.response.entities)
    return weighted_counts(t.home[chosen], phi[chosen], t.documents)


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


# Before the entities are compared: which mentions count, which of the two sides' mentions are the same, and what is
# one document.
#
# Repeated mentions: the first entity keeps the mention, and a note counts those that were dropped. The reference scorer keeps
# those of the key, and those of the response that are not in the key (`compat="reference"`).

SCOPES = ("document", "topic", "corpus")


@frozen
class CoreferenceOptions:
    """What may be different; every choice goes into the signature."""

    singletons: bool = True
    scope: str = "document"
    topic: str = r"[^_/]+"
    match: str = "exact"
    zeros: str = "dependent"
    compat: str | None = None


class Placed(NamedTuple):
    """A mention where it stands: its code, whether its head is an empty node, and whether it is the first of its entity."""

    document: int
    entity: int
    mention: int
    zero: bool
    first: bool


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

    def in_order(self) -> tuple[list[Placed], list[Placed]]:
        """The mentions of both sides by entities, and inside these in the order of the text."""
        out = []
        for chains, rows, side in self.sides():
            zero = np.zeros(len(rows), np.bool_)
            if chains.empty is not None:
                zero = chains.empty.find(chains.document[rows], heads_of(chains, "exact")[rows]) >= 0
            length = word_counts(chains)[rows]
            order = np.lexsort((length, chains.end[rows], chains.start[rows], chains.document[rows], side.entity))
            first = np.diff(side.entity[order], prepend=-1) != 0
            columns = (side.document[order], side.entity[order], side.mention[order], zero[order], first)
            out.append([Placed(*one) for one in zip(*(column.tolist() for column in columns), strict=True)])
        return out[0], out[1]

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


# The reference scorer's arithmetic in documents with a repeated mention (`compat="reference"`).
#
# There the reference scorer counts positions of chains, not mentions, and a mention has one key chain only, the last:
#
#     mentions   different mentions
#     MUC        Σ over pairs of chains (positions of the response chain whose mention's key chain is this one) - 1
#     B³         for each position of a response chain: positions of that chain that are in the mention's key chain
#     CEAF       positions of the key chain whose mention is in the response chain; this can exceed the response's mentions
#     BLANC      sets of unordered pairs, among them a mention with itself; a pair may be in both classes
#
# Any other document is scored as ever. Documents like this are rare, so they are gone through plainly.

Chain = Sequence[int]
Link = tuple[int, int]


def reference_rows(key: Sequence[Chain], response: Sequence[Chain]) -> dict[str, list[float]]:
    """The rows of one document for each metric that the reference scorer has."""
    of_key, of_response = set(chain(*key)), set(chain(*response))
    in_key, in_response = sum(map(len, key)), sum(map(len, response))
    common = len(of_key & of_response)
    last = {mention: k for k, members in enumerate(key) for mention in members}
    meetings = [Counter(last[mention] for mention in members if mention in last) for members in response]
    links = sum(n - 1 for counts in meetings for n in counts.values())
    right = found = 0.0
    for members in response:
        for mention in members:
            if mention in last:
                whole = key[last[mention]]
                inside = set(whole)
                shared = len([m for m in members if m in inside])
                right += shared / len(members)
                found += shared / len(whole)
    by_mention, by_entity = _ceaf(key, response)
    return {
        "mentions": [common, len(of_response), common, len(of_key)],
        "muc": [links, in_response - len(response), links, in_key - len(key)],
        "b3": [right, in_response, found, in_key],
        "ceaf_m": [by_mention, in_response, by_mention, in_key],
        "ceaf_e": [by_entity, len(response), by_entity, len(key)],
        "blanc": _blanc(key, response),
    }


def _ceaf(key: Sequence[Chain], response: Sequence[Chain]) -> tuple[float, float]:
    sets = [set(members) for members in response]
    cells = [
        (k, r, n)
        for (k, members), (r, other) in product(enumerate(key), enumerate(sets))
        if (n := len([m for m in members if m in other]))
    ]
    k, r, n = np.array(cells, np.int64).reshape(-1, 3).T
    lengths = [np.array([len(members) for members in side], np.int64) for side in (key, response)]
    totals = []
    for phi in (n.astype(np.float64), 2 * n / (lengths[0][k] + lengths[1][r])):
        totals.append(float(phi[assign(k, r, phi, len(key), len(response))].sum()))
    return totals[0], totals[1]


def _blanc(key: Sequence[Chain], response: Sequence[Chain]) -> list[float]:
    (same_k, other_k), (same_r, other_r) = _links(key), _links(response)
    classes = ((same_k, same_r), (other_k, other_r))
    return [float(n) for ours, theirs in classes for n in (len(ours & theirs), len(ours), len(theirs))]


def _links(side: Sequence[Chain]) -> tuple[set[Link], set[Link]]:
    """The coreferent and the other links."""
    same = {(min(a, b), max(a, b)) for members in side for a, b in combinations(members, 2)}
    other = {(min(a, b), max(a, b)) for one, two in combinations(side, 2) for a, b in product(one, two)}
    return same, other
