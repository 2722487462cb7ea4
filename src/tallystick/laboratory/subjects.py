"""Subjects: metrics as the laboratory sees them, something that gives figures for pairs of structures.

A metric of this project is asked about many pairs at once, as the documents of one corpus. A stranger's function is
asked one pair at a time; what it raises is kept as a finding, not as the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.algebra.node import Node
from tallystick.engine.tally import Counts
from tallystick.errors import MetricError, TallystickError
from tallystick.laboratory.spaces import Space, TypedSpace
from tallystick.results.result import Result

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Scored:
    """What a metric makes of a pair: figures (None: undefined), whether a Σ(P,R) passed Σ(P,P) or Σ(R,R), an error."""

    figures: Mapping[str, float | None]
    excess: float = 0.0
    error: str = ""

    def at(self, name: str) -> float | None:
        return self.figures.get(name)


Measure = Callable[[Sequence[Pair]], list[Scored]]
Corpus = Callable[[Sequence[Pair]], Scored]


@dataclass(frozen=True)
class Subject:
    """A metric, the space of its structures, and the figure that it is judged by."""

    name: str
    space: Space
    measure: Measure
    headline: str
    corpus: Corpus | None = None
    """The figures of several documents together."""
    metric: Node | None = None
    listed: bool = False
    """Whether it is a stranger's function over lists, of which it can be asked whether it found its own optimum."""

    def scores(self, pairs: Sequence[Pair]) -> list[Scored]:
        """Figures of pairs (reference, predicted), in the neutral form of the space."""
        return self.measure([(self.space.build(a), self.space.build(b)) for a, b in pairs]) if pairs else []

    def together(self, pairs: Sequence[Pair]) -> Scored | None:
        """Figures of a corpus of documents."""
        return self.corpus([(self.space.build(a), self.space.build(b)) for a, b in pairs]) if self.corpus else None


def of_result(score: Callable[[Sequence[Any], Sequence[Any]], Result]) -> tuple[Measure, Corpus]:
    """What a metric of this project makes of pairs: they are the documents of one corpus."""

    def measure(pairs: Sequence[Pair]) -> list[Scored]:
        result = score([a for a, _ in pairs], [b for _, b in pairs])
        excess = np.zeros(len(pairs))
        if isinstance(result.kind, Counts):
            excess = np.maximum(result.rows[:, 0] - result.rows[:, 1], result.rows[:, 2] - result.rows[:, 3])
        found = zip(result.documents.values(), excess.tolist(), strict=True)
        return [Scored(figures, max(0.0, over)) for figures, over in found]

    def corpus(pairs: Sequence[Pair]) -> Scored:
        return Scored(score([a for a, _ in pairs], [b for _, b in pairs]).figures)

    return measure, corpus


def _of_node(name: str, metric: Node, space: Space) -> Subject:
    from tallystick.results.evaluation import evaluate, kind_of

    measure, corpus = of_result(lambda left, right: evaluate(metric, left, right))
    return Subject(name, space, measure, kind_of(metric).headline, corpus, metric)


def expression(metric: Node | str, type_: Any, name: str = "") -> Subject:
    """A metric written in the algebra, over values of a type."""
    from tallystick.algebra.parse import parse

    node = parse(metric) if isinstance(metric, str) else metric
    return _of_node(name or str(node), node, type_ if hasattr(type_, "walks") else TypedSpace.of(type_))


def derived(type_: Any, *, credit: str = "all", name: str = "") -> Subject:
    """The metric that is derived from a type."""
    from tallystick.algebra.derive import derive

    node = derive(type_, credit=credit)  # type: ignore[arg-type]
    return _of_node(name or f"derived({getattr(type_, '__name__', type_)})", node, TypedSpace.of(type_))


def function(
    score: Callable[[Any, Any], Any], type_: Any, *, corpus: bool = False, name: str = "", headline: str = ""
) -> Subject:
    """A stranger's function f(reference, predicted), which gives a number or a mapping of figures.

    With `corpus` it takes two lists of documents. `headline` is the figure to judge by: the first one, if it is not said.
    """
    space: Space = type_ if hasattr(type_, "walks") else TypedSpace.of(type_)

    def ask(reference: Any, predicted: Any) -> Scored:
        try:
            return Scored(_figures(score(reference, predicted)))
        except TallystickError:
            raise
        except Exception as error:
            return Scored({}, 0.0, f"{type(error).__name__}: {error}"[:120])

    def measure(pairs: Sequence[Pair]) -> list[Scored]:
        return [ask([a], [b]) if corpus else ask(a, b) for a, b in pairs]

    def together(pairs: Sequence[Pair]) -> Scored:
        return ask([a for a, _ in pairs], [b for _, b in pairs])

    if not headline:
        from random import Random

        tried = measure([(space.build(one), space.build(one)) for one in [space.random(Random(1), 2)]])[0]
        if tried.error:
            raise MetricError(f"the function raised {tried.error}; does it take (reference, predicted) of this type?")
        headline = "f1" if "f1" in tried.figures else next(iter(tried.figures))
    called = name or f"{getattr(score, '__module__', '')}:{getattr(score, '__qualname__', 'function')}"
    return Subject(called, space, measure, headline, together if corpus else None, listed=_is_list(space))


def _is_list(space: Space) -> bool:
    from tallystick.laboratory.spaces import Keyed, Many

    shape = getattr(space, "shape", None)
    return isinstance(shape, Many) and not isinstance(shape, Keyed) and not shape.ordered


def _figures(found: Any) -> dict[str, float | None]:
    if isinstance(found, Mapping):
        numbers = {
            k: v for k, v in found.items() if v is None or (isinstance(v, (int, float)) and not isinstance(v, bool))
        }
        out = {str(k): float("nan") if v is None else float(v) for k, v in numbers.items()}
    elif found is None:
        return {"score": None}
    else:
        out = {"score": float(found)}
    if not out:
        raise ValueError(f"no figures in {found!r:.60}")
    return {name: None if value != value else value for name, value in out.items()}
