"""Predictions that do not fit their type, taken as far as they go.

Nothing is coerced: "2" does not become 2. A leaf of the wrong kind stands as `Unfit`, which equals nothing and so counts as a
wrong value; a key that is not there stays missing; text where a list should be is a list of one unfit item. Every such
place is a finding that the reader counts.
"""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin

import msgspec

from tallystick.columns.types import BAGS, MAPPINGS, SEQUENCES, UNIONS, plain_type, record_fields, union_of
from tallystick.columns.unfit import Unfit
from tallystick.deriving import is_leaf_type


@lru_cache(maxsize=4096)
def _form(type_: Any) -> tuple[str, Any]:
    """What a type is made of."""
    type_ = plain_type(type_)
    while get_origin(type_) is Annotated:
        type_ = plain_type(get_args(type_)[0])
    origin, arguments = get_origin(type_) or type_, get_args(type_)
    if origin in UNIONS:
        return "union", arguments
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return "items", arguments[0]
    if origin in BAGS or origin in SEQUENCES:
        return "items", arguments[0]
    if origin in MAPPINGS:
        return "mapping", arguments[1]
    fields = record_fields(type_)
    if fields is not None:
        return "positions" if origin is tuple or hasattr(origin, "_fields") else "record", fields
    return "leaf", type_


@lru_cache(maxsize=4096)
def _all_leaves(options: tuple[Any, ...]) -> Any:
    """The union of several kinds of plain value without None; None if some are not plain."""
    kinds = [option for option in options if option is not type(None)]
    return union_of(kinds) if all(is_leaf_type(option) for option in kinds) else None


class Fitting:
    """One prediction on its way into a type; `findings` says what did not fit, and where."""

    def __init__(self, credit: str) -> None:
        self.summed = credit == "each"
        self.findings: list[tuple[str, str]] = []

    def fit(self, value: Any, type_: Any, path: str = "") -> Any:
        """`value` as far as it fits the type: plain data, with `Unfit` where it does not."""
        try:
            form, inside = _form(type_)
        except TypeError:  # a type that has no hash cannot be remembered
            form, inside = _form.__wrapped__(type_)
        if form == "union":
            return self.union(value, inside, path)
        if form == "items":
            return self.items(value, inside, path)
        if form == "mapping":
            return self.mapping(value, inside, path)
        if form in ("record", "positions"):
            return self.record(value, inside, path, positional=form == "positions")
        return self.leaf(value, inside, path)

    def found(self, path: str, expected: str, value: Any) -> None:
        self.findings.append((path or "the document", f"expected {expected}, found {_kind(value)} {value!r:.40}"))

    def leaf(self, value: Any, type_: Any, path: str) -> Any:
        if type_ is Any:
            return value
        try:
            return msgspec.convert(value, type_, strict=True)
        except msgspec.ValidationError:
            self.found(path, _name(type_), value)
            return Unfit(value)
        except (TypeError, ValueError):
            return value

    def items(self, value: Any, inner: Any, path: str) -> Any:
        if value is None and self.summed:
            return None
        if not isinstance(value, list):
            self.found(path, "a list", value)
            return [Unfit(value)] if value is not None and is_leaf_type(inner) else []
        return [self.fit(one, inner, f"{path}[{k}]") for k, one in enumerate(value)]

    def mapping(self, value: Any, inner: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            self.found(path, "an object", value)
            return {}
        return {key: self.fit(one, inner, f"{path}.{key}" if path else str(key)) for key, one in value.items()}

    def record(self, value: Any, fields: Mapping[str, Any], path: str, positional: bool) -> Any:
        if positional:
            if not isinstance(value, list) or len(value) != len(fields):
                self.found(path, f"a list of {len(fields)}", value)
                value = [None] * len(fields)
            return tuple(
                self.fit(one, t, f"{path}[{k}]") for k, (one, t) in enumerate(zip(value, fields.values(), strict=True))
            )
        if value is None and self.summed:
            return None
        if not isinstance(value, Mapping):
            self.found(path, "an object", value)
            value = {}
        out: dict[str, Any] = {}
        for name, type_ in fields.items():
            where = f"{path}.{name}" if path else name
            if name in value and value[name] is None and self.summed:
                out[name] = None
            elif name in value:
                out[name] = self.fit(value[name], type_, where)
            elif not self.summed:  # a product needs something there: what equals nothing
                silent = Fitting("all")
                out[name] = silent.fit(None, type_, where)
                if silent.findings:
                    self.found(where, "a value", None)
        return out

    def union(self, value: Any, options: tuple[Any, ...], path: str) -> Any:
        if value is None and type(None) in options:
            return None
        try:
            plain = _all_leaves(options)
        except TypeError:
            plain = _all_leaves.__wrapped__(options)
        if plain is not None:
            return self.leaf(value, plain, path)
        tried: list[tuple[int, Any, list[tuple[str, str]]]] = []
        for option in options:
            if option is not type(None):
                attempt = Fitting("each" if self.summed else "all")
                tried.append((0, attempt.fit(value, option, path), attempt.findings))
        _, best, findings = min(tried, key=lambda one: len(one[2]))
        self.findings += findings
        return best


_WORDS = {str: "text", float: "a number", int: "an integer", bool: "true or false"}


def _name(type_: Any) -> str:
    if get_origin(type_) in UNIONS:
        names = [_name(option) for option in get_args(type_) if not (option is int and float in get_args(type_))]
        return " or ".join(names)
    return _WORDS.get(type_) or getattr(type_, "__name__", None) or str(type_)


def _kind(value: Any) -> str:
    kinds: list[tuple[Any, str]] = [
        (bool, ""), (str, "text"), (int, "integer"), (float, "number"), (type(None), ""), (abc.Mapping, "object"), (list, "list"),
    ]  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)
