"""JSONL of clusters, as neural systems write it: one document a line, spans as `[first, last]` token offsets.

    {"doc_key": "bc/cctv/00/cctv_0000_0", "clusters": [[[3, 3], [7, 8]], [[0, 4], [12, 12]]]}

Both ends are included. A discontinuous mention is the list of its parts, `[[3, 4], [7, 8]]`. Everything
else in the object is left alone, but for `sentences` or `tokens`, which tell how many tokens there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tallystick.errors import some
from tallystick.files.json_values import NotJson, decode
from tallystick.files.lines import Pieces
from tallystick.files.source import AnySource
from tallystick.tasks.coreference.chains import UNKNOWN, Chains, Span, empty_cluster_warnings

NAMES = ("doc_id", "doc_key", "id")
CLUSTERS = ("clusters", "predicted_clusters")
_LARGEST = 1 << 31


def read_clusters_jsonl(source: AnySource | Pieces, fields: Sequence[str] = ()) -> Chains:
    """Read a JSONL file of clusters. Whatever cannot be understood is an `InputError`.

    Files with gold and predicted clusters side by side need `fields`: where the clusters are, in order of
    preference.
    """
    pieces = source if isinstance(source, Pieces) else Pieces(source)
    reading = _Reading(pieces, fields)
    number = 0
    for piece in pieces:
        for line in piece.split(b"\n")[:-1]:
            number += 1
            if line and not line.isspace():
                reading.take(line.decode(), number)
    return reading.finish()


class _Reading:
    """What is known after some lines of the file."""

    def __init__(self, pieces: Pieces, fields: Sequence[str]) -> None:
        self.pieces = pieces
        self.fields = fields
        self.documents: list[str] = []
        self.document_lines: list[int] = []
        self.tokens: list[int] = []
        self.entity_names: list[str] = []
        self.document: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.entity: list[int] = []
        self.parts: dict[int, tuple[Span, ...]] = {}
        self.empty: list[str] = []

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
        self.documents.append(self._name(value, number))
        self.document_lines.append(number)
        tokens = _tokens_in(value)
        self.tokens.append(tokens)
        field = self._field(value, number)
        clusters = value[field]
        if not isinstance(clusters, list):
            raise self.pieces.error(f'"{field}" is {clusters!r:.40}; expected a list of clusters', number)
        for index, cluster in enumerate(clusters):
            self._cluster(cluster, f"{field}[{index}]", index, number, tokens)

    def _name(self, value: dict[str, object], number: int) -> str:
        for key in NAMES:
            if key in value:
                name = value[key]
                if isinstance(name, str | int) and not isinstance(name, bool):
                    return str(name)
                raise self.pieces.error(f'"{key}" is {name!r:.40}; expected the name of the document', number)
        raise self.pieces.error(
            f"found {some(value)}; expected the name of the document as one of {some(NAMES)}", number
        )

    def _field(self, value: dict[str, object], number: int) -> str:
        for field in self.fields:
            if field in value:
                return field
        wanted = self.fields or CLUSTERS
        present = [field for field in wanted if field in value]
        if not present:
            raise self.pieces.error(f"found {some(value)}; expected the clusters as one of {some(wanted)}", number)
        if len(present) > 1:
            raise self.pieces.error(f"has {some(present)}: say which of them to read", number)
        return present[0]

    def _cluster(self, cluster: object, where: str, index: int, number: int, tokens: int) -> None:
        if not isinstance(cluster, list):
            raise self.pieces.error(f"{where} is {cluster!r:.40}; expected a list of mentions", number)
        if not cluster:
            self.empty.append(str(self.pieces.source.place(number)))
            return
        for position, mention in enumerate(cluster):
            spans = self._spans(mention, f"{where}[{position}]", number, tokens)
            if len(spans) > 1:
                self.parts[len(self.entity)] = spans
            self.document.append(len(self.documents) - 1)
            self.start.append(spans[0][0])
            self.end.append(spans[-1][1])
            self.entity.append(len(self.entity_names))
        self.entity_names.append(str(index))

    def _spans(self, mention: object, where: str, number: int, tokens: int) -> tuple[Span, ...]:
        spans: tuple[Span, ...]
        if isinstance(mention, list) and _is_span(mention):
            spans = ((mention[0], mention[1]),)
        elif isinstance(mention, list) and mention and all(_is_span(part) for part in mention):
            spans = tuple((part[0], part[1]) for part in mention)
            if any(after[0] <= before[1] + 1 for before, after in pairwise(spans)):
                raise self.pieces.error(
                    f"{where} is {mention!r:.60}; expected parts in order with gaps between them", number
                )
        else:
            raise self.pieces.error(
                f"{where} is {mention!r:.60}; expected [first, last], two token offsets, both included",
                number,
            )
        end = spans[-1][1]
        if tokens != UNKNOWN and end >= tokens:
            raise self.pieces.error(f"{where} is {mention!r:.60}, but the document has {tokens:,} tokens", number)
        return spans

    def finish(self) -> Chains:
        """Turn the mentions into columns."""
        if not self.documents:
            raise self.pieces.error("has no documents; expected one JSON object a line")
        document = np.array(self.document, np.int64)
        source = self.pieces.source
        document_lines = source.lines_of_file(np.array(self.document_lines, np.int64))
        return Chains(
            documents=self.documents,
            document=document,
            start=np.array(self.start, np.int64),
            end=np.array(self.end, np.int64),
            entity=np.array(self.entity, np.int64),
            tokens=np.array(self.tokens, np.int64),
            entity_names=self.entity_names,
            lines=document_lines[document],
            document_lines=document_lines,
            file=str(source),
            whole=not source.is_part,
            format="jsonl",
            parts=self.parts,
            warnings=empty_cluster_warnings(self.empty),
        )


def _is_span(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and type(value[0]) is int
        and type(value[1]) is int
        and 0 <= value[0] <= value[1] < _LARGEST
    )


def _tokens_in(value: dict[str, object]) -> int:
    """How many tokens a document has."""
    sentences, tokens = value.get("sentences"), value.get("tokens")
    if isinstance(sentences, list) and all(isinstance(sentence, list) for sentence in sentences):
        return sum(len(sentence) for sentence in sentences)
    if isinstance(tokens, list):
        return len(tokens)
    return UNKNOWN
