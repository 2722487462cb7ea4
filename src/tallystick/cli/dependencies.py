"""`score dependencies`: the UD evaluation of two CoNLL-U files."""

from __future__ import annotations

import click

from tallystick.cli.output import Common, common_options, files, finish, metric_option, no_breakdown


@click.command()
@files
@metric_option
@common_options
@click.option(
    "--unit", type=click.Choice(["auto", "document", "block"]), default="auto", show_default=True,
    help="What a row of the tally is: a # newdoc document, or a block of text that both sides bound alike.",
)  # fmt: skip
@click.option("--several-roots", is_flag=True, help="Allow sentences with more than one root.")
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], common: Common, unit: str, several_roots: bool
) -> None:  # fmt: skip
    """Score dependencies: REFERENCE and PREDICTED are CoNLL-U files over the same text.

    \b
    tallystick score dependencies gold.conllu system.conllu
    tallystick score dependencies gold.conllu system.conllu --metric las --by document
    """
    from tallystick.metrics import dependencies
    from tallystick.reading.conllu import read_conllu

    no_breakdown(common, "label", "field", instead="--by document")
    left, right = (read_conllu(name, several_roots=several_roots) for name in (reference, predicted))
    finish(dependencies.score(left, right, metrics or dependencies.METRICS, unit=unit), common)
