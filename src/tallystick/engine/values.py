"""Python values, one by one: the fields of a record, when two values are equal, and what stands where a value is wrong, absent or
missing."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import Mask
from tallystick.errors import ValueMismatch
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from tallystick.engine.data import Scope

NO_RECORDS = frozenset((str, bytes, int, float, complex, bool, list, set, frozenset, dict))
"""What has methods and no fields."""


def fields_of(kind: type) -> list[str] | None:
    """The names of the fields of a record class: a dataclass, a NamedTuple, or one of pydantic, msgspec or attrs."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    if issubclass(kind, tuple):
        names = getattr(kind, "_fields", None)
        return None if names is None else list(names)
    for attribute in ("model_fields", "__struct_fields__", "__attrs_attrs__"):
        found = getattr(kind, attribute, None)
        if found is not None:
            return [getattr(item, "name", item) for item in found]
    return None


def field_names(value: Any) -> list[str]:
    """The names of a record's fields, as far as they can be seen."""
    if isinstance(value, Mapping):
        return list(value)
    return fields_of(type(value)) or [*getattr(type(value), "__annotations__", ()), *getattr(value, "__dict__", ())]


def fields_in(value: Any, names: Sequence[str]) -> Mapping[str, Any] | None:
    """The fields that a record has, by name; None if it is no record."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {str(k): one for k, one in enumerate(value)}
    if value is None or isinstance(value, Unfit) or type(value) in NO_RECORDS:
        return None
    found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found if len(found) == len(names) else None


# When two values are equal.
#
# Equality is Python's, with four corrections that a metric needs: NaN equals NaN; True is not 1; lists and
# dicts compare by content; and an object that can only be compared by identity is an error.

_NAN = ("NaN",)
_FLOATS = (float, np.floating)
_CONTAINERS = (tuple, frozenset)
PLAIN_KINDS = {str, int, float, bool, bytes, type(None), datetime.date, datetime.datetime}
"""Whatever is of these kinds can be hashed and compared."""
_COMPARED_AS_THEY_ARE = PLAIN_KINDS - {float, bool}


def number_values(sides: Iterable[Iterable[Any]]) -> dict[Any, int]:
    """Each different value with its number, in order of first appearance."""
    table: dict[Any, int] = {}
    for side in sides:
        table.update(dict.fromkeys(side, 0))
    for code, value in enumerate(table):
        table[value] = code
    return table


def same_values(left: list[Any], right: list[Any], kinds: set[type]) -> Mask:
    """Row by row, whether values of such kinds are equal."""
    same = np.fromiter(map(eq, left, right), np.bool_, len(left))
    if float in kinds:
        for k in np.flatnonzero(~same).tolist():
            same[k] = left[k] != left[k] and right[k] != right[k]
    return same


def comparable(values: Sequence[Any], kinds: Iterable[type], scope: Scope) -> list[Any]:
    """Values that Python's own equality and hash treat as is said above."""
    kinds = set(kinds)
    floats = any(issubclass(kind, _FLOATS) for kind in kinds)
    if kinds == {float} and not np.isnan(np.fromiter(values, np.float64, len(values))).any():
        floats = False
    if floats:
        values = [_NAN if isinstance(value, _FLOATS) and math.isnan(value) else value for value in values]
    if kinds & {bool, np.bool_} and len(kinds) > 1:
        values = [("bool", bool(value)) if isinstance(value, (bool, np.bool_)) else value for value in values]
    if kinds <= PLAIN_KINDS:
        return list(values)
    if kinds == {tuple} and set(map(type, chain.from_iterable(values))) <= _COMPARED_AS_THEY_ARE:
        return list(values)
    for kind in kinds:
        _require_equality(kind, scope)
    return list(values) if _hashable(values, kinds) else [freeze(value, scope) for value in values]


def _hashable(values: Sequence[Any], kinds: set[type]) -> bool:
    """Whether values can be keys as they are."""
    if any(kind.__hash__ is None or issubclass(kind, _CONTAINERS) or _made(kind) for kind in kinds):
        return False
    try:
        for value in values:
            hash(value)
    except TypeError:
        return False
    return True


def _made(kind: type) -> bool:
    """Whether a record's equality was made from its fields, so that NaN and True in them have to be looked after."""
    if is_dataclass(kind) or hasattr(kind, "__attrs_attrs__"):
        code = getattr(kind.__eq__, "__code__", None)  # one that the user wrote has a file
        return code is not None and code.co_filename.startswith("<")
    return hasattr(kind, "__struct_fields__") or hasattr(kind, "model_fields")


def _require_equality(kind: type, scope: Scope) -> None:
    if _equality(kind) is object.__eq__ and not issubclass(kind, (Enum, type(None))):
        raise ValueMismatch(
            f"at {scope}: objects of {kind.__qualname__} compare only by identity; "
            f"make it a dataclass, or map it first: via(function, exact)"
        )


def freeze(value: Any, scope: Scope) -> Any:
    """A hashable stand-in: equal exactly when the values are equal by content."""
    if type(value) in _COMPARED_AS_THEY_ARE:
        return value
    if isinstance(value, _FLOATS):
        return _NAN if math.isnan(value) else value
    if isinstance(value, (bool, np.bool_)):
        return ("bool", bool(value))
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item, scope) for item in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(freeze(item, scope) for item in value)
    if isinstance(value, Mapping):
        return ("mapping", frozenset((freeze(k, scope), freeze(v, scope)) for k, v in value.items()))
    names = _state(value)
    if names is not None and (type(value).__hash__ is None or _made(type(value))):
        return (type(value), *(freeze(getattr(value, name), scope) for name in names))
    _require_equality(type(value), scope)
    try:
        hash(value)
    except TypeError:
        raise ValueMismatch(
            f"at {scope}: {type(value).__qualname__} {value!r:.60} cannot be compared; map it first: via(function, exact)"
        ) from None
    return value


def _state(value: Any) -> list[str] | None:
    """The fields that make up a record's content."""
    if is_dataclass(value):
        return [f.name for f in fields(value) if f.compare]
    return fields_of(type(value))


def _equality(kind: type) -> Any:
    """The method that a class compares by."""
    return kind.__eq__


# What stands where a prediction has a value of the wrong kind, if the reader was asked to go on.
#
# It equals nothing, so that it counts as a wrong value: neither as a missing one nor as the end of the evaluation.


def leaves(value: Any) -> Iterator[Any]:
    """Everything in a value that is neither a collection nor null."""
    if isinstance(value, (str, int, float)):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from leaves(one)
    elif value is not None:
        yield value


def leaves_or_self(value: Any) -> list[Any]:
    """What a value counts as that nothing can meet: its leaves, or itself if it has none."""
    return list(leaves(value)) or [value]


@frozen
class Unfit:
    """A predicted value that is not of the kind that its place asks for."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))

    def __float__(self) -> float:
        return float("inf")  # near to no number that JSON can hold


class _Refused:
    """Stands for a value that a similarity cannot compare."""


REFUSED = _Refused()


class Refusals:
    """What of a prediction no similarity can compare: its leaves with their paths, and the values that nobody knew to be wrong."""

    def __init__(self) -> None:
        self.leaves: list[tuple[str, Any]] = []
        self.wrong: list[tuple[str, Any]] = []
        self.asked: set[str] = set()
        """Where a similarity has taken a value whose kind is its own business."""

    def refuse(self, value: Any, path: str) -> Any:
        """Count a value that cannot be compared: as many leaves as it has, at least one."""
        self._add(value, path, 0)
        return REFUSED

    def misfit(self, value: Any, path: str) -> Unfit:
        """A leaf of another kind, which counts one where it stands; the others that it has count besides."""
        self._add(value, path, 1)
        return value if isinstance(value, Unfit) else Unfit(value)

    def add(self, other: Refusals) -> None:
        """Put what was found elsewhere behind this."""
        self.leaves += other.leaves
        self.wrong += other.wrong
        self.asked |= other.asked

    def _add(self, value: Any, path: str, first: int) -> None:
        if isinstance(value, Unfit):
            value = value.value
        else:
            self.wrong.append((path, value))
        self.leaves += [(path, Unfit(leaf)) for leaf in leaves_or_self(value)[first:]]


@frozen
class Invalid:
    """A whole prediction that cannot be read: it scores nothing, and is listed."""

    reason: str
    text: str = ""

    def __str__(self) -> str:
        return (
            "there is no prediction"
            if self.reason == ABSENT_PREDICTION
            else f"the prediction is invalid: {self.reason}"
        )


ABSENT_PREDICTION = "has no prediction"


@frozen
class Surplus:
    """A prediction that has values under keys that its shape does not know: each leaf with the path of its key."""

    value: Any
    leaves: tuple[tuple[str, Any], ...]


class _Absent:
    """A key that is not there, where that is not the same as null."""

    def __repr__(self) -> str:
        return "absent"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Absent)

    def __hash__(self) -> int:
        return 1

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


# Values that are missing: None, unless said otherwise.

Missing = Callable[[Any], bool]
"""What else counts as missing."""


def is_absent(value: Any) -> bool:
    """Whether a key is not there."""
    return value is ABSENT


def is_empty(value: Any) -> bool:
    """Whether a value is None, or an empty text, collection or record."""
    return value is None or (isinstance(value, (str, list, tuple, set, frozenset, Mapping)) and not value)


def is_blank(value: Any) -> bool:
    """Whether a value is None, or a text of nothing but white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def is_blank_or_empty(value: Any) -> bool:
    """Whether a value is either."""
    return is_empty(value) or is_blank(value)
