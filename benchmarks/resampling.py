"""Resampling: 10,000 resamples of 10,000 documents under five metrics, each of another kind of tally.

The claim: under 5 CPU seconds and 500 MB, for intervals by either method, for both paired tests, and for a whole
comparison of two systems. The floor is NumPy alone: the same draws, counted, and one matrix product, without making
figures of them; and what a bootstrap usually looks like is beside it, rows gathered and summed for each resample, over
a tenth of the resamples.

    python -m benchmarks resampling
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Row, compare, measure, report

Score = Callable[[], dict[str, float]]
DOCUMENTS, RESAMPLES = 10_000, 10_000
MAKE = "benchmarks.resampling:make"


def make(documents: int, resamples: int) -> tuple[Any, int]:
    """Two systems' results under five metrics: four counts, a mean over tags, contingency tables, BLANC, CoNLL."""
    from benchmarks.coverage import population

    names = {
        "segments, micro": "counts", "segments, macro": "macro over tags", "tokens and separators": "contingency",
        "BLANC": "blanc", "CoNLL": "conll",
    }  # fmt: skip
    figures = [one for one in population(documents) if one.name in names]
    return [
        {names[one.name]: side for one, side in zip(figures, sides, strict=True)}
        for sides in ([one.first for one in figures], [one.second for one in figures])
    ], resamples


def percentile(systems: Any, resamples: int) -> Score:
    return _intervals(systems, resamples, "percentile")


def bca(systems: Any, resamples: int) -> Score:
    return _intervals(systems, resamples, "bca")


def _intervals(systems: Any, resamples: int, method: str) -> Score:
    from tallystick.results.resampling import intervals

    def score() -> dict[str, float]:
        found = intervals(list(systems[0].values()), resamples=resamples, method=method)
        return {name: float(one["f1"].low or 0) for name, one in zip(systems[0], found, strict=True)}

    return score


def bootstrap_test(systems: Any, resamples: int) -> Score:
    return _comparison(systems, resamples, "bootstrap")


def randomisation_test(systems: Any, resamples: int) -> Score:
    return _comparison(systems, resamples, "randomisation")


def _comparison(systems: Any, resamples: int, test: str) -> Score:
    from tallystick.results.compare import compare as lay_side_by_side

    def score() -> dict[str, float]:
        found = lay_side_by_side(dict(zip("AB", systems, strict=True)), resamples=resamples, test=test)
        return {metric: float(d.p or 0) for (metric, _, _), d in found.differences.items()}

    return score


def floor(systems: Any, resamples: int) -> Score:
    """NumPy alone: the draws, their counts, and the product."""

    def score() -> dict[str, float]:
        rows = np.concatenate([result.rows for result in systems[0].values()], axis=1)
        n = len(rows)
        rng = np.random.default_rng(0)
        low = np.empty(resamples)
        counts = np.empty((100, n))
        for first in range(0, resamples, 100):
            for row in counts:
                row[:] = np.bincount(rng.integers(0, n, size=n, dtype=np.uint32), minlength=n)
            sums = counts @ rows
            low[first : first + 100] = _f1(sums)
        return {"counts": float(np.quantile(low, 0.025))}

    return score


def _f1(sums: Any) -> Any:
    """The first metric's micro F1: num_p, den_p, num_r, den_r of four tags each come first."""
    return 2 * sums[:, 0:4].sum(axis=1) / (sums[:, 4:8].sum(axis=1) + sums[:, 12:16].sum(axis=1))


def gathered(systems: Any, resamples: int) -> Score:
    """As it is usually written: the rows of the drawn documents are gathered and summed, for each resample."""

    def score() -> dict[str, float]:
        rows = np.concatenate([result.rows for result in systems[0].values()], axis=1)
        rng = np.random.default_rng(0)
        sums = np.array(
            [rows[rng.integers(0, len(rows), size=len(rows), dtype=np.uint32)].sum(axis=0) for _ in range(resamples)]
        )
        return {"counts": float(np.quantile(_f1(sums), 0.025))}

    return score


def run(repeat: int = 1, quick: bool = False) -> bool:
    """Print the table; False only if figures differ or something broke."""
    resamples = RESAMPLES // 10 if quick else RESAMPLES

    def measured(name: str, resamples: int = resamples) -> Any:
        target = f"benchmarks.resampling:{name}"
        return measure(target, MAKE, repeat=repeat, documents=DOCUMENTS, resamples=resamples)

    base = measured("floor")
    few = resamples // 10
    rows = [
        Row("NumPy, no figures", resamples, base, remark="the floor: draws, counts, one product"),
        compare(measured("percentile"), base, "percentile", resamples, checked=("counts",)),
        Row("BCa", resamples, measured("bca")),
        Row(
            "bootstrap test",
            resamples,
            measured("bootstrap_test"),
            remark="two systems: intervals, differences, p, ranks",
        ),
        Row("randomisation test", resamples, measured("randomisation_test"), remark="the same, and coins"),
        Row("rows gathered", few, measured("gathered", few), remark="a tenth of the resamples"),
    ]
    title = f"Five metrics over {DOCUMENTS:,} documents"
    return report(title, rows, "resample", ("NumPy, no figures",))
