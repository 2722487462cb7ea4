"""The tables of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallystick.reports.tables import Table

if TYPE_CHECKING:
    from tallystick.comparing.systems import Cell, Comparison


def comparison_table(comparison: Comparison) -> Table:
    """A row for each system: under each metric the figure, its interval or spread, whom it beats, its rank."""
    letters = comparison.letters
    rows = []
    for system in comparison.systems:
        row = [f"{letters[system]} {system}"]
        row += [cell_text(comparison.cells[system, metric]) for metric in comparison.metrics]
        rows.append(row)
    notes = list(comparison.notes)
    if comparison.differences:
        notes.append(
            "Letters behind a figure: systems that it is significantly above. #: rank; ↑↓: moved from the first metric."
        )
    return Table(["system", *comparison.metrics], rows, notes=notes)


def cell_text(cell: Cell) -> str:
    """`0.7932 [0.7811, 0.8049] bc #1 ↑2`"""
    if cell.value is None:
        return "–"
    parts = [f"{cell.value:.4f}"]
    if cell.interval is not None:
        parts.append(str(cell.interval))
    if cell.spread is not None:
        parts.append(f"±{cell.spread:.4f} ({cell.runs} runs)")
    if cell.beats:
        parts.append(cell.beats)
    if cell.rank is not None:
        parts.append(f"#{cell.rank:g}")
    if cell.moved:
        parts.append(f"{'↑' if cell.moved > 0 else '↓'}{abs(cell.moved):g}")
    return " ".join(parts)


def figures_only(comparison: Comparison) -> Table:
    """A row for each system and metric, for programs."""
    rows = []
    for system in comparison.systems:
        for metric in comparison.metrics:
            c = comparison.cells[system, metric]
            low, high = (c.interval.low, c.interval.high) if c.interval else (None, None)
            rows.append([system, metric, c.value, low, high, c.spread, c.runs, c.rank, c.moved, c.beats])
    return Table(["system", "metric", "value", "low", "high", "spread", "runs", "rank", "moved", "beats"], rows)


def correlations_table(comparison: Comparison) -> Table:
    """How much the metrics agree about the order of the systems."""
    rows = [list(row.values()) for row in comparison.correlations()]
    return Table(["metric", "and", "spearman", "kendall a", "kendall b", "kendall c"], rows)
