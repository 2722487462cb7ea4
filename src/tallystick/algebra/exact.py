"""δ, equality (eq. 1). It lists no pairs; it refines blocks.

exact       equal as Python has it
equal       equal to whoever reads it: whatever Unicode form and white space a text is in, whatever noise a float carries
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import fractions
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tallystick.algebra.alignment import Aligned
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import DELTA, UNKNOWN, Around, Kernel, Similarity, has_structure, require
from tallystick.algebra.plain import Getter, Plain, Uncovered, equality, plain_parts, see_value, see_values
from tallystick.algebra.text import are_plain, plain_text
from tallystick.engine.arrays import (
    F64,
    I64,
    Blocks,
    Codes,
    Fields,
    Mask,
    Numbering,
    Pairs,
    Unnumbered,
    distinct,
    numbered,
)
from tallystick.engine.data import Data, Leaf, Scope, code_jointly, different_values, field, listed, note_absence
from tallystick.engine.values import Unfit, comparable, number_values, same_values
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

LETTERS = 4
"""Different values in a random sample: few enough that they meet."""


SCALARS = {str, int, float, bool}
"""Kinds of values that are always comparable, so that nobody has to try."""


@frozen
class Exact(Similarity):
    """1 if the values are equal, else 0.

    >>> ts.exact("Oslo", "Oslo"), ts.exact("Oslo", "oslo")
    (1.0, 0.0)
    >>> ts.exact(1, True)
    0.0
    """

    name = "exact"
    says = "equal or not"

    def __repr__(self) -> str:
        return "exact"

    @property
    def exact_only(self) -> bool:
        return True

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.randrange(LETTERS)

    def _takes(self, value: Any) -> bool:
        return type(value) in SCALARS or _is_unfit_scalar(value) or super()._takes(value)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        here = scope.alone()

        def count() -> tuple[Codes, Codes]:
            left, right, bound = code_jointly(reference, predicted, here)
            return Codes(left, bound), Codes(right, bound)

        if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
            return Numbering((reference, predicted), lambda a, b: a.same(b), count).both()
        found = listed(reference, predicted)
        if found is not None:
            left, right, kinds = found
            return Numbering((left, right), lambda a, b: same_values(a, b, kinds), count).both()
        return count()

    def plain(self) -> Plain:
        return equality(see_value, see_values)

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        return blocks.refine(r.codes, p.codes, r.bound)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        if blocks.aligned:  # row against row: nothing to sort
            same = r.same(p) if isinstance(r, Unnumbered) and isinstance(p, Unnumbered) else None
            i = j = np.flatnonzero(r.codes == p.codes if same is None else same)
        else:
            i, j = self.refine(r, p, blocks).pairs()
        return Pairs(i, j, np.ones(len(i)))


exact = Exact()


# Equal to whoever reads it.
#
# Texts are equal if they look the same: in one Unicode form, with one blank for any white space. Numbers are equal if they differ
# by no more than the noise of floats, relative to the larger: |a - b| ≤ noise · max(|a|, |b|), and by less than a thousandth; but two
# whole numbers only if they are the same. Nearness is no equality as long as a chain of neighbours leads from one number to another. Where no such chain is
# longer than the noise (that is practically always) the neighbours of a batch are given one code; else those of a block, directly or
# through others, are one, so that a document never depends on what else is in the batch.

FORMS = ("", "NFC", "NFKC")
NOTHING = np.empty(0)
MOST_NOISE = 5e-4
"""Large numbers that differ by a thousandth, amounts or times in seconds, differ by more than noise."""
SHORT_NOISE = 1e-9
"""Two different decimals of eight digits or fewer differ by a hundred-millionth of the larger: more than this noise."""
_WHOLE = {int, bool, bytes, type(None), datetime.date, datetime.datetime}
"""Kinds of values that are spelled in one way."""


@frozen(eq=False)
class Near(Codes):
    """Values among which numbers form long chains of neighbours; `numbers` is NaN where there is none."""

    numbers: F64 = dataclasses.field(default_factory=lambda: NOTHING)

    def take(self, rows: I64) -> Near:
        return Near(self.codes[rows], self.bound, self.values, self.numbers[rows])


@frozen
class Equal(Similarity):
    """1 if the values are equal but for Unicode forms, white space and the noise of floats, else 0.

    >>> ts.equal(0.1 + 0.2, 0.3), ts.equal("Oslo ", "Oslo")
    (1.0, 1.0)
    """

    form: str = "NFC"
    spaces: bool = True
    noise: float = 1e-9
    name = "equal"
    says = "equal or not, whatever Unicode form, white space and float noise"

    def __post_init__(self) -> None:
        require(self.form in FORMS, f'equal(): form must be "NFC", "NFKC" or "", found {self.form!r:.40}')
        require(0 <= self.noise < 0.01, "equal() needs 0 ≤ noise < 0.01; number(...) takes larger tolerances")

    @overload
    def __call__(self, form: str = "NFC", *, spaces: bool = True, noise: float = 1e-9) -> Equal: ...

    @overload
    def __call__(self, reference: Any, predicted: Any) -> float: ...

    def __call__(self, *pair: Any, **options: Any) -> Any:
        """Of two values whether they are equal; otherwise the same with some of it switched off: `equal(noise=0)`."""
        if len(pair) == 2 or "reference" in options or "predicted" in options:
            return super().__call__(*pair, **options)
        return Equal(*pair, **options)

    def __repr__(self) -> str:
        arguments = ", ".join(self._arguments())
        return f"equal({arguments})" if arguments else "equal"

    @property
    def exact_only(self) -> bool:
        return True

    def kernel(self, one_depth: bool = False) -> Kernel:
        return UNKNOWN if self.noise else DELTA

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.randrange(LETTERS)

    def _takes(self, value: Any) -> bool:
        return type(value) in SCALARS or _is_unfit_scalar(value) or super()._takes(value)

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
            plain = reference.plain, predicted.plain
            floats = None if any(plain) else (reference.numbers(), predicted.numbers())
            if all(plain) or (floats is not None and not self._noisy(*floats)):
                return exact._encode(reference, predicted, scope)
        found = listed(reference, predicted)
        if found is None:
            return self._count(reference, predicted, scope)
        (ours, theirs, kinds), here = found, scope.alone()
        if kinds <= _WHOLE:
            return exact._encode(reference, predicted, scope)
        return Numbering(
            (ours, theirs),
            lambda a, b: self._same(a, b, kinds),
            lambda: self._count(reference, predicted, here),
        ).both()

    def _same(self, left: list[Any], right: list[Any], kinds: set[type]) -> Mask:
        """Row by row, whether values are equal: most are the same as they are, and the others are looked at."""
        same = same_values(left, right, kinds)
        others = np.flatnonzero(~same).tolist()
        texts = [(k, a, b) for k in others if type(a := left[k]) is str and type(b := right[k]) is str]
        if texts and not are_plain(chain.from_iterable(pair[1:] for pair in texts)):
            for k, a, b in texts:
                same[k] = plain_text(a, self.form, self.spaces) == plain_text(b, self.form, self.spaces)
        if self.noise and float in kinds:
            pairs = _numbers([one for k in others for one in (left[k], right[k])], kinds)
            same[others] |= near(pairs[::2], pairs[1::2], self.noise)
        return same

    def _count(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        (rows, left), (lines, right) = (different_values(side, scope) for side in (reference, predicted))
        kinds = set(map(type, left)) | set(map(type, right))
        if kinds <= _WHOLE:
            return exact._encode(reference, predicted, scope)
        if kinds != {str}:
            left, right = comparable(left, kinds, scope), comparable(right, kinds, scope)
        table = number_values((left, right))
        classes = np.arange(len(table), dtype=np.int64)
        if str in kinds and not (kinds == {str} and are_plain(table)):
            spelled = [plain_text(key, self.form, self.spaces) if type(key) is str else key for key in table]
            classes = np.fromiter(map(number_values((spelled,)).__getitem__, spelled), np.int64, len(spelled))
        numbers = NOTHING
        if self.noise and kinds != {str}:
            numbers = _numbers(table, kinds)
            numbers = numbers if _join_neighbours(numbers, classes, self.noise) else NOTHING
        sides: list[Codes] = []
        for values, index in ((left, rows), (right, lines)):
            codes = np.fromiter(map(table.__getitem__, values), np.int64, len(values))
            codes = codes if index is None else codes[index]
            known = classes[codes], max(len(table), 1)
            sides.append(Near(*known, (), numbers[codes]) if len(numbers) else Codes(*known))
        return sides[0], sides[1]

    def plain(self) -> Plain | None:
        if self.noise > SHORT_NOISE:
            return None
        form, spaces, noise = self.form, self.spaces, self.noise

        def see(value: Any) -> Any:
            kind = type(value)
            if kind is str:
                if spaces and value.isascii():
                    return " ".join(value.split())
                return plain_text(value, form, spaces)
            if kind is float and noise and value == value:
                # Different floats of up to eight digits differ by more than noise; so do two whole numbers.
                if len(repr(abs(value))) > 9 and not value.is_integer():
                    raise Uncovered
                return value
            return see_value(value)

        return equality(see)

    def _noisy(self, left: F64 | None, right: F64 | None) -> bool:
        """Whether some of two columns of floats differ by noise; columns of anything else may."""
        if left is None or right is None:
            return True
        different = distinct(np.concatenate((left, right)))
        return bool(near(different[:-1], different[1:], self.noise).any())

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        r, p = numbered(r), numbered(p)
        if not isinstance(r, Near) or not isinstance(p, Near):
            return blocks.refine(r.codes, p.codes, r.bound)
        dense = blocks.dense()
        block = np.concatenate((dense.reference, dense.predicted))
        codes, numbers = np.concatenate((r.codes, p.codes)), np.concatenate((r.numbers, p.numbers))
        order = np.lexsort((codes, numbers, block))
        one = codes[order][1:] == codes[order][:-1]
        one |= near(numbers[order][:-1], numbers[order][1:], self.noise)
        one &= block[order][1:] == block[order][:-1]
        joined = np.empty(len(order), np.int64)
        joined[order] = np.concatenate(([0], np.cumsum(~one)))[: len(order)]
        return Blocks(joined[: len(r)], joined[len(r) :], max(len(order), 1))

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        if (
            blocks.aligned
            and isinstance(r, Unnumbered)
            and isinstance(p, Unnumbered)
            and (same := r.same(p)) is not None
        ):
            i = j = np.flatnonzero(same)
            return Pairs(i, j, np.ones(len(i)))
        r, p = numbered(r), numbered(p)
        if isinstance(r, Near) and isinstance(p, Near):
            if blocks.aligned:
                i = j = np.flatnonzero((r.codes == p.codes) | near(r.numbers, p.numbers, self.noise))
            else:
                i, j = self.refine(r, p, blocks).pairs()
            return Pairs(i, j, np.ones(len(i)))
        return exact._pairs(r, p, blocks)


def _is_unfit_scalar(value: Any) -> bool:
    """A plain value of the wrong kind, which equals nothing: asked for so often that encoding each of them would take a third of the time."""
    return type(value) is Unfit and type(value.value) in SCALARS


def near(a: F64, b: F64, noise: float) -> Mask:
    """Whether numbers differ by no more than noise; two whole numbers always differ by more."""
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(a - b) <= np.minimum(noise * np.maximum(np.abs(a), np.abs(b)), MOST_NOISE)
    return np.asarray(close & ~((a == np.floor(a)) & (b == np.floor(b))), np.bool_)


def _numbers(values: Collection[Any], kinds: set[type]) -> F64:
    """The numbers among some values; NaN for all others."""
    if kinds == {float}:  # NaN is a code of its own here
        return np.fromiter((value if type(value) is float else np.nan for value in values), np.float64, len(values))
    numbers = np.full(len(values), np.nan)
    for k, value in enumerate(values):
        if isinstance(value, decimal.Decimal) and value.is_nan():
            continue
        if isinstance(value, (int, float, decimal.Decimal, fractions.Fraction, np.number)):
            known: Any = float(value) if isinstance(value, np.floating) else value  # 1e300 is too large for a short one
            if abs(known) < 1e300:
                numbers[k] = float(known)
    return numbers


def _join_neighbours(numbers: F64, classes: I64, noise: float) -> bool:
    """Give different numbers that only differ by noise one class. Where they would be long chains the classes stay as they are, and
    the answer is yes."""
    order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
    ascending = numbers[order]
    one = near(ascending[:-1], ascending[1:], noise)
    if not one.any():
        return False
    run = np.concatenate(([0], np.cumsum(~one)))
    first = np.searchsorted(run, run)
    last = np.searchsorted(run, run, side="right") - 1
    whole = np.concatenate(([0], np.cumsum(ascending == np.floor(ascending))))
    wide = ~near(ascending[first], ascending[last], noise) & (first < last)
    if np.any(wide | (whole[last + 1] - whole[first] > 1)):
        return True
    classes[order] = classes[order[first]]
    return False


equal = Equal()


# Items that are paired by a key: two of them can only meet if their keys are equal.
#
#     keyed(φ, "sku")(x, y) = ⟦x.sku = y.sku⟧ · φ(x, y)
#
# Inside a matching this makes a list keyed by a field, as `match(keyed(each(...), "sku"))`: the key is nothing but a
# finer block, so that large lists cost next to nothing, and two items with one key are still matched the best way.


@frozen
class Keyed(Around):
    """φ of two records whose key fields are equal, else 0."""

    inner: Similarity
    by: tuple[str, ...]
    name = "keyed"
    carries_variables = False

    def __post_init__(self) -> None:
        require(isinstance(self.inner, Similarity), f"keyed() needs a similarity, found {self.inner!r}")
        require(len(self.by) > 0, 'keyed() needs the name of a field: keyed(each(...), "sku")')
        for name, node in self._keys:
            chosen = node.inner if isinstance(node, Optional) else node
            forms = 'equal, boolean, aliases or text("equal", "casefold")'
            require(
                node.exact_only, f"the key {name!r} is compared by {chosen}; a key needs an equality, such as {forms}"
            )

    def _arguments(self) -> Iterator[str]:
        yield repr(self.inner)
        yield from (f'"{name}"' for name in self.by)

    @property
    def _keys(self) -> Iterator[tuple[str, Similarity]]:
        """The key fields, and what compares them, as φ does: so a key in other white space, in another case or by another name is the
        same key. What has parts is the same as a whole."""
        known = self.inner.looks_at() or {}
        for name in self.by:
            node: Any = (known.get(name) or exact).present
            while not node.exact_only and node.name in ("optional", "weighted"):
                node = node.inner
            if has_structure(node):
                yield name, exact
            else:
                yield name, node if isinstance(node, (Exact, Equal)) else Optional(node)

    def _may_miss(self, name: str) -> bool:
        """Whether φ knows that the field may not be there; else, if no item has it, it is misspelt."""
        known = (self.inner.looks_at() or {}).get(name)
        return known is not None and known.may_miss

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Fields, Fields]:
        columns = [self.inner.encode(reference, predicted, scope)]
        for name, node in self._keys:
            ours, theirs = (field(side, name, scope, True) for side in (reference, predicted))
            if not self._may_miss(name):
                note_absence(name, (reference, predicted), (ours, theirs), scope)
            columns.append(node.encode(ours, theirs, scope.field(name)))
        r, p = (Fields(tuple(pair[k] for pair in columns)) for k in (0, 1))
        return r, p

    def _pairs(self, r: Fields, p: Fields, blocks: Blocks) -> Pairs:
        for (_, node), a, b in zip(self._keys, r.columns[1:], p.columns[1:], strict=True):
            blocks = node.refine(a, b, blocks)
        return self.inner.pairs(r.columns[0], p.columns[0], blocks)

    def _selves(self, column: Fields) -> F64:
        return self.inner.selves(column.columns[0])

    def plain(self) -> Plain | None:
        inner, keys = self.inner.plain(), plain_parts(node for _, node in self._keys)
        if inner is None or keys is None:
            return None
        absent = [None if self._may_miss(name) else Uncovered for name in self.by]
        read, weigh = Getter(self.by, absent), inner.weigh

        def seeing(side: int) -> Any:
            sees, see = [key.see[side] for key in keys], inner.see[side]
            return lambda value: ([one(x) for one, x in zip(sees, read(value), strict=True)], see(value))

        left, right = inner.own
        return Plain(
            (seeing(0), seeing(1)),
            lambda a, b: weigh(a[1], b[1]) if a[0] == b[0] else 0.0,
            (lambda a: left(a[1]), lambda b: right(b[1])),
        )

    def _below(self, here: Aligned) -> Iterator[Aligned]:
        r, p = here.reference, here.predicted
        return here.at(self.inner, r.columns[0], p.columns[0]).below()  # type: ignore[attr-defined]

    @property
    def softened(self) -> Similarity | None:
        inner = self.inner.softened
        return None if inner is None else dataclasses.replace(self, inner=inner)

    @property
    def key_fields(self) -> tuple[str, ...]:
        return self.by

    def looks_at(self) -> Mapping[str, Similarity | None] | None:
        known = self.inner.looks_at()
        return None if known is None else {**dict.fromkeys(self.by), **known}


def keyed(inner: Similarity, *by: Any) -> Keyed:
    """Records that can only meet if the named fields are equal: a list keyed by a field.

    >>> lines = ts.match(ts.keyed(ts.each(sku=ts.exact, quantity=ts.exact), "sku"))
    >>> lines([{"sku": "N-2", "quantity": 3}], [{"sku": "H-1", "quantity": 3}])
    0.0
    """
    return Keyed(inner, tuple(by))
