"""A relation corpus as dataclasses: 100,000 documents of 10 relations (issue 2, Must show 4).

The figures are micro precision, recall and F1 of exactly matching relations, bags matched 1:1. The
floor counts tuples; metametric derives the product metric from the same type.

No document is empty on either side: metametric scores an empty document against itself as one hit
(see `spec/landscape.md`), and its figures would not be the same. The annotations are real types, not
strings (no `from __future__ import annotations`): metametric takes a string for a type with equality.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.measure import Row, compare, measure, report

TYPES = ("works_for", "lives_in", "located_in", "part_of", "founded", "owns", "born_in", "member_of")
RELATIONS = 10
FIGURES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Mention:
    """A span of tokens."""

    left: int
    right: int


@dataclass(frozen=True)
class Relation:
    """A typed pair of mentions."""

    type: str
    subj: Mention
    obj: Mention


Corpus = list[list[Relation]]
Score = Callable[[], dict[str, float]]


def generate(documents: int, seed: int = 4) -> tuple[Corpus, Corpus]:
    """Reference and predicted documents; no object is shared between the two sides."""
    rng = random.Random(seed)
    references: Corpus = []
    predicted: Corpus = []
    for _ in range(documents):
        reference = _make_document(rng)
        references.append(reference)
        predicted.append(_predict(reference, rng))
    return references, predicted


def _make_document(rng: random.Random) -> list[Relation]:
    lefts = rng.sample(range(200), 8)
    mentions = [Mention(left, left + rng.randrange(1, 4)) for left in lefts]
    return [Relation(rng.choice(TYPES), *rng.sample(mentions, 2)) for _ in range(RELATIONS)]


def _predict(reference: list[Relation], rng: random.Random) -> list[Relation]:
    """Of ten relations seven are right, one has another type, one another boundary, one is lost."""
    copies = {id(m): Mention(m.left, m.right) for r in reference for m in (r.subj, r.obj)}
    predicted = []
    for relation in reference:
        chance = rng.random()
        copy = Relation(relation.type, copies[id(relation.subj)], copies[id(relation.obj)])
        if chance < 0.7:
            predicted.append(copy)
        elif chance < 0.8:
            predicted.append(replace(copy, type=rng.choice(TYPES)))
        elif chance < 0.9:
            predicted.append(replace(copy, obj=Mention(copy.obj.left, copy.obj.right + 1)))
    while not predicted or rng.random() < 0.5:
        predicted.append(Relation(rng.choice(TYPES), *rng.sample(list(copies.values()), 2)))
    rng.shuffle(predicted)
    return predicted


def floor_by_hand(references: Corpus, predicted: Corpus) -> dict[str, float]:
    """For each document the bag intersection of tuples."""
    right = found = wanted = 0
    for reference, prediction in zip(references, predicted, strict=True):
        counts = Counter(map(_as_tuple, reference))
        hits = counts & Counter(map(_as_tuple, prediction))
        right += sum(hits.values())
        found += len(prediction)
        wanted += len(reference)
    return {
        "precision": right / found if found else 0.0,
        "recall": right / wanted if wanted else 0.0,
        "f1": 2 * right / (found + wanted) if found + wanted else 0.0,
    }


def _as_tuple(relation: Relation) -> tuple[str, int, int, int, int]:
    subj, obj = relation.subj, relation.obj
    return relation.type, subj.left, subj.right, obj.left, obj.right


def floor(references: Corpus, predicted: Corpus) -> Score:
    return lambda: floor_by_hand(references, predicted)


def tallystick(references: Corpus, predicted: Corpus) -> Score:
    import tallystick as ts

    metric = ts.derive(list[Relation])

    def score() -> dict[str, float]:
        result = ts.evaluate(metric, references, predicted)
        return {figure: getattr(result, figure) for figure in FIGURES}

    return score


def metametric(references: Corpus, predicted: Corpus) -> Score:
    import metametric.dsl as mm

    family = mm.family(mm.auto[list[Relation]], mm.micro_average(FIGURES))

    def score() -> dict[str, float]:
        aggregator = family.new()
        aggregator.update_batch(predicted, references)
        return dict(aggregator.compute())

    return score


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size, sample = (10_000, 100) if quick else (100_000, 1_000)

    def time(name: str, documents: int):
        return measure(
            f"benchmarks.relations:{name}",
            "benchmarks.relations:generate",
            repeat=repeat,
            documents=documents,
        )

    truth = time("floor", size)
    truth_on_sample = time("floor", sample)
    rows = [
        Row("floor by hand", size, truth, remark="tuples and Counter"),
        compare(time("tallystick", size), truth, "tallystick", size, checked=FIGURES),
        compare(time("metametric", sample), truth_on_sample, "metametric 0.2.1", sample, checked=FIGURES),
    ]
    return report(
        f"relations: {size:,} documents of {RELATIONS} relations",
        rows,
        "document",
        ("tallystick", "floor by hand"),
    )
