"""Comparisons on standard output; signatures and notes on standard error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.main import chosen_format, save_picture, say, show_tables
from tallystick.cli.options import FILE, PICTURE, Layout, refuse_overwriting
from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.show.tables import WRITERS, Table, choose

if TYPE_CHECKING:
    from tallystick.results.comparison import Comparison
    from tallystick.results.parts import PartComparisons


@frozen
class Showing:
    """How comparisons are shown: which tables beside the figures, in which format, as a page and as a picture."""

    correlations: bool = False
    differences: bool = False
    format_: str | None = None
    report: str | None = None
    picture: str | None = None
    truncate: bool = False
    layout: Layout = Layout()
    title: str = "Comparison"
    own_tables: Callable[[Comparison], Sequence[Table]] | None = None
    """A task's own tables, which are for people, not for TSV or JSON."""
    by: PartComparisons | None = None
    """The same systems by field or label."""
    parts: PartComparisons | None = None
    """The same for the page alone."""
    board: bool = False
    """Whether it is a leaderboard, which also has the groups that are not significantly apart."""


def show_comparisons(comparisons: Sequence[Comparison], how: Showing) -> None:
    """One or several comparisons (of one task each) in the chosen format, as a page and as a picture."""
    kind = chosen_format(how.format_)
    comparisons = _chosen(comparisons, how.layout.columns)
    own = [how.own_tables(one) for one in comparisons] if how.own_tables is not None else []
    _write(comparisons, how, own)
    if kind == "json":
        _show_json(comparisons, how.by)
        return
    left_out = _left_out(comparisons) if how.correlations else ""
    _show_tables(comparisons, how, kind, [table for tables in own for table in tables], left_out)
    signatures = [signature for one in comparisons for signature in one.signatures]
    notes = [*(note for one in comparisons for note in one.notes), *([left_out] if left_out else [])]
    notes += [note for note in (how.by.cautions if how.by else ()) if note not in notes]
    writer = WRITERS.get(kind)
    if writer is not None and writer.below is not None:
        for line in writer.below(signatures, notes):
            click.echo(line)
    for line in (*(f"signature: {signature}" for signature in signatures), *notes):
        say(line)


def _chosen(comparisons: Sequence[Comparison], columns: Mapping[str, str] | None) -> list[Comparison]:
    """The comparisons under the metrics that are to be shown; one that has none of them is left out."""
    if columns is None:
        return list(comparisons)
    called = choose(columns, list(dict.fromkeys(metric for one in comparisons for metric in one.metrics)), "metric")
    chosen = [replace(one, metrics=tuple(metric for metric in called if metric in one.metrics)) for one in comparisons]
    return [one for one in chosen if one.metrics]


def _write(comparisons: Sequence[Comparison], how: Showing, own: Sequence[Sequence[Table]]) -> None:
    """The page and the pictures."""
    pictures = _pictures(how.picture, len(comparisons)) if how.picture else []
    refuse_overwriting(
        [*([("--report", how.report)] if how.report else []), *(("--picture", name) for name in pictures)]
    )
    if how.report:
        from tallystick.results.comparison_show import write_comparison

        parts = how.by or how.parts
        added = [list(tables) for tables in own] or [[] for _ in comparisons]
        if parts is not None:
            added[0] += parts
        write_comparison(comparisons, how.report, how.title, truncate=how.truncate, own=added)
        say(f"report: {how.report}")
    for name, comparison in zip(pictures, comparisons, strict=False):
        for line in save_picture(comparison.plot(), name):
            say(line)


def _show_tables(
    comparisons: Sequence[Comparison], how: Showing, kind: str, own: Sequence[Table], left_out: str
) -> None:
    from tallystick.results import comparison_show as tables

    more = [*_more_tables(comparisons, how), *(how.by or ())]
    writer = WRITERS.get(kind)
    called = how.layout.columns or {metric: metric for one in comparisons for metric in one.metrics}
    style = replace(how.layout.style, truncate=how.truncate)
    if writer is not None and writer.for_programs:
        several = len(comparisons) > 1 and more
        first = tables.figures_only(comparisons, called)
        show_tables([first, *([_joined(more)] if several else more)], how.format_, style=style)
        return
    resolved = style if writer is None else writer.style(style)
    for k, one in enumerate(comparisons):
        chosen = {metric: name for metric, name in called.items() if metric in one.metrics}
        if k:
            click.echo()
        comments = [*tables.comments_of(one), *([left_out] if left_out and k == len(comparisons) - 1 else [])]
        show_tables([tables.comparison_table(one, resolved, chosen)], how.format_, one.signatures, comments, style)
    if own or more:
        click.echo()
    show_tables([*own, *more], how.format_, style=replace(style, caption=""))


def page_options() -> list[click.Option]:
    """The options of what can be looked at."""
    return [
        click.Option(["--report"], type=FILE, metavar="FILE.html", help="Also write an HTML report: one file that works offline."),
        click.Option(
            ["--picture"], type=PICTURE, metavar="FILE", help="Also draw figures and ranks for a paper: .svg, .png or .pdf (needs matplotlib)."
        ),
    ]  # fmt: skip


def base_option(taken: Collection[str] = ()) -> click.Option:
    """Which metric the arrows of ranks count from; under its long name only, where a task's own option has the short one."""
    names = [name for name in ("--from", "--arrows-from") if name not in taken]
    return click.Option(
        [*names, "base"], metavar="METRIC", help="The metric from which the arrows count how far ranks moved."
    )


def ties_option() -> click.Option:
    """How equal figures are ranked."""
    return click.Option(
        ["--ties"], type=click.Choice(["mean", "order"]), default="mean", show_default=True,
        help="Ranks of equal figures: the mean of their ranks, or in the given order.",
    )  # fmt: skip


def base_among(base: str, metrics: Collection[str]) -> str:
    """The metric that was asked for, which has to be compared."""
    if base not in metrics:
        raise MetricError(
            f"--from {base}: it is not among the metrics here, {', '.join(metrics)}.{did_you_mean(base, metrics)}"
        )
    return base


def _pictures(name: str, tasks: int) -> list[str]:
    """A picture for each task: `ranks.svg`, or `ranks-1.svg`, `ranks-2.svg`, ..."""
    path = Path(name)
    return [name] if tasks == 1 else [str(path.with_name(f"{path.stem}-{k + 1}{path.suffix}")) for k in range(tasks)]


def _show_json(comparisons: Sequence[Comparison], by: PartComparisons | None = None) -> None:
    from tallystick.files.writing import to_json
    from tallystick.results.comparison import mean_correlations, pairs_left_out
    from tallystick.version import __version__

    if len(comparisons) == 1:
        parts = {"by": {by.what: by.as_dict()}} if by is not None else {}
        click.echo(to_json({"tallystick": __version__, **comparisons[0].as_dict(), **parts}))
        return
    content = {
        "tallystick": __version__,
        "tasks": {comparison.title: comparison.as_dict() for comparison in comparisons},
        "mean_correlations": mean_correlations(comparisons),
        "left_out_of_mean": pairs_left_out(comparisons),
    }
    click.echo(to_json(content))


def _joined(tables: Sequence[Table]) -> Table:
    """Tables of several tasks as one, for programs."""
    return Table(["task", *tables[0].columns], [[table.title, *row] for table in tables for row in table.rows])


def _more_tables(comparisons: Sequence[Comparison], how: Showing) -> list[Table]:
    from tallystick.results.comparison import mean_correlations
    from tallystick.results.comparison_show import correlations_table, differences_table, groups_table, splits_table

    correlations = how.correlations
    out = [splits_table(comparison) for comparison in comparisons if comparison.splits]
    if how.board:
        out += [table for comparison in comparisons if (table := groups_table(comparison)).rows]
    if how.differences:
        out += [differences_table(comparison) for comparison in comparisons if comparison.differences]
    if correlations:
        out += [
            correlations_table(comparison.correlations(), comparison.title)
            for comparison in comparisons
            if len(comparison.metrics) > 1 and not (how.board and len(comparison.systems) < 2)
        ]
        means = mean_correlations(comparisons) if len(comparisons) > 1 else []
        if means:
            out.append(correlations_table(means, f"mean of {len(comparisons)} tasks"))
    return out


def _left_out(comparisons: Sequence[Comparison]) -> str:
    """What the mean of the correlations does not have."""
    from tallystick.errors import some
    from tallystick.results.comparison import pairs_left_out

    pairs = [f"{first} and {second}" for first, second in pairs_left_out(comparisons)]
    if not pairs:
        return ""
    return f"The mean of the correlations leaves out {some(pairs)}: not all of the {len(comparisons)} tasks have both."
