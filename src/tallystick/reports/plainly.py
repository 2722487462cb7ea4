"""Values as a reader of a report wants to see them: words instead of constructors.

SlotFiller(slot='Victim', value=Entity(mentions=('two men',)))      slot Victim, value two men
Mention(3, 4, text='the mayor')                                      the mayor [3–4]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from tallystick.columns.unfit import Invalid
from tallystick.reports.apart import cut, line, told_apart
from tallystick.structures.mentions import Mention

LONGEST = 300
"""So many characters of a value are shown."""


def plainly(value: Any, longest: int = LONGEST) -> str:
    """A value in one line."""
    return cut(line(_words(value)), longest)


def both_plainly(reference: Any, predicted: Any, longest: int = LONGEST) -> tuple[str, str]:
    """Two values that are not the same, so that the difference is seen."""
    return told_apart(reference, predicted, longest, _words)


def named_parts(value: Any) -> list[tuple[str, Any]]:
    """The parts of a record by name; nothing for other values."""
    if isinstance(value, (str, bytes, Mention)):
        return []
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in value.items()]
    if is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in fields(value)]
    names = getattr(value, "_fields", None)
    if names is not None and isinstance(value, tuple):
        return list(zip(names, value, strict=True))
    if hasattr(type(value), "model_fields"):
        return [(name, getattr(value, name)) for name in type(value).model_fields]
    if hasattr(value, "__attrs_attrs__") or hasattr(value, "__struct_fields__"):
        names = getattr(value, "__struct_fields__", None) or [a.name for a in value.__attrs_attrs__]
        return [(name, getattr(value, name)) for name in names]
    return []


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value if value.strip() else repr(str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Invalid):
        return f"the prediction is invalid: {value.reason}"
    if isinstance(value, Mention):
        return _mention(value)
    if isinstance(value, range) and value.step == 1 and value:
        return _place(value[0], value[-1])
    parts = named_parts(value)
    if len(parts) == 1:
        return _words(parts[0][1])
    if parts:
        return ", ".join(f"{name} {_words(part)}" for name, part in parts if part not in (None, (), ""))
    if isinstance(value, (list, tuple, set, frozenset)):
        return "; ".join(_listed(value)) or "nothing"
    return str(value)


def _listed(value: Any) -> Iterator[str]:
    for part in value:
        text = _words(part)
        yield f"({text})" if named_parts(part) and len(named_parts(part)) > 1 else text


def _place(first: int, last: int) -> str:
    return f"[{first}]" if first == last else f"[{first}–{last}]"


def _mention(mention: Mention) -> str:
    where = _place(mention.left, mention.right)
    text, type_ = getattr(mention, "text", None), getattr(mention, "type", None)
    return " ".join(part for part in (type_, text, where if mention.left >= 0 else "[nowhere]") if part)
