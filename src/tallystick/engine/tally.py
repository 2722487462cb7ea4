"""Tallies: the sums of a corpus, a row for each document, and what turns them into figures.

    num_p, den_p, num_r, den_r

For a plain matching num_p = num_r = Σ(P,R), den_p = Σ(P,P), den_r = Σ(R,R). Tallies add: two halves of a corpus
tallied apart and put together give the figures of the whole. A figure is NaN where it is 0/0; that is decided at
this last division only, and never enters a sum.

Every figure of a corpus follows from a few sums over its documents (`Totals`), so a document's row need not be kept once it is
added:

| of a corpus                 | follows from                                                          |
|-----------------------------|-----------------------------------------------------------------------|
| figures (micro)             | the sums of the rows                                                  |
| mean over documents (macro) | the sums of the documents' figures, and how often each was 0/0        |
| exact documents             | their number                                                          |
| bounds under a time limit   | the sums of the rows' upper bounds, and how many documents are open   |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import F64, distinct
from tallystick.errors import MetricError
from tallystick.frozen import frozen

NAN = math.nan


class Kind(Protocol):
    """A kind of tally: the names of its sums, and the figures that follow from them."""

    @property
    def sums(self) -> tuple[str, ...]: ...

    @property
    def headline(self) -> str: ...

    def figures(self, sums: F64) -> dict[str, F64]:
        """From an array (..., sums) to arrays (...); NaN where a figure is 0/0."""
        ...


@runtime_checkable
class Labelled(Kind, Protocol):
    """A kind whose sums are those of several labels: its figures are one of its averages over them."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def average(self) -> str: ...

    def averages(self, sums: F64) -> dict[str, dict[str, F64]]:
        """The figures under each average, by its name: micro, macro, ..."""
        ...

    def label_figures(self, sums: F64) -> dict[str, F64]:
        """From an array (..., sums) to arrays (..., labels)."""
        ...

    def label_rows(self, rows: F64) -> dict[str, F64]:
        """From the rows of documents to num_p, den_p, num_r and den_r of each document, by label."""
        ...

    def label_tallies(self, sums: F64) -> dict[str, dict[str, float]]:
        """The sums of a corpus by label and name."""
        ...

    def pooled_tally(self, sums: F64) -> dict[str, float]:
        """The sums of a corpus over all labels."""
        ...

    def support(self, sums: F64) -> F64:
        """How much of each label there is in the reference."""
        ...

    def in_means(self, sums: F64) -> tuple[str, ...]:
        """The labels that a mean is over: those it may be over, if one of the sides has them."""
        ...

    def left_out(self, sums: F64) -> tuple[str, ...]:
        """The labels that a mean leaves out because neither side has them."""
        ...


@runtime_checkable
class Joinable(Kind, Protocol):
    """A kind that depends on what occurs in its documents, such as their labels."""

    def joined(self, other: Any) -> Any:
        """The kind of the documents of both; sums keep their names."""
        ...

    def including(self, sums: Sequence[str]) -> Any:
        """The kind that has these sums, too, as far as it can."""
        ...


@runtime_checkable
class Noted(Kind, Protocol):
    """A kind about whose sums there is something to be said."""

    def notes(self, sums: F64) -> list[str]: ...


@runtime_checkable
class Directed(Kind, Protocol):
    """A kind with figures for which lower is better, such as an error rate; of every other figure more is better."""

    @property
    def lower_is_better(self) -> tuple[str, ...]: ...


def lower_is_better(kind: Kind, figure: str | None = None) -> bool:
    """Whether a figure of a kind (the one that it is named after, if none is given) is the better the lower it is."""
    return isinstance(kind, Directed) and (figure or kind.headline) in kind.lower_is_better


def ratio(numerator: F64, denominator: F64) -> F64:
    """numerator / denominator; NaN for 0/0."""
    out: F64 = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


@frozen
class Counts:
    """Precision, recall, F_β and, if asked for, Jaccard, from four sums.

    F with one numerator S is (1 + β²) S / (β² den_r + den_p), undefined only if both denominators are 0. With two
    numerators (`one` is False) it is made from P and R, and undefined only if both of them are.
    """

    headline: str = "f1"
    beta: float = 1.0
    one: bool = True

    @property
    def sums(self) -> tuple[str, ...]:
        return ("num_p", "den_p", "num_r", "den_r")

    def figures(self, sums: F64) -> dict[str, F64]:
        if sums.ndim == 1:
            return self._figures_of_one(*sums[:4].tolist())
        num_p, den_p, num_r, den_r = (sums[..., k] for k in range(4))
        precision, recall = ratio(num_p, den_p), ratio(num_r, den_r)
        square = self.beta**2
        if self.one:
            f = ratio((1 + square) * num_p, square * den_r + den_p)
        else:
            p, r = np.nan_to_num(precision), np.nan_to_num(recall)
            f = ratio((1 + square) * p * r, square * p + r)
            nothing = np.isnan(f) & ~(np.isnan(precision) & np.isnan(recall))
            f = np.where(nothing, 0.0, f)
        out = {"precision": precision, "recall": recall, f"f{self.beta:g}": f}
        if self.headline == "jaccard":
            out["jaccard"] = ratio(num_p, den_r + den_p - num_p)
        return out

    def _figures_of_one(self, num_p: float, den_p: float, num_r: float, den_r: float) -> dict[str, Any]:
        """The same for one tally, in the same steps, without arrays."""
        precision, recall = num_p / den_p if den_p else NAN, num_r / den_r if den_r else NAN
        square = self.beta**2
        if self.one:
            below = square * den_r + den_p
            f = (1 + square) * num_p / below if below else NAN
        elif not den_p and not den_r:
            f = NAN
        else:
            p, r = precision if den_p else 0.0, recall if den_r else 0.0
            below = square * p + r
            f = (1 + square) * p * r / below if below else 0.0
        out = {"precision": precision, "recall": recall, f"f{self.beta:g}": f}
        if self.headline == "jaccard":
            below = den_r + den_p - num_p
            out["jaccard"] = num_p / below if below else NAN
        return {name: np.float64(value) for name, value in out.items()}


@frozen
class Rate:
    """An error rate: missed, false and confused, over what one side has. Lower is better, and it may pass 1.

    The sums are those of `Counts`, with one numerator for what was detected at all (num_p) and one for what was detected and named
    rightly (num_r): missed = den_r - num_p, false = den_p - num_p, confused = num_p - num_r.
    """

    over: str = "reference"

    @property
    def headline(self) -> str:
        return "error_rate"

    @property
    def sums(self) -> tuple[str, ...]:
        return ("num_p", "den_p", "num_r", "den_r")

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        return ("error_rate", "missed", "false", "confused")

    def figures(self, sums: F64) -> dict[str, F64]:
        detected, den_p, correct, den_r = (sums[..., k] for k in range(4))
        parts = {"missed": den_r - detected, "false": den_p - detected, "confused": detected - correct}
        whole = den_r if self.over == "reference" else den_p
        return {"error_rate": ratio(den_r + den_p - detected - correct, whole)} | {
            name: ratio(part, whole) for name, part in parts.items()
        }


@frozen
class Adjusted:
    """What is shared less what chance would give, over the mean of both sides less the same: 0 by chance, 1 if all is right."""

    @property
    def headline(self) -> str:
        return "adjusted"

    @property
    def sums(self) -> tuple[str, ...]:
        return ("shared", "predicted", "by_chance", "reference")

    def figures(self, sums: F64) -> dict[str, F64]:
        shared, predicted, chance, reference = (sums[..., k] for k in range(4))
        return {"adjusted": ratio(shared - chance, (predicted + reference) / 2 - chance)}


def total(rows: F64) -> F64:
    """The sums over all rows, each rounded once: the same whatever the order or the grouping of the rows."""
    if len(rows) == 1:
        return np.array(rows[0], np.float64)
    if are_integers(rows):
        return np.asarray(rows.sum(axis=0), np.float64)
    return np.array([math.fsum(column) for column in rows.T.tolist()]) if len(rows) else np.zeros(rows.shape[1])


def are_integers(rows: F64) -> bool:
    """Whether sums and differences of these rows are never rounded at all."""
    return bool(np.all(rows == np.floor(rows)) and np.abs(rows).sum() < 2**53)


@frozen
class MeanOf:
    """The mean of several kinds' headline figures, over the sums of all of them; 0/0 counts as 0."""

    parts: tuple[tuple[str, Kind], ...]
    headline: str = "f1"

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{name}_{sum_}" for name, kind in self.parts for sum_ in kind.sums)

    def figures(self, sums: F64) -> dict[str, F64]:
        first, found = 0, []
        for _, kind in self.parts:
            inner = sums[..., first : first + len(kind.sums)]
            found.append(np.nan_to_num(kind.figures(inner)[kind.headline]))
            first += len(kind.sums)
        return {self.headline: np.mean(found, axis=0)}

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        return (self.headline,) if all(lower_is_better(kind) for _, kind in self.parts) else ()


@runtime_checkable
class Stratified(Kind, Protocol):
    """A kind of documents that belong to several strata (data sets, splits), one after the other: they are drawn within each."""

    @property
    def strata(self) -> tuple[int, ...]: ...


@frozen
class OverStrata:
    """The mean over strata of another kind's headline figure: a document's row stands in the columns of its stratum."""

    kind: Kind
    strata: tuple[int, ...]
    """How many documents each has."""
    undefined: float | None = None
    """What the figure of a stratum is where it is 0/0; if that is nothing, there is no mean."""

    @property
    def headline(self) -> str:
        return self.kind.headline

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(f"{k + 1}_{name}" for k in range(len(self.strata)) for name in self.kind.sums)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        return (self.headline,) if lower_is_better(self.kind) else ()

    def rows(self, parts: Sequence[F64]) -> F64:
        """The rows of all documents, from those of each stratum."""
        width = len(self.kind.sums)
        out = np.zeros((sum(self.strata), width * len(self.strata)))
        first = 0
        for k, part in enumerate(parts):
            out[first : first + len(part), k * width : (k + 1) * width] = part
            first += len(part)
        return out

    def figures(self, sums: F64) -> dict[str, F64]:
        width = len(self.kind.sums)
        found = [
            self.kind.figures(sums[..., k * width : (k + 1) * width])[self.headline] for k in range(len(self.strata))
        ]
        if self.undefined is not None:
            found = [np.nan_to_num(one, nan=self.undefined) for one in found]
        return {self.headline: np.mean(found, axis=0)}


def strata_of(kind: Kind, documents: int) -> tuple[int, ...]:
    """The sizes of the groups in which documents are drawn: one, unless the kind has strata."""
    return kind.strata if isinstance(kind, Stratified) else (documents,)


# Sums of floats without rounding, so that nothing depends on the order or the grouping of what is added.
#
# Every float is a whole number of units of 2^-1074, the smallest float there is:
#
#     0.1 = 0x1.999999999999ap-4 = 7205759403792794 · 2^(1074 - 56) units
#
# A sum of floats is then a sum of integers, which has no order; it is rounded once, to the nearest float, when somebody
# looks at it. That is what `math.fsum` gives too, but integers can be kept, sent, stored and added to later.

Units = tuple[int, ...]
"""One exact sum for each column."""

_ONE = 1074
_HALF = 26  # a mantissa of 53 bits in two halves: 2^36 of them fit into 64 bits


def add_up(rows: F64) -> Units:
    """The exact sum of each column of an array (rows, columns)."""
    if not len(rows):
        return (0,) * int(rows.shape[1])
    if np.all(rows == np.floor(rows)) and np.abs(rows).sum() < 2**53:  # integers, as most tallies are
        return tuple(int(total) << _ONE for total in rows.sum(axis=0).tolist())
    return tuple(_add_column(rows[:, k]) for k in range(rows.shape[1]))


def _add_column(column: F64) -> int:
    if not np.isfinite(column).all():
        raise MetricError(f"a tally has to be finite, found {column[~np.isfinite(column)][0]}")
    fraction, exponent = np.frexp(column)  # column = fraction · 2^exponent, fraction in [0.5, 1)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    high, low = mantissa >> _HALF, mantissa & ((1 << _HALF) - 1)
    total = 0
    for power in distinct(exponent).tolist():
        here = exponent == power
        whole = (int(high[here].sum()) << _HALF) + int(low[here].sum())
        shift = power - 53 + _ONE
        total += whole << shift if shift >= 0 else whole >> -shift  # below the normal floats the last bits are 0
    return total


def merged(first: Units, second: Units) -> Units:
    """Two sums in one."""
    if len(first) != len(second):
        raise MetricError(f"sums of {len(first)} and of {len(second)} columns cannot be added")
    return tuple(a + b for a, b in zip(first, second, strict=True))


def rounded(units: Sequence[int]) -> F64:
    """Each sum as the float that is nearest to it."""
    try:
        # Python divides integers with one rounding
        return np.array([unit / (1 << _ONE) for unit in units], np.float64)
    except OverflowError:
        raise MetricError("a sum is larger than any float") from None


# What is left of documents when their rows are let go.


@frozen
class Totals:
    """The sums of some documents; `+` puts two together, in any order and any grouping bit for bit."""

    kind: Kind
    documents: int
    units: Units
    means: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By figure the sum of the documents' values, and in how many documents it is 0/0; labelled kinds have none."""
    exact: int | None = None
    above: Units | None = None
    unproven: int = 0
    invalid: int = 0
    open: tuple[str, ...] = ()
    """Some of the documents whose optimum is not proven: the first by name, with what is known of each."""

    @staticmethod
    def of(
        kind: Kind, rows: F64, *, above: F64 | None = None, invalid: Sequence[int] = (), ids: Sequence[Any] = ()
    ) -> Totals:
        """The totals of documents with these rows; `invalid` are the places of those that could not be read."""
        open_ = 0 if above is None else int((above != rows).any(axis=1).sum())
        return Totals(
            kind,
            len(rows),
            add_up(rows),
            {} if isinstance(kind, Labelled) else _means(kind.figures(rows)),
            _exact(kind, rows, invalid),
            None if above is None else add_up(above),
            open_,
            len(invalid),
            () if above is None or not len(ids) else _first_by_name(unproven_documents(kind, rows, above, ids)),
        )

    @property
    def sums(self) -> F64:
        """The sums of the rows."""
        return rounded(self.units)

    @property
    def most(self) -> F64 | None:
        """The sums of the rows' upper bounds."""
        return None if self.above is None else rounded(self.above)

    def mean(self, undefined: float | None) -> dict[str, float | None]:
        """The mean of each figure over the documents; where it is 0/0 a document is left out, or counts as `undefined`."""
        out: dict[str, float | None] = {}
        for name, (units, absent) in self.means.items():
            known = self.documents - (absent if undefined is None else 0)
            filled = 0 if undefined is None else add_up(np.array([[undefined]]))[0] * absent
            out[name] = float(rounded([units + filled])[0] / known) if known else undefined
        return out

    def __add__(self, other: Totals) -> Totals:
        kind = joint_kind(self.kind, other.kind)
        first, second = (one._under(kind) for one in (self, other))
        means = {
            name: (units + second.means[name][0], absent + second.means[name][1])
            for name, (units, absent) in first.means.items()
        }
        bounded = first.above is not None or second.above is not None
        above = merged(first.above or first.units, second.above or second.units) if bounded else None
        return Totals(
            kind,
            first.documents + second.documents,
            merged(first.units, second.units),
            means,
            None if first.exact is None or second.exact is None else first.exact + second.exact,
            above,
            first.unproven + second.unproven,
            first.invalid + second.invalid,
            _first_by_name(first.open + second.open),
        )

    def _under(self, kind: Kind) -> Totals:
        if self.kind == kind:
            return self
        known = dict(zip(self.kind.sums, self.units, strict=True))
        return replace(self, kind=kind, units=tuple(known.get(name, 0) for name in kind.sums))


NAMED = 3
"""How many documents whose optimum is not proven are named."""


def unproven_documents(kind: Kind, rows: F64, above: F64, ids: Sequence[Any]) -> list[str]:
    """The documents whose optimum is not proven, each with the least and the most that its figure can be."""
    places = np.flatnonzero((above != rows).any(axis=1))
    low, high = (kind.figures(side[places])[kind.headline] for side in (rows, above))
    return [f"{ids[k]} {a:.4f} to {b:.4f}" for k, a, b in zip(places.tolist(), low, high, strict=True)]


def _first_by_name(documents: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(documents)[:NAMED])


def joint_kind(first: Kind, second: Kind) -> Kind:
    """The kind of the documents of both: kinds with labels have the labels of both."""
    if first == second:
        return first
    if not isinstance(first, Joinable) or type(first) is not type(second):
        raise MetricError(f"tallies of different kinds cannot be added: {first} and {second}")
    joined: Kind = first.joined(second)
    return joined


def rows_under(kind: Kind, own: Kind, rows: F64) -> F64:
    """Rows of one kind as rows of another that has all of its sums; what it has besides is 0."""
    if kind == own:
        return rows
    place = {name: k for k, name in enumerate(kind.sums)}
    out = np.zeros((len(rows), len(place)))
    out[:, [place[name] for name in own.sums]] = rows
    return out


def _means(figures: Mapping[str, F64]) -> dict[str, tuple[int, int]]:
    out = {}
    for name, values in figures.items():
        absent = np.isnan(values)
        out[name] = add_up(values[~absent][:, None])[0], int(absent.sum())
    return out


def tells_exact(kind: Kind) -> bool:
    """Whether a document's sums say that it is right in everything."""
    return kind.sums[:4] == ("num_p", "den_p", "num_r", "den_r")


def exact_rows(kind: Kind, rows: F64) -> NDArray[np.bool_] | None:
    """Which documents are right in everything; None if the tally cannot tell."""
    if not tells_exact(kind):
        return None
    num_p, den_p, num_r, den_r = rows.T[:4]
    # one wrong value among a million is still one, so the tolerance is that of the sums, and not a share of them
    sides = [np.abs(num - den) <= 1e-9 + 1e-12 * np.abs(den) for num, den in ((num_p, den_p), (num_r, den_r))]
    right: NDArray[np.bool_] = sides[0] & sides[1]
    return right


def _exact(kind: Kind, rows: F64, invalid: Sequence[int]) -> int | None:
    """How many documents are right in everything; None if the tally cannot tell."""
    right = exact_rows(kind, rows)
    if right is None:
        return None
    right[list(invalid)] = False  # also where the reference is empty
    return int(np.sum(right))
