"""`tallystick judge export`, `import` and `train`: questions into a store and out of it, judgements back, labels into a classifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.judge import format_option, show
from tallystick.cli.options import FILE, refuse_overwriting, task_options
from tallystick.cli.output import say
from tallystick.errors import InputError, MetricError, counted
from tallystick.tasks.contract import find_task

if TYPE_CHECKING:
    from tallystick.judging.agreement import Agreement
    from tallystick.judging.classifier import Trained
    from tallystick.judging.exchange import ImportedData
    from tallystick.judging.questions import Label, Question
    from tallystick.judging.store import Store

UNNEEDED = ("judge", "counting", "partial", "none_credits_recall")
"""Options of the stages that change no question."""


def stage_options(command: Any) -> Any:
    """The options of the stages that decide what is left open."""
    options = [one for one in task_options(find_task("arguments"), "figures") if one.name not in UNNEEDED]
    command.__click_params__ = [*reversed(options), *getattr(command, "__click_params__", ())]
    return command


@click.command()
@click.argument("reference", required=False)
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option(
    "--store", required=True, metavar="FILE", help="The store for the questions; created if it does not exist."
)
@click.option(
    "--top", type=click.IntRange(1), metavar="N", help="Only the N candidates that the most systems predicted."
)
@click.option(
    "--task",
    type=click.Choice(["arguments", "muc4"]),
    default="arguments",
    show_default=True,
    help="What the files hold: events with arguments, or MUC-4 keys and responses, whose string fills become questions.",
)
@click.option("--label-studio", metavar="FOLDER", help="Also write config.xml and tasks.json for Label Studio.")
@click.option("--jsonl", type=FILE, metavar="FILE", help="Also write the questions as JSON Lines, for any other tool.")
@click.option("--judgements", type=FILE, metavar="FILE", help="Also write all judgements of the store as JSON Lines.")
@click.option(
    "--open-to", metavar="NAME", help="With --label-studio or --jsonl: only questions that NAME has not judged yet."
)
@stage_options
def export(
    reference: str | None, systems: tuple[str, ...], store: str, top: int | None, task: str, label_studio: str | None,
    jsonl: str | None, judgements: str | None, open_to: str | None, **options: Any,
) -> None:  # fmt: skip
    """Put what the rules leave open into a store, what most systems made first; without files, only write out what is there.

    \b
    tallystick judge export gold.json a.json b.json --store judgements.sqlite --top 500
    tallystick judge export gold.json a.json --store judgements.sqlite --label-studio project
    tallystick judge export key.txt response.txt --task muc4 --store judgements.sqlite
    tallystick judge export --store judgements.sqlite --jsonl questions.jsonl --judgements judgements.jsonl

    Questions that are already in the store stay as they are, with their answers.
    """
    from tallystick.judging.store import Store

    if reference is not None and not systems:
        raise MetricError("give at least one system beside the reference, or neither")
    if reference is None and not (label_studio or jsonl or judgements):
        raise MetricError(
            "nothing to do: give REFERENCE and SYSTEM..., or what to write (--label-studio, --jsonl, --judgements)"
        )
    if open_to is not None and not (label_studio or jsonl):
        raise MetricError("--open-to limits what --label-studio or --jsonl writes: give one of them")
    project = [("--label-studio", f"{label_studio}/{name}") for name in ("tasks.json", "config.xml") if label_studio]
    outputs = [(name, value) for name, value in (("--jsonl", jsonl), ("--judgements", judgements)) if value]
    refuse_overwriting([*outputs, *project])
    questions = None
    if reference is None:
        _refuse(("top", "task", *options), "says what to take from REFERENCE and SYSTEM...: give them")
    else:
        questions = _open_questions(reference, systems, top, task, options)
    with Store(store, create=reference is not None) as kept:
        if questions is not None:
            _add_questions(kept, questions)
        if label_studio or jsonl:
            _write_questions(kept, kept.questions() if questions is None else questions, label_studio, jsonl, open_to)
        if judgements:
            _write_judgements(kept, judgements)


def _refuse(names: Iterable[str], why: str) -> None:
    """Refuse options that were given and would have no effect."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise MetricError(f"--{name.replace('_', '-')} {why}")


def _open_questions(
    reference: str, systems: tuple[str, ...], top: int | None, task: str, options: Mapping[str, Any]
) -> list[Question]:
    from tallystick.cli.compare import named_systems

    files = {file: file for runs in named_systems(systems).values() for file in runs}
    if task == "muc4":
        _refuse(options, "changes nothing for --task muc4")
        from tallystick.tasks.arguments.judging import rank_questions
        from tallystick.tasks.templates.muc4_files import read_muc4
        from tallystick.tasks.templates.muc4_judging import open_fills

        key = read_muc4(reference)
        return rank_questions(
            [[one.question for one in open_fills(key, read_muc4(file))] for file in files.values()], top
        )
    from tallystick.tasks.arguments.task import open_questions

    found, notes = open_questions(reference, files, top, **options)
    for note in notes:
        say(f"Warning: {note}")
    return found


def _add_questions(store: Store, questions: list[Question]) -> None:
    """Put questions into a store, and warn about those that are hard to judge."""
    judged, before = store.judged_pairs(), set(store.queue())
    new = store.add_questions(questions)
    again = sum((one.candidate, one.role) in judged and one.key not in before for one in questions)
    if again:
        say(
            f"{again:,} of the new ones have a candidate that was judged in the same role before: with another text, in another "
            "place or with other references"
        )
    bare = sum(not one.document.strip() for one in questions)
    if bare:
        say(
            f"Warning: {counted(bare, 'question')} without the text of the document: the judge sees only the words "
            "(--tokens FILE takes the text from another file)"
        )
    nameless = sum(not one.trigger and bool(one.source) for one in questions)
    if nameless:
        say(f"Warning: {counted(nameless, 'question')} about an event without a trigger, known only by its id")
    say(f"{counted(len(questions), 'question')}, {new:,} of them new in {store.path}")


def _write_questions(
    store: Store, questions: list[Question], label_studio: str | None, jsonl: str | None, open_to: str | None
) -> None:
    from tallystick.files.writing import write_atomically
    from tallystick.judging.exchange import question_line, write_project

    if open_to is not None:
        if open_to not in store.judges():
            raise store.unknown_judge(open_to, ", so everything is open (leave --open-to out)")
        done = store.labels(open_to)
        questions = [one for one in questions if one.key not in done]
    if label_studio:
        tasks = write_project(label_studio, questions)
        say(f"{counted(tasks, 'task')} in {label_studio}/tasks.json, with config.xml")
    if jsonl:
        write_atomically(jsonl, "".join(f"{question_line(one)}\n" for one in questions))
        say(f"{counted(len(questions), 'question')} in {jsonl}")


def _write_judgements(store: Store, file: str) -> None:
    from tallystick.files.writing import write_atomically
    from tallystick.judging.exchange import judgement_line

    known, found = store.judges(), store.judgements()
    write_atomically(file, "".join(f"{judgement_line(one, *known[one.judge])}\n" for one in found))
    say(f"{counted(len(found), 'judgement')} in {file}")


@click.command("import")
@click.argument("store")
@click.argument("file")
@click.option(
    "--annotator",
    "names",
    multiple=True,
    metavar="NAME|ID=NAME",
    help="Who judged: for all lines that do not name a judge, or for one annotator of Label Studio (1=anna). May be repeated.",
)
def import_(store: str, file: str, names: tuple[str, ...]) -> None:
    """Import judgements or questions into STORE: Label Studio's export (JSON, JSON-MIN), or JSON Lines.

    \b
    tallystick judge import judgements.sqlite export.json --annotator 1=anna --annotator 2=ben
    tallystick judge import judgements.sqlite judged.jsonl --annotator anna
    tallystick judge import judgements.sqlite pairs.jsonl

    A line is a question as `judge export --jsonl` writes it, with `label` (or `valid`, `same_as`, `relation`) if it is
    judged: {"reference": "THE MAIDS", "candidate": "MAIDS", "judge": "anna", "label": "Correct", "same_as": [0]}.
    """
    from tallystick.files.source import read_text, shown_name
    from tallystick.judging.exchange import import_data, is_export, parse_lines
    from tallystick.judging.store import Store

    content, shown = read_text(file), shown_name(file)  # once: a pipe can be read only once
    if not content.strip():
        raise InputError("is empty; expected Label Studio's export, or lines of JSON", shown)
    exported = is_export(content)
    if len(names) > 1 and not exported:
        raise MetricError("--annotator names the judge of all lines that name none: give it once")
    with Store(store, create=not exported) as kept:
        if exported:
            data = _read_export(content, shown, kept, names)
        else:
            data = parse_lines(content, shown, kept, names[0] if names else None)
        done = import_data(kept, data)
    parts = [counted(done.judgements, "new judgement")]
    if done.replaced:
        parts.append(f"{done.replaced:,} replaced")
    if done.same:
        parts.append(f"{done.same:,} already there")
    if data.questions:
        parts.append(counted(done.questions, "new question"))
    say(f"{', '.join(parts)} in {store}")
    for name in done.marked:
        say(f"the experience of {name} is {data.experience[name]:,} now")
    for reason in data.left_out:
        say(f"Warning: left out: {reason}")


def _read_export(content: str, file: str, store: Store, names: tuple[str, ...]) -> ImportedData:
    """The judgements of a Label Studio export, under the names that were given to its annotators."""
    from tallystick.judging.exchange import parse_export, read_annotators, rename_judges

    data, given = parse_export(content, file, store), read_annotators(names)
    for one in given:
        if one not in data.seen:
            raise InputError(
                f"--annotator: no annotation there is by {one!r}; there are {', '.join(sorted(data.seen)) or 'none'}"
            )
    return rename_judges(data, given)


# -- training ---------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("labels", metavar="STORE|FILE.jsonl")
@click.option(
    "--from",
    "judge",
    metavar="NAME[@VERSION]",
    help="Whose labels to use from the store.  [default: those of people; if they differ, of the more experienced]",
)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    default=("wordllama",),
    show_default=True,
    metavar="NAME",
    help="What turns texts into vectors: wordllama, words:FILE, sentences:MODEL or bertscore:MODEL; may be repeated without --out.",
)
@click.option(
    "--split",
    metavar="FILE",
    help="Train on one part and test on the other. Each line has a question's key, a tab, and train or test.",
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="Cross-validation, if there is no --split."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="The random seed of the folds."
)
@click.option("--balanced", is_flag=True, help="Give all labels the same total weight, however rare they are.")
@click.option(
    "--out",
    type=FILE,
    metavar="FILE.json",
    help="Write the classifier to this file; use it as --judge embedding:FILE.json.",
)
@format_option
def train(
    labels: str, judge: str | None, encoders: tuple[str, ...], split: str | None, folds: int, seed: int, balanced: bool,
    out: str | None, format_: str | None,
) -> None:  # fmt: skip
    """Train a classifier on one number, how similar candidate and reference are, and report how far it agrees with labels that
    it was not trained on (Cohen's kappa on three labels, and on two with Partial as Incorrect).

    \b
    tallystick judge train judgements.sqlite --from ann --out model.json
    tallystick judge train labels.jsonl --encoder wordllama --encoder words:glove.txt
    tallystick score arguments GOLD SYSTEM --judge embedding:model.json
    """
    from tallystick.judging.classifier import read_split
    from tallystick.judging.classifier import train as fit
    from tallystick.show.tables import Column, Table

    if out and len(encoders) > 1:
        raise InputError("--out takes one classifier; give one --encoder with it")
    labelled = _read_labels(labels, judge)
    parts = read_split(split) if split else None
    if parts is not None:
        unlisted = sum(question.key not in parts for question, _ in labelled)
        if unlisted:
            say(f"{unlisted:,} labelled questions are in neither part of the split, and are not used")
    bare = sum(not question.references for question, _ in labelled)
    if bare:
        say(f"{bare:,} labelled questions have no reference to compare with, and are not used")
    trained = [fit(labelled, encoder, folds=folds, seed=seed, split=parts, balanced=balanced) for encoder in encoders]
    if out:
        trained[0].judge.save(out)
    rows = [_training_row(encoder, one) for encoder, one in zip(encoders, trained, strict=True)]
    columns = [Column(name, "number", printed=2) if name.startswith("kappa") else name for name in rows[0]]
    tables = [Table(columns, [list(row.values()) for row in rows])]
    if len(trained) == 1:
        tables.append(_label_table(trained[0].held_out))
    show(rows, tables, format_)
    if out:
        say(f"wrote {out}: {trained[0].judge.signature}")


def _read_labels(name: str, judge: str | None) -> list[tuple[Question, Label]]:
    """The labels of a store, or of a file."""
    from tempfile import TemporaryDirectory

    from tallystick.files.source import read_text, shown_name
    from tallystick.judging.classifier import names_judges, parse_labelled
    from tallystick.judging.exchange import import_data, parse_lines
    from tallystick.judging.store import Store

    if not name.removesuffix(".gz").endswith((".jsonl", ".json")):
        with Store(name, create=False) as store:
            return _decided_labels(name, store, judge)
    content, file = read_text(name), shown_name(name)
    if names_judges(content):  # what `judge export --judgements` writes: decided as in a store
        with TemporaryDirectory() as folder, Store(f"{folder}/labels.sqlite") as store:
            import_data(store, parse_lines(content, file, store))
            return _decided_labels(name, store, judge)
    if judge is not None:
        raise InputError("--from picks a judge of a store; a file of labels has none")
    return parse_labelled(content, file)


def _decided_labels(name: str, store: Store, judge: str | None) -> list[tuple[Question, Label]]:
    """What the judges of a store decided; prints whose labels they are."""
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


def _training_row(encoder: str, trained: Trained) -> dict[str, Any]:
    held_out = trained.held_out
    return {
        "encoder": encoder, "kappa_3": held_out.kappa_3, "kappa_2": held_out.kappa_2, "same label": held_out.observed,
        "held-out questions": held_out.n, "measured by": trained.how,
    }  # fmt: skip


def _label_table(held_out: Agreement) -> Any:
    from tallystick.judging.questions import LABELS
    from tallystick.show.tables import Table

    rows = [[label, *row] for label, row in zip(LABELS, held_out.table, strict=True)]
    return Table(["recorded, then judged", *LABELS], rows)
