"""`tallystick`: the command line."""

from __future__ import annotations

import click

from tallystick.cli.lazy import LazyGroup
from tallystick.version import __version__


def _score(task: str) -> click.Command:
    from tallystick.cli.score import score_command

    return score_command(task)


def _explain(task: str) -> click.Command:
    from tallystick.cli.score import explain_command

    return explain_command(task)


COMMANDS = {
    "compare": ("tallystick.cli.compare:compare", "Compare several systems, with intervals and significance."),
    "check": ("tallystick.cli.check:check", "Check what a metric does: identity, symmetry, monotonicity, order, ..."),
}


JUDGING = {
    "export": (
        "tallystick.cli.judge_files:export",
        "Put what no rule decides into a store; tasks for Label Studio, JSON Lines.",
    ),
    "serve": ("tallystick.cli.judge:serve", "Judge in a page of your browser."),
    "terminal": ("tallystick.cli.judge:terminal", "Judge in the terminal."),
    "import": ("tallystick.cli.judge_files:import_", "Take judgements from Label Studio or JSON Lines."),
    "ask": ("tallystick.cli.judge:ask", "Ask a language model."),
    "train": ("tallystick.cli.judge_files:train", "Train a classifier over embeddings on a store's labels."),
    "agreement": ("tallystick.cli.judge:agreement", "Kappa between judges, and where they differ."),
    "judges": ("tallystick.cli.judge:judges", "Who has judged; mark the more experienced."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tallystick")
def tallystick() -> None:
    """Evaluate structured predictions: entities, relations, events, templates, coreference, records.

    \b
    tallystick demo                                     a first look
    tallystick score coreference KEY.conll RESPONSE.conll
    tallystick score spans GOLD.iob SYSTEM.iob
    tallystick score amr GOLD.amr SYSTEM.amr --subscores
    tallystick score records GOLD.jsonl SYSTEM.jsonl
    tallystick explain records GOLD.jsonl SYSTEM.jsonl --document 17
    tallystick check coreference.muc                    what a metric does and does not

    Reference first, prediction second. Files may be .gz or .zst, those of records and spans .parquet or .arrow,
    and - is standard input. Exit codes: 0 fine, 1 a --fail-under
    was missed, 2 wrong usage or unreadable input, 3 the two files do not fit together.
    """


@tallystick.group(cls=LazyGroup, tasks=_score)
def score() -> None:
    """Score a prediction against a reference.

    Confidence intervals: `tallystick compare TASK REFERENCE PREDICTED` prints them, also of one system alone;
    the page that --report writes has them too.
    """


@tallystick.group(cls=LazyGroup, tasks=_explain, explained=True)
def explain() -> None:
    """Show what was matched with what in one document, and why."""


@tallystick.group(cls=LazyGroup, lazy=JUDGING)
def judge() -> None:
    """Let people, or models, decide what no rule can: does this candidate mean what a reference means?

    \b
    tallystick judge export GOLD SYSTEM... --store judgements.sqlite --top 500
    tallystick judge serve judgements.sqlite
    tallystick judge agreement judgements.sqlite
    tallystick score arguments GOLD SYSTEM --judge judgements.sqlite
    """


@tallystick.command("list")
@click.argument("what", type=click.Choice(["all", "tasks", "similarities", "formats"]), default="all")
def list_(what: str) -> None:
    """List the tasks, the parts that metrics are made of, and the output formats."""
    from tallystick.cli.listing import print_listing

    print_listing(what)


@tallystick.command()
def demo() -> None:
    """Score a small bundled example and show why it scores what it scores."""
    from tallystick.cli.demonstration import run_demo

    run_demo()
