"""Spans: every usual way to score them, and the token and separator model.

What is counted (the event space) and what is made of the counts (the measure) are kept apart, as Esuli and
Sebastiani ask. Where true and predicted units are bags, the metric is an expression of the algebra:

    segment = F↔[δ_start × δ_end × δ_tag]  over segments         token, ts = F↔[δ_unit × δ_tag]  over units

Micro, macro and weighted averages over tags follow from one tally (`span_tallies`). 0/0 is 0, as in conlleval
and seqeval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.result import Later, Result
from tallystick.tasks.spans import counts as span_counts
from tallystick.tasks.spans import units as unit_counts
from tallystick.tasks.spans.counts import Array, Partner, Rows, SpanCounts
from tallystick.tasks.spans.files import Decoding, SpanCorpus, corpus_from_python
from tallystick.tasks.spans.iob import Reading, Scheme
from tallystick.tasks.spans.schemes import SpanScheme, count_scheme
from tallystick.tasks.spans.segments import AnnotatedTexts, Pairs, overlapping_pairs
from tallystick.tasks.spans.tallies import AVERAGES, SchemeTables, TagTables

SEGMENT = f1(match(record(start=exact, end=exact, tag=exact)))
UNIT = f1(match(record(unit=exact, tag=exact)))

ANY_TYPE = "any type"
TAGGED_TWICE = "a token is tagged twice with one tag: units are bags, and have no accuracy, kappa or specificity"


@dataclass(frozen=True)
class SpanOptions:
    """What may be different; every choice goes into the signature.

    `tags` are the declared ones, over which macro and weighted means run; `supertags` are pairs of a name and
    the tags that it stands for (none: all). A `partner` of None is each metric's own: any for overlap, contain
    and constrained overlap, one-to-one for IoU.
    """

    average: str | None = None
    beta: float = 1.0
    types: bool = True
    tags: tuple[str, ...] = ()
    supertags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    separators: float = 1.0
    partner: Partner | None = None
    k1: int | None = None
    k2: int | None = None
    iou: float = 0.5
    distinct: bool = False

    def __post_init__(self) -> None:
        if self.average not in (None, *AVERAGES):
            hint = did_you_mean(str(self.average), AVERAGES)
            raise MetricError(f'"{self.average}" is not an average; there are {", ".join(AVERAGES)}.{hint}')
        if not 0 < self.beta < float("inf"):
            raise MetricError(f"beta lies above 0, found {self.beta}")


PLAIN = SpanOptions()


@dataclass(frozen=True, eq=False)
class Prepared:
    """A corpus ready to be counted: what several metrics need is computed once."""

    texts: AnnotatedTexts
    rows: Rows
    options: SpanOptions
    weights: Array | None = None
    known_pairs: Pairs | None = None

    @cached_property
    def pairs(self) -> Pairs:
        return overlapping_pairs(self.texts) if self.known_pairs is None else self.known_pairs

    @cached_property
    def tokens(self) -> SpanCounts:
        return unit_counts.count_tokens(self.texts, self.rows, weights=self.weights, pairs=self.pairs)

    @cached_property
    def separators(self) -> SpanCounts:
        return unit_counts.count_separators(self.texts, self.rows, pairs=self.pairs)

    def under(self, tag: str, of: Sequence[str]) -> Prepared:
        """The same under a supertag. Which segments share tokens does not depend on their tags."""
        if of and tag in self.texts.tags:
            raise MetricError(f'the supertag "{tag}" is a tag already; give it another name')
        texts = self.texts.relabelled(dict.fromkeys(of, tag) if of else tag)
        return replace(self, texts=texts, known_pairs=self.pairs)


@dataclass(frozen=True)
class Metric:
    """A span metric: its counts (or its scheme), its own average, what its name stands for and depends on."""

    count: Callable[[Prepared], SpanCounts] | SpanScheme
    average: str
    summary: str
    expression: str = ""
    parameters: Callable[[SpanOptions], Mapping[str, Any]] = lambda options: {}

    def shown(self, name: str, options: SpanOptions, plain: bool) -> str:
        """The metric in a signature; its expression stands for the plain case, in which all units weigh the same."""
        chosen = ", ".join(f"{key}={value}" for key, value in self.parameters(options).items())
        inner = f"({chosen})" if chosen else ""
        return f"spans.{name}{inner}" + (f" = {self.expression}" if self.expression and plain else "")


def _constrained(p: Prepared) -> SpanCounts:
    k1, k2 = p.options.k1, p.options.k2
    if k1 is None and k2 is None:
        raise MetricError("constrained_overlap needs k1 (spurious tokens allowed), k2 (missing ones), or both")
    partner = p.options.partner or "any"
    return span_counts.count_constrained_overlap(p.texts, k1, k2, p.rows, partner=partner, pairs=p.pairs)


def _partner(default: Partner) -> Callable[[SpanOptions], Mapping[str, Any]]:
    return lambda o: {"partner": o.partner or default}


METRICS: dict[str, Metric] = {
    "segment": Metric(
        lambda p: span_counts.count_exact(p.texts, p.rows, distinct=p.options.distinct, pairs=p.pairs),
        "micro",
        "segments: same tokens, same tag",
        str(SEGMENT),
        lambda o: {"distinct": True} if o.distinct else {},
    ),
    "ts": Metric(
        lambda p: unit_counts.add_separators(p.tokens, p.separators, p.options.separators),
        "macro",
        "tokens and separators: each unit right or wrong",
        str(UNIT),
        lambda o: {"separators": f"{o.separators:g}"},
    ),
    "token": Metric(lambda p: p.tokens, "macro", "tokens alone", str(UNIT)),
    "overlap": Metric(
        lambda p: span_counts.count_overlap(p.texts, p.rows, partner=p.options.partner or "any", pairs=p.pairs),
        "micro",
        "segments that share a token with one of the same tag",
        parameters=_partner("any"),
    ),
    "contain": Metric(
        lambda p: span_counts.count_contain(p.texts, p.rows, partner=p.options.partner or "any", pairs=p.pairs),
        "micro",
        "predicted segments that hold a true one",
        parameters=_partner("any"),
    ),
    "constrained_overlap": Metric(
        _constrained,
        "micro",
        "overlap with at most k1 spurious and k2 missing tokens",
        parameters=lambda o: {"k1": o.k1, "k2": o.k2, "partner": o.partner or "any"},
    ),
    "iou": Metric(
        lambda p: span_counts.count_iou(
            p.texts, p.options.iou, p.rows, partner=p.options.partner or "one-to-one", pairs=p.pairs
        ),
        "micro",
        "segments whose intersection over union reaches a threshold",
        parameters=lambda o: {"threshold": f"{o.iou:g}", "partner": o.partner or "one-to-one"},
    ),
    "segment_units": Metric(
        lambda p: span_counts.count_segment_matching(p.texts, p.rows, separators=p.options.separators, pairs=p.pairs),
        "micro",
        "segments matched 1:1 by the units that they share",
        parameters=lambda o: {"separators": f"{o.separators:g}"},
    ),
    "strict": Metric("strict", "micro", "nervaluate's strict: same boundaries and type"),
    "exact": Metric("exact", "micro", "nervaluate's exact: same boundaries, any type"),
    "partial": Metric("partial", "micro", "nervaluate's partial: overlap counts half, any type"),
    "type": Metric("type", "micro", "nervaluate's type: overlap with the same type"),
}
"""What `tallystick score spans --metric NAME` knows."""

DEFAULT = ("segment", "ts")
GROUPS: dict[str, tuple[str, ...]] = {"nervaluate": ("strict", "exact", "partial", "type")}


def evaluate(
    reference: Sequence[Any],
    predicted: Sequence[Any],
    metrics: Sequence[str] = DEFAULT,
    *,
    lengths: Sequence[int] | None = None,
    scheme: Scheme = "IOB2",
    reading: Reading = "lenient",
    options: SpanOptions = PLAIN,
    token_weights: Any = None,
    names: Sequence[str] | None = None,
) -> dict[str, Result]:
    """Score tag lists (`[["B-PER", "O"], ...]`) or spans (`[[(0, 1, "PER")], ...]`), a list for each text.

    `lengths` are the numbers of tokens of the texts; spans without them have no true negatives.
    `token_weights` is a weight for each token: a list for each text, one array over all, or a function of the
    numbers of text and token.
    """
    decoding = Decoding(scheme, reading)
    corpus = corpus_from_python(reference, predicted, lengths=lengths, decoding=decoding, names=names)
    if token_weights is not None:
        corpus = replace(corpus, weights=_weights(token_weights, corpus.texts))
    return score(corpus, metrics, options)


def _weights(given: Any, texts: AnnotatedTexts) -> Array:
    if callable(given):
        if texts.lengths is None:
            raise MetricError("a function that weighs tokens needs the lengths of the texts")
        numbers = enumerate(texts.lengths.tolist())
        return np.array([given(text, token) for text, length in numbers for token in range(length)], np.float64)
    nested = len(given) and np.ndim(given[0]) > 0
    return np.asarray(np.concatenate([np.asarray(text) for text in given]) if nested else given, np.float64)


def score(corpus: SpanCorpus, metrics: Sequence[str] = DEFAULT, options: SpanOptions = PLAIN) -> dict[str, Result]:
    """Every metric of one corpus, a row for each document (or for each text where there are none)."""
    return score_systems({"": corpus}, metrics, options)[""]


def score_systems(
    corpora: Mapping[str, SpanCorpus], metrics: Sequence[str] = DEFAULT, options: SpanOptions = PLAIN
) -> dict[str, dict[str, Result]]:
    """Several systems over one reference: their tallies have the tags of all, so that they can be compared."""
    names = _metrics_named(metrics)
    prepared = {system: _prepare(corpus, options) for system, corpus in corpora.items()}
    tags = tuple(sorted({tag for one in prepared.values() for tag in one.texts.tags} - set(options.tags)))
    tags = (*options.tags, *tags) if options.types else tags
    wholes = {system: replace(one, rows="corpus") for system, one in prepared.items()}
    out: dict[str, dict[str, Result]] = {system: {} for system in corpora}
    for name in names:
        counted = {system: _count(name, one, tags) for system, one in wholes.items()}
        negatives = all(whole.negatives for whole in counted.values())
        for system, whole in counted.items():
            out[system][name] = _result(name, corpora[system], prepared[system], whole, tags, negatives)
    return out


def _metrics_named(metrics: Sequence[str]) -> list[str]:
    names: list[str] = []
    for name in metrics:
        if name not in METRICS and name not in GROUPS:
            known = (*METRICS, *GROUPS)
            raise MetricError(f"no metric {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")
        names += GROUPS.get(name, (name,))
    return list(dict.fromkeys(names))


def _prepare(corpus: SpanCorpus, options: SpanOptions) -> Prepared:
    texts = corpus.texts if options.types else corpus.texts.relabelled(ANY_TYPE)
    return Prepared(texts, "text" if corpus.documents is None else corpus.documents, options, corpus.weights)


@dataclass(frozen=True, eq=False)
class _Counted:
    """The rows of a tally, whether its events have true negatives, and whether one was tagged twice."""

    rows: F64
    negatives: bool = False
    multiple: bool = False


def _count(name: str, prepared: Prepared, tags: tuple[str, ...]) -> _Counted:
    count = METRICS[name].count
    above = [(prepared.under(name, of), name) for name, of in prepared.options.supertags]
    if isinstance(count, str):
        sides = [(prepared, tags), *((one, (name,)) for one, name in above)]
        by_tag = [
            count_scheme(one.texts, count, one.rows, by_tag=True, pairs=one.pairs).of_tags(wanted)
            for one, wanted in sides
        ]
        together = count_scheme(prepared.texts, count, prepared.rows, pairs=prepared.pairs)
        return _Counted(SchemeTables(tags).scheme_rows(by_tag, together))
    counts = count(prepared)
    parts = [counts.of_tags(tags), *(count(one).of_tags((name,)) for one, name in above)]
    multiple = any(part.multiple for part in parts)
    return _Counted(TagTables(tags).rows(parts), counts.total is not None and not multiple, multiple)


def _count_rows(name: str, prepared: Prepared, tags: tuple[str, ...]) -> F64:
    return _count(name, prepared, tags).rows


def _result(
    name: str, corpus: SpanCorpus, prepared: Prepared, whole: _Counted, tags: tuple[str, ...], negatives: bool
) -> Result:
    metric, options = METRICS[name], prepared.options
    kind = (SchemeTables if isinstance(metric.count, str) else TagTables)(
        tags,
        options.average or metric.average,
        options.beta,
        options.tags or None if options.types else None,
        tuple(supertag for supertag, _ in options.supertags),
        negatives,
    )
    plain = options.separators == options.beta == 1 and not options.distinct and corpus.weights is None
    # a corpus of sentences has very many rows, and most evaluations never look at them; but only whole numbers have the
    # same sum whether they are added by document or all at once
    rows: F64 | Later
    if corpus.weights is None and float(options.separators).is_integer():
        rows = Later(partial(_count_rows, name, prepared, tags), whole.rows[0])
    else:
        rows = _count_rows(name, prepared, tags)
    return Result(
        metric=metric.shown(name, options, plain),
        kind=kind,
        rows=rows,
        ids=corpus.ids,
        undefined=0.0,
        notes=(*repair_notes(corpus), *([TAGGED_TWICE] * whole.multiple)),
        settings=_settings(corpus, options),
    )


def _settings(corpus: SpanCorpus, options: SpanOptions) -> str:
    parts = [corpus.settings, f"unit={'text' if corpus.documents is None else 'document'}"]
    parts += [f"beta={options.beta:g}"] * (options.beta != 1)
    parts += ["types=ignored"] * (not options.types)
    parts += [f"tags={'+'.join(options.tags)}"] if options.tags else []
    parts += [f"supertag {name}={'+'.join(of) or '*'}" for name, of in options.supertags]
    parts += ["tokens weighted"] if corpus.weights is not None else []
    return ", ".join(part for part in parts if part)


def repair_notes(corpus: SpanCorpus) -> list[str]:
    """What is to be said about tags that do not follow the scheme, a line for each side."""
    notes = []
    for repairs in corpus.repairs:
        if len(repairs):
            side = repairs.tagged.origins[repairs.side].name
            kinds = "; ".join(f"{number:,} {fault}" for fault, number in repairs.counts().items())
            place, tag, _ = repairs.listed(1)[0]
            verb = "left out" if "reading=strict" in corpus.settings else "read as conlleval reads them"
            notes.append(
                f"{side}: {len(repairs):,} tags do not follow the scheme and were {verb} ({kinds}); first {tag} at {place}"
            )
    return notes


__all__ = [
    "DEFAULT",
    "GROUPS",
    "METRICS",
    "SEGMENT",
    "UNIT",
    "Metric",
    "SpanOptions",
    "evaluate",
    "score",
    "score_systems",
]
