"""What some documents of a corpus came to, on its way into the whole: rows, or their account, and what else was asked for.

A portion is made apart and added when it is complete, so that documents that could not be scored, or were given before, leave
nothing behind in what was there.

    portion(documents) = portion(some of them) + portion(the others)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from tallystick.engine.arrays import F64
from tallystick.engine.data import Memory
from tallystick.errors import SidesMismatch, some
from tallystick.results.accounts import Account, FieldSums, LabelSums, merged_fields, merged_labels

MOST_CALLS = 1_000_000
"""So many answers of users' functions are remembered where memory is bounded."""


@dataclass
class Portion:
    """The tallies of some documents; what is None is not kept."""

    account: Account | None = None
    """The sums, instead of the rows."""
    fields: FieldSums | None = None
    labels: LabelSums | None = None
    documents: list[tuple[Any, Any]] | None = None
    memory: Memory = field(default_factory=Memory)
    rows: list[F64] = field(default_factory=list)
    """An array for each batch."""
    above: list[F64] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    """None for a document without a name: its place is its id."""
    invalid: list[int] = field(default_factory=list)
    open_selves: int = 0
    _names: set[Any] = field(default_factory=set)
    _negative: int = 0
    _silent: tuple[int, int] = (0, 0)

    def like(self, memory: Memory) -> Portion:
        """A portion of no documents that keeps what this one keeps, except the documents."""
        return Portion(
            account=None if self.account is None else Account.nothing(self.account.kind),
            fields=None if self.fields is None else {},
            labels=None if self.labels is None else LabelSums(self.labels.path),
            memory=memory,
        )

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.ids) if self.account is None else self.account.documents

    def all_ids(self) -> tuple[Any, ...]:
        if not self._names:
            return tuple(range(len(self.ids)))
        return tuple(place if key is None else key for place, key in enumerate(self.ids))

    def check(self, ids: Sequence[Any]) -> None:
        """That documents with these ids (None: no name) can be added: no two have one id."""
        names = {key for key in ids if key is not None}
        if not names and not self._names:
            return
        if len(names) < len(ids):  # those without a name are called by their places
            ids = [len(self.ids) + k if key is None else key for k, key in enumerate(ids)]
            names = set(ids)
        twice = [key for key, times in Counter(ids).items() if times > 1] if len(names) < len(ids) else []
        twice += names & self._names
        if len(self._names) < len(self.ids):
            twice += [key for key in names if self._is_place(key)]
        if twice:
            raise SidesMismatch(f"documents were given twice: {some(twice)}")

    def _is_place(self, key: Any) -> bool:
        """Whether a document without a name is called so."""
        return isinstance(key, Integral) and 0 <= int(key) < len(self.ids) and self.ids[int(key)] is None

    def add(self, other: Portion) -> None:
        """Put another portion, whose ids were checked, behind this one. From here on nothing can fail."""
        if self.account is not None and other.account is not None:
            self.account += other.account
        self.invalid += [len(self.ids) + k for k in other.invalid]
        self.ids += other.ids
        self._names.update(other.ids)
        self._names.discard(None)
        self.rows += other.rows
        self.above += other.above
        self.open_selves += other.open_selves
        self.memory.merge(other.memory)
        self._negative += other._negative
        self._silent = _sum(self._silent, other._silent)
        both = self.fields is not None and other.fields is not None
        self.fields = merged_fields(self.fields, other.fields) if both else None
        alike = self.labels is not None and other.labels is not None and self.labels.path == other.labels.path
        self.labels = merged_labels(self.labels, other.labels) if alike else None
        if self.documents is not None and other.documents is not None:
            self.documents += other.documents
        else:
            self.documents = None

    def forget(self) -> None:
        """Where memory is bounded, the answers of users' functions are remembered for a while only."""
        if sum(map(len, self.memory.calls.values())) > MOST_CALLS:
            self._negative, self._silent = self.negative, self.unjudged
            for calls in self.memory.calls.values():
                calls.clear()  # the judge that gave them stays known

    @property
    def negative(self) -> int:
        """How many answers were below 0."""
        answers = (weight for calls in self.memory.calls.values() for weight in calls.values())
        return self._negative + sum(bool(weight < 0) for weight in answers)

    @property
    def unjudged(self) -> tuple[int, int]:
        """How many answers are NaN, which is a judge that did not say, of how many."""
        weights = [weight for calls in self.memory.calls.values() for weight in calls.values()]
        return _sum(self._silent, (sum(weight != weight for weight in weights), len(weights)))

    @property
    def judges(self) -> tuple[str, ...]:
        """Who was asked."""
        found = (getattr(calls, "signature", "") for calls in self.memory.calls.values())
        return tuple(dict.fromkeys(who for who in found if who))

    def notes(self) -> tuple[str, ...]:
        """What is to be said about the figures."""
        notes = []
        if self.open_selves:
            notes.append(f"{self.open_selves:,} self-scores are not proven within the limit: figures may be too high")
        if self.negative:
            notes.append(f"{self.negative:,} similarities were below 0 and counted as 0")
        unjudged, asked = self.unjudged
        if unjudged:
            notes.append(
                f"{unjudged:,} of {asked:,} pairs of texts were not judged and count as 0: the figures are lower bounds"
            )
        return tuple(notes)


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]
