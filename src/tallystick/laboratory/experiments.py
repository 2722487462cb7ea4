"""Experiments: structures of growing size are put to a property until one fails it, and that one is made smaller.

A property says, for many candidates at once, which of them fail and how. The smallest size that fails is shrunk: every
structure that is one step simpler is tried, the first that still fails is taken, and so on until none does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tallystick.laboratory.subjects import Subject

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
