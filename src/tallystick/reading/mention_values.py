"""Mentions as JSON has them: `[start, end]`, `[start, end, type]`, or an object.

    {"start": 3, "end": 5, "type": "PER", "head": [4, 5], "entity": "e1", "kind": "name"}

Ends are exclusive, as in Python, unless a format says otherwise.
"""

from __future__ import annotations

from tallystick.reading.json_values import Json
from tallystick.structures.mentions import AnnotatedMention


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
