"""The texts that templates were filled from, for those who want to see them: scoring never reads them.

gtt's gold has a document's text under `doctext`, and mentions as `[text, offset]`, in characters; the plain form may have a
`text`. A mention without an offset stands where its text is first found, as a whole word and whatever its case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallystick.reading.limits import reads_once
from tallystick.reading.opening import read_text
from tallystick.reading.relation_texts import DocumentText, of_characters
from tallystick.reading.templates import IDS

TEXTS = ("doctext", "text")


@dataclass(frozen=True)
class TemplateText:
    """A document's text, its words, and the offsets that mentions came with, by their texts without case."""

    content: str
    words: DocumentText
    offsets: dict[str, tuple[int, ...]]

    def places(self, mention: str) -> list[tuple[int, int]]:
        """The words [first, end) of every place that a mention is known to stand at, or of the first that has its text."""
        found = [start for start in self.offsets.get(mention.casefold(), ()) if self._has(mention, start)]
        if not found:
            first = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", self.content, re.IGNORECASE)
            found = [first.start()] if first and mention.strip() else []
        spans = (self.words.span(start, start + len(mention) - 1) for start in found)
        return list(dict.fromkeys(span for span in spans if span is not None))

    def _has(self, mention: str, start: int) -> bool:
        return self.content[start : start + len(mention)].casefold() == mention.casefold()


def read_texts(name: str) -> dict[str, TemplateText]:
    """The texts of a file's documents, as far as they have one, by the documents' names."""
    return {} if reads_once(name) else dict(_lines(read_text(name)))  # standard input is read once


def _lines(content: str) -> Iterator[tuple[str, TemplateText]]:
    for line in content.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):  # a file that is one object over many lines has no texts
            continue
        if not isinstance(value, dict):
            continue
        text = next((value[key] for key in TEXTS if isinstance(value.get(key), str)), None)
        key = next((key for key in IDS if key in value), None)
        if text is not None and key is not None:
            offsets: dict[str, tuple[int, ...]] = {}
            for mention, start in _offsets({part: found for part, found in value.items() if part not in TEXTS}):
                offsets[mention.casefold()] = (*offsets.get(mention.casefold(), ()), start)
            yield str(value[key]), TemplateText(text, of_characters(text), offsets)


def _offsets(value: Any) -> Iterator[tuple[str, int]]:
    """Every `[text, offset]` inside a value."""
    if isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int and value[1] >= 0:
            yield value[0], value[1]
        else:
            for part in value:
                yield from _offsets(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _offsets(part)
