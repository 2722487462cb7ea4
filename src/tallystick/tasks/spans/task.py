"""`spans`: entities, chunks and other labelled segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

from tallystick.errors import MetricError
from tallystick.frozen import frozen
from tallystick.tasks.attributes import About, Attribute
from tallystick.tasks.contract import (
    Asked,
    Reading,
    Scored,
    Shown,
    Task,
    missing_option,
    option,
    refuse_idle,
    target_accuracy,
    unit_option,
)

if TYPE_CHECKING:
    from tallystick.results.mistakes import Mistake
    from tallystick.results.report import Parts
    from tallystick.show.tables import Table
    from tallystick.tasks.spans.files import SpanCorpus
    from tallystick.tasks.spans.metrics import SpanOptions

IN_CHARACTERS = ("doccano", "prodigy", "label-studio", "label-studio-min", "gliner")
IN_TOKENS = ("dygie", "spert", "gliner-data", "spacy")
FORMATS = ("columns", "jsonl", "brat", "conllu", "hipe", "tags", "huggingface", *IN_CHARACTERS, *IN_TOKENS)
IN_FILES, COLUMNS = ("columns", "conllu", "hipe"), ("columns",)
WITH_OFFSETS = ("jsonl", "brat", *IN_CHARACTERS)
IN_FIELDS = ("jsonl", "huggingface", *IN_CHARACTERS, *IN_TOKENS)
TAGGED = (*IN_FILES, "tags", "huggingface")
OVERLAPPING = ("overlap", "contain", "constrained_overlap", "iou")


@frozen
class SpanSettings:
    """What counts as right, and what the files look like."""

    # fmt: off
    average: str | None = option(None, "The average over tags.  [default: each metric's own]", choices=("micro", "macro", "weighted"))
    tags: tuple[str, ...] = option((), "A tag that means over tags include; may be repeated.  [default: all that occur]", names=("--tag",), metavar="NAME")
    supertags: tuple[str, ...] = option((), "Add a row for all tags, or for some of them, under one name.", names=("--supertag",), metavar="NAME[=TAG,TAG]")
    ignore_types: bool = option(False, "Ignore the types of tags.")
    separators: float = option(1.0, "The weight of a separator; a token's is 1.", least=0, on=("ts", "segment_units"))
    beta: float = option(1.0, "The β of F: above 1 favours recall, 0 is precision.", least=0)
    partner: Literal["any", "one-to-one"] | None = option(None, "What counts as a partner for overlap, contain, constrained_overlap (default any) and iou (default one-to-one).", on=OVERLAPPING)
    k1: int | None = option(None, "How many spurious tokens constrained_overlap allows.", least=0, on=("constrained_overlap",))
    k2: int | None = option(None, "How many missing tokens constrained_overlap allows.", least=0, on=("constrained_overlap",))
    iou: float = option(0.5, "The threshold of iou.", above=0, most=1, on=("iou",))
    distinct: bool = option(False, "Sets, not bags, for segment: duplicates count once.", on=("segment",))
    input: Literal["columns", "jsonl", "brat", "conllu", "hipe", "huggingface", "doccano", "prodigy", "label-studio", "label-studio-min", "gliner", "gliner-data", "dygie", "spert", "spacy"] | None = option(None, "The format of the files.  [default: by name and content]")
    scheme: Literal["IO", "IOB1", "IOB2", "BIO", "IOE1", "IOE2", "IOBES", "BIOES", "BILOU"] = option("IOB2", "The scheme that the tags follow.", on=TAGGED)
    strict: bool = option(False, "Drop tags that break the scheme, or read them as conlleval does (the default). Both count them.", names=("--strict/--lenient",), on=TAGGED)
    reference_column: int | None = option(None, "The column of the tags, counted from 0, or from the end if negative.  [default: the last; with --together the last but one; for HIPE 1]", on=IN_FILES)
    predicted_column: int = option(-1, "The column of the predicted tags, counted like --reference-column.", on=COLUMNS)
    token_column: int = option(0, "The column of the tokens, counted like --reference-column.", on=COLUMNS)
    weight_column: int | None = option(None, "The column of the reference that holds a weight for each token.", on=COLUMNS)
    separator: str | None = option(None, "The character between columns.  [default: any white space]", metavar="CHAR", on=COLUMNS)
    comment: str | None = option(None, "Ignore lines before a sentence that start with this mark.", metavar="MARK", on=COLUMNS)
    delimiter: str = option("-", "The text between prefix and type.", on=TAGGED)
    suffix: bool = option(False, "The prefix comes last, as in PER-B.", on=TAGGED)
    layers: int = option(1, "How many of the last columns hold tags: layers of nested spans, scored as one set.", least=1, on=COLUMNS)
    tag_names: str | None = option(None, "The names of tags that are numbers: O,B-PER,... or a file that has them.  [default: those of the file, or of dataset_info.json beside it]", metavar="NAMES|FILE", on=("huggingface",))
    ignore_tokens: bool = option(False, "Compare only the number of tokens, not the tokens.", on=IN_FILES)
    misc: str = option("ner", "For CoNLL-U: the key of MISC that holds the tag (or use --reference-column).", metavar="KEY", on=("conllu",))
    offsets: Literal["characters", "tokens"] = option("characters", "For JSONL: what offsets count.", on=("jsonl",))
    tokenizer: str = option("words", "For offsets of characters: how both sides are split into tokens.", choices=("words", "blanks", "characters"), on=WITH_OFFSETS)
    boundaries: Literal["error", "expand", "contract"] = option("error", "What to do with a boundary inside a token.", on=WITH_OFFSETS)
    spans_field: str | None = option(None, "The field, span group (spaCy) or control (Label Studio) that holds the spans or tags.  [default: spans, or the one of the format]", metavar="NAME", on=IN_FIELDS)
    confidence: str | None = option(None, "For JSON: the key that holds the confidence of a predicted span, for average precision, calibration and review (of segment).", metavar="KEY", on=("jsonl", *IN_CHARACTERS, "spert"))
    missing: str = missing_option()
    target_accuracy: float = target_accuracy()
    unit: str = unit_option("")
    repairs: bool = option(False, "Also list every tag that breaks the scheme.", use="score", in_rows=True)
    seqeval: bool = option(False, "Print seqeval's classification report instead of tables.", use="score")
    digits: int | None = option(None, "Decimals.  [default: 4, in percent and with --seqeval 2]", least=0, most=15, use="score")
    # fmt: on


def _length(span: Any, about: About) -> int:
    """How many tokens a span has; the gaps of a discontinuous one do not count."""
    pieces = span.get("pieces") or ((span["start"], span["end"]),)
    return sum(end - start for start, end in pieces)


def _text(span: Any, about: About) -> str | None:
    return about.between(span["start"], span["end"] - 1)


class Spans(Task):
    """Labelled segments."""

    name = "spans"
    summary = "segments, tokens and separators, overlap, IoU, nervaluate's schemes over IOB, JSONL, Parquet, brat, CoNLL-U or HIPE files"
    help = """Score spans: REFERENCE and PREDICTED are column files with IOB tags, JSONL, brat, CoNLL-U or HIPE; rows of Hugging Face's
    datasets; exports of doccano, Prodigy or Label Studio; files of DyGIE++, SpERT, GLiNER or spaCy.

    Metrics: segment (exact), ts (tokens and separators), token, overlap, contain, constrained_overlap, iou,
    segment_units, tag_accuracy (seqeval's and conlleval's accuracy); SemEval 2013's strict, exact, partial, type (or semeval for all four); nervaluate_strict,
    nervaluate_exact, nervaluate_partial, nervaluate_ent_type (or nervaluate), with exactly nervaluate's counts.

    \b
    tallystick score spans gold.iob system.iob
    tallystick score spans both.txt --together --by label
    tallystick score spans gold.jsonl system.jsonl --metric iou --iou 0.7 --errors
    """
    Settings = SpanSettings
    folder_of = (".ann",)
    cites = {
        **dict.fromkeys(("segment", "segment_units"), ("tjong-kim-sang-de-meulder-2003-introduction",)),
        **dict.fromkeys(
            ("ts", "token", "overlap", "contain", "constrained_overlap"), ("esuli-sebastiani-2010-evaluating",)
        ),
        **dict.fromkeys(
            (
                "strict",
                "exact",
                "partial",
                "type",
                "nervaluate_strict",
                "nervaluate_exact",
                "nervaluate_partial",
                "nervaluate_ent_type",
            ),
            ("chinchor-sundheim-1993-muc", "segura-bedmar-etal-2013-semeval"),
        ),
    }
    together = "REFERENCE holds both, gold and predicted, in two columns."
    breakdowns = ("label",)
    synonyms = {"tag": "label"}
    without = {"labels": "tag"}
    rows_for_means = True
    explained = "segment"
    attributes = {"length": Attribute("how many tokens a span has", {"[*]": _length})}
    keys = {"[*]": _text}

    def formats(self) -> Any:
        from tallystick.tasks.spans.files import FORMATS

        return FORMATS

    def check(self, metrics: tuple[str, ...], settings: SpanSettings) -> None:
        if settings.seqeval and "tag_accuracy" in metrics:
            raise MetricError(
                "--seqeval is a report by tag, and tag_accuracy has no figures by tag; leave one of them out"
            )

    a_document = "text"
    data = """
    Tags: ["B-PER", "O"] is one text, [["B-PER", "O"], ["O"]] are two, {"d1": ["B-PER", "O"]} are texts by id.
    Spans: [(0, 1, "PER")], where ends are exclusive: tokens 0 up to, but not including, 1; likewise a list or a mapping of them.
    A text may also be a dict: {"tokens": [...], "tags": [...]}, {"text": "...", "spans": [(0, 5, "PER")]} (characters).
    """
    example = """
    >>> gold, system = ["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "I-PER", "O", "O"]
    >>> ts.spans(gold, system, metrics="segment")["segment"].recall
    0.5
    >>> ts.spans([(0, 2, "PER"), (3, 4, "LOC")], [(0, 2, "PER")], metrics="segment")["segment"].recall
    0.5
    """

    def take(self, reference: Any, predicted: Any, settings: SpanSettings) -> tuple[Any, Any, SpanSettings]:
        from tallystick.tasks.spans.files import take_spans

        left, right, in_tokens = take_spans(reference, predicted, settings.spans_field or "spans")
        return left, right, replace(settings, offsets="tokens") if in_tokens else settings

    def read(self, reference: Any, predicted: Any, settings: SpanSettings, reading: Reading) -> SpanCorpus:
        return self._read(reference, predicted, settings, reading).by_unit(settings.unit)

    def _read(self, reference: Any, predicted: Any, settings: SpanSettings, reading: Reading) -> SpanCorpus:
        from tallystick.tasks.spans.files import Decoding, TagLists, agreed_formats, corpus_of_tags, read_span_files
        from tallystick.tasks.spans.jsonl import Offsets
        from tallystick.tasks.spans.tags import Columns

        decoding = Decoding(
            settings.scheme, "strict" if settings.strict else "lenient", settings.delimiter, settings.suffix
        )
        if isinstance(reference, TagLists):
            refuse_idle(settings, ("tags",), FORMATS, "these are lists of tags")
            return corpus_of_tags(reference, predicted, decoding, reading.missing)
        formats = agreed_formats(reference, predicted, settings.input)
        refuse_idle(settings, formats, FORMATS, f"these files are read as {' and '.join(dict.fromkeys(formats))}")
        return read_span_files(
            reference,
            predicted,
            formats=formats,
            columns=Columns(
                reference=settings.reference_column,
                predicted=settings.predicted_column,
                token=settings.token_column,
                separator=settings.separator,
                comment=settings.comment,
                weight=settings.weight_column,
                same_tokens=not settings.ignore_tokens,
            ),
            decoding=decoding,
            offsets=Offsets(
                settings.offsets, settings.tokenizer, settings.boundaries, settings.spans_field, settings.confidence
            ),
            key=settings.misc,
            layers=settings.layers,
            tag_names=settings.tag_names,
            keep_tokens=reading.texts,
            absent=reading.missing,
        )

    def score_systems(
        self, reference: Any, systems: Mapping[Any, Any], metrics: tuple[str, ...], settings: SpanSettings,
        readings: Mapping[Any, Reading],
    ) -> dict[Any, Scored]:  # fmt: skip
        """Over the tags of all systems."""
        from tallystick.tasks.spans.metrics import score_systems

        what = _what(metrics or (("segment",) if settings.seqeval else ()), settings)
        corpora = {run: self.read(reference, file, settings, readings[run]) for run, file in systems.items()}
        scored = score_systems(corpora, *what)
        if settings.confidence is not None:
            from tallystick.tasks.spans.show import segment_claims

            for run, results in scored.items():
                if "segment" not in results:
                    raise MetricError("--confidence is judged by the metric segment; ask for that one too")
                claims = segment_claims(corpora[run].texts, settings.ignore_types, settings.distinct)
                notes = (*results["segment"].notes, *claims.notes)
                results["segment"] = results["segment"].changed(claims=claims, notes=notes)
        return {run: Scored(corpora[run], results) for run, results in scored.items()}

    def evaluate(self, corpus: Any, metrics: tuple[str, ...], settings: SpanSettings) -> Any:
        from tallystick.tasks.spans.metrics import score_systems

        return score_systems({"": corpus}, *_what(metrics, settings))[""]

    def label_sets(self, corpus: SpanCorpus, settings: SpanSettings) -> Any:
        import numpy as np

        texts = corpus.texts
        sides = (np.flatnonzero(np.bincount(side.tag)).tolist() for side in (texts.reference, texts.predicted))
        return {} if settings.ignore_types else {"tag": tuple([texts.tags[tag] for tag in side] for side in sides)}

    def label_as_seen(self, label: str, metric: str, settings: SpanSettings) -> Callable[[str], str] | None:
        """Means over tags depend on them in any case."""
        without = ("exact", "partial", "nervaluate_exact", "nervaluate_partial")
        return None if metric in without and settings.average in (None, "micro") else str

    error_label = "tag"
    kinds = {
        "boundary": "the tag is right, and the segment begins or ends elsewhere",
        "type": "the segment is right, under another tag",
        "both": "it overlaps a segment of the reference, with another tag and other boundaries",
        "missed": "a segment of the reference that nothing predicted is paired with",
        "spurious": "a predicted segment that nothing in the reference is paired with",
    }

    def find_mistakes(self, corpus: Any, settings: SpanSettings) -> Iterable[Mistake]:
        from tallystick.tasks.spans.show import find_mistakes

        return find_mistakes(corpus)

    def mend(self, corpus: Any, mistakes: Sequence[Mistake], settings: SpanSettings) -> Any:
        from tallystick.tasks.spans.show import mended_corpus

        return mended_corpus(corpus, mistakes)

    def error_tables(self, corpus: Any, mistakes: Sequence[Mistake], settings: SpanSettings) -> Sequence[Table]:
        from tallystick.tasks.spans.show import tables

        return tables(corpus) if mistakes else ()

    def words(self, scored: Scored) -> list[list[str]]:
        corpus: SpanCorpus = scored.corpus
        return corpus.document_words()

    def show(self, scored: Scored, settings: SpanSettings, asked: Asked) -> Shown:
        from tallystick.tasks.spans.show import repairs_as_dict, repairs_table

        corpus = scored.corpus
        found = super().show(scored, settings, asked)
        if not corpus.repairs:
            return found
        tables = [repairs_table(corpus, asked.rows)] if settings.repairs else []
        return Shown(tables, {"repairs": repairs_as_dict(corpus, asked.rows if settings.repairs else 0)}) + found

    def printer(self, scored: Scored, settings: SpanSettings) -> Callable[[], str] | None:
        """seqeval's classification report."""
        if not settings.seqeval:
            return None
        from tallystick.tasks.spans.show import seqeval_report

        digits = 2 if settings.digits is None else settings.digits
        return lambda: "\n".join(seqeval_report(result, digits) for result in scored.results.values())

    def check_output(self, settings: SpanSettings, given: Mapping[str, Any]) -> None:
        super().check_output(settings, given)
        others = [name for name in ("--format", "--undefined", "--macro", "--by document") if given[name]]
        others += ["--beta"] if settings.beta != 1 else []
        if settings.seqeval and others:
            raise MetricError(
                f"--seqeval is a layout of its own, with F1 and 0 for 0/0, as seqeval has it; leave {' and '.join(others)} out"
            )

    def parts(self, scored: Scored, settings: SpanSettings, shown: Shown) -> Parts:
        from tallystick.tasks.spans.show import spans_parts

        return spans_parts(scored.corpus, scored.results)


def _what(metrics: tuple[str, ...], settings: SpanSettings) -> tuple[tuple[str, ...], SpanOptions]:
    from tallystick.tasks.spans.metrics import DEFAULT, METRICS, SpanOptions

    metrics = metrics or DEFAULT
    refuse_idle(settings, metrics, METRICS, f"the metrics here are {', '.join(metrics)}")
    named = (text.partition("=") for text in settings.supertags)
    supertags = tuple((name, tuple(tag for tag in tags.split(",") if tag)) for name, _, tags in named)
    same = {one.name: getattr(settings, one.name) for one in fields(SpanOptions) if hasattr(settings, one.name)}
    options = SpanOptions(**{**same, "types": not settings.ignore_types, "supertags": supertags})
    return metrics, options


TASK = Spans()
