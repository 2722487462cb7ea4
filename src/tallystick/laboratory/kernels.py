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
from random import Random
from typing import Any

import numpy as np

from tallystick.algebra.node import Node, Similarity
from tallystick.engine.arrays import F64, Blocks, Column
from tallystick.engine.data import Scope, as_data
from tallystick.errors import MetricError, TallystickError
from tallystick.frozen import frozen

YES, NO, UNKNOWN = "yes", "no", "unknown"
CHUNK = 250
"""Objects that meet each other at once: few enough that their pairs stay small."""


@frozen
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


@frozen
class KernelStatus:
    """Whether a metric is a kernel: yes with the lemmas, no with a witness, or unknown."""

    verdict: str
    reasons: tuple[str, ...] = ()
    witness: Witness | None = None
    condition: str = ""

    def __str__(self) -> str:
        why = "; ".join(self.reasons) if self.witness is None else str(self.witness)
        return f"{self.verdict}" + (f": {why}" if why else "") + (f" ({self.condition})" if self.condition else "")


def kernel_status(metric: Node | str, *, search: bool = True) -> KernelStatus:
    """Whether a metric is a kernel. What does not follow from the lemmas is searched for a witness, unless told not to.

    >>> print(ts.kernel_status(ts.match(ts.exact, "N:N")))
    yes: δ is a strong kernel (lemma 1); Σ~ of a kernel (lemma 3)
    """
    node = _parsed(metric)
    known = node.kernel()
    if known.kernel:
        return KernelStatus(YES, known.lemmas)
    condition = "yes where all types have one depth" if node.kernel(one_depth=True).kernel else ""
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


# Gram matrices.


def gram(metric: Node | str, objects: Sequence[Any], others: Sequence[Any] | None = None) -> F64:
    """κ(x, y) of all objects against each other, or against `others`: a matrix with a row for each object.

    All objects are encoded together and stand in one block. With `SVC(kernel="precomputed")` of scikit-learn, fit on
    `gram(metric, train)` and predict on `gram(metric, test, train)`. The rows are the references.

    >>> ts.gram(ts.match(ts.exact), [["a", "b"], ["b"], ["c"]])
    array([[2., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    node = _parsed(metric)
    if node.by_side is not None:
        precision, recall = (gram(side, objects, others) for side in node.by_side)
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
    found = node.pairs(r, p, blocks)
    out[found.i, found.j] = found.weight
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
        one = metric.sample(rng)
        out.setdefault(repr(one), one)
        if len(out) == size:
            break
    return list(out.values())
