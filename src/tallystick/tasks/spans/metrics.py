"""The metrics of spans: measures over contingency tables, tallies with a table for every tag, and what each name stands for.

    precision = TP / (TP + FP)    F_b = (1 + b^2) TP / (b^2 (TP + FN) + TP + FP)    accuracy = (TP + TN) / N
    recall    = TP / (TP + FN)    kappa = (p_o - p_e) / (1 - p_e)                 specificity = TN / (TN + FP)

with p_o = accuracy and p_e = ((TP + FP)(TP + FN) + (FN + TN)(FP + TN)) / N^2. A measure takes counts and
gives an array of the same shape, NaN where it is 0/0; what 0/0 means is decided here, at the last division,
never in a sum.

A row of a tally is a document; its sums are those of one table for each tag (and for each supertag, which stands apart
and is in no average):

    num_p of every tag | den_p of every tag | num_r of every tag | den_r of every tag | total

`total` is the number of events, which all tags share, or 0 where the event space has no true negatives. Micro
is the measure of the tables added up; macro the mean of the tags' values, weighted the mean by the numbers of
true events. A tag that neither side has is left out; one whose value is 0/0 although a side has it scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import f, sides
from tallystick.algebra.numbers import overlap
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.algebra.weights import at_least
from tallystick.engine.arrays import F64
from tallystick.engine.data import Bag, LazyValues
from tallystick.engine.tally import Counts, ratio
from tallystick.errors import MetricError, did_you_mean, some
from tallystick.frozen import frozen
from tallystick.results.explanation import Explanation
from tallystick.results.result import Later, Result
from tallystick.tasks.metric import NamedMetric, choose
from tallystick.tasks.spans.counts import (
    AnnotatedTexts,
    Array,
    Grid,
    Pairs,
    Partner,
    Rows,
    SchemeCounts,
    SpanCounts,
    SpanScheme,
    add_separators,
    count_expression,
    count_overlap,
    count_scheme,
    count_segment_matching,
    count_separators,
    count_tokens,
    overlapping_pairs,
    segment_columns,
)
from tallystick.tasks.spans.files import Decoding, SpanCorpus, corpus_from_python
from tallystick.tasks.spans.tags import Reading, Scheme, iob2_segments

Measure: TypeAlias = Callable[[SpanCounts], F64]


def precision(counts: SpanCounts) -> F64:
    """The part of what was predicted that is right."""
    return ratio(counts.num_p, counts.den_p)


def recall(counts: SpanCounts) -> F64:
    """The part of what is true that was found."""
    return ratio(counts.num_r, counts.den_r)


def f_beta(counts: SpanCounts, beta: float = 1.0) -> F64:
    """The weighted harmonic mean of precision and recall; beta above 1 favours recall, and with 0 it is precision.

    With one numerator it is undefined only where neither side has anything. With two (segments that have any
    partner) it is computed from precision and recall, where an undefined one counts as 0.
    """
    square = beta * beta
    if counts.num_p is counts.num_r or np.array_equal(counts.num_p, counts.num_r):
        return ratio((1 + square) * counts.num_p, square * counts.den_r + counts.den_p)
    p, r = np.nan_to_num(precision(counts)), np.nan_to_num(recall(counts))
    value = np.nan_to_num(ratio((1 + square) * p * r, square * p + r))
    value[(counts.den_p == 0) & (counts.den_r == 0)] = np.nan
    return value


def accuracy(counts: SpanCounts) -> F64:
    """The part of all events that is right; needs true negatives."""
    tn = counts.tn
    return ratio(counts.tp + tn, counts.tp + counts.fp + counts.fn + tn)


def specificity(counts: SpanCounts) -> F64:
    """The part of the untagged events that was left untagged; needs true negatives."""
    tn = counts.tn
    return ratio(tn, tn + counts.fp)


def kappa(counts: SpanCounts) -> F64:
    """Cohen's kappa: agreement beyond chance; needs true negatives. Undefined where chance agrees always."""
    tp, fp, fn, tn = (np.asarray(part, dtype=np.float64) for part in (counts.tp, counts.fp, counts.fn, counts.tn))
    square = (tp + fp + fn + tn) ** 2
    by_chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    return ratio((tp + tn) * (tp + fp + fn + tn) - by_chance, square - by_chance)


NEGATIVES: dict[str, Measure] = {"accuracy": accuracy, "kappa": kappa, "specificity": specificity}
"""The measures that need true negatives."""

AVERAGES = ("micro", "macro", "weighted")
ALL = "all tags"


@frozen
class TagTables:
    """A table for each tag. `over` are the tags of the means (all, unless they were declared); `apart` the supertags."""

    tags: tuple[str, ...]
    average: str = "micro"
    beta: float = 1.0
    over: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()
    negatives: bool = False
    twice: tuple[str, ...] = ()
    """The tags that overlap themselves: their units are bags, which have no true negatives."""

    parts: ClassVar[tuple[str, ...]] = ("num_p", "den_p", "num_r", "den_r")

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tags + self.apart

    @property
    def headline(self) -> str:
        return f"f{self.beta:g}"

    @property
    def sums(self) -> tuple[str, ...]:
        return (*(f"{label}.{part}" for part in self.parts for label in self.labels), "total")

    def rows(self, counts: Sequence[SpanCounts]) -> F64:
        """The rows of counts: of the tags, and of each supertag."""
        total = np.zeros(len(counts[0].num_p)) if counts[0].total is None else counts[0].total
        columns = [getattr(part, sums) for sums in self.parts for part in counts]
        return np.concatenate([*columns, total[:, None]], axis=1, dtype=np.float64)

    def joined(self, other: TagTables) -> TagTables:
        """The tables of two parts of a corpus: the tags of both, the declared ones first."""
        declared = self.over or ()
        tags = (*declared, *sorted({*self.tags, *other.tags} - {*declared}))
        alike = (replace(one, tags=tags, negatives=False, twice=()) for one in (self, other))
        if next(alike) != next(alike):
            raise MetricError(f"tallies of different kinds cannot be added: {self} and {other}")
        twice = tuple(sorted({*self.twice, *other.twice}))
        return replace(self, tags=tags, negatives=self.negatives and other.negatives, twice=twice)

    def including(self, sums: Sequence[str]) -> TagTables:
        """With the tags of these sums, too."""
        named = dict.fromkeys(name.rpartition(".")[0] for name in sums if "." in name)
        return self.joined(replace(self, tags=tuple(tag for tag in named if tag not in (*self.apart, ALL))))

    # What the sums say

    def notes(self, sums: F64) -> list[str]:
        """What there is to say about means over declared tags, and about tags that have no true negatives."""
        notes = []
        if self.twice:
            where = "these are means over the other tags" if self.has_negatives else "there are none"
            notes.append(
                f"a token has the tag {some(self.twice, 20)} twice: units are then bags, without {', '.join(NEGATIVES)}; {where}"
            )
        if self.over is None:
            return notes
        missing, other = self.left_out(sums), [tag for tag in self.tags if tag not in self.over]
        if missing:
            notes.append(f"left out of means, since neither side has it: {some(missing, 20)}")
        if other:
            notes.append(f"not declared, so in no mean over tags, but counted in micro: {some(other, 20)}")
        return notes

    def figures(self, sums: F64) -> dict[str, F64]:
        if sums.ndim == 1 and self.average == "micro" and not self.has_negatives and len(self.parts) == 4:
            tags = len(self.tags)
            four = sums[:-1].reshape(4, -1)[:, :tags].sum(axis=1)
            return Counts(self.headline, self.beta, one=bool(four[0] == four[2])).figures(four)
        return self._averaged(sums, self.average)

    def averages(self, sums: F64) -> dict[str, dict[str, F64]]:
        return {average: self._averaged(sums, average) for average in AVERAGES}

    def label_figures(self, sums: F64) -> dict[str, F64]:
        counts = self._counts(_flat(sums))
        shape = (*sums.shape[:-1], len(self.labels))
        return {name: measure(counts).reshape(shape) for name, measure in self._measures().items()}

    @property
    def has_negatives(self) -> bool:
        """Whether there are true negatives, of some tag at least."""
        return self.negatives and (not self.tags or not set(self.tags) <= set(self.twice))

    @property
    def lacking(self) -> dict[str, tuple[str, ...]]:
        """The figures that a label does not have."""
        return dict.fromkeys(self.twice, tuple(NEGATIVES)) if self.has_negatives else {}

    def label_tallies(self, sums: F64) -> dict[str, dict[str, float]]:
        table = sums[: len(self.parts) * len(self.labels)].reshape(len(self.parts), -1).T.tolist()
        return {label: dict(zip(self.parts, row, strict=True)) for label, row in zip(self.labels, table, strict=True)}

    def label_rows(self, rows: F64) -> dict[str, F64]:
        counts = self._counts(rows)
        four = np.stack([getattr(counts, part) for part in TagTables.parts], axis=2)
        return {label: np.asarray(four[:, place], np.float64) for place, label in enumerate(self.labels)}

    def pooled_tally(self, sums: F64) -> dict[str, float]:
        pooled = self._pooled(_flat(sums))
        found = {part: float(getattr(pooled, part)[0, 0]) for part in TagTables.parts}
        return {**found, "total": float(pooled.total[0])} if self.has_negatives and pooled.total is not None else found

    def support(self, sums: F64) -> F64:
        return np.asarray(self._counts(_flat(sums)).den_r, np.float64).reshape((*sums.shape[:-1], len(self.labels)))

    def in_means(self, sums: F64) -> tuple[str, ...]:
        return tuple(tag for tag, there in self._there(sums) if there)

    def left_out(self, sums: F64) -> tuple[str, ...]:
        return tuple(tag for tag, there in self._there(sums) if not there)

    def _there(self, sums: F64) -> list[tuple[str, bool]]:
        counts = self._counted_in_means(_flat(sums))
        there = (counts.den_p[0] > 0) | (counts.den_r[0] > 0)
        return list(zip(counts.tags, there.tolist(), strict=True))

    def _averaged(self, sums: F64, average: str) -> dict[str, F64]:
        flat, measures = _flat(sums), self._measures()
        found: dict[str, F64] = {}
        needing = [name for name in measures if name in NEGATIVES and self.twice]
        for without, names in (((), [name for name in measures if name not in needing]), (self.twice, needing)):
            if not names:
                continue
            counts = self._pooled(flat, without) if average == "micro" else self._counted_in_means(flat, without)
            there = (counts.den_p > 0) | (counts.den_r > 0)
            share = there * (counts.den_r if average == "weighted" else 1.0)
            for name in names:
                values = measures[name](counts)
                if average == "micro":
                    found[name] = values[:, 0]
                else:
                    found[name] = ratio((np.nan_to_num(values) * share).sum(axis=1), share.sum(axis=1))
        return {name: found[name].reshape(sums.shape[:-1]) for name in measures}

    def _counted_in_means(self, flat: F64, without: Collection[str] = ()) -> SpanCounts:
        over = self.tags if self.over is None else self.over
        return self._counts(flat).of_tags([tag for tag in over if tag not in without])

    def _measures(self) -> dict[str, Measure]:
        measures: dict[str, Measure] = {"precision": precision, "recall": recall}
        measures[self.headline] = partial(f_beta, beta=self.beta)
        return {**measures, **NEGATIVES} if self.has_negatives else measures

    def _counts(self, flat: F64) -> SpanCounts:
        table = flat[:, :-1].reshape(len(flat), len(self.parts), len(self.labels))
        num_p, den_p, num_r, den_r = (table[:, part] for part in range(len(self.parts)))
        return SpanCounts(self.labels, num_p, den_p, num_r, den_r, flat[:, -1])

    def _pooled(self, flat: F64, without: Collection[str] = ()) -> SpanCounts:
        return self._counts(flat).of_tags([tag for tag in self.tags if tag not in without]).pooled()


@frozen
class SchemeTables(TagTables):
    """The five counts of a scheme for each tag, over its own segments, and for all segments together.

    A pair across two tags is in the table of all tags only, so that micro is of that table and not a sum.
    """

    parts: ClassVar[tuple[str, ...]] = ("correct", "incorrect", "partial", "missed", "spurious")

    @property
    def sums(self) -> tuple[str, ...]:
        pooled = (f"{ALL}.{part}" for part in self.parts)
        return (*(f"{label}.{part}" for part in self.parts for label in self.labels), *pooled)

    def scheme_rows(self, by_tag: Sequence[SchemeCounts], together: SchemeCounts) -> F64:
        """The rows of a scheme's counts: of the tags and supertags, and of all together."""
        columns = [getattr(counts, part) for part in self.parts for counts in by_tag]
        columns += [getattr(together, part) for part in self.parts]
        return np.concatenate(columns, axis=1, dtype=np.float64)

    def pooled_tally(self, sums: F64) -> dict[str, float]:
        five = dict(zip(self.parts, sums[-len(self.parts) :].tolist(), strict=True))
        return {**super().pooled_tally(sums), **five}

    def _counts(self, flat: F64) -> SpanCounts:
        table = flat[:, : -len(self.parts)].reshape(len(flat), len(self.parts), len(self.labels))
        return SchemeCounts(self.labels, *(table[:, part] for part in range(len(self.parts)))).as_counts()

    def _pooled(self, flat: F64, without: Collection[str] = ()) -> SpanCounts:
        first = flat.shape[1] - len(self.parts)
        columns = (flat[:, first + part, None] for part in range(len(self.parts)))
        return SchemeCounts((ALL,), *columns).as_counts()


def _flat(sums: F64) -> F64:
    return sums.reshape(-1, sums.shape[-1])


# Spans: every usual way to score them, and the token and separator model.
#
# What is counted (the event space) and what is made of the counts (the measure) are kept apart, as Esuli and
# Sebastiani ask. Where both sides are bags of segments or of units, the metric is an expression of the algebra:
#
#     segment   F↔[δ_start × δ_end × δ_tag]                  token, ts   F↔[δ_unit × δ_tag]  over units
#     overlap   F→[⟦s ∩ s' ≠ ∅⟧ × δ_tag]                     contain     F→[⟦s ⊆ s'⟧ × δ_tag]
#     iou       F↔[⟦J(s, s') ≥ ½⟧ × δ_tag]                   → with any partner, ↔ one to one, as asked for
#
# Micro, macro and weighted averages over tags follow from one tally (`TagTables`). 0/0 is 0, as in conlleval
# and seqeval.

ANY_TYPE = "any type"


@frozen
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
        if not 0 <= self.beta < float("inf"):
            raise MetricError(f"beta is 0 or more, found {self.beta}")
        if not 0 < self.iou <= 1:
            raise MetricError(f"an IoU threshold lies above 0 and not above 1, found {self.iou}")
        if self.partner not in (None, "any", "one-to-one"):
            raise MetricError(f'"{self.partner}" is not a way to choose partners; there are any and one-to-one')


PLAIN = SpanOptions()


@frozen(eq=False)
class Prepared:
    """A corpus ready to be counted: what several metrics need is computed once."""

    texts: AnnotatedTexts
    rows: Rows
    options: SpanOptions
    weights: Array | None = None
    known_pairs: Pairs | None = None

    @property
    def metrics(self) -> dict[str, SpanMetric]:
        """The metrics under the options, for this corpus."""
        gaps = any(side.pieces is not None for side in (self.texts.reference, self.texts.predicted))
        return metrics_for(self.options, gaps=gaps, weighted=self.weights is not None)

    @cached_property
    def pairs(self) -> Pairs:
        return overlapping_pairs(self.texts) if self.known_pairs is None else self.known_pairs

    @cached_property
    def columns(self) -> tuple[Bag, Bag]:
        """The segments of each document, as an expression looks at them."""
        return segment_columns(self.texts, self.rows)

    @cached_property
    def tokens(self) -> SpanCounts:
        return count_tokens(self.texts, self.rows, weights=self.weights, pairs=self.pairs)

    @cached_property
    def separators(self) -> SpanCounts:
        return count_separators(self.texts, self.rows, pairs=self.pairs)

    def under(self, tag: str, of: Sequence[str]) -> Prepared:
        """The same under a supertag. Which segments share tokens does not depend on their tags."""
        if of and tag in self.texts.tags:
            raise MetricError(f'the supertag "{tag}" is a tag already; give it another name')
        texts = self.texts.relabelled(dict.fromkeys(of, tag) if of else tag)
        return replace(self, texts=texts, known_pairs=self.pairs)


@frozen
class SpanMetric(NamedMetric):
    """A span metric: counted by its expression, by `tally`, or by one of the schemes of SemEval 2013, with the best pairs or
    those of nervaluate (`greedy`)."""

    average: str = "micro"
    scheme: SpanScheme | None = None
    greedy: bool = False
    of_tags: bool = False
    """Whether it looks at the tags of tokens as they are written, and not at segments."""
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What its name stands for depends on these options."""

    @property
    def full_name(self) -> str:
        """The metric in a signature."""
        chosen = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"spans.{self.name}({chosen})" if chosen else f"spans.{self.name}"

    def count(self, prepared: Prepared) -> SpanCounts:
        """Its sums over a corpus, for each row and tag."""
        if self.tally is None:
            return count_expression(self.node, prepared.texts, prepared.rows)
        found: SpanCounts = self.tally(prepared)
        return found


SCHEMES: dict[SpanScheme, str] = {
    "strict": "same boundaries and type",
    "exact": "same boundaries, any type",
    "partial": "overlap counts half, any type",
    "type": "overlap with the same type",
}


@lru_cache(maxsize=32)
def metrics_for(options: SpanOptions = PLAIN, *, gaps: bool = False, weighted: bool = False) -> dict[str, SpanMetric]:
    """Every metric of the task under these options. With `gaps` some segments are discontinuous, which `overlap` cannot
    compare; with `weighted` tokens have weights, which units as bags have not."""
    pieces: dict[str, Similarity] = {"pieces": exact} if gaps else {}
    segment = record(start=exact, end=exact, **pieces, tag=exact)
    units = options.separators == 1 and not weighted

    def f_beta(inner: Similarity) -> Node:
        return f(inner, options.beta)

    def partners(kind: str, threshold: float | None, default: Partner) -> Node | None:
        """F over segments that have any partner, or are matched one to one."""
        if gaps:
            return None
        shared: Similarity = overlap(kind, start="start", end="end", inclusive=False)
        shared = shared if threshold is None else at_least(shared, threshold)
        segments = record(span=shared, tag=exact)
        if (options.partner or default) == "one-to-one":
            return f_beta(match(segments))
        return sides(match(segments, "N:1"), match(segments, "1:N"), options.beta)

    def counted(default: Partner, **limits: Any) -> Callable[[Prepared], SpanCounts]:
        return lambda p: count_overlap(p.texts, p.rows, options.partner or default, p.pairs, **limits)

    def limited(p: Prepared) -> SpanCounts:
        if options.k1 is None and options.k2 is None:
            raise MetricError("constrained_overlap needs k1 (spurious tokens allowed), k2 (missing ones), or both")
        return counted("any", k1=options.k1, k2=options.k2)(p)

    any_, one = ({"partner": options.partner or default} for default in ("any", "one-to-one"))
    weight = {"separators": f"{options.separators:g}"}
    unit = f_beta(match(record(unit=exact, tag=exact)))
    declared = [
        SpanMetric(
            "segment", "segments: same tokens, same tag", f_beta(match(segment, distinct=options.distinct)),
            parameters={"distinct": True} if options.distinct else {},
        ),
        SpanMetric(
            "ts", "tokens and separators: each unit right or wrong", unit if units else None,
            lambda p: add_separators(p.tokens, p.separators, options.separators), average="macro", parameters=weight,
        ),
        SpanMetric("token", "tokens alone", None if weighted else unit, lambda p: p.tokens, average="macro"),
        SpanMetric(
            "overlap", "segments that share a token with one of the same tag", partners("any", None, "any"),
            counted("any"), parameters=any_,
        ),
        SpanMetric(
            "contain", "predicted segments that hold a true one", partners("coverage", 1, "any"),
            counted("any", k2=0), parameters=any_,
        ),
        SpanMetric(
            "constrained_overlap", "overlap with at most k1 spurious and k2 missing tokens", tally=limited,
            parameters={"k1": options.k1, "k2": options.k2, **any_},
        ),
        SpanMetric(
            "iou", "segments whose intersection over union reaches a threshold",
            partners("jaccard", options.iou, "one-to-one"), counted("one-to-one", iou=options.iou),
            parameters={"threshold": f"{options.iou:g}", **one},
        ),
        SpanMetric(
            "segment_units", "segments matched 1:1 by the units that they share",
            tally=lambda p: count_segment_matching(p.texts, p.rows, p.pairs, separators=options.separators),
            parameters=weight,
        ),
        *(
            SpanMetric(f"{by}{'ent_' * bool(by and scheme == 'type')}{scheme}", f"{whose}: {what}", scheme=scheme, greedy=bool(by))
            for by, whose in (("", "SemEval 2013, best pairs"), ("nervaluate_", "nervaluate, pairs in the order of the list"))
            for scheme, what in SCHEMES.items()
        ),
        SpanMetric("tag_accuracy", "tokens with the same tag, as seqeval and conlleval have it", of_tags=True),
    ]  # fmt: skip
    return {metric.name: metric for metric in declared}


METRICS = metrics_for()
"""What `tallystick score spans --metric NAME` knows."""

DEFAULT = ("segment", "ts")
GROUPS: dict[str, tuple[str, ...]] = {
    "semeval": tuple(name for name, metric in METRICS.items() if metric.scheme and not metric.greedy),
    "nervaluate": tuple(name for name, metric in METRICS.items() if metric.greedy),
}


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
    if lengths is None and token_weights is None and names is None and options == PLAIN:
        few = _score_few(reference, predicted, metrics, decoding)
        if few is not None:
            return few
    corpus = corpus_from_python(reference, predicted, lengths=lengths, decoding=decoding, names=names)
    if token_weights is not None:
        corpus = replace(corpus, weights=_weights(token_weights, corpus.texts))
    return score(corpus, metrics, options)


MOST_TAGS = 1000
"""Longer texts are laid out as columns."""


def _score_few(
    reference: Sequence[Any], predicted: Sequence[Any], metrics: Sequence[str], decoding: Decoding
) -> dict[str, Result] | None:
    """Segments of a few short texts with tags that follow IOB2, counted as they are read; all else is laid out when somebody asks.
    None where that is not the same."""
    if (metrics != "segment" and [*metrics] != ["segment"]) or decoding.scheme != "IOB2":
        return None
    if type(reference) is not list or type(predicted) is not list or not 0 < len(reference) == len(predicted) <= 32:
        return None
    counts = _count_few(reference, predicted)
    if counts is None:
        return None
    tags = tuple(sorted(counts))
    sums = np.array([*(counts[tag][part] for part in range(4) for tag in tags), 0], np.float64)
    texts = [list(text) for text in reference], [list(text) for text in predicted]
    later = _LaidOutLater(*texts, decoding, tags)
    metric = METRICS["segment"]
    return {"segment": Result(
        metric=metric.expression or metric.full_name,
        kind=_kind(metric, PLAIN, tags, False, ()),
        rows=Later(later.rows, sums),
        ids=tuple(range(1, len(reference) + 1)),
        undefined=0.0,
        sources=LazyValues(_LaidOutLater.columns, (later,)),
        settings=_settings_of_tags(decoding),
        name=metric.full_name,
        tree=later.tree,
        unit="sentence",
    )}  # fmt: skip


def _count_few(reference: list[Any], predicted: list[Any]) -> dict[str, list[int]] | None:
    """The four sums of each tag; None if these are not short lists of tags that follow IOB2."""
    counts: dict[str, list[int]] = {}
    left = MOST_TAGS
    for ours, theirs in zip(reference, predicted, strict=True):
        if type(ours) not in (list, tuple) or type(theirs) not in (list, tuple):
            return None
        left -= len(ours)
        gold, guess = (iob2_segments(side) for side in (ours, theirs)) if left >= 0 else (None, None)
        if gold is None or guess is None or len(ours) != len(theirs):
            return None
        for segments, places in ((guess, (0, 1)), (gold, (2, 3))):
            other = gold if segments is guess else guess
            for segment in segments:
                of_tag = counts.setdefault(segment[2], [0, 0, 0, 0])
                of_tag[places[1]] += 1
                of_tag[places[0]] += segment in other
    return None if left == MOST_TAGS else counts  # without a single tag nothing says that these would be tags


@dataclass
class _LaidOutLater:
    """A few texts that were counted as they were read, for whoever wants more than their sums."""

    reference: list[list[str]]
    predicted: list[list[str]]
    decoding: Decoding
    tags: tuple[str, ...]

    @cached_property
    def corpus(self) -> SpanCorpus:
        return corpus_from_python(self.reference, self.predicted, decoding=self.decoding)

    @cached_property
    def prepared(self) -> Prepared:
        return _prepare(self.corpus, PLAIN)

    def columns(self) -> Any:
        return self.prepared.columns

    def rows(self) -> F64:
        return _count_rows("segment", self.prepared, self.tags)

    def tree(self, document: Any) -> Explanation:
        return _tree("segment", self.corpus, self.prepared, document)


@cache
def _settings_of_tags(decoding: Decoding) -> str:
    return _settings(corpus_from_python([["O"]], [["O"]], decoding=decoding), PLAIN)


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
        if METRICS[name].of_tags:
            for system, one in prepared.items():
                out[system][name] = _tag_accuracy(corpora[system], one)
            continue
        counted = {system: _count(name, one, tags) for system, one in wholes.items()}
        negatives = all(whole.negatives for whole in counted.values())
        twice = tuple(sorted({tag for whole in counted.values() for tag in whole.twice}))
        kind = _kind(METRICS[name], options, tags, negatives, twice)
        for system, whole in counted.items():
            out[system][name] = _result(name, corpora[system], prepared[system], whole.rows, kind)
    return out


@frozen
class TagAccuracy:
    """The share of tokens that have the right tag."""

    headline: str = "accuracy"
    sums: ClassVar[tuple[str, ...]] = ("right", "tokens")

    def figures(self, sums: F64) -> dict[str, F64]:
        return {"accuracy": ratio(sums[..., 0], sums[..., 1])}


def _tag_accuracy(corpus: SpanCorpus, prepared: Prepared) -> Result:
    """accuracy_score of seqeval, and the accuracy that conlleval prints: prefix and type have to be the same, O counts."""
    tagged, options = corpus.tagged, prepared.options
    if tagged is None:
        raise MetricError(
            "tag_accuracy compares the tags of tokens, and these are spans; token and ts have an accuracy of units"
        )
    if corpus.layers > 1:
        raise MetricError("tag_accuracy compares one tag for each token; leave --layers out")
    if not options.types:
        raise MetricError("tag_accuracy compares tags as they are written; leave --ignore-types out")
    row = np.repeat(Grid.of(corpus.texts, prepared.rows).row, np.diff(tagged.offsets))
    weights = np.ones(len(row)) if corpus.weights is None else corpus.weights
    rows = np.zeros((len(corpus.ids), 2))
    for column, counted in enumerate((weights * (tagged.reference == tagged.predicted), weights)):
        rows[:, column] = np.bincount(row, counted, minlength=len(rows))
    settings = ", ".join(["tokens weighted"] * (corpus.weights is not None))
    return Result(
        "spans.tag_accuracy", TagAccuracy(), rows, corpus.ids, undefined=0.0, settings=settings, unit=corpus.unit
    )


def _metrics_named(metrics: str | Sequence[str]) -> list[str]:
    known = {**{name: (name,) for name in METRICS}, **GROUPS}
    return list(dict.fromkeys(part for parts in choose(known, metrics, "spans").values() for part in parts))


def _prepare(corpus: SpanCorpus, options: SpanOptions) -> Prepared:
    texts = corpus.texts if options.types else corpus.texts.relabelled(ANY_TYPE)
    return Prepared(texts, "text" if corpus.documents is None else corpus.documents, options, corpus.weights)


def count(
    name: str, texts: AnnotatedTexts, rows: Rows = "text", *, weights: Array | None = None, **options: Any
) -> SpanCounts:
    """The sums of one metric for each row and tag of a corpus: `count("overlap", texts, partner="one-to-one")`."""
    prepared = Prepared(texts, rows, SpanOptions(**options), weights)
    return prepared.metrics[name].count(prepared)


@frozen(eq=False)
class _Counted:
    """The rows of a tally, whether its events have true negatives, and the tags with which one was tagged twice."""

    rows: F64
    negatives: bool = False
    twice: tuple[str, ...] = ()


def _count(name: str, prepared: Prepared, tags: tuple[str, ...]) -> _Counted:
    metric = prepared.metrics[name]
    above = [(prepared.under(name, of), name) for name, of in prepared.options.supertags]
    if metric.scheme is not None:
        sides = [(prepared, tags), *((one, (name,)) for one, name in above)]
        by_tag = [
            count_scheme(
                one.texts, metric.scheme, one.rows, by_tag=True, pairs=one.pairs, greedy=metric.greedy
            ).of_tags(wanted)
            for one, wanted in sides
        ]
        together = count_scheme(
            prepared.texts, metric.scheme, prepared.rows, pairs=prepared.pairs, greedy=metric.greedy
        )
        return _Counted(SchemeTables(tags).scheme_rows(by_tag, together))
    counts = metric.count(prepared)
    parts = [counts.of_tags(tags), *(metric.count(one).of_tags((name,)) for one, name in above)]
    twice = tuple(tag for part in parts for tag in part.multiple)
    return _Counted(TagTables(tags).rows(parts), counts.total is not None, twice)


def _count_rows(name: str, prepared: Prepared, tags: tuple[str, ...]) -> F64:
    return _count(name, prepared, tags).rows


def _kind(
    metric: SpanMetric, options: SpanOptions, tags: tuple[str, ...], negatives: bool, twice: tuple[str, ...]
) -> TagTables:
    return (TagTables if metric.scheme is None else SchemeTables)(
        tags,
        options.average or metric.average,
        options.beta,
        options.tags or None if options.types else None,
        tuple(supertag for supertag, _ in options.supertags),
        negatives,
        twice,
    )


def _result(name: str, corpus: SpanCorpus, prepared: Prepared, whole: F64, kind: TagTables) -> Result:
    metric, options, tags = prepared.metrics[name], prepared.options, kind.tags
    # a corpus of sentences has very many rows, and most evaluations never look at them; but only whole numbers have the
    # same sum whether they are added by document or all at once
    rows: F64 | Later
    if corpus.weights is None and float(options.separators).is_integer():
        rows = Later(partial(_count_rows, name, prepared, tags), whole[0])
    else:
        rows = _count_rows(name, prepared, tags)
    return Result(
        metric=metric.expression or metric.full_name,
        kind=kind,
        rows=rows,
        ids=corpus.ids,
        undefined=0.0,
        notes=tuple(repair_notes(corpus)),
        sources=None
        if metric.expression is None or name in OF_UNITS
        else LazyValues(attrgetter("columns"), (prepared,)),
        settings=_settings(corpus, options),
        name=metric.full_name if metric.expression is not None else "",
        tree=partial(_tree, name, corpus, prepared) if _has_tree(metric, options) else None,
        unit=corpus.unit,
    )


def _has_tree(metric: SpanMetric, options: SpanOptions) -> bool:
    """Whether a document is explained by its segments in words, or by its units; else by the expression, if there is one."""
    return metric.scheme is not None or (metric.name in OF_UNITS and metric.expression is not None) or (
        metric.name == "segment" and not options.distinct
    )  # fmt: skip


def _tree(name: str, corpus: SpanCorpus, prepared: Prepared, document: Any) -> Explanation:
    from tallystick.tasks.spans.show import span_tree

    return span_tree(name, corpus, prepared, document)


OF_UNITS = ("ts", "token")
"""Metrics over units; documents are kept as segments only."""


def _settings(corpus: SpanCorpus, options: SpanOptions) -> str:
    parts = [corpus.settings, f"unit={corpus.unit}"]
    parts += [f"beta={options.beta:g}"] * (options.beta != 1)
    parts += ["types=ignored"] * (not options.types)
    parts += [f"tags={'+'.join(options.tags)}"] if options.tags else []
    parts += [f"supertag {name}={'+'.join(of) or '*'}" for name, of in options.supertags]
    parts += ["tokens weighted"] if corpus.weights is not None else []
    return ", ".join(part for part in parts if part)


def repair_notes(corpus: SpanCorpus) -> list[str]:
    """What is to be said about the columns that were read, and about tags that break the scheme, a line for each side."""
    notes = [*corpus.notes, *(corpus.tagged.notes if corpus.tagged is not None else ())]
    for repairs in corpus.repairs:
        if len(repairs):
            side = repairs.tagged.origins[repairs.side].name
            kinds = "; ".join(f"{number:,} {fault}" for fault, number in repairs.counts().items())
            place, tag, _ = repairs.listed(1)[0]
            verb = "left out" if "reading=strict" in corpus.settings else "read as conlleval does"
            break_it = "tag breaks" if len(repairs) == 1 else "tags break"
            notes.append(
                f"{side}: {len(repairs):,} {break_it} the scheme, {verb} ({kinds}); the first is {tag} at {place}"
            )
    return notes
