"""What a report shows of events: triggers and arguments highlighted in the text, both sides side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.structures.texts import AnnotatedMention, Mention

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.explanation import Explanation
    from tallystick.tasks.events.documents import EventDocument

Found = tuple[tuple[int, int], str, tuple[Any, ...], int]
"""A span, its label, all that must be equal for it to be right, and the number of its event."""


Texts = Mapping[tuple[int, int], str]
"""What stands at a span."""
NOTHING: Texts = {}


def events_drawer(pairs: Paired[EventDocument]) -> Callable[[str], Sequence[Drawing]]:
    """A function that draws any document whose tokens are known."""
    places = {name: k for k, name in enumerate(pairs.ids)}

    def draw(name: str) -> Sequence[Drawing]:
        gold, system = pairs.reference[places[name]], pairs.predicted[places[name]]
        text = gold if gold.tokens else system
        if not text.tokens:
            return []
        return [
            TextDrawing(
                "Triggers and arguments in the text",
                sentences_of(text.tokens, text.sentences),
                _marks(gold, system, MISSED, len(text.tokens)),
                _marks(system, gold, SPURIOUS, len(text.tokens)),
                note="Triggers carry their event type, arguments their role. ≠: the other side has the span, under "
                "another type or role, or in another event. Rest on one to see its event.",
            )
        ]

    return draw


def with_words(explain: Callable[[Any], Explanation], pairs: Paired[EventDocument]) -> Callable[[Any], Explanation]:
    """The same explanations, with what the mentions say where the tokens are known."""
    places = {name: k for k, name in enumerate(pairs.ids)}

    def told(name: Any) -> Explanation:
        gold, system = pairs.reference[places[name]], pairs.predicted[places[name]]
        return reworded(explain(name), gold.tokens or system.tokens, {**_trigger_texts(system), **_trigger_texts(gold)})

    return told


def _trigger_texts(document: EventDocument) -> Texts:
    """What a file without tokens says of its triggers; the metrics compare spans only, and have forgotten it."""
    mentions = [event.trig.mention for event in document.events]
    return {(m.left, m.right): m.text for m in mentions if isinstance(m, AnnotatedMention) and m.text}


def reworded(node: Explanation, tokens: Sequence[str], texts: Texts = NOTHING) -> Explanation:
    """An explanation whose mentions have their words: those of the tokens, else the texts that are known of their spans."""
    return replace(
        node,
        reference=_spelled(node.reference, tokens, texts),
        predicted=_spelled(node.predicted, tokens, texts),
        children=tuple(reworded(child, tokens, texts) for child in node.children),
    )


def _spelled(value: Any, tokens: Sequence[str], texts: Texts) -> Any:
    """Mentions with their words, also inside records."""
    if isinstance(value, Mention):
        if getattr(value, "text", None) is not None:
            return value
        inside = 0 <= value.left <= value.right < len(tokens)
        words = " ".join(tokens[value.left : value.right + 1]) if inside else texts.get((value.left, value.right))
        return value if words is None else AnnotatedMention(value.left, value.right, text=words)
    if is_dataclass(value) and not isinstance(value, type):
        found = {f.name: getattr(value, f.name) for f in fields(value)}
        changed = {name: _spelled(part, tokens, texts) for name, part in found.items() if isinstance(part, Mention)}
        return replace(value, **changed) if changed else value
    return value


def sentences_of(tokens: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    """The tokens by sentence; one sentence where nobody knows."""
    if len(numbers) != len(tokens):
        return [list(tokens)]
    out: dict[int, list[str]] = {}
    for token, number in zip(tokens, numbers, strict=True):
        out.setdefault(number, []).append(token)
    return list(out.values())


def _marks(document: EventDocument, other: EventDocument, alone: str, tokens: int) -> list[Mark]:
    """What one side found; `alone` is the status of what the other does not have."""
    theirs = list(_found(other))
    right, spans = {key for _, _, key, _ in theirs}, {(key[0], span) for span, _, key, _ in theirs}
    out: dict[tuple[int, int, str, str], Mark] = {}
    for span, label, key, event in _found(document):
        if not 0 <= span[0] <= span[1] < tokens:
            continue  # a text that stands nowhere in the document
        status = RIGHT if key in right else PART if (key[0], span) in spans else alone
        mark = Mark(span[0], span[1] + 1, label, status, event)
        out.setdefault(mark[:4], mark)  # an argument of two events is drawn once
    return list(out.values())


def _found(document: EventDocument) -> Iterator[Found]:
    for event in document.events:
        span = event.trig.mention.left, event.trig.mention.right
        number = span[0]  # the same event on both sides, if it has the same trigger
        yield span, event.trig.type, ("trigger", span, event.trig.type), number
        for argument in event.args:
            place = argument.mention.left, argument.mention.right
            yield place, argument.role, ("argument", event.trig.type, place, argument.role), number
