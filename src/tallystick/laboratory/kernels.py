"""Metrics as kernels (appendix B of "A Unified View"): which are, and their Gram matrices.

A kernel κ is symmetric and positive semi-definite. It is *strong* (Kriege et al. 2016) if

    κ(x, y) ≥ min(κ(x, z), κ(z, y))   for all x, y, z,

which is more than κ(x, x) ≥ κ(x, y), as the appendix has it. With the weaker condition lemma 5 is false: Σ↔[F↔[δ]], the
unnormalised CEAF-φ4, has Gram matrices with negative eigenvalues. So this is what follows, and nothing else is claimed:

    δ is strong                                                    (lemma 1)
    products and sums of kernels are kernels                       (lemma 2)
    Σ~ of a kernel is a kernel                                     (lemma 3)
    Σ↔ of a strong kernel is a kernel                              (lemma 5, with Kriege's condition)
    F and J of a kernel are kernels, in general not strong         (lemmas 7 and 8; F(∅, ∅) = 1, F(∅, y) = 0)

A product is strong if all factors are and all but one are 0 or 1: min(a, b) · min(c, d) may lie below min(ac, bd). For
eq. 38, 2^(d - D) with d > 0 levels in common and D = max(a, b) the larger depth: 2^d is a sum of indicators of common
prefixes, 2^-max(a, b) = min(2^-a, 2^-b) is a kernel, hence their product is one; it is strong where all depths are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tallystick.algebra.cases import Cases
from tallystick.algebra.collections import Links, OverItems, Supertypes
from tallystick.algebra.exact import Exact
from tallystick.algebra.functions import Via
from tallystick.algebra.hierarchy import Levels, Subtypes
from tallystick.algebra.missing import Optional
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.normalise import F, Jaccard, Normaliser, Sides, numerators
from tallystick.algebra.numbers import Date, Number, Overlap
from tallystick.algebra.records import Each, Record
from tallystick.algebra.sets import Match, Matching
from tallystick.algebra.text import Text
from tallystick.algebra.weights import Threshold, Weigh, Weighted
from tallystick.engine.arrays import F64, I64
from tallystick.engine.blocks import Blocks
from tallystick.engine.data import Scope, as_data
from tallystick.engine.encoded import Column
from tallystick.errors import MetricError, TallystickError

YES, NO, UNKNOWN = "yes", "no", "unknown"
CHUNK = 250
"""Objects that meet each other at once: few enough that their pairs stay small."""


@dataclass(frozen=True)
class Witness:
    """Objects whose Gram matrix no kernel can have."""

    objects: tuple[Any, ...]
    smallest: float
    """The smallest eigenvalue; NaN where the matrix is not even symmetric."""

    def __str__(self) -> str:
        listed = ", ".join(map(repr, self.objects))
        if np.isnan(self.smallest):
            return f"not symmetric on {listed}"
        return f"smallest eigenvalue {self.smallest:.4f} on {listed}"


@dataclass(frozen=True)
class KernelStatus:
    """Whether a metric is a kernel: yes with the lemmas, no with a witness, or unknown."""

    verdict: str
    reasons: tuple[str, ...] = ()
    witness: Witness | None = None
    condition: str = ""

    def __str__(self) -> str:
        why = "; ".join(self.reasons) if self.witness is None else str(self.witness)
        return f"{self.verdict}" + (f": {why}" if why else "") + (f" ({self.condition})" if self.condition else "")


@dataclass(frozen=True)
class _Known:
    """What follows about a part: kernel, strong, nothing but 0 and 1; and from which lemmas."""

    kernel: bool = False
    strong: bool = False
    indicator: bool = False
    lemmas: tuple[str, ...] = ()

    def because(self, lemma: str, *, kernel: bool = True, strong: bool = False, indicator: bool = False) -> _Known:
        return _Known(kernel, strong and kernel, indicator, tuple(dict.fromkeys((*self.lemmas, lemma))))


_NOTHING = _Known()
_DELTA = _Known(True, True, True, ("δ is a strong kernel (lemma 1)",))


def kernel_status(metric: Node | str, *, search: bool = True) -> KernelStatus:
    """Whether a metric is a kernel. What does not follow from the lemmas is searched for a witness, unless told not to."""
    node = _parsed(metric)
    known = _known(node)
    if known.kernel:
        return KernelStatus(YES, known.lemmas)
    condition = "yes where all types have one depth" if _known(node, one_depth=True).kernel else ""
    if search:
        witness = find_witness(node)
        if witness is not None:
            return KernelStatus(NO, witness=witness, condition=condition)
    return KernelStatus(UNKNOWN, condition=condition)


def _parsed(metric: Node | str) -> Node:
    if isinstance(metric, Node):
        return metric
    from tallystick.algebra.parse import parse

    return parse(metric)


def _known(node: Any, one_depth: bool = False) -> _Known:
    """What follows from the lemmas, bottom up."""

    def below(part: Any) -> _Known:
        return _known(part, one_depth)

    if isinstance(node, Exact) or (isinstance(node, Text) and node.ratio == "equal"):
        return _DELTA
    if isinstance(node, (Number, Date)):
        exact = all(getattr(node, name, 0) == 0 for name in ("absolute", "relative", "days"))
        return _DELTA if exact else _NOTHING
    if isinstance(node, Levels):
        return _NOTHING.because("eq. 38 is a product of kernels", strong=one_depth)
    if isinstance(node, Supertypes):
        return _DELTA.because("Σ↔ of a strong kernel (lemma 5)").because("F of a kernel (lemma 7)")
    if isinstance(node, Overlap) and node.kind in ("jaccard", "dice"):
        lemma = "J of a kernel (lemma 8)" if node.kind == "jaccard" else "F of a kernel (lemma 7)"
        return _NOTHING.because("ranges are sets").because(lemma)
    if isinstance(node, (Record, Each)):
        return _fields(node, [below(part) for _, part in node.fields])
    if isinstance(node, Cases):
        parts = [below(part) for _, part in node.options]
        all_strong, all_kernels = all(p.strong for p in parts), all(p.kernel for p in parts)
        return _joined(parts).because(
            "cases apart", kernel=all_kernels, strong=all_strong, indicator=all(p.indicator for p in parts)
        )
    if isinstance(node, Optional):
        inner = below(node.inner)
        return inner.because("None apart", kernel=inner.kernel, strong=inner.strong, indicator=inner.indicator)
    if isinstance(node, Weighted):
        inner = below(node.inner)
        return inner.because("a positive multiple", kernel=inner.kernel, strong=inner.strong)
    if isinstance(node, Weigh):
        inner = below(node.inner)
        strong = inner.strong and inner.indicator
        return inner.because(
            "min(w, w') is a kernel; a product of kernels (lemma 2)", kernel=inner.kernel, strong=strong
        )
    if isinstance(node, Via):
        inner = below(node.inner)
        return inner if node.predicted is None else _NOTHING
    if isinstance(node, Match):
        inner = below(node.inner)
        if node.constraint == "N:N":
            return inner.because("Σ~ of a kernel (lemma 3)", kernel=inner.kernel)
        if node.constraint == "1:1":
            return inner.because("Σ↔ of a strong kernel (lemma 5)", kernel=inner.strong)
        return _NOTHING
    if isinstance(node, Links):
        return _NOTHING
    if isinstance(node, F) and node.beta == 1:
        inner = below(node.inner)
        return inner.because("F of a kernel (lemma 7)", kernel=inner.kernel)
    if isinstance(node, Jaccard):
        inner = below(node.inner)
        return inner.because("J of a kernel (lemma 8)", kernel=inner.kernel)
    return _NOTHING


def _joined(parts: Sequence[_Known]) -> _Known:
    return _Known(lemmas=tuple(dict.fromkeys(lemma for part in parts for lemma in part.lemmas)))


def _fields(node: Record | Each, parts: Sequence[_Known]) -> _Known:
    kernel, one = all(part.kernel for part in parts), len(parts) == 1
    if one:
        return parts[0]
    if isinstance(node, Each):
        return _joined(parts).because("a sum of kernels", kernel=kernel)
    shaded = sum(not part.indicator for part in parts)
    strong = all(part.strong for part in parts) and shaded <= 1
    return _joined(parts).because("a product of kernels (lemma 2)", kernel=kernel, strong=strong, indicator=shaded == 0)


# Gram matrices.


def gram(metric: Node | str, objects: Sequence[Any], others: Sequence[Any] | None = None) -> F64:
    """κ(x, y) of all objects against each other, or against `others`: a matrix with a row for each object.

    All objects are encoded together and stand in one block. With `SVC(kernel="precomputed")` of scikit-learn, fit on
    `gram(metric, train)` and predict on `gram(metric, test, train)`. The rows are the references.
    """
    node = _parsed(metric)
    if isinstance(node, Sides):
        precision, recall = gram(node.precision, objects, others), gram(node.recall, objects, others)
        both = precision + recall
        return np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    if not isinstance(node, Similarity):
        raise MetricError(f"{node} is not a similarity; it has no Gram matrix")
    left = as_data(objects)
    right = left if others is None else as_data(others)
    r, p = node.encode(left, right, Scope())
    symmetric = others is None and node.mirrored() == node
    out = np.zeros((len(r), len(p)))
    for start in range(0, len(r), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(r)))
        for first in range(start if symmetric else 0, len(p), CHUNK):
            columns = np.arange(first, min(first + CHUNK, len(p)))
            here = _rectangle(node, r.take(rows), p.take(columns))
            out[start : start + len(rows), first : first + len(columns)] = here
            if symmetric and first > start:
                out[first : first + len(columns), start : start + len(rows)] = here.T
    return out


def _rectangle(node: Similarity, r: Column, p: Column) -> F64:
    blocks = Blocks(np.zeros(len(r), np.int64), np.zeros(len(p), np.int64), 1)
    out = np.zeros((len(r), len(p)))
    found = numerators(node, r, p, blocks) if not isinstance(node, Normaliser) else None
    i: I64
    if found is not None:
        i, j, weight = found.i, found.j, found.total
    else:
        pairs = node.pairs(r, p, blocks)
        i, j, weight = pairs.i, pairs.j, pairs.weight
    out[i, j] = weight
    return out


def smallest_eigenvalue(matrix: F64) -> float:
    """Of a symmetric matrix: below 0, beyond rounding, if it is not positive semi-definite."""
    return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])


# Witnesses: objects whose Gram matrix shows that a metric is no kernel, searched for from the metric's expression.
#
# The expression says what its values look like: `match(φ)` takes collections of what φ takes, `record` takes records, and
# so on. A pool of small objects is made up and its Gram matrix computed at once. If that has a negative eigenvalue, objects
# are left out one by one as long as it stays negative; what remains is small enough to be checked by hand.

TOLERANCE = 1e-9
POOL = 120
LETTERS = 4


def find_witness(metric: Node, *, seed: int = 0, pools: int = 4) -> Witness | None:
    """Objects on which the metric is not symmetric or not positive semi-definite; None if none was found."""
    rng = Random(seed)
    for _ in range(pools):
        try:
            objects = pool_of(metric, rng)
            matrix = gram(metric, objects)
        except (TallystickError, NotImplementedError):
            return None  # nothing could be made up for it
        apart = np.abs(matrix - matrix.T)
        if apart.max(initial=0) > TOLERANCE:
            i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
            return Witness((objects[i], objects[j]), float("nan"))
        if smallest_eigenvalue(matrix) < -1e-7:
            return shrunk(objects, matrix)
    return None


def shrunk(objects: list[Any], matrix: F64) -> Witness:
    """As few of the objects as keep a negative eigenvalue, left out in the order in which they matter least."""
    rows = list(range(len(objects)))
    while True:
        values, vectors = np.linalg.eigh(matrix[np.ix_(rows, rows)])
        order = np.argsort(np.abs(vectors[:, 0]))
        for k in order.tolist():
            less = rows[:k] + rows[k + 1 :]
            if len(less) > 1 and smallest_eigenvalue(matrix[np.ix_(less, less)]) < -1e-4:
                rows = less
                break
        else:
            return Witness(tuple(objects[k] for k in rows), float(values[0]))


def pool_of(metric: Node, rng: Random, size: int = POOL) -> list[Any]:
    """Different small objects for a metric."""
    out: dict[str, Any] = {}
    for _ in range(20 * size):
        one = _object(metric, rng, 0)
        out.setdefault(repr(one), one)
        if len(out) == size:
            break
    return list(out.values())


def _object(node: Any, rng: Random, depth: int) -> Any:
    if isinstance(node, (Exact, Text)):
        return rng.choice("abcd") if isinstance(node, Text) else rng.randrange(LETTERS)
    if isinstance(node, (Number, Date)):
        if isinstance(node, Date):
            return f"2024-01-{1 + rng.randrange(9):02d}"
        return rng.randrange(8) * max(node.absolute, 1) * 0.75
    if isinstance(node, Overlap):
        start = rng.randrange(4)
        return {node.start: start, node.end: start + rng.randint(1, 4)}
    if isinstance(node, Levels):
        return node.separator.join(rng.choice("ab") for _ in range(rng.randint(1, 4)))
    if isinstance(node, (Subtypes, Supertypes)):
        return rng.choice([child for child, _ in node.parents])
    if isinstance(node, (Matching, OverItems)):
        most = 3 if depth == 0 else 2
        items = [_object(node.inner, rng, depth + 1) for _ in range(rng.randint(1, most + 1))]
        return list({repr(one): one for one in items}.values()) if rng.random() < 0.9 else items
    if isinstance(node, (Record, Each)):
        return {name: _object(part, rng, depth) for name, part in node.fields}
    if isinstance(node, Optional):
        return None if rng.random() < 0.2 else _object(node.inner, rng, depth)
    if isinstance(node, (Normaliser, Weighted, Weigh, Threshold)):
        return _object(node.inner, rng, depth)
    if isinstance(node, Sides):
        return _object(node.precision, rng, depth)
    raise NotImplementedError(str(node))  # a union, a recursive type, a function: nothing is known of its values
