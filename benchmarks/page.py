"""The page on speed, written from what a run of the benchmarks printed and from nothing else.

    python -m benchmarks --json run.json            measures, and keeps the run
    python -m benchmarks.page run.json docs/speed.md

The text of the page before `MARK` stays as it is; everything after it is made anew.
"""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.measure import Claim, number

MARK = "<!-- From here on written by `python -m benchmarks.page`. -->"
NAMED = (
    "numpy", "scipy", "lapx", "rapidfuzz", "msgspec", "highspy", "pyarrow", "metametric", "stickler-eval", "anls_star", "autoevals",
    "deepdiff", "seqeval", "nervaluate", "udtools", "scorch", "smatch", "smatchpp", "apted",
)  # fmt: skip
"""What tallystick computes with, and its peers."""


def surroundings() -> dict[str, Any]:
    """What a run ran on: the machine, Python, and the versions of what was measured."""
    found = {one.metadata["Name"].lower(): one.version for one in metadata.distributions()}
    versions = {name: found[name] for name in NAMED if name in found}
    cores = os.cpu_count()
    return {"python": platform.python_version(), "machine": platform.machine(), "cores": cores, "versions": versions}


def page(run: Mapping[str, Any], opening: str) -> str:
    """The page: what it opens with, what was claimed, and the tables of each benchmark."""
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    parts = [
        opening.split(MARK)[0].rstrip(), "", MARK, "",
        f"Measured with Python {run['python']} on {run['cores']} shared cores ({run['machine']}); {versions}.", "",
    ]  # fmt: skip
    if run.get("quick"):
        parts += ["**A tenth of the size: these are not the figures of a full run.**", ""]
    for name, kept in run["benchmarks"].items():
        if not kept["claims"] and not kept["tables"]:
            continue
        parts += [f"## {name}", "", f"`python -m benchmarks {name}`", ""]
        claims = [Claim(**one) for one in kept["claims"]]
        if claims:
            rows = [[one.what, f"{number(one.value)} {one.unit}", one.compared, _verdict(one)] for one in claims]
            parts += [*_markdown([["", "tallystick", "compared with", "claim"], *rows]), ""]
        for title, table in kept["tables"]:
            cut = -1 if table[0][-1].startswith(("figures", "F1")) else None
            parts += [f"{title.splitlines()[0]}:", "", *_markdown([line[:cut] for line in table]), ""]
    return "\n".join(parts).rstrip() + "\n"


def _verdict(one: Claim) -> str:
    return f"{one.promise}: {'held' if one.held else '**missed**'}" if one.promise else ""


def _markdown(table: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(cell.strip().replace("|", "\\|") for cell in line) + " |" for line in table]
    return [lines[0], "|" + "---|" * len(table[0]), *lines[1:]]


def main() -> int:
    kept, target = sys.argv[1:]
    path = Path(target)
    opening = path.read_text(encoding="utf-8") if path.exists() else "# Speed\n"
    path.write_text(page(json.loads(Path(kept).read_text(encoding="utf-8")), opening), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
