"""Random corpora of every task with errors of all kinds in them, and mended predictions as files, for `benchmarks.mended`."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.tasks.mending import paired_of

Drawn = tuple[Any, Any, dict[str, Any]]
"""Reference, prediction, options."""
PERFECT = {"precision": 1.0, "recall": 1.0, "f1": 1.0}


@dataclass(frozen=True)
class Sample:
    """How corpora of a task are drawn, how a mended one is written, and what is perfect in it."""

    draw: Callable[[random.Random], Drawn]
    write: Callable[[Any], Any]
    perfect: Mapping[str, float] = field(default_factory=lambda: PERFECT)
    never_perfect: frozenset[str] = frozenset()
    """Metrics that are below 1 for two equal sides."""
    not_drawn: frozenset[str] = frozenset()
    """Kinds of error that these corpora cannot have."""


def lines(documents: Sequence[Any]) -> str:
    """JSON Lines; one empty line, where there are none."""
    return "".join(json.dumps(one) + "\n" for one in documents)


def by_name(corpus: Any, lay_out: Callable[[Any], dict[str, Any]]) -> str:
    """The predicted documents of a corpus under their names."""
    pairs = paired_of(corpus)
    assert pairs is not None
    return lines([{"id": name, **lay_out(one)} for name, one in zip(pairs.ids, pairs.predicted, strict=True)])


def both(
    draw: random.Random, make: Callable[[random.Random], dict[str, Any]], damage: Callable[[random.Random, Any], Any]
) -> tuple[str, str]:
    """Some documents, and what a system makes of them."""
    gold = [{"id": f"d{k}", **make(draw)} for k in range(draw.randint(1, 4))]
    return lines(gold), lines([{**one, **damage(draw, json.loads(json.dumps(one)))} for one in gold])


def chance(draw: random.Random, share: float) -> bool:
    return draw.random() < share


# Relations

LENGTH = 20
TYPES = ("lives_in", "works_for", "spouse")
ENTITIES = ("PER", "ORG", None)


def _mention(draw: random.Random, types: Sequence[Any] = ENTITIES) -> dict[str, Any]:
    start = draw.randrange(LENGTH - 3)
    return {"start": start, "end": start + draw.randint(1, 3), "type": draw.choice(types)}


def _shifted(draw: random.Random, mention: dict[str, Any]) -> dict[str, Any]:
    """A mention that overlaps another."""
    start = max(0, mention["start"] + draw.choice((-1, 0, 0)))
    return {**mention, "start": start, "end": max(start + 1, mention["end"] + draw.choice((-1, 0, 1)))}


def _relation(draw: random.Random) -> dict[str, Any]:
    return {"type": draw.choice(TYPES), "subj": _mention(draw), "obj": _mention(draw)}


def _relations(draw: random.Random) -> dict[str, Any]:
    tokens = [f"w{k}" for k in range(LENGTH)] if chance(draw, 0.5) else None
    found = [_relation(draw) for _ in range(draw.randint(0, 4))]
    return {"relations": found, **({"tokens": tokens} if tokens else {})}


def _damaged_relations(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = []
    for one in document["relations"]:
        if chance(draw, 0.15):
            continue
        if chance(draw, 0.25):
            one["type"] = draw.choice(TYPES)
        if chance(draw, 0.2):
            one["subj"], one["obj"] = one["obj"], one["subj"]
        for role in ("subj", "obj"):
            one[role] = _shifted(draw, one[role]) if chance(draw, 0.2) else one[role]
            one[role] = _mention(draw) if chance(draw, 0.1) else one[role]
            one[role] = {**one[role], "type": draw.choice(ENTITIES)} if chance(draw, 0.2) else one[role]
        out += [one] * (2 if chance(draw, 0.1) else 1)
    out += [_relation(draw) for _ in range(draw.choice((0, 0, 1)))]
    draw.shuffle(out)
    return {"relations": out}


def _draw_relations(draw: random.Random) -> Drawn:
    if chance(draw, 0.25):
        return _draw_facts(draw)
    options = {"heads": "last"} if chance(draw, 0.3) else {}
    return (*both(draw, _relations, _damaged_relations), options)


def _written_mention(mention: Any) -> dict[str, Any]:
    known = {key: value for key in ("type", "kind", "head") if (value := getattr(mention, key, None)) is not None}
    if "head" in known:
        known["head"] = [known["head"][0], known["head"][1] + 1]
    return {"start": mention.left, "end": mention.right + 1, **known}


def _draw_facts(draw: random.Random) -> Drawn:
    """DocRED's reference and submission."""
    names = [[{"name": f"Entity {k}"}] for k in range(4)]

    def fact() -> dict[str, Any]:
        pair = draw.sample(range(4), 2)
        return {
            "h": pair[0],
            "t": pair[1],
            "r": draw.choice(("P17", "P27")),
            "evidence": sorted(draw.sample(range(3), draw.randint(0, 2))),
        }

    gold, system = [], []
    for k in range(draw.randint(1, 3)):
        labels = [fact() for _ in range(draw.randint(0, 4))]
        gold.append({"title": f"t{k}", "vertexSet": names, "labels": labels})
        for one in [*(x for x in labels if chance(draw, 0.8)), *(fact() for _ in range(draw.randint(0, 2)))]:
            one = {**one, "h": one["t"], "t": one["h"]} if chance(draw, 0.2) else one
            one = {**one, "r": draw.choice(("P17", "P27"))} if chance(draw, 0.2) else one
            one = {**one, "h": draw.randrange(4)} if chance(draw, 0.2) else one
            one = {**one, "evidence": [0]} if chance(draw, 0.2) else one
            system.append(
                {"title": f"t{k}", "h_idx": one["h"], "t_idx": one["t"], "r": one["r"], "evidence": one["evidence"]}
            )
    return json.dumps(gold), json.dumps(system), {}


def _write_relations(corpus: Any) -> str:
    pairs = paired_of(corpus)
    assert pairs is not None
    if any(hasattr(one, "facts") for one in (*pairs.reference, *pairs.predicted)):
        return json.dumps([
            {"title": name, "h_idx": fact.subj, "t_idx": fact.obj, "r": fact.type, "evidence": list(fact.evidence)}
            for name, document in zip(pairs.ids, pairs.predicted, strict=True)
            for fact in document.facts
        ])  # fmt: skip
    return by_name(corpus, lambda document: {
        "relations": [
            {"type": one.type, "subj": _written_mention(one.subj), "obj": _written_mention(one.obj)}
            for one in document.relations
        ]
    })  # fmt: skip


# Events

EVENTS, ROLES = ("Attack", "Die"), ("Agent", "Victim", "Place")


def _argument(draw: random.Random) -> dict[str, Any]:
    found = _mention(draw)
    return {"role": draw.choice(ROLES), "start": found["start"], "end": found["end"]}


def _event(draw: random.Random) -> dict[str, Any]:
    start = draw.randrange(LENGTH - 2)
    trigger = {"start": start, "end": start + draw.randint(1, 2)}
    return {
        "type": draw.choice(EVENTS),
        "trigger": trigger,
        "arguments": [_argument(draw) for _ in range(draw.randint(0, 3))],
    }


def _events(draw: random.Random) -> dict[str, Any]:
    return {"tokens": [f"w{k}" for k in range(LENGTH)], "events": [_event(draw) for _ in range(draw.randint(0, 3))]}


def _damaged_events(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = []
    for one in document["events"]:
        if chance(draw, 0.15):
            continue
        one["type"] = draw.choice(EVENTS) if chance(draw, 0.2) else one["type"]
        one["trigger"] = _shifted(draw, one["trigger"]) if chance(draw, 0.2) else one["trigger"]
        one["trigger"] = _event(draw)["trigger"] if chance(draw, 0.1) else one["trigger"]
        one["arguments"] = _damaged_arguments(draw, one["arguments"])
        out += [one] * (2 if chance(draw, 0.1) else 1)
    out += [_event(draw) for _ in range(draw.choice((0, 0, 1)))]
    filled = [one for one in out if one["arguments"]]
    if len(out) > 1 and filled and chance(draw, 0.4):
        giver = draw.choice(filled)
        draw.choice(out)["arguments"].append(giver["arguments"].pop())
    return {"events": out}


def _damaged_arguments(draw: random.Random, arguments: list[Any]) -> list[Any]:
    out = []
    for one in arguments:
        if chance(draw, 0.15):
            continue
        one = _shifted(draw, one) if chance(draw, 0.2) else one
        one = {**one, "role": draw.choice(ROLES)} if chance(draw, 0.2) else one
        one = {**_argument(draw), "role": one["role"]} if chance(draw, 0.1) else one
        out += [one] * (2 if chance(draw, 0.1) else 1)
    return out + [_argument(draw) for _ in range(draw.choice((0, 0, 0, 1)))]


def _write_events(corpus: Any) -> str:
    return by_name(corpus, lambda document: {
        "events": [
            {"type": one.trig.type, "trigger": _written_mention(one.trig.mention), "arguments": [
                {"role": argument.role, **_written_mention(argument.mention)} for argument in one.args
            ]}
            for one in document.events
        ]
    })  # fmt: skip


def _draw_events(draw: random.Random) -> Drawn:
    return (*both(draw, _events, _damaged_events), {"heads": "last"} if chance(draw, 0.3) else {})


SAMPLES = {
    "relations": Sample(_draw_relations, _write_relations),
    "events": Sample(_draw_events, _write_events),
}
