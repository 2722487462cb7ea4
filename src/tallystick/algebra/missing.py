"""Values that may be missing: None equals None, and nothing else (unless `empty` or `null` says otherwise).

That is so in a product. In a sum of fields a None on both sides counts nothing: `each` takes the missing
ones out by itself. The other way round, `any_of` is for a reference that has several values, of which any is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.node import Around, Change, Kernel, Similarity, has_structure, require, takes_collections
from tallystick.algebra.plain import Plain, Uncovered
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Column,
    Items,
    Maybe,
    Numbered,
    Pairs,
    Sums,
    first_best,
    offsets_of,
)
from tallystick.engine.data import Bag, Data, Nullable, Objects, Scope, leaf_values
from tallystick.engine.values import ABSENT, Missing, Refusals, is_absent, is_blank, is_blank_or_empty, is_empty
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


WHAT_IS_MISSING: dict[tuple[bool, bool], Missing | None] = {
    (False, False): None, (True, False): is_empty, (False, True): is_blank, (True, True): is_blank_or_empty,
}  # fmt: skip


@frozen
class Optional(Around):
    """φ where both are there, 1 where both are missing, else 0.

    None is missing, and a key that is not there is None. With `empty`, so are "", [] and {}; with `blank`, texts of nothing but white
    space. With `null`, None is a value of its own, which equals None, and only a key that is not there is missing.
    """

    inner: Similarity
    empty: bool = False
    null: bool = False
    blank: bool = False
    name = "optional"
    binds_inside = True

    @property
    def present(self) -> Similarity:
        return replace(self, null=False) if self.null and not self.inner.takes_null else self.inner

    @property
    def may_miss(self) -> bool:
        return True

    @property
    def missing(self) -> Missing | None:
        if self.null:
            return is_absent
        return WHAT_IS_MISSING[self.empty, self.blank]

    @property
    def absent(self) -> Any:
        return ABSENT if self.null else None

    @property
    def exact_only(self) -> bool:
        return self.inner.exact_only

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return value if value is None or value is ABSENT else self.inner.accept(value, path, refusals)

    @property
    def void(self) -> Any:
        return None

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Maybe, Maybe]:
        r, p = self.present.encode_present(reference, predicted, scope, self.missing)
        return _maybe(r), _maybe(p)

    def refine(self, r: Maybe, p: Maybe, blocks: Blocks) -> Blocks:
        # The inner keys of what is there, moved up by one; 0 stands for None.
        rows, columns = r.rows, p.rows
        inner = self.present.refine(r.present, p.present, blocks.at(rows, columns)).dense()
        left, right = _zeros(r.position), _zeros(p.position)
        left[rows], right[columns] = inner.reference + 1, inner.predicted + 1
        return blocks.refine(left, right, inner.bound + 1)

    def _pairs(self, r: Maybe, p: Maybe, blocks: Blocks) -> Pairs:
        rows, columns = r.rows, p.rows
        found = self.present.pairs(r.present, p.present, blocks.at(rows, columns)).renumber(rows, columns)
        none = self.both_missing(r, p, blocks)
        return Pairs.joined([found, none])

    def both_missing(self, r: Maybe, p: Maybe, blocks: Blocks) -> Pairs:
        """The pairs that are alike in having nothing."""
        return blocks.equal_pairs(np.flatnonzero(r.position < 0), np.flatnonzero(p.position < 0))

    def _selves(self, column: Maybe) -> F64:
        out = np.ones(len(column))
        out[column.rows] = self.present.selves(column.present)
        return out

    def plain(self) -> Plain | None:
        inner, missing = self.present.plain(), self.missing
        if inner is None:
            return None
        nothing = object()
        weigh, (left, right), both = inner.weigh, inner.own, inner.both

        def seeing(see: Any) -> Any:
            if missing is None:
                return lambda value: nothing if value is None else see(value)
            return lambda value: nothing if missing(value) else see(value)

        def weighed(a: Any, b: Any) -> float:
            return float(a is b) if a is nothing or b is nothing else weigh(a, b)

        def numerators(a: Any, b: Any) -> tuple[float, float]:
            return (float(a is b),) * 2 if a is nothing or b is nothing else both(a, b)  # type: ignore[misc]

        return Plain(
            (seeing(inner.see[0]), seeing(inner.see[1])),
            weighed,
            (lambda a: 1.0 if a is nothing else left(a), lambda b: 1.0 if b is nothing else right(b)),
            numerators if both else None,
            inner.equality,
        )

    @property
    def two_numerators(self) -> bool:
        return self.present.two_numerators

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        found = self.present.numerators(r.present, p.present, blocks.at(r.rows, p.rows)).renumber(r.rows, p.rows)
        return Sums.joined([found, Sums.of(self.both_missing(r, p, blocks))])

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        # Two that are None count 1, which no field below has.
        return replace(here.inside(self.present), diagnostic=True).present().below()

    def _change_variables(self, column: Any, owners: I64, change: Change) -> Any:
        return change_present(self.present, column, owners, change)

    def in_words(self) -> tuple[str, ...]:
        first, *more = self.inner.in_words()
        special = (
            ["may be missing"]
            + ["so is empty"] * self.empty
            + ["so is blank"] * self.blank
            + ["null is a value"] * self.null
        )
        return (first, *special, *more)

    def kernel(self, one_depth: bool = False) -> Kernel:
        return self.inner.kernel(one_depth).keep("None apart")

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return None if rng.random() < 0.2 else self.inner.sample(rng, depth)


def change_present(node: Similarity, column: Any, owners: I64, change: Change) -> Any:
    """The column of a field with the codes of its variables changed where there is a value."""
    if not isinstance(column, Maybe):
        return node.change_variables(column, owners, change)
    return Maybe(column.position, node.change_variables(column.present, owners[column.rows], change))


def _maybe(column: Column) -> Maybe:
    return column if isinstance(column, Maybe) else Maybe(np.arange(len(column)), column)


def _zeros(like: I64) -> I64:
    return np.zeros(len(like), np.int64)


def optional(inner: Similarity, *, empty: bool = False, null: bool = False, blank: bool = False) -> Optional:
    """A value that may be missing. `empty`: "", [] and {} are missing too; `blank`: texts of nothing but white space; `null`: null is
    a value of its own.

    >>> ts.optional(ts.exact, empty=True)(None, "")
    1.0
    """
    if isinstance(inner, Optional):
        return Optional(inner.inner, inner.empty or empty, inner.null or null, inner.blank or blank)
    return Optional(inner, empty, null, blank)


# Gold with alternatives: any of several values is right.
#
#     any_of(φ)(R, p) = max over r in R of φ(r, p)
#
# The reference holds a list of alternatives (or a single one), the prediction one value. Each side has its own
# self-score: the largest of the alternatives', and the predicted value's own.

SIDES = ("reference", "predicted")


class Options(Items):
    """The alternatives of each row, of which one is to be met."""

    def number_rows(self) -> Numbered:
        return Items.number_rows(self.distinct())


@frozen
class AnyOf(Around):
    """The best φ of any of the alternatives that one side (the reference) holds."""

    inner: Similarity
    side: str = "reference"
    name = "any_of"
    carries_variables = False

    def __post_init__(self) -> None:
        require(isinstance(self.inner, Similarity), f"any_of() needs a similarity, found {self.inner!r}")
        require(
            self.side in SIDES,
            f"any_of(): side must be {' or '.join(SIDES)}, found {self.side!r}.{did_you_mean(self.side, SIDES)}",
        )

    def mirrored(self) -> AnyOf:
        inner = self.inner.mirrored()
        assert isinstance(inner, Similarity)
        return replace(self, inner=inner, side=SIDES[1 - SIDES.index(self.side)])

    @property
    def takes_null(self) -> bool:
        return self.inner.may_miss

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        return self.inner.accept(value, path, refusals) if self.side == "reference" else value

    @property
    def _of_collections(self) -> bool:
        """Whether the values themselves are collections: then a list is always one of alternatives."""
        return takes_collections(self.inner)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Column, Column]:
        if self.side == "reference":
            offsets, flat = self._alternatives(reference, scope)
            r, p = self.inner.encode(flat, predicted, scope)
            return Options(offsets, r), p
        offsets, flat = self._alternatives(predicted, scope)
        r, p = self.inner.encode(reference, flat, scope)
        return r, Options(offsets, p)

    def _alternatives(self, data: Data, scope: Scope) -> tuple[I64, Data]:
        plain = isinstance(data, Bag) and not self._of_collections and not isinstance(data.items, Nullable)
        if isinstance(data, Bag) and plain and np.all(np.diff(data.offsets)):
            return data.offsets, data.items
        rows = [
            list(value)
            if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields")
            else [value]
            for value in leaf_values(data, scope)
        ]
        for value, row in zip(leaf_values(data, scope), rows, strict=True):
            if not row:
                raise ValueMismatch(f"at {scope}: any_of needs one alternative or more, found {value!r:.60}")
            if any(one is None for one in row) and not self.inner.may_miss:
                raise ValueMismatch(
                    f"at {scope}: null means nothing, so it cannot be one of the alternatives {value!r:.60}; where null is to be a "
                    f"right answer, make it a value: nothing: [missing], or any_of(optional(...))"
                )
            if self._of_collections and not isinstance(value, (list, tuple)):
                raise ValueMismatch(f"at {scope}: any_of needs a list of alternatives, found {value!r:.60}")
        return offsets_of([len(row) for row in rows]), Objects([one for row in rows for one in row])

    def _pairs(self, r: Any, p: Any, blocks: Blocks) -> Pairs:
        (left, i), (right, j) = _flat(r), _flat(p)  # one side has alternatives; both or none when a side meets itself
        found = self.inner.pairs(left, right, blocks.at(i, j))
        i, j = i[found.i], j[found.j]
        bound = max(1, len(r) * len(p))
        best = first_best(i * len(p) + j, bound, found.weight)
        return Pairs(i[best], j[best], found.weight[best])

    def _selves(self, column: Any) -> F64:
        if not isinstance(column, Options):
            return self.inner.selves(column)
        own = self.inner.selves(column.items)
        return np.maximum.reduceat(own, column.offsets[:-1]) if len(column) else np.empty(0)

    def plain(self) -> Plain | None:
        inner = self.inner.plain()
        if inner is None or self._of_collections:
            return None
        side, may_miss = SIDES.index(self.side), self.inner.may_miss
        see, weigh, own = inner.see[side], inner.weigh, inner.own[side]

        def alternatives(value: Any) -> list[Any]:
            several = isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields")
            row = list(value) if several else [value]
            if not row or (None in row and not may_miss):
                raise Uncovered
            return [see(one) for one in row]

        def best_own(seen: list[Any]) -> float:
            return max(map(own, seen))

        if side == 0:
            best: Any = lambda a, b: max(weigh(one, b) for one in a)  # noqa: E731
            return Plain((alternatives, inner.see[1]), best, (best_own, inner.own[1]))
        best = lambda a, b: max(weigh(a, one) for one in b)  # noqa: E731
        return Plain((inner.see[0], alternatives), best, (inner.own[0], best_own))

    def chosen(self, r: Any, p: Any, i: I64, j: I64) -> I64:
        """For each row that has alternatives the one that counts: the best for its partner in (i, j), or the first."""
        options, rows, others, lines = (r, i, p, j) if self.side == "reference" else (p, j, r, i)
        choice: I64 = options.offsets[:-1].copy()
        places, counts = options.item_rows(rows)
        if len(places):
            pair = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
            sides = options.items.take(places), others.take(lines[pair])
            weights = self.inner.one_to_one_weights(*(sides if self.side == "reference" else sides[::-1]))
            choice[rows] = places[first_best(pair, len(rows), weights)]
        return choice

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        """Both sides with one alternative for each row."""
        r: Any = here.reference
        p: Any = here.predicted
        choice = self.chosen(r, p, here.i, here.j)
        met = (r.items.take(choice), p) if self.side == "reference" else (r, p.items.take(choice))
        return here.as_diagnostic(self.inner, *met).below()

    def inside(self, left: Sequence[Any], right: Sequence[Any]) -> tuple[Similarity, Sequence[Any], Sequence[Any]]:
        both = [k for k, pair in enumerate(zip(left, right, strict=True)) if None not in pair]
        r: Any
        p: Any
        r, p = self.encode(Objects([left[k] for k in both]), Objects([right[k] for k in both]), Scope())
        rows = np.arange(len(both), dtype=np.int64)
        place = self.chosen(r, p, rows, rows) - (r if self.side == "reference" else p).offsets[:-1]
        met = list(left if self.side == "reference" else right)
        for k, choice in zip(both, place.tolist(), strict=True):
            if isinstance(met[k], (list, tuple)):
                met[k] = met[k][choice]
        return self.inner.inside(met, right) if self.side == "reference" else self.inner.inside(left, met)

    def in_words(self) -> tuple[str, ...]:
        if not has_structure(self):
            return (str(self),)
        first, *more = self.inner.in_words()
        return (first, "any of several", *more)


def _flat(column: Any) -> tuple[Any, I64]:
    """The alternatives of a column one after the other, and the row of each."""
    if isinstance(column, Options):
        return column.items, column.owners
    return column, np.arange(len(column), dtype=np.int64)


def any_of(inner: Similarity, *, side: str = "reference") -> AnyOf:
    """Alternatives in the gold: the prediction is as good as its best alternative.

    >>> ts.any_of(ts.exact)(["Oslo", "Christiania"], "Christiania")
    1.0
    """
    return AnyOf(inner, side)
