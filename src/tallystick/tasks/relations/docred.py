"""DocRED: facts of documents, what a system submits, and the facts of the training data.

    reference   [{"title", "vertexSet": [[{"name", ...}, ...], ...], "labels": [{"h", "t", "r", "evidence"}]}]
    submission  [{"title", "h_idx", "t_idx", "r", "evidence"}]

A submission lists facts, so a document without one does not appear in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.errors import Place
from tallystick.files.json_values import Json
from tallystick.files.pairing import Documents
from tallystick.files.source import AnySource
from tallystick.structures.texts import Fact, FactSet

TrainingFacts = frozenset[tuple[str, str, str]]
"""(name of the subject, name of the object, relation)"""


def is_reference(document: Json) -> bool:
    """Whether it is a document with its entities and facts."""
    return document.has("vertexSet")


def is_submission(document: Json) -> bool:
    """Whether it is a submitted fact."""
    return document.has("title", "h_idx", "t_idx")


def read_reference(
    documents: list[Json], file: str, training: Mapping[str, TrainingFacts] | None = None
) -> Documents[FactSet]:
    """The facts of each document; a fact that has been seen in training knows where."""
    out: Documents[FactSet] = Documents(file, "DocRED")
    repeated = 0
    for document in documents:
        names = _names(document)
        facts: dict[tuple[str, int, int], Fact] = {}
        labels = document.get("labels")
        for label in labels.each() if labels is not None else []:
            subj, obj = (_vertex(label.at(key), len(names)) for key in ("h", "t"))
            type_ = label.at("r").text()
            seen = [
                source
                for source, known in (training or {}).items()
                if any((a, b, type_) in known for a in names[subj] for b in names[obj])
            ]
            repeated += (type_, subj, obj) in facts
            facts.setdefault((type_, subj, obj), Fact(type_, subj, obj, _evidence(label), tuple(seen)))
        out.add(document.at("title").text(), FactSet(tuple(facts.values())), document.place)
    _warn(out, repeated)
    return out


def read_submission(facts: list[Json], file: str) -> Documents[FactSet]:
    """What a system submits."""
    out: Documents[FactSet] = Documents(file, "DocRED", partial=True)
    found: dict[str, dict[tuple[str, int, int], Fact]] = {}
    repeated = 0
    for fact in facts:
        type_, subj, obj = fact.at("r").text(), fact.at("h_idx").whole(), fact.at("t_idx").whole()
        here = found.setdefault(fact.at("title").text(), {})
        repeated += (type_, subj, obj) in here
        here.setdefault((type_, subj, obj), Fact(type_, subj, obj, _evidence(fact)))
    for title, here in found.items():
        out.add(title, FactSet(tuple(here.values())), Place(file))
    _warn(out, repeated)
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
    found = label.get("evidence")
    return tuple(dict.fromkeys(one.whole() for one in found.each())) if found is not None else ()


def _warn(out: Documents[FactSet], repeated: int) -> None:
    if repeated:
        many = "1 fact stands" if repeated == 1 else f"{repeated:,} facts stand"
        out.warnings.append(f"{out.file}: {many} there twice and counted once, with the evidence that came first")
