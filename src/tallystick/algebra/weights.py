"""Weights and thresholds around a similarity.

weighted(φ, w)           w · φ: a field that counts more, inside `each`
weigh(φ, {value: w})     informativity (section 6): a name counts more than a pronoun
above(φ, t)              ⟦φ > t⟧      at_least(φ, t)    ⟦φ ≥ t⟧      (eq. 29 to 31)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.functions import keys_of
from tallystick.algebra.node import Around, Change, Kernel, Similarity, Table, require
from tallystick.algebra.plain import Getter, Plain, Uncovered, see_value
from tallystick.engine.arrays import F64, I64, Blocks, Fields, Frame, Numbers, Pairs, Sums
from tallystick.engine.data import Data, Scope, field, leaf_values, note_absence
from tallystick.frozen import frozen


@frozen
class Weighted(Around):
    """w · φ, an unnormalised similarity."""

    inner: Similarity
    weight: float
    name = "weighted"
    binds_inside = True

    def __post_init__(self) -> None:
        require(
            0 < self.weight < float("inf"),
            f"weighted() needs a weight above 0, found {self.weight!r}; leave the field out instead",
        )

    @property
    def dense(self) -> bool:
        return self.inner.dense

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        return self.inner.pairs(r, p, blocks).scaled(self.weight)

    def fill(self, r: Any, p: Any, frame: Frame) -> F64:
        return self.inner.fill(r, p, frame) * self.weight

    def _selves(self, column: Any) -> F64:
        return self.inner.selves(column) * self.weight

    def plain(self) -> Plain | None:
        inner, weight = self.inner.plain(), self.weight
        if inner is None:
            return None
        weigh, (left, right), both = inner.weigh, inner.own, inner.both

        def scaled(a: Any, b: Any) -> tuple[float, float]:
            ours, theirs = both(a, b)  # type: ignore[misc]
            return weight * ours, weight * theirs

        return Plain(
            inner.see,
            lambda a, b: weight * weigh(a, b),
            (lambda a: weight * left(a), lambda b: weight * right(b)),
            scaled if both else None,
        )

    @property
    def two_numerators(self) -> bool:
        return self.inner.two_numerators

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        return self.inner.numerators(r, p, blocks).scaled(self.weight)

    @property
    def takes_null(self) -> bool:
        return self.inner.takes_null

    def scope_constraints(self) -> Iterator[str]:
        return self.inner.scope_constraints()

    def scope_groups(self, r: Any, p: Any, rows: I64, columns: I64, blocks: Blocks, factor: float) -> Iterator[Any]:
        return self.inner.scope_groups(r, p, rows, columns, blocks, factor * self.weight)

    @property
    def softened(self) -> Similarity | None:
        return self.inner.softened

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        return replace(here.inside(self.inner), scale=here.scale * self.weight).below()

    def in_words(self) -> tuple[str, ...]:
        first, *more = self.inner.in_words()
        return (first, f"weight {self.weight:g}", *more)

    def kernel(self, one_depth: bool = False) -> Kernel:
        return self.inner.kernel(one_depth).keep("a positive multiple", indicator=False)


@frozen
class Weigh(Around):
    """min(w(x), w(y)) · φ(x, y), the weight looked up by the value, or by one field of it."""

    inner: Similarity
    weights: Table
    by: str = ""
    default: float = 1.0
    name = "weigh"

    def __post_init__(self) -> None:
        for value, weight in self.weights:
            fine = isinstance(weight, (int, float)) and not isinstance(weight, bool) and weight >= 0
            require(fine, f"weigh() needs weights of 0 or more, found {value!r}: {weight!r}")

    @property
    def _may_miss(self) -> bool:
        known = (self.inner.looks_at() or {}).get(self.by)
        return known is not None and known.may_miss

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Fields, Fields]:
        columns = self.inner.encode(reference, predicted, scope)
        table = {keys_of([value], {type(value)}, scope)[0]: weight for value, weight in self.weights}
        out = []
        if self.by and not self._may_miss:
            note_absence(self.by, (reference, predicted), (), scope)
        for side, column in zip((reference, predicted), columns, strict=True):
            values = leaf_values(field(side, self.by, scope, True) if self.by else side, scope)
            keys = keys_of(list(values), set(map(type, values)), scope)
            weights = np.array([table.get(key, self.default) for key in keys], np.float64)
            out.append(Fields((column, Numbers((weights,)))))
        return out[0], out[1]

    def _pairs(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        found = self.inner.pairs(r.columns[0], p.columns[0], blocks)
        return found.scaled(np.minimum(_weights(r)[found.i], _weights(p)[found.j])).positive()

    def _selves(self, column: Fields) -> F64:
        return self.inner.selves(column.columns[0]) * _weights(column)

    def plain(self) -> Plain | None:
        inner = self.inner.plain()
        if inner is None:
            return None
        table, default = {see_value(value): weight for value, weight in self.weights}, self.default
        read = Getter((self.by,), (None if self._may_miss else Uncovered,)) if self.by else lambda value: (value,)
        weigh, (left, right) = inner.weigh, inner.own

        def seeing(see: Any) -> Any:
            return lambda value: (see(value), table.get(see_value(read(value)[0]), default))

        return Plain(
            (seeing(inner.see[0]), seeing(inner.see[1])),
            lambda a, b: min(a[1], b[1]) * weigh(a[0], b[0]),
            (lambda a: left(a[0]) * a[1], lambda b: right(b[0]) * b[1]),
        )

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        return here.as_diagnostic(self.inner, r.columns[0], p.columns[0]).below()  # type: ignore[attr-defined]

    def _change_variables(self, column: Fields, owners: I64, change: Change) -> Fields:
        return Fields((self.inner.change_variables(column.columns[0], owners, change), column.columns[1]))

    def kernel(self, one_depth: bool = False) -> Kernel:
        inner = self.inner.kernel(one_depth)
        lemma = "min(w, w') is a kernel; a product of kernels (lemma 2)"
        return inner.because(lemma, kernel=inner.kernel, strong=inner.strong and inner.indicator)


def _weights(column: Fields) -> F64:
    numbers = column.columns[1]
    assert isinstance(numbers, Numbers)
    return numbers.parts[0]


@frozen
class Threshold(Around):
    """What `above` and `at_least` share: 1 (or φ itself, with `keep`) where φ passes, else 0.

    With `share` it is the share of what both could have, 2 φ(x, y) / (φ(x, x) + φ(y, y)), that has to pass: for sums of
    fields and of items, which are not in [0, 1] themselves.
    """

    inner: Similarity
    threshold: float
    keep: bool = False
    share: bool = False

    def passes(self, weights: F64) -> Any:
        raise NotImplementedError

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        found = self.inner.pairs(r, p, blocks) if self.share else self.inner.pairs_from(self.threshold, r, p, blocks)
        figure = found.weight
        if self.share:
            figure = 2 * figure / (self.inner.selves(r)[found.i] + self.inner.selves(p)[found.j])
        keep = self.passes(figure)
        weight = found.weight[keep] if self.keep else np.ones(int(keep.sum()))
        return Pairs(found.i[keep], found.j[keep], weight)

    def _selves(self, column: Any) -> F64:
        own = self.inner.selves(column)
        passes = self.passes(np.minimum(own, 1.0) if self.share else own)
        return np.where(passes, own if self.keep else 1.0, 0.0)

    def plain(self) -> Plain | None:
        inner, keep, share = self.inner.plain(), self.keep, self.share
        passes: Any = self.passes
        if inner is None:
            return None
        weigh, (left, right) = inner.weigh, inner.own

        def passing(a: Any, b: Any) -> float:
            weight = weigh(a, b)
            if weight <= 0 or not passes(2 * weight / (left(a) + right(b)) if share else weight):
                return 0.0
            return weight if keep else 1.0

        def owning(own: Any) -> Any:
            def passing_own(a: Any) -> float:
                weight = own(a)
                return (weight if keep else 1.0) if passes(min(weight, 1.0) if share else weight) else 0.0

            return passing_own

        return Plain(inner.see, passing, (owning(left), owning(right)))

    @property
    def softened(self) -> Similarity | None:
        return self.inner.softened

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        if not self.keep or self.softened is not None:  # the fields of a product earn nothing by themselves
            return replace(here.inside(self.inner), diagnostic=True).below()
        passed = np.flatnonzero(here.weights > 0)  # what did not pass has nothing below either
        return replace(here.inside(self.inner), i=here.i[passed], j=here.j[passed]).below()

    @property
    def takes_null(self) -> bool:
        return self.inner.takes_null

    def in_words(self) -> tuple[str, ...]:
        if not self.share:
            return (str(self),)
        first, *more = self.inner.in_words()
        return (first, f"only if {self.name.replace('_', ' ')} {self.threshold:g} of it is right", *more)


@frozen
class Above(Threshold):
    """⟦φ > t⟧"""

    name = "above"

    def __post_init__(self) -> None:
        require(self.threshold >= 0, f"above() needs a threshold of 0 or more, found {self.threshold!r}")

    def passes(self, weights: F64) -> Any:
        return weights > self.threshold


@frozen
class AtLeast(Threshold):
    """⟦φ ≥ t⟧"""

    name = "at_least"

    def __post_init__(self) -> None:
        require(self.threshold > 0, f"at_least() needs a threshold above 0, found {self.threshold!r}")

    def passes(self, weights: F64) -> Any:
        return weights >= self.threshold


def weighted(inner: Similarity, weight: float) -> Weighted:
    """A similarity that counts `weight` times.

    >>> ts.f1(ts.each(name=ts.weighted(ts.exact, 3), zip=ts.exact))({"name": "Ann", "zip": "1"}, {"name": "Ann", "zip": "2"})
    0.75
    """
    return Weighted(inner, weight)


def weigh(inner: Similarity, weights: Mapping[Any, float], *, by: str = "", default: float = 1.0) -> Weigh:
    """Weights by value (or by a field of it): informativity, or 0 for what never counts.

    >>> mention = ts.weigh(ts.record(text=ts.exact), {"pronoun": 0.25}, by="kind")
    >>> ts.match(mention)([{"text": "he", "kind": "pronoun"}], [{"text": "he", "kind": "pronoun"}])
    0.25
    """
    return Weigh(inner, Table.of(weights, "weigh()"), by, default)


def above(inner: Similarity, threshold: float, *, keep: bool = False, share: bool = False) -> Above:
    """1 where φ > threshold, else 0; with `keep` φ itself; with `share`, of what both could have.

    >>> ts.above(ts.text("levenshtein"), 0.8)("Ann Lee", "Anne Lee")
    1.0
    """
    return Above(inner, threshold, keep, share)


def at_least(inner: Similarity, threshold: float, *, keep: bool = False, share: bool = False) -> AtLeast:
    """1 where φ ≥ threshold, else 0; with `keep` φ itself; with `share`, of what both could have.

    >>> ts.at_least(ts.text("levenshtein"), 0.9, keep=True)("Ann Lee", "Anne Lee")
    0.0
    """
    return AtLeast(inner, threshold, keep, share)
