"""The same result over other rows: without some documents, or as a mean over documents. Nothing is scored again."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.engine.arrays import F64
from tallystick.engine.data import Objects
from tallystick.engine.tally import Joinable, Kind, Labelled, OverStrata, joint_kind, lower_is_better, ratio, rows_under
from tallystick.errors import MetricError, some
from tallystick.frozen import frozen
from tallystick.results.result import Result


def without(result: Result, documents: Collection[Any]) -> Result:
    """The result as if these documents did not exist: their rows are left out of every sum. Ids are as they are: 1 is not "1"."""
    left_out = set(documents)
    unknown = left_out - set(result.ids)
    if unknown:
        raise MetricError(
            f"cannot leave out {some(sorted(unknown, key=str))}: the rows of {result.metric} are not documents but "
            f"{some(result.ids)}"
        )
    kept = [k for k, name in enumerate(result.ids) if name not in left_out]
    place = {old: new for new, old in enumerate(kept)}
    return replace(
        result,
        rows=result.rows[kept],
        ids=tuple(result.ids[k] for k in kept),
        above=None if result.above is None else result.above[kept],
        invalid=tuple(place[k] for k in result.invalid if k in place),
        sources=_chosen(result.sources, kept),
        field_sums=None,
        label_sums=None,
        claims=None,
    )


def only(result: Result, document: Any) -> Result:
    """The result of one document alone, which its signature names."""
    found = without(result, [name for name in result.ids if name != document])
    return found.changed(settings=", ".join(filter(None, (result.settings, f"document={document}"))))


def of_one_kind(results: Sequence[Result]) -> list[Result]:
    """The same results with sums of the same names, where kinds differ in what occurs in their documents (labels): what a
    system does not have is 0."""
    kind = results[0].kind
    if not isinstance(kind, Joinable) or any(type(result.kind) is not type(kind) for result in results):
        return list(results)
    for result in results[1:]:
        kind = joint_kind(kind, result.kind)
    return [_with_sums(result, kind) for result in results]


def _with_sums(result: Result, kind: Kind) -> Result:
    """The result with the sums of a kind that has all of its own."""
    if result.kind == kind:
        return result
    above = None if result.above is None else rows_under(kind, result.kind, result.above)
    rows = rows_under(kind, result.kind, result.rows)
    return replace(result, kind=kind, rows=rows, above=above, field_sums=None)


def _chosen(sources: Sequence[tuple[Any, Any]] | None, kept: list[int]) -> tuple[tuple[Any, Any], ...] | None:
    sides: tuple[list[Any], list[Any]] = ([], [])
    for pair in sources or ():
        for side, values in zip(sides, pair, strict=True):
            if not isinstance(values, Objects):
                return None
            side.extend(values.values)
    if sources is None:
        return None
    first, second = (Objects([side[k] for k in kept]) for side in sides)
    return ((first, second),)


@frozen
class OverDocuments:
    """The mean over documents of another kind's figures: a document's row is its figures, and which are defined.

    A mean is a tally like any other: the sum of the figures over the number of documents that have one.
    """

    kind: Kind
    average: str = "documents"

    @property
    def headline(self) -> str:
        return self.kind.headline

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.kind.figures(np.zeros(len(self.kind.sums))))

    @property
    def sums(self) -> tuple[str, ...]:
        return (*self.names, *(f"{name}_documents" for name in self.names))

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if lower_is_better(self.kind, name))

    def rows(self, rows: F64, undefined: float | None) -> F64:
        """A document's figures; 0/0 is left out, or is what the policy says."""
        values = np.stack(list(self.kind.figures(rows).values()), axis=1)
        if undefined is not None:
            values = np.nan_to_num(values, nan=undefined)
        return np.concatenate((np.nan_to_num(values), ~np.isnan(values)), axis=1, dtype=np.float64)

    def figures(self, sums: F64) -> dict[str, F64]:
        size = len(self.names)
        return {name: ratio(sums[..., k], sums[..., size + k]) for k, name in enumerate(self.names)}


def mean_over_documents(result: Result) -> Result:
    """The same metric as the mean over documents, with a row for each. Of a metric with averages over labels it is the mean of
    the average that was chosen."""
    if isinstance(result.kind, Labelled):  # a document is left out as a label is that neither side has
        kind, undefined = OverDocuments(result.kind, f"documents of {result.kind.average}"), None
    else:
        kind, undefined = OverDocuments(result.kind), result.undefined
    above = None if result.above is None else kind.rows(result.above, undefined)
    rows = kind.rows(result.rows, undefined)
    return replace(result, kind=kind, rows=rows, above=above, undefined=undefined, field_sums=None, label_sums=None)


def stacked(results: Sequence[Result]) -> Result:
    """Results over different documents as one, whose figure is the mean of theirs, and whose documents are all of theirs."""
    first = results[0]
    if len(results) == 1:
        return first
    kind = OverStrata(first.kind, tuple(len(result.ids) for result in results), first.undefined)
    bounded = any(result.above is not None for result in results)
    above = [result.rows if result.above is None else result.above for result in results] if bounded else []
    return replace(
        first,
        kind=kind,
        rows=kind.rows([result.rows for result in results]),
        ids=tuple((k, name) for k, result in enumerate(results) for name in result.ids),
        above=kind.rows(above) if bounded else None,
        sources=None,
        field_sums=None,
        label_sums=None,
        invalid=(),
    )


# How much two metrics agree about the order of systems: ranks, Spearman's and Kendall's correlations.
#
# Spearman without ties is 1 - 6 Σ d² / (p (p² - 1)), d the difference of a system's two ranks among p; with ties each
# gets the mean of the ranks that they share, and it is the linear correlation of the ranks.
#
# Kendall counts pairs of systems: C in the same order under both, D in opposite order, T tied under the first only, U
# under the second only, n all pairs.
#
#     τ_a = (C - D) / n      τ_b = (C - D) / √((C + D + T)(C + D + U))      τ_c = 2 m (C - D) / (p² (m - 1))
#
# with m the smaller number of different values. They are one where nothing is tied.
#
# Scores are equal if they differ by less than 1e-10 of their size, or by that: what is the same in theory should not be
# ranked by how it was rounded.

Scores = Sequence[float] | npt.NDArray[np.float64]
TIES = ("mean", "order")
EQUAL = 1e-10


def ranks(scores: Scores, ties: str = "mean") -> npt.NDArray[np.float64]:
    """The rank of each score, 1 for the highest. Ties share the mean of their ranks or, with `ties="order"`, are
    ranked one after the other as they stand, as papers print them."""
    if ties not in TIES:
        raise MetricError(f"ties must be {' or '.join(TIES)}, found {ties!r}")
    places = -levels(scores)
    if ties == "order":
        out = np.empty(len(places))
        out[np.argsort(places, kind="stable")] = np.arange(1, len(places) + 1)
        return out
    _, inverse, count = np.unique(places, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[inverse]


def levels(scores: Scores) -> npt.NDArray[np.int64]:
    """Which of the different scores each is, from the lowest; equal ones have the same level."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sizes = np.maximum(1, np.minimum(np.abs(ordered[1:]), np.abs(ordered[:-1])))
    with np.errstate(invalid="ignore"):  # two that are infinite are equal
        apart = np.diff(ordered) > EQUAL * sizes
    out = np.empty(len(values), np.int64)
    out[order] = np.concatenate(([0], np.cumsum(apart)))[: len(values)]
    return out


def spearman(first: Scores, second: Scores) -> float:
    """Spearman's correlation of two lists of scores of the same systems; NaN where one has only ties."""
    _check_lengths(first, second)
    a, b = ranks(first), ranks(second)
    if not len(a):
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else float("nan")


def kendall(first: Scores, second: Scores, variant: str = "b") -> float:
    """Kendall's τ of two lists of scores of the same systems: variant a, b or c; NaN where it is 0/0."""
    _check_lengths(first, second)
    x, y = levels(first), levels(second)
    i, j = np.triu_indices(len(x), 1)
    left, right = (np.sign(side[i] - side[j]).astype(np.float64) for side in (x, y))
    score = float(np.sum(left * right))
    if variant == "a":
        below = float(len(i))
    elif variant == "b":
        below = math.sqrt(float(np.sum(left != 0)) * float(np.sum(right != 0)))
    elif variant == "c":
        m = min(len(np.unique(x)), len(np.unique(y)))
        below = len(x) ** 2 * (m - 1) / (2 * m) if m else 0.0
    else:
        raise MetricError(f"variant must be a, b or c, found {variant!r}")
    return score / below if below else float("nan")


def _check_lengths(first: Scores, second: Scores) -> None:
    if len(first) != len(second):
        raise MetricError(f"expected two scores of each system, found {len(first)} and {len(second)} scores")
