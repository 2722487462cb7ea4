"""What a document is: given as a type or a JSON Schema, or inferred from the reference. All three end in a type, and go one way on.

    reference file  → Seen ─→ JSON Schema ─→ type ─→ the metric, the converters, and whatever walks `algebra.derive.shape_of`
    Arrow's columns ↗         --schema   ↗   --type ↗

Nothing is guessed about how values are compared: texts, numbers and booleans are exact, lists are bags. What looks as if it meant
something else (a list that is always two integers, keys that are never the same) triggers a warning and decides nothing. An inferred
schema can be saved, edited and given back.
"""

from __future__ import annotations

import contextlib
import decimal
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter, countOf, itemgetter
from typing import Annotated, Any, cast

import msgspec
from typing_extensions import NotRequired, TypedDict

from tallystick.algebra.derive import BAGS, Shape, json_keys, one_alternative, record_fields, shape_of, union_of
from tallystick.algebra.surplus import Place as KnownKeys
from tallystick.engine.data import Objects, Record
from tallystick.errors import InputError, MetricError, TallystickError
from tallystick.files.json_values import TOO_DEEP, collector_paused
from tallystick.files.lines import ArrowLines, Lines
from tallystick.frozen import frozen
from tallystick.tasks.records.schema import FORMATS, type_of_schema

# Whole numbers are numbers: that a reference happens to have no fraction promises nothing about a prediction.
_KINDS: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
# What JSON has no kind for; such values come from columns, where all values of a field are of one kind.
_NOTES: dict[type, dict[str, str]] = {
    bytes: {"contentEncoding": "base64"}, decimal.Decimal: {"format": "decimal"},
    **{kind: {"format": name} for name, kind in FORMATS.items()},
}  # fmt: skip
MANY_KEYS = 50
SEEN_AT_ONCE = 256
"""Lines whose values are in memory together while they are taken apart: few enough to stay in the processor's cache."""
SIEVES = 20
"""So often a decoder is made for the lines that are like those before; where something new turns up again and again it does not pay."""
MANY_SHAPES = 10_000
"""So many combinations of keys and kinds are counted apart before they are added up."""


@dataclass
class Seen:
    """What was found at one path of the documents."""

    count: int = 0
    kinds: Counter[type] = field(default_factory=Counter)
    fields: dict[str, Seen] = field(default_factory=dict)
    items: Seen | None = None
    lists: int = 0
    objects: int = 0
    pairs: int = 0
    maps: bool = False
    """Whether the objects are known to be mappings, whose keys are data."""
    _shapes: dict[tuple[tuple[str, ...], tuple[type, ...]], int] = field(default_factory=dict)

    def add(self, values: Sequence[Any]) -> None:
        """Count some values. Most objects have the keys and kinds of one before, so that these are only counted."""
        self.count += len(values)
        kinds = Counter(map(type, values))
        objects, lists = kinds.pop(dict, 0), kinds.pop(list, 0)
        self.kinds.update(kinds)
        if objects:
            self.objects += objects
            self._add_objects(values if objects == len(values) else [one for one in values if type(one) is dict])
        if lists:
            self.lists += lists
            found = values if lists == len(values) else [one for one in values if type(one) is list]
            self.items = self.items or Seen()
            numbers = self.items.kinds[int]
            self.items.add(list(chain.from_iterable(found)))
            if self.items.kinds[int] > numbers:
                self.pairs += sum(len(one) == 2 and type(one[0]) is int and type(one[1]) is int for one in found)

    def _add_objects(self, objects: Sequence[dict[str, Any]]) -> None:
        inside = map(tuple, map(map, repeat(type), map(dict.values, objects)))
        shapes = list(zip(map(tuple, objects), inside, strict=True))
        deep: dict[str, int] = {}  # how many of the objects have a list or an object under a key
        for shape, times in Counter(shapes).items():
            if shape not in self._shapes:
                if len(self._shapes) >= MANY_SHAPES:
                    self.add_up()
                self._shapes[shape] = 0
                for key in shape[0]:
                    self.fields.setdefault(key, Seen())
            self._shapes[shape] += times
            for key, kind in zip(*shape, strict=True):
                if kind is dict or kind is list:
                    deep[key] = deep.get(key, 0) + times
        for key in (key for key in self.fields if key in deep):
            if deep[key] == len(objects):
                found = list(map(itemgetter(key), objects))
            else:
                found = [value for one in objects if type(value := one.get(key)) in (dict, list)]
            self.fields[key].add(found)

    def add_up(self) -> Seen:
        """Count what was only counted by shape."""
        for shape, times in self._shapes.items():
            for key, kind in zip(*shape, strict=True):
                if kind not in (dict, list):
                    self.fields[key].kinds[kind] += times
                    self.fields[key].count += times
        self._shapes.clear()
        for inner in self.fields.values():
            inner.add_up()
        if self.items is not None:
            self.items.add_up()
        return self

    @property
    def is_map(self) -> bool:
        """Whether the keys are data: very many, none of them in half of the objects."""
        return self.maps or (
            len(self.fields) > MANY_KEYS and max(s.count for s in self.fields.values()) * 2 < self.objects
        )


def flat_sieve(seen: Seen) -> Callable[[Sequence[bytes]], bool] | None:
    """Counts lines of flat records in which there is nothing but what was seen before, without a dict for each: a quarter of the time.
    It answers False, and counts nothing, where one of them holds anything else. None if the records are not flat, or a field has
    several kinds of value, which have to be counted one by one."""
    fields = {key: _flat_type(inner, seen.objects) for key, inner in seen.add_up().fields.items()}
    if not fields or seen.objects < seen.count or seen.is_map or None in fields.values():
        return None
    names = {f"f{number}": key for number, key in enumerate(fields)}
    members = [(name, *cast(Any, fields[key])) for name, key in names.items()]
    try:
        made = msgspec.defstruct("Seen", members, rename=names, kw_only=True, gc=False, forbid_unknown_fields=True)
        decode = decoder_of(made)
    except (TypeError, ValueError):  # a key that msgspec does not take is a ValueError
        return None
    known = [
        (inner, next(kind for kind in inner.kinds if kind is not type(None)), attrgetter(name))
        for name, inner in zip(names, seen.fields.values(), strict=True)
    ]

    def count(lines: Sequence[bytes]) -> bool:
        try:
            rows = list(map(decode, lines))
        except Exception:  # whatever it is, it is looked at by itself
            return False
        for inner, kind, get in known:
            there, nulls = len(rows), 0
            if inner.count < seen.objects or type(None) in inner.kinds:
                values = list(map(get, rows))
                there, nulls = there - countOf(values, msgspec.UNSET), countOf(values, None)
                inner.kinds.update({type(None): nulls} if nulls else {})
            inner.count += there
            inner.kinds[kind] += there - nulls
        seen.count += len(rows)
        seen.objects += len(rows)
        return True

    return count


def _flat_type(inner: Seen, objects: int) -> tuple[Any, ...] | None:
    """The type of a field whose values are all of one kind, or null, with its default if it may be missing."""
    names = {_KINDS.get(kind) for kind in inner.kinds}
    kinds = names - {"null"}
    if inner.lists or inner.objects or len(kinds) != 1 or None in kinds:
        return None
    type_: Any = {"string": str, "number": int | float, "boolean": bool}[cast(str, kinds.pop())]
    if "null" in names:
        type_ = type_ | None
    return (type_,) if inner.count == objects else (type_ | msgspec.UnsetType, msgspec.UNSET)


def infer_schema(documents: Iterable[Any], title: str = "Document") -> tuple[dict[str, Any], list[str]]:
    """A JSON Schema that all documents fit, and what a person should look at."""
    seen = Seen()
    seen.add(list(documents))
    return schema_of(seen, title)


def schema_of(seen: Seen, title: str = "Document") -> tuple[dict[str, Any], list[str]]:
    """The schema of what was seen."""
    seen.add_up()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_schema(seen)}
    return schema, list(_doubts(seen, ""))


_ANYTHING = {"type": ["boolean", "number", "string"]}
"""What may be in a list or an object that is always empty in the reference: one too many, whatever it is."""


def _schema(seen: Seen) -> dict[str, Any]:
    options: list[dict[str, Any]] = []
    if seen.lists:
        empty = seen.items is None or not seen.items.count
        items = _ANYTHING if empty else _schema(cast(Seen, seen.items))
        options.append({"type": "array", "items": items})
    if seen.objects:
        options.append(_object(seen))
    if seen.kinds:
        names = sorted({_name(kind) for kind in seen.kinds}, key=lambda name: (name == "null", name))
        notes = next((_NOTES[kind] for kind in seen.kinds if kind in _NOTES), {})
        options.append({"type": names if len(names) > 1 else names[0], **notes})
    if len(options) == 2 and options[1] == {"type": "null"}:
        return {**options[0], "type": [options[0]["type"], "null"]}
    return options[0] if len(options) == 1 else {"anyOf": options}


def _name(kind: type) -> str:
    return _KINDS.get(kind) or ("number" if kind is decimal.Decimal else "string")


def _object(seen: Seen) -> dict[str, Any]:
    if seen.is_map:
        inner = Seen()
        for one in seen.fields.values():
            _pour(one, inner)
        return {"type": "object", "additionalProperties": _schema(inner)}
    if not seen.fields:
        return {"type": "object", "additionalProperties": _ANYTHING}
    return {
        "type": "object",
        "properties": {key: _schema(inner) for key, inner in seen.fields.items()},
        "required": [key for key, inner in seen.fields.items() if inner.count == seen.objects],
    }


def _pour(one: Seen, into: Seen) -> None:
    """Add what was seen at one path to another."""
    into.kinds.update(one.kinds)
    for name in ("count", "lists", "objects", "pairs"):
        setattr(into, name, getattr(into, name) + getattr(one, name))
    for key, inner in one.fields.items():
        _pour(inner, into.fields.setdefault(key, Seen()))
    if one.items is not None:
        into.items = into.items or Seen()
        _pour(one.items, into.items)


def _doubts(seen: Seen, path: str) -> Iterator[str]:
    """What a person should look at, here and below."""
    yield from (f"{path or 'the document'} {doubt}" for doubt in _doubts_here(seen, path))
    for name, keys in (("tree", {"label", "children"}), ("graph", {"nodes", "edges"})):
        if seen.fields.keys() == keys:
            yield f"{path or 'the document'} looks like a {name} and is compared field by field; as a {name}: {path or '$'}: {name}"
            return
    if seen.is_map:
        return
    if seen.items is not None:
        yield from _doubts(seen.items, f"{path}[*]")
    for key, inner in seen.fields.items():
        yield from _doubts(inner, f"{path}.{key}" if path else key)


def _doubts_here(seen: Seen, path: str) -> Iterator[str]:
    kinds = Counter[str]()
    for kind, times in seen.kinds.items():
        kinds[_name(kind)] += times
    del kinds["null"]
    kinds += Counter(list=seen.lists, object=seen.objects)
    if len(kinds) > 1:
        yield f"has several kinds of value: {', '.join(f'{name} {times:,} times' for name, times in kinds.items())}"
    if seen.lists and seen.pairs == seen.lists:
        yield (
            "is always a list of two integers, probably a span; as a bag [3, 5] equals [5, 3]. "
            f"Say what it is: {path or '$'}: {{list: ordered}}, or {{overlap: jaccard}}"
        )
    if seen.lists and not (seen.items and seen.items.count):
        yield "is always empty in the reference; any prediction there counts as extra"
    if seen.objects and not seen.fields:
        yield "is always an object without keys in the reference; any prediction there counts as extra"
    if seen.kinds and not kinds:
        yield "is always null in the reference; any prediction there counts as extra"
    if seen.is_map and not seen.maps:
        yield f"has {len(seen.fields):,} different keys, taken as data: a bag of (key, value)"


def sketch(schema: dict[str, Any]) -> str:
    """A schema in one line, for a person: `{vendor: string, date: string?, lines: [{sku: string}]}`."""
    if "anyOf" in schema:
        return " | ".join(sketch(option) for option in schema["anyOf"])
    kinds = schema.get("type", "any")
    listed = [kinds] if isinstance(kinds, str) else list(kinds)
    maybe = "null" in listed and len(listed) > 1
    return " | ".join(_sketch_kind(schema, kind) for kind in listed if not maybe or kind != "null") + "?" * maybe


def _sketch_kind(schema: dict[str, Any], kind: str) -> str:
    if kind == "array":
        return f"[{sketch(schema['items'])}]"
    if kind == "object" and "properties" in schema:
        required = schema.get("required", ())
        inside = (f"{k}: {sketch(v)}{'' if k in required else '?'}" for k, v in schema["properties"].items())
        return "{" + ", ".join(one.replace("??", "?") for one in inside) + "}"
    return f"{{any key: {sketch(schema['additionalProperties'])}}}" if kind == "object" else kind


# Turning JSON into values of a type, strictly: values are checked by msgspec, or by pydantic where the type is made of pydantic models. Nothing is coerced.

Convert = Callable[[bytes], Any]


def converter(type_: Any) -> Convert:
    """A function from a line of JSON to a value of the type, or to plain data without one; it raises ValueError with the path of what is wrong."""
    if type_ is None:
        return msgspec.json.Decoder().decode
    return _known_converter(type_) if isinstance(type_, type) else _converter(type_)


def _converter(type_: Any) -> Convert:
    if _has_pydantic(type_):
        return _pydantic(type_, "it is made of pydantic models")
    try:
        return decoder_of(type_)
    except (TypeError, NotImplementedError) as error:
        return _pydantic(type_, f"msgspec cannot ({error})")


_known_converter = lru_cache(maxsize=64)(_converter)
"""Made once for a class, for whoever calls in a loop."""


def _pydantic(type_: Any, reason: str) -> Convert:
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError:
        raise MetricError(f"values of {type_} need pydantic to be read: pip install pydantic ({reason})") from None
    try:
        adapter = TypeAdapter(type_)
    except Exception as error:
        raise MetricError(f"values of {type_} cannot be read from JSON: {str(error).partition(chr(10))[0]}") from None

    def convert(line: bytes) -> Any:
        msgspec.json.decode(line)  # pydantic would take NaN, and numbers that are out of range
        try:
            return adapter.validate_json(line, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
            raise ValueError(f"{first['msg']}, found {first['input']!r:.60} - at `${path}`") from None

    return convert


def decoder_of(type_: Any) -> Convert:
    """msgspec's decoder of a type. It knows a name that is not ASCII only if the text holds its UTF-8 already (msgspec 0.22: otherwise a
    field `größe` is missing on every line), and a text does once it was encoded."""
    for shape in _shapes_in(type_, set()):
        for owner in getattr(shape.origin, "__mro__", ()):
            for name in (*getattr(owner, "__annotations__", ()), *getattr(owner, "__dataclass_fields__", ())):
                with contextlib.suppress(UnicodeEncodeError):  # half of a surrogate pair: no line can hold it
                    msgspec.json.encode(name)
    return msgspec.json.Decoder(type_, strict=True).decode


def _shapes_in(type_: Any, seen: set[int]) -> Iterator[Shape]:
    """A type and all that it is made of."""
    if id(type_) in seen:
        return
    seen.add(id(type_))
    shape = shape_of(type_)
    yield shape
    with contextlib.suppress(TallystickError):
        for one in shape.parts.values():
            yield from _shapes_in(one, seen)


def _has_pydantic(type_: Any) -> bool:
    return any(
        hasattr(shape.origin, name)
        for shape in _shapes_in(type_, set())
        for name in ("__pydantic_core_schema__", "model_fields")
    )


# Whether a line holds nothing that its type does not know, found by one decoder instead of a walk over its values.


def strict_decoder(place: KnownKeys, type_: Any) -> Callable[[bytes], Any] | None:
    """A decoder that only takes lines in which `place.find` finds nothing, though not all of them; None where there is no such
    decoder. `type_` is the type of the documents."""
    try:
        return msgspec.json.Decoder(_strict_type(place, shape_of(type_), set())).decode
    except (_NotStrict, TypeError, ValueError):  # a key that msgspec does not take is a ValueError
        return None


class _NotStrict(Exception):
    """A place whose unknown keys no decoder can find."""


def _strict_type(place: KnownKeys, shape: Shape, above: set[int], item: bool = False) -> Any:
    if place.cases or id(place) in above:
        raise _NotStrict
    above, cases = above | {id(place)}, [shape]
    if shape.kind == "union":
        cases = [shape_of(case) for case in shape.parts.values()]
    options: list[Any] = []
    if place.record:
        found = next((case for case in cases if case.keys is not None), None)
        options.append(_strict_record(place, found, above, item))
    elif dict in place.kinds:
        inside = _strict_part(place.values, "map", cases, item)
        options.append(dict[str, msgspec.Raw if inside is None else _strict_type(*inside, above) | None])  # type: ignore[misc]
    if list in place.kinds:
        inside = _strict_part(place.items, "items", cases, item)
        options.append(list[msgspec.Raw if inside is None else _strict_type(*inside, above, item=True)])  # type: ignore[misc]
    return union_of(options)


def _strict_part(place: KnownKeys | None, kind: str, cases: list[Shape], item: bool) -> tuple[KnownKeys, Shape] | None:
    """What is known about the values of a map or the items of a list, and their shape; None if anything may be there."""
    found = next((case for case in cases if case.kind == kind and case.parts), None)
    if item or (place is not None and found is None):
        raise _NotStrict
    if place is None or found is None:
        return None
    return place, shape_of(found.parts["value"] if kind == "map" else found.item)


def _strict_record(place: KnownKeys, shape: Shape | None, above: set[int], item: bool) -> Any:
    """An object of known keys. An item that holds nothing has to be found, so one of its values has to be there."""
    if shape is None or shape.keys is None:
        raise _NotStrict
    called = json_keys(shape.origin)
    types = {key: shape_of(one) for name, one in shape.keys.items() for key in called.get(name, (name,))}
    firm = next((key for key, one in types.items() if one.is_leaf and not one.optional), None)
    if item and firm is None:
        raise _NotStrict
    fields: list[Any] = []
    for number, key in enumerate(place.known):
        below = place.below.get(key)
        kind = msgspec.Raw if below is None else _strict_type(below, types[key], above) | None
        if item and key == firm:
            fields.append((f"f{number}", str | int | float | bool))
        else:
            fields.append((f"f{number}", kind, None))
    names = {f"f{number}": key for number, key in enumerate(place.known)}
    return msgspec.defstruct(
        "Strict", fields, rename=names, kw_only=True, forbid_unknown_fields=not place.open, gc=False
    )


def column_decoder(type_: Any, place: KnownKeys | None) -> Callable[[Sequence[bytes]], Record] | None:
    """From lines to the columns of flat records, without a dict for each; None for other types. Values are those of the type's own
    decoder. A line that lacks a key or has one that `place` does not know, or a value of another kind, is an exception."""
    fields = record_fields(type_) or {}
    if not fields or getattr(type_, "__required_keys__", None) != frozenset(fields):
        return None
    if not all(_is_plain(shape_of(one)) for one in fields.values()):
        return None
    if place is not None and (place.cases or place.known != fields.keys()):
        return None
    names = {f"f{number}": key for number, key in enumerate(fields)}
    try:
        flat = msgspec.defstruct(
            "Flat", list(zip(names, fields.values(), strict=True)), rename=names, kw_only=True, gc=False,
            forbid_unknown_fields=place is not None and not place.open,
        )  # fmt: skip
        decode = msgspec.json.Decoder(flat).decode
    except (TypeError, ValueError):  # a key that msgspec does not take is a ValueError
        return None

    getters = [attrgetter(name) for name in names]

    def read(lines: Sequence[bytes]) -> Record:
        columns: list[list[Any]] = [[] for _ in fields]
        for start in range(0, len(lines), SEEN_AT_ONCE):
            rows = list(map(decode, lines[start : start + SEEN_AT_ONCE]))
            for column, get in zip(columns, getters, strict=True):
                column.extend(map(get, rows))
        return Record(dict(zip(fields, map(Objects, columns), strict=True)))

    return read


def _is_plain(shape: Shape) -> bool:
    if shape.kind == "union":
        return all(_is_plain(shape_of(case)) for case in shape.parts.values())
    return shape.kind == "leaf" and shape.type in (str, int, float, bool, type(None))


# A type whose values may be given as several alternatives at some paths: T, or list[T], is T | list[T] there in the
# reference, and T in a prediction.


def with_alternatives(type_: Any, paths: Collection[str], *, predicted: bool = False, path: str = "") -> Any:
    """The type, with alternatives at the paths. Records on the way become plain objects of the same fields."""
    if not any(one.startswith(path) for one in paths):
        return type_
    shape, made = shape_of(type_), cast(Any, None)

    def below(one: Any, where: str) -> Any:
        return with_alternatives(one, paths, predicted=predicted, path=where)

    if path in paths and path:
        one: Any = one_alternative(shape.type)
        made = one if predicted else union_of((one, list[one]))
    elif shape.kind == "union":
        made = union_of(below(case, path) for case in (*shape.parts.values(), *[None] * shape.optional))
    elif shape.origin in BAGS and shape.parts:
        item: Any = below(shape.item, f"{path}[*]")
        made = list[item]
    elif shape.kind == "record":
        fields = {name: below(one, f"{path}.{name}" if path else name) for name, one in shape.parts.items()}
        made = cast(Any, TypedDict)(shape.origin.__name__, fields)
    else:
        return type_
    if shape.notes:
        noted: Any = (made, *shape.notes)
        made = Annotated[noted]
    return NotRequired[made] if shape.may_miss else made


# The shape of both sides. Predictions of a type or a schema were promised and have to fit; an inferred shape promises nothing about
# them, so what does not fit it is counted as wrong, with a warning.


@frozen
class RecordShape:
    """The types of both sides; `schema` and `doubts` if they were inferred."""

    reference: Any
    predicted: Any
    promised: bool = True
    schema: dict[str, Any] | None = None
    doubts: tuple[str, ...] = ()

    def converters(self) -> tuple[Convert, Convert]:
        """From a line to a value, for both sides."""
        left = converter(self.reference)
        return left, left if self.predicted is self.reference else converter(self.predicted)

    def without_doubts(self, choices: Collection[str]) -> RecordShape:
        """The same without doubts about what somebody has chosen how to compare."""
        kept = (one for one in self.doubts if not any(re.match(rf"{re.escape(path)}[ .\[]", one) for path in choices))
        return replace(self, doubts=tuple(kept))

    def with_alternatives(self, paths: Collection[str]) -> RecordShape:
        """The same, but at these paths the reference may hold a list of alternatives."""
        reference = with_alternatives(self.reference, paths)
        return replace(self, reference=reference, predicted=with_alternatives(self.predicted, paths, predicted=True))


PLAIN = RecordShape(None, None)


def shape_of_schema(schema: Any, file: str = "schema") -> RecordShape:
    """The shape that a JSON Schema describes."""
    reference = type_of_schema(schema, file)
    alternatives = '"any_of"' in json.dumps(schema, default=str)
    return RecordShape(reference, type_of_schema(schema, file, predicted=True) if alternatives else reference)


def inferred_shape(schema: dict[str, Any], doubts: Iterable[str] = (), file: str = "inferred") -> RecordShape:
    """The shape of a schema that was inferred, which promises nothing."""
    known = _shape_of_text(json.dumps(schema, default=str), file)
    return replace(known, promised=False, schema=schema, doubts=tuple(doubts))


@lru_cache(maxsize=64)
def _shape_of_text(schema: str, file: str) -> RecordShape:
    """The same schema is the same type: what is made of it, converters and metrics, is made once for whoever calls in a loop."""
    return shape_of_schema(json.loads(schema), file)


def infer_shape(reference: Lines, parts: Sequence[Seen] = ()) -> RecordShape:
    """The shape of a reference file: of what its parts hold, if these were looked at, else it is read once from end to end."""
    seen, *others = parts or (see(reference),)
    try:
        for other in others:
            _pour(other, seen)
        if not seen.count:
            raise InputError("has no records; expected one JSON value a line", reference.file)
        return inferred_shape(*schema_of(seen), f"inferred from {reference.file}")
    except RecursionError:
        raise InputError(TOO_DEEP, reference.file) from None


def see(reference: Lines) -> Seen:
    """What a reference file, or a part of one, holds."""
    if isinstance(reference, ArrowLines):
        from tallystick.tasks.records.arrow import see_file

        return see_file(reference)
    return _see_lines(reference).add_up()


def _see_lines(reference: Lines) -> Seen:
    seen, decode = Seen(), msgspec.json.Decoder().decode
    number, line = 0, b""
    again: Callable[[Sequence[bytes]], bool] | None = None
    tries = SIEVES
    try:
        for portion in reference.portions(most=SEEN_AT_ONCE):
            number, line = portion.numbers[0], portion.lines[0]
            if again is not None and again(portion.lines):
                continue
            try:
                with collector_paused():
                    seen.add(list(map(decode, portion.lines)))
                    tries -= 1
                    again = flat_sieve(seen) if tries >= 0 else None
            except Exception:  # one by one the line is found
                for number, line in zip(portion.numbers, portion.lines, strict=True):  # noqa: B007 - for the messages below
                    Seen().add([decode(line)])
                raise
    except msgspec.DecodeError as error:
        raise reference.not_json(error, number, line) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; convert the file to UTF-8 first", reference.place(number)) from None
    except RecursionError:
        raise InputError(TOO_DEEP, reference.place(number)) from None
    return seen


def loose_converter(schema: dict[str, Any]) -> Convert:
    """The converter of an inferred schema to which any key may be missing."""
    return _loose_converter(json.dumps(schema, default=str))


@lru_cache(maxsize=64)
def _loose_converter(schema: str) -> Convert:
    return converter(type_of_schema(json.loads(schema), loose=True))
