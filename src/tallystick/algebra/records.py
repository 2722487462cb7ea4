"""Records: the product of the fields' similarities (eq. 2, "all or nothing") or their sum ("credit for each").

The product refines by its exact fields first; only what is left has to be scored. A sum cannot refine: its
pairs are the union of its fields' pairs, weights added. If one of the fields is dense, or exact with so few values that
almost everything is equal, the sum is taken on the frame of rectangles, where no sorting is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import repeat
from math import prod
from operator import eq, is_
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.exact import Near
from tallystick.algebra.missing import change_present
from tallystick.algebra.node import Change, Kernel, Named, Similarity, require
from tallystick.algebra.plain import Getter, Plain, Uncovered, equality, plain_parts
from tallystick.algebra.weights import Weighted
from tallystick.engine.arrays import (
    F64,
    I64,
    MOST_PAIRS,
    Blocks,
    Column,
    Fields,
    Frame,
    Maybe,
    Nothing,
    Pairs,
    Shared,
    Sums,
    look_up,
    numbered,
    union,
    unshared,
)
from tallystick.engine.data import Data, Scope, field, note_absence
from tallystick.engine.values import ABSENT, REFUSED, Refusals, fields_in
from tallystick.errors import MetricError
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


@frozen
class OfFields(Similarity):
    """What a product and a sum of fields share."""

    fields: Named
    structure = "record"
    carries_variables = True

    def __post_init__(self) -> None:
        require(len(self.fields) > 0, f"{self.name}() needs at least one field: {self.name}(name=exact)")
        for name, part in self.fields:
            if not isinstance(part, Similarity):
                what = "needs a similarity such as exact or match(exact)"
                raise MetricError(f"{self.name}({name}=...) {what}, found {part!r}")

    @property
    def is_leaf(self) -> bool:
        return False

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        for k, (name, part) in enumerate(self.fields):
            level = here.at(part.present, r.columns[k], p.columns[k])  # type: ignore[attr-defined]
            yield self._field_below(part, replace(level, path=f"{here.path}.{name}" if here.path else name))

    def _field_below(self, part: Similarity, level: Aligned) -> Aligned:
        raise NotImplementedError

    def looks_at(self) -> Mapping[str, Similarity | None]:
        return dict(self.fields)

    def accept(self, value: Any, path: str, refusals: Refusals) -> Any:
        found = fields_in(value, [name for name, _ in self.fields])
        if found is None:
            return refusals.refuse(value, path)
        changed = {}
        for name, part in self.fields:
            if name in found and not (found[name] is None and self.adds_up):
                kept = part.accept(found[name], f"{path}.{name}" if path else name, refusals)
                if kept is not found[name]:
                    changed[name] = kept if kept is not REFUSED else None if self.adds_up else part.void
            elif name not in found and not self.adds_up and not part.may_miss:
                changed[name] = ABSENT if part.exact_only else part.void
        return {**found, **changed} if changed else value

    @property
    def void(self) -> Any:
        return {name: part.void for name, part in self.fields}

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return {name: part.sample(rng, depth) for name, part in self.fields}

    def kernel(self, one_depth: bool = False) -> Kernel:
        parts = [part.kernel(one_depth) for _, part in self.fields]
        return parts[0] if len(parts) == 1 else self._kernel_of(parts, all(part.kernel for part in parts))

    def _kernel_of(self, parts: list[Kernel], kernels: bool) -> Kernel:
        raise NotImplementedError

    def bound(self) -> Similarity:
        carriers = [name for name, part in self.fields if part.has_variables]
        if len(carriers) == 1 and dict(self.fields)[carriers[0]].binds_here:
            return replace(self, fields=Named((n, part.bound() if n in carriers else part) for n, part in self.fields))
        return super().bound()


@frozen
class Record(OfFields):
    """The product of the fields' similarities (eq. 2)."""

    name = "record"
    says = "a product: all or nothing"

    @property
    def counts_empty(self) -> bool:
        return True

    def in_words(self) -> tuple[str, ...]:
        return ("all fields or nothing",)

    def _field_below(self, part: Similarity, level: Aligned) -> Aligned:
        level = replace(level, diagnostic=True)
        return level.present() if part.may_miss else level

    def _kernel_of(self, parts: list[Kernel], kernels: bool) -> Kernel:
        shaded = sum(not part.indicator for part in parts)
        strong = all(part.strong for part in parts) and shaded <= 1
        lemma = "a product of kernels (lemma 2)"
        return Kernel.joined(parts).because(lemma, kernel=kernels, strong=strong, indicator=shaded == 0)

    @property
    def softened(self) -> Similarity:
        return SumOfProduct(Named((name, part.softened or part) for name, part in self.fields))

    def bound(self) -> Similarity:
        carriers = [(name, part) for name, part in self.fields if part.has_variables]
        if len(carriers) > 1 and any(part.binds_here for _, part in carriers):
            names = " and ".join(name for name, _ in carriers)
            raise MetricError(f'{names} of a product share variables; with credit="each" they would be added up')
        return super().bound()

    def _change_variables(self, column: Fields, owners: I64, change: Change) -> Fields:
        both = zip(self.fields, column.columns, strict=True)
        return Fields(tuple(part.change_variables(inner, owners, change) for (_, part), inner in both))

    @property
    def exact_only(self) -> bool:
        return all(part.exact_only for _, part in self.fields)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Fields, Fields]:
        sides = []
        for name, part in self.fields:
            values = (field(side, name, scope, part.may_miss, part.absent) for side in (reference, predicted))
            sides.append(part.encode(*values, scope.field(name)))
        return Fields(tuple(s[0] for s in sides)), Fields(tuple(s[1] for s in sides))

    def plain(self) -> Plain | None:
        parts = plain_parts(part for _, part in self.fields)
        if parts is None:
            return None
        read = Getter(
            [name for name, _ in self.fields],
            [part.absent if part.may_miss else Uncovered for _, part in self.fields],
        )
        if all(one.equality for one in parts):
            sees = [one.see[0] for one in parts]
            columns = [one.every or partial(_see_each, one.see[0]) for one in parts]

            def every(values: Any) -> list[Any]:
                found = zip(*read.rows(values), strict=True)
                return (
                    list(zip(*(see(column) for see, column in zip(columns, found, strict=True)), strict=True))
                    if values
                    else []
                )

            return equality(lambda value: tuple([see(x) for see, x in zip(sees, read(value), strict=True)]), every)
        # What has to be equal is compared first.
        order = sorted(range(len(parts)), key=lambda k: not parts[k].equality)
        keys = sum(one.equality for one in parts)
        weighs = [parts[k].weigh for k in order[keys:]]

        def seeing(side: int) -> Any:
            sees = [(parts[k].see[side], k) for k in order]

            def see(value: Any) -> Any:
                found = read(value)
                seen = [see(found[k]) for see, k in sees]
                return tuple(seen[:keys]), seen[keys:]

            return see

        def weigh(a: Any, b: Any) -> float:
            if a[0] != b[0]:
                return 0.0
            weight = 1.0
            for one, x, y in zip(weighs, a[1], b[1], strict=True):
                weight *= one(x, y)
                if not weight:
                    return 0.0
            return weight

        def owning(side: int) -> Any:
            owns = [parts[k].own[side] for k in order[keys:]]
            return lambda seen: prod(own(x) for own, x in zip(owns, seen[1], strict=True))

        return Plain((seeing(0), seeing(1)), weigh, (owning(0), owning(1)))

    def refine(self, r: Fields, p: Fields, blocks: Blocks) -> Blocks:
        for k, (_, part) in enumerate(self.fields):
            if part.exact_only:
                blocks = part.refine(r.columns[k], p.columns[k], blocks)
        return blocks

    def _pairs(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        if blocks.aligned and self.exact_only:
            return self._equal_rows(r, p, blocks)
        refined = self.refine(r, p, blocks)
        rest = [(part, r.columns[k], p.columns[k]) for k, (_, part) in enumerate(self.fields) if not part.exact_only]
        listed = [one for one in rest if not isinstance(one[1], Shared)]
        shared = [one for one in rest if isinstance(one[1], Shared)]
        found: Pairs
        if listed:
            part, a, b = listed[0]
            found = part.pairs(a, b, refined)
        else:
            i, j = refined.pairs()
            found = Pairs(i, j, np.ones(len(i)))
        for part, a, b in listed[1:]:
            other = part.pairs(a, b, refined)
            found = found.scaled(look_up(other, found.i, found.j, len(p), len(r))).positive()
        for part, a, b in shared:
            # A shared value is scored under the blocks it lives in, once, and looked up for each pair.
            found = found.scaled(part.weights_at(a, b, blocks, found.i, found.j)).positive()
        return found

    def pairs_to_match(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        rest = [k for k, (_, part) in enumerate(self.fields) if not part.exact_only]
        if len(rest) != 1 or not isinstance(r, Fields) or not isinstance(p, Fields):
            return super().pairs_to_match(r, p, blocks)
        part: Similarity = self.fields[rest[0]][1]
        a, b = r.columns[rest[0]], p.columns[rest[0]]
        if isinstance(a, Shared):  # which is scored under the blocks that it lives in
            return super().pairs_to_match(r, p, blocks)
        return part.pairs_to_match(a, b, self.refine(r, p, blocks))

    def _equal_rows(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        """Row against row nothing has to be sorted: those that are equal in every field."""
        agree = np.zeros(len(r), np.int64)
        for (_, part), a, b in zip(self.fields, r.columns, p.columns, strict=True):
            agree[part.pairs(a, b, blocks).i] += 1
        rows = np.flatnonzero(agree == len(self.fields))
        return Pairs(rows, rows, np.ones(len(rows)))

    def _selves(self, column: Fields) -> F64:
        out = np.ones(len(column))
        for (_, part), inner in zip(self.fields, column.columns, strict=True):
            out *= part.selves(inner)
        return out


@frozen
class Each(OfFields):
    """The sum of the fields' similarities. A field that is None on both sides counts nothing on either."""

    name = "each"
    says = "a sum: credit for each field"
    adds_up = True

    def in_words(self) -> tuple[str, ...]:
        return ("each field counts",)

    def _field_below(self, part: Similarity, level: Aligned) -> Aligned:
        return level.present()

    def _kernel_of(self, parts: list[Kernel], kernels: bool) -> Kernel:
        return Kernel.joined(parts).because("a sum of kernels", kernel=kernels)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Fields, Fields]:
        sides = []
        for name, part in self.fields:
            ours, theirs = (field(side, name, scope, True, part.absent) for side in (reference, predicted))
            if not part.may_miss:
                note_absence(name, (reference, predicted), (ours, theirs), scope)
            sides.append(part.present.encode_present(ours, theirs, scope.field(name), part.missing))
        return Fields(tuple(s[0] for s in sides)), Fields(tuple(s[1] for s in sides))

    def plain(self) -> Plain | None:
        parts = plain_parts(part.present for _, part in self.fields)
        if parts is None:
            return None
        # A key that no record has is an error, and one that is not there on both sides may be that.
        read = Getter(
            [name for name, _ in self.fields],
            [part.absent if part.may_miss else Uncovered for _, part in self.fields],
        )
        missing = [part.missing for _, part in self.fields]
        nothing = object(), object()  # missing on both sides is no agreement
        counted = all(one.equality for one in parts)
        inside = [not part.present.is_leaf for _, part in self.fields]
        deep = [any(map(_has_parts, (part.present.looks_at() or {}).values())) for _, part in self.fields]

        def seeing(side: int) -> Any:
            none, plain = nothing[side], not any(missing)
            sees = [(one.see[side], lacks) for one, lacks in zip(parts, missing, strict=True)]
            if plain:
                quick = [see for see, _ in sees]
                return lambda value: [none if x is None else see(x) for see, x in zip(quick, read(value), strict=True)]

            def see(value: Any) -> Any:
                both = zip(sees, read(value), strict=True)
                return [none if (x is None if lacks is None else lacks(x)) else see(x) for (see, lacks), x in both]

            return see

        if counted:

            def counting(none: object) -> Any:
                return lambda seen: len(seen) - sum(map(is_, seen, repeat(none)))

            return Plain(
                (seeing(0), seeing(1)),
                lambda a, b: sum(map(eq, a, b)),
                (counting(nothing[0]), counting(nothing[1])),
            )
        weighs, owns = [one.weigh for one in parts], [one.own for one in parts]
        ours, theirs = nothing

        def weigh(a: Any, b: Any) -> float:
            total = 0.0
            for k, (x, y) in enumerate(zip(a, b, strict=True)):
                if x is not ours and y is not theirs:
                    total += weighs[k](x, y)
                elif inside[k] and _counts_nothing(owns[k], x, y, nothing, deep[k]):
                    raise Uncovered
            return total

        def numerators(a: Any, b: Any) -> tuple[float, float]:
            reference = predicted = 0.0
            for one, k, x, y in zip(parts, range(len(parts)), a, b, strict=True):
                if x is not ours and y is not theirs:
                    left, right = one.numerators(x, y)
                    reference, predicted = reference + left, predicted + right
                elif inside[k] and _counts_nothing(owns[k], x, y, nothing, deep[k]):
                    raise Uncovered
            return reference, predicted

        def owning(side: int) -> Any:
            each, none = [own[side] for own in owns], nothing[side]

            def own(seen: Any) -> float:
                total = 0.0
                for one, x in zip(each, seen, strict=True):
                    if x is not none:
                        total += one(x)
                return total

            return own

        two = numerators if self.two_numerators else None
        return Plain((seeing(0), seeing(1)), weigh, (owning(0), owning(1)), two)

    def by_field(self, column: Fields) -> list[Field]:
        """Name, similarity, values that are there, and their rows (None: all) of each field."""
        out: list[Field] = []
        for (name, part), inner in zip(self.fields, column.columns, strict=True):
            if isinstance(inner, Maybe):
                out.append((name, part.present, inner.present, inner.rows))
            else:
                out.append((name, part.present, inner, None))
        return out

    def one_sided(self, here: Aligned) -> Iterator[tuple[str, I64, I64]]:
        assert here.homes is not None
        for k, (name, part) in enumerate(self.fields):
            if part.present.is_leaf:
                continue
            level = here.at(part.present, here.reference.columns[k], here.predicted.columns[k])  # type: ignore[attr-defined]
            level = replace(level, path=f"{here.path}.{name}" if here.path else name)
            below = list(part.present.one_sided(self._field_below(part, level)))
            if not level.is_whole:
                yield level.path, *_empty_alone(level, below)
            yield from below

    def _pairs(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        both = list(zip(self.by_field(r), self.by_field(p), strict=True))
        dense = [_fills(*a[1:]) and _fills(*b[1:]) for a, b in both]
        crowds: list[Crowd | None] = [None] * len(both) if blocks.aligned else crowded(both, dense, blocks)
        found = [
            None if filled or crowd is not None else _field_pairs(a, b, blocks)
            for (a, b), filled, crowd in zip(both, dense, crowds, strict=True)
        ]
        if not any(dense) and not (any(crowds) and _sum_exactly(found, crowds)):
            parts = [_field_pairs(*both[k], blocks) if one is None else one for k, one in enumerate(found)]
            return _added(parts, len(r)) if blocks.aligned else union(parts, len(p), len(r))
        frame = blocks.frame
        flat = np.zeros(frame.size)
        # One field after the other, however it is filled in: the sums are the same to the last bit.
        for ((_, node, a, _), (_, _, b, _)), crowd, part in zip(both, crowds, found, strict=True):
            if part is not None:
                flat[frame.cells(part.i, part.j)] += part.weight
            elif crowd is not None:
                crowd.add_to(flat, frame)
            else:
                flat += node.fill(a, b, frame)
        return frame.pairs(flat)

    def _selves(self, column: Fields) -> F64:
        out = np.zeros(len(column))
        for _, node, values, rows in self.by_field(column):
            if rows is None:
                out += node.selves(values)
            else:
                out[rows] += node.selves(values)
        return out

    @property
    def two_numerators(self) -> bool:
        return any(part.two_numerators for _, part in self.fields)

    def _numerators(self, r: Any, p: Any, blocks: Blocks) -> Sums:
        # Each side's numerators of a sum are the sums of its fields' numerators, over the same pairs.
        sides: tuple[list[Pairs], list[Pairs], list[Pairs]] = ([], [], [])
        for (_, part, a, rows), (_, _, b, columns) in zip(self.by_field(r), self.by_field(p), strict=True):
            everywhere = rows is None and columns is None
            rows = np.arange(len(r)) if rows is None else rows
            columns = np.arange(len(p)) if columns is None else columns
            one = part.numerators(a, b, blocks if everywhere else blocks.at(rows, columns))
            for side, weights in zip(sides, (one.total, one.reference, one.predicted), strict=True):
                side.append(Pairs(one.i, one.j, weights).renumber(rows, columns))
        total, reference, predicted = (union(side, len(p), len(r)) for side in sides)
        return Sums(total.i, total.j, total.weight, reference.weight, predicted.weight)

    @property
    def all_or_nothing(self) -> bool:
        return not self.has_variables

    def scope_constraints(self) -> Iterator[str]:
        for _, part in self.fields:
            yield from part.present.scope_constraints()

    def scope_groups(self, r: Any, p: Any, rows: I64, columns: I64, blocks: Blocks, factor: float) -> Iterator[Any]:
        if not self.has_variables:
            yield from super().scope_groups(r, p, rows, columns, blocks, factor)
            return
        left: Any = unshared(r)
        right: Any = unshared(p)
        for (_, part, a, i), (_, _, b, j) in zip(self.by_field(left), self.by_field(right), strict=True):
            yield from part.scope_groups(
                a, b, rows if i is None else rows[i], columns if j is None else columns[j], blocks, factor
            )

    def _change_variables(self, column: Fields, owners: I64, change: Change) -> Fields:
        both = zip(self.fields, column.columns, strict=True)
        return Fields(tuple(change_present(part.present, inner, owners, change) for (_, part), inner in both))


def _see_each(see: Any, values: Any) -> list[Any]:
    return list(map(see, values))


def _has_parts(part: Similarity | None) -> bool:
    return part is not None and not part.present.is_leaf


def _counts_nothing(own: Any, x: Any, y: Any, nothing: tuple[object, object], deep: bool) -> bool:
    """Whether one side has something empty where the other has nothing at all, or may have it further inside (see `one_sided`)."""
    if x is not nothing[0]:
        return deep or bool(own[0](x) == 0)
    return y is not nothing[1] and (deep or bool(own[1](y) == 0))


@frozen
class SumOfProduct(Each):
    """The sum of a product's fields, over the product's own columns (where None is a value like others)."""

    def by_field(self, column: Fields) -> list[Field]:
        return [(name, part, inner, None) for (name, part), inner in zip(self.fields, column.columns, strict=True)]


def _empty_alone(level: Aligned, below: list[tuple[str, I64, I64]]) -> tuple[I64, I64]:
    """The documents in which one side has a value that counts nothing, and the other side has none, or no row at all. Where something
    inside of the value counts already (`below`), the value does not."""
    assert level.homes is not None
    sides, rows = (level.reference, level.predicted), (level.i, level.j)
    places = [side.position if isinstance(side, Maybe) else np.arange(len(side)) for side in sides]
    found = []
    for k, side in enumerate(sides):
        alone = places[k] >= 0
        alone[rows[k][places[1 - k][rows[1 - k]] >= 0]] = False
        own = level.node.selves(side.present if isinstance(side, Maybe) else side)
        some = np.flatnonzero(alone)
        homes = level.homes[k][some[own[places[k][some]] == 0]]
        found.append(homes[~np.isin(homes, np.concatenate([homes[:0], *(one[k + 1] for one in below)]))])
    return found[0], found[1]


def _present_on_both(rows: I64 | None, columns: I64 | None, n: int) -> tuple[I64, I64, I64]:
    """The rows that have a value on both sides, and where it stands among the values of each side."""
    place = np.full((2, n), -1, np.int64)
    for side, here in enumerate((rows, columns)):
        here = np.arange(n) if here is None else here
        place[side, here] = np.arange(len(here))
    both = np.flatnonzero((place >= 0).all(axis=0))
    return both, place[0, both], place[1, both]


def _added(parts: list[Pairs], n: int) -> Pairs:
    """The union of pairs of rows with themselves: weights added, nothing sorted."""
    total = np.zeros(n)
    for part in parts:
        total[part.i] += part.weight
    rows = np.flatnonzero(total > 0)
    return Pairs(rows, rows, total[rows])


def _field_pairs(ours: Field, theirs: Field, blocks: Blocks) -> Pairs:
    """The pairs of one field of a sum, as rows of the records."""
    (_, node, a, rows), (_, _, b, columns) = ours, theirs
    if rows is None and columns is None:
        return node.pairs(a, b, blocks)
    if blocks.aligned:
        here, left, right = _present_on_both(rows, columns, len(blocks.reference))
        return node.pairs(a.take(left), b.take(right), Blocks.diagonal(len(here))).renumber(here, here)
    rows = np.arange(len(blocks.reference)) if rows is None else rows
    columns = np.arange(len(blocks.predicted)) if columns is None else columns
    return node.pairs(a, b, blocks.at(rows, columns)).renumber(rows, columns)


def _sum_exactly(found: list[Pairs | None], crowds: list[Crowd | None]) -> bool:
    """Whether all weights are such that their sums are never rounded, so that it does not matter who adds them up."""
    weights = [part.weight for part in found if part is not None]
    weights.append(np.array([crowd.weight for crowd in crowds if crowd is not None]))
    return all(np.array_equal(np.floor(one * 1024), one * 1024) and one.max(initial=0) < 1 << 20 for one in weights)


def _fills(node: Similarity, values: Column, rows: I64 | None) -> bool:
    """Whether a field of a sum fills rectangles: every row has a value of its own."""
    return node.dense and rows is None and not isinstance(values, Shared)


def record(**fields: Similarity) -> Record:
    """All or nothing: the product of the fields' similarities (eq. 2).

    >>> ts.record(city=ts.exact, zip=ts.exact)({"city": "Oslo", "zip": "0150"}, {"city": "Oslo", "zip": "0151"})
    0.0
    """
    return Record(Named(fields.items()))


def each(**fields: Similarity) -> Each:
    """Credit for each field: the sum of the fields' similarities.

    >>> ts.f1(ts.each(city=ts.exact, zip=ts.exact))({"city": "Oslo", "zip": "0150"}, {"city": "Oslo", "zip": "0151"})
    0.5
    """
    return Each(Named(fields.items()))


# Fields of few values in a sum: a boolean is equal in half of all pairs, and nobody wants to list those.
#
# A sum of fields lists the pairs of each field and adds them up. Where a field's equal pairs are a good part of all pairs
# there are, its cells are filled in instead: compared in one go, nothing listed and nothing sorted. Which fields those are
# is estimated from a sample of their values.

Field: TypeAlias = "tuple[str, Similarity, Column, I64 | None]"
"""A field of a sum: name, similarity, the values that are there, and their rows (None: all)."""

SHARE = 1 / 8
"""If the equal pairs of all fields come to this share of the cells, filling the cells is cheaper than listing them."""
LEAST = 1024
"""With fewer cells than this it does not matter."""
SAMPLE = 1000


@frozen(eq=False)
class Crowd:
    """A key for each row of both sides (one that the other side never has, where there is no value), and what it is
    worth if they are equal."""

    reference: NDArray[Any]
    predicted: NDArray[Any]
    weight: float

    def add_to(self, flat: F64, frame: Frame) -> None:
        """Add the weight to all cells of a frame in which the keys are equal."""
        equal = frame.by_row(self.reference) == frame.by_column(self.predicted)
        np.add(flat, self.weight, out=flat, where=equal)


def crowded(both: list[tuple[Field, Field]], dense: list[bool], blocks: Blocks) -> list[Crowd | None]:
    """For each field what is to be filled in, or None if its pairs are listed (or dense anyway)."""
    nobody: list[Crowd | None] = [None] * len(both)
    if not LEAST <= blocks.cells <= MOST_PAIRS:
        return nobody
    keys = [None if filled else _keys(a, b) for (a, b), filled in zip(both, dense, strict=True)]
    shares = [0.0 if one is None else _share_equal(one[0]) for one in keys]
    if not any(dense) and sum(shares) < SHARE:
        return nobody
    out = nobody
    for k, (one, share) in enumerate(zip(keys, shares, strict=True)):
        if one is not None and share >= SHARE / 4:
            (_, _, _, rows), (_, _, _, columns) = both[k]
            small = np.int16 if one[0].bound < 1 << 15 else np.int64  # small numbers are fetched faster
            left = np.full(len(blocks.reference), -1, small)
            right = np.full(len(blocks.predicted), -2, small)
            left[slice(None) if rows is None else rows] = one[0].reference
            right[slice(None) if columns is None else columns] = one[0].predicted
            out[k] = Crowd(left, right, one[1])
    return out


def _keys(ours: Field, theirs: Field) -> tuple[Blocks, float] | None:
    """The keys of an exact field, and its weight; None if it is no exact field, or empty."""
    (_, node, a, _), (_, _, b, _) = ours, theirs
    a, b = numbered(a), numbered(b)
    weight = 1.0
    while isinstance(node, Weighted):
        weight *= node.weight
        node = node.inner
    if not node.exact_only or isinstance(a, (Shared, Nothing, Near)) or isinstance(b, (Shared, Nothing, Near)):
        return None
    if not len(a) or not len(b):
        return None
    return node.refine(a, b, Blocks(np.zeros(len(a), np.int64), np.zeros(len(b), np.int64), 1)), weight


def _share_equal(keys: Blocks) -> float:
    """How probable it is that two values are equal, from a sample of both sides."""
    left, right = (side[:: max(1, len(side) // SAMPLE)] for side in (keys.reference, keys.predicted))
    _, codes = np.unique(np.concatenate((left, right)), return_inverse=True)
    ours, theirs = (np.bincount(side, minlength=len(codes)) for side in (codes[: len(left)], codes[len(left) :]))
    return float(ours @ theirs) / (len(left) * len(right))
