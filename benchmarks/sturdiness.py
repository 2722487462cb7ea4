"""Adversarial sizes: each ends in a result or in a clear error, within the CPU time and the memory that `docs/robustness.md` states.

Every case is a command of its own, run as a user runs it. One that takes longer, needs more, ends in another way or says
something else than expected is a failure.
"""

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, show

Make = Callable[[Path, int], list[str]]
"""Writes the input into a folder, at a size, and says what to run."""

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


@dataclass(frozen=True)
class Case:
    """An input, its size, the bounds, and what has to come out: part of a result, or of an error's message."""

    name: str
    make: Make
    size: int
    says: str
    seconds: float
    megabytes: int
    code: int = 2


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    said: str
    seconds: float
    megabytes: float


def written(folder: Path, name: str, content: str | bytes) -> str:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(file)


def twice(task: str, name: str, content: Callable[[int], str | bytes], *options: str) -> Make:
    """A file against itself."""

    def make(folder: Path, size: int) -> list[str]:
        file = written(folder, name, content(size))
        return ["score", task, file, file, *options]

    return make


def lists(*options: str) -> Make:
    """Two lists of texts, most of which are on one side only."""

    def make(folder: Path, size: int) -> list[str]:
        chance = random.Random(0)
        sides = []
        for name in ("gold.jsonl", "system.jsonl"):
            items = [f"{' '.join(chance.choices(WORDS, k=3))} {k}" for k in range(size)]
            sides.append(written(folder, name, json.dumps({"id": 1, "items": items}) + "\n"))
        return ["score", "records", *sides, *options]

    return make


def schema(folder: Path, size: int) -> list[str]:
    file = written(folder, "gold.jsonl", '{"a": 1}\n')
    deep = '{"type": "object", "properties": {"a": ' * size + '{"type": "string"}' + "}}" * size
    return ["score", "records", file, file, "--schema", written(folder, "deep.schema.json", deep)]


def choices(folder: Path, size: int) -> list[str]:
    file = written(folder, "gold.jsonl", '{"a": 1}\n')
    return ["score", "records", file, file, "--choices", written(folder, "deep.yaml", "[" * size)]


def expression(folder: Path, size: int) -> list[str]:
    file = written(folder, "gold.jsonl", '{"a": 1}\n')
    return ["score", "records", file, file, "--metric", "match(" * size + "exact" + ")" * size]


def answers(folder: Path, size: int) -> list[str]:
    """A language model that opens brackets and never closes them."""
    gold = written(folder, "gold.jsonl", '{"id": 1, "a": 1}\n')
    said = written(folder, "system.jsonl", json.dumps({"id": 1, "output": 'Here: {"a": ' * size}) + "\n")
    return ["score", "records", gold, said, "--from", "output", "--lenient"]


def bomb(folder: Path, size: int) -> list[str]:
    file = folder / "bomb.jsonl.gz"
    with gzip.open(file, "wb", compresslevel=9) as stream:
        for _ in range(size >> 20):
            stream.write(b"0" * (1 << 20))
    return ["score", "records", str(file), str(file)]


def bomb_of_text(folder: Path, size: int) -> list[str]:
    _, _, file, _ = bomb(folder, size)
    return ["score", "amr", file, file]


def brackets(size: int) -> str:
    opened = "".join(f"d\t0\t{k}\tw\t({k}\n" for k in range(size))
    closed = "".join(f"d\t0\t{size + k}\tw\t{size - 1 - k})\n" for k in range(size))
    return f"#begin document x\n{opened}{closed}\n#end document\n"


def chain(size: int) -> str:
    rows = (f"{k}\tw\tw\tX\t_\t_\t{k - 1}\t{'root' if k == 1 else 'dep'}\t_\t_\n" for k in range(1, size + 1))
    return "".join(rows) + "\n"


def device(folder: Path, size: int) -> list[str]:
    return ["score", "spans", "/dev/zero", "/dev/zero"]


ONE = "\t1.0\t"
CASES = (
    Case("100,000 items in a list, exact", lists(), 100_000, "of predicted", 10, 500, 0),
    Case("100,000 items in a list, by Levenshtein", lists("--metric", 'f1(each(items=match(text("levenshtein"))))'), 100_000,
         "10,000,000,000 pairs of items would have to be compared at once", 10, 500),
    Case("4,000 items in a list, by Levenshtein", lists("--metric", 'f1(each(items=match(text("levenshtein"))))'), 4_000, "of predicted", 60, 3600, 0),
    Case("objects in each other", twice("records", "deep.jsonl", lambda n: '{"a":' * n + "1" + "}" * n), 10_000, "is nested too deeply", 5, 300),
    Case("lists in each other", twice("records", "deep.jsonl", lambda n: "[" * n + "]" * n), 10_000, "is nested too deeply", 5, 300),
    Case("objects in each other, in a file of events", twice("events", "deep.jsonl", lambda n: '{"a":' * n + "1" + "}" * n), 10_000,
         "is nested too deeply", 5, 300),
    Case("schemas in each other", schema, 10_000, "is nested too deeply", 5, 300),
    Case("lists in each other in YAML", choices, 10_000, "is nested too deeply", 10, 300),
    Case("similarities in each other", expression, 10_000, "nested more than 100 deep", 5, 300),
    Case("brackets that a model never closes", answers, 10_000, "repaired: 1 prediction (text around the JSON 1, cut off 1)", 10, 300, 0),
    Case("nodes of a graph in each other", twice("amr", "deep.amr", lambda n: "".join(f"(a{k} / b :c " for k in range(n)) + "x" + ")" * n),
         10_000, ONE, 10, 500, 0),
    Case("nodes of a tree in each other", twice("hierarchies", "deep.newick", lambda n: "".join(f"(a{k}" for k in range(n)) + ")" * n),
         10_000, ONE, 15, 500, 0),
    Case("mentions in each other", twice("coreference", "deep.conll", brackets), 10_000, ONE, 10, 500, 0),
    Case("words below each other", twice("dependencies", "deep.conllu", chain), 10_000, ONE, 10, 500, 0),
    Case("a line of 100 MB, as a record", twice("records", "long.jsonl", lambda n: json.dumps({"id": 1, "text": "x" * n})), 100_000_000, ONE, 20, 1200, 0),
    Case("a line of 100 MB, as spans", twice("spans", "long.jsonl", lambda n: json.dumps({"text": "x" * n, "spans": [[0, n, "A"]]})),
         100_000_000, ONE, 60, 2500, 0),
    Case("a line of 100 MB that is no JSON", twice("records", "long.jsonl", lambda n: "x" * n), 100_000_000, "is not JSON", 20, 1200),
    Case("a line of 100 MB in a column file", twice("spans", "long.iob", lambda n: "x" * n), 100_000_000, "a field is longer than 1,048,576 bytes", 20, 2500),
    Case("4 GB of zeros, packed, as records", bomb, 4 << 30, "unpacks to more than 100 times its size", 20, 1500),
    Case("4 GB of zeros, packed, as graphs", bomb_of_text, 4 << 30, "unpacks to more than 100 times its size", 20, 1500),
    Case("a number of 1,000,000 digits", twice("records", "a.jsonl", lambda n: '{"a": ' + "9" * n + "}"), 1_000_000, "out of range", 5, 300),
    Case("the same as an offset", twice("relations", "a.ann", lambda n: "T1\tA 0 " + "9" * n + "\tx\n"), 1_000_000, "expected `Type start end", 5, 300),
    Case("an exponent of 999,999,999", twice("records", "a.jsonl", lambda n: '{"a": 1e999999999}'), 1, "out of range", 5, 300),
    Case("a device that never ends", device, 1, "is a device, expected a file", 5, 300),
)  # fmt: skip


def prepare() -> None:
    """Make the input of a case, and print what to run."""
    number, folder, size = sys.argv[1:]
    print(json.dumps(CASES[int(number)].make(Path(folder), int(size))))


def watch() -> None:
    """Run a command with a limit of wall time, its output to a file; print its exit code, CPU time and peak memory."""
    output, patience, *arguments = sys.argv[1:]
    with open(output, "wb") as stream:
        child = subprocess.Popen(
            [sys.executable, "-m", "tallystick", *arguments], stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
        until = time.monotonic() + float(patience)
        while True:  # not Popen.wait: the resources of this one child are asked for
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                child.kill()
            time.sleep(0.02)
        child.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps([child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))


def elsewhere(function: str, *arguments: object) -> Any:
    """What a function of this module prints, in a small process of its own.

    A child's peak is never below what its parent holds: whoever starts the command to be measured must be small.
    """
    code = f"from benchmarks.sturdiness import {function}; {function}()"
    asked = [sys.executable, "-c", code, *map(str, arguments)]
    return json.loads(subprocess.run(asked, check=True, capture_output=True, cwd=ROOT).stdout)


def attempt(case: Case, size: int) -> Outcome:
    """Run a case as a user does."""
    with tempfile.TemporaryDirectory(prefix="sturdiness-") as folder:
        arguments = elsewhere("prepare", CASES.index(case), folder, size)
        output = Path(folder) / "output"
        code, seconds, megabytes = elsewhere("watch", output, 20 * case.seconds + 60, *arguments)
        return Outcome(code, output.read_text(encoding="utf-8", errors="replace"), seconds, megabytes)


def failure(case: Case, outcome: Outcome) -> str:
    """What is wrong with an outcome, or nothing."""
    if outcome.code != case.code or case.says not in outcome.said:
        return f"ended with {outcome.code}: {outcome.said.strip()[-200:]}"
    if "Traceback" in outcome.said or "Internal error" in outcome.said:
        return "a traceback"
    if outcome.seconds > case.seconds:
        return f"{outcome.seconds:.1f} s of CPU time, more than {case.seconds:g}"
    if outcome.megabytes > case.megabytes:
        return f"{outcome.megabytes:,.0f} MB, more than {case.megabytes:,}"
    return ""


def run(repeat: int = 1, quick: bool = False) -> bool:
    """All cases, one after the other."""
    table = [["", "size", "CPU s", "at most", "peak MB", "at most", "ends in"]]
    fine = True
    for case in CASES:
        size = max(1, case.size // 10) if quick else case.size
        outcome = attempt(case, size)
        # A tenth of a size may end in a result where the whole does not.
        wrong = failure(case, outcome) if not quick else ""
        fine = fine and not wrong
        ends = ("a result" if outcome.code == 0 else "an error") if not wrong else f"FAILED: {wrong}"
        table.append(
            [case.name, f"{size:,}", f"{outcome.seconds:.1f}", f"{case.seconds:g}", f"{outcome.megabytes:,.0f}", f"{case.megabytes:,}", ends]
        )  # fmt: skip
    show("Adversarial sizes: CPU time and peak memory of a whole command, the interpreter included.", table)
    return fine
