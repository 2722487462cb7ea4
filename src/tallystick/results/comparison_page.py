"""The report of a comparison, and its pictures: systems by metrics, ranks that move, who is above whom, how much the metrics agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, counted
from tallystick.files.writing import write_atomically
from tallystick.results.comparison import mean_correlations
from tallystick.results.comparison_tables import (
    correlations_table,
    figure_digits,
    intervals_note,
    letters_note,
    measure_name,
    measures_note,
)
from tallystick.show.page import interval_bar, page_table, render_page, table_data
from tallystick.version import __version__

if TYPE_CHECKING:
    from tallystick.results.comparison import Cell, Comparison
    from tallystick.show.pictures import Picture
    from tallystick.show.tables import Table


def write_comparison(
    comparisons: Sequence[Comparison], path: str | Path, title: str = "Comparison", *, truncate: bool = False,
    own: Sequence[Sequence[Table]] = (),
) -> None:  # fmt: skip
    """Write the page of one or several comparisons, whole or not at all."""
    write_atomically(path, render_comparison(comparisons, title, truncate=truncate, own=own))


def render_comparison(
    comparisons: Sequence[Comparison], title: str = "Comparison", *, truncate: bool = False,
    own: Sequence[Sequence[Table]] = (),
) -> str:  # fmt: skip
    """The page as HTML. `own` has for each comparison the tables that its task adds; figures are rounded, or cut."""
    first = comparisons[0]
    tables = [[table for table in added if table.rows] for added in own] or [[] for _ in comparisons]
    means = mean_correlations(comparisons) if len(comparisons) > 1 else []
    notes = [note for one in comparisons for note in one.notes if note not in one.cautions]
    signatures = [line for one in comparisons for line in (one.signatures or ((one.settings,) if one.settings else ()))]
    subtitle = (
        f"{counted(len(first.systems), 'system')} · {counted(len(first.metrics), 'metric')} · tallystick {__version__}"
    )
    return render_page(
        "comparison.html.j2",
        ("page.js", "comparison.js"),
        {
            "tallystick": __version__,
            "title": title,
            "comparisons": [_data(one, added) for one, added in zip(comparisons, tables, strict=True)],
        },
        title=title,
        subtitle=subtitle
        if len(comparisons) == 1
        else f"{counted(len(comparisons), 'task')} · tallystick {__version__}",
        sections=_sections(comparisons, tables, bool(means), bool(signatures or notes)),
        comparisons=[_for_template(one, added, truncate) for one, added in zip(comparisons, tables, strict=True)],
        means=page_table(correlations_table(means, f"Mean of {len(comparisons)} tasks")) if means else None,
        signatures=signatures,
        notes=list(dict.fromkeys(notes)),
    )


def _sections(
    comparisons: Sequence[Comparison], tables: Sequence[Sequence[Table]], means: bool, signed: bool
) -> list[tuple[str, str]]:
    """Where the page can be entered: the parts of a comparison, or, of several, each by its title."""
    one = comparisons[0]
    known = [
        ("figures0", "Figures", True), ("own0", "Breakdown", bool(tables[0])), ("ranks0", "Ranks", _is_ranked(one)),
        ("pairs0", "Differences", bool(one.differences)), ("agree0", "Agreement", _agree(one)),
    ]  # fmt: skip
    if len(comparisons) > 1:
        known = [(f"figures{k}", each.title or f"Task {k + 1}", True) for k, each in enumerate(comparisons)]
    known += [("means", "Means", means), ("signature", "Signature", signed)]
    return [(anchor, name) for anchor, name, there in known if there]


def _data(one: Comparison, added: Sequence[Table]) -> dict[str, Any]:
    """A comparison for the page's script. The order of names stands by itself: a script's objects put numbers first."""
    tables = {"tables": [table_data(table) for table in added]} if added else {}
    return {**one.as_dict(), "alpha": _alpha(one), "order": [one.systems, one.metrics], **tables}


def _is_ranked(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 1


def _agree(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 2


def _alpha(one: Comparison) -> float | None:
    levels = {difference.interval.level for difference in one.differences.values()}
    return round(1 - max(levels), 10) if levels else None


def _for_template(one: Comparison, added: Sequence[Table], truncate: bool) -> dict[str, Any]:
    scales = {metric: _scale(one, metric) for metric in one.metrics}
    best = {metric: min(one.ranks(metric), default=1.0) for metric in one.metrics}
    letters = one.letters
    rows = []
    for system in one.systems:
        cells = []
        for metric in one.metrics:
            cell = one.cells[system, metric]
            first = len(one.systems) > 1 and cell.rank == best[metric]
            cells.append(_cell(one, cell, scales[metric], first, one.digits_of(system, metric), truncate))
        rows.append({"system": system, "letter": letters[system] if one.differences else "", "cells": cells})
    legend = [measures_note(one), intervals_note(one).replace("[ ]", "Below a figure").strip()]
    legend.append(letters_note(one, "Letters behind a figure name the systems that it is significantly better than"))
    if _is_ranked(one):
        legend.append(f"#: rank; arrows: places moved from {one.base or one.metrics[0]}. ★ is the best.")
    correlations = page_table(correlations_table(one.correlations(), "As numbers")) if _agree(one) else None
    tracks = [[f"{end:.3g}" for end in scales[metric]] for metric in one.metrics]
    return {
        "tracks": tracks, "title": one.title, "legend": " ".join(filter(None, legend)), "metrics": one.metrics, "rows": rows, "ranked": _is_ranked(one),
        "cautions": one.cautions, "tested": bool(one.differences), "alpha": _alpha(one), "correlations": correlations, "own": [page_table(table) for table in added],
    }  # fmt: skip


def _ends(cell: Cell) -> tuple[float, float] | None:
    """What is drawn around a figure: its interval, or its spread over runs."""
    if cell.value is None:
        return None
    if cell.ends is not None:
        return cell.ends
    return (cell.value - cell.spread, cell.value + cell.spread) if cell.spread is not None else None


def _scale(one: Comparison, metric: str) -> tuple[float, float]:
    """From where to where a metric's figures are drawn."""
    cells = [one.cells[system, metric] for system in one.systems]
    ends = [x for cell in cells for x in (_ends(cell) or ())] + [cell.value for cell in cells if cell.value is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.06 * (high - low) or max(abs(high), 1.0) * 0.05
    if 0 <= low <= high <= 1:  # a share is never more than all
        return max(0.0, low - room), min(1.0, high + room)
    return low - room, high + room


def _cell(
    one: Comparison, cell: Cell, scale: tuple[float, float], first: bool, digits: int = 4, truncate: bool = False
) -> dict[str, Any]:
    ends, around = _ends(cell), ""
    if cell.spread is not None:
        around = f"± {figure_digits(cell.spread, digits, truncate)}, {cell.runs} runs"
    if cell.ends is not None:
        interval = " to ".join(figure_digits(end, digits, truncate) for end in cell.ends)
        around = f"{interval}; {around}" if around else interval
    value = cell.value
    beaten = cell.beats.split(",") if len(one.systems) > 26 else list(cell.beats)
    above = [system for system, letter in one.letters.items() if letter in beaten]
    return {
        "value": "–" if value is None else figure_digits(value, digits, truncate),
        "sort": "" if value is None or math.isnan(value) else value,
        "rank": f"{cell.rank:g}" if cell.rank is not None and len(one.systems) > 1 else "",
        "moved": cell.moved or 0.0,
        "defined": value is not None,
        "beats": cell.beats,
        "above": ", ".join(above),
        "around": around,
        "first": first,
        "bar": interval_bar(value, ends, scale),
    }


# Pictures


def comparison_picture(comparison: Comparison, kind: str | None = None) -> Picture:
    """`figures`: each system with its interval, a panel for each metric. `ranks`: how ranks move from metric to metric.
    Both, one above the other, unless one is asked for (or there is nothing to rank)."""
    from tallystick.show.pictures import Block, Dots, Ranks, draw_blocks

    several = _is_ranked(comparison)
    chosen = [kind] if kind else ["figures", "ranks"] if several else ["figures"]
    if unknown := [name for name in chosen if name not in ("figures", "ranks")]:
        raise MetricError(f"a comparison has pictures of figures and of ranks, not of {unknown[0]!r}")
    if "ranks" in chosen and not several:
        raise MetricError("a picture of ranks needs two systems and two metrics")
    cells = {
        metric: {system: comparison.cells[system, metric] for system in comparison.systems}
        for metric in comparison.metrics
    }
    ranks = {metric: {system: cell.rank for system, cell in row.items()} for metric, row in cells.items()}
    dots = {
        metric: {system: (cell.value, _ends(cell)) for system, cell in row.items() if cell.value is not None}
        for metric, row in cells.items()
    }
    order = sorted(comparison.systems, key=lambda system: _place(ranks[comparison.metrics[0]][system]))
    labels = {metric: _axis_label(comparison, metric) for metric in comparison.metrics}
    blocks: dict[str, Block] = {"figures": Dots(order, dots, labels), "ranks": Ranks(comparison.systems, ranks)}
    return draw_blocks([blocks[name] for name in chosen])


def _place(rank: float | None) -> float:
    return math.inf if rank is None else rank


def _axis_label(comparison: Comparison, metric: str) -> str:
    """What a panel's dots and bars are: `F1, macro, 95 % interval`."""
    label = [measure_name(comparison.measures[metric])] if metric in comparison.measures else []
    cells = [comparison.cells[system, metric] for system in comparison.systems]
    levels = [cell.interval.level for cell in cells if cell.interval is not None and cell.ends]
    if levels:
        label.append(f"{100 * max(levels):g} % interval")
    elif any(cell.spread is not None for cell in cells):
        label.append("standard deviation of runs")
    return ", ".join(label)
