"""What a metric node makes of one side's values: the columns that pairs are computed from.

Each kind can `take` rows, so that aligned rows can be followed downwards for explanations, and number its rows by content
(`number_rows`): rows with one number hold the same, as far as the node that made the column looks.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from itertools import chain
from operator import eq
from typing import Any, ClassVar, Protocol

import numpy as np

from tallystick.engine.arrays import F64, I64, Mask, expand, integers, number, offsets_of, sort_order, starts_of_runs
from tallystick.engine.data import Data, Index, Leaf, Nullable, Objects, Scope, as_objects, by_appearance, fields_of
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen


class Column(Protocol):
    """One side's rows for one node of a metric."""

    def __len__(self) -> int: ...

    def take(self, rows: I64) -> Column: ...

    def number_rows(self) -> Numbered: ...


Numbered = tuple[I64, int]
"""A number for each row, the same for rows of the same content, and a bound of the numbers (at least 1)."""


def number_jointly(parts: Iterable[Numbered], count: int) -> Numbered:
    """Rows that are the same in all of several parts."""
    codes, bound = np.zeros(count, np.int64), 1
    for more, width in parts:
        codes, bound = number(codes * width + more, bound * width)
    return codes, max(bound, 1)


@frozen(eq=False)
class Codes:
    """A leaf: an integer for each row, below `bound`; `values` is the table of what the codes stand for."""

    codes: I64
    bound: int
    values: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: I64) -> Codes:
        return Codes(self.codes[rows], self.bound, self.values)

    def number_rows(self) -> Numbered:
        codes, bound = number(self.codes, self.bound)
        return codes, max(bound, 1)


class Unnumbered(Codes):
    """A leaf that is only numbered when somebody asks for its codes: row against row, values are compared as they are."""

    def __init__(self, numbering: Numbering, side: int, rows: I64 | None = None) -> None:
        self.__dict__.update(numbering=numbering, side=side, rows=rows, values=())

    numbering: Numbering
    side: int
    rows: I64 | None

    def __len__(self) -> int:
        return len(self.numbering.sides[self.side]) if self.rows is None else len(self.rows)

    @cached_property
    def numbered(self) -> Codes:
        """The same rows, with codes."""
        every = self.numbering.columns[self.side]
        return every if self.rows is None else every.take(self.rows)

    @property
    def codes(self) -> I64:
        return self.numbered.codes

    @property
    def bound(self) -> int:
        return self.numbered.bound

    def take(self, rows: I64) -> Codes:
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        if self.numbering.known:
            return self.numbered.take(rows)
        return Unnumbered(self.numbering, self.side, rows if self.rows is None else self.rows[rows])

    def same(self, other: Unnumbered) -> Mask | None:
        """Row by row, whether the values are equal; None if the codes have to tell."""
        if self.numbering.known:
            return None
        if self.rows is None and other.rows is None:
            return np.ones(len(self), np.bool_) if self.side == other.side else self.numbering.same
        return self.numbering.compare(_rows_of(self), _rows_of(other))


def _rows_of(column: Unnumbered) -> Leaf | list[Any]:
    values = column.numbering.sides[column.side]
    if column.rows is None:
        return values
    return values.take(column.rows) if isinstance(values, Leaf) else [values[k] for k in column.rows.tolist()]


def numbered(column: Any) -> Any:
    """The same rows, with codes if they are a leaf that has none so far."""
    return column.numbered if isinstance(column, Unnumbered) else column


class Numbering:
    """Two leaves, how they are compared row by row, and their columns with codes, once those are asked for."""

    def __init__(
        self,
        sides: tuple[Leaf, Leaf] | tuple[list[Any], list[Any]],
        compare: Callable[[Any, Any], Mask | None],
        count: Callable[[], tuple[Codes, Codes]],
    ) -> None:
        self.sides, self.compare, self.count = sides, compare, count

    @cached_property
    def columns(self) -> tuple[Codes, Codes]:
        return self.count()

    @property
    def known(self) -> bool:
        """Whether the codes are there already."""
        return "columns" in self.__dict__

    @cached_property
    def same(self) -> Mask | None:
        """Row by row, whether the values are equal; None if there is no short way."""
        return self.compare(*self.sides)

    def both(self) -> tuple[Unnumbered, Unnumbered]:
        """The two columns."""
        return Unnumbered(self, 0), Unnumbered(self, 1)


@frozen(eq=False)
class Numbers:
    """A leaf of floats: one array for each part (a number has one, an interval two)."""

    parts: tuple[F64, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: I64) -> Numbers:
        return Numbers(tuple(part[rows] for part in self.parts))

    def number_rows(self) -> Numbered:
        every = (np.unique(part, return_inverse=True)[1].reshape(-1).astype(np.int64) for part in self.parts)
        return number_jointly(((codes, int(codes.max(initial=0)) + 1) for codes in every), len(self))


@frozen(eq=False)
class Fields:
    """A record: the columns of its fields."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: I64) -> Fields:
        return Fields(tuple(column.take(rows) for column in self.columns))

    def number_rows(self) -> Numbered:
        return number_jointly((column.number_rows() for column in self.columns), len(self))


@frozen(eq=False)
class Items:
    """Collections: row k owns `items[offsets[k]:offsets[k + 1]]`."""

    offsets: I64
    items: Column
    places: I64 | None = None
    """Where each item stood in its owner's collection, if some were left out; None if all are there."""

    in_order: ClassVar[bool] = False
    """Whether the order of the items means something."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def owners(self) -> I64:
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def item_rows(self, rows: I64) -> tuple[I64, I64]:
        """The item rows of some owners, one after the other, and their counts."""
        counts = self.offsets[rows + 1] - self.offsets[rows]
        return expand(self.offsets[rows], counts), counts

    def take(self, rows: I64) -> Items:
        item_rows, counts = self.item_rows(rows)
        places = None if self.places is None else self.places[item_rows]
        return replace(self, offsets=offsets_of(counts), items=self.items.take(item_rows), places=places)

    def distinct(self) -> Items:
        """Each collection as a set: of items that hold the same, the first."""
        codes, bound = self.items.number_rows()
        owners = self.owners
        keys = owners * bound + codes
        order = sort_order(keys, max(1, len(self) * bound))
        kept = np.sort(order[starts_of_runs(keys[order])])
        if len(kept) == len(owners):
            return self
        offsets = offsets_of(np.bincount(owners[kept], minlength=len(self)))
        return replace(self, offsets=offsets, items=self.items.take(kept), places=kept - self.offsets[owners[kept]])

    def number_rows(self) -> Numbered:
        codes, _ = self.items.number_rows()
        return number_lists(self.offsets, codes if self.in_order else self._sorted(codes))

    def _sorted(self, codes: I64) -> I64:
        return codes[np.lexsort((codes, self.owners))]


def number_lists(offsets: I64, codes: I64) -> Numbered:
    """Lists of numbers, one after the other, as numbers: equal for equal lists."""
    counts = np.diff(offsets)
    width = int(codes.max(initial=0)) + 1
    whole = np.zeros(len(counts), np.int64)
    for place in range(int(counts.max(initial=0))):
        longer = np.flatnonzero(counts > place)  # those that end before are told apart by their length
        bound = int(whole[longer].max(initial=0)) + 1
        whole[longer] = number(whole[longer] * width + codes[offsets[longer] + place], bound * width)[0]
    bound = int(whole.max(initial=0)) + 1
    found, n = number(counts * bound + whole, (int(counts.max(initial=0)) + 1) * bound)
    return found, max(n, 1)


@frozen(eq=False)
class Shared:
    """Composite values that occur many times: row k is `values[index[k]]`."""

    index: I64
    values: Column

    def __len__(self) -> int:
        return len(self.index)

    def take(self, rows: I64) -> Shared:
        return Shared(self.index[rows], self.values)

    def number_rows(self) -> Numbered:
        codes, bound = self.values.number_rows()
        return codes[self.index], bound


def unshared(column: Column) -> Column:
    """The same rows, each with a value of its own."""
    return column.values.take(column.index) if isinstance(column, Shared) else column


@frozen(eq=False)
class Maybe:
    """Values of which some are missing: row k is `present[position[k]]`, or nothing where that is -1."""

    position: I64
    present: Column

    def __len__(self) -> int:
        return len(self.position)

    @property
    def rows(self) -> I64:
        """The rows that have a value, in the order of `present`."""
        rows = np.flatnonzero(self.position >= 0)
        out = np.empty(len(self.present), np.int64)
        out[self.position[rows]] = rows
        return out

    def take(self, rows: I64) -> Maybe:
        position = self.position[rows]
        here = position >= 0
        fresh = np.full(len(rows), -1, np.int64)
        fresh[here] = np.arange(int(here.sum()))
        return Maybe(fresh, self.present.take(position[here]))

    def number_rows(self) -> Numbered:
        codes, bound = self.present.number_rows()
        every = np.zeros(len(self), np.int64)
        every[self.rows] = codes + 1
        return every, bound + 1


@frozen(eq=False)
class Alternatives:
    """Values of several cases: row k is `columns[case[k]][position[k]]`."""

    case: I64
    position: I64
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.case)

    def rows(self, case: int) -> I64:
        """The rows of one case, in the order of its column."""
        rows = np.flatnonzero(self.case == case)
        out = np.empty(len(rows), np.int64)
        out[self.position[rows]] = rows
        return out

    def take(self, rows: I64) -> Alternatives:
        case, position = self.case[rows], self.position[rows]
        fresh, columns = np.empty(len(rows), np.int64), []
        for k, column in enumerate(self.columns):
            here = np.flatnonzero(case == k)
            fresh[here] = np.arange(len(here))
            columns.append(column.take(position[here]))
        return Alternatives(case, fresh, tuple(columns))

    def number_rows(self) -> Numbered:
        every, bound = np.zeros(len(self), np.int64), 0
        for k, column in enumerate(self.columns):
            codes, more = column.number_rows()
            every[self.rows(k)] = codes + bound
            bound += more
        return every, max(bound, 1)


@frozen(eq=False)
class Nothing:
    """No rows at all: where a recursive type ends."""

    def __len__(self) -> int:
        return 0

    def take(self, rows: I64) -> Nothing:
        return self

    def number_rows(self) -> Numbered:
        return np.empty(0, np.int64), 1


# Values to integer codes, numbered jointly over both sides, so that equal code means equal value.
#
# Equality is Python's, with four corrections that a metric needs: NaN equals NaN; True is not 1; lists and
# dicts compare by content; and an object that can only be compared by identity is an error.

_NAN = ("NaN",)
_FLOATS = (float, np.floating)


def code_jointly(reference: Data, predicted: Data, scope: Scope) -> tuple[I64, I64, int]:
    """The codes of both sides and their bound."""
    if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
        found = reference.jointly(predicted)
        if found is not None:
            return found
    if isinstance(reference, (Leaf, Nullable)) or isinstance(predicted, (Leaf, Nullable)):
        (rows, ours), (lines, theirs) = different_values(reference, scope), different_values(predicted, scope)
        first, second, bound = _code_values(ours, theirs, scope, set(map(type, ours)) | set(map(type, theirs)))
        return (first if rows is None else first[rows]), (second if lines is None else second[lines]), bound
    left, right = leaf_values(reference, scope), leaf_values(predicted, scope)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and _alike(left, right):
        return code_arrays(left, right)
    return _code_values(list(left), list(right), scope, kinds_of(reference, left) | kinds_of(predicted, right))


def kinds_of(data: Data, values: Iterable[Any]) -> set[type]:
    """The classes of a column's values, which the column may know already."""
    return data.kinds if isinstance(data, Objects) else set(map(type, values))


def different_values(data: Data, scope: Scope) -> tuple[I64 | None, list[Any]]:
    """The values of a leaf column: each different one once, with every row's code; or all of them, with None."""
    if isinstance(data, Leaf):
        return data.different()
    if isinstance(data, Nullable):
        codes, values = different_values(data.present, scope)
        if codes is None:
            codes = np.arange(len(values), dtype=np.int64)
        every = np.full(len(data), len(values), np.int64)
        here = data.position >= 0
        every[here] = codes[data.position[here]]
        every, order = by_appearance(every, len(values) + 1)
        table = [*values, None]
        return every, [table[k] for k in order.tolist()]
    return None, list(leaf_values(data, scope))


def _code_values(left: list[Any], right: list[Any], scope: Scope, kinds: set[type]) -> tuple[I64, I64, int]:
    if kinds == {int}:
        try:
            return code_arrays(integers(left), integers(right))
        except OverflowError:
            pass
    elif kinds != {str}:
        left, right = comparable(left, kinds, scope), comparable(right, kinds, scope)
    table = number_values((left, right))
    return (
        *(np.fromiter(map(table.__getitem__, side), np.int64, len(side)) for side in (left, right)),
        len(table),
    )  # type: ignore[return-value]


def listed(reference: Data, predicted: Data) -> tuple[list[Any], list[Any], set[type]] | None:
    """The values of both sides and their kinds, if Python's `==` tells them apart as is said above, but for NaN."""
    if not (isinstance(reference, Objects) and isinstance(predicted, Objects)):
        return None
    left, right = reference.values, predicted.values
    if type(left) is not list or type(right) is not list:
        return None
    kinds = reference.kinds | predicted.kinds
    return (left, right, kinds) if kinds <= _PLAIN and (bool not in kinds or len(kinds) == 1) else None


def same_values(left: list[Any], right: list[Any], kinds: set[type]) -> Mask:
    """Row by row, whether values of such kinds are equal."""
    same = np.fromiter(map(eq, left, right), np.bool_, len(left))
    if float in kinds:
        for k in np.flatnonzero(~same).tolist():
            same[k] = left[k] != left[k] and right[k] != right[k]
    return same


def leaf_values(data: Data, scope: Scope) -> Sequence[Any] | np.ndarray:
    """The plain values of a leaf column."""
    if isinstance(data, Objects):
        return data.values
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Index):
        inner = leaf_values(data.values, scope)
        return inner[data.index] if isinstance(inner, np.ndarray) else [inner[k] for k in data.index.tolist()]
    return as_objects(data)


def number_values(sides: Iterable[Iterable[Any]]) -> dict[Any, int]:
    """Each different value with its number, in order of first appearance."""
    table: dict[Any, int] = {}
    for side in sides:
        table.update(dict.fromkeys(side, 0))
    for code, value in enumerate(table):
        table[value] = code
    return table


def _alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether NumPy compares the two as Python does: not True with 1, nor 1 with "1" after turning it into text."""
    kinds = {side.dtype.kind for side in (left, right) if len(side)}
    return len(kinds) < 2 and "O" not in kinds


def code_arrays(left: np.ndarray, right: np.ndarray) -> tuple[I64, I64, int]:
    """Both sides as codes, numbered jointly, and the bound of the codes."""
    both = (left, right)
    if all(side.dtype.kind in "iub" or len(side) == 0 for side in both):
        left, right = left.astype(np.int64, copy=False), right.astype(np.int64, copy=False)
        ends = [(int(side.min()), int(side.max())) for side in (left, right) if len(side)]
        low, high = (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else (0, 0)
        if high - low < 1 << 24:
            return left - low, right - low, high - low + 1
        if high - low < 1 << 62:  # renumbered once here, every later sort can pack key and row into one integer
            codes, bound = number(np.concatenate((left, right)) - low, high - low + 1)
            return codes[: len(left)], codes[len(left) :], bound
    _, codes = np.unique(np.concatenate((left, right)), return_inverse=True, equal_nan=True)
    codes = codes.astype(np.int64, copy=False)
    return codes[: len(left)], codes[len(left) :], int(codes.max(initial=0)) + 1


def comparable(values: Sequence[Any], kinds: Iterable[type], scope: Scope) -> list[Any]:
    """Values that Python's own equality and hash treat as is said above."""
    kinds = set(kinds)
    floats = any(issubclass(kind, _FLOATS) for kind in kinds)
    if kinds == {float} and not np.isnan(np.fromiter(values, np.float64, len(values))).any():
        floats = False
    if floats:
        values = [_NAN if isinstance(value, _FLOATS) and math.isnan(value) else value for value in values]
    if kinds & {bool, np.bool_} and len(kinds) > 1:
        values = [("bool", bool(value)) if isinstance(value, (bool, np.bool_)) else value for value in values]
    if kinds <= _PLAIN:
        return list(values)
    if kinds == {tuple} and set(map(type, chain.from_iterable(values))) <= _COMPARED_AS_THEY_ARE:
        return list(values)
    for kind in kinds:
        _require_equality(kind, scope)
    return list(values) if _hashable(values, kinds) else [freeze(value, scope) for value in values]


def _hashable(values: Sequence[Any], kinds: set[type]) -> bool:
    """Whether values can be keys as they are."""
    if any(kind.__hash__ is None or issubclass(kind, _CONTAINERS) or _made(kind) for kind in kinds):
        return False
    try:
        for value in values:
            hash(value)
    except TypeError:
        return False
    return True


_CONTAINERS = (tuple, frozenset)
_PLAIN = {str, int, float, bool, bytes, type(None), datetime.date, datetime.datetime}
"""Whatever is of these kinds can be hashed and compared."""
_COMPARED_AS_THEY_ARE = _PLAIN - {float, bool}


def _made(kind: type) -> bool:
    """Whether a record's equality was made from its fields, so that NaN and True in them have to be looked after."""
    if dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__"):
        code = getattr(kind.__eq__, "__code__", None)  # one that the user wrote has a file
        return code is not None and code.co_filename.startswith("<")
    return hasattr(kind, "__struct_fields__") or hasattr(kind, "model_fields")


def _require_equality(kind: type, scope: Scope) -> None:
    if _equality(kind) is object.__eq__ and not issubclass(kind, (Enum, type(None))):
        raise ValueMismatch(
            f"at {scope}: objects of {kind.__qualname__} compare only by identity; "
            f"make it a dataclass, or map it first: via(function, exact)"
        )


def freeze(value: Any, scope: Scope) -> Any:
    """A hashable stand-in: equal exactly when the values are equal by content."""
    if type(value) in _COMPARED_AS_THEY_ARE:
        return value
    if isinstance(value, _FLOATS):
        return _NAN if math.isnan(value) else value
    if isinstance(value, (bool, np.bool_)):
        return ("bool", bool(value))
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item, scope) for item in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(freeze(item, scope) for item in value)
    if isinstance(value, Mapping):
        return ("mapping", frozenset((freeze(k, scope), freeze(v, scope)) for k, v in value.items()))
    names = _state(value)
    if names is not None and (type(value).__hash__ is None or _made(type(value))):
        return (type(value), *(freeze(getattr(value, name), scope) for name in names))
    _require_equality(type(value), scope)
    try:
        hash(value)
    except TypeError:
        raise ValueMismatch(
            f"at {scope}: {type(value).__qualname__} {value!r:.60} cannot be compared; map it first: via(function, exact)"
        ) from None
    return value


def _state(value: Any) -> list[str] | None:
    """The fields that make up a record's content."""
    if dataclasses.is_dataclass(value):
        return [f.name for f in dataclasses.fields(value) if f.compare]
    return fields_of(type(value))


def _equality(kind: type) -> Any:
    """The method that a class compares by."""
    return kind.__eq__
