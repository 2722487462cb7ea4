"""What a document is: from a type, from a JSON Schema, or inferred from the reference. One shape, one way on.

A shape says what the metric is derived from, how lines become values, and how strict predictions are: those of a type or a
schema were promised and have to fit; an inferred shape promises nothing about predictions, so what does not fit it is
counted as wrong and said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.errors import InputError, Place
from tallystick.reading.arrow_files import ArrowLines
from tallystick.reading.inference import Seen, schema_of
from tallystick.reading.json_text import TOO_DEEP
from tallystick.reading.lines import Lines, not_json
from tallystick.reading.types import converter

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
    from tallystick.reading.schema import type_of_schema

    reference = type_of_schema(schema, file)
    alternatives = '"any_of"' in _dumped(schema)
    return Shape(reference, type_of_schema(schema, file, predicted=True) if alternatives else reference)


def infer_shape(reference: Lines) -> Shape:
    """The shape of a reference file, which is read once from end to end (a Parquet file only as far as need be)."""
    if isinstance(reference, ArrowLines):
        from tallystick.reading.arrow_shapes import see_file

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
