"""The same result over other rows: without some documents, or as a mean over documents. Nothing is scored again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.columns.data import Objects
from tallystick.errors import MetricError, some
from tallystick.scoring.result import Result
from tallystick.scoring.tally import Joinable, Kind, Labelled, ratio


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
    )


def of_one_kind(results: Sequence[Result]) -> list[Result]:
    """The same results with sums of the same names, where kinds differ in what occurs in their documents (labels): what a
    system does not have is 0."""
    kind: Any = results[0].kind
    if not isinstance(kind, Joinable) or any(type(result.kind) is not type(kind) for result in results):
        return list(results)
    for result in results[1:]:
        kind = kind if result.kind == kind else kind.joined(result.kind)
    return [_with_sums(result, kind) for result in results]


def _with_sums(result: Result, kind: Kind) -> Result:
    """The result with the sums of a kind that has all of its own."""
    if result.kind == kind:
        return result
    place = {name: k for k, name in enumerate(kind.sums)}
    columns = [place[name] for name in result.kind.sums]

    def laid(rows: F64) -> F64:
        wide = np.zeros((len(rows), len(place)))
        wide[:, columns] = rows
        return wide

    above = None if result.above is None else laid(result.above)
    return replace(result, kind=kind, rows=laid(result.rows), above=above, field_sums=None)


def _chosen(sources: tuple[tuple[Any, Any], ...] | None, kept: list[int]) -> tuple[tuple[Any, Any], ...] | None:
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


@dataclass(frozen=True)
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
