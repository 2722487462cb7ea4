"""What a type looks like, one level at a time: this is the only place that takes types of `typing` apart.

    shape_of(type) → Shape(kind, type, parts, ...)

    kind        parts                                     also
    leaf        none
    record      its fields                                dataclass, attrs, NamedTuple, TypedDict, pydantic, msgspec, fixed tuple
    items       {"[*]": the items' type}                  `in_order`: a Sequence or tuple[T, ...]; `repeats`: not a set
    map         {"key": ..., "value": ...}
    union       its cases but None, by number             `optional`: None is one of them
    structure   {"[*]": the labels' type}                 Tree[T] or Graph[T]
    variable    none                                      Var
    unknown     none                                      anything else, Any among them

The parts are types again, so whoever walks on asks about them in turn, and a type that contains itself needs no care here. `type` is
what stands behind NewType, aliases, Required and `Annotated`, whose notes are in `notes`; `may_miss` says that a key need not be there
(NotRequired). Where a collection or a mapping does not say what is in it, it has no parts. Type parameters are filled in.
"""

from __future__ import annotations

import collections.abc as abc
import datetime
import decimal
import enum
import fractions
import pathlib
import types
import typing
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typing_extensions

from tallystick.engine.data import fields_of
from tallystick.errors import DerivationError
from tallystick.structures.graphs import Graph, Tree, Var

LEAVES = (
    str, bytes, int, float, complex, bool, type(None), range, datetime.date, datetime.time, datetime.timedelta,
    decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath, enum.Enum,
)  # fmt: skip
"""Values without fields and items."""
BAGS = {list, set, frozenset, abc.Collection, abc.Set, abc.MutableSet, abc.Iterable}
SETS = {set, frozenset, abc.Set, abc.MutableSet}
SEQUENCES = {abc.Sequence, abc.MutableSequence}
MAPPINGS = {dict, abc.Mapping, abc.MutableMapping}
UNIONS = (Union, types.UnionType)
_NO_DEFAULT = (None, getattr(typing_extensions, "NoDefault", None))  # None before typing_extensions 4.12


@dataclass(frozen=True)
class Shape:
    """One level of a type: what kind of value it has, and the types of what lies directly below."""

    kind: Literal["leaf", "record", "items", "map", "union", "structure", "variable", "unknown"]
    type: Any
    below: Mapping[str, Any] | None = None
    """The parts; None of a record, whose annotations are read only when somebody asks."""
    in_order: bool = False
    repeats: bool = True
    optional: bool = False
    notes: tuple[Any, ...] = ()
    may_miss: bool = False

    @property
    def parts(self) -> Mapping[str, Any]:
        """The types of what lies directly below, by name."""
        return (record_fields(self.type) or {}) if self.below is None else self.below

    @property
    def origin(self) -> Any:
        """The type without its parameters."""
        return get_origin(self.type) or self.type

    @property
    def item(self) -> Any:
        """The type of the items, or of a structure's labels."""
        return self.parts["[*]"]

    @property
    def is_leaf(self) -> bool:
        """Whether values have neither fields nor items."""
        if self.kind == "union":
            return all(shape_of(case).is_leaf for case in self.parts.values())
        return self.kind in ("leaf", "unknown")

    @property
    def is_collection(self) -> bool:
        """Whether values, or those of one of the cases, have items."""
        if self.kind == "union":
            return any(shape_of(case).is_collection for case in self.parts.values())
        return self.kind in ("items", "map", "structure")


def shape_of(type_: Any) -> Shape:
    """What a type looks like, one level of it."""
    may_miss = get_origin(type_) is typing_extensions.NotRequired
    type_, notes = plain_type(type_), ()
    while get_origin(type_) is Annotated:
        type_, notes = plain_type(type_.__origin__), (*type_.__metadata__, *notes)
    found = _look_at(type_, get_origin(type_) or type_, get_args(type_))
    return replace(found, notes=notes, may_miss=may_miss) if notes or may_miss else found


def _look_at(type_: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
    if origin in UNIONS:
        cases = [case for case in arguments if case is not type(None)]
        return Shape("union", type_, _numbered(cases), optional=len(cases) < len(arguments))
    if origin is tuple and (not arguments or arguments[1:] == (Ellipsis,)):
        return Shape("items", type_, {"[*]": arguments[0]} if arguments else {}, in_order=True)
    if origin in BAGS or origin in SEQUENCES:
        parts = {"[*]": arguments[0]} if len(arguments) == 1 else {}
        return Shape("items", type_, parts, in_order=origin in SEQUENCES, repeats=origin not in SETS)
    if origin in MAPPINGS:
        return Shape("map", type_, dict(zip(("key", "value"), arguments, strict=True)) if len(arguments) == 2 else {})
    return _look_at_value(type_, origin, arguments)


def _look_at_value(type_: Any, origin: Any, arguments: tuple[Any, ...]) -> Shape:
    """What is none of Python's collections."""
    if origin in (Tree, Graph):
        return Shape("structure", type_, {"[*]": arguments[0] if arguments else Any})
    if isinstance(origin, type) and issubclass(origin, Var):
        return Shape("variable", type_, {})
    if origin is Literal or (isinstance(origin, type) and issubclass(origin, LEAVES)):
        return Shape("leaf", type_, {})
    named = isinstance(origin, type) and (typing_extensions.is_typeddict(origin) or fields_of(origin) is not None)
    return Shape("record", type_) if origin is tuple or named else Shape("unknown", type_, {})


def _numbered(types: list[Any]) -> dict[str, Any]:
    return {str(k): one for k, one in enumerate(types)}


def plain_type(type_: Any) -> Any:
    """The type behind NewType, type aliases, Required, ReadOnly, and type variables with a default or a bound."""
    while True:
        if isinstance(type_, (typing.NewType, typing_extensions.NewType)):
            type_ = type_.__supertype__
        elif type(type_).__name__ == "TypeAliasType":
            type_ = type_.__value__
        elif get_origin(type_) in (
            typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly, typing.Final,
        ):  # fmt: skip
            type_ = get_args(type_)[0]
        elif isinstance(type_, TypeVar) and getattr(type_, "__default__", None) not in _NO_DEFAULT:
            type_ = type_.__default__  # type: ignore[attr-defined]
        elif isinstance(type_, TypeVar) and type_.__bound__ is not None:
            type_ = type_.__bound__
        else:
            return type_


def union_of(types: Any) -> Any:
    """The union of several types."""
    return Union.__getitem__(tuple(types))


def record_fields(type_: Any) -> dict[str, Any] | None:
    """The fields of a record type with their types, type parameters filled in; None if it is no record."""
    try:
        known = _record_fields(type_)
    except TypeError:  # a type that has no hash cannot be remembered
        known = _record_fields.__wrapped__(type_)
    return None if known is None else dict(known)


@lru_cache(maxsize=4096)
def _record_fields(type_: Any) -> dict[str, Any] | None:
    origin = get_origin(type_) or type_
    if origin is tuple and get_args(type_) and get_args(type_)[-1] is not Ellipsis:
        return {str(k): one for k, one in enumerate(get_args(type_))}
    if not isinstance(origin, type):
        return None
    names = _field_names(origin)
    if names is None:
        return None
    try:
        hints = typing_extensions.get_type_hints(origin, include_extras=True)
    except NameError as error:
        raise DerivationError(
            f"the annotations of {origin.__qualname__} cannot be read ({error}); "
            f"define the types it names at the top of a module"
        ) from None
    untyped = [name for name in names if name not in hints]
    if untyped:
        raise DerivationError(
            f"{origin.__qualname__}.{untyped[0]} has no type; annotate it, so that nothing is guessed"
        )
    filled = _parameters(type_, origin)
    return {name: _filled(hints[name], filled) for name in names}


def _field_names(origin: type) -> list[str] | None:
    if typing_extensions.is_typeddict(origin):
        return list(typing_extensions.get_type_hints(origin))
    return fields_of(origin)


def _parameters(type_: Any, origin: Any) -> dict[Any, Any]:
    """What the type variables of a generic record stand for, those of its generic bases too."""
    filled: dict[Any, Any] = {}
    metadata = getattr(type_, "__pydantic_generic_metadata__", None)
    if metadata and metadata.get("args"):
        parameters = metadata["origin"].__pydantic_generic_metadata__["parameters"]
        filled.update(zip(parameters, metadata["args"], strict=False))
    filled.update(zip(getattr(origin, "__parameters__", ()), get_args(type_), strict=False))
    for base in getattr(origin, "__orig_bases__", ()):
        inherited = (
            _parameters(base, get_origin(base) or base) if get_origin(base) not in (None, typing.Generic) else {}
        )
        filled.update({key: _filled(value, filled) for key, value in inherited.items()})
    return filled


def _filled(type_: Any, filled: Mapping[Any, Any]) -> Any:
    if isinstance(type_, TypeVar):
        return filled.get(type_, type_)
    parameters = getattr(type_, "__parameters__", ())
    if filled and parameters and get_origin(type_) is not None:
        return type_[tuple(filled.get(p, p) for p in parameters)]
    return type_


def name_of(type_: Any) -> str:
    """What a type is called in messages."""
    if isinstance(type_, type) and not get_args(type_):
        return type_.__name__
    return str(type_).replace("typing.", "").replace("typing_extensions.", "")
