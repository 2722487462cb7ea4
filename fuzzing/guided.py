"""One target under atheris, in a process of its own: `python -m fuzzing.guided TARGET --seconds S --out FOLDER`.

What gives way is kept and the search goes on, so that one finding does not hide the others. The folder gets the corpus (every
input that reached something new), the findings, and a summary as JSON.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import random
import sys
import time
from pathlib import Path
from typing import Any

import atheris

PURE = ["tallystick", "json_repair", "yaml"]
"""What is instrumented: the project, and the parsers that are Python."""


def load() -> None:
    """Import every module of the project now, so that those that are imported late are instrumented too."""
    with atheris.instrument_imports(include=PURE):
        import json_repair  # noqa: F401
        import yaml  # noqa: F401

        import tallystick

        for module in pkgutil.walk_packages(tallystick.__path__, "tallystick."):
            if not module.name.startswith(("tallystick.adapters", "tallystick.__main__", "tallystick.engine._native")):
                importlib.import_module(module.name)


def main() -> None:
    """Fuzz until the time is over."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing.guided", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    sys.setrecursionlimit(1000)
    load()
    from fuzzing.mutation import mutated
    from fuzzing.targets import TARGETS
    from fuzzing.trying import LONGEST, Attempts, limit_memory

    target = TARGETS[options.target]
    folder: Path = options.out / target.name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for k, seed in enumerate(target.seeds):
        (corpus / f"seed{k}").write_bytes(seed)
    words = folder / "words.dict"
    words.write_text(
        "".join(
            '"' + "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "replace")) + '"\n' for word in target.words
        )
    )
    attempts = Attempts(target)
    clock = time.monotonic if options.clock == "wall" else time.process_time
    began, began_cpu = time.monotonic(), time.process_time()
    until = clock() + options.seconds
    found: dict[str, dict[str, Any]] = {}
    executions = 0

    def finish() -> None:
        attempts.close()
        summary = {
            "target": target.name, "executions": executions, "accepted": attempts.accepted,
            "wall": round(time.monotonic() - began, 1), "cpu": round(time.process_time() - began_cpu, 1),
            "findings": list(found.values()),
        }  # fmt: skip
        (folder / "summary.json").write_text(json.dumps(summary, indent=1))

    def one(data: bytes) -> None:
        nonlocal executions
        executions += 1
        finding = attempts.attempt(data)
        if finding is not None and finding.key not in found:
            found[finding.key] = {"key": finding.key, "message": finding.message, "file": finding.name}
            (folder / f"{finding.name}.input").write_bytes(finding.data)
            (folder / f"{finding.name}.txt").write_text(
                f"{finding.key}\n\n{finding.message}", errors="backslashreplace"
            )
            print(f"{target.name}: {finding.key}", file=sys.stderr, flush=True)
        if executions % 2000 == 0:
            finish_quietly()
        if clock() > until:
            finish()
            os._exit(0)

    def finish_quietly() -> None:
        summary = {
            "target": target.name,
            "executions": executions,
            "cpu": round(time.process_time() - began_cpu, 1),
            "findings": list(found.values()),
        }
        (folder / "running.json").write_text(json.dumps(summary, indent=1))

    def mutator(data: bytes, longest: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.3:
            return bytes(atheris.Mutate(data, longest))
        for _ in range(chance.randint(1, 3)):
            data = mutated(data, chance, target.words, as_json=target.is_json)
        return data[:longest]

    limit_memory()
    arguments = [sys.argv[0], *([f"-dict={words}"] if target.words else []), f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=0", "-print_final_stats=1",
                 f"-artifact_prefix={folder}/", "-verbosity=0", "-len_control=0", str(corpus)]  # fmt: skip
    atheris.Setup(arguments, one, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
