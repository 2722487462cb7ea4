"""What shards cost, for every task: the CPU time of one process against `--jobs 1` and `--jobs 2`, workers included.

    python -m benchmarks shards               corpora that take one process some seconds
    python -m benchmarks shards --quick       a tenth of them, of which starting the workers is a large part
    python -m benchmarks.shards speedup       wall time of one process and of two: for a quiet machine

Two processes that need 1.15 times the CPU time of one between them, on two idle cores and with the work cut finely enough, need
0.58 of its wall time: they are 1.7 times as fast, and 1.8 times at a ratio of 1.11. The figures of every run are equal.

How much faster `--jobs 2` is on two idle cores cannot be seen on a busy machine, so it is counted: the command takes at least the CPU time
of its first process, which cuts and adds up, and half of what its two workers need. As if nothing of the first process went on while the
workers score, so that it is rather too long.

To start takes the first process some .13 s (of records .2 s), and as long as a whole. If one process scores a corpus in 9 times that, two of them
cannot be more than 1.8 times as fast, however well they share the rest, and to cut it and to number its ids takes time, too. So a corpus
takes one process 20 to 40 times as long as its start; of records and of CoNLL coreference, which are scored fastest, it is three times as large
as it would have to be for the CPU time alone.
"""

import json
import math
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import Run, claim, launch, show
from benchmarks.shards_data import make

SIZES = {
    "records": 900_000, "columns": 2_000_000, "columns with documents": 2_000_000, "spans as JSON": 120_000, "conll": 15_000_000,
    "corefud": 120_000, "clusters": 160_000, "sentences": 400_000, "documents of sentences": 400_000, "graphs": 80_000,
    "relations": 60_000, "events": 25_000, "arguments": 25_000, "roles": 40_000, "templates": 50_000, "nary": 25_000,
    "hierarchies": 120_000, "named hierarchies": 120_000,
}  # fmt: skip
"""Documents of each corpus, or tokens of CoNLL's."""
MOST, FASTER = 1.15, 1.8


def write(folder: Path, name: str, size: int) -> tuple[str, str, str]:
    """The task and the two files of a corpus."""
    if name != "conll":
        return make(folder, name, size, random.Random(7).randrange(100))
    from benchmarks.coreference_data import write_large

    files = [str(folder / f"{side}.conll") for side in ("gold", "system")]
    write_large(files[0], files[1], size)
    return "coreference", files[0], files[1]


def measure(task: str, gold: str, system: str, *options: str, repeat: int = 1) -> Run:
    """A `score` command in a process of its own, with its workers."""
    return launch(["-m", "tallystick", "score", task, gold, system, "--format", "json", *options], repeat=repeat)


# A command that says what it took itself, and what its workers took.
TOLD = """
import atexit, json, resource, sys
told, sys.argv = sys.argv[1], ["tallystick", *sys.argv[2:]]
def tell():
    with open(told, "w") as stream:
        json.dump([sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)], stream)
atexit.register(tell)
from tallystick.cli import main
main()
"""


def critical_path(task: str, gold: str, system: str, repeat: int = 1) -> float:
    """The CPU time of the first process with `--jobs 2`, and half of that of its workers: the least of some runs."""
    found = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder, "told.json")
            launch(["-c", TOLD, str(told), "score", task, gold, system, "--format", "json", "--jobs", "2"])
            own, workers = json.loads(told.read_text()) if told.exists() else (math.nan, math.nan)
            found.append(own + workers / 2)
    return min(found)


def figures(run: Run) -> Any:
    """The figures of a run; what is said beside them may be said shard by shard."""
    return None if run.problem else json.loads(run.output)["metrics"]


def run(repeat: int = 1, quick: bool = False, names: tuple[str, ...] = tuple(SIZES)) -> bool:
    """A row for every task and format; the best of at least two runs, as one process in two differs by a fifth from time to time."""
    repeat = max(repeat, 1 if quick else 2)
    print("\nShards: CPU seconds of one process, and of shards with one and two")
    table, fine = (
        [["", "documents", "whole", "--jobs 1", "--jobs 2", "x", "x", "MB whole", "MB --jobs 1", "figures"]],
        True,
    )
    claims = []
    for name in names:
        size = SIZES[name] // 10 if quick else SIZES[name]
        with tempfile.TemporaryDirectory() as folder:
            task, gold, system = write(Path(folder), name, size)
            whole, *runs = (
                measure(task, gold, system, *jobs, repeat=repeat) for jobs in ((), ("--jobs", "1"), ("--jobs", "2"))
            )
            path = critical_path(task, gold, system, repeat)
        problem = next((one.problem for one in (whole, *runs) if one.problem), "")
        same = not problem and all(figures(one) == figures(whole) for one in runs)
        fine = fine and same
        ratios = [one.cpu / whole.cpu for one in runs]
        seconds = [f"{one.cpu:.2f}" for one in (whole, *runs)]
        memory = [f"{whole.peak:,.0f}", f"{runs[0].peak:,.0f}"]
        verdict = problem or ("equal" if same else "DIFFER")
        table.append([f"{task}: {name}", f"{size:,}", *seconds, *(f"{one:.2f}" for one in ratios), *memory, verdict])
        claims.append((name, whole.cpu, [one.cpu for one in runs], whole.cpu / path))
    show("Shards", table)
    for name, one, (single, both), faster in claims:
        limit = None if quick else MOST
        for jobs, found in (("--jobs 1", single), ("--jobs 2", both)):
            fine = claim(f"{name}, {jobs}", found, against={"as a whole": one}, times=limit) and fine
        what = f"{name}: times as fast with --jobs 2 on two idle cores, counted"
        fine = claim(what, faster, "", at_least=None if quick else FASTER) and fine
    return fine


def speedup(names: list[str]) -> bool:
    """Wall time of one process and of two."""
    fine = True
    for name in names or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            files = write(Path(folder), name, SIZES[name])
            one, two = measure(*files), measure(*files, "--jobs", "2")
        fine = claim(f"{name}: times as fast with --jobs 2", one.wall / two.wall, "", at_least=FASTER) and fine
    return fine


if __name__ == "__main__":
    if sys.argv[1:2] == ["speedup"]:
        sys.exit(not speedup(sys.argv[2:]))
    sys.exit(not run(names=tuple(sys.argv[1:]) or tuple(SIZES)))
