"""The files of a `score` command: the report to look at, and the tallies of the documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tallystick.cli.tasks import task

if TYPE_CHECKING:
    from tallystick.cli.output import Common
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table


def write_files(
    results: Mapping[str, Result], common: Common, *, tables: Sequence[Table], title: str,
    report: Callable[[], Parts] | None = None,
) -> list[str]:  # fmt: skip
    """The report and the tallies, before anything is printed: a reader that leaves early (`| head`) does not cost them. What is
    to be said about them in the end."""
    said = []
    if common.report:
        from tallystick.results.report import Page, Parts, write_report

        parts = report() if report is not None else Parts()
        parts = replace(parts, tables=[*parts.tables, *_beside(parts, tables)], further=_further())
        write_report(Page(title, results, parts, common.report_documents), common.report)
        said.append(f"report: {common.report}")
        if parts.absent:
            said.append("the report has no alignments and no tables of its own: they need the whole corpus at hand")
    if common.tallies:
        from tallystick.results.tables import write_tallies

        write_tallies(results, common.tallies)
        said.append(f"tallies: {common.tallies}")
    return said


def _beside(parts: Parts, printed: Sequence[Table]) -> list[Table]:
    """The printed tables that the report does not have already, perhaps under a title of its own, with more rows, or with
    more in them: the same columns, and the same first column as far as both go. Each of its tables stands for one."""
    own = [table for section in parts.filled_sections for table in section.tables]
    out = []
    for table in printed:
        covers = (k for k, one in enumerate(own) if _says(one, table))
        covered = next(covers, None)
        if covered is None:
            out.append(table)
        else:
            own.pop(covered)
    return out


def _says(one: Table, table: Table) -> bool:
    return list(one.columns) == list(table.columns) and all(
        ours[0] == theirs[0] for ours, theirs in zip(one.rows, table.rows, strict=False)
    )


def _further() -> str:
    """The command that shows any document of this task, where there is one."""
    from tallystick.cli.commands import TASKS

    context = click.get_current_context(silent=True)
    name = context.info_name if context is not None else None
    return f"tallystick explain {name}" if name in TASKS and task(name).explain is not None else ""
