"""Invoice lines, credit for each field: 1,000 documents of 50 lines as plain dicts (issue 2, Must show 3).

    similarity of two lines =   [sku equal] + [quantity equal] + [price equal]
                              + normalised Levenshtein similarity of the descriptions
                              + |tags ∩ tags|, as bags

so that a line with three tags has a self-score of 7. A document's total is the best one-to-one matching
of its lines; precision is the total over the predicted self-scores, recall over the reference's.

`document_mean` is the mean over documents of total / (7 max(n, m)), the figure that stickler-eval
reports for such a list; it is here so that stickler can be held against the floor.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.measure import Row, compare, measure, report

LINES = 50
MATERIALS = ("steel", "copper", "brass", "nylon", "rubber", "galvanised", "coated", "plastic", "oak", "zinc")
SHAPES = ("round", "square", "flat", "hex", "slotted", "heavy", "light", "large", "small", "metric", "black")
THINGS = ("bolt", "nut", "washer", "screw", "bracket", "hinge", "cable", "clamp", "valve", "pipe", "elbow")
PARTS = ("gasket", "seal", "filter", "bearing", "spring", "lever", "handle", "plate", "panel", "spare", "kit")
WORDS = MATERIALS + SHAPES + THINGS + PARTS
TAGS = tuple(f"tag-{number:02}" for number in range(24))
LETTERS = "abcdefghijklmnopqrstuvwxyz "
FIGURES = ("precision", "recall", "f1")

Line = dict[str, Any]
Corpus = list[list[Line]]
Score = Callable[[], dict[str, float]]


def generate(documents: int, lines: int = LINES, seed: int = 3) -> tuple[Corpus, Corpus]:
    """Reference and predicted documents; the predicted ones went through JSON and share no object."""
    rng = random.Random(seed)
    references: Corpus = []
    predicted: Corpus = []
    for _ in range(documents):
        reference = [_make_line(rng) for _ in range(lines)]
        references.append(reference)
        predicted.append(json.loads(json.dumps(_predict(reference, rng))))
    return references, predicted


def _make_line(rng: random.Random) -> Line:
    return {
        "sku": f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNPQRS')}-{rng.randrange(100_000):05}",
        "description": " ".join(rng.choices(WORDS, k=rng.randint(3, 6))),
        "quantity": rng.randint(1, 20),
        "price": rng.randint(50, 50_000) / 100,
        "tags": rng.sample(TAGS, 3),
    }


def _predict(reference: Sequence[Line], rng: random.Random) -> list[Line]:
    """5 % of the lines lost, 5 % invented, typos in 30 % of the descriptions, lines and tags shuffled."""
    predicted = []
    for line in reference:
        if rng.random() < 0.05:
            continue
        copy = {**line, "tags": rng.sample(line["tags"], len(line["tags"]))}
        if rng.random() < 0.30:
            copy["description"] = _mistype(line["description"], rng)
        predicted.append(copy)
    predicted += [_make_line(rng) for _ in reference if rng.random() < 0.05]
    rng.shuffle(predicted)
    return predicted


def _mistype(text: str, rng: random.Random) -> str:
    """One to three edits: a letter replaced, inserted or lost."""
    letters = list(text)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(letters))
        letter = rng.choice(LETTERS.replace(letters[place], ""))
        letters[place : place + 1] = rng.choice(([letter], [letter, letters[place]], []))
    return "".join(letters)


# The floor: this one type, by hand.


def floor_by_hand(references: Corpus, predicted: Corpus) -> dict[str, float]:
    """A rectangle for each document: descriptions by `cdist`, the rest by comparing arrays; then SciPy."""
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist
    from scipy.optimize import linear_sum_assignment

    total = of_predicted = of_references = 0.0
    means = []
    for reference, prediction in zip(references, predicted, strict=True):
        weights = cdist(
            [line["description"] for line in reference],
            [line["description"] for line in prediction],
            scorer=Levenshtein.normalized_similarity,
            dtype=np.float64,
        )
        for field in ("sku", "quantity", "price"):
            left = np.array([line[field] for line in reference])
            right = np.array([line[field] for line in prediction])
            weights += left[:, None] == right
        # A bag of tags as a row of indicators, one for each (tag, how many of it came before).
        numbers: dict[tuple[str, int], int] = {}
        rows = [[_number_tags(line["tags"], numbers) for line in side] for side in (reference, prediction)]
        left, right = (_indicate(side, len(numbers)) for side in rows)
        weights += left @ right.T
        matched = weights[linear_sum_assignment(weights, maximize=True)].sum()
        total += matched
        own_reference, own_prediction = (sum(4 + len(tags) for tags in side) for side in rows)
        of_references += own_reference
        of_predicted += own_prediction
        means.append(matched / max(own_reference, own_prediction, 1))
    return {
        "precision": total / of_predicted if of_predicted else 0.0,
        "recall": total / of_references if of_references else 0.0,
        "f1": 2 * total / (of_predicted + of_references) if of_predicted + of_references else 0.0,
        "document_mean": sum(means) / len(means) if means else 0.0,
    }


def _number_tags(tags: Sequence[str], numbers: dict[tuple[str, int], int]) -> list[int]:
    if len(set(tags)) == len(tags):
        return [numbers.setdefault((tag, 0), len(numbers)) for tag in tags]
    seen: Counter[str] = Counter()
    result = []
    for tag in tags:
        result.append(numbers.setdefault((tag, seen[tag]), len(numbers)))
        seen[tag] += 1
    return result


def _indicate(rows: Sequence[Sequence[int]], width: int):
    import numpy as np

    indicators = np.zeros((len(rows), width))
    lengths = [len(row) for row in rows]
    indicators[np.repeat(np.arange(len(rows)), lengths), [number for row in rows for number in row]] = 1
    return indicators


def compare_lines(left: Line, right: Line) -> float:
    """The similarity of two lines by its definition; the plain version of the floor's rectangle."""
    from rapidfuzz.distance import Levenshtein

    return (
        (left["sku"] == right["sku"])
        + Levenshtein.normalized_similarity(left["description"], right["description"])
        + (left["quantity"] == right["quantity"])
        + (left["price"] == right["price"])
        + sum((Counter(left["tags"]) & Counter(right["tags"])).values())
    )


# The contenders.


def floor(references: Corpus, predicted: Corpus) -> Score:
    import rapidfuzz.process  # noqa: F401  (start-up, not scoring)
    import scipy.optimize  # noqa: F401

    return lambda: floor_by_hand(references, predicted)


def tallystick(references: Corpus, predicted: Corpus) -> Score:
    import tallystick as ts

    line = ts.each(
        sku=ts.exact,
        description=ts.text("levenshtein"),
        quantity=ts.exact,
        price=ts.exact,
        tags=ts.match(ts.exact),
    )
    metric = ts.f1(ts.match(line))

    def score() -> dict[str, float]:
        result = ts.evaluate(metric, references, predicted)
        return {figure: getattr(result, figure) for figure in FIGURES}

    return score


def metametric(references: Corpus, predicted: Corpus) -> Score:
    """It has no sum of fields, so a line is compared by a function; the matching is its own."""
    import metametric.dsl as mm
    import rapidfuzz.distance  # noqa: F401

    matching = mm.set_matching[dict, "<->"](mm.from_func(compare_lines))
    family = mm.family(matching, mm.micro_average(FIGURES))

    def score() -> dict[str, float]:
        aggregator = family.new()
        aggregator.update_batch(predicted, references)
        return dict(aggregator.compute())

    return score


def stickler(references: Corpus, predicted: Corpus) -> Score:
    """Weights and comparators that make its line similarity a seventh of ours.

    A threshold of 0 is refused; the smallest positive ones leave every similarity as it is.
    """
    from stickler import ComparableField, ExactComparator, LevenshteinComparator, StructuredModel

    exact = {"comparator": ExactComparator(), "threshold": 1e-9}
    close = {"comparator": LevenshteinComparator(normalize=False), "threshold": 1e-9}

    class Item(StructuredModel):
        match_threshold = 1e-9
        sku: str = ComparableField(weight=1.0, **exact)
        description: str = ComparableField(weight=1.0, **close)
        quantity: int = ComparableField(weight=1.0, **exact)
        price: float = ComparableField(weight=1.0, **exact)
        tags: list[str] = ComparableField(weight=3.0, **exact)

    class Invoice(StructuredModel):
        lines: list[Item] = ComparableField(weight=1.0)

    def score() -> dict[str, float]:
        scores = [
            float(Invoice(lines=reference).compare_with(Invoice(lines=prediction))["overall_score"])
            for reference, prediction in zip(references, predicted, strict=True)
        ]
        return {"document_mean": sum(scores) / len(scores)}

    return score


def anls_star(references: Corpus, predicted: Corpus) -> Score:
    from anls_star import anls_score

    def score() -> dict[str, float]:
        scores = [anls_score(*pair) for pair in zip(references, predicted, strict=True)]
        return {"anls_star": sum(scores) / len(scores)}

    return score


def autoevals(references: Corpus, predicted: Corpus) -> Score:
    from autoevals.json import JSONDiff

    scorer = JSONDiff(preserve_strings=True)

    def score() -> dict[str, float]:
        pairs = zip(references, predicted, strict=True)
        scores = [scorer.eval(prediction, reference).score for reference, prediction in pairs]
        return {"json_diff": sum(scores) / len(scores)}

    return score


# How many documents each peer gets, what it must agree on, and what it computes if that is something else.
PEERS: dict[str, tuple[int, tuple[str, ...], str]] = {
    "metametric": (20, FIGURES, "optimal; a line is compared by a function of the user's"),
    "stickler": (3, ("document_mean",), "optimal; reports the mean over documents"),
    "anls_star": (
        2,
        (),
        "optimal in intent, another figure: numbers and tags by edit distance too, cut at 0.5",
    ),
    "autoevals": (50, (), "cannot do the task: lists are zipped by position"),
}


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size = 100 if quick else 1_000

    def time(name: str, documents: int):
        return measure(
            f"benchmarks.invoices:{name}", "benchmarks.invoices:generate", repeat=repeat, documents=documents
        )

    truth = time("floor", size)
    rows = [
        Row("floor by hand", size, truth, remark="cdist, arrays and SciPy for this one type"),
        compare(time("tallystick", size), truth, "tallystick", size, checked=FIGURES),
    ]
    for name, (sample, checked, remark) in PEERS.items():
        documents = max(1, sample // 10) if quick else sample
        expected = time("floor", documents)
        rows.append(compare(time(name, documents), expected, name, documents, checked=checked, remark=remark))
    return report(f"invoices: {size:,} documents of {LINES} lines", rows, "document", ("tallystick", "floor by hand"))
