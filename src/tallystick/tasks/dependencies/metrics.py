"""Dependencies: UAS and LAS as the paper has them, and the full UD evaluation.

    UAS = F_edges[δ_gov × δ_dep]        LAS = F_edges[δ_gov × δ_dep × δ_rel]        (eq. 11, 12)

hold where both sides have the same words; `evaluate` on sets of `Dependency` needs nothing more. Files whose
tokenisation differs are aligned first, and their words counted as `ud_counts` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1
from tallystick.algebra.records import record
from tallystick.algebra.sets import match
from tallystick.engine.arrays import F64
from tallystick.engine.tally import Counts, ratio
from tallystick.errors import MetricError, did_you_mean
from tallystick.results.result import Result
from tallystick.tasks.dependencies import counts as ud_counts
from tallystick.tasks.dependencies.alignment import Units, find_units
from tallystick.tasks.dependencies.files import Treebank

UAS = f1(match(record(gov=exact, dep=exact)))
LAS = f1(match(record(gov=exact, dep=exact, rel=exact)))

METRICS = tuple(name.lower() for name in ud_counts.METRICS)


@dataclass(frozen=True)
class WordCounts(Counts):
    """Precision, recall, F1, and the accuracy on aligned words (undefined where a metric is not one of words)."""

    @property
    def sums(self) -> tuple[str, ...]:
        return (*super().sums, "aligned")

    def figures(self, sums: F64) -> dict[str, F64]:
        return {**super().figures(sums), "aligned_accuracy": ratio(sums[..., 0], sums[..., 4])}


def score(
    reference: Treebank, predicted: Treebank, metrics: Sequence[str] = METRICS, *, units: Units | None = None
) -> dict[str, Result]:
    """Every metric of the UD evaluation, a row for each unit (see `ud_units`)."""
    for name in metrics:
        if name not in METRICS:
            raise MetricError(f"no metric {name!r}; there are {', '.join(METRICS)}.{did_you_mean(name, METRICS)}")
    units = units or find_units(reference, predicted)
    counts = ud_counts.count_ud(reference, predicted, units)
    results = {}
    for name in metrics:
        rows = counts.rows[:, METRICS.index(name)].astype(np.float64)
        correct, of_reference, of_predicted, aligned = (rows[:, k] for k in range(4))
        results[name] = Result(
            metric=f"ud.{name}",
            kind=WordCounts(),
            rows=np.stack((correct, of_predicted, correct, of_reference, aligned), axis=1),
            ids=tuple(units.names),
        )
    return results
