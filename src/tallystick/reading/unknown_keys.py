"""Keys that a prediction has and its type does not: they are left out when a line becomes a value, so they are counted.

A checker is made once from the type. For a flat record only the keys are decoded; where records are nested, the whole line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, get_args, get_origin

from tallystick.deriving import BAGS, MAPPINGS, SEQUENCES, UNIONS, plain_type, record_fields
from tallystick.errors import TallystickError

Unknown = Callable[[bytes], Iterable[str]]
Checker = Callable[[Any, str, "list[str]"], None]

DEEPEST = 12
"""A recursive type is followed so far."""


def unknown_keys(type_: Any, id_field: str) -> Unknown | None:
    """A function from a line to the paths of its unknown keys; None where no key can be unknown."""
    import msgspec

    if type_ is None:
        return None
    try:
        check = _checker(type_, id_field, DEEPEST)
        if check is None:
            return None
        fields = _fields(plain_type(type_))
        flat = fields is not None and all(_checker(inner, "", DEEPEST) is None for inner in fields.values())
    except TallystickError:  # a type that cannot be taken apart is said where the metric is derived
        return None
    decode: Callable[[bytes], Any] = (
        msgspec.json.Decoder(dict[str, msgspec.Raw]).decode if flat else msgspec.json.Decoder().decode
    )

    def unknown(line: bytes) -> Iterable[str]:
        found: list[str] = []
        try:
            check(decode(line), "", found)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return ()  # what is wrong with the line is said when it is read
        return found

    return unknown


def _fields(type_: Any) -> dict[str, Any] | None:
    return record_fields(type_) if not hasattr(type_, "_fields") and get_origin(type_) is not tuple else None


def _checker(type_: Any, id_field: str, depth: int) -> Checker | None:
    """What looks for unknown keys in a value of the type; None where there is nothing to look for."""
    type_ = plain_type(type_)
    while get_origin(type_) is Annotated:
        type_ = plain_type(get_args(type_)[0])
    origin, arguments = get_origin(type_) or type_, get_args(type_)
    if depth == 0:
        return None
    if origin in UNIONS:
        inner = [_checker(one, "", depth - 1) for one in arguments if one is not type(None)]
        return inner[0] if len(inner) == 1 else None  # of several cases, which one is meant is not known here
    if origin in BAGS or origin in SEQUENCES or (origin is tuple and Ellipsis in arguments):
        return _of_items(_checker(arguments[0], "", depth - 1)) if arguments else None
    if origin in MAPPINGS:
        return _of_values(_checker(arguments[1], "", depth - 1)) if arguments else None
    fields = _fields(type_)
    if fields is None:
        return None
    inside = {name: found for name, one in fields.items() if (found := _checker(one, "", depth - 1)) is not None}
    return _of_record(frozenset({*fields, *_aliases(type_), id_field} - {""}), inside)


def _aliases(type_: Any) -> Iterable[str]:
    """Other names that a record's fields have in JSON."""
    origin = get_origin(type_) or type_
    yield from getattr(origin, "__struct_encode_fields__", ())  # msgspec
    for one in (getattr(origin, "model_fields", None) or {}).values():  # pydantic
        yield from (name for name in (one.alias, one.validation_alias) if isinstance(name, str))
        yield from (name for name in getattr(one.validation_alias, "choices", ()) if isinstance(name, str))


def _of_record(known: frozenset[str], inside: dict[str, Checker]) -> Checker:
    def check(value: Any, path: str, found: list[str]) -> None:
        if type(value) is not dict:
            return
        if not known.issuperset(value):
            found += [f"{path}.{key}" if path else key for key in value if key not in known]
        for name, inner in inside.items():
            if name in value:
                inner(value[name], f"{path}.{name}" if path else name, found)

    return check


def _of_items(inner: Checker | None) -> Checker | None:
    if inner is None:
        return None

    def check(value: Any, path: str, found: list[str]) -> None:
        if type(value) is list:
            for one in value:
                inner(one, f"{path}[*]", found)

    return check


def _of_values(inner: Checker | None) -> Checker | None:
    if inner is None:
        return None

    def check(value: Any, path: str, found: list[str]) -> None:
        if type(value) is dict:
            for one in value.values():
                inner(one, f"{path}[*]", found)

    return check
