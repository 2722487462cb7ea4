"""The made corpora of the golden run: random documents with two noisy copies of each, in every documented format of every task."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

TYPES, ROLES, KINDS = ("PER", "LOC", "ORG.CO"), ("Agent", "Target", "Place"), ("name", "nominal", "pronoun")
EVENTS, RELATIONS = ("Life.Die", "Life.Injure", "Attack"), ("born_in", "spouse", "works_for")
SCIREX = ("Material", "Metric", "Task", "Method")
WORDS = (
    "Ada",
    "Homs",
    "Bank",
    "rebels",
    "the",
    "a",
    "soldiers",
    "and",
    ",",
    "they",
    "mortars",
    "city",
    "office",
    "it",
    "this",
    "bomb",
)

# The corpus


@dataclass(eq=False)
class Mention:
    """Tokens [start, end) that name an entity."""

    start: int
    end: int
    type: str
    kind: str
    entity: int


@dataclass
class Document:
    """Sentences, and everything that is annotated in them."""

    name: str
    sentences: list[list[str]]
    heads: list[list[tuple[int, str]]]
    mentions: list[Mention] = field(default_factory=list)
    relations: list[tuple[str, Mention, Mention]] = field(default_factory=list)
    events: list[tuple[str, int, list[tuple[str, Mention]]]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    @property
    def tokens(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence]

    def text(self, mention: Mention) -> str:
        return " ".join(self.tokens[mention.start : mention.end])

    def characters(self, start: int, end: int) -> tuple[int, int]:
        at = [0, *itertools.accumulate(len(word) + 1 for word in self.tokens)]
        return at[start], at[end] - 1

    def entities(self) -> dict[int, list[Mention]]:
        found: dict[int, list[Mention]] = {}
        for mention in self.mentions:
            found.setdefault(mention.entity, []).append(mention)
        return found


def made(r: random.Random, name: str) -> Document:
    """A random document; one in eight has nothing in it."""
    sentences = [r.choices(WORDS, k=r.randint(4, 9)) for _ in range(r.randint(2, 4))]
    heads = [[(r.randint(1, k) if k else 0, r.choice(("nsubj", "obj", "amod", "det")) if k else "root") for k in range(len(one))]
             for one in sentences]  # fmt: skip
    document = Document(name, sentences, heads)
    if r.random() < 0.125:
        return document
    at = 0
    for sentence in sentences:
        k = r.randint(0, 1)
        while k < len(sentence):
            end = min(len(sentence), k + r.choice((1, 1, 2, 3)))
            document.mentions.append(Mention(at + k, at + end, r.choice(TYPES), r.choice(KINDS), r.randint(0, 4)))
            k = end + r.randint(0, 2)
        at += len(sentence)
    some = document.mentions
    document.relations = [(r.choice(RELATIONS), *r.sample(some, 2)) for _ in range(r.randint(1, 4))]  # type: ignore[misc]
    triggers = r.sample(range(at), r.randint(1, 4))
    document.events = [
        (r.choice(EVENTS), t, [(r.choice(ROLES), r.choice(some)) for _ in range(r.randint(0, 3))]) for t in triggers
    ]
    document.parents = [r.randint(-1, k - 1) for k in range(len(triggers))]
    return document


def noisy(r: random.Random, gold: Document, rate: float) -> Document:
    """What a system makes of it."""
    document = copy.deepcopy(gold)
    for mention in list(document.mentions):
        if r.random() < rate and mention.end - mention.start > 1:
            mention.end -= 1
        if r.random() < rate:
            mention.type = r.choice(TYPES)
        if r.random() < rate:
            mention.entity = r.randint(0, 5)
    gone = {id(mention) for mention in document.mentions if r.random() < rate / 2}
    document.mentions = [one for one in document.mentions if id(one) not in gone]
    kept = [(r.choice(RELATIONS) if r.random() < rate else type_, a, b) for type_, a, b in document.relations]
    document.relations = [
        (t, b, a) if r.random() < rate else (t, a, b) for t, a, b in kept if not {id(a), id(b)} & gone
    ]
    document.events = [
        (r.choice(EVENTS) if r.random() < rate else type_, max(0, trigger - (r.random() < rate)),
         [(r.choice(ROLES) if r.random() < rate else role, one) for role, one in arguments if id(one) not in gone])
        for type_, trigger, arguments in document.events
    ]  # fmt: skip
    document.parents = [
        r.randint(-1, k - 1) if r.random() < rate else parent for k, parent in enumerate(document.parents)
    ]
    document.heads = [[(r.randint(1, k), "nsubj") if k and r.random() < rate else one for k, one in enumerate(sentence)]
                      for sentence in document.heads]  # fmt: skip
    return document


# Formats: each is a function of a side's documents and the gold ones, and gives a text, or the texts of a folder

Corpus = Sequence[Document]
Written = str | dict[str, str]


def lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def columns(scheme: str, start: str = "") -> Callable[[Corpus, Corpus], str]:
    """A token a line; "odd" has comments, tabs, and tags such as PER_B."""

    def tag(mention: Mention, k: int) -> str:
        first, last = k == mention.start, k == mention.end - 1
        if scheme == "bilou":
            return f"{'U' if first and last else 'B' if first else 'L' if last else 'I'}-{mention.type}"
        return (
            f"{mention.type}_{'B' if first else 'I'}" if scheme == "odd" else f"{'B' if first else 'I'}-{mention.type}"
        )

    def write(side: Corpus, gold: Corpus) -> str:
        out = []
        for document in side:
            tags = {k: tag(one, k) for one in document.mentions for k in range(one.start, one.end)}
            at = 0
            out.append(start)
            for sentence in document.sentences:
                rows = [(word, "X", str(1 + k % 3), tags.get(k, "O")) for k, word in enumerate(sentence, at)]
                out += ["# a sentence\n"] if scheme == "odd" else []
                out += [("\t" if scheme == "odd" else " ").join(row) + "\n" for row in rows] + ["\n"]
                at += len(sentence)
        return "".join(out)

    return write


def conllu(
    misc: Callable[[Document], dict[int, str]], newdoc: bool = True, header: str = ""
) -> Callable[[Corpus, Corpus], str]:
    def write(side: Corpus, gold: Corpus) -> str:
        out = [header]
        for document in side:
            said, at = misc(document), 0
            out += [f"# newdoc id = {document.name}\n"] if newdoc else []
            for sentence, heads in zip(document.sentences, document.heads, strict=True):
                for k, (word, (head, relation)) in enumerate(zip(sentence, heads, strict=True), 1):
                    if k == 1 and side is gold and len(sentence) % 2:  # a token of two words
                        out.append("\t".join(("1-2", sentence[0] + sentence[1], *"________")) + "\n")
                    tags = "NOUN" if relation != "det" else "DET", "X", "Number=Sing" if head % 2 else "_"
                    row = (
                        str(k),
                        word,
                        word.lower(),
                        *tags,
                        str(head),
                        relation,
                        f"{head}:{relation}",
                        said.get(at + k - 1, "_"),
                    )
                    out.append("\t".join(row) + "\n")
                out.append("\n")
                at += len(sentence)
        return "".join(out)

    return write


def bracketed(
    document: Document, opening: Callable[[Mention], str], closing: Callable[[Mention], str]
) -> dict[int, str]:
    out: dict[int, str] = {}
    for one in document.mentions:
        if one.end - one.start == 1:
            out[one.start] = opening(one) + ")"
        else:
            out[one.start], out[one.end - 1] = opening(one), closing(one) + ")"
    return out


def conll(side: Corpus, gold: Corpus) -> str:
    out = []
    for document in side:
        marks = bracketed(document, lambda one: f"({one.entity}", lambda one: f"{one.entity}")
        out.append(f"#begin document ({document.name}); part 000\n")
        at = 0
        for sentence in document.sentences:
            out += [
                f"{document.name}\t0\t{k}\t{word}\t{marks.get(at + k, '-')}\n" for k, word in enumerate(sentence)
            ] + ["\n"]
            at += len(sentence)
        out.append("#end document\n")
    return "".join(out)


def corefud(document: Document) -> dict[int, str]:
    marks = bracketed(document, lambda one: f"(e{one.entity}-x-1-", lambda one: f"e{one.entity}")
    return {at: f"Entity={mark}" for at, mark in marks.items()}


def place(document: Document, one: Mention) -> dict[str, Any]:
    return {"start": one.start, "end": one.end, "type": one.type, "kind": one.kind, "text": document.text(one)}


def brat(side: Corpus, gold: Corpus, hierarchy: bool = False) -> dict[str, str]:
    out = {}
    for d in side:
        spans = [(one.type.replace(".", ""), one.start, one.end) for one in d.mentions]
        rows = [*spans, *((type_.replace(".", ""), at, at + 1) for type_, at, _ in d.events)]
        ann = []
        for k, (type_, start, end) in enumerate(rows, 1):
            left, right = d.characters(start, end)
            ann.append(f"T{k}\t{type_} {left} {right}\t{' '.join(d.tokens[start:end])}\n")
        number = {id(one): k for k, one in enumerate(d.mentions, 1)}
        for k, (type_, _, arguments) in enumerate(d.events, 1):
            said = "".join(f" {role}:T{number[id(one)]}" for role, one in arguments)
            ann.append(f"E{k}\t{type_.replace('.', '')}:T{len(spans) + k}{said}\n")
        related = [(type_, f"T{number[id(a)]}", f"T{number[id(b)]}") for type_, a, b in d.relations]
        nested = [("Subevent", f"E{parent + 1}", f"E{k + 1}") for k, parent in enumerate(d.parents) if parent >= 0]
        ann += [f"R{k}\t{t} Arg1:{a} Arg2:{b}\n" for k, (t, a, b) in enumerate(nested if hierarchy else related, 1)]
        out |= {f"{d.name}.ann": "".join(ann), f"{d.name}.txt": " ".join(d.tokens)}
    return out


def docred(side: Corpus, gold: Corpus) -> str:
    out: list[Any] = []
    for d in side:
        names = sorted({one.entity for known in (*gold, d) if known.name == d.name for one in known.mentions})
        facts = [
            {"r": t, "h": names.index(a.entity), "t": names.index(b.entity), "evidence": [a.start % 3]}
            for t, a, b in d.relations
        ]
        if side is gold:
            out.append({"title": d.name, "vertexSet": [[{"name": f"n{k % 3}"}] for k in names], "labels": facts})
        out += [
            {"title": d.name, "h_idx": f["h"], "t_idx": f["t"], "r": f["r"], "evidence": f["evidence"]}
            for f in facts
            if side is not gold
        ]
    return json.dumps(out)


def textee(side: Corpus, gold: Corpus, apart: bool = False) -> str:
    out: list[dict[str, Any]] = []
    for d in side:
        found = [{"trigger": [at, at + 1, type_, d.tokens[at]], "arguments": [[o.start, o.end, role, d.text(o)] for role, o in arguments]}
                 for type_, at, arguments in d.events]  # fmt: skip
        head = {"doc_id": d.name, "wnd_id": d.name, "tokens": d.tokens, "sentences": d.sentences}
        out += [{**head, **one} for one in found] if apart else [{**head, "events": found}]
    return lines(out)


def rams(side: Corpus, gold: Corpus) -> str:
    def link(at: int, role: str, one: Mention) -> list[Any]:
        return [[at, at], [one.start, one.end - 1], f"evt01arg01{role}"]

    if side is not gold:
        return lines({"doc_key": d.name, "predictions": [[[at, at], *([o.start, o.end - 1, role, 0.5] for role, o in found)] for _, at, found in d.events]}
                     for d in side)  # fmt: skip
    return lines({"doc_key": d.name, "sentences": d.sentences, "evt_triggers": [[at, at, [[type_, 1.0]]] for type_, at, _ in d.events],
                  "gold_evt_links": [link(at, role, one) for _, at, found in d.events for role, one in found]} for d in side)  # fmt: skip


def generated(side: Corpus, gold: Corpus) -> str:
    if side is gold:
        return textee(side, gold)
    out = []
    for d, system in zip(gold, side, strict=False):
        for (_, _, arguments), (_, _, found) in zip(d.events, system.events, strict=True):
            said = {role: system.text(one) for role, one in found or arguments}
            filled = " ".join(
                f"{said.get(role, '<arg>')} {word}" for role, word in zip(ROLES, ("hit", "at", "place"), strict=True)
            )
            out.append({"doc_key": d.name, "predicted": filled, "gold": ""})
    return lines(out)


def slots(d: Document, arguments: Sequence[tuple[str, Mention]]) -> dict[str, list[list[str]]]:
    out: dict[str, list[list[str]]] = {}
    for role, one in arguments:
        out.setdefault(role, []).append([d.text(other) for other in d.entities()[one.entity][:3]] or [d.text(one)])
    return out


def templates(shape: str) -> Callable[[Corpus, Corpus], str]:
    def write(side: Corpus, gold: Corpus) -> str:
        found = {
            d.name: [{"incident_type": type_.lower(), **slots(d, arguments)} for type_, _, arguments in d.events]
            for d in side
        }
        if shape == "plain":
            return lines(
                {"id": d.name, "templates": [{"type": t.lower(), "slots": slots(d, a)} for t, _, a in d.events]}
                for d in side
            )
        if shape == "gtt" and side is gold:
            return lines({"docid": name, "templates": some} for name, some in found.items())
        return (
            json.dumps({name: {"pred_templates": some} for name, some in found.items()})
            if shape == "gtt"
            else lines({n: s} for n, s in found.items())
        )

    return write


MUC4 = {"Agent": "PERP: INDIVIDUAL ID", "Target": "HUM TGT: NAME", "Place": "INCIDENT: INSTRUMENT ID"}


def muc4(side: Corpus, gold: Corpus) -> str:
    out = []
    for n, d in enumerate(side, 1):
        for k, (type_, at, arguments) in enumerate(d.events or [("", 0, [])], 1):
            rows = [("0.  MESSAGE: ID", f"TST3-MUC4-{n:04}"), ("1.  MESSAGE: TEMPLATE", str(k) if type_ else "*")]
            if type_:
                rows += [("2.  INCIDENT: DATE", f"{1 + at % 28} NOV 89"), ("3.  INCIDENT: LOCATION", "PERU: LIMA (CITY)"),
                         ("4.  INCIDENT: TYPE", "BOMBING" if "Die" in type_ else "ATTACK")]  # fmt: skip
            for number, (role, some) in enumerate(sorted(slots(d, arguments).items()), 9):
                fills = [" / ".join(f'"{text.upper()}"' for text in one) for one in some]
                rows.append((f"{number}. {MUC4[role]}", f"\n{'':35}".join(fills)))
            out.append("".join(f"{name:34} {value}\n" for name, value in rows) + "\n")
    return "".join(out)


def scirex(d: Document, *, gold: bool, parts: str = "") -> dict[str, Any]:
    names = sorted(d.entities())
    related = [
        {role: f"e{names[(k + n) % len(names)]}" for n, role in enumerate(SCIREX)} for k in range(len(d.relations))
    ]
    out = {"doc_id": d.name, "ner": [[one.start, one.end, SCIREX[TYPES.index(one.type)]] for one in d.mentions]}
    out["coref" if gold else "clusters"] = {
        f"e{k}": [[one.start, one.end] for one in some] for k, some in d.entities().items()
    }
    out["n_ary_relations" if gold else "predicted_relations"] = (
        related if gold else [[list(one.values()), 0.5, 1] for one in related]
    )
    return {key: value for key, value in out.items() if not parts or key in ("doc_id", parts)}


def hierarchy(d: Document) -> dict[str, Any]:
    events = [*(f"E{k}" for k in range(len(d.parents))), *(f"E{k}b" for k in range(0, len(d.parents), 3))]
    links = [[f"E{parent}", f"E{k}"] for k, parent in enumerate(d.parents) if parent >= 0]
    kinds = {"subevent": links[::2], "membership": links[1::2]}
    return {
        "id": d.name,
        "events": events,
        "coreference": [[f"E{k}", f"E{k}b"] for k in range(0, len(d.parents), 3)],
        "links": kinds,
    }


def newick(side: Corpus, gold: Corpus) -> str:
    def node(d: Document, k: int) -> str:
        below = "".join(node(d, child) for child, parent in enumerate(d.parents) if parent == k)
        return f"({f'{{E{k},E{k}b}}' if k % 3 == 0 else f'E{k}'}{below})"

    return "".join(
        f"{d.name}\t{' '.join(node(d, k) for k, p in enumerate(d.parents) if p < 0) or '(E0)'}\n" for d in side
    )


def triples(d: Document) -> list[tuple[str, str, str]]:
    out = [("z", "instance", "and")]
    for k, (type_, at, arguments) in enumerate(d.events):
        out += [("z", f"op{k + 1}", f"v{k}"), (f"v{k}", "instance", f"{type_.split('.')[-1].lower()}-01")]
        out += [(f"v{k}", "polarity", "-")] if at % 3 == 0 else [(f"v{k}", "quant", str(at))] if at % 3 == 1 else []
        for role, one in arguments:
            x, known = f"x{one.entity}", {source for source, _, _ in out}
            out.append((f"v{k}", f"ARG{ROLES.index(role)}", x))
            if x not in known:
                out += [(x, "instance", one.type.lower()), (x, "mod", f"m{x}"), (f"m{x}", "instance", one.kind),
                        (x, "name", f"n{x}"), (f"n{x}", "instance", "name"), (f"n{x}", "op1", f'"{d.text(one)}"')]  # fmt: skip
    return out


def penman(side: Corpus, gold: Corpus) -> str:
    def node(name: str, found: list[tuple[str, str, str]], seen: set[str]) -> str:
        if name in seen or name not in {source for source, _, _ in found}:
            return name
        seen.add(name)
        concept = next(target for source, role, target in found if (source, role) == (name, "instance"))
        below = [
            f" :{role} {node(target, found, seen)}"
            for source, role, target in found
            if source == name and role != "instance"
        ]
        return f"({name} / {concept}{''.join(below)})"

    return "".join(f"# ::id {d.name} ::snt {' '.join(d.tokens)}\n{node('z', triples(d), set())}\n\n" for d in side)


def invoice(d: Document) -> dict[str, Any]:
    items = [{"name": d.text(one), "type": one.type, "count": one.end - one.start, "price": one.entity + 0.1, "tags": [one.kind, one.type],
              "where": [one.start, one.end], **({"kind": one.kind} if one.kind != "pronoun" else {})} for one in d.mentions]  # fmt: skip
    first = d.mentions[0] if d.mentions else None
    return {"id": d.name, "title": d.text(first) if first else "", "date": f"2026-03-{1 + len(items):02}" if items else None,
            "total": sum(one["price"] for one in items), "buyer": {"name": first.type if first else None, "tall": len(items) > 3}, "items": items}  # fmt: skip


def raw(side: Corpus, gold: Corpus) -> str:
    """Records as a language model writes them."""
    forms = ("Sure!\n```json\n{}\n```", "{}", "{},", "It is {} as asked.", "no idea")
    if side is gold:
        return lines(map(invoice, side))
    said = [(d.name, forms[k % 5].replace("{}", json.dumps(invoice(d)))) for k, d in enumerate(side)]
    return lines({"id": name, "output": text[:-40] if k % 6 == 5 else text} for k, (name, text) in enumerate(said))


def of(shape: Callable[[Document], Any]) -> Callable[[Corpus, Corpus], str]:
    return lambda side, gold: lines(map(shape, side))


def plain_events(d: Document) -> dict[str, Any]:
    return {"id": d.name, "tokens": d.tokens, "sentences": d.sentences, "events": [
        {"id": f"e{k}", "type": type_, "trigger": {"start": at, "end": at + 1}, "arguments": [{**place(d, one), "role": role} for role, one in found]}
        for k, (type_, at, found) in enumerate(d.events)]}  # fmt: skip


def flat_arguments(d: Document) -> dict[str, Any]:
    said = [
        {"event": f"e{k}", "role": role, "text": d.text(one)}
        for k, (_, _, found) in enumerate(d.events)
        for role, one in found
    ]
    return {
        "id": d.name,
        "tokens": d.tokens,
        "events": [{"id": f"e{k}", "type": e[0]} for k, e in enumerate(d.events)],
        "arguments": said,
    }


def wikievents(d: Document) -> dict[str, Any]:
    number = {id(one): f"{d.name}-T{k}" for k, one in enumerate(d.mentions)}
    return {"doc_id": d.name, "tokens": d.tokens, "sentences": d.sentences,
            "entity_mentions": [{"id": number[id(one)], "start": one.start, "end": one.end, "entity_type": one.type} for one in d.mentions],
            "event_mentions": [{"event_type": t, "trigger": {"start": at, "end": at + 1}, "arguments": [{"entity_id": number[id(o)], "role": role} for role, o in some]}
                               for t, at, some in d.events]}  # fmt: skip


def omnievent(d: Document) -> dict[str, Any]:
    return {"id": d.name, "events": [{"type": t, "triggers": [{"position": [at, at + 1], "arguments": [
        {"role": role, "mentions": [{"position": [one.start, one.end]}]} for role, one in some]}]} for t, at, some in d.events]}  # fmt: skip


def all_slots(d: Document) -> dict[str, list[list[str]]]:
    return slots(d, [one for _, _, arguments in d.events for one in arguments])


def spans(d: Document, *, tokens: bool) -> dict[str, Any]:
    found = [(*((o.start, o.end) if tokens else d.characters(o.start, o.end)), o.type) for o in d.mentions]
    return {"id": d.name, "text": " ".join(d.tokens), **({"tokens": d.tokens} if tokens else {}),
            "spans": [{"start": a, "end": b, "label": t} for a, b, t in found]}  # fmt: skip


def spert(d: Document) -> dict[str, Any]:
    number = {id(one): k for k, one in enumerate(d.mentions)}
    return {"orig_id": d.name, "tokens": d.tokens, "entities": [{"type": o.type, "start": o.start, "end": o.end} for o in d.mentions],
            "relations": [{"type": t, "head": number[id(a)], "tail": number[id(b)]} for t, a, b in d.relations]}  # fmt: skip


def ner(d: Document) -> dict[int, str]:
    return {k: f"ner={'B' if k == o.start else 'I'}-{o.type}" for o in d.mentions for k in range(o.start, o.end)}


FORMATS: dict[str, dict[str, Callable[[Corpus, Corpus], Written]]] = {
    "spans": {"columns.iob": columns("iob2"), "documents.iob": columns("iob2", "-DOCSTART- X 1 O\n\n"), "bilou.txt": columns("bilou"), "odd.txt": columns("odd"),
              "characters.jsonl": of(lambda d: spans(d, tokens=False)), "tokens.jsonl": of(lambda d: spans(d, tokens=True)),
              "brat": brat, "tags.conllu": conllu(ner)},
    "coreference": {"columns.conll": conll, "corefud.conllu": conllu(corefud, header="# global.Entity = eid-etype-head-other\n"),
                    "clusters.jsonl": of(lambda d: {"doc_key": d.name, "sentences": d.sentences, "clusters": [
                        [[one.start, one.end - 1] for one in some] for some in d.entities().values()]})},
    "dependencies": {"sentences.conllu": conllu(lambda d: {}, newdoc=False), "documents.conllu": conllu(lambda d: {})},
    "relations": {"plain.jsonl": of(lambda d: {"id": d.name, "tokens": d.tokens, "relations": [
                      {"type": t, "subj": place(d, a), "obj": place(d, b)} for t, a, b in d.relations]}),
                  "spert.json": lambda side, gold: json.dumps([spert(d) for d in side]), "docred.json": docred, "brat": brat},
    "events": {"textee.jsonl": textee, "triggers.jsonl": lambda side, gold: textee(side, gold, apart=True), "plain.jsonl": of(plain_events),
               "wikievents.jsonl": of(wikievents), "omnievent.jsonl": of(omnievent), "rams.jsonlines": rams, "generated.jsonl": generated, "brat": brat},
    "arguments": {"plain.jsonl": of(plain_events), "flat.jsonl": of(flat_arguments), "textee.jsonl": textee, "wikievents.jsonl": of(wikievents),
                  "rams.jsonlines": rams, "brat": brat},
    "roles": {"plain.jsonl": of(lambda d: {"id": d.name, "roles": {role: [[{"text": text, "kind": KINDS[len(text) % 3]} for text in one] for one in some]
                                                                   for role, some in all_slots(d).items()}}),
              "grit.json": lambda side, gold: lines({"docid": d.name, "extracts": {r: [[[t, 0] for t in one] for one in some] for r, some in all_slots(d).items()}}
                                                    for d in side) if side is gold else json.dumps({d.name: {"pred_extracts": all_slots(d)} for d in side}),
              "bare.json": lambda side, gold: json.dumps({d.name: all_slots(d) for d in side})},
    "nary": {"plain.jsonl": of(lambda d: {"id": d.name, "relations": [{"type": t, "args": {"Task": [[o.start, o.end] for o in d.entities().get(a.entity, [a])],
                                          "Method": [[b.start, b.end]]}} for t, a, b in d.relations]}),
             "scirex.jsonl": lambda side, gold: lines(scirex(d, gold=side is gold) for d in side),
             "part-relations.jsonl": lambda side, gold: lines(scirex(d, gold=side is gold, parts="" if side is gold else "predicted_relations") for d in side),
             "part-ner.jsonl": lambda side, gold: lines(scirex(d, gold=False, parts="ner") for d in side),
             "part-clusters.jsonl": lambda side, gold: lines(scirex(d, gold=False, parts="clusters") for d in side)},
    "templates": {"plain.jsonl": templates("plain"), "gtt.json": templates("gtt"), "iterx.jsonl": templates("iterx"), "muc4.txt": muc4},
    "hierarchies": {"forests.newick": newick, "links.jsonl": of(hierarchy), "brat": lambda side, gold: brat(side, gold, hierarchy=True)},
    "amr": {"graphs.amr": penman, "triples.jsonl": of(lambda d: {"id": d.name, "top": "z", "triples": triples(d)}),
            "triples.txt": lambda side, gold: "\n".join(f"# ::id {d.name}\n" + "".join(" ".join(one) + "\n" for one in triples(d)) for d in side)},
    "records": {"plain.jsonl": of(invoice), "list.json": lambda side, gold: json.dumps([invoice(d) for d in side]), "raw.jsonl": raw},
}  # fmt: skip
