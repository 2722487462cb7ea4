"""Curves: the score along a walk, and what P4 and P5 make of it.

    P4, monotonicity    every correct piece raises the score, every wrong one lowers it: no step is 0 or backwards
    P5, linearity       steps are even: none is 0, and none is `multiple` times the step next to it, or more

The deviation from the straight line is printed and does not decide: a curve may bend evenly. F1 itself bends, by
(2 + n) / n from its first step of n to its second: 1.5 for four pieces. So only walks of four steps or more are judged
by P5, and the multiple is 2 unless asked otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOLERANCE = 1e-9
MULTIPLE = 2.0
FEWEST = 4


@dataclass(frozen=True)
class Curve:
    """The scores along a walk."""

    name: str
    order: str
    scores: tuple[float, ...]
    rising: bool
    multiple: float = MULTIPLE

    @property
    def steps(self) -> list[float]:
        """What each edit changed, counted in the direction of the walk."""
        sign = 1 if self.rising else -1
        return [sign * (after - before) for before, after in zip(self.scores, self.scores[1:], strict=False)]

    @property
    def smallest(self) -> float:
        return min(self.steps)

    @property
    def largest(self) -> float:
        return max(self.steps)

    @property
    def ratio(self) -> float:
        """The largest step over the smallest; infinite where that is 0."""
        return self.largest / self.smallest if self.smallest > TOLERANCE else float("inf")

    @property
    def deviation(self) -> float:
        """The largest distance from the straight line between the ends."""
        first, last, n = self.scores[0], self.scores[-1], max(1, len(self.scores) - 1)
        return max(abs(score - (first + (last - first) * k / n)) for k, score in enumerate(self.scores))

    @property
    def backward(self) -> list[int]:
        """The edits after which the score is no better (or, in a falling walk, no worse)."""
        return [k for k, step in enumerate(self.steps) if step <= TOLERANCE]

    @property
    def uneven(self) -> list[int]:
        """The edits whose step is 0, or too large beside its neighbour."""
        steps = self.steps
        if len(steps) < FEWEST:
            return []
        out = []
        for k, step in enumerate(steps):
            beside = [steps[j] for j in (k - 1, k + 1) if 0 <= j < len(steps)]
            if step <= TOLERANCE or any(
                step >= self.multiple * other - TOLERANCE for other in beside if other > TOLERANCE
            ):
                out.append(k)
        return out

    def said(self) -> str:
        """The steps in words."""
        ratio = "" if self.ratio == float("inf") else f" ({self.ratio:.3g} times)"
        zeros = sum(abs(step) <= TOLERANCE for step in self.steps)
        none = f", {zeros} of them 0" if zeros else ""
        return (
            f"{len(self.steps)} steps of {self.smallest:.4f} to {self.largest:.4f}{ratio}{none}, "
            f"{self.deviation:.3f} off the straight line"
        )


def curve(
    name: str, order: str, scores: Sequence[float | None], rising: bool, multiple: float = MULTIPLE
) -> Curve | None:
    """The curve of a walk; where it is undefined at the worst end that is left out, elsewhere there is no curve."""
    known = list(scores)
    while rising and known and known[0] is None:
        known.pop(0)
    if len(known) < 2 or any(score is None for score in known):
        return None
    return Curve(name, order, tuple(float(score) for score in known if score is not None), rising, multiple)
