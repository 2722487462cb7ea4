"""N-ary relations of entities: SciREX's JSON Lines, or plain ones.

    gold        {"doc_id", "ner": [[start, end, type], ...], "coref": {name: [[start, end], ...]}, "n_ary_relations": [{role: name}]}
    system      {"doc_id", "ner", "clusters": {name: [...]}, "predicted_relations": [[[name, ...], score, 0 or 1], ...]}
    plain       {"id", "relations": [{"type": "result", "args": {"Task": [[start, end], ...], "Method": [...]}}]}

A system's names stand in the order Material, Metric, Task, Method. Its three files (entities, clusters, relations) may be given
as one, or apart. Ends are exclusive. `method_subrelations` are merged into their methods, as SciREX does before it scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import msgspec

from tallystick.errors import SidesMismatch, ValueMismatch, some
from tallystick.files.json_values import Json, read_json
from tallystick.files.pairing import Documents, names_of
from tallystick.files.source import AnySource, Source, shown_name
from tallystick.frozen import frozen
from tallystick.tasks.plain import Structure, expect, is_span, named

ROLES = ("Material", "Metric", "Task", "Method")
"""SciREX's roles, in the order in which a predicted relation names them."""

IDS = ("doc_id", "id")
"""Under which of these a document has its name."""
Span = tuple[int, int]
"""Start and end, the end exclusive."""


@frozen
class Relations:
    """A document: typed spans in order, entities by name, and relations from role to entity."""

    spans: Mapping[Span, str] = field(default_factory=dict)
    clusters: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    relations: tuple[Mapping[str, str], ...] = ()
    types: tuple[str, ...] = ()


def read_nary(name: AnySource, *others: AnySource) -> Documents[Relations]:
    """The relations of each document; `others` are files that have the rest of the same documents."""
    out: Documents[Relations] = Documents(shown_name(name), "SciREX")
    records = read_json(name)
    keys, out.named = names_of(records, *IDS)
    more = [_rest(other, keys, out.named, out.file) for other in others]
    for key, *parts in zip(keys, records, *more, strict=True):
        record = parts[0]
        record.refuse_several("relations", "n_ary_relations", "predicted_relations")
        out.add(key, _plain(record) if record.has("relations") else _scirex(parts), record.place)
    out.note_duplicates(_items, "relation")
    return out


def _rest(name: AnySource, keys: list[str], named: bool, file: str) -> list[Json]:
    """What a file has of the documents of another one that are called so."""
    rest: Documents[Json] = Documents(shown_name(name), "SciREX")
    records = read_json(name)
    names, rest.named = names_of(records, *IDS)
    rest.values = dict(zip(names, records, strict=True))
    here = rest.names_here(keys, named, file)
    for key, found in zip(keys, here, strict=True):
        if found is None:
            raise SidesMismatch(f"{file} has the document {key!r}, which {name} does not have")
    return [rest.values[found] for found in here if found is not None]


def _items(document: Relations) -> list[Any]:
    """What two relations of a document differ in, if they are not one and the same."""
    entities = {name: frozenset(mentions) for name, mentions in document.clusters.items()}
    types = document.types or [""] * len(document.relations)
    return [
        (type_, frozenset((role, entities.get(name, name)) for role, name in one.items()))
        for type_, one in zip(types, document.relations, strict=True)
    ]


class _Args(msgspec.Struct):
    args: dict[str, msgspec.Raw]


class _Plain(msgspec.Struct):
    relations: list[_Args]


def find_roles(name: AnySource) -> set[str]:
    """The roles that occur in a file. Of plain JSON Lines nothing else is decoded; whatever is not, is read."""
    try:
        documents = msgspec.json.Decoder(_Plain).decode_lines(Source.of(name).read())
        return {role for document in documents for relation in document.relations for role in relation.args}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        found = read_nary(name).values.values()
        return {role for document in found for relation in document.relations for role in relation}


def nary_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data: relations from role to entity, an entity a list of (start, end)."""
    relations = value
    if isinstance(value, dict):
        if "n_ary_relations" in value or "predicted_relations" in value:  # SciREX's own
            return {**value, **named(value)}
        expect("relations" in value, where, 'a document, a list of relations or a dict with "relations"', value)
        relations, where = value["relations"], f"{where}.relations"
    expect(isinstance(relations, list), where, "a list of relations", relations)
    return named(value, relations=[_relation_of(one, f"{where}[{k}]") for k, one in enumerate(relations)])


def _relation_of(value: Any, where: str) -> dict[str, Any]:
    expect(
        isinstance(value, dict), where, 'a relation, {role: [(start, end), ...]} or {"type": ..., "args": {...}}', value
    )
    args, type_ = (value["args"], value.get("type")) if "args" in value else (value, None)
    if isinstance(value, Structure):
        roles = [one["role"] for one in args]
        if len(set(roles)) < len(roles):
            raise ValueMismatch(
                f"{where}: has a role twice in {roles!r:.60}; an N-ary relation has one entity in each role"
            )
        args = {one["role"]: one["entity"]["mentions"] for one in args}
    expect(isinstance(args, dict), f"{where}.args", "the entity of each role, a dict", args)
    out = {}
    for role, entity in args.items():
        listed = [entity] if is_span(entity) else entity
        expect(isinstance(listed, list), f"{where}.{role}", "an entity, a list of (start, end)", entity)
        for k, mention in enumerate(listed):
            fits = is_span(mention) and len(mention) == 2 if isinstance(mention, list) else is_span(mention)
            expect(fits, f"{where}.{role}[{k}]", "a mention, (start, end)", mention)
        out[role] = [[one["start"], one.get("end")] if isinstance(one, dict) else one[:2] for one in listed]
    return {"args": out, **({"type": type_} if type_ is not None else {})}


def _first(parts: Sequence[Json], *keys: str) -> Json | None:
    return next((found for part in parts if (found := part.get(*keys)) is not None), None)


def _scirex(parts: Sequence[Json]) -> Relations:
    for part in parts:
        part.refuse_several("clusters", "coref")
    clusters_at = _first(parts, "clusters", "coref")
    relations_at = _first(parts, "n_ary_relations", "predicted_relations")
    if clusters_at is None or relations_at is None:
        raise parts[0].fail(
            "expected 'coref' or 'clusters', and 'n_ary_relations' or 'predicted_relations'; or 'relations' (plain)"
        )
    spans_at = _first(parts, "ner")
    spans = {}
    for found in spans_at.each() if spans_at is not None else []:
        typed = found.several(3, "[start, end, type]")
        spans[_span(found)] = typed[2].text()
    clusters = {name: [_mention(span) for span in found.each()] for name, found in clusters_at.items()}
    relations = [_relation(found, clusters) for found in relations_at.each() if _is_positive(found)]
    subrelations = _first(parts, "method_subrelations")
    if subrelations is not None:
        clusters = _merged(clusters, relations, subrelations)
    unlike = {name: tuple(dict.fromkeys(found)) for name, found in clusters.items()}
    return Relations(spans, unlike, tuple(relations), ("",) * len(relations))


def _span(found: Json) -> Span:
    left, right = found.span()
    return left, right + 1


def _mention(found: Json) -> Span:
    if isinstance(found.value, list) and len(found.value) > 2:
        raise found.expected("[start, end]")
    return _span(found)


def _is_positive(found: Json) -> bool:
    """A predicted relation has a score and a decision; only those that were decided for count."""
    if isinstance(found.value, dict):
        return True
    decision = found.several(3, "[[name, ...], score, 0 or 1]")[2]
    if decision.whole() not in (0, 1):
        raise decision.expected("0 or 1")
    return decision.whole() == 1


def _relation(found: Json, clusters: Mapping[str, object]) -> dict[str, str]:
    if isinstance(found.value, dict):
        named = {role: found.at(role) for role in found.value if role in ROLES}
        unknown = [role for role in found.value if role not in (*ROLES, "score")]
        if not named or unknown:
            raise found.fail(f"expected some of the roles {', '.join(ROLES)}, found {some(found.value) or 'none'}")
    else:
        names = found.each()[0].each()
        if len(names) != len(ROLES):
            raise found.fail(f"expected {len(ROLES)} names ({', '.join(ROLES)}), found {len(names)}")
        # A system may relate entities that have no cluster; they are not in the text.
        return {role: one.text() for role, one in zip(ROLES, names, strict=True)}
    for one in named.values():
        if one.text() not in clusters:
            raise one.fail(f"there is no entity {one.text()!r}")
    return {role: named[role].text() for role in ROLES if role in named}


def _merged(clusters: dict[str, list[Span]], relations: list[dict[str, str]], found: Json) -> dict[str, list[Span]]:
    """Spans of a method's parts are the method's; only entities of relations are left, in the order of the relations."""
    grown = {name: list(spans) for name, spans in clusters.items()}
    for method, parts in found.items():
        for part in parts.each():
            name = part.several(2, "[score, name]")[1]
            if method not in grown or name.text() not in grown:
                raise name.fail(f"there is no entity {name.text() if method in grown else method!r}")
            if name.text() != method:
                grown[method] += grown[name.text()]
    return {name: grown[name] for relation in relations for name in relation.values()}


def named_entity(role: str, mentions: Sequence[Span]) -> str:
    """What an entity of a plain file is called: two with the same mentions in one role are one."""
    return f"{role}:{' '.join(f'{a}-{b}' for a, b in mentions)}"


def _plain(record: Json) -> Relations:
    spans: dict[Span, str] = {}
    clusters: dict[str, tuple[Span, ...]] = {}
    relations, types = [], []
    for found in record.at("relations").each():
        relation = {}
        if not found.at("args").mapping():
            raise found.at("args").expected("at least one role")
        for role, entity in found.at("args").items():
            mentions = tuple(dict.fromkeys(_mention(mention) for mention in entity.each()))
            name = named_entity(role, mentions)
            clusters[name] = mentions
            relation[role] = name
            for span in mentions:
                spans.setdefault(span, role)
        type_ = found.get("type")
        relations.append(relation)
        types.append(type_.text() if type_ is not None else "")
    return Relations(spans, clusters, tuple(relations), tuple(types))
