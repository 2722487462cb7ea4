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
    otherwise: Callable[[Any, Any], dict[str, Any]] | None = None
    """What scores a mended file that the task's reader refuses."""


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


# Dependencies

RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "case", "punct", "conj", "aux")
LABELS = ("nsubj", "nsubj:pass", "conj:and>obj", "conj>obj")
FEATS = ("_", "Number=Sing", "Number=Plur", "Number=Sing|Typo=Yes")
Word = dict[str, Any]
"""A word by its columns; `multi` is the form of the multi-word token that begins with it, and its number of words."""


def _tree(draw: random.Random, size: int) -> list[int]:
    order = draw.sample(range(size), size)
    heads = [0] * size
    for at in range(1, size):
        heads[order[at]] = order[draw.randrange(at)] + 1
    return heads


def _sentence(draw: random.Random, text: str) -> list[Word]:
    words: list[Word] = []
    while text:
        form, text = text[: (cut := draw.choice((1, 1, 2, 3)))], text[cut:]
        parts = draw.choices("abAB", k=draw.randint(1, 3)) if chance(draw, 0.2) else [form]
        multi = (form, len(parts)) if parts != [form] else None
        words += [{"form": part, "multi": multi if k == 0 else None} for k, part in enumerate(parts)]
    for word, head in zip(words, _tree(draw, len(words)), strict=True):
        word |= {"head": head, "deprel": draw.choice(RELATIONS) if head else "root", **_tags(draw, len(words))}
    return words


def _tags(draw: random.Random, size: int) -> Word:
    edges = [f"{draw.randint(0, size)}:{draw.choice(LABELS)}" for _ in range(draw.choice((0, 1, 1, 2)))]
    return {
        "lemma": draw.choice(("x", "y", "_")), "upos": draw.choice(("NOUN", "VERB")), "xpos": draw.choice("UV"),
        "feats": draw.choice(FEATS), "deps": "|".join(edges) or "_",
    }  # fmt: skip


def _treebank(draw: random.Random, text: str) -> list[list[Word]]:
    out = []
    while text:
        size = draw.choice((1, 3, 6, 12))
        out.append(_sentence(draw, text[:size]))
        text = text[size:]
    return out


def _parsed_again(draw: random.Random, sentences: list[list[Word]]) -> list[list[Word]]:
    """The same words with other annotations here and there; the heads are of another tree, or the same."""
    out = []
    for sentence in sentences:
        heads = _tree(draw, len(sentence)) if chance(draw, 0.5) else [word["head"] for word in sentence]
        again = []
        for word, head in zip(sentence, heads, strict=True):
            tags = _tags(draw, len(sentence))
            new = {key: value for key, value in tags.items() if chance(draw, 0.3)}
            deprel = draw.choice(RELATIONS) if chance(draw, 0.3) else word["deprel"]
            again.append({**word, **new, "head": head, "deprel": deprel})
        out.append(again)
    return out


def _conllu(sentences: Sequence[Sequence[Word]]) -> str:
    rows = []
    for sentence in sentences:
        for k, word in enumerate(sentence, 1):
            if word["multi"]:
                rows.append("\t".join([f"{k}-{k + word['multi'][1] - 1}", word["multi"][0], *"________"]))
            cells = (word[key] for key in ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps"))
            rows.append("\t".join([str(k), *map(str, cells), "_"]))
        rows.append("")
    return "".join(f"{row}\n" for row in rows)


def _draw_dependencies(draw: random.Random) -> Drawn:
    text = "".join(draw.choices("abA", k=draw.randint(1, 24)))
    gold = _treebank(draw, text)
    system = _parsed_again(draw, gold) if chance(draw, 0.6) else _treebank(draw, text)
    return _conllu(gold), _conllu(system), {"several_roots": True}


def _write_dependencies(corpus: Any) -> str:
    """The mended side word by word, from its columns."""
    side = corpus[1]
    edges: dict[int, list[tuple[int, str]]] = {}
    for k, word in enumerate(side.enhanced.dependent.tolist()):
        edges.setdefault(word, []).append((int(side.enhanced.head[k]), side.enhanced.label[k]))
    sentences = []
    for begin, end in zip(side.sentence_words[:-1].tolist(), side.sentence_words[1:].tolist(), strict=True):
        sentence = []
        for word in range(begin, end):
            token = int(side.word_token[word])
            begins = word == 0 or side.word_token[word - 1] != token
            multi = (side.text[side.token_start[token] : side.token_end[token]], side.word_token.tolist().count(token))
            local = (f"{head - begin + 1 if head >= 0 else 0}:{label}" for head, label in edges.get(word, []))
            sentence.append({
                **{key: getattr(side, key)[word] for key in ("form", "lemma", "upos", "xpos", "feats", "deprel")},
                "head": int(side.head[word]) - begin + 1 if side.head[word] >= 0 else 0,
                "multi": multi if begins and side.token_is_multiword[token] else None, "deps": "|".join(local) or "_",
            })  # fmt: skip
        sentences.append(sentence)
    return _conllu(sentences)


def score_parses(reference: str, predicted: str) -> dict[str, Any]:
    """The results of a mended parse that is no tree, which the command refuses: with some errors mended and others left two words
    may be the head of each other."""
    from tallystick.tasks.dependencies.files import parse_conllu
    from tallystick.tasks.dependencies.metrics import score

    return score(parse_conllu(reference), parse_conllu(predicted, trees=False))


# Role-filler entities

WORDS = ("the rebels", "rebels", "two men", "a bomb", "embassy", "the embassy gate", "men", "mayor", "car bomb")


def _entity(draw: random.Random) -> list[str]:
    return draw.sample(WORDS, draw.randint(1, 3))


def _roles(draw: random.Random) -> dict[str, Any]:
    return {
        "roles": {role: [_entity(draw) for _ in range(draw.randint(0, 2))] for role in ("Agent", "Target", "Weapon")}
    }


def _damaged_roles(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, list[Any]] = {role: [] for role in document["roles"]}
    for role, entities in document["roles"].items():
        for entity in entities:
            entity = [one for one in entity if chance(draw, 0.8)]
            entity += draw.sample(WORDS, 1) if chance(draw, 0.3) else []
            where = draw.choice(list(out)) if chance(draw, 0.2) else role
            if chance(draw, 0.15):
                continue
            out[where] += [entity[:1], entity[1:]] if chance(draw, 0.15) else [entity]
        out[role] += [_entity(draw)] if chance(draw, 0.2) else []
    return {"roles": out}


def _write_roles(corpus: Any) -> str:
    def lay_out(document: Any) -> dict[str, Any]:
        roles: dict[str, list[Any]] = {}
        for one in document.args:
            roles.setdefault(one.role, []).append([mention.text for mention in one.entity.mentions])
        return {"roles": roles}

    return by_name(corpus, lay_out)


# Templates


def _template(draw: random.Random) -> dict[str, Any]:
    slots = {slot: [_entity(draw) for _ in range(draw.randint(0, 2))] for slot in ("Agent", "Target", "Weapon")}
    return {"type": draw.choice(("attack", "arson", "attack / arson")), "slots": slots}


def _templates(draw: random.Random) -> dict[str, Any]:
    return {"templates": [_template(draw) for _ in range(draw.randint(0, 3))]}


def _damaged_templates(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = []
    for one in document["templates"]:
        if chance(draw, 0.15):
            continue
        slots = _damaged_roles(draw, {"roles": one["slots"]})["roles"]
        slots = {slot: [entity for entity in entities if entity] for slot, entities in slots.items()}
        out.append({"type": draw.choice(one["type"].split(" / ")), "slots": slots})
    if len(out) > 1 and chance(draw, 0.5):
        givers = [(one["slots"], slot) for one in out for slot in one["slots"] if one["slots"][slot]]
        if givers:
            slots, slot = draw.choice(givers)
            draw.choice(out)["slots"][slot].append(slots[slot].pop())
    out += [{**_template(draw), "type": "robbery"}] if chance(draw, 0.2) else []
    return {"templates": out}


def _write_templates(corpus: Any) -> str:
    def lay_out(document: Any) -> dict[str, Any]:
        out = []
        for template in document.templates:
            slots: dict[str, list[Any]] = {}
            for one in template.fillers:
                slots.setdefault(one.slot, []).append(list(one.value.mentions))
            out.append({"type": template.type, "slots": slots})
        return {"templates": out}

    return by_name(corpus, lay_out)


# Event arguments

TEXT = [
    "the",
    "rebels",
    "and",
    "two",
    "men",
    "attacked",
    "the",
    "mayor",
    "of",
    "lima",
    "with",
    "a",
    "car",
    "bomb",
    ",",
    "two",
    "men",
    "and",
    "the",
    "mayor",
    "fled",
    "to",
    "lima",
]


def _placed(draw: random.Random) -> dict[str, int]:
    start = draw.randrange(len(TEXT))
    return {"start": start, "end": min(len(TEXT), start + draw.choice((1, 1, 2, 2, 3, 5)))}


def _described(draw: random.Random) -> dict[str, Any]:
    events = [{"id": f"e{k}", "type": draw.choice(EVENTS), "trigger": {"start": 5 + k, "end": 6 + k}} for k in range(2)]
    for one in events:
        one["arguments"] = [{"role": draw.choice(ROLES), **_placed(draw)} for _ in range(draw.randint(0, 3))]
    return {"tokens": TEXT, "events": events}


def _damaged_described(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    found = [(event["id"], one) for event in document["events"] for one in event.pop("arguments")]
    flat = []
    for event, one in found:
        if chance(draw, 0.15):
            continue
        one = {"event": event, **one}
        if chance(draw, 0.25):
            one |= {"start": max(0, one["start"] - 1)} if chance(draw, 0.5) else {"end": min(len(TEXT), one["end"] + 1)}
        if chance(draw, 0.3):  # the same words somewhere else, if they are there, or without a place
            words = TEXT[one["start"] : one["end"]]
            places = [k for k in range(len(TEXT)) if TEXT[k : k + len(words)] == words]
            one |= {"start": (start := draw.choice(places)), "end": start + len(words)}
            if chance(draw, 0.3):
                one = {"event": event, "role": one["role"], "text": " ".join(words)}
        one["role"] = draw.choice(ROLES) if chance(draw, 0.15) else one["role"]
        one["event"] = draw.choice(("e0", "e1")) if chance(draw, 0.15) else one["event"]
        if "and" in TEXT[one.get("start", 0) : one.get("end", 0)] and chance(draw, 0.6):
            cut = TEXT.index("and", one["start"])
            flat += [part for part in ({**one, "end": cut}, {**one, "start": cut + 1}) if part["start"] < part["end"]]
        else:
            flat.append(one)
    flat += [{"event": "e0", "role": draw.choice(ROLES), **_placed(draw)} for _ in range(draw.randint(0, 1))]
    return {"events": document["events"], "arguments": flat}


def _write_arguments(corpus: Any) -> str:
    def lay_out(document: Any) -> dict[str, Any]:
        events = [
            {"id": one.id, "type": one.type, "trigger": {"start": one.span[0], "end": one.span[1] + 1}}
            for one in document.events
        ]
        arguments = [
            {
                "event": one.event,
                "role": one.role,
                "text": one.text,
                **({} if one.span is None else {"start": one.span[0], "end": one.span[1] + 1}),
            }
            for one in document.arguments
        ]
        return {"events": events, "arguments": arguments}

    return by_name(corpus, lay_out)


# Tool calls

VALUES: dict[str, tuple[Any, ...]] = {
    "city": ("Oslo", "Rome"),
    "days": (1, 2),
    "exact": (True, False),
    "to": (["a"], ["a", "b"]),
    "filter": ({"lang": "en"}, {"lang": "de"}),
}


def _call(draw: random.Random) -> dict[str, Any]:
    names = draw.sample(list(VALUES), draw.randint(0, 4))
    return {
        "name": draw.choice(("weather", "search", "mail")),
        "arguments": {name: draw.choice(VALUES[name]) for name in names},
    }


def _calls(draw: random.Random) -> dict[str, Any]:
    return {"calls": [_call(draw) for _ in range(draw.randint(0, 3))]}


def _damaged_calls(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = []
    for one in document["calls"]:
        if chance(draw, 0.15):
            continue
        arguments = {name: value for name, value in one["arguments"].items() if chance(draw, 0.85)}
        arguments = {
            name: draw.choice(VALUES[name]) if chance(draw, 0.2) else value for name, value in arguments.items()
        }
        arguments |= {"city": "Oslo"} if chance(draw, 0.1) else {}
        arguments |= {"invented": "x"} if chance(draw, 0.15) else {}
        name = draw.choice(("weather", "mail", "made_up")) if chance(draw, 0.2) else one["name"]
        out.append({"name": name, "arguments": arguments})
    out += [_call(draw)] if chance(draw, 0.2) else []
    draw.shuffle(out)
    return {"calls": out}


def _draw_calls(draw: random.Random) -> Drawn:
    every = {
        "id": "all",
        "calls": [{"name": "weather", "arguments": {name: values[0] for name, values in VALUES.items()}}],
    }
    sides = both(draw, _calls, _damaged_calls)
    gold, system = ([every, *map(json.loads, side.splitlines())] for side in sides)
    options = {"ordered": True} if chance(draw, 0.4) else {}
    return {one["id"]: one["calls"] for one in gold}, {one["id"]: one["calls"] for one in system}, options


def _write_calls(corpus: Any) -> dict[str, Any]:
    side = corpus.sides[1]
    return {
        name: [
            {
                "name": one["name"],
                "arguments": {**one.get("arguments", {}), **dict.fromkeys(one.get("unknown", ()), "x")},
            }
            for one in json.loads(line).get("calls", ())
        ]
        for name, line in zip(side.names, side.documents, strict=True)
    }


# Event hierarchies

NAMES = [f"E{k}" for k in range(7)]


def _hierarchy(draw: random.Random) -> dict[str, Any]:
    """A forest of each type of links over some events, of which two may be one."""
    events = draw.sample(NAMES, draw.randint(2, 6))
    links = {}
    for kind in ("subevent", "membership"):
        links[kind] = [[draw.choice(events[:k]), events[k]] for k in range(1, len(events)) if chance(draw, 0.6)]
    leaves = [one for one in events if all(one not in link for found in links.values() for link in found)]
    coreference = [draw.sample(leaves, 2)] if len(leaves) > 1 and chance(draw, 0.6) else []
    return {"events": events, "links": links, "coreference": coreference}


def _damaged_hierarchy(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    events, links = list(document["events"]), document["links"]
    out: dict[str, list[Any]] = {kind: [] for kind in links}
    for kind, found in links.items():
        for parent, child in found:
            if chance(draw, 0.15):
                continue
            earlier = events[: events.index(child)]
            parent = draw.choice(earlier) if chance(draw, 0.2) else parent
            where = draw.choice(list(out)) if chance(draw, 0.15) else kind
            out[where].append([child, parent] if chance(draw, 0.15) else [parent, child])
    gone = {draw.choice(events)} if chance(draw, 0.2) else set()
    more = [name for name in NAMES if name not in events][:1] if chance(draw, 0.3) else []
    out["subevent"] += [[events[0], one] for one in more if chance(draw, 0.5)]
    kept = [one for one in events if one not in gone] + more
    clusters = (
        document["coreference"]
        if chance(draw, 0.5)
        else [draw.sample(kept, 2)]
        if len(kept) > 1 and chance(draw, 0.5)
        else []
    )
    return {
        "events": kept,
        "links": {kind: [link for link in found if not gone & set(link)] for kind, found in out.items()},
        "coreference": [cluster for cluster in clusters if not gone & set(cluster)],
    }


def _draw_hierarchies(draw: random.Random) -> Drawn:
    both_kinds = {"id": "both", "events": ["A", "B"], "links": {"subevent": [["A", "B"]], "membership": [["A", "B"]]}}
    gold, system = both(draw, _hierarchy, _damaged_hierarchy)
    every = (
        {"metrics": ("mentions", "muc_p", "blanc_p", "siblings_p", "ceaf_p")}
        if chance(draw, 0.5)
        else {"metrics": ("muc_p", "nstm_p", "ceaf_stm")}
    )
    return lines([both_kinds]) + gold, lines([both_kinds]) + system, every


def _write_hierarchies(corpus: Any) -> str:
    from tallystick.tasks.hierarchies.metrics import document_of

    out = []
    for k, name in enumerate(corpus[1].documents):
        one = document_of(corpus[1], k)
        links: dict[str, list[Any]] = {}
        for link in one.links:
            links.setdefault(link.type, []).append([link.parent, link.child])
        out.append(
            {"id": name, "events": list(one.events), "links": links, "coreference": [list(c) for c in one.coreference]}
        )
    return lines(out)


# Graphs of meaning

CONCEPTS, EDGES = ("want-01", "want-02", "boy", "girl", "go-01"), (":ARG0", ":ARG1", ":ARG0-of", ":mod", ":op1")


def _amr(draw: random.Random) -> dict[str, Any]:
    names = [f"v{k}" for k in range(draw.randint(1, 4))]
    triples = [[name, ":instance", draw.choice(CONCEPTS)] for name in names]
    triples += [[draw.choice(names[:k]), draw.choice(EDGES), names[k]] for k in range(1, len(names))]
    triples += [[draw.choice(names), draw.choice(EDGES), draw.choice(names)]] if chance(draw, 0.4) else []
    triples += [[draw.choice(names), ":polarity", "-"]] if chance(draw, 0.4) else []
    triples += [[draw.choice(names), ":quant", draw.choice("123")]] if chance(draw, 0.4) else []
    return {"triples": triples, "top": names[0]}


def _damaged_amr(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    names = [one[0] for one in document["triples"] if one[1] == ":instance"]
    out = []
    for source, role, target in document["triples"]:
        if role == ":instance":
            out.append([source, role, draw.choice(CONCEPTS) if chance(draw, 0.25) else target])
            continue
        if chance(draw, 0.15):
            continue
        source = draw.choice(names) if chance(draw, 0.15) else source
        role = draw.choice(EDGES) if chance(draw, 0.2) and target in names else role
        target = draw.choice("123") if role == ":quant" and chance(draw, 0.4) else target
        out.append([target, role, source] if target in names and chance(draw, 0.1) else [source, role, target])
    if chance(draw, 0.3):
        out += [["x", ":instance", draw.choice(CONCEPTS)], [names[0], draw.choice(EDGES), "x"]]
    if len(names) > 1 and chance(draw, 0.25):
        gone = names[-1]
        out = [one for one in out if gone not in one]
    out += [[names[0], ":polarity", "-"]] if chance(draw, 0.2) else []
    out += [[draw.choice(names[:-1] or names), draw.choice(EDGES), names[0]]] if chance(draw, 0.25) else []
    there = [one[0] for one in out if one[1] == ":instance"]
    return {"triples": out, "top": draw.choice(there) if chance(draw, 0.2) else there[0]}


def _draw_amr(draw: random.Random) -> Drawn:
    presets = ({}, {"preset": "smatch", "duplicates": "removed"}, {"preset": "smatchpp"})
    return (
        *both(draw, _amr, _damaged_amr),
        {**draw.choice(presets), "input": "triples", "metrics": ("smatch", "unlabelled", "concepts", "reentrancies")},
    )


def _write_amr(corpus: Any) -> str:
    return lines([
        {"id": graph.name, "triples": [list(one) for one in graph.triples], "top": graph.variables[graph.top] if graph.top is not None else None}
        for graph in corpus[1].graphs
    ])  # fmt: skip


# N-ary relations

SCIREX = ("Material", "Metric", "Task", "Method")


def _spans(draw: random.Random, many: int) -> list[list[int]]:
    """Mentions that do not overlap."""
    return [[3 * k, 3 * k + draw.randint(1, 3)] for k in draw.sample(range(12), many)]


def _scirex(draw: random.Random) -> dict[str, Any]:
    spans = _spans(draw, 8)
    clusters: dict[str, list[Any]] = {f"e{k}": spans[2 * k : 2 * k + draw.randint(1, 2)] for k in range(4)}
    kinds = {name: draw.choice(SCIREX) for name in clusters}
    ner = [[*span, kinds[name]] for name, found in clusters.items() for span in found]
    relations = []
    for _ in range(draw.randint(0, 3)):
        roles: dict[str, str] = {}
        for name in draw.sample(list(clusters), draw.randint(1, 4)):
            roles.setdefault(kinds[name], name)
        relations.append(roles)
    return {"ner": ner, "coref": clusters, "n_ary_relations": relations}


def _damaged_scirex(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    clusters = {name: list(found) for name, found in document["coref"].items()}
    kinds = {tuple(one[:2]): one[2] for one in document["ner"]}
    for name, found in clusters.items():
        if chance(draw, 0.3):
            span = found[0]
            found[0] = [span[0], span[0] + draw.randint(1, 3)]
            kinds[tuple(found[0])] = kinds[tuple(span)]
        if chance(draw, 0.2):
            found.append([40 + int(name[1]), 41 + int(name[1])])
        if len(found) > 1 and chance(draw, 0.2):
            found.pop()
    relations = [
        {
            role: draw.choice(list(clusters)) if chance(draw, 0.2) else name
            for role, name in one.items()
            if chance(draw, 0.9)
        }
        for one in document["n_ary_relations"]
        if chance(draw, 0.85)
    ]
    for one in relations:
        one |= {draw.choice(SCIREX): draw.choice(list(clusters))} if chance(draw, 0.2) else {}
    relations = [one for one in relations if one]
    used = {name for one in relations for name in one.values()}
    free = [name for name in clusters if name not in used]
    if free and chance(draw, 0.4):
        del clusters[draw.choice(free)]
    if chance(draw, 0.3):
        clusters["x"] = [[50, 51]]
        kinds[50, 51] = draw.choice(SCIREX)
        relations += [{"Task": "x", "Method": next(iter(clusters))}] if chance(draw, 0.5) else []
    if chance(draw, 0.3):
        kinds = {span: draw.choice(SCIREX) for span in kinds}
    ner = [[*span, kind] for span, kind in kinds.items()]
    return {"ner": ner, "coref": clusters, "n_ary_relations": relations}


def _plain_nary(draw: random.Random) -> dict[str, Any]:
    spans = _spans(draw, 8)
    entities = [spans[2 * k : 2 * k + draw.randint(1, 2)] for k in range(4)]
    return {"relations": [
        {"type": draw.choice(("result", "use")), "args": {role: draw.choice(entities) for role in draw.sample(("A", "B", "C"), draw.randint(1, 3))}}
        for _ in range(draw.randint(0, 3))
    ]}  # fmt: skip


def _damaged_nary(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = [one for one in document["relations"] if chance(draw, 0.85)]
    for one in out:
        one["type"] = draw.choice(("result", "use")) if chance(draw, 0.2) else one["type"]
        for role in list(one["args"]):
            one["args"][role] = (
                [[40, 41]]
                if chance(draw, 0.15)
                else [*one["args"][role], [45, 46]]
                if chance(draw, 0.1)
                else one["args"][role]
            )
        one["args"] |= {draw.choice("ABC"): [[50, 51]]} if chance(draw, 0.2) else {}
    return {"relations": out + (_plain_nary(draw)["relations"][:1] if chance(draw, 0.2) else [])}


def _draw_nary(draw: random.Random) -> Drawn:
    if chance(draw, 0.3):
        return (*both(draw, _plain_nary, _damaged_nary), {})
    return (*both(draw, _scirex, _damaged_scirex), {})


def _write_nary(corpus: Any) -> str:
    def lay_out(document: Any) -> dict[str, Any]:
        if any(role not in SCIREX for relation in document.relations for role in relation):
            return {"relations": [
                {"type": type_, "args": {role: document.clusters[name] for role, name in relation.items()}}
                for relation, type_ in zip(document.relations, document.types, strict=True)
            ]}  # fmt: skip
        ner = [[*span, kind] for span, kind in document.spans.items()]
        return {"ner": ner, "coref": document.clusters, "n_ary_relations": list(document.relations)}

    return by_name(corpus, lay_out)


# Spans

TAGS = ("PER", "LOC", "ORG")


def _span(draw: random.Random) -> dict[str, Any]:
    start = draw.randrange(LENGTH - 4)
    return {"start": start, "end": start + draw.randint(1, 4), "label": draw.choice(TAGS)}


def _flat(spans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Spans of which none overlaps another."""
    out: list[dict[str, Any]] = []
    for one in sorted(spans, key=lambda one: (one["start"], one["end"])):
        if not out or out[-1]["end"] <= one["start"]:
            out.append(one)
    return out


def _texts(draw: random.Random) -> dict[str, Any]:
    return {
        "tokens": [f"w{k}" for k in range(LENGTH)],
        "spans": _flat([_span(draw) for _ in range(draw.randint(0, 6))]),
    }


def _damaged_texts(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    out = []
    for one in document["spans"]:
        if chance(draw, 0.15):
            continue
        one = _shifted(draw, one) if chance(draw, 0.3) else one
        out.append({**one, "label": draw.choice((*TAGS, "MISC"))} if chance(draw, 0.25) else one)
    return {
        "spans": [
            one for one in _flat([*out, *(_span(draw) for _ in range(draw.randint(0, 2)))]) if one["end"] <= LENGTH
        ]
    }


def _draw_spans(draw: random.Random) -> Drawn:
    metrics = draw.choice(
        (("segment", "ts", "token"), ("segment", "overlap", "iou"), ("strict", "exact", "partial", "type"))
    )
    return (
        *both(draw, _texts, _damaged_texts),
        {"offsets": "tokens", "metrics": metrics, **({"average": "macro"} if chance(draw, 0.3) else {})},
    )


def _write_spans(corpus: Any) -> str:
    texts, side = corpus.texts, corpus.texts.predicted
    spans: list[list[Any]] = [[] for _ in range(texts.texts)]
    for text, start, end, tag in zip(
        side.text.tolist(), side.start.tolist(), side.end.tolist(), side.tag.tolist(), strict=True
    ):
        spans[text].append({"start": start, "end": end, "label": texts.tags[tag]})
    return lines([
        {"id": name, "tokens": [f"w{k}" for k in range(LENGTH)], "spans": found} for name, found in zip(texts.names, spans, strict=True)
    ])  # fmt: skip


# Coreference


def _chains(draw: random.Random) -> dict[str, Any]:
    spans = draw.sample([(start, start + length) for start in range(LENGTH) for length in (1, 2)], draw.randint(0, 10))
    clusters: list[list[Any]] = [[] for _ in range(4)]
    for span in spans:
        draw.choice(clusters).append(span)
    return {"clusters": [found for found in clusters if found]}


def _damaged_chains(draw: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    clusters: list[list[Any]] = [[] for _ in range(6)]
    taken = {tuple(one) for found in document["clusters"] for one in found}
    for k, found in enumerate(document["clusters"]):
        if chance(draw, 0.1):
            continue
        for span in found:
            moved = (span[0], span[1] + 1)
            if chance(draw, 0.15):
                continue
            if chance(draw, 0.15) and moved not in taken:
                taken.add(moved)
                span = moved
            clusters[draw.randrange(5) if chance(draw, 0.2) else k].append(span)
    clusters[5] += [(40, 41), (42, 43)] if chance(draw, 0.3) else []
    clusters[0] += [(50, 51)] if chance(draw, 0.3) else []
    return {"clusters": [found for found in clusters if found]}


def _draw_coreference(draw: random.Random) -> Drawn:
    gold, system = (
        {one["id"]: one["clusters"] for one in map(json.loads, side.splitlines())}
        for side in both(draw, _chains, _damaged_chains)
    )
    return gold, system, {}


def _write_coreference(corpus: Any) -> dict[str, Any]:
    """The mended columns as clusters of (start, end)."""
    from tallystick.tasks.coreference.metrics import CoreferenceOptions, prepare
    from tallystick.tasks.coreference.show import mended

    prepared, spans = mended(corpus.pairs, corpus.kinds, CoreferenceOptions()), {}
    for chains, rows, columns in prepare(corpus.pairs, CoreferenceOptions()).sides():
        for row, code in zip(rows.tolist(), columns.mention.tolist(), strict=True):
            spans[code] = int(chains.start[row]), int(chains.end[row]) + 1
    out: dict[str, dict[int, list[Any]]] = {name: {} for name in prepared.documents}
    side = prepared.overlaps.response
    for document, entity, code in zip(side.document.tolist(), side.entity.tolist(), side.mention.tolist(), strict=True):
        out[prepared.documents[document]].setdefault(entity, []).append(spans[code])
    return {name: [found[entity] for entity in sorted(found)] for name, found in out.items()}


SAMPLES = {
    "coreference": Sample(_draw_coreference, _write_coreference, never_perfect=frozenset(("conll",))),
    "spans": Sample(_draw_spans, _write_spans),
    "nary": Sample(
        _draw_nary,
        _write_nary,
        never_perfect=frozenset(("scirex_clusters", "scirex_n1", "scirex_n2", "scirex_n3", "scirex_n4")),
    ),
    "amr": Sample(_draw_amr, _write_amr),
    "hierarchies": Sample(
        _draw_hierarchies, _write_hierarchies, {**PERFECT, "blanc": 1.0, "nstm": 1.0, "f1_links": 1.0}
    ),
    "calls": Sample(_draw_calls, _write_calls),
    "arguments": Sample(
        lambda draw: (*both(draw, _described, _damaged_described), {}),
        _write_arguments,
        not_drawn=frozenset(("modifiers", "accepted by the judge")),
    ),
    "templates": Sample(
        lambda draw: (*both(draw, _templates, _damaged_templates), {}),
        _write_templates,
        never_perfect=frozenset(("iterx_subset",)),
    ),
    "roles": Sample(
        lambda draw: (*both(draw, _roles, _damaged_roles), {}),
        _write_roles,
        never_perfect=frozenset(("rme_phi3_covered", "rme_subset_literal")),
    ),
    "dependencies": Sample(
        _draw_dependencies, _write_dependencies, {**PERFECT, "aligned_accuracy": 1.0}, otherwise=score_parses
    ),
    "relations": Sample(_draw_relations, _write_relations),
    "events": Sample(_draw_events, _write_events),
}
