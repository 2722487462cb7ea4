"""Experiments: structures of growing size are put to a property until one fails it, and that one is made smaller.

A property says, for many candidates at once, which of them fail and how. The smallest size that fails is shrunk: every
structure that is one step simpler is tried, the first that still fails is taken, and so on until none does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tallystick.laboratory.subjects import Scored, Subject

TOLERANCE = 1e-9
State = tuple[Any, ...]
HOLDS, FAILS, NOT_ASKED = "holds", "fails", "-"


@dataclass(frozen=True)
class Failure:
    """How a candidate fails, and what to show of it: labels with structures."""

    text: str
    shown: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
