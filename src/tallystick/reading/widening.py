"""A type whose values may be given as several alternatives at some paths: T, or list[T], is T | list[T] there in the
reference, and T in a prediction."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, get_args, get_origin

from typing_extensions import NotRequired, TypedDict

from tallystick.columns.types import BAGS, UNIONS, plain_type, record_fields, union_of
from tallystick.deriving import one_alternative


def widened(type_: Any, paths: Collection[str], *, predicted: bool = False, path: str = "") -> Any:
    """The type, with alternatives at the paths. Records on the way become plain objects of the same fields."""
    if not any(one.startswith(path) for one in paths):
        return type_
    if get_origin(type_) is NotRequired:
        inner: Any = widened(get_args(type_)[0], paths, predicted=predicted, path=path)
        return NotRequired[inner]
    if get_origin(type_) is Annotated:
        noted: Any = (widened(type_.__origin__, paths, predicted=predicted, path=path), *type_.__metadata__)
        return Annotated[noted]
    plain = plain_type(type_)
    if path in paths and path:
        one: Any = one_alternative(plain)
        return one if predicted else union_of((one, list[one]))
    if get_origin(plain) in UNIONS:
        return union_of(widened(one, paths, predicted=predicted, path=path) for one in get_args(plain))
    if get_origin(plain) in BAGS and get_args(plain):
        item: Any = widened(get_args(plain)[0], paths, predicted=predicted, path=f"{path}[*]")
        return list[item]
    fields = record_fields(plain)
    if fields is None:
        return type_
    made: Any = TypedDict(  # type: ignore[misc]
        plain.__name__,
        {k: widened(t, paths, predicted=predicted, path=f"{path}.{k}" if path else k) for k, t in fields.items()},
    )
    return made
