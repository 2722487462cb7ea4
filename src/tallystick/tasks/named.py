"""What the tasks' modules share: running named expressions over one corpus, types in a hierarchy, informativity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tallystick.algebra.collections import supertypes
from tallystick.algebra.exact import exact
from tallystick.algebra.hierarchy import levels, subtypes
from tallystick.algebra.node import Node, Similarity
from tallystick.algebra.weights import weigh
from tallystick.errors import InputError, MetricError, Place, did_you_mean
from tallystick.files.json_values import Json, read_json
from tallystick.files.source import AnySource, Source
from tallystick.results.evaluation import evaluate
from tallystick.results.result import Result
from tallystick.structures.texts import AnnotatedMention

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


# Mentions as JSON has them: `[start, end]`, `[start, end, type]`, or an object.
#
#     {"start": 3, "end": 5, "type": "PER", "head": [4, 5], "entity": "e1", "kind": "name"}
#
# Ends are exclusive, as in Python, unless a format says otherwise.


def read_mention(found: Json, *, inclusive: bool = False) -> AnnotatedMention:
    """A mention from a list or an object."""
    if isinstance(found.value, list):
        left, right = found.span(inclusive=inclusive)
        parts = found.each()
        return AnnotatedMention(left, right, type=parts[2].text() if len(parts) > 2 else None)
    known = found.mapping()
    start, end = known.get("start"), known.get("end")
    if type(start) is not int or type(end) is not int:  # something is unusual, and will be named if it is wrong
        start, end = found.at("start", "start_token").whole(), found.at("end", "end_token").whole()
    left, right = found.checked_span(start, end, inclusive)
    head = found.get("head")
    return AnnotatedMention(
        left,
        right,
        type=_word(found, "type", "entity_type"),
        head=head.span(inclusive=inclusive) if head is not None else None,
        entity=_word(found, "entity"),
        kind=_word(found, "kind", "mention_type"),
        text=_word(found, "text"),
    )


def _word(found: Json, *keys: str) -> str | None:
    for key in keys:
        value = found.value.get(key)
        if value is not None:
            return value if isinstance(value, str) else found.at(key).name()
    return None


def document_name(document: Json, number: int, *keys: str) -> str:
    """A document's name under the first of the keys that it has; else its number in the file."""
    found = document.get(*keys)
    return found.name() if found is not None else str(number)


# Hierarchies of types, from a file: {"child": "parent"} or {"child": ["parent", ...]} as JSON, or `child<TAB>parent` lines.


def read_parents(name: AnySource) -> dict[str, tuple[str, ...]]:
    """Each type with its parents."""
    source = Source.of(name)
    file, text = str(source), source.text()
    if text.lstrip().startswith("{"):
        out = {}
        for document in read_json(Source.of_text(text, file)):
            for child, parent in document.items():
                listed = parent.each() if isinstance(parent.value, list) else [parent]
                out[child] = tuple(one.text() for one in listed)
        return out
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise InputError(f"expected `child<TAB>parent`, found {line!r:.60}", Place(file, number))
        type_, above = (part.strip() for part in parts)
        found[type_] = (*found.get(type_, ()), above)
    if not found:
        raise InputError("has no line `child<TAB>parent`", file)
    return found
