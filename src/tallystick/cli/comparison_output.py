"""Comparisons on standard output; signatures and notes on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import chosen_format, say, show_tables
from tallystick.cli.outputs import FILE, PICTURE, refuse_overwriting

if TYPE_CHECKING:
    from tallystick.comparing.table import Comparison
    from tallystick.reports.tables import Table

FORMATS = ("table", "json", "tsv", "markdown", "latex", "html")


def show_comparisons(
    comparisons: Sequence[Comparison], *, correlations: bool, differences: bool, format_: str | None,
    truncate: bool = False, report: str | None = None, picture: str | None = None, title: str = "Comparison",
    own_tables: Callable[[Comparison], Sequence[Table]] | None = None,
) -> None:  # fmt: skip
    """One or several comparisons (of one task each) in the chosen format, as a page and as a picture. A task's own tables are
    for people, not for TSV or JSON."""
    kind = chosen_format(format_)
    several = len(comparisons) > 1
    pictures = [_numbered(picture, k + 1) if several else picture for k in range(len(comparisons))] if picture else []
    refuse_overwriting([*([("--report", report)] if report else []), *(("--picture", name) for name in pictures)])
    if report:
        from tallystick.reports.comparison_page import write_comparison

        write_comparison(comparisons, report, title)
        say(f"report: {report}")
    for name, comparison in zip(pictures, comparisons, strict=False):
        comparison.plot().save(name)
        say(f"picture: {name}")
    if kind == "json":
        _show_json(comparisons)
        return
    if kind == "latex":
        from tallystick.reports.comparison import comparison_latex

        for comparison in comparisons:
            click.echo(
                (f"% {comparison.title}\n" if comparison.title else "")
                + comparison_latex(comparison, truncate=truncate)
            )
        show_tables(_more_tables(comparisons, correlations, differences, as_text=True), format_)
    else:
        tables = _tables(comparisons, kind, correlations, differences, truncate)
        if own_tables is not None and kind != "tsv":
            tables[len(comparisons) : len(comparisons)] = [table for one in comparisons for table in own_tables(one)]
        show_tables(tables, format_)
    for comparison in comparisons:
        for signature in comparison.signatures:
            say(f"signature: {signature}")
        for note in comparison.notes:
            say(note)


def page_options() -> list[click.Option]:
    """The options of what can be looked at."""
    return [
        click.Option(["--report"], type=FILE, metavar="FILE.html", help="Also write a page to look at: one file that works offline."),
        click.Option(
            ["--picture"], type=PICTURE, metavar="FILE", help="Also draw figures and ranks for a paper: .svg, .png or .pdf (needs matplotlib)."
        ),
    ]  # fmt: skip


def _numbered(name: str, k: int) -> str:
    """A picture for each task: `ranks.svg` is `ranks-1.svg`, `ranks-2.svg`, ..."""
    path = Path(name)
    return str(path.with_name(f"{path.stem}-{k}{path.suffix}"))


def _show_json(comparisons: Sequence[Comparison]) -> None:
    from tallystick import __version__
    from tallystick.comparing.table import mean_correlations

    content: dict[str, Any] = {"tallystick": __version__}
    if len(comparisons) == 1:
        content |= comparisons[0].as_dict()
    else:
        content |= {
            "tasks": {comparison.title: comparison.as_dict() for comparison in comparisons},
            "mean_correlations": mean_correlations(comparisons),
        }
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _tables(
    comparisons: Sequence[Comparison], kind: str, correlations: bool, differences: bool, truncate: bool
) -> list[Table]:
    from tallystick.reports.comparison import comparison_table, figures_only

    if kind == "tsv":
        more = _more_tables(comparisons, correlations, differences)
        return [figures_only(comparisons), *([_joined(more)] if len(comparisons) > 1 and more else more)]
    first = [comparison_table(comparison, truncate=truncate) for comparison in comparisons]
    return first + _more_tables(comparisons, correlations, differences)


def _joined(tables: Sequence[Table]) -> Table:
    """Tables of several tasks as one, for programs."""
    from tallystick.reports.tables import Table

    return Table(["task", *tables[0].columns], [[table.title, *row] for table in tables for row in table.rows])


def _more_tables(
    comparisons: Sequence[Comparison], correlations: bool, differences: bool, *, as_text: bool = False
) -> list[Table]:
    from tallystick.comparing.table import mean_correlations
    from tallystick.reports.comparison import correlations_table, differences_table

    out = []
    if differences:
        out += [differences_table(comparison, as_text=as_text) for comparison in comparisons if comparison.differences]
    if correlations:
        out += [
            correlations_table(comparison.correlations(), comparison.title, as_text=as_text)
            for comparison in comparisons
            if len(comparison.metrics) > 1
        ]
        if len(comparisons) > 1 and out:
            out.append(
                correlations_table(mean_correlations(comparisons), f"mean of {len(comparisons)} tasks", as_text=as_text)
            )
    return out
