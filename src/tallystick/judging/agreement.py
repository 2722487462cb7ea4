"""Agreement between two judges: Cohen's kappa on three labels, and on two (Partial merged into Incorrect).

    kappa = (p_o - p_e) / (1 - p_e)      p_o = Σ n_kk / n      p_e = Σ n_k. n_.k / n²

It is 0/0 where both gave one and the same label throughout; that is undefined (None), not perfect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallystick.judging.verdicts import LABELS, Label


def kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Cohen's kappa of a square table of counts: rows by the first judge, columns by the second."""
    n = sum(map(sum, table))
    if not n:
        return None
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    expected = Fraction(sum(a * b for a, b in zip(rows, columns, strict=True)), n * n)
    observed = Fraction(sum(row[k] for k, row in enumerate(table)), n)
    return None if expected == 1 else float((observed - expected) / (1 - expected))


@dataclass(frozen=True)
class Agreement:
    """How far two judges agree over the questions that both answered."""

    first: str
    second: str
    table: tuple[tuple[int, ...], ...]
    """Counts: the first judge's label by the second's, in the order Correct, Partial, Incorrect."""

    @property
    def n(self) -> int:
        """Questions that both answered."""
        return sum(map(sum, self.table))

    @property
    def kappa_3(self) -> float | None:
        """On three labels."""
        return kappa(self.table)

    @property
    def kappa_2(self) -> float | None:
        """On two: Partial is Incorrect."""
        (cc, *rest), *others = self.table
        return kappa(((cc, sum(rest)), (sum(row[0] for row in others), sum(sum(row[1:]) for row in others))))

    @property
    def observed(self) -> float | None:
        """The share of questions with the same label."""
        return sum(row[k] for k, row in enumerate(self.table)) / self.n if self.n else None


def agreement(
    first: Mapping[Any, Label], second: Mapping[Any, Label], names: tuple[str, str] = ("first", "second")
) -> Agreement:
    """Two judges' labels by question; only what both answered counts."""
    return Agreement(*names, _cross((first[key], second[key]) for key in first if key in second))


def _cross(pairs: Iterable[tuple[Label, Label]]) -> tuple[tuple[int, ...], ...]:
    counts = [[0] * len(LABELS) for _ in LABELS]
    for a, b in pairs:
        counts[LABELS.index(a)][LABELS.index(b)] += 1
    return tuple(map(tuple, counts))
