"""`score templates` and `explain templates`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.output import Common, common_options, files, finish, metric_option, say, versus
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.templates.files import PairedTemplates

BREAKDOWNS = ("field",)
NO_BREAKDOWN = {"label": "--by field (slots) or --by document"}
WHOLE_BREAKDOWNS = ("field",)

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
    "--judge",
    metavar="STORE|embedding:FILE|llm:MODEL",
    help="With --preset muc4-official: who decides about the string fills that no rule matches.",
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
    judgements: str | None, judge: str | None, mapping: str, common: Common, errors: bool,
) -> None:  # fmt: skip
    """Score templates: REFERENCE and PREDICTED are gtt's JSON, JSON Lines of templates, or MUC-4 key and response files.

    \b
    tallystick score templates test.json preds_gtt.out
    tallystick score templates gold.jsonl system.jsonl --preset gtt --by field
    tallystick score templates key-tst3.v2 response.txt --preset muc4-official --judgements history.lisp
    tallystick score templates key-tst3.v2 response.txt --preset muc4-official --judge judgements.sqlite
    """
    if preset == "muc4-official":
        _score_official(reference, predicted, metrics, judgements, judge, mapping == "recorded", errors, common)
        return
    pairs, phi, scored = _scored(reference, predicted, metrics, preset, fillers, judgements, judge, mapping)
    tables: list[Table] = []
    extra: dict[str, Any] = {}
    if common.by == "field":
        from tallystick.results.tables import counted_figures
        from tallystick.tasks.templates.metrics import by_slot
        from tallystick.tasks.templates.show import slots_table

        able = [name for name in scored if name == "gtt" or not isinstance(scored[name].metric, str)]
        if not able:
            raise MetricError(f"{', '.join(scored)} has no figures by slot; eq32, gtt and iterx_phi3 have")
        slots = {name: by_slot(pairs, name, phi) for name in able}
        tables += [slots_table(name, rows) for name, rows in slots.items()]
        extra["slots"] = {name: counted_figures(rows) for name, rows in slots.items()}
    if errors:
        from tallystick.tasks.templates.errors import find_errors
        from tallystick.tasks.templates.show import errors_table

        kinds, found = find_errors(pairs)
        tables.append(errors_table(kinds, found.f1()))
        extra["errors"] = {"f1": found.f1(), "kinds": [vars(kind) for kind in kinds]}

    def report() -> Parts:
        from tallystick.tasks.templates.files import read_texts
        from tallystick.tasks.templates.show import templates_parts

        return templates_parts(pairs, phi, scored, {**read_texts(predicted), **read_texts(reference)})

    finish(scored, common, tables=tables, extra=extra, title=versus(predicted, reference), report=report)


def whole(given: Mapping[str, Any]) -> str:
    """Why the corpus cannot be scored in shards under these options."""
    return "the official report is of a whole run" if given["preset"] == "muc4-official" else ""


def results(
    reference: str, predicted: str, metrics: tuple[str, ...], preset: str | None, fillers: str | None,
    judgements: str | None, judge: str | None, mapping: str, missing: Missing | None = None,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system."""
    if preset == "muc4-official":
        return {
            "muc4_official": _official(reference, predicted, judgements, judge, mapping == "recorded", missing).result
        }
    return _scored(reference, predicted, metrics, preset, fillers, judgements, judge, mapping, missing)[2]


def _scored(
    reference: str, predicted: str, metrics: tuple[str, ...], preset: str | None, fillers: str | None,
    judgements: str | None, judge: str | None, mapping: str, missing: Missing | None = None,
) -> tuple[PairedTemplates, Any, dict[str, Result]]:  # fmt: skip
    from tallystick.tasks.templates.metrics import METRICS, filler_similarity
    from tallystick.tasks.templates.metrics import score as score_all

    if metrics and preset:
        raise MetricError("--preset names the metrics itself; give it, or --metric, not both")
    if judgements or judge or mapping == "recorded":
        raise MetricError("--judgements, --judge and --mapping belong to --preset muc4-official")
    chosen = metrics or PRESETS.get(preset or "", ()) or tuple(METRICS)
    pairs, phi = _read(reference, predicted, missing), filler_similarity(fillers)
    return pairs, phi, score_all(pairs, chosen, fillers=phi)


def _official(
    reference: str, predicted: str, judgements: str | None, judge: str | None, recorded: bool, missing: Missing | None = None
) -> Any:  # fmt: skip
    from tallystick.tasks.templates.muc4 import score as score_official
    from tallystick.tasks.templates.muc4_files import read_judgements, read_muc4

    decided = read_judgements(judgements) if judgements else None
    keys, responses = read_muc4(reference), read_muc4(predicted)
    if judge is None:
        return score_official(keys, responses, judgements=decided, recorded=recorded, asked=missing)
    from dataclasses import replace

    from tallystick.judging.recorded import judge_named
    from tallystick.tasks.templates.muc4_judging import decide_fills, open_fills

    asked = judge_named(judge)
    found = decide_fills(open_fills(keys, responses, recorded=recorded), asked, decided)
    report = score_official(keys, responses, judgements=found.judgements, recorded=recorded, asked=missing)
    return replace(report, notes=(*report.notes, found.note), settings=f"{report.settings}, judge={asked.signature}")


def _score_official(
    reference: str, predicted: str, metrics: tuple[str, ...], judgements: str | None, judge: str | None, recorded: bool,
    errors: bool, common: Common,
) -> None:  # fmt: skip
    from tallystick.tasks.templates.muc4 import f_measures
    from tallystick.tasks.templates.show import official_table

    if metrics:
        raise MetricError("--preset names the metrics itself; give it, or --metric, not both")
    if errors:
        raise MetricError("--errors is for the other metrics; the official report counts errors itself")
    report = _official(reference, predicted, judgements, judge, recorded)
    rows = report.rows()
    finish(
        {"muc4_official": report.result}, common, tables=[official_table(rows)],
        extra={"slots": rows, "f_measures": f_measures(rows["ALL TEMPLATES"])},
        notes=[f"{len(report.mapping):,} templates mapped"], title=versus(predicted, reference),
    )  # fmt: skip


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
    from tallystick.cli.tree import show_explanation
    from tallystick.results.tables import documents_table
    from tallystick.tasks.templates.metrics import score as score_all

    result = score_all(_read(reference, predicted), ["eq32"], fillers=fillers)["eq32"]
    if document is None:
        document = str(documents_table({"eq32": result}, 1).rows[0][0])
        say(f"document {document}, the worst of {result.count:,}")
    tree = result.explain(document)
    show_explanation(tree, f"document {document}", format_)


def _read(reference: str, predicted: str, missing: Missing | None = None) -> PairedTemplates:
    from tallystick.tasks.templates.files import pair_templates, read_templates

    return pair_templates(read_templates(reference), read_templates(predicted), missing)
