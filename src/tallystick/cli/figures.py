"""`compare figures FILE`: the same comparison from figures that somebody already has, such as a paper's table."""

from __future__ import annotations

from pathlib import Path

import click

from tallystick.cli.comparison_output import show_comparisons
from tallystick.cli.options import check_before
from tallystick.cli.output import FORMATS
from tallystick.cli.outputs import FILE, PICTURE
from tallystick.errors import MetricError


@click.command()
@click.argument("file")
@click.option("--ascending", is_flag=True, help="Lower is better: the values are ranks, or errors.")
@click.option(
    "--ties",
    type=click.Choice(["mean", "order"]),
    default="mean",
    show_default=True,
    help="Ranks of equal figures: shared, or as they stand.",
)
@click.option(
    "--mean",
    "means",
    multiple=True,
    metavar="NAME=METRIC,...",
    help="Also the mean of several metrics, e.g. conll=muc,b3,ceaf_e.",
)
@click.option(
    "--digits", type=click.IntRange(0, 15), help="Decimals.  [default: as written in FILE, one more for means]"
)
@click.option(
    "--truncate", is_flag=True, help="Cut decimals instead of rounding, as the reference scorer of coreference does."
)
@click.option(
    "--correlations/--no-correlations",
    default=True,
    show_default=True,
    help="How much the metrics agree about the order of the systems.",
)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
@click.option(
    "--report", type=FILE, metavar="FILE.html", help="Also write a page to look at: one file that works offline."
)
@click.option(
    "--picture",
    type=PICTURE,
    metavar="FILE",
    help="Also draw figures and ranks: .svg, .png or .pdf (needs matplotlib).",
)
def figures(
    file: str,
    ascending: bool,
    ties: str,
    means: tuple[str, ...],
    digits: int | None,
    truncate: bool,
    correlations: bool,
    format_: str | None,
    report: str | None,
    picture: str | None,
) -> None:
    """Compare figures that you already have.

    FILE is CSV with the columns system, metric, value; a column task makes a comparison for each task, with the mean of
    their correlations; a column run gives several values of one system: their mean and spread.
    """
    from dataclasses import replace

    from tallystick.files.figures import read_figures
    from tallystick.results.compare import compare_runs

    check_before()
    table = read_figures(file)
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
        compared = compare_runs(runs, ties=ties, ascending=ascending, metrics=table.metrics_of(task))
        own = table.digits(task, added, 0 if truncate else 1) if digits is None else {}
        most = max(own.values(), default=0) if digits is None else digits
        comparisons.append(replace(compared, title=task, digits=most, decimals=own, fractions=False))
    show_comparisons(
        comparisons, correlations=correlations, differences=False, format_=format_, truncate=truncate, report=report,
        picture=picture, title=Path(file).name,
    )  # fmt: skip
