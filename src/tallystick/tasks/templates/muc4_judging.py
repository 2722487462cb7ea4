"""MUC-4's interactive scoring: string fills that no rule matches are questions, and their answers are its judgements.

In 1992 a person sat at the scorer and decided what `MAIDS` is worth where the key has `THE TWO MAIDS`: match, partial or fail.
Here it is asked like any other question: the candidate is the fill of a response, in a slot of the key template that it was mapped to. Correct is
`match` for the references that the judge names, Partial is `partial`, Incorrect is `fail`. What the rules match is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.frozen import frozen
from tallystick.judging.questions import Judge, Label, Question, Span
from tallystick.tasks.templates.muc4 import KINDS, fill_form, score, value_credit
from tallystick.tasks.templates.muc4_files import SLOTS, Fill, Form, Judgement, Judgements, Muc4Template, Muc4Templates

VERDICTS: dict[Label, str] = {"Correct": "match", "Partial": "partial", "Incorrect": "fail"}
STRINGS = tuple(slot for slot in SLOTS if KINDS[slot] == "string")


@frozen
class OpenFill:
    """A fill of a response that equals none of the key's, and the question about it."""

    template: tuple[str, str]
    """The message, and the name of the key's template."""
    slot: str
    keys: tuple[Fill, ...]
    response: Fill
    question: Question


def open_fills(reference: Muc4Templates, predicted: Muc4Templates, *, recorded: bool = False) -> list[OpenFill]:
    """The string fills of mapped templates that the rules leave open, in the order of the key."""
    out = []
    for message, key_name, response_name in score(reference, predicted, recorded=recorded).mapping:
        key = next(one for one in reference.documents[message] if one.name == key_name)
        response = next(one for one in predicted.documents[message] if one.name == response_name)
        text, places = template_text(message, key)
        for slot in STRINGS:
            keys = key.slots.get(slot, ())
            for fill in response.slots.get(slot, ()):
                if keys and fill_text(fill).strip() and not any(value_credit(slot, one, fill) for one in keys):
                    question = _question(text, places, key, slot, keys, fill)
                    out.append(OpenFill((message, key_name), slot, keys, fill, question))
    return out


def _question(
    text: str, places: dict[tuple[str, int], Span], key: Muc4Template, slot: str, keys: Sequence[Fill], fill: Fill
) -> Question:
    return Question(
        fill_text(fill),
        tuple(fill_text(one) for one in keys),
        text,
        event_type=" / ".join(value for one in key.slots.get("inc-type", ()) for value in one.values),
        role=slot,
        reference_spans=tuple(places.get((slot, k)) for k in range(len(keys))),
    )


def fill_text(fill: Fill) -> str:
    """The text of a fill, with its alternatives."""
    return " / ".join(value.strip('"') for value in fill.values)


def template_text(message: str, key: Muc4Template) -> tuple[str, dict[tuple[str, int], Span]]:
    """The key's template as a text to judge by, and the span of each of its fills."""
    text, places = f"{message}, template {key.name}\n", {}
    for slot in SLOTS:
        for k, fill in enumerate(key.slots.get(slot, ())):
            text += f"\n{slot}: "
            if fill_text(fill):
                places[slot, k] = (len(text), len(text) + len(fill_text(fill)))
            text += fill_text(fill) + (f" ({' / '.join(fill.tags)})" if fill.tags else "")
    return text, places


@frozen
class DecidedFills:
    """A judge's decisions on the open fills."""

    judgements: Judgements
    asked: int
    judged: int
    without_key: int
    """Correct, but for none of the key's fills, for which MUC-4 has no credit."""
    notes: tuple[str, ...] = ()
    """Notes of the judge about itself."""

    @property
    def note(self) -> str:
        """What a reader of the figures needs to know."""
        text = f"the judge decided {self.judged:,} of {self.asked:,} open string fills"
        if self.judged < self.asked:
            text += ": the figures are lower bounds"
        if self.without_key:
            text += f"; {self.without_key:,} are correct for none of the key's fills, which earns nothing here"
        return "; ".join((text, *self.notes))


def decide_fills(fills: Sequence[OpenFill], judge: Judge, before: Judgements | None = None) -> DecidedFills:
    """A judge's verdicts as MUC-4's judgements; those of `before` stay."""
    out: Judgements = {place: dict(found) for place, found in (before or {}).items()}
    verdicts = judge.judge([one.question for one in fills])
    judged = without_key = 0
    for one, verdict in zip(fills, verdicts, strict=True):
        if verdict is None:
            continue
        judged += 1
        about: list[Form] = [fill_form(one.slot, one.keys[k]) for k in verdict.references]
        if verdict.label != "Incorrect" and not about:
            without_key += 1
            continue
        key: Form = None if verdict.label == "Incorrect" else about[0] if len(about) == 1 else ("all-of", *about)
        listed = out.setdefault((*one.template, one.slot), {})
        listed.setdefault(fill_form(one.slot, one.response), Judgement(VERDICTS[verdict.label], key))
    return DecidedFills(out, len(fills), judged, without_key, tuple(getattr(judge, "notes", ())))
