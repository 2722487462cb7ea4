"""What a language model is shown of a question, and how its answer is read.

A prompt is data, with places for what is judged:

    [system]                                  optional
    You are provided with a document, ...
    [user]
    Document : <document>
    Candidate argument: <candidate>
    [answer]                                  json (the default), or words (Yes / Yes, but ... / No)
    json

The four prompts of Table 11 of the BEMEAE paper are included word for word, mistakes and all: `expert` and `intuitive`, each with and
without the reference. `texts` is our own, for two texts outside any event. A user's prompt is a file of the same form; a file without
headings is all user message. `\\<` is a plain <.

A prompt with a place for <reference> is asked once for each reference: a question with n references is n pieces. Without it there is one
piece. A piece holds only what the prompt has a place for, so two that look alike to the model are one, and asked once. A piece in the
store therefore tells what its prompt showed, and stored answers can be combined just as the model itself would combine them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

import msgspec

from tallystick.errors import InputError, Place, did_you_mean
from tallystick.judging.questions import Label, Question, Verdict

PARTS = ("document", "event_type", "trigger", "role")
"""What a prompt may show of a question besides candidate and reference."""


@dataclass(frozen=True)
class Sight:
    """Which parts of a question are shown."""

    parts: frozenset[str]
    reference: bool

    @classmethod
    def of(cls, piece: Question) -> Sight:
        """What was shown of a piece that was asked: a prompt is refused if it has a place for something empty."""
        return cls(frozenset(part for part in PARTS if getattr(piece, part)), bool(piece.references))

    @property
    def asks(self) -> str:
        """How a judge with this sight is asked: about pairs, or about the candidate alone."""
        return "pairs" if self.reference else "alone"

    def restrict(self, question: Question) -> Question:
        """A question with at most one reference, reduced to the shown parts."""
        kept = {part: getattr(question, part) for part in self.parts}
        return Question(question.candidate, question.references[:1] if self.reference else (), **kept)

    def pieces(self, question: Question) -> list[Question]:
        """What is asked about a question: each reference separately, or the candidate alone."""
        if not self.reference:
            return [self.restrict(question)]
        return [self.restrict(question.only(k)) for k in range(len(question.references))]

    def combine(self, question: Question, verdicts: Mapping[str, Verdict]) -> Verdict | None:
        """The verdict on a question from those on its pieces, by key. A pair without a verdict leaves it open, unless another is Correct."""
        parts = [verdicts.get(piece.key) for piece in self.pieces(question)]
        if not self.reference:
            return parts[0]
        best = best_of(parts)
        return best if best is None or best.label == "Correct" or None not in parts else None


def best_of(parts: Sequence[Verdict | None]) -> Verdict | None:
    """The verdict on a candidate from those for each reference: the best label, for the references that earned it."""
    for label in ("Correct", "Partial", "Incorrect"):
        found = [k for k, part in enumerate(parts) if part is not None and part.label == label]
        if found:
            explanation = next((one.explanation for k in found if (one := parts[k]) and one.explanation), "")
            return Verdict(label, () if label == "Incorrect" else tuple(found), explanation)
    return None


# -- prompts and answers ----------------------------------------------------------------------------------------------


AnswerForm = Literal["json", "words"]

PLACES: dict[str, Callable[[Question], str]] = {
    "document": lambda question: question.document,
    "event type": lambda question: question.event_type,
    "event trigger": lambda question: question.trigger,
    "role": lambda question: question.role,
    "reference": lambda question: question.references[0] if question.references else "",
    "candidate": lambda question: question.candidate,
}
"""The places that a prompt may have between < and >, and what fills them."""

NAMED = ("expert", "intuitive", "texts")

_PLACE = re.compile(r"\\<|<([a-z][a-z _-]*)>")
_HEADING = re.compile(r"^\[(\w+)\][ \t]*$", re.M)


@dataclass(frozen=True)
class Prompt:
    """A system message (perhaps empty), a user message, and the form of the answer."""

    name: str
    system: str
    user: str
    answer: AnswerForm = "json"

    @cached_property
    def places(self) -> frozenset[str]:
        """The places that are filled in."""
        return frozenset(found[1] for found in _PLACE.finditer(self.system + self.user) if found[1])

    @property
    def with_reference(self) -> bool:
        """Whether the model is shown the reference, and so asked about one at a time."""
        return "reference" in self.places

    @cached_property
    def sight(self) -> Sight:
        """What the model sees of a question."""
        parts = {"document": "document", "event type": "event_type", "event trigger": "trigger", "role": "role"}
        return Sight(frozenset(part for place, part in parts.items() if place in self.places), self.with_reference)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The messages for a question with at most one reference. All places are filled at once: a document may contain <role>."""
        parts = (("system", self.system), ("user", self.user))
        return [{"role": role, "content": self._fill(text, question)} for role, text in parts if text]

    def check(self, question: Question) -> None:
        """Raise an error if the prompt needs what the question does not have."""
        for place in sorted(self.places):
            if not PLACES[place](question).strip():
                raise InputError(
                    f"the prompt {self.name!r} has a place for <{place}>, and the question about "
                    f"{question.candidate!r:.60} has none; use a prompt without it (`texts` needs only two texts, "
                    f"or a file of your own)"
                )

    def _fill(self, text: str, question: Question) -> str:
        return _PLACE.sub(lambda found: PLACES[found[1]](question) if found[1] else "<", text)


def prompt_named(name: str, reference: bool | None = None) -> Prompt:
    """A prompt of this package by name (`reference=False`: the one that does not show it), or one from a file."""
    if name in NAMED:
        if name == "texts" and reference is False:
            raise InputError("the prompt 'texts' compares two texts; it cannot be asked without the reference")
        stem = f"{name}_without_reference" if reference is False else name
        text = (files("tallystick.judging") / "prompts" / f"{stem}.txt").read_text(encoding="utf-8")
        return read_prompt(text, stem.replace("_", "-"), f"{stem}.txt")
    path = Path(name)
    if not path.is_file():
        raise InputError(
            f"no prompt called {name!r}, and no such file; there are {', '.join(NAMED)}.{did_you_mean(name, NAMED)}"
        )
    try:
        prompt = read_prompt(path.read_text(encoding="utf-8"), path.stem, str(path))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason} at byte {error.start})", str(path)) from None
    if reference is not None and prompt.with_reference is not reference:
        has = "has a place for <reference>" if prompt.with_reference else "has no place for <reference>"
        raise InputError(f"the prompt {has}, and it was asked {'with' if reference else 'without'} it", str(path))
    return prompt


def read_prompt(text: str, name: str, file: str) -> Prompt:
    """A prompt from its text; errors name the line."""
    headings = list(_HEADING.finditer(text))
    parts = {"user": text} if not headings else {}
    if headings and text[: headings[0].start()].strip():
        raise InputError("text before the first heading; expected [system] or [user]", Place(file, 1))
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        line = text.count("\n", 0, heading.start()) + 1
        if heading[1] not in ("system", "user", "answer") or heading[1] in parts:
            what = "twice" if heading[1] in parts else "unknown; expected [system], [user] or [answer]"
            raise InputError(f"heading [{heading[1]}] {what}", Place(file, line))
        parts[heading[1]] = text[heading.end() : following.start() if following else len(text)].strip()
    for found in _PLACE.finditer(text):
        if found[1] and found[1] not in PLACES:
            line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
            raise InputError(
                f"unknown place <{found[1]}>; there are {', '.join(f'<{one}>' for one in PLACES)}, and \\< is a plain <."
                f"{did_you_mean(found[1], PLACES)}",
                Place(file, line, column, text.splitlines()[line - 1]),
            )
    form = parts.get("answer", "json")
    if form not in get_args(AnswerForm):
        raise InputError(f"[answer]: expected json or words, found {form!r:.60}", file)
    prompt = Prompt(name, parts.get("system", ""), parts.get("user", "").strip(), form)  # type: ignore[arg-type]
    if "candidate" not in prompt.places:
        raise InputError("the prompt has no place for <candidate>, which is what is judged", file)
    if not prompt.user:
        raise InputError("the prompt has no user message; expected a heading [user]", file)
    return prompt


class Unusable(Exception):
    """An answer in another form than was asked for; its text is the reason."""


class _Json(msgspec.Struct):
    label: Label
    explanation: str = ""


_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.S)


def read_answer(text: str, form: AnswerForm) -> tuple[Label, str]:
    """Label and explanation of an answer; raises `Unusable` if it has another form than was asked for."""
    text = text.strip()
    if not text:
        raise Unusable("an empty answer")
    if form == "words":
        return _read_words(text)
    fenced = _FENCE.match(text)
    try:
        answer = msgspec.json.decode(fenced[1] if fenced else text, type=_Json)
    except msgspec.ValidationError as error:
        raise Unusable(f"JSON, but not as asked: {error}") from None
    except (msgspec.DecodeError, UnicodeError):
        raise Unusable("not JSON") from None
    return answer.label, answer.explanation


def _read_words(text: str) -> tuple[Label, str]:
    """Yes is Correct, Yes, but ... is Partial, No is Incorrect; quotation marks and a full stop do not matter."""
    words = " ".join(text.strip(" \t\n'\"`‘’“”*.").split()).casefold()
    if words == "yes":
        return "Correct", ""
    if words == "no":
        return "Incorrect", ""
    if words.startswith("yes, but "):
        return "Partial", text
    raise Unusable("none of Yes, Yes, but ..., No")
