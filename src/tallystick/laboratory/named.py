"""The registry of named metrics: every task says which structures its metrics are for.

A task is added by an entry in `TASKS`: a function that gives its subjects by name. It is called only when the task is
asked for, so that `tallystick check` imports what it needs and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, did_you_mean
from tallystick.frozen import frozen
from tallystick.laboratory.spaces import OTHER_WORDS, Fields, Fixed, Keyed, Many, Space, TypedSpace, Walk, sampler_of
from tallystick.laboratory.subjects import Subject, expression, of_result
from tallystick.results.result import Result
from tallystick.structures.graphs import AMR, EventHierarchy, EventLink, Prop, Var
from tallystick.structures.texts import (
    ArgumentDocument,
    Entity,
    EntitySet,
    EventArgument,
    IndexedMention,
    Mention,
    RoleFillerEntity,
    SlotFiller,
    Template,
    TemplateSet,
)
from tallystick.tasks.contract import task_names

if TYPE_CHECKING:
    from tallystick.tasks.metric import NamedMetric


def _coreference() -> dict[str, Subject]:
    from tallystick.tasks.coreference import metrics as room

    space = EntitySpace(lambda value: [list(entity) for entity in value])

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        key, response = ([[set(entity) for entity in document] for document in side] for side in (left, right))
        return room.evaluate(key, response, [name])[name]

    known = {**room.METRICS, **room.VARIANTS}
    return _scored("coreference", {name: metric.kind.headline for name, metric in known.items()}, space, score)


def _hierarchies() -> dict[str, Subject]:
    from tallystick.tasks.hierarchies import metrics as room

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        return room.evaluate(left, right, [name])[name]

    # links are what is edited here, not mentions
    known = {name: metric.kind.headline for name, metric in room.METRICS.items() if name != "mentions"}
    return _scored("hierarchies", known, HierarchySpace(), score)


def _dependencies() -> dict[str, Subject]:
    from tallystick.tasks.dependencies import metrics as room
    from tallystick.tasks.dependencies.alignment import find_units
    from tallystick.tasks.dependencies.files import parse_conllu

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        sides = [parse_conllu(conllu(side), several_roots=True) for side in (left, right)]
        units = find_units(sides[0], sides[1], by="document")
        return room.score(sides[0], sides[1], [name], units=units)[name]

    # tokens and sentences are not what is edited here
    words = ("upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "clas", "mlas", "blex")
    known = {name: "f1" for name in room.METRICS if name in words}
    return _scored("dependencies", known, SentenceSpace(), score)


def _equations() -> dict[str, Subject]:
    from tallystick import structures as types
    from tallystick.tasks import equations as room

    entities = EntitySpace(entity_set)
    of: dict[str, tuple[Any, Any]] = {
        "rel_f1": (room.rel_f1, types.RelationSet),
        "uas": (room.uas, types.DependencyParse),
        "las": (room.las, types.DependencyParse),
        "trig_f1": (room.trig_f1, types.EventSet),
        "arg_f1": (room.arg_f1, types.EventSet),
        "ceaf_phi3": (room.ceaf_phi3, entities),
        "ceaf_phi4": (room.ceaf_phi4, entities),
        "muc": (room.muc, entities),
        "b3": (room.b3, EntitySpace(memberships)),
        "ceaf_ree": (room.ceaf_ree, types.NAryRelation[types.Mention]),
        "ceaf_rme_subset": (room.ceaf_rme_subset, types.NAryRelation[types.Mention]),
        "ceaf_rme_subset_literal": (room.ceaf_rme_subset_literal, types.NAryRelation[types.Mention]),
        "ceaf_rme_phi3": (room.ceaf_rme_phi3, types.NAryRelation[types.Mention]),
        "ceaf_rme_phi3_covered": (room.ceaf_rme_phi3_covered, types.NAryRelation[types.Mention]),
        "scirex_f1": (room.scirex_f1, types.NAryRelationSet[types.IndexedMention]),
        "muc4_f1": (room.muc4_f1(room.phi_subset), types.TemplateSet[types.Entity[types.Mention]]),
        "granular_types": (room.granular_types, types.TemplateSet[str]),
    }
    return {name: expression(metric, type_, f"equations.{name}") for name, (metric, type_) in of.items()}


def _relations() -> dict[str, Subject]:
    from tallystick.tasks.relations import metrics as room

    return _expressions("relations", room.expressions(), TypedRelations)


def _nary() -> dict[str, Subject]:
    from tallystick.structures import IndexedMention, NAryRelationSet
    from tallystick.tasks.nary import metrics as room

    return {
        **_expressions("nary", {"clusters": room.METRICS["clusters"]}, Fillers),
        **_expressions("nary", {"n2": room.METRICS["n2"]}, NAryRelationSet[IndexedMention]),
    }


def _expressions(task: str, metrics: Mapping[str, NamedMetric], type_: Any) -> dict[str, Subject]:
    """Metrics that are asked about values of a type as they stand."""
    return {name: expression(metric.node, type_, f"{task}.{name}") for name, metric in metrics.items()}


def _events() -> dict[str, Subject]:
    from tallystick.structures import EventSet
    from tallystick.tasks.events import metrics as room
    from tallystick.tasks.parses import read_heads

    options = room.EventOptions(heads=read_heads("last"), coreference={})
    return _evaluated("events", room.expressions(options), EventSet, partial(room.evaluate, options=options))


def _roles() -> dict[str, Subject]:
    from tallystick.structures import NAryRelation
    from tallystick.tasks.roles import metrics as room

    return _evaluated("roles", room.expressions(), NAryRelation[str], room.evaluate)


def _templates() -> dict[str, Subject]:
    from tallystick.tasks.templates import metrics as room

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        gold, guess = ([_entities(document) for document in side] for side in (left, right))
        return room.evaluate(gold, guess, [name])[name].changed(undefined=None)

    known = {name: metric.kind.headline for name, metric in room.ALL.items()}
    return _scored("templates", known, TypedSpace.of(TemplateSet[str]), score)


def _entities(document: TemplateSet[str]) -> TemplateSet[Entity[str]]:
    """Templates whose fillers are entities of one mention: files have none without any."""
    return TemplateSet(
        tuple(
            Template(one.type, tuple(SlotFiller(filler.slot, Entity((filler.value,))) for filler in one.fillers))
            for one in document.templates
        )
    )


def _spans() -> dict[str, Subject]:
    from tallystick.tasks.spans import metrics as room

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        gold, guess = (
            [[(one.place.start, one.place.stop, one.tag) for one in text.spans] for text in side]
            for side in (left, right)
        )
        ends = ([end for _, end, _ in (*a, *b)] for a, b in zip(gold, guess, strict=True))
        lengths = [max(one, default=0) + 2 for one in ends]
        return room.evaluate(gold, guess, [name], lengths=lengths)[name].changed(undefined=None)

    # tags are no spans, and what is allowed under constrained_overlap has to be said
    known = {
        name: "f1" for name, metric in room.METRICS.items() if not metric.of_tags and name != "constrained_overlap"
    }
    return _scored("spans", known, TypedSpace.of(Spans), score)


def _amr() -> dict[str, Subject]:
    from tallystick.tasks.amr.metrics import METRICS

    return _called("amr", METRICS, MEANINGS, lambda graph: graph)


def _arguments() -> dict[str, Subject]:
    from tallystick.tasks.arguments import metrics as room
    from tallystick.tasks.arguments.stages import JUDGED, MODIFIERS, STAGES

    # modifiers need parses, and judgements a judge
    names = [name for name in STAGES if name not in (MODIFIERS, JUDGED)]
    return _evaluated("arguments", names, FILLINGS, room.evaluate)


def _calls() -> dict[str, Subject]:
    from tallystick.tasks.calls.metrics import METRICS

    return _called("calls", METRICS, TypedSpace.of(ToolCalls), _log)


def _log(given: ToolCalls) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "arguments": {key: value for key, value in vars(one.arguments).items() if value is not None}}
        for one in given.calls
    ]


def _called(task: str, names: Iterable[str], space: Space, document: Callable[[Any], Any]) -> dict[str, Subject]:
    """Metrics that are asked as their users ask them, by the function of the task."""
    from tallystick.tasks.function import function_of

    evaluate = function_of(task)

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        sides = ([document(one) for one in side] for side in (left, right))
        found: Result = evaluate(*sides, metrics=name)[name]
        return found.changed(undefined=None)

    return _scored(task, dict.fromkeys(names, "f1"), space, score)


def _evaluated(task: str, names: Iterable[str], type_: Any, evaluate: Callable[..., Any]) -> dict[str, Subject]:
    """Metrics whose task makes something else of the values first."""

    def score(left: Sequence[Any], right: Sequence[Any], name: str) -> Result:
        found: Result = evaluate(list(left), list(right), [name])[name]
        return found.changed(undefined=None)

    space = type_ if isinstance(type_, TypedSpace) else TypedSpace.of(type_)
    return _scored(task, dict.fromkeys(names, "f1"), space, score)


def _scored(
    task: str, headlines: Mapping[str, str], space: Space, score: Callable[[Sequence[Any], Sequence[Any], str], Result]
) -> dict[str, Subject]:
    """The metrics of a task, each with the figure that it is named after, over values of a space."""

    def subject(name: str) -> Subject:
        measure, corpus = of_result(lambda left, right: score(left, right, name))
        return Subject(f"{task}.{name}", space, measure, headlines[name], corpus)

    return {name: subject(name) for name in headlines}


TASKS: dict[str, Callable[[], dict[str, Subject]]] = {
    "amr": _amr,
    "arguments": _arguments,
    "calls": _calls,
    "coreference": _coreference,
    "dependencies": _dependencies,
    "equations": _equations,
    "events": _events,
    "hierarchies": _hierarchies,
    "nary": _nary,
    "relations": _relations,
    "roles": _roles,
    "spans": _spans,
    "templates": _templates,
}
"""Where `check` finds the named metrics."""

APART = ("events",)
"""Tasks that `all` leaves out, to be asked for by name: their structures are deep, and it takes minutes for each metric to make
the counterexamples small."""


def named(name: str) -> list[Subject]:
    """The metrics of that name: `hierarchies.muc_p`, a whole task `hierarchies`, or `all` but those `APART`."""
    if name == "all":
        return [one for task, subjects in TASKS.items() if task not in APART for one in subjects().values()]
    task, dot, metric = name.partition(".")
    if task not in TASKS:
        known = [*TASKS, "all"]
        if "(" in name:
            raise MetricError(
                f"{name!r:.60} is an expression, which needs --type MODULE:TYPE, the type of what it compares"
            )
        if ":" in name:
            raise MetricError(f"{name!r:.60} is no named metric; to check the metric of a type, give --type {name}")
        if task in task_names():
            raise MetricError(
                f"check does not make up documents of {task}; it knows the named metrics of {', '.join(TASKS)}. With --type MODULE:TYPE it "
                "checks an expression, or the metric that is derived from the type, and with --function any function"
            )
        raise MetricError(
            f"no task {task!r} with named metrics; there are {', '.join(known)}.{did_you_mean(task, known)}"
        )
    found = TASKS[task]()
    if not dot:
        return list(found.values())
    if metric not in found:
        raise MetricError(f"no metric {metric!r} in {task}; there are {', '.join(found)}.{did_you_mean(metric, found)}")
    return [found[metric]]


# The spaces of tasks whose structures are more than values of a type: partitions, forests, parsed sentences. And types whose
# values have all that a task's metrics look at.

Entities = tuple[tuple[int, ...], ...]


@frozen
class EntitySpace:
    """Mentions put into entities, no mention twice. A piece is a mention that joins its entity."""

    make: Callable[[Entities], Any]

    def random(self, rng: Random, size: int) -> Entities:
        out: list[list[int]] = []
        for mention in rng.sample(range(2 * size + 1), size):
            if out and rng.random() < 0.6:
                rng.choice(out).append(mention)
            else:
                out.append([mention])
        return tuple(map(tuple, out))

    def build(self, value: Entities) -> Any:
        return self.make(value)

    def related(self, value: Entities, rng: Random) -> Entities:
        mentions = [m for entity in value for m in entity if rng.random() < 0.8]
        if rng.random() < 0.5:
            extra = [m for m in range(2 * len(mentions) + 2) if m not in mentions]
            mentions += rng.sample(extra, min(1, len(extra)))
        home = {m: k for k, entity in enumerate(value) for m in entity}
        groups: dict[int, list[int]] = {}
        for m in mentions:
            k = home.get(m, rng.randint(0, 3)) if rng.random() < 0.7 else rng.randint(0, 3)
            groups.setdefault(k, []).append(m)
        return tuple(map(tuple, groups.values()))

    def simpler(self, value: Entities) -> Iterator[Entities]:
        for k, entity in enumerate(value):
            rest = value[:k] + value[k + 1 :]
            yield rest
            for j in range(len(entity)):
                if len(entity) > 1:
                    yield (*rest, entity[:j] + entity[j + 1 :])
                    yield (*rest, entity[:j] + entity[j + 1 :], (entity[j],))

    def different(self, value: Entities, rng: Random) -> list[tuple[str, Entities]]:
        mentions = sorted(m for entity in value for m in entity)
        out = [("no mention in common", tuple(tuple(m + 1000 for m in entity) for entity in value))]
        if any(len(entity) > 1 for entity in value):
            out.append(("the same mentions, no link in common", tuple((m,) for m in mentions)))
        elif len(mentions) > 1:
            out.append(("the same mentions, no link in common", (tuple(mentions),)))
        return out if mentions else []

    def shuffled(self, value: Entities, rng: Random) -> Entities:
        return tuple(tuple(rng.sample(entity, len(entity))) for entity in rng.sample(value, len(value)))

    def renamed(self, values: Sequence[Entities], rng: Random) -> list[Entities]:
        mentions = sorted({m for value in values for entity in value for m in entity})
        table = dict(zip(mentions, rng.sample(range(100, 100 + 2 * len(mentions) + 1), len(mentions)), strict=True))
        return [tuple(tuple(table[m] for m in entity) for entity in value) for value in values]

    def repeated(self, value: Entities, rng: Random) -> None:
        return None  # a mention has one place

    def empty(self) -> Entities:
        return ()

    def walks(self, value: Entities, rng: Random) -> list[Walk]:
        now: list[tuple[int, ...]] = [(m,) for entity in value for m in entity]
        rising: list[Entities] = [tuple(now)]
        for entity in value:
            for k in range(1, len(entity)):
                joined = [one for one in now if one[0] not in entity[: k + 1]]
                now = [*joined, entity[: k + 1]]
                rising.append(tuple(now))
        falling: list[Entities] = [value]
        for k in range(1, len(value)):
            merged = tuple(m for entity in value[: k + 1] for m in entity)
            falling.append((merged, *value[k + 1 :]))
        return [
            Walk("(a) from singletons", "entity by entity, its mentions joined one by one", rising, True),
            Walk("(b) to one entity", "entities merged into the first, one by one", falling, False),
        ]

    def same(self, value: Entities, other: Entities) -> bool:
        return set(map(frozenset, value)) == set(map(frozenset, other))


def entity_set(value: Entities) -> EntitySet[Mention]:
    """Entities as the equations have them."""
    return EntitySet(tuple(Entity(tuple(Mention(m, m) for m in entity)) for entity in value))


def memberships(value: Entities) -> Any:
    """Entities as B³ has them."""
    return entity_set(value).memberships()


Parents = tuple[tuple[int, int], ...]
"""(event, its parent or 0) for each event."""


@frozen
class HierarchySpace:
    """Forests of events. A piece is a link.

    (a) goes "bottom-up" (section 5): trees from the last to the first, in a tree the deepest links first, from the last
    to the first. (b) puts the root of the last tree under the root of the tree before it, and so on to one tree.
    """

    def random(self, rng: Random, size: int) -> Parents:
        depth: dict[int, int] = {}
        out = []
        for event in range(1, size + 1):
            above = rng.choice([e for e in depth if depth[e] < 3] or [0]) if rng.random() < 0.7 else 0
            depth[event] = depth[above] + 1 if above else 0
            out.append((event, above))
        return tuple(out)

    def build(self, value: Parents) -> EventHierarchy:
        return EventHierarchy(
            tuple(str(event) for event, _ in value),
            (),
            tuple(EventLink(str(above), str(event)) for event, above in value if above),
        )

    def related(self, value: Parents, rng: Random) -> Parents:
        out: dict[int, int] = {}
        for event, above in value:
            if rng.random() < 0.1:
                continue
            choice = rng.random()
            wrong = rng.choice([*out, 0])
            parent = above if choice < 0.6 else 0 if choice < 0.8 else wrong
            out[event] = parent if parent in out else 0
        return tuple(out.items())

    def simpler(self, value: Parents) -> Iterator[Parents]:
        parents = {above for _, above in value}
        for k, (event, above) in enumerate(value):
            if event not in parents:
                yield value[:k] + value[k + 1 :]
            if above:
                yield (*value[:k], (event, 0), *value[k + 1 :])

    def different(self, value: Parents, rng: Random) -> list[tuple[str, Parents]]:
        out = [("no event in common", tuple((e + 1000, above + 1000 if above else 0) for e, above in value))]
        if any(above for _, above in value):
            out.append(("the same events, no links", tuple((event, 0) for event, _ in value)))
        return out if value else []

    def shuffled(self, value: Parents, rng: Random) -> Parents:
        return tuple(rng.sample(value, len(value)))

    def renamed(self, values: Sequence[Parents], rng: Random) -> list[Parents]:
        events = sorted({event for value in values for event, _ in value})
        table = {0: 0, **dict(zip(events, rng.sample(range(100, 100 + 2 * len(events) + 1), len(events)), strict=True))}
        return [tuple((table[event], table[above]) for event, above in value) for value in values]

    def repeated(self, value: Parents, rng: Random) -> None:
        return None  # links are a set

    def empty(self) -> Parents:
        return ()

    def walks(self, value: Parents, rng: Random) -> list[Walk]:
        parent = dict(value)
        place = {event: k for k, event in enumerate(parent)}

        def line(event: int) -> list[int]:
            found = [event]
            while parent[found[-1]]:
                found.append(parent[found[-1]])
            return found

        linked = [event for event in parent if parent[event]]
        order = sorted(linked, key=lambda e: (place[line(e)[-1]], len(line(e)), place[e]), reverse=True)
        now = dict.fromkeys(parent, 0)
        rising = [tuple(now.items())]
        for event in order:
            now[event] = parent[event]
            rising.append(tuple(now.items()))
        now = dict(parent)
        falling = [tuple(now.items())]
        roots = [event for event in parent if not parent[event]]
        for k in range(len(roots) - 1, 0, -1):
            now[roots[k]] = roots[k - 1]
            falling.append(tuple(now.items()))
        return [
            Walk("(a) correct links added", "trees last to first, in a tree the deepest links first", rising, True),
            Walk("(b) trees merged", "the root of the last tree under that of the tree before it", falling, False),
        ]

    def same(self, value: Parents, other: Parents) -> bool:
        return set(value) == set(other)


def parents_of(hierarchy: EventHierarchy, kind: str) -> Parents:
    """A hierarchy read from a file in the form of this space; events are numbered in their order."""
    number = {event: k for k, event in enumerate(hierarchy.events, 1)}
    above = {link.child: link.parent for link in hierarchy.links if link.type == kind}
    return tuple((number[event], number[above[event]] if event in above else 0) for event in hierarchy.events)


Word = tuple[int, str, str, str]
"""head, relation, part of speech, lemma"""
Sentence = tuple[Word, ...]


@frozen
class SentenceSpace:
    """Parses of one sentence. A piece is a word with all its annotation.

    Heads are such that any mixture of right and wrong words has no cycle: word 1 is the root, word 2 hangs below it,
    and the others below one of the words before them; in a wrong parse word 2 is the root and word 1 below it.
    """

    relations: tuple[str, ...] = ("root", "nsubj", "obj", "obl", "amod", "advcl")

    def random(self, rng: Random, size: int) -> Sentence:
        words = []
        for k in range(1, max(size, 2) + 1):
            head = 0 if k == 1 else rng.randrange(1, k)
            words.append(
                (head, rng.choice(self.relations[1:]) if head else "root", rng.choice("NVA"), rng.choice("xyz"))
            )
        return tuple(words)

    def build(self, value: Sentence) -> Sentence:
        return value

    def related(self, value: Sentence, rng: Random) -> Sentence:
        wrong = self.different(value, rng)[0][1]
        return tuple(
            b if k > 1 and rng.random() < 0.4 else a for k, (a, b) in enumerate(zip(value, wrong, strict=True))
        )

    def simpler(self, value: Sentence) -> Iterator[Sentence]:
        plain = self.random(Random(0), len(value))
        for k, word in enumerate(value):
            if word != plain[k]:
                yield (*value[:k], plain[k], *value[k + 1 :])

    def different(self, value: Sentence, rng: Random) -> list[tuple[str, Sentence]]:
        out = []
        for k, (head, relation, upos, lemma) in enumerate(value, 1):
            other = 2 if k == 1 else 0 if k == 2 else 1 if head == 2 else 2
            name = "root" if other == 0 else "nmod" if relation != "nmod" else "xcomp"
            out.append((other, name, upos.lower() * 2, lemma * 2))
        return [("every word wrong", tuple(out))]

    def shuffled(self, value: Sentence, rng: Random) -> Sentence:
        return value

    def renamed(self, values: Sequence[Sentence], rng: Random) -> list[Sentence]:
        return [tuple((head, relation, f"T{upos}", f"L{lemma}") for head, relation, upos, lemma in v) for v in values]

    def repeated(self, value: Sentence, rng: Random) -> None:
        return None

    def empty(self) -> None:
        return None

    def walks(self, value: Sentence, rng: Random) -> list[Walk]:
        wrong = self.different(value, rng)[0][1]
        order = "words from left to right"
        rising = [value[:k] + wrong[k:] for k in range(len(value) + 1)]
        falling = [value[:k] + wrong[k:] for k in range(len(value), -1, -1)]
        return [Walk("(a) words made right", order, rising, True), Walk("(b) words made wrong", order, falling, False)]

    def same(self, value: Sentence, other: Sentence) -> bool:
        return value == other


def conllu(sentences: Sequence[Sentence]) -> str:
    """Sentences as CoNLL-U, a document each."""
    lines = []
    for number, sentence in enumerate(sentences):
        lines.append(f"# newdoc id = {number}")
        for k, (head, relation, upos, lemma) in enumerate(sentence, 1):
            lines.append(f"{k}\tw{k}\t{lemma}\t{upos}\t{upos}\tNumber={upos}\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


@frozen
class TypedMention(Mention):
    """A mention of which everything is known that a relation's arguments are compared by."""

    type: str
    head: int


@frozen
class TypedRelation:
    """A relation of such mentions."""

    type: str
    subj: TypedMention
    obj: TypedMention


@frozen
class TypedRelations:
    """The relations of a text."""

    relations: Collection[TypedRelation]


@frozen
class Fillers:
    """The entities of a text, each in its role."""

    entities: Collection[RoleFillerEntity[IndexedMention]]


@frozen
class TaggedSpan:
    """A stretch of a text, and its tag."""

    place: range
    tag: str


@frozen
class Spans:
    """The spans of a text."""

    spans: Collection[TaggedSpan]


@frozen
class Arguments:
    """What a tool may be given."""

    city: str | None
    days: int | None


@frozen
class ToolCall:
    """A function, and what it is given."""

    name: str
    arguments: Arguments


@frozen
class ToolCalls:
    """The calls of a log."""

    calls: Collection[ToolCall]


# Graphs of meaning: concepts by variable, and edges whose roles are those that some metric looks at, or, in the other half, others.

_WORD = sampler_of(str)
_CONSTANT = ("polarity", "wiki")
_EDGE = {
    "role": Fixed(("ARG0", "ARG1", "name", "polarity", "wiki"), ("ARG2", "ARG3", "time", "location", "op1")),
    "source": _WORD,
    "target": _WORD,
}


def _graph(value: Mapping[str, Any]) -> AMR:
    instances = [Prop("instance", Var(variable), concept) for variable, concept in value["concepts"].items()]
    edges = [
        Prop(one["role"], Var(one["source"]), f'"{one["target"]}"' if one["role"] in _CONSTANT else Var(one["target"]))
        for one in value["edges"]
    ]
    return AMR((*instances, *edges))


class MeaningSpace(TypedSpace):
    """Graphs of meaning, which are the same whatever their variables are called."""

    def same(self, value: Any, other: Any) -> bool:
        one, two = (self.build(graph).props for graph in (value, other))
        if _facts(one, {}) != _facts(two, {}):
            return False
        ours, theirs = (list(dict.fromkeys(end.name for prop in side for end in _ends(prop))) for side in (one, two))
        names = (dict(zip(ours, order, strict=True)) for order in permutations(theirs))
        return len(ours) == len(theirs) and any(
            _facts(one, table) == _facts(two, dict(zip(theirs, theirs, strict=True))) for table in names
        )


def _ends(prop: Prop) -> list[Var]:
    return [end for end in (prop.subj, prop.obj) if isinstance(end, Var)]


def _facts(props: Collection[Prop], names: Mapping[str, str]) -> Counter[tuple[str, ...]]:
    """The propositions, with these names for the variables, or with none for all of them."""
    return Counter(
        (prop.rel, *(names.get(end.name, "") for end in _ends(prop)), "" if isinstance(prop.obj, Var) else prop.obj)
        for prop in props
    )


_CONCEPTS = Fields(dict, {"key": _WORD, "value": _WORD})
MEANINGS = MeaningSpace(
    Fields(
        _graph,
        {
            "concepts": Keyed(_CONCEPTS, lambda items: {one["key"]: one["value"] for one in items}, repeats=False),
            "edges": Many(Fields(dict, _EDGE), list),
        },
    )
)

# Event arguments at places of one text, whose words are near each other in the ways that the stages forgive.

_PLACES = (
    (0, 0, "ant"),
    (1, 1, "bee"),
    (2, 3, "the ant"),
    (4, 4, "Ant"),
    (5, 7, "ant and bee"),
    (8, 9, "the bee"),
    (10, 10, "ant"),
)
_OTHER_PLACES = tuple((1000 + k, 1000 + k, text) for k, text in enumerate(OTHER_WORDS))


def _filling(value: Mapping[str, Any]) -> EventArgument:
    first, last, text = value["place"]
    return EventArgument(value["event"], value["role"], text, (first, last))


_FILLING = Fields(_filling, {"event": _WORD, "role": _WORD, "place": Fixed(_PLACES, _OTHER_PLACES)})
FILLINGS = TypedSpace(Fields(lambda value: ArgumentDocument(value["arguments"]), {"arguments": Many(_FILLING, tuple)}))
