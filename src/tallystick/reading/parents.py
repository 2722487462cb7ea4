"""Hierarchies of types, from a file: {"child": "parent"} or {"child": ["parent", ...]} as JSON, or `child<TAB>parent` lines."""

from __future__ import annotations

from pathlib import Path

from tallystick.errors import InputError, Place
from tallystick.reading.opening import read_text, shown_name


def read_parents(name: str | Path) -> dict[str, tuple[str, ...]]:
    """Each type with its parents."""
    file, text = shown_name(name), read_text(name)
    if text.lstrip().startswith("{"):
        from tallystick.reading.json_values import parse_json

        out = {}
        for document in parse_json(text.encode(), file):
            for child, parent in document.items():
                listed = parent.each() if isinstance(parent.value, list) else [parent]
                out[child] = tuple(one.text() for one in listed)
        return out
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise InputError(f"expected `child<TAB>parent`, found {line!r:.60}", Place(file, number))
        type_, above = (part.strip() for part in parts)
        found[type_] = (*found.get(type_, ()), above)
    if not found:
        raise InputError("has no line `child<TAB>parent`", file)
    return found
