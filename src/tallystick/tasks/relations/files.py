"""Relations: plain JSON, SpERT's JSON, DocRED, brat; which one it is, the file shows.

    {"id": "d1", "relations": [{"type": "born-in", "subj": {"start": 0, "end": 2, "type": "PER"}, "obj": [5, 6, "LOC"]}]}

`head` and `tail` do as well as `subj` and `obj`. Where the document lists `entities`, an argument may be the number of one of
them (SpERT). Ends are exclusive.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from tallystick.files.boundaries import Format, Opening, find_format
from tallystick.files.json_values import Json
from tallystick.files.pairing import Documents
from tallystick.files.source import AnySource
from tallystick.files.standoff import is_brat, read_standoff
from tallystick.structures.texts import AnnotatedMention, FactSet, Relation, RelationSet
from tallystick.tasks.named import document_name, read_mention
from tallystick.tasks.relations import docred

NAMES = ("id", "doc_id", "doc_key", "orig_id")
"""Under which of these a document has its name."""

RelationDocuments = Documents[RelationSet] | Documents[FactSet]


def read_relations(
    name: AnySource, training: Mapping[str, docred.TrainingFacts] | None = None, *, keep_text: bool = False
) -> RelationDocuments:
    """The relations of each document of a file (or folder, for brat), and its words where they are to be kept."""
    opening = Opening(name)
    chosen = find_format(FORMATS, opening)
    if chosen is None:
        expected = "expected an object with 'relations' (plain or SpERT), 'vertexSet' (DocRED) or 'h_idx' (a DocRED submission)"
        raise opening.documents[0].fail(expected)
    assert chosen.read is not None
    found: RelationDocuments = chosen.read(opening, training=training, keep_text=keep_text)
    return found


def _read_nothing(opening: Opening, **_: Any) -> Documents[RelationSet]:
    return Documents(str(opening.source), "JSON", partial=True)


def _read_facts(opening: Opening, training: Mapping[str, docred.TrainingFacts] | None, **_: Any) -> Documents[FactSet]:
    return docred.read_reference(opening.documents, str(opening.source), training)


def _read_submission(opening: Opening, **_: Any) -> Documents[FactSet]:
    return docred.read_submission(opening.documents, str(opening.source))


def _read_plain(opening: Opening, keep_text: bool, **_: Any) -> Documents[RelationSet]:
    out: Documents[RelationSet] = Documents(str(opening.source), "JSON")
    for number, document in enumerate(opening.documents, 1):
        text = words_of(document) if keep_text else None
        out.add(document_name(document, number, *NAMES), _plain(document), document.place, text)
    return out


def _plain(document: Json) -> RelationSet:
    listed = document.get("entities")
    entities = [read_mention(one) for one in listed.each()] if listed is not None else []
    relations = []
    for found in document.at("relations").each():
        subj, obj = (_argument(found.at(*keys), entities) for keys in (("subj", "head"), ("obj", "tail")))
        relations.append(Relation(found.at("type").text(), subj, obj))
    return RelationSet(tuple(relations))


def _argument(found: Json, entities: list[AnnotatedMention]) -> AnnotatedMention:
    if not isinstance(found.value, int) or isinstance(found.value, bool):
        return read_mention(found)
    if not 0 <= found.value < len(entities):
        raise found.fail(f"expected the number of one of the {len(entities):,} entities, found {found.value}")
    return entities[found.value]


def _read_brat(opening: Opening, keep_text: bool, **_: Any) -> Documents[RelationSet]:
    name = opening.source
    out: Documents[RelationSet] = Documents(str(name), "brat", named=Path(name).is_dir())
    for file in read_standoff(name):
        relations = []
        for relation in file.relations.values():
            first, second = relation.arguments
            if second.role < first.role:  # Arg2 may stand before Arg1
                first, second = second, first
            relations.append(Relation(relation.type, file.mention(first), file.mention(second)))
        text = file.text() if keep_text else None
        out.add(file.name, RelationSet(tuple(relations)), file.place, of_characters(text) if text is not None else None)
    return out


FORMATS = (
    Format("brat", lambda opening: is_brat(opening.source), _read_brat),
    Format(
        "nothing", lambda opening: not opening.documents, _read_nothing
    ),  # an empty list: a DocRED submission of nothing
    Format("DocRED", lambda opening: docred.is_reference(opening.documents[0]), _read_facts),
    Format("DocRED submission", lambda opening: docred.is_submission(opening.documents[0]), _read_submission),
    Format("JSON", lambda opening: opening.has("relations"), _read_plain),
)
"""The formats of relations, the first that fits. A reader is given the file, and answers with its documents; it keeps their words
where `keep_text` asks for them."""


# The words of documents, for those who want to see them: scoring never looks at them.
#
# JSON has words under `tokens`, or lists of them under `sentences`, and its offsets count these. brat has the text in a .txt
# beside the .ann, and its offsets count characters. Where there is neither, nothing is shown.


@dataclass(frozen=True)
class DocumentText:
    """The words of a text by sentence. `starts` has the character at which each word begins, where offsets are characters."""

    sentences: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for sentence in self.sentences for word in sentence)

    def span(self, left: int, right: int) -> tuple[int, int] | None:
        """The words [first, end) from one offset to another, both inclusive; None if they are not of this text."""
        if self.starts is None:
            count = sum(map(len, self.sentences))
            return (left, right + 1) if 0 <= left <= right < count else None
        words = self.words
        if not words or not self.starts[0] <= left <= right < self.starts[-1] + len(words[-1]):
            return None
        return bisect_right(self.starts, left) - 1, bisect_right(self.starts, right)


def words_of(document: Json) -> DocumentText | None:
    """The words of a JSON document, if it has any."""
    for key in ("sentences", "tokens"):
        found = document.get(key)
        listed = [found.value] if found is not None and key == "tokens" else found.value if found is not None else None
        if isinstance(listed, list) and listed and all(_are_words(one) for one in listed):
            return DocumentText(tuple(tuple(one) for one in listed if one))
    return None


def _are_words(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(word, str) for word in found)


def of_characters(text: str) -> DocumentText:
    """A text by its words, which blanks stand between, and its lines."""
    lines = text.split("\n")
    begins = accumulate((len(line) + 1 for line in lines), initial=0)
    found = [
        [(begin + word.start(), word.group()) for word in re.finditer(r"\S+", line)]
        for begin, line in zip(begins, lines, strict=False)
    ]
    return DocumentText(
        tuple(tuple(word for _, word in line) for line in found if line),
        tuple(start for line in found for start, _ in line),
    )
