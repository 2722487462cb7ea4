"""`score events` and `explain events`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, common_options, files, metric_option, versus
from tallystick.cli.structures import (
    explain_options,
    explain_result,
    heads_option,
    informativity_option,
    read_json_object,
    show,
    type_options,
    types_of,
    weights_of,
)

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing, Paired
    from tallystick.results.result import Result
    from tallystick.tasks.events.documents import EventDocument

MAIN = "arg_c"
BREAKDOWNS = ("label", "field")
LABEL = "role"
LABELS = {
    "role": "arguments[*].role",
    "type": "triggers[*].type",
    "event": "arguments[*].type",
    "distance": "arguments[*].distance",
}


def event_options(command: Any) -> Any:
    """What is the same trigger or argument."""
    options = [
        click.option("--coreference", metavar="FILE", help="Clusters of the reference's mentions: any mention of an entity will do."),
        heads_option,
        click.option("--strip-articles", is_flag=True, help="Leave a, an, the at the beginning of arguments out, as gen-arg does."),
        click.option("--ontology", metavar="FILE", help="gen-arg: templates and roles of the event types, to read generated text."),
        type_options,
        informativity_option,
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@event_options
@common_options
@click.option("--label", type=click.Choice(list(LABELS)), help="With --by label: which.  [default: role]")
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], coreference: str | None, heads: str | None, strip_articles: bool,
    ontology: str | None, parents: str | None, hierarchy: str | None, informativity: str | None, common: Common, label: str | None,
) -> None:  # fmt: skip
    """Score events: Tri-I, Tri-C, Arg-I, Arg-C, Arg-I+ and Arg-C+ as TextEE defines them, unlabelled ones, eq. 15 and 16; with
    heads, coreference or RAMS's files what gen-arg and RAMS report.

    REFERENCE and PREDICTED are TextEE, WikiEvents, OmniEvent, RAMS or plain JSON or JSON Lines, or brat .ann files or folders.

    \b
    tallystick score events gold.json system.json
    tallystick score events test.jsonl system.jsonl --coreference coref.jsonlines --strip-articles
    tallystick score events test.jsonlines system.jsonlines --metric rams --by label --label distance
    """
    pairs, scored = _scored(
        reference, predicted, metrics, coreference, heads, strip_articles, ontology, parents, hierarchy, informativity
    )  # fmt: skip

    def draw() -> Any:
        from tallystick.tasks.events.show import events_drawer

        return events_drawer(pairs)

    def reword(explained: Any) -> Any:
        from tallystick.tasks.events.show import with_words

        return with_words(explained, pairs)

    show(
        scored, labels=LABELS, label=label or (LABEL if common.by == "label" else None), common=common, title=versus(predicted, reference),
        main=MAIN, draw=draw, reword=reword,
    )  # fmt: skip


@click.command()
@files
@event_options
@explain_options
def explain(
    reference: str, predicted: str, coreference: str | None, heads: str | None, strip_articles: bool, ontology: str | None,
    parents: str | None, hierarchy: str | None, informativity: str | None, metric: str | None, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which events and arguments of a document are matched."""
    chosen = (metric or "arg_f1",)
    scored = results(
        reference, predicted, chosen, coreference, heads, strip_articles, ontology, parents, hierarchy, informativity
    )  # fmt: skip
    explain_result(scored, document, format_)


def whole(given: Mapping[str, Any]) -> str:
    """Why the corpus cannot be scored in shards under these options."""
    return "--coreference is a file of its own for all documents" if given["coreference"] else ""


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], coreference: str | None, heads: str | None, strip_articles: bool,
    ontology: str | None, parents: str | None, hierarchy: str | None, informativity: str | None, missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    return _scored(
        reference, predicted, metrics, coreference, heads, strip_articles, ontology, parents, hierarchy, informativity, missing, whole=False,
    )[1]  # fmt: skip


def _scored(
    reference: str, predicted: str, metrics: tuple[str, ...], coreference: str | None, heads: str | None, strip_articles: bool,
    ontology: str | None, parents: str | None, hierarchy: str | None, informativity: str | None, missing: Missing | None = None,
    whole: bool = True,
) -> tuple[Paired[EventDocument], dict[str, Result]]:  # fmt: skip
    """The documents of both sides, and the results; `whole` says that this is not one system of several, or a shard."""
    from tallystick.errors import MetricError
    from tallystick.files.pairing import pair_documents
    from tallystick.tasks.events.documents import EventDocument
    from tallystick.tasks.events.files import GENERATED, idle_ontology, read_coreference, read_events
    from tallystick.tasks.events.metrics import EventOptions
    from tallystick.tasks.events.metrics import score as score_all
    from tallystick.tasks.parses import read_heads

    left = read_events(reference)
    templates = read_json_object(ontology, "an event type's template and roles under its name") if ontology else None
    right = read_events(predicted, reference=left, ontology=templates)
    if templates is not None and right.format != GENERATED:
        if whole:
            raise MetricError(idle_ontology([right.file]))
        right.warnings.append(idle_ontology([right.file]))
    options = EventOptions(
        types=types_of(hierarchy, parents),
        heads=read_heads(heads) if heads else None,
        coreference=read_coreference(coreference, left) if coreference else None,
        strip_articles=strip_articles,
        weights=weights_of(informativity),
    )
    pairs = pair_documents(left, right, EventDocument, missing)
    return pairs, score_all(pairs, metrics, options, rams=left.format == "RAMS")
