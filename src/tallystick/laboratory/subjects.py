"""Subjects: metrics as the laboratory sees them, something that gives figures for pairs of structures.

A metric of this project is asked about many pairs at once, as the documents of one corpus. A stranger's function is
asked one pair at a time; what it raises is kept as a finding, not as the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from tallystick.algebra.node import Node
from tallystick.engine.tally import Counts, Kind, lower_is_better
from tallystick.errors import MetricError, TallystickError
from tallystick.frozen import frozen
from tallystick.laboratory.spaces import Space, TypedSpace
from tallystick.results.result import Result

Pair = tuple[Any, Any]


@frozen
class Scored:
    """What a metric makes of a pair: figures (None: undefined), whether a Σ(P,R) passed Σ(P,P) or Σ(R,R), an error."""

    figures: Mapping[str, float | None]
    excess: float = 0.0
    error: str = ""

    def at(self, name: str) -> float | None:
        return self.figures.get(name)


Measure = Callable[[Sequence[Pair]], list[Scored]]
Corpus = Callable[[Sequence[Pair]], Scored]


@frozen
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
    """What a metric of this project makes of pairs: they are the documents of one corpus. An error rate is judged by 1 minus it."""

    def measure(pairs: Sequence[Pair]) -> list[Scored]:
        result = score([a for a, _ in pairs], [b for _, b in pairs])
        excess = np.zeros(len(pairs))
        if isinstance(result.kind, Counts):
            excess = np.maximum(result.rows[:, 0] - result.rows[:, 1], result.rows[:, 2] - result.rows[:, 3])
        found = zip(result.documents.values(), excess.tolist(), strict=True)
        return [Scored(_better_above(result.kind, figures), max(0.0, over)) for figures, over in found]

    def corpus(pairs: Sequence[Pair]) -> Scored:
        result = score([a for a, _ in pairs], [b for _, b in pairs])
        return Scored(_better_above(result.kind, result.figures))

    return measure, corpus


def _better_above(kind: Kind, figures: Mapping[str, float | None]) -> dict[str, float | None]:
    return {
        _turned(kind, name): value if value is None or not lower_is_better(kind, name) else 1 - value
        for name, value in figures.items()
    }


def _turned(kind: Kind, name: str) -> str:
    return f"1 - {name}" if lower_is_better(kind, name) else name


def _of_node(name: str, metric: Node, space: Space) -> Subject:
    from tallystick.results.evaluation import evaluate, kind_of

    measure, corpus = of_result(lambda left, right: evaluate(metric, left, right))
    kind = kind_of(metric)
    return Subject(name, space, measure, _turned(kind, kind.headline), corpus, metric)


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


# Experiments: structures of growing size are put to a property until one fails it, and that one is made smaller.
#
# A property says, for many candidates at once, which of them fail and how. The smallest size that fails is shrunk: every
# structure that is one step simpler is tried, the first that still fails is taken, and so on until none does.

TOLERANCE = 1e-9
State = tuple[Any, ...]
HOLDS, FAILS, NOT_ASKED = "holds", "fails", "-"


@frozen
class Failure:
    """How a candidate fails, and what to show of it: labels with structures."""

    text: str
    shown: tuple[tuple[str, Any], ...]


@frozen
class Finding:
    """What was found about one property."""

    name: str
    verdict: str
    detail: str = ""
    counterexample: tuple[tuple[str, Any], ...] = ()

    @property
    def fails(self) -> bool:
        return self.verdict == FAILS


Answer = Failure | bool
"""A failure; True if the candidate holds; False if it has nothing to be asked about."""
Ask = Callable[[Sequence[State]], Sequence[Answer]]


@frozen
class Laboratory:
    """A subject, and how much is tried."""

    subject: Subject
    samples: int = 20
    seed: int = 0
    rounds: int = 60

    def single(self, size: int, rng: Random) -> State:
        return (self.subject.space.random(rng, size),)

    def double(self, size: int, rng: Random) -> State:
        """A reference, and a response to it."""
        reference = self.subject.space.random(rng, size)
        return reference, self.subject.space.related(reference, rng)

    def experiment(
        self, name: str, make: Callable[[int, Random], State], ask: Ask, sizes: Sequence[int], detail: str = ""
    ) -> Finding:
        """Ask about candidates of growing size; the smallest failure is the counterexample."""
        rng = Random(f"{self.seed} {name}")
        asked = 0
        for size in sizes:
            states = [make(size, rng) for _ in range(self.samples)]
            answers = ask(states)
            asked += sum(answer is not False for answer in answers)
            failed = [(s, a) for s, a in zip(states, answers, strict=True) if isinstance(a, Failure)]
            if failed:
                state, failure = min(failed, key=lambda one: len(repr(one[0])))
                failure = self.shrunk(state, failure, ask)
                return Finding(name, FAILS, failure.text, failure.shown)
        if not asked:
            return Finding(name, NOT_ASKED, "nothing to ask")
        return Finding(name, HOLDS, detail or f"{asked:,} cases")

    def shrunk(self, state: State, failure: Failure, ask: Ask) -> Failure:
        """The failure of the smallest candidate that could be reached."""
        for _ in range(self.rounds):
            simpler = [
                (*state[:k], less, *state[k + 1 :])
                for k, part in enumerate(state)
                for less in self.subject.space.simpler(part)
            ][:200]
            answers = ask(simpler) if simpler else []
            found = next(((s, a) for s, a in zip(simpler, answers, strict=True) if isinstance(a, Failure)), None)
            if found is None:
                break
            state, failure = found
        return failure


# What the properties share: how a score, a pair of structures and a broken metric are shown.

SMALL = (1, 2, 3, 4)
WALKED = (2, 3, 4, 5, 6, 8)
FIGURES = ("precision", "recall", "f1", "score", "overall", "overall_score", "jaccard", "accuracy")
"""Figures that are 1 where everything is right, whatever else a function gives."""


def format_score(value: float | None) -> str:
    """A score in words."""
    return "undefined" if value is None else f"{value:.4g}"


def pair(lab: Laboratory, state: State, **more: Any) -> tuple[tuple[str, Any], ...]:
    """The structures that a failure is shown with, by name."""
    names = ("reference", "predicted")
    built = [(name, lab.subject.space.build(one)) for name, one in zip(names, state, strict=False)]
    return (*built, *((name.replace("_", " "), lab.subject.space.build(one)) for name, one in more.items()))


def error_in(lab: Laboratory, state: State, *scored: Scored) -> Failure | None:
    """A failure if scoring raised something."""
    error = next((one.error for one in scored if one.error), "")
    return Failure(f"raises {error}", pair(lab, state)) if error else None


def equal(a: float | None, b: float | None) -> bool:
    """Whether two scores are the same; undefined equals undefined only."""
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= TOLERANCE
