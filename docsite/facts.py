"""Tables of the reference: the words of choices, and the JSON output by its schema."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields
from importlib.resources import files
from typing import Any

import tallystick as ts
from docsite.prose import quoted
from tallystick.algebra.choose import STRUCTURES, similarities
from tallystick.algebra.parse import choosable

MEANS = {
    "parse": "`{parse: json}`: JSON in a text",
    "hierarchy": '`subtypes` of `{child: parent}`, or `levels` of a separator such as `"."`',
    "judge": "`judged`: what a judge says",
    "expression": "any similarity of the algebra, as text",
}
"""Words that stand for another one, or for any."""


def choice_words() -> str:
    """The words for similarities: what each does, and its parameters."""
    classes = choosable()
    rows = [_word(name, classes.get(name)) for name in similarities()]
    return "| word | compares | parameters |\n|---|---|---|\n" + "\n".join(rows)


def _word(name: str, class_: Any) -> str:
    if name in MEANS:
        return f"| `{name}` | {MEANS[name]} | |"
    if name in STRUCTURES or class_ is None:
        return f"| `{name}` | {_first(getattr(ts, name))} | how labels are compared |"
    listed = ", ".join(f"`{one.name}={_default(one)}`" if one.default is not MISSING else f"`{one.name}`" for one in fields(class_))  # fmt: skip
    return f"| `{name}` | {_first(class_)} | {listed} |"


def _default(one: Any) -> str:
    return json.dumps(one.default, ensure_ascii=False) if not isinstance(one.default, tuple) else "[]"


def _first(thing: Any) -> str:
    return quoted((inspect.getdoc(thing) or "").split("\n")[0])


SCHEMA = json.loads(files("tallystick.results").joinpath("output.schema.json").read_text(encoding="utf-8"))["$defs"]


def schema(name: str) -> str:
    """The keys of one definition of the schema, with what they are."""
    found = SCHEMA[name]
    rows = [
        f"| `{key}` | {_kind(one)}{'' if key in found.get('required', ()) else ', where asked for'} | {_says(one)} |"
        for key, one in found["properties"].items()
    ]
    return "| key | is | |\n|---|---|---|\n" + "\n".join(rows)


def _resolved(one: dict[str, Any]) -> dict[str, Any]:
    return {**SCHEMA[one["$ref"].rsplit("/", 1)[1]], **one} if "$ref" in one else one


def _says(one: dict[str, Any]) -> str:
    return quoted(str(_resolved(one).get("description", "")))


def _kind(one: dict[str, Any]) -> str:
    """In words: "text", "object of f1 by name"."""
    full = _resolved(one)
    kind = full.get("type", "anything")
    named = kind if isinstance(kind, str) else " or ".join(kind)
    return "list" if named == "array" else named.replace("string", "text").replace("array", "list")
