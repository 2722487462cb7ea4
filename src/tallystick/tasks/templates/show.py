"""What is shown of templates: tables, and texts.

What is wrong with templates, and what mends it: the sixteen kinds of error of Das et al. (2022), and two about the mentions of an entity.

Templates are aligned first, those of one type, by the largest sum of fillers that agree; fillers of one slot in aligned
templates next, 1:1, exact ones before those that overlap. What is then left is looked for elsewhere:

    a predicted filler without a partner         is exactly / partly like a reference filler of
      Duplicate_...                                the same slot, which another filler has found
      Within_Template_Incorrect_Role               another slot of the aligned template
      Wrong_Template_...                           the same slot of another template
      Wrong_Template + Wrong_Role                  another slot of another template
      Spurious_Role_Filler                         none

A mention is like another if their texts are equal (without case, punctuation and articles), and partly like it if they
share words other than prepositions and the like: auto-err compares offsets into the text instead, where two strings that do not occur in the text get the
same empty span and count as equal. Here they never do.

Mended, a wrong span becomes the right one, a filler in the wrong slot or template moves to where it belongs if it is missing there, other
spurious fillers and templates go, missing ones come. A filler that moves and the missing one that it is are two errors, and one change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.algebra.text import normalise_text
from tallystick.results.mistakes import Change, Edit, Mistake, added, around, put, removed
from tallystick.results.tables import counted_figures
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.show.tables import Table, of_metric, ratios
from tallystick.structures import Entity, SlotFiller, Template
from tallystick.structures.texts import alternatives
from tallystick.tasks.metric import best_pairs
from tallystick.tasks.named import steps_named
from tallystick.tasks.templates.files import PairedTemplates
from tallystick.tasks.templates.metrics import one_of
from tallystick.tasks.templates.task import Templates

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.structures.texts import Entity, TemplateSet
    from tallystick.tasks.templates.files import PairedTemplates, TemplateText

# Tables of templates: figures by slot, and the official MUC-4 report.


def slots_table(name: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each slot."""
    cells = []
    for slot, found in rows.items():
        cells.append([slot, found["precision"], found["recall"], found["f1"], *ratios(found["tally"])])
    return of_metric(Table(["slot", "precision", "recall", "f1", "of predicted", "of reference"], cells), name)


def templates_parts(pairs: PairedTemplates, fillers: Any, strings: str, results: Mapping[str, Result]) -> Parts:
    """Figures by slot, and of each document its text, if that is known, and the matched templates."""
    from tallystick.results.report import Parts
    from tallystick.tasks.templates.metrics import by_slot

    able = {name: result for name, result in results.items() if result.is_expression}
    name, shown = next(iter(able.items()), ("", None))
    return Parts(
        [
            replace(
                slots_table(name, counted_figures(by_slot(pairs, name, fillers, strings), result.undefined)),
                title=f"By slot, under {name}",
            )
            for name, result in able.items()
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


Filler = SlotFiller[Entity[str]]
_WORDS = "of in on at to for by with from and or as his her its their this that these those some other"
FUNCTION_WORDS = frozenset(_WORDS.split(" "))

KINDS = (*tuple(Templates.kinds)[:-2], "General_Spurious_Role_Filler")
"""The kinds of auto-err, by the names that it gives them; the last counts all predicted fillers of aligned templates without a partner."""

GENERAL = "General_Spurious_Role_Filler"
"""All spurious, duplicate and misplaced fillers together: counted as auto-err does, and no kind that a filler has beside its own."""


def find_mistakes(pairs: PairedTemplates, strings: str) -> Iterator[Mistake]:
    """The errors of every document."""
    errors = Errors(strings)
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        text = pairs.texts.get(str(name))
        yield from errors.add(name, tuple(reference.templates), tuple(predicted.templates), text)


class Errors:
    """Finds and counts errors, document by document."""

    def __init__(self, strings: str = "gtt") -> None:
        self.steps = steps_named(strings)
        self.right = self.predicted = self.reference = 0
        self.counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self._texts: dict[str, tuple[str, frozenset[str]]] = {}

    def add(
        self, document: object, reference: Sequence[Template[Entity[str]]], predicted: Sequence[Template[Entity[str]]],
        text: TemplateText | None = None,
    ) -> list[Mistake]:  # fmt: skip
        """One document."""
        found = list(self._find(reference, predicted))
        self.counts.update(kind for kind, *_ in found)
        self.counts[GENERAL] += sum(kind in _SPURIOUS for kind, *_ in found)
        return [_mistake(document, text, *one) for one in found]

    def _find(
        self, reference: Sequence[Template[Entity[str]]], predicted: Sequence[Template[Entity[str]]]
    ) -> Iterator[Wrong]:
        aligned = self._align(reference, predicted)
        self.right += len(aligned)
        self.predicted += sum(1 + len(t.fillers) for t in predicted)
        self.reference += sum(1 + len(t.fillers) for t in reference)
        met = {i: self._match(reference[i].fillers, predicted[j].fillers) for i, j in aligned.items()}
        # What is still to be found in aligned templates: a filler that is elsewhere can be moved there.
        wanted = {(i, k) for i in aligned for k in range(len(reference[i].fillers))}
        wanted -= {(i, k) for i, pairs in met.items() for k, _ in pairs}
        for i, j in aligned.items():
            yield from self._pair(reference, aligned, i, (j, tuple(predicted[j].fillers)), met[i], wanted)
        for j in [j for j in range(len(predicted)) if j not in aligned.values()]:
            one, at = predicted[j], ("templates", j)
            yield "Spurious_Template", None, one, ((at, removed),)
            for k, filler in enumerate(one.fillers):
                yield "Spurious_Template_Role_Filler", None, filler, (((*at, "fillers", k), removed),)
        for one in [one for i, one in enumerate(reference) if i not in aligned]:
            yield "Missing_Template", one, None, ((("templates",), _with_template(one, one.fillers)),)
            for filler in one.fillers:
                yield "Missing_Template_Role_Filler", filler, None, ((("templates",), _with_template(one, (filler,))),)

    def _pair(
        self, reference: Sequence[Template[Entity[str]]], aligned: dict[int, int], own: int,
        predicted: tuple[int, tuple[Filler, ...]], met: dict[tuple[int, int], float], wanted: set[tuple[int, int]],
    ) -> Iterator[Wrong]:  # fmt: skip
        gold, (template, system) = tuple(reference[own].fillers), predicted
        for (i, j), likeness in met.items():
            at = ("templates", template, "fillers", j, "value")
            if likeness == 1:
                self.right += 1
                yield from self._mentions(gold[i], system[j], at)
            else:
                yield "Span_Error", gold[i], system[j], ((at, put(gold[i].value)),)
        used_i, used_j = {i for i, _ in met}, {j for _, j in met}
        for j, filler in enumerate(system):
            if j not in used_j:
                kind, place = self._kind(filler, reference, own)
                edits: list[Edit] = [(("templates", template, "fillers", j), removed)]
                home = None
                if place in wanted:
                    wanted.discard(place)
                    home = tuple(reference[place[0]].fillers)[place[1]]
                    edits.append((("templates", aligned[place[0]], "fillers"), _with_filler(home)))
                yield kind, home, filler, tuple(edits)
        for i, filler in enumerate(gold):
            if i not in used_i:
                yield "Missing_Role_Filler", filler, None, ((("templates", template, "fillers"), _with_filler(filler)),)

    def _mentions(self, gold: Filler, system: Filler, at: tuple[Any, ...]) -> Iterator[Wrong]:
        """What else is in an entity that was found, and what it lacks."""
        ours = {self._text(one)[0]: one for one in gold.value.mentions}
        theirs = {self._text(one)[0] for one in system.value.mentions}
        for k, one in enumerate(system.value.mentions):
            if self._text(one)[0] not in ours:
                yield "Extra_Mention", gold, system, (((*at, "mentions", k), removed),)
        for text, mention in ours.items():
            if text not in theirs:
                yield "Missing_Mention", gold, system, (((*at, "mentions"), added(mention)),)

    def _kind(
        self, filler: Filler, reference: Sequence[Template[Entity[str]]], own: int
    ) -> tuple[str, tuple[int, int] | None]:
        """The kind of a predicted filler without a partner, and the reference filler (template, number) it is like.

        The aligned template comes before others; in it, as in the others, the best likeness decides, the same slot first.
        """
        cells = [
            (k == own, self._like(gold, filler), gold.slot == filler.slot, (k, m))
            for k, template in enumerate(reference)
            for m, gold in enumerate(template.fillers)
        ]
        cells = [cell for cell in cells if cell[1] > 0]
        if not cells:
            return "Spurious_Role_Filler", None
        here, likeness, same_slot, place = max(cells, key=lambda cell: cell[:3])
        partly = likeness < 1
        if same_slot:
            return (
                f"{'Duplicate_' if here else 'Wrong_Template_For_'}{'Partially_Matched_' if partly else ''}Role_Filler",
                place,
            )
        start = "Within_Template_Incorrect_Role" if here else "Wrong_Template + Wrong_Role"
        return start + (" + Partially_Matched_Filler" if partly else ""), place

    def _align(
        self, reference: Sequence[Template[Entity[str]]], predicted: Sequence[Template[Entity[str]]]
    ) -> dict[int, int]:
        """Which templates meet: of one type, with the largest sum of likeness; each pair counts a little by itself."""
        weights = {
            (i, j): 1.0 + sum(self._match(gold.fillers, system.fillers).values())
            for i, gold in enumerate(reference)
            for j, system in enumerate(predicted)
            if one_of(gold.type, system.type)
        }
        return dict(best_pairs(weights, len(reference), len(predicted)))

    def _match(self, reference: Collection[Filler], predicted: Collection[Filler]) -> dict[tuple[int, int], float]:
        """Fillers of one slot put together 1:1: as many exact ones as can be, then by likeness."""
        likeness = {
            (i, j): degree
            for i, gold in enumerate(reference)
            for j, system in enumerate(predicted)
            if gold.slot == system.slot and (degree := self._like(gold, system)) > 0
        }
        weights = {pair: 1.0 + len(likeness) if degree == 1 else degree for pair, degree in likeness.items()}
        return {pair: likeness[pair] for pair in best_pairs(weights, len(reference), len(predicted))}

    def _like(self, reference: Filler, predicted: Filler) -> float:
        """1 if the predicted mention is one of the reference's, else the best share of common words, below 1."""
        best = 0.0
        for gold in reference.value.mentions:
            for system in predicted.value.mentions:
                (a, words_a), (b, words_b) = self._text(gold), self._text(system)
                if a == b:
                    return 1.0
                common = len(words_a & words_b)
                if common:
                    best = max(best, min(0.999, common**2 / (len(words_a) * len(words_b))))
        return best

    def _text(self, mention: str) -> tuple[str, frozenset[str]]:
        if mention not in self._texts:
            text = normalise_text(mention, self.steps)
            self._texts[mention] = text, frozenset(text.split()) - FUNCTION_WORDS
        return self._texts[mention]


_SPURIOUS = tuple(KINDS)[1:10]
Wrong = tuple[str, Any, Any, tuple[Edit, ...]]
"""A kind, a filler or template of each side, and what mends it."""


def _with_filler(filler: Filler) -> Change:
    """This filler of the reference, unless it has come already."""
    return lambda known: known if any(one is filler for one in known) else (*known, filler)


def _with_template(template: Template[Entity[str]], fillers: Collection[Filler]) -> Change:
    """A template of the reference with these of its fillers, and with those that have come already."""
    own = tuple(template.fillers)

    def change(known: tuple[Template[Entity[str]], ...]) -> tuple[Template[Entity[str]], ...]:
        for k, one in enumerate(known):
            if any(filler is other for filler in one.fillers for other in own):
                more = tuple(filler for filler in fillers if not any(filler is other for other in one.fillers))
                return (*known[:k], replace(one, fillers=(*one.fillers, *more)), *known[k + 1 :])
        return (*known, replace(template, type=alternatives(template.type)[0], fillers=tuple(fillers)))

    return change


def _mistake(
    document: Any, text: TemplateText | None, kind: str, gold: Any, system: Any, edits: tuple[Edit, ...]
) -> Mistake:
    one = gold or system
    slot = getattr(one, "slot", "")
    mentions = one.value.mentions if slot else ()
    places = [place for mention in mentions for place in text.places(mention)] if text is not None else []
    said = around(text.words.words, *places[0]) if text is not None and places else ""
    ours, theirs = (None if side is None else _shown(side) for side in (gold, system))
    return Mistake(kind, document, ours, theirs, slot, said, label=slot or one.type or "(template)", edits=edits)


def _shown(one: Any) -> str:
    if isinstance(one, Template):
        return one.type or "a template"
    mentions = tuple(one.value.mentions)
    return f"{one.slot} {mentions[0]!r}" + (f" and {len(mentions) - 1} more" if len(mentions) > 1 else "")
