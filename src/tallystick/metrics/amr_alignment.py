"""What a variable map says: which triples of two graphs match, which are missed, which are spurious."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tallystick.matching.latent_pairs import Ints
from tallystick.metrics.amr_triples import Facts


@dataclass(frozen=True)
class Alignment:
    """Which variable is which, and the triples (source, role, target) that match, are missed, are spurious.

    `matched` pairs the reference's triple with the predicted one.
    """

    variables: list[tuple[str, str]]
    unmatched_reference: list[str]
    unmatched_predicted: list[str]
    matched: list[tuple[tuple[str, str, str], tuple[str, str, str]]]
    missed: list[tuple[str, str, str]]
    spurious: list[tuple[str, str, str]]


def align(reference: Facts, predicted: Facts, mapping: Ints) -> Alignment:
    """The alignment that a mapping (reference variable → predicted variable or -1) gives."""
    pairs = [(i, int(j)) for i, j in enumerate(mapping.tolist()) if j >= 0]
    back = {j: i for i, j in pairs}
    waiting: dict[object, list[tuple[str, str, str]]] = {}
    for key, shown in _keyed(predicted, lambda v: back.get(v, ("predicted", v))):
        waiting.setdefault(key, []).append(shown)
    matched, missed = [], []
    for key, shown in _keyed(reference, lambda v: v):
        if waiting.get(key):
            matched.append((shown, waiting[key].pop(0)))
        else:
            missed.append(shown)
    chosen = {i for i, _ in pairs}
    return Alignment(
        [(reference.variables[i], predicted.variables[j]) for i, j in pairs],
        [name for i, name in enumerate(reference.variables) if i not in chosen],
        [name for j, name in enumerate(predicted.variables) if j not in back],
        matched,
        missed,
        [shown for rest in waiting.values() for shown in rest],
    )


def _keyed(facts: Facts, name: Callable[[int], object]) -> Iterable[tuple[object, tuple[str, str, str]]]:
    names = facts.variables
    for v, role, value, turned in facts.unary:
        shown = (value, role, names[v]) if turned else (names[v], role, value)
        yield (name(v), role, value, turned), shown
    for s, role, t in facts.binary:
        yield (name(s), role, name(t)), (names[s], role, names[t])
    for free in facts.free:
        yield free, free
