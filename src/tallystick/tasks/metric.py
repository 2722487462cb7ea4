"""What the metrics of all tasks share: their declaration, scoring an expression under its name, types in a hierarchy, informativity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tallystick.algebra.node import Node, Similarity
from tallystick.errors import MetricError, did_you_mean

if TYPE_CHECKING:
    from tallystick.files.pairing import Paired
    from tallystick.results.result import Result

V = TypeVar("V")

Entry: TypeAlias = tuple[Node, str] | tuple[Node, str, str]
"""The expression of a metric, its summary, and perhaps its view."""


@dataclass(frozen=True)
class NamedMetric:
    """A metric of a task, declared once: what its name stands for, and its expression or else what tallies it."""

    name: str
    summary: str
    expression: Node | None = None
    tally: Callable[..., Any] | None = None
    """What counts it: always where there is no expression, and beside one where that is measurably faster."""
    view: str = ""
    """Which view of the task's documents it looks at, where there are several: relations as they stand, mentions by themselves."""
    task_labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The labels of the task, each with its path in a document."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels that it can be broken down by: those of the collection that its expression goes through."""
        from tallystick.results.breakdown import has_labels_at

        node = self.expression
        return {} if node is None else {k: path for k, path in self.task_labels.items() if has_labels_at(node, path)}

    @property
    def node(self) -> Node:
        """The expression of a metric that has one."""
        if self.expression is None:
            raise MetricError(f"{self.name} is not an expression of the algebra")
        return self.expression


def declare(metrics: Mapping[str, Entry], labels: Mapping[str, str] | None = None) -> dict[str, NamedMetric]:
    """Metrics that are expressions, by name, and the labels of their task."""
    return {
        name: NamedMetric(
            name,
            summary,
            expression,
            view=view[0] if view else "",
            task_labels=labels or {},
        )
        for name, (expression, summary, *view) in metrics.items()
    }


def choose(known: Mapping[str, V], names: Sequence[str], task: str) -> dict[str, V]:
    """The metrics of these names, or all."""
    for name in names:
        if name not in known:
            raise MetricError(
                f"{task} has no metric {name!r} here; there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return {name: known[name] for name in names} if names else dict(known)


def score_expression(
    name: str, expression: Node, pairs: Paired[Any], *, undefined: float | None = 0.0, settings: str = ""
) -> Result:
    """One expression over the documents of a corpus, under a name such as `events.tri_c`."""
    from tallystick.results.evaluation import evaluate

    sides = (dict(zip(pairs.ids, side, strict=True)) for side in (pairs.reference, pairs.predicted))
    result = evaluate(expression, *sides, undefined=undefined)
    return result.changed(name=name, notes=(*result.notes, *pairs.warnings), settings=settings)


def settings_line(**settings: Any) -> str:
    """The choices that change figures, for a signature."""
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value not in ("", None))


HIERARCHIES = ("ancestor", "descendant", "levels", "supertypes")
"""Half credit for a predicted ancestor (eq. 33 as MUC-4 did it) or descendant (as printed); eq. 38; eq. 39."""


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
        """What compares two types."""
        from tallystick.algebra.exact import exact
        from tallystick.algebra.hierarchy import levels, subtypes
        from tallystick.algebra.normalise import supertypes

        table = dict(self.parents)
        if self.hierarchy == "levels":
            return levels()
        if self.hierarchy == "supertypes":
            return supertypes(table)
        if self.hierarchy:
            return subtypes(table, direction=f"predicted_{self.hierarchy}")
        return exact


def weigh_by_kind(mention: Similarity, weights: Mapping[str, float] | tuple[tuple[str, float], ...]) -> Similarity:
    """A mention that counts by its kind (name, nominal, pronoun); without weights, the mention itself."""
    from tallystick.algebra.weights import weigh

    return weigh(mention, dict(weights), by="kind") if weights else mention
