"""Relations: plain JSON, SpERT's JSON, DocRED, brat; which one it is, the file shows.

    {"id": "d1", "relations": [{"type": "born-in", "subj": {"start": 0, "end": 2, "type": "PER"}, "obj": [5, 6, "LOC"]}]}

`head` and `tail` do as well as `subj` and `obj`. Where the document lists `entities`, an argument may be the number of one of
them (SpERT). Ends are exclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading import docred
from tallystick.reading.documents import Documents
from tallystick.reading.json_values import Json, read_json
from tallystick.reading.mention_values import document_name, read_mention
from tallystick.reading.opening import shown_name
from tallystick.reading.standoff import is_brat, read_standoff
from tallystick.structures.mentions import AnnotatedMention
from tallystick.structures.relations import FactSet, Relation, RelationSet

RelationDocuments = Documents[RelationSet] | Documents[FactSet]


def read_relations(name: str | Path, training: Mapping[str, docred.TrainingFacts] | None = None) -> RelationDocuments:
    """The relations of each document of a file (or folder, for brat)."""
    if is_brat(name):
        return _read_brat(name)
    file, documents = shown_name(name), read_json(name)
    if not documents:  # an empty list: a DocRED submission of nothing
        return Documents[RelationSet](file, "JSON", partial=True)
    if docred.is_reference(documents[0]):
        return docred.read_reference(documents, file, training)
    if docred.is_submission(documents[0]):
        return docred.read_submission(documents, file)
    if not documents[0].has("relations"):
        raise documents[0].fail(
            "expected an object with 'relations' (plain or SpERT), 'vertexSet' (DocRED) or 'h_idx' (a DocRED submission)"
        )
    out: Documents[RelationSet] = Documents(file, "JSON")
    for number, document in enumerate(documents, 1):
        out.add(document_name(document, number, "id", "doc_id", "doc_key", "orig_id"), _plain(document), document.place)
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


def _read_brat(name: str | Path) -> Documents[RelationSet]:
    out: Documents[RelationSet] = Documents(str(name), "brat")
    for file in read_standoff(name):
        relations = tuple(
            Relation(type_, file.mention(subj, place), file.mention(obj, place))
            for type_, subj, obj, place in file.relations
        )
        out.add(file.name, RelationSet(relations), file.place)
    if not out.values:
        raise InputError("has no documents", str(name))
    return out
