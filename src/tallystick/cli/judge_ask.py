"""`tallystick judge ask`: put the questions of a store to a language model."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import FORMATS, chosen_format, progress, say, show_tables
from tallystick.errors import InputError, counted

if TYPE_CHECKING:
    from tallystick.judging.llm import LanguageModel, Plan, Report
    from tallystick.judging.questions import Question
    from tallystick.judging.store import Store


@click.command()
@click.argument("store")
@click.option("--model", required=True, metavar="NAME", help="The model's name, as the endpoint knows it.")
@click.option(
    "--prompt",
    default="expert",
    show_default=True,
    metavar="NAME|FILE",
    help="expert or intuitive (as the paper has them), texts, or a file of your own.",
)
@click.option(
    "--reference/--no-reference",
    default=None,
    help="Whether the model is shown the reference.  [default: yes, or as the file has it]",
)
@click.option("--base-url", metavar="URL", help="The endpoint.  [default: $OPENAI_BASE_URL, or the client's own]")
@click.option(
    "--key-variable",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="NAME",
    help="The environment variable that holds the key.",
)
@click.option(
    "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="Of the call: temperature=0, seed=1."
)
@click.option("--concurrency", type=click.IntRange(1), default=8, show_default=True, help="Calls at one time.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, help="Seconds.")
@click.option("--retries", type=click.IntRange(0), default=5, show_default=True, help="After 429, 5xx or a timeout.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions that are not judged yet."
)
@click.option("--again", is_flag=True, help="Ask again where an earlier answer could not be used.")
@click.option("--dry-run", is_flag=True, help="Say how many calls and tokens it would take, and call nothing.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Default: table on a terminal, else tsv.")
def ask(
    store: str, model: str, prompt: str, reference: bool | None, base_url: str | None, key_variable: str, parameters: tuple[str, ...],
    concurrency: int, timeout: float, retries: int, limit: int | None, again: bool, dry_run: bool, format_: str | None,
) -> None:  # fmt: skip
    """Ask a language model every question of STORE that this model has not answered yet with this prompt.

    \b
    tallystick judge ask judgements.sqlite --model gpt-4o-mini --dry-run
    tallystick judge ask judgements.sqlite --model gpt-4o-mini --prompt intuitive --no-reference
    tallystick judge ask judgements.sqlite --model llama3 --base-url http://localhost:11434/v1

    Each answer is kept as it arrives: stop it, or let it fail, and call it again; nothing is asked twice. Exit code 1 if
    questions are left unjudged, 130 after Ctrl-C.
    """  # fmt: skip
    from tallystick.judging.recorded import judge_named
    from tallystick.judging.store import Store

    with Store(store, create=False) as kept, progress("asking") as advance:
        judge: Any = judge_named(
            f"llm:{model}", prompt=prompt, reference=reference, store=kept, base_url=base_url, key_variable=key_variable,
            parameters=_parameters(parameters), concurrency=concurrency, timeout=timeout, retries=retries, again=again,
            progress=advance,
        )  # fmt: skip
        questions = _open_questions(kept, judge)
        if limit is not None:
            questions = [question for question in questions if judge.plan([question]).calls][:limit]
        plan = judge.plan(questions)
        if dry_run:
            _show(_planned(judge, plan), format_)
            bare = sum(not judge.pieces(question) for question in questions)
            if bare:
                say(f"{counted(bare, 'question')} without a reference to show; --no-reference asks about them too")
            return
        if not questions:
            say(f"nothing to ask: {judge.name} has answered every question of {store} with this prompt")
        if plan.calls:
            judge.endpoint.client()  # a missing key is said before anything else
        interrupted = False
        try:
            judge.judge(questions)
        except KeyboardInterrupt:
            interrupted = True
    _show(_reported(judge, judge.report), format_)
    for line in judge.report.complaints():
        say(line)
    if interrupted:
        say("Interrupted. What was answered is kept; the same command goes on from there.")
        sys.exit(130)
    if judge.report.unjudged:
        sys.exit(1)


def _open_questions(store: Store, judge: LanguageModel) -> list[Question]:
    done = store.labels(judge.name, judge.version)
    questions = store.questions()
    if not questions:
        raise InputError(
            f"{store.path}: there are no questions in this store; `tallystick judge export` puts them there"
        )
    return [question for question in questions if question.key not in done]


def _parameters(written: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in written:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise InputError(f"--parameter: expected NAME=VALUE, found {one!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value  # a plain word, as it stands
    return found


def _planned(judge: LanguageModel, plan: Plan) -> dict[str, Any]:
    return {
        "judge": judge.name, "version": judge.version, "questions": plan.questions, "calls": plan.calls,
        "answered before": plan.known, "unusable before": plan.unusable, "tokens in (estimated)": plan.tokens_in,
        "tokens out (estimated)": plan.tokens_out,
    }  # fmt: skip


def _reported(judge: LanguageModel, report: Report) -> dict[str, Any]:
    return {
        "judge": judge.name, "version": judge.version, "calls": report.calls, "answered": report.answered,
        "answered before": report.known, "failed": report.failures.total(), "unusable": report.unusable.total(),
        "unjudged questions": report.unjudged, "tokens in": report.tokens_in, "tokens out": report.tokens_out,
    }  # fmt: skip


def _show(row: dict[str, Any], format_: str | None) -> None:
    from tallystick.show.tables import Table

    if chosen_format(format_) == "json":
        click.echo(json.dumps(row, ensure_ascii=False, indent=2))
    else:
        show_tables([Table(list(row), [list(row.values())])], format_)
