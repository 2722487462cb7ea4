"""Run the fuzzers: `python -m fuzzing [TARGET...] --minutes M`. Exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzzing.targets import READERS, TARGETS


def main() -> int:
    """Each target in a process of its own, a few at a time; then a table of all that the folder knows."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--minutes", type=float, default=1.0, help="for each reader, shared by its targets")
    parser.add_argument("--cpu", action="store_true", help="minutes are CPU time, not wall time")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument(
        "--out", type=Path, default=Path(".fuzzing"), help="corpus, findings and summaries (default: .fuzzing)"
    )
    parser.add_argument("--report", action="store_true", help="only print the table of earlier runs")
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    if not options.report:
        if importlib.util.find_spec("atheris") is None:
            parser.error("needs atheris: pip install tallystick[fuzz]")
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda name: run(name, options), options.targets or list(TARGETS)))
    return report(options.out)


def run(name: str, options: argparse.Namespace) -> None:
    """One target; a process that dies is a finding too."""
    folder: Path = options.out / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "fuzzing.guided",
        name,
        "--seconds",
        str(60 * options.minutes / next(len(names) for names in READERS.values() if name in names)),
        "--out",
        str(options.out),
    ]
    began = time.monotonic()
    with open(folder / "log.txt", "wb") as log:
        code = subprocess.run(
            [*command, "--clock", "cpu" if options.cpu else "wall"], stdout=log, stderr=log, check=False
        ).returncode
    if not (folder / "summary.json").exists():
        known = (
            json.loads((folder / "running.json").read_text())
            if (folder / "running.json").exists()
            else {"executions": 0, "cpu": 0.0, "findings": []}
        )
        died = {
            "key": f"the process ended with {code}",
            "message": (folder / "log.txt").read_text(errors="replace")[-2000:],
            "file": "log",
        }
        known = {
            "target": name,
            "accepted": 0,
            **known,
            "wall": round(time.monotonic() - began, 1),
            "findings": [*known["findings"], died],
        }
        (folder / "summary.json").write_text(json.dumps(known, indent=1))
    print(f"{name}: {json.loads((folder / 'summary.json').read_text())['executions']:,} executions", flush=True)


def report(out: Path) -> int:
    """The table of `docs/robustness.md`."""
    found = 0
    print(
        "\n| readers | targets, with their executions | CPU minutes | executions | read to the end | kinds of finding |\n|---|---|---|---|---|---|"
    )
    for reader, names in READERS.items():
        files = [out / name / "summary.json" for name in names]
        known = [json.loads(file.read_text()) for file in files if file.exists()]
        if not known:
            continue
        findings = sum(len(one["findings"]) for one in known)
        cpu, executions, accepted = (sum(one[what] for one in known) for what in ("cpu", "executions", "accepted"))
        targets = ", ".join(f"{one['target']} {one['executions']:,}" for one in known)
        print(f"| {reader} | {targets} | {cpu / 60:.1f} | {executions:,} | {accepted:,} | {findings} |")
        found += findings
    for name in TARGETS:
        file = out / name / "summary.json"
        for one in json.loads(file.read_text())["findings"] if file.exists() else ():
            print(f"{name}: {one['key']} ({out / name / one['file']}.input)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
