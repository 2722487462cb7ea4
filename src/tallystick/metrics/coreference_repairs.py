"""What each kind of error costs: the CoNLL score if the response did not have it.

One kind is repaired alone, in the whole corpus, and the score computed anew from the table of overlaps:

    span error          the mention takes the key's span
    missing mention     it joins the response entity that holds most of its key entity
    extra mention       it goes
    missing entity      it comes            extra entity    it goes
    divided entity      its mentions come together in the response entity that holds most of them
    conflated entity    what belongs to other key entities than most of it becomes entities of their own

The kinds and the twins are those of `coreference_errors`. A repair can cost other errors (a mention that changes
its entity makes a divided and a conflated one), so gains do not add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.columns.arrays import I64, Mask, number
from tallystick.metrics.coreference import METRICS, PLAIN, Options
from tallystick.metrics.coreference_errors import find_twins
from tallystick.metrics.coreference_mentions import prepare
from tallystick.metrics.overlaps import Overlaps, Side, overlaps
from tallystick.reading.pairing import PairedChains

KINDS = (
    "span error", "missing mention", "extra mention", "missing entity", "extra entity", "divided entity", "conflated entity",
)  # fmt: skip


def score_if_fixed(pairs: PairedChains, options: Options = PLAIN) -> tuple[float, dict[str, float]]:
    """The CoNLL score as it is, and as it would be without each kind of error."""
    prepared = prepare(pairs, options)
    table = prepared.overlaps
    key, response = table.key, table.response
    (i, j), (span_i, span_j) = find_twins(pairs, prepared)
    all_i, all_j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    left_key, left_response = _without(len(key.entity), all_i), _without(len(response.entity), all_j)
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
        "extra mention": _only(response, ~(left_response & ~lost_response)),
        "missing entity": _added(
            response, key, lost_key, response.entities + key.entity[lost_key], response.entities + key.entities
        ),
        "extra entity": _only(response, ~lost_response),
        "divided entity": _renumbered(replace(response, entity=divided)),
        "conflated entity": replace(response, entity=conflated, entities=response.entities + found),
    }
    fixed = {kind: _score(overlaps(key, repaired[kind], table.documents, prepared.codes)) for kind in KINDS}
    return _score(table), fixed


def _score(table: Overlaps) -> float:
    conll = METRICS["conll"]
    return float(conll.kind.figures(conll.rows(table).sum(axis=0))["f1"])


def _without(rows: int, found: I64) -> Mask:
    left = np.ones(rows, np.bool_)
    left[found] = False
    return left


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
    joined = Side(
        np.concatenate((side.document, other.document[rows])),
        np.concatenate((side.entity, entity)),
        np.concatenate((side.mention, other.mention[rows])),
        entities,
    )
    return _renumbered(joined)


def _only(side: Side, rows: Mask) -> Side:
    return _renumbered(Side(side.document[rows], side.entity[rows], side.mention[rows], side.entities))


def _renumbered(side: Side) -> Side:
    """Entities without mentions leave no gap."""
    entity, entities = number(side.entity, max(1, side.entities))
    return replace(side, entity=entity, entities=entities)
