"""Run benchmarks by name: `python -m benchmarks [--repeat N] [--quick] [--json FILE] [--write PAGE] [name ...]`."""

import argparse
import importlib
import json
import re
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import KEPT
from benchmarks.page import page, surroundings

NAMES = tuple(
    sorted(
        one.stem
        for one in Path(__file__).parent.glob("*.py")
        if re.search(r"^def run\(.*\brepeat\b", one.read_text("utf-8"), re.M)
    )
)
"""The modules with a function `run(repeat=..., quick=...)`."""
SIMULATIONS = ("acceleration", "coverage", "fields")
"""Those that measure how often an interval or a test is right, over thousands of corpora: they say nothing about speed, and run by name."""


def main() -> int:
    """Run them one after the other; 1 if a contender broke, figures differ, or a claim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; default: all but {', '.join(SIMULATIONS)}"
    )
    parser.add_argument("--repeat", type=int, default=1, help="processes for each contender; the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size; claims are stated for the full one")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep what was measured (benchmarks/page.py reads it)"
    )
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="write the page on speed from this run of all of them"
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown or options.repeat < 1:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are {', '.join(NAMES)}" if unknown else "--repeat < 1")
    if options.write and (options.names or options.quick):
        parser.error("--write needs a full run of all benchmarks")
    run: dict[str, Any] = {**surroundings(), "quick": options.quick, "benchmarks": {}}
    wrong = []
    for name in options.names or [name for name in NAMES if name not in SIMULATIONS]:
        KEPT.tables.clear()
        KEPT.claims.clear()
        try:
            if not importlib.import_module(f"benchmarks.{name}").run(repeat=options.repeat, quick=options.quick):
                wrong.append(f"{name}: something broke, or figures differ")
        except Exception:
            traceback.print_exc()
            wrong.append(f"{name}: it broke")
        wrong += [f"{name}: {one}" for one in KEPT.claims if not one.held]
        run["benchmarks"][name] = {"tables": list(KEPT.tables), "claims": [asdict(one) for one in KEPT.claims]}
        if options.json:
            options.json.write_text(json.dumps(run, indent=1), encoding="utf-8")
    if options.write:
        options.write.write_text(page(run, options.write.read_text(encoding="utf-8")), encoding="utf-8")
    print(
        "\n" + ("\n".join(("WRONG OR MISSED:", *wrong)) if wrong else "Everything is equal, and every claim is held.")
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
