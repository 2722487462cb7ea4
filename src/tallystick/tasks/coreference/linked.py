"""Figures beside the metrics: of the mentions themselves, and of links that are not coreference.

    mor                 words in common, of all words of mentions (CorefUD)
    zeros               zero anaphors that have a right antecedent (CorefUD)
    bridging_anaphors   mentions that are the anaphor of a bridging link on both sides (Universal Anaphora)
    split_antecedents   the sets of entities that an entity refers to together (Universal Anaphora)

The last two are the "anaphora recognition" and the "only split antecedents" of the Universal Anaphora scorer (Yu et al. 2022). Its full
bridging figures are not here: they ask for the mention that is the antecedent, and CorefUD names an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64, assign, offsets_of
from tallystick.engine.data import Bag, Scope
from tallystick.errors import MetricError
from tallystick.tasks.coreference.matching import words_of
from tallystick.tasks.coreference.mentions import Prepared, tally_columns

MOR = f1(match(match(exact)))
"""F↔[Σ↔[δ]] over mentions as sets of words: the words in common of mentions matched so that these are as many as possible"""


def overlap_rows(prepared: Prepared) -> F64:
    """The mention overlap ratio: words in common, of all words of mentions. It does not depend on how mentions are matched."""
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


def zero_rows(prepared: Prepared) -> F64:
    """The anaphor-decomposable score of zeros: a zero that is not the first mention of its entity is an anaphor.

    A key anaphor is right if it has a twin, which is no first mention, and an earlier mention of its entity has a twin in the
    same response entity. Recall is over key anaphors that are zeros, precision over response anaphors: those that are zeros, or
    twins of such. A twin that is first in its entity answers with nothing: it counts for recall only.
    """
    (key, response), rows = prepared.in_order(), np.zeros((len(prepared.documents), 4))
    twin = {(one.document, one.mention): one for one in response}
    firsts = {id(one) for one in response if one.first}
    covered: set[int] = set()
    earlier: set[int] = set()
    for one in key:
        if one.first:
            earlier = set()
        found = twin.get((one.document, one.mention))
        if one.zero and not one.first:
            rows[one.document, 3] += 1
            if found is not None:
                covered.add(id(found))
                if id(found) not in firsts:
                    rows[one.document] += (found.entity in earlier, 1, found.entity in earlier, 0)
        if found is not None:
            earlier.add(found.entity)
    for one in response:
        if one.zero and not one.first and id(one) not in covered:
            rows[one.document, 1] += 1
    return rows


def bridging_rows(prepared: Prepared) -> F64:
    """Mentions that both sides have as the anaphor of a bridging link."""
    sides = []
    for chains, rows, side in prepared.sides():
        if chains.bridging is None:
            raise MetricError("bridging_anaphors needs the Bridge attributes of CorefUD in both files")
        chosen = chains.bridging[rows]
        sides.append((side.document[chosen], side.mention[chosen]))
    documents = len(prepared.documents)
    (document, mention), (their_document, their_mention) = sides
    both = np.isin(document * prepared.codes + mention, their_document * prepared.codes + their_mention)
    common = np.bincount(document[both], minlength=documents)
    of_key, of_response = (np.bincount(found, minlength=documents) for found in (document, their_document))
    return np.stack((common, of_response, common, of_key), axis=1).astype(np.float64)


# Split antecedents: "They" refers to {Anna} and {Ben} together. What an entity refers to is a set of entities, a small partition.
# Two such partitions are compared by a metric, as two documents would be; the partitions of a document are matched 1:1 so that the sum
# of F1 is the largest, and numerators are added over the matched pairs, denominators over all partitions.

Partition = Sequence[frozenset[int]]
Count = Callable[[Partition, Partition], tuple[float, float]]


def split_rows(prepared: Prepared) -> F64:
    """The four counts of MUC, B³ and CEAF-e of split antecedents."""
    out = np.zeros((len(prepared.documents), 4 * len(_PARTITIONS)))
    key, response = (_partitions(prepared, side) for side in (0, 1))
    for document in sorted({*key, *response}):
        ours, theirs = key.get(document, []), response.get(document, [])
        for k, side_counts in enumerate(_PARTITIONS):
            out[document, 4 * k : 4 * k + 4] = _matched_counts(ours, theirs, side_counts)
    return out


def _partitions(prepared: Prepared, which: int) -> dict[int, list[Partition]]:
    """By document, for each entity with split antecedents the mentions of these; where one of them has split antecedents
    itself, of those."""
    chains, rows, side = list(prepared.sides())[which]
    number = dict(zip(chains.entity[rows].tolist(), side.entity.tolist(), strict=True)) if chains.split else {}
    members: dict[int, set[int]] = {}
    for entity, mention in zip(side.entity.tolist(), side.mention.tolist(), strict=True) if number else ():
        members.setdefault(entity, set()).add(mention)
    out: dict[int, list[Partition]] = {}
    for entity in chains.split:
        single = [number[one] for one in _singular(chains.split, entity) if one in number]
        if entity in number and single:
            out.setdefault(int(side.homes[number[entity]]), []).append([frozenset(members[one]) for one in single])
    return out


def _singular(split: dict[int, tuple[int, ...]], entity: int) -> list[int]:
    found: dict[int, None] = {}
    waiting, seen = list(split[entity]), {entity}
    while waiting:
        one = waiting.pop(0)
        if one in split and one not in seen:
            waiting += split[one]
        elif one not in seen:
            found[one] = None
        seen.add(one)
    return list(found)


def _muc(clusters: Partition, others: Partition) -> tuple[float, float]:
    """Links; a single mention is one link to itself, found where the other side has it single too."""
    home = {mention: k for k, other in enumerate(others) for mention in other}
    right = total = 0
    for cluster in clusters:
        homes = [home[mention] for mention in cluster if mention in home]
        if len(cluster) == 1:
            total += 1
            right += bool(homes) and len(others[homes[0]]) == 1
        else:
            total += len(cluster) - 1
            right += len(homes) - len(set(homes))
    return right, total


def _b3(clusters: Partition, others: Partition) -> tuple[float, float]:
    right = sum(len(cluster & other) ** 2 / len(cluster) for cluster in clusters for other in others)
    return right, sum(map(len, clusters))


def _ceaf_e(clusters: Partition, others: Partition) -> tuple[float, float]:
    table = [[2 * len(one & other) / (len(one) + len(other)) for other in others] for one in clusters]
    return _best(table)[1], len(clusters)


_PARTITIONS = (_muc, _b3, _ceaf_e)


def _best(table: Sequence[Sequence[float]]) -> tuple[list[tuple[int, int]], float]:
    """The pairs of the best 1:1 matching, and its total."""
    cells = [(i, j, weight) for i, row in enumerate(table) for j, weight in enumerate(row) if weight > 0]
    if not cells:
        return [], 0.0
    i, j = (np.array([cell[side] for cell in cells], np.int64) for side in (0, 1))
    weights = np.array([cell[2] for cell in cells])
    chosen = np.flatnonzero(assign(i, j, weights, len(table), len(table[0]))).tolist()
    return [cells[k][:2] for k in chosen], float(weights[chosen].sum())


def _matched_counts(key: Sequence[Partition], response: Sequence[Partition], count: Count) -> list[float]:
    """num_p, den_p, num_r, den_r of a document's split antecedents under one metric."""
    counts = [[(*count(theirs, ours), *count(ours, theirs)) for theirs in response] for ours in key]
    pairs, _ = _best([[_f1(*one) for one in row] for row in counts])
    num_p, num_r = (sum(counts[i][j][place] for i, j in pairs) for place in (0, 2))
    den_p, den_r = (sum(count(one, ())[1] for one in side) for side in (response, key))
    return [num_p, den_p, num_r, den_r]


def _f1(num_p: float, den_p: float, num_r: float, den_r: float) -> float:
    precision, recall = num_p / den_p, num_r / den_r
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
