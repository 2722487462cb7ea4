"""Numbers, dates and ranges: close enough, or overlapping.

Both are found by sorting: inside a block only what lies in a window around a value can have φ > 0, so the pairs
are a sparse list however large the block is.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.exact import equal, near
from tallystick.algebra.node import DELTA, F_LEMMA, J_LEMMA, UNKNOWN, Kernel, Similarity, Table, options_of, require
from tallystick.algebra.plain import Getter, Plain, Uncovered, leaf
from tallystick.algebra.values import (
    PRECISIONS,
    Read,
    Reading,
    cut,
    decimal_marks,
    read_columns,
    read_date,
    read_number,
)
from tallystick.engine.arrays import F64, I64, Blocks, Column, Mask, Numbers, Pairs, distinct, expand, integers
from tallystick.engine.data import (
    Bag,
    Data,
    Leaf,
    Nullable,
    Objects,
    Scope,
    as_objects,
    different_values,
    field,
    leaf_values,
    sliced,
)
from tallystick.engine.values import Unfit
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


def windows(blocks: Blocks, low: F64, high: F64, keys: F64, closed: bool = True) -> tuple[I64, I64]:
    """All (i, j) of one block with low[i] ≤ keys[j] ≤ high[i] (or < high[i], if not closed)."""
    order, first, counts = _ranges(blocks.dense(), low, high, keys, closed)
    return np.repeat(np.arange(len(low), dtype=np.int64), counts), order[expand(first, counts)]


def _ranges(dense: Blocks, low: F64, high: F64, keys: F64, closed: bool = True) -> tuple[I64, I64, I64]:
    """The order of the keys by block and size, and for each window where it begins in that order and how many it holds."""
    # Rank the keys of all blocks; a window is then a range of ranks inside the block's own run.
    order = np.lexsort((keys, dense.predicted))
    block, key = dense.predicted[order], keys[order]
    first = _search(block, key, dense.reference, low, "left")
    last = _search(block, key, dense.reference, high, "right" if closed else "left")
    return order, first, np.maximum(last - first, 0)


def _search(block: I64, key: F64, wanted_block: I64, wanted: F64, side: str) -> I64:
    """np.searchsorted inside each block's run: ranks of all keys turn it into one search over integers."""
    if len(block) and bool(block[0] == block[-1]) and bool(np.all(wanted_block == block[0])):  # a single run
        return np.searchsorted(key, wanted, side=side)  # type: ignore[call-overload,no-any-return]
    every = np.concatenate((key, wanted))
    ranks = np.unique(every, return_inverse=True)[1].astype(np.int64)
    n = len(every)
    packed = block * n + ranks[: len(key)]
    return np.searchsorted(packed, wanted_block * n + ranks[len(key) :], side=side).astype(np.int64)  # type: ignore[call-overload,no-any-return]


NOISE = equal.noise
"""What floats may differ by where numbers are read from texts, as everywhere else in records."""
PERCENT = ("either", "fraction", "points")


@frozen
class Number(Similarity):
    """1 if |a - b| ≤ max(absolute, relative * max(|a|, |b|)), as math.isclose has it.

    With `parse`, texts are numbers, too: "1.234,50 €", "(1,200)", "12 %", "1e3". `parse` says which mark is the decimal one: "auto"
    (either, if a text could be both), "point", "comma", or a language. A `currency` or a `unit` beside a number has to "agree": if both
    sides name one, it is the same; "ignore" ignores it, and EUR or kg is what a number without one has. Units may also
    be a table of factors, {"kg": 1, "g": 0.001}. `percent` says what 12 % is: the "fraction" 0.12, 12 "points", or "either".
    """

    absolute: float = 0.0
    relative: float = 0.0
    parse: str = ""
    currency: str = "agree"
    unit: str | Table = "agree"
    percent: str = "either"
    name = "number"

    def __post_init__(self) -> None:
        require(self.absolute >= 0 and 0 <= self.relative < 1, "number() needs absolute ≥ 0 and 0 ≤ relative < 1")
        require(
            self.percent in PERCENT,
            f"number(): percent must be one of {', '.join(PERCENT)}, found {self.percent!r:.40}.{did_you_mean(self.percent, PERCENT)}",
        )
        if isinstance(self.unit, Table):
            for name, factor in self.unit:
                require(
                    isinstance(name, str) and isinstance(factor, (int, float)) and factor > 0,
                    f"number(): unit needs {{name: factor above 0}}, found {name!r}: {factor!r:.40}",
                )
        else:
            require(isinstance(self.unit, str), f"number(): unit must be a text or a table, found {self.unit!r:.60}")
        idle = (self.currency, self.unit, self.percent) != ("agree", "agree", "either") and not self.parse
        require(not idle, 'number(): currency, unit and percent are read from texts: add parse="auto"')
        if self.parse:
            decimal_marks(self.parse)

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        if not isinstance(spec, Mapping):
            return super().from_choice(spec)
        return number(**options_of(spec, *(f.name for f in fields(cls))))

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA if self.absolute == self.relative == 0 and not self.parse else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.randrange(8) * max(self.absolute, 1) * 0.75

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        if self.parse:
            return read_columns(self._read, reference, predicted, scope, beside=2)
        r, p = (Numbers((_floats(side, scope),)) for side in (reference, predicted))
        return r, p

    def plain(self) -> Plain | None:
        return None if self.parse else leaf(_see_number, partial(_is_near, self.absolute, self.relative))

    def reads(self, value: Any) -> bool:
        return bool(self.parse) and self._read(value) is not None

    def _read(self, value: Any) -> Reading | None:
        marks = decimal_marks(self.parse)
        count = len(marks) * (1 + (self.percent == "either"))
        if isinstance(value, str):
            found = read_number(value, marks, self.percent)
        elif isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__"):
            return None
        else:
            try:
                found = Read((float(value),) * count)
            except OverflowError:  # a whole number that no float holds equals itself only
                return None
        if found is None:
            return None
        values, currency, unit = found
        if isinstance(self.unit, Table):
            factors = {name.casefold(): factor for name, factor in self.unit}
            if unit and unit not in factors:
                return None
            values, unit = tuple(one * factors.get(unit, 1) for one in values), ""
        defaults = [
            "" if default == "ignore" else found or ("" if default == "agree" else str(default).casefold())
            for default, found in ((self.currency, currency.casefold()), (self.unit, unit))
        ]
        two = len(marks) == 2 and values[0] != values[1]
        return Reading(values, (defaults[0], defaults[1]), two=two)

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        if self.parse:
            return read_pairs(self, r, p, blocks, beside=2)
        return self.near_pairs(r.parts[0], p.parts[0], blocks)

    @np.errstate(over="ignore")  # what is too far apart for a float is infinitely far apart
    def near_pairs(self, left: F64, right: F64, blocks: Blocks) -> Pairs:
        """The pairs of numbers that are close enough."""
        if blocks.aligned:
            i = np.flatnonzero(self._close(left, right) | (np.isnan(left) & np.isnan(right)))
            return Pairs(i, i, np.ones(len(i)))
        return self._listed(left, right, blocks, *windows(blocks, *self._reach(left), right))

    def _reach(self, left: F64) -> tuple[F64, F64]:
        """A window around each number with all that is close to it, and perhaps a little more."""
        # |b| can be as large as |a| / (1 - relative); what the wider window lets in is tested below.
        size = np.where(np.isinf(left), 0.0, np.abs(left))  # an infinity has no neighbours
        relative = max(self.relative, NOISE if self.parse else 0.0)
        # The nearer relative is to 1, the more what is rounded in |a - b| and relative · |b| moves that end.
        reach = np.maximum(self.absolute, relative * size / max(1 - relative - 1e-15, 1e-300))
        reach += (size + reach) * 1e-12 + 1e-300
        return left - reach, left + reach

    def _listed(self, left: F64, right: F64, blocks: Blocks, i: I64, j: I64) -> Pairs:
        """Of the pairs (i, j) those that are close, and with them the pairs of what is no number."""
        close = self._close(left[i], right[j])
        i, j = i[close], j[close]
        nan_i, nan_j = np.flatnonzero(np.isnan(left)), np.flatnonzero(np.isnan(right))
        k, m = blocks.at(nan_i, nan_j).pairs()
        i, j = np.concatenate((i, nan_i[k])), np.concatenate((j, nan_j[m]))
        return Pairs(i, j, np.ones(len(i)))

    @np.errstate(over="ignore")
    def pairs_to_match(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        if self.parse or not isinstance(r, Numbers) or not isinstance(p, Numbers) or not len(r) or not len(p):
            return super().pairs_to_match(r, p, blocks)
        left, right = r.parts[0], p.parts[0]
        dense = blocks.dense()
        order, first, counts = _ranges(dense, *self._reach(left), right)
        rows = np.bincount(dense.reference, minlength=dense.bound)
        crowded = np.bincount(dense.reference, counts, dense.bound) > FEW_PAIRS * np.maximum(rows, LEAST_ROWS)
        found, crowd = Pairs.none(), np.flatnonzero(crowded[dense.reference] & ~np.isnan(left))
        if len(crowd):
            others = np.flatnonzero(crowded[dense.predicted] & ~np.isnan(right))
            there = _matched_in_order(self, left[crowd], right[others], dense.at(crowd, others))
            if there is None:
                return self.pairs(r, p, blocks)
            found = there.renumber(crowd, others)
            counts[crowd] = 0
        i, j = np.repeat(np.arange(len(left), dtype=np.int64), counts), order[expand(first, counts)]
        return Pairs.joined([self._listed(left, right, blocks, i, j), found])

    def _bounds(self, a: F64) -> tuple[F64, F64]:
        """The smallest and the largest number that is close to each a, up to rounding."""
        size = np.where(np.isinf(a), 0.0, np.abs(a))  # an infinity has no neighbours
        inwards, outwards = np.maximum(self.absolute, self.relative * size), self.absolute + size
        outwards = np.maximum(outwards, size / (1 - self.relative)) - size
        return a - np.where(a > 0, inwards, outwards), a + np.where(a > 0, outwards, inwards)

    def _close(self, a: F64, b: F64) -> Mask:
        close = a == b
        finite = np.isfinite(a) & np.isfinite(b)
        a, b = a[finite], b[finite]
        within = np.maximum(self.absolute, self.relative * np.maximum(np.abs(a), np.abs(b)))
        close[finite] |= np.abs(a - b) <= within
        if self.parse:
            close[finite] |= near(a, b, NOISE)
        return np.asarray(close, np.bool_)


FEW_PAIRS = 8
"""So many pairs for each number are listed and left to the solver,"""
LEAST_ROWS = 50
"""and for so many numbers whatever there is."""
_LARGEST = float(np.finfo(np.float64).max)


def _matched_in_order(node: Number, left: F64, right: F64, blocks: Blocks) -> Pairs | None:
    """A largest 1:1 matching of numbers that are close, without listing all that are; None if rounding is in the way.

    Laid out in order, what is close to a number is a run, and the runs of larger numbers begin and end later:

        left    10   11   12        right   10.4  11.2  12.5          numbers at most 1 apart
        runs    10: [10.4]   11: [10.4, 11.2]   12: [11.2, 12.5]

    So each takes the first of its run that is free: whoever comes later can do at least as well with what is left.
    """
    dense = blocks.dense()
    rows, columns = np.lexsort((left, dense.reference)), np.lexsort((right, dense.predicted))
    sides = (dense.reference[rows], left[rows]), (dense.predicted[columns], right[columns])
    first, last = _runs(node, *sides)
    # Rounding could blur the ends of runs, but not from both sides (of two numbers the larger one has the say): if all are in order,
    # all are right.
    for ends in (first, last, *_runs(node, *reversed(sides))):
        if np.any(ends[1:] < ends[:-1]):
            return None
    hit: list[int] = []
    taken: list[int] = []
    free = 0
    for row, begin, end in zip(range(len(rows)), first.tolist(), last.tolist(), strict=True):
        if begin > free:
            free = begin
        if free < end:
            hit.append(row)
            taken.append(free)
            free += 1
    return Pairs(rows[integers(hit)], columns[integers(taken)], np.ones(len(hit)))


def _runs(node: Number, one: tuple[I64, F64], other: tuple[I64, F64]) -> tuple[I64, I64]:
    """For each number, in order of blocks and size, where what is close to it begins and ends among the others."""
    (block, values), (blocks, others) = one, other
    low, high = node._bounds(values)
    ends = []
    for edge, first in ((low, True), (high, False)):
        edge = np.where(np.isinf(values), values, np.clip(edge, -_LARGEST, _LARGEST))
        rounding = max(1e-12, 1e-15 / (1 - node.relative))
        blur = np.where(np.isinf(edge), 0.0, np.abs(edge) * rounding + np.abs(values) * rounding) + 1e-300
        inner = np.minimum(edge + blur, values) if first else np.maximum(edge - blur, values)
        outer = edge - blur if first else edge + blur
        inside, outside = (_search(blocks, others, block, at, "left" if first else "right") for at in (inner, outer))
        # Between the two it takes a look: halves, until what is close and what is not lie side by side.
        while np.any(open_ := inside != outside):
            middle = (inside + outside) // 2 if first else (inside + outside + 1) // 2
            close = open_.copy()
            close[open_] = node._close(values[open_], others[middle[open_] - (not first)])
            inside = np.where(open_ & close, middle, inside)
            outside = np.where(open_ & ~close, middle + 1 if first else middle - 1, outside)
        ends.append(inside)
    return ends[0], np.maximum(ends[0], ends[1])


def _see_number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise Uncovered
    return float(value)


def _is_near(absolute: float, relative: float, a: float, b: float) -> float:
    if a == b:
        return 1.0
    if isfinite(a) and isfinite(b):
        return float(abs(a - b) <= max(absolute, relative * max(abs(a), abs(b))))
    return float(a != a and b != b)


def read_pairs(node: Number, r: Numbers, p: Numbers, blocks: Blocks, beside: int) -> Pairs:
    """Pairs of values that were read (`read_columns`): of one kind, near under one of the conventions, and what stands beside
    them agrees."""
    width = len(r.parts) - beside - 1
    kinds = r.parts[-1].astype(np.int64), p.parts[-1].astype(np.int64)
    both = [(r.parts[k], p.parts[k]) for k in range(width)]
    both = [one for k, one in enumerate(both) if not any(_same(one, other) for other in both[:k])]
    if blocks.aligned:
        close = np.logical_or.reduce([node._close(a, b) for a, b in both]) & (kinds[0] == kinds[1])
        i = j = np.flatnonzero(close)
    else:
        bound = 1 + int(max(kinds[0].max(initial=0), kinds[1].max(initial=0)))
        inside = blocks.refine(*kinds, bound)
        found = [node.near_pairs(a, b, inside) for a, b in both]
        keys = found[0].i * len(p) + found[0].j
        keys = keys if len(found) == 1 else distinct(np.concatenate([one.i * len(p) + one.j for one in found]))
        i, j = keys // max(len(p), 1), keys % max(len(p), 1)
    for a, b in zip(r.parts[width:-1], p.parts[width:-1], strict=True):
        agree = (a[i] == 0) | (b[j] == 0) | (a[i] == b[j])
        i, j = i[agree], j[agree]
    return Pairs(i, j, np.ones(len(i)))


def _same(one: tuple[F64, F64], other: tuple[F64, F64]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def _floats(data: Data, scope: Scope) -> F64:
    if isinstance(data, Leaf):
        found = data.numbers()
        if found is not None:
            return found
    if isinstance(data, (Leaf, Nullable)):
        rows, different = different_values(data, scope)
        return _floats(Objects(different), scope)[rows]
    values = leaf_values(data, scope)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    kinds = set(map(type, values))
    for value in () if kinds <= {int, float} else values:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            try:
                if not isinstance(value, (str, bytes, bool)) and hasattr(value, "__float__"):
                    continue  # Decimal, Fraction
            except TypeError:
                pass
            hint = "; if it may be missing, wrap it: optional(...)" if value is None else ""
            raise ValueMismatch(f"at {scope}: expected a number, found {type(value).__name__} {value!r:.60}{hint}")
    try:
        return np.fromiter(map(float, values), np.float64, len(values))
    except OverflowError:
        raise ValueMismatch(f"at {scope}: a number is too large for a float; compare it with exact") from None


@frozen
class Date(Similarity):
    """1 if two dates lie at most so many days apart. Dates, datetimes, or texts in ISO 8601.

    With `parse`, `formats` or `dayfirst`, texts in other spellings are dates, too: 03.04.2024, "3rd of April 2024". `parse` is "auto" (the
    usual spellings, with months in seven languages) or a language; `formats` are those of Python's strptime, and come
    first. `dayfirst` says what 03/04/2024 is; if it does not, either is right. `precision` (year, month, day, hour, minute, second) says how much
    of a date counts.
    """

    days: float = 0.0
    parse: str = ""
    formats: tuple[str, ...] = ()
    dayfirst: bool | None = None
    precision: str = ""
    name = "date"

    def __post_init__(self) -> None:
        require(self.days >= 0, "date() needs days ≥ 0")
        require(
            self.dayfirst in (None, True, False), f"date(): dayfirst must be true or false, found {self.dayfirst!r:.40}"
        )
        require(
            self.precision in ("", *PRECISIONS),
            f"date(): precision must be one of {', '.join(PRECISIONS)}, found {self.precision!r:.40}."
            f"{did_you_mean(self.precision, PRECISIONS)}",
        )
        for one in self.formats:
            require("%" in one, f"date(): formats are those of strptime, such as %d.%m.%Y; found {one!r:.40}")
        if self.parse not in ("", "auto"):
            read_date("1 January 2000", self.parse)  # says if there is no such language

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        if not isinstance(spec, Mapping):
            return super().from_choice(spec)
        return date(**options_of(spec, *(f.name for f in fields(cls))))

    @property
    def _reads(self) -> bool:
        return bool(self.parse or self.formats or self.precision) or self.dayfirst is not None

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA if self.days == 0 and not self._reads else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return f"2024-01-{1 + rng.randrange(9):02d}"

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        if self._reads:
            return read_columns(self._read, reference, predicted, scope)
        r = Numbers((_moments(reference, scope, strict=True),))
        return r, Numbers((_moments(predicted, scope, strict=False),))

    def plain(self) -> Plain | None:
        if self._reads:
            return None

        def seeing(strict: bool) -> Any:
            def see(value: Any) -> float:
                if type(value) not in (str, datetime.date, datetime.datetime):
                    raise Uncovered
                return _moment(value, Scope(), strict)

            return see

        return leaf(seeing(True), partial(_is_near, self.days * _DAY, 0.0), seeing(False))

    def reads(self, value: Any) -> bool:
        return self._reads and self._read(value) is not None

    def _read(self, value: Any) -> Reading | None:
        if isinstance(value, str):
            found = read_date(value, "" if self.parse == "auto" else self.parse, self.formats)
        elif isinstance(value, datetime.date):
            moment = (
                value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)
            )
            found = (moment, 3), (moment, 3)
        else:
            return None
        if found is None:
            return None
        if self.dayfirst is not None:
            found = (found[0 if self.dayfirst else 1],) * 2
        said = min(found[0][1], PRECISIONS.index(self.precision) + 1 if self.precision else 3)
        values = tuple(_moment(cut(moment, self.precision), Scope(), True) for moment, _ in found)
        return Reading(values, kind=said, two=values[0] != values[1])

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        node = Number(absolute=self.days * _DAY)
        return read_pairs(node, r, p, blocks, beside=0) if self._reads else node._pairs(r, p, blocks)

    def pairs_to_match(self, r: Column, p: Column, blocks: Blocks) -> Pairs:
        if self._reads:
            return super().pairs_to_match(r, p, blocks)
        return Number(absolute=self.days * _DAY).pairs_to_match(r, p, blocks)


_DAY = 86_400_000_000
_EPOCH = datetime.datetime(1970, 1, 1)


def _moments(data: Data, scope: Scope, strict: bool) -> F64:
    """A predicted text that is no date is a wrong value, like any other; in the reference it is an error."""
    rows, values = different_values(data, scope)
    known: dict[Any, float] = {}
    for value in values:
        if isinstance(value, (dict, list, set)):  # cannot be a key, and is no date
            _moment(value, scope, strict)
        if value not in known:
            known[value] = _moment(value, scope, strict)
    moments = np.fromiter(map(known.__getitem__, values), np.float64, len(values))
    return moments if rows is None else moments[rows]


def _moment(value: Any, scope: Scope, strict: bool) -> float:
    """Microseconds since 1970: whole numbers, which a float holds exactly for centuries around it."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            if not strict:
                return float("inf")
            raise ValueMismatch(f"at {scope}: expected a date such as 2024-05-31, found {value!r:.60}") from None
    if isinstance(value, datetime.datetime):
        shift = value.utcoffset() or datetime.timedelta()
        return float((value.replace(tzinfo=None) - _EPOCH - shift) // datetime.timedelta(microseconds=1))
    if isinstance(value, Unfit):
        return float(value)
    if isinstance(value, datetime.date):
        return float((value.toordinal() - _EPOCH.toordinal()) * _DAY)
    hint = "; if it may be missing, wrap it: optional(...)" if value is None else ""
    raise ValueMismatch(f"at {scope}: expected a date, found {type(value).__name__} {value!r:.60}{hint}")


KINDS = ("jaccard", "dice", "containment", "coverage", "length", "any", "last")


@frozen
class Overlap(Similarity):
    """How much two ranges overlap. A range is a `range`, a pair, or a record with two ends.

    jaccard |∩| / |∪|; dice 2|∩| / (|a| + |b|); containment |∩| / |predicted|; coverage |∩| / |reference|; length |∩| itself (seconds,
    characters); any 1 if they share something; last 1 if they end at the same place (a head-final head).
    """

    kind: str = "jaccard"
    start: str = "left"
    end: str = "right"
    inclusive: bool = True
    name = "overlap"
    drawn = "lanes"

    def __post_init__(self) -> None:
        require(
            self.kind in KINDS,
            f"unknown overlap {self.kind!r}; expected one of {', '.join(KINDS)}.{did_you_mean(self.kind, KINDS)}",
        )

    def kernel(self, one_depth: bool = False) -> Kernel:
        lemma = {"jaccard": J_LEMMA, "dice": F_LEMMA}.get(self.kind)
        return UNKNOWN if lemma is None else UNKNOWN.because("ranges are sets").because(lemma)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        start = rng.randrange(4)
        return {self.start: start, self.end: start + rng.randint(1, 4)}

    def mirrored(self) -> Overlap:
        turned = {"containment": "coverage", "coverage": "containment"}.get(self.kind, self.kind)
        return Overlap(turned, self.start, self.end, self.inclusive)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        r, p = (Numbers(self._ends(side, scope)) for side in (reference, predicted))
        return r, p

    def _ends(self, data: Data, scope: Scope) -> tuple[F64, F64]:
        """Start and end, the end exclusive."""
        if isinstance(data, Objects):
            data = self._placed(data)
            if data.values and all(isinstance(v, range) for v in data.values):
                return _ends_of_ranges(data.values, scope)
        start, end = self._two_ends(data, scope)
        end = end + 1 if self.inclusive else end
        wrong = np.flatnonzero(end < start)
        if len(wrong):
            raise ValueMismatch(f"at {scope}: a range ends before it starts: {start[wrong[0]]:g} to {end[wrong[0]]:g}")
        return start, end

    def _placed(self, data: Objects) -> Objects:
        """With an empty range, far from everything, in the place of what is no range."""
        if not any(isinstance(v, Unfit) for v in data.values):
            return data
        pairs = any(isinstance(v, (tuple, list)) for v in data.values)
        nowhere: Any = (-1e300, -1e300) if pairs else {self.start: -1e300, self.end: -1e300}
        return Objects([nowhere if isinstance(v, Unfit) else v for v in data.values])

    def _two_ends(self, data: Data, scope: Scope) -> tuple[F64, F64]:
        """The numbers of pairs, or the two fields of records."""
        if isinstance(data, Bag):
            wrong = np.flatnonzero(np.diff(data.offsets) != 2)
            if len(wrong):
                found = as_objects(sliced(data, int(wrong[0]), int(wrong[0]) + 1))[0]
                raise ValueMismatch(f"at {scope}: expected (start, end), found {found!r:.60}")
            ends = _floats(data.items, scope)
            return ends[::2], ends[1::2]
        first = data.values[0] if isinstance(data, Objects) and data.values else None
        if isinstance(data, Objects) and isinstance(first, (tuple, list)) and not hasattr(first, self.start):
            for v in data.values:
                if len(v) != 2:
                    raise ValueMismatch(f"at {scope}: expected (start, end), found {v!r:.60}")
            start, end = (_floats(Objects([v[k] for v in data.values]), scope) for k in (0, 1))
        else:
            start, end = (
                _floats(field(data, name, scope, False), scope.field(name)) for name in (self.start, self.end)
            )
        return start, end

    def plain(self) -> Plain:
        read, more, kind = Getter((self.start, self.end), (Uncovered, Uncovered)), int(self.inclusive), self.kind

        def see(value: Any) -> tuple[int, float, float]:
            """How the range is written, start and end, the end exclusive."""
            if type(value) is range:
                if value.step != 1:
                    raise Uncovered
                return 0, float(value.start), float(max(value.stop, value.start))
            pair = type(value) in (tuple, list)
            start, end = value if pair else read(value)
            start, end = _see_number(start), _see_number(end) + more
            if not start <= end:
                raise Uncovered
            return 1 + pair, start, end

        def own(a: tuple[int, float, float]) -> float:
            return a[2] - a[1] if kind == "length" else 1.0

        def weigh(a: tuple[int, float, float], b: tuple[int, float, float]) -> float:
            (form, left, left_end), (other, right, right_end) = a, b
            if form != other:
                raise Uncovered
            if kind == "last":
                return float(left_end == right_end)
            ours, theirs = left_end - left, right_end - right
            shared = min(left_end, right_end) - max(left, right)
            if kind == "length":
                return max(shared, 0.0)
            if left == right and ours == theirs:
                return 1.0
            if shared <= 0:
                return 0.0
            if kind == "any":
                return 1.0
            if kind == "dice":
                return 2 * shared / (ours + theirs)
            return shared / {"jaccard": ours + theirs - shared, "containment": theirs, "coverage": ours}[kind]

        return Plain((see, see), weigh, (own, own))

    def _selves(self, column: Numbers) -> F64:
        start, end = column.parts
        return end - start if self.kind == "length" else np.ones(len(column))

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        (left, left_end), (right, right_end) = r.parts, p.parts
        if self.kind == "last":
            i, j = windows(blocks, left_end, left_end, right_end)
            return Pairs(i, j, np.ones(len(i)))
        # A partner starts before my end, and not earlier than the longest one before my start.
        longest = float((right_end - right).max(initial=0))
        i, j = windows(blocks, left - longest, left_end, right)
        shared = np.minimum(left_end[i], right_end[j]) - np.maximum(left[i], right[j])
        if self.kind == "length":
            return Pairs(i, j, shared).positive()
        ours, theirs = (left_end - left)[i], (right_end - right)[j]
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = {
                "jaccard": shared / (ours + theirs - shared),
                "dice": 2 * shared / (ours + theirs),
                "containment": shared / theirs,
                "coverage": shared / ours,
                "any": np.ones(len(i)),
            }[self.kind]
        same = (left[i] == right[j]) & (ours == theirs)  # an empty range equals itself
        weight = np.where(same, 1.0, np.where(shared > 0, weight, 0.0))
        return Pairs(i, j, weight).positive()


def _ends_of_ranges(values: Sequence[range], scope: Scope) -> tuple[F64, F64]:
    for v in values:
        if v.step != 1:
            raise ValueMismatch(f"at {scope}: expected ranges with step 1, found {v!r}")
    try:
        return (
            np.array([v.start for v in values], np.float64),
            np.array([max(v.stop, v.start) for v in values], np.float64),
        )
    except OverflowError:
        raise ValueMismatch(f"at {scope}: a range ends beyond what a float holds") from None


def number(
    absolute: float = 0.0,
    relative: float = 0.0,
    *,
    parse: str = "",
    currency: str = "agree",
    unit: str | Mapping[str, float] = "agree",
    percent: str = "either",
) -> Number:
    """Numbers that are close enough; with `parse="auto"` in texts, too: "1.234,50 €", "(1,200)", "12 %".

    >>> ts.number(relative=0.01)(1000, 1005)
    1.0
    >>> ts.number(parse="auto")(1234.5, "1.234,50 €")
    1.0
    """
    units = unit if isinstance(unit, str) else Table.of(unit, "number(unit=...)")
    return Number(absolute, relative, parse, currency, units, percent)


def date(
    days: float = 0.0,
    *,
    parse: str = "",
    formats: Sequence[str] = (),
    dayfirst: bool | None = None,
    precision: str = "",
) -> Date:
    """Dates at most so many days apart; with `parse="auto"` in other spellings than ISO 8601, too.

    >>> ts.date(days=1)("2024-05-17", "2024-05-18")
    1.0
    >>> ts.date(parse="auto")("2024-05-17", "17 May 2024")
    1.0
    """
    listed = (formats,) if isinstance(formats, str) else tuple(formats)
    return Date(days, parse, listed, dayfirst, precision)


def overlap(kind: str = "jaccard", *, start: str = "left", end: str = "right", inclusive: bool = True) -> Overlap:
    """Overlap of ranges: jaccard, dice, containment, coverage, length, any, last.

    >>> ts.overlap("jaccard")({"left": 0, "right": 3}, {"left": 2, "right": 5})
    0.3333333333333333
    """
    return Overlap(kind, start, end, inclusive)
