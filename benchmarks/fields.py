"""Comparisons by field: do the corrected tests hold their level, and what does a large corpus cost?

Level: 1,000 corpora in which two systems are equally good at all of 20 fields, so that every significant difference is an error. Fields
depend on each other (a document is hard for both systems and in all fields), some are lists, and some are so rare that few documents
have them. The family-wise error is the share of corpora in which some field is called different: at most 5.5 % at a level of 5.

Cost: 100,000 documents of 20 fields, two systems, `compare records --by field` with 10,000 resamples. Wrong values are of the right kind.

    python -m benchmarks fields
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import claim, launch
from tallystick.engine.tally import Counts
from tallystick.results.compare import compare_parts
from tallystick.results.result import Result

CORPORA, FIELDS, RESAMPLES = 1000, 20, 1000
DOCUMENTS = (30, 120, 2400)
"""Few, for which all is drawn together; and many, for which documents that are alike are."""


def family_errors(
    corpora: int,
    documents: int,
    fields: int = FIELDS,
    resamples: int = RESAMPLES,
    seed: int = 0,
    test: str | None = None,
) -> float:
    """The share of corpora in which a difference is significant after the correction, where there is none."""
    wrong = 0
    for number in range(corpora):
        rng = np.random.default_rng([seed, number])
        systems = _null_systems(rng, documents, fields)
        how = {
            "resamples": resamples, "seed": number, "level": 0.95, "method": "percentile", "test": test, "ties": "mean", "base": None, "splits": False,
        }  # fmt: skip
        found = compare_parts(systems, how).differences.values()
        wrong += any(d.corrected is not None and d.corrected <= 0.05 for d in found)
    return wrong / corpora


def _null_systems(rng: np.random.Generator, documents: int, fields: int) -> dict[str, list[dict[str, Result]]]:
    """Two systems whose outputs have one distribution, given the document."""
    ids = tuple(range(documents))
    hard = rng.beta(1, 3, documents)  # of a document, for both systems and all fields
    systems: dict[str, list[dict[str, Result]]] = {"A": [{}], "B": [{}]}
    for k in range(fields):
        share = (1.0, 0.7, 0.3, max(0.08, 4 / documents))[k % 4]
        there = rng.random(documents) < share
        items = np.where(there, rng.integers(1, 6, documents) if k % 3 == 0 else 1, 0)
        for system in systems.values():
            said = rng.binomial(items, 1 - 0.5 * hard)
            right = rng.binomial(said, 1 - 0.8 * hard)
            extra = rng.binomial(1, 0.1 * hard)
            rows = np.stack((right, said + extra, right, items), axis=1).astype(np.float64)
            system[0][f"field{k}"] = Result("f1", Counts(), rows, ids)
    return systems


def write_corpus(folder: Path, documents: int, fields: int = FIELDS) -> list[str]:
    """A reference and two systems, the second of which is a little worse in the last fields."""
    draw = random.Random(1)
    names = [f"field{k:02d}" for k in range(fields)]
    paths = [folder / name for name in ("gold.jsonl", "a.jsonl", "b.jsonl")]
    with paths[0].open("w") as gold, paths[1].open("w") as first, paths[2].open("w") as second:
        for number in range(documents):
            record: dict[str, Any] = {"id": f"d{number}"}
            record |= {
                name: draw.randrange(10_000) if k % 2 else f"v{draw.randrange(1000)}" for k, name in enumerate(names)
            }
            gold.write(json.dumps(record) + "\n")
            for file, worse in ((first, 0.0), (second, 0.01)):
                out = dict(record)
                for k, name in enumerate(names):
                    chance = draw.random()
                    if chance < 0.03:
                        del out[name]
                    elif chance < 0.1 + (worse if k > fields // 2 else 0):
                        out[name] = -1 if k % 2 else "other"
                file.write(json.dumps(out) + "\n")
    return list(map(str, paths))


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print levels and costs; False if a command broke."""
    corpora = CORPORA // 10 if quick else CORPORA
    print(f"\nFamily-wise error of comparisons by field: {corpora:,} corpora, {FIELDS} fields, {RESAMPLES:,} resamples")
    for documents in DOCUMENTS:
        share = 100 * family_errors(corpora, documents)
        claim(f"corpora of {documents:,} documents with a false difference", share, "%", at_most=None if quick else 5.5)
    size = 10_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        gold, first, second = write_corpus(Path(folder), size)
        command = [
            "-m",
            "tallystick",
            "compare",
            "records",
            gold,
            f"A={first}",
            f"B={second}",
            "--by",
            "field",
            "--format",
            "json",
        ]
        done = launch(command, repeat=repeat)
    if done.problem:
        print(done.problem)
        return False
    found = json.loads(done.output)["by"]["field"]["records"]
    lost = [row["part"] for row in found["differences"] if row["p_holm"] <= 0.05 and row["difference"] < 0]
    print(
        f"\ncompare records --by field: {size:,} documents of {FIELDS} fields, 10,000 resamples; {len(lost)} fields are worse"
    )
    claim("CPU", done.cpu, "s", at_most=30)
    claim("peak memory", done.peak, "MB", at_most=1000)
    return quick or lost == [f"field{k:02d}" for k in range(FIELDS // 2 + 1, FIELDS)]
