"""Relations: plain JSON, SpERT's JSON, DocRED, brat, and the formats of `files.exports`; which one it is, the file shows.

    {"id": "d1", "relations": [{"type": "born-in", "subj": {"start": 0, "end": 2, "type": "PER"}, "obj": [5, 6, "LOC"]}]}

`head` and `tail` do as well as `subj` and `obj`. Where the document lists `entities`, an argument may be the number of one of
them (SpERT). Ends are exclusive.

DocRED: facts of documents, what a system submits, and the facts of the training data.

    reference   [{"title", "vertexSet": [[{"name", ...}, ...], ...], "labels": [{"h", "t", "r", "evidence"}]}]
    submission  [{"title", "h_idx", "t_idx", "r", "evidence"}]

A submission lists facts, so a document without one does not appear in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from tallystick.errors import MetricError, Place, ValueMismatch
from tallystick.files.confidences import ItemConfidences
from tallystick.files.exports import EXPORTS, SYSTEMS, Annotated, Ask, Layout, formats_of, read_annotated, words
from tallystick.files.json_values import Json
from tallystick.files.pairing import Documents, names_of
from tallystick.files.source import AnySource, Format, Opening, Source, find_format
from tallystick.files.standoff import is_brat, read_standoff
from tallystick.frozen import frozen
from tallystick.structures.texts import AnnotatedMention, Fact, FactSet, Mention, Relation, RelationSet
from tallystick.tasks.named import read_mention, warn_outside
from tallystick.tasks.plain import Given, Structure, expect, is_span, is_whole, named

TrainingFacts = frozenset[tuple[str, str, str]]
"""(name of the subject, name of the object, relation)"""


def _read_facts(
    opening: Opening, training: Mapping[str, TrainingFacts] | None, keep_text: bool = False, **_: Any
) -> Documents[FactSet]:
    """The facts of each document; a fact that has been seen in training knows where."""
    out: Documents[FactSet] = Documents(str(opening.source), "DocRED")
    repeated = 0
    for document in opening.documents:
        names = _names(document)
        facts: dict[tuple[str, int, int], Fact] = {}
        for label in document.listed("labels"):
            subj, obj = (_vertex(label.at(key), len(names)) for key in ("h", "t"))
            type_ = label.at("r").text()
            seen = [
                source
                for source, known in (training or {}).items()
                if any((a, b, type_) in known for a in names[subj] for b in names[obj])
            ]
            repeated += (type_, subj, obj) in facts
            facts[type_, subj, obj] = Fact(type_, subj, obj, _evidence(label), tuple(seen))
        text = FactText(tuple(one[0] if one else "" for one in names), _sentences_of(document)) if keep_text else None
        out.add(document.at("title").text(), FactSet(tuple(facts.values())), document.place, text)
    _warn(out, repeated, "last")
    return out


def _read_submission(opening: Opening, **_: Any) -> Documents[FactSet]:
    """What a system submits."""
    out: Documents[FactSet] = Documents(str(opening.source), "DocRED", partial=True)
    found: dict[str, dict[tuple[str, int, int], Fact]] = {}
    repeated = 0
    for fact in opening.documents:
        type_, subj, obj = fact.at("r").text(), fact.at("h_idx").whole(), fact.at("t_idx").whole()
        here = found.setdefault(fact.at("title").text(), {})
        repeated += (type_, subj, obj) in here
        here.setdefault((type_, subj, obj), Fact(type_, subj, obj, _evidence(fact)))
    for title, here in found.items():
        out.add(title, FactSet(tuple(here.values())), Place(out.file))
    _warn(out, repeated, "first")
    return out


def read_training(name: AnySource) -> TrainingFacts:
    """The facts of the training data, by the names of their entities."""
    from tallystick.files.json_values import read_json

    out = set()
    for document in read_json(name):
        if isinstance(document.value, list):  # DocRED's own cache: [subject, object, relation]
            subj, obj, type_ = (part.text() for part in document.several(3, "[subject, object, relation]")[:3])
            out.add((subj, obj, type_))
            continue
        names = _names(document)
        for label in document.at("labels").each():
            subj_, obj_ = (_vertex(label.at(key), len(names)) for key in ("h", "t"))
            out.update((a, b, label.at("r").text()) for a in names[subj_] for b in names[obj_])
    return frozenset(out)


@frozen
class FactText:
    """What a document of DocRED says: the first name of each entity, and its sentences."""

    names: tuple[str, ...]
    sentences: tuple[str, ...] = ()

    def name(self, number: int) -> str:
        """An entity by its name; by its number, if it has none."""
        return (self.names[number] if 0 <= number < len(self.names) else "") or str(number)

    def named(self, fact: Fact) -> Fact:
        """A fact with names in the place of numbers, to be looked at."""
        names: Any = {"subj": self.name(fact.subj), "obj": self.name(fact.obj)}
        return replace(fact, **names)


def _sentences_of(document: Json) -> tuple[str, ...]:
    found = document.get("sents")
    listed = found.value if found is not None and isinstance(found.value, list) else []
    return tuple(" ".join(map(str, one)) for one in listed if isinstance(one, list))


def _names(document: Json) -> list[list[str]]:
    return [
        list(dict.fromkeys(mention.at("name").text() for mention in vertex.each()))
        for vertex in document.at("vertexSet").each()
    ]


def _vertex(found: Json, count: int) -> int:
    number = found.whole()
    if not 0 <= number < count:
        raise found.fail(f"expected the number of one of the {count:,} entities, found {number}")
    return number


def _evidence(label: Json) -> tuple[int, ...]:
    return tuple(dict.fromkeys(one.whole() for one in label.listed("evidence")))


def _warn(out: Documents[FactSet], repeated: int, kept: str) -> None:
    """DocRED's script keeps the first of equal facts that a system submits, and the last of the reference's."""
    if repeated:
        many = "1 duplicate fact was" if repeated == 1 else f"{repeated:,} duplicate facts were"
        out.warnings.append(f"{out.file}: {many} counted once, with the evidence that came {kept}")


NAMES = ("id", "doc_id", "doc_key", "orig_id")
"""Under which of these a document has its name."""

RelationDocuments = Documents[RelationSet] | Documents[FactSet]


def read_relations(
    name: AnySource,
    training: Mapping[str, TrainingFacts] | None = None,
    *,
    predicted: bool = False,
    input: str | None = None,
    keep_text: bool = False,
    sure: ItemConfidences | None = None,
) -> RelationDocuments:
    """The relations of each document of a file (or folder, for brat), and its words where they are to be kept."""
    opening = Opening(name)
    if opening.source.reads_once:
        opening.source.read()  # from here on it is held, and formats are recognised by how it begins
    chosen = find_format(FORMATS, opening, input)
    if chosen is None:
        expected = (
            "expected an object with 'relations' (plain, SpERT, DyGIE++, doccano, Prodigy), 'annotations' (Label Studio), 'vertexSet' "
            "(DocRED) or 'h_idx' (a DocRED submission)"
        )
        raise opening.documents[0].fail(expected)
    assert chosen.read is not None
    if sure is not None and not (chosen.name == "JSON" or chosen.title):
        raise MetricError(f"--confidence is for relations in JSON, and {opening.source} is read as {chosen.name}")
    found: RelationDocuments = chosen.read(
        opening, training=training, keep_text=keep_text, sure=sure, predicted=predicted
    )
    if any(isinstance(one, RelationSet) for one in found.values.values()):
        cast("Documents[RelationSet]", found).note_duplicates(_items, "relation")
    return found


def _items(document: RelationSet) -> list[Any]:
    """What two relations of a document differ in, if they are not one and the same."""
    return [
        (one.type, *((end.left, end.right, getattr(end, "type", None)) for end in (one.subj, one.obj)))
        for one in document.relations
    ]


# Relations from Python: (type, subject, object), where the arguments are (start, end) or (start, end, type) with exclusive ends.


def relation_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data."""
    if isinstance(value, Structure) and "facts" in value:
        return _facts_document(value)
    if isinstance(value, dict) and "vertexSet" in value:  # DocRED's own
        return {**value, **named(value)}
    about, relations = {}, value
    if isinstance(value, dict):
        expect("relations" in value, where, 'a document, a list of relations or a dict with "relations"', value)
        relations, where = value["relations"], f"{where}.relations"
        about = {key: value[key] for key in ("entities", "tokens", "sentences") if value.get(key) is not None}
    expect(isinstance(relations, list), where, "a list of relations", relations)
    laid = [_relation_of(one, f"{where}[{k}]", bool(about.get("entities"))) for k, one in enumerate(relations)]
    return named(value, relations=laid, **about)


def _relation_of(value: Any, where: str, numbered: bool) -> dict[str, Any]:
    if isinstance(value, dict):
        expect("type" in value, where, 'a relation, a dict with "type", "subj" and "obj"', value)
        return value
    expect(isinstance(value, list) and len(value) == 3, where, "a relation, (type, subject, object)", value)
    if all(isinstance(one, str) for one in value):
        raise ValueMismatch(
            f"{where}: {value!r:.60} has texts as arguments; expected spans, (start, end) or (start, end, type). Relations between texts "
            "are scored by ts.score"
        )
    if isinstance(value[1], str) and not isinstance(value[0], str):
        value = [value[1], value[0], value[2]]
    fits = isinstance(value[0], str) and all(is_span(one) or (numbered and is_whole(one)) for one in value[1:])
    expect(fits, where, "a relation, (type, subject, object) with arguments (start, end) or (start, end, type)", value)
    return dict(zip(("type", "subj", "obj"), value, strict=True))


def _facts_document(value: dict[str, Any]) -> dict[str, Any]:
    """The facts of a `FactSet`, as DocRED writes them."""
    count = 1 + max((number for fact in value["facts"] for number in (fact["subj"], fact["obj"])), default=-1)
    labels = [
        {"h": fact["subj"], "t": fact["obj"], "r": fact["type"], "evidence": fact["evidence"]}
        for fact in value["facts"]
    ]
    return {"vertexSet": [[{"name": str(number)}] for number in range(count)], "labels": labels}


def relations_of(side: Given) -> Source:
    """The documents of one side; DocRED calls its documents by their titles."""
    documents = side.documents
    if any("vertexSet" in one for one in documents):
        ids = side.ids or tuple(map(str, range(len(documents))))
        documents = tuple({"title": name, **one} for name, one in zip(ids, documents, strict=True))
    return replace(side, documents=documents).lines


NOTHING = "nothing"
"""The format of an empty list: a DocRED submission of no facts, or a file without documents."""


def _read_nothing(opening: Opening, **_: Any) -> Documents[RelationSet]:
    return Documents(str(opening.source), NOTHING)


def _read_plain(
    opening: Opening, keep_text: bool, sure: ItemConfidences | None = None, **_: Any
) -> Documents[RelationSet]:
    out: Documents[RelationSet] = Documents(str(opening.source), "JSON")
    documents = opening.documents
    names, out.named = names_of(documents, *NAMES)
    counts: dict[str, int] = {}
    for name, document in zip(names, documents, strict=True):
        text = words_of(document)
        tokens = () if text is None else text.words
        out.add(name, _plain(document), document.place, text if keep_text else None, tokens)
        if sure is not None:
            sure.take(name, document.value["relations"], "relations", document.place)
        counts[name] = len(tokens)
    warn_outside(out, _arguments(out, counts), counts)
    return out


def _arguments(out: Documents[RelationSet], names: Iterable[str]) -> dict[str, Iterator[Mention]]:
    return {name: (one for r in out.values[name].relations for one in (r.subj, r.obj)) for name in names}


def check_beside(left: Documents[RelationSet], right: Documents[RelationSet]) -> None:
    """Hold the offsets of predictions without tokens against the tokens of the reference."""
    lengths = {name: left.lengths[here] for name, here in right.beside(left).items()}
    warn_outside(right, _arguments(right, lengths), lengths)


def _plain(document: Json) -> RelationSet:
    entities = [read_mention(one) for one in document.listed("entities")]
    relations = []
    for found in document.at("relations").each():
        for keys in (("subj", "head"), ("obj", "tail")):
            found.refuse_several(*keys)
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
    out: Documents[RelationSet] = Documents(str(name), "brat", named=Path(name).is_dir(), unit="characters")
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


def _read_links(
    layout: Layout, opening: Opening, keep_text: bool, sure: ItemConfidences | None, predicted: bool, **_: Any
) -> Documents[RelationSet]:
    """Relations in somebody else's format."""
    found = read_annotated(opening.source, layout, Ask("relations", predicted))
    out: Documents[RelationSet] = Documents(
        found.file, layout.title, named=found.named, warnings=list(found.warnings), unit=layout.unit, left_out=found.left_out,
        contents={} if sure is not None else found.contents, alone=found.alone,
    )  # fmt: skip
    for number, one in enumerate(found.documents, 1):
        name = one.name if one.name is not None else str(number)
        relations = tuple(Relation(link.type, link.subj.mention, link.obj.mention) for link in one.links)
        out.add(name, RelationSet(relations), one.place, _text_of(one) if keep_text else None, one.tokens or ())
        if sure is not None:
            sure.take(name, [link.given for link in one.links], "relations", one.place)
    return out


def _text_of(document: Annotated) -> DocumentText | None:
    if document.sentences is not None:
        return DocumentText(document.sentences)
    return None if document.text is None else of_characters(document.text)


LAYOUTS = (*SYSTEMS, *EXPORTS)

FORMATS = (
    Format("brat", lambda opening: is_brat(opening.source), _read_brat),
    Format(NOTHING, lambda opening: opening.first is None and not opening.documents, _read_nothing),
    Format("DocRED", lambda opening: opening.has("vertexSet"), _read_facts),
    Format("DocRED submission", lambda opening: opening.has("title", "h_idx", "t_idx"), _read_submission, partial=True),
    *formats_of(LAYOUTS, "relations", _read_links),
    Format("JSON", lambda opening: opening.has("relations"), _read_plain),
)
"""The formats of relations, the first that fits. A reader is given the file, and answers with its documents; it keeps their words
where `keep_text` asks for them."""


# The words of documents, for those who want to see them: scoring never looks at them.
#
# JSON has words under `tokens`, or lists of them under `sentences`, and its offsets count these. brat has the text in a .txt
# beside the .ann, and its offsets count characters. Where there is neither, nothing is shown.


@frozen
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
    found, tokens = document.get("sentences"), document.get("tokens")
    if found is not None:
        sentences = found.each()
    elif tokens is not None:
        sentences = [tokens]
    else:
        return None
    listed = tuple(of for one in sentences if (of := words(one)))
    return DocumentText(listed) if listed else None


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
