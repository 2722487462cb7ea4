"""Predictions with scores: average precision over a ranking of everything that was predicted.

    ranked(record(category=exact, box=box_iou()), by="category", at=[0.5, 0.75])

φ compares two items. At each threshold t, a prediction is right if it gets a partner with φ ≥ t when all predictions choose in the order of
their scores (`engine.ranked`); average precision is the area under the curve of precision over recall, and its mean over labels and
thresholds is the figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.algebra.node import Node, Similarity, require
from tallystick.algebra.records import each
from tallystick.algebra.sets import match
from tallystick.algebra.weights import at_least
from tallystick.engine.arrays import F64, I64, Blocks, offsets_of
from tallystick.engine.data import Bag, Data, Objects, Scope, field, items
from tallystick.engine.encoded import leaf_values
from tallystick.engine.ranked import HOW, INTERPOLATIONS, Ranking, right_by_rank
from tallystick.engine.tally import Kind
from tallystick.errors import ValueMismatch, did_you_mean
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

COCO = tuple(round(0.5 + 0.05 * k, 2) for k in range(10))


@frozen
class Ranked(Node):
    """Average precision; `of` names the field in which a document has its items, if it is a record."""

    inner: Similarity
    score: str = "score"
    by: str = ""
    at: tuple[float, ...] = COCO
    of: str = ""
    most: int = 0
    interpolation: str = "coco"
    matching: str = "best"
    name = "ranked"
    says = "the area under precision over recall"
    letter = "N"
    ranks = True

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.interpolation, INTERPOLATIONS, "interpolation"),
            (self.matching, HOW, "matching"),
        ):
            require(
                value in known,
                f"ranked(): unknown {what} {value!r}; expected one of {', '.join(known)}.{did_you_mean(value, known)}",
            )
        fine = self.at and all(isinstance(t, (int, float)) and not isinstance(t, bool) and t > 0 for t in self.at)
        require(bool(fine), f"ranked(): at needs thresholds above 0, found {self.at!r:.60}")
        object.__setattr__(self, "at", tuple(map(float, self.at)))
        require(isinstance(self.most, int) and self.most >= 0, f"ranked(): most must be 0 or more, found {self.most!r}")

    def _arguments(self) -> Iterator[str]:
        yield from (one for one in super()._arguments() if not one.startswith("at="))
        if self.at != COCO:
            yield f"at=[{', '.join(f'{t:g}' for t in self.at)}]"

    @property
    def headline(self) -> tuple[str, float]:
        return "ap", 1.0

    @property
    def summed(self) -> Similarity:
        """What an explanation shows: the best matching at the first threshold."""
        items = match(at_least(self.inner, self.at[0]))
        return each(**{self.of: items}) if self.of else items

    def __call__(self, reference: Any, predicted: Any) -> float:
        kind, rows = self.rank(Objects([reference]), None, Objects([predicted]), Scope())
        return float(kind.figures(rows[0])["ap"])

    def kind_of_tally(self) -> Kind:
        return Ranking.of([], self.at, self.interpolation)[0]

    def sample(self, rng: Random, depth: int = 0) -> Any:
        found = [self.inner.sample(rng, 1) for _ in range(rng.randint(1, 3))]
        listed = [{**one, self.score: rng.random()} if isinstance(one, dict) else one for one in found]
        return {self.of: listed} if self.of else listed

    def mirrored(self) -> Node:
        return self.rebuilt(lambda part: part.mirrored())

    def rank(self, reference: Data, valid: I64 | None, predicted: Data, scope: Scope) -> tuple[Kind, F64]:
        """The outcomes of some documents, and their rows."""
        sides = []
        for side in (reference, predicted):
            listed = items(field(side, self.of, scope, False) if self.of else side, scope)
            assert isinstance(listed, Bag)
            sides.append(listed)
        inside = (scope.field(self.of) if self.of else scope).items()
        r, p = self.inner.encode(sides[0].items, sides[1].items, inside)
        scores = self._scores(sides[1].items, inside)
        labels = [self._labels(side.items, inside) for side in sides]
        homes = np.arange(len(sides[1])) if valid is None else valid
        left = np.repeat(np.arange(len(sides[0])), np.diff(sides[0].offsets))
        right = np.repeat(homes, np.diff(sides[1].offsets))
        found = self.inner.pairs(r, p, Blocks(left, right, max(1, len(sides[0]))))
        kept = self._surest(scores, labels[1], right)
        if kept is not None:
            among = np.flatnonzero(kept[found.j])
            found = (
                type(found)(found.i[among], found.j[among], found.weight[among]) if len(among) < len(found) else found
            )
        hits = np.stack([right_by_rank(found, scores, t, self.matching) for t in self.at], axis=1)
        ends = offsets_of(np.bincount(right, minlength=len(sides[0])))
        documents = []
        for k in range(len(sides[0])):
            here = np.arange(ends[k], ends[k + 1])
            here = here if kept is None else here[kept[here]]
            counts: dict[str, int] = {}
            for label in labels[0][int(sides[0].offsets[k]) : int(sides[0].offsets[k + 1])]:
                counts[label] = counts.get(label, 0) + 1
            documents.append((counts, [labels[1][n] for n in here.tolist()], scores[here], hits[here]))
        return Ranking.of(documents, self.at, self.interpolation)

    def _scores(self, data: Data, scope: Scope) -> F64:
        values = leaf_values(field(data, self.score, scope, False), scope.field(self.score))
        for value in values:
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or value != value:
                raise ValueMismatch(f"at {scope.field(self.score)}: expected a score, a number; found {value!r:.60}")
        return np.array(values, np.float64)

    def _labels(self, data: Data, scope: Scope) -> Sequence[str]:
        if not self.by:
            return [""] * len(data)
        return [str(value) for value in leaf_values(field(data, self.by, scope, False), scope.field(self.by))]

    def _surest(self, scores: F64, labels: Sequence[str], owners: Any) -> Any:
        """Of each document and label the `most` surest; None: all."""
        if not self.most:
            return None
        codes = (
            np.unique(np.array(labels), return_inverse=True)[1].reshape(-1) if len(labels) else np.empty(0, np.int64)
        )
        order = np.lexsort((-scores, codes, owners))
        starts = np.flatnonzero(np.r_[True, (np.diff(codes[order]) != 0) | (np.diff(owners[order]) != 0)][: len(order)])
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        kept = np.zeros(len(scores), np.bool_)
        kept[order[place < self.most]] = True
        return kept


def ranked(
    inner: Similarity,
    *,
    score: str = "score",
    by: str = "",
    at: Sequence[float] = COCO,
    of: str = "",
    most: int = 0,
    interpolation: str = "coco",
    matching: str = "best",
) -> Ranked:
    """Average precision of predictions that have scores, over labels and thresholds of φ.

    >>> found = [{"x": 1, "score": 0.9}, {"x": 2, "score": 0.8}]
    >>> ts.ranked(ts.record(x=ts.exact), at=[1])([{"x": 1}], found)
    1.0
    """
    return Ranked(inner, score, by, tuple(at), of, most, interpolation, matching)
