"""Agreement between judges: Cohen's kappa on three labels, and on two (Partial merged into Incorrect).

    kappa = (p_o - p_e) / (1 - p_e)      p_o = Σ n_kk / n      p_e = Σ n_k. n_.k / n²

It is 0/0 if both judges gave the same single label throughout; that is undefined (None), not perfect.

A `Panel` has all judges of a store side by side, as in Table 5 of the BEMEAE paper: the agreement of the people first, then each automatic
judge against the people. A voice is a judge with a version: a model that was asked with two prompts has two. `persons` stands for what
people decided together: the more experienced wins where they differ, and what people of equal experience dispute is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tallystick.errors import InputError, counted, did_you_mean
from tallystick.frozen import frozen
from tallystick.judging.questions import LABELS, Judgement, Label
from tallystick.judging.recorded import Recorded
from tallystick.judging.store import Store, Voice


def kappa(table: Sequence[Sequence[int]]) -> float | None:
    """Cohen's kappa of a square table of counts: rows by the first judge, columns by the second."""
    n = sum(map(sum, table))
    if not n:
        return None
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    expected = Fraction(sum(a * b for a, b in zip(rows, columns, strict=True)), n * n)
    observed = Fraction(sum(row[k] for k, row in enumerate(table)), n)
    return None if expected == 1 else float((observed - expected) / (1 - expected))


@frozen
class Agreement:
    """The agreement of two judges on the questions that both answered."""

    first: str
    second: str
    table: tuple[tuple[int, ...], ...]
    """Counts: the first judge's label by the second's, in the order Correct, Partial, Incorrect."""

    @property
    def n(self) -> int:
        """Questions that both answered."""
        return sum(map(sum, self.table))

    @property
    def kappa_3(self) -> float | None:
        """Kappa on three labels."""
        return kappa(self.table)

    @property
    def kappa_2(self) -> float | None:
        """Kappa on two labels: Partial is Incorrect."""
        (cc, *rest), *others = self.table
        return kappa(((cc, sum(rest)), (sum(row[0] for row in others), sum(sum(row[1:]) for row in others))))

    @property
    def observed(self) -> float | None:
        """The share of questions with the same label."""
        return sum(row[k] for k, row in enumerate(self.table)) / self.n if self.n else None


def agreement(
    first: Mapping[Any, Label], second: Mapping[Any, Label], names: tuple[str, str] = ("first", "second")
) -> Agreement:
    """The agreement of two judges from their labels by question; only what both answered counts."""
    return Agreement(*names, _cross((first[key], second[key]) for key in first if key in second))


def _cross(pairs: Iterable[tuple[Label, Label]]) -> tuple[tuple[int, ...], ...]:
    counts = [[0] * len(LABELS) for _ in LABELS]
    for a, b in pairs:
        counts[LABELS.index(a)][LABELS.index(b)] += 1
    return tuple(map(tuple, counts))


# -- all judges of a store --------------------------------------------------------------------------------------------


PERSONS = "persons"


class Panel:
    """The voices of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.voices = store.voices()
        if not self.voices:
            raise InputError(f"{store.path}: there are no judgements here yet")

    def voice(self, name: str) -> Voice:
        """The voice with this name; the start of its version is enough if only one fits."""
        judge, _, version = name.partition("@")
        exact = [one for one in self.voices if name in (one.name, one.judge)]
        found = exact or [one for one in self.voices if one.judge == judge and one.version.startswith(version)]
        if len(found) == 1:
            return found[0]
        names = [one.name for one in self.voices]
        if found:
            raise InputError(f"{name!r} may be {', '.join(one.name for one in found)}; give the full name")
        raise InputError(
            f"{self.store.path}: there is no judge called {name!r} here; there are {', '.join(names)}."
            f"{did_you_mean(name, names)}"
        )

    def labels(self, voice: Voice) -> dict[str, Label]:
        """A voice's labels by question."""
        return self.store.labels(voice.judge, voice.version)

    def between(self, first: str, second: str) -> Agreement:
        """The agreement of two voices, by name; `persons` is what people decided."""
        (one, mine), (other, theirs) = self._side(first), self._side(second)
        return agreement(mine, theirs, (one, other))

    def _side(self, name: str) -> tuple[str, dict[str, Label]]:
        if name == PERSONS and not any(one.judge == PERSONS for one in self.voices):
            return PERSONS, Recorded(self.store, kind="person").labels()
        voice = self.voice(name)
        return voice.name, self.labels(voice)

    def against(self, name: str) -> list[Agreement]:
        """The agreement of every other voice with one."""
        chosen, labels = self._side(name)
        return [
            agreement(self.labels(one), labels, (one.name, chosen))
            for one in self.voices
            if one.name != chosen and (chosen != PERSONS or one.kind != "person")
        ]

    def overview(self) -> list[Agreement]:
        """People with each other, then every other judge against what people decided (Table 5)."""
        people = [one for one in self.voices if one.kind == "person"]
        pairs = [
            agreement(self.labels(one), self.labels(other), (one.name, other.name))
            for k, one in enumerate(people)
            for other in people[k + 1 :]
        ]
        others = [one for one in self.voices if one.kind != "person"]
        if people:
            return [*pairs, *self.against(PERSONS)]
        return [
            agreement(self.labels(one), self.labels(other), (one.name, other.name))
            for k, one in enumerate(others)
            for other in others[k + 1 :]
        ]

    def differences(self, first: str, second: str) -> list[tuple[Judgement, Judgement]]:
        """The questions that two judges labelled differently."""
        sides = []
        for name in (first, second):
            if name == PERSONS:
                raise InputError("--differences lists those of two judges; `persons` is several")
            voice = self.voice(name)
            sides.append({one.question.key: one for one in self.store.judgements(voice.judge, voice.version)})
        mine, theirs = sides
        return [
            (mine[key], theirs[key]) for key in mine
            if key in theirs and mine[key].verdict.label != theirs[key].verdict.label
        ]  # fmt: skip

    def notes(self, rows: Sequence[Agreement]) -> list[str]:
        """What a reader needs to know about the figures."""
        out = []
        named = {name for row in rows for name in (row.first, row.second)}
        people = {one.judge for one in self.voices if one.kind == "person"}
        changed = [
            one for one in self.store.judgements()
            if one.judge in people and (one.judge in named or PERSONS in named)
            and one.details.get("independent", one.verdict.label) != one.verdict.label
        ]  # fmt: skip
        if changed:
            out.append(
                f"{counted(len(changed), 'answer')} changed after the other person's was shown; these figures use what it is now"
            )
        if PERSONS in named:
            disputed = len(Recorded(self.store, kind="person").disputed)
            if disputed:
                out.append(
                    f"people of equal experience answered {counted(disputed, 'question')} differently, left out of `{PERSONS}`: "
                    "set who decides with `tallystick judge judges --experience NAME=1`"
                )
        unmet = [f"{row.first} and {row.second}" for row in rows if not row.n]
        if unmet:
            out.append(f"no question was answered by both: {'; '.join(unmet)}")
        if any(row.n and row.kappa_3 is None for row in rows):
            out.append("kappa is undefined because both judges always gave the same label")
        if not rows:
            out.append("there is only one judge here, so there is no agreement to measure")
        return out
