"""`compare TASK REFERENCE SYSTEM...`: several systems, or several runs of each, under a task's metrics.

The options of a task are those that its `results` function takes; they are read off its `score` command.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.commands import TASKS
from tallystick.cli.lazy import LazyGroup
from tallystick.cli.output import chosen_format, once, say, show_tables
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.comparing.systems import Comparison
    from tallystick.scoring.result import Result

FORMATS = ("table", "json", "tsv", "markdown", "latex")


class CompareGroup(LazyGroup):
    """A command for each task, made from the task's own options."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return click.Group.get_command(self, ctx, cmd_name)
        return task_command(cmd_name)


def task_command(task: str) -> click.Command:
    """`compare TASK`, with the options of `score TASK` that choose what is computed."""
    module = importlib.import_module(f"tallystick.cli.{task}")
    parameters = inspect.signature(module.results).parameters
    accepted = set(parameters)
    if any(
        p.kind is p.VAR_KEYWORD for p in parameters.values()
    ):  # whatever `explain` takes too chooses what is computed
        accepted |= {p.name for p in module.explain.params} - {"document", "format_", "worst", "field"}
    options = [p for p in module.score.params if isinstance(p, click.Option) and p.name in accepted]

    def run(reference: str, systems: tuple[str, ...], **given: Any) -> None:
        own = {name: given.pop(name) for name in list(given) if name in accepted}
        run_comparison(module, reference, systems, own, **given)

    return click.Command(
        task,
        callback=run,
        params=[
            click.Argument(["reference"]),
            click.Argument(["systems"], nargs=-1, required=True, callback=once),
            *options,
            *comparison_options(),
        ],
        help=f"Compare systems on {task}. SYSTEM is a file, NAME=FILE, or NAME=FILE1,FILE2,... for several runs.",
    )


def comparison_options() -> list[click.Parameter]:
    """What every comparison can be told."""
    return [
        click.Option(["--resamples"], type=click.IntRange(1), default=1000, show_default=True),
        click.Option(["--seed"], type=int, default=0, show_default=True),
        click.Option(
            ["--level"], type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True
        ),
        click.Option(["--interval"], type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True),
        click.Option(
            ["--test"], type=click.Choice(["bootstrap", "randomisation"]), default="bootstrap", show_default=True
        ),
        click.Option(
            ["--correlations"], is_flag=True, help="How much the metrics agree about the order of the systems."
        ),
        click.Option(
            ["--format", "format_"], type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv."
        ),
    ]


def run_comparison(
    module: Any, reference: str, systems: tuple[str, ...], own: Mapping[str, Any],
    resamples: int, seed: int, level: float, interval: str, test: str, correlations: bool, format_: str | None,
) -> None:  # fmt: skip
    """Score every system, then lay them side by side."""
    from tallystick.comparing.systems import compare as lay_side_by_side
    from tallystick.comparing.systems import compare_runs

    files = named_systems(systems)
    if any(len(runs) > 1 for runs in files.values()):
        scored = {
            name: [_figures(module.results(reference, run, **own)) for run in runs] for name, runs in files.items()
        }
        comparison = compare_runs(scored)
    else:
        several = getattr(module, "results_of_systems", None)
        if several is not None:
            results = several(reference, {name: runs[0] for name, runs in files.items()}, **own)
        else:
            results = {name: module.results(reference, runs[0], **own) for name, runs in files.items()}
        comparison = lay_side_by_side(results, resamples=resamples, seed=seed, level=level, method=interval, test=test)
        first = next(iter(results.values()))
        from tallystick.scoring.result import shared_signatures

        for names, rest in shared_signatures(first).items():
            say(f"signature: {names} | {rest} | {comparison.settings}")
    show_comparison(comparison, correlations, format_)


def named_systems(arguments: tuple[str, ...]) -> dict[str, list[str]]:
    """`NAME=FILE,FILE` or a file, which is then called after itself."""
    out: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, files = argument.partition("=")
        if not equals:
            name, files = Path(argument).name, argument
        if name in out:
            raise MetricError(f"two systems are called {name!r}; name them: A={argument} ...")
        out[name] = files.split(",") if equals else [files]
    return out


def _figures(results: Mapping[str, Result]) -> dict[str, float | None]:
    return {name: result.score for name, result in results.items()}


def show_comparison(comparison: Comparison, correlations: bool, format_: str | None) -> None:
    """The comparison on standard output."""
    from tallystick.reports.comparison import comparison_table, correlations_table, figures_only

    kind = chosen_format(format_)
    if kind == "json":
        click.echo(json.dumps(comparison.as_dict(), indent=2, ensure_ascii=False))
        return
    tables = [figures_only(comparison) if kind == "tsv" else comparison_table(comparison)]
    if correlations:
        tables.append(correlations_table(comparison))
    show_tables(tables, format_)


@click.command()
@click.argument("file")
@click.option("--correlations/--no-correlations", default=True, show_default=True)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
def figures(file: str, correlations: bool, format_: str | None) -> None:
    """Compare figures that you already have: FILE is CSV with the columns system, metric, value (and run, if several)."""
    from tallystick.comparing.systems import compare_runs
    from tallystick.reading.figures import read_figures

    show_comparison(compare_runs(read_figures(file)), correlations, format_)


@click.group(cls=CompareGroup, lazy={task: ("", help_) for task, help_ in TASKS.items()})
def compare() -> None:
    """Compare systems: figures with intervals, who is significantly above whom, ranks, agreement of metrics."""


compare.add_command(figures)
