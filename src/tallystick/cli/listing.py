"""`tallystick list`: what there is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import click


def print_listing(tasks: Mapping[str, str], what: str) -> None:
    """Tasks, parts of metrics and formats, a line each."""
    from tallystick.cli.output import FORMATS

    if what in ("all", "tasks"):
        click.echo("Tasks (tallystick score TASK REFERENCE PREDICTED)")
        for name, help_ in tasks.items():
            click.echo(f"  {name:14}{help_}")
    if what in ("all", "similarities"):
        from tallystick.algebra.names import constructors

        click.echo("\nParts of a metric (for --metric, and in Python)" if what == "all" else "Parts of a metric")
        for name, part in constructors().items():
            summary = (inspect.getdoc(part) or "").split("\n")[0]
            click.echo(f"  {name:14}{summary}")
    if what in ("all", "formats"):
        click.echo("\nFormats" if what == "all" else "Formats")
        click.echo("  " + ", ".join(FORMATS))
