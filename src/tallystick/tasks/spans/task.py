"""`score spans`: entities, chunks and other labelled segments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.gates import check_gates
from tallystick.cli.idle import Effects, refuse_without_effect
from tallystick.cli.options import together
from tallystick.cli.output import Common, chosen_format, common_options, finish, metric_option, once, say, versus
from tallystick.cli.written import write_files
from tallystick.errors import MetricError

if TYPE_CHECKING:
    from tallystick.files.pairing import Missing
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.show.tables import Table
    from tallystick.tasks.spans.files import SpanCorpus
    from tallystick.tasks.spans.metrics import SpanOptions

BREAKDOWNS = ("label",)
NO_BREAKDOWN = {"field": "--by label or --by document"}
MEANS_NEED_ROWS = True

TAGGED = ("columns", "conllu")
WITH_OFFSETS = ("jsonl", "brat")
READING_EFFECTS: Effects = {
    "scheme": ("IOB2", TAGGED), "strict": (False, TAGGED), "delimiter": ("-", TAGGED), "suffix": (False, TAGGED),
    "ignore_tokens": (False, TAGGED), "reference_column": (None, TAGGED), "predicted_column": (-1, ("columns",)),
    "token_column": (0, ("columns",)), "weight_column": (None, ("columns",)), "separator": (None, ("columns",)),
    "comment": (None, ("columns",)), "misc": ("ner", ("conllu",)), "offsets": ("characters", ("jsonl",)),
    "tokenizer": ("words", WITH_OFFSETS), "boundaries": ("error", WITH_OFFSETS), "spans_field": ("spans", ("jsonl",)),
}  # fmt: skip
"""Which formats an option of reading has an effect on."""
COUNTING_EFFECTS: Effects = {
    "partner": (None, ("overlap", "contain", "constrained_overlap", "iou")), "k1": (None, ("constrained_overlap",)),
    "k2": (None, ("constrained_overlap",)), "iou": (0.5, ("iou",)), "separators": (1.0, ("ts", "segment_units")),
    "distinct": (False, ("segment",)),
}  # fmt: skip
"""Which metrics an option of counting has an effect on."""

SCHEMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]


def reading_options(command: Any) -> Any:
    """What the files look like."""
    options = [
        click.option("--input", "input_", type=click.Choice(["columns", "jsonl", "brat", "conllu"]), help="Default: by name and content."),
        click.option("--scheme", type=click.Choice(SCHEMES, case_sensitive=False), default="IOB2", show_default=True, help="What the tags follow."),
        click.option("--strict/--lenient", "strict", default=False, help="What breaks the scheme is no segment, or is read as conlleval does (the default) and counted."),
        click.option("--reference-column", type=int, help="Of column files, from 0, or from the end where negative.  [default: the last; with --together the last but one]"),
        click.option("--predicted-column", type=int, default=-1, show_default=True),
        click.option("--token-column", type=int, default=0, show_default=True),
        click.option("--weight-column", type=int, help="A weight for each token, in the reference."),
        click.option("--separator", metavar="CHAR", help="Between columns.  [default: any white space]"),
        click.option("--comment", metavar="MARK", help="Lines before a sentence that start so are left out."),
        click.option("--delimiter", default="-", show_default=True, help="Between prefix and type."),
        click.option("--suffix", is_flag=True, help="Tags look like PER-B."),
        click.option("--ignore-tokens", is_flag=True, help="Compare the numbers of tokens only, not the tokens."),
        click.option("--misc", default="ner", show_default=True, metavar="KEY", help="Of CoNLL-U: the key of MISC that holds the tag (or --reference-column)."),
        click.option("--offsets", type=click.Choice(["characters", "tokens"]), default="characters", show_default=True, help="Of JSONL."),
        click.option("--tokenizer", type=click.Choice(["words", "blanks", "characters"]), default="words", show_default=True, help="Of JSONL and brat; one for both sides."),
        click.option("--boundaries", type=click.Choice(["error", "expand", "contract"]), default="error", show_default=True, help="A boundary inside a token."),
        click.option("--spans-field", default="spans", show_default=True, help="Of JSONL."),
    ]  # fmt: skip
    return together(command, options)


def counting_options(command: Any) -> Any:
    """What counts as right."""
    options = [
        click.option("--average", type=click.Choice(["micro", "macro", "weighted"]), help="Over tags.  [default: each metric's own]"),
        click.option("--tag", "tags", multiple=True, metavar="NAME", help="Declare a tag for means over tags; may be repeated.  [default: all that occur]"),
        click.option("--supertag", "supertags", multiple=True, metavar="NAME[=TAG,TAG]", help="An extra row for all tags, or for some, under one name."),
        click.option("--ignore-types", is_flag=True, help="All tags are the same."),
        click.option("--separators", type=click.FloatRange(0), default=1.0, show_default=True, help="The weight of a separator; a token's is 1."),
        click.option("--beta", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True, help="Of F: above 1 favours recall."),
        click.option("--partner", type=click.Choice(["any", "one-to-one"]), help="For overlap, contain, constrained_overlap (default any) and iou (default one-to-one)."),
        click.option("--k1", type=click.IntRange(0), help="constrained_overlap: spurious tokens allowed."),
        click.option("--k2", type=click.IntRange(0), help="constrained_overlap: missing tokens allowed."),
        click.option("--iou", type=click.FloatRange(0, 1, min_open=True), default=0.5, show_default=True, help="The threshold of iou."),
        click.option("--distinct", is_flag=True, help="segment: sets, not bags."),
    ]  # fmt: skip
    return together(command, options)


@click.command()
@click.argument("reference")
@click.argument("predicted", required=False, callback=once)
@click.option("--together", is_flag=True, help="REFERENCE holds both, gold and predicted, in two columns.")
@metric_option
@counting_options
@reading_options
@common_options
@click.option("--errors", is_flag=True, help="Also what went wrong: counts, confusion of tags, a list with places.")
@click.option("--repairs", is_flag=True, help="Also list every tag that does not follow the scheme.")
@click.option("--seqeval", is_flag=True, help="Print seqeval's classification report instead of tables.")
@click.option("--digits", type=click.IntRange(0, 15), help="Decimals of --seqeval.  [default: 2]")
def score(
    reference: str, predicted: str | None, together: bool, common: Common, errors: bool, repairs: bool, seqeval: bool,
    digits: int | None, **settings: Any,
) -> None:  # fmt: skip
    """Score spans: REFERENCE and PREDICTED are column files with IOB tags, JSONL, brat or CoNLL-U.

    Metrics: segment (exact), ts (tokens and separators), token, overlap, contain, constrained_overlap, iou,
    segment_units, and nervaluate's strict, exact, partial, type (or nervaluate for all four).

    \b
    tallystick score spans gold.iob system.iob
    tallystick score spans both.txt --together --by label
    tallystick score spans gold.jsonl system.jsonl --metric iou --iou 0.7 --errors
    """
    from tallystick.results import tables as reports
    from tallystick.tasks.spans.metrics import score as score_all

    if together == (predicted is not None):
        raise MetricError("give PREDICTED, or --together if REFERENCE holds both columns")
    others = {"--format": common.format_, "--undefined": common.undefined, "--macro": common.macro,
              "--beta": settings["beta"] != 1, "--by document": common.by == "document"}  # fmt: skip
    if seqeval and any(others.values()):
        given = " and ".join(name for name, value in others.items() if value)
        raise MetricError(
            f"--seqeval is a layout of its own, with F1 and 0 for 0/0, as seqeval has it; leave {given} out"
        )
    if digits is not None and not seqeval:
        raise MetricError("--digits is the number of decimals of --seqeval; without it, leave it out")
    what = _what(settings["metrics"] or (("segment",) if seqeval else ()), settings)
    corpus = _read(reference, predicted, keep_tokens=errors or bool(common.report), **settings)
    results = score_all(corpus, *what)
    tables: list[Table] = []
    extra: dict[str, Any] = {}
    if common.by == "label":
        tables += [reports.labels_table(result, title=name) for name, result in results.items()]
    if corpus.repairs:
        from tallystick.tasks.spans.show import repairs_as_dict, repairs_table

        extra["repairs"] = repairs_as_dict(corpus, common.limit if repairs else 0)
        if repairs:
            tables.append(repairs_table(corpus, common.limit))
    if errors:
        from tallystick.tasks.spans.errors import align
        from tallystick.tasks.spans.show import errors_as_dict, errors_tables

        alignment = align(corpus.texts)
        if chosen_format(common.format_) == "json":
            extra |= errors_as_dict(corpus, alignment, common.limit)
        else:
            tables += errors_tables(corpus, alignment, common.limit or 20)

    def report() -> Parts:
        from tallystick.tasks.spans.show import spans_parts

        return spans_parts(corpus, results, max(50, (errors and common.limit) or 0))

    title = versus(predicted, reference) if predicted is not None else Path(reference).name
    if seqeval:
        written = write_files(results, common, tables=tables, title=title, report=report)
        _print_seqeval(results, 2 if digits is None else digits, tables)
        for line in written:
            say(line)
        check_gates(results, common.fail_under)
        return
    finish(results, common, tables=tables, extra=extra, title=title, report=report)


def _print_seqeval(results: Mapping[str, Result], digits: int, tables: list[Table]) -> None:
    from tallystick.cli.output import show_tables
    from tallystick.tasks.spans.show import seqeval_report

    click.echo("\n".join(seqeval_report(result, digits) for result in results.values()))
    show_tables(tables, None)
    for result in results.values():
        say(f"signature: {result.signature}")
    for warning in dict.fromkeys(w for result in results.values() for w in result.warnings):
        say(f"Warning: {warning}")


def results(
    reference: str, predicted: str, metrics: tuple[str, ...],
    average: str | None, tags: tuple[str, ...], supertags: tuple[str, ...], ignore_types: bool, separators: float,
    beta: float, partner: str | None, k1: int | None, k2: int | None, iou: float, distinct: bool,
    input_: str | None, scheme: str, strict: bool, reference_column: int | None, predicted_column: int,
    token_column: int, weight_column: int | None, separator: str | None, comment: str | None, delimiter: str,
    suffix: bool, ignore_tokens: bool, misc: str, offsets: str, tokenizer: str, boundaries: str, spans_field: str,
) -> dict[str, Result]:  # fmt: skip
    """The results of one system; the options are those of `score` that choose what is computed."""
    settings = {name: value for name, value in locals().items() if name not in ("reference", "predicted")}
    return results_of_systems(reference, {"": predicted}, **settings)[""]


def results_of_systems(
    reference: str, systems: Mapping[str, str], missing: Mapping[str, Missing] | None = None, **settings: Any
) -> dict[str, dict[str, Result]]:
    """The results of several systems, over the tags of all of them."""
    from tallystick.tasks.spans.metrics import score_systems

    absent = missing or {}
    what = _what(settings["metrics"], settings)
    corpora = {name: _read(reference, file, absent=absent.get(name), **settings) for name, file in systems.items()}
    return score_systems(corpora, *what)


def _what(metrics: tuple[str, ...], settings: Mapping[str, Any]) -> tuple[tuple[str, ...], SpanOptions]:
    from tallystick.tasks.spans.metrics import DEFAULT, SpanOptions

    named = (text.partition("=") for text in settings["supertags"])
    options = SpanOptions(
        average=settings["average"],
        beta=settings["beta"],
        types=not settings["ignore_types"],
        tags=settings["tags"],
        supertags=tuple((name, tuple(tag for tag in tags.split(",") if tag)) for name, _, tags in named),
        separators=settings["separators"],
        partner=settings["partner"],
        k1=settings["k1"],
        k2=settings["k2"],
        iou=settings["iou"],
        distinct=settings["distinct"],
    )
    metrics = metrics or DEFAULT
    refuse_without_effect(settings, COUNTING_EFFECTS, metrics, f"the metrics here are {', '.join(metrics)}")
    return metrics, options


def _read(
    reference: str, predicted: str | None, *, keep_tokens: bool = False, absent: Missing | None = None, **settings: Any
) -> SpanCorpus:
    from tallystick.tasks.spans.files import Columns, Decoding, Offsets, agreed_format, read_span_files

    format_ = agreed_format(reference, predicted, settings["input_"])
    refuse_without_effect(settings, READING_EFFECTS, (format_,), f"these files are read as {format_}")
    return read_span_files(
        reference,
        predicted,
        format=format_,
        columns=Columns(
            reference=settings["reference_column"],
            predicted=settings["predicted_column"],
            token=settings["token_column"],
            separator=settings["separator"],
            comment=settings["comment"],
            weight=settings["weight_column"],
            same_tokens=not settings["ignore_tokens"],
        ),
        decoding=Decoding(
            settings["scheme"].upper(),
            "strict" if settings["strict"] else "lenient",
            settings["delimiter"],
            settings["suffix"],
        ),
        offsets=Offsets(settings["offsets"], settings["tokenizer"], settings["boundaries"], settings["spans_field"]),
        key=settings["misc"],
        keep_tokens=keep_tokens,
        absent=absent,
    )
