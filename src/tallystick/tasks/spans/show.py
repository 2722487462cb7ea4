"""Tables about spans: what went wrong and where, what was repaired, and the report that seqeval's users know."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tallystick.show.tables import Column, Table

if TYPE_CHECKING:
    from tallystick.results.result import Result
    from tallystick.tasks.spans.errors import Alignment, SpanError
    from tallystick.tasks.spans.files import SpanCorpus
    from tallystick.tasks.spans.segments import Span

MISSED, SPURIOUS = "(missed)", "(spurious)"


def seqeval_report(result: Result, digits: int = 2) -> str:
    """The figures of each tag and the three averages in the layout of `seqeval.metrics.classification_report`."""
    rows = sorted(result.by_label(), key=lambda row: str(row.label))
    width = max(len("weighted avg"), digits, *(len(row.label) for row in rows), 0)
    total = int(result.kind.support(result.sums)[: len(result.kind.tags)].sum())  # type: ignore[attr-defined]

    def line(name: str, figures: Any, support: float) -> str:
        shown = "".join(f" {figures[figure] or 0:>9.{digits}f}" for figure in ("precision", "recall", "f1"))
        return f"{name:>{width}s} {shown} {int(support):>9}"

    head = f"{'':>{width}s} " + "".join(f" {name:>9}" for name in ("precision", "recall", "f1-score", "support"))
    means = [line(f"{average} avg", figures, total) for average, figures in result.averages.items()]
    return "\n".join([head, "", *(line(row.label, row.figures, row.support) for row in rows), "", *means, ""])


def errors_tables(
    corpus: SpanCorpus, alignment: Alignment, limit: int | None = 20, *, brief: bool = False
) -> list[Table]:
    """How often what went wrong, which tag was taken for which, and the errors with their places; `brief`: files by their
    names alone."""
    from tallystick.tasks.spans.errors import Outcome

    counts = alignment.counts().ravel().tolist()
    close = alignment.boundary_errors().get(1, 0)
    now, fixed = alignment.f1_if_fixed()
    rows: list[list[Any]] = []
    for outcome in Outcome:
        value = fixed.get(outcome)
        gain = None if value is None or now is None else value - now
        rows.append([str(outcome), counts[outcome], value, gain])
    outcomes = Table(
        ["outcome", "segments", "f1 if fixed", Column("gain", "gain")],
        [*rows, ["boundary, one token off", close, None, None]],
        "What became of the segments (a pair is counted once)",
        ["F1 is that of exact segments; each kind is repaired alone, so gains do not add up."],
    )
    tags = alignment.texts.tags
    confusion = [[name, *row] for name, row in zip((*tags, SPURIOUS), alignment.confusion().tolist(), strict=True)]
    listed = alignment.errors(limit)
    wrong = sum(counts) - counts[Outcome.CORRECT]
    more = f", the first {len(listed):,} of {wrong:,} (--limit)" if len(listed) < wrong else ""
    errors = [
        [str(error.outcome), _brief(corpus, error) if brief else _place(corpus, error), _shown(corpus, error, error.reference),
         _shown(corpus, error, error.predicted), error.tokens_off]
        for error in listed
    ]  # fmt: skip
    return [
        outcomes,
        Table(["true \\ predicted", *tags, MISSED], confusion, "Which tag was taken for which"),
        Table(["error", "where", "reference", "predicted", "tokens off"], errors, f"Errors{more}"),
    ]


def errors_as_dict(corpus: SpanCorpus, alignment: Alignment, limit: int | None = None) -> dict[str, Any]:
    """The same for JSON; the errors all, unless limited."""
    from tallystick.tasks.spans.errors import Outcome

    counts = alignment.counts().ravel().tolist()
    tags = alignment.texts.tags
    columns = (*tags, MISSED)
    table = alignment.confusion().tolist()
    return {
        "outcomes": {str(outcome): counts[outcome] for outcome in Outcome},
        "f1_if_fixed": {str(outcome): value for outcome, value in alignment.f1_if_fixed()[1].items()},
        "tokens_off": {str(off): number for off, number in alignment.boundary_errors().items()},
        "confusion": {
            name: dict(zip(columns, row, strict=True)) for name, row in zip((*tags, SPURIOUS), table, strict=True)
        },
        "errors": [
            {
                "error": str(error.outcome),
                "where": _place(corpus, error),
                "text": corpus.texts.names[error.text] if corpus.texts.names else error.text,
                "reference": _span_as_dict(corpus, error, error.reference),
                "predicted": _span_as_dict(corpus, error, error.predicted),
                "tokens_off": error.tokens_off,
            }
            for error in alignment.errors(limit)
        ],
    }


def repairs_table(corpus: SpanCorpus, limit: int | None = None) -> Table:
    """Every tag that does not follow the scheme, with its place."""
    rows = [[str(place), tag, str(fault)] for repairs in corpus.repairs for place, tag, fault in repairs.listed(limit)]
    return Table(["where", "tag", "what is wrong"], rows, "Tags that do not follow the scheme")


def repairs_as_dict(corpus: SpanCorpus, limit: int | None = None) -> dict[str, Any]:
    """The repairs of both sides: how many of each kind, and their list."""
    return {
        ("reference", "predicted")[repairs.side]: {
            "count": len(repairs),
            "kinds": {str(fault): number for fault, number in repairs.counts().items()},
            "listed": [
                {"where": str(place), "tag": tag, "what": str(fault)} for place, tag, fault in repairs.listed(limit)
            ],
        }
        for repairs in corpus.repairs
    }


def _place(corpus: SpanCorpus, error: SpanError) -> str:
    if error.reference is not None:
        return corpus.where(error.text, error.reference, 0)
    assert error.predicted is not None  # an error has at least one of the two
    return corpus.where(error.text, error.predicted, 1)


def _brief(corpus: SpanCorpus, error: SpanError) -> str:
    """A place with the name of its file; with the whole path where both files have one name."""
    where = _place(corpus, error)
    names = [] if corpus.tagged is None else [PurePath(origin.name).name for origin in corpus.tagged.origins]
    return PurePath(where).name if names and len(set(names)) == len(names) else where


def _shown(corpus: SpanCorpus, error: SpanError, span: Span | None) -> str:
    if span is None:
        return ""
    words = corpus.words(error.text, span)
    return f"{span.tag} {words}" if words else f"{span.tag} [{span.start}:{span.end}]"


def _span_as_dict(corpus: SpanCorpus, error: SpanError, span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    out: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.tag}
    if span.pieces:
        out["pieces"] = [list(piece) for piece in span.pieces]
    words = corpus.words(error.text, span)
    return {**out, "words": words} if words else out
