"""Which mentions of key and response are the same: CorefUD's matching (Žabokrtský et al. 2022 to 2024), in stages.

    zeros      dependent: a mention whose head is an empty node, with one of the same sentence; 10 · F1 of (parent, relation)
               + F1 of parents. An empty node without dependencies is left to the next stages, as all are with `linear`
    equal      the same words; under head match the same head too
    the rest   head: the same head, |common words| / |key words|
               partial: the response's words lie inside the key's and have its head among them; the same weight

Each stage is a best 1:1 matching of what the ones before left over (`staged`), over documents of mentions, mentions being
records of columns.

Figures beside the metrics: of the mentions themselves, and of links that are not coreference.

    mor                 words in common, of all words of mentions (CorefUD); `metrics.overlap_rows`
    zeros               zero anaphors that have a right antecedent (CorefUD)
    bridging_anaphors   mentions that are the anaphor of a bridging link on both sides (Universal Anaphora)
    split_antecedents   the sets of entities that an entity refers to together (Universal Anaphora)

The last two are the "anaphora recognition" and the "only split antecedents" of the Universal Anaphora scorer (Yu et al. 2022). Its full
bridging figures are not here: they ask for the mention that is the antecedent, and CorefUD names an entity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1, recall, subset
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import Match, match
from tallystick.algebra.staged import Staged, staged
from tallystick.algebra.weights import weighted
from tallystick.engine.arrays import F64, I64, Items, assign, expand, offsets_of
from tallystick.engine.data import Bag, Objects, Record, Scope
from tallystick.errors import MetricError, counted
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, PairedChains

if TYPE_CHECKING:
    from tallystick.tasks.coreference.metrics import Prepared

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


class Placed(NamedTuple):
    """A mention where it stands: its code, whether its head is an empty node, and whether it is the first of its entity."""

    document: int
    entity: int
    mention: int
    zero: bool
    first: bool


def _in_order(prepared: Prepared) -> tuple[list[Placed], list[Placed]]:
    """The mentions of both sides by entities, and inside these in the order of the text."""
    out = []
    for chains, rows, side in prepared.sides():
        zero = np.zeros(len(rows), np.bool_)
        if chains.empty is not None:
            zero = chains.empty.find(chains.document[rows], heads_of(chains, "exact")[rows]) >= 0
        length = word_counts(chains)[rows]
        order = np.lexsort((length, chains.end[rows], chains.start[rows], chains.document[rows], side.entity))
        first = np.diff(side.entity[order], prepend=-1) != 0
        columns = (side.document[order], side.entity[order], side.mention[order], zero[order], first)
        out.append([Placed(*one) for one in zip(*(column.tolist() for column in columns), strict=True)])
    return out[0], out[1]


def zero_rows(prepared: Prepared) -> F64:
    """The anaphor-decomposable score of zeros: a zero that is not the first mention of its entity is an anaphor.

    A key anaphor is right if it has a twin, which is no first mention, and an earlier mention of its entity has a twin in the
    same response entity. Recall is over key anaphors that are zeros, precision over response anaphors: those that are zeros, or
    twins of such. A twin that is first in its entity answers with nothing: it counts for recall only.
    """
    (key, response), rows = _in_order(prepared), np.zeros((len(prepared.documents), 4))
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
