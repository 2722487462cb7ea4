"""`score nary` and `explain nary`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, common_options, files, metric_option, versus
from tallystick.cli.structures import explain_options, explain_result, show, type_options, types_of

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.result import Result

MAIN = "clusters"
BREAKDOWNS = ("label", "field")
LABELS = {"role": "entities[*].role", "type": "relations[*].type"}
OF_ONE_SYSTEM = ("ner", "clusters")
"""Options that name a part of a system's output; see `system_files`."""


def nary_options(command: Any) -> Any:
    """Where the rest of a system's output is, and when types are alike."""
    options = [
        click.option("--ner", metavar="FILE", help="SciREX: the system's entity mentions, if they are in a file of their own."),
        click.option("--clusters", metavar="FILE", help="SciREX: the system's clusters, likewise."),
        type_options,
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@nary_options
@common_options
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], ner: str | None, clusters: str | None, parents: str | None,
    hierarchy: str | None, common: Common,
) -> None:  # fmt: skip
    """Score N-ary relations of entities: eq. 29 to 31, matched one to one, and SciREX's own procedure beside them.

    REFERENCE and PREDICTED are SciREX's JSON Lines, or plain ones: {"id", "relations": [{"args": {role: [[start, end], ...]}}]}.

    \b
    tallystick score nary dev.jsonl system.jsonl
    tallystick score nary dev.jsonl relations.jsonl --ner ner.jsonl --clusters clusters.jsonl
    """
    scored = results(reference, predicted, metrics, ner, clusters, parents, hierarchy)
    show(
        scored, labels=LABELS, common=common, title=versus(predicted, reference), main=MAIN
    )  # fmt: skip


@click.command()
@files
@nary_options
@explain_options
def explain(
    reference: str, predicted: str, ner: str | None, clusters: str | None, parents: str | None, hierarchy: str | None,
    metric: str | None, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which entities or relations of a document are matched."""
    scored = results(reference, predicted, (metric or "clusters",), ner, clusters, parents, hierarchy)
    explain_result(scored, document, format_)


def whole(given: Mapping[str, Any]) -> str:
    """Why the corpus cannot be scored in shards under these options."""
    return "--ner and --clusters are files beside PREDICTED" if given["ner"] or given["clusters"] else ""


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], ner: str | None, clusters: str | None, parents: str | None,
    hierarchy: str | None, missing: Missing | None = None, roles: tuple[str, ...] = (),
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    from tallystick.files.pairing import pair_documents
    from tallystick.tasks.nary.files import Relations, read_nary
    from tallystick.tasks.nary.metrics import NaryOptions
    from tallystick.tasks.nary.metrics import score as score_all

    rest = [name for name in (ner, clusters) if name]
    pairs = pair_documents(read_nary(reference), read_nary(predicted, *rest), Relations, missing)
    return score_all(pairs, metrics, NaryOptions(types_of(hierarchy, parents), roles))


def survey(file: str) -> set[str]:
    """What a part of a file has to tell before any part is scored: its roles, since a relation's size is counted in those of
    the whole corpus."""
    from tallystick.tasks.nary.files import read_nary
    from tallystick.tasks.nary.metrics import roles_of

    return set(roles_of(list(read_nary(file).values.values())))


def surveyed(found: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the parts told, as options of `results`."""
    from tallystick.tasks.nary.metrics import in_order

    return {"roles": in_order(found)}
