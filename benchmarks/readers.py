"""Three ways to read flat records from JSON Lines into columns, which decided how tallystick does it.

    msgspec's Structs     a Struct made for the shape, then a column for each field: what tallystick does
    pyarrow.json          Arrow's own reader, which infers the shape itself
    a compiled scanner    C that finds where each value of known keys begins and ends, and makes nothing of it: less than any reader has to do
    json, dicts           the standard library

Structs take about as long as Arrow's reader; but their values are those of the type's own decoder (big integers, escapes, duplicate
keys, errors with their place), and nothing more has to be installed or compiled. The scanner, which makes no values, shows what is left
to be gained: 1.4 µs of the 3.5 µs that a record of two files takes from reading to the table by field (`engines`), less what its values
would cost. Arrow's reader makes times of texts that look like dates, unless it is told the shape.

Then the whole way: two files scored, against `pyarrow.json` (which is told the shape) and tallystick on its tables.
"""

import ctypes
import json
import subprocess
import tempfile
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

from benchmarks.engines import write_records
from benchmarks.measure import Row, claim, compare, measure, report

RECORDS = 300_000
SCANNER = r"""
#include <stdint.h>
#include <string.h>
/* Lines {"key": value, ...} of known keys in their order: where each value begins and ends. How many lines were as expected. */
int64_t scan(const char *at, const char *end, int64_t keys, const char *const *key, const int64_t *size, int64_t *spans, const char *data)
{
    int64_t lines = 0;
    while (at < end) {
        if (*at++ != '{') return lines;
        for (int64_t k = 0; k < keys; k++) {
            while (*at == ' ' || *at == ',') at++;
            if (*at != '"' || memcmp(at + 1, key[k], size[k]) || at[size[k] + 1] != '"') return lines;
            at += size[k] + 2;
            while (*at == ' ' || *at == ':') at++;
            const char *begin = at;
            if (*at == '"') {
                for (at++; *at != '"'; at++) if (*at == '\\') at++;
                at++;
            } else
                while (*at != ',' && *at != '}') at++;
            *spans++ = begin - data;
            *spans++ = at - data;
        }
        if (*at++ != '}' || *at++ != '\n') return lines;
        lines++;
    }
    return lines;
}
"""


def make(records: int) -> tuple[str]:
    folder = Path(tempfile.mkdtemp(prefix="tallystick-bench-"))
    return (str(write_records(folder, records)[0]),)


def make_both(records: int) -> tuple[str, str]:
    gold, system = write_records(Path(tempfile.mkdtemp(prefix="tallystick-bench-")), records)
    return str(gold), str(system)


def whole(gold: str, system: str) -> Callable[[], dict[str, float]]:
    """Everything from the files to the table by field."""
    from tallystick.tasks.records.score import score_files

    def score() -> dict[str, float]:
        found = score_files(gold, system).result
        return {"f1": found.figures["f1"], "worst_field": min(row.figures["f1"] for row in found.by_field())}

    return score


def whole_by_arrow(gold: str, system: str) -> Callable[[], dict[str, float]]:
    """The same from Arrow's tables; that ids are unique, and keys, is left out."""
    import pyarrow as pa
    import pyarrow.json

    import tallystick as ts

    pa.set_cpu_count(1)
    kinds = {"total": pa.float64(), "paid": pa.bool_(), "items": pa.int64()}
    with open(gold, "rb") as stream:
        names = list(json.loads(stream.readline()))
    shape = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    parse, options = pyarrow.json.ParseOptions(explicit_schema=shape), pyarrow.json.ReadOptions(use_threads=False)
    metric = ts.f1(ts.each(**{name: ts.equal for name in names if name != "id"}))

    def score() -> dict[str, float]:
        tables = (pyarrow.json.read_json(file, read_options=options, parse_options=parse) for file in (gold, system))
        evaluation = ts.Evaluation(metric, keep=False, fields=True)
        evaluation.update(*tables)
        found = evaluation.compute()
        return {"f1": found.figures["f1"], "worst_field": min(row.figures["f1"] for row in found.by_field())}

    return score


def structs(file: str) -> Callable[[], dict[str, float]]:
    import msgspec

    kinds = {"total": float, "paid": bool, "items": int}
    with open(file, "rb") as stream:
        names = list(json.loads(stream.readline()))
    made = msgspec.defstruct("Flat", [(name, kinds.get(name, str)) for name in names], gc=False)
    decode = msgspec.json.Decoder(made).decode

    def score() -> dict[str, float]:
        columns: dict[str, list[object]] = {name: [] for name in names}
        lines = Path(file).read_bytes().splitlines()
        for start in range(0, len(lines), 256):
            rows = list(map(decode, lines[start : start + 256]))
            for name, column in columns.items():
                column.extend(map(attrgetter(name), rows))
        return {"records": len(columns["id"])}

    return score


def arrow(file: str) -> Callable[[], dict[str, float]]:
    import pyarrow as pa
    import pyarrow.json

    pa.set_cpu_count(1)
    options = pyarrow.json.ReadOptions(use_threads=False)
    return lambda: {"records": pyarrow.json.read_json(file, read_options=options).num_rows}


def scanner(file: str) -> Callable[[], dict[str, float]]:
    import numpy as np

    folder = Path(tempfile.mkdtemp(prefix="tallystick-bench-"))
    (folder / "scan.c").write_text(SCANNER)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(folder / "scan.c"), "-o", str(folder / "scan.so")], check=True)
    scan = ctypes.CDLL(str(folder / "scan.so")).scan
    scan.restype = ctypes.c_int64
    with open(file, "rb") as stream:
        names = [name.encode() for name in json.loads(stream.readline())]

    def score() -> dict[str, float]:
        data = Path(file).read_bytes()
        begin = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
        keys, sizes = (ctypes.c_char_p * len(names))(*names), (ctypes.c_int64 * len(names))(*map(len, names))
        spans = np.empty(2 * len(names) * data.count(b"\n"), np.int64)
        where = ctypes.c_void_p(begin)
        found = scan(
            where, ctypes.c_void_p(begin + len(data)), ctypes.c_int64(len(names)), keys, sizes, spans.ctypes, where
        )
        return {"records": found}

    return score


def dicts(file: str) -> Callable[[], dict[str, float]]:
    def score() -> dict[str, float]:
        with open(file, encoding="utf-8") as stream:
            rows = list(map(json.loads, stream))
        return {"records": len({name: [row[name] for row in rows] for name in rows[0]}["id"])}

    return score


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; True if nothing broke and each has read all records."""
    records = RECORDS // 10 if quick else RECORDS
    rows = []
    for name, reader in (
        ("msgspec's Structs", "structs"),
        ("pyarrow.json", "arrow"),
        ("a compiled scanner", "scanner"),
        ("json, dicts", "dicts"),
    ):
        found = measure(f"benchmarks.readers:{reader}", "benchmarks.readers:make", repeat=repeat, records=records)
        rows.append(Row(name, records, found, truth={"records": records}, checked=("records",)))
    fine = report(f"readers: {records:,} flat records of ten fields to columns", rows, "record", ("msgspec's Structs",))
    records //= 3
    ours, theirs = (
        measure(f"benchmarks.readers:{one}", "benchmarks.readers:make_both", repeat=max(repeat, 2), records=records)
        for one in ("whole", "whole_by_arrow")
    )
    if theirs.missing:
        return fine
    row = compare(ours, theirs, "tallystick", records, checked=("f1", "worst_field"))
    print(f"  {row.agreement}")
    claim(
        f"{records:,} flat records of two JSONL files, by field", ours.scoring,
        against={"`pyarrow.json`, then tallystick": theirs.scoring}, times=None if quick else 2,
    )  # fmt: skip
    return fine and not row.failed
