"""`tallystick score coreference`, the whole command in a fresh process, all eight metrics (issue 3, Must show 4 and 5).

The floor reads both files and splits every line:

    for file in (key, response):
        for line in open(file): line.split()

Times are CPU seconds of the process, start-up and imports included; memory is its peak. scorch and metametric score
what the files hold, converted beforehand. scorch's command adds twinless mentions to the gold and averages over
documents, metametric averages over documents and has MUC, B³ and CEAF-e only: their figures are not comparable.
"""

import gzip
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.measure import ROOT, Run, claim, launch, show

DATA = ROOT.parent / "shared" / "data" / "coreference"
METRICS = ("mentions", "muc", "b3", "ceaf_m", "ceaf_e", "blanc", "lea", "conll")
LITBANK = (84.4901, 79.3212, 69.9542, 77.3650, 73.9170, 69.2310, 64.5332, 74.3975)
PEER_FIGURE = re.compile(
    r"(MUC|B³|CEAF_m|CEAF_e|BLANC):.*F₁=([\d.]+)|'(muc|b_cubed|ceaf_phi4)-f1': (?:np\.float64\()?([\d.]+)"
)
PEER_NAMES = {
    "MUC": "muc", "B³": "b3", "CEAF_m": "ceaf_m", "CEAF_e": "ceaf_e", "BLANC": "blanc", "b_cubed": "b3", "ceaf_phi4": "ceaf_e",
}  # fmt: skip
PATIENCE = 120
"""So many CPU seconds a peer has."""

FLOOR = """
import sys
for file in sys.argv[1:3]:
    for line in open(file): line.split()
"""
SCORCH = "from scorch.main import main_entry_point; main_entry_point()"
METAMETRIC = """
import json, pathlib, sys
from metametric.metrics.coref import coref_suite
from metametric.structures.ie import Entity, EntitySet, Mention
def read(path):
    clusters = json.loads(path.read_text())["clusters"].values()
    return EntitySet([Entity([Mention(*map(int, m.split("-"))) for m in cluster]) for cluster in clusters])
gold, system = (sorted(pathlib.Path(folder).iterdir()) for folder in sys.argv[1:3])
suite = coref_suite.new()
for ours, theirs in zip(gold, system):
    suite.update_single(read(theirs), read(ours))
print(suite.compute())
"""


@dataclass(frozen=True)
class Limit:
    """What is promised: seconds, or times the floor; and the memory."""

    seconds: float | None = None
    times: float | None = None
    megabytes: float | None = None


def command(key: str, response: str, *options: str) -> list[str]:
    return ["-m", "tallystick", "score", "coreference", key, response, "--format", "json", *options]


def figures(run: Run) -> list[float]:
    """F1 in percent of each metric."""
    found = json.loads(run.output)["metrics"]
    return [round(100 * found[name]["f1"], 4) for name in METRICS]


class Table:
    """Rows as they are measured; `fine` turns False if something broke or figures are wrong."""

    def __init__(self) -> None:
        self.rows = [["", "CPU s", "floor", "x floor", "peak MB", "F1 in percent, or what went wrong"]]
        self.fine = True

    def tallystick(self, title: str, key: str, response: str, limit: Limit, repeat: int) -> list[float] | None:
        floor, run = launch(["-c", FLOOR, key, response], repeat=repeat), launch(command(key, response), repeat=repeat)
        if run.problem:
            self.fine = False
            self.rows.append([title, "-", "", "", "", f"BROKE: {run.problem}"])
            return None
        values = figures(run)
        self.add(title, run, floor, "  ".join(f"{value:.4f}" for value in values))
        against = {"splitting the lines": floor.cpu}
        claim(f"`score coreference`, {title}", run.cpu, at_most=limit.seconds, against=against, times=limit.times)
        if limit.megabytes:
            claim(f"`score coreference`, {title}: memory", run.peak, "MB", at_most=limit.megabytes)
        return values

    def matchings(self, title: str, key: str, response: str, repeat: int) -> None:
        """CorefUD's ways to match mentions, as multiples of the exact one."""
        exact = launch(command(key, response, "--zeros", "linear"), repeat=repeat)
        for how, times in (("exact", 1.5), ("head", 1.5), ("partial", 1.5)):
            run = launch(command(key, response, "--mentions", how), repeat=repeat)
            if broke := run.problem or exact.problem:
                self.fine = False
                self.rows.append([f"{title}, --mentions {how}", "-", "", "", "", f"BROKE: {broke}"])
                continue
            said = "  ".join(f"{value:.4f}" for value in figures(run))
            self.add(f"{title}, --mentions {how}", run, exact, said)
            against = {"`--zeros linear`": exact.cpu}
            claim(f"`score coreference --mentions {how}`, {title}", run.cpu, against=against, times=times)

    def add(self, title: str, run: Run, floor: Run, said: str) -> None:
        ratio = f"{run.cpu / floor.cpu:.2f}"
        self.rows.append([title, f"{run.cpu:.2f}", f"{floor.cpu:.2f}", ratio, f"{run.peak:,.0f}", said])

    def peer(self, title: str, run: Run, equal_to: Mapping[str, float]) -> None:
        """A row; figures that have the names of `equal_to` must have its values."""
        pairs = [(one or other, first or second) for one, first, other, second in PEER_FIGURE.findall(run.output)]
        found = {PEER_NAMES.get(name, name): round(100 * float(value), 4) for name, value in pairs}
        said = run.problem or "  ".join(f"{name} {value:.4f}" for name, value in found.items())
        if wrong := [name for name in found.keys() & equal_to if found[name] != equal_to[name]]:
            self.fine = False
            said = f"DIFFERS in {', '.join(wrong)}: {said}"
        self.rows.append([title, f"{run.cpu:.2f}", "", "", f"{run.peak:,.0f}", said])


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and litbank has the figures that it should."""
    table = Table()
    repeat = max(repeat, 3)
    with tempfile.TemporaryDirectory() as folder:

        def files(name: str) -> tuple[str, str]:
            return f"{folder}/{name}.key", f"{folder}/{name}.response"

        def made(name: str, write: str, *arguments: int) -> tuple[str, str]:
            code = f"import sys; from benchmarks.coreference_data import {write}; {write}(*sys.argv[1:3], *map(int, sys.argv[3:]))"
            problem = launch(["-c", code, *files(name), *map(str, arguments)]).problem
            if problem:
                raise RuntimeError(f"{write} failed: {problem}")
            return files(name)

        if DATA.exists():
            for side, path in zip(("key", "response"), files("litbank"), strict=True):
                Path(path).write_bytes(gzip.decompress((DATA / f"litbank.{side}.gz").read_bytes()))
            values = table.tallystick("litbank", *files("litbank"), Limit(times=5), repeat)
            if values != list(LITBANK):
                table.fine = False
                print(f"litbank: figures DIFFER from {LITBANK}")
            peers(table, "litbank", files("litbank"), folder, metametric=True)
        else:
            print(f"litbank is left out: {DATA} is not here")

        size = 500_000 if quick else 5_000_000
        pair = made("large", "write_large", size)
        table.tallystick(f"{size:,} tokens", *pair, Limit(times=2.5, megabytes=1000), min(repeat, 2))
        for path in pair:
            Path(path).unlink()
        table.matchings("CorefUD, 500,000 words", *made("corefud", "write_corefud", 500_000), min(repeat, 3))
        pair = made("long", "write_one_document", 20_000, 5_000)
        table.tallystick("one document, 20,000 mentions", *pair, Limit(seconds=1.5), repeat)
        peers(table, "long", pair, folder, metametric=False)
        pair = made("giant", "write_giant_component", 5_000)
        table.tallystick("5,000 x 5,000 component", *pair, Limit(seconds=2), repeat)
        pair = made("small", "write_small")
        values = table.tallystick("20 lines", *pair, Limit(seconds=0.35), max(repeat, 5))
        # One document without twinless mentions: here the peers compute the same.
        peers(table, "small", pair, folder, metametric=True, equal_to=dict(zip(METRICS, values or [], strict=False)))
    show(f"coreference: the whole command, fresh processes, the best of several\n{', '.join(METRICS)}", table.rows)
    return table.fine


def peers(
    table: Table,
    name: str,
    pair: tuple[str, str],
    folder: str,
    *,
    metametric: bool,
    equal_to: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """scorch on every document; metametric, which is slow, on the first one."""
    code = (
        "import sys; from benchmarks.coreference_data import write_scorch; "
        "write_scorch(sys.argv[1:3], sys.argv[3:5], int(sys.argv[5]) or None)"
    )
    contenders = [("scorch", SCORCH, 0)] + ([("metametric, first document", METAMETRIC, 1)] if metametric else [])
    for number, (title, program, documents) in enumerate(contenders):
        folders = [f"{folder}/{name}_{number}_{side}" for side in ("key", "response")]
        launch(["-c", code, *pair, *folders, str(documents)])
        table.peer(f"  {title}", launch(["-c", program, *folders], PATIENCE), equal_to)
