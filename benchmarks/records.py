"""Records from files to the table with fields.

    invoices   1,000 documents of 50 nested lines, `tallystick score records` from two JSONL files to its JSON output with
               the figures of every field, beside what people use today (on fewer documents; the ratio is for a document)
    one        a single document of 500 lines
    flat       100,000 documents of 10 fields, also at a fifth of that and with one file in reverse, to see the memory

Every contender reads its files; what is measured begins with the files on disk.
"""

import contextlib
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import invoices
from benchmarks.measure import Row, claim, compare, measure, report

FIGURES = ("precision", "recall", "f1")
Score = Callable[[], dict[str, float]]
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string"},
                    "description": {"type": "string", "x-tallystick": {"text": "levenshtein"}},
                    "quantity": {"type": "integer"},
                    "price": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["sku", "description", "quantity", "price", "tags"],
            },
        },
    },
    "required": ["id", "lines"],
}


def make_invoices(documents: int, lines: int = invoices.LINES) -> tuple[str, str, str]:
    """Two files and a schema in a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="tallystick-bench-"))
    for name, side in zip(("gold", "system"), invoices.generate(documents, lines), strict=True):
        rows = ({"id": f"inv-{k:06}", "lines": one} for k, one in enumerate(side))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    return str(folder / "gold.jsonl"), str(folder / "system.jsonl"), str(folder / "schema.json")


def make_flat(documents: int, reverse: bool = False) -> tuple[str, str, str]:
    """Ten fields a document, a tenth of them wrong."""
    rng = random.Random(5)
    folder = Path(tempfile.mkdtemp(prefix="tallystick-bench-"))

    def document(k: int) -> dict[str, Any]:
        return {
            "id": f"doc-{k:06}", "name": f"name {rng.randrange(5000)}", "city": f"city {rng.randrange(300)}",
            "year": rng.randrange(1990, 2027), "price": rng.randrange(100_000) / 100, "active": rng.random() < 0.5,
            "kind": rng.choice("abcdef"), "code": f"{rng.randrange(10**6):06}", "note": f"note {rng.randrange(1000)}",
            "count": rng.randrange(50), "rate": rng.randrange(1000) / 10,
        }  # fmt: skip

    predictions = []
    with open(folder / "gold.jsonl", "w") as stream:
        for k in range(documents):
            gold, other = document(k), document(k)
            stream.write(json.dumps(gold) + "\n")
            predictions.append(
                json.dumps({f: other[f] if f != "id" and rng.random() < 0.1 else gold[f] for f in gold}) + "\n"
            )
    (folder / "system.jsonl").write_text("".join(predictions[::-1] if reverse else predictions))
    return str(folder / "gold.jsonl"), str(folder / "system.jsonl"), ""


def _read(name: str) -> Iterator[dict[str, Any]]:
    with open(name, encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _lines(gold: str, system: str) -> tuple[list[Any], list[Any]]:
    return [row["lines"] for row in _read(gold)], [row["lines"] for row in _read(system)]


# The contenders.


def tallystick(gold: str, system: str, schema: str) -> Score:
    """The command itself, from the files to its output."""
    from tallystick.cli.main import tallystick as command

    arguments = ["score", "records", gold, system, *(["--schema", schema] if schema else []), "--format", "json"]

    def score() -> dict[str, float]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                command.main(arguments, prog_name="tallystick")
            except SystemExit as end:
                if end.code:
                    raise
        content = json.loads(out.getvalue())
        assert content["fields"], "the table with fields is part of it"
        return {figure: content["metrics"]["records"][figure] for figure in FIGURES}

    return score


def floor(gold: str, system: str, schema: str) -> Score:
    import rapidfuzz.process  # noqa: F401
    import scipy.optimize  # noqa: F401

    def score() -> dict[str, float]:
        found = invoices.floor_by_hand(*_lines(gold, system))
        return {figure: found[figure] for figure in FIGURES}

    return score


def flat_floor(gold: str, system: str, schema: str) -> Score:
    """Fields compared by name, in plain Python."""

    def score() -> dict[str, float]:
        known = {row["id"]: row for row in _read(system)}
        right = wanted = 0
        for row in _read(gold):
            other = known[row["id"]]
            right += sum(row[field] == other[field] for field in row if field != "id")
            wanted += len(row) - 1
        return dict.fromkeys(FIGURES, right / wanted)

    return score


def stickler(gold: str, system: str, schema: str) -> Score:
    inner = invoices.stickler
    return lambda: inner(*_lines(gold, system))()


def anls_star(gold: str, system: str, schema: str) -> Score:
    return lambda: invoices.anls_star(*_lines(gold, system))()


def autoevals(gold: str, system: str, schema: str) -> Score:
    return lambda: invoices.autoevals(*_lines(gold, system))()


def deepdiff(gold: str, system: str, schema: str) -> Score:
    from deepdiff import DeepDiff

    def score() -> dict[str, float]:
        pairs = zip(*_lines(gold, system), strict=True)
        distances = [
            DeepDiff(r, p, ignore_order=True, get_deep_distance=True).get("deep_distance", 0.0) for r, p in pairs
        ]
        return {"mean_distance": sum(distances) / len(distances)}

    return score


PEERS = {
    "stickler": (2, "another figure (the mean over documents), and no figures by field that fit its score"),
    "anls_star": (1, "another figure: one edit distance for everything"),
    "autoevals": (20, "lists are zipped by position"),
    "deepdiff": (2, "a distance, no score"),
}


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the tables; True if nothing broke and all figures agree."""
    size, flat = (100, 10_000) if quick else (1_000, 100_000)

    def time(name: str, make: str, **arguments: Any):
        return measure(f"benchmarks.records:{name}", f"benchmarks.records:{make}", repeat=repeat, **arguments)

    truth = time("floor", "make_invoices", documents=size)
    rows = [
        Row("floor by hand", size, truth, remark="json, cdist, arrays and SciPy for this one type; no fields"),
        compare(time("tallystick", "make_invoices", documents=size), truth, "tallystick", size, checked=FIGURES),
    ]
    for name, (documents, remark) in PEERS.items():
        rows.append(Row(name, documents, time(name, "make_invoices", documents=documents), remark=remark))
    fine = report(
        f"records: {size:,} documents of {invoices.LINES} nested lines, from files to the table with fields",
        rows,
        "document",
        ("tallystick",),
    )

    truth = time("floor", "make_invoices", documents=1, lines=500)
    single = compare(
        time("tallystick", "make_invoices", documents=1, lines=500), truth, "tallystick", 1, checked=FIGURES
    )
    fine = (
        report("records: one document of 500 lines", [Row("floor by hand", 1, truth), single], "document", ()) and fine
    )

    rows = []
    for documents, reverse in ((flat // 5, False), (flat, False), (flat, True)):
        truth = time("flat_floor", "make_flat", documents=documents, reverse=reverse)
        mine = time("tallystick", "make_flat", documents=documents, reverse=reverse)
        order = "reversed" if reverse else "in order"
        rows.append(Row(f"plain Python, {order}", documents, truth, remark="no fields"))
        rate = "" if mine.problem else f"{documents / mine.scoring:,.0f} documents a second"
        rows.append(compare(mine, truth, f"tallystick, {order}", documents, checked=FIGURES, remark=rate))
    fine = report("records: documents of 10 fields from JSONL, shape inferred", rows, "document", ()) and fine
    in_order, in_another = (row.measurement.scoring for row in (rows[-3], rows[-1]))
    claim(f"{flat:,} flat records, predictions reversed", in_another, against={"in order": in_order}, times=2)
    return fine


if __name__ == "__main__":
    sys.exit(0 if run(quick="--quick" in sys.argv) else 1)
