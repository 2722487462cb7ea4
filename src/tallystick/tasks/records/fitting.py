"""Predictions that do not fit their type, taken as far as they go; keys that the type does not know; and what was found on the way.

Nothing is coerced: "2" does not become 2. A leaf of the wrong kind becomes `Unfit`, which equals nothing and so counts as a
wrong value; a key that is not there stays missing; text where a list should be is a list of one unfit item. Every such
place is a finding that the reader counts.
"""

from __future__ import annotations

import collections.abc as abc
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from tallystick.algebra.derive import Shape, record_fields, shape_of, union_of
from tallystick.engine.data import Extended, Rows, Surplus, Unfit, split_surplus
from tallystick.errors import counted

MOST_LISTED = 1000
"""So many predictions that cannot be read are listed by name; all are counted."""


@dataclass
class Findings:
    """What happened to predictions on their way in: repairs by kind, values that did not fit, what could not be read."""

    repairs: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    misfits: Counter[str] = field(default_factory=Counter)
    first_misfit: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    first_unknown: str = ""
    unknown_counts: bool = True
    invalid: list[tuple[Any, str]] = field(default_factory=list)
    invalids: int = 0
    unread: int = 0
    first_unread: str = ""

    def add_invalid(self, key: Any, reason: str) -> None:
        """Count what could not be read; the first ones are listed."""
        self.invalids += 1
        if len(self.invalid) < MOST_LISTED:
            self.invalid.append((key, reason))

    def add(self, other: Findings) -> None:
        """Put what was found in a later part of the file behind this."""
        self.repairs.update(other.repairs)
        self.repaired += other.repaired
        self.misfits.update(other.misfits)
        self.first_misfit = self.first_misfit or other.first_misfit
        self.unknown.update(other.unknown)
        self.first_unknown = self.first_unknown or other.first_unknown
        self.unknown_counts = other.unknown_counts
        self.invalid += other.invalid[: MOST_LISTED - len(self.invalid)]
        self.invalids += other.invalids
        self.unread += other.unread
        self.first_unread = self.first_unread or other.first_unread

    def note_repairs(self, repairs: Collection[str], times: int) -> None:
        """Count a prediction that was repaired, and how."""
        self.repaired += times
        self.repairs.update(repairs)

    def note_unknown(self, key: Any, path: str, value: Any, times: int = 1) -> None:
        """Remember values under a key that the shape does not know."""
        self.unknown[path] += times
        self.first_unknown = self.first_unknown or f"document {key}: {path}: {value!r:.40}"

    def lines(self) -> Iterator[str]:
        """The same in words, as warnings."""
        if self.repaired:
            kinds = ", ".join(f"{kind} {times:,}" for kind, times in self.repairs.most_common())
            yield f"repaired: {counted(self.repaired, 'prediction')} ({kinds})"
        if self.misfits:
            total = sum(self.misfits.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.misfits.most_common(5))
            yield f"of the wrong kind, counted as wrong: {counted(total, 'value')} ({where}); the first: {self.first_misfit}"
        if self.unknown:
            total = sum(self.unknown.values())
            where = ", ".join(f"{path} {times:,}" for path, times in self.unknown.most_common(5))
            where += f" and {len(self.unknown) - 5:,} more" if len(self.unknown) > 5 else ""
            how = "counted as extra (--unknown ignore leaves them out)" if self.unknown_counts else "ignored"
            yield (
                f"under keys that the reference does not have, {how}: {counted(total, 'value')} ({where}); "
                f"the first: {self.first_unknown}"
            )
        if self.invalid:
            listed = "; ".join(f"{key}: {reason}" for key, reason in self.invalid[:5])
            more = f"; and {self.invalids - 5:,} more" if self.invalids > 5 else ""
            yield f"invalid, scoring nothing: {counted(self.invalids, 'prediction')} ({listed}{more})"
        if self.unread:
            yield f"unreadable and without an id: {counted(self.unread, 'line')}, the first: {self.first_unread}"

    def as_dict(self) -> dict[str, Any]:
        """The same for the JSON output."""
        return {
            "repaired": {"predictions": self.repaired, **self.repairs},
            "misfits": dict(self.misfits),
            "unknown": dict(self.unknown),
            "invalids": self.invalids,
            "unread": self.unread,
            "invalid": [{"document": key, "reason": reason} for key, reason in self.invalid],
        }


# A prediction on its way into a type.


def keys_of(shape: Shape) -> dict[str, Any] | None:
    """The fields that are keys of an object in JSON; None if there are none. A tuple is a list there, with or without names."""
    return None if is_positional(shape) or shape.kind in ("leaf", "items", "map") else record_fields(shape.type)


def is_positional(shape: Shape) -> bool:
    """Whether a record's fields are known by their places."""
    return shape.kind == "record" and (shape.origin is tuple or hasattr(shape.origin, "_fields"))


@lru_cache(maxsize=4096)
def _describe(type_: Any) -> Shape:
    """What a type looks like; several kinds of plain value are one leaf."""
    shape = shape_of(type_)
    if shape.kind == "union" and shape.is_leaf:
        return replace(shape, kind="leaf", type=union_of(shape.parts.values()), below={})
    return shape


class Fitting:
    """One prediction on its way into a type; `findings` says what did not fit, and where."""

    def __init__(self, credit: str) -> None:
        self.summed = credit == "each"
        self.findings: list[tuple[str, str]] = []

    def fit(self, value: Any, type_: Any, path: str = "") -> Any:
        """`value` as far as it fits the type: plain data, with `Unfit` where it does not."""
        try:
            shape = _describe(type_)
        except TypeError:  # a type that has no hash cannot be remembered
            shape = _describe.__wrapped__(type_)
        if value is None and shape.optional:
            return None
        if shape.kind == "union":
            return self._fit_union(value, shape, path)
        if shape.kind == "items":
            return self._fit_items(value, shape.item, path)
        if shape.kind == "map":
            return self._fit_map(value, shape.parts["value"], path)
        if is_positional(shape):
            return self._fit_tuple(value, list(shape.parts.values()), path)
        keys = keys_of(shape)
        return self._fit_leaf(value, shape.type, path) if keys is None else self._fit_record(value, keys, path)

    def found(self, path: str, expected: str, value: Any) -> None:
        self.findings.append((path or "the document", f"expected {expected}, found {_kind(value)} {value!r:.40}"))

    def _fit_leaf(self, value: Any, type_: Any, path: str) -> Any:
        if type_ is Any:
            return value
        try:
            return msgspec.convert(value, type_, strict=True)
        except msgspec.ValidationError:
            self.found(path, _name(type_), value)
            return Unfit(value)
        except (TypeError, ValueError):
            return value

    def _fit_items(self, value: Any, inner: Any, path: str) -> Any:
        if value is None and self.summed:
            return None
        if not isinstance(value, list):
            self.found(path, "a list", value)
            return [Unfit(value)] if value is not None and shape_of(inner).is_leaf else []
        return [self.fit(one, inner, f"{path}[{k}]") for k, one in enumerate(value)]

    def _fit_map(self, value: Any, inner: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            self.found(path, "an object", value)
            return {}
        return {key: self.fit(one, inner, f"{path}.{key}" if path else str(key)) for key, one in value.items()}

    def _fit_tuple(self, value: Any, types: list[Any], path: str) -> Any:
        if not isinstance(value, list) or len(value) != len(types):
            self.found(path, f"a list of {len(types)}", value)
            value = [None] * len(types)
        return tuple(self.fit(one, t, f"{path}[{k}]") for k, (one, t) in enumerate(zip(value, types, strict=True)))

    def _fit_record(self, value: Any, fields: Mapping[str, Any], path: str) -> Any:
        if value is None and self.summed:
            return None
        if not isinstance(value, Mapping):
            self.found(path, "an object", value)
            value = {}
        out: dict[str, Any] = {}
        for name, type_ in fields.items():
            where = f"{path}.{name}" if path else name
            if name in value:
                out[name] = None if value[name] is None and self.summed else self.fit(value[name], type_, where)
            elif not self.summed:  # a product needs something there: what equals nothing
                silent = Fitting("all")
                out[name] = silent.fit(None, type_, where)
                if silent.findings:
                    self.found(where, "a value", None)
        return out

    def _fit_union(self, value: Any, shape: Shape, path: str) -> Any:
        """The case that fits best."""
        tried = []
        for case in shape.parts.values():
            attempt = Fitting("each" if self.summed else "all")
            tried.append((attempt.fit(value, case, path), attempt.findings))
        best, findings = min(tried, key=lambda one: len(one[1]))
        self.findings += findings
        return best


_WORDS = {str: "text", float: "a number", int: "an integer", bool: "true or false"}


def _name(type_: Any) -> str:
    shape = shape_of(type_)
    if shape.kind == "union":
        cases = list(shape.parts.values())
        return " or ".join(_name(case) for case in cases if not (case is int and float in cases))
    return _WORDS.get(type_) or getattr(type_, "__name__", None) or str(type_)


def _kind(value: Any) -> str:
    kinds: list[tuple[Any, str]] = [
        (bool, ""), (str, "text"), (int, "integer"), (float, "number"), (type(None), ""), (abc.Mapping, "object"), (list, "list"),
    ]  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)


# Keys that a prediction has and its shape does not: what a model made up.
#
# Nothing in the reference can meet such a value, so every leaf under it is one more thing that was predicted and is wrong: it
# counts for precision, the same from a type, a schema or an inferred shape. Not counted is
#
#     what the document's own reference has, too, under the same key: there the shape looks away on purpose
#     what is in an object that allows further keys: `additionalProperties: true`, pydantic's `extra="allow"`
#     what lies below an ignored field; and null, an empty list, an empty object, which are nothing

OPEN = "__further_keys_welcome__"
"""The mark of a record type that a schema leaves open."""


@dataclass
class Place:
    """What may be at one place of a document: the keys of an object, and what is below keys, values and items."""

    known: set[str] = field(default_factory=set)
    record: bool = False
    open: bool = False
    below: dict[str, Place] = field(default_factory=dict)
    values: Place | None = None
    items: Place | None = None

    @property
    def matters(self) -> bool:
        return self.record or self.values is not None or self.items is not None


class Unknown:
    """Finds the values of a document that its type does not know."""

    def __init__(self, type_: Any, ignored: Collection[str] = (), also: Collection[str] = ()) -> None:
        self.ignored = set(ignored)
        self._seen: dict[Any, Place] = {}
        self.top = Place()
        self._add(self.top, shape_of(type_), "")
        self.top.known.update(also)

    def _add(self, place: Place, shape: Shape, path: str) -> None:
        if shape.kind == "union":
            for case in shape.parts.values():
                self._add(place, shape_of(case), path)
        elif shape.kind == "map":
            place.values = self._inner(shape.parts["value"], f"{path}[*].value") if shape.parts else None
        elif shape.kind == "items":
            place.items = self._inner(shape.item, f"{path}[*]") if shape.parts else None
        elif (fields := keys_of(shape)) is not None:
            self._add_record(place, shape.origin, fields, path)

    def _add_record(self, place: Place, origin: Any, fields: Mapping[str, Any], path: str) -> None:
        place.record = True
        place.open = place.open or getattr(origin, OPEN, False) or _allows(origin)
        place.known.update(fields)
        seen = self._seen.setdefault(origin, place)
        if seen is not place:  # a type that contains itself, as one of several
            place.below = {**place.below, **seen.below} if place.below else seen.below
            return
        for name, one in fields.items():
            inner = self._inner(one, f"{path}.{name}" if path else name)
            if inner is not None:
                place.below[name] = inner

    def _inner(self, type_: Any, path: str) -> Place | None:
        if path in self.ignored:
            return None
        shape = shape_of(type_)
        if not shape.notes and isinstance(shape.origin, type) and shape.origin in self._seen:
            return self._seen[shape.origin]  # a type that contains itself
        place = Place()
        self._add(place, shape, path)
        return place if place.matters else None

    def find(self, value: Any) -> list[tuple[str, Any]]:
        """The leaves under unknown keys, each with the path of its key."""
        out: list[tuple[str, Any]] = []
        _find(value, self.top, "", out)
        return out


def _allows(origin: Any) -> bool:
    settings = getattr(origin, "model_config", None)
    return isinstance(settings, Mapping) and settings.get("extra") == "allow"


def _find(value: Any, place: Place, path: str, out: list[tuple[str, Any]]) -> None:
    kind = type(value)
    if kind is dict:
        if place.record:
            if not place.open and not value.keys() <= place.known:
                for key in value:
                    if key not in place.known:
                        where = f"{path}.{key}" if path else str(key)
                        out.extend((where, leaf) for leaf in leaves(value[key]))
            for key, inner in place.below.items():
                if key in value:
                    _find(value[key], inner, f"{path}.{key}" if path else key, out)
        elif place.values is not None:
            for one in value.values():
                _find(one, place.values, f"{path}[*].value", out)
    elif kind is list and place.items is not None:
        for one in value:
            _find(one, place.items, f"{path}[*]", out)


def leaves(value: Any) -> Iterator[Any]:
    """Everything in a value that is neither a collection nor null."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from leaves(one)
    elif value is not None:
        yield value


def settle_unknown(
    keys: Sequence[Any], references: Sequence[Any], predictions: Sequence[Any], findings: Findings, count: bool
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Both sides of some documents with nothing left but what counts; what was found is noted.

    What the reference has, too, does not count; with `count` off, nothing does.
    """
    references, excused = _split_unknown(references)
    if isinstance(predictions, Rows):
        return references, _settle_columns(keys, predictions, excused, findings, count)
    if Surplus not in set(map(type, predictions)):
        return references, predictions
    out = list(predictions)
    for place, one in enumerate(predictions):
        if type(one) is not Surplus:
            continue
        extra = tuple(leaf for leaf in one.leaves if place not in excused.get(leaf[0], ()))
        for path, value in extra:
            findings.note_unknown(keys[place], path, value)
        out[place] = Surplus(one.value, extra) if extra and count else one.value
    return references, out


def _settle_columns(
    keys: Sequence[Any], predictions: Rows, excused: Mapping[str, set[int]], findings: Findings, count: bool
) -> Rows:
    data = predictions.data
    if not isinstance(data, Extended):
        return predictions
    left = {path: counts.copy() for path, counts in data.counts.items()}
    for path, counts in left.items():
        counts[list(excused.get(path, ()))] = 0
        for first in np.flatnonzero(counts)[:1].tolist():
            example = next((leaf for where, leaf in data.shown[first].leaves if where == path), None)
            findings.note_unknown(keys[first], path, example, int(counts.sum()))
    left = {path: counts for path, counts in left.items() if counts.any()}
    return Rows(Extended(data.values, left, data.shown) if left and count else data.values)


def _split_unknown(rows: Sequence[Any]) -> tuple[Sequence[Any], dict[str, set[int]]]:
    """One side without what its type does not know, and the documents that have such a thing, by its path."""
    if isinstance(rows, Rows):
        known, counts = split_surplus(rows.data)
        return Rows(known) if counts else rows, {path: set(np.flatnonzero(n).tolist()) for path, n in counts.items()}
    found: dict[str, set[int]] = {}
    if Surplus not in set(map(type, rows)):
        return rows, found
    for place, one in enumerate(rows):
        for path, _ in one.leaves if type(one) is Surplus else ():
            found.setdefault(path, set()).add(place)
    return [one.value if type(one) is Surplus else one for one in rows], found
