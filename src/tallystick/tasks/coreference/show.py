"""What a report shows of coreference: the chains in colours in the text, and which of them were matched.

The colours are the alignment of CEAF-e: an entity of the key and the entity of the response that it was matched with
have one colour. A mention that the other side has, but in an entity that is not the partner, is in the wrong place.

What is wrong with coreference, as mistakes with their places: the errors of `metrics.find_errors`.

A kind is mended as a whole (`metrics.mended`): a mention that changes its entity makes other errors, so that single errors are not
independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tallystick.errors import Place
from tallystick.results.explanation import Explained, Explanation, InOrder, Plain
from tallystick.results.mistakes import Mistake, put
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.tasks.coreference.chains import PairedChains
from tallystick.tasks.coreference.mentions import CoreferenceOptions
from tallystick.tasks.coreference.metrics import MendedChains, find_errors

if TYPE_CHECKING:
    from tallystick.tasks.coreference.chains import PairedChains, Sentences
    from tallystick.tasks.coreference.metrics import Located


def chains_parts(pairs: PairedChains, options: CoreferenceOptions) -> Parts:
    """For each document the text and the matched entities."""
    from tallystick.tasks.coreference.metrics import score

    texts = _texts(pairs, options)
    words = words_of(pairs, options)
    explain = score(pairs, ["ceaf_e"], options)["ceaf_e"].explain_in_order()
    drawn: dict[str, list[Drawing]] = {}

    def explain_in_words(documents: Sequence[str]) -> Explained:
        found = explain.together(documents)
        drawn.clear()
        trees = zip(documents, found.trees(), strict=True)
        drawn.update({name: [chains_drawing(tree, texts[name])] for name, tree in trees if name in texts})
        return Explained(None, {}, {k: with_words(found.tree(k), words, name) for k, name in enumerate(documents)})

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
        return [word for sentence in texts.get(document, ()) for word in sentence]

    def words(document: str, mention: Any) -> str:
        span = _span(mention)
        return "" if span is None else " ".join(tokens(document)[span[0] : span[1]])

    return words


def chains_drawing(tree: Explanation, sentences: Sentences) -> TextDrawing:
    """The text with all mentions of both sides; chains that were matched have one number and one colour."""
    both = [{mention for entity in tree.children for mention in _mentions(entity, side)} for side in (0, 1)]
    marks: tuple[list[Mark], list[Mark]] = ([], [])
    alone = [0, 0]
    for number, entity in enumerate(tree.children):
        found = {node.reference for node in entity.children if node.status == "matched"}
        for side in (0, 1):
            mentions = _mentions(entity, side)
            if not mentions:
                continue
            matched = entity.status == "matched"
            alone[side] += not matched
            label = str(number + 1) if matched else f"{'kr'[side]}{alone[side]}"
            for mention in mentions:
                span = _span(mention)
                if span is None:
                    continue
                status = RIGHT if mention in found else PART if mention in both[1 - side] else (MISSED, SPURIOUS)[side]
                # Chains of both sides that were not matched never share a group.
                group = number if matched else 10_000 + 2 * number + side
                marks[side].append(Mark(*span, label, status, group))
    return TextDrawing(
        "Chains in the text", sentences, *marks, coloured=True,
        note="One colour and number is one pair of matched entities; k1, r1, … are entities without a partner. "
        "Rest on a mention to see its chain. ≠ is a mention that the other side has in another entity.",
    )  # fmt: skip


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


def with_words(tree: Explanation, words: Words, document: str) -> Explanation:
    """The same tree with the words of the mentions before their offsets; of a tree of entities these have numbers."""

    @cache  # a mention stands in its entity and in the document, too
    def mention_in_words(mention: Any) -> Any:
        return mention if _span(mention) is None else Plain(_said(words, document, mention))

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

Words = Callable[[str, Any], str]
"""What a mention of a document says."""
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
        _said(words, one.document, one.mention) + ("" if one.line in (None, line) else f" line {one.line}")
        for one in members[:MENTIONS]
    ]
    return ", ".join([*shown, f"{len(members) - MENTIONS} more"] if len(members) > MENTIONS else shown)


def _said(words: Words, document: str, mention: Any) -> str:
    """`her [5]`; of a mention that is no span what it is."""
    return str(mention) if _span(mention) is None else f"{words(document, mention)} [{mention_text(mention)}]".strip()


def mention_text(mention: object) -> str:
    """`3`, `3-4`, or `3-4+7`: the tokens of a mention."""
    if isinstance(mention, tuple) and len(mention) == 2 and all(isinstance(offset, int) for offset in mention):
        first, last = mention
        return str(first) if first == last else f"{first}-{last}"
    if isinstance(mention, tuple) and mention and all(isinstance(part, tuple) for part in mention):
        return "+".join(mention_text(part) for part in mention)
    return str(mention)


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Iterator[Mistake]:
    """Every error of each kind. Its line is that of its first mention in the response, or in the key where the response has none."""
    words = words_of(pairs, options)
    for kind, found in find_errors(pairs, options).items():
        for one in found:
            chains, first = (pairs.response, one.response[0]) if one.response else (pairs.key, one.key[0])
            ours, theirs = (
                entities_text(side, words, first.line) if side else None for side in (one.key, one.response)
            )
            place = None if first.line is None else Place(str(chains.file), first.line)
            yield Mistake(kind, first.document, ours, theirs, place=place, edits=(((kind,), put(None)),))


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))
