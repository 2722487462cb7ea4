"""`score templates` and `explain templates`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import check_gates, common_options, files, gates, metric_option, say, show_results
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.reading.templates import PairedTemplates

PRESETS = {
    "du": ("eq32",),
    "gtt": ("gtt",),
    "chen": ("chen_subset", "chen_phi3"),
    "iterx": ("iterx_subset", "iterx_phi3"),
    "iterx-quirks": ("iterx_subset_quirks", "iterx_phi3_quirks"),
    "better": ("granular",),
    "muc4-official": (),
}


@click.command()
@files
@metric_option
@click.option(
    "--preset", type=click.Choice(list(PRESETS)),
    help="The metrics of a paper or an evaluation, instead of naming them.",
)  # fmt: skip
@click.option(
    "--fillers",
    metavar="NAME",
    help="When fillers are alike, for eq32, eq32_fillers and granular: subset, any, phi3, phi4, words, or an expression.  [default: subset]",
)
@click.option(
    "--judgements", metavar="FILE", help="With --preset muc4-official: what people decided about mismatches (Lisp)."
)
@click.option(
    "--mapping", type=click.Choice(["greedy", "recorded"]), default="greedy", show_default=True,
    help="With --preset muc4-official: which templates meet, found anew or as the response file records it.",
)  # fmt: skip
@common_options
@click.option(
    "--errors", is_flag=True, help="Count the kinds of error, with F1 if each were fixed and examples in JSON."
)
def score(
    reference: str, predicted: str, metrics: tuple[str, ...], preset: str | None, fillers: str | None,
    judgements: str | None, mapping: str, format_: str | None, by: str | None, macro: bool, undefined: str | None, fail_under: tuple[str, ...],
    limit: int | None, errors: bool,
) -> None:  # fmt: skip
    """Score templates: REFERENCE and PREDICTED are gtt's JSON, JSON Lines of templates, or MUC-4 key and response files.

    \b
    tallystick score templates test.json preds_gtt.out
    tallystick score templates gold.jsonl system.jsonl --preset gtt --by field
    tallystick score templates key-tst3.v2 response.txt --preset muc4-official --judgements history.lisp
    """
    gates(fail_under)
    if metrics and preset:
        raise MetricError("--preset names the metrics itself; give it, or --metric, not both")
    if preset == "muc4-official":
        if errors:
            raise MetricError("--errors is for the other metrics; the official report counts errors itself")
        _score_official(reference, predicted, judgements, mapping == "recorded", format_, by, macro, fail_under, limit)
        return
    if judgements or mapping == "recorded":
        raise MetricError("--judgements and --mapping belong to --preset muc4-official")
    _score_metrics(
        reference, predicted, metrics or PRESETS.get(preset or "", ()), fillers, format_, by, macro, undefined,
        fail_under, limit, errors,
    )  # fmt: skip


def _score_metrics(
    reference: str, predicted: str, metrics: tuple[str, ...], fillers: str | None, format_: str | None, by: str | None,
    macro: bool, undefined: str | None, fail_under: tuple[str, ...], limit: int | None, errors: bool,
) -> None:  # fmt: skip
    from tallystick.metrics.templates import METRICS, filler_similarity
    from tallystick.metrics.templates import score as score_all
    from tallystick.reports import results as reports

    if by == "label":
        raise MetricError("templates have no labels to break figures down by; use --by field (slots) or --by document")
    pairs = _read(reference, predicted)
    phi = filler_similarity(fillers)
    results = score_all(pairs, metrics or tuple(METRICS), fillers=phi)
    if undefined is not None:
        from dataclasses import replace

        from tallystick.cli.output import undefined_policy

        results = {name: replace(result, undefined=undefined_policy(undefined)) for name, result in results.items()}
    tables = [reports.figures_table(results, macro=macro)]
    extra: dict[str, Any] = {}
    if by == "document":
        tables.append(reports.documents_by_metric(results, limit))
        extra["documents_by_id"] = {
            name: {str(key): figures for key, figures in result.documents.items()} for name, result in results.items()
        }
    elif by == "field":
        from tallystick.metrics.template_slots import by_slot
        from tallystick.reports.templates import slot_figures, slots_table

        able = [name for name in results if name == "gtt" or not isinstance(results[name].metric, str)]
        if not able:
            raise MetricError(f"{', '.join(results)} has no figures by slot; eq32, gtt and iterx_phi3 have")
        slots = {name: by_slot(pairs, name, phi) for name in able}
        tables += [slots_table(name, rows) for name, rows in slots.items()]
        extra["slots"] = {name: slot_figures(rows) for name, rows in slots.items()}
    if errors:
        from tallystick.metrics.template_errors import find_errors
        from tallystick.reports.templates import errors_table

        kinds, found = find_errors(pairs)
        tables.append(errors_table(kinds, found.f1()))
        extra["errors"] = {"f1": found.f1(), "kinds": [vars(kind) for kind in kinds]}
    show_results(results, tables, format_, extra, [])
    check_gates(results, fail_under)


def _score_official(
    reference: str, predicted: str, judgements: str | None, recorded: bool, format_: str | None, by: str | None,
    macro: bool, fail_under: tuple[str, ...], limit: int | None,
) -> None:  # fmt: skip
    from tallystick.metrics.muc4 import f_measures
    from tallystick.metrics.muc4 import score as score_official
    from tallystick.reading.muc4 import read_judgements, read_muc4
    from tallystick.reports import results as reports
    from tallystick.reports.templates import official_table

    if by == "label":
        raise MetricError("the official report has no labels; use --by field (its slots) or --by document")
    decided = read_judgements(judgements) if judgements else None
    report = score_official(read_muc4(reference), read_muc4(predicted), judgements=decided, recorded=recorded)
    results = {"muc4_official": report.result}
    rows = report.rows()
    tables = [reports.figures_table(results, macro=macro), official_table(rows)]
    extra: dict[str, Any] = {"slots": rows, "f_measures": f_measures(rows["ALL TEMPLATES"])}
    if by == "document":
        tables.append(reports.documents_by_metric(results, limit))
        extra["documents_by_id"] = report.result.documents
    show_results(results, tables, format_, extra, [f"{len(report.mapping):,} templates mapped"])
    check_gates(results, fail_under)


@click.command()
@files
@click.option(
    "--fillers",
    metavar="NAME",
    help="When fillers are alike: subset, any, phi3, phi4, words, or an expression.  [default: subset]",
)
@click.option("--document", metavar="ID", help="Which document.  [default: the worst by eq. 32]")
@click.option("--format", "format_", type=click.Choice(["tree", "json"]), default="tree", show_default=True)
def explain(reference: str, predicted: str, fillers: str | None, document: str | None, format_: str) -> None:
    """Show which templates and fillers eq. 32 matches in one document."""
    import json

    from tallystick.cli.tree import show_tree
    from tallystick.metrics.templates import score as score_all
    from tallystick.reports.results import documents_table

    result = score_all(_read(reference, predicted), ["eq32"], fillers=fillers)["eq32"]
    if document is None:
        document = str(documents_table(result, 1).rows[0][0])
        say(f"document {document}, the worst of {len(result.ids):,}")
    tree = result.explain(document)
    if format_ == "json":
        click.echo(json.dumps(tree.as_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        show_tree(tree, f"document {document}")


def _read(reference: str, predicted: str) -> PairedTemplates:
    from tallystick.reading.templates import pair_templates, read_templates

    return pair_templates(read_templates(reference), read_templates(predicted))
