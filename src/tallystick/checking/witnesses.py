"""Witnesses: objects whose Gram matrix shows that a metric is no kernel, searched for from the metric's expression.

The expression says what its values look like: `match(φ)` takes collections of what φ takes, `record` takes records, and
so on. A pool of small objects is made up and its Gram matrix computed at once. If that has a negative eigenvalue, objects
are left out one by one as long as it stays negative; what remains is small enough to be checked by hand.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tallystick.columns.arrays import F64
from tallystick.errors import TallystickError
from tallystick.matching.collections import OverItems, Supertypes
from tallystick.matching.normalise import Normaliser, Sides
from tallystick.matching.sets import Matching
from tallystick.scoring.kernels import Witness, gram, smallest_eigenvalue
from tallystick.similarity.exact import Exact
from tallystick.similarity.hierarchy import Levels, Subtypes
from tallystick.similarity.missing import Optional
from tallystick.similarity.node import Node
from tallystick.similarity.numbers import Date, Number, Overlap
from tallystick.similarity.records import Each, Record
from tallystick.similarity.text import Text
from tallystick.similarity.weights import Threshold, Weigh, Weighted

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
