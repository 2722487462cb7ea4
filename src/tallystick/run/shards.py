"""Shards scored by whoever there is (this process, other processes, other machines) and put together.

    cut  ──►  a few shards for each worker under way  ──►  outcomes, stored as they come, added up in order

However many workers there are, whoever is first and whatever was known from a run before, the results are the same to the
last bit. If the files turn out not to have their documents in one order, they are cut by the documents' names; if that cannot
be done either, they are read as a whole, and a message says why.

A shard is scored from the name of a file and some ranges of bytes. What comes back from a shard is small: the account of each metric, what is to be said, and, only where somebody asked, rows and
names of documents. Messages are about lines of the files, not of the shard.

Outcomes add up in the order of the file, as if the whole had been scored. What cannot be put together without looking at the
whole (shards that read their files differently, a name that stands in two of them) is an error of its own, `Disagreement`, and
means that the files have to be read as a whole.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.windows import in_order
from tallystick.errors import InputError, MetricError, SidesMismatch, TallystickError
from tallystick.files.boundaries import Boundaries, Uncut
from tallystick.files.pairing import Repeats, stable_numbers
from tallystick.frozen import frozen
from tallystick.results.accounts import Account, Wants, agreed, numbered, numbering
from tallystick.results.result import Result
from tallystick.run.cutting import SHARD, Cuts, Shard, cut_by_name, cut_in_order, size_of
from tallystick.tasks.contract import Scored

if TYPE_CHECKING:
    from tallystick.run.state import State

Score = Callable[..., "Mapping[str, Result] | Scored"]
"""What scores two sources: any function of a module, or a `functools.partial` of one."""


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
        places = None if named else numbering(ids)
        return Names([len(ids)], places, None if places else stable_numbers(ids), known)

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
                self.repeats.add_numbers(stable_numbers(numbered(*names.numbered, count)))
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
            raise Disagreement("a document's name occurs in two shards")

    @property
    def ids(self) -> Sequence[Any]:
        """The names of all documents, where they are known."""
        return (self.known or ()) if self.numbered is None else numbered(*self.numbered, sum(self.counts))


@dataclass
class Outcome:
    """What is left of one or several shards: an account for each metric."""

    accounts: dict[str, Account]
    names: Names
    extra: Any = field(default=None)
    shards: int = 1
    unanswered: tuple[Any, ...] = ()
    """The documents that count as empty answers."""

    def add(self, other: Outcome) -> None:
        """Put the next shard behind the ones before."""
        self.accounts, accounts = agreed(self.accounts, other.accounts)
        if accounts.keys() != self.accounts.keys():
            raise Disagreement("the shards have different metrics")
        try:
            for name, account in self.accounts.items():
                account.add(accounts[name])
        except MetricError:
            raise Disagreement("the shards were read in different ways") from None
        if other.extra is not None:
            self.extra.add(other.extra)
        self.names.add(other.names)
        self.shards += other.shards
        self.unanswered += other.unanswered

    @property
    def labels(self) -> dict[str, str | None]:
        """By metric the path of the labels that were counted."""
        return {name: one.labels.path if one.labels is not None else None for name, one in self.accounts.items()}

    def results(self) -> dict[str, Result]:
        """The results of the whole."""
        self.names.check()
        return {name: account.result(self.names.ids) for name, account in self.accounts.items()}


@frozen
class Job:
    """A shard, what scores it, and what is to be kept."""

    shard: Shard
    score: Score
    wants: Wants


def score_shard(job: Job) -> Outcome:
    """Score one shard. What was remembered while it was scored refers to itself; it goes before the next shard comes, or memory grows."""
    outcome = _outcome(job)
    gc.collect(1)
    return outcome


def _outcome(job: Job) -> Outcome:
    found = job.score(job.shard.reference, job.shard.predicted)
    scored = found if isinstance(found, Scored) else Scored(None, dict(found))
    accounts = {name: Account.of_result(result, job.wants) for name, result in scored.results.items()}
    ids = next(iter(scored.results.values())).ids if scored.ids is None else scored.ids
    names = Names.of(ids, job.wants.rows, _is_called(job.shard, ids))
    return Outcome(accounts, names, scored.extra, unanswered=scored.unanswered)


def _is_called(shard: Shard, ids: Sequence[Any]) -> bool:
    """Whether the first document calls itself what it is called."""
    own = shard.name.decode("utf-8", "replace") if isinstance(shard.name, bytes) else shard.name
    return own is not None and len(ids) > 0 and str(own) == str(ids[0])


# Two files

CONFIRMED = 256 << 20
"""Up to so many bytes of the reference an error in a shard is looked at in the whole file before it is told."""


@frozen
class Telling:
    """Who hears what is to be said during a run, and how many bytes of the reference, of how many, are done."""

    say: Callable[[str], None] = lambda text: None
    progress: Callable[[int, int], None] | None = None


@frozen
class Finished:
    """The results of a run, what the task has to say beside them, and how the files were cut."""

    results: dict[str, Result]
    extra: Any
    shards: int
    how: str
    seconds: float
    labels: dict[str, str | None] = field(default_factory=dict)
    """By metric the path of the labels that were counted."""
    unanswered: tuple[Any, ...] = ()
    """The documents that count as empty answers."""


def run_files(
    score: Score,
    reference: str,
    predicted: str | None,
    boundaries: Boundaries | Uncut,
    other: Boundaries | Uncut | None = None,
    *,
    executor: Executor | None = None,
    state: State | None = None,
    wants: Wants = Wants(),  # noqa: B008 - frozen
    size: int = SHARD,
    tell: Telling = Telling(),  # noqa: B008 - frozen
    known: Cuts | None = None,
) -> Finished:
    """Score two files in shards. `score` is called with the names of two parts and returns results by metric; it has to be
    something that can be pickled where the executor has processes of its own. `known` is how the reference was cut before."""
    started = time.monotonic()
    for file, found in ((reference, boundaries), (predicted, other or boundaries)):
        if isinstance(found, Uncut) and file is not None:
            tell.say(f"{file} is read as a whole: {found.reason}")
            return _whole(score, reference, predicted, wants, started)
    assert isinstance(boundaries, Boundaries)
    other = other or boundaries
    assert isinstance(other, Boundaries)
    total = size_of(reference)

    def advance(shard: Shard) -> None:
        if total and tell.progress is not None:
            tell.progress(min(total, shard.position), total)

    ways: list[tuple[str, Callable[[], Iterator[Shard] | None]]] = [
        ("in one order", lambda: cut_in_order(reference, predicted, boundaries, other, size=size, known=known)),
    ]
    if predicted is not None:
        ways.append(
            ("by name", lambda: cut_by_name(reference, predicted, boundaries, other, size=size, absent=wants.absent))
        )
    unlike: list[str] = []
    for how, cut in ways:
        shards = cut()
        if shards is None:
            continue
        try:
            gathered = gather(score, shards, executor, state, wants, advance)
            if gathered is None:
                break  # nothing in the file: the reader says so
            results = gathered.results()
        except (SidesMismatch, Disagreement) as error:
            tell.say(f"{reference} and {predicted} cannot be cut {how} ({_brief(error)})")
            unlike += [str(error)] if isinstance(error, SidesMismatch) else []
            continue
        except InputError as error:
            # A shard may look wrong only because it is one: the whole has the last word, where that is no great matter.
            if "-" in (reference, predicted) or total > CONFIRMED:
                raise
            whole = _whole(score, reference, predicted, wants, started)
            tell.say(f"read as a whole: a shard cannot be read by itself ({_brief(error)})")
            return whole
        took = time.monotonic() - started
        return Finished(
            results, gathered.extra, gathered.shards, how, took, gathered.labels, unanswered=gathered.unanswered
        )
    if "-" in (reference, predicted):
        advice = "standard input cannot be read twice; give a file, or leave out what scores in shards"
        if unlike:
            raise SidesMismatch(f"{unlike[0]}. If the documents are only in another order: {advice}")
        raise InputError(advice, "<stdin>")
    tell.say(f"{reference}{f' and {predicted}' if predicted else ''}: read as a whole")
    return _whole(score, reference, predicted, wants, started)


def _brief(error: Exception) -> str:
    text = str(error).split("\n", 1)[0]
    return text if len(text) <= 200 else text[:199] + "…"


def _whole(score: Score, reference: str, predicted: str | None, wants: Wants, started: float) -> Finished:
    found = score(reference, predicted)
    scored = found if isinstance(found, Scored) else Scored(None, dict(found))
    took = time.monotonic() - started
    labels = {name: wants.label_of(result) for name, result in scored.results.items()}
    return Finished(dict(scored.results), scored.extra, 1, "as a whole", took, labels, unanswered=scored.unanswered)


def gather(
    score: Score,
    shards: Iterator[Shard],
    executor: Executor | None,
    state: State | None,
    wants: Wants,
    progress: Callable[[Shard], None],
) -> Outcome | None:
    """The outcomes of all shards, put together; None if there are none."""
    gathered: Outcome | None = None
    stored: dict[str, Any] = {}
    if state is not None:
        stored = {"find": lambda job: state.get(job.shard), "keep": lambda job, outcome: state.put(job.shard, outcome)}
    jobs = (Job(shard, score, wants) for shard in shards)
    for job, outcome in in_order(executor, score_shard, jobs, **stored):
        if gathered is None:
            gathered = outcome
        else:
            gathered.add(outcome)
        progress(job.shard)
    return gathered
