"""`tallystick judge train`: a classifier on recorded labels, so that an embedding can judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import FORMATS, chosen_format, say, show_tables
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.judging.classifier import Trained
    from tallystick.judging.questions import Label, Question
    from tallystick.judging.store import Store


@click.command()
@click.argument("labels", metavar="STORE|FILE.jsonl")
@click.option(
    "--from",
    "judge",
    metavar="NAME[@VERSION]",
    help="Whose labels of the store.  [default: what people decided, the more experienced where they differ]",
)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    default=("wordllama",),
    show_default=True,
    metavar="NAME",
    help="wordllama, words:FILE, sentences:MODEL or bertscore:MODEL; may be repeated without --out.",
)
@click.option(
    "--split", metavar="FILE", help="Train on one part and test on the other: a question's key, a tab, train or test."
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Cross-validation, if there is no --split."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the folds.")
@click.option("--balanced", is_flag=True, help="Weigh the labels to count alike, however rare.")
@click.option("--out", metavar="FILE.json", help="Where the classifier goes; then say --judge embedding:FILE.json.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
def train(
    labels: str, judge: str | None, encoders: tuple[str, ...], split: str | None, folds: int, seed: int, balanced: bool,
    out: str | None, format_: str | None,
) -> None:  # fmt: skip
    """Train a classifier on one number, how alike candidate and reference are, and say how far it agrees with labels that
    it was not trained on (Cohen's kappa on three labels, and on two with Partial as Incorrect).

    \b
    tallystick judge train judgements.sqlite --from ann --out model.json
    tallystick judge train labels.jsonl --encoder wordllama --encoder words:glove.txt
    tallystick score arguments GOLD SYSTEM --judge embedding:model.json
    """  # fmt: skip
    from tallystick.judging.classifier import read_split
    from tallystick.judging.classifier import train as fit
    from tallystick.show.tables import Column, Table

    if out and len(encoders) > 1:
        raise InputError("--out takes one classifier; give one --encoder with it")
    labelled = _labelled(labels, judge)
    parts = read_split(split) if split else None
    if parts is not None:
        unlisted = sum(question.key not in parts for question, _ in labelled)
        if unlisted:
            say(f"{unlisted:,} labelled questions stand in neither part of the split, and are not used")
    bare = sum(not question.references for question, _ in labelled)
    if bare:
        say(f"{bare:,} labelled questions have no reference to compare with, and are not used")
    found = [
        (encoder, fit(labelled, encoder, folds=folds, seed=seed, split=parts, balanced=balanced))
        for encoder in encoders
    ]
    if out:
        found[0][1].judge.save(out)
    if chosen_format(format_) == "json":
        click.echo(json.dumps([_row(*one) for one in found], ensure_ascii=False, indent=2))
    else:
        rows = [_row(*one) for one in found]
        columns = [Column(name, "number", printed=2) if name.startswith("kappa") else name for name in rows[0]]
        tables = [Table(columns, [list(row.values()) for row in rows])]
        if len(found) == 1:
            tables.append(_crossed(found[0][1]))
        show_tables(tables, format_)
    if out:
        say(f"wrote {out}: {found[0][1].judge.signature}")


def _labelled(name: str, judge: str | None) -> list[tuple[Question, Label]]:
    from tempfile import TemporaryDirectory

    from tallystick.files.source import read_text, shown_name
    from tallystick.judging.classifier import names_judges, parse_labelled
    from tallystick.judging.store import Store

    if not name.removesuffix(".gz").endswith((".jsonl", ".json")):
        with Store(name, create=False) as store:
            return _recorded(name, store, judge)
    content, file = read_text(name), shown_name(name)
    if names_judges(content):  # what `judge export --judgements` writes and `judge import` takes: decided as in a store
        from tallystick.judging.exchange import keep, parse_lines

        with TemporaryDirectory() as folder, Store(f"{folder}/labels.sqlite") as store:
            keep(store, parse_lines(content, file, store))
            return _recorded(name, store, judge)
    if judge is not None:
        raise InputError("--from picks a judge of a store; a file of labels has none")
    return parse_labelled(content, file)


def _recorded(name: str, store: Store, judge: str | None) -> list[tuple[Question, Label]]:
    """What decides in a store, and whose it is."""
    from tallystick.judging.recorded import Recorded

    questions = store.questions()
    recorded = Recorded(store, judge)
    verdicts = recorded.judge(questions)
    found = [(question, verdict.label) for question, verdict in zip(questions, verdicts, strict=True) if verdict]
    say(f"labels: {recorded.signature}")
    for note in recorded.notes:
        say(f"{name}: {note}")
    if not found:
        raise InputError(f"{name}: nothing in this store is judged yet{f' by {judge}' if judge else ''}")
    return found


def _row(encoder: str, trained: Trained) -> dict[str, Any]:
    held_out = trained.held_out
    return {
        "encoder": encoder, "kappa_3": held_out.kappa_3, "kappa_2": held_out.kappa_2, "same label": held_out.observed,
        "held-out questions": held_out.n, "measured by": trained.how,
    }  # fmt: skip


def _crossed(trained: Trained) -> Any:
    from tallystick.judging.questions import LABELS
    from tallystick.show.tables import Table

    rows = [[label, *row] for label, row in zip(LABELS, trained.held_out.table, strict=True)]
    return Table(["recorded, then judged", *LABELS], rows)
