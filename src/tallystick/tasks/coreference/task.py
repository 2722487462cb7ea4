"""`score coreference` and `explain coreference`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, common_options, files, finish, metric_option, say, versus
from tallystick.errors import InputError, MetricError

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.explanation import Explanation
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.coreference.metrics import CoreferenceOptions
    from tallystick.tasks.coreference.pairing import PairedChains

MAIN = "conll"
NO_BREAKDOWN = {"label": "--by document, or --errors", "field": "--by document, or --errors"}


def coreference_options(command: Any) -> Any:
    """What counts as a mention, an entity and a document."""
    options = [
        click.option("--scope", type=click.Choice(["document", "topic", "corpus"]), default="document", show_default=True,
                     help="Where an entity id means one entity; topic and corpus are for cross-document coreference."),
        click.option("--topic", default=r"[^_/]+", show_default=True, metavar="REGEX", help="With --scope topic: the topic in a document's name."),
        click.option("--mentions", type=click.Choice(["exact", "head", "partial"]), default="exact", show_default=True,
                     help="When two mentions are the same: same span, same head (CorefUD), or inside it and with its head."),
        click.option("--drop-singletons", is_flag=True, help="Leave entities of one mention out, on both sides."),
        click.option("--compat", type=click.Choice(["reference"]), help="As the reference scorer 8.01: unknown documents, duplicates, truncated percentages."),
        click.option("--strict", is_flag=True, help="A repeated mention is an error that names both entities."),
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@coreference_options
@common_options
@click.option(
    "--errors",
    is_flag=True,
    help="Count what went wrong: missing, extra, divided, conflated; with examples and CoNLL if fixed.",
)
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], scope: str, topic: str, mentions: str, drop_singletons: bool,
    compat: str | None, strict: bool, common: Common, errors: bool,
) -> None:  # fmt: skip
    """Score coreference: REFERENCE (the key) and PREDICTED (the response) are CoNLL-2011/2012 or SemEval columns,
    CorefUD's CoNLL-U, or JSON Lines of clusters.

    \b
    tallystick score coreference key.conll response.conll
    tallystick score coreference key.conll response.conll --metric conll --by document
    """
    options = _options(drop_singletons, scope, topic, mentions, compat)
    pairs = _read(reference, predicted, compat, strict)
    scored = _score(pairs, metrics, options)
    tables: list[Table] = []
    extra: dict[str, Any] = {}
    if errors:
        from dataclasses import asdict

        from tallystick.tasks.coreference.errors import find_errors, score_if_fixed
        from tallystick.tasks.coreference.show import errors_table

        found = find_errors(pairs, options)
        costs = score_if_fixed(pairs, options)
        tables.append(errors_table(found, costs))
        extra["errors"] = [{**asdict(kind), "conll_if_fixed": costs[1][kind.error]} for kind in found]

    def report() -> Parts:
        from tallystick.tasks.coreference.files import read_words
        from tallystick.tasks.coreference.show import chains_parts

        return chains_parts(pairs, options, lambda: read_words(reference, pairs.key, pairs.documents))

    finish(
        scored, common, tables=tables, extra=extra, truncated=compat == "reference", title=versus(predicted, reference),
        report=report,
    )  # fmt: skip


@click.command()
@files
@coreference_options
@click.option("--document", metavar="NAME", help="Which document.  [default: the worst by CEAF-e]")
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(
    reference: str, predicted: str, scope: str, topic: str, mentions: str, drop_singletons: bool, compat: str | None,
    strict: bool, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which entities CEAF-e matches in one document, mention by mention."""
    from tallystick.cli.tree import show_explanation

    options = _options(drop_singletons, scope, topic, mentions, compat)
    name, tree = _explained(_read(reference, predicted, compat, strict), options, document)
    if document is None:
        say(f"document {name}, the worst by CEAF-e")
    show_explanation(tree, f"document {name}", format_)


def _explained(pairs: PairedChains, options: CoreferenceOptions, document: str | None) -> tuple[str, Explanation]:
    from tallystick.tasks.coreference.metrics import explain

    return explain(pairs, options, document)


def whole(given: Mapping[str, Any]) -> str:
    """Why the corpus cannot be scored in shards under these options."""
    return "" if given["scope"] == "document" else f"--scope {given['scope']} joins documents"


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], scope: str, topic: str, mentions: str, drop_singletons: bool,
    compat: str | None, strict: bool, missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system, for `compare`."""
    options = _options(drop_singletons, scope, topic, mentions, compat)
    return _score(_read(reference, predicted, compat, strict, missing), metrics, options)


def _score(pairs: PairedChains, metrics: tuple[str, ...], options: CoreferenceOptions) -> dict[str, Result]:
    from tallystick.tasks.coreference.metrics import METRICS, score

    return score(pairs, metrics or tuple(METRICS), options)


def _options(drop_singletons: bool, scope: str, topic: str, mentions: str, compat: str | None) -> CoreferenceOptions:
    from tallystick.tasks.coreference.metrics import CoreferenceOptions

    if scope != "topic" and topic != CoreferenceOptions.topic:
        raise MetricError("--topic says where a document's name has its topic; give --scope topic with it")
    return CoreferenceOptions(singletons=not drop_singletons, scope=scope, topic=topic, match=mentions, compat=compat)


def _read(
    reference: str, predicted: str, compat: str | None, strict: bool, missing: Missing | None = None
) -> PairedChains:
    from tallystick.tasks.coreference.chains import repeated_mentions
    from tallystick.tasks.coreference.files import read_chains
    from tallystick.tasks.coreference.pairing import pair

    key = read_chains(reference, fields=("clusters",))
    response = read_chains(predicted, fields=("predicted_clusters", "clusters"))
    if strict:
        repeated = [str(one) for side in (key, response) for one in repeated_mentions(side)]
        if repeated:
            shown = "\n".join(repeated[:10]) + (f"\n... and {len(repeated) - 10:,} more" if len(repeated) > 10 else "")
            raise InputError(f"repeated mentions, which --strict does not allow:\n{shown}")
    return pair(key, response, lenient=compat == "reference", absent=missing)
