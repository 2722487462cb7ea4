"""Tallies of spans: the sums of every tag side by side, so that each average follows from the summed rows.

A row is a document; its sums are those of one table for each tag (and for each supertag, which stands apart
and is in no average):

    num_p of every tag | den_p of every tag | num_r of every tag | den_r of every tag | total

`total` is the number of events, which all tags share, or 0 where the event space has no true negatives. Micro
is the measure of the tables added up; macro the mean of the tags' values, weighted the mean by the numbers of
true events. A tag that neither side has is left out; one whose value is 0/0 although a side has it scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import ratio
from tallystick.errors import MetricError, some
from tallystick.tasks.spans import units as span_measures
from tallystick.tasks.spans.counts import SpanCounts
from tallystick.tasks.spans.schemes import SchemeCounts
from tallystick.tasks.spans.units import Measure

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
        measures: dict[str, Measure] = {"precision": span_measures.precision, "recall": span_measures.recall}
        measures[self.headline] = partial(span_measures.f_beta, beta=self.beta)
        if self.negatives:
            measures |= {
                "accuracy": span_measures.accuracy,
                "kappa": span_measures.kappa,
                "specificity": span_measures.specificity,
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
