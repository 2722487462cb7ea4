"""Heads of spans: from a parse of the tokens, or by a rule of thumb.

A file of heads has a line for each document: `{"id": "d1", "heads": [1, 1, 4, ...], "parser": "spaCy 3.7 en_core_web_sm"}`,
where heads[k] is the token that token k depends on; a root is its own head, or -1. The head of a span is reached
from its first token by going up as long as that stays inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading.json_values import read_json
from tallystick.reading.mention_values import document_name

RULES = ("last", "first")


@dataclass(frozen=True)
class Heads:
    """Where heads come from: a rule, or the parses of documents by name."""

    source: str
    rule: str = ""
    parses: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def of(self, document: str, left: int, right: int) -> tuple[int, int]:
        """The head of a span, as a span of one token."""
        if self.rule:
            word = right if self.rule == "last" else left
            return word, word
        if document not in self.parses:
            raise InputError(f"has no heads for the document {document!r}", self.source)
        heads = self.parses[document]
        if right >= len(heads):
            raise InputError(
                f"has {len(heads):,} heads for {document!r}, where a span ends at token {right:,}", self.source
            )
        word = head_word(heads, left, right)
        return word, word


def head_word(heads: Sequence[int], left: int, right: int) -> int:
    """Up from the first token, as long as it stays inside the span."""
    word = left
    for _ in range(right - left + 1):
        above = heads[word]
        if above == word or not left <= above <= right:
            break
        word = above
    return word


def read_heads(source: str | Path) -> Heads:
    """A rule by its name, or a file of heads."""
    if str(source) in RULES:
        return Heads(str(source), str(source))
    parses: dict[str, tuple[int, ...]] = {}
    parsers: dict[str, None] = {}
    for number, document in enumerate(read_json(source), 1):
        name = document_name(document, number, "id", "doc_id", "doc_key")
        listed = document.at("heads")
        heads = tuple(-1 if one.value is None else one.whole() for one in listed.each())
        for k, head in enumerate(heads):
            if not -1 <= head < len(heads):
                raise listed.fail(f"[{k}] is {head}, outside the {len(heads):,} tokens")
        parses[name] = heads
        parser = document.get("parser")
        if parser is not None:
            parsers[parser.text()] = None
    return Heads(" + ".join(parsers) or str(source), "", parses)
