"""What a prediction has that nothing in the reference can meet: nothing of it is free.

    a key that the type does not know        what a model made up
    a value of another kind                  "x" where an object should be, null among the items of a list of objects
    an item that holds nothing               {} in a list of objects

Each such thing counts as many values predicted as it has leaves, and as one if it has none. There is one rule for types, schemas,
inferred shapes, columns and plain values: a `Surplus` around the document, whose leaves the tally adds to what was predicted.
Keys are known from the type (`known_keys`); what a similarity can compare it says itself (`Similarity.accept`).

Not counted is

    under an unknown key what the document's own reference has there too: the shape looks away on purpose
    what is in an object that allows further keys: `additionalProperties: true`, pydantic's `extra="allow"`
    what lies below an ignored field; and null under a key, which is nothing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tallystick.engine.data import Data, Extended, Nullable, Objects, Rows, Scope, as_objects, split_surplus
from tallystick.engine.values import REFUSED, Invalid, Refusals, Surplus, Unfit, leaves, leaves_or_self
from tallystick.errors import ValueMismatch, counted

if TYPE_CHECKING:
    from tallystick.algebra.derive import Shape
    from tallystick.algebra.node import Node

COMPOUND = frozenset((dict, list))
OPEN = "__further_keys_welcome__"
"""The mark of a record type that a schema leaves open."""


@dataclass
class Surpluses:
    """What was found: by path how many values of the wrong kind and under unknown keys, and the first of each."""

    misfits: Counter[str] = field(default_factory=Counter)
    first_misfit: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    first_unknown: str = ""
    unknown_counts: bool = True
    advice = ""
    """What else can be done about unknown keys."""

    def add(self, other: Surpluses) -> None:
        """Put what was found in later documents behind this."""
        self.misfits.update(other.misfits)
        self.first_misfit = self.first_misfit or other.first_misfit
        self.unknown.update(other.unknown)
        self.first_unknown = self.first_unknown or other.first_unknown
        self.unknown_counts = other.unknown_counts

    def note_unknown(self, key: Any, path: str, value: Any, times: int = 1) -> None:
        """Remember values under a key that the shape does not know."""
        self.unknown[path] += times
        self.first_unknown = self.first_unknown or f"document {key}: {path}: {value!r:.40}"

    def note_misfit(self, path: str, first: str, times: int = 1) -> None:
        """Remember values that are not of the kind that their place asks for."""
        self.misfits[path or "(document)"] += times
        self.first_misfit = self.first_misfit or first

    def lines(self) -> Iterator[str]:
        """The same in words, as warnings."""
        if self.misfits:
            total = sum(self.misfits.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.misfits.most_common(5))
            yield f"of the wrong kind, counted as wrong: {counted(total, 'value')} ({where}); the first: {self.first_misfit}"
        if self.unknown:
            total = sum(self.unknown.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.unknown.most_common(5))
            where += f" and {len(self.unknown) - 5:,} more" if len(self.unknown) > 5 else ""
            how = f"counted as extra{self.advice}" if self.unknown_counts else "ignored"
            yield (
                f"under keys that the reference does not have, {how}: {counted(total, 'value')} ({where}); "
                f"the first: {self.first_unknown}"
            )


# Which keys a type knows, at every place of a document.


@dataclass
class Place:
    """What may be at one place of a document: the keys of an object, and what is below keys, values and items."""

    known: set[str] = field(default_factory=set)
    record: bool = False
    open: bool = False
    below: dict[str, Place] = field(default_factory=dict)
    values: Place | None = None
    items: Place | None = None
    items_count: bool = False
    """Whether an item counts by itself, even if it holds nothing: as a product does."""
    kinds: set[type] = field(default_factory=set)
    """Whether objects and lists may be there at all."""
    cases: list[Place] = field(default_factory=list)
    """The records of a union of several; each knows its own keys only."""
    fixed: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """What may be under keys that tell the records of a union apart."""
    loose: bool = False
    """Whether something else may be there that JSON has as an object or a list: a tree, a tuple."""
    scalars: set[str] = field(default_factory=set)
    """The keys under which there are neither objects nor lists."""
    scalar_values: bool = False
    scalar_items: bool = False

    def and_also(self, keys: Collection[str]) -> Place:
        """The same with more keys that are known."""
        return replace(self, known=self.known | set(keys), cases=[case.and_also(keys) for case in self.cases])

    def case_of(self, value: dict[str, Any]) -> Place:
        """The record of a union that an object is: one that its fixed values allow, with the fewest keys that are unknown there."""

        def misfit(case: Place) -> tuple[int, int]:
            wrong = sum(key in value and value[key] not in allowed for key, allowed in case.fixed.items())
            return wrong, sum(key not in case.known and one is not None for key, one in value.items())

        return min(self.cases, key=misfit) if self.cases else self

    def find(self, value: Any) -> list[tuple[str, Any]]:
        """The leaves under unknown keys of a document, each with the path of its key, and items that hold nothing."""
        return self.look(value, False)[0]

    def look(self, value: Any, kinds: bool = True) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        """The same, and objects and lists where the type has something else, each with its path."""
        out: list[tuple[str, Any]] = []
        wrong: list[tuple[str, Any]] = []
        _find(value, self, "", out, wrong if kinds else None)
        return out, wrong

    def takes(self, kind: type) -> bool:
        """Whether an object or a list may be there."""
        return kind in self.kinds or self.loose

    def fit(self, value: Any) -> Any:
        """A value with the objects and lists marked that are where the type has something else."""
        kind = type(value)
        if kind not in COMPOUND:
            return value
        if not self.takes(kind):
            return Unfit(value)
        if kind is list:
            return [_fit_inside(one, self.items, self.scalar_items) for one in value]
        place = self.case_of(value)
        if not place.record:
            return {key: _fit_inside(one, place.values, place.scalar_values) for key, one in value.items()}
        return {key: _fit_inside(one, place.below.get(key), key in place.scalars) for key, one in value.items()}


def known_keys(type_: Any, ignored: Collection[str] = (), counted: Collection[str] = ()) -> Place:
    """The keys that a type knows, but for what lies below ignored paths; the items at the paths in `counted` count by themselves."""
    return _Walker(type_, ignored, counted).top


def counted_items(node: Node, path: str = "") -> Iterator[str]:
    """The paths of items that a metric counts even if they hold nothing."""
    structure = getattr(node, "structure", "")
    for name, part in node.parts():
        below = f"{path}[*]" if structure == "items" else path
        if structure == "record":
            below = f"{path}.{name}" if path else name
        elif structure == "items" and getattr(part, "counts_empty", False):
            yield below
        yield from counted_items(part, below)


class _Walker:
    def __init__(self, type_: Any, ignored: Collection[str], counted: Collection[str] = ()) -> None:
        from tallystick.algebra.derive import shape_of

        self.ignored, self.counted, self.shape_of = set(ignored), set(counted), shape_of
        self._seen: dict[Any, Place] = {}
        self.top = Place()
        self._add(self.top, shape_of(type_), "")

    def _add(self, place: Place, shape: Shape, path: str) -> None:
        if shape.kind == "union":
            cases = [self.shape_of(case) for case in shape.parts.values()]
            several = sum(case.kind == "record" and case.keys is not None for case in cases) > 1
            for case in cases:
                self._add(place, case, path)
                if several and case.kind == "record" and case.keys is not None:
                    place.cases.append(Place())
                    self._add(place.cases[-1], case, path)
        elif shape.kind == "map":
            place.kinds.add(dict)
            if shape.parts:
                place.values = self._inner(shape.parts["value"], f"{path}[*].value")
                place.scalar_values = self._is_scalar(shape.parts["value"], f"{path}[*].value")
        elif shape.kind == "items":
            place.kinds.add(list)
            if shape.parts:
                place.items = self._inner(shape.item, f"{path}[*]")
                place.scalar_items = self._is_scalar(shape.item, f"{path}[*]")
            place.items_count = f"{path}[*]" in self.counted
        elif shape.keys is not None:
            self._add_record(place, shape, shape.keys, path)
        elif not shape.is_leaf or shape.kind == "unknown":
            place.loose = True

    def _add_record(self, place: Place, shape: Shape, fields: Mapping[str, Any], path: str) -> None:
        from tallystick.algebra.derive import json_keys

        origin, called = shape.origin, json_keys(shape.origin)
        place.record = True
        place.kinds.add(dict)
        place.open = place.open or getattr(origin, OPEN, False) or _allows(origin)
        place.known.update(key for name in fields for key in called.get(name, (name,)))
        for name, one in fields.items():
            inner = self.shape_of(one)
            parts = [self.shape_of(part) for part in inner.parts.values()] if inner.kind == "union" else [inner]
            if all(part.origin is Literal for part in parts):
                allowed = tuple(value for part in parts for value in get_args(part.type))
                place.fixed.update(dict.fromkeys(called.get(name, (name,)), allowed))
        seen = self._seen.setdefault(origin, place)
        if seen is not place:  # a type that contains itself, as one of several
            place.below = {**place.below, **seen.below} if place.below else seen.below
            place.scalars = place.scalars | seen.scalars if place.scalars else seen.scalars
            return
        for name, one in fields.items():
            where = f"{path}.{name}" if path else name
            under = self._inner(one, where)
            if under is not None:
                place.below.update(dict.fromkeys(called.get(name, (name,)), under))
            elif self._is_scalar(one, where):
                place.scalars.update(called.get(name, (name,)))

    def _inner(self, type_: Any, path: str) -> Place | None:
        if path in self.ignored:
            return None
        shape = self.shape_of(type_)
        if not shape.notes and isinstance(shape.origin, type) and shape.origin in self._seen:
            return self._seen[shape.origin]  # a type that contains itself
        place = Place()
        self._add(place, shape, path)
        return place if place.kinds else None

    def _is_scalar(self, type_: Any, path: str) -> bool:
        """Whether no value of a type is an object or a list, whatever compares it."""
        shape = self.shape_of(type_)
        if shape.notes or path in self.ignored:
            return False
        if shape.kind == "union":
            return all(self._is_scalar(case, path) for case in shape.parts.values())
        return shape.kind == "leaf"


def _allows(origin: Any) -> bool:
    settings = getattr(origin, "model_config", None)
    return isinstance(settings, Mapping) and settings.get("extra") == "allow"


Found = list[tuple[str, Any]]


def _fit_inside(value: Any, place: Place | None, scalar: bool) -> Any:
    if place is not None:
        return place.fit(value)
    return Unfit(value) if scalar and type(value) in COMPOUND else value


def _find(value: Any, place: Place, path: str, out: Found, wrong: Found | None) -> None:
    kind = type(value)
    if kind is dict:
        if place.cases:
            place = place.case_of(value)
        if place.record:
            _find_in_record(value, place, path, out, wrong)
        elif place.values is not None:
            for one in value.values():
                _find(one, place.values, f"{path}[*].value", out, wrong)
        elif wrong is not None:
            _find_wrong(value, dict, place, path, wrong)
    elif kind is list:
        if place.items is not None:
            inner, below = place.items, f"{path}[*]"
            for one in value:
                if type(one) in inner.kinds and _holds_nothing(one):
                    out.extend([] if place.items_count else [(below, one)])
                else:
                    _find(one, inner, below, out, wrong)
        elif wrong is not None:
            _find_wrong(value, list, place, path, wrong)


def _find_wrong(value: Any, kind: type, place: Place, path: str, wrong: Found) -> None:
    """An object or a list where the type has something else, or in which such things are where it has plain values."""
    if not place.takes(kind):
        wrong.append((path, value))
        return
    scalar, inside = (place.scalar_values, value.values()) if kind is dict else (place.scalar_items, value)
    if scalar and not COMPOUND.isdisjoint(map(type, inside)):
        below = f"{path}[*].value" if kind is dict else f"{path}[*]"
        wrong.extend((below, one) for one in inside if type(one) in COMPOUND)


def _find_in_record(value: dict[Any, Any], place: Place, path: str, out: Found, wrong: Found | None) -> None:
    if not place.open and not value.keys() <= place.known:
        _find_unknown_keys(value, place, path, out)
    for key, inner in place.below.items():
        if key in value:
            _find(value[key], inner, f"{path}.{key}" if path else key, out, wrong)
    if wrong is not None and not COMPOUND.isdisjoint(map(type, map(value.get, place.scalars))):
        keys = (key for key in place.scalars if type(value.get(key)) in COMPOUND and key not in place.below)
        wrong.extend((f"{path}.{key}" if path else key, value[key]) for key in sorted(keys))


def _find_unknown_keys(value: dict[Any, Any], place: Place, path: str, out: list[tuple[str, Any]]) -> None:
    for key in value:
        if key not in place.known and value[key] is not None:
            where = f"{path}.{key}" if path else str(key)
            out.extend((where, leaf) for leaf in leaves_or_self(value[key]))


def _holds_nothing(value: Any) -> bool:
    """Whether a list or an object has no leaf; mostly the first thing in it is one."""
    first = next(iter(value.values() if type(value) is dict else value), None)
    return type(first) not in (str, int, float) and next(leaves(value), None) is None


def is_unknown(leaf: tuple[str, Any]) -> bool:
    """Whether a leaf that was found stands under a key that the type does not know."""
    return type(leaf[1]) is not Unfit and not leaf[0].endswith("[*]")


# Both sides of some documents with nothing left but what counts.

Find = Callable[[Any], "list[tuple[str, Any]]"]


def settle_unknown(
    keys: Sequence[Any],
    references: Sequence[Any],
    predictions: Sequence[Any],
    findings: Surpluses,
    find: Find | None = None,
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Both sides of some documents with nothing left but what counts; what was found is noted.

    What the reference has, too, does not count; if unknown keys are ignored, none of them does. With `find`, references were not
    looked through yet, as they have no unknown keys; items that hold nothing are looked for where a prediction has such.
    """
    references, excused = _split_unknown(references)
    if find is not None:
        excused = _empty_items(references, predictions, find)
    if isinstance(predictions, Rows):
        return references, _settle_columns(keys, predictions, excused, findings)
    if Surplus not in set(map(type, predictions)):
        return references, predictions
    out = list(predictions)
    for place, one in enumerate(predictions):
        if type(one) is Surplus:
            kept = _kept(
                one.leaves, {path: int(n[place]) for path, n in excused.items() if n[place]}, keys[place], findings
            )
            out[place] = Surplus(one.value, kept) if kept else one.value
    return references, out


def _empty_items(references: Sequence[Any], predictions: Sequence[Any], find: Find) -> dict[str, Any]:
    """By path how many items of each reference hold nothing, as far as predictions have such there."""
    if isinstance(predictions, Rows):
        _, found = split_surplus(predictions.data)
        rows = {row for path, n in found.items() if path.endswith("[*]") for row in np.flatnonzero(n).tolist()}
    else:
        surplus = ((k, one) for k, one in enumerate(predictions) if type(one) is Surplus)
        rows = {k for k, one in surplus if any(not is_unknown(leaf) for leaf in one.leaves)}
    counts: dict[str, Any] = {}
    for row in rows:
        for path, _ in find(references[row]):
            counts.setdefault(path, np.zeros(len(references), np.int64))[row] += 1
    return counts


def _kept(
    leaves: Sequence[tuple[str, Any]], excused: dict[str, int], key: Any, findings: Surpluses
) -> tuple[tuple[str, Any], ...]:
    """Of the leaves of one document those that count."""
    kept = []
    for path, value in leaves:
        unknown = is_unknown((path, value))
        if unknown and path not in excused:
            findings.note_unknown(key, path, value)
        elif not unknown and type(value) is not Unfit:
            if excused.get(path, 0) > 0:
                excused[path] -= 1
                continue
            findings.note_misfit(path, f"document {key}: {path}: {value!r:.40} holds nothing")
        if not unknown or (path not in excused and findings.unknown_counts):
            kept.append((path, value))
    return tuple(kept)


def _settle_columns(keys: Sequence[Any], predictions: Rows, excused: Mapping[str, Any], findings: Surpluses) -> Rows:
    data = predictions.data
    if not isinstance(data, Extended):
        return predictions
    left = {}
    for path, counts in data.counts.items():
        theirs = excused.get(path, 0)
        empty = path.endswith("[*]")
        counts = np.maximum(counts - theirs, 0) if empty else np.where(theirs, 0, counts)
        for first in np.flatnonzero(counts)[:1].tolist():
            example = next((leaf for where, leaf in data.shown[first].leaves if where == path), None)
            if empty:
                first_one = f"document {keys[first]}: {path}: {example!r:.40} holds nothing"
                findings.note_misfit(path, first_one, int(counts.sum()))
            else:
                findings.note_unknown(keys[first], path, example, int(counts.sum()))
        if counts.any() and (empty or findings.unknown_counts):
            left[path] = counts
    return Rows(Extended(data.values, left, data.shown) if left else data.values)


def _split_unknown(rows: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """One side without what its type does not know, and by path how much of it each document has."""
    data = rows.data if isinstance(rows, Rows) else Objects(rows)
    known, counts = split_surplus(data)
    if not counts:
        return rows, {}
    return known.values if isinstance(known, Objects) else Rows(known), dict(counts)


def split_known(metric: Node) -> tuple[Node, Place | None]:
    """A metric without the keys that the type it was derived from knows, for a reader who looks for unknown ones; and those."""
    known: Place | None = getattr(metric, "known", None)
    if known is None:
        return metric, None
    changed: Any = {"known": None}
    return replace(metric, **changed), known


def without_unknown(
    metric: Node, reference: Data, predicted: Data, names: Sequence[Any], findings: Surpluses
) -> tuple[Data, Data]:
    """Both sides with what the type of a derived metric does not know apart, and predicted objects and lists where it has
    something else; a reader has done so already."""
    place: Place | None = getattr(metric, "known", None)
    if place is None:
        return reference, predicted
    (ours, _), (theirs, misfits) = _look_through(place, reference, False), _look_through(place, predicted, True)
    if ours is reference and theirs is predicted and not misfits:
        return reference, predicted
    left, right = settle_unknown(names, as_objects(ours), as_objects(theirs), findings)
    if misfits:
        right = list(right)
        for row, wrong in misfits.items():
            if not place.look(left[row])[1]:  # what is wrong in the reference, too, is not the prediction's fault
                right[row] = _fit_document(metric, place, right[row], wrong, names[row], findings)
    return Objects(left), Objects(right)


def _fit_document(metric: Node, place: Place, value: Any, wrong: Found, name: Any, findings: Surpluses) -> Any:
    """A predicted document of which nothing is left but what can be compared, with the rest as what is surplus."""
    if not wrong[0][0]:
        expected = "a list" if list in place.kinds else "an object"
        raise ValueMismatch(f"document {name}: expected {expected}, found {type(value).__name__} {value!r:.60}")
    unknown = value.leaves if type(value) is Surplus else ()
    kept, refusals = accept_value(metric, place.fit(value.value if unknown else value))
    for path, found in (*(one for one in wrong if one[0] not in refusals.asked), *refusals.wrong):
        findings.note_misfit(path, f"document {name}: {path}: {found!r:.40}")
    leaves = (*unknown, *refusals.leaves)
    return Surplus(kept, leaves) if leaves else kept


def _look_through(place: Place, data: Data, kinds: bool) -> tuple[Data, dict[int, Found]]:
    """Documents with what is unknown in them around them: plain values as they are, columns if they have unknown fields. And by row
    the objects and lists that are where the type has something else."""
    if not isinstance(data, Objects):
        data = Objects(as_objects(data)) if not _knows_columns(place, data) else data
    if not isinstance(data, Objects) or COMPOUND.isdisjoint(data.kinds):
        return data, {}
    found = [place.look(value, kinds) if type(value) in COMPOUND else ((), ()) for value in data.values]
    wrong = {row: list(one[1]) for row, one in enumerate(found) if one[1]}
    if any(one[0] for one in found):
        both = zip(data.values, found, strict=True)
        data = Objects([Surplus(value, tuple(one[0])) if one[0] else value for value, one in both])
    return data, wrong


def _knows_columns(place: Place, data: Data) -> bool:
    """Whether all fields of columns are known ones."""
    from tallystick.engine.data import Bag, Index, Record

    if isinstance(data, Nullable):
        return _knows_columns(place, data.present)
    if isinstance(data, Index):
        return _knows_columns(place, data.values)
    if isinstance(data, Record) and place.record:
        if place.cases or (not place.open and not data.fields.keys() <= place.known):
            return False
        return all(_knows_columns(inner, data.fields[k]) for k, inner in place.below.items() if k in data.fields)
    if isinstance(data, Bag) and place.items is not None:
        return _knows_columns(place.items, data.items)
    return True


# What a metric cannot compare, told apart from what it can.


def accept_value(metric: Node, value: Any) -> tuple[Any, Refusals]:
    """What a metric can compare of a predicted document, and what it cannot."""
    refusals, inner = Refusals(), (metric if metric.by_side is None else metric.by_side[0]).summed
    kept = inner.accept(value, "", refusals)
    return inner.void if kept is REFUSED else kept, refusals


def accept_documents(metric: Node, predicted: Data, keys: Sequence[Any], findings: Surpluses) -> Data | None:
    """The documents with what the metric cannot compare apart, as what is surplus; None if it can compare all of them, or if a
    whole document is of another kind, which is no prediction. The keys of a type are spelled as they are: a prediction that lacks one
    lacks a value."""
    out, wrong, known = list(as_objects(predicted)), False, getattr(metric, "known", None) is not None
    plain = [one.value if type(one) is Surplus else one for one in out]
    rows = [row for row, one in enumerate(plain) if one is not None and type(one) is not Invalid]
    for place in _suspects(metric, [plain[row] for row in rows]):
        row = rows[place]
        value, refusals = accept_value(metric, plain[row])
        for path, found in refusals.wrong:
            if not path:
                return None
            findings.note_misfit(path, f"document {keys[row]}: {path}: {found!r:.40}")
        wrong = wrong or bool(refusals.wrong) or (known and value is not plain[row])
        leaves = (*(out[row].leaves if type(out[row]) is Surplus else ()), *refusals.leaves)
        out[row] = Surplus(value, leaves) if leaves else value
    return Objects(out) if wrong else None


def _suspects(metric: Node, values: list[Any], first: int = 0) -> Iterator[int]:
    """The places of values that cannot be encoded, by halving; of several that only cannot be together, all."""
    inner = (metric if metric.by_side is None else metric.by_side[0]).summed
    try:
        inner.encode(Objects([]), Objects(values), Scope())
        return
    except ValueMismatch:
        pass
    if len(values) > 1:
        middle = len(values) // 2
        found = [*_suspects(metric, values[:middle], first), *_suspects(metric, values[middle:], first + middle)]
        yield from found or range(first, first + len(values))
    else:
        yield first
