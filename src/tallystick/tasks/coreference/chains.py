"""Coreference chains as columns: one side of a corpus, whatever file or Python object it came from.

A corpus is a table with one row a mention, in the order in which the mentions open:

    document | start | end | entity | line
    ---------+-------+-----+--------+-----
           0 |     3 |   3 |      0 |    5        documents[0] has an entity
           0 |     7 |   8 |      1 |   13        entity_names[1] with the mention
           1 |     0 |   4 |      2 |   40        of tokens 7 to 8, both included

Token offsets run through the whole document, not through a sentence, so that another sentence split
changes nothing. Entities are numbered over the whole corpus, by their first mention: an id belongs to its
document, so that the same id in two documents is two entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tallystick.engine.arrays import number as number_densely
from tallystick.errors import InputError, Place, SidesMismatch, ValueMismatch, counted, some
from tallystick.files.pairing import Missing, Side, by_order, require_allowed, require_as_many
from tallystick.files.words import EMPTY_WORD, no_words, other_word
from tallystick.frozen import frozen

IntArray: TypeAlias = npt.NDArray[np.int64]
Span: TypeAlias = tuple[int, int]
Sentences: TypeAlias = list[list[str]]
T = TypeVar("T")

_PART = re.compile(r"(?:;|(?<=\)))\s*part\s+(\d+)\s*;?$")
UNKNOWN = -1
"""A number that the source does not give: the tokens of a JSONL document, the head of a CoNLL mention."""


@dataclass
class EmptyNodes:
    """The empty nodes of CorefUD's files, zero pronouns among them, in the order of documents and tokens.

    The two sides may have different ones, so that the same token need not have the same offset: `place` says where a node
    stands among the words, which both sides have.
    """

    document: IntArray
    token: IntArray
    place: IntArray
    """Three columns: the words of the document before it, whether it opens a sentence, and n of its id 3.n."""
    sentence: IntArray
    """Counted from 0 in the document."""
    dependencies: list[tuple[str, ...]]
    """What DEPS says, `4:nsubj`, each once."""

    def __len__(self) -> int:
        return len(self.token)

    def take(self, rows: IntArray, document: IntArray) -> EmptyNodes:
        """Some of the nodes, in other documents."""
        chosen = [self.dependencies[row] for row in rows.tolist()]
        return EmptyNodes(document, self.token[rows], self.place[rows], self.sentence[rows], chosen)

    def moved(self, number: IntArray) -> EmptyNodes:
        """The nodes of documents that have a new number, which `number` gives for each old one (or `UNKNOWN`)."""
        document = number[self.document]
        rows = np.argsort(document, kind="stable")
        rows = rows[np.searchsorted(document[rows], 0) :]
        return self.take(rows, document[rows])

    def find(self, document: IntArray, token: IntArray) -> IntArray:
        """For each token of a document the number of the empty node that it is, or `UNKNOWN`."""
        if not len(self):
            return np.full(len(token), UNKNOWN, np.int64)
        stride = 2 + max(int(self.token.max()), int(token.max(initial=0)))
        known, wanted = self.document * stride + self.token, document * stride + token
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[at] == wanted, at, UNKNOWN)


class KeptTexts(Mapping[str, Sentences]):
    """The words of documents, each kept as it is in the file until somebody looks at it: a report has all of them and looks at few."""

    def __init__(self, kept: Mapping[str, bytes]) -> None:
        """Of each document its words, with a newline behind the last one of a sentence, and a blank behind any other."""
        self.kept = kept

    def __getitem__(self, name: str) -> Sentences:
        return [line.split(" ") for line in self.lines(name).split("\n")] if self.kept[name] else []

    def lines(self, name: str) -> str:
        """The text of a document, a sentence in each line."""
        return self.kept[name][:-1].decode()

    def __contains__(self, name: object) -> bool:
        return name in self.kept

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)


@dataclass
class Chains:
    """The mentions and entities of one side of a corpus. Arrays are int64 and have one item for each mention,
    unless said otherwise."""

    documents: list[str]
    """Names, in the order of the file."""
    document: IntArray
    """Index into `documents`."""
    start: IntArray
    """First token, counted from 0 at the beginning of the document."""
    end: IntArray
    """Last token, included."""
    entity: IntArray
    """Number of the entity, dense over the whole corpus, by first mention."""
    tokens: IntArray
    """For each document its number of tokens, or `UNKNOWN`."""
    entity_names: list[str]
    """The id that the source gives to an entity, by number."""
    lines: IntArray
    """The line where the mention opens, or `UNKNOWN` for Python objects."""
    document_lines: IntArray
    """For each document the line where it begins, or `UNKNOWN`."""
    file: str = "<python>"
    """How the source is called in messages."""
    whole: bool = True
    """Whether this is all of the file; what a part lacks may stand in another one."""
    format: str = "python"
    """`conll`, `corefud`, `jsonl` or `python`."""
    head: IntArray | None = None
    """The token that is the head, or `UNKNOWN`; None where the format has no heads."""
    empty: EmptyNodes | None = None
    """The tokens that are no words; None where the format has none."""
    bridging: npt.NDArray[np.bool_] | None = None
    """Whether a mention is the anaphor of a bridging link; None where the format has none."""
    split: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """For each entity that has split antecedents these entities."""
    parts: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    """For each discontinuous mention (by its row) its parts; `start` and `end` are those of the whole."""
    labels: list[Hashable] | None = None
    """The mentions themselves where they came as Python objects; `start` and `end` are then `UNKNOWN`."""
    texts: Mapping[str, Sentences] = field(default_factory=dict)
    """The words of the documents, by name, where the reader was asked to keep them and the file has them."""
    signs: list[int] = field(default_factory=list)
    """For each document a number that stands for its words: equal numbers of one format are equal words. None are known if it is empty."""
    words: Callable[[], Mapping[str, Sequence[str]]] | None = None
    """Finds the words of the documents, by name, without empty nodes; None where the source has none."""
    warnings: list[str] = field(default_factory=list)
    """What was understood but left out, in words, with count and first place."""
    named: bool = True
    """Whether the documents have names; else `documents` are their numbers, and they are paired by order."""
    alone: InputError | None = None
    """What is wrong if the key is this file too: nothing in it was predicted."""

    def __len__(self) -> int:
        """The number of mentions."""
        return len(self.entity)

    @property
    def entities(self) -> int:
        """The number of entities."""
        return len(self.entity_names)

    def empty_in_documents(self) -> IntArray:
        """How many empty nodes each document has."""
        nodes = np.zeros(0, np.int64) if self.empty is None else self.empty.document
        return np.bincount(nodes, minlength=len(self.documents))

    def label(self, row: int) -> Hashable:
        """What makes a mention the same as another one in its document, as a Python value."""
        return self.labels_of(np.array([row]))[0]

    def labels_of(self, rows: IntArray) -> list[Hashable]:
        """The same of several mentions."""
        if self.labels is not None:
            return [self.labels[row] for row in rows.tolist()]
        spans: list[Hashable] = list(zip(self.start[rows].tolist(), self.end[rows].tolist(), strict=True))
        return (
            [self.parts.get(row) or span for row, span in zip(rows.tolist(), spans, strict=True)]
            if self.parts
            else spans
        )

    def select(self, rows: npt.NDArray[np.bool_] | IntArray, document: IntArray | None = None) -> Chains:
        """Some of the mentions, entities numbered anew. `document` replaces the documents of those rows."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64)
        entity, kept = number_by_first(self.entity[chosen])
        new_row = {int(old): new for new, old in enumerate(chosen)} if self.parts else {}
        return replace(
            self,
            document=self.document[chosen] if document is None else document,
            start=self.start[chosen],
            end=self.end[chosen],
            entity=entity,
            entity_names=[self.entity_names[i] for i in kept.tolist()],
            lines=self.lines[chosen],
            head=None if self.head is None else self.head[chosen],
            bridging=None if self.bridging is None else self.bridging[chosen],
            split=renumbered(self.split, kept),
            parts={new_row[row]: parts for row, parts in self.parts.items() if row in new_row},
            labels=None if self.labels is None else [self.labels[i] for i in chosen.tolist()],
            warnings=list(self.warnings),
        )


@frozen
class RepeatedMention:
    """A mention that stands more than once on one side of a document."""

    document: str
    mention: Hashable
    """`(start, end)`, the parts of a discontinuous mention, or the Python object."""
    row: int
    first_line: int
    line: int
    first_entity: str
    entity: str
    file: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line != UNKNOWN else self.file
        first = f" (line {self.first_line})" if self.first_line != UNKNOWN else ""
        clusters = (
            f'twice in entity "{self.entity}"{first}'
            if self.entity == self.first_entity
            else f'in entity "{self.entity}" and before that in "{self.first_entity}"{first}'
        )
        return f"{where}: mention {self.mention} of document {self.document} occurs {clusters}"


def document_key(name: str) -> str:
    """What makes two names the same document: `(x);` is `x`, and `(x); part 000` is `x; part 0`."""
    part = _PART.search(name)
    stem = (name[: part.start()] if part else name).strip().rstrip(";").rstrip()
    if stem.startswith("(") and stem.endswith(")"):
        stem = stem[1:-1]
    return f"{stem}; part {int(part[1])}" if part else stem


def number_by_first(values: IntArray) -> tuple[IntArray, IntArray]:
    """Number values, which are not below 0, densely, in the order of their first appearance: (number for each, value of each
    number).
    """
    inverse, count = number_densely(values, int(values.max(initial=-1)) + 1)
    first = np.empty(count, np.int64)
    first[inverse[::-1]] = np.arange(len(values))[::-1]  # of several for one place the last is kept
    order = np.argsort(first)
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    return rank[inverse], values[first[order]]


def renumbered(split: Mapping[int, tuple[int, ...]], kept: IntArray) -> dict[int, tuple[int, ...]]:
    """Split antecedents among entities that have new numbers; `kept` has the old one of each."""
    number = {old: new for new, old in enumerate(kept.tolist())} if split else {}
    found = {
        number[entity]: tuple(number[one] for one in antecedents if one in number)
        for entity, antecedents in split.items()
        if entity in number
    }
    return {entity: antecedents for entity, antecedents in found.items() if antecedents}


def mention_codes(*sides: Chains) -> tuple[list[IntArray], int]:
    """One integer for each mention, equal exactly where two mentions of a document are the same mention.

    The codes are common to all the sides given, and smaller than the limit that is returned with them. A
    span is `start * (T + 1) + end` with T the largest offset anywhere; what is not a plain span (a
    discontinuous mention, a Python object) is numbered by a dictionary that all sides share.
    """
    numbers: dict[Hashable, int] = {}
    if any(side.labels is not None for side in sides):
        codes = [
            np.fromiter(
                (numbers.setdefault(label, len(numbers)) for label in side.labels_of(np.arange(len(side)))),
                np.int64,
                len(side),
            )
            for side in sides
        ]
        return codes, max(len(numbers), 1)
    stride = 1 + max((int(side.end.max()) for side in sides if len(side)), default=0)
    codes = []
    for side in sides:
        code = side.start * stride + side.end
        for row, parts in side.parts.items():
            code[row] = stride * stride + numbers.setdefault(parts, len(numbers))
        codes.append(code)
    return codes, stride * stride + len(numbers)


def repeated_mentions(chains: Chains) -> list[RepeatedMention]:
    """The mentions that stand more than once in a document, each against its first occurrence, in file
    order.
    """
    (code,), limit = mention_codes(chains)
    identity = number_pairs(chains.document, code, limit)
    order = np.argsort(identity, kind="stable")
    ordered = identity[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if not len(again):
        return []
    first = order[np.searchsorted(ordered, ordered[again])]
    found = []
    for row, before in sorted(zip(order[again].tolist(), first.tolist(), strict=True)):
        found.append(
            RepeatedMention(
                document=chains.documents[int(chains.document[row])],
                mention=chains.label(row),
                row=row,
                first_line=int(chains.lines[before]),
                line=int(chains.lines[row]),
                first_entity=chains.entity_names[int(chains.entity[before])],
                entity=chains.entity_names[int(chains.entity[row])],
                file=chains.file,
            )
        )
    return found


def number_pairs(high: IntArray, low: IntArray, limit: int) -> IntArray:
    """One integer for each pair of numbers, `low` being smaller than `limit`."""
    if len(high) and (int(high.max()) + 1) * limit >= 1 << 63:
        low = np.unique(low, return_inverse=True)[1].astype(np.int64)
        limit = len(low)
    return high * limit + low


Clusters: TypeAlias = Iterable[Iterable[Hashable]]


def chains_from_clusters(documents: Sequence[Clusters] | Mapping[str, Clusters]) -> Chains:
    """Chains from Python values: documents, each a list of clusters, each a list or set of hashable mentions.

    Documents without names are numbered from "0". A mention that is a list becomes a tuple, so that `[3,
    5]` as read from JSON equals `(3, 5)`, which is also the same mention as tokens 3 to 5 of a file.
    """
    listed = documents.items() if isinstance(documents, Mapping) else ((str(i), d) for i, d in enumerate(documents))
    named = {name: _items(clusters, f"document {name}", "clusters") for name, clusters in listed}
    document: list[int] = []
    entity: list[int] = []
    labels: list[Hashable] = []
    names: list[str] = []
    empty: list[str] = []
    for number, (name, clusters) in enumerate(named.items()):
        for index, cluster in enumerate(clusters):
            where = f"document {name}, cluster {index}"
            members = [_hashable(mention, where) for mention in _items(cluster, where, "mentions")]
            if not members:
                empty.append(where)
                continue
            labels += members
            document += [number] * len(members)
            entity += [len(names)] * len(members)
            names.append(str(index))
    _refuse_spans_as_clusters(named)
    nothing = np.full(len(labels), UNKNOWN, np.int64)
    unknown = np.full(len(named), UNKNOWN, np.int64)
    return Chains(
        documents=[str(name) for name in named],
        document=np.array(document, np.int64),
        start=nothing,
        end=nothing.copy(),
        entity=np.array(entity, np.int64),
        tokens=unknown,
        entity_names=names,
        lines=nothing.copy(),
        document_lines=unknown.copy(),
        labels=labels,
        warnings=empty_cluster_warnings(empty),
    )


def _refuse_spans_as_clusters(documents: Mapping[str, list[object]]) -> None:
    """Clusters that all are two numbers, in an order, are spans, given where clusters were expected: a level of lists is missing."""
    clusters = [(name, cluster) for name, found in documents.items() for cluster in found]
    if clusters and all(
        isinstance(one, list | tuple) and len(one) == 2 and all(type(end) is int for end in one) for _, one in clusters
    ):
        raise ValueMismatch(
            f"document {clusters[0][0]} has the cluster {clusters[0][1]!r:.40}, and all others are two numbers as well. If these are mentions "
            "(start, end), one document was given where documents are expected: give [clusters]. If they are clusters of two mentions, give "
            "them as sets, or the mentions as texts"
        )


def empty_cluster_warnings(places: list[str]) -> list[str]:
    """What to say about clusters without mentions, which are no entities."""
    if not places:
        return []
    return [f"{places[0]}: {counted(len(places), 'cluster')} without a mention left out"]


def _items(value: object, where: str, what: str) -> list[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueMismatch(f"{where}: expected a list or set of {what}, found {value!r:.60}")
    return list(value)


def _hashable(mention: object, where: str) -> Hashable:
    label = tuple(_hashable(item, where) for item in mention) if isinstance(mention, list) else mention
    try:
        hash(label)
    except TypeError:
        raise ValueMismatch(
            f"{where}: expected a hashable mention such as (start, end), found {mention!r:.60}"
        ) from None
    return label


# Laying a response against its key: the same documents, the same tokens, one code for one mention.
#
# A document in only one of the two files, or with other tokens, cannot be scored honestly and
# is an error. The reference scorer is not so strict; `lenient` does what it does and says so in the
# warnings.


@dataclass
class PairedChains:
    """Key and response over the same documents. The rows of both sides are sorted by document."""

    documents: list[str]
    key: Chains
    response: Chains
    key_mention: IntArray
    """For each row of the key the code of its mention: equal codes in one document are one mention."""
    response_mention: IntArray
    """The same for the response; the codes are common to both sides."""
    codes: int
    """All codes are smaller than this."""
    warnings: list[str]
    """Those of both files and those of laying them together."""

    @cached_property
    def _known(self) -> dict[Any, Any]:
        return {}

    def once(self, find: Callable[[PairedChains, Any], T], options: Any) -> T:
        """What is found out about both sides under these options, once."""
        if (find, options) not in self._known:
            self._known[find, options] = find(self, options)
        found: T = self._known[find, options]
        return found


@frozen
class MendedChains:
    """Chains with some kinds of error mended."""

    pairs: PairedChains
    kinds: tuple[str, ...]


def pair(
    key: Chains,
    response: Chains,
    *,
    lenient: bool = False,
    absent: Missing | None = None,
    ignore_tokens: bool = False,
) -> PairedChains:
    """Align two sides by the names of their documents, in the order of the key.

    Lenient, as the reference scorer: a document only in the key counts as missed, one only in the
    response is ignored, of two documents with one name the last counts, and tokens may differ.
    Each is a warning. `ignore_tokens` compares only the numbers of tokens. `absent` allows documents on one side only without the rest, and decides about them where it asks for
    something.
    """
    if response.alone is not None and response.file == key.file:
        raise response.alone
    warnings: list[str] = []
    if key.named and response.named:
        key, key_names = _distinct(key, lenient, warnings)
        response, response_names = _distinct(response, lenient, warnings)
        if key.format != response.format:
            key_names, response_names = _common_names(key_names, response_names)
        partner = _partners(key, response, key_names, response_names, lenient, absent, warnings)
    else:
        require_as_many(key.file, len(key.documents), response.file, len(response.documents), absent)
        partner = np.arange(len(key.documents))
        warnings += by_order(_side(key, key.documents), _side(response, response.documents))
        ours = dict(zip(response.documents, key.documents, strict=True))
        response = replace(response, texts={ours[name]: text for name, text in response.texts.items()})
    _compare_sizes(key, response, partner, lenient, warnings)
    if not ignore_tokens:
        _compare_words(key, response, partner, lenient, warnings)
    response = _rearranged(response, partner, key.documents)
    key, response = _count_alike(key, response)
    (key_mention, response_mention), codes = mention_codes(key, response)
    return PairedChains(
        documents=key.documents,
        key=key,
        response=response,
        key_mention=key_mention,
        response_mention=response_mention,
        codes=codes,
        warnings=[*key.warnings, *response.warnings, *warnings],
    )


def _side(side: Chains, names: list[str]) -> Side[str]:
    places = [Place(side.file, int(line) if line != UNKNOWN else None) for line in side.document_lines]
    return Side(side.file, side.documents, places, side.named, keys=names)


def _distinct(side: Chains, lenient: bool, warnings: list[str]) -> tuple[Chains, list[str]]:
    """The side without documents whose name comes again later, and the names to compare."""
    names = [document_key(name) for name in side.documents]
    last = {name: i for i, name in enumerate(names)}
    if len(last) == len(names):
        return side, names
    repeated = _side(side, names).repeated()
    if not lenient:
        _side(side, names).require_distinct()
    warnings.append(
        f"{side.file}: {counted(len(names) - len(last), 'document')} ignored because the name comes again: "
        f"{some(dict.fromkeys(side.documents[i] for _, i in repeated))}"
    )
    kept = sorted(last.values())
    number = np.full(len(names), UNKNOWN, np.int64)
    number[kept] = np.arange(len(kept))
    document = number[side.document]
    rows = document != UNKNOWN
    chosen = replace(
        side.select(rows, document[rows]),
        documents=[side.documents[i] for i in kept],
        tokens=side.tokens[kept],
        document_lines=side.document_lines[kept],
        empty=side.empty and side.empty.moved(number),
        signs=[side.signs[i] for i in kept] if side.signs else [],
    )
    return chosen, [names[i] for i in kept]


def _common_names(key: list[str], response: list[str]) -> tuple[list[str], list[str]]:
    """Neural systems call part 3 of document x `x_3`: where only that name is known to the other side,
    use it.
    """

    def renamed(names: list[str], others: set[str]) -> list[str]:
        found = []
        for name in names:
            stem, part, number = name.rpartition("; part ")
            other = f"{stem}_{number}" if part else name
            found.append(other if name not in others and other in others else name)
        return found

    return renamed(key, set(response)), renamed(response, set(key))


def _partners(
    key: Chains,
    response: Chains,
    key_names: list[str],
    response_names: list[str],
    lenient: bool,
    absent: Missing | None,
    warnings: list[str],
) -> IntArray:
    """For each document of the key the number of the response's, or `UNKNOWN`."""
    number = {name: i for i, name in enumerate(response_names)}
    partner = np.array([number.get(name, UNKNOWN) for name in key_names], np.int64)
    only_key = [key.documents[i] for i in np.flatnonzero(partner == UNKNOWN).tolist()]
    known = set(key_names)
    only_response = [response.documents[i] for i, name in enumerate(response_names) if name not in known]
    found = [
        (side.file, f"{counted(len(names), 'document')} only in the {role}: {some(names)}", fate)
        for side, role, names, fate in (
            (key, "key", only_key, "counted as missed"),
            (response, "response", only_response, "ignored"),
        )
        if names
    ]
    asked = absent is not None and absent.asked
    # what a shard lacks may stand in another one; what was asked for goes before what the reference scorer does
    if found and (asked or not lenient or not key.whole):
        also = "--compat reference counts what the response lacks as missed, and ignores what only the response has"
        if asked:
            also = f"leave --missing out: {also}" if lenient else ""
        none_paired = len(only_key) == len(key_names)
        require_allowed(key.file, response.file, only_key, only_response, absent, also, none_paired)
        return partner
    warnings += [f"{file}: {text}; {fate}" for file, text, fate in found]
    return partner


def _compare_sizes(key: Chains, response: Chains, partner: IntArray, lenient: bool, warnings: list[str]) -> None:
    there = np.flatnonzero(partner != UNKNOWN)
    ours, theirs = key.tokens[there], response.tokens[partner[there]]
    unit = "tokens"
    if (
        key.empty is not None and response.empty is not None
    ):  # which empty nodes there are is for the response to predict
        ours, theirs = ours - key.empty_in_documents()[there], theirs - response.empty_in_documents()[partner[there]]
        unit = "words"
    different = np.flatnonzero((ours != theirs) & (ours != UNKNOWN) & (theirs != UNKNOWN))
    if not len(different):
        return
    first = int(different[0])
    message = (
        f'document "{key.documents[int(there[first])]}" has {ours[first]:,} {unit} in the key {key.file} and '
        f"{theirs[first]:,} in the response {response.file}"
    )
    _complain(message, len(different), f"; expected the same {unit} on both sides", lenient, warnings)


def _complain(message: str, documents: int, remedy: str, lenient: bool, warnings: list[str]) -> None:
    """Refuse documents that differ, or warn of them."""
    message += f" (and {documents - 1:,} more documents differ)" if documents > 1 else ""
    if not lenient:
        raise SidesMismatch(f"{message}{remedy}")
    warnings.append(message)


def _compare_words(key: Chains, response: Chains, partner: IntArray, lenient: bool, warnings: list[str]) -> None:
    """Complain of documents with other words."""
    unlike = _find_unlike(key, response, partner)
    if not unlike:
        return
    if reason := no_words([ours for _, ours, _ in unlike], [theirs for *_, theirs in unlike]):
        warnings.append(f"the words of {key.file} and {response.file} could not be compared: {reason}")
        return
    name, ours, theirs = unlike[0]
    at = other_word(ours, theirs)
    assert at is not None
    message = (
        f'the tokens diverge: document "{name}" has "{ours[at]}" as token {at:,} in the key {key.file} and '
        f'"{theirs[at]}" in the response {response.file}'
    )
    _complain(message, len(unlike), ". --ignore-tokens scores them nevertheless", lenient, warnings)


def _find_unlike(key: Chains, response: Chains, partner: IntArray) -> list[tuple[str, Sequence[str], Sequence[str]]]:
    """The documents with other words, and the words of both sides. Those whose signs are equal need not be looked at."""
    if key.words is None or response.words is None:
        return []
    pairs = [(i, int(partner[i])) for i in np.flatnonzero(partner != UNKNOWN).tolist()]
    if key.format == response.format and key.signs and response.signs:
        pairs = [(i, j) for i, j in pairs if key.signs[i] != response.signs[j]]
    if not pairs:
        return []
    ours, theirs = key.words(), response.words()
    named = [(key.documents[i], response.documents[j]) for i, j in pairs]
    both = [(i, ours[i], theirs[j]) for i, j in named if i in ours and j in theirs]
    return [one for one in both if other_word(*one[1:]) is not None]


def _rearranged(response: Chains, partner: IntArray, documents: list[str]) -> Chains:
    """The response over the documents of the key, rows sorted by them."""
    if len(partner) == len(response.documents) and np.array_equal(partner, np.arange(len(partner))):
        return replace(response, documents=documents)
    there = np.flatnonzero(partner != UNKNOWN)
    number = np.full(len(response.documents), UNKNOWN, np.int64)
    number[partner[there]] = there
    document = number[response.document]
    rows = np.argsort(document, kind="stable")
    rows = rows[np.searchsorted(document[rows], 0) :]
    tokens = np.full(len(documents), UNKNOWN, np.int64)
    lines = tokens.copy()
    tokens[there] = response.tokens[partner[there]]
    lines[there] = response.document_lines[partner[there]]
    return replace(
        response.select(rows, document[rows]),
        documents=documents,
        tokens=tokens,
        document_lines=lines,
        empty=response.empty and response.empty.moved(number),
    )


# Empty nodes that only one side has. Offsets of both sides are made to count the empty nodes of either, so that a token
# has one offset, whichever side one looks at:
#
#     key         He      saw  2.1  her        offsets  0  1  2  3     become  0  2  3  4
#     response    He 1.1  saw       her                 0  1  2  3             0  1  2  4


def _count_alike(key: Chains, response: Chains) -> tuple[Chains, Chains]:
    """Both sides with common offsets, if their empty nodes are not the same."""
    ours, theirs = key.empty, response.empty
    if ours is None or theirs is None:
        return key, response
    sides = [np.column_stack((empty.document, empty.place)) for empty in (ours, theirs)]
    if np.array_equal(sides[0], sides[1]):
        return key, response
    union, number = np.unique(np.concatenate(sides), axis=0, return_inverse=True)
    number = number.reshape(-1)
    first = np.searchsorted(union[:, 0], np.arange(len(key.documents)))
    token = union[:, 1] + np.arange(len(union)) - first[union[:, 0]]
    split = np.split(number, [len(ours)])
    counted = (_Counted(side, union, token, of_own) for side, of_own in zip((key, response), split, strict=True))
    left, right = (one.chains() for one in counted)
    return left, right


class _Counted:
    """The offsets of one side, counted anew over the empty nodes of both."""

    def __init__(self, side: Chains, union: IntArray, token: IntArray, own: IntArray) -> None:
        assert side.empty is not None
        self.side, self.empty, self.union, self.token, self.own = side, side.empty, union, token, own
        self.stride = 2 + max(int(side.tokens.max(initial=0)), int(union[:, 1].max(initial=0)))
        self.keys = self.empty.document * self.stride + self.empty.token
        self.places = union[:, 0] * self.stride + union[:, 1]

    def offsets(self, document: IntArray, token: IntArray) -> IntArray:
        """The new offset of each token."""
        base = document * self.stride
        words = token - np.searchsorted(self.keys, base + token) + np.searchsorted(self.keys, base)
        moved = words + np.searchsorted(self.places, base + words, side="right") - np.searchsorted(self.places, base)
        node = self.empty.find(document, token)
        moved[node >= 0] = self.token[self.own[node[node >= 0]]]
        return moved

    def chains(self) -> Chains:
        side, document = self.side, self.side.document
        start, end = self.offsets(document, side.start), self.offsets(document, side.end)
        parts = dict(side.parts)
        # A node of the other side inside of a mention is no word of it: the mention has a gap there.
        for row in np.flatnonzero(end - start != side.end - side.start).tolist():
            spans = side.parts.get(row) or ((int(side.start[row]), int(side.end[row])),)
            tokens = np.concatenate([np.arange(first, last + 1) for first, last in spans])
            moved = self.offsets(np.full(len(tokens), document[row]), tokens)
            runs = np.split(moved, np.flatnonzero(np.diff(moved) > 1) + 1)
            if len(runs) > 1:
                parts[row] = tuple((int(run[0]), int(run[-1])) for run in runs)
        for row in side.parts.keys() & set(np.flatnonzero(end - start == side.end - side.start).tolist()):
            shift = int(start[row] - side.start[row])
            parts[row] = tuple((first + shift, last + shift) for first, last in side.parts[row])
        per_document = np.bincount(self.union[:, 0], minlength=len(side.documents))
        own = np.bincount(self.empty.document, minlength=len(side.documents))
        tokens = np.where(side.tokens == UNKNOWN, UNKNOWN, side.tokens - own + per_document)
        head = side.head
        if head is not None:
            head = np.where(head == UNKNOWN, UNKNOWN, self.offsets(document, np.maximum(head, 0)))
        empty = replace(self.empty, token=self.token[self.own])
        return replace(
            side, start=start, end=end, parts=parts, tokens=tokens, head=head, empty=empty, texts=self._texts()
        )

    def _texts(self) -> dict[str, Sentences]:
        """The words, with the sign of an empty node where the other side has one."""
        foreign = np.ones(len(self.union), np.bool_)
        foreign[self.own] = False
        texts = {name: [list(sentence) for sentence in text] for name, text in self.side.texts.items()}
        for node in np.flatnonzero(foreign).tolist() if texts else ():
            place = int(self.token[node])
            for sentence in texts.get(self.side.documents[int(self.union[node, 0])], ()):
                if place <= len(sentence):
                    sentence.insert(place, EMPTY_WORD)
                    break
                place -= len(sentence)
        return texts
