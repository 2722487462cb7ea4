"""What a report shows of coreference: the chains in colours in the text, and which of them were matched.

The colours are the alignment of CEAF-e: an entity of the key and the entity of the response that it was matched with
have one colour. A mention that the other side has, but in an entity that is not the partner, is in the wrong place.

What is wrong with coreference, as mistakes with their places: the errors of `find_errors`.

A kind is mended as a whole (`mended`): a mention that changes its entity makes other errors, so that single errors are not
independent of each other.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice, repeat
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.engine.arrays import (
    F64,
    I64,
    Mask,
    assign,
    distinct,
    expand,
    number,
    offsets_of,
    sort_order,
    sum_by_key,
    weighted_counts,
)
from tallystick.errors import MetricError, Place
from tallystick.files.writing import JsonText, to_json
from tallystick.frozen import frozen
from tallystick.results.documents import DEEPEST, Pack
from tallystick.results.explanation import Explained, Explanation, InOrder, Level, Plain, places_in
from tallystick.results.mistakes import Made, Many, Mistake, put
from tallystick.results.report import Parts
from tallystick.show.drawings import MISSED, PART, RIGHT, SPURIOUS, Drawing, Mark, TextDrawing
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, KeptTexts, MendedChains, PairedChains
from tallystick.tasks.coreference.metrics import (
    MATCHING,
    OF_MENTIONS,
    PLAIN,
    CoreferenceOptions,
    Overlaps,
    Prepared,
    Side,
    chosen_metrics,
    match_together,
    prepare,
    results_of,
    score,
    tallies_of,
)

if TYPE_CHECKING:
    from tallystick.results.result import Result
    from tallystick.tasks.coreference.chains import Sentences


def chains_parts(pairs: PairedChains, options: CoreferenceOptions) -> Parts:
    """For each document the text and the matched entities."""
    texts = _texts(pairs, options)
    words = words_of(pairs, options)
    explain = score(pairs, ["ceaf_e"], options)["ceaf_e"].explain_in_order()
    plain = all(side.labels is None and not side.parts for side in (pairs.key, pairs.response))
    drawn: dict[str, list[Drawing]] = {}

    def explain_in_words(documents: Sequence[str]) -> Explained:
        found = explain.together(documents)
        drawn.clear()
        entities = _entities(found) if plain else None
        if entities is None:
            trees = {k: with_words(found.tree(k), words, name) for k, name in enumerate(documents)}
            drawings = {
                name: chains_drawing(found.tree(k), texts[name]) for k, name in enumerate(documents) if name in texts
            }
        else:
            found = columns_with_words(found, entities, words, documents)
            drawings = {
                name: draw_chains(ones, texts[name], plain)
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

    return Parts(
        explain=in_order, draw=draw, pack=chains_pack(pairs, options), main="conll",
        alignment="Entities, as CEAF-e matches them",
    )  # fmt: skip


def _texts(pairs: PairedChains, options: CoreferenceOptions) -> Mapping[str, Sentences]:
    return pairs.key.texts if options.scope == "document" else {}


def words_of(pairs: PairedChains, options: CoreferenceOptions) -> Words:
    """What a mention of a document says; nothing where the words were not kept."""
    texts = _texts(pairs, options)

    @cache
    def tokens(document: str) -> list[str]:
        return list(chain.from_iterable(texts.get(document, ())))

    return tokens


TITLE = "Chains in the text"
NOTE = (
    "One colour and number is one pair of matched entities; k1, r1, … are entities without a partner. "
    "Rest on a mention to see its chain. ≠ is a mention that the other side has in another entity."
)


def chains_pack(pairs: PairedChains, options: CoreferenceOptions) -> Pack | None:
    """Documents in columns, of which the page makes the tree and the drawing that `chains_parts` has of them: their words, the sizes of
    the entities of both sides, the first words of their mentions and how many more there are, and which entities CEAF-e matched.

    None where a mention is no plain span, or is the same as one of another extent; and where entities are not numbered as they are met.
    """
    texts = _texts(pairs, options)
    zeros = pairs.key.empty is not None and pairs.response.empty is not None
    plain = all(side.labels is None and not side.parts for side in (pairs.key, pairs.response))
    if not texts or not plain or zeros or options.match != "exact":
        return None
    prepared = pairs.once(prepare, options)
    table = prepared.overlaps
    documents = np.arange(table.documents + 1)
    columns, entities = [], []
    for chains, rows, side in prepared.sides():
        met = np.maximum.accumulate(side.entity)
        if (np.diff(side.document) < 0).any() or (side.entity > np.append(0, met[:-1] + 1)).any():
            return None
        rows = rows[sort_order(side.entity, max(1, side.entities))]
        start, mentions = chains.start[rows], np.searchsorted(side.document, documents)
        entities.append(np.searchsorted(side.homes, documents))
        columns += [(side.sizes, entities[-1]), (start, mentions), (chains.end[rows] - start, mentions)]
    found = table.matched("phi_4")
    home, i, j = table.home[found], table.k[found], table.r[found]
    ends = np.searchsorted(home, documents)
    weight = weighted_counts(home, table.phi_4[found], table.documents)
    # As many nodes as the tree has: entities, and of those that are matched the mentions, of which some are on both sides.
    sizes = table.key.sizes[i] + table.response.sizes[j]
    below = weighted_counts(home, sizes - table.n[found], table.documents)
    columns += [(i - entities[0][home], ends), (j - entities[1][home], ends)]
    children = np.diff(entities[0]) + np.diff(entities[1]) - np.diff(ends)
    fits = (children > 1) & (1 + children + below < DEEPEST)
    places = {name: k for k, name in enumerate(prepared.documents)}
    wide = bool(max(one.max(initial=0) for one, _ in columns) >= 1 << 16)
    numbers = [(one.astype("<u4" if wide else "<u2"), at.tolist()) for one, at in columns]
    same = to_json({"title": TITLE, "note": NOTE, "wide": wide}, indent=None).removesuffix("}")

    def pack(name: str) -> JsonText | None:
        k = places[name]
        text = _as_lines(texts, name) if fits[k] else None
        if text is None:
            return None
        parts = [one[at[k] : at[k + 1]].tobytes() for one, at in numbers]
        lengths = ",".join(str(len(part)) for part in parts)
        return JsonText(
            f'{{"chains":{same},"text":{to_json(text)},"weight":{round(float(weight[k]), 4)},"lengths":[{lengths}],'
            f'"columns":"{b64encode(b"".join(parts)).decode()}"}}}}'
        )

    return lambda names: [pack(name) for name in names]


SPACES = "\t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space but for blanks and newlines."""


def _as_lines(texts: Mapping[str, Sentences], name: str) -> str | None:
    """A text with a sentence in each line, and blanks between the words; None if that would not say what the words are."""
    if name not in texts:
        return None
    if isinstance(texts, KeptTexts):
        text = texts.lines(name)
    else:
        sentences = texts[name]
        text = "\n".join(map(" ".join, sentences))
        words = sum(map(len, sentences))
        if not all(map(all, sentences)) or not all(sentences) or text.count(" ") + text.count("\n") != words - 1:
            return None
    return text if text and not any(space in text for space in SPACES) else None


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


def draw_chains(chains: Sequence[Chain], sentences: Sentences, plain: bool = False) -> TextDrawing:
    """The same from the entities of a document; `plain` if each mention is a first and a last token."""
    rows: tuple[list[Any], list[Any]] = ([], [])
    alone = [0, 0]
    for k, (matched, ours, theirs, found) in enumerate(chains):
        for side, mentions in enumerate((ours, theirs)):
            if not mentions:
                continue
            alone[side] += not matched
            label = str(k + 1) if matched else f"{'kr'[side]}{alone[side]}"
            # Chains of both sides that were not matched never share a group.
            group = k if matched else 10_000 + 2 * k + side
            ends = mentions if plain else [(span[0], span[1] - 1) if (span := _span(one)) else None for one in mentions]
            rows[side].append((label, group, found, mentions, ends))
    others = [set(chain.from_iterable(row[3] for row in rows[side])) for side in (1, 0)]
    new = tuple.__new__  # there are many, and a named tuple takes its time
    ours, theirs = (
        [
            new(Mark, (at[0], at[1] + 1, label, RIGHT if one in found else PART if one in there else lost, group))
            for label, group, found, mentions, ends in rows[side]
            for one, at in zip(mentions, ends, strict=True)
            if at
        ]
        for side, (there, lost) in enumerate(zip(others, (MISSED, SPURIOUS), strict=True))
    )
    return TextDrawing(
        TITLE, sentences, ours, theirs, coloured=True, note=NOTE,
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
    shared: list[set[Any]] = [set() for _ in range(entities.pairs)]
    for lower in entities.below:
        for home, mention in zip(lower.homes[: lower.pairs], lower.reference, strict=False):
            shared[home].add(mention)
    out: list[list[Chain]] = [[] for _ in range(documents)]
    rows = zip(entities.homes, entities.reference, entities.predicted, chain(shared, repeat(())), strict=False)
    for k, (document, reference, predicted, both) in enumerate(rows):
        out[document].append((k < entities.pairs, reference or (), predicted or (), both))
    return out


def columns_with_words(found: Explained, entities: Level, words: Words, documents: Sequence[str]) -> Explained:
    """As `with_words`, for many documents in columns, of mentions that are a first and a last token."""

    def say(entity: Any, tokens: Sequence[str]) -> Any:
        return None if entity is None else [Plain(_said_pair(tokens, *mention)) for mention in entity]

    tokens = [words(document) for document in documents]
    lower = []
    for one in entities.below:
        of = [tokens[entities.homes[home]] for home in one.homes]
        ours = [
            None if value is None else Plain(_said_pair(some, *value))
            for value, some in zip(one.reference, of, strict=True)
        ]
        theirs = [
            mine if value == other else None if value is None else Plain(_said_pair(some, *value))
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


def find_mistakes(pairs: PairedChains, options: CoreferenceOptions) -> Many:
    """Every error of each kind. Its line is that of its first mention in the response, or in the key where the response has none."""
    words = words_of(pairs, options)
    prepared, found = find_error_rows(pairs, options)

    def tell(rows: Rows, side: int, line: int | None) -> str:
        one = located_errors(pairs, prepared, [rows])[0]
        return entities_text(one.response if side else one.key, words, line)

    def made(kind: str, errors: ErrorRows) -> Made:
        of_response = len(errors.response[1]) > 0
        chains, chosen, _ = list(prepared.sides())[of_response]
        offsets, rows = errors.response if of_response else errors.key
        first = chosen[rows[offsets[:-1]]]
        lines, documents = chains.lines[first], chains.document[first]
        edits = (((kind,), put(None)),)

        @cache
        def make(k: int) -> Mistake:
            line = None if lines[k] == UNKNOWN else int(lines[k])
            both = errors[k]
            ours, theirs = (partial(tell, both, side, line) if both[side] else None for side in (0, 1))
            place = None if line is None else Place(str(chains.file), line)
            return Mistake(kind, chains.documents[documents[k]], ours, theirs, place=place, edits=edits)

        names = frozenset(chains.documents[k] for k in distinct(documents).tolist())
        return Made(len(errors), names, make)

    return Many({kind: made(kind, errors) for kind, errors in found.items()})


def kinds_of(mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    """The kinds that some mistakes are of."""
    return tuple(mistakes.kinds if isinstance(mistakes, Many) else dict.fromkeys(one.kind for one in mistakes))


def mended_chains(corpus: Any, mistakes: Sequence[Mistake]) -> MendedChains:
    """The corpus without these kinds of error."""
    return MendedChains(corpus, kinds_of(mistakes))


# What went wrong, in the terms of the Berkeley Coreference Analyser (Kummerfeld & Klein 2013).
#
# A mention is *twinless* if the other side does not have it. Four steps, each on what the ones before left over:
#
#     span error          a twinless response mention and a twinless key mention that share a token, paired 1:1 so that
#                         the sum of 2 · shared / (length + length) is the largest; from here on each is the other's twin
#     missing entity      a key entity without any twin        extra entity     a response entity without any twin
#     missing mention     any other twinless key mention       extra mention    any other twinless response mention
#     divided entity      a key entity whose twins lie in two or more response entities
#     conflated entity    a response entity whose twins lie in two or more key entities
#
# So every twinless mention belongs to exactly one error of the first five kinds, a mention in the wrong entity makes a
# divided and a conflated one, and two equal sides have no error. The analyser of 2013 also asks span errors for a common
# head, which columns do not have, and counts each part that is split off; here an entity is divided once, in so many parts.
# A discontinuous mention counts as all tokens from its first to its last. Mentions that are opaque Python values have
# no tokens, so no span errors.


@frozen
class Located:
    """A mention in its file: its document, its span (or parts, or value), its line, its entity's name."""

    document: str
    mention: object
    line: int | None
    entity: str


@frozen
class Example:
    """One error: the mentions that it is about, as the key and as the response have them."""

    key: tuple[Located, ...]
    response: tuple[Located, ...]


Rows = tuple[tuple[int, ...], tuple[int, ...]]
"""The rows of the key and of the response that one error is about."""
Groups = tuple[I64, I64]
"""Groups of rows: where each begins, and where the last ends; and the rows."""
NO_ROWS = np.zeros(0, np.int64)


class ErrorRows(Sequence[Rows]):
    """The errors of one kind, as groups of rows of one side, or of both."""

    def __init__(self, key: Groups | None, response: Groups | None) -> None:
        none = np.zeros(len((key or response or (NO_ROWS,))[0]), np.int64), NO_ROWS
        self.key, self.response = key or none, response or none

    def __len__(self) -> int:
        return len(self.key[0]) - 1

    def __getitem__(self, at: Any) -> Any:
        k = range(len(self))[at]
        return tuple(tuple(rows[begin[k] : begin[k + 1]].tolist()) for begin, rows in (self.key, self.response))


def find_errors(pairs: PairedChains, options: CoreferenceOptions = PLAIN) -> dict[str, list[Example]]:
    """The errors of each of the seven kinds, in the order of `KINDS`."""
    prepared, found = find_error_rows(pairs, options)
    return {kind: located_errors(pairs, prepared, rows) for kind, rows in found.items()}


def find_error_rows(pairs: PairedChains, options: CoreferenceOptions) -> tuple[Prepared, dict[str, ErrorRows]]:
    """The same as rows of both sides."""
    prepared = pairs.once(prepare, options)
    key, response = prepared.overlaps.key, prepared.overlaps.response
    (i, j), (span_i, span_j) = pairs.once(find_twins, options)
    i, j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    missing, missing_entities = _twinless(key, i)
    extra, extra_entities = _twinless(response, j)
    order = np.argsort(i)  # as the mentions of the key are in the text
    i, j = i[order], j[order]
    width = max(1, response.entities)
    cells, _ = sum_by_key(key.entity[i] * width + response.entity[j], key.entities * width, None)
    several = []
    for of, of_cell, entities in (
        (key.entity[i], cells // width, key.entities),
        (response.entity[j], cells % width, response.entities),
    ):
        begin, rows = _members(of, np.bincount(of_cell, minlength=entities) > 1)
        several.append(ErrorRows((begin, i[rows]), (begin, j[rows])))
    kinds = (
        ErrorRows(_each(span_i), _each(span_j)),
        ErrorRows(missing, None), ErrorRows(None, extra),
        ErrorRows(missing_entities, None), ErrorRows(None, extra_entities),
        *several,
    )  # fmt: skip
    return prepared, dict(zip(KINDS, kinds, strict=True))


def _twinless(side: Side, found: I64) -> tuple[Groups, Groups]:
    """The rows without a twin whose entity has one, each alone; and those of each entity without any."""
    left, lost = np.flatnonzero(_left(len(side.entity), found)), _lost(side, found)
    return _each(left[~lost[side.entity[left]]]), _members(side.entity, lost)


def _each(rows: I64) -> Groups:
    """Every row alone."""
    return np.arange(len(rows) + 1), rows


def _members(of: I64, entities: Mask) -> Groups:
    """The rows of some entities, in order."""
    rows = np.flatnonzero(entities[of])
    counts = np.bincount(of[rows], minlength=len(entities))[entities]
    return offsets_of(counts), rows[sort_order(of[rows], max(1, len(entities)))]


def find_twins(pairs: PairedChains, options: CoreferenceOptions) -> tuple[tuple[I64, I64], tuple[I64, I64]]:
    """The rows of both sides that are one mention, and those that differ in their span only."""
    prepared = pairs.once(prepare, options)
    table = prepared.overlaps
    i, j = table.twins
    spans = _pair_spans(pairs, prepared, _left(len(table.key.entity), i), _left(len(table.response.entity), j))
    return (i, j), spans


def _left(rows: int, found: I64) -> Mask:
    """The rows without a twin."""
    left = np.ones(rows, np.bool_)
    left[found] = False
    return left


def _pair_spans(pairs: PairedChains, prepared: Prepared, key_left: Mask, response_left: Mask) -> tuple[I64, I64]:
    """Twinless mentions of both sides that overlap, 1:1, as rows of the two sides."""
    if pairs.key.labels is not None or pairs.response.labels is not None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    k, r = np.flatnonzero(key_left), np.flatnonzero(response_left)
    # offsets of the document they are in, whatever the scope
    (document, start, end), (their_document, their_start, their_end) = (
        (chains.document[of], chains.start[of], chains.end[of])
        for chains, of in ((pairs.key, prepared.key_rows[k]), (pairs.response, prepared.response_rows[r]))
    )
    a, b = overlapping(document, start, end, their_document, their_start, their_end)
    shared = np.minimum(end[a], their_end[b]) - np.maximum(start[a], their_start[b]) + 1
    lengths = end[a] - start[a] + their_end[b] - their_start[b] + 2
    weight: F64 = 2 * shared / lengths
    chosen = np.flatnonzero(assign(a, b, weight, len(k), len(r)))
    chosen = chosen[np.argsort(a[chosen])]
    return k[a[chosen]], r[b[chosen]]


def overlapping(
    document_a: I64, start_a: I64, end_a: I64, document_b: I64, start_b: I64, end_b: I64
) -> tuple[I64, I64]:
    """All (a, b) of one document that share a token.

    Of two overlapping spans either a begins inside b, or b begins inside a and after a's beginning: two searches
    in sorted starts, and no pair comes twice.
    """
    stride = 2 + max(int(end.max(initial=0)) for end in (end_a, end_b))
    found = []
    for (outer_d, outer_s, outer_e), (inner_d, inner_s), after in (
        ((document_b, start_b, end_b), (document_a, start_a), 0),
        ((document_a, start_a, end_a), (document_b, start_b), 1),
    ):
        keys = inner_d * stride + inner_s
        order = sort_order(keys, int(keys.max(initial=0)) + 1)
        low = np.searchsorted(keys[order], outer_d * stride + outer_s + after, side="left")
        high = np.searchsorted(keys[order], outer_d * stride + outer_e, side="right")
        counts = np.maximum(high - low, 0)
        outer = np.repeat(np.arange(len(outer_s), dtype=np.int64), counts)
        found.append((outer, order[expand(low, counts)]))
    (b, a), (a_2, b_2) = found
    return np.concatenate((a, a_2)), np.concatenate((b, b_2))


def located_errors(pairs: PairedChains, prepared: Prepared, found: Sequence[Rows]) -> list[Example]:
    """Rows of the two sides as mentions that a person can look up."""
    ours, theirs = zip(*found, strict=True) if found else ((), ())
    sides = _located(pairs.key, prepared.key_rows, ours), _located(pairs.response, prepared.response_rows, theirs)
    return list(map(Example, *sides))


def _located(chains: Chains, of: I64, found: Sequence[tuple[int, ...]]) -> list[tuple[Located, ...]]:
    """The mentions of several errors."""
    rows = of[np.fromiter(chain.from_iterable(found), np.int64)]
    columns = (
        chains.document[rows].tolist(),
        chains.labels_of(rows),
        chains.lines[rows].tolist(),
        chains.entity[rows].tolist(),
    )
    every = (
        Located(chains.documents[document], label, None if line == UNKNOWN else line, chains.entity_names[entity])
        for document, label, line, entity in zip(*columns, strict=True)
    )
    return [tuple(islice(every, len(some))) for some in found]


# What each kind of error costs: the figures if the response did not have it.
#
# One kind is repaired alone, in the whole corpus, and the figures computed again from the table of overlaps:
#
#     span error          the mention takes the key's span
#     missing mention     it joins the response entity that holds most of its key entity
#     extra mention       it goes
#     missing entity      it comes            extra entity    it goes
#     divided entity      its mentions come together in the response entity that holds most of them
#     conflated entity    what belongs to other key entities than most of it becomes entities of their own
#
# The kinds and the twins are those of `find_errors`. A repair can cost other errors (a mention that changes
# its entity makes a divided and a conflated one), so gains do not add up.

KINDS = (
    "span error", "missing mention", "extra mention", "missing entity", "extra entity", "divided entity", "conflated entity",
)  # fmt: skip


@frozen(eq=False)
class Repaired:
    """The response without a kind of error, and the row of the key that each of its mentions is; -1 for none."""

    side: Side
    twin: I64

    def only(self, rows: Mask) -> Repaired:
        """Some of the mentions; entities keep their numbers."""
        one = self.side
        side = Side(one.document[rows], one.entity[rows], one.mention[rows], one.entities)
        return Repaired(side, self.twin[rows])

    def added(self, key: Side, rows: Mask, entity: I64, entities: int) -> Repaired:
        """With some mentions of the key in these entities, of which there are so many then."""
        side = self.side.with_mentions(key.document[rows], entity, key.mention[rows], entities)
        return Repaired(side, np.concatenate((self.twin, np.flatnonzero(rows))))


ALL = "all"


def repaired_sides(pairs: PairedChains, options: CoreferenceOptions) -> dict[str, Repaired]:
    """The response without each kind of error, and without any: then it is the key."""
    table = pairs.once(prepare, options).overlaps
    key, response = table.key, table.response
    (i, j), (span_i, span_j) = pairs.once(find_twins, options)
    all_i, all_j = np.concatenate((i, span_i)), np.concatenate((j, span_j))
    left_key, left_response = _left(len(key.entity), all_i), _left(len(response.entity), all_j)
    lost_key = _lost(key, all_i)[key.entity]
    lost_response = _lost(response, all_j)[response.entity]
    home = _most(key.entity[all_i], response.entity[all_j], key.entities)
    twin = np.full(len(response.entity), -1, np.int64)
    twin[j] = i
    now = Repaired(response, twin)

    spans, same = response.mention.copy(), twin.copy()
    spans[span_j], same[span_j] = key.mention[span_i], span_i
    missing = left_key & ~lost_key
    divided, conflated = response.entity.copy(), response.entity.copy()
    divided[all_j] = home[key.entity[all_i]]
    kept = _most(response.entity[all_j], key.entity[all_i], response.entities)
    other = key.entity[all_i] != kept[response.entity[all_j]]
    parts, found = number(
        response.entity[all_j][other] * max(1, key.entities) + key.entity[all_i][other],
        max(1, response.entities * key.entities),
    )
    conflated[all_j[other]] = response.entities + parts
    return {
        "span error": Repaired(replace(response, mention=spans), same),
        "missing mention": now.added(key, missing, home[key.entity[missing]], response.entities),
        "extra mention": now.only(~(left_response & ~lost_response)),
        "missing entity": now.added(
            key, lost_key, response.entities + key.entity[lost_key], response.entities + key.entities
        ),
        "extra entity": now.only(~lost_response),
        "divided entity": Repaired(replace(response, entity=divided), twin),
        "conflated entity": Repaired(replace(response, entity=conflated, entities=response.entities + found), twin),
        ALL: Repaired(key, np.arange(len(key.entity))),
    }


def score_mended(
    pairs: PairedChains, kinds: Collection[str], metrics: Sequence[str], options: CoreferenceOptions
) -> dict[str, Result]:
    """Every metric of entities, with one kind of error repaired, or all of them."""
    names = chosen_metrics(_of_entities(metrics))
    rows = pairs.once(mended_tallies, (options, names))
    return results_of(pairs.once(prepare, options), rows[next(iter(kinds)) if len(kinds) == 1 else ALL], names)


def mended(pairs: PairedChains, kinds: Collection[str], options: CoreferenceOptions) -> Prepared:
    """Both sides as columns, with one kind of error repaired, or all of them."""
    prepared, sides = pairs.once(prepare, options), pairs.once(repaired_sides, options)
    one = sides[next(iter(kinds)) if len(kinds) == 1 else ALL]
    there = np.flatnonzero(one.twin >= 0)
    table = Overlaps(prepared.overlaps.key, one.side, prepared.overlaps.documents, (one.twin[there], there))
    return replace(prepared, overlaps=table, repeated={})


def mended_tallies(pairs: PairedChains, asked: tuple[CoreferenceOptions, tuple[str, ...]]) -> dict[str, dict[str, F64]]:
    """By kind the rows of some metrics with that kind of error repaired."""
    options, metrics = asked
    corpora = {kind: mended(pairs, (kind,), options) for kind in pairs.once(repaired_sides, options)}
    for phi in {MATCHING[name] for name in metrics if name in MATCHING}:
        match_together([one.overlaps for one in corpora.values()], phi)  # and not corpus by corpus
    return {kind: tallies_of(one, metrics) for kind, one in corpora.items()}


def _of_entities(metrics: Sequence[str]) -> tuple[str, ...]:
    for name in metrics:
        if name in OF_MENTIONS:
            raise MetricError(f"{name} looks at mentions as they were read, and has no figure for a mended response")
    return tuple(metrics)


def _lost(side: Side, found: I64) -> Mask:
    """The entities of which no mention was found."""
    return np.asarray(np.bincount(side.entity[found], minlength=side.entities) == 0)


def _most(of: I64, to: I64, entities: int) -> I64:
    """For each entity the one of the other side that holds most of its twins, the first of several; -1 without twins."""
    out = np.full(entities, -1, np.int64)
    width = 1 + int(to.max(initial=0))
    cells, n = sum_by_key(of * width + to, entities * width, None)
    order = np.lexsort((cells, -n))[::-1]  # the largest is written last
    out[cells[order] // width] = cells[order] % width
    return out
