"""What a report shows of coreference: the chains in colours in the text, and which of them were matched.

The colours are the alignment of CEAF-e: an entity of the key and the entity of the response that it was matched with
have one colour. A mention that the other side has, but in an entity that is not the partner, is in the wrong place.

What is wrong with coreference, as mistakes with their places: the errors of `metrics.find_errors`.

A kind is mended as a whole (`metrics.mended`): a mention that changes its entity makes other errors, so that single errors are not
independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import Place
from tallystick.results.explanation import Explained, Explanation, InOrder, Level, Plain, places_in
from tallystick.results.mistakes import Mistake, put
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.tasks.coreference.chains import UNKNOWN, PairedChains
from tallystick.tasks.coreference.mentions import CoreferenceOptions
from tallystick.tasks.coreference.metrics import MendedChains, Rows, find_error_rows, located_errors, score

if TYPE_CHECKING:
    from tallystick.tasks.coreference.chains import Sentences
    from tallystick.tasks.coreference.metrics import Located


def chains_parts(pairs: PairedChains, options: CoreferenceOptions) -> Parts:
    """For each document the text and the matched entities."""
    texts = _texts(pairs, options)
    words = words_of(pairs, options)
    explain = score(pairs, ["ceaf_e"], options)["ceaf_e"].explain_in_order()
    drawn: dict[str, list[Drawing]] = {}

    def explain_in_words(documents: Sequence[str]) -> Explained:
        found = explain.together(documents)
        drawn.clear()
        entities = _entities(found)
        if entities is None:
            trees = {k: with_words(found.tree(k), words, name) for k, name in enumerate(documents)}
            drawings = {
                name: chains_drawing(found.tree(k), texts[name]) for k, name in enumerate(documents) if name in texts
            }
        else:
            found = columns_with_words(found, entities, words, documents)
            drawings = {
                name: draw_chains(ones, texts[name])
                for name, ones in zip(documents, _chains(entities, len(documents)), strict=True)
                if name in texts
            }
        drawn.update({name: [one] for name, one in drawings.items()})
        return found if entities is not None else Explained(None, {}, trees)

    in_order = InOrder(explain_in_words)

    def draw(document: str) -> Sequence[Drawing]:
        if document not in drawn:
            explain_in_words([document])
        return drawn.get(document, [])

    return Parts(explain=in_order, draw=draw, main="conll", alignment="Entities, as CEAF-e matches them")


def _texts(pairs: PairedChains, options: CoreferenceOptions) -> Mapping[str, Sentences]:
    return pairs.key.texts if options.scope == "document" else {}


def words_of(pairs: PairedChains, options: CoreferenceOptions) -> Words:
    """What a mention of a document says; nothing where the words were not kept."""
    texts = _texts(pairs, options)

    @cache
    def tokens(document: str) -> list[str]:
        return list(chain.from_iterable(texts.get(document, ())))

    return tokens


def chains_drawing(tree: Explanation, sentences: Sentences) -> TextDrawing:
    """The text with all mentions of both sides; chains that were matched have one number and one colour."""
    return draw_chains(
        [
            (
                entity.status == "matched", _mentions(entity, 0), _mentions(entity, 1),
                {node.reference for node in entity.children if node.status == "matched"},
            )
            for entity in tree.children
        ],
        sentences,
    )  # fmt: skip


Chain = tuple[bool, Sequence[Any], Sequence[Any], Collection[Any]]
"""Whether an entity was matched, its mentions on both sides, and the ones that both have."""


def draw_chains(chains: Sequence[Chain], sentences: Sentences) -> TextDrawing:
    """The same from the entities of a document."""
    both = {mention for chain in chains for mention in chain[1]}, {mention for chain in chains for mention in chain[2]}
    marks: tuple[list[Mark], list[Mark]] = ([], [])
    alone = [0, 0]
    pairs = _are_pairs([*both[0], *both[1]])
    new = tuple.__new__  # there are many, and a named tuple takes its time
    for number, (matched, ours, theirs, found) in enumerate(chains):
        for side, mentions in enumerate((ours, theirs)):
            if not mentions:
                continue
            alone[side] += not matched
            label = str(number + 1) if matched else f"{'kr'[side]}{alone[side]}"
            # Chains of both sides that were not matched never share a group.
            group = number if matched else 10_000 + 2 * number + side
            others, lost = both[1 - side], (MISSED, SPURIOUS)[side]
            spans = [(one[0], one[1] + 1) for one in mentions] if pairs else map(_span, mentions)
            marks[side].extend(
                new(Mark, (*span, label, RIGHT if one in found else PART if one in others else lost, group))
                for one, span in zip(mentions, spans, strict=True)
                if span is not None
            )
    return TextDrawing(
        "Chains in the text", sentences, *marks, coloured=True,
        note="One colour and number is one pair of matched entities; k1, r1, … are entities without a partner. "
        "Rest on a mention to see its chain. ≠ is a mention that the other side has in another entity.",
    )  # fmt: skip


def _entities(found: Explained) -> Level | None:
    """The entities of some documents in columns, if all of them are there."""
    if found.others or found.top is None or len(found.top.below) != 1:
        return None
    entities = found.top.below[0]
    values = [*entities.reference, *entities.predicted]
    return entities if entities.places and set(map(type, values)) <= {list, NoneType} else None


def _chains(entities: Level, documents: int) -> list[list[Chain]]:
    """The entities of each document, as they are drawn."""
    shared: list[list[Any]] = [[] for _ in range(len(entities))]
    for lower in entities.below:
        for home, mention in zip(lower.homes[: lower.pairs], lower.reference, strict=False):
            shared[home].append(mention)
    out: list[list[Chain]] = [[] for _ in range(documents)]
    rows = zip(entities.homes, entities.reference, entities.predicted, shared, strict=True)
    for k, (document, reference, predicted, both) in enumerate(rows):
        out[document].append((k < entities.pairs, reference or (), predicted or (), set(both)))
    return out


def columns_with_words(found: Explained, entities: Level, words: Words, documents: Sequence[str]) -> Explained:
    """As `with_words`, for many documents in columns."""

    def say(value: Any, tokens: Sequence[str]) -> Any:
        if isinstance(value, list):
            return [say(mention, tokens) for mention in value]
        return value if not isinstance(value, tuple) or _span(value) is None else Plain(_said(tokens, value))

    tokens = [words(document) for document in documents]
    lower = []
    for one in entities.below:
        of = [tokens[entities.homes[home]] for home in one.homes]
        if _are_pairs([value for value in one.reference if value is not None]):
            ours = [
                None if value is None else _said_pair(some, *value)
                for value, some in zip(one.reference, of, strict=True)
            ]
        else:
            ours = [say(value, some) for value, some in zip(one.reference, of, strict=True)]
        theirs = [
            mine if value == other else say(value, some)
            for value, other, mine, some in zip(one.predicted, one.reference, ours, of, strict=True)
        ]
        lower.append(replace(one, reference=ours, predicted=theirs))
    pairs = entities.pairs
    alone = [tokens[home] for home in entities.homes[pairs:]]
    numbers = places_in(np.array(entities.homes[:pairs], np.int64)).tolist()
    named = replace(
        entities,
        names=[*(f"entity {number + 1}" for number in numbers), *("entity" for _ in alone)],
        reference=entities.reference[:pairs] + list(map(say, entities.reference[pairs:], alone)),
        predicted=entities.predicted[:pairs] + list(map(say, entities.predicted[pairs:], alone)),
        below=tuple(lower),
    )
    assert found.top is not None
    return Explained(replace(found.top, names="entities", below=(named,)), found.rows, {})


def _mentions(entity: Explanation, side: int) -> list[Any]:
    value = entity.reference if side == 0 else entity.predicted
    return [] if value is None else list(value)


def _span(mention: Any) -> tuple[int, int] | None:
    """The tokens from the first to the last of a mention, the end exclusive."""
    if not isinstance(mention, tuple) or not mention:
        return None
    if len(mention) == 2 and isinstance(mention[0], int) and isinstance(mention[1], int):
        return mention[0], mention[1] + 1
    return (mention[0][0], mention[-1][1] + 1) if all(isinstance(part, tuple) for part in mention) else None


def _are_pairs(mentions: Sequence[Any]) -> bool:
    """Whether all mentions are a first and a last token."""
    return (
        set(map(type, mentions)) <= {tuple}
        and set(map(len, mentions)) <= {2}
        and set(map(type, chain.from_iterable(mentions))) <= {int}
    )


def with_words(tree: Explanation, words: Words, document: str) -> Explanation:
    """The same tree with the words of the mentions before their offsets; of a tree of entities these have numbers."""

    tokens = words(document)

    @cache  # a mention stands in its entity and in the document, too
    def mention_in_words(mention: Any) -> Any:
        return mention if _span(mention) is None else Plain(_said(tokens, mention))

    def in_words(value: Any) -> Any:
        if isinstance(value, list):  # an entity
            return [in_words(mention) for mention in value]
        if isinstance(value, Mapping):  # a mention with its entity
            return {key: in_words(part) for key, part in value.items()}
        return mention_in_words(value) if isinstance(value, tuple) else value

    def said(node: Explanation) -> Explanation:
        # What lies below is shown instead of a value. Not by `replace`, which looks through all fields: there are many nodes.
        reference, predicted = node.reference, node.predicted
        if not node.children:
            reference, predicted = in_words(reference), in_words(predicted)
        return Explanation(
            node.name, node.status, reference, predicted, node.weight, node.reference_self, node.predicted_self, node.how,
            node.adds_up, tuple(map(said, node.children)), node.places, node.node,
        )  # fmt: skip

    found = said(tree)
    if not all(isinstance(entity, list) for entity in (*(tree.reference or ()), *(tree.predicted or ()))):
        return found
    named = tuple(replace(child, name=_entity(k, child)) for k, child in enumerate(found.children))
    return replace(found, name="entities", children=named)


def _entity(number: int, entity: Explanation) -> str:
    return f"entity {number + 1}" if entity.status == "matched" else "entity"


# Entities in words, as the list of errors has them.

Words = Callable[[str], Sequence[str]]
"""The words of a document."""
MENTIONS = 4
"""So many mentions of an entity are shown."""


def entities_text(mentions: Sequence[Located], words: Words, line: int | None) -> str:
    """`3 {Ann [0-1], her [5] line 9} + 4 {…}`: each entity with its mentions, their tokens, and their lines if other than this one."""
    by_entity: dict[str, list[Located]] = {}
    for mention in mentions:
        by_entity.setdefault(mention.entity, []).append(mention)
    return " + ".join(f"{entity} {{{_mentions_text(members, words, line)}}}" for entity, members in by_entity.items())


def _mentions_text(members: Sequence[Located], words: Words, line: int | None) -> str:
    shown = [
        _said(words(one.document), one.mention) + ("" if one.line in (None, line) else f" line {one.line}")
        for one in members[:MENTIONS]
    ]
    return ", ".join([*shown, f"{len(members) - MENTIONS} more"] if len(members) > MENTIONS else shown)


def _said_pair(tokens: Sequence[str], first: int, last: int) -> str:
    if first == last:
        return f"{tokens[first]} [{first}]" if first < len(tokens) else f"[{first}]"
    return f"{' '.join(tokens[first : last + 1])} [{first}-{last}]".strip()


def _said(tokens: Sequence[str], mention: Any) -> str:
    """`her [5]`; of a mention that is no span what it is."""
    span = _span(mention)
    return str(mention) if span is None else f"{' '.join(tokens[span[0] : span[1]])} [{mention_text(mention)}]".strip()


def mention_text(mention: object) -> str:
    """`3`, `3-4`, or `3-4+7`: the tokens of a mention."""
    if isinstance(mention, tuple) and len(mention) == 2 and isinstance(mention[0], int) and isinstance(mention[1], int):
        first, last = mention
        return str(first) if first == last else f"{first}-{last}"
    if isinstance(mention, tuple) and mention and all(isinstance(part, tuple) for part in mention):
        return "+".join(mention_text(part) for part in mention)
    return str(mention)


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Iterator[Mistake]:
    """Every error of each kind. Its line is that of its first mention in the response, or in the key where the response has none."""
    words = words_of(pairs, options)
    prepared, found = find_error_rows(pairs, options)

    def tell(rows: Rows, side: int, line: int | None) -> str:
        one = located_errors(pairs, prepared, [rows])[0]
        return entities_text(one.response if side else one.key, words, line)

    columns = [
        (str(chains.file), chains.lines[rows].tolist(), chains.document[rows].tolist(), chains.documents)
        for chains, rows in ((pairs.key, prepared.key_rows), (pairs.response, prepared.response_rows))
    ]
    for kind, errors in found.items():
        edits = (((kind,), put(None)),)
        for rows in errors:
            file, lines, of, names = columns[bool(rows[1])]
            first = (rows[1] or rows[0])[0]
            line = None if lines[first] == UNKNOWN else lines[first]
            ours, theirs = (partial(tell, rows, side, line) if rows[side] else None for side in (0, 1))
            place = None if line is None else Place(file, line)
            yield Mistake(kind, names[of[first]], ours, theirs, place=place, edits=edits)


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))
