"""Measures over contingency tables, and tallies with a table for every tag.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import ratio
from tallystick.errors import MetricError, some
from tallystick.tasks.spans.counts import SchemeCounts, SpanCounts

Measure: TypeAlias = Callable[[SpanCounts], F64]


def precision(counts: SpanCounts) -> F64:
    """The part of what was predicted that is right."""
    return ratio(counts.num_p, counts.den_p)


def recall(counts: SpanCounts) -> F64:
    """The part of what is true that was found."""
    return ratio(counts.num_r, counts.den_r)


def f_beta(counts: SpanCounts, beta: float = 1.0) -> F64:
    """The weighted harmonic mean of precision and recall; beta above 1 favours recall.

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


def f1(counts: SpanCounts) -> F64:
    """F with beta 1."""
    return f_beta(counts, 1.0)


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


AVERAGES = ("micro", "macro", "weighted")
ALL = "all tags"


@dataclass(frozen=True)
class TagTables:
    """A table for each tag. `over` are the tags of the means (all, unless they were declared); `apart` the supertags."""

    tags: tuple[str, ...]
    average: str = "micro"
    beta: float = 1.0
    over: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()
    negatives: bool = False

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
        if replace(self, tags=tags, negatives=False) != replace(other, tags=tags, negatives=False):
            raise MetricError(f"tallies of different kinds cannot be added: {self} and {other}")
        return replace(self, tags=tags, negatives=self.negatives and other.negatives)

    # What the sums say

    def notes(self, sums: F64) -> list[str]:
        """What there is to say about means over declared tags."""
        if self.over is None:
            return []
        notes = []
        missing, other = self.left_out(sums), [tag for tag in self.tags if tag not in self.over]
        if missing:
            notes.append(f"left out of means, since neither side has it: {some(missing, 20)}")
        if other:
            notes.append(f"not declared, so in no mean over tags, but counted in micro: {some(other, 20)}")
        return notes

    def figures(self, sums: F64) -> dict[str, F64]:
        return self._averaged(sums, self.average)

    def averages(self, sums: F64) -> dict[str, dict[str, F64]]:
        return {average: self._averaged(sums, average) for average in AVERAGES}

    def label_figures(self, sums: F64) -> dict[str, F64]:
        counts = self._counts(_flat(sums))
        shape = (*sums.shape[:-1], len(self.labels))
        return {name: measure(counts).reshape(shape) for name, measure in self._measures().items()}

    def label_tallies(self, sums: F64) -> dict[str, dict[str, float]]:
        table = sums[: len(self.parts) * len(self.labels)].reshape(len(self.parts), -1).T.tolist()
        return {label: dict(zip(self.parts, row, strict=True)) for label, row in zip(self.labels, table, strict=True)}

    def pooled_tally(self, sums: F64) -> dict[str, float]:
        pooled = self._pooled(_flat(sums))
        found = {part: float(getattr(pooled, part)[0, 0]) for part in TagTables.parts}
        return {**found, "total": float(pooled.total[0])} if self.negatives and pooled.total is not None else found

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
        flat = _flat(sums)
        if average == "micro":
            counts = self._pooled(flat)
            return {name: measure(counts)[:, 0].reshape(sums.shape[:-1]) for name, measure in self._measures().items()}
        counts = self._counted_in_means(flat)
        there = (counts.den_p > 0) | (counts.den_r > 0)
        share = there * (counts.den_r if average == "weighted" else 1.0)
        return {
            name: ratio((np.nan_to_num(measure(counts)) * share).sum(axis=1), share.sum(axis=1)).reshape(
                sums.shape[:-1]
            )
            for name, measure in self._measures().items()
        }

    def _counted_in_means(self, flat: F64) -> SpanCounts:
        return self._counts(flat).of_tags(self.tags if self.over is None else self.over)

    def _measures(self) -> dict[str, Measure]:
        measures: dict[str, Measure] = {"precision": precision, "recall": recall}
        measures[self.headline] = partial(f_beta, beta=self.beta)
        if self.negatives:
            measures |= {
                "accuracy": accuracy,
                "kappa": kappa,
                "specificity": specificity,
            }
        return measures

    def _counts(self, flat: F64) -> SpanCounts:
        table = flat[:, :-1].reshape(len(flat), len(self.parts), len(self.labels))
        num_p, den_p, num_r, den_r = (table[:, part] for part in range(len(self.parts)))
        return SpanCounts(self.labels, num_p, den_p, num_r, den_r, flat[:, -1])

    def _pooled(self, flat: F64) -> SpanCounts:
        return self._counts(flat).of_tags(self.tags).pooled()


@dataclass(frozen=True)
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

    def _pooled(self, flat: F64) -> SpanCounts:
        first = flat.shape[1] - len(self.parts)
        columns = (flat[:, first + part, None] for part in range(len(self.parts)))
        return SchemeCounts((ALL,), *columns).as_counts()


def _flat(sums: F64) -> F64:
    return sums.reshape(-1, sums.shape[-1])
