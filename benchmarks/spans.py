"""Spans: tallystick against seqeval on a generated file of 5 million tokens in 371,000 sentences.

Each measurement runs in a fresh process and prints the values that it computed; times are CPU seconds
(`time.process_time`), memory is the peak of the whole process. The claims:

    lists    from the same Python lists of tags, a string for each tag as splitting lines makes them (CPython
             itself keeps only one "O"), at least 9 times faster than `seqeval.metrics.f1_score`, with exact,
             token and token-and-separator figures for every tag where seqeval gives one figure
    file     from the file at most the time to read it and split it into two lists of tags for each sentence
    memory   from the file less than half of what seqeval takes

    python -m benchmarks.spans [--tokens 5000000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Values = dict[str, Any]
TYPES = ("PER", "LOC", "ORG", "MISC")


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


def read_and_split(path: str) -> tuple[float, Values]:
    """The bound for reading: the file as lists, nothing scored."""
    begin = time.process_time()
    reference, _ = split_into_lists(path)
    return time.process_time() - begin, {"sentences": len(reference), "tokens": sum(map(len, reference))}


def seqeval_from_lists(path: str) -> tuple[float, Values]:
    """seqeval's micro F1; only the scoring is timed, the memory is that of reading and scoring."""
    from seqeval.metrics import f1_score

    reference, predicted = split_into_lists(path)
    begin = time.process_time()
    value = f1_score(reference, predicted)
    return time.process_time() - begin, {"exact micro F1": float(value)}


def tallystick_from_lists(path: str) -> tuple[float, Values]:
    """Exact, token and token-and-separator figures for every tag from the same lists."""
    _load()
    from tallystick.reading.tags import tags_from_lists

    reference, predicted = split_into_lists(path)
    begin = time.process_time()
    values = _score(tags_from_lists(reference, predicted))
    return time.process_time() - begin, values


def tallystick_from_file(path: str) -> tuple[float, Values]:
    """The same from the file, reading included."""
    _load()
    from tallystick.reading.tags import read_tags_together

    begin = time.process_time()
    values = _score(read_tags_together(path))
    return time.process_time() - begin, values


def _load() -> None:
    """Import what `_score` needs before the clock starts, as seqeval is imported before."""
    from tallystick.metrics import span_measures, unit_counts
    from tallystick.reading import iob

    _ = span_measures, unit_counts, iob


def _score(tagged: Any) -> Values:
    from tallystick.metrics.span_counts import count_exact
    from tallystick.metrics.span_measures import f1, macro, micro, precision, recall
    from tallystick.metrics.span_pairs import overlapping_pairs
    from tallystick.metrics.unit_counts import add_separators, count_separators, count_tokens
    from tallystick.reading.iob import decode

    texts = decode(tagged, "IOB2", "lenient").texts
    pairs = overlapping_pairs(texts)
    tokens = count_tokens(texts, "corpus", pairs=pairs)
    spaces = {
        "exact": count_exact(texts, "corpus", pairs=pairs),
        "token": tokens,
        "token and separator": add_separators(tokens, count_separators(texts, "corpus", pairs=pairs)),
    }
    values: Values = {}
    for name, counts in spaces.items():
        values[f"{name} micro F1"] = micro(f1, counts)
        values[f"{name} macro F1"] = macro(f1, counts).value
        for tag, p, r, f in zip(counts.tags, precision(counts)[0], recall(counts)[0], f1(counts)[0], strict=True):
            values[f"{name} {tag} P R F1"] = [float(p), float(r), float(f)]
    return values


MEASUREMENTS: dict[str, Callable[[str], tuple[float, Values]]] = {
    "read and split": read_and_split,
    "seqeval from lists": seqeval_from_lists,
    "tallystick from lists": tallystick_from_lists,
    "tallystick from file": tallystick_from_file,
}


def measure(name: str, path: Path) -> Values:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.spans", "--measure", name, "--file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr}")
    result: Values = json.loads(done.stdout)
    return result


def main(arguments: list[str] | None = None) -> None:
    """Run all measurements and print values, times, memory and the three ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help="use this file instead of a generated one")
    options = parser.parse_args(arguments)
    if options.measure:
        seconds, values = MEASUREMENTS[options.measure](str(options.file))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak_mb": peak, "values": values}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "tags.txt"
        if not options.file:
            generate(path, options.tokens)
        results: dict[str, list[Values]] = {name: [] for name in MEASUREMENTS}
        for _ in range(options.rounds):  # in turns, so that a busy machine slows all alike
            for name in MEASUREMENTS:
                results[name].append(measure(name, path))
    seconds_of = {name: statistics.median(run["seconds"] for run in runs) for name, runs in results.items()}
    peak_of = {name: max(run["peak_mb"] for run in runs) for name, runs in results.items()}
    for name, runs in results.items():
        times = ", ".join(f"{run['seconds']:.2f}" for run in runs)
        print(f"{name:24s} {seconds_of[name]:6.2f} CPU s ({times})  {peak_of[name]:6.0f} MB")
    for name in ("seqeval from lists", "tallystick from lists", "tallystick from file"):
        print(f"\n{name}")
        for key, value in results[name][0]["values"].items():
            shown = " ".join(f"{part:.6f}" for part in (value if isinstance(value, list) else [value]))
            print(f"    {key:34s} {shown}")
    ours, theirs = (results[name][0]["values"] for name in ("tallystick from lists", "seqeval from lists"))
    from_file = results["tallystick from file"][0]["values"]
    same = abs(ours["exact micro F1"] - theirs["exact micro F1"]) < 1e-12 and ours == from_file
    speed = seconds_of["seqeval from lists"] / seconds_of["tallystick from lists"]
    reading = seconds_of["tallystick from file"] / seconds_of["read and split"]
    memory = peak_of["tallystick from file"] / peak_of["seqeval from lists"]
    print(f"\nthe same exact micro F1 everywhere: {same}")
    print(f"lists: {speed:.1f} times faster than seqeval (wanted: at least 9)")
    print(f"file: {reading:.2f} of the time to read and split (wanted: at most 1)")
    print(f"memory: {memory:.2f} of seqeval's (wanted: under 0.5)")


if __name__ == "__main__":
    main()
