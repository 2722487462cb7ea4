"""What is shown of templates: the sixteen kinds of error of Das et al. (2022), counted, and what each costs; tables; texts.

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

"F1 if fixed" repairs one kind alone: a wrong span becomes the right one, a filler in the wrong slot or template moves to
where it belongs if it is missing there, other spurious fillers and templates go, missing ones come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.algebra.text import normalise_text
from tallystick.engine.arrays import F64
from tallystick.frozen import frozen
from tallystick.results.tables import counted_figures
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.show.tables import Column, Table, quantity
from tallystick.structures import Entity, SlotFiller, Template
from tallystick.tasks.metric import best_pairs
from tallystick.tasks.named import steps_named
from tallystick.tasks.templates.files import PairedTemplates
from tallystick.tasks.templates.metrics import one_of

if TYPE_CHECKING:
    from tallystick.results.report import Parts
    from tallystick.results.result import Result
    from tallystick.structures.texts import Entity, TemplateSet
    from tallystick.tasks.templates.files import PairedTemplates, TemplateText


Filler = SlotFiller[Entity[str]]
_WORDS = "of in on at to for by with from and or as his her its their this that these those some other"
FUNCTION_WORDS = frozenset(_WORDS.split(" "))

KINDS = {
    "Span_Error": "in the right slot, but partly right only: the words of the mention differ",
    "Duplicate_Role_Filler": "says again what another filler of the slot says",
    "Duplicate_Partially_Matched_Role_Filler": "says again what another filler of the slot says, and is partly right only",
    "Within_Template_Incorrect_Role": "belongs to another slot of the template",
    "Within_Template_Incorrect_Role + Partially_Matched_Filler": "belongs to another slot of the template, and is partly right only",
    "Wrong_Template_For_Role_Filler": "belongs to the same slot of another template",
    "Wrong_Template_For_Partially_Matched_Role_Filler": "belongs to the same slot of another template, and is partly right only",
    "Wrong_Template + Wrong_Role": "belongs to another slot of another template",
    "Wrong_Template + Wrong_Role + Partially_Matched_Filler": "belongs to another slot of another template, and is partly right only",
    "Spurious_Role_Filler": "is nowhere in the reference",
    "Missing_Role_Filler": "a filler of an aligned template that was not found",
    "Spurious_Template": "a template that nothing in the reference is aligned with",
    "Spurious_Template_Role_Filler": "a filler of a template that nothing in the reference is aligned with",
    "Missing_Template": "a template that was not found",
    "Missing_Template_Role_Filler": "a filler of a template that was not found",
    "General_Spurious_Role_Filler": "all predicted fillers of aligned templates without a partner: spurious, duplicate, of another slot or of another template",
}
"""The kinds of auto-err, by the names that it gives them."""

_SPURIOUS = tuple(KINDS)[1:10]


@frozen
class ErrorKind:
    """How often a kind of error occurs, what F1 would be without it, and some examples."""

    kind: str
    meaning: str
    count: int
    f1_if_fixed: float | None
    examples: tuple[str, ...]


class Errors:
    """Finds and counts errors, document by document."""

    def __init__(self, examples: int = 3, strings: str = "gtt") -> None:
        self.steps = steps_named(strings)
        self.right = self.predicted = self.reference = 0
        self.counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.examples: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self.movable: Counter[str] = Counter()
        self.limit = examples
        self._texts: dict[str, tuple[str, frozenset[str]]] = {}

    def add(
        self, document: object, reference: Sequence[Template[Entity[str]]], predicted: Sequence[Template[Entity[str]]]
    ) -> None:
        """One document."""
        aligned = self._align(reference, predicted)
        found_i, found_j = set(aligned), set(aligned.values())
        self.right += len(aligned)
        self.predicted += sum(1 + len(t.fillers) for t in predicted)
        self.reference += sum(1 + len(t.fillers) for t in reference)
        met = {i: self._match(reference[i].fillers, predicted[j].fillers) for i, j in aligned.items()}
        # What is still to be found in aligned templates: a filler that is elsewhere can be moved there.
        wanted = {(i, k) for i in aligned for k in range(len(reference[i].fillers))}
        wanted -= {(i, k) for i, pairs in met.items() for k, _ in pairs}
        for i, j in aligned.items():
            self._pair(document, reference, i, predicted[j], met[i], wanted)
        for side, taken, kind in ((predicted, found_j, "Spurious_Template"), (reference, found_i, "Missing_Template")):
            for k, one in enumerate(side):
                if k not in taken:
                    self._note(kind, f"{document}: {one.type}")
                    for filler in one.fillers:
                        self._note(f"{kind}_Role_Filler", f"{document}: {_shown(filler)}")

    def _pair(
        self, document: object, reference: Sequence[Template[Entity[str]]], own: int, predicted: Template[Entity[str]],
        met: dict[tuple[int, int], float], wanted: set[tuple[int, int]],
    ) -> None:  # fmt: skip
        gold, system = tuple(reference[own].fillers), tuple(predicted.fillers)
        for (i, j), likeness in met.items():
            if likeness == 1:
                self.right += 1
            else:
                self._note("Span_Error", f"{document}: {_shown(system[j])} for {_shown(gold[i])}")
        used_i, used_j = {i for i, _ in met}, {j for _, j in met}
        for j, filler in enumerate(system):
            if j not in used_j:
                kind, place = self._kind(filler, reference, own)
                self._note(kind, f"{document}: {_shown(filler)}")
                self._note("General_Spurious_Role_Filler", f"{document}: {_shown(filler)}")
                if place in wanted:
                    wanted.discard(place)
                    self.movable[kind] += 1
        for i, filler in enumerate(gold):
            if i not in used_i:
                self._note("Missing_Role_Filler", f"{document}: {_shown(filler)}")

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

    def _note(self, kind: str, example: str) -> None:
        self.counts[kind] += 1
        if len(self.examples[kind]) < self.limit:
            self.examples[kind].append(example)

    # What a repair would give

    def f1(self, right: int = 0, predicted: int = 0) -> float | None:
        """F1 of types and exact fillers of aligned templates, 1:1; with so many more right and predicted ones."""
        below = self.predicted + predicted + self.reference
        return 2 * (self.right + right) / below if below else None

    def f1_if_fixed(self, kind: str) -> float | None:
        """F1 if this kind of error had not been made, and all others had."""
        n = self.counts[kind]
        fillers = self.counts[f"{kind}_Role_Filler"] if kind in ("Spurious_Template", "Missing_Template") else 0
        if kind == "Span_Error":
            return self.f1(right=n)
        if kind in _SPURIOUS or kind in ("General_Spurious_Role_Filler", "Spurious_Template_Role_Filler"):
            moved = sum(self.movable.values()) if kind == "General_Spurious_Role_Filler" else self.movable[kind]
            return self.f1(right=moved, predicted=moved - n)
        if kind == "Spurious_Template":
            return self.f1(predicted=-n - fillers)
        return self.f1(right=n + fillers, predicted=n + fillers)


def find_errors(pairs: PairedTemplates, examples: int = 3, strings: str = "gtt") -> tuple[list[ErrorKind], Errors]:
    """Every kind of error over a corpus, in the order of `KINDS`."""
    errors = Errors(examples, strings)
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        errors.add(name, tuple(reference.templates), tuple(predicted.templates))
    kinds = [
        ErrorKind(kind, meaning, errors.counts[kind], errors.f1_if_fixed(kind), tuple(errors.examples[kind]))
        for kind, meaning in KINDS.items()
    ]
    return kinds, errors


def _shown(filler: Filler) -> str:
    mentions = tuple(filler.value.mentions)
    return f"{filler.slot} {mentions[0]!r}" + (" ..." if len(mentions) > 1 else "")


# Tables of templates: figures by slot, and the official MUC-4 report.


def slots_table(name: str, rows: Mapping[str, F64]) -> Table:
    """A row for each slot."""
    cells = []
    for slot, found in counted_figures(rows).items():
        t = found["tally"]
        sums = [f"{quantity(t[f'num_{side}'])} / {quantity(t[f'den_{side}'])}" for side in "pr"]
        cells.append([slot, found["precision"], found["recall"], found["f1"], *sums])
    return Table(["slot", "precision", "recall", "f1", "of predicted", "of reference"], cells, title=name)


def templates_parts(pairs: PairedTemplates, fillers: Any, strings: str, results: Mapping[str, Result]) -> Parts:
    """Figures by slot, the kinds of error, and of each document its text, if that is known, and the matched templates."""
    from tallystick.results.report import Parts
    from tallystick.tasks.templates.metrics import by_slot

    able = {name: result for name, result in results.items() if result.is_expression}
    kinds, found = find_errors(pairs, strings=strings)
    name, shown = next(iter(able.items()), ("", None))
    return Parts(
        [
            replace(slots_table(name, by_slot(pairs, name, fillers, strings)), title=f"By slot, under {name}")
            for name in able
        ],
        [errors_table(kinds, found.f1())],
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
