"""Error rates: what was missed, what is false and what was confused, over what the reference has.

    error_rate(correct=match(record(label=exact, time=φ)), detected=match(record(time=φ)))

Two sums say everything: how much was detected at all, whatever it was called (D), and how much of that is correct (C).

    missed   = Σ(R,R) - D
    false    = Σ(P,P) - D          error rate = (missed + false + confused) / Σ(R,R)
    confused = D - C

Diarisation (DER), sound events (ER) and slot errors are of this form. Lower is better, and a rate may pass 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.algebra.node import Node, Similarity, require
from tallystick.algebra.normalise import SIDES
from tallystick.engine.tally import Kind, Rate
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


@frozen
class ErrorRate(Node):
    """Missed, false and confused, over what one side has."""

    correct: Similarity
    detected: Similarity
    over: str = "reference"
    name = "error_rate"
    says = "missed, false and confused"
    letter = "N"
    side_names = ("detected", "correct")

    def __post_init__(self) -> None:
        require(self.over in SIDES, f"error_rate(): over must be {' or '.join(SIDES)}, found {self.over!r}")

    @property
    def by_side(self) -> tuple[Similarity, Similarity]:
        return self.detected, self.correct

    @property
    def aligned_by(self) -> Similarity:
        return self.correct.summed

    @property
    def headline(self) -> tuple[str, float]:
        return "error_rate", 1.0

    def kind_of_tally(self) -> Kind:
        return Rate(self.over)

    def figure_of(self, num_r: float, num_p: float, den_r: float, den_p: float) -> float:
        whole = den_r if self.over == "reference" else den_p
        wrong = den_r + den_p - num_p - num_r
        return wrong / whole if whole else float(wrong > 0)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.correct.sample(rng, depth)

    def _arguments(self) -> Iterator[str]:
        yield f"correct={self.correct!r}"
        yield f"detected={self.detected!r}"
        if self.over != "reference":
            yield f'over="{self.over}"'

    def mirrored(self) -> Node:
        over = SIDES[1 - SIDES.index(self.over)]
        return replace(self, correct=self.correct.mirrored(), detected=self.detected.mirrored(), over=over)


def error_rate(correct: Similarity, detected: Similarity, *, over: str = "reference") -> ErrorRate:
    """Missed, false and confused, over what the reference has; `detected` is `correct` without the names.

    >>> words = ts.match(ts.exact)
    >>> ts.error_rate(correct=words, detected=words)(["a", "b"], ["a"])
    0.5
    """
    return ErrorRate(correct, detected, over)
