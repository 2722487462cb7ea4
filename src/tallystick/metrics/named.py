"""What the tasks' modules share: running named expressions over one corpus, types in a hierarchy, informativity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tallystick.errors import MetricError, did_you_mean
from tallystick.matching.collections import supertypes
from tallystick.scoring.evaluation import evaluate
from tallystick.scoring.result import Result
from tallystick.similarity.exact import exact
from tallystick.similarity.hierarchy import levels, subtypes
from tallystick.similarity.node import Node, Similarity
from tallystick.similarity.weights import weigh

V = TypeVar("V")

HIERARCHIES = ("ancestor", "descendant", "levels", "supertypes")
"""Half credit for a predicted ancestor (eq. 33 as MUC-4 did it) or descendant (as printed); eq. 38; eq. 39."""


@dataclass(frozen=True)
class Named:
    """A metric of a task: its expression, and what its name stands for."""

    expression: Node
    summary: str
    directed: bool = False
    """Of relations: it has no form for those whose arguments have no order, so that it is given all as they stand."""


@dataclass(frozen=True)
class Types:
    """When two types are alike: equal, or near each other in a hierarchy. It stands in the place of any δ_type."""

    hierarchy: str = ""
    parents: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.hierarchy and self.hierarchy not in HIERARCHIES:
            raise MetricError(
                f"unknown hierarchy {self.hierarchy!r}; expected one of {', '.join(HIERARCHIES)}."
                f"{did_you_mean(self.hierarchy, HIERARCHIES)}"
            )
        if self.hierarchy in ("ancestor", "descendant", "supertypes") and not self.parents:
            raise MetricError(
                f"the hierarchy {self.hierarchy!r} needs the parents of the types; only levels are read from names"
            )

    @staticmethod
    def of(hierarchy: str | None, parents: Mapping[str, Any] | None) -> Types:
        """From the options of a command; parents alone mean MUC-4's half credit."""
        table = tuple((child, tuple([p] if isinstance(p, str) else p)) for child, p in (parents or {}).items())
        return Types(hierarchy or ("ancestor" if table else ""), table)

    @property
    def similarity(self) -> Similarity:
        table = dict(self.parents)
        if self.hierarchy == "levels":
            return levels()
        if self.hierarchy == "supertypes":
            return supertypes(table)
        if self.hierarchy:
            return subtypes(table, direction=f"predicted_{self.hierarchy}")
        return exact


def informative(mention: Similarity, weights: Mapping[str, float] | tuple[tuple[str, float], ...]) -> Similarity:
    """A mention that counts by its kind (name, nominal, pronoun); without weights, the mention itself."""
    return weigh(mention, dict(weights), by="kind") if weights else mention


def chosen(known: Mapping[str, V], names: Sequence[str], task: str) -> dict[str, V]:
    """The metrics of these names, or all."""
    for name in names:
        if name not in known:
            raise MetricError(
                f"{task} has no metric {name!r} here; there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return {name: known[name] for name in names} if names else dict(known)


def run(
    task: str,
    name: str,
    expression: Node,
    ids: Sequence[Any],
    reference: Sequence[Any],
    predicted: Sequence[Any],
    *,
    undefined: float | None = 0.0,
    notes: Iterable[str] = (),
    settings: str = "",
) -> Result:
    """One expression over the corpus, under its name."""
    result = evaluate(
        expression, dict(zip(ids, reference, strict=True)), dict(zip(ids, predicted, strict=True)), undefined=undefined
    )
    return result.changed(name=f"{task}.{name}", notes=(*result.notes, *notes), settings=settings)


def settings_line(**settings: Any) -> str:
    """The choices that change figures, for a signature."""
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value not in ("", None))
