"""Types that form a hierarchy: credit for a type that is near the right one (eq. 33, 38, 39).

    subtypes(parents)      eq. 33: half credit for an ancestor. MUC-4 gives it when the *prediction* is an
                           ancestor of the reference (predicted_ancestor, the default); eq. 33 as printed has
                           it the other way round (predicted_descendant).
    levels()               eq. 38: 2^(d - D), d the depth at which both still agree, D the larger depth.
    supertypes(parents)    eq. 39: F1 of the sets of all supertypes (in `algebra.normalise`).

`parents` maps a type to its parent, or to several. Levels are read from the type itself: "Life.Die.Shot" or
("Life", "Die", "Shot").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.algebra.functions import coded, sparse_pairs
from tallystick.algebra.node import UNKNOWN, Kernel, Similarity, Table, options_of, require
from tallystick.algebra.plain import Plain, Uncovered, leaf, see_value
from tallystick.engine.arrays import Blocks, Codes, Pairs
from tallystick.engine.data import Data, Scope
from tallystick.engine.values import Unfit
from tallystick.errors import MetricError, ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

DIRECTIONS = ("predicted_ancestor", "predicted_descendant")


def ancestors(parents: Table) -> dict[Any, set[Any]]:
    """All proper ancestors of each type; a cycle is an error."""
    direct = {child: _several(parent) for child, parent in parents}
    out: dict[Any, set[Any]] = {}

    for start in direct:
        found: set[Any] = set()
        queue = list(direct[start])
        while queue:
            parent = queue.pop()
            if parent == start:
                raise MetricError(f"the hierarchy has a cycle through {start!r}")
            if parent not in found:
                found.add(parent)
                queue.extend(direct.get(parent, ()))
        out[start] = found
    return out


def _several(parent: Any) -> tuple[Any, ...]:
    if parent is None:
        return ()
    return tuple(parent) if isinstance(parent, (tuple, list, set, frozenset)) else (parent,)


def parents_table(parents: Mapping[Any, Any]) -> Table:
    """A hierarchy as a hashable value."""
    require(isinstance(parents, (Table, Mapping)), f"a hierarchy is {{child: parent}}, found {parents!r:.60}")
    pairs = parents if isinstance(parents, Table) else parents.items()
    return Table((child, tuple(p) if isinstance(p, (list, set, frozenset)) else p) for child, p in pairs)


@frozen
class Subtypes(Similarity):
    """1 if equal, `credit` if one is an ancestor of the other in the given direction (eq. 33)."""

    parents: Table
    direction: str = "predicted_ancestor"
    credit: float = 0.5
    name = "subtypes"

    def __post_init__(self) -> None:
        require(
            self.direction in DIRECTIONS,
            f"unknown direction {self.direction!r}; expected {' or '.join(DIRECTIONS)}."
            f"{did_you_mean(self.direction, DIRECTIONS)}",
        )
        require(0 < self.credit <= 1, "subtypes() needs 0 < credit ≤ 1")

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.choice([child for child, _ in self.parents])

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        if isinstance(spec, Mapping) and "parents" in spec:
            return subtypes(**options_of(spec, "parents", "direction", "credit"))
        if not isinstance(spec, Mapping):
            raise MetricError(f'expected {{child: parent}}, or a separator such as ".", found {spec!r:.60}')
        return subtypes(spec)

    def mirrored(self) -> Subtypes:
        return replace(self, direction=DIRECTIONS[1 - DIRECTIONS.index(self.direction)])

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        return coded(reference, predicted, scope)

    def plain(self) -> Plain:
        above, credit = ancestors(self.parents), self.credit
        turn = self.direction != "predicted_ancestor"

        def weigh(a: Any, b: Any) -> float:
            if a == b:
                return 1.0
            child, parent = (b, a) if turn else (a, b)
            return credit if parent in above.get(child, ()) else 0.0

        return leaf(see_value, weigh)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        number = {value: k for k, value in enumerate(r.values.keys)}  # type: ignore[attr-defined]
        relation = {(k, k): 1.0 for k in number.values()}
        for child, above in ancestors(self.parents).items():
            for parent in above:
                if child in number and parent in number:
                    pair = number[child], number[parent]  # reference, predicted
                    relation[pair if self.direction == "predicted_ancestor" else pair[::-1]] = self.credit
        left, right = zip(*relation, strict=True)
        return sparse_pairs(r, p, blocks, left, right, list(relation.values()))


@frozen
class Levels(Similarity):
    """2^(d - D): d levels agree from the top, D is the larger depth of the two (eq. 38)."""

    separator: str = "."
    name = "levels"

    def __post_init__(self) -> None:
        if not self.separator:
            raise MetricError('levels: expected a text between the levels, such as ".", found an empty one')

    def kernel(self, one_depth: bool = False) -> Kernel:
        return UNKNOWN.because("eq. 38 is a product of kernels", strong=one_depth)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return self.separator.join(rng.choice("ab") for _ in range(rng.randint(1, 4)))

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        return coded(reference, predicted, scope)

    def _steps(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):
            return tuple(value.split(self.separator))
        if isinstance(value, (tuple, list)):
            return tuple(value)
        if isinstance(value, Unfit):
            return (value,)
        raise ValueMismatch(f"levels() needs a text such as Life{self.separator}Die or a tuple, found {value!r:.60}")

    def plain(self) -> Plain:
        def see(value: Any) -> tuple[str, ...]:
            found = self._steps(value)
            if any(type(step) is not str for step in found):
                raise Uncovered
            return found

        def weigh(a: Any, b: Any) -> float:
            if a[:1] != b[:1]:
                return 0.0
            agree = next((d for d, (s, t) in enumerate(zip(a, b, strict=False)) if s != t), min(len(a), len(b)))
            return float(2.0 ** (agree - max(len(a), len(b))))

        return leaf(see, weigh)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        paths = [self._steps(value) for value in r.values]
        groups: dict[Any, list[int]] = {}
        for k, path in enumerate(paths):
            groups.setdefault(path[:1], []).append(k)
        left, right, weights = [], [], []
        for members in groups.values():
            for a in members:
                for b in members:
                    x, y = paths[a], paths[b]
                    agree = next((d for d, (s, t) in enumerate(zip(x, y, strict=False)) if s != t), min(len(x), len(y)))
                    left.append(a)
                    right.append(b)
                    weights.append(2.0 ** (agree - max(len(x), len(y))))
        return sparse_pairs(r, p, blocks, left, right, weights)


def subtypes(parents: Mapping[Any, Any], *, direction: str = "predicted_ancestor", credit: float = 0.5) -> Subtypes:
    """Half credit for an ancestor (eq. 33, in MUC-4's direction unless asked otherwise).

    >>> ts.subtypes({"bombing": "attack"})("bombing", "attack")
    0.5
    """
    return Subtypes(parents_table(parents), direction, credit)


def levels(separator: str = ".") -> Levels:
    """2^(d - D) for d levels that agree (eq. 38).

    >>> ts.levels()("LOC.CITY", "LOC.CITY"), ts.levels()("LOC.CITY", "LOC.STATE")
    (1.0, 0.5)
    """
    return Levels(separator)
