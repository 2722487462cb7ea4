"""JSONL of clusters, as neural systems write it: one document a line, spans as `[first, last]` token offsets.

    {"doc_key": "bc/cctv/00/cctv_0000_0", "clusters": [[[3, 3], [7, 8]], [[0, 4], [12, 12]]]}

Both ends are included. A discontinuous mention is the list of its parts, `[[3, 4], [7, 8]]`. Everything
else in the object is left alone, but for `sentences` or `tokens`, which tell how many tokens there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick.errors import ValueMismatch, some
from tallystick.files.json_values import Json, NotJson, as_json_lines, decode, shown
from tallystick.files.pairing import DYGIE_GOLD, Unpredicted, all_named
from tallystick.files.source import Pieces, Source
from tallystick.tasks.coreference.chains import (
    UNKNOWN,
    Chains,
    Sentences,
    Span,
    chains_from_clusters,
    empty_cluster_warnings,
)
from tallystick.tasks.plain import Given, Unfit, expect, is_span, is_whole, named

NAMES = ("doc_id", "doc_key", "id")
CLUSTERS = ("clusters", "predicted_clusters")
_LARGEST = 1 << 31


def read_clusters_jsonl(pieces: Pieces, *, fields: Sequence[str] = (), keep_text: bool = False) -> Chains:
    """Read a JSONL file of clusters. Whatever cannot be understood is an `InputError`.

    Files with gold and predicted clusters side by side need `fields`: where the clusters are, in order of
    preference.
    """
    source = as_json_lines(pieces.source)
    if source is not pieces.source:
        pieces = Pieces(source, empty=True)
    reading = _Reading(pieces, fields, keep_text)
    number = 0
    for piece in pieces:
        for line in piece.split(b"\n")[:-1]:
            number += 1
            if line and not line.isspace():
                reading.take(line.decode(), number)
    return reading.finish()


class _Reading:
    """What is known after some lines of the file."""

    def __init__(self, pieces: Pieces, fields: Sequence[str], keep_text: bool) -> None:
        self.pieces, self.fields, self.keep_text = pieces, fields, keep_text
        self.documents: list[str] = []
        self.names: list[str | None] = []
        """What each document is called, None for nothing; `documents` has its number then."""
        self.under = ""
        """The key of the first name."""
        self.document_lines: list[int] = []
        self.tokens: list[int] = []
        self.entity_names: list[str] = []
        self.mentions: list[tuple[int, int, int, int]] = []
        """Document, start, end and entity of each."""
        self.parts: dict[int, tuple[Span, ...]] = {}
        self.empty: list[str] = []
        self.texts: dict[str, Sentences] = {}
        self.signs: list[int] = []
        beside = "predicted_clusters" in fields and not pieces.source.for_itself
        self.unpredicted = Unpredicted("clusters") if beside else None
        self.has_layers = False
        """Whether a document is DyGIE++'s: plain clusters stand under one name on both sides."""

    def take(self, line: str, number: int) -> None:
        """Read the document of a line."""
        try:
            value = decode(line)
        except NotJson as error:
            raise self.pieces.error(str(error), number, error.column) from None
        if not isinstance(value, dict):
            raise self.pieces.error(
                "expected one JSON object a line, with the name of a document and its clusters", number
            )
        name = self._name(value, number)
        self.names.append(name)
        self.documents.append(str(len(self.names)) if name is None else name)
        self.document_lines.append(number)
        for key in ("sentences", "tokens"):
            if value.get(key) is not None and not isinstance(value[key], list):
                raise self.pieces.error(f"{key}: expected a list, found {shown(value[key])}", number)
        sentences = _sentences_in(value)
        tokens = UNKNOWN if sentences is None else sum(map(len, sentences))
        self.tokens.append(tokens)
        self.signs.append(hash(repr(sentences)))
        if self.keep_text and sentences:
            self.texts[self.documents[-1]] = [sentence for sentence in sentences if sentence]
        field = self._field(value, number)
        self.has_layers = self.has_layers or any(key in DYGIE_GOLD.values() for key in value)
        if self.unpredicted is not None:
            self.unpredicted.take(value, self.pieces.source.place(number))
        clusters = value[field]
        if not isinstance(clusters, list):
            raise self.pieces.error(f'"{field}" is {shown(clusters)}; expected a list of clusters', number)
        for index, cluster in enumerate(clusters):
            self._cluster(cluster, f"{field}[{index}]", index, number, tokens)

    def _name(self, value: dict[str, object], number: int) -> str | None:
        """What a document is called, None if it has no name."""
        found = Json(value, self.pieces.source.place(number)).get(*NAMES)
        if found is None:
            return None
        self.under = self.under or str(found.key)
        return found.name()

    def _field(self, value: dict[str, object], number: int) -> str:
        wanted = self.fields or CLUSTERS
        present = [field for field in wanted if field in value]
        if not present:
            raise self.pieces.error(
                f"found {some(value) or 'no keys'}; expected the clusters as one of {some(wanted)}", number
            )
        if len(present) > 1 and not self.fields:
            raise self.pieces.error(f"has {some(present)}: say which of them to read", number)
        return present[0]

    def _cluster(self, cluster: object, where: str, index: int, number: int, tokens: int) -> None:
        if not isinstance(cluster, list):
            raise self.pieces.error(f"{where} is {shown(cluster)}; expected a list of mentions", number)
        if not cluster:
            self.empty.append(str(self.pieces.source.place(number)))
            return
        for position, mention in enumerate(cluster):
            spans = self._spans(mention, f"{where}[{position}]", number, tokens)
            if len(spans) > 1:
                self.parts[len(self.mentions)] = spans
            self.mentions.append((len(self.documents) - 1, spans[0][0], spans[-1][1], len(self.entity_names)))
        self.entity_names.append(str(index))

    def _spans(self, mention: object, where: str, number: int, tokens: int) -> tuple[Span, ...]:
        parts = [mention] if _is_span(mention) else mention
        if not (isinstance(parts, list) and parts and all(map(_is_span, parts))):
            raise self.pieces.error(
                f"{where} is {shown(mention)}; expected [first, last], two token offsets, both included",
                number,
            )
        spans = tuple((first, last) for first, last in parts)
        if any(after[0] <= before[1] + 1 for before, after in pairwise(spans)):
            raise self.pieces.error(
                f"{where} is {shown(mention)}; expected parts in order with gaps between them", number
            )
        if tokens != UNKNOWN and spans[-1][1] >= tokens:
            raise self.pieces.error(f"{where} is {shown(mention)}, but the document has {tokens:,} tokens", number)
        return spans

    def finish(self) -> Chains:
        """Turn the mentions into columns."""
        source = self.pieces.source
        named = all_named(self.names, [source.place(number) for number in self.document_lines], self.under)
        unpredicted = self.unpredicted if self.has_layers else None
        alone = None if unpredicted is None else unpredicted.error
        notes = [] if unpredicted is None or alone is None else [unpredicted.note(str(source))]
        document, start, end, entity = np.array(self.mentions, np.int64).reshape(-1, 4).T.copy()
        document_lines = source.lines_of_file(np.array(self.document_lines, np.int64))
        return Chains(
            documents=self.documents,
            named=named,
            document=document,
            start=start,
            end=end,
            entity=entity,
            tokens=np.array(self.tokens, np.int64),
            entity_names=self.entity_names,
            lines=document_lines[document],
            document_lines=document_lines,
            file=str(source),
            whole=not source.is_part,
            format="jsonl",
            parts=self.parts,
            texts=self.texts,
            signs=self.signs,
            words=partial(_words, source),
            warnings=[*empty_cluster_warnings(self.empty), *notes],
            alone=alone,
        )


def _words(source: Source) -> dict[str, list[str]]:
    """The words of each document that has them, read anew."""
    texts = read_clusters_jsonl(Pieces(source), fields=CLUSTERS, keep_text=True).texts
    return {name: [str(word) for sentence in text for word in sentence] for name, text in texts.items()}


def _is_span(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and type(value[0]) is int
        and type(value[1]) is int
        and 0 <= value[0] <= value[1] < _LARGEST
    )


def _sentences_in(value: dict[str, object]) -> list[list[Any]] | None:
    """The tokens of a document, by sentences if it has any; None if it does not give them."""
    sentences, tokens = value.get("sentences"), value.get("tokens")
    if isinstance(sentences, list) and all(isinstance(sentence, list) for sentence in sentences):
        return sentences
    return [tokens] if isinstance(tokens, list) else None


# Clusters from Python: a document is a list of clusters, a cluster a list of mentions, a mention (start, end) with an exclusive end, or
# a text that both sides share. What is written here has inclusive ends, as the files have.


def cluster_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data."""
    clusters, about = value, {}
    if isinstance(value, dict):
        known = (
            ("clusters",) if where.startswith("reference") else ("predicted_clusters", "clusters")
        )  # as the files have them
        key = next((key for key in (*known, "entities") if key in value), None)
        expect(key is not None, where, f"a document, a list of clusters or a dict with {' or '.join(known)}", value)
        clusters, where = value[key], f"{where}.{key}"
        about = {name: value[name] for name in ("tokens", "sentences") if value.get(name) is not None}
    expect(isinstance(clusters, list), where, "a list of clusters", clusters)
    laid = []
    for k, cluster in enumerate(clusters):
        inside = cluster["mentions"] if isinstance(cluster, dict) and "mentions" in cluster else cluster
        at = f"{where}[{k}]"
        if isinstance(inside, list) and inside and all(map(is_whole, inside)):
            pair = "; or is it a mention (start, end), and a level of lists is missing?" if len(inside) == 2 else ""
            raise Unfit(
                f"{at}: expected a cluster, a list of (start, end) or of texts, found the numbers {inside!r:.40}; if they are names of "
                f"mentions, give them as texts{pair}"
            )
        expect(isinstance(inside, list), at, "a cluster, a list of mentions", cluster)
        laid.append([_mention_of(mention, f"{at}[{m}]") for m, mention in enumerate(inside)])
    return named(value, clusters=laid, **about)


def _mention_of(value: Any, where: str) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(value.get("pieces"), list):
        return [_mention_of(piece, where) for piece in value["pieces"]]
    if isinstance(value, dict):
        value = [value.get("start"), value.get("end")]
    expect(is_span(value) and len(value) == 2, where, "a mention, (start, end) with an exclusive end or a text", value)
    if value[0] < 0:
        raise ValueMismatch(f"{where}: the mention {tuple(value)} starts before the text")
    if value[0] >= value[1]:
        raise ValueMismatch(
            f"{where}: the mention {tuple(value)} holds no token, since ends are exclusive in plain data: (3, 4) is token 3 alone. If your "
            "ends are inclusive, as in the files of neural systems, add 1 to each, or give the files themselves"
        )
    return [value[0], value[1] - 1]


def clusters_of(side: Given) -> Source | Chains:
    """The documents of one side; mentions that are texts cannot stand in a file of clusters."""
    kinds = {isinstance(mention, str) for one in side.documents for cluster in one["clusters"] for mention in cluster}
    if kinds == {True, False}:
        raise ValueMismatch(f"{side.name}: some mentions are texts and some are (start, end); give all in one form")
    if True not in kinds:
        return side.lines
    documents = (one["clusters"] for one in side.documents)
    ids = side.ids or tuple(map(str, range(len(side.documents))))
    chains = chains_from_clusters(dict(zip(ids, documents, strict=True)))
    return replace(chains, file=f"<{side.name}>", warnings=[*chains.warnings, *side.notes])
