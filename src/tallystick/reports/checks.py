"""What the laboratory found: a table for each metric, one table for many, and the numbers of curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.reports.tables import Table, to_text

if TYPE_CHECKING:
    from tallystick.checking.experiments import Finding
    from tallystick.checking.laboratory import Report

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
