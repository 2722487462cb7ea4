"""The registry of named metrics: every task says which structures its metrics are for.

A task is added by an entry in `TASKS`: a function that gives its subjects by name. It is called only when the task is
asked for, so that `tallystick check` imports what it needs and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tallystick.checking.subjects import Subject, expression, of_result
from tallystick.errors import MetricError, did_you_mean
from tallystick.scoring.result import Result


def _coreference() -> dict[str, Subject]:
    from tallystick.checking.tasks import EntitySpace
    from tallystick.metrics import coreference as room

    space = EntitySpace(lambda value: [list(entity) for entity in value])

    def scored(name: str) -> Callable[[Sequence[Any], Sequence[Any]], Result]:
        return lambda left, right: room.evaluate(list(left), list(right), [name])[name]

    found = {**room.METRICS, **room.VARIANTS}
    return {
        name: Subject(f"coreference.{name}", space, *_with(of_result(scored(name)), metric.kind.headline))
        for name, metric in found.items()
    }


def _hierarchies() -> dict[str, Subject]:
    from tallystick.checking.tasks import HierarchySpace
    from tallystick.metrics import hierarchies as room

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
    from tallystick.checking.tasks import SentenceSpace, conllu
    from tallystick.metrics import dependencies as room
    from tallystick.metrics.ud_units import find_units
    from tallystick.reading.conllu import parse_conllu

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
    from tallystick.checking.tasks import EntitySpace, entity_set, memberships
    from tallystick.metrics import equations as room

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


TASKS: dict[str, Callable[[], dict[str, Subject]]] = {
    "coreference": _coreference,
    "dependencies": _dependencies,
    "equations": _equations,
    "hierarchies": _hierarchies,
}
"""Where `check` finds the named metrics."""


def _with(functions: tuple[Any, Any], headline: str) -> tuple[Any, str, Any]:
    measure, corpus = functions
    return measure, headline, corpus


def named(name: str) -> list[Subject]:
    """The metrics of that name: `hierarchies.muc_p`, a whole task `hierarchies`, or `all`."""
    if name == "all":
        return [subject for task in TASKS.values() for subject in task().values()]
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
