"""The tables of a comparison: on a terminal, as TSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.reports.tables import Table, figure, latex_text

if TYPE_CHECKING:
    from tallystick.comparing.table import Cell, Comparison

LEGEND = "Letters: systems, by the letter before their name, that a figure is significantly above (p ≤ {alpha:g} after Holm's correction)."
ARROWS = "#: rank; ↑↓: places moved from the first metric."


WIDE, NARROW = 4, 8
"""So many metrics stand side by side, with intervals and without; more of them get a row each."""


def comparison_table(comparison: Comparison, *, truncate: bool = False) -> Table:
    """A row for each system: under each metric the figure, its interval or spread, whom it beats, its rank."""
    letters = comparison.letters
    most = WIDE if any(cell.interval for cell in comparison.cells.values()) else NARROW
    if len(comparison.metrics) > max(most, len(comparison.systems)):
        return _long_table(comparison, truncate)
    rows = [
        [
            f"{letters[system]} {system}" if comparison.differences else system,
            *(
                cell_text(_alone(comparison, system, metric), comparison.digits, truncate)
                for metric in comparison.metrics
            ),
        ]
        for system in comparison.systems
    ]
    return Table(["system", *comparison.metrics], rows, title=comparison.title, notes=_notes(comparison))


def _long_table(comparison: Comparison, truncate: bool) -> Table:
    """More metrics than fit side by side: a row for each, a column for each system."""
    names = [f"{comparison.letters[s]} {s}" if comparison.differences else s for s in comparison.systems]
    rows = [
        [metric, *(cell_text(_alone(comparison, s, metric), comparison.digits, truncate) for s in comparison.systems)]
        for metric in comparison.metrics
    ]
    return Table(["metric", *names], rows, title=comparison.title, notes=_notes(comparison))


def _alone(comparison: Comparison, system: str, metric: str) -> Cell:
    """A cell to show: among one system there are no ranks."""
    cell = comparison.cells[system, metric]
    return cell if len(comparison.systems) > 1 else replace(cell, rank=None, moved=0)


def _notes(comparison: Comparison) -> list[str]:
    notes = []
    levels = {d.interval.level for d in comparison.differences.values()}
    if levels:
        notes.append(
            intervals_are(comparison)
            + LEGEND.format(alpha=round(1 - max(levels), 10))
            + (f" {ARROWS}" if len(comparison.metrics) > 1 else " #: rank.")
        )
    elif len(comparison.metrics) > 1 and len(comparison.systems) > 1:
        notes.append(ARROWS)
    return notes


def intervals_are(comparison: Comparison) -> str:
    """What stands in brackets behind a figure, where something does."""
    levels = {
        cell.interval.level for cell in comparison.cells.values() if cell.interval and cell.interval.low is not None
    }
    return f"[ ]: {100 * max(levels):g} % interval. " if levels else ""


def cell_text(cell: Cell, digits: int = 4, truncate: bool = False) -> str:
    """`0.7932 [0.7811, 0.8049] bc #1 ↑2`"""
    if cell.value is None:
        return "–"
    parts = [shown(cell.value, digits, truncate)]
    if cell.spread is not None:
        parts.append(f"±{shown(cell.spread, digits)} ({cell.runs} runs)")
    if cell.interval is not None and cell.interval.low is not None and cell.interval.high is not None:
        parts.append(f"[{shown(cell.interval.low, digits)}, {shown(cell.interval.high, digits)}]")
    if cell.beats:
        parts.append(cell.beats)
    if cell.rank is not None:
        parts.append(f"#{cell.rank:g}")
    if cell.moved:
        parts.append(f"{'↑' if cell.moved > 0 else '↓'}{abs(cell.moved):g}")
    return " ".join(parts)


def shown(value: float, digits: int, truncate: bool = False) -> str:
    """A figure with so many decimals: rounded, or cut as the reference scorer of coreference does."""
    if truncate:
        value = math.floor(value * 10**digits + 1e-9) / 10**digits
    return f"{value:.{digits}f}"


def comparison_latex(comparison: Comparison, *, truncate: bool = False) -> str:
    """A tabular: figures in percent with their intervals, letters raised, and a column of ranks for each metric; among one
    system there are no ranks."""
    ranked = len(comparison.systems) > 1
    factor, digits = (100, max(1, comparison.digits - 2)) if comparison.fractions else (1, comparison.digits)

    def number(value: float) -> str:
        return shown(factor * value, digits, truncate)

    def cells(cell: Cell) -> list[str]:
        if cell.value is None:
            return ["--", ""] if ranked else ["--"]
        text = number(cell.value)
        if cell.spread is not None:
            text += f" $\\pm$ {number(cell.spread)}"
        if cell.beats:
            text += f"$^{{{cell.beats}}}$"
        if cell.interval is not None and cell.interval.low is not None and cell.interval.high is not None:
            text += f" {{\\scriptsize [{number(cell.interval.low)}, {number(cell.interval.high)}]}}"
        if not ranked:
            return [text]
        rank = f"{cell.rank:g}" if cell.rank is not None else ""
        if cell.moved:
            rank += (" $\\uparrow$" if cell.moved > 0 else " $\\downarrow$") + f"{abs(cell.moved):g}"
        return [text, rank]

    letters = comparison.letters
    names = [latex_text(metric) for metric in comparison.metrics]
    head = " & ".join(["System", *(f"\\multicolumn{{2}}{{l}}{{{name}}}" if ranked else name for name in names)])
    lines = [f"% {note}" for note in (*comparison.signatures, *_notes(comparison), *comparison.notes) if note]
    lines += [
        "\\begin{tabular}{l" + ("ll" if ranked else "l") * len(names) + "}",
        "\\toprule",
        f"{head} \\\\",
        "\\midrule",
    ]
    for system in comparison.systems:
        name = latex_text(system) + (f"$^{{{letters[system]}}}$" if comparison.differences else "")
        found = [part for metric in comparison.metrics for part in cells(comparison.cells[system, metric])]
        lines.append(" & ".join([name, *found]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def figures_only(comparisons: Sequence[Comparison]) -> Table:
    """A row for each system and metric, for programs."""
    rows: list[list[Any]] = []
    tasks = any(comparison.title for comparison in comparisons)
    for comparison in comparisons:
        for system in comparison.systems:
            for metric in comparison.metrics:
                c = comparison.cells[system, metric]
                low, high = (c.interval.low, c.interval.high) if c.interval else (None, None)
                row = [system, metric, c.value, low, high, c.spread, c.runs, c.rank, c.moved, c.beats]
                row.append(comparison.letters[system] if comparison.differences else "")
                rows.append([comparison.title, *row] if tasks else row)
    columns = ["system", "metric", "value", "low", "high", "spread", "runs", "rank", "moved", "beats", "letter"]
    return Table(["task", *columns] if tasks else columns, rows)


def correlations_table(correlations: Sequence[dict[str, Any]], title: str = "", *, as_text: bool = False) -> Table:
    """How much the metrics agree about the order of the systems; as text where a figure would be shown in percent."""
    rows = [
        [figure(value) if as_text and isinstance(value, float) else value for value in row.values()]
        for row in correlations
    ]
    return Table(["metric", "and", "spearman", "kendall a", "kendall b", "kendall c"], rows, title=title)


def differences_table(comparison: Comparison, *, as_text: bool = False) -> Table:
    """Every pair of systems under every metric: the difference, its interval, p, and p after Holm's correction."""
    rows = [
        [
            metric,
            a,
            b,
            *(figure(v) if as_text else v for v in (d.value, d.interval.low, d.interval.high, d.p, d.corrected)),
        ]
        for (metric, a, b), d in comparison.differences.items()
    ]
    return Table(["metric", "first", "second", "second - first", "low", "high", "p", "p (Holm)"], rows)
