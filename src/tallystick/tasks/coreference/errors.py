"""What went wrong, in the terms of the Berkeley Coreference Analyser (Kummerfeld & Klein 2013).

A mention is *twinless* if the other side does not have it. Four steps, each on what the ones before left over:

    span error          a twinless response mention and a twinless key mention that share a token, paired 1:1 so that
                        the sum of 2 · shared / (length + length) is the largest; from here on each is the other's twin
    missing entity      a key entity without any twin        extra entity     a response entity without any twin
    missing mention     any other twinless key mention       extra mention    any other twinless response mention
    divided entity      a key entity whose twins lie in two or more response entities
    conflated entity    a response entity whose twins lie in two or more key entities

So every twinless mention belongs to exactly one error of the first five kinds, a mention in the wrong entity makes a
divided and a conflated one, and two equal sides have no error. The analyser of 2013 also asks span errors for a common
head, which columns do not have, and counts each part that is split off; here an entity is divided once, in so many parts.
A discontinuous mention counts as all tokens from its first to its last. Mentions that are opaque Python values have
no tokens, so no span errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask, assign, expand, number, sort_order, sum_by_key
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, PairedChains
from tallystick.tasks.coreference.mentions import Prepared, prepare
from tallystick.tasks.coreference.metrics import METRICS, PLAIN, CoreferenceOptions
from tallystick.tasks.coreference.overlaps import Overlaps, Side, twins

EXAMPLES = 5


@dataclass(frozen=True)
class Located:
    """A mention in its file: its document, its span (or parts, or value), its line, its entity's name."""

    document: str
    mention: object
    line: int | None
    entity: str


@dataclass(frozen=True)
class Example:
    """One error: the mentions that it is about, as the key and as the response have them."""

    key: tuple[Located, ...]
    response: tuple[Located, ...]


@dataclass(frozen=True)
class Errors:
    """All errors of one kind: how many, how many mentions they are about (on both sides), and the first ones."""

    error: str
    count: int
    mentions: int
    examples: tuple[Example, ...]


def find_errors(pairs: PairedChains, options: CoreferenceOptions = PLAIN, examples: int = EXAMPLES) -> list[Errors]:
    """The errors of each of the seven kinds, in the order of the module's text."""
    prepared = prepare(pairs, options)
    key, response = prepared.overlaps.key, prepared.overlaps.response
    (i, j), (span_i, span_j) = find_twins(pairs, prepared)
    i, j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    shown = _Shown(pairs, prepared, examples)
    out = [
        shown.errors(
            "span error", [((a,), (b,)) for a, b in _first(examples, span_i, span_j)], len(span_i), 2 * len(span_i)
        )
    ]

    for side, found, is_key, (entity_error, mention_error) in (
        (key, i, True, ("missing entity", "missing mention")),
        (response, j, False, ("extra entity", "extra mention")),
    ):
        left = np.flatnonzero(_left(len(side.entity), found))
        lost = np.bincount(side.entity[found], minlength=side.entities) == 0
        whole = lost[side.entity[left]]
        entities = np.flatnonzero(lost)
        members = [tuple(np.flatnonzero(side.entity == e).tolist()) for e in entities[:examples].tolist()]
        out.append(shown.one_sided(entity_error, members, is_key, len(entities), int(whole.sum())))
        rows = left[~whole]
        out.append(
            shown.one_sided(mention_error, [(row,) for row in rows[:examples].tolist()], is_key, len(rows), len(rows))
        )

    width = max(1, response.entities)
    cells, n = sum_by_key(key.entity[i] * width + response.entity[j], key.entities * width, None)
    for error, of, of_cell, entities_of_side in (
        ("divided entity", key.entity[i], cells // width, key.entities),
        ("conflated entity", response.entity[j], cells % width, response.entities),
    ):
        several = np.bincount(of_cell, minlength=entities_of_side) > 1
        entities = np.flatnonzero(several)
        chosen = [np.sort(np.flatnonzero(of == e)) for e in entities[:examples].tolist()]
        both = [_in_text(i[pair], j[pair], prepared) for pair in chosen]
        out.append(shown.errors(error, both, len(entities), int(n[several[of_cell]].sum())))
    order = (
        "span error",
        "missing mention",
        "extra mention",
        "missing entity",
        "extra entity",
        "divided entity",
        "conflated entity",
    )
    return sorted(out, key=lambda kind: order.index(kind.error))


def find_twins(pairs: PairedChains, prepared: Prepared) -> tuple[tuple[I64, I64], tuple[I64, I64]]:
    """The rows of both sides that are one mention, and those that differ in their span only."""
    table = prepared.overlaps
    i, j = twins(table.key, table.response, table.documents, prepared.codes)
    spans = _pair_spans(pairs, prepared, _left(len(table.key.entity), i), _left(len(table.response.entity), j))
    return (i, j), spans


def _left(rows: int, found: I64) -> Mask:
    """The rows without a twin."""
    left = np.ones(rows, np.bool_)
    left[found] = False
    return left


def _first(examples: int, *columns: I64) -> Iterable[tuple[int, ...]]:
    return zip(*(column[:examples].tolist() for column in columns), strict=True)


def _in_text(i: I64, j: I64, prepared: Prepared) -> tuple[tuple[int, ...], tuple[int, ...]]:
    order = np.argsort(prepared.key_rows[i], kind="stable")
    return tuple(i[order].tolist()), tuple(j[order].tolist())


def _pair_spans(pairs: PairedChains, prepared: Prepared, key_left: Mask, response_left: Mask) -> tuple[I64, I64]:
    """Twinless mentions of both sides that overlap, 1:1, as rows of the two sides."""
    if pairs.key.labels is not None or pairs.response.labels is not None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    k, r = np.flatnonzero(key_left), np.flatnonzero(response_left)
    key, response = (
        _Spans(chains, rows[left])
        for chains, rows, left in ((pairs.key, prepared.key_rows, k), (pairs.response, prepared.response_rows, r))
    )
    a, b = overlapping(key.document, key.start, key.end, response.document, response.start, response.end)
    shared = np.minimum(key.end[a], response.end[b]) - np.maximum(key.start[a], response.start[b]) + 1
    lengths = key.end[a] - key.start[a] + response.end[b] - response.start[b] + 2
    weight: F64 = 2 * shared / lengths
    chosen = np.flatnonzero(assign(a, b, weight, len(k), len(r)))
    chosen = chosen[np.argsort(a[chosen])]
    return k[a[chosen]], r[b[chosen]]


class _Spans:
    """Columns of some rows of one side; offsets of the document they are in, whatever the scope."""

    def __init__(self, chains: Chains, rows: I64) -> None:
        self.document, self.start, self.end = chains.document[rows], chains.start[rows], chains.end[rows]


def overlapping(
    document_a: I64, start_a: I64, end_a: I64, document_b: I64, start_b: I64, end_b: I64
) -> tuple[I64, I64]:
    """All (a, b) of one document that share a token.

    Of two overlapping spans either a begins inside b, or b begins inside a and after a's beginning: two searches
    in sorted starts, and no pair comes twice.
    """
    stride = 2 + max(int(end.max(initial=0)) for end in (end_a, end_b))
    found = []
    for (outer_d, outer_s, outer_e), (inner_d, inner_s), after in (
        ((document_b, start_b, end_b), (document_a, start_a), 0),
        ((document_a, start_a, end_a), (document_b, start_b), 1),
    ):
        keys = inner_d * stride + inner_s
        order = sort_order(keys, int(keys.max(initial=0)) + 1)
        low = np.searchsorted(keys[order], outer_d * stride + outer_s + after, side="left")
        high = np.searchsorted(keys[order], outer_d * stride + outer_e, side="right")
        counts = np.maximum(high - low, 0)
        outer = np.repeat(np.arange(len(outer_s), dtype=np.int64), counts)
        found.append((outer, order[expand(low, counts)]))
    (b, a), (a_2, b_2) = found
    return np.concatenate((a, a_2)), np.concatenate((b, b_2))


class _Shown:
    """Rows of the two sides as mentions that a person can look up."""

    def __init__(self, pairs: PairedChains, prepared: Prepared, examples: int) -> None:
        self.key, self.response = (pairs.key, prepared.key_rows), (pairs.response, prepared.response_rows)
        self.examples = examples

    def errors(
        self, error: str, found: Iterable[tuple[tuple[int, ...], tuple[int, ...]]], count: int, mentions: int
    ) -> Errors:
        shown = [Example(self._located(self.key, k), self._located(self.response, r)) for k, r in found]
        return Errors(error, count, mentions, tuple(shown[: self.examples]))

    def one_sided(self, error: str, found: list[tuple[int, ...]], is_key: bool, count: int, mentions: int) -> Errors:
        return self.errors(error, [(rows, ()) if is_key else ((), rows) for rows in found], count, mentions)

    def _located(self, side: tuple[Chains, I64], rows: tuple[int, ...]) -> tuple[Located, ...]:
        chains, of = side
        out = []
        for row in of[list(rows)].tolist() if rows else ():
            line = int(chains.lines[row])
            name = chains.entity_names[int(chains.entity[row])]
            document = chains.documents[int(chains.document[row])]
            out.append(Located(document, chains.label(row), None if line == UNKNOWN else line, name))
        return tuple(out)


# What each kind of error costs: the CoNLL score if the response did not have it.
#
# One kind is repaired alone, in the whole corpus, and the score computed anew from the table of overlaps:
#
#     span error          the mention takes the key's span
#     missing mention     it joins the response entity that holds most of its key entity
#     extra mention       it goes
#     missing entity      it comes            extra entity    it goes
#     divided entity      its mentions come together in the response entity that holds most of them
#     conflated entity    what belongs to other key entities than most of it becomes entities of their own
#
# The kinds and the twins are those of `coreference_errors`. A repair can cost other errors (a mention that changes
# its entity makes a divided and a conflated one), so gains do not add up.

KINDS = (
    "span error", "missing mention", "extra mention", "missing entity", "extra entity", "divided entity", "conflated entity",
)  # fmt: skip


def score_if_fixed(pairs: PairedChains, options: CoreferenceOptions = PLAIN) -> tuple[float, dict[str, float]]:
    """The CoNLL score as it is, and as it would be without each kind of error."""
    prepared = prepare(pairs, options)
    table = prepared.overlaps
    key, response = table.key, table.response
    (i, j), (span_i, span_j) = find_twins(pairs, prepared)
    all_i, all_j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    left_key, left_response = _left(len(key.entity), all_i), _left(len(response.entity), all_j)
    lost_key = _lost(key, all_i)[key.entity]
    lost_response = _lost(response, all_j)[response.entity]
    home = _most(key.entity[all_i], response.entity[all_j], key.entities)

    spans = response.mention.copy()
    spans[span_j] = key.mention[span_i]
    missing = left_key & ~lost_key
    divided, conflated = response.entity.copy(), response.entity.copy()
    divided[all_j] = home[key.entity[all_i]]
    kept = _most(response.entity[all_j], key.entity[all_i], response.entities)
    other = key.entity[all_i] != kept[response.entity[all_j]]
    parts, found = number(
        response.entity[all_j][other] * max(1, key.entities) + key.entity[all_i][other],
        max(1, response.entities * key.entities),
    )
    conflated[all_j[other]] = response.entities + parts
    repaired = {
        "span error": replace(response, mention=spans),
        "missing mention": _added(response, key, missing, home[key.entity[missing]], response.entities),
        "extra mention": response.only(~(left_response & ~lost_response)),
        "missing entity": _added(
            response, key, lost_key, response.entities + key.entity[lost_key], response.entities + key.entities
        ),
        "extra entity": response.only(~lost_response),
        "divided entity": replace(response, entity=divided).without_gaps(),
        "conflated entity": replace(response, entity=conflated, entities=response.entities + found),
    }
    fixed = {kind: _score(Overlaps(key, repaired[kind].by_document(), table.documents)) for kind in KINDS}
    return _score(table), fixed


def _score(table: Overlaps) -> float:
    conll = METRICS["conll"]
    return float(conll.kind.figures(conll.rows(table).sum(axis=0))["f1"])


def _lost(side: Side, found: I64) -> Mask:
    """The entities of which no mention was found."""
    return np.asarray(np.bincount(side.entity[found], minlength=side.entities) == 0)


def _most(of: I64, to: I64, entities: int) -> I64:
    """For each entity the one of the other side that holds most of its twins, the first of several; -1 without twins."""
    out = np.full(entities, -1, np.int64)
    width = 1 + int(to.max(initial=0))
    cells, n = np.unique(of * width + to, return_counts=True)
    order = np.lexsort((cells, -n))[::-1]  # the largest is written last
    out[cells[order] // width] = cells[order] % width
    return out


def _added(side: Side, other: Side, rows: Mask, entity: I64, entities: int) -> Side:
    return side.with_mentions(other.document[rows], entity, other.mention[rows], entities).without_gaps()
