"""What a judge is asked: does this candidate fill this role of this event, and as which reference does it?

A question holds all references of its event and role, not only those that are still free: so the same candidate of
another system is the same question, and its answer is there already. Its key is a digest of its content.

    document      ... [he]reference was [extradited]trigger ... Though [Lazar]candidate had agreed ...
    event_type    justice.extradite        role  defendant

Where a file has no text, or an event no trigger, `source` has their ids: otherwise one answer would serve documents that have nothing to do with each other.

Two uses leave parts out: a judge that is not shown the reference has `references=()`, and a comparison of two texts
outside of any event has only a reference and a candidate.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

from tallystick.errors import InputError

Span = tuple[int, int]
"""First character and the one after the last, in the document's text."""


@dataclass(frozen=True)
class Question:
    """One candidate, and what it is to be held against."""

    candidate: str
    references: tuple[str, ...] = ()
    document: str = ""
    event_type: str = ""
    trigger: str = ""
    role: str = ""
    candidate_span: Span | None = None
    reference_spans: tuple[Span | None, ...] = ()
    trigger_span: Span | None = None
    source: str = ""
    """Which document and event it is about, where text and trigger do not say it; else empty, and no part of the content."""

    def __post_init__(self) -> None:
        spans = self.reference_spans or (None,) * len(self.references)
        if len(spans) != len(self.references):
            raise InputError(f"{len(self.references)} references, but {len(spans)} spans of references")
        object.__setattr__(self, "reference_spans", spans)
        for name, span in (("candidate", self.candidate_span), ("trigger", self.trigger_span),
                           *(("reference", one) for one in spans)):  # fmt: skip
            if span is not None and not 0 <= span[0] < span[1] <= len(self.document):
                raise InputError(
                    f"the {name}'s span {list(span)} lies outside of the document, which has {len(self.document)} characters"
                )

    @cached_property
    def key(self) -> str:
        """The digest of the content: what a judgement is found by.

        The content is its JSON with the fields in the order of their names. Many questions have the same document, so its part of
        the JSON is made once.
        """
        parts = self.to_json()
        before, after = ({name: parts[name] for name in sorted(parts) if (name < "document") is side and name != "document"}
                         for side in (True, False))  # fmt: skip
        digest = blake2b(_bytes(before)[:-1], digest_size=16)
        digest.update(b',"document":')
        digest.update(_document_bytes(self.document))
        digest.update(b"," + _bytes(after)[1:])
        return digest.hexdigest()

    def only(self, reference: int) -> Question:
        """The same candidate against one of the references: what a judge of pairs is asked."""
        return replace(
            self, references=(self.references[reference],), reference_spans=(self.reference_spans[reference],)
        )

    def without_references(self) -> Question:
        """The question to a judge who is not shown what the answer should be."""
        return replace(self, references=(), reference_spans=())

    def to_json(self) -> dict[str, Any]:
        """As plain values, the content of the key; without a source there is none in it."""
        parts = asdict(self)
        if not self.source:
            del parts["source"]
        return parts

    @classmethod
    def from_json(cls, value: dict[str, Any], key: str | None = None) -> Question:
        """Back from `to_json`; `key` is its key, where that is known."""
        parts = dict(value)
        for name in ("candidate_span", "trigger_span"):
            parts[name] = _span(parts.get(name))
        parts["references"] = tuple(parts.get("references", ()))
        parts["reference_spans"] = tuple(map(_span, parts.get("reference_spans", ())))
        question = cls(**parts)
        if key is not None:
            question.__dict__["key"] = key  # where `cached_property` looks for it
        return question


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=8)
def _document_bytes(document: str) -> bytes:
    return _bytes(document)


def _span(value: Any) -> Span | None:
    return None if value is None else (int(value[0]), int(value[1]))
