"""Small inputs for each task, drawn with a fixed seed, in the form that the task's peer reads. No word of them is anybody's data."""

from __future__ import annotations

import random
from typing import Any

NAMES = [
    "Ann Lee",
    "the mayor",
    "Mr. Berg",
    "a guard",
    "two men",
    "the embassy",
    "a car bomb",
    "rebels",
    "The Front",
    "an office",
]
ROLES = ("PerpInd", "PerpOrg", "Target", "Victim", "Weapon")
CASES = 8


def draw(task: str) -> list[Any]:
    """The inputs of one task: pairs of reference and prediction."""
    rng = random.Random(f"tallystick {task}")
    return [DRAWN[task](rng) for _ in range(CASES)]


def _changed(rng: random.Random, things: list[Any], other: Any, rate: float = 0.35) -> list[Any]:
    """What a middling system would say: some missing, some wrong, some too many."""
    out = [other(thing) if rng.random() < rate else thing for thing in things if rng.random() > rate / 2]
    return out + [other(things[0]) for _ in range(rng.randrange(2)) if things]


def spans(rng: random.Random) -> Any:
    """Tags of a few sentences, in IOB2."""

    def tags(length: int) -> list[str]:
        out: list[str] = []
        while len(out) < length:
            kind = rng.choice(["PER", "LOC", "ORG"])
            out += rng.choice([["O"], ["O"], [f"B-{kind}"], [f"B-{kind}", f"I-{kind}"]])
        return out[:length]

    lengths = [rng.randint(3, 9) for _ in range(rng.randint(2, 5))]
    gold = [tags(n) for n in lengths]
    return gold, [one if rng.random() < 0.4 else tags(len(one)) for one in gold]


def coreference(rng: random.Random) -> Any:
    """Two partitions of the same mentions."""
    mentions = [(2 * k, 2 * k + 1) for k in range(rng.randint(4, 9))]

    def partition() -> list[list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for mention in mentions:
            found.setdefault(rng.randrange(3), []).append(mention)
        return list(found.values())

    return partition(), partition()


def relations(rng: random.Random) -> Any:
    """DocRED's files: documents with entities and facts, and a submission without duplicates."""
    gold, submitted = [], []
    for title in ("d1", "d2", "d3"):
        keys = {(rng.randrange(4), rng.randrange(4), rng.choice("PQR")) for _ in range(rng.randint(2, 6))}
        labels = [
            {"h": h, "t": t, "r": r, "evidence": sorted(rng.sample(range(4), rng.randrange(1, 3)))}
            for h, t, r in sorted(keys)
        ]
        gold.append(
            {"title": title, "vertexSet": [[{"name": rng.choice("ABCDEF")}] for _ in range(4)], "labels": labels}
        )
        facts = {(h, t, r): rng.sample(range(4), rng.randrange(1, 3)) for h, t, r in sorted(keys) if rng.random() < 0.7}
        facts[rng.randrange(4), rng.randrange(4), "S"] = [0]
        submitted += [
            {"title": title, "h_idx": h, "t_idx": t, "r": r, "evidence": sorted(e)}
            for (h, t, r), e in sorted(facts.items())
        ]
    return gold, submitted


def events(rng: random.Random) -> Any:
    """TextEE's windows with events: triggers and arguments."""

    def window(name: str) -> dict[str, Any]:
        found = []
        for place in rng.sample(range(0, 40, 4), rng.randint(1, 4)):
            arguments = [
                [at, at + 1, rng.choice(["Agent", "Target", "Place"]), "x"]
                for at in rng.sample(range(10, 20), rng.randrange(4))
            ]
            found.append({"trigger": [place, place + 1, rng.choice(["Attack", "Die"]), "x"], "arguments": arguments})
        return {"doc_id": name, "wnd_id": name, "events": found}

    def other(event: dict[str, Any]) -> dict[str, Any]:
        kind = rng.choice(["Attack", "Die"])
        arguments = _changed(
            rng, event["arguments"], lambda one: [one[0], one[1], rng.choice(["Agent", "Target"]), "x"]
        )
        return {"trigger": [*event["trigger"][:2], kind, "x"], "arguments": arguments}

    gold = [window(f"w{k}") for k in range(3)]
    return gold, [{**one, "events": _changed(rng, one["events"], other, 0.6)} for one in gold]


def arguments(rng: random.Random) -> Any:
    """TextEE's events of which only the arguments are predicted: one for each trigger, nowhere twice."""

    def event(name: str) -> dict[str, Any]:
        listed = [
            [at, at + 1, rng.choice(["Agent", "Target", "Place"]), f"w{at}"]
            for at in rng.sample(range(10, 20), rng.randint(1, 4))
        ]
        return {
            "doc_id": name,
            "wnd_id": name,
            "tokens": [f"w{k}" for k in range(24)],
            "trigger": [3, 4, rng.choice(["Attack", "Die"]), "w3"],
            "arguments": listed,
        }

    def other(one: list[Any]) -> list[Any]:
        at = rng.randrange(4, 10)
        return [at, at + 1, one[2], f"w{at}"]

    gold = [event(f"w{k}") for k in range(4)]
    return gold, [{**one, "arguments": _distinct(_changed(rng, one["arguments"], other))} for one in gold]


def _distinct(listed: list[list[Any]]) -> list[list[Any]]:
    return list({(one[0], one[2]): one for one in listed}.values())


def roles(rng: random.Random) -> Any:
    """grit's role fillers: by document and role the entities, each the list of its mentions."""

    def entities() -> list[list[str]]:
        return [rng.sample(NAMES, rng.randint(1, 3)) for _ in range(rng.randrange(3))]

    gold = {f"d{k}": {role: entities() for role in ROLES} for k in range(3)}
    system = {
        name: {
            role: _changed(rng, found, lambda one: [rng.choice(NAMES)]) if found else entities()
            for role, found in document.items()
        }
        for name, document in gold.items()
    }
    return gold, system


def templates(rng: random.Random) -> Any:
    """gtt's templates: a type and by role the entities."""

    def template() -> dict[str, Any]:
        return {
            "incident_type": rng.choice(["attack", "bombing"]),
            **{role: [rng.sample(NAMES, rng.randint(1, 2)) for _ in range(rng.randrange(3))] for role in ROLES},
        }

    def other(one: dict[str, Any]) -> dict[str, Any]:
        changed = {role: _changed(rng, one[role], lambda _: [rng.choice(NAMES)]) for role in ROLES}
        return {"incident_type": rng.choice(["attack", one["incident_type"]]), **changed}

    gold = {f"d{k}": [template() for _ in range(rng.randint(1, 3))] for k in range(3)}
    return gold, {name: [other(one) for one in found if rng.random() < 0.9] for name, found in gold.items()}


def nary(rng: random.Random) -> Any:
    """SciREX's documents: spans, clusters and relations of four roles. The system cuts clusters and invents others."""
    kinds = ("Material", "Metric", "Task", "Method")
    gold, system = [], []
    for name in ("p1", "p2", "p3"):
        coref, ner, place = {}, [], 0
        for kind in kinds:
            for k in range(2):
                spans = [[place + 10 * j, place + 10 * j + 2] for j in range(rng.randint(1, 3))]
                place += 40
                coref[f"{kind}{k}"] = spans
                ner += [[*span, kind] for span in spans]
        made = {tuple(f"{kind}{rng.randrange(2)}" for kind in kinds) for _ in range(rng.randint(1, 3))}
        true = [dict(zip(kinds, one, strict=True)) for one in sorted(made)]
        used = {entity for one in made for entity in one}
        gold.append(
            {
                "doc_id": name,
                "words": [],
                "ner": ner,
                "coref": {key: coref[key] for key in sorted(used)},
                "n_ary_relations": true,
                "method_subrelations": {},
            }
        )
        clusters = {
            f"s{key}": spans[: rng.randint(1, len(spans))] for key, spans in coref.items() if rng.random() < 0.9
        }
        clusters["invented"] = [[900, 902]]
        predicted = {
            tuple(rng.choice([f"s{one[kind]}", f"s{kind}{rng.randrange(2)}"]) for kind in kinds) for one in true
        }
        kept = [one for one in sorted(predicted) if all(key in clusters for key in one)]
        system.append(
            {
                "doc_id": name,
                "ner": [*ner, [900, 902, "Task"]],
                "clusters": clusters,
                "predicted_relations": [[list(one), 1.0, 1] for one in kept],
            }
        )
    return gold, system


def amr(rng: random.Random) -> Any:
    """Small graphs in PENMAN."""

    def graph(words: list[str], roles: list[str]) -> str:
        inner = "".join(
            f" :{role} (v{k} / {word})" for k, (role, word) in enumerate(zip(roles, words[1:], strict=True))
        )
        return f"(r / {words[0]}{inner})"

    words = [rng.choice(["want-01", "boy", "go-02", "girl", "see-01"]) for _ in range(rng.randint(2, 5))]
    roles = [rng.choice(["ARG0", "ARG1", "mod"]) for _ in words[1:]]
    cut = rng.randint(1, len(words))
    changed = [rng.choice(["dog", word, word]) for word in words[:cut]]
    return graph(words, roles), graph(changed, [rng.choice(["ARG0", role, role]) for role in roles[: cut - 1]])


def records(rng: random.Random) -> Any:
    """Documents with a list of items."""
    words = ["Acme", "Beta", "Corp"]

    def item() -> dict[str, Any]:
        return {"sku": rng.choice(["a", "b", "c"]), "vendor": rng.choice(words), "quantity": rng.randrange(4)}

    gold = [[item() for _ in range(rng.randint(1, 5))] for _ in range(3)]
    return gold, [_changed(rng, one, lambda _: item()) or [item()] for one in gold]


def calls(rng: random.Random) -> Any:
    """BFCL's possible answers, and parallel calls of a model. The functions have one parameter of each kind."""
    cities = ["Oslo", "San Francisco", "Bergen"]
    wanted = [
        {"get_weather": {"city": [rng.choice(cities)], "days": [rng.randint(1, 3)]}} for _ in range(rng.randint(1, 3))
    ]
    made = []
    for one in wanted:
        call = {key: values[0] for key, values in one["get_weather"].items()}
        if rng.random() < 0.3:
            call["city"] = rng.choice([call["city"].lower(), call["city"].replace(" ", "-"), rng.choice(cities)])
        if rng.random() < 0.15:
            call["days"] = rng.randint(1, 3)
        made.append({"get_weather": call})
    rng.shuffle(made)
    return wanted, made


DRAWN = {
    function.__name__: function
    for function in (spans, coreference, relations, events, arguments, roles, templates, nary, amr, records, calls)
}
