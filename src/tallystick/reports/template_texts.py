"""What a report shows of templates: their fillers highlighted in the text, both sides side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.reports.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing

if TYPE_CHECKING:
    from tallystick.reading.template_texts import TemplateText
    from tallystick.reading.templates import PairedTemplates
    from tallystick.structures.coreference import Entity
    from tallystick.structures.templates import TemplateSet


def templates_drawer(pairs: PairedTemplates, texts: Mapping[str, TemplateText]) -> Callable[[Any], Sequence[Drawing]]:
    """A function that draws any document whose text is known."""
    places = {name: k for k, name in enumerate(pairs.ids)}

    def draw(name: Any) -> Sequence[Drawing]:
        gold, system = pairs.reference[places[name]], pairs.predicted[places[name]]
        text = texts.get(str(name))
        if text is None:
            return []
        return [
            TextDrawing(
                "Fillers in the text",
                text.words.sentences,
                list(_marks(gold, system, MISSED, text, 0)),
                list(_marks(system, gold, SPURIOUS, text, 1)),
                note="Fillers carry their slot. ≠: the other side has the filler, in another slot or under another type of "
                "template. A filler without an offset is marked where its text is first found. Rest on one to see the "
                "other fillers of its template.",
            )
        ]

    return draw


def _marks(
    document: TemplateSet[Entity[str]], other: TemplateSet[Entity[str]], alone: str, text: TemplateText, side: int
) -> Iterator[Mark]:
    """What one side filled in; `alone` is the status of what the other does not have."""
    theirs = set(_filled(other))
    known = {mention for _, _, mention in theirs}
    seen: set[tuple[int, int, str, str]] = set()
    for number, template in enumerate(document.templates):
        for filler in template.fillers:
            mentions = [mention.casefold() for mention in filler.value.mentions]
            same = any((template.type, filler.slot, mention) in theirs for mention in mentions)
            status = RIGHT if same else PART if known.intersection(mentions) else alone
            for span in dict.fromkeys(span for mention in mentions for span in text.places(mention)):
                if (*span, filler.slot, status) not in seen:  # a filler of two templates is drawn once
                    seen.add((*span, filler.slot, status))
                    yield Mark(*span, filler.slot, status, 2 * number + side)


def _filled(document: TemplateSet[Entity[str]]) -> Iterator[tuple[str, str, str]]:
    for template in document.templates:
        for filler in template.fillers:
            for mention in filler.value.mentions:
                yield template.type, filler.slot, mention.casefold()
