"""Which mentions of key and response are the same: CorefUD's matching (Žabokrtský et al. 2022 to 2024), in stages.

    zeros      dependent: a mention whose head is an empty node, with one of the same sentence; 10 · F1 of (parent, relation)
               + F1 of parents. An empty node without dependencies is left to the next stages, as all are with `linear`
    equal      the same words; under head match the same head too
    the rest   head: the same head, |common words| / |key words|
               partial: the response's words lie inside the key's and have its head among them; the same weight

Each stage is a best 1:1 matching of what the ones before left over (`staged`), over documents of mentions, mentions being
records of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1, recall, subset
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.staged import Staged, staged
from tallystick.algebra.weights import weighted
from tallystick.engine.arrays import I64, expand, offsets_of
from tallystick.engine.data import Bag, Objects, Record, Scope
from tallystick.engine.encoded import Items
from tallystick.errors import MetricError, counted
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, PairedChains

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
