"""What a document looks like, read off the reference: a JSON Schema that can be saved, edited and given back.

Nothing is guessed about how values are compared: texts, numbers and booleans are exact, lists are bags. What looks as if
it meant something else (a list that is always two integers, keys that are never the same) is said, not decided.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

# Whole numbers are numbers: that a reference happens to have no fraction promises nothing about a prediction.
_KINDS: dict[type, str] = {
    str: "string", bool: "boolean", int: "number", float: "number", type(None): "null",
    bytes: "string", decimal.Decimal: "number", datetime.date: "string", datetime.datetime: "string",
    datetime.time: "string", datetime.timedelta: "string",
}  # fmt: skip
# What JSON has no kind for; such values come from columns, where all values of a field are of one kind.
_NOTES: dict[type, dict[str, str]] = {
    bytes: {"contentEncoding": "base64"}, decimal.Decimal: {"format": "decimal"}, datetime.date: {"format": "date"},
    datetime.datetime: {"format": "date-time"}, datetime.time: {"format": "time"}, datetime.timedelta: {"format": "duration"},
}  # fmt: skip
MANY_KEYS = 50
MANY_SHAPES = 10_000
"""So many combinations of keys and kinds are counted apart before they are added up."""


@dataclass
class Seen:
    """What was found at one path of the documents."""

    count: int = 0
    kinds: dict[type, int] = field(default_factory=dict)
    fields: dict[str, Seen] = field(default_factory=dict)
    items: Seen | None = None
    lists: int = 0
    objects: int = 0
    pairs: int = 0
    maps: bool = False
    """Whether the objects are known to be mappings, whose keys are data."""
    _shapes: dict[Any, list[Any]] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is dict:
            self.objects += 1
            self._add_object(value)
        elif kind is list:
            self.lists += 1
            self.pairs += len(value) == 2 and type(value[0]) is int and type(value[1]) is int
            if self.items is None:
                self.items = Seen()
            for one in value:
                self.items.add(one)
        else:
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.count += 1

    def _add_object(self, value: dict[str, Any]) -> None:
        """Most objects have the same keys and kinds as one before: those are only counted."""
        shape = (*value, *map(type, value.values()))
        known = self._shapes.get(shape)
        if known is None:
            if len(self._shapes) >= MANY_SHAPES:
                self.settle()
            known = [0, [k for k, v in value.items() if type(v) in (dict, list)]]
            self._shapes[shape] = known
            for key in value:
                self.fields.setdefault(key, Seen())
        known[0] += 1
        for key in known[1]:
            self.fields[key].add(value[key])

    def settle(self) -> Seen:
        """Count what was only counted by shape."""
        for shape, (times, nested) in self._shapes.items():
            half = len(shape) // 2
            for key, kind in zip(shape[:half], shape[half:], strict=True):
                if key not in nested:
                    seen = self.fields[key]
                    seen.kinds[kind] = seen.kinds.get(kind, 0) + times
                    seen.count += times
        self._shapes.clear()
        for inner in self.fields.values():
            inner.settle()
        if self.items is not None:
            self.items.settle()
        return self

    @property
    def is_map(self) -> bool:
        """Whether the keys are data: very many, none of them in half of the objects."""
        return self.maps or (
            len(self.fields) > MANY_KEYS and max(s.count for s in self.fields.values()) * 2 < self.objects
        )


def infer_schema(documents: Iterable[Any], title: str = "Document") -> tuple[dict[str, Any], list[str]]:
    """A JSON Schema that all documents fit, and what a person should look at."""
    seen = Seen()
    for document in documents:
        seen.add(document)
    return schema_of(seen, title)


def schema_of(seen: Seen, title: str = "Document") -> tuple[dict[str, Any], list[str]]:
    """The schema of what was seen."""
    seen.settle()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_schema(seen)}
    return schema, list(_doubts(seen, ""))


def _schema(seen: Seen) -> dict[str, Any]:
    options: list[dict[str, Any]] = []
    names = {_KINDS[kind] for kind in seen.kinds}
    if names:
        ordered = sorted(names, key=lambda name: (name == "null", name))
        notes = next((_NOTES[kind] for kind in seen.kinds if kind in _NOTES), {})
        options.append({"type": ordered if len(ordered) > 1 else ordered[0], **notes})
    if seen.objects:
        options.insert(0, _object(seen))
    if seen.lists:
        options.insert(0, {"type": "array", "items": _items(seen)})
    if len(options) == 2 and options[1] == {"type": "null"} and "type" in options[0]:
        return {**options[0], "type": [options[0]["type"], "null"]}
    return options[0] if len(options) == 1 else {"anyOf": options}


def _items(seen: Seen) -> dict[str, Any]:
    if seen.items is None or not seen.items.count:  # always empty: whatever a prediction has here is one too many
        return {"type": ["boolean", "number", "string"]}
    return _schema(seen.items)


def _object(seen: Seen) -> dict[str, Any]:
    if seen.is_map:
        inner = Seen()
        for one in seen.fields.values():
            _pour(one, inner)
        return {"type": "object", "additionalProperties": _schema(inner)}
    return {
        "type": "object",
        "properties": {key: _schema(inner) for key, inner in seen.fields.items()},
        "required": [key for key, inner in seen.fields.items() if inner.count == seen.objects],
    }


def _pour(one: Seen, into: Seen) -> None:
    """Add what was seen at one path to another."""
    for kind, times in one.kinds.items():
        into.kinds[kind] = into.kinds.get(kind, 0) + times
    into.count, into.lists, into.objects, into.pairs = (
        getattr(into, name) + getattr(one, name) for name in ("count", "lists", "objects", "pairs")
    )
    for key, inner in one.fields.items():
        _pour(inner, into.fields.setdefault(key, Seen()))
    if one.items is not None:
        into.items = into.items or Seen()
        _pour(one.items, into.items)


def _doubts(seen: Seen, path: str) -> Iterator[str]:
    shown = path or "the document"
    kinds: dict[str, int] = {}
    for kind, times in seen.kinds.items():
        if kind is not type(None):
            kinds[_KINDS[kind]] = kinds.get(_KINDS[kind], 0) + times
    kinds.update({name: n for name, n in (("list", seen.lists), ("object", seen.objects)) if n})
    if len(kinds) > 1:
        listed = ", ".join(f"{name} {times:,} times" for name, times in kinds.items())
        yield f"{shown} has several kinds of value: {listed}"
    if seen.lists and seen.pairs == seen.lists:
        yield (
            f"{shown} is always a list of two integers, probably a span; as a bag [3, 5] equals [5, 3]. "
            f"Say what it is: {path or '$'}: {{list: ordered}}, or {{overlap: jaccard}}"
        )
    if seen.lists and not (seen.items and seen.items.count):
        yield f"{shown} is always empty in the reference; whatever is predicted there counts as extra"
    if seen.kinds and not kinds:
        yield f"{shown} is always null in the reference; whatever is predicted there counts as extra"
    if seen.maps:
        return
    if seen.is_map:
        yield f"{shown} has {len(seen.fields):,} different keys, taken as data: a bag of (key, value)"
        return
    if seen.items is not None:
        yield from _doubts(seen.items, f"{path}[*]")
    for key, inner in seen.fields.items():
        yield from _doubts(inner, f"{path}.{key}" if path else key)


def sketch(schema: dict[str, Any]) -> str:
    """A schema in one line, for a person: `{vendor: string, date: string?, lines: [{sku: string}]}`."""
    if "anyOf" in schema:
        return " | ".join(sketch(option) for option in schema["anyOf"])
    kinds = schema.get("type", "any")
    listed = [kinds] if isinstance(kinds, str) else list(kinds)
    maybe = "?" if "null" in listed and len(listed) > 1 else ""
    out = []
    for kind in listed:
        if kind == "null" and maybe:
            continue
        if kind == "array":
            out.append(f"[{sketch(schema['items'])}]")
        elif kind == "object" and "properties" in schema:
            required = schema.get("required", ())
            inside = (f"{k}: {sketch(v)}{'' if k in required else '?'}" for k, v in schema["properties"].items())
            out.append("{" + ", ".join(one.replace("??", "?") for one in inside) + "}")
        elif kind == "object":
            out.append(f"{{any key: {sketch(schema['additionalProperties'])}}}")
        else:
            out.append(kind)
    return " | ".join(out) + maybe
