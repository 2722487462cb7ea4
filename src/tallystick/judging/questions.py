"""What a judge is asked, and what it answers.

A question asks: does this candidate fill this role of this event, and does it mean the same as a reference? It holds all references of
its event and role, not only those that are still free: the same candidate of another system is then the same question, and its answer is
already known. Its key is a digest of its content.

    document      ... [he]reference was [extradited]trigger ... Though [Lazar]candidate had agreed ...
    event_type    justice.extradite        role  defendant

Where a file has no text, or an event no trigger, `source` holds their ids: otherwise unrelated documents would share answers. A judge
that is not shown the reference gets `references=()`, and a comparison of two texts outside any event has only a reference and a candidate.

The three questions of Figure 2 of the BEMEAE paper lead to one of three labels:

    Q1  Is the candidate a valid answer for the role?                       no  -> Incorrect, and nothing more is asked
    Q2  Does it mean the same as a reference? (several, or none)
    Q3  How do they relate?   conveys at least the needed information           -> Correct
                              entirely different from the reference, but correct -> Correct
                              removes important details                          -> Partial
                              adds spurious content                              -> Incorrect
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from tallystick.errors import InputError, did_you_mean

Span = tuple[int, int]
"""First character and the one after the last, in the document's text."""


@dataclass(frozen=True)
class Question:
    """One candidate, and the references to compare it with."""

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
    """Which document and event it is about, if text and trigger do not tell; otherwise empty, and not part of the content."""

    def __post_init__(self) -> None:
        spans = self.reference_spans or (None,) * len(self.references)
        if len(spans) != len(self.references):
            raise InputError(f"{len(self.references)} references, but {len(spans)} spans of references")
        object.__setattr__(self, "reference_spans", spans)
        for name, span in (("candidate", self.candidate_span), ("trigger", self.trigger_span),
                           *(("reference", one) for one in spans)):  # fmt: skip
            if span is not None and not 0 <= span[0] < span[1] <= len(self.document):
                raise InputError(
                    f"the {name}'s span {list(span)} lies outside the document, which has {len(self.document)} characters"
                )

    @cached_property
    def key(self) -> str:
        """The digest of the content, by which judgements are found.

        The content is the JSON of the question with its fields sorted by name. Many questions share a document, so its part of
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
        """The question for a judge who is not shown the references."""
        return replace(self, references=(), reference_spans=())

    def to_json(self) -> dict[str, Any]:
        """As plain values, from which the key is made; an empty source is left out."""
        parts = asdict(self)
        if not self.source:
            del parts["source"]
        return parts

    @classmethod
    def from_json(cls, value: dict[str, Any], key: str | None = None) -> Question:
        """The inverse of `to_json`; `key` is the question's key, if it is known."""
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


# -- verdicts ---------------------------------------------------------------------------------------------------------


Label = Literal["Correct", "Partial", "Incorrect"]
LABELS: tuple[Label, ...] = get_args(Label)

Relation = Literal["conveys", "different", "removes", "adds"]
RELATIONS: dict[Relation, tuple[str, Label]] = {
    "conveys": ("Conveys at least the needed information", "Correct"),
    "different": ("Entirely different from the reference, but correct", "Correct"),
    "removes": ("Removes important details", "Partial"),
    "adds": ("Adds spurious content", "Incorrect"),
}
"""The answers to Q3 as a person reads them, and the label each leads to."""


@dataclass(frozen=True)
class Verdict:
    """A label, and which of the question's references the candidate stands for (indices; may be none)."""

    label: Label
    references: tuple[int, ...] = ()
    explanation: str = ""

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise InputError(
                f"a label is one of {', '.join(LABELS)}, found {self.label!r}.{did_you_mean(self.label, LABELS)}"
            )

    @property
    def decision(self) -> tuple[Label, frozenset[int]]:
        """The label and the references it is for; what is Incorrect has none."""
        return self.label, frozenset(() if self.label == "Incorrect" else self.references)


@dataclass(frozen=True)
class Answers:
    """The answers to the three questions. No at Q1 skips the others; after Yes, Q3 is required."""

    valid: bool
    same_as: tuple[int, ...] = ()
    relation: Relation | None = None

    def __post_init__(self) -> None:
        if not self.valid and (self.same_as or self.relation):
            raise InputError("question 1 was answered No: questions 2 and 3 are not asked then")
        if self.valid and self.relation not in RELATIONS:
            raise InputError(
                f"question 1 was answered Yes, so question 3 needs one of {', '.join(RELATIONS)}, found {self.relation!r}"
            )

    def verdict(self) -> Verdict:
        """The label that follows (BEMEAE, appendix B)."""
        if self.relation is None:
            return Verdict("Incorrect")
        return Verdict(RELATIONS[self.relation][1], self.same_as)


@dataclass(frozen=True)
class Judgement:
    """One answer of one judge: a row of the store."""

    question: Question
    judge: str
    verdict: Verdict
    version: str = ""
    """The version of the prompt, the model or the classifier; empty for a person."""
    answers: Answers | None = None
    when: str = ""
    """UTC, ISO 8601; the store fills it in."""
    details: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Judge(Protocol):
    """Anything that answers questions. What it cannot answer is None: unjudged, never guessed."""

    @property
    def signature(self) -> str:
        """Which judge this is, for the result's signature."""
        ...

    def judge(self, questions: Sequence[Question]) -> list[Verdict | None]:
        """A verdict for each question, in their order."""
        ...


# -- names of judges, and their experience ----------------------------------------------------------------------------


LONGEST_NAME = 80
LONGEST_MODEL = 300
"""A model's name may be a path, or contain its options."""


MOST_EXPERIENCE = 1_000_000


def check_name(name: object, kind: str = "person") -> str:
    """The name unchanged; an error if it cannot be a judge's name."""
    longest = LONGEST_NAME if kind == "person" else LONGEST_MODEL
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the name of a judge is empty, or not a text: {name!r:.60}")
    if len(name) > longest:
        raise InputError(
            f"the name of a {kind} has at most {longest} characters, found {len(name):,}: {name[:40]!r} and so on"
        )
    if not name.isprintable():
        raise InputError(f"the name of a judge must be one line without control characters, found {name!r}")
    if name != " ".join(name.split()):
        raise InputError(
            f"the name of a judge must not start or end with a blank, nor have two in a row; found {name!r}"
        )
    return name


def check_experience(value: object) -> int:
    """A person's experience unchanged; an error if it is not a valid number."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST_EXPERIENCE:
        raise InputError(
            f"experience is a whole number from -{MOST_EXPERIENCE:,} to {MOST_EXPERIENCE:,}, and the higher one decides; found {value!r:.60}"
        )
    return value
