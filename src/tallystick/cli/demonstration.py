"""`tallystick demo`: the main job on a bundled example, as a user would do it."""

from __future__ import annotations

import sys
from importlib.resources import files

import click


def run_demo() -> None:
    """Two commands, printed and run."""
    from tallystick.cli.commands import tallystick

    folder = files("tallystick.examples")
    gold, system, types = (
        str(folder / name) for name in ("invoices.gold.jsonl", "invoices.system.jsonl", "invoices.py")
    )
    steps = [
        ("How good is it, and which field is worst?", "score"),
        ("Why? The worst document, what was matched with what.", "explain"),
    ]
    for title, command in steps:
        arguments = [command, "records", gold, system, "--type", f"{types}:Invoice"]
        if command == "score":
            arguments += ["--format", "table"]
        click.secho(f"\n{title}", bold=True)
        click.echo("$ tallystick " + " ".join(a.replace(str(folder) + "/", "") for a in arguments))
        sys.stdout.flush()
        tallystick.main(arguments, prog_name="tallystick", standalone_mode=False)
        sys.stdout.flush()
    click.echo(f"\nThe files are in {folder}")
