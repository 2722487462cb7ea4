"""Parquet and Arrow against the same records as Python objects: 1,000,000 records of ten fields, texts and numbers.

    Python objects        two lists of dicts that are in memory already; what is measured is scoring alone
    Arrow tables          the same as pyarrow tables in memory
    Parquet files         everything from two files on disk: inference of the shape, reading, scoring, figures by field
    Parquet to objects    what one does without: read the files, `to_pylist`, score
    JSON Lines            the same records as text, on fewer of them

Every contender gives figures by field, too.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, claim, compare, launch, measure, report

FIGURES = ("precision", "recall", "f1", "worst_field")
FIELDS = ("name", "city", "year", "price", "kind", "code", "note", "count", "rate", "email")
Score = Callable[[], dict[str, float]]


def make_files(records: int) -> tuple[str, str]:
    """Two Parquet files in a folder of their own; a tenth of the predicted values is another record's."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(5)

    def texts(prefix: str, most: int, suffix: str = "") -> Any:
        return np.array([f"{prefix}{k}{suffix}" for k in range(most)], dtype=object)[rng.integers(0, most, records)]

    gold = {
        "name": texts("name ", 5_000), "city": texts("city ", 300), "year": rng.integers(1990, 2027, records),
        "price": rng.integers(0, 100_000, records) / 100, "kind": texts("", 6), "code": texts("c", 500_000),
        "note": texts("a note of some length, number ", 50_000), "count": rng.integers(0, 50, records),
        "rate": rng.integers(0, 1000, records) / 10, "email": texts("someone.", 1_000_000, "@example.org"),
    }  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="tallystick-bench-"))
    for name in ("gold", "system"):
        columns = {}
        for field, values in gold.items():
            wrong = rng.random(records) < (0.1 if name == "system" else 0)
            columns[field] = pa.array(np.where(wrong, np.roll(values, 1), values))
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
    return str(folder / "gold.parquet"), str(folder / "system.parquet")


def make_tables(records: int) -> tuple[Any, Any]:
    import pyarrow.parquet as parquet

    gold, system = map(parquet.read_table, make_files(records))
    return gold, system


def make_objects(records: int) -> tuple[list[Any], list[Any]]:
    gold, system = (table.to_pylist() for table in make_tables(records))
    return gold, system


def make_lines(records: int) -> tuple[str, str]:
    import json

    files = []
    for name in make_files(records):
        import pyarrow.parquet as parquet

        out = Path(name).with_suffix(".jsonl")
        out.write_text("".join(json.dumps(row) + "\n" for row in parquet.read_table(name).to_pylist()))
        files.append(str(out))
    return files[0], files[1]


def write_nested(folder: Path, records: int) -> dict[str, tuple[str, str]]:
    """Records with objects in objects and lists of objects, as JSON Lines and as Parquet; a part of the predicted values is wrong."""
    import json
    import random

    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = random.Random(3)

    def record(k: int) -> dict[str, Any]:
        address = {
            "street": f"{rng.randrange(200)} High Street",
            "city": f"city {rng.randrange(300)}",
            "zip": f"{rng.randrange(10**5):05}",
        }
        lines = [
            {"sku": f"s{rng.randrange(10**4)}", "quantity": rng.randrange(1, 9), "price": rng.randrange(10**4) / 100}
            for _ in range(3)
        ]
        return {
            "id": f"d{k}", "vendor": {"name": f"Vendor {rng.randrange(900)}", "address": address}, "date": f"2024-05-{rng.randint(1, 28):02}",
            "total": rng.randrange(10**5) / 100, "paid": rng.random() < 0.5, "tags": rng.choices("abcde", k=3), "lines": lines,
        }  # fmt: skip

    gold = [record(k) for k in range(records)]
    system = json.loads(json.dumps(gold))
    for one in system:
        if rng.random() < 0.3:
            one["total"] = 1.5
        for line in one["lines"]:
            if rng.random() < 0.1:
                line["price"] = 0.5
        rng.shuffle(one["lines"])
    for name, rows in (("gold", gold), ("system", system)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        parquet.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    return {kind: (str(folder / f"gold.{kind}"), str(folder / f"system.{kind}")) for kind in ("jsonl", "parquet")}


def nested(records: int, repeat: int, quick: bool) -> bool:
    """Whole commands on nested records as Parquet and as JSON Lines; True if both give the same figures."""
    import json

    with tempfile.TemporaryDirectory() as folder:
        files = write_nested(Path(folder), records)
        runs = {
            kind: launch(["-m", "tallystick", "score", "records", *pair, "--format", "json"], repeat=max(repeat, 2))
            for kind, pair in files.items()
        }
    limit = None if quick else 0.5
    what = f"`score records`, {records:,} nested records from Parquet"
    claim(what, runs["parquet"].cpu, against={"from JSON Lines": runs["jsonl"].cpu}, times=limit)
    claim(f"{what}, memory", runs["parquet"].peak, "MB", against={"from JSON Lines": runs["jsonl"].peak})
    if any(one.problem for one in runs.values()):
        return False
    figures = [json.loads(one.output)["metrics"] for one in runs.values()]
    return bool(figures[0] == figures[1])


def _metric() -> Any:
    import tallystick as ts

    return ts.f1(ts.each(**dict.fromkeys(FIELDS, ts.exact)))


def _figures(result: Any) -> dict[str, float]:
    worst = min(row.figures["f1"] for row in result.by_field())
    return {**{name: result.figures[name] for name in FIGURES[:3]}, "worst_field": worst}


def in_memory(gold: Any, system: Any) -> Score:
    """Lists of dicts, or tables: whatever `make` gave."""
    import tallystick as ts

    metric = _metric()

    def score() -> dict[str, float]:
        evaluation = ts.Evaluation(metric, keep=False, fields=True)
        evaluation.update(gold, system)
        return _figures(evaluation.compute())

    return score


def from_files(gold: str, system: str) -> Score:
    """Everything from the files on."""
    from tallystick.tasks.records.score import score_files

    return lambda: _figures(score_files(gold, system).result)


def through_objects(gold: str, system: str) -> Score:
    import pyarrow.parquet as parquet

    import tallystick as ts

    metric = _metric()

    def score() -> dict[str, float]:
        evaluation = ts.Evaluation(metric, keep=False, fields=True)
        evaluation.update(*(parquet.read_table(name).to_pylist() for name in (gold, system)))
        return _figures(evaluation.compute())

    return score


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and all figures agree."""
    size = 100_000 if quick else 1_000_000
    few = size // 10

    def time(target: str, make: str, records: int = size) -> Any:
        return measure(f"benchmarks.arrow:{target}", f"benchmarks.arrow:{make}", repeat=repeat, records=records)

    truth = time("in_memory", "make_objects")
    rows = [
        Row("Python objects", size, truth, remark="scoring alone; the objects are in memory already"),
        compare(time("in_memory", "make_tables"), truth, "Arrow tables", size, checked=FIGURES, remark="in memory already"),
        compare(time("from_files", "make_files"), truth, "Parquet files", size, checked=FIGURES, remark="from disk, shape inferred"),
        compare(time("through_objects", "make_files"), truth, "Parquet to objects", size, checked=FIGURES),
    ]  # fmt: skip
    expected = time("in_memory", "make_objects", few)
    rows.append(compare(time("from_files", "make_lines", few), expected, "JSON Lines", few, checked=FIGURES))
    fine = report(
        f"arrow: {size:,} records of {len(FIELDS)} fields, by field",
        rows,
        "record",
        ("Parquet files", "Python objects"),
    )
    return nested(size // 20, repeat, quick) and fine
