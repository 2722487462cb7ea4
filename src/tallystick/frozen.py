"""Frozen values that cost little to define: structures, columns, settings, results, and the nodes of a metric.

`dataclass(frozen=True)` writes five methods for each class and compiles them, 0.4 ms a class: with the hundred classes that a small
evaluation loads, that was a fifth of its time. The classes here have the same fields and behave the same, so that
`dataclasses.fields` and `replace` work, and a dataclass may be derived from them; but they share their methods, except for
`__init__`, which is written once there are some instances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from inspect import Parameter, Signature, get_annotations
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Only type checkers look at it."""
        return lambda decorator: decorator


T = TypeVar("T")
FEW = 8
"""From so many instances on it pays to write the method that makes them."""


@dataclass(frozen=True)
class _Frozen:
    """What dataclasses of Python look for in a base that is frozen, and how they mark what is a field and what is none."""

    shared: ClassVar[int]
    own: int


_PARAMS: Any = _Frozen.__dataclass_params__  # type: ignore[attr-defined]
_KINDS = {name: one._field_type for name, one in _Frozen.__dataclass_fields__.items()}  # type: ignore[attr-defined]


@overload
def frozen(cls: type[T]) -> type[T]: ...


@overload
def frozen(*, eq: bool) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, *, eq: bool = True) -> Any:
    """A class whose annotations are its fields, with defaults. Its instances are compared and hashed by their fields, or, without
    `eq`, by their identity."""
    return _define(cls, eq) if cls is not None else lambda given: _define(given, eq)


def _define(cls: type[T], eq: bool) -> type[T]:
    own = get_annotations(cls)
    found: dict[str, Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        found |= base.__dict__.get("__dataclass_fields__", {})
    for name, annotation in own.items():
        found[name] = _made_field(cls, name, annotation)
    names = tuple([name for name, one in found.items() if one._field_type is _KINDS["own"]])  # type: ignore[attr-defined]
    shared = {
        "__dataclass_fields__": found,
        "__dataclass_params__": _PARAMS,
        "__match_args__": names,
        "__init__": _init,
        "__signature__": _SIGNATURE if "__init__" not in cls.__dict__ else None,
        "_few": repeat(True, FEW),
        "__setattr__": _set,
        "__delattr__": _delete,
    }
    if eq:
        compared = [name for name in names if found[name].compare]
        values = attrgetter(*compared) if len(compared) > 1 else _alone(*compared)
        shared |= {"_values": property(values), "__eq__": _equal, "__hash__": _hash}
        if any(found[name].hash is False for name in compared):
            hashed = _alone(*(name for name in compared if found[name].hash is not False))
            shared["__hash__"] = lambda self: hash(hashed(self))
    for name, value in shared.items():
        if name not in cls.__dict__:
            setattr(cls, name, value)
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = _repr  # type: ignore[method-assign]
    return cls


def _made_field(cls: type, name: str, annotation: Any) -> Field[Any]:
    # A descriptor says what its default is.
    value: Any = getattr(cls, name, MISSING) if name in cls.__dict__ else MISSING
    if isinstance(value, Field):
        one = value
        if value.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, value.default)
    else:
        one = field(default=value)
    one.name, one.type, one.kw_only = name, annotation, False
    one._field_type = _KINDS["shared" if "ClassVar" in str(annotation) else "own"]  # type: ignore[attr-defined]
    return one


def _alone(*names: str) -> Callable[[Any], tuple[Any, ...]]:
    """The values of no field, or of one: named twice to `attrgetter`, one inside of others would be hashed 2^depth times."""
    return lambda self: tuple(getattr(self, name) for name in names)


class _SignatureOfFields:
    """What a class can be called with, put together when somebody asks: `help`, an editor."""

    def __get__(self, instance: Any, owner: Any) -> Signature | None:
        own = next(one for one in owner.__mro__ if not {"__init__", "__signature__"}.isdisjoint(one.__dict__))
        if instance is not None or "__signature__" not in own.__dict__:
            return None
        found = []
        for name in owner.__match_args__:
            one = owner.__dataclass_fields__[name]
            default = one.default if one.default_factory is MISSING else one.default_factory()
            given = Parameter.empty if default is MISSING else default
            found.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=given, annotation=one.type))
        return Signature(found)


_SIGNATURE = _SignatureOfFields()


def _init(self: Any, *values: Any, **named: Any) -> None:
    # Stands in for a method that is written once there are a few instances; until then, and that is often all, each field is set.
    owner: Any = next(one for one in type(self).__mro__ if "__dataclass_fields__" in one.__dict__)
    names = owner.__match_args__
    given = {**dict(zip(names, values, strict=False)), **named}
    if next(owner._few, None) is None or len(given) < len(values) + len(named) or not given.keys() <= set(names):
        owner.__init__ = _written_init(owner)
        return owner.__init__(self, *values, **named)  # type: ignore[no-any-return]
    fields_ = owner.__dataclass_fields__
    for name in names:
        if name in given:
            value = given[name]
        elif (value := fields_[name].default) is MISSING:
            if (make := fields_[name].default_factory) is MISSING:
                return _written_init(owner)(self, *values, **named)  # which says what is missing
            value = make()
        object.__setattr__(self, name, value)
    if hasattr(owner, "__post_init__"):
        self.__post_init__()
    return None


def _written_init(cls: Any) -> Callable[..., None]:
    # Set one by one, and not in `self.__dict__`: an instance that was never asked for that is smaller, and read faster.
    arguments, lines, known = ["self"], [], {"MISSING": MISSING, "__set__": object.__setattr__}
    for name in cls.__match_args__:
        one, value = cls.__dataclass_fields__[name], name
        if one.default is not MISSING:
            known[f"default_{name}"] = one.default
            arguments.append(f"{name}=default_{name}")
        elif one.default_factory is not MISSING:
            known[f"make_{name}"] = one.default_factory
            arguments.append(f"{name}=MISSING")
            value = f"make_{name}() if {name} is MISSING else {name}"
        else:
            arguments.append(name)
        lines.append(f"__set__(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def {cls.__name__}({', '.join(arguments)}):\n  " + "\n  ".join(lines or ["pass"]), known)
    return known[cls.__name__]  # type: ignore[return-value]


def _repr(self: Any) -> str:
    shown = [name for name in self.__match_args__ if self.__dataclass_fields__[name].repr]
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _equal(self: Any, other: Any) -> Any:
    return self._values == other._values if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._values)


for _name, _method in (
    ("__init__", _init), ("__repr__", _repr), ("__setattr__", _set), ("__delattr__", _delete), ("__eq__", _equal), ("__hash__", _hash),
):  # fmt: skip
    _method.__name__ = _method.__qualname__ = _name  # as `help` shows it
