"""The tallies of every document as a table, for whatever counts on from there: DuckDB, Polars, pandas, a spreadsheet.

    document   metric    num_p   den_p   num_r   den_r   precision   recall      f1
    inv-001    records      17      20      17      21      0.8500   0.8095   0.8293

Tallies add: the figures of any slice of a corpus are made of the sums over its rows, never of the mean of its figures.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.results.result import Result

SUFFIXES = (".parquet", ".csv", ".tsv", ".arrow", ".feather")


def check_name(path: str | Path) -> None:
    """A file of an unknown kind is an error before the work, not after it."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise MetricError(f"tallies are written to {', '.join(SUFFIXES)}; found {str(path)!r}")
    if Path(path).suffix.lower() not in (".csv", ".tsv"):
        from tallystick.files.arrow import load_pyarrow

        load_pyarrow(str(path))


def tallies(results: Mapping[str, Result]) -> dict[str, list[Any]]:
    """By column: a row for each document and metric. What a metric does not have, or is 0/0, is None."""
    names = ["document", "metric"]
    for result in results.values():
        names += [name for name in (*result.kind.sums, *result.figures) if name not in names]
    out: dict[str, list[Any]] = {name: [] for name in names}
    for metric, result in results.items():
        columns: dict[str, Any] = dict(zip(result.kind.sums, result.rows.T, strict=True))
        columns.update(result.kind.figures(result.rows))
        count = len(result.ids)
        out["document"] += result.ids
        out["metric"] += [metric] * count
        for name in names[2:]:
            out[name] += _values(columns[name]) if name in columns else [None] * count
    if len({type(key) for key in out["document"]}) > 1 or any(type(key) not in (str, int) for key in out["document"]):
        out["document"] = list(map(str, out["document"]))
    return out


def _values(column: Any) -> list[Any]:
    found = np.asarray(column, np.float64)
    missing = np.isnan(found)
    values: list[Any] = found.tolist()
    return (
        [None if no else value for value, no in zip(values, missing.tolist(), strict=True)] if missing.any() else values
    )


def tallies_table(results: Mapping[str, Result]) -> Any:
    """The same as a pyarrow table; its metadata holds the signatures."""
    from tallystick.files.arrow import load_pyarrow

    pa = load_pyarrow("the table of tallies")
    columns = tallies(results)
    whole = all(type(one) is int and abs(one) < 2**63 for one in columns["document"])
    key = pa.int64() if whole else pa.string()
    if not whole:  # a number that no column of Arrow's can hold is text
        columns["document"] = list(map(str, columns["document"]))
    kinds = {"document": key, "metric": pa.string()}
    arrays = {name: pa.array(values, kinds.get(name, pa.float64())) for name, values in columns.items()}
    signatures = {f"tallystick.{name}": result.signature for name, result in results.items()}
    return pa.table(arrays).replace_schema_metadata(signatures)


def write_tallies(results: Mapping[str, Result], path: str | Path) -> None:
    """Write a row for each document and metric to a .parquet, .arrow, .feather, .csv or .tsv file, whole or not at all."""
    from tallystick.files.writing import write_atomically

    check_name(path)
    suffix = Path(path).suffix.lower()
    if suffix in (".csv", ".tsv"):
        columns = tallies(results)
        text = io.StringIO()
        writer = csv.writer(text, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        content = text.getvalue().encode()
    else:
        content = _packed(tallies_table(results), suffix)
    write_atomically(path, content)


def _packed(table: Any, suffix: str) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    if suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())
