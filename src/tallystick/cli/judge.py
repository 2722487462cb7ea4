"""`tallystick judge`: people and models judge, and how far they agree (`serve`, `terminal`, `ask`, `judges`, `agreement`); questions into a
store and out of it, judgements back, labels into a classifier (`export`, `import`, `train`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.main import chosen_format, formats, progress, say, show_tables
from tallystick.cli.options import FILE, Number, refuse_overwriting, task_options, together
from tallystick.errors import InputError, MetricError, counted
from tallystick.tasks.contract import find_task

if TYPE_CHECKING:
    from tallystick.judging.agreement import Agreement
    from tallystick.judging.classifier import Trained
    from tallystick.judging.desk import Desk
    from tallystick.judging.exchange import ImportedData
    from tallystick.judging.llm import LanguageModel, Plan, Report
    from tallystick.judging.questions import Judgement, Label, Question
    from tallystick.judging.store import Store
    from tallystick.show.tables import Table

PORT = 8765

format_option = click.option(
    "--format", "format_", type=click.Choice(formats()), help="Default: table on a terminal, else tsv."
)


def show(value: Any, tables: Sequence[Table], format_: str | None) -> None:
    """A value as JSON, or its tables in another format."""
    if chosen_format(format_) == "json":
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    else:
        show_tables(tables, format_)


# -- people -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("store")
@click.option("--annotator", metavar="NAME", help="Who judges. Without it, the page asks.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help=f"The port; 0 is any free one.  [default: {PORT}, or any free one]"
)
@click.option("--open", "open_", is_flag=True, help="Also open the page in a browser.")
def serve(store: str, annotator: str | None, port: int | None, open_: bool) -> None:
    """Serve the questions of STORE as a web page, to this machine only, until Ctrl-C.

    \b
    tallystick judge serve judgements.sqlite
    tallystick judge serve judgements.sqlite --annotator anna --open

    The printed address carries a token: anyone who has it may judge. Two people may share one server, or run one each, at
    the same time. From another machine: ssh -L 8765:127.0.0.1:8765 HOST, and the same address.
    """
    from tallystick.judging.store import Store
    from tallystick.judging.web import JudgeServer

    with Store(store, create=False) as kept:
        total = _require_questions(kept)
        try:
            server = JudgeServer(kept, PORT if port is None else port, annotator)
        except OSError as error:
            if port is not None:
                raise InputError(f"port {port} cannot be used ({error.strerror})") from None
            server = JudgeServer(kept, 0, annotator)
        with server:
            try:
                click.echo(server.address)
                say(f"{total:,} questions in {store}. Open the address above in a browser; Ctrl-C stops the server.")
                if open_:
                    import webbrowser

                    webbrowser.open(server.address)
                server.serve_forever()
            except KeyboardInterrupt:
                say("")
        people = [name for name, (kind, _) in kept.judges().items() if kind == "person"]
        done = ", ".join(f"{name} {len(kept.labels(name)):,}" for name in people)
        say(f"stopped; judged of {len(kept.queue()):,}: {done or 'nothing'}")


def _require_questions(store: Store) -> int:
    """How many questions are in the queue; an error if there are none."""
    total = len(store.queue())
    if not total:
        raise InputError(f"{store.path}: there are no questions in it yet; `tallystick judge export` puts them there")
    return total


@click.command()
@click.argument("store")
@click.option("--annotator", required=True, metavar="NAME", help="Who judges.")
def terminal(store: str, annotator: str) -> None:
    """Judge the questions of STORE in the terminal, one key for each answer.

    \b
    tallystick judge terminal judgements.sqlite --annotator anna

    Keys: 1 yes, 2 no; 7 (9, 0, letters; # and a number) a reference, 8 none of them; 3 to 6 the relation; Enter saves and goes
    on; b back, s skip, r remark, + the whole text, q quit. Each answer is saved at once; the next session resumes where this one stopped.
    """
    from tallystick.cli.main import standard_output
    from tallystick.judging.desk import Desk
    from tallystick.judging.store import Store
    from tallystick.judging.terminal import Keys, judge_in_terminal

    with Store(store, create=False) as kept:
        desk = Desk(kept, annotator)
        _require_questions(kept)
        with Keys() as keys:
            session = judge_in_terminal(desk, standard_output(width=100), keys.key, keys.line)
        say(f"{session.answered:,} answered now, {len(desk.labels()):,} of {len(kept.queue()):,} in all")
        _say_agreement(desk)


def _say_agreement(desk: Desk) -> None:
    for one in desk.agreements():
        if one.n:
            value = "undefined" if one.kappa_3 is None else f"{one.kappa_3:.2f}"
            say(f"kappa with {one.second} is {value} over {one.n:,} questions")


@click.command()
@click.argument("store")
@click.option(
    "--experience",
    "marks",
    multiple=True,
    metavar="NAME=N",
    help="Set a person's experience: if two people disagree, the more experienced decides. May be repeated.",
)
@format_option
def judges(store: str, marks: tuple[str, ...], format_: str | None) -> None:
    """List the judges of STORE, and set the experience of people.

    \b
    tallystick judge judges judgements.sqlite
    tallystick judge judges judgements.sqlite --experience anna=1
    """
    from tallystick.judging.questions import check_experience
    from tallystick.judging.store import Store
    from tallystick.show.tables import Table

    with Store(store, create=False) as kept:
        known = kept.judges()
        for mark in marks:
            name, equals, number = mark.rpartition("=")
            if not equals or not re.fullmatch("-?[0-9]{1,18}", number):
                raise InputError(f"--experience expects NAME=N such as anna=1, found {mark!r:.80}")
            if name not in known:
                raise kept.unknown_judge(name)
            kept.add_judge(name, known[name][0], check_experience(int(number)))
        known, total = kept.judges(), len(kept.queue())
        counts = {(voice.judge, voice.version): voice.judged for voice in kept.voices()}
    counts |= {(name, ""): 0 for name in known if not any(judge == name for judge, _ in counts)}
    rows = [
        [judge, known[judge][0], version, n, known[judge][1]] for (judge, version), n in sorted(counts.items())
    ]  # fmt: skip
    columns = ["judge", "kind", "version", "judgements", "experience"]
    listed = [dict(zip(columns, row, strict=True)) for row in rows]
    table = Table(columns, rows, notes=(f"{total:,} questions in the queue",))
    show({"questions": total, "judges": listed}, [table], format_)


# -- language models --------------------------------------------------------------------------------------------------


def model_options(command: Any) -> Any:
    """The options of a language model; each is an option of `llm:MODEL` of the same name."""
    return together(command, [
        click.option("--model", required=True, metavar="NAME", help="The model's name at the endpoint."),
        click.option("--prompt", default="expert", show_default=True, metavar="NAME|FILE",
                     help="The prompt: expert or intuitive (as in the paper), texts, or a file of your own."),
        click.option("--reference/--no-reference", default=None,
                     help="Show the reference to the model, or not.  [default: yes, or as in the prompt file]"),
        click.option("--base-url", metavar="URL", help="The URL of the endpoint.  [default: $OPENAI_BASE_URL, or OpenAI's]"),
        click.option("--key-variable", default="OPENAI_API_KEY", show_default=True, metavar="NAME",
                     help="The environment variable that holds the key."),
        click.option("--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of each call, e.g. temperature=0; may be repeated.",
                     callback=lambda _context, _option, given: read_assignments(given)),
        click.option("--concurrency", type=click.IntRange(1), default=8, show_default=True, help="How many calls to make at the same time."),
        click.option("--timeout", type=Number(0, min_open=True), default=60.0, show_default=True, help="How many seconds to wait for an answer."),
        click.option("--retries", type=click.IntRange(0), default=5, show_default=True, help="How often to try again after 429, 5xx or a timeout."),
        click.option("--again", is_flag=True, help="Ask again if an earlier answer could not be used."),
    ])  # fmt: skip


def read_assignments(given: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` as names and values; a value is JSON, or a plain word."""
    found: dict[str, Any] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise InputError(f"--parameter: expected NAME=VALUE, found {one!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


@click.command()
@click.argument("store")
@model_options
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions that are not judged yet."
)
@click.option(
    "--dry-run", is_flag=True, help="Print how many calls and tokens it would take, without calling anything."
)
@format_option
def ask(store: str, model: str, limit: int | None, dry_run: bool, format_: str | None, **options: Any) -> None:
    """Ask a language model every question of STORE that it has not answered yet with this prompt.

    \b
    tallystick judge ask judgements.sqlite --model gpt-4o-mini --dry-run
    tallystick judge ask judgements.sqlite --model gpt-4o-mini --prompt intuitive --no-reference
    tallystick judge ask judgements.sqlite --model llama3 --base-url http://localhost:11434/v1

    Each answer is kept as it arrives: if the command is stopped, or fails, run it again; nothing is asked twice. Exit code 1 if
    questions are left unjudged, 130 after Ctrl-C.
    """
    from tallystick.judging.recorded import judge_named
    from tallystick.judging.store import Store

    with Store(store, create=False) as kept, progress("asking") as advance:
        judge: Any = judge_named(f"llm:{model}", store=kept, progress=advance, **options)
        questions = _open_questions(kept, judge)
        if limit is not None:
            questions = [question for question in questions if judge.plan([question]).calls][:limit]
        plan = judge.plan(questions)
        if dry_run:
            _show_row(_plan_row(judge, plan), format_)
            bare = sum(not judge.pieces(question) for question in questions)
            if bare:
                say(f"{counted(bare, 'question')} without a reference to show; --no-reference asks about them too")
            return
        if not questions:
            say(f"nothing to ask: {judge.name} has answered every question of {store} with this prompt")
        if plan.calls:
            judge.endpoint.client()  # report a missing key before anything else
        interrupted = False
        try:
            judge.judge(questions)
        except KeyboardInterrupt:
            interrupted = True
    _show_row(_report_row(judge, judge.report), format_)
    for line in judge.report.complaints():
        say(line)
    if interrupted:
        say("Interrupted. What was answered is kept; the same command goes on from there.")
        sys.exit(130)
    if judge.report.unjudged:
        sys.exit(1)


def _open_questions(store: Store, judge: LanguageModel) -> list[Question]:
    done = store.labels(judge.name, judge.version)
    _require_questions(store)
    return [question for question in store.questions() if question.key not in done]


def _plan_row(judge: LanguageModel, plan: Plan) -> dict[str, Any]:
    return {
        "judge": judge.name, "version": judge.version, "questions": plan.questions, "calls": plan.calls,
        "answered before": plan.known, "unusable before": plan.unusable, "tokens in (estimated)": plan.tokens_in,
        "tokens out (estimated)": plan.tokens_out,
    }  # fmt: skip


def _report_row(judge: LanguageModel, report: Report) -> dict[str, Any]:
    return {
        "judge": judge.name, "version": judge.version, "calls": report.calls, "answered": report.answered,
        "answered before": report.known, "failed": report.failures.total(), "unusable": report.unusable.total(),
        "unjudged questions": report.unjudged, "tokens in": report.tokens_in, "tokens out": report.tokens_out,
    }  # fmt: skip


def _show_row(row: dict[str, Any], format_: str | None) -> None:
    from tallystick.show.tables import Table

    show(row, [Table(list(row), [list(row.values())])], format_)


# -- agreement --------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("store")
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option(
    "--against",
    metavar="JUDGE",
    help="Compare every judge with this one.  [default: with the decisions of people; if they differ, of the more experienced]",
)
@click.option("--differences", is_flag=True, help="Also list the questions that two judges answered differently.")
@format_option
def agreement(
    store: str, first: str | None, second: str | None, against: str | None, differences: bool, format_: str | None
) -> None:
    """Measure how far the judges of STORE agree: Cohen's kappa on three labels, and on two (Partial as Incorrect).

    \b
    tallystick judge agreement judgements.sqlite                    people with each other, models with people
    tallystick judge agreement judgements.sqlite anna ben           two judges, with their cross table
    tallystick judge agreement judgements.sqlite anna ben --differences
    tallystick judge agreement judgements.sqlite --against anna --format latex

    A model that was asked with several prompts is several judges: NAME@VERSION, as `tallystick judge judges` lists them;
    the start of the version is enough.
    """
    from tallystick.judging.agreement import Panel
    from tallystick.judging.store import Store

    if first is not None and second is None:
        raise MetricError("agreement needs two judges: name a second one, or none to compare all")
    if first is not None and against is not None:
        raise MetricError("--against compares all judges with one; give it, or two judges, not both")
    with Store(store, create=False) as kept:
        panel = Panel(kept)
        if first is not None and second is not None:
            rows = [panel.between(first, second)]
        else:
            rows = panel.against(against) if against is not None else panel.overview()
        pairs = panel.differences(rows[0].first, rows[0].second) if differences and len(rows) == 1 else []
        notes = panel.notes(rows)
    if differences and len(rows) != 1:
        raise MetricError("--differences is for two judges: name them")
    tables = [agreements_table(rows)]
    if len(rows) == 1:
        tables.append(cross_table(rows[0]))
    if differences:
        tables.append(differences_table(rows[0], pairs))
    content: dict[str, Any] = {**_agreements_json(rows), "notes": notes}
    if differences:
        content["differences"] = [_difference_json(*pair) for pair in pairs]
    show(content, tables, format_)
    if chosen_format(format_) != "json":
        for note in notes:
            say(note)


def agreements_table(rows: Sequence[Agreement]) -> Table:
    """A row for each pair. Kappa is not a percentage."""
    from tallystick.show.tables import Column, Table

    kappas = [Column(name, "number", printed=2) for name in ("kappa_3", "kappa_2")]
    return Table(
        ["judge", "against", "questions", "same label", *kappas],
        [[one.first, one.second, one.n, one.observed, one.kappa_3, one.kappa_2] for one in rows],
    )


def cross_table(one: Agreement) -> Table:
    """How often each label of the first judge meets each label of the second."""
    from tallystick.judging.questions import LABELS
    from tallystick.show.tables import Table

    rows = [[f"{one.first}: {label}", *counts] for label, counts in zip(LABELS, one.table, strict=True)]
    return Table(["", *(f"{one.second}: {label}" for label in LABELS)], rows)


def differences_table(one: Agreement, pairs: Sequence[tuple[Judgement, Judgement]]) -> Table:
    """A row for each question that the two labelled differently."""
    from tallystick.show.tables import Table

    rows = [
        [
            first.question.candidate, " | ".join(first.question.references), first.question.role, first.question.trigger,
            _describe(first), _describe(second),
        ]
        for first, second in pairs
    ]  # fmt: skip
    return Table(["candidate", "references", "role", "trigger", one.first, one.second], rows)


def _describe(one: Judgement) -> str:
    from tallystick.judging.desk import summary

    why = one.verdict.explanation or summary(one.answers, one.question)
    return f"{one.verdict.label}: {why}" if why else one.verdict.label


def _agreements_json(rows: Sequence[Agreement]) -> dict[str, Any]:
    from tallystick.judging.questions import LABELS

    return {
        "labels": list(LABELS),
        "agreements": [
            {
                "judge": one.first, "against": one.second, "questions": one.n, "same_label": one.observed,
                "kappa_3": one.kappa_3, "kappa_2": one.kappa_2, "table": [list(row) for row in one.table],
            }
            for one in rows
        ],
    }  # fmt: skip


def _difference_json(first: Judgement, second: Judgement) -> dict[str, Any]:
    question = first.question
    return {
        "key": question.key, "candidate": question.candidate, "references": list(question.references), "role": question.role,
        "trigger": question.trigger, "labels": [first.verdict.label, second.verdict.label],
        "explanations": [first.verdict.explanation, second.verdict.explanation],
    }  # fmt: skip


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
        questions = _questions_of_systems(reference, systems, top, task, options)
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


def _questions_of_systems(
    reference: str, systems: tuple[str, ...], top: int | None, task: str, options: Mapping[str, Any]
) -> list[Question]:
    from tallystick.cli.compare import named_systems

    files = {file: file for runs in named_systems(systems).values() for file in runs}
    if task == "muc4":
        _refuse(options, "changes nothing for --task muc4")
        from tallystick.tasks.arguments.stages import rank_questions
        from tallystick.tasks.templates.files import read_muc4
        from tallystick.tasks.templates.muc4 import open_fills

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
