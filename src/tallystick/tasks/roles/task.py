"""`score roles` and `explain roles`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.options import together
from tallystick.cli.output import Common, common_options, files, metric_option, versus
from tallystick.cli.structures import (
    explain_options,
    explain_result,
    informativity_option,
    show,
    type_options,
    types_of,
    weights_of,
)

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.result import Result

MAIN = "ceaf_ree"
BREAKDOWNS = ("label", "field")
LABELS = {"role": "args[*].role", "mention": "mentions[*].role"}


def role_options(command: Any) -> Any:
    """What is the same mention and the same role."""
    options = [
        click.option("--strings", type=click.Choice(["grit", "exact"]), default="grit", show_default=True,
                     help="How texts are compared: without case, punctuation and articles, or as they are."),
        type_options,
        informativity_option,
    ]  # fmt: skip
    return together(command, options)


@click.command()
@files
@metric_option
@role_options
@common_options
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], strings: str, parents: str | None, hierarchy: str | None,
    informativity: str | None, common: Common,
) -> None:  # fmt: skip
    """Score role-filler entities: CEAF-REE, its softer variants with φ3 and φ4, CEAF-RME, and grit's implementation.

    REFERENCE and PREDICTED are grit's JSON or JSON Lines of {"id", "roles": {role: [[mention, ...], ...]}}.

    \b
    tallystick score roles gold.jsonl system.jsonl
    tallystick score roles test.json preds.out --metric ceaf_ree --by label
    """
    scored = results(reference, predicted, metrics, strings, parents, hierarchy, informativity)
    show(
        scored, labels=LABELS, common=common, title=versus(predicted, reference), main=MAIN
    )  # fmt: skip


@click.command()
@files
@role_options
@explain_options
def explain(
    reference: str, predicted: str, strings: str, parents: str | None, hierarchy: str | None, informativity: str | None,
    metric: str | None, document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show which role fillers of a document are matched."""
    scored = results(reference, predicted, (metric or "ceaf_ree",), strings, parents, hierarchy, informativity)
    explain_result(scored, document, format_)


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], strings: str, parents: str | None, hierarchy: str | None,
    informativity: str | None, missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    from tallystick.files.pairing import pair_documents
    from tallystick.structures.texts import NAryRelation
    from tallystick.tasks.roles.files import read_roles
    from tallystick.tasks.roles.metrics import RoleOptions
    from tallystick.tasks.roles.metrics import score as score_all

    sides = [read_roles(name) for name in (reference, predicted)]
    pairs = pair_documents(sides[0], sides[1], lambda: NAryRelation(""), missing)
    return score_all(pairs, metrics, RoleOptions(strings, types_of(hierarchy, parents), weights_of(informativity)))
