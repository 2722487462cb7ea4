"""The registry of named metrics: every task says which structures its metrics are for.

A task is added by an entry in `TASKS`: a function that gives its subjects by name. It is called only when the task is
asked for, so that `tallystick check` imports what it needs and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tallystick.errors import MetricError, did_you_mean
from tallystick.laboratory.spaces import TypedSpace
from tallystick.laboratory.subjects import Subject, expression, of_result
from tallystick.results.result import Result

if TYPE_CHECKING:
    from tallystick.tasks.metric import NamedMetric


def _coreference() -> dict[str, Subject]:
    from tallystick.laboratory.tasks import EntitySpace
    from tallystick.tasks.coreference import metrics as room

    space = EntitySpace(lambda value: [list(entity) for entity in value])

    def scored(name: str) -> Callable[[Sequence[Any], Sequence[Any]], Result]:
        return lambda left, right: room.evaluate(list(left), list(right), [name])[name]

    found = {**room.METRICS, **room.VARIANTS}
    return {
        name: Subject(f"coreference.{name}", space, *_with(of_result(scored(name)), metric.kind.headline))
        for name, metric in found.items()
    }


def _hierarchies() -> dict[str, Subject]:
    from tallystick.laboratory.tasks import HierarchySpace
    from tallystick.tasks.hierarchies import metrics as room

    def scored(name: str) -> Callable[[Sequence[Any], Sequence[Any]], Result]:
        return lambda left, right: room.evaluate(left, right, [name])[name]

    return {
        name: Subject(
            f"hierarchies.{name}", HierarchySpace(), *_with(of_result(scored(name)), metric.kind.headline)
        )
        for name, metric in room.METRICS.items()
        if name != "mentions"  # links are what is edited here
    }  # fmt: skip


def _dependencies() -> dict[str, Subject]:
    from tallystick.laboratory.tasks import SentenceSpace, conllu
    from tallystick.tasks.dependencies import metrics as room
    from tallystick.tasks.dependencies.alignment import find_units
    from tallystick.tasks.dependencies.files import parse_conllu

    space = SentenceSpace()

    def scored(name: str) -> Callable[[Sequence[Any], Sequence[Any]], Result]:
        def score(left: Sequence[Any], right: Sequence[Any]) -> Result:
            sides = [parse_conllu(conllu(side), several_roots=True) for side in (left, right)]
            units = find_units(sides[0], sides[1], by="document")
            return room.score(sides[0], sides[1], [name], units=units)[name]

        return score

    words = ("upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "clas", "mlas", "blex")
    return {
        name: Subject(f"dependencies.{name}", space, *_with(of_result(scored(name)), "f1"))
        for name in room.METRICS
        if name in words  # tokens and sentences are not what is edited here
    }


def _equations() -> dict[str, Subject]:
    from tallystick import structures as types
    from tallystick.laboratory.tasks import EntitySpace, entity_set, memberships
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
    from tallystick.laboratory.tasks import TypedRelations
    from tallystick.tasks.relations import metrics as room

    return _expressions("relations", room.expressions(), TypedRelations)


def _nary() -> dict[str, Subject]:
    from tallystick.laboratory.tasks import Fillers
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


def _evaluated(task: str, names: Iterable[str], type_: Any, evaluate: Callable[..., Any]) -> dict[str, Subject]:
    """Metrics whose task makes something else of the values first."""
    space = TypedSpace.of(type_)

    def scored(name: str) -> Callable[[Sequence[Any], Sequence[Any]], Result]:
        def score(left: Sequence[Any], right: Sequence[Any]) -> Result:
            found: Result = evaluate(list(left), list(right), [name])[name]
            return found.changed(undefined=None)

        return score

    return {name: Subject(f"{task}.{name}", space, *_with(of_result(scored(name)), "f1")) for name in names}


TASKS: dict[str, Callable[[], dict[str, Subject]]] = {
    "coreference": _coreference,
    "dependencies": _dependencies,
    "equations": _equations,
    "events": _events,
    "hierarchies": _hierarchies,
    "nary": _nary,
    "relations": _relations,
    "roles": _roles,
}
"""Where `check` finds the named metrics."""

APART = ("events",)
"""Tasks that `all` leaves out, to be asked for by name: their structures are deep, and it takes minutes for each metric to make
the counterexamples small."""


def _with(functions: tuple[Any, Any], headline: str) -> tuple[Any, str, Any]:
    measure, corpus = functions
    return measure, headline, corpus


def named(name: str) -> list[Subject]:
    """The metrics of that name: `hierarchies.muc_p`, a whole task `hierarchies`, or `all` but those `APART`."""
    if name == "all":
        return [one for task, subjects in TASKS.items() if task not in APART for one in subjects().values()]
    task, dot, metric = name.partition(".")
    if task not in TASKS:
        known = [*TASKS, "all"]
        raise MetricError(
            f"no task {task!r} with named metrics; there are {', '.join(known)}.{did_you_mean(task, known)}"
        )
    found = TASKS[task]()
    if not dot:
        return list(found.values())
    if metric not in found:
        raise MetricError(f"no metric {metric!r} in {task}; there are {', '.join(found)}.{did_you_mean(metric, found)}")
    return [found[metric]]
