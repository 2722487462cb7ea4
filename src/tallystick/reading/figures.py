"""Figures that somebody has already: CSV with the columns system, metric, value, and run where there are several."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from tallystick.errors import InputError, Place, some
from tallystick.reading.opening import read_text, shown_name

NEEDED = ("system", "metric", "value")


def read_figures(name: str | Path) -> dict[str, list[dict[str, float | None]]]:
    """For each system its runs, each with the value of every metric."""
    file = shown_name(name)
    content = read_text(name)
    if not content.strip():
        raise InputError(f"is empty; expected CSV with the columns {', '.join(NEEDED)}", file)
    reader = csv.DictReader(io.StringIO(content, newline=""))
    try:
        return _runs(reader, file)
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", Place(file, reader.line_num)) from None


def _runs(reader: csv.DictReader[str], file: str) -> dict[str, list[dict[str, float | None]]]:
    if not set(NEEDED) <= set(reader.fieldnames or ()):
        raise InputError(
            f"expected the columns system, metric, value, found {some(reader.fieldnames or ())}", Place(file, 1)
        )
    runs: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in reader:
        try:
            value = float(row["value"])
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"expected a number under value, found {row['value']!r:.60}", Place(file, reader.line_num))
        run = runs.setdefault(row["system"], {}).setdefault(row.get("run") or "1", {})
        if row["metric"] in run:
            raise InputError(
                f"{row['system']} has {row['metric']} twice; several runs need a column run",
                Place(file, reader.line_num),
            )
        run[row["metric"]] = value
    if not runs:
        raise InputError("has no rows", file)
    return {system: list(found.values()) for system, found in runs.items()}
