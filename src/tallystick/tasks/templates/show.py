"""Tables of templates: figures by slot, and the official MUC-4 report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Counts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.show.tables import Column, Table, quantity

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.structures.texts import Entity, TemplateSet
    from tallystick.tasks.templates.errors import ErrorKind
    from tallystick.tasks.templates.files import PairedTemplates, TemplateText


def slot_figures(rows: Mapping[str, F64]) -> dict[str, dict[str, Any]]:
    """Precision, recall and F1 of each slot, with its sums; None where a figure is 0/0."""
    out = {}
    for slot, sums in rows.items():
        figures = {n: None if np.isnan(v) else float(v) for n, v in Counts(one=False).figures(sums).items()}
        out[slot] = {**figures, "tally": dict(zip(Counts().sums, sums.tolist(), strict=True))}
    return out


def slots_table(name: str, rows: Mapping[str, F64]) -> Table:
    """A row for each slot."""
    cells = []
    for slot, found in slot_figures(rows).items():
        t = found["tally"]
        sums = [f"{quantity(t[f'num_{side}'])} / {quantity(t[f'den_{side}'])}" for side in "pr"]
        cells.append([slot, found["precision"], found["recall"], found["f1"], *sums])
    return Table(["slot", "precision", "recall", "f1", "of predicted", "of reference"], cells, title=name)


def templates_parts(
    pairs: PairedTemplates, fillers: Any, results: Mapping[str, Result], texts: Mapping[str, TemplateText]
) -> Parts:
    """Figures by slot, the kinds of error, and of each document its text, if that is known, and the matched templates."""
    from tallystick.results.report import Parts
    from tallystick.tasks.templates.errors import find_errors
    from tallystick.tasks.templates.metrics import by_slot

    able = {name: result for name, result in results.items() if result.is_expression}
    kinds, found = find_errors(pairs)
    name, shown = next(iter(able.items()), ("", None))
    return Parts(
        [replace(slots_table(name, by_slot(pairs, name, fillers)), title=f"By slot, under {name}") for name in able],
        [errors_table(kinds, found.f1())],
        explain=None if shown is None else shown.explain,
        draw=templates_drawer(pairs, texts) if texts else None,
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


def errors_table(kinds: Sequence[ErrorKind], f1: float | None) -> Table:
    """A row for each kind of error, the costliest first; `gain` is what F1 would win without it."""
    rows: list[list[Any]] = []
    for kind in kinds:
        gain = None if f1 is None or kind.f1_if_fixed is None else kind.f1_if_fixed - f1
        rows.append([kind.kind, kind.count, kind.f1_if_fixed, gain, kind.meaning])
    rows.sort(key=lambda row: -(row[3] or 0.0))
    note = "F1 here is that of types and exact fillers, 1:1; each kind is repaired alone, so gains do not add up."
    return Table(
        ["error", "count", "f1 if fixed", Column("gain", "gain"), "meaning"], rows, title="Kinds of error", notes=[note]
    )


# What a report shows of templates: their fillers highlighted in the text, both sides side by side.


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
