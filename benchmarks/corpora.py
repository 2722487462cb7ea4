"""Random corpora for every task, drawn by hypothesis: what the metamorphic relations and the tests of parts and wholes are tried on.

A `Made` says of one kind of documents how a pair of them is drawn (predictions are mostly right, from tiny alphabets, so that items meet, repeat and
tie), which options together ask for every metric of the task, what a wrong item looks like, and what else the same content can be written as.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from benchmarks import other_formats as formats

Document = Any
Strategy = st.SearchStrategy[Any]


def by_id(ids: Sequence[str], documents: Sequence[Document]) -> Any:
    """Documents by id; those that are dicts have it inside."""
    if isinstance(documents[0], dict):
        return [{"id": key, **document} for key, document in zip(ids, documents, strict=True)]
    return dict(zip(ids, documents, strict=True))


@dataclass(frozen=True)
class Made:
    """One kind of documents of a task."""

    task: str
    pairs: Strategy
    """of a reference's document and a prediction's"""
    wrong: Callable[[Document], Document]
    """The prediction with a wrong item more (or a word made wrong, where the words are given)."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    """Options; together they ask for every metric."""
    lay: Callable[[Sequence[str], Sequence[Document]], Any] = by_id
    """Named documents as the task's function takes them."""
    file: formats.Writer | None = None
    """The file that stands for the data; JSON Lines as the task lays them out, if there is none."""
    formats: Mapping[str, formats.Format] = field(default_factory=dict)
    shuffle: tuple[str, ...] = ()
    """Keys of lists whose order means nothing; "" is the document itself."""


LABELS = st.sampled_from("ABC")
WORDS = st.sampled_from(["the mayor", "Ann Lee", "two men", "Lima"])


def related(items: Strategy, most: int = 3, key: Callable[[Any], Any] = repr) -> Strategy:
    """The items of a reference, and those of a prediction that has found most of them."""

    @st.composite
    def draw_both(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
        unique = st.lists(items, max_size=most, unique_by=key)
        reference, others = draw(unique), draw(unique)
        found = [one for one in reference if draw(st.integers(0, 3))]
        taken = {key(one) for one in found}
        found += [one for one in others[: draw(st.integers(0, 2))] if key(one) not in taken]
        return reference, draw(st.permutations(found))

    return draw_both()


def under(name: str, both: Strategy, **more: Any) -> Strategy:
    """Items as documents that hold them under a key."""
    return both.map(lambda pair: tuple({**more, name: side} for side in pair))


def added(name: str, item: Any) -> Callable[[Document], Document]:
    return lambda document: {**document, name: [*document[name], item]}


# Spans: segments of a text, the last two tokens of which are free for a wrong one.


@st.composite
def spans(draw: st.DrawFn) -> tuple[Any, Any]:
    size = draw(st.integers(1, 7))
    lengths = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["A", "B", None])), max_size=4)

    def tags(parts: list[tuple[int, str | None]]) -> list[str]:
        out: list[str] = []
        for length, type_ in parts:
            out += ["O"] * length if type_ is None else [f"B-{type_}", *[f"I-{type_}"] * (length - 1)]
        return [*(out + ["O"] * size)[:size], "O", "O"]

    reference = draw(lengths)
    predicted = [
        part if draw(st.integers(0, 3)) else (part[0], draw(st.sampled_from(["A", "B", None]))) for part in reference
    ]
    if not draw(st.integers(0, 3)):
        predicted = draw(lengths)
    words = [f"w{draw(st.integers(0, 9))}" for _ in range(size + 2)]
    return tuple({"tokens": words, "tags": tags(parts)} for parts in (reference, predicted))  # type: ignore[return-value]


def wrong_span(document: Document) -> Document:
    return {**document, "tags": [*document["tags"][:-1], "B-B"]}


SPAN_METRICS = (
    "segment", "ts", "token", "overlap", "contain", "constrained_overlap", "iou", "segment_units", "strict", "exact", "partial", "type",
    "nervaluate_strict", "nervaluate_exact", "nervaluate_partial", "nervaluate_ent_type", "tag_accuracy",
)  # fmt: skip

# Coreference: mentions, each in one of a few entities.


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Any, Any]:
    owners = st.dictionaries(st.integers(0, 6), st.integers(0, 2), min_size=1, max_size=6)
    reference = draw(owners)
    predicted = {
        start: owner if draw(st.integers(0, 3)) else draw(st.integers(0, 2)) for start, owner in reference.items()
    }
    predicted = {start: owner for start, owner in predicted.items() if draw(st.integers(0, 4))} or draw(owners)

    def grouped(side: dict[int, int]) -> dict[str, Any]:
        found: dict[int, list[Any]] = {}
        for start, owner in side.items():
            found.setdefault(owner, []).append([2 * start, 2 * start + 1 + start % 2])
        return {"tokens": ["w"] * 24, "clusters": list(found.values())}

    return grouped(reference), grouped(predicted)


COREFERENCE_METRICS = (
    "mentions", "muc", "b3", "ceaf_m", "ceaf_e", "blanc", "lea", "conll", "b3_all", "b3_0", "b3_rahman_ng", "ceaf_m_rahman_ng",
    "ceaf_e_rahman_ng", "b3_cai_strube", "ceaf_m_cai_strube", "mor",
)  # fmt: skip

# Dependencies: trees over as many words; every word hangs on one before it, and the first is the root.


@st.composite
def sentences(draw: st.DrawFn) -> tuple[Any, Any]:
    size = draw(st.integers(2, 5))
    words = [draw(st.sampled_from(["a", "b", "c"])) for _ in range(size)]

    def word(k: int) -> dict[str, Any]:
        head = draw(st.integers(1, k)) if k else 0
        return {
            "word": words[k], "lemma": draw(st.sampled_from(["x", "y"])), "upos": draw(st.sampled_from(["NOUN", "VERB"])),
            "feats": draw(st.sampled_from(["_", "Number=Sing", "Number=Plur"])), "head": head,
            "deprel": draw(st.sampled_from(["nsubj", "obj", "det", "aux"])) if head else "root",
            "more": draw(st.sampled_from([[], [(1, "conj")], [(k, "ref")]])) if k else [],
        }  # fmt: skip

    reference = [word(k) for k in range(size)]
    return reference, [one if draw(st.integers(0, 2)) else word(k) for k, one in enumerate(reference)]


def wrong_word(sentence: Document) -> Document:
    return [*sentence[:-1], {**sentence[-1], "deprel": "dislocated", "upos": "X", "feats": "Foreign=Yes", "lemma": "z"}]


# Relations, events, roles, templates

SPAN = st.integers(0, 3).flatmap(lambda start: st.tuples(st.just(start), st.integers(start + 1, 5)))
TYPED = st.builds(lambda span, type_: {"start": span[0], "end": span[1], "type": type_}, SPAN, LABELS)
PLACE = st.builds(lambda span: {"start": span[0], "end": span[1]}, SPAN)
TOKENS = [f"w{k}" for k in range(12)]
FAR = {"start": 9, "end": 11}
RELATION = st.builds(lambda type_, subj, obj: {"type": type_, "subj": subj, "obj": obj}, LABELS, TYPED, TYPED)


def _no_loop(relation: Mapping[str, Any]) -> bool:
    return bool(relation["subj"] != relation["obj"])


def _same_mentions(relations: list[Any]) -> list[Any]:
    """A span has one type in a text."""
    types: dict[tuple[int, int], str] = {}

    def one(mention: dict[str, Any]) -> dict[str, Any]:
        return {**mention, "type": types.setdefault((mention["start"], mention["end"]), mention["type"])}

    return [{**relation, "subj": one(relation["subj"]), "obj": one(relation["obj"])} for relation in relations]


FACT = st.builds(
    lambda h, t, r: {"h": h, "t": t, "r": r}, st.integers(0, 2), st.integers(0, 2), st.sampled_from(["P1", "P2"])
)
VERTICES = [[{"name": name, "type": "PER", "sent_id": 0, "pos": [k, k + 1]}] for k, name in enumerate("abcd")]

ARGUMENT = st.builds(lambda role, place: {"role": role, **place}, LABELS, PLACE)


@st.composite
def events(draw: st.DrawFn) -> tuple[Any, Any]:
    def event() -> dict[str, Any]:
        arguments = draw(st.lists(ARGUMENT, max_size=2, unique_by=repr))
        return {"type": draw(LABELS), "trigger": draw(PLACE), "arguments": arguments}

    def trigger(event: Any) -> Any:
        return event["type"], *event["trigger"].values()

    reference = list({trigger(one): one for one in (event() for _ in range(draw(st.integers(0, 3))))}.values())
    predicted: dict[Any, Any] = {}
    for one in reference:
        choice = draw(st.integers(0, 4))
        if choice:
            arguments = (
                one["arguments"] if choice > 2 else [*one["arguments"][1:], *draw(st.lists(ARGUMENT, max_size=1))]
            )
            new = {**one, "arguments": arguments}
            predicted.setdefault(trigger(new), new)
    if not draw(st.integers(0, 2)):
        new = event()
        predicted.setdefault(trigger(new), new)
    return tuple({"tokens": TOKENS, "events": side} for side in (reference, list(predicted.values())))  # type: ignore[return-value]


WRONG_EVENT = {"type": "Z", "trigger": FAR, "arguments": [{"role": "Z", **FAR}]}
EVENT_METRICS = (
    "tri_i", "tri_c", "arg_i", "arg_c", "arg_i+", "arg_c+", "arg_u", "arg_u+", "trig_f1", "arg_f1", "arg_i_head", "arg_c_head",
    "gen_arg_i", "gen_arg_c", "gen_arg_i_head", "gen_arg_c_head",
)  # fmt: skip

ENTITY = st.lists(WORDS, min_size=1, max_size=2, unique=True)
ROLES = related(st.tuples(LABELS, ENTITY), 4).map(
    lambda pair: tuple(
        {"roles": {role: [entity for name, entity in side if name == role] for role in "ABC"}} for side in pair
    )
)


def wrong_role(document: Document) -> Document:
    return {"roles": {**document["roles"], "A": [*document["roles"]["A"], ["nobody at all"]]}}


MENTIONS = st.lists(SPAN.map(list), min_size=1, max_size=2, unique_by=tuple)
NARY = related(
    st.builds(lambda type_, args: {"type": type_, "args": args}, LABELS, st.dictionaries(LABELS, MENTIONS, min_size=2)),
    2,
)
TEMPLATE = st.builds(
    lambda type_, slots: {"type": type_, "slots": slots},
    st.sampled_from(["attack", "arson"]), st.dictionaries(LABELS, st.lists(WORDS, min_size=1, max_size=2, unique=True)),
)  # fmt: skip
TEMPLATE_METRICS = (
    "eq32", "gtt", "iterx_subset", "iterx_phi3", "eq32_fillers", "chen_subset", "chen_phi3", "iterx_subset_quirks", "iterx_phi3_quirks",
    "granular",
)  # fmt: skip

# Graphs and hierarchies

EDGE = st.tuples(st.integers(0, 3), st.sampled_from([":ARG0", ":ARG1", ":op1"]), st.integers(0, 3))
CONCEPT = st.sampled_from(["boy", "girl", "want-01", "want-02", "name"])
ATTRIBUTE = st.tuples(st.integers(0, 3), st.sampled_from([(":polarity", "-"), (":wiki", '"X"'), (":quant", "3")]))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Any, Any]:
    size = draw(st.integers(1, 4))

    def graph(concepts: list[str], edges: list[Any], attributes: list[Any]) -> dict[str, Any]:
        n = len(concepts)
        joined = {(k + 1, 0 if k < 1 else edges[k % len(edges)][0] % (k + 1) if edges else 0) for k in range(n - 1)}
        out = [(f"v{k}", ":instance", concept) for k, concept in enumerate(concepts)]
        out += [(f"v{a}", ":part", f"v{b}") for b, a in sorted(joined)]
        out += sorted({(f"v{a % n}", role, f"v{b % n}") for a, role, b in edges if a % n != b % n})
        out += sorted({(f"v{a % n}", role, value) for a, (role, value) in attributes})
        return {"top": "v0", "triples": out}

    concepts = draw(st.lists(CONCEPT, min_size=size, max_size=size))
    edges, attributes = draw(st.lists(EDGE, max_size=3)), draw(st.lists(ATTRIBUTE, max_size=2, unique_by=repr))
    other = [one if draw(st.integers(0, 2)) else draw(CONCEPT) for one in concepts]
    kept = [one for one in edges if draw(st.integers(0, 2))] + draw(st.lists(EDGE, max_size=1))
    return graph(concepts, edges, attributes), graph(other, kept, attributes if draw(st.booleans()) else [])


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[Any, Any]:
    """Links of the same events, each to one parent before it."""
    names = [f"E{k}" for k in range(draw(st.integers(2, 5)))]

    def parents() -> list[int]:
        return [draw(st.integers(0 if k == len(names) - 1 else -1, k - 1)) for k in range(len(names))]

    def document(above: list[int], members: list[int]) -> dict[str, Any]:
        links = [[[names[a], name] for name, a in zip(names, side, strict=True) if a >= 0] for side in (above, members)]
        return {"events": names, "links": {"subevent": links[0], "membership": links[1]}}

    reference, members = parents(), parents()
    predicted = [one if draw(st.integers(0, 2)) else other for one, other in zip(reference, parents(), strict=True)]
    return document(reference, members), document(predicted, parents())


def wrong_link(document: Document) -> Document:
    links = {kind: [*links, ["E0", "Z"]] for kind, links in document["links"].items()}
    return {"events": [*document["events"], "Z"], "links": links}


# Records and calls

SCHEMA = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string"},
        "total": {"type": "number"},
        "lines": {"type": "array", "items": {"type": "string"}},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": {"type": "string"}, "price": {"type": "number"}}},
        },
    },
}
ITEM = st.fixed_dictionaries({"sku": st.sampled_from("xy"), "price": st.integers(0, 2)})
RECORD = st.fixed_dictionaries(
    {
        "vendor": st.sampled_from(["A", "B"]), "total": st.integers(0, 3),
        "lines": st.lists(st.sampled_from("xyz"), max_size=3), "items": st.lists(ITEM, max_size=3),
    },
)  # fmt: skip


@st.composite
def records(draw: st.DrawFn) -> tuple[Any, Any]:
    reference, other = draw(RECORD), draw(RECORD)
    return reference, {name: value if draw(st.integers(0, 2)) else other[name] for name, value in reference.items()}


def wrong_value(document: Document) -> Document:
    return {**document, "items": [*document["items"], {"sku": "wrong", "price": 99}]}


CALL = st.builds(
    lambda name, city, days: {"name": name, "arguments": {"city": city, "days": days}},
    st.sampled_from(["weather", "search"]), st.sampled_from(["Oslo", "Lima"]), st.integers(1, 2),
)  # fmt: skip

MADE: dict[str, Made] = {
    "spans": Made(
        "spans", spans(), wrong_span, {"": {"metrics": SPAN_METRICS, "k1": 1}, "macro": {"metrics": ("segment", "ts", "token", "overlap", "iou"), "average": "macro", "tags": ("A", "B")}},
        file=formats.SPANS["columns"].write, formats=formats.SPANS,
    ),
    "coreference": Made(
        "coreference", clusters(), added("clusters", [[20, 21], [22, 23]]), {"": {"metrics": COREFERENCE_METRICS}}, formats=formats.CLUSTERS,
        shuffle=("clusters",),
    ),
    "dependencies": Made(
        "dependencies", sentences(), wrong_word,
        {"": {}, "enhanced": {"metrics": ("elas", "eulas")}}, lay=formats.conllu, formats=formats.SENTENCES,
    ),
    "relations": Made(
        "relations", under("relations", related(RELATION.filter(_no_loop)).map(lambda pair: tuple(map(_same_mentions, pair))), tokens=TOKENS),
        added("relations", {"type": "Z", "subj": {**FAR, "type": "Z"}, "obj": {"start": 11, "end": 12, "type": "Z"}}),
        {"": {}, "heads": {"heads": "last"}}, formats=formats.RELATIONS, shuffle=("relations",),
    ),
    "facts": Made(
        "relations", under("labels", related(FACT.filter(lambda one: one["h"] != one["t"]), 4), vertexSet=VERTICES, sents=[list("abcd")]),
        added("labels", {"h": 3, "t": 0, "r": "P9"}),
        lay=lambda ids, documents: [{"title": key, **one} for key, one in zip(ids, documents, strict=True)], shuffle=("labels",),
    ),
    "events": Made(
        "events", events(), added("events", WRONG_EVENT), {"": {"metrics": EVENT_METRICS, "heads": "last"}}, formats=formats.EVENTS,
        shuffle=("events",),
    ),
    "arguments": Made("arguments", events(), added("events", WRONG_EVENT), formats=formats.EVENTS, shuffle=("events",)),
    "roles": Made("roles", ROLES, wrong_role, formats=formats.ROLES),
    "nary": Made(
        "nary", under("relations", NARY), added("relations", {"type": "Z", "args": {"A": [[20, 21]], "B": [[22, 23]]}}),
        {"": {"roles": ("A", "B", "C")}}, shuffle=("relations",),
    ),
    "templates": Made(
        "templates", under("templates", related(TEMPLATE, 2)), added("templates", {"type": "bombing", "slots": {"A": ["nobody at all"]}}),
        {"": {"metrics": TEMPLATE_METRICS}}, formats=formats.TEMPLATES, shuffle=("templates",),
    ),
    "amr": Made(
        "amr", graphs(), added("triples", ("v9", ":instance", "zzz")),
        {"": {"subscores": True}, "smatch": {"preset": "smatch", "metrics": ("smatch",)}}, formats=formats.GRAPHS,
        shuffle=("triples",),
    ),
    "hierarchies": Made(
        "hierarchies", hierarchies(), wrong_link, {"": {"kinds": ("subevent", "membership")}, "transitive": {"kinds": ("subevent",), "transitive": True}},
        formats=formats.HIERARCHIES,
    ),
    "records": Made(
        "records", records(), wrong_value,
        {"schema": {"schema": SCHEMA}, "all": {"schema": SCHEMA, "credit": "all"}, "inferred": {}}, file=formats.NAMED, formats=formats.RECORDS,
        shuffle=("lines", "items"),
    ),
    "calls": Made(
        "calls", related(CALL), lambda calls: [*calls, {"name": "wrong", "arguments": {}}], file=formats.CALL_LISTS, formats=formats.CALLS, shuffle=("",)
    ),
}  # fmt: skip
