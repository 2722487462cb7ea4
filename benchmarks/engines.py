"""Engines: a simulated corpus that is made on the fly, records from files, and one process against two.

    python -m benchmarks engines              up to 1,000,000 documents
    python -m benchmarks engines --quick      a tenth of it
    python -m benchmarks.engines simulate --documents 10000000 --processes 2
    python -m benchmarks.engines speedup      wall time of one and of two processes on a task of 20 s: for a quiet machine
    python -m benchmarks.engines records --documents 1000000

A document of the simulated corpus is a bag of 0 to 8 typed spans, half of which the system finds. Every shard of 20,000
documents is made by whoever scores it, from its number; nothing is kept of it but its sums.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import ALIKE, claim, launch

SHARD = 20_000
ROOT = Path(__file__).resolve().parent.parent


# The simulated corpus


def make_shard(number: int, documents: int) -> tuple[Any, Any]:
    """Both sides of a shard as columns."""
    import numpy as np

    from tallystick.engine.data import Bag, Record

    r = np.random.default_rng(number)
    counts = r.integers(0, 9, documents)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    start = r.integers(0, 400, offsets[-1])
    gold = {"type": r.integers(0, 12, offsets[-1]), "start": start, "end": start + r.integers(1, 5, offsets[-1])}
    wrong = r.random(offsets[-1]) < 0.5
    system = {**gold, "end": gold["end"] + wrong}
    return tuple(
        Bag(offsets, Record({name: np.asarray(column, np.int64) for name, column in side.items()}))
        for side in (gold, system)
    )


def score_shard(job: tuple[int, int]) -> Any:
    """Make a shard, score it, and let it go."""
    from tallystick.results.evaluation import Evaluation

    evaluation = Evaluation("f1(match(record(type=exact, start=exact, end=exact)))", keep=False, rows=False)
    evaluation.update(*make_shard(*job))
    return evaluation


def simulate(documents: int, processes: int) -> dict[str, Any]:
    """Score a corpus of so many documents with so many processes."""
    from tallystick.engine.windows import in_order
    from tallystick.results.evaluation import Evaluation
    from tallystick.run import Processes

    total = Evaluation("f1(match(record(type=exact, start=exact, end=exact)))", keep=False, rows=False)
    jobs = [(k, min(SHARD, documents - k * SHARD)) for k in range(-(-documents // SHARD))]
    started = time.monotonic()

    def done() -> Iterator[Any]:
        if processes == 1:
            yield from map(score_shard, jobs)
            return
        with Processes(processes) as pool:
            yield from (one for _, one in in_order(pool, score_shard, jobs))

    for one in done():
        total.merge(one)
    result = total.compute()
    took = time.monotonic() - started
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "documents": result.count, "processes": processes, "f1": repr(result.f1), "wall": took,
        "cpu": own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime,
        "peak": max(own.ru_maxrss, workers.ru_maxrss) // 1024,
    }  # fmt: skip


def print_simulated(found: dict[str, Any]) -> None:
    rate = found["documents"] / found["wall"]
    print(
        f"simulated   {found['documents']:>11,} documents   {found['processes']} process{'es'[: 2 * (found['processes'] > 1)]:2}"
        f"  {found['wall']:7.1f} s wall {found['cpu']:7.1f} s CPU   {rate:>10,.0f} documents/s"
        f"   {found['peak']:>5,} MB at most in a process   f1 {found['f1']}",
        flush=True,
    )


# Records


def write_records(folder: Path, documents: int) -> list[Path]:
    """Two files of records of 10 fields; the system is wrong in a tenth of them."""
    import random

    r = random.Random(7)
    words = ["acme", "globex", "initech", "umbrella", "stark", "wayne", "hooli", "vehement"]
    files = [folder / "gold.jsonl", folder / "system.jsonl"]
    with files[0].open("w") as gold, files[1].open("w") as system:
        for k in range(documents):
            row = {
                "id": f"doc-{k}", "vendor": r.choice(words), "number": f"INV-{r.randrange(10**6)}",
                "date": f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02}", "total": r.randrange(10**5) / 100,
                "currency": r.choice(["EUR", "USD"]), "paid": r.random() < 0.5, "items": r.randint(1, 9),
                "city": r.choice(words), "note": " ".join(r.choices(words, k=4)),
            }  # fmt: skip
            gold.write(json.dumps(row) + "\n")
            for name in ("vendor", "number", "date", "city", "note"):
                if r.random() < 0.1:
                    row[name] = r.choice(words)
            system.write(json.dumps(row) + "\n")
    return files


def run_command(*arguments: Any) -> dict[str, Any]:
    """A command in a process of its own: wall time, CPU time with its children, peak memory of the largest process."""
    found = launch(["-m", "tallystick", *map(str, arguments)])
    assert not found.problem, found.problem
    return {"wall": found.wall, "cpu": found.cpu, "peak": round(found.peak), "output": found.output}


def print_records(documents: int, folder: Path) -> dict[str, Any]:
    gold, system = write_records(folder, documents)
    found = run_command("score", "records", gold, system, "--format", "json")
    print(
        f"records     {documents:>11,} documents of 10 fields from JSONL   {found['cpu']:7.1f} s CPU"
        f"   {documents / found['cpu']:>10,.0f} documents/s   {found['peak']:>5,} MB at most",
        flush=True,
    )
    return found


def print_speedup(folder: Path, documents: int, repeat: int = 1) -> bool:
    """One process and two, one after the other, so often; the median of the ratios."""
    gold, system = write_records(folder, documents)
    schema = folder / "schema.json"  # inferring it is work for one process
    run_command("score", "records", gold, system, "--describe", "--save-schema", schema)
    ratios, outputs = [], set()
    for _ in range(repeat):
        runs = {}
        for jobs in (1, 2):
            runs[jobs] = found = run_command(
                "score", "records", gold, system, "--schema", schema, "--format", "json", "--jobs", jobs
            )
            outputs.add(found["output"])
            print(
                f"speed-up    {documents:>11,} records, --jobs {jobs}   {found['wall']:7.1f} s wall"
                f" {found['cpu']:7.1f} s CPU   {found['peak']:>5,} MB at most in a process",
                flush=True,
            )
        ratios.append(runs[1]["wall"] / runs[2]["wall"])
    same = len(outputs) == 1
    print(
        f"two processes are {median(ratios):.2f} times as fast ({', '.join(f'{one:.2f}' for one in sorted(ratios))});"
        f" figures {'equal' if same else 'DIFFER'}"
    )
    return same


def run(repeat: int = 1, quick: bool = False) -> bool:
    """All of it, in the size of the other benchmarks."""
    print("\nEngines: bounded memory, one process and two\n")
    largest = 100_000 if quick else 1_000_000
    fine = True
    for documents in (largest // 10, largest):
        found = [measured(documents, processes) for processes in (1, 2)]
        for one in found:
            print_simulated(one)
        fine = fine and found[0]["f1"] == found[1]["f1"]
    with tempfile.TemporaryDirectory() as folder:
        for documents in (largest // 10, largest):
            records = print_records(documents, Path(folder))
        if not quick:
            fine = claim("1,000,000 flat records from JSONL", records["cpu"], at_most=8) and fine
            fine = claim("1,000,000 flat records from JSONL, memory", records["peak"], "MB", at_most=150) and fine
        return print_speedup(Path(folder), largest // 2) and fine


def measured(documents: int, processes: int) -> dict[str, Any]:
    """A simulation in a process of its own, so that its memory is its own."""
    code = "import json, sys; from benchmarks.engines import simulate; print(json.dumps(simulate(*map(int, sys.argv[1:]))))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(documents), str(processes)],
        capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, **ALIKE, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )  # fmt: skip
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["simulate", "speedup", "records"])
    parser.add_argument("--documents", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="of speedup")
    options = parser.parse_args()
    if options.what == "simulate":
        print_simulated(measured(options.documents or 1_000_000, options.processes))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "records":
            print_records(options.documents or 100_000, Path(folder))
            return 0
        return 0 if print_speedup(Path(folder), options.documents or 1_200_000, options.repeat) else 1


if __name__ == "__main__":
    sys.exit(main())
