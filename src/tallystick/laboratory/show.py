"""What the laboratory found: a table for each metric, one table for many, and the numbers of curves."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.errors import TallystickError
from tallystick.files.writing import write_atomically
from tallystick.show.pictures import SUFFIXES, Picture, draw_panels
from tallystick.show.tables import Table, to_html, to_text

if TYPE_CHECKING:
    from tallystick.laboratory.properties import Report
    from tallystick.laboratory.subjects import Finding


MARKS = {"holds": "yes", "fails": "NO", "-": "-"}


def report_table(report: Report) -> Table:
    """A row for each property, with the smallest counterexample."""
    rows = [[f.name, f.verdict, f.detail, counterexample(f)] for f in report.findings]
    return Table(
        ["property", "verdict", "found", "smallest counterexample"], rows, title=f"{report.subject} ({report.headline})"
    )


def counterexample(finding: Finding, width: int = 160) -> str:
    """The structures of a failure in one line."""
    text = "; ".join(f"{label} {value!r}" for label, value in finding.counterexample)
    return text if len(text) <= width else text[: width - 1] + "…"


def overview_table(reports: Sequence[Report]) -> Table:
    """A row for each metric, a column for each property."""
    names = [finding.name for finding in reports[0].findings]
    rows = [[report.subject, *(MARKS[report[name].verdict] for name in names)] for report in reports]
    return Table(["metric", *names], rows)


def curves_table(reports: Sequence[Report]) -> Table:
    """A row for each curve: its ends, its steps and how far it is from straight."""
    rows = [
        [report.subject, c.name, c.scores[0], c.scores[-1], len(c.steps), c.smallest, c.largest, c.deviation, len(c.backward), len(c.uneven)]
        for report in reports
        for c in report.curves
    ]  # fmt: skip
    return Table(
        ["metric", "walk", "from", "to", "steps", "smallest", "largest", "off the line", "not monotone", "uneven"], rows
    )


def report_text(report: Report) -> str:
    """A report for a person."""
    return to_text(report_table(report), width=200)


# Curves as in Figure 4: the scores of several metrics along the same walks, one panel a walk.


def draw_curves(reports: Sequence[Report], path: str | Path) -> None:
    """Write the picture; the suffix says how: SVG, PNG, PDF, or an HTML page with the picture and all findings."""
    target = Path(path)
    if target.suffix not in (*SUFFIXES, ".html"):
        raise TallystickError(f"{target}: expected a name that ends with {', '.join((*SUFFIXES, '.html'))}")
    if target.suffix == ".html":
        write_atomically(target, checks_page(reports))
    else:
        _picture(reports).save(target)


def _picture(reports: Sequence[Report]) -> Picture:
    """A panel for each walk: several kinds of structures have walks of other names."""
    panels: dict[str, list[tuple[str, Sequence[float]]]] = {}
    for report in reports:
        for curve in report.curves:
            panels.setdefault(curve.name, []).append((report.subject, curve.scores))
    return draw_panels(panels, "edits", "score")


def checks_page(reports: Sequence[Report]) -> str:
    """One self-contained page: the picture, the table of all properties, the curves' numbers, every counterexample."""
    failures = []
    for report in reports:
        items = "".join(
            f"<li><b>{html.escape(f.name)}</b>: {html.escape(f.detail)}<br><code>{html.escape(counterexample(f, 600))}</code></li>"
            for f in report.failures
        )
        failures.append(f"<h3>{html.escape(report.subject)}</h3><ul>{items or '<li>nothing fails</li>'}</ul>")
    style = (
        "body{font-family:sans-serif;max-width:75em;margin:2em auto;padding:0 1em}table{border-collapse:collapse;font-size:.85em}"
        "td,th{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:left}svg{max-width:100%;height:auto}code{font-size:.85em}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>tallystick check</title><style>{style}</style>'
        f"<h1>tallystick check</h1>{_picture(reports)._repr_svg_()}<h2>Curves</h2>{to_html(curves_table(reports))}"
        f"<h2>Properties</h2>{to_html(overview_table(reports))}<h2>What fails</h2>{''.join(failures)}</html>\n"
    )
