"""An error rate in seconds, and turns that are matched."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick.algebra.exact import exact
from tallystick.algebra.normalise import f1
from tallystick.algebra.numbers import overlap
from tallystick.algebra.records import each, record
from tallystick.algebra.sets import match
from tallystick.engine.tally import ratio
from tallystick.results.result import Result
from tallystick.tasks.metric import choose, score_expression

TURNS = f1(each(turns=match(record(speaker=exact, time=overlap("jaccard", inclusive=False)))))
"""A turn is worth as much as its time overlaps with one of the same speaker."""


@dataclass(frozen=True)
class ErrorRate:
    """Missed, false and confused seconds, over the seconds of the reference."""

    headline: str = "error_rate"
    sums: tuple[str, ...] = ("missed", "false", "confused", "seconds")
    lower_is_better: tuple[str, ...] = ("error_rate",)

    def figures(self, sums: Any) -> dict[str, Any]:
        return {"error_rate": ratio(sums[..., :3].sum(axis=-1), sums[..., 3])}


def score(pairs: Any, metrics: tuple[str, ...], collar: float) -> dict[str, Result]:
    """Both metrics, or those that are named."""
    rows = np.array([seconds(*pair, collar) for pair in zip(pairs.reference, pairs.predicted, strict=True)])
    rate = Result("turns.error_rate", ErrorRate(), rows, pairs.ids, settings=f"collar={collar:g}")
    return choose({"error_rate": rate, "turns": score_expression("turns.turns", TURNS, pairs)}, metrics, "turns")


def seconds(reference: Any, predicted: Any, collar: float) -> tuple[float, float, float, float]:
    """Stretch by stretch: who speaks in the reference, and who is said to."""
    edges = sorted({edge for call in (reference, predicted) for turn in call.turns for edge in turn.time})
    missed = false = confused = whole = 0.0
    for start, end in pairwise(edges):
        if any(abs(start - edge) < collar for turn in reference.turns for edge in turn.time):
            continue
        right, given = (
            {t.speaker for t in call.turns if t.time[0] <= start < t.time[1]} for call in (reference, predicted)
        )
        missed += (end - start) * max(0, len(right) - len(given))
        false += (end - start) * max(0, len(given) - len(right))
        confused += (end - start) * (min(len(right), len(given)) - len(right & given))
        whole += (end - start) * len(right)
    return missed, false, confused, whole
