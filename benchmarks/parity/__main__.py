"""`python -m benchmarks.parity`: what `make parity` runs.

python -m benchmarks.parity fetch [--base URL|FOLDER] [--only NAME ...]     the scorers and the data of sources.toml, into .parity
python -m benchmarks.parity record [TASK ...]                               the peers on the made inputs, into tests/parity/made
python -m benchmarks.parity check                                           the peers again, and tallystick, against what was recorded
python -m benchmarks.parity table [--data DIR]                              tests/parity with the data, a row for each file of tests
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

from benchmarks.parity.fetch import BASE, fetch
from benchmarks.parity.made import CASES, draw
from benchmarks.parity.peers import PEERS

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".parity"
MADE = ROOT / "tests" / "parity" / "made"
TESTS = ROOT / "tests" / "parity"


def record(tasks: list[str], peers: Path) -> None:
    """Ask the peers, and keep what they answer."""
    for task in tasks or PEERS:
        name, ask = PEERS[task]
        cases = [
            {"reference": gold, "predicted": system, "expected": ask(gold, system, peers)}
            for gold, system in draw(task)
        ]
        about = f"Inputs drawn by benchmarks/parity/made.py, figures of the peer itself, by `python -m benchmarks.parity record {task}`."
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        (MADE / f"{task}.json").write_text(
            f'{{"task": "{task}", "peer": "{name}", "about": "{about}", "cases": [\n{lines}\n]}}\n'
        )
        print(f"{task}: {len(cases)} cases by {name}")


def check(peers: Path) -> int:
    """Every peer that is there, again on the recorded inputs: does it still answer as recorded? And do we?"""
    from benchmarks.parity.ours import differences

    wrong = 0
    print("| task | peer | figures | the peer, now | tallystick |\n|---|---|---|---|---|")
    for file in sorted(MADE.glob("*.json")):
        made = json.loads(file.read_text(encoding="utf-8"))
        task, (name, ask) = made["task"], PEERS[made["task"]]
        count = sum(len(figures) for case in made["cases"] for figures in case["expected"].values())
        ours = [
            line
            for case in made["cases"]
            for line in differences(task, case["reference"], case["predicted"], case["expected"], 1e-6)
        ]
        try:
            changed = sum(
                ask(case["reference"], case["predicted"], peers) != case["expected"] for case in made["cases"]
            )
            peer = "the same" if not changed else f"{changed} of {CASES} cases differ"
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            changed, peer = 0, f"not here ({type(error).__name__})"
        wrong += changed + len(ours)
        print(
            f"| {task} | {name} | {count} | {peer} | {'the same' if not ours else f'{len(ours)} differ'} |", flush=True
        )
        print(*(f"    {line}" for line in ours[:5]), sep="\n", end="\n" if ours else "")
    return bool(wrong)


def table(data: Path) -> int:
    """The tests against other people's figures, with the data in this folder."""
    report = HOME / "parity.xml"
    report.parent.mkdir(exist_ok=True)
    environment = {**os.environ, "TALLYSTICK_DATA": str(data.resolve())}
    command = [sys.executable, "-m", "pytest", str(TESTS), "-q", f"--junitxml={report}"]
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL).returncode
    rows: dict[str, list[int]] = {}
    for case in tree.parse(report).getroot().iter("testcase"):
        row = rows.setdefault(case.get("classname", "").rsplit(".", 1)[-1], [0, 0, 0])
        kinds = {child.tag for child in case}
        row[2 if kinds & {"failure", "error"} else 1 if "skipped" in kinds else 0] += 1
    print("| tests | what is compared | passed | without their data | failed |\n|---|---|---|---|---|")
    for name, counts in sorted(rows.items()):
        about = (ast.get_docstring(ast.parse((TESTS / f"{name}.py").read_text(encoding="utf-8"))) or "").split("\n\n")[
            0
        ]
        print(f"| {name} | {' '.join(about.split())} | {' | '.join(map(str, counts))} |")
    return code


def main() -> int:
    """The commands."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.parity", description="Other people's figures: fetch, record, check, table."
    )
    parser.add_argument("command", choices=("fetch", "record", "check", "table"))
    parser.add_argument("names", nargs="*", help="tasks to record")
    parser.add_argument(
        "--base", default=os.environ.get("PARITY_BASE", BASE), help="another server, or a folder with the repositories"
    )
    parser.add_argument("--only", action="append", default=[], help="a source of sources.toml; may be repeated")
    parser.add_argument("--data", type=Path, default=HOME / "data", help="the folder with the data")
    parser.add_argument("--peers", type=Path, default=HOME / "peers", help="the folder with the scorers' files")
    asked = parser.parse_args()
    if asked.command == "fetch":
        return not fetch(HOME, asked.base, tuple(asked.only))
    if asked.command == "record":
        record(asked.names, asked.peers)
        return 0
    return check(asked.peers) if asked.command == "check" else table(asked.data)


if __name__ == "__main__":
    sys.exit(main())
