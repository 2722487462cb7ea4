"""10,000 pairs of texts judged by the default embedding: encoder, cosine, logistic regression, one core.

Every pair is two different phrases of two to nine words, 20,000 different texts in all, so that nothing is encoded once and used
twice. The floor is what one would write by hand: the encoder's own batches, a dot product of floats, scikit-learn's `predict`.
The figures are the shares of the three labels. 'tallystick, one by one' asks the judge about each pair by itself, and must
say the same.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from benchmarks.measure import Row, compare, measure, report

LABELS = ("Correct", "Partial", "Incorrect")
Pairs = list[tuple[str, str]]
Score = Callable[[], dict[str, float]]


def generate(pairs: int, seed: int = 7) -> tuple[Pairs, str]:
    """Pairs of phrases from the words of the bundled documents, some of them alike; and a classifier."""
    from tallystick.judging.classifier import train

    labelled = bundled()
    words = sorted({word for question, _ in labelled for word in question.document.split()})
    rng = random.Random(seed)
    texts: dict[str, None] = {}
    out: Pairs = []
    while len(out) < pairs:
        reference = [rng.choice(words) for _ in range(rng.randrange(2, 10))]
        candidate = [word if rng.random() < 0.6 else rng.choice(words) for word in reference]
        pair = " ".join(reference), " ".join(candidate)
        if pair[0] != pair[1] and not any(text in texts for text in pair):
            texts.update(dict.fromkeys(pair))
            out.append(pair)
    path = Path(tempfile.mkdtemp(prefix="tallystick-")) / "model.json"
    train(labelled, "wordllama").judge.save(path)
    return out, str(path)


def bundled():
    from tallystick.judging.classifier import read_labelled

    return read_labelled(Path(str(resources.files("tallystick"))) / "examples" / "judged_pairs.jsonl")


def _shares(labels: list[str]) -> dict[str, float]:
    counts = Counter(labels)
    return {label: counts[label] / len(labels) for label in LABELS}


def by_hand(pairs: Pairs, path: str) -> Score:
    import numpy as np
    import wordllama
    from sklearn.linear_model import LogisticRegression

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def cosines(left: list[str], right: list[str]):
        first, second = model.embed(left, norm=True), model.embed(right, norm=True)
        return np.einsum("ij,ij->i", first, second)[:, None]

    labelled = bundled()
    known = cosines([q.references[0] for q, _ in labelled], [q.candidate for q, _ in labelled])
    classifier = LogisticRegression(max_iter=1000).fit(known, [label for _, label in labelled])
    return lambda: _shares(classifier.predict(cosines(*map(list, zip(*pairs, strict=True)))).tolist())


def tallystick(pairs: Pairs, path: str) -> Score:
    from tallystick.judging import Question
    from tallystick.judging.recorded import judge_named

    judge = judge_named(f"embedding:{path}")

    def score() -> dict[str, float]:
        return _shares([verdict.label for verdict in judge.judge([Question(c, (r,)) for r, c in pairs])])

    return score


def one_by_one(pairs: Pairs, path: str) -> Score:
    from tallystick.judging import Question
    from tallystick.judging.recorded import judge_named

    judge = judge_named(f"embedding:{path}")

    def score() -> dict[str, float]:
        return _shares([judge.judge([Question(c, (r,))])[0].label for r, c in pairs])

    return score


def similarity(pairs: Pairs, path: str) -> Score:
    import tallystick as ts

    metric = ts.f1(ts.match(ts.judged(f"embedding:{path}")))
    gold, system = [[r] for r, _ in pairs], [[c] for _, c in pairs]
    return lambda: {"Correct": ts.evaluate(metric, gold, system).f1}


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size = 1_000 if quick else 10_000

    def time(name: str):
        return measure(f"benchmarks.judges:{name}", "benchmarks.judges:generate", repeat=repeat, pairs=size)

    truth = time("by_hand")
    rows = [
        Row("by hand", size, truth, remark="wordllama, NumPy and scikit-learn"),
        compare(time("tallystick"), truth, "tallystick", size, checked=LABELS, remark="a judge, asked once"),
        compare(time("one_by_one"), truth, "tallystick, one by one", size, checked=LABELS),
        compare(
            time("similarity"), truth, "tallystick, as a similarity", size, checked=("Correct",), remark="ts.judged"
        ),
    ]
    return report(f"judges: {size:,} pairs of texts by wordllama", rows, "pair", ("by hand",))
