"""Boxes in pictures, intervals in time.

box_iou()                     |∩| / |∪| of two boxes; over="predicted" |∩| / |predicted|, for regions in which boxes lie
interval(onset, offset)       1 if both ends are near enough
timeline()                    a whole collection of intervals as what it covers, moment by moment:

    reference   ──────    ────
    predicted      ───────
    both           ▔▔▔    ▔           Σ = ∫ min(how many of the reference, how many predicted) dt
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.node import Dense, Similarity, require
from tallystick.algebra.numbers import Overlap, windows
from tallystick.algebra.plain import Plain, leaf
from tallystick.engine.arrays import F64, Blocks, Frame, Items, Numbers, Pairs, offsets_of, sum_by_key, sum_by_owner
from tallystick.engine.data import Bag, Data, Objects, Scope, field, items, leaf_values
from tallystick.engine.values import Unfit
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

FORMS = ("xyxy", "xywh")
OVER = ("union", "reference", "predicted")
NOWHERE = (-1e300,) * 4
"""The box of what is no box: it meets nothing, and itself not either."""


@frozen
class BoxIoU(Dense):
    """Intersection over union of two boxes: (left, top, right, bottom), or (left, top, width, height) with `form="xywh"`."""

    form: str = "xyxy"
    over: str = "union"
    """What the intersection is divided by: the area of both, or of one of the sides."""
    name = "box_iou"
    drawn = "boxes"

    def __post_init__(self) -> None:
        for value, known, what in ((self.form, FORMS, "form"), (self.over, OVER, "over")):
            require(
                value in known,
                f"box_iou(): {what} must be {' or '.join(known)}, found {value!r}.{did_you_mean(value, known)}",
            )

    def mirrored(self) -> BoxIoU:
        turned = {"reference": "predicted", "predicted": "reference"}
        return BoxIoU(self.form, turned.get(self.over, self.over))

    @property
    def regular(self) -> bool:
        return True

    def sample(self, rng: Random, depth: int = 0) -> Any:
        left, top, width, height = rng.randrange(3), rng.randrange(3), rng.randint(1, 3), rng.randint(1, 3)
        return [left, top, width, height] if self.form == "xywh" else [left, top, left + width, top + height]

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        r, p = (Numbers(self._corners(side, scope)) for side in (reference, predicted))
        return r, p

    def _corners(self, data: Data, scope: Scope) -> tuple[F64, ...]:
        """Left, top, right and bottom of every box."""
        if isinstance(data, Bag):
            data = Objects([data.items[a:b] for a, b in zip(data.offsets, data.offsets[1:], strict=False)])  # type: ignore[index]
        values = leaf_values(data, scope) if not isinstance(data, Objects) else data.values
        rows = np.array([self.see(value, scope) for value in values], np.float64).reshape(-1, 4)
        return tuple(rows.T.copy())

    def see(self, value: Any, scope: Scope | None = None) -> tuple[float, ...]:
        if isinstance(value, Unfit):
            return NOWHERE
        try:
            left, top, right, bottom = map(float, value)
        except (TypeError, ValueError, OverflowError):
            expected = "(left, top, width, height)" if self.form == "xywh" else "(left, top, right, bottom)"
            raise ValueMismatch(f"at {scope}: expected {expected}, found {value!r:.60}") from None
        if self.form == "xywh":
            right, bottom = left + right, top + bottom
        if not (left <= right and top <= bottom):
            raise ValueMismatch(f"at {scope}: a box ends before it begins: {value!r:.60}")
        return left, top, right, bottom

    def fill(self, r: Numbers, p: Numbers, frame: Frame) -> F64:
        i, j = frame.all_pairs
        return iou([part[i] for part in r.parts], [part[j] for part in p.parts], self.over)

    def plain(self) -> Plain:
        return leaf(self.see, lambda a, b: float(iou(np.array(a)[:, None], np.array(b)[:, None], self.over)[0]))


def iou(a: Any, b: Any, over: str = "union") -> F64:
    """Of boxes given as arrays of left, top, right and bottom; two boxes without area are alike if they are the same."""
    width = np.minimum(a[2], b[2]) - np.maximum(a[0], b[0])
    height = np.minimum(a[3], b[3]) - np.maximum(a[1], b[1])
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    left, right = ((one[2] - one[0]) * (one[3] - one[1]) for one in (a, b))
    whole = {"union": left + right - shared, "reference": left, "predicted": right}[over]
    same = (a[0] == b[0]) & (a[1] == b[1]) & (a[2] == b[2]) & (a[3] == b[3]) & (a[0] > NOWHERE[0])
    return np.where(same, 1.0, np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0))


@frozen
class Interval(Similarity):
    """1 if two intervals begin at most `onset` apart and end at most `offset` apart, or `share` of the reference's length if that is
    more. Without `offset` the ends may be anywhere. With `digits`, distances are rounded first (mir_eval: 4)."""

    onset: float = 0.0
    offset: float | None = None
    share: float = 0.0
    digits: int | None = None
    swapped: bool = False
    name = "interval"
    drawn = "lanes"

    def __post_init__(self) -> None:
        require(
            self.onset >= 0 and (self.offset or 0) >= 0 and self.share >= 0, "interval() needs tolerances of 0 or more"
        )

    @property
    def regular(self) -> bool:
        return True

    def mirrored(self) -> Interval:
        return Interval(self.onset, self.offset, self.share, self.digits, not self.swapped)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        start = rng.randrange(4)
        return [start, start + rng.randint(1, 3)]

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Numbers, Numbers]:
        r, p = ENDS.encode(reference, predicted, scope)
        assert isinstance(r, Numbers)
        assert isinstance(p, Numbers)
        return r, p

    def _pairs(self, r: Numbers, p: Numbers, blocks: Blocks) -> Pairs:
        (left, left_end), (right, right_end) = r.parts, p.parts
        slack = 0.5 * 10.0**-self.digits if self.digits is not None else 1e-9 * (1 + self.onset)
        i, j = windows(blocks, left - self.onset - slack, left + self.onset + slack, right)
        near = self._distance(left[i] - right[j]) <= self.onset
        if self.offset is not None:
            whole = (right_end - right)[j] if self.swapped else (left_end - left)[i]
            near &= self._distance(left_end[i] - right_end[j]) <= np.maximum(self.offset, self.share * whole)
        return Pairs(i[near], j[near], np.ones(int(near.sum())))

    def _distance(self, difference: F64) -> F64:
        apart: F64 = np.abs(difference)
        return apart if self.digits is None else np.asarray(np.round(apart, self.digits), np.float64)


ENDS = Overlap("length", "start", "end", inclusive=False)
"""How intervals are read: (start, end), or a record with these two, the end exclusive."""


@frozen
class Timeline(Similarity):
    """∫ min(a(t), b(t)) dt, where a(t) is how many intervals of a collection cover the moment t; with itself, the length of all of them.
    `at` names the field in which each item has its interval; with "[*]" each item is a collection of intervals."""

    at: str = ""
    name = "timeline"
    says = "shared time"

    @property
    def regular(self) -> bool:
        return True

    def sample(self, rng: Random, depth: int = 0) -> Any:
        found = [ENDS.sample(rng) for _ in range(rng.randint(0, 3))]
        return [found] if self.at == "[*]" else [{self.at: one} for one in found] if self.at else found

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Items, Items]:
        inside, offsets, ends = scope.items(), [], []
        for side in (reference, predicted):
            found = items(side, scope)
            assert isinstance(found, Bag)
            within = items(found.items, inside) if self.at == "[*]" else None
            assert within is None or isinstance(within, Bag)
            offsets.append(found.offsets if within is None else within.offsets[found.offsets])
            named = self.at and within is None
            ends.append(
                within.items if within else field(found.items, self.at, inside, False) if named else found.items
            )
        r, p = ENDS.encode(ends[0], ends[1], inside.field(self.at) if self.at else inside)
        return Items(offsets[0], r), Items(offsets[1], p)

    def _pairs(self, r: Items, p: Items, blocks: Blocks) -> Pairs:
        a, b = steps(r), steps(p)
        (left, left_end, many), (right, right_end, others) = a.items.parts, b.items.parts  # type: ignore[attr-defined]
        longest = float((right_end - right).max(initial=0))
        i, j = windows(blocks.at(a.owners, b.owners), left - longest, left_end, right)
        shared = np.minimum(left_end[i], right_end[j]) - np.maximum(left[i], right[j])
        weight = np.maximum(shared, 0) * np.minimum(many[i], others[j])
        keys, sums = sum_by_key(a.owners[i] * len(p) + b.owners[j], max(1, len(r) * len(p)), weight)
        return Pairs(keys // max(1, len(p)), keys % max(1, len(p)), sums).positive()

    def _selves(self, column: Items) -> F64:
        start, end = column.items.parts  # type: ignore[attr-defined]
        return sum_by_owner(column.offsets, end - start)


def steps(column: Items) -> Items:
    """Each collection of intervals as stretches that do not overlap: where they start and end, and how many cover them."""
    start, end = column.items.parts  # type: ignore[attr-defined]
    owners = np.concatenate((column.owners, column.owners))
    times = np.concatenate((start, end))
    change = np.repeat((1, -1), len(start))
    order = np.lexsort((times, owners))
    owners, times, depth = owners[order], times[order], np.cumsum(change[order])
    kept = np.flatnonzero((depth[:-1] > 0) & (times[1:] > times[:-1])) if len(times) else np.empty(0, np.int64)
    counts = np.bincount(owners[kept], minlength=len(column))
    return Items(offsets_of(counts), Numbers((times[kept], times[kept + 1], depth[kept].astype(np.float64))))


def box_iou(form: str = "xyxy", over: str = "union") -> BoxIoU:
    """Intersection over union of boxes: (left, top, right, bottom), or "xywh"; or over the area of one side.

    >>> ts.box_iou()([0, 0, 2, 2], [0, 0, 2, 1]), ts.box_iou(over="predicted")([0, 0, 2, 2], [0, 0, 2, 1])
    (0.5, 1.0)
    """
    return BoxIoU(form, over)


def interval(
    onset: float = 0.0, offset: float | None = None, *, share: float = 0.0, digits: int | None = None
) -> Interval:
    """Intervals whose ends are near enough: notes, events, segments.

    >>> ts.interval(0.05)([0, 1], [0.02, 3])
    1.0
    """
    return Interval(onset, offset, share, digits)


def timeline(at: str = "") -> Timeline:
    """What two collections of intervals cover together, in seconds; `at` names the field of the intervals, or is "[*]" for collections of collections.

    >>> ts.f1(ts.timeline())([[0, 4]], [[2, 6]])
    0.5
    """
    return Timeline(at)
