"""`tallystick judge serve`, `terminal`, `ask`, `judges` and `agreement`: people and models judge, and how far they agree."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import Number, together
from tallystick.cli.output import FORMATS, chosen_format, progress, say, show_tables
from tallystick.errors import InputError, MetricError, counted

if TYPE_CHECKING:
    from tallystick.judging.agreement import Agreement
    from tallystick.judging.desk import Desk
    from tallystick.judging.llm import LanguageModel, Plan, Report
    from tallystick.judging.questions import Judgement, Question
    from tallystick.judging.store import Store
    from tallystick.show.tables import Table

PORT = 8765

format_option = click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv."
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
    from tallystick.cli.output import standard_output
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
