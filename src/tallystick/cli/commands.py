"""`tallystick`: the command line."""

from __future__ import annotations

import click

from tallystick import __version__
from tallystick.cli.lazy import LazyGroup

TASKS = {
    "coreference": "MUC, B³, CEAF, BLANC, LEA and the CoNLL score over CoNLL, CorefUD or JSONL files",
    "templates": "eq. 32, gtt's and IterX's scorers, BETTER, and the official MUC-4 report",
    "records": "any records of your own: two JSONL files and a type",
}


def _tasks(command: str) -> dict[str, tuple[str, str]]:
    return {task: (f"tallystick.cli.{task}:{command}", help_) for task, help_ in TASKS.items()}


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tallystick")
def tallystick() -> None:
    """Evaluate structured predictions: entities, relations, events, templates, coreference, records.

    \b
    tallystick demo                                     a first look
    tallystick score coreference KEY.conll RESPONSE.conll
    tallystick score records GOLD.jsonl SYSTEM.jsonl --type mymodule:Invoice
    tallystick explain records GOLD.jsonl SYSTEM.jsonl --type mymodule:Invoice --document 17

    Reference first, prediction second. Files may be .gz, and - is standard input. Exit codes: 0 fine, 1 a --fail-under
    was missed, 2 wrong usage or unreadable input, 3 the two files do not fit together.
    """


@tallystick.group(cls=LazyGroup, lazy=_tasks("score"))
def score() -> None:
    """Score a prediction against a reference."""


@tallystick.group(cls=LazyGroup, lazy=_tasks("explain"))
def explain() -> None:
    """Show what was matched with what in one document, and why."""


@tallystick.command("list")
@click.argument("what", type=click.Choice(["all", "tasks", "similarities", "formats"]), default="all")
def list_(what: str) -> None:
    """List the tasks, the parts that metrics are made of, and the output formats."""
    from tallystick.cli.listing import print_listing

    print_listing(TASKS, what)


@tallystick.command()
def demo() -> None:
    """Score a small bundled example and show why it scores what it scores."""
    from tallystick.cli.demonstration import run_demo

    run_demo()
