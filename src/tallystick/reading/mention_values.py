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
    start, end = found.at("start", "start_token").whole(), found.at("end", "end_token").whole()
    left, right = found.checked_span(start, end, inclusive)
    head = found.get("head")
    words = {
        name: (value.name() if (value := found.get(*keys)) is not None else None)
        for name, keys in (
            ("type", ("type", "entity_type")),
            ("entity", ("entity",)),
            ("kind", ("kind", "mention_type")),
            ("text", ("text",)),
        )
    }
    return AnnotatedMention(
        left,
        right,
        type=words["type"],
        head=head.span(inclusive=inclusive) if head is not None else None,
        entity=words["entity"],
        kind=words["kind"],
        text=words["text"],
    )


def document_name(document: Json, number: int, *keys: str) -> str:
    """A document's name under the first of the keys that it has; else its number in the file."""
    found = document.get(*keys)
    return found.name() if found is not None else str(number)
