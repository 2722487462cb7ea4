"""Values to integer codes, numbered jointly over both sides, so that equal code means equal value.

Equality is Python's, with four corrections that a metric needs: NaN equals NaN; True is not 1; lists and
dicts compare by content; and an object that can only be compared by identity is an error.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from tallystick.engine.arrays import I64, integers, number
from tallystick.engine.data import Data, Index, Leaf, Nullable, Objects, Scope, by_appearance, fields_of
from tallystick.engine.rows import as_objects
from tallystick.errors import ValueMismatch

_NAN = ("NaN",)
_FLOATS = (float, np.floating)


def code_jointly(reference: Data, predicted: Data, scope: Scope) -> tuple[I64, I64, int]:
    """The codes of both sides and their bound."""
    if isinstance(reference, Leaf) and isinstance(predicted, Leaf):
        found = reference.jointly(predicted)
        if found is not None:
            return found
    if isinstance(reference, (Leaf, Nullable)) or isinstance(predicted, (Leaf, Nullable)):
        (rows, ours), (lines, theirs) = different_values(reference, scope), different_values(predicted, scope)
        first, second, bound = _code_values(ours, theirs, scope)
        return (first if rows is None else first[rows]), (second if lines is None else second[lines]), bound
    left, right = leaf_values(reference, scope), leaf_values(predicted, scope)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and _alike(left, right):
        return code_arrays(left, right)
    return _code_values(list(left), list(right), scope)


def different_values(data: Data, scope: Scope) -> tuple[I64 | None, list[Any]]:
    """The values of a leaf column: each different one once, with every row's code; or all of them, with None."""
    if isinstance(data, Leaf):
        return data.different()
    if isinstance(data, Nullable):
        codes, values = different_values(data.present, scope)
        if codes is None:
            codes = np.arange(len(values), dtype=np.int64)
        every = np.full(len(data), len(values), np.int64)
        here = data.position >= 0
        every[here] = codes[data.position[here]]
        every, order = by_appearance(every, len(values) + 1)
        table = [*values, None]
        return every, [table[k] for k in order.tolist()]
    return None, list(leaf_values(data, scope))


def _code_values(left: list[Any], right: list[Any], scope: Scope) -> tuple[I64, I64, int]:
    kinds = set(map(type, left)) | set(map(type, right))
    if kinds == {int}:
        try:
            return code_arrays(integers(left), integers(right))
        except OverflowError:
            pass
    elif kinds != {str}:
        left, right = comparable(left, kinds, scope), comparable(right, kinds, scope)
    table = number_values((left, right))
    return (
        *(np.fromiter(map(table.__getitem__, side), np.int64, len(side)) for side in (left, right)),
        len(table),
    )  # type: ignore[return-value]


def leaf_values(data: Data, scope: Scope) -> Sequence[Any] | np.ndarray:
    """The plain values of a leaf column."""
    if isinstance(data, Objects):
        return data.values
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Index):
        inner = leaf_values(data.values, scope)
        return inner[data.index] if isinstance(inner, np.ndarray) else [inner[k] for k in data.index.tolist()]
    return as_objects(data)


def number_values(sides: Iterable[Iterable[Any]]) -> dict[Any, int]:
    """Each different value with its number, in order of first appearance."""
    table: dict[Any, int] = {}
    for side in sides:
        table.update(dict.fromkeys(side, 0))
    for code, value in enumerate(table):
        table[value] = code
    return table


def _alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether NumPy compares the two as Python does: not True with 1, nor 1 with "1" after turning it into text."""
    kinds = {side.dtype.kind for side in (left, right) if len(side)}
    return len(kinds) < 2 and "O" not in kinds


def code_arrays(left: np.ndarray, right: np.ndarray) -> tuple[I64, I64, int]:
    """Both sides as codes, numbered jointly, and the bound of the codes."""
    both = (left, right)
    if all(side.dtype.kind in "iub" or len(side) == 0 for side in both):
        left, right = left.astype(np.int64, copy=False), right.astype(np.int64, copy=False)
        ends = [(int(side.min()), int(side.max())) for side in (left, right) if len(side)]
        low, high = (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else (0, 0)
        if high - low < 1 << 24:
            return left - low, right - low, high - low + 1
        if high - low < 1 << 62:  # renumbered once here, every later sort can pack key and row into one integer
            codes, bound = number(np.concatenate((left, right)) - low, high - low + 1)
            return codes[: len(left)], codes[len(left) :], bound
    _, codes = np.unique(np.concatenate((left, right)), return_inverse=True, equal_nan=True)
    codes = codes.astype(np.int64, copy=False)
    return codes[: len(left)], codes[len(left) :], int(codes.max(initial=0)) + 1


def comparable(values: Sequence[Any], kinds: Iterable[type], scope: Scope) -> list[Any]:
    """Values that Python's own equality and hash treat as this module's docstring says."""
    kinds = set(kinds)
    floats = any(issubclass(kind, _FLOATS) for kind in kinds)
    if kinds == {float} and not np.isnan(np.fromiter(values, np.float64, len(values))).any():
        floats = False
    if floats:
        values = [_NAN if isinstance(value, _FLOATS) and math.isnan(value) else value for value in values]
    if kinds & {bool, np.bool_} and len(kinds) > 1:
        values = [("bool", bool(value)) if isinstance(value, (bool, np.bool_)) else value for value in values]
    if kinds <= _PLAIN:
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


_CONTAINERS = (tuple, frozenset)
_PLAIN = {str, int, float, bool, bytes, type(None), datetime.date, datetime.datetime}
"""Whatever is of these kinds can be hashed and compared."""


def _made(kind: type) -> bool:
    """Whether a record's equality was made from its fields, so that NaN and True in them have to be looked after."""
    if dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__"):
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
    if dataclasses.is_dataclass(value):
        return [f.name for f in dataclasses.fields(value) if f.compare]
    return fields_of(type(value))


def _equality(kind: type) -> Any:
    """The method that a class compares by."""
    return kind.__eq__
