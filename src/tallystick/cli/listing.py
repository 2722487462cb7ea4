"""`tallystick list`: what there is."""

from __future__ import annotations

import inspect

import click


def print_listing(what: str) -> None:
    """Tasks, parts of metrics and formats, a line each."""
    from tallystick.cli.output import FORMATS

    if what in ("all", "tasks"):
        click.echo("Tasks (tallystick score TASK REFERENCE PREDICTED)")
        from tallystick.tasks.contract import find_task, task_names

        for name in task_names():
            click.echo(f"  {name:14}{find_task(name).summary}")
    if what in ("all", "similarities"):
        from tallystick.algebra.parse import constructors

        click.echo("\nParts of a metric (for --metric, and in Python)" if what == "all" else "Parts of a metric")
        for name, part in constructors().items():
            summary = (inspect.getdoc(part) or "").split("\n")[0]
            click.echo(f"  {name:14}{summary}")
    if what in ("all", "formats"):
        click.echo("\nFormats" if what == "all" else "Formats")
        click.echo("  " + ", ".join(FORMATS))
