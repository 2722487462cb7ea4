"""Other people's scoring functions, in the shape that `tallystick check --function` takes, with the types they are given.

    tallystick check --function benchmarks/strangers.py:stickler_overall --type benchmarks/strangers.py:Names

Needs `pip install stickler-eval anls_star metametric==0.2.1`. docs/checking.md says what is found.
"""

# No `from __future__ import annotations`: metametric takes a string for a type with equality.
from dataclasses import dataclass
from typing import Any

Names = list[str]
Numbers = list[int]
Table = dict[str, int]
Lines = list[dict[str, str]]
Steps = tuple[str, ...]


@dataclass
class Tagged:
    """A collection that may be missing."""

    tags: frozenset[str] | None


@dataclass
class Quoted:
    """The same, always there, with its annotation in quotes."""

    tags: "frozenset[str]"


@dataclass
class Plain:
    """The same once more, with nothing that is special."""

    tags: frozenset[str]


def _stickler(reference: list[str], predicted: list[str]) -> dict[str, Any]:
    from stickler import ComparableField, StructuredModel
    from stickler.comparators import LevenshteinComparator

    class Item(StructuredModel):
        match_threshold = 0.7
        name: str = ComparableField(comparator=LevenshteinComparator(), threshold=0.7)

    class Document(StructuredModel):
        items: list[Item] = ComparableField(weight=1.0)

    left, right = (Document(items=[Item(name=name) for name in side]) for side in (reference, predicted))
    found: dict[str, Any] = left.compare_with(right, include_confusion_matrix=True)
    return found


def _figures(found: dict[str, Any], which: str) -> dict[str, float]:
    derived = found["confusion_matrix"][which]["derived"]
    figures = {name: derived[f"cm_{name}"] for name in ("precision", "recall", "f1")}
    return {**figures, "overall_score": found["overall_score"]}


def stickler_overall(reference: list[str], predicted: list[str]) -> dict[str, float]:
    """stickler's counts over items."""
    return _figures(_stickler(reference, predicted), "overall")


def stickler_aggregate(reference: list[str], predicted: list[str]) -> dict[str, float]:
    """stickler's counts over the fields of items."""
    return _figures(_stickler(reference, predicted), "aggregate")


def anls(reference: Any, predicted: Any) -> float:
    """ANLS* of two lists (or mappings) of texts."""
    from anls_star import anls_score

    return float(anls_score(reference, predicted))


def _metametric(type_: Any, references: list[Any], predicted: list[Any]) -> dict[str, float]:
    import metametric.dsl as mm

    aggregator = mm.family(mm.auto[type_], mm.micro_average(["precision", "recall", "f1"])).new()
    aggregator.update_batch(predicted, references)
    return dict(aggregator.compute())


def metametric_numbers(references: list[Numbers], predicted: list[Numbers]) -> dict[str, float]:
    """metametric over lists."""
    return _metametric(Numbers, references, predicted)


def metametric_table(references: list[Table], predicted: list[Table]) -> dict[str, float]:
    """metametric over mappings."""
    return _metametric(Table, references, predicted)


def metametric_steps(references: list[Steps], predicted: list[Steps]) -> dict[str, float]:
    """metametric over tuples."""
    return _metametric(Steps, references, predicted)


def metametric_tagged(references: list[Tagged], predicted: list[Tagged]) -> dict[str, float]:
    """metametric over records with an optional list."""
    return _metametric(Tagged, references, predicted)


def metametric_quoted(references: list[Quoted], predicted: list[Quoted]) -> dict[str, float]:
    """metametric over records with an annotation in quotes."""
    return _metametric(Quoted, references, predicted)


def metametric_plain(references: list[Plain], predicted: list[Plain]) -> dict[str, float]:
    """metametric over plain records."""
    return _metametric(Plain, references, predicted)
