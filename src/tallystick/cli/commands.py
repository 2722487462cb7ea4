"""`tallystick`: the command line."""

from __future__ import annotations

from collections.abc import Container

import click

from tallystick.cli.lazy import LazyGroup
from tallystick.version import __version__

TASKS = {
    "amr": "Smatch, exact, over PENMAN files or triples; fine-grained scores; AMR, UMR, DRS, MRP",
    "coreference": "MUC, B³, CEAF, BLANC, LEA and the CoNLL score over CoNLL, CorefUD or JSONL files",
    "dependencies": "UAS, LAS and the whole UD evaluation of CoNLL-U files",
    "relations": "binary relations strict, relaxed, by boundaries and by head, side by side; DocRED facts",
    "events": "triggers and arguments as TextEE, gen-arg and RAMS count them, and as eq. 15 and 16 do",
    "arguments": "event arguments beyond exact match, stage by stage: text, harmless tokens, lists, modifiers, a judge",
    "roles": "role-filler entities: CEAF-REE, CEAF-RME and softer ones, as the equations and as grit have them",
    "nary": "relations of any number of entities: eq. 29 to 31, and as SciREX computes them",
    "templates": "eq. 32, gtt's and IterX's scorers, BETTER, and the official MUC-4 report",
    "hierarchies": "event hierarchies: MUC_p, BLANC_p, STM_p over Newick, JSONL or brat files",
    "records": "any records of your own: two JSONL or Parquet files, and a type or a schema if you have one",
    "spans": "segments, tokens and separators, overlap, IoU, nervaluate's schemes over IOB, JSONL, Parquet, brat or CoNLL-U files",
}
WITHOUT_EXPLANATION = {
    "dependencies": "dependencies have no tree to show; `tallystick score dependencies ... --by document` finds the worst",
    "spans": "spans have no tree to show; `tallystick score spans ... --errors` lists what went wrong",
}
"""Tasks that have no tree to show, and what they have instead."""


def _tasks(command: str, without: Container[str] = ()) -> dict[str, tuple[str, str]]:
    return {
        task: (f"tallystick.tasks.{task}.task:{command}", help_) for task, help_ in TASKS.items() if task not in without
    }


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


@tallystick.group(cls=LazyGroup, lazy=_tasks("score"))
def score() -> None:
    """Score a prediction against a reference.

    Confidence intervals: `tallystick compare TASK REFERENCE PREDICTED` prints them, also of one system alone;
    the page that --report writes has them too.
    """


@tallystick.group(cls=LazyGroup, lazy=_tasks("explain", WITHOUT_EXPLANATION), without=WITHOUT_EXPLANATION)
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

    print_listing(TASKS, what)


@tallystick.command()
def demo() -> None:
    """Score a small bundled example and show why it scores what it scores."""
    from tallystick.cli.demonstration import run_demo

    run_demo()
