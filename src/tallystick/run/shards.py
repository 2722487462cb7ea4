"""One shard scored, in any process, on any machine, from the name of a file and some ranges of bytes; and shards put together.

What comes back from a shard is small: the account of each metric, what is to be said, and, only where somebody asked, rows and
names of documents. Messages are about lines of the files, not of the shard.

Outcomes add up in the order of the file, as if the whole had been scored. What cannot be put together without looking at the
whole (shards that read their files differently, a name that stands in two of them) is an error of its own, `Disagreement`, and
means that the files have to be read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import MetricError, TallystickError
from tallystick.files.pairing import Repeats, stable_numbers
from tallystick.results.accounts import Account
from tallystick.results.result import Result
from tallystick.run.cutting import Shard

Score = Callable[..., "Mapping[str, Result] | Scored"]
"""What scores two sources: any function of a module, or a `functools.partial` of one."""


class Extra(Protocol):
    """What a task has to say beside its results; parts add up in the order of the file."""

    def add(self, other: Any) -> None: ...


@dataclass(frozen=True)
class Scored:
    """Results, what a task has to say beside them, and the documents' names where the results kept none."""

    results: Mapping[str, Result]
    extra: Extra | None = None
    ids: Sequence[Any] | None = None


@dataclass(frozen=True)
class Wants:
    """What is kept beyond the sums: rows and names of documents, figures by field, figures by one of these labels."""

    rows: bool = False
    fields: bool = False
    labels: tuple[str, ...] = ()


class Disagreement(TallystickError):
    """Shards that cannot be put together."""


@dataclass
class Names:
    """What the documents of one or several shards are called: a number of 64 bits for each name, which says whether one comes
    twice. Documents that have no names are numbered anew in each shard; `numbered` is from where, and whether as text."""

    counts: list[int]
    numbered: tuple[int, bool] | None = None
    numbers: NDArray[np.uint64] | None = None
    known: list[Any] | None = None
    """The names themselves, where they are wanted."""
    repeats: Repeats | None = None

    @staticmethod
    def of(ids: Sequence[Any], keep: bool, named: bool) -> Names:
        """`named` says that the documents bring these names with them, so that they are no numbers that a reader gave."""
        known = list(ids) if keep else None
        for first in () if named else (0, 1):
            for text in (False, True):
                if list(ids) == _places(first, text, len(ids)):
                    return Names([len(ids)], (first, text), None, known)
        return Names([len(ids)], None, stable_numbers(ids), known)

    def add(self, other: Names) -> None:
        """Put the names of the next shard behind these."""
        if self.numbered is not None and self.numbered == other.numbered:
            self.counts += other.counts
        else:
            self._note(self)
            self._note(other)
            self.numbered, self.numbers = None, None  # what only looked like numbers is names too
        if self.known is not None and other.known is not None:
            self.known += other.known

    def _note(self, names: Names) -> None:
        self.repeats = self.repeats or Repeats()
        if names.numbered is not None:
            for count in names.counts:
                self.repeats.add_numbers(stable_numbers(_places(*names.numbered, count)))
        elif names.numbers is not None:
            self.repeats.add_numbers(names.numbers)

    def check(self) -> None:
        """That no name stands in two shards."""
        if self.numbered is not None:
            return
        if self.numbers is not None:
            self._note(self)
        twice = self.repeats is not None and len(self.repeats.found())
        if self.repeats is not None:
            self.repeats.close()
        if twice:
            raise Disagreement("a document's name stands in two shards")

    @property
    def ids(self) -> Sequence[Any]:
        """The names of all documents, where they are known."""
        return (self.known or ()) if self.numbered is None else _places(*self.numbered, sum(self.counts))


def _places(first: int, text: bool, count: int) -> list[Any]:
    places = range(first, first + count)
    return list(map(str, places)) if text else list(places)


@dataclass
class Outcome:
    """What is left of one or several shards: an account for each metric."""

    accounts: dict[str, Account]
    names: Names
    extra: Any = field(default=None)
    shards: int = 1

    def add(self, other: Outcome) -> None:
        """Put the next shard behind the ones before."""
        if other.accounts.keys() != self.accounts.keys():
            raise Disagreement("the shards have different metrics")
        try:
            for name, account in self.accounts.items():
                account.add(other.accounts[name])
        except MetricError:
            raise Disagreement("the shards were read in different ways") from None
        if other.extra is not None:
            self.extra.add(other.extra)
        self.names.add(other.names)
        self.shards += other.shards

    @property
    def labels(self) -> dict[str, str | None]:
        """By metric the path of the labels that were counted."""
        return {name: one.labels.path if one.labels is not None else None for name, one in self.accounts.items()}

    def results(self) -> dict[str, Result]:
        """The results of the whole."""
        self.names.check()
        return {name: account.result(self.names.ids) for name, account in self.accounts.items()}


@dataclass(frozen=True)
class Job:
    """A shard, what scores it, and what is to be kept."""

    shard: Shard
    score: Score
    wants: Wants


def score_shard(job: Job) -> Outcome:
    """Score one shard."""
    found = job.score(job.shard.reference, job.shard.predicted)
    scored = found if isinstance(found, Scored) else Scored(found)
    accounts = {name: _account(result, job.wants) for name, result in scored.results.items()}
    ids = next(iter(scored.results.values())).ids if scored.ids is None else scored.ids
    return Outcome(accounts, Names.of(ids, job.wants.rows, _is_called(job.shard, ids)), scored.extra)


def _is_called(shard: Shard, ids: Sequence[Any]) -> bool:
    """Whether the first document calls itself what it is called."""
    own = shard.name.decode("utf-8", "replace") if isinstance(shard.name, bytes) else shard.name
    return own is not None and len(ids) > 0 and str(own) == str(ids[0])


def label_path(result: Result, wants: Wants) -> str | None:
    """Which of the labels that are wanted a metric has."""
    if not result.is_expression:
        return None
    from tallystick.results.breakdown import has_labels_at

    return next((path for path in wants.labels if has_labels_at(result.expression, path)), None)


def _account(result: Result, wants: Wants) -> Account:
    """What a result came to, with the sums by field and by label that are wanted."""
    account = Account.of_result(result, rows=wants.rows)
    if result.kept and result.is_expression:
        from tallystick.results.breakdown import sums_by_field, sums_by_label

        if wants.fields and account.fields is None:
            account.fields = sums_by_field(result.expression, result.documents_kept, result.memory)
        path = label_path(result, wants)
        if path is not None:
            account.labels = sums_by_label(result.expression, path, result.documents_kept, result.memory)
    return account
