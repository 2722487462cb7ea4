"""Predictions that come with a score: who is right if they take their partners in the order of their scores, and the average precision.

With pairs (reference, predicted, φ ≥ t) and predictions from the surest to the least sure, a prediction is right if it gets a partner:

    best      if there is a matching of all that were right so far and of this one. No other way has more right ones among the first k, for
              any k: sets that can be matched are a matroid, and taking what fits in the order of the scores is optimal there
    greedy    it takes the best partner that is still free, for good (COCO)
    first     it takes its best partner, and is wrong if that one is taken (VOC)

    greedy:  a ── x           a, the surer one, takes x, where φ is larger; b has none left.
             a ── y           best: a is matched with y and b with x, so both are right.
             b ── x

Some items of the reference may be there to be ignored. Nobody has to find them, and a prediction that gets none of the items that count, but one of
these, is ignored, too: neither right nor wrong. Most can be taken once; a region, such as a crowd, by as many as like.

Average precision is no sum over documents: all predictions of a corpus stand in one ranking. But it is a function of *how often* each
document counts, and that is one: a document's row is 1 in the column of its outcome (`Ranking.of`) and 0 elsewhere. Rows add, so that
resampling, comparisons, parts and shards have it as they have everything else.

Confidences are such scores, too: how well the score tells right from wrong, and how much of it can be believed.

A claim has a confidence c and is right (1) or wrong (0). Sorted from the surest to the least sure, with ties as one step:

    Brier      the mean of (c - right)²
    ECE        Σ_b n_b / n · |accuracy_b - mean confidence_b| over bins ]0, .1], ]0.1, .2], ... (0 is in the first)
    AUROC      the chance that a right claim is surer than a wrong one, a tie counting half
    AP         Σ_k (R_k - R_k-1) P_k, the precision at each step times the recall that the step adds
    review     at each step: how many claims are as sure as that, and how many of them are right

AP divides recall by what there was to find, which may be more than the claims that are right. Scores of rankings need not lie
between 0 and 1; only Brier and ECE take them for probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import F64, I64, Mask, Pairs
from tallystick.errors import MetricError
from tallystick.frozen import frozen

HOW = ("best", "greedy", "first")
INTERPOLATIONS = ("coco", "voc", "voc07", "step")
RECALLS = np.linspace(0.0, 1.0, 101)
MOST_OUTCOMES = 20_000


RIGHT, WRONG, IGNORED = 1, 0, -1
COUNTS, SPARE, REGION = 0, 1, 2
"""An item of the reference counts, or is ignored: once, or as often as one likes."""
Outcomes = NDArray[np.int8]


def outcomes(found: Pairs, scores: F64, least: float, how: str, role: I64 | None = None) -> Outcomes:
    """Which predictions are right, wrong and ignored, given all pairs, the predictions' scores and the roles of the reference's items (None:
    all of them count)."""
    enough = np.flatnonzero(found.weight >= least)
    if how == "first":  # of each prediction the best partner only
        ordered = enough[np.lexsort((-found.i[enough], -found.weight[enough], found.j[enough]))]
        enough = ordered[np.flatnonzero(np.diff(found.j[ordered], prepend=-1))]
    out = np.full(len(scores), WRONG, np.int8)
    if role is None:
        out[_right(found, enough, scores, how, set())] = RIGHT
        return out
    kind = role[found.i[enough]]
    regions = set(np.flatnonzero(role == REGION).tolist())
    out[_right(found, enough[kind == COUNTS], scores, how, regions)] = RIGHT
    rest = enough[(kind != COUNTS) & (out[found.j[enough]] == WRONG)]
    out[_right(found, rest, scores, how, regions)] = IGNORED
    return out


def _right(found: Pairs, among: I64, scores: F64, how: str, endless: set[int]) -> Mask:
    """Which predictions get a partner in some of the pairs; there is always room with an `endless` one."""
    i, j, weight = found.i[among], found.j[among], found.weight[among]
    right = np.zeros(len(scores), np.bool_)
    if not len(among):
        return right
    lone = (np.bincount(j)[j] == 1) & (np.bincount(i)[i] == 1)  # two that have nobody else
    right[j[lone]] = True
    rest = np.flatnonzero(~lone)
    if not len(rest):
        return right
    # By prediction in the order of the scores; of its partners the best first, and the last of equal ones, as COCO has it.
    order = rest[np.lexsort((-i[rest], -weight[rest], j[rest], -scores[j[rest]]))]
    ends = np.flatnonzero(np.diff(j[order], append=-1))
    partners: list[int] = i[order].tolist()
    taken: dict[int, int] = {}
    first = 0
    wanted: dict[int, list[int]] = {}
    for end in ends.tolist():
        who = int(j[order[end]])
        mine = wanted[who] = partners[first : end + 1]
        first = end + 1
        if how == "best":
            right[who] = not endless.isdisjoint(mine) or _seated(who, wanted, taken)
            continue
        free = next((one for one in mine if one not in taken), None)
        if free is not None:
            right[who] = True
            if free not in endless:
                taken[free] = who
    return right


def _seated(who: int, wanted: dict[int, list[int]], taken: dict[int, int]) -> bool:
    """Find a place for one more, if others can move: an augmenting path, breadth first."""
    came: dict[int, int] = {}
    queue = [who]
    for one in queue:
        for place in wanted[one]:
            if place in came:
                continue
            came[place] = one
            if place in taken:
                queue.append(taken[place])
                continue
            while True:  # everybody on the path moves on
                mover = came[place]
                left = next((other for other, owner in taken.items() if owner == mover), None) if mover != who else None
                taken[place] = mover
                if left is None:
                    return True
                place = left
    return False


class Outcome(NamedTuple):
    """What came of a document: how many items of each label the reference has, and the labels, scores and outcomes of its predictions."""

    counts: dict[str, int]
    labels: Sequence[str]
    scores: F64
    right: Outcomes

    @property
    def name(self) -> str:
        """What tells it from others."""
        from hashlib import blake2b

        digest = blake2b(repr((sorted(self.counts.items()), list(self.labels))).encode(), digest_size=9)
        digest.update(np.ascontiguousarray(self.scores).tobytes() + np.ascontiguousarray(self.right).tobytes())
        return digest.hexdigest()


@frozen(eq=False)
class Ranking:
    """The outcomes of documents by name, and the figures of a ranking of all their predictions."""

    outcomes: dict[str, Outcome]
    at: tuple[float, ...]
    interpolation: str = "coco"

    @property
    def headline(self) -> str:
        return "ap"

    @property
    def sums(self) -> tuple[str, ...]:
        return tuple(self.outcomes)

    @staticmethod
    def of(documents: Sequence[Outcome], at: tuple[float, ...], interpolation: str) -> tuple[Ranking, F64]:
        """The kind of some documents, and their rows."""
        names = [one.name for one in documents]
        kind = Ranking(dict(zip(names, documents, strict=True)), at, interpolation)
        place = {name: k for k, name in enumerate(kind.outcomes)}
        rows = np.zeros((len(names), len(place)))
        rows[np.arange(len(names)), [place[name] for name in names]] = 1
        return kind, rows

    def joined(self, other: Ranking) -> Ranking:
        """The outcomes of both; one that both have is there once."""
        both = self.outcomes | other.outcomes
        if len(both) > MOST_OUTCOMES:
            raise MetricError(
                f"a ranking holds at most {MOST_OUTCOMES:,} documents with outcomes of their own; score a part of them"
            )
        return replace(self, outcomes=both)

    def including(self, sums: Sequence[str]) -> Ranking:
        """Outcomes of other documents are not known by their names."""
        return self

    def figures(self, sums: F64) -> dict[str, F64]:
        """AP over labels and thresholds, AP at .5 and .75 where these are among them, and the recall of everything (AR)."""
        flat = sums.reshape(int(np.prod(sums.shape[:-1])), sums.shape[-1])
        ranked, counts = self._by_label
        total = flat @ counts
        ap = np.full((*total.shape, len(self.at)), np.nan)
        recall = ap.copy()
        for label, (owner, right) in enumerate(ranked):
            weights = flat[:, owner]
            there = np.flatnonzero(total[:, label] > 0)
            for k in range(len(self.at)):
                hits = np.cumsum(weights * (right[:, k] == RIGHT), axis=1)
                misses = np.cumsum(weights * (right[:, k] == WRONG), axis=1)
                for row in there.tolist():
                    ap[row, label, k] = area(hits[row], misses[row], total[row, label], self.interpolation)
                    recall[row, label, k] = hits[row, -1] / total[row, label] if hits.shape[1] else 0.0
        out = {"ap": _mean(ap, (1, 2))}
        for at in (0.5, 0.75):
            if at in self.at and len(self.at) > 1:
                out[f"ap{at * 100:.0f}"] = _mean(ap[:, :, self.at.index(at)], (1,))
        out["ar"] = _mean(recall, (1, 2))
        return {name: values.reshape(sums.shape[:-1]) for name, values in out.items()}

    @cached_property
    def _by_label(self) -> tuple[list[tuple[I64, Outcomes]], F64]:
        """By label the outcomes to which its predictions belong, from the surest on, and what came of them; and a table of how much there is to find."""
        every = list(self.outcomes.values())
        names = sorted({label for one in every for label in (*one.counts, *one.labels)})
        number = {label: k for k, label in enumerate(names)}
        label = np.array([number[label] for one in every for label in one.labels], np.int64)
        owner = np.repeat(np.arange(len(every)), [len(one.scores) for one in every])
        scores = np.concatenate([np.empty(0), *(one.scores for one in every)])
        right = np.concatenate([np.empty((0, len(self.at)), np.int8), *(one.right for one in every)])
        order = np.lexsort((-scores, label))
        parts = np.split(order, np.searchsorted(label[order], np.arange(1, len(names))))
        counts = np.array([[one.counts.get(name, 0) for name in names] for one in every], np.float64)
        return [(owner[part], right[part]) for part in parts][: len(names)], counts.reshape(len(every), len(names))


def _mean(values: F64, axes: tuple[int, ...]) -> F64:
    """The mean of what is defined; NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axes)
    out: F64 = np.divide(
        np.where(known, values, 0.0).sum(axis=axes), count, out=np.full(count.shape, np.nan), where=count > 0
    )
    return out


def area(hits: F64, misses: F64, total: float, interpolation: str) -> float:
    """The area under a precision-recall curve whose steps have so many right and wrong ones so far."""
    seen = hits + misses
    some = np.flatnonzero(seen > 0)
    if not len(some):
        return 0.0
    precision, recall = hits[some] / seen[some], hits[some] / total
    if interpolation == "step":
        return float(np.sum(np.diff(recall, prepend=0.0) * precision))
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    if interpolation == "voc":
        return float(np.sum(np.diff(recall, prepend=0.0) * precision))
    wanted = RECALLS if interpolation == "coco" else np.linspace(0.0, 1.0, 11)
    places = np.searchsorted(recall, wanted, side="left")
    reached = places < len(recall)
    return float(np.where(reached, precision[np.minimum(places, len(recall) - 1)], 0.0).mean())


BINS = 10


class Steps(NamedTuple):
    """The distinct scores from the highest to the lowest; with each, how many claims are at least as sure, and how many of them are right."""

    thresholds: F64
    accepted: F64
    right: F64


def steps(scores: F64, right: Mask) -> Steps:
    """The claims ranked by their scores, ties as one step."""
    order = np.argsort(-scores, kind="stable")
    ends = step_ends(scores[order])
    return Steps(scores[order][ends], (ends + 1).astype(np.float64), np.cumsum(right[order], dtype=np.float64)[ends])


def step_ends(ranked: F64) -> I64:
    """Where each run of equal scores ends."""
    return np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else np.zeros(0, np.int64)


def brier(confidence: F64, right: Mask) -> float | None:
    """The mean squared error of the confidence; lower is better."""
    return float(np.mean((confidence - right) ** 2)) if len(right) else None


def reliability(confidence: F64, right: Mask, bins: int = BINS) -> tuple[I64, F64, F64]:
    """By bin of equal width: how many claims, their mean confidence, and the share that is right (NaN where there are none)."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    which = np.searchsorted(edges[1:-1], confidence)
    counts = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        means, shares = (np.bincount(which, weights=one, minlength=bins) / counts for one in (confidence, right))
    return counts, means, shares


def calibration_error(confidence: F64, right: Mask, bins: int = BINS) -> float | None:
    """The expected calibration error; lower is better."""
    counts, means, shares = reliability(confidence, right, bins)
    some = counts > 0
    return float(np.sum(counts[some] / len(right) * np.abs(shares[some] - means[some]))) if len(right) else None


def auroc(scores: F64, right: Mask) -> float | None:
    """The area under the ROC curve; None unless some claims are right and some wrong."""
    found = steps(scores, right)
    wrong = found.accepted - found.right
    positives, negatives = int(right.sum()), int(len(right) - right.sum())
    if not positives or not negatives:
        return None
    area = np.diff(wrong, prepend=0.0) * (found.right + np.concatenate(([0.0], found.right[:-1]))) / 2
    return float(area.sum() / (positives * negatives))


def precision_recall(scores: F64, right: Mask, there: int | None = None) -> tuple[F64, F64, F64]:
    """Threshold, precision and recall at each step; `there` is how many right claims there could have been, else those there are."""
    found = steps(scores, right)
    return found.thresholds, found.right / found.accepted, found.right / (int(right.sum()) if there is None else there)


def average_precision(scores: F64, right: Mask, there: int | None = None) -> float | None:
    """The area under precision over recall, as steps without interpolation; None if there was nothing to find."""
    if not (int(right.sum()) if there is None else there):
        return None
    _, precision, recall = precision_recall(scores, right, there)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def lowest_step(accepted: NDArray[Any], right: NDArray[Any], target: float) -> I64:
    """Along the last axis, the last step at which the share that is right reaches the target; -1 where none does."""
    reached = (accepted > 0) & (right >= target * accepted - 1e-9)
    n = reached.shape[-1]
    last = n - 1 - np.argmax(reached[..., ::-1], axis=-1) if n else np.full(reached.shape[:-1], -1)
    return np.where(reached.any(axis=-1), last, -1)


def share_interval(right: Mask, groups: I64, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's interval of the share that is right. Claims of one group (a document) are not independent: as many count as would say
    as much if they were (the design effect of the ratio Σ right / Σ claims over groups), but never more than there are."""
    n = float(len(right))
    if not n:
        return None
    share = float(right.mean())
    _, which = np.unique(groups, return_inverse=True)
    count = int(which.max()) + 1
    if 0 < share < 1 and 1 < count < n:
        off = np.bincount(which, weights=right - share)
        effect = float(np.sum(off**2)) * count / (count - 1) / (n * share * (1 - share))
        n = n / max(1.0, effect)
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1))
    return (low if share > 0 else 0.0, high if share < 1 else 1.0)
