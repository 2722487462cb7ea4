"""How far predictions that say how sure they are can be trusted: calibration, and which of them need no person to look at them.

Each confidence is a claim about the value that it stands with, and the claim is right if that value is right in everything: a
leaf that equals its partner, an item that was matched and lacks nothing, a document without a fault. What was matched is what the score
counts (`explain_documents`). A value that nothing in the reference can meet is a wrong claim; null is right where the reference has
nothing, too.

A document is as sure as the least sure of its claims, or as it says of itself as a whole. The review curve says for each threshold which
share of documents is at least as sure as that, and how many of these are right in everything; a document without a confidence is
never accepted. An accuracy has Wilson's interval; those of the threshold and of the share are of a bootstrap over documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.algebra.alignment import align_documents
from tallystick.algebra.derive import json_keys
from tallystick.algebra.node import Node
from tallystick.engine import ranked as ranking
from tallystick.engine.arrays import F64, I64, Mask
from tallystick.engine.data import Objects, Scope
from tallystick.engine.drawing import documents_drawn
from tallystick.engine.ranked import Steps
from tallystick.engine.values import field_names
from tallystick.errors import MetricError, check_share, counted
from tallystick.frozen import frozen
from tallystick.results.explanation import MATCHED, MISSED, SPURIOUS, Explanation, explain_documents
from tallystick.results.result import RESAMPLES
from tallystick.show.tables import Column, Table, Tables

Address = tuple[Any, ...]
WHOLE = "(document)"
ALL, DOCUMENTS = "all values", "documents"
LEVEL = 0.95


@frozen(eq=False)
class Claims:
    """All confidences of a corpus: of which path, how sure, whether right, in which document."""

    paths: tuple[str, ...]
    path: I64
    confidence: F64
    right: Mask
    document: I64
    documents_right: Mask
    """Which documents are right in everything."""
    there: Mapping[str, int] = field(default_factory=dict)
    """How many values or items the reference has at each path."""
    notes: tuple[str, ...] = ()
    reviews: dict[tuple[float, int, int], Review] = field(default_factory=dict, repr=False)
    """What was found already, by target, resamples and seed."""

    @cached_property
    def units(self) -> dict[str, I64]:
        """The claims of all values, and by path; those about whole documents are not about values."""
        rows = {path: np.flatnonzero(self.path == k) for k, path in enumerate(self.paths)}
        values = np.flatnonzero(self.path != self.paths.index(WHOLE)) if WHOLE in rows else np.arange(len(self.path))
        return {**({ALL: values} if len(values) else {}), **rows}

    @cached_property
    def by_document(self) -> F64:
        """How sure each document is; NaN where it says nothing."""
        least = np.full(len(self.documents_right), np.nan)
        np.fmin.at(least, self.document, self.confidence)
        for row in self.units.get(WHOLE, np.zeros(0, np.int64)).tolist():
            least[self.document[row]] = self.confidence[row]
        return least

    def __add__(self, other: Claims) -> Claims:
        paths = tuple(dict.fromkeys((*self.paths, *other.paths)))
        place = np.array([paths.index(path) for path in (*self.paths, *other.paths)], np.int64)
        mine, theirs = place[: len(self.paths)][self.path], place[len(self.paths) :][other.path]
        return Claims(
            paths,
            np.concatenate((mine, theirs)),
            np.concatenate((self.confidence, other.confidence)),
            np.concatenate((self.right, other.right)),
            np.concatenate((self.document, other.document + len(self.documents_right))),
            np.concatenate((self.documents_right, other.documents_right)),
            dict(Counter(self.there) + Counter(other.there)),
            (*self.notes, *other.notes),
        )


# Claims, judged document by document


@dataclass
class Judging:
    """Says which claims of predictions are right, a batch of documents at a time."""

    metric: Node
    paths: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, float, bool, int]] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    there: Counter[str] = field(default_factory=Counter)
    without: int = 0
    first_without: str = ""
    unread: int = 0
    apart: Counter[str] = field(default_factory=Counter)

    def look(
        self, ids: Sequence[Any], sides: tuple[Sequence[Any], Sequence[Any]], right: Mask | None, said: Any
    ) -> None:
        """Judge what the predictions of some documents say; `right` says which documents are right in everything, and `said` has
        what the prediction of an id says, by address, and its values as they were written."""
        trees = explain_documents(self.metric, list(sides[0]), list(sides[1]))
        for k, (key, tree) in enumerate(zip(ids, trees, strict=True)):
            number = len(self.right)
            self.right.append(tree.status == MATCHED and (is_right(tree) if right is None else bool(right[k])))
            for path, confidence, fine in self._judge(key, tree, *said(key)):
                self.rows.append((self.paths.setdefault(path, len(self.paths)), confidence, fine, number))

    def claims(self, supports: Collection[tuple[str, int]] = ()) -> Claims:
        """All that was judged; `supports` say how many values the reference has at the paths of leaves."""
        there = Counter({path: n for path, n in self.there.items() if path not in {one for one, _ in supports}})
        for path, support in supports:
            there[path] += support
        columns = [np.array(column) for column in zip(*self.rows, strict=True)] or [np.zeros(0)] * 4
        paths, confidence, right, document = columns
        notes = []
        if self.unread:
            notes.append(
                f"without an answer that could be read, in no figure of calibration and never accepted: {counted(self.unread, 'document')}"
            )
        if self.without:
            notes.append(
                f"without a confidence, and in no figure of calibration: {counted(self.without, 'predicted value')}, the first: {self.first_without}"
            )
        if self.apart:
            listed = ", ".join(f"{name} {times:,}" for name, times in self.apart.most_common(5))
            notes.append(
                f"confidences of what is not compared, left out: {counted(sum(self.apart.values()), 'confidence')} ({listed})"
            )
        return Claims(
            tuple(self.paths), paths.astype(np.int64), confidence.astype(np.float64), right.astype(np.bool_),
            document.astype(np.int64), np.array(self.right, np.bool_), dict(there), tuple(notes),
        )  # fmt: skip

    @cached_property
    def _compared(self) -> frozenset[str]:
        """The paths that the metric looks at, without the cases of unions."""
        inner = self.metric.summed
        r, p = inner.encode(Objects([]), Objects([]), Scope())
        return frozenset(plain_path(level.path) for level in align_documents(inner, r, p).descend())

    def _judge(
        self, key: Any, tree: Explanation, said: Mapping[Address, float], written: Any
    ) -> list[tuple[str, float, bool]]:
        if tree.status == MISSED:  # a prediction that could not be read says nothing
            self.unread += 1
            count_paths(tree.reference, "", self.there)
            return []
        walk = _Walk(said, self.there, written)
        walk.visit(tree, (), "", covered=False)
        if walk.bare:
            self.without += len(walk.bare)
            self.first_without = self.first_without or f"document {key}: {walk.bare[0] or WHOLE}"
        for address in [one for one in said if one not in walk.done]:
            path = _general(address)
            fine = walk.right_at(address, path, self._compared)
            if fine is None:
                self.apart[path] += 1
            else:
                walk.out.append((path, said[address], fine))
        return walk.out


@dataclass
class _Walk:
    """Down the alignment of one document, along the addresses of its predicted values."""

    said: Mapping[Address, float]
    there: Counter[str]
    written: Any
    """The prediction as plain data."""
    out: list[tuple[str, float, bool]] = field(default_factory=list)
    done: set[Address] = field(default_factory=set)
    seen: dict[Address, Explanation] = field(default_factory=dict)
    surplus: set[str] = field(default_factory=set)
    bare: list[str] = field(default_factory=list)
    """The paths of predicted values without a confidence."""

    def visit(self, node: Explanation, address: Address, path: str, covered: bool, entry: bool = False) -> None:
        """A value of the prediction, aligned or alone; an `entry` of a mapping is its key with its value, and has the value's
        address."""
        inside = node.children if node.status == MATCHED else ()
        self.seen[address] = node
        if address in self.said and not (entry and inside):
            self.done.add(address)
            name = f"{path}.value" if entry else path or WHOLE
            self.out.append((name, self.said[address], node.status == MATCHED and is_right(node)))
            covered = True
        if node.status == MATCHED:
            self.there[path] += 1
        for child in inside:
            if not entry:
                self._child(child, address, path, covered, node.predicted)
            elif child.name == "value" and child.status != MISSED:
                self.visit(child, address, f"{path}.value", covered)
        if not inside and not covered and not any(one[: len(address)] == address for one in self.said):
            self.bare.append(path)

    def _child(self, child: Explanation, address: Address, path: str, covered: bool, owner: Any) -> None:
        if child.how in ("empty", "unknown key", "wrong kind"):  # known by its path alone
            self.surplus.add(child.name)
            return
        step: Address = ()
        if child.places:
            path += "[*]"
            step = () if child.places[1] is None else (self._item(child, address, owner),)
        elif not child.name.startswith("<"):
            path = f"{path}.{child.name}" if path else child.name
            step = (self._key(child.name, address, owner),)
        if child.status == MISSED:
            count_paths(child.reference, path, self.there)
        else:
            self.visit(child, (*address, *step), path, covered, entry=bool(child.places) and isinstance(owner, Mapping))

    def _item(self, child: Explanation, address: Address, owner: Any) -> Any:
        """The last step to an item: its place, or its key in a mapping. A set has an order of its own, so that its items are known by
        what they are."""
        place = child.places[1]
        if isinstance(owner, Mapping):
            return list(owner)[place or 0]
        if isinstance(owner, (set, frozenset)):
            listed = self.written
            for step in address:
                listed = listed[step]
            return next(
                (k for k, one in enumerate(listed) if one == child.predicted and (*address, k) not in self.seen), None
            )
        return place

    def _key(self, name: str, address: Address, owner: Any) -> str:
        """The last step to a field: the key that it was written under, which may be an alias."""
        for key in json_keys(type(owner)).get(name, ()):
            if any(one[: len(address) + 1] == (*address, key) for one in self.said):
                return key
        return name

    def right_at(self, address: Address, path: str, compared: frozenset[str]) -> bool | None:
        """Whether a claim about something that the alignment has no row for is right; None if nothing is compared there."""
        above = next(self.seen[address[:n]] for n in range(len(address), -1, -1) if address[:n] in self.seen)
        if path in self.surplus or above.status == SPURIOUS:
            return False
        if not above.children:  # a part of what is compared as a whole
            return above.status == MATCHED and is_right(above)
        missed = any(child.status == MISSED and child.name == address[-1] for child in above.children)
        return not missed if path in compared else None


def plain_path(path: str) -> str:
    """A path without the cases of unions."""
    return re.sub(r"<[^>]*>", "", path)


def is_right(node: Explanation) -> bool:
    """Whether an aligned value is right in everything."""
    return node.weight >= max(node.reference_self, node.predicted_self) - 1e-9


def count_paths(value: Any, path: str, out: Counter[str]) -> None:
    """Count a value and all that is in it, by path; null is nothing."""
    if value is None:
        return
    out[path] += 1
    if isinstance(value, Mapping):
        for name, one in value.items():
            count_paths(one, f"{path}.{name}" if path else str(name), out)
    elif isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
        for one in value:
            count_paths(one, f"{path}[*]", out)
    elif not isinstance(value, (str, bytes, int, float)):
        for name in field_names(value):
            count_paths(getattr(value, name, None), f"{path}.{name}" if path else name, out)


def _general(address: Address) -> str:
    return "".join("[*]" if isinstance(step, int) else f".{step}" for step in address).removeprefix(".") or WHOLE


def claims_of_items(
    name: str,
    sides: tuple[Sequence[Sequence[Any]], Sequence[Sequence[Any]]],
    scores: Sequence[Sequence[float | None]],
    distinct: bool = False,
) -> Claims:
    """Ranked items: in each document the surest takes an item of the reference that equals it and is not taken yet. `sides` have for
    each document what its items are compared by. A duplicate of what is taken is wrong; where items are `distinct` it is no claim."""
    rows: list[tuple[float, bool, int]] = []
    documents = []
    without = there = 0
    for k, (reference, predicted, sure) in enumerate(zip(*sides, scores, strict=True)):
        left = Counter(dict.fromkeys(reference, 1) if distinct else reference)
        there += left.total()
        seen: set[Any] = set()
        ranked = [(-1.0 if one is None else one, item) for one, item in zip(sure, predicted, strict=True)]
        for score, item in sorted(ranked, key=lambda one: -one[0]):
            if distinct and item in seen:
                continue
            seen.add(item)
            right = left[item] > 0
            left[item] -= right
            if score >= 0:
                rows.append((score, right, k))
        without += sum(one is None for one in sure)
        documents.append(set(reference) == seen if distinct else Counter(reference) == Counter(predicted))
    confidence, fine, document = (np.array(column) for column in zip(*rows, strict=True))
    note = f"without a confidence, and in no figure of calibration: {counted(without, 'predicted item')}"
    return Claims(
        (name,), np.zeros(len(rows), np.int64), confidence.astype(np.float64), fine.astype(np.bool_), document.astype(np.int64),
        np.array(documents, np.bool_), {name: there}, (note,) if without else (),
    )  # fmt: skip


# Calibration


@frozen
class Bin:
    """The claims whose confidence lies in a range."""

    low: float
    high: float
    claims: int
    confidence: float | None
    accuracy: float | None


@frozen
class CalibrationFigures:
    """How well the confidences of one field, or of all, fit what is right."""

    claims: int
    accuracy: float | None
    confidence: float | None
    """The mean."""
    ece: float | None
    brier: float | None
    auroc: float | None
    average_precision: float | None
    bins: tuple[Bin, ...]

    @staticmethod
    def of(confidence: F64, right: Mask, there: int | None = None, bins: int = ranking.BINS) -> CalibrationFigures:
        """The figures of some claims."""
        n = len(right)
        counts, means, shares = ranking.reliability(confidence, right, bins)
        edges = np.linspace(0.0, 1.0, bins + 1).tolist()
        some = [
            Bin(edges[k], edges[k + 1], int(counts[k]), *((float(means[k]), float(shares[k])) if counts[k] else (None, None)))
            for k in range(bins)
        ]  # fmt: skip
        return CalibrationFigures(
            n,
            float(right.mean()) if n else None,
            float(confidence.mean()) if n else None,
            ranking.calibration_error(confidence, right, bins),
            ranking.brier(confidence, right),
            ranking.auroc(confidence, right),
            ranking.average_precision(confidence, right, there),
            tuple(some),
        )


@dataclass(frozen=True, repr=False)
class Calibration:
    """Calibration of all values together, and by field."""

    fields: Mapping[str, CalibrationFigures]

    @property
    def all(self) -> CalibrationFigures:
        """That of all values; of documents, where only these have confidences."""
        return self.fields.get(ALL) or self.fields[WHOLE]

    def table(self) -> Table:
        """A row for all values and for each field."""
        columns = ["confidences of", Column("number", "count"), "accuracy", "mean", "ECE", "Brier", "AUROC", "AP"]
        rows = [
            [path, one.claims, one.accuracy, one.confidence, one.ece, one.brier, one.auroc, one.average_precision]
            for path, one in self.fields.items()
        ]
        return Table(columns, rows, "Calibration")

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {path: asdict(one) for path, one in self.fields.items()}

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def calibrate(claims: Claims, bins: int = ranking.BINS) -> Calibration:
    """The calibration of all claims, and of those of each field."""
    if type(bins) is not int or bins < 1:
        raise MetricError(f"bins: expected a whole number of at least 1, found {bins!r}")
    found = {}
    for path, rows in claims.units.items():
        whole = len(claims.documents_right) if path == WHOLE else None
        there = sum(claims.there.get(one, 0) for one in claims.paths if one != WHOLE) if path == ALL else whole
        there = claims.there.get(path, 0) if there is None else there
        found[path] = CalibrationFigures.of(claims.confidence[rows], claims.right[rows], there, bins)
    return Calibration(found)


# Review


@frozen
class Accepted:
    """What is accepted above a threshold: which share, and how much of it is right, with intervals."""

    target: float
    threshold: float | None
    """The lowest confidence at which the target is reached; None if it never is."""
    share: float
    accuracy: float | None
    count: int
    """How many there are in all."""
    accuracy_interval: tuple[float, float] | None = None
    share_interval: tuple[float, float] | None = None
    threshold_interval: tuple[float, float] | None = None
    reached: float = 0.0
    """The share of resamples in which the target is reached at some threshold."""
    curve: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)
    """(threshold, share, accuracy) from the surest to the least sure."""


@dataclass(frozen=True, repr=False)
class Review:
    """Which documents, or which values of a field, need not be looked at."""

    target: float
    units: Mapping[str, Accepted]

    @property
    def documents(self) -> Accepted:
        """Whole documents."""
        return self.units[DOCUMENTS]

    def table(self) -> Table:
        """A row for documents, all values and each field."""
        columns = ["accept", Column("number", "count"), Column("above", "number"), "share", "accuracy", "95 % interval"]
        rows = [
            [name, one.count, one.threshold, one.share, one.accuracy, _ends(one.accuracy_interval)]
            for name, one in self.units.items()
        ]
        return Table(columns, rows, f"Review: what can be accepted with {100 * self.target:g} % right")

    def as_dict(self, most: int = 101) -> dict[str, Any]:
        """As plain data; a curve of more than `most` steps keeps that many, evenly spread over them, and the first and last."""
        return {
            "target": self.target,
            **{name: {**asdict(one), "curve": thinned(one.curve, most)} for name, one in self.units.items()},
        }

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def thinned(curve: Sequence[tuple[float, float, float]], most: int) -> list[tuple[float, float, float]]:
    """At most so many steps of a curve."""
    if len(curve) <= most:
        return list(curve)
    return [curve[k] for k in np.unique(np.linspace(0, len(curve) - 1, most).round().astype(int)).tolist()]


def review(claims: Claims, target: float = 0.95, *, resamples: int = RESAMPLES, seed: int = 0) -> Review:
    """From which confidence on documents, and values, reach a target accuracy."""
    check_share("target", target)
    known = claims.reviews.get((target, resamples, seed))
    if known is not None:
        return known
    n = len(claims.documents_right)
    sure = claims.by_document
    some = np.flatnonzero(~np.isnan(sure))
    units = {DOCUMENTS: _Unit.of(sure[some], claims.documents_right[some], some, target, n)}
    for path, rows in claims.units.items():
        if path != WHOLE:
            units[path] = _Unit.of(claims.confidence[rows], claims.right[rows], claims.document[rows], target)
    drawn = {name: unit for name, unit in units.items() if unit.step >= 0} if n > 1 else {}
    for block in documents_drawn((n,), resamples, seed) if drawn and resamples else ():
        for row in block.astype(np.int32):
            for unit in drawn.values():
                unit.draw(row, target)
    found = Review(target, {name: unit.accepted(target) for name, unit in units.items()})
    claims.reviews[target, resamples, seed] = found
    return found


@frozen(eq=False)
class _Unit:
    """What is accepted or not, the surest first: whether each is right, and of which document; and where each run of equal confidences
    ends. Of whole documents some may say nothing; they are never accepted, and are counted."""

    steps: Steps
    ends: I64
    right: NDArray[np.int32]
    document: I64
    step: int
    """The last step at which the target is reached; -1: none."""
    count: int
    whole: bool
    thresholds: list[float] = field(default_factory=list)
    """What resamples of documents would have chosen, as far as they reach the target."""
    shares: list[float] = field(default_factory=list)

    @staticmethod
    def of(confidence: F64, right: Mask, document: I64, target: float, documents: int | None = None) -> _Unit:
        """Of some claims, or, of so many `documents`, of those that say how sure they are."""
        order = np.argsort(-confidence, kind="stable")
        found = ranking.steps(confidence, right)
        step = int(ranking.lowest_step(found.accepted, found.right, target))
        count = len(right) if documents is None else documents
        ends = ranking.step_ends(confidence[order])
        return _Unit(found, ends, right[order].astype(np.int32), document[order], step, count, documents is not None)

    def draw(self, times: NDArray[np.int32], target: float) -> None:
        """One resample: how often each document was drawn."""
        weights = times[self.document]
        accepted = np.cumsum(weights)[self.ends]
        right = np.cumsum(weights * self.right)[self.ends]
        chosen = int(ranking.lowest_step(accepted, right, target))
        if chosen >= 0:
            self.thresholds.append(float(self.steps.thresholds[chosen]))
        total = self.count if self.whole else accepted[-1]
        if total:
            self.shares.append(float(accepted[self.step] / total))

    def accepted(self, target: float) -> Accepted:
        """What it came to."""
        found, step = self.steps, self.step
        columns = found.thresholds, found.accepted / max(self.count, 1), found.right / found.accepted
        curve = tuple(zip(*(column.tolist() for column in columns), strict=True))
        if step < 0:
            return Accepted(target, None, 0.0, None, self.count, curve=curve)
        threshold, share, accuracy = curve[step]
        chosen = slice(0, int(self.ends[step]) + 1)
        interval = ranking.share_interval(self.right[chosen] > 0, self.document[chosen])
        reached = len(self.thresholds) / len(self.shares) if self.shares else 0.0
        return Accepted(
            target, threshold, share, accuracy, self.count, interval, _quantiles(self.shares), _quantiles(self.thresholds), reached, curve
        )  # fmt: skip


def _quantiles(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high


def _ends(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else "{:.4f} to {:.4f}".format(*interval)


def confidence_tables(claims: Claims, target: float) -> tuple[Tables, dict[str, Any]]:
    """What the command shows: both tables, and the same as JSON."""
    calibration, accepted = calibrate(claims), review(claims, target)
    json = {"calibration": calibration.as_dict(), "review": accepted.as_dict()}
    return Tables([calibration.table(), accepted.table()]), json
