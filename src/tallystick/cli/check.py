"""`tallystick check`: put a metric to the properties that it should have."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.main import chosen_format, formats, say, show_tables
from tallystick.cli.options import FILE, Number, check_before
from tallystick.errors import MetricError, did_you_mean

if TYPE_CHECKING:
    from tallystick.laboratory.subjects import Subject


@click.command()
@click.argument("metrics", nargs=-1, metavar="[METRIC]...")
@click.option(
    "--type",
    "type_name",
    metavar="MODULE:TYPE",
    help="The type of a document. Checks the metric derived from it, or the given expression or --function on values of it.",
)
@click.option(
    "--credit",
    type=click.Choice(["all", "each"]),
    default="all",
    show_default=True,
    help="With --type: how the metric is derived.",
)
@click.option(
    "--function",
    "function_name",
    metavar="MODULE:NAME",
    help="A function f(reference, predicted) that returns a number or a mapping of figures.",
)
@click.option("--corpus", is_flag=True, help="The function takes two lists of documents.")
@click.option(
    "--figure", default="", metavar="NAME", help="Which figure of the function to check.  [default: f1, or the first]"
)
@click.option(
    "--data", metavar="FILE", help="For hierarchies: use the first document of this file for P4, P5 and the curves."
)
@click.option(
    "--picture",
    type=FILE,
    metavar="FILE",
    help="Draw the curves of all metrics: .svg, .png, .pdf, or .html with everything.",
)
@click.option("--samples", type=click.IntRange(1), default=20, show_default=True, help="Cases of each size.")
@click.option(
    "--multiple",
    type=Number(1, min_open=True),
    default=2.0,
    show_default=True,
    help="P5 fails if a step is this many times its neighbour.",
)
@click.option("--allow-code", is_flag=True, help="Let an expression name functions of your own (module:name).")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same cases.")
@click.option("--only", multiple=True, metavar="PROPERTY", help="Check only this property, e.g. P4; may be repeated.")
@click.option(
    "--require", multiple=True, metavar="PROPERTY", help="Exit with 1 if this property fails, e.g. P1; may be repeated."
)
@click.option("--format", "format_", type=click.Choice(formats()), help="Default: table on a terminal, else tsv.")
def check(metrics: tuple[str, ...], **given: Any) -> None:
    """Check what a metric does: Definition 1, range, identity, symmetry, zero, monotonicity, linearity, invariance under
    order and renaming, duplicates, empties. Show the smallest counterexample for each failure.

    METRIC is a named metric (hierarchies.muc_p), a task (coreference), all (except events), or with --type an expression.
    Tasks with named metrics are amr, arguments, calls, coreference, dependencies, events, hierarchies, nary,
    relations, roles, spans, templates, and equations.

    \b
    tallystick check coreference.muc coreference.b3
    tallystick check --type invoices.py:Invoice --credit each
    tallystick check --function mymodule:score --type mymodule:Record
    tallystick check hierarchies.muc_p hierarchies.nstm_p --data gold.newick --picture figure4.svg
    """  # fmt: skip
    from tallystick.files.writing import to_json
    from tallystick.laboratory.curves import curves_table, overview_table, report_table
    from tallystick.laboratory.properties import check as examine

    check_before()
    from tallystick.algebra.parse import allowing_code

    with allowing_code(given["allow_code"]):
        subjects = _subjects(
            metrics, **{name: given[name] for name in ("type_name", "credit", "function_name", "corpus", "figure")}
        )
    structure = _structure(given["data"]) if given["data"] else None
    how = {name: given[name] for name in ("samples", "seed", "multiple", "only")}
    reports = [examine(subject, structure=structure, **how) for subject in subjects]
    require, picture, format_ = given["require"], given["picture"], given["format_"]
    known = [finding.name for finding in reports[0].findings]
    for name in require:
        if not any(one.startswith(name) for one in known):
            raise MetricError(
                f"--require: no property {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
    if picture:  # before anything is printed, to which nobody may listen to the end
        from tallystick.laboratory.curves import draw_curves

        draw_curves(reports, picture)
    if chosen_format(format_) == "json":
        click.echo(to_json([report.as_dict() for report in reports]))
    elif len(reports) == 1:
        show_tables([report_table(reports[0]), curves_table(reports)], format_)
    else:
        show_tables([overview_table(reports), curves_table(reports)], format_)
    if picture:
        say(f"wrote {picture}")
    failed = [
        (report, finding) for report in reports for finding in report.failures for name in require if finding.name.startswith(name)
    ]  # fmt: skip
    for report, finding in failed:
        say(f"FAILED: {report.subject}: {finding.name}: {finding.detail}")
    if failed:
        sys.exit(1)


def _subjects(
    metrics: tuple[str, ...], type_name: str | None, credit: str, function_name: str | None, corpus: bool, figure: str
) -> list[Subject]:  # fmt: skip
    from tallystick.algebra.parse import load
    from tallystick.laboratory.named import named
    from tallystick.laboratory.subjects import derived, expression, function

    if type_name is None:
        if function_name is not None:
            raise MetricError("--function needs --type MODULE:TYPE, the type of its arguments")
        if not metrics:
            raise MetricError("say what to check: a named metric such as coreference.muc, or --type MODULE:TYPE")
        return [subject for name in metrics for subject in named(name)]
    type_ = load(type_name)
    if function_name is not None:
        return [function(load(function_name), type_, corpus=corpus, name=function_name, headline=figure)]
    if metrics:
        return [expression(text, type_) for text in metrics]
    return [derived(type_, credit=credit, name=f"derived({type_name}, {credit})")]


def _structure(data: str) -> Any:
    from tallystick.laboratory.named import parents_of
    from tallystick.tasks.hierarchies.files import read_hierarchies
    from tallystick.tasks.hierarchies.metrics import document_of

    found = read_hierarchies(data)
    return parents_of(document_of(found, 0), found.kinds[0] if found.kinds else "subevent")
