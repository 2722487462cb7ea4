"""Role-filler entities: grit's JSON, or plain JSON Lines.

    {"id": "d1", "roles": {"PerpInd": [["guerrillas", "the rebels"], ["a sniper"]], "Target": []}}       plain, one a line
    {"docid": "TST1-MUC3-0001", "extracts": {"PerpInd": [[["guerrillas", 17], ...], ...]}}               grit's gold, one a line
    {"10001": {"pred_extracts": {"PerpInd": [["guerrillas"]]}}, ...}                                     grit's predictions
    {"10001": {"PerpInd": [["guerrillas"]]}, ...}                                                        the same, bare

A mention is its text, `[text, offset]`, or `{"text": ..., "kind": "name"}`; or, where texts do not matter, `{"start", "end"}`.
grit calls TST1-MUC3-0001 by a number, 10001; so does this reader.
"""

from __future__ import annotations

import re
from typing import Any

from tallystick.errors import ValueMismatch
from tallystick.files.json_values import Json, read_json
from tallystick.files.pairing import Documents, names_of
from tallystick.files.source import AnySource, shown_name
from tallystick.structures.texts import Entity, NAryRelation, RoleFillerEntity, TextMention
from tallystick.tasks.plain import Structure, expect, named

_MUC = re.compile(r"[A-Z]+(\d)-MUC\d-(\d+)")

Roles = NAryRelation[TextMention]


def read_roles(name: AnySource) -> Documents[Roles]:
    """The role fillers of each document."""
    records = read_json(name)
    if len(records) == 1 and not any(map(records[0].has, ("roles", "extracts", "pred_extracts"))):
        out: Documents[Roles] = Documents(shown_name(name), "grit")
        for key, document in records[0].items():
            document.refuse_several("roles", "extracts", "pred_extracts")
            found = document.get("pred_extracts", "extracts", "roles") or document
            out.add(gtt_name(key), _roles(found), document.place)
        if not out.values:
            raise records[0].fail("has no documents")
        return out
    out = Documents(shown_name(name), "grit" if records and records[0].has("extracts") else "JSON")
    names, out.named = names_of(records, "id", "docid", "doc_id")
    for name_, record in zip(names, records, strict=True):
        record.refuse_several("roles", "extracts", "pred_extracts")
        key = gtt_name(name_) if out.named else name_
        out.add(key, _roles(record.at("roles", "extracts", "pred_extracts")), record.place)
    return out


def role_document(value: Any, where: str) -> dict[str, Any]:
    """One document of plain data: the entities of each role, an entity a list of its mentions."""
    expect(isinstance(value, dict), where, "a document, a dict with the entities of each role", value)
    if isinstance(value, Structure):
        roles: dict[str, Any] = {}
        for one in value["args"]:
            roles.setdefault(one["role"], []).append(one["entity"]["mentions"])
        return {
            "roles": {role: [[_without_none(m) for m in entity] for entity in found] for role, found in roles.items()}
        }
    found = next((value[key] for key in ("roles", "extracts", "pred_extracts") if key in value), None)
    roles_ = value if found is None else found
    expect(isinstance(roles_, dict), where, "the entities of each role, a dict", roles_)
    for role, entities in roles_.items():
        at = f"{where}[{role!r}]"
        expect(isinstance(entities, list), at, "a list of entities, each a list of its mentions", entities)
        for k, entity in enumerate(entities):
            if isinstance(entity, str):
                raise ValueMismatch(
                    f"{at}: are {entities!r:.60} the mentions of one entity, or entities of one mention each? Give [[...]] or [[...], [...]]"
                )
            expect(isinstance(entity, list), f"{at}[{k}]", "an entity, a list of its mentions", entity)
    return named(value, roles=roles_)


def _without_none(value: Any) -> Any:
    return {key: one for key, one in value.items() if one is not None} if isinstance(value, dict) else value


def gtt_name(name: str) -> str:
    """What gtt and GRIT call a document of MUC: TST1-MUC3-0001 is 10001, TST2-MUC4-0001 is 20001; other names are as they are."""
    found = _MUC.fullmatch(name)
    return str(int(found[1]) * 10000 + int(found[2])) if found else name


def _roles(found: Json) -> Roles:
    args = []
    for role, entities in found.items():
        for entity in entities.each():
            args.append(RoleFillerEntity(role, Entity(tuple(_mention(mention) for mention in entity.each()))))
    return NAryRelation("", tuple(args))


def _mention(found: Json) -> TextMention:
    if isinstance(found.value, list):
        said, *offsets = found.several(1, "[text, offset]")
        if any(type(one.value) is not int for one in offsets):
            raise found.expected("[text, offset]")
        return TextMention(said.text())
    if isinstance(found.value, dict):
        kind = found.get("kind", "mention_type")
        text = found.get("text")
        if text is None:
            start, end = found.checked_span(found.at("start").whole(), found.at("end").whole(), inclusive=False)
            return TextMention(f"{start}:{end}", kind.text() if kind is not None else None)
        return TextMention(text.text(), kind.text() if kind is not None else None)
    if not isinstance(found.value, str):
        raise found.expected('text, [text, offset] or {"text": ...}')
    return TextMention(found.value)
