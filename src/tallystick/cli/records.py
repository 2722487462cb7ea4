"""`score records` and `explain records`: your own types, from JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import Common, common_options, files, finish, progress, say, versus
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.reports.tables import Table
    from tallystick.scoring.result import Result


def record_options(command: Any) -> Any:
    """How the metric is chosen and the documents are paired."""
    options = [
        click.option("--type", "type_name", metavar="MODULE:TYPE", help="The type of a document, e.g. mymodule:Invoice or file.py:Invoice."),
        click.option("--metric", "expression", metavar="EXPRESSION", help="A metric instead of the derived one, e.g. 'f1(match(exact))'."),
        click.option(
            "--credit", type=click.Choice(["all", "each"]), default="all", show_default=True,
            help="A record counts as a whole, or each of its fields by itself.",
        ),
        click.option("--id", "id_field", metavar="FIELD", help="The field that pairs the documents.  [default: id, where both files have it]"),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@files
@record_options
@common_options
@click.option("--label", metavar="PATH", help="With --by label: the field that holds it, e.g. relations[*].type.")
def score(
    reference: str, predicted: str, type_name: str | None, expression: str | None, credit: str, id_field: str | None,
    common: Common, label: str | None,
) -> None:  # fmt: skip
    """Score records of your own: REFERENCE and PREDICTED are JSON Lines, one document a line.

    \b
    tallystick score records gold.jsonl system.jsonl --type invoices.py:Invoice --credit each --by field
    """
    from tallystick.reports import results as reports

    if (common.by == "label") != (label is not None):
        raise MetricError("--by label and --label PATH go together, e.g. --by label --label relations[*].type")
    result, pairing = _evaluate(reference, predicted, type_name, expression, credit, id_field, common.policy())
    tables: list[Table] = []
    extra: dict[str, Any] = {}
    if common.by == "field":
        tables.append(reports.fields_table(result))
        extra["fields"] = [vars(row) for row in result.by_field()]
    elif label is not None:
        tables.append(reports.labels_table(result, label))
        extra["labels"] = [vars(row) for row in result.by_label(label)]
    if common.report and common.by != "field":
        tables.append(reports.fields_table(result))
    finish(
        {"records": result}, common, tables=tables, extra=extra, notes=[f"paired {pairing}"],
        title=versus(predicted, reference), explain=result.explain,
    )  # fmt: skip


@click.command()
@files
@record_options
@click.option(
    "--document",
    "document",
    metavar="ID",
    help="Which document: its id, or its line without ids.  [default: the worst]",
)
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(
    reference: str, predicted: str, type_name: str | None, expression: str | None, credit: str, id_field: str | None,
    document: str | None, format_: str,
) -> None:  # fmt: skip
    """Show what was matched with what in one document: the sum over the tree is its score."""
    import json

    from tallystick.cli.tree import show_tree
    from tallystick.reports.results import documents_table

    result, _ = _evaluate(reference, predicted, type_name, expression, credit, id_field, None)
    by_name = {str(key): key for key in result.ids}
    if document is None:
        document = str(documents_table({"records": result}, 1).rows[0][0])
        say(f"document {document}, the worst of {len(result.ids):,}")
    tree = result.explain(by_name.get(document, document))
    if format_ == "json":
        click.echo(json.dumps(tree.as_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        show_tree(tree, f"document {document}")


def _evaluate(
    reference: str, predicted: str, type_name: str | None, expression: str | None, credit: str, id_field: str | None,
    undefined: float | None,
) -> tuple[Result, str]:  # fmt: skip
    from tallystick.deriving import derive, ignore, record_fields
    from tallystick.parsing import parse
    from tallystick.reading.records import pair_records, read_records
    from tallystick.reading.types import load
    from tallystick.scoring.evaluation import evaluate

    if type_name is None and expression is None:
        raise MetricError("say what a document is: --type MODULE:TYPE (or --metric EXPRESSION over plain JSON)")
    type_ = load(type_name) if type_name else None
    metric = parse(expression) if expression else None
    left, right = (read_records(name, type_, id_field) for name in (reference, predicted))
    ids, references, predictions, pairing = pair_records(left, right)
    if metric is None:
        key = id_field or "id"
        # A field that pairs the documents is always right; counting it would only flatter.
        paired_by = pairing == "by id" and key in (record_fields(type_) or {})
        metric = derive(type_, {key: ignore} if paired_by else {}, credit=credit)  # type: ignore[arg-type]
    with progress("scoring") as advance:
        result = evaluate(
            metric,
            dict(zip(ids, references, strict=True)),
            dict(zip(ids, predictions, strict=True)),
            undefined=undefined,
            progress=advance,
        )
    return result, pairing


def results(
    reference: str, predicted: str, type_name: str | None, expression: str | None, credit: str, id_field: str | None
) -> dict[str, Result]:
    """The result of one system, for `compare`."""
    return {"records": _evaluate(reference, predicted, type_name, expression, credit, id_field, None)[0]}
