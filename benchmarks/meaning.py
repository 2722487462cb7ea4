"""Graphs of meaning and sequences: tallystick against smatch, smatchpp and metametric.

    python benchmarks/meaning.py [--peers PYTHON] [--data FOLDER] [--repeat N]

Each measurement is a fresh process that prints one JSON line: CPU seconds with imports left out (and, for
whole commands, all CPU of the process), the value, and how many matching triples it falls short of the proven
optimum. A peer that is not installed in PYTHON is reported as missing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPORA = {"little prince": ("little_prince.gold", "little_prince.jamr"), "amr3": ("amr3.bart", "amr3.t5")}
FIRST = 150


def tallystick_graphs(gold: str, system: str) -> dict:
    import highspy  # noqa: F401
    import lap  # noqa: F401

    from tallystick.metrics.amr_scores import score_graphs
    from tallystick.metrics.amr_triples import preset
    from tallystick.reading.graphs import pair_graphs
    from tallystick.reading.penman import read_penman

    begin = time.process_time()
    counts = score_graphs(pair_graphs(read_penman(gold), read_penman(system)), preset("smatch"))
    cpu = time.process_time() - begin
    values = counts.matched.tolist()
    return {"cpu": cpu, "f1": counts.f1, "matched": values, "proven": int(counts.optimal.sum())}


def smatch_graphs(gold: str, system: str) -> dict:
    import smatch

    begin = time.process_time()
    matched, total = [], 0
    with open(system) as one, open(gold) as other:
        for a, b in smatch.generate_amr_lines(one, other):
            found, test, reference = smatch.get_amr_match(a, b)
            smatch.match_triple_dict.clear()
            matched.append(found)
            total += test + reference
    return {"cpu": time.process_time() - begin, "f1": 2 * sum(matched) / total, "matched": matched}


def smatchpp_graphs(gold: str, system: str, solver: str = "ilp") -> dict:
    from smatchpp import Smatchpp, data_helpers, solvers
    from smatchpp.formalism.generic import tools

    scorer = Smatchpp(graph_standardizer=tools.GenericStandardizer(), alignmentsolver=solvers.get_solver(solver))
    begin = time.process_time()
    one, other = (data_helpers.read_graphstrings_from_file(name) for name in (system, gold))
    rows = [scorer.process_pair(a, b)[0]["main"] for a, b in zip(one, other, strict=True)]
    cpu = time.process_time() - begin
    matched = [float(row[0]) for row in rows]
    return {
        "cpu": cpu,
        "f1": 2 * sum(matched) / sum(float(row[2] + row[3]) for row in rows),
        "matched": matched,
    }


def _facts(gold: str, system: str) -> list:
    from tallystick.metrics.amr_triples import FactReader, preset
    from tallystick.reading.graphs import pair_graphs
    from tallystick.reading.penman import read_penman

    read = FactReader(preset("smatch"))
    pairs = pair_graphs(read_penman(gold), read_penman(system))[:FIRST]
    return [(read(a), read(b)) for a, b in pairs]


def tallystick_first(gold: str, system: str) -> dict:
    import highspy  # noqa: F401
    import lap  # noqa: F401

    from tallystick.metrics.amr_scores import score_facts

    pairs = _facts(gold, system)
    begin = time.process_time()
    counts = score_facts([a for a, _ in pairs], [b for _, b in pairs], "product")
    return {"cpu": time.process_time() - begin, "matched": counts.matched.tolist()}


def metametric_first(gold: str, system: str) -> dict:
    import metametric.dsl as mm
    from metametric.core.metric import Variable
    from metametric.structures.amr import AMR, Prop

    def amr(facts):
        names = [Variable(v) for v in facts.variables]
        props = [Prop(names[v], role, value) for v, role, value, _ in facts.unary]
        return AMR([*props, *(Prop(names[s], role, names[t]) for s, role, t in facts.binary)])

    pairs = [(amr(a), amr(b)) for a, b in _facts(gold, system)]
    metric = mm.auto[AMR]
    begin = time.process_time()
    matched = [float(metric.score(a, b)) for a, b in pairs]
    return {"cpu": time.process_time() - begin, "matched": matched}


def _words(n: int, seed: int) -> list[str]:
    import random

    rng = random.Random(seed)
    letters = random.Random(0)  # the same stems for all
    stems = ["".join(letters.choice("abcdefghij") for _ in range(6)) for _ in range(80)]
    return [rng.choice(stems) + rng.choice(["", "s", "ed"]) for _ in range(n)]


def tallystick_text() -> dict:
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    from tallystick.matching.sequences import match_dense

    one, other = _words(500, 1), _words(500, 2)
    begin = time.process_time()
    found = match_dense(cdist(one, other, scorer=Indel.normalized_similarity, dtype=np.float64))
    return {"cpu": time.process_time() - begin, "matched": [found.lower], "pairs": len(found.left)}


def metametric_text() -> dict:
    import metametric.dsl as mm
    from metametric.core.metric import Metric

    try:
        from rapidfuzz.distance import Indel

        similarity = Indel.normalized_similarity
    except ImportError:  # as cheap a stand-in as there is: the loop's cost remains

        def similarity(a: str, b: str) -> float:
            return float(a == b)

    one, other = _words(500, 1), _words(500, 2)
    metric = mm.sequence_matching[str, "<->", None](Metric.from_function(similarity))
    begin = time.process_time()
    value = metric.score(one, other)
    return {"cpu": time.process_time() - begin, "matched": [float(value)]}


def tallystick_exact() -> dict:
    import random

    import rapidfuzz.distance  # noqa: F401

    from tallystick.matching.sequences import match_equal

    rng = random.Random(0)
    one, other = ([rng.randrange(500) for _ in range(5000)] for _ in range(2))
    begin = time.process_time()
    found = match_equal(one, other)
    return {"cpu": time.process_time() - begin, "matched": [found.lower]}


def tallystick_command(gold: str, system: str) -> dict:
    """What a command does, without a command line around it."""
    from tallystick.metrics.amr_scores import score_graphs
    from tallystick.metrics.amr_triples import preset
    from tallystick.reading.graphs import pair_graphs
    from tallystick.reading.penman import read_penman

    counts = score_graphs(pair_graphs(read_penman(gold), read_penman(system)), preset("smatch"))
    return {"cpu": 0.0, "f1": counts.f1}


TASKS = {name: value for name, value in globals().items() if name.startswith(("tallystick_", "smatch", "metametric_"))}


def measure(python: str, task: str, files: tuple[str, ...], repeat: int) -> dict | None:
    """The fastest of some fresh processes; `whole` is the CPU of the process from start to end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    best: dict | None = None
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [python, __file__, "--task", task, *files],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            if "ModuleNotFoundError" not in done.stderr:
                print(done.stderr[-2000:], file=sys.stderr)
            return None
        found = json.loads(done.stdout.splitlines()[-1])
        found["whole"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if best is None or found["cpu"] < best["cpu"] or (not found["cpu"] and found["whole"] < best["whole"]):
            best = found
    return best


def smatch_command(python: str, gold: str, system: str, repeat: int) -> float | None:
    """All CPU of `smatch.py -f`."""
    where = subprocess.run(
        [python, "-c", "import smatch; print(smatch.__file__)"], capture_output=True, text=True, check=False
    )
    if where.returncode:
        return None
    times = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([python, where.stdout.strip(), "-f", system, gold], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def row(label: str, found: dict | None, ours: dict | None, optimum: list[float] | None) -> None:
    if found is None:
        print(f"  {label:34} not installed or failed")
        return
    ratio = f"{found['cpu'] / ours['cpu']:7.1f} x" if ours and found is not ours else "         "
    value = f"F1 {100 * found['f1']:.4f}" if found.get("f1") is not None else f"{sum(found['matched']):.4f}"
    short = ""
    if optimum is not None and len(optimum) == len(found["matched"]):
        below = [a - b for a, b in zip(optimum, found["matched"], strict=True) if a - b > 1e-6]
        short = f"{len(below)} pairs short, {sum(below):.0f} triples" if below else "never short"
    print(f"  {label:34} {found['cpu']:9.3f} s {ratio}  {value:14}  {short}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data" / "meaning"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        name, *files = chosen.task
        print(json.dumps(TASKS[name](*files)))
        return
    data, here, peers = Path(chosen.data), sys.executable, chosen.peers
    with tempfile.TemporaryDirectory() as folder:
        if data.is_dir():
            for corpus, names in CORPORA.items():
                files = tuple(str(Path(folder) / f"{name}.amr") for name in names)
                for name, target in zip(names, files, strict=True):
                    Path(target).write_bytes(gzip.decompress((data / f"{name}.amr.gz").read_bytes()))
                print(f"{corpus}: CPU seconds from files, imports left out; times tallystick")
                ours = measure(here, "tallystick_graphs", files, chosen.repeat)
                optimum = ours["matched"] if ours else None
                row(f"tallystick ({ours['proven'] if ours else 0} proven)", ours, ours, optimum)
                row("smatch, 4 restarts", measure(peers, "smatch_graphs", files, chosen.repeat), ours, optimum)
                row(
                    "smatchpp ILP, its own counting",
                    measure(peers, "smatchpp_graphs", files, chosen.repeat),
                    ours,
                    None,
                )
                if corpus == "little prince":
                    print(f"first {FIRST} pairs, scoring alone")
                    first = measure(here, "tallystick_first", files, chosen.repeat)
                    row("tallystick", first, first, first["matched"] if first else None)
                    row(
                        "metametric",
                        measure(peers, "metametric_first", files, chosen.repeat),
                        first,
                        first["matched"] if first else None,
                    )
                whole = measure(here, "tallystick_command", files, chosen.repeat)
                theirs = smatch_command(peers, *files, repeat=chosen.repeat)
                if whole and theirs:
                    times = theirs / whole["whole"]
                    print(f"  whole: {whole['whole']:.3f} s, smatch.py -f {theirs:.3f} s, {times:.1f} x")
        else:
            print(f"{data} is not here: no corpora")
    print("sequences")
    exact = measure(here, "tallystick_exact", (), chosen.repeat)
    row("5,000 x 5,000 exact, alignment", exact, exact, None)
    ours = measure(here, "tallystick_text", (), chosen.repeat)
    row("500 x 500 text, alignment", ours, ours, None)
    row("metametric, no alignment", measure(peers, "metametric_text", (), chosen.repeat), ours, None)


if __name__ == "__main__":
    main()
