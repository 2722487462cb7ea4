"""Graphs of meaning and sequences: tallystick against smatch, smatchpp and metametric.

    python -m benchmarks meaning [--repeat N] [--quick]
    python benchmarks/meaning.py [--peers PYTHON] [--data FOLDER] [--repeat N] [--quick]

Each measurement is a fresh process: CPU seconds with imports left out (for whole commands all CPU of the process,
imports included), the value, and how many matching triples it falls short of the proven optimum. A peer that is not
installed in PYTHON, by default this one, is reported as missing.
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
if not __package__:
    sys.path.insert(0, str(ROOT))
from benchmarks.measure import ALIKE, claim  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "meaning"
CORPORA = {"little prince": ("little_prince.gold", "little_prince.jamr"), "amr3": ("amr3.bart", "amr3.t5")}
FIRST = 150


def tallystick_graphs(gold: str, system: str) -> dict:
    import highspy  # noqa: F401
    import lap  # noqa: F401

    from tallystick.tasks.amr.files import pair_graphs, read_penman
    from tallystick.tasks.amr.triples import preset, score_graphs

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
    from tallystick.tasks.amr.files import pair_graphs, read_penman
    from tallystick.tasks.amr.triples import FactReader, preset

    read = FactReader(preset("smatch"))
    pairs = pair_graphs(read_penman(gold), read_penman(system))[:FIRST]
    return [(read(a), read(b)) for a, b in pairs]


def tallystick_first(gold: str, system: str) -> dict:
    import highspy  # noqa: F401
    import lap  # noqa: F401

    from tallystick.tasks.amr.triples import score_facts

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


def _matched(metric: str, one: list, other: list) -> dict:
    """Σ and the alignment of two sequences under an expression of the algebra."""
    from tallystick.algebra.parse import parse
    from tallystick.engine.data import Objects, Scope

    node = parse(metric)
    warm, _ = node.encode(Objects([one[:2]]), Objects([other[:2]]), Scope())
    node.matched(warm, warm)  # imports
    begin = time.process_time()
    r, p = node.encode(Objects([one]), Objects([other]), Scope())
    found = node.matched(r, p)
    cpu = time.process_time() - begin
    return {"cpu": cpu, "matched": [float(found.weight.sum())], "pairs": len(found)}


def tallystick_text() -> dict:
    return _matched('sequence(text("indel"))', _words(500, 1), _words(500, 2))


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

    rng = random.Random(0)
    one, other = ([rng.randrange(500) for _ in range(5000)] for _ in range(2))
    return _matched("sequence(exact)", one, other)


# Large graphs: chains of equal nodes, sentences merged under one root, and changed copies of such graphs.


def _chain(n: int):
    from tallystick.tasks.amr.triples import Facts

    facts = Facts([f"v{k}" for k in range(n)])
    facts.add(0, "root", "")
    for k in range(n):
        facts.add(k, "instance", "x")
    for k in range(1, n):
        facts.add(k - 1, ":arg0", k)
    return facts


def _merged(sentences: list):
    """One graph whose root has an edge of the same role to the root of each sentence."""
    from tallystick.tasks.amr.triples import Facts

    facts = Facts(["m"], [(0, "instance", "multi-sentence", False), (0, "root", "", False)])
    for sentence in sentences:
        base = len(facts.variables)
        facts.variables += [f"s{base}.{name}" for name in sentence.variables]
        for v, role, value, turned in sentence.unary:
            if role == "root":
                facts.binary.append((0, ":snt", base + v))
            else:
                facts.unary.append((base + v, role, value, turned))
        facts.binary += [(base + source, role, base + target) for source, role, target in sentence.binary]
    return facts


def _changed(facts, share: float, rng):
    """A copy in another order; of its facts a share has another concept, role or end, or is gone."""
    from tallystick.tasks.amr.triples import Facts

    n = len(facts.variables)
    to = rng.sample(range(n), n)
    concepts, roles = [value for _, _, value, _ in facts.unary], [role for _, role, _ in facts.binary]
    copy = Facts([f"v{k}" for k in range(n)])
    for v, role, value, turned in facts.unary:
        copy.unary.append((to[v], role, rng.choice(concepts) if rng.random() < share else value, turned))
    for source, role, target in facts.binary:
        kind = rng.random() / share if share else 1.0
        if kind < 1 / 3:
            continue
        role = rng.choice(roles) if kind < 2 / 3 else role
        copy.binary.append((to[source], role, rng.randrange(n) if 2 / 3 <= kind < 1 else to[target]))
    return copy


def _solved(pairs: list, limit: float | None) -> dict:
    """The slowest of some pairs, and the widest bounds, with the CPU of this process for a clock."""
    import highspy  # noqa: F401
    import lap  # noqa: F401

    from tallystick.tasks.amr.triples import score_facts

    time.monotonic = time.process_time
    slowest, gap, matched = 0.0, 0.0, []
    for one, other in pairs:
        begin = time.process_time()
        counts = score_facts([one], [other], limit=limit)
        slowest = max(slowest, time.process_time() - begin)
        gap = max(gap, float(counts.upper[0] / counts.matched[0] - 1))
        matched.append(float(counts.matched[0]))
    return {"cpu": slowest, "gap": gap, "matched": matched}


def tallystick_chain(n: str) -> dict:
    shorter = _chain(int(n) - int(n) // 10)
    renamed = _chain(int(n))
    renamed.variables.reverse()
    renamed.unary.reverse()
    renamed.binary = [(int(n) - 1 - s, role, int(n) - 1 - t) for s, role, t in renamed.binary]
    renamed.unary = [(int(n) - 1 - v, role, value, turned) for v, role, value, turned in renamed.unary]
    return _solved([(_chain(int(n)), _chain(int(n))), (_chain(int(n)), renamed), (_chain(int(n)), shorter)], None)


def tallystick_large(gold: str, system: str, variables: str, limit: str) -> dict:
    """Sentences of a corpus merged to so many variables, against the parser's, and against changed copies."""
    import random

    rng, every, pairs = random.Random(1), _facts(gold, system), []
    for share in (None, None, 0.0, 0.02, 0.1):
        chosen: list = []
        while sum(len(a.variables) for a, _ in chosen) < int(variables):
            chosen.append(rng.choice(every))
        one = _merged([a for a, _ in chosen])
        pairs.append((one, _merged([b for _, b in chosen]) if share is None else _changed(one, share, rng)))
    return _solved(pairs, float(limit))


def large_rows(files: tuple[str, ...] | None, quick: bool) -> bool:
    """Graphs of some hundred variables; True if everything is proven that has to be."""
    fine = True
    print("\nlarge graphs: CPU seconds of the slowest pair, imports left out")
    for n in (100, 200, 300):
        found = measure(sys.executable, "tallystick_chain", (str(n),), 1)
        fine = found is not None and found["gap"] == 0 and found["matched"][:2] == [2 * n, 2 * n] and fine
        if found is not None:
            claim(f"a chain of {n} equal nodes against itself, turned round, and shorter", found["cpu"], at_most=1)
    with tempfile.TemporaryDirectory() as folder:
        deep = Path(folder) / "deep.amr"
        deep.write_text("".join(f"(v{k} / x :ARG0 " for k in range(2200)) + "(z / x)" + ")" * 2200 + "\n")
        took = measure_command([sys.executable, "-m", "tallystick", "score", "amr", str(deep), str(deep)], 1)
        fine = took is not None and fine
        claim("one graph of 40 kB, 2,200 levels deep, against itself, whole command", took or float("inf"), at_most=1)
    if files is not None and not quick:
        found = measure(sys.executable, "tallystick_large", (*files, "300", "60"), 1)
        fine = found is not None and found["gap"] == 0 and fine
        if found is not None:
            claim("sentences merged to 300 variables, proven", found["cpu"], at_most=1)
        found = measure(sys.executable, "tallystick_large", (*files, "1000", "10"), 1)
        fine = found is not None and fine
        if found is not None:
            claim("sentences merged to 1,000 variables, 10 s: bounds apart by", 100 * found["gap"], "%", at_most=1)
    return fine


TASKS = {name: value for name, value in globals().items() if name.startswith(("tallystick_", "smatch", "metametric_"))}


def measure(python: str, task: str, files: tuple[str, ...], repeat: int) -> dict | None:
    """The fastest of some fresh processes; None for a peer that is not installed."""
    best: dict | None = None
    for _ in range(repeat):
        done, _ = _run([python, __file__, "--task", task, *files])
        if done.returncode:
            if "ModuleNotFoundError" not in done.stderr:
                print(done.stderr[-2000:], file=sys.stderr)
            return None
        found = json.loads(done.stdout.splitlines()[-1])
        if best is None or found["cpu"] < best["cpu"]:
            best = found
    return best


def measure_command(command: list[str], repeat: int) -> float | None:
    """All CPU seconds of a command, from start to end; once more than asked for, so that its modules are compiled."""
    times = []
    for _ in range(repeat + 1):
        done, seconds = _run(command)
        if done.returncode:
            return None
        times.append(seconds)
    return min(times)


def _run(command: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    environment = {**os.environ, **ALIKE, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their modules compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shortfall(optimum: list[float], found: list[float]) -> str:
    """How often and how far matching triples stay below the proven optimum."""
    below = [a - b for a, b in zip(optimum, found, strict=True) if a - b > 1e-6]
    return f"{len(below)} pairs short, {sum(below):.0f} triples" if below else "never short"


def row(label: str, found: dict | None, ours: dict | None, optimum: list[float] | None) -> None:
    if found is None:
        print(f"  {label:34} not installed or failed")
        return
    ratio = f"{found['cpu'] / ours['cpu']:7.1f} x" if ours and found is not ours else "         "
    value = f"F1 {100 * found['f1']:.4f}" if found.get("f1") is not None else f"{sum(found['matched']):.4f}"
    short = shortfall(optimum, found["matched"]) if optimum is not None else ""
    print(f"  {label:34} {found['cpu']:9.3f} s {ratio}  {value:14}  {short}", flush=True)


def corpus_rows(corpus: str, files: tuple[str, ...], peers: str, repeat: int) -> bool:
    """One corpus: from files without imports, and as whole commands; True if all is proven and nobody is better."""
    print(f"\n{corpus}: CPU seconds from files, imports left out; times tallystick's")
    ours = measure(sys.executable, "tallystick_graphs", files, repeat)
    if ours is None:
        return False
    optimum = ours["matched"]
    row(f"tallystick ({ours['proven']} of {len(optimum)} proven)", ours, ours, optimum)
    smatch = measure(peers, "smatch_graphs", files, repeat)
    row("smatch, 4 restarts", smatch, ours, optimum)
    row("smatchpp ILP, its own counting", measure(peers, "smatchpp_graphs", files, repeat), ours, None)
    fine = ours["proven"] == len(optimum)
    if smatch is not None:
        fine = fine and all(a >= b for a, b in zip(optimum, smatch["matched"], strict=True))
    if corpus == "little prince":
        print(f"  the first {FIRST} pairs, scoring alone")
        first = measure(sys.executable, "tallystick_first", files, repeat)
        best = first["matched"] if first else None
        row("tallystick", first, first, best)
        theirs = measure(peers, "metametric_first", files, repeat)
        row("metametric", theirs, first, best)
        if theirs is not None and best is not None:
            fine = fine and all(abs(a - b) < 1e-6 for a, b in zip(best, theirs["matched"], strict=True))
    gold, system = files
    whole = measure_command(
        [sys.executable, "-m", "tallystick", "score", "amr", gold, system, "--preset", "smatch"], repeat
    )
    theirs_whole = measure_command([peers, "-m", "smatch", "-f", system, gold], repeat)
    print("  whole commands")
    if whole is None:
        return False
    print(f"  {'tallystick score amr':34} {whole:9.3f} s")
    if corpus == "little prince":
        claim("`score amr` of the Little Prince, whole command", whole, at_most=0.5)
    if theirs_whole is not None:
        print(f"  {'smatch.py -f':34} {theirs_whole:9.3f} s {theirs_whole / whole:7.1f} x", flush=True)
    return fine


def run(*, repeat: int = 1, quick: bool = False, peers: str = sys.executable, data: Path = DATA) -> bool:
    """All of it; True unless a score is unproven, or somebody finds a better one."""
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        large = None
        if not data.is_dir():
            print(f"{data} is not here: no corpora")
        for corpus, names in CORPORA.items() if data.is_dir() else ():
            files = tuple(str(Path(folder) / f"{name}.amr") for name in names)
            for name, target in zip(names, files, strict=True):
                text = gzip.decompress((data / f"{name}.amr.gz").read_bytes()).decode()
                blocks = [block for block in text.split("\n\n") if "(" in block]
                Path(target).write_text("\n\n".join(blocks[: len(blocks) // 10] if quick else blocks) + "\n")
            fine = corpus_rows(corpus, files, peers, repeat) and fine
            large = files
        fine = large_rows(large, quick) and fine
    print("\nsequences: CPU seconds, imports left out")
    exact = measure(sys.executable, "tallystick_exact", (), repeat)
    row("5,000 x 5,000 exact, alignment", exact, exact, None)
    ours = measure(sys.executable, "tallystick_text", (), repeat)
    row("500 x 500 text, alignment", ours, ours, None)
    theirs = measure(peers, "metametric_text", (), repeat)
    row("metametric, no alignment", theirs, ours, None)
    if ours is not None and theirs is not None:
        fine = fine and abs(ours["matched"][0] - theirs["matched"][0]) < 1e-6
    return fine and exact is not None and ours is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, help="the Python that has the peers")
    parser.add_argument("--data", default=str(DATA))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the graphs")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        name, *files = chosen.task
        print(json.dumps(TASKS[name](*files)))
        return 0
    return int(not run(repeat=chosen.repeat, quick=chosen.quick, peers=chosen.peers, data=Path(chosen.data)))


if __name__ == "__main__":
    sys.exit(main())
