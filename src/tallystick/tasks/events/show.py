"""What a report shows of events: triggers and arguments highlighted in the text, both sides side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.results.documents import add_words
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.structures.texts import AnnotatedMention

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.explanation import Explanation
    from tallystick.tasks.events.files import EventDocument


def events_drawer(pairs: Paired[EventDocument]) -> Callable[[str], Sequence[Drawing]]:
    """A function that draws any document whose tokens are known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def draw(name: str) -> Sequence[Drawing]:
        gold, system = documents[name]
        text = gold if gold.tokens else system
        if not text.tokens:
            return []
        return [
            TextDrawing(
                "Triggers and arguments in the text",
                sentences_of(text.tokens, text.sentences),
                *mark_both(*(list(_found(side, len(text.tokens))) for side in (gold, system))),
                note="Triggers carry their event type, arguments their role. ≠: the other side has the span, under "
                "another type or role, or in another event. Rest on one to see its event.",
            )
        ]

    return draw


def with_words(explain: Callable[[Any], Explanation], pairs: Paired[EventDocument]) -> Callable[[Any], Explanation]:
    """The same explanations, with what the mentions say where the tokens are known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def explain_in_words(name: Any) -> Explanation:
        gold, system = documents[name]
        texts = {**_trigger_texts(system), **_trigger_texts(gold)}
        return add_words(explain(name), gold.tokens or system.tokens, texts)

    return explain_in_words


def _trigger_texts(document: EventDocument) -> Mapping[tuple[int, int], str]:
    """What a file without tokens says of its triggers; the metrics compare spans only, and have forgotten it."""
    mentions = [event.trig.mention for event in document.events]
    return {(m.left, m.right): m.text for m in mentions if isinstance(m, AnnotatedMention) and m.text}


def sentences_of(tokens: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    """The tokens by sentence; one sentence where nobody knows."""
    if len(numbers) != len(tokens):
        return [list(tokens)]
    out: dict[int, list[str]] = {}
    for token, number in zip(tokens, numbers, strict=True):
        out.setdefault(number, []).append(token)
    return list(out.values())


def _found(document: EventDocument, tokens: int) -> Iterator[Found]:
    """The triggers and arguments of a document that stand in its text."""
    for event in document.events:
        type_, span = event.trig.type, (event.trig.mention.left, event.trig.mention.right)
        group = span[0]  # the same event on both sides, if it has the same trigger
        places: list[tuple[tuple[int, int], str, tuple[str, ...]]] = [(span, type_, ("trigger", type_))]
        for argument in event.args:
            place = argument.mention.left, argument.mention.right
            places.append((place, argument.role, ("argument", type_, argument.role)))
        for place, label, key in places:
            inside = 0 <= place[0] <= place[1] < tokens  # a text may stand nowhere in the document
            spans = [(place[0], place[1] + 1)] if inside else []
            yield Found(spans, label, frozenset([(*key, place)]), frozenset([(key[0], place)]), group)
