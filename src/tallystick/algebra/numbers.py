"""Numbers, dates and ranges: close enough, or overlapping.

Both are found by sorting: inside a block only what lies in a window around a value can have φ > 0, so the pairs
are a sparse list however large the block is.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.kernel import DELTA, F_LEMMA, J_LEMMA, UNKNOWN, Kernel
from tallystick.algebra.node import Similarity, require
from tallystick.engine.arrays import F64, I64, Blocks, Pairs, expand
from tallystick.engine.data import Bag, Data, Leaf, Nullable, Objects, Scope, Unfit, field
from tallystick.engine.encoded import Numbers, different_values, leaf_values
from tallystick.engine.rows import as_objects, sliced
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random


def _windows(blocks: Blocks, low: F64, high: F64, keys: F64, closed: bool = True) -> tuple[I64, I64]:
    """All (i, j) of one block with low[i] ≤ keys[j] ≤ high[i] (or < high[i], if not closed)."""
    # Rank the keys of all blocks; a window is then a range of ranks inside the block's own run.
    dense = blocks.dense()
    order = np.lexsort((keys, dense.predicted))
    block, key = dense.predicted[order], keys[order]
    starts = np.searchsorted(block, np.arange(dense.bound + 1))
    first = _search(block, key, starts, dense.reference, low, "left")
    last = _search(block, key, starts, dense.reference, high, "right" if closed else "left")
    counts = np.maximum(last - first, 0)
    return np.repeat(np.arange(len(low), dtype=np.int64), counts), order[expand(first, counts)]


def _search(block: I64, key: F64, starts: I64, wanted_block: I64, wanted: F64, side: str) -> I64:
    """np.searchsorted inside each block's run: ranks of all keys turn it into one search over integers."""
    every = np.concatenate((key, wanted))
    ranks = np.unique(every, return_inverse=True)[1].astype(np.int64)
    n = len(every)
    packed = block * n + ranks[: len(key)]
    return np.searchsorted(packed, wanted_block * n + ranks[len(key) :], side=side).astype(np.int64)  # type: ignore[call-overload,no-any-return]


@frozen
class Number(Similarity):
    """1 if |a - b| ≤ max(absolute, relative * max(|a|, |b|)), as math.isclose has it."""

    absolute: float = 0.0
    relative: float = 0.0
    name = "number"

    def __post_init__(self) -> None:
        require(self.absolute >= 0 and 0 <= self.relative < 1, "number() needs absolute ≥ 0 and 0 ≤ relative < 1")

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA if self.absolute == self.relative == 0 else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.randrange(8) * max(self.absolute, 1) * 0.75

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        r, p = (Numbers((_floats(side, scope),)) for side in (reference, predicted))
        return r, p

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        (left,), (right,) = r.parts, p.parts
        # |b| can be as large as |a| / (1 - relative); what the wider window lets in is tested below.
        size = np.where(np.isinf(left), 0.0, np.abs(left))  # an infinity has no neighbours
        reach = np.maximum(self.absolute, self.relative * size / (1 - self.relative))
        reach += (size + reach) * 1e-12
        i, j = _windows(blocks, left - reach, left + reach, right)
        a, b = left[i], right[j]
        close = a == b
        finite = np.isfinite(a) & np.isfinite(b)
        a, b = a[finite], b[finite]
        within = np.maximum(self.absolute, self.relative * np.maximum(np.abs(a), np.abs(b)))
        close[finite] |= np.abs(a - b) <= within
        i, j = i[close], j[close]
        nan_i, nan_j = np.flatnonzero(np.isnan(left)), np.flatnonzero(np.isnan(right))
        k, m = blocks.at(nan_i, nan_j).pairs()
        i, j = np.concatenate((i, nan_i[k])), np.concatenate((j, nan_j[m]))
        return Pairs(i, j, np.ones(len(i)))


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
    """1 if two dates lie at most so many days apart. Dates, datetimes, or texts in ISO 8601."""

    days: float = 0.0
    name = "date"

    def __post_init__(self) -> None:
        require(self.days >= 0, "date() needs days ≥ 0")

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA if self.days == 0 else UNKNOWN

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return f"2024-01-{1 + rng.randrange(9):02d}"

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        r = Numbers((_moments(reference, scope, strict=True),))
        return r, Numbers((_moments(predicted, scope, strict=False),))

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        return Number(absolute=self.days * _DAY)._pairs(r, p, blocks)


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


KINDS = ("jaccard", "dice", "containment", "coverage", "any", "last")


@frozen
class Overlap(Similarity):
    """How much two ranges overlap. A range is a `range`, a pair, or a record with two ends.

    jaccard |∩| / |∪|; dice 2|∩| / (|a| + |b|); containment |∩| / |predicted|; coverage |∩| / |reference|;
    any 1 if they share something; last 1 if they end at the same place (a head-final head).
    """

    kind: str = "jaccard"
    start: str = "left"
    end: str = "right"
    inclusive: bool = True
    name = "overlap"

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

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        (left, left_end), (right, right_end) = r.parts, p.parts
        if self.kind == "last":
            i, j = _windows(blocks, left_end, left_end, right_end)
            return Pairs(i, j, np.ones(len(i)))
        # A partner starts before my end, and not earlier than the longest one before my start.
        longest = float((right_end - right).max(initial=0))
        i, j = _windows(blocks, left - longest, left_end, right)
        shared = np.minimum(left_end[i], right_end[j]) - np.maximum(left[i], right[j])
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


def number(absolute: float = 0.0, relative: float = 0.0) -> Number:
    """Numbers that are close enough."""
    return Number(absolute, relative)


def date(days: float = 0.0) -> Date:
    """Dates at most so many days apart."""
    return Date(days)


def overlap(kind: str = "jaccard", *, start: str = "left", end: str = "right", inclusive: bool = True) -> Overlap:
    """Overlap of ranges: jaccard, dice, containment, coverage, any, last."""
    return Overlap(kind, start, end, inclusive)
