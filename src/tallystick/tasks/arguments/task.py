"""`score arguments` and `explain arguments`: event arguments beyond exact match, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import (
    Common,
    common_options,
    files,
    finish,
    metric_option,
    progress,
    say,
    versus,
)
from tallystick.cli.structures import read_json_object
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.judging.questions import Question
    from tallystick.results.comparison import Comparison
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.arguments.metrics import Scored

BREAKDOWNS = ("label",)
NO_BREAKDOWN = {"field": "--by label for roles"}
WHOLE_BREAKDOWNS = ("label",)


def argument_options(command: Any) -> Any:
    """What the stages rest on."""
    options = [
        click.option("--parses", metavar="FILE|spacy:PIPELINE", help="Parses for the modifiers: CoNLL-U, or a spaCy pipeline that you have."),
        click.option("--judge", metavar="STORE|embedding:FILE|llm:MODEL", help="Who decides what the rules leave open.  [default: nobody]"),
        click.option("--counting", type=click.Choice(["rewrite", "keep"]), default="rewrite", show_default=True,
                     help="Parts and merged candidates replace the candidates, or the number of candidates stays."),
        click.option("--order", type=click.Choice(["break-first", "aggregate-first"]), default="break-first", show_default=True),
        click.option("--duplicates", type=click.Choice(["merge", "keep"]), default="merge", show_default=True,
                     help="Arguments of the same event, role and place are one, or each counts."),
        click.option("--pronouns", metavar="WORD,...|@FILE", help="What is a pronoun, and not compared by its text."),
        click.option("--harmless", metavar="WORD,...|@FILE", help="Which articles and determiners are left out; punctuation and 's always are."),
        click.option("--conjunctions", metavar="WORD,...|@FILE", help="What joins a list.  [default: and]"),
        click.option("--modifiers", metavar="LABEL,...|@FILE", help="Dependency labels of modifiers."),
        click.option("--partial", type=click.Choice(["0", "0.5", "1"]), default="0", show_default=True, help="What a judge's Partial counts."),
        click.option("--none-credits-recall", is_flag=True, help="Correct, but none of the references: count it as one that was lacking."),
        click.option("--tokens", metavar="FILE", help="Events with the documents' tokens, where REFERENCE has none."),
        click.option("--strip-articles", is_flag=True, help="Leave a, an, the at the beginning of arguments out, as gen-arg does."),
        click.option("--ontology", metavar="FILE", help="gen-arg: templates and roles of the event types, to read generated text."),
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@argument_options
@common_options
def score(reference: str, predicted: str, metrics: tuple[str, ...], common: Common, **options: Any) -> None:
    """Score event arguments by stages, each of which accepts what the ones before left: the same place, the same text, the same but for
    harmless tokens, lists broken up or put together, one-token references with modifiers, and what a judge accepts.

    REFERENCE and PREDICTED are files of events (TextEE, WikiEvents, OmniEvent, RAMS, brat, plain JSON), with or without places.

    \b
    tallystick score arguments gold.json system.json
    tallystick score arguments gold.json system.json --parses gold.conllu
    tallystick score arguments gold.json system.json --parses spacy:en_core_web_sm --judge judgements.sqlite
    """
    from tallystick.tasks.arguments.show import document_tree, roles_table
    from tallystick.tasks.metric import choose

    _have_what_they_need(metrics, **options)
    scored = scored_files(reference, predicted, **options)
    found = choose(scored.results, metrics, "arguments")
    extra, extend = beside(found)
    if scored.coverage is not None:
        extra["judge"] = {**vars(scored.coverage), "coverage": scored.coverage.share}
    tables = []
    if common.by == "label":
        tables.append(roles_table(scored))
        extra["labels"] = [dict(zip(tables[0].columns, row, strict=True)) for row in tables[0].rows]

    def report() -> Parts:
        from tallystick.results.report import Parts

        return Parts(
            () if tables else (roles_table(scored),), explain=lambda document: document_tree(scored, document),
            main=main_of(found), alignment="What each stage accepted",
        )  # fmt: skip

    title = versus(predicted, reference)
    finish(found, common, tables=tables, extra=extra, title=title, extend=extend, report=report)
    if scored.coverage is not None and scored.coverage.whole:
        say(scored.coverage.summary)


def main_of(found: Mapping[str, Result]) -> str:
    """The metric that a report is ordered by: the last stage, which accepts all that the others do."""
    return list(found)[-1]


def beside(found: Mapping[str, Result]) -> tuple[dict[str, Any], Callable[[Table], Table]]:
    """What stands beside the figures: what each stage gained."""
    from tallystick.tasks.arguments.show import gains, with_gains

    return {"gains": gains({name: result.f1 for name, result in found.items()})}, with_gains


@click.command()
@files
@argument_options
@click.option("--document", metavar="NAME", help="Which document.  [default: the worst]")
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(reference: str, predicted: str, document: str | None, format_: str, **options: Any) -> None:
    """Show which stage accepted which candidate, and what stayed open."""
    from tallystick.cli.tree import show_explanation
    from tallystick.results.tables import documents_table
    from tallystick.tasks.arguments.show import document_tree

    scored = scored_files(reference, predicted, **options)
    stage = scored.stages[-1]
    if document is None:
        document = str(documents_table({stage: scored.results[stage]}, 1).rows[0][0])
        say(f"document {document}, the worst of {len(scored.ids):,} by {stage}")
    tree = document_tree(scored, document)
    show_explanation(tree, f"document {document}", format_)


def whole(given: Mapping[str, Any]) -> str:
    """Why the corpus cannot be scored in shards under these options."""
    idle = not (given["parses"] or given["judge"] or given["tokens"])
    return "" if idle else "--parses, --judge and --tokens are for all documents at once"


def results(reference: str, predicted: str, metrics: tuple[str, ...] = (), **options: Any) -> dict[str, Result]:
    """The results of one system."""
    return results_of_systems(reference, {"": predicted}, metrics, **options)[""]


def results_of_systems(
    reference: str, systems: Mapping[str, str], metrics: tuple[str, ...] = (), missing: Mapping[str, Missing] | None = None,
    **options: Any,
) -> dict[str, dict[str, Result]]:  # fmt: skip
    """The results of several systems; the reference is parsed once, and the judge is the same."""
    from tallystick.tasks.metric import choose

    _have_what_they_need(metrics, **options)
    scored = scored_systems(reference, systems, missing=missing, **options)
    return {name: choose(one.results, metrics, "arguments") for name, one in scored.items()}


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Stages by systems, below what every comparison shows."""
    from tallystick.tasks.arguments.show import systems_table

    return [systems_table(comparison)]


def open_questions(
    reference: str, systems: Mapping[str, str], top: int | None = None, **options: Any
) -> list[Question]:
    """What the rules leave open in the files of several systems, as questions to a judge; what most systems made comes first."""
    from tallystick.tasks.arguments.metrics import open_questions as still_open

    scored = scored_systems(reference, systems, **options)
    for note in dict.fromkeys(note for one in scored.values() for note in one.results[one.stages[0]].notes):
        say(f"Warning: {note}")
    return still_open(scored, top)


def scored_files(reference: str, predicted: str, **options: Any) -> Scored:
    """Read two files and run the stages."""
    return scored_systems(reference, {"": predicted}, **options)[""]


def scored_systems(
    reference: str, systems: Mapping[str, str], *, parses: str | None = None, judge: str | None = None,
    counting: str = "rewrite", order: str = "break-first", duplicates: str = "merge", pronouns: str | None = None,
    harmless: str | None = None, conjunctions: str | None = None, modifiers: str | None = None, partial: str | float = 0.0,
    none_credits_recall: bool = False, tokens: str | None = None, strip_articles: bool = False, ontology: str | None = None,
    missing: Mapping[str, Missing] | None = None,
) -> dict[str, Scored]:  # fmt: skip
    """Read the files and run the stages."""
    from tallystick.files.source import shown_name
    from tallystick.tasks.arguments.files import read_pair
    from tallystick.tasks.arguments.forms import CONJUNCTIONS, HARMLESS, LABELS, PRONOUNS, Wording
    from tallystick.tasks.arguments.metrics import ArgumentOptions
    from tallystick.tasks.arguments.metrics import score as score_all
    from tallystick.tasks.events.files import IDLE, idle_ontology
    from tallystick.tasks.parses import with_parses

    templates = read_json_object(ontology, "an event type's template and roles under its name") if ontology else None
    options = ArgumentOptions(
        counting, Wording(_words(pronouns, PRONOUNS), _words(harmless, HARMLESS), _words(conjunctions, CONJUNCTIONS)),
        _words(modifiers, LABELS, fold=False), order, duplicates, float(partial), none_credits_recall,
    )  # fmt: skip
    if judge is None and (none_credits_recall or float(partial)):
        which = "--none-credits-recall" if none_credits_recall else f"--partial {partial}"
        raise MetricError(f"{which} says what a judge's verdict counts: name the judge (--judge)")
    if modifiers is not None and parses is None:
        raise MetricError("--modifiers says which labels of a parse are modifiers: give the parses (--parses)")
    decider = _judge(judge) if judge else None  # a misspelt judge is said before the work, not after it
    read = {
        name: read_pair(
            reference,
            file,
            ontology=templates,
            tokens=tokens,
            strip_articles=strip_articles,
            absent=(missing or {}).get(name),
        )
        for name, file in systems.items()
    }
    if templates is not None and all(any(one.startswith(IDLE) for one in pairs.warnings) for pairs in read.values()):
        raise MetricError(idle_ontology(map(shown_name, systems.values())))
    if parses:
        read = with_parses(read, parses)
    found = {}
    for name, pairs in read.items():
        with _asking(decider):
            found[name] = score_all(pairs, options, judge=decider)
    return {name: _stripped(one) for name, one in found.items()} if strip_articles else found


def _stripped(scored: Scored) -> Scored:
    """What was read without articles says so in its signature."""
    from dataclasses import replace

    signed = {name: one.changed(settings=f"{one.settings}, articles=stripped") for name, one in scored.results.items()}
    return replace(scored, results=signed)


def _have_what_they_need(metrics: tuple[str, ...], **options: Any) -> None:
    """A stage that was asked for by name, but cannot be run, is said before the work."""
    for stage, option in (("modifiers", "parses"), ("judge", "judge")):
        if stage in metrics and not options.get(option):
            raise MetricError(f"the stage {stage!r} needs --{option}")


def _words(given: str | None, usual: frozenset[str], fold: bool = True) -> frozenset[str]:
    """`a,an,the`, or `@FILE` with a word a line; nothing at all is an empty list."""
    if given is None:
        return usual
    if given.startswith("@"):
        from tallystick.files.source import read_text

        found = read_text(given[1:]).split("\n")
    else:
        found = given.split(",")
    return frozenset((word.strip().casefold() if fold else word.strip()) for word in found if word.strip())


def _judge(specification: str) -> Any:
    """The judge of a name; see `tallystick.judging.recorded`."""
    from tallystick.judging.recorded import judge_named

    return judge_named(specification)


@contextmanager
def _asking(judge: Any) -> Iterator[None]:
    """A bar while a language model is asked; what it did not answer stands among the result's warnings."""
    if not hasattr(judge, "progress"):
        yield
        return
    with progress("asking") as judge.progress:
        yield
