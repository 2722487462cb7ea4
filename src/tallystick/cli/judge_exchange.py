"""`tallystick judge export` and `judge import`: questions into a store and out of it, judgements back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import say
from tallystick.errors import InputError, MetricError, counted, did_you_mean
from tallystick.tasks.arguments.task import argument_options

if TYPE_CHECKING:
    from tallystick.judging.questions import Question
    from tallystick.judging.store import Store

UNNEEDED = ("judge", "counting", "partial", "none_credits_recall")
"""What the stages may be told that changes no question."""


def stage_options(command: Any) -> Any:
    """The options of the stages that decide what is left open."""
    command = argument_options(command)
    command.__click_params__ = [one for one in command.__click_params__ if one.name not in UNNEEDED]
    return command


@click.command()
@click.argument("reference", required=False)
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("--store", required=True, metavar="FILE", help="Where the questions go; made if it is not there.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N candidates that most systems made.")
@click.option(
    "--task",
    type=click.Choice(["arguments", "muc4"]),
    default="arguments",
    show_default=True,
    help="What the files are: events with arguments, or MUC-4 keys and responses, whose string fills are asked about.",
)
@click.option("--label-studio", metavar="FOLDER", help="Also write config.xml and tasks.json for Label Studio.")
@click.option("--jsonl", metavar="FILE", help="Also write the questions as JSON Lines, for anything else that judges.")
@click.option("--judgements", metavar="FILE", help="Also write all judgements of the store as JSON Lines.")
@click.option("--open-to", metavar="NAME", help="With --label-studio or --jsonl: only what NAME has not judged yet.")
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

    Questions that are in the store already stay as they are, with their answers.
    """
    from tallystick.judging.store import Store

    if reference is not None and not systems:
        raise MetricError("give at least one system beside the reference, or neither")
    if reference is None and not (label_studio or jsonl or judgements):
        raise MetricError(
            "nothing to do: give REFERENCE and SYSTEM..., or what to write (--label-studio, --jsonl, --judgements)"
        )
    if open_to is not None and not (label_studio or jsonl):
        raise MetricError("--open-to says what --label-studio or --jsonl is to hold: give one of them")
    if reference is None:
        _refuse(("top", "task", *options), "says what to take from REFERENCE and SYSTEM...: give them")
    put = None
    if reference is not None:
        put = _open(reference, systems, top, task, options)
    with Store(store, create=reference is not None) as kept:
        if put is not None:
            judged, before = kept.judged_pairs(), set(kept.queue())
            new = kept.add_questions(put)
            again = sum((one.candidate, one.role) in judged and one.key not in before for one in put)
            if again:
                say(
                    f"{again:,} of the new ones have a candidate that was judged in the same role before: with another text, in another "
                    "place or with other references"
                )
            for warning in _hard_to_judge(put):
                say(f"Warning: {warning}")
            say(f"{counted(len(put), 'question')}, {new:,} of them new in {store}")
        _write(kept, put, label_studio, jsonl, judgements, open_to)


def _hard_to_judge(questions: list[Question]) -> list[str]:
    """What whoever judges will miss."""
    out = []
    bare = sum(not one.document.strip() for one in questions)
    if bare:
        out.append(
            f"{counted(bare, 'question')} without the text of the document: whoever judges sees only the words "
            "(--tokens FILE takes the text from another file)"
        )
    untold = sum(not one.trigger and bool(one.source) for one in questions)
    if untold:
        out.append(f"{counted(untold, 'question')} about an event without a trigger, told by its id alone")
    return out


def _refuse(names: Iterable[str], why: str) -> None:
    """Options that were given and would have no effect."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise MetricError(f"--{name.replace('_', '-')} {why}")


def _open(
    reference: str, systems: tuple[str, ...], top: int | None, task: str, options: Mapping[str, Any]
) -> list[Question]:
    from tallystick.cli.compare import named_systems

    files = {file: file for runs in named_systems(systems).values() for file in runs}
    if task == "muc4":
        _refuse(options, "changes nothing for --task muc4")
        from tallystick.tasks.arguments.judging import most_made
        from tallystick.tasks.templates.muc4_files import read_muc4
        from tallystick.tasks.templates.muc4_judging import open_fills

        key = read_muc4(reference)
        return most_made([[one.question for one in open_fills(key, read_muc4(file))] for file in files.values()], top)
    from tallystick.tasks.arguments.task import open_questions

    return open_questions(reference, files, top, **options)


def _write(
    store: Store, put: list[Question] | None, label_studio: str | None, jsonl: str | None, judgements: str | None,
    open_to: str | None,
) -> None:  # fmt: skip
    from tallystick.files.writing import write_atomically
    from tallystick.judging.exchange import judgement_line, lines, question_line

    if label_studio or jsonl:
        questions = store.questions() if put is None else put
        if open_to is not None:
            known = store.judges()
            if open_to not in known:
                raise InputError(
                    f"{store.path}: nobody called {open_to!r} has judged here, so that everything is open; leave --open-to out. There are "
                    f"{', '.join(known) or 'none yet'}.{did_you_mean(open_to, known)}"
                )
            done = store.labels(open_to)
            questions = [one for one in questions if one.key not in done]
        if label_studio:
            from tallystick.judging.exchange import write_project

            say(
                f"{counted(write_project(label_studio, questions), 'task')} in {label_studio}/tasks.json, with config.xml"
            )
        if jsonl:
            write_atomically(jsonl, "".join(lines(map(question_line, questions))))
            say(f"{counted(len(questions), 'question')} in {jsonl}")
    if judgements:
        known = store.judges()
        found = store.judgements()
        write_atomically(judgements, "".join(lines(judgement_line(one, *known[one.judge]) for one in found)))
        say(f"{counted(len(found), 'judgement')} in {judgements}")


@click.command("import")
@click.argument("store")
@click.argument("file")
@click.option(
    "--annotator",
    "names",
    multiple=True,
    metavar="NAME|ID=NAME",
    help="Who judged: for all lines that do not say it, or for one annotator of Label Studio (1=anna). May be repeated.",
)
def import_(store: str, file: str, names: tuple[str, ...]) -> None:
    """Take judgements, or questions to be asked, into STORE: Label Studio's export (JSON, JSON-MIN), or JSON Lines.

    \b
    tallystick judge import judgements.sqlite export.json --annotator 1=anna --annotator 2=ben
    tallystick judge import judgements.sqlite judged.jsonl --annotator anna
    tallystick judge import judgements.sqlite pairs.jsonl

    A line is a question as `judge export --jsonl` writes it, with `label` (or `valid`, `same_as`, `relation`) if it is
    judged: {"reference": "THE MAIDS", "candidate": "MAIDS", "judge": "anna", "label": "Correct", "same_as": [0]}.
    """
    from tallystick.files.source import read_text, shown_name
    from tallystick.judging.exchange import annotators, is_export, keep, parse_export, parse_lines, renamed
    from tallystick.judging.store import Store

    content, shown = read_text(file), shown_name(file)  # once: a pipe has nothing more the second time
    if not content.strip():
        raise InputError("is empty; expected Label Studio's export, or lines of JSON", shown)
    exported = is_export(content)
    with Store(store, create=not exported) as kept:
        if exported:
            taken, called = parse_export(content, shown, kept), annotators(names)
            for one in called:
                if one not in taken.seen:
                    raise InputError(
                        f"--annotator: no annotation there is by {one!r}; there are {', '.join(sorted(taken.seen)) or 'none'}"
                    )
            taken = renamed(taken, called)
        else:
            if len(names) > 1:
                raise MetricError("--annotator names all lines that do not say who judged: give it once")
            taken = parse_lines(content, shown, kept, names[0] if names else None)
        done = keep(kept, taken)
    parts = [counted(done.judgements, "new judgement")]
    if done.replaced:
        parts.append(f"{done.replaced:,} replaced")
    if done.same:
        parts.append(f"{done.same:,} there already")
    if taken.questions:
        parts.append(counted(done.questions, "new question"))
    say(f"{', '.join(parts)} in {store}")
    for name in done.marked:
        say(f"the experience of {name} is {taken.experience[name]:,} now")
    for reason in taken.left_out:
        say(f"Warning: left out: {reason}")
