"""`score dependencies`: the UD evaluation of two CoNLL-U files."""

from __future__ import annotations

from typing import Any

import click

from tallystick.cli.output import (
    check_gates,
    common_options,
    files,
    gates,
    metric_option,
    show_results,
    undefined_policy,
)  # fmt: skip
from tallystick.errors import MetricError


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
    reference: str, predicted: str, metrics: tuple[str, ...], format_: str | None, by: str | None, macro: bool,
    undefined: str | None, fail_under: tuple[str, ...], limit: int | None, unit: str, several_roots: bool,
) -> None:  # fmt: skip
    """Score dependencies: REFERENCE and PREDICTED are CoNLL-U files over the same text.

    \b
    tallystick score dependencies gold.conllu system.conllu
    tallystick score dependencies gold.conllu system.conllu --metric las --by document
    """
    from dataclasses import replace

    from tallystick.metrics import dependencies
    from tallystick.reading.conllu import read_conllu
    from tallystick.reports import results as reports

    gates(fail_under)
    if by in ("label", "field"):
        raise MetricError(f"the UD evaluation is not broken down by {by}; use --by document")
    left, right = (read_conllu(name, several_roots=several_roots) for name in (reference, predicted))
    results = dependencies.score(left, right, metrics or dependencies.METRICS, unit=unit)
    results = {name: replace(r, undefined=undefined_policy(undefined)) for name, r in results.items()}
    tables = [reports.figures_table(results, macro=macro)]
    extra: dict[str, Any] = {}
    if by == "document":
        tables.append(reports.documents_by_metric(results, limit))
        extra["documents_by_id"] = {
            name: {str(key): figures for key, figures in r.documents.items()} for name, r in results.items()
        }
    show_results(results, tables, format_, extra, [])
    check_gates(results, fail_under)
