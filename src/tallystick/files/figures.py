"""Figures that somebody already has: CSV with the columns system, metric and value, and two that may be there.

task      a comparison for each, such as a data set or a language
run       several values of one system and metric, such as seeds or splits
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from tallystick.errors import InputError, MetricError, Place, did_you_mean, some
from tallystick.files.source import read_text, shown_name

NEEDED = ("system", "metric", "value")
COLUMNS = (*NEEDED, "task", "run")
LARGEST = 1e100
"""Of a figure: whose squares can still be added up."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass
class FigureTable:
    """By task, system and run the values of metrics."""

    tasks: dict[str, dict[str, dict[str, dict[str, float | None]]]] = field(default_factory=dict)
    metrics: dict[str, None] = field(default_factory=dict)
    """In the order of the file, which is the order in every task."""
    decimals: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """How many decimals the values of a task, system and metric are written with at most."""

    def metrics_of(self, task: str) -> list[str]:
        """The metrics that a task has, in the order of the file."""
        there = {metric for runs in self.tasks[task].values() for run in runs.values() for metric in run}
        return [metric for metric in self.metrics if metric in there]

    def digits(self, task: str, means: Collection[str] = (), more: int = 1) -> dict[tuple[str, str], int]:
        """How many decimals a figure of a task is shown with, by system and metric: as it is written, and so many more for a
        mean, which is that of runs, or one of `means`."""
        several = {system for system, runs in self.tasks[task].items() if len(runs) > 1}
        return {
            (system, metric): decimals + (more if system in several or metric in means else 0)
            for (of, system, metric), decimals in self.decimals.items()
            if of == task
        }

    def with_mean(self, name: str, metrics: list[str]) -> FigureTable:
        """A metric more: the mean of others, where a system has all of them."""
        known = self.metrics
        for metric in metrics:
            if metric not in known:
                raise MetricError(
                    f"--mean {name}: no metric {metric!r}; there are {some(sorted(known))}.{did_you_mean(metric, known)}"
                )
        if name in known:
            raise MetricError(f"--mean {name}: there is a metric of that name already")

        def more(run: Mapping[str, float | None]) -> dict[str, float | None]:
            values = [run.get(metric) for metric in metrics]
            numbers = [value for value in values if value is not None]
            return {**run, name: math.fsum(numbers) / len(metrics) if len(numbers) == len(metrics) else None}

        tasks = {
            task: {system: {key: more(run) for key, run in runs.items()} for system, runs in systems.items()}
            for task, systems in self.tasks.items()
        }
        decimals = {
            (task, system, name): max(self.decimals.get((task, system, metric), 0) for metric in metrics)
            for task, systems in self.tasks.items()
            for system in systems
        }
        return FigureTable(tasks, {**self.metrics, name: None}, {**self.decimals, **decimals})


def read_figures(name: str | Path) -> FigureTable:
    """Read a table of figures; an empty value is undefined."""
    file, content = shown_name(name), read_text(name)
    if not content.strip():
        raise InputError(f"is empty; expected CSV with the columns {', '.join(NEEDED)}", file)
    reader = csv.DictReader(io.StringIO(content, newline=""))
    try:
        return _read(reader, file)
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", Place(file, reader.line_num)) from None


def _read(reader: csv.DictReader[str], file: str) -> FigureTable:
    found = [column.strip() for column in reader.fieldnames or ()]
    if not set(NEEDED) <= set(found):
        raise InputError(
            f"expected the columns {', '.join(NEEDED)} (and task, run), found {some(found)}", Place(file, 1)
        )
    again = [column for column in dict.fromkeys(found) if found.count(column) > 1]
    if again:
        raise InputError(f"has the column {again[0]!r} twice; which of them counts?", Place(file, 1))
    unknown = [column for column in found if column not in COLUMNS]
    if unknown:
        raise InputError(
            f"no column {unknown[0]!r} is known; there are {', '.join(COLUMNS)}.{did_you_mean(unknown[0], COLUMNS)}",
            Place(file, 1),
        )
    reader.fieldnames = found
    table = FigureTable()
    for row in reader:
        place = Place(file, reader.line_num)
        if None in row or None in row.values():
            raise InputError(
                f"expected {len(found)} fields, found {len([v for v in row.values() if v is not None])}", place
            )
        _take(table, {key: (value or "").strip() for key, value in row.items()}, place)
    if not table.tasks:
        raise InputError("has no rows", file)
    return table


def _take(table: FigureTable, row: Mapping[str, str], place: Place) -> None:
    system, metric, text = row["system"], row["metric"], row["value"]
    if not system or not metric:
        raise InputError("expected a name under system and under metric, found none", place)
    value = None
    if text:
        if not _NUMBER.fullmatch(text):
            raise InputError(f"expected a number under value, found {text!r:.60}", place)
        value = float(text)
        if abs(value) > LARGEST:
            raise InputError(f"expected a figure between {-LARGEST:g} and {LARGEST:g}, found {text!r:.60}", place)
    run = table.tasks.setdefault(row.get("task", ""), {}).setdefault(system, {}).setdefault(row.get("run", ""), {})
    if metric in run:
        raise InputError(f"{system} has {metric} twice; several runs need a column run", place)
    run[metric] = value
    table.metrics[metric] = None
    key = row.get("task", ""), system, metric
    table.decimals[key] = max(table.decimals.get(key, 0), _decimals(text))


def _decimals(text: str) -> int:
    """How many decimals a number is written with: `0.50` has two, and `1.2e-3`, which is 0.0012, has four."""
    try:
        exponent = Decimal(text or "0").as_tuple().exponent
    except InvalidOperation:  # an exponent that a decimal number cannot have; as a float it is 0
        return 0
    return max(0, -exponent) if isinstance(exponent, int) else 0
