"""The tables of a comparison: on a terminal, as TSV, Markdown, LaTeX or HTML.

Each has a legend, which says what the figures are and what stands around them: intervals, spreads, letters, ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.results.tables import figure_name
from tallystick.show.tables import Column, Table, latex_tabular, latex_text, notebook_table

if TYPE_CHECKING:
    from tallystick.results.comparison import Cell, Comparison, Measure

WIDE, NARROW = 4, 8
"""So many metrics stand side by side, with intervals and without; more of them get a row each."""
RANK = "#"
"""What stands before a rank; in Markdown another sign, since a site may take #4 for a link to something called 4."""
RANK_IN_MARKDOWN = "№"


def comparison_table(comparison: Comparison, *, truncate: bool = False, rank_sign: str = RANK) -> Table:
    """A row for each system: under each metric the figure, its interval or spread, whom it beats, its rank. Metrics that do not
    fit side by side have a row each, and the systems a column."""

    def text(system: str, metric: str) -> str:
        cell = _alone(comparison, system, metric)
        return cell_text(cell, comparison.digits_of(system, metric), truncate, rank_sign)

    letters = comparison.letters
    names = {s: f"{letters[s]} {s}" if comparison.differences else s for s in comparison.systems}
    head, rows = _laid_out(comparison, names, {m: m for m in comparison.metrics}, lambda s, m: [text(s, m)])
    return Table(head, rows, title=comparison.title, notes=legend(comparison, rank_sign))


def _laid_out(
    comparison: Comparison, systems: Mapping[str, str], metrics: Mapping[str, str],
    cells: Callable[[str, str], list[str]],
) -> tuple[list[str], list[list[str]]]:  # fmt: skip
    """Head and rows, with the names that systems and metrics are shown by: a row for each system, or for each metric if there are
    more metrics than fit side by side, and than there are systems."""
    most = WIDE if any(cell.interval for cell in comparison.cells.values()) else NARROW
    if len(metrics) > max(most, len(systems)):
        rows = [[name, *(part for s in systems for part in cells(s, m))] for m, name in metrics.items()]
        return ["metric", *systems.values()], rows
    rows = [[name, *(part for m in metrics for part in cells(s, m))] for s, name in systems.items()]
    return ["system", *metrics.values()], rows


def _alone(comparison: Comparison, system: str, metric: str) -> Cell:
    """A cell to show: among one system there are no ranks."""
    cell = comparison.cells[system, metric]
    return cell if len(comparison.systems) > 1 else replace(cell, rank=None, moved=0)


def legend(comparison: Comparison, rank_sign: str = RANK) -> list[str]:
    """What everything in the table is, in a line or two."""
    letters = letters_note(
        comparison, "Letters: systems, by the letter before their name, that a figure is significantly better than"
    )
    moves = f"; ↑↓: places moved from {_base(comparison)}" if len(comparison.metrics) > 1 else ""
    ranks = f"{rank_sign}: rank{moves}."
    return _lines(comparison, measures_note(comparison), letters, ranks)


def _latex_legend(comparison: Comparison) -> list[str]:
    """The same for a reader of the LaTeX source."""
    measures = measures_note(comparison)
    if comparison.fractions:
        measures = f"{measures[:-1]}, in percent." if measures else "Figures in percent."
    letters = letters_note(
        comparison,
        "Raised letters: systems, by the letter behind their name, that a figure is significantly better than",
    )
    moves = f", and by how many places it moved from {_base(comparison)}" if len(comparison.metrics) > 1 else ""
    return _lines(comparison, measures, letters, f"Behind each figure: its rank{moves}.")


def _lines(comparison: Comparison, measures: str, letters: str, ranks: str) -> list[str]:
    notes = [measures, intervals_note(comparison).strip()]
    if any(cell.spread is not None for cell in comparison.cells.values()):
        notes.append("±: standard deviation over runs.")
    if len(comparison.systems) > 1:
        notes.append(ranks)
    first = " ".join(filter(None, notes))
    return [*([first] if first else []), *([letters] if letters else [])]


def _base(comparison: Comparison) -> str:
    """The metric that arrows count from."""
    return comparison.base or comparison.metrics[0]


def letters_note(comparison: Comparison, meaning: str) -> str:
    """What letters are, that there are none, or nothing where nothing could be tested."""
    if all(d.p is None for d in comparison.differences.values()):
        return ""
    if not any(cell.beats for cell in comparison.cells.values()):
        return f"No difference is significant {_below(comparison)}."
    return f"{meaning} {_below(comparison)}."


def _below(comparison: Comparison) -> str:
    alpha = 1 - max((d.interval.level for d in comparison.differences.values()), default=1.0)
    return f"(p ≤ {round(alpha, 10):g} after Holm's correction)"


def measures_note(comparison: Comparison) -> str:
    """What the figures are: `Figures: F1.` or, where metrics differ, `Figures: F1, micro (segment); F1, macro (token, ts).`"""
    found: dict[Measure, list[str]] = {}
    for metric in comparison.metrics:
        if metric in comparison.measures:
            found.setdefault(comparison.measures[metric], []).append(metric)
    averaged = any(measure.average != "micro" for measure in found)
    parts = []
    for measure, metrics in found.items():
        name = measure_name(measure) if averaged else figure_name(measure.figure)
        name += ", lower is better" if measure.lower_is_better else ""
        parts.append(f"{name} ({', '.join(metrics)})" if len(found) > 1 else name)
    return f"Figures: {'; '.join(parts)}." if parts else ""


def measure_name(measure: Measure) -> str:
    """`F1, macro`"""
    average = "mean over documents" if measure.average == "documents" else measure.average
    return f"{figure_name(measure.figure)}, {average}"


def intervals_note(comparison: Comparison) -> str:
    """What stands in brackets behind a figure, where something does."""
    levels = {cell.interval.level for cell in comparison.cells.values() if cell.interval is not None and cell.ends}
    return f"[ ]: {100 * max(levels):g} % interval. " if levels else ""


def cell_text(cell: Cell, digits: int = 4, truncate: bool = False, rank_sign: str = RANK) -> str:
    """`0.7932 [0.7811, 0.8049] bc #1 ↑2`"""
    if cell.value is None:
        return "–"
    parts = [figure_digits(cell.value, digits, truncate)]
    if cell.spread is not None:
        parts.append(f"±{figure_digits(cell.spread, digits, truncate)} ({cell.runs} runs)")
    if cell.ends is not None:
        parts.append(f"[{', '.join(figure_digits(end, digits, truncate) for end in cell.ends)}]")
    if cell.beats:
        parts.append(cell.beats)
    if cell.rank is not None:
        parts.append(f"{rank_sign}{cell.rank:g}")
    if cell.moved:
        parts.append(f"{'↑' if cell.moved > 0 else '↓'}{abs(cell.moved):g}")
    return " ".join(parts)


def figure_digits(value: float, digits: int, truncate: bool = False) -> str:
    """A figure with so many decimals: rounded, or cut towards 0 as the reference scorer of coreference does. What has more
    digits than a float can hold is shown as Python writes it."""
    if digits > 17 or abs(value) >= 1e16:
        return repr(value)
    if truncate:
        value = math.trunc(value * 10**digits + math.copysign(1e-9, value)) / 10**digits
    return f"{value:.{digits}f}"


def comparison_html(comparison: Comparison) -> str:
    """A comparison in a notebook: systems by metrics, and what was computed."""
    table = comparison_table(comparison)
    signatures = [*comparison.signatures] or ([comparison.settings] if comparison.settings else [])
    return notebook_table(table, (*table.notes, *comparison.notes), signatures)


def comparison_latex(comparison: Comparison, *, truncate: bool = False) -> str:
    """A tabular, turned as the table on a terminal is: figures in percent with their intervals, letters raised, and a column of
    ranks behind each column of figures; among one system there are no ranks."""
    ranked = len(comparison.systems) > 1
    factor = 100 if comparison.fractions else 1

    def cells(system: str, metric: str) -> list[str]:
        cell, digits = comparison.cells[system, metric], comparison.digits_of(system, metric)
        if comparison.fractions:
            digits = max(1, digits - 2)

        def number(value: float) -> str:
            return latex_text(figure_digits(factor * value, digits, truncate))

        if cell.value is None:
            return ["--", ""] if ranked else ["--"]
        text = number(cell.value)
        if cell.spread is not None:
            text += f" $\\pm$ {number(cell.spread)}"
        if cell.beats:
            text += f"$^{{{cell.beats}}}$"
        if cell.ends is not None:
            text += f" {{\\scriptsize [{', '.join(map(number, cell.ends))}]}}"
        if not ranked:
            return [text]
        rank = f"{cell.rank:g}" if cell.rank is not None else ""
        if cell.moved:
            rank += (" $\\uparrow$" if cell.moved > 0 else " $\\downarrow$") + f"{abs(cell.moved):g}"
        return [text, rank]

    letters = comparison.letters
    systems = {
        s: latex_text(s) + (f"$^{{{letters[s]}}}$" if comparison.differences else "") for s in comparison.systems
    }
    (corner, *names), rows = _laid_out(comparison, systems, {m: latex_text(m) for m in comparison.metrics}, cells)
    head = [corner.capitalize(), *(f"\\multicolumn{{2}}{{l}}{{{name}}}" if ranked else name for name in names)]
    comments = [line for line in (*comparison.signatures, *_latex_legend(comparison), *comparison.notes) if line]
    return latex_tabular(comparison.title, "l" + ("ll" if ranked else "l") * len(names), head, rows, comments)


def figures_only(comparisons: Sequence[Comparison]) -> Table:
    """A row for each system and metric, for programs."""
    rows: list[list[Any]] = []
    tasks = any(comparison.title for comparison in comparisons)
    measured = any(comparison.measures for comparison in comparisons)
    for comparison in comparisons:
        for system in comparison.systems:
            for metric in comparison.metrics:
                c = comparison.cells[system, metric]
                low, high = (c.interval.low, c.interval.high) if c.interval else (None, None)
                row = [system, metric, c.value, low, high, c.spread, c.runs, c.rank, c.moved, c.beats]
                row.append(comparison.letters[system] if comparison.differences else "")
                if measured:
                    measure = comparison.measures.get(metric)
                    row += [measure.figure, measure.average] if measure else [None, None]
                rows.append([comparison.title, *row] if tasks else row)
    columns = ["system", "metric", "value", "low", "high", "spread", "runs", "rank", "moved", "beats", "letter"]
    columns += ["figure", "average"] if measured else []
    return Table(["task", *columns] if tasks else columns, rows)


def correlations_table(correlations: Sequence[dict[str, Any]], title: str = "") -> Table:
    """How much the metrics agree about the order of the systems."""
    coefficients = [Column(name, "number") for name in ("spearman", "kendall a", "kendall b", "kendall c")]
    return Table(["metric", "and", *coefficients], [list(row.values()) for row in correlations], title=title)


def differences_table(comparison: Comparison) -> Table:
    """Every pair of systems under every metric: the difference, its interval, p, and p after Holm's correction."""
    rows = [
        [metric, a, b, d.value, d.interval.low, d.interval.high, d.p, d.corrected]
        for (metric, a, b), d in comparison.differences.items()
    ]
    gains = [Column(name, "gain") for name in ("second - first", "low", "high")]
    return Table(["metric", "first", "second", *gains, Column("p", "number"), Column("p (Holm)", "number")], rows)
