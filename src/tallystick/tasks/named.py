"""What the readers of several tasks share: mentions in JSON, names of documents, hierarchies of types."""

from __future__ import annotations

from tallystick.errors import InputError, Place
from tallystick.files.json_values import Json, read_json
from tallystick.files.source import AnySource, Source
from tallystick.structures.texts import AnnotatedMention

# Mentions as JSON has them: `[start, end]`, `[start, end, type]`, or an object.
#
#     {"start": 3, "end": 5, "type": "PER", "head": [4, 5], "entity": "e1", "kind": "name"}
#
# Ends are exclusive, as in Python, unless a format says otherwise.


def read_mention(found: Json, *, inclusive: bool = False) -> AnnotatedMention:
    """A mention from a list or an object."""
    if isinstance(found.value, list):
        left, right = found.span(inclusive=inclusive)
        parts = found.each()
        return AnnotatedMention(left, right, type=parts[2].text() if len(parts) > 2 else None)
    known = found.mapping()
    start, end = known.get("start"), known.get("end")
    if type(start) is not int or type(end) is not int:  # something is unusual, and will be named if it is wrong
        start, end = found.at("start", "start_token").whole(), found.at("end", "end_token").whole()
    left, right = found.checked_span(start, end, inclusive)
    head = found.get("head")
    return AnnotatedMention(
        left,
        right,
        type=_word(found, "type", "entity_type"),
        head=head.span(inclusive=inclusive) if head is not None else None,
        entity=_word(found, "entity"),
        kind=_word(found, "kind", "mention_type"),
        text=_word(found, "text"),
    )


def _word(found: Json, *keys: str) -> str | None:
    for key in keys:
        value = found.value.get(key)
        if value is not None:
            return value if isinstance(value, str) else found.at(key).name()
    return None


def document_name(document: Json, number: int, *keys: str) -> str:
    """A document's name under the first of the keys that it has; else its number in the file."""
    found = document.get(*keys)
    return found.name() if found is not None else str(number)


# Hierarchies of types, from a file: {"child": "parent"} or {"child": ["parent", ...]} as JSON, or `child<TAB>parent` lines.


def read_parents(name: AnySource) -> dict[str, tuple[str, ...]]:
    """Each type with its parents."""
    source = Source.of(name)
    file, text = str(source), source.text()
    if text.lstrip().startswith("{"):
        out = {}
        for document in read_json(Source.of_text(text, file)):
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
