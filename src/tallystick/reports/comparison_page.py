"""The report of a comparison: systems by metrics, ranks that move, who is above whom, how much the metrics agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick import __version__
from tallystick.errors import counted
from tallystick.reports.comparison import correlations_table, intervals_are, letters_are, measures_are, shown
from tallystick.reports.page import rendered, shown_table
from tallystick.writing import write_atomically

if TYPE_CHECKING:
    from tallystick.comparing.table import Cell, Comparison


def write_comparison(comparisons: Sequence[Comparison], path: str | Path, title: str = "Comparison") -> None:
    """Write the page of one or several comparisons, whole or not at all."""
    write_atomically(path, render_comparison(comparisons, title))


def render_comparison(comparisons: Sequence[Comparison], title: str = "Comparison") -> str:
    """The page as HTML."""
    from tallystick.comparing.table import mean_correlations

    first = comparisons[0]
    sections = [("figures0", "Figures")]
    if _is_ranked(first):
        sections.append(("ranks0", "Ranks"))
    if first.differences:
        sections.append(("pairs0", "Differences"))
    if _agree(first):
        sections.append(("agree0", "Agreement"))
    means = mean_correlations(comparisons) if len(comparisons) > 1 else []
    notes = [note for one in comparisons for note in one.notes if note not in one.cautions]
    signatures = [line for one in comparisons for line in (one.signatures or ((one.settings,) if one.settings else ()))]
    subtitle = (
        f"{counted(len(first.systems), 'system')} · {counted(len(first.metrics), 'metric')} · tallystick {__version__}"
    )
    return rendered(
        "comparison.html.j2",
        ("page.js", "comparison.js"),
        {
            "tallystick": __version__,
            "title": title,
            "comparisons": [{**one.as_dict(), "alpha": _alpha(one)} for one in comparisons],
        },
        title=title,
        subtitle=subtitle
        if len(comparisons) == 1
        else f"{counted(len(comparisons), 'task')} · tallystick {__version__}",
        sections=[*sections, *([("signature", "Signature")] if signatures or notes else [])],
        comparisons=[_shown(one) for one in comparisons],
        means=shown_table(correlations_table(means, f"Mean of {len(comparisons)} tasks")) if means else None,
        signatures=signatures,
        notes=list(dict.fromkeys(notes)),
    )


def _is_ranked(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 1


def _agree(one: Comparison) -> bool:
    return len(one.metrics) > 1 and len(one.systems) > 2


def _alpha(one: Comparison) -> float | None:
    levels = {difference.interval.level for difference in one.differences.values()}
    return round(1 - max(levels), 10) if levels else None


def _shown(one: Comparison) -> dict[str, Any]:
    scales = {metric: _scale(one, metric) for metric in one.metrics}
    best = {metric: min(one.ranks(metric), default=1.0) for metric in one.metrics}
    letters = one.letters
    rows = []
    for system in one.systems:
        cells = []
        for metric in one.metrics:
            cell = one.cells[system, metric]
            first = len(one.systems) > 1 and cell.rank == best[metric]
            cells.append(_cell(one, cell, scales[metric], first, one.digits_of(system, metric)))
        rows.append({"system": system, "letter": letters[system] if one.differences else "", "cells": cells})
    legend = [measures_are(one), intervals_are(one).replace("[ ]", "Below a figure").strip()]
    legend.append(letters_are(one, "Letters behind a figure name the systems that it is significantly above"))
    if _is_ranked(one):
        legend.append(f"#: rank; arrows: places moved from {one.base or one.metrics[0]}. ★ is the best.")
    correlations = shown_table(correlations_table(one.correlations(), "As numbers")) if _agree(one) else None
    tracks = [[f"{end:.3g}" for end in scales[metric]] for metric in one.metrics]
    return {
        "tracks": tracks, "title": one.title, "legend": " ".join(filter(None, legend)), "metrics": one.metrics, "rows": rows, "ranked": _is_ranked(one),
        "cautions": one.cautions, "tested": bool(one.differences), "alpha": _alpha(one), "correlations": correlations,
    }  # fmt: skip


def _ends(cell: Cell) -> tuple[float, float] | None:
    """What is drawn around a figure: its interval, or its spread over runs."""
    if cell.value is None:
        return None
    if cell.interval is not None and cell.interval.low is not None and cell.interval.high is not None:
        return cell.interval.low, cell.interval.high
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


def _cell(one: Comparison, cell: Cell, scale: tuple[float, float], first: bool, digits: int = 4) -> dict[str, Any]:
    def share(x: float) -> float:
        return 100 * min(1.0, max(0.0, (x - scale[0]) / (scale[1] - scale[0])))

    ends, said = _ends(cell), ""
    if cell.spread is not None:
        said = f"± {shown(cell.spread, digits)}, {cell.runs} runs"
    if cell.interval is not None and cell.interval.low is not None and cell.interval.high is not None:
        interval = f"{shown(cell.interval.low, digits)} to {shown(cell.interval.high, digits)}"
        said = f"{interval}; {said}" if said else interval
    value = cell.value
    beaten = cell.beats.split(",") if len(one.systems) > 26 else list(cell.beats)
    above = [system for system, letter in one.letters.items() if letter in beaten]
    return {
        "value": "–" if value is None else shown(value, digits),
        "sort": "" if value is None or math.isnan(value) else value,
        "rank": f"{cell.rank:g}" if cell.rank is not None and len(one.systems) > 1 else "",
        "moved": cell.moved or 0.0,
        "defined": value is not None,
        "beats": cell.beats,
        "above": ", ".join(above),
        "said": said,
        "first": first,
        "bar": {
            "share": share(value or 0.0), "known": ends is not None,
            "low": share(ends[0]) if ends else 0.0, "high": share(ends[1]) if ends else 0.0,
        },
    }  # fmt: skip
