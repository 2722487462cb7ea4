"""What a report shows of relations: their arguments highlighted in the text, both sides side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.structures.texts import RelationSet
from tallystick.tasks.events.show import reworded

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.explanation import Explanation
    from tallystick.structures.texts import Relation
    from tallystick.tasks.relations.files import DocumentText

Texts = Mapping[str, "DocumentText"]
Ends = tuple[tuple[int, int], tuple[int, int]]


def relations_drawer(pairs: Paired[Any], texts: Texts) -> Callable[[str], Sequence[Drawing]]:
    """A function that draws any document whose text is known."""
    places = {name: k for k, name in enumerate(pairs.ids)}

    def draw(name: str) -> Sequence[Drawing]:
        gold, system = pairs.reference[places[name]], pairs.predicted[places[name]]
        text = texts.get(name)
        if text is None or not isinstance(gold, RelationSet):
            return []
        groups: dict[Ends, int] = {}  # the same two arguments light up together, on both sides
        return [
            TextDrawing(
                "Relations in the text",
                text.sentences,
                list(_marks(gold, system, MISSED, text, groups)),
                list(_marks(system, gold, SPURIOUS, text, groups)),
                note="Subject and object carry the type of their relation. ≠: the other side relates the two, too, but under "
                "another type, the other way round or with other types of argument. Rest on one to see its partner.",
            )
        ]

    return draw


def with_words(explain: Callable[[Any], Explanation], texts: Texts) -> Callable[[Any], Explanation]:
    """The same explanations, with what the mentions say where offsets count words."""

    def told(name: Any) -> Explanation:
        text = texts.get(name)
        return explain(name) if text is None or text.starts is not None else reworded(explain(name), text.words)

    return told


def _marks(
    document: RelationSet, other: RelationSet, alone: str, text: DocumentText, groups: dict[Ends, int]
) -> Iterator[Mark]:
    """What one side found; `alone` is the status of what the other does not have."""
    theirs = {_key(relation) for relation in other.relations}
    related = {frozenset(_ends(relation)) for relation in other.relations}
    seen: set[tuple[int, int, str, str]] = set()
    for relation in document.relations:
        ends = _ends(relation)
        status = RIGHT if _key(relation) in theirs else PART if frozenset(ends) in related else alone
        first, second = sorted(ends)
        group = groups.setdefault((first, second), len(groups))
        for end, label in zip(ends, (f"{relation.type} subj", f"{relation.type} obj"), strict=True):
            span = text.span(*end)
            if (
                span is not None and (*span, label, status) not in seen
            ):  # an argument of two relations of a type is drawn once
                seen.add((*span, label, status))
                yield Mark(*span, label, status, group)


def _ends(relation: Relation) -> Ends:
    return (relation.subj.left, relation.subj.right), (relation.obj.left, relation.obj.right)


def _key(relation: Relation) -> tuple[Any, ...]:
    """All that must be equal for a relation to be right in everything."""
    types = (getattr(mention, "type", None) for mention in (relation.subj, relation.obj))
    return (relation.type, _ends(relation), *types)
