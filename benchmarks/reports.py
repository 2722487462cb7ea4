"""`--report`, and `compare` of two systems over 100,000 documents: what they cost beside the same command without them.

Whole commands in fresh processes; the 200 alignments that a report draws are measured by themselves, too.
"""

import gzip
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import records
from benchmarks.coreference import DATA
from benchmarks.measure import Run, claim, launch, measure, show

DOCUMENTS, RESAMPLES, ALIGNED = 100_000, 10_000, 200


def write_systems(folder: Path, documents: int) -> list[str]:
    """A reference and two systems, as records of five fields of which a tenth, or a little more, are wrong."""
    rng = random.Random(1)
    words = ["acme", "globex", "initech", "umbrella", "stark", "wayne"]
    files = [folder / f"{name}.jsonl" for name in ("gold", "first", "second")]
    sides: list[list[str]] = [[], [], []]
    for k in range(documents):
        gold = {
            "id": f"d{k}", "vendor": rng.choice(words), "number": f"INV-{rng.randrange(10**6)}",
            "total": rng.randrange(10**5) / 100, "city": rng.choice(words), "items": rng.choices(words, k=3),
        }  # fmt: skip
        sides[0].append(json.dumps(gold))
        for side, share in ((1, 0.1), (2, 0.12)):
            wrong = {name: rng.choice(words) for name in ("vendor", "number", "city") if rng.random() < share}
            sides[side].append(json.dumps({**gold, **wrong}))
    for file, lines in zip(files, sides, strict=True):
        file.write_text("\n".join(lines) + "\n")
    return [str(file) for file in files]


def make_alignments(documents: int) -> tuple[str, str, str]:
    return records.make_invoices(documents)


def align(gold: str, system: str, schema: str) -> Callable[[], dict[str, float]]:
    """The alignments of some invoices, as a report packs them."""
    from tallystick.results.documents import pack_documents
    from tallystick.tasks.contract import Asked
    from tallystick.tasks.records.score import prepare, run_prepared, wanted_documents
    from tallystick.tasks.records.task import RecordSettings

    settings = RecordSettings(schema=schema)
    asked = Asked(documents=ALIGNED)
    found = run_prepared(prepare(gold, system, settings), asked, wanted=wanted_documents(settings, asked))

    def score() -> dict[str, float]:
        rows = pack_documents(found.explain_in_order().together([kept.id for kept in found.documents]))
        return {"documents": len(rows), "f1": sum(row[2] for row, _ in rows)}

    return score


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; False if a command breaks."""
    repeat = max(repeat, 5)  # the runs of one command differ by a tenth
    size, invoices = (DOCUMENTS // 10, 100) if quick else (DOCUMENTS, 1_000)
    table = [["", "CPU s", "x without", "peak MB", "what went wrong"]]

    def add(name: str, found: Run, plain: Run) -> None:
        table.append([name, f"{found.cpu:.2f}", f"{found.cpu / plain.cpu:.2f}", f"{found.peak:,.0f}", found.problem])

    def command(*arguments: str) -> Run:
        return launch(["-m", "tallystick", *arguments], repeat=repeat)

    with tempfile.TemporaryDirectory() as name:
        folder, page = Path(name), str(Path(name, "report.html"))
        gold, system, schema = records.make_invoices(invoices)
        commands = {f"{invoices:,} invoices": ["score", "records", gold, system, "--schema", schema]}
        if DATA.exists():
            for side in ("key", "response"):
                Path(folder, side).write_bytes(gzip.decompress((DATA / f"litbank.{side}.gz").read_bytes()))
            commands["LitBank"] = ["score", "coreference", str(folder / "key"), str(folder / "response")]
        for what, arguments in commands.items():
            plain, found = command(*arguments), command(*arguments, "--report", page)
            add(f"score of {what}", plain, plain)
            add(f"--report of {what}", found, plain)
            claim(f"`--report` of {what}", found.cpu, against={"the command without it": plain.cpu}, times=2)
        aligned = measure(
            "benchmarks.reports:align", "benchmarks.reports:make_alignments", repeat=repeat, documents=ALIGNED
        )
        claim(f"{ALIGNED} alignments of invoices for a report", aligned.scoring, at_most=1.0)
        gold, *systems = write_systems(folder, size)
        plain = command("compare", "records", gold, *systems, "--resamples", "1")
        found = command("compare", "records", gold, *systems, "--resamples", str(RESAMPLES))
        add(f"compare, two systems, {size:,} documents, one resample", plain, plain)
        add(f"compare, two systems, {size:,} documents, {RESAMPLES:,} resamples", found, plain)
        claim(f"`compare`, two systems, {size:,} documents, {RESAMPLES:,} resamples", found.cpu, at_most=12.6 / 3)
    show("reports and comparisons: whole commands", table)
    return not any(line[-1] for line in table[1:]) and not aligned.problem
