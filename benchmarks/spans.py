"""Spans: tallystick against seqeval and nervaluate on a generated file of 5 million tokens in 371,000 sentences.

The claims (issue 4, Must show 4), each from fresh processes in CPU seconds:

    lists    from the same Python lists of tags, a string for each tag as splitting lines makes them (CPython
             itself keeps only one "O"), at least 9 times faster than `seqeval.metrics.f1_score`, with exact,
             token and token-and-separator figures for every tag where seqeval gives one figure
    file     from the file at most the time to read it and split it into two lists of tags for each sentence
    memory   from the file less than half of what seqeval takes

    python -m benchmarks spans
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, claim, compare, measure, report

Lists = list[list[str]]
Score = Callable[[], dict[str, float]]
TYPES = ("PER", "LOC", "ORG", "MISC")
METRICS = ("segment", "token", "ts")
CHECKED = ("segment micro",)


def generate(path: Path, tokens: int, seed: int = 3) -> None:
    """A file of token, gold tag, predicted tag: segments in 16 % of the tokens, 4 % of tags changed."""
    rng = random.Random(seed)
    sentences = tokens * 371 // 5000
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, 8))) for _ in range(20_000)]
    left = tokens
    with path.open("w") as file:
        for remaining in range(sentences, 0, -1):
            length = left if remaining == 1 else max(1, min(left - remaining + 1, round(rng.gauss(13.5, 6))))
            left -= length
            gold: list[str] = []
            while len(gold) < length:
                if rng.random() < 0.09:
                    type_ = rng.choice(TYPES)
                    gold += [f"B-{type_}", *[f"I-{type_}"] * rng.choice((0, 0, 0, 1, 1, 2))]
                else:
                    gold.append("O")
            lines = []
            for tag in gold[:length]:
                guess = tag
                if rng.random() < 0.04:
                    guess = rng.choice(("O", f"B-{rng.choice(TYPES)}", f"I-{rng.choice(TYPES)}"))
                lines.append(f"{rng.choice(words)} {tag} {guess}\n")
            file.write("".join(lines) + "\n")


def split_into_lists(path: str) -> tuple[list[list[str]], list[list[str]]]:
    """What everybody does: two lists of tags for each sentence."""
    reference: list[list[str]] = []
    predicted: list[list[str]] = []
    gold: list[str] = []
    guess: list[str] = []
    with open(path) as file:
        for line in file:
            fields = line.split()
            if fields:
                gold.append(fields[1])
                guess.append(fields[2])
            elif gold:
                reference.append(gold)
                predicted.append(guess)
                gold, guess = [], []
    if gold:
        reference.append(gold)
        predicted.append(guess)
    return reference, predicted


def name_file(path: str) -> tuple[str]:
    """The corpus of those that read the file themselves."""
    return (path,)


def read_and_split(path: str) -> Score:
    """The bound for reading: the file as lists, nothing scored."""

    def score() -> dict[str, float]:
        reference, _ = split_into_lists(path)
        return {"sentences": len(reference), "tokens": sum(map(len, reference))}

    return score


def seqeval(reference: Lists, predicted: Lists) -> Score:
    """seqeval's micro F1."""
    from seqeval.metrics import f1_score

    return lambda: {"segment micro": f1_score(reference, predicted)}


def nervaluate(reference: Lists, predicted: Lists) -> Score:
    """nervaluate's four schemes."""
    from nervaluate import Evaluator

    def score() -> dict[str, float]:
        overall = Evaluator(reference, predicted, tags=list(TYPES), loader="list").evaluate()["overall"]
        return {name: overall[name].f1 for name in ("strict", "exact", "partial", "ent_type")}

    return score


def tallystick_from_lists(reference: Lists, predicted: Lists) -> Score:
    """Exact, token and token-and-separator figures for every tag from the same lists."""
    from tallystick.tasks.spans import metrics as spans

    return lambda: _values(spans.evaluate(reference, predicted, METRICS))


def tallystick_from_file(path: str) -> Score:
    """The same from the file, reading included."""
    from tallystick.tasks.spans import metrics as spans
    from tallystick.tasks.spans.files import read_span_files

    return lambda: _values(spans.score(read_span_files(path, None), METRICS))


def tallystick_schemes(reference: Lists, predicted: Lists) -> Score:
    """nervaluate's four schemes."""
    from tallystick.tasks.spans import metrics as spans

    def score() -> dict[str, float]:
        results = spans.evaluate(reference, predicted, ["nervaluate"])
        return {name.removeprefix("nervaluate_"): result.f1 for name, result in results.items()}

    return score


def _values(results: Any) -> dict[str, float]:
    values = {}
    for name, result in results.items():
        values |= {f"{name} {average}": figures["f1"] for average, figures in result.averages.items()}
        values |= {f"{name} {row.label}": row.figures["f1"] for row in result.by_label()}
    return values


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the tables and the claims; True if nothing broke and the figures are the same."""
    tokens = 500_000 if quick else 5_000_000
    few = tokens // 10
    with tempfile.TemporaryDirectory() as folder:
        files = {size: str(Path(folder, f"{size}.txt")) for size in (tokens, few)}
        for size, path in files.items():
            generate(Path(path), size)

        def time(target: str, make: str, size: int = tokens) -> Any:
            return measure(f"benchmarks.spans:{target}", f"benchmarks.spans:{make}", repeat=repeat, path=files[size])

        split = time("read_and_split", "name_file")
        theirs = time("seqeval", "split_into_lists")
        lists = time("tallystick_from_lists", "split_into_lists")
        file = time("tallystick_from_file", "name_file")
        schemes = time("tallystick_schemes", "split_into_lists", few)
        nervaluates = time("nervaluate", "split_into_lists", few)
    rows = [
        Row("read and split", tokens, split, remark="the file as two lists of tags for each sentence"),
        Row("seqeval f1_score", tokens, theirs, remark="from lists; 'before' and 'peak' hold the lists"),
        compare(lists, theirs, "tallystick, lists", tokens, checked=CHECKED if theirs.value else ()),
        compare(file, lists, "tallystick, file", tokens, checked=tuple(lists.value or ())),
    ]
    fine = report(f"spans: {tokens:,} tokens, IOB2", rows, "token", ("tallystick, lists",))
    what = f"spans, {tokens:,} tokens"
    if theirs.value:
        claim(f"{what} from lists", lists.scoring, against={"seqeval": theirs.scoring}, times=1 / 9)
        claim(f"{what} from a file: memory", file.peak / 1e6, "MB", against={"seqeval": theirs.peak / 1e6}, times=0.5)
    claim(f"{what} from a file", file.scoring, against={"reading and splitting": split.scoring}, times=1)
    rows = [
        compare(schemes, nervaluates, "tallystick, four schemes", few, checked=tuple(nervaluates.value or ())),
        Row("nervaluate", few, nervaluates),
    ]
    return report(f"nervaluate's schemes: {few:,} tokens", rows, "token", ("tallystick, four schemes",)) and fine
