"""`compare figures FILE` and `leaderboard figures FILE`: figures that somebody already has, such as a paper's table.

FILE is CSV with the columns system, metric and value, and two that may be there:

    task      a comparison for each, such as a data set or a language
    run       several values of one system and metric, such as seeds or splits

Or it is what `compare --format tsv|csv|json` has written, of which the figures are read; what is made from them is made again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.compare import Showing, base_among, base_option, page_options, show_comparisons, ties_option
from tallystick.cli.main import chosen_format, formats
from tallystick.cli.options import Layout, check_before, layout_options, take
from tallystick.errors import InputError, MetricError, Place, did_you_mean, some
from tallystick.files.source import read_text, shown_name

if TYPE_CHECKING:
    from tallystick.results.comparison import Comparison

HELP = """
    FILE is CSV with the columns system, metric, value; a column task makes a comparison for each task, with the mean of
    their correlations; a column run gives several values of one system: their mean and spread. Or it is what `compare TASK
    ... --format tsv|csv|json` has written. Several files are several tasks, named TASK=FILE, or after the files.
    """


def figures_command(summary: str, *, best_first: bool) -> click.Command:
    """The command of `compare`, or that of `leaderboard`, in which the best system comes first."""

    def run(file: tuple[str, ...], ascending: bool, ties: str, base: str | None, means: tuple[str, ...], truncate: bool, **given: Any) -> None:  # fmt: skip
        check_before()
        layout = take(Layout, given)
        layout.check(chosen_format(given["format_"]))
        comparisons = _compare(read_tasks(file), means, ascending, ties, base, layout.digits, truncate)
        if best_first:
            comparisons = [one.best_first() for one in comparisons]
        title = ", ".join(Path(name).name for name in file)
        show_comparisons(comparisons, Showing(truncate=truncate, layout=layout, title=title, board=best_first, **given))

    params = [
        click.Argument(["file"], nargs=-1, required=True, metavar="FILE..."),
        click.Option(["--ascending"], is_flag=True, help="Lower is better: the values are ranks or errors."),
        ties_option(),
        base_option(),
        click.Option(["--mean", "means"], multiple=True, metavar="NAME=METRIC,...", help="Also compute the mean of several metrics, e.g. conll=muc,b3,ceaf_e."),
        click.Option(["--truncate"], is_flag=True, help="Truncate decimals instead of rounding, like the reference scorer of coreference."),
        click.Option(["--correlations/--no-correlations"], default=True, show_default=True, help="Print how far the metrics agree about the order of the systems."),
        click.Option(["--format", "format_"], type=click.Choice(formats()), help="Default: table on a terminal, else tsv."),
        *layout_options(("--digits",), columns="metrics", ranks=True),
        click.Option(["--digits"], type=click.IntRange(0, 15), help="Decimals.  [default: as written in FILE, one more for means]"),
        *page_options(),
    ]  # fmt: skip
    return click.Command("figures", callback=run, params=params, help=summary + "\n" + HELP)


def _compare(
    table: FigureTable, means: Sequence[str], ascending: bool, ties: str, base: str | None, digits: int | None, truncate: bool
) -> list[Comparison]:  # fmt: skip
    """A comparison for each task."""
    from tallystick.results.compare import compare_runs

    added: list[str] = []
    for mean in means:
        name, equals, metrics = mean.partition("=")
        if not equals or not name or not metrics:
            raise MetricError(f"--mean expects NAME=METRIC,METRIC,..., found {mean!r}")
        table = table.with_mean(name, metrics.split(","))
        added.append(name)
    comparisons = []
    for task, systems in table.tasks.items():
        runs = {name: list(found.values()) for name, found in systems.items()}
        there = table.metrics_of(task)
        compared = compare_runs(
            runs, ties=ties, ascending=ascending or [metric for metric in there if (task, metric) in table.ascending],
            metrics=there, base=None if base is None else base_among(base, there),
        )  # fmt: skip
        own = table.digits(task, added, 0 if truncate else 1) if digits is None else {}
        most = max(own.values(), default=0) if digits is None else digits
        comparisons.append(replace(compared, title=task, digits=most, decimals=own, fractions=task in table.ours))
    if table.ours:
        comparisons[0] = replace(comparisons[0], notes=(*comparisons[0].notes, OURS))
    return comparisons


NEEDED = ("system", "metric", "value")
COLUMNS = (*NEEDED, "task", "run")
MADE = ("low", "high", "spread", "runs", "rank", "moved", "beats", "letter", "figure", "average")
"""What `compare --format tsv` and csv write beside the figures."""
OURS = "Only figures are read from the output of compare. Ranks and correlations are computed again; intervals and tests are not."
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
    ascending: set[tuple[str, str]] = field(default_factory=set)
    """The metrics of tasks for which lower is better, as far as a file says so."""
    ours: set[str] = field(default_factory=set)
    """The tasks whose figures `compare` has written."""

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
        of_lower = {task for task in tasks if all((task, metric) in self.ascending for metric in metrics)}
        ascending = self.ascending | {(task, name) for task in of_lower}
        return FigureTable(tasks, {**self.metrics, name: None}, {**self.decimals, **decimals}, ascending, self.ours)

    def take(self, other: FigureTable, label: str) -> None:
        """The tasks of another table, under a label."""
        called = {task: ", ".join(filter(None, (label, task))) for task in other.tasks}
        for task, name in called.items():
            if name in self.tasks:
                raise MetricError(f"two tasks are called {name!r}; give one another name: NAME=FILE")
            self.tasks[name] = other.tasks[task]
        self.metrics |= other.metrics
        self.decimals |= {(called[task], system, metric): n for (task, system, metric), n in other.decimals.items()}
        self.ascending |= {(called[task], metric) for task, metric in other.ascending}
        self.ours |= {called[task] for task in other.ours}


def read_tasks(files: Sequence[str]) -> FigureTable:
    """Read one file, or several with a task each: TASK=FILE, or a file that its task is named after."""
    table = FigureTable()
    for argument in files:
        label, equals, name = argument.partition("=")
        if not equals or Path(argument).exists():
            label, name = ("" if len(files) == 1 else Path(argument).stem), argument
        if not name or (equals and not label and name != argument):
            raise MetricError(f"expected FILE or TASK=FILE, found {argument!r}")
        table.take(read_figures(name), label)
    return table


def read_figures(name: str | Path) -> FigureTable:
    """Read a table of figures, or what `compare` has written; an empty value is undefined."""
    file, content = shown_name(name), read_text(name)
    if not content.strip():
        raise InputError(f"is empty; expected CSV with the columns {', '.join(NEEDED)}", file)
    if content.lstrip().startswith("{"):
        return _read_json(content, file)
    head = content.lstrip().split("\n", 1)[0]
    tabs = "\t" in head
    ours = tabs or {"rank", "letter"} <= set(head.strip().split(","))
    if ours:  # the tables below the first are made from it
        content = content.replace("\r\n", "\n").lstrip("\n").split("\n\n", 1)[0]
    from tallystick.files.table import read_cells, separator

    return _read(read_cells(content, file, "\t" if tabs else separator("", content), quoted=not tabs), file, ours)


def _read(rows: Iterator[tuple[int, list[str]]], file: str, ours: bool) -> FigureTable:
    found = [column.strip() for column in next(rows, (0, []))[1]]
    _check_columns(found, file, (*COLUMNS, *MADE) if ours else COLUMNS)
    table = FigureTable()
    ranked: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for line, row in rows:
        place = Place(file, line)
        cells = {key: value.strip() for key, value in zip(found, row, strict=True)}
        _take(table, cells, place)
        if cells.get("rank") and cells["value"]:
            key = cells.get("task", ""), cells["metric"]
            ranked.setdefault(key, []).append((_number(cells["rank"], "rank", place), float(cells["value"])))
    if not table.tasks:
        raise InputError("has no rows", file)
    if "rank" in found:
        ends = {key: (min(pairs), max(pairs)) for key, pairs in ranked.items()}
        table.ascending |= {key for key, ((r, low), (q, high)) in ends.items() if r < q and low < high}
    if "figure" in found:
        _mark_as_ours(table)
    return table


def _check_columns(found: list[str], file: str, known: Sequence[str]) -> None:
    if not set(NEEDED) <= set(found):
        raise InputError(
            f"expected the columns {', '.join(NEEDED)} (and task, run), found {some(found)}", Place(file, 1)
        )
    again = [column for column in dict.fromkeys(found) if found.count(column) > 1]
    if again:
        raise InputError(f"has the column {again[0]!r} twice", Place(file, 1))
    unknown = [column for column in found if column not in known]
    if unknown:
        raise InputError(
            f"no column {unknown[0]!r} is known; there are {', '.join(known)}.{did_you_mean(unknown[0], known)}",
            Place(file, 1),
        )


def _read_json(content: str, file: str) -> FigureTable:
    """What `compare --format json` has written."""
    from tallystick.files.json_values import decode_line

    def inside(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InputError(f"{path} is {value!r:.40}; expected an object, as compare --format json writes it", file)
        return value

    content_ = decode_line(content, file)
    tasks = inside(content_["tasks"], "tasks") if "tasks" in content_ else {"": content_}
    table, measured = FigureTable(), False
    for task, comparison in tasks.items():
        comparison = inside(comparison, f"tasks.{task}")
        if "systems" not in comparison:
            raise InputError('has no "systems"; expected CSV, or what compare --format tsv or json has written', file)
        metrics = inside(comparison.get("metrics", {}), "metrics")
        measures = {name: inside(about, f"metrics.{name}") for name, about in metrics.items()}
        measured = measured or any("figure" in about for about in measures.values())
        table.ascending |= {(task, name) for name, about in measures.items() if about.get("lower_is_better")}
        for system, cells in inside(comparison["systems"], "systems").items():
            for metric, cell in inside(cells, f"systems.{system}").items():
                value = inside(cell, f"systems.{system}.{metric}").get("value")
                text = "" if value is None else value if isinstance(value, str) else repr(value)
                _take(table, {"task": task, "system": system, "metric": metric, "value": text}, Place(file))
    if not table.tasks:
        raise InputError("has no systems", file)
    if measured:
        _mark_as_ours(table)
    return table


def _mark_as_ours(table: FigureTable) -> None:
    """Figures in full precision are shown with four decimals."""
    table.ours |= set(table.tasks)
    table.decimals = dict.fromkeys(table.decimals, 4)


def _number(text: str, column: str, place: Place) -> float:
    if not _NUMBER.fullmatch(text):
        raise InputError(f"expected a number under {column}, found {text!r:.60}", place)
    value = float(text)
    if abs(value) > LARGEST:
        raise InputError(f"expected a figure between {-LARGEST:g} and {LARGEST:g}, found {text!r:.60}", place)
    return value


def _take(table: FigureTable, row: Mapping[str, str], place: Place) -> None:
    system, metric, text = row["system"], row["metric"], row["value"]
    if not system or not metric:
        raise InputError("expected a name under system and under metric, found none", place)
    value = _number(text, "value", place) if text else None
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


compared = figures_command("Compare figures that you already have.", best_first=False)
ranked = figures_command("A leaderboard of figures that you already have.", best_first=True)
