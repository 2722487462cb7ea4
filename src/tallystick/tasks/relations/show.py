"""What a report shows of relations: their arguments highlighted in the text, both sides side by side.

What is wrong with relations, and what mends it.

A predicted relation belongs to a reference relation if both arguments meet (in this order or in the other one), or if the type is right
and one argument meets; the pairs with the greatest likeness in all are looked at. A pair may have several errors, one for each of its
parts that differs. What has no partner is spurious, or missed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.files.pairing import Paired
from tallystick.results.documents import add_words
from tallystick.results.mistakes import Edit, Mistake, added, around, changed, offsets, put, removed
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.structures.texts import Fact, FactSet, Relation, RelationSet
from tallystick.tasks.mending import in_words, moved, nearness, pair_up, span_of, type_of
from tallystick.tasks.relations.files import FactText

if TYPE_CHECKING:
    from tallystick.results.explanation import Explanation
    from tallystick.structures.texts import Relation
    from tallystick.tasks.relations.files import DocumentText

Texts = Mapping[str, "DocumentText"]
Ends = tuple[tuple[int, int], tuple[int, int]]


def relations_drawer(pairs: Paired[Any], texts: Texts) -> Callable[[str], Sequence[Drawing]]:
    """A function that draws any document whose text is known."""
    documents = dict(zip(pairs.ids, zip(pairs.reference, pairs.predicted, strict=True), strict=True))

    def draw(name: str) -> Sequence[Drawing]:
        gold, system = documents[name]
        text = texts.get(name)
        if text is None or not isinstance(gold, RelationSet):
            return []
        groups: dict[Ends, int] = {}
        return [
            TextDrawing(
                "Relations in the text",
                text.sentences,
                *mark_both(*(list(_found(side, text, groups)) for side in (gold, system))),
                note="Subject and object carry the type of their relation. ≠: the other side relates the two, too, but under "
                "another type, the other way round or with other types of argument. Rest on one to see its partner.",
            )
        ]

    return draw


def with_words(explain: Callable[[Any], Explanation], texts: Texts) -> Callable[[Any], Explanation]:
    """The same explanations, with what the mentions say where offsets count words."""

    def explain_in_words(name: Any) -> Explanation:
        text = texts.get(name)
        if text is None:
            return explain(name)
        if isinstance(text, FactText):
            return _with_names(explain(name), text)
        return explain(name) if text.starts is not None else add_words(explain(name), text.words)

    return explain_in_words


def _with_names(tree: Explanation, text: FactText) -> Explanation:
    """The alignment of DocRED's facts with the names of entities in the place of their numbers."""

    def named(value: Any) -> Any:
        if isinstance(value, Fact):
            return text.named(value)
        return text.name(value) if tree.name in ("subj", "obj") and isinstance(value, int) else value

    children = tuple(_with_names(one, text) for one in tree.children)
    return replace(tree, reference=named(tree.reference), predicted=named(tree.predicted), children=children)


def _found(document: RelationSet, text: DocumentText, groups: dict[Ends, int]) -> Iterator[Found]:
    """Subject and object of every relation; the same two light up together, on both sides."""
    for relation in document.relations:
        ends = _ends(relation)
        first, second = sorted(ends)
        group = groups.setdefault((first, second), len(groups))
        keys, near = frozenset([_key(relation)]), frozenset([frozenset(ends)])
        for end, name in zip(ends, ("subj", "obj"), strict=True):
            span = text.span(*end)
            yield Found([] if span is None else [span], f"{relation.type} {name}", keys, near, group)


def _ends(relation: Relation) -> Ends:
    return (relation.subj.left, relation.subj.right), (relation.obj.left, relation.obj.right)


def _key(relation: Relation) -> tuple[Any, ...]:
    """All that must be equal for a relation to be right in everything."""
    types = (getattr(mention, "type", None) for mention in (relation.subj, relation.obj))
    return (relation.type, _ends(relation), *types)


EXACT = 100.0


def find_mistakes(pairs: Paired[Any], symmetric: Collection[str]) -> Iterator[Mistake]:
    """The errors of every document."""
    for name, reference, predicted in zip(pairs.ids, pairs.reference, pairs.predicted, strict=True):
        text = pairs.texts.get(name)
        if isinstance(reference, FactSet) or isinstance(predicted, FactSet):
            yield from _Facts(name, reference.facts, predicted.facts, text).mistakes()
        else:
            yield from _Relations(name, reference.relations, predicted.relations, text, symmetric).mistakes()


class _Relations:
    """The relations of one document."""

    field = "relations"

    def __init__(
        self, name: Any, reference: Sequence[Any], predicted: Sequence[Any], text: Any, symmetric: Collection[str] = ()
    ) -> None:
        self.name, self.reference, self.predicted = name, reference, predicted
        self.text, self.symmetric = text, symmetric

    def mistakes(self) -> Iterator[Mistake]:
        """What differs in relations that belong together, and those that stand alone."""
        aligned = pair_up(self.reference, self.predicted, lambda one, other: max(self._likeness(one, other)))
        for i, j in aligned.pairs:
            yield from self._compare(self.reference[i], self.predicted[j], j)
        said = {self._key(self.predicted[j]) for _, j in aligned.pairs}
        for j in aligned.spurious:
            one = self.predicted[j]
            kind = "duplicate" if self._key(one) in said else "spurious"
            said.add(self._key(one))
            yield self._mistake(kind, None, one, ((self.field, j), removed))
        for one in (self.reference[i] for i in aligned.missed):
            yield self._mistake("missed", one, None, ((self.field,), added(one)))

    def _likeness(self, reference: Any, predicted: Any) -> tuple[float, float]:
        """As it stands, and with the arguments exchanged; 0 if they do not belong together."""
        same = reference.type == predicted.type
        direct = self._near(reference.subj, predicted.subj), self._near(reference.obj, predicted.obj)
        crossed = self._near(reference.subj, predicted.obj), self._near(reference.obj, predicted.subj)
        out = []
        for (one, two), free in ((direct, True), (crossed, reference.type in self.symmetric)):
            belongs = (one and two) or (same and free and (one or two))
            exact = same and free and (one, two) == (3.0, 3.0)
            out.append(EXACT if exact else one + two + same - 0.4 * (not free) if belongs else 0.0)
        return out[0], out[1]

    def _compare(self, reference: Any, predicted: Any, j: int) -> Iterator[Mistake]:
        direct, crossed = self._likeness(reference, predicted)
        swapped = crossed > direct
        at: tuple[Any, ...] = (self.field, j)
        if reference.type != predicted.type:
            yield self._mistake("wrong type", reference, predicted, ((*at, "type"), put(reference.type)))
        if swapped and reference.type not in self.symmetric:
            yield self._mistake("swapped direction", reference, predicted, (at, _exchanged))
        for role, other in (("subj", "obj"), ("obj", "subj")):
            own = other if swapped else role
            yield from self._arguments(reference, predicted, role, (*at, own), getattr(predicted, own))

    def _arguments(
        self, reference: Any, predicted: Any, role: str, at: tuple[Any, ...], found: Any
    ) -> Iterator[Mistake]:
        right = getattr(reference, role)
        if not self._near(right, found):
            yield self._mistake("wrong argument", reference, predicted, (at, put(right)), about=right)
            return
        if span_of(right) != span_of(found):
            yield self._mistake("wrong boundary", reference, predicted, (at, moved(right)), about=right)
        if type_of(right) != type_of(found):
            edit = (at, changed(type=type_of(right)))
            yield self._mistake("wrong entity type", reference, predicted, edit, about=right)

    def _mistake(self, kind: str, reference: Any, predicted: Any, *edits: Edit, about: Any = None) -> Mistake:
        """What is `about` an argument has its place; else that of both."""
        one = reference or predicted
        first, last = self._reach([about] if about is not None else [one.subj, one.obj])
        ours, theirs = (None if side is None else self._said(side) for side in (reference, predicted))
        span = self.text.span(first, last) if self.text is not None and first >= 0 else None
        unit = "character" if self.text is not None and self.text.starts is not None else "token"
        text = around(self.text.words, *span) if span else ""
        return Mistake(kind, self.name, ours, theirs, offsets(first, last, unit), text, label=one.type, edits=edits)

    # What relations of mentions are compared by, and how they are said

    def _near(self, reference: Any, predicted: Any) -> float:
        return nearness(reference, predicted)

    def _key(self, one: Relation) -> Any:
        return one.type, *((*span_of(end), type_of(end)) for end in (one.subj, one.obj))

    def _reach(self, ends: Sequence[Any]) -> tuple[int, int]:
        return min(one.left for one in ends), max(one.right for one in ends)

    def _said(self, one: Relation) -> str:
        words = self.text.words if self.text is not None and self.text.starts is None else ()
        return f"{one.type}({in_words(one.subj, words)}, {in_words(one.obj, words)})"


class _Facts(_Relations):
    """DocRED's facts, whose arguments are numbers of entities."""

    field = "facts"

    def _compare(self, reference: Any, predicted: Any, j: int) -> Iterator[Mistake]:
        yield from super()._compare(reference, predicted, j)
        if set(reference.evidence) != set(predicted.evidence):
            edit = ((self.field, j, "evidence"), put(reference.evidence))
            ours, theirs = (
                f"{self._said(reference)}: {self._sentences(one.evidence)}" for one in (reference, predicted)
            )
            found = self._mistake("wrong evidence", reference, predicted, edit)
            yield replace(found, reference=ours, predicted=theirs)

    def _arguments(
        self, reference: Any, predicted: Any, role: str, at: tuple[Any, ...], found: Any
    ) -> Iterator[Mistake]:
        right = getattr(reference, role)
        if right != found:
            yield self._mistake("wrong argument", reference, predicted, (at, put(right)))

    def _mistake(self, kind: str, reference: Any, predicted: Any, *edits: Edit, about: Any = None) -> Mistake:
        ours, theirs = (None if side is None else self._said(side) for side in (reference, predicted))
        one = reference or predicted
        sentences = () if self.text is None else self.text.sentences
        shown = [sentences[k] for k in one.evidence if 0 <= k < len(sentences)]
        where = self._sentences(one.evidence) if one.evidence else ""
        return Mistake(kind, self.name, ours, theirs, where, " ".join(shown), label=one.type, edits=edits)

    def _near(self, reference: Any, predicted: Any) -> float:
        return 3.0 if reference == predicted else 0.0

    def _key(self, one: Fact) -> Any:  # type: ignore[override]
        return one.type, one.subj, one.obj

    def _said(self, one: Fact) -> str:  # type: ignore[override]
        if self.text is not None:
            one = self.text.named(one)
        return f"{one.type}({one.subj}, {one.obj})"

    @staticmethod
    def _sentences(evidence: Collection[int]) -> str:
        many = "sentence" if len(evidence) == 1 else "sentences"
        return f"{many} {', '.join(map(str, evidence))}" if evidence else "no sentence"


def _exchanged(relation: Any) -> Any:
    """Subject and object exchanged."""
    return changed(subj=relation.obj, obj=relation.subj)(relation)
