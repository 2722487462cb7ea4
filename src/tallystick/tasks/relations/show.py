"""What a report shows of relations: their arguments highlighted in the text, both sides side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.results.documents import add_words
from tallystick.show.drawings import Drawing, Found, TextDrawing, mark_both
from tallystick.structures.texts import Fact, RelationSet
from tallystick.tasks.relations.files import FactText

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
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
