"""CEAF-φ4 and B³ over columns: 1,000,000 mentions in about 140,000 entities (issue 2, Must show 2).

A side of the corpus is three arrays, the shape of a list of lists of lists:

    documents   offsets over entities   [0, 3, 5, ...]   document 0 has entities 0, 1, 2
    entities    offsets over mentions   [0, 2, 3, ...]   entity 0 has mentions 0, 1
    mentions    codes                   [17, 4, ...]     equal code and document: the same mention

The response is the key with noise: mentions moved from entity to entity, entities split and merged,
mentions lost and invented. Moves are rare enough that a document falls apart into many components of
overlapping entities, and frequent enough that thousands of those need an assignment: a move from
entity A to entity B makes the path A' - A - B' - B, which is larger than a star.

The plain scorers follow the definitions with dicts, sets and one dense assignment for each document.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Row, claim, compare, measure, report

MENTIONS_OF_AN_ENTITY = 7
SIZES = {1_000_000: 2_000, 100_000: 200}
FIGURES = ("precision", "recall", "f1")

Ints = npt.NDArray[np.int64]
Score = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Columns:
    """One side of the corpus: documents of entities of mentions."""

    documents: Ints
    entities: Ints
    mentions: Ints


@dataclass(frozen=True)
class Memberships:
    """The same side seen as (mention, entity) pairs: what B³ matches.

    `documents` are offsets over memberships; a membership has the code of its mention and the index of
    its entity, whose mentions are `Columns.entities` and `Columns.mentions`.
    """

    documents: Ints
    mention: Ints
    entity: Ints


@dataclass(frozen=True)
class Noise:
    """Which share of the mentions or of the entities goes wrong, and how."""

    moved: float = 0.03
    split: float = 0.08
    merged: float = 0.04
    dropped: float = 0.05
    spurious: float = 0.05


def generate(mentions: int, documents: int, seed: int = 2, noise: Noise | None = None) -> tuple[Columns, Columns]:
    """Key and response with `mentions` key mentions in about a seventh as many entities."""
    noise = noise or Noise()
    rng = np.random.default_rng(seed)

    # Documents of uneven length, entities of uneven size; every entity has at least one mention.
    lengths = rng.multinomial(mentions, rng.dirichlet(np.full(documents, 8.0)))
    document = np.repeat(np.arange(documents), lengths)
    position = _count_up(lengths)
    numbers = -(-lengths // MENTIONS_OF_AN_ENTITY)
    first_entity = _offsets(numbers)[:-1]
    skewed = (numbers[document] * rng.random(mentions) ** 1.5).astype(np.int64)
    entity = first_entity[document] + np.where(position < numbers[document], position, skewed)
    # A mention is a span: sparse codes, as they come from files, not a dense numbering.
    code = _encode_span(3 * position, 3 * position + rng.integers(1, 4, mentions))
    key = _lay_out(document, entity, code, documents)

    label = _blur_entities(entity, numbers, first_entity, noise, rng)
    label = _move_mentions(label, document, lengths, noise, rng)
    kept = rng.random(mentions) >= noise.dropped
    # An invented mention joins the entity of a real one; its left end is where no mention of the key begins.
    model = np.flatnonzero(rng.random(mentions) < noise.spurious)
    invented = _encode_span(3 * position[model] + 1, 3 * position[model] + 2)
    response = _lay_out(
        np.concatenate([document[kept], document[model]]),
        np.concatenate([label[kept], label[model]]),
        np.concatenate([code[kept], invented]),
        documents,
        rng,
    )
    return key, response


def _blur_entities(entity: Ints, numbers: Ints, first: Ints, noise: Noise, rng: np.random.Generator) -> Ints:
    """Some entities merge with another one of their document, some lose half their mentions to a new one."""
    total = int(numbers.sum())
    document = np.repeat(np.arange(len(numbers)), numbers)
    other = first[document] + rng.integers(0, numbers[document])
    becomes = np.where(rng.random(total) < noise.merged, other, np.arange(total))
    leaves = (rng.random(total) < noise.split)[entity] & (rng.random(len(entity)) < 0.5)
    return np.where(leaves, total + entity, becomes[entity])


def _move_mentions(label: Ints, document: Ints, lengths: Ints, noise: Noise, rng: np.random.Generator) -> Ints:
    """Some mentions take the label of a random mention of their document."""
    moved = np.flatnonzero(rng.random(len(label)) < noise.moved)
    starts = _offsets(lengths)[:-1]
    targets = starts[document[moved]] + rng.integers(0, lengths[document[moved]])
    result = label.copy()
    result[moved] = label[targets]
    return result


def _lay_out(
    document: Ints, label: Ints, code: Ints, documents: int, rng: np.random.Generator | None = None
) -> Columns:
    """Group mentions by label inside their document; with `rng`, the entities in a random order."""
    labels, entity = np.unique(label, return_inverse=True)
    owner = np.zeros(len(labels), np.int64)
    owner[entity] = document
    rank = np.arange(len(labels)) if rng is None else rng.permutation(len(labels))
    place = np.empty(len(labels), np.int64)
    place[np.lexsort((rank, owner))] = np.arange(len(labels))
    entity = place[entity]
    return Columns(
        documents=_offsets(np.bincount(owner, minlength=documents)),
        entities=_offsets(np.bincount(entity, minlength=len(labels))),
        mentions=code[np.lexsort((code, entity))],
    )


def _offsets(lengths: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _count_up(lengths: Ints) -> Ints:
    """0, 1, 2, ... anew for each length."""
    return np.arange(lengths.sum()) - np.repeat(_offsets(lengths)[:-1], lengths)


def _encode_span(left: Ints, right: Ints) -> Ints:
    return (left << 24) | right


def find_memberships(columns: Columns) -> Memberships:
    """One membership for each mention of each entity."""
    sizes = np.diff(columns.entities)
    return Memberships(
        documents=columns.entities[columns.documents],
        mention=columns.mentions,
        entity=np.repeat(np.arange(len(sizes)), sizes),
    )


def count_assignments(key: Columns, response: Columns) -> dict[str, int]:
    """The components of the graph of overlapping entities: how many there are, and how many are no stars.

    A component needs an assignment if it has two entities or more on both sides; `largest` is the number
    of entities in the largest one.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = _find_overlaps(key, response)
    rows, columns = len(key.entities) - 1, len(response.entities) - 1
    size = rows + columns
    places = (left.astype(np.int32), (rows + right).astype(np.int32))  # SciPy before 1.15 takes no others
    graph = coo_array((np.ones(len(left), np.int8), places), shape=(size, size))
    number, component = connected_components(graph, directed=False)
    of_key = np.bincount(component[:rows], minlength=number)
    of_response = np.bincount(component[rows:], minlength=number)
    overlapping = (of_key > 0) & (of_response > 0)
    needy = (of_key > 1) & (of_response > 1)
    return {
        "components": int(overlapping.sum()),
        "need_assignment": int(needy.sum()),
        "largest": int((of_key + of_response)[overlapping].max(initial=0)),
    }


def _find_overlaps(key: Columns, response: Columns) -> tuple[Ints, Ints]:
    """For each mention that both sides have: its entity in the key, its entity in the response."""
    sides = [find_memberships(side) for side in (key, response)]
    names = [
        np.repeat(np.arange(len(side.documents) - 1), np.diff(side.documents)) << 48 | side.mention for side in sides
    ]
    _, in_key, in_response = np.intersect1d(*names, assume_unique=True, return_indices=True)
    return sides[0].entity[in_key], sides[1].entity[in_response]


# The plain scorers.

Document = list[frozenset[int]]


def take(columns: Columns, documents: int) -> Columns:
    """The first documents of a side."""
    offsets = columns.documents[: documents + 1]
    entities = columns.entities[: offsets[-1] + 1]
    return Columns(offsets, entities, columns.mentions[: entities[-1]])


def read_documents(columns: Columns) -> Iterator[Document]:
    """Each document as a list of sets of mentions."""
    bounds, codes = columns.entities.tolist(), columns.mentions.tolist()
    offsets = columns.documents.tolist()
    for first, last in pairwise(offsets):
        yield [frozenset(codes[bounds[e] : bounds[e + 1]]) for e in range(first, last)]


def plain_ceaf_e(key: list[Document], response: list[Document]) -> dict[str, float]:
    """CEAF-φ4: the best one-to-one alignment of entities by 2 |K ∩ R| / (|K| + |R|), for each document."""
    from scipy.optimize import linear_sum_assignment

    total = 0.0
    for wanted, found in zip(key, response, strict=True):
        similarity = np.zeros((len(wanted), len(found)))
        owner = {mention: j for j, entity in enumerate(found) for mention in entity}
        for i, entity in enumerate(wanted):
            for j in {owner[mention] for mention in entity if mention in owner}:
                similarity[i, j] = 2 * len(entity & found[j]) / (len(entity) + len(found[j]))
        total += similarity[linear_sum_assignment(similarity, maximize=True)].sum()
    return _figures(total, sum(map(len, response)), total, sum(map(len, key)))


def plain_b3(key: list[Document], response: list[Document]) -> dict[str, float]:
    """B³: for each mention the share of its response entity (its key entity) that is right (is found)."""
    right = covered = 0.0
    found_mentions = wanted_mentions = 0
    for wanted, found in zip(key, response, strict=True):
        of_key = {mention: entity for entity in wanted for mention in entity}
        of_response = {mention: entity for entity in found for mention in entity}
        for mention in of_key.keys() & of_response.keys():
            common = len(of_key[mention] & of_response[mention])
            right += common / len(of_response[mention])
            covered += common / len(of_key[mention])
        found_mentions += len(of_response)
        wanted_mentions += len(of_key)
    return _figures(right, found_mentions, covered, wanted_mentions)


def _figures(num_p: float, den_p: float, num_r: float, den_r: float) -> dict[str, float]:
    precision = num_p / den_p if den_p else 0.0
    recall = num_r / den_r if den_r else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


# The contenders.


def ceaf_e_plain(key: Columns, response: Columns) -> Score:
    import scipy.optimize  # noqa: F401  (start-up, not scoring)

    # Reading counts: both contenders begin with the same columns.
    return lambda: plain_ceaf_e(list(read_documents(key)), list(read_documents(response)))


def b3_plain(key: Columns, response: Columns) -> Score:
    return lambda: plain_b3(list(read_documents(key)), list(read_documents(response)))


def ceaf_e_tallystick(key: Columns, response: Columns) -> Score:
    import tallystick as ts
    from tallystick.engine import Bag

    metric = ts.f1(ts.match(ts.f1(ts.match(ts.exact))))

    def score() -> dict[str, float]:
        sides = [Bag(side.documents, Bag(side.entities, side.mentions)) for side in (key, response)]
        result = ts.evaluate(metric, *sides)
        return {figure: getattr(result, figure) for figure in FIGURES}

    return score


def b3_tallystick(key: Columns, response: Columns) -> Score:
    import tallystick as ts
    from tallystick.engine import Bag, Index, Record

    def side(normalise):
        entity = normalise(ts.match(ts.exact))
        return normalise(ts.match(ts.record(mention=ts.exact, entity=entity)))

    metric = ts.sides(precision=side(ts.precision), recall=side(ts.recall))
    memberships = [find_memberships(side) for side in (key, response)]

    def score() -> dict[str, float]:
        sides = []
        for columns, pairs in zip((key, response), memberships, strict=True):
            entity = Index(pairs.entity, Bag(columns.entities, columns.mentions))
            sides.append(Bag(pairs.documents, Record({"mention": pairs.mention, "entity": entity})))
        result = ts.evaluate(metric, *sides)
        return {figure: getattr(result, figure) for figure in FIGURES}

    return score


def components(key: Columns, response: Columns) -> Callable[[], dict[str, int]]:
    """Not a contender: counts what the corpus demands, in a process of its own."""
    return lambda: {
        "entities": len(key.entities) - 1,
        "response_entities": len(response.entities) - 1,
        "response_mentions": len(response.mentions),
        **count_assignments(key, response),
    }


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print a table for each metric and size, and the growth; True if nothing broke and figures agree."""
    sizes = {100_000: 200, 10_000: 20} if quick else SIZES
    fine = True

    def time(name: str, mentions: int, repeat: int = repeat):
        return measure(
            f"benchmarks.coreference_columns:{name}",
            "benchmarks.coreference_columns:generate",
            repeat=repeat,
            mentions=mentions,
            documents=sizes[mentions],
        )

    for mentions in sizes:
        demands = time("components", mentions, repeat=1)
        shape = ", ".join(f"{name} {int(number):,}" for name, number in (demands.value or {}).items())
        print(f"\ncoreference, {mentions:,} mentions, {sizes[mentions]:,} documents: {shape or demands.problem}")
    for metric, title in (("ceaf_e", "CEAF-φ4"), ("b3", "B³")):
        rows = []
        for mentions in sizes:
            truth = time(f"{metric}_plain", mentions)
            derived = time(f"{metric}_tallystick", mentions)
            rows.append(compare(derived, truth, f"tallystick {mentions:,}", mentions, checked=FIGURES))
            rows.append(
                Row(
                    f"plain {mentions:,}",
                    mentions,
                    truth,
                    remark="sets, dicts and SciPy, from the same columns",
                )
            )
        bases = (rows[0].name, rows[1].name)
        fine = report(f"coreference: {title}", rows, "mention", bases) and fine
        ours, plain = (row.measurement.scoring for row in rows[:2])
        claim(f"{title} over columns, {rows[0].units:,} mentions", ours, against={"by hand": plain}, times=1)
        _report_growth(rows)
    return fine


def _report_growth(rows: list[Row]) -> None:
    """How much longer the large corpus takes than the small one: 10 is linear."""
    for name in ("tallystick", "plain"):
        large, small = (row for row in rows if row.name.startswith(name))
        if not (large.measurement.problem or small.measurement.problem):
            growth = large.measurement.scoring / small.measurement.scoring
            factor = large.units / small.units
            print(f"  {name}: {growth:.1f} times the time for {factor:.0f} times the mentions")
