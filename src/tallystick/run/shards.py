"""One shard scored: in any process, on any machine, from the name of a file and some ranges of bytes.

What comes back is small: the account of each metric, what is to be said, and, only where somebody asked, rows and names of
documents. Messages are about lines of the files, not of the shard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.engine.arrays import F64
from tallystick.engine.tally import Labelled, add_up
from tallystick.files.pairing import stable_numbers
from tallystick.results.accounts import Account
from tallystick.results.result import Result
from tallystick.results.rows import Later
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


@dataclass(frozen=True)
class Names:
    """What the documents of a shard are called: a number of 64 bits for each, or `first` if they seem to be numbered from
    there. `known` are the names themselves where they are wanted."""

    count: int
    numbers: NDArray[np.uint64] | None = None
    first: int | None = None
    text: bool = False
    known: tuple[Any, ...] | None = None

    @staticmethod
    def of(ids: Sequence[Any], keep: bool, named: bool) -> Names:
        """`named` says that the documents bring these names with them, so that they are no numbers that a reader gave."""
        known = tuple(ids) if keep else None
        for first in () if named else (0, 1):
            for text in (False, True):
                if list(ids) == [str(k) if text else k for k in range(first, first + len(ids))]:
                    return Names(len(ids), None, first, text, known)
        return Names(len(ids), stable_numbers(ids), known=known)

    def as_numbers(self) -> NDArray[np.uint64]:
        if self.numbers is not None:
            return self.numbers
        assert self.first is not None
        places = range(self.first, self.first + self.count)
        return stable_numbers(map(str, places) if self.text else places)


@dataclass(frozen=True)
class Tallied:
    """One metric of a shard."""

    account: Account
    metric: str
    name: str
    settings: str
    undefined: float | None
    notes: tuple[str, ...]
    label: str | None = None
    rows: F64 | None = None
    above: F64 | None = None
    judges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What is left of a shard."""

    tallied: dict[str, Tallied]
    names: Names
    extra: Any = field(default=None)


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
    tallied = {name: _tally(result, job.wants) for name, result in scored.results.items()}
    ids = next(iter(scored.results.values())).ids if scored.ids is None else scored.ids
    return Outcome(tallied, Names.of(ids, job.wants.rows, _is_called(job.shard, ids)), scored.extra)


def _is_called(shard: Shard, ids: Sequence[Any]) -> bool:
    """Whether the first document calls itself what it is called."""
    own = shard.name.decode("utf-8", "replace") if isinstance(shard.name, bytes) else shard.name
    return own is not None and len(ids) > 0 and str(own) == str(ids[0])


def label_path(result: Result, wants: Wants) -> str | None:
    """Which of the labels that are wanted a metric has."""
    if isinstance(result.metric, str):
        return None
    from tallystick.results.breakdown import has_labels_at

    return next((path for path in wants.labels if has_labels_at(result.expression, path)), None)


def _tally(result: Result, wants: Wants) -> Tallied:
    rows = result.__dict__["_rows"]
    if isinstance(rows, Later) and isinstance(result.kind, Labelled) and not wants.rows:
        account = Account(result.kind, result.count, add_up(result.sums[None, :]))
    else:
        account = result.account
    label = None
    if isinstance(rows, Account):
        label = wants.labels[0] if wants.labels and rows.labels is not None else None
    elif not isinstance(result.metric, str) and (wants.fields or wants.labels):
        from tallystick.results.breakdown import sums_by_field, sums_by_label

        if wants.fields:
            sums = result.field_sums
            sums = sums if sums is not None else sums_by_field(result.expression, result.documents_kept, result.memory)
            account = replace(account, fields=sums)
        label = label_path(result, wants)
        if label is not None:
            by_label = sums_by_label(result.expression, label, result.documents_kept, result.memory)
            account = replace(account, labels=by_label)
    kept = wants.rows and result.kept
    return Tallied(
        account,
        str(result.metric),
        result.name,
        result.settings,
        result.undefined,
        result.notes,
        label,
        result.rows if kept else None,
        result.above if kept else None,
        result.judges,
    )
