"""What is shown of templates: tables, and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.engine.arrays import F64
from tallystick.results.tables import counted_figures
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.show.tables import Table, ratios
from tallystick.structures import Entity
from tallystick.tasks.templates.files import PairedTemplates

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.structures.texts import Entity, TemplateSet
    from tallystick.tasks.templates.files import PairedTemplates, TemplateText


# Tables of templates: figures by slot, and the official MUC-4 report.


def slots_table(name: str, rows: Mapping[str, F64]) -> Table:
    """A row for each slot."""
    cells = []
    for slot, found in counted_figures(rows).items():
        cells.append([slot, found["precision"], found["recall"], found["f1"], *ratios(found["tally"])])
    return Table(["slot", "precision", "recall", "f1", "of predicted", "of reference"], cells, title=name)


def templates_parts(pairs: PairedTemplates, fillers: Any, strings: str, results: Mapping[str, Result]) -> Parts:
    """Figures by slot, and of each document its text, if that is known, and the matched templates."""
    from tallystick.results.report import Parts
    from tallystick.tasks.templates.metrics import by_slot

    able = {name: result for name, result in results.items() if result.is_expression}
    name, shown = next(iter(able.items()), ("", None))
    return Parts(
        [
            replace(slots_table(name, by_slot(pairs, name, fillers, strings)), title=f"By slot, under {name}")
            for name in able
        ],
        explain=None if shown is None else shown.explain,
        draw=templates_drawer(pairs, pairs.texts) if pairs.texts else None,
        alignment=f"Templates side by side, as {name} matches them",
    )


def official_table(rows: Mapping[str, Mapping[str, int]]) -> Table:
    """The score report of 1992: counts, recall, precision and overgeneration in whole percent, `*` for 0/0."""
    from tallystick.tasks.templates.muc4 import f_measures, recall_precision

    columns = ["POS", "ACT", "COR", "PAR", "INC", "SPU", "MIS", "NON"]
    cells = []
    for name, row in rows.items():
        shown = ["*" if value is None else str(value) for value in recall_precision(row)]
        cells.append([name, *(row[column] for column in columns), *shown])
    both, precision, recall = ("–" if f is None else f"{f:.2f}" for f in f_measures(rows["ALL TEMPLATES"]))
    note = f"F-MEASURES: P&R {both}, 2P&R {precision}, P&2R {recall}, from the whole percentages of ALL TEMPLATES"
    return Table(["slot", *columns, "REC", "PRE", "OVG"], cells, title="official report", notes=[note])


# What a report shows of templates: their fillers highlighted in the text, both sides side by side.


def templates_drawer(pairs: PairedTemplates, texts: Mapping[str, TemplateText]) -> Callable[[Any], Sequence[Drawing]]:
    """A function that draws any document whose text is known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def draw(name: Any) -> Sequence[Drawing]:
        gold, system = documents[name]
        text = texts.get(str(name))
        if text is None:
            return []
        return [
            TextDrawing(
                "Fillers in the text",
                text.words.sentences,
                *mark_both(*(list(_found(one, text, side)) for side, one in enumerate((gold, system)))),
                note="Fillers carry their slot. ≠: the other side has the filler, in another slot or under another type of "
                "template. A filler without an offset is marked where its text is first found. Rest on one to see the "
                "other fillers of its template.",
            )
        ]

    return draw


def _found(document: TemplateSet[Entity[str]], text: TemplateText, side: int) -> Iterator[Found]:
    """Every filler, where any of its mentions stands in the text; the fillers of a template light up together."""
    for number, template in enumerate(document.templates):
        for filler in template.fillers:
            mentions = frozenset(mention.casefold() for mention in filler.value.mentions)
            spans = dict.fromkeys(span for mention in filler.value.mentions for span in text.places(mention.casefold()))
            keys = frozenset((template.type, filler.slot, mention) for mention in mentions)
            yield Found(list(spans), filler.slot, keys, mentions, 2 * number + side)
