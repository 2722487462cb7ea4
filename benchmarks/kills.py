"""SIGKILLs at random moments, and the figures afterwards: the same bits as without any.

    python -m benchmarks.kills [50] [--seed 0] [--without-dask]

A third of the kills hits `score TASK --state DIR --jobs 2` as a whole, with all its processes; the same command goes on from there. A third hits one of its
workers, and the command itself has to finish. The rest hits a worker of a Dask cluster while a command is under way on it. Records, spans and
coreference take turns. A command that has ended before its kill is tried too, and not counted among them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.shards_data import make

KINDS = ("records", "columns", "conll")
"""Kinds of `shards_data`: records, spans, coreference."""
DOCUMENTS = 4000
PATIENCE = 600


class Run:
    """One `score` command as a process group of its own."""

    def __init__(self, task: str, gold: str, system: str, *more: str) -> None:
        command = [sys.executable, "-m", "tallystick", "score", task, gold, system, "--format", "json", *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def workers(self) -> list[int]:
        """The processes that it has started."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError, ValueError):
                    continue
                if parent == self.process.pid:
                    found.append(int(entry.name))
        return sorted(found)

    def kill(self) -> None:
        """Everything at once."""
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def figures(self) -> dict[str, object] | str:
        """What it printed, or what went wrong."""
        try:
            out, said = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"did not end within {PATIENCE} s"
        if self.process.returncode:
            return f"ended with {self.process.returncode}: {said.decode(errors='replace')[-400:]}"
        return json.loads(out)["metrics"]


def kill_all(
    files: Sequence[str], folder: Path, chance: random.Random, pace: float
) -> tuple[bool, dict[str, object] | str]:
    """The whole command is killed; the same command finishes."""
    run = Run(*files, "--shard", "20kB", "--jobs", "2", "--state", str(folder))
    time.sleep(chance.random() * pace)
    struck = run.process.poll() is None
    run.kill()
    return struck, Run(*files, "--shard", "20kB", "--jobs", "2", "--state", str(folder)).figures()


def kill_worker(
    files: Sequence[str], folder: Path, chance: random.Random, pace: float
) -> tuple[bool, dict[str, object] | str]:
    """One worker is killed; the command finishes by itself."""
    run = Run(*files, "--shard", "20kB", "--jobs", "2", "--state", str(folder))
    until = time.monotonic() + PATIENCE
    while len(run.workers()) < 2 and run.process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(chance.random() * pace / 4)
    return _strike(run.workers(), chance), run.figures()


def _strike(processes: Sequence[int], chance: random.Random) -> bool:
    if not processes:
        return False
    try:
        os.kill(chance.choice(list(processes)), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_dask(
    files: Sequence[str], address: str, workers: Sequence[int], chance: random.Random, pace: float
) -> tuple[bool, dict[str, object] | str]:
    """A worker of the cluster is killed; its nanny starts another, and the command finishes."""
    run = Run(*files, "--shard", "20kB", "--scheduler", address)
    time.sleep(pace / 2 + chance.random() * pace / 2)
    struck = run.process.poll() is None and _strike(workers, chance)
    return struck, run.figures()


@contextmanager
def cluster() -> Iterator[tuple[object, str]]:
    """Two workers as processes of their own, which the cluster waits for however long they need to start again: by default it gives a killed worker
    up after 15 s, for good, and on a busy machine one may need longer."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": f"{PATIENCE}s"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        Client(made.scheduler_address) as client,
    ):
        yield client, made.scheduler_address


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, and compare; 1 if a figure differs or a command does not finish."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("kills", nargs="?", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-dask", action="store_true")
    asked = parser.parse_args(arguments)
    chance, counts, faults = random.Random(asked.seed), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        corpora = {}
        for kind in KINDS:
            folder = Path(name, kind)
            folder.mkdir()
            files = make(folder, kind, DOCUMENTS)
            began = time.monotonic()
            whole = Run(*files).figures()
            corpora[kind] = files, whole, max(0.5, 2 * (time.monotonic() - began))
            if isinstance(whole, str):
                faults.append(f"{kind} without a kill: {whole}")
        with cluster() if not asked.without_dask else _nothing() as (client, address):
            number = struck_so_far = 0
            while struck_so_far < asked.kills and not (faults and not number):
                kind = KINDS[number // 3 % len(KINDS)]
                files, whole, pace = corpora[kind]
                way = ("all", "worker", "dask")[number % 3 if client is not None else number % 2]
                if way == "dask":
                    client.wait_for_workers(2, timeout=PATIENCE)  # type: ignore[attr-defined]
                    pids = list(client.run(os.getpid).values())  # type: ignore[attr-defined]
                    struck, found = kill_dask(files, address, pids, chance, pace)
                else:
                    struck, found = (kill_all if way == "all" else kill_worker)(
                        files, Path(name, f"state{number}"), chance, pace
                    )
                number, struck_so_far = number + 1, struck_so_far + struck
                counts[f"{way}{'' if struck else ', too late'}"] += 1
                if found != whole:
                    faults.append(
                        f"kill {number}, {way}, {kind}: {found if isinstance(found, str) else 'other figures'}"
                    )
                    print(faults[-1], file=sys.stderr, flush=True)
    kinds = ", ".join(f"{count} {way}" for way, count in sorted(counts.items()))
    print(
        f"Python {sys.version.split()[0]}: {sum(counts.values())} runs ({kinds}), equal bits {sum(counts.values()) - len(faults)} of {sum(counts.values())}"
    )
    return 1 if faults else 0


@contextmanager
def _nothing() -> Iterator[tuple[None, str]]:
    yield None, ""


if __name__ == "__main__":
    sys.exit(main())
