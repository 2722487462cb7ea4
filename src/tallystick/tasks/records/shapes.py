"""`--type module:Type`: finding the user's type, and turning JSON into values of it, strictly.

Values are checked by msgspec, or by pydantic where the type is made of pydantic models. Nothing is coerced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from typing_extensions import NotRequired, TypedDict

from tallystick.algebra.derive import one_alternative
from tallystick.algebra.shape import BAGS, UNIONS, plain_type, record_fields, union_of
from tallystick.errors import InputError, MetricError, Place, TallystickError
from tallystick.files.arrow import ArrowLines
from tallystick.files.json_values import TOO_DEEP
from tallystick.files.lines import Lines, not_json
from tallystick.tasks.records.inference import Seen, schema_of


def converter(type_: Any) -> Callable[[Any], Any]:
    """A function from plain JSON data to a value of the type; it raises ValueError with the path of what is wrong."""
    if not _has_pydantic(type_, set()):
        import msgspec

        try:
            decoder = msgspec.json.Decoder(type_, strict=True)
        except (TypeError, NotImplementedError) as error:
            return _pydantic(type_, f"msgspec cannot ({error})")
        return decoder.decode
    return _pydantic(type_, "it is made of pydantic models")


def _pydantic(type_: Any, reason: str) -> Callable[[Any], Any]:
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError:
        raise MetricError(f"values of {type_} need pydantic to be read: pip install pydantic ({reason})") from None
    try:
        adapter = TypeAdapter(type_)
    except Exception as error:
        raise MetricError(f"values of {type_} cannot be read from JSON: {error}") from None

    def convert(line: bytes) -> Any:
        try:
            return adapter.validate_json(line, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
            raise ValueError(f"{first['msg']}, found {first['input']!r:.60} - at `${path}`") from None

    return convert


def _has_pydantic(type_: Any, seen: set[int]) -> bool:
    from tallystick.algebra.shape import record_fields

    if id(type_) in seen:
        return False
    seen.add(id(type_))
    if hasattr(type_, "__pydantic_core_schema__") or hasattr(type_, "model_fields"):
        return True
    inner = list(get_args(type_))
    with contextlib.suppress(TallystickError):
        inner += list((record_fields(type_) or {}).values())
    return any(_has_pydantic(one, seen) for one in inner)


# A type whose values may be given as several alternatives at some paths: T, or list[T], is T | list[T] there in the
# reference, and T in a prediction.


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


# What a document is: from a type, from a JSON Schema, or inferred from the reference. One shape, one way on.
#
# A shape says what the metric is derived from, how lines become values, and how strict predictions are: those of a type or a
# schema were promised and have to fit; an inferred shape promises nothing about predictions, so what does not fit it is
# counted as wrong and said.

Convert = Callable[[bytes], Any]


@dataclass(frozen=True)
class Shape:
    """The types of both sides; `schema` and `doubts` if they were inferred."""

    reference: Any
    predicted: Any
    promised: bool = True
    schema: dict[str, Any] | None = None
    doubts: tuple[str, ...] = ()

    def converters(self) -> tuple[Convert, Convert]:
        """From a line to a value, for both sides."""
        if self.reference is None:
            import msgspec

            plain = msgspec.json.Decoder().decode
            return plain, plain
        left = converter(self.reference)
        return left, left if self.predicted is self.reference else converter(self.predicted)


PLAIN = Shape(None, None)


def shape_of_type(type_: Any) -> Shape:
    """The shape of documents that are values of a type."""
    return Shape(type_, type_)


def shape_of_schema(schema: Any, file: str = "schema") -> Shape:
    """The shape that a JSON Schema describes."""
    from tallystick.tasks.records.schema import type_of_schema

    reference = type_of_schema(schema, file)
    alternatives = '"any_of"' in _dumped(schema)
    return Shape(reference, type_of_schema(schema, file, predicted=True) if alternatives else reference)


def infer_shape(reference: Lines) -> Shape:
    """The shape of a reference file, which is read once from end to end (a Parquet file only as far as need be)."""
    if isinstance(reference, ArrowLines):
        from tallystick.tasks.records.arrow_shapes import see_file

        return _shape_of(see_file(reference), reference.file)
    return _shape_of(_see_lines(reference), reference.file)


def _see_lines(reference: Lines) -> Seen:
    import msgspec

    seen, decode = Seen(), msgspec.json.Decoder().decode
    number, line = 0, b""
    try:
        for portion in reference.portions():
            for number, line in zip(portion.numbers, portion.lines, strict=True):  # noqa: B007 - for the messages below
                seen.add(decode(line))
    except msgspec.DecodeError as error:
        raise not_json(error, reference.file, number, line) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; convert the file to UTF-8 first", Place(reference.file, number)) from None
    except RecursionError:
        raise InputError(TOO_DEEP, Place(reference.file, number)) from None
    return seen


def _shape_of(seen: Seen, file: str) -> Shape:
    if not seen.count:
        raise InputError("has no records; expected one JSON value a line", file)
    try:
        schema, doubts = schema_of(seen)
        shape = shape_of_schema(schema, f"inferred from {file}")
    except RecursionError:
        raise InputError(TOO_DEEP, file) from None
    return Shape(shape.reference, shape.predicted, False, schema, tuple(doubts))


def loose_converter(schema: dict[str, Any]) -> Convert:
    """The converter of an inferred schema to which any key may be missing."""
    return converter(shape_of_schema(_loosened(schema)).predicted)


def _loosened(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _loosened(one) for name, one in value.items()} if key == "properties" else _loosened(value)
            for key, value in schema.items()
            if key != "required"
        }
    return [_loosened(one) for one in schema] if isinstance(schema, list) else schema


def _dumped(schema: Any) -> str:
    import json

    return json.dumps(schema, default=str)
