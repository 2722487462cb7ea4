"""JSON Schema as a type: what a schema allows becomes the type that a metric is derived from and values are checked by.

    {"type": "object", "properties": {"price": {"type": "number", "x-tallystick": {"number": {"relative": 0.01}}}}}

becomes a TypedDict with `price: NotRequired[Annotated[int | float | None, ...]]`. So a schema, a dataclass and a pydantic model
go one way from here on, and give one metric. Understood are type, properties, required, items, prefixItems,
additionalProperties, enum, const, anyOf, oneOf, allOf, $ref inside the file, and the formats of dates, times and UUIDs.
What only narrows a value (minimum, pattern, ...) says nothing about its shape and is left to validators.
"""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from typing_extensions import NotRequired, TypedDict

from tallystick.algebra.choose import Choice, read_choice
from tallystick.algebra.derive import union_of
from tallystick.algebra.surplus import OPEN
from tallystick.algebra.text import Text
from tallystick.errors import DerivationError, InputError, did_you_mean
from tallystick.files.json_values import MOST_STEPS

KEYWORD = "x-tallystick"
_SIMPLE: dict[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": None}
_TYPES = (*_SIMPLE, "array", "object")
FORMATS: dict[str, Any] = {
    "date": datetime.date,
    "date-time": datetime.datetime,
    "time": datetime.time,
    "duration": datetime.timedelta,
    "uuid": uuid.UUID,
}


def type_of_schema(schema: Any, file: str = "schema", *, predicted: bool = False, loose: bool = False) -> Any:
    """The type that a schema describes.

    With `predicted`, the type of predictions: where the gold may hold alternatives, a prediction is one value. With `loose`, no key is
    required.
    """
    reader = _Reader(schema, file, predicted, loose)
    title = schema.get("title") if isinstance(schema, Mapping) else None
    try:
        return reader.type_at(schema, "#", _class_name(title, "Document"))
    except RecursionError:
        raise InputError("is nested too deeply, or refers to itself without end", file) from None


class _Reader:
    def __init__(self, schema: Any, file: str, predicted: bool, loose: bool) -> None:
        self.schema, self.file, self.predicted, self.loose = schema, file, predicted, loose
        self.known: dict[str, Any] = {}
        self.names: set[str] = set()
        self.steps = 0

    def step(self, pointer: str) -> None:
        """References inside allOf can double a schema again and again."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise self.wrong(pointer, f"with all that it refers to, this schema has more than {MOST_STEPS:,} parts")

    def wrong(self, pointer: str, message: str) -> InputError:
        return InputError(f"at {pointer}: {message}", self.file)

    def expect(self, kind: type, value: Any, pointer: str, what: str, maybe_empty: bool = False) -> Any:
        """The value, which has to be of a kind, and a list has to hold something."""
        if not isinstance(value, kind) or (value == [] and not maybe_empty):
            raise self.wrong(pointer, f"expected {what}, found {value!r:.60}")
        return value

    def type_at(self, node: Any, pointer: str, name: str) -> Any:
        """The type of the schema at a JSON pointer, with what was chosen for it."""
        self.step(pointer)
        node = self.expect(Mapping, {} if node is True else node, pointer, "a schema (an object)")
        choice = self.choice(node, pointer)
        if choice is not None and choice.ignored and not node.keys() & {"type", "$ref", "properties", "enum", "const"}:
            return Annotated[str, choice]
        found = self.plain(node, pointer, name, choice)
        if choice is None:
            return found
        if choice.any_of and not self.predicted:
            found = union_of((found, list[found]))  # type: ignore[valid-type]
        return Annotated[found, choice]

    def choice(self, node: Mapping[str, Any], pointer: str) -> Choice | None:
        for key in node:
            if key != KEYWORD and _resembles(str(key).lower(), KEYWORD):
                raise self.wrong(f"{pointer}/{key}", f'unknown keyword {key!r}. Did you mean "{KEYWORD}"?')
        if KEYWORD not in node:
            return None
        where = f"{pointer}/{KEYWORD}"
        try:
            return read_choice(node[KEYWORD], where, f"{KEYWORD} at {pointer}")
        except DerivationError as error:
            raise self.wrong(where, str(error).removeprefix(f"{where}: ")) from None

    def plain(self, node: Mapping[str, Any], pointer: str, name: str, choice: Choice | None) -> Any:
        if "$ref" in node:
            return self.reference(node["$ref"], pointer)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                return self.union(node[keyword], f"{pointer}/{keyword}", name)
        if "allOf" in node:
            return self.type_at(self.merge(node, pointer), pointer, name)
        if "const" in node:
            return self.literal([node["const"]], f"{pointer}/const")
        if "enum" in node:
            return self.literal(node["enum"], f"{pointer}/enum")
        kind = node.get("type")
        if kind is None:
            kind = "object" if "properties" in node else "array" if "items" in node or "prefixItems" in node else None
        if isinstance(kind, list):
            if not kind:
                raise self.wrong(f"{pointer}/type", f"is an empty list; expected some of {', '.join(_TYPES)}")
            return union_of(self.kind({**node, "type": one}, one, pointer, name, choice) for one in kind)
        return self.kind(node, kind, pointer, name, choice)

    def kind(self, node: Mapping[str, Any], kind: Any, pointer: str, name: str, choice: Choice | None) -> Any:
        if kind is None:
            if choice is not None and choice.similarity is not None:
                return Any
            raise self.wrong(pointer, f"says nothing about the value; give it a type: one of {', '.join(_TYPES)}")
        if not isinstance(kind, str) or kind not in _TYPES:
            hint = did_you_mean(str(kind), _TYPES)
            raise self.wrong(f"{pointer}/type", f"unknown type {kind!r}; expected one of {', '.join(_TYPES)}.{hint}")
        if kind == "array":
            return self.array(node, pointer, name)
        if kind == "object":
            return self.object(node, pointer, name)
        if kind == "number" and node.get("format") == "decimal":
            return decimal.Decimal
        if kind == "string" and node.get("contentEncoding") == "base64":
            return bytes
        if kind == "string" and not (choice is not None and isinstance(choice.similarity, Text)):
            return FORMATS.get(str(node.get("format", "")), str)
        return _SIMPLE[kind]

    def array(self, node: Mapping[str, Any], pointer: str, name: str) -> Any:
        if "prefixItems" in node:
            items = self.expect(list, node["prefixItems"], f"{pointer}/prefixItems", "a list of schemas")
            parts = tuple(self.type_at(one, f"{pointer}/prefixItems/{k}", f"{name}{k}") for k, one in enumerate(items))
            return tuple.__class_getitem__(parts)
        if node.get("items") in (None, True, {}):
            raise self.wrong(pointer, "an array that does not say what is in it; give it items")
        inner = self.type_at(node["items"], f"{pointer}/items", _class_name(None, name.rstrip("s") or name))
        if node.get("uniqueItems") is True and inner in (str, int, int | float, bool):
            return set[inner]  # type: ignore[valid-type]
        return list[inner]  # type: ignore[valid-type]

    def object(self, node: Mapping[str, Any], pointer: str, name: str) -> Any:
        properties = node.get("properties")
        further = node.get("additionalProperties")
        if properties is None:
            if isinstance(further, Mapping) and further:
                value: Any = self.type_at(further, f"{pointer}/additionalProperties", f"{name}Value")
                return dict[str, value]
            raise self.wrong(pointer, "an object that does not say what is in it; give it properties")
        self.check_object(node, pointer)
        required = [] if self.loose else node.get("required", [])
        for one in required:
            if one not in properties:
                hint = did_you_mean(str(one), properties)
                raise self.wrong(f"{pointer}/required", f"names {one!r}, which is not a property.{hint}")
        made = self.known.get(pointer, _Unfinished)
        if made is _Unfinished:
            made = self.placeholder(_class_name(node.get("title"), name))
        fields = {
            key: self.type_at(one, f"{pointer}/properties/{_escaped(key)}", _class_name(None, key))
            for key, one in properties.items()
        }
        for key in fields.keys() - set(required):
            maybe: Any = _or_none(fields[key])
            fields[key] = NotRequired[maybe]
        made.__annotations__.update(fields)
        made.__required_keys__ = frozenset(required)
        made.__optional_keys__ = frozenset(fields) - frozenset(required)
        if further is True or isinstance(further, Mapping):
            setattr(made, OPEN, True)
        return made

    def check_object(self, node: Mapping[str, Any], pointer: str) -> None:
        """What an object's properties and required names have to be."""
        properties, required = node.get("properties", {}), node.get("required", [])
        self.expect(Mapping, properties, f"{pointer}/properties", "an object of schemas")
        if not isinstance(required, list) or not all(isinstance(one, str) for one in required):
            raise self.wrong(f"{pointer}/required", f"expected a list of names, found {required!r:.60}")

    def placeholder(self, name: str) -> Any:
        """A TypedDict that gets its fields later, so that a schema may contain itself."""
        unique, k = name, 2
        while unique in self.names:
            unique, k = f"{name}{k}", k + 1
        self.names.add(unique)
        return cast(Any, TypedDict)(unique, {})

    def reference(self, target: Any, pointer: str) -> Any:
        where = f"{pointer}/$ref"
        self.check_target(target, where)
        if target in self.known:
            if self.known[target] is _Unfinished:
                raise self.wrong(where, f"{target!r} refers to itself without an object in between")
            return self.known[target]
        node = self.look_up(target, where)
        last = target.rsplit("/", 1)[-1]
        name = _class_name(node.get("title") if isinstance(node, Mapping) else None, last)
        if isinstance(node, Mapping) and "properties" in node and KEYWORD not in node:
            self.known[target] = self.placeholder(_class_name(node.get("title"), name))
            return self.object(node, target, name)
        self.known[target] = _Unfinished
        self.known[target] = self.type_at(node, target, name)
        return self.known[target]

    def check_target(self, target: Any, where: str) -> None:
        if not isinstance(target, str) or not target.startswith("#"):
            raise self.wrong(where, f"{target!r:.60} lies outside of this file; only #/... can be followed")

    def look_up(self, target: Any, where: str) -> Any:
        self.check_target(target, where)
        node: Any = self.schema
        for step in target[1:].strip("/").split("/") if target != "#" else []:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and step.isdigit() and int(step) < len(node):
                node = node[int(step)]
            elif isinstance(node, Mapping) and step in node:
                node = node[step]
            else:
                hint = did_you_mean(step, node) if isinstance(node, Mapping) else ""
                raise self.wrong(where, f"{target!r} leads to nothing: there is no {step!r}.{hint}")
        return node

    def union(self, options: Any, pointer: str, name: str) -> Any:
        schemas = enumerate(self.expect(list, options, pointer, "a list of schemas"))
        return union_of(self.type_at(one, f"{pointer}/{k}", f"{name}{k + 1}" if k else name) for k, one in schemas)

    def merge(self, node: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """allOf as one schema: properties and required names together, anything else from the last that says it."""
        out: dict[str, Any] = {key: value for key, value in node.items() if key not in ("allOf", KEYWORD)}
        self.check_object(out, pointer)
        for k, part in enumerate(self.expect(list, node["allOf"], f"{pointer}/allOf", "a list of schemas", True)):
            self.step(pointer)
            where = f"{pointer}/allOf/{k}"
            if isinstance(part, Mapping) and "$ref" in part:
                there = self.look_up(part["$ref"], f"{where}/$ref")
                there = self.expect(Mapping, there, f"{where}/$ref", "a schema there")
                part = {**there, **{a: b for a, b in part.items() if a != "$ref"}}
            self.expect(Mapping, part, where, "a schema (an object)")
            if "allOf" in part:
                part = self.merge(part, where)
            self.check_object(part, where)
            properties = {**out.get("properties", {}), **part.get("properties", {})}
            required = [*out.get("required", []), *part.get("required", [])]
            out.update({key: value for key, value in part.items() if key != KEYWORD})
            if properties:
                out.update(properties=properties, required=list(dict.fromkeys(required)))
        return out

    def literal(self, values: Any, pointer: str) -> Any:
        self.expect(list, values, pointer, "a list of values")
        if any(isinstance(value, (list, Mapping)) for value in values):
            raise self.wrong(pointer, "only texts, numbers, booleans and null can be enumerated here")
        # Numbers with a fraction and booleans cannot be in a Literal; there the kind is all that is checked.
        plain = [value for value in values if isinstance(value, str) or (type(value) is int and abs(value) < 2**63)]
        kinds = {type(value) for value in values if value not in plain or isinstance(value, bool)} - {type(None)}
        parts: list[Any] = [*kinds]
        if kinds == {float}:
            plain = [value for value in plain if isinstance(value, str)]
        if plain:
            parts.append(Literal.__getitem__(tuple(plain)))
        if None in values:
            parts.append(None)
        return union_of(parts)


class _Unfinished:
    """A schema that refers to itself without an object in between."""


def _or_none(type_: Any) -> Any:
    if hasattr(type_, "__metadata__"):
        noted: Any = (union_of((type_.__origin__, None)), *type_.__metadata__)
        return Annotated[noted]
    return union_of((type_, None))


def _class_name(title: Any, name: str) -> str:
    words = re.findall(r"\w+", title if isinstance(title, str) and title else name)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if joined.isidentifier() else f"Object{joined}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _resembles(one: str, other: str) -> bool:
    """Whether a key is a keyword misspelt."""
    shared = (Counter(one) & Counter(other)).total()
    if 2 * shared <= 0.8 * (
        len(one) + len(other)
    ):  # as alike as they can be in any order: mostly no need to look further
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio() > 0.8
