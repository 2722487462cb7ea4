"""The UD evaluation of a generated pair of CoNLL-U files, against udtools' (load and evaluate).

    python -m benchmarks.dependencies [--words 500000] [--peer PYTHON] [--repeat 2] [--no-peer]

`--peer` is a Python that has udtools (`pip install udtools`), by default this one. Every measurement is a
fresh process and counts its CPU time from before the imports on and its peak memory. The repetitions of the
two take turns, because a shared machine has slow and fast minutes; the smallest figures count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMES, MEMORY = 12, 4
"""What is promised: how many times faster, and which part of the memory."""

PRELUDE = """
import json, sys, time

def report(counts):
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(json.dumps({"cpu": time.process_time(), "mb": peak / 1024, "counts": counts}))
"""
OURS = """
from tallystick.metrics.ud_counts import METRICS, count_ud
from tallystick.reading.conllu import read_conllu
counts = count_ud(read_conllu(sys.argv[1]), read_conllu(sys.argv[2])).total.tolist()
report(dict(zip(METRICS, counts)))
"""
# udtools' package imports its validator too; the evaluation alone is the fairer comparison.
PEER = """
import importlib.util, pathlib
spec = importlib.util.find_spec("udtools")
sys.path.insert(0, str(pathlib.Path(spec.origin).parent))
import udeval
scores = udeval.evaluate(udeval.load_conllu_file(sys.argv[1]), udeval.load_conllu_file(sys.argv[2]))
report({
    name: [s.correct, s.gold_total, s.system_total, s.aligned_total or (s.correct if name == "Words" else 0)]
    for name, s in scores.items()
})
"""
GENERATE = """
from benchmarks.dependencies_data import generate
for path, text in zip(sys.argv[1:3], generate(int(sys.argv[3]), int(sys.argv[4]))):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
"""


def run(python: str, code: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    done = subprocess.run(
        [python, "-c", PRELUDE + code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has udtools")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("reference.conllu", "predicted.conllu")]
        run(sys.executable, GENERATE, *files, str(options.words), str(options.seed))
        size = sum(Path(file).stat().st_size for file in files) / 1e6
        print(f"{options.words:,} words in the reference, {size:.1f} MB in both files, seed {options.seed}")
        ours, peers = [], []
        for _ in range(options.repeat):
            ours.append(json.loads(run(sys.executable, OURS, *files)))
            if not options.no_peer:
                peers.append(json.loads(run(options.peer, PEER, *files)))

    print(f"{'':10} {'correct':>9} {'reference':>9} {'predicted':>9} {'aligned':>9}")
    for name, counts in ours[0]["counts"].items():
        print(f"{name:10} " + " ".join(f"{count:9,}" for count in counts))
    cpu, memory = (min(each[key] for each in ours) for key in ("cpu", "mb"))
    print(f"tallystick {cpu:8.2f} CPU s {memory:8.0f} MB")
    if not peers:
        return 0
    peer_cpu, peer_memory = (min(each[key] for each in peers) for key in ("cpu", "mb"))
    print(f"udtools    {peer_cpu:8.2f} CPU s {peer_memory:8.0f} MB")
    print(f"{peer_cpu / cpu:.1f} times faster, {memory / peer_memory:.2f} of the memory")
    differing = [name for name, counts in ours[0]["counts"].items() if peers[0]["counts"][name] != counts]
    print(f"counts differ: {', '.join(differing)}" if differing else "all counts are equal")
    return int(bool(differing) or peer_cpu < TIMES * cpu or memory * MEMORY > peer_memory)


if __name__ == "__main__":
    sys.exit(main())
