"""Predictions that do not fit their type, taken as far as they go, and what was found on the way.

Nothing is coerced: "2" does not become 2. Fitting goes field by field: what fits stays, a key that is not there stays missing, and
what is of another kind becomes `Unfit`, which equals nothing and counts as wrong (`algebra.surplus`). Every such place is a
finding that the reader counts.
"""

from __future__ import annotations

import collections.abc as abc
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec

from tallystick.algebra.derive import Shape, json_keys, required_fields, shape_of, union_of
from tallystick.algebra.node import Similarity
from tallystick.algebra.surplus import Surpluses
from tallystick.engine.values import ABSENT, Unfit
from tallystick.errors import counted

MOST_LISTED = 1000
"""So many predictions that cannot be read are listed by name; all are counted."""

MOST_LOOKED_INTO = 20
"""So many predictions with unknown keys are searched for an answer inside of them."""

LONG = 10_000
"""So many bytes are worth an array."""


@dataclass
class Findings(Surpluses):
    """What happened to predictions on their way in: repairs by kind, what is surplus in them, what could not be read."""

    repairs: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    repaired_lines: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """How the predictions of some lines were repaired, until it is known which documents they are."""
    repaired_documents: dict[Any, tuple[str, ...]] = field(default_factory=dict)
    invalid: list[tuple[Any, str]] = field(default_factory=list)
    invalids: int = 0
    unanswered: set[Any] = field(default_factory=set)
    """Which of these are documents without a prediction that `Missing` reports."""
    unread: int = 0
    first_unread: str = ""
    repeated: int = 0
    first_repeated: str = ""
    wrapping: str = ""
    """The key under which a value of the wrong kind seems to have its confidence."""
    inside: tuple[str, bool] | None = None
    """Where the answers seem to stand in the predictions, and whether they are text there."""
    looked_inside: int = 0
    advice = " (--unknown ignore leaves them out)"

    def add_invalid(self, key: Any, reason: str, unanswered: bool = False) -> None:
        """Count what could not be read, or is not there; the first ones are listed."""
        self.invalids += 1
        if unanswered:
            self.unanswered.add(key)
        if len(self.invalid) < MOST_LISTED:
            self.invalid.append((key, reason))

    def note_repeated(self, key: str, place: object) -> None:
        """Count a prediction with a key that stands twice in one object."""
        self.repeated += 1
        self.first_repeated = self.first_repeated or f"{key!r} at {place}"

    def add(self, other: Surpluses) -> None:
        super().add(other)
        assert isinstance(other, Findings)
        self.repeated += other.repeated
        self.first_repeated = self.first_repeated or other.first_repeated
        self.repairs.update(other.repairs)
        self.repaired += other.repaired
        self.repaired_documents.update(other.repaired_documents)
        self.repaired_lines.update(other.repaired_lines)
        self.looked_inside = max(self.looked_inside, other.looked_inside)
        self.invalid += other.invalid[: MOST_LISTED - len(self.invalid)]
        self.invalids += other.invalids
        self.unanswered |= other.unanswered
        self.unread += other.unread
        self.first_unread = self.first_unread or other.first_unread
        self.wrapping = self.wrapping or other.wrapping
        self.inside = self.inside or other.inside

    def at_once(self) -> Findings:
        """Findings of the next predictions, to be added to these."""
        return Findings(unknown_counts=self.unknown_counts, inside=self.inside, looked_inside=self.looked_inside)

    def look_inside(self, prediction: Any, known: Collection[str]) -> None:
        """Find where in a prediction with unknown keys the answer stands; the first few predictions are enough."""
        if self.inside is None and self.looked_inside < MOST_LOOKED_INTO:
            self.looked_inside += 1
            self.inside = _answer_inside(prediction, known)

    def note_repairs(self, repairs: Collection[str], times: int, line: int = 0) -> None:
        """Count a prediction that was repaired, and how."""
        self.repaired += times
        self.repairs.update(repairs)
        if times and line and len(self.repaired_documents) < MOST_LISTED:
            self.repaired_lines[line] = tuple(repairs)

    def name_lines(self, keys: Sequence[Any], numbers: Sequence[int | None]) -> None:
        """Say which documents the lines are."""
        if self.repaired_lines:
            for key, number in zip(keys, numbers, strict=True):
                if number in self.repaired_lines:
                    self.repaired_documents[key] = self.repaired_lines.pop(number)

    def lines(self) -> Iterator[str]:
        if self.repaired:
            kinds = ", ".join(f"{kind} {times:,}" for kind, times in self.repairs.most_common())
            yield f"repaired: {counted(self.repaired, 'prediction')} ({kinds})"
        yield from super().lines()
        if self.repeated:
            yield (
                f"duplicate keys in one object, of which the last counts: {counted(self.repeated, 'prediction')}, the first: "
                f"{self.first_repeated}"
            )
        if self.wrapping:
            yield (
                f'values stand in objects {{"value": …, "{self.wrapping}": …}}, which are compared as objects; to take the values out, give '
                f"{self.wrapping!r} as --confidence"
            )
        times = self.invalids - len(self.unanswered)
        if times:
            told = [f"{key}: {reason}" for key, reason in self.invalid if key not in self.unanswered]
            listed = [*told[:5], f"and {times - 5:,} more"] if times > 5 else told
            yield f"invalid, scoring nothing: {counted(times, 'prediction')} ({'; '.join(listed)})"
        if self.unread:
            yield f"unreadable and without an id: {counted(self.unread, 'line')}, the first: {self.first_unread}"

    def as_dict(self) -> dict[str, Any]:
        """The same for the JSON output."""
        return {
            "repaired": {"predictions": self.repaired, **self.repairs},
            "misfits": dict(self.misfits),
            "unknown": dict(self.unknown),
            "unread": self.unread,
            "repeated_keys": self.repeated,
            **self.invalid_as_dict(),
        }

    def invalid_as_dict(self) -> dict[str, Any]:
        """Of it, how many answers are invalid, and the first of them."""
        listed = [{"document": key, "reason": reason} for key, reason in self.invalid]
        return {"invalids": self.invalids, "invalid": listed}


def _answer_inside(prediction: Any, known: Collection[str]) -> tuple[str, bool] | None:
    """The path, below the keys of a prediction, of the first object that has some of the known ones or of the first text with JSON
    in it, and whether it is a text."""
    left = [("", prediction)]  # not by calling itself: a document may be nested deeply
    while left:
        path, value = left.pop(0)
        if path and isinstance(value, dict) and not value.keys().isdisjoint(known):
            return path, False
        if path and isinstance(value, str) and re.search(r'[{\[]\s*["{}\]]', value):
            return path, True
        if isinstance(value, dict):
            left += [(f"{path}.{key}" if path else str(key), one) for key, one in value.items()]
        elif isinstance(value, list):
            left += [(f"{path}[{place}]", one) for place, one in enumerate(value[:1])]
    return None


# A prediction on its way into a type.


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
        """`value` as far as it fits the type: plain data, with `Unfit` around what does not."""
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
        if shape.is_positional:
            return self._fit_tuple(value, list(shape.parts.values()), path)
        keys = shape.keys
        return self._fit_leaf(value, shape.type, path) if keys is None else self._fit_record(value, shape, keys, path)

    def found(self, path: str, expected: str, value: Any) -> Unfit:
        self.findings.append((path or "the document", f"expected {expected}, found {_shown(value)}"))
        return Unfit(value)

    def _fit_leaf(self, value: Any, type_: Any, path: str) -> Any:
        if type_ is Any:
            return value
        try:
            return msgspec.convert(value, type_, strict=True)
        except msgspec.ValidationError:
            whole = whole_numbers(value)
            return self.found(path, _name(type_), value) if whole is value else self._fit_leaf(whole, type_, path)
        except (TypeError, ValueError):
            return value

    def _fit_items(self, value: Any, inner: Any, path: str) -> Any:
        if not isinstance(value, list):
            return self.found(path, "a list", value)
        return [self.fit(one, inner, f"{path}[{k}]") for k, one in enumerate(value)]

    def _fit_map(self, value: Any, inner: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            return self.found(path, "an object", value)
        return {key: self.fit(one, inner, f"{path}.{key}" if path else str(key)) for key, one in value.items()}

    def _fit_tuple(self, value: Any, types: list[Any], path: str) -> Any:
        if not isinstance(value, list) or len(value) != len(types):
            return self.found(path, f"a list of {len(types)}", value)
        return tuple(self.fit(one, t, f"{path}[{k}]") for k, (one, t) in enumerate(zip(value, types, strict=True)))

    def _fit_record(self, value: Any, shape: Shape, fields: Mapping[str, Any], path: str) -> Any:
        if not isinstance(value, Mapping):
            return self.found(path, "an object", value)
        out: dict[str, Any] = {}
        called = json_keys(shape.origin)
        for name, type_ in fields.items():
            where = f"{path}.{name}" if path else name
            key = next((key for key in called.get(name, (name,)) if key in value), None)
            if key is not None and value[key] is not None:
                out[name] = self.fit(value[key], type_, where)
            elif self.summed or shape_of(type_).optional:  # null and a key that is not there are nothing
                out |= {name: None} if key is not None else {}
            elif not shape_of(type_).may_miss:
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


def whole_numbers(value: Any) -> Any:
    """JSON with every 10.0 as 10, which is an integer there whatever its spelling; the same object where there is none."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        items = []
        for one in value:  # in loops, which take one level of Python's stack for each level of JSON
            items.append(whole_numbers(one))
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        fields = {}
        for key, one in value.items():
            fields[key] = whole_numbers(one)
        return value if all(a is b for a, b in zip(fields.values(), value.values(), strict=True)) else fields
    return value


# What a type fills in where JSON has no key was never written, and is no part of a prediction, nor of a reference.


def fills_in(type_: Any, seen: set[Any] | None = None) -> bool:
    """Whether a type, or one inside of it, has a default that is not None."""
    seen = set() if seen is None else seen
    shape = shape_of(type_)
    if shape.kind == "record":
        if shape.origin in seen:
            return False
        seen.add(shape.origin)
        free = set(shape.parts) - required_fields(shape.origin, shape.parts)
        if any(not shape_of(shape.parts[name]).optional for name in free) and not hasattr(
            shape.origin, "__required_keys__"
        ):
            return True
    return any(fills_in(one, seen) for one in shape.parts.values())


def has_written_keys(type_: Any, seen: set[Any] | None = None) -> bool:
    """Whether values of a type have the keys that were written, as far as the type knows them, and no default beside them."""
    seen = set() if seen is None else seen
    shape = shape_of(type_)
    if shape.kind == "record":
        if shape.origin in seen:
            return True
        seen.add(shape.origin)
        if not hasattr(shape.origin, "__required_keys__"):
            return False
    return all(has_written_keys(one, seen) for one in shape.parts.values())


def written(value: Any, plain: Any, type_: Any, node: Similarity | None) -> Any:
    """A value of a type, without what is not in the plain data that it was made of.

    In a sum of fields it is missing; in a product, which needs something there, it is `ABSENT`, which equals nothing else.
    """
    shape = shape_of(type_)
    if node is None or value is None or plain is None:
        return value
    node = node.core
    if shape.kind == "union":
        case = next((one for one in shape.parts.values() if _is_of(value, shape_of(one))), None)
        return value if case is None else written(value, plain, case, node)
    if shape.kind == "items" and isinstance(value, list) and isinstance(plain, list):
        return _written_items(value, plain, shape, node)
    if shape.kind == "map" and isinstance(plain, dict):
        part = (node.item.looks_at() or {}).get("value") if node.item is not None else None
        both = zip(value.items(), plain.values(), strict=True)
        return {key: written(a, b, shape.parts["value"], part) for (key, a), b in both}
    if shape.keys is None or not isinstance(plain, dict) or isinstance(value, dict):
        return value
    return _written_fields(value, plain, shape, node)


def _written_fields(value: Any, plain: dict[str, Any], shape: Shape, node: Similarity) -> Any:
    """A record, likewise: itself if all of its fields are in the data, else the values of its fields by name."""
    parts, called, changed = node.looks_at() or {}, json_keys(shape.origin), False
    made: dict[str, Any] = {}
    for name, one in (shape.keys or {}).items():
        found, part = getattr(value, name), parts.get(name)
        key = next((key for key in called.get(name, (name,)) if key in plain), None)
        if part is None or (key is None and found is None):
            made[name] = found
        elif key is not None:
            made[name] = written(found, plain[key], one, part)
        elif node.adds_up:
            made[name] = part.absent
        else:
            made[name] = ABSENT if part.exact_only else found
        changed = changed or made[name] is not found
    return made if changed else value


def _written_items(value: list[Any], plain: list[Any], shape: Shape, node: Similarity) -> list[Any]:
    items = [written(a, b, shape.item, node.item) for a, b in zip(value, plain, strict=True)]
    return value if all(a is b for a, b in zip(items, value, strict=True)) else items


def _is_of(value: Any, shape: Shape) -> bool:
    kinds = {"items": (list, tuple, set, frozenset), "map": dict}
    kind = kinds.get(shape.kind, shape.origin)
    return isinstance(kind, (type, tuple)) and isinstance(value, kind)


_WORDS: dict[Any, str] = {
    str: "text", float: "a number", int: "an integer", bool: "true or false", date: "a date", time: "a time",
    datetime: "a date with a time", UUID: "a UUID", Decimal: "a number",
}  # fmt: skip


def _name(type_: Any) -> str:
    shape = shape_of(type_)
    if shape.kind == "union":
        cases = list(shape.parts.values())
        return " or ".join(_name(case) for case in cases if not (case is int and float in cases))
    if shape.origin is Literal or (isinstance(type_, type) and issubclass(type_, Enum)):
        known = get_args(shape.type) if shape.origin is Literal else [one.value for one in type_]
        return "one of " + ", ".join(repr(one) for one in known[:8]) + (", ..." if len(known) > 8 else "")
    return _WORDS.get(type_) or getattr(type_, "__name__", None) or str(type_)


_JSON_WORDS = {True: "true", False: "false", None: "null"}
_KINDS: list[tuple[Any, str]] = [
    (str, "text"), (int, "integer"), (float, "number"), (abc.Mapping, "object"), (list, "list"),
]  # fmt: skip


def kind_of(value: Any) -> str:
    """What kind of JSON a value is, in words."""
    if value is None or isinstance(value, bool):
        return _JSON_WORDS[value]
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)


def _shown(value: Any) -> str:
    kind = kind_of(value)
    if isinstance(value, str) and value.lower().lstrip("-") in ("nan", "inf", "infinity"):
        return f"{value}, which is no number in JSON"  # a float in memory, or a text
    return kind if kind in _JSON_WORDS.values() else f"{kind} {value!r:.40}"
