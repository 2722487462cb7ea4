"""Coreference: mention detection, MUC, B³, CEAF, BLANC, LEA and the CoNLL average.

The first five are expressions of the algebra over documents of entities, after "A Unified View of Evaluation Metrics for
Structured Prediction" (eq. 17 to 24); each stands beside its equation. Their rows come from one table of the mentions that two
entities have in common, φ3 (see `mentions`), and tests hold them equal to the expressions. BLANC and LEA have no expression.
0/0 is 0, as in the reference scorer.

Figures beside the metrics: of the mentions themselves, and of links that are not coreference.

    mor                 words in common, of all words of mentions (CorefUD)
    zeros               zero anaphors that have a right antecedent (CorefUD)
    bridging_anaphors   mentions that are the anaphor of a bridging link on both sides (Universal Anaphora)
    split_antecedents   the sets of entities that an entity refers to together (Universal Anaphora)

The last two are the "anaphora recognition" and the "only split antecedents" of the Universal Anaphora scorer (Yu et al. 2022). Its full
bridging figures are not here: they ask for the mention that is the antecedent, and CorefUD names an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node
from tallystick.algebra.normalise import f1, links, precision, recall, sides
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import (
    F64,
    I64,
    Mask,
    assign,
    expand,
    number,
    offsets_of,
    sort_order,
    sum_by_key,
)
from tallystick.engine.data import Bag, Memory
from tallystick.engine.tally import Counts, Kind, MeanOf, ratio
from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.results.result import Result
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, PairedChains, chains_from_clusters, pair
from tallystick.tasks.coreference.mentions import (
    PHI_3,
    CoreferenceOptions,
    Overlaps,
    Prepared,
    Side,
    b3,
    blanc,
    ceaf_e,
    ceaf_m,
    lea,
    mentions,
    muc,
    prepare,
    reference_rows,
    twins,
    words_of,
)
from tallystick.tasks.metric import choose

MOR = f1(match(match(exact)))
"""F↔[Σ↔[δ]] over mentions as sets of words: the words in common of mentions matched so that these are as many as possible"""


def overlap_rows(prepared: Prepared) -> F64:
    """The mention overlap ratio: words in common, of all words of mentions. It does not depend on how mentions are matched."""
    from tallystick.results.evaluation import tally_rows

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
    return tally_rows(MOR, sides[0], sides[1], Memory())


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
"""P↔[δ × P↔[δ]] and R↔[δ × R↔[δ]] over memberships (eq. 23 and 24); `mentions.b3` gives its rows"""


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
    return side.with_mentions(other.document[rows], entity, other.mention[rows], side.entities + extra).by_document()


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
    "ceaf_m_cai_strube": CoreferenceMetric(
        _cai_strube_rows(ceaf_m), _TWO, "CEAF-m after Cai & Strube 2010"
    ),
}
"""For comparing with older work; each changes the mentions first, which "Scoring Coreference Partitions of Predicted
Mentions" argues against."""


OF_MENTIONS: dict[str, CoreferenceMetric] = {
    "mor": CoreferenceMetric(None, Counts(), "mention overlap ratio (CorefUD)", of_mentions=overlap_rows),
    "zeros": CoreferenceMetric(
        None, Counts(), "zero anaphors with a right antecedent (CorefUD)", of_mentions=zero_rows
    ),
    "bridging_anaphors": CoreferenceMetric(
        None, Counts(), "mentions recognised as bridging anaphors (Universal Anaphora)", of_mentions=bridging_rows
    ),
    "split_antecedents": CoreferenceMetric(
        None,
        MeanOf(tuple((name, _TWO) for name in _CONLL)),
        "the CoNLL score of split antecedents alone (Universal Anaphora)",
        of_mentions=split_rows,
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
    known = {**METRICS, **VARIANTS, **OF_MENTIONS}
    metrics = tuple(choose(known, metrics, "coreference"))
    settings = ", ".join(f"{name}={value}" for name, value in prepared.signature.items())
    # The CoNLL score is made of three that may be asked for themselves.
    needed = dict.fromkeys(part for name in metrics for part in (_CONLL if name == "conll" else (name,)))
    rows = {name: known[name].tally(prepared) for name in needed}
    for document, chains in prepared.repeated.items():
        for name, row in reference_rows(*chains).items():
            if name in rows:
                rows[name][document] = row
    if "conll" in metrics:
        rows["conll"] = np.concatenate([rows[part] for part in _CONLL], axis=1)
    results = {}
    for name in metrics:
        metric = known[name]
        expression, label = metric.expression, f"coreference.{name}"
        results[name] = Result(
            metric=expression or label,
            name=label if expression else "",
            kind=metric.kind,
            rows=rows[name],
            ids=tuple(prepared.documents),
            undefined=0.0,
            notes=tuple(prepared.notes),
            settings=settings,
            sources=(prepared.sources(memberships=name == "b3"),) if expression else None,
        )
    return results


# What went wrong, in the terms of the Berkeley Coreference Analyser (Kummerfeld & Klein 2013).
#
# A mention is *twinless* if the other side does not have it. Four steps, each on what the ones before left over:
#
#     span error          a twinless response mention and a twinless key mention that share a token, paired 1:1 so that
#                         the sum of 2 · shared / (length + length) is the largest; from here on each is the other's twin
#     missing entity      a key entity without any twin        extra entity     a response entity without any twin
#     missing mention     any other twinless key mention       extra mention    any other twinless response mention
#     divided entity      a key entity whose twins lie in two or more response entities
#     conflated entity    a response entity whose twins lie in two or more key entities
#
# So every twinless mention belongs to exactly one error of the first five kinds, a mention in the wrong entity makes a
# divided and a conflated one, and two equal sides have no error. The analyser of 2013 also asks span errors for a common
# head, which columns do not have, and counts each part that is split off; here an entity is divided once, in so many parts.
# A discontinuous mention counts as all tokens from its first to its last. Mentions that are opaque Python values have
# no tokens, so no span errors.


@frozen
class Located:
    """A mention in its file: its document, its span (or parts, or value), its line, its entity's name."""

    document: str
    mention: object
    line: int | None
    entity: str


@frozen
class Example:
    """One error: the mentions that it is about, as the key and as the response have them."""

    key: tuple[Located, ...]
    response: tuple[Located, ...]


Rows = tuple[tuple[int, ...], tuple[int, ...]]
"""The rows of the key and of the response that one error is about."""


def find_errors(pairs: PairedChains, options: CoreferenceOptions = PLAIN) -> dict[str, list[Example]]:
    """The errors of each of the seven kinds, in the order of `KINDS`."""
    prepared, found = find_error_rows(pairs, options)
    return {kind: located_errors(pairs, prepared, rows) for kind, rows in found.items()}


def find_error_rows(pairs: PairedChains, options: CoreferenceOptions) -> tuple[Prepared, dict[str, list[Rows]]]:
    """The same as rows of both sides."""
    prepared = pairs.once(prepare, options)
    key, response = prepared.overlaps.key, prepared.overlaps.response
    (i, j), (span_i, span_j) = pairs.once(find_twins, options)
    i, j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    missing, missing_entities = _twinless(key, i)
    extra, extra_entities = _twinless(response, j)
    width = max(1, response.entities)
    cells, _ = sum_by_key(key.entity[i] * width + response.entity[j], key.entities * width, None)
    several = []
    for of, of_cell, entities in (
        (key.entity[i], cells // width, key.entities),
        (response.entity[j], cells % width, response.entities),
    ):
        found = np.flatnonzero(np.bincount(of_cell, minlength=entities) > 1)
        several.append([_in_text(i[pair], j[pair], prepared) for pair in _members(of, found)])
    kinds: tuple[list[Rows], ...] = (
        [((a,), (b,)) for a, b in zip(span_i.tolist(), span_j.tolist(), strict=True)],
        [(rows, ()) for rows in missing], [((), rows) for rows in extra],
        [(rows, ()) for rows in missing_entities], [((), rows) for rows in extra_entities],
        *several,
    )  # fmt: skip
    return prepared, dict(zip(KINDS, kinds, strict=True))


def _twinless(side: Side, found: I64) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The rows without a twin whose entity has one, each alone; and those of each entity without any."""
    left, lost = np.flatnonzero(_left(len(side.entity), found)), _lost(side, found)
    alone = left[~lost[side.entity[left]]]
    members = _members(side.entity, np.flatnonzero(lost))
    return [(row,) for row in alone.tolist()], [tuple(rows.tolist()) for rows in members]


def find_twins(pairs: PairedChains, options: CoreferenceOptions) -> tuple[tuple[I64, I64], tuple[I64, I64]]:
    """The rows of both sides that are one mention, and those that differ in their span only."""
    prepared = pairs.once(prepare, options)
    table = prepared.overlaps
    i, j = twins(table.key, table.response, table.documents, prepared.codes)
    spans = _pair_spans(pairs, prepared, _left(len(table.key.entity), i), _left(len(table.response.entity), j))
    return (i, j), spans


def _left(rows: int, found: I64) -> Mask:
    """The rows without a twin."""
    left = np.ones(rows, np.bool_)
    left[found] = False
    return left


def _members(of: I64, entities: I64) -> Iterator[I64]:
    """The rows of some entities, in order."""
    order = np.argsort(of, kind="stable")
    first, last = (np.searchsorted(of[order], entities, side=side).tolist() for side in ("left", "right"))
    return (order[a:b] for a, b in zip(first, last, strict=True))


def _in_text(i: I64, j: I64, prepared: Prepared) -> tuple[tuple[int, ...], tuple[int, ...]]:
    order = np.argsort(prepared.key_rows[i], kind="stable")
    return tuple(i[order].tolist()), tuple(j[order].tolist())


def _pair_spans(pairs: PairedChains, prepared: Prepared, key_left: Mask, response_left: Mask) -> tuple[I64, I64]:
    """Twinless mentions of both sides that overlap, 1:1, as rows of the two sides."""
    if pairs.key.labels is not None or pairs.response.labels is not None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    k, r = np.flatnonzero(key_left), np.flatnonzero(response_left)
    # offsets of the document they are in, whatever the scope
    (document, start, end), (their_document, their_start, their_end) = (
        (chains.document[of], chains.start[of], chains.end[of])
        for chains, of in ((pairs.key, prepared.key_rows[k]), (pairs.response, prepared.response_rows[r]))
    )
    a, b = overlapping(document, start, end, their_document, their_start, their_end)
    shared = np.minimum(end[a], their_end[b]) - np.maximum(start[a], their_start[b]) + 1
    lengths = end[a] - start[a] + their_end[b] - their_start[b] + 2
    weight: F64 = 2 * shared / lengths
    chosen = np.flatnonzero(assign(a, b, weight, len(k), len(r)))
    chosen = chosen[np.argsort(a[chosen])]
    return k[a[chosen]], r[b[chosen]]


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


def located_errors(pairs: PairedChains, prepared: Prepared, found: Sequence[Rows]) -> list[Example]:
    """Rows of the two sides as mentions that a person can look up."""
    ours, theirs = zip(*found, strict=True) if found else ((), ())
    sides = _located(pairs.key, prepared.key_rows, ours), _located(pairs.response, prepared.response_rows, theirs)
    return list(map(Example, *sides))


def _located(chains: Chains, of: I64, found: Sequence[tuple[int, ...]]) -> list[tuple[Located, ...]]:
    """The mentions of several errors."""
    rows = of[np.fromiter(chain.from_iterable(found), np.int64)]
    columns = (
        chains.document[rows].tolist(),
        chains.labels_of(rows),
        chains.lines[rows].tolist(),
        chains.entity[rows].tolist(),
    )
    every = (
        Located(chains.documents[document], label, None if line == UNKNOWN else line, chains.entity_names[entity])
        for document, label, line, entity in zip(*columns, strict=True)
    )
    return [tuple(islice(every, len(some))) for some in found]


# What each kind of error costs: the figures if the response did not have it.
#
# One kind is repaired alone, in the whole corpus, and the figures computed again from the table of overlaps:
#
#     span error          the mention takes the key's span
#     missing mention     it joins the response entity that holds most of its key entity
#     extra mention       it goes
#     missing entity      it comes            extra entity    it goes
#     divided entity      its mentions come together in the response entity that holds most of them
#     conflated entity    what belongs to other key entities than most of it becomes entities of their own
#
# The kinds and the twins are those of `find_errors`. A repair can cost other errors (a mention that changes
# its entity makes a divided and a conflated one), so gains do not add up.

KINDS = (
    "span error", "missing mention", "extra mention", "missing entity", "extra entity", "divided entity", "conflated entity",
)  # fmt: skip


def repaired_sides(pairs: PairedChains, options: CoreferenceOptions) -> dict[str, Side]:
    """The response without each kind of error."""
    table = pairs.once(prepare, options).overlaps
    key, response = table.key, table.response
    (i, j), (span_i, span_j) = pairs.once(find_twins, options)
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
    return {
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


@frozen
class MendedChains:
    """Chains with some kinds of error mended."""

    pairs: PairedChains
    kinds: tuple[str, ...]


def score_mended(
    pairs: PairedChains, kinds: Collection[str], metrics: Sequence[str], options: CoreferenceOptions
) -> dict[str, Result]:
    """Every metric of entities, with one kind of error repaired, or all of them: then the response is the key."""
    return score_prepared(mended(pairs, kinds, options), _of_entities(metrics))


def mended(pairs: PairedChains, kinds: Collection[str], options: CoreferenceOptions) -> Prepared:
    """Both sides as columns, with one kind of error repaired, or all of them."""
    prepared, sides = pairs.once(prepare, options), pairs.once(repaired_sides, options)
    key, documents = prepared.overlaps.key, prepared.overlaps.documents
    side = sides[next(iter(kinds))] if len(kinds) == 1 else key
    return replace(prepared, overlaps=Overlaps(key, side.by_document(), documents), repeated={})


def _of_entities(metrics: Sequence[str]) -> tuple[str, ...]:
    for name in metrics:
        if name in OF_MENTIONS:
            raise MetricError(f"{name} looks at mentions as they were read, and has no figure for a mended response")
    return tuple(metrics)


def _lost(side: Side, found: I64) -> Mask:
    """The entities of which no mention was found."""
    return np.asarray(np.bincount(side.entity[found], minlength=side.entities) == 0)


def _most(of: I64, to: I64, entities: int) -> I64:
    """For each entity the one of the other side that holds most of its twins, the first of several; -1 without twins."""
    out = np.full(entities, -1, np.int64)
    width = 1 + int(to.max(initial=0))
    cells, n = sum_by_key(of * width + to, entities * width, None)
    order = np.lexsort((cells, -n))[::-1]  # the largest is written last
    out[cells[order] // width] = cells[order] % width
    return out


def _added(side: Side, other: Side, rows: Mask, entity: I64, entities: int) -> Side:
    return side.with_mentions(other.document[rows], entity, other.mention[rows], entities).without_gaps()
