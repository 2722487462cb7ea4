"""Predictions that do not fit their type, taken as far as they go.

Nothing is coerced: "2" does not become 2. A leaf of the wrong kind stands as `Unfit`, which equals nothing and so counts as a
wrong value; a key that is not there stays missing; text where a list should be is a list of one unfit item. Every such
place is a finding that the reader counts.
"""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin

import msgspec

from tallystick.algebra.derive import is_leaf_type
from tallystick.algebra.shape import BAGS, MAPPINGS, SEQUENCES, UNIONS, plain_type, record_fields, union_of
from tallystick.engine.data import Rows
from tallystick.engine.rows import Surplus, Unfit


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


# Keys that a prediction has and its shape does not: what a model made up.
#
# Nothing in the reference can meet such a value, so every leaf under it is one more thing that was predicted and is wrong: it
# counts for precision, the same from a type, a schema or an inferred shape. Not counted is
#
#     what the document's own reference has, too, under the same key: there the shape looks away on purpose
#     what stands where further keys are said to be welcome: `additionalProperties: true`, pydantic's `extra="allow"`
#     what lies below an ignored field; and null, an empty list, an empty object, which are nothing

OPEN = "__further_keys_welcome__"
"""The mark of a record type that a schema leaves open."""


@dataclass
class Place:
    """What may stand at one place of a document: the keys of an object, and what is below keys, values and items."""

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
        self._add(self.top, type_, "")
        self.top.known.update(also)

    def _add(self, place: Place, type_: Any, path: str) -> None:
        type_ = plain_type(type_)
        while get_origin(type_) is Annotated:
            type_ = plain_type(get_args(type_)[0])
        origin, arguments = get_origin(type_) or type_, get_args(type_)
        if origin in UNIONS:
            for option in arguments:
                self._add(place, option, path)
        elif origin in MAPPINGS and len(arguments) == 2:
            place.values = self._inner(arguments[1], f"{path}[*].value")
        elif origin in BAGS or origin in SEQUENCES or (origin is tuple and arguments[-1:] == (Ellipsis,)):
            place.items = self._inner(arguments[0], f"{path}[*]") if arguments else None
        elif origin is not tuple and not hasattr(origin, "_fields"):
            fields = record_fields(type_)
            if fields is not None:
                self._add_record(place, origin, fields, path)

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
        origin = get_origin(plain_type(type_)) or plain_type(type_)
        if isinstance(origin, type) and origin in self._seen:
            return self._seen[origin]  # a type that contains itself
        place = Place()
        self._add(place, type_, path)
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
    keys: Sequence[Any], references: Sequence[Any], predictions: Sequence[Any], findings: Any, count: bool
) -> tuple[Sequence[Any], Sequence[Any]]:
    """What was found in some documents, noted; and both sides with nothing left but what counts.

    What the reference has, too, does not count; with `count` off, nothing does.
    """
    if isinstance(references, Rows) or isinstance(predictions, Rows):
        from tallystick.tasks.records.arrow import settle_columns

        return settle_columns(keys, references, predictions, findings, count)
    outside: list[set[str]] = []
    if Surplus in set(map(type, references)):
        outside = [{path for path, _ in one.leaves} if type(one) is Surplus else set() for one in references]
        references = [one.value if type(one) is Surplus else one for one in references]
    if Surplus not in set(map(type, predictions)):
        return references, predictions
    out = list(predictions)
    for place, one in enumerate(predictions):
        if type(one) is not Surplus:
            continue
        counted = tuple(leaf for leaf in one.leaves if not outside or leaf[0] not in outside[place])
        for path, value in counted:
            findings.note_unknown(keys[place], path, value)
        out[place] = Surplus(one.value, counted) if counted and count else one.value
    return references, out
