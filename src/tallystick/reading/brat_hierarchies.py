r"""Event hierarchies in brat's standoff format: a `.ann` file is a document, a folder of them a corpus.

    T1 <tab> Attack 10 16 <tab> attack
    E1 <tab> Attack:T1
    R1 <tab> Subevent Arg1:E1 Arg2:E2
    *  <tab> Coreference E1 E3

Events are the E annotations, or, in a file without any, the text-bound ones (T). An event is the same on both sides
if its trigger has the same span; of several events on one span the first meets the first, in the order of types.
`Arg1` is the parent and `Arg2` the child, unless the arguments are called Parent and Child (or Super and Sub). Types
are known whatever their case and signs: Subevent, SuperSub, SubSuper (child first), Member, Membership, and for full
coreference Coref, Coreference, Equiv, Same. Relations of other types are left out, and it is said how many.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tallystick.errors import InputError
from tallystick.reading.hierarchies import Building, Hierarchies, Where
from tallystick.reading.opening import read_text, shown_name
from tallystick.reading.packed import unpacked_name
from tallystick.structures.hierarchies import MEMBERSHIP, SUBEVENT

_KINDS = {
    "subevent": SUBEVENT, "subeventof": SUBEVENT, "hassubevent": SUBEVENT, "supersub": SUBEVENT, "subsuper": SUBEVENT,
    "member": MEMBERSHIP, "membership": MEMBERSHIP, "hasmember": MEMBERSHIP, "memberof": MEMBERSHIP,
    "coref": "coreference", "coreference": "coreference", "fullcoref": "coreference", "fullcoreference": "coreference",
    "equiv": "coreference", "same": "coreference", "identity": "coreference",
}  # fmt: skip
_CHILD_FIRST = {"subsuper", "subeventof", "memberof"}
_PARENTS, _CHILDREN = ("parent", "super", "superevent", "collection"), ("child", "sub", "subevent", "member")
_LEFT_ALONE = "AMN#"  # attributes, modifications, normalisations and notes say nothing about hierarchies


@dataclass(frozen=True)
class _Relation:
    kind: str
    first: tuple[str, Where]
    second: tuple[str, Where]


def read_brat(name: str | Path) -> Hierarchies:
    """A `.ann` file, or all of a folder."""
    path = Path(str(name))
    paths = sorted(path.glob("*.ann")) if path.is_dir() else [path]
    if not paths:
        raise InputError("has no .ann files", shown_name(name))
    building = Building(identified_by="span")
    for one in paths:
        file = shown_name(one)
        building.file, building.text = file, read_text(one)
        building.texts[file] = building.text
        building.open(Path(unpacked_name(file)).stem)
        _read(building)
    return building.finish(named=path.is_dir())


def _read(building: Building) -> None:
    triggers: dict[str, tuple[str, str, Where]] = {}
    events: dict[str, tuple[str, str, Where]] = {}
    relations: list[_Relation] = []
    clusters: list[list[tuple[str, Where]]] = []
    others: Counter[str] = Counter()
    for number, line in enumerate(building.text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or line[0] in _LEFT_ALONE:
            continue
        identifier, tab, rest = line.partition("\t")
        content = rest.partition("\t")[0]
        start = len(identifier) + 2
        words = [(m.group(), (number, start + m.start())) for m in re.finditer(r"\S+", content)]
        if not tab or not words:
            raise building.error("expected an id, a tab and an annotation of brat's standoff format", (number, 1))
        if line[0] == "T":
            triggers[identifier] = (words[0][0], content.partition(" ")[2], (number, 1))
        elif line[0] == "E":
            kind, colon, trigger = words[0][0].partition(":")
            if not colon:
                raise building.error(f"found {words[0][0]}; expected Type:Trigger", words[0][1])
            events[identifier] = (kind, trigger, words[0][1])
        elif line[0] == "*":
            if _KINDS.get(_plain(words[0][0])) == "coreference":
                clusters.append(words[1:])
            else:
                others[words[0][0]] += 1
        elif line[0] == "R":
            relation = _relation(building, words)
            if relation is None:
                others[words[0][0]] += 1
            else:
                relations.append(relation)
        else:
            raise building.error(f"unknown kind of annotation {identifier!r}", (number, 1))
    spans = _spans(building, events, triggers)
    for identifier, (span, where) in spans.items():
        building.event(identifier, where, span)
    for cluster in clusters:
        building.corefer(cluster)
    for relation in relations:
        if relation.kind == "coreference":
            building.corefer([relation.first, relation.second])
        else:
            building.link(
                relation.first[0], relation.second[0], relation.kind, relation.first[1], at_child=relation.second[1]
            )
    if others:
        listed = ", ".join(f"{kind} ({count:,})" for kind, count in others.most_common())
        building.notes.append(f"{building.file}: relations of other types left out: {listed}")


def _relation(building: Building, words: list[tuple[str, Where]]) -> _Relation | None:
    name = _plain(words[0][0])
    kind = _KINDS.get(name)
    if kind is None:
        return None
    found: list[tuple[str, str, Where]] = []
    for word, (number, column) in words[1:]:
        role, colon, identifier = word.partition(":")
        if not colon:
            raise building.error(f"found {word}; expected Role:Event", (number, column))
        found.append((_plain(role), identifier, (number, column + len(role) + 1)))
    if len(found) != 2:
        raise building.error(f"found {len(found)} arguments; expected a parent and a child", words[0][1])
    turned = name in _CHILD_FIRST
    if found[0][0] in _CHILDREN or found[1][0] in _PARENTS:
        turned = True
    elif found[0][0] in _PARENTS or found[1][0] in _CHILDREN:
        turned = False
    elif found[0][0] == "arg2":
        turned = not turned
    first, second = reversed(found) if turned else found
    return _Relation(kind, first[1:], second[1:])


def _spans(
    building: Building, events: dict[str, tuple[str, str, Where]], triggers: dict[str, tuple[str, str, Where]]
) -> dict[str, tuple[tuple[str, int], Where]]:
    """The identity of each event: the span of its trigger, and its number among those on that span."""
    if not events:  # a file that annotates events as text-bound annotations only
        events = {key: (kind, key, where) for key, (kind, _, where) in triggers.items()}
    for identifier, (_, trigger, where) in events.items():
        if trigger not in triggers:
            raise building.error(f"event {identifier} has the trigger {trigger}, which is not there", where)
    order = sorted(events, key=lambda key: events[key][0])
    seen: Counter[str] = Counter()
    number: dict[str, int] = {}
    for key in order:
        span = triggers[events[key][1]][1]
        number[key] = seen[span]
        seen[span] += 1
    return {key: ((triggers[trigger][1], number[key]), triggers[trigger][2]) for key, (_, trigger, _) in events.items()}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()) if not re.fullmatch(r"(?i)arg\d", name) else name.lower()
